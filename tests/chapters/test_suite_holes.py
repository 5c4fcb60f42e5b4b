"""Holes of the official suite: functions that it skips, or of which it checks shapes but not values.

`test_suite_holes_order.py` has NaN and signed zeros in functions that order elements. The sentences on
special cases that the suite does not parse are in `test_special_sentences.py` and
`test_special_reductions.py`.
"""

from __future__ import annotations

import itertools
import math
import operator
from fractions import Fraction

import numpy as np
import pytest
from helpers import (
    DTYPES,
    INTEGERS,
    LAYOUTS,
    REAL,
    REAL_FLOATING,
    assert_same,
    both,
    pair,
    same,
    values,
)

import stride0 as xp
from stride0 import strided

INF, NAN = math.inf, math.nan

# --- remainder: five tests of the suite are skipped


def ends(dtype):
    if dtype in REAL_FLOATING:
        tiny = float(np.finfo(dtype).smallest_subnormal)
        most = float(np.finfo(dtype).max)
        parts = (0.0, tiny, 0.5, 1.0, 1.5, 3.0, 7.0, 1e6, most / 2, most, INF)
        return [*parts, *(-v for v in parts), NAN]
    info = np.iinfo(dtype)
    around = (
        info.min,
        info.min + 1,
        -100,
        -7,
        -3,
        -2,
        -1,
        0,
        1,
        2,
        3,
        7,
        100,
        info.max // 2,
        info.max - 1,
        info.max,
    )
    return [v for v in around if info.min <= v <= info.max]


def remainder(x, y, dtype):
    """Python's ``x % y``, which the standard refers to; in float32 its algorithm, rounded as there."""
    if dtype in INTEGERS:
        return int(x) % int(y) if y else 0  # by zero: 0, as documented, like floor_divide
    x, y = float(x), float(y)
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0:
        return NAN
    if math.isinf(y):
        if x == 0:
            return math.copysign(0.0, y)
        return x if (x > 0) == (y > 0) else y
    exact = Fraction(x) - Fraction(x) // Fraction(y) * Fraction(y)
    if not exact:
        return math.copysign(0.0, y)
    if dtype == "float64":
        assert float(x % y) == float(exact) or abs(x % y) == abs(y)
        return x % y
    kept = np.fmod(np.float32(x), np.float32(y))
    return float(kept if (kept < 0) == (y < 0) else kept + np.float32(y))


def table(dtype):
    """All pairs of the values around the ends of a dtype, and their remainders."""
    grid = list(itertools.product(ends(dtype), repeat=2))
    a, b = (np.array(column, dtype=dtype) for column in zip(*grid, strict=True))
    want = np.array([remainder(x, y, dtype) for x, y in zip(a, b, strict=True)], dtype=dtype)
    return a, b, want


def in_place(x, y):
    x %= y
    return x


