"""The expressions of `chains`, each written once with the standard's names for all libraries, and as text for
numexpr. numexpr reduces only at the end, so rows with reductions in between need several calls; its only
complex dtype is complex128.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

EPSILON = 1e-5
RATE, VOLATILITY = 0.05, 0.2

# Takes the namespace, the arrays, and how to cast: `cast(array, "int32")`.
Expression = Callable[..., Any]
Evaluate = Callable[..., Any]  # numexpr.evaluate


@dataclass(frozen=True)
class Chain:
    """An expression; its arrays (shape by n, lowest and highest value); its text for numexpr."""

    expression: Expression
    operands: Mapping[str, tuple[tuple[str, ...], float, float]]
    numexpr: Callable[[Evaluate, dict[str, Any]], Any] | None = None
    transcendental: bool = False
    dtypes: tuple[str, ...] = ("float32", "float64")


def gelu(xp: Any, cast: Any, x: Any) -> Any:
    return 0.5 * x * (1 + xp.tanh(0.7978845608028654 * (x + 0.044715 * x**3)))


def broadcast(xp: Any, cast: Any, x: Any, r: Any, c: Any) -> Any:
    return (x - r) * (x - r) / (c * c + 1) + xp.sqrt(x) * c - r


def softmax(xp: Any, cast: Any, x: Any) -> Any:
    e = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return e / xp.sum(e, axis=-1, keepdims=True)


def distances(xp: Any, cast: Any, p: Any, c: Any) -> Any:
    return xp.sum((p - c) ** 2, axis=-1)


def squares(xp: Any, cast: Any, x: Any, r: Any) -> Any:
    return xp.sum((x - r) ** 2)


def normalised(xp: Any, cast: Any, x: Any) -> Any:
    d = x - xp.mean(x, axis=-1, keepdims=True)
    return d / xp.sqrt(xp.mean(d * d, axis=-1, keepdims=True) + EPSILON)


def black_scholes(xp: Any, cast: Any, s: Any, k: Any, t: Any) -> Any:
    root = VOLATILITY * xp.sqrt(t)
    d1 = (xp.log(s / k) + (RATE + 0.5 * VOLATILITY**2) * t) / root
    d2 = d1 - root
    return s * _normal(xp, d1) - k * xp.exp(-RATE * t) * _normal(xp, d2)


def _normal(xp: Any, x: Any) -> Any:
    """The normal distribution function with erf by formula 7.1.26 of Abramowitz and Stegun."""
    y = xp.abs(x) * 0.7071067811865476
    u = 1 / (1 + 0.3275911 * y)
    p = u * (0.254829592 + u * (-0.284496736 + u * (1.421413741 + u * (-1.453152027 + u * 1.061405429))))
    tail = 0.5 * p * xp.exp(-y * y)
    return xp.where(x < 0, tail, 1 - tail)


def mandelbrot(xp: Any, cast: Any, z: Any, c: Any) -> Any:
    return xp.where(xp.abs(z) <= 2, z * z + c, z)


def casts(xp: Any, cast: Any, i: Any, j: Any) -> Any:
    return cast(cast(i, "float32") * 0.25 + 1.5, "int32") * 3 - j


def selected(xp: Any, cast: Any, x: Any, y: Any) -> Any:
    return xp.where(x > 60, x * 2, xp.where(x < 40, y - x, x * y)) + xp.where(y > x, y, x)


def _numexpr_softmax(evaluate: Evaluate, names: dict[str, Any]) -> Any:
    x = names["x"]
    e = evaluate("exp(x - m)", {"x": x, "m": x.max(-1, keepdims=True)})
    return evaluate("e / s", {"e": e, "s": evaluate("sum(e, 1)", {"e": e})[:, None]})


def _numexpr_normalised(evaluate: Evaluate, names: dict[str, Any]) -> Any:
    x = names["x"]
    m = x.mean(-1, keepdims=True)
    v = evaluate("sum((x - m)**2, 1)", {"x": x, "m": m})[:, None] / x.dtype.type(x.shape[-1])
    return evaluate("(x - m) / sqrt(v + e)", {"x": x, "m": m, "v": v, "e": x.dtype.type(EPSILON)})


def _text(text: str) -> Callable[[Evaluate, dict[str, Any]], Any]:
    return lambda evaluate, names: evaluate(text, names)


MATRIX, ROW, COLUMN = ("n", "n"), ("n",), ("n", "1")
WIDE = (1.0, 100.0)

CHAINS: dict[str, Chain] = {
    "GELU": Chain(
        gelu,
        {"x": (MATRIX, -3.0, 3.0)},
        _text("0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x**3)))"),
        transcendental=True,
    ),
    "(x-r)*(x-r)/(c*c+1)+sqrt(x)*c-r": Chain(
        broadcast,
        {"x": (MATRIX, *WIDE), "r": (ROW, *WIDE), "c": (COLUMN, *WIDE)},
        _text("(x - r) * (x - r) / (c * c + 1) + sqrt(x) * c - r"),
    ),
    "softmax over rows": Chain(softmax, {"x": (MATRIX, -5.0, 5.0)}, _numexpr_softmax, transcendental=True),
    "pairwise sum((p-c)**2, -1)": Chain(
        distances,
        {"p": (("n/4", "1", "16"), *WIDE), "c": (("n/4", "16"), *WIDE)},
        _text("sum((p - c)**2, 2)"),
    ),
    "sum((x-r)**2)": Chain(squares, {"x": (MATRIX, *WIDE), "r": (ROW, *WIDE)}, _text("sum((x - r)**2)")),
    "(x-mean)/sqrt(var+eps) over rows": Chain(normalised, {"x": (MATRIX, *WIDE)}, _numexpr_normalised),
    "Black-Scholes": Chain(
        black_scholes,
        {"s": (MATRIX, *WIDE), "k": (MATRIX, *WIDE), "t": (MATRIX, 0.1, 2.0)},
        None,
        transcendental=True,
    ),
    "Mandelbrot step": Chain(
        mandelbrot,
        {"z": (MATRIX, -2.0, 2.0), "c": (MATRIX, -2.0, 2.0)},
        _text("where(sqrt(real(z)**2 + imag(z)**2) <= 2, z * z + c, z)"),
        dtypes=("complex64", "complex128"),
    ),
    "int32 with casts": Chain(casts, {"i": (MATRIX, *WIDE), "j": (MATRIX, *WIDE)}, dtypes=("int32",)),
    "where chain": Chain(
        selected,
        {"x": (MATRIX, *WIDE), "y": (MATRIX, *WIDE)},
        _text("where(x > 60, x * 2, where(x < 40, y - x, x * y)) + where(y > x, y, x)"),
    ),
}


def arrays(chain: Chain, dtype: str, n: int) -> dict[str, Any]:
    """NumPy arrays of a chain."""
    import numpy

    sizes = {"n": n, "n/4": n // 4}
    out = {}
    for seed, (name, (shape, low, high)) in enumerate(chain.operands.items()):
        rng = numpy.random.default_rng(seed)
        extent = [sizes[s] if s in sizes else int(s) for s in shape]
        values = rng.uniform(low, high, extent)
        if dtype.startswith("complex"):
            values = values + 1j * rng.uniform(low, high, extent)
        out[name] = values.astype(dtype)
    return out
