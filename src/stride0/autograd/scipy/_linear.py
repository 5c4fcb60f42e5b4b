"""Two adjoint linear maps for filters, `full` and `valid`, and the extension of arrays beyond their ends.

`full` adds up shifted copies of x, `valid` takes inner products of w with the windows of x. Both are linear
in both operands, so the rules of `full` call `valid`, and the rules of `valid` call `full`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentValueError
from stride0._core.array.array import Array
from stride0.autograd._tape.tape import Level
from stride0.autograd.scipy._axes import along, blank, lengthened
from stride0.autograd.scipy._calls import batched, from_numpy, original, recorded, rules, scipy, to_numpy


@recorded("signal")
def full(x: Array, w: Array, method: str = "auto") -> Array:
    """Return the whole convolution of arrays with equal numbers of axes."""
    a, b = to_numpy(x), to_numpy(w)
    if 0 in a.shape + b.shape:
        return _zeros(x, w, [n + k - 1 for n, k in zip(a.shape, b.shape, strict=True)])
    if method == "direct" and a.ndim > 1:
        if len(_long(b)) == 1:
            return from_numpy(_by_lanes(a, b, "full"))
        if len(_long(a)) == 1:
            return from_numpy(_by_lanes(b, a, "full"))
    return from_numpy(scipy("signal").convolve(a, b, mode="full", method=method))


@recorded("signal")
def valid(x: Array, w: Array, method: str = "auto") -> Array:
    """Return ``sum(x[n + k] * w[k])`` for each n where w lies within x; nothing is conjugated."""
    a, b = to_numpy(x), to_numpy(w)
    sizes = [n - k + 1 for n, k in zip(a.shape, b.shape, strict=True)]
    if 0 in a.shape + b.shape or min(sizes, default=1) < 1:
        return _zeros(x, w, sizes)
    long = _long(b)
    if method != "fft" and len(long) == 1 and b.size <= SHORT:
        (axis,) = long
        # It conjugates the weights.
        found = scipy("ndimage").correlate1d(a, b.reshape(-1).conj(), axis=axis, mode="constant")
        first = b.size // 2
        return from_numpy(found[along(a.ndim, axis, slice(first, first + a.shape[axis] - b.size + 1))])
    b = b[(slice(None, None, -1),) * b.ndim]
    if method == "direct" and len(long) == 1 and a.ndim > 1:
        return from_numpy(_by_lanes(a, b, "valid"))
    return from_numpy(scipy("signal").convolve(a, b, "valid", method))


def _zeros(x: Array, w: Array, sizes: list[int]) -> Array:
    """Return the result for operands without elements: SciPy's results have other shapes."""
    return xp.zeros(tuple(max(n, 0) for n in sizes), dtype=xp.result_type(x, w))


def _long(x: Any) -> list[int]:
    """Return the axes that have more than one element."""
    return [k for k, n in enumerate(x.shape) if n > 1]


def _by_lanes(a: Any, b: Any, mode: Any) -> Any:
    """Return the direct convolution with weights along one axis, lane by lane as in SciPy. SciPy's function
    for several axes takes many times as long.
    """
    import numpy as np

    (axis,) = _long(b)
    moved = np.moveaxis(a, axis, -1)
    weights = b.reshape(-1)
    found = np.stack([np.convolve(lane, weights, mode) for lane in moved.reshape(-1, moved.shape[-1])])
    return np.moveaxis(found.reshape(*moved.shape[:-1], -1), -1, axis)


rules(
    full,
    x=lambda g, w, method: valid(g, xp.conj(w), method),
    w=lambda g, x, method: valid(g, xp.conj(x), method),
)
rules(
    valid,
    x=lambda g, w, method: full(g, xp.conj(w), method),
    w=lambda g, x, method: valid(xp.conj(x), g, method),
)


@recorded("signal")
def full_each(x: Array, w: Array) -> Array:
    """Return the direct whole convolution of each example; the first axis has the examples.

    It sums products with each element of the smaller operand; an element adds nothing to results beyond its
    reach.
    """
    a, b = to_numpy(x), to_numpy(w)
    if a.size < b.size:
        a, b = b, a
    return from_numpy(_added(a, b))


