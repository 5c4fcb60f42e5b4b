"""Differentiable forms of interpolations of `scipy.interpolate`, with respect to all of their arrays.

References
----------
SciPy 1.17, `scipy.interpolate`. de Boor: A practical guide to splines, chapter IV.
"""

from __future__ import annotations

from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentValueError, ShapeError
from stride0._core.array.array import Array
from stride0.autograd.scipy._parts import axis_of, floating, item, one_of, same_dtype
from stride0.autograd.scipy.linalg import solve_banded

__all__ = ["CubicSpline", "RegularGridInterpolator", "interpn"]


def _increasing(operation: str, name: str, x: Array, least: int) -> None:
    known = item(x)
    if x.ndim != 1 or x.shape[0] < least or not (known[1:] > known[:-1]).all():
        raise ArgumentValueError(
            operation, f"{name} is not increasing", accepts=f"{least} increasing numbers or more"
        )


def _interval(x: Array, t: Array) -> Array:
    """Return in which interval each point lies; in the first or the last one, if it lies beyond."""
    found = xp.searchsorted(xp.asarray(item(x)), xp.asarray(item(t)), side="right") - 1
    return xp.clip(found, 0, x.shape[0] - 2)


class CubicSpline:
    """
    A piecewise cubic function through values, with two continuous derivatives.

    Parameters
    ----------
    x : Array
        Where the values are known: increasing, of shape (N,) with N of 2 or more. Differentiable.
    y : Array
        The values, with size N along the axis. Differentiable.
    axis : int
        Along which the values lie.
    bc_type : {"not-a-knot", "natural", "clamped"}, or a pair of such
        What holds at the ends: the first two cubics are one, the second or the first derivative is zero.

    Notes
    -----
    The values are those of `scipy.interpolate.CubicSpline`, and with "not-a-knot" those of
    `scipy.interpolate.make_interp_spline` of degree 3. Beyond its ends the spline is extrapolated.

    Examples
    --------
    >>> import stride0 as xp
    >>> from stride0.autograd import grad
    >>> from stride0.autograd.scipy.interpolate import CubicSpline
    >>> x, y = xp.asarray([0.0, 1.0, 2.0, 3.0]), xp.asarray([0.0, 1.0, 8.0, 27.0])
    >>> grad(lambda t: CubicSpline(x, y)(t))(xp.asarray(2.0)).round(12)
    Array(12., dtype=float64)
    """

    def __init__(self, x: Any, y: Any, axis: int = 0, bc_type: Any = "not-a-knot") -> None:
        x, y = same_dtype(floating("CubicSpline", "x", x), floating("CubicSpline", "y", y))
        _increasing("CubicSpline", "x", x, 2)
        self.axis = axis_of("CubicSpline", y, axis)
        if y.shape[self.axis] != x.shape[0]:
            raise ShapeError(
                "CubicSpline",
                f"y has {y.shape[self.axis]} elements along axis {self.axis}",
                [("x", f"{x.shape}"), ("y", f"{y.shape}")],
                "as many as x",
            )
        ends = bc_type if isinstance(bc_type, (tuple, list)) else (bc_type, bc_type)
        for end in ends:
            one_of("CubicSpline", "bc_type", end, ("not-a-knot", "natural", "clamped"))
        self.x = x
        values = xp.moveaxis(y, self.axis, 0)
        self._rest = values.shape[1:]
        self._y = xp.reshape(values, (x.shape[0], -1))
        self._slopes = _slopes(x, self._y, tuple(ends))

    def __call__(self, x: Any, nu: int = 0) -> Array:
        """
        Evaluate the spline.

        Parameters
        ----------
        x : Array
            Where. Differentiable.
        nu : {0, 1, 2, 3}
            Which derivative.

        Returns
        -------
        Array
            New array of the shape of the values, with that of `x` in the place of their axis.
        """
        one_of("CubicSpline", "nu", nu, (0, 1, 2, 3))
        points = floating("CubicSpline", "x", x)
        t = xp.reshape(points, (-1,))
        k = _interval(self.x, t)
        h = (xp.take(self.x, k + 1) - xp.take(self.x, k))[:, None]
        u = (t - xp.take(self.x, k))[:, None]
        rise = (xp.take(self._y, k + 1, axis=0) - xp.take(self._y, k, axis=0)) / h
        left, right = xp.take(self._slopes, k, axis=0), xp.take(self._slopes, k + 1, axis=0)
        third = (left + right - 2 * rise) / h
        c = (xp.take(self._y, k, axis=0), left, (rise - left) / h - third, third / h)
        # The coefficients of the derivative, highest power first.
        factors = {0: (1, 1, 1, 1), 1: (3, 2, 1), 2: (6, 2), 3: (6,)}[nu]
        found = c[3] * factors[0]
        for power, factor in zip(range(2, nu - 1, -1), factors[1:], strict=True):
            found = found * u + c[power] * factor
        # A derivative that has no linear part does not depend on u, but has its shape.
        found = xp.reshape(found + 0 * u, (*points.shape, *self._rest))
        moved = tuple(range(points.ndim))
        return xp.moveaxis(found, moved, tuple(self.axis + k for k in moved)) if points.ndim else found


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
        """The two elements of an outer row, and its right-hand side; `d` and `r` begin at that end."""
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


