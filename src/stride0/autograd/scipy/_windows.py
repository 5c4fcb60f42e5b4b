"""Filters of `stride0.autograd.scipy.ndimage`, which take products of weights with windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentValueError, ShapeError
from stride0._base.shapes import normalize_axes
from stride0._core.array.array import Array
from stride0.autograd.scipy._arguments import count_of, each, floating, require
from stride0.autograd.scipy._axes import axis_of, lane
from stride0.autograd.scipy._calls import scipy, to_numpy
from stride0.autograd.scipy._linear import extended, valid
from stride0.autograd.scipy._signatures import into_output, taking

__all__ = [
    "convolve",
    "convolve1d",
    "correlate",
    "correlate1d",
    "gaussian_filter",
    "gaussian_filter1d",
    "uniform_filter",
    "uniform_filter1d",
]


def _correlated(operation: str, x: Array, weights: Array, first: list[int], mode: str, cval: float) -> Array:
    """Return the products of weights with windows; `first` elements of a window precede its element."""
    for axis, (size, before) in enumerate(zip(weights.shape, first, strict=True)):
        if not 0 <= before < max(size, 1):
            raise ArgumentValueError(operation, "origin lies outside the weights", accepts="pass origin=0")
        x = extended(operation, x, axis, before, size - 1 - before, mode, cval)
    return valid(x, weights)


def _operands(operation: str, input: Any, weights: Any) -> tuple[Array, Array]:
    x, w = floating(operation, "input", input), floating(operation, "weights", weights)
    require(w.size != 0, operation, "weights", w, "at least one element")
    return x, xp.astype(w, x.dtype, copy=False) if w.dtype.kind == "real floating" else w


# The weights for a correlation, and the number of window elements before the element.
_MADE: dict[str, tuple[Callable[[Array], Array], Callable[[int, int], int]]] = {
    "correlate": (xp.conj, lambda n, origin: n // 2 + origin),
    "convolve": (xp.flip, lambda n, origin: (n - 1) // 2 - origin),
}


def _of_windows(
    operation: str, input: Any, weights: Any, mode: str, cval: float, origin: Any, axes: Any
) -> Array:
    x, w = _operands(operation, input, weights)
    numbers = normalize_axes(operation, axes, x.ndim)
    if w.ndim != len(numbers):
        raise ShapeError(
            operation,
            f"weights has {w.ndim} axes",
            [("input", f"{x.shape}")],
            f"pass weights with {len(numbers)} axes",
        )
    origins = dict(zip(numbers, each(operation, "origin", origin, len(numbers)), strict=True))
    sizes = dict(zip(sorted(numbers), w.shape, strict=True))
    w = xp.reshape(w, tuple(sizes.get(k, 1) for k in range(x.ndim)))
    correlating, before = _MADE[operation]
    first = [before(n, origins.get(k, 0)) for k, n in enumerate(w.shape)]
    return _correlated(operation, x, correlating(w), first, mode, cval)


def _weights_options(
    output: Any = None, mode: Any = "reflect", cval: float = 0.0, origin: Any = 0, *, axes: Any = None
) -> None:
    """Declare the options of filters along several axes."""


@into_output
@taking(_weights_options)
def correlate(input: Any, weights: Any, **options: Any) -> Array:
    """Correlate with weights: `scipy.ndimage.correlate`. Differentiable by `input` and `weights`."""
    return _of_windows("correlate", input, weights, **options)


@into_output
@taking(_weights_options)
def convolve(input: Any, weights: Any, **options: Any) -> Array:
    """Convolve with weights: `scipy.ndimage.convolve`. Differentiable by `input` and `weights`."""
    return _of_windows("convolve", input, weights, **options)


def _line(operation: str, x: Array, weights: Array, axis: int, first: int, mode: str, cval: float) -> Array:
    """Return the result of a vector of weights along an axis."""
    require(weights.ndim == 1, operation, "weights", weights, "one axis")
    firsts = [first if k == axis else 0 for k in range(x.ndim)]
    return _correlated(operation, x, xp.reshape(weights, lane(x, axis)), firsts, mode, cval)


def _of_lanes(
    operation: str, input: Any, weights: Any, axis: int, mode: str, cval: float, origin: int
) -> Array:
    x, w = _operands(operation, input, weights)
    correlating, before = _MADE[operation.removesuffix("1d")]
    return _line(
        operation, x, correlating(w), axis_of(operation, x, axis), before(w.shape[0], origin), mode, cval
    )


def lane_options(
    axis: int = -1, output: Any = None, mode: str = "reflect", cval: float = 0.0, origin: int = 0
) -> None:
    """Declare the options of filters along an axis."""


@into_output
@taking(lane_options)
def correlate1d(input: Any, weights: Any, **options: Any) -> Array:
    """Correlate along an axis: `scipy.ndimage.correlate1d`. Differentiable by `input` and `weights`."""
    return _of_lanes("correlate1d", input, weights, **options)


@into_output
@taking(lane_options)
def convolve1d(input: Any, weights: Any, **options: Any) -> Array:
    """Convolve along an axis: `scipy.ndimage.convolve1d`. Differentiable by `input` and `weights`."""
    return _of_lanes("convolve1d", input, weights, **options)


@into_output
@taking(lane_options)
def uniform_filter1d(input: Any, size: int, **options: Any) -> Array:
    """Take means of windows along an axis: `scipy.ndimage.uniform_filter1d`. Differentiable by `input`."""
    x = floating("uniform_filter1d", "input", input)
    size = count_of("uniform_filter1d", "size", size, 1)
    weights = xp.full((size,), 1 / size, dtype=xp.real(x).dtype)
    axis, first = axis_of("uniform_filter1d", x, options["axis"]), size // 2 + options["origin"]
    return _line("uniform_filter1d", x, weights, axis, first, options["mode"], options["cval"])


@into_output
@taking(_weights_options)
def uniform_filter(input: Any, size: Any = 3, **options: Any) -> Array:
    """Take means of windows: `scipy.ndimage.uniform_filter`. Differentiable by `input`."""
    x = floating("uniform_filter", "input", input)
    numbers = normalize_axes("uniform_filter", options["axes"], x.ndim)
    given = (("size", size), ("mode", options["mode"]), ("origin", options["origin"]))
    values = [each("uniform_filter", name, value, len(numbers)) for name, value in given]
    for axis, n, m, o in zip(numbers, *values, strict=True):
        if n > 1:
            x = uniform_filter1d(x, n, axis, None, m, options["cval"], o)
    return x


def _gaussian(
    operation: str, sigma: float, order: int, truncate: float, radius: int | None, x: Array
) -> Array:
    """Return SciPy's weights: its response to a unit impulse."""
    reach = int(truncate * float(sigma) + 0.5) if radius is None else count_of(operation, "radius", radius, 0)
    unit = xp.zeros((2 * reach + 1,))
    unit[reach] = 1.0
    answer = scipy("ndimage").gaussian_filter1d(
        to_numpy(unit),
        float(sigma),
        order=count_of(operation, "order", order, 0),
        mode="constant",
        radius=reach,
    )
    return xp.astype(xp.flip(xp.asarray(answer)), xp.real(x).dtype)


