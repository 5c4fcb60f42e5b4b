"""Texts of errors: singular and plural, and the names by which functions were called."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0._base.errors import counted

ONE = xp.ones(1)
PAIR = xp.ones(2)
BOOLS = xp.ones((2,), dtype=xp.bool)


def test_counted():
    assert [counted(n, "axis", "axes") for n in (0, 1, 2)] == ["0 axes", "1 axis", "2 axes"]
    assert [counted(n, "element") for n in (-1, 1, 10**6)] == ["-1 elements", "1 element", "1000000 elements"]


COUNTS: list[tuple[Callable[[], Any], str]] = [
    (lambda: PAIR[0, 0], "index: 2 indices for an array of 1 axis"),
    (lambda: xp.ones(())[0], "index: 1 index for an array of 0 axes"),
    (lambda: operator.setitem(PAIR, (0, 0), 1), "index: 2 indices for an array of 1 axis"),
    (lambda: PAIR.item(0, 0), "item: 2 indices for 1 axis"),
    (lambda: PAIR.T, "T: the array has 1 axis"),
    (lambda: PAIR.mT, "mT: the array has 1 axis"),
    (lambda: xp.sum(PAIR, axis=1), "sum: axis 1 is out of bounds for array with 1 axis"),
    (lambda: xp.permute_dims(PAIR, ()), "permute_dims: axes must name each axis of x once"),
    (lambda: xp.reshape(ONE, (2, -1)), "reshape: 1 element cannot be divided into rows of 2"),
    (lambda: xp.reshape(ONE, (2,)), "reshape: 1 element does not fill a shape of 2"),
    (lambda: xp.reshape(PAIR, (3,)), "reshape: 2 elements do not fill a shape of 3"),
    (
        lambda: xp.tensordot(PAIR, PAIR, axes=((0,), ())),
        "tensordot: 1 axis of x1 and 0 of x2 cannot be paired",
    ),
    (lambda: xp.tensordot(xp.ones(()), PAIR, axes=1), "tensordot: there are fewer than 1 axis to sum along"),
    (lambda: xp.linalg.solve(xp.ones((1, 1)), PAIR), "solve: x1 has 1 equation and x2 has 2 rows"),
    (lambda: xp.linalg.solve(xp.ones((2, 2)), ONE), "solve: x1 has 2 equations and x2 has 1 row"),
    (lambda: xp.linalg.solve(xp.ones((2, 2)), xp.ones(())), "solve: x1 has 2 equations and x2 has no rows"),
    (
        lambda: xp.searchsorted(ONE, ONE, sorter=xp.asarray([1])),
        "searchsorted: index 1 in sorter is out of bounds for 1 element",
    ),
    (
        lambda: xp.take_along_axis(xp.ones((2, 2)), xp.asarray([0])),
        "take_along_axis: indices have 1 axis, the array has 2",
    ),
    (lambda: xp.pad(PAIR, (1, 2, 3)), "pad: pad_width has to be a number, a pair or 1 pair"),
    (lambda: xp.strided.as_strided(PAIR, (1,), (1, 1)), "as_strided: 1 size and 2 strides"),
    (lambda: xp.explain(PAIR, op="add"), "explain: 1 operand for add"),
    (lambda: xp.ones((), dtype=xp.int16).view(xp.int8), "to 1 byte"),
    (
        lambda: xp.ones(1, dtype=xp.int8).view(xp.int16),
        "1 byte along the last axis cannot be elements of 2 bytes",
    ),
    (lambda: xp.asarray(memoryview(b"1").cast("c")), "Unsupported dtype (buffer format 'c', 1 byte)"),
    (lambda: PAIR.exp(1), "Array.exp: 1 argument by position"),
]


@pytest.mark.parametrize("call, text", COUNTS, ids=[text for _, text in COUNTS])
def test_one_of_a_thing(call, text):
    with pytest.raises((ValueError, TypeError, IndexError), match=re.escape(text)):
        call()


def test_one_of_a_thing_in_strict_mode():
    with xp.strict(), pytest.raises(xp.StrictError, match="1 index for an array of 2 axes"):
        xp.ones((2, 2))[0]
    with xp.strict(), pytest.raises(xp.StrictError, match="0 indices for an array of 1 axis"):
        PAIR[()]


BYTES = xp.ones((2, 3), dtype=xp.uint8)
# The largest shape, on one element.
VAST = xp.broadcast_to(xp.zeros((1, 0)), (2**40, 0))

OWN_NAMES: list[tuple[str, type[Exception], Callable[[], Any]]] = [
    ("pad: Python integer 300", OverflowError, lambda: xp.pad(BYTES, 1, constant_values=300)),
    ("pad: Python integer -1", OverflowError, lambda: xp.pad(BYTES, 1, constant_values=(0, -1))),
    ("pad: constant_values must be a number", TypeError, lambda: xp.pad(BYTES, 1, constant_values="a")),
    ("pad: constant_values must be one number", ValueError, lambda: xp.pad(BYTES, 1, constant_values=PAIR)),
    ("pad: cannot cast a complex number", TypeError, lambda: xp.pad(PAIR, 1, constant_values=1j)),
    ("pad: cannot cast complex", TypeError, lambda: xp.pad(PAIR, 1, constant_values=xp.asarray(1j))),
    ("pad: the shape has too many elements", ValueError, lambda: xp.pad(BYTES, 2**62)),
    ("pad: the shape has too many elements", ValueError, lambda: xp.pad(PAIR, (0, 2**70))),
    ("pad: pad_width must be an integer", TypeError, lambda: xp.pad(PAIR, 1.5)),
    ("tensordot: the shape has too many", ValueError, lambda: xp.tensordot(VAST, VAST, axes=0)),
    ("tensordot: 80 axes are too many", ValueError, lambda: xp.tensordot(*[xp.ones((1,) * 40)] * 2, axes=0)),
    (
        "tensordot: the shape has too many",
        ValueError,
        lambda: xp.tensordot(*[xp.astype(VAST, xp.bool)] * 2, axes=0),
    ),
    ("tensordot: axis 0 of x1 has size 2", ValueError, lambda: xp.tensordot(PAIR, ONE, axes=1)),
    ("tensordot: axis 0 of x1 has size 2", ValueError, lambda: xp.tensordot(BOOLS, BOOLS[:1], axes=1)),
]


@pytest.mark.parametrize("text, kind, call", OWN_NAMES)
def test_errors_name_the_function_that_was_called(text, kind, call):
    with pytest.raises(kind, match="^" + re.escape(text)):
        call()


def test_values_that_pad_takes_as_before():
    for value in (7, 2.5, True, xp.asarray(3), np.float32(2.0)):
        found = xp.pad(BYTES, ((0, 1), (2, 0)), constant_values=value)
        expected = np.pad(np.asarray(BYTES), ((0, 1), (2, 0)), constant_values=np.uint8(float(value)))
        np.testing.assert_array_equal(np.asarray(found), expected, strict=True)
    # A value that is written to no element is not checked.
    assert xp.pad(BYTES, 0, constant_values=300).shape == (2, 3)
    gradient = xp.autograd.grad(lambda v: xp.sum(xp.pad(xp.ones(3), (1, 2), constant_values=v)))
    assert float(gradient(xp.asarray(2.0))) == 3.0
