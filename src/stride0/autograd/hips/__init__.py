"""HIPS/autograd's names: ``from stride0.autograd.hips import grad, elementwise_grad``.

Operators take NumPy arrays, Python floats and stride0 arrays, and return stride0 arrays. Gradients with
respect to complex arguments follow HIPS's convention, the conjugate of stride0's. `numpy` is `stride0.numpy`,
`misc` has `flatten`, `optimizers` and `fixed_points`, `builtins` has Python's own `tuple`, `list` and `dict`.

Examples
--------
>>> import stride0.autograd.hips as autograd
>>> autograd.elementwise_grad(autograd.numpy.tanh)(xp.asarray([0.0]))
Array([1.], dtype=float64)
"""

from stride0 import numpy
from stride0.autograd import checkpoint
from stride0.autograd.hips import _operators, builtins, extend, misc
from stride0.autograd.hips._operators import *  # noqa: F403
from stride0.autograd.hips.builtins import dict, isinstance, list, tuple, type  # noqa: F401
from stride0.autograd.hips.extend import defjvp, defvjp, primitive

__all__ = [
    "builtins",
    "checkpoint",
    "defjvp",
    "defvjp",
    "extend",
    "misc",
    "numpy",
    "primitive",
    *_operators.__all__,
]
