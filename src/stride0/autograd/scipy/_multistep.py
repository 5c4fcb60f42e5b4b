"""Steps of SciPy's BDF, and the polynomials between them, as differentiable functions."""

from __future__ import annotations

import itertools
from typing import Any

import stride0 as xp
from stride0._core.array.array import Array
from stride0.autograd._transforms import stop_gradient
from stride0.autograd.scipy._runge_kutta import Explicit, Function, Step, Taken, solved

# The coefficients of SciPy's formulas of order 1 to 5: Shampine's numerical differentiation formulas.
_GAMMA = list(itertools.accumulate(1 / k for k in range(1, 6)))
_ALPHA = [(1 + kappa) * g for kappa, g in zip((0.1850, 1 / 9, 0.0823, 0.0415, 0.0), _GAMMA, strict=True)]


def _weights(order: int, factor: Any) -> Array:
    """Return Newton's weights: how much difference i adds to the value ``factor * j`` steps back."""
    i = xp.expand_dims(xp.arange(1.0, order + 1), axis=1)
    return xp.cumulative_prod((i - 1 - factor * i.T) / i, axis=0)


def _resampled(differences: Array, factor: Any) -> Array:
    """Return the backward differences of the same polynomial for steps that are `factor` times as long."""
    order = differences.shape[0]
    # With factor 1, the weights are their own inverse: they turn values into differences.
    return (_weights(order, factor) @ _weights(order, 1.0)).T @ differences


class Bdf(Explicit):
    """BDF: a correction of the predicted value solves an equation. The state is the backward differences."""

    kept = "y"

    def __init__(self, name: str) -> None:
        pass

    def begin(self, slope: Array, first: Taken) -> Array:
        return xp.expand_dims(slope * first.spacing, axis=0)

    def advance(
        self, f: Function, t: Any, y: Array, state: Array, h: Any, dense: bool, taken: Taken
    ) -> tuple[Array, Array, list[Array]]:
        order, next_order = taken.orders
        differences = state[:order]
        if isinstance(h, Array) or taken.end != taken.start + taken.spacing:
            differences = _resampled(differences, h / taken.spacing)
        predicted = y + xp.sum(differences, axis=0)
        weights = xp.asarray(_GAMMA[:order]) / _ALPHA[order - 1]

        def left(d: Array) -> Array:
            rest: Array = d + weights @ differences - h / _ALPHA[order - 1] * f(t + h, predicted + d)
            return rest

        d = solved(left, xp.asarray(taken.kept) - stop_gradient(predicted))
        state = xp.triu(xp.ones((order + 1, order + 1))) @ xp.concat([differences, xp.expand_dims(d, axis=0)])
        end = predicted + d
        return end, state, [xp.concat([xp.expand_dims(end, axis=0), state[:next_order]])] if dense else []

    def between(self, step: Step, t: Array) -> Array:
        x = xp.expand_dims((t - step.t) / step.h - 1, axis=1)
        weight: Any = 1.0
        y = step.coefficients[0]
        for k in range(step.coefficients.shape[0] - 1):
            weight = weight * (x + k) / (k + 1)
            y = y + weight * step.coefficients[k + 1]
        return y
