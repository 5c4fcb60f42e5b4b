"""Operands of elementwise functions: promotion, scalars, broadcasting, memory order, length."""

from __future__ import annotations

import itertools
import math
import operator

import numpy as np
import pytest
from helpers import (
    COMPLEX_FLOATING,
    DTYPES,
    FLOATING,
    INTEGERS,
    LAYOUTS,
    REAL,
    assert_same,
    both,
    function_of,
    pair,
    quietly,
    same,
    values,
)
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

import stride0 as xp
from stride0 import strided
from stride0._tables import operations
from stride0.testing import flags

PYTHON = {
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}


# -- mixed dtypes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", DTYPES)
def test_promotion(first):
    for second in DTYPES:
        for layout in ("C", "transposed", "negative", "broadcast", "0-d", "size 0"):
            operands = pair(first, layout), pair(second, layout)
            for name in ("add", "equal", "not_equal", "multiply", "less_equal"):
                if name in ("multiply", "less_equal") and {first, second} & set(COMPLEX_FLOATING):
                    continue  # NumPy differs in last bits and in the order of complex numbers
                what = f"{name} {first} {second} {layout}"
                same(lambda ns, v, w, f=name: getattr(ns, f)(v, w), *operands, what=what)
            assert xp.add(operands[0][0], operands[1][0]).dtype.name == np.promote_types(first, second).name


@pytest.mark.parametrize("name", PYTHON)
def test_comparing_signed_with_unsigned(name):
    """Compared by value, although int64 and uint64 promote to float64, which cannot hold all of either."""
    signed, unsigned = [-1, 0, 2**63 - 1, -(2**63), 2**53 + 1], [0, 1, 2**63, 2**64 - 1, 2**53]
    pairs = list(itertools.product(signed, unsigned))
    x, y = xp.asarray([v for v, _ in pairs]), xp.asarray([w for _, w in pairs], dtype=xp.uint64)
    function = getattr(xp, name)
    assert_same(function(x, y), np.asarray([PYTHON[name](v, w) for v, w in pairs]))
    assert_same(function(y, x), np.asarray([PYTHON[name](w, v) for v, w in pairs]))
    for small in ("int8", "int32", "int64"):
        for layout in LAYOUTS:
            x, y = pair(small, layout, special=True), pair("uint64", layout, special=True)
            zero = pair("uint64", "0-d")
            for operands in ((x, y), (y, x), (x, zero), (zero, x)):
                same(lambda ns, v, w: getattr(ns, name)(v, w), *operands, what=f"{small} {layout}")
    with pytest.raises(xp.BroadcastError, match=rf"{name}: operands could not be broadcast"):
        function(xp.ones((2, 3), dtype=xp.int8), xp.ones((2, 4), dtype=xp.uint64))


# -- Python scalars are weak ---------------------------------------------------------------------------------

SCALARS = [True, False, 0, 3, -1, 127, 128, 255, 256, -129, 2**31, 2**63 - 1, 2**63, 2**64]
SCALARS += [-(2**63) - 1, 10**400, 1.5, -0.0, math.inf, -math.inf, math.nan, 1e300, 1 + 2j, complex(0, -3)]

SCALAR_ROWS = [
    *PYTHON,
    "add",
    "subtract",
    "multiply",
    "divide",
    "maximum",
    "minimum",
    "floor_divide",
    "remainder",
]
SCALAR_ROWS += ["bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"]
SCALAR_ROWS += ["logical_and", "logical_or", "logical_xor"]
SHIFTS = ("bitwise_left_shift", "bitwise_right_shift")


def is_comparable(name, a, scalar):
    """Whether NumPy's result is stride0's, bit for bit; the reasons are those of test_elementwise.py."""
    if name.startswith("logical") and type(scalar) is int and not 0 <= scalar < 100:
        return False  # test_logical_functions_take_truth_values
    if isinstance(scalar, complex) or a.dtype.kind == "c":
        return name in ("add", "subtract", "equal", "not_equal", "logical_and", "logical_or", "logical_xor")
    if name == "floor_divide":
        return bool(np.isfinite(a).all()) and (type(scalar) is int or abs(scalar) < 2**31)
    return name not in ("maximum", "minimum") or scalar != 0


