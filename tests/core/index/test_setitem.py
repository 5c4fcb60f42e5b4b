"""Writing elements, compared with NumPy: values, casts, exceptions, and untouched elements."""

from __future__ import annotations

import itertools
import operator

import numpy as np
import pytest
from helpers import DTYPES, INTEGERS, assert_same, both, pair, quietly, values
from hypothesis import given
from hypothesis import strategies as st
from strategies import drawn_arrays, examples, keys

import stride0 as xp

ERRORS = (IndexError, ValueError, TypeError, OverflowError)
FEW = examples(150)
MANY = examples(400)


def outcome(call, *args):
    """Return (result, None) or (None, the built-in exception that describes what was raised)."""
    try:
        return quietly(call, *args), None
    except ERRORS as error:
        return None, next(c for c in type(error).__mro__ if c.__module__ == "builtins")


# --- writing


@st.composite
def written(draw, shape, dtype):
    """A value that broadcasts to `shape`, as a pair; its cast to `dtype` is defined everywhere."""
    own = tuple(draw(st.sampled_from([n, n, 1])) for n in shape)[draw(st.integers(0, len(shape))) :]
    source = draw(st.sampled_from(DTYPES))
    a = values(source, own)
    if dtype.startswith("uint") and np.dtype(source).kind in "fc":
        a = abs(a).astype(source)  # C does not define the cast of a negative float
    if a.ndim == 0 and draw(st.booleans()) and source != "bool":
        return xp.asarray(a, copy=True), a
    layout = draw(st.sampled_from(["C", "F", "negative", "numpy"]))
    if layout == "numpy":
        return a, a
    if layout == "F":
        return xp.asarray(np.array(a, order="F")), a
    return xp.asarray(a, copy=True) if layout == "C" else xp.flip(xp.asarray(np.flip(a))), a


@MANY
@given(st.data())
def test_writing_as_numpy(data):
    d = data.draw(drawn_arrays())
    key, np_key = data.draw(keys(d.a.shape))
    places = np.arange(d.a.size).reshape(d.a.shape)[np_key]
    # Where an element is written twice, the order of writes is undefined: use one value for all.
    shape = np.shape(places) if np.unique(places).size == np.size(places) else ()
    value, np_value = data.draw(written(shape, d.a.dtype.name))
    if d.broadcast:
        with pytest.raises(ValueError):
            d.x[key] = value
    elif np_value.dtype.kind == "c" and d.a.dtype.kind not in "bc":
        with pytest.raises(TypeError):
            d.x[key] = value
    else:
        d.x[key] = value
        quietly(operator.setitem, d.a, np_key, np_value)
    d.assert_same_memory()


@FEW
@given(st.data())
def test_values_that_do_not_broadcast(data):
    d = data.draw(drawn_arrays(["float64"], stretch=False))
    key, np_key = data.draw(keys(d.a.shape))
    shape = np.shape(d.a[np_key])
    value_shape = data.draw(st.lists(st.integers(0, 3), max_size=4).map(tuple))
    try:
        fits = np.broadcast_shapes(shape, value_shape) == shape
    except ValueError:
        fits = False
    value = np.ones(value_shape)
    if fits:
        d.x[key] = xp.asarray(value)
        d.a[np_key] = value
    else:
        with pytest.raises(ValueError, match="could not be broadcast"):
            d.x[key] = xp.asarray(value)
    d.assert_same_memory()


