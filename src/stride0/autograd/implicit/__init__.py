"""Solutions of equations and minima as differentiable functions of parameters.

SciPy, or your own solver, finds the solution; the implicit function theorem gives its derivatives, in
both modes and to any order. The memory of the derivative does not depend on the number of iterations.

Examples
--------
>>> from stride0.autograd import implicit
>>> root = lambda a: implicit.root(lambda x, a: x**2 - a, xp.asarray(1.0), a)
>>> xp.autograd.value_and_grad(root)(xp.asarray(4.0))
(Array(2., dtype=float64), Array(0.25, dtype=float64))
"""

from stride0.autograd.implicit._equations import custom_root, fixed_point, root
from stride0.autograd.implicit._minima import least_squares, minimize
from stride0.autograd.implicit._systems import linear_solve

__all__ = ["custom_root", "fixed_point", "least_squares", "linear_solve", "minimize", "root"]
