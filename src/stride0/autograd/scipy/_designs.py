"""Design of filters in `stride0.autograd.scipy.signal`: polynomials, zeros and poles, sections, and Wn."""

from __future__ import annotations

import cmath
import math
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentValueError, ShapeError
from stride0._core.array.array import Array
from stride0.autograd.scipy._linear import full
from stride0.autograd.scipy._parts import count_of, floating, item, named, one_of, original, same_dtype, scipy

__all__ = [
    "bessel",
    "bilinear",
    "butter",
    "cheby1",
    "cheby2",
    "ellip",
    "firls",
    "firwin2",
    "group_delay",
    "iirfilter",
    "sos2tf",
    "tf2sos",
    "zpk2sos",
    "zpk2tf",
]


def _vector(operation: str, name: str, x: Any) -> Array:
    found = floating(operation, name, x)
    found = xp.reshape(found, (1,)) if found.ndim == 0 else found
    if found.ndim != 1:
        raise ShapeError(operation, f"{name} has shape {found.shape}", accepts="one axis")
    return found


def _trimmed(x: Array) -> Array:
    """Return coefficients without zeros in front."""
    zeros = 0
    for value in item(x):
        if value != 0:
            break
        zeros += 1
    return x[zeros:]


def _polynomial(roots: Array) -> Array:
    """Return the coefficients of the polynomial with given roots, highest power first."""
    one, none = xp.ones((1,), dtype=roots.dtype), xp.zeros((1,), dtype=roots.dtype)
    found = one
    for k in range(roots.shape[0]):
        found = xp.concat((found, none)) - roots[k] * xp.concat((none, found))
    if roots.dtype.kind == "complex floating":
        known = item(roots)
        above, below = known[known.imag > 0], known[known.imag < 0].conj()
        if above.shape == below.shape and sorted(above, key=_order) == sorted(below, key=_order):
            return xp.real(found)
    return found


def _order(z: complex) -> tuple[float, float]:
    return z.real, z.imag


def zpk2tf(z: Any, p: Any, k: Any) -> tuple[Array, Array]:
    """
    Compute numerator and denominator from zeros and poles.

    Parameters
    ----------
    z, p : Array
        Zeros and poles, of one axis. Differentiable.
    k : float or Array
        The gain. Differentiable if it is an array.

    Returns
    -------
    pair of Array
        Coefficients, highest power first, as `scipy.signal.zpk2tf`.
    """
    z, p = _vector("zpk2tf", "z", z), _vector("zpk2tf", "p", p)
    b, a = _polynomial(z), _polynomial(p)
    gain = xp.asarray(k)
    if gain.dtype.kind not in ("real floating", "complex floating"):
        gain = xp.astype(gain, xp.real(b).dtype)
    return gain * b, a


def sos2tf(sos: Any) -> tuple[Array, Array]:
    """
    Compute numerator and denominator from second-order sections.

    Parameters
    ----------
    sos : Array
        Of shape ``(n_sections, 6)``. Differentiable.

    Returns
    -------
    pair of Array
        Coefficients, highest power first, as `scipy.signal.sos2tf`.
    """
    sections = floating("sos2tf", "sos", sos)
    if sections.ndim != 2 or sections.shape[1] != 6:
        raise ShapeError("sos2tf", f"sos has shape {sections.shape}", accepts="(n_sections, 6)")
    b = a = xp.ones((1,), dtype=sections.dtype)
    for k in range(sections.shape[0]):
        b, a = full(b, sections[k, :3], "direct"), full(a, sections[k, 3:], "direct")
    return b, a


def _roots_of(c: tuple[complex, complex, complex]) -> list[complex]:
    """Return the roots of a polynomial of degree 2 or less, which may have zeros in front."""
    first, second, third = c
    if first == 0:
        return [] if second == 0 else [-third / second]
    middle = -second / (2 * first)
    apart = cmath.sqrt(middle * middle - third / first)
    # The larger one first, and the other one from the product.
    large = middle + apart if abs(middle + apart) >= abs(middle - apart) else middle - apart
    return [large, third / first / large if large else 0j]


