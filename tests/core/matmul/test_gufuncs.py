"""NumPy's ufunc loops, called from C, give NumPy's bits; and the fallback where they are missing."""

from __future__ import annotations

import ctypes
import os
import threading

import numpy as np
import pytest

import stride0 as xp
from stride0._core.matmul import numpy_loops
from stride0._core.matmul.matmul import set_gufuncs
from stride0._core.plan import plan
from stride0._core.plan import threads as pool

WIDE = ["float64", "complex128"]
FLOATING = ["float32", "float64", "complex64", "complex128"]
EPS = {"float32": 1e-5, "complex64": 1e-5, "float64": 1e-12, "complex128": 1e-12}


def load_anew(load=numpy_loops.load_gufuncs):
    set_gufuncs(load, numpy_loops.compute)


@pytest.fixture
def without_loops():
    load_anew(lambda: [None] * len(numpy_loops.ROUTINES))
    yield
    load_anew()


@pytest.fixture(autouse=True)
def by_lapack():
    """Without our eigenvalues and singular values: core/linalg/test_spectra.py tests them."""
    before = plan.tune(own_eigen_rows=-1, most_own_spectra_rows=-1)
    yield
    plan.tune(**before)


def random(dtype, *shape):
    rng = np.random.default_rng(7)
    a = rng.standard_normal(shape)
    return (a + 1j * rng.standard_normal(shape) if dtype.startswith("c") else a).astype(dtype)


def hermitian(dtype, *shape):
    a = random(dtype, *shape)
    return (a @ a.conj().swapaxes(-1, -2) + np.eye(shape[-1])).astype(dtype)


def layouts(a):
    """The same matrices in other memory: columns first, every second element, backwards, one for all."""
    yield a
    yield np.ascontiguousarray(a.swapaxes(-1, -2)).swapaxes(-1, -2)
    yield np.repeat(np.repeat(a, 2, axis=-1), 2, axis=-2)[..., ::2, ::2]
    yield np.ascontiguousarray(a[..., ::-1, ::-1])[..., ::-1, ::-1]
    yield np.broadcast_to(a.reshape(-1, *a.shape[-2:])[0], a.shape)


def parts(found):
    return [np.asarray(part) for part in (found if isinstance(found, tuple) else (found,))]


SQUARE = ["eigh", "eigvalsh"]


def test_every_loop_of_this_numpy_is_called():
    assert [r.ufuncs for r in numpy_loops.ROUTINES if numpy_loops._loaded(r) is None] == []


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize(
    "shape", [(1, 1), (3, 3), (2, 4, 4), (3, 2, 5, 5), (3, 33, 33), (40, 40), (0, 3, 3), (2, 0, 0)]
)
def test_square_matrices_have_the_bits_of_numpy(dtype, shape):
    for a in layouts(hermitian(dtype, *shape)) if 0 not in shape else [hermitian(dtype, *shape)]:
        for name in SQUARE:
            expected = parts(getattr(np.linalg, name)(a))
            for got, wanted in zip(parts(getattr(xp.linalg, name)(xp.asarray(a))), expected, strict=True):
                assert got.dtype == wanted.dtype and np.array_equal(got, wanted), (name, a.strides)
        for name in ("eig", "eigvals"):
            expected = [part.astype("complex128") for part in parts(getattr(np.linalg, name)(a))]
            for got, wanted in zip(parts(getattr(xp.linalg, name)(xp.asarray(a))), expected, strict=True):
                assert np.array_equal(got, wanted), (name, a.strides)


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (2, 5, 3), (2, 2, 3, 5), (0, 3), (3, 0), (0, 2, 3)])
def test_matrices_have_the_bits_of_numpy(dtype, shape):
    calls = [("svd", {}), ("svd", {"full_matrices": False}), ("svdvals", {})]
    special = random(dtype, *shape)
    special[..., -1:, -1:] = np.nan
    factored = [("qr", {}, special), ("qr", {"mode": "complete"}, special)]
    given = layouts(random(dtype, *shape)) if 0 not in shape else [random(dtype, *shape)]
    for name, options, a in [*((*call, a) for a in given for call in calls), *factored]:
        expected = parts(getattr(np.linalg, name)(a, **options))
        got = parts(getattr(xp.linalg, name)(xp.asarray(a), **options))
        for one, wanted in zip(got, expected, strict=True):
            assert one.shape == wanted.shape
            assert np.array_equal(one, wanted, equal_nan=True), (name, options, a.strides)


