"""Tracebacks in pytest end at the user's line: frames of the package are hidden, in pytest only."""

from __future__ import annotations

import subprocess
import sys
import traceback

import pytest

import stride0 as xp

pytest_plugins = ["pytester"]

# Each error is raised in a different place: a compiled operator and function, a fast path, functions in
# Python of a chapter and an extension, a method, strict mode, the tape, and modules that are loaded late.
CALLS = {
    "operator": "xp.ones(3) + xp.ones(4)",
    "in_place": "operator.iadd(xp.ones(3), xp.ones(4))",
    "index": "xp.ones(3)[5]",
    "assignment": "operator.setitem(xp.ones(3), 0, xp.ones(2))",
    "elementwise": "xp.sin('text')",
    "chapter": "xp.concat([xp.ones(3), xp.ones((2, 2))])",
    "creation": "xp.zeros(3, dtype='no such dtype')",
    "reshape": "xp.reshape(xp.ones(3), (2, 2))",
    "linalg": "xp.linalg.inv(xp.zeros((2, 2)))",
    "fft": "xp.fft.fft(xp.ones(3), n=-1)",
    "strided": "xp.strided.as_strided(xp.ones(3), (9,), (9,))",
    "method": "xp.ones(3).reshape(2, 2)",
    "strict": "with xp.strict(): xp.ones(3).sum()",
    "grad": "xp.autograd.grad(lambda x: x)(xp.ones(3))",
    "memory": "xp.memory.set_limit(-1)",
    "testing": "xp.testing.flags(devices=())",
    "explain": "xp.explain(3)",
    "ufunc": "np.add(xp.ones(3), np.ones(3))",
    "asarray": "xp.asarray([[1], [2, 3]])",
}


@pytest.fixture
def run(pytester, monkeypatch):
    """Run tests that fail in a pytest without plugins, and return the lines that it prints."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def runner(text: str, *options: str) -> list[str]:
        pytester.makepyfile(test_user=text)
        result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--tb=short", "-q", *options)
        result.assert_outcomes(failed=text.count("def test_"))
        return list(result.outlines)

    return runner


def frames(lines: list[str]) -> list[str]:
    """The name of each test, followed by the files of the frames in its traceback, innermost last."""
    shown = []
    for line in lines:
        if line.startswith("____"):
            shown.append(line.strip("_ "))
        elif ": in " in line:
            shown.append(line.partition(":")[0])
    return shown


def test_the_last_frame_is_the_users(run):
    text = "import operator\nimport numpy as np\nimport stride0 as xp\n"
    text += "".join(f"def test_{name}():\n    {call}\n" for name, call in CALLS.items())
    assert frames(run(text)) == [part for name in CALLS for part in (f"test_{name}", "test_user.py")]


def test_frames_of_callbacks_are_shown(run):
    text = """
import stride0 as xp
from stride0 import autograd

def loss(x):
    return xp.sum(x + xp.ones(4))

def test_gradient():
    autograd.grad(loss)(xp.ones(3))
"""
    assert frames(run(text)) == ["test_gradient", "test_user.py", "test_user.py"]


def test_a_full_trace_shows_them(run):
    text = "import stride0 as xp\ndef test_chapter():\n    xp.concat([xp.ones(3), xp.ones((2, 2))])\n"
    assert "joining.pxi" in "".join(run(text, "--full-trace"))
    assert "joining.pxi" not in "".join(run(text))


@pytest.mark.parametrize("name", ["", ".autograd", ".testing", ".memory", "._explain.explain", ".linalg"])
def test_every_module_is_marked(name):
    program = f"""
import sys, stride0{name}
loaded = [module for name, module in sys.modules.items() if name.partition(".")[0] == "stride0"]
assert len(loaded) > 40 and all(vars(module)["__tracebackhide__"] is True for module in loaded)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_python_shows_them_all():
    with pytest.raises(xp.ShapeError) as caught:
        xp.concat([xp.ones(3), xp.ones((2, 2))])
    assert "joining.pxi" in "".join(traceback.format_exception(caught.value))
