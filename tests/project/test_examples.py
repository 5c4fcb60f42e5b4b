"""The examples, run as a reader runs them: in a separate process and folder."""

from __future__ import annotations

import ast
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(folder: Path, name: str, *options: str) -> tuple[int, str]:
    """Run an example in `folder`; return the exit code and the output."""
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
    """The output reports that too few digits are right; a second run prints the same, except the time."""
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


def test_the_cells_of_the_notebook_show_what_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """`.ci/run` executes the notebook itself, with Jupyter."""
    needs("scipy", "matplotlib")
    monkeypatch.setenv("MPLBACKEND", "agg")
    notebook = json.loads((EXAMPLES / "fit_a_filter.ipynb").read_text(encoding="utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}
    shown = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        stored = cell["outputs"][0] if cell["outputs"] else {"output_type": "none"}
        tree = ast.parse("".join(cell["source"]))
        if stored["output_type"] == "error":
            with pytest.raises(Exception) as caught:
                exec(compile(tree, "<cell>", "exec"), names)
            # The reason in between differs if SciPy accepts arrays of any namespace.
            assert caught.type.__name__ == stored["ename"]
            given, wanted = str(caught.value).splitlines(), stored["evalue"].splitlines()
            assert [given[0], given[-1]] == [wanted[0], wanted[-1]]
            shown += 1
        elif stored["output_type"] == "execute_result":
            last = tree.body.pop()
            assert isinstance(last, ast.Expr)
            exec(compile(tree, "<cell>", "exec"), names)
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
            assert repr(value) == "".join(stored["data"]["text/plain"])
            shown += 1
        else:
            exec(compile(tree, "<cell>", "exec"), names)
    assert shown == 4
