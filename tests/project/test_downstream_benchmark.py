"""`python -m benchmarks downstream`: its cases give NumPy's results, eager and fused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sklearn", minversion="1.8")
pytest.importorskip("scipy", minversion="1.17")

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-W", "ignore", "-m", "benchmarks", "downstream"]
QUICK = ["--samples", "800", "--rounds", "1", "--sample", "0.001", "--without", "torch"]


def test_cases_agree_with_numpy_and_the_page_has_them(tmp_path: Path) -> None:
    """In a process of its own: SciPy reads at import whether it takes arrays of any library."""
    written, made = tmp_path / "run.json", tmp_path / "page.md"
    options = [*QUICK, "--shared", "--json", written, "--page", made]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("STRIDE0_")}
    done = subprocess.run([*COMMAND, *options], env=environment, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads(written.read_text(encoding="utf-8"))["rows"]
    assert len(rows) >= 30 and {row["group"] for row in rows} == {"estimators", "metrics", "SciPy"}
    for row in rows:
        assert not row["wrong"] and not row["unable"], row
        assert {*row["speedups"]} == {"stride0", "stride0 fused"} and row["seconds"]["numpy"] > 0
    page = made.read_text(encoding="utf-8")
    assert all(f"| {row['name']} |" in page for row in rows) and "| all | " in page


def test_a_case_in_a_process_of_its_own(tmp_path: Path) -> None:
    written = tmp_path / "run.json"
    options = [*QUICK, "-k", "hilbert", "--threads", "1", "2", "--json", written]
    done = subprocess.run([*COMMAND, *options], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads(written.read_text(encoding="utf-8"))["rows"]
    assert [row["threads"] for row in rows] == [1, 2]
    for row in rows:
        assert row["name"] == "signal.hilbert" and row["speedups"].keys() == {"stride0", "stride0 fused"}


def test_a_difference_is_an_error(tmp_path: Path) -> None:
    code = (
        "import sys, numpy; from benchmarks.downstream import run as downstream\n"
        "two = numpy.ones(2)\n"
        "assert downstream.difference_of(two, two, 1e-9) == ''\n"
        'assert downstream.difference_of(two * (1 + 1e-6), two, 1e-9) == "other values than NumPy\'s"\n'
        "assert '(3,)' in downstream.difference_of(numpy.ones(3), two, 1e-9)\n"
        "row = {'group': 'g', 'threads': 1, 'name': 'n', 'wrong': {'stride0': 'why'}, 'unable': {},\n"
        "       'speedups': {}, 'seconds': {'numpy': 1.0}}\n"
        "report = {'described': 'd', 'rounds': 1, 'rows': [row]}\n"
        "import json; open(sys.argv[1], 'w').write(json.dumps(report))\n"
        "assert downstream.main(['--read', sys.argv[1]]) == 1\n"
    )
    command = [sys.executable, "-c", code, tmp_path / "r.json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
