"""Smoothing and resampling of `stride0.autograd.scipy.signal`."""

from __future__ import annotations

import math
from typing import Any

import stride0 as xp
from stride0._base.errors import ShapeError
from stride0._core.array.array import Array
from stride0.autograd.scipy._arguments import count_of, floating, line, one_of, same_dtype
from stride0.autograd.scipy._axes import along, axis_of, lane, lengthened
from stride0.autograd.scipy._calls import by_lanes, from_numpy, recorded, rules, scipy, to_numpy
from stride0.autograd.scipy._linear import extended, spaced, valid

__all__ = ["detrend", "resample_poly", "savgol_filter", "upfirdn"]


# --- smoothing


def savgol_filter(
    x: Any,
    window_length: int,
    polyorder: int,
    deriv: int = 0,
    delta: float = 1.0,
    axis: int = -1,
    mode: str = "interp",
    cval: float = 0.0,
) -> Array:
    """Smooth by polynomials that fit windows: `scipy.signal.savgol_filter`. Differentiable by `x`."""
    one_of("savgol_filter", "mode", mode, ("interp", "mirror", "constant", "nearest", "wrap"))
    x = floating("savgol_filter", "x", x)
    axis = axis_of("savgol_filter", x, axis)
    signal = scipy("signal")
    weights = signal.savgol_coeffs(window_length, polyorder, deriv=deriv, delta=delta, use="dot")
    weights = xp.reshape(xp.asarray(weights, dtype=xp.real(x).dtype), lane(x, axis))
    before = (window_length - 1) // 2
    if mode != "interp":
        longer = extended("savgol_filter", x, axis, before, window_length - 1 - before, mode, cval)
        return valid(longer, weights)
    n = x.shape[axis]
    if window_length > n:
        raise ShapeError(
            "savgol_filter",
            f"x has {n} elements along axis {axis}",
            accepts=f"pass at least window_length elements: {window_length}",
        )
    # SciPy's filter of the unit vectors of one window: its rows give the polynomials at both ends.
    units = to_numpy(xp.eye(window_length))
    rows = signal.savgol_filter(units, window_length, polyorder, deriv, delta, axis=0, mode="interp")
    rows = xp.asarray(rows, dtype=x.dtype)
    half = window_length // 2
    # A window of even size has one more element behind its middle than before it.
    inside = valid(x, weights)[along(x.ndim, axis, slice(half - before, None))]
    first, last = (
        x[along(x.ndim, axis, part)] for part in (slice(window_length), slice(n - window_length, n))
    )
    ends = [_applied(rows[:half, :], first, axis), _applied(rows[window_length - half :, :], last, axis)]
    return xp.concat((ends[0], inside, ends[1]), axis=axis)


def _applied(matrix: Array, x: Array, axis: int) -> Array:
    """Multiply a matrix by the lanes of an array along an axis."""
    return xp.moveaxis(xp.tensordot(matrix, x, axes=((1,), (axis,))), 0, axis)


@recorded("signal")
def _detrended(x: Array, axis: int, type: str, bp: Any) -> Array:
    # A projection: its own adjoint.
    return from_numpy(scipy("signal").detrend(to_numpy(x), axis=axis, type=type, bp=bp))


rules(_detrended, x=lambda g, axis, type, bp: _detrended(g, axis, type, bp))
by_lanes(_detrended, "x")


def detrend(x: Any, axis: int = -1, type: str = "linear", bp: Any = 0) -> Array:
    """Remove a linear trend, or the mean: `scipy.signal.detrend`. Differentiable by `x`."""
    x = floating("detrend", "x", x)
    one_of("detrend", "type", type, ("linear", "l", "constant", "c"))
    return _detrended(x, axis_of("detrend", x, axis), type, bp)


# --- resampling


def _upfirdn_signal(g: Array, h: Array, n: int, up: int, down: int, axis: int) -> Array:
    """Return the cotangent of the signal: the reversed filter with `up` and `down` exchanged."""
    flipped = xp.flip(xp.conj(h))
    # Add zeros in front, so that the wanted elements lie at multiples of `up`.
    blank = xp.zeros(((1 - h.shape[0]) % up,), dtype=h.dtype)
    flipped = xp.concat((blank, flipped))
    first = (flipped.shape[0] - 1) // up
    found = _upfirdn(flipped, g, down, up, axis)
    return lengthened(found, axis, first + n)[along(g.ndim, axis, slice(first, first + n))]


