"""cubed computes with stride0 arrays as its chunks.

cubed chooses the namespace of its chunks once in a process, so everything here runs in other processes.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import cubed_cases
import pytest

if importlib.util.find_spec("cubed") is None:
    pytest.skip("cubed is not installed (pip install 'stride0[scaling]')", allow_module_level=True)

# The passing tests of cubed 0.27's test_array_api.py on its one-threaded executor: all except two that read
# from a cloud bucket. With NumPy as the namespace the number is the same.
SHIPPED = "cubed.tests.test_array_api"
SHIPPED_VERSION = "0.27"
SHIPPED_PASSES = 236
LEFT_OUT = ("[threads", "[processes", "[beam", "[dask", "[lithops", "[ray", "[spark", "[modal", "_cloud")


def run(folder: Path, *arguments: str, namespace: str = "stride0") -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "CUBED_BACKEND_ARRAY_API_MODULE": namespace,
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | None]:
    folder = tmp_path_factory.mktemp("cubed")
    done = run(folder, cubed_cases.__file__, str(folder))
    assert done.returncode == 0, done.stderr
    found: dict[str, str | None] = json.loads(done.stdout.splitlines()[-1])
    assert found.keys() == cubed_cases.CASES.keys()
    return found


@pytest.mark.parametrize("name", cubed_cases.CASES)
def test_chunks(name: str, outcomes: dict[str, str | None]) -> None:
    assert outcomes[name] is None, outcomes[name]


def test_another_namespace_is_noticed(tmp_path: Path) -> None:
    """The cases fail if chunks are NumPy arrays, so they do check the type."""
    done = run(tmp_path, cubed_cases.__file__, str(tmp_path), namespace="numpy")
    assert done.returncode != 0
    assert "AssertionError" in done.stderr and "numpy" in done.stderr.splitlines()[-1]


def test_shipped_tests(tmp_path: Path) -> None:
    from importlib.metadata import version

    if not version("cubed").startswith(SHIPPED_VERSION + "."):
        pytest.skip(f"the count is of cubed {SHIPPED_VERSION}, this is {version('cubed')}")
    unwanted = " or ".join(LEFT_OUT)
    options = ["-q", "-p", "no:cacheprovider", "--tb=native", "-k", f"not ({unwanted})"]
    done = run(tmp_path, "-m", "pytest", "--pyargs", SHIPPED, *options)
    assert done.returncode == 0, done.stdout[-4000:]
    assert f" {SHIPPED_PASSES} passed" in f" {done.stdout.splitlines()[-1]}", done.stdout.splitlines()[-1]


def test_guide(tmp_path: Path) -> None:
    """The programs of docs/guides/scaling.md, joined to one program."""
    guide = Path(__file__).resolve().parents[2] / "docs" / "guides" / "scaling.md"
    blocks = re.findall(
        r"^```python\n(.*?)^```$", guide.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    assert len(blocks) == 3
    # Worker processes import the program, so the code that starts them must be guarded.
    guard = 'if __name__ == "__main__":\n'
    assert [block.startswith(guard) for block in blocks] == ["processes" in block for block in blocks]
    program = tmp_path / "guide.py"
    program.write_text("".join(blocks) + f"{guard}    print('done')\n", encoding="utf-8")
    done = run(tmp_path, str(program))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done\n"
