"""Every coefficient of vecmath.h and vecmath_special.h, computed anew; `--check` compares with the headers.

    python -m conformance coefficients            # prints name, log2 of the error, coefficients
    python -m conformance coefficients --check    # prints those that the headers lack
    python -m conformance coefficients erf i0     # special functions with one of these words in their names

Needs mpmath; takes some minutes. `minimax.py` explains how a fit is made.
"""

from __future__ import annotations

import argparse
import pathlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import mpmath as mp  # type: ignore[import-untyped, import-not-found, unused-ignore]

from conformance.accuracy import special_coefficients
from conformance.accuracy.minimax import as_c, fit, fit_rational, rounded, split

HEADERS = pathlib.Path(__file__).resolve().parents[2] / "src" / "stride0" / "_core" / "math"
LITERAL = re.compile(r"-?0x[0-9a-f]\.?[0-9a-f]*p[+-]?\d+")

Real = Any  # an mpf: mpmath has no types
Function = Callable[[Real], Real]
Found = tuple[str, list[str], float | None]

TINY = mp.mpf(2) ** -60
LN2 = mp.log(2)
# The ends of the reduced arguments, with a margin for rounding in the reduction.
EXP_END = LN2 / 2 * (1 + mp.mpf(2) ** -12)
LOG_ENDS = (mp.sqrt(mp.mpf(1) / 2) - 1 - mp.mpf(2) ** -20, mp.sqrt(2) - 1 + mp.mpf(2) ** -20)
ATANH_END = (LOG_ENDS[1] / (2 + LOG_ENDS[1])) ** 2
QUARTER = (mp.pi / 4 * (1 + mp.mpf(2) ** -10)) ** 2
HALF = (mp.pi / 2 * (1 + mp.mpf(2) ** -10)) ** 2
EIGHTH = (mp.tan(mp.pi / 8) * (1 + mp.mpf(2) ** -10)) ** 2


def _of_square(f: Function) -> Function:
    """Return f(x) as a function of z = x**2."""
    return lambda z: f(mp.sqrt(z))