def scalar_expectation(name, a, scalar, reflected):
    fits = True
    if type(scalar) is int:
        # Quotients are floats for every integer dtype.
        whole = a.dtype.kind in "biu" and name != "divide"
        info = np.iinfo(a.dtype if a.dtype.kind in "iu" else "int64") if whole else None
        fits = info.min <= scalar <= info.max if info else abs(scalar) < 10**308
    if not fits and name in PYTHON:
        # Correct for every dtype; NumPy refuses such comparisons with bool and floating dtypes.
        out = [PYTHON[name](*((scalar, v) if reflected else (v, scalar))) for v in a.reshape(-1).tolist()]
        return np.asarray(out, dtype=bool).reshape(a.shape)
    if not fits:
        # The scalar becomes an element of the array's dtype.
        raise TypeError(name) if name.startswith("bitwise") and a.dtype.kind == "f" else OverflowError(name)
    if a.dtype == bool and type(scalar) is bool and name in ("floor_divide", "remainder", *SHIFTS):
        raise TypeError(name)
    if name == "divide" and a.dtype.kind in "biu" and type(scalar) is int:
        a, scalar = a.astype(np.float64), float(scalar)
    return getattr(np, name)(*((scalar, a) if reflected else (a, scalar)))


@pytest.mark.parametrize("name", SCALAR_ROWS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_python_scalars(dtype, name):
    for layout in ("C", "sliced", "0-d", "size 0"):
        x, a = pair(dtype, layout, special=dtype in FLOATING)
        for scalar, reflected in itertools.product(SCALARS, (False, True)):
            if not is_comparable(name, a, scalar):
                continue
            what = f"{name} {dtype} {layout} {str(scalar)[:30]} {reflected=}"
            operands = (scalar, x) if reflected else (x, scalar)
            try:
                expected = quietly(scalar_expectation, name, a, scalar, reflected)
            except (TypeError, OverflowError) as error:
                with pytest.raises(
                    OverflowError if isinstance(error, OverflowError) else TypeError, match=name
                ):
                    getattr(xp, name)(*operands)
                continue
            assert_same(getattr(xp, name)(*operands), expected, what=what)


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
def test_logical_functions_take_truth_values(name):
    """Also with numbers that the dtype cannot hold, or raise; the standard requires bool only."""
    for dtype in DTYPES:
        x, a = pair(dtype)
        for scalar in (300, -1, 2**64, 10**400):
            try:
                got = getattr(xp, name)(x, scalar)
            except OverflowError:
                continue
            assert_same(got, getattr(np, name)(a, True), what=f"{dtype} {scalar}")


@pytest.mark.parametrize("dtype", DTYPES)
def test_powers_of_python_scalars(dtype):
    x, a = pair(dtype)
    for exponent in (2, 0, 1, 3, True):
        if dtype in INTEGERS:
            assert_same(x**exponent, a**exponent, what=f"{exponent}")
    if dtype in REAL and dtype in FLOATING:
        assert_same(x**2, a * a)
    if dtype in INTEGERS:
        with pytest.raises((ValueError, OverflowError), match="pow"):
            xp.pow(x, -1)
        assert_same(xp.abs(x) ** 0.0, np.ones(a.shape))
        small = xp.astype(xp.remainder(x, 5), xp.int8)
        assert_same(2**small, 2 ** np.asarray(small))
        with pytest.raises(ValueError, match="pow"):
            xp.pow(2, small - 5)


def test_negative_exponents_of_no_elements():
    """An empty array raises nothing to a power, so there is nothing to refuse."""
    for base, exponent in (((0,), (1,)), ((0, 3), (3,)), ((0,), ())):
        same(
            lambda ns, x, y: ns.pow(x, -ns.astype(y, ns.int8)),
            both(np.ones(base, "int8")),
            both(np.ones(exponent)),
        )
    same(lambda ns, x: x**-1, both(np.ones((2, 0), "int16")))


SCALARS = (True, False, 0, 3, -2, 0.5, -1.5, math.inf, 2.0 - 1j)
FUNCTIONS = {op.qualified: op for op in operations.OPS if op.public}


def result_of(call):
    """The elements and dtype that a call returns, or the type of its exception."""
    try:
        out = call()
    except Exception as error:
        return type(error)
    assert isinstance(out, xp.Array) and out.shape == ()
    return out.dtype, np.asarray(out).tobytes()


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_python_scalars_alone(name):
    """Outside strict mode they act as arrays of their default dtypes."""
    function, nin = function_of(FUNCTIONS[name]), FUNCTIONS[name].nin
    taken = 0
    for operands in itertools.product(SCALARS, repeat=nin):
        found = result_of(lambda operands=operands: function(*operands))
        assert found == result_of(lambda operands=operands: function(*map(xp.asarray, operands))), operands
        taken += isinstance(found, tuple)
        wrong = "the function is called" if FUNCTIONS[name].namespace else "x.* Python"
        with xp.strict(), pytest.raises(xp.StrictError, match=f"{name}: {wrong}"):
            function(*operands)
    assert taken


def test_python_scalars_alone_in_functions_of_three():
    for operands in itertools.product((True, 3, 0.5), repeat=3):
        wanted = result_of(
            lambda o=operands: xp.add(xp.asarray(o[0]), xp.asarray(o[1]), alpha=xp.asarray(o[2]))
        )
        assert result_of(lambda o=operands: xp.add(o[0], o[1], alpha=o[2])) == wanted
    assert result_of(lambda: xp.clip(5, 0, 3.5)) == result_of(lambda: xp.clip(xp.asarray(5), 0, 3.5))
    assert result_of(lambda: xp.where(True, 1, 2.5)) == (xp.float64, np.float64(1).tobytes())


def test_python_scalars_alone_take_the_defaults_of_a_test_configuration():
    with flags(default_float="float32", default_int="int32", devices=("gpu", "cpu")):
        for out, dtype in ((xp.sqrt(2.0), xp.float32), (xp.sqrt(2), xp.float32), (xp.add(1, 2), xp.int32)):
            assert out.dtype is dtype and out.device.name == "gpu"


def test_python_scalars_alone_have_bounds():
    for call in (xp.negative, xp.sin, lambda x: xp.add(x, 1), lambda x: xp.equal(1, x)):
        with pytest.raises(xp.RangeError, match="out of bounds for int64"):
            call(2**63)


def test_functions_need_an_array():
    for value in ("1", None, [1], (1,), object(), np.ones(1)):
        for call in (
            lambda v: xp.add(v, xp.ones(1)),
            lambda v: xp.add(xp.ones(1), v),
            xp.exp,
            xp.clip,
            xp.real,
        ):
            with pytest.raises(xp.ForeignArrayError, match="is of type"):
                call(value)


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_scalars(dtype):
    """They act as 0-d arrays whose dtype counts, but are weak where they inherit from Python's numbers.

    NumPy lets float64 and complex128 scalars count too (docs/design/interop.md has the rule of stride0).
    """
    x, a = pair(dtype)
    for other in DTYPES:
        scalar = values(other)[1, 1]
        same_to_numpy = scalar.item() if isinstance(scalar, (float, complex)) else scalar
        for name in ("add", "equal"):
            function, reference = getattr(xp, name), getattr(np, name)
            assert_same(function(x, scalar), reference(a, same_to_numpy), what=f"{name} {other}")
            assert_same(function(scalar, x), reference(same_to_numpy, a), what=f"{name} {other}")
    for unsupported in (
        np.longdouble(1),
        np.str_("1"),
        np.datetime64("2020"),
        np.timedelta64(1, "s"),
    ):
        with pytest.raises(TypeError, match="Unsupported"):
            xp.add(x, unsupported)


# -- broadcasting --------------------------------------------------------------------------------------------


@st.composite
def shapes(draw, count):
    """Shapes of up to five axes that broadcast, or nearly do."""
    full = draw(st.lists(st.sampled_from([0, 1, 2, 3, 4, 7]), max_size=5).map(tuple))
    out = []
    for _ in range(count):
        shape = [draw(st.sampled_from([n, n, 1])) for n in full]
        if shape and draw(st.integers(0, 11)) == 0:
            shape[draw(st.integers(0, len(shape) - 1))] += 1
        out.append(tuple(shape[draw(st.integers(0, len(shape))) if draw(st.booleans()) else 0 :]))
    return out


def numbered(shape, dtype, order):
    """Consecutive numbers in a shape, their axes in memory in some order, as a pair."""
    turn = sorted(range(len(shape)), key=lambda axis: (order >> axis) & 1)
    back = tuple(np.argsort(np.asarray(turn, dtype=int)).tolist())
    base = np.arange(math.prod(shape)).reshape([shape[axis] for axis in turn]).astype(dtype)
    return xp.permute_dims(xp.asarray(base, copy=True), back), np.transpose(base, back)


@examples(300)
@given(
    shapes(3),
    st.lists(st.sampled_from(["int16", "float32", "float64", "int64"]), min_size=3, max_size=3),
    st.integers(0, 31),
)
def test_broadcasting(found, dtypes, order):
    x, y, z = (numbered(shape, dtype, order) for shape, dtype in zip(found, dtypes, strict=True))
    what = f"{found} {dtypes} {order}"
    same(lambda ns, v, w: ns.subtract(v, w), x, y, what=what)
    same(lambda ns, v, w: ns.less(v, w), x, y, what=what)
    same(lambda ns, v, w, u: ns.where(ns.astype(v, ns.bool), w, u), x, y, z, what=what)
    same(lambda ns, v, w, u: ns.clip(v, w, u), x, y, z, what=what)


def test_sixty_four_axes():
    x, a = both(np.arange(8.0).reshape((2, 2, 2) + (1,) * 61))
    same(lambda ns, v: v + ns.reshape(v, (1,) * 61 + (2, 2, 2)), (x, a))


# -- memory order --------------------------------------------------------------------------------------------


def steps(a):
    return tuple(step // a.itemsize for step in a.strides)


@pytest.mark.parametrize("axes", list(itertools.permutations(range(4))))
def test_results_keep_the_memory_order(axes):
    base = np.arange(2 * 3 * 4 * 5.0).reshape(2, 3, 4, 5)
    x, a = xp.permute_dims(xp.asarray(base, copy=True), axes), base.transpose(axes)
    row, flat = a[:1, :, :1, :], np.ascontiguousarray(a)
    for got, expected in (
        (xp.sqrt(x), np.sqrt(a)),
        (x + x, a + a),
        (x < 3, a < 3),
        (x + 1, a + 1),
        (xp.astype(x, xp.float32), a.astype("float32")),
        (x + xp.asarray(row, copy=True), a + row),
        (xp.clip(x, 1, x), np.clip(a, 1, a)),
        (xp.where(x > 5, x, 0), np.where(a > 5, a, 0)),
    ):
        np.testing.assert_array_equal(np.asarray(got), expected)
        assert strided.strides(got) == steps(a), f"{axes}"
    assert strided.strides(x + xp.asarray(flat)) == steps(a)  # where operands disagree, the first one's


def test_results_do_not_take_negative_or_zero_steps():
    x = xp.asarray(np.arange(12.0).reshape(3, 4))
    assert strided.strides(x[::-1, ::-1] + 1) == (4, 1)
    assert strided.strides(x.T[::-1, ::-2] + 1) == (1, 4)
    assert strided.strides(xp.sqrt(xp.broadcast_to(x[:1, :], (3, 4)))) == (4, 1)
    assert strided.strides(x[:, ::2] * 2) == (2, 1)


def test_broadcasting_allocates_only_the_result():
    x, y = xp.ones((300, 1)), xp.ones((1, 400), dtype=xp.float32)
    out = x + y
    assert strided.storage_nbytes(out) == 300 * 400 * 8
    assert strided.storage_nbytes(xp.broadcast_to(y, (8000, 400))) == 1600


# -- longer than the blocks: casts 1024, reductions 4096, from 32768 on without the GIL ----------------------

LENGTHS = [1023, 1024, 1025, 2049, 4095, 4096, 4097, 8193, 32767, 32768, 32769, 65537]


def long_pair(dtype, *shape):
    return both(np.resize(values(dtype, (7, 143), special=dtype in INTEGERS), shape))


@pytest.mark.parametrize("n", LENGTHS)
def test_long_operands(n):
    f, d, i, b, c = (long_pair(dtype, n) for dtype in ("float32", "float64", "int8", "bool", "complex64"))
    wide = long_pair("float32", 2 * n + 1)
    for k, (call, *operands) in enumerate(
        (
            (lambda ns, x, y: x + y, f, f),
            (lambda ns, x, y: x * y, d, f),
            (lambda ns, x, y: x - y, i, f),
            (lambda ns, x, y: x[::-1] + y, i, d),
            (lambda ns, x, y: x + y, c, i),
            (lambda ns, x: ns.subtract(x[1::2], x[::2][1:]), wide),
            (lambda ns, x: x[::2] / 3, wide),
            (lambda ns, x: 3 // ns.astype(x, ns.int16), i),
            (lambda ns, x, y: ns.where(x, y, 1.5), b, i),
            (lambda ns, x, y, z: ns.clip(x, y, z), d, i, f),
            (lambda ns, x, y: x < y, i, d),
            (lambda ns, x, y: ns.logical_and(x, y), i, f),
            (lambda ns, x: ns.conj(x), c),
            (lambda ns, x: ns.square(x), i),
            (lambda ns, x: ns.astype(x, ns.float32), i),
            (lambda ns, x, y: ns.floor(ns.broadcast_to(y, (n,)) + x), i, long_pair("float64", 1)),
        )
    ):
        same(call, *operands, what=f"call {k} of {n} elements")


@pytest.mark.parametrize(
    "shape", [(3, 1025), (1025, 3), (5, 700), (2000, 2), (2, 3, 1100), (700, 1, 5), (33, 1030)]
)
def test_long_operands_of_mixed_dtypes_and_several_axes(shape):
    """Casts in blocks of whole runs, of parts of runs, and of operands that are broadcast along an axis."""
    x, column = long_pair("int16", *shape), long_pair("float32", *shape[:-1], 1)
    row, turned = long_pair("int8", shape[-1]), tuple(reversed(range(len(shape))))
    for k, (call, *operands) in enumerate(
        (
            (lambda ns, v, w: v + w, x, column),
            (lambda ns, v, w: w - v, x, row),
            (lambda ns, v, w: ns.permute_dims(v, turned) * ns.permute_dims(w, turned), x, column),
            (lambda ns, v, w: v[::-1, ...] * w[..., ::-1], x, row),
            (lambda ns, v, w: v[..., ::2] + w, x, column),
            (lambda ns, v, w, u: ns.clip(v, w, u), x, row, column),
            (lambda ns, v, w, u: ns.where(ns.astype(v, ns.bool), w, u), row, column, x),
            (lambda ns, v, w: v + w, column, row),
        )
    ):
        same(call, *operands, what=f"call {k} of {shape}")


@pytest.mark.parametrize("n", LENGTHS)
def test_long_writes_in_place(n):
    (x, a), (y, b) = long_pair("float64", n), long_pair("int8", n)
    x += y
    a += b
    x[::2] *= y[::-2]
    a[::2] *= b[::-2]
    x[1:] -= x[:-1]
    a[1:] -= a[:-1].copy()
    assert_same(x, a)
