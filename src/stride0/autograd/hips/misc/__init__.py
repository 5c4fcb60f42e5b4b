"""`autograd.misc` of HIPS/autograd: structures as flat arrays, optimisers, and fixed points."""

from stride0.autograd.hips.misc import fixed_points, optimizers
from stride0.autograd.hips.misc.flatten import flatten

__all__ = ["fixed_points", "flatten", "optimizers"]
