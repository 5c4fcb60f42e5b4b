"""The same bits at every number of threads, and no conflict with other users of threads or forks.

Thresholds are lowered, so that small arrays are partitioned as large ones are.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import joblib
import numpy as np
import pytest
import threadpoolctl
from helpers import function_of

import stride0 as xp
from stride0._base.processors import available
from stride0._core.elementwise.elementwise import copy, multiply_masked
from stride0._core.memory.dtype import DTYPES
from stride0._core.plan import plan, threads
from stride0._core.reduce.reduce import argreduce, reduce, reduce2, scan
from stride0._tables.operations import ARG_REDUCTIONS, OPS, REDUCTIONS, SCANS

COUNTS = (2, 7)
MORE_COUNTS = (2, 3, 5, 7)
SHAPE = (97, 89)

pytestmark = pytest.mark.skipif(not threads.pool, reason="built without a thread pool: there is one thread")


@pytest.fixture(autouse=True)
def eager() -> Iterator[None]:
    """Threads run from the first element on; the number of threads is restored afterwards."""
    before, backs_off = xp.get_num_threads(), threads.back_off(False)
    tuned = plan.tune(threads_ns=0, wake_ns=0, per_thread_ns=1, fixed_elements=256, fixed_chunk_elements=64)
    yield
    plan.tune(**tuned)
    threads.back_off(backs_off)
    xp.set_num_threads(before)


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "C": lambda x: x,
    "transposed": lambda x: x.T,
    "strided": lambda x: x[::2, 1::3],
    "reversed": lambda x: x[::-1, ::-1],
    "row": lambda x: xp.broadcast_to(x[3, :], SHAPE),
    "column": lambda x: xp.broadcast_to(x[:, 5:6], SHAPE),
}


def data(dtype: Any, seed: int) -> Any:
    """Elements of a dtype, with NaN, infinities and both zeros among floating-point ones."""
    rng = np.random.default_rng(seed)
    if dtype.kind == "bool":
        return xp.asarray(rng.integers(0, 2, SHAPE).astype(bool))
    if "integer" in dtype.kind:
        info = np.iinfo(dtype.name)
        return xp.asarray(rng.integers(info.min, info.max, SHAPE, dtype=dtype.name, endpoint=True))
    real = rng.normal(0, 3, (2, *SHAPE)) * 10.0 ** rng.integers(-3, 4, (2, *SHAPE))
    real[rng.random((2, *SHAPE)) < 0.001] = np.nan
    real[rng.random((2, *SHAPE)) < 0.001] = np.inf
    real[rng.random((2, *SHAPE)) < 0.01] = -0.0
    if dtype.kind != "complex floating":
        return xp.astype(xp.asarray(real[0]), dtype)
    return xp.asarray(np.moveaxis(real, 0, -1).copy().view("complex128")[..., 0].astype(dtype.name))


def bits(result: Any) -> bytes:
    return bytes(result)


def same_bits(name: str, call: Callable[..., Any], *operands: Any, counts: tuple[int, ...] = COUNTS) -> None:
    """Whether a call gives the same bytes with one thread and with several."""
    xp.set_num_threads(1)
    expected = bits(call(*operands))
    for count in counts:
        xp.set_num_threads(count)
        assert bits(call(*operands)) == expected, f"{name}: {count} threads"


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_elementwise(op: Any) -> None:
    special = {"add_scaled": lambda x, y, z: xp.add(x, y, alpha=z), "multiply_masked": multiply_masked}
    call = special.get(op.name) or function_of(op)
    done = 0
    for dtype in DTYPES:
        given = [data(dtype, seed) for seed in range(op.nin)]
        if op.name == "pow" and "integer" in dtype.kind:
            given[1] = given[1] & 15
        try:
            call(*(x[:1, :1] for x in given))
        except TypeError:
            continue
        for layout, lay in LAYOUTS.items():
            operands = [given[0], *(lay(x) for x in given[1:])]
            if operands[-1].shape != SHAPE or op.nin == 1:
                operands = [lay(x) for x in given]
            same_bits(f"{op.name} of {dtype.name}, {layout}", call, *operands)
            done += 1
    assert done >= len(LAYOUTS)


@pytest.mark.parametrize("source", DTYPES, ids=lambda dtype: dtype.name)
def test_casts_and_copies(source: Any) -> None:
    x = data(source, 1)
    for target in DTYPES:
        if not (source.kind == "complex floating" and target.kind != "complex floating"):
            for layout, lay in LAYOUTS.items():
                for order in "KC":
                    same_bits(f"{source}, {target}, {layout}", copy, lay(x), target, order)


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d.kind != "complex floating"], ids=lambda d: d.name)
def test_sorting_and_searching(dtype: Any) -> None:
    x = data(dtype, 1)
    flat = xp.reshape(x, (-1,))
    long = xp.reshape(flat[:8400], (42, 200))
    # In the last case threads sort parts of one lane.
    for given, axes in ((x, (0, 1)), (long, (0, 1)), (flat, (0,))):
        for axis in axes:
            for descending in (False, True):
                name = f"{dtype.name}, {given.shape}, axis {axis}, {descending}"
                order = {"axis": axis, "descending": descending}
                same_bits(f"sort of {name}", lambda x, order=order: xp.sort(x, **order), given)
                same_bits(
                    f"argsort of {name}",
                    lambda x, order=order: xp.argsort(x, **order),
                    given,
                    counts=MORE_COUNTS,
                )
    if dtype.kind != "bool":
        among = xp.sort(long[0, :])
        for side in ("left", "right"):
            same_bits(f"searchsorted, {side}", lambda x, side=side: xp.searchsorted(among, x, side=side), x)


@pytest.mark.parametrize("name", ["sum", "max", "prod", "count_nonzero"])
def test_rows_that_are_added_are_cut_between_columns(name: str) -> None:
    plan.tune(fixed_elements=1 << 20)  # no fixed chunks
    for dtype in DTYPES:
        if name == "max" and dtype.kind == "complex floating":
            continue
        x = xp.reshape(xp.reshape(data(dtype, 1), (-1,))[:8400], (12, 700))
        wide = xp.concat([x, x, x], axis=1)
        views = {"C": wide, "strided": wide[:, ::2], "reversed": wide[::-1, ::-1], "transposed": wide.T}
        for layout, view in views.items():
            for axis in (0, 1):
                if name in ("sum", "prod") and dtype.kind == "bool":
                    continue
                what = f"{name} of {dtype.name}, {layout}, {axis}"
                same_bits(what, reduce, name, view, (axis,), False, counts=(2, 3, 7))


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "any", "all", "count_nonzero"])
@pytest.mark.parametrize("shape", [(16, 9000), (29, 9000), (9, 700, 11)])
def test_fixed_chunks_are_shared_between_results(name: str, shape: tuple[int, ...]) -> None:
    """Also if one part has fewer results than the others, and if other steps compute the operand."""
    rng = np.random.default_rng(8)
    call = getattr(xp, name)

    def deferred(x: Any) -> Any:
        with xp.fused(size=1):
            return call(xp.add(x, x), axis=1)

    for dtype in (xp.float64, xp.float32, xp.uint8):
        x = xp.asarray(rng.integers(0, 3, shape).astype(dtype.name))
        for view in (x, x[..., ::2], x[::-1]):
            same_bits(f"{name}, {dtype.name}", lambda x: call(x, axis=1), view, counts=MORE_COUNTS)
            same_bits(f"fused {name}, {dtype.name}", deferred, view, counts=MORE_COUNTS)


def test_products_of_two_in_fixed_chunks_are_shared_between_results() -> None:
    rng = np.random.default_rng(9)
    for shape in ((16, 9000), (29, 9000)):
        x, y = (xp.asarray(rng.normal(size=shape)) for _ in range(2))
        same_bits(f"dot, {shape}", reduce2, "dot", x, y, (1,), False, counts=MORE_COUNTS)


def test_dtypes_of_one_accumulator_are_cut_alike() -> None:
    rng = np.random.default_rng(3)
    for shape in ((1000, 20), (37, 300), (8000, 3), (20_000,)):
        x = xp.asarray((rng.normal(size=shape) * 10.0 ** rng.integers(-8, 8, shape)).astype("float32"))
        for axis in range(x.ndim):
            cast = bits(xp.sum(xp.astype(x, xp.float64), axis=axis))
            assert bits(xp.sum(x, axis=axis, dtype=xp.float64)) == cast, (shape, axis)


AXES = ((0,), (1,), (0, 1))


@pytest.mark.parametrize("red", REDUCTIONS, ids=lambda red: red.name)
def test_reductions(red: Any) -> None:
    for dtype in DTYPES:
        x, y = data(dtype, 1), data(dtype, 2)
        for layout, lay in LAYOUTS.items():
            for axes in AXES:
                name = f"{red.name} of {dtype.name}, {layout}, {axes}"
                if dtype.name[0] not in "".join(red.accumulator) and dtype.kind != "bool":
                    continue
                try:
                    reduce2(red.name, x[:1, :1], y[:1, :1], (0, 1), False) if red.nin == 2 else reduce(
                        red.name, x[:1, :1], (0, 1), False
                    )
                except TypeError:
                    continue
                if red.nin == 1:
                    same_bits(name, reduce, red.name, lay(x), axes, False)
                else:
                    same_bits(name, reduce2, red.name, lay(x), lay(y), axes, False)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float32", "float64"])
def test_products_of_matrices(dtype: str) -> None:
    rng = np.random.default_rng(12)

    def make(*shape: int) -> Any:
        values = rng.normal(size=shape) * 99
        # Negative floats become unsigned integers through signed ones; direct casts differ on aarch64.
        return xp.asarray((values.astype(np.int64) if dtype[0] == "u" else values).astype(dtype), copy=True)

    for shape1, shape2 in (
        ((3000, 4, 4), (3000, 4, 4)),
        ((3001, 4, 4), (3001, 4, 1)),
        ((5, 800, 37), (5, 37, 1)),
        ((903, 100), (100,)),
        ((3, 500, 60), (3, 60, 1)),
        *([((177, 130), (130, 90)), ((3, 81, 80), (3, 80, 80))] if "int" in dtype else []),
    ):
        x, y = make(*shape1), make(*shape2)
        same_bits(f"{dtype} {shape1} {shape2}", xp.matmul, x, y)
        same_bits(f"{dtype} {shape1} {shape2} reversed", xp.matmul, x[::-1, ...], y)


@pytest.mark.parametrize(
    "shape", [(20_000, 2), (9001, 3), (30_001, 1, 5), (4, 3, 5000), (40_000,), (2, 2, 9000)]
)
def test_shapes_of_reductions(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(5)
    ndim = len(shape)
    for dtype in ("float32", "float64", "complex64", "int16", "bool"):
        a = rng.normal(0, 9, shape).astype(dtype)
        x = xp.asarray(a)
        axes = [(k,) for k in range(ndim)] + [tuple(range(ndim))] + ([(0, 2)] if ndim == 3 else [])
        for axis in axes:
            for name in ("sum", "prod", "max", "min", "any", "all", "count_nonzero"):
                if name in ("max", "min") and dtype == "complex64":
                    continue
                same_bits(
                    f"{name} of {dtype} {shape}, {axis}", reduce, name, x, axis, False, counts=MORE_COUNTS
                )
            exact = a.sum(
                axis=axis,
                dtype="complex128" if dtype == "complex64" else None if a.dtype.kind in "ib" else "float64",
            )
            np.testing.assert_allclose(np.array(xp.sum(x, axis=axis)), exact, rtol=1e-6, atol=1e-2)
            if dtype != "complex64":
                np.testing.assert_array_equal(np.array(xp.max(x, axis=axis)), a.max(axis=axis))
                np.testing.assert_array_equal(np.array(xp.any(x, axis=axis)), a.any(axis=axis))
            same_bits(f"var of {dtype} {shape}, {axis}", lambda v, k: xp.var(v, axis=k), x, axis)


@pytest.mark.parametrize("name", [*(row.name for row in SCANS), *ARG_REDUCTIONS])
def test_along_an_axis(name: str) -> None:
    for dtype in DTYPES[1:]:
        x = data(dtype, 3)
        if name in ARG_REDUCTIONS and dtype.kind == "complex floating":
            continue
        for layout, lay in LAYOUTS.items():
            for axis in (0, 1):
                y = lay(x)
                if name in ARG_REDUCTIONS:
                    same_bits(
                        f"{name} {dtype.name} {layout}", lambda y=y, k=axis: argreduce(name, y, k, False)
                    )
                else:
                    same_bits(
                        f"{name} {dtype.name} {layout}",
                        lambda y=y, k=axis, d=dtype: scan(name, y, k, d, True),
                    )


def test_in_place_and_indexing() -> None:
    rng = np.random.default_rng(3)
    picks = xp.asarray(rng.integers(-SHAPE[0], SHAPE[0], 777))
    for dtype in DTYPES:
        x, y = data(dtype, 4), data(dtype, 5)

        def in_place(x: Any = x, y: Any = y) -> Any:
            z = copy(x)
            z[1:, :] = z[:-1, :]
            z[::2, :] = y[::2, ::-1]
            z[:, 3] = False
            if z.dtype.kind != "bool":
                z += y
                z *= y[0, :]
            return z

        same_bits(f"in place, {dtype.name}", in_place)
        same_bits(f"take, {dtype.name}", lambda x=x: xp.take(x, picks, axis=0))
        same_bits(f"mask, {dtype.name}", lambda x=x, y=y: x[y != xp.astype(xp.asarray(0), y.dtype)])
        same_bits(f"where, {dtype.name}", lambda x=x, y=y: xp.where(xp.astype(x, xp.bool), x, y.T[:1, :1]))
        same_bits(f"concat, {dtype.name}", lambda x=x, y=y: xp.concat((x, y, x[::-1, :])))


def test_indices_out_of_bounds() -> None:
    """An index out of bounds is named in the error, whichever thread finds it."""
    xp.set_num_threads(3)
    x = xp.arange(100)
    for at in (0, 5000, 9999):
        for wrong in (100, -101, 2**62):
            picks = np.zeros(10_000, "int64")
            picks[at] = wrong
            with pytest.raises(
                xp.OutOfBoundsError, match=f"{wrong} is out of bounds for axis 0 with size 100"
            ):
                x[xp.asarray(picks)]


def test_mean_of_ones() -> None:
    x = xp.ones((3_000_001, 2), dtype=xp.float32)
    assert xp.all(xp.mean(x, axis=0) == 1) and xp.mean(x) == 1


def test_any_and_all_stop_early() -> None:
    """If the first element decides, the others are not read: their pages stay untouched."""
    script = (
        "import resource, stride0 as xp; x = xp.zeros((400_000_000,), dtype=xp.bool); x[0] = True\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt; assert xp.any(x) and not xp.all(x)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)"
    )
    done = run(script, OMP_NUM_THREADS="2")
    assert int(done) < 2000


# --- the number of threads


def run(script: str, **environment: str) -> str:
    """Run a script in a process of its own and return what it prints."""
    others = ("OMP_NUM_THREADS", "STRIDE0_NUM_THREADS", "STRIDE0_FUSED")
    own = {k: v for k, v in os.environ.items() if k not in others}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**own, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


ASK = "import stride0; print(stride0.get_num_threads())"


def test_environment() -> None:
    assert run(ASK) == str(available())
    assert run(ASK, OMP_NUM_THREADS="5") == run(ASK, OMP_NUM_THREADS=" 5,2 ") == "5"
    for ignored in ("", "0", "many", "-1"):
        assert run(ASK, OMP_NUM_THREADS=ignored) == str(available())
    assert run(ASK, STRIDE0_NUM_THREADS="3") == "3"
    # A pool of processes limits its workers by OMP_NUM_THREADS.
    assert run(ASK, OMP_NUM_THREADS="1", STRIDE0_NUM_THREADS="3") == "1"
    assert run(ASK, OMP_NUM_THREADS="8", STRIDE0_NUM_THREADS="3") == "3"
    for wrong in ("0", "many", "-1", "1.5", "100000"):
        with pytest.raises(AssertionError, match=f"STRIDE0_NUM_THREADS: '{wrong}' is not a number from 1 to"):
            run(ASK, STRIDE0_NUM_THREADS=wrong)


def test_the_number_of_threads() -> None:
    for n in (1, 2, 7):
        xp.set_num_threads(n)
        assert xp.get_num_threads() == n
    for wrong in (0, -1, 10**6, 10**30):
        with pytest.raises(xp.ArgumentValueError):
            xp.set_num_threads(wrong)
    for junk in (True, 2.0, "2", None, xp.asarray(2)):
        with pytest.raises(xp.ArgumentTypeError):
            xp.set_num_threads(junk)  # type: ignore[arg-type]
    assert xp.get_num_threads() == 7


THREADS_AT_WORK = """
import os, threadpoolctl
import stride0 as xp
from stride0._core.plan import plan
plan.tune(threads_ns=0, wake_ns=0, per_thread_ns=1)
x = xp.zeros((1_000_000,))  # fresh memory: no loop has run yet
def threads_now():
    x + x
    return len(os.listdir("/proc/self/task"))
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="needs /proc")
def test_threads_work() -> None:
    script = THREADS_AT_WORK + "before = threads_now(); xp.set_num_threads(6); print(before, threads_now())"
    # NumPy's BLAS has no threads, because nothing imports it.
    before, after = map(int, run(script, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1").split())
    assert after == before + 5


@pytest.mark.parametrize("first", ["", "import stride0\n"], ids=["threadpoolctl first", "stride0 first"])
@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="needs /proc")
def test_threadpoolctl_finds_and_limits(first: str) -> None:
    script = (
        first
        + THREADS_AT_WORK
        + (
            "with threadpoolctl.threadpool_limits(1, user_api='openmp'):\n"
            "    inside, n = xp.get_num_threads(), threads_now()\n"
            "found = [p for p in threadpoolctl.threadpool_info() if p['internal_api'] == 'stride0']\n"
            "xp.set_num_threads(3)\n"
            "with threadpoolctl.threadpool_limits(2):\n"
            "    print(inside, len(found), found[0]['num_threads'], xp.get_num_threads(), end=' ')\n"
            "print(xp.get_num_threads(), n == threads_now() - 2)"
        )
    )
    assert run(script, OMP_NUM_THREADS="4") == "1 1 4 2 3 True"
    assert "stride0" in {pool["internal_api"] for pool in threadpoolctl.threadpool_info()}


def test_threadpoolctl_is_not_imported_for_us() -> None:
    assert run("import sys, stride0; print('threadpoolctl' in sys.modules)") == "False"


# --- other libraries with threads, and processes


def work(seed: int) -> bytes:
    """A small call of everything that uses threads."""
    x = xp.reshape(xp.arange(60_000.0), (300, 200)) + seed
    parts = [
        xp.sin(x),
        x + x.T[:200, :200][:1, :1],
        xp.sum(x),
        xp.sum(x, axis=0),
        xp.max(x.T, axis=0),
        xp.cumulative_sum(x, axis=1),
    ]
    return b"".join(bits(part) for part in parts)


def test_python_threads_at_once() -> None:
    xp.set_num_threads(1)
    expected = [work(seed) for seed in range(4)]
    xp.set_num_threads(3)
    wrong: list[int] = []

    def check(seed: int) -> None:
        for _ in range(40):
            if work(seed) != expected[seed]:
                wrong.append(seed)

    ours = [threading.Thread(target=check, args=(seed,)) for seed in range(4)]
    for thread in ours:
        thread.start()
    for thread in ours:
        thread.join()
    assert not wrong


def in_child(seed: int) -> tuple[int, bytes]:
    return xp.get_num_threads(), work(seed)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.*fork.*:RuntimeWarning")  # JAX's, if other tests imported it
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_after_fork() -> None:
    """A forked child starts its own workers and does not wait for the parent's."""
    xp.set_num_threads(2)
    expected = work(1)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for count, found in pool.map_async(in_child, [1, 1, 1]).get(timeout=60):
            assert count == 2 and found == expected
    assert xp.get_num_threads() == 2 and work(1) == expected


def test_joblib_workers() -> None:
    xp.set_num_threads(2)
    expected = work(2)
    loky = joblib.Parallel(n_jobs=2, backend="loky", timeout=120)
    # The workers do not import this file, so only functions of the package can be sent.
    for count in loky(joblib.delayed(xp.get_num_threads)() for _ in range(3)):
        # Loky shares the processors out among its workers.
        assert count == max(len(os.sched_getaffinity(0)) // 2, 1)
    x = xp.linspace(0, 1, 300_001)
    for found in loky(joblib.delayed(xp.sum)(x) for _ in range(3)):
        assert found.item() == xp.sum(x).item()
    in_threads = joblib.Parallel(n_jobs=3, backend="threading")
    assert in_threads(joblib.delayed(work)(2) for _ in range(6)) == [expected] * 6


NESTED = """
#include <omp.h>
typedef void (*callback)(int);
/* Calls back from every thread of a team, one after the other: the interpreter has one lock. */
int nested(callback call) {
    int count = 0;
#pragma omp parallel num_threads(3)
    {
#pragma omp critical
        { call(omp_get_thread_num()); count = omp_get_num_threads(); }
    }
    return count;
}
"""


def test_inside_of_a_parallel_region(tmp_path: Any) -> None:
    """Loops called from threads of another library give the same results and do not wait for workers."""
    if shutil.which("cc") is None:
        pytest.skip("needs a C compiler")
    (tmp_path / "nested.c").write_text(NESTED)
    library = tmp_path / "nested.so"
    compiled = subprocess.run(
        ["cc", "-shared", "-fPIC", "-fopenmp", "-o", str(library), str(tmp_path / "nested.c")],
        capture_output=True,
    )
    if compiled.returncode:
        pytest.skip("no compiler with OpenMP here")
    script = THREADS_AT_WORK + (
        "import ctypes\nlib = ctypes.CDLL(LIBRARY)\nseen = []\nxp.set_num_threads(4)\n"
        "kind = ctypes.CFUNCTYPE(None, ctypes.c_int)\n"
        "count = lib.nested(kind(lambda k: seen.append(float(xp.sum(x)))))\n"
        "print(count, seen)"
    ).replace("LIBRARY", repr(str(library)))
    assert run(script, OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="1") == "3 [0.0, 0.0, 0.0]"
