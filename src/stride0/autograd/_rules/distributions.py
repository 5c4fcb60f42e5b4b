"""Gradient rules of the incomplete gamma and beta functions, and of the distributions composed of them.

The derivatives by the last argument are densities. The derivatives by parameters are functions of
`stride0.special._parameters`, of any order. Rules of inverse functions follow from the implicit function
theorem.
"""

from __future__ import annotations

from typing import Any

from stride0._chapters.elementwise import abs, equal, floor, greater, isinf, sign, sqrt
from stride0._core.array.array import Array
from stride0._core.elementwise.functions import where
from stride0.autograd._rules.parts import product, times
from stride0.autograd._rules.special import COUNT
from stride0.autograd._rules.special_derivatives import Rule
from stride0.autograd._tape.tape import LazyProduct
from stride0.special._densities import beta_density, gamma_density, is_singular, t_density
from stride0.special._parameters import (
    beta_factor,
    betainc_ab,
    gamma_factor,
    gammainc_a,
    odd_beta_density,
    odd_betainc_b,
)


def _quotient(x1: Any, x2: Any) -> Any:
    """Return ``x1 / x2``, or 0 where `x1` is 0, because inverse functions have fixed values at the ends."""
    return x1 / where(equal(x1, 0), 1, x2)


def _gamma_rules(factor: float) -> dict[str, Rule]:
    """Return the rules of `gammainc`, or of its complement if the factor is -1."""
    return {
        "a": lambda g, a, x: times(g, factor * gammainc_a(a, x)),
        "x": lambda g, a, x: times(g, factor * gamma_density(a, x)),
    }


def _inverse_gamma_rules(factor: float) -> dict[str, Rule]:
    return {
        "a": lambda g, a, out: times(g, -_quotient(gammainc_a(a, out), gamma_density(a, out))),
        "y": lambda g, a, out: times(g, factor / gamma_density(a, out)),
    }


def _beta_rules(factor: float) -> dict[str, Rule]:
    return {
        "a": lambda g, a, b, x: times(g, factor * betainc_ab(a, b, x, 1.0 - x, 1, 0)),
        "b": lambda g, a, b, x: times(g, factor * betainc_ab(a, b, x, 1.0 - x, 0, 1)),
        "x": lambda g, a, b, x: times(g, factor * beta_density(a, b, x, 1.0 - x)),
    }


def _inverse_beta(g: Array, a: Any, b: Any, out: Array, by_a: int, by_b: int) -> LazyProduct:
    y = 1.0 - out
    return times(g, -_quotient(betainc_ab(a, b, out, y, by_a, by_b), beta_density(a, b, out, y)))


# --- counts: the binomial, negative binomial and Poisson distributions


def _bdtr(g: Array, k: Any, n: Any, p: Any, factor: float) -> LazyProduct:
    k = floor(k)
    return times(g, factor * beta_density(n - k, k + 1.0, 1.0 - p, p))


def _nbdtr(g: Array, k: Any, n: Any, p: Any, factor: float) -> LazyProduct:
    return times(g, factor * beta_density(n, floor(k) + 1.0, p, 1.0 - p))


# --- the chi-square and the gamma distribution


def _chi_rules(factor: float) -> dict[str, Rule]:
    return {
        "v": lambda g, v, x: times(g, factor * gammainc_a(v * 0.5, x * 0.5)),
        "x": lambda g, v, x: times(g, factor * gamma_density(v * 0.5, x * 0.5)),
    }


def _rate_rules(factor: float) -> dict[str, Rule]:
    return {
        "a": lambda g, a, b, x: times(g, factor * product(where(isinf(x), 0, x), gamma_density(b, a * x))),
        "b": lambda g, a, b, x: times(g, factor * gammainc_a(b, a * x)),
        "x": lambda g, a, b, x: times(g, factor * product(a, gamma_density(b, a * x))),
    }


# --- the F distribution


def _share(r: Any) -> tuple[Any, Any]:
    """Return ``r / (1 + r)`` and ``1 / (1 + r)``, also if `r` overflows."""
    large = greater(r, 1)
    near, inverse = where(large, 0, r), 1.0 / where(large, r, 1)
    other = 1.0 / (1.0 + near)
    return where(large, 1.0 / (1.0 + inverse), product(near, other)), where(
        large, inverse / (1.0 + inverse), other
    )


