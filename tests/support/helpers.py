"""Shared by tests: arrays of every dtype and layout; comparison of results *and* exceptions with NumPy.

x, a = pair("int16", "transposed")      # a stride0 array and a NumPy array, equal element by element
assert_same(xp.flip(x), np.flip(a))
same(lambda ns, v: ns.flip(v, axis=5), (x, a))     # calls both namespaces; results or exceptions must agree
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import stride0 as xp

Pair = tuple[Any, Any]

# The modules with the functions of the table's rows, by the namespaces of rows.
MODULES = {"": xp, "special": xp.special}


def function_of(op: Any) -> Any:
    """The public function of a row of the operation table."""
    return getattr(MODULES[op.namespace], op.name)


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
REAL_FLOATING = ["float32", "float64"]
COMPLEX_FLOATING = ["complex64", "complex128"]
FLOATING = REAL_FLOATING + COMPLEX_FLOATING
REAL = INTEGERS + REAL_FLOATING
NUMERIC = REAL + COMPLEX_FLOATING
DTYPES = ["bool", *NUMERIC]

# Each takes a namespace and a (4, 6) array in C order, and returns a view of it.
LAYOUTS: dict[str, Callable[[Any, Any], Any]] = {
    "C": lambda ns, v: v,
    "1-d": lambda ns, v: v[1, :],
    "transposed": lambda ns, v: ns.permute_dims(v, (1, 0)),
    "sliced": lambda ns, v: v[1:, ::2],
    "negative": lambda ns, v: v[::-1, ::-2],
    "broadcast": lambda ns, v: ns.broadcast_to(v[1:2, :], (3, 6)),
    "3-d": lambda ns, v: ns.permute_dims(ns.reshape(v, (2, 3, 4)), (2, 0, 1)),
    "size 0": lambda ns, v: v[:, :0],
    "0-d": lambda ns, v: v[2, 3, ...],
}


def values(dtype: str, shape: tuple[int, ...] = (4, 6), special: bool = False) -> Any:
    """Return a NumPy array of reproducible elements: the whole range of small integers, floats around 0.

    With `special`, floats include NaN, infinities and both zeros; integers include the ends of their range.
    """
    rng = np.random.default_rng(20251)
    kind = np.dtype(dtype).kind
    size = int(np.prod(shape))
    if kind == "b":
        return rng.integers(0, 2, size).astype(bool).reshape(shape)
    if kind in "iu":
        info = np.iinfo(dtype)
        out = rng.integers(max(info.min, -200), min(info.max, 200), size, endpoint=True).astype(dtype)
        extra: list[Any] = [info.min, info.max, 0]
    else:
        out = rng.normal(0, 3, size).astype(dtype)
        if kind == "c":
            out += (1j * rng.normal(0, 3, size)).astype(dtype)
        extra = [np.nan, np.inf, -np.inf, 0.0, -0.0]
    if special and size:
        out[: len(extra)] = extra[:size]
        rng.shuffle(out)
    return out.reshape(shape)


def pair(dtype: str, layout: str = "C", special: bool = False) -> Pair:
    """Return a stride0 array and a NumPy array with equal elements and equal strides."""
    a = values(dtype, special=special)
    view = LAYOUTS[layout]
    return view(xp, xp.asarray(a, copy=True)), view(np, a)


def pairs(dtypes: list[str] = DTYPES, special: bool = False) -> Iterator[tuple[str, Pair]]:
    """Yield (description, pair) for all dtypes and layouts, for loops inside a test."""
    for dtype in dtypes:
        for layout in LAYOUTS:
            yield f"{dtype}, {layout}", pair(dtype, layout, special)


def axes_of(a: Any) -> list[int | None]:
    """Return None, every valid axis of `a`, and the first invalid one at each end.

    Not 0 and -1 for 0-d arrays: these are invalid, but some functions of NumPy accept them.
    """
    return [None, *range(-a.ndim - 1, a.ndim + 1)] if a.ndim else [None, 1, -2]


def both(a: Any) -> Pair:
    """Return a stride0 copy of ``numpy.asarray(a)``, and the NumPy array."""
    a = np.asarray(a)
    return xp.asarray(a, copy=True), a


def quietly(call: Callable[..., Any], *args: Any) -> Any:
    """Call without NumPy's warnings, which pytest turns into errors; stride0 gives none."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*args)


def assert_same(x: Any, expected: Any, rtol: float = 0.0, what: str = "") -> None:
    """Assert equal dtype, shape and elements; NaN equals NaN, and without `rtol` the signs of zeros count."""
    expected = np.asarray(expected)
    assert isinstance(x, type(xp.zeros(()))), f"{what}: {type(x)} is no stride0 array"
    assert x.dtype.name == expected.dtype.name, f"{what}: dtype {x.dtype.name}, not {expected.dtype.name}"
    assert x.shape == expected.shape, f"{what}: shape {x.shape}, not {expected.shape}"
    got = np.asarray(x)
    assert got.dtype == expected.dtype and got.shape == expected.shape, what
    if rtol:
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol, equal_nan=True, err_msg=what)
        return
    inexact = expected.dtype.kind in "fc"
    equal = np.array_equal(got, expected, equal_nan=inexact)
    if equal and inexact:
        real = got.real.dtype
        # Compared as pairs of reals, bit by bit except payloads of NaN: complex NaNs must agree in each
        # component.
        g, e = (np.ascontiguousarray(v).reshape(-1).view(real) for v in (got, expected))
        equal = bool(np.all((np.isnan(g) & np.isnan(e)) | ((g == e) & (np.signbit(g) == np.signbit(e)))))
    assert equal, f"{what}\ngot\n{got!r}\nexpected\n{expected!r}"


def same(call: Callable[..., Any], *operands: Pair, rtol: float = 0.0, what: str = "") -> None:
    """Call ``call(namespace, *arrays)`` for stride0 and for NumPy, and assert the same outcome.

    Where NumPy raises, stride0 must raise an exception that `except` with NumPy's class catches.
    """
    try:
        expected = quietly(call, np, *(a for _, a in operands))
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        builtin = next(c for c in type(error).__mro__ if c.__module__ == "builtins")
        with pytest.raises(builtin):
            call(xp, *(x for x, _ in operands))
        return
    got = call(xp, *(x for x, _ in operands))
    if isinstance(expected, (tuple, list)):
        assert isinstance(got, tuple), what
        assert len(got) == len(expected), what
        for g, e in zip(got, expected, strict=True):
            assert_same(g, e, rtol, what)
    else:
        assert_same(got, expected, rtol, what)


def close(found: Any, expected: Any, tolerance: float = 1e-8) -> None:
    """Compare shapes, and values by a relative and an absolute tolerance."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
