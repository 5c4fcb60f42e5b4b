"""Array operators compared with their functions and NumPy; foreign operands; conversion to Python."""

from __future__ import annotations

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
    REAL_FLOATING,
    assert_same,
    both,
    pair,
    quietly,
    values,
)

import stride0 as xp
from stride0 import strided

# Written out from the standard's chapter "Array object", not read from the operation table.
BINARY = {
    "add": ("add", operator.add, operator.iadd),
    "subtract": ("sub", operator.sub, operator.isub),
    "multiply": ("mul", operator.mul, operator.imul),
    "divide": ("truediv", operator.truediv, operator.itruediv),
    "floor_divide": ("floordiv", operator.floordiv, operator.ifloordiv),
    "remainder": ("mod", operator.mod, operator.imod),
    "pow": ("pow", operator.pow, operator.ipow),
    "bitwise_and": ("and", operator.and_, operator.iand),
    "bitwise_or": ("or", operator.or_, operator.ior),
    "bitwise_xor": ("xor", operator.xor, operator.ixor),
    "bitwise_left_shift": ("lshift", operator.lshift, operator.ilshift),
    "bitwise_right_shift": ("rshift", operator.rshift, operator.irshift),
}
COMPARISON = {
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}
UNARY = {"negative": operator.neg, "positive": operator.pos, "abs": abs, "bitwise_invert": operator.invert}
BITWISE = [name for name in BINARY if name.startswith("bitwise")]
SHIFTS = ["bitwise_left_shift", "bitwise_right_shift"]


def accepts(name, dtype):
    """Whether the standard defines the operator for the dtype, or NumPy does for bool."""
    if dtype == "bool":
        return name in (*COMPARISON, *BITWISE[:3], "bitwise_invert", "add", "multiply", "divide", "abs")
    if name.startswith("bitwise"):
        return dtype in INTEGERS
    if name in ("floor_divide", "remainder", "less", "less_equal", "greater", "greater_equal"):
        return dtype not in COMPLEX_FLOATING
    return True


def operands(dtype, layout="C"):
    """Return two arrays of small positive numbers, so that quotients, powers and shifts are ordinary."""
    x, a = pair(dtype, layout)
    if dtype == "bool":
        return (x, a), (~x, ~a)
    if dtype in INTEGERS:
        b = values(dtype)
        b = LAYOUTS[layout](np, np.abs(b % 5 + 1).astype(dtype)[::-1].copy())
    else:
        b = np.abs(a) + np.asarray(1, dtype)
    return (x, a), (xp.asarray(b, copy=True), b)


def identical(x, y, what=""):
    """Assert that two stride0 arrays agree bit for bit."""
    assert_same(x, np.asarray(y), what=what)


@pytest.mark.parametrize("name", [*BINARY, *COMPARISON])
@pytest.mark.parametrize("dtype", DTYPES)
def test_binary_operators(dtype, name):
    python = COMPARISON[name] if name in COMPARISON else BINARY[name][1]
    function = getattr(xp, name)
    for layout in LAYOUTS:
        (x, a), (y, b) = operands(dtype, layout)
        if not accepts(name, dtype):
            for call in (
                lambda x=x, y=y: python(x, y),
                lambda x=x: python(x, True),
                lambda y=y: python(True, y),
            ):
                with pytest.raises(TypeError, match="Unsupported dtype"):
                    call()
            continue
        got = python(x, y)
        identical(got, function(x, y), layout)
        expected = quietly(python, a, b)
        rtol = 1e-6 if dtype in ("float32", "complex64") else 1e-14
        exact = dtype not in COMPLEX_FLOATING and name != "pow"
        assert_same(got, expected, 0 if exact else rtol, what=layout)
        for scalar in (True, 2) if dtype != "bool" else (True,):
            identical(python(x, scalar), function(x, scalar), f"{layout} {scalar}")
            # Reflected: Python asks __radd__ of the array, and __gt__ for the scalar's <.
            identical(python(scalar, y), function(scalar, y), f"{layout} {scalar}")


