"""Spectra of `stride0.autograd.scipy.signal`: windows of a signal, and their Fourier transforms."""

from __future__ import annotations

from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentValueError
from stride0._core.array.array import Array
from stride0.autograd.scipy._arguments import count_of, floating, one_of, require, same_dtype
from stride0.autograd.scipy._axes import along, axis_of, lengthened
from stride0.autograd.scipy._calls import scipy
from stride0.autograd.scipy._resampling import detrend as detrended
from stride0.autograd.scipy._signatures import taking

__all__ = ["coherence", "csd", "periodogram", "welch"]

HANN = "hann_periodic"
_DETREND = ("constant", "linear", "c", "l")


def window_of(operation: str, window: Any, nperseg: int | None, n: int, default: int) -> tuple[Array, int]:
    """Return a window and its size; a named window is at most as long as the signal, `n` elements."""
    if isinstance(window, (str, tuple)):
        size = default if nperseg is None else count_of(operation, "nperseg", nperseg, 1)
        size = min(size, n) if n else size
        return xp.asarray(scipy("signal").get_window(window, size)), size
    found = floating(operation, "window", window)
    require(
        found.ndim == 1 and nperseg in (None, found.shape[0]),
        operation,
        "window",
        found,
        "one axis of size nperseg",
    )
    return found, found.shape[0]


def _without_trend(windows: Array, detrend: Any) -> Array:
    if detrend is False or detrend is None:
        return windows
    if callable(detrend):
        found: Array = detrend(windows)
        return found
    one_of("detrend", "detrend", detrend, _DETREND)
    if detrend in ("constant", "c"):
        return windows - xp.mean(windows, axis=-1, keepdims=True)
    return detrended(windows, -1, "linear")


class Frames:
    """The partition of a signal into windows, and their spectra."""

    def __init__(
        self, operation: str, n: int, window: Any, nperseg: Any, noverlap: Any, nfft: Any, default: int = 256
    ) -> None:
        self.operation = operation
        self.window, self.size = window_of(operation, window, nperseg, n, default)
        overlap = self.size // 2 if noverlap is None else count_of(operation, "noverlap", noverlap, 0)
        if overlap >= self.size:
            raise ArgumentValueError(
                operation, f"noverlap is {overlap}", accepts=f"pass less than nperseg, which is {self.size}"
            )
        self.hop = self.size - overlap
        self.nfft = self.size if nfft is None else count_of(operation, "nfft", nfft, self.size)

    def scale(self, fs: float, scaling: str) -> Array:
        w = self.window
        one_of(self.operation, "scaling", scaling, ("density", "spectrum"))
        return 1 / (fs * xp.sum(w * w)) if scaling == "density" else 1 / xp.sum(w) ** 2

    def spectra(self, x: Array, detrend: Any, onesided: bool) -> Array:
        """Return spectra of windows along the last axis: shape ``(..., windows, frequencies)``."""
        count = (x.shape[-1] - self.size) // self.hop + 1
        places = xp.arange(count)[:, None] * self.hop + xp.arange(self.size)[None, :]
        windows = xp.reshape(xp.take(x, xp.reshape(places, (-1,)), axis=-1), (*x.shape[:-1], *places.shape))
        windows = _without_trend(windows, detrend) * xp.astype(self.window, xp.real(x).dtype, copy=False)
        if onesided:
            return xp.fft.rfft(windows, n=self.nfft)
        if windows.dtype.kind == "real floating":
            windows = xp.astype(windows, xp.complex64 if windows.dtype == xp.float32 else xp.complex128)
        return xp.fft.fft(windows, n=self.nfft)

    def frequencies(self, fs: float, onesided: bool) -> Array:
        made = xp.fft.rfftfreq if onesided else xp.fft.fftfreq
        return made(self.nfft, d=1 / fs)

    def doubled(self, spectrum: Array) -> Array:
        """Return a one-sided power spectrum: values that stand for two frequencies count twice."""
        n = spectrum.shape[-1]
        single = {0} | ({n - 1} if self.nfft % 2 == 0 else set())
        factors = [1.0 if k in single else 2.0 for k in range(n)]
        return spectrum * xp.asarray(factors, dtype=xp.real(spectrum).dtype)


