"""`numpy.linalg` on stride0 arrays."""

from __future__ import annotations

import math
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentValueError
from stride0._base.shapes import normalize_axis
from stride0._core.array.array import Array
from stride0.linalg import LinAlgError
from stride0.numpy._calculus import cross, matmul, matrix_transpose, tensordot, vecdot  # noqa: F401
from stride0.numpy._calculus import outer as _outer
from stride0.numpy._names import missing as _missing
from stride0.numpy._names import words as _words
from stride0.numpy._parts import array, dtype_of
from stride0.numpy._parts import arrays as _arrays
from stride0.numpy._parts import floating as _floating

__all__ = _words(
    "LinAlgError cholesky cond cross det diagonal eig eigh eigvals eigvalsh inv lstsq matmul matrix_norm "
    "matrix_power matrix_rank matrix_transpose multi_dot norm outer pinv qr slogdet solve svd svdvals "
    "tensordot tensorinv tensorsolve trace vecdot vector_norm"
)


def cholesky(a: Any, /, *, upper: bool = False) -> Array:
    """Return the Cholesky factor."""
    return xp.linalg.cholesky(_floating(a), upper=upper)


def diagonal(x: Any, /, *, offset: int = 0) -> Array:
    """Return the diagonals of matrices: of the last two axes."""
    return xp.linalg.diagonal(array(x), offset=offset)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """Sum the diagonals of matrices: of the last two axes."""
    return xp.linalg.trace(array(x), offset=offset, dtype=dtype_of("trace", dtype))


def outer(x1: Any, x2: Any, /) -> Array:
    """Multiply each pair of elements of two vectors."""
    if any(array(x).ndim != 1 for x in (x1, x2)):
        raise ArgumentValueError("outer", "an operand does not have exactly one axis", (), "pass vectors")
    found: Array = _outer(x1, x2)
    return found


def det(a: Any) -> Array:
    """Return the determinant."""
    return xp.linalg.det(_floating(a))


def slogdet(a: Any) -> Any:
    """Return sign and logarithm of the determinant."""
    return xp.linalg.slogdet(_floating(a))


def inv(a: Any) -> Array:
    """Return the inverse."""
    return xp.linalg.inv(_floating(a))


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Array:
    """Return the pseudo-inverse."""
    _one_of("pinv", rcond, rtol)
    tolerance = rtol if rcond is None else rcond
    return xp.linalg.pinv(_floating(a), rtol=1e-15 if tolerance is None else tolerance)


def _one_of(name: str, absolute: Any, relative: Any) -> None:
    if absolute is not None and relative is not None:
        raise ArgumentValueError(name, "two tolerances are given", (), "pass only one of them")


def solve(a: Any, b: Any) -> Array:
    """Solve linear systems; a right-hand side with one axis is a vector."""
    return xp.linalg.solve(_floating(a), _floating(b))


def tensorsolve(a: Any, b: Any, axes: Any = None) -> Array:
    """Solve ``tensordot(a, x, x.ndim) = b``, after moving `axes` of `a` to the end."""
    a, b = _floating(a), _floating(b)
    if axes is not None:
        last = [normalize_axis("tensorsolve", axis, a.ndim) for axis in axes]
        a = xp.permute_dims(a, (*(k for k in range(a.ndim) if k not in last), *last))
    shape = a.shape[b.ndim :]
    if math.prod(a.shape[: b.ndim]) != math.prod(shape):
        facts = [("a", str(a.shape)), ("b", str(b.shape))]
        accepts = "make the product of the first b.ndim sizes of a equal the product of its other sizes"
        raise LinAlgError("tensorsolve", "the matrix of a is not square", facts, accepts)
    matrix = xp.reshape(a, (b.size, math.prod(shape)))
    return xp.reshape(xp.linalg.solve(matrix, xp.reshape(b, (-1,))), shape)


def tensorinv(a: Any, ind: int = 2) -> Array:
    """Return the inverse of `a` for ``tensordot(a, b, ind)``; the first `ind` axes are rows."""
    a = _floating(a)
    if ind <= 0:
        raise ArgumentValueError("tensorinv", f"ind is {ind}", (), "pass a positive number of axes")
    rows = math.prod(a.shape[ind:])
    inverse = xp.linalg.inv(xp.reshape(a, (math.prod(a.shape[:ind]), rows)))
    return xp.reshape(inverse, (*a.shape[ind:], *a.shape[:ind]))


def eig(a: Any) -> Any:
    """Return eigenvalues and eigenvectors; real if all eigenvalues are real, as in NumPy before 2.5."""
    values, vectors = found = xp.linalg.eig(_floating(a))
    if array(a).dtype.kind != "complex floating" and bool(xp.all(xp.imag(values) == 0)):
        return type(found)(xp.real(values), xp.real(vectors))
    return found


def eigvals(a: Any) -> Array:
    """Return eigenvalues; real if all are real, as in NumPy before 2.5."""
    values = xp.linalg.eigvals(_floating(a))
    if array(a).dtype.kind != "complex floating" and bool(xp.all(xp.imag(values) == 0)):
        return xp.real(values)
    return values


