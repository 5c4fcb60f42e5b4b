"""Functions beyond the standard, against NumPy's of the same names."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

import stride0 as xp
from stride0._compat import extras as _extras

NAN = float("nan")
SKIPPING = [name for name in _extras.__all__ if name.startswith("nan")]
SEARCHES = ("nanargmin", "nanargmax")
CUMULATIVE = ("nancumsum", "nancumprod")
ARRAYS = {
    "some": [[1.0, NAN, -3.0], [NAN, NAN, 2.5], [0.5, 4.0, NAN]],
    "none": [[1.0, 2.0], [3.0, -4.0]],
    "one row of nothing else": [[NAN, NAN], [1.0, 2.0]],
    "infinite": [[np.inf, NAN], [-np.inf, 2.0]],
    "integers": [[1, 2, 3], [4, 5, 6]],
    "booleans": [[True, False], [True, True]],
    "one axis": [3.0, NAN, 1.0],
}


def both(name: str, a: np.ndarray, **named: object) -> tuple[object, object]:
    """The results of NumPy's function and of ours, or their exceptions."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            wanted = getattr(np, name)(a, **named)
        except ValueError as error:
            wanted = type(error)
    try:
        found = getattr(xp, name)(xp.asarray(a), **named)
    except ValueError:
        found = ValueError
    return wanted, found


@pytest.mark.parametrize("name", SKIPPING)
@pytest.mark.parametrize("what", ARRAYS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_skipping_nan(name: str, what: str, dtype: str) -> None:
    a = np.asarray(ARRAYS[what])
    a = a.astype(dtype) if a.dtype.kind == "f" else a
    if a.dtype.kind == "b" and name in ("nanmin", "nanmax", "nanvar", "nanstd"):
        pytest.skip("NumPy has no such function of booleans")
    for axis in (None, *range(a.ndim)):
        wanted, found = both(name, a, axis=axis)
        if wanted is ValueError:
            assert found is ValueError
            continue
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-6 if dtype == "float32" else 1e-14)
        if name not in SEARCHES:
            assert np.asarray(found).dtype == np.asarray(wanted).dtype


@pytest.mark.parametrize("name", [name for name in SKIPPING if name not in CUMULATIVE])
def test_kept_axes(name: str) -> None:
    wanted, found = both(name, np.asarray(ARRAYS["some"]), axis=1, keepdims=True)
    np.testing.assert_allclose(np.asarray(found), wanted)


@pytest.mark.parametrize("name", ["nanvar", "nanstd"])
@pytest.mark.parametrize("ddof", [0, 1, 2, 5])
def test_degrees_of_freedom(name: str, ddof: int) -> None:
    for a in (np.asarray(ARRAYS["some"]), np.asarray([[1 + 2j, complex(NAN, 0)], [3j, 1.5]])):
        for axis in (None, 0, 1):
            wanted, found = both(name, a, axis=axis, ddof=ddof)
            np.testing.assert_allclose(np.asarray(found), wanted)


@pytest.mark.parametrize("name", ["nansum", "nanprod", "nanmean", "nanvar", "nancumsum"])
def test_dtypes(name: str) -> None:
    a = np.asarray([[1, 2], [3, 4]], dtype=np.int32)
    wanted, found = both(name, a, axis=0)
    np.testing.assert_allclose(np.asarray(found), wanted)
    assert getattr(xp, name)(xp.asarray(a), axis=0, dtype=xp.float32).dtype == xp.float32


def test_complex_sums() -> None:
    a = np.asarray([1 + 2j, complex(NAN, 1), complex(2, NAN)])
    for name in ("nansum", "nanprod", "nanmean"):
        wanted, found = both(name, a)
        np.testing.assert_allclose(np.asarray(found), wanted)


def test_gradients_leave_nan_out() -> None:
    x = xp.asarray([1.0, NAN, 3.0])
    assert xp.autograd.grad(xp.nansum)(x).tolist() == [1.0, 0.0, 1.0]
    assert xp.autograd.grad(xp.nanmean)(x).tolist() == [0.5, 0.0, 0.5]


@pytest.mark.parametrize("name", SKIPPING)
def test_other_arrays_are_refused(name: str) -> None:
    with pytest.raises(TypeError, match=name):
        getattr(xp, name)(np.ones(3))


@pytest.mark.parametrize("k", range(-4, 5))
@pytest.mark.parametrize("shape", [(3,), (0,), (3, 4), (4, 3), (0, 2)])
def test_diag(k: int, shape: tuple[int, ...]) -> None:
    a = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    found = xp.diag(xp.asarray(a), k=k)
    np.testing.assert_array_equal(np.asarray(found), np.diag(a, k=k), strict=True)


def test_diag_of_a_matrix_is_a_view() -> None:
    x = xp.zeros((3, 3))
    xp.diag(x)[...] = 1
    assert x.tolist() == np.eye(3).tolist()
    with pytest.raises(ValueError, match="neither a vector nor a matrix"):
        xp.diag(xp.ones((1, 1, 1)))


