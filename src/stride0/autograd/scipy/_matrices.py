"""Functions of `stride0.autograd.scipy.linalg` that the namespace has, too, and structured matrices.

SciPy parameters that change no value (`overwrite_a`, `check_finite`, `lapack_driver`) are left out.
"""

from __future__ import annotations

from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentValueError, ShapeError
from stride0._core.array.array import Array
from stride0.autograd._rules.linalg import adjoint
from stride0.autograd.scipy._arguments import floating, item, one_of, require, same_dtype
from stride0.autograd.scipy._signatures import named

__all__ = [
    "cholesky",
    "circulant",
    "det",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "expm",
    "hankel",
    "inv",
    "lstsq",
    "norm",
    "pinv",
    "qr",
    "solve",
    "svd",
    "svdvals",
    "toeplitz",
]


def matrix(operation: str, name: str, x: Any, square: bool = True) -> Array:
    """Return an argument as a matrix, or a stack of matrices."""
    found = floating(operation, name, x)
    if found.ndim < 2 or (square and found.shape[-1] != found.shape[-2]):
        accepts = "pass a square matrix, or a stack of them" if square else "pass a matrix"
        raise ShapeError(operation, f"{name} has shape {found.shape}", accepts=accepts)
    return found


def _named(name: str, what: str, square: bool = True) -> Any:
    """Return a form of a function of the namespace, for one matrix."""

    def function(a: Any) -> Any:
        return getattr(xp.linalg, name)(matrix(name, "a", a, square))

    doc = f"Compute the {what}: `scipy.linalg.{name}`. Differentiable by `a`."
    return named(function, name, doc)


det = _named("det", "determinant")
inv = _named("inv", "inverse")
expm = _named("expm", "matrix exponential")
eigvals = _named("eigvals", "eigenvalues")
svdvals = _named("svdvals", "singular values", square=False)


def _hermitian(a: Array, lower: bool, conjugated: bool = True) -> Array:
    """Return the Hermitian or symmetric matrix, given one of its triangles.

    LAPACK does not read the imaginary parts of the diagonal of a Hermitian matrix.
    """
    part, strict = (xp.tril(a), xp.tril(a, k=-1)) if lower else (xp.triu(a), xp.triu(a, k=1))
    if not conjugated:
        return part + xp.matrix_transpose(strict)
    if a.dtype.kind == "complex floating":
        part = strict + _band(xp.astype(xp.real(a), a.dtype), 0)
    return part + adjoint(strict)


def _band(a: Array, width: int) -> Array:
    """Return the main diagonal of matrices and `width` diagonals on both sides of it; 0 elsewhere."""
    return xp.tril(xp.triu(a, k=-width), k=width)


def _of_triangle(operation: str, a: Any, lower: bool) -> Array:
    return _hermitian(matrix(operation, "a", a), lower)


def _plain_problem(operation: str, b: Any) -> None:
    if b is not None:
        raise ArgumentValueError(
            operation, "b is given", accepts="pass b=None: only the standard eigenvalue problem is supported"
        )


def cholesky(a: Any, lower: bool = False) -> Array:
    """Compute the Cholesky factor: `scipy.linalg.cholesky`.

    Differentiable by `a`; the triangle that is not read has the gradient zero.
    """
    found = xp.linalg.cholesky(_of_triangle("cholesky", a, lower))
    return found if lower else adjoint(found)


def eigvalsh(a: Any, b: None = None, *, lower: bool = True) -> Array:
    """Compute the eigenvalues of Hermitian matrices: `scipy.linalg.eigvalsh`.

    Differentiable by `a`; only one triangle is read. `b` is not supported.
    """
    _plain_problem("eigvalsh", b)
    return xp.linalg.eigvalsh(_of_triangle("eigvalsh", a, lower))


def eigh(a: Any, b: None = None, *, lower: bool = True, eigvals_only: bool = False) -> Any:
    """Compute the eigenvalues and eigenvectors of Hermitian matrices: `scipy.linalg.eigh`.

    Differentiable by `a`, of which one triangle is read. `b` is not supported.
    """
    _plain_problem("eigh", b)
    if eigvals_only:
        return eigvalsh(a, lower=lower)
    return tuple(xp.linalg.eigh(_of_triangle("eigh", a, lower)))


def eig(a: Any, b: None = None, left: bool = False, right: bool = True) -> Any:
    """Compute the eigenvalues and right eigenvectors of matrices: `scipy.linalg.eig`.

    Differentiable by `a`. `b` and left eigenvectors are not supported.
    """
    _plain_problem("eig", b)
    one_of("eig", "left", left, (False,))
    if not right:
        return eigvals(a)
    return tuple(xp.linalg.eig(matrix("eig", "a", a)))


def pinv(a: Any, *, atol: float | None = None, rtol: float | None = None) -> Array:
    """Compute the pseudo-inverse: `scipy.linalg.pinv`.

    Differentiable by `a` if its rank does not change. `atol` must be zero.
    """
    x = matrix("pinv", "a", a, square=False)
    if atol:
        raise ArgumentValueError("pinv", f"atol is {atol}", accepts="pass only rtol")
    if rtol is None:
        rtol = 0.0 if atol is not None else max(x.shape[-2:]) * xp.finfo(x.dtype).eps
    return xp.linalg.pinv(x, rtol=float(rtol))


# SciPy's names of matrix structures, and the number of diagonals read on each side of the main diagonal.
_KINDS = {"symmetric": "sym", "hermitian": "her", "positive definite": "pos"}
_WIDTHS = {"diagonal": 0, "tridiagonal": 1}


