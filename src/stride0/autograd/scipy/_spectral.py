"""Spectra of `stride0.autograd.scipy.signal`: windows of a signal, and their Fourier transforms."""

from __future__ import annotations

from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentValueError, ShapeError
from stride0._core.array.array import Array
from stride0.autograd.scipy._parts import (
    along,
    axis_of,
    count_of,
    floating,
    from_numpy,
    one_of,
    recorded,
    rules,
    same_dtype,
    scipy,
    to_numpy,
)
from stride0.autograd.scipy._recursive import extended_signal
from stride0.autograd.scipy._resampling import detrend as detrended

__all__ = ["coherence", "csd", "czt", "istft", "periodogram", "spectrogram", "stft", "welch"]

_HANN = "hann_periodic"
_DETREND = ("constant", "linear", "c", "l")


def _window(operation: str, window: Any, nperseg: int | None, n: int, default: int) -> tuple[Array, int]:
    """Return a window, and its size: not larger than a signal of `n` elements, if it is named."""
    if isinstance(window, (str, tuple)):
        size = default if nperseg is None else count_of(operation, "nperseg", nperseg, 1)
        size = min(size, n) if n else size
        return xp.asarray(scipy("signal").get_window(window, size)), size
    found = floating(operation, "window", window)
    if found.ndim != 1 or nperseg not in (None, found.shape[0]):
        raise ShapeError(operation, f"window has shape {found.shape}", accepts="one axis, of size nperseg")
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


