"""Differentiable forms of `scipy.integrate`. Its other rules for samples have gradients already.

References
----------
Cartwright: Simpson's rule cumulative integration, 2017.

Examples
--------
>>> from stride0.autograd.scipy import integrate
>>> xp.autograd.grad(lambda y: integrate.simpson(y, dx=3.0))(xp.zeros(3)).round(6)
Array([1., 4., 1.], dtype=float64)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentValueError
from stride0._core.array.array import Array
from stride0.autograd._tape.tape import is_tracked
from stride0.autograd._transforms import stop_gradient
from stride0.autograd.scipy._arguments import floating, item, ratio, require
from stride0.autograd.scipy._axes import along, axis_of, lane
from stride0.autograd.scipy._calls import original, scipy
from stride0.autograd.scipy._examples import each_example
from stride0.autograd.scipy._ivp import odeint, solve_ivp
from stride0.autograd.scipy._solvers import as_tuple

__all__ = ["dblquad", "fixed_quad", "nquad", "odeint", "quad", "quad_vec", "simpson", "solve_ivp", "tplquad"]


def simpson(y: Any, x: Any = None, *, dx: float = 1.0, axis: int = -1) -> Array:
    """Integrate samples by Simpson's rule: `scipy.integrate.simpson`.

    Differentiable by `y`, and by `x` if neighbours differ.
    """
    y = floating("simpson", "y", y)
    axis = axis_of("simpson", y, axis)
    n = y.shape[axis]

    def picked(values: Array, first: int, last: int, step: int = 1) -> Array:
        return values[along(values.ndim, axis, slice(first, last, step))]

    if x is None:
        steps = xp.full(tuple(max(n - 1, 0) if k == axis else 1 for k in range(y.ndim)), dx, dtype=y.dtype)
    else:
        x = floating("simpson", "x", x)
        if x.ndim == 1:
            x = xp.reshape(x, lane(y, axis))
        require(
            x.ndim == y.ndim and x.shape[axis] == n, "simpson", "x", x, "one axis, or the shape of y", y=y
        )
        steps = picked(x, 1, n) - picked(x, 0, n - 1)
    if n == 2:
        return xp.sum(steps * (picked(y, 0, 1) + picked(y, 1, 2)) / 2, axis=axis)
    last = n if n % 2 else max(n - 1, 0)
    pairs = max(last - 1, 0)
    h0, h1 = picked(steps, 0, pairs, 2), picked(steps, 1, pairs, 2)
    both = h0 + h1
    parabolas = picked(y, 0, max(last - 2, 0), 2) * (2 - ratio(h1, h0))
    parabolas = parabolas + picked(y, 1, pairs, 2) * (ratio(both, h0) * ratio(both, h1))
    parabolas = parabolas + picked(y, 2, last, 2) * (2 - ratio(h0, h1))
    result = xp.sum(both / 6 * parabolas, axis=axis)
    if n % 2 or n == 0:
        return result
    # The last interval, by the parabola through the last three samples.
    h0, h1 = picked(steps, n - 3, n - 2), picked(steps, n - 2, n - 1)
    rest = picked(y, n - 1, n) * (h1 * ratio(2 * h1 + 3 * h0, 6 * (h0 + h1)))
    rest = rest + picked(y, n - 2, n - 1) * (h1 * ratio(h1 + 3 * h0, 6 * h0))
    rest = rest - picked(y, n - 3, n - 2) * (h1 * ratio(h1, h0) * ratio(h1, 6 * (h0 + h1)))
    return result + xp.sum(rest, axis=axis)


# --- functions

# Nodes in each of the intervals that SciPy chose.
_NODES = 16


def _number(x: Any) -> float:
    return float(item(x)) if isinstance(x, Array) else float(x)


def _substituted(a: float, b: float) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """Return SciPy's substitution for infinite intervals: the variable, and the factor of the function."""
    if math.isfinite(a) and math.isfinite(b):
        return lambda t: t, lambda t: 1.0
    if math.isfinite(a) or math.isfinite(b):
        start, sign = (a, math.copysign(1.0, b)) if math.isfinite(a) else (b, math.copysign(1.0, a))
        outer = 1.0 if math.isfinite(a) else -1.0
        return lambda t: start + sign * (1 - t) / t, lambda t: outer * sign / (t * t)
    sign = -1.0 if b < a else 1.0
    return lambda t: (1 - abs(t)) / t, lambda t: sign / (t * t)


