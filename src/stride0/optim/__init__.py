"""Optimisers on nested structures of arrays: pure functions, designed like Optax.

An optimiser is a pair of functions: `init` makes a state from parameters; `update` makes updates and the next
state from gradients and a state. `apply_updates` adds updates to parameters. Nothing is changed in place.

    >>> import stride0 as xp
    >>> from stride0.autograd import grad
    >>> from stride0.optim import apply_updates, sgd
    >>> parameters = {"w": xp.asarray([1.0, -2.0])}
    >>> optimizer = sgd(0.25)
    >>> state = optimizer.init(parameters)
    >>> gradient = grad(lambda p: xp.sum(p["w"] ** 2))(parameters)
    >>> updates, state = optimizer.update(gradient, state)
    >>> apply_updates(parameters, updates)
    {'w': Array([ 0.5, -1. ], dtype=float64)}
"""

from stride0._base.errors import hide_frames as _hide_frames
from stride0.optim._optimizers import Minimum, Optimizer, adam, apply_updates, minimize_lbfgs, sgd

__all__ = ["Minimum", "Optimizer", "adam", "apply_updates", "minimize_lbfgs", "sgd"]

_hide_frames()
