"""Strict mode checks every argument of a call, and accepts every argument that the standard defines."""

from __future__ import annotations

import array
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0._tables import standard as _standard
from stride0.testing import flags

DTYPES = ("bool", "int64", "uint8", "float64", "complex64")


def function(name: str) -> Callable[..., Any]:
    module, _, short = name.rpartition(".")
    found: Callable[..., Any] = getattr(getattr(xp, module) if module else xp, short)
    return found


def outcome(call: Callable[[], Any]) -> Any:
    """The dtypes of a call's results, or its error, which must be an error of the package."""
    try:
        out = call()
    except (xp.Stride0Error, TypeError) as error:
        return type(error)
    if isinstance(out, (tuple, list)):
        return [getattr(part, "dtype", part) for part in out]
    return getattr(out, "dtype", out)


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("name", sorted(set(_standard.ROWS) - {"__array_namespace_info__"}))
def test_arrays_of_one_dtype(name: str, count: int) -> None:
    """A call gives the usual result, a StrictError or the usual error, and nothing else."""
    for dtype in DTYPES:
        x = xp.eye(3, dtype=getattr(xp, dtype))
        plain = outcome(lambda x=x: function(name)(*[x] * count))
        with xp.strict():
            found = outcome(lambda x=x: function(name)(*[x] * count))
        assert found == plain or found is xp.StrictError, (name, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_result_type_of_one_dtype(dtype: str) -> None:
    expected = getattr(xp, dtype)
    x = xp.ones(2, dtype=expected)
    with xp.strict():
        assert xp.result_type(x, x) is xp.result_type(x, expected) is xp.result_type(x, x, x) is expected


N, F, M = xp.asarray([1, 2, 3]), xp.ones(3), xp.reshape(xp.arange(9.0), (3, 3))
# Arguments that work, but that the standard does not define.
BEYOND: dict[str, Callable[[], Any]] = {
    "list in isin": lambda: xp.isin(N, [1, 2]),
    "tuple in isin": lambda: xp.isin(N, (1, 2)),
    "nested list in isin": lambda: xp.isin(N, [[1], [2]]),
    "NumPy scalars in isin": lambda: xp.isin(N, [np.int64(1)]),
    "range in isin": lambda: xp.isin(N, range(2)),
    "to_device by name": lambda: F.to_device("cpu"),
    "dtypes of a device by name": lambda: xp.__array_namespace_info__().dtypes(device="cpu"),
    "defaults of a device by name": lambda: xp.__array_namespace_info__().default_dtypes(device="cpu"),
    "NumPy integer in a shape": lambda: xp.zeros((np.int64(3), 2)),
    "array in a shape": lambda: xp.zeros((xp.asarray(2),)),
    "NumPy integer among axes": lambda: xp.sum(M, axis=(np.int64(0),)),
    "NumPy integer among permuted axes": lambda: xp.permute_dims(M, (np.int64(1), 0)),
    "NumPy integer among shifts": lambda: xp.roll(M, (np.int64(1), 1), axis=(0, 1)),
    "NumPy integer in a new shape": lambda: xp.broadcast_to(F, (np.int64(3), 3)),
    "NumPy integer among repetitions": lambda: xp.tile(F, (np.int64(2),)),
    "NumPy integers in lists of axes": lambda: xp.tensordot(M, M, axes=([np.int64(0)], [1])),
    "range as a shape": lambda: xp.zeros(range(2, 4)),
    "generator as a shape": lambda: xp.zeros(n for n in (2, 3)),
    "bool as a bound": lambda: xp.arange(True),
    "bool as an end": lambda: xp.linspace(False, True, 3),
    "bool in a slice": lambda: F[True:2],
    "integer as a shape to broadcast": lambda: xp.broadcast_shapes((1,), 3),
    "list as a shape to broadcast": lambda: xp.broadcast_shapes((1,), [3]),
    "NumPy integer in a shape to broadcast": lambda: xp.broadcast_shapes((np.int64(1),)),
    "floats as integers": lambda: xp.asarray([1.5], dtype=xp.int64),
    "a float as bool": lambda: xp.asarray(1.5, dtype=xp.bool),
    "integers as bool": lambda: xp.asarray([[1, 0]], dtype=xp.bool),
    "bools as floats": lambda: xp.asarray([True, False], dtype=xp.float64),
    "range as bool": lambda: xp.asarray(range(3), dtype=xp.bool),
    "NumPy array to a narrower dtype": lambda: xp.asarray(np.ones(2), dtype=xp.float32),
    "NumPy array to another kind": lambda: xp.asarray(np.ones(2, dtype=np.int64), dtype=xp.float64),
    "NumPy scalar to a narrower dtype": lambda: xp.asarray(np.float64(1), dtype=xp.float32),
    "buffer to another kind": lambda: xp.asarray(array.array("d", [1.0]), dtype=xp.int64),
    "shape of full_like without one": lambda: xp.full_like(F, 1.0, shape=None),
}
DEFINED: dict[str, Callable[[], Any]] = {
    "array in isin": lambda: (xp.isin(N, N), xp.isin(N, 1), xp.isin(1, N)),
    "to_device": lambda: F.to_device(F.device),
    "dtypes of a device": lambda: xp.__array_namespace_info__().dtypes(device=F.device),
    "defaults of a device": lambda: xp.__array_namespace_info__().default_dtypes(device=None),
    "axes": lambda: (xp.sum(M, axis=(0, 1)),
        xp.sum(M, axis=-1, keepdims=True), xp.roll(M, (1, 1), axis=(0, 1)),),
    "sequences of axes": lambda: (
        xp.tensordot(M, M, axes=((0,), [1])),
        xp.tensordot(M, M, axes=(range(1), range(1))),
        xp.fft.rfftn(M, s=[2, 2], axes=range(2)),
    ),
    "flags": lambda: (xp.sort(N, descending=True, stable=False), xp.isin(N, N, invert=True)),
    "fill with a bool": lambda: (xp.full((2,), True), xp.full((2,), False, dtype=xp.bool)),
    "kinds": lambda: xp.isdtype(F.dtype, ("bool", xp.float64)),
    "slices": lambda: (F[0:2], F[::-1], M[1:, ...], F[: xp.asarray(2)]),
    "shapes to broadcast": lambda: xp.broadcast_shapes((1, 2), (3, 1), ()),
    "integers as floats": lambda: (xp.asarray([1, 2.5], dtype=xp.float32), xp.asarray(1, dtype=xp.complex64)),
    "floats as complex": lambda: xp.asarray([1.5, True], dtype=xp.complex64),
    "bools as bool": lambda: xp.asarray([[True], [False]], dtype=xp.bool),
    "no elements": lambda: (xp.asarray([], dtype=xp.bool), xp.asarray([[]], dtype=xp.int8)),
    "wider": lambda: xp.asarray(np.ones(2, dtype=np.float32), dtype=xp.float64),
    "the same": lambda: (xp.asarray(array.array("d", [1.0]), dtype=xp.float64), xp.asarray(np.ones(2))),
    "real as complex": lambda: xp.asarray(np.ones(2), dtype=xp.complex128),
}  # fmt: skip


@pytest.mark.parametrize("call", BEYOND.values(), ids=BEYOND)
def test_refused(call: Callable[[], Any]) -> None:
    call()
    with xp.strict(), pytest.raises(xp.StrictError):
        call()


@pytest.mark.parametrize("call", DEFINED.values(), ids=DEFINED)
def test_let_through(call: Callable[[], Any]) -> None:
    with xp.strict():
        call()


class Index:
    """An integer of an unknown library."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


INTEGERS: dict[str, Callable[[int], Any]] = {
    "int": int,
    "int64": np.int64,
    "int8": np.int8,
    "uint64": np.uint64,
    "object with __index__": Index,
}


@pytest.mark.parametrize("kind", INTEGERS.values(), ids=INTEGERS)
def test_indices_are_objects_with_index(kind: Callable[[int], Any]) -> None:
    """The standard: an integer index is an object that satisfies `operator.index`."""
    zero, one, two = map(kind, range(3))
    expected = np.arange(9.0).reshape(3, 3)
    with xp.strict():
        x = xp.reshape(xp.arange(9.0), (3, 3))
        for key, plain in (
            ((one, 0), (1, 0)),
            ((..., two), (..., 2)),
            ((None, one, slice(None)), (None, 1, slice(None))),
            ((slice(zero, two, one), two), (slice(0, 2), 2)),
            ((slice(None, None, two), slice(one, None)), (slice(None, None, 2), slice(1, None))),
        ):
            assert np.array_equal(np.asarray(x[key]), expected[plain])
        x[one, zero:two] = xp.asarray([-1.0, -2.0])
        x[one, two] = -3.0
        with pytest.raises(xp.StrictError, match="stop 4 of a slice"):
            x[: kind(4), :]
    assert np.asarray(x).tolist() == [[0, 1, 2], [-1, -2, -3], [6, 7, 8]]


NO_INTEGERS = [
    True,
    np.bool_(True),
    np.asarray(True),
    1.0,
    np.float64(1),
    np.asarray(1),
    np.asarray([1]),
    "1",
    Decimal(1),
]


@pytest.mark.parametrize("wrong", NO_INTEGERS, ids=repr)
def test_what_is_no_index(wrong: Any) -> None:
    x = xp.ones((2, 2))
    keys = [(wrong, 0), *((part, 0) for part in (slice(wrong, None), slice(wrong), slice(None, None, wrong)))]
    with xp.strict():
        for key in keys:
            with pytest.raises(xp.StrictError):
                x[key]
            with pytest.raises(xp.StrictError):
                x[key] = 1.0


def test_names_of_devices_in_a_configuration() -> None:
    with flags(devices=("cpu", "other"), strict=True):
        info = xp.__array_namespace_info__()
        other = info.devices()[1]
        assert xp.ones(2).to_device(other).device == other and info.dtypes(device=other)
        with pytest.raises(xp.StrictError, match="Device support"):
            xp.ones(2).to_device("other")
