"""Design of filters in `stride0.autograd.scipy.signal`, by frequencies or by gains; group delay."""

from __future__ import annotations

import math
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentValueError
from stride0._core.array.array import Array
from stride0.autograd.scipy._arguments import count_of, floating, item, one_of, require, same_dtype
from stride0.autograd.scipy._calls import original, scipy
from stride0.autograd.scipy._linear import full
from stride0.autograd.scipy._polynomials import polynomial, vector, zpk2sos
from stride0.autograd.scipy._signatures import named

__all__ = ["bessel", "butter", "cheby1", "cheby2", "ellip", "firls", "firwin2", "group_delay", "iirfilter"]


# --- filters by their frequencies

_PROTOTYPES = {
    **{"butter": "buttap", "butterworth": "buttap", "cheby1": "cheb1ap", "chebyshev1": "cheb1ap"},
    **{"chebyshevi": "cheb1ap", "cheby2": "cheb2ap", "chebyshev2": "cheb2ap", "chebyshevii": "cheb2ap"},
    **{"ellip": "ellipap", "elliptic": "ellipap", "cauer": "ellipap"},
    **{"bessel": "phase", "bessel_phase": "phase", "bessel_delay": "delay", "bessel_norm": "mag"},
}
_BANDS = {
    **dict.fromkeys(("lowpass", "low", "lp", "l"), "lowpass"),
    **dict.fromkeys(("highpass", "high", "hp", "h"), "highpass"),
    **dict.fromkeys(("bandpass", "pass", "bp", "band"), "bandpass"),
    **dict.fromkeys(("bandstop", "bands", "stop", "bs"), "bandstop"),
}


def _prototype(order: int, ftype: str, rp: Any, rs: Any) -> tuple[Array, Array, float]:
    """Return zeros, poles and gain of the analogue low-pass filter with frequency 1."""
    name = _PROTOTYPES[one_of("iirfilter", "ftype", ftype, tuple(_PROTOTYPES))]
    needed = {"cheb1ap": {"rp": rp}, "cheb2ap": {"rs": rs}, "ellipap": {"rp": rp, "rs": rs}}.get(name, {})
    for option, value in needed.items():
        if not isinstance(value, (int, float)):
            raise ArgumentValueError(
                "iirfilter", f"{option} is not a number", accepts="pass a Python number, in decibels"
            )
    if name.endswith("ap"):
        *roots, gain = getattr(scipy("signal"), name)(order, *needed.values())
    else:
        *roots, gain = scipy("signal").besselap(order, name)
    # SciPy returns the pole of the elliptic filter of order 1 as a 0-d array.
    z, p = (xp.reshape(xp.asarray(x, dtype=xp.complex128), (-1,)) for x in roots)
    return z, p, float(gain)


def _gain_of(z: Array, p: Array, at: Any) -> Array:
    """Return ``prod(at - z) / prod(at - p)``, which is real."""
    return xp.real(xp.prod(at - z) / xp.prod(at - p))


def _moved(z: Array, p: Array, k: Any, kind: str, w: Array) -> tuple[Array, Array, Any]:
    """Return the analogue filter of a band, given the low-pass filter with frequency 1."""
    more = p.shape[0] - z.shape[0]
    if kind == "lowpass":
        return z * w, p * w, k * w**more
    none = xp.zeros((more,), dtype=z.dtype)
    if kind == "highpass":
        return xp.concat((w / z, none)), w / p, k * _gain_of(z, p, 0.0)
    width, centre = w[1] - w[0], xp.sqrt(w[0] * w[1])

    def both(x: Array) -> Array:
        apart = xp.sqrt(x * x - centre * centre)
        return xp.concat((x + apart, x - apart))

    if kind == "bandpass":
        return xp.concat((both(z * (width / 2)), none)), both(p * (width / 2)), k * width**more
    stopped = xp.ones((more,), dtype=z.dtype) * (1j * centre)
    zeros = xp.concat((both((width / 2) / z), stopped, -stopped))
    return zeros, both((width / 2) / p), k * _gain_of(z, p, 0.0)


def iirfilter(
    N: int,
    Wn: Any,
    rp: float | None = None,
    rs: float | None = None,
    btype: str = "band",
    analog: bool = False,
    ftype: str = "butter",
    output: str = "ba",
    fs: float | None = None,
) -> Any:
    """Design a recursive filter: `scipy.signal.iirfilter`. Differentiable by `Wn`."""
    kind = _BANDS[one_of("iirfilter", "btype", str(btype).lower(), tuple(_BANDS))]
    one_of("iirfilter", "output", output, ("ba", "zpk", "sos"))
    w = floating("iirfilter", "Wn", Wn)
    require(
        w.shape in (((), (1,)) if kind in ("lowpass", "highpass") else ((2,),)),
        "iirfilter",
        "Wn",
        w,
        "two frequencies for a band, otherwise one frequency",
    )
    w = w if w.shape == (2,) else xp.reshape(w, ())
    w = xp.astype(w, xp.float64) * (2 / fs if fs else 1.0)
    known = item(w)
    if (known <= 0).any() or (not analog and (known >= 1).any()):
        raise ArgumentValueError("iirfilter", "Wn is out of range", (), "pass Wn between 0 and fs / 2")
    z, p, k = _prototype(count_of("iirfilter", "N", N, 1), str(ftype).lower(), rp, rs)
    z, p, k = _moved(z, p, k, kind, w if analog else 4.0 * xp.tan(xp.pi * w / 2))
    if not analog:
        gain = _gain_of(z, p, 4.0)
        rest = -xp.ones((p.shape[0] - z.shape[0],), dtype=z.dtype)
        z, p = xp.concat(((4.0 + z) / (4.0 - z), rest)), (4.0 + p) / (4.0 - p)
        k = k * gain
    if output == "zpk":
        return z, p, k
    if output == "sos":
        return zpk2sos(z, p, k, analog=analog)
    b, a = polynomial(z), polynomial(p)
    return k * xp.real(b), xp.real(a)


