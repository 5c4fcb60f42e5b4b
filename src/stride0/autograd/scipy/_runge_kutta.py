"""Steps of SciPy's Runge-Kutta methods, and the polynomials between them, as differentiable functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import stride0 as xp
from stride0._core.array.array import Array
from stride0.autograd._matrices import jacobian
from stride0.autograd._transforms import stop_gradient
from stride0.autograd.scipy._calls import scipy

Function = Callable[[Any, Array], Array]


class Taken(NamedTuple):
    """A step that SciPy took."""

    start: float
    end: float
    spacing: float  # the size of the step before; for the first step, the planned size
    orders: tuple[int, int]  # of this step, and of the next step
    kept: Any  # the solution of the step's equation


class Step:
    """The start and size of a step, its first value, and the coefficients of the polynomial within it."""

    def __init__(self, t: Any, h: Any, y: Array, coefficients: Array) -> None:
        self.t, self.h, self.y, self.coefficients = t, h, y, coefficients


def solved(left: Callable[[Array], Array], x: Array) -> Array:
    """Return the solution `x` of an equation ``left(x) == 0`` with derivatives, up to third order.

    The residual of SciPy's iteration is subtracted, so that the value does not change. Each Newton step adds
    one order of derivatives.
    """
    rest, matrix = stop_gradient((left(x), jacobian(left)(x)))
    inverse = xp.linalg.inv(matrix)
    for _ in range(3):
        x = x - inverse @ (left(x) - rest)
    return x


class Explicit:
    """RK23 and RK45: the tableau of SciPy's class."""

    kept = ""  # the attribute of SciPy's solver with the solution of an implicit step's equation

    def __init__(self, name: str) -> None:
        made = getattr(scipy("integrate"), name)
        self.made = made
        self.nodes = made.C.tolist()
        self.rows = [xp.asarray(row[:k], copy=True) for k, row in enumerate(made.A)]
        self.weights = xp.asarray(made.B, copy=True)
        # DOP853 computes its polynomial in another way.
        self.polynomial: Any = None if made.P is NotImplemented else xp.asarray(made.P.T, copy=True)

    def begin(self, slope: Array, first: Taken) -> Array:
        """Return the state that the first step needs in addition to the value."""
        return slope

    def advance(
        self, f: Function, t: Any, y: Array, state: Array, h: Any, dense: bool, taken: Taken
    ) -> tuple[Array, Array, list[Array]]:
        """Return the value and state at the end of a step; for dense output, also its coefficients."""
        slopes = [state]
        for c, row in zip(self.nodes[1:], self.rows[1:], strict=True):
            slopes.append(f(t + c * h, y + h * (row @ xp.stack(slopes))))
        end = y + h * (self.weights @ xp.stack(slopes))
        slopes.append(f(t + h, end))
        return end, slopes[-1], [self.coefficients(f, t, y, h, end, slopes)] if dense else []

    def coefficients(self, f: Function, t: Any, y: Array, h: Any, end: Array, slopes: list[Array]) -> Array:
        found: Array = h * (self.polynomial @ xp.stack(slopes))
        return found

    def between(self, step: Step, t: Array) -> Array:
        """Return the values at times within a step, a row per time."""
        x = (t - step.t) / step.h
        powers = xp.stack([x ** (k + 1) for k in range(step.coefficients.shape[0])], axis=1)
        found: Array = step.y + xp.astype(powers, step.y.dtype) @ step.coefficients
        return found


class Dop853(Explicit):
    """DOP853, which computes three more slopes for its polynomial."""

    def coefficients(self, f: Function, t: Any, y: Array, h: Any, end: Array, slopes: list[Array]) -> Array:
        made, first, last = self.made, slopes[0], slopes[-1]
        for row, c in zip(made.A_EXTRA, made.C_EXTRA.tolist(), strict=True):
            weights = xp.asarray(row[: len(slopes)], copy=True)
            slopes = [*slopes, f(t + c * h, y + h * (weights @ xp.stack(slopes)))]
        change = end - y
        lower = xp.stack([change, h * first - change, 2 * change - h * (last + first)])
        return xp.concat([lower, h * (xp.asarray(made.D, copy=True) @ xp.stack(slopes))])

    def between(self, step: Step, t: Array) -> Array:
        x = xp.expand_dims((t - step.t) / step.h, axis=1)
        y: Any = 0.0
        for k in range(step.coefficients.shape[0] - 1, -1, -1):
            # SciPy counts coefficients from the last one.
            y = (y + step.coefficients[k]) * (x if (step.coefficients.shape[0] - 1 - k) % 2 == 0 else 1 - x)
        return y + step.y  # type: ignore[no-any-return]


class Radau(Explicit):
    """Radau IIA of order 5: the increments of the three stages solve an equation."""

    kept = "Z"

    def __init__(self, name: str) -> None:
        r = 6**0.5
        self.nodes = [(4 - r) / 10, (4 + r) / 10, 1.0]
        rows = [[(88 - 7 * r) / 360, (296 - 169 * r) / 1800, (-2 + 3 * r) / 225]]
        rows += [[(296 + 169 * r) / 1800, (88 + 7 * r) / 360, (-2 - 3 * r) / 225]]
        self.weights = xp.asarray([*rows, [(16 - r) / 36, (16 + r) / 36, 1 / 9]])
        ends = [[13 + 7 * r, -23 - 22 * r, 10 + 15 * r], [13 - 7 * r, -23 + 22 * r, 10 - 15 * r]]
        self.polynomial = xp.asarray([*ends, [1.0, -8.0, 10.0]]).T / 3

    def advance(
        self, f: Function, t: Any, y: Array, state: Array, h: Any, dense: bool, taken: Taken
    ) -> tuple[Array, Array, list[Array]]:
        def left(z: Array) -> Array:
            z = xp.reshape(z, (3, -1))
            slopes = xp.stack([f(t + c * h, y + z[k]) for k, c in enumerate(self.nodes)])
            return xp.reshape(z - h * (self.weights @ slopes), (-1,))

        z = xp.reshape(solved(left, xp.reshape(xp.asarray(taken.kept), (-1,))), (3, -1))
        return y + z[2], state, [self.polynomial @ z] if dense else []
