"""docs/evidence/scipy-gradients.md shows the record of calls of SciPy functions, and the record holds."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("scipy", minversion="1.17", reason="the calls are those of SciPy 1.17")


@pytest.fixture(scope="module")
def harness() -> Iterator[ModuleType]:
    before = os.environ.get("SCIPY_ARRAY_API")
    try:
        yield importlib.import_module("conformance.gradients.run")
    finally:
        # The harness sets it for SciPy, which reads it once.
        if before is None:
            os.environ.pop("SCIPY_ARRAY_API", None)


@pytest.fixture(scope="module")
def record(harness: ModuleType) -> Any:
    return harness.read_record()


def test_the_page_shows_the_record(harness: ModuleType, record: Any) -> None:
    assert harness.PAGE.read_text(encoding="utf-8") == harness.page(record)


def test_the_record_has_all_calls_and_no_wrong_one(harness: ModuleType, record: Any) -> None:
    assert list(record["calls"]) == [call.name for call in harness.CALLS]
    outcomes = {found["outcome"] for found in record["calls"].values()}
    assert outcomes <= set(harness.OUTCOMES) - {"wrong"}
    forms = [found["form"] for found in record["calls"].values() if "form" in found]
    assert "wrong" not in forms and forms.count("right") >= 60
    assert record["total"]["right"] >= 175 and len(record["calls"]) >= 500


# Releases of SciPy differ in the functions that they mark and call.
of_the_record = pytest.mark.skipif(
    not importlib.metadata.version("scipy").startswith("1.17."), reason="the record is that of SciPy 1.17"
)


@of_the_record
def test_every_function_that_scipy_marks_is_called_or_listed(harness: ModuleType) -> None:
    marked = harness.marked_functions()
    called = {call.function for call in harness.CALLS}
    assert marked - called == harness.NOT_CALLED.keys() & marked - called
    assert not called & harness.NOT_CALLED.keys()


@of_the_record
@pytest.mark.thread_unsafe(reason="it patches SciPy, in the whole process")
@pytest.mark.parametrize("part", ["special", "stats", "signal", "ndimage", "numerics"])
def test_no_call_is_worse_than_the_record_says(harness: ModuleType, record: Any, part: str) -> None:
    from scipy._lib._array_api import SCIPY_ARRAY_API

    assert SCIPY_ARRAY_API, "SciPy was imported before these tests; run them in a process of their own"
    calls = importlib.import_module(f"conformance.gradients.calls.{part}").CALLS
    xp = importlib.import_module("stride0")
    found = {call.name: harness.examine_all(call, xp) for call in calls}
    assert not [name for name, each in found.items() if "wrong" in (each.outcome, each.form, each.patched)]
    assert not harness.worse(found, record)


def test_a_wrong_gradient_is_found(harness: ModuleType) -> None:
    """One that is lost, one that is off, and a call that computes something else."""
    import numpy as np

    call = harness.Call
    xs = (np.asarray([0.5, 1.5]),)

    def lost(xp: Any, f: Any, x: Any) -> Any:
        from stride0.autograd import stop_gradient

        return x * x if xp is np else stop_gradient(x) * stop_gradient(x)

    assert harness.examine(call("special.erf lost", lost, xs)) == harness.Found("wrong", "zero")
    half = harness.examine(
        call("special.erf half", lambda xp, f, x: x * x if xp is np else 0.5 * (x * x + lost(xp, f, x)), xs)
    )
    assert half.outcome == "wrong"
    assert (
        harness.examine(call("special.erf other", lambda xp, f, x: x * (2 if xp is np else 3), xs)).outcome
        == "fails"
    )
    with pytest.raises(ValueError, match="do not converge"):
        harness.examine(
            call("special.erf jump", lambda xp, f, x: xp.floor(x * 2) + x, (np.asarray([0.501]),))
        )
