"""Derivatives of `stride0.special` against mpmath, and derivatives that are refused."""

from __future__ import annotations

import functools
import inspect
import itertools
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0._tables.operations import OPS
from stride0.autograd import NO_GRAD, REFUSED, VJP, GradientError, grad, hessian, vmap
from stride0.autograd._rules.table import UNKNOWN
from stride0.special import _ufuncs
from stride0.testing import check_grad

pytest.importorskip("scipy")
pytest.importorskip("mpmath")

from mpmath import mp
from special_references import REFERENCES

special = xp.special
RULES = {name.partition(".")[2]: rules for name, rules in VJP.items() if name.startswith("special.")}
# Functions with other kinds of parameters have separate tests.
OTHERS = {"airy", "fresnel", "log_softmax", "logsumexp", "shichi", "sici", "softmax", "softplus"}
# mpmath needs seconds for a derivative at one of their points.
FEW = {
    "betainccinv",
    "betaincinv",
    "chdtri",
    "fdtri",
    "gammainccinv",
    "gammaincinv",
    "kn",
    "kv",
    "lpmv",
    "owens_t",
    "stdtrit",
}


def public() -> set[str]:
    """The names of all functions except the standard's, one name for each function."""
    return {getattr(special, name).__name__ for name in special.__all__ if not hasattr(xp, name)}


def test_every_function_has_rules_or_a_refusal() -> None:
    known = {name.partition(".")[2] for name in {*VJP, *NO_GRAD, *REFUSED} if name.startswith("special.")}
    assert known == public()


def test_every_argument_has_a_rule_or_a_refusal() -> None:
    for name, rules in RULES.items():
        parameters = inspect.signature(getattr(special, name)).parameters
        # Settings, which are no arrays.
        settings = {"axis", "d", "keepdims", "return_sign", "tol"} if name != "radian" else set()
        settings |= {"k"} if name == "lambertw" else set()
        unknown = UNKNOWN.get(f"special.{name}", {})
        assert {*rules, *unknown} == set(parameters) - settings, name
        assert not {*rules} & {*unknown}, name


def test_every_rule_has_a_reference() -> None:
    assert set(RULES) - OTHERS == set(REFERENCES) & set(RULES)
    assert not set(REFERENCES) - set(RULES)


class Points:
    """The points of a reference as arrays, and the function on them."""

    def __init__(self, name: str) -> None:
        self.name, self.function, self.reference = name, getattr(special, name), REFERENCES[name]
        self.points = self.reference.points[:: 5 if name in FEW else 1]
        self.columns = [np.asarray(column) for column in zip(*self.points, strict=True)]
        self.arrays = [xp.asarray(column) for column in self.columns]
        self.parameters = list(inspect.signature(self.function).parameters)

    def call(self, *xs: Any) -> Any:
        if self.name == "multigammaln":
            dimensions = [int(d) for d in self.columns[1]]
            return xp.stack([self.function(xs[0][i], d) for i, d in enumerate(dimensions)])
        return xp.real(self.function(*xs))

    def derivative(self, i: int, at: list[Any]) -> Any:
        """The derivative by argument `i` at each point."""
        return grad(lambda x: xp.sum(self.call(*at[:i], x, *at[i + 1 :])))(at[i])

    def compare(self, got: Any, orders: tuple[int, ...], tolerance: float) -> None:
        for value, point in zip(np.asarray(got), self.points, strict=True):
            with mp.workdps(60):
                at = tuple(mp.mpf(x) for x in point)
                expected = mp.re(mp.diff(self.reference.value, at, orders))
                error = abs(mp.mpf(float(value)) - expected)
                if abs(expected) > mp.mpf(10) ** -25:
                    error /= abs(expected)
                # Otherwise the derivative is 0, up to the error of mpmath's differences.
            assert error <= tolerance, (self.name, point, orders, float(value), mp.nstr(expected, 17))


@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_first_derivatives(name: str) -> None:
    points = Points(name)
    for parameter in RULES[name]:
        i = points.parameters.index(parameter)
        orders = tuple(int(k == i) for k in range(len(points.arrays)))
        points.compare(points.derivative(i, points.arrays), orders, points.reference.tolerances[1])


