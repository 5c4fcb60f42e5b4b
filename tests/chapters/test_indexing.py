"""Reading elements, against NumPy: values, exceptions, views and copies; iteration; `take`."""

from __future__ import annotations

import math
import operator
import weakref

import numpy as np
import pytest
from helpers import assert_same, both, pair, pairs, quietly, same, values
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import drawn_arrays, examples, is_basic, keys

import stride0 as xp
from stride0 import strided

ERRORS = (IndexError, ValueError, TypeError, OverflowError)
FEW = examples(150)
MANY = examples(400)


def outcome(call, *args):
    """Return (result, None) or (None, the built-in exception that describes what was raised)."""
    try:
        return quietly(call, *args), None
    except ERRORS as error:
        return None, next(c for c in type(error).__mro__ if c.__module__ == "builtins")


# --- reading


@MANY
@given(st.data())
def test_reading_as_numpy(data):
    d = data.draw(drawn_arrays(special=True))
    key, np_key = data.draw(keys(d.a.shape))
    expected, error = outcome(operator.getitem, d.a, np_key)
    assert error is None, f"the strategy drew a bad key: {np_key}"
    assert_same(d.x[key], expected)


@pytest.mark.parametrize("rows, columns", [(0, 3), (3, 0)])
def test_indices_are_checked_where_nothing_is_read(rows, columns):
    a = np.zeros((rows, columns))
    x = xp.asarray(a)
    for key in ((slice(None), [3]), (slice(None), [-4]), ([3],), ([-4], slice(None)), ([3], [0]), (..., [3])):
        for library, array in ((np, a), (xp, x)):
            own = tuple(library.asarray(k) if isinstance(k, list) else k for k in key)
            with pytest.raises(IndexError):
                array[own]
            with pytest.raises(IndexError):
                array[own] = 1.0
    for axis in (0, 1):
        with pytest.raises(IndexError):
            xp.take(x, xp.asarray([3]), axis=axis)
        with pytest.raises(IndexError):
            xp.take(x, xp.asarray([-4]), axis=axis)


@MANY
@given(st.data())
def test_bad_keys_as_numpy(data):
    d = data.draw(drawn_arrays(["int16"], max_axes=3))
    key, np_key = data.draw(keys(d.a.shape, wrong=True))
    expected, error = outcome(operator.getitem, d.a, np_key)
    if error is None and np.size(expected) == 0:
        # NumPy does not check index arrays if the result has no elements; stride0 may refuse them.
        got, error = outcome(operator.getitem, d.x, key)
        assert error is IndexError or got.shape == np.shape(expected)
    elif error is None:
        assert_same(d.x[key], expected)
    else:
        with pytest.raises(error):
            d.x[key]
        if not d.broadcast:
            with pytest.raises(error):
                d.x[key] = 1
    d.assert_same_memory()