def test_logspace() -> None:
    for num, base, endpoint in itertools.product((0, 1, 2, 50), (10.0, 2, 0.5), (True, False)):
        found = xp.logspace(-1, 2.5, num, base=base, endpoint=endpoint)
        wanted = np.logspace(-1, 2.5, num, base=base, endpoint=endpoint)
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-15)
    assert xp.logspace(0, 2, 3).tolist() == [1.0, 10.0, 100.0] and xp.logspace(0, 1).shape == (50,)
    assert xp.logspace(0, 3, 4, base=2, dtype=xp.int16).tolist() == [1, 2, 4, 8]
    assert xp.logspace(0, 1j, 3).dtype == xp.complex128


def test_what_they_broadcast_themselves_is_not_guarded() -> None:
    x = xp.asarray(ARRAYS["some"])
    with xp.broadcasting("exact"):
        for name in SKIPPING:
            if name not in SEARCHES:
                getattr(xp, name)(x, axis=1)


def test_strict_mode_refuses_them() -> None:
    for name in _extras.__all__:
        with xp.strict(), pytest.raises(xp.StrictError, match=name):
            getattr(xp, name)(xp.ones(3))


@pytest.mark.parametrize("shape", [(5,), (6,), (3, 4), (2, 3, 5), (0, 3), (1,)])
@pytest.mark.parametrize("missing", [0.0, 0.3, 1.0])
def test_nanmedian(shape: tuple[int, ...], missing: float) -> None:
    rng = np.random.default_rng(11)
    a = np.where(rng.random(shape) < missing, NAN, np.round(rng.normal(size=shape), 1))
    axes: list[int | tuple[int, ...] | None] = [None, *range(-1, len(shape))]
    for axis, keepdims in itertools.product([*axes, tuple(range(len(shape)))], (False, True)):
        wanted, found = both("nanmedian", a, axis=axis, keepdims=keepdims)
        if 0 in shape and axis not in (None, tuple(range(len(shape)))):
            wanted = np.full(np.sum(a, axis=axis, keepdims=keepdims).shape, NAN)
        np.testing.assert_array_equal(np.asarray(found), wanted)


def test_nanmedian_of_large_and_of_complex_numbers() -> None:
    large = np.finfo("float64").max
    assert xp.nanmedian(xp.asarray([large, NAN, large, large])) == large
    assert xp.nanmedian(xp.asarray([1.0, np.inf, np.inf])) == np.inf
    with pytest.raises(xp.DTypeError, match="nanmedian"):
        xp.nanmedian(xp.ones(2, dtype=xp.complex64))
    x = xp.asarray([[5.0, NAN, 1.0], [2.0, 8.0, NAN]])
    assert xp.autograd.grad(xp.nanmedian)(x).tolist() == [[0.5, 0.0, 0.0], [0.5, 0.0, 0.0]]


@pytest.mark.parametrize(
    ("shape", "width", "value"),
    [
        ((3,), 2, 0),
        ((3,), (1, 2), 7),
        ((3,), [(1, 2)], [(5, 6)]),
        ((2, 3), 1, 0),
        ((2, 3), (0, 2), (1, 2)),
        ((2, 3), ((1, 0), (0, 2)), ((1, 2), (3, 4))),
        ((2, 3), [[0, 0], [0, 0]], 9),
        ((2, 3), ((1,), (2,)), 4),
        ((0, 3), 1, 8),
        ((2, 1, 2), ((1, 1), (0, 0), (2, 1)), ((1, 2), (3, 4), (5, 6))),
        ((), 3, 1),
    ],
)
@pytest.mark.parametrize("dtype", ["int16", "float32", "complex128", "bool"])
def test_pad(shape: tuple[int, ...], width: object, value: object, dtype: str) -> None:
    a = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    if dtype == "bool":
        value = True
    found = xp.pad(xp.asarray(a), width, constant_values=value)
    np.testing.assert_array_equal(np.asarray(found), np.pad(a, width, constant_values=value), strict=True)


def test_pad_gives_new_memory_and_gradients() -> None:
    x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    assert not xp.strided.shares_storage(xp.pad(x, 0), x)
    weights = xp.asarray(np.arange(20.0).reshape(4, 5))
    gradient = xp.autograd.grad(lambda x: xp.sum(xp.pad(x, ((1, 1), (2, 1)), constant_values=9.0) * weights))(
        x
    )
    assert gradient.tolist() == [[7.0, 8.0], [12.0, 13.0]]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"pad_width": 1, "mode": "edge"}, "unknown mode 'edge'"),
        ({"pad_width": -1}, "must not be negative"),
        ({"pad_width": ((1, 1), (1, 1), (1, 1))}, "a pair or 2 pairs"),
        ({"pad_width": ((1, 1, 1), (1, 1, 1))}, "a pair or 2 pairs"),
    ],
)
def test_pad_refuses(options: dict[str, object], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        xp.pad(xp.ones((2, 3)), **options)
    with pytest.raises(TypeError):
        xp.pad(xp.ones(3), 1.5)
    with pytest.raises(TypeError):
        xp.pad(np.ones(3), 1)
    with xp.strict(), pytest.raises(xp.StrictError):
        xp.pad(xp.ones(3), 1)
