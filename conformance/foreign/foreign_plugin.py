"""A pytest plugin for `run.py`: puts stride0 in the place of another library in a project's tests.

The environment variable FOREIGN_SUITE names the suite, FOREIGN_RECORD a file that receives a line of JSON for
each test.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy
import pytest

import stride0
import stride0.numpy
from stride0._core.array.array import set_attribute

SUITE = os.environ["FOREIGN_SUITE"]
plugins: list[object] = []
_importorskip = pytest.importorskip


def _import(name: str, *args: Any, **kwargs: Any) -> Any:
    """`pytest.importorskip`, which gives stride0.numpy for NumPy."""
    return stride0.numpy if name == "numpy" else _importorskip(name, *args, **kwargs)


def _lacking(error: AttributeError) -> Callable[..., Any]:
    """Return a function that raises what the lacking name raises."""

    def function(*args: Any, **kwargs: Any) -> Any:
        raise AttributeError(str(error))

    return function


def _exchanged() -> dict[int, Any]:
    """Return what takes the place of NumPy's modules and functions, by the identity of those."""
    # The modules that define NumPy's functions have the same functions.
    modules = [
        sys.modules[f"numpy._core.{name}"] for name in ("umath", "numeric", "fromnumeric", "multiarray")
    ]
    found: dict[int, Any] = {id(module): stride0.numpy for module in modules}
    found[id(numpy.ndarray)] = stride0.Array
    found[id(numpy.linalg.LinAlgError)] = stride0.linalg.LinAlgError
    found[id(numpy.exceptions.AxisError)] = stride0.AxisError
    for module in ("", "linalg", "fft", "random", "testing"):
        theirs, ours = (getattr(np, module) if module else np for np in (numpy, stride0.numpy))
        found[id(theirs)] = ours
        for name, value in vars(theirs).items():
            if name.startswith("_") or isinstance(value, (type, ModuleType)) or not callable(value):
                continue
            try:
                found[id(value)] = getattr(ours, name)
            except AttributeError as error:
                found[id(value)] = _lacking(error)
    return found


def exchange_names(items: list[pytest.Item]) -> None:
    """Give test modules, their classes and their parameters stride0.numpy if they have NumPy's names."""
    ours = _exchanged()

    def other(x: Any, depth: int = 0) -> Any:
        if id(x) in ours:
            return ours[id(x)]
        if depth < 3 and type(x) in (list, tuple):
            return type(x)(other(item, depth + 1) for item in x)
        if depth < 3 and type(x) is dict:
            return {other(key, 3): other(item, depth + 1) for key, item in x.items()}
        return x

    functions = [item for item in items if isinstance(item, pytest.Function)]
    for params in (item.callspec.params for item in functions if hasattr(item, "callspec")):
        params.update({key: other(value) for key, value in params.items()})
    classes = {base for item in functions if item.cls for base in item.cls.__mro__[:-1]}
    for owner in (*{item.module for item in functions}, *classes):
        for name, value in list(vars(owner).items()):
            if name.startswith("__") or (callable(value) and id(value) not in ours):
                continue
            found = other(value, 0 if owner in classes or callable(value) else 2)
            if found is not value:
                setattr(owner, name, staticmethod(found) if owner in classes and callable(found) else found)


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


def strict() -> None:
    """Put stride0 in the place of array-api-strict."""
    stride0.testing.as_array_api_strict()


def glass() -> None:
    """Put stride0 in the place of array-api-strict, strict for the package, and choose that backend."""
    stride0.testing.as_array_api_strict(modules=("glass",))
    os.environ["ARRAY_BACKEND"] = "array_api_strict"


def marray() -> None:
    """Like `array_api_extra`, for marray. The tests draw the same random numbers in each run."""
    stride0.testing.as_array_api_strict(modules=("marray",))
    for name in ("SeedSequence", "default_rng"):
        vars(numpy.random)[name] = _seeded(getattr(numpy.random, name))


