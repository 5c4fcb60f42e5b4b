"""Statistical functions, against NumPy over dtypes and layouts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers import (
    COMPLEX_FLOATING,
    DTYPES,
    INTEGERS,
    NUMERIC,
    assert_same,
    axes_of,
    both,
    pair,
    pairs,
    quietly,
    same,
)
from hypothesis import given
from hypothesis import strategies as st

import stride0 as xp

REDUCTIONS = ["sum", "prod", "max", "min", "mean", "var", "std"]


def axis_arguments(a):
    """All kinds of axis arguments, wrong ones too."""
    return (*axes_of(a), (), tuple(range(a.ndim)), *([(0, -1), (0, 0)] if a.ndim else []))


def tolerance(name, a):
    """How far roundings in another order may lead; NumPy adds up float32 in float32, stride0 in float64."""
    if name in ("max", "min") or (a.dtype.kind in "biu" and name in ("sum", "prod")):
        return 0.0
    return 2e-5 if a.dtype.name in ("float32", "complex64") else 1e-12


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions(name, dtype):
    for what, (x, a) in pairs([dtype]):
        if dtype in COMPLEX_FLOATING and name in ("max", "min"):
            with pytest.raises(TypeError, match="Unsupported dtype"):
                getattr(xp, name)(x)
            continue
        for axis in axis_arguments(a):
            for keepdims in (False, True):
                same(
                    lambda ns, v, k=axis, d=keepdims: getattr(ns, name)(v, axis=k, keepdims=d),
                    (x, a),
                    rtol=tolerance(name, a),
                    what=f"{what} {axis=} {keepdims=}",
                )


@pytest.mark.parametrize("name", ["sum", "max", "min", "mean"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_special_values(name, dtype):
    for what, (x, a) in pairs([dtype], special=True):
        for axis in (None, *range(a.ndim)):
            same(
                lambda ns, v, k=axis: getattr(ns, name)(v, axis=k),
                (x, a),
                rtol=tolerance("mean", a),
                what=what,
            )
    for special in ([1.0, np.nan], [np.nan, 1.0], [np.inf, -np.inf], [np.inf, 1.0], [-np.inf]):
        same(lambda ns, v: getattr(ns, name)(v), both(np.asarray(special, dtype)))


@pytest.mark.parametrize("name", ["max", "min"])
def test_nan_passes_wherever_it_is(name):
    for length in (1, 7, 33, 100):
        for place in {0, 1 % length, length // 2, length - 1}:
            a = np.linspace(-1, 1, length, dtype="float32")
            a[place] = np.nan
            assert math.isnan(float(getattr(xp, name)(xp.asarray(a))))


@pytest.mark.parametrize("name", ["sum", "prod", "cumulative_sum", "cumulative_prod"])
@pytest.mark.parametrize("dtype", NUMERIC)
def test_dtype(name, dtype):
    for source in DTYPES:
        x, a = pair(source)
        x, a = x[0, :3], a[0, :3]
        if source in COMPLEX_FLOATING and dtype not in COMPLEX_FLOATING:
            with pytest.raises(TypeError, match="cannot cast complex"):
                getattr(xp, name)(x, dtype=getattr(xp, dtype))
            continue
        if dtype in INTEGERS and a.dtype.kind == "f":
            x, a = xp.abs(x), np.abs(a)
        expected = quietly(lambda a=a: getattr(np, name)(a.astype(dtype), dtype=dtype))
        got = getattr(xp, name)(x, dtype=getattr(xp, dtype))
        assert_same(got, expected, 0.0 if dtype in INTEGERS else 1e-5, what=source)


def test_elements_are_cast_first():
    x = xp.full(300, 200, dtype=xp.uint8)
    assert int(xp.sum(x, dtype=xp.uint8)) == 60000 % 256
    assert int(xp.sum(x)) == 60000
    assert int(xp.sum(xp.asarray([1.5, 1.5]), dtype=xp.int64)) == 2


def test_float32_is_added_up_in_float64():
    a = np.full(10_000_000, 0.1, np.float32)
    exact = float(a[0]) * a.size
    assert float(xp.sum(xp.asarray(a))) == float(np.float32(exact))
    assert float(xp.mean(xp.asarray(a))) == float(a[0])
    top = np.full(4, 3e38, np.float32)
    assert math.isinf(float(xp.sum(xp.asarray(top))))
    # As in NumPy, PyTorch and JAX: SciPy's own tests ask for it.
    assert math.isinf(float(xp.mean(xp.asarray(top))))
    assert float(xp.mean(xp.asarray(top), dtype=xp.float64)) == float(top[0])


def test_nothing_to_reduce():
    x = xp.zeros((0, 3))
    assert_same(xp.sum(x), np.asarray(0.0))
    assert_same(xp.prod(x, axis=0), np.ones(3))
    assert_same(xp.mean(x, axis=0), np.full(3, np.nan))
    assert_same(xp.mean(xp.zeros(0, dtype=xp.complex64)), np.asarray(complex(np.nan, np.nan), np.complex64))
    assert_same(xp.var(x, axis=0), np.full(3, np.nan))
    assert_same(xp.std(x), np.asarray(np.nan))
    assert_same(xp.max(x, axis=1), np.zeros(0))
    assert_same(xp.sum(xp.zeros(0, dtype=xp.bool)), np.asarray(0))
    for name in ("max", "min"):
        for dtype in ("bool", "int8", "float32"):
            with pytest.raises(ValueError, match="axis 0 has no elements to choose from"):
                getattr(xp, name)(xp.zeros((0, 3), dtype=getattr(xp, dtype)), axis=0)
        same(lambda ns, v, name=name: getattr(ns, name)(v, axis=0), both(np.zeros((0, 0))))


@pytest.mark.parametrize("correction", [0, 1, 1.5, 2, -1, 2.999])
@pytest.mark.parametrize("dtype", ["int16", "float32", "float64", "complex64"])
def test_correction(dtype, correction):
    x, a = pair(dtype)
    for name in ("var", "std"):
        same(
            lambda ns, v, name=name: getattr(ns, name)(v, axis=0, correction=correction, keepdims=True),
            (x, a),
            rtol=tolerance(name, a),
        )


@pytest.mark.parametrize("correction", [3, 3.0, 4, 1e300, math.inf])
def test_too_large_a_correction_gives_nan(correction):
    # NumPy gives inf here; the standard says NaN.
    x = xp.asarray([1.0, 2.0, 4.0])
    assert math.isnan(float(xp.var(x, correction=correction)))
    assert math.isnan(float(xp.std(x, correction=correction)))


def test_variance_is_stable():
    a = np.asarray([1e9 + 1, 1e9 + 2, 1e9 + 3])
    assert float(xp.var(xp.asarray(a))) == pytest.approx(2 / 3, rel=1e-12)
    assert float(xp.var(xp.full(1000, 0.1, dtype=xp.float32))) == 0.0
    assert math.isnan(float(xp.var(xp.asarray([1.0, math.nan]))))
    assert math.isnan(float(xp.var(xp.asarray([1.0, math.inf]))))


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_cumulative(name, dtype):
    for what, (x, a) in pairs([dtype]):
        for axis in axes_of(a):
            for initial in (False, True):
                same(
                    lambda ns, v, k=axis, i=initial: getattr(ns, name)(v, axis=k, include_initial=i),
                    (x, a),
                    rtol=0.0 if a.dtype.kind in "biu" else tolerance("sum", a),
                    what=f"{what} {axis} {initial}",
                )


@pytest.mark.usefixtures("eagerly")
def test_cumulative_casts_need_no_memory():
    """An operand of another dtype is cast to where the result comes: as many blocks as without a cast."""

    def blocks(x):
        before = xp.memory.stats()
        found = xp.cumulative_sum(x, axis=1)
        after = xp.memory.stats()
        assert (np.asarray(found) == np.cumsum(np.asarray(x), axis=1, dtype=np.int64)).all()
        return after["allocations"] - before["allocations"]

    x = xp.reshape(xp.arange(10_000), (100, 100))
    y = xp.astype(x, xp.int32)
    assert blocks(y) == blocks(x) == 1


def test_cumulative_refuses():
    with pytest.raises(ValueError, match="axis must be given for an array with 2 axes"):
        xp.cumulative_sum(xp.zeros((2, 3)))
    with pytest.raises(TypeError):
        xp.cumulative_sum(xp.zeros(3), axis=(0,))
    with pytest.raises(TypeError, match="Unsupported dtype"):
        xp.cumulative_sum(xp.zeros(3), dtype=xp.bool)


def test_refuses():
    x = xp.zeros((2, 3))
    for name in REDUCTIONS:
        function = getattr(xp, name)
        with pytest.raises(ValueError, match="out of bounds"):
            function(x, axis=2)
        with pytest.raises(ValueError, match="more than once"):
            function(x, axis=(0, -2))
        for call in (
            lambda f=function: f(x, axis=0.5),
            lambda f=function: f(x, keepdims=None),
            lambda f=function: f(np.zeros(3)),
            lambda f=function: f([1, 2]),
            lambda f=function: f(3),
        ):
            with pytest.raises(TypeError):
                call()
    for correction in (None, "1", 1j, True):
        with pytest.raises(TypeError):
            xp.var(x, correction=correction)
    with pytest.raises(TypeError, match="Unsupported dtype"):
        xp.sum(x, dtype=xp.bool)


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=4).map(tuple),
    st.sampled_from(["sum", "prod", "max", "min"]),
    st.data(),
)
def test_any_shape_and_axes(shape, name, data):
    a = np.arange(int(np.prod(shape))).reshape(shape) % 7 - 3
    order = data.draw(st.permutations(range(len(shape))))
    steps = data.draw(st.lists(st.sampled_from([1, -1, 2]), min_size=len(shape), max_size=len(shape)))
    axis = data.draw(st.none() | st.lists(st.integers(0, len(shape) - 1), unique=True).map(tuple))
    index = tuple(slice(None, None, s) for s in steps)
    same(
        lambda ns, v: getattr(ns, name)(ns.permute_dims(v, tuple(order))[index], axis=axis),
        both(a),
        what=f"{order} {steps} {axis}",
    )
