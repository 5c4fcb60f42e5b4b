"""Differentiable forms of root finders of `scipy.optimize`: a root is a function of the equation.

References
----------
Its minimisers take gradients instead: `stride0.autograd.on_numpy`.

Examples
--------
>>> from stride0.autograd.scipy import optimize
>>> root = lambda a: optimize.brentq(lambda x, a: x**2 - a, 0.0, 10.0, args=(a,))
>>> xp.autograd.value_and_grad(root)(xp.asarray(4.0))
(Array(2., dtype=float64), Array(0.25, dtype=float64))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentTypeError, GradientError
from stride0._core.array.array import Array
from stride0.autograd._tape.tape import is_tracked
from stride0.autograd._transforms import grad, stop_gradient
from stride0.autograd.scipy._arguments import item
from stride0.autograd.scipy._calls import original
from stride0.autograd.scipy._signatures import named

__all__ = ["bisect", "brenth", "brentq", "newton", "ridder", "toms748"]


def plain(x: Any) -> Any:
    """Return a value that may be tracked as one of NumPy, or as it is."""
    return item(x) if isinstance(x, Array) else x


def _implicit(f: Callable[..., Any], root: Any, args: tuple[Any, ...]) -> Array:
    """Return a root with the derivatives that the equation gives.

    Each of Newton's steps doubles how many of them are right: the value stays, since `f` is zero there.
    """
    start = xp.asarray(float(root))
    x = start
    for _ in range(2):
        slope = grad(lambda t: xp.reshape(xp.asarray(f(t, *args)), ()))(x)
        if bool(slope == 0):
            raise GradientError(
                "root", "the function is level at the root, which has no derivative", accepts="a simple root"
            )
        x = x - xp.reshape(xp.asarray(f(x, *args)), ()) / slope
    found: Array = start + (x - stop_gradient(x))
    return found


def _rooted(
    name: str, f: Callable[..., Any], starts: tuple[Any, ...], args: Any, options: dict[str, Any]
) -> Any:
    tracked = [False]
    given = args if isinstance(args, tuple) else (args,)
    if any(isinstance(x, Array) and is_tracked(x) for x in starts):
        # A root does not move with where the search begins.
        starts = tuple(plain(x) for x in starts)

    def value(t: Any, *given: Any) -> Any:
        y = f(t, *given)
        if isinstance(y, Array) and is_tracked(y):
            tracked[0] = True
            return float(item(y))
        return y

    found = original(f"optimize.{name}")(value, *starts, args=args, **options)
    if not tracked[0]:
        return found
    if options.get("full_output"):
        return _implicit(f, found[0], given), *found[1:]
    if getattr(found, "ndim", 0) != 0:
        raise ArgumentTypeError(
            name, "several roots at once have no gradient", accepts="one number to begin with"
        )
    return _implicit(f, found, given)


def _bracketed(name: str, what: str) -> Any:
    def function(f: Any, a: Any, b: Any, args: Any = (), **options: Any) -> Any:
        return _rooted(name, f, (a, b), args, options)

    doc = f"""Find a root between two numbers by {what}: `scipy.optimize.{name}`.

    Differentiable by `args` and the tracked arrays that `f` uses, which takes and returns a number or a 0-d
    array: to third order, as an implicit function, whatever the steps of the search were. The derivatives by
    `a` and `b` are zero. Returns what SciPy returns if nothing is tracked.
    """
    return named(function, name, doc)


bisect = _bracketed("bisect", "bisection")
brentq = _bracketed("brentq", "Brent's method")
brenth = _bracketed("brenth", "Brent's method with hyperbolas")
ridder = _bracketed("ridder", "Ridder's method")
toms748 = _bracketed("toms748", "algorithm 748")


def newton(func: Any, x0: Any, fprime: Any = None, args: Any = (), **options: Any) -> Any:
    """Find a root by Newton's method, or by secants: `scipy.optimize.newton`.

    Differentiable by `args` and the tracked arrays that `func` uses, like `brentq`. The derivative by `x0` is
    zero. Returns what SciPy returns if nothing is tracked.
    """
    if fprime is not None:
        options["fprime"] = lambda t, *given: _number(fprime(t, *given))
    if options.get("fprime2") is not None:
        second = options["fprime2"]
        options["fprime2"] = lambda t, *given: _number(second(t, *given))
    return _rooted("newton", func, (x0,), args, options)


def _number(y: Any) -> Any:
    return float(item(y)) if isinstance(y, Array) and is_tracked(y) else y