def _seeded(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return `make` with the default seed 0; `make` creates a generator or a seed sequence."""
    return lambda seed=None, **kwargs: make(0 if seed is None else seed, **kwargs)


def array_api_extra() -> None:
    """Put stride0 in the place of array-api-strict, strict for the package."""
    stride0.testing.as_array_api_strict(modules=("array_api_extra",))


def hypothesis() -> None:
    """Choose stride0 by its name."""
    os.environ["HYPOTHESIS_TEST_ARRAY_API"] = "stride0"


def pint() -> None:
    """Make magnitudes arrays of stride0 if they would be NumPy arrays of a dtype that stride0 has."""
    original = importlib.import_module("pint.compat")._to_magnitude

    def magnitude(*args: Any, **kwargs: Any) -> Any:
        made = original(*args, **kwargs)
        known = isinstance(made, numpy.ndarray) and made.dtype.kind in "biufc"
        return stride0.asarray(made) if known else made

    for module in [module for name, module in sys.modules.items() if name.startswith("pint")]:
        if getattr(module, "_to_magnitude", None) is original:
            vars(module)["_to_magnitude"] = magnitude


def dask() -> None:
    """Make a module `cupy` of stride0, whose arrays dask registers like arrays of CuPy."""
    made = ModuleType("cupy")
    vars(made).update(__version__="13.0.0", __getattr__=lambda name: getattr(stride0.numpy, name))
    vars(made).update(ndarray=stride0.Array, asnumpy=numpy.asarray)
    sys.modules["cupy"] = made
    set_attribute("get", lambda x: numpy.asarray(x))
    importlib.import_module("dask.array.backends").register_cupy()


def pot() -> None:
    """Make a backend of NumPy's in which `np` is stride0.numpy; the sdist lacks the conftest of the tests."""
    backends: Any = importlib.import_module("ot.backend")

    def other(value: Any) -> Any:
        if not isinstance(value, FunctionType):
            return value
        names = {**value.__globals__, "np": stride0.numpy}
        made = FunctionType(value.__code__, names, value.__name__, value.__defaults__, value.__closure__)
        made.__kwdefaults__ = value.__kwdefaults__
        return made

    def from_numpy(self: Any, x: Any, type_as: Any = None) -> Any:
        return stride0.asarray(x, dtype=None if type_as is None else type_as.dtype)

    made = {name: other(value) for name, value in vars(backends.NumpyBackend).items()}
    made |= {"__name__": "stride0", "__type__": stride0.Array}
    made |= {"_to_numpy": lambda self, x: numpy.asarray(x), "_from_numpy": from_numpy}
    backend = type("Stride0Backend", (backends.Backend,), made)
    backends._register_backend_implementation(backend)

    def undecorated(*args: Any, **kwargs: Any) -> Any:
        return lambda test: test

    vars(pytest).update(skip_backend=undecorated, skip_arg=undecorated)
    instance = backends._get_backend_instance(backend)
    plugins.append(type("Backends", (), {"nx": pytest.fixture(name="nx")(lambda self: instance)})())


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


def scikit_bio() -> None:
    """Make the arrays of the backend NumPy arrays of stride0."""
    importlib.import_module("skbio.util._testing")._BACKENDS["numpy"] = (stride0, ["cpu"])


def numpys_own() -> None:
    """Let tests that ask for more memory than there is fail at once."""
    resource.setrlimit(resource.RLIMIT_AS, (12 << 30, resource.getrlimit(resource.RLIMIT_AS)[1]))


def autograd() -> None:
    """Put `stride0.autograd.hips` in the place of autograd."""
    importlib.import_module("hips").install(Path.cwd() / "autograd")


START: dict[str, Callable[[], None]] = {
    "array-api-extra": array_api_extra,
    "array-api-strict": array_api_strict,
    "autograd": autograd,
    "autoray": autoray,
    "cotengra": autoray,
    "dask": dask,
    "einops": einops,
    "glass": glass,
    "hypothesis": hypothesis,
    "marray": marray,
    "numpy": numpys_own,
    "numpy-100": lambda: None,
    "opt_einsum": opt_einsum,
    "pint": pint,
    "pot": pot,
    "scikit-bio": scikit_bio,
    "sysidentpy": strict,
    "tensorly": lambda: None,
    "xarray": strict,
}
START[SUITE]()


class Recorder:
    """Writes what happened to each test."""

    def __init__(self) -> None:
        self._path = Path(os.environ["FOREIGN_RECORD"])

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if SUITE in ("cotengra", "einops", "numpy", "opt_einsum"):
            exchange_names(items)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._write(report.nodeid, "failed", str(report.longrepr))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        # If an assertion about an error fails, record the error.
        cause = call.excinfo and call.excinfo.value.__cause__
        if cause is not None:
            report.user_properties.append(("cause", f"{type(cause).__name__}: {cause}"))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            reason = str(crash.message if crash else report.longrepr)
            cause = dict(report.user_properties).get("cause")
            known = cause is None or not reason.startswith("AssertionError")
            self._write(report.nodeid, "failed", reason if known else str(cause))
        elif report.skipped:
            self._write(report.nodeid, "xfailed" if hasattr(report, "wasxfail") else "skipped", "")
        elif report.when == "call":
            self._write(report.nodeid, "passed", "")

    def _write(self, test: str, outcome: str, reason: str) -> None:
        # Tests of several cases raise their last error as text.
        text = " ".join(reason.split())
        text = text if len(text) < 600 else f"{text[:300]} ... {text[-300:]}"
        line = {"test": test, "outcome": outcome, "reason": text}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def pytest_configure(config: pytest.Config) -> None:
    for plugin in (Recorder(), *plugins):
        config.pluginmanager.register(plugin)
