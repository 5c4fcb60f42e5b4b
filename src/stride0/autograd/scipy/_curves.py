"""The common base of functions of one coordinate in `stride0.autograd.scipy.interpolate`."""

from __future__ import annotations

from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentValueError
from stride0._core.array.array import Array
from stride0.autograd.scipy._arguments import count_of, floating, item


def increasing(operation: str, name: str, x: Array, least: int) -> None:
    """Raise if coordinates are not increasing."""
    known = item(x)
    if x.ndim != 1 or x.shape[0] < least or not (known[1:] > known[:-1]).all():
        raise ArgumentValueError(
            operation, f"{name} is not increasing", accepts=f"pass at least {least} increasing numbers"
        )


def interval(x: Array, t: Array) -> Array:
    """Return the interval of each point; a point beyond the ends counts to the first or last interval."""
    found = xp.searchsorted(xp.asarray(item(x)), xp.asarray(item(t)), side="right") - 1
    return xp.clip(found, 0, x.shape[0] - 2)


def placed(found: Array, ndim: int, axis: int) -> Array:
    """Return an array whose first axes, the axes of the points, have moved to the axis of the values."""
    moved = tuple(range(ndim))
    return xp.moveaxis(found, moved, tuple(axis + k for k in moved)) if ndim else found


class Curve:
    """A function of one coordinate. Beyond its ends it returns NaN or extrapolates."""

    _name: str
    axis: int
    extrapolate: bool

    def _evaluated(self, t: Array, nu: int) -> Array:
        """Return the values of a derivative at a vector of points, along the first axis of the result."""
        raise NotImplementedError

    def _ends(self) -> tuple[Array, Array]:
        """Return the first and the last coordinate without extrapolation."""
        raise NotImplementedError

    def __call__(self, x: Any, nu: int = 0, extrapolate: bool | None = None) -> Array:
        """Evaluate the function, or its derivative of order `nu`. Differentiable by `x`."""
        points = floating(self._name, "x", x)
        flat = xp.reshape(points, (-1,))
        found = self._evaluated(flat, count_of(self._name, "nu", nu, 0))
        rest = found.shape[1:]
        if not (self.extrapolate if extrapolate is None else extrapolate):
            first, last = self._ends()
            outside = (flat < first) | (flat > last)
            found = xp.where(xp.reshape(outside, (-1,) + (1,) * len(rest)), xp.nan, found)
        return placed(xp.reshape(found, (*points.shape, *rest)), points.ndim, self.axis)