@pytest.mark.parametrize("name", sorted(set(REFERENCES) - FEW))
def test_second_derivatives(name: str) -> None:
    points = Points(name)
    numbers = [points.parameters.index(parameter) for parameter in RULES[name]]
    count = len(points.arrays)
    for i in numbers:
        for j in numbers:
            orders = tuple(int(k == i) + int(k == j) for k in range(count))

            def total(x: Any, i: int = i, j: int = j) -> Any:
                at = [*points.arrays[:j], x, *points.arrays[j + 1 :]]
                return xp.sum(points.derivative(i, at))

            got = grad(total)(points.arrays[j])
            points.compare(got, orders, points.reference.tolerances[2])


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        (name, p)
        for name, found in sorted(UNKNOWN.items())
        for p in found
        if name.partition(".")[2] in special.__all__
    ],
)
@pytest.mark.filterwarnings("ignore")  # SciPy warns of numbers that should be integers
def test_unknown_derivatives_are_refused(name: str, parameter: str) -> None:
    function = getattr(special, name.partition(".")[2])
    required = [p for p, found in inspect.signature(function).parameters.items() if p != "tol" and found]
    values = [xp.asarray(2.0) if p == parameter else 0.4 for p in required]
    refusal: Any = (GradientError, rf"{name}: {parameter} has no gradient: ")
    if parameter == "n" and name.partition(".")[2].startswith(("eval_hermite", "spherical_")):
        refusal = (xp.DTypeError, rf"{name}: Unsupported dtype float64")  # tracked arrays are not integers
    with pytest.raises(refusal[0], match=refusal[1]):
        grad(lambda x: xp.real(function(*[x if p == parameter else 0.4 for p in required])))(
            values[required.index(parameter)]
        )


# --- derivatives of higher orders by parameters


@pytest.mark.parametrize("order", [1, 2, 3])
def test_derivatives_of_gammainc_by_its_parameter(order: int) -> None:
    from stride0.special._parameters import gammainc_a

    a, x = (
        np.asarray(column)
        for column in zip(
            *itertools.product((0.1, 0.5, 2.5, 10.0, 50.0), (1e-3, 0.7, 3.0, 11.0, 60.0)), strict=True
        )
    )
    derivative = gammainc_a(xp.asarray(a), xp.asarray(x), order)
    differentiated = special.gammainc
    for _ in range(order):
        differentiated = functools.partial(lambda f, a, x: grad(lambda a: xp.sum(f(a, x)))(a), differentiated)
    again = differentiated(xp.asarray(a), xp.asarray(x))
    np.testing.assert_array_equal(np.asarray(again), np.asarray(derivative))
    with mp.workdps(40):
        for value, b, y in zip(np.asarray(derivative), a, x, strict=True):
            f = lambda t, y=y: mp.gammainc(t, 0, mp.mpf(y), regularized=True)  # noqa: E731
            expected = float(mp.diff(f, mp.mpf(b), order))
            assert abs(value - expected) <= 1e-11 * abs(expected), (b, y)


@pytest.mark.parametrize("orders", [(1, 0), (0, 1), (2, 0), (1, 1), (0, 2), (2, 1), (1, 2)])
def test_derivatives_of_betainc_by_its_parameters(orders: tuple[int, int]) -> None:
    from stride0.special._parameters import betainc_ab

    points = list(itertools.product((0.05, 1.0, 2.5, 20.0), (0.7, 3.0, 15.0), (1e-3, 0.2, 0.55, 0.9)))
    a, b, x = (xp.asarray(np.asarray(column)) for column in zip(*points, strict=True))
    found = betainc_ab(a, b, x, 1.0 - x, *orders)
    differentiated = special.betainc
    for number in (0,) * orders[0] + (1,) * orders[1]:
        differentiated = functools.partial(
            lambda f, k, a, b, x: grad(lambda *at: xp.sum(f(*at)), argnums=k)(a, b, x), differentiated, number
        )
    np.testing.assert_allclose(np.asarray(differentiated(a, b, x)), np.asarray(found), rtol=1e-9)
    with mp.workdps(40):
        for value, (s, t, y) in zip(np.asarray(found), points, strict=True):
            f = lambda a, b, y=y: mp.betainc(a, b, 0, mp.mpf(y), regularized=True)  # noqa: E731
            expected = float(mp.diff(f, (mp.mpf(s), mp.mpf(t)), orders))
            assert abs(value - expected) <= 1e-10 * abs(expected), (s, t, y)


