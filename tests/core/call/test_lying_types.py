"""Objects that claim another type by `__class__`, as `unittest.mock.Mock(spec=...)` does, are refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import liars


def test_every_parameter_of_every_function(tmp_path: Path) -> None:
    # In another process, so that a crash is a failed test that names the call.
    log = tmp_path / "last call"
    environment = {**os.environ, "MALLOC_PERTURB_": "165", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, liars.__file__, str(log)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    assert done.returncode in (0, 1), (
        f"ended with code {done.returncode}\nlast call: {log.read_text().strip()}\n{done.stderr[:2000]}"
    )
    assert done.returncode == 0, done.stdout
