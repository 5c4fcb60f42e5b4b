"""A pytest plugin, loaded by run.py, into the tests that a library ships.

It makes stride0 the array namespace that those tests run on, keeps only the tests that take one, and records
the outcome of each. SciPy passes namespaces by a fixture named `xp`; scikit-learn by generators of names,
which parametrise its tests at import.
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

# Both libraries import these only as further namespaces to test, which costs seconds and memory.
_OTHER_NAMESPACES = frozenset({"torch", "jax", "cupy", "dask", "sparse", "dpnp", "ndonnx"})

# Marks and fixtures of plugins that the libraries use in their own CI but do not need.
_FOREIGN_MARKS = ("thread_unsafe", "parallel_threads_limit(n)", "iterations(n)", "array_api_backends")


class _Hidden(importlib.abc.MetaPathFinder):
    """Makes the other namespaces look as if they were not installed."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        if fullname.partition(".")[0] in self._names:
            raise ModuleNotFoundError(
                f"{fullname} is hidden: it is not the namespace under test", name=fullname
            )


class _Library:
    """Differences between the libraries: how tests get a namespace, and which tests take one."""

    def __init__(self, name: str) -> None:
        self.name = name

    def start(self) -> None:
        """Called before tests import anything of the library."""

    def conftest(self, module: ModuleType) -> None:
        """Called when a conftest.py has been imported, before its fixtures are collected."""

    def parametrize(self, metafunc: pytest.Metafunc) -> None:
        """Called when a test function is turned into tests."""

    def takes_us(self, item: pytest.Item) -> bool:
        raise NotImplementedError


class _SciPy(_Library):
    def conftest(self, module: ModuleType) -> None:
        if not hasattr(module, "xp_known_backends"):
            return
        # Unknown names are not skipped where a test is marked as one for NumPy only.
        module.xp_known_backends.add(self.name)

        @pytest.fixture
        def devices(xp: Any) -> list[Any]:
            # SciPy 1.17 adds a list to what devices() returns, which is a tuple since version 2025.12.
            return [*xp.__array_namespace_info__().devices(), None]

        vars(module)["devices"] = devices

    def parametrize(self, metafunc: pytest.Metafunc) -> None:
        marks = metafunc.definition.iter_markers("parametrize")
        if "xp" not in metafunc.fixturenames or any("xp" in _argument_names(mark) for mark in marks):
            return
        namespace = importlib.import_module(self.name)
        # A test's own parameters for a fixture have priority over the parameters of the fixture.
        parameter = pytest.param(namespace, id=self.name, marks=pytest.mark.array_api_backends)
        metafunc.definition.add_marker(pytest.mark.parametrize("xp", [parameter], indirect=True))

    def takes_us(self, item: pytest.Item) -> bool:
        return "xp" in getattr(item, "fixturenames", ())


class _ScikitLearn(_Library):
    def start(self) -> None:
        arrays = importlib.import_module("sklearn.utils._array_api")
        checks = importlib.import_module("sklearn.utils.estimator_checks")
        us, numpy = arrays.NamespaceAndDevice(self.name, None), arrays.NamespaceAndDevice("numpy", None)

        def namespaces(include_numpy_namespaces: bool = True) -> Iterator[str]:
            yield self.name

        def combinations(include_numpy_namespaces: bool = True) -> Iterator[tuple[str, None, str]]:
            for dtype in ("float64", "float32"):
                yield self.name, None, dtype

        def mixtures() -> Iterator[tuple[Any, Any, str]]:
            yield us, numpy, f"{self.name} to numpy"
            yield numpy, us, f"numpy to {self.name}"

        inner = checks._yield_array_api_checks

        def array_api_checks(estimator: Any, only_numpy: bool = False) -> Iterator[Callable[..., Any]]:
            for check in inner(estimator, only_numpy=only_numpy):
                # One check names its namespace itself, to keep scikit-learn's own test run short.
                if check.func is checks.check_array_api_same_namespace:
                    yield functools.partial(check.func, array_namespace=self.name)
                else:
                    yield check

        replaced = {
            "yield_namespaces": namespaces,
            "yield_namespace_device_dtype_combinations": combinations,
            "yield_mixed_namespace_input_permutations": mixtures,
            "_yield_array_api_checks": array_api_checks,
        }
        # Modules that imported the generators before this hold them under the same names.
        for module in (arrays, checks):
            for name, replacement in replaced.items():
                if hasattr(module, name):
                    setattr(module, name, replacement)

    def takes_us(self, item: pytest.Item) -> bool:
        callspec = getattr(item, "callspec", None)
        return callspec is not None and any(self._named(value) for value in callspec.params.values())

    def _named(self, value: Any) -> bool:
        if isinstance(value, functools.partial):
            return any(self._named(part) for part in (*value.args, *value.keywords.values()))
        if isinstance(value, tuple):
            return any(self._named(part) for part in value)
        return isinstance(value, str) and value == self.name


