"""Gradient rules of `stride0.special`: a table of formulas.

A rule calls public functions, which have rules themselves, so the table holds for derivatives of any order.
If no formula is known for an argument, `UNKNOWN` has the reason, and a tracked array is refused. Rules of the
incomplete gamma and beta functions and of distributions are in `distributions`, of Bessel functions in
`bessel`, of polynomials in `polynomials`, of `logsumexp` and `softmax` in `exponentials`.
"""

from __future__ import annotations

import functools
import math
from typing import Any

from stride0 import special
from stride0._chapters import elementwise as el
from stride0._core.array.array import Array
from stride0._core.elementwise.functions import where
from stride0.autograd._rules import special_derivatives as slopes
from stride0.autograd._rules.elementwise import LN2, LN10, is_complex, sech_squared, unless_zero
from stride0.autograd._rules.parts import conjugate, product, times
from stride0.autograd._rules.special_derivatives import DEGREE, ROOT_2_PI, TWO_BY_ROOT_PI, Rule, along
from stride0.autograd._tape.tape import LazyProduct
from stride0.special._polygamma import polygamma_z
from stride0.special._zeta import zeta_x

# --- elementary functions


def _log_ratio(x1: Any, x2: Any) -> Array:
    """Return ``log(x1 / x2)``, accurate for ratios near 1, without overflow for other ratios."""
    ratio = x1 / x2
    near = el.logical_and(el.greater(ratio, 0.5), el.less(ratio, 2))
    return where(near, el.log1p((x1 - x2) / x2), el.log(x1) - el.log(x2))


def _both_zero(x1: Any, x2: Any) -> Array:
    return el.logical_and(el.equal(x1, 0), el.equal(x2, 0))


def _by_zero(x1: Any, x2: Any) -> Any:
    """Return ``x1 / x2``, or 0 where both are 0."""
    return x1 / where(_both_zero(x1, x2), math.inf, x2)


def _huber_delta(g: Array, x1: Any, x2: Any) -> LazyProduct:
    size = el.abs(x2)
    return times(g, where(el.less(x1, 0), math.nan, where(el.less_equal(size, x1), 0, size - x1)))


def _huber_r(g: Array, x1: Any, x2: Any) -> LazyProduct:
    inner = where(el.less_equal(el.abs(x2), x1), x2, el.sign(x2) * x1)
    return times(g, where(el.less(x1, 0), math.nan, inner))


def _pseudo_huber_delta(g: Array, x1: Any, x2: Any) -> LazyProduct:
    h = unless_zero(el.hypot(x1, x2))
    # With s = h / x1, x1 * (s - 1)**2 / s, and s - 1 is (x2 / x1)**2 / (s + 1).
    share = x2 * (x2 / unless_zero(h + x1))
    return times(g, where(el.less(x1, 0), math.nan, share / h * share))


def _pseudo_huber_r(g: Array, x1: Any, x2: Any) -> LazyProduct:
    # x1 * x2 / hypot(x1, x2) from the quotient of the smaller and the larger number, so that nothing cancels.
    # The quotient keeps the sign of x2: a derivative by abs(x2) would be 0 at 0, and even powers have no
    # sign.
    inner, flat = el.less_equal(el.abs(x2), x1), el.equal(x1, 0)
    share = where(inner, x2 / where(flat, 1.0, x1), x1 / where(inner, 1.0, x2))
    smaller = where(inner, x2, el.sign(x2) * x1)
    return times(g, where(el.less(x1, 0), math.nan, smaller * el.reciprocal(el.hypot(1.0, share))))


def _boxcox(logarithm: Any, power: Any) -> Array:
    """Return the derivative of ``expm1(power * logarithm) / power`` by the power."""
    found = logarithm * logarithm * _exprel(logarithm * power)
    # For 0 to a positive power, which is 0, (0 - 1) / power remains.
    at_zero = el.logical_and(el.isinf(logarithm), el.greater(power, 0))
    return where(at_zero, el.reciprocal(power * power), found)


