"""Handwritten digits, clustered and classified by code that does not know its array library.

    python examples/digits.py                                  stride0 and NumPy, side by side
    python examples/digits.py --library stride0 --repeat 5

The functions of the first part take their namespace from their input (`x.__array_namespace__()`) and use only
names of the Python array API standard. The second part runs them on the 1,797 digits of 8 x 8 pixels that
scikit-learn ships, with each library in a separate process, and compares the results.
"""

from __future__ import annotations

import argparse
import importlib
import random
import statistics
import sys
import time
from array import array
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

Array = Any  # an array of any library that follows the standard

CLASSES = 10
RESTARTS = 5
STEPS = 40


# ------------------------------------------------------------------------------
# Array-agnostic: whatever library x belongs to does the work.
# ------------------------------------------------------------------------------


def on_grid(x: Array) -> Array:
    """x rounded to multiples of 1/1024.

    Libraries add in different orders, so sums differ in the last bit, which would decide a label where two
    centroids are almost equally near. On this grid differences, squares and sums (here below 2**40 units of
    2**-20) are exact in float64 in every order, and for equal distances `argmin` takes the first, as the
    standard requires.
    """
    xp = x.__array_namespace__()
    return xp.round(x * 1024) / 1024


def standardise(x: Array, reference: Array) -> Array:
    """Columns of x on the scale where those of `reference` have mean 0 and standard deviation 1."""
    xp = x.__array_namespace__()
    mean = xp.mean(reference, axis=0)
    deviation = xp.std(reference, axis=0)
    # The corner pixels are blank in every picture: their deviation is 0, and they must stay 0.
    deviation = xp.where(deviation == 0, xp.ones_like(deviation), deviation)
    return on_grid((x - mean) / deviation)


def squared_distances(x: Array, centroids: Array) -> Array:
    """Squared distance of every row of x, (n, d), from every centroid, (k, d), as (n, k)."""
    xp = x.__array_namespace__()
    difference = x[:, None, :] - centroids[None, :, :]
    return xp.sum(difference * difference, axis=-1)


def nearest(x: Array, centroids: Array) -> Array:
    xp = x.__array_namespace__()
    return xp.argmin(squared_distances(x, centroids), axis=1)


def centroids_of(x: Array, labels: Array, count: int, otherwise: Array) -> Array:
    """Mean of the rows of each label, (count, d); for a label without rows, its row of `otherwise`."""
    xp = x.__array_namespace__()
    member = xp.astype(labels[:, None] == xp.arange(count, dtype=labels.dtype)[None, :], x.dtype)
    size = xp.sum(member, axis=0)[:, None]
    total = xp.sum(member[:, :, None] * x[:, None, :], axis=0)
    return on_grid(xp.where(size > 0, total / xp.where(size > 0, size, xp.ones_like(size)), otherwise))


def k_means(x: Array, start: Array, steps: int) -> tuple[Array, float]:
    """Lloyd's algorithm from the centroids `start`: the labels, and the final sum of squared distances."""
    xp = x.__array_namespace__()
    centroids, labels = start, nearest(x, start)
    for _ in range(steps):
        centroids = centroids_of(x, labels, start.shape[0], otherwise=centroids)
        before, labels = labels, nearest(x, centroids)
        if xp.all(labels == before):
            break
    return labels, float(xp.sum(xp.min(squared_distances(x, centroids), axis=1)))


def classify(train: Array, train_labels: Array, test: Array) -> Array:
    """The label of the nearest class mean, for every row of `test`."""
    xp = train.__array_namespace__()
    x = standardise(train, train)
    blank = xp.zeros((CLASSES, x.shape[1]), dtype=x.dtype)
    return nearest(standardise(test, train), centroids_of(x, train_labels, CLASSES, otherwise=blank))


# ------------------------------------------------------------------------------
# The job: the digits, measured in one library.
# ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Digits:
    """The data as plain buffers, which every library can read without another one."""

    pixels: array[float]
    labels: array[int]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.labels), len(self.pixels) // len(self.labels)


@dataclass(frozen=True)
class Outcome:
    library: str
    clusters: list[int]
    predicted: list[int]
    purity: float
    accuracy: float
    seconds: float
    peak_bytes: int | None


def load() -> Digits:
    from sklearn.datasets import load_digits  # type: ignore[import-untyped, import-not-found, unused-ignore]  # heavy, and of no use to the measuring processes

    pixels, labels = load_digits(return_X_y=True)
    return Digits(array("d", pixels.ravel().tolist()), array("q", labels.tolist()))


def split(count: int) -> tuple[list[int], list[int]]:
    """Rows to train with and rows to test with, three to one: the same for every library."""
    rows = list(range(count))
    random.Random(0).shuffle(rows)
    cut = 3 * count // 4
    return rows[:cut], rows[cut:]


