"""Polynomials with NumPy's signatures, the highest power first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentValueError, ShapeError
from stride0._core.array.array import Array
from stride0._core.exchange.numpy_calls import numpy
from stride0.numpy import linalg
from stride0.numpy._calculus import convolve
from stride0.numpy._parts import array, arrays, common_dtype, floating, refuse
from stride0.numpy._sets import trim_zeros


def _coefficients(p: Any) -> Array:
    """Return the coefficients of a polynomial, which may be a number."""
    p = p.coeffs if isinstance(p, poly1d) else array(p)
    return xp.reshape(p, (1,)) if p.ndim == 0 else p


def _like(p: Array, *operands: Any) -> Any:
    """Return a `poly1d` if an operand is one."""
    return poly1d(p) if any(isinstance(x, poly1d) for x in operands) else p


def polyval(p: Any, x: Any) -> Any:
    """Return the values of a polynomial."""
    p, x = _coefficients(p), x if isinstance(x, poly1d) else array(x)
    found: Any = poly1d(0) if isinstance(x, poly1d) else xp.zeros_like(x)
    for k in range(p.size):
        found = found * x + p[k]
    return found


def polyfit(
    x: Any, y: Any, deg: int, rcond: Any = None, full: bool = False, w: Any = None, cov: bool = False
) -> Array:
    """Return the coefficients of the polynomial of a degree that is nearest to points."""
    refuse("polyfit", full=full or None, cov=cov or None)
    x, y = (xp.astype(v, xp.float64) if "floating" not in v.dtype.kind else v for v in arrays((x, y)))
    powers = x[:, None] ** xp.arange(deg, -1, -1)
    if w is not None:
        weights = array(w)
        powers, y = powers * weights[:, None], y * (weights[:, None] if y.ndim == 2 else weights)
    scale = xp.sqrt(xp.sum(powers * powers, axis=0))
    tolerance = x.size * float(xp.finfo(x.dtype).eps) if rcond is None else rcond
    found = xp.linalg.lstsq(powers / scale, y, rcond=tolerance)[0]
    return found / (scale if found.ndim == 1 else scale[:, None])


def _check_order(operation: str, m: int) -> None:
    if m < 0:
        raise ArgumentValueError(operation, f"m is {m}", (), "m=1 or more")


def polyder(p: Any, m: int = 1) -> Any:
    """Return the coefficients of the derivative of a polynomial."""
    _check_order("polyder", m)
    found = _coefficients(p)
    for _ in range(m):
        found = found[:-1] * xp.arange(found.size - 1, 0, -1)
    return _like(found, p)


def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """Return the coefficients of an antiderivative of a polynomial, given the constants in order."""
    _check_order("polyint", m)
    constants = xp.zeros(m) if k is None else _coefficients(k)
    if constants.size == 1:
        constants = xp.broadcast_to(constants, (m,))
    if constants.size < m:
        raise ArgumentValueError(
            "polyint", f"k has {constants.size} constants for m={m}", (), "one or m numbers"
        )
    found = _coefficients(p)
    for j in range(m):
        found = xp.concat((found / xp.arange(found.size, 0, -1), constants[j : j + 1]))
    return _like(found, p)


def _sum(combine: Callable[[Array, Array], Array], a1: Any, a2: Any) -> Any:
    x1, x2 = _coefficients(a1), _coefficients(a2)
    size = max(x1.size, x2.size)
    x1, x2 = (
        xp.concat((xp.zeros(size - x.size, dtype=x.dtype), x)) if x.size < size else x for x in (x1, x2)
    )
    return _like(combine(x1, x2), a1, a2)


def polyadd(a1: Any, a2: Any) -> Any:
    """Return the coefficients of a sum of polynomials."""
    return _sum(lambda x1, x2: x1 + x2, a1, a2)


def polysub(a1: Any, a2: Any) -> Any:
    """Return the coefficients of a difference of polynomials."""
    return _sum(lambda x1, x2: x1 - x2, a1, a2)


def polymul(a1: Any, a2: Any) -> Any:
    """Return the coefficients of a product of polynomials."""
    return _like(convolve(_coefficients(a1), _coefficients(a2)), a1, a2)


def polydiv(u: Any, v: Any) -> Any:
    """Return the coefficients of quotient and remainder of polynomials."""
    rest, divisor = (floating(_coefficients(x)) for x in (u, v))
    rest = xp.astype(rest, common_dtype(rest, divisor))
    count, quotient = divisor.size, []
    for k in range(rest.size - count + 1):
        factor = rest[k] / divisor[0]
        quotient.append(factor)
        rest = xp.concat((rest[:k], rest[k : k + count] - factor * divisor, rest[k + count :]))
    while rest.size > 1 and bool(xp.abs(rest[0]) <= 1e-8):
        rest = rest[1:]
    whole = xp.stack(quotient) if quotient else xp.zeros(1, dtype=rest.dtype)
    return _like(whole, u, v), _like(rest, u, v)


def poly(seq_of_zeros: Any) -> Array:
    """Return the coefficients of the polynomial with given roots, or the characteristic one of a matrix."""
    zeros = floating(_coefficients(seq_of_zeros))
    if zeros.ndim == 2 and zeros.shape[0] == zeros.shape[1] != 0:
        zeros = linalg.eigvals(zeros)
    elif zeros.ndim != 1:
        raise ShapeError(
            "poly", f"an array of shape {zeros.shape} has no roots", (), "a vector or a square matrix"
        )
    found = xp.ones((1,) if zeros.size else (), dtype=zeros.dtype)
    for k in range(zeros.size):
        found = convolve(found, xp.stack((xp.ones_like(zeros[k]), -zeros[k])))
    if zeros.dtype.kind == "complex floating" and bool(xp.all(_ordered(zeros) == _ordered(xp.conj(zeros)))):
        return xp.real(found)
    return found


def _ordered(x: Array) -> Array:
    """Return complex numbers ordered by the real part, then by the imaginary part."""
    x = xp.take(x, xp.argsort(xp.imag(x)))
    return xp.take(x, xp.argsort(xp.real(x)))


def roots(p: Any) -> Array:
    """Return the roots of a polynomial: the eigenvalues of its companion matrix."""
    p = _coefficients(p)
    if p.ndim != 1:
        raise ShapeError("roots", f"p has shape {p.shape}", (), "a vector of coefficients")
    inner = trim_zeros(p, "b")
    count = p.size - inner.size
    inner = floating(trim_zeros(inner, "f"))
    if inner.size == 0:
        return xp.zeros(0)
    if inner.size == 1:
        return xp.zeros(count, dtype=inner.dtype) if count else xp.zeros(0)
    size = inner.size - 1
    below = xp.eye(size - 1, size, dtype=inner.dtype)
    found = linalg.eigvals(xp.concat((xp.reshape(-inner[1:] / inner[0], (1, size)), below)))
    return xp.concat((found, xp.zeros(count, dtype=found.dtype)))


class poly1d:
    """A polynomial in one variable, with arithmetic."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, c_or_r: Any, r: bool = False, variable: str | None = None) -> None:
        given = poly(c_or_r) if r else _coefficients(c_or_r)
        if given.ndim > 1:
            raise ShapeError("poly1d", f"the coefficients have shape {given.shape}", (), "a vector")
        inner = trim_zeros(given, "f")
        self._coeffs = inner if inner.size else xp.zeros(1, dtype=given.dtype)
        self._variable: str = variable or str(getattr(c_or_r, "_variable", "x"))

    @property
    def coeffs(self) -> Array:
        """The coefficients, the highest power first."""
        return self._coeffs

    @coeffs.setter
    def coeffs(self, value: Any) -> None:
        if value is not self._coeffs:  # `p.coeffs += 1` sets the array that it has changed
            raise AttributeError("poly1d: the coefficients are set; write p.coeffs[...] = values")

    c = coef = coefficients = coeffs

    @property
    def variable(self) -> str:
        """The name of the variable."""
        return self._variable

    @property
    def order(self) -> int:
        """The highest power."""
        return self._coeffs.size - 1

    o = order

    @property
    def roots(self) -> Array:
        """The roots."""
        return roots(self._coeffs)

    r = roots

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return numpy().array(numpy().asarray(self._coeffs), dtype=dtype)

    def _numpys(self) -> Any:
        return numpy().poly1d(numpy().asarray(self._coeffs), variable=self._variable)

    def __repr__(self) -> str:
        return repr(self._numpys())

    def __str__(self) -> str:
        return str(self._numpys())

    def __len__(self) -> int:
        return self.order

    def __call__(self, val: Any) -> Any:
        return polyval(self._coeffs, val)

    def __neg__(self) -> poly1d:
        return poly1d(-self._coeffs)

    def __pos__(self) -> poly1d:
        return self

    def __add__(self, other: Any) -> poly1d:
        return poly1d(polyadd(self._coeffs, _coefficients(other)))

    __radd__ = __add__

    def __sub__(self, other: Any) -> poly1d:
        return poly1d(polysub(self._coeffs, _coefficients(other)))

    def __rsub__(self, other: Any) -> poly1d:
        return poly1d(polysub(_coefficients(other), self._coeffs))

    def __mul__(self, other: Any) -> poly1d:
        return poly1d(polymul(self._coeffs, _coefficients(other)))

    __rmul__ = __mul__

    def __pow__(self, val: int) -> poly1d:
        if not isinstance(val, int) or val < 0:
            raise ArgumentValueError("poly1d", f"the power is {val!r}", (), "an integer of 0 or more")
        found = poly1d(xp.ones(1, dtype=self._coeffs.dtype))
        for _ in range(val):
            found = found * self
        return found

    def __truediv__(self, other: Any) -> Any:
        return polydiv(self, other) if isinstance(other, poly1d) else poly1d(self._coeffs / array(other))

    def __rtruediv__(self, other: Any) -> Any:
        return polydiv(poly1d(other), self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, poly1d):
            return NotImplemented
        return self._coeffs.shape == other.coeffs.shape and bool(xp.all(self._coeffs == other.coeffs))

    def __getitem__(self, val: int) -> Any:
        return self._coeffs[self.order - val] if 0 <= val <= self.order else 0

    def __setitem__(self, key: int, val: Any) -> None:
        if key < 0:
            raise ArgumentValueError("poly1d", f"there is no power {key}", (), "a power of 0 or more")
        above = xp.zeros(max(0, key - self.order), dtype=self._coeffs.dtype)
        self._coeffs = xp.concat((above, self._coeffs))
        self._coeffs[self.order - key] = val

    def __iter__(self) -> Iterator[Array]:
        return iter(self._coeffs)

    def integ(self, m: int = 1, k: Any = 0) -> poly1d:
        """Return an antiderivative."""
        return poly1d(polyint(self._coeffs, m, k))

    def deriv(self, m: int = 1) -> poly1d:
        """Return a derivative."""
        return poly1d(polyder(self._coeffs, m))
