"""The Taylor series of `stride0.special`, by differential equations, or by derivatives of any order.

Functions are missing if their known equations cancel far from 0, as those for `dawsn` and `erfcx` do.
"""

from __future__ import annotations

import math
from typing import Any

from stride0 import special
from stride0._chapters import elementwise as el
from stride0._core.elementwise.functions import where
from stride0.autograd._jets.elementwise import (
    Rule,
    absolute,
    along,
    chosen,
    expit,
    exponential,
    length_of,
    logarithm,
    power,
    tangent,
    wave,
)
from stride0.autograd._jets.series import Series, composed, inverse, quotient, scaled, solved, total
from stride0.autograd._rules.elementwise import LN2, LN10, is_complex
from stride0.autograd._rules.special_derivatives import (
    DEGREE,
    ROOT_2_PI,
    TWO_BY_ROOT_PI,
    cos_pi,
    psi_apart,
    sin_pi,
)
from stride0.special._polygamma import polygamma_z


def _gaussian(x: Series, rate: float, factor: float) -> Series:
    """Return ``factor * exp(rate * x**2)``."""
    return along(el.exp(x[0] * x[0] * rate) * factor, x, lambda w: x * w * (2 * rate))


def _psi(x: Series) -> Series:
    derivative = polygamma_z if is_complex(x[0]) else lambda z, m: special.polygamma(m, z)
    return composed(special.psi(x[0]), x, lambda m: derivative(x[0], m))


def _rgamma(x: Series, y: Any) -> Series:
    usual = along(y, x, lambda out: -(out * _psi(x)))
    if is_complex(x[0]):
        return usual
    # By reflection where psi has poles.
    mirrored = -x + 1.0
    gamma = along(special.gamma(mirrored[0]), mirrored, lambda out: out * _psi(mirrored))
    found = wave(x * math.pi, sin_pi(x[0]), cos_pi(x[0]), (1, -1)) * gamma
    return Series(y, lambda k: chosen(el.less(x[0], 0.5), scaled(found[k], 1 / math.pi), usual[k]))


def _spence(z: Series, y: Any) -> Series:
    apart = -z + 1.0
    near = -_dilogarithm(apart, special.hyp2f1(1.0, 1.0, 2.0, apart[0]))
    far = quotient(el.log(z[0]) / apart[0], logarithm(z), apart)
    is_near = el.less(abs(apart[0]), 0.5)
    slope = where(is_near, near[0], far[0])
    return along(y, z, Series(slope, lambda k: chosen(is_near, near[k], far[k])))


def _beta(x: Series, z: Series, y: Any, is_log: bool) -> Series:
    both = _psi(x + z)
    slopes = [(_psi(u) - both).starting(-psi_apart(u[0], v[0])) for u, v in ((x, z), (z, x))]
    return solved(y, [x, z], lambda out: slopes if is_log else [out * slope for slope in slopes])


def _incomplete(x: Series, y: Any, first: Any, rate: Series) -> Series:
    """Return the integral of ``w' = rate * w``."""
    return along(y, x, along(first, x, lambda w: w * rate))


def _gammainc(a: Series, x: Series, y: Any, sign: int) -> Series:
    first = el.exp(special.xlogy(a[0] - 1.0, x[0]) - x[0] - special.gammaln(a[0])) * sign
    return _incomplete(x, y, first, inverse(x) * (a[0] - 1.0) + -1.0)


def _betainc(a: Series, b: Series, x: Series, y: Any, sign: int) -> Series:
    logs = special.xlogy(a[0] - 1.0, x[0]) + special.xlog1py(b[0] - 1.0, -x[0])
    rate = inverse(x) * (a[0] - 1.0) - inverse(-x + 1.0) * (b[0] - 1.0)
    return _incomplete(x, y, el.exp(logs - special.betaln(a[0], b[0])) * sign, rate)


def _rising(a: Any, m: int) -> Any:
    """Return ``a * (a + 1) * ... * (a + m - 1)``."""
    return math.prod((a + float(i) for i in range(m)), start=1.0)


def _hypergeometric(function: Any, above: int, *fixed: float, scale: float = 1.0) -> Rule:
    """Return the rule of a hypergeometric function; parameters that are not fixed are operands."""

    def rule(*given: Any) -> Series:
        *parameters, z, y = given
        values = [*fixed, *(p[0] for p in parameters)]

        def derivative(m: int) -> Any:
            out = function(*(p + float(m) for p in values), z[0]) * scale
            for k, p in enumerate(values):
                out = out * _rising(p, m) if k < above else out / _rising(p, m)
            return out

        return composed(y, z, derivative)

    return rule


