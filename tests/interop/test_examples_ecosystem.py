"""The examples that pass stride0 arrays to other libraries, run as a reader runs them."""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from test_examples import EXAMPLES, needs, run

import stride0 as xp


def table(output: str) -> dict[str, list[float]]:
    """The rows of the table by title: both results, the difference, its limit, the times."""
    lines = output.splitlines()
    head = next(k for k, line in enumerate(lines) if line.split()[:3] == ["numpy", "stride0", "difference"])
    found = {}
    for line in lines[head + 1 :]:
        title, *cells = line.rsplit(maxsplit=6)
        if len(cells) < 6 or title == "all of it":
            break
        found[title.strip()] = [float(cell) for cell in cells]
    return found


def check(rows: dict[str, list[float]], count: int) -> None:
    assert len(rows) == count
    for title, (numpys, ours, difference, allowed, *_) in rows.items():
        assert ours == pytest.approx(numpys, rel=1e-5), title
        assert difference <= allowed <= 1e-9, title


def test_sklearn_pipeline(tmp_path: Path) -> None:
    needs("sklearn", "scipy", "tqdm")
    code, output = run(tmp_path, "sklearn_pipeline.py", "--quick")
    assert code == 0, output
    rows = table(output)
    check(rows, 14)
    assert "The same numbers in numpy and stride0: 14 results" in output
    assert rows["accuracy"][1] > 0.9
    assert rows["R2 of the lower halves"][1] > 0.2
    assert list(tmp_path.iterdir()) == []


def test_scipy_image(tmp_path: Path) -> None:
    needs("sklearn", "scipy", "tqdm", "matplotlib", "PIL")
    code, output = run(tmp_path, "scipy_image.py", "--quick", "--output", "pictures")
    assert code == 0, output
    rows = table(output)
    check(rows, 16)
    assert "The same numbers in numpy and stride0: 16 results" in output
    assert rows["decibels of that"][1] > 20
    assert rows["signal: likeness to a cutting"][1] == pytest.approx(1)
    pictures = sorted((tmp_path / "pictures").iterdir())
    assert len(pictures) == 15
    for picture in pictures:
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert picture.stat().st_size > 5000, picture.name
    assert [path.name for path in tmp_path.iterdir()] == ["pictures"]


def test_larger_than_memory(tmp_path: Path) -> None:
    needs("cubed", "distributed", "zarr", "rich", "tqdm")
    code, output = run(tmp_path, "larger_than_memory.py", "--quick")
    assert code == 0, output
    lines = output.splitlines()
    limit = 320
    assert f"786432 rows of 128 float32, 384 MiB; limit of each process: {limit} MiB" in lines
    head = next(k for k, line in enumerate(lines) if line.split() == ["difference", "allowed"])
    rows = [line.rsplit(maxsplit=2) for line in lines[head + 1 : head + 7]]
    assert all(0 <= float(difference) <= float(allowed) <= 1e-2 for _, difference, allowed in rows)
    assert [float(allowed) for *_, allowed in rows[:5]] == [1e-5] * 5
    peaks = [
        int(line.split()[-2]) for line in lines if line.startswith("peak memory") and "unknown" not in line
    ]
    assert len(peaks) in (0, 3) and all(50 < peak < limit for peak in peaks)
    assert list(tmp_path.iterdir()) == []


def test_larger_than_memory_is_larger(tmp_path: Path) -> None:
    code, output = run(tmp_path, "larger_than_memory.py", "--size", "320")
    assert code == 2
    assert "--size must be more than the limit of 320 MiB" in output


