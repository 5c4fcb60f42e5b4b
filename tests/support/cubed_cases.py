"""Cases of `test_cubed.py`, run in a separate process, with stride0 as the namespace of cubed's chunks.

    CUBED_BACKEND_ARRAY_API_MODULE=stride0 python tests/support/cubed_cases.py FOLDER

A case takes cubed's namespace and a Spec and yields pairs of results, of cubed and of NumPy. A line
of JSON is printed: for every case null or the error. cubed reads the variable when it is first imported,
which happens here and not in the process of the tests.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import stride0

Pair = tuple[Any, Any]
Case = Callable[[Any, Any], Iterator[Pair]]

CASES: dict[str, Case] = {}
DTYPES = [dtype.name for dtype in stride0.__array_namespace_info__().dtypes().values()]
GRID = np.arange(35.0).reshape(5, 7) / 8 - 1
TALL = np.cos(np.arange(48.0)).reshape(16, 3)


def case(function: Case) -> Case:
    CASES[function.__name__] = function
    return function


def checked(chunk: Any) -> Any:
    """Return a chunk; raise an error if it is not an array of stride0."""
    if not isinstance(chunk, stride0.Array):
        raise TypeError(f"a chunk is a {type(chunk)}")
    return chunk


def through(x: Any) -> Any:
    """A cubed array whose chunks are checked where they are computed."""
    import cubed

    return cubed.map_blocks(checked, x, dtype=x.dtype)


def chunked(cp: Any, spec: Any, a: np.ndarray, chunks: Any = 2) -> Any:
    return through(cp.asarray(a, chunks=chunks, spec=spec))


@case
def arithmetic(cp: Any, spec: Any) -> Iterator[Pair]:
    x, y = chunked(cp, spec, GRID, (2, 3)), chunked(cp, spec, GRID[::-1] + 2, (2, 3))
    yield (x + 2 * y - 1) / (y + 3), (GRID + 2 * (GRID[::-1] + 2) - 1) / (GRID[::-1] + 5)
    yield -x * x + abs(x), -GRID * GRID + abs(GRID)
    yield cp.sqrt(y * y) + cp.exp(-x), GRID[::-1] + 2 + np.exp(-GRID)
    yield x**2 // 1, GRID**2 // 1
    yield x > y, GRID[::-1] + 2 < GRID
    yield cp.where(x > 0, x, cp.zeros_like(x)), np.maximum(GRID, 0)


@case
def broadcasting(cp: Any, spec: Any) -> Iterator[Pair]:
    x, row = chunked(cp, spec, GRID, (2, 3)), chunked(cp, spec, GRID[0], 3)
    column = chunked(cp, spec, GRID[:, :1], (2, 1))
    yield x - row, GRID - GRID[0]
    yield column * row, GRID[:, :1] * GRID[0]
    yield x + cp.asarray(0.5, spec=spec), GRID + 0.5
    yield cp.broadcast_to(row, (4, 7), chunks=(2, 3)), np.broadcast_to(GRID[0], (4, 7))


@case
def integers_and_booleans(cp: Any, spec: Any) -> Iterator[Pair]:
    a, b = np.arange(-10, 11, dtype=np.int16), np.arange(1, 22, dtype=np.int32)
    x, y = chunked(cp, spec, a, 4), chunked(cp, spec, b, 4)
    yield x + y, a + b
    yield x // y, a // b
    yield x % y, a % b
    yield (x & y) | (x ^ y), (a & b) | (a ^ b)
    yield x << 2, a << 2
    yield ~(x > 0), ~(a > 0)
    yield cp.sum(x), a.sum()
    yield cp.sum(x > 0), (a > 0).sum()


@case
def dtypes(cp: Any, spec: Any) -> Iterator[Pair]:
    for name in DTYPES:
        a = np.arange(6).astype(name)
        x = chunked(cp, spec, a, 4)
        assert x.dtype == np.dtype(name), name
        assert x.dtype == getattr(stride0, name), name
        yield x, a
        yield cp.astype(x, cp.complex128), a.astype(np.complex128)
        if name not in ("bool", "complex64", "complex128"):
            yield cp.asarray([1, 2], dtype=getattr(cp, name), spec=spec), np.asarray([1, 2], name)
            yield cp.mean(cp.astype(x, cp.float32)), np.float32(2.5)


@case
def reductions(cp: Any, spec: Any) -> Iterator[Pair]:
    x = chunked(cp, spec, GRID, (2, 3))
    for name in ("sum", "prod", "mean", "max", "min", "var", "std"):
        for axis in (None, 0, 1, (0, 1)):
            for keepdims in (False, True):
                ours = getattr(cp, name)(x, axis=axis, keepdims=keepdims)
                yield ours, getattr(np, name)(GRID, axis=axis, keepdims=keepdims)
    yield cp.var(x, axis=0, correction=1), np.var(GRID, axis=0, ddof=1)
    yield cp.any(x > 2, axis=0), (GRID > 2).any(axis=0)
    yield cp.all(x > -2), (GRID > -2).all()
    yield cp.argmax(x, axis=1), GRID.argmax(axis=1)
    yield cp.argmin(x, axis=0), GRID.argmin(axis=0)
    yield cp.cumulative_sum(x, axis=0), GRID.cumsum(axis=0)
    yield cp.cumulative_prod(x, axis=1), GRID.cumprod(axis=1)


@case
def products(cp: Any, spec: Any) -> Iterator[Pair]:
    x, y = chunked(cp, spec, GRID, (2, 3)), chunked(cp, spec, GRID.T + 1, (3, 2))
    yield x @ y, GRID @ (GRID.T + 1)
    yield cp.matmul(x, y[:, 0]), GRID @ (GRID.T + 1)[:, 0]
    yield cp.tensordot(x, y, axes=((0, 1), (1, 0))), np.tensordot(GRID, GRID.T + 1, axes=((0, 1), (1, 0)))
    yield cp.vecdot(x, x), (GRID * GRID).sum(axis=-1)
    yield cp.linalg.outer(x[0, :], x[:, 0]), np.outer(GRID[0], GRID[:, 0])


@case
def decompositions(cp: Any, spec: Any) -> Iterator[Pair]:
    x = chunked(cp, spec, TALL, (4, 3))
    q, r = cp.linalg.qr(x)
    yield q @ r, TALL
    yield cp.matrix_transpose(q) @ q, np.eye(3)
    u, s, vh = cp.linalg.svd(x, full_matrices=False)
    yield (u * s) @ vh, TALL
    yield s, np.linalg.svd(TALL, compute_uv=False)


@case
def indexing(cp: Any, spec: Any) -> Iterator[Pair]:
    x = chunked(cp, spec, GRID, (2, 3))
    yield x[1:4, 2:], GRID[1:4, 2:]
    yield x[::2, 1::3], GRID[::2, 1::3]
    yield x[3], GRID[3]
    yield x[-1, 2], GRID[-1, 2]
    yield x[:, None, 4], GRID[:, None, 4]
    yield x[..., 1], GRID[..., 1]
    yield x[:, [0, 5, 2]], GRID[:, [0, 5, 2]]
    yield cp.take(x, cp.asarray([4, 0, 1], spec=spec), axis=0), GRID[[4, 0, 1]]


@case
def rearranging(cp: Any, spec: Any) -> Iterator[Pair]:
    import cubed

    x = chunked(cp, spec, GRID, (2, 3))
    yield x.T, GRID.T
    yield cp.permute_dims(cp.expand_dims(x, axis=0), (2, 0, 1)), GRID.T[:, None, :]
    yield cp.squeeze(x[None], axis=0), GRID
    yield through(x.rechunk((5, 2))), GRID
    yield cp.reshape(cubed.rechunk(x, (1, 7)), (35,)), GRID.ravel()
    yield cp.flip(x, axis=1), GRID[:, ::-1]
    yield cp.roll(x, 2, axis=0), np.roll(GRID, 2, axis=0)
    yield cp.repeat(x, 2, axis=1), GRID.repeat(2, axis=1)
    yield cp.concat([x, x], axis=0), np.concatenate([GRID, GRID])
    yield cp.stack([x, -x], axis=1), np.stack([GRID, -GRID], axis=1)
    first, *_ = cp.unstack(x)
    yield first, GRID[0]


@case
def creation(cp: Any, spec: Any) -> Iterator[Pair]:
    yield through(cp.arange(2, 20, 3, chunks=4, spec=spec)), np.arange(2, 20, 3)
    yield through(cp.linspace(0, 1, 11, chunks=4, spec=spec)), np.linspace(0, 1, 11)
    yield through(cp.eye(5, 4, k=1, chunks=(2, 3), spec=spec)), np.eye(5, 4, k=1)
    yield through(cp.ones((3, 4), chunks=2, spec=spec)), np.ones((3, 4))
    yield through(cp.full((3, 4), 7, chunks=2, spec=spec)), np.full((3, 4), 7)
    yield cp.tril(chunked(cp, spec, GRID, (2, 3))), np.tril(GRID)
    yield chunked(cp, spec, stride0.asarray(GRID), (2, 3)), GRID


@case
def searching(cp: Any, spec: Any) -> Iterator[Pair]:
    a, v = np.arange(0, 20, 2), np.asarray([3, 0, 19, 7, 40, 8])
    # Chunk offsets inside searchsorted get the default Spec, so its operands must have it too.
    x, w = through(cp.asarray(a, chunks=10)), through(cp.asarray(v, chunks=4))
    yield cp.searchsorted(x, w), np.searchsorted(a, v)
    x, w = chunked(cp, spec, a, 10), chunked(cp, spec, v, 4)
    yield cp.isin(w, x), np.isin(v, a)
    yield cp.count_nonzero(x), np.count_nonzero(a)
    yield cp.diff(w), np.diff(v)


@case
def functions_of_ones_own(cp: Any, spec: Any) -> Iterator[Pair]:
    import cubed

    def softmax(chunk: stride0.Array) -> stride0.Array:
        e = stride0.exp(checked(chunk) - stride0.max(chunk, axis=1, keepdims=True))
        return e / stride0.sum(e, axis=1, keepdims=True)

    x = chunked(cp, spec, GRID, (2, 7))
    e = np.exp(GRID - GRID.max(axis=1, keepdims=True))
    yield cubed.map_blocks(softmax, x, dtype=x.dtype), e / e.sum(axis=1, keepdims=True)


@case
def without_nan(cp: Any, spec: Any) -> Iterator[Pair]:
    import cubed

    a = np.where(GRID > 2, np.nan, GRID)
    x = chunked(cp, spec, a, (2, 3))
    yield cubed.nansum(x), np.nansum(a)
    yield cubed.nansum(x, axis=1, keepdims=True), np.nansum(a, axis=1, keepdims=True)
    yield cubed.nanmean(x, axis=0), np.nanmean(a, axis=0)


@case
def overlapping_chunks(cp: Any, spec: Any) -> Iterator[Pair]:
    import cubed

    def smooth(chunk: stride0.Array) -> stride0.Array:
        checked(chunk)
        return chunk[:-2, :] + 2 * chunk[1:-1, :] + chunk[2:, :]

    for boundary in (0, 1.5):
        x = chunked(cp, spec, GRID, (2, 7))
        padded = np.pad(GRID, ((1, 1), (0, 0)), constant_values=boundary)
        yield (
            cubed.map_overlap(
                smooth, x, dtype=x.dtype, chunks=x.chunks, depth={0: 1, 1: 0}, boundary=boundary, trim=False
            ),
            padded[:-2] + 2 * padded[1:-1] + padded[2:],
        )


@case
def zarr_arrays(cp: Any, spec: Any) -> Iterator[Pair]:
    import cubed

    path = f"{spec.work_dir}/stored.zarr"
    cubed.to_zarr(chunked(cp, spec, GRID, (2, 3)) * 2, path)
    yield through(cubed.from_zarr(path, spec=spec)) + 1, 2 * GRID + 1


@case
def processes(cp: Any, spec: Any) -> Iterator[Pair]:
    """Chunks and dtypes pickled into other processes."""
    import cubed

    elsewhere = cubed.Spec(
        f"{spec.work_dir}/processes", allowed_mem=spec.allowed_mem, executor_name="processes"
    )
    x = chunked(cp, elsewhere, GRID, (3, 4))
    yield cp.mean(x * 2, axis=0), GRID.mean(axis=0) * 2
    yield x @ cp.asarray(stride0.asarray(GRID.T), chunks=(4, 3), spec=elsewhere), GRID @ GRID.T


def run(name: str, cp: Any, spec: Any) -> str | None:
    compared = 0
    try:
        for cubed_array, expected in CASES[name](cp, spec):
            found = through(cubed_array).compute()
            checked(found)
            expected = np.asarray(expected)
            assert found.shape == expected.shape, f"{found.shape}, not {expected.shape}"
            assert found.dtype == expected.dtype, f"{found.dtype}, not {expected.dtype}"
            np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12, atol=1e-12)
            compared += 1
    except Exception:
        return traceback.format_exc()
    return None if compared else "nothing was compared"


def main(folder: str) -> None:
    import cubed
    import cubed.array_api as cp
    from cubed.backend_array_api import namespace

    assert namespace is stride0, namespace
    outcomes = {}
    for number, name in enumerate(CASES):
        executor = ("single-threaded", "threads")[number % 2]
        spec = cubed.Spec(f"{folder}/{name}", allowed_mem="500MB", executor_name=executor)
        outcomes[name] = run(name, cp, spec)
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main(sys.argv[1])
