"""The declarations of the namespace, in a module for each chapter of the standard.

The modules of the core register implementations of the declarations, so they are imported first.
"""

from stride0._core.index import index as _index  # noqa: F401
from stride0._core.linalg import linalg as _linalg  # noqa: F401
from stride0._core.manipulation import manipulation as _manipulation  # noqa: F401
from stride0._core.matmul import matmul as _matmul  # noqa: F401
from stride0._core.order import order as _order  # noqa: F401
from stride0._core.reduce import reduce as _reduce  # noqa: F401
