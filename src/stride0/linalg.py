"""The linear algebra extension of the standard.

References
----------
Array API standard 2025.12, "Linear Algebra Extension".
"""

from stride0._linalg import *  # noqa: F403
from stride0._linalg import __all__ as __all__