def test_threads_share_a_stack():
    before = xp.get_num_threads()
    a = hermitian("float64", 3000, 5, 5)
    bad = a.copy()
    bad[2900] = -bad[2900]
    try:
        for threads in (1, 2):
            xp.set_num_threads(threads)
            for name in ("eigh", "svd"):
                expected = parts(getattr(np.linalg, name)(a))
                for got, wanted in zip(parts(getattr(xp.linalg, name)(xp.asarray(a))), expected, strict=True):
                    assert np.array_equal(got, wanted), (name, threads)
            with pytest.raises(xp.linalg.LinAlgError, match=r"\(2900,\)"):
                xp.linalg.cholesky(xp.asarray(bad))
    finally:
        xp.set_num_threads(before)


@pytest.mark.parametrize("dtype", FLOATING)
def test_public_functions_take_the_place_of_loops(dtype, without_loops):
    h, a = hermitian(dtype, 2, 4, 4), random(dtype, 3, 5, 4)
    for name in [*SQUARE, "cholesky", "det", "eigvals", "inv", "slogdet"]:
        for got, wanted in zip(
            parts(getattr(xp.linalg, name)(xp.asarray(h))), parts(getattr(np.linalg, name)(h)), strict=True
        ):
            np.testing.assert_allclose(got, wanted, rtol=100 * EPS[dtype], atol=100 * EPS[dtype])
    for name, options in (
        ("svd", {}),
        ("svd", {"full_matrices": False}),
        ("qr", {}),
        ("qr", {"mode": "complete"}),
    ):
        found = parts(getattr(xp.linalg, name)(xp.asarray(a), **options))
        for got, wanted in zip(found, parts(getattr(np.linalg, name)(a, **options)), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=0, atol=EPS[dtype] * 10)
    x, y = random(dtype, 30, 40), random(dtype, 40, 20)
    np.testing.assert_allclose(
        np.asarray(xp.asarray(x) @ xp.asarray(y)), x @ y, rtol=0, atol=100 * EPS[dtype]
    )
    singular = xp.zeros((3, 2, 2), dtype=getattr(xp, dtype))
    with pytest.raises(xp.linalg.LinAlgError, match="inv: the matrix is singular"):
        xp.linalg.inv(singular)


def test_a_ufunc_with_other_types_or_operands_is_not_called():
    """A loop that may belong to another function is not called."""
    for other in (np.linalg._umath_linalg.slogdet, np.add, np.matmul):
        load_anew(lambda other=other: [(other, ((0, 0), ()), ("d->d", "D->D"))] * len(numpy_loops.ROUTINES))
        try:
            assert xp.linalg.eigvalsh(xp.asarray([[2.0, 0.0], [0.0, 3.0]])).tolist() == [2.0, 3.0]
        finally:
            load_anew()


def test_failures_name_the_first_matrix():
    a = np.stack([np.eye(3)] * 9)
    a[5] = a[7] = 0
    for x in (xp.asarray(a), xp.asarray(a.reshape(3, 3, 3, 3))):
        index = "(5,)" if x.ndim == 3 else "(1, 2)"
        for call in (xp.linalg.inv, xp.linalg.cholesky, lambda x: xp.linalg.solve(x, xp.ones(3))):
            with pytest.raises(xp.linalg.LinAlgError) as caught:
                call(x)
            assert index in str(caught.value)
    upper = np.stack([np.eye(2), [[1.0, 2.0], [0.0, 1.0]]])
    assert xp.linalg.cholesky(xp.asarray(upper)).shape == (2, 2, 2)
    with pytest.raises(xp.linalg.LinAlgError) as caught:
        xp.linalg.cholesky(xp.asarray(upper), upper=True)
    assert "(1,)" in str(caught.value)


