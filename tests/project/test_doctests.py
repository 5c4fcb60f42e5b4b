"""Each public function and class has examples in its docstring, with correct output.

`xp` and `np` are imported in each of them, as the docstring of the package says. Only the first line of an
error is compared; `...` stands for the others.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import io
import subprocess
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import stride0 as xp
import stride0.autograd.scipy
from stride0._core.call.methods import Method
from stride0._tables import examples

NUMPYS = "a class of NumPy's, with the docstring that it has there"
# Names without examples, and reasons.
WITHOUT = {
    "testing.as_array_api_strict": "it changes the process: its tests run its example in one of its own",
    "linalg.LstsqResult": "what `lstsq` returns: its examples show it",
    **dict.fromkeys((f"random.{name}" for name in xp.random.__all__), NUMPYS),
}
del WITHOUT["random.Generator"], WITHOUT["random.default_rng"]

SCIPY = xp.autograd.scipy
HIPS = ("hips", "hips.misc", "hips.misc.fixed_points", "hips.misc.optimizers")
INNER = ("autograd.implicit", "autograd.scipy", *(f"autograd.{name}" for name in HIPS))
FORMS = [name for name in SCIPY.__all__ if isinstance(getattr(SCIPY, name), types.ModuleType)]
# They skip where SciPy is not installed.
BY_SCIPY = {*examples.special_scipy.EXAMPLES, "optim.Minimum", "optim.minimize_lbfgs"}


def public() -> Iterator[tuple[str, Any]]:
    """The public functions and classes. `docs/errors.md` has the exceptions, each with an example."""
    modules = [name for name in xp.__all__ if isinstance(getattr(xp, name), types.ModuleType)]
    for module in ("", *modules, *INNER):
        owner: Any = importlib.import_module(f"stride0.{module}".rstrip("."))
        for name in owner.__all__:
            value = getattr(owner, name)
            if callable(value) and not (isinstance(value, type) and issubclass(value, Exception)):
                yield f"{module}.{name}".lstrip("."), value


PUBLIC = dict(public())
METHODS = {
    f"{name}.{attribute}": value
    for name, owner in PUBLIC.items()
    if isinstance(owner, type) and owner.__module__.partition(".")[0] == "stride0"
    for attribute in dir(owner)
    if not attribute.startswith("_")
    and inspect.isroutine(value := getattr(owner, attribute, None))
    and ">>> " in (inspect.getdoc(value) or "")
}
MODULES = {f"autograd.scipy.{name}": getattr(SCIPY, name) for name in FORMS} | {"autograd.scipy": SCIPY}
ALL = {**PUBLIC, **METHODS, **MODULES}


def has_examples(value: Any) -> bool:
    return "\nExamples\n--------\n" in (inspect.getdoc(value) or "")


def test_each_public_function_and_class_has_examples() -> None:
    assert PUBLIC.keys() >= WITHOUT.keys()
    assert {name for name, value in PUBLIC.items() if not has_examples(value)} - WITHOUT.keys() == set()


def test_each_method_of_arrays_that_mirrors_a_function_has_examples() -> None:
    methods = [method for method in vars(xp.Array).values() if isinstance(method, Method)]
    assert len(methods) > 80
    assert [method for method in methods if not has_examples(method)] == []


@pytest.mark.parametrize("name", MODULES)
def test_each_module_of_forms_has_examples(name: str) -> None:
    assert has_examples(MODULES[name])


def test_each_example_of_the_tables_is_shown_once() -> None:
    for name, text in examples.EXAMPLES.items():
        shown = inspect.getdoc(ALL[name])
        assert shown is not None and shown.count("\nExamples\n--------\n") == 1, name
        assert shown.endswith(f"\nExamples\n--------\n{text}"), name
    parts = [part for part in vars(examples).values() if isinstance(part, types.ModuleType)]
    assert sum(len(part.EXAMPLES) for part in parts) == len(examples.EXAMPLES)


def doctest_report(name: str, text: str) -> str:
    """The report of doctest on the examples in a text; empty if all output is right."""
    globs = {"xp": xp, "np": np, "__name__": "__main__"}
    test = doctest.DocTestParser().get_doctest(text, globs, name, None, None)
    assert test.examples
    report = io.StringIO()
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False).run(test, out=report.write)
    return report.getvalue()


@pytest.mark.parametrize("name", [name for name in ALL if name not in WITHOUT])
def test_examples(name: str) -> None:
    if name in BY_SCIPY or name.startswith("autograd.scipy"):
        pytest.importorskip("scipy")
    report = doctest_report(name, inspect.getdoc(ALL[name]) or "")
    assert not report, report


@pytest.mark.parametrize(
    "wrong",
    [
        ">>> xp.ones(1)\nArray([2.], dtype=float64)",
        ">>> xp.ones(-1)\nTraceback (most recent call last):\n    ...\nstride0.ShapeError: another\n...",
    ],
)
def test_a_wrong_value_and_a_wrong_error_are_found(wrong: str) -> None:
    assert doctest_report("wrong", wrong)


def test_the_package_says_what_is_imported() -> None:
    assert (xp.__doc__ or "").endswith(">>> import numpy as np\n>>> import stride0 as xp\n")


def test_examples_are_not_imported_with_the_package() -> None:
    program = (
        "import sys, stride0; print(*(name for name in sys.modules if name.startswith('stride0._tables')))"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "stride0._tables.methods" in found.stdout.split()
    assert "examples" not in found.stdout and "documents" not in found.stdout
