"""Sums of products have the same bits in every layout: `matmul` in any mode, others within `reproducible`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import stride0 as xp

CALLS = {
    "vecdot": lambda x, y: xp.vecdot(x, y),
    "vecdot of columns": lambda x, y: xp.vecdot(x, y, axis=-2),
    "vecdot, broadcast": lambda x, y: xp.vecdot(x, y[0, :]),
    "einsum of rows": lambda x, y: xp.einsum("ij,ij->i", x, y),
    "einsum of columns": lambda x, y: xp.einsum("ij,ij->j", x, y),
    "inner product": lambda x, y: xp.einsum("ij,ij->", x, y),
    "tensordot": lambda x, y: xp.tensordot(x, y, axes=2),
    "stack of inner products": lambda x, y: xp.einsum("ij,kij->k", x, xp.stack([y, x, y])),
    "matrix by vector": lambda x, y: x @ y[0, :],
    "vector by matrix": lambda x, y: x[:, 0] @ y,
    "vectors": lambda x, y: x[0, :] @ y[-1, :],
    "matrices": lambda x, y: x @ y.T,
}
ALWAYS = {"matrix by vector", "vector by matrix", "vectors", "matrices"}


def layouts(a: Any) -> Iterator[Any]:
    """The same matrix in rows, in columns, with gaps, backwards, and transposed from a stack."""
    yield xp.asarray(a, copy=True)
    yield xp.asarray(np.asfortranarray(a))
    yield xp.asarray(np.repeat(a, 3, axis=1))[:, ::3]
    yield xp.asarray(np.ascontiguousarray(a[::-1, ::-1]))[::-1, ::-1]
    yield xp.asarray(np.repeat(a.T, 2, axis=0))[::2, :].T


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(7, 3), (5, 33), (40, 300), (3, 5000), (700, 17)])
def test_bits_are_the_same_in_every_layout(dtype: str, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(shape[0])
    a, b = rng.standard_normal((2, *shape)).astype(dtype)
    if dtype.startswith("c"):
        a, b = a + 1j * a[::-1], b - 1j * b[:, ::-1]
    for name, call in CALLS.items():
        with xp.reproducible(name not in ALWAYS):
            results = [np.asarray(call(x, y)) for x in layouts(a) for y in layouts(b)]
        for found in results[1:]:
            assert found.tobytes() == results[0].tobytes(), name
        usual = np.asarray(call(xp.asarray(a), xp.asarray(b)))
        size = np.abs(a).max() * np.abs(b).max() * max(shape) * shape[0]
        np.testing.assert_allclose(
            results[0], usual, rtol=0, atol=10 * np.finfo(a.real.dtype).eps * float(size)
        )
