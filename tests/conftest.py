"""How hypothesis runs: without deadlines; in CI with the same examples every time. And what tracebacks show.

A run in CI says whether a change broke something, so it must not depend on luck. At home every run looks at
new examples.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# Test files that run themselves in another process find the modules they share there too.
SUPPORT = str(Path(__file__).parent / "support")
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (SUPPORT, os.environ.get("PYTHONPATH"))))

settings.register_profile("stride0", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("stride0")


@pytest.fixture
def eagerly() -> Iterator[None]:
    """For tests of how one call runs, which comes later with STRIDE0_FUSED=1, and of contexts of no value."""
    import stride0

    before = stride0.fused.set_default(0)
    yield
    stride0.fused.set_default(before)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> None:
    """Show the frames of the package, which its users do not see: here the defect is among them."""
    if call.excinfo is not None:
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] == "stride0":
                vars(module)["__tracebackhide__"] = False
