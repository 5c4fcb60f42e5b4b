"""Elements by rank, against NumPy: partitions, `top_k`, `median`, `quantile`, `percentile`."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0 import StrictError
from stride0._chapters.quantiles import _METHODS
from stride0._chapters.selection import argselect
from stride0.autograd import grad, vmap
from stride0.testing import check_grad, flags

DTYPES = ("float64", "float32", "int64", "int32", "int8", "uint64", "uint16", "uint8", "bool", "float16")
SIZES = (1, 2, 7, 100, 128, 129, 257, 600, 5000)


def lanes(rng: np.random.Generator, dtype: str, n: int, rows: int = 3) -> np.ndarray:
    """Rows of numbers, some equal, with NaN and zeros of both signs, in one of several layouts."""
    a = rng.standard_normal((rows, n)) * rng.choice([2, 1000])
    a = np.round(a) if rng.random() < 0.5 else a
    if dtype == "bool":
        a = a > 0
    elif dtype[0] == "u":
        a = np.abs(a) % 200
    elif dtype == "int8":
        a = a % 100
    with np.errstate(all="ignore"):
        a = a.astype(dtype)
    if dtype[0] == "f":
        a[rng.random(a.shape) < 0.05] = -0.0
        a[rng.random(a.shape) < rng.choice([0, 0.02, 0.9])] = np.nan
    return [a, np.asfortranarray(a), a[:, ::-1], np.repeat(a, 2, axis=1)[:, ::2]][rng.integers(4)]


def sorted_rows(a: np.ndarray) -> np.ndarray:
    """Sorted rows. NumPy 2.4 sorts half precision wrongly on processors with AVX-512."""
    return np.sort(a.astype(np.float64) if a.dtype == np.float16 else a, axis=1)


def descending(row: np.ndarray) -> list[int]:
    """The indices of a stable descending sort with NaN at its end."""
    nans = np.isnan(row) if row.dtype.kind == "f" else np.zeros(row.shape, bool)
    numbers = [i for i in range(row.size) if not nans[i]]
    return sorted(numbers, key=lambda i: (-int(row[i]) if row.dtype.kind in "iub" else -row[i], i)) + [
        i for i in range(row.size) if nans[i]
    ]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_argselect_is_a_part_of_argsort(dtype: str, n: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(8):
        a = lanes(rng, dtype, n)
        x = xp.asarray(a)
        first = int(rng.integers(0, n + 1))
        last = int(rng.integers(first, n + 1))
        wanted = np.argsort(a, axis=1, kind="stable")[:, first:last]
        assert np.array_equal(argselect(x, first, last), wanted)
        assert np.array_equal(argselect(x.T, first, last, axis=0), wanted.T)
        if n <= 600:
            wanted = np.array([descending(row)[first:last] for row in a]).reshape(3, -1)
            assert np.array_equal(argselect(x, first, last, descending=True), wanted)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_partition(dtype: str, n: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(8):
        a = lanes(rng, dtype, n)
        kth: Any = int(rng.integers(-n, n)) if rng.random() < 0.5 else [int(k) for k in rng.integers(0, n, 3)]
        x = xp.asarray(a)
        order = np.asarray(xp.argpartition(x, kth))
        assert np.array_equal(np.sort(order, axis=1), np.broadcast_to(np.arange(n), a.shape))
        found, wanted = np.asarray(xp.partition(x, kth)), sorted_rows(a)
        assert found.tobytes() == np.ascontiguousarray(np.take_along_axis(a, order, axis=1)).tobytes()
        for k in [kth] if isinstance(kth, int) else kth:
            for part in (slice(k % n), slice(k % n, k % n + 1), slice(k % n + 1, n)):
                rows = sorted_rows(found[:, part])
                assert np.array_equal(rows, wanted[:, part], equal_nan=dtype[0] == "f")


def test_same_indices_at_every_thread_count() -> None:
    a = xp.asarray(np.round(np.random.default_rng(0).standard_normal((20, 40_000)), 2))
    threads, found = xp.get_num_threads(), []
    try:
        for count in (1, 2, 5):
            xp.set_num_threads(count)
            found.append((xp.argpartition(a, 100).tolist(), xp.top_k(a, 50, axis=1).indices.tolist()))
    finally:
        xp.set_num_threads(threads)
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("mode", ["largest", "smallest"])
@pytest.mark.parametrize("n", SIZES)
def test_top_k(mode: Any, n: int) -> None:
    rng = np.random.default_rng(n)
    for dtype in ("float64", "int8"):
        a = lanes(rng, dtype, n)
        order = (
            np.array([descending(row) for row in a]) if mode == "largest" else np.argsort(a, 1, kind="stable")
        )
        for k in {0, 1, min(5, n), n}:
            found = xp.top_k(xp.asarray(a), k, axis=-1, mode=mode)
            assert found._fields == ("values", "indices")
            assert found.values.dtype == getattr(xp, dtype) and found.indices.dtype == xp.int64
            assert np.array_equal(found.indices, order[:, :k])
            assert np.array_equal(
                found.values, np.take_along_axis(a, order[:, :k], 1), equal_nan=dtype == "float64"
            )
            across = xp.top_k(xp.asarray(a.T), k, axis=0, mode=mode)
            assert np.array_equal(across.indices, order[:, :k].T)
            flat = xp.top_k(xp.asarray(a.T), k, mode=mode)
            assert flat.values.shape == flat.indices.shape == (k,)
            ordered = xp.top_k(xp.reshape(xp.asarray(a.T), (-1,)), k, axis=0, mode=mode)
            assert np.array_equal(flat.indices, ordered.indices)
            assert np.array_equal(flat.values, np.ravel(a.T)[np.asarray(flat.indices)], equal_nan=True)


def test_top_k_in_strict_mode() -> None:
    """The draft of the standard has `top_k`, version 2025.12 does not."""
    x = xp.asarray([[3, 9, 1], [9, 2, 9]])
    assert [part.tolist() for part in xp.top_k(x, 3)] == [[9, 9, 9], [1, 3, 5]]
    assert xp.top_k(xp.asarray(2.0), 1).indices.tolist() == [0]
    for settings in ({}, {"api_version": "2024.12"}, {"api_version": "2025.12"}):
        with flags(strict=True, **settings), pytest.raises(StrictError, match="no function of this name"):
            xp.top_k(x, 1)
        with flags(strict_names=True, **settings), pytest.raises(AttributeError):
            xp.top_k  # noqa: B018
        with flags(**settings):
            assert xp.top_k(x, 1, axis=1).indices.tolist() == [[1], [0]]
    with flags(strict=True, strict_names=True, api_version="draft"):
        assert xp.all(xp.top_k(x, 1, axis=0, mode="smallest").values == xp.asarray([[3, 2, 1]]))
        with pytest.raises(StrictError, match="real-valued"):
            xp.top_k(x > 2, 1)
        with pytest.raises(StrictError):
            xp.top_k(x, xp.asarray(1))  # type: ignore[arg-type]
    assert "Draft of the Array API standard" in (xp.top_k.__doc__ or "")


def test_errors_of_selection() -> None:
    x = xp.asarray([3.0, 1.0, 2.0])
    with pytest.raises(xp.ArgumentValueError, match="k is 4"):
        xp.top_k(x, 4)
    with pytest.raises(ValueError, match="k is -1"):
        xp.top_k(x, -1)
    with pytest.raises(xp.ArgumentValueError, match="mode"):
        xp.top_k(x, 1, mode="best")  # type: ignore[arg-type]
    with pytest.raises(xp.AxisError):
        xp.top_k(x, 1, axis=1)
    with pytest.raises(xp.AxisError):
        xp.top_k(xp.asarray(1.0), 1, axis=0)
    with pytest.raises(xp.ArgumentTypeError):
        xp.top_k(x, 1.0)  # type: ignore[arg-type]
    for bad in (3, -4, [0, 3]):
        with pytest.raises(xp.OutOfBoundsError):
            xp.argpartition(x, bad)
    for function in (
        xp.median,
        lambda x: xp.quantile(x, 0.5),
        lambda x: xp.top_k(x, 1),
        lambda x: xp.partition(x, 0),
    ):
        with pytest.raises(xp.DTypeError):
            function(xp.asarray([1j, 2j]))
    for q in (1.5, -0.1, float("nan")):
        with pytest.raises(xp.ArgumentValueError, match="out of range"):
            xp.quantile(x, q)
    with pytest.raises(xp.ArgumentValueError, match="method is"):
        xp.quantile(x, 0.5, method="best")
    with pytest.raises(xp.ArgumentValueError, match="no weights"):
        xp.quantile(x, 0.5, weights=x)
    with pytest.raises(xp.ShapeError):
        xp.quantile(xp.zeros((2, 0)), 0.5, axis=1)
    for weights in ([0.0, 0.0, 0.0], [1.0, -1.0, 1.0], [1.0, np.nan, 1.0], [1.0, np.inf, 1.0]):
        with pytest.raises(xp.ArgumentValueError, match="weight"):
            xp.quantile(x, 0.5, weights=xp.asarray(weights), method="inverted_cdf")
    with pytest.raises(xp.ShapeError, match="weights"):
        xp.quantile(x, 0.5, weights=xp.ones(2), method="inverted_cdf")


def same(found: xp.Array, wanted: Any, rtol: float = 0.0) -> None:
    wanted = np.asarray(wanted)
    assert found.shape == wanted.shape
    assert found.dtype.name == wanted.dtype.name
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=rtol, atol=0)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "bool"])
@pytest.mark.parametrize("shape", [(5,), (6,), (1,), (3, 4), (2, 3, 5), (300, 2)])
def test_median(dtype: str, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(len(shape))
    a = (rng.random(shape) * 50).astype(dtype)
    for axis in (None, *range(-len(shape), len(shape)), tuple(range(len(shape)))[:2]):
        for keepdims in (False, True):
            same(xp.median(xp.asarray(a), axis, keepdims=keepdims), np.median(a, axis, keepdims=keepdims))


def test_median_of_special_values() -> None:
    assert xp.isnan(xp.median(xp.asarray([1.0, np.nan, 2.0])))
    assert np.isnan(xp.median(xp.zeros(0)))
    assert xp.median(xp.zeros((0, 3)), axis=1).shape == (0,)
    assert xp.median(xp.asarray([1.0, np.inf, np.inf])) == np.inf
    largest = np.finfo(float).max
    assert xp.median(xp.asarray([largest, 0.0, largest])) == largest
    assert xp.median(xp.asarray(3)) == 3.0


@pytest.mark.parametrize("method", _METHODS)
@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_quantile(method: str, dtype: str) -> None:
    rng = np.random.default_rng(1)
    for shape in ((1,), (2,), (7,), (10,), (4, 6), (3, 2, 5)):
        a = (rng.standard_normal(shape) * 20).astype(dtype)
        x = xp.asarray(a)
        for q in (0.0, 1.0, 0.5, 0.3, [0.1, 0.9, 0.25], np.array([[0.2, 0.4], [0.5, 1.0]])):
            given = xp.asarray(q) if isinstance(q, np.ndarray) else q
            for axis in (None, 0, -1):
                for keepdims in (False, True):
                    wanted = np.quantile(a, q, axis=axis, method=method, keepdims=keepdims)  # type: ignore[call-overload]
                    found = xp.quantile(x, given, axis, method=method, keepdims=keepdims)
                    same(found, wanted, 1e-14)
                    percent = xp.percentile(x, xp.asarray(q) * 100, axis, method=method, keepdims=keepdims)
                    if method in ("linear", "hazen", "weibull"):
                        np.testing.assert_allclose(np.asarray(percent), wanted, rtol=1e-12)


def test_many_quantiles_and_single_precision() -> None:
    a = np.random.default_rng(2).standard_normal(1001)
    q = np.linspace(0, 1, 37)
    same(xp.quantile(xp.asarray(a), xp.asarray(q)), np.quantile(a, q), 1e-13)
    single = a.astype(np.float32)
    same(xp.quantile(xp.asarray(single), 0.25), np.quantile(single, 0.25), 1e-6)
    same(xp.quantile(xp.asarray(single), [0.25]), np.quantile(single, [0.25]), 1e-6)


def test_quantiles_of_nan_and_infinities() -> None:
    x = xp.asarray([[1.0, np.nan, 3.0], [1.0, np.inf, np.inf]])
    assert np.array_equal(
        xp.quantile(x, [0.0, 0.75], axis=1), [[np.nan, 1.0], [np.nan, np.inf]], equal_nan=True
    )
    assert np.array_equal(xp.quantile(x, 0.5, axis=1, method="lower"), [np.nan, np.inf], equal_nan=True)


def test_weighted_quantiles() -> None:
    rng = np.random.default_rng(3)
    a, one, all_of = rng.standard_normal((3, 8)), rng.integers(0, 4, 8) + 0.0, rng.random((3, 8))
    one[0] = 1.0
    x = xp.asarray(a)
    for q in (0.0, 0.5, [0.0, 0.3, 1.0]):
        wanted = np.quantile(a, q, axis=1, weights=one, method="inverted_cdf")
        same(xp.quantile(x, q, 1, weights=xp.asarray(one), method="inverted_cdf"), wanted)
        for axis in (None, 0, 1):
            wanted = np.quantile(a, q, axis=axis, weights=all_of, method="inverted_cdf")
            same(xp.quantile(x, q, axis, weights=xp.asarray(all_of), method="inverted_cdf"), wanted)


def test_gradients() -> None:
    x = xp.asarray([[3.0, 1.0, 2.0, 8.0], [0.5, 7.0, 6.0, 5.0]])
    check_grad(lambda x: xp.sum(xp.median(x, axis=1) ** 2), x)
    check_grad(lambda x: xp.sum(xp.quantile(x, [0.2, 0.6], axis=1) ** 2), x)
    check_grad(lambda x: xp.sum(xp.top_k(x, 2).values ** 3), x)
    check_grad(lambda x: xp.sum(xp.partition(x, 1)[:, 1] ** 2), x)
    check_grad(lambda q: xp.quantile(x, q), xp.asarray(0.3))
    assert grad(lambda x: xp.median(x))(xp.asarray([1.0, 5.0, 3.0])).tolist() == [0.0, 0.0, 1.0]


def test_vmap() -> None:
    x = xp.asarray(np.random.default_rng(4).standard_normal((4, 3, 9)))
    for function in (
        lambda x: xp.median(x, axis=1),
        lambda x: xp.quantile(x, [0.2, 0.5], axis=0),
        lambda x: xp.top_k(x, 4, axis=1),
        lambda x: xp.argpartition(x, 2, 0),
    ):
        found = vmap(function)(x)
        wanted = [function(row) for row in x]
        pairs = (
            zip(found, zip(*wanted, strict=True), strict=True)
            if isinstance(found, tuple)
            else [(found, wanted)]
        )
        for one, parts in pairs:
            assert np.array_equal(one, np.stack([np.asarray(part) for part in parts]))


def test_no_warnings() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        xp.median(xp.zeros(0))
        xp.quantile(xp.asarray([np.inf, -np.inf]), 0.5)


@pytest.mark.parametrize("n", [1, 2, 129, 1000, 4001])
def test_argpartition_without_positions(n: int) -> None:
    """Any permutation is right, as in NumPy."""
    rng = np.random.default_rng(n)
    for axis, a in ((0, rng.random(n)), (1, rng.random((3, n))), (0, rng.random((n, 2)))):
        found = np.asarray(xp.argpartition(xp.asarray(a), [], axis=axis))
        order = np.broadcast_to(
            np.expand_dims(np.arange(n), tuple(k for k in range(a.ndim) if k != axis)), a.shape
        )
        assert np.array_equal(np.sort(found, axis=axis), order)
        assert np.array_equal(
            np.sort(xp.partition(xp.asarray(a), (), axis=axis), axis=axis), np.sort(a, axis=axis)
        )
    assert xp.argpartition(xp.zeros((2, 0)), []).shape == (2, 0)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_ranks_of_storage_dtypes(dtype: str) -> None:
    """Storage dtypes have fewer digits than ranks."""
    kind = getattr(xp, dtype)
    x = xp.astype(xp.arange(1000) >= 503, kind)
    for q in (0.502, 0.5034):
        for method in ("linear", "nearest", "hazen", "inverted_cdf"):
            wanted = np.quantile((np.arange(1000) >= 503).astype("f8"), q, method=method)
            assert xp.quantile(x, q, method=method).dtype == kind
            assert abs(float(xp.quantile(x, q, method=method)) - wanted) < 0.005
            assert abs(float(xp.percentile(x, 100 * q, method=method)) - wanted) < 0.005
    many = xp.full(200_001, 0.25, dtype=kind)
    assert float(xp.quantile(many, 0.3)) == float(xp.quantile(many, xp.asarray(0.3, dtype=kind))) == 0.25
    large = float(xp.finfo(kind).max)
    assert float(xp.median(xp.asarray([large, large], dtype=kind))) == large


def test_no_fractions() -> None:
    x = xp.reshape(xp.arange(6.0), (2, 3))
    for method in _METHODS:
        assert xp.quantile(x, [], axis=0, method=method).shape == (0, 3)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint32", "uint64"])
@pytest.mark.parametrize("n", [1, 5, 128, 129, 400, 5000, 70_000])
def test_partition_gives_the_elements_at_the_indices_of_argpartition(dtype: str, n: int) -> None:
    """The kernels of `partition` give the same bits, for NaN, negative zeros, equal elements and views."""
    rng = np.random.default_rng(n)
    few = rng.integers(0, 3, n).astype(dtype)
    many = (rng.random(n) * 1e6).astype(dtype)
    ends = np.sort(rng.integers(0, 1000, n)).astype(dtype)
    if dtype.startswith("float"):
        few[rng.random(n) < 0.3] *= -1
        for value in (np.nan, -0.0, np.inf):
            few[rng.random(n) < 0.1] = value
        few.view(f"u{few.itemsize}")[np.isnan(few)] += rng.integers(0, 9, np.isnan(few).sum()).astype(
            np.uint8
        )
    else:
        ends[:1], ends[-1:] = np.iinfo(dtype).max, np.iinfo(dtype).min
    for a in (few, many, ends, np.full(n, 7, dtype)):
        for b in (a, a[::-1], np.repeat(a, 2)[::2], np.stack([a, a[::-1]]), np.stack([a, a], axis=-1)):
            axis = 0 if b.shape[0] == n else 1
            x = xp.asarray(b)
            for kth in (0, n // 3, -1, [n // 4, n // 2], [0, n - 1]):
                indices = np.asarray(xp.argpartition(x, kth, axis))
                found = np.asarray(xp.partition(x, kth, axis))
                assert found.tobytes() == np.take_along_axis(b, indices, axis).tobytes()
                for k in kth if isinstance(kth, list) else [kth]:
                    there = np.take(found, k, axis)
                    assert np.array_equal(
                        there, np.take(np.sort(b, axis), k, axis), equal_nan=b.dtype.kind == "f"
                    )


def stable_partition(order: np.ndarray, first: int, last: int) -> np.ndarray:
    """Return the indices of ranks `first` to `last`; lower ranks come before them and higher ranks after."""
    return np.concatenate([np.sort(order[:first]), order[first:last], np.sort(order[last:])])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint32", "uint64", "uint8"])
@pytest.mark.parametrize("n", [129, 300, 513, 700, 1100, 70_000])
def test_partition_keeps_the_order_of_each_side(dtype: str, n: int) -> None:
    """If a lane is not sorted completely, the lowest ranks are selected by a separate algorithm."""
    rng = np.random.default_rng(n)
    if dtype.startswith("float"):
        least, most = -np.inf, np.inf
    else:
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    many = rng.integers(0, 2**31, n).astype(dtype)
    up = np.sort(many)
    ends = np.asarray([least, most], dtype)[rng.integers(0, 2, n)]
    mixed = np.where(rng.random(n) < 0.7, ends, many)
    late = many.copy()
    late[-9:] = least
    if dtype.startswith("float"):
        mixed[rng.random(n) < 0.2] = np.nan
        mixed[rng.random(n) < 0.2] = -0.0
    few = rng.integers(0, 4, n).astype(dtype)
    for a in (many, up, up[::-1], few, np.full(n, 3, dtype), ends, mixed, late):
        x = xp.asarray(a)
        order = np.argsort(a, kind="stable")
        for kth in (0, 1, 3, 7, 20, 32, 40, [0, 2], [1, 30], n // 2, n - 2, [n // 4, n // 2]):
            ranks = kth if isinstance(kth, list) else [kth]
            wanted = stable_partition(order, min(ranks), max(ranks) + 1)
            assert np.array_equal(xp.argpartition(x, kth), wanted), kth
            assert np.asarray(xp.partition(x, kth)).tobytes() == a[wanted].tobytes(), kth
            first, last = min(ranks), max(ranks) + 1
            assert np.array_equal(argselect(x, first, last), order[first:last]), kth
