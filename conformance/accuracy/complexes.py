"""Errors of complex functions, in each part, of stride0 and other libraries on the same inputs.

The reference is mpmath with 400 bits (1300 for functions that it computes by formulas that cancel). Inputs:
of ordinary size, of all sizes, near the unit circle, near branch points and multiples of pi/2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import mpmath  # type: ignore[import-untyped, import-not-found, unused-ignore]
import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[Any]

REFERENCES: dict[str, Callable[..., Any]] = {
    **{name: getattr(mpmath, name) for name in ("exp", "log", "sqrt", "sin", "cos", "tan")},
    **{name: getattr(mpmath, name) for name in ("sinh", "cosh", "tanh", "asin", "acos", "atan")},
    **{name: getattr(mpmath, name) for name in ("asinh", "acosh", "atanh")},
    "expm1": lambda z: mpmath.exp(z) - 1,
    "log1p": lambda z: mpmath.log(1 + z),
    "log2": lambda z: mpmath.log(z) / mpmath.log(2),
    "log10": lambda z: mpmath.log(z) / mpmath.log(10),
    "abs": abs,
    "reciprocal": lambda z: 1 / z,
    "divide": lambda z, w: z / w,
    "pow": lambda z, w: mpmath.exp(w * mpmath.log(z)),
}
GROWING = {"exp": 0, "expm1": 0, "sinh": 0, "cosh": 0, "tanh": 0, "sin": 1, "cos": 1, "tan": 1}
TWO = ("divide", "pow")
DTYPES = ("complex64", "complex128")


def wide(rng: np.random.Generator, count: int, exponent: int) -> Numbers:
    sizes: Numbers = np.ldexp(1 + rng.random(count), rng.integers(-exponent, exponent, count))
    return rng.choice([-1.0, 1.0], count) * sizes


def inputs(count: int, seed: int) -> Numbers:
    rng = np.random.default_rng(seed)
    n = count // 5
    angle, radius = rng.uniform(0, 2 * np.pi, n), 1 + wide(rng, n, 25) * 2.0**-26
    point = rng.choice([1, -1, 1j, -1j, 0, np.pi / 2, np.pi, np.pi * 0.5j, np.pi * 1j], n)
    quarter = rng.integers(-40, 40, n) * (np.pi / 2) * (1 + wide(rng, n, 40) * 2.0**-52)
    other = rng.normal(0, 3, n)
    z = [
        rng.normal(0, 2, n) + 1j * rng.normal(0, 2, n),
        wide(rng, n, 60) + 1j * wide(rng, n, 60),
        radius * np.cos(angle) + 1j * radius * np.sin(angle),
        point + wide(rng, n, 28) * 2.0**-29 + 1j * wide(rng, n, 28) * 2.0**-29,
        np.where(rng.random(n) < 0.5, quarter + 1j * other, other + 1j * quarter),
    ]
    return np.concatenate(z)


def operands(name: str, dtype: str, count: int) -> list[Numbers]:
    z = inputs(count, 1).astype(dtype)
    if name == "pow":
        rng = np.random.default_rng(3)
        w = rng.normal(0, 3, len(z)) + 1j * rng.normal(0, 3, len(z))
        w.imag[::4] = 0
        return [z, w.astype(dtype)]
    if name == "divide":
        return [z, np.random.default_rng(4).permutation(inputs(count, 2)).astype(dtype)]
    # Results that overflow tell little, and mpmath's time grows with exponents.
    keep = (z.real != 0) & (z.imag != 0)
    if name in GROWING:
        keep &= np.abs((z.real, z.imag)[GROWING[name]]) < 1000
    return [z[keep]]


def exact_parts(name: str, given: list[Numbers]) -> Iterator[tuple[Any, ...]]:
    with mpmath.workprec(1300 if name in ("atan", "atanh", "log1p", "expm1", "pow") else 400):
        for numbers in zip(*(v.tolist() for v in given), strict=True):
            z = REFERENCES[name](*map(mpmath.mpmathify, numbers))
            yield (z,) if name == "abs" else (z.real, z.imag)


def split(exact: Any, real: Any) -> tuple[float, float]:
    """The nearest number and its error in ULP, from which doubles recover the exact part."""
    info = np.finfo(real)
    if abs(exact) > float(info.max):
        return math.copysign(math.inf, exact), 0.0
    nearest = float(real.type(float(exact)))
    exponent = max(int(mpmath.frexp(exact)[1]) if exact else -(2**20), int(info.minexp) + 1)
    return nearest, float((mpmath.mpf(nearest) - exact) / mpmath.mpf(2) ** (exponent - info.nmant - 1))


def measure(
    name: str, dtype: str, count: int, libraries: dict[str, Callable[..., Any]], error_of: Callable[..., Any]
) -> tuple[int, dict[str, Any]]:
    """The number of inputs, and by library the result of `error_of` for the worse of the two parts."""
    given = operands(name, dtype, count)
    real = np.empty(0, dtype).real.dtype
    parts = [np.array([split(p, real) for p in row]).T for row in zip(*exact_parts(name, given), strict=True)]
    found: dict[str, Any] = {}
    for library, call in libraries.items():
        try:
            with np.errstate(all="ignore"):
                got = np.asarray(call(name, *given))
        except (AttributeError, RuntimeError, TypeError, NotImplementedError):
            continue
        worst, wrong = 0.0, 0
        for part, (nearest, rest) in zip((got.real, got.imag), parts, strict=False):
            part = np.where((part == 0) & (nearest == 0), nearest, part)  # mpmath has no sign of zero
            size, count_wrong = error_of(
                part.astype(np.float64), nearest, rest, nearest, np.finfo(real).nmant + 1
            )
            worst, wrong = max(worst, size), wrong + count_wrong
        found[library] = [round(worst, 4), wrong]
    return len(given[0]), found
