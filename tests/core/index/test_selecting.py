"""Keys with one mask, one array of indices, or one for each axis: their own loops, against NumPy.

Lengths are those at which the loops change: eight and sixteen elements at a time, and what is left over.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from helpers import DTYPES, LAYOUTS, assert_same, both, pair

import stride0 as xp
from stride0 import strided

LENGTHS = [1, 2, 7, 8, 9, 15, 16, 17, 31, 64, 65, 200, 20_000]
DENSITIES = [0.0, 0.05, 0.5, 0.95, 1.0]


def drawn(dtype: str, n: int) -> np.ndarray:
    return (np.random.default_rng(n).integers(-100, 100, n)).astype(dtype)


def masks(n: int) -> list[np.ndarray]:
    rng = np.random.default_rng(n + 1)
    return [rng.random(n) < density for density in DENSITIES]


@pytest.mark.parametrize("dtype", DTYPES)
def test_masks_of_any_length(dtype):
    for n in LENGTHS:
        for mask in masks(n):
            for step in (1, -1, 2):
                a = drawn(dtype, n * abs(step))[::step]
                # Through NumPy, so that strides stay as they are.
                x = xp.asarray(a)
                result = x[xp.asarray(mask)]
                assert_same(result, a[mask], what=f"{n} {step}")
                assert strided.is_contiguous(result)
                assert not strided.shares_storage(result, x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_value_where_a_mask_is_true(dtype):
    for n in LENGTHS:
        for mask in masks(n):
            for step in (1, -1, 2):
                a = np.concatenate([drawn(dtype, n * abs(step) + 4)])
                x = xp.asarray(a, copy=True)
                # Elements on both sides must stay as they are.
                inside = slice(2, -2)
                x[inside][::step][xp.asarray(mask)] = 1
                a[inside][::step][mask] = 1
                assert_same(x, a, what=f"{n} {step}")
                y, b = x[inside][::step], a[inside][::step]
                y[xp.asarray(mask)] = xp.asarray(3, dtype=y.dtype) if dtype != "bool" else xp.asarray(True)
                b[mask] = 3
                assert_same(x, a, what=f"{n} {step}")


def test_masks_and_layouts():
    for layout, other in itertools.product(LAYOUTS, (False, True)):
        x, a = pair("float64", layout)
        mask = np.abs(a) > 2
        if other and a.ndim:
            mask = np.asfortranarray(mask)
        m = xp.asarray(mask)
        assert_same(x[m], a[mask], what=layout)
        if layout != "broadcast":
            x[m] = -0.5
            a[mask] = -0.5
            assert_same(x, a, what=layout)


def test_a_mask_that_is_the_array():
    for n in LENGTHS:
        for mask in masks(n):
            x = xp.asarray(mask, copy=True)
            assert_same(x[x], mask[mask])
            y = x[::-1]
            expected = mask[::-1][mask]
            assert_same(y[x], expected)
            x[x] = False
            assert not np.asarray(x).any()
            x = xp.asarray(mask, copy=True)
            x[x[::-1]] = True
            assert_same(x, mask | mask[::-1])


def test_bytes_of_a_mask_that_are_neither_0_nor_1():
    raw = np.random.default_rng(2).integers(0, 256, 1000).astype(np.uint8)
    raw[::3] = 0
    x = xp.asarray(raw.view(np.bool_))
    assert int(xp.count_nonzero(x)) == int(np.count_nonzero(raw))
    assert_same(xp.nonzero(x)[0], np.nonzero(raw)[0])
    assert_same(xp.arange(1000)[x], np.nonzero(raw)[0])
    y = xp.ones(1000)
    y[x] = 0.0
    assert_same(y, (raw == 0).astype(float))


def test_values_for_a_mask_obey_the_dtype():
    x = xp.asarray([1, 2, 3], dtype=xp.int8)
    m = xp.asarray([True, False, True])
    for value in (300, -129, 2j):
        with pytest.raises((OverflowError, TypeError, ValueError)):
            x[m] = value
    with pytest.raises(xp.CastError):
        x[m] = xp.asarray(1j)
    assert np.asarray(x).tolist() == [1, 2, 3]
    x[m] = xp.asarray(7.0)
    assert np.asarray(x).tolist() == [7, 2, 7]
    x[m] = xp.asarray([4, 5], dtype=xp.int8)
    assert np.asarray(x).tolist() == [4, 2, 5]
    with pytest.raises(xp.WriteError):
        xp.broadcast_to(xp.asarray(1.0), (3,))[m] = 2.0


@pytest.mark.parametrize("dtype", DTYPES)
def test_indices_of_any_length(dtype):
    rng = np.random.default_rng(3)
    for n, count in itertools.product([1, 2, 50, 3000], [0, 1, 3, 4, 5, 100, 10_000]):
        for step in (1, -1, 2):
            a = drawn(dtype, n * abs(step))[::step]
            i = rng.integers(-n, n, count)
            x, k = xp.asarray(a), xp.asarray(i)
            assert_same(x[k], a[i])
            assert_same(xp.take(x, k), a[i])
            assert strided.is_contiguous(x[k])
            for kind in ("int8", "int32", "uint64"):
                j = (np.abs(i) % min(n, 128)).astype(kind)
                assert_same(x[xp.asarray(j)], a[j])


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
def test_indices_along_each_axis(dtype):
    rng = np.random.default_rng(4)
    for shape in ((3, 4), (40, 50), (2, 3, 4), (4, 1, 2, 3), (300, 40)):
        a = drawn(dtype, int(np.prod(shape))).reshape(shape)
        x = xp.asarray(a)
        for axis, index_shape in itertools.product(range(len(shape)), [(5,), (2, 3), (1,), (0,), (300,)]):
            i = rng.integers(-shape[axis], shape[axis], index_shape)
            result = xp.take(x, xp.asarray(i), axis=axis)
            assert_same(result, np.take(a, i, axis=axis))
            assert strided.is_contiguous(result)
            turned, b = xp.permute_dims(x, tuple(reversed(range(len(shape))))), a.T
            assert_same(xp.take(turned, xp.asarray(i), axis=-1 - axis), np.take(b, i, axis=-1 - axis))
            assert_same(x[(slice(None),) * axis + (xp.asarray(i),)], np.take(a, i, axis=axis))
            for step in (2, -1, 5):
                i = rng.integers(-(a[..., ::step].shape[axis]), a[..., ::step].shape[axis], index_shape)
                assert_same(
                    xp.take(x[..., ::step], xp.asarray(i), axis=axis), a[..., ::step].take(i, axis=axis)
                )


@pytest.mark.parametrize("bad", [10, -11, 2**62, -(2**63), 2**63 - 1])
def test_indices_out_of_bounds(bad):
    message = f"{bad} is out of bounds for axis {{}} with size 10"
    for dtype, count in itertools.product(("int8", "float32", "float64", "complex128"), (1, 7, 10_000)):
        i = np.zeros(count, np.int64)
        i[-1] = bad
        k = xp.asarray(i)
        line, square = xp.zeros(10, dtype=getattr(xp, dtype)), xp.zeros((10, 10), dtype=getattr(xp, dtype))
        wide = xp.zeros((10, 64), dtype=getattr(xp, dtype))[:, ::2]
        for call, axis in (
            (lambda line=line, k=k: line[k], 0),
            (lambda line=line, k=k: xp.take(line, k), 0),
            (lambda line=line, k=k: line[::-1][k], 0),
            (lambda square=square, k=k: square[k], 0),
            (lambda square=square, k=k: xp.take(square, k, axis=0), 0),
            (lambda wide=wide, k=k: wide[k], 0),
            (lambda square=square, k=k: xp.take(square, k, axis=1), 1),
            (lambda square=square, k=k: square[xp.zeros_like(k), k], 1),
            (lambda square=square, k=k: square[k, xp.zeros_like(k)], 0),
        ):
            with pytest.raises(xp.OutOfBoundsError, match=message.format(axis)):
                call()
    with pytest.raises(xp.OutOfBoundsError, match="axis 0 with size 0"):
        xp.zeros(0)[xp.asarray([0])]


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
def test_points(dtype):
    rng = np.random.default_rng(5)
    for layout in LAYOUTS:
        x, a = pair(dtype, layout)
        if a.ndim < 2 or not a.size:
            continue
        for index_shape in ((1,), (7,), (3, 4), (500,)):
            i = tuple(rng.integers(-size, size, index_shape) for size in a.shape)
            k = tuple(xp.asarray(one) for one in i)
            assert_same(x[k], a[i], what=layout)
            if len(index_shape) == 2:
                # Broadcast indices take the general path.
                narrow = (k[0][:1], *k[1:])
                assert_same(x[narrow], a[(i[0][:1], *i[1:])], what=layout)


def test_places_of_true_elements():
    rng = np.random.default_rng(6)
    for shape in ((1,), (17,), (20_000,), (3, 5), (1, 1), (300, 40), (40, 300), (2, 3, 4), (9, 8, 1), (4, 0)):
        for density in DENSITIES:
            mask = rng.random(shape) < density
            x = xp.asarray(mask)
            for y, b in ((x, mask), (xp.permute_dims(x, tuple(reversed(range(x.ndim)))), mask.T)):
                result = xp.nonzero(y)
                expected = np.nonzero(b)
                assert len(result) == len(expected)
                for one, other in zip(result, expected, strict=True):
                    assert_same(one, other)
                assert int(xp.count_nonzero(y)) == int(np.count_nonzero(b))


def test_counts_of_any_length():
    rng = np.random.default_rng(7)
    for n in (*LENGTHS, 64 * 255 - 1, 64 * 255, 64 * 255 + 1, 64 * 255 + 64, 100_001):
        for density in DENSITIES:
            x, a = both(rng.random(n) < density)
            assert int(xp.count_nonzero(x)) == int(np.count_nonzero(a))
            assert int(xp.count_nonzero(x[::2])) == int(np.count_nonzero(a[::2]))


def test_history_is_kept():
    from stride0 import autograd

    x = xp.asarray([1.0, 2.0, 3.0])
    m, i = xp.asarray([True, False, True]), xp.asarray([2, 2, 0])
    assert np.asarray(autograd.grad(lambda v: xp.sum(v[m] * 2))(x)).tolist() == [2, 0, 2]
    assert np.asarray(autograd.grad(lambda v: xp.sum(v[i]))(x)).tolist() == [1, 0, 2]
    assert np.asarray(autograd.grad(lambda v: xp.sum(xp.take(v, i)))(x)).tolist() == [1, 0, 2]
    y = xp.asarray([3.0, 1.0, 2.0])
    assert np.asarray(autograd.grad(lambda v: xp.sort(v)[0])(y)).tolist() == [0, 1, 0]


@pytest.mark.parametrize("axis", [0, 1])
def test_runs_of_any_length(axis: int) -> None:
    """Rows of every size that has its own copy loop: a few rows, and enough for several threads."""
    rng = np.random.default_rng(5)
    for run in (*range(1, 68), 127, 128, 129, 511, 600):
        a = rng.integers(0, 255, (7, 90, run)).astype("uint8")
        for count in (1, 5, 40, 3000):
            picks = rng.integers(-a.shape[axis], a.shape[axis], count)
            same = np.take(a, picks, axis=axis)
            assert_same(xp.take(xp.asarray(a), xp.asarray(picks), axis=axis), same, what=f"{run} {count}")
    with pytest.raises(IndexError):
        xp.take(xp.ones((7, 90, 40)), xp.asarray([0] * 5000 + [90]), axis=1)
