"""How shapes combine, what lies in memory, what may be written: facts that stride0 has to reproduce."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from helpers import DTYPES, assert_same, both, pair, values
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

import stride0 as xp
from stride0 import strided

# (first shape, second shape, common shape)
FITTING = [
    ((5, 7, 3), (5, 7, 3), (5, 7, 3)),
    ((5, 3, 4, 1), (3, 1, 1), (5, 3, 4, 1)),
    ((5, 1, 4, 1), (3, 1, 1), (5, 3, 4, 1)),
    ((1,), (3, 1, 7), (3, 1, 7)),
    ((2, 3), (3,), (2, 3)),
    ((4, 1), (3,), (4, 3)),
    ((4, 1), (4,), (4, 4)),  # the classic accident
    ((3,), (3, 1), (3, 3)),  # and its sister: not (3,)
    ((3, 1), (1, 4), (3, 4)),
    ((2, 3, 1), (3,), (2, 3, 3)),
    ((5, 1, 4), (3, 4), (5, 3, 4)),
    ((10, 1, 3, 4), (20, 3, 1), (10, 20, 3, 4)),
    ((5, 6, 1), (5, 6, 10), (5, 6, 10)),
    ((2, 3, 4, 5, 1, 1, 1), (4, 1, 6, 7, 8), (2, 3, 4, 5, 6, 7, 8)),
    ((8, 1, 6, 1), (7, 1, 5), (8, 7, 6, 5)),
    ((), (2, 3), (2, 3)),
    ((), (), ()),
    ((), (0,), (0,)),
    # Size 0 is a size like any other.
    ((0, 3), (1, 3), (0, 3)),
    ((0, 3), (3,), (0, 3)),
    ((0, 1), (1, 3), (0, 3)),
    ((1,), (0,), (0,)),
    ((4, 0), (4, 1), (4, 0)),
    ((0,), (0,), (0,)),
    ((0,), (5, 1), (5, 0)),
]

# (first shape, second shape, the failing axis, its two sizes)
CLASHING = [
    ((0,), (2, 2), -1, (0, 2)),
    ((0,), (2,), -1, (0, 2)),
    ((5, 2, 4, 1), (3, 1, 1), -3, (2, 3)),
    ((5, 6), (5, 6, 10), -1, (6, 10)),
    ((5, 6), (10,), -1, (6, 10)),
    ((2, 3), (2, 4), -1, (3, 4)),
    ((15, 3, 5), (15, 3), -1, (5, 3)),
    ((3, 4), (4, 5), -1, (4, 5)),
    ((2, 1, 4), (3, 1, 4), -3, (2, 3)),
]


def filled(shape):
    """A stride0 and a NumPy array of that shape, no two elements of which are equal."""
    return both(np.arange(float(np.prod(shape))).reshape(shape))


@pytest.mark.parametrize(("first", "second", "common"), FITTING)
def test_shapes_that_fit(first, second, common):
    for one, two in ((first, second), (second, first)):
        assert xp.broadcast_shapes(one, two) == common
        (x, a), (y, b) = filled(one), filled(two)
        for out in (xp.add(x, y), x + y, xp.add(x, y, alpha=1)):
            assert_same(out, a + b)
            assert out.shape == common
        for given_array, expected, shape in ((x, a, one), (y, b, two)):
            view = xp.broadcast_to(given_array, common)
            assert_same(view, np.broadcast_to(expected, common))
            assert strided.shares_storage(view, given_array), shape
        p, q = xp.broadcast_arrays(x, y)
        assert p.shape == q.shape == common
        assert_same(xp.where(x == y, x, y), np.where(a == b, a, b))


@pytest.mark.parametrize(("first", "second", "axis", "sizes"), CLASHING)
def test_shapes_that_do_not_fit(first, second, axis, sizes):
    calls = [
        lambda one, two: xp.add(xp.ones(one), xp.ones(two)),
        lambda one, two: xp.ones(one) * xp.ones(two),
        lambda one, two: xp.ones(one) == xp.ones(two),
        lambda one, two: xp.broadcast_shapes(one, two),
        lambda one, two: xp.broadcast_arrays(xp.ones(one), xp.ones(two)),
        lambda one, two: xp.where(xp.ones(one, dtype=xp.bool), xp.ones(two), 0.0),
        lambda one, two: xp.add(xp.ones(one), xp.ones(two), alpha=2),
    ]
    for call in calls:
        for one, two, found in ((first, second, sizes), (second, first, sizes[::-1])):
            with pytest.raises(xp.BroadcastError, match="operands could not be broadcast together") as caught:
                call(one, two)
            assert caught.value.axis == axis
            assert tuple(s for s in caught.value.sizes if s is not None)[:2] == found
            assert f"axis {axis} has size {found[0]}" in str(caught.value)
            assert str(found[1]) in str(caught.value)


def test_inserted_axes_make_them_fit():
    (x, a), (w, b) = filled((5, 6)), filled((10,))
    assert_same(x[:, :, None] + w[None, None, :], a[:, :, None] + b)
    assert (x[:, :, None] + w).shape == (5, 6, 10)
    images = xp.broadcast_to(xp.zeros(1, dtype=xp.int8), (32, 3, 224, 224))
    channels = xp.asarray([1, 2, 3], dtype=xp.int8)[None, :, None, None]
    assert xp.broadcast_shapes(images.shape, channels.shape) == images.shape
    assert xp.broadcast_to(channels, images.shape).shape == images.shape
    small = images[:2, :, :4, :4] + channels
    assert_same(small, np.broadcast_to(np.asarray([1, 2, 3], np.int8)[:, None, None], (2, 3, 4, 4)))


def test_the_outer_sum_is_no_operator_of_its_own():
    (x, a), (y, b) = filled((3,)), filled((4,))
    assert_same(x[:, None] + y[None, :], np.add.outer(a, b))


def test_multiplication_broadcasts_all_axes():
    with pytest.raises(ValueError):
        xp.ones((3, 4)) * xp.ones((4, 5))


@examples(150)
@given(st.lists(st.lists(st.integers(0, 3), max_size=5).map(tuple), min_size=1, max_size=4))
def test_any_number_of_shapes(shapes):
    try:
        expected = np.broadcast_shapes(*shapes)
    except ValueError:
        with pytest.raises(xp.BroadcastError):
            xp.broadcast_shapes(*shapes)
        with pytest.raises(xp.BroadcastError):
            xp.broadcast_arrays(*map(xp.zeros, shapes))
    else:
        assert xp.broadcast_shapes(*shapes) == expected
        assert [x.shape for x in xp.broadcast_arrays(*map(xp.zeros, shapes))] == [expected] * len(shapes)


@examples(150)
@given(st.lists(st.integers(0, 3), max_size=4).map(tuple), st.lists(st.integers(0, 3), max_size=5).map(tuple))
def test_broadcast_to_never_changes_the_size_of_an_axis_but_from_1(shape, target):
    x, a = filled(shape)
    try:
        expected = np.broadcast_to(a, target)
    except ValueError:
        with pytest.raises(ValueError):
            xp.broadcast_to(x, target)
    else:
        assert_same(xp.broadcast_to(x, target), expected)


# --- strides


def test_contiguous_strides():
    assert strided.strides(xp.asarray([[10, 11, 12], [20, 21, 22]])) == (3, 1)
    x = xp.zeros((2, 3, 4))
    assert (strided.strides(x), strided.is_contiguous(x)) == ((12, 4, 1), True)


def test_transposition_swaps_strides():
    x = xp.reshape(xp.arange(6), (2, 3))
    for y in (x.T, x.mT, xp.permute_dims(x, (1, 0))):
        assert (y.shape, strided.strides(y)) == ((3, 2), (1, 3))
        assert strided.shares_storage(y, x)
        assert not strided.is_contiguous(y)


def test_stretched_axes_have_stride_0():
    x = xp.asarray([[1.0, 2.0, 3.0]])
    y = xp.broadcast_to(x, (4, 3))
    assert (strided.strides(y), y.size, strided.storage_nbytes(y)) == ((0, 1), 12, 3 * 8)
    z = xp.broadcast_to(xp.asarray([[[1.0], [2.0], [3.0]]]), (5, 3, 7))
    assert strided.strides(z) == (0, 1, 0)
    row = xp.zeros((1, 4096), dtype=xp.float32)
    tall = xp.broadcast_to(row, (8192, 4096))
    assert strided.storage_nbytes(tall) == 16 * 1024
    assert tall.size * 4 == 128 * 2**20
    few = xp.tile(row[:, :64], (512, 1))
    assert strided.storage_nbytes(few) == 512 * 64 * 4
    assert strided.storage_nbytes(xp.repeat(row[:, :64], 512, axis=0)) == 512 * 64 * 4


@pytest.mark.parametrize("dtype", DTYPES)
def test_views_without_copies(dtype):
    x, a = both(values(dtype, (2, 3, 4)))
    before = strided.memory_statistics()["allocations"]
    views = [
        (xp.permute_dims(x, (2, 0, 1)), a.transpose(2, 0, 1)),
        (x.mT, a.swapaxes(-1, -2)),
        (xp.moveaxis(x, 0, 2), np.moveaxis(a, 0, 2)),
        (x[:, 1:, ::2], a[:, 1:, ::2]),
        (x[::-1, :, ::-3], a[::-1, :, ::-3]),
        (x[1], a[1]),
        (x[..., 2], a[..., 2]),
        (x[:, None], a[:, None]),
        (xp.expand_dims(x, axis=1), a[:, None]),
        (xp.squeeze(x[:, :1], axis=1), a[:, 0]),
        (xp.flip(x), np.flip(a)),
        (xp.flip(x, axis=1), np.flip(a, axis=1)),
        (xp.reshape(x, (6, 4)), a.reshape(6, 4)),
        (xp.reshape(x, (-1,), copy=False), a.reshape(-1)),
        (xp.reshape(x[::-1], (2, 12)), a[::-1].reshape(2, 12)),
        (xp.broadcast_to(x, (5, 2, 3, 4)), np.broadcast_to(a, (5, 2, 3, 4))),
        (xp.broadcast_to(x[:, :1], (2, 6, 4)), np.broadcast_to(a[:, :1], (2, 6, 4))),
        *zip(xp.unstack(x, axis=1), np.unstack(a, axis=1), strict=True),
        *zip(xp.broadcast_arrays(x, x[0]), np.broadcast_arrays(a, a[0]), strict=True),
    ]
    assert strided.memory_statistics()["allocations"] == before
    for number, (view, expected) in enumerate(views):
        assert strided.shares_storage(view, x), number
        assert_same(view, expected, what=f"view {number}")
        for n, ours, theirs in zip(view.shape, strided.strides(view), expected.strides, strict=True):
            assert n == 1 or ours * a.itemsize == theirs, number
    # What is written through the array is seen through every view of it.
    x[...] = 1
    a[...] = 1
    for number, (view, expected) in enumerate(views):
        assert_same(view, expected, what=f"view {number}")


def test_reshape_copies_only_where_it_must():
    x, a = filled((3, 4))
    with pytest.raises(ValueError):
        xp.reshape(x.T, (12,), copy=False)
    for shape in ((12,), (2, 6), (6, 2)):
        y = xp.reshape(x.T, shape)
        assert_same(y, a.T.reshape(shape))
        assert not strided.shares_storage(y, x)
        z = xp.reshape(x, shape)
        assert strided.shares_storage(z, x)
        assert strided.shares_storage(xp.reshape(x, shape, copy=False), x)
        c = xp.reshape(x, shape, copy=True)
        assert_same(c, a.reshape(shape))
        assert not strided.shares_storage(c, x)
    # Transposed, yet each new axis lies within an old one.
    assert strided.shares_storage(xp.reshape(x.T, (2, 2, 3), copy=False), x)
    stretched = xp.broadcast_to(x[:1], (3, 4))
    assert strided.strides(xp.reshape(stretched, (3, 2, 2), copy=False)) == (0, 2, 1)
    with pytest.raises(ValueError):
        xp.reshape(stretched, (12,), copy=False)


def test_squeeze_wants_its_axis_named():
    batch_of_one = xp.zeros((1, 3, 1))
    with pytest.raises(TypeError):
        xp.squeeze(batch_of_one)
    assert xp.squeeze(batch_of_one, axis=-1).shape == (1, 3)
    with pytest.raises(ValueError):
        xp.squeeze(batch_of_one, axis=1)


# --- in place


def test_the_target_keeps_its_shape_and_dtype():
    x, a = filled((5, 3, 4, 1))
    y, b = filled((3, 1, 1))
    before = x
    x += y
    assert x is before
    assert_same(x, a + b)
    small = xp.ones(3, dtype=xp.float32)
    small += xp.ones(3, dtype=xp.int8)
    small *= 2
    assert_same(small, np.full(3, 4, dtype=np.float32))
    for other in (xp.ones(3), xp.ones(3, dtype=xp.complex64), 1j, xp.ones(3, dtype=xp.int32)):
        with pytest.raises(TypeError):
            small += other
    assert_same(small, np.full(3, 4, dtype=np.float32))


@pytest.mark.parametrize(
    "op", [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow]
)
def test_the_target_does_not_grow(op):
    x = xp.ones((1, 3, 1))
    with pytest.raises(xp.BroadcastError, match="would have to grow from 1 to 7") as caught:
        op(x, xp.ones((3, 1, 7)))
    assert caught.value.axis == -1
    assert_same(x, np.ones((1, 3, 1)))
    for shape in ((2, 1, 3, 1), (1, 1, 3, 1), (4, 3, 1)):
        with pytest.raises(xp.BroadcastError):
            op(x, xp.ones(shape))
    scalar = xp.ones(())
    with pytest.raises(xp.BroadcastError):
        op(scalar, xp.ones(1))
    assert_same(scalar, np.ones(()))


def test_assignment_broadcasts_into_the_target():
    x = xp.zeros((2, 3, 4))
    a, b = filled((1, 3, 4))
    x[...] = a
    assert_same(x, np.broadcast_to(b, (2, 3, 4)).copy())
    with pytest.raises(xp.BroadcastError):
        x[1, ...] = a
    x[1, ...] = a[0]
    x[:, 0] = 7
    x[:, :, 1:2] = xp.zeros((3, 1))
    expected = np.broadcast_to(b, (2, 3, 4)).copy()
    expected[:, 0] = 7
    expected[:, :, 1:2] = 0
    assert_same(x, expected)


def test_stretched_memory_is_refused_with_advice():
    v = xp.asarray([1.0, 2.0, 3.0])
    e = xp.broadcast_to(v, (4, 3))
    with pytest.raises(ValueError, match="several elements of the array share one memory location") as caught:
        e += 1
    assert "copy" in str(caught.value)
    assert_same(v, np.asarray([1.0, 2.0, 3.0]))
    own = xp.asarray(e, copy=True)
    own += 1
    assert_same(own, np.broadcast_to([2.0, 3.0, 4.0], (4, 3)))


# --- alpha


@pytest.mark.parametrize("dtype", DTYPES[1:])
@pytest.mark.parametrize("layouts", [("C", "C"), ("transposed", "C"), ("negative", "sliced"), ("0-d", "3-d")])
def test_add_takes_alpha(dtype, layouts):
    x, a = pair(dtype, layouts[0])
    y, b = pair(dtype, layouts[1])
    if layouts in (("transposed", "C"), ("negative", "sliced")):
        y, b = y[:1, :1], b[:1, :1]
    for alpha in (
        (1, 2, 0, 3) + ((-1,) if not dtype.startswith("u") else ()) + ((0.5,) if dtype[0] in "fc" else ())
    ):
        with np.errstate(all="ignore"):
            assert_same(
                xp.add(x, y, alpha=alpha), a + np.asarray(alpha, dtype) * b, rtol=1e-6, what=f"{alpha}"
            )
    assert_same(xp.add(x, y), a + b)


def test_alpha_takes_part_in_promotion_like_any_scalar():
    x, a = both(np.arange(3, dtype=np.int16))
    assert_same(xp.add(x, x, alpha=2), a * 3)
    assert xp.add(x, x, alpha=0.5).dtype is (x + 0.5 * x).dtype
    f = xp.ones(3, dtype=xp.float32)
    assert xp.add(f, f, alpha=0.5).dtype is xp.float32
    assert xp.add(f, f, alpha=1j).dtype is xp.complex64
    assert_same(xp.add(x, 1, alpha=10), a + 10)
    assert_same(xp.add(1, x, alpha=10), 1 + 10 * a)
    assert_same(xp.add(x[:, None], x[None, :], alpha=3), a[:, None] + 3 * a)
    for alpha in ("2", None, [2], {}):
        with pytest.raises(TypeError):
            xp.add(x, x, alpha=alpha)
    with pytest.raises(OverflowError):
        xp.add(x, x, alpha=2**70)


def test_alpha_overflows_like_a_product():
    x, a = both(np.asarray([100, -100], dtype=np.int8))
    with np.errstate(all="ignore"):
        assert_same(xp.add(x, x, alpha=3), a + np.int8(3) * a)


# --- memory


def growth(call):
    """Return (result, allocations, bytes above what was in use, at most, during the call)."""
    before = strided.memory_statistics(reset_peak=True)
    out = call()
    after = strided.memory_statistics()
    return (
        out,
        after["allocations"] - before["allocations"],
        strided.memory_statistics()["peak_bytes"] - before["live_bytes"],
    )


BROADCASTS = {
    "same shape": lambda x, row, column: x + x,
    "row": lambda x, row, column: x + row,
    "column": lambda x, row, column: x * column,
    "outer": lambda x, row, column: row - column,
    "scalar": lambda x, row, column: x / 3,
    "0-d": lambda x, row, column: x + xp.broadcast_to(row[0], ()),
    "transposed": lambda x, row, column: x + x.T,
    "reversed": lambda x, row, column: x[::-1] + row[::-1],
    "stretched": lambda x, row, column: xp.broadcast_to(row, x.shape) + xp.broadcast_to(column, x.shape),
    "comparison": lambda x, row, column: x < row,
    "mixed dtypes": lambda x, row, column: x + ROW_OF_INT8,
    "three operands": lambda x, row, column: xp.where(CONDITION, row, column),
    "hypot": lambda x, row, column: xp.hypot(row, column),
    "alpha": lambda x, row, column: xp.add(row, column, alpha=0.5),
}
ROW_OF_INT8 = xp.ones(300, dtype=xp.int8)
CONDITION = xp.ones((300, 300), dtype=xp.bool)


@pytest.mark.parametrize("name", BROADCASTS)
def test_broadcasting_allocates_nothing_but_the_result(name):
    x = xp.zeros((300, 300))
    row, column = xp.zeros(300), xp.zeros((300, 1))
    out, allocations, peak = growth(lambda: BROADCASTS[name](x, row, column))
    assert out.shape == (300, 300)
    nbytes = 300 * 300 * (1 if out.dtype is xp.bool else 8)
    assert strided.storage_nbytes(out) == nbytes
    # A Python scalar beside an array may take one block of a few bytes.
    assert nbytes <= peak <= nbytes + 64
    assert allocations <= 2


@pytest.mark.parametrize("dtype", ["int8", "float32", "complex64"])
def test_in_place_and_casts_allocate_nothing(dtype):
    x = xp.zeros((300, 300), dtype=xp.complex128)
    y = xp.ones((300, 1), dtype=getattr(xp, dtype))

    def work():
        nonlocal x
        x += y
        x[::2] = y[::2]
        x *= y.T
        x[...] = 3
        return x

    _, _, peak = growth(work)
    assert peak <= 64


def test_reductions_of_stretched_arrays_make_no_copy_of_them():
    tall = xp.broadcast_to(xp.asarray([1.0, 2.0, 3.0]), (100_000, 3))
    out, _, peak = growth(lambda: xp.sum(tall, axis=0))
    assert_same(out, np.asarray([1e5, 2e5, 3e5]))
    assert peak <= 1024
    out, _, peak = growth(lambda: xp.max(tall))
    assert peak <= 1024
