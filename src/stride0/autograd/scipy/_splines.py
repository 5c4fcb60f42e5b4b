"""Splines of `stride0.autograd.scipy.ndimage`, and interpolation by them.

References
----------
Unser: Splines, a perfect fit for signal and image processing, IEEE Signal Processing Magazine 16 (1999).
"""

from __future__ import annotations

import math
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentTypeError
from stride0._core.array.array import Array
from stride0.autograd.scipy._arguments import each, floating, one_of, require
from stride0.autograd.scipy._axes import axis_of
from stride0.autograd.scipy._calls import by_lanes, from_numpy, recorded, rules, scipy, to_numpy
from stride0.autograd.scipy._linear import EXTENSIONS, extended
from stride0.autograd.scipy._signatures import into_output, taking

__all__ = ["affine_transform", "map_coordinates", "shift", "spline_filter", "spline_filter1d", "zoom"]


# The boundary of the coefficients, by mode: mirrored at the end elements ("mirror"), mirrored beyond them
# ("reflect"), or periodic.
_ENDS = {
    **dict.fromkeys(("mirror", "constant", "wrap"), "mirror"),
    **dict.fromkeys(("reflect", "grid-mirror", "nearest"), "reflect"),
    "grid-wrap": "grid-wrap",
}
_MODES = ("constant", "nearest", "mirror", "reflect", "grid-mirror", "grid-wrap")


def _halved_ends(x: Array, axis: int, factor: float) -> Array:
    n = x.shape[axis]
    weights = [factor if k in (0, n - 1) else 1.0 for k in range(n)]
    return x * xp.reshape(xp.asarray(weights, dtype=x.dtype), (n,) + (1,) * (x.ndim - axis - 1))


# From this length on, SciPy's coefficients for "reflect" are exact: the powers of the poles have become zero.
_LONG = 64


def _coefficients_cotangent(g: Array, order: int, axis: int, ends: str) -> Array:
    # The matrix of spline values at the elements is symmetric; with mirrored ends, except for the two columns
    # that are counted twice.
    n = g.shape[axis]
    if ends == "mirror":
        return _halved_ends(_coefficients(_halved_ends(g, axis, 2.0), order, axis, ends), axis, 0.5)
    if ends == "reflect" and n < _LONG:
        matrix = _coefficients(xp.eye(n, dtype=g.dtype), order, 1, ends)
        return xp.moveaxis(xp.tensordot(matrix, g, axes=((1,), (axis,))), 0, axis)
    return _coefficients(g, order, axis, ends)


@recorded("ndimage")
def _coefficients(x: Array, order: int, axis: int, ends: str) -> Array:
    a = to_numpy(x)
    return from_numpy(scipy("ndimage").spline_filter1d(a, order, axis, output=a.dtype, mode=ends))


rules(_coefficients, x=lambda g, order, axis, ends: _coefficients_cotangent(g, order, axis, ends))
by_lanes(_coefficients, "x")


def spline_filter1d(input: Any, order: int = 3, axis: int = -1, *, mode: str = "mirror") -> Array:
    """Compute coefficients along an axis: `scipy.ndimage.spline_filter1d`. Differentiable by `input`."""
    x = floating("spline_filter1d", "input", input)
    one_of("spline_filter1d", "mode", mode, tuple(_ENDS))
    one_of("spline_filter1d", "order", order, (0, 1, 2, 3, 4, 5))
    axis = axis_of("spline_filter1d", x, axis)
    if order < 2 or x.shape[axis] < 2:
        return xp.asarray(x, copy=True)
    return _coefficients(x, order, axis, _ENDS[mode])


def spline_filter(input: Any, order: int = 3, *, mode: str = "mirror") -> Array:
    """Compute spline coefficients: `scipy.ndimage.spline_filter`. Differentiable by `input`."""
    x = floating("spline_filter", "input", input)
    for axis in range(x.ndim):
        x = spline_filter1d(x, order, axis, mode=mode)
    return x


# The number of elements by which SciPy extends an array for "nearest".
_MARGIN = 12


