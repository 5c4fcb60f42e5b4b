"""Gradient rules of decompositions.

Note [Hermitian arguments]
    `cholesky`, `eigh` and `eigvalsh` take a Hermitian matrix and read one triangle of it. Their gradients are
    Hermitian too, as PyTorch's and JAX's are: the gradient of the element that is read is divided evenly
    between that element and its mirror image. A step along the gradient thus keeps the matrix Hermitian.

Note [Choice of vectors]
    Eigenvectors and singular vectors are defined up to a phase (a sign, if real) and, where values repeat, up
    to a rotation among them. A well-defined loss does not change along such a rotation, so that part of the
    cotangent is meaningless and is left out: phases by taking only the Hermitian or skew-Hermitian part that
    the differential has, repeated values by replacing 1 / difference by 0. Values that differ by no more than
    the rounding errors of the decomposition count as repeated.

    First derivatives of losses made of the values alone are exact there. A second derivative, or a loss like
    `V f(S) V^H`, has a part that the cotangents do not determine: the limit of a quotient of differences. It
    is left out.

Note [Differential of the SVD]
    For x = U S V^H let M = U^H dx V = H + K, Hermitian and skew-Hermitian, as U^H dU and V^H dV are. Then

        U^H dU + V^H dV = 2 H_ij / (s_j - s_i),    U^H dU - V^H dV = 2 K_ij / (s_j + s_i),

    on the diagonal of the first, which is a matter of choice, 0. Only the first has differences: what depends
    on U V^H alone, such as the nuclear norm, is differentiated correctly where singular values repeat.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from stride0._chapters.creation import tril, triu, zeros
from stride0._chapters.data_types import finfo
from stride0._chapters.elementwise import abs, equal, subtract
from stride0._chapters.indexing import take_along_axis
from stride0._chapters.linear_algebra import matmul
from stride0._chapters.manipulation import concat, expand_dims, squeeze
from stride0._chapters.searching import argmin
from stride0._chapters.statistical import max
from stride0._core.array.array import Array
from stride0._core.ops.elementwise import conjugate
from stride0._core.ops.functions import where
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
from stride0.linalg import diagonal, eig, eigh, inv, svd
from stride0.linalg._decompositions import LinAlgError

# Building blocks


def _columns(g: Array, d: Array) -> Array:
    """Return a matrix times a diagonal matrix: `d` is the matrix and `g` the diagonal, or vice versa."""
    return product(expand_dims(g, axis=-2), d) if g.ndim < d.ndim else product(g, expand_dims(d, axis=-2))


def _economic(q: Array, g: Array | None, k: int) -> tuple[Array, Array | None]:
    """Return the first `k` columns of a unitary matrix, and a cotangent of them that stands for that of all.

    The others are orthogonal to them; rotations of the others among themselves are arbitrary.
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
        # The first columns of x make Q; the others are Q times those of R.
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
        problem = "there is no gradient where columns that make Q are linearly dependent"
        raise LinAlgError("qr", problem, [("Q", str(out[0].shape)), ("R", str(out[1].shape))]) from None
    return result if wide is None else concat([result, wide], axis=-1)


def _check_choice(q: Array, g: Array) -> None:
    """Raise LinAlgError if rotations of the columns among themselves change the loss."""
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
    slack = slack_of(values, *vectors.shape[-2:])
    inner = product(after(adjoint(vectors), gvectors), reciprocals(differences(values), slack))
    total = with_diagonal(hermitian(inner), gvalues)
    return before(after(vectors, total), adjoint(vectors))


def _eig(g: tuple[Array | None, Array | None], out: Any) -> Array | None:
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
        slack = slack_of(values, *vectors.shape[-2:])
        inner = product(inner, conjugate(reciprocals(differences(values), slack)))
    inner = with_diagonal(inner, gvalues)
    return None if inner is None else solved(h, before(inner, h))


def _eigvals(g: Array, x: Array, out: Array) -> Array | None:
    values, vectors = eig(x)
    if not every(equal(values, out)):
        # Without vectors they may be computed in another order.
        distances = abs(subtract(expand_dims(values, axis=-1), expand_dims(out, axis=-2)))
        g = take_along_axis(g, argmin(distances, axis=-1), axis=-1)
    return _eig((g, None), (values, vectors))


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
    slack = slack_of(s, rows, columns)
    odd = product(change, reciprocals(expand_dims(s, axis=-2) + expand_dims(s, axis=-1), slack))
    inner = hermitian(product(both, reciprocals(differences(s), slack))) + (odd - hermitian(odd))
    total = after(u, with_diagonal(inner, gs))
    inverses = reciprocals(s, squeeze(slack, axis=-1))
    if gu is not None and rows > k:
        total = total + _columns(gu - after(u, pu), inverses)
    result = before(total, adjoint(v))
    if gv is not None and columns > k:
        result = result + after(u, adjoint(_columns(gv - after(v, pv), inverses)))
    return result


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

NO_GRAD: dict[str, str] = {"linalg.matrix_rank": "a number of singular values, piecewise constant"}

INNER_VJP = _inverses.INNER_VJP