def test_mixed_derivatives_by_parameters_and_arguments() -> None:
    def f(v: Any) -> Any:
        return special.betainc(v[0], v[1], v[2]) * special.gammaincc(v[3], v[4])

    v = xp.asarray([2.5, 1.4, 0.35, 3.2, 2.1])
    check_grad(f, v, order=3)
    found = hessian(f)(v)
    np.testing.assert_allclose(np.asarray(found), np.asarray(found).T, rtol=1e-11)
    rows = xp.stack([v, v * 0.9])
    np.testing.assert_allclose(np.asarray(vmap(hessian(f))(rows)[0]), np.asarray(found), rtol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_derivatives_of_zeta_by_its_exponent(order: int) -> None:
    def by_exponent(f: Any, times: int) -> Any:
        for _ in range(times):
            f = functools.partial(lambda f, x: grad(lambda x: xp.sum(f(x)))(x), f)
        return f

    exponents, starts = (1.0001, 1.1, 2.0, 3.7, 10.0, 25.0), (0.01, 0.5, 1.0, 2.5, 17.0, 1e4)
    for q in starts:
        found = by_exponent(lambda x, q=q: special.zeta(x, q), order)(xp.asarray(exponents))
        with mp.workdps(150):
            expected = [float(mp.zeta(mp.mpf(x), mp.mpf(q), order)) for x in exponents]
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-11)
    if order < 5:
        at = (-7.3, -4.0, -0.6, -0.4, 0.5, 3.0)
        found = by_exponent(special.zeta, order)(xp.asarray(at))
        with mp.workdps(30):
            expected = [float(mp.zeta(mp.mpf(x), 1, order)) for x in at]
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-10)
    with pytest.raises(
        GradientError, match=r"special\.zeta: the derivative with respect to a complex x is not known"
    ):
        grad(lambda z: xp.real(special.zeta(z)))(xp.asarray(2.0 + 1.0j))


def test_zeta_by_both_arguments_in_single_precision_and_where_it_is_not_defined() -> None:
    check_grad(lambda x, q: special.zeta(x, q), xp.asarray([1.7, 4.2]), xp.asarray([0.6, 3.1]), order=3)
    x = xp.asarray([1.5, 3.0], dtype=xp.float32)
    found = grad(lambda x: xp.sum(special.zeta(x)))(x)
    assert found.dtype == xp.float32
    expected = [float(mp.zeta(v, 1, 1)) for v in (1.5, 3)]
    np.testing.assert_allclose(np.asarray(found), expected, rtol=2e-7)
    outside = grad(lambda x: xp.sum(special.zeta(x, 2.0)))(xp.asarray([0.5, 1.0, -3.0]))
    assert bool(xp.all(xp.isnan(outside)))
    assert bool(xp.isnan(grad(lambda x: special.zeta(x, -1.5))(xp.asarray(2.5))))


def test_derivatives_of_zeta_at_infinity_are_their_limits() -> None:
    x = xp.asarray([float("inf"), 1e300, 400.0, 3.0])
    for order in (1, 2, 3):

        def slopes(q: Any, x: Any = x, order: int = order) -> Any:
            f = (lambda x: special.zeta(x)) if q is None else (lambda x: special.zeta(x, q))
            for _ in range(order):
                f = functools.partial(lambda f, x: grad(lambda x: xp.sum(f(x)))(x), f)
            return np.asarray(f(x))

        for q in (None, 1.0, 2.5):
            found = slopes(q)
            np.testing.assert_array_equal(found[:2], 0.0)
            with mp.workdps(200):
                expected = [float(mp.zeta(mp.mpf(v), q or 1, order)) for v in (400.0, 3.0)]
            np.testing.assert_allclose(found[2:], expected, rtol=1e-10)
        np.testing.assert_array_equal(slopes(float("inf")), 0.0)
    for below in (1.0, 0.5, float("nan")):
        assert bool(xp.isnan(grad(lambda x: special.zeta(x, float("inf")))(xp.asarray(below))))


