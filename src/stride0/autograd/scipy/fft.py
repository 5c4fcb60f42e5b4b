"""Differentiable forms of the cosine and sine transforms of `scipy.fft`.

References
----------
`scipy.fft`, whose definitions say which transform is the transpose of which.

Examples
--------
>>> from stride0.autograd.scipy import fft
>>> energy = lambda x: xp.sum(fft.dct(x, norm="ortho") ** 2)
>>> xp.autograd.grad(energy)(xp.asarray([1.0, 2.0, 3.0])).round(6)
Array([2., 4., 6.], dtype=float64)
"""

from __future__ import annotations

from typing import Any

import stride0 as xp
from stride0._core.array.array import Array
from stride0.autograd.scipy._arguments import count_of, floating, one_of
from stride0.autograd.scipy._axes import along, axis_of, lengthened
from stride0.autograd.scipy._calls import by_lanes, from_numpy, recorded, rules, scipy, to_numpy
from stride0.autograd.scipy._signatures import named

__all__ = ["dct", "dctn", "dst", "dstn", "idct", "idctn", "idst", "idstn"]

# The type of the transposed transform, and the factors of the end elements of its operand and its result (0
# the first element, -1 the last). This holds without SciPy's `orthogonalize`, with which each type is the
# transpose of its inverse type.
_TRANSPOSED: dict[tuple[str, int], tuple[int, tuple[int, ...], float, tuple[int, ...], float]] = {
    ("dct", 1): (1, (0, -1), 2.0, (0, -1), 0.5),
    ("dct", 2): (3, (0,), 2.0, (), 1.0),
    ("dct", 3): (2, (), 1.0, (0,), 0.5),
    ("dct", 4): (4, (), 1.0, (), 1.0),
    ("dst", 1): (1, (), 1.0, (), 1.0),
    ("dst", 2): (3, (-1,), 2.0, (), 1.0),
    ("dst", 3): (2, (), 1.0, (-1,), 0.5),
    ("dst", 4): (4, (), 1.0, (), 1.0),
}
_OPPOSITE_TYPE = {1: 1, 2: 3, 3: 2, 4: 4}
_OPPOSITE_NORM = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def _weighted(x: Array, axis: int, ends: tuple[int, ...], factor: float) -> Array:
    """Return an array whose ends along an axis are multiplied by a factor."""
    if not ends:
        return x
    n = x.shape[axis]
    weights = [1.0] * n
    for end in ends:
        weights[end] = factor
    return x * xp.reshape(xp.asarray(weights, dtype=xp.real(x).dtype), (n,) + (1,) * (x.ndim - axis - 1))


def _transposed(g: Array, kind: str, type: int, norm: str, axis: int, orthogonal: bool) -> Array:
    if orthogonal:
        return _transform(g, kind, _OPPOSITE_TYPE[type], norm, axis, True)
    other, before, factor, after, last = _TRANSPOSED[kind, type]
    found = _transform(_weighted(g, axis, before, factor), kind, other, norm, axis, False)
    return _weighted(found, axis, after, last)


@recorded("fft")
def _transform(x: Array, kind: str, type: int, norm: str, axis: int, orthogonal: bool) -> Array:
    function = getattr(scipy("fft"), kind)
    return from_numpy(function(to_numpy(x), type=type, axis=axis, norm=norm, orthogonalize=orthogonal))


rules(
    _transform,
    x=lambda g, kind, type, norm, axis, orthogonal: _transposed(g, kind, type, norm, axis, orthogonal),
)
by_lanes(_transform, "x")


def _fitted(x: Array, n: int, axis: int) -> Array:
    """Return an array truncated or padded with zeros to a length along an axis."""
    return lengthened(x, axis, n)[along(x.ndim, axis, slice(n))]


def _one(
    name: str, x: Any, type: int, n: int | None, axis: int, norm: str | None, orthogonalize: bool | None
) -> Array:
    """Compute the transform along one axis; the inverse transform has the opposite type and norm."""
    x = floating(name, "x", x)
    axis = axis_of(name, x, axis)
    one_of(name, "type", type, (1, 2, 3, 4))
    norm = one_of(name, "norm", norm or "backward", tuple(_OPPOSITE_NORM))
    orthogonal = norm == "ortho" if orthogonalize is None else bool(orthogonalize)
    if n is not None:
        x = _fitted(x, count_of(name, "n", n, 1), axis)
    kind = name.removeprefix("i")
    if name != kind:
        type, norm = _OPPOSITE_TYPE[type], _OPPOSITE_NORM[norm]
    # SciPy ignores the option for the sine transform of type 1 and for type 4: they are orthogonal up to a
    # factor.
    return _transform(x, kind, type, norm, axis, orthogonal)


def _several(
    name: str, x: Any, type: int, s: Any, axes: Any, norm: str | None, orthogonalize: bool | None
) -> Array:
    """Compute the transform along several axes, one after the other."""
    found = floating(name, "x", x)
    if axes is None:
        axes = range(found.ndim) if s is None else range(found.ndim - len(s), found.ndim)
    numbers = [axis_of(name, found, k) for k in ([axes] if isinstance(axes, int) else axes)]
    lengths = [None] * len(numbers) if s is None else ([s] if isinstance(s, int) else list(s))
    for axis, n in zip(numbers, lengths, strict=True):
        found = _one(name.removesuffix("n"), found, type, n, axis, norm, orthogonalize)
    return found


def _along_one(name: str, what: str) -> Any:
    def transform(
        x: Any,
        type: int = 2,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = None,
        *,
        orthogonalize: bool | None = None,
    ) -> Array:
        return _one(name, x, type, n, axis, norm, orthogonalize)

    return _documented(transform, name, what)


def _along_several(name: str, what: str) -> Any:
    def transform(
        x: Any,
        type: int = 2,
        s: Any = None,
        axes: Any = None,
        norm: str | None = None,
        *,
        orthogonalize: bool | None = None,
    ) -> Array:
        return _several(name, x, type, s, axes, norm, orthogonalize)

    return _documented(transform, name, what)


def _documented(function: Any, name: str, what: str) -> Any:
    return named(function, name, f"Compute the {what}: `scipy.fft.{name}`. Differentiable by `x`.")


dct = _along_one("dct", "cosine transform along an axis")
idct = _along_one("idct", "inverse cosine transform along an axis")
dst = _along_one("dst", "sine transform along an axis")
idst = _along_one("idst", "inverse sine transform along an axis")
dctn = _along_several("dctn", "cosine transform along several axes")
idctn = _along_several("idctn", "inverse cosine transform along several axes")
dstn = _along_several("dstn", "sine transform along several axes")
idstn = _along_several("idstn", "inverse sine transform along several axes")