def _grouped_roots(known: Any, roots: Array) -> list[Array]:
    """Return, for sections that SciPy made, their polynomials, as functions of the roots that they have."""
    values = list(item(roots))
    left = set(range(len(values)))
    found = []
    for row in known:
        coefficients = tuple(complex(c) for c in row)
        leading = next(k for k, c in enumerate(coefficients) if c != 0)
        scale = coefficients[leading]
        chosen: list[Array] = []
        for root in _roots_of((coefficients[0] / scale, coefficients[1] / scale, coefficients[2] / scale)):
            nearest = min(left, key=lambda k: abs(values[k] - root), default=None)
            # Where there are fewer zeros than poles, SciPy adds some at 0.
            if nearest is None or abs(values[nearest] - root) > 1e-6 + 1e-4 * abs(root):
                chosen.append(xp.zeros((), dtype=roots.dtype))
            else:
                left.remove(nearest)
                chosen.append(roots[nearest])
        one = xp.ones((), dtype=roots.dtype)
        none = [xp.zeros((), dtype=roots.dtype)] * leading
        if len(chosen) == 2:
            terms = [one, -(chosen[0] + chosen[1]), chosen[0] * chosen[1]]
        else:
            terms = [one, *(-root for root in chosen)]
        found.append(xp.real(xp.stack([*none, *terms])))
    if left:
        raise ArgumentValueError("zpk2sos", "roots are too near to each other for a gradient")
    return found


def zpk2sos(z: Any, p: Any, k: Any, pairing: str | None = None, *, analog: bool = False) -> Array:
    """
    Compute second-order sections from zeros and poles.

    Parameters
    ----------
    z, p : Array
        Zeros and poles, of one axis. Differentiable where SciPy pairs them alike.
    k : float or Array
        The gain. Differentiable if it is an array.
    pairing : {"nearest", "keep_odd", "minimal", None}
        How they are paired.
    analog : bool
        Whether the filter is analogue.

    Returns
    -------
    Array
        New array of shape ``(n_sections, 6)``, as `scipy.signal.zpk2sos`.
    """
    z, p = _vector("zpk2sos", "z", z), _vector("zpk2sos", "p", p)
    gain = xp.asarray(k, dtype=xp.float64) if isinstance(k, (int, float)) else floating("zpk2sos", "k", k)
    known = original("signal.zpk2sos")(item(z), item(p), float(item(gain)), pairing, analog=analog)
    if z.size == 0 and p.size == 0:
        return xp.concat((xp.reshape(gain, (1, 1)), xp.asarray(known[:, 1:])), axis=1)
    above, below = _grouped_roots(known[:, :3], z), _grouped_roots(known[:, 3:], p)
    above[0] = gain * above[0]
    return xp.stack([xp.concat(pair) for pair in zip(above, below, strict=True)])


def _roots(c: Array) -> Array:
    """Return the roots of a polynomial, highest power first: the eigenvalues of its companion matrix."""
    order = c.shape[0] - 1
    if order < 1:
        return xp.zeros((0,), dtype=xp.complex128)
    below = xp.eye(order - 1, order, dtype=c.dtype)
    return xp.linalg.eigvals(xp.concat((xp.reshape(-c[1:] / c[0], (1, order)), below)))


def tf2sos(b: Any, a: Any, pairing: str | None = None, *, analog: bool = False) -> Array:
    """
    Compute second-order sections from numerator and denominator.

    Parameters
    ----------
    b, a : Array
        Coefficients, highest power first. Differentiable where the roots are different.
    pairing, analog
        As `zpk2sos` takes them.

    Returns
    -------
    Array
        New array of shape ``(n_sections, 6)``, as `scipy.signal.tf2sos`.
    """
    b, a = same_dtype(_vector("tf2sos", "b", b), _vector("tf2sos", "a", a))
    b, a = _trimmed(b), _trimmed(a)
    return zpk2sos(_roots(b), _roots(a), b[0] / a[0], pairing, analog=analog)


def _powers(count: int, sign: float, factor: float) -> list[list[float]]:
    """Return the powers of ``factor * (z + sign)`` up to one, highest power of z first."""
    found = [[1.0]]
    for _ in range(count):
        last = found[-1]
        found.append([factor * (a + sign * b) for a, b in zip([*last, 0.0], [0.0, *last], strict=True)])
    return found


