"""`explain` and `fused.stats` for deferred results."""

from __future__ import annotations

import pytest

import stride0 as xp


def test_explain_shows_the_steps_of_a_deferred_array() -> None:
    x, c = xp.ones((300, 20)), xp.ones((300, 1))
    with xp.fused(size=1):
        y = x * c
        z = y + 2.0
        z = xp.exp(z)
        total = xp.sum(z, axis=0)
        shown = xp.explain(total)
        assert xp.strided.storage_nbytes(total) == 160
        assert xp.fused.stats()["pending"] == 1
    steps = shown.pending
    assert steps is not None
    assert steps.shape == (300, 20)
    assert [(name, stored) for name, _, _, stored in steps.steps] == [
        ("multiply", True),
        ("add", False),
        ("exp", True),
    ]
    assert [(name, dtype, stored) for name, dtype, _, stored in steps.reductions] == [
        ("sum", "float64", True)
    ]
    assert steps.leaves == [("float64", (160, 8)), ("float64", (8, 0)), ("float64", 2.0)]
    lines = str(shown).splitlines()
    assert lines[0] == "deferred: 4 steps over (300, 20), tile by tile"
    assert lines[-1].endswith("written: this array")
    assert "sum" in shown._repr_html_()
    # It is computed at the end of the block, and then shown like any array.
    assert xp.explain(total).pending is None
    assert xp.explain(total).shapes == ((20,),)


def test_explain_computes_nothing() -> None:
    x = xp.ones(100)
    with xp.fused(size=1):
        y = x + 1
        before = xp.fused.stats()
        repr(xp.explain(y))
        assert xp.fused.stats() == before


def test_statistics_count_passes_and_bytes() -> None:
    x = xp.ones((50, 40))
    with xp.fused(size=1):
        before = xp.fused.stats()
        y = (x + 1) * 2 - x
        assert float(y[0, 0]) == 3.0
        after = xp.fused.stats()
    assert after["passes"] - before["passes"] == 1
    assert after["steps"] - before["steps"] == 3
    assert after["bytes_saved"] - before["bytes_saved"] == 2 * x.nbytes


@pytest.mark.parametrize("size", [-1, -(2**40)])
def test_negative_sizes_are_refused(size: int) -> None:
    with pytest.raises(ValueError, match="fused: size is"):
        xp.fused(size)
