"""A call that gets no memory raises MemoryError: it does not crash, hang, or change a later result.

The calls are made in another process, so that a crash is a failed test that names the call.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from stride0._core.plan import threads

SUPPORT = Path(__file__).parents[2] / "support"


@pytest.mark.skipif(
    sys.version_info >= (3, 12),
    reason="CPython 3.12.1 and 3.13.0 crash in programs of pure Python to which one allocation is refused",
)
def test_each_allocation_in_turn(tmp_path: Path) -> None:
    pytest.importorskip("_testcapi")
    log = tmp_path / "last call"
    command = [sys.executable, str(SUPPORT / "refused_memory.py"), str(log)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "STRIDE0_FUSED": ""}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, timeout=120, check=False
        )
    except subprocess.TimeoutExpired:
        pytest.fail(f"did not come to an end\nlast call: {log.read_text().strip()}")
    assert done.returncode in (0, 1), (
        f"ended with code {done.returncode}\nlast call: {log.read_text().strip()}\n{done.stderr[:2000]}"
    )
    assert done.returncode == 0, done.stdout


KEPT = """
import sys
from _testcapi import remove_mem_hooks, set_nomemory
from dataclasses import make_dataclass
from stride0.autograd._tape.trees import flatten

leaf = object()
tree = make_dataclass("Tree", [f"part_{k}" for k in range(20)])(*[leaf] * 20)
flatten(tree)
references = sys.getrefcount(leaf)
for first in range(200):
    set_nomemory(first, first + 1)
    try:
        flatten(tree)
    except MemoryError:
        pass
    remove_mem_hooks()
    assert sys.getrefcount(leaf) == references, first
"""


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="see above")
def test_a_list_that_cannot_grow_keeps_its_items() -> None:
    pytest.importorskip("_testcapi")
    # Cython 3.3 released an item twice if a list comprehension had no memory for it: `mend_cython`.
    done = subprocess.run([sys.executable, "-c", KEPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]


# All allocations of Python are refused before a worker has a thread state: the caller computes its chunks.
ALL_REFUSED = """
import faulthandler, sys
from _testcapi import remove_mem_hooks, set_nomemory
import numpy as np
import stride0 as xp
faulthandler.dump_traceback_later(60, exit=True)
x = xp.asarray(np.random.default_rng(0).normal(size={shape}))
sums = lambda: xp.sum(xp.exp(x), axis=1)

def factors(first):
    xp.set_num_threads(1)
    expected = np.asarray(xp.linalg.{name}(x)[0]).tobytes()
    xp.set_num_threads(2)
    for _ in range(5):
        sums()          # the workers are awake
        set_nomemory(first, 0)
        try:
            found = xp.linalg.{name}(x)
        except MemoryError:
            found = None
        remove_mem_hooks()
        assert found is None or np.asarray(found[0]).tobytes() == expected
    assert np.asarray(xp.linalg.{name}(x)[0]).tobytes() == expected

for first in range(4):
    factors(first)
"""


@pytest.mark.skipif(not threads.pool, reason="built without a thread pool")
@pytest.mark.parametrize(("name", "shape"), [("qr", (4000, 8, 6)), ("eigh", (2000, 6, 6))])
def test_workers_without_a_thread_state(name: str, shape: tuple[int, ...]) -> None:
    pytest.importorskip("_testcapi")
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "STRIDE0_FUSED": ""}
    command = [sys.executable, "-c", ALL_REFUSED.format(name=name, shape=shape)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[:2000]


ARGUMENTS_REFUSED = """
from stride0.autograd._tape.tape import Level, Tape
import stride0 as xp
from stride0.autograd import grad, vmap

# Objects whose making fails were not counted.
for make in (lambda: Level("two"), lambda: Tape.__new__(Tape, **{1: 2})):
    try:
        make()
    except TypeError:
        pass
    else:
        raise AssertionError("it was made")
x = xp.asarray([1.0, 2.0])
assert list(grad(lambda y: xp.sum(y * y))(x)) == [2.0, 4.0]
assert list(vmap(lambda y: y * y)(x)) == [1.0, 4.0]
"""


def test_what_could_not_be_made_is_not_counted() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ARGUMENTS_REFUSED], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[:2000]
