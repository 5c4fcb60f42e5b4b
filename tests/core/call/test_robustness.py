"""Invalid arguments: every public function refuses them cleanly and leaves its operands unchanged.

The calls are made in another process first, so that a crash is one failed test that names the call.
"""

from __future__ import annotations

import operator
import os
import random
import subprocess
import sys

import fuzz
import numpy as np
import pytest

import stride0 as xp


def survives(seed, calls, log_path):
    """Run the calls in another process; an empty text, or what happened."""
    environment = {
        **os.environ,
        "MALLOC_PERTURB_": "165",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":max_allocation_size_mb=4096",
    }
    command = [sys.executable, fuzz.__file__, str(seed), str(calls), str(log_path)]
    try:
        process = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    except subprocess.TimeoutExpired:
        return f"did not come to an end\nlast call: {log_path.read_text().strip()}"
    if process.returncode == 0:
        return ""
    if process.returncode == 1:
        return process.stdout + process.stderr
    last = log_path.read_text().strip() if log_path.exists() else "none"
    return f"ended with code {process.returncode}\nlast call: {last}\n{process.stderr[-2000:]}"


def test_junk_in_another_process(tmp_path):
    told = survives(20251, 25_000, tmp_path / "last call")
    assert not told, told


def test_junk_here(tmp_path):
    # The same calls have passed in the other process; here a failure comes with its traceback.
    seed = 7 if os.environ.get("CI") else random.randrange(10**9)
    told = survives(seed, 4000, tmp_path / "last call")
    assert not told, told
    wrong = fuzz.run(seed, 4000)
    assert not wrong, "\n".join(wrong)


def test_sequences_are_not_repeated():
    # An array without axes is an index, and Python repeats a sequence by any index that leaves `*` to it.
    for sequence in ([1, 2], (1, 2), "ab", b"ab", bytearray(b"ab"), range(2)):
        for x in (xp.asarray(2), xp.asarray(2, dtype=xp.uint8), xp.asarray([2])):
            for call in (lambda x=x, s=sequence: x * s, lambda x=x, s=sequence: s * x):
                with pytest.raises(TypeError):
                    call()


@pytest.mark.parametrize("sign", [1, -1])
def test_integers_too_long_to_be_written_out(sign):
    # Python does not turn integers of more than 4300 digits into text; that must not replace the error.
    huge = sign * 10**5000
    x = xp.arange(3)
    calls = {
        OverflowError: [
            lambda: xp.asarray(huge),
            lambda: xp.asarray([1, huge]),
            lambda: xp.asarray([huge], dtype=xp.float64),
            lambda: xp.full(2, huge),
            lambda: x + huge,
            lambda: huge - x,
            lambda: xp.add(x, x, alpha=huge),
            lambda: operator.setitem(x, ..., huge),
            lambda: operator.setitem(x, [0], huge),
            lambda: operator.iadd(x, huge),
            lambda: xp.where(x > 0, x, huge),
        ],
        IndexError: [lambda: x[huge], lambda: x[..., huge], lambda: x[[huge]], lambda: xp.sum(x, axis=huge)],
        (MemoryError, ValueError): [
            lambda: xp.zeros(huge),
            lambda: xp.empty((2, huge)),
            lambda: xp.reshape(x, (huge,)),
            lambda: xp.broadcast_to(x, (huge, 3)),
            lambda: xp.eye(huge),
        ],
    }
    for error, all_calls in calls.items():
        for call in all_calls:
            with pytest.raises(error) as caught:
                call()
            assert "4300" not in str(caught.value)
    assert np.asarray(x).tolist() == [0, 1, 2]
    for compare, answer in (
        (operator.eq, False),
        (operator.ne, True),
        (operator.lt, sign > 0),
        (operator.gt, sign < 0),
    ):
        assert np.asarray(compare(x, huge)).tolist() == [answer] * 3
    assert np.asarray(x[:huge]).tolist() == ([0, 1, 2] if sign > 0 else [])


CRASHERS = {
    "an array made by __new__": "y = xp.Array.__new__(xp.Array); y + 1; y[...] = 1; repr(y)",
    "the memory of an array made by __new__": "memoryview(xp.Array.__new__(xp.Array)).tolist()",
    "an array made by object": "y = object.__new__(xp.Array); y + 1",
    "an iterator of nothing": "list(type(iter(xp.arange(2)))(None))",
    "an iterator of an array without axes": "list(type(iter(xp.arange(2)))(xp.asarray(1)))",
    "a dtype made by __new__": "d = xp.DType.__new__(xp.DType); xp.zeros(2, dtype=d)",
    "an array without memory": "f, a = xp.arange(3).__reduce__(); f((2**40,), xp.int8, b'abc')",
    "an array of a negative size": "f, a = xp.arange(3).__reduce__(); f((-1,), xp.int8, b'')",
}


@pytest.mark.parametrize("name", CRASHERS)
def test_back_doors(name):
    code = f"""
import stride0 as xp
try:
    {CRASHERS[name]}
except (TypeError, ValueError, MemoryError):
    print("refused")
"""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (process.returncode, process.stdout) == (0, "refused\n"), process.stderr


def test_structures_that_contain_themselves():
    endless: list = []
    endless.append(endless)
    deep: tuple = ()
    for _ in range(100_000):
        deep = (deep,)
    for tree in (endless, {"again": endless}, deep):
        with pytest.raises(ValueError, match="levels"):
            xp.autograd.stop_gradient(tree)
        with pytest.raises(ValueError, match="levels"):
            xp.autograd.grad(lambda x: xp.ones(()))(tree)
