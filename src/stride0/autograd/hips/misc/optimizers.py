"""HIPS/autograd's optimisers: loops that call ``grad(x, i)`` and ``callback(x, i, g)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import stride0 as xp
from stride0.autograd.hips.misc.flatten import flatten

__all__ = ["adam", "rmsprop", "sgd"]

DOCUMENT = """Minimize a function by {}.

    Parameters
    ----------
    grad : callable
        Takes the parameters and the number of the iteration, returns a gradient structured like them.
    x0 : nested structure of arrays
        The first parameters.
    callback : callable, optional
        Called with the parameters, the number of the iteration and the gradient, before each step.
    num_iters : int
        The number of steps.
    {} : float
        Constants of the method; `step_size` multiplies each step.

    Returns
    -------
    nested structure of arrays
        The last parameters.

    Examples
    --------
    >>> from stride0.autograd.hips.misc import optimizers
    >>> bool(abs(optimizers.{}(lambda x, i: 2 * (x - 3), 0.0, num_iters=2000, step_size=0.01) - 3) < 0.02)
    True
    """


def _minimize(
    grad: Any, x0: Any, callback: Any, num_iters: int, step: Callable[..., Any], *state: Any
) -> Any:
    """Return the parameters after the steps; `step` returns the change and the next state."""
    x, unflatten = flatten(x0)
    state = tuple(xp.full_like(x, value) for value in state)
    for i in range(num_iters):
        parameters = unflatten(x)
        g = flatten(grad(parameters, i))[0]
        if callback:
            callback(parameters, i, unflatten(g))
        change, *state = step(i, g, *state)
        x = x + change
    return unflatten(x)


def sgd(
    grad: Any, x0: Any, callback: Any = None, num_iters: int = 200, step_size: float = 0.1, mass: float = 0.9
) -> Any:
    def step(i: int, g: Any, velocity: Any) -> Any:
        velocity = mass * velocity - (1 - mass) * g
        return step_size * velocity, velocity

    return _minimize(grad, x0, callback, num_iters, step, 0)


def rmsprop(
    grad: Any,
    x0: Any,
    callback: Any = None,
    num_iters: int = 100,
    step_size: float = 0.1,
    gamma: float = 0.9,
    eps: float = 1e-8,
) -> Any:
    def step(i: int, g: Any, average: Any) -> Any:
        average = average * gamma + g**2 * (1 - gamma)
        return -step_size * g / (xp.sqrt(average) + eps), average

    return _minimize(grad, x0, callback, num_iters, step, 1)


def adam(
    grad: Any,
    x0: Any,
    callback: Any = None,
    num_iters: int = 100,
    step_size: float = 0.001,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
) -> Any:
    def step(i: int, g: Any, m: Any, v: Any) -> Any:
        m, v = (1 - b1) * g + b1 * m, (1 - b2) * g**2 + b2 * v
        scaled = m / (1 - b1 ** (i + 1)), xp.sqrt(v / (1 - b2 ** (i + 1)))
        return -step_size * scaled[0] / (scaled[1] + eps), m, v

    return _minimize(grad, x0, callback, num_iters, step, 0, 0)


sgd.__doc__ = DOCUMENT.format("gradient descent with momentum", "step_size, mass", "sgd")
rmsprop.__doc__ = DOCUMENT.format("RMSprop", "step_size, gamma, eps", "rmsprop")
adam.__doc__ = DOCUMENT.format("Adam", "step_size, b1, b2, eps", "adam")
