"""Manipulation functions: against NumPy over dtypes and layouts; and which results are views."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from helpers import DTYPES, INTEGERS, LAYOUTS, assert_same, axes_of, both, pair, pairs, same
from hypothesis import given
from hypothesis import strategies as st

import stride0 as xp
from stride0 import strided

ALL = list(pairs(["bool", "int16", "float32", "complex128"], special=True))


def c_order(shape):
    return tuple(int(np.prod(shape[k + 1 :])) for k in range(len(shape)))


def test_broadcast_to():
    for what, (x, a) in ALL:
        for shape in (a.shape, (2, *a.shape), (3, 0, *a.shape), (2, 3), (1,), ()):
            same(lambda ns, v, shape=shape: ns.broadcast_to(v, shape), (x, a), what=what)


def test_broadcast_to_is_a_view_with_stride_0():
    x = xp.reshape(xp.arange(3), (1, 3))
    y = xp.broadcast_to(x, (4, 3))
    assert (strided.strides(y), strided.offset(y), strided.shares_storage(x, y)) == ((0, 1), 0, True)
    z = xp.broadcast_to(xp.reshape(x, (1, 3, 1)), (2, 5, 3, 7))
    assert strided.strides(z) == (0, 0, 1, 0)
    assert_same(z, np.broadcast_to(np.arange(3).reshape(1, 3, 1), (2, 5, 3, 7)))


def test_broadcast_to_errors():
    with pytest.raises(ValueError, match="operands could not be broadcast together") as caught:
        xp.broadcast_to(xp.zeros((2, 3)), (2, 4))
    assert str(caught.value) == (
        "broadcast_to: operands could not be broadcast together at axis -1\n\n"
        "    x           (2, 3)\n"
        "    the shape   (2, 4)\n"
        "                    ^\n"
        "    axis -1 has size 3 in x and 4 in the shape; sizes must be equal, or one of them 1."
    )
    with pytest.raises(ValueError, match="axis -1 of the shape would have to grow from 1 to 3"):
        xp.broadcast_to(xp.zeros((2, 3)), (2, 1))
    with pytest.raises(ValueError, match="the shape needs an axis -2"):
        xp.broadcast_to(xp.zeros((1, 3)), (3,))
    with pytest.raises(ValueError, match="negative"):
        xp.broadcast_to(xp.zeros(3), (-1, 3))
    with pytest.raises(TypeError):
        xp.broadcast_to(np.zeros(3), (3,))


def test_broadcast_arrays():
    x, a = both(np.arange(4.0).reshape(4, 1))
    y, b = both(np.arange(3, dtype="int8"))
    z, c = both(np.asarray(True))
    same(lambda ns, *v: ns.broadcast_arrays(*v), (x, a), (y, b), (z, c))
    for view, source in zip(xp.broadcast_arrays(x, y, z), (x, y, z), strict=True):
        assert strided.shares_storage(view, source)
    assert xp.broadcast_arrays() == ()
    with pytest.raises(ValueError, match=r"axis -1 has size 3 in arrays\[1\] and 4 in arrays\[2\]"):
        xp.broadcast_arrays(x, y, xp.zeros(4))
    with pytest.raises(TypeError, match=r"arrays\[1\] must be"):
        xp.broadcast_arrays(x, 3)


def test_broadcast_shapes():
    assert xp.broadcast_shapes() == ()
    assert xp.broadcast_shapes((3,)) == (3,)
    assert xp.broadcast_shapes((4, 1), (3,), (2, 1, 1)) == (2, 4, 3)
    with pytest.raises(ValueError, match="axis -1 has size 4 in shape 0 and 3 in shape 1") as caught:
        xp.broadcast_shapes((3, 4), (3,))
    assert "insert" not in str(caught.value)
    with pytest.raises(ValueError, match="negative"):
        xp.broadcast_shapes((-1,))
    with pytest.raises(TypeError):
        xp.broadcast_shapes((None,))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_concat_and_stack(layout):
    for dtypes in (("int8", "int8"), ("int8", "uint8"), ("bool", "float32"), ("float32", "int16", "uint16")):
        operands = [pair(d, layout) for d in dtypes]
        ndim = operands[0][1].ndim
        for axis in (None, *range(-ndim - 2, ndim + 2)):
            same(lambda ns, *v, axis=axis: ns.concat(v, axis=axis), *operands)
            if axis is not None:
                same(lambda ns, *v, axis=axis: ns.stack(list(v), axis=axis), *operands)


def test_concat_of_different_sizes():
    x, y, z = both(np.ones((2, 3))), both(np.zeros((2, 0))), both(np.arange(8).reshape(2, 4))
    same(lambda ns, *v: ns.concat(v, axis=1), x, y, z)
    same(lambda ns, *v: ns.concat(v, axis=None), x, y, z)
    same(lambda ns, *v: ns.concat(v, axis=0), x, y)
    same(lambda ns, *v: ns.stack(v), x, y)
    same(lambda ns, *v: ns.concat(v), both(np.zeros((0, 3))), both(np.zeros((0, 3))))


@pytest.mark.parametrize("rows", [1, 2, 31, 32, 33, 1000])
@pytest.mark.parametrize("columns", [(1, 1), (1, 4), (3, 2, 1), (40, 9), (1, 700), (700, 1)])
def test_concat_of_few_and_many_runs(rows: int, columns: tuple[int, ...]) -> None:
    pairs = [both(np.arange(k, k + rows * k, dtype=float).reshape(rows, k)) for k in columns]
    same(lambda ns, *v: ns.concat(v, axis=1), *pairs)
    if rows == 1:
        same(lambda ns, *v: ns.concat([ns.reshape(x, (-1,)) for x in v]), *pairs)


@pytest.mark.parametrize("size", [510, 513, 40_000])
def test_rolled_short_and_long(size: int) -> None:
    for shift in (1, 7, -1):
        same(lambda ns, v, n=shift: ns.roll(v, n), both(np.arange(size)))


def test_joining_copies():
    x = xp.arange(3)
    assert not strided.shares_storage(xp.concat([x]), x)
    assert not strided.shares_storage(xp.stack([x]), x)


def test_joining_refuses():
    with pytest.raises(ValueError, match="at least one array"):
        xp.concat([])
    with pytest.raises(ValueError, match="at least one array"):
        xp.stack(())
    with pytest.raises(ValueError, match=r"arrays\[1\] does not fit arrays\[0\]"):
        xp.concat([xp.zeros((2, 3)), xp.zeros((3, 2))])
    with pytest.raises(ValueError, match="the shapes of arrays"):
        xp.stack([xp.zeros(2), xp.zeros(3)])
    for arrays in (xp.zeros((2, 2)), [np.zeros(2)], [1, 2], 3):
        for join in (xp.concat, xp.stack):
            with pytest.raises(TypeError):
                join(arrays)


def test_expand_dims():
    for what, (x, a) in ALL:
        for axis in (0, -1, a.ndim, -a.ndim - 1, a.ndim + 1, (0, 1), (0, -1), (-1, 0), (), (0, 0), (0, 9)):
            same(lambda ns, v, axis=axis: ns.expand_dims(v, axis), (x, a), what=f"{what} {axis}")
        assert strided.shares_storage(xp.expand_dims(x, 0), x)
    with pytest.raises(IndexError):
        xp.expand_dims(xp.zeros(2), 5)
    for axis in (None, 0.5, "0"):
        with pytest.raises(TypeError):
            xp.expand_dims(xp.zeros(2), axis)
    with pytest.raises(ValueError, match="too many"):
        xp.expand_dims(xp.zeros((1,) * 64), 0)


def test_squeeze():
    x, a = both(np.arange(6).reshape(1, 2, 1, 3, 1))
    for axis in (0, 2, -1, (0, 2), (-1, 0, 2), (), 1, (0, 1), (0, 0), 5):
        same(lambda ns, v, axis=axis: ns.squeeze(v, axis=axis), (x, a), what=str(axis))
    y = xp.squeeze(x, axis=(0, 4))
    assert (y.shape, strided.shares_storage(x, y)) == ((2, 1, 3), True)
    with pytest.raises(TypeError):
        xp.squeeze(x)
    with pytest.raises(TypeError, match="not None"):
        xp.squeeze(x, None)
    with pytest.raises(ValueError, match="axis 1 has size 2, not 1"):
        xp.squeeze(x, axis=1)


def test_flip():
    for what, (x, a) in ALL:
        for axis in (None, *range(-a.ndim - 1, a.ndim + 1), tuple(range(a.ndim)), ()):
            same(lambda ns, v, axis=axis: ns.flip(v, axis=axis), (x, a), what=f"{what} {axis}")
        assert strided.shares_storage(xp.flip(x), x)
    y = xp.flip(xp.reshape(xp.arange(6), (2, 3)), axis=1)
    assert (strided.strides(y), strided.offset(y)) == ((3, -1), 2)
    with pytest.raises(ValueError, match="more than once"):
        xp.flip(xp.zeros((2, 2)), axis=(0, -2))


def test_moveaxis():
    for what, (x, a) in ALL:
        for source in range(-a.ndim - 1, a.ndim + 1):
            for target in range(-a.ndim - 1, a.ndim + 1):
                same(lambda ns, v, s=source, t=target: ns.moveaxis(v, s, t), (x, a), what=what)
    x, a = both(np.arange(24).reshape(1, 2, 3, 4))
    for source, target in (
        ((0, 1), (2, 3)),
        ((0, 1), (-1, -2)),
        ((3, 2, 0), (0, 1, 2)),
        ((0, 0), (1, 2)),
        ((0, 1), (2,)),
    ):
        same(lambda ns, v, s=source, t=target: ns.moveaxis(v, s, t), (x, a))
    assert strided.shares_storage(xp.moveaxis(x, 0, 1), x)
    with pytest.raises(TypeError):
        xp.moveaxis(x, None, 0)


def test_permute_dims():
    for what, (x, a) in ALL:
        for axes in permutations(range(a.ndim)):
            same(lambda ns, v, axes=axes: ns.permute_dims(v, axes), (x, a), what=what)
            negative = tuple(k - a.ndim for k in axes)
            same(lambda ns, v, axes=negative: ns.permute_dims(v, axes), (x, a), what=what)
    x = xp.reshape(xp.arange(6), (2, 3))
    y = xp.permute_dims(x, (1, 0))
    assert (y.shape, strided.strides(y), strided.shares_storage(x, y)) == ((3, 2), (1, 3), True)
    for axes in ((0,), (0, 0), (0, 1, 2), (0, 2), ()):
        with pytest.raises(ValueError, match="permute_dims"):
            xp.permute_dims(x, axes)
    for axes in (0, None, "10"):
        with pytest.raises(TypeError):
            xp.permute_dims(x, axes)


RESHAPES = [
    (24,),
    (4, 6),
    (-1,),
    (2, -1),
    (6, 4),
    (2, 3, 4),
    (0,),
    (0, -1),
    (-1, 0),
    (),
    (1, 1),
    (5,),
    (-1, -1),
]


def test_reshape():
    for what, (x, a) in ALL:
        for shape in (*RESHAPES, a.shape, (1, *a.shape, 1), a.shape[::-1]):
            for copy in (None, True, False):
                call = f"{what} {shape} {copy=}"
                same(lambda ns, v, s=shape, c=copy: ns.reshape(v, s, copy=c), (x, a), what=call)
                try:
                    y = xp.reshape(x, shape, copy=copy)
                except ValueError:
                    continue
                expected = (
                    np.shares_memory(np.reshape(a, shape, copy=copy), a) if a.size else copy is not True
                )
                assert strided.shares_storage(x, y) is expected, call


def test_reshape_facts():
    x = xp.reshape(xp.arange(12), (3, 4))
    with pytest.raises(ValueError) as caught:
        xp.reshape(x.T, (12,), copy=False)
    assert str(caught.value) == (
        "reshape: a view is not possible, and copy=False forbids a copy\n\n"
        "    x         (4, 3)\n"
        "    strides   (1, 4)\n"
        "    shape     (12,)\n\n"
        "    write copy=None: it copies only if a view is not possible"
    )
    y = xp.reshape(x.T, (12,))
    assert not strided.shares_storage(x, y)
    z = xp.reshape(x, (2, 6), copy=True)
    assert not strided.shares_storage(x, z)
    assert strided.strides(z) == (6, 1)
    with pytest.raises(ValueError, match="negative"):
        xp.reshape(x, (-2, 6))
    for shape in (2.5, (3, 4.0), "12", None):
        with pytest.raises(TypeError):
            xp.reshape(x, shape)
    with pytest.raises(TypeError, match="copy"):
        xp.reshape(x, (12,), copy=1)


HUGE = 10**15 * 720720 + 5  # 5 plus a multiple of all sizes that occur


def test_roll():
    for what, (x, a) in ALL:
        assert_same(xp.roll(x, HUGE), np.roll(a, 5), what=what)
        for shift in (0, 1, -1, 5, -100):
            for axis in axes_of(a):
                same(
                    lambda ns, v, s=shift, k=axis: ns.roll(v, s, axis=k),
                    (x, a),
                    what=f"{what} {shift} {axis}",
                )
    x, a = both(np.arange(24).reshape(2, 3, 4))
    for shift, axis in (
        ((1, 2), (0, 1)),
        (1, (0, 2)),
        ((1, -1, 2), (2, 1, 0)),
        ((1, 1), (1, 1)),
        ((2,), (1,)),
        ((), ()),
    ):
        same(lambda ns, v, s=shift, k=axis: ns.roll(v, s, axis=k), (x, a))
    assert not strided.shares_storage(xp.roll(x, 0), x)
    for shift, axis in (((1, 2), None), ((1, 2), (0,)), ((1, 2), 0)):
        with pytest.raises(ValueError, match="roll"):
            xp.roll(x, shift, axis=axis)
    with pytest.raises(TypeError):
        xp.roll(x, 1.5)


def test_repeat():
    for what, (x, a) in ALL:
        for axis in axes_of(a):
            for count in (0, 1, 3):
                same(
                    lambda ns, v, n=count, k=axis: ns.repeat(v, n, axis=k),
                    (x, a),
                    what=f"{what} {count} {axis}",
                )


@pytest.mark.parametrize("dtype", INTEGERS)
def test_repeat_by_array(dtype):
    for what, (x, a) in ALL:
        for axis in (None, *range(a.ndim)):
            length = a.size if axis is None else a.shape[axis]
            for counts in (np.arange(length) % 3, (np.arange(length) + 2) % 3, np.zeros(length), [2], 2):
                n = both(np.asarray(counts, dtype))
                expected = np.repeat(a, n[1].astype("int64"), axis=axis)  # NumPy takes no uint64
                assert_same(xp.repeat(x, n[0], axis=axis), expected, what=f"{what} {axis} {counts}")


@pytest.mark.parametrize("size", [1000, 40_000])
def test_repeat_by_many_counts(size: int) -> None:
    counts = np.random.default_rng(3).integers(0, 4, size)
    for a in (np.arange(size), np.arange(2.0 * size).reshape(size, 2)):
        same(lambda ns, v, n: ns.repeat(v, n, axis=0), both(a), both(counts))


def test_repeat_refuses():
    x = xp.arange(3)
    for counts in (-1, xp.asarray([1, -1, 1]), xp.asarray([-1])):
        with pytest.raises(ValueError, match="must not be negative"):
            xp.repeat(x, counts)
    for counts in (xp.asarray([1, 2]), xp.asarray([[1, 2, 3]]), xp.asarray([], dtype=xp.int64)):
        with pytest.raises(ValueError, match="one for each element"):
            xp.repeat(x, counts)
    for counts in (1.0, xp.asarray([1.0]), xp.asarray([True]), None):
        with pytest.raises(TypeError):
            xp.repeat(x, counts)


@pytest.mark.parametrize(
    ("counts", "dtype"),
    [
        ([2**62] * 4, "int64"),  # 2**64 together
        ([2**62 + 1] * 4, "int64"),
        ([2**63 - 1] * 4, "int64"),
        ([2**63, 2**63, 1, 1], "uint64"),
        ([0, 2**63 + 1, 0, 0], "uint64"),
        ([2**64 - 1] * 4, "uint64"),
        ([2**64 - 1, 1, 0, 0], "uint64"),
        ([2**53, 1, 1, 1], "int64"),
        ([2**61] * 4, "uint64"),
    ],
)
def test_repeat_more_often_than_any_memory_holds(counts, dtype):
    x, n = xp.asarray([1, 2, 3, 4]), xp.asarray(counts, dtype=getattr(xp, dtype))
    wanted = (
        (MemoryError, "no memory|any memory") if sum(counts) < 2**63 else (ValueError, "too many elements")
    )
    for call in (lambda: xp.repeat(x, n), lambda: xp.repeat(xp.ones((2, 4)), n, axis=1)):
        with pytest.raises(wanted[0], match=wanted[1]):
            call()


def test_tile():
    for what, (x, a) in ALL:
        for counts in ((), (1,), (3,), (2, 3), (2, 1, 3), (0,), (2, 0), (1, 2, 1, 2)):
            same(lambda ns, v, n=counts: ns.tile(v, n), (x, a), what=f"{what} {counts}")
    x = xp.arange(3)
    assert not strided.shares_storage(xp.tile(x, (1,)), x)
    with pytest.raises(ValueError, match="negative"):
        xp.tile(x, (-1,))
    for counts in (2, (1.5,), None):
        with pytest.raises(TypeError):
            xp.tile(x, counts)


def test_as_many_axes_as_there_can_be():
    x, a = both(np.arange(4).reshape((1,) * 31 + (2,) + (1,) * 31 + (2,)))
    same(lambda ns, v: ns.tile(v, (1,) * 63 + (3,)), (x, a))
    same(lambda ns, v: ns.repeat(v, 3, axis=31), (x, a))
    same(lambda ns, v: ns.flip(v), (x, a))


def test_unstack():
    for what, (x, a) in ALL:
        for axis in range(-a.ndim - 1, a.ndim + 1):
            same(lambda ns, v, k=axis: ns.unstack(v, axis=k), (x, a), what=what)
    x = xp.reshape(xp.arange(6), (2, 3))
    parts = xp.unstack(x, axis=1)
    assert [strided.offset(p) for p in parts] == [0, 1, 2]
    assert all(strided.shares_storage(x, p) for p in parts)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(dtype):
    operand = pair(dtype, "sliced", special=True)
    for call in (
        lambda ns, v: ns.concat([v, v], axis=1),
        lambda ns, v: ns.stack([v, v], axis=1),
        lambda ns, v: ns.roll(v, (1, 1), axis=(0, 1)),
        lambda ns, v: ns.tile(v, (2, 2)),
        lambda ns, v: ns.repeat(v, 2),
        lambda ns, v: ns.repeat(v, ns.asarray([2, 0, 1]), axis=0),
        lambda ns, v: ns.reshape(v, (-1,)),
        lambda ns, v: ns.flip(v),
    ):
        same(call, operand)


@given(st.lists(st.integers(1, 3), max_size=4).map(tuple), st.data())
def test_views_of_views(shape, data):
    """Chains of views reach the elements that NumPy's reach."""
    operand = both(np.arange(int(np.prod(shape))).reshape(shape))

    def chain(ns, v, steps):
        for name, *rest in steps:
            v = getattr(ns, name)(v, *rest)
        return v

    steps, ndim = [], len(shape)
    for _ in range(data.draw(st.integers(1, 5))):
        name = data.draw(st.sampled_from(["flip", "permute_dims", "expand_dims", "moveaxis", "reshape"]))
        if name == "permute_dims":
            steps.append((name, tuple(data.draw(st.permutations(range(ndim))))))
        elif name == "expand_dims":
            steps.append((name, data.draw(st.integers(-ndim - 1, ndim))))
            ndim += 1
        elif name == "moveaxis" and ndim:
            steps.append((name, *data.draw(st.tuples(*[st.integers(-ndim, ndim - 1)] * 2))))
        elif name == "reshape":
            steps.append((name, (-1, 1)))
            ndim = 2
        else:
            steps.append(("flip",))
    same(lambda ns, v: chain(ns, v, steps), operand, what=str(steps))


