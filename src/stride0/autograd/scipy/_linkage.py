"""Hierarchical clustering of `stride0.autograd.scipy.cluster`: the heights at which clusters are joined.

Which clusters are joined is constant. Each pair of observations is joined exactly once. So a height that is a
mean, minimum or maximum of distances is computed from the pairs of its join.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentTypeError
from stride0._core.array.array import Array
from stride0.autograd.scipy._arguments import floating, item, one_of, require, root
from stride0.autograd.scipy._calls import original
from stride0.autograd.scipy._distances import pdist
from stride0.autograd.scipy._signatures import named

__all__ = ["average", "centroid", "complete", "linkage", "median", "single", "ward", "weighted"]

# The factors by which the weights of two clusters of given sizes enter the joined cluster.
_SHARES: dict[str, Callable[[int, int], tuple[float, float]]] = {
    **dict.fromkeys(("average", "centroid", "ward"), lambda n, m: (n / (n + m), m / (n + m))),
    **dict.fromkeys(("weighted", "median", "single", "complete"), lambda n, m: (0.5, 0.5)),
}


def linkage(
    y: Any, method: str = "single", metric: str = "euclidean", optimal_ordering: bool = False
) -> Array:
    """Join the two nearest clusters, again and again: `scipy.cluster.hierarchy.linkage`.

    Differentiable by `y` if no two joins are equally high: the third column has the gradient.
    """
    one_of("linkage", "method", method, tuple(_SHARES))
    x = floating("linkage", "y", y)
    require(x.ndim in (1, 2), "linkage", "y", x, "two axes for observations, or one axis for distances")
    known = original("cluster.hierarchy.linkage")(item(x), method, metric, optimal_ordering)
    by_means = method in ("centroid", "median", "ward")
    if by_means and x.ndim == 1:
        raise ArgumentTypeError("linkage", f"distances have no gradient by {method}", (), "pass observations")
    joins = known.shape[0]
    count = joins + 1
    # The observations of each cluster, and their weights in it.
    clusters = [([k], [1.0]) for k in range(count)]
    pairs = []
    for first, second in known[:, :2].astype(int).tolist():
        a, b = clusters[first], clusters[second]
        pairs.append((a, b))
        shares = _SHARES[method](len(a[0]), len(b[0]))
        weights = [w * share for part, share in zip((a, b), shares, strict=True) for w in part[1]]
        clusters.append((a[0] + b[0], weights))
    if by_means:
        heights = _of_means(x, pairs, method)
    else:
        heights = _of_pairs(x if x.ndim == 1 else pdist(x, metric), pairs, method)
    columns = xp.asarray(known, dtype=heights.dtype)
    return xp.concat((columns[:, :2], heights[:, None], columns[:, 3:]), axis=1)


def _of_means(x: Array, pairs: list[Any], method: str) -> Array:
    """Return the distances of the means of clusters."""
    matrix = xp.zeros((len(pairs), x.shape[0]), dtype=x.dtype)
    factors = []
    for row, ((a, u), (b, v)) in enumerate(pairs):
        matrix[row, xp.asarray(a)] = xp.asarray(u, dtype=x.dtype)
        matrix[row, xp.asarray(b)] = -xp.asarray(v, dtype=x.dtype)
        factors.append(2 * len(a) * len(b) / (len(a) + len(b)) if method == "ward" else 1.0)
    apart = xp.matmul(matrix, x)
    return root(xp.sum(apart * apart, axis=1) * xp.asarray(factors, dtype=x.dtype))


def _of_pairs(distances: Array, pairs: list[Any], method: str) -> Array:
    """Return means, minima or maxima of distances between clusters."""
    count = len(pairs) + 1
    heights = []
    for (a, u), (b, v) in pairs:
        i, j = xp.asarray(a)[:, None], xp.asarray(b)[None, :]
        low, high = xp.minimum(i, j), xp.maximum(i, j)
        places = xp.reshape(low * (2 * count - low - 1) // 2 + high - low - 1, (-1,))
        found = xp.take(distances, places)
        if method in ("single", "complete"):
            heights.append(xp.min(found) if method == "single" else xp.max(found))
        else:
            weights = xp.asarray(u, dtype=found.dtype)[:, None] * xp.asarray(v, dtype=found.dtype)[None, :]
            heights.append(xp.sum(found * xp.reshape(weights, (-1,))))
    return xp.stack(heights)


def _method(name: str) -> Any:
    def function(y: Any) -> Array:
        return linkage(y, name)

    doc = f"Join the two nearest clusters: `scipy.cluster.hierarchy.{name}`. Differentiable like `linkage`."
    return named(function, name, doc)


average, centroid, complete, median = map(_method, ("average", "centroid", "complete", "median"))
single, ward, weighted = map(_method, ("single", "ward", "weighted"))