@pytest.mark.parametrize("name", BINARY)
def test_methods_and_their_reflections(name):
    method = BINARY[name][0]
    x, y = xp.asarray([7, 9, 4]), xp.asarray([2, 3, 1])
    function = getattr(xp, name)
    identical(getattr(x, f"__{method}__")(y), function(x, y))
    identical(getattr(x, f"__r{method}__")(y), function(y, x))
    identical(getattr(x, f"__r{method}__")(3), function(3, x))
    assert getattr(x, f"__{method}__")(object()) is NotImplemented
    assert getattr(x, f"__r{method}__")(object()) is NotImplemented
    assert getattr(x, f"__i{method}__")([1, 2, 3]) is NotImplemented


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", DTYPES)
def test_unary_operators(dtype, name):
    for layout in LAYOUTS:
        x, a = pair(dtype, layout, special=True)
        if not accepts(name, dtype):
            with pytest.raises(TypeError, match="Unsupported dtype"):
                UNARY[name](x)
            continue
        got = UNARY[name](x)
        assert not x.size or not strided.shares_storage(got, x)
        identical(got, getattr(xp, name)(x))
        rtol = 1e-6 if dtype in COMPLEX_FLOATING and name == "abs" else 0
        assert_same(got, quietly(UNARY[name], a), rtol, what=layout)


def test_power_takes_no_modulus():
    x = xp.asarray([2, 3])
    for call in (lambda: pow(x, 2, 5), lambda: x.__pow__(2, 5), lambda: x.__rpow__(2, 5)):
        with pytest.raises(TypeError, match="modulus"):
            call()
    identical(pow(x, 2), x * x)


@pytest.mark.parametrize("dtype", [*INTEGERS, *REAL_FLOATING])
def test_divmod(dtype):
    """Not in the standard; without it NumPy would answer `divmod(array, ndarray)`."""
    (x, a), (y, b) = operands(dtype)
    for got, expected in (
        (divmod(x, y), divmod(a, b)),
        (divmod(x, 3), divmod(a, 3)),
        (divmod(3, y), divmod(3, b)),
    ):
        assert isinstance(got, tuple)
        assert_same(got[0], expected[0])
        assert_same(got[1], expected[1])
    for nothing in ("text", None, [1, 2]):
        with pytest.raises(TypeError, match="unsupported operand"):
            divmod(x, nothing)
        with pytest.raises(TypeError, match="unsupported operand"):
            divmod(nothing, x)


# -- in place ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", DTYPES)
def test_in_place(dtype, name):
    in_place = BINARY[name][2]
    for layout in LAYOUTS:
        if layout == "broadcast":
            continue  # refused: test_overlap.py
        (x, _), (y, _) = operands(dtype, layout)
        keep = xp.asarray(x, copy=True)
        if not accepts(name, dtype) or (name == "divide" and dtype not in FLOATING):
            with pytest.raises(TypeError, match=name):
                in_place(x, y)
            identical(x, keep)
            continue
        for other in (y, y[:1, ...] if y.ndim and y.shape[0] else y, True if dtype == "bool" else 2):
            expected = getattr(xp, name)(x, other)
            before, steps = x, strided.strides(x)
            x = in_place(x, other)
            assert x is before
            assert strided.strides(x) == steps
            identical(x, expected, f"{layout}")


def test_in_place_writes_to_all_views():
    base = xp.asarray(np.arange(12.0).reshape(3, 4))
    row, column = base[1, :], base[:, 1]
    row += 100
    assert_same(base, np.arange(12.0).reshape(3, 4) + np.asarray([[0], [100], [0]]))
    column *= -1
    assert float(row[1]) == -105


@pytest.mark.parametrize("first", DTYPES)
def test_in_place_keeps_the_dtype(first):
    """Another dtype of the same kind is cast; if promotion gives another kind, the call changes nothing."""
    for second in DTYPES:
        x, y = pair(first)[0], pair(second)[0]
        keep = xp.asarray(x, copy=True)
        before = x
        if np.can_cast(np.promote_types(first, second), first, "same_kind"):
            x += y
            identical(x, xp.astype(keep + y, getattr(xp, first)))
        else:
            with pytest.raises(TypeError, match="in-place"):
                x += y
            identical(x, keep)
        assert x is before and x.dtype is getattr(xp, first)


