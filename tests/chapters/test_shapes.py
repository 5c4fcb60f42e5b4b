"""Arithmetic of shapes and strides, against NumPy and against the table of broadcasting."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stride0 as xp
from stride0._base import shapes as sh
from stride0._base.devices import CPU, Device, check_device
from stride0._base.errors import ArgumentTypeError, AxisError, BroadcastError, DeviceError, ShapeError

sizes = st.integers(0, 4)
shapes = st.lists(sizes, max_size=5).map(tuple)

TABLE = [
    ((5, 7, 3), (5, 7, 3), (5, 7, 3)),
    ((0,), (2, 2), None),
    ((5, 3, 4, 1), (3, 1, 1), (5, 3, 4, 1)),
    ((5, 2, 4, 1), (3, 1, 1), None),
    ((5, 1, 4, 1), (3, 1, 1), (5, 3, 4, 1)),
    ((1,), (3, 1, 7), (3, 1, 7)),
    ((2, 3), (3,), (2, 3)),
    ((4, 1), (3,), (4, 3)),
    ((4, 1), (4,), (4, 4)),
    ((3,), (3, 1), (3, 3)),
    ((3, 1), (1, 4), (3, 4)),
    ((2, 3, 1), (3,), (2, 3, 3)),
    ((5, 1, 4), (3, 4), (5, 3, 4)),
    ((10, 1, 3, 4), (20, 3, 1), (10, 20, 3, 4)),
    ((5, 6), (5, 6, 10), None),
    ((5, 6, 1), (5, 6, 10), (5, 6, 10)),
    ((5, 6), (10,), None),
    ((5, 6, 1), (1, 1, 10), (5, 6, 10)),
    ((2, 3, 4, 5, 1, 1, 1), (4, 1, 6, 7, 8), (2, 3, 4, 5, 6, 7, 8)),
    ((2, 3), (2, 4), None),
    ((8, 1, 6, 1), (7, 1, 5), (8, 7, 6, 5)),
    ((15, 3, 5), (15, 3), None),
    ((), (4, 0, 2), (4, 0, 2)),
    ((32, 3, 224, 224), (1, 3, 1, 1), (32, 3, 224, 224)),
    ((0, 3), (1, 3), (0, 3)),
    ((0,), (2,), None),
    ((0,), (1,), (0,)),
]


@pytest.mark.parametrize(("first", "second", "result"), TABLE)
def test_table(first, second, result):
    for operands in ([("x1", first), ("x2", second)], [("x1", second), ("x2", first)]):
        if result is None:
            with pytest.raises(BroadcastError):
                sh.broadcast_shapes("add", operands)
        else:
            assert sh.broadcast_shapes("add", operands) == result


@given(st.lists(st.lists(st.sampled_from([0, 1, 1, 2, 3]), max_size=4).map(tuple), max_size=4))
def test_broadcast_shapes_like_numpy(many):
    operands = [(f"x{i}", shape) for i, shape in enumerate(many)]
    try:
        expected = np.broadcast_shapes(*many)
    except ValueError:
        with pytest.raises(BroadcastError) as caught:
            sh.broadcast_shapes("add", operands)
        axis, found = caught.value.axis, caught.value.sizes
        assert len({n for n in found if n not in (None, 1)}) > 1
        assert found == tuple(s[axis] if -axis <= len(s) else None for s in many)
        assert str(caught.value)
    else:
        assert sh.broadcast_shapes("add", operands) == expected


def test_normalize_axis():
    assert [sh.normalize_axis("sum", k, 3) for k in (0, 2, -1, -3, np.int8(1))] == [0, 2, 2, 0, 1]
    for axis, ndim in ((3, 3), (-4, 3), (0, 0), (-1, 0), (10**30, 2)):
        with pytest.raises(AxisError):
            sh.normalize_axis("sum", axis, ndim)
    for axis in (1.0, "0", None, True, np.True_, (0,)):
        with pytest.raises(ArgumentTypeError):
            sh.normalize_axis("sum", axis, 3)


def test_normalize_axis_text():
    with pytest.raises(AxisError) as caught:
        sh.normalize_axis("sum", 2, 2)
    assert str(caught.value) == (
        "sum: axis 2 is out of bounds for array with 2 axes\n\n    pass an axis from -2 to 1"
    )


def test_normalize_axes():
    assert sh.normalize_axes("sum", None, 3) == (0, 1, 2)
    assert sh.normalize_axes("sum", None, 0) == ()
    assert sh.normalize_axes("sum", (), 3) == ()
    assert sh.normalize_axes("sum", (-1, 0), 3) == (2, 0)
    assert sh.normalize_axes("sum", 1, 3) == (1,)
    for axis in ((0, -3), (3,), 3):
        with pytest.raises(AxisError):
            sh.normalize_axes("sum", axis, 3)
    for axis in (1.0, (0, 1.0), "01", True):
        with pytest.raises(ArgumentTypeError):
            sh.normalize_axes("sum", axis, 3)


def test_normalize_shape():
    assert sh.normalize_shape("zeros", 3) == (3,)
    assert sh.normalize_shape("zeros", ()) == ()
    assert sh.normalize_shape("zeros", [2, np.int64(3)]) == (2, 3)
    assert sh.normalize_shape("zeros", range(2, 4)) == (2, 3)
    assert sh.normalize_shape("zeros", np.asarray([2, 3])) == (2, 3)
    assert sh.normalize_shape("zeros", np.asarray(2)) == (2,)
    assert sh.normalize_shape("zeros", (0, 5)) == (0, 5)
    assert all(type(n) is int for n in sh.normalize_shape("zeros", np.asarray([2, 3])))
    for shape in (-1, (2, -1), (2**32, 2**32), (0, 2**40, 2**40), (1,) * 65):
        with pytest.raises(ShapeError):
            sh.normalize_shape("zeros", shape)
    for shape in (1.0, (1.0,), "12", b"12", None, True, (2, True), ((2,),)):
        with pytest.raises(ArgumentTypeError):
            sh.normalize_shape("zeros", shape)
    assert len(sh.normalize_shape("zeros", (1,) * 64)) == 64


def test_infer_shape():
    assert sh.infer_shape("reshape", 6, (2, -1)) == (2, 3)
    assert sh.infer_shape("reshape", 6, -1) == (6,)
    assert sh.infer_shape("reshape", 0, (-1, 3)) == (0, 3)
    assert sh.infer_shape("reshape", 1, ()) == ()
    assert sh.infer_shape("reshape", 0, (5, 0)) == (5, 0)
    for size, shape in (
        (6, (4, -1)),
        (6, (-1, -1)),
        (6, (5,)),
        (6, ()),
        (0, (0, -1)),
        (6, (-2, -3)),
        (6, (0, -1)),
    ):
        with pytest.raises(ShapeError):
            sh.infer_shape("reshape", size, shape)


@given(shapes, st.data())
def test_infer_shape_like_numpy(shape, data):
    new = data.draw(st.lists(st.sampled_from([-1, 0, 1, 2, 3, 4, 6]), max_size=4).map(tuple))
    a = np.zeros(shape)
    try:
        expected = a.reshape(new).shape
    except ValueError:
        with pytest.raises(ShapeError):
            sh.infer_shape("reshape", a.size, new)
    else:
        assert sh.infer_shape("reshape", a.size, new) == expected


@given(shapes)
def test_c_strides_and_size(shape):
    a = np.zeros(shape, np.int8)
    assert sh.size_of(shape) == a.size
    if a.size:
        assert sh.c_strides(shape) == a.strides


def strided_array(shape, order, steps, broadcast):
    """Return an array of distinct integers, with axes permuted, sliced by `steps` and partly broadcast."""
    ndim = len(shape)
    big = tuple(n * abs(s) for n, s in zip(shape, steps, strict=True))
    base = np.arange(math.prod(big)).reshape([big[k] for k in order])
    a = base.transpose([order.index(k) for k in range(ndim)])
    a = a[tuple(slice(None, None, s) for s in steps)]
    for k in broadcast:
        if a.shape[k]:
            a = np.broadcast_to(np.take(a, [0], axis=k), (*a.shape[:k], shape[k], *a.shape[k + 1 :]))
    return a


@st.composite
def equal_sizes(draw, factors=(1, 2, 2, 3)):
    """Two shapes of equal size that often fit together: one list of factors, grouped in two ways."""
    drawn = draw(st.lists(st.sampled_from(factors), max_size=5))
    shapes = []
    for _ in range(2):
        shape, run = [], 1
        for f in drawn:
            run *= f
            if draw(st.booleans()):
                shape.append(run)
                run = 1
        shapes.append((*shape, *([run] if run != 1 or draw(st.booleans()) else [])))
    return tuple(shapes)


@st.composite
def strided_and_new_shape(draw):
    shape, new = draw(equal_sizes())
    order = draw(st.one_of(st.just(list(range(len(shape)))), st.permutations(range(len(shape)))))
    steps = draw(st.lists(st.sampled_from([1, 1, 1, -1, 2]), min_size=len(shape), max_size=len(shape)))
    broadcast = [k for k in range(len(shape)) if draw(st.integers(0, 4)) == 0]
    return strided_array(shape, list(order), steps, broadcast), draw(
        st.one_of(st.just(new), st.permutations(new))
    )


def view_strides(shape, strides, new):
    """Strides of the view that `reshape` makes of an array; None if it must copy."""
    reaches = [(n - 1) * s for n, s in zip(shape, strides, strict=True) if n]
    first = -sum(reach for reach in reaches if reach < 0)
    memory = xp.arange(first + sum(reach for reach in reaches if reach > 0) + 1)
    x = xp.strided.as_strided(memory, tuple(shape), tuple(strides), first)
    try:
        return xp.strided.strides(xp.reshape(x, tuple(new), copy=False))
    except xp.ShapeError:
        return None


@given(strided_and_new_shape())
def test_view_strides_like_numpy(case):
    a, new = case
    new = tuple(new)
    strides = tuple(s // a.itemsize for s in a.strides)
    got = view_strides(a.shape, strides, new)
    try:
        expected = np.reshape(a, new, copy=False)
    except ValueError:
        assert got is None
        return
    assert got is not None
    for n, mine, numpys in zip(new, got, expected.strides, strict=True):
        assert n <= 1 or mine * a.itemsize == numpys
    view = np.lib.stride_tricks.as_strided(a, new, tuple(s * a.itemsize for s in got))
    assert np.array_equal(view, np.reshape(a, new))


@given(equal_sizes((0, 1, 2, 3)), st.lists(st.integers(-20, 20), min_size=6, max_size=6))
def test_view_strides_never_lie(both, strides):
    shape, new = both
    # For any strides (even of no array), a view must read the same places in the same order.

    def places(shape, strides):
        return [sum(i * s for i, s in zip(index, strides, strict=True)) for index in np.ndindex(*shape)]

    got = view_strides(shape, strides[: len(shape)], new)
    if got is not None:
        assert places(new, got) == places(shape, strides[: len(shape)])


def test_view_strides_facts():
    assert view_strides((3, 4), (1, 3), (12,)) is None
    assert view_strides((3, 4), (4, 1), (12,)) == (1,)
    assert view_strides((4, 3), (0, 1), (12,)) is None
    assert view_strides((4, 3), (0, 0), (12,)) == (0,)
    assert view_strides((12,), (-1,), (3, 4)) == (-4, -1)
    assert view_strides((1, 3, 1), (99, 1, 99), (3,)) == (1,)
    assert view_strides((), (), (1, 1)) == (1, 1)
    assert view_strides((0, 5), (77, 3), (3, 0)) == (1, 1)
    assert view_strides((2, 3, 4), (1, 8, 2), (2, 12)) == (1, 2)


def test_devices():
    assert (repr(CPU), str(CPU)) == ("Device('cpu')", "cpu")
    assert Device("cpu") == CPU
    assert len({CPU, Device("cpu")}) == 1
    assert CPU != "cpu"
    assert (
        check_device("zeros", None)
        is check_device("zeros", "cpu")
        is check_device("zeros", Device("cpu"))
        is CPU
    )
    for device in ("gpu", 0, "CPU"):
        with pytest.raises(DeviceError, match="zeros"):
            check_device("zeros", device)
    with pytest.raises(DeviceError):
        Device("cuda")
    with pytest.raises(AttributeError):
        CPU.name = "gpu"  # type: ignore[misc]
