"""The linear algebra extension of the standard, and a few functions beyond it.

References
----------
Array API standard 2025.12, "Linear Algebra Extension".
"""

from stride0.linalg import _beyond, _functions
from stride0.linalg._beyond import *  # noqa: F403
from stride0.linalg._functions import *  # noqa: F403

__all__ = [*_functions.__all__, *_beyond.__all__]