@pytest.mark.parametrize("dtype", DTYPES)
def test_in_place_with_python_scalars(dtype):
    rank = ["bool", "int", "float", "complex"]
    own = 0 if dtype == "bool" else 1 if dtype in INTEGERS else 2 if dtype in REAL_FLOATING else 3
    for scalar in (True, 3, 1.5, 2j):
        x = pair(dtype)[0]
        keep = xp.asarray(x, copy=True)
        if rank.index(type(scalar).__name__) <= own:
            x += scalar
            identical(x, keep + scalar)
            continue
        with pytest.raises(TypeError, match="in-place"):
            x += scalar
        identical(x, keep)


def test_in_place_refusals_change_nothing():
    x = xp.asarray([1, 2, 3], dtype=xp.int8)
    for error, change in (
        (OverflowError, lambda: operator.iadd(x, 128)),
        (ValueError, lambda: operator.ipow(x, -1)),
        (ValueError, lambda: operator.ipow(x, xp.asarray([1, 2, -3], dtype=xp.int8))),
        (TypeError, lambda: operator.itruediv(x, x)),
        (TypeError, lambda: operator.iadd(x, "1")),
        (TypeError, lambda: operator.iadd(x, np.ones(3, np.int8))),
        (xp.BroadcastError, lambda: operator.iadd(x, xp.ones((2, 3), dtype=xp.int8))),
        (xp.BroadcastError, lambda: operator.iadd(x, xp.ones(2, dtype=xp.int8))),
    ):
        with pytest.raises(error):
            change()
        assert_same(x, np.asarray([1, 2, 3], "int8"))


@pytest.mark.parametrize(
    ("target", "other"),
    [
        ((5, 3, 4, 1), (3, 1, 1)),
        ((1, 3, 1), (3, 1, 7)),
        ((4,), (4, 1)),
        ((), (1,)),
        ((), ()),
        ((2, 0), (1,)),
        ((1, 0), (2, 1)),
        ((0,), (1,)),
        ((1,), (0,)),
        ((2, 3), (1, 3)),
        ((2, 3), (2, 1)),
    ],
)
def test_in_place_keeps_the_shape(target, other):
    (x, a), (y, b) = both(np.ones(target)), both(np.ones(other))
    try:
        a += b
    except ValueError:
        with pytest.raises(xp.BroadcastError, match="add"):
            x += y
    else:
        x += y
    assert_same(x, a)


# -- operands of other types ---------------------------------------------------------------------------------


class Unit:
    """An operand of an unknown type; its operators return their name and the other operand."""


for _method, *_ in BINARY.values():
    setattr(Unit, f"__{_method}__", lambda self, other, m=_method: (m, other))
    setattr(Unit, f"__r{_method}__", lambda self, other, m=_method: (f"r{m}", other))
for _method in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Unit, f"__{_method}__", lambda self, other, m=_method: (m, other))


@pytest.mark.parametrize("name", BINARY)
def test_unknown_operands_get_their_turn(name):
    method, python, in_place = BINARY[name]
    x, unit = xp.asarray([1, 2]), Unit()
    for got, expected in (
        (python(x, unit), f"r{method}"),
        (python(unit, x), method),
        (in_place(x, unit), f"r{method}"),  # Python goes on to x = x op unit
    ):
        assert got[0] == expected
        assert got[1] is x
    for nothing in ("text", None, [1, 2], (1, 2), object(), {1: 2}):
        for call in (
            lambda v=nothing: python(x, v),
            lambda v=nothing: python(v, x),
            lambda v=nothing: in_place(x, v),
        ):
            if isinstance(nothing, str) and name == "remainder":
                continue  # "..." % x is formatting, and succeeds or fails as such
            with pytest.raises(TypeError):
                call()