# Note [One thread of BLAS]


@pytest.fixture
def blas_threads():
    """Functions that get and set the number of threads of NumPy's BLAS, set to 3 for the test."""
    *_, count, limit = numpy_loops.functions_of_blas()
    if not limit:
        pytest.skip("this NumPy's BLAS is not known")
    count, limit = ctypes.CFUNCTYPE(ctypes.c_int)(count), ctypes.CFUNCTYPE(None, ctypes.c_int)(limit)
    before = count()
    limit(3)
    yield count, limit
    limit(before)


def seen_while(work, count):
    """The numbers of threads of BLAS that another thread sees while `work` runs."""
    seen, done = set(), threading.Event()

    def watch():
        while not done.is_set():
            seen.add(count())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        work()
    finally:
        done.set()
        watcher.join()
    return seen


def test_blas_computes_small_decompositions_on_one_thread(blas_threads):
    count, limit = blas_threads
    x, large = xp.asarray(random("float64", 100, 100)), xp.asarray(random("float64", 300, 300))
    seen: set[int] = set()
    # The other thread reads the number when it is scheduled.
    for _ in range(100):
        seen |= seen_while(lambda: [xp.linalg.svdvals(x) for _ in range(20)], count)
        if seen == {1, 3}:
            break
    assert seen == {1, 3}
    assert seen_while(lambda: xp.linalg.svdvals(large), count) == {3}
    assert count() == 3
    # A failure also restores the number.
    with pytest.raises(xp.linalg.LinAlgError):
        xp.linalg.cholesky(-xp.eye(50))
    assert count() == 3
    limit(1)
    xp.linalg.svdvals(x)
    assert count() == 1


def test_threads_that_call_blas_at_once_restore_its_number(blas_threads):
    count, limit = blas_threads
    x = xp.asarray(random("float64", 40, 40))
    expected = np.asarray(xp.linalg.svdvals(x))
    wrong = []

    def work():
        for _ in range(100):
            if not np.array_equal(np.asarray(xp.linalg.svdvals(x)), expected):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and count() == 3
    # A number that another part of the program sets meanwhile stays.
    seen_while(lambda: [xp.linalg.svdvals(x) for _ in range(20)], lambda: limit(2))
    assert count() == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_while_blas_computes_alone_restores_its_number(blas_threads):
    count, _ = blas_threads
    x = xp.asarray(random("float64", 100, 100))
    done = threading.Event()

    def work():
        while not done.is_set():
            xp.linalg.svdvals(x)

    worker = threading.Thread(target=work)
    worker.start()
    found = []
    try:
        for _ in range(10):
            for _ in range(10**6):
                if count() == 1:
                    break
            child = os.fork()
            if child == 0:
                os._exit(10 + count())
            found.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    finally:
        done.set()
        worker.join()
    assert found == [13] * 10 and count() == 3


@pytest.mark.parametrize("size", [17, 32, 33, 60])
def test_larger_matrices_of_a_stack_are_shared_among_threads(size):
    a = hermitian("float64", 40, size, size)
    x = xp.asarray(a)
    before, backs_off = xp.get_num_threads(), pool.back_off(False)
    tuned = plan.tune(threads_ns=0, wake_ns=0, per_thread_ns=1)
    found = []
    try:
        for threads in (1, 2, 5):
            xp.set_num_threads(threads)
            found.append(
                [part for f in (xp.linalg.eigh, xp.linalg.svd, xp.linalg.qr) for part in parts(f(x))]
            )
    finally:
        plan.tune(**tuned)
        pool.back_off(backs_off)
        xp.set_num_threads(before)
    for other in found[1:]:
        assert all(np.array_equal(one, two) for one, two in zip(found[0], other, strict=True))
    assert np.allclose(found[0][0], np.linalg.eigh(a)[0], rtol=1e-12)
