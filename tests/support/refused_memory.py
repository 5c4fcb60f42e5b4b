"""Calls in which one allocation after another of Python fails; see `core/memory/test_refused_memory.py`.

``python refused_memory.py LOG`` makes the calls in a separate process and logs each one first.
"""

from __future__ import annotations

import copy
import faulthandler
import gc
import os
import pickle
import sys
from _testcapi import remove_mem_hooks, set_nomemory

import numpy as np

import stride0 as xp

rng = np.random.default_rng(38)
x = xp.asarray(rng.normal(size=(6, 5)))
c = xp.asarray(rng.normal(size=(6, 5)) + 1j)
stack = xp.asarray(rng.normal(size=(400, 6, 6)))
narrow = xp.asarray(rng.normal(size=(400, 8, 6)))
wide = xp.asarray(rng.normal(size=(40, 20, 20)))
integers = xp.asarray(rng.integers(-9, 9, (40, 40)))
lanes = xp.asarray(rng.normal(size=(64, 997)))
places = xp.asarray([3, 1, 2])


def loss(y):
    return xp.sum(xp.exp(xp.sin(y)) @ xp.matrix_transpose(y) * y[0, 0])


def taped():
    with xp.autograd.Tape() as tape:
        y = tape.watch(x)
        z = loss(y)
    return tape.gradient(z, y)


def written(y):
    y = y * 2
    y[0] = y[1] * 3
    return xp.sum(y * y)


def deferred():
    with xp.fused(size=1):
        y = x
        for _ in range(5):
            y = xp.sin(y) * 2 + 1
        return xp.asarray(xp.sum(y), copy=True), y + 0


CALLS = {
    "add": lambda: x + x,
    "broadcast": lambda: x + x[0],
    "sum": lambda: xp.sum(x, axis=0),
    "more than four axes": lambda: xp.reshape(x, (1, 2, 3, 1, 5, 1)) * 2,
    "asarray": lambda: xp.asarray([[1, 2.5], [3, 4]]),
    "indexing": lambda: (x[1:, None, ::2], x[places], x[x > 0], x[places, places]),
    "concat": lambda: xp.concat([x, x]),
    "sort": lambda: (xp.sort(x), xp.argsort(x, axis=0)),
    "unique_all": lambda: xp.unique_all(x),
    "einsum": lambda: xp.einsum("ij,kj->ik", x, x),
    "product of integers": lambda: integers @ integers,
    "product": lambda: xp.matmul(x, x.T),
    "fft": lambda: xp.fft.fft(c),
    "fft of a prime length": lambda: xp.fft.fft(lanes),
    "fftn": lambda: xp.fft.rfftn(x),
    "qr": lambda: xp.linalg.qr(narrow),
    "svd": lambda: xp.linalg.svd(stack),
    "inv": lambda: xp.linalg.inv(stack),
    "det": lambda: xp.linalg.det(stack),
    "solve": lambda: xp.linalg.solve(wide, wide),
    "eigh": lambda: xp.linalg.eigh(stack + xp.matrix_transpose(stack)),
    "eig": lambda: xp.linalg.eigvals(wide),
    "pickle": lambda: pickle.loads(pickle.dumps(x)),
    "copy": lambda: (copy.copy(x), copy.deepcopy(x)),
    "dlpack": lambda: xp.from_dlpack(x),
    "dlpack of NumPy": lambda: np.from_dlpack(x),
    "buffer": lambda: memoryview(x).tobytes(),
    "result_type": lambda: xp.result_type(x, xp.float32, 1.0),
    "fused": deferred,
    "tape": taped,
    "grad": lambda: xp.autograd.grad(loss)(x),
    "grad of grad": lambda: xp.autograd.grad(lambda z: xp.sum(xp.autograd.grad(loss)(z) ** 2))(x),
    "grad of writes": lambda: xp.autograd.grad(written)(x),
    "jvp": lambda: xp.autograd.jvp(loss, (x,), (x,)),
    "vmap": lambda: xp.autograd.vmap(lambda row: xp.sum(row * row) + row[0])(x),
    "vmap of grad": lambda: xp.autograd.vmap(xp.autograd.grad(lambda row: xp.sum(row**3)))(x),
}
# Only for calls that use threads several allocations in a row fail: CPython 3.11 crashes when it sets a
# context variable without memory.
SEVERAL = 40
LOOPS = {"product of integers", "fft of a prime length", "qr", "svd", "inv", "det", "solve", "eigh", "eig"}
# The first ALL allocations of a call are refused one at a time, then every STEP-th allocation.
ALL, STEP = 150, 17
# Bytes that all these calls together may leak; each of them makes several arrays.
FEW = 4096


def attempt(call, first, count):
    """Make a call with failing allocations; whether it returned, and any error except MemoryError."""
    wrong = None
    set_nomemory(first, first + count)
    try:
        call()
    except (MemoryError, pickle.PicklingError):  # pickle reports a failed import as a missing function
        remove_mem_hooks()
        return False, None
    except BaseException as error:
        remove_mem_hooks()
        wrong = error
    remove_mem_hooks()
    return wrong is None, wrong


def plain(value):
    """All values in a result, in a form that can be compared."""
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    return np.asarray(value).tobytes() if isinstance(value, (xp.Array, np.ndarray)) else value


def main(log):
    wrong = []
    xp.set_num_threads(2)
    # Workers that are awake take part in short calls, too.
    keep_awake = CALLS["det"]
    for name, call in CALLS.items():
        expected = plain(call())
        gc.collect()
        live = xp.memory.stats()["live_bytes"]
        for count in (1, SEVERAL) if name in LOOPS else (1,):
            first, returned = 0, 0
            # A call may succeed without an allocation; after three such calls in a row, all were refused.
            while returned < 3 and first < 3000:
                os.pwrite(
                    log, f"{name}, allocations {first} to {first + count} refused".ljust(200).encode(), 0
                )
                keep_awake()
                done, error = attempt(call, first, count)
                if error is not None:
                    wrong.append(f"{name}, allocation {first}: {error!r}")
                returned = returned + 1 if done else 0
                first += 1 if first < ALL else STEP
        gc.collect()
        # CPython leaks the references of a generator that cannot be closed for lack of memory.
        if xp.memory.stats()["live_bytes"] > live + FEW:
            wrong.append(f"{name}: {xp.memory.stats()['live_bytes'] - live} bytes are not freed")
        if plain(call()) != expected:
            wrong.append(f"{name}: another value than before")
    return wrong


if __name__ == "__main__":
    faulthandler.enable()
    # Python prints "Exception ignored" if a finalizer gets no memory.
    sys.unraisablehook = lambda unraisable: None
    found = main(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT))
    print("\n".join(found[:20]))
    sys.exit(1 if found else 0)
