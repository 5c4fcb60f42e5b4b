"""Derivatives of any order along a curve: `jet` and `derivatives`, against mpmath and nested `jvp`."""

from __future__ import annotations

import functools
import gc
import math
import random

import gradient_cases_elementwise as elementwise_cases
import gradient_cases_fft as fft_cases
import gradient_cases_linalg as linalg_cases
import gradient_cases_manipulation as manipulation_cases
import gradient_cases_statistical as statistical_cases
import numpy as np
import pytest
from gradient_cases import Case

import stride0 as xp
from stride0 import autograd, special
from stride0.autograd import derivatives, grad, jet, jvp, vmap
from stride0.autograd._tape.trees import flatten
from stride0.strided import memory_statistics

ORDER = 6
CURVE = [0.7, -0.4, 0.3, 0.9, -1.1, 0.5]  # Taylor coefficients of the argument, from the first order on


def taylor(f, at, dtype=xp.float64):
    """Return the Taylor coefficients of a function along the curve."""
    rows = [xp.asarray(c * math.factorial(k + 1), dtype=dtype) for k, c in enumerate(CURVE)]
    y, found = jet(f, (xp.asarray(at, dtype=dtype),), (rows,))
    assert all(d.dtype == y.dtype and d.shape == y.shape for d in found)
    return np.asarray([complex(y), *(complex(d) / math.factorial(k + 1) for k, d in enumerate(found))])


def expected(f, at):
    """Return the same by mpmath."""
    mp = pytest.importorskip("mpmath").mp
    with mp.workdps(30):
        outer = mp.taylor(f(mp), mp.mpmathify(at), ORDER)
        change = [mp.mpf(0), *map(mp.mpf, CURVE)]
        out, power = [outer[0]] + [mp.mpf(0)] * ORDER, [mp.mpf(1)] + [mp.mpf(0)] * ORDER
        for factor in outer[1:]:
            power = [sum(power[i] * change[k - i] for i in range(k + 1)) for k in range(ORDER + 1)]
            out = [a + factor * b for a, b in zip(out, power, strict=True)]
        return np.asarray([complex(c) for c in out])


def close(found, wanted, tolerance=1e-11):
    found, wanted = np.asarray(found), np.asarray(wanted)
    scale = tolerance * np.abs(wanted).max(initial=0)
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=1e-3 * scale)


def same(name):
    return lambda mp: getattr(mp, name)


