"""Linear systems: `linear_solve`."""

from __future__ import annotations

from typing import Any

from stride0._base.errors import ArgumentTypeError, ArgumentValueError, shown
from stride0._core.array.array import Array
from stride0._core.call.checks import check_function
from stride0.autograd.implicit._calls import (
    LINEAR,
)
from stride0.autograd.implicit._krylov import by_krylov
from stride0.linalg import solve as _solve

__all__ = ["linear_solve"]


def linear_solve(a: Any, b: Array, *params: Any, method: str = "gmres", **options: Any) -> Any:
    """
    Solve a linear system, given by a matrix or by products with it.

    Parameters
    ----------
    a : Array or callable
        A matrix of shape ``(n, n)``, or a function ``a(x, *params)`` that is linear in x and returns an
        array of the shape of x.
    b : Array
        The right-hand side, of a real floating-point dtype. If `a` is a matrix, ``(n,)`` or ``(n, k)``.
    *params : nested structures of arrays
        Arrays that the matrix depends on, if `a` is a function.
    method : {"gmres", "cg"}
        GMRES, or conjugate gradients for a symmetric positive definite matrix, if `a` is a function.
    **options
        As `scipy.sparse.linalg.gmres` and `cg` take them: `rtol`, `maxiter`, a preconditioner `M` and others.

    Returns
    -------
    Array
        The solution, of the shape of `b`; differentiable by `b` and the matrix, or the parameters.

    Raises
    ------
    GradientError
        If the method did not converge, or `a` uses a tracked array that is not among `params`.
    LinAlgError
        If the matrix is singular.
    ArgumentTypeError, ArgumentValueError, ImportError
        As `root`.

    Examples
    --------
    >>> def laplacian(x, k):
    ...     return k * x + 2 * x - xp.concat([x[1:], xp.zeros(1)]) - xp.concat([xp.zeros(1), x[:-1]])
    >>> solve = lambda k: xp.sum(xp.autograd.implicit.linear_solve(laplacian, xp.ones(3), k, method="cg"))
    >>> round(float(solve(xp.asarray(1.0))), 12), round(float(xp.autograd.grad(solve)(xp.asarray(1.0))), 12)
    (1.857142857143, -1.163265306122)
    """
    if isinstance(a, Array):
        if params or options:
            problem = "parameters" if params else f"the option {next(iter(options))}"
            raise ArgumentValueError(
                "linear_solve",
                f"{problem} with a matrix",
                accepts="pass a function that multiplies by the matrix: lambda x: a @ x",
            )
        return _solve(a, b)
    check_function("linear_solve", a)
    if method not in LINEAR[1:]:
        raise ArgumentValueError("linear_solve", f"method is {shown(method)}", accepts="pass cg or gmres")
    if not isinstance(b, Array):
        raise ArgumentTypeError("linear_solve", f"b is of type {type(b).__name__}", accepts="pass an array")
    if b.dtype.kind != "real floating":
        raise ArgumentTypeError(
            "linear_solve", f"b is of dtype {b.dtype.name}", accepts="pass a real floating-point array"
        )
    return by_krylov("linear_solve", a, b, params, method, options)