# --- other functions


def test_results_of_two() -> None:
    x = xp.asarray([-1.3, 0.4, 2.2])
    np.testing.assert_allclose(
        np.asarray(grad(lambda x: xp.sum(special.fresnel(x).sine))(x)), np.sin(np.pi / 2 * np.asarray(x) ** 2)
    )
    np.testing.assert_allclose(
        np.asarray(grad(lambda x: xp.sum(special.fresnel(x)[1]))(x)), np.cos(np.pi / 2 * np.asarray(x) ** 2)
    )
    y = xp.asarray([0.4, 2.2])
    both = np.sin(np.asarray(y)) / np.asarray(y) + 2 * np.cos(np.asarray(y)) / np.asarray(y)
    found = grad(lambda y: xp.sum(special.sici(y).sine + 2 * special.sici(y).cosine))(y)
    np.testing.assert_allclose(np.asarray(found), both)


A = np.asarray([[0.3, -1.2, 0.8], [1.7, 0.4, -0.6]])
B = np.asarray([[1.1, 0.7, -0.9], [-0.2, 1.4, 0.5]])


def test_exponentials_have_the_gradients_of_differences() -> None:
    from stride0.testing import check_grad

    weights = xp.asarray(B)
    for axis in (None, 0, -1, (0, 1)):
        check_grad(lambda x, axis=axis: special.logsumexp(x, axis=axis), xp.asarray(A))
        check_grad(lambda x, axis=axis: weights * special.softmax(x, axis=axis), xp.asarray(A))
        check_grad(lambda x, axis=axis: weights * special.log_softmax(x, axis=axis), xp.asarray(A))
    check_grad(lambda x, b: special.logsumexp(x, axis=1, b=b), xp.asarray(A), xp.asarray(np.abs(B)))
    check_grad(lambda x, b: special.logsumexp(x, b=b, return_sign=True).out, xp.asarray(A), xp.asarray(B))
    check_grad(lambda x, b: special.logsumexp(x, 0, b, True), xp.asarray(A[0]), xp.asarray(np.abs(B)))
    z = xp.asarray(A + 1j * B)
    check_grad(lambda z: special.logsumexp(z, axis=0), z)
    check_grad(lambda z: special.logsumexp(z, axis=0, return_sign=True).sign, z)


def test_logsumexp_at_infinity() -> None:
    x = xp.asarray([-math.inf, 0.0, 1.0])
    g = np.asarray(grad(special.logsumexp)(x))
    np.testing.assert_allclose(g, [0, 1 / (1 + math.e), math.e / (1 + math.e)])
    g = np.asarray(grad(special.logsumexp)(xp.asarray([-math.inf, -math.inf])))
    assert g.tolist() == [0.5, 0.5]


def test_zero_cotangents_come_through_as_zero() -> None:
    """Infinite derivatives of the branch that `where` does not choose contribute 0 to every order."""
    for name in ("entr", "logit", "cbrt", "erfinv", "ndtri"):
        function = getattr(special, name)
        x = xp.asarray([0.0 if name in ("entr", "logit", "cbrt", "ndtri") else 1.0, 0.3])

        def chosen(x: Any, function: Any = function) -> Any:
            return xp.sum(xp.where(xp.asarray([False, True]), function(x), 0.0))

        assert float(grad(chosen)(x)[0]) == 0.0
        assert float(grad(lambda x, chosen=chosen: xp.sum(grad(chosen)(x)))(x)[0]) == 0.0


