"""Products compared with NumPy: every algorithm of `matmul`, `vecdot`, `tensordot`, `matrix_transpose`."""

from __future__ import annotations

import functools
import itertools
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from helpers import DTYPES, FLOATING, INTEGERS, NUMERIC, assert_same, both, same, values
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

import stride0 as xp
from stride0 import autograd, strided
from stride0._core.matmul import numpy_loops
from stride0._core.matmul.matmul import set_blas, set_gufuncs
from stride0._core.plan import plan
from stride0._core.plan import threads as pool

ROUNDING = {"float32": 2e-4, "complex64": 2e-4, "float64": 1e-11, "complex128": 1e-11}


def tolerance(*arrays):
    """How much sums of products of floats may differ by order of summation; 0 for integers."""
    size = 1.0  # the largest sum of the magnitudes of products, at most
    for axis, a in zip((-1, -2), arrays):  # noqa: B905
        squares = np.nan_to_num(np.abs(a.astype(np.complex128)) ** 2, nan=0, posinf=0)
        size *= np.sqrt(squares.sum(axis=max(axis, -a.ndim)).max(initial=0)) if a.ndim else 1
    return ROUNDING.get(np.result_type(*arrays).name, 0.0) * max(1, size / 1e3)


def matrices(dtype, *shape):
    return both(values(dtype, shape))


def product(x, y, what=""):
    same(lambda ns, a, b: ns.matmul(a, b), x, y, rtol=tolerance(x[1], y[1]), what=what)


# The ways of a product


SHAPES = [
    # (M, K, N), batch: each algorithm of Note [Algorithms of matrix products] and its thresholds
    *itertools.product([(1, 1, 1), (2, 2, 2), (1, 5, 3), (3, 3, 3), (4, 1, 5)], [(), (1,), (7,), (2, 3)]),
    *itertools.product([(2, 2, 2), (3, 3, 3), (1, 8, 2), (4, 4, 1), (2, 3, 4)], [(250,), (20, 15)]),
    *itertools.product([(33, 40, 35), (1, 300, 1), (1, 300, 20), (20, 300, 1), (70, 70, 70)], [(), (3,)]),
]


@pytest.mark.parametrize("dtype", NUMERIC)
def test_matmul_of_all_sizes(dtype):
    for (m, k, n), batch in SHAPES:
        x, y = matrices(dtype, *batch, m, k), matrices(dtype, *batch, k, n)
        product(x, y, f"{batch} {m} {k} {n}")


def views(pair):
    """The same elements in other layouts: each axis order, slices, negative steps."""
    x, a = pair
    yield x, a
    back = tuple(range(a.ndim))[::-1]
    f = np.asfortranarray(a)
    yield xp.permute_dims(xp.asarray(np.ascontiguousarray(f.T)), back), f
    wide = np.repeat(np.repeat(a, 2, axis=-1), 3, axis=0)
    sliced = (slice(None, None, 6),) if a.ndim == 1 else (slice(None, None, 3), ..., slice(None, None, 2))
    yield xp.asarray(wide)[sliced], wide[sliced]
    flipped = np.ascontiguousarray(np.flip(a))
    yield xp.flip(xp.asarray(flipped)), np.flip(flipped)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int64", "uint8"])
def test_matmul_of_all_layouts(dtype):
    for m, k, n in ((2, 2, 2), (5, 4, 3), (3, 40, 2), (40, 40, 40), (1, 40, 40), (40, 40, 1)):
        for batch1, batch2 in (((), ()), ((3,), (3,)), ((3,), ()), ((), (3,)), ((2, 1, 4), (3, 1))):
            pairs = itertools.product(
                views(matrices(dtype, *batch1, m, k)), views(matrices(dtype, *batch2, k, n))
            )
            for number, (x, y) in enumerate(pairs):
                product(x, y, f"{batch1} {batch2} {m} {k} {n} {number}")


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int64"])
@pytest.mark.parametrize(
    ("shape1", "shape2"),
    [
        *(((1, 4, 4), (1, 4, 4)), ((6, 4, 4), (6, 4, 4)), ((70, 4, 4), (70, 4, 4)), ((7, 3, 5), (7, 5, 2))),
        *(((2, 3, 4, 5), (2, 3, 5, 4)), ((6, 1, 9), (9, 3)), ((31, 31), (31,)), ((31, 31), (31, 31))),
        *(((5, 31, 31), (31,)), ((1, 64), (64, 1)), ((20, 9), (9, 2)), ((31,), (31, 31)), ((9,), (9, 3))),
    ],
)
def test_products_have_the_same_elements_in_any_layout(dtype, shape1, shape2):
    """Products of whole numbers have exact sums, whether operands are packed, gathered or read in place."""
    rng = np.random.default_rng(7)
    (x, a), (y, b) = (both(rng.integers(1, 50, shape).astype(dtype)) for shape in (shape1, shape2))
    wanted = np.asarray(xp.matmul(x, y)).tobytes()
    for u, _ in views((x, a)):
        for v, _ in views((y, b)):
            assert np.asarray(xp.matmul(u, v)).tobytes() == wanted, (u.shape, v.shape)


