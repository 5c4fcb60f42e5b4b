"""Functions of `stride0.autograd.scipy.ndimage` with callbacks, rotations, and filters of spectra."""

from __future__ import annotations

import math
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentTypeError, ArgumentValueError
from stride0._core.array.array import Array
from stride0.autograd.scipy._arguments import count_of, floating, item, untracked
from stride0.autograd.scipy._axes import along, axis_of
from stride0.autograd.scipy._calls import from_numpy, original, scipy
from stride0.autograd.scipy._linear import extended
from stride0.autograd.scipy._ranks import Window, window_options
from stride0.autograd.scipy._signatures import into_output, named, taking
from stride0.autograd.scipy._splines import affine_transform, map_coordinates, spline_options
from stride0.autograd.scipy._windows import lane_options

__all__ = [
    "distance_transform_bf",
    "distance_transform_edt",
    "fourier_ellipsoid",
    "fourier_gaussian",
    "fourier_shift",
    "fourier_uniform",
    "generic_filter",
    "generic_filter1d",
    "geometric_transform",
    "rotate",
    "vectorized_filter",
]


# --- rotated and bent


@into_output
@taking(spline_options)
def rotate(
    input: Any, angle: float, axes: tuple[int, int] = (1, 0), reshape: bool = True, **options: Any
) -> Array:
    """Rotate an array in the plane of two axes: `scipy.ndimage.rotate`.

    Differentiable by `input`, and by `angle` if it is an array and `reshape` is false.
    """
    x = floating("rotate", "input", input)
    first, second = sorted(axis_of("rotate", x, k) for k in axes)
    if first == second:
        raise ArgumentValueError("rotate", f"axes is {axes}", accepts="pass two different axes")
    radians = floating("rotate", "angle", angle) * (math.pi / 180)
    # SciPy's sine and cosine are exact at multiples of 90 degrees.
    special = scipy("special")
    known = float(item(floating("rotate", "angle", angle)))
    if isinstance(angle, (int, float)):
        c, s = xp.asarray(float(special.cosdg(known))), xp.asarray(float(special.sindg(known)))
    else:
        c, s = xp.cos(radians), xp.sin(radians)
    inner = xp.stack((xp.stack((c, s)), xp.stack((-s, c))))
    sides = [x.shape[first], x.shape[second]]
    new = list(sides)
    if reshape:
        corners = item(
            xp.matmul(inner, xp.asarray([[0.0, 0.0, sides[0], sides[0]], [0.0, sides[1], 0.0, sides[1]]]))
        )
        new = [int(row.max() - row.min() + 0.5) for row in corners]
    middles = [xp.asarray([(n - 1) / 2 for n in lengths]) for lengths in (sides, new)]
    by = middles[0] - xp.matmul(inner, middles[1])
    shape = list(x.shape)
    shape[first], shape[second] = new
    if x.ndim == 2:
        return affine_transform(x, inner, by, tuple(shape), **options)
    # One plane at a time, as SciPy does.
    planes = xp.moveaxis(x, (first, second), (-2, -1))
    rest = planes.shape[:-2]
    planes = xp.reshape(planes, (-1, *planes.shape[-2:]))
    rotated = [
        affine_transform(planes[k, ...], inner, by, tuple(new), **options) for k in range(planes.shape[0])
    ]
    return xp.moveaxis(xp.reshape(xp.stack(rotated), (*rest, *new)), (-2, -1), (first, second))


@into_output
@taking(spline_options)
def geometric_transform(
    input: Any,
    mapping: Any,
    output_shape: Any = None,
    *,
    extra_arguments: tuple[Any, ...] = (),
    extra_keywords: Any = None,
    **options: Any,
) -> Array:
    """Interpolate an array at coordinates that a function returns: `scipy.ndimage.geometric_transform`.

    Differentiable by `input`, and by tracked arrays among the coordinates that `mapping` returns.
    """
    x = floating("geometric_transform", "input", input)
    shape = x.shape if output_shape is None else tuple(output_shape)
    more = extra_keywords or {}
    places: list[tuple[int, ...]] = [()]
    for n in shape:
        places = [(*place, k) for place in places for k in range(n)]
    rows = [
        xp.stack([xp.asarray(c, dtype=xp.float64) for c in mapping(p, *extra_arguments, **more)])
        for p in places
    ]
    points = xp.stack(rows, axis=1) if rows else xp.zeros((x.ndim, 0))
    coordinates = xp.reshape(points, (x.ndim, *shape))
    return map_coordinates(x, coordinates, **options)


# --- filters that call a function


def _windows(window: Window, x: Array) -> Array:
    """Return the elements of each window, along a last axis."""
    numbers, parts = window.places(x.shape)
    places = xp.stack([xp.reshape(numbers[part], (-1,)) for part in parts], axis=1)
    return xp.reshape(xp.take(window.elements(x), xp.reshape(places, (-1,))), (*x.shape, len(parts)))


@into_output
@taking(window_options)
def generic_filter(
    input: Any,
    function: Any,
    *,
    extra_arguments: tuple[Any, ...] = (),
    extra_keywords: Any = None,
    **options: Any,
) -> Array:
    """Apply a function to each window: `scipy.ndimage.generic_filter`.

    Differentiable by `input`. `function` takes a stride0 array, and is called once per element;
    `vectorized_filter` needs one call.
    """
    x = floating("generic_filter", "input", input)
    if x.size == 0:
        return xp.asarray(x, copy=True)
    windows = _windows(Window("generic_filter", x, **options), x)
    rows = xp.reshape(windows, (-1, windows.shape[-1]))
    more = extra_keywords or {}
    found = [xp.asarray(function(rows[k, :], *extra_arguments, **more)) for k in range(rows.shape[0])]
    return xp.astype(xp.reshape(xp.stack(found), x.shape), x.dtype, copy=False)


