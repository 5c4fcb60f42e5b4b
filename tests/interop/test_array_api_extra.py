"""Every public function of array-api-extra on stride0 arrays, compared with the same calls on NumPy arrays.

The functions are read from the installed package: a new function fails until it has cases here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from helpers import (
    DTYPES,
    FLOATING,
    INTEGERS,
    LAYOUTS,
    REAL,
    REAL_FLOATING,
    assert_same,
    pair,
    values,
)

import stride0 as xp

xpx = pytest.importorskip(
    "array_api_extra", reason="the tests of array-api-extra need it: pip install array-api-extra"
)
compat = pytest.importorskip("array_api_compat", reason="array-api-extra stands on array-api-compat")

NOT_FUNCTIONS = {"__version__", "testing"}  # a string, and a module that is tested below
FUNCTIONS = sorted(set(xpx.__all__) - NOT_FUNCTIONS)

# A call takes a namespace and a maker of its arrays from NumPy's, so that it runs in both.
Make = Callable[[Any], Any]
Call = Callable[[Any, Make], Any]

F = np.array([[3.5, -1.0, np.nan, 2.0], [0.0, -0.0, np.inf, 7.25], [1.0, 1.0 + 1e-9, -5.5, np.nan]])
G = np.array([[3.5, -1.0, np.nan, 2.5], [0.0, 0.0, np.inf, 7.25], [1.0, 1.0, -5.5, 1.0]])
FINITE = np.array([[3.5, -1.0, 4.0, 2.0], [0.0, 9.0, 6.5, 7.25], [1.0, 8.0, -5.5, -3.0]])
INTS = np.array([[4, 1, 3, 3], [0, -2, 7, 1], [5, 5, -8, 2]])
MASK = INTS > 2
Z = FINITE + 1j * FINITE[::-1]


def elementwise(function: Callable[..., Any], dtypes: list[str]) -> list[Call]:
    """The function on each dtype in each layout: transposed, sliced, reversed, broadcast, empty, 0-d."""

    def on(dtype: str, layout: str) -> Call:
        # Both namespaces make the view of the layout, so the function gets an array with its strides.
        return lambda ns, make: function(LAYOUTS[layout](ns, make(values(dtype))))

    return [on(dtype, layout) for dtype in dtypes for layout in LAYOUTS]


def at_cases() -> Iterator[Call]:
    indices: list[Any] = [1, (0, 2), (slice(None), 1), (Ellipsis, slice(None, None, -2)), slice(1, 1), ()]
    for method in ("set", "add", "subtract", "multiply", "divide", "power", "min", "max"):
        for index in indices:
            for copy in (None, True, False):
                yield lambda ns, make, m=method, i=index, c=copy: getattr(xpx.at(make(FINITE), i), m)(
                    2.5, copy=c
                )
        yield lambda ns, make, m=method: getattr(xpx.at(make(FINITE))[make(MASK)], m)(3.0)
        yield lambda ns, make, m=method: getattr(xpx.at(make(FINITE))[1:, ...], m)(make(FINITE[0]))
    # Integers stay integers, for any written value.
    yield lambda ns, make: xpx.at(make(INTS))[0, :].set(make(INTS[1]))
    yield lambda ns, make: xpx.at(make(INTS))[0, :].add(7)


def lazy_cases() -> Iterator[Call]:
    yield lambda ns, make: xpx.lazy_apply(lambda v: v + 1, make(FINITE))
    yield lambda ns, make: xpx.lazy_apply(np.linalg.det, make(FINITE[:, :3]), shape=(), as_numpy=True)
    yield lambda ns, make: xpx.lazy_apply(lambda v, w: (v + w, v * w), make(INTS), make(INTS))
    yield lambda ns, make: xpx.lazy_apply(
        lambda v, w: (np.sort(v), np.cumsum(w)),
        make(FINITE),
        make(INTS),
        shape=((3, 4), (12,)),
        as_numpy=True,
    )
    yield lambda ns, make: xpx.lazy_apply(
        lambda v, scale, other: v * scale, make(FINITE), 3.0, None, as_numpy=True
    )
    yield lambda ns, make: xpx.lazy_apply(ns.sum, make(FINITE), xp=compat.array_namespace(make(FINITE)))


def reduction(function: Callable[..., Any], integers: bool = True) -> list[Call]:
    axes: tuple[Any, ...] = (None, 0, 1, -1, (0, 1))
    cases: list[Call] = [lambda ns, make, a=axis: function(make(F), axis=a) for axis in axes]
    if integers:
        cases += [lambda ns, make, a=axis: function(make(INTS), axis=a) for axis in axes]
    return [*cases, lambda ns, make: function(make(np.broadcast_to(F[:1], (3, 4))), axis=0)]


CASES: dict[str, list[Call]] = {
    "angle": [
        *elementwise(xpx.angle, FLOATING),
        lambda ns, make: xpx.angle(make(Z), deg=True),
    ],
    "apply_where": [
        lambda ns, make: xpx.apply_where(make(MASK), make(FINITE), lambda v: v * 2, fill_value=-1.0),
        lambda ns, make: xpx.apply_where(make(MASK), make(FINITE), lambda v: v * 2, lambda v: v / 2),
        lambda ns, make: xpx.apply_where(
            make(MASK), (make(FINITE), make(INTS)), lambda v, w: v + w, lambda v, w: v - w
        ),
        lambda ns, make: xpx.apply_where(make(MASK[0]), make(FINITE), lambda v: v > 1, fill_value=False),
        lambda ns, make: xpx.apply_where(
            make(MASK),
            make(FINITE),
            lambda v, k: v + k,
            fill_value=make(FINITE[0, 0]),
            kwargs={"k": make(FINITE[1])},
        ),
    ],
    "atleast_nd": [
        lambda ns, make, n=ndim, a=array: xpx.atleast_nd(make(a), ndim=n)
        for ndim in (0, 1, 2, 4)
        for array in (FINITE, FINITE[0], FINITE[0, 0])
    ],
    "at": list(at_cases()),
    "broadcast_shapes": [
        lambda ns, make: xpx.broadcast_shapes((2, 1), (3,), (), xp=ns),
        lambda ns, make: xpx.broadcast_shapes((5, 1, 4), (1, 3, 1)),
    ],
    "cov": [
        lambda ns, make: xpx.cov(make(FINITE)),
        lambda ns, make: xpx.cov(make(FINITE), correction=0),
        lambda ns, make: xpx.cov(make(FINITE), axis=0),
        lambda ns, make: xpx.cov(make(FINITE[0])),
        lambda ns, make: xpx.cov(make(Z)),
        lambda ns, make: xpx.cov(make(INTS)),
        lambda ns, make: xpx.cov(make(FINITE), fweights=make(np.array([1, 2, 1, 3]))),
        lambda ns, make: xpx.cov(make(FINITE), aweights=make(np.array([0.5, 2.0, 1.0, 3.0]))),
    ],
    "create_diagonal": [
        *(lambda ns, make, k=k: xpx.create_diagonal(make(FINITE[0]), offset=k) for k in (-2, 0, 1)),
        lambda ns, make: xpx.create_diagonal(make(INTS), offset=1),
        lambda ns, make: xpx.create_diagonal(make(Z)),
    ],
    "default_dtype": [
        lambda ns, make, k=kind: ns.zeros(2, dtype=xpx.default_dtype(ns, k))
        for kind in ("real floating", "complex floating", "integral", "indexing")
    ],
    "deg2rad": [
        *elementwise(xpx.deg2rad, REAL_FLOATING),
        lambda ns, make: xpx.deg2rad(make(INTS)),
    ],
    "rad2deg": [
        *elementwise(xpx.rad2deg, REAL_FLOATING),
        lambda ns, make: xpx.rad2deg(make(INTS)),
    ],
    "diag_indices": [
        lambda ns, make: xpx.diag_indices(3, xp=ns),
        lambda ns, make: xpx.diag_indices(2, ndim=3, xp=ns),
        lambda ns, make: make(FINITE)[xpx.diag_indices(3, xp=ns)],
    ],
    "expand_dims": [
        lambda ns, make, a=axis: xpx.expand_dims(make(FINITE), axis=a) for axis in (0, -1, (0, 2), (-1, 0))
    ],
    "isclose": [
        lambda ns, make: xpx.isclose(make(F), make(G)),
        lambda ns, make: xpx.isclose(make(F), make(G), equal_nan=True),
        lambda ns, make: xpx.isclose(make(F), make(G), rtol=0.0, atol=0.75),
        lambda ns, make: xpx.isclose(make(F), 1.0),
        lambda ns, make: xpx.isclose(2, make(INTS)),
        lambda ns, make: xpx.isclose(make(Z), make(Z + 1e-12)),
        lambda ns, make: xpx.isclose(make(INTS), make(FINITE), rtol=0.5),
        lambda ns, make: xpx.isclose(make(MASK), make(~MASK)),
    ],
    "isin": [
        lambda ns, make: xpx.isin(make(INTS), make(np.array([3, 5, 11]))),
        lambda ns, make: xpx.isin(make(INTS), make(np.array([3, 5, 11])), invert=True),
        lambda ns, make: xpx.isin(make(FINITE), make(FINITE[1])),
        lambda ns, make: xpx.isin(make(np.unique(INTS)), make(np.array([1, 2])), assume_unique=True),
    ],
    "kron": [
        lambda ns, make: xpx.kron(make(FINITE), make(INTS[:2, :2])),
        lambda ns, make: xpx.kron(make(INTS[0]), make(INTS)),
        lambda ns, make: xpx.kron(make(Z), make(FINITE[0])),
        lambda ns, make: xpx.kron(make(FINITE), 2.0),
    ],
    "lazy_apply": list(lazy_cases()),
    "nan_to_num": [
        *(lambda ns, make, d=dtype: xpx.nan_to_num(make(values(d, special=True))) for dtype in FLOATING),
        lambda ns, make: xpx.nan_to_num(make(F), fill_value=-3.0),
        lambda ns, make: xpx.nan_to_num(make(F + 1j * G)),
    ],
    "nanmax": reduction(xpx.nanmax, integers=False),
    "nanmean": reduction(xpx.nanmean),
    "nanmin": reduction(xpx.nanmin, integers=False),
    "nansum": reduction(xpx.nansum),
    "nunique": [
        *elementwise(xpx.nunique, DTYPES),
        lambda ns, make: xpx.nunique(make(F)),
    ],
    "one_hot": [
        lambda ns, make: xpx.one_hot(make(np.array([0, 2, 1])), 3),
        lambda ns, make: xpx.one_hot(make(np.array([[0, 2], [1, 1]])), 4, axis=0),
        lambda ns, make: xpx.one_hot(make(np.array([1, 0], dtype=np.uint8)), 2, dtype=ns.int32),
        lambda ns, make: xpx.one_hot(make(np.array([1, 0])), 2, dtype=ns.bool),
    ],
    "pad": [
        lambda ns, make: xpx.pad(make(FINITE), 2),
        lambda ns, make: xpx.pad(make(FINITE), (1, 2), constant_values=-1.5),
        lambda ns, make: xpx.pad(make(INTS), [(0, 1), (2, 0)], constant_values=9),
        lambda ns, make: xpx.pad(make(Z), [(1, 0), (0, 0)], constant_values=1j),
        lambda ns, make: xpx.pad(make(MASK), 1, constant_values=True),
    ],
    "searchsorted": [
        lambda ns, make, s=side: xpx.searchsorted(make(np.sort(FINITE[0])), make(FINITE[0]), side=s)
        for side in ("left", "right")
    ],
    "setdiff1d": [
        lambda ns, make: xpx.setdiff1d(make(INTS), make(np.array([3, 5]))),
        lambda ns, make: xpx.setdiff1d(make(FINITE), make(FINITE[1])),
        lambda ns, make: xpx.setdiff1d(make(np.array([1, 2, 9])), make(np.array([2])), assume_unique=True),
    ],
    "sinc": [
        *elementwise(xpx.sinc, REAL_FLOATING),
        lambda ns, make: xpx.sinc(make(np.array([-2.5, 0.0, 0.5]))),
    ],
    "tril_indices": [
        lambda ns, make, k=k, m=m: xpx.tril_indices(3, offset=k, m=m, xp=ns)
        for k in (-1, 0, 2)
        for m in (None, 5)
    ],
    "triu_indices": [
        lambda ns, make, k=k, m=m: xpx.triu_indices(3, offset=k, m=m, xp=ns)
        for k in (-1, 0, 2)
        for m in (None, 5)
    ],
    "union1d": [
        lambda ns, make: xpx.union1d(make(INTS), make(np.array([3, 99]))),
        lambda ns, make: xpx.union1d(make(FINITE), make(FINITE[1] + 1)),
    ],
    "unravel_index": [
        lambda ns, make: xpx.unravel_index(make(np.array([0, 7, 11])), (3, 4)),
        lambda ns, make: xpx.unravel_index(make(np.array([[5, 23], [1, 0]])), (2, 3, 4)),
    ],
}

# Several results of these are right: the tests check the promised property.
PARTITIONS = {"argpartition", "partition"}


def run(call: Call, ns: Any) -> Any:
    return call(ns, (lambda a: xp.asarray(a, copy=True)) if ns is xp else np.array)


def assert_alike(got: Any, expected: Any, what: str) -> None:
    if isinstance(expected, (tuple, list)):
        assert type(got) is type(expected) and len(got) == len(expected), what
        for g, e in zip(got, expected, strict=True):
            assert_alike(g, e, what)
    elif isinstance(expected, (np.ndarray, np.generic)):
        # Rounding differs for sums in another order, and for sines of another library.
        tolerance = 5e-7 if expected.dtype in (np.float32, np.complex64) else 1e-14
        assert_same(got, expected, rtol=tolerance if expected.dtype.kind in "fc" else 0.0, what=what)
    else:
        assert type(got) is type(expected) and got == expected, what


def as_numpy(found: Any) -> Any:
    if isinstance(found, (tuple, list)):
        return type(found)(as_numpy(part) for part in found)
    return np.asarray(found) if isinstance(found, xp.Array) else found


def test_every_function_has_cases() -> None:
    assert sorted({*CASES, *PARTITIONS}) == FUNCTIONS


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy warns of NaN and empty slices
@pytest.mark.filterwarnings("ignore:.xpx.:DeprecationWarning")  # functions that the standard now has
@pytest.mark.parametrize("name", sorted(CASES))
def test_as_with_numpy(name: str) -> None:
    for position, call in enumerate(CASES[name]):
        expected = run(call, np)
        assert_alike(run(call, xp), expected, f"case {position} of {name}")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.filterwarnings("ignore:.xpx.:DeprecationWarning")
@pytest.mark.parametrize("name", sorted(CASES))
def test_in_strict_mode(name: str) -> None:
    """In strict mode each case gives the same result, or is refused with a sentence of the standard."""
    worked = 0
    for position, call in enumerate(CASES[name]):
        expected = run(call, xp)
        with xp.strict():
            try:
                got = run(call, xp)
            except xp.StrictError:
                continue
        worked += 1
        assert_alike(got, as_numpy(expected), f"case {position} of {name}")
    assert worked


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_partition(dtype: str, axis: int | None) -> None:
    for layout in ("C", "transposed", "sliced", "negative", "broadcast"):
        x, a = pair(dtype, layout)
        length = a.size if axis is None else a.shape[axis]
        for kth in (0, length // 2, length - 1):
            got = xpx.partition(x, kth, axis=axis)
            expected = np.partition(a, kth, axis=axis)
            # The kth element has its sorted position; the elements before it are the same, in any order.
            along = 0 if axis is None else axis
            assert type(got) is xp.Array and got.dtype.name == dtype
            for part in (slice(None, kth), slice(kth, kth + 1), slice(kth + 1, None)):
                key = (slice(None),) * (along % expected.ndim) + (part,)
                ours, theirs = np.sort(np.asarray(got)[key], axis=along), np.sort(expected[key], axis=along)
                np.testing.assert_array_equal(ours, theirs)
            order = xpx.argpartition(x, kth, axis=axis)
            assert type(order) is xp.Array and order.dtype == xp.int64
            flat, indices = (
                (np.asarray(a).ravel(), np.asarray(order).ravel()) if axis is None else (a, np.asarray(order))
            )
            taken = np.take_along_axis(flat, indices, axis=along)
            np.testing.assert_array_equal(np.take(taken, kth, axis=along), np.take(expected, kth, axis=along))


def test_at_leaves_what_it_may_not_touch() -> None:
    x = xp.asarray(FINITE, copy=True)
    y = xpx.at(x)[0, :].set(-1.0, copy=True)
    assert_same(x, FINITE)
    assert_same(y[0, :], np.full(4, -1.0))
    z = xpx.at(x)[0, :].set(-1.0, copy=False)
    assert z is x
    assert_same(x, np.asarray(y))


def test_at_of_read_only_and_broadcast_memory() -> None:
    # array-api-extra cannot know that memory is read-only, so stride0's error must be raised, and copy=True
    # must work.
    fixed = FINITE.copy()
    fixed.flags.writeable = False
    for x in (xp.asarray(fixed, copy=False), xp.broadcast_to(xp.asarray(FINITE[0]), (3, 4))):
        with pytest.raises(xp.WriteError):
            xpx.at(x)[0, 0].set(1.0, copy=False)
        expected = np.asarray(x).copy()
        expected[0, 0] = 1.0
        assert_same(xpx.at(x)[0, 0].set(1.0, copy=True), expected)


def test_integers_where_numpy_goes_a_way_of_its_own() -> None:
    # For these array-api-extra calls NumPy's functions, which take integers. Other libraries get code of
    # array-api-extra, which fills with infinity or a float; that must improve before more can be tested.
    x = xp.asarray(INTS)
    for function in (xpx.nanmin, xpx.nanmax):
        with pytest.raises(xp.RangeError, match="inf to int64"):
            function(x)
    assert_same(xpx.nan_to_num(x), INTS.astype(np.float64))


def test_testing_has_no_function_without_a_test() -> None:
    tested = {"assert_close", "assert_close_nulp", "assert_equal", "assert_less"}
    assert set(xpx.testing.__all__) == tested | {"lazy_xp_function", "patch_lazy_xp_functions"}


@pytest.mark.parametrize("name", ["assert_close", "assert_close_nulp", "assert_equal", "assert_less"])
def test_testing_assertions(name: str) -> None:
    check = getattr(xpx.testing, name)
    x = xp.asarray(FINITE)
    right, wrong = (x + 1, x - 1) if name == "assert_less" else (xp.asarray(FINITE), x + 1)
    check(x, right)
    check(x, right, xp=xp)
    with pytest.raises(AssertionError):
        check(x, wrong)
    with pytest.raises(AssertionError, match="dtype"):
        check(x, xp.astype(right, xp.float32))
    check(x, xp.astype(right, xp.float32), check_dtype=False)
    with pytest.raises(AssertionError, match="shape"):
        check(x[:1, :], right[0, :])
    with pytest.raises(AssertionError, match="amespace"):
        check(x, np.asarray(right))
    if name == "assert_close":
        check(x, x + 1e-9, atol=1e-8)
        with pytest.raises(AssertionError):
            check(x, x + 1e-9)
    if name == "assert_equal":
        check(xp.asarray(INTS), xp.asarray(INTS))
        check(xp.asarray(F), xp.asarray(F))


def doubled(x: Any) -> Any:
    return x * 2


def test_lazy_functions_run_as_they_are(request: pytest.FixtureRequest) -> None:
    xpx.testing.lazy_xp_function(doubled)
    with xpx.testing.patch_lazy_xp_functions(request, xp=xp):
        assert_same(doubled(xp.asarray(INTS)), INTS * 2)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_at_keeps_small_integers(dtype: str) -> None:
    x, a = pair(dtype)
    a[1, :] += 1
    assert_same(xpx.at(x)[1, :].add(1), a)
