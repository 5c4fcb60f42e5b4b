"""Strict mode: values of arguments, and uses of arrays and devices by NumPy and Python code."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_strict import F64, I64, refused

import stride0 as xp
from stride0.autograd import vmap

SMALL = xp.asarray([1, 2, 3], dtype=xp.int8)

OPEN: dict[str, Callable[[], Any]] = {
    "divided by 0": lambda: I64 // 0,
    "divided by an element 0": lambda: xp.floor_divide(I64, I64 - I64),
    "remainder of 0": lambda: I64 % 0,
    "shifted by less than 0": lambda: SMALL << xp.asarray(-1, dtype=xp.int8),
    "shifted back by less than 0": lambda: xp.bitwise_right_shift(I64, -I64),
    "clipped to crossed bounds": lambda: xp.clip(F64, 2.0, 1.0),
    "clipped to crossed arrays": lambda: xp.clip(F64, F64 + 1.0, F64),
    "clipped to an array and a number": lambda: xp.clip(F64, F64 + 1.0, 1.5),
    "arrays of NumPy in a list": lambda: xp.asarray([np.ones(2), np.ones(2)]),
    "axes of tensordot": lambda: xp.tensordot(F64, F64, axes=(0, 0)),
    "axes of tensordot in linalg": lambda: xp.linalg.tensordot(F64, F64, axes=(0, 0)),
    "to no device": lambda: F64.to_device(None),
    "device and a name": lambda: F64.device == "cpu",
    "name and a device": lambda: operator.eq("cpu", F64.device),
    "device among names": lambda: F64.device in ("cpu", "gpu"),
    "dtype of a dtype": lambda: F64.dtype.dtype,
    "norm by NumPy": lambda: np.linalg.norm(F64),
    "median by NumPy": lambda: np.median(F64),
    "rfft by NumPy": lambda: np.fft.rfft(F64),
    "vstack by NumPy": lambda: np.vstack([F64, F64]),
}
DEFINED: dict[str, Callable[[], Any]] = {
    "floats divided by 0": lambda: (F64 // 0.0, F64 / 0.0, F64 % 0.0),
    "integers divided": lambda: (I64 // 2, I64 % I64, 0 // I64),
    "in place": lambda: xp.asarray([4, 6]).__ifloordiv__(2),
    "shifted": lambda: (I64 << 0, I64 >> 1, xp.bitwise_left_shift(SMALL, SMALL)),
    "clipped": lambda: (xp.clip(F64, 1.0, 1.0), xp.clip(F64, F64, F64), xp.clip(F64, None, 0.0)),
    "NaN as a bound": lambda: xp.clip(F64, xp.nan, 1.0),
    "no elements": lambda: I64[:0] // I64[:0],
    "axes": lambda: xp.tensordot(F64, F64, axes=((0,), (0,))),
    "scalars of NumPy in a list": lambda: xp.asarray([np.float64(1), np.float64(2)]),
    "devices": lambda: (F64.device == I64.device, F64.device != I64.device, {F64.device: 1}),
    "NumPy's array": lambda: (np.asarray(F64), np.from_dlpack(F64), str(F64), repr(I64)),
    "what tests compare": lambda: np.testing.assert_allclose(F64, np.ones(3)),
    "a mask of dtypes": lambda: F64.dtype in (xp.float32, xp.float64),
}


@pytest.mark.parametrize("call", OPEN.values(), ids=OPEN)
def test_refused(call: Callable[[], Any]) -> None:
    with np.errstate(all="ignore"):
        assert refused(call)


@pytest.mark.parametrize("call", DEFINED.values(), ids=DEFINED)
def test_let_through(call: Callable[[], Any]) -> None:
    with xp.strict():
        call()


def test_the_sentence() -> None:
    with xp.strict():
        with pytest.raises(xp.StrictError, match="x2 has an element 0") as caught:
            x = xp.asarray([1, 2])
            x //= xp.asarray([1, 0])
        assert caught.value.sentence.startswith("Element-wise Functions")
        with pytest.raises(xp.StrictError, match=r"^norm: a function of NumPy is called"):
            np.linalg.norm(F64)


def test_arrays_without_values() -> None:
    """In a batch there are no values to check."""
    with xp.strict():
        found = vmap(lambda x: x // xp.asarray(2))(xp.asarray([4, 6]))
    assert found.tolist() == [2, 3]


def test_nothing_is_copied_where_an_export_is_refused() -> None:
    before = xp.strided.storage_nbytes(F64)
    with xp.strict(), pytest.raises(xp.StrictError):
        np.median(F64)
    assert np.median(F64) == 1.0 and xp.strided.storage_nbytes(F64) == before