def polynomials() -> Iterator[Found]:
    """Name, coefficients and log2 of the largest relative error of every polynomial."""

    def one(
        name: str,
        f: Function,
        degree: int,
        interval: tuple[Real, Real],
        weight: Function,
        letter: str,
    ) -> Found:
        found, error = fit(f, range(degree + 1), interval, weight, letter * (degree + 1))
        return name, [as_c(c, letter) for c in found], float(mp.log(error, 2))

    def exp_tail(x: Real) -> Real:
        return (mp.exp(x) - 1 - x) / x**2

    both = (-EXP_END, EXP_END)
    yield one("exp tail f32", exp_tail, 4, both, lambda x: x * x / mp.exp(x), "f")
    yield one("exp tail f64", exp_tail, 9, both, lambda x: x * x / mp.exp(x), "d")
    yield one("expm1 tail f32", exp_tail, 5, both, lambda x: x * x / mp.expm1(x), "f")
    yield one("expm1 tail f64", exp_tail, 10, both, lambda x: x * x / mp.expm1(x), "d")
    yield one(
        "exp2 f32",
        lambda x: (2**x - 1) / x,
        6,
        (mp.mpf("-0.5001"), mp.mpf("0.5001")),
        lambda x: x / 2**x,
        "f",
    )

    yield one(
        "log cubic f32",
        lambda x: (mp.log1p(x) - x + x * x / 2) / x**3,
        7,
        LOG_ENDS,
        lambda x: x**3 / mp.log1p(x),
        "f",
    )
    atanh = _of_square(lambda s: mp.atanh(s) / s)
    yield one("log cubic f64", lambda z: (2 * atanh(z) - 2) / z, 6, (TINY, ATANH_END), lambda z: z / 2, "d")
    yield one(
        "log2 wide",
        lambda z: (2 * atanh(z) - 2) / z / LN2,
        3,
        (TINY, ATANH_END),
        lambda z: z * LN2 / 2,
        "d",
    )
    yield one(
        "log2 series f32",
        lambda z: (2 * atanh(z) - 2 - 2 * z / 3) / z**2 / LN2,
        2,
        (TINY, ATANH_END),
        lambda z: z * z * LN2 / 2,
        "f",
    )
    yield one(
        "log series f64",
        lambda z: (2 * atanh(z) - 2 - 2 * z / 3) / z**2,
        6,
        (TINY, ATANH_END),
        lambda z: z * z / 2,
        "d",
    )

    sine = _of_square(lambda x: (mp.sin(x) / x - 1) / x**2)
    cosine = _of_square(lambda x: (mp.cos(x) - 1 + x * x / 2) / x**4)
    yield one("sin tail f64", sine, 5, (TINY, QUARTER), lambda z: z, "d")
    yield one("cos tail f64", cosine, 5, (TINY, QUARTER), lambda z: z * z, "d")
    yield one("sin tail f32", sine, 2, (TINY, QUARTER), lambda z: z, "f")
    yield one("cos tail f32", cosine, 2, (TINY, QUARTER), lambda z: z * z, "f")
    sinc = _of_square(lambda x: mp.sin(x) / x)
    yield one("sin half turns f32", sine, 3, (TINY, HALF), lambda z: z / sinc(z), "d")

    arc = _of_square(lambda x: mp.asin(x) / x)
    fourth = (TINY, mp.mpf("0.2501"))
    yield one("asin tail f32", lambda z: (arc(z) - 1) / z, 4, fourth, lambda z: z / arc(z), "f")
    yield one("asin tail f64", lambda z: (arc(z) - 1) / z, 12, fourth, lambda z: z / arc(z), "d")
    angle = _of_square(lambda x: mp.atan(x) / x)
    whole = (TINY, mp.mpf("1.0001"))
    for name, letter in (("atan sum f32", "f"), ("atan short", "d")):
        yield one(name, lambda z: (angle(z) - 1) / z, 8, whole, lambda z: z / angle(z), letter)
    yield one("atan sum f64", lambda z: (angle(z) - 1) / z, 10, (TINY, EIGHTH), lambda z: z / angle(z), "d")

    hyper = _of_square(lambda x: (mp.sinh(x) / x - 1) / x**2)
    square = EXP_END**2
    yield one("sinh tail f32", hyper, 2, (TINY, square), lambda z: z, "f")
    yield one("sinh tail f64", hyper, 4, (TINY, square), lambda z: z, "d")
    yield one(
        "cosh tail f32", _of_square(lambda x: (mp.cosh(x) - 1) / x**2), 2, (TINY, square), lambda z: z, "f"
    )
    yield one(
        "cosh tail f64",
        _of_square(lambda x: (mp.cosh(x) - 1 - x * x / 2) / x**4),
        4,
        (TINY, square),
        lambda z: z * z,
        "d",
    )


def quotients() -> Iterator[Found]:
    """The same for rational functions: coefficients of the numerator, then of the denominator."""

    def one(
        name: str, f: Function, degrees: tuple[int, int], end: Real, weight: Function, letter: str
    ) -> Found:
        top, below, error = fit_rational(f, degrees, (TINY, end), weight)
        bits = {"f": 24, "d": 53}[letter]
        return (
            name,
            [as_c(rounded(c, bits), letter) for c in (*top, *below[:-1])],
            float(mp.log(error, 2)),
        )

    gap = _of_square(lambda x: (x - mp.tanh(x)) / x**3)
    ratio = _of_square(lambda x: mp.tanh(x) / x)
    yield one("tanh f32", gap, (1, 2), mp.mpf(1), lambda z: z / ratio(z), "f")
    yield one("tanh f64", gap, (2, 3), mp.mpf("0.5625"), lambda z: z / ratio(z), "d")
    tangent = _of_square(lambda x: mp.tan(x) / x)
    yield one("tan f32", tangent, (2, 2), QUARTER, lambda z: 1 / tangent(z), "d")


