"""Special functions, under SciPy's names.

SciPy's own functions call these where they are given arrays of stride0. Some have kernels of ours; the others
call SciPy's ufuncs on the memory of the arrays, and raise ImportError where SciPy cannot be imported.
"""

from stride0._core.elementwise.special import *  # noqa: F403
from stride0._core.elementwise.special import __all__ as _KERNELS
from stride0.special import _complex  # noqa: F401  # what importing it registers
from stride0.special._composed import *  # noqa: F403
from stride0.special._composed import __all__ as _COMPOSED
from stride0.special._distributions import *  # noqa: F403
from stride0.special._distributions import __all__ as _DISTRIBUTIONS
from stride0.special._exponentials import *  # noqa: F403
from stride0.special._exponentials import __all__ as _EXPONENTIALS
from stride0.special._functions import *  # noqa: F403
from stride0.special._functions import __all__ as _FUNCTIONS
from stride0.special._polynomials import *  # noqa: F403
from stride0.special._polynomials import __all__ as _POLYNOMIALS

__all__ = [*_COMPOSED, *_DISTRIBUTIONS, *_EXPONENTIALS, *_FUNCTIONS, *_KERNELS, *_POLYNOMIALS]