def _added(a: Any, b: Any) -> Any:
    import numpy as np

    sizes = [max(n + k - 1, 0) for n, k in zip(a.shape[1:], b.shape[1:], strict=True)]
    found = np.zeros((len(a), *sizes), dtype=np.result_type(a, b))
    if 0 in a.shape + b.shape:
        return found
    for index in np.ndindex(b.shape[1:]):
        at = tuple(slice(k, k + n) for k, n in zip(index, a.shape[1:], strict=True))
        found[(slice(None), *at)] += a * _element(b, index)
    return found


def _element(x: Any, index: tuple[int, ...]) -> Any:
    """Return one element per example, in a shape that broadcasts against the examples."""
    return x[(slice(None), *(slice(k, k + 1) for k in index))]


@recorded("signal")
def valid_each(x: Array, w: Array) -> Array:
    """Return `valid` of each example, computed directly; the first axis has the examples."""
    import numpy as np

    a, b = to_numpy(x), to_numpy(w)
    sizes = [max(n - k + 1, 0) for n, k in zip(a.shape[1:], b.shape[1:], strict=True)]
    found = np.zeros((len(a), *sizes), dtype=np.result_type(a, b))
    if 0 in found.shape:
        return from_numpy(found)
    # The number of steps is the number of weights or results, whichever is less.
    if math.prod(b.shape[1:]) <= math.prod(sizes):
        for index in np.ndindex(b.shape[1:]):
            at = tuple(slice(k, k + n) for k, n in zip(index, sizes, strict=True))
            found += a[(slice(None), *at)] * _element(b, index)
    else:
        axes = tuple(range(1, a.ndim))
        for index in np.ndindex(*sizes):
            at = tuple(slice(k, k + n) for k, n in zip(index, b.shape[1:], strict=True))
            _element(found, index)[...] = np.sum(a[(slice(None), *at)] * b, axis=axes, keepdims=True)
    return from_numpy(found)


rules(full_each, x=lambda g, w: valid_each(g, xp.conj(w)), w=lambda g, x: valid_each(g, xp.conj(x)))
rules(valid_each, x=lambda g, w: full_each(g, xp.conj(w)), w=lambda g, x: valid_each(xp.conj(x), g))


def _batched_each(function: Callable[[Array, Array], Array]) -> None:
    """Define the batching rule of a function of examples; nested batches are merged to one."""

    def rule(level: Level, x: Array, w: Array) -> Array:
        a, b = level.spread(x), level.spread(w)
        count = a.shape[0] * a.shape[1]
        found = function(xp.reshape(a, (count, *a.shape[2:])), xp.reshape(b, (count, *b.shape[2:])))
        return xp.reshape(found, (*a.shape[:2], *found.shape[1:]))

    batched(function, rule)


_batched_each(full_each)
_batched_each(valid_each)


def _transforms_serve(x: Array, w: Array, method: str, mode: str) -> bool:
    """Return whether SciPy would convolve one example by Fourier transforms."""
    if method != "auto":
        return method == "fft"
    if 0 in x.shape or 0 in w.shape:
        return False
    # It reads only shapes and dtypes.
    a, b = (to_numpy(xp.zeros(each.shape, dtype=each.dtype)) for each in (x, w))
    return bool(original("signal.choose_conv_method")(a, b, mode) == "fft")


def _full_of_batch(level: Level, x: Array, w: Array, method: str) -> Array:
    # For the whole batch, SciPy would choose by the wrong sizes.
    transformed = _transforms_serve(x, w, method, "full")
    if not level.has(w) or not level.has(x):
        a, b = (level.value(each) if level.has(each) else each[None] for each in (x, w))
        return full(a, b, "fft" if transformed else "direct")
    a, b = level.value(x), level.value(w)
    return _by_transforms(a, b) if transformed else full_each(a, b)


def _valid_of_batch(level: Level, x: Array, w: Array, method: str) -> Array:
    short = sum(n > 1 for n in w.shape) == 1 and math.prod(w.shape) <= SHORT
    transformed = not (short and method == "auto") and _transforms_serve(x, w, method, "valid")
    if not level.has(w):
        return valid(level.value(x), w[None], "fft" if transformed else "direct")
    a, b = level.spread(x), level.value(w)
    if not transformed:
        return valid_each(a, b)
    whole = _by_transforms(a, xp.flip(b, axis=tuple(range(1, w.ndim + 1))))
    inside = tuple(slice(k - 1, n) for n, k in zip(x.shape, w.shape, strict=True))
    return whole[(slice(None), *inside)]


