"""Minima of `scipy.optimize`: `minimize`, `minimize_scalar`, `least_squares`, `curve_fit`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentValueError
from stride0._core.array.array import Array
from stride0._core.exchange.numpy_calls import numpy
from stride0.autograd._matrices import hessian, jacobian
from stride0.autograd._transforms import grad
from stride0.autograd.implicit._solutions import Box
from stride0.autograd.scipy._arguments import item, one_of
from stride0.autograd.scipy._calls import original
from stride0.autograd.scipy._solvers import Calls, as_tuple, differentiated, moving, refuse, started, updated

_UNBOUNDED = (-float("inf"), float("inf"))
_DIFFERENCES = (None, False, "2-point", "3-point", "cs")
_WITHOUT_GRADIENT = ("nelder-mead", "powell", "cobyla", "cobyqa")
_WITH_HESSIAN = ("newton-cg", "dogleg", "trust-ncg", "trust-exact", "trust-krylov")


def _box(name: str, bounds: Any, size: int) -> Box:
    """Return bounds, given in any of SciPy's forms."""
    np = numpy()
    ends = (bounds.lb, bounds.ub) if hasattr(bounds, "lb") else bounds
    if name == "minimize" and ends is bounds:
        return Box(name, bounds, size)
    return Box(name, ends and list(zip(*(np.broadcast_to(end, size) for end in ends), strict=True)), size)


def minimize(
    fun: Any, x0: Any, args: Any = (), method: Any = None, jac: Any = None, hess: Any = None, **options: Any
) -> Any:
    """Find a minimum of a function of a vector: `scipy.optimize.minimize`.

    The fields `x` and `fun` are differentiable with respect to `args` and tracked arrays that `fun` uses.
    SciPy gets the gradient of `fun`, and the Hessian if the method needs it. A minimum at a bound
    has no derivative. `constraints` are not supported.
    """
    if options.pop("constraints", ()):
        problem = "a minimum with constraints has no gradient"
        raise ArgumentValueError("minimize", problem, accepts="add a penalty to fun instead")
    args, start, bounds, hessp = (
        as_tuple(args),
        started(x0),
        options.get("bounds"),
        options.pop("hessp", None),
    )
    kind = method.lower() if isinstance(method, str) else method

    def f(x: Array, *given: Any) -> Array:
        found = fun(x, *given)
        return xp.reshape(xp.asarray(found[0] if jac is True else found), ())

    def run(calls: Calls, *given: Any) -> Any:
        slope, curvature = jac, hess
        if isinstance(jac, str) or jac in _DIFFERENCES:
            slope = None if kind in _WITHOUT_GRADIENT else grad(f)
        if hess is None and hessp is None and kind in _WITH_HESSIAN:
            curvature = hessian(f)
        slope, curvature, product = (
            calls.plain(g, *given) if callable(g) and not inspect.isclass(g) else g
            for g in (slope, curvature, hessp)
        )
        solver, x = original("optimize.minimize"), item(start).copy()
        return solver(calls.plain(fun, *given), x, (), method, slope, curvature, product, **options)

    box = None if bounds is None else _box("minimize", bounds, start.size)
    result, x = differentiated("minimize", run, grad(f), start, args, "cg", box)
    return updated(result, x=x, fun=f(x, *args))


def minimize_scalar(fun: Any, bracket: Any = None, bounds: Any = None, args: Any = (), **options: Any) -> Any:
    """Find a minimum of a function of one variable: `scipy.optimize.minimize_scalar`.

    The fields `x` and `fun` are differentiable with respect to `args` and tracked arrays that `fun` uses. A
    minimum at a bound has no derivative.
    """
    args = as_tuple(args)

    def f(x: Array, *given: Any) -> Array:
        return xp.reshape(xp.asarray(fun(x, *given)), ())

    def run(calls: Calls, *given: Any) -> Any:
        return original("optimize.minimize_scalar")(calls.plain(f, *given), bracket, bounds, **options)

    box = None if bounds is None else Box("minimize_scalar", [bounds], 1)
    result, x = differentiated("minimize_scalar", run, grad(f), xp.asarray(0.0), args, box=box)
    return updated(result, x=x, fun=f(x, *args))


# For each loss of `least_squares`: a function of the squared residuals.
_LOSSES: dict[str, Callable[[Array], Array]] = {
    "linear": lambda z: z,
    "soft_l1": lambda z: 2 * (xp.sqrt(1 + z) - 1),
    "huber": lambda z: xp.where(z <= 1, z, 2 * xp.sqrt(xp.where(z <= 1, 1.0, z)) - 1),
    "cauchy": xp.log1p,
    "arctan": xp.atan,
}


