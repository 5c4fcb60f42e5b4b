"""Solutions of equations as functions of parameters: the common part of the functions of `implicit`.

A solution is a function of `custom_jvp`. Its derivative in a direction solves one linear system with the
Jacobian at the solution, and can be differentiated again. So reverse mode, higher derivatives and batches
follow from this rule and do not depend on the solver's steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stride0._base.errors import ArgumentValueError, GradientError
from stride0._chapters.manipulation import reshape
from stride0._core.array.array import Array
from stride0._core.elementwise.elementwise import whole
from stride0._core.exchange.exchange import asarray
from stride0._core.exchange.numpy_calls import numpy, to_numpy
from stride0.autograd._custom_jvp import custom_jvp
from stride0.autograd._matrices import jacobian
from stride0.autograd._tape.trees import flatten
from stride0.autograd._transforms import jvp, stop_gradient
from stride0.autograd.implicit._calls import chosen, detached_array, for_each, plain_array
from stride0.autograd.implicit._krylov import by_krylov
from stride0.linalg import solve as solve_matrix

__all__ = ["Box", "corrected", "solution"]

Equation = Callable[..., Any]


def solution(
    operation: str,
    equation: Equation,
    solver: Callable[..., Array],
    x0: Array,
    params: tuple[Any, ...],
    linear: str = "dense",
    box: Box | None = None,
) -> Any:
    """
    Return the solution of an equation, differentiable with respect to its parameters.

    Parameters
    ----------
    operation : str
        The name in errors.
    equation : callable
        Takes the solution and the parameters; returns an array of the shape of the solution, 0 there.
    solver : callable
        Takes `x0` and the parameters, which are neither tracked nor batched; returns the solution.
    x0 : Array
        The start of the search; it has no derivative.
    params : tuple
        Nested structures of arrays. Other values are constants.
    linear : str
        How the derivative solves its system: "dense", "cg" or "gmres".
    box : Box, optional
        The bounds of a minimum.
    """
    if x0.size == 0:
        return x0
    known: dict[Any, Array] = {}
    found_at: list[tuple[Array, Any]] = []

    def solved(x0: Array, *params: Any) -> Array:
        # The rule needs the solution again.
        leaves = flatten([x0, *params])[0]
        key = tuple(to_numpy(x).tobytes() if isinstance(x, Array) else id(x) for x in leaves)
        if key not in known:
            x = solver(x0, *params)
            known[key] = _settled(operation, equation, x, params, x0, linear, box)
            found_at.append((known[key], params))
        return asarray(known[key], copy=True)

    @custom_jvp
    def found(x0: Array, *params: Any) -> Any:
        return for_each(solved, x0, *params)

    @found.defjvp
    def rule(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
        x = found(*primals)
        given, moved = primals[1:], tangents[1:]
        if box is not None:
            box.refuse(to_numpy(whole(stop_gradient(x))))
        at, residual = chosen(lambda *given: reshape(asarray(equation(x, *given)), x.shape), given)
        if not at:
            return x, None
        _, change = jvp(residual, [given[k] for k in at], [moved[k] for k in at])
        if linear == "dense":
            matrix = _matrix(equation, x, given)
            while found_at:
                _check_matrix(operation, equation, *found_at[-1])
                found_at.pop()
            step = reshape(solve_matrix(matrix, reshape(change, (x.size,))), x.shape)
        else:
            step = by_krylov(operation, _derivative(equation), change, (x, *given), linear, {})
        return x, -step

    return found(x0, *params)


def corrected(
    operation: str,
    equation: Equation,
    found: Array,
    x0: Array,
    params: tuple[Any, ...] = (),
    box: Box | None = None,
) -> Array:
    """Return a known solution with derivatives, up to third order, by all arrays that the equation uses.

    The function may use tracked arrays that are not among its arguments. Each Newton step with a constant
    matrix adds an order of derivatives; the value does not change.
    """
    plain = stop_gradient(params)
    start = x = _settled(operation, equation, found, plain, x0, "dense", box, detached_array)
    if box is not None:
        box.refuse(to_numpy(start))
    _check_matrix(operation, equation, start, plain)
    matrix = stop_gradient(_matrix(equation, start, plain))
    for _ in range(3):
        value = reshape(asarray(equation(x, *params)), (x.size,))
        x = x - reshape(solve_matrix(matrix, value), x.shape)
    found_at: Array = start + (x - stop_gradient(x))
    return found_at


def _matrix(equation: Equation, x: Array, params: Any) -> Array:
    """Return the Jacobian of the equation by the solution."""
    found = jacobian(lambda x: reshape(asarray(equation(x, *params)), (x.size,)), mode="reverse")(x)
    return reshape(found, (x.size, x.size))


def _derivative(equation: Equation) -> Callable[..., Any]:
    """Return the product of the Jacobian of the equation with a direction, as a function of both."""

    def product(v: Array, x: Array, *params: Any) -> Any:
        return jvp(lambda x: reshape(asarray(equation(x, *params)), x.shape), [x], [v])[1]

    return product


# The distance from a solution, relative to its size, within which the Jacobian must not be singular.
NEAR = 1e-6


def _check_matrix(operation: str, equation: Equation, x: Array, params: Any) -> None:
    """Refuse a solution with a nearly singular Jacobian, as at double roots and in valleys of minima."""
    np = numpy()
    there = x + asarray(NEAR * (1 + np.abs(to_numpy(x))), dtype=x.dtype)
    here, near = (detached_array(operation, _matrix(equation, point, params)) for point in (x, there))
    if not np.isfinite(here).all():
        raise GradientError(
            operation,
            "the Jacobian at the solution is not finite",
            accepts="start at another x0, so that f is differentiable at the solution",
        )
    sizes = np.linalg.svd(here, compute_uv=False)
    change = np.linalg.svd(near, compute_uv=False)[-1] - sizes[-1] if np.isfinite(near).all() else 0.0
    if sizes[-1] <= max(4 * len(here) * np.finfo(here.dtype).eps * sizes[0], abs(change)):
        raise GradientError(
            operation,
            "the Jacobian at the solution is singular, so the solution has no gradient",
            accepts="pass an equation whose solution is isolated and simple",
        )


def _settled(
    operation: str,
    equation: Equation,
    x: Any,
    params: tuple[Any, ...],
    x0: Array,
    linear: str,
    box: Box | None,
    values: Callable[[str, Any], Any] = plain_array,
) -> Array:
    """Return the result of a solver after some Newton steps; active bounds are kept."""
    if box is None:
        return _polished(operation, equation, x, params, x0, linear, values)
    point = to_numpy(x).reshape(-1)
    # The equation does not hold at a bound.
    if box.active(point).any():
        return asarray(x, copy=True)
    try:
        found = _polished(operation, equation, x, params, x0, linear, values)
        at = box.active(to_numpy(found))[0]
        if not at.any():
            return found
    except GradientError:
        slope = values(operation, equation(x, *params)).reshape(-1)
        # Some solvers end near a bound, never at it.
        at = box.pushed(point, slope)
        if not at.any():
            raise
    return asarray(numpy().where(at, box.nearest(point), point).reshape(x.shape), dtype=x.dtype)


def _polished(
    operation: str,
    equation: Equation,
    found: Any,
    params: tuple[Any, ...],
    x0: Array,
    linear: str,
    values: Callable[[str, Any], Any] = plain_array,
) -> Array:
    """Return the result of a solver after some Newton steps; raise if it is not a solution. `values` converts
    a result of the equation, which may be tracked.
    """
    np = numpy()
    x: Array = asarray(found, dtype=x0.dtype)
    if x.shape != x0.shape:
        facts = [("x0", str(x0.shape)), ("solution", str(x.shape))]
        raise ArgumentValueError(operation, "the solver's result and x0 have different shapes", facts)
    for _ in range(8):
        value = values(operation, equation(x, *params)).reshape(-1)
        if value.size != x.size:
            facts = [("x", str(x.shape)), ("f(x)", f"{value.size} elements")]
            raise ArgumentValueError(operation, "f(x) and x have different numbers of elements", facts)
        if not np.isfinite(value).all() or not np.isfinite(to_numpy(x)).all():
            _refuse(operation, value)
        if not value.any() or not value.size:
            return x
        try:
            step = _newton(operation, equation, x, params, value, linear)
        except (GradientError, ValueError, ArithmeticError):
            step = None
        if step is None or not np.isfinite(step).all():
            # With a singular Jacobian no step can test the solution. Its derivative raises.
            start = np.abs(values(operation, equation(x0, *params))).max()
            if not np.abs(value).max() <= np.finfo(value.dtype).eps ** 0.5 * start:
                _refuse(operation, value)
            return x
        size, scale = np.abs(step).max(), 1 + np.abs(to_numpy(x)).max()
        eps = np.finfo(value.dtype).eps
        if size > 0.1 * scale:
            _refuse(operation, value)
        x = x - asarray(step.reshape(x.shape), dtype=x.dtype)
        if size <= 4 * eps * scale:
            return x
    if size > eps**0.5 * scale:
        _refuse(operation, value)
    return x


def _newton(
    operation: str, equation: Equation, x: Array, params: tuple[Any, ...], value: Any, linear: str
) -> Any:
    np = numpy()
    if linear == "dense":
        return np.linalg.solve(detached_array(operation, _matrix(equation, x, params)), value)
    right = asarray(value.reshape(x.shape), dtype=x.dtype)
    return to_numpy(by_krylov(operation, _derivative(equation), right, (x, *params), linear, {})).reshape(-1)


def _refuse(operation: str, value: Any) -> None:
    raise GradientError(
        operation,
        "the solver did not converge, so its result has no gradient",
        [("largest residual", f"{float(numpy().abs(value).max()):.3g}")],
        "pass another x0, another method, or more iterations",
    )


class Box:
    """Bounds of a minimum; a minimum at a bound has no gradient."""

    def __init__(self, operation: str, bounds: Any, size: int) -> None:
        np = numpy()
        self.operation, self.low, self.high = operation, np.full(size, -np.inf), np.full(size, np.inf)
        if bounds is None:
            return
        try:
            pairs = [(low, high) for low, high in bounds]
        except (TypeError, ValueError):
            pairs = []
        if len(pairs) != size:
            raise ArgumentValueError(
                operation,
                "bounds must hold one pair for each element of x0",
                [("elements of x0", str(size))],
                "pass [(low, high), ...], with None for no bound",
            )
        for k, (low, high) in enumerate(pairs):
            self.low[k] = -np.inf if low is None else float(low)
            self.high[k] = np.inf if high is None else float(high)

    def active(self, x: Any) -> Any:
        """Return a mask of the elements of minima at a bound."""
        np = numpy()
        values = np.reshape(x, (-1, len(self.low)))
        near = 1e-9 * (1 + np.abs(values))
        return (values - self.low <= near) | (self.high - values <= near)

    def pushed(self, x: Any, slope: Any) -> Any:
        """Return a mask of elements near a bound at which the function grows inwards."""
        near = 1e-3 * (1 + numpy().abs(x))
        return ((x - self.low <= near) & (slope > 0)) | ((self.high - x <= near) & (slope < 0))

    def nearest(self, x: Any) -> Any:
        """Return the bound next to each element of a point."""
        return numpy().where(x - self.low < self.high - x, self.low, self.high)

    def refuse(self, x: Any) -> None:
        """Raise for a minimum at a bound, which has no gradient."""
        at = self.active(x)
        if at.any():
            raise GradientError(
                self.operation,
                f"the bound of element {int(at.nonzero()[1][0])} is active: the minimum has no gradient",
                accepts="widen the bounds, or minimize over y with x = exp(y) if x must be positive",
            )
