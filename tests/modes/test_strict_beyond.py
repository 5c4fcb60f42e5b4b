"""`stride0.strict` outside of functions: attributes, text, bytes, NumPy's functions."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_strict import F64, I64, refused

import stride0 as xp
from stride0.autograd import grad

BEYOND: dict[str, Callable[[], Any]] = {
    "name of a dtype": lambda: F64.dtype.name,
    "kind of a dtype": lambda: xp.float32.kind,
    "size of a dtype": lambda: F64.dtype.itemsize,
    "type of a dtype": lambda: F64.dtype.type,
    "NumPy's dtype": lambda: np.dtype(F64.dtype),  # type: ignore[call-overload]
    "NumPy's zeros": lambda: np.zeros(3, F64.dtype),
    "NumPy's issubdtype": lambda: np.issubdtype(F64.dtype, np.floating),  # type: ignore[arg-type]
    "name of a device": lambda: F64.device.name,
    "name of a device of one's own": lambda: xp.Device("cpu").name,
    "format specification": lambda: f"{F64[0]:.2f}",
    "format specification of a function": lambda: format(I64[0], "d"),
    "bytes": lambda: bytes(F64),
    "NumPy's sqrt": lambda: np.sqrt(F64),
    "NumPy's add": lambda: np.add(F64, 1.0),
    "NumPy's ufunc that is none of ours": lambda: np.cbrt(F64),
    "NumPy's ufunc with a place for its result": lambda: np.sqrt(F64, out=np.empty(3)),
    "method of a ufunc": lambda: np.add.reduce(F64),
    "NumPy's sum": lambda: np.sum(F64),
    "NumPy's mean": lambda: np.mean(F64),
    "NumPy's std": lambda: np.std(F64),
    "NumPy's reshape": lambda: np.reshape(F64, (3, 1)),
    "NumPy's round": lambda: np.round(F64),
}


@pytest.mark.parametrize("call", BEYOND.values(), ids=BEYOND)
def test_beyond_the_standard(call: Callable[[], Any]) -> None:
    assert refused(call)


def test_attributes_of_dtypes_and_devices() -> None:
    """The caller's code does not see these attributes; reads by the package are not checked."""
    dtype, device = F64.dtype, F64.device
    assert (dtype.name, dtype.kind, dtype.itemsize, device.name) == ("float64", "real floating", 8, "cpu")
    with xp.strict():
        for owner, name in (
            (dtype, "name"),
            (dtype, "kind"),
            (dtype, "itemsize"),
            (dtype, "type"),
            (device, "name"),
        ):
            assert not hasattr(owner, name)
            with pytest.raises(xp.StrictAttributeError, match=f"no attribute {name}"):
                getattr(owner, name)
        assert hasattr(dtype, "__eq__") and str(dtype) == "float64" and str(device) == "cpu"
        assert xp.isdtype(dtype, "real floating") and xp.finfo(dtype).bits == 64
        assert pickle.loads(pickle.dumps(dtype)) is dtype and pickle.loads(pickle.dumps(device)) == device
        with pytest.raises(xp.ArgumentTypeError, match="dtype int64"):
            grad(lambda x: xp.sum(x))(I64)
    with pytest.raises(AttributeError):
        device.name = "gpu"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        dtype.name = "float128"  # type: ignore[misc]


def test_numpy_does_not_see_a_dtype() -> None:
    """`finfo` and `iinfo` of NumPy replace each TypeError by a message of their own."""
    assert np.finfo(F64.dtype).bits == 64 and np.dtype("float64") == F64.dtype  # type: ignore[arg-type]
    with xp.strict():
        for function in (np.finfo, np.iinfo):
            with pytest.raises((xp.StrictError, ValueError)):
                function(I64.dtype)  # type: ignore[type-var]
        with pytest.raises(xp.StrictError, match="a dtype is compared"):
            np.dtype("float64") == F64.dtype  # noqa: B015
        assert np.asarray(F64).dtype == np.float64 and xp.asarray(np.ones(2), dtype=xp.float64).shape == (2,)


def test_a_function_of_numpy_is_named() -> None:
    with xp.strict():
        for call, name in ((lambda: np.sqrt(F64), "sqrt"), (lambda: np.sum(F64), "sum")):
            with pytest.raises(xp.StrictError, match=f"^{name}: a function of NumPy is called") as caught:
                call()
            assert not isinstance(caught.value, AttributeError)  # which NumPy would catch
            assert caught.value.sentence.startswith("Array object, __array_namespace__")
