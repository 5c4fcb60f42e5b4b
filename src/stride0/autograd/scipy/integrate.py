"""Differentiable form of `scipy.integrate.simpson`; its other rules for samples are differentiable already.

References
----------
SciPy 1.17, `scipy.integrate.simpson`. Cartwright: Simpson's rule cumulative integration, 2017.
"""

from __future__ import annotations

from typing import Any

import stride0 as xp
from stride0._base.errors import ShapeError
from stride0._core.array.array import Array
from stride0.autograd.scipy._parts import along, axis_of, floating, lane

__all__ = ["simpson"]


def simpson(y: Any, x: Any = None, *, dx: float = 1.0, axis: int = -1) -> Array:
    """
    Integrate samples by Simpson's rule.

    Parameters
    ----------
    y : Array
        The samples. Differentiable.
    x : Array, optional
        Where they were taken, all different: of one axis, or of the shape of `y`. Differentiable.
    dx : float
        Their distance, if there is no `x`.
    axis : int
        Along which.

    Returns
    -------
    Array
        New array without the axis, as `scipy.integrate.simpson`.
    """
    y = floating("simpson", "y", y)
    axis = axis_of("simpson", y, axis)
    n = y.shape[axis]

    def picked(values: Array, first: int, last: int, step: int = 1) -> Array:
        return values[along(values.ndim, axis, slice(first, last, step))]

    if x is None:
        steps = xp.full(tuple(max(n - 1, 0) if k == axis else 1 for k in range(y.ndim)), dx, dtype=y.dtype)
    else:
        x = floating("simpson", "x", x)
        if x.ndim == 1:
            x = xp.reshape(x, lane(y, axis))
        if x.ndim != y.ndim or x.shape[axis] != n:
            raise ShapeError(
                "simpson", f"x has shape {x.shape}", [("y", f"{y.shape}")], "one axis, or that of y"
            )
        steps = picked(x, 1, n) - picked(x, 0, n - 1)
    if n < 2:
        return xp.sum(0 * y, axis=axis)
    if n == 2:
        return xp.sum(steps * (picked(y, 0, 1) + picked(y, 1, 2)) / 2, axis=axis)
    last = n if n % 2 else n - 1
    h0, h1 = picked(steps, 0, last - 1, 2), picked(steps, 1, last - 1, 2)
    both = h0 + h1
    parabolas = picked(y, 0, last - 2, 2) * (2 - h1 / h0)
    parabolas = parabolas + picked(y, 1, last - 1, 2) * (both * both / (h0 * h1))
    parabolas = parabolas + picked(y, 2, last, 2) * (2 - h0 / h1)
    result = xp.sum(both / 6 * parabolas, axis=axis)
    if n % 2:
        return result
    # The last interval, by the parabola through the last three samples.
    h0, h1 = picked(steps, n - 3, n - 2), picked(steps, n - 2, n - 1)
    rest = picked(y, n - 1, n) * ((2 * h1 * h1 + 3 * h0 * h1) / (6 * (h0 + h1)))
    rest = rest + picked(y, n - 2, n - 1) * ((h1 * h1 + 3 * h0 * h1) / (6 * h0))
    rest = rest - picked(y, n - 3, n - 2) * (h1 * h1 * h1 / (6 * h0 * (h0 + h1)))
    return result + xp.sum(rest, axis=axis)
