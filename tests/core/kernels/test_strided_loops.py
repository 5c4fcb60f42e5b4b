"""Loops over any strides: every second element, in reverse, in place, around the ends of vectors and blocks.

A loop over any strides may run in vectors, in blocks or one by one (Note [Blockwise]); it has the bits of the
loop over contiguous elements, and reads and writes nothing but the elements.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import function_of

import stride0 as xp
from stride0._core.array.array import strides
from stride0._core.kernels import _dispatch
from stride0._tables.operations import OPS

# Around vectors of 16, 32 and 64 bytes, the least run of a block, and blocks of 4096 bytes.
LENGTHS = (1, 2, 3, 31, 32, 33, 40, 63, 64, 65, 255, 256, 257, 511, 513, 1025, 2049, 4097)
DTYPES = (
    *("bool", "int8", "uint16", "int32", "int64", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)
ELEMENTWISE = [op for op in OPS if op.public and op.nin < 3 and not (op.namespace or op.run or op.call)]


def values(name: str, n: int, seed: int) -> Any:
    """Ordinary elements and zeros; for floating-point dtypes also infinities, NaN and negative zeros."""
    rng = np.random.default_rng(seed)
    if name == "bool":
        return rng.integers(0, 2, n).astype(bool)
    if "int" in name:
        return rng.integers(0 if name[0] == "u" else -9, 9, n).astype(name)
    out = rng.normal(0, 3, n).astype(name)
    if "complex" in name:
        out += 1j * rng.normal(0, 3, n).astype(out.real.dtype)
    special = np.asarray([np.inf, -np.inf, np.nan, 0.0, -0.0, 0.5, -2.5])
    out[rng.random(n) < 0.2] = rng.choice(special)
    return out


def same(got: Any, expected: Any) -> bool:
    """Whether two results have the same bits, NaNs being equal."""
    a, b = np.array(got), np.array(expected)
    if a.dtype.kind not in "fc":
        return bool((a == b).all())
    equal = (a == b) | (np.isnan(a) & np.isnan(b))
    return bool(equal.all() and (np.signbit(a.real) == np.signbit(b.real))[~np.isnan(a)].all())


@pytest.mark.parametrize("op", ELEMENTWISE, ids=lambda op: op.name)
def test_strided_operands_have_the_bits_of_contiguous_ones(op: Any) -> None:
    call = function_of(op)
    ran = 0
    for name in DTYPES:
        try:
            call(*[xp.ones((1,), dtype=getattr(xp, name))] * op.nin)
        except TypeError:
            continue
        for n in LENGTHS:
            whole = [values(name, 3 * n, seed) for seed in range(op.nin)]
            views = [
                [a[: 2 * n : 2], a[n - 1 :: -1], a[: 3 * n : 3], a[:n], a[:1]] for a in map(xp.asarray, whole)
            ]
            for operands in itertools.product(*views):
                expected = call(*(xp.asarray(x, copy=True) for x in operands))
                assert same(call(*operands), expected), (name, n, [strides(x) for x in operands])
                ran += 1
    assert ran


@pytest.mark.parametrize("name", ["int32", "int64", "float32", "float64", "complex128"])
@pytest.mark.parametrize("step", [2, 3, -1, -2])
def test_results_in_place(name: str, step: int) -> None:
    for n in LENGTHS:
        a, b = values(name, 3 * n, 0), values(name, 3 * n, 1)
        for change in ("x += y", "x -= y", "x *= y", "x += 3"):
            expected, x = a.copy(), xp.asarray(a, copy=True)
            with np.errstate(all="ignore"):
                exec(change, {"x": expected[::step], "y": b[::step]})
            exec(change, {"x": x[::step], "y": xp.asarray(b)[::step]})
            if name == "complex128" and "*" in change:
                assert np.allclose(np.array(x), expected, equal_nan=True)  # NumPy's kernels may use fma
            else:
                assert same(x, expected), (n, change)


def test_operands_that_overlap_the_result() -> None:
    for name, n in itertools.product(("float32", "float64", "int64", "complex128"), LENGTHS):
        a = values(name, 2 * n, 3)
        changes = ("x[:n] += x[::2]", "x[::2] -= x[:n]", "x[::-1] += x", "x[n:] = -x[::2]", "x[:n] = x[::2]")
        for change in changes:
            expected, x = a.copy(), xp.asarray(a, copy=True)
            with np.errstate(all="ignore"):
                exec(change, {"x": expected, "n": n})
            exec(change, {"x": x, "n": n})
            assert same(x, expected), (name, n, change)


@pytest.mark.parametrize("target", ["float32", "float64", "complex128"])
def test_integers_are_rounded_once(target: str) -> None:
    powers = 2 ** np.arange(63, dtype=np.int64)
    near = [powers, powers - 1, powers + 1, powers + powers // 2, powers // 3, powers - 2**10]
    ties = [(powers[24:] | powers[24:] >> 24) + change for change in (-1, 0, 1)]
    some = np.concatenate([*near, *ties, [0, np.iinfo("int64").max, np.iinfo("int64").min]])
    rng = np.random.default_rng(5)
    some = np.concatenate([some, -some, rng.integers(-(2**63), 2**63 - 1, 5000) >> rng.integers(0, 63, 5000)])
    # Blocks without large numbers are converted by another loop.
    small = some[(some < 2**51) & (some >= -(2**51))]
    for a in (some, some[::-1], np.repeat(some, 2)[::2], small, np.repeat(small, 2)[::2]):
        got = xp.astype(xp.asarray(a), getattr(xp, target))
        assert same(got, a.astype(target))


GUARDED = """
import ctypes, mmap, itertools, sys
import numpy as np
import stride0 as xp
from helpers import function_of
from test_strided_loops import ELEMENTWISE, DTYPES