def _exprel(x: Any) -> Array:
    """Return the derivative of `exprel`."""
    return 0.5 * special.hyp1f1(2.0, 3.0, x)


def _inverse_boxcox(g: Array, out_minus_1: Array, power: Any) -> LazyProduct:
    logarithm = el.log1p(out_minus_1)
    return times(g, -_boxcox(logarithm, power) * el.exp((1.0 - power) * logarithm))


def _sinc(g: Array, x: Any, out: Array) -> LazyProduct:
    near = el.less(el.abs(x), 0.5)
    shape = (el.cos(math.pi * x) if is_complex(x) else slopes.cos_pi(x)) - out
    # sinc(x) is 0F1(3/2, -(pi * x / 2)**2), whose derivative is not a difference.
    square = -((math.pi / 2) ** 2) * where(near, x * x, 0)
    around = -(math.pi**2) / 3 * x * special.hyp0f1(2.5, square)
    return along(g, where(near, around, shape / where(near, 1.0, x)))


def of_several(g: Any, *derivatives: Any) -> Any:
    """Return the cotangent of the argument of a function with several results, given their derivatives."""
    terms = [product(h, conjugate(d)) for h, d in zip(g, derivatives, strict=True) if h is not None]
    return functools.reduce(el.add, terms)


VJP: dict[str, dict[str, Rule]] = {
    # --- gamma functions
    "special.gamma": {"x": lambda g, x, out: along(g, out * special.psi(x))},
    "special.gammaln": {"x": lambda g, x: times(g, special.psi(x))},
    "special.loggamma": {"x": lambda g, x: along(g, special.psi(x))},
    "special.rgamma": {"x": slopes.rgamma},
    "special.digamma": {"x": slopes.psi},
    "special.polygamma": {"x": lambda g, n, x: times(g, special.polygamma(n + 1, x))},
    "special.multigammaln": {"a": slopes.multigammaln},
    "special.factorial": {
        "n": lambda g, n: times(g, where(el.less(n, 0), 0, special.gamma(n + 1.0) * special.psi(n + 1.0)))
    },
    "special.poch": {"z": slopes.poch, "m": lambda g, z, m, out: times(g, out * special.psi(z + m))},
    "special.binom": {
        "n": lambda g, n, k, out: times(g, slopes.binom(n, k, out, "n")),
        "k": lambda g, n, k, out: times(g, slopes.binom(n, k, out, "k")),
    },
    "special.beta": {
        "a": lambda g, a, b, out: times(g, -out * slopes.psi_apart(a, b)),
        "b": lambda g, a, b, out: times(g, -out * slopes.psi_apart(b, a)),
    },
    "special.betaln": {
        "a": lambda g, a, b: times(g, -slopes.psi_apart(a, b)),
        "b": lambda g, a, b: times(g, -slopes.psi_apart(b, a)),
    },
    # --- error functions
    "special.erf": {"x": lambda g, x: along(g, TWO_BY_ROOT_PI * el.exp(-x * x))},
    "special.erfc": {"x": lambda g, x: along(g, -TWO_BY_ROOT_PI * el.exp(-x * x))},
    "special.erfcx": {"x": slopes.erfcx},
    "special.erfi": {"x": lambda g, x: along(g, TWO_BY_ROOT_PI * el.exp(x * x))},
    "special.erfinv": {"x": lambda g, out: times(g, el.exp(out * out) / TWO_BY_ROOT_PI)},
    "special.erfcinv": {"x": lambda g, out: times(g, el.exp(out * out) / -TWO_BY_ROOT_PI)},
    "special.dawsn": {"x": slopes.dawsn},
    "special.ndtr": {"x": lambda g, x: along(g, el.exp(-0.5 * x * x) / ROOT_2_PI)},
    "special.log_ndtr": {"x": slopes.log_ndtr},
    "special.ndtri": {"x": lambda g, out: times(g, ROOT_2_PI * el.exp(0.5 * out * out))},
    "special.owens_t": {
        "h": lambda g, h, a: times(
            g, el.exp(-0.5 * h * h) * special.erf(a * h * math.sqrt(0.5)) / (-2 * ROOT_2_PI)
        ),
        "a": lambda g, h, a: times(g, el.exp(-0.5 * h * h * (1.0 + a * a)) / (2 * math.pi * (1.0 + a * a))),
    },
    # --- hypergeometric, elliptic and Legendre functions
    "special.hyp0f1": {"z": lambda g, v, z: along(g, el.reciprocal(v) * special.hyp0f1(v + 1.0, z))},
    "special.hyp1f1": {
        "x": lambda g, a, b, x: along(g, el.divide(a, b) * special.hyp1f1(a + 1.0, b + 1.0, x))
    },
    "special.hyp2f1": {
        "z": lambda g, a, b, c, z: along(
            g, el.divide(a, c) * b * special.hyp2f1(a + 1.0, b + 1.0, c + 1.0, z)
        )
    },
    "special.ellipk": {"m": lambda g, m: times(g, slopes.ellipk(m, 1.0 - m))},
    "special.ellipkm1": {"p": lambda g, p: times(g, -slopes.ellipk(1.0 - p, p))},
    "special.ellipe": {"m": lambda g, m: times(g, -math.pi / 8 * special.hyp2f1(0.5, 1.5, 2.0, m))},
    "special.lpmv": {"x": slopes.lpmv},
    # --- integrals of exponentials, logarithms and trigonometric functions
    "special.exp1": {"x": lambda g, x: along(g, slopes.exp_by(-x))},
    "special.expi": {"x": lambda g, x: along(g, slopes.exp_by(x))},
    "special.expn": {"x": slopes.expn},
    "special.exprel": {"x": lambda g, x: times(g, _exprel(x))},
    "special.spence": {"z": slopes.spence},
    "special.zeta": {
        "x": slopes.zeta,
        "q": lambda g, x, q: times(g, slopes.of_shift(x, q, -x * special.zeta(x + 1, q))),
    },
    "special.zetac": {"x": lambda g, x: slopes.zeta(g, x, None)},
    "special.fresnel": {
        "z": lambda g, z: of_several(
            g, slopes.of_square(el.sin, slopes.sin_pi, z), slopes.of_square(el.cos, slopes.cos_pi, z)
        )
    },
    "special.sici": {"x": lambda g, x: of_several(g, slopes.sine_by(x), el.cos(x) / x)},
    "special.shichi": {"x": lambda g, x: of_several(g, slopes.sinh_by(x), slopes.cosh_by(x))},
    "special.wrightomega": {"z": lambda g, out: along(g, out / (1.0 + out))},
    "special.lambertw": {"z": slopes.lambertw},
    # --- elementary functions
    "special.entr": {"x": lambda g, x: times(g, -el.log(x) - 1.0)},
    "special.rel_entr": {
        "x1": lambda g, x1, x2: times(g, where(_both_zero(x1, x2), 0.0, _log_ratio(x1, x2) + 1.0)),
        "x2": lambda g, x1, x2: times(g, -_by_zero(x1, x2)),
    },
    "special.kl_div": {
        # At (0, 0) these two values give the derivative 0 along x1 = x2, where the function is 0.
        "x1": lambda g, x1, x2: times(g, where(_both_zero(x1, x2), -1.0, _log_ratio(x1, x2))),
        "x2": lambda g, x1, x2: times(g, where(_both_zero(x1, x2), 1.0, (x2 - x1) / x2)),
    },
    "special.huber": {"x1": _huber_delta, "x2": _huber_r},
    "special.pseudo_huber": {"x1": _pseudo_huber_delta, "x2": _pseudo_huber_r},
    "special.xlogy": {
        "x1": lambda g, x2: along(g, el.log(x2)),
        "x2": lambda g, x1, x2: along(g, _by_zero(x1, x2)),
    },
    "special.xlog1py": {
        "x1": lambda g, x2: along(g, el.log1p(x2)),
        "x2": lambda g, x1, x2: along(g, _by_zero(x1, 1.0 + x2)),
    },
    "special.boxcox": {
        "x1": lambda g, x1, x2: times(g, el.pow(x1, x2 - 1.0)),
        "x2": lambda g, x1, x2: times(g, _boxcox(el.log(x1), x2)),
    },
    "special.boxcox1p": {
        "x1": lambda g, x1, x2: times(g, el.exp((x2 - 1.0) * el.log1p(x1))),
        "x2": lambda g, x1, x2: times(g, _boxcox(el.log1p(x1), x2)),
    },
    "special.inv_boxcox": {
        # The logarithm of the result would be inaccurate near 1.
        "x1": lambda g, x1, x2: times(g, el.exp((1.0 - x2) * el.log1p(special.inv_boxcox1p(x1, x2)))),
        "x2": lambda g, x1, x2: _inverse_boxcox(g, special.inv_boxcox1p(x1, x2), x2),
    },
    "special.inv_boxcox1p": {
        "x1": lambda g, x2, out: times(g, el.exp((1.0 - x2) * el.log1p(out))),
        "x2": lambda g, x2, out: _inverse_boxcox(g, out, x2),
    },
    # Not out * (1 - out), whose derivative cancels near 0.
    "special.expit": {"x": lambda g, x: along(g, 0.25 * sech_squared(0.5 * x))},
    "special.softplus": {"x": lambda g, x: times(g, special.expit(x))},
    "special.log_expit": {"x": lambda g, x: times(g, special.expit(-x))},
    "special.logit": {"x": lambda g, x: times(g, el.reciprocal(x * (1.0 - x)))},
    "special.powm1": {
        "x": lambda g, x, y: times(g, y * el.pow(x, y - 1.0)),
        # Not out + 1, which is 0 for a tiny power.
        "y": lambda g, x, y: times(g, product(el.pow(x, y), el.log(where(el.equal(x, 0), 1.0, x)))),
    },
    "special.cbrt": {"x": lambda g, out: times(g, el.reciprocal(3.0 * out * out))},
    "special.exp2": {"x": lambda g, out: times(g, out * LN2)},
    "special.exp10": {"x": lambda g, out: times(g, out * LN10)},
    "special.cosm1": {"x": lambda g, x: times(g, -el.sin(x))},
    "special.cosdg": {"x": lambda g, x: times(g, special.sindg(x) * -DEGREE)},
    "special.sindg": {"x": lambda g, x: times(g, special.cosdg(x) * DEGREE)},
    "special.tandg": {"x": lambda g, out: times(g, (1.0 + out * out) * DEGREE)},
    "special.cotdg": {"x": lambda g, out: times(g, (1.0 + out * out) * -DEGREE)},
    "special.radian": {
        "d": lambda g: times(g, DEGREE),
        "m": lambda g: times(g, DEGREE / 60),
        "s": lambda g: times(g, DEGREE / 3600),
    },
    "special.sinc": {"x": _sinc},
}

