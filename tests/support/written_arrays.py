"""Helpers of the tests of recorded writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.testing import assert_allclose

import stride0 as xp
from stride0.autograd import GradientError, custom_vjp, grad

Function = Callable[..., Any]
X = [0.7, -0.4, 1.3, 0.9]
Y = [0.3, 1.1, -0.8, 0.5]


def arr(*values: complex) -> Any:
    return xp.asarray(list(values))


def right_or_refused(f: Function, *xs: Any, expected: list[Any]) -> None:
    """For cases in which both a correct gradient and a GradientError are accepted."""
    try:
        found = grad(f, argnums=tuple(range(len(xs))))(*xs)
    except GradientError:
        return
    for g, e in zip(found, expected, strict=True):
        assert_allclose(np.asarray(g), e, rtol=1e-12)


@custom_vjp
def squared(x: Any, c: Any) -> Any:
    return c * x**2


squared.defvjp(lambda x, c: (c * x**2, (x, c)), lambda kept, g: (2 * g * kept[0] * kept[1], None))
