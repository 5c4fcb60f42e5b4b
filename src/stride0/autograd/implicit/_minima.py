"""Minima: `minimize` and `least_squares`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stride0._chapters.elementwise import square
from stride0._chapters.statistical import sum
from stride0._core.array.array import Array
from stride0._core.call.checks import check_function
from stride0._core.exchange.exchange import asarray
from stride0._core.exchange.numpy_calls import numpy, to_numpy
from stride0.autograd._matrices import hessian
from stride0.autograd._transforms import grad
from stride0.autograd.implicit._calls import (
    check_linear,
    flat,
    on_flat,
    on_flat_matrix,
    quietly,
    scipy_module,
    shaped,
    start_of,
)
from stride0.autograd.implicit._solutions import Box, solution

__all__ = ["least_squares", "minimize"]


def minimize(
    f: Callable[..., Any],
    x0: Any,
    *params: Any,
    method: str | None = None,
    bounds: Any = None,
    tol: float | None = None,
    options: dict[str, Any] | None = None,
    linear: str = "dense",
) -> Any:
    """
    Find a minimum of ``f(x, *params)``.

    Parameters
    ----------
    f : callable
        Takes an array and the parameters; returns a real 0-d array.
    x0 : Array or float
        Where the search begins, of a real floating-point dtype. The derivative with respect to it is 0.
    *params : nested structures of arrays
        Parameters that the minimum is differentiable by.
    method : str, optional
        As `scipy.optimize.minimize` takes it. The default is "BFGS", with bounds "L-BFGS-B".
    bounds : sequence of pairs, optional
        The least and the greatest value of each element; None for no bound.
    tol : float, optional
        As `scipy.optimize.minimize` takes it.
    options : dict, optional
        As `scipy.optimize.minimize` takes it.
    linear : {"dense", "cg", "gmres"}
        How the derivative solves its linear system: by the Hessian as a matrix, or by products with it.

    Returns
    -------
    Array
        Where the minimum is, of the shape and dtype of `x0`.

    Raises
    ------
    GradientError
        If the solver did not converge. If a derivative is asked for, and the Hessian at the minimum is
        singular, or a bound is active. If `f` uses a tracked array that is not among `params`.
    ArgumentTypeError, ArgumentValueError, ImportError
        As `root`.

    Notes
    -----
    The equation is ``grad(f)(x) == 0``. At a bound the gradient is not 0, and the minimum does not follow the
    parameters: write such a variable as a function of a free one, its logarithm for example.

    Examples
    --------
    >>> ridge = lambda weight: xp.autograd.implicit.minimize(
    ...     lambda x, weight: xp.sum((x - 3) ** 2) + weight * xp.sum(x**2), xp.zeros(2), weight
    ... )
    >>> xp.autograd.jacobian(ridge)(xp.asarray(2.0))
    Array([-0.33333333, -0.33333333], dtype=float64)
    """
    check_function("minimize", f)
    check_linear("minimize", linear)
    start = start_of("minimize", x0)
    gradient = grad(f)

    def solver(x0: Array, *params: Any) -> Any:
        optimize = scipy_module("minimize", "optimize")
        given: dict[str, Any] = {"jac": on_flat("minimize", gradient, x0, params)}
        if method in ("Newton-CG", "trust-exact", "trust-ncg", "trust-krylov", "dogleg"):
            given["hess"] = lambda x: to_numpy(
                hessian(f)(asarray(x.reshape(x0.shape), dtype=x0.dtype, copy=True), *params)
            ).reshape(x.size, x.size)
        kind = method or ("BFGS" if bounds is None else "L-BFGS-B")
        value = on_flat("minimize", f, x0, params)
        return quietly(
            optimize.minimize,
            lambda x: float(numpy().reshape(value(x), ())),
            flat(x0),
            method=kind,
            bounds=bounds,
            tol=tol,
            options=options,
            **given,
        ).x

    box = Box("minimize", bounds, start.size)
    return solution("minimize", gradient, shaped(solver), start, params, linear, box)


def least_squares(
    f: Callable[..., Any],
    x0: Any,
    *params: Any,
    method: str = "trf",
    bounds: Any = None,
    tol: float = 1e-12,
    linear: str = "dense",
) -> Any:
    """
    Find a minimum of the sum of the squares of ``f(x, *params)``.

    Parameters
    ----------
    f : callable
        Takes an array and the parameters; returns an array of residuals.
    x0 : Array or float
        Where the search begins, of a real floating-point dtype. The derivative with respect to it is 0.
    *params : nested structures of arrays
        Parameters that the minimum is differentiable by.
    method : {"trf", "dogbox", "lm"}
        As `scipy.optimize.least_squares` takes it.
    bounds : sequence of pairs, optional
        The least and the greatest value of each element; None for no bound.
    tol : float
        The `ftol`, `xtol` and `gtol` of `scipy.optimize.least_squares`.
    linear : {"dense", "cg", "gmres"}
        How the derivative solves its linear system: by the Hessian as a matrix, or by products with it.

    Returns
    -------
    Array
        Where the minimum is, of the shape and dtype of `x0`.

    Raises
    ------
    GradientError, ArgumentTypeError, ArgumentValueError, ImportError
        As `minimize`.

    Notes
    -----
    The derivative takes the second derivatives of the residuals into account, not only their Jacobian.

    Examples
    --------
    >>> t = xp.asarray([0.0, 1.0, 2.0])
    >>> fit = lambda y: xp.autograd.implicit.least_squares(lambda p, y: p[0] + p[1] * t - y, xp.zeros(2), y)
    >>> xp.autograd.jacobian(fit)(xp.asarray([1.0, 3.0, 4.0]))
    Array([[ 0.83333333,  0.33333333, -0.16666667],
           [-0.5       ,  0.        ,  0.5       ]], dtype=float64)
    """
    check_function("least_squares", f)
    check_linear("least_squares", linear)
    start = start_of("least_squares", x0)
    gradient = grad(lambda x, *params: sum(square(asarray(f(x, *params)))) / 2)
    box = Box("least_squares", bounds, start.size)

    def solver(x0: Array, *params: Any) -> Any:
        optimize = scipy_module("least_squares", "optimize")
        given = {} if bounds is None else {"bounds": (box.low, box.high)}
        return quietly(
            optimize.least_squares,
            on_flat("least_squares", f, x0, params),
            flat(x0),
            jac=on_flat_matrix("least_squares", f, x0, params),
            method=method,
            ftol=tol,
            xtol=tol,
            gtol=tol,
            **given,
        ).x

    return solution("least_squares", gradient, shaped(solver), start, params, linear, box)
