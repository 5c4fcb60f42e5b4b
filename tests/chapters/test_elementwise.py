"""Every elementwise function of the operation table, compared with NumPy: values, dtypes, shapes, errors.

The table gives names, numbers of operands and error bounds; expected results come from NumPy, rational
arithmetic and mpmath. Where stride0 follows the standard and NumPy does not, `expectation` says so: it is the
only place that restricts the domain. Promotion, scalars, broadcasting and long operands are in
`test_operands.py`; `clip`, `where`, `real`, `imag` and `add(alpha=)` in `test_composed.py`; rows of
`stride0.special` in `test_special_kernels.py`.
"""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from helpers import COMPLEX_FLOATING, DTYPES, LAYOUTS, REAL_FLOATING, assert_same, pair, quietly, values
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from strategies import examples

import stride0 as xp
from stride0._tables import operations

ROWS = {row.name: row for row in operations.OPS if row.public and not row.namespace}

# Dtypes, by NumPy's kind letters, that NumPy accepts but the standard leaves out and stride0 refuses.
# For bool NumPy uses its int8 (or float16) loop; complex numbers it compares lexicographically.
REFUSED = {
    **dict.fromkeys(("floor_divide", "remainder", "pow", "square", "conj"), "b"),
    **dict.fromkeys(("ceil", "floor", "trunc", "round", "bitwise_left_shift", "bitwise_right_shift"), "b"),
    **dict.fromkeys(("less", "less_equal", "greater", "greater_equal", "maximum", "minimum"), "c"),
    "signbit": "biu",
}
# Functions of floating-point numbers. Integers are computed in float64; NumPy computes int8 in float16.
FLOATING = {name for name, row in ROWS.items() if row.ulp > 0.5} - {"pow"}
FLOATING |= {"reciprocal", "sqrt", "copysign", "nextafter"}
# Of -0.0 and 0.0 either may be the extreme: the standard leaves the sign open, and NumPy's varies by loop.
OPEN_ZERO = {"maximum", "minimum"}
# NumPy's float64 functions have errors of up to 4 units in the last place.
NUMPY_ULP = 4.0
# Complex rows whose components are each rounded once, or not at all.
COMPLEX_EXACT = {"add", "subtract", "negative", "positive", "conj", "equal", "not_equal", "round"}
COMPLEX_EXACT |= {"isfinite", "isinf", "isnan", "logical_and", "logical_or", "logical_xor", "logical_not"}
# For the others, NumPy's own error, to be added to stride0's bound, in units in the last place of the
# magnitude. The error of a power grows with its exponent.
COMPLEX_ULP = {name: 128.0 if name == "pow" else 16.0 for name in ROWS}


def floor_quotient(x, y):
    """
    Return the floor of the exact quotient, rounded once; the standard's special cases.

    NumPy differs: inf // 2 is NaN there, -1 // inf is -1, and beyond 2**22 (float32) its quotients are
    one off now and then.
    """
    if not (math.isfinite(x) and math.isfinite(y) and x != 0 and y != 0):
        return np.floor(np.divide(x, y))
    try:
        found = float(math.floor(Fraction(float(x)) / Fraction(float(y))))
    except OverflowError:
        found = math.copysign(math.inf, x) * math.copysign(1.0, y)
    return found if found else 0.0


def expectation(name, *operands):
    """Return what `name` must give, and within how many units in the last place (0: exactly)."""
    common = np.result_type(*operands)
    kind, ulp = common.kind, ROWS[name].ulp
    if kind in REFUSED.get(name, ""):
        raise TypeError(name)
    if kind in "biu" and name in FLOATING:
        common = np.dtype("float64")
    if kind == "f" and name == "floor_divide":
        out = np.vectorize(floor_quotient, otypes=[float])(*operands) if all(map(np.size, operands)) else None
        shape = np.broadcast_shapes(*map(np.shape, operands))
        return np.zeros(shape, common) if out is None else out.astype(common), 0
    # Comparisons are of values: their operands keep their dtypes.
    cast = [np.asarray(v) if ROWS[name].out == "bool" else np.asarray(v).astype(common) for v in operands]
    if common.kind == "c" and name not in COMPLEX_EXACT:
        return getattr(np, name)(*cast), COMPLEX_ULP[name]
    if ulp == 0.5 or common.kind not in "f":
        return getattr(np, name)(*cast), 0
    if common == "float32":
        # NumPy's float64 result, rounded to float32, is at most half a unit off.
        return getattr(np, name)(*(v.astype("float64") for v in cast)).astype("float32"), ulp + 0.5
    return getattr(np, name)(*cast), ulp + NUMPY_ULP


