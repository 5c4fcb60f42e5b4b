"""Differentiable forms of functions of `scipy.linalg`.

References
----------
Higham: Functions of matrices, theorem 3.6 (derivatives by block matrices).

Examples
--------
>>> from stride0.autograd.scipy import linalg
>>> x = xp.asarray([[4.0, 0.0], [0.0, 9.0]])
>>> xp.autograd.grad(lambda x: xp.linalg.trace(linalg.sqrtm(x)))(x).round(6)
Array([[0.25    , 0.      ],
       [0.      , 0.166667]], dtype=float64)
"""

from __future__ import annotations

import math
from typing import Any

import stride0 as xp
from stride0._base.errors import ShapeError
from stride0._core.array.array import Array
from stride0.autograd._rules.linalg import adjoint
from stride0.autograd._tape.tape import Level
from stride0.autograd.scipy import _matrices
from stride0.autograd.scipy._arguments import floating, one_of, require, same_dtype
from stride0.autograd.scipy._calls import batched, from_numpy, one_batch, recorded, rules, scipy, to_numpy
from stride0.autograd.scipy._matrices import *  # noqa: F403
from stride0.autograd.scipy._matrices import matrix
from stride0.autograd.scipy._signatures import named

__all__ = [
    "cho_solve",
    "coshm",
    "cosm",
    "logm",
    "sinhm",
    "sinm",
    "solve_banded",
    "solve_sylvester",
    "solve_triangular",
    "sqrtm",
    "tanhm",
    "tanm",
    *_matrices.__all__,
]


# --- triangular systems


def solve_triangular(
    a: Any, b: Any, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False
) -> Array:
    """Solve a system with triangular matrices: `scipy.linalg.solve_triangular`.

    Differentiable by `a` and `b`; elements of `a` that are not read have the gradient zero.
    """
    a, b = same_dtype(matrix("solve_triangular", "a", a), floating("solve_triangular", "b", b))
    one_of("solve_triangular", "trans", trans, (0, 1, 2, "N", "T", "C"))
    if trans in (1, "T"):
        a, lower = xp.matrix_transpose(a), not lower
    elif trans in (2, "C"):
        a, lower = adjoint(a), not lower
    return xp.linalg.solve_triangular(a, b, upper=not lower, unit_diagonal=bool(unit_diagonal))


def cho_solve(c_and_lower: tuple[Any, bool], b: Any) -> Array:
    """Solve a system with a known Cholesky factor: `scipy.linalg.cho_solve`.

    Differentiable by the factor and `b`.
    """
    c, lower = c_and_lower
    first, second = (0, 2) if lower else (2, 0)
    return solve_triangular(c, solve_triangular(c, b, trans=first, lower=lower), trans=second, lower=lower)


# --- banded systems


def _band_cotangent(g: Array, bands: tuple[int, int], ab: Array, out: Array) -> Array:
    lower, upper = bands
    solved = _banded(_flipped_bands(ab, bands), g, (upper, lower))
    n = ab.shape[1]
    rows = []
    for k in range(-upper, lower + 1):
        # ab[upper + k, j] is the element in row j + k and column j.
        # No such element exists if the matrix has fewer rows than the band has diagonals.
        first = min(max(0, -k), n)
        last = max(min(n, n - k), first)
        products = xp.sum(solved[first + k : last + k, :] * xp.conj(out[first:last, :]), axis=1)
        parts = (xp.zeros((first,), dtype=g.dtype), -products, xp.zeros((n - last,), dtype=g.dtype))
        rows.append(xp.concat(parts))
    return xp.stack(rows)


def _flipped_bands(ab: Array, bands: tuple[int, int]) -> Array:
    """Return the bands of the conjugate transpose."""
    lower, upper = bands
    # Row `upper + k` has the elements (j + k, j), and in the transpose these are (j, j + k).
    return xp.stack([xp.roll(xp.conj(ab[upper + k, :]), k) for k in range(lower, -upper - 1, -1)])


@recorded("linalg")
def _banded(ab: Array, b: Array, bands: tuple[int, int]) -> Array:
    return from_numpy(scipy("linalg").solve_banded(bands, to_numpy(ab), to_numpy(b), check_finite=False))


rules(
    _banded,
    ab=lambda g, bands, ab, out: _band_cotangent(g, bands, ab, out),
    b=lambda g, bands, ab: _banded(_flipped_bands(ab, bands), g, (bands[1], bands[0])),
)


def _banded_of_batch(level: Level, ab: Array, b: Array, bands: tuple[int, int]) -> Array:
    one_batch(_banded, level, {"ab": ab, "b": b}, "b")
    # All examples are columns of one right-hand side.
    columns = xp.reshape(xp.moveaxis(level.value(b), 0, 1), (b.shape[0], level.size * b.shape[1]))
    return xp.moveaxis(xp.reshape(_banded(ab, columns, bands), (b.shape[0], level.size, b.shape[1])), 1, 0)


batched(_banded, _banded_of_batch)


def solve_banded(l_and_u: tuple[int, int], ab: Any, b: Any) -> Array:
    """Solve a system with a banded matrix: `scipy.linalg.solve_banded`. Differentiable by `ab` and `b`."""
    ab, b = same_dtype(matrix("solve_banded", "ab", ab, square=False), floating("solve_banded", "b", b))
    lower, upper = map(int, l_and_u)
    if ab.shape[0] != lower + upper + 1 or b.ndim not in (1, 2) or b.shape[0] != ab.shape[1]:
        raise ShapeError(
            "solve_banded",
            "the shapes do not fit",
            [("ab", f"{ab.shape}"), ("b", f"{b.shape}")],
            f"pass ab of shape ({lower + upper + 1}, M), and b of shape (M,) or (M, N)",
        )
    found = _banded(ab, b[:, None] if b.ndim == 1 else b, (lower, upper))
    return found[:, 0] if b.ndim == 1 else found


