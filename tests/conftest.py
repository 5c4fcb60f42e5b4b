"""How hypothesis runs: without deadlines; in CI with the same examples every time. And what tracebacks show.

A run in CI says whether a change broke something, so it must not depend on luck. At home every run looks at
new examples.
"""

import contextlib
import importlib
import inspect
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# Test files that run themselves in another process find the modules they share there too.
SUPPORT = str(Path(__file__).parent / "support")
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (SUPPORT, os.environ.get("PYTHONPATH"))))

# SciPy reads `SCIPY_ARRAY_API` once, when it is imported: here, so that no order of the tests changes it.
with pytest.MonkeyPatch.context() as patch, contextlib.suppress(ImportError):
    patch.setenv("SCIPY_ARRAY_API", "1")
    importlib.import_module("scipy._lib._array_api")

settings.register_profile("stride0", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("stride0")


@pytest.fixture
def eagerly() -> Iterator[None]:
    """For tests of how one call runs, which comes later with STRIDE0_FUSED=1, and of contexts of no value."""
    import stride0

    before = stride0.fused.set_default(0)
    yield
    stride0.fused.set_default(before)


# What a test says that cannot be run by several threads at once (pytest-run-parallel), and why.
ALONE = {
    "it changes settings of the process": (
        "set_default everywhere set_num_threads tune( back_off set_limit set_blas set_idle_limit "
        "set_interceptor setswitchinterval environ add_method sys.modules signal. threadpool_limits xp.zeros="
        " patched( unpatch( doctest_report("
        " workdps( workprec( errors(name =exact(a Points(name"  # mpmath's precision; three in helpers
    ),
    "it reads what the process has counted": (
        "stats( live( passes blocks( counts( counted( memory_statistics gc. getrefcount weakref "
        "perf_counter tracemalloc process_time python_functions"
    ),
    "it starts processes or threads": "subprocess run( fork Thread( in_thread ThreadPool together( in_each(",
}
# Modules of which that holds as a whole.
ALONE_MODULES = "test_memory test_temporaries test_flags test_flags_devices test_flags_dtypes test_switches"


def text_of(function: Any) -> str:
    """The text of a test or a fixture; hypothesis keeps the function that it wraps."""
    return inspect.getsource(getattr(getattr(function, "hypothesis", None), "inner_test", function))


def reason_to_run_alone(item: pytest.Function) -> str | None:
    if item.path.stem in ALONE_MODULES.split():
        return "it changes settings of the process, or reads what that has counted"
    own = [found[-1] for found in item._fixtureinfo.name2fixturedefs.values() if "tests" in found[-1].baseid]
    text = "".join([text_of(item.function), *(text_of(fixture.func) for fixture in own)])
    text = text.replace(" = ", "=")
    return next(
        (reason for reason, names in ALONE.items() if any(name in text for name in names.split())), None
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if getattr(config.option, "parallel_threads", None) in (None, 1):
        return
    for item in items:
        if isinstance(item, pytest.Function) and (reason := reason_to_run_alone(item)):
            item.add_marker(pytest.mark.thread_unsafe(reason=reason))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> None:
    """Show the frames of the package, which its users do not see: here the defect is among them."""
    if call.excinfo is not None:
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] == "stride0":
                vars(module)["__tracebackhide__"] = False