def constants() -> Iterator[Found]:
    """Constants in pieces of a given number of bits."""
    for name, value, bits, letter in (
        ("log2(e) f32", 1 / LN2, (24,), "f"),
        ("2 log2(e) f32", 2 / LN2, (24,), "f"),
        ("log2(e)", 1 / LN2, (53,), "d"),
        ("2 log2(e)", 2 / LN2, (53,), "d"),
        ("ln(2) f32", LN2, (24, 24), "f"),
        ("ln(2)", LN2, (41, 53), "d"),
        ("ln(2) in one", LN2, (53,), "d"),
        ("2 log2(e) in parts, f32", 2 / LN2, (24, 24), "f"),
        ("2/3 log2(e) in parts, f32", 2 / LN2 / 3, (24, 24), "f"),
        ("log2(e) in parts, f32", 1 / LN2, (24, 24), "f"),
        ("log10(e) in parts, f32", 1 / mp.log(10), (24, 24), "f"),
        ("log10(2) in parts, f32", LN2 / mp.log(10), (15, 24), "f"),
        ("log2(e) in parts", 1 / LN2, (53, 53), "d"),
        ("log10(e) in parts", 1 / mp.log(10), (53, 53), "d"),
        ("log10(2) in parts", LN2 / mp.log(10), (41, 53), "d"),
        ("2/pi", 2 / mp.pi, (53,), "d"),
        ("1/pi", 1 / mp.pi, (53,), "d"),
        ("pi/2 in three parts", mp.pi / 2, (53, 53, 53), "d"),
        ("pi/2 in three parts, f32", mp.pi / 2, (24, 24, 24), "f"),
        ("pi/2 in parts, f32", mp.pi / 2, (28, 53), "d"),
        ("pi in parts, f32", mp.pi, (24, 24), "f"),
        ("pi", mp.pi, (53, 53), "d"),
        ("pi/2", mp.pi / 2, (53, 53), "d"),
        ("pi/4", mp.pi / 4, (53, 53), "d"),
        ("tan(pi/8)", mp.tan(mp.pi / 8), (53,), "d"),
        ("tan(3 pi/8)", mp.tan(3 * mp.pi / 8), (53,), "d"),
    ):
        yield name, [as_c(part, letter) for part in split(value, *bits)], None


def words_of_two_over_pi(count: int = 20) -> list[str]:
    """The fractional binary digits of 2/pi, in words of 64 bits."""
    with mp.workprec(64 * count + 100):
        digits = int(mp.floor(2 / mp.pi * mp.mpf(2) ** (64 * count)))
    return [f"0x{digits >> 64 * (count - 1 - k) & 0xFFFFFFFFFFFFFFFF:016x}" for k in range(count)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the headers")
    parser.add_argument("words", nargs="*", help="only special functions with these words in their names")
    options = parser.parse_args()
    check, words = options.check, options.words
    text = "".join(path.read_text() for path in sorted(HEADERS.glob("vecmath*.h")))
    # Signs are not compared: a minus may be an operator.
    present = {0.5} | {abs(float.fromhex(number)) for number in LITERAL.findall(text)}
    missing = 0
    for name, values, error in (
        *(() if words else (*polynomials(), *quotients(), *constants())),
        *special_coefficients.polynomials(words),
    ):
        if not check:
            print(f"{name}: {', '.join(values)}" + (f"  (2**{error:.1f})" if error is not None else ""))
        for value in values:
            if check and abs(float.fromhex(value.rstrip("f"))) not in present:
                missing += 1
                print(f"{name}: the headers do not have {value}")
    for word in words_of_two_over_pi():
        if check and not words and word not in text:
            missing += 1
            print(f"2/pi: the headers do not have {word}")
    if check:
        print(f"{missing} missing")
        raise SystemExit(missing > 0)