SCALARS = [
    True,
    0,
    1,
    -1,
    127,
    255,
    2**31,
    2**63 - 1,
    2**63,
    -(2**63),
    2**64,
    10**40,
    10**400,
    1.1,
    -0.0,
    1e300,
    np.nan,
    np.inf,
    1j,
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("key", [slice(None), (1, 2), (..., 0), [0, 2], True, (slice(None), [1, 1])], ids=str)
def test_python_scalars(dtype, key):
    for scalar in SCALARS:
        if dtype.startswith("uint") and scalar == -1:
            scalar = -1
        x, a = pair(dtype)
        before = a.copy()
        try:
            quietly(operator.setitem, a, key, scalar)
        except (OverflowError, TypeError, ValueError) as error:
            # NumPy raises ValueError for NaN as an integer; stride0 treats it as out of range.
            wanted = OverflowError if isinstance(error, ValueError) else type(error)
            with pytest.raises(wanted):
                x[key] = scalar
            assert_same(x, before, what=f"{scalar}")
        else:
            x[key] = scalar
            assert_same(x, a, what=f"{scalar}")


def test_casts_of_values():
    x = xp.arange(4)
    x[...] = 1.9
    assert_same(x, np.ones(4, dtype=np.int64))
    x[1:3] = xp.asarray([2.7, -2.7])
    assert_same(x, np.asarray([1, 2, -2, 1]))
    x[[0, 3]] = [True, False]
    assert_same(x, np.asarray([1, 2, -2, 0]))
    for value in (1j, xp.asarray(1j), [1j, 2j, 3j, 4j], np.ones(4, dtype=complex)):
        for key in (..., slice(None), [0, 1, 2, 3]):
            with pytest.raises(TypeError, match="cast"):
                x[key] = value
    assert_same(x, np.asarray([1, 2, -2, 0]))
    b = xp.zeros(3, dtype=xp.bool)
    b[...] = xp.asarray([0.5, 0.0, np.nan])
    assert_same(b, np.asarray([True, False, True]))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_in_lists_are_checked_like_integers(dtype):
    info = np.iinfo(dtype)
    x, a = both(np.zeros(2, dtype))
    for value in ([int(info.max), int(info.min)], ([int(info.max)]), [True, 1.5]):
        for key in (slice(None), [1, 0], [True, True]):
            x[key] = value
            a[key] = value
            assert_same(x, a, what=f"{value}")
    for value in ([int(info.max) + 1, 0], [0, int(info.min) - 1], [10**30, 0]):
        for key in (slice(None), [1, 0], [True, True]):
            with pytest.raises(OverflowError):
                x[key] = value
            assert_same(x, a, what=f"{value}")


def test_values_of_other_kinds():
    x, a = both(np.zeros((2, 3)))
    for value in (
        [1, 2, 3],
        [[1], [2]],
        (1.5, 2.5, 3.5),
        np.arange(3),
        np.float32(2),
        range(3),
        bytearray(b"abc"),
    ):
        x[...] = value
        a[...] = np.frombuffer(value, np.uint8) if isinstance(value, bytearray) else value
        assert_same(x, a, what=f"{value}")
    for value in ("1", None, {}, object(), ["1"], [None], b"abc"):
        with pytest.raises(TypeError):
            x[...] = value
        with pytest.raises(TypeError):
            x[[0]] = value
    with pytest.raises(ValueError, match="ragged"):
        x[...] = [[1, 2], [3]]
    assert_same(x, a)


@pytest.mark.parametrize("size", [1, 2, 7, 16, 40])  # few elements are written without a plan
@pytest.mark.parametrize("order", ["C", "F"])
def test_values_from_the_same_memory(size, order):
    parts = [slice(None), slice(1, None), slice(None, -1), slice(None, None, -1), slice(None, None, 2)]
    for ndim in (1, 2):
        for into, source in itertools.product(itertools.product(parts, repeat=ndim), repeat=2):
            memory = np.asarray(np.arange(size**ndim).reshape((size,) * ndim), order=order)
            expected = memory.copy()
            if expected[into].shape != expected[source].shape:
                continue
            expected[into] = expected[source].copy()
            x, y = xp.asarray(memory, copy=False), xp.asarray(memory, copy=False)  # two storages
            x[into] = y[source]
            assert np.array_equal(memory, expected)
    memory = np.arange(size)
    x, last = xp.asarray(memory, copy=False), xp.asarray(memory[size - 1 :].reshape(()), copy=False)
    x[::-1] = last
    assert (memory == size - 1).all()


def test_repeated_indices_keep_the_last_value():
    x = xp.zeros(4)
    x[xp.asarray([0, 1, 0, 3, 0])] = xp.asarray([1.0, 2, 3, 4, 5])
    assert_same(x, np.asarray([5.0, 2, 0, 4]))


def test_a_write_never_adds_axes_or_stretches_the_target():
    x = xp.zeros((2, 3))
    for shape in ((1, 2, 3), (3, 3), (2, 4), (2, 1, 3), (0,)):
        for key in (..., slice(None), ([0, 1],), (slice(None), [0, 1, 2])):
            with pytest.raises(ValueError, match="could not be broadcast"):
                x[key] = xp.ones(shape)
    with pytest.raises(ValueError, match="could not be broadcast"):
        x[1, ...] = xp.ones((1, 3))
    with pytest.raises(ValueError, match="could not be broadcast"):
        x[1, 1] = xp.ones((1,))
    assert_same(x, np.zeros((2, 3)))


def test_elements_cannot_be_deleted():
    x = xp.arange(3)
    with pytest.raises((TypeError, ValueError)):
        del x[0]
    with pytest.raises((TypeError, ValueError)):
        del x[...]
    assert_same(x, np.arange(3))


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex64", "complex128"])
def test_elements_by_a_mask_or_by_indices_in_every_memory(dtype):
    """The usual keys: sizes around blocks of eight, strides, values that do and do not fit, overlaps."""
    rng = np.random.default_rng(8)
    for n in (1, 7, 8, 9, 64, 1000, 9000):
        mask, index = rng.random(n) < 0.6, rng.integers(-n, n, n)
        index = np.where(index < 0, index % n - n, index % n)
        index = np.unique(index % n) - n * rng.integers(0, 2)  # each element is written once
        for key in (mask, np.ones(n, bool), np.zeros(n, bool), index):
            count = int(key.sum()) if key.dtype == bool else key.size
            new = values(dtype, (2 * count + 2,))
            for step in (1, 2, -1):
                memory = values(dtype, (2 * n,))
                for source in (new[:count], new[1 : 2 * count + 1 : 2], new[0]):
                    a, x = memory.copy(), xp.asarray(memory, copy=True)
                    v, y = a[::step][:n], x[::step][:n]
                    v[key] = source
                    y[xp.asarray(key)] = xp.asarray(source, copy=True)
                    assert_same(x, a)
                if count != 1:
                    for source in (new[: count + 1], new[: max(count - 1, 0)]):
                        if source.size in (1, count):
                            continue  # fits
                        y, before = xp.asarray(memory[:n], copy=True), memory[:n]
                        with pytest.raises(ValueError):
                            y[xp.asarray(key)] = xp.asarray(source, copy=True)
                        assert_same(y, before)
    # Source and target overlap, also where both begin at the same element.
    a = values(dtype, (40,))
    order = rng.permutation(40)
    x = xp.asarray(a, copy=True)
    x[xp.asarray(order)] = x
    expected = a.copy()
    expected[order] = a
    assert_same(x, expected)
    x = xp.asarray(a, copy=True)
    x[xp.asarray(order[:20])] = x[20:]
    expected = a.copy()
    expected[order[:20]] = a[20:]
    assert_same(x, expected)


def test_masks_and_indices_that_are_the_array_itself():
    a = np.asarray([True, False, True, True])
    x = xp.asarray(a, copy=True)
    x[x] = xp.asarray([False, True, False])
    assert_same(x, np.asarray([False, False, True, False]))
    index = np.asarray([3, 0, 2, 1])
    x = xp.asarray(index, copy=True)
    x[x] = xp.asarray([10, 20, 30, 40])
    expected = index.copy()
    expected[index] = [10, 20, 30, 40]
    assert_same(x, expected)


def test_an_index_out_of_bounds_writes_nothing():
    for bad in ([0, 1, 7], [-8, 2, 3], [2, 2, 1 << 62]):
        x = xp.zeros(7)
        for value in (xp.ones(3), xp.asarray(1.0)):
            with pytest.raises(IndexError):
                x[xp.asarray(bad)] = value
        assert_same(x, np.zeros(7))


@pytest.mark.parametrize("columns", [8_191, 8_192, 1 << 18, (1 << 18) + 1])
def test_a_scalar_written_to_long_rows(columns):
    a, x = np.zeros((4, columns), "int8"), xp.zeros((4, columns), dtype=xp.int8)
    a[[2, 0]], x[xp.asarray([2, 0])] = 7, 7
    assert np.array_equal(np.asarray(x), a)
