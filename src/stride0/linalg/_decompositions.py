"""Declarations of decompositions and solvers in `linalg`, and functions based on decompositions."""

from __future__ import annotations

from typing import Literal, NamedTuple, NoReturn

from stride0._base.errors import ArgumentTypeError, Stride0Error, shown
from stride0._base.shapes import broadcast_shapes
from stride0._chapters.data_types import finfo
from stride0._chapters.linear_algebra import matmul, matrix_transpose
from stride0._chapters.manipulation import expand_dims, reshape
from stride0._core.array.array import Array
from stride0._core.call.binding import primitive_in
from stride0._core.call.checks import as_float, as_scalar, check_kind
from stride0._core.elementwise.functions import conj, greater, isfinite, multiply, reciprocal, where
from stride0._core.exchange.numpy_calls import numpy
from stride0._core.linalg.linalg import (
    as_floating,
    check_matrices,
    fails,
    set_results,
    singular_values,
    singular_vectors,
)
from stride0._core.reduce.reduce import reduce

__all__ = [
    "LinAlgError",
    "cholesky",
    "det",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "matrix_rank",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
]


class LinAlgError(Stride0Error, ValueError):
    """An algorithm does not accept a matrix: it is singular, not positive definite, or contains NaN."""


# Let tracebacks name the module from which users import the class.
LinAlgError.__module__ = "stride0.linalg"


class EighResult(NamedTuple):
    """The result of :func:`eigh`."""

    eigenvalues: Array
    eigenvectors: Array


class EigResult(NamedTuple):
    """The result of :func:`eig`."""

    eigenvalues: Array
    eigenvectors: Array


class QRResult(NamedTuple):
    """The result of :func:`qr`."""

    Q: Array
    R: Array


class SlogdetResult(NamedTuple):
    """The result of :func:`slogdet`."""

    sign: Array
    logabsdet: Array


class SVDResult(NamedTuple):
    """The result of :func:`svd`."""

    U: Array
    S: Array
    Vh: Array


# Failures


def index_of(position: int, shape: tuple[int, ...]) -> str:
    """Return the index of an element, given its position in C order, as a fact for an error."""
    return str(tuple(int(i) for i in numpy().unravel_index(position, shape)))


_FAILURES = {
    "cholesky": "the matrix is not positive definite",
    "eig": "the eigenvalues did not converge",
    "eigh": "the eigenvalues did not converge",
    "eigvals": "the eigenvalues did not converge",
    "eigvalsh": "the eigenvalues did not converge",
    "inv": "the matrix is singular",
    "matrix_power": "the matrix is singular",
    "solve": "the matrix is singular",
}


def _raise_failure(op: str, x: Array, name: str) -> NoReturn:
    """Raise for the first matrix of the stack for which LAPACK fails, found by bisection."""
    stack = reshape(x, (-1, *x.shape[-2:]))
    first, last = 0, stack.shape[0]
    while last - first > 1:
        middle = (first + last) // 2
        if fails(op, stack[first:middle]):
            last = middle
        else:
            first = middle
    facts = [(name, str(x.shape))]
    if x.ndim > 2:
        facts.append(("index", index_of(first, x.shape[:-2])))
    finite = bool(reduce("all", isfinite(stack[first]), (0, 1), False, None))
    problem = _FAILURES.get(op, "the singular values did not converge")
    raise LinAlgError(op, problem if finite else "the matrix has NaN or infinity in it", facts)


set_results(EigResult, EighResult, QRResult, SlogdetResult, SVDResult, _raise_failure)


# The functions


def floating_matrices(op: str, x: object) -> Array:
    return as_floating(check_matrices(op, x))


@primitive_in("linalg")
def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """Return the Cholesky factor of a symmetric or Hermitian positive definite matrix.

    Parameters
    ----------
    x : Array
        Shape ``(..., M, M)``, of a floating-point dtype; integers and bool become float64.
        Only the triangle selected by `upper` is read.
    upper : bool
        Whether to return ``U`` of ``x = U^H U`` instead of ``L`` of ``x = L L^H``.

    Returns
    -------
    Array
        New array of the shape and dtype of `x`: triangular matrices.

    Raises
    ------
    LinAlgError
        If a matrix is not positive definite.
    """


@primitive_in("linalg")
def det(x: Array, /) -> Array:
    """Return the determinant of a matrix.

    Returns
    -------
    Array
        New array of shape ``(...)``, of the dtype of `x`. 1 if M is 0.
    """


@primitive_in("linalg")
def eig(x: Array, /) -> EigResult:
    """Return eigenvalues and eigenvectors of a matrix.

    Returns
    -------
    EigResult
        ``eigenvalues`` of shape ``(..., M)``, in no particular order, and ``eigenvectors`` of shape
        ``(..., M, M)``, whose columns have unit length. Both are complex, of the precision of `x`.
    """


@primitive_in("linalg")
def eigh(x: Array, /) -> EighResult:
    """Return eigenvalues and eigenvectors of a symmetric or Hermitian matrix.

    Returns
    -------
    EighResult
        ``eigenvalues`` of shape ``(..., M)``, real, of the precision of `x`, in ascending order, and
        ``eigenvectors`` of shape ``(..., M, M)``, the orthonormal columns, of the dtype of `x`. Their signs
        are not specified.
    """


@primitive_in("linalg")
def eigvals(x: Array, /) -> Array:
    """Return the eigenvalues of a matrix.

    Returns
    -------
    Array
        New array of shape ``(..., M)``, complex, of the precision of `x`; in no particular order.
    """


