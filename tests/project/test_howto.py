"""The programs of the pages under docs/howto and docs/migrate run. `test_docs.py` runs their sessions."""

from __future__ import annotations

import builtins
import operator
import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stride0 as xp

pytest_plugins = ["pytester"]

DOCS = Path(__file__).resolve().parents[2] / "docs"


# Words of Python, and arguments, in the tables of names.
KEYWORDS = {"if", "for", "while", "x", "t", "v", "y"}


def programs(page: str) -> dict[str, str]:
    """The programs of a page, by the file names in their first lines."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return dict(re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))


def executed(page: str, name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names that a program of a page defines."""
    monkeypatch.chdir(folder)
    (folder / name).write_text(programs(page)[name], encoding="utf-8")
    return runpy.run_path(str(folder / name))


def test_the_first_test_of_a_library(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    files = programs("howto/test-my-library.md")
    (pytester.path / "test_mylib.py").write_text(files["test_mylib.py"], encoding="utf-8")
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "test_mylib.py")
    result.assert_outcomes(passed=6)
    (pytester.path / "test_skip.py").write_text(files["test_skip.py"], encoding="utf-8")
    result = pytester.runpytest_subprocess("-p", "pytest_stride0", "-p", "no:cacheprovider", "test_skip.py")
    result.assert_outcomes(passed=5, skipped=1)


def test_the_fixture_that_replaces_array_api_strict(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeconftest(programs("migrate/array-api-strict.md")["conftest.py"])
    pytester.makepyfile(
        """
        import pytest

        def test_strict(xp):
            assert not hasattr(xp, "strided")
            with pytest.raises(TypeError):
                xp.ones(1, dtype=xp.int64) / 2
        """
    )
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_zarr_round_trip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("zarr", reason="this needs Zarr: pip install '.[scaling]'")
    names = executed("howto/save-load.md", "zarr_round_trip.py", tmp_path, monkeypatch)
    assert isinstance(names["x"], xp.Array)


def test_the_program_for_users_of_autograd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The derivatives of tanh, and of a mean square by hand."""
    names = executed("migrate/autograd.md", "after.py", tmp_path, monkeypatch)
    inputs, targets = np.asarray([[1.0, 2.0], [3.0, 4.0]]), np.asarray([0.0, 1.0])
    found = np.tanh(inputs @ np.asarray([0.1, -0.1]))
    assert np.allclose(names["slope"], inputs.T @ ((found - targets) * (1 - found**2)), rtol=1e-14)
    assert np.allclose(names["curve"], 1 - np.tanh([0.0, 1.0]) ** 2, rtol=1e-14)


def test_both_programs_for_users_of_autograd_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("autograd", reason="this needs HIPS/autograd: pip install autograd")
    before = executed("migrate/autograd.md", "before.py", tmp_path, monkeypatch)
    after = executed("migrate/autograd.md", "after.py", tmp_path, monkeypatch)
    for name in ("slope", "curve"):
        assert np.allclose(after[name], before[name], rtol=1e-14)


def test_the_frequent_names_of_numpy_are_other_names_here() -> None:
    """Each `np.` name of the table at the top of the page raises an error with the replacement."""
    text = (DOCS / "migrate" / "numpy.md").read_text(encoding="utf-8")
    table = text[text.index("| in NumPy | in stride0 |") : text.index("What differs besides names")]
    names = set(re.findall(r"`np\.(\w+)", table)) - {"linalg", "random", "add", "squeeze"}
    assert len(names) >= 10
    for name in names:
        with pytest.raises(AttributeError, match=r"write|wrote|instead|Instead"):
            getattr(xp, name)


@pytest.mark.parametrize("page", ["autograd", "jax", "pytorch"])
def test_names_on_the_right_of_the_tables_exist(page: str) -> None:
    text = (DOCS / "migrate" / f"{page}.md").read_text(encoding="utf-8")
    rows = [line.strip("|").split(" | ") for line in text.splitlines() if re.match(r"\| .*`.* \| ", line)]
    spans = [span for row in rows for span in re.findall(r"`([^`]+)`", row[-1])]
    spaces = (xp, xp.autograd, xp.optim, xp.testing, builtins)
    names = 0
    for span in spans:
        if path := re.match(r"(?:stride0|xp)((?:\.\w+)+)", span):
            operator.attrgetter(path[1][1:])(xp)
        elif name := re.match(r"([a-z_]+)(?:\(|$)", span):
            found = [space for space in spaces if hasattr(space, name[1])]
            assert found or name[1] in {"stride0", "defvjp", "defjvp", "defjvps"} | KEYWORDS, span
        else:
            continue
        names += 1
    assert names > 15
