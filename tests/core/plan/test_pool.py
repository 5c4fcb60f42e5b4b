"""Only the thread pool: every chunk once, no waiting for workers that do not run, back-off, signals.

The pool's source is compiled again, with functions that call it in situations that cannot be produced
reliably from outside.
"""

from __future__ import annotations

import ctypes
import shutil
import signal
import subprocess
import sysconfig
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stride0._core.plan import threads

HERE = Path(__file__).parent
CORE = HERE.parents[2] / "src" / "stride0" / "_core"
COMPILER = shutil.which("cc")
pytestmark = [
    pytest.mark.skipif(not threads.pool, reason="built without a thread pool"),
    pytest.mark.skipif(COMPILER is None, reason="needs a C compiler"),
    pytest.mark.skipif(not CORE.is_dir(), reason="needs the sources beside the tests"),
]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: Any) -> Path:
    assert COMPILER is not None
    library = tmp_path_factory.mktemp("pool") / "pool_checks.so"
    includes = [f"-I{CORE / 'plan'}", f"-I{CORE / 'memory'}", f"-I{sysconfig.get_path('include')}"]
    command = [
        COMPILER,
        "-std=gnu11",
        "-O2",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-shared",
        "-fPIC",
        "-pthread",
        *includes,
    ]
    subprocess.run([*command, "-o", str(library), str(HERE / "pool_checks.c")], check=True)
    return library


@pytest.fixture
def pool(compiled: Path, tmp_path: Path) -> Iterator[ctypes.CDLL]:
    """A separate pool for each test, because a copy of the library is loaded as another library."""
    own = tmp_path / "own.so"
    shutil.copy(compiled, own)
    library = ctypes.CDLL(str(own))
    library.backoff.restype = ctypes.c_int64
    for function in (library.threads_for, library.set_backoff, library.is_called_after_late_wake):
        function.argtypes = [ctypes.c_int64]
    library.run_without_the_worker.argtypes = [ctypes.c_int, ctypes.c_int64]
    library.run_many.argtypes = library.run_until_signal.argtypes = [
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_int64,
    ]
    library.allow(4)
    yield library


def test_every_chunk_runs_once(pool: Any) -> None:
    for count in (2, 3, 4, 9):
        assert pool.run_many(2000, count, 0) == 0
        assert pool.run_many(100, count, 20_000) == 0


def test_several_callers(pool: Any) -> None:
    """One thread at a time uses the pool; the others run without workers."""
    wrong: list[int] = []
    callers = [threading.Thread(target=lambda: wrong.append(pool.run_many(3000, 3, 0))) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert wrong == [0, 0, 0, 0]


def test_calls_from_chunks(pool: Any) -> None:
    for chunks in (1, 2, 7, 60):
        assert pool.run_nested(chunks, 3)


def test_claims_from_both_ends(pool: Any) -> None:
    for end in (1, 2, 3, 5000):
        pool.set_range(0, end)
        counts = [0, 0, 0, 0]

        def claim(k: int, counts: list[int] = counts) -> None:
            counts[k] = pool.claim_all(k % 2)

        claimers = [threading.Thread(target=claim, args=(k,)) for k in range(4)]
        for claimer in claimers:
            claimer.start()
        for claimer in claimers:
            claimer.join()
        assert sum(counts) == end
        assert all(pool.times_claimed(chunk) == 1 for chunk in range(end))
        assert pool.claim_all(0) == pool.claim_all(1) == 0


def test_nobody_waits_for_a_worker_that_does_not_run(pool: Any) -> None:
    for chunks in (2, 3, 8, 97):
        assert pool.run_without_the_worker(chunks, 0)


def test_a_late_wake_loses_no_worker(pool: Any) -> None:
    """A late wake for a finished call leaves the worker asleep, and later calls can wake it."""
    assert pool.is_called_after_late_wake(20_000_000)


def test_back_off(pool: Any) -> None:
    """A worker that is late is not called for a while, twice as long each time; at most 128 ms."""
    assert pool.threads_for(1_000_000) == 4
    found = []
    for _ in range(10):
        assert pool.run_without_the_worker(8, 200_000)
        assert pool.threads_for(10_000_000) == 1
        found.append(pool.backoff())
        pool.let_backoff_pass()
    assert found == [min(2**k * 1_000_000, 128_000_000) for k in range(10)]


def test_back_off_ends(pool: Any) -> None:
    """Each call for which the worker is in time halves the back-off, until it is 0."""
    pool.set_backoff(64_000_000)
    for _ in range(1000):
        assert pool.run_many(20, 2, 50_000) == 0
        if pool.backoff() == 0:
            break
    assert pool.backoff() == 0


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
@pytest.mark.parametrize("count", [1, 3])
def test_signals_end_a_call(pool: Any, count: int) -> None:
    """The handler runs in the caller's thread while chunks run; after it raises, no chunk begins."""

    def handler(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        begun = pool.run_until_signal(4000, count, 10_000_000)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert 0 < begun < 4000


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
def test_a_handler_that_returns_ends_nothing(pool: Any) -> None:
    handled: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: handled.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        assert pool.run_until_signal(40, 2, 10_000_000) == -1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert handled