def bilinear(b: Any, a: Any, fs: float = 1.0) -> tuple[Array, Array]:
    """
    Compute a digital filter from an analogue one by the bilinear transform.

    Parameters
    ----------
    b, a : Array
        Numerator and denominator, highest power first. Differentiable.
    fs : float
        Sampling frequency.

    Returns
    -------
    pair of Array
        Numerator and denominator, as `scipy.signal.bilinear`.
    """
    b, a = same_dtype(_vector("bilinear", "b", b), _vector("bilinear", "a", a))
    b, a = _trimmed(b), _trimmed(a)
    order = max(b.shape[0], a.shape[0]) - 1
    plus, minus = _powers(order, 1.0, 1 / math.sqrt(2 * fs)), _powers(order, -1.0, math.sqrt(2 * fs))

    def moved(c: Array) -> Array:
        rows = []
        for q in range(c.shape[0] - 1, -1, -1):
            row = [0.0] * (order + 1)
            for i, x in enumerate(plus[order - q]):
                for j, y in enumerate(minus[q]):
                    row[i + j] += x * y
            rows.append(row)
        return xp.matmul(c, xp.asarray(rows, dtype=c.dtype))

    numerator, denominator = moved(b), moved(a)
    # Where SciPy sees zeros in front of the numerator, it drops them.
    known = abs(item(numerator)) > 1e-14
    first = int(known.argmax()) if known.any() else order
    return numerator[first:] / denominator[0], denominator / denominator[0]


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
                "iirfilter", f"{option} is no number", accepts="a Python number, in decibels"
            )
    signal = scipy("signal")
    found = (
        getattr(signal, name)(order, *needed.values())
        if name.endswith("ap")
        else signal.besselap(order, name)
    )
    z, p, k = found
    return xp.asarray(z, dtype=xp.complex128), xp.asarray(p, dtype=xp.complex128), float(k)


def _gain_of(z: Array, p: Array, at: Any) -> Array:
    """Return ``prod(at - z) / prod(at - p)``, which is real."""
    return xp.real(xp.prod(at - z) / xp.prod(at - p))


def _moved(z: Array, p: Array, k: Any, kind: str, w: Array) -> tuple[Array, Array, Any]:
    """Return an analogue filter with other frequencies than the low-pass filter that it is made of."""
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
    """
    Design a recursive filter.

    Parameters
    ----------
    N : int
        Order.
    Wn : Array
        The frequency, or a pair of them. Differentiable.
    rp, rs : float, optional
        Ripple, and attenuation, in decibels.
    btype : {"lowpass", "highpass", "bandpass", "bandstop"}
        What passes.
    analog : bool
        Whether the filter is analogue.
    ftype : {"butter", "cheby1", "cheby2", "ellip", "bessel"}
        Of which kind.
    output : {"ba", "zpk", "sos"}
        In which form.
    fs : float, optional
        Sampling frequency.

    Returns
    -------
    tuple of Array, or Array
        The filter, as `scipy.signal.iirfilter`.
    """
    kind = _BANDS[one_of("iirfilter", "btype", str(btype).lower(), tuple(_BANDS))]
    one_of("iirfilter", "output", output, ("ba", "zpk", "sos"))
    w = floating("iirfilter", "Wn", Wn)
    if w.shape not in (((), (1,)) if kind in ("lowpass", "highpass") else ((2,),)):
        raise ShapeError("iirfilter", f"Wn has shape {w.shape}", accepts="two frequencies for a band, or one")
    w = w if w.shape == (2,) else xp.reshape(w, ())
    w = xp.astype(w, xp.float64) * (2 / fs if fs else 1.0)
    known = item(w)
    if (known <= 0).any() or (not analog and (known >= 1).any()):
        raise ArgumentValueError(
            "iirfilter", "Wn is out of range", accepts="frequencies above 0, below fs / 2"
        )
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
    b, a = _polynomial(z), _polynomial(p)
    return k * xp.real(b), xp.real(a)