FORMS = {
    "function": lambda x, y: xp.remainder(x, y),
    "operator": lambda x, y: x % y,
    "in place": lambda x, y: in_place(xp.asarray(x, copy=True), y),
    "divmod": lambda x, y: divmod(x, y)[1],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", REAL)
def test_remainder(dtype, form):
    a, b, want = table(dtype)
    call = FORMS[form]
    x, y = xp.asarray(a), xp.asarray(b)
    assert_same(call(x, y), want)
    assert_same(call(x[::-1], y[::-1]), want[::-1])
    n = len(ends(dtype))
    square = want.reshape(n, n)
    assert_same(call(xp.reshape(x, (n, n)).T, xp.reshape(y, (n, n)).T), square.T)
    column, row = xp.asarray(a[::n].reshape(n, 1)), xp.asarray(b[:n])
    if form != "in place":
        assert_same(call(column, row), square)
    assert_same(call(xp.broadcast_to(column, (n, n)), row), square)
    for i in range(0, len(a), 7):
        assert_same(call(xp.asarray(a[i]), xp.asarray(b[i])), want[i])


@pytest.mark.parametrize("dtype", REAL)
def test_remainder_with_python_scalars(dtype):
    _, b, want = table(dtype)
    n = len(ends(dtype))
    grid = want.reshape(n, n)
    row = xp.asarray(b[:n])
    for i, value in enumerate(ends(dtype)):
        assert_same(value % row, grid[i])
        assert_same(xp.remainder(value, row), grid[i])
        assert_same(divmod(value, row)[1], grid[i])
        assert_same(row % value, grid[:, i])
        assert_same(xp.remainder(row, value), grid[:, i])
        assert_same(in_place(xp.asarray(b[:n], copy=True), value), grid[:, i])
    if dtype in REAL_FLOATING:
        whole = np.array([remainder(v, 3, dtype) for v in b[:n]], dtype=dtype)
        assert_same(row % 3, whole)
        assert_same(row % True, np.array([remainder(v, 1, dtype) for v in b[:n]], dtype=dtype))


@pytest.mark.parametrize("dtype", REAL)
def test_remainder_of_any_values(dtype):
    rng = np.random.default_rng(7)
    if dtype in REAL_FLOATING:
        # All magnitudes: the quotient may have too many digits, but the remainder is exact.
        a, b = (rng.normal(size=2000) * 2.0 ** rng.integers(-100, 100, 2000) for _ in range(2))
        a, b = a.astype(dtype), b.astype(dtype)
    else:
        info = np.iinfo(dtype)
        a, b = (rng.integers(info.min, info.max, 2000, endpoint=True, dtype=dtype) for _ in range(2))
        b[::3] >>= np.iinfo(dtype).bits // 2
    want = np.array([remainder(x, y, dtype) for x, y in zip(a, b, strict=True)], dtype=dtype)
    for form, call in FORMS.items():
        assert_same(call(xp.asarray(a), xp.asarray(b)), want, what=form)


@pytest.mark.parametrize("dtype", REAL)
def test_remainder_and_floor_division_belong_together(dtype):
    a, b, _ = table(dtype)
    x, y = xp.asarray(a), xp.asarray(b)
    quotient, rest = divmod(x, y)
    assert_same(quotient, np.asarray(x // y))
    assert_same(rest, np.asarray(x % y))
    if dtype in INTEGERS:
        good = b != 0
        assert_same((quotient * y + rest)[xp.asarray(good)], a[good])


def test_remainder_where_operands_overlap():
    a = np.array([17, 5, -9, 23, 4], dtype=np.int16)
    x = xp.asarray(a, copy=True)
    x %= x[1]
    assert_same(x, a % a[1])
    x = xp.asarray(a, copy=True)
    x[1:] %= x[:-1]
    assert_same(x[1:], a[1:] % a[:-1])
    x = xp.asarray(a, copy=True)
    x %= x[::-1]
    assert_same(x, a % a[::-1])


def test_remainder_promotes():
    for one, other in itertools.product(REAL, repeat=2):
        a, b = np.array([7, 100, 5], dtype=one), np.array([3, 7, 2], dtype=other)
        assert_same(xp.asarray(a) % xp.asarray(b), a % b)


@pytest.mark.parametrize("dtype", ["bool", "complex64", "complex128"])
def test_remainder_refuses(dtype):
    x = xp.ones(3, dtype=getattr(xp, dtype))
    for call in (xp.remainder, operator.mod, operator.imod, divmod):
        with pytest.raises(TypeError):
            call(x, x)
    for value in (1j, "1", None, [1, 2, 3]):
        for call in (lambda v: xp.arange(3) % v, lambda v: xp.remainder(xp.arange(3), v)):
            with pytest.raises(TypeError):
                call(value)
    with pytest.raises(TypeError):
        xp.remainder(3, 2j)


# --- reshape(copy=...)


SHAPES = [
    (24,),
    (4, 6),
    (2, 12),
    (12, 2),
    (2, 3, 4),
    (1, 24, 1),
    (-1,),
    (3, -1),
    (6, 4),
    (2, 2, 2, 3),
    (8, 3),
]


@pytest.mark.parametrize("layout", [*LAYOUTS, "read-only"])
def test_reshape(layout):
    if layout == "read-only":
        a = values("int32")
        a.flags.writeable = False
        x = xp.asarray(a)
    else:
        x, a = pair("int32", layout)
    shapes = {24: SHAPES, 6: [(6,), (2, 3), (3, -1, 1), (1, 6)], 18: [(18,), (3, 6), (9, 2), (3, 2, 3)]}
    shapes |= {
        12: [(12,), (2, 6), (4, 3)],
        9: [(9,), (3, 3)],
        0: [(0,), (4, 0), (0, 7), (3, 0, 2)],
        1: [(), (1,), (1, 1)],
    }
    for shape in shapes[a.size]:
        want = np.reshape(a, shape)
        viewable = np.shares_memory(want, a) or a.size == 0
        for copy in (None, True, False):
            if copy is False and not viewable:
                with pytest.raises(ValueError, match="copy"):
                    xp.reshape(x, shape, copy=copy)
                continue
            y = xp.reshape(x, shape, copy=copy)
            assert_same(y, want, what=f"{shape} {copy}")
            shared = viewable and copy is not True
            if a.size:
                assert strided.shares_storage(x, y) is shared, f"{shape} {copy}"
            assert strided.is_writable(y) is (strided.is_writable(x) or not shared or not a.size)
            if shared and strided.is_writable(x) and a.size:
                y[(0,) * y.ndim] = 99
                assert int(x[(0,) * x.ndim]) == 99
                y[(0,) * y.ndim] = a.flat[0]
            if copy is True and a.size:
                y[(0,) * y.ndim] = 99
                assert_same(x, a)


def test_reshape_refuses():
    x = xp.zeros((3, 4))
    for shape in ((5,), (-1, -1), (-2, 6), (5, -1), (0, -1), (3, 4, 2), (0,), ()):
        for copy in (None, True, False):
            with pytest.raises(ValueError, match="reshape"):
                xp.reshape(x, shape, copy=copy)
    for copy in (0, 1, "no"):
        with pytest.raises(TypeError):
            xp.reshape(x, (12,), copy=copy)
    with pytest.raises(TypeError):
        xp.reshape(x, (2.0, 6))
    with pytest.raises(ValueError, match="reshape"):
        xp.reshape(xp.zeros((0, 3)), (0, -1))  # any size would do


def test_reshape_of_one_element():
    x = xp.asarray(5)
    for shape in ((), (1,), (1, 1, 1), (-1,), (1,) * 64):
        for copy in (None, False):
            assert strided.shares_storage(xp.reshape(x, shape, copy=copy), x)
        assert not strided.shares_storage(xp.reshape(x, shape, copy=True), x)
    with pytest.raises(ValueError):
        xp.reshape(x, (1,) * 65)


# --- tril, triu


@pytest.mark.parametrize("name", ["tril", "triu"])
@pytest.mark.parametrize(
    "shape",
    [(1, 1), (3, 3), (2, 5), (5, 2), (2, 3, 4), (2, 1, 3, 2), (0, 3), (3, 0), (0, 0), (0, 2, 2), (2, 0, 4)],
)
def test_triangles(name, shape):
    function = getattr(xp, name)
    rows, columns = shape[-2:]
    for dtype in ("int64", "float32", "bool", "complex128", "uint8"):
        a = values(dtype, shape, special=dtype != "bool")
        x = xp.asarray(a, copy=True)
        for k in range(-rows - 2, columns + 3):
            want = np.zeros_like(a)
            for i, j in itertools.product(range(rows), range(columns)):
                if j - i <= k if name == "tril" else j - i >= k:
                    want[..., i, j] = a[..., i, j]
            got = function(x, k=k)
            assert_same(got, want, what=f"{dtype} {k=}")  # zeros where NaN and infinities were, and +0.0
            assert strided.is_writable(got)
            assert not strided.shares_storage(got, x) or not a.size
            if k == 0:
                assert_same(function(x), want)
        assert_same(x, a)


@pytest.mark.parametrize("name", ["tril", "triu"])
def test_triangles_of_views(name):
    for dtype in DTYPES:
        for layout in LAYOUTS:
            x, a = pair(dtype, layout, special=True)
            if a.ndim < 2:
                with pytest.raises(ValueError):
                    getattr(xp, name)(x)
                continue
            for k in (-2, 0, 1, 2**40, -(2**40), 2**70, -(2**70)):
                near = max(min(k, 100), -100)
                assert_same(
                    getattr(xp, name)(x, k=k), getattr(np, name)(a, k=near), what=f"{dtype} {layout} {k}"
                )
    for k in (1.0, "1", None, 1j):
        with pytest.raises(TypeError):
            getattr(xp, name)(xp.zeros((2, 2)), k=k)


# --- take, take_along_axis with negative indices


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", INTEGERS)
def test_take(kind, layout):
    signed = not kind.startswith("u")
    x, a = pair("float32", layout, special=True)
    if not a.ndim:
        return
    for axis in range(-a.ndim, a.ndim):
        n = a.shape[axis]
        low = -n if signed else 0
        for indices in (list(range(low, n)), list(range(low, n))[::-1], [low, low, n - 1] if n else [], []):
            j = np.array(indices, dtype=kind)
            same(lambda ns, v, i, axis=axis: ns.take(v, i, axis=axis), (x, a), both(j))
            want = (
                np.take(a, [i % n for i in indices], axis=axis) if n else np.take(a, j.astype(int), axis=axis)
            )
            assert_same(xp.take(x, xp.asarray(j), axis=axis), want)
    if a.ndim == 1:
        assert_same(xp.take(x, xp.asarray([-1, 0])), a[[-1, 0]])
    else:
        with pytest.raises((TypeError, ValueError)):
            xp.take(x, xp.asarray([0]))


def test_take_out_of_bounds():
    x = xp.asarray([[1, 2, 3], [4, 5, 6]])
    for index in (3, -4, 100, -100, 2**62, -(2**63)):
        with pytest.raises(IndexError):
            xp.take(x, xp.asarray([0, index]), axis=1)
        with pytest.raises(IndexError):
            xp.take_along_axis(x, xp.asarray([[0, index]]), axis=1)
    with pytest.raises(IndexError):
        xp.take(x, xp.asarray([2**64 - 1], dtype=xp.uint64), axis=1)
    with pytest.raises(IndexError):
        xp.take_along_axis(x, xp.asarray([[2**64 - 1]], dtype=xp.uint64), axis=1)
    for indices in (xp.asarray([0.0]), xp.asarray([True]), [0]):
        with pytest.raises((TypeError, IndexError)):
            xp.take(x, indices, axis=1)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["int8", "int64", "uint16"])
def test_take_along_axis(kind, layout):
    rng = np.random.default_rng(3)
    x, a = pair("int16", layout)
    if not a.ndim:
        return
    for axis in range(-a.ndim, a.ndim):
        n = a.shape[axis]
        for size in (0, 1, n, n + 3):
            if size and not n:
                continue
            shape = list(a.shape)
            shape[axis] = size
            low = 0 if kind.startswith("u") else -n
            j = rng.integers(low, max(n, 1), shape).astype(kind)
            want = np.take_along_axis(a, j.astype(np.int64), axis)
            assert_same(xp.take_along_axis(x, xp.asarray(j), axis=axis), want)
            if axis == -1:
                assert_same(xp.take_along_axis(x, xp.asarray(j)), want)
            if a.ndim > 1:
                one = j[tuple(slice(None) if k == axis % a.ndim else slice(1) for k in range(a.ndim))]
                if one.size or not j.size:
                    wide = np.broadcast_to(one, shape).astype(np.int64)
                    assert_same(
                        xp.take_along_axis(x, xp.asarray(one), axis=axis), np.take_along_axis(a, wide, axis)
                    )
    for axis in (a.ndim, -a.ndim - 1):
        with pytest.raises(IndexError):
            xp.take_along_axis(x, xp.zeros(a.shape, dtype=xp.int64), axis=axis)


def test_take_along_axis_broadcasts_x():
    a = np.arange(4).reshape(1, 4)
    j = np.array([[-1, 0], [1, -2], [3, -4]])
    assert_same(xp.take_along_axis(xp.asarray(a), xp.asarray(j), axis=1), np.array([[3, 0], [1, 2], [3, 0]]))