@st.composite
def operands(draw):
    """Two arrays that multiply: batches of up to three axes that broadcast, size 0, broadcast axes."""
    sizes = st.sampled_from([1, 2, 3, 5])
    batch = draw(st.lists(sizes, max_size=3))
    m, k, n = (draw(st.sampled_from([0, 1, 2, 3, 9, 33])) for _ in range(3))
    arrays = []
    for rows, columns in ((m, k), (k, n)):
        own = [draw(st.sampled_from([b, b, 1])) for b in batch][draw(st.integers(0, len(batch))) :]
        dtype = draw(st.sampled_from(["float64", "float64", "float32", "int32", "complex64"]))
        x, a = draw(st.sampled_from(list(views(matrices(dtype, *own, rows, columns)))))
        if draw(st.booleans()):
            shape = (*batch, rows, columns)
            x, a = xp.broadcast_to(x, shape), np.broadcast_to(a, shape)
        arrays.append((x, a))
    return arrays


@examples(300)
@given(operands())
def test_matmul_of_anything(arrays):
    product(*arrays)


def test_facts_of_broadcasting():
    for shape1, shape2 in (
        ((3, 4), (4, 5)),
        ((10, 1, 3, 4), (1, 20, 4, 5)),
        ((4,), (4, 5)),
        ((3, 4), (4,)),
        ((4,), (4,)),
        ((4,), (7, 4, 5)),
        ((7, 3, 4), (4,)),
        ((2, 0, 4), (4, 3)),
        ((2, 3, 0), (0, 3)),
        ((0,), (0,)),
        ((0, 3, 4), (1, 4, 5)),
        ((0, 3, 4), (2, 4, 5)),
        ((3, 4), (5, 4)),
        ((4,), (5,)),
        ((3, 4), (5,)),
        ((), (4,)),
        ((4,), ()),
        ((2, 3, 4), (3, 4, 5)),
    ):
        product(matrices("float64", *shape1), matrices("float64", *shape2), f"{shape1} {shape2}")
    with pytest.raises(ValueError, match="could not be broadcast"):
        xp.multiply(xp.zeros((3, 4)), xp.zeros((4, 5)))


@pytest.mark.parametrize("dtype1", NUMERIC)
def test_mixed_dtypes_promote(dtype1):
    for dtype2 in NUMERIC:
        for m, k, n in ((2, 3, 2), (20, 30, 20)):
            x, y = matrices(dtype1, m, k), matrices(dtype2, k, n)
            result = xp.matmul(x[0], y[0])
            assert result.dtype is xp.result_type(x[0], y[0])
            product(x, y, f"{dtype1} {dtype2}")