def _bessel(name: str, order: int | None = None) -> Rule:
    """Return the rule of a Bessel function, whose derivative is a mean of its neighbours."""
    function, plus = getattr(special, name), 1.0 if name in ("iv", "kv") else -1.0

    def rule(*given: Any) -> Series:
        *parameters, z, y = given
        v = parameters[0][0] if parameters else float(order or 0)

        def derivative(m: int) -> Any:
            terms = (function(v + float(2 * i - m), z[0]) * (math.comb(m, i) * plus**i) for i in range(m + 1))
            return total(terms) * (-0.5 if name == "kv" else 0.5) ** m

        return composed(y, z, derivative)

    return rule


_kummer = _hypergeometric(special.hyp1f1, 1, 1.0, 2.0)
_bessel_clifford = _hypergeometric(special.hyp0f1, 0, 1.5)
_dilogarithm = _hypergeometric(special.hyp2f1, 2, 1.0, 1.0, 2.0)


def _sinc(x: Series, y: Any) -> Series:
    # A function of the square: near 0 nothing cancels.
    near = _bessel_clifford(x * x * -((math.pi / 2) ** 2), y)
    angle = x * math.pi
    far = quotient(y, wave(angle, el.sin(angle[0]), el.cos(angle[0]), (1, -1)), angle)
    return Series(y, lambda k: chosen(el.less(abs(x[0]), 2), near[k], far[k]))


def _xlog(x: Series, z: Series, y: Any, logs: Series) -> Series:
    """Return ``x * logs``, in which `logs` is the logarithm of z."""
    both = el.logical_and(el.equal(x[0], 0), el.equal(z[0], 0))
    ratio = quotient(x[0] / where(both, math.inf, z[0]), x, z)
    return solved(y, [x, z], lambda _: [logs, ratio])


def _divergence(x: Series, z: Series, y: Any, plus: float) -> Series:
    """Return ``x * log(x / z)``, plus a multiple of ``z - x``."""
    ratio = x / z
    return solved(y, [x, z], lambda _: [logarithm(ratio) + (1.0 - plus), -ratio + plus])


def _huber(d: Series, r: Series, y: Any) -> Series:
    near, far = r * r * 0.5, d * (absolute(r) - d * 0.5)
    inner, bad = el.less_equal(abs(r[0]), d[0]), el.less(d[0], 0)
    return Series(y, lambda k: chosen(bad, math.nan, chosen(inner, near[k], far[k])))


def _unboxed(x: Series, n: Series, y: Any, root: Any) -> Series:
    """Return ``(1 + n * x)**(1 / n)``, plus a constant; `root` is its value without the constant."""
    slope = inverse(x * n[0] + 1.0)
    return along(root, x, lambda out: out * slope).starting(y)


