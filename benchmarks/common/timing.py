"""Times of calls that alternate in rounds, ratios that are formed within each round, and their text.

If the machine slows down for a while, it slows all calls of a round, and ratios do not change. The median
over the rounds is reported.
"""

from __future__ import annotations

import contextlib
import glob
import math
import statistics
import sys
import time
import timeit
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

SAMPLE_SECONDS = 0.002
LEAST_ROUNDS = 5  # however long a call takes
# A sample is unreliable if our threads waited for a core: it is taken again, and the calmest one counts.
TRIES = 5
CALM = 0.02  # seconds waited, over all threads, for each second of a sample
# Runs longer than WARM_SECONDS need no untimed run before them, which takes this part of a sample.
WARM_SECONDS = 0.005
WARM_PART = 8

Call = Callable[[], Any]
Timer = Callable[[int], float]  # takes the number of runs, returns the seconds of each


@dataclass(frozen=True)
class Timing:
    seconds: list[float]  # of each round

    @property
    def quartiles(self) -> tuple[float, float, float]:
        if len(self.seconds) < 2:
            return (self.seconds[0],) * 3
        low, middle, high = statistics.quantiles(self.seconds, n=4, method="inclusive")
        return low, middle, high


def interleave(
    case: str,
    calls: Mapping[str, Call | timeit.Timer],
    rounds: int,
    sample: float = SAMPLE_SECONDS,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Timing]:
    """Return the timing of each library that supports the case."""
    timers: dict[str, Timer] = {}
    for name, call in calls.items():
        timer = call if isinstance(call, timeit.Timer) else timeit.Timer(call, timer=clock)
        try:
            timer.timeit(1)  # one untimed run: it touches pages, fills caches and makes lazy imports
        except (TypeError, ValueError, RuntimeError) as error:  # a peer may lack a case
            print(f"({name} cannot do {case}: {type(error).__name__}: {error})", file=sys.stderr)
            continue
        timers[name] = lambda number, timer=timer: timer.timeit(number) / number  # type: ignore[misc]
    seconds, _ = alternate(timers, rounds, length=sample, tries=1)
    return {name: Timing(values) for name, values in seconds.items()}


def alternate(
    timers: Mapping[str, Timer],
    rounds: int,
    pause: float = 0.0,
    budget: float = math.inf,
    turn: float = math.inf,
    length: float = SAMPLE_SECONDS,
    tries: int = TRIES,
) -> tuple[dict[str, list[float]], float]:
    """
    Take a sample of every timer in every round.

    Return the seconds of a run by timer and round, and the share of samples that waited for cores.

    A row that has used its budget of seconds gets fewer rounds, but at least LEAST_ROUNDS. A sample that is
    longer than `turn` seconds is not taken again.
    """
    began = time.perf_counter()
    numbers = {name: calibrated(timer, length) for name, timer in timers.items()}
    seconds: dict[str, list[float]] = {name: [] for name in timers}
    order = list(timers)
    disturbed = 0
    for count in range(rounds):
        if count >= LEAST_ROUNDS and time.perf_counter() - began > budget:
            break
        for name in order:
            calmest = (math.inf, 0.0)
            long = numbers[name] * (seconds[name] or [0.0])[-1] > turn
            hurry = long or time.perf_counter() - began > budget
            for _ in range(1 if hurry else tries):
                time.sleep(pause)
                calmest = min(calmest, sampled(timers[name], numbers[name], seconds[name]))
                if calmest[0] < CALM:
                    break
            disturbed += calmest[0] >= CALM
            seconds[name].append(calmest[1])
        order = order[1:] + order[:1]  # no call always runs after the same one
    return seconds, disturbed / max(1, sum(map(len, seconds.values())))


def calibrated(timer: Timer, length: float = SAMPLE_SECONDS) -> int:
    """Return how many times the statement runs in one sample."""
    number = 1
    while (each := timer(number)) * number < length and number < 10_000_000:
        number = max(number + 1, min(number * 10, int(length / max(each, 1e-9)) + 1))
    return number


def sampled(timer: Timer, number: int, earlier: list[float]) -> tuple[float, float]:
    """Return the share of a sample that was spent waiting for cores, and the seconds of a run."""
    if not earlier or earlier[-1] < WARM_SECONDS:
        timer(max(1, number // WARM_PART))  # caches and sleeping threads
    waited, began = waited_for_cores(), time.perf_counter()
    each = timer(number)
    taken = time.perf_counter() - began
    return (waited_for_cores() - waited) / taken, each


def waited_for_cores() -> float:
    """Return the seconds that threads of this process waited for a core; 0 if they are unknown."""
    nanoseconds = 0
    for thread in glob.iglob("/proc/self/task/*/schedstat"):
        with contextlib.suppress(OSError), open(thread, encoding="ascii") as file:
            nanoseconds += int(file.read().split()[1])
    return nanoseconds / 1e9


def ratio(timing: Timing, yardstick: Timing) -> float:
    """Return the median over the rounds of one time divided by the other."""
    return statistics.median(a / b for a, b in zip(timing.seconds, yardstick.seconds, strict=True))


def geometric_mean(numbers: Iterable[float]) -> float:
    return statistics.geometric_mean(list(numbers))


def duration(seconds: float) -> str:
    scale, unit = unit_of(seconds)
    return f"{seconds / scale:.3g} {unit}"


def show(timing: Timing | None) -> str:
    """Return the median and the quartiles as text."""
    if timing is None:
        return "-"
    low, middle, high = timing.quartiles
    scale, unit = unit_of(middle)
    return f"{middle / scale:.3g} {unit} ({low / scale:.3g} to {high / scale:.3g})"


def unit_of(seconds: float) -> tuple[float, str]:
    units = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))
    return next(((scale, unit) for scale, unit in units if seconds >= scale), (1e-9, "ns"))