def _upfirdn_taps(g: Array, x: Array, count: int, up: int, down: int, axis: int) -> Array:
    """Return the cotangent of the filter."""
    signal, found = spaced(x, up, axis), spaced(g, down, axis)
    wanted = signal.shape[axis] + count - 1
    found = lengthened(found[along(g.ndim, axis, slice(wanted))], axis, wanted)
    return xp.reshape(valid(found, xp.conj(signal)), (count,))


@recorded("signal")
def _upfirdn(h: Array, x: Array, up: int, down: int, axis: int) -> Array:
    return from_numpy(scipy("signal").upfirdn(to_numpy(h), to_numpy(x), up, down, axis))


rules(
    _upfirdn,
    h=lambda g, h_shape, x, up, down, axis: _upfirdn_taps(g, x, h_shape[0], up, down, axis),
    x=lambda g, h, x_shape, up, down, axis: _upfirdn_signal(g, h, x_shape[axis], up, down, axis),
)
by_lanes(_upfirdn, "x")


def upfirdn(
    h: Any, x: Any, up: int = 1, down: int = 1, axis: int = -1, mode: str = "constant", cval: float = 0.0
) -> Array:
    """Insert zeros, filter, and keep every `down`-th element: `scipy.signal.upfirdn`.

    Differentiable by `h` and `x`. Beyond its ends the signal is zero: other modes are not supported.
    """
    one_of("upfirdn", "mode", mode, ("constant",))
    one_of("upfirdn", "cval", cval, (0,))
    h, x = same_dtype(line("upfirdn", "h", h), floating("upfirdn", "x", x))
    up, down = count_of("upfirdn", "up", up, 1), count_of("upfirdn", "down", down, 1)
    return _upfirdn(h, x, up, down, axis_of("upfirdn", x, axis))


def resample_poly(
    x: Any,
    up: int,
    down: int,
    axis: int = 0,
    window: Any = ("kaiser", 5.0),
    padtype: str = "constant",
    cval: float | None = None,
) -> Array:
    """Resample by a rational factor: `scipy.signal.resample_poly`.

    Differentiable by `x`, and by `window` if it is an array. Beyond its ends the signal is zero, or its mean,
    minimum or maximum: other values of `padtype` and `cval` are not supported.
    """
    one_of("resample_poly", "padtype", padtype, ("constant", "mean", "minimum", "maximum"))
    one_of("resample_poly", "cval", cval, (None, 0))
    x = floating("resample_poly", "x", x)
    axis = axis_of("resample_poly", x, axis)
    up, down = count_of("resample_poly", "up", up, 1), count_of("resample_poly", "down", down, 1)
    common = math.gcd(up, down)
    up, down = up // common, down // common
    if up == down == 1:
        return xp.asarray(x, copy=True)
    if isinstance(window, (str, tuple)):
        half = 10 * max(up, down)
        h = xp.asarray(scipy("signal").firwin(2 * half + 1, 1 / max(up, down), window=window), dtype=x.dtype)
    else:
        h = floating("resample_poly", "window", window)
        half = (h.shape[0] - 1) // 2
    # Add zeros in front, so that the middle of the filter falls on a kept element, and zeros behind, so that
    # enough elements are kept.
    n = x.shape[axis]
    wanted = -(-n * up // down)
    before = down - half % down
    first = (half + before) // down
    length = (first + wanted - 1) * down + 1 - (n - 1) * up
    after = max(0, length - h.shape[0] - before)
    h = xp.concat((xp.zeros((before,), dtype=h.dtype), up * h, xp.zeros((after,), dtype=h.dtype)))
    level: Any = 0.0
    if padtype != "constant":
        level = {"mean": xp.mean, "minimum": xp.min, "maximum": xp.max}[padtype](x, axis=axis, keepdims=True)
        x = x - level
    found = upfirdn(h, x, up, down, axis)[along(x.ndim, axis, slice(first, first + wanted))]
    return found + level if padtype != "constant" else found