# By the names in `special`.
RULES: dict[str, Rule] = {
    # --- elementary functions
    "cbrt": lambda x, y: along(y, x, lambda out: inverse(out * out * 3.0)),
    "exp2": lambda x, y: exponential(x * LN2, y),
    "exp10": lambda x, y: exponential(x * LN10, y),
    "exprel": _kummer,
    "cosm1": lambda x, y: wave(x, el.cos(x[0]), el.sin(x[0]), (-1, 1)).starting(y),
    "powm1": lambda x, n, y: power(x, n, x[0] ** n[0]).starting(y),
    "cosdg": lambda x, y: wave(x * DEGREE, y, special.sindg(x[0]), (-1, 1)),
    "sindg": lambda x, y: wave(x * DEGREE, y, special.cosdg(x[0]), (1, -1)),
    "tandg": lambda x, y: tangent(x * DEGREE, y, 1.0 + y * y, 1),
    "cotdg": lambda x, y: along(y, x * DEGREE, lambda out: -(out * out) + -1.0),
    "sinc": _sinc,
    "expit": expit,
    "logit": lambda x, y: along(y, x, inverse(x - x * x)),
    "softplus": lambda x, y: along(y, x, expit(x)),
    "log_expit": lambda x, y: along(y, x, expit(-x)),
    "xlogy": lambda x, z, y: _xlog(x, z, y, logarithm(z)),
    "xlog1py": lambda x, z, y: _xlog(x, z + 1.0, y, logarithm(z + 1.0, el.log1p(z[0]))),
    "entr": lambda x, y: along(y, x, -logarithm(x) + -1.0),
    "rel_entr": lambda x, z, y: _divergence(x, z, y, 0.0),
    "kl_div": lambda x, z, y: _divergence(x, z, y, 1.0),
    "huber": _huber,
    "pseudo_huber": lambda d, r, y: (d * (length_of(d, r, el.hypot(d[0], r[0])) - d)).starting(y),
    "boxcox": lambda x, n, y: along(y, x, power(x, Series(n[0] - 1.0), x[0] ** (n[0] - 1.0))),
    "boxcox1p": lambda x, n, y: along(y, x, power(x + 1.0, Series(n[0] - 1.0), (x[0] + 1.0) ** (n[0] - 1.0))),
    "inv_boxcox": lambda x, n, y: _unboxed(x, n, y, y),
    "inv_boxcox1p": lambda x, n, y: _unboxed(x, n, y, y + 1.0),
    # --- error functions, and inverse functions
    "erf": lambda x, y: along(y, x, _gaussian(x, -1.0, TWO_BY_ROOT_PI)),
    "erfc": lambda x, y: along(y, x, _gaussian(x, -1.0, -TWO_BY_ROOT_PI)),
    "erfi": lambda x, y: along(y, x, _gaussian(x, 1.0, TWO_BY_ROOT_PI)),
    "ndtr": lambda x, y: along(y, x, _gaussian(x, -0.5, 1 / ROOT_2_PI)),
    "erfinv": lambda x, y: along(y, x, lambda out: _gaussian(out, 1.0, 1 / TWO_BY_ROOT_PI)),
    "erfcinv": lambda x, y: along(y, x, lambda out: _gaussian(out, 1.0, -1 / TWO_BY_ROOT_PI)),
    "ndtri": lambda x, y: along(y, x, lambda out: _gaussian(out, 0.5, ROOT_2_PI)),
    "lambertw": lambda x, y: along(y, x, lambda out: inverse(exponential(out) * (out + 1.0))),
    "wrightomega": lambda x, y: along(y, x, lambda out: out / (out + 1.0)),
    # --- gamma functions
    "gamma": lambda x, y: along(y, x, lambda out: out * _psi(x)),
    "rgamma": _rgamma,
    "gammaln": lambda x, y: along(y, x, _psi(x)),
    "loggamma": lambda x, y: along(y, x, _psi(x)),
    "digamma": lambda x, y: _psi(x).starting(y),
    "polygamma": lambda n, x, y: composed(y, x, lambda m: special.polygamma(n[0] + float(m), x[0])),
    "zeta": lambda s, q, y: composed(
        y, q, lambda m: special.zeta(s[0] + float(m), q[0]) * (_rising(s[0], m) * (-1) ** m)
    ),
    "beta": lambda x, z, y: _beta(x, z, y, False),
    "betaln": lambda x, z, y: _beta(x, z, y, True),
    "gammainc": lambda a, x, y: _gammainc(a, x, y, 1),
    "gammaincc": lambda a, x, y: _gammainc(a, x, y, -1),
    "betainc": lambda a, b, x, y: _betainc(a, b, x, y, 1),
    "betaincc": lambda a, b, x, y: _betainc(a, b, x, y, -1),
    # --- integrals, hypergeometric and Bessel functions
    "exp1": lambda x, y: along(y, x, -(exponential(-x) / x)),
    "expi": lambda x, y: along(y, x, exponential(x) / x),
    "spence": _spence,
    "ellipk": _hypergeometric(special.hyp2f1, 2, 0.5, 0.5, 1.0, scale=math.pi / 2),
    "ellipe": _hypergeometric(special.hyp2f1, 2, -0.5, 0.5, 1.0, scale=math.pi / 2),
    "hyp0f1": _hypergeometric(special.hyp0f1, 0),
    "hyp1f1": _hypergeometric(special.hyp1f1, 1),
    "hyp2f1": _hypergeometric(special.hyp2f1, 2),
    **{f"{name}{order}": _bessel(f"{name}v", order) for name in "jyik" for order in (0, 1)},
    **{f"{name}v": _bessel(f"{name}v") for name in "jyik"},
    **{f"{name}n": _bessel(f"{name}v") for name in "yk"},
}

# The operands that are parameters: they have no series.
PARAMETERS: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("jv", "yv", "iv", "kv", "yn", "kn", "polygamma", "zeta", "hyp0f1"), (0,)),
    **dict.fromkeys(("gammainc", "gammaincc"), (0,)),
    **dict.fromkeys(("betainc", "betaincc", "hyp1f1"), (0, 1)),
    **dict.fromkeys(("boxcox", "boxcox1p", "inv_boxcox", "inv_boxcox1p"), (1,)),
    "hyp2f1": (0, 1, 2),
}