def _f_ratio(dfn: Any, dfd: Any, x: Any) -> tuple[Any, Any]:
    """Return a mask of infinite `x`, and ``dfn / dfd * x`` elsewhere; constant if x is 0."""
    end = isinf(x)
    return end, product(where(end, 1, x), dfn / dfd)


def _f_density(dfn: Any, dfd: Any, x: Any) -> Any:
    a, b = dfn * 0.5, dfd * 0.5
    end, r = _f_ratio(dfn, dfd, x)
    singular = is_singular(a, r)
    share, other = _share(where(singular, 0, r))
    share = where(singular, r, share)
    # Move one factor `other` into the density, which may be infinite without it.
    found = beta_density(a, b + 1.0, share, other) * (b / (a + b) * (dfn / dfd)) * other
    return where(end, 0, found)


def _f_by_parameter(dfn: Any, dfd: Any, x: Any, by_a: int) -> Any:
    """Return the derivative with respect to `dfn` if `by_a` is 1, or to `dfd` if it is 0."""
    a, b = dfn * 0.5, dfd * 0.5
    end, r = _f_ratio(dfn, dfd, x)
    share, other = _share(r)
    # The density times x and y, without a product of 0 and infinity at the ends.
    inner = beta_density(a + 1.0, b + 1.0, share, other) * (a / (a + b)) * (b / (a + b + 1.0))
    inner = inner / dfn if by_a else -inner / dfd
    return where(end, 0, 0.5 * betainc_ab(a, b, share, other, by_a, 1 - by_a) + inner)


def _f_rules(factor: float) -> dict[str, Rule]:
    return {
        "dfn": lambda g, dfn, dfd, x: times(g, factor * _f_by_parameter(dfn, dfd, x, 1)),
        "dfd": lambda g, dfn, dfd, x: times(g, factor * _f_by_parameter(dfn, dfd, x, 0)),
        "x": lambda g, dfn, dfd, x: times(g, factor * _f_density(dfn, dfd, x)),
    }


# --- the t distribution


def _t_by_freedom(df: Any, t: Any) -> Any:
    """Return the derivative of `stdtr` by the degrees of freedom."""
    end = isinf(t)
    t = where(end, 0, t)
    quotient = t / sqrt(df)
    large = greater(abs(quotient), 1)
    near, inverse = where(large, 0, quotient), 1.0 / where(large, quotient, 1)
    # s = quotient / hypot(1, quotient), and 1 - s**2.
    root = where(large, sign(inverse), near) / sqrt(1.0 + where(large, inverse * inverse, near * near))
    other = where(large, inverse * inverse, 1) / (1.0 + where(large, inverse * inverse, near * near))
    found = 0.25 * odd_betainc_b(0.5 * df, root, other, 1) - t * t_density(df, t) / (2.0 * df)
    return where(end, 0, found)