def solve(
    a: Any, b: Any, lower: bool = False, *, assume_a: str | None = None, transposed: bool = False
) -> Array:
    """Solve a system of linear equations: `scipy.linalg.solve`.

    Differentiable by `a` and `b`. Elements of `a` that `assume_a` excludes have the gradient zero.
    """
    a, b = same_dtype(matrix("solve", "a", a), floating("solve", "b", b))
    kind = _KINDS.get(str(assume_a), assume_a)
    if kind in _KINDS.values():
        a = _hermitian(a, lower, kind != "sym")
    elif kind in ("lower triangular", "upper triangular"):
        a = xp.tril(a) if kind.startswith("lower") else xp.triu(a)
    elif kind in _WIDTHS:
        a = _band(a, _WIDTHS[kind])
    else:
        names = ("general", "banded", "lower triangular", "upper triangular", *_WIDTHS, *_KINDS)
        one_of("solve", "assume_a", kind, (None, "gen", *names))
    if transposed:
        a = xp.matrix_transpose(a)
    return xp.linalg.solve(a, b)


def lstsq(a: Any, b: Any, cond: float | None = None) -> Any:
    """Solve a system by least squares: `scipy.linalg.lstsq`. Differentiable by `a` and `b`."""
    a, b = same_dtype(matrix("lstsq", "a", a, square=False), floating("lstsq", "b", b))
    x = xp.linalg.lstsq(a, b, rtol=cond).solution
    s = xp.linalg.svdvals(a)
    known = item(s)
    rank = (
        int((known > (xp.finfo(a.dtype).eps if cond is None else cond) * known[0]).sum()) if known.size else 0
    )
    m, n = a.shape[-2:]
    if m > n and rank == n:
        apart = xp.abs(xp.matmul(a, x) - b)
        residues = xp.sum(apart * apart, axis=0)
    else:
        residues = xp.zeros((0,), dtype=xp.real(x).dtype)
    return x, residues, rank, s


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """Compute the singular value decomposition: `scipy.linalg.svd`. Differentiable by `a`."""
    x = matrix("svd", "a", a, square=False)
    return tuple(xp.linalg.svd(x, full_matrices=bool(full_matrices))) if compute_uv else xp.linalg.svdvals(x)


def qr(a: Any, *, mode: str = "full") -> Any:
    """Compute the QR decomposition without pivoting: `scipy.linalg.qr`. Differentiable by `a`."""
    one_of("qr", "mode", mode, ("full", "economic", "r"))
    x = matrix("qr", "a", a, square=False)
    q, r = xp.linalg.qr(x, mode="reduced" if mode == "economic" else "complete")
    return (r,) if mode == "r" else (q, r)


def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    """Compute the norm of a matrix or a vector: `scipy.linalg.norm`. Differentiable by `a`."""
    x = floating("norm", "a", a)
    if axis is None and ord is None:
        found = xp.linalg.vector_norm(xp.reshape(x, (-1,)))
        return xp.reshape(found, (1,) * x.ndim) if keepdims else found
    axes = tuple(range(x.ndim)) if axis is None else ((axis,) if isinstance(axis, int) else tuple(axis))
    if len(axes) == 1:
        return xp.linalg.vector_norm(x, axis=axes[0], keepdims=keepdims, ord=2 if ord is None else ord)
    require(len(axes) == 2, "norm", "a", x, "one or two axes, or pass axis")
    numbers = sorted(k % x.ndim for k in axes)
    moved = xp.moveaxis(x, tuple(k % x.ndim for k in axes), (-2, -1))
    found = xp.linalg.matrix_norm(moved, ord="fro" if ord is None else ord)
    for k in numbers if keepdims else ():
        found = xp.expand_dims(found, axis=k)
    return found


# --- matrices whose diagonals are constant


def _of_diagonals(operation: str, values: Array, numbers: Any) -> Array:
    """Return matrices of elements of the last axis, given the index of each element."""
    found = xp.take(values, xp.reshape(xp.asarray(numbers), (-1,)), axis=-1)
    return xp.reshape(found, (*values.shape[:-1], *numbers.shape))


def _grid(rows: int, columns: int) -> tuple[Array, Array]:
    return xp.arange(rows)[:, None], xp.arange(columns)[None, :]


def _sides(operation: str, c: Any, r: Any) -> tuple[Array, Array]:
    c, r = same_dtype(floating(operation, "c", c), floating(operation, "r", r))
    for name, x in (("c", c), ("r", r)):
        require(x.ndim != 0 and x.shape[:-1] == c.shape[:-1], operation, name, x, c=c, r=r)
    return c, r


def toeplitz(c: Any, r: Any = None) -> Array:
    """Make matrices with constant diagonals: `scipy.linalg.toeplitz`. Differentiable by `c` and `r`."""
    c, r = _sides("toeplitz", c, xp.conj(floating("toeplitz", "c", c)) if r is None else r)
    i, j = _grid(c.shape[-1], r.shape[-1])
    values = xp.concat((xp.flip(r[..., 1:], axis=-1), c), axis=-1)
    return _of_diagonals("toeplitz", values, i - j + (r.shape[-1] - 1))


def hankel(c: Any, r: Any = None) -> Array:
    """Make matrices with constant anti-diagonals: `scipy.linalg.hankel`. Differentiable by `c` and `r`."""
    c, r = _sides("hankel", c, xp.zeros_like(floating("hankel", "c", c)) if r is None else r)
    i, j = _grid(c.shape[-1], r.shape[-1])
    return _of_diagonals("hankel", xp.concat((c, r[..., 1:]), axis=-1), i + j)


def circulant(c: Any) -> Array:
    """Make circulant matrices: `scipy.linalg.circulant`. Differentiable by `c`."""
    (c, _) = _sides("circulant", c, c)
    n = c.shape[-1]
    i, j = _grid(n, n)
    return _of_diagonals("circulant", c, (i - j) % n)