def test_integers_wrap_around():
    for size in (2, 20, 50):
        for dtype in INTEGERS:
            info = np.iinfo(dtype)
            a = np.full((size, size), info.max, dtype)
            product(both(a), both(a), dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_in_blocks(dtype):
    info = np.iinfo(dtype)
    rng = np.random.default_rng(5)
    for m, k, n in ((3, 300, 5), (70, 129, 150), (33, 128, 64), (9, 127, 17), (130, 40, 300), (1, 200, 33)):
        a = rng.integers(info.min, info.max, (m, k), dtype, endpoint=True)
        b = rng.integers(info.min, info.max, (k, n), dtype, endpoint=True)
        for x, y in itertools.product(views(both(a)), views(both(b))):
            product(x, y, f"{dtype} {m} {k} {n}")


# Bits of the elements of both matrices: as many as s0_exact_tiles takes (`integer_products.h`), and one more.
LENGTHS = [(1, 1), (22, 22), (22, 23), (0, 44), (0, 45), (44, 1), (31, 31), (32, 32), (53, 1), (63, 63)]


def of_length(bits, shape, dtype, rng):
    """The extreme integers of `bits` bits; in uint64 negative ones wrap to 2^63 and above."""
    return rng.choice(np.asarray([-(2**bits), 2**bits - 1], "int64"), shape).view(dtype)


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@pytest.mark.parametrize("bits", LENGTHS)
def test_integers_of_any_length(dtype, bits):
    rng = np.random.default_rng(7)
    for m, k, n in ((131, 300, 140), (6, 130, 9), (4, 128, 41)):
        a, b = of_length(bits[0], (m, k), dtype, rng), of_length(bits[1], (k, n), dtype, rng)
        for x, y in itertools.product(views(both(a)), views(both(b))):
            product(x, y, f"{bits} {m} {k} {n}")
        product(both(b.T), both(a.T), f"{bits} {n} {k} {m}")
        # The largest sums have terms of equal sign.
        product(both(a[:, :1].repeat(k, 1)), both(b[:1].repeat(k, 0)), f"{bits} {m} {k} {n}, equal elements")


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_one_large_integer(dtype):
    rng = np.random.default_rng(8)
    for where in ((0, 0), (129, 128), (149, 259)):
        for side in (0, 1):
            a, b = of_length(9, (150, 260), dtype, rng), of_length(9, (260, 150), dtype, rng)
            (a, b.T)[side][where] = np.iinfo(dtype).max - 5
            product(both(a), both(b), f"{where} {side}")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_matrix_by_a_vector(dtype):
    """Each element within 40 roundings of the sum of magnitudes, whatever lies around its row."""
    rng = np.random.default_rng(6)
    for m, n in ((1, 33), (5, 100), (9, 768), (3, 5000), (300, 45), (67, 63), (40, 32)):
        a, b = rng.normal(size=(m, n)).astype(dtype), rng.normal(size=n).astype(dtype)
        x, v = xp.asarray(a, copy=True), xp.asarray(b, copy=True)
        got = np.asarray(x @ v)
        assert got.dtype == dtype
        wide = np.abs(a).astype(np.longdouble) @ np.abs(b)
        assert np.all(np.abs(got - a.astype(np.longdouble) @ b) <= 40 * np.finfo(dtype).eps * wide)
        for other in (x[1:], xp.flip(x, axis=0)):
            if other.shape[0]:
                rows = slice(1, None) if other.shape[0] < m else slice(None, None, -1)
                assert np.array_equal(np.asarray(other @ v), got[rows])
        wider = xp.asarray(np.concatenate([a, a], axis=1))[:, :n]
        assert np.array_equal(np.asarray(wider @ v), got)
        spread = xp.asarray(np.repeat(b, 2))[::2]
        assert np.array_equal(np.asarray(x @ spread), got)
        assert np.array_equal(np.asarray(x @ xp.reshape(v, (n, 1)))[:, 0], got)
        assert np.array_equal(np.asarray(v @ x.T), got)
        stack = np.asarray(xp.reshape(x, (m, 1, n)) @ v)
        assert np.array_equal(stack[:, 0], got)
    for special in (np.inf, -np.inf, np.nan):
        a = np.ones((6, 70), dtype)
        a[1, 3], a[2, 69], a[3, :2] = special, special, [special, -special]
        product(both(a), both(np.ones(70, dtype)), str(special))


def test_negative_zeros_keep_their_sign():
    for dtype in ("float32", "float64"):
        for n in (2, 5, 40):
            zeros = xp.full((3, n), -0.0, dtype=getattr(xp, dtype))
            assert np.all(np.signbit(np.asarray(zeros @ xp.ones(n, dtype=getattr(xp, dtype)))))


def test_float32_dot_products_are_summed_up_in_float64():
    x = xp.asarray([1e8, 1.0, -1e8], dtype=xp.float32)
    assert float(xp.matmul(x, xp.ones(3, dtype=xp.float32))) == 1.0
    assert float(xp.vecdot(x, xp.ones(3, dtype=xp.float32))) == 1.0


def test_no_warnings_of_overflow_and_nan():
    for size in (2, 30):
        x = xp.full((size, size), 1e300)
        assert bool(xp.all(xp.isinf(x @ x)))
        x = xp.full((size, size), xp.inf)
        assert bool(xp.all(xp.isnan(x @ xp.zeros((size, size)))))


# Cost


class Counted:
    """Replaces `numpy` in `matmul.numpy_loops`, and records the shapes that its `matmul` gets."""

    asarray, errstate, ufunc = staticmethod(np.asarray), np.errstate, np.ufunc

    def __init__(self):
        self.calls = []

    def __call__(self):
        return self

    def matmul(self, a, b, *out, **options):
        self.calls.append((a.shape, b.shape))
        return np.matmul(a, b, *out, **options)


@pytest.fixture
def counted(monkeypatch):
    counter = Counted()
    monkeypatch.setattr(numpy_loops, "numpy", counter)
    # The core reloads NumPy's functions now and after the test. This NumPy has no ufuncs.
    load_anew()
    yield counter
    load_anew()
    monkeypatch.undo()


def load_anew():
    set_blas(lambda: numpy_loops.functions_of_blas())
    set_gufuncs(numpy_loops.load_gufuncs, numpy_loops.compute)


STACKS = [
    (2, 3001, 20, 30),
    (1, 20_000, 8, 9),
    (3, 65, 64, 64),
    (64, 64, 64, 64),
    (7, 5, 33, 2),
    (3, 64, 64, 64),
    (2, 300, 200, 150),
    (300, 20, 30, 40),
    (65, 1, 64, 64),
    (65, 64, 64, 1),
]


@pytest.mark.parametrize("shape", STACKS)
@pytest.mark.parametrize("dtype", FLOATING)
def test_stacks_are_the_same_on_any_number_of_threads(dtype, shape):
    count, rows, inner, columns = shape
    x, y = matrices(dtype, count, rows, inner), matrices(dtype, count, inner, columns)
    w = xp.matrix_transpose(xp.asarray(y[1].swapaxes(1, 2), copy=True))
    before, tuned = xp.get_num_threads(), plan.tune(threads_ns=0, wake_ns=0, per_thread_ns=1)
    backs_off = pool.back_off(False)
    found = []
    try:
        for threads in (1, 2, 7):
            xp.set_num_threads(threads)
            found.append([np.asarray(xp.matmul(x[0], other)) for other in (y[0], w)])
            product(x, y, f"{threads} threads")
            product(x, (w, y[1]), f"{threads} threads, transposed")
    finally:
        plan.tune(**tuned)
        pool.back_off(backs_off)
        xp.set_num_threads(before)
    assert all(np.array_equal(found[0], other) for other in found[1:])


def test_numpys_own_builds_have_a_blas_that_is_known():
    name = np.show_config("dicts")["Build Dependencies"]["blas"]["name"]
    if name != "scipy-openblas":
        pytest.skip(f"NumPy's BLAS is {name} here")
    assert all(numpy_loops.functions_of_blas())


@pytest.mark.parametrize(
    ("shape1", "shape2"),
    [
        ((50, 10, 16), (16, 8)),
        ((5, 10, 10, 16), (16, 8)),
        ((50, 10, 16), (16,)),
        ((5, 10, 10, 16), (1, 1, 16, 8)),
        ((9, 9), (100, 9, 1)),
        # The batch that both have stays, the other one is folded.
        ((7, 50, 10, 16), (7, 1, 16, 8)),
    ],
)
def test_a_batch_folds_into_one_product(shape1, shape2):
    product(matrices("complex128", *shape1), matrices("complex128", *shape2))


def test_transposed_columns_fold_too():
    x, y = matrices("complex128", 9, 9), matrices("complex128", 100, 5, 9)
    product(x, (xp.matrix_transpose(y[0]), y[1].swapaxes(1, 2)))


def test_tiny_matrices_take_no_call(counted):
    for dtype, m, k, n in (("float64", 2, 2, 2), ("float32", 4, 8, 1), ("complex128", 3, 3, 3)):
        product(matrices(dtype, 1000, m, k), matrices(dtype, 1000, k, n))
    product(matrices("float64", 3, 3), matrices("float64", 3, 3))
    product(matrices("int32", 64, 64), matrices("int32", 64, 64))
    product(matrices("float64", 50, 1), matrices("float64", 1, 60))
    assert not counted.calls


def test_integers_and_matrices_by_vectors_take_no_call(counted):
    for dtype in ("int8", "uint64"):
        product(matrices(dtype, 200, 150), matrices(dtype, 150, 70))
        product(matrices(dtype, 200, 150), matrices(dtype, 150))
    for dtype in ("float32", "float64"):
        product(matrices(dtype, 50, 10, 36), matrices(dtype, 36))
        product(matrices(dtype, 200, 150), matrices(dtype, 150))
        x, y = matrices(dtype, 150), matrices(dtype, 200, 150)
        product(x, (y[0].T, y[1].T))
    assert not counted.calls


TALL = [
    *[(3000, 20, 30), (2999, 30, 20), (20011, 8, 8), (700, 100, 100)],
    *[(2049, 2, 2), (25, 100, 100), (300, 101, 9), (1000, 500, 10), (150, 8, 1999)],
]
LONG = [(40, 3000, 40), (5, 9001, 40), (100, 700, 97), (49, 2000, 30), (2, 300_001, 3), (40, 20_000, 5)]


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("shape", TALL)
def test_tall_matrices(dtype, shape):
    m, k, n = shape
    for x in views(matrices(dtype, m, k)):
        for y in views(matrices(dtype, k, n)):
            product(x, y)
    for x in views(matrices(dtype, 3, m, k)):
        product(x, matrices(dtype, 3, k, n))
    for x in stacks(matrices(dtype, 3, m, k)):
        for y in stacks(matrices(dtype, 3, k, n)):
            product(x, y)


def stacks(pair):
    """Stacks: as it is, transposed matrices, every other one backwards, one for all."""
    x, a = pair
    yield pair
    turned = np.ascontiguousarray(a.swapaxes(-1, -2)).swapaxes(-1, -2)
    yield xp.matrix_transpose(xp.asarray(turned.swapaxes(-1, -2), copy=True)), turned
    wide = np.repeat(turned, 2, axis=0)
    yield xp.matrix_transpose(xp.asarray(np.ascontiguousarray(wide.swapaxes(-1, -2))))[::-2], wide[::-2]
    yield x[1:2], a[1:2]


@pytest.mark.parametrize("dtype", FLOATING)
def test_small_stacks(dtype):
    for m, k, n in ((2, 2, 9), (7, 5, 33), (64, 64, 64), (65, 64, 64)):
        for x in stacks(matrices(dtype, 5, m, k)):
            for y in stacks(matrices(dtype, 5, k, n)):
                product(x, y)


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("shape", LONG)
def test_long_sums(dtype, shape):
    """Accurate, equal at every number of threads and when repeated, symmetric where they should be."""
    m, k, n = shape
    (x, a), (y, b) = matrices(dtype, k, m), matrices(dtype, k, n)
    wide = np.clongdouble if a.dtype.kind == "c" else np.longdouble
    exact, magnitude = a.T.astype(wide) @ b.astype(wide), np.abs(a.T) @ np.abs(b)
    before, backs_off = xp.get_num_threads(), pool.back_off(False)
    found = []
    try:
        for threads in (1, 2, 5):
            xp.set_num_threads(threads)
            found += [np.asarray(x.T @ y), np.asarray(xp.matmul(x.T, y))]
            own = np.asarray(x.T @ x)
            assert np.array_equal(own, own.T) or a.dtype.kind == "c"
            assert np.allclose(own, a.T.astype(np.complex128) @ a, rtol=0, atol=1e-4 * k)
    finally:
        xp.set_num_threads(before)
        pool.back_off(backs_off)
    assert all(np.array_equal(found[0], other) for other in found[1:])
    assert np.all(np.abs(found[0] - exact) <= 64 * np.finfo(dtype).eps * magnitude)
    # Stacks, and operands in other orders.
    stacked, other = xp.stack([x, x + 1]), xp.asarray(np.asfortranarray(b))
    for got in (
        xp.matmul(xp.matrix_transpose(stacked), y)[0, ...],
        xp.matmul(x.T, other),
        xp.asarray(a.T.copy()) @ y,
    ):
        assert np.all(np.abs(np.asarray(got) - exact) <= 64 * np.finfo(dtype).eps * magnitude)
    # Non-finite values affect their row and column only.
    a = a.copy()
    a[k // 2, 0] = np.nan
    spoiled = np.asarray(xp.asarray(a).T @ y)
    assert np.all(np.isnan(spoiled[0])) and np.array_equal(spoiled[1:], found[0][1:])


@pytest.mark.parametrize("dtype", FLOATING)
def test_products_take_no_call(dtype, counted):
    for m, k, n in (*TALL, (200, 300, 400), (30, 9, 1), (1, 9, 70), (90, 50, 1), (1, 99, 70), (1, 99, 1)):
        x, y = matrices(dtype, m, k), matrices(dtype, k, n)
        product(x, y)
        product(x, (xp.matrix_transpose(xp.asarray(y[1].T.copy())), y[1]))
        product((x[0].T, x[1].T), x)
    product(matrices(dtype, 9, 30, 40), matrices(dtype, 9, 40, 50))
    assert not counted.calls


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize(
    "shape", [(2, 3), (8, 70), (9, 40), (17, 33), (65, 200), (150, 150), (3, 31, 60), (40, 64, 64)]
)
def test_a_matrix_by_its_own_transpose(dtype, shape):
    x, a = matrices(dtype, *shape)
    for y, b in ((x, a), (xp.matrix_transpose(x), np.swapaxes(a, -1, -2)), (x[..., 1:, :], a[..., 1:, :])):
        found = np.asarray(xp.matmul(y, xp.matrix_transpose(y)))
        assert np.array_equal(found, np.swapaxes(found, -1, -2)), "symmetric"
        other = xp.asarray(np.swapaxes(b, -1, -2), copy=True)
        assert_same(xp.matmul(y, other), found, tolerance(b), "a copy")
        if np.dtype(dtype).kind == "f":
            assert np.array_equal(found, np.asarray(xp.matmul(y, other)))


@pytest.mark.parametrize("dtype", FLOATING)
def test_a_stack_by_the_transpose_of_its_first_matrix(dtype):
    """The two operands begin at the same element, but only one product is a matrix by its own transpose."""
    wide, a = matrices(dtype, 3, 40, 50)
    product((wide[:, :36], a[:, :36]), (xp.matrix_transpose(wide[0, :36]), a[0, :36].T))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [32, 33, 47, 63, 64, 100, 1057, 4130])
def test_what_follows_a_row_is_not_in_its_product(dtype, n):
    _, wide = matrices(dtype, 7, n + 40)
    v, _ = matrices(dtype, n)
    # Nothing follows the last row of a matrix.
    wanted = [np.asarray(xp.asarray(wide[[0, k], :n]) @ v)[1] for k in range(7)]
    for filler in (0, np.nan, np.inf):
        a = np.where(np.arange(n + 40) < n, wide, filler).astype(dtype)
        for rows in (a, np.ascontiguousarray(a[:, :n])):
            assert np.array_equal(np.asarray(xp.asarray(rows)[:, :n] @ v), wanted)
            assert np.array_equal(np.asarray(xp.asarray(rows)[::-1, :n] @ v), wanted[::-1])
        a[1::2, :] = filler
        found = np.asarray(xp.asarray(np.ascontiguousarray(a[:, :n])) @ v)
        assert np.array_equal(found[::2], wanted[::2])


def test_small_products_do_not_load_numpy():
    code = "import stride0, sys; x = stride0.ones((3, 3)); x @ x; x[0, :] @ x[1, :]"
    code += "; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_broadcast_axes_are_not_materialised(dtype):
    x = xp.ones((1, 64, 64), dtype=getattr(xp, dtype))
    y = xp.ones((500, 64, 2), dtype=getattr(xp, dtype))
    xp.matmul(x, y[:2, ...])
    for a in (x, xp.broadcast_to(x, (500, 64, 64))):
        tracemalloc.start()
        before = strided.memory_statistics(reset_peak=True)
        result = xp.matmul(a, y)
        own = strided.memory_statistics()["peak_bytes"] - before["live_bytes"]
        _, peak = tracemalloc.get_traced_memory()  # of NumPy's memory too
        tracemalloc.stop()
        # Materialised, the first operand would be 500 * 64 * 64 elements, 32 times as large as the result.
        assert peak + own < 2 * result.size * result.dtype.itemsize + 200_000


def test_where_both_stand_still_one_product_serves_all():
    x, y = matrices("complex128", 3, 1, 20, 30), matrices("complex128", 30, 20)
    shapes = (3, 5, 20, 30), (3, 5, 30, 20)
    a, b = (xp.broadcast_to(v, s) for v, s in zip((x[0], y[0]), shapes, strict=True))
    product((a, np.broadcast_to(x[1], shapes[0])), (b, np.broadcast_to(y[1], shapes[1])))


def test_64_axes():
    for size in (2, 30):
        a = values("float64", (size, size))
        x = xp.reshape(xp.asarray(a), (1,) * 62 + (size, size))
        assert_same(xp.matmul(x, x), (a @ a).reshape(x.shape), 1e-11)
        assert_same(xp.matmul(x, x[(0,) * 62 + (...,)]), (a @ a).reshape(x.shape), 1e-11)


# Errors


def test_matmul_refuses():
    with pytest.raises(ValueError, match="the inner sizes differ: 4 in x1 and 5 in x2"):
        xp.matmul(xp.zeros((3, 4)), xp.zeros((5, 3)))
    with pytest.raises(xp.ShapeError, match="the inner sizes differ: 1 in x1 and 5 in x2"):
        xp.matmul(xp.zeros((3, 1)), xp.zeros(5))
    with pytest.raises(xp.ShapeError, match="x2 must have at least one axis"):
        xp.matmul(xp.zeros(3), xp.asarray(2.0))
    with pytest.raises(xp.BroadcastError, match="leading axes of x1") as caught:
        xp.matmul(xp.zeros((2, 3, 4)), xp.zeros((3, 4, 5)))
    assert caught.value.sizes == (2, 3)
    for wrong in (2, [1.0, 2.0], np.ones(2), None):
        with pytest.raises(TypeError):
            xp.matmul(xp.ones(2), wrong)
        with pytest.raises(TypeError):
            xp.matmul(wrong, xp.ones(2))


def test_operators():
    x, a = matrices("float64", 3, 3)
    assert_same(x @ x, a @ a, 1e-11)
    y = xp.asarray(a, copy=True)
    same_object = y
    y @= x
    assert y is same_object
    assert_same(y, a @ a, 1e-11)
    y = xp.asarray(a, copy=True)
    y @= y
    assert_same(y, a @ a, 1e-11)
    for wrong in (2, 2.0, [1.0], np.ones((3, 3))):
        with pytest.raises(TypeError):
            x @ wrong
        with pytest.raises(TypeError):
            wrong @ x
    with pytest.raises(ValueError, match="does not have the shape of x1"):
        y = xp.ones((2, 3))
        y @= xp.ones((3, 4))
    with pytest.raises(TypeError, match="cannot be cast"):
        y = xp.ones((3, 3), dtype=xp.float32)
        y @= x


# matrix_transpose


@pytest.mark.parametrize("dtype", DTYPES)
def test_matrix_transpose(dtype):
    for shape in ((3, 4), (2, 3, 4), (0, 3), (2, 0, 1, 4)):
        x, a = both(values(dtype, shape))
        got = xp.matrix_transpose(x)
        assert_same(got, np.matrix_transpose(a))
        assert not x.size or strided.shares_storage(got, x)
    with pytest.raises(ValueError, match="matrix_transpose: x must be a matrix"):
        xp.matrix_transpose(xp.zeros(3))
    with pytest.raises(TypeError):
        xp.matrix_transpose(np.zeros((2, 2)))


# vecdot


@pytest.mark.parametrize("dtype", NUMERIC)
def test_vecdot(dtype):
    for shape1, shape2, axis in (
        ((4,), (4,), -1),
        ((0,), (0,), -1),
        ((3, 4), (3, 4), -1),
        ((3, 4), (3, 4), -2),
        ((3, 4), (4,), -1),
        ((5, 1, 4), (3, 4), -1),
        ((5, 4, 1), (4, 3), -2),
        ((2, 0, 3), (2, 1, 3), -1),
        ((2, 3, 0), (3, 0), -1),
        ((2, 1000), (2, 1000), -1),
    ):
        for x, y in itertools.product(
            views(both(values(dtype, shape1))), views(both(values(dtype, shape2)[..., ::-1]))
        ):
            same(
                lambda ns, a, b, k=axis: ns.vecdot(a, b, axis=k),
                x,
                y,
                rtol=tolerance(x[1], y[1]),
                what=f"{shape1} {shape2} {axis}",
            )


def test_vecdot_conjugates_the_first():
    x, y = xp.asarray([1 + 2j, 3j]), xp.asarray([2 - 1j, 1 + 1j])
    assert complex(xp.vecdot(x, y)) == (1 - 2j) * (2 - 1j) + (-3j) * (1 + 1j)
    assert complex(xp.vecdot(y, x)) == complex(xp.vecdot(x, y)).conjugate()
    assert complex(xp.matmul(x, y)) == (1 + 2j) * (2 - 1j) + 3j * (1 + 1j)
    assert_same(xp.vecdot(xp.asarray([1j], dtype=xp.complex64), xp.asarray([2.0])), np.asarray(-2j), 1e-15)


def test_vecdot_refuses():
    x = xp.zeros((3, 4))
    with pytest.raises(xp.ShapeError, match="axis -1 has size 4 in x1 and 1 in x2"):
        xp.vecdot(x, xp.zeros((3, 1)))
    with pytest.raises(xp.BroadcastError, match="vecdot"):
        xp.vecdot(x, xp.zeros((2, 4)))
    with pytest.raises(xp.AxisError, match="axis 1 is not counted from the last one"):
        xp.vecdot(x, x, axis=1)
    with pytest.raises(xp.AxisError, match="out of bounds"):
        xp.vecdot(x, xp.zeros(4), axis=-2)
    with pytest.raises(xp.AxisError):
        xp.vecdot(xp.zeros(()), x)
    for call in (
        lambda: xp.vecdot(x, np.zeros(4)),
        lambda: xp.vecdot(x, 1.0),
        lambda: xp.vecdot(x, x, axis=None),
    ):
        with pytest.raises(TypeError):
            call()


# tensordot


@pytest.mark.parametrize("dtype", ["int16", "uint64", *FLOATING])
def test_tensordot(dtype):
    for shape1, shape2, axes in (
        ((2, 3, 4), (3, 4, 5), 2),
        ((2, 3, 4), (4, 5), 1),
        ((2, 3), (4, 5), 0),
        ((), (4, 5), 0),
        ((), (), 0),
        ((2, 3), (2, 3), 2),
        ((2, 0), (0, 3), 1),
        ((0, 2), (2, 3), 1),
        ((2, 3, 4), (4, 3, 2), ((1, 0), (1, 2))),
        ((2, 3, 4), (4, 3, 2), ([-1], [0])),
        ((2, 3, 4), (4, 3, 2), ((), ())),
        ((2, 3, 4), (4, 3, 2), ((0, 1, 2), (2, -2, 0))),
        ((2, 3, 4), (4, 3, 2), 2),  # sizes differ
        ((2, 3), (3, 2), 3),
        ((2, 3), (3, 2), ((0,), (0,))),
        ((2, 3), (3, 1), ((0,), (1,))),  # no broadcasting
        ((2, 3), (3, 2), ((0, 0), (1, 1))),
        ((2, 3), (3, 2), ((0, 1), (1,))),
        ((2, 3), (3, 2), ((2,), (0,))),
    ):
        for x, y in itertools.islice(
            itertools.product(
                views(both(values(dtype, shape1))) if shape1 else [both(values(dtype, ()))],
                views(both(values(dtype, shape2))) if shape2 else [both(values(dtype, ()))],
            ),
            0,
            None,
            3,
        ):
            same(
                lambda ns, a, b, k=axes: ns.tensordot(a, b, axes=k),
                x,
                y,
                rtol=tolerance(x[1], y[1]),
                what=f"{shape1} {shape2} {axes}",
            )


def test_tensordot_does_not_conjugate():
    x, y = both([1 + 2j, 3j]), both([2 - 1j, 1 + 1j])
    same(lambda ns, a, b: ns.tensordot(a, b, axes=1), x, y)


def test_tensordot_refuses():
    x = xp.zeros((2, 3))
    with pytest.raises(xp.ShapeError, match="axis 1 of x1 has size 3 and axis 0 of x2 has size 2"):
        xp.tensordot(x, x, axes=1)
    with pytest.raises(ValueError, match="must not be negative"):
        xp.tensordot(x, x, axes=-1)
    with pytest.raises(ValueError, match="fewer than 3 axes"):
        xp.tensordot(x, x, axes=3)
    with pytest.raises(ValueError, match="2 axes of x1 and 1 of x2 cannot be paired"):
        xp.tensordot(x, x, axes=((0, 1), (0,)))
    with pytest.raises(ValueError, match="named more than once"):
        xp.tensordot(x, x, axes=((0, -2), (0, 1)))
    with pytest.raises(ValueError, match="an integer or a pair"):
        xp.tensordot(x, x, axes=((0,), (0,), (0,)))
    with pytest.raises(ValueError, match="an integer or a pair"):
        xp.tensordot(x, x, axes=(None, (0,)))
    for call in (
        lambda: xp.tensordot(x, x, axes=1.0),
        lambda: xp.tensordot(x, np.zeros((2, 3))),
    ):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(ValueError, match="too many"):
        xp.tensordot(xp.zeros((1,) * 40), xp.zeros((1,) * 40), axes=0)


def test_the_extension_has_them_too():
    for name in ("matmul", "matrix_transpose", "tensordot", "vecdot"):
        assert getattr(xp.linalg, name) is getattr(xp, name)


# bool: with numbers True counts as 1, as in NumPy; two masks give a mask


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "int64", "float32", "float64", "complex64"])
@pytest.mark.parametrize(
    "call",
    [
        lambda ns, x, y: ns.matmul(x, ns.permute_dims(y, (1, 0))),
        lambda ns, x, y: x @ y[1, :],
        lambda ns, x, y: x[0, :] @ y[0, :],
        lambda ns, x, y: ns.tensordot(x, y),
        lambda ns, x, y: ns.tensordot(x, y, axes=((0,), (0,))),
        lambda ns, x, y: ns.vecdot(x, y),
        lambda ns, x, y: ns.vecdot(x, y[0, :], axis=-1),
        lambda ns, x, y: ns.linalg.outer(x[0, :], y[1, :]),
        lambda ns, x, y: ns.matmul(x[:, :0], y[:0, :2]),
    ],
)
def test_bool(call, dtype):
    mask = np.asarray([[True, False, True, False], [False, False, True, True], [True, True, True, False]])
    other = (np.arange(12).reshape(3, 4) % 5).astype(dtype)
    for operands in ((mask, other), (other, mask)):
        wanted = np.asarray(call(np, *operands))
        found = call(xp, *map(xp.asarray, operands))
        np.testing.assert_array_equal(np.asarray(found), wanted, strict=True)


