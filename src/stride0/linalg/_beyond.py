"""Functions of `linalg` beyond the standard: triangular systems, least squares, matrix exponentials."""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Final, NamedTuple

from stride0._base.errors import ArgumentValueError
from stride0._base.shapes import broadcast_shapes
from stride0._chapters.creation import eye
from stride0._chapters.linear_algebra import matmul, matrix_transpose
from stride0._chapters.manipulation import expand_dims, reshape, squeeze
from stride0._chapters.searching import argmax, count_nonzero
from stride0._chapters.statistical import max, sum
from stride0._chapters.utility import all, any
from stride0._core.array.array import Array, empty
from stride0._core.call.binding import intercepted, primitive, primitive_in
from stride0._core.call.checks import check_array, check_bool
from stride0._core.elementwise import functions as el
from stride0._core.elementwise.elementwise import assign, copy, is_recorded
from stride0._core.linalg.linalg import (
    as_floating,
    check_rows,
    check_square,
    least_squares,
    refuse_storage_dtypes,
    substitute,
)
from stride0._core.memory import dtype as dt
from stride0._core.memory.dtype import promote
from stride0.linalg._decompositions import (
    LinAlgError,
    floating_matrices,
    index_of,
    relative_tolerance,
    significant,
    solve,
    svd,
    svdvals,
)
from stride0.linalg._functions import diagonal

__all__ = ["LstsqResult", "expm", "lstsq", "solve_triangular"]


class LstsqResult(NamedTuple):
    """The result of :func:`lstsq`."""

    solution: Array
    residuals: Array
    rank: Array
    singular_values: Array


# Triangular systems


@primitive_in("linalg")
def solve_triangular(x1: Array, x2: Array, /, *, upper: bool = False, unit_diagonal: bool = False) -> Array:
    """Return the solution of a system of linear equations with a triangular matrix.

    Parameters
    ----------
    x1 : Array
        Coefficients, of shape ``(..., M, M)`` and a floating-point dtype; integers and bool become float64.
        Only the triangle selected by `upper` is read.
    x2 : Array
        Right-hand sides, with the same rules for dtypes: one vector of shape ``(M,)`` for all systems, or
        shape ``(..., M, K)``, whose leading axes broadcast against the leading axes of `x1`.
    upper : bool
        Whether the matrices are upper triangular.
    unit_diagonal : bool
        Whether the diagonal is taken as 1 and not read.

    Returns
    -------
    Array
        New array of shape ``(..., M)`` for a vector, otherwise ``(..., M, K)``, of the promoted dtype of `x1`
        and `x2`.

    Raises
    ------
    ShapeError
        If `x1` is not square, or if `x2` has another number of rows.
    LinAlgError
        If an element of the diagonal is 0.

    References
    ----------
    G. H. Golub, C. F. Van Loan, "Matrix Computations", 4th edition (2013), section 3.1: blocks of rows.
    """
    name = "solve_triangular"
    x1 = as_floating(check_square(name, x1, "x1"))
    x2 = as_floating(check_array(name, x2, "x2"))
    refuse_storage_dtypes(name, x1)
    refuse_storage_dtypes(name, x2)
    upper, unit_diagonal = check_bool(name, "upper", upper), check_bool(name, "unit_diagonal", unit_diagonal)
    check_rows(name, x1, x2)
    if not unit_diagonal:
        _check_diagonal(name, x1)
    dtype = promote(x1.dtype, x2.dtype)
    # In float64 or complex128, as `solve`.
    computed = promote(dtype, dt.float64)
    sides = expand_dims(x2, axis=-1) if x2.ndim == 1 else x2
    lead = broadcast_shapes(name, [("leading axes of x1", x1.shape[:-2]), ("x2", sides.shape[:-2])])
    # In C order, whatever the memory order of the right-hand sides.
    out = empty((*lead, *sides.shape[-2:]), computed)
    assign(out, sides, name)
    substitute(x1, out, upper, unit_diagonal)
    if computed != dtype:
        out = copy(out, dtype)
    return squeeze(out, axis=-1) if x2.ndim == 1 else out


