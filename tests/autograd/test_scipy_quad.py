"""`quad` and integrals over several variables of tracked arrays: values and gradients."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import close

import stride0 as xp
from stride0 import autograd
from stride0.autograd.scipy import integrate, patched

theirs = pytest.importorskip("scipy.integrate", reason="the forms call SciPy")


def test_integrals_over_several_variables():
    """Values as SciPy computes them, gradients by parameters, and by limits of a triangle and a pyramid."""
    special = pytest.importorskip("scipy.special")
    a, p = xp.asarray(1.3), xp.asarray([2.0, 3.0])

    def product(y, x, a=1.0):
        return xp.exp(-a * x * y)

    def entire(a):
        return (special.exp1(a) + np.log(a) + np.euler_gamma) / a

    slope = (1 - np.exp(-1.3)) / 1.3**2 - entire(1.3) / 1.3

    def by_argument(a, module=integrate):
        return module.dblquad(product, 0, 1, 0, 1, args=(a,))[0]

    def by_closure(a, module=integrate):
        return module.nquad(lambda y, x: product(y, x, a), [[0, 1], [0, 1]])[0]

    for solve in (by_argument, by_closure):
        close(solve(a), entire(1.3))
        close(autograd.grad(solve)(a), slope)
        with patched():
            close(autograd.grad(lambda a, solve=solve: solve(a, theirs))(a), slope)
    close(autograd.vmap(autograd.grad(by_argument))(a[None]), [slope])

    def triangle(p):
        return integrate.dblquad(lambda y, x: xp.asarray(1.0), 0.0, p[0], 0.0, lambda x: p[1] * x)[0]

    close(autograd.grad(triangle)(p), [6.0, 2.0])
    close(autograd.hessian(triangle)(p), [[3.0, 2.0], [2.0, 0.0]])

    def pyramid(b, module=integrate):
        limits = (0.0, b, 0.0, lambda x: x, lambda x, y: x - y, lambda x, y: x + 2 * y)
        return module.tplquad(lambda z, y, x: z + x * y, *limits)[0]

    # b**4 / 2 + b**5 / 5
    close(pyramid(2.0), pyramid(2.0, theirs))
    close(autograd.grad(pyramid)(xp.asarray(2.0)), 32.0)


def test_fixed_quad():
    def solve(p):
        return integrate.fixed_quad(lambda t: xp.exp(-p[0] * t), p[1], p[2], n=9)[0]

    def exact(p):
        return (xp.exp(-p[0] * p[1]) - xp.exp(-p[0] * p[2])) / p[0]

    p = xp.asarray([0.7, 0.2, 1.5])
    close(solve(p), theirs.fixed_quad(lambda t: np.exp(-0.7 * t), 0.2, 1.5, n=9)[0])
    close(autograd.grad(solve)(p), autograd.grad(exact)(p))
    with pytest.raises(xp.Stride0Error, match="fixed_quad: a limit is not finite"):
        integrate.fixed_quad(xp.exp, 0.0, np.inf)


def test_quad():
    """Gradients by parameters and limits, finite and infinite: the gamma function and a power."""
    special = pytest.importorskip("scipy.special")

    def gamma(a):
        return integrate.quad(lambda t, a: xp.asarray(t) ** (a - 1) * np.exp(-t), 0, np.inf, args=(a,))[0]

    a = xp.asarray(2.5)
    close(gamma(a), special.gamma(2.5))
    close(autograd.grad(gamma)(a), special.gamma(2.5) * special.digamma(2.5))
    by_limit = autograd.grad(autograd.grad(lambda b: integrate.quad(lambda t: t**4, 0.0, b)[0]))
    close(by_limit(a), 4 * 2.5**3)
    close(autograd.vmap(gamma)(xp.asarray([1.5, 2.5])), special.gamma([1.5, 2.5]))
    close(autograd.vmap(autograd.grad(gamma))(a[None]), [special.gamma(2.5) * special.digamma(2.5)])
    close(autograd.grad(autograd.grad(by_limit))(a), 24 * 2.5)
    assert isinstance(integrate.quad(lambda t: t * t, 0, 1)[0], float)
    with patched():
        slope = autograd.grad(lambda a: theirs.quad(lambda t: xp.exp(-a * t), 0, 1, points=[0.5])[0])(a)
        close(slope, (3.5 * np.exp(-2.5) - 1) / 2.5**2)
        assert theirs.quad(lambda t: t, 0, 1)[0] == 0.5
        with pytest.raises(xp.Stride0Error, match="weight is not supported"):
            autograd.grad(lambda a: theirs.quad(lambda t: a * t, 0, 1, weight="cos", wvar=1)[0])(a)


def test_a_batch_without_examples_is_refused() -> None:
    def integral(a: xp.Array) -> xp.Array:
        return integrate.quad(lambda t, a: a * t, 0.0, 1.0, args=(a,))[0]

    with pytest.raises(xp.BatchingError, match="the batch has no examples"):
        autograd.vmap(integral)(xp.zeros(0))