@into_output
def vectorized_filter(
    input: Any,
    function: Any,
    *,
    output: Any = None,
    size: Any = None,
    footprint: Any = None,
    mode: str = "reflect",
    cval: float | None = None,
    origin: Any = None,
    axes: Any = None,
) -> Array:
    """Apply a function to all windows at once: `scipy.ndimage.vectorized_filter`.

    Differentiable by `input`. `function` takes a stride0 array and ``axis``.
    """
    x = floating("vectorized_filter", "input", input)
    beyond = "constant" if mode == "valid" else mode
    window = Window(
        "vectorized_filter", x, size, footprint, beyond, cval or 0.0, 0 if origin is None else origin, axes
    )
    windows = _windows(window, x)
    if mode == "valid":
        for axis, (n, before) in enumerate(zip(window.sizes, window.before, strict=True)):
            windows = windows[along(windows.ndim, axis, slice(before, x.shape[axis] - (n - 1 - before)))]
    if footprint is not None:
        return xp.asarray(function(windows, axis=-1))
    sizes = [n for n in window.sizes if axes is None or n > 1]
    windows = xp.reshape(windows, (*windows.shape[:-1], *sizes))
    return xp.asarray(function(windows, axis=tuple(range(-len(sizes), 0))))


@into_output
@taking(lane_options)
def generic_filter1d(
    input: Any,
    function: Any,
    filter_size: int,
    *,
    extra_arguments: tuple[Any, ...] = (),
    extra_keywords: Any = None,
    **options: Any,
) -> Array:
    """Apply a function to each lane along an axis: `scipy.ndimage.generic_filter1d`.

    Differentiable by `input`. `function` takes two stride0 arrays, and writes to the second one.
    """
    x = floating("generic_filter1d", "input", input)
    number = axis_of("generic_filter1d", x, options["axis"])
    size = count_of("generic_filter1d", "filter_size", filter_size, 1)
    before = size // 2 + options["origin"]
    if not 0 <= before < size:
        raise ArgumentValueError("generic_filter1d", "origin lies outside the window", (), "pass origin=0")
    if x.size == 0:
        return xp.asarray(x, copy=True)
    longer = extended(
        "generic_filter1d", x, number, before, size - 1 - before, options["mode"], options["cval"]
    )
    lanes = xp.moveaxis(longer, number, -1)
    rest, n = lanes.shape[:-1], x.shape[number]
    lanes = xp.reshape(lanes, (-1, lanes.shape[-1]))
    found = []
    for k in range(lanes.shape[0]):
        result = xp.zeros((n,), dtype=x.dtype)
        function(lanes[k, :], result, *extra_arguments, **(extra_keywords or {}))
        found.append(result)
    return xp.moveaxis(xp.reshape(xp.stack(found), (*rest, n)), -1, number)


# --- spectra, of which each element is multiplied by a number


def _multiplied(name: str, what: str, parameter: str) -> Any:
    def function(
        input: Any, own: Any = None, n: int = -1, axis: int = -1, output: Any = None, **named: Any
    ) -> Array:
        if named.keys() != ({parameter} if own is None else set()):
            raise ArgumentTypeError(
                name, f"{parameter} is missing or given twice", accepts=f"pass {parameter} once"
            )
        x = floating(name, "input", input)
        ones = item(xp.ones(x.shape, dtype=xp.complex128))
        given = named[parameter] if own is None else own
        untracked(name, parameter, given)
        given = item(given) if isinstance(given, Array) else given
        factors = original(f"ndimage.{name}")(ones, given, n, axis)
        if name != "fourier_shift" and x.dtype.kind == "real floating":
            factors = factors.real
        return x * xp.asarray(factors)

    doc = f"{what}: `scipy.ndimage.{name}`. Differentiable by `input`, the spectrum."
    return into_output(named(function, name, doc))


fourier_gaussian = _multiplied("fourier_gaussian", "Smooth by a Gaussian", "sigma")
fourier_uniform = _multiplied("fourier_uniform", "Take means of boxes", "size")
fourier_ellipsoid = _multiplied("fourier_ellipsoid", "Take means of ellipsoids", "size")
fourier_shift = _multiplied("fourier_shift", "Move by a distance", "shift")


# --- distances to the next zero


def _distances(name: str, what: str) -> Any:
    def function(input: Any, *args: Any, **options: Any) -> Any:
        # They depend only on which elements are zero, so they are constant unless an element becomes zero.
        return _ours(original(f"ndimage.{name}")(item(floating(name, "input", input)), *args, **options))

    doc = f"Compute the distance of each element to the nearest zero{what}: `scipy.ndimage.{name}`."
    doc += "\n\nThe gradient by `input` is zero: distances depend only on which elements are zero."
    return named(function, name, doc)


def _ours(found: Any) -> Any:
    return [_ours(x) for x in found] if isinstance(found, (list, tuple)) else from_numpy(found)


distance_transform_edt = _distances("distance_transform_edt", "")
distance_transform_bf = _distances("distance_transform_bf", ", by a chosen metric")
