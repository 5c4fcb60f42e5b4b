"""Waveforms and one-dimensional splines of `stride0.autograd.scipy.signal`."""

from __future__ import annotations

import math
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentValueError
from stride0._core.array.array import Array
from stride0.autograd.scipy._arguments import floating, line, one_of
from stride0.autograd.scipy._recursive import lfilter
from stride0.autograd.scipy._signatures import named
from stride0.autograd.scipy._splines import stencil

__all__ = ["chirp", "cspline1d", "cspline1d_eval", "qspline1d", "qspline1d_eval", "sawtooth"]

_METHODS = {
    **dict.fromkeys(("linear", "lin", "li"), "linear"),
    **dict.fromkeys(("quadratic", "quad", "q"), "quadratic"),
    **dict.fromkeys(("logarithmic", "log", "lo"), "logarithmic"),
    **dict.fromkeys(("hyperbolic", "hyp"), "hyperbolic"),
}


def chirp(
    t: Any,
    f0: Any,
    t1: Any,
    f1: Any,
    method: str = "linear",
    phi: float = 0,
    vertex_zero: bool = True,
    *,
    complex: bool = False,
) -> Array:
    """Make a cosine whose frequency changes with time: `scipy.signal.chirp`.

    Differentiable by `t`, and by `f0`, `t1` and `f1` if they are arrays.
    """
    kind = _METHODS[one_of("chirp", "method", method, tuple(_METHODS))]
    t = floating("chirp", "t", t)
    f0, t1, f1 = (xp.asarray(x, dtype=t.dtype) for x in (f0, t1, f1))
    level = bool(f0 == f1)
    if kind == "linear":
        cycles = f0 * t + (f1 - f0) / t1 * t * t / 2
    elif kind == "quadratic":
        slope = (f1 - f0) / t1**2
        cycles = f0 * t + slope * t**3 / 3 if vertex_zero else f1 * t + slope * ((t1 - t) ** 3 - t1**3) / 3
    elif kind == "hyperbolic" and bool(f0 * f1 == 0):
        raise ArgumentValueError("chirp", "f0 or f1 is zero", accepts="pass frequencies other than 0")
    elif kind == "logarithmic" and bool(f0 * f1 <= 0):
        raise ArgumentValueError("chirp", "f0 or f1 is 0, or their signs differ", (), "make both positive")
    elif level:
        # A series in f1 / f0 - 1: its derivatives by f0 and f1 are exact to second order.
        share, apart = t / t1, f1 / f0 - 1
        bend = (0.5 if kind == "logarithmic" else 1.0) * (share / 3 - 0.5) * apart
        cycles = f0 * t * (1 + apart * share * (0.5 + bend))
    elif kind == "logarithmic":
        growth = xp.log1p((f1 - f0) / f0)
        cycles = f0 * t1 * xp.expm1(growth * t / t1) / growth
    else:
        pole = -f1 * t1 / (f0 - f1)
        cycles = -pole * f0 * xp.log(xp.abs(1 - t / pole))
    phase = 2 * math.pi * cycles + math.radians(phi)
    return xp.exp(1j * phase) if complex else xp.cos(phase)


def sawtooth(t: Any, width: Any = 1) -> Array:
    """Make a sawtooth or a triangle of period 2 pi: `scipy.signal.sawtooth`.

    Differentiable by `t` except where it jumps, and by `width` if it is an array.
    """
    t = floating("sawtooth", "t", t)
    w = xp.asarray(width, dtype=t.dtype)
    rest = t - 2 * math.pi * xp.floor(t / (2 * math.pi))
    rises = rest < w * (2 * math.pi)
    up = rest / (math.pi * xp.where(rises, w, 1.0)) - 1
    down = (math.pi * (w + 1) - rest) / (math.pi * xp.where(rises, 1.0, 1 - w))
    return xp.where((w > 1) | (w < 0), xp.nan, xp.where(rises, up, down))


# --- splines through evenly spaced values

# The pole of the filter and the factor of its output, by the order of the spline.
_POLES = {3: (-2 + math.sqrt(3), 6.0), 2: (-3 + 2 * math.sqrt(2), 8.0)}


def _line_coefficients(operation: str, signal: Any, lamb: float, order: int) -> Array:
    one_of(operation, "lamb", lamb, (0, 0.0))
    x = line(operation, "signal", signal)
    pole, factor = _POLES[order]
    n = x.shape[0]
    powers = xp.asarray([pole**k for k in range(n)], dtype=x.dtype)
    before = xp.reshape(xp.sum(powers * x), (1,))
    last = pole / (pole - 1)
    if n == 1:
        return last * (x + pole * before)
    forwards, _ = lfilter([1.0], [1.0, -pole], x, zi=pole * before)
    end = last * forwards[n - 1 :]
    backwards, _ = lfilter([-pole], [1.0, -pole], xp.flip(forwards[: n - 1]), zi=pole * end)
    return factor * xp.concat((xp.flip(backwards), end))


def _line_values(operation: str, cj: Any, newx: Any, dx: float, x0: float, order: int) -> Array:
    c, t = line(operation, "cj", cj), floating(operation, "newx", newx)
    last = c.shape[0] - 1
    t = (t - x0) / dx
    # Mirror the positions at both ends of the signal.
    period = max(2 * last, 1)
    t = t - period * xp.floor(t / period)
    t = xp.where(t > last, 2 * last - t, t)
    first, weights = stencil(t, order)
    parts = [
        xp.reshape(xp.take(c, xp.reshape(xp.clip(first + k, 0, last), (-1,))), t.shape) * w
        for k, w in enumerate(weights)
    ]
    return sum(parts[1:], parts[0])


def _of_line(order: int, name: str, what: str) -> tuple[Any, Any]:
    def coefficients(signal: Any, lamb: float = 0.0) -> Array:
        return _line_coefficients(f"{name}1d", signal, lamb, order)

    doc = f"Compute the coefficients of a {what} spline: `scipy.signal.{name}1d`. Differentiable by `signal`."
    doc += "\n\nSmoothing (a positive `lamb`) is not supported."

    def values(cj: Any, newx: Any, dx: float = 1.0, x0: float = 0) -> Array:
        return _line_values(f"{name}1d_eval", cj, newx, dx, x0, order)

    evaluated = f"Evaluate a {what} spline: `scipy.signal.{name}1d_eval`. Differentiable by `cj` and `newx`."
    return named(coefficients, f"{name}1d", doc), named(values, f"{name}1d_eval", evaluated)


cspline1d, cspline1d_eval = _of_line(3, "cspline", "cubic")
qspline1d, qspline1d_eval = _of_line(2, "qspline", "quadratic")