FUNCTIONS = {
    "exp": (same("exp"), [0, 1.3, -30]),
    "expm1": (same("expm1"), [0, 1e-9, -40, 2]),
    "log": (same("log"), [0.3, 5]),
    "log1p": (same("log1p"), [0, -0.5, 1e-10]),
    "log2": (lambda mp: lambda x: mp.log(x, 2), [3]),
    "log10": (same("log10"), [3]),
    **{name: (same(name), [0, 1, -2]) for name in ("sin", "cos", "tan", "sinh", "cosh", "asinh", "atan")},
    "tanh": (same("tanh"), [0, 1, 15, -15]),
    "asin": (same("asin"), [0, 0.5, 0.999, -0.9]),
    "acos": (same("acos"), [0, 0.5, -0.999]),
    "acosh": (same("acosh"), [1.01, 3]),
    "atanh": (same("atanh"), [0, 0.5, -0.99]),
    "sqrt": (same("sqrt"), [0.25, 7]),
    "square": (lambda mp: lambda x: x * x, [0, 3]),
    "reciprocal": (lambda mp: lambda x: 1 / x, [0.5, -3]),
    "abs": (lambda mp: lambda x: -x, [-2]),
    "special.cbrt": (same("cbrt"), [2]),
    "special.exp2": (lambda mp: lambda x: mp.power(2, x), [0, 3]),
    "special.exp10": (lambda mp: lambda x: mp.power(10, x), [1]),
    "special.exprel": (lambda mp: lambda x: mp.hyp1f1(1, 2, x), [0, 1e-5, 3, -3, 20, -20]),
    "special.cosm1": (lambda mp: lambda x: mp.cos(x) - 1, [0, 1]),
    "special.cosdg": (lambda mp: lambda x: mp.cos(x * mp.pi / 180), [30]),
    "special.sindg": (lambda mp: lambda x: mp.sin(x * mp.pi / 180), [30]),
    "special.tandg": (lambda mp: lambda x: mp.tan(x * mp.pi / 180), [30]),
    "special.sinc": (lambda mp: lambda x: mp.hyp0f1(1.5, -((mp.pi * x / 2) ** 2)), [0, 1e-6, 0.7, 2.1, 10.3]),
    "special.expit": (lambda mp: lambda x: 1 / (1 + mp.exp(-x)), [0, 40, -40, 2]),
    "special.logit": (lambda mp: lambda x: mp.log(x / (1 - x)), [0.3, 0.99]),
    "special.softplus": (lambda mp: lambda x: mp.log(1 + mp.exp(x)), [0, -30, 30]),
    "special.log_expit": (lambda mp: lambda x: -mp.log(1 + mp.exp(-x)), [0, -30, 30]),
    "special.entr": (lambda mp: lambda x: -x * mp.log(x), [0.4]),
    "special.erf": (same("erf"), [0, 1, -3]),
    "special.erfc": (same("erfc"), [0, 5]),
    "special.erfi": (same("erfi"), [0, 1]),
    "special.ndtr": (same("ncdf"), [0, 2]),
    "special.erfinv": (same("erfinv"), [0, 0.5, -0.9]),
    "special.erfcinv": (lambda mp: lambda x: mp.erfinv(1 - x), [0.5, 1.2]),
    "special.ndtri": (lambda mp: lambda x: mp.sqrt(2) * mp.erfinv(2 * x - 1), [0.3, 0.9]),
    "special.lambertw": (same("lambertw"), [0, 1, 30]),
    "special.wrightomega": (lambda mp: lambda x: mp.lambertw(mp.exp(x)), [0, 2, -3]),
    "special.gamma": (same("gamma"), [1, 2.5, -0.5]),
    "special.rgamma": (same("rgamma"), [1, 2.5, -0.5, 0, -2, 1e-6, -0.001]),
    "special.gammaln": (same("loggamma"), [1, 2, 30]),
    "special.digamma": (same("digamma"), [1, 2.5, 40]),
    "special.exp1": (same("e1"), [0.5, 3, 20]),
    "special.expi": (same("ei"), [0.5, 3, 20]),
    "special.spence": (lambda mp: lambda x: mp.polylog(2, 1 - x), [1, 0.3, 3, 1.5, 1e-6]),
    "special.ellipk": (same("ellipk"), [0, 0.5, -2, 0.9]),
    "special.ellipe": (same("ellipe"), [0, 0.5, -2]),
    **{
        f"special.{letter}{order}": (
            lambda mp, kind=kind, order=order: lambda x: getattr(mp, f"bessel{kind}")(order, x),
            points,
        )
        for letter, kind, points in (
            ("j", "j", [0, 1, 20]),
            ("y", "y", [1]),
            ("i", "i", [0, 1]),
            ("k", "k", [1]),
        )
        for order in (0, 1)
    },
}
CASES = [(name, at) for name, (_, points) in FUNCTIONS.items() for at in points]


def named(name):
    owner, _, short = name.rpartition(".")
    return getattr(special if owner else xp, short)


@pytest.mark.parametrize(("name", "at"), CASES)
def test_elementwise_functions(name, at):
    close(taylor(named(name), at), expected(FUNCTIONS[name][0], at))


@pytest.mark.parametrize("name", ["exp", "log", "sin", "tan", "tanh", "asin", "atan", "acosh", "sqrt"])
def test_complex_arguments(name):
    at = 0.6 + 0.8j
    close(taylor(named(name), at, xp.complex128), expected(FUNCTIONS[name][0], at))


@pytest.mark.parametrize("name", ["exp", "log", "sin", "tanh", "asin", "special.erf", "special.gamma"])
def test_single_precision(name):
    found = taylor(named(name), 0.5, xp.float32)
    close(found, expected(FUNCTIONS[name][0], 0.5), 2e-5)


# --- against nested `jvp`