@into_output
def gaussian_filter1d(
    input: Any,
    sigma: float,
    axis: int = -1,
    order: int = 0,
    output: Any = None,
    mode: str = "reflect",
    cval: float = 0.0,
    truncate: float = 4.0,
    *,
    radius: int | None = None,
) -> Array:
    """Smooth along an axis by a Gaussian: `scipy.ndimage.gaussian_filter1d`.

    Differentiable by `input`. `sigma` is a Python number: there is no derivative with respect to it.
    """
    x = floating("gaussian_filter1d", "input", input)
    axis = axis_of("gaussian_filter1d", x, axis)
    weights = _gaussian("gaussian_filter1d", sigma, order, truncate, radius, x)
    return _line("gaussian_filter1d", x, weights, axis, weights.shape[0] // 2, mode, cval)


@into_output
def gaussian_filter(
    input: Any,
    sigma: Any,
    order: Any = 0,
    output: Any = None,
    mode: Any = "reflect",
    cval: float = 0.0,
    truncate: float = 4.0,
    *,
    radius: Any = None,
    axes: Any = None,
) -> Array:
    """Smooth by a Gaussian, or by one of its derivatives: `scipy.ndimage.gaussian_filter`.

    Differentiable by `input`. `sigma` has Python numbers: there is no derivative with respect to it.
    """
    x = floating("gaussian_filter", "input", input)
    numbers = normalize_axes("gaussian_filter", axes, x.ndim)
    options = (("sigma", sigma), ("order", order), ("mode", mode), ("radius", radius))
    values = [each("gaussian_filter", name, value, len(numbers)) for name, value in options]
    for axis, s, o, m, r in zip(numbers, *values, strict=True):
        if s > 1e-15:
            x = gaussian_filter1d(x, s, axis, o, None, m, cval, truncate, radius=r)
    return x
