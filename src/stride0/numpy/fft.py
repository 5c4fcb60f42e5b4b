"""`numpy.fft` on stride0 arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import stride0 as xp
from stride0._core.array.array import Array
from stride0.numpy._names import missing as _missing
from stride0.numpy._names import words as _words
from stride0.numpy._parts import array, finish, named
from stride0.numpy._parts import floating as _floating

__all__ = _words(
    "fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft rfft2 "
    "rfftfreq rfftn"
)


def _one(name: str) -> Callable[..., Any]:
    def function(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
        a = _floating(a)
        return finish(name, getattr(xp.fft, name)(a, n=n, axis=axis, norm=norm or "backward"), out)

    return named(name, function)


def _several(name: str, ours: str, default: Any) -> Callable[..., Any]:
    def function(a: Any, s: Any = None, axes: Any = default, norm: Any = None, out: Any = None) -> Any:
        a = _floating(a)
        if s is not None and axes is None:
            axes = tuple(range(a.ndim - len(s), a.ndim))
        s = None if s is None else tuple(s)
        axes = None if axes is None else tuple(axes)
        return finish(name, getattr(xp.fft, ours)(a, s=s, axes=axes, norm=norm or "backward"), out)

    return named(name, function)


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    globals()[_name] = _one(_name)
for _name in ("fftn", "ifftn", "rfftn", "irfftn"):
    globals()[_name] = _several(_name, _name, None)
    globals()[f"{_name[:-1]}2"] = _several(f"{_name[:-1]}2", _name, (-2, -1))


def fftfreq(n: int, d: Any = 1.0, device: Any = None) -> Array:
    """Return the frequencies of a transform."""
    return xp.fft.fftfreq(n, d=d, device=device)


def rfftfreq(n: int, d: Any = 1.0, device: Any = None) -> Array:
    """Return the frequencies of a transform of real numbers."""
    return xp.fft.rfftfreq(n, d=d, device=device)


def _shifted(a: Any, axes: Any, sign: int) -> Array:
    a = array(a)
    axes = tuple(range(a.ndim)) if axes is None else (axes,) if isinstance(axes, int) else tuple(axes)
    shifts = tuple(a.shape[k] // 2 if sign > 0 else -(a.shape[k] // 2) for k in axes)
    return xp.roll(a, shifts, axis=axes)


def fftshift(x: Any, axes: Any = None) -> Array:
    """Move the zero frequency to the middle."""
    return _shifted(x, axes, 1)


def ifftshift(x: Any, axes: Any = None) -> Array:
    """Move the zero frequency to the front."""
    return _shifted(x, axes, -1)


def __getattr__(name: str) -> Any:
    raise _missing("fft", name)
