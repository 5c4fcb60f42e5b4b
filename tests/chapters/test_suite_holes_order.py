"""Order, a hole of the official suite: NaN and signed zeros in minima, maxima, sorting and sets."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from helpers import (
    INTEGERS,
    REAL,
    REAL_FLOATING,
    assert_same,
    quietly,
    values,
)

import stride0 as xp

INF, NAN = math.inf, math.nan

# --- NaN and signed zeros in minima, maxima and sorting


MIXED = [NAN, -NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0]
ARRANGED = [
    list(p) for n in range(1, 4) for p in itertools.product([NAN, INF, -INF, 0.0, -0.0, 1.0], repeat=n)
]


def bits(a):
    """Elements as tuples that distinguish NaNs and zeros by their signs."""
    return [(repr(float(v)), math.copysign(1.0, v)) for v in np.asarray(a).ravel()]


@pytest.mark.parametrize("dtype", REAL_FLOATING)
def test_extremes(dtype):
    for row in ARRANGED:
        for tail in ([], [0.5] * 40):
            v = np.array(row + tail, dtype=dtype)
            for x in (xp.asarray(v), xp.asarray(np.repeat(v, 2))[::2], xp.asarray(v[::-1].copy())[::-1]):
                numbers = [e for e in v.tolist() if not math.isnan(e)]
                for name, pick in (("max", max), ("min", min)):
                    got = float(getattr(xp, name)(x))
                    where = int(getattr(xp, "arg" + name)(x))
                    if len(numbers) < len(v):
                        assert math.isnan(got), (name, row)
                        assert where == int(np.argmax(np.isnan(v))), (name, row)
                    else:
                        assert got == pick(numbers), (name, row)
                        assert where == numbers.index(pick(numbers)), (name, row)  # -0.0 equals 0.0


def test_extremes_along_axes():
    for dtype in REAL_FLOATING:
        a = np.array(list(itertools.permutations([NAN, 0.0, -0.0, INF, -1.0], 4)), dtype=dtype)
        for v in (a, a.T, np.concatenate([a] * 9), a.reshape(4, 6, 5, 4), a[::2, ::-1]):
            for axis in range(v.ndim):
                for name in ("max", "min", "argmax", "argmin"):
                    for keepdims in (False, True):
                        got = np.asarray(getattr(xp, name)(xp.asarray(v), axis=axis, keepdims=keepdims))
                        want = quietly(
                            lambda n=name, v=v, d=axis, k=keepdims: getattr(np, n)(v, axis=d, keepdims=k)
                        )
                        assert got.shape == want.shape
                        np.testing.assert_array_equal(got, want)


def ordered(row, descending):
    """Python's stable sort with NaN above all numbers; in descending order as `sort` does it."""
    key = (lambda v: (not math.isnan(v), -v)) if descending else (lambda v: (math.isnan(v), v))
    return sorted(range(len(row)), key=lambda i: tuple(0.0 if e != e else e for e in key(row[i])))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", REAL_FLOATING)
def test_sort(dtype, descending):
    rng = np.random.default_rng(11)
    rows = [
        *ARRANGED,
        MIXED,
        [],
        *(rng.choice(MIXED, n).tolist() for n in (17, 33, 100, 300) for _ in range(5)),
    ]
    for row in rows:
        v = np.array(row, dtype=dtype)
        want = ordered(row, descending)
        for x in (xp.asarray(v), xp.asarray(np.repeat(v, 3))[1::3], xp.asarray(v[::-1].copy())[::-1]):
            assert_same(xp.argsort(x, descending=descending), np.array(want, dtype=np.int64))
            got = xp.sort(x, descending=descending)
            assert_same(got, v[want] if want else v)
            numbers = [i for i in want if not math.isnan(v[i])]
            start = len(row) - len(numbers) if descending else 0
            assert bits(got)[start : start + len(numbers)] == bits(v[numbers]) if numbers else True
            for stable in (False, True):
                loose = xp.argsort(x, descending=descending, stable=stable)
                assert sorted(np.asarray(loose).tolist()) == list(range(len(row)))
                if not stable:
                    np.testing.assert_array_equal(np.asarray(xp.take(x, loose)), np.asarray(got))
            assert_same(x, v)


@pytest.mark.parametrize("descending", [False, True])
def test_sort_is_stable_in_all_dtypes(descending):
    rng = np.random.default_rng(5)
    for dtype in ["bool", *REAL]:
        v = rng.integers(0, 3 if dtype != "bool" else 2, (7, 41)).astype(dtype)
        for axis in (0, 1, -1, -2):
            key = v.astype(float) * (-1 if descending else 1)
            want = np.argsort(key, axis=axis, stable=True)
            for x in (
                xp.asarray(v),
                xp.asarray(np.asfortranarray(v)),
                xp.asarray(v[::-1, ::-1].copy())[::-1, ::-1],
            ):
                assert_same(xp.argsort(x, axis=axis, descending=descending), want.astype(np.int64))
                assert_same(xp.sort(x, axis=axis, descending=descending), np.take_along_axis(v, want, axis))