def test_unknown_operands_of_comparisons():
    x, unit = xp.asarray([1, 2]), Unit()
    assert [python(x, unit)[0] for python in COMPARISON.values()] == ["eq", "ne", "gt", "ge", "lt", "le"]
    for nothing in ("text", None, [1, 2], object()):
        # == and != have an answer to some of them: tests/core/elementwise/test_equality.py.
        for python in (operator.lt, operator.le, operator.gt, operator.ge):
            with pytest.raises(TypeError):
                python(x, nothing)


def foreign_array(library):
    """Return an object that looks like an array of a library whose operators handle NotImplemented."""
    kind = type(
        "Tensor", (), {"__module__": library, "shape": (3,), "__radd__": lambda self, other: "theirs"}
    )
    return kind()


@pytest.mark.parametrize(
    "library", ["torch", "jaxlib._jax", "cupy", "dask.array.core", "array_api_strict._array_object"]
)
def test_arrays_of_other_libraries(library):
    x, other = xp.ones(3), foreign_array(library)
    with pytest.raises(
        xp.ForeignArrayError, match=rf"(?s)add: x2 is of type {library}.Tensor.*stride0.asarray"
    ):
        x + other
    with pytest.raises(xp.ForeignArrayError, match="x1 is of type"):
        other + x  # `other` has no __add__, so Python calls the array's __radd__
    with pytest.raises(xp.ForeignArrayError):
        x += other
    with pytest.raises(xp.ForeignArrayError):
        xp.add(other, x)


@pytest.mark.parametrize("name", [*BINARY, *COMPARISON])
def test_numpy_arrays(name):
    """The result is never an ndarray: its library must not depend on the order of operands."""
    python = COMPARISON[name] if name in COMPARISON else BINARY[name][1]
    for a in (np.arange(3), np.arange(3, dtype=object), np.arange(6).reshape(2, 3), np.asarray(2)):
        x = xp.asarray([1, 2, 3])
        # NumPy's scalars on the left of a comparison become 0-d arrays, which must work.
        sides = 1 if name in COMPARISON and not a.ndim else 2
        for call in (lambda a=a, x=x: python(x, a), lambda a=a, x=x: python(a, x))[:sides]:
            with pytest.raises(xp.ForeignArrayError, match=r"numpy\.ndarray"):
                call()
        if name in BINARY:
            with pytest.raises(xp.ForeignArrayError, match=r"numpy\.ndarray"):
                BINARY[name][2](x, a)
            with pytest.raises(xp.ForeignArrayError, match=r"numpy\.ndarray"):
                BINARY[name][2](a, x)


@pytest.mark.parametrize("kind", ["subclass", "masked"])
def test_subclasses_of_numpy_arrays(kind):
    class Mine(np.ndarray):
        pass

    x, a = xp.asarray([1.0, 2, 3]), np.arange(3.0)
    a = a.view(Mine) if kind == "subclass" else np.ma.masked_array(a, [True, False, False])
    for call in (lambda: x + a, lambda: a + x, lambda: x == a, lambda: operator.iadd(x, a)):
        with pytest.raises(xp.ForeignArrayError):
            call()


@pytest.mark.parametrize("name", ["divmod", "matmul"])
def test_numpy_arrays_in_operators_without_a_function(name):
    python = {"divmod": divmod, "matmul": operator.matmul}[name]
    x, a = xp.asarray([1.0, 2, 3]), np.arange(1, 4.0)
    for one, two in ((x, a), (a, x)):
        with pytest.raises(TypeError):
            python(one, two)


@pytest.mark.parametrize("name", [*BINARY, *COMPARISON])
def test_numpy_scalars(name):
    python = COMPARISON[name] if name in COMPARISON else BINARY[name][1]
    for dtype in ("bool", "int8", "int64", "float64", "float32", "complex128"):
        if not accepts(name, dtype):
            continue
        x, scalar = (
            xp.asarray([True, False]) if dtype == "bool" else xp.asarray([1, 2, 3]),
            values(dtype)[1, 1],
        )
        if name in (*SHIFTS, "pow"):
            scalar = abs(scalar)
        for got, expected in (
            (python(x, scalar), getattr(xp, name)(x, xp.asarray(scalar))),
            (python(scalar, x), getattr(xp, name)(xp.asarray(scalar), x)),
        ):
            assert isinstance(got, xp.Array)
            identical(got, expected, f"{dtype}")