def test_edges() -> None:
    assert float(grad(lambda y: special.xlogy(0.0, y))(xp.asarray(0.0))) == 0.0
    assert float(grad(lambda y: special.kl_div(0.0, y))(xp.asarray(0.0))) == 1.0
    assert float(grad(special.expit)(xp.asarray(-800.0))) == 0.0
    assert float(grad(special.log_expit)(xp.asarray(-800.0))) == 1.0
    assert float(grad(special.log_ndtr)(xp.asarray(-1e200))) == pytest.approx(1e200)
    assert float(grad(lambda x: special.gammainc(1.0, x))(xp.asarray(0.0))) == 1.0
    assert float(grad(lambda x: special.gammainc(2.0, x))(xp.asarray(0.0))) == 0.0
    # The mixed derivative of x1 * log(x2) at x1 = 0
    mixed = grad(lambda x: grad(lambda y: special.xlogy(x, y))(xp.asarray(4.0)))(xp.asarray(0.0))
    assert float(mixed) == 0.25


def test_float32_gradients() -> None:
    x = xp.asarray([0.4, 1.3], dtype=xp.float32)
    found = grad(lambda x: xp.sum(special.betainc(x, 2.0, 0.3)))(x)
    assert found.dtype is xp.float32
    wide = grad(lambda x: xp.sum(special.betainc(x, 2.0, 0.3)))(xp.astype(x, xp.float64))
    np.testing.assert_allclose(np.asarray(found), np.asarray(wide), rtol=3e-6)


@pytest.mark.parametrize(
    "name", ["erf", "erfc", "gamma", "digamma", "loggamma", "rgamma", "exp1", "jv", "xlogy"]
)
def test_complex_arguments(name: str) -> None:
    from stride0.testing import check_grad

    z = xp.asarray(np.asarray([0.4 + 0.3j, 1.2 - 0.5j]))
    function = getattr(special, name)
    call = (
        (lambda z: function(1.0, z))
        if name == "jv"
        else (lambda z: function(z, z))
        if name == "xlogy"
        else function
    )
    check_grad(call, z, order=1)


def test_jax_agrees() -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    a, b, x = (np.asarray(v) for v in ([0.7, 3.0, 12.0], [2.2, 0.9, 4.0], [0.3, 0.6, 0.7]))
    # JAX refuses the parameters of betainc.
    for k in (2,):
        expected = jax.grad(lambda *v: jax.scipy.special.betainc(*v).sum(), argnums=k)(a, b, x)
        found = grad(lambda *v: xp.sum(special.betainc(*v)), argnums=k)(*(xp.asarray(v) for v in (a, b, x)))
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-7)
    for k in range(2):
        expected = jax.grad(lambda *v: jax.scipy.special.gammainc(*v).sum(), argnums=k)(a, 3 * x)
        found = grad(lambda *v: xp.sum(special.gammainc(*v)), argnums=k)(xp.asarray(a), xp.asarray(3 * x))
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-7)


