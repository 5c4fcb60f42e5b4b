"""Gradient rules of the FFT extension.

Transforms are linear. The adjoint of a transform is the opposite transform with the norms' factors exchanged.
Half a spectrum represents a whole one: each element counts twice, for itself and its mirror image, except the
first element and, if the length is even, the last element. Hence the weights 2 and 1/2.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from stride0 import fft
from stride0._base.shapes import Shape
from stride0._chapters.creation import full
from stride0._chapters.elementwise import multiply
from stride0._chapters.manipulation import reshape
from stride0._core.array.array import Array
from stride0._core.call.checks import component_dtype
from stride0.autograd._rules.parts import put

Rule = Callable[..., Any]

# The norm that gives the opposite transform the same factor.
_OPPOSITE = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def _fit(g: Array, shape: Shape) -> Array:
    """Return `g` truncated or padded with zeros to a shape: the adjoint of setting transform lengths."""
    if g.shape == shape:
        return g
    both = tuple(slice(min(n, m)) for n, m in zip(g.shape, shape, strict=True))
    part = g[both]
    return part if part.shape == shape else put(part, shape, both)


def _weighted(x: Array, length: int, axis: int, middle: float) -> Array:
    """Return half a spectrum along an axis, multiplied by `middle` except at the ends."""
    n = x.shape[axis]
    weights = full((n,), middle, dtype=component_dtype(x.dtype))
    weights[0] = 1.0
    if length % 2 == 0:
        weights[n - 1] = 1.0
    return multiply(x, reshape(weights, (n,) + (1,) * (x.ndim - 1 - axis % x.ndim)))


def _from_half(inverse: Rule, g: Array, shape: Shape, n: int | None, axis: int, norm: str) -> Array:
    """Return the cotangent of a real array that was transformed to half a spectrum."""
    length = shape[axis] if n is None else operator.index(n)
    return _fit(inverse(_weighted(g, length, axis, 0.5), n=length, axis=axis, norm=_OPPOSITE[norm]), shape)


def _to_half(inverse: Rule, g: Array, shape: Shape, axis: int, norm: str) -> Array:
    """Return the cotangent of half a spectrum that was transformed to a real array."""
    half = inverse(g, axis=axis, norm=_OPPOSITE[norm])
    return _fit(_weighted(half, g.shape[axis], axis, 2.0), shape)


def _from_half_nd(g: Array, shape: Shape, s: Any, axes: Any, norm: str) -> Array:
    """Return the cotangent of the operand of `rfftn`."""
    along = tuple(range(g.ndim)) if axes is None else tuple(axes)
    last = along[-1]
    length = shape[last] if s is None or s[-1] == -1 else operator.index(s[-1])
    whole = fft.irfftn(
        _weighted(g, length, last, 0.5),
        # -1: as long as `g` is
        s=(-1,) * (len(along) - 1) + (length,),
        axes=along,
        norm=_OPPOSITE[norm],  # type: ignore[arg-type]
    )
    return _fit(whole, shape)


def _to_half_nd(g: Array, shape: Shape, axes: Any, norm: str) -> Array:
    """Return the cotangent of the operand of `irfftn`."""
    last = -1 if axes is None else axes[-1]
    half = fft.rfftn(g, axes=axes, norm=_OPPOSITE[norm])  # type: ignore[arg-type]
    return _fit(_weighted(half, g.shape[last], last, 2.0), shape)


def _whole(inverse: Rule) -> Rule:
    """Return the rule of a complex transform along one axis; `n` is saved for tangents."""
    return lambda g, x_shape, n, axis, norm: _fit(inverse(g, axis=axis, norm=_OPPOSITE[norm]), x_shape)


def _whole_nd(inverse: Rule) -> Rule:
    """Return the rule of a complex transform along several axes: `g` already has the lengths."""
    return lambda g, x_shape, s, axes, norm: _fit(inverse(g, axes=axes, norm=_OPPOSITE[norm]), x_shape)


VJP: dict[str, dict[str, Rule]] = {
    "fft.fft": {"x": _whole(fft.ifft)},
    "fft.ifft": {"x": _whole(fft.fft)},
    "fft.fftn": {"x": _whole_nd(fft.ifftn)},
    "fft.ifftn": {"x": _whole_nd(fft.fftn)},
    "fft.rfft": {"x": lambda g, x_shape, n, axis, norm: _from_half(fft.irfft, g, x_shape, n, axis, norm)},
    "fft.irfft": {"x": lambda g, x_shape, n, axis, norm: _to_half(fft.rfft, g, x_shape, axis, norm)},
    "fft.rfftn": {"x": lambda g, x_shape, s, axes, norm: _from_half_nd(g, x_shape, s, axes, norm)},
    "fft.irfftn": {"x": lambda g, x_shape, s, axes, norm: _to_half_nd(g, x_shape, axes, norm)},
    "fft.hfft": {"x": lambda g, x_shape, n, axis, norm: _to_half(fft.ihfft, g, x_shape, axis, norm)},
    "fft.ihfft": {"x": lambda g, x_shape, n, axis, norm: _from_half(fft.hfft, g, x_shape, n, axis, norm)},
    "fft.fftshift": {"x": lambda g, axes: fft.ifftshift(g, axes=axes)},
    "fft.ifftshift": {"x": lambda g, axes: fft.fftshift(g, axes=axes)},
}

NO_GRAD: dict[str, str] = {
    "fft.fftfreq": "the result depends only on a length",
    "fft.rfftfreq": "the result depends only on a length",
}
