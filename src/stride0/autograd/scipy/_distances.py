"""Distances of `stride0.autograd.scipy.spatial.distance`: one table of formulas serves pairs and sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentValueError, ShapeError
from stride0._core.array.array import Array
from stride0.autograd.scipy._arguments import floating, item, ratio, require, root, same_dtype
from stride0.autograd.scipy._axes import axis_of
from stride0.autograd.scipy._signatures import named

__all__ = [
    "braycurtis",
    "canberra",
    "cdist",
    "chebyshev",
    "cityblock",
    "correlation",
    "cosine",
    "euclidean",
    "jensenshannon",
    "mahalanobis",
    "minkowski",
    "pdist",
    "seuclidean",
    "sqeuclidean",
]


def _sum(x: Array, w: Any) -> Array:
    """Return the sum along the last axis, with weights if there are any."""
    return xp.sum(x if w is None else w * x, axis=-1)


def _of_angle(u: Array, v: Array, w: Any) -> Array:
    return 1 - _sum(u * v, w) / xp.sqrt(_sum(u * u, w) * _sum(v * v, w))


def _centred(u: Array, w: Any) -> Array:
    total = u.shape[-1] if w is None else xp.sum(w)
    return u - xp.expand_dims(_sum(u, w), axis=-1) / total


def _square_form(u: Array, v: Array, inverse: Array) -> Array:
    d = u - v
    return root(xp.sum(xp.matmul(d[..., None, :], inverse)[..., 0, :] * d, axis=-1))


def _divergence(u: Array, v: Array, base: Any) -> Array:
    p, q = (x / xp.sum(x, axis=-1, keepdims=True) for x in (u, v))
    m = (p + q) / 2
    found = xp.sum(xp.special.rel_entr(p, m) + xp.special.rel_entr(q, m), axis=-1)
    if base is not None:
        found = found / xp.log(xp.asarray(float(base)))
    return root(found / 2)


def _largest(x: Array) -> Array:
    return xp.max(x, axis=-1) if x.shape[-1] else xp.sum(x, axis=-1)


def _power(u: Array, v: Array, w: Any, p: Any) -> Array:
    if p == xp.inf:
        return _TABLE["chebyshev"](u, v, w)
    d = xp.abs(u - v)
    if p == 1:
        return _sum(d, w)
    if p == 2:
        return root(_sum(d * d, w))
    return root(_sum(d**p, w), 1 / p)


# Distances along the last axis, with weights or None; the arrays broadcast.
_TABLE: dict[str, Callable[..., Array]] = {
    "euclidean": lambda u, v, w: root(_sum((u - v) ** 2, w)),
    "sqeuclidean": lambda u, v, w: _sum((u - v) ** 2, w),
    "cityblock": lambda u, v, w: _sum(xp.abs(u - v), w),
    "chebyshev": lambda u, v, w: _largest(xp.abs(u - v) if w is None else xp.where(w > 0, xp.abs(u - v), 0)),
    "canberra": lambda u, v, w: _sum(ratio(xp.abs(u - v), xp.abs(u) + xp.abs(v)), w),
    "braycurtis": lambda u, v, w: _sum(xp.abs(u - v), w) / _sum(xp.abs(u + v), w),
    "cosine": _of_angle,
    "correlation": lambda u, v, w: _of_angle(_centred(u, w), _centred(v, w), w),
    "minkowski": _power,
    "seuclidean": lambda u, v, w, V: root(xp.sum((u - v) ** 2 / V, axis=-1)),
    "mahalanobis": lambda u, v, w, VI: _square_form(u, v, VI),
    "jensenshannon": lambda u, v, w, base=None: _divergence(u, v, base),
}
# SciPy's abbreviations.
_ALSO = {
    short: name
    for name, abbreviations in {
        "euclidean": "euclid eu e",
        "sqeuclidean": "sqe sqeuclid",
        "cityblock": "cblock cb c",
        "chebyshev": "chebychev cheby cheb ch",
        "cosine": "cos",
        "correlation": "co",
        "minkowski": "mi m pnorm",
        "seuclidean": "se s",
        "mahalanobis": "mahal mah",
        "jensenshannon": "js",
    }.items()
    for short in abbreviations.split()
}


def _matched(operation: str, name: str, x: Any, ndim: int) -> Array:
    found = floating(operation, name, x)
    require(found.ndim == ndim, operation, name, found, "one axis" if ndim == 1 else "two axes")
    return found


def _between(operation: str, u: Any, v: Any, w: Any, **options: Any) -> Array:
    u, v = same_dtype(_matched(operation, "u", u, 1), _matched(operation, "v", v, 1))
    if u.shape != v.shape:
        raise ShapeError(operation, "u and v differ in size", [("u", f"{u.shape}"), ("v", f"{v.shape}")])
    return _TABLE[operation](u, v, None if w is None else _weights(operation, w, u), **options)


def _weights(operation: str, w: Any, like: Array) -> Array:
    found = floating(operation, "w", w)
    if (item(found) < 0).any():
        raise ArgumentValueError(operation, "w has a negative weight", accepts="pass weights of 0 or more")
    return xp.astype(found, like.dtype, copy=False)


def _pair(name: str, what: str) -> Any:
    def function(u: Any, v: Any, w: Any = None) -> Array:
        return _between(name, u, v, w)

    doc = f"Compute the {what} of two vectors: `scipy.spatial.distance.{name}`. Differentiable by all."
    return named(function, name, doc)


euclidean = _pair("euclidean", "Euclidean distance")
sqeuclidean = _pair("sqeuclidean", "squared Euclidean distance")
cityblock = _pair("cityblock", "sum of absolute differences")
chebyshev = _pair("chebyshev", "largest absolute difference")
canberra = _pair("canberra", "Canberra distance")
braycurtis = _pair("braycurtis", "Bray-Curtis distance")
cosine = _pair("cosine", "cosine distance, 1 less the cosine of the angle,")
correlation = _pair("correlation", "correlation distance, 1 less the correlation,")


def minkowski(u: Any, v: Any, p: float = 2, w: Any = None) -> Array:
    """Compute the norm of a difference: `scipy.spatial.distance.minkowski`. Differentiable except by `p`."""
    if not p > 0:
        raise ArgumentValueError("minkowski", f"p is {p}", accepts="pass a positive p")
    return _between("minkowski", u, v, w, p=p)


def seuclidean(u: Any, v: Any, V: Any) -> Array:
    """Compute a standardized distance: `scipy.spatial.distance.seuclidean`. Differentiable by all."""
    return _between("seuclidean", u, v, None, V=floating("seuclidean", "V", V))


def mahalanobis(u: Any, v: Any, VI: Any) -> Array:
    """Compute Mahalanobis' distance: `scipy.spatial.distance.mahalanobis`. Differentiable by all."""
    return _between("mahalanobis", u, v, None, VI=floating("mahalanobis", "VI", VI))


