"""Former defects: sizes that overflow, arrays that change while they are read, odd sequences."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import stride0 as xp
from stride0._core.array import array
from stride0._core.elementwise import elementwise
from stride0._core.reduce import reduce

HUGE = [
    lambda: xp.broadcast_arrays(
        xp.broadcast_to(xp.ones((1, 1)), (2**32, 1)), xp.broadcast_to(xp.ones((1, 1)), (1, 2**32))
    ),
    lambda: xp.broadcast_to(xp.ones(1), (2**61 + 1,)),
    lambda: xp.cumulative_sum(xp.broadcast_to(xp.ones(1, dtype=xp.int8), (2**61,)), include_initial=True),
    lambda: array.restride(xp.ones(1), (2**40, 2**40), (0, 0)),
]


@pytest.mark.parametrize("call", HUGE)
def test_no_array_is_larger_than_can_be_counted(call):
    with pytest.raises((MemoryError, ValueError)):
        call()


@pytest.mark.parametrize("writing", [False, True])
def test_code_in_a_slice_runs_before_indices_are_checked(writing):
    x, index = xp.ones((4, 4)), xp.asarray([0, 1])

    class Meddler:
        def __index__(self):
            index[0] = 2**40
            return 0

    with pytest.raises(IndexError, match="1099511627776"):
        if writing:
            x[index, slice(Meddler(), None)] = 5.0
        else:
            x[index, slice(Meddler(), None)]
    assert xp.all(x == 1)


class Says(list):
    """A list whose reported length is wrong."""

    def __init__(self, says, holds):
        super().__init__([1])
        self.says, self.holds = says, holds

    def __len__(self):
        return self.says

    def __iter__(self):
        return iter(self.holds)


@pytest.mark.parametrize("says, holds", [(1, [7] * 100000), (5, [1]), (2, []), (1, [xp.ones(2)] * 3)])
def test_lists_that_lie_about_their_length(says, holds):
    try:
        got = xp.asarray(Says(says, holds))
    except ValueError:
        return
    assert got.shape[0] == len(holds)


RACE = """
import threading
import stride0 as xp
big, x, stop = xp.zeros(200000, dtype=xp.int64), xp.ones(4096), []
mask, yes, no, z = (xp.zeros(100000, dtype=xp.bool) for _ in range(4))
yes[...] = True
def meddle():
    while not stop:
        big[-1] = 2**40
        mask[...] = yes
        big[-1] = 0
        mask[...] = no
thread = threading.Thread(target=meddle)
thread.start()
for _ in range(300):
    for call in (lambda: x[big], lambda: x.__setitem__(big, 2.0)):
        try:
            call()
        except IndexError:
            pass
    z[mask]
stop.append(1)
thread.join()
print("survived")
"""


def test_indices_and_masks_that_another_thread_writes_to():
    done = subprocess.run(
        [sys.executable, "-c", RACE], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stdout.strip() == "survived", done.stderr


@pytest.mark.parametrize("shape", [(100003,), (37, 700), (5000, 3), (3, 5000), (6, 1025, 7)])
def test_a_cast_does_not_change_the_order_of_a_sum(shape):
    x = xp.asarray(np.random.default_rng(0).integers(-(2**62), 2**62, shape))
    floats = xp.astype(x, xp.float64)
    for axis in (None, *range(len(shape))):
        got, expected = xp.sum(x, axis=axis, dtype=xp.float64), xp.sum(floats, axis=axis)
        assert np.asarray(got).tobytes() == np.asarray(expected).tobytes(), axis


def test_casts_in_a_thread_of_a_small_stack():
    x, y, found = xp.ones((200, 200), dtype=xp.int32), xp.ones((200, 200), dtype=xp.int8), []
    before = threading.stack_size(max(65536, os.sysconf("SC_THREAD_STACK_MIN")))
    try:
        thread = threading.Thread(target=lambda: found.append(float(xp.sum(xp.add(x.T, y, alpha=2.5)))))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert found == [40000 * 3.5]


@pytest.mark.parametrize(
    "call",
    [
        lambda: reduce.reduce("sum", xp.ones(4), (100000,), False),
        lambda: reduce.argreduce("argmax", xp.ones(4), 100000, False),
        lambda: reduce.scan("cumulative_sum", xp.ones(4), 100000, xp.float64, True),
        lambda: array.restride(xp.ones(4), (2, 2), (1,)),
        lambda: elementwise.iota(xp.zeros(()), 0, 1),
        lambda: reduce.reduce("max", xp.zeros((0, 3)), (0,), False),
    ],
)
def test_the_core_checks_what_it_is_given(call):
    with pytest.raises((ValueError, IndexError)):
        call()
