"""Programs with rules for Taylor series, and what `jet` computes by nested `jvp`."""

from __future__ import annotations

import math

import numpy as np

import stride0 as xp
from stride0 import special
from stride0.autograd import jet, jvp


def nested(f, points, rows):
    """Return the result of `jet`, computed by nested `jvp`."""

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


def updated_by_keys(x):
    y = xp.zeros(6)
    y[1:3] += xp.sin(x[:2])
    y[2:4] *= x[2:]
    half = y[3:]
    half += x[0] * x[1:]
    y[::2] += x[1:]
    return y * y[::-1]


PROGRAMS = {
    "updates by keys": (updated_by_keys, V),
    "arithmetic": (lambda x, y: x / y - 2 / x + (1 - x) * y * 3 - x[:, None] * y, V, P),
    "squares": (lambda x: x * x * (x + 1) ** 2, V),
    "large powers": (lambda x: x**70 + (x * 0) ** 70 + x**0.0 + (x * 0) ** 2.5, P / 2),
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
    "boxcox": (lambda x: special.boxcox(x, 1.7) + special.boxcox1p(x, 0.6), P),
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