def least_squares(
    fun: Any,
    x0: Any,
    jac: Any = "2-point",
    bounds: Any = _UNBOUNDED,
    *,
    loss: str = "linear",
    f_scale: float = 1.0,
    args: Any = (),
    kwargs: Any = None,
    **options: Any,
) -> Any:
    """Find a minimum of a sum of squares: `scipy.optimize.least_squares`.

    The fields `x`, `fun` and `cost` are differentiable with respect to `args`, `kwargs` and tracked arrays
    that `fun` uses. SciPy gets the Jacobian of `fun`. A minimum at a bound has no derivative.
    """
    one_of("least_squares", "loss", loss, tuple(_LOSSES))
    args, start = (*as_tuple(args), kwargs or {}), started(x0)

    def residuals(x: Array, *given: Any) -> Array:
        return xp.reshape(xp.asarray(fun(x, *given[:-1], **given[-1])), (-1,))

    def cost(x: Array, *given: Any) -> Array:
        return f_scale**2 / 2 * xp.sum(_LOSSES[loss]((residuals(x, *given) / f_scale) ** 2))

    def slope(x: Array, *given: Any) -> Any:
        return jac(x, *given[:-1], **given[-1]) if callable(jac) else jacobian(residuals)(x, *given)

    def run(calls: Calls, *given: Any) -> Any:
        by_differences = options.get("jac_sparsity") is not None and not callable(jac)
        matrix = jac if by_differences else calls.plain(slope, *given)
        more = {"bounds": bounds, "loss": loss, "f_scale": f_scale, **options}
        solver, x = original("optimize.least_squares"), item(start).copy()
        return solver(calls.plain(residuals, *given), x, matrix, **more)

    box = _box("least_squares", bounds, start.size)
    result, x = differentiated("least_squares", run, grad(cost), start, args, "cg", box)
    return updated(result, x=x, fun=residuals(x, *args), cost=cost(x, *args))


def curve_fit(
    f: Any,
    xdata: Any,
    ydata: Any,
    p0: Any = None,
    sigma: Any = None,
    absolute_sigma: bool = False,
    *,
    bounds: Any = _UNBOUNDED,
    jac: Any = None,
    **options: Any,
) -> tuple[Array, Array]:
    """Fit a function to data: `scipy.optimize.curve_fit`.

    Parameters and covariance are differentiable by `xdata`, `ydata`, `sigma` and the tracked arrays that `f`
    uses. The covariance follows from the Jacobian of `f`. `full_output` is not supported.
    """
    refuse("curve_fit", options, "full_output", "nan_policy")
    count = xp.asarray(p0).size if p0 is not None else len(inspect.signature(f).parameters) - 1
    start = xp.ones(count) if p0 is None else started(p0)
    y = xp.reshape(xp.asarray(ydata, dtype=xp.float64), (-1,))
    x = xp.asarray(xdata, dtype=xp.float64) if isinstance(xdata, (list, tuple, Array)) else xdata
    deviation = None if sigma is None else xp.asarray(sigma, dtype=xp.float64)

    def model(x: Any, *p: Array) -> Array:
        return xp.reshape(xp.asarray(f(x, *p)), (-1,))

    def residuals(p: Array, x: Any, y: Array, deviation: Any) -> Array:
        left = model(x, *[p[k] for k in range(count)]) - y
        if deviation is None:
            return left
        if deviation.size == 1 or deviation.ndim < 2:
            return left / xp.reshape(deviation, (-1,))
        return xp.linalg.solve(xp.linalg.cholesky(deviation), left)

    def cost(p: Array, *given: Any) -> Array:
        return xp.sum(residuals(p, *given) ** 2) / 2

    def slope(x: Any, *p: Any) -> Any:
        if callable(jac):
            return jac(x, *p)
        return jacobian(lambda p: model(x, *[p[k] for k in range(count)]))(xp.stack(p))

    def run(calls: Calls, x: Any, y: Array, deviation: Any) -> Any:
        fitted = calls.plain(lambda _, *p: model(x, *p))
        fitted.__signature__ = inspect.signature(f)  # type: ignore[attr-defined]
        matrix = jac if isinstance(jac, str) else calls.plain(lambda _, *p: slope(x, *p))
        data = (
            item(a) if isinstance(a, Array) else a for a in (x, y, p0 if p0 is None else start, deviation)
        )
        more = {"absolute_sigma": absolute_sigma, "bounds": bounds, "jac": matrix, **options}
        popt, pcov = original("optimize.curve_fit")(fitted, *data, **more)
        return SimpleNamespace(x=popt, covariance=pcov, closing=calls.closing)

    args, box = (x, y, deviation), _box("curve_fit", bounds, count)
    found, p = differentiated("curve_fit", run, grad(cost), start, args, "cg", box)
    if not (found.closing or moving(args)) or not numpy().isfinite(found.covariance).all():
        return p, xp.asarray(found.covariance)
    by_p = jacobian(residuals)(p, *args)
    covariance = xp.linalg.inv(by_p.T @ by_p)
    return p, covariance if absolute_sigma else covariance * (2 * cost(p, *args) / (y.size - count))