@each_example
def quad_vec(f: Any, a: Any, b: Any, *args: Any, full_output: bool = False, **options: Any) -> Any:
    """Integrate a function of a number that returns an array: `scipy.integrate.quad_vec`.

    Differentiable by the tracked arrays that `f` uses, and by `a` and `b` if they are arrays. SciPy chooses
    intervals and computes the value. The gradient is the integral of the gradient, by Gauss's rule in these
    intervals. `full_output` is only what SciPy says of the integration.
    """
    tracked = [any(isinstance(x, Array) and is_tracked(x) for x in (a, b))]
    more = options.get("args", ())
    more = more if isinstance(more, tuple) else (more,)

    def value(t: Any, *given: Any) -> Any:
        y = f(t, *given)
        if isinstance(y, Array) and is_tracked(y):
            tracked[0] = True
            return item(y)
        return y

    low, high = _number(a), _number(b)
    integral, error, facts = original("integrate.quad_vec")(
        value, low, high, *args, full_output=True, **options
    )
    rest = (facts,) if full_output else ()
    if not tracked[0]:
        return integral, error, *rest
    variable, factor = _substituted(low, high)
    nodes, weights = scipy("special").roots_legendre(_NODES)
    parts = []
    for start, end in facts.intervals.tolist():
        for node, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
            t = start + (end - start) * (1 + node) / 2
            y = xp.asarray(f(variable(t), *more))
            parts.append(y * (factor(t) * weight * (end - start) / 2))
    found = sum(parts[1:], parts[0])
    for limit, number, sign in ((a, low, -1.0), (b, high, 1.0)):
        if isinstance(limit, Array) and is_tracked(limit):
            # The integral from the number to the equal limit: three nodes give six derivatives.
            nodes, weights = scipy("special").roots_legendre(3)
            width = limit - number
            for node, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
                y = xp.asarray(f(number + width * ((1 + node) / 2), *more))
                found = found + y * (width * (sign * weight / 2))
    return xp.asarray(integral, dtype=found.dtype) + (found - stop_gradient(found)), error, *rest


def quad(
    func: Any,
    a: Any,
    b: Any,
    args: Any = (),
    *,
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
    limit: int = 50,
    points: Any = None,
) -> tuple[Any, float]:
    """Integrate a function of a number: `scipy.integrate.quad`.

    Differentiable by `args`, the tracked arrays that `func` uses, `a` and `b`. `quad_vec`
    computes the numbers, to the same tolerance as SciPy's `quad`.
    """
    options = {"epsabs": epsabs, "epsrel": epsrel, "limit": limit, "points": points, "args": as_tuple(args)}
    found: tuple[Any, float] = quad_vec(func, a, b, **options)
    return found


@each_example
def fixed_quad(func: Any, a: Any, b: Any, args: Any = (), n: int = 5) -> tuple[Array, None]:
    """Integrate by Gauss's rule: `scipy.integrate.fixed_quad`.

    Differentiable by `args`, the tracked arrays that `func` uses, `a` and `b`. `func` gets a stride0 array.
    """
    if not all(math.isfinite(_number(x)) for x in (a, b)):
        raise ArgumentValueError("fixed_quad", "a limit is not finite", accepts="call quad")
    nodes, weights = (xp.asarray(x) for x in scipy("special").roots_legendre(n))
    y = xp.asarray(func((b - a) * (nodes + 1) / 2 + a, *as_tuple(args)))
    return (b - a) / 2 * xp.sum(weights * y, axis=-1), None


@each_example
def nquad(func: Any, ranges: Any, args: Any = (), opts: Any = None) -> tuple[Any, float]:
    """Integrate over several variables, the first one innermost: `scipy.integrate.nquad`.

    Differentiable by `args`, and by tracked arrays that `func` or `ranges` uses. `opts` may hold `epsabs`,
    `epsrel`, `limit` and `points`: one dictionary for all variables, or a list with a dictionary for each.
    """
    given, errors = () if args is None else as_tuple(args), [0.0]
    options = [opts or {}] * len(ranges) if opts is None or isinstance(opts, dict) else list(opts)

    def integral(k: int, *outer: Any) -> Any:
        def inner(x: Any) -> Any:
            return integral(k - 1, x, *outer) if k else func(x, *outer, *given)

        limits = ranges[k](*outer, *given) if callable(ranges[k]) else ranges[k]
        value, error = quad(inner, *limits, **options[k])
        errors[0] = max(errors[0], error)
        return value

    return integral(len(ranges) - 1), errors[0]


def _ends(low: Any, high: Any, *outer: Any) -> list[Any]:
    """Return limits that may be functions of outer variables."""
    return [end(*outer) if callable(end) else end for end in (low, high)]


def dblquad(
    func: Any,
    a: Any,
    b: Any,
    gfun: Any,
    hfun: Any,
    args: Any = (),
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
) -> tuple[Any, float]:
    """Integrate over two variables: `scipy.integrate.dblquad`. Differentiable as `nquad`, and by limits."""
    ranges = [lambda x, *_: _ends(gfun, hfun, x), (a, b)]
    return nquad(func, ranges, args, {"epsabs": epsabs, "epsrel": epsrel})


def tplquad(
    func: Any,
    a: Any,
    b: Any,
    gfun: Any,
    hfun: Any,
    qfun: Any,
    rfun: Any,
    args: Any = (),
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
) -> tuple[Any, float]:
    """Integrate over three variables: `scipy.integrate.tplquad`. Differentiable as `nquad`, and by limits."""
    inner = [lambda y, x, *_: _ends(qfun, rfun, x, y), lambda x, *_: _ends(gfun, hfun, x)]
    return nquad(func, [*inner, (a, b)], args, {"epsabs": epsabs, "epsrel": epsrel})
