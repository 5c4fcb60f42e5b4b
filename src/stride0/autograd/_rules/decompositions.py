"""Gradient rules of decompositions.

Note [Hermitian arguments]
    `cholesky`, `eigh` and `eigvalsh` take a Hermitian matrix and read one triangle of it. Their gradients are
    Hermitian too, as in PyTorch and JAX: the gradient of an element in that triangle is divided evenly
    between the element and its mirror image. So a step along the gradient keeps the matrix Hermitian.

Note [Choice of vectors]
    Eigenvectors and singular vectors are defined up to a phase (a sign, if real). The vectors of a repeated
    value are also defined only up to a rotation. A well-defined loss does not change along such a rotation.
    Phases drop out: the rules take only the Hermitian or skew-Hermitian part that the differential has.
    If values repeat, the rules compute the limit of their quotients, or raise LinAlgError if the loss depends
    on the choice: Note [Repeated values] in `repeated.py`.

Note [Differential of the SVD]
    For x = U S V^H let M = U^H dx V = H + K, Hermitian and skew-Hermitian, as U^H dU and V^H dV are. Then

        U^H dU + V^H dV = 2 H_ij / (s_j - s_i),    U^H dU - V^H dV = 2 K_ij / (s_j + s_i),

    The diagonal of the first sum is arbitrary: 0. The difference has a limit if both values are 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from stride0._chapters.creation import arange, tril, triu, zeros
from stride0._chapters.data_types import astype, finfo
from stride0._chapters.elementwise import abs, equal, imag, less, less_equal, subtract
from stride0._chapters.indexing import take_along_axis
from stride0._chapters.linear_algebra import matmul
from stride0._chapters.manipulation import concat, expand_dims, squeeze
from stride0._chapters.searching import argmin
from stride0._chapters.statistical import max
from stride0._core.array.array import Array
from stride0._core.elementwise.elementwise import conjugate
from stride0._core.elementwise.functions import real, where
from stride0._core.memory.dtype import DType
from stride0.autograd._rules import inverses as _inverses
from stride0.autograd._rules.compiled import after, before
from stride0.autograd._rules.inverses import (
    diagonal_mask,
    differences,
    hermitian,
    reciprocals,
    slack_of,
    solved,
    with_diagonal,
)
from stride0.autograd._rules.linalg import adjoint
from stride0.autograd._rules.parts import every, product, some
from stride0.autograd._rules.repeated import Quotient, Separation, has_repeated, near_of
from stride0.linalg import diagonal, eig, eigh, inv, svd
from stride0.linalg._decompositions import LinAlgError

# Building blocks


def _columns(g: Array, d: Array) -> Array:
    """Return a matrix times a diagonal matrix: `d` is the matrix and `g` the diagonal, or vice versa."""
    return product(expand_dims(g, axis=-2), d) if g.ndim < d.ndim else product(g, expand_dims(d, axis=-2))


def _economic(q: Array, g: Array | None, k: int) -> tuple[Array, Array | None]:
    """Return the first `k` columns of a unitary matrix, and a cotangent of these that represents all columns.

    The other columns are orthogonal to these; rotations among the other columns are arbitrary.
    """
    first = q[..., :k]
    if g is None:
        return first, None
    others = q[..., k:]
    return first, g[..., :k] - after(others, before(adjoint(g[..., k:]), first))


# Factors


def _cholesky(g: Array, out: Array, upper: bool) -> Array:
    factor = out
    if upper:
        g, factor = adjoint(g), adjoint(out)
    inverse = inv(factor)
    inner = tril(after(adjoint(factor), g))
    inner = hermitian(where(diagonal_mask(inner.shape[-1]), inner / 2, inner))
    return after(adjoint(inverse), before(inner, inverse))


def _qr(g: tuple[Array | None, Array | None], out: Any) -> Array | None:
    gq, gr = g
    q, r = out
    if (gq is None and gr is None) or q.size == 0 or r.size == 0:
        return None
    rows, columns = q.shape[-2], r.shape[-1]
    if columns < q.shape[-1]:
        if gq is not None:
            _check_choice(q[..., columns:], gq[..., columns:])
        q, gq = _economic(q, gq, columns)
        r = r[..., :columns, :]
        gr = None if gr is None else gr[..., :columns, :]
    wide = None
    if columns > rows:
        # The first columns of x determine Q; the other columns are Q times columns of R.
        if gr is not None:
            others = matmul(q, r[..., rows:])
            wide = after(q, gr[..., rows:])
            more = after(others, adjoint(gr[..., rows:]))
            gq = more if gq is None else gq + more
            gr = gr[..., :rows]
        else:
            wide = zeros((*q.shape[:-1], columns - rows), dtype=q.dtype)
        r = r[..., :rows]
    inner = None if gr is None else before(gr, adjoint(r))
    if gq is not None:
        own = after(adjoint(q), gq)
        inner = -own if inner is None else inner - own
    assert inner is not None
    inner = triu(inner)
    inner = inner + adjoint(inner)
    inner = where(diagonal_mask(inner.shape[-1]), inner / 2, inner)
    total = after(q, inner)
    if gq is not None:
        total = total + gq
    try:
        result = adjoint(solved(r, adjoint(total)))
    except LinAlgError:
        problem = "there is no gradient if the columns that determine Q are linearly dependent"
        raise LinAlgError("qr", problem, [("Q", str(out[0].shape)), ("R", str(out[1].shape))]) from None
    return result if wide is None else concat([result, wide], axis=-1)


def _check_choice(q: Array, g: Array) -> None:
    """Raise LinAlgError if rotations among the columns change the loss."""
    rotation = after(adjoint(q), g)
    rotation = max(abs(rotation - adjoint(rotation)))
    if some(rotation > math.sqrt(finfo(g.dtype).eps) * max(abs(g))):
        raise LinAlgError(
            "qr",
            "there is no gradient: the columns that mode='complete' adds are a matter of choice, "
            "and the result depends on it",
            [("Q", str(q.shape))],
        )


# Eigenvalues and singular values


def _eigh(g: tuple[Array | None, Array | None], out: Any) -> Array | None:
    """Return the cotangent for `eigh`: Note [Hermitian arguments], Note [Choice of vectors]."""
    gvalues, gvectors = g
    values, vectors = out
    if values.size == 0:
        return None
    if gvectors is None:
        return None if gvalues is None else before(_columns(gvalues, vectors), adjoint(vectors))
    inner = after(adjoint(vectors), gvectors)
    if has_repeated(values):
        inner = _eigh_repeated(inner, gvectors, (values, vectors))
    else:
        slack = slack_of(values, *vectors.shape[-2:])
        inner = hermitian(product(inner, reciprocals(differences(values), slack)))
    return before(after(vectors, with_diagonal(inner, gvalues)), adjoint(vectors))


def _eigh_repeated(inner: Array, gvectors: Array, out: tuple[Array, Array]) -> Array:
    values, vectors = out
    split = Separation("eigh", out, 0, [gvectors], vectors.shape[-1])
    turn = split.generator(vectors.dtype)

    def direction() -> tuple[tuple[Array, Array], Array]:
        t = split.generator(vectors.dtype, whole=True)
        t = t - adjoint(t)
        inner = with_diagonal(product(t, differences(values)), split.all_steps)
        return (split.all_steps, matmul(vectors, t)), before(matmul(vectors, inner), adjoint(vectors))

    (found,) = split.quotients(
        [Quotient(_skew(inner), differences(values), differences(split.steps))],
        before(_columns(split.steps, vectors), adjoint(vectors)),
        [(None, matmul(vectors, turn)), (None, matmul(vectors, adjoint(turn)))],
        together=True,
        direction=direction,
    )
    return found


def _skew(x: Array) -> Array:
    """Return the skew-Hermitian part, without the diagonal."""
    return where(diagonal_mask(x.shape[-1]), 0, (x - adjoint(x)) / 2)


def _eig(g: tuple[Array | None, Array | None], x_dtype: DType, out: Any) -> Array | None:
    gvalues, gvectors = g
    values, vectors = out
    if values.size == 0:
        return None
    h = adjoint(vectors)
    inner: Any = None
    if gvectors is not None:
        inner = after(h, gvectors)
        # With a fixed phase, the differential of a unit vector is orthogonal to it.
        inner = inner - _columns(diagonal(inner), matmul(h, vectors))
        if has_repeated(values):
            inner = _eig_repeated(inner, gvectors, (values, vectors), x_dtype)
        else:
            slack = slack_of(values, *vectors.shape[-2:])
            inner = product(inner, conjugate(reciprocals(differences(values), slack)))
    inner = with_diagonal(inner, gvalues)
    return None if inner is None else solved(h, before(inner, h))


def _eig_repeated(inner: Array, gvectors: Array, out: tuple[Array, Array], x_dtype: DType) -> Array:
    values, vectors = out
    n = values.shape[-1]
    place = arange(n, dtype=real(values).dtype)
    if x_dtype.kind != "complex floating":
        # The path consists of real matrices: both values of a conjugate pair move alike.
        place = place - less(imag(values), -squeeze(near_of(values), axis=-1))
    split = Separation("eig", out, 0, [gvectors], n, place)
    turn = split.generator(vectors.dtype)
    h = adjoint(vectors)

    def rotated(t: Array) -> Array:
        """Return the change of unit vectors: the columns of V t, made orthogonal to the columns of V."""
        change = matmul(vectors, t)
        return change - _columns(diagonal(matmul(h, change)), vectors)

    def moved(steps: Array) -> Array:
        return adjoint(solved(h, adjoint(_columns(steps, vectors))))

    def direction() -> tuple[tuple[Array, Array], Array]:
        # Rotations within blocks do not change the matrix.
        return (astype(split.all_steps, values.dtype), rotated(turn + adjoint(turn) / 3)), moved(
            split.all_steps
        )

    (found,) = split.quotients(
        [
            Quotient(
                where(diagonal_mask(n), 0, inner), conjugate(differences(values)), differences(split.steps)
            )
        ],
        moved(split.steps),
        [(None, rotated(turn)), (None, rotated(adjoint(turn)))],
        together=False,
        direction=direction,
    )
    return found


def _eigvals(g: Array, x: Array, out: Array) -> Array | None:
    values, vectors = eig(x)
    if not every(equal(values, out)):
        # Without vectors, LAPACK may return the eigenvalues in another order.
        distances = abs(subtract(expand_dims(values, axis=-1), expand_dims(out, axis=-2)))
        g = take_along_axis(g, argmin(distances, axis=-1), axis=-1)
    return _eig((g, None), x.dtype, (values, vectors))


def _svd(g: tuple[Array | None, Array | None, Array | None], out: Any) -> Array | None:
    """Return the cotangent for `svd`: Note [Differential of the SVD]."""
    gu, gs, gvh = g
    u, s, vh = out
    if s.size == 0:
        return None
    rows, columns, k = u.shape[-2], vh.shape[-1], s.shape[-1]
    v, gv = adjoint(vh), None if gvh is None else adjoint(gvh)
    if u.shape[-1] > k:
        u, gu = _economic(u, gu, k)
    if v.shape[-1] > k:
        v, gv = _economic(v, gv, k)
    if gu is None and gv is None:
        return None if gs is None else before(_columns(gs, u), adjoint(v))
    pu: Any = None if gu is None else after(adjoint(u), gu)
    pv: Any = None if gv is None else after(adjoint(v), gv)
    both = pv if pu is None else pu if pv is None else pu + pv
    change = -pv if pu is None else pu if pv is None else pu - pv
    # Numerators, denominators, and functions that return the denominators' change as values separate.
    parts = [(_skew(both), differences(s), differences), ((change - adjoint(change)) / 2, _sums(s), _sums)]
    if gu is not None and rows > k:
        parts.append((gu - after(u, pu), _rows(s), _rows))
    if gv is not None and columns > k:
        parts.append((gv - after(v, pv), _rows(s), _rows))
    if has_repeated(s, zeros=True):
        found = _svd_repeated(parts, g, out)
    else:
        slack = slack_of(s, rows, columns)
        found = [product(x, reciprocals(d, slack)) for x, d, _ in parts]
    total = after(u, with_diagonal(found[0] + found[1], gs))
    if gu is not None and rows > k:
        total = total + found[2]
    result = before(total, adjoint(v))
    if gv is not None and columns > k:
        result = result + after(u, adjoint(found[-1]))
    return result


def _sums(x: Array) -> Array:
    return expand_dims(x, axis=-2) + expand_dims(x, axis=-1)


def _rows(x: Array) -> Array:
    return expand_dims(x, axis=-2)


def _svd_repeated(parts: list[Any], g: Any, out: Any) -> list[Array]:
    u, s, vh = out
    k = s.shape[-1]
    rows, columns = u.shape[-2], vh.shape[-1]
    split = Separation("svd", tuple(out), 1, [g[0], g[2]], rows if rows > columns else columns)
    turn = split.generator(u.dtype)
    # Left and right vectors of zero singular values rotate independently.
    sign = where(less_equal(s, squeeze(split.near, axis=-1)), -1, 1)

    def rotated(t: Array) -> tuple[Array, None, Array]:
        left = matmul(u[..., :k], t)
        right = before(adjoint(_columns(sign, t)), vh[..., :k, :]) if k else vh
        return _padded(left, u.shape), None, _padded(right, vh.shape)

    def direction() -> tuple[tuple[Array, Array, Array], Array]:
        t = split.generator(u.dtype, whole=True)
        left, right = t - adjoint(t), t * abs(t) - adjoint(t * abs(t))
        inner = with_diagonal(_columns(s, left) - product(expand_dims(s, axis=-1), right), split.all_steps)
        first, last = u[..., :k], vh[..., :k, :]
        moved = (
            _padded(matmul(first, left), u.shape),
            split.all_steps,
            _padded(-matmul(right, last), vh.shape),
        )
        return moved, before(matmul(first, inner), last)

    return split.quotients(
        [Quotient(x, d, change(split.steps)) for x, d, change in parts],
        before(_columns(split.steps, u[..., :k]), vh[..., :k, :]) if k else before(u, vh),
        [rotated(turn), rotated(adjoint(turn))],
        together=True,
        direction=direction,
    )


def _padded(x: Array, shape: tuple[int, ...]) -> Array:
    """Return a matrix with rows or columns of zeros appended."""
    for axis in (-2, -1):
        missing = shape[axis] - x.shape[axis]
        if missing:
            size = list(x.shape)
            size[axis] = missing
            x = concat([x, zeros(tuple(size), dtype=x.dtype)], axis=axis)
    return x


VJP: dict[str, dict[str, Callable[..., Any]]] = {
    **_inverses.VJP,
    "linalg.cholesky": {"x": _cholesky},
    "linalg.eig": {"x": _eig},
    "linalg.eigh": {"x": _eigh},
    "linalg.eigvals": {"x": _eigvals},
    "linalg.eigvalsh": {"x": lambda g, x: _eigh((g, None), eigh(x))},
    "linalg.qr": {"x": _qr},
    "linalg.svd": {"x": _svd},
    "linalg.svdvals": {"x": lambda g, x: _svd((None, g, None), svd(x, full_matrices=False))},
}

# Whether the cotangent of a result needs a recorded pass: cotangents of vectors need one if values repeat.
REPEATS: dict[str, Callable[[Any, int], bool]] = {
    "linalg.eig": lambda out, k: k == 1 and has_repeated(out[0]),
    "linalg.eigh": lambda out, k: k == 1 and has_repeated(out[0]),
    "linalg.svd": lambda out, k: k != 1 and has_repeated(out[1], zeros=True),
}

NO_GRAD: dict[str, str] = {"linalg.matrix_rank": "a number of singular values, piecewise constant"}

INNER_VJP = _inverses.INNER_VJP