def _kind(ftype: str, what: str, first: str = "", second: str = "") -> Any:
    """Return the function that designs filters of one kind; `names` are the parameters in front of Wn."""
    names = [name for name in (first, second) if name]

    def design(N: int, *args: Any, norm: str = "phase", **options: Any) -> Any:
        given = dict(zip([*names, "Wn", "btype", "analog", "output"], args, strict=False)) | options
        made = f"bessel_{norm}" if ftype == "bessel" else ftype
        made = "bessel_norm" if made == "bessel_mag" else made
        return iirfilter(N, given.pop("Wn"), btype=given.pop("btype", "low"), ftype=made, **given)

    doc = f"Design a {what} filter: `scipy.signal.{ftype}`. Differentiable by `Wn`."
    return named(design, ftype, doc)


butter = _kind("butter", "Butterworth")
bessel = _kind("bessel", "Bessel")
cheby1 = _kind("cheby1", "Chebyshev type I", "rp")
cheby2 = _kind("cheby2", "Chebyshev type II", "rs")
ellip = _kind("ellip", "elliptic", "rp", "rs")


def firls(numtaps: int, bands: Any, desired: Any, *, weight: Any = None, fs: float | None = None) -> Array:
    """Design a filter by least squares: `scipy.signal.firls`. Differentiable by `desired`."""
    gains = xp.reshape(floating("firls", "desired", desired), (-1,))
    edges = item(xp.reshape(floating("firls", "bands", bands), (-1,)))
    weights = None if weight is None else item(floating("firls", "weight", weight))
    # Linear in the gains.
    units = item(xp.eye(gains.shape[0]))
    made = [original("signal.firls")(numtaps, edges, unit, weight=weights, fs=fs) for unit in units]
    return xp.matmul(gains, xp.stack([xp.asarray(row, dtype=gains.dtype) for row in made]))


def firwin2(
    numtaps: int,
    freq: Any,
    gain: Any,
    *,
    nfreqs: int | None = None,
    window: Any = "hamming",
    antisymmetric: bool = False,
    fs: float | None = None,
) -> Array:
    """Design a filter whose gain is a broken line: `scipy.signal.firwin2`. Differentiable by `gain`."""
    gains, edges = floating("firwin2", "gain", gain), item(floating("firwin2", "freq", freq))
    options = {"nfreqs": nfreqs, "window": window, "antisymmetric": antisymmetric, "fs": fs}
    design = original("signal.firwin2")
    known = item(gains)
    expected = design(numtaps, edges, known, **options)  # It checks the arguments.
    require(known.shape == edges.shape, "firwin2", "gain", gains, f"shape {edges.shape}")
    # Linear in the gains, except for gains that must be zero: the design has no derivative with respect to
    # them.
    rows = []
    for k in range(known.size):
        unit = known * 0
        unit[k] = 1.0
        try:
            rows.append(xp.asarray(design(numtaps, edges, unit, **options), dtype=gains.dtype))
        except ValueError:
            rows.append(xp.zeros(expected.shape, dtype=gains.dtype))
    return xp.matmul(gains, xp.stack(rows))


def group_delay(
    system: Any, w: Any = 512, whole: bool = False, fs: float = 2 * math.pi
) -> tuple[Array, Array]:
    """Compute the group delay of a filter: `scipy.signal.group_delay`.

    Differentiable by both arrays of `system`, and by `w` if it is an array. Infinite delays become zero.
    """
    b, a = same_dtype(*(vector("group_delay", name, c) for name, c in zip("ba", system, strict=True)))
    if w is None or isinstance(w, int):
        count = 512 if w is None else w
        angles = xp.arange(count, dtype=xp.float64) * ((2 if whole else 1) * math.pi / max(count, 1))
    else:
        angles = 2 * math.pi * vector("group_delay", "w", w) / fs
    c = full(b, xp.conj(xp.flip(a)), "direct")
    powers = xp.exp(-1j * angles[:, None] * xp.arange(c.shape[0], dtype=xp.float64))
    below = xp.sum(c * powers, axis=-1)
    above = xp.sum(c * xp.arange(c.shape[0], dtype=xp.float64) * powers, axis=-1)
    singular = below == 0
    delay = xp.real(above / xp.where(singular, 1.0, below)) - (a.shape[0] - 1)
    return angles * (fs / (2 * math.pi)), xp.where(singular, 0.0, delay)
