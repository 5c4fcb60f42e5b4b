"""Short-time transforms, and the transform along a spiral, of `stride0.autograd.scipy.signal`."""

from __future__ import annotations

from typing import Any

import stride0 as xp
from stride0._core.array.array import Array
from stride0.autograd.scipy._arguments import count_of, floating, one_of, require
from stride0.autograd.scipy._axes import axis_of, lengthened
from stride0.autograd.scipy._calls import by_lanes, from_numpy, recorded, rules, scipy, to_numpy
from stride0.autograd.scipy._linear import extended
from stride0.autograd.scipy._recursive import extended_signal
from stride0.autograd.scipy._signatures import taking
from stride0.autograd.scipy._spectral import HANN, Frames, options_of_spectra, signals_of, window_of

__all__ = ["czt", "istft", "spectrogram", "stft"]

_PADDING = {"even": "even", "odd": "odd", "constant": "constant"}


def _short_time(
    x: Array, frames: Frames, fs: float, detrend: Any, onesided: bool, boundary: Any, padded: bool
) -> tuple[Array, Array]:
    """Return the middles of the windows in time, and their spectra."""
    edge = frames.size // 2
    if boundary == "zeros":
        x = extended(frames.operation, x, x.ndim - 1, edge, edge, "constant")
    elif boundary is not None:
        one_of(frames.operation, "boundary", boundary, ("zeros", *_PADDING))
        x, _ = extended_signal(frames.operation, x, x.ndim - 1, _PADDING[boundary], edge)
    if padded:
        missing = (-(x.shape[-1] - frames.size) % frames.hop) % frames.size
        x = lengthened(x, x.ndim - 1, x.shape[-1] + missing)
    spectra = frames.spectra(x, detrend, onesided)
    times = (xp.arange(spectra.shape[-2], dtype=xp.float64) * frames.hop + frames.size / 2) / fs
    return (times if boundary is None else times - frames.size / 2 / fs), spectra


def stft(
    x: Any,
    fs: float = 1.0,
    window: Any = HANN,
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
    """Compute the short-time Fourier transform: `scipy.signal.stft`. Differentiable like `csd`."""
    one_of("stft", "scaling", scaling, ("spectrum", "psd"))
    signal, _, number, is_real = signals_of("stft", x, None, axis)
    if signal.size == 0:
        # SciPy returns as many frequencies and times as elements.
        nothing = xp.moveaxis(xp.zeros(signal.shape, dtype=xp.real(signal).dtype), -1, number)
        return nothing, nothing, nothing
    frames = Frames("stft", signal.shape[-1], window, nperseg, noverlap, nfft)
    onesided = bool(return_onesided) and is_real
    times, spectra = _short_time(signal, frames, fs, detrend, onesided, boundary, padded)
    scale = xp.sqrt(frames.scale(fs, "density" if scaling == "psd" else scaling))
    spectra = spectra * xp.astype(scale, xp.real(spectra).dtype, copy=False)
    found = xp.moveaxis(xp.matrix_transpose(spectra), -2, number)
    return frames.frequencies(fs, onesided), times, found


@taking(options_of_spectra, window=("tukey_periodic", 0.25))
def spectrogram(x: Any, *, mode: str = "psd", **options: Any) -> tuple[Array, Array, Array]:
    """Compute the spectra of windows: `scipy.signal.spectrogram`.

    Differentiable by `x` and an array `window`. Takes the modes "psd", "complex" and "magnitude".
    """
    one_of("spectrogram", "mode", mode, ("psd", "complex", "magnitude"))
    signal, _, number, is_real = signals_of("spectrogram", x, None, options["axis"])
    window, nperseg, overlap, nfft = (options[name] for name in ("window", "nperseg", "noverlap", "nfft"))
    window, size = window_of("spectrogram", window, nperseg, signal.shape[-1], 256)
    overlap = size // 8 if overlap is None else overlap
    frames = Frames("spectrogram", signal.shape[-1], window, None, overlap, nfft)
    onesided = bool(options["return_onesided"]) and is_real
    times, spectra = _short_time(signal, frames, options["fs"], options["detrend"], onesided, None, False)
    scale = frames.scale(options["fs"], options["scaling"])
    if mode == "psd":
        found = (xp.real(spectra) ** 2 + xp.imag(spectra) ** 2) * scale
        found = frames.doubled(found) if onesided else found
    else:
        found = spectra * xp.sqrt(scale)
        found = xp.abs(found) if mode == "magnitude" else found
    return (
        frames.frequencies(options["fs"], onesided),
        times,
        xp.moveaxis(xp.matrix_transpose(found), -2, number),
    )


def istft(
    Zxx: Any,
    fs: float = 1.0,
    window: Any = HANN,
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
    scaling: str = "spectrum",
) -> tuple[Array, Array]:
    """Compute the inverse of `stft`: `scipy.signal.istft`. Differentiable by `Zxx` and an array `window`."""
    one_of("istft", "scaling", scaling, ("spectrum", "psd"))
    z = floating("istft", "Zxx", Zxx)
    require(z.ndim >= 2, "istft", "Zxx", z, "at least two axes")
    time, frequency = axis_of("istft", z, time_axis), axis_of("istft", z, freq_axis)
    z = xp.moveaxis(z, (time, frequency), (-2, -1))
    usual = 2 * (z.shape[-1] - 1) if input_onesided else z.shape[-1]
    size = usual if nperseg is None else count_of("istft", "nperseg", nperseg, 1)
    if nfft is None:
        nfft = size if input_onesided and size == usual + 1 else usual
    frames = Frames("istft", 0, window, size, noverlap, nfft)
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
by_lanes(_czt, "x")


def czt(
    x: Any, m: int | None = None, w: complex | None = None, a: complex = 1 + 0j, *, axis: int = -1
) -> Array:
    """Compute the Fourier transform at the points of a spiral: `scipy.signal.czt`. Differentiable by `x`."""
    x = floating("czt", "x", x)
    number = axis_of("czt", x, axis)
    require(x.shape[number] != 0, "czt", "x", x, "at least one element along the axis")
    count = x.shape[number] if m is None else count_of("czt", "m", m, 1)
    ratio = complex(xp.exp(xp.asarray(-2j * xp.pi / count))) if w is None else complex(w)
    return _czt(x, count, ratio, complex(a), number)
