"""Forms of `scipy.interpolate` that are differentiable with respect to all their arrays.

Examples
--------
>>> from stride0.autograd.scipy import interpolate
>>> x, y = xp.asarray([0.0, 1.0, 2.0, 3.0]), xp.asarray([0.0, 1.0, 8.0, 27.0])
>>> curve = lambda at, y: interpolate.CubicSpline(x, y)(at)
>>> xp.autograd.grad(curve)(xp.asarray(2.0), y).round(6)
Array(12., dtype=float64)
>>> xp.allclose(xp.autograd.grad(curve, argnums=1)(xp.asarray(2.0), y), xp.asarray([0.0, 0.0, 1.0, 0.0]))
True
"""

from __future__ import annotations

import math
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentTypeError, ArgumentValueError, ShapeError
from stride0._core.array.array import Array
from stride0.autograd.scipy import _bsplines, _piecewise
from stride0.autograd.scipy._arguments import floating, item, one_of, require, same_dtype
from stride0.autograd.scipy._axes import axis_of
from stride0.autograd.scipy._bsplines import *  # noqa: F403
from stride0.autograd.scipy._bsplines import NdBSpline, make_interp_spline
from stride0.autograd.scipy._curves import increasing, interval, placed
from stride0.autograd.scipy._piecewise import *  # noqa: F403

__all__ = ["RegularGridInterpolator", "interp1d", "interpn", *_bsplines.__all__, *_piecewise.__all__]

_DEGREES = {"slinear": 1, "cubic": 3, "quintic": 5}


def interpn(
    points: Any,
    values: Any,
    xi: Any,
    method: str = "linear",
    bounds_error: bool = True,
    fill_value: float | None = float("nan"),
) -> Array:
    """Interpolate values on a grid: `scipy.interpolate.interpn`.

    Differentiable by `points`, `values` and `xi`, with a kink at each line of the grid. Takes the methods
    "linear", "nearest", "slinear", "cubic" and "quintic".
    """
    return _on_grid("interpn", points, values, xi, method, bounds_error, fill_value)


def _on_grid(
    operation: str, points: Any, values: Any, xi: Any, method: str, bounded: bool, fill_value: float | None
) -> Array:
    one_of(operation, "method", method, ("linear", "nearest", *_DEGREES))
    grid = [floating(operation, "points", p) for p in points]
    y, t = floating(operation, "values", values), floating(operation, "xi", xi)
    count = len(grid)
    require(
        y.ndim >= count and y.shape[:count] == tuple(p.size for p in grid),
        operation,
        "values",
        y,
        f"shape {(*(p.size for p in grid), '...')}",
    )
    require(t.ndim != 0 and t.shape[-1] == count, operation, "xi", t, f"shape (..., {count})")
    where = xp.reshape(t, (-1, count))
    rest = (1,) * (y.ndim - count)
    outside = xp.zeros(where.shape[:1], dtype=xp.bool)
    for axis, p in enumerate(grid):
        increasing(operation, "points", p, 2)
        beyond = (where[:, axis] < p[0]) | (where[:, axis] > p[-1])
        if bounded and bool(xp.any(beyond)):
            raise ArgumentValueError(
                operation,
                f"points of xi lie outside the grid along axis {axis}",
                accepts="pass points inside the grid, or bounds_error=False",
            )
        outside = outside | beyond
    if method in _DEGREES:
        found = _of_splines(grid, y, where, _DEGREES[method])
    else:
        found = _of_corners(grid, y, where, rest, method == "nearest")
    if not bounded and fill_value is not None:
        found = xp.where(xp.reshape(outside, (-1, *rest)), fill_value, found)
    return xp.reshape(found, (*t.shape[:-1], *y.shape[count:]))


def _of_corners(grid: list[Array], y: Array, where: Array, rest: tuple[int, ...], nearest: bool) -> Array:
    """Interpolate from the corners of the cell of each point."""
    count = len(grid)
    lower, shares = [], []
    for axis, p in enumerate(grid):
        at = where[:, axis]
        k = interval(p, at)
        start = xp.take(p, k)
        lower.append(k)
        shares.append(xp.reshape((at - start) / (xp.take(p, k + 1) - start), (-1, *rest)))
    if nearest:
        steps = [xp.reshape(xp.astype(share > 0.5, xp.int64), (-1,)) for share in shares]
        return y[tuple(k + step for k, step in zip(lower, steps, strict=True))]
    parts: list[Array] = []
    for corner in range(2**count):
        bits = [corner >> axis & 1 for axis in range(count)]
        part = y[tuple(k + bit for k, bit in zip(lower, bits, strict=True))]
        for bit, share in zip(bits, shares, strict=True):
            part = part * (share if bit else 1 - share)
        parts.append(part)
    return sum(parts[1:], parts[0])


def _of_splines(grid: list[Array], y: Array, where: Array, degree: int) -> Array:
    """Interpolate by the tensor product of splines through the values."""
    c, knots = y, []
    for axis, p in enumerate(grid):
        spline = make_interp_spline(p, c, degree, axis=axis)
        c = spline.c
        knots.append(spline.t)
    return NdBSpline(knots, c, degree)(where)