@primitive_in("linalg")
def eigvalsh(x: Array, /) -> Array:
    """Return the eigenvalues of a symmetric or Hermitian matrix.

    Returns
    -------
    Array
        New array of shape ``(..., M)``, real, of the precision of `x`, in ascending order.
    """


@primitive_in("linalg")
def inv(x: Array, /) -> Array:
    """Return the inverse of a matrix."""


@primitive_in("linalg")
def matrix_rank(x: Array, /, *, rtol: float | Array | None = None) -> Array:
    """Return the number of singular values that are not negligible.

    Returns
    -------
    Array
        New int64 array of shape ``(...)``.
    """
    x = floating_matrices("matrix_rank", x)
    limit = relative_tolerance("matrix_rank", x, rtol)
    counts = significant(singular_values("matrix_rank", x), limit)
    return reduce("count_nonzero", counts, (counts.ndim - 1,), False, None)


def relative_tolerance(op: str, x: Array, rtol: object) -> float | Array:
    """Return the `rtol` argument: a number, or an array with an axis of size 1 for the singular values."""
    if rtol is None:
        return max(x.shape[-2:]) * finfo(x.dtype).eps
    if isinstance(rtol, Array):
        check_kind(op, rtol, "real floating", "a real floating-point dtype, if it is an array")
        broadcast_shapes(op, [("leading axes of x", x.shape[:-2]), ("rtol", rtol.shape)])
        return expand_dims(rtol, axis=-1)
    number = as_scalar(op, "rtol", rtol)
    if isinstance(number, (bool, complex)):
        raise ArgumentTypeError(op, "rtol must be a float or an array", [("rtol", shown(rtol))])
    return as_float(op, number)


def significant(s: Array, limit: float | Array) -> Array:
    """Return a mask of the singular values, in descending order, that are not negligible."""
    return greater(s, multiply(s[..., :1], limit))


@primitive_in("linalg")
def pinv(x: Array, /, *, rtol: float | Array | None = None) -> Array:
    """Return the Moore-Penrose pseudo-inverse of a matrix.

    Returns
    -------
    Array
        New array of shape ``(..., N, M)``, of the dtype of `x`.
    """
    x = floating_matrices("pinv", x)
    limit = relative_tolerance("pinv", x, rtol)
    u, s, vh = singular_vectors("pinv", x, False)
    factors = where(significant(s, limit), reciprocal(s), 0.0)
    scaled = multiply(matrix_transpose(conj(vh)), expand_dims(factors, axis=-2))
    return matmul(scaled, matrix_transpose(conj(u)))


@primitive_in("linalg")
def qr(x: Array, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """Return the QR decomposition of a matrix.

    Parameters
    ----------
    mode : {"reduced", "complete"}
        With ``K = min(M, N)``: K columns of Q and K rows of R, or M of each.

    Returns
    -------
    QRResult
        ``Q`` of shape ``(..., M, K)``, with orthonormal columns, and ``R`` of shape ``(..., K, N)``, upper
        triangular; or ``(..., M, M)`` and ``(..., M, N)``. Both of the dtype of `x`.

    Raises
    ------
    ArgumentValueError
        If `mode` is unknown.
    """


@primitive_in("linalg")
def slogdet(x: Array, /) -> SlogdetResult:
    """Return the determinant as sign and logarithm of the absolute value, which do not overflow.

    Returns
    -------
    SlogdetResult
        ``sign`` of the dtype of `x`, with absolute value 1 or 0; ``logabsdet``, real, of the
        precision of `x`, minus infinity if the determinant is 0. Both have shape ``(...)``.
    """


@primitive_in("linalg")
def solve(x1: Array, x2: Array, /) -> Array:
    """Return the solution of a system of linear equations.

    Parameters
    ----------
    x1 : Array
        Coefficients, of shape ``(..., M, M)`` and a floating-point dtype; integers and bool become float64.
    x2 : Array
        Right-hand sides, with the same rules for dtypes: one vector of shape ``(M,)`` for all systems, or
        shape ``(..., M, K)``, whose leading axes broadcast against the leading axes of `x1`.

    Returns
    -------
    Array
        New array of shape ``(..., M)`` for a vector, otherwise ``(..., M, K)``, of the promoted dtype of `x1`
        and `x2`.

    Raises
    ------
    ShapeError
        If `x1` is not square, or if `x2` has another number of rows.
    """


@primitive_in("linalg")
def svd(x: Array, /, *, full_matrices: bool = True) -> SVDResult:
    """Return the singular value decomposition of a matrix.

    Parameters
    ----------
    full_matrices : bool
        Whether to return all singular vectors, not only the vectors of the ``K = min(M, N)`` singular values.

    Returns
    -------
    SVDResult
        ``U`` of shape ``(..., M, M)`` or ``(..., M, K)``, ``S`` of shape ``(..., K)`` and ``Vh`` of shape
        ``(..., N, N)`` or ``(..., K, N)``, with ``x = U @ diag(S) @ Vh``. ``S`` is real, of the precision
        of `x`, in descending order; ``U`` and ``Vh`` have the dtype of `x`. The signs of pairs of vectors
        are not specified.
    """


@primitive_in("linalg")
def svdvals(x: Array, /) -> Array:
    """Return the singular values of a matrix.

    Returns
    -------
    Array
        New array of shape ``(..., min(M, N))``, real, of the precision of `x`, in descending order.
    """
