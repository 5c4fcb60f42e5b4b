"""Initial value problems, `solve_ivp` and `odeint`: the tape records the steps that SciPy took."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentTypeError, GradientError
from stride0._core.array.array import Array
from stride0._core.exchange.numpy_calls import numpy
from stride0.autograd._custom import checkpoint
from stride0.autograd._tape.trees import tree_map
from stride0.autograd._transforms import stop_gradient
from stride0.autograd.implicit._solutions import corrected
from stride0.autograd.scipy._arguments import item
from stride0.autograd.scipy._calls import as_event, original, scipy
from stride0.autograd.scipy._examples import each_example
from stride0.autograd.scipy._multistep import Bdf
from stride0.autograd.scipy._runge_kutta import Dop853, Explicit, Radau, Step, Taken
from stride0.autograd.scipy._solvers import Calls, as_tuple, moving, updated

# A checkpoint recomputes at least this number of steps at once.
BLOCK_MIN_STEPS = 32
METHODS: dict[str, type[Explicit]] = {
    "RK23": Explicit,
    "RK45": Explicit,
    "DOP853": Dop853,
    "Radau": Radau,
    "BDF": Bdf,
}


class Solution:
    """A continuous solution: a differentiable function of the time."""

    def __init__(self, method: Explicit, steps: list[Taken], y0: Array) -> None:
        self.method, self.steps, self.y0 = method, steps, y0
        self.sign = -1.0 if steps and steps[0].end < steps[0].start else 1.0
        self.bounds = self.sign * numpy().asarray([step.end for step in steps])
        self.known: dict[int, Step] = {}

    def step_of(self, t: Any) -> Any:
        """Return the index of the step that contains each time."""
        np = numpy()
        numbers = np.searchsorted(self.bounds, self.sign * np.asarray(t))
        return np.clip(numbers, 0, max(len(self.steps) - 1, 0))

    def follow(
        self, f: Callable[..., Array], shifts: tuple[Any, Any], given: Any, dense: set[int], ends: bool
    ) -> list[Array]:
        """Take all steps, with a checkpoint for each block of them; return the values at the ends if asked.

        `shifts` are zeros that have the derivatives of both ends of the interval. Step sizes do not change,
        except that the last step ends where the interval ends.
        """
        count, y = len(self.steps), self.y0
        size = max(BLOCK_MIN_STEPS, math.isqrt(count))
        if not count:
            return []

        def place(k: int, shifts: Any) -> tuple[Any, Any]:
            start, end = self.steps[k][:2]
            h = end - start if k < count - 1 else end - start + (shifts[1] - shifts[0])
            return xp.asarray(start) + shifts[0], h

        def block(first: int, y: Array, state: Array, shifts: Any, given: Any) -> Any:
            kept = []
            for k in range(first, min(first + size, count)):
                t, h = place(k, shifts)
                old = y
                y, state, more = self.method.advance(
                    lambda t, y: f(t, y, *given), t, y, state, h, k in dense, self.steps[k]
                )
                kept.append(([old] if more else [], more, [y] if ends else []))
            return y, state, kept

        state = self.method.begin(f(place(0, shifts)[0], y, *given), self.steps[0])
        values: list[Array] = []
        for first in range(0, count, size):
            run = functools.partial(block, first)
            y, state, kept = (checkpoint(run) if count > size else run)(y, state, shifts, given)
            for k, (old, more, end) in enumerate(kept, first):
                values += end
                if more:
                    self.known[k] = Step(*place(k, shifts), old[0], more[0])
        return values

    def at(self, t: Array, numbers: Any = None) -> Array:
        """Return the values at several times, a row each; `numbers` are the indices of the steps."""
        np = numpy()
        if not self.steps or t.size == 0:
            return xp.broadcast_to(self.y0, (t.size, self.y0.size))
        if numbers is None:
            numbers = self.step_of(item(t))
        order = np.argsort(numbers, kind="stable")
        parts = []
        for k in np.unique(numbers):
            chosen = xp.take(t, xp.asarray(order[numbers[order] == k]))
            parts.append(self.method.between(self.known[int(k)], chosen))
        return xp.take(xp.concat(parts, axis=0), xp.asarray(np.argsort(order)), axis=0)

    def __call__(self, t: Any) -> Array:
        """Return the values at a time, of shape (n,), or at several times, of shape (n, times)."""
        t = xp.asarray(t, dtype=xp.float64)
        found = self.at(xp.reshape(t, (-1,)))
        return found.T if t.ndim else found[0, :]


def _recording(made: Any, kept: str, steps: list[Taken]) -> Any:
    """Return a SciPy solver that records its steps, and the attribute `kept` after each step."""

    class Recording(made):  # type: ignore[misc]
        def _step_impl(self) -> Any:
            start, order = float(self.t), getattr(self, "order", 0)
            spacing = steps[-1].end - steps[-1].start if steps else self.h_abs * self.direction
            found = super()._step_impl()
            if found[0]:
                orders = (order, getattr(self, "order", 0))
                steps.append(Taken(start, float(self.t), spacing, orders, getattr(self, kept, None)))
            return found

    Recording.__name__ = made.__name__
    return Recording


def _shift(t: Any) -> Any:
    """Return zero with the derivative of a time."""
    return t - stop_gradient(t) if isinstance(t, Array) and moving(t) else 0.0


@each_example
def solve_ivp(
    fun: Any,
    t_span: Any,
    y0: Any,
    method: Any = "RK45",
    t_eval: Any = None,
    dense_output: bool = False,
    events: Any = None,
    vectorized: bool = False,
    args: Any = None,
    **options: Any,
) -> Any:
    """Solve an initial value problem: `scipy.integrate.solve_ivp`.

    The fields `y`, `t`, `t_events`, `y_events` and `sol` are differentiable with respect to `y0`, `args`,
    tracked arrays that `fun` uses, both ends of `t_span`, and `t_eval`. `sol` takes tracked times. LSODA
    does not show its steps, so it is refused if an array is tracked: pass ``method="BDF"``. SciPy chooses the
    steps, and the tape records the same steps: the gradient is exact for the computed numbers, with constant
    step sizes. Memory grows with the square root of the number of steps, and with the number of times in `t`.
    `fun` gets stride0 arrays, also for the time. Within `vmap`, SciPy solves one example after another.
    """
    args = () if args is None else as_tuple(args)
    dtype = xp.asarray(y0).dtype
    dtype = xp.complex128 if xp.isdtype(dtype, "complex floating") else xp.float64
    y0 = xp.asarray(y0, dtype=dtype)
    times = None if t_eval is None else xp.asarray(t_eval, dtype=xp.float64)
    span = [xp.asarray(t, dtype=xp.float64) for t in t_span]
    everything = [y0, times, span, args]

    def f(t: Array, y: Array, *given: Any) -> Array:
        slope = fun(t, xp.expand_dims(y, axis=1) if vectorized else y, *given)
        return xp.reshape(xp.asarray(slope, dtype=dtype), y.shape)

    calls, plain = Calls("integrate.solve_ivp"), stop_gradient(args)
    if callable(options.get("jac")):
        options["jac"] = calls.plain(options["jac"], *plain)
    watched = [_event(calls, event, plain) for event in _listed(events)]
    made = {key: getattr(scipy("integrate"), key) for key in METHODS}
    name = next((key for key in made if method in (key, made[key])), "")
    steps: list[Taken] = []
    found = original("integrate.solve_ivp")(
        calls.plain(f, *plain),
        [float(item(t)) for t in span],
        item(y0),
        _recording(made[name], METHODS[name].kept, steps) if name else method,
        None if times is None else item(times),
        dense_output,
        watched or None,
        **options,
    )
    differentiable = moving(everything) or calls.closing
    if differentiable:
        if not name:
            problem = f"the steps of {getattr(method, '__name__', method)} have no gradient"
            accepts = "pass method='DOP853', or method='BDF' or method='Radau' if the equation is stiff"
            raise GradientError("solve_ivp", problem, accepts=accepts)
        if not found.success:
            problem = "the solver failed: its result has no gradient"
            raise GradientError("solve_ivp", problem, [("message", found.message)], "try another method")
    if not name or not (differentiable or dense_output):
        fields = {key: found[key] for key in ("t", "y", "t_events", "y_events") if found[key] is not None}
        return updated(found, **tree_map(xp.asarray, fields))
    solution = Solution(METHODS[name](name), steps, y0)
    return _recorded(solution, f, found, span, times, _listed(events), args, dense_output, differentiable)


def _recorded(
    solution: Solution,
    f: Callable[..., Array],
    found: Any,
    span: list[Array],
    times: Array | None,
    events: list[Any],
    args: tuple[Any, ...],
    dense_output: bool,
    differentiable: bool,
) -> Any:
    """Return SciPy's result with the values of recorded steps."""
    steps = solution.steps
    # If the last step reaches the end of the interval, it moves with this end.
    reached = bool(steps) and steps[-1].end == float(item(span[1]))
    shift = _shift(span[0])
    shifts = (shift, _shift(span[1]) if reached else shift)
    dense = set(range(len(steps))) if dense_output else set()
    for t in [*(found.t_events or []), *([] if times is None else [found.t])]:
        dense.update(solution.step_of(t).tolist())
    ends = solution.follow(f, shifts, args, dense, times is None)
    t_events: Any = None
    y_events: Any = None
    if found.t_events is not None:
        t_events = [xp.asarray(t) for t in found.t_events]
        if differentiable:
            each = zip(events, found.t_events, strict=True)
            t_events = [_moments(solution, event, t, args) for event, t in each]
        # Use SciPy's step: rounding in a corrected time must not move the time to another step.
        each = zip(t_events, found.t_events, strict=True)
        y_events = [solution.at(t, solution.step_of(ts)) if len(ts) else xp.zeros(0) for t, ts in each]
    if times is not None:
        t = times[: len(found.t)]
        y = solution.at(t)
    else:
        moved = [shifts[0]] * (len(found.t) - 1) + [shifts[1]]
        t = xp.asarray(found.t) + (xp.stack([xp.asarray(m) for m in moved]) if steps else 0.0)
        y = xp.stack([solution.y0, *ends] if steps else [solution.y0] * len(found.t))
        if found.status == 1:
            which = next(k for k, ts in enumerate(found.t_events) if len(ts) and ts[-1] == found.t[-1])
            t = xp.concat([t[:-1], t_events[which][-1:]])
            y = xp.concat([y[: len(found.t) - 1, :], y_events[which][-1:, :]])
    more = {"sol": solution} if dense_output else {}
    return updated(found, t=t, y=y.T, t_events=t_events, y_events=y_events, **more)