class _Frames:
    """How a signal is made into windows, and those into spectra."""

    def __init__(
        self, operation: str, n: int, window: Any, nperseg: Any, noverlap: Any, nfft: Any, default: int = 256
    ) -> None:
        self.operation = operation
        self.window, self.size = _window(operation, window, nperseg, n, default)
        overlap = self.size // 2 if noverlap is None else count_of(operation, "noverlap", noverlap, 0)
        if overlap >= self.size:
            raise ArgumentValueError(
                operation, f"noverlap is {overlap}", accepts=f"less than nperseg, {self.size}"
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
        """Return a one-sided spectrum of power: what belongs to two frequencies counts twice."""
        n = spectrum.shape[-1]
        single = {0} | ({n - 1} if self.nfft % 2 == 0 else set())
        factors = [1.0 if k in single else 2.0 for k in range(n)]
        return spectrum * xp.asarray(factors, dtype=xp.real(spectrum).dtype)


def _signals(operation: str, x: Any, y: Any, axis: int) -> tuple[Array, Array | None, int, bool]:
    """Return signals along their last axis, of one length; which axis it was; whether all are real."""
    x = floating(operation, "x", x)
    number = axis_of(operation, x, axis)
    if y is None:
        return xp.moveaxis(x, number, -1), None, number, x.dtype.kind == "real floating"
    x, y = same_dtype(x, floating(operation, "y", y))
    x, y = xp.moveaxis(x, number, -1), xp.moveaxis(y, axis, -1)
    n = max(x.shape[-1], y.shape[-1])
    x, y = (
        xp.concat((a, xp.zeros((*a.shape[:-1], n - a.shape[-1]), dtype=a.dtype)), axis=-1) for a in (x, y)
    )
    return x, y, number, x.dtype.kind == "real floating"


def _median(x: Array) -> Array:
    n = x.shape[-1]
    ordered = xp.sort(x, axis=-1)
    return (ordered[..., (n - 1) // 2] + ordered[..., n // 2]) / 2


def csd(
    x: Any,
    y: Any,
    fs: float = 1.0,
    window: Any = _HANN,
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """
    Estimate the cross power spectral density of two signals by Welch's method.

    Parameters
    ----------
    x, y : Array
        The signals. Differentiable.
    fs : float
        Sampling frequency.
    window : str, tuple or Array
        Name of a window, or its values. Differentiable if it is an array.
    nperseg, noverlap, nfft : int, optional
        Size of the windows, how many elements two of them share, and length of the transforms.
    detrend : {"constant", "linear", False} or callable
        What is removed from each window, along the last axis.
    return_onesided : bool
        Whether negative frequencies are left out, of real signals.
    scaling : {"density", "spectrum"}
        Whether powers are those per frequency.
    axis : int
        Along which.
    average : {"mean", "median"}
        Of the windows.

    Returns
    -------
    pair of Array
        Frequencies and densities, as `scipy.signal.csd`.
    """
    return _density(
        "csd", x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average
    )


def _density(
    operation: str,
    x: Any,
    y: Any,
    fs: float,
    window: Any,
    nperseg: Any,
    noverlap: Any,
    nfft: Any,
    detrend: Any,
    return_onesided: bool,
    scaling: str,
    axis: int,
    average: str,
) -> tuple[Array, Array]:
    one_of(operation, "average", average, ("mean", "median"))
    first, second, number, is_real = _signals(operation, x, y, axis)
    frames = _Frames(operation, first.shape[-1], window, nperseg, noverlap, nfft)
    onesided = bool(return_onesided) and is_real
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


def welch(
    x: Any,
    fs: float = 1.0,
    window: Any = _HANN,
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """
    Estimate the power spectral density of a signal by Welch's method.

    Parameters
    ----------
    x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average
        As `csd` takes them.

    Returns
    -------
    pair of Array
        Frequencies and densities, as `scipy.signal.welch`.
    """
    return _density(
        "welch",
        x,
        None,
        fs,
        window,
        nperseg,
        noverlap,
        nfft,
        detrend,
        return_onesided,
        scaling,
        axis,
        average,
    )


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
    """
    Estimate the power spectral density of a signal by one transform.

    Parameters
    ----------
    x, fs, window, nfft, detrend, return_onesided, scaling, axis
        As `csd` takes them.

    Returns
    -------
    pair of Array
        Frequencies and densities, as `scipy.signal.periodogram`.
    """
    x = floating("periodogram", "x", x)
    number = axis_of("periodogram", x, axis)
    n = x.shape[number]
    if nfft is not None and nfft < n:
        x = x[along(x.ndim, number, slice(nfft))]
        n = nfft
    chosen = "boxcar" if window is None else window
    return _density(
        "periodogram", x, None, fs, chosen, n, 0, nfft, detrend, return_onesided, scaling, number, "mean"
    )


def coherence(
    x: Any,
    y: Any,
    fs: float = 1.0,
    window: Any = _HANN,
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    axis: int = -1,
) -> tuple[Array, Array]:
    """
    Estimate the coherence of two signals.

    Parameters
    ----------
    x, y, fs, window, nperseg, noverlap, nfft, detrend, axis
        As `csd` takes them.

    Returns
    -------
    pair of Array
        Frequencies and coherences, as `scipy.signal.coherence`.
    """
    options = (fs, window, nperseg, noverlap, nfft, detrend)
    _, own = welch(x, *options, axis=axis)
    frequencies, other = welch(y, *options, axis=axis)
    _, both = csd(x, y, *options, axis=axis)
    return frequencies, (xp.real(both) ** 2 + xp.imag(both) ** 2) / own / other


_PADDING = {"even": "even", "odd": "odd", "constant": "constant"}


def _short_time(
    x: Array, frames: _Frames, fs: float, detrend: Any, onesided: bool, boundary: Any, padded: bool
) -> tuple[Array, Array]:
    """Return the middles of the windows in time, and their spectra."""
    edge = frames.size // 2
    if boundary == "zeros":
        blank = xp.zeros((*x.shape[:-1], edge), dtype=x.dtype)
        x = xp.concat((blank, x, blank), axis=-1)
    elif boundary is not None:
        one_of(frames.operation, "boundary", boundary, ("zeros", *_PADDING))
        x, _ = extended_signal(frames.operation, x, x.ndim - 1, _PADDING[boundary], edge)
    if padded:
        missing = (-(x.shape[-1] - frames.size) % frames.hop) % frames.size
        x = xp.concat((x, xp.zeros((*x.shape[:-1], missing), dtype=x.dtype)), axis=-1)
    spectra = frames.spectra(x, detrend, onesided)
    times = (xp.arange(spectra.shape[-2], dtype=xp.float64) * frames.hop + frames.size / 2) / fs
    return (times if boundary is None else times - frames.size / 2 / fs), spectra


def stft(
    x: Any,
    fs: float = 1.0,
    window: Any = _HANN,
    nperseg: int | None = 256,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
    scaling: str = "spectrum",
) -> tuple[Array, Array, Array]:
    """
    Compute the short-time Fourier transform.

    Parameters
    ----------
    x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, axis
        As `csd` takes them.
    boundary : {"zeros", "even", "odd", "constant", None}
        How the signal is continued at its ends.
    padded : bool
        Whether zeros are added at the end, for a whole number of windows.
    scaling : {"spectrum", "psd"}
        What the squares of the result are.

    Returns
    -------
    triple of Array
        Frequencies, times, and the transform, as `scipy.signal.stft`.
    """
    one_of("stft", "scaling", scaling, ("spectrum", "psd"))
    signal, _, number, is_real = _signals("stft", x, None, axis)
    frames = _Frames("stft", signal.shape[-1], window, nperseg, noverlap, nfft)
    onesided = bool(return_onesided) and is_real
    times, spectra = _short_time(signal, frames, fs, detrend, onesided, boundary, padded)
    scale = xp.sqrt(frames.scale(fs, "density" if scaling == "psd" else scaling))
    spectra = spectra * xp.astype(scale, xp.real(spectra).dtype, copy=False)
    found = xp.moveaxis(xp.matrix_transpose(spectra), -2, number)
    return frames.frequencies(fs, onesided), times, found


def spectrogram(
    x: Any,
    fs: float = 1.0,
    window: Any = ("tukey_periodic", 0.25),
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    mode: str = "psd",
) -> tuple[Array, Array, Array]:
    """
    Compute the spectra of windows.

    Parameters
    ----------
    x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis
        As `csd` takes them; the windows share an eighth of their elements by default.
    mode : {"psd", "complex", "magnitude"}
        Whether powers, spectra or their absolute values are returned.

    Returns
    -------
    triple of Array
        Frequencies, times, and spectra, as `scipy.signal.spectrogram`.
    """
    one_of("spectrogram", "mode", mode, ("psd", "complex", "magnitude"))
    signal, _, number, is_real = _signals("spectrogram", x, None, axis)
    window, size = _window("spectrogram", window, nperseg, signal.shape[-1], 256)
    overlap = size // 8 if noverlap is None else noverlap
    frames = _Frames("spectrogram", signal.shape[-1], window, None, overlap, nfft)
    onesided = bool(return_onesided) and is_real
    times, spectra = _short_time(signal, frames, fs, detrend, onesided, None, False)
    scale = frames.scale(fs, scaling)
    if mode == "psd":
        found = (xp.real(spectra) ** 2 + xp.imag(spectra) ** 2) * scale
        found = frames.doubled(found) if onesided else found
    else:
        found = spectra * xp.sqrt(scale)
        found = xp.abs(found) if mode == "magnitude" else found
    return frames.frequencies(fs, onesided), times, xp.moveaxis(xp.matrix_transpose(found), -2, number)


def istft(
    Zxx: Any,
    fs: float = 1.0,
    window: Any = _HANN,
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
    scaling: str = "spectrum",
) -> tuple[Array, Array]:
    """
    Compute the inverse short-time Fourier transform.

    Parameters
    ----------
    Zxx : Array
        What `stft` returned. Differentiable.
    fs, window, nperseg, noverlap, nfft, scaling
        As `stft` takes them.
    input_onesided : bool
        Whether negative frequencies are left out.
    boundary : bool
        Whether the signal was continued at its ends.
    time_axis, freq_axis : int
        Axes of the times and the frequencies.

    Returns
    -------
    pair of Array
        Times and the signal, as `scipy.signal.istft`.
    """
    one_of("istft", "scaling", scaling, ("spectrum", "psd"))
    z = floating("istft", "Zxx", Zxx)
    if z.ndim < 2:
        raise ShapeError("istft", f"Zxx has shape {z.shape}", accepts="two axes or more")
    time, frequency = axis_of("istft", z, time_axis), axis_of("istft", z, freq_axis)
    z = xp.moveaxis(z, (time, frequency), (-2, -1))
    usual = 2 * (z.shape[-1] - 1) if input_onesided else z.shape[-1]
    size = usual if nperseg is None else count_of("istft", "nperseg", nperseg, 1)
    if nfft is None:
        nfft = size if input_onesided and size == usual + 1 else usual
    frames = _Frames("istft", 0, window, size, noverlap, nfft)
    w = frames.window
    if z.dtype.kind == "real floating":
        z = z + 0j
    windows = (xp.fft.irfft if input_onesided else xp.fft.ifft)(z, n=nfft)[..., :size]
    windows = windows * w * xp.sqrt(1 / frames.scale(fs, "density" if scaling == "psd" else scaling))
    count = z.shape[-2]
    length = size + (count - 1) * frames.hop
    found, weight = xp.zeros((*z.shape[:-2], length), dtype=windows.dtype), xp.zeros((length,), dtype=w.dtype)
    for k in range(count):
        part = slice(k * frames.hop, k * frames.hop + size)
        found[..., part] += windows[..., k, :]
        weight[part] += w * w
    if boundary:
        inside = slice(size // 2, length - size // 2)
        found, weight = found[..., inside], weight[inside]
    found = found / xp.where(weight > 1e-10, weight, 1.0)
    times = xp.arange(found.shape[0], dtype=xp.float64) / fs
    return times, xp.moveaxis(found, -1, time - (frequency < time)) if found.ndim > 1 else found


# --- transform along a spiral


@recorded("signal")
def _czt(x: Array, m: int, w: complex, a: complex, axis: int) -> Array:
    return from_numpy(scipy("signal").czt(to_numpy(x), m, w, a, axis=axis))


def _czt_signal(g: Array, n: int, w: complex, a: complex, axis: int) -> Array:
    # X[k] = sum(x[n] * a**-n * w**(k*n)): the powers of w are the same with k and n exchanged.
    found = _czt(g, n, w.conjugate(), 1.0 + 0j, axis)
    base = 1 / a.conjugate()
    powers = xp.asarray([base**k for k in range(n)], dtype=found.dtype)
    return found * xp.reshape(powers, (n,) + (1,) * (g.ndim - axis - 1))


rules(_czt, x=lambda g, x_shape, w, a, axis: _czt_signal(g, x_shape[axis], w, a, axis))


def czt(
    x: Any, m: int | None = None, w: complex | None = None, a: complex = 1 + 0j, *, axis: int = -1
) -> Array:
    """
    Compute the Fourier transform at the points of a spiral.

    Parameters
    ----------
    x : Array
        Differentiable.
    m : int, optional
        How many points; by default as many as elements.
    w, a : complex, optional
        Ratio of two points, by default that of the Fourier transform, and the first one.
    axis : int
        Along which.

    Returns
    -------
    Array
        New complex array, as `scipy.signal.czt`.
    """
    x = floating("czt", "x", x)
    number = axis_of("czt", x, axis)
    count = x.shape[number] if m is None else count_of("czt", "m", m, 1)
    ratio = complex(xp.exp(xp.asarray(-2j * xp.pi / count))) if w is None else complex(w)
    return _czt(x, count, ratio, complex(a), number)
