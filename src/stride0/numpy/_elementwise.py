"""Elementwise functions that are not ufuncs, with NumPy's signatures."""

from __future__ import annotations

import math
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentValueError
from stride0._core.array.array import Array
from stride0.numpy._parts import array, finish
from stride0.numpy._ufuncs import INTEGRAL, UFUNCS, floating_dtype, imaginary


def divmod(x1: Any, x2: Any) -> tuple[Any, Any]:
    """Return quotients rounded down, and remainders."""
    return UFUNCS["floor_divide"](x1, x2), UFUNCS["remainder"](x1, x2)


def modf(x: Any) -> tuple[Any, Any]:
    """Return fractional and integral parts, both with the sign of the element."""
    x = UFUNCS["positive"](array(x), dtype=floating_dtype([array(x)]))
    whole = xp.trunc(x)
    rest = xp.where(xp.isinf(x), 0.0, x - whole)
    return xp.copysign(rest, x), whole


def real(val: Any) -> Array:
    """Return the real part; a real array is returned unchanged."""
    val = array(val)
    return xp.real(val) if val.dtype.kind == "complex floating" else val


def imag(val: Any) -> Array:
    """Return the imaginary part; zeros for a real array."""
    return imaginary(array(val))


def angle(z: Any, deg: bool = False) -> Array:
    """Return the angle of complex numbers."""
    z = array(z)
    found: Array = UFUNCS["arctan2"](imag(z) if z.dtype.kind == "complex floating" else 0, real(z))
    return found * (180 / math.pi) if deg else found


def round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """Round to a number of decimals, halves to even."""
    a = array(a)
    if a.dtype.kind in INTEGRAL and a.dtype.kind != "bool" and decimals >= 0:
        return finish("round", xp.asarray(a, copy=True), out)
    if decimals and a.dtype.kind in INTEGRAL:
        raise ArgumentValueError("round", "decimals is negative for integers", (), "cast to float64 first")
    return finish("round", a.round(decimals) if decimals else xp.round(a), out)


around = round


def clip(
    a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None
) -> Any:
    """Limit elements to an interval; a bound may be an array."""
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    result = array(a)
    if low is None and high is None:
        return finish("clip", xp.asarray(result, copy=True), out)
    if low is not None:
        result = UFUNCS["maximum"](result, low)
    if high is not None:
        result = UFUNCS["minimum"](result, high)
    return finish("clip", result, out)


def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Array:
    """Replace NaN and infinities by numbers."""
    return xp.nan_to_num(array(x), copy=copy, nan=nan, posinf=posinf, neginf=neginf)


def sinc(x: Any) -> Any:
    """Return sin(pi x) / (pi x)."""
    x = array(x)
    return xp.special.sinc(xp.astype(x, xp.float64) if x.dtype.kind in INTEGRAL else x)


def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Array:
    """Return a mask of close elements."""
    return xp.isclose(array(a), array(b), rtol=rtol, atol=atol, equal_nan=equal_nan)


def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> bool:
    """Return whether all elements are close."""
    return xp.allclose(array(a), array(b), rtol=rtol, atol=atol, equal_nan=equal_nan)


def fix(x: Any, out: Any = None) -> Any:
    """Round toward zero."""
    return finish("fix", xp.trunc(array(x)), out)


def i0(x: Any) -> Any:
    """Return the modified Bessel function of order 0."""
    x = array(x)
    return xp.special.i0(xp.astype(x, xp.float64) if x.dtype.kind in INTEGRAL else x)


def spacing(x: Any) -> Any:
    """Return the distance to the next number with a larger absolute value."""
    x = UFUNCS["positive"](array(x), dtype=floating_dtype([array(x)]))
    # For float16, NumPy uses the next larger number.
    up = xp.ones_like(x, dtype=xp.bool) if x.dtype is xp.float16 else x >= 0
    return (
        xp.nextafter(x, xp.astype(xp.where(up, math.inf, -math.inf * xp.ones_like(x)), x.dtype)) - x + 0 * x
    )


def real_if_close(a: Any, tol: Any = 100) -> Any:
    """Return real parts if imaginary parts are below a limit: `tol` epsilons; for `tol` up to 1, `tol`."""
    a = array(a)
    if a.dtype.kind != "complex floating":
        return a
    limit = tol * xp.finfo(a.dtype).eps if tol > 1 else tol
    return xp.real(a) if bool(xp.all(xp.abs(xp.imag(a)) < limit)) else a


def isneginf(x: Any, out: Any = None) -> Array:
    """Return a mask of elements that are minus infinity."""
    return finish("isneginf", array(x) <= -math.inf, out)


def isposinf(x: Any, out: Any = None) -> Array:
    """Return a mask of elements that are plus infinity."""
    return finish("isposinf", array(x) >= math.inf, out)


def isreal(x: Any) -> Array:
    """Return a mask of elements without an imaginary part."""
    return imag(x) == 0


def iscomplex(x: Any) -> Array:
    """Return a mask of elements with an imaginary part."""
    return imag(x) != 0
