"""Distributions of `stride0.autograd.scipy.stats` at edges of values and parameters: SciPy is the judge."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers import quietly

import stride0 as xp
from stride0.autograd import grad, jvp, vmap
from stride0.autograd.scipy import patched
from stride0.autograd.scipy import stats as ours
from stride0.testing import check_grad

pytest.importorskip("scipy", minversion="1.17", reason="the judge is SciPy 1.17")
theirs = importlib.import_module("scipy.stats")
mp = pytest.importorskip("mpmath")

SHAPES = {
    **dict.fromkeys(("norm", "expon", "uniform", "logistic", "laplace", "cauchy"), 0),
    **{"lognorm": 1, "gamma": 1, "chi2": 1, "t": 1, "beta": 2},
}
DENSITIES = ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf")
QUANTILES = ("ppf", "isf")
INF, NAN = np.inf, np.nan
NEAR = (-INF, -1, -1e-300, -0.0, 0, 1e-20, 1e-10, 0.1, 0.5, 0.9, 1 - 1e-10, 1, 1 + 1e-10, 2, INF, NAN)
X = np.asarray([-1e5, -40, -3, 5, 40, 600, *NEAR])
Q = np.asarray(NEAR)
PARAMETERS = [2.0, 1.0, 0.5, 0.0, -0.0, -1.0, NAN, 1e-10, 30.0, 1e5]
PLACES = np.asarray(
    [(0, 1), (1, 2), (0, 0), (0, -0.0), (0, -1), (0, NAN), (NAN, 1), (INF, 1), (0, INF), (0, 1e-300)]
)

each = pytest.mark.parametrize("name", SHAPES)
method = pytest.mark.parametrize("what", (*DENSITIES, *QUANTILES))


def shapes(name: str) -> list[tuple[float, ...]]:
    count = SHAPES[name]
    grid = np.meshgrid(*[PARAMETERS] * count)
    return list(zip(*(g.ravel() for g in grid), strict=True)) if count else [()]


def functions(name: str, what: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    return getattr(getattr(ours, name), what), getattr(getattr(theirs, name), what)


def known(name: str, what: str, z: Any, shape: tuple[float, ...] = ()) -> Any:
    """Return where SciPy is right at standard values; elsewhere, mpmath judges in the tests of far tails."""
    density, tiny = what in ("pdf", "logpdf"), 1e-10 in shape
    if name in ("gamma", "chi2") and density:
        return ~np.isinf(z)  # SciPy gives NaN
    if name == "t" and density:
        return ~(np.abs(z) > 1e150)  # squares leave the range
    if name == "laplace" and what in ("logpdf", "logcdf", "logsf"):
        return ~(np.abs(z) > 700)  # logarithms of 0
    if name in ("t", "beta") and what in QUANTILES:
        return ~((z > 0) & (z < (1 if tiny else 1e-9)))  # the tail does not reach the end
    return np.ones_like(z, dtype=bool)


@method
@each
def test_values_and_nans_are_scipys(name: str, what: str) -> None:
    mine, judge = functions(name, what)
    values = Q if what in QUANTILES else X
    loc, scale = PLACES[:, :1], PLACES[:, 1:]
    for shape in shapes(name):
        expected = quietly(judge, values, *shape, loc, scale)
        found = np.asarray(mine(xp.asarray(values), *shape, xp.asarray(loc), xp.asarray(scale)))
        z = values if what in QUANTILES else quietly(lambda: (values - loc) / scale)
        good = known(name, what, np.broadcast_to(z, expected.shape), shape)
        # Logarithms of values near 1 have the error of SciPy's large terms.
        small = 1e-9 if what == "logpdf" else 1e-14
        close = np.isclose(found, expected, rtol=2e-10, atol=small, equal_nan=True) | ~good
        wrong = [(shape, *PLACES[i], values[k], found[i, k], expected[i, k]) for i, k in np.argwhere(~close)]
        assert not wrong, wrong[:5]


@method
@each
def test_other_dtypes_and_broadcasting(name: str, what: str) -> None:
    mine, judge = functions(name, what)
    shape = (2, 3)[: SHAPES[name]]
    for dtype in (np.float32, np.int64, np.int32):
        arrays = [np.asarray(v, dtype=dtype) for v in ([0, 1], *shape, 0, 1)]
        expected = quietly(judge, *arrays)
        found = mine(*map(xp.asarray, arrays))
        assert found.dtype.name == expected.dtype.name == "float64"
        # SciPy computes some terms in float32.
        assert np.allclose(found, expected, rtol=1e-6 if dtype is np.float32 else 1e-12, equal_nan=True)
    x, loc, scale = np.linspace(0.1, 0.9, 3), np.zeros((2, 1)), np.ones((4, 1, 1))
    parameters = [np.full((5, 1, 1, 1), float(s)) for s in shape]
    found = mine(*map(xp.asarray, (x, *parameters, loc, scale)))
    expected = judge(x, *parameters, loc, scale)
    assert found.shape == expected.shape
    assert np.allclose(found, expected, rtol=1e-12)
    assert mine(xp.zeros((0, 3)), *shape).shape == (0, 3)


@method
@each
def test_scipys_functions_are_the_same(name: str, what: str) -> None:
    """Within `patched`, tracked arrays give the values that SciPy gives for untracked arrays."""
    shape = (1.5, 2.5)[: SHAPES[name]]
    values = Q if what in QUANTILES else X
    x = xp.asarray(values)
    for scale in (1.2, 0.0, -1.0, NAN):
        expected = quietly(functions(name, what)[1], values, *shape, 0.3, scale)
        with patched():
            judge = functions(name, what)[1]
            found, tangent = jvp(lambda x: judge(x, *shape, loc=0.3, scale=scale), (x,), (xp.ones_like(x),))  # noqa: B023
            by_x = grad(lambda x: judge(x, *shape, loc=0.3, scale=scale))  # noqa: B023
            slope = vmap(by_x)(x)
        mine = functions(name, what)[0]
        batch = vmap(lambda x, s: mine(x, *shape, 0.3, s))(x, xp.full(x.shape, scale))  # noqa: B023
        z = values if what in QUANTILES else quietly(lambda: (values - 0.3) / scale)  # noqa: B023
        good = known(name, what, z)
        assert np.allclose(np.asarray(found)[good], expected[good], rtol=2e-10, atol=1e-14, equal_nan=True)
        assert np.array_equal(batch, found, equal_nan=True)
        assert np.allclose(slope[:-1], tangent[:-1], rtol=1e-14, equal_nan=True)


# --- derivatives: the density is that of the distribution function, also at the ends

ENDS = {
    "expon": [0.0],
    "uniform": [0.0, 1.0],
    "lognorm": [0.0],
    "gamma": [0.0],
    "chi2": [0.0],
    "beta": [0.0, 1.0],
}
ORDINARY = {"gamma": [(1.0,), (2.0,), (3.5,)], "chi2": [(2.0,), (4.0,), (7.0,)], "t": [(1.0,), (5.5,)]}
ORDINARY |= {"lognorm": [(0.8,)], "beta": [(1.0, 1.0), (2.0, 1.0), (1.0, 3.0), (2.5, 3.0)]}


@each
def test_the_density_is_the_derivative(name: str) -> None:
    d = getattr(ours, name)
    inside = [0.0, -0.0, -2.0, 0.5, 7.0, -50.0, INF, -INF, *ENDS.get(name, []), -1.0, 1.5]
    for shape in ORDINARY.get(name, [()]):
        for z in map(xp.asarray, inside):
            density = float(d.pdf(z, *shape))
            assert float(grad(lambda z: d.cdf(z, *shape))(z)) == pytest.approx(density, rel=1e-9)  # noqa: B023
            assert float(grad(lambda z: d.sf(z, *shape))(z)) == pytest.approx(-density, rel=1e-9)  # noqa: B023
            for what, sign in (("logcdf", 1), ("logsf", -1)):
                value = float(np.exp(getattr(d, what)(z, *shape)))
                if value and density:
                    found = grad(lambda z: getattr(d, what)(z, *shape))(z)  # noqa: B023
                    assert float(found) == pytest.approx(sign * density / value, rel=1e-9)


@each
def test_derivatives_of_quantiles(name: str) -> None:
    d = getattr(ours, name)
    for shape in ORDINARY.get(name, [()]):
        for q in (0.0, 1e-5, 0.25, 0.5, 0.75, 0.999, 1.0):
            for what, sign in (("ppf", 1), ("isf", -1)):
                quantile = getattr(d, what)
                density = float(d.pdf(quantile(q, *shape), *shape))
                found = grad(lambda q: quantile(q, *shape))(xp.asarray(q))  # noqa: B023
                assert float(found) == pytest.approx(sign / density if density else sign * INF, rel=1e-7)


@each
def test_higher_derivatives_of_densities(name: str) -> None:
    """Derivatives by value and parameters, also if other elements are at an end or invalid."""
    d = getattr(ours, name)
    shape = ORDINARY.get(name, [()])[-1]
    x = xp.asarray([0.2, 0.45, 0.8])
    loc, scale = xp.asarray(0.05), xp.asarray(1.3)
    for what in ("pdf", "logpdf"):
        check_grad(getattr(d, what), x, *map(xp.asarray, shape), loc, scale, order=2, rtol=1e-5, atol=1e-6)

    def total(loc: Any, scale: Any) -> Any:
        values = xp.stack([loc * 0 + v for v in (-1.0, 0.4, INF, -INF)])
        scales = xp.stack([scale, scale, scale, scale, -scale, scale * 0])[:, None]
        found = d.pdf(values, *shape, loc, scales)
        return xp.sum(xp.where(xp.isnan(found), 0, found))

    alone = grad(grad(lambda s: 4 * d.pdf(0.4, *shape, 0.1, s) + 4 * d.pdf(-1.0, *shape, 0.1, s)))
    found = grad(grad(lambda s: total(xp.asarray(0.1), s)))(scale)
    assert float(found) == pytest.approx(float(alone(scale)), rel=1e-10)


@pytest.mark.parametrize(
    ("name", "shape", "end", "expected"),
    [
        ("gamma", (2.0,), 0.0, (0, 1, -2, 3)),
        ("gamma", (1.0,), 0.0, (1, -1, 1, -1)),
        ("gamma", (3.0,), 0.0, (0, 0, 1, -3)),
        ("gamma", (2.5,), 0.0, (0, 0, INF, -INF)),
        ("gamma", (0.5,), 0.0, (INF, -INF, INF, -INF)),
        ("chi2", (4.0,), 0.0, (0, 0.25, -0.25, 0.1875)),
        ("beta", (2.0, 3.0), 0.0, (0, 12, -48, 72)),
        ("beta", (2.0, 3.0), 1.0, (0, 0, 24, 72)),
        ("beta", (1.0, 1.0), 0.0, (1, 0, 0, 0)),
        ("beta", (0.5, 2.0), 0.0, (INF, -INF, INF, -INF)),
        ("beta", (2.0, 0.5), 1.0, (INF, INF, INF, INF)),
        ("expon", (), 0.0, (1, -1, 1, -1)),
        ("uniform", (), 1.0, (1, 0, 0, 0)),
        ("lognorm", (0.7,), 0.0, (0, 0, 0, 0)),
    ],
)
def test_densities_at_the_ends(name: str, shape: Any, end: float, expected: Any) -> None:
    def f(z: Any) -> Any:
        return getattr(ours, name).pdf(z, *shape)

    for value in expected:
        assert float(f(xp.asarray(end))) == pytest.approx(value, rel=1e-13, abs=1e-13)
        f = grad(f)


def test_parameters_where_the_density_has_an_infinite_slope() -> None:
    """At 0, ``z**(1/2)`` is 0 for every scale and shape."""
    at = {name: xp.asarray(v) for name, v in {"a": 1.5, "b": 2.0, "scale": 2.0}.items()}
    for what in ("pdf", "cdf"):
        for name, value in at.items():
            f = getattr(ours.beta, what)
            by_name = grad(lambda v: f(0.0, **{**at, name: v}))  # noqa: B023
            assert [float(by_name(value)), float(grad(by_name)(value))] == [0, 0]
    by_scale = grad(lambda s: ours.gamma.pdf(0.0, 1.0, scale=s))
    assert float(by_scale(xp.asarray(2.0))) == pytest.approx(-0.25)
    # It jumps from infinity to 0 as the shape passes 1.
    assert float(grad(lambda a: ours.gamma.pdf(0.0, a))(xp.asarray(1.0))) == -INF
    assert float(grad(lambda b: ours.beta.pdf(1.0, 2.0, b))(xp.asarray(1.0))) == -INF
    mixed = grad(lambda x: grad(lambda s: ours.expon.cdf(x, 0.0, s))(xp.asarray(2.0)))
    assert float(mixed(xp.asarray(0.0))) == pytest.approx(-0.25)


# --- far tails, with mpmath as judge


def _logistic(z: Any) -> Any:
    return 1 / (1 + mp.exp(-z))


FAR: list[tuple[str, str, tuple[float, ...], float, Callable[..., Any]]] = [
    *(("cauchy", "cdf", (), -z, lambda z: mp.atan(-1 / z) / mp.pi) for z in (3.0, 1e10, 1e100, 1e300)),
    *(("cauchy", "sf", (), z, lambda z: mp.atan(1 / z) / mp.pi) for z in (3.0, 1e10, 1e100, 1e300)),
    *(("cauchy", "logsf", (), -z, lambda z: mp.log1p(mp.atan(1 / z) / mp.pi)) for z in (1e10, 1e100)),
    *(
        ("cauchy", "logpdf", (), z, lambda z: -mp.log(mp.pi * (1 + z * z)))
        for z in (1e-9, 1e10, 1e200, -1e300)
    ),
    *(
        ("cauchy", "ppf", (), q, lambda q: -mp.cot(mp.pi * q))
        for q in (1e-300, 1e-20, 0.2, 0.25, 0.4, 0.75, 0.9)
    ),
    ("cauchy", "isf", (), 1e-100, lambda q: mp.cot(mp.pi * q)),
    *(
        ("laplace", w, (), z, lambda z: -abs(z) - mp.log(2))
        for w, z in (("logpdf", 800.0), ("logcdf", -1e10))
    ),
    ("laplace", "logsf", (), 1e300, lambda z: -z),
    ("laplace", "logcdf", (), 40.0, lambda z: mp.log1p(-mp.exp(-z) / 2)),
    ("laplace", "isf", (), 1e-300, lambda q: -mp.log(2 * q)),
    ("laplace", "ppf", (), 0.75, lambda q: mp.log(2)),
    *(("logistic", "logcdf", (), z, lambda z: mp.log(_logistic(z))) for z in (-800.0, 30.0, 800.0)),
    *(("norm", "logcdf", (), z, lambda z: mp.log(mp.ncdf(z))) for z in (-35.0, 10.0)),
    ("expon", "logcdf", (), 40.0, lambda z: mp.log1p(-mp.exp(-z))),
    ("uniform", "logsf", (), 1e-300, lambda z: -z),
    ("lognorm", "logcdf", (2.0,), 1e-40, lambda z, s: mp.log(mp.ncdf(mp.log(z) / s))),
    ("lognorm", "logsf", (0.5,), 1e5, lambda z, s: mp.log(mp.ncdf(-mp.log(z) / s))),
    *(("t", "logpdf", (n,), 1e200, lambda z, n: _log_t(n, z)) for n in (0.5, 3.0, 1e5)),
    *(("t", "ppf", (n,), 1e-200, lambda q, n: _t_tail(n, q)) for n in (3.0, 10.0, 1.0)),
    ("t", "isf", (3.0,), 1e-300, lambda q, n: -_t_tail(n, q)),
    *(
        ("beta", "ppf", (2.0, b), 1e-100, lambda q, a, b: mp.sqrt(q * 2 * mp.beta(a, b)))
        for b in (0.5, 30.0, 1e5)
    ),
    ("beta", "ppf", (0.5, 2.0), 1e-100, lambda q, a, b: (q * mp.beta(a, b) / 2) ** 2),
    *(("gamma", "logpdf", (a,), z, lambda z, a: _log_gamma(a, z)) for a, z in ((1e10, 1e10), (2.0, 1e5))),
    ("gamma", "logpdf", (1e5,), 1e5, lambda z, a: _log_gamma(a, z)),
    ("chi2", "logpdf", (2e9,), 2e9, lambda z, n: _log_gamma(n / 2, z / 2) - mp.log(2)),
    ("beta", "pdf", (2.0, 1e10), 1e-200, lambda z, a, b: z * b * (b + 1)),
]


def _log_gamma(a: Any, z: Any) -> Any:
    return (a - 1) * mp.log(z) - z - mp.loggamma(a)


def _log_t(n: Any, z: Any) -> Any:
    norm = mp.loggamma((n + 1) / 2) - mp.loggamma(n / 2) - mp.log(n * mp.pi) / 2
    return norm - (n + 1) / 2 * mp.log1p(z * z / n)


def _t_tail(n: Any, q: Any) -> Any:
    """Return the quantile of a probability so small that the tail is a power."""
    return -mp.sqrt(n) * (q * n * mp.beta(n / 2, mp.mpf(1) / 2)) ** (-1 / n)


@pytest.mark.parametrize(
    ("name", "what", "shape", "z", "judge"), FAR, ids=lambda v: None if callable(v) else str(v)
)
def test_far_tails(name: str, what: str, shape: Any, z: float, judge: Callable[..., Any]) -> None:
    with mp.workdps(60):
        expected = float(judge(mp.mpf(z), *map(mp.mpf, shape)))
    assert float(getattr(getattr(ours, name), what)(xp.asarray(z), *shape)) == pytest.approx(
        expected, rel=2e-12
    )


# --- parameters by name, and refusals


def test_shapes_by_name() -> None:
    found = ours.beta.cdf(xp.asarray(0.3), b=3.0, scale=2.0, a=xp.asarray(2.0))
    assert float(found) == pytest.approx(theirs.beta.cdf(0.3, 2, 3, scale=2))
    with patched():
        by_a = grad(lambda a: theirs.gamma.logpdf(1.5, a=a))(xp.asarray(2.0))
    assert float(by_a) == pytest.approx(np.log(1.5) - 0.42278433509846713)


@pytest.mark.parametrize(
    ("args", "named", "problem"),
    [
        ((), {}, "a is missing"),
        ((1.0,), {"a": 2.0}, "a is given twice"),
        ((1.0,), {"b": 2.0}, "b is not supported"),
        ((1.0, 2.0, 3.0, 4.0), {}, "4 parameters by position"),
        ((1j,), {}, "a is complex"),
    ],
)
def test_wrong_parameters(args: Any, named: Any, problem: str) -> None:
    for what in (*DENSITIES, *QUANTILES):
        with pytest.raises(TypeError, match=problem):
            getattr(ours.gamma, what)(0.5, *args, **named)
