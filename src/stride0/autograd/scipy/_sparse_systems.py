"""Differentiable forms of solvers of `scipy.sparse.linalg`.

SciPy's sparse arrays hold no tracked elements. So a matrix may be given by its elements and their indices, as
`scipy.sparse.coo_array` and `csr_array` take them: ``(data, (rows, columns))``, or ``(data, indices,
indptr)``. A sparse array or an operator is a constant.

Examples
--------
>>> from stride0.autograd.scipy.sparse import linalg
>>> places, b = (xp.asarray([0, 0, 1]), xp.asarray([0, 1, 1])), xp.ones(2)
>>> xp.autograd.grad(lambda data: linalg.spsolve((data, places), b)[0])(xp.asarray([2.0, 1.0, 4.0]))
Array([-0.1875, -0.125 ,  0.03125], dtype=float64)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentTypeError, GradientError
from stride0._core.array.array import Array
from stride0._core.exchange.numpy_calls import numpy
from stride0.autograd._custom import custom_vjp
from stride0.autograd._transforms import stop_gradient
from stride0.autograd.implicit._calls import for_each
from stride0.autograd.scipy._arguments import floating, item, require
from stride0.autograd.scipy._calls import original, scipy
from stride0.autograd.scipy._signatures import named
from stride0.autograd.scipy._solvers import moving

__all__ = ["bicgstab", "cg", "gmres", "spsolve"]

# Takes a SciPy matrix, a right-hand side, and whether the matrix is transposed; returns the solution.
Solver = Callable[[Any, Any, bool], Any]


def _places(name: str, a: Any, n: int) -> tuple[Array, Any, Any]:
    """Return the elements of a matrix, with their rows and columns; no elements if it is a constant."""
    np = numpy()
    if isinstance(a, Array):
        require(a.shape == (n, n), name, "A", a, f"shape ({n}, {n}), as b has {n} rows")
        rows, columns = np.indices((n, n)).reshape(2, -1)
        return xp.reshape(a, (-1,)), rows, columns
    if not isinstance(a, tuple):
        return xp.zeros(0), None, None
    try:
        data, *rest = a
        if len(rest) == 2:
            columns, starts = (np.asarray(x) for x in rest)
            rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        else:
            rows, columns = (np.asarray(x) for x in rest[0])
        scipy("sparse").coo_array((np.zeros(np.shape(data)), (rows, columns)), shape=(n, n))
    except (TypeError, ValueError, IndexError) as error:
        accepts = "pass (data, (rows, columns)), or (data, indices, indptr)"
        raise ArgumentTypeError(name, f"A is not a matrix of {n} rows: {error}", accepts=accepts) from None
    return floating(name, "data", data), rows, columns


def _solved(solver: Solver, a: Any, data: Array, rows: Any, columns: Any, b: Array, transposed: bool) -> Any:
    """Return the solution, differentiable by the elements of the matrix and the right-hand side."""
    n = b.shape[0]

    def plain(data: Array, b: Array) -> Array:
        matrix = a.T if transposed and rows is None else a
        if rows is not None:
            places = (columns, rows) if transposed else (rows, columns)
            matrix = scipy("sparse").coo_array((item(data), places), shape=(n, n)).tocsc()
        return xp.asarray(solver(matrix, item(b), transposed), copy=True)

    @custom_vjp
    def found(data: Array, b: Array) -> Any:
        return for_each(plain, *stop_gradient([data, b]))

    def forward(data: Array, b: Array) -> tuple[Any, Any]:
        x = found(data, b)
        return x, (data, x)

    def backward(kept: Any, g: Array) -> tuple[Any, Any]:
        data, x = kept
        w = _solved(solver, a, data, rows, columns, g, not transposed)
        if rows is None:
            return None, w
        left, right = (columns, rows) if transposed else (rows, columns)
        change = xp.take(w, xp.asarray(left), axis=0) * xp.take(x, xp.asarray(right), axis=0)
        return -(change if change.ndim == 1 else xp.sum(change, axis=1)), w

    found.defvjp(forward, backward)
    return found(data, b)


def spsolve(A: Any, b: Any, permc_spec: Any = None, use_umfpack: bool = True) -> Any:
    """Solve a sparse linear system: `scipy.sparse.linalg.spsolve`.

    Differentiable by the elements of `A`, if it is given by them, and by `b`, of shape (n,) or (n, k).
    """
    b = floating("spsolve", "b", b)
    require(b.ndim in (1, 2), "spsolve", "b", b, "shape (n,) or (n, k)")
    data, rows, columns = _places("spsolve", A, b.shape[0])
    if b.ndim == 2 and b.shape[1] == 1:
        b = xp.reshape(b, (-1,))

    def solver(matrix: Any, right: Any, transposed: bool) -> Any:
        return original("sparse.linalg.spsolve")(matrix.tocsc(), right, permc_spec, use_umfpack)

    return _solved(solver, A, data, rows, columns, b, False)


def _iterative(name: str, what: str) -> Any:
    def function(A: Any, b: Any, x0: Any = None, **options: Any) -> tuple[Array, int]:
        b = floating(name, "b", b)
        require(b.ndim == 1, name, "b", b, "shape (n,)")
        data, rows, columns = _places(name, A, b.shape[0])
        preconditioner, status = options.pop("M", None), [0]

        def solver(matrix: Any, right: Any, transposed: bool) -> Any:
            # Conjugate gradients need a symmetric matrix.
            turned = transposed and preconditioner is not None and name != "cg"
            found, info = original(f"sparse.linalg.{name}")(
                matrix,
                right,
                None if transposed or x0 is None else item(xp.asarray(x0)),
                M=preconditioner.T if turned else preconditioner,
                **options,
            )
            if info and (transposed or moving([data, b])):
                accepts = "pass a larger maxiter, a preconditioner M, or a larger rtol"
                raise GradientError(name, "the iteration did not converge", [("info", str(info))], accepts)
            status[0] = info
            return found

        return _solved(solver, A, data, rows, columns, b, False), status[0]

    doc = f"""Solve a linear system by {what}: `scipy.sparse.linalg.{name}`.

    Differentiable by the elements of `A`, if it is given by them, and by `b`. The gradient solves another
    system with the same options, so that both have the accuracy of `rtol`; an operator `A` needs `rmatvec`.
    """
    return named(function, name, doc)


cg = _iterative("cg", "conjugate gradients")
gmres = _iterative("gmres", "minimal residuals")
bicgstab = _iterative("bicgstab", "biconjugate gradients")