# --- functions of matrices


def _of_stack(function: Any, *arrays: Any) -> Array:
    """Call SciPy in a loop over stacks of matrices, which broadcast. The results have the shape of the last
    argument.
    """
    import numpy as np

    lead = np.broadcast_shapes(*(x.shape[:-2] for x in arrays))
    shapes = [x.shape[-2:] for x in arrays]
    flat = [
        np.broadcast_to(x, (*lead, *shape)).reshape(math.prod(lead), *shape)
        for x, shape in zip(arrays, shapes, strict=True)
    ]
    rows = [function(*row) for row in zip(*flat, strict=True)]
    found = np.stack(rows) if rows else np.empty((0, *shapes[-1]), dtype=arrays[-1].dtype)
    return from_numpy(found.reshape(*lead, *shapes[-1]))


@recorded("linalg")
def _sylvester(a: Array, b: Array, q: Array) -> Array:
    return _of_stack(scipy("linalg").solve_sylvester, to_numpy(a), to_numpy(b), to_numpy(q))


rules(
    _sylvester,
    a=lambda g, a, b, out: -xp.matmul(_sylvester(adjoint(a), adjoint(b), g), adjoint(out)),
    b=lambda g, a, b, out: -xp.matmul(adjoint(out), _sylvester(adjoint(a), adjoint(b), g)),
    q=lambda g, a, b: _sylvester(adjoint(a), adjoint(b), g),
)
# All arguments are spread: they have the same leading axes.
batched(_sylvester, lambda level, a, b, q: _sylvester(level.spread(a), level.spread(b), level.spread(q)))


def solve_sylvester(a: Any, b: Any, q: Any) -> Array:
    """Solve ``a @ x + x @ b == q``: `scipy.linalg.solve_sylvester`. Differentiable by `a`, `b` and `q`."""
    a, b = matrix("solve_sylvester", "a", a), matrix("solve_sylvester", "b", b)
    a, b, q = same_dtype(a, b, matrix("solve_sylvester", "q", q, square=False))
    require(
        q.shape == (a.shape[-1], b.shape[-1]),
        "solve_sylvester",
        "q",
        q,
        f"shape {(a.shape[-1], b.shape[-1])}",
    )
    return _sylvester(a, b, q)


def _values(a: Array) -> Any:
    """Return matrices as NumPy arrays; complex if a root or logarithm of a real matrix is complex. Call it
    within the recorded function: the choice depends on values, and holds for a whole stack.
    """
    import numpy as np

    found = to_numpy(a)
    if a.dtype.kind == "real floating":
        values = np.linalg.eigvals(found)
        if (values.real[abs(values.imag) <= 1e-14 * abs(values)] < 0).any():
            return found.astype(np.result_type(found, np.complex64))
    return found


def _like(a: Array, cotangent: Array) -> Array:
    """Return the cotangent of a matrix, which may be real although the result is complex."""
    return xp.real(cotangent) if a.dtype.kind == "real floating" else cotangent


@recorded("linalg")
def _square_root(a: Array) -> Array:
    return _of_stack(scipy("linalg").sqrtm, _values(a))


rules(_square_root, a=lambda g, a, out: _like(a, _sylvester(adjoint(out), adjoint(out), g)))
batched(_square_root, lambda level, a: _square_root(level.value(a)))


def sqrtm(a: Any) -> Array:
    """Compute the principal square root of a matrix: `scipy.linalg.sqrtm`.

    Differentiable by `a` if no eigenvalue is on the negative real axis.
    """
    return _square_root(_single("sqrtm", a))


def _single(operation: str, a: Any) -> Array:
    """Return one matrix."""
    found = matrix(operation, "a", a)
    require(found.ndim == 2, operation, "a", found, "two axes")
    return found


def _derivative(g: Array, name: str, a: Array) -> Array:
    # The derivative in a direction is a block of the function of a block matrix. This map is its own
    # transpose, with the same branch of the logarithm. Axes are counted from the end, so stacks work, too.
    n = a.shape[-1]
    dtype = xp.result_type(a, g)
    x, v = xp.astype(a, dtype, copy=False), adjoint(xp.astype(g, dtype, copy=False))
    left, right = xp.concat((x, xp.zeros_like(x)), axis=-2), xp.concat((v, x), axis=-2)
    blocks = xp.concat((left, right), axis=-1)
    return _like(a, adjoint(_of_matrix(name, blocks)[..., :n, n:]))


@recorded("linalg")
def _of_matrix(name: str, a: Array) -> Array:
    return _of_stack(getattr(scipy("linalg"), name), _values(a) if name == "logm" else to_numpy(a))


rules(_of_matrix, a=lambda g, name, a: _derivative(g, name, a))
batched(_of_matrix, lambda level, name, a: _of_matrix(name, level.value(a)))


def _function_of_matrix(name: str, what: str) -> Any:
    def function(A: Any) -> Array:
        return _of_matrix(name, _single(name, A))

    doc = f"Compute the {what} of a matrix: `scipy.linalg.{name}`. Differentiable by `A`."
    return named(function, name, doc)


logm = _function_of_matrix("logm", "logarithm")
cosm = _function_of_matrix("cosm", "cosine")
sinm = _function_of_matrix("sinm", "sine")
tanm = _function_of_matrix("tanm", "tangent")
coshm = _function_of_matrix("coshm", "hyperbolic cosine")
sinhm = _function_of_matrix("sinhm", "hyperbolic sine")
tanhm = _function_of_matrix("tanhm", "hyperbolic tangent")
