"""Minimax fits: where the coefficients in `vecmath.h` come from.

A fit is found by the Remez exchange on a fixed grid of Chebyshev points, in 60 digits. Its coefficients are
then rounded to the format in which the C code holds them, one after the other, most significant first, and
those that are still free are fitted again, to compensate the rounding.

Needs mpmath. `coefficients.py` lists the fits; running it prints them as C.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mpmath as mp  # type: ignore[import-untyped, import-not-found, unused-ignore]

mp.mp.dps = 60
GRID = 500
BITS = {"f": 24, "d": 53}

Real = Any  # an mpf: mpmath has no types
Function = Callable[[Real], Real]


def rounded(value: Real, bits: int) -> Real:
    """`value` rounded to `bits` significant bits, ties to even."""
    with mp.workprec(bits):
        return +value


def grid(low: Real, high: Real) -> list[Real]:
    """Chebyshev points of the interval, in ascending order; no end point, no exact zero."""
    middle, half = (low + high) / 2, (high - low) / 2
    return [middle - half * mp.cos(mp.pi * (mp.mpf(i) + mp.mpf("0.4999")) / GRID) for i in range(GRID)]


def _extrema(error: Sequence[Real], count: int) -> list[int]:
    """Indices of `count` alternating extrema, the largest possible ones."""
    peaks: list[int] = []
    for i, e in enumerate(error):
        if peaks and (e > 0) == (error[peaks[-1]] > 0):
            if abs(e) > abs(error[peaks[-1]]):
                peaks[-1] = i
        else:
            peaks.append(i)
    while len(peaks) > count:
        least = min(range(len(peaks)), key=lambda k: abs(error[peaks[k]]))
        if least in (0, len(peaks) - 1):
            peaks.pop(least)
        elif len(peaks) == count + 1:  # a pair would be one too many
            peaks.pop(0 if abs(error[peaks[0]]) < abs(error[peaks[-1]]) else -1)
        else:  # it and its smaller neighbour, so that signs still alternate
            other = min((least - 1, least + 1), key=lambda k: abs(error[peaks[k]]))
            for k in sorted((least, other), reverse=True):
                peaks.pop(k)
    return peaks


def remez(
    columns: Sequence[Sequence[Real]], target: Sequence[Real], weight: Sequence[Real]
) -> tuple[list[Real], Real]:
    """Coefficients of the columns with the smallest maximum of the weighted error, and that error."""
    n = len(columns)
    if n == 0:
        return [], max(abs(t * w) for t, w in zip(target, weight, strict=True))
    # The error of the least-squares fit changes sign n times, so it has n + 1 extrema to start from.
    scaled = [[v * w for v, w in zip(column, weight, strict=True)] for column in columns]
    sought = [t * w for t, w in zip(target, weight, strict=True)]
    normal = mp.matrix(n, n)
    moments = mp.matrix(n, 1)
    for j in range(n):
        for k in range(j + 1):
            normal[j, k] = normal[k, j] = mp.fdot(scaled[j], scaled[k])
        moments[j] = mp.fdot(scaled[j], sought)
    start = mp.lu_solve(normal, moments)
    points = _extrema(residual(columns, target, weight, [start[k] for k in range(n)]), n + 1)
    assert len(points) == n + 1
    best: list[Real] = []
    for _ in range(30):
        system = mp.matrix(n + 1, n + 1)
        right = mp.matrix(n + 1, 1)
        for row, i in enumerate(points):
            for k in range(n):
                system[row, k] = columns[k][i]
            system[row, n] = (-1) ** row / weight[i]
            right[row] = target[i]
        solution = mp.lu_solve(system, right)
        best = [solution[k] for k in range(n)]
        error = residual(columns, target, weight, best)
        chosen = _extrema(error, n + 1)
        if len(chosen) < n + 1 or chosen == points:
            break
        points = chosen
    return best, max(abs(e) for e in residual(columns, target, weight, best))


def residual(
    columns: Sequence[Sequence[Real]],
    target: Sequence[Real],
    weight: Sequence[Real],
    coefficients: Sequence[Real],
) -> list[Real]:
    return [
        (t - mp.fsum(c * column[i] for c, column in zip(coefficients, columns, strict=True))) * w
        for i, (t, w) in enumerate(zip(target, weight, strict=True))
    ]


def fit(
    f: Function,
    powers: Sequence[int],
    interval: tuple[Real, Real],
    weight: Function,
    formats: str,
) -> tuple[list[Real], Real]:
    """Polynomial of the given powers, with coefficients in the formats of the letters ('x': not rounded).

    The fit minimises the largest weight(x) * (f(x) - p(x)), which is the second result.
    """
    xs = grid(mp.mpf(interval[0]), mp.mpf(interval[1]))
    columns = [[x**power for x in xs] for power in powers]
    target = [f(x) for x in xs]
    weights = [abs(weight(x)) for x in xs]
    full, _ = remez(columns, target, weights)
    # The reach of a term is its largest contribution; rounding the term with the widest reach costs most.
    most = [max(abs(v * w) for v, w in zip(column, weights, strict=True)) for column in columns]
    order = sorted(range(len(powers)), key=lambda k: -abs(full[k]) * most[k])
    fixed: dict[int, Real] = {}
    rest = list(target)
    for k in order:
        free = [j for j in range(len(powers)) if j not in fixed]
        now, _ = remez([columns[j] for j in free], rest, weights)
        value = now[free.index(k)]
        if formats[k] != "x":
            value = rounded(value, BITS[formats[k]])
        fixed[k] = value
        rest = [r - value * v for r, v in zip(rest, columns[k], strict=True)]
    error = max(abs(r * w) for r, w in zip(rest, weights, strict=True))
    return [fixed[k] for k in range(len(powers))], error


def fit_rational(
    f: Function, degrees: tuple[int, int], interval: tuple[Real, Real], weight: Function
) -> tuple[list[Real], list[Real], Real]:
    """Numerator and denominator (with leading 1) of a rational minimax approximation, not rounded."""
    xs = grid(mp.mpf(interval[0]), mp.mpf(interval[1]))
    target = [f(x) for x in xs]
    weights = [abs(weight(x)) for x in xs]
    top, below = degrees
    columns = [[x**k for x in xs] for k in range(top + 1)]
    columns += [[-t * x**k for t, x in zip(target, xs, strict=True)] for k in range(below)]
    right = [t * x**below for t, x in zip(target, xs, strict=True)]
    last = [mp.mpf(1)] * GRID
    numerator: list[Real] = []
    denominator: list[Real] = []
    for _ in range(12):
        scaled = [w / abs(d) for w, d in zip(weights, last, strict=True)]
        found, _ = remez(columns, right, scaled)
        numerator, denominator = found[: top + 1], [*found[top + 1 :], mp.mpf(1)]
        last = [mp.polyval(denominator[::-1], x) for x in xs]
    error = max(
        abs((mp.polyval(numerator[::-1], x) / d - t) * w)
        for x, d, t, w in zip(xs, last, target, weights, strict=True)
    )
    return numerator, denominator, error


def as_c(value: Real, letter: str) -> str:
    """The C literal of a number that the format holds."""
    number = float(value)
    if letter == "f":
        mantissa, exponent = number.hex().split("p")
        return mantissa.rstrip("0").rstrip(".") + "p" + exponent + "f"
    return number.hex()


def split(value: Real, *bits: int) -> list[Real]:
    """`value` as a sum of numbers with `bits` significant bits each."""
    parts = []
    for b in bits:
        parts.append(rounded(value, b))
        value = value - parts[-1]
    return parts