def _listed(events: Any) -> list[Any]:
    return [] if events is None else [events] if callable(events) else list(events)


def _event(calls: Calls, event: Any, given: Any) -> Any:
    return as_event(calls.plain(lambda t, y: xp.reshape(xp.asarray(event(t, y, *given)), ())), event)


def _moments(solution: Solution, event: Any, times: Any, args: tuple[Any, ...]) -> Array:
    """Return the times of an event with their derivatives."""
    moments = []
    for t, k in zip(times.tolist(), solution.step_of(times).tolist(), strict=True):
        step = solution.known[k]

        def equation(x: Array, step: Step = step) -> Array:
            t = step.t + x * step.h
            y = solution.method.between(step, xp.reshape(t, (1,)))[0, :]
            return xp.reshape(xp.asarray(event(t, y, *args)), ())

        # The unknown is the part of the step before the event.
        x = stop_gradient((t - step.t) / step.h)
        moments.append(step.t + corrected("solve_ivp", equation, x, x + 1) * step.h)
    return xp.stack(moments) if moments else xp.zeros(0)


def odeint(
    func: Any, y0: Any, t: Any, args: Any = (), *, rtol: Any = None, atol: Any = None, tfirst: bool = False
) -> Array:
    """Solve an initial value problem: `scipy.integrate.odeint`.

    Differentiable by `y0`, `t`, `args` and the tracked arrays that `func` uses. SciPy's LSODA does not show
    its steps, so `solve_ivp` computes the numbers by DOP853 with the tolerances of `odeint`. For a stiff
    equation, call `solve_ivp` with ``method="BDF"`` or ``method="Radau"``.
    """
    t = xp.asarray(t, dtype=xp.float64)
    if t.ndim != 1 or t.size < 2:
        raise ArgumentTypeError("odeint", f"t has shape {t.shape}", (), "pass a vector of at least two times")
    rtol, atol = (1.49012e-8 if tolerance is None else tolerance for tolerance in (rtol, atol))
    f = func if tfirst else lambda t, y, *given: func(y, t, *given)
    found = solve_ivp(f, (t[0], t[-1]), y0, "DOP853", t, args=args, rtol=rtol, atol=atol)
    return found.y.T  # type: ignore[no-any-return]
