"""Forms of filters in `stride0.autograd.scipy.signal`: polynomials, zeros and poles, sections."""

from __future__ import annotations

import cmath
import math
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentValueError
from stride0._core.array.array import Array
from stride0.autograd.scipy._arguments import floating, item, require, same_dtype
from stride0.autograd.scipy._calls import original
from stride0.autograd.scipy._linear import full

__all__ = ["bilinear", "sos2tf", "tf2sos", "zpk2sos", "zpk2tf"]


def vector(operation: str, name: str, x: Any) -> Array:
    found = floating(operation, name, x)
    found = xp.reshape(found, (1,)) if found.ndim == 0 else found
    require(found.ndim == 1, operation, name, found, "one axis")
    return found


def sections_of(operation: str, sos: Any) -> Array:
    found = floating(operation, "sos", sos)
    require(found.ndim == 2 and found.shape[1] == 6, operation, "sos", found, "shape (n_sections, 6)")
    return found


def _trimmed(x: Array) -> Array:
    """Return coefficients without zeros in front."""
    known = item(x) != 0
    return x[int(known.argmax()) if known.any() else known.size :]


def polynomial(roots: Array) -> Array:
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
    """Compute numerator and denominator from roots: `scipy.signal.zpk2tf`. Differentiable by all."""
    z, p = vector("zpk2tf", "z", z), vector("zpk2tf", "p", p)
    b, a = polynomial(z), polynomial(p)
    gain = xp.asarray(k)
    if gain.dtype.kind not in ("real floating", "complex floating"):
        gain = xp.astype(gain, xp.real(b).dtype)
    return gain * b, a


def sos2tf(sos: Any) -> tuple[Array, Array]:
    """Compute numerator and denominator from sections: `scipy.signal.sos2tf`. Differentiable by `sos`."""
    sections = sections_of("sos2tf", sos)
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
    # The larger root first; the smaller root follows from the product.
    large = middle + apart if abs(middle + apart) >= abs(middle - apart) else middle - apart
    return [large, third / first / large if large else 0j]


def _grouped_roots(known: Any, roots: Array) -> list[Array]:
    """Return the polynomials of SciPy's sections as functions of their roots."""
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
            # If there are fewer zeros than poles, SciPy adds zeros at 0.
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
        raise ArgumentValueError(
            "zpk2sos", "roots are too close to each other for a gradient", accepts="pass distinct roots"
        )
    return found


def zpk2sos(z: Any, p: Any, k: Any, pairing: str | None = None, *, analog: bool = False) -> Array:
    """Compute second-order sections from zeros and poles: `scipy.signal.zpk2sos`.

    Differentiable by `z`, `p` and `k` if SciPy pairs nearby zeros and poles alike.
    """
    z, p = vector("zpk2sos", "z", z), vector("zpk2sos", "p", p)
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
    """Compute second-order sections from numerator and denominator: `scipy.signal.tf2sos`.

    Differentiable by `b` and `a` if their roots are different.
    """
    b, a = same_dtype(vector("tf2sos", "b", b), vector("tf2sos", "a", a))
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
    """Make an analogue filter digital: `scipy.signal.bilinear`. Differentiable by `b` and `a`."""
    b, a = same_dtype(vector("bilinear", "b", b), vector("bilinear", "a", a))
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
    # SciPy drops leading zeros of the numerator.
    known = abs(item(numerator)) > 1e-14
    first = int(known.argmax()) if known.any() else order
    return numerator[first:] / denominator[0], denominator / denominator[0]