@FEW
@given(st.data())
def test_basic_keys_make_views(data):
    d = data.draw(drawn_arrays(stretch=False))
    key, np_key = data.draw(keys(d.a.shape, advanced=False))
    assume(is_basic(np_key))
    view = d.x[key]
    assert strided.shares_storage(view, d.x)
    expected = d.a[(*np_key, ...) if isinstance(np_key, tuple) and ... not in np_key else np_key]
    if isinstance(expected, np.ndarray) and expected.size:
        steps = [s // expected.itemsize for s in expected.strides]
        for n, ours, theirs in zip(view.shape, strided.strides(view), steps, strict=True):
            assert n == 1 or ours == theirs
    view[...] = 1
    d.a[np_key] = 1
    d.assert_same_memory()


@FEW
@given(st.data())
def test_views_of_views(data):
    d = data.draw(drawn_arrays())
    x, a = d.x, d.a
    for _ in range(3):
        key, np_key = data.draw(keys(a.shape, advanced=False))
        x, a = x[key], np.asarray(a[np_key])
    assert_same(x, a)


@FEW
@given(st.data())
def test_arrays_in_the_key_make_copies(data):
    d = data.draw(drawn_arrays())
    key, np_key = data.draw(keys(d.a.shape))
    assume(
        any(np.ndim(i) or isinstance(i, bool) for i in (np_key if isinstance(np_key, tuple) else (np_key,)))
    )
    copy = d.x[key]
    assert not strided.shares_storage(copy, d.x)
    copy[...] = 1
    d.assert_same_memory()


COMBINED = [
    # Side by side, the arrays' axes stay in their place; apart, they come first. Integers count as arrays.
    (lambda i: (slice(None), i, i), (2, 7, 5)),
    (lambda i: (i, slice(None), i), (7, 3, 5)),
    (lambda i: (i, slice(None), slice(None), i), (7, 3, 4)),
    (lambda i: (slice(None), i), (2, 7, 4, 5)),
    (lambda i: (slice(None), 0, slice(None), i), (7, 2, 4)),
    (lambda i: (slice(None), 0, i), (2, 7, 5)),
    (lambda i: (0, slice(None), i), (7, 3, 5)),
    (lambda i: (slice(None), i, None, i), (7, 2, 1, 5)),
    (lambda i: (slice(None), None, i, i), (2, 1, 7, 5)),
    (lambda i: (i, ..., i), (7, 3, 4)),
    (lambda i: (..., i, i), (2, 3, 7)),
    (lambda i: (..., i), (2, 3, 4, 7)),
    (lambda i: (i, i, i, i), (7,)),
    (lambda i: (i[:, None], i), (7, 7, 4, 5)),
    (lambda i: (slice(None), i[:, None], slice(None), i), (7, 7, 2, 4)),
]


@pytest.mark.parametrize(("make", "shape"), COMBINED)
def test_where_the_axes_of_index_arrays_go(make, shape):
    x, a = both(np.arange(120).reshape(2, 3, 4, 5))
    i, j = both(np.asarray([0, 1, 1, 0, -1, -2, 1]))
    assert x[make(i)].shape == shape
    assert_same(x[make(i)], a[make(j)])


def test_masks_count_as_the_axes_they_select_from():
    x, a = both(np.arange(120).reshape(2, 3, 4, 5))
    mask = a % 7 == 0
    for key in (
        (mask,),
        (mask[0, :, :, 0],),
        (slice(None), mask[0]),
        (slice(None), mask[0, :, :, 0]),
        (..., mask[0, 0]),
        (mask[:, 0, 0, 0], ..., mask[0, 0, 0]),
        (mask[:, 0, 0, 0], None, mask[0, :, 0, 0]),
        (True, slice(None), mask[0, :, 0, 0]),
    ):
        ours = tuple(xp.asarray(k) if isinstance(k, np.ndarray) else k for k in key)
        same(lambda ns, v, o=ours, k=key: v[o if ns is xp else k], (x, a), what=str(key))


def test_an_ellipsis_separates_even_where_it_stands_for_no_axis():
    x, a = both(np.arange(4).reshape(2, 2))
    i = [0, 1, 1]
    for key, shape in (
        ((None, i, ..., i), (3, 1)),
        ((None, i, i), (1, 3)),
        ((None, i, i, ...), (1, 3)),
        ((None, ..., i, i), (1, 3)),
        ((None, 0, ..., i), (3, 1)),
        ((None, i, ..., 0), (3, 1)),
        ((None, True, ..., i, i), (3, 1)),
        ((None, i, ..., True), (3, 1, 2)),
    ):
        assert x[key].shape == shape, key
        assert_same(x[key], a[key], what=str(key))
        y = xp.zeros((2, 2), dtype=xp.int64)
        y[key] = x[key]
        b = np.zeros_like(a)
        b[key] = a[key]
        assert_same(y, b, what=str(key))


@pytest.mark.parametrize("bit", [True, False])
@pytest.mark.parametrize("make", [bool, np.bool_, np.asarray, xp.asarray])
def test_masks_without_axes(bit, make):
    for layout in ("C", "transposed", "0-d", "size 0"):
        x, a = pair("int32", layout)
        assert_same(x[make(bit)], a[bit])
        assert_same(x[make(bit), ...], a[bit, ...])
        assert_same(x[..., make(bit), None], a[..., bit, None])
        x[make(bit)] = 7
        a[bit] = 7
        assert_same(x, a)


@pytest.mark.parametrize(
    "key",
    [
        "a",
        b"a",
        1.0,
        1j,
        {},
        set(),
        object(),
        [1.0],
        [1j],
        ["a"],
        [None],
        [slice(0, 1)],
        [2**70],
        2**70,
        -(2**70),
    ],
)
def test_things_that_are_no_index(key):
    x = xp.arange(5)
    for k in (key, (key,), (0, key), (..., key)):
        with pytest.raises(IndexError):
            x[k]
        with pytest.raises(IndexError):
            x[k] = 1
    assert_same(x, np.arange(5))


@pytest.mark.parametrize(
    "value", [1.0, np.asarray(1.0), np.asarray([1.0]), np.asarray([1j]), np.float64(1), np.asarray([])]
)
def test_arrays_that_are_no_index(value):
    x = xp.arange(5)
    for index in (value, xp.asarray(value)):
        with pytest.raises(IndexError):
            x[index]
        with pytest.raises(IndexError):
            x[index] = 1


def test_empty_lists_are_empty_integer_indices():
    x, a = both(np.arange(6).reshape(2, 3))
    for key in ([], [[]], [[], []], [[[]]], ([], slice(None)), (slice(None), []), ([], 0), ([], [])):
        assert_same(x[key], a[key])
        x[key] = 5
    assert_same(x, a)


@pytest.mark.parametrize("step", [2**31, 2**62, 2**63, 2**70, -(2**62), -(2**63), -(2**70)])
def test_slices_with_huge_numbers(step):
    for layout in ("C", "negative", "broadcast", "size 0"):
        x, a = pair("float32", layout)
        for key in (slice(None, None, step), slice(step, None), slice(None, step), slice(-step, step, step)):
            assert_same(x[key], a[key], what=f"{key}, {layout}")
            assert_same(x[..., key], a[..., key], what=f"{key}, {layout}")
    x, a = both(np.arange(4))
    x[::step] = 9
    a[::step] = 9
    assert_same(x, a)


def test_bad_slices():
    x = xp.arange(5)
    with pytest.raises(ValueError, match="zero"):
        x[::0]
    for key in (slice(1.0, None), slice("a"), slice(None, None, 1.5), slice([1], None)):
        with pytest.raises(TypeError):
            x[key]
        with pytest.raises(TypeError):
            x[key, ...] = 1


def test_integers_by_any_name():
    class Index:
        def __index__(self):
            return -2

    x, a = both(np.arange(6).reshape(3, 2))
    for i in (
        Index(),
        np.int8(-2),
        np.uint64(1),
        xp.asarray(-2),
        xp.asarray(1, dtype=xp.uint8),
        np.asarray(1),
    ):
        assert_same(x[i], a[1])
        assert_same(x[i, i], a[operator.index(i), operator.index(i)])
        assert_same(x[:i], a[: operator.index(i)])
    assert_same(x[xp.asarray([2**64 - 1], dtype=xp.uint64) % 2], a[[1]])
    with pytest.raises(IndexError):
        x[xp.asarray([2**64 - 1], dtype=xp.uint64)]  # a large number, not -1


@pytest.mark.parametrize("dtype", ["int8", "int16", "float32", "int64", "complex128"])
def test_selections_from_larger_arrays(dtype):
    # Elements are copied in runs of every width; if there are many, other Python threads run meanwhile.
    rng = np.random.default_rng(3)
    a = values(dtype, (150, 40, 9))
    rows, columns, deep = (rng.integers(-n, n, 300) for n in a.shape)
    mask, bits = rng.random(a.shape[:2]) < 0.4, rng.random(a.shape) < 0.5
    for b in (a, a.transpose(2, 0, 1).copy().transpose(1, 2, 0), a[::-1, :, ::-1], np.array(a, order="F")):
        x = xp.asarray(b)
        for key in (
            rows,
            (rows, slice(None, None, 2)),
            (slice(None), columns),
            (slice(None), columns, slice(1, 8)),
            (..., deep),
            (rows[:, None], columns[:20]),
            (rows, slice(None), deep),
            (rows, columns, deep),
            (mask,),
            (mask, slice(2, None)),
            bits,
            (slice(None), mask[0], 3),
        ):
            items = key if isinstance(key, tuple) else (key,)
            ours = tuple(xp.asarray(item) if isinstance(item, np.ndarray) else item for item in items)
            assert_same(x[ours], b[key], what=str(b.strides))
            places = np.unique(np.arange(b.size).reshape(b.shape)[key])
            y, c = xp.asarray(b, copy=True), b.copy(order="K")
            value = b.reshape(-1)[places.size // 2]
            y[ours] = value
            c[key] = value
            assert_same(y, c, what=str(b.strides))
            if places.size == b[key].size:
                y[ours] = x[ours][::-1]
                c[key] = b[key][::-1]
                assert_same(y, c, what=str(b.strides))


def test_up_to_64_axes():
    x = xp.zeros((1,) * 63)
    assert x[None].ndim == 64
    assert x[xp.asarray([[0]])].ndim == 64
    for key in ((None, None), (None, ..., None), (xp.asarray([[[0]]]),), (True, True, None, None)):
        with pytest.raises(IndexError):
            x[key]
    with pytest.raises(IndexError):
        x[(0,) * 64]
    with pytest.raises(IndexError):
        x[(None,) * 200]
    assert_same(x[(True,) * 200], np.zeros((1,) * 64))


# --- iteration, length, membership


def test_iteration_and_length():
    for what, (x, a) in pairs(["int16", "complex64"]):
        if a.ndim == 0:
            for call in (len, iter, list, reversed):
                with pytest.raises(TypeError):
                    call(x)
            continue
        assert len(x) == len(a), what
        rows = list(x)
        assert len(rows) == len(a), what
        for got, expected in zip(rows, a, strict=True):
            assert_same(got, expected, what=what)
            assert strided.shares_storage(got, x), what
    x = xp.zeros((2, 3))
    for row in x:
        row[...] = 4
    assert_same(x, np.full((2, 3), 4.0))
    first, second = iter(x), iter(x)
    next(first)
    assert len(list(first)) == 1
    assert len(list(second)) == 2


@pytest.mark.parametrize("shape", [(7,), (7, 3), (7, 0)])
def test_rows_that_are_kept_stay_the_same(shape):
    # An iterator reuses a row that nothing refers to.
    a = np.arange(math.prod(shape), dtype=np.float64).reshape(shape)
    x = xp.asarray(a)
    kept, references, buffers = {}, {}, {}
    for _ in range(2):
        for k, row in enumerate(x):
            if k == 2:
                kept[k] = row
            if k == 3:
                references[k] = weakref.ref(row)
            if k == 4:
                buffers[k] = memoryview(row)
            assert_same(row, a[k, ...])
        del row
        assert_same(kept[2], a[2, ...])
        assert references[3]() is None
        assert buffers[4].tolist() == a[4, ...].tolist()


def test_membership():
    for what, (x, a) in pairs(["bool", "uint8", "int64", "float32", "complex128"], special=True):
        for value in (0, 1, True, 3.5, 1j, float("nan"), float("inf"), 2**70):
            expected = bool(np.any(np.asarray([v == value for v in a.ravel().tolist()], dtype=bool)))
            assert (value in x) is expected, f"{value} in {what}"
    assert xp.asarray([1, 2]) in xp.asarray([[5, 2], [3, 4]])  # as NumPy: any element equal at its place
    with pytest.raises(TypeError):
        "a" in xp.arange(3)  # noqa: B015


# --- take, take_along_axis


@FEW
@given(st.data())
def test_take(data):
    d = data.draw(drawn_arrays(max_axes=4))
    shape = data.draw(st.sampled_from([(), (3,), (0,), (2, 2)]))
    axis = data.draw(st.integers(-d.a.ndim, d.a.ndim - 1)) if d.a.ndim else 0
    size = d.a.shape[axis] if d.a.ndim else 1
    low, high = data.draw(st.sampled_from([(-size, size - 1), (-size - 1, size)]))
    assume(low <= high or 0 in shape)
    count = int(np.prod(shape))
    indices = data.draw(st.lists(st.integers(low, max(high, low)), min_size=count, max_size=count))
    dtype = data.draw(st.sampled_from(["int8", "int32", "int64"]))
    i, j = both(np.asarray(indices, dtype).reshape(shape))
    if not d.a.ndim:
        with pytest.raises((ValueError, IndexError)):
            xp.take(d.x, i, axis=axis)
    elif np.any((j < -size) | (j >= size)):  # NumPy does not check this if the result has no elements
        with pytest.raises(IndexError, match="out of bounds"):
            xp.take(d.x, i, axis=axis)
    else:
        assert_same(xp.take(d.x, i, axis=axis), np.take(d.a, j, axis=axis))


@pytest.mark.parametrize("shape", [(3,), (3, 2), (3, 0)])
def test_take_of_one_index_is_a_new_array(shape):
    x = xp.ones(shape)
    found = xp.take(x, xp.asarray(1), axis=0)
    assert found.shape == shape[1:]
    found[...] = 7.0
    assert xp.all(x == 1.0)


def test_take_refuses():
    x = xp.zeros((2, 3))
    assert_same(xp.take(xp.arange(4), xp.asarray([3, -4])), np.asarray([3, 0]))
    for indices in (xp.asarray([0.0]), xp.asarray([True]), [0], "a", None, slice(None)):
        with pytest.raises(TypeError):
            xp.take(x, indices, axis=0)
    for axis in (2, -3, None):
        with pytest.raises(ValueError):
            xp.take(x, xp.asarray([0]), axis=axis)
    with pytest.raises(IndexError, match="out of bounds"):
        xp.take(xp.zeros((2, 0)), xp.asarray([0]), axis=1)
    assert_same(xp.take(xp.zeros((2, 0)), xp.asarray([], dtype=xp.int64), axis=1), np.zeros((2, 0)))
    taken = xp.take(x, xp.asarray([1]), axis=0)
    assert not strided.shares_storage(taken, x)


@FEW
@given(st.data())
def test_take_along_axis(data):
    d = data.draw(drawn_arrays(max_axes=4))
    assume(d.a.ndim)
    axis = data.draw(st.integers(-d.a.ndim, d.a.ndim - 1))
    size = d.a.shape[axis]
    shape = [
        data.draw(st.sampled_from([n, 1])) if n != 1 else data.draw(st.integers(1, 3)) for n in d.a.shape
    ]
    shape[axis] = data.draw(st.integers(0, 4))
    wide = data.draw(st.integers(0, 4)) == 0
    low, high = (-size - 1, size) if wide else (-size, max(size - 1, -size))
    count = int(np.prod(shape))
    assume(size or wide or not count)
    indices = data.draw(st.lists(st.integers(low, high), min_size=count, max_size=count))
    i, j = both(np.asarray(indices, data.draw(st.sampled_from(["int8", "int16", "int64"]))).reshape(shape))
    if np.any((j < -size) | (j >= size)):
        with pytest.raises(IndexError, match="out of bounds"):
            xp.take_along_axis(d.x, i, axis=axis)
    else:
        assert_same(xp.take_along_axis(d.x, i, axis=axis), np.take_along_axis(d.a, j, axis=axis))


def test_take_along_axis_default_and_refusals():
    x, a = both(np.arange(12).reshape(3, 4) % 5)
    i, j = both(np.argsort(a))
    same(lambda ns, v, k: ns.take_along_axis(v, k), (x, a), (i, j))
    for indices, error in (
        (xp.zeros((2, 4), dtype=xp.int64), ValueError),  # does not broadcast
        (xp.zeros(4, dtype=xp.int64), ValueError),  # too few axes
        (xp.zeros((3, 4)), TypeError),
        (xp.zeros((3, 4), dtype=xp.bool), TypeError),
        (xp.full((3, 1), 4), IndexError),
        (xp.full((3, 1), -5), IndexError),
        (j, TypeError),
    ):
        with pytest.raises(error):
            xp.take_along_axis(x, indices, axis=1)
    for axis in (2, -3):
        with pytest.raises((ValueError, IndexError)):
            xp.take_along_axis(x, i, axis=axis)
    with pytest.raises((ValueError, IndexError)):
        xp.take_along_axis(xp.zeros(()), xp.zeros((), dtype=xp.int64))


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
def test_many_indices_of_every_item_size(dtype):
    rng = np.random.default_rng(4)
    a = rng.integers(0, 2 if dtype == "bool" else 99, (60, 7, 50)).astype(dtype)
    for layout in (a, a.transpose(2, 1, 0), a[:, ::-2], a[::3, :, 1:]):
        x = xp.asarray(layout)
        for axis in range(3):
            size, shape = layout.shape[axis], list(layout.shape)
            shape[axis] = 80
            for broadcast in (False, True):
                shape[axis - 1] = 1 if broadcast else layout.shape[axis - 1]
                i, j = both(rng.integers(-size, size, shape))
                assert_same(xp.take_along_axis(x, i, axis=axis), np.take_along_axis(layout, j, axis=axis))
            flat = j.reshape(-1)[:300]
            assert_same(xp.take(x, xp.asarray(flat), axis=axis), np.take(layout, flat, axis=axis))
        column = layout[:, 0, 0]
        k, places = both(rng.integers(-column.size, column.size, 9000))
        assert_same(xp.take(xp.asarray(column), k), column[places])
        assert_same(xp.asarray(column)[k], column[places])


def test_indices_beyond_int64_are_out_of_bounds():
    # As int64 the first is -1, the last element.
    for value in (2**64 - 1, 2**63, 3):
        indices = xp.asarray([[0, value]], dtype=xp.uint64)
        with pytest.raises(IndexError, match="out of bounds"):
            xp.take_along_axis(xp.zeros((1, 3)), indices, axis=1)