def jensenshannon(
    p: Any, q: Any, base: float | None = None, *, axis: int = 0, keepdims: bool = False
) -> Array:
    """Compute the distance of distributions: `scipy.spatial.distance.jensenshannon`.

    Differentiable by `p` and `q`.
    """
    p, q = same_dtype(floating("jensenshannon", "p", p), floating("jensenshannon", "q", q))
    p, q = xp.broadcast_arrays(p, q)
    axis = axis_of("jensenshannon", p, axis)
    found = _divergence(xp.moveaxis(p, axis, -1), xp.moveaxis(q, axis, -1), base)
    return xp.expand_dims(found, axis=axis) if keepdims else found


def _options(operation: str, name: str, x: Array, y: Array | None, options: dict[str, Any]) -> dict[str, Any]:
    """Return the further operands of a metric: given, or computed from the vectors as in SciPy."""
    own = {"minkowski": {"p"}, "seuclidean": {"V"}, "mahalanobis": {"VI"}, "jensenshannon": {"base"}}
    found = {key: value for key, value in options.items() if value is not None}
    unknown = found.keys() - own.get(name, set()) - {"w"}
    if unknown:
        raise ArgumentValueError(
            operation, f"{min(unknown)} is not an option of {name}", accepts=f"leave {min(unknown)} out"
        )
    w = found.pop("w", None)
    if w is not None and name in ("seuclidean", "mahalanobis", "jensenshannon"):
        raise ArgumentValueError(operation, f"w is not an option of {name}", accepts="leave w out")
    if name == "minkowski":
        found.setdefault("p", 2)
    points = x if y is None else xp.concat((x, y))
    if name == "seuclidean" and "V" not in found:
        found["V"] = xp.var(points, axis=0, correction=1)
    if name == "mahalanobis" and "VI" not in found:
        count, size = points.shape
        if count <= size:
            raise ShapeError(
                operation,
                f"{count} vectors of {size} elements have a singular covariance matrix",
                accepts=f"pass at least {size + 1} vectors, or VI",
            )
        apart = points - xp.mean(points, axis=0)
        found["VI"] = xp.matrix_transpose(xp.linalg.inv(xp.matmul(apart.T, apart) / (points.shape[0] - 1)))
    for key in {"V", "VI"} & found.keys():
        found[key] = floating(operation, key, found[key])
    return {"w": None if w is None else _weights(operation, w, x), **found}


def _metric(operation: str, metric: Any) -> str:
    name = _ALSO.get(str(metric).lower(), str(metric).lower())
    if callable(metric) or name not in _TABLE:
        names = ", ".join(sorted(_TABLE))
        raise ArgumentValueError(operation, f"metric is {metric!r}", accepts=f"pass one of {names}")
    return name


def cdist(XA: Any, XB: Any, metric: str = "euclidean", **options: Any) -> Array:
    """Compute the distances between the vectors of two sets: `scipy.spatial.distance.cdist`.

    Differentiable by `XA`, `XB` and the arrays among ``w``, ``V`` and ``VI``. The metric must be the name of
    a metric of real vectors, not a function. Needs memory for M K N elements, for the gradient.
    """
    name = _metric("cdist", metric)
    x, y = same_dtype(_matched("cdist", "XA", XA, 2), _matched("cdist", "XB", XB, 2))
    if x.shape[1] != y.shape[1]:
        raise ShapeError("cdist", "the vectors differ in size", [("XA", f"{x.shape}"), ("XB", f"{y.shape}")])
    return _TABLE[name](x[:, None, :], y[None, :, :], **_options("cdist", name, x, y, options))


def pdist(X: Any, metric: str = "euclidean", **options: Any) -> Array:
    """Compute the distances of all pairs of vectors: `scipy.spatial.distance.pdist`.

    Differentiable by `X` and the arrays among the options; takes the metrics of `cdist`.
    """
    name = _metric("pdist", metric)
    x = _matched("pdist", "X", X, 2)
    indices = xp.arange(x.shape[0])
    first, second = xp.nonzero(indices[:, None] < indices[None, :])
    chosen = _options("pdist", name, x, None, options)
    return _TABLE[name](xp.take(x, first, axis=0), xp.take(x, second, axis=0), **chosen)
