"""Derivatives of incomplete integrals and distributions of `stride0.special` at the ends of their ranges."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import stride0 as xp
from stride0 import special
from stride0.autograd import grad, jvp, vmap

pytest.importorskip("scipy", reason="SciPy computes these functions")
mp = pytest.importorskip("mpmath")

INF = math.inf


def derivatives(f: Callable[..., Any], x: float, count: int = 4) -> list[float]:
    """Return the derivatives of a function at a point, from the first on."""
    found = []
    for _ in range(count):
        f = grad(f)
        found.append(float(f(xp.asarray(float(x)))))
    return found


def close(found: list[float], expected: list[Any], rel: float = 1e-9) -> None:
    # Exact zeros are sums of terms that cancel.
    assert found == pytest.approx([float(v) for v in expected], rel=rel, abs=1e-11)


def power(x: Any, exponent: Any, order: int) -> Any:
    """Return a derivative of a power, and its limit at 0."""
    factor = mp.ff(exponent, order)
    if not factor:
        return mp.mpf(0)
    left = exponent - order
    return factor * (x**left if x or left > 0 else 1 if not left else mp.inf)


def product(x: Any, first: Any, smooth: Callable[[int], Any], order: int) -> Any:
    """Return a derivative of a power times a smooth function, whose derivatives are given."""
    if x == 0 and first != int(first):
        return power(x, first, order)
    return mp.fsum(mp.binomial(order, j) * power(x, first, j) * smooth(order - j) for j in range(order + 1))


def beta_density(a: Any, b: Any, x: Any, order: int) -> Any:
    a, b, x = map(mp.mpf, (a, b, x))
    if x > 0.5:  # mirrored
        return (-1) ** order * beta_density(b, a, 1 - x, order)
    found = product(x, a - 1, lambda j: (-1) ** j * power(1 - x, b - 1, j), order)
    return found * mp.gamma(a + b) / mp.gamma(a) / mp.gamma(b)


def gamma_density(a: Any, x: Any, order: int) -> Any:
    if x == INF:
        return mp.mpf(0)
    a, x = mp.mpf(a), mp.mpf(x)
    return product(x, a - 1, lambda j: (-1) ** j * mp.exp(-x), order) * mp.rgamma(a)


def f_density(m: Any, n: Any, x: Any, order: int) -> Any:
    if x == INF:
        return mp.mpf(0)
    a, b, c, x = mp.mpf(m) / 2, mp.mpf(n) / 2, mp.mpf(m) / n, mp.mpf(x)
    found = product(x, a - 1, lambda j: c**j * power(1 + c * x, -a - b, j), order)
    return found * c**a / mp.beta(a, b)


@pytest.mark.parametrize("a", [1, 2, 3, 5, 0.5, 1.5, 2.5, 25, 150])
@pytest.mark.parametrize("b", [1, 2, 3, 0.5, 2.5, 25, 1e5])
def test_incomplete_beta_function(a: float, b: float) -> None:
    for x in (0.0, 1.0, 1e-310, 1e-200, 1e-20, 0.3, 0.8, 1 - 2.0**-30, 1 - 2.0**-53):
        with mp.workdps(40):
            expected = [float(beta_density(a, b, x, k)) for k in range(4)]
        # The terms that cancel may be as large as the largest derivative.
        large = max([1.0, *[abs(v) for v in expected if math.isfinite(v)]])
        for sign, f in ((1, special.betainc), (-1, special.betaincc)):
            found = derivatives(lambda x: f(float(a), float(b), x), x)  # noqa: B023
            close([sign * v / large for v in found], [v / large for v in expected])


@pytest.mark.parametrize("a", [1, 2, 3, 4, 0.5, 1.5, 2.5, 19.5, 25, 150])
def test_incomplete_gamma_function(a: float) -> None:
    for x in (0.0, 1e-310, 1e-200, 1e-20, 0.3, 1.0, 19.0, 21.0, 140.0, 1e10, INF):
        with mp.workdps(40):
            expected = [gamma_density(a, x, k) for k in range(4)]
            halves = [gamma_density(mp.mpf(a) / 2, x / 2, k) / mp.mpf(2) ** (k + 1) for k in range(4)]
            rates = [gamma_density(a, 3 * mp.mpf(x), k) * 3 ** (k + 1) for k in range(4)]
        close(derivatives(lambda x: special.gammainc(float(a), x), x), expected)
        close(derivatives(lambda x: -special.gammaincc(float(a), x), x), expected)
        close(derivatives(lambda x: special.chdtr(float(a), x), x), halves)
        close(derivatives(lambda x: -special.chdtrc(float(a), x), x), halves)
        close(derivatives(lambda x: special.gdtr(3.0, float(a), x), x), rates)
        close(derivatives(lambda r: special.gdtr(r, float(a), 3.0), x), rates)


@pytest.mark.parametrize(("m", "n"), [(1, 1), (2, 1), (2, 3), (3, 10), (4, 500), (6, 2), (50, 10)])
def test_distribution_of_f(m: float, n: float) -> None:
    for x in (0.0, 1e-200, 0.7, 50.0, 1e200, INF):
        with mp.workdps(40):
            expected = [f_density(m, n, x, k) for k in range(4)]
        close(derivatives(lambda x: special.fdtr(float(m), float(n), x), x), expected, 1e-8)
        close(derivatives(lambda x: -special.fdtrc(float(m), float(n), x), x), expected, 1e-8)


@pytest.mark.parametrize("p", [0.0, 1.0, 1e-200, 0.3])
def test_counts(p: float) -> None:
    def polynomial(terms: list[tuple[Any, int, int]]) -> list[Any]:
        """Return the derivatives of a sum of products of powers of p and 1 - p."""
        with mp.workdps(40):
            return [
                mp.fsum(
                    c
                    * mp.binomial(k, j)
                    * power(mp.mpf(p), i, j)
                    * (-1) ** (k - j)
                    * power(1 - mp.mpf(p), m, k - j)
                    for c, i, m in terms
                    for j in range(k + 1)
                )
                for k in range(1, 5)
            ]

    for k, n in ((0, 1), (1, 1), (0, 5), (1, 5), (3, 5), (5, 5)):
        expected = polynomial([(mp.binomial(n, j), j, n - j) for j in range(k + 1)])
        close(derivatives(lambda p: special.bdtr(float(k), n, p), p), expected)  # noqa: B023
        close(derivatives(lambda p: -special.bdtrc(float(k), n, p), p), expected)  # noqa: B023
    for k, n in ((0, 1), (1, 1), (3, 1), (3, 2), (1, 5)):
        expected = polynomial([(mp.binomial(n + j - 1, j), n, j) for j in range(k + 1)])
        close(derivatives(lambda p: special.nbdtr(k, n, p), p), expected)  # noqa: B023
        close(derivatives(lambda p: -special.nbdtrc(k, n, p), p), expected)  # noqa: B023
    for k in (0, 1, 2, 5):
        expected = [-gamma_density(k + 1, p, j) for j in range(4)]
        close(derivatives(lambda m: special.pdtr(float(k), m), p), expected)  # noqa: B023
        close(derivatives(lambda m: -special.pdtrc(float(k), m), p), expected)  # noqa: B023


# --- Student's t distribution: also by its degrees of freedom


def t_density(n: Any, t: Any) -> Any:
    norm = mp.gamma((n + 1) / 2) / mp.gamma(n / 2) / mp.sqrt(n * mp.pi)
    return norm * (1 + t * t / n) ** (-(n + 1) / 2)


@pytest.mark.parametrize("df", [0.5, 1.0, 3.0, 300.0, INF])
def test_distribution_of_t(df: float) -> None:
    for t in (0.0, 1e-200, -0.7, math.sqrt(df) if df < INF else 1.0, 50.0, 1e200, INF, -INF):
        with mp.workdps(50):
            step = mp.mpf(10) ** -10 * max(1, abs(t))
            density = mp.npdf if df == INF else lambda t: t_density(mp.mpf(df), t)
            expected = [mp.diff(density, t, k, h=step) if abs(t) < INF else 0 for k in range(4)]
        close(derivatives(lambda t: special.stdtr(df, t), t), expected)


@pytest.mark.parametrize("df", [0.5, 1.0, 3.0, 20.0])
def test_mixed_derivatives_of_t(df: float) -> None:
    """The derivative by `df` is odd and smooth in `t`, although it is computed from roots and a sign."""
    for t in (0.0, 0.3, -1.2, 5.0, INF):
        with mp.workdps(40):
            expected = [
                mp.diff(lambda t: mp.diff(lambda n: t_density(n, t), df), t, k) if t < INF else 0
                for k in range(3)
            ]
            second = mp.diff(lambda n: t_density(n, mp.mpf(t)), df, 2) if t < INF else 0  # noqa: B023

        def by_df(t: Any) -> Any:
            return grad(lambda n: special.stdtr(n, t))(xp.asarray(df))

        def twice(t: Any) -> Any:
            return grad(grad(lambda n: special.stdtr(n, t)))(xp.asarray(df))

        close(derivatives(by_df, t, 3), expected, 1e-7)
        close(derivatives(twice, t, 1), [second], 1e-6)

        def by_t(n: Any, t: Any = t) -> Any:
            return grad(lambda t: special.stdtr(n, t))(xp.asarray(t))

        _, forward = jvp(by_t, (xp.asarray(df),), (xp.asarray(1.0),))
        close([float(forward)], expected[:1], 1e-8)


# --- parameters: at the ends, the functions are constant in them

CONSTANT = [
    *(("gammainc", (a,), x) for a in (0.5, 1.0, 2.5, 30.0) for x in (0.0, INF)),
    *(("betainc", ab, x) for ab in ((2.0, 3.0), (0.5, 0.5), (1.0, 1.0), (40.0, 2.0)) for x in (0.0, 1.0)),
    *(("fdtr", mn, x) for mn in ((2.0, 3.0), (1.0, 1.0), (4.0, 6.0)) for x in (0.0, INF)),
    *(("chdtr", (n,), x) for n in (1.0, 2.0, 5.0) for x in (0.0, INF)),
]


@pytest.mark.parametrize(("name", "parameters", "x"), CONSTANT)
def test_parameters_at_the_ends(name: str, parameters: tuple[float, ...], x: float) -> None:
    for f in (getattr(special, name), getattr(special, f"{name}c")):
        for i, value in enumerate(parameters):

            def g(v: Any, i: int = i, f: Any = f) -> Any:
                return f(*parameters[:i], v, *parameters[i + 1 :], xp.asarray(x))

            at = xp.asarray(value)
            assert derivatives(g, value, 2) == [0, 0]
            assert float(jvp(grad(g), (at,), (xp.asarray(1.0),))[1]) == 0
            assert vmap(grad(g))(xp.stack([at, at])).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("gammaincinv", (2.5,)), ("betaincinv", (2.0, 3.0)), ("betainccinv", (0.5, 1.5)), ("fdtri", (2.0, 3.0))],
)
def test_parameters_of_inverse_functions_at_the_ends(name: str, parameters: tuple[float, ...]) -> None:
    for y in (0.0, 1.0):
        for i, value in enumerate(parameters):

            def g(v: Any, i: int = i, y: float = y) -> Any:
                return getattr(special, name)(*parameters[:i], v, *parameters[i + 1 :], xp.asarray(y))

            assert float(grad(g)(xp.asarray(value))) == 0