def test_searchsorted_agrees_with_sort():
    """Insertion at the positions of `searchsorted` gives the array in the order of `sort`."""
    for dtype in REAL_FLOATING:
        for row in ([NAN, -0.0, 0.0, 1.0, -INF, INF, NAN, 1.0], [NAN, NAN], [0.0, -0.0], [], [2.0]):
            x = xp.sort(xp.asarray(row, dtype=getattr(xp, dtype)))
            for side in ("left", "right"):
                for value in (NAN, 0.0, -0.0, 1.0, 1.5, INF, -INF):
                    v = xp.asarray([value], dtype=getattr(xp, dtype))
                    (place,) = np.asarray(xp.searchsorted(x, v, side=side)).tolist()
                    made = xp.concat([x[:place], v, x[place:]])
                    np.testing.assert_array_equal(np.asarray(made), np.asarray(xp.sort(made)))
                    if not math.isnan(value):
                        before = [
                            e < value or (side == "right" and e == value) for e in np.asarray(x).tolist()
                        ]
                        assert place == sum(before), (row, side, value)


# --- NaN and signed zeros in sets


def check_unique(v):
    """Check the four functions against each other and against Python, on an array."""
    x = xp.asarray(v)
    everything = xp.unique_all(x)
    found, first, inverse, counts = everything
    assert everything._fields == ("values", "indices", "inverse_indices", "counts")
    assert (first.dtype, inverse.dtype, counts.dtype) == (xp.int64,) * 3
    flat = v.ravel().tolist()
    groups: list[list[int]] = []
    for i, e in enumerate(flat):
        for group in groups:
            if flat[group[0]] == e:
                group.append(i)
                break
        else:
            groups.append([i])
    assert found.dtype.name == v.dtype.name
    assert found.shape == first.shape == counts.shape == (len(groups),)
    assert inverse.shape == v.shape
    assert sorted(np.asarray(first).tolist()) == sorted(group[0] for group in groups)
    of_first = {group[0]: len(group) for group in groups}
    assert [of_first[i] for i in np.asarray(first).tolist()] == np.asarray(counts).tolist()
    assert_same(found, v.ravel()[np.asarray(first)])
    places = np.asarray(inverse).ravel()
    for group in groups:
        assert len({int(places[i]) for i in group}) == 1
    np.testing.assert_array_equal(np.asarray(found)[places], v.ravel())
    by_counts, by_inverse = xp.unique_counts(x), xp.unique_inverse(x)
    assert by_counts._fields == ("values", "counts")
    assert by_inverse._fields == ("values", "inverse_indices")
    for other in (by_counts.values, by_inverse.values, xp.unique_values(x)):
        np.testing.assert_array_equal(np.asarray(other), np.asarray(found))
        assert other.dtype is found.dtype
    np.testing.assert_array_equal(np.asarray(by_counts.counts), np.asarray(counts))
    np.testing.assert_array_equal(np.asarray(found)[np.asarray(by_inverse.inverse_indices)], v)
    if v.dtype.kind != "c":
        numbers = [e for e in np.asarray(found).tolist() if e == e]
        assert numbers == sorted(numbers)


@pytest.mark.parametrize("dtype", REAL_FLOATING)
def test_unique(dtype):
    rng = np.random.default_rng(2)
    for row in [*ARRANGED, MIXED, []]:
        check_unique(np.array(row, dtype=dtype))
    for shape in ((50,), (7, 9), (2, 3, 4), (), (0, 3), (300,)):
        check_unique(rng.choice(MIXED, shape).astype(dtype))
    v = rng.choice(MIXED, (6, 8)).astype(dtype)
    for view in (v.T, v[::-1, ::2], np.broadcast_to(v[0], (3, 8)), v[:, 1]):
        check_unique(view)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_unique_complex(dtype):
    rng = np.random.default_rng(2)
    parts = [complex(a, b) for a in (NAN, 0.0, -0.0, 1.0, INF) for b in (NAN, 0.0, -0.0, -1.0)]
    for n in (1, 2, 3, 30, 200):
        for _ in range(10):
            check_unique(rng.choice(parts, n).astype(dtype))


@pytest.mark.parametrize("dtype", ["bool", *INTEGERS])
def test_unique_of_others(dtype):
    for shape in ((24,), (4, 6), (), (0,), (3, 0)):
        check_unique(values(dtype, shape, special=dtype != "bool"))
    check_unique(np.zeros(5, dtype=dtype))
    check_unique(values(dtype) > 0)


@pytest.mark.parametrize("dtype", [*REAL_FLOATING, "complex64", "complex128"])
def test_isin(dtype):
    for n in (1, 3, 8, 9, 40):  # few and many elements are looked up by different algorithms
        among = np.array([NAN, 0.0, INF, 1.0, 2.0, NAN, 5.0, -7.0, *range(10, 42)][:n], dtype=dtype)
        v = np.array([[NAN, -0.0, 0.0, INF], [-INF, 1.0, 5.0, 41.0]], dtype=dtype)
        want = np.array([[any(e == o for o in among.tolist()) for e in row] for row in v.tolist()])
        for invert in (False, True):
            assert_same(xp.isin(xp.asarray(v), xp.asarray(among), invert=invert), want != invert)
    assert_same(xp.isin(xp.asarray(v), xp.asarray(among[:0])), np.zeros((2, 4), dtype=bool))
