"""The selection of tests, settings of Hypothesis, and tracebacks.

`pytest` runs a quick selection: every test function, with a sample of its parameters and fewer Hypothesis
examples. `pytest --full` runs everything. Tests that are named on the command line (`file.py::test`) all run.

Hypothesis has no deadlines. In CI its examples are the same every time, so that a run does not depend on
chance. Elsewhere every run tries new examples.
"""

import contextlib
import gc
import importlib
import inspect
import os
import sys
import zlib
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

# Full runs try the number of examples that a test requests (`strategies.examples`), quick runs fewer.
for profile, count in (("full", 100), ("quick", 15)):
    settings.register_profile(
        profile, deadline=None, derandomize=bool(os.environ.get("CI")), max_examples=count
    )

# The number of selected tests, and the number of all tests.
SELECTION = pytest.StashKey[tuple[int, int]]()
# A test function with at most this number of sets of parameters runs with all of them.
SAMPLE_SIZE = 3


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="run all tests, not the quick selection")


def pytest_configure(config: pytest.Config) -> None:
    # Before test modules are imported: decorators read the profile.
    settings.load_profile("full" if config.getoption("full") else "quick")


def labels_of(item: pytest.Item) -> set[tuple[str, str]]:
    """Return the labels that a sample of tests must cover: each name of a function, dtype or case."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    found = set()
    for parameter, value in parameters.items():
        name = value if isinstance(value, str) else getattr(value, "__name__", getattr(value, "name", None))
        # A sample of the numbers, shapes and other values is enough.
        found.add((parameter, name if isinstance(name, str) else type(value).__name__))
    return found


def sample(items: list[pytest.Item]) -> set[pytest.Item]:
    """Return the tests of one function that the quick selection runs; the same in every run."""
    chosen: set[pytest.Item] = set()
    covered: set[tuple[str, str]] = set()
    for item in sorted(items, key=lambda item: zlib.crc32(item.nodeid.encode())):
        labels = labels_of(item)
        if len(chosen) < SAMPLE_SIZE or not labels <= covered:
            chosen.add(item)
            covered |= labels
    return chosen


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what is not in the quick selection."""
    functions: dict[str, list[pytest.Item]] = {}
    for item in items:
        functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    chosen = set().union(*map(sample, functions.values()))
    kept = [item for item in items if item in chosen]
    config.stash[SELECTION] = len(kept), len(items)
    if hasattr(config, "workeroutput"):
        config.workeroutput["selection"] = config.stash[SELECTION]
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = kept


def pytest_collection_finish() -> None:
    # Many tests run the garbage collector, which does not search frozen objects, such as the tests.
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the selection of a pytest-xdist worker; all workers have the same selection."""
    if "selection" in getattr(node, "workeroutput", {}):
        node.config.stash[SELECTION] = node.workeroutput["selection"]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if SELECTION in config.stash:
        kept, total = config.stash[SELECTION]
        terminalreporter.write_line(f"quick selection: {kept:,} of {total:,} tests; pytest --full runs all")


@pytest.fixture
def eagerly() -> Iterator[None]:
    """For tests of the execution of one call (later with STRIDE0_FUSED=1), and of contexts without values."""
    import stride0

    before = stride0.fused.set_default(0)
    yield
    stride0.fused.set_default(before)


@pytest.fixture
def signals_often() -> Iterator[None]:
    """For tests in which a signal interrupts a call: calls check for signals every millisecond."""
    from stride0._core.plan import threads

    before = threads.check_signals_every(1_000_000)
    yield
    threads.check_signals_every(before)


# Words in the source of tests that several threads cannot run at once (pytest-run-parallel), and reasons.
ALONE = {
    "it changes settings of the process": (
        "set_default everywhere set_num_threads tune( back_off set_limit set_blas set_idle_limit "
        "set_interceptor setswitchinterval environ add_method sys.modules signal. threadpool_limits xp.zeros="
        " patched( unpatch( doctest_report( signals_often"
        " workdps( workprec( errors(name =exact(a Points(name"  # mpmath's precision; three in helpers
    ),
    "it reads what the process has counted": (
        "stats( live( passes blocks( counts( counted( memory_statistics gc. getrefcount weakref "
        "perf_counter tracemalloc process_time python_functions"
    ),
    "it starts processes or threads": "subprocess run( fork Thread( in_thread ThreadPool together( in_each(",
}
# Modules in which no test can.
ALONE_MODULES = "test_memory test_flags test_flags_devices test_flags_dtypes test_switches"


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
    if not config.getoption("full") and not any("::" in argument for argument in config.args):
        select(config, items)
    if getattr(config.option, "parallel_threads", None) in (None, 1):
        return
    for item in items:
        if isinstance(item, pytest.Function) and (reason := reason_to_run_alone(item)):
            item.add_marker(pytest.mark.thread_unsafe(reason=reason))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> None:
    """Show the frames of the package, which are hidden from users: a defect is in one of them."""
    if call.excinfo is not None:
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] == "stride0":
                vars(module)["__tracebackhide__"] = False
