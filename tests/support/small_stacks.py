"""Calls in a thread with a small stack; see `core/memory/test_small_stacks.py`.

``python small_stacks.py BYTES THREADS LOG`` makes them in another process and logs each one first.
"""

from __future__ import annotations

import faulthandler
import os
import sys
import threading

import numpy as np

import stride0 as xp

rng = np.random.default_rng(38)


def reals(*shape):
    return xp.asarray(rng.normal(size=shape))


x, tall, column = reals(200, 200), reals(3000, 200), reals(20_000)
z = xp.astype(x, xp.complex128) + 1j
positive = xp.abs(x)
definite = x @ x.T + 200 * xp.eye(200)
stack = xp.asarray(rng.normal(size=(100, 8, 8))) + 8 * xp.eye(8)
far = xp.asarray(rng.integers(-(2**62), 2**62, (200, 200)))
places = xp.asarray(rng.integers(0, 200, 300))

CALLS = {}
DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64"
for name in DTYPES.split():
    a = xp.astype(xp.asarray(rng.integers(0, 9, (200, 200))), getattr(xp, name))
    if name != "bool":
        CALLS[f"product of {name}"] = lambda a=a: a @ a
        CALLS[f"product of {name}, transposed"] = lambda a=a: xp.matmul(a.T, a[:, ::-1])
        CALLS[f"product of {name} by few columns"] = lambda a=a: (a @ a[:, :5], a[:3] @ a, a @ a[:, 0])
        CALLS[f"sums of {name}"] = lambda a=a: [xp.sum(a, axis=axis) for axis in (0, 1, None)]
        CALLS[f"extrema of {name}"] = lambda a=a: [
            (xp.argmax(a, axis=k), xp.max(a.T, axis=k)) for k in (0, 1, None)
        ]
        CALLS[f"running sums of {name}"] = lambda a=a: [xp.cumulative_sum(a, axis=axis) for axis in (0, 1)]
    CALLS[f"sort of {name}"] = lambda a=a: [(xp.sort(a, axis=k), xp.argsort(a[::2], axis=k)) for k in (0, 1)]
    CALLS[f"sort of a lane of {name}"] = lambda a=a: (xp.sort(xp.reshape(a, -1)), xp.unique_all(a))
CALLS |= {
    "product of large integers": lambda: far @ far,
    "matrix by vector": lambda: (tall @ x[0], tall.T @ tall[:, 0], tall[:, 0] @ tall),
    "float32 matrix by vector": lambda: xp.astype(tall, xp.float32).T @ xp.astype(tall[:, 0], xp.float32),
    "product of complex numbers": lambda: z @ z,
    "product of a storage dtype": lambda: xp.astype(x, xp.bfloat16) @ xp.astype(x, xp.bfloat16),
    "einsum": lambda: (xp.einsum("ij,jk,kl->il", x, x, x), xp.einsum("ij,kj->ik", far, far)),
    "fft": lambda: (xp.fft.fft(z), xp.fft.rfftn(x), *(xp.fft.fft(column[:n]) for n in (127, 9973))),
    "fft of long lanes": lambda: (
        xp.fft.fft(reals(1 << 16)),
        xp.fft.rfft(reals(65537)),
        xp.fft.fft(reals(17 << 12)),
    ),
    "systems": lambda: (
        xp.linalg.solve(definite, x),
        xp.linalg.inv(stack),
        xp.linalg.det(x),
        xp.linalg.slogdet(stack),
    ),
    "factors": lambda: (xp.linalg.qr(tall), xp.linalg.qr(stack), xp.linalg.cholesky(definite)),
    "svd": lambda: (xp.linalg.svd(x), xp.linalg.svdvals(stack), xp.linalg.pinv(x)),
    "eigh": lambda: (xp.linalg.eigh(definite), xp.linalg.eigvalsh(stack)),
    "index": lambda: (x[places % 200, places % 200], x[x > 0], x[:, places % 200]),
    "powers": lambda: (positive**x, z**z, xp.sqrt(z), xp.log(z), xp.exp(z)),
    "text": lambda: repr(x),
    "statistics": lambda: (
        xp.std(x, axis=0),
        xp.median(x, axis=1),
        xp.quantile(x, 0.3),
        xp.histogram(column),
    ),
    "searchsorted": lambda: xp.searchsorted(xp.sort(column), column),
    "memory": lambda: xp.memory.stats(),
    "gradient": lambda: xp.autograd.grad(lambda y: xp.sum(xp.exp(xp.sin(y)) @ y))(x),
    "vmap": lambda: xp.autograd.vmap(lambda y: xp.linalg.inv(y) @ y)(stack),
    "vmap of integers": lambda: xp.autograd.vmap(lambda y: y @ y)(xp.reshape(far, (4, 100, 100))),
}
for name in ("exp", "expm1", "log", "log1p", "sin", "tan", "tanh", "asinh", "atan", "acosh", "cosh"):
    CALLS[name] = lambda name=name: getattr(xp, name)(positive + 1)
for name in ("gamma", "gammaln", "digamma", "erf", "erfinv", "ndtri", "expit"):
    CALLS[name] = lambda name=name: getattr(xp.special, name)(positive)
for name in ("rel_entr", "kl_div", "xlogy"):
    CALLS[name] = lambda name=name: getattr(xp.special, name)(positive, positive)


def deferred():
    with xp.fused(size=1):
        y = x
        for _ in range(20):
            y = xp.sin(y) * 2 + 1
        return xp.asarray(xp.sum(y, axis=0), copy=True)


CALLS["fused"] = deferred


def main(size, threads, log):
    def run():
        for name, call in CALLS.items():
            os.pwrite(log, name.ljust(100).encode(), 0)
            call()
        done.append(True)

    done = []
    xp.set_num_threads(threads)
    # Imports in a first call need a larger stack.
    for call in CALLS.values():
        call()
    threading.stack_size(size)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return 0 if done else 1


if __name__ == "__main__":
    faulthandler.enable()
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), os.open(sys.argv[3], os.O_WRONLY | os.O_CREAT)))
