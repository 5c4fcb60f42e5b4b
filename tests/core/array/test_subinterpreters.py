"""An import in a subinterpreter raises a clear error; afterwards the main interpreter can import."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import _testcapi

told = _testcapi.run_in_subinterp('''
try:
    import stride0
except ImportError as error:
    assert "main interpreter" in str(error), error
else:
    raise SystemExit("imported")
''')
import stride0 as xp

assert float(xp.sum(xp.ones(3))) == 3.0
assert xp.linalg.inv(xp.eye(2))[0, 0] == 1.0
raise SystemExit(told)
"""


def test_the_main_interpreter_imports_after_a_subinterpreter_tried() -> None:
    pytest.importorskip("_testcapi")
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
