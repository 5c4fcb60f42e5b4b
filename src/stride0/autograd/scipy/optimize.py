"""Differentiable forms of `scipy.optimize`: roots, and minima of functions. The
functions that you pass get stride0 arrays. If an array is tracked, Newton steps refine SciPy's solution to
rounding errors; if the solver did not converge, the call raises an error. Solutions have derivatives of any
order with respect to `args`, and up to third order with respect to other tracked arrays that the function
uses. The derivative by the start of a search is zero.

References
----------
`stride0.autograd.implicit` has the same with fewer options.

Examples
--------
>>> from stride0.autograd.scipy import optimize
>>> root = lambda a: optimize.brentq(lambda x, a: x**2 - a, 0.0, 10.0, args=(a,))
>>> xp.autograd.value_and_grad(root)(xp.asarray(4.0))
(Array(2., dtype=float64), Array(0.25, dtype=float64))
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NoReturn

import stride0 as xp
from stride0._base.errors import GradientError
from stride0._core.array.array import Array
from stride0.autograd.scipy._arguments import item
from stride0.autograd.scipy._calls import original
from stride0.autograd.scipy._minima import curve_fit, least_squares, minimize, minimize_scalar
from stride0.autograd.scipy._signatures import named
from stride0.autograd.scipy._solvers import Calls, as_tuple, differentiated, moving, refuse, started, updated

__all__ = [
    "bisect",
    "brenth",
    "brentq",
    "curve_fit",
    "fsolve",
    "least_squares",
    "linear_sum_assignment",
    "minimize",
    "minimize_scalar",
    "newton",
    "ridder",
    "root",
    "root_scalar",
    "toms748",
]


def root(fun: Any, x0: Any, args: Any = (), method: str = "hybr", jac: Any = None, **options: Any) -> Any:
    """Find a root of a vector function: `scipy.optimize.root`.

    Differentiable by `args` and the tracked arrays that `fun` uses; the fields `x` and `fun` are.
    """
    args = as_tuple(args)
    start = started(x0, method in ("hybr", "lm") or xp.asarray(x0).ndim == 0)

    def equation(x: Array, *given: Any) -> Array:
        found = fun(x, *given)
        return xp.asarray(found[0] if jac is True else found)

    def run(calls: Calls, *given: Any) -> Any:
        matrix = calls.plain(jac, *given) if callable(jac) else jac
        solver, x = original("optimize.root"), item(start).copy()
        return solver(calls.plain(fun, *given), x, (), method, matrix, **options)

    result, x = differentiated("root", run, equation, start, args)
    return updated(result, x=x, fun=equation(x, *args))


def fsolve(func: Any, x0: Any, args: Any = (), fprime: Any = None, **options: Any) -> Any:
    """Find a root of a vector function: `scipy.optimize.fsolve`.

    Differentiable as `root`. `full_output` is not supported.
    """
    refuse("fsolve", options, "full_output")
    if "epsfcn" in options:
        options["eps"] = options.pop("epsfcn")
    return root(func, x0, args, jac=fprime, options={"xtol": 1.49012e-8, **options}).x


# --- one variable


def _scalar(name: str, f: Any, starts: tuple[Any, ...], args: Any, options: dict[str, Any]) -> Any:
    """Return a root of one variable, and SciPy's report if `full_output` is given. If nothing is tracked,
    SciPy's number is returned unchanged.
    """
    args = as_tuple(args)
    # A root does not depend on the start of the search.
    starts = tuple(item(x) if isinstance(x, Array) else x for x in starts)
    newton = name == "newton"
    full, tracked = options.pop("full_output", False), [moving(args)]
    several = newton and getattr(starts[0], "ndim", 0) != 0
    x0 = started(starts[0], flat=False) if newton else xp.asarray(0.0)
    derivatives = {key: options.pop(key) for key in ("fprime", "fprime2") if options.get(key) is not None}

    def run(calls: Calls, *given: Any) -> Any:
        functions = {key: calls.plain(g, *given) for key, g in derivatives.items()}
        found = original(f"optimize.{name}")(
            calls.plain(f, *given), *starts, full_output=True, **options, **functions
        )
        tracked[0] |= calls.closing
        success = bool(found[1].all() if several else found[1].converged)
        return SimpleNamespace(x=found[0], facts=found[1:], success=success)

    def equation(x: Array, *given: Any) -> Array:
        return xp.reshape(xp.asarray(f(x, *given)), x.shape)

    result, x = differentiated(name, run, equation, x0, args)
    value = x if tracked[0] else result.x
    if not full:
        return value
    facts = result.facts if several else (updated(result.facts[0], root=value),)
    return (value, *facts)


def _bracketed(name: str, what: str) -> Any:
    def function(f: Any, a: Any, b: Any, args: Any = (), **options: Any) -> Any:
        return _scalar(name, f, (a, b), args, options)

    doc = f"""Find a root between two numbers by {what}: `scipy.optimize.{name}`.

    Differentiable by `args` and the tracked arrays that `f` uses, which takes and returns a number or a 0-d
    array. The derivatives by `a` and `b` are zero. Returns SciPy's result if nothing is tracked.
    """
    return named(function, name, doc)


bisect = _bracketed("bisect", "bisection")
brentq = _bracketed("brentq", "Brent's method")
brenth = _bracketed("brenth", "Brent's method with hyperbolas")
ridder = _bracketed("ridder", "Ridder's method")
toms748 = _bracketed("toms748", "algorithm 748")


def newton(func: Any, x0: Any, fprime: Any = None, args: Any = (), **options: Any) -> Any:
    """Find a root by Newton's method, or by secants: `scipy.optimize.newton`.

    Differentiable by `args` and the tracked arrays that `func` uses, like `brentq`; several roots at once,
    too. The derivative by `x0` is zero. Returns SciPy's result if nothing is tracked.
    """
    return _scalar("newton", func, (x0,), args, {**options, "fprime": fprime})


def root_scalar(f: Any, args: Any = (), method: Any = None, bracket: Any = None, **options: Any) -> Any:
    """Find a root of a function of one variable: `scipy.optimize.root_scalar`.

    Differentiable by `args` and the tracked arrays that `f` uses; the field `root` is.
    """
    args = as_tuple(args)
    functions = {k: options.pop(k) for k in ("fprime", "fprime2") if callable(options.get(k))}
    given_starts = {k: options.pop(k) for k in ("x0", "x1") if options.get(k) is not None}
    starts = {k: item(started(x, flat=False))[()] for k, x in given_starts.items()}
    if bracket is not None:
        bracket = [float(item(x)) if isinstance(x, Array) else x for x in bracket]
    pair = options.get("fprime") is True

    def run(calls: Calls, *given: Any) -> Any:
        more = {key: calls.plain(g, *given) for key, g in functions.items()}
        found = original("optimize.root_scalar")(
            calls.plain(f, *given), method=method, bracket=bracket, **starts, **options, **more
        )
        return updated(found, x=found.root)

    def equation(x: Array, *given: Any) -> Array:
        found = f(x, *given)
        return xp.reshape(xp.asarray(found[0] if pair else found), ())

    result, x = differentiated("root_scalar", run, equation, xp.asarray(0.0), args)
    del result["x"]
    return updated(result, root=x)


def linear_sum_assignment(cost_matrix: Any, maximize: bool = False) -> NoReturn:
    """Refuse a tracked matrix of costs: `scipy.optimize.linear_sum_assignment`.

    An assignment is integers, which have no derivative. The sum of the assigned costs has a gradient.
    """
    raise GradientError(
        "linear_sum_assignment",
        "the assignment is integers, which have no derivative",
        accepts="rows, columns = linear_sum_assignment(stop_gradient(costs)); sum(costs[rows, columns])",
    )