NO_GRAD: dict[str, str] = {"special.gammasgn": "piecewise constant"}

# Rules of inner functions: rules call them, users do not.
INNER_VJP: dict[str, dict[str, Rule]] = {
    "special.polygamma_z": {"z": lambda g, z, order: along(g, polygamma_z(z, order + 1))},
    "special.zeta_x": {
        "x": lambda g, x, q, order: times(g, zeta_x(x, q, order + 1)),
        "q": lambda g, x, q, order: times(
            g,
            slopes.of_shift(
                x,
                q,
                -x * zeta_x(x + 1.0, q, order) - order * slopes.zeta_or_derivative(x + 1.0, q, order - 1),
            ),
        ),
    },
}

PARAMETER = "no formula for the derivative by a parameter is implemented"
COUNT = "it is an integer count"

UNKNOWN: dict[str, dict[str, str]] = {
    **{f"special.{name}": {"n": COUNT} for name in ("expn", "polygamma")},
    "special.hyp0f1": {"v": PARAMETER},
    "special.hyp1f1": {"a": PARAMETER, "b": PARAMETER},
    "special.hyp2f1": {"a": PARAMETER, "b": PARAMETER, "c": PARAMETER},
    "special.lpmv": {"m": COUNT, "v": "no formula for the derivative by the degree is implemented"},
}
