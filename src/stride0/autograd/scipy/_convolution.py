"""Convolutions of `stride0.autograd.scipy.signal`."""

from __future__ import annotations

import math
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentValueError, ShapeError
from stride0._core.array.array import Array
from stride0.autograd.scipy._arguments import each, floating, one_of, require, same_dtype
from stride0.autograd.scipy._axes import axis_of, lengthened
from stride0.autograd.scipy._calls import from_numpy, original, to_numpy
from stride0.autograd.scipy._linear import extended, full, transformed, valid
from stride0.autograd.scipy._ranks import listed, rank_filter, real_input
from stride0.autograd.scipy._recursive import coefficients, lfilter

__all__ = [
    "convolve",
    "convolve2d",
    "correlate",
    "correlate2d",
    "deconvolve",
    "medfilt",
    "medfilt2d",
    "oaconvolve",
    "order_filter",
    "wiener",
]


def _part(whole: Array, first: tuple[int, ...], second: tuple[int, ...], mode: str, axes: Any) -> Array:
    """Return the part of a whole convolution that a mode keeps."""
    key: list[Any] = [slice(None)] * whole.ndim
    for k in axes:
        n, m = first[k], second[k]
        count = {"full": n + m - 1, "same": n, "valid": max(n, m) - min(n, m) + 1}[mode]
        start = {"full": 0, "same": (m - 1) // 2, "valid": min(n, m) - 1}[mode]
        key[k] = slice(start, start + count)
    return whole[tuple(key)]


def _pair(operation: str, in1: Any, in2: Any, mode: str) -> list[Array]:
    one_of(operation, "mode", mode, ("full", "same", "valid"))
    x, w = same_dtype(floating(operation, "in1", in1), floating(operation, "in2", in2))
    if x.ndim != w.ndim or x.ndim == 0:
        raise ShapeError(
            operation,
            "in1 and in2 must have the same number of axes",
            [("in1", f"{x.shape}"), ("in2", f"{w.shape}")],
        )
    if mode == "valid":
        larger = [n >= m for n, m in zip(x.shape, w.shape, strict=True)]
        smaller = [n <= m for n, m in zip(x.shape, w.shape, strict=True)]
        if not all(larger) and not all(smaller):
            raise ShapeError(
                operation,
                "with mode='valid' one array must be at least as long as the other along every axis",
                [("in1", f"{x.shape}"), ("in2", f"{w.shape}")],
            )
    return [x, w]


def _of_nothing(operation: str, x: Array, w: Array, *options: Any) -> Array:
    """Return SciPy's result for an operand without elements; raise an error if SciPy does."""
    empty = [to_numpy(xp.zeros(a.shape, dtype=a.dtype)) for a in (x, w)]
    try:
        return from_numpy(original(f"signal.{operation}")(*empty, *options))
    except (ValueError, IndexError) as error:
        raise _no_elements(operation, x, w) from error


def _no_elements(operation: str, x: Array, w: Array) -> ShapeError:
    facts = [("in1", f"{x.shape}"), ("in2", f"{w.shape}")]
    return ShapeError(operation, "in1 or in2 has no elements", facts, "pass arrays with at least one element")


def _by_method(operation: str, in1: Any, in2: Any, mode: str, method: str) -> Array:
    x, w = _pair(operation, in1, in2, mode)
    one_of(operation, "method", method, ("auto", "direct", "fft"))
    if x.size == 0 or w.size == 0:
        return _of_nothing(operation, x, w, mode, "direct" if method == "auto" else method)
    whole = full(x, w if operation == "convolve" else xp.conj(xp.flip(w)), method)
    return _part(whole, x.shape, w.shape, mode, range(x.ndim))


def convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Array:
    """Convolve two arrays: `scipy.signal.convolve`. Differentiable by `in1` and `in2`."""
    return _by_method("convolve", in1, in2, mode, method)


def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Array:
    """Correlate two arrays: `scipy.signal.correlate`. Differentiable by `in1` and `in2`."""
    return _by_method("correlate", in1, in2, mode, method)


def oaconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Array:
    """Convolve two arrays, one of them much longer: `scipy.signal.oaconvolve`.

    Differentiable by `in1` and `in2`. Computed by one transform of the whole length.
    """
    if axes is None:
        x, w = _pair("oaconvolve", in1, in2, mode)
        return convolve(x, w, mode, "fft") if x.size and w.size else _of_nothing("oaconvolve", x, w, mode)
    x, w = _pair("oaconvolve", in1, in2, "full")
    one_of("oaconvolve", "mode", mode, ("full", "same", "valid"))
    numbers = tuple(axis_of("oaconvolve", x, k) for k in ([axes] if isinstance(axes, int) else axes))
    whole = transformed(x, w, tuple(x.shape[k] + w.shape[k] - 1 for k in numbers), numbers)
    return _part(whole, x.shape, w.shape, mode, numbers)


# --- two axes, with boundaries

_BOUNDARIES = {"fill": "constant", "wrap": "wrap", "symm": "reflect"}


def _plane(
    operation: str, in1: Any, in2: Any, flipped: bool, mode: str, boundary: str, fillvalue: Any
) -> Array:
    x, w = _pair(operation, in1, in2, mode)
    require(x.ndim == 2, operation, "in1", x, "two axes")
    one_of(operation, "boundary", boundary, tuple(_BOUNDARIES))
    swapped = mode == "valid" and any(n < m for n, m in zip(x.shape, w.shape, strict=True))
    if (x if swapped else w).size == 0:
        raise _no_elements(operation, x, w)
    if swapped:
        x, w = w, x
    shapes = x.shape, w.shape
    kernel = xp.conj(w) if flipped else xp.flip(w)
    for axis, n in enumerate(w.shape):
        x = extended(operation, x, axis, n - 1, n - 1, _BOUNDARIES[boundary], fillvalue)
    found = valid(x, kernel)
    if flipped and mode == "same":
        # For a kernel of even size, SciPy takes the other middle element.
        (n, m), (k, j) = shapes
        return found[k // 2 : k // 2 + n, j // 2 : j // 2 + m]
    found = _part(found, *shapes, mode, range(2))
    return xp.flip(found) if swapped and flipped else found


def convolve2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: float = 0) -> Array:
    """Convolve two matrices: `scipy.signal.convolve2d`. Differentiable by `in1` and `in2`."""
    return _plane("convolve2d", in1, in2, False, mode, boundary, fillvalue)


def correlate2d(
    in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: float = 0
) -> Array:
    """Correlate two matrices: `scipy.signal.correlate2d`. Differentiable by `in1` and `in2`."""
    return _plane("correlate2d", in1, in2, True, mode, boundary, fillvalue)


# --- made of filters


def deconvolve(signal: Any, divisor: Any) -> tuple[Array, Array]:
    """Divide two signals like polynomials: `scipy.signal.deconvolve`. Differentiable by both."""
    b, a, _ = coefficients("deconvolve", signal, divisor, xp.zeros((1,)))
    count = b.shape[0] - a.shape[0] + 1
    if count < 1:
        return xp.zeros((0,), dtype=b.dtype), b
    quotient = lfilter(b, a, lengthened(xp.ones((1,), dtype=b.dtype), 0, count))
    return quotient, b - full(a, quotient, "auto")


def wiener(im: Any, mysize: Any = None, noise: Any = None) -> Array:
    """Remove noise by Wiener's filter: `scipy.signal.wiener`. Differentiable by `im` and `noise`."""
    x = floating("wiener", "im", im)
    sizes = [int(n) for n in each("wiener", "mysize", 3 if mysize is None else mysize, x.ndim)]
    weights = xp.full(tuple(sizes), 1 / math.prod(sizes), dtype=x.dtype)
    mean = correlate(x, weights, "same")
    variance = correlate(x * x, weights, "same") - mean * mean
    level = xp.mean(variance) if noise is None else xp.asarray(noise, dtype=x.dtype)
    flat = variance < level
    share = level / xp.where(flat, 1.0, variance)
    return xp.where(flat, mean, (x - mean) * (1 - share) + mean)


# --- ranks: zeros lie beyond the ends


def order_filter(a: Any, domain: Any, rank: int) -> Array:
    """Take the element of a given rank in each window: `scipy.signal.order_filter`.

    Differentiable by `a`, which is real, if no two elements of a window are equal.
    """
    return rank_filter(a, rank, footprint=domain, mode="constant")


def medfilt(volume: Any, kernel_size: Any = None) -> Array:
    """Take the median of each window: `scipy.signal.medfilt`.

    Differentiable by `volume`, which is real, if no two elements of a window are equal.
    """
    x = real_input("medfilt", volume)
    x = xp.reshape(x, (1,)) if x.ndim == 0 else x
    sizes = each("medfilt", "kernel_size", 3 if kernel_size is None else listed(kernel_size), x.ndim)
    if any(n % 2 == 0 for n in sizes):
        raise ArgumentValueError("medfilt", f"kernel_size is {kernel_size}", accepts="pass odd sizes")
    count = 1
    for n in sizes:
        count *= n
    return rank_filter(x, count // 2, size=tuple(sizes), mode="constant")


def medfilt2d(input: Any, kernel_size: Any = 3) -> Array:
    """Take the median of each window of a matrix: `scipy.signal.medfilt2d`. Differentiable like `medfilt`."""
    x = real_input("medfilt2d", input)
    require(x.ndim == 2, "medfilt2d", "input", x, "two axes")
    return medfilt(x, kernel_size)