def _check_diagonal(op: str, x: Array) -> None:
    zero = any(el.equal(diagonal(x), 0), axis=-1)
    if any(zero):
        facts = [("x1", str(x.shape))]
        if zero.ndim:
            facts.append(("index", index_of(int(argmax(reshape(zero, (-1,)))), zero.shape)))
        raise LinAlgError(op, "the matrix is singular: its diagonal has a 0", facts)


# Least squares


@partial(intercepted, extension="linalg")
def lstsq(
    x1: Array, x2: Array, /, *, rtol: float | Array | None = None, rcond: float | Array | None = None
) -> LstsqResult:
    """Return the least-squares solution, with the smallest norm, of a system of linear equations.

    Parameters
    ----------
    x1 : Array
        Coefficients, of shape ``(..., M, N)`` and a floating-point dtype; integers and bool become float64.
    x2 : Array
        Right-hand sides, with the same rules for dtypes: one vector of shape ``(M,)`` for all systems, or
        shape ``(..., M, K)``, whose leading axes broadcast against the leading axes of `x1`.
    rtol : float or Array, optional
        Singular values up to `rtol` times the largest one count as 0. By default ``max(M, N) * eps``. An
        array has one tolerance for each matrix.
    rcond : float or Array, optional
        The same as `rtol`: its name in NumPy, PyTorch and JAX, which SciPy uses.

    Returns
    -------
    LstsqResult
        ``solution`` of shape ``(..., N)`` for a vector, otherwise ``(..., N, K)``, of the promoted dtype of
        `x1` and `x2`; ``residuals``, real, of shape ``(...)`` or ``(..., K)``: sums of squares of the
        elements of ``x2 - x1 @ solution``, for any rank; ``rank``, int64, of shape ``(...)``; and
        ``singular_values`` of `x1`, of shape ``(..., min(M, N))``. All are new arrays.

    Raises
    ------
    ShapeError
        If `x1` and `x2` have different numbers of rows.
    LinAlgError
        If `x1` contains NaN or infinity.

    References
    ----------
    G. H. Golub, C. F. Van Loan, "Matrix Computations", 4th edition (2013), section 5.5. Derivatives: G. H.
    Golub, V. Pereyra, SIAM Journal on Numerical Analysis 10 (1973).
    """
    if rcond is not None:
        if rtol is not None:
            raise ArgumentValueError("lstsq", "both rtol and rcond are given", accepts="pass one of them")
        rtol = rcond
    x1 = floating_matrices("lstsq", x1)
    x2 = as_floating(check_array("lstsq", x2, "x2"))
    check_rows("lstsq", x1, x2)
    limit = relative_tolerance("lstsq", x1, rtol)
    sides = expand_dims(x2, axis=-1) if x2.ndim == 1 else x2
    try:
        if is_recorded(x1) or is_recorded(x2) or (isinstance(limit, Array) and is_recorded(limit)):
            s, solution = svdvals(x1), _least_squares(x1, sides, rtol)
            ranks = count_nonzero(significant(s, limit), axis=-1)
        else:
            s, solution, ranks = _solved(x1, sides, limit)
    except LinAlgError as error:
        facts = [("x1" if name == "x" else name, value) for name, value in error.facts]
        raise LinAlgError("lstsq", error.problem, facts) from None
    residuals = sum(el.square(el.abs(sides - matmul(x1, solution))), axis=-2)
    if x2.ndim == 1:
        solution, residuals = squeeze(solution, axis=-1), squeeze(residuals, axis=-1)
    return LstsqResult(solution, residuals, ranks, s)


@primitive
def _least_squares(x1: Array, x2: Array, rtol: float | Array | None) -> Array:
    """Return ``pinv(x1, rtol=rtol) @ x2``."""
    return _solved(x1, x2, relative_tolerance("lstsq", x1, rtol))[1]