def _kind(ftype: str, what: str, first: str = "", second: str = "") -> Any:
    """Return the function that designs filters of one kind; the names are of parameters in front of Wn."""
    names = [name for name in (first, second) if name]

    def design(N: int, *args: Any, norm: str = "phase", **options: Any) -> Any:
        given = dict(zip([*names, "Wn", "btype", "analog", "output"], args, strict=False)) | options
        made = f"bessel_{norm}" if ftype == "bessel" else ftype
        made = "bessel_norm" if made == "bessel_mag" else made
        return iirfilter(N, given.pop("Wn"), btype=given.pop("btype", "low"), ftype=made, **given)

    doc = f"""
    Design a {what} filter: `iirfilter` of this kind.

    Parameters
    ----------
    N, Wn, btype, analog, output, fs, rp, rs
        As `iirfilter` takes them, in the order of `scipy.signal.{ftype}`. Differentiable with respect to
        `Wn`.

    Returns
    -------
    tuple of Array, or Array
        The filter, as `scipy.signal.{ftype}`.
    """
    return named(design, ftype, doc)


butter = _kind("butter", "Butterworth")
bessel = _kind("bessel", "Bessel")
cheby1 = _kind("cheby1", "Chebyshev type I", "rp")
cheby2 = _kind("cheby2", "Chebyshev type II", "rs")
ellip = _kind("ellip", "elliptic", "rp", "rs")


def firls(numtaps: int, bands: Any, desired: Any, *, weight: Any = None, fs: float | None = None) -> Array:
    """
    Design a filter without recursion by least squares.

    Parameters
    ----------
    numtaps : int
        How many coefficients.
    bands : sequence of float
        Where the bands begin and end.
    desired : Array
        The gain there. Differentiable.
    weight : sequence of float, optional
        Weights of the bands.
    fs : float, optional
        Sampling frequency.

    Returns
    -------
    Array
        New array of shape ``(numtaps,)``, as `scipy.signal.firls`.
    """
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
    """
    Design a filter without recursion whose gain is a broken line.

    Parameters
    ----------
    numtaps : int
        How many coefficients.
    freq : sequence of float
        Increasing frequencies, from 0 to ``fs / 2``.
    gain : Array
        The gain there. Differentiable.
    nfreqs, window, antisymmetric, fs
        As `scipy.signal.firwin2` takes them.

    Returns
    -------
    Array
        New array of shape ``(numtaps,)``, as `scipy.signal.firwin2`.
    """
    gains, edges = floating("firwin2", "gain", gain), item(floating("firwin2", "freq", freq))
    options = {"nfreqs": nfreqs, "window": window, "antisymmetric": antisymmetric, "fs": fs}
    design = original("signal.firwin2")
    known = item(gains)
    expected = design(numtaps, edges, known, **options)  # It checks the arguments.
    if known.shape != edges.shape:
        raise ShapeError("firwin2", f"gain has shape {gains.shape}", accepts=f"{edges.shape}")
    # Linear in the gains, but for what it requires to be zero: there the design has no derivative.
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
    """
    Compute the group delay of a filter.

    Parameters
    ----------
    system : pair of Array
        Numerator and denominator. Differentiable.
    w : int or Array
        How many frequencies, or which. Differentiable if it is an array.
    whole : bool
        Whether they go all around the circle.
    fs : float
        Sampling frequency.

    Returns
    -------
    pair of Array
        Frequencies and delays, as `scipy.signal.group_delay`; zero where the delay is infinite.
    """
    b, a = same_dtype(*(_vector("group_delay", name, c) for name, c in zip("ba", system, strict=True)))
    if w is None or isinstance(w, int):
        count = 512 if w is None else w
        angles = xp.arange(count, dtype=xp.float64) * ((2 if whole else 1) * math.pi / max(count, 1))
    else:
        angles = 2 * math.pi * _vector("group_delay", "w", w) / fs
    c = full(b, xp.conj(xp.flip(a)), "direct")
    powers = xp.exp(-1j * angles[:, None] * xp.arange(c.shape[0], dtype=xp.float64))
    below = xp.sum(c * powers, axis=-1)
    above = xp.sum(c * xp.arange(c.shape[0], dtype=xp.float64) * powers, axis=-1)
    singular = below == 0
    delay = xp.real(above / xp.where(singular, 1.0, below)) - (a.shape[0] - 1)
    return angles * (fs / (2 * math.pi)), xp.where(singular, 0.0, delay)
