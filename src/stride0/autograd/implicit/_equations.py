"""Solutions of equations: `root`, `fixed_point`, `custom_root`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from stride0._chapters.elementwise import subtract
from stride0._chapters.manipulation import reshape
from stride0._core.array.array import Array
from stride0._core.call.checks import check_function
from stride0._core.exchange.exchange import asarray
from stride0._core.exchange.numpy_calls import numpy, to_numpy
from stride0.autograd._transforms import stop_gradient
from stride0.autograd.implicit._calls import (
    check_linear,
    flat,
    on_flat,
    on_flat_matrix,
    plain_array,
    quietly,
    scipy_module,
    shaped,
    start_of,
)
from stride0.autograd.implicit._solutions import solution

__all__ = ["custom_root", "fixed_point", "root"]


def root(
    f: Callable[..., Any],
    x0: Any,
    *params: Any,
    method: str = "hybr",
    tol: float | None = None,
    options: dict[str, Any] | None = None,
    linear: str = "dense",
) -> Any:
    """
    Solve the equation ``f(x, *params) == 0``.

    Parameters
    ----------
    f : callable
        Takes an array and the parameters; returns an array with as many elements as the first argument.
    x0 : Array or float
        Where the search begins, of a real floating-point dtype. The derivative with respect to it is 0.
    *params : nested structures of arrays
        Parameters that the solution is differentiable by.
    method : str
        As `scipy.optimize.root` takes it. Methods that use a Jacobian get the result of `jacobian`.
    tol : float, optional
        As `scipy.optimize.root` takes it.
    options : dict, optional
        As `scipy.optimize.root` takes it.
    linear : {"dense", "cg", "gmres"}
        How the derivative solves its linear system: by the Jacobian as a matrix, or by products with it.

    Returns
    -------
    Array
        The solution, of the shape and dtype of `x0`.

    Raises
    ------
    GradientError
        If the solver did not converge; if a derivative is asked for and the Jacobian at the solution is
        singular; if `f` uses a tracked array that is not among `params`.
    ArgumentTypeError, ArgumentValueError
        If an argument is of a wrong type, or `f` returns another number of elements.
    ImportError
        If SciPy cannot be imported.

    Notes
    -----
    Newton's steps follow until the solution is right to rounding errors. Within `vmap` the search is a loop
    over the examples; the derivatives are computed for all examples at once.

    Examples
    --------
    >>> def f(x, a):
    ...     return xp.stack([x[0] + x[1] - a, x[0] - x[1] ** 2])
    >>> solve = lambda a: xp.autograd.implicit.root(f, xp.ones(2), a)
    >>> solve(xp.asarray(6.0))
    Array([4., 2.], dtype=float64)
    >>> xp.autograd.jacobian(solve)(xp.asarray(6.0))
    Array([0.8, 0.2], dtype=float64)
    """
    check_function("root", f)
    check_linear("root", linear)
    start = start_of("root", x0)

    def solver(x0: Array, *params: Any) -> Any:
        optimize = scipy_module("root", "optimize")
        given: dict[str, Any] = {}
        if method in ("hybr", "lm") and linear == "dense":
            given["jac"] = on_flat_matrix("root", f, x0, params)
        f_flat = on_flat("root", f, x0, params)
        return quietly(optimize.root, f_flat, flat(x0), method=method, tol=tol, options=options, **given).x

    return solution("root", f, shaped(solver), start, params, linear)


def fixed_point(
    f: Callable[..., Any],
    x0: Any,
    *params: Any,
    method: str = "iteration",
    tol: float = 1e-12,
    maxiter: int = 10_000,
    linear: str = "dense",
) -> Any:
    """
    Solve the equation ``x == f(x, *params)``.

    Parameters
    ----------
    f : callable
        Takes an array and the parameters; returns an array of the shape of the first argument.
    x0 : Array or float
        Where the search begins, of a real floating-point dtype. The derivative with respect to it is 0.
    *params : nested structures of arrays
        Parameters that the solution is differentiable by.
    method : str
        "iteration" calls `f` until its result stays the same; another method is one of `root`.
    tol : float
        The iteration ends when no element changes by more than this, relative to the largest one.
    maxiter : int
        How often `f` is called at most.
    linear : {"dense", "cg", "gmres"}
        As `root` takes it.

    Returns
    -------
    Array
        The solution, of the shape and dtype of `x0`.

    Raises
    ------
    GradientError, ArgumentTypeError, ArgumentValueError, ImportError
        As `root`.

    Examples
    --------
    >>> cosine = lambda a: xp.autograd.implicit.fixed_point(lambda x, a: xp.cos(a * x), 1.0, a)
    >>> value, slope = xp.autograd.value_and_grad(cosine)(xp.asarray(1.0))
    >>> round(float(value), 12), round(float(slope), 12)
    (0.739085133215, -0.29747434151)
    """
    check_function("fixed_point", f)
    check_linear("fixed_point", linear)
    start = start_of("fixed_point", x0)

    def equation(x: Array, *params: Any) -> Any:
        return subtract(x, reshape(asarray(f(x, *params)), x.shape))

    def solver(x0: Array, *params: Any) -> Any:
        np = numpy()
        if method != "iteration":
            return stop_gradient(root(equation, x0, *params, method=method, tol=tol, linear=linear))
        x = to_numpy(x0)
        for _ in range(maxiter):
            given = asarray(np.array(x), dtype=x0.dtype)
            new = plain_array("fixed_point", f(given, *params)).reshape(x.shape)
            change, x = np.abs(new - x).max(initial=0.0), new
            if not change > tol * np.abs(x).max(initial=0.0):
                break
        return asarray(np.array(x))

    return solution("fixed_point", equation, solver, start, params, linear)


def custom_root(solver: Callable[..., Any], linear: str = "dense") -> Callable[..., Any]:
    """
    Make the result of a solver differentiable; a decorator.

    Parameters
    ----------
    solver : callable
        Takes a function `f`, a start, and the parameters of `f`: ``solver(f, x0, *params,
        **options)``. Returns x with ``f(x, *params) == 0``. It may use any library, random numbers and any
        number of steps.
    linear : {"dense", "cg", "gmres"}
        As `root` takes it.

    Returns
    -------
    callable
        Takes the same arguments; its result is differentiable with respect to the parameters.

    Raises
    ------
    GradientError, ArgumentTypeError, ArgumentValueError
        As `root`, when it is called.

    Notes
    -----
    The solver gets arrays that are neither tracked nor batched. If its result is close to a solution,
    Newton's steps make it right to rounding errors; if it is not, the call raises an error.

    Examples
    --------
    >>> @xp.autograd.implicit.custom_root
    ... def bisection(f, x0, *params):
    ...     low, high = x0 - 10, x0 + 10
    ...     for _ in range(60):
    ...         middle = (low + high) / 2
    ...         low, high = (low, middle) if f(middle, *params) > 0 else (middle, high)
    ...     return middle
    >>> xp.autograd.grad(lambda a: bisection(lambda x, a: x**3 - a, xp.asarray(0.0), a))(xp.asarray(8.0))
    Array(0.08333333, dtype=float64)
    """
    check_function("custom_root", solver)
    check_linear("custom_root", linear)

    @functools.wraps(solver)
    def solve(f: Callable[..., Any], x0: Any, *params: Any, **options: Any) -> Any:
        check_function("custom_root", f)
        start = start_of("custom_root", x0)

        def plain(x0: Array, *params: Any) -> Any:
            return stop_gradient(asarray(solver(f, x0, *params, **options)))

        return solution("custom_root", f, plain, start, params, linear)

    return solve
