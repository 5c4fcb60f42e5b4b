"""The examples, run as a reader runs them: in a process and a folder of their own."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(folder: Path, name: str, *options: str) -> tuple[int, str]:
    """Run an example in `folder`; the exit code, and what it printed."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *options],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout


def cells(output: str, title: str) -> list[float]:
    """The numbers in a row of the table."""
    row = next(line for line in output.splitlines() if line.startswith(title + "  "))
    return [float(cell) for cell in row.removeprefix(title).split()]


def needs(*modules: str) -> None:
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"the example needs {', '.join(missing)}")


def test_digits(tmp_path: Path) -> None:
    needs("sklearn", "tqdm")
    code, output = run(tmp_path, "digits.py", "--repeat", "1")
    assert code == 0, output
    assert "Identical labels: 1797 cluster labels and 450 predicted digits, in stride0 and numpy." in output
    ours, numpys = cells(output, "nearest centroid, accuracy")
    assert ours == numpys > 0.85


def test_digits_softmax(tmp_path: Path) -> None:
    needs("sklearn", "tqdm", "matplotlib")
    code, output = run(tmp_path, "digits_softmax.py")
    assert code == 0, output
    regression, network = cells(output, "accuracy, test")
    assert regression >= 0.94 and network >= 0.95
    assert all(loss < 0.1 for loss in cells(output, "cross-entropy, training"))
    if all(importlib.util.find_spec(name) for name in ("torch", "array_api_compat")):
        assert all(difference < 1e-12 for difference in cells(output, "difference from PyTorch's gradient"))
    else:
        assert "not compared" in output
    picture = tmp_path / "digits_softmax.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir()] == [picture.name]


def test_digits_softmax_after_one_epoch(tmp_path: Path) -> None:
    """Too few digits are right, which it says, and everything but the time is the same when it runs again."""
    needs("sklearn", "tqdm", "matplotlib")
    rows = ("cross-entropy, training", "cross-entropy, test", "accuracy, training", "accuracy, test")
    found = []
    for name in ("a.png", "b.svg"):
        code, output = run(tmp_path, "digits_softmax.py", "--epochs", "1", "--picture", name)
        assert code == 1
        assert "TOO FEW RIGHT" in output
        assert (tmp_path / name).stat().st_size > 1000
        found.append([cells(output, row) for row in rows])
    assert found[0] == found[1]