def job(x: Array, labels: Array, progress: Callable[[], object]) -> tuple[Array, Array]:
    """Cluster all rows of x, and classify a quarter by the other three: cluster labels, predicted labels."""
    xp = x.__array_namespace__()

    def rows(numbers: list[int]) -> Array:
        return xp.asarray(numbers, dtype=xp.int64)

    scaled = standardise(x, x)
    attempts = []
    for seed in range(RESTARTS):
        start = random.Random(seed).sample(range(x.shape[0]), CLASSES)
        attempts.append(k_means(scaled, xp.take(scaled, rows(start), axis=0), STEPS))
        progress()
    clusters = min(attempts, key=lambda attempt: attempt[1])[0]

    train, test = map(rows, split(x.shape[0]))
    predicted = classify(xp.take(x, train, axis=0), xp.take(labels, train, axis=0), xp.take(x, test, axis=0))
    progress()
    return clusters, predicted


def measure(library: str, digits: Digits, repeat: int) -> Outcome:
    """Run the job `repeat` times, in a fresh process that imports only this library."""
    from tqdm import tqdm  # type: ignore[import-untyped, import-not-found, unused-ignore]

    xp = importlib.import_module(library)
    x = xp.reshape(xp.asarray(digits.pixels), digits.shape)
    labels = xp.asarray(digits.labels)
    seconds: list[float] = []
    bar = tqdm(desc=f"{library:>8}", total=repeat * (RESTARTS + 1), unit=" parts")
    before = peak_memory()
    while True:
        began = time.perf_counter()
        clusters, predicted = job(x, labels, bar.update)
        seconds.append(time.perf_counter() - began)
        if len(seconds) >= repeat:
            break
    after = peak_memory()
    bar.close()

    found = [int(clusters[i]) for i in range(clusters.shape[0])]
    answers = [int(predicted[i]) for i in range(predicted.shape[0])]
    truth = list(digits.labels)
    return Outcome(
        library,
        found,
        answers,
        purity(found, truth),
        statistics.fmean(answers[i] == truth[row] for i, row in enumerate(split(len(truth))[1])),
        statistics.median(seconds),
        None if before is None or after is None else after - before,
    )


def purity(clusters: list[int], truth: list[int]) -> float:
    """The share of rows whose digit is the most frequent one of their cluster."""
    digits_of: dict[int, Counter[int]] = {}
    for cluster, digit in zip(clusters, truth, strict=True):
        digits_of.setdefault(cluster, Counter())[digit] += 1
    return sum(max(counts.values()) for counts in digits_of.values()) / len(truth)


def peak_memory() -> int | None:
    """The peak of resident memory of this process, in bytes; None if it is unknown."""
    # On Linux ru_maxrss is unsuitable: a new process inherits it from its parent.
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


# ------------------------------------------------------------------------------
# Side by side.
# ------------------------------------------------------------------------------


def in_fresh_process(library: str, digits: Digits, repeat: int) -> Outcome:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, library, digits, repeat).result()


def report(outcomes: list[Outcome], repeat: int) -> None:
    def memory(outcome: Outcome) -> str:
        return "unknown" if outcome.peak_bytes is None else f"{outcome.peak_bytes / 2**20:.1f} MiB"

    rows = [
        ("nearest centroid, accuracy", [f"{outcome.accuracy:.4f}" for outcome in outcomes]),
        ("k-means, purity of the clusters", [f"{outcome.purity:.4f}" for outcome in outcomes]),
        (f"time, median of {repeat}", [f"{outcome.seconds:.3f} s" for outcome in outcomes]),
        ("peak memory of the job", [memory(outcome) for outcome in outcomes]),
    ]
    print(f"\n{'':<34}" + "".join(f"{outcome.library:>18}" for outcome in outcomes))
    for title, cells in rows:
        print(f"{title:<34}" + "".join(f"{cell:>18}" for cell in cells))
    print(
        "\nPeak memory: by how much the job raised the peak of the process's resident memory, after imports"
    )
    print("and with the data loaded. Each library ran in a fresh process.")


def compare(outcomes: list[Outcome]) -> bool:
    """Print whether every library found the same labels."""
    first, *others = outcomes
    same = True
    for other in others:
        for what in ("clusters", "predicted"):
            pairs = zip(getattr(first, what), getattr(other, what), strict=True)
            different = sum(a != b for a, b in pairs)
            if different:
                same = False
                print(
                    f"LABELS DIFFER: {what}, {different} of them between {first.library} and {other.library}"
                )
    if same and others:
        counts = f"{len(first.clusters)} cluster labels and {len(first.predicted)} predicted digits"
        print(f"\nIdentical labels: {counts}, in {' and '.join(outcome.library for outcome in outcomes)}.")
    return same


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--library", nargs="+", default=["stride0", "numpy"], metavar="NAME")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="times the job is run in each (3)")
    options = parser.parse_args()
    if options.repeat < 1:
        parser.error("--repeat must be at least 1")

    digits = load()
    count, width = digits.shape
    print(f"{count} digits of {width} pixels: k-means from {RESTARTS} starts, and nearest centroid")
    outcomes = []
    for library in options.library:
        try:
            outcomes.append(in_fresh_process(library, digits, options.repeat))
        except (ImportError, BrokenProcessPool) as error:
            print(f"{library}: {error}", file=sys.stderr)
            return 2
    report(outcomes, options.repeat)
    return 0 if compare(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