def assert_close(x, expected, ulp, scale, what):
    """Assert elements within `ulp` units in the last place of the larger of the result and `scale`."""
    assert isinstance(x, xp.Array), what
    assert x.dtype.name == expected.dtype.name, f"{what}: dtype {x.dtype.name}, not {expected.dtype.name}"
    assert x.shape == expected.shape, f"{what}: shape {x.shape}, not {expected.shape}"
    got = np.asarray(x)
    if expected.dtype.kind == "c":
        assert_close_complex(got, expected, ulp, what)
        return
    special = ~np.isfinite(expected) | (expected == 0)
    same_special = (got == expected) & (np.signbit(got) == np.signbit(expected)) | np.isnan(got) & np.isnan(
        expected
    )
    with np.errstate(all="ignore"):
        unit = np.spacing(np.maximum(np.abs(expected), np.asarray(scale, dtype=expected.dtype)))
        near = np.abs(got.astype("float64") - expected) <= ulp * unit.astype("float64")
    # A result near the largest or smallest number may overflow or underflow, or not.
    edge = np.isinf(expected) & (np.abs(got) > 0.999 * np.finfo(expected.dtype).max)
    edge |= (expected == 0) & (np.abs(got) <= ulp * unit)
    good = np.where(special, same_special | edge, near)
    assert good.all(), f"{what}: beyond {ulp} ULP\ngot\n{got[~good]!r}\nexpected\n{expected[~good]!r}"


def assert_close_complex(got, expected, ulp, what):
    real = got.real.dtype
    with np.errstate(all="ignore"):
        bound = ulp * np.spacing(np.abs(expected).astype(real)).astype("float64")
        good = np.abs(got.astype("complex128") - expected) <= bound
    assert good.all(), f"{what}: beyond {ulp} ULP\ngot\n{got[~good]!r}\nexpected\n{expected[~good]!r}"


def check(name, *operands):
    """Call a function for stride0 and for NumPy; results or exceptions must agree."""
    arrays = [x for x, _ in operands]
    what = f"{name}{tuple((a.dtype.name, a.shape) for _, a in operands)}"
    try:
        expected, ulp = quietly(expectation, name, *(a for _, a in operands))
    except (TypeError, ValueError) as error:
        builtin = TypeError if isinstance(error, TypeError) else ValueError
        with pytest.raises(builtin, match=name):
            getattr(xp, name)(*arrays)
        return
    got = getattr(xp, name)(*arrays)
    if ulp == 0:
        if name in OPEN_ZERO and expected.dtype.kind == "f":
            got, expected = got + 0, expected + 0
        assert_same(got, expected, what=what)
        return
    assert_close(got, expected, ulp, scale_of(name, *(a for _, a in operands)), what)


def scale_of(name, *operands):
    """Return the magnitude whose units measure the error, if it is not the magnitude of the result."""
    if name != "logaddexp":
        return 0.0
    # Where terms cancel, the error of log(exp(x1) + exp(x2)) is measured in units of the operands.
    x1, x2 = (np.where(np.isfinite(v), np.abs(v), 0) for v in operands)
    return np.maximum(x1, x2)


def is_tame(name, *dtypes):
    """
    Whether operands must be ordinary numbers.

    Infinities, NaN and zeros of inexact complex functions: the standard's tables differ from NumPy's
    results, and test_special_cases.py holds stride0 to them.
    """
    return any(d in COMPLEX_FLOATING for d in dtypes) and name not in COMPLEX_EXACT


def second(dtype, layout, special):
    """Return a pair like `helpers.pair`'s with other elements."""
    a = values(dtype, special=special)[::-1, ::-1].copy()
    return LAYOUTS[layout](xp, xp.asarray(a, copy=True)), LAYOUTS[layout](np, a)


