"""`numpy.lib.stride_tricks` on stride0 arrays: views."""

from __future__ import annotations

from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentValueError
from stride0._base.shapes import normalize_axis
from stride0._core.array.array import Array
from stride0.numpy._parts import array

__all__ = ["as_strided", "sliding_window_view"]


def as_strided(
    x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True
) -> Array:
    """Return a view with the given shape, and strides in bytes, within the memory of the array."""
    x = array(x)
    steps = xp.strided.strides(x) if strides is None else [_elements(x, step) for step in strides]
    view = xp.strided.as_strided(x, x.shape if shape is None else shape, tuple(steps))
    return view if writeable else xp.broadcast_to(view, view.shape)


def _elements(x: Array, step: int) -> int:
    """Return a stride in elements."""
    if step % x.dtype.itemsize:
        facts = [("stride", str(step)), ("itemsize", str(x.dtype.itemsize))]
        accepts = "pass multiples of x.itemsize"
        raise ArgumentValueError("as_strided", "a stride is not a multiple of the item size", facts, accepts)
    return step // x.dtype.itemsize


def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Array:
    """Return a view of all windows: first the axes of window positions, then the axes of each window."""
    x = array(x)
    sizes = (window_shape,) if isinstance(window_shape, int) else tuple(window_shape)
    axes = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    if len(axes) != len(sizes):
        facts = [("window_shape", str(sizes)), ("axis", str(axes))]
        accepts = "pass one window size per axis, or the axes as axis"
        raise ArgumentValueError("sliding_window_view", "sizes and axes differ in number", facts, accepts)
    shape, strides = list(x.shape), xp.strided.strides(x)
    axes = tuple(normalize_axis("sliding_window_view", k, x.ndim) for k in axes)
    for k, size in zip(axes, sizes, strict=True):
        shape[k] -= size - 1
        if size < 0 or shape[k] <= 0:
            facts = [("shape", str(x.shape)), ("window_shape", str(sizes))]
            accepts = "pass sizes between 0 and the size of the axis"
            raise ArgumentValueError("sliding_window_view", "a window does not fit", facts, accepts)
    return xp.strided.as_strided(x, (*shape, *sizes), (*strides, *(strides[k] for k in axes)))
