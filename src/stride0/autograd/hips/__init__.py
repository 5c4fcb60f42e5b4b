"""HIPS/autograd's names: ``from stride0.autograd.hips import grad, elementwise_grad``.

Operators take NumPy arrays, Python floats and arrays of stride0, and return arrays of stride0. Gradients with
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
from stride0.autograd.hips import builtins, extend, misc
from stride0.autograd.hips._operators import (
    deriv,
    elementwise_grad,
    grad,
    grad_and_aux,
    grad_named,
    hessian,
    hessian_tensor_product,
    hessian_vector_product,
    holomorphic_grad,
    jacobian,
    make_ggnvp,
    make_hvp,
    make_jvp,
    make_vjp,
    multigrad_dict,
    tensor_jacobian_product,
    value_and_grad,
    vector_jacobian_product,
)
from stride0.autograd.hips.builtins import dict, isinstance, list, tuple, type  # noqa: F401
from stride0.autograd.hips.extend import defjvp, defvjp, primitive

__all__ = [
    "builtins",
    "checkpoint",
    "defjvp",
    "defvjp",
    "deriv",
    "elementwise_grad",
    "extend",
    "grad",
    "grad_and_aux",
    "grad_named",
    "hessian",
    "hessian_tensor_product",
    "hessian_vector_product",
    "holomorphic_grad",
    "jacobian",
    "make_ggnvp",
    "make_hvp",
    "make_jvp",
    "make_vjp",
    "misc",
    "multigrad_dict",
    "numpy",
    "primitive",
    "tensor_jacobian_product",
    "value_and_grad",
    "vector_jacobian_product",
]
