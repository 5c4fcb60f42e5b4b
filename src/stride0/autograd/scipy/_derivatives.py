"""Filters of `stride0.autograd.scipy.ndimage` that estimate derivatives, made of filters along one axis."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import stride0 as xp
from stride0._base.shapes import normalize_axes
from stride0._core.array.array import Array
from stride0.autograd.scipy._arguments import each, floating, root
from stride0.autograd.scipy._axes import axis_of
from stride0.autograd.scipy._signatures import into_output, taking
from stride0.autograd.scipy._windows import correlate1d, gaussian_filter

__all__ = [
    "gaussian_gradient_magnitude",
    "gaussian_laplace",
    "generic_gradient_magnitude",
    "generic_laplace",
    "laplace",
    "prewitt",
    "sobel",
]


def _parts(
    operation: str, input: Any, mode: Any, axes: Any, derivative: Callable[[Array, int, str], Array]
) -> tuple[Array, list[Array]]:
    """Return the input, and its derivative along each axis; each axis may have its own mode."""
    x = floating(operation, "input", input)
    numbers = normalize_axes(operation, axes, x.ndim)
    modes = each(operation, "mode", mode, len(numbers))
    return x, [derivative(x, axis, m) for axis, m in zip(numbers, modes, strict=True)]


def _sum(x: Array, parts: list[Array]) -> Array:
    """Return the sum of the derivatives of `x`; for a 0-d array, a copy of `x`, as in SciPy."""
    return functools.reduce(operator.add, parts) if parts else xp.asarray(x, copy=True)


def _length(x: Array, parts: list[Array]) -> Array:
    """Return the root of the sum of squares; where it is 0, its gradient is 0: Note [Divided by zero]."""
    if not parts:
        return xp.asarray(x, copy=True)
    if all(part.dtype.kind == "real floating" for part in parts):
        return functools.reduce(xp.hypot, parts) if len(parts) > 1 else xp.abs(parts[0])
    return root(functools.reduce(operator.add, [part * part for part in parts]))


def _slope(operation: str, input: Any, axis: int, mode: Any, cval: float, across: Any) -> Array:
    """Return differences along one axis, smoothed along the other axes."""
    x = floating(operation, "input", input)
    axis = axis_of(operation, x, axis)
    modes = each(operation, "mode", mode, x.ndim)
    x = correlate1d(x, [-1.0, 0.0, 1.0], axis, None, modes[axis], cval)
    for other in range(x.ndim):
        if other != axis:
            x = correlate1d(x, across, other, None, modes[other], cval)
    return x


@into_output
def prewitt(
    input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: float = 0.0
) -> Array:
    """Apply Prewitt's filter: `scipy.ndimage.prewitt`. Differentiable by `input`."""
    return _slope("prewitt", input, axis, mode, cval, [1.0, 1.0, 1.0])


@into_output
def sobel(input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: float = 0.0) -> Array:
    """Apply Sobel's filter: `scipy.ndimage.sobel`. Differentiable by `input`."""
    return _slope("sobel", input, axis, mode, cval, [1.0, 2.0, 1.0])


def _slopes_options(
    output: Any = None, mode: Any = "reflect", cval: float = 0.0, *, axes: Any = None, **options: Any
) -> None:
    """Declare the options of filters made of derivatives along axes."""


@into_output
def laplace(
    input: Any, output: Any = None, mode: Any = "reflect", cval: float = 0.0, *, axes: Any = None
) -> Array:
    """Estimate the Laplacian by second differences: `scipy.ndimage.laplace`. Differentiable by `input`."""

    def derivative(x: Array, axis: int, mode: str) -> Array:
        return correlate1d(x, [1.0, -2.0, 1.0], axis, None, mode, cval)

    return _sum(*_parts("laplace", input, mode, axes, derivative))


def _gaussian(sigma: Any, order: int, cval: float, options: Any) -> Callable[[Array, int, str], Array]:
    """Return the derivative of a given order along an axis of an array that is smoothed along all axes."""

    def derivative(x: Array, axis: int, mode: str) -> Array:
        orders = [order * (k == axis) for k in range(x.ndim)]
        return gaussian_filter(x, sigma, orders, None, mode, cval, **options)

    return derivative


@into_output
@taking(_slopes_options)
def gaussian_laplace(input: Any, sigma: Any, **options: Any) -> Array:
    """Estimate the Laplacian by Gaussians: `scipy.ndimage.gaussian_laplace`. Differentiable by `input`."""
    x = floating("gaussian_laplace", "input", input)
    mode, cval, axes = (options.pop(name) for name in ("mode", "cval", "axes"))
    numbers = normalize_axes("gaussian_laplace", axes, x.ndim)
    widths = dict(zip(numbers, each("gaussian_laplace", "sigma", sigma, len(numbers)), strict=True))
    derivative = _gaussian([widths.get(k, 0.0) for k in range(x.ndim)], 2, cval, options)
    return _sum(*_parts("gaussian_laplace", x, mode, axes, derivative))


@into_output
@taking(_slopes_options)
def gaussian_gradient_magnitude(input: Any, sigma: Any, **options: Any) -> Array:
    """Estimate the length of the gradient by Gaussians: `scipy.ndimage.gaussian_gradient_magnitude`.

    Differentiable by `input`. If the length is 0, its gradient is 0.
    """
    mode, cval, axes = (options.pop(name) for name in ("mode", "cval", "axes"))
    derivative = _gaussian(sigma, 1, cval, options)
    return _length(*_parts("gaussian_gradient_magnitude", input, mode, axes, derivative))


def _called(operation: str, input: Any, function: Any, **options: Any) -> tuple[Array, list[Array]]:
    """Return the results of a function along each axis; it writes to its output, or returns the result."""
    args, kwargs = options["extra_arguments"], options["extra_keywords"] or {}

    def derivative(x: Array, axis: int, mode: str) -> Array:
        output = xp.zeros_like(x)
        found = function(x, axis, output, mode, options["cval"], *args, **kwargs)
        return output if found is None else found

    return _parts(operation, input, options["mode"], options["axes"], derivative)


def _generic_options(
    output: Any = None,
    mode: Any = "reflect",
    cval: float = 0.0,
    extra_arguments: tuple[Any, ...] = (),
    extra_keywords: Any = None,
    *,
    axes: Any = None,
) -> None:
    """Declare the options of filters that call a function for derivatives."""


@into_output
@taking(_generic_options)
def generic_laplace(input: Any, derivative2: Any, **options: Any) -> Array:
    """Estimate the Laplacian by a function for second derivatives: `scipy.ndimage.generic_laplace`.

    Differentiable by `input`. `derivative2` takes and returns stride0 arrays, like `correlate1d`.
    """
    return _sum(*_called("generic_laplace", input, derivative2, **options))


@into_output
@taking(_generic_options)
def generic_gradient_magnitude(input: Any, derivative: Any, **options: Any) -> Array:
    """Estimate the length of the gradient by a function: `scipy.ndimage.generic_gradient_magnitude`.

    Differentiable by `input`. If the length is 0, its gradient is 0. `derivative` takes and returns stride0
    arrays, like `correlate1d`.
    """
    return _length(*_called("generic_gradient_magnitude", input, derivative, **options))