def _prepared(operation: str, x: Array, order: int, mode: str, prefilter: bool) -> tuple[Array, int]:
    """Return coefficients, and the number of coefficients before the array."""
    one_of(operation, "mode", mode, _MODES)
    one_of(operation, "order", order, (0, 1, 2, 3, 4, 5))
    if order < 2 or not prefilter:
        return x, 0
    margin = _MARGIN if mode == "nearest" else 0
    for axis in range(x.ndim):
        x = extended(operation, x, axis, margin, margin, "nearest")
    return spline_filter(x, order, mode=mode), margin


# As many elements beyond the end as no spline reaches.
_FAR = 8


def _folded(t: Array, n: int, mode: str) -> tuple[Array, Any]:
    """Return coordinates within the array, and a mask of outside coordinates, if it matters."""
    if mode == "constant":
        inside = (t >= 0) & (t <= n - 1)
        return xp.where(inside, t, 0.0), inside
    if mode == "nearest":
        # Further out the spline is constant.
        return xp.clip(t, -_FAR, n - 1 + _FAR), None
    if mode == "mirror":
        period = max(2 * n - 2, 1)
        t = t - period * xp.floor(t / period)
        return (xp.where(t > n - 1, period - t, t) if n > 1 else t * 0), None
    if mode == "grid-wrap":
        return t - n * xp.floor(t / n), None
    t = t - 2 * n * xp.floor((t + 0.5) / (2 * n))
    return xp.where(t > n - 0.5, 2 * n - 1 - t, t), None


def stencil(t: Array, order: int) -> tuple[Array, list[Array]]:
    """Return the first element that each coordinate depends on, and the weights from there on."""
    shifted = t if order % 2 else t + 0.5
    below = xp.floor(shifted)
    u = shifted - below
    weights = [xp.ones_like(u)]
    for d in range(1, order + 1):
        left: list[Any] = [(d - j + u) / d * weights[j - 1] if j else 0.0 for j in range(d + 1)]
        right: list[Any] = [(j + 1 - u) / d * weights[j] if j < d else 0.0 for j in range(d + 1)]
        weights = [a + b for a, b in zip(left, right, strict=True)]
    return xp.astype(below, xp.int64) - order // 2, weights


def _place(k: Array, n: int, mode: str) -> Array:
    """Return the index of the element that stands for element k."""
    found: Array = EXTENSIONS["mirror" if mode == "constant" else mode](k, n)
    return found


def spline_options(
    output: Any = None, order: int = 3, mode: str = "constant", cval: float = 0.0, prefilter: bool = True
) -> None:
    """Declare the options of interpolation."""


@into_output
@taking(spline_options)
def map_coordinates(input: Any, coordinates: Any, **options: Any) -> Array:
    """Interpolate an array at coordinates: `scipy.ndimage.map_coordinates`.

    Differentiable by `input`, which is real, and by `coordinates`: splines of order 1 have a kink at each
    element, splines of order 0 are constant.
    """
    x = floating("map_coordinates", "input", input)
    t = floating("map_coordinates", "coordinates", coordinates)
    require(
        t.ndim >= 2 and t.shape[0] == x.ndim,
        "map_coordinates",
        "coordinates",
        t,
        f"shape ({x.ndim}, ...)",
        input=x,
    )
    if t.dtype.kind == "complex floating":
        raise ArgumentTypeError("map_coordinates", "coordinates are complex", accepts="pass real coordinates")
    return _interpolated("map_coordinates", x, t, **options)


def _interpolated(
    operation: str, x: Array, t: Array, order: int, mode: str, cval: float, prefilter: bool
) -> Array:
    if x.size == 0 and t.size:
        require(mode == "constant", operation, "input", x, 'elements, or mode="constant"')
        return xp.full(t.shape[1:], cval, dtype=x.dtype)
    coefficients, margin = _prepared(operation, x, order, mode, prefilter)
    points = xp.reshape(t, (t.shape[0], math.prod(t.shape[1:])))
    key: list[Array] = []
    weights: list[Array] = []
    inside: Any = None
    for axis, n in enumerate(coefficients.shape):
        at, within = _folded(points[axis, :] + margin, n, mode)
        if within is not None:
            inside = within if inside is None else inside & within
        first, w = stencil(at, order)
        places = _place(first[:, None] + xp.arange(order + 1), n, mode)
        shape = (-1, *(order + 1 if k == axis else 1 for k in range(x.ndim)))
        key.append(xp.reshape(places, shape))
        weights.append(xp.reshape(xp.stack(w, axis=1), shape))
    found = coefficients[tuple(key)]
    for axis in range(x.ndim - 1, -1, -1):
        found = xp.sum(found * weights[axis][(..., *(0,) * (x.ndim - 1 - axis))], axis=-1)
    if inside is not None:
        found = xp.where(inside, found, cval)
    return xp.astype(xp.reshape(found, t.shape[1:]), x.dtype, copy=False)