def _by_transforms(x: Array, w: Array) -> Array:
    """Return the whole convolution of each example; the first axis has the examples."""
    axes = tuple(range(1, x.ndim))
    sizes = [n + k - 1 for n, k in zip(x.shape[1:], w.shape[1:], strict=True)]
    if not axes or 0 in sizes:
        return x * w
    return transformed(x, w, tuple(sizes), axes)


def transformed(x: Array, w: Array, sizes: tuple[int, ...], axes: tuple[int, ...]) -> Array:
    """Return the whole convolution along axes by Fourier transforms; `sizes` are the sizes of the result."""
    is_real = xp.isdtype(xp.result_type(x, w), "real floating")
    there, back = (xp.fft.rfftn, xp.fft.irfftn) if is_real else (xp.fft.fftn, xp.fft.ifftn)
    return back(there(x, s=sizes, axes=axes) * there(w, s=sizes, axes=axes), s=sizes, axes=axes)


batched(full, _full_of_batch)
batched(valid, _valid_of_batch)


# The largest number of windows along one axis, and of lags, that are added one by one.
SHORT, FEW = 256, 32


def lagged(g: Array, x: Array, count: int, axis: int) -> Array:
    """Return ``sum(g[n] * conj(x[n - j]))`` over all axes for j below `count`: of coefficients."""
    if count <= FEW:
        n = g.shape[axis]
        parts = []
        for j in range(min(count, n)):
            early, late = along(g.ndim, axis, slice(n - j)), along(g.ndim, axis, slice(j, n))
            parts.append(xp.sum(g[late] * xp.conj(x[early])))
        return lengthened(xp.stack(parts) if parts else xp.zeros((0,), dtype=g.dtype), 0, count)
    longer = lengthened(g, axis, g.shape[axis] + count - 1)
    return xp.reshape(valid(longer, xp.conj(x)), (count,))


def spaced(x: Array, factor: int, axis: int) -> Array:
    """Insert ``factor - 1`` zeros after each element along an axis, except the last element."""
    if factor == 1:
        return x
    n = x.shape[axis]
    pairs = lengthened(xp.expand_dims(x, axis=axis + 1), axis + 1, factor)
    whole = xp.reshape(pairs, (*x.shape[:axis], n * factor, *x.shape[axis + 1 :]))
    return whole[along(x.ndim, axis, slice((n - 1) * factor + 1))]


# By SciPy's names of modes: the source index of element k, in an array of n elements along the axis.
def _reflected(k: Any, n: int) -> Any:
    k = k % (2 * n)
    return xp.minimum(k, 2 * n - 1 - k)


def _mirrored(k: Any, n: int) -> Any:
    if n == 1:
        return k * 0
    k = k % (2 * n - 2)
    return xp.minimum(k, 2 * n - 2 - k)


EXTENSIONS: dict[str, Callable[[Any, int], Any]] = {
    "reflect": _reflected,
    "grid-mirror": _reflected,
    "mirror": _mirrored,
    "nearest": lambda k, n: xp.clip(k, 0, n - 1),
    "wrap": lambda k, n: k % n,
    "grid-wrap": lambda k, n: k % n,
}

_CONSTANT = ("constant", "grid-constant")


def extended(
    operation: str, x: Array, axis: int, before: int, after: int, mode: str, cval: float = 0.0
) -> Array:
    """Extend an array at both ends of an axis, in a mode named as in SciPy."""
    if not isinstance(mode, str) or mode not in (*EXTENSIONS, *_CONSTANT):
        names = ", ".join(sorted([*EXTENSIONS, *_CONSTANT]))
        raise ArgumentValueError(operation, f"mode is {mode!r}", accepts=f"pass one of {names}")
    n = x.shape[axis]
    if before == after == 0:
        return x
    # An axis without elements may be extended by any value: the result does not depend on it.
    if mode in _CONSTANT or n == 0:
        return xp.concat((blank(x, axis, before, cval), x, blank(x, axis, after, cval)), axis=axis)
    at = EXTENSIONS[mode]
    left = xp.take(x, at(xp.arange(-before, 0), n), axis=axis)
    right = xp.take(x, at(xp.arange(n, n + after), n), axis=axis)
    return xp.concat((left, x, right), axis=axis)
