"""Decompositions and their kin in `linalg`: LAPACK, called through `numpy.linalg` on views of our memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, NoReturn

from stride0._base.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DTypeError,
    ShapeError,
    Stride0Error,
    counted,
    shown,
)
from stride0._base.shapes import broadcast_shapes
from stride0._chapters.data_types import finfo
from stride0._chapters.linear_algebra import check_matrices, matmul, matrix_transpose
from stride0._chapters.manipulation import expand_dims
from stride0._core.array.array import Array
from stride0._core.calls.checks import as_float, as_scalar, check_array, check_bool, check_kind
from stride0._core.calls.linear_algebra import broadcast_batches
from stride0._core.calls.primitive import primitive_in
from stride0._core.exchange.numpy_calls import from_numpy, numpy, quiet, to_numpy
from stride0._core.memory import dtype as dt
from stride0._core.memory.dtype import DType, arithmetic_dtype, promote
from stride0._core.ops.copy import copy
from stride0._core.ops.functions import conj, greater, multiply, reciprocal, where
from stride0._core.ops.reduce import reduce

__all__ = [
    "EigResult",
    "EighResult",
    "LinAlgError",
    "QRResult",
    "SVDResult",
    "SlogdetResult",
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
    """A matrix that an algorithm refuses: singular, not positive definite, or with NaN."""


class EighResult(NamedTuple):
    """What :func:`eigh` returns."""

    eigenvalues: Array
    eigenvectors: Array


class EigResult(NamedTuple):
    """What :func:`eig` returns."""

    eigenvalues: Array
    eigenvectors: Array


class QRResult(NamedTuple):
    """What :func:`qr` returns."""

    Q: Array
    R: Array


class SlogdetResult(NamedTuple):
    """What :func:`slogdet` returns."""

    sign: Array
    logabsdet: Array


class SVDResult(NamedTuple):
    """What :func:`svd` returns."""

    U: Array
    S: Array
    Vh: Array


# Conversion and checks


def as_floating(x: Array) -> Array:
    """Return `x` if its dtype is floating-point, real or complex; integers and bool as float64."""
    return x if x.dtype.kind in ("real floating", "complex floating") else copy(x, dt.float64)


def check_square(op: str, x: object, name: str = "x") -> Array:
    """Return `x` if it is a square matrix or a stack of them."""
    found = check_matrices(op, x, name)
    if found.shape[-2] != found.shape[-1]:
        raise ShapeError(
            op,
            f"{name} must be square, and a matrix of it is {found.shape[-2]} by {found.shape[-1]}",
            [(name, str(found.shape))],
        )
    return found


def _floating_square(op: str, x: object, name: str = "x") -> Array:
    return as_floating(check_square(op, x, name))


def floating_matrices(op: str, x: object) -> Array:
    return as_floating(check_matrices(op, x))


def refuse_storage_dtypes(op: str, *arrays: Array) -> None:
    for x in arrays:
        if arithmetic_dtype(x.dtype) is not x.dtype:
            problem = f"Unsupported dtype {x.dtype.name}"
            raise DTypeError(
                op, problem, (), f"astype(x, {arithmetic_dtype(x.dtype).name}), in which it is computed"
            )


def check_rows(op: str, x1: Array, x2: Array) -> None:
    """Refuse right-hand sides with another number of rows, or that do not broadcast against the matrices."""
    rows = x2.shape[0 if x2.ndim == 1 else -2] if x2.ndim else None
    if rows != x1.shape[-2]:
        raise ShapeError(
            op,
            f"x1 has {counted(x1.shape[-2], 'equation')} and x2 has "
            + ("no rows" if rows is None else counted(rows, "row")),
            [("x1", str(x1.shape)), ("x2", str(x2.shape))],
            "x2 must be a vector, or matrices with as many rows as x1 has.",
        )
    if x2.ndim > 1:
        broadcast_batches(op, x1, x2)


def index_of(position: int, shape: tuple[int, ...]) -> str:
    """Return the index of an element, of which the position in C order is known, as a fact of an error."""
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


def _lapack(op: str, function: Callable[..., Any], *arrays: Array) -> Any:
    """Call a function of numpy.linalg on arrays; its LinAlgError becomes ours."""
    refuse_storage_dtypes(op, *arrays)
    views = [to_numpy(x) for x in arrays]
    try:
        with quiet():
            return function(*views)
    except numpy().linalg.LinAlgError:
        pass
    # Outside of the handler, so that NumPy's error is not the context of ours.
    if len(arrays) == 1:
        _raise_failure(op, function, views[0], "x")
    _raise_failure(op, numpy().linalg.inv, views[0], "x1")


def _raise_failure(op: str, function: Callable[..., Any], a: Any, name: str) -> NoReturn:
    """Raise for the first matrix of the stack at which the function fails, found by bisection."""
    np = numpy()
    stack = a.reshape(-1, *a.shape[-2:])
    first, last = 0, len(stack)
    while last - first > 1:
        middle = (first + last) // 2
        try:
            with quiet():
                function(stack[first:middle])
        except np.linalg.LinAlgError:
            last = middle
        else:
            first = middle
    facts = [(name, str(a.shape))]
    if a.ndim > 2:
        facts.append(("index", index_of(first, a.shape[:-2])))
    finite = bool(np.isfinite(stack[first]).all())
    problem = _FAILURES.get(op, "the singular values did not converge")
    raise LinAlgError(op, problem if finite else "the matrix has NaN or infinity in it", facts)


def _as_complex(a: Any, dtype: DType) -> Array:
    """Return a complex array: NumPy's ``eig`` gives real ones where no eigenvalue is complex."""
    x = from_numpy(a)
    wanted = promote(dtype, dt.complex64)
    return x if x.dtype is wanted else copy(x, wanted)