def interpn(points: Any, values: Any, xi: Any, method: str = "linear") -> Array:
    """
    Interpolate values on a grid, linearly along each axis.

    Parameters
    ----------
    points : sequence of Array
        Increasing coordinates of the grid, along each axis. Differentiable.
    values : Array
        The values, whose first axes are those of the grid. Differentiable.
    xi : Array
        Where, of shape ``(..., len(points))``. Differentiable, with a kink at each line of the grid.
    method : {"linear"}
        How.

    Returns
    -------
    Array
        New array of shape ``(*xi.shape[:-1], *values.shape[len(points):])``, as `scipy.interpolate.interpn`.

    Raises
    ------
    ArgumentValueError
        If a point lies outside of the grid.
    """
    return _on_grid("interpn", points, values, xi, method, True)


def _on_grid(operation: str, points: Any, values: Any, xi: Any, method: str, bounded: bool) -> Array:
    one_of(operation, "method", method, ("linear",))
    grid = [floating(operation, "points", p) for p in points]
    y, t = floating(operation, "values", values), floating(operation, "xi", xi)
    count = len(grid)
    if y.ndim < count or y.shape[:count] != tuple(p.size for p in grid):
        raise ShapeError(
            operation, f"values has shape {y.shape}", accepts=f"{(*(p.size for p in grid), '...')}"
        )
    if t.ndim == 0 or t.shape[-1] != count:
        raise ShapeError(operation, f"xi has shape {t.shape}", accepts=f"(..., {count})")
    where = xp.reshape(t, (-1, count))
    rest = (1,) * (y.ndim - count)
    lower, shares = [], []
    for axis, p in enumerate(grid):
        _increasing(operation, "points", p, 2)
        at = where[:, axis]
        if bounded and bool(xp.any((at < p[0]) | (at > p[-1]))):
            raise ArgumentValueError(operation, f"points of xi lie outside of the grid along axis {axis}")
        k = _interval(p, at)
        start = xp.take(p, k)
        lower.append(k)
        shares.append(xp.reshape((at - start) / (xp.take(p, k + 1) - start), (-1, *rest)))
    found: Any = 0.0
    for corner in range(2**count):
        bits = [corner >> axis & 1 for axis in range(count)]
        part = y[tuple(k + bit for k, bit in zip(lower, bits, strict=True))]
        for bit, share in zip(bits, shares, strict=True):
            part = part * (share if bit else 1 - share)
        found = found + part
    return xp.reshape(found, (*t.shape[:-1], *y.shape[count:]))


class RegularGridInterpolator:
    """
    Interpolation of values on a grid.

    Parameters
    ----------
    points : sequence of Array
        Increasing coordinates of the grid, along each axis. Differentiable.
    values : Array
        The values, whose first axes are those of the grid. Differentiable.
    method : {"linear"}
        How.
    bounds_error : bool
        Whether a point outside of the grid is an error.
    fill_value : None
        Where it is none, the outermost cells are extrapolated, as with None in SciPy.

    Notes
    -----
    As `scipy.interpolate.RegularGridInterpolator`.
    """

    def __init__(
        self,
        points: Any,
        values: Any,
        method: str = "linear",
        bounds_error: bool = True,
        fill_value: None = None,
    ) -> None:
        one_of("RegularGridInterpolator", "method", method, ("linear",))
        one_of("RegularGridInterpolator", "fill_value", fill_value, (None,))
        self.points, self.values, self.bounds_error = tuple(points), values, bool(bounds_error)

    def __call__(self, xi: Any) -> Array:
        """
        Interpolate.

        Parameters
        ----------
        xi : Array
            Where, of shape ``(..., len(points))``. Differentiable.

        Returns
        -------
        Array
            New array of shape ``(*xi.shape[:-1], *values.shape[len(points):])``.
        """
        return _on_grid("RegularGridInterpolator", self.points, self.values, xi, "linear", self.bounds_error)
