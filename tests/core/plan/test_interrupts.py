"""Long calls of our own loops are interrupted by signals, and leave their operands as they were."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0._core.plan import threads
from stride0._core.program.program import describe_pending
from stride0.strided import as_strided

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")


class Stop(BaseException):
    """The exception of the handler; the handler of Ctrl-C raises KeyboardInterrupt."""


@pytest.fixture(autouse=True)
def handler(signals_often: None) -> Iterator[None]:
    def stop(number: int, frame: object) -> None:
        raise Stop

    before = signal.signal(signal.SIGALRM, stop)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def seconds(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def is_interrupted(call: Callable[[], Any], after: float) -> bool:
    """Whether a signal ends a call: the handler's exception then passes through compiled code."""
    try:
        signal.setitimer(signal.ITIMER_REAL, after)
        call()
        signal.setitimer(signal.ITIMER_REAL, 0)
    except Stop as error:
        trace = error.__traceback__
        while trace is not None:
            if "_core/" in trace.tb_frame.f_code.co_filename.replace("\\", "/"):
                return True
            trace = trace.tb_next
    return False


rng = np.random.default_rng(17)


def reals(*shape: int) -> Any:
    return xp.asarray(rng.normal(size=shape))


def complexes(*shape: int) -> Any:
    return xp.asarray(rng.normal(size=shape) + 1j * rng.normal(size=shape))


def windows() -> Any:
    """A view with 4e9 overlapping elements in memory of 1e5: a long reduction without much memory."""
    return as_strided(reals(5 << 15), (1 << 17, 1 << 15), (1, 1), 0)


# Name, the operands, and the call.
CASES: dict[str, tuple[Callable[[], tuple[Any, ...]], Callable[..., Any]]] = {
    "sort": (lambda: (reals(16_000_000),), xp.sort),
    "argsort": (lambda: (reals(16_000_000),), lambda x: xp.argsort(x, descending=True)),
    "sort of rows": (lambda: (reals(6000, 4000),), lambda x: xp.sort(x, axis=1)),
    "pow": (lambda: (complexes(4_000_000), complexes(4_000_000)), xp.pow),
    "searchsorted": (lambda: (xp.sort(reals(3_000_000)), reals(3_000_000)), xp.searchsorted),
    "product of integers": (lambda: (xp.asarray(rng.integers(-9, 9, (1400, 1400))),), lambda i: i @ i),
    "product in panels": (lambda: (reals(2600, 2600),), lambda x: x @ x),
    "product of few rows": (lambda: (reals(40, 500_000),), lambda x: x @ x.T),
    "sum": (lambda: (windows(),), xp.sum),
    "sum of rows": (lambda: (windows(),), lambda w: xp.sum(w, axis=1)),
    "max of columns": (lambda: (windows(),), lambda w: xp.max(w, axis=0)),
    "argmax": (lambda: (windows(),), lambda w: xp.argmax(w, axis=0)),
    "fft of a prime length": (lambda: (complexes(1_000_003),), xp.fft.fft),
    "rfft of a prime length": (lambda: (reals(1_000_003),), xp.fft.rfft),
    "ifft of a long lane": (lambda: (complexes(1 << 23),), xp.fft.ifft),
    "fft of lanes of a prime length": (lambda: (complexes(10_000, 997),), xp.fft.fft),
    "solve": (lambda: (reals(2000, 2000), reals(2000, 1)), xp.linalg.solve),
    "inv": (lambda: (reals(1500, 1500),), xp.linalg.inv),
    "qr": (lambda: (reals(1200, 1200),), xp.linalg.qr),
    "eigvalsh": (lambda: (reals(400_000, 4, 4),), xp.linalg.eigvalsh),
}


