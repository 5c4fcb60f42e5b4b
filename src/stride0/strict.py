"""``pytest -p stride0.strict``: importing it calls `stride0.testing.as_array_api_strict`.

The name `stride0.strict` remains the context manager, which the import system finds in `sys.modules`.
"""

import sys

from stride0._modes.strict import strict
from stride0.testing import as_array_api_strict

as_array_api_strict()
sys.modules[__name__] = strict  # type: ignore[assignment]