VJP: dict[str, dict[str, Rule]] = {
    "special.gammainc": _gamma_rules(1.0),
    "special.gammaincc": _gamma_rules(-1.0),
    "special.gammaincinv": _inverse_gamma_rules(1.0),
    "special.gammainccinv": _inverse_gamma_rules(-1.0),
    "special.betainc": _beta_rules(1.0),
    "special.betaincc": _beta_rules(-1.0),
    "special.betaincinv": {
        "a": lambda g, a, b, out: _inverse_beta(g, a, b, out, 1, 0),
        "b": lambda g, a, b, out: _inverse_beta(g, a, b, out, 0, 1),
        "y": lambda g, a, b, out: times(g, 1.0 / beta_density(a, b, out, 1.0 - out)),
    },
    "special.betainccinv": {
        "a": lambda g, a, b, out: _inverse_beta(g, a, b, out, 1, 0),
        "b": lambda g, a, b, out: _inverse_beta(g, a, b, out, 0, 1),
        "y": lambda g, a, b, out: times(g, -1.0 / beta_density(a, b, out, 1.0 - out)),
    },
    "special.bdtr": {"p": lambda g, k, n, p: _bdtr(g, k, n, p, -1.0)},
    "special.bdtrc": {"p": lambda g, k, n, p: _bdtr(g, k, n, p, 1.0)},
    "special.bdtri": {
        "y": lambda g, k, n, out: times(g, -1.0 / beta_density(n - floor(k), floor(k) + 1.0, 1.0 - out, out))
    },
    "special.nbdtr": {"p": lambda g, k, n, p: _nbdtr(g, k, n, p, 1.0)},
    "special.nbdtrc": {"p": lambda g, k, n, p: _nbdtr(g, k, n, p, -1.0)},
    "special.nbdtri": {
        "y": lambda g, k, n, out: times(g, 1.0 / beta_density(n, floor(k) + 1.0, out, 1.0 - out))
    },
    "special.pdtr": {"m": lambda g, k, m: times(g, -gamma_density(floor(k) + 1.0, m))},
    "special.pdtrc": {"m": lambda g, k, m: times(g, gamma_density(floor(k) + 1.0, m))},
    "special.pdtri": {"y": lambda g, k, out: times(g, -1.0 / gamma_density(floor(k) + 1.0, out))},
    "special.chdtr": _chi_rules(0.5),
    "special.chdtrc": _chi_rules(-0.5),
    "special.chdtri": {
        "v": lambda g, v, out: times(
            g, -_quotient(gammainc_a(v * 0.5, out * 0.5), gamma_density(v * 0.5, out * 0.5))
        ),
        "p": lambda g, v, out: times(g, -2.0 / gamma_density(v * 0.5, out * 0.5)),
    },
    "special.gdtr": _rate_rules(1.0),
    "special.gdtrc": _rate_rules(-1.0),
    "special.fdtr": _f_rules(1.0),
    "special.fdtrc": _f_rules(-1.0),
    "special.fdtri": {
        "dfn": lambda g, dfn, dfd, out: times(
            g, -_quotient(_f_by_parameter(dfn, dfd, out, 1), _f_density(dfn, dfd, out))
        ),
        "dfd": lambda g, dfn, dfd, out: times(
            g, -_quotient(_f_by_parameter(dfn, dfd, out, 0), _f_density(dfn, dfd, out))
        ),
        "p": lambda g, dfn, dfd, out: times(g, 1.0 / _f_density(dfn, dfd, out)),
    },
    "special.stdtr": {
        "df": lambda g, df, t: times(g, _t_by_freedom(df, t)),
        "t": lambda g, df, t: times(g, t_density(df, t)),
    },
    "special.stdtrit": {
        "df": lambda g, df, out: times(g, -_quotient(_t_by_freedom(df, out), t_density(df, out))),
        "p": lambda g, df, out: times(g, 1.0 / t_density(df, out)),
    },
}

# Rules of inner functions: the derivatives by parameters.
INNER_VJP: dict[str, dict[str, Rule]] = {
    "special.gammainc_a": {
        "a": lambda g, a, x, order: times(g, gammainc_a(a, x, order + 1)),
        "x": lambda g, a, x, order: times(g, product(gamma_density(a, x), gamma_factor(a, x, order))),
    },
    # `y` is 1 - x or 1 - u**2: the rule of x or u includes the derivative with respect to y.
    "special.betainc_ab": {
        "a": lambda g, a, b, x, y, by_a, by_b: times(g, betainc_ab(a, b, x, y, by_a + 1, by_b)),
        "b": lambda g, a, b, x, y, by_a, by_b: times(g, betainc_ab(a, b, x, y, by_a, by_b + 1)),
        "x": lambda g, a, b, x, y, by_a, by_b: times(
            g, product(beta_density(a, b, x, y), beta_factor(a, b, x, y, (by_a, by_b)))
        ),
        "y": lambda g: None,
    },
    "special.odd_betainc_b": {
        "b": lambda g, b, u, y, order: times(g, odd_betainc_b(b, u, y, order + 1)),
        "u": lambda g, b, u, y, order: times(g, odd_beta_density(b, u, y, order)),
        "y": lambda g: None,
    },
}

UNKNOWN: dict[str, dict[str, str]] = {
    **{f"special.{name}": {"k": COUNT, "n": COUNT} for name in ("bdtr", "bdtrc", "bdtri")},
    **{f"special.n{name}": {"k": COUNT, "n": COUNT} for name in ("bdtr", "bdtrc", "bdtri")},
    **{f"special.{name}": {"k": COUNT} for name in ("pdtr", "pdtrc", "pdtri")},
}
