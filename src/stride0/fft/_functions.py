"""Definitions of the FFT extension: the transforms. Their frequencies are in `_frequencies`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from stride0._base.errors import ArgumentTypeError, ArgumentValueError, ShapeError, brief, shown
from stride0._base.shapes import normalize_axes, normalize_axis, normalize_index, normalize_shape
from stride0._core.array.array import Array, zeros
from stride0._core.calls.checks import check_array, component_dtype, refuse_dtype
from stride0._core.calls.primitive import primitive_in
from stride0._core.exchange.numpy_calls import from_numpy, numpy, quiet, to_numpy
from stride0._core.memory import dtype as dt
from stride0._core.memory.dtype import arithmetic_dtype, promote
from stride0._core.ops.copy import copy
from stride0.fft._frequencies import fftfreq, fftshift, ifftshift, rfftfreq

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]

Norm = Literal["backward", "ortho", "forward"]
Sizes = Sequence[int] | None

# Transforms of half a spectrum into real numbers, and their opposites.
_TO_REAL = ("irfft", "irfftn", "hfft")
_TO_HALF = ("rfft", "rfftn", "ihfft")

# The dtypes that the real transforms take, for messages.
_REAL = "a real floating-point dtype; fft and its kin take complex ones"


def _transform(op: str, x: object, n: object, axis: object, norm: object) -> Array:
    """Check the arguments of a transform along one axis, and call NumPy."""
    found = _operand(op, x, norm)
    axis = normalize_axis(op, axis, found.ndim)
    length = _whole(op, found.shape[axis]) if n is None else normalize_index(op, "n", n)
    _check_length(op, length, found)
    shape = normalize_shape(op, (*found.shape[:axis], length, *found.shape[axis + 1 :]))
    return _by_numpy(op, found, shape, axis, n=length, axis=axis, norm=norm)


def _transform_nd(op: str, x: object, s: object, axes: object, norm: object) -> Array:
    """Check the arguments of a transform along several axes, and call NumPy."""
    found = _operand(op, x, norm)
    if s is not None and axes is None:
        raise ArgumentValueError(op, "axes must be given where s is", [("s", shown(s))])
    if axes is not None and not isinstance(axes, Sequence):
        raise ArgumentTypeError(op, "axes must be a sequence of integers", [("axes", shown(axes))])
    along = normalize_axes(op, None if axes is None else tuple(axes), found.ndim)
    lengths = [found.shape[k] for k in along]
    if along:
        lengths[-1] = _whole(op, lengths[-1])
    if s is not None:
        if not isinstance(s, Sequence):
            raise ArgumentTypeError(op, "s must be a sequence of integers", [("s", shown(s))])
        if len(s) != len(along):
            raise ArgumentValueError(
                op, "there must be as many sizes as axes", [("s", shown(s)), ("axes", shown(axes))]
            )
        given = [normalize_index(op, "s", n) for n in s]
        lengths = [whole if n == -1 else n for n, whole in zip(given, lengths, strict=True)]
    shape = list(found.shape)
    for k, n in zip(along, lengths, strict=True):
        _check_length(op, n, found)
        shape[k] = n
    full = normalize_shape(op, tuple(shape))
    if not along:
        # NumPy's real transforms need one; the others change nothing without one.
        if op in ("rfftn", "irfftn"):
            raise ArgumentValueError(op, "there must be at least one axis", [("x", str(found.shape))])
        return copy(found, promote(found.dtype, dt.complex64))
    return _by_numpy(op, found, full, along[-1], s=lengths, axes=along, norm=norm)


def _by_numpy(op: str, x: Array, shape: tuple[int, ...], last: int, **options: Any) -> Array:
    """Return the transform of `x` to lengths that make its shape `shape`; the axis `last` may be halved."""
    if x.size:
        with quiet():
            return from_numpy(getattr(numpy().fft, op)(to_numpy(x), **options))
    # Where a transformed axis has the size 0 and a length, NumPy leaves real results unset.
    if op in _TO_HALF:
        shape = (*shape[:last], shape[last] // 2 + 1, *shape[last + 1 :])
    return zeros(shape, component_dtype(x.dtype) if op in _TO_REAL else promote(x.dtype, dt.complex64))


def _operand(op: str, x: object, norm: object) -> Array:
    found = check_array(op, x)
    if found.dtype.kind == "complex floating":
        if op in _TO_HALF:
            refuse_dtype(op, found.dtype, _REAL)
    elif found.dtype.kind != "real floating":
        found = copy(found, dt.float64)
    elif arithmetic_dtype(found.dtype) is not found.dtype:
        found = copy(found, arithmetic_dtype(found.dtype))
    if not isinstance(norm, str) or norm not in ("backward", "ortho", "forward"):
        raise ArgumentValueError(
            op, f"unknown norm {shown(norm)}", (), "norm must be 'backward', 'ortho' or 'forward'."
        )
    return found


def _whole(op: str, size: int) -> int:
    """Return the length of a transform that uses all elements of an axis, which may be half a spectrum."""
    return 2 * (size - 1) if op in _TO_REAL else size


def _check_length(op: str, n: int, x: Array) -> None:
    if n < 1 or n.bit_length() > 63:
        accepts = "There must be at least one element along a transformed axis." if n < 1 else ""
        problem = f"the length of the transform would be {brief(n)}"
        raise ShapeError(op, problem, [("x", str(x.shape))], accepts)


@primitive_in("fft")
def fft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """Return the discrete Fourier transform along an axis."""
    return _transform("fft", x, n, axis, norm)


@primitive_in("fft")
def ifft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """Return the inverse discrete Fourier transform along an axis."""
    return _transform("ifft", x, n, axis, norm)


@primitive_in("fft")
def fftn(x: Array, /, *, s: Sizes = None, axes: Sizes = None, norm: Norm = "backward") -> Array:
    """Return the discrete Fourier transform along several axes."""
    return _transform_nd("fftn", x, s, axes, norm)


@primitive_in("fft")
def ifftn(x: Array, /, *, s: Sizes = None, axes: Sizes = None, norm: Norm = "backward") -> Array:
    """Return the inverse discrete Fourier transform along several axes."""
    return _transform_nd("ifftn", x, s, axes, norm)


@primitive_in("fft")
def rfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """Return the discrete Fourier transform of real numbers: its first half, which the other one mirrors."""
    return _transform("rfft", x, n, axis, norm)


@primitive_in("fft")
def irfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """Return the real numbers whose :func:`rfft` an array is."""
    return _transform("irfft", x, n, axis, norm)


@primitive_in("fft")
def rfftn(x: Array, /, *, s: Sizes = None, axes: Sizes = None, norm: Norm = "backward") -> Array:
    """Return the discrete Fourier transform of real numbers along several axes: half of it.

    Parameters
    ----------
    x : Array
        Array of a real floating-point dtype; integers and bool become float64.

    Returns
    -------
    Array
        New array, complex, of the precision of `x`, and of size ``s[-1] // 2 + 1`` along the last of `axes`.
    """
    return _transform_nd("rfftn", x, s, axes, norm)


@primitive_in("fft")
def irfftn(x: Array, /, *, s: Sizes = None, axes: Sizes = None, norm: Norm = "backward") -> Array:
    """Return the real numbers whose :func:`rfftn` an array is.

    Parameters
    ----------
    s : sequence of int, optional
        Lengths of the result, for each axis; of the last one `x` needs ``s[-1] // 2 + 1`` elements. More
        are left out, zeros are added. -1 stands for all elements; for the last axis, with m of them, for
        ``2 * (m - 1)``. Needs `axes`.
    """
    return _transform_nd("irfftn", x, s, axes, norm)


@primitive_in("fft")
def hfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """Return the discrete Fourier transform, which is real, of a signal whose other half mirrors `x`."""
    return _transform("hfft", x, n, axis, norm)


@primitive_in("fft")
def ihfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """Return the half of a signal whose :func:`hfft` an array is."""
    return _transform("ihfft", x, n, axis, norm)
