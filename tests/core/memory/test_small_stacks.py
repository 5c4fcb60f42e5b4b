"""A thread with a stack of 128 KiB, the default of musl, makes every call."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import small_stacks

from stride0._core.plan import threads


@pytest.mark.parametrize("count", [1, 2])
def test_calls_in_a_thread(count: int, tmp_path: Path) -> None:
    if count > 1 and not threads.pool:
        pytest.skip("built without a thread pool")
    log = tmp_path / "last call"
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "STRIDE0_FUSED": ""}
    command = [sys.executable, small_stacks.__file__, str(128 << 10), str(count), str(log)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    assert done.returncode == 0, (
        f"ended with code {done.returncode}\nlast call: {log.read_text().strip()}\n{done.stderr[:2000]}"
    )
