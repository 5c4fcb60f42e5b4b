"""Random keys of arrays, slices, integers and None, against NumPy: elements are read, written and added."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers import assert_same

import stride0 as xp

LAYOUTS: dict[str, Any] = {
    "contiguous": (lambda x: x, lambda a: a),
    "transposed": (lambda x: xp.permute_dims(x, tuple(range(x.ndim))[::-1]), lambda a: a.T),
    "reversed": (lambda x: x[..., ::-1], lambda a: a[..., ::-1]),
    "sliced": (lambda x: x[..., ::2], lambda a: a[..., ::2]),
}
DTYPES = ("bool", "int16", "float32", "float64", "complex128")


def operands(rng: np.random.Generator) -> tuple[Any, Any]:
    """The same array, of any layout, in both libraries."""
    shape = tuple(rng.integers(1, 7, rng.integers(1, 5)))
    a = rng.integers(0, 100, shape).astype(rng.choice(DTYPES))
    ours, theirs = LAYOUTS[str(rng.choice([*LAYOUTS]))]
    return ours(xp.asarray(a.copy())), theirs(a)


def random_key(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """A key with arrays in it, for stride0 and for NumPy."""
    ours: list[Any] = []
    theirs: list[Any] = []
    common = tuple(rng.integers(1, 4, rng.integers(1, 3)))
    axis = 0
    while axis < len(shape):
        match rng.integers(7):
            case 0:
                both = slice(None, None, int(rng.choice([1, 2, -1])))
                ours.append(both), theirs.append(both)
                axis += 1
            case 1:
                both = int(rng.integers(-shape[axis], shape[axis]))
                ours.append(both), theirs.append(both)
                axis += 1
            case 2:
                ours.append(None), theirs.append(None)
            case 3:
                # One true element, which broadcasts to any other index array.
                count = int(rng.integers(1, min(2, len(shape) - axis) + 1))
                mask = np.zeros(shape[axis : axis + count], bool)
                mask[tuple(rng.integers(0, size) for size in mask.shape)] = True
                ours.append(xp.asarray(mask)), theirs.append(mask)
                axis += count
            case _:
                own = tuple(
                    1 if rng.integers(4) == 0 else size for size in common[rng.integers(0, len(common)) :]
                )
                index = rng.integers(-shape[axis], shape[axis], own).astype(
                    rng.choice(["int64", "int32", "int8"])
                )
                ours.append(xp.asarray(index)), theirs.append(index)
                axis += 1
    return tuple(ours), tuple(theirs)


@pytest.mark.parametrize("first", range(0, 120, 30))
def test_random_keys(first):
    for seed in range(first, first + 30):
        check_random_key(np.random.default_rng(seed))


def check_random_key(rng):
    x, a = operands(rng)
    key, numpy_key = random_key(rng, a.shape)
    expected = a[numpy_key]
    assert_same(x[key], expected, what=str((a.shape, a.strides, numpy_key)))
    for shape in (expected.shape, expected.shape[1:], (1,) * min(1, expected.ndim) + expected.shape[1:], ()):
        value = rng.integers(0, 100, shape).astype(a.dtype)
        x[key], a[numpy_key] = xp.asarray(value), value
        assert_same(x, a, what=str((a.shape, a.strides, numpy_key, shape)))
    x[key], a[numpy_key] = 1, 1
    assert_same(x, a)
    if a.dtype != bool:
        value = rng.integers(0, 100, expected.shape).astype(a.dtype)
        added = np.array(a)
        np.add.at(added, numpy_key, value)
        assert_same(xp.at(x, key).add(xp.asarray(value)), added)


def test_more_elements_than_offsets_are_added_up_at_once():
    rng = np.random.default_rng(1)
    a = rng.random((40, 30, 3))
    x, a = xp.flip(xp.asarray(a.copy()), axis=(0, 2)), a[::-1, :, ::-1]
    i, j, k = rng.integers(-40, 40, (1, 1000)), rng.integers(-30, 30, (7, 1)), rng.integers(0, 3, (7, 1000))
    for key in ((i, j), (i, slice(None), k), (slice(1, 9), j, k), (i, j, k)):
        ours = tuple(item if isinstance(item, slice) else xp.asarray(item) for item in key)
        assert_same(x[ours], a[key])
        x[ours], a[key] = 2.0, 2.0
        assert_same(x, a)
        x[ours], a[key] = xp.asarray(a[key] + 1.0), a[key] + 1.0
        assert_same(x, a)


def test_many_index_arrays():
    a = np.arange(2.0**7).reshape((2,) * 7)
    x = xp.asarray(a)
    rng = np.random.default_rng(2)
    keys = [rng.integers(-2, 2, 300) for _ in range(7)]
    assert_same(x[tuple(xp.asarray(key) for key in keys)], a[tuple(keys)])
    with pytest.raises(IndexError, match="2 is out of bounds for axis 5"):
        x[(*(xp.asarray(key) for key in keys[:5]), xp.asarray([2]), xp.asarray([3]))]


def test_long_gathers_on_threads():
    rng = np.random.default_rng(3)
    a = rng.random((500, 7, 40))
    x = xp.asarray(a)
    i, j = rng.integers(-500, 500, 3000), rng.integers(-40, 40, 5000)
    before = xp.get_num_threads()
    try:
        for threads in (1, 3):
            xp.set_num_threads(threads)
            assert_same(x[xp.asarray(i)], a[i])
            assert_same(x[..., xp.asarray(j)], a[..., j])
            assert_same(x[:, 1:, xp.asarray(j)], a[:, 1:, j])
            assert_same(x[xp.asarray(i), 2:, ::2], a[i, 2:, ::2])
            assert_same(x[xp.asarray(i)[:, None], :, xp.asarray(j)[None, :9]], a[i[:, None], :, j[None, :9]])
            with pytest.raises(IndexError, match="40 is out of bounds for axis 2"):
                x[..., xp.concat([xp.asarray(j), xp.asarray([40])])]
    finally:
        xp.set_num_threads(before)
