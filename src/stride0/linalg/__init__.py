"""The linear algebra extension of the standard.

References
----------
Array API standard 2025.12, "Linear Algebra Extension".
"""

from stride0.linalg._functions import *  # noqa: F403
from stride0.linalg._functions import __all__ as __all__