@pytest.mark.usefixtures("eagerly")  # a call that is deferred is short
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("name", CASES)
def test_a_signal_ends_a_long_call(name: str, count: int) -> None:
    if count > 1 and not threads.pool:
        pytest.skip("built without a thread pool")
    make, function = CASES[name]
    call, before = partial(function, *make()), xp.get_num_threads()
    xp.set_num_threads(count)
    try:
        whole = min(seconds(call), seconds(call))
        # The time of a call depends on other processes, so several times are tried.
        assert any(is_interrupted(call, whole / part) for part in (4, 6, 2, 8, 4, 10))
    finally:
        xp.set_num_threads(before)


def test_operands_stay_as_they_were() -> None:
    z, w = complexes(3_000_000), complexes(3_000_000)
    before = np.array(z)
    whole = min(seconds(lambda: np.array(z**w)) for _ in range(3))

    def write() -> None:
        nonlocal z
        z **= w

    interrupted = 0
    for part in (5, 2, 1.2, 4, 3, 8):
        if is_interrupted(write, whole / part):
            interrupted += 1
            assert np.array(z).tobytes() == before.tobytes()
        else:
            # The call was complete, or it had not begun.
            found = np.array(z).tobytes()
            assert found in (before.tobytes(), np.array(xp.asarray(before) ** w).tobytes())
            z[...] = xp.asarray(before)
    assert interrupted


def test_in_place_results_computed_apart_are_the_same() -> None:
    """A long in-place call computes into temporary memory first: also for overlaps, strides and casts."""
    z, w = complexes(1000, 900), complexes(1000, 900)
    for view in (lambda x: x, lambda x: x.T, lambda x: x[::-1, ::-1], lambda x: x[:, :450]):
        own, whole = xp.asarray(z, copy=True), np.array(z)
        expected = np.array(view(z) ** view(w))
        target = view(own)
        target **= view(w)
        assert np.array(view(own)).tobytes() == expected.tobytes()
        if expected.size < whole.size:
            assert np.array(own)[:, 450:].tobytes() == whole[:, 450:].tobytes()
    own = xp.asarray(z, copy=True)
    narrow = xp.astype(z, xp.complex64)
    narrow **= w[0, :]
    assert narrow.dtype == xp.complex64
    assert (
        np.array(narrow).tobytes()
        == np.array(xp.astype(xp.astype(z, xp.complex64) ** w[0, :], xp.complex64)).tobytes()
    )
    own **= own[::-1, :]
    assert np.array(own).tobytes() == np.array(z ** z[::-1, :]).tobytes()
    frozen = xp.broadcast_to(z[0, :], z.shape)
    with pytest.raises(xp.WriteError):
        frozen **= w


def test_calls_of_other_threads_are_not_interrupted() -> None:
    """Python handles signals in its main thread: a call in another thread continues."""
    x, found, done = reals(3_000_000), [], threading.Event()

    def work() -> None:
        found.append(xp.sort(x))
        done.set()

    worker = threading.Thread(target=work)
    worker.start()
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    try:
        done.wait(60)
    except Stop:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    assert done.wait(60)
    worker.join()
    assert np.array(found[0]).tobytes() == np.sort(np.array(x)).tobytes()


def test_an_iterator_goes_on_after_an_error() -> None:
    """No row is lost if the elements of a deferred array could not be computed the first time."""
    x = xp.reshape(xp.arange(6_000_000, dtype=xp.float64), (3, 2_000_000))
    met = False

    def stop(number: int, frame: object) -> None:
        raise Stop

    before = signal.signal(signal.SIGPROF, stop)
    try:
        for _ in range(5):
            rows, lost = 0, False
            with xp.fused(size=1):
                z = xp.sin(x)
                for _ in range(20):
                    z = xp.sin(z) + 1
                iterator = iter(z)
                signal.setitimer(signal.ITIMER_PROF, 0.02)
                while True:
                    try:
                        next(iterator)
                    except Stop:
                        met = met or describe_pending(z) is not None
                        lost = describe_pending(z) is None  # it was raised after the call
                        continue
                    except StopIteration:
                        break
                    rows += 1
                signal.setitimer(signal.ITIMER_PROF, 0)
            assert rows == 3 - lost
            if met:
                break
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    assert met