def test_c_order_of_new_arrays():
    x = xp.reshape(xp.arange(24), (2, 3, 4))
    for y in (
        xp.concat([x.mT, x.mT]),
        xp.stack([x.mT]),
        xp.roll(x.mT, 1),
        xp.tile(x.mT, (2, 1, 1)),
        xp.repeat(x, 2, axis=0),
    ):
        assert strided.strides(y) == c_order(y.shape)


@pytest.mark.parametrize("shape", [(9,), (4,), (2, 9), (4, 2), (0, 2), (1,)])
@pytest.mark.parametrize("count", [2**62, (2**64 + 2) // 9, 2**63 - 1])
def test_more_repetitions_than_memory_holds(shape, count):
    for dtype in (xp.uint8, xp.float64):
        x = xp.ones(shape, dtype=dtype)
        for axis in (*range(x.ndim), None):
            elements = count * (x.size if axis is None else shape[axis])
            rest = 1 if axis is None else x.size // max(shape[axis], 1)
            if elements < 2**63 and elements * rest == 0:
                assert xp.repeat(x, count, axis=axis).size == 0
                continue
            with pytest.raises((ValueError, MemoryError)):
                xp.repeat(x, count, axis=axis)


def test_repeats_that_no_array_has_room_for() -> None:
    for number in (2**63 + 5, 2**64 - 1):
        with pytest.raises(xp.ShapeError):
            xp.repeat(xp.ones(1), xp.asarray([number], dtype=xp.uint64))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_joined_arrays_keep_the_memory_order_of_fortran(axis: int) -> None:
    a = np.arange(24.0).reshape(4, 3, 2)
    x = xp.permute_dims(xp.asarray(a), (2, 1, 0))
    joined = xp.concat([x, x], axis=axis)
    np.testing.assert_array_equal(np.asarray(joined), np.concatenate([a.T, a.T], axis=axis))
    assert np.asarray(joined).flags.f_contiguous
    for place in (axis, axis - 4):
        stacked = xp.stack([x, x], axis=place)
        np.testing.assert_array_equal(np.asarray(stacked), np.stack([a.T, a.T], axis=place))
        assert np.asarray(stacked)[(slice(None),) * (place % 4) + (0,)].flags.f_contiguous
    mixed = xp.concat([x, xp.asarray(a.T, copy=True)], axis=axis)
    np.testing.assert_array_equal(np.asarray(mixed), np.asarray(joined))
    nothing = xp.concat([x[:, :0], x[:, :0]], axis=axis)
    assert nothing.shape == np.concatenate([a.T[:, :0], a.T[:, :0]], axis=axis).shape
