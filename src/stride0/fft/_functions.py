"""Declarations of the FFT extension: the transforms. Their frequencies are in `_frequencies`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from stride0._core.array.array import Array
from stride0._core.call.binding import primitive_in
from stride0._core.fourier import fourier as _fourier  # noqa: F401 (registers the implementations)
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


@primitive_in("fft")
def fft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """Return the discrete Fourier transform along an axis."""


@primitive_in("fft")
def ifft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """Return the inverse discrete Fourier transform along an axis."""


@primitive_in("fft")
def fftn(x: Array, /, *, s: Sizes = None, axes: Sizes = None, norm: Norm = "backward") -> Array:
    """Return the discrete Fourier transform along several axes."""


@primitive_in("fft")
def ifftn(x: Array, /, *, s: Sizes = None, axes: Sizes = None, norm: Norm = "backward") -> Array:
    """Return the inverse discrete Fourier transform along several axes."""


@primitive_in("fft")
def rfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """Return the first half of the discrete Fourier transform of a real signal."""


@primitive_in("fft")
def irfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """Return the inverse of :func:`rfft`, a real signal."""


@primitive_in("fft")
def rfftn(x: Array, /, *, s: Sizes = None, axes: Sizes = None, norm: Norm = "backward") -> Array:
    """Return the discrete Fourier transform of a real signal along several axes: half of the last axis.

    Parameters
    ----------
    x : Array
        Array of a real floating-point dtype; integers and bool become float64.

    Returns
    -------
    Array
        New complex array of the precision of `x`, with size ``s[-1] // 2 + 1`` along the last of `axes`.
    """


@primitive_in("fft")
def irfftn(x: Array, /, *, s: Sizes = None, axes: Sizes = None, norm: Norm = "backward") -> Array:
    """Return the inverse of :func:`rfftn`, a real signal.

    Parameters
    ----------
    s : sequence of int, optional
        Lengths of the result along each axis. Along the last of `axes`, `x` needs ``s[-1] // 2 + 1``
        elements; more are dropped, and missing ones are zeros. -1 means all elements; for the last axis with
        m elements it means ``2 * (m - 1)``. Needs `axes`.
    """


@primitive_in("fft")
def hfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """Return the discrete Fourier transform, which is real, of a Hermitian signal given by its first half."""


@primitive_in("fft")
def ihfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """Return the inverse of :func:`hfft`: the first half of a signal whose Fourier transform is real."""
