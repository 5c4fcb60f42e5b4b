"""Special functions, under SciPy's names.

SciPy's own functions call these if they get stride0 arrays. Some functions have kernels here; the others call
SciPy's ufuncs on the memory of the arrays, and raise ImportError if SciPy cannot be imported.
"""

from stride0._core.elementwise.special import *  # noqa: F403
from stride0._core.elementwise.special import __all__ as _KERNELS
from stride0.special import _complex  # noqa: F401  # registers implementations
from stride0.special._composed import *  # noqa: F403
from stride0.special._composed import __all__ as _COMPOSED
from stride0.special._exponentials import *  # noqa: F403
from stride0.special._exponentials import __all__ as _EXPONENTIALS
from stride0.special._ufuncs import *  # noqa: F403
from stride0.special._ufuncs import __all__ as _UFUNCS

__all__ = [*_COMPOSED, *_EXPONENTIALS, *_KERNELS, *_UFUNCS]