def test_many_bools():
    # In a narrow counter 256 or 65,536 hits would wrap to 0.
    x = xp.ones((2, 1 << 17), dtype=xp.bool)
    assert xp.all(x @ x.T) and bool(xp.vecdot(x, x)[1])


def test_gradients_beside_bool():
    mask = xp.asarray([[True, False, True], [False, True, True]])
    x = xp.asarray([1.5, -2.0, 3.0])
    for f in (
        lambda x: xp.sum(mask @ x * xp.asarray([1.0, 10.0])),
        lambda x: xp.sum(xp.tensordot(mask, x, axes=1) * xp.asarray([1.0, 10.0])),
        lambda x: xp.sum(xp.vecdot(mask, x) * xp.asarray([1.0, 10.0])),
        lambda x: xp.sum(xp.vecdot(x, mask) * xp.asarray([1.0, 10.0])),
    ):
        assert autograd.grad(f)(x).tolist() == [1.0, 10.0, 11.0]
    outer = autograd.grad(lambda x: xp.sum(xp.linalg.outer(mask[0, :], x)))(x)
    assert outer.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("name", ["matmul", "tensordot", "vecdot", "linalg.outer", "linalg.cross"])
def test_strict_mode_refuses_bool(name):
    function = functools.reduce(getattr, name.split("."), xp)
    mask, x = xp.ones(3, dtype=xp.bool), xp.ones(3)
    options = {"axes": 1} if name == "tensordot" else {}
    with xp.strict():
        for operands in ((mask, x), (x, mask), (mask, mask)):
            with pytest.raises(xp.StrictError):
                function(*operands, **options)