@pytest.mark.parametrize("name", ROWS)
def test_every_dtype_and_layout(name):
    for dtype in DTYPES:
        special = not is_tame(name, dtype)
        for layout in LAYOUTS:
            x = pair(dtype, layout, special)
            if ROWS[name].nin == 1:
                check(name, x)
                continue
            y = second(dtype, layout, special)
            if np.dtype(dtype).kind == "i" and name == "pow":
                check(name, x, y)  # refused where an exponent is negative
                y = xp.abs(y[0] // 2), np.abs(y[1] // 2)
            check(name, x, y)
            if layout != "size 0":
                first = (0,) * y[1].ndim
                element = y[0][first], np.asarray(y[1][first])
                check(name, x, element)
                check(name, element, y)


# -- the same with arrays that hypothesis draws
# ----------------------------------------------------------------


def stored(layout, a):
    """Return a pair with the elements of `a` (a broadcast one: of its first part) in a memory layout."""
    if a.ndim == 0:
        return xp.asarray(a, copy=True), a
    if layout == "transposed":
        turn, base = tuple(reversed(range(a.ndim))), a.transpose().copy()
        view = lambda ns, v: ns.permute_dims(v, turn)  # noqa: E731
    elif layout == "sliced":
        base = np.zeros((*a.shape[:-1], 2 * a.shape[-1] + 1), a.dtype)
        base[..., 1::2] = a
        view = lambda ns, v: v[..., 1::2]  # noqa: E731
    elif layout == "negative":
        base = np.flip(a).copy()
        view = lambda ns, v: ns.flip(v)  # noqa: E731
    elif layout == "broadcast" and a.shape[0] > 0:
        base = a[:1].copy()
        view = lambda ns, v: ns.broadcast_to(v, a.shape)  # noqa: E731
    else:
        base = a.copy()
        view = lambda ns, v: v  # noqa: E731
    return view(xp, xp.asarray(base, copy=True)), view(np, base)


def numbers(dtype, tame):
    """Elements of a dtype; ordinary ones in the middle of the range if `tame`."""
    d = np.dtype(dtype)
    if d.kind == "b":
        return st.just(True) if tame else st.booleans()
    if d.kind in "iu" and tame:
        return st.integers(1, 6)
    if d.kind in "iu":
        least, most = int(np.iinfo(d).min), int(np.iinfo(d).max)
        extremes = st.sampled_from([least, least + 1, most, 0, 1, max(least, -1)])
        return extremes | st.integers(max(least, -20), 20) | st.integers(least, most)
    width = 32 if d.name in ("float32", "complex64") else 64
    if d.kind == "f":
        if tame:
            return st.floats(0.125, 6, width=32) | st.floats(-6, -0.125, width=32)
        specials = st.sampled_from([math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.0])
        return specials | st.floats(-100, 100, width=width) | st.floats(width=width)
    part = numbers("float32" if width == 32 else "float64", tame)
    return st.builds(complex, part, part)


@st.composite
def operands_of(draw, name):
    """One or two pairs whose shapes broadcast, or almost."""
    full = draw(st.lists(st.sampled_from([0, 1, 2, 3, 5, 19]), max_size=3).map(tuple))
    dtype = draw(st.sampled_from(DTYPES))
    dtypes = [dtype] + [draw(st.just(dtype) | st.sampled_from(DTYPES)) for _ in range(ROWS[name].nin - 1)]
    tame = is_tame(name, *dtypes)
    out = []
    for d in dtypes:
        shape = tuple(draw(st.sampled_from([n, n, n, 1])) for n in full)
        if draw(st.integers(0, 9)) == 0:
            shape = tuple(n + 1 for n in shape)
        shape = shape[draw(st.sampled_from([0, 0, 0, 1])) :]
        a = draw(hnp.arrays(d, shape, elements=numbers(d, tame)))
        if name == "pow" and a.dtype.kind == "i" and not tame and draw(st.integers(0, 3)):
            a = np.abs(a // 2)  # few cases with negative exponents, which raise
        layout = draw(st.sampled_from(["C", "transposed", "sliced", "negative", "broadcast"]))
        out.append(stored(layout, a))
    return out


@pytest.mark.parametrize("name", ROWS)
@examples(40)
@given(data=st.data())
def test_whatever_hypothesis_finds(name, data):
    check(name, *data.draw(operands_of(name)))


# -- accuracy against mpmath ---------------------------------------------------------------------------------

EXACT = {
    name: getattr(mpmath, name)
    for name in (
        *("exp", "expm1", "log", "log1p", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh"),
        *("asin", "acos", "atan", "asinh", "acosh", "atanh", "atan2", "hypot"),
    )
}
EXACT["log2"] = lambda x: mpmath.log(x) / mpmath.log(2)
EXACT["pow"] = mpmath.power
EXACT["logaddexp"] = lambda x, y: mpmath.log(mpmath.exp(x) + mpmath.exp(y))
COMPLEX_ONLY = {
    "divide": lambda x, y: x / y,
    "multiply": lambda x, y: x * y,
    "reciprocal": lambda x: 1 / x,
    "square": lambda x: x * x,
    "sign": lambda x: x / abs(x),
    "abs": abs,
}


def errors(name, exact, operands, size=lambda exact, *given: abs(exact)):
    """Yield (operands, exact result, error in units in the last place of `size`), element by element."""
    got = np.asarray(getattr(xp, name)(*(xp.asarray(v) for v in operands)))
    real = got.real.dtype
    with mpmath.workprec(160):
        for element, given_ in zip(
            got.tolist(), zip(*(v.tolist() for v in operands), strict=True), strict=True
        ):
            result = exact(*map(mpmath.mpmathify, given_))
            unit = float(
                quietly(lambda v: np.spacing(np.asarray(v).astype(real)), float(size(result, *given_)))
            )
            yield given_, result, float(abs(mpmath.mpmathify(element) - result) / unit)


def samples(name, dtype, count=120):
    """Operands over the row's whole domain, around 1, and tiny ones."""
    rng = np.random.default_rng(7)
    low, high = ROWS[name].samples
    out = []
    for _ in range(ROWS[name].nin):
        wide, near = rng.uniform(low, high, count), rng.normal(1, 0.3, count)
        tiny = wide * 10.0 ** rng.uniform(-12, 0, count)
        out.append(np.clip(np.concatenate([wide, near, tiny]), low, high).astype(dtype))
    return out


@pytest.mark.parametrize("dtype", REAL_FLOATING)
@pytest.mark.parametrize("name", EXACT)
def test_accuracy(name, dtype):
    """Within the bound that the table states; overflow and underflow are compared with NumPy, above."""

    def size(exact, *given):
        return max(abs(exact), *map(abs, given)) if name == "logaddexp" else abs(exact)

    info = np.finfo(dtype)
    for given_, exact, error in errors(name, EXACT[name], samples(name, dtype), size):
        if info.tiny < abs(exact) < info.max:
            assert error <= ROWS[name].ulp, f"{name}{given_} is off by {error} ULP"


@pytest.mark.parametrize("name", [name for name in EXACT if name not in ("atan2", "hypot", "logaddexp")])
def test_accuracy_of_complex_functions(name):
    """Within 4 units in the last place of the magnitude, in complex128; complex64 runs the same code."""
    rng = np.random.default_rng(8)
    operands = []
    for _ in range(ROWS[name].nin):
        z = rng.normal(0, 2, 150) + 1j * rng.normal(0, 2, 150)
        z[::3] *= 10.0 ** rng.uniform(-9, 0, 50)
        operands.append(z)
    for given_, _, error in errors(name, EXACT[name], operands):
        # exp(y * log(x)) multiplies the error of its exponent by the exponent's size.
        bound = 4 if name != "pow" else 4 * (1 + abs(given_[1] * np.log(given_[0])))
        assert error <= bound, f"{name}{given_} is off by {error} ULP"


@pytest.mark.parametrize("name", COMPLEX_ONLY)
def test_accuracy_of_complex_arithmetic(name):
    """Within 2 units in the last place of the magnitude, over 200 orders of magnitude."""
    rng = np.random.default_rng(9)
    scale = 10.0 ** rng.uniform(-100, 100, 200)
    operands = [scale * (rng.normal(size=200) + 1j * rng.normal(size=200)) for _ in range(ROWS[name].nin)]
    for given_, _, error in errors(name, COMPLEX_ONLY[name], operands):
        assert error <= 2, f"{name}{given_} is off by {error} ULP"


def test_every_inexact_row_has_its_accuracy_tested():
    assert {name for name, row in ROWS.items() if row.ulp > 0.5} <= set(EXACT)
