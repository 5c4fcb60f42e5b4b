"""Gradient rules of the incomplete gamma and beta functions, and of the distributions that are made of them.

The derivatives by the last argument are densities; those by parameters are functions of
`stride0.special._parameters`, of any order. Inverse functions have theirs by the implicit function theorem.
"""

from __future__ import annotations

from typing import Any

from stride0._chapters.elementwise import floor, sign
from stride0._core.array.array import Array
from stride0.autograd._rules.parts import times
from stride0.autograd._rules.special import COUNT, Rule
from stride0.autograd._tape.tape import LazyProduct
from stride0.special._densities import beta_density, gamma_density, t_density
from stride0.special._parameters import beta_factor, betainc_ab, gamma_factor, gammainc_a


def _gamma_rules(factor: float) -> dict[str, Rule]:
    """Return the rules of `gammainc`, or of its complement where the factor is -1."""
    return {
        "a": lambda g, a, x: times(g, factor * gammainc_a(a, x)),
        "x": lambda g, a, x: times(g, factor * gamma_density(a, x)),
    }


def _inverse_gamma_rules(factor: float) -> dict[str, Rule]:
    return {
        "a": lambda g, a, out: times(g, -gammainc_a(a, out) / gamma_density(a, out)),
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
    return times(g, -betainc_ab(a, b, out, y, by_a, by_b) / beta_density(a, b, out, y))


# --- counts: the binomial distribution, failures, and Poisson's


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
        "a": lambda g, a, b, x: times(g, factor * x * gamma_density(b, a * x)),
        "b": lambda g, a, b, x: times(g, factor * gammainc_a(b, a * x)),
        "x": lambda g, a, b, x: times(g, factor * a * gamma_density(b, a * x)),
    }


# --- the F distribution


def _f_share(dfn: Any, dfd: Any, x: Any) -> tuple[Any, Any]:
    """Return the argument of `betainc` that belongs to `x`, and 1 minus it."""
    total = dfn * x + dfd
    return dfn * x / total, dfd / total


def _f_density(dfn: Any, dfd: Any, x: Any) -> Any:
    share, other = _f_share(dfn, dfd, x)
    return beta_density(dfn * 0.5, dfd * 0.5, share, other) * other * dfn / (dfn * x + dfd)


def _f_by_numerator(dfn: Any, dfd: Any, x: Any) -> Any:
    share, other = _f_share(dfn, dfd, x)
    a, b = dfn * 0.5, dfd * 0.5
    inner = beta_density(a, b, share, other) * other * x / (dfn * x + dfd)
    return 0.5 * betainc_ab(a, b, share, other, 1, 0) + inner


def _f_by_denominator(dfn: Any, dfd: Any, x: Any) -> Any:
    share, other = _f_share(dfn, dfd, x)
    a, b = dfn * 0.5, dfd * 0.5
    inner = beta_density(a, b, share, other) * share / (dfn * x + dfd)
    return 0.5 * betainc_ab(a, b, share, other, 0, 1) - inner


def _f_rules(factor: float) -> dict[str, Rule]:
    return {
        "dfn": lambda g, dfn, dfd, x: times(g, factor * _f_by_numerator(dfn, dfd, x)),
        "dfd": lambda g, dfn, dfd, x: times(g, factor * _f_by_denominator(dfn, dfd, x)),
        "x": lambda g, dfn, dfd, x: times(g, factor * _f_density(dfn, dfd, x)),
    }


# --- the t distribution


def _t_by_freedom(df: Any, t: Any) -> Any:
    """Return the derivative of `stdtr` by the degrees of freedom."""
    total = t * t + df
    return 0.25 * sign(t) * betainc_ab(0.5, df * 0.5, t * t / total, df / total, 0, 1) - t * t_density(
        df, t
    ) / (2.0 * df)


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
        "v": lambda g, v, out: times(g, -gammainc_a(v * 0.5, out * 0.5) / gamma_density(v * 0.5, out * 0.5)),
        "p": lambda g, v, out: times(g, -2.0 / gamma_density(v * 0.5, out * 0.5)),
    },
    "special.gdtr": _rate_rules(1.0),
    "special.gdtrc": _rate_rules(-1.0),
    "special.fdtr": _f_rules(1.0),
    "special.fdtrc": _f_rules(-1.0),
    "special.fdtri": {
        "dfn": lambda g, dfn, dfd, out: times(g, -_f_by_numerator(dfn, dfd, out) / _f_density(dfn, dfd, out)),
        "dfd": lambda g, dfn, dfd, out: times(
            g, -_f_by_denominator(dfn, dfd, out) / _f_density(dfn, dfd, out)
        ),
        "p": lambda g, dfn, dfd, out: times(g, 1.0 / _f_density(dfn, dfd, out)),
    },
    "special.stdtr": {
        "df": lambda g, df, t: times(g, _t_by_freedom(df, t)),
        "t": lambda g, df, t: times(g, t_density(df, t)),
    },
    "special.stdtrit": {
        "df": lambda g, df, out: times(g, -_t_by_freedom(df, out) / t_density(df, out)),
        "p": lambda g, df, out: times(g, 1.0 / t_density(df, out)),
    },
}

# Rules of the derivatives by parameters, which users do not call.
INNER_VJP: dict[str, dict[str, Rule]] = {
    "special.gammainc_a": {
        "a": lambda g, a, x, order: times(g, gammainc_a(a, x, order + 1)),
        "x": lambda g, a, x, order: times(g, gamma_density(a, x) * gamma_factor(a, x, order)),
    },
    # `y` is 1 - x, and x has the derivative by both.
    "special.betainc_ab": {
        "a": lambda g, a, b, x, y, by_a, by_b: times(g, betainc_ab(a, b, x, y, by_a + 1, by_b)),
        "b": lambda g, a, b, x, y, by_a, by_b: times(g, betainc_ab(a, b, x, y, by_a, by_b + 1)),
        "x": lambda g, a, b, x, y, by_a, by_b: times(
            g, beta_density(a, b, x, y) * beta_factor(a, b, x, y, (by_a, by_b))
        ),
        "y": lambda g: None,
    },
}

UNKNOWN: dict[str, dict[str, str]] = {
    **{f"special.{name}": {"k": COUNT, "n": COUNT} for name in ("bdtr", "bdtrc", "bdtri")},
    **{f"special.n{name}": {"k": COUNT, "n": COUNT} for name in ("bdtr", "bdtrc", "bdtri")},
    **{f"special.{name}": {"k": COUNT} for name in ("pdtr", "pdtrc", "pdtri")},
}