page = mmap.PAGESIZE
memory = mmap.mmap(-1, 6 * page)
first = ctypes.addressof(ctypes.c_char.from_buffer(memory))
protect = ctypes.CDLL(None, use_errno=True).mprotect
protect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
assert protect(first, page, 0) == 0 and protect(first + 5 * page, page, 0) == 0
inside = np.frombuffer(memory, np.uint8)[page : 5 * page]
inside[:] = 1
calls = 0
for name, n in itertools.product(DTYPES, (1, 2, 31, 32, 33, 48, 64, 65, 96, 100, 128, 200)):
    size = np.dtype(name).itemsize
    for step in (2, -2, 3):
        bytes_of = ((n - 1) * abs(step) + 1) * size
        if bytes_of > inside.size:
            continue
        for part in (inside[:bytes_of], inside[inside.size - bytes_of :]):
            x = xp.asarray(part.view(name), copy=False)[::step]
            assert x.shape == (n,)
            for op in ELEMENTWISE:
                try:
                    function_of(op)(*[x] * op.nin)
                except TypeError:
                    continue
                calls += 1
            for target in DTYPES:
                if "complex" in name and "complex" not in target:
                    continue
                xp.astype(x, getattr(xp, target))
            xp.repeat(x, 2), xp.asarray(x, copy=True)
            reductions = ["all", "any", "count_nonzero"]
            reductions += [] if "complex" in name else ["max", "min", "argmax", "argmin"]
            reductions += [] if name == "bool" else ["sum", "prod"]
            for reduction in reductions:
                getattr(xp, reduction)(x)
                if n % 4 == 0:
                    for axis in (0, 1):
                        getattr(xp, reduction)(xp.reshape(x, (4, n // 4)), axis=axis)
            if name != "bool":
                xp.vecdot(x, x), xp.vecdot(x, xp.asarray(x, copy=True)), xp.matmul(x, x)
    # A matrix that ends, and one that begins, where the memory does; transposed.
    rows = inside.size // (33 * size)
    for part in (inside[: rows * 33 * size], inside[inside.size - rows * 33 * size :]):
        xp.reshape(xp.asarray(part.view(name), copy=False).reshape((rows, 33)).T, (-1,))
    # An axis of length 0 has no element at index 0.
    empty = xp.asarray(np.ndarray(0, name, memory, 5 * page), copy=False)
    for call in (xp.take, xp.take_along_axis):
        try:
            call(empty, xp.asarray([0, 0, 0]), axis=0)
        except IndexError:
            calls += 1
print(calls)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="mprotect by ctypes")
@pytest.mark.parametrize("instruction_set", _dispatch.supported())
def test_nothing_beyond_the_elements_is_read(instruction_set: str) -> None:
    """Memory around the operands cannot be read: a loop that reads it ends the process."""
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), str(here.parents[1] / "support"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "STRIDE0_ISA": instruction_set}

    def run(script: str, **more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", script]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, env={**environment, **more}
        )

    done = run(GUARDED)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 5000
    beyond = GUARDED.replace("[page : 5 * page]", "[page : 5 * page + 1]")
    # This crash is intended, so AddressSanitizer must not handle it.
    options = os.environ.get("ASAN_OPTIONS", "") + ":handle_segv=0"
    assert run(beyond, ASAN_OPTIONS=options).returncode != 0, "the memory is not guarded"
