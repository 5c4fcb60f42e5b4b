"""The entry point `array_api`, by which the standard lets programs find libraries."""

from __future__ import annotations

import tomllib
from importlib.metadata import Distribution, EntryPoint, distributions, entry_points
from pathlib import Path

import pytest

import stride0

GROUP = "array_api"
PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DECLARED = [EntryPoint(name, value, GROUP) for name, value in PROJECT["entry-points"][GROUP].items()]


def installed() -> Distribution | None:
    """The distribution that the package under test was installed from."""
    package = Path(stride0.__file__).resolve()
    for found in distributions(name="stride0"):
        if any(Path(found.locate_file(file)).resolve() == package for file in found.files or ()):
            return found
    return None


def test_the_project_declares_it() -> None:
    assert [point.load() for point in DECLARED] == [stride0]


def test_the_wheel_has_it() -> None:
    if installed() is None:
        pytest.skip("the package under test is not installed from a wheel")
    assert stride0 in [point.load() for point in entry_points(group=GROUP) if point.name == "stride0"]


def test_hypothesis_makes_strategies_of_it() -> None:
    """As Hypothesis's tests do with every entry point of the group."""
    hypothesis = pytest.importorskip("hypothesis")
    arrays = pytest.importorskip("hypothesis.extra.array_api")
    (found,) = (point.load() for point in DECLARED)
    strategies = arrays.make_strategies_namespace(found)
    assert "2022.12" <= strategies.api_version <= found.__array_api_version__
    seen: set[str] = set()

    @hypothesis.settings(max_examples=60, derandomize=True, database=None)
    @hypothesis.given(strategies.arrays(strategies.scalar_dtypes(), strategies.array_shapes()))
    def draw(x: stride0.Array) -> None:
        assert isinstance(x, stride0.Array) and x.ndim > 0
        seen.add(str(x.dtype))

    draw()
    assert len(seen) > 5