# -- truth, numbers, hashes ----------------------------------------------------------------------------------


def test_arrays_are_not_hashable():
    for x in (xp.ones(3), xp.asarray(1)):
        with pytest.raises(TypeError, match="unhashable"):
            hash(x)
        with pytest.raises(TypeError, match="unhashable"):
            dict.fromkeys([x])


@pytest.mark.parametrize("dtype", DTYPES)
def test_conversions_to_python(dtype):
    for value in values(dtype, special=True).reshape(-1).tolist():
        x = xp.asarray(value, dtype=getattr(xp, dtype))
        assert bool(x) is bool(value)
        for convert in (int, float, complex, operator.index):
            try:
                expected = convert(value)
            except (TypeError, ValueError, OverflowError) as error:
                with pytest.raises(type(error)):
                    convert(x)
                continue
            if convert is operator.index and dtype == "bool":
                with pytest.raises(TypeError, match="index"):  # the standard: only integers are indices
                    operator.index(x)
                continue
            got = convert(x)
            assert type(got) is type(expected)
            assert got == expected or (got != got and expected != expected)
            assert math.copysign(1, got.real) == math.copysign(1, expected.real) or got != got


def test_conversions_of_more_than_one_element():
    for shape in ((2,), (0,), (3, 0), (2, 1)):
        x = xp.zeros(shape, dtype=xp.int64)
        for convert in (bool, int, float, complex, operator.index):
            with pytest.raises((TypeError, ValueError), match=r"(?i)shape|elements|size"):
                convert(x)


def test_index_needs_no_axes():
    assert [10, 20, 30][xp.asarray(1, dtype=xp.uint8)] == 20
    assert list(range(xp.asarray(3))) == [0, 1, 2]
    with pytest.raises(TypeError, match="index"):
        operator.index(xp.asarray([1]))
    for value in (1.0, True, 1j):
        with pytest.raises(TypeError, match="index"):
            operator.index(xp.asarray(value))


def test_containment_and_length():
    x = xp.asarray([[1, 2], [3, 4]])
    assert 3 in x and 5 not in x and x[0, :] in x
    assert len(x) == 2 and len(x[0, :0]) == 0
    for call in (len, iter, list):
        with pytest.raises(TypeError, match="a 0-d array"):
            call(x[0, 0])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int64", "uint16", "complex128", "float16"])
def test_an_in_place_square_has_the_bits_of_a_power(dtype: str) -> None:
    """`x **= 2` uses another loop than `x **= y`; tested in every layout and for a deferred `x`."""
    target = getattr(xp, dtype)
    values = xp.astype(xp.asarray(np.linspace(-9.7, 11.3, 60).reshape(6, 10)), xp.float64)
    if dtype == "uint16":
        values = xp.abs(values)
    for view in (lambda a: a, lambda a: a.T, lambda a: a[:, ::2], lambda a: a[::-1, 1:3], lambda a: a[:0]):
        by_array, by_scalar = (view(xp.astype(values, target)) for _ in range(2))
        by_array **= xp.full((), 2, dtype=target)
        before = xp.strided.strides(by_scalar)
        by_scalar **= 2
        assert by_scalar.dtype is target and xp.strided.strides(by_scalar) == before
        assert np.asarray(xp.astype(by_scalar, xp.complex128)).tobytes() == (
            np.asarray(xp.astype(by_array, xp.complex128)).tobytes()
        )
        with xp.fused():
            deferred = view(xp.astype(values, target)) * 1
            deferred **= 2
        assert xp.all(deferred == by_scalar)


@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "itruediv", "ipow"])
def test_in_place_with_a_python_scalar_is_that_with_an_array(name: str) -> None:
    update = getattr(operator, name)
    for size in (0, 1, 7, 300):
        x = xp.linspace(1, 2, size)
        y, view = xp.asarray(x, copy=True), x[::2]
        expected = update(xp.asarray(view, copy=True), xp.asarray(1.5))
        update(y, 1.5)
        update(view, 1.5)
        assert xp.all(view == expected) and xp.all(y[::2] == expected)
