"""Filters of `stride0.autograd.scipy.ndimage` that estimate derivatives, made of those along one axis."""

from __future__ import annotations

from typing import Any

import stride0 as xp
from stride0._base.errors import ShapeError
from stride0._core.array.array import Array
from stride0.autograd.scipy._parts import axis_of, floating, into_output, taking
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


def _length(parts: list[Array]) -> Array:
    squares = [part * part for part in parts]
    return xp.sqrt(sum(squares[1:], squares[0]))


def _slope(operation: str, input: Any, axis: int, output: None, mode: str, cval: float, across: Any) -> Array:
    """Return differences along one axis, smoothed along the others."""
    x = floating(operation, "input", input)
    axis = axis_of(operation, x, axis)
    x = correlate1d(x, [-1.0, 0.0, 1.0], axis, None, mode, cval)
    for other in range(x.ndim):
        if other != axis:
            x = correlate1d(x, across, other, None, mode, cval)
    return x


@into_output
def prewitt(
    input: Any, axis: int = -1, output: Any = None, mode: str = "reflect", cval: float = 0.0
) -> Array:
    """
    Apply Prewitt's filter: differences along an axis, sums of three along the others.

    Parameters
    ----------
    input : Array
        Differentiable.
    axis : int
        Of the differences.
    output, mode, cval
        As `correlate1d` takes them.

    Returns
    -------
    Array
        New array of the shape of `input`, as `scipy.ndimage.prewitt`.
    """
    return _slope("prewitt", input, axis, output, mode, cval, [1.0, 1.0, 1.0])


@into_output
def sobel(input: Any, axis: int = -1, output: Any = None, mode: str = "reflect", cval: float = 0.0) -> Array:
    """
    Apply Sobel's filter: differences along an axis, weighted sums of three along the others.

    Parameters
    ----------
    input, axis, output, mode, cval
        As `prewitt` takes them.

    Returns
    -------
    Array
        New array of the shape of `input`, as `scipy.ndimage.sobel`.
    """
    return _slope("sobel", input, axis, output, mode, cval, [1.0, 2.0, 1.0])


@into_output
def laplace(input: Any, output: Any = None, mode: str = "reflect", cval: float = 0.0) -> Array:
    """
    Estimate the Laplacian by second differences.

    Parameters
    ----------
    input : Array
        Differentiable.
    output, mode, cval
        As `correlate1d` takes them.

    Returns
    -------
    Array
        New array of the shape of `input`, as `scipy.ndimage.laplace`.
    """
    x = floating("laplace", "input", input)
    parts = [correlate1d(x, [1.0, -2.0, 1.0], axis, None, mode, cval) for axis in range(x.ndim)]
    return sum(parts[1:], parts[0])


def _smoothed(x: Array, sigma: Any, derivative: int, mode: str, cval: float, options: Any) -> list[Array]:
    """Return derivatives of a smoothed array along each axis."""
    return [
        gaussian_filter(
            x, sigma, [derivative * (k == axis) for k in range(x.ndim)], None, mode, cval, **options
        )
        for axis in range(x.ndim)
    ]


@into_output
def gaussian_laplace(
    input: Any, sigma: Any, output: Any = None, mode: str = "reflect", cval: float = 0.0, **options: Any
) -> Array:
    """
    Estimate the Laplacian by second derivatives of Gaussians.

    Parameters
    ----------
    input : Array
        Differentiable.
    sigma, output, mode, cval
        As `gaussian_filter` takes them.
    **options
        ``truncate`` and ``radius``, as `gaussian_filter` takes them.

    Returns
    -------
    Array
        New array of the shape of `input`, as `scipy.ndimage.gaussian_laplace`.
    """
    parts = _smoothed(floating("gaussian_laplace", "input", input), sigma, 2, mode, cval, options)
    return sum(parts[1:], parts[0])


@into_output
def gaussian_gradient_magnitude(
    input: Any, sigma: Any, output: Any = None, mode: str = "reflect", cval: float = 0.0, **options: Any
) -> Array:
    """
    Estimate the length of the gradient by derivatives of Gaussians.

    Parameters
    ----------
    input, sigma, output, mode, cval, **options
        As `gaussian_laplace` takes them.

    Returns
    -------
    Array
        New array of the shape of `input`, as `scipy.ndimage.gaussian_gradient_magnitude`.
    """
    x = floating("gaussian_gradient_magnitude", "input", input)
    return _length(_smoothed(x, sigma, 1, mode, cval, options))


def _slopes(
    operation: str,
    input: Any,
    function: Any,
    *,
    mode: str,
    cval: float,
    extra_arguments: tuple[Any, ...],
    extra_keywords: Any,
) -> list[Array]:
    """Return what a function gives along each axis: it writes to its output, or returns the result."""
    x = floating(operation, "input", input)
    parts = []
    for axis in range(x.ndim):
        output = xp.zeros_like(x)
        found = function(x, axis, output, mode, cval, *extra_arguments, **(extra_keywords or {}))
        parts.append(output if found is None else found)
    if not parts:
        raise ShapeError(operation, "input has no axes", accepts="one axis or more")
    return parts


def _generic_options(
    output: Any = None,
    mode: str = "reflect",
    cval: float = 0.0,
    extra_arguments: tuple[Any, ...] = (),
    extra_keywords: Any = None,
) -> None:
    """Declare the options of filters that call a function for derivatives."""


@into_output
@taking(_generic_options)
def generic_laplace(input: Any, derivative2: Any, **options: Any) -> Array:
    """
    Estimate the Laplacian by a function for second derivatives.

    Parameters
    ----------
    input : Array
        Differentiable.
    derivative2 : callable
        Takes an array, an axis, an output, `mode` and `cval`, like `correlate1d`.
    output, mode, cval
        As `correlate1d` takes them.
    extra_arguments, extra_keywords
        More arguments of the function.

    Returns
    -------
    Array
        New array of the shape of `input`, as `scipy.ndimage.generic_laplace`.
    """
    parts = _slopes("generic_laplace", input, derivative2, **options)
    return sum(parts[1:], parts[0])


@into_output
@taking(_generic_options)
def generic_gradient_magnitude(input: Any, derivative: Any, **options: Any) -> Array:
    """
    Estimate the length of the gradient by a function for derivatives.

    Parameters
    ----------
    input, derivative, output, mode, cval, extra_arguments, extra_keywords
        As `generic_laplace` takes them.

    Returns
    -------
    Array
        New array of the shape of `input`, as `scipy.ndimage.generic_gradient_magnitude`.
    """
    return _length(_slopes("generic_gradient_magnitude", input, derivative, **options))
