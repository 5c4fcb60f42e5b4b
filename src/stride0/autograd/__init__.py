"""Automatic differentiation of array-agnostic code: reverse mode, to any order.

The functions here transform functions of arrays into functions that return gradients. Differentiated code
calls the functions of the Array API standard.

    >>> import stride0 as xp
    >>> from stride0.autograd import grad
    >>> grad(lambda x: xp.sum(xp.sin(x)))(xp.asarray([0.0]))
    Array([1.], dtype=float64)
"""

from stride0._base.errors import GradientError
from stride0._base.errors import hide_frames as _hide_frames
from stride0.autograd import implicit, scipy
from stride0.autograd._custom import checkpoint, custom_vjp
from stride0.autograd._custom_jvp import custom_jvp
from stride0.autograd._imperative import Tape
from stride0.autograd._jet import derivatives, jet
from stride0.autograd._loops import checkpoint_loop
from stride0.autograd._maps import LinearMap, hvp, linear_transpose, linearize, vhp
from stride0.autograd._matrices import hessian, hessian_diag, jacobian, value_and_jacobian
from stride0.autograd._numpy import on_numpy
from stride0.autograd._rules.table import NO_GRAD, REFUSED, VJP
from stride0.autograd._sparsity import (
    SparsePlan,
    hessian_sparsity,
    jacobian_sparsity,
    sparse_hessian,
    sparse_jacobian,
    sparse_plan,
)
from stride0.autograd._transforms import grad, jvp, stop_gradient, value_and_grad, vjp
from stride0.autograd._vmap import vmap

__all__ = [
    "NO_GRAD",
    "REFUSED",
    "VJP",
    "GradientError",
    "LinearMap",
    "SparsePlan",
    "Tape",
    "checkpoint",
    "checkpoint_loop",
    "custom_jvp",
    "custom_vjp",
    "derivatives",
    "grad",
    "hessian",
    "hessian_diag",
    "hessian_sparsity",
    "hvp",
    "implicit",
    "jacobian",
    "jacobian_sparsity",
    "jet",
    "jvp",
    "linear_transpose",
    "linearize",
    "on_numpy",
    "scipy",
    "sparse_hessian",
    "sparse_jacobian",
    "sparse_plan",
    "stop_gradient",
    "value_and_grad",
    "value_and_jacobian",
    "vhp",
    "vjp",
    "vmap",
]


def __dir__() -> list[str]:
    # `stride0.autograd.hips` is imported by its own name.
    return sorted(globals().keys() - {"hips"})


_hide_frames()
