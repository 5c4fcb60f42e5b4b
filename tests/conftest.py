"""How hypothesis runs: without deadlines; in CI with the same examples every time.

A run in CI says whether a change broke something, so it must not depend on luck. At home every run looks at
new examples.
"""

import os

from hypothesis import settings

settings.register_profile("stride0", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("stride0")