def nested(f, points, rows):
    """Return what `jet` does, by one `jvp` within another."""

    def along(t):
        moved = []
        for x, row in zip(points, rows, strict=True):
            power = t
            for k, c in enumerate(row):
                x = x + c * (power / math.factorial(k + 1))
                power = power * t
            moved.append(x)
        return f(*moved)

    out, g, zero = [], along, xp.asarray(0.0)
    for _ in range(len(rows[0]) + 1):
        out.append(g(zero))
        g = (lambda h: lambda t: jvp(h, (t,), (xp.ones(()),))[1])(g)
    return out


def compare(f, *points, order=4, tolerance=1e-9):
    generator = np.random.default_rng(7)
    points = [xp.asarray(x) for x in points]
    rows = []
    for x in points:
        values = generator.normal(size=(order, *x.shape))
        if x.dtype.kind == "complex floating":
            values = values + 1j * generator.normal(size=values.shape)
        rows.append([xp.asarray(row, dtype=x.dtype) for row in values])
    y, found = jet(f, points, rows)
    for a, b in zip([y, *found], nested(f, points, rows), strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        a, b = np.asarray(a), np.asarray(b)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * np.abs(b).max(initial=0))


V = np.asarray([0.3, -1.2, 2.0, 0.7])
P = np.abs(V[::-1]) + 0.1
Z = V + 1j * P
A, B = np.random.default_rng(0).normal(size=(2, 3, 3))
S = A @ A.T + 3 * np.eye(3)
T = np.random.default_rng(1).normal(size=(2, 3, 4))
C = A + 1j * B


def written(x):
    y = xp.zeros(4)
    for i in range(4):
        y[i] = xp.sin(x[i]) * (y[i - 1] if i else 1.0)
    return y * y


def updated(x):
    y = x * 1
    y += x
    y *= y
    y[1:] = x[:3]
    y /= 3.0
    y **= 2
    return y


def written_through_views(x):
    y = x * x
    w = y[1:3]
    y[1] = xp.sin(x[0])
    w[1] = x[3]
    return w * y[:2]


def view_made_before(x):
    y = xp.zeros(4)
    w = y[1:]
    y[:] = xp.exp(x)
    return w * w