def test_the_page_lists_what_the_tables_say() -> None:
    """docs/special.md: each function, who computes it, and its derivatives."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "special.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (kernel|composed|SciPy) \| (.*) \| (.*) \|$", page, re.MULTILINE)
    assert {row[0] for row in rows} == public() and len(rows) == len(public())
    kernels = {op.name for op in OPS if op.namespace == "special"}
    ufuncs = set(_ufuncs.__all__)
    for name, by, derivatives, refused in rows:
        key = f"special.{name}"
        assert (by == "kernel") == (name in kernels), name
        assert by == "SciPy" or name not in ufuncs, name
        assert re.findall(r"`(\w+)`", derivatives) == list(VJP.get(key, {})), name
        assert (derivatives == "constant") == (key in NO_GRAD), name
        unknown = list(UNKNOWN.get(key, {})) or (["x"] if key in REFUSED else [])
        assert re.findall(r"`(\w+)`", refused) == unknown, name


def test_zeta_at_an_infinite_exponent() -> None:
    """All terms of the series and their derivatives by `q` are 0 for `q` above 1."""
    q = xp.asarray([1.5, 2.0, 7.0])

    def f(q: Any) -> Any:
        return xp.sum(special.zeta(math.inf, q))

    assert np.all(np.asarray(grad(f)(q)) == 0)
    assert np.all(np.asarray(grad(lambda q: xp.sum(grad(f)(q)))(q)) == 0)
    x = xp.asarray([math.inf] * 3)
    mixed = grad(lambda q: xp.sum(grad(lambda x: xp.sum(special.zeta(x, q)))(x)))(q)
    assert np.all(np.asarray(mixed) == 0)


@pytest.mark.parametrize("order", [0, 1, 2, 4])
def test_complex_digamma(order: int) -> None:
    """Derivatives of any order on both sides of the imaginary axis, near poles and far from the real axis."""
    from stride0.special._polygamma import polygamma_z

    z = np.asarray(
        [
            1 + 2j,
            -0.3 - 4j,
            0.5 + 0j,
            -3 + 1e-6j,
            -2.4 - 1e-9j,
            1e-5 - 1e-5j,
            -40 + 0.3j,
            3 - 200j,
            -7.3 + 150j,
        ]
    )
    at = xp.asarray(z)
    found = polygamma_z(at, order) if order else special.digamma(at)
    with mp.workdps(60):
        expected = [complex(mp.psi(order, mp.mpc(v))) for v in z]
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12)
    # The gradient is the conjugate of the derivative of a holomorphic function.
    f = (lambda z: polygamma_z(z, order)) if order else special.digamma
    gradient = grad(lambda z: xp.sum(xp.real(f(z))))(at)
    np.testing.assert_array_equal(np.asarray(gradient), np.conj(np.asarray(polygamma_z(at, order + 1))))
    assert polygamma_z(xp.astype(at, xp.complex64), 1).dtype is xp.complex64


def test_second_derivatives_of_complex_gamma_functions() -> None:
    z = xp.asarray([1.2 + 0.7j, -0.4 - 1.1j, -2.3 + 0.4j])
    for name in ("gamma", "loggamma", "rgamma", "digamma"):
        check_grad(getattr(special, name), z, order=2)


def test_derivatives_of_several_results() -> None:
    def of_all(f: Any, order: int = 1) -> list[Any]:
        parts = [lambda x, k=k: xp.sum(f(x)[k]) for k in range(len(f(xp.asarray(1.0))))]
        for _ in range(order):
            parts = [functools.partial(lambda p, x: xp.sum(grad(p)(x)), part) for part in parts]
        return parts

    x = np.asarray([-2.3, -0.4, 1e-9, 1.7])
    at = xp.asarray(x)
    for order in (1, 2):
        for k, part in enumerate(of_all(special.airy, order)):
            f = mp.airyai if k < 2 else mp.airybi
            for v, point in zip(x, at, strict=True):
                expected = float(f(mp.mpf(v), derivative=order + k % 2))
                np.testing.assert_allclose(float(part(point)), expected, rtol=1e-12, atol=1e-15)
        for part, f in zip(of_all(special.shichi, order), (mp.shi, mp.chi), strict=True):
            for v in (1e-4, 0.4, 3.0):
                expected = float(mp.diff(f, mp.mpf(v), order))
                np.testing.assert_allclose(float(part(xp.asarray(v))), expected, rtol=1e-10)
    z = xp.asarray([0.3 + 0.4j, -1.2 + 0.1j])
    for k in range(4):
        check_grad(lambda z, k=k: special.airy(z)[k], z)
    check_grad(lambda z: special.shichi(z).sinh, z)


def test_polynomials_at_their_edges_and_of_complex_numbers() -> None:
    x = xp.asarray([-1.0, 0.3, 1.0])
    degrees = xp.asarray([0, 1, 3])
    for name in ("legendre", "chebyt", "chebyu", "hermite", "hermitenorm", "laguerre"):
        f = getattr(special, f"eval_{name}")
        assert np.all(np.asarray(grad(lambda x, f=f: xp.sum(f(0, x)))(x)) == 0)
        found = grad(lambda x, f=f: xp.sum(f(degrees, x)))(x)
        alone = [float(grad(lambda x, f=f, n=n: f(n, x))(x[k])) for k, n in enumerate((0, 1, 3))]
        np.testing.assert_allclose(np.asarray(found), alone, rtol=1e-15)
    z = xp.asarray([0.3 + 0.4j, -1.2 + 0.1j])
    check_grad(lambda z: special.eval_jacobi(3.0, 0.5, 0.2, z), z, order=2)
