"""`stride0.testing.flags`: default dtypes, and dtypes that the caller asked for."""

from __future__ import annotations

import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0.testing import flags


def single() -> Any:
    return xp.ones(3, dtype=xp.float32)


def small(dtype: Any = xp.int8) -> Any:
    return xp.ones(3, dtype=dtype)


# Every way to name a dtype, and the dtype.
NAMES = {
    "a dtype": lambda name: getattr(xp, name),
    "a string": lambda name: name,
    "NumPy's type": lambda name: getattr(np, name),
    "NumPy's dtype": lambda name: np.dtype(name),
    "a builtin type": lambda name: {"float64": float, "int64": int, "complex128": complex}[name],
}
ASKED: dict[str, Callable[[Any], Any]] = {
    "astype": lambda d: xp.astype(single(), d),
    "method astype": lambda d: single().astype(d),
    "zeros": lambda d: xp.zeros(3, dtype=d),
    "full": lambda d: xp.full(3, 1, dtype=d),
    "arange": lambda d: xp.arange(3, dtype=d),
    "asarray": lambda d: xp.asarray([1, 2], dtype=d),
    "zeros_like": lambda d: xp.zeros_like(single(), dtype=d),
    "full_like": lambda d: xp.full_like(single(), 1, dtype=d),
    "sum": lambda d: xp.sum(small(), dtype=d),
    "method sum": lambda d: small().sum(dtype=d),
    "cumulative_prod": lambda d: xp.cumulative_prod(small(), dtype=d),
}