def test_larger_than_memory_sees_what_differs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example's checks, without cubed: right components pass all checks, and each error fails one."""
    needs("zarr", "tqdm")
    import zarr

    # Importing the example sets these; they are restored.
    for variable in ("CUBED_BACKEND_ARRAY_API_MODULE", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        monkeypatch.setenv(variable, os.environ.get(variable, ""))
    monkeypatch.syspath_prepend(EXAMPLES)
    import larger_than_memory as example

    data, scores = tmp_path / "data.zarr", tmp_path / "scores.zarr"
    moments = example.write(data, 2**16)
    right = example.principal_reference(moments)
    x = zarr.open_array(str(data), mode="r")[:]
    assert np.allclose(right.mean, x.mean(axis=0, dtype=np.float64), rtol=1e-9)
    assert np.allclose(right.deviation, x.std(axis=0, dtype=np.float64), rtol=1e-9)
    rows = ((x - right.mean) / right.deviation) @ right.directions.T
    stored = zarr.create_array(str(scores), shape=rows.shape, chunks=(2**13, 6), dtype="float32")

    def failing(found: object, reduced: np.ndarray) -> list[int]:
        stored[:] = reduced
        found_checks = example.checks(found, right, data, scores)
        return [k for k, check in enumerate(found_checks) if not check.passed]

    turned = right.directions.copy()
    turned[0] += 0.05 * right.directions[1] + 0.05 * np.cos(np.arange(128))
    moved = rows.copy()
    moved[0, 3] += 0.01
    assert failing(right, rows) == []
    assert failing(dataclasses.replace(right, mean=right.mean + 1e-4 * right.deviation), rows) == [0]
    assert failing(dataclasses.replace(right, deviation=right.deviation * 1.0001), rows) == [1]
    assert failing(dataclasses.replace(right, variances=right.variances * 1.0001), rows) == [2]
    assert failing(dataclasses.replace(right, directions=turned), rows) == [3, 5]
    assert failing(right, moved) == [4]
    moved[0, 3], moved[-1, 0] = rows[0, 3], np.nan
    assert failing(right, moved) == [4]


def test_side_by_side_times_no_first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """The preparation in the first call of a function counts for neither library."""
    needs("threadpoolctl", "tqdm")
    monkeypatch.syspath_prepend(EXAMPLES)
    import side_by_side

    calls: list[str] = []

    def step(state: dict[str, object]) -> object:
        if len(calls) < 2:
            time.sleep(0.2)
        calls.append(str(state["name"]))
        return np.zeros(3)

    names = ("numpy", "stride0")
    rows, _ = side_by_side.run(
        [side_by_side.Step("step", step)], lambda ns: {"name": ns.__name__, "xp": ns}, names, 3
    )
    assert calls == [*names, *names[::-1], *names, *names[::-1]]
    assert [len(seconds) for seconds in rows[0].seconds] == [3, 3]
    assert max(max(seconds) for seconds in rows[0].seconds) < 0.1


@pytest.mark.parametrize(
    ("expected", "found", "complaint"),
    [
        (np.asarray([1.0, 2.0]), xp.asarray([1.0, 2.0]), None),
        (np.asarray([1.0, 2.0]), xp.asarray([1.0, 2.0 + 1e-6]), None),
        (np.asarray([1.0, 2.0]), xp.asarray([1.0, 2.0 + 1e-5]), "differs by 5.0e-06, more than 1e-06"),
        (np.asarray([1.0, 2.0]), xp.asarray([1.0, float("nan")]), "differs by nan, more than 1e-06"),
        (np.asarray([1.0, 2.0]), xp.asarray([[1.0, 2.0]]), "float64 (1, 2), not float64 (2,)"),
        (np.asarray([1.0, 2.0]), xp.asarray([1.0, 2.0], dtype=xp.float32), "float32 (2,), not float64 (2,)"),
        (np.asarray([1.0, 2.0]), np.asarray([1.0, 2.0]), "a ndarray, not an array of the library"),
        (np.asarray([1, 200], np.uint8), xp.asarray([200, 1], dtype=xp.uint8), "differs by 2.0e+02"),
        (np.asarray([True, False]), xp.asarray([True, True]), "differs by 1.0e+00"),
        (0.5, 0.5, None),
        (0.5, 0.75, "differs by 5.0e-01"),
    ],
)
def test_what_is_not_the_same(
    monkeypatch: pytest.MonkeyPatch, expected: object, found: object, complaint: str | None
) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.delitem(sys.modules, "side_by_side", raising=False)
    from side_by_side import Row, Step

    row = Row(Step("something", lambda state: None, 1e-6), [expected, found], [])
    said = row.complaint([np.ndarray, xp.Array])
    assert said == complaint or (said and complaint and said.startswith(complaint))