_LIBRARIES: dict[str, type[_Library]] = {"scipy": _SciPy, "sklearn": _ScikitLearn}


def _argument_names(mark: pytest.Mark) -> list[str]:
    names = mark.kwargs.get("argnames", mark.args[0] if mark.args else ())
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)


def sample(items: Sequence[pytest.Item], most: int) -> list[pytest.Item]:
    """Select every k-th test of each function in files with more than `most` tests, and all tests of other
    files. The first test of each function is always selected, and the selection is the same in every run.
    """
    file_sizes = Counter(item.path for item in items)
    seen: Counter[str] = Counter()
    chosen = []
    for item in items:
        function = item.nodeid.partition("[")[0]
        step = -(-file_sizes[item.path] // most)
        if seen[function] % step == 0:
            chosen.append(item)
        seen[function] += 1
    return chosen


def pytest_addoption(parser: pytest.Parser) -> None:
    add = parser.getgroup("downstream").addoption
    add("--downstream-library", choices=sorted(_LIBRARIES), required=True)
    add("--downstream-namespace", default="stride0", help="name of the module that the tests run on")
    add("--downstream-record", type=Path, required=True, help="receives a line of JSON for each event")
    add("--downstream-sample", type=int, default=0, help="about how many tests to keep of one file; 0: all")


def pytest_configure(config: pytest.Config) -> None:
    name = config.getoption("--downstream-namespace")
    sys.meta_path.insert(0, _Hidden(_OTHER_NAMESPACES - {name.partition(".")[0]}))
    for mark in _FOREIGN_MARKS:
        config.addinivalue_line("markers", f"{mark}: of a plugin or a selection that is not used here")
    library = _LIBRARIES[config.getoption("--downstream-library")](name)
    library.start()
    config.pluginmanager.register(
        _Downstream(
            library, config.getoption("--downstream-record"), config.getoption("--downstream-sample")
        ),
        "stride0-downstream",
    )


class _Downstream:
    def __init__(self, library: _Library, record: Path, sample_size: int) -> None:
        self._library = library
        self._sample_size = sample_size
        # Tests that an earlier process of this run began are not run again.
        lines = record.read_text(encoding="utf-8").splitlines() if record.exists() else []
        self._begun = {json.loads(line).get("test") for line in lines}
        # Each line is flushed, so nothing is lost when the process dies.
        self._file = record.open("a", buffering=1, encoding="utf-8")

    def _write(self, event: str, **facts: Any) -> None:
        self._file.write(json.dumps({"event": event, **facts}) + "\n")

    @pytest.hookimpl(tryfirst=True)
    def pytest_plugin_registered(self, plugin: object) -> None:
        if isinstance(plugin, ModuleType) and plugin.__name__.rpartition(".")[2] == "conftest":
            self._library.conftest(plugin)

    @pytest.hookimpl(tryfirst=True)
    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        self._library.parametrize(metafunc)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        chosen = [item for item in items if self._library.takes_us(item)]
        if self._sample_size:
            chosen = sample(chosen, self._sample_size)
        self._write("selected", tests=[item.nodeid for item in chosen])
        chosen = [item for item in chosen if item.nodeid not in self._begun]
        kept = set(map(id, chosen))
        config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
        items[:] = chosen

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._write("start", test=nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed or report.skipped:
            self._write("failed" if report.failed else "skipped", test=report.nodeid, reason=_reason(report))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        expected = hasattr(report, "wasxfail")
        if report.failed:
            self._write("failed", test=report.nodeid, reason=_reason(report))
        elif report.skipped:
            event = "xfailed" if expected else "skipped"
            self._write(event, test=report.nodeid, reason=_reason(report))
        elif report.when == "call":
            self._write("xpassed" if expected else "passed", test=report.nodeid)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._write("end", test=nodeid)


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """The line of a report that states the error, or the reason of a skip."""
    text: Any = report.longrepr
    if isinstance(text, tuple):  # a skip: path, line, message
        return str(text[2]).removeprefix("Skipped: ")
    crash = getattr(text, "reprcrash", None)
    lines = str(crash.message if crash is not None else text).strip().splitlines() or [""]
    # Messages of NumPy's comparisons begin with a line without information.
    return " ".join(line.strip() for line in (lines[:4] if crash is not None else lines[-1:]))
