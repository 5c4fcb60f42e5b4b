"""Utility functions, against NumPy over dtypes and layouts."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import DTYPES, assert_same, axes_of, both, pairs, same
from hypothesis import given
from hypothesis import strategies as st

import stride0 as xp
from stride0 import strided


@pytest.mark.parametrize("name", ["all", "any"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_all_any(name, dtype):
    for special in (False, True):
        for what, (x, a) in pairs([dtype], special):
            for axis in (*axes_of(a), (), tuple(range(a.ndim))):
                for keepdims in (False, True):
                    same(
                        lambda ns, v, k=axis, d=keepdims: getattr(ns, name)(v, axis=k, keepdims=d),
                        (x, a),
                        what=f"{what} {axis=} {keepdims=}",
                    )


@pytest.mark.parametrize("name", ["all", "any"])
def test_truth(name):
    for numbers in (
        [],
        [0.0],
        [-0.0],
        [np.nan],
        [np.inf, 0],
        [0.5, -1],
        [1j],
        [complex(0, np.nan), 0],
        [256],
        [True],
    ):
        same(lambda ns, v: getattr(ns, name)(v), both(np.asarray(numbers)))


@given(st.lists(st.booleans(), max_size=300), st.sampled_from([1, -1, 2, 3]))
def test_all_any_of_any_length(flags, step):
    for name in ("all", "any"):
        same(lambda ns, v, name=name: getattr(ns, name)(v[::step]), both(np.asarray(flags, bool)))


def test_all_any_refuse():
    for function in (xp.all, xp.any):
        with pytest.raises(IndexError):
            function(xp.zeros(2), axis=1)
        for call in (
            lambda f=function: f([True]),
            lambda f=function: f(xp.zeros(2), axis=0.0),
            lambda f=function: f(xp.zeros(2), keepdims=1),
        ):
            with pytest.raises(TypeError):
                call()


@pytest.mark.parametrize("dtype", DTYPES)
def test_diff(dtype):
    for what, (x, a) in pairs([dtype]):
        for axis in range(-a.ndim - 1, a.ndim + 1):
            for n in (0, 1, 2, 5, 9):
                if not 0 <= axis + a.ndim < 2 * a.ndim and n == 0:
                    continue  # then NumPy does not check the axis
                same(lambda ns, v, k=axis, n=n: ns.diff(v, axis=k, n=n), (x, a), what=f"{what} {axis} {n}")


def test_diff_with_ends():
    x, a = both(np.arange(12.0).reshape(3, 4) ** 2)
    for axis in (0, 1, -1):
        front, back = (
            both(np.ones((2, 4) if axis == 0 else (3, 2))),
            both(np.zeros((1, 4) if axis == 0 else (3, 1))),
        )
        same(lambda ns, v, p, q, k=axis: ns.diff(v, axis=k, prepend=p, append=q), (x, a), front, back)
        same(lambda ns, v, p, k=axis: ns.diff(v, axis=k, prepend=p, n=2), (x, a), front)
        same(lambda ns, v, q, k=axis: ns.diff(v, axis=k, append=q), (x, a), back)
    # with n=0 the ends are joined too: the standard gives the size as M + N1 + N2 - n
    assert_same(xp.diff(x, n=0, prepend=x, axis=0), np.concat([a, a]))
    assert_same(xp.diff(xp.zeros(0), append=xp.asarray([1.0, 3.0])), np.asarray([2.0]))


def test_diff_wraps_and_copies():
    same(lambda ns, v: ns.diff(v), both(np.asarray([3, 1, 255], "uint8")))
    same(lambda ns, v: ns.diff(v), both([np.inf, np.inf, np.nan, 1]))
    x = xp.arange(3)
    assert not strided.shares_storage(xp.diff(x, n=0), x)


def test_diff_refuses():
    x = xp.zeros((2, 3))
    with pytest.raises(ValueError, match="n must not be negative"):
        xp.diff(x, n=-1)
    with pytest.raises(IndexError):
        xp.diff(xp.zeros(()))
    for shape in ((3,), (3, 3), ()):
        with pytest.raises(ValueError, match="diff: append does not fit x"):
            xp.diff(x, append=xp.zeros(shape))
    for call in (
        lambda: xp.diff([1, 2]),
        lambda: xp.diff(x, prepend=1),
        lambda: xp.diff(x, n=1.0),
        lambda: xp.diff(x, axis=None),
    ):
        with pytest.raises(TypeError):
            call()
