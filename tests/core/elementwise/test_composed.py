"""Functions beyond a row of the table: `add(alpha=)`, `clip`, `real`, `imag`, `where`."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from helpers import COMPLEX_FLOATING, DTYPES, LAYOUTS, NUMERIC, REAL, assert_same, both, pair, quietly, same

import stride0 as xp
from stride0 import strided


@pytest.mark.parametrize("dtype", DTYPES)
def test_real_and_imag_are_views(dtype):
    for layout in LAYOUTS:
        x, a = pair(dtype, layout, special=True)
        if dtype in COMPLEX_FLOATING:
            for got, part in ((xp.real(x), a.real), (xp.imag(x), a.imag), (x.real, a.real), (x.imag, a.imag)):
                assert_same(got, part, what=layout)
                assert strided.shares_storage(got, x)
                assert strided.strides(got) == tuple(2 * step for step in strided.strides(x))
            continue
        with pytest.raises(TypeError, match="imag"):  # the standard: of complex numbers
            xp.imag(x)
        if dtype == "bool":
            with pytest.raises(TypeError, match="real"):
                xp.real(x)
        else:
            assert xp.real(x) is x


def test_writing_through_a_component():
    x = xp.asarray([1 + 2j, 3 + 4j])
    xp.imag(x)[1] = -1.0
    x.real[...] = x.imag
    assert_same(x, np.asarray([2 + 2j, -1 - 1j]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_clip(dtype):
    for layout in LAYOUTS:
        x, low, high = pair(dtype, layout, True), pair(dtype, layout), pair(dtype, "0-d", True)
        for least, most in (
            (low, high),
            (high, low),
            (low, None),
            (None, low),
            (low, 2),
            (0, high),
            (None, None),
        ):
            operands = [v if isinstance(v, tuple) else (v, v) for v in (x, least, most)]
            got_of, expected_of = zip(*operands, strict=True)
            if dtype == "bool" and (least is most is None or any(type(v) is int for v in (least, most))):
                continue  # below
            if dtype not in (*REAL, "bool"):  # refused in every form; NumPy accepts complex numbers
                with pytest.raises(TypeError, match="clip"):
                    xp.clip(*got_of)
                continue
            got, expected = xp.clip(*got_of), quietly(np.clip, *expected_of)
            assert not got.size or not strided.shares_storage(got, x[0])
            zero = np.zeros((), dtype)  # adding zero makes both zeros equal
            assert_same(got + xp.asarray(zero), expected + zero, what=f"{layout} {least} {most}")


def test_clip_of_bool():
    for least, most in ((0, 1), (1, None), (None, 0), (0.25, 0.5), (False, True), (True, None), (None, True)):
        same(lambda ns, x, least=least, most=most: ns.clip(x, least, most), pair("bool"))
    same(lambda ns, x, y, z: ns.clip(x, y, z), pair("bool"), pair("int8"), pair("float32", "0-d"))
    assert xp.clip(xp.asarray([True, False])).tolist() == [True, False]
    with xp.strict(), pytest.raises(xp.StrictError, match="clip"):
        xp.clip(xp.asarray([True]), False, True)


def test_clip_mixes_dtypes():
    for first, second, third in itertools.product(
        ["int8", "uint16", "int64", "float32", "float64"], repeat=3
    ):
        same(lambda ns, x, y, z: ns.clip(x, y, z), pair(first), pair(second), pair(third, "0-d"))
    same(lambda ns, x: ns.clip(x, 0.5, 2), pair("int8"))
    same(lambda ns, x: ns.clip(x, max=3), pair("uint8"))
    for bounds in ((-1, 5), (0, 256), (None, 1000), (-1, None)):  # out of range, like any Python scalar
        with pytest.raises(OverflowError, match="clip"):
            xp.clip(pair("uint8")[0], *bounds)
    with pytest.raises(TypeError, match="clip"):
        xp.clip(pair("int8")[0], 1j)
    with pytest.raises(xp.BroadcastError, match="clip"):
        xp.clip(pair("int8")[0], xp.ones(5, dtype=xp.int8), 3)


@pytest.mark.parametrize("dtype", NUMERIC)
def test_add_with_alpha(dtype):
    for layout in LAYOUTS:
        (x, a), (y, b) = pair(dtype, layout, special=True), pair(dtype, layout)
        for alpha in (3, 1, 0, True, 2.5, xp.asarray(2, dtype=xp.int8), xp.asarray(0.5, dtype=xp.float32)):
            factor = np.asarray(alpha) if isinstance(alpha, xp.Array) else alpha
            if dtype in COMPLEX_FLOATING and not (np.isfinite(b) & np.isfinite(a)).all():
                continue  # the value of 2 * (1 + inf j) is undefined
            expected = quietly(lambda u, v, f: u + f * v.astype(np.result_type(u, f)), a, b, factor)
            what = f"{layout} {alpha}"
            if dtype == "complex64":  # computed in double, rounded once
                np.testing.assert_allclose(
                    np.asarray(xp.add(x, y, alpha=alpha)), expected, 1e-6, err_msg=what
                )
            else:
                assert_same(xp.add(x, y, alpha=alpha), expected, what=what)


def test_add_with_alpha_broadcasts_and_refuses():
    x, y, alpha = both(np.ones((3, 1))), both(np.arange(4.0)), both(np.arange(2.0).reshape(2, 1, 1))
    assert_same(xp.add(x[0], y[0], alpha=alpha[0]), x[1] + alpha[1] * y[1])
    assert_same(xp.add(x[0], y[0], alpha=-0.5), x[1] - 0.5 * y[1])
    with pytest.raises(OverflowError, match="add"):
        xp.add(xp.ones(2, dtype=xp.int8), xp.ones(2, dtype=xp.int8), alpha=1000)
    with pytest.raises(xp.BroadcastError, match="add"):
        xp.add(y[0], y[0], alpha=xp.ones(3))
    with pytest.raises(xp.ForeignArrayError, match="alpha"):
        xp.add(y[0], y[0], alpha="2")
    with pytest.raises(TypeError):
        xp.add(y[0], y[0], 2)


@pytest.mark.parametrize("first", DTYPES)
def test_where(first):
    for layout in LAYOUTS:
        condition, x = pair("bool", layout), pair(first, layout, special=True)
        for second in DTYPES:
            same(
                lambda ns, c, v, w: ns.where(c, v, w),
                condition,
                x,
                pair(second, layout),
                what=f"{second} {layout}",
            )
        for scalar in (True, 3, 2.5, 1j):
            same(lambda ns, c, v, s=scalar: ns.where(c, v, s), condition, x, what=f"{scalar} {layout}")
            same(lambda ns, c, v, s=scalar: ns.where(c, s, v), condition, x, what=f"{scalar} {layout}")


def test_where_of_scalars_and_what_it_refuses():
    condition = pair("bool")
    for one, two in ((1, 2), (True, 2.0), (1j, False)):
        same(lambda ns, c, v=one, w=two: ns.where(c, v, w), condition)
    x = xp.ones(3, dtype=xp.int8)
    with pytest.raises(TypeError, match="where"):
        xp.where(x, x, x)
    with pytest.raises(OverflowError, match="where"):
        xp.where(x > 0, x, 300)
    with pytest.raises(xp.BroadcastError, match="where"):
        xp.where(x > 0, x, xp.ones(2))
    for arguments in ((np.ones(3, bool), x, x), (x > 0, np.ones(3), x), (x > 0, x, [1, 2, 3])):
        with pytest.raises(xp.ForeignArrayError, match="where"):
            xp.where(*arguments)
