"""`bincount`, `histogram` and `interp`, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0.testing import check_grad

RNG = np.random.default_rng(0)


def same(found: xp.Array, wanted: Any, rtol: float = 0.0) -> None:
    wanted = np.asarray(wanted)
    assert found.shape == wanted.shape
    assert found.dtype.name == wanted.dtype.name
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=rtol, atol=0)


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "uint64", "int8"])
def test_bincount(dtype: str) -> None:
    for n in (0, 1, 5, 1000):
        a = RNG.integers(0, 40, n).astype(dtype)
        for b in (a, a[::-1], np.repeat(a, 2)[::2]):
            x = xp.asarray(b)
            same(xp.bincount(x), np.bincount(b.astype(np.int64)))
            same(xp.bincount(x, minlength=50), np.bincount(b.astype(np.int64), minlength=50))
            for kind in ("float64", "float32", "int32", "bool") if n else ():
                w = (RNG.random(n) * 3).astype(kind)
                same(xp.bincount(x, xp.asarray(w)), np.bincount(b.astype(np.int64), w))
    complex_weights = xp.bincount(xp.asarray([0, 2, 2]), xp.asarray([1j, 2, 3j]))
    assert complex_weights.tolist() == [1j, 0, 2 + 3j]


def test_errors_of_bincount() -> None:
    x = xp.asarray([0, 1])
    for bad, error in (
        (xp.asarray([-1, 2]), xp.ArgumentValueError),
        (xp.asarray([0.0]), xp.DTypeError),
        (xp.asarray([True]), xp.DTypeError),
        (xp.zeros((2, 2), dtype=xp.int64), xp.ShapeError),
        ([0, 1], xp.ForeignArrayError),
    ):
        with pytest.raises(error):
            xp.bincount(bad)
    with pytest.raises(xp.ArgumentValueError, match="minlength"):
        xp.bincount(x, minlength=-1)
    with pytest.raises(xp.ShapeError, match="weights"):
        xp.bincount(x, xp.ones(3))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "bool"])
def test_histogram(dtype: str) -> None:
    for n in (0, 1, 7, 2000):
        a = (RNG.random(n) * 20).astype(dtype)
        x = xp.asarray(a)
        if dtype == "bool":
            a = a.astype(np.uint8)
        weights = RNG.random(n)
        ranges: list[Any] = [None, (2.0, 11.0), (5.0, 5.0)]
        for bins in (1, 3, 10, 64):
            for limits in ranges:
                for w in (None, weights):
                    given = None if w is None else xp.asarray(w)
                    hist, edges = xp.histogram(x, bins, limits, weights=given)
                    wanted, wanted_edges = np.histogram(a, bins, limits, weights=w)
                    same(hist, wanted, 0 if w is None else 1e-12)
                    same(edges, wanted_edges, 1e-6 if dtype == "float32" else 1e-15)
                    if n == 2000 and limits != (5.0, 5.0) and wanted.sum():
                        same(
                            xp.histogram(x, bins, limits, True, given)[0],
                            np.histogram(a, bins, limits, True, w)[0],
                            1e-5 if dtype == "float32" else 1e-12,
                        )
        for edges_of in ([0, 1, 5, 5, 9], [3.0, 4.0], [-1.0, 0.5, 7.25, 100.0]):
            same(xp.histogram(x, edges_of)[0], np.histogram(a, edges_of)[0])
            same(
                xp.histogram(x, xp.asarray(edges_of), weights=xp.asarray(weights))[0],
                np.histogram(a, edges_of, weights=weights)[0],
                1e-12,
            )


def test_histogram_of_many_axes_by_rule_and_of_nan() -> None:
    a = RNG.standard_normal((30, 4))
    for rule in ("auto", "sturges", "fd"):
        hist, edges = xp.histogram(xp.asarray(a), rule)
        wanted, wanted_edges = np.histogram(a, rule)
        same(hist, wanted)
        same(edges, wanted_edges, 1e-15)
    a[3, 1] = np.nan
    same(xp.histogram(xp.asarray(a), 5, (-2, 2))[0], np.histogram(a, 5, (-2, 2))[0])
    same(xp.histogram(xp.asarray(a), [-1.0, 0.0, 1.0])[0], np.histogram(a, [-1.0, 0.0, 1.0])[0])
    with pytest.raises(xp.ArgumentValueError, match="finite"):
        xp.histogram(xp.asarray(a))


def test_edges_that_rounding_would_move() -> None:
    a = np.concatenate([np.linspace(0, 1, 11), np.linspace(0, 1, 11) - 1e-16, np.arange(11) * 0.1])
    same(xp.histogram(xp.asarray(a), 10, (0, 1))[0], np.histogram(a, 10, (0, 1))[0])


def test_errors_of_histogram() -> None:
    x = xp.asarray([1.0, 2.0])
    for arguments, error in (
        ((x, 0), xp.ArgumentValueError),
        ((x, 2, (3.0, 1.0)), xp.ArgumentValueError),
        ((x, 2, (0.0, np.inf)), xp.ArgumentValueError),
        ((x, [3.0, 1.0]), xp.ArgumentValueError),
        ((x, xp.ones((2, 2))), xp.ShapeError),
        ((x, "best"), xp.ArgumentValueError),
        ((x, 2.5), xp.ArgumentTypeError),
        ((xp.asarray([1j]), 2), xp.DTypeError),
        ((x, 2, None, False, xp.ones(3)), xp.ShapeError),
    ):
        with pytest.raises(error):
            xp.histogram(*arguments)


def test_interp() -> None:
    points = np.sort(RNG.standard_normal(12))
    values = RNG.standard_normal(12)
    at = np.concatenate([RNG.standard_normal(50) * 2, points, [np.nan, np.inf, -np.inf]])
    for fp in (values, values + 1j * values[::-1]):
        for left, right in ((None, None), (-9.0, 7.0)):
            wanted = np.interp(at, points, fp, left, right)
            same(xp.interp(xp.asarray(at), xp.asarray(points), xp.asarray(fp), left, right), wanted, 1e-12)
            one = xp.interp(xp.asarray(at), xp.asarray(points[:1]), xp.asarray(fp[:1]), left, right)
            wanted = np.interp(at, points[:1], fp[:1], left, right)
            wanted[np.isnan(at)] = np.nan  # NumPy lacks this for a single point
            same(one, wanted)
    mixed = RNG.permutation(12)
    degrees = points[mixed] * 200
    wanted = np.interp(at[:-3] * 100, degrees, values, period=360)
    found = xp.interp(xp.asarray(at[:-3] * 100), xp.asarray(degrees), xp.asarray(values), period=360)
    same(found, wanted, 1e-10)
    same(xp.interp(2.5, xp.asarray([1, 2, 3]), xp.asarray([3, 2, 0])), 1.0)
    same(xp.interp(xp.asarray([[0.5, 1.5]]), xp.asarray([0.0, 1, 2]), xp.asarray([1.0, 3, 9])), [[2.0, 6.0]])
    # Infinite values, and points that coincide.
    for fp in ([1.0, np.inf, 2.0], [np.inf, np.inf, 1.0], [-np.inf, 0.0, np.inf]):
        at = np.array([0.0, 0.5, 1.0, 1.5, 2.0])
        wanted = np.interp(at, [0.0, 1.0, 2.0], fp)
        same(xp.interp(xp.asarray(at), xp.asarray([0.0, 1, 2]), xp.asarray(fp)), wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_interp_next_to_a_point_at_nan_is_nan(dtype: str) -> None:
    at = xp.asarray([0.5, 1.5, 2.5], dtype=getattr(xp, dtype))
    points, values = xp.asarray([0.0, 1.0, 2.0, np.nan]), xp.asarray([0.0, 1.0, 3.0, 5.0])
    points, values = xp.astype(points, at.dtype), xp.astype(values, at.dtype)
    with xp.autograd.Tape() as tape:
        tape.watch(values)
        recorded = xp.autograd.stop_gradient(xp.interp(at, points, values))
    for found in (xp.interp(at, points, values), recorded):
        np.testing.assert_array_equal(np.asarray(found), [0.5, 2.0, np.nan])


def test_errors_of_interp() -> None:
    x = xp.asarray([1.0, 2.0])
    for arguments, error in (
        ((x, x, xp.ones(3)), xp.ShapeError),
        ((x, xp.zeros(0), xp.zeros(0)), xp.ShapeError),
        ((x, xp.ones((2, 1)), xp.ones((2, 1))), xp.ShapeError),
        ((xp.asarray([1j]), x, x), xp.DTypeError),
        ((x, x, x, None, None, 0), xp.ArgumentValueError),
        ((x, [1.0], [2.0]), xp.ForeignArrayError),
    ):
        with pytest.raises(error):
            xp.interp(*arguments)


def test_gradients() -> None:
    x, points, values = xp.asarray([0.3, 1.2, 5.0]), xp.asarray([0.0, 1.0, 2.5]), xp.asarray([1.0, -2.0, 4.0])
    check_grad(lambda x, p, v: xp.sum(xp.interp(x, p, v) ** 2), x, points, values)
    places = xp.asarray([0, 2, 2, 1])
    check_grad(lambda w: xp.sum(xp.bincount(places, w) ** 2), xp.asarray([1.0, 2.0, 3.0, 4.0]))
    check_grad(lambda w: xp.sum(xp.histogram(x, 2, weights=w)[0] ** 2), xp.asarray([1.0, 2.0, 3.0]))


@pytest.mark.parametrize(
    ("a", "dtype", "bins", "limits"),
    [
        ([-1.7e308, 1.7e308], "float64", 4, None),
        ([1e17, 1e17], "float64", 4, None),
        ([1e8, 1e8], "float32", 4, None),
        ([1.0, 2.0, 3.0], "float16", 4, (0, 1e6)),
        ([-1.0, 1.0], "float16", 70_000, None),
    ],
)
def test_edges_that_the_dtype_does_not_have(a: Any, dtype: str, bins: int, limits: Any) -> None:
    """NumPy refuses such numbers of bins too."""
    with pytest.raises(xp.ArgumentValueError, match="too few numbers"):
        xp.histogram(xp.asarray(a, dtype=getattr(xp, dtype)), bins, limits)


def test_histogram_of_float16() -> None:
    a = np.linspace(-1, 1, 4001).astype("float16")
    for bins in (7, 100, 500):
        counts, edges = xp.histogram(xp.asarray(a), bins)
        wanted = np.histogram(a.astype("f8"), np.asarray(edges).astype("f8"))[0]
        assert edges.dtype == xp.float16 and np.array_equal(counts, wanted)


def test_components_of_interp() -> None:
    for fp in ([np.inf + 0j, 0.1 + 1j], [1 + 2j, 3 - 1j], [complex(1, np.nan), 2 + 1j]):
        for x in (0.5, 0.25, 0.0, 1.0):
            found = complex(xp.interp(xp.asarray(x), xp.asarray([0.0, 1.0]), xp.asarray(fp)))
            for part in ("real", "imag"):
                values = [getattr(value, part) for value in fp]
                wanted = float(np.interp(x, [0, 1], values))
                np.testing.assert_allclose(getattr(found, part), wanted, rtol=1e-15)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("ends", [(None, None), (-3.0, 1e300), (2, 4 + 1j)])
def test_interp_has_the_same_bits_where_it_is_recorded(dtype: str, ends: Any) -> None:
    """Untracked arrays go to the compiled implementation, other arrays to the body of the declaration."""
    special = [np.nan, np.inf, -np.inf, 0.0, 1.0, 2.0]
    for fp in (RNG.standard_normal(5), [np.inf, 1.0, 1.0, -np.inf, np.nan], np.ones(5)):
        for xp_ in (np.arange(5.0), [0.0, 1.0, 1.0, 2.0, np.inf], [-np.inf, 0.0, 1.0, 2.0, np.nan]):
            at = xp.asarray(np.append(RNG.standard_normal(200) * 3, special).astype(dtype))
            points, values = (xp.asarray(np.asarray(a, dtype)) for a in (xp_, fp))
            plain = xp.interp(at[::-1], points, values, *ends)
            with xp.autograd.Tape() as tape:
                tape.watch(values)
                recorded = xp.interp(at[::-1], points, values, *ends)
            assert plain.dtype == recorded.dtype
            np.testing.assert_array_equal(np.asarray(plain), np.asarray(xp.autograd.stop_gradient(recorded)))


def test_one_vector_of_many_places_is_counted_by_several_tables() -> None:
    for size in (1, 2, 255, 256, 257):
        for n in (4 * size - 1, 4 * size, 4 * size + 3, 20_000):
            a = RNG.integers(0, size, n)
            same(xp.bincount(xp.asarray(a), minlength=size), np.bincount(a, minlength=size))


def test_bincount_of_numbers_beyond_memory() -> None:
    for most in (2**63 - 1, 2**63, 2**64 - 1):
        with pytest.raises(MemoryError):
            xp.bincount(xp.asarray([1, most], dtype=xp.uint64))


def test_vmap() -> None:
    a, w = RNG.random((3, 50)), RNG.random((3, 50))
    x, weights = xp.asarray(a), xp.asarray(w)
    found = xp.autograd.vmap(lambda x: xp.histogram(x, 7, (0.1, 0.9))[0])(x)
    same(found, np.stack([np.histogram(row, 7, (0.1, 0.9))[0] for row in a]))
    found = xp.autograd.vmap(lambda x, w: xp.histogram(x, 7, (0.1, 0.9), weights=w)[0])(x, weights)
    pairs = zip(a, w, strict=True)
    same(found, np.stack([np.histogram(row, 7, (0.1, 0.9), weights=u)[0] for row, u in pairs]), 1e-14)
    places = np.arange(50) % 4
    found = xp.autograd.vmap(lambda w: xp.bincount(xp.asarray(places), w))(weights)
    same(found, np.stack([np.bincount(places, row) for row in w]), 1e-14)
    found = xp.autograd.vmap(lambda x: xp.interp(x, xp.asarray([0.0, 1]), xp.asarray([1.0, 3])))(x)
    same(found, np.interp(a, [0, 1], [1, 3]), 1e-15)
    with pytest.raises(xp.BatchingError):
        xp.autograd.vmap(xp.bincount)(xp.asarray([[0, 1], [1, 2]]))
