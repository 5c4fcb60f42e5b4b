"""`at` and `put_along_axis`: against NumPy's in-place forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0.autograd import grad, vmap
from stride0.testing import check_grad, flags

RNG = np.random.default_rng(0)
KEYS: tuple[Any, ...] = (
    0,
    slice(1, 3),
    (slice(None), 1),
    ...,
    np.array([0, 2, 2, 0]),
    (np.array([0, 2, 2]), np.array([1, 1, 1])),
    (slice(None), np.array([3, 3])),
    np.array([True, False, True]),
    (np.array([-1, -1]), slice(0, 2)),
)


def ours(key: Any) -> Any:
    if isinstance(key, tuple):
        return tuple(ours(item) for item in key)
    return xp.asarray(key) if isinstance(key, np.ndarray) else key


@pytest.mark.parametrize(
    "dtype", ["float64", "float32", "float16", "complex64", "int64", "int8", "uint16", "uint32"]
)
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_add_and_subtract_take_all_values(key: Any, dtype: str) -> None:
    for layout in (lambda a: a, np.asfortranarray, lambda a: a[:, ::-1], lambda a: np.repeat(a, 2, 0)[::2]):
        a = layout((RNG.random((3, 4)) * 20).astype(dtype))
        x = xp.asarray(a)
        for values in ((RNG.random(a[key].shape) * 9).astype(dtype), np.asarray(3, dtype)):
            for name, ufunc in (("add", np.add), ("subtract", np.subtract)):
                wanted = a.copy()
                ufunc.at(wanted, key, values)
                found = getattr(xp.at(x)[ours(key)], name)(xp.asarray(values))
                assert found.dtype == x.dtype
                np.testing.assert_allclose(
                    np.asarray(found), wanted, rtol=1e-2 if dtype == "float16" else 1e-6
                )
        assert np.array_equal(x, a)
    assert np.array_equal(xp.at(x, ours(key)).add(1), xp.at(x)[ours(key)].add(1))


@pytest.mark.parametrize("key", [KEYS[k] for k in (0, 1, 2, 3, 7)] + [np.array([2, 0])], ids=str)
def test_other_methods(key: Any) -> None:
    a = RNG.random((3, 4)) + 0.5
    x, values = xp.asarray(a), RNG.random(a[key].shape) + 0.5
    for name, function in (
        ("set", lambda old, new: new),
        ("multiply", np.multiply),
        ("divide", np.divide),
        ("power", np.power),
        ("min", np.minimum),
        ("max", np.maximum),
    ):
        wanted = a.copy()
        wanted[key] = function(wanted[key], values)
        found = getattr(xp.at(x)[ours(key)], name)(xp.asarray(values))
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-15)
        assert np.array_equal(x, a)


def test_errors_of_at() -> None:
    x = xp.ones((3, 4))
    twice = xp.asarray([1, 1])
    for name in ("multiply", "divide", "power", "min", "max"):
        with pytest.raises(xp.ArgumentValueError, match="several times"):
            getattr(xp.at(x)[twice], name)(2.0)
    with pytest.raises(xp.OutOfBoundsError):
        xp.at(x)[xp.asarray([3])].add(1.0)
    with pytest.raises(xp.DTypeError):
        xp.at(x)[0].add(xp.asarray(1j))
    with pytest.raises(xp.DTypeError):
        xp.at(xp.asarray([1, 2]))[0].add(xp.asarray(1.5))
    with pytest.raises(xp.DTypeError):
        xp.at(xp.asarray([True]))[0].add(True)
    with pytest.raises(xp.BroadcastError):
        xp.at(x)[0].add(xp.ones(3))
    with pytest.raises(xp.ForeignArrayError):
        xp.at([1.0])  # type: ignore[arg-type]
    assert np.array_equal(x, np.ones((3, 4)))


def test_gradients() -> None:
    x, v, places = xp.asarray(RNG.random(4)), xp.asarray(RNG.random(3)), xp.asarray([1, 3, 3])
    check_grad(lambda x, v: xp.sum(xp.at(x)[places].add(v) ** 3), x, v)
    check_grad(lambda x, v: xp.sum(xp.at(x)[places].subtract(v[0]) ** 3), x, v)
    check_grad(lambda x, v: xp.sum(xp.at(x)[1:].set(v) ** 3), x, v)
    check_grad(lambda x, v: xp.sum(xp.at(x)[1:].multiply(v) ** 3), x, v)
    assert grad(lambda v: xp.sum(xp.at(x)[places].add(v) * xp.arange(4.0)))(v).tolist() == [1.0, 3.0, 3.0]


def test_vmap() -> None:
    x, v = xp.asarray(RNG.random((2, 4))), xp.asarray(RNG.random((2, 3)))
    places = xp.asarray([[1, 3, 3], [0, 0, 2]])

    def added(x: xp.Array, k: xp.Array, v: xp.Array) -> xp.Array:
        return xp.at(x)[k].add(v)

    for axes in ((0, 0, 0), (0, None, 0), (None, 0, 0), (0, 0, None), (None, 0, None)):
        arguments = [a if axis == 0 else a[0] for a, axis in zip((x, places, v), axes, strict=True)]
        rows = [[a[i] if axis == 0 else a for a, axis in zip(arguments, axes, strict=True)] for i in (0, 1)]
        found = vmap(added, in_axes=axes)(*arguments)
        assert np.array_equal(found, np.stack([np.asarray(added(*row)) for row in rows]))


@pytest.mark.parametrize("axis", [0, 1, -1, None])
@pytest.mark.parametrize(
    "layout", [lambda a: a, lambda a: a.T.copy().T, lambda a: a[::-1]], ids=["C", "F", "flipped"]
)
def test_put_along_axis(axis: int | None, layout: Any) -> None:
    a = layout(RNG.random((3, 4)))
    index: Any = {0: [[0, 2, 1, -1]], 1: [[0], [3], [-2]], -1: [[0, 1], [3, 2], [-1, 0]], None: [0, 5, -1]}[
        axis
    ]  # type: ignore[index]
    indices = np.array(index)
    for values in (7.0, RNG.random(indices.shape)):
        wanted, x = a.copy(), xp.asarray(a, copy=True)
        np.put_along_axis(wanted, indices, values, axis)
        given = xp.asarray(values) if isinstance(values, np.ndarray) else values
        assert xp.put_along_axis(x, xp.asarray(indices), given, axis) is None  # type: ignore[func-returns-value]
        assert np.array_equal(x, wanted)
    view = xp.asarray(a.copy()).T
    xp.put_along_axis(view, xp.asarray([0, 4]), 9.0, None)
    wanted = a.T.copy()
    np.put_along_axis(wanted, np.array([0, 4]), 9.0, None)
    assert np.array_equal(view, wanted)


def test_errors_of_put_along_axis() -> None:
    x = xp.ones((2, 3))
    for indices, axis, error in (
        (xp.asarray([[3]]), 1, xp.OutOfBoundsError),
        (xp.asarray([6]), None, xp.OutOfBoundsError),
        (xp.asarray([-7]), None, xp.OutOfBoundsError),
        (xp.asarray([[0.0]]), 1, xp.DTypeError),
        (xp.asarray([0]), 1, xp.ShapeError),
        (xp.asarray([[0]]), None, xp.ShapeError),
        (xp.asarray([[0]]), 2, xp.AxisError),
    ):
        with pytest.raises(error):
            xp.put_along_axis(x, indices, 5.0, axis)
    assert np.array_equal(x, np.ones((2, 3)))


@pytest.mark.parametrize("name", ["set", "add", "subtract", "multiply", "divide", "power", "min", "max"])
def test_a_method_is_one_call(name: str) -> None:
    """Test configurations check the operands of a method, but not its steps."""
    for settings in (
        {"devices": ("cpu", "virtual")},
        {"devices": ("virtual", "cpu")},
        {"writable": False},
        {"lazy": True},
        {"api_version": "2022.12"},
        {"views": False},
    ):
        with flags(**settings):
            for device in xp.__array_namespace_info__().devices() if "devices" in settings else (None,):
                x = xp.asarray([1.0, 2.0, 3.0], device=device)
                v = xp.asarray([4.0, 5.0], device=device)
                key = xp.asarray([2, 0], device=device)
                for found in (getattr(xp.at(x)[key], name)(v), getattr(xp.at(x)[1:], name)(v)):
                    assert found.device == x.device and found.shape == x.shape
                assert getattr(xp.at(x)[0], name)(2.0).device == x.device
    with flags(devices=("cpu", "virtual")):
        other = xp.asarray([1.0, 2.0], device=xp.Device("virtual"))
        with pytest.raises(xp.DeviceError):
            getattr(xp.at(xp.ones(3))[1:], name)(other)


@pytest.mark.parametrize(
    "key", [[0, 0], np.array([0, 0]), (np.array([0, 0]),), (slice(None), [1, 1])], ids=str
)
def test_repeated_indices_of_any_kind(key: Any) -> None:
    x = xp.ones((2, 2))
    for name in ("multiply", "divide", "power", "min", "max"):
        with pytest.raises(xp.ArgumentValueError, match="several times"):
            getattr(xp.at(x)[key], name)(2.0)
    wanted = np.ones((2, 2))
    np.add.at(wanted, key, 2.0)
    assert np.array_equal(xp.at(x)[key].add(2.0), wanted)


def test_values_promote_to_the_dtype() -> None:
    x = xp.asarray([1, 2, 3])
    for name in ("set", "add", "subtract", "multiply", "divide", "power", "min", "max"):
        for values in (2.5, xp.asarray([2.5, 1.5]), xp.asarray(1, dtype=xp.uint64)):
            with pytest.raises(xp.DTypeError):
                getattr(xp.at(x)[1:], name)(values)
    with pytest.raises(xp.DTypeError, match="floating-point"):
        xp.at(x)[1:].divide(2)
    assert xp.at(x)[1:].power(2).tolist() == [1, 4, 9]
    assert xp.at(x)[1:].set(xp.asarray(7, dtype=xp.int8)).tolist() == [1, 7, 7]
    assert xp.at(xp.asarray([True, False]))[1].set(True).tolist() == [True, True]


@pytest.mark.parametrize("dtype", ["float64", "int64", "bool"])
def test_vmap_of_set(dtype: str) -> None:
    """An array that all examples share becomes one array per example if its key or values are batched."""
    x = xp.zeros(4, dtype=getattr(xp, dtype))
    keys, values = xp.asarray([[0, 1], [3, 3], [2, 0]]), xp.asarray([5, 0, 7], dtype=getattr(xp, dtype))
    for axes in ((0, 0), (0, None), (None, 0)):
        given = [a if axis == 0 else a[0] for a, axis in zip((keys, values), axes, strict=True)]
        rows = [[a[i] if axis == 0 else a for a, axis in zip(given, axes, strict=True)] for i in range(3)]
        found = vmap(lambda k, v: xp.at(x)[k].set(v), in_axes=axes)(*given)
        assert np.array_equal(found, np.stack([np.asarray(xp.at(x)[k].set(v)) for k, v in rows]))
    if dtype == "float64":
        scaled = vmap(lambda v: xp.at(xp.ones(4))[1:3].multiply(v))(values)
        assert np.array_equal(scaled, [[1, 5, 5, 1], [1, 0, 0, 1], [1, 7, 7, 1]])
        jacobian = xp.autograd.jacobian(lambda v: xp.at(x)[keys[0, :]].set(v))(xp.asarray([1.0, 2.0]))
        assert np.array_equal(jacobian, [[1, 0], [0, 1], [0, 0], [0, 0]])


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_put_along_axis_of_one_value_or_one_for_each_index(dtype: str, axis: int) -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, (4, 5, 6)).astype(dtype)
    for index in (np.int64, np.int8, np.uint64):
        for beside in ((4, 5, 6), (1, 5, 6), (4, 1, 6), (1, 1, 6), (1, 1, 1)):
            shape = list(beside)
            shape[axis] = 7
            wide = [7 if k == axis % 3 else n for k, n in enumerate(a.shape)]
            indices = rng.integers(0 if index is np.uint64 else -4, 4, shape).astype(index)
            for values in (
                True,
                np.ones(()),
                rng.integers(0, 2, wide).astype(dtype),
                rng.integers(0, 2, wide),
            ):
                for layout in (lambda x: x, lambda x: x[:, ::-1]):
                    x, wanted = layout(xp.asarray(a, copy=True)), layout(a.copy())
                    given = values if isinstance(values, bool) else xp.asarray(values)
                    xp.put_along_axis(x, xp.asarray(indices), given, axis)
                    np.put_along_axis(wanted, indices, values, axis)
                    assert np.array_equal(x, wanted)


def test_put_along_axis_of_the_array_itself() -> None:
    for values in ("x", "x[::-1]", 5):
        a = np.array([2, 0, 1, 1])
        x = xp.asarray(a, copy=True)
        xp.put_along_axis(x, x, eval(values, {"x": x}) if isinstance(values, str) else values, 0)
        before = a.copy()
        np.put_along_axis(a, before, eval(values, {"x": before}) if isinstance(values, str) else values, 0)
        assert x.tolist() == a.tolist()
    with pytest.raises(xp.OutOfBoundsError):
        xp.put_along_axis(x, xp.asarray([0, 4]), 9, 0)
    assert x.tolist() == a.tolist()  # nothing was written
