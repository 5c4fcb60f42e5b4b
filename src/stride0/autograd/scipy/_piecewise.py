"""Piecewise polynomials of `stride0.autograd.scipy.interpolate`.

References
----------
de Boor: A practical guide to splines, chapter IV. Fritsch and Butland: A method for constructing local
monotone piecewise cubic interpolants, 1984. Akima: A new method of interpolation, 1970.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentTypeError, ShapeError
from stride0._core.array.array import Array
from stride0.autograd.scipy._arguments import count_of, floating, one_of, require, same_dtype
from stride0.autograd.scipy._axes import axis_of
from stride0.autograd.scipy._curves import Curve, increasing, interval
from stride0.autograd.scipy.linalg import solve_banded

__all__ = ["Akima1DInterpolator", "BPoly", "CubicHermiteSpline", "CubicSpline", "PPoly", "PchipInterpolator"]


class PPoly(Curve):
    """Make a piecewise polynomial: `scipy.interpolate.PPoly`. Differentiable by `c` and `x`."""

    _name = "PPoly"

    def __init__(self, c: Any, x: Any, extrapolate: bool | None = None, axis: int = 0) -> None:
        name = self._name
        c, x = same_dtype(floating(name, "c", c), floating(name, "x", x))
        increasing(name, "x", x, 2)
        require(c.ndim >= 2, name, "c", c, "at least two axes")
        axis = axis_of(name, c[0, ...], axis)
        c = xp.moveaxis(c, (axis, axis + 1), (0, 1))
        if c.shape[1] != x.shape[0] - 1:
            raise ShapeError(name, "c and x do not fit", [("c", f"{c.shape}"), ("x", f"{x.shape}")])
        self._set(c, x, extrapolate, axis)

    def _set(self, c: Array, x: Array, extrapolate: Any, axis: int) -> None:
        """Set the coefficients, whose first two axes have the powers and the intervals."""
        self._c, self.x, self.axis = c, x, axis
        self.extrapolate = one_of(self._name, "extrapolate", extrapolate, (None, True, False)) is not False

    @property
    def c(self) -> Array:
        """The coefficients."""
        return xp.moveaxis(self._c, (0, 1), (self.axis, self.axis + 1))

    def _like(self, c: Array) -> PPoly:
        found = PPoly.__new__(PPoly)
        found._set(c, self.x, self.extrapolate, self.axis)
        return found

    def _evaluated(self, t: Array, nu: int) -> Array:
        k = interval(self.x, t)
        c = [xp.take(self._c[power, ...], k, axis=0) for power in range(self._c.shape[0])]
        return xp.reshape(self._value(t, k, c, nu), (-1, *self._c.shape[2:]))

    def _ends(self) -> tuple[Array, Array]:
        return self.x[0], self.x[-1]

    def _value(self, t: Array, k: Array, c: list[Array], nu: int) -> Array:
        u = xp.reshape(t - xp.take(self.x, k), (-1,) + (1,) * (self._c.ndim - 2))
        found = 0 * u * c[-1]
        for row, part in enumerate(c[: max(len(c) - nu, 0)]):
            found = found * u + part * math.perm(len(c) - 1 - row, nu)
        return found

    def derivative(self, nu: int = 1) -> PPoly:
        """Return the derivative, `nu` times."""
        order = self._c.shape[0]
        kept = max(order - count_of(self._name, "nu", nu, 0), 1)
        factors = xp.asarray(
            [float(math.perm(order - 1 - row, nu)) for row in range(kept)], dtype=xp.real(self._c).dtype
        )
        return self._like(self._c[:kept, ...] * xp.reshape(factors, (-1,) + (1,) * (self._c.ndim - 1)))

    def antiderivative(self, nu: int = 1) -> PPoly:
        """Return the integral from the first end on, `nu` times."""
        c = self._c
        h = xp.reshape(self.x[1:] - self.x[:-1], (-1,) + (1,) * (c.ndim - 2))
        for _ in range(count_of(self._name, "nu", nu, 0)):
            order = c.shape[0]
            factors = xp.asarray([1.0 / (order - row) for row in range(order)], dtype=xp.real(c).dtype)
            c = c * xp.reshape(factors, (-1,) + (1,) * (c.ndim - 1))
            whole = 0 * h * c[0, ...]
            for row in range(order):
                whole = (whole + c[row, ...]) * h
            start = xp.cumulative_sum(whole, axis=0) - whole
            c = xp.concat((c, start[None, ...]))
        return self._like(c)

    def integrate(self, a: Any, b: Any) -> Array:
        """Return the integral between two points. Differentiable with respect to them."""
        whole = self.antiderivative()
        return whole(b) - whole(a)


class BPoly(PPoly):
    """Make a piecewise polynomial in Bernstein's basis: `scipy.interpolate.BPoly`.

    Differentiable by `c` and `x`. There is no `antiderivative`.
    """

    _name = "BPoly"

    def _value(self, t: Array, k: Array, c: list[Array], nu: int) -> Array:
        start = xp.take(self.x, k)
        shape = (-1,) + (1,) * (self._c.ndim - 2)
        h = xp.reshape(xp.take(self.x, k + 1) - start, shape)
        s = xp.reshape(t - start, shape) / h
        for _ in range(nu):
            order = len(c) - 1
            c = [(after - before) * (order / h) for before, after in itertools.pairwise(c)]
        found = 0 * s * (c[0] if c else 1.0)
        order = len(c) - 1
        for a, part in enumerate(c):
            found = found + part * (math.comb(order, a) * s**a * (1 - s) ** (order - a))
        return found

    def derivative(self, nu: int = 1) -> PPoly:
        """Return the derivative, `nu` times."""
        c = self._c
        h = xp.reshape(self.x[1:] - self.x[:-1], (-1,) + (1,) * (c.ndim - 2))
        for _ in range(count_of(self._name, "nu", nu, 0)):
            c = (c[1:, ...] - c[:-1, ...]) * ((c.shape[0] - 1) / h) if c.shape[0] > 1 else 0 * c
        found = BPoly.__new__(BPoly)
        found._set(c, self.x, self.extrapolate, self.axis)
        return found

    def antiderivative(self, nu: int = 1) -> PPoly:
        raise ArgumentTypeError("BPoly.antiderivative", "it is not supported", accepts="build a PPoly")


class CubicHermiteSpline(PPoly):
    """Make a piecewise cubic function with given derivatives: `scipy.interpolate.CubicHermiteSpline`.

    Differentiable by `x`, `y` and `dydx`.
    """

    _name = "CubicHermiteSpline"

    def __init__(self, x: Any, y: Any, dydx: Any, axis: int = 0, extrapolate: bool | None = None) -> None:
        x, y, axis = self._values(x, y, axis)
        slopes = floating(self._name, "dydx", dydx)
        require(slopes.ndim == y.ndim, self._name, "dydx", slopes, "the shape of y")
        slopes = xp.astype(xp.moveaxis(slopes, axis, 0), y.dtype, copy=False)
        self._hermite(x, y, slopes, axis, extrapolate)

    def _values(self, x: Any, y: Any, axis: int) -> tuple[Array, Array, int]:
        """Return coordinates, values with their axis moved to the front, and the number of this axis."""
        x, y = same_dtype(floating(self._name, "x", x), floating(self._name, "y", y))
        increasing(self._name, "x", x, 2)
        axis = axis_of(self._name, y, axis)
        if y.shape[axis] != x.shape[0]:
            raise ShapeError(
                self._name,
                f"y has {y.shape[axis]} elements along axis {axis}",
                [("x", f"{x.shape}"), ("y", f"{y.shape}")],
                "pass as many values as x has",
            )
        return x, xp.moveaxis(y, axis, 0), axis

    def _hermite(self, x: Array, y: Array, slopes: Array, axis: int, extrapolate: Any) -> None:
        h, rise = _rises(x, y)
        left, right = slopes[:-1, ...], slopes[1:, ...]
        third = (left + right - 2 * rise) / h
        self._set(xp.stack((third / h, (rise - left) / h - third, left, y[:-1, ...])), x, extrapolate, axis)


class CubicSpline(CubicHermiteSpline):
    """Make a piecewise cubic function through values: `scipy.interpolate.CubicSpline`.

    Differentiable by `x` and `y`. Takes the boundary conditions "not-a-knot", "natural" and "clamped".

    Examples
    --------
    >>> from stride0.autograd import grad
    >>> from stride0.autograd.scipy.interpolate import CubicSpline
    >>> x, y = xp.asarray([0.0, 1.0, 2.0, 3.0]), xp.asarray([0.0, 1.0, 8.0, 27.0])
    >>> grad(lambda t: CubicSpline(x, y)(t))(xp.asarray(2.0)).round(12)
    Array(12., dtype=float64)
    """

    _name = "CubicSpline"

    def __init__(
        self, x: Any, y: Any, axis: int = 0, bc_type: Any = "not-a-knot", extrapolate: bool | None = None
    ) -> None:
        x, y, axis = self._values(x, y, axis)
        ends = bc_type if isinstance(bc_type, (tuple, list)) else (bc_type, bc_type)
        for end in ends:
            one_of("CubicSpline", "bc_type", end, ("not-a-knot", "natural", "clamped"))
        slopes = _slopes(x, xp.reshape(y, (x.shape[0], -1)), tuple(ends))
        self._hermite(x, y, xp.reshape(slopes, y.shape), axis, extrapolate)


def _slopes(x: Array, y: Array, ends: tuple[str, ...]) -> Array:
    """Return the first derivatives at the knots, from a tridiagonal system."""
    n = x.shape[0]
    dx = x[1:] - x[:-1]
    h = dx[:, None]
    rise = (y[1:, :] - y[:-1, :]) / h
    if n == 2:
        ends = tuple("slope" if end == "not-a-knot" else end for end in ends)
    one, none = xp.ones((1,), dtype=x.dtype), xp.zeros((1,), dtype=x.dtype)
    if n == 3 and ends == ("not-a-knot", "not-a-knot"):
        # One parabola.
        bend = (rise[1:, :] - rise[:-1, :]) / (h[:-1, :] + h[1:, :])
        start = rise[:1, :] - bend * h[:1, :]
        return xp.concat((start, rise[:1, :] + bend * h[:1, :], rise[1:, :] + bend * h[1:, :]))

    def end(kind: str, d: Array, r: Array, last: bool) -> tuple[Array, Array, Array]:
        """Return the two elements of an outer row, and its right-hand side; `d` and `r` begin at this end."""
        if kind == "not-a-knot":
            both = d[0] + d[1]
            side = ((d[0] + 2 * both) * d[1] * r[0, :] + d[0] ** 2 * r[1, :]) / both
            return d[1:2], xp.reshape(both, (1,)), side[None, :]
        if kind == "natural":
            return 2 * one, one, 3 * r[:1, :]
        return one, none, (0 * r[:1, :] if kind == "clamped" else r[:1, :])

    first, above, top = end(ends[0], dx, rise, False)
    last, below, bottom = end(ends[1], xp.flip(dx), xp.flip(rise, axis=0), True)
    diagonal = xp.concat((first, 2 * (dx[:-1] + dx[1:]), last))
    upper = xp.concat((none, above, dx[:-1]))
    lower = xp.concat((dx[1:], below, none))
    inside = 3 * (h[1:, :] * rise[:-1, :] + h[:-1, :] * rise[1:, :])
    return solve_banded((1, 1), xp.stack((upper, diagonal, lower)), xp.concat((top, inside, bottom)))


def _real_values(name: str, y: Array) -> None:
    if y.dtype.kind != "real floating":
        raise ArgumentTypeError(name, "y is complex", accepts="pass real values")


def _rises(x: Array, y: Array) -> tuple[Array, Array]:
    """Return the lengths of the intervals, and the slopes of the lines through the values."""
    h = xp.reshape(x[1:] - x[:-1], (-1,) + (1,) * (y.ndim - 1))
    return h, (y[1:, ...] - y[:-1, ...]) / h


class PchipInterpolator(CubicHermiteSpline):
    """Make a monotonic piecewise cubic function through values: `scipy.interpolate.PchipInterpolator`.

    Differentiable by `x` and `y`, which is real.
    """

    _name = "PchipInterpolator"

    def __init__(self, x: Any, y: Any, axis: int = 0, extrapolate: bool | None = None) -> None:
        x, y, axis = self._values(x, y, axis)
        _real_values(self._name, y)
        h, rise = _rises(x, y)
        if x.shape[0] == 2:
            slopes = xp.concat((rise, rise))
        else:
            before, after = rise[:-1, ...], rise[1:, ...]
            flat = (xp.sign(before) != xp.sign(after)) | (before == 0) | (after == 0)
            w1, w2 = 2 * h[1:, ...] + h[:-1, ...], h[1:, ...] + 2 * h[:-1, ...]
            mean = (w1 + w2) / (w1 / xp.where(flat, 1.0, before) + w2 / xp.where(flat, 1.0, after))
            inner = xp.where(flat, 0.0, mean)
            ends = (_end_slope(a, b) for a, b in ((h, rise), (xp.flip(h, axis=0), xp.flip(rise, axis=0))))
            first, last = ends
            slopes = xp.concat((first, inner, last))
        self._hermite(x, y, slopes, axis, extrapolate)


def _end_slope(h: Array, rise: Array) -> Array:
    """Return the derivative at an end, where `h` and `rise` begin, by three points."""
    h0, h1, m0, m1 = h[:1, ...], h[1:2, ...], rise[:1, ...], rise[1:2, ...]
    d = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    opposed = xp.sign(d) != xp.sign(m0)
    steep = (xp.sign(m0) != xp.sign(m1)) & (xp.abs(d) > 3 * xp.abs(m0))
    return xp.where(opposed, 0.0, xp.where(steep, 3 * m0, d))


class Akima1DInterpolator(CubicHermiteSpline):
    """Make a local piecewise cubic function through values: `scipy.interpolate.Akima1DInterpolator`.

    Differentiable by `x` and `y`, which is real.
    """

    _name = "Akima1DInterpolator"

    def __init__(
        self, x: Any, y: Any, axis: int = 0, *, method: str = "akima", extrapolate: bool | None = None
    ) -> None:
        one_of(self._name, "method", method, ("akima", "makima"))
        x, y, axis = self._values(x, y, axis)
        _real_values(self._name, y)
        _, rise = _rises(x, y)
        if x.shape[0] == 2:
            slopes = xp.concat((rise, rise))
        else:
            first, last = 2 * rise[:1, ...] - rise[1:2, ...], 2 * rise[-1:, ...] - rise[-2:-1, ...]
            m = xp.concat((2 * first - rise[:1, ...], first, rise, last, 2 * last - rise[-1:, ...]))
            apart = xp.abs(m[1:, ...] - m[:-1, ...])
            if method == "makima":
                apart = apart + xp.abs(m[1:, ...] + m[:-1, ...]) / 2
            f1, f2 = apart[2:, ...], apart[:-2, ...]
            both = f1 + f2
            bent = both > 1e-9 * xp.max(both)
            inner = m[1:-2, ...] + f2 / xp.where(bent, both, 1.0) * (m[2:-1, ...] - m[1:-2, ...])
            slopes = xp.where(bent, inner, (m[3:, ...] + m[:-3, ...]) / 2)
        self._hermite(x, y, slopes, axis, extrapolate is True)
