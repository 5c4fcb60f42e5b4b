"""Searching functions, against NumPy over dtypes and layouts."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import COMPLEX_FLOATING, DTYPES, axes_of, both, pair, pairs, same
from hypothesis import given
from hypothesis import strategies as st

import stride0 as xp


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_argmax_argmin(name, dtype):
    for special in (False, True):
        for what, (x, a) in pairs([dtype], special):
            if dtype in COMPLEX_FLOATING:
                with pytest.raises(TypeError, match="Unsupported dtype"):
                    getattr(xp, name)(x)
                continue
            for axis in axes_of(a):
                for keepdims in (False, True):
                    same(
                        lambda ns, v, k=axis, d=keepdims: getattr(ns, name)(v, axis=k, keepdims=d),
                        (x, a),
                        what=f"{what} {axis=} {keepdims=}",
                    )


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_first_of_equal_ones(name):
    same(lambda ns, v: getattr(ns, name)(v), both([3, 1, 3, 1, 3, 1]))
    same(lambda ns, v: getattr(ns, name)(v), both([0.0, -0.0, 0.0]))
    same(lambda ns, v: getattr(ns, name)(v), both([1.0, np.nan, 2.0, np.nan]))
    same(lambda ns, v: getattr(ns, name)(v), both(np.full(100, -np.inf)))
    same(lambda ns, v: getattr(ns, name)(v, axis=0), both(np.zeros((50, 3), "int8")))


def test_argmax_counts_in_c_order():
    x = xp.reshape(xp.asarray([0, 1, 2, 9, 4, 5]), (2, 3))
    assert int(xp.argmax(x)) == 3
    assert int(xp.argmax(x.T)) == 1
    assert int(xp.argmax(xp.flip(x))) == 2
    assert xp.argmax(x.T, keepdims=True).shape == (1, 1)


def test_argmax_refuses():
    for name in ("argmax", "argmin"):
        function = getattr(xp, name)
        for shape, axis in (((0,), None), ((0,), 0), ((0, 2), 0), ((2, 0), None)):
            with pytest.raises(ValueError, match="no elements to choose from"):
                function(xp.zeros(shape), axis=axis)
        assert function(xp.zeros((0, 2)), axis=1).shape == (0,)
        with pytest.raises(IndexError):
            function(xp.zeros(()), axis=0)
        for call in (
            lambda f=function: f(xp.zeros(2), axis=(0,)),
            lambda f=function: f(np.zeros(2)),
            lambda f=function: f(xp.zeros(2), keepdims=1),
        ):
            with pytest.raises(TypeError):
                call()


@pytest.mark.parametrize("dtype", DTYPES)
def test_count_nonzero(dtype):
    for what, (x, a) in pairs([dtype], special=True):
        for axis in (*axes_of(a), tuple(range(a.ndim))):
            for keepdims in (False, True):
                same(
                    lambda ns, v, k=axis, d=keepdims: ns.asarray(ns.count_nonzero(v, axis=k, keepdims=d)),
                    (x, a),
                    what=f"{what} {axis=} {keepdims=}",
                )


def test_count_nonzero_without_axes():
    assert np.asarray(xp.count_nonzero(xp.asarray([0.0, 0.5, -0.0, np.nan]), axis=())).tolist() == [
        0,
        1,
        0,
        1,
    ]


@pytest.mark.parametrize("dtype", DTYPES)
def test_nonzero(dtype):
    for what, (x, a) in pairs([dtype], special=True):
        same(lambda ns, v: ns.nonzero(v), (x, a), what=what)


def test_nonzero_of_special_values():
    same(lambda ns, v: ns.nonzero(v), both([0.0, -0.0, np.nan, 5e-324, np.inf]))
    same(lambda ns, v: ns.nonzero(v), both([0, 1j, complex(0, np.nan), complex(-0.0, -0.0), 1]))
    same(lambda ns, v: ns.nonzero(v), both(np.zeros((0, 3))))
    with pytest.raises(ValueError, match="at least one axis"):
        xp.nonzero(pair("int8", "0-d")[0])
    with pytest.raises(TypeError):
        xp.nonzero([0, 1])


@given(st.lists(st.booleans(), max_size=200), st.integers(1, 3))
def test_nonzero_of_any_length(flags, step):
    same(lambda ns, v: ns.nonzero(v[::-step]), both(np.asarray(flags, bool)))
