"""Derivatives in a direction: of every function that has a gradient, against that, and against JAX.

The product of a cotangent and a tangent is the same whichever of the two the function has been differentiated
for; the gradients have tests of their own.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gradient_cases import Case
from gradient_cases_elementwise import CASES as ELEMENTWISE
from gradient_cases_fft import CASES as FFT
from gradient_cases_linalg import CASES as LINALG
from gradient_cases_manipulation import CASES as MANIPULATION
from gradient_cases_statistical import CASES as STATISTICAL

import stride0 as xp
from stride0.autograd import GradientError, checkpoint, custom_vjp, grad, hvp, jvp, vjp, vmap
from stride0.autograd._rules.forward import JVP, NOT_HOLOMORPHIC, SYMMETRIC

CASES: list[Case] = [*ELEMENTWISE, *STATISTICAL, *MANIPULATION, *LINALG, *FFT]
each_case = pytest.mark.parametrize("case", CASES, ids=[f"{case.name}-{case.id}" for case in CASES])


def like(x: Any, rng: np.random.Generator) -> Any:
    a = np.asarray(x)
    found = rng.standard_normal(a.shape)
    if a.dtype.kind == "c":
        found = found + 1j * rng.standard_normal(a.shape)
    return xp.asarray(np.asarray(found, dtype=a.dtype))


def inner(xs: Any, ys: Any) -> float:
    pairs = zip(xs, ys, strict=True)
    return sum(float(np.sum(np.conj(np.asarray(x)) * np.asarray(y)).real) for x, y in pairs)


def floating(y: Any) -> list[Any]:
    return [x for x in (y if isinstance(y, (tuple, list)) else [y]) if "floating" in x.dtype.kind]


def compare(f: Callable[..., list[Any]], xs: list[Any], rng: np.random.Generator, tol: float) -> None:
    """Compare both derivatives of a function."""
    vs = [like(x, rng) for x in xs]
    ys, pullback = vjp(f, *xs)
    ws = [like(y, rng) for y in ys]
    again, dys = jvp(f, xs, vs)
    for y, other, dy in zip(ys, again, dys, strict=True):
        np.testing.assert_array_equal(np.asarray(y), np.asarray(other))
        assert dy.shape == y.shape and dy.dtype is y.dtype
    gs = pullback(ws)
    np.testing.assert_allclose(inner(ws, dys), inner(gs, vs), rtol=1e-9 * tol, atol=1e-9 * tol)


@each_case
def test_of_every_function(case: Case) -> None:
    rng = np.random.default_rng(zlib.crc32(f"{case.name} {case.id}".encode()))
    xs = [xp.asarray(a, copy=True) for a in case.args(rng)]
    f = lambda *ys: floating(case.call(xp, *ys))  # noqa: E731
    compare(f, xs, rng, case.tol)
    if case.order < 2:
        return
    # Of gradients and of derivatives in a direction, which go through rules of rules.
    ws = [like(y, rng) for y in f(*xs)]
    vs = [like(x, rng) for x in xs]
    compare(lambda *ys: list(vjp(f, *ys)[1](ws)), xs, rng, 100 * case.tol)
    compare(lambda *ys: jvp(f, ys, vs)[1], xs, rng, 100 * case.tol)


def test_every_rule_has_a_case() -> None:
    inner = {"dot_into", "multiply_masked", "put", "sum_into", "unreduce", "watch", "asarray"}
    known = {case.name for case in CASES} | inner | {"special.log_softmax"}
    assert set(JVP) <= known
    assert not set(JVP) & SYMMETRIC and NOT_HOLOMORPHIC <= SYMMETRIC