def _solved(x1: Array, x2: Array, limit: float | Array) -> tuple[Array, Array, Array]:
    """Return the singular values of matrices, the least-squares solutions, and the ranks."""
    found = least_squares(x1, x2, limit)
    if found is not None:
        s, solution, ranks = found
        counts = count_nonzero(significant(s, limit), axis=-1)
        # LAPACK may have rounded the limit.
        if all(el.equal(counts, ranks)):
            return s, solution, counts
    u, s, vh = svd(x1, full_matrices=False)
    counted = significant(s, limit)
    inverses = el.where(counted, el.reciprocal(s), 0.0)
    solution = matmul(_adjoint(vh), el.multiply(expand_dims(inverses, axis=-1), matmul(_adjoint(u), x2)))
    return s, solution, count_nonzero(counted, axis=-1)


def _adjoint(x: Array) -> Array:
    return matrix_transpose(el.conj(x))


# The exponential


@primitive_in("linalg")
def expm(x: Array, /) -> Array:
    """Return the exponential of a matrix, the sum of ``x**n / n!`` over all n.

    Parameters
    ----------
    x : Array
        Shape ``(..., M, M)``, of a floating-point dtype; integers and bool become float64.

    Returns
    -------
    Array
        New array of the shape and dtype of `x`; NaN if a matrix contains NaN or infinity.

    References
    ----------
    N. J. Higham, "The Scaling and Squaring Method for the Matrix Exponential Revisited", SIAM Journal on
    Matrix Analysis and Applications 26 (2005).
    """
    x = as_floating(check_square("expm", x))
    refuse_storage_dtypes("expm", x)
    if x.size == 0:
        return copy(x, x.dtype)
    finite = all(el.isfinite(x), axis=(-2, -1), keepdims=True)
    x = el.where(finite, x, 0)
    if x.shape[-1] == 1:
        return el.where(finite, el.exp(x), math.nan)
    degree, limit = _PADE[promote(x.dtype, dt.complex64)]
    # Each matrix of a stack is scaled by its own norm, so its result does not depend on the other matrices.
    norm = max(sum(el.abs(x), axis=-2, keepdims=True), axis=-1, keepdims=True)
    halvings = []
    while any(large := el.greater(norm, limit)):
        halvings.append(large)
        x, norm = el.where(large, el.multiply(x, 0.5), x), el.where(large, el.multiply(norm, 0.5), norm)
    out = _pade(x, degree)
    for large in reversed(halvings):
        out = el.where(large, matmul(out, out), out)
    return el.where(finite, out, math.nan)


# By complex dtype: the degree of the approximant, and the norm up to which its error is below the unit
# roundoff (Higham, table 2.3 and section 3).
_PADE: Final = {dt.complex64: (7, 3.925724783138660), dt.complex128: (13, 5.371920351148152)}


@cache
def _coefficients(degree: int) -> list[float]:
    """Return the coefficients of the diagonal Padé approximant's numerator, starting with 1."""
    f = math.factorial
    whole = [f(2 * degree - j) // (f(degree - j) * f(j)) for j in range(degree + 1)]
    return [c / whole[0] for c in whole]


def _pade(x: Array, degree: int) -> Array:
    b = _coefficients(degree)
    unit = eye(x.shape[-1], dtype=x.dtype)
    x2 = matmul(x, x)
    x4 = matmul(x2, x2)
    x6 = matmul(x4, x2)
    even = x6 * b[6] + x4 * b[4] + x2 * b[2] + unit * b[0]
    odd = x6 * b[7] + x4 * b[5] + x2 * b[3] + unit * b[1]
    if degree == 13:
        even = el.add(matmul(x6, x6 * b[12] + x4 * b[10] + x2 * b[8]), even)
        odd = el.add(matmul(x6, x6 * b[13] + x4 * b[11] + x2 * b[9]), odd)
    odd = matmul(x, odd)
    return solve(even - odd, even + odd)