def signals_of(operation: str, x: Any, y: Any, axis: int) -> tuple[Array, Array | None, int, bool]:
    """Return signals of one length with `axis` last, the number of `axis`, and whether all are real."""
    x = floating(operation, "x", x)
    number = axis_of(operation, x, axis)
    if y is None:
        return xp.moveaxis(x, number, -1), None, number, x.dtype.kind == "real floating"
    x, y = same_dtype(x, floating(operation, "y", y))
    x, y = xp.moveaxis(x, number, -1), xp.moveaxis(y, axis, -1)
    n = max(x.shape[-1], y.shape[-1])
    x, y = (lengthened(a, a.ndim - 1, n) for a in (x, y))
    return x, y, number, x.dtype.kind == "real floating"


def _median(x: Array) -> Array:
    n = x.shape[-1]
    ordered = xp.sort(x, axis=-1)
    return (ordered[..., (n - 1) // 2] + ordered[..., n // 2]) / 2


def options_of_spectra(
    fs: float = 1.0,
    window: Any = HANN,
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
) -> None:
    """Declare the options of `csd`, `welch` and `spectrogram`."""


@taking(options_of_spectra)
def csd(x: Any, y: Any, *, average: str = "mean", **options: Any) -> tuple[Array, Array]:
    """Estimate the cross power spectral density of two signals: `scipy.signal.csd`.

    Differentiable by `x`, `y` and an array `window`. A function passed as `detrend` takes and returns stride0
    arrays.
    """
    return _density("csd", x, y, average, **options)


def _density(operation: str, x: Any, y: Any, average: str, **options: Any) -> tuple[Array, Array]:
    fs, scaling, detrend = (options.pop(name) for name in ("fs", "scaling", "detrend"))
    wanted, axis = options.pop("return_onesided"), options.pop("axis")
    one_of(operation, "average", average, ("mean", "median"))
    first, second, number, is_real = signals_of(operation, x, y, axis)
    if first.size == 0:
        # SciPy returns as many frequencies as densities.
        nothing = xp.moveaxis(xp.zeros(first.shape, dtype=xp.real(first).dtype), -1, number)
        return nothing, nothing
    frames = Frames(operation, first.shape[-1], **options)
    onesided = bool(wanted) and is_real
    there = frames.spectra(first, detrend, onesided)
    if second is None:
        power = xp.real(there) ** 2 + xp.imag(there) ** 2
    else:
        power = xp.conj(there) * frames.spectra(second, detrend, onesided)
    power = power * xp.astype(frames.scale(fs, scaling), xp.real(power).dtype, copy=False)
    if onesided:
        power = frames.doubled(power)
    power = xp.moveaxis(power, -2, -1)
    if average == "mean" or power.shape[-1] == 1:
        found = xp.mean(power, axis=-1)
    else:
        pairs = [2 * k for k in range(1, (power.shape[-1] - 1) // 2 + 1)]
        bias = 1 + sum(1 / (k + 1) - 1 / k for k in pairs)
        found = _median(power) if second is None else _median(xp.real(power)) + 1j * _median(xp.imag(power))
        found = found / bias
    return frames.frequencies(fs, onesided), xp.moveaxis(found, -1, number)


@taking(options_of_spectra)
def welch(x: Any, *, average: str = "mean", **options: Any) -> tuple[Array, Array]:
    """Estimate a power spectral density by windows: `scipy.signal.welch`. Differentiable like `csd`."""
    return _density("welch", x, None, average, **options)


def periodogram(
    x: Any,
    fs: float = 1.0,
    window: Any = "boxcar",
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
) -> tuple[Array, Array]:
    """Estimate the density by one transform: `scipy.signal.periodogram`. Differentiable like `csd`."""
    x = floating("periodogram", "x", x)
    number = axis_of("periodogram", x, axis)
    n = x.shape[number]
    if nfft is not None and nfft < n:
        x = x[along(x.ndim, number, slice(nfft))]
        n = nfft
    return _density(
        "periodogram",
        x,
        None,
        "mean",
        fs=fs,
        window="boxcar" if window is None else window,
        nperseg=n,
        noverlap=0,
        nfft=nfft,
        detrend=detrend,
        return_onesided=return_onesided,
        scaling=scaling,
        axis=number,
    )


def coherence(
    x: Any,
    y: Any,
    fs: float = 1.0,
    window: Any = HANN,
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    axis: int = -1,
) -> tuple[Array, Array]:
    """Estimate the coherence of two signals: `scipy.signal.coherence`. Differentiable like `csd`."""
    options = (fs, window, nperseg, noverlap, nfft, detrend)
    _, own = welch(x, *options, axis=axis)
    frequencies, other = welch(y, *options, axis=axis)
    _, both = csd(x, y, *options, axis=axis)
    return frequencies, xp.real(both * xp.conj(both)) / own / other