def _triangle(name: str, a: Any, UPLO: str) -> Any:
    if UPLO not in ("L", "U", "l", "u"):
        raise ArgumentValueError(name, f"UPLO is {UPLO!r}", (), "pass UPLO='L' or 'U'")
    a = _floating(a)
    if UPLO in "Ll":
        return a
    # Only the lower triangle is read.
    other = xp.matrix_transpose(a)
    return xp.conj(other) if a.dtype.kind == "complex floating" else other


def eigh(a: Any, UPLO: Any = "L") -> Any:
    """Return eigenvalues and eigenvectors of a Hermitian matrix; one triangle is read."""
    return xp.linalg.eigh(_triangle("eigh", a, UPLO))


def eigvalsh(a: Any, UPLO: Any = "L") -> Array:
    """Return eigenvalues of a Hermitian matrix; one triangle is read."""
    return xp.linalg.eigvalsh(_triangle("eigvalsh", a, UPLO))


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Return the singular value decomposition."""
    a = _floating(a)
    return xp.linalg.svd(a, full_matrices=full_matrices) if compute_uv else xp.linalg.svdvals(a)


def svdvals(x: Any, /) -> Array:
    """Return the singular values."""
    return xp.linalg.svdvals(_floating(x))


def qr(a: Any, mode: Any = "reduced") -> Any:
    """Return the QR decomposition."""
    if mode == "r":
        return xp.linalg.qr(_floating(a), mode="reduced")[1]
    if mode not in ("reduced", "complete"):
        raise ArgumentValueError("qr", f"mode is {mode!r}", (), "pass mode='reduced', 'complete' or 'r'")
    return xp.linalg.qr(_floating(a), mode=mode)


def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """Return the least-squares solution, residuals, rank and singular values."""
    a, b = _floating(a), _floating(b)
    solution, residuals, rank, values = xp.linalg.lstsq(a, b, rcond=rcond)
    if a.shape[-2] <= a.shape[-1] or int(rank) < a.shape[-1]:
        residuals = xp.zeros((0,), dtype=values.dtype)
    return solution, xp.reshape(residuals, (-1,)), int(rank), values


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Array:
    """Return the rank, by an absolute or a relative tolerance."""
    _one_of("matrix_rank", tol, rtol)
    a = _floating(A)
    if a.ndim < 2:
        return xp.asarray(int(bool(xp.any(a != 0))))
    if tol is None:
        return xp.linalg.matrix_rank(a) if rtol is None else xp.linalg.matrix_rank(a, rtol=rtol)
    tol = array(tol)
    return xp.count_nonzero(xp.linalg.svdvals(a) > tol[..., None], axis=-1)


def matrix_power(a: Any, n: int) -> Array:
    """Return a power of a matrix."""
    return xp.linalg.matrix_power(array(a) if n >= 0 else _floating(a), n)


def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    """Multiply matrices from left to right."""
    first, *rest = _arrays(arrays)
    if not rest:
        raise ArgumentValueError("multi_dot", "one matrix is given", (), "pass at least two matrices")
    for a in rest:
        first = xp.matmul(first, a)
    if out is not None:
        out[...] = first
        return out
    return first


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    """Return the norm of vectors or matrices."""
    x = _floating(x)
    if axis is None and ord is None:
        found = xp.linalg.vector_norm(x)
        return xp.reshape(found, (1,) * x.ndim) if keepdims else found
    if axis is None:
        axis = tuple(range(x.ndim))
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    if len(axes) == 1:
        if isinstance(ord, str):
            raise ArgumentValueError("norm", f"ord is {ord!r} for vectors", (), "pass ord as a number")
        return xp.linalg.vector_norm(x, axis=axes[0], keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) != 2:
        raise ArgumentValueError("norm", f"there are {len(axes)} axes", (), "pass axis as one or two axes")
    if ord is None:
        return xp.linalg.vector_norm(x, axis=axes, keepdims=keepdims)
    moved = xp.moveaxis(x, axes, (-2, -1))
    found = xp.linalg.matrix_norm(moved, ord=ord)
    if keepdims:
        found = xp.expand_dims(found, tuple(sorted(k % x.ndim for k in axes)))
    return found


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Array:
    """Return the norm of vectors."""
    return xp.linalg.vector_norm(_floating(x), axis=axis, keepdims=keepdims, ord=ord)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """Return the norm of matrices."""
    return xp.linalg.matrix_norm(_floating(x), keepdims=keepdims, ord=ord)


def cond(x: Any, p: Any = None) -> Array:
    """Return the condition number of matrices."""
    x = _floating(x)
    if x.size == 0:
        raise LinAlgError("cond", "x has no elements", [("x", str(x.shape))], "pass matrices with elements")
    singular: Any = False
    if p in (None, 2, -2):
        values = xp.linalg.svdvals(x)
        found = values[..., -1] / values[..., 0] if p == -2 else values[..., 0] / values[..., -1]
    else:
        singular = xp.linalg.slogdet(x)[0] == 0
        regular = xp.where(singular[..., None, None], xp.eye(x.shape[-1], dtype=x.dtype), x)
        found = xp.linalg.matrix_norm(x, ord=p) * xp.linalg.matrix_norm(xp.linalg.inv(regular), ord=p)
    undefined = xp.isnan(found) & ~xp.any(xp.isnan(x), axis=(-2, -1))
    return xp.where(undefined | singular, math.inf, found)


def __getattr__(name: str) -> Any:
    raise _missing("linalg", name)
