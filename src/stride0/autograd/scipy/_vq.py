"""Codes of `stride0.autograd.scipy.cluster.vq`; the choice of the nearest code is constant."""

from __future__ import annotations

from typing import Any

import stride0 as xp
from stride0._base.errors import GradientError
from stride0._core.array.array import Array
from stride0.autograd.scipy._arguments import floating, item, require, root, same_dtype
from stride0.autograd.scipy._calls import original

__all__ = ["kmeans", "kmeans2", "vq"]


def _data(operation: str, name: str, x: Any) -> Array:
    found = floating(operation, name, x)
    require(found.ndim in (1, 2), operation, name, found, "one or two axes")
    return found


def _distances(x: Array, book: Array, codes: Array) -> Array:
    apart = x - xp.take(book, codes, axis=0)
    return root(xp.sum(apart * apart, axis=-1) if x.ndim == 2 else apart * apart)


def vq(obs: Any, code_book: Any) -> tuple[Array, Array]:
    """Find the nearest codes: `scipy.cluster.vq.vq`. The distances are differentiable by both arguments."""
    x, book = same_dtype(_data("vq", "obs", obs), _data("vq", "code_book", code_book))
    found, _ = original("cluster.vq.vq")(item(x), item(book))
    codes = xp.asarray(found.astype("int64"))
    return xp.asarray(found), _distances(x, book, codes)


def _means(operation: str, x: Array, known: Any, guess: Any) -> tuple[Array, Array]:
    """Return the means of the observations nearest to each of SciPy's codes. A code without observations
    keeps its start value.
    """
    codes = xp.asarray(original("cluster.vq.vq")(item(x), known)[0].astype("int64"))
    marks = xp.astype(codes[None, :] == xp.arange(known.shape[0])[:, None], x.dtype)
    counts = xp.sum(marks, axis=1)
    if x.ndim == 2:
        counts = counts[:, None]
    empty = counts == 0
    book = xp.matmul(marks, x) / xp.where(empty, 1.0, counts)
    if not isinstance(guess, int) and guess.shape == book.shape:
        book = xp.where(empty, guess, book)
    if abs(item(book) - known).max() > 1e-8 * (1 + abs(known).max()):
        raise GradientError(
            operation, "the iteration ended before it converged", (), "pass more iterations, or fewer codes"
        )
    return book, codes


def _found(
    operation: str, name: str, obs: Any, k: Any, *args: Any, **options: Any
) -> tuple[Array, Array, Array]:
    """Return the observations, SciPy's codes for a count or a guess, and the numbers of the codes."""
    x = _data(operation, name, obs)
    guess = k if isinstance(k, int) else floating(operation, "k", k)
    begin = guess if isinstance(guess, int) else item(guess)
    known, _ = original(f"cluster.vq.{operation}")(item(x), begin, *args, **options)
    return x, *_means(operation, x, known, guess)


def kmeans(
    obs: Any, k_or_guess: Any, iter: int = 20, thresh: float = 1e-5, **options: Any
) -> tuple[Array, Array]:
    """Find codes that are means of observations: `scipy.cluster.vq.kmeans`.

    Differentiable by `obs`, and by an array `k_or_guess`: codes without observations keep the guess.
    """
    x, book, codes = _found("kmeans", "obs", obs, k_or_guess, iter, thresh, **options)
    return book, xp.mean(_distances(x, book, codes))


def kmeans2(
    data: Any,
    k: Any,
    iter: int = 10,
    thresh: float = 1e-5,
    minit: str = "random",
    missing: str = "warn",
    **options: Any,
) -> tuple[Array, Array]:
    """Find codes that are means of observations: `scipy.cluster.vq.kmeans2`.

    Differentiable by `data`, and by an array `k`: codes without observations stay there.
    """
    _, book, codes = _found("kmeans2", "data", data, k, iter, thresh, minit, missing, **options)
    return book, codes
