"""`fixed_point` with HIPS/autograd's signature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stride0.autograd.hips._operators import arrays
from stride0.autograd.implicit import custom_root

__all__ = ["fixed_point"]


def fixed_point(
    f: Callable[[Any], Callable[[Any], Any]], a: Any, x0: Any, distance: Callable[..., Any], tol: float
) -> Any:
    """Solve ``x == f(a)(x)`` by iteration; the solution is differentiable by `a`, to any order.

    Parameters
    ----------
    f : callable
        Takes the parameters, returns a function from arrays to arrays of the same shape.
    a : nested structure of arrays
        The parameters.
    x0 : Array or float
        Where the iteration begins.
    distance : callable
        Takes two arrays, returns a number.
    tol : float
        The iteration ends when the distance of the last two arrays is not greater.

    Returns
    -------
    Array
        The solution, of the shape and dtype of `x0`.

    Raises
    ------
    GradientError, ArgumentTypeError
        As `stride0.autograd.implicit.custom_root`, which makes the derivatives.

    Examples
    --------
    >>> from stride0.autograd import hips
    >>> from stride0.autograd.hips.misc.fixed_points import fixed_point
    >>> newton, distance = lambda a: lambda x: (x + a / x) / 2, lambda x, y: abs(x - y)
    >>> root = lambda a: fixed_point(newton, a, 1.0, distance, 1e-9)
    >>> hips.value_and_grad(root)(4.0)
    (Array(2., dtype=float64), Array(0.25, dtype=float64))
    """

    @custom_root
    def iterate(equation: Any, x0: Any, a: Any) -> Any:
        step = f(a)
        x, before = step(x0), x0
        while distance(x, before) > tol:
            x, before = step(x), x
        return x

    return iterate(lambda x, a: x - f(a)(x), arrays(x0), arrays(a))