class RegularGridInterpolator:
    """Interpolate values on a grid: `scipy.interpolate.RegularGridInterpolator`.

    Takes the methods of `interpn`, and is differentiable like it. With splines SciPy solves up to a
    tolerance.
    """

    def __init__(
        self,
        points: Any,
        values: Any,
        method: str = "linear",
        bounds_error: bool = True,
        fill_value: float | None = float("nan"),
    ) -> None:
        one_of("RegularGridInterpolator", "method", method, ("linear", "nearest", *_DEGREES))
        self.points, self.values, self.method = tuple(points), values, method
        self.bounds_error, self.fill_value = bool(bounds_error), fill_value

    def __call__(self, xi: Any, method: str | None = None) -> Array:
        """Interpolate at `xi`, of shape ``(..., len(points))``. Differentiable by `xi`."""
        name, how = "RegularGridInterpolator", self.method if method is None else method
        return _on_grid(name, self.points, self.values, xi, how, self.bounds_error, self.fill_value)


_KINDS = {"zero": 0, "slinear": 1, "quadratic": 2, "cubic": 3}
_NEXT = ("linear", "nearest", "nearest-up", "previous", "next")


class interp1d:
    """Interpolate values along an axis: `scipy.interpolate.interp1d`. Differentiable by `x` and `y`."""

    def __init__(
        self,
        x: Any,
        y: Any,
        kind: Any = "linear",
        axis: int = -1,
        bounds_error: bool | None = None,
        fill_value: Any = None,
        assume_sorted: bool = False,
    ) -> None:
        x, y = same_dtype(floating("interp1d", "x", x), floating("interp1d", "y", y))
        self.axis = axis_of("interp1d", y, axis)
        if x.ndim != 1 or y.shape[self.axis] != x.shape[0]:
            raise ShapeError("interp1d", "x and y do not fit", [("x", f"{x.shape}"), ("y", f"{y.shape}")])
        y = xp.moveaxis(y, self.axis, 0)
        if not assume_sorted:
            order = xp.argsort(xp.asarray(item(x)), stable=True)
            x, y = xp.take(x, order), xp.take(y, order, axis=0)
        increasing("interp1d", "x", x, 1)
        self.kind = kind if isinstance(kind, int) else one_of("interp1d", "kind", kind, (*_NEXT, *_KINDS))
        self.x, self._y = x, y
        self.fill_value = fill_value
        self.bounds_error = fill_value is None if bounds_error is None else bool(bounds_error)
        degree = self.kind if isinstance(self.kind, int) else _KINDS.get(self.kind)
        self._spline = make_interp_spline(x, y, degree) if degree else None

    def __call__(self, x: Any) -> Array:
        """Interpolate at `x`, whose shape takes the place of the axis. Differentiable by `x`."""
        points = floating("interp1d", "x", x)
        t = xp.reshape(points, (-1,))
        rest = self._y.shape[1:]
        below, above = t < self.x[0], t > self.x[-1]
        if self.bounds_error and bool(xp.any(below | above)):
            raise ArgumentValueError(
                "interp1d", "a point lies beyond the ends", accepts="pass bounds_error=False, or other points"
            )
        found = xp.reshape(self._value(t), (-1, *rest))
        fill = math.nan if self.fill_value is None else self.fill_value
        ends = list(zip((below, above), fill if isinstance(fill, tuple) else (fill, fill), strict=True))
        if isinstance(fill, str):
            if fill != "extrapolate":
                raise ArgumentTypeError("interp1d", f"fill_value is {fill!r}", (), "pass 'extrapolate'")
            # NaN before the first value and behind the last value.
            ends = {"previous": [(below, math.nan)], "next": [(above, math.nan)]}.get(str(self.kind), [])
        for outside, value in ends:
            found = xp.where(xp.reshape(outside, (-1,) + (1,) * len(rest)), xp.asarray(value), found)
        return placed(xp.reshape(found, (*points.shape, *rest)), points.ndim, self.axis)

    def _value(self, t: Array) -> Array:
        if self._spline is not None:
            return self._spline(t)
        if self.x.shape[0] == 1:
            return xp.take(self._y, xp.zeros(t.shape, dtype=xp.int64), axis=0)
        known, at = xp.asarray(item(self.x)), xp.asarray(item(t))
        last = self.x.shape[0] - 1
        if self.kind == "linear":
            k = interval(self.x, t)
            start = xp.take(self.x, k)
            share = (t - start) / (xp.take(self.x, k + 1) - start)
            share = xp.reshape(share, (-1,) + (1,) * (self._y.ndim - 1))
            left = xp.take(self._y, k, axis=0)
            return left + share * (xp.take(self._y, k + 1, axis=0) - left)
        if self.kind == "next":
            k = xp.searchsorted(known, at, side="left")
        elif self.kind in ("nearest", "nearest-up"):
            middles = (known[1:] + known[:-1]) / 2
            k = xp.searchsorted(middles, at, side="right" if self.kind == "nearest-up" else "left")
        else:
            k = xp.searchsorted(known, at, side="right") - 1
        return xp.take(self._y, xp.clip(k, 0, last), axis=0)
