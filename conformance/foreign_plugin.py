"""A pytest plugin for foreign.py: puts stride0 in the place of another library in a project's tests.

The environment variable FOREIGN_SUITE names the suite, FOREIGN_RECORD a file that receives a line of JSON for
each test.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import stride0
import stride0.numpy

SUITE = os.environ["FOREIGN_SUITE"]
_importorskip = pytest.importorskip


def _import(name: str, *args: Any, **kwargs: Any) -> Any:
    """`pytest.importorskip`, which gives stride0.numpy for NumPy."""
    return stride0.numpy if name == "numpy" else _importorskip(name, *args, **kwargs)


def exchange_names(items: list[pytest.Item]) -> None:
    """Give test modules stride0.numpy if they have imported NumPy as `np`."""
    for module in {item.module for item in items if isinstance(item, pytest.Function)}:
        for name in ("np", "numpy"):
            if getattr(module, name, None) is numpy:
                setattr(module, name, stride0.numpy)


def einops() -> None:
    """Make the backend of NumPy one of stride0."""
    backend: Any = importlib.import_module("einops._backends").NumpyBackend

    def init(self: Any) -> None:
        self.np = stride0.numpy

    backend.__init__ = init
    backend.from_numpy = lambda self, x: stride0.asarray(x)
    backend.to_numpy = lambda self, x: x
    os.environ["EINOPS_TEST_BACKENDS"] = "numpy"


def opt_einsum() -> None:
    """Find functions of arrays of stride0 in stride0.numpy, and hand that out for NumPy."""
    importlib.import_module("opt_einsum.backends.dispatch")._aliases["stride0"] = "stride0.numpy"
    vars(pytest)["importorskip"] = _import


def autoray() -> None:
    """Find functions of arrays of stride0 in stride0.numpy."""
    ar = importlib.import_module("autoray")
    ar.autoray._MODULE_ALIASES["stride0"] = "stride0.numpy"
    ar.register_function("stride0", "to_numpy", numpy.asarray)
    # As it registers functions of NumPy.
    ar.register_function("stride0", "complex", ar.autoray.complex_add_re_im)
    ar.register_function("stride0", "linalg.svd", wrapper=ar.autoray.svd_not_full_matrices_wrapper)
    for name in ("random.normal", "random.uniform"):
        ar.register_function("stride0", name, wrapper=ar.autoray.with_dtype_wrapper)
    ar.register_function("stride0", "linalg.expm", stride0.linalg.expm)
    ar.register_function("stride0", "scipy.linalg.expm", stride0.linalg.expm)


def array_api_strict() -> None:
    """Put stride0 in the place of array-api-strict, with the private names that its tests import."""
    made = stride0.testing.as_array_api_strict()
    made.__path__ = [str(Path.cwd() / "array_api_strict")]
    sys.modules["array_api_strict._flags"].ENVIRONMENT_VARIABLES = []  # type: ignore[attr-defined]
    inspection = made.__array_namespace_info__()

    def kinds(*names: str) -> tuple[Any, ...]:
        return tuple(x for name in names for x in inspection.dtypes(kind=name).values())

    real, complexes, integers = kinds("real floating"), kinds("complex floating"), kinds("integral")
    categories = {
        "all": tuple(inspection.dtypes().values()),
        "boolean": kinds("bool"),
        "integer": integers,
        "signed integer": kinds("signed integer"),
        "integer or boolean": integers + kinds("bool"),
        "real floating-point": real,
        "complex floating-point": complexes,
        "floating-point": real + complexes,
        "real numeric": integers + real,
        "numeric": integers + real + complexes,
    }
    dtypes: Any = sys.modules["array_api_strict._dtypes"]
    dtypes._dtype_categories = categories
    for name, found in categories.items():
        vars(dtypes)[f"_{name.replace(' ', '_').replace('-point', '')}_dtypes"] = found
    # Its table of examples is older than both functions.
    linalg: Any = sys.modules["array_api_strict._linalg"]
    linalg.__all__ = [name for name in linalg.__all__ if name not in ("eig", "eigvals")]


START: dict[str, Callable[[], None]] = {
    "array-api-strict": array_api_strict,
    "autoray": autoray,
    "cotengra": autoray,
    "einops": einops,
    "opt_einsum": opt_einsum,
}
START[SUITE]()


class Recorder:
    """Writes what happened to each test."""

    def __init__(self) -> None:
        self._path = Path(os.environ["FOREIGN_RECORD"])

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if SUITE in ("cotengra", "einops", "opt_einsum"):
            exchange_names(items)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._write(report.nodeid, "failed", str(report.longrepr))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            self._write(report.nodeid, "failed", str(crash.message if crash else report.longrepr))
        elif report.skipped:
            self._write(report.nodeid, "xfailed" if hasattr(report, "wasxfail") else "skipped", "")
        elif report.when == "call":
            self._write(report.nodeid, "passed", "")

    def _write(self, test: str, outcome: str, reason: str) -> None:
        line = {"test": test, "outcome": outcome, "reason": (reason.splitlines() or [""])[0]}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Recorder(), "foreign-recorder")
