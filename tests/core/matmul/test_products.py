"""Products of floats: values, order of sums, bits (Notes [Products in panels], [Products by vectors])."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from exact_sums import fused_sum, rounded

import stride0 as xp
from stride0._core.kernels import _dispatch
from stride0._core.plan import plan
from stride0._core.plan import threads as pool

# Around the sizes of tiles, blocks of rows and blocks of terms.
SHAPES = [
    *[(5, 30, 9), (8, 33, 24), (9, 256, 25), (13, 257, 49), (17, 600, 48), (2, 64, 500), (300, 70, 3)],
    *[(97, 120, 101), (130, 513, 97), (1, 40, 30), (100, 20, 1), (193, 64, 130)],
]
REAL = ("float32", "float64")
DTYPES = (*REAL, "complex64", "complex128")


def matrix(dtype: str, seed: int, *shape: int) -> Any:
    rng = np.random.default_rng(seed)
    if dtype.startswith("c"):
        return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)
    return rng.normal(size=shape).astype(dtype)


def layouts(a: Any) -> Iterator[xp.Array]:
    """The same matrix in rows, in columns, with gaps, and backwards."""
    yield xp.asarray(a, copy=True)
    yield xp.matrix_transpose(xp.asarray(np.ascontiguousarray(np.swapaxes(a, -1, -2))))
    wide = np.full((*a.shape[:-1], 3 * a.shape[-1]), np.nan, a.dtype)
    wide[..., ::3] = a
    yield xp.asarray(wide)[..., ::3]
    yield xp.flip(xp.asarray(np.ascontiguousarray(np.flip(a))))


def defined_sum(x: Any, y: Any) -> Any:
    """The sum of products; of complex numbers, sums of products of their parts are joined in each block."""
    if x.dtype.kind == "f":
        return fused_sum(x, y)
    real = imaginary = None
    for start in range(0, len(x), 256):
        u, v = x[start : start + 256], y[start : start + 256]
        some = fused_sum(u.real, v.real) - fused_sum(u.imag, v.imag)
        others = fused_sum(u.real, v.imag) + fused_sum(u.imag, v.real)
        real = some if real is None else real + some
        imaginary = others if imaginary is None else imaginary + others
    return complex(real, imaginary)


@pytest.mark.parametrize("dtype", DTYPES)
def test_each_element_is_a_sum_in_blocks_by_fused_multiply_add(dtype: str) -> None:
    for m, k, n in ((9, 40, 25), (3, 600, 11), (2, 256, 9), (130, 260, 97)):
        a, b = matrix(dtype, 1, m, k), matrix(dtype, 2, k, n)
        found = np.asarray(xp.asarray(a) @ xp.asarray(b))
        places = [*itertools.product({0, m // 2, m - 1}, {0, n // 2, n - 1})]
        for i, j in places:
            assert found[i, j] == defined_sum(a[i], b[:, j]), (m, k, n, i, j)


def sum_by_accumulators(x: Any, y: Any) -> Any:
    """The sum of products as Note [Products by vectors] defines it."""
    width = {"f": 1, "c": 2}[x.dtype.kind]
    number = x.real.dtype
    lanes, block = 64 // number.itemsize // width, {4: 512, 8: 1024}[number.itemsize] // width
    totals = [-0.0] * width
    for start in range(0, len(x), block):
        u, v = x[start : start + block], y[start : start + block]
        sets = []
        for a, b in (
            [(u, v)]
            if width == 1
            else [(u.real, v.real), (u.imag, v.imag), (u.real, v.imag), (u.imag, v.real)]
        ):
            sums = np.full(lanes, -0.0, number)
            for k, (p, q) in enumerate(zip(a, b, strict=True)):
                exact = Fraction(float(p)) * Fraction(float(q)) + Fraction(float(sums[k % lanes]))
                sums[k % lanes] = sums[k % lanes] + p * q if width == 1 else rounded(exact, number.type)
            while len(sums) > 1:
                sums = sums[: len(sums) // 2] + sums[len(sums) // 2 :]
            sets.append(sums[0])
        parts = sets if width == 1 else [sets[0] - sets[1], sets[2] + sets[3]]
        totals = [total + float(part) for total, part in zip(totals, parts, strict=True)]
    numbers = [number.type(total) for total in totals]
    return numbers[0] if width == 1 else complex(*numbers)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [32, 63, 512, 1025, 2600])
def test_products_by_vectors_are_sums_by_accumulators(dtype: str, count: int) -> None:
    """Of contiguous rows and columns, with gaps, on either side, in a stack, of one row and of several."""
    for rows in (1, 5, 37):
        a, b = matrix(dtype, 12, rows, count), matrix(dtype, 13, count, 1)
        wanted = sum_by_accumulators(a[-1], b[:, 0])
        for x, y in itertools.product(layouts(a), layouts(b)):
            stacked = xp.matmul(xp.stack([x, x]), xp.stack([y, y]))
            found = [x @ y, (y.mT @ x.mT).mT, xp.expand_dims(x @ y[:, 0], axis=1), stacked[1, ...]]
            assert all(np.asarray(z)[-1, 0] == wanted for z in found)
            assert rows > 1 or complex(x[0, :] @ y[:, 0]) == wanted


@pytest.mark.parametrize("dtype", DTYPES)
def test_threads_share_the_blocks_of_long_sums(dtype: str) -> None:
    before, backs_off = xp.get_num_threads(), pool.back_off(False)
    tuned = plan.tune(threads_ns=0, wake_ns=0, per_thread_ns=1)
    found = set()
    try:
        for threads in (1, 2, 5):
            xp.set_num_threads(threads)
            results = []
            for rows, count in itertools.product((1, 3), (20_000, 20_480, 20_500)):
                x, y = xp.asarray(matrix(dtype, 14, rows, count)), xp.asarray(matrix(dtype, 15, count))
                results += [np.asarray(x @ y).tobytes(), np.asarray(x[0, :] @ y).tobytes()]
            found.add(tuple(results))
    finally:
        plan.tune(**tuned)
        xp.set_num_threads(before)
        pool.back_off(backs_off)
    assert len(found) == 1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_layout_gives_the_same_bits(dtype: str, shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    a, b = matrix(dtype, 3, m, k), matrix(dtype, 4, k, n)
    exact, size = a.astype(np.result_type(dtype, np.longdouble)) @ b, np.abs(a) @ np.abs(b)
    found = [np.asarray(xp.matmul(x, y)) for x in layouts(a) for y in layouts(b)]
    found += [np.asarray(xp.matmul(y.T, x.T)).T for x in layouts(a) for y in layouts(b)]
    for got in found:
        assert np.all(np.abs(got - exact) <= 2 * k**0.5 * np.finfo(dtype).eps * size)
        assert np.array_equal(got, found[0])


@pytest.mark.parametrize("dtype", DTYPES)
def test_stacks_have_the_bits_of_their_matrices(dtype: str) -> None:
    for count, m, k, n in ((3, 20, 30, 40), (70, 9, 11, 12), (2, 150, 170, 150)):
        a, b = matrix(dtype, 5, count, m, k), matrix(dtype, 6, count, k, n)
        each = np.stack([np.asarray(xp.asarray(u) @ xp.asarray(v)) for u, v in zip(a, b, strict=True)])
        for x, y in zip(layouts(a), layouts(b), strict=True):
            assert np.array_equal(np.asarray(x @ y), each)
        assert np.array_equal(np.asarray(xp.asarray(a) @ xp.asarray(b)[:1])[0], each[0])


@pytest.mark.parametrize("dtype", DTYPES)
def test_other_blocks_give_the_same_bits(dtype: str) -> None:
    """Packed or not, in one block or several, symmetric or not, on any number of threads."""
    a, b = matrix(dtype, 7, 230, 300), matrix(dtype, 8, 300, 250)
    x, y = xp.asarray(a), xp.asarray(b)
    before, backs_off = xp.get_num_threads(), pool.back_off(False)
    products, squares, narrow = set(), set(), set()
    tuned = plan.tune(threads_ns=0, wake_ns=0, per_thread_ns=1)
    try:
        for threads, direct, side in itertools.product((1, 2, 5), (0, 1 << 40), (2048, 100)):
            xp.set_num_threads(threads)
            rows = {"direct_rows": 0, "direct_complex_rows": 0, "direct_columns": 0}
            plan.tune(direct_products=direct, panel_side=side, **rows)
            products.add(np.asarray(x @ y).tobytes())
            narrow.add(np.asarray(x[:6, :] @ y).tobytes())
            squares |= {np.asarray(x @ x.T).tobytes(), np.asarray(x @ xp.asarray(a.T.copy())).tobytes()}
    finally:
        plan.tune(**tuned)
        xp.set_num_threads(before)
        pool.back_off(backs_off)
    assert len(products) == len(squares) == len(narrow) == 1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [9, 40, 130])
def test_special_values(dtype: str, size: int) -> None:
    a, b = matrix(dtype, 9, size, size), matrix(dtype, 10, size, size)
    plain = np.asarray(xp.asarray(a) @ xp.asarray(b))
    a[2, 3], a[4, 5], b[6, 7] = np.nan, np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        wanted = products_of_parts(a, b)
    found = np.asarray(xp.asarray(a) @ xp.asarray(b))
    for got, right, before in zip(parts(found), parts(wanted), parts(plain), strict=True):
        assert np.array_equal(np.isnan(got), np.isnan(right))
        assert np.array_equal(np.isinf(got), np.isinf(right))
        assert np.array_equal(got[np.isfinite(right)], before[np.isfinite(right)])
    zeros = xp.zeros((size, size), dtype=getattr(xp, dtype))
    if dtype not in REAL:
        assert np.all(np.asarray(zeros @ xp.ones_like(zeros)) == 0)
        return
    assert np.all(np.signbit(np.asarray(-zeros @ xp.ones_like(zeros))))
    assert not np.any(np.signbit(np.asarray(zeros @ xp.ones_like(zeros))))


def parts(x: Any) -> list[Any]:
    return [x.real, x.imag] if x.dtype.kind == "c" else [x]


def products_of_parts(a: Any, b: Any) -> Any:
    """The product in float64; NaN and infinity are where a plain loop over the parts has them."""
    if a.dtype.kind != "c":
        return a.astype(np.float64) @ b.astype(np.float64)
    found = np.empty((a.shape[0], b.shape[1]), np.complex128)
    a, b = a.astype(np.complex128), b.astype(np.complex128)
    found.real = a.real @ b.real - a.imag @ b.imag
    found.imag = a.real @ b.imag + a.imag @ b.real
    return found


@pytest.mark.parametrize("dtype", DTYPES[2:])
@pytest.mark.parametrize("size", [7, 40, 150])
def test_a_matrix_times_its_conjugate_transpose_is_hermitian(dtype: str, size: int) -> None:
    x = xp.asarray(matrix(dtype, 11, size, 300))
    found = np.asarray(x @ xp.conj(x).mT)
    assert np.array_equal(found, np.conj(found.T)) and not np.any(np.diagonal(found).imag)


SCRIPT = """
import hashlib, numpy as np, stride0 as xp
total = hashlib.sha256()
for dtype in ("float32", "float64", "complex64", "complex128"):
    for seed, (m, k, n) in enumerate([(9, 40, 25), (70, 300, 90), (130, 140, 120), (1, 20, 40), (60, 20, 1)]):
        rng = np.random.default_rng(seed)
        if dtype[0] == "c":
            numbers = [(rng.normal(size=s) + 1j * rng.normal(size=s)).astype(dtype) for s in ((m, k), (k, n))]
        else:
            numbers = [rng.normal(size=s).astype(dtype) for s in ((m, k), (k, n))]
        x, y = map(xp.asarray, numbers)
        x[1:, 3], y[3, :] = xp.finfo(dtype).smallest_normal * 5, xp.asarray(0.3, dtype=dtype)
        x[:1, 5], y[5, :] = xp.finfo(dtype).max / 8, xp.asarray(-2.5, dtype=dtype)
        for z in (x @ y, x @ x.T, x.T @ x):
            total.update(np.asarray(z).tobytes())
print(total.hexdigest())
"""


def test_instruction_sets_and_threads_give_the_same_bits() -> None:
    found = set()
    for name, threads in itertools.product(_dispatch.supported(), "12"):
        environment = {**os.environ, "STRIDE0_ISA": name, "STRIDE0_NUM_THREADS": threads}
        done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        found.add(done.stdout.strip())
    assert len(found) == 1