# The functions


@primitive_in("linalg")
def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """Return the Cholesky factor of a symmetric or Hermitian positive definite matrix.

    Parameters
    ----------
    x : Array
        Shape ``(..., M, M)``, of a floating-point dtype; integers and bool become float64.
        Only the triangle that `upper` names is read.
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
    x = _floating_square("cholesky", x)
    upper = check_bool("cholesky", "upper", upper)
    return from_numpy(_lapack("cholesky", lambda a: numpy().linalg.cholesky(a, upper=upper), x))


@primitive_in("linalg")
def det(x: Array, /) -> Array:
    """Return the determinant of a matrix.

    Returns
    -------
    Array
        New array of shape ``(...)``, of the dtype of `x`. 1 where M is 0.
    """
    return from_numpy(_lapack("det", numpy().linalg.det, _floating_square("det", x)))


@primitive_in("linalg")
def eig(x: Array, /) -> EigResult:
    """Return eigenvalues and eigenvectors of a matrix.

    Returns
    -------
    EigResult
        ``eigenvalues`` of shape ``(..., M)``, in no particular order, and ``eigenvectors`` of shape
        ``(..., M, M)``, of unit length, in the columns. Both are complex, of the precision of `x`.
    """
    x = _floating_square("eig", x)
    eigenvalues, eigenvectors = _lapack("eig", numpy().linalg.eig, x)
    return EigResult(_as_complex(eigenvalues, x.dtype), _as_complex(eigenvectors, x.dtype))


@primitive_in("linalg")
def eigh(x: Array, /) -> EighResult:
    """Return eigenvalues and eigenvectors of a symmetric or Hermitian matrix.

    Returns
    -------
    EighResult
        ``eigenvalues`` of shape ``(..., M)``, real, of the precision of `x`, in ascending order, and
        ``eigenvectors`` of shape ``(..., M, M)``, of the dtype of `x`, orthonormal, in the columns.
    """
    eigenvalues, eigenvectors = _lapack("eigh", numpy().linalg.eigh, _floating_square("eigh", x))
    return EighResult(from_numpy(eigenvalues), from_numpy(eigenvectors))


@primitive_in("linalg")
def eigvals(x: Array, /) -> Array:
    """Return the eigenvalues of a matrix.

    Returns
    -------
    Array
        New array of shape ``(..., M)``, complex, of the precision of `x`; in no particular order.
    """
    x = _floating_square("eigvals", x)
    return _as_complex(_lapack("eigvals", numpy().linalg.eigvals, x), x.dtype)


@primitive_in("linalg")
def eigvalsh(x: Array, /) -> Array:
    """Return the eigenvalues of a symmetric or Hermitian matrix.

    Returns
    -------
    Array
        New array of shape ``(..., M)``, real, of the precision of `x`, in ascending order.
    """
    return from_numpy(_lapack("eigvalsh", numpy().linalg.eigvalsh, _floating_square("eigvalsh", x)))


@primitive_in("linalg")
def inv(x: Array, /) -> Array:
    """Return the inverse of a matrix."""
    return inverse("inv", _floating_square("inv", x))


def inverse(op: str, x: Array) -> Array:
    """Return the inverses of square matrices, for :func:`inv` and ``matrix_power``."""
    return from_numpy(_lapack(op, numpy().linalg.inv, x))


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
    """Return which of the singular values, the largest of which is the first, count."""
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
    u, s, vh = _svd("pinv", x, False)
    factors = where(significant(s, limit), reciprocal(s), 0.0)
    scaled = multiply(matrix_transpose(conj(vh)), expand_dims(factors, axis=-2))
    return matmul(scaled, matrix_transpose(conj(u)))


@primitive_in("linalg")
def qr(x: Array, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """Return the QR decomposition of a matrix.

    Parameters
    ----------
    mode : {"reduced", "complete"}
        With ``K = min(M, N)``: K columns of Q and rows of R, or M of each.

    Returns
    -------
    QRResult
        ``Q`` of shape ``(..., M, K)``, with orthonormal columns, and ``R`` of shape ``(..., K, N)``, upper
        triangular; or ``(..., M, M)`` and ``(..., M, N)``. Both of the dtype of `x`.
    """
    x = floating_matrices("qr", x)
    if not isinstance(mode, str) or mode not in ("reduced", "complete"):
        raise ArgumentValueError(
            "qr", f"unknown mode {shown(mode)}", (), "mode must be 'reduced' or 'complete'."
        )
    q, r = _lapack("qr", lambda a: numpy().linalg.qr(a, mode=mode), x)
    return QRResult(from_numpy(q), from_numpy(r))


@primitive_in("linalg")
def slogdet(x: Array, /) -> SlogdetResult:
    """Return sign and logarithm of the absolute value of the determinant, where the determinant may overflow.

    Returns
    -------
    SlogdetResult
        ``sign`` of the dtype of `x`, a number of absolute value 1, or 0; ``logabsdet``, real, of the
        precision of `x`, minus infinity where the determinant is 0. Both of shape ``(...)``.
    """
    sign, logabsdet = _lapack("slogdet", numpy().linalg.slogdet, _floating_square("slogdet", x))
    return SlogdetResult(from_numpy(sign), from_numpy(logabsdet))


@primitive_in("linalg")
def solve(x1: Array, x2: Array, /) -> Array:
    """Return the solution of a system of linear equations.

    Parameters
    ----------
    x1 : Array
        Coefficients, of shape ``(..., M, M)`` and a floating-point dtype; integers and bool become float64.
    x2 : Array
        Right-hand sides, of such a dtype: one vector of shape ``(M,)`` for all systems, or shape
        ``(..., M, K)``, with leading axes that broadcast against those of `x1`.

    Returns
    -------
    Array
        New array of shape ``(..., M)`` for a vector, else ``(..., M, K)``, of the dtype that those of `x1`
        and `x2` promote to.

    Raises
    ------
    ShapeError
        If `x1` is not square, or `x2` has another number of rows.
    """
    x1 = _floating_square("solve", x1, "x1")
    x2 = as_floating(check_array("solve", x2, "x2"))
    check_rows("solve", x1, x2)
    return from_numpy(_lapack("solve", numpy().linalg.solve, x1, x2))


@primitive_in("linalg")
def svd(x: Array, /, *, full_matrices: bool = True) -> SVDResult:
    """Return the singular value decomposition of a matrix.

    Parameters
    ----------
    full_matrices : bool
        Whether to return all singular vectors, and not only those of the ``K = min(M, N)`` singular values.

    Returns
    -------
    SVDResult
        ``U`` of shape ``(..., M, M)`` or ``(..., M, K)``, ``S`` of shape ``(..., K)`` and ``Vh`` of shape
        ``(..., N, N)`` or ``(..., K, N)``, with ``x = U @ diag(S) @ Vh``. ``S`` is real, of the precision
        of `x`, in descending order; the others have the dtype of `x`.
    """
    x = floating_matrices("svd", x)
    return _svd("svd", x, check_bool("svd", "full_matrices", full_matrices))


def _svd(op: str, x: Array, full_matrices: bool) -> SVDResult:
    u, s, vh = _lapack(op, lambda a: _finite_svd(a, full_matrices=full_matrices), x)
    return SVDResult(from_numpy(u), from_numpy(s), from_numpy(vh))


@primitive_in("linalg")
def svdvals(x: Array, /) -> Array:
    """Return the singular values of a matrix.

    Returns
    -------
    Array
        New array of shape ``(..., min(M, N))``, real, of the precision of `x`, in descending order.
    """
    return singular_values("svdvals", floating_matrices("svdvals", x))


def singular_values(op: str, x: Array) -> Array:
    """Return singular values, for :func:`svdvals` and the matrix norms made of them."""
    return from_numpy(_lapack(op, lambda a: _finite_svd(a, compute_uv=False), x))


def _finite_svd(a: Any, **options: bool) -> Any:
    """Do what ``numpy.linalg.svd`` does, but fail on infinity, where LAPACK may never end or return NaN."""
    np = numpy()
    if not np.isfinite(a).all():
        raise np.linalg.LinAlgError
    return np.linalg.svd(a, **options)
