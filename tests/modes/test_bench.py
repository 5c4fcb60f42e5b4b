"""``python -m stride0 bench``: its rows mean the same in every library, and its table names them."""

from __future__ import annotations

import statistics
import timeit
from typing import Any

import numpy as np
import pytest

import stride0
from stride0.__main__ import main
from stride0._bench import run
from stride0._bench.rows import ROWS, Row, statement
from stride0._core.plan.plan import Limit

LIBRARIES: dict[str, Any] = {"stride0": stride0, "numpy": np}


def smaller(row: Row) -> Row:
    """The same statement on fewer elements; the positions that `take` reads stay as many as they are."""
    shape = row.shape if "index" in row.text else tuple(min(n, 12) for n in row.shape)
    return row._replace(shape=shape)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.text} {row.shape}")
def test_libraries_compute_the_same(row: Row) -> None:
    text, names = statement(smaller(row), "stride0", stride0)
    expected_text, expected_names = statement(smaller(row), "numpy", np)
    found, expected = eval(text, names), eval(expected_text, expected_names)
    assert isinstance(found, stride0.Array)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-6)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("kind", ["read", "copy", "copy_past", "add", "add_past", "fma"])
def test_limits_run(kind: str, threads: int) -> None:
    for size in (1, 3072, 100_000):
        Limit(kind, size, threads)()


def test_a_limit_of_no_kind() -> None:
    with pytest.raises(ValueError, match="not in tuple"):
        Limit("write", 8, 1)


def test_a_limit_takes_longer_if_it_has_more_to_do() -> None:
    few, many = Limit("fma", 8 * 10**5, 1), Limit("fma", 8 * 10**7, 1)

    def median(limit: Limit) -> float:
        return statistics.median(timeit.timeit(limit, number=1) for _ in range(5))

    # A loop that the compiler removed would take as long for both.
    assert median(many) > 5 * median(few)


def test_table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(run.STARTED, "1")
    monkeypatch.setattr(run, "PEERS", ("stride0", "numpy"))
    monkeypatch.setattr(run, "ROUNDS", 1)
    rows = [smaller(row) for row in ROWS if "index" not in row.text]
    monkeypatch.setattr(run, "ROWS", rows)
    before = stride0.get_num_threads()
    assert main(["bench"]) == 0
    assert stride0.get_num_threads() == before
    printed = capsys.readouterr().out
    for row in rows:
        assert row.text in printed
    assert "best / ours" in printed and "%" in printed and "geometric means" in printed


def test_threads_are_checked(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["bench", "--threads", "0"])
    assert "at least 1" in capsys.readouterr().err