PROGRAMS = {
    "arithmetic": (lambda x, y: x / y - 2 / x + (1 - x) * y * 3 - x[:, None] * y, V, P),
    "squares": (lambda x: x * x * (x + 1) ** 2, V),
    "powers": (lambda x: x**7 + x**-2 + x**0, V),
    "roots": (lambda x: x**0.5 + x**-0.5 + x**1.3, P),
    "exponents": (lambda x: x ** xp.asarray([0.0, 1.0, 2.0, 3.0]), V),
    "both": (lambda x, y: x**y + 2.0**y, P, V),
    "scalars": (lambda x, y: x**y, np.asarray(1.3), np.asarray(0.7)),
    "powers of zero": (
        lambda x: (x * xp.asarray([0.0, 0, 0, 1])) ** xp.asarray([0.0, 1.0, 2.0, 3.0]),
        V,
    ),
    "constant zero": (lambda x: xp.asarray([0.0, 1.0, 2.0, 0.0]) ** x, P),
    "alpha": (lambda x, y: xp.add(x, y, alpha=2) + xp.add(1.0, y, alpha=x), V, P),
    "lengths": (lambda x, y: xp.hypot(x, y) + xp.atan2(x, y) + xp.atan2(x, xp.asarray(-1.0)), V, P),
    "logaddexp": (xp.logaddexp, V, P),
    "choices": (lambda x, y: xp.maximum(x, y) + xp.minimum(x, 0.5) + xp.clip(x, -y, 1), V, P),
    "signs": (lambda x: abs(x) * xp.sign(x) + xp.copysign(x, xp.asarray(-1.0)), V),
    "remainder": (lambda x, y: x % y, V, P),
    "branches": (lambda x: xp.where(x > 0, xp.sqrt(x), -x) * xp.where(x > 0, xp.exp(x), 0.0), V),
    "sums": (lambda x: xp.sum(x * x, axis=0) + xp.mean(x**3, axis=(0, 1), keepdims=True)[0], T),
    "cumulative": (lambda x: xp.cumulative_sum(x * x, axis=1, include_initial=True), T),
    "prod": (lambda x: xp.prod(x, axis=1), T),
    "prod of zeros": (lambda x: xp.prod(x * xp.asarray([0.0, 1.0, 0.0, 1.0])), V),
    "cumulative_prod": (lambda x: xp.cumulative_prod(x, axis=2, include_initial=True), T),
    "spread": (lambda x: xp.var(x, axis=2, correction=1) + xp.std(x, axis=2), T),
    "extremes": (lambda x: xp.max(x * x, axis=1) - xp.min(x, axis=(0, 1)), T),
    "sort": (lambda x: xp.sort(x * x, axis=1, descending=True), T),
    "shapes": (lambda x: xp.reshape(x * x, (6, 4)) @ xp.permute_dims(x, (2, 0, 1))[:, :, 0], T),
    "properties": (lambda x: (x * x).T @ x.mT * sum(row * row for row in x), A),
    "keys": (lambda x: x[::2] * x[1::2] * x[xp.asarray([0, 2])] + x[x > 0.5] ** 2, V),
    "joins": (lambda x: xp.stack([xp.concat([x * x, xp.asarray([1.0]), x[:1]])[:4], x, xp.zeros(4)]), V),
    "several results": (
        lambda x, y: xp.broadcast_arrays(x[:, None] * x[0], y)[0] * xp.meshgrid(x, y)[1],
        V,
        P,
    ),
    "unstack": (lambda x: xp.unstack(x * x)[1] * x[0], A),
    "pad": (lambda x: xp.pad(x * x, (1, 2), constant_values=3.0), V),
    "moves": (lambda x: xp.roll(x, 1) * xp.flip(x) * xp.take(x, xp.asarray([1, 1, 0, 2]), axis=0), V),
    "differences": (lambda x: xp.diff(x * x, prepend=x[:1]), V),
    "creation": (lambda x: xp.linspace(x[0] * x[1], 2.0, 5) + xp.full((5,), x[0]), V),
    "astype": (lambda x: xp.astype(x * x, xp.complex128) * 1j, V),
    "products": (lambda x, y: x @ y @ x + xp.tensordot(x, y, axes=1) + xp.linalg.outer(x[0], y[0]), A, B),
    "vectors": (lambda x, y: xp.vecdot(x, y) + x @ y[0] + xp.linalg.cross(x, y)[0], A, B),
    "einsum": (lambda x, y: xp.einsum("ij,jk,kl->il", x, y, x) + xp.einsum("ij,jk->i", x, y), A, B),
    "solve": (lambda x, y: xp.linalg.solve(x, y) + xp.linalg.solve(x, y[0]), A, B),
    "solve, one constant": (
        lambda x: xp.linalg.solve(xp.asarray(A), x) + xp.linalg.solve(x, xp.asarray(B)),
        S,
    ),
    "triangular": (
        lambda x, y: (
            xp.linalg.solve_triangular(x, y)
            + xp.linalg.solve_triangular(x, y, upper=True, unit_diagonal=True)
        ),
        S,
        B,
    ),
    "inv": (lambda x: xp.linalg.inv(xp.stack([x, x @ x])), A),
    "determinants": (lambda x: xp.linalg.det(x) + xp.linalg.slogdet(x)[1], A),
    "cholesky": (
        lambda x: xp.linalg.cholesky(x + x.mT) + xp.linalg.cholesky(x + x.mT, upper=True),
        S,
    ),
    "matrix_power": (lambda x: xp.linalg.matrix_power(x, 3) + xp.linalg.matrix_power(x, -2), S),
    "diagonals": (lambda x: xp.linalg.trace(x @ x) * xp.linalg.diagonal(xp.tril(x @ x)), A),
    "norms": (
        lambda x: (
            xp.linalg.vector_norm(x, axis=1) + xp.linalg.vector_norm(x, ord=1) + xp.linalg.matrix_norm(x)
        ),
        A,
    ),
    "logsumexp": (lambda x: special.logsumexp(x, axis=1) + special.logsumexp(x), A),
    "softmax": (lambda x: special.softmax(x, axis=1) + special.log_softmax(x, axis=0), A),
    "fft": (lambda x: xp.fft.irfft(xp.fft.rfft(x) ** 2) + xp.real(xp.fft.fft(x * x)), V),
    "nan": (lambda x: xp.nansum(xp.where(x > 0, x * x, xp.nan)) + xp.nan_to_num(x * x), V),
    "complex": (lambda x: xp.exp(x) * xp.sin(x) / x + xp.log(x) + xp.sqrt(x) + xp.prod(x), Z),
    "parts": (lambda x: x.real * xp.imag(x) + xp.conj(x) * abs(x) + xp.sign(x), Z),
    "complex powers": (lambda x: x**3 + x ** (1 + 1j) + x**2.5, Z),
    "complex matrices": (lambda x: xp.linalg.inv(x) @ x.mT + xp.linalg.vector_norm(x) + xp.std(x), C),
    "complex Cholesky": (lambda x: xp.linalg.cholesky(x @ xp.conj(x).mT + xp.eye(3)), C),
    "writes": (written, V),
    "updates": (updated, V),
    "writes through views": (written_through_views, V),
    "view made before": (view_made_before, V),
}
SPECIAL = {
    "xlogy": (special.xlogy, V, P),
    "xlog1py": (special.xlog1py, V, P),
    "rel_entr": (special.rel_entr, P, P[::-1].copy()),
    "kl_div": (special.kl_div, P, P[::-1].copy()),
    "huber": (special.huber, P, V),
    "pseudo_huber": (special.pseudo_huber, P, V),
    "boxcox": (lambda x: special.boxcox(x, 1.7), P),
    "inv_boxcox": (lambda x: special.inv_boxcox(x, 1.7) + special.inv_boxcox1p(x, 1.7), P),
    "powm1": (lambda x, y: special.powm1(x, y) + special.powm1(y, 3.0), P, V),
    "beta": (lambda x, y: special.beta(x, y) + special.betaln(x, y), P, P[::-1].copy()),
    "gammainc": (lambda x: special.gammainc(1.7, x) - 2 * special.gammaincc(1.2, x), P),
    "betainc": (lambda x: special.betainc(1.7, 2.2, x) - 2 * special.betaincc(1.2, 0.7, x), P / 3),
    "bessel": (
        lambda x: special.jv(1.5, x) + special.iv(1.5, x) + special.kv(1.5, x) + special.yv(0.5, x),
        P,
    ),
    "whole orders": (lambda x: special.kn(2, x) + special.yn(2, x), P),
    "polygamma": (lambda x: special.polygamma(2, x) + special.zeta(2.5, x) + special.loggamma(x), P),
    "hypergeometric": (
        lambda x: special.hyp1f1(1.5, 2.5, x) + special.hyp2f1(0.5, 1.5, 2.5, x / 4) + special.hyp0f1(1.5, x),
        V,
    ),
    "radian": (lambda x: special.radian(x * x, x, 0.0), V),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    f, *points = PROGRAMS[name]
    compare(f, *points)


@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions_of_several_operands(name):
    f, *points = SPECIAL[name]
    compare(f, *points)


# --- zeros


ONES = np.ones(4)
AT_ZERO = {
    "constant root": (xp.sqrt, [0.0, 4.0, 1.0, 2.0], [0.0, 1.0, 1.0, 1.0]),
    **{f"power {n}": (lambda x, n=n: x**n, [0.0, 0.0, 1.0, -0.0], ONES) for n in (1, 2, 3, 5)},
    "zero factors": (lambda x: xp.sin(x * 0) * x + xp.exp(x * 0) * (x * 0) ** 2, [0.3, 0.3, 1.3, 0.3], ONES),
    "product": (lambda x: xp.sin(x) ** 2 * xp.cos(x), [0.0, 0.0, 1.0, 0.0], ONES),
    "corner of abs": (lambda x: abs(x - 0.5), [0.0, 0.0, 1.0, 2.0], ONES),
    "root not taken": (lambda x: xp.where(x > 0, xp.sqrt(x), 0.0), [-1.0, 0.0, 1.0, 2.0], ONES),
    "ramp": (lambda x: xp.maximum(x, 0.0) * x, [-1.0, 1.0, 1.0, 2.0], ONES),
    "prod": (xp.prod, [0.0, 0.0, 1.0, -0.0], ONES),
    "odd functions": (lambda x: xp.tanh(x) + xp.atan(x) + xp.asinh(x) + special.erf(x), np.zeros(4), ONES),
    "quotient not taken": (
        lambda x: xp.where(x != 0, xp.sin(x) / x, 1 - x * x / 6),
        [0.0, 1.0, 2.0, 0.0],
        ONES,
    ),
    "infinite factor": (
        lambda x: xp.where(xp.asarray([True, False, True, True]), x * x, xp.asarray(xp.inf) * x),
        [1.0, -1.0, 2.0, 3.0],
        ONES,
    ),
}


@pytest.mark.parametrize("name", AT_ZERO)
def test_zeros(name):
    f, at, direction = AT_ZERO[name]
    rows = [[xp.asarray(direction), *[xp.asarray(direction) * 0.5] * 3]]
    y, found = jet(f, [xp.asarray(at)], rows)
    for a, b in zip([y, *found], nested(f, [xp.asarray(at)], rows), strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_random_programs(first):
    """Programs whose operands are often 0, against arithmetic of Taylor series in NumPy, to order 6."""
    pytest.importorskip("mpmath")
    from taylor_series import Machine, Series
    from zero_programs import N, Stride, draw_program, sparse

    for seed in range(first, first + 20):
        rng = random.Random(seed)
        program = draw_program(rng)
        xs = [sparse(rng, N), sparse(rng, N), sparse(rng, N, N)]
        vs = [np.asarray([rng.uniform(-1, 1) for _ in range(x.size)]).reshape(x.shape) for x in xs]
        with np.errstate(all="ignore"):
            series = program(
                Machine(ORDER), *[Series.along(x, v, ORDER) for x, v in zip(xs, vs, strict=True)]
            )
        expected = np.asarray(series.derivatives())
        size = np.abs(expected).max()
        if size < 1e10:
            rows = [[xp.asarray(v), *[xp.zeros(v.shape)] * (ORDER - 1)] for v in vs]
            y, found = jet(functools.partial(program, Stride()), list(map(xp.asarray, xs)), rows)
            got = [float(y), *map(float, found)]
            np.testing.assert_allclose(got, expected, atol=1e-8 * (1 + size), err_msg=str(seed))


CHAPTERS = (elementwise_cases, fft_cases, linalg_cases, manipulation_cases, statistical_cases)
GRADIENT_CASES = [
    case
    for chapter in CHAPTERS
    for cases in vars(chapter).values()
    if isinstance(cases, list) and cases and isinstance(cases[0], Case)
    for case in cases
]


@pytest.mark.parametrize("part", range(8))
def test_cases_of_the_gradient_tests(part):
    """Each is refused by its name, or has the derivatives of nested `jvp`."""
    refused = set()
    assert len(GRADIENT_CASES) > 1500
    for case in GRADIENT_CASES[part::8]:
        generator = np.random.default_rng(0)
        points = [xp.asarray(x) for x in case.args(generator)]
        rows = [[(x + 0.2) * 0.3, (0.1 - x) * 0.2] for x in points]
        rows = [[xp.asarray(v, dtype=x.dtype) for v in row] for x, row in zip(points, rows, strict=True)]
        f = functools.partial(case.call, xp)
        try:
            y, found = jet(f, points, rows)
        except xp.GradientError as error:
            assert "no rule" in str(error) or "an operand of pow" in str(error), case.id
            refused.add(case.name)
            continue
        for a, b in zip([y, *found], nested(f, points, rows), strict=True):
            for one, other in zip(flatten(a)[0], flatten(b)[0], strict=True):
                one, other = np.asarray(one), np.asarray(other)
                atol = 1e-7 * case.tol * np.abs(other[np.isfinite(other)]).max(initial=1.0)
                np.testing.assert_allclose(one, other, rtol=1e-7 * case.tol, atol=atol, err_msg=case.id)
    assert refused <= REFUSED_CASES


REFUSED_CASES = {
    *("arange", "strided.as_strided", "unique_all", "unique_counts", "unique_inverse", "unique_values"),
    *("linalg.eig", "linalg.eigh", "linalg.eigvals", "linalg.eigvalsh", "linalg.expm", "linalg.pinv"),
    *("linalg.qr", "linalg.svd", "linalg.svdvals", "view"),
    # Some of their forms.
    *("linalg.matrix_norm", "linalg.slogdet", "linalg.vector_norm"),
}


# --- transformations, structures and modes


def loss(x, w):
    return xp.sum(xp.sin(w * x) * xp.exp(x) @ xp.asarray([[1.0, 2.0], [3.0, 4.0]]))


def second(x, w):
    return jet(lambda x: loss(x, w), (x,), ([xp.ones(2), xp.zeros(2), xp.zeros(2)],))[1][1]


def second_by_jvp(x, w):
    slope = lambda x: jvp(lambda x: loss(x, w), (x,), (xp.ones(2),))[1]  # noqa: E731
    return jvp(slope, (x,), (xp.ones(2),))[1]


X, W = xp.asarray([0.3, 0.5]), xp.asarray([1.0, 2.0])


def test_gradients_of_derivatives():
    for a, b in zip(
        grad(second, argnums=(0, 1))(X, W), grad(second_by_jvp, argnums=(0, 1))(X, W), strict=True
    ):
        close(a, b)
    close(jvp(lambda w: second(X, w), (W,), (X,))[1], jvp(lambda w: second_by_jvp(X, w), (W,), (X,))[1])


def test_batches():
    rows = xp.asarray([[0.3, 0.5], [1.0, -2.0], [0.0, 0.1]])
    close(vmap(second, in_axes=(0, None))(rows, W), [second(row, W) for row in rows])
    found = vmap(grad(second, argnums=1), in_axes=(0, None))(rows, W)
    close(found, [np.asarray(grad(second, argnums=1)(row, W)) for row in rows])
    total = grad(lambda w: xp.sum(vmap(second, in_axes=(0, None))(rows, w)))(W)
    close(total, np.asarray(found).sum(axis=0))


def test_structures():
    def f(p, q):
        return {"a": p["x"] * q, "b": [xp.sum(p["x"]), "text"]}

    zero = xp.zeros(2)
    y, (first, last) = jet(f, ({"x": X}, W), ([{"x": W}, {"x": zero}], [X, zero]))
    close(y["a"], X * W)
    close(first["a"], W * W + X * X)
    close(last["a"], 2 * W * X)
    assert first["b"][1] is None and float(last["b"][0]) == 0.0


def test_results_are_new_and_arguments_stay():
    row = xp.asarray([1.0, 2.0])

    def f(x):
        y = +x
        y[0] = 5.0
        return y

    _, (found,) = jet(f, (X,), ([row],))
    close(found, [0.0, 2.0])
    close(row, [1.0, 2.0])
    zeros = jet(lambda x: xp.ones(3), (X,), ([row, row],))[1]
    assert [d.shape for d in zeros] == [(3,), (3,)] and not any(xp.any(d) for d in zeros)
    assert jet(lambda x: x * 2, (X,), ([],))[1] == []


def test_modes_of_the_caller():
    with xp.strict(), xp.broadcasting("exact"):
        found = jet(lambda x: xp.linalg.vector_norm(x) ** 3 * xp.prod(x), (X,), ([W, W],))[1]
    close(found[1], jet(lambda x: xp.linalg.vector_norm(x) ** 3 * xp.prod(x), (X,), ([W, W],))[1][1])
    f = lambda x: xp.sum(xp.reshape(x, (1, 2)).T * x)  # noqa: E731
    with xp.testing.flags(views=False, devices=("cpu", "other")):
        found = jet(f, (X,), ([W],))[1][0]
    close(found, jet(f, (X,), ([W],))[1][0])


REFUSED = {
    "linalg.eigh has no rule": lambda x: xp.linalg.eigh(xp.linalg.outer(x, x))[0],
    "special.dawsn has no rule": special.dawsn,
    "median has no rule": xp.median,
    "v has no gradient": lambda x: special.jv(x, x),
    "gammainc has no rule for its argument 1": lambda x: special.gammainc(x + 1, x),
    "linalg.matrix_norm has no rule for these": lambda x: xp.linalg.matrix_norm(x[None] * x, ord=2),
    "has no Taylor series: a function of autograd": lambda x: 2 * grad(lambda y: xp.sum(y**3))(x),
    "has no Taylor series": lambda x: jet(xp.sin, (x,), ([W],))[1][0],
    "there is no vmap within jet": lambda x: vmap(lambda y: y * y)(x),
    "an operand of multiply has no": lambda x: autograd.checkpoint(xp.sin)(x) * 2,
}


@pytest.mark.parametrize("message", REFUSED)
def test_refused_by_name(message):
    with pytest.raises(xp.GradientError, match=message):
        jet(REFUSED[message], (X,), ([W, W],))


def test_refused_writes():
    def stale(x):
        y = x * 1
        w = xp.reshape(y, (1, 2)).T
        y[0] = xp.sin(x[0])
        return w + y

    with pytest.raises(xp.GradientError, match="a view of the array is in use"):
        jet(stale, (X,), ([W],))


def test_wrong_arguments():
    with pytest.raises(xp.ArgumentValueError, match="series needs 1 sequences of equal length"):
        jet(xp.sin, (X,), ([W], [W]))
    with pytest.raises(xp.ShapeError, match=r"^jet: "):
        jet(xp.sin, (X,), ([xp.ones(3)],))
    with pytest.raises(xp.ArgumentTypeError, match="a result of dtype int64"):
        jet(xp.argmax, (X,), ([W],))
    with pytest.raises(xp.ArgumentValueError, match="order is -1"):
        derivatives(xp.sin, X, -1)
    with pytest.raises(xp.ShapeError, match="not elementwise"):
        derivatives(xp.sum, X, 2)


def test_derivatives():
    found = derivatives(lambda x: xp.exp(2 * x), X, 10)
    close([np.asarray(d) for d in found], [2.0**k * np.exp(2 * np.asarray(X)) for k in range(11)])
    close(derivatives(lambda x: xp.stack([x**3, 1 / x]), xp.asarray(2.0), 2)[2], [12.0, 0.25])
    assert len(derivatives(xp.sin, X, 0)) == 1


def test_cost_grows_as_the_square():
    """Count the products of coefficients."""
    from stride0.autograd._jets import series

    counts = []
    original = series.product

    def counted(*args):
        counts[-1] += 1
        return original(*args)

    for order in (8, 16, 32):
        counts.append(0)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(series, "product", counted)
            derivatives(lambda x: xp.exp(xp.sin(x)) / (1 + x * x), xp.asarray(0.3), order)
    assert counts[0] > 8 and counts[2] / counts[1] < 4.5 and counts[1] / counts[0] < 4.5


def test_coefficients_are_freed_without_the_garbage_collector():
    def f(x):
        return xp.tan(x) * xp.asin(x / 9) + special.erfinv(x / 9) + special.softmax(x)

    def run():
        derivatives(f, xp.linspace(0.0, 1.0, 10_000), 5)
        return memory_statistics()["live_bytes"]

    with xp.fused(size=0):
        run()
        gc.collect()
        gc.disable()
        try:
            before = run()
            assert run() - before < 10_000 and run() - before < 10_000
        finally:
            gc.enable()


def test_against_jax():
    jax = pytest.importorskip("jax")
    experimental = pytest.importorskip("jax.experimental.jet")
    jnp = jax.numpy
    rows = [[1.0, 0.5], [0.3, -0.2], [0.1, 2.0]]
    f = lambda m, x: m.tanh(x) * m.exp(x) / (1 + x * x) + m.sin(x) ** 3  # noqa: E731
    given = [jnp.asarray(row, dtype=jnp.float32) for row in rows]
    y, wanted = experimental.jet(lambda x: f(jnp, x), (jnp.asarray([0.3, 0.5]),), (given,))
    z, found = jet(lambda x: f(xp, x), (X,), ([xp.asarray(row) for row in rows],))
    for a, b in zip([z, *found], [y, *wanted], strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=2e-4)
