"""Creation functions, against NumPy."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from helpers import DTYPES, FLOATING, INTEGERS, NUMERIC, assert_same, both, pair, pairs, same
from hypothesis import assume, given
from hypothesis import strategies as st

import stride0 as xp
from stride0 import strided

SHAPES = [(), (3,), (2, 3), (0,), (2, 0, 3), (1, 1)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_zeros_ones_full(dtype):
    for shape in SHAPES:
        for name, *arguments in (("zeros",), ("ones",), ("full", 1)):
            got = getattr(xp, name)(shape, *arguments, dtype=getattr(xp, dtype))
            assert_same(got, getattr(np, name)(shape, *arguments, dtype=dtype), what=f"{name}{shape}")
        got = xp.empty(shape, dtype=getattr(xp, dtype))
        assert (got.shape, got.dtype.name) == (shape, dtype)


def test_defaults_and_shape_as_int():
    for name in ("zeros", "ones", "empty"):
        x = getattr(xp, name)(3)
        assert (x.shape, x.dtype, strided.strides(x)) == ((3,), xp.float64, (1,))
    assert_same(xp.full(2, 7), np.full(2, 7))


def test_devices():
    cpu = xp.__array_namespace_info__().default_device()
    for device in (None, "cpu", cpu):
        assert xp.zeros(2, device=device).device == cpu
        assert xp.arange(2, device=device).device == cpu
    for call in (
        lambda d: xp.zeros(2, device=d),
        lambda d: xp.empty_like(xp.zeros(2), device=d),
        lambda d: xp.eye(2, device=d),
        lambda d: xp.full(2, 1, device=d),
        lambda d: xp.arange(2, device=d),
        lambda d: xp.linspace(0, 1, 2, device=d),
    ):
        with pytest.raises(ValueError, match="unknown device"):
            call("gpu")


@pytest.mark.parametrize("shape", [-1, (2, -1), (2**40, 2**40)])
def test_impossible_shapes(shape):
    for call in (xp.zeros, xp.ones, xp.empty, lambda s: xp.full(s, 1)):
        with pytest.raises(ValueError, match=r"negative|too many"):
            call(shape)


@pytest.mark.parametrize("shape", [1.5, "3", None, (2, 1.0), True])
def test_shapes_of_the_wrong_type(shape):
    for call in (xp.zeros, xp.ones, xp.empty, lambda s: xp.full(s, 1)):
        with pytest.raises(TypeError):
            call(shape)


@pytest.mark.parametrize("dtype", [str, ">f8", np.str_, np.dtype("M8[s]"), np.dtype(">f8"), 3])
def test_foreign_dtypes(dtype):
    for call in (xp.zeros, xp.ones, xp.empty, xp.eye, xp.arange):
        with pytest.raises(TypeError, match="Unsupported dtype"):
            call(2, dtype=dtype)


def test_like():
    for what, (x, a) in pairs():
        assert_same(xp.zeros_like(x), np.zeros_like(a), what=what)
        assert_same(xp.ones_like(x), np.ones_like(a), what=what)
        assert_same(xp.full_like(x, 1), np.full_like(a, 1), what=what)
        assert xp.empty_like(x).shape == a.shape
        assert_same(xp.zeros_like(x, dtype=xp.int16), np.zeros_like(a, dtype="int16"), what=what)
        assert not strided.shares_storage(xp.zeros_like(x), x)
    for name in ("zeros_like", "ones_like", "empty_like"):
        with pytest.raises(TypeError, match="must be a stride0 array"):
            getattr(xp, name)(np.zeros(3))


@pytest.mark.parametrize("shape", [(), 4, (0, 3), (2, 1, 5), None])
def test_like_of_another_shape(shape):
    for what, (x, a) in pairs():
        assert_same(xp.zeros_like(x, shape=shape), np.zeros_like(a, shape=shape), what=what)
        assert_same(xp.ones_like(x, shape=shape), np.ones_like(a, shape=shape), what=what)
        assert_same(xp.full_like(x, 1, shape=shape), np.full_like(a, 1, shape=shape), what=what)
        assert_same(
            xp.full_like(x, True, shape=shape, dtype=xp.int8),
            np.full_like(a, True, "int8", shape=shape),
            what=what,
        )
        assert xp.empty_like(x, shape=shape).shape == np.empty_like(a, shape=shape).shape
    for wrong in (-1, (2, -1), 1.5, "3"):
        with pytest.raises((TypeError, ValueError)):
            xp.full_like(xp.ones(2), 1.0, shape=wrong)


@pytest.mark.parametrize(
    "value", [True, False, 3, -3, 2.5, math.inf, -0.0, 1 + 2j, np.float64(2.5), np.complex128(1j)]
)
def test_full_default_dtype(value):
    assert_same(xp.full((2, 3), value), np.full((2, 3), value))


def test_full_of_numpy_scalars():
    assert_same(xp.full(2, np.int8(3)), np.full(2, 3))
    assert_same(xp.full(2, np.float32(1.5)), np.full(2, 1.5))
    assert_same(xp.full(2, np.True_), np.full(2, True))


@pytest.mark.parametrize("dtype", DTYPES)
def test_full_of_0d_arrays(dtype):
    x, a = pair(dtype, "0-d")
    assert_same(xp.full((2, 3), x), np.full((2, 3), a))
    assert_same(xp.full_like(x, x), np.full_like(a, a))
    assert_same(xp.full((2, 3), x, dtype=xp.complex128), np.full((2, 3), a, dtype=complex))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_full_at_and_beyond_the_limits(dtype):
    info = np.iinfo(dtype)
    for value in (int(info.min), int(info.max)):
        assert_same(xp.full(2, value, dtype=getattr(xp, dtype)), np.full(2, value, dtype=dtype))
    for value in (int(info.min) - 1, int(info.max) + 1):
        with pytest.raises(OverflowError):
            xp.full(2, value, dtype=getattr(xp, dtype))


def test_full_refuses():
    with pytest.raises(OverflowError):
        xp.full(2, 2**63)
    for dtype in (xp.float64, xp.int8):
        with pytest.raises(TypeError, match="cannot cast"):
            xp.full(2, 1j, dtype=dtype)
        with pytest.raises(TypeError, match="cannot cast"):
            xp.full(2, xp.full((), 1j), dtype=dtype)
    with pytest.raises(ValueError, match="must be one number"):
        xp.full(2, xp.zeros(2))
    for value in ("1", None, [1], np.zeros(2)):
        with pytest.raises(TypeError):
            xp.full(2, value)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("n", "m"), [(3, None), (2, 4), (4, 2), (0, 3), (3, 0), (1, 1)])
def test_eye(dtype, n, m):
    for k in (0, 1, -1, 2, -3, 5, -5, 10**20):
        expected = np.eye(n, m, k=max(-9, min(9, k)), dtype=dtype)
        assert_same(xp.eye(n, m, k=k, dtype=getattr(xp, dtype)), expected, what=f"{k=}")


def test_eye_refuses():
    assert xp.eye(2).dtype is xp.float64
    with pytest.raises(ValueError, match="negative"):
        xp.eye(-1)
    with pytest.raises(TypeError):
        xp.eye(2.0)
    with pytest.raises(TypeError):
        xp.eye(2, k=0.5)


ARANGE = [
    (5,),
    (0,),
    (-3,),
    (2, 5),
    (5, 2),
    (5, 2, -1),
    (0, 10, 3),
    (10, 0, -4),
    (0, 9, 3),
    (-7, 7, 5),
    (0, 1, 10),
    (2**62, 2**62 + 3),
    (-(2**63), -(2**63) + 3),
]


@pytest.mark.parametrize("arguments", ARANGE)
def test_arange_of_integers(arguments):
    assert_same(xp.arange(*arguments), np.arange(*arguments))


@pytest.mark.parametrize(
    "arguments",
    [
        (5.0,),
        (0.5,),
        (0, 1, 0.1),
        (1.5, 4),
        (4, 1.5, -0.5),
        (1.0, 1.0),
        (0.0, -1.0),
        (2, 3.0),
        (-0.0, 1),
        (0, 1e-300, 1e300),
    ],
)
def test_arange_of_floats(arguments):
    x = xp.arange(*arguments)
    start, step = (arguments[0] if len(arguments) > 1 else 0, arguments[2] if len(arguments) > 2 else 1)
    # NumPy's step is the difference of the first two elements, which has rounding errors.
    assert_same(x, float(start) + np.arange(np.arange(*arguments).size) * float(step))


@pytest.mark.parametrize("dtype", NUMERIC)
def test_arange_dtype(dtype):
    for arguments in ((7,), (2, 90, 11), (90, 2, -11), (3.0, 9.0)):
        assert_same(xp.arange(*arguments, dtype=getattr(xp, dtype)), np.arange(*arguments).astype(dtype))


def test_arange_is_exact_at_the_limits():
    top = 2**64 - 1
    assert_same(xp.arange(top - 2, top, dtype=xp.uint64), np.asarray([top - 2, top - 1], np.uint64))
    assert_same(xp.arange(0, top, 2**63 + 5, dtype=xp.uint64), np.asarray([0, 2**63 + 5], np.uint64))
    assert_same(
        xp.arange(top, 0, -(2**63) - 5, dtype=xp.uint64), np.asarray([top, top - 2**63 - 5], np.uint64)
    )
    assert_same(xp.arange(-(2**63), 2**63 - 1, 2**63), np.asarray([-(2**63), 0]))
    # as floats, start and stop would be equal
    assert xp.arange(2**53, 2**53 + 1).size == 1
    assert xp.arange(0, 108086391056891901, 1080863910568919).size == 101


@given(st.integers(-1000, 1000), st.integers(-1000, 1000), st.integers(-50, 50).filter(bool))
def test_arange_of_a_range(start, stop, step):
    assert_same(xp.arange(start, stop, step), np.asarray(range(start, stop, step), dtype=np.int64))


EXACT = [
    (2**53, 2**53 + 3, 1.0),
    (2**53 + 1, 2**53 + 4, 1.0),
    (2**53 + 3, 2**53, -1.0),
    (-(2**53) - 1, -(2**53) - 9, -2.0),
    (2**60 + 1, 2**60 + 3000, 0.5 + 512),
    (0.5, 2**53 + 1, 2.0**51),
    (2**70 + 1, 2**70 + 2**20, 2**18 + 0.5),
    (2**70 + 3, 2**70 - 2**20, -(2**18)),
    (2**63, -(2**63), -(2**62) - 1),
    (0.0, 3, 2**53 + 1),
    (0.1, 0.9, 0.1),
    (0.9, 0.1, -0.1),
    (1, 1.3, 0.1),
    (-1e308, 1e308, 1e307),
    (1e308, -1e308, -1e307),
    (0, 5e-324, 1e300),
    (5e-324, 0, 1e300),
]


def count_of_arange(start: float, stop: float, step: float) -> int:
    """The number of elements: exact for integers of any type, otherwise the rounded quotient, as in NumPy."""
    if all(number == int(number) for number in (start, stop, step)):
        return max(0, math.ceil((Fraction(stop) - Fraction(start)) / Fraction(step)))
    difference = stop - start
    if difference and difference / step == 0:  # it underflows
        return int((difference > 0) == (step > 0))
    return max(0, math.ceil(difference / step))


@pytest.mark.parametrize("arguments", EXACT)
def test_arange_of_exact_numbers(arguments):
    """Each element is exact except for two roundings."""
    start, _, step = map(Fraction, arguments)
    x = xp.arange(*arguments, dtype=xp.float64)
    assert x.shape == (count_of_arange(*arguments),)
    for i, number in enumerate(np.asarray(x).tolist()):
        exact = start + i * step
        rounding = 2 * Fraction(math.ulp(i * float(step / 2))) + Fraction(math.ulp(float(exact)))
        assert abs(Fraction(number) - exact) <= rounding, i


@pytest.mark.parametrize(
    "arguments",
    [
        (2**53, 2**53 + 3),
        (2**53 + 3, 2**53 - 3, -1),
        (0, 9 * (2**53 + 1), 2**53 + 1),
        (-3 * (2**53 + 1), 2**55, 2**53 + 1),
        (2**64 - 5, 2**64 - 1, 3),
        (5, 2**64, 2**63 + 5),
        (2**53 + 5, 2**53 + 5),
    ],
)
def test_arange_of_large_integers_as_floats(arguments):
    """Integers of up to 64 bits are rounded once."""
    exact = range(*arguments)
    assert_same(xp.arange(*arguments, dtype=xp.float64), np.asarray([float(n) for n in exact], np.float64))
    if len(exact) and abs(exact[0]) < 2**63:
        single = [np.asarray(n, np.uint64 if n >= 0 else np.int64).astype(np.float32) for n in exact]
        assert_same(xp.arange(*arguments, dtype=xp.float32), np.asarray(single, np.float32))


@given(
    st.one_of(st.integers(-(2**60), 2**60), st.floats(-1e18, 1e18)),
    st.integers(-40, 40),
    st.one_of(st.integers(-50, 50), st.floats(-50, 50), st.sampled_from([2.0**-40, 0.1, -0.1])).filter(bool),
    st.integers(-2, 2),
)
def test_arange_length(start, count, step, off):
    stop = start + count * step
    stop = stop + off if isinstance(stop, int) else math.nextafter(stop, stop + off)
    wanted = count_of_arange(start, stop, step)
    assume(wanted < 2**20)
    assert xp.arange(start, stop, step).shape == (wanted,)


def test_arange_of_arrays():
    assert_same(xp.arange(xp.asarray(3), xp.asarray(5.0)), np.arange(3, 5.0))


def test_arange_refuses():
    for arguments in ((0, 1, 0), (0, 1, 0.0), (0.0, math.inf), (math.nan,), (0, 1, math.inf)):
        with pytest.raises(ValueError, match="arange"):
            xp.arange(*arguments)
    with pytest.raises(ValueError, match="fraction"):
        xp.arange(0, 2, 0.5, dtype=xp.int64)
    for arguments in ((0.0, 1.0, 1e-300), (0, 2**70), (-1e308, 1e308, 1.0)):
        with pytest.raises(ValueError, match="too many elements"):
            xp.arange(*arguments)
    with pytest.raises(OverflowError):
        xp.arange(2**63, 2**63 + 1)
    for arguments in ((300,), (-1, 2)):
        with pytest.raises(OverflowError):
            xp.arange(*arguments, dtype=xp.uint8)
    for arguments in ((1j,), ("3",), (None,), (0, 3, None), (xp.zeros(1),)):
        with pytest.raises(TypeError):
            xp.arange(*arguments)
    with pytest.raises(TypeError, match="Unsupported dtype"):
        xp.arange(2, dtype=xp.bool)


LINSPACE = [
    (0, 1, 5),
    (1, 0, 5),
    (0.1, 0.7, 7),
    (2, 2, 3),
    (0, 1, 1),
    (0, 1, 0),
    (0, 1, 2),
    (-1e308, 1e307, 4),
    (0, 5e-324, 4),
    (1j, 2 + 3j, 4),
    (0, 1j, 1),
    (1, 2j, 3),
]


@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("arguments", LINSPACE)
def test_linspace(arguments, endpoint):
    same(lambda ns: ns.linspace(*arguments, endpoint=endpoint), rtol=1e-15)
    x = np.asarray(xp.linspace(*arguments, endpoint=endpoint))
    if x.size:
        assert x[0] == arguments[0]
    if x.size > 1 and endpoint:
        assert x[-1] == arguments[1]
    if not endpoint:
        assert np.array_equal(x, np.asarray(xp.linspace(*arguments[:2], arguments[2] + 1))[:-1])


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATING])
def test_linspace_dtype(dtype):
    for arguments in ((0, 10, 4), (7.5, 1.25, 6), (3, 3, 1)):
        same(lambda ns, args=arguments: ns.linspace(*args, dtype=getattr(ns, dtype)), rtol=1e-6)


def test_linspace_rounds_down():
    assert_same(xp.linspace(-3, 3, 4, endpoint=False, dtype=xp.int8), np.asarray([-3, -2, 0, 1], np.int8))


def test_linspace_over_the_whole_range():
    x = np.asarray(xp.linspace(-1.7e308, 1.7e308, 3))
    assert x.tolist() == [-1.7e308, 0.0, 1.7e308]


def test_linspace_refuses():
    with pytest.raises(ValueError, match="must not be negative"):
        xp.linspace(0, 1, -1)
    with pytest.raises(TypeError, match="cannot cast"):
        xp.linspace(0, 1j, 3, dtype=xp.float64)
    with pytest.raises(TypeError, match="Unsupported dtype"):
        xp.linspace(0, 1, 3, dtype=xp.bool)
    with pytest.raises(OverflowError):
        xp.linspace(0, 10**400, 3)
    for arguments in ((0, 1, 2.5), ("0", 1, 2), (0, None, 2)):
        with pytest.raises(TypeError):
            xp.linspace(*arguments)


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("lengths", [(), (3,), (2, 3), (2, 3, 4), (2, 0, 3)])
def test_meshgrid(indexing, lengths):
    operands = [
        both(np.arange(n, dtype=t)) for n, t in zip(lengths, ("int8", "float32", "complex64"), strict=False)
    ]
    same(lambda ns, *v: ns.meshgrid(*v, indexing=indexing), *operands)


def test_meshgrid_copies():
    x, a = both(np.arange(6))
    for ns_x, ns_a in zip(xp.meshgrid(x[::-2], x[:2]), np.meshgrid(a[::-2], a[:2]), strict=True):
        assert_same(ns_x, ns_a)
        assert not strided.shares_storage(ns_x, x)
        ns_x[0, 0] = 5


def test_meshgrid_refuses():
    with pytest.raises(ValueError, match="indexing"):
        xp.meshgrid(xp.arange(2), indexing="ji")
    for x in (xp.zeros(()), xp.zeros((2, 2))):
        with pytest.raises(ValueError, match="must have one axis"):
            xp.meshgrid(xp.arange(2), x)
    with pytest.raises(TypeError):
        xp.meshgrid([1, 2])


@pytest.mark.parametrize("name", ["tril", "triu"])
def test_triangles(name):
    for what, (x, a) in pairs(special=True):
        for k in (0, 1, -1, 3, -3, 50, -50):
            if a.ndim >= 2:
                same(lambda ns, v, k=k: getattr(ns, name)(v, k=k), (x, a), what=f"{what}, {k=}")
        if a.ndim >= 2:
            assert_same(getattr(xp, name)(x, k=10**30), getattr(np, name)(a, k=99), what=what)
        else:
            with pytest.raises(ValueError, match="at least two axes"):
                getattr(xp, name)(x)


def test_eye_far_from_the_corner() -> None:
    for k in (-(2**70), -9, -3, 0, 2, 9, 2**70):
        near = max(-9, min(k, 9))
        assert np.array_equal(np.asarray(xp.eye(3, 4, k=k)), np.eye(3, 4, k=near))


def test_eye_of_more_elements_than_an_axis_holds():
    for shape in ((10**30, 0), (0, 10**30), (-(10**30), 1), (2**63, 0)):
        with pytest.raises(ValueError):
            xp.eye(*shape)
