"""Derivatives at the ends of the range, where formulas overflow, underflow or cancel before results do."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0.autograd import grad, hessian, hvp, jvp, vmap
from stride0.testing import check_grad

pytest.importorskip("mpmath")

from mpmath import mp

special, linalg = xp.special, xp.linalg


def derivative(f: Callable[[Any], Any], order: int, x: Any) -> Any:
    """The derivative of an elementwise function."""
    for _ in range(order):
        f = _slope(f)
    return f(x)


def _slope(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return grad(lambda x: xp.sum(f(x)))


def expected(f: Callable[[Any], Any], order: int, x: float) -> Any:
    """The derivative by mpmath: a central difference with a tiny step, relative to `x`."""
    bits = 60 + 20 * order
    # Tiny arguments change results of about 1 in distant digits.
    digits = 3000 if 0 < abs(x) < 1e-20 else 1000
    with mp.workprec(bits * (order + 1) + digits):
        at = mp.mpf(x)
        step = mp.mpf(2) ** -bits * (min(abs(at), 1) or 1)
        terms = [
            (-1) ** (order - k) * mp.binomial(order, k) * f(at + (k - mp.mpf(order) / 2) * step)
            for k in range(order + 1)
        ]
        return mp.fsum(terms) / step**order


TINY = (1e-300, 1e-155, 1e-30, 1e-10, 1e-3)
NEAR_1 = (0.5, 0.7, 0.999, 1 - 1e-8)
HUGE = (1e20, 1e100, 1e155, 1e300)


def both(*xs: float) -> tuple[float, ...]:
    return (*xs, *(-x for x in xs))


SWEEPS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], tuple[float, ...]]] = {
    "tanh": (xp.tanh, mp.tanh, (0.0, *both(*TINY, 0.7, 4.0, 9.0, 20.0, 44.0, 300.0))),
    "tan": (xp.tan, mp.tan, both(*TINY, 0.7, 1.5, 1.5707963, 4.0)),
    "asin": (xp.asin, mp.asin, (0.0, *both(*TINY, *NEAR_1))),
    "acos": (xp.acos, mp.acos, (0.0, *both(*TINY, *NEAR_1))),
    "atan": (xp.atan, mp.atan, (0.0, *both(*TINY, *NEAR_1, 3.0, *HUGE))),
    "asinh": (xp.asinh, mp.asinh, (0.0, *both(*TINY, *NEAR_1, 3.0, *HUGE))),
    "acosh": (xp.acosh, mp.acosh, (1 + 1e-8, 1.001, 1.5, 7.0, *HUGE)),
    "atanh": (xp.atanh, mp.atanh, (0.0, *both(*TINY, *NEAR_1, 1 - 2.0**-52))),
    "log2": (xp.log2, lambda x: mp.log(x, 2), (*TINY, 1.0, *HUGE)),
    "log10": (xp.log10, lambda x: mp.log(x, 10), (*TINY, 1.0, *HUGE)),
    "log1p": (xp.log1p, lambda x: mp.log(1 + x), (-0.999, *both(*TINY), 1.0, *HUGE)),
    "expit": (special.expit, lambda x: 1 / (1 + mp.exp(-x)), both(1e-3, 1.0, 9.0, 40.0, 300.0)),
    "softplus": (special.softplus, lambda x: mp.log(1 + mp.exp(x)), both(1e-3, 1.0, 9.0, 40.0, 300.0)),
    "logit": (special.logit, lambda x: mp.log(x / (1 - x)), (1e-100, 1e-10, 0.3, 0.9, 1 - 1e-8)),
    "logaddexp": (
        lambda x: xp.logaddexp(x, 1.0),
        lambda x: mp.log(mp.exp(x) + mp.e),
        (-300.0, -40.0, 0.0, 1.0, 9.0, 40.0, 300.0),
    ),
    "powm1": (lambda y: special.powm1(0.5, y), lambda y: mp.mpf(0.5) ** y, (1e-3, 3.0, 60.0, 900.0)),
    "expi": (special.expi, mp.ei, (-300.0, 0.5, 30.0, 700.0)),
}


def _accuracy(f: Any, order: int, x: float, found: float, dtype: Any) -> tuple[float, str]:
    """The error, in units of the effect of rounding `x` and the result."""
    limits = xp.finfo(dtype)
    value = expected(f, order, x)
    if abs(value) > limits.max or abs(value) < limits.smallest_normal:
        return 0.0, ""
    condition = abs(mp.mpf(x) * expected(f, order + 1, x) / value)
    # Near a pole a rounding of the argument changes everything, but the argument is exact.
    error = abs(mp.mpf(found) / value - 1) if math.isfinite(found) else mp.inf
    return float(error / limits.eps / (1 + min(condition, 1000))), f"{x}: {found}, not {mp.nstr(value, 10)}"


@pytest.mark.parametrize("dtype", [xp.float64, xp.float32])
@pytest.mark.parametrize("name", SWEEPS)
def test_sweeps(name: str, dtype: Any) -> None:
    function, reference, points = SWEEPS[name]
    cast = np.dtype("float64" if dtype is xp.float64 else "float32").type
    with np.errstate(over="ignore"):
        pairs = [(p, float(cast(p))) for p in points]
    # Without points that leave the range, or that round to a singularity at 1
    smallest = float(xp.finfo(dtype).smallest_normal)
    points = tuple(q for p, q in pairs if math.isfinite(q) and (p == 0 or abs(q) >= smallest))
    if name in ("asin", "acos", "atanh", "acosh", "logit"):
        points = tuple(p for p in points if abs(p) != 1)
    x = xp.asarray(points, dtype=dtype)
    for order in (1, 2, 3):
        found = np.asarray(derivative(function, order, x))
        for p, value in zip(points, found, strict=True):
            error, text = _accuracy(reference, order, p, float(value), dtype)
            assert error < 40, (order, text)


COMPLEX = {"tanh": mp.tanh, "tan": mp.tan, "asinh": mp.asinh, "acosh": mp.acosh, "atanh": mp.atanh}
COMPLEX |= {"asin": mp.asin, "acos": mp.acos, "atan": mp.atan}


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_arguments(name: str) -> None:
    function = getattr(xp, name)
    points = [1e-3 + 2e-3j, -0.3 + 0.2j, 0.4 - 0.9j, 3 + 40j, 40 - 3j, -2 + 1j]
    points += [] if name in ("tan", "tanh") else [1e200 + 1e200j, -1e160 + 1e10j]
    points += [1j + 1e-8] if name in ("atan", "asinh") else [1 + 1e-8j]
    for z in points:
        # A gradient is the conjugate of the derivative.
        found = complex(grad(lambda z: xp.real(function(z)))(xp.asarray(z))).conjugate()
        with mp.workprec(3000):
            step = mp.mpf(2) ** -150 * min(abs(z), 1)
            value = (COMPLEX[name](mp.mpc(z) + step) - COMPLEX[name](mp.mpc(z) - step)) / (2 * step)
        assert abs(found - complex(value)) <= 1e-13 * abs(complex(value)), (z, found, complex(value))


def test_branches_of_inverse_functions() -> None:
    # On the cuts the sign of a zero chooses the side.
    for name in ("asinh", "acosh", "atanh", "asin", "acos", "atan"):
        function = getattr(xp, name)
        z = xp.asarray(
            [0.3 + 2j, -0.3 + 2j, -0.3 - 2j, 0.3 - 2j, -3 + 0.1j, 3 - 0.1j, -0.2 - 0.1j, 0.1j + 0.01]
        )
        check_grad(function, z, order=2)


# --- softmax, logsumexp and related functions


def test_shares_of_large_arguments_sum_to_one() -> None:
    x = xp.asarray(np.linspace(1e6 - 3, 1e6 + 3, 1000), dtype=xp.float32)
    for f in (special.logsumexp, lambda x: special.logsumexp(x, b=2.0)):
        assert float(xp.sum(grad(f)(x))) == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize("apart", [0.0, 1.0, 40.0, 300.0])
def test_second_and_third_derivatives_of_shares(apart: float) -> None:
    with mp.workdps(400):
        p = 1 / (1 + mp.exp(-mp.mpf(apart)))
        q, tolerance = 1 - p, 1e-13
        second, third = float(p * q), float(p * q * (q - p))
    x = xp.asarray([apart, 0.0])
    kinds: dict[str, Callable[[Any], Any]] = {
        "logsumexp": special.logsumexp,
        "factors": lambda x: special.logsumexp(x, b=xp.asarray([2.0, 2.0])),
        "softmax": lambda x: special.softmax(x)[0],
        "log_softmax": lambda x: -special.log_softmax(x)[0],
        "logaddexp": lambda x: xp.logaddexp(x[0], x[1]),
    }
    for name, f in kinds.items():
        # softmax is the first derivative of logsumexp.
        order = 1 if name == "softmax" else 2
        f = grad(f) if order == 2 else f
        first = np.asarray(grad(lambda x, f=f, order=order: f(x)[0] if order == 2 else f(x))(x))
        np.testing.assert_allclose(first, [second, -second], rtol=tolerance, err_msg=name)
        g = grad(lambda x, f=f, order=order: f(x)[0] if order == 2 else f(x))
        again = np.asarray(grad(lambda x, g=g: g(x)[0])(x))
        np.testing.assert_allclose(again, [third, -third], rtol=tolerance, err_msg=name)
    both_ways = np.asarray(vmap(hessian(special.logsumexp))(x[None]))[0]
    np.testing.assert_allclose(both_ways, [[second, -second], [-second, second]], rtol=tolerance)
    _, tangent = jvp(lambda x: special.log_softmax(x)[0], (x,), (xp.asarray([1.0, 0.0]),))
    assert float(tangent) == pytest.approx(float(q), rel=tolerance)


def test_infinite_shares() -> None:
    inf = math.inf
    cases = [([inf, 0.0], [1, 0]), ([inf, inf, 1.0], [0.5, 0.5, 0]), ([-inf, -inf], [0.5, 0.5])]
    for x, shares in cases:
        np.testing.assert_array_equal(np.asarray(grad(special.logsumexp)(xp.asarray(x))), shares)
        assert np.all(np.isfinite(np.asarray(hessian(special.logsumexp)(xp.asarray(x)))))
    f = grad(lambda x: xp.sum(xp.logaddexp(x, xp.asarray([inf, -inf, inf, 1.0]))))
    np.testing.assert_array_equal(np.asarray(f(xp.asarray([inf, -inf, 0.0, -inf]))), [0.5, 0.5, 0, 0])


def test_factors_of_logsumexp() -> None:
    a, b = xp.asarray([[0.3, -1.0, 2.0], [1.0, 0.0, 0.5]]), xp.asarray([1.5, 0.0, -0.1])
    check_grad(lambda a, b: special.logsumexp(a, b=b, axis=1), a, b, order=3)
    z = xp.asarray([0.3 + 1j, -1.0 - 0.5j, 2.0 + 0j])
    check_grad(lambda z, b: special.logsumexp(z, b=b), z, b, order=3)


# --- products


@pytest.mark.parametrize("f", [xp.prod, xp.nanprod, lambda x: xp.cumulative_prod(x)[-1]])
@pytest.mark.parametrize(
    ("x", "first", "second"),
    [
        ([1e200, 1e200], [1e200, 1e200], [[0, 1], [1, 0]]),
        ([1e-200, 1e-200], [1e-200, 1e-200], [[0, 1], [1, 0]]),
        ([2.0, math.inf, 3.0], [math.inf, 6, math.inf], [[0, 3, math.inf], [3, 0, 2], [math.inf, 2, 0]]),
        ([0.0, math.inf], [math.inf, 0], [[0, 1], [1, 0]]),
        (
            [1.5, 1e308, 1e-308],
            [1, 1.5e-308, 1.5e308],
            [[0, 1e-308, 1e308], [1e-308, 0, 1.5], [1e308, 1.5, 0]],
        ),
    ],
)
def test_products(f: Callable[[Any], Any], x: list[float], first: Any, second: Any) -> None:
    at = xp.asarray(x)
    np.testing.assert_allclose(np.asarray(grad(f)(at)), first, rtol=1e-15)
    np.testing.assert_allclose(np.asarray(hessian(f)(at)), second, rtol=1e-15)
    np.testing.assert_allclose(np.asarray(vmap(grad(f))(at[None])[0]), first, rtol=1e-15)
    direction = xp.asarray([1.0] + [0.0] * (len(x) - 1))
    assert float(jvp(f, (at,), (direction,))[1]) == pytest.approx(first[0])


@pytest.mark.parametrize("dtype", [xp.float16, xp.bfloat16, xp.float32])
def test_hessians_of_products_in_few_digits(dtype: Any) -> None:
    x = xp.asarray([1.5, 2.5, 0.3], dtype=dtype)
    a, b, c = (float(v) for v in x)
    for f in (xp.prod, lambda x: xp.cumulative_prod(x)[-1]):
        found = np.asarray(xp.astype(hessian(f)(x), xp.float64))
        np.testing.assert_allclose(
            found, [[0, c, b], [c, 0, a], [b, a, 0]], rtol=2 * float(xp.finfo(dtype).eps)
        )


def test_cumulative_products_of_long_and_batched_arrays() -> None:
    x = xp.asarray(1 + 0.1 * np.random.default_rng(0).standard_normal((2, 37)))
    w = np.random.default_rng(1).standard_normal((2, 37))

    def f(x: Any) -> Any:
        return xp.sum(xp.asarray(w) * xp.cumulative_prod(x, axis=1))

    plain, found = np.asarray(x), np.asarray(grad(f)(x))
    sums = np.flip(np.cumsum(np.flip(w * np.cumprod(plain, 1), 1), 1), 1) / plain
    np.testing.assert_allclose(found, sums, rtol=1e-11)
    check_grad(lambda x: xp.cumulative_prod(x, axis=1, include_initial=True), x[:, :5], order=3)
    zeros = xp.asarray([[2.0, 0.0, 3.0, 0.0, 0.5]])
    check_grad(lambda x: xp.cumulative_prod(x, axis=1), zeros, order=3)
    check_grad(xp.prod, zeros, order=3)


# --- norms


NORMS: dict[str, Callable[[Any], Any]] = {
    **{str(ord): lambda x, ord=ord: linalg.vector_norm(x, ord=ord) for ord in (2, 1.5, 3)},
    "matrix": lambda x: linalg.matrix_norm(x[None, :]),
    "spectral": lambda x: linalg.matrix_norm(x[None, :], ord=2),
    "nuclear": lambda x: linalg.matrix_norm(x[None, :], ord="nuc"),
    "std": xp.std,
    "hypot": lambda x: xp.hypot(x[0], x[1]),
}


@pytest.mark.parametrize(("dtype", "scale"), [(xp.float64, 1e200), (xp.float64, 1e-200), (xp.float32, 1e30)])
@pytest.mark.parametrize("name", NORMS)
def test_hessians_of_norms(name: str, dtype: Any, scale: float) -> None:
    f, plain = NORMS[name], xp.asarray([3.0, 4.0, 0.0])
    x = xp.asarray([3 * scale, 4 * scale, 0.0], dtype=dtype)
    tolerance = {"rtol": 1e-5, "atol": 1e-6} if dtype is xp.float32 else {"rtol": 1e-13, "atol": 1e-15}
    np.testing.assert_allclose(np.asarray(grad(f)(x)), np.asarray(grad(f)(plain)), **tolerance)
    # A function of degree 1 has a Hessian of degree -1.
    scaled = np.asarray(hessian(f)(x)).astype("float64") * scale
    np.testing.assert_allclose(scaled, np.asarray(hessian(f)(plain)), **tolerance)


def test_small_curvatures_of_norms() -> None:
    found = np.asarray(hessian(linalg.vector_norm)(xp.asarray([1.0, 1e-10])))
    np.testing.assert_allclose(found, [[1e-20, -1e-10], [-1e-10, 1]], rtol=1e-14)
    found = np.asarray(hessian(lambda x: xp.hypot(x[0], x[1]))(xp.asarray([1e10, 1.0])))
    np.testing.assert_allclose(found, [[1e-30, -1e-20], [-1e-20, 1e-10]], rtol=1e-14)
    check_grad(lambda x: xp.hypot(x, xp.asarray([0.3, -1.0, 0.0])), xp.asarray([-0.4, 0.0, 2.0]), order=3)
    check_grad(linalg.vector_norm, xp.asarray([3 + 4j, 1 - 2j]), order=3)
    check_grad(lambda x: linalg.vector_norm(x, axis=(0, 2)), xp.asarray(np.ones((2, 3, 2))), order=3)
    batch = vmap(hessian(linalg.vector_norm))(xp.asarray([[3e200, 4e200]]))
    np.testing.assert_allclose(np.asarray(batch)[0] * 1e200, [[0.128, -0.096], [-0.096, 0.072]], rtol=1e-13)


# --- special functions


@pytest.mark.parametrize(("a", "b"), [(1e10, 1e10), (1e10, 1e-3), (2.0, 1e10), (1e-10, 3.0), (1e100, 1e100)])
def test_differences_of_psi(a: float, b: float) -> None:
    x = xp.asarray(a)
    with mp.workdps(250):
        for order in (1, 2, 3):
            value = mp.psi(order - 1, a) - mp.psi(order - 1, mp.mpf(a) + mp.mpf(b))
            found = float(derivative(lambda a: special.betaln(a, b), order, x))
            assert abs(value) < 1e-300 or abs(found / value - 1) < 1e-13, (order, found, mp.nstr(value, 17))


def test_poch_and_binom_of_large_arguments() -> None:
    with mp.workdps(60):
        z, m = mp.mpf(1e10), mp.mpf(0.5)
        value = float(mp.rf(z, m) * (mp.psi(0, z + m) - mp.psi(0, z)))
    assert float(grad(lambda z: special.poch(z, 0.5))(xp.asarray(1e10))) == pytest.approx(value, rel=1e-14)
    n = 1e8
    assert float(grad(lambda n: special.binom(n, 3.0))(xp.asarray(n))) == pytest.approx(
        (3 * n * n - 6 * n + 2) / 6, rel=1e-14
    )


@pytest.mark.parametrize(
    ("delta", "r"),
    [(1e200, 1e200), (1e-200, 1e-200), (1.0, 1e200), (1e-200, 1.0), (1e-200, 1e200), (1e5, 1.0)],
)
def test_pseudo_huber(delta: float, r: float) -> None:
    with mp.workdps(60):
        d, x = mp.mpf(delta), mp.mpf(r)
        h = mp.sqrt(d * d + x * x)
        by_delta, by_r, mixed = (h - d) ** 2 / h, d * x / h, x**3 / h**3
    at = (xp.asarray(delta), xp.asarray(r))
    found = [float(g) for g in grad(special.pseudo_huber, argnums=(0, 1))(*at)]
    np.testing.assert_allclose(found, [float(by_delta), float(by_r)], rtol=1e-14)
    again = float(grad(lambda d: grad(lambda r: special.pseudo_huber(d, r))(at[1]))(at[0]))
    assert again == pytest.approx(float(mixed), rel=1e-14)


def test_integrals_of_large_arguments() -> None:
    x = 1e8
    assert float(grad(lambda x: special.sici(x).sine)(xp.asarray(x))) == pytest.approx(
        math.sin(x) / x, rel=1e-14
    )
    assert float(grad(lambda z: special.fresnel(z).sine)(xp.asarray(1001.0))) == 1.0
    with mp.workdps(30):
        value = float(mp.cosh(712) / 712)
        w = mp.lambertw(mp.mpf(1e300))
        slope = float(w / mp.mpf(1e300) / (1 + w))
    assert float(grad(special.expi)(xp.asarray(712.0))) == pytest.approx(2 * value, rel=1e-14)
    assert float(grad(lambda x: special.shichi(x).cosh)(xp.asarray(712.0))) == pytest.approx(value, rel=1e-14)
    found = float(grad(lambda z: xp.real(special.lambertw(z)))(xp.asarray(1e300)))
    assert found == pytest.approx(slope, rel=1e-14)


@pytest.mark.parametrize("dtype", [xp.float64, xp.float32])
@pytest.mark.parametrize("name", ["erfcx", "dawsn", "i0e", "i1e"])
def test_scaled_functions_between_both_forms(name: str, dtype: Any) -> None:
    """Below and above the arguments from which series are summed; `iv` overflows in float32 from 90 on."""
    references: dict[str, Callable[[Any], Any]] = {
        "erfcx": lambda x: mp.exp(x * x) * mp.erfc(x),
        "dawsn": lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x),
        "i0e": lambda x: mp.besseli(0, x) * mp.exp(-x),
        "i1e": lambda x: mp.besseli(1, x) * mp.exp(-x),
    }
    points = (2.0, 3.75, 4.5, 7.25, 7.75, 11.0, 24.0, 26.0, 95.0)
    for order in (1, 2):
        found = np.asarray(derivative(getattr(special, name), order, xp.asarray(points, dtype=dtype)))
        with mp.workdps(30):
            values = [float(mp.diff(references[name], mp.mpf(p), order)) for p in points]
        # The first form loses up to two digits just below the change, and four in the second derivative.
        units = 150 if order == 1 else 4000
        np.testing.assert_allclose(found, values, rtol=units * float(xp.finfo(dtype).eps))


@pytest.mark.parametrize("f", [xp.cumulative_prod, xp.nancumprod])
@pytest.mark.parametrize(
    ("dtype", "x", "tangent", "expected"),
    [
        (xp.float64, [1e160, 3], [0, 1], [0, 1e160]),
        (xp.float32, [1e20, 3], [0, 1], [0, 1e20]),
        (xp.float16, [300, 2, 3], [0, 1, 0], [0, 300, 900]),
        (xp.float64, [1e-170, 3, 2], [0, 1, 0], [0, 1e-170, 2e-170]),
        (xp.complex128, [1e160j, 3], [0, 1], [0, 1e160j]),
    ],
)
def test_tangents_of_products_near_the_ends(
    f: Callable[..., Any], dtype: Any, x: Any, tangent: Any, expected: Any
) -> None:
    at, along = xp.asarray(x, dtype=dtype), xp.asarray(tangent, dtype=dtype)
    found = [jvp(f, (at,), (along,))[1]]
    found.append(vmap(lambda x, t: jvp(f, (x,), (t,))[1])(at[None], along[None])[0])
    for value in found:
        np.testing.assert_allclose(np.asarray(value), np.asarray(expected, dtype=str(dtype)), rtol=1e-6)


def test_gradients_of_products_near_the_ends() -> None:
    weights = xp.asarray([1e160, 1.0])
    found = grad(lambda x: xp.sum(xp.cumulative_prod(x, axis=1) * weights))(xp.asarray([[1e160, 3.0]] * 2))
    np.testing.assert_allclose(np.asarray(found), np.full((2, 2), 1e160), rtol=1e-14)
    found = hvp(xp.prod, xp.asarray([1e-170, 3.0, 2.0]), xp.asarray([0.0, 1.0, 0.0]))
    np.testing.assert_allclose(np.asarray(found), [2, 0, 1e-170], rtol=1e-14)


@pytest.mark.parametrize("dtype", [xp.float64, xp.float32, xp.float16])
def test_log_ndtr_in_its_far_tail(dtype: Any) -> None:
    top = float(xp.finfo(dtype).max)
    units = float(xp.finfo(dtype).eps)
    points = (7.0, 7.75, 8.25, 10.5, 11.5, 30.0, 1e4, 1e8, 1e18, 2e19, 1e38, 1e100, 1.4e154, 1e300)
    for t in (p for p in points if p < top):
        x = xp.asarray(-t, dtype=dtype)
        with mp.workdps(400):
            at = mp.mpf(float(x))
            m = mp.npdf(at) / mp.ncdf(at) if t < 1e8 else -at - 1 / at
            slope = -m * (at + m) if t < 1e8 else -1 + 1 / at**2
            third = -slope * (at + m) - m * (1 + slope) if t < 1e8 else -2 / at**3
        found = [float(derivative(special.log_ndtr, order, x)) for order in (1, 2, 3)]
        np.testing.assert_allclose(found[:2], [float(m), float(slope)], rtol=30 * units)
        # The third derivative of the first form loses five digits just below the change.
        near = t < (11 if dtype == xp.float64 else 8)
        loss, smallest = 2e5 if near else 30, float(xp.finfo(dtype).smallest_normal)
        np.testing.assert_allclose(found[2], float(third), rtol=loss * units, atol=smallest)


@pytest.mark.parametrize("name", ["erfcx", "dawsn", "i0e"])
def test_series_in_half_precision(name: str) -> None:
    """float16 does not hold the last coefficients of the series."""
    f = getattr(special, name)
    for order in (1, 2):
        x = (12.0, 30.0)
        found = np.asarray(derivative(f, order, xp.asarray(x, dtype=xp.float16)))
        expected = np.asarray(derivative(f, order, xp.asarray(x)))
        np.testing.assert_allclose(found, expected, rtol=0.02)