def _sampled(
    operation: str, x: Array, places: list[Array], order: int, mode: str, cval: float, prefilter: bool
) -> Array:
    """Return the values on a grid of coordinates, given as a vector per axis."""
    found, margin = _prepared(operation, x, order, mode, prefilter)
    everywhere: Any = None
    for axis, t in enumerate(places):
        n = found.shape[axis]
        at, within = _folded(t + margin, n, mode)
        first, weights = stencil(at, order)
        shape = (-1,) + (1,) * (x.ndim - axis - 1)
        parts = [
            xp.take(found, _place(first + j, n, mode), axis=axis) * xp.reshape(xp.astype(w, x.dtype), shape)
            for j, w in enumerate(weights)
        ]
        found = sum(parts[1:], parts[0])
        if within is not None:
            within = xp.reshape(within, shape)
            everywhere = within if everywhere is None else everywhere & within
    return found if everywhere is None else xp.where(everywhere, found, cval)


@into_output
def zoom(
    input: Any,
    zoom: Any,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: float = 0.0,
    prefilter: bool = True,
    *,
    grid_mode: bool = False,
) -> Array:
    """Resample an array to another number of elements: `scipy.ndimage.zoom`. Differentiable by `input`."""
    x = floating("zoom", "input", input)
    factors = each("zoom", "zoom", zoom, x.ndim)
    if prefilter and all(factor == 1 for factor in factors):
        # Splines through few elements are exact only to some digits, so the array itself is returned, as in
        # SciPy.
        return xp.asarray(x, copy=True)
    places = []
    for n, factor in zip(x.shape, factors, strict=True):
        count = round(n * factor)
        k = xp.arange(count, dtype=xp.float64)
        if grid_mode:
            places.append((k + 0.5) * (n / count) - 0.5 if count else k)
        else:
            places.append(k * ((n - 1) / (count - 1)) if count > 1 else k)
    return _sampled("zoom", x, places, order, mode, cval, prefilter)


@into_output
@taking(spline_options)
def shift(input: Any, shift: Any, **options: Any) -> Array:
    """Move an array along its axes: `scipy.ndimage.shift`. Differentiable by `input` and an array `shift`."""
    x = floating("shift", "input", input)
    by = xp.broadcast_to(floating("shift", "shift", shift), (x.ndim,))
    places = [xp.arange(n, dtype=xp.float64) - by[k] for k, n in enumerate(x.shape)]
    return _sampled("shift", x, places, **options)


@into_output
@taking(spline_options)
def affine_transform(
    input: Any, matrix: Any, offset: Any = 0.0, output_shape: Any = None, **options: Any
) -> Array:
    """Interpolate at the coordinates of an affine map: `scipy.ndimage.affine_transform`.

    Differentiable by `input`, and by `matrix` and `offset` if they are arrays.
    """
    x, a = floating("affine_transform", "input", input), floating("affine_transform", "matrix", matrix)
    require(a.shape == (x.ndim, x.ndim), "affine_transform", "matrix", a, f"shape ({x.ndim}, {x.ndim})")
    shape = x.shape if output_shape is None else tuple(output_shape)
    indices = [xp.reshape(k, (-1,)) for k in xp.meshgrid(*(xp.arange(n) for n in shape), indexing="ij")]
    grid = xp.astype(xp.stack(indices), a.dtype)
    by = xp.broadcast_to(floating("affine_transform", "offset", offset), (x.ndim,))
    points = xp.reshape(xp.matmul(a, grid) + by[:, None], (x.ndim, *shape))
    return _interpolated("affine_transform", x, points, **options)