@pytest.mark.parametrize("call", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("way", NAMES)
@pytest.mark.parametrize("name", ["float64", "int64", "complex128"])
def test_what_is_asked_for_stays(name: str, way: str, call: Callable[[Any], Any]) -> None:
    asked = NAMES[way](name)
    expected = call(asked).dtype
    assert expected.name == name
    with flags(default_float="float32", default_int="int32"):
        assert call(asked).dtype is expected
    with flags(float64=False):
        if name == "int64":
            assert call(asked).dtype is expected
        else:
            with pytest.raises(xp.DTypeError, match="this test configuration does not have"):
                call(asked)


# Data that has a dtype keeps it.
BROUGHT: dict[str, tuple[Callable[[], Any], str]] = {
    "NumPy scalar": (lambda: xp.asarray(np.float64(1)), "float64"),
    "NumPy integer": (lambda: xp.asarray(np.int64(1)), "int64"),
    "list of NumPy scalars": (lambda: xp.asarray([np.float64(1), 2]), "float64"),
    "nested list of NumPy scalars": (lambda: xp.asarray([[1.0], (np.float64(1),)]), "float64"),
    "NumPy array": (lambda: xp.asarray(np.ones(2)), "float64"),
    "list of NumPy arrays": (lambda: xp.asarray([np.ones(2)]), "float64"),
    "list of our arrays": (lambda: xp.asarray([xp.asarray(1, dtype=xp.float64)]), "float64"),
    "buffer": (lambda: xp.asarray(array.array("d", [1.0])), "float64"),
    "filled with a NumPy scalar": (lambda: xp.full(2, np.float64(1)), "float64"),
    "NumPy integer as operand": (lambda: small() + np.int64(1), "int64"),
    "int8 and uint32": (lambda: small() + small(xp.uint32), "int64"),
    "int8 and uint32, where": (lambda: xp.where(small() > 0, small(), small(xp.uint32)), "int64"),
    "int8 and uint32, joined": (lambda: xp.concat([small(), small(xp.uint32)]), "int64"),
    # Data without a dtype gets the default.
    "sizes of NumPy": (lambda: xp.zeros(np.int64(3)), "float32"),
    "NumPy integers as a bound": (lambda: xp.full(np.int64(2), 1), "int32"),
    "float32 of NumPy beside a float": (lambda: xp.asarray([np.float32(1), 1.5]), "float32"),
    "NumPy integer beside a float": (lambda: xp.asarray([np.int64(1), 1.5]), "float32"),
    "range": (lambda: xp.asarray(range(3)), "int32"),
    "int64 beside float32": (lambda: xp.ones(3, dtype=xp.int64) * single(), "float32"),
    "sum of both kinds of small integers": (lambda: xp.sum(small() + small(xp.uint8)), "int32"),
}


@pytest.mark.parametrize("call, name", BROUGHT.values(), ids=BROUGHT)
def test_dtypes_that_data_bring(call: Callable[[], Any], name: str) -> None:
    with flags(default_float="float32", default_int="int32"):
        assert call().dtype.name == name
    if name == "float64":
        with (
            flags(float64=False),
            pytest.raises(xp.DTypeError, match="this test configuration does not have"),
        ):
            call()


def test_result_type_says_what_comes_out() -> None:
    pairs = [(a, b) for a in INTEGERS for b in (xp.float32, xp.complex64, *INTEGERS)]
    with flags(default_float="float32", default_int="int32"):
        for a, b in pairs:
            if {a, b} & {xp.uint64} and {a, b} & SIGNED:
                continue
            x, y = xp.ones(2, dtype=a), xp.ones(2, dtype=b)
            expected = (x * y).dtype
            for operands in ((a, b), (x, y), (x, b), (b, a)):
                assert xp.result_type(*operands) is expected, (a, b)
        assert xp.result_type(xp.int32, 1.5) is (small(xp.int32) * 1.5).dtype is xp.float32
        assert xp.result_type(xp.float32, 1j) is xp.complex64
        assert xp.result_type(xp.float64, xp.float32) is xp.result_type("float64", xp.int8) is xp.float64
        assert xp.result_type(xp.int64, xp.int8) is xp.int64


SIGNED = {xp.int8, xp.int16, xp.int32, xp.int64}
INTEGERS = (*sorted(SIGNED, key=str), xp.uint8, xp.uint16, xp.uint32, xp.uint64)


# --- the default dtypes, and a library without float64


DEFAULTS: dict[str, tuple[Callable[[], Any], Any]] = {
    "zeros": (lambda: xp.zeros(2), xp.float32),
    "ones": (lambda: xp.ones(2), xp.float32),
    "eye": (lambda: xp.eye(2), xp.float32),
    "empty": (lambda: xp.empty(2), xp.float32),
    "full of a float": (lambda: xp.full(2, 1.5), xp.float32),
    "full of an integer": (lambda: xp.full(2, 1), xp.int32),
    "full of a bool": (lambda: xp.full(2, True), xp.bool),
    "full of a complex": (lambda: xp.full(2, 1j), xp.complex64),
    "arange": (lambda: xp.arange(3), xp.int32),
    "arange of floats": (lambda: xp.arange(3.0), xp.float32),
    "linspace": (lambda: xp.linspace(0, 1, 3), xp.float32),
    "linspace, complex": (lambda: xp.linspace(0, 1j, 3), xp.complex64),
    "asarray of a float": (lambda: xp.asarray(1.5), xp.float32),
    "asarray of integers": (lambda: xp.asarray([1, 2]), xp.int32),
    "asarray of complex": (lambda: xp.asarray([1, 2j]), xp.complex64),
    "fftfreq": (lambda: xp.fft.fftfreq(4), xp.float32),
    "sum of int8": (lambda: xp.sum(xp.ones(2, dtype=xp.int8)), xp.int32),
    "sum of uint8": (lambda: xp.sum(xp.ones(2, dtype=xp.uint8)), xp.uint32),
    "cumulative sum of int16": (lambda: xp.cumulative_sum(xp.ones(2, dtype=xp.int16)), xp.int32),
    "sum of float32": (lambda: xp.sum(xp.ones(2)), xp.float32),
    "mean of integers": (lambda: xp.mean(xp.arange(3)), xp.float32),
    "exp of integers": (lambda: xp.exp(xp.arange(3)), xp.float32),
    "integers divided": (lambda: xp.arange(3) / xp.ones(3, dtype=xp.int32), xp.float32),
    "integers and a float": (lambda: xp.arange(3) + 1.5, xp.float32),
    # Requested dtypes stay.
    "zeros of float64": (lambda: xp.zeros(2, dtype=xp.float64), xp.float64),
    "astype": (lambda: xp.astype(xp.ones(2), xp.float64), xp.float64),
    "arange of int64": (lambda: xp.arange(3, dtype=xp.int64), xp.int64),
    "float64 computed with": (lambda: xp.exp(xp.zeros(2, dtype=xp.float64)) + 1, xp.float64),
    "sum of int64": (lambda: xp.sum(xp.ones(2, dtype=xp.int64)), xp.int64),
    "sum to float64": (lambda: xp.sum(xp.ones(2), dtype=xp.float64), xp.float64),
    "NumPy's float64": (lambda: xp.asarray(np.ones(2)), xp.float64),
    "DLPack of float64": (lambda: xp.from_dlpack(np.ones(2)), xp.float64),
    "full_like float64": (lambda: xp.full_like(xp.zeros(2, dtype=xp.float64), 1.0), xp.float64),
    # Indices have a separate default.
    "argmax": (lambda: xp.argmax(xp.ones(2)), xp.int64),
    "nonzero": (lambda: xp.nonzero(xp.ones(2))[0], xp.int64),
    "unique counts": (lambda: xp.unique_counts(xp.ones(2)).counts, xp.int64),
}


@pytest.mark.parametrize("call, dtype", DEFAULTS.values(), ids=DEFAULTS)
def test_default_dtypes(call: Callable[[], Any], dtype: Any) -> None:
    plain = call()
    with flags(default_float="float32", default_int=xp.int32):
        found = call()
        assert found.dtype is dtype
    assert plain.shape == found.shape
    assert call().dtype is plain.dtype


def test_default_dtypes_have_the_same_values() -> None:
    with flags(default_float="float32", default_int="int32"):
        assert [int(n) for n in xp.arange(-2, 3)] == [-2, -1, 0, 1, 2]
        assert float(xp.asarray(0.1)) == float(np.float32(0.1))
        assert [float(n) for n in xp.linspace(0, 1, 3)] == [0.0, 0.5, 1.0]


def test_integers_that_do_not_fit_the_default() -> None:
    with flags(default_int="int32"):
        for call in (
            lambda: xp.asarray(2**31),
            lambda: xp.arange(2**31, 2**31 + 2),
            lambda: xp.full(2, -(2**40)),
        ):
            with pytest.raises(xp.RangeError, match="default dtype"):
                call()
        assert int(xp.asarray(2**31 - 1)) == 2**31 - 1
        assert xp.asarray(2**31, dtype=xp.int64).dtype is xp.int64


def test_inspection_shows_the_defaults() -> None:
    with flags(default_float="float32", default_int="int32"):
        assert xp.__array_namespace_info__().default_dtypes() == {
            "real floating": xp.float32,
            "complex floating": xp.complex64,
            "integral": xp.int32,
            "indexing": xp.int64,
        }


def test_without_float64() -> None:
    double = xp.ones(2)
    with flags(float64=False):
        assert xp.ones(2).dtype is xp.float32 and (xp.ones(2) * 1j).dtype is xp.complex64
        info = xp.__array_namespace_info__()
        assert not {"float64", "complex128"} & info.dtypes().keys() and "float32" in info.dtypes()
        assert info.dtypes(kind="real floating") == {"float32": xp.float32}
        for call in (
            lambda: xp.ones(2, dtype=xp.float64),
            lambda: xp.astype(xp.ones(2), xp.complex128),
            lambda: xp.asarray(np.ones(2)),
            lambda: double + 1,
            lambda: xp.sum(xp.ones(2), dtype=xp.float64),
            lambda: xp.linalg.eigh(xp.eye(2, dtype=xp.float32) * xp.asarray(1, dtype=xp.float64)),
        ):
            with pytest.raises(xp.DTypeError, match="this test configuration does not have"):
                call()
        # Dtypes within functions of the package do not matter.
        assert xp.var(xp.ones(3)).dtype is xp.float32 and xp.linalg.inv(xp.eye(2)).dtype is xp.float32


@pytest.mark.parametrize("version, promoted", [("2022.12", True), ("2023.12", False)])
def test_older_versions_promote_sums_to_the_default_dtype(version: str, promoted: bool) -> None:
    with flags(api_version=version):
        x = single()
        matrix = xp.ones((2, 2), dtype=xp.complex64)
        assert xp.sum(x).dtype is xp.prod(x).dtype is (xp.float64 if promoted else xp.float32)
        assert xp.linalg.trace(matrix).dtype is (xp.complex128 if promoted else xp.complex64)
        assert xp.sum(x, dtype=xp.float32).dtype is xp.max(x).dtype is xp.float32
        assert xp.sum(small()).dtype is xp.int64
    with flags(api_version=version, default_float="float32"):
        assert xp.sum(single()).dtype is xp.float32
