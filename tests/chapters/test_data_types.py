"""Data type functions, against NumPy."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from helpers import (
    COMPLEX_FLOATING,
    DTYPES,
    FLOATING,
    INTEGERS,
    REAL,
    assert_same,
    both,
    pair,
    pairs,
    quietly,
)

import stride0 as xp
from stride0 import strided


def dt(name):
    return getattr(xp, name)


@pytest.mark.parametrize("target", DTYPES)
def test_astype(target):
    for what, (x, a) in pairs():
        if a.dtype.kind == "c" and target in REAL:
            with pytest.raises(TypeError, match="cannot cast complex"):
                xp.astype(x, dt(target))
            continue
        if a.dtype.kind == "f" and target in INTEGERS:
            # If numbers do not fit, NumPy returns the result of C, which is undefined.
            x, a = xp.abs(x), np.abs(a)
        got = xp.astype(x, dt(target))
        assert_same(got, quietly(lambda a=a: a.astype(target)), what=what)
        assert not strided.shares_storage(got, x)
        assert (xp.astype(x, dt(target), copy=False) is x) == (a.dtype.name == target)


def test_astype_of_special_values():
    a = np.asarray([0.0, -0.0, np.nan, np.inf, -np.inf, 0.5])
    x, _ = both(a)
    assert_same(xp.astype(x, xp.bool), a.astype(bool))
    assert_same(xp.astype(x, xp.float32), a.astype(np.float32))
    z, c = both(np.asarray([0, 1j, np.nan, complex(0, np.nan), -0.0]))
    assert_same(xp.astype(z, xp.bool), c.astype(bool))
    assert_same(xp.astype(z, xp.complex64), c.astype(np.complex64))
    b, a = both([True, False])
    assert_same(xp.astype(b, xp.complex128), a.astype(complex))


def test_astype_refuses():
    x = xp.zeros(2)
    for call in (
        lambda: xp.astype(np.zeros(2), xp.int8),
        lambda: xp.astype(x, "int9"),
        lambda: xp.astype(x, object),
        lambda: xp.astype(x, np.dtype(">f8")),
        lambda: xp.astype(x, None),
        lambda: xp.astype(x, xp.int8, copy=None),
    ):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(ValueError, match="unknown device"):
        xp.astype(x, xp.int8, device="gpu")


@pytest.mark.parametrize(("first", "second"), list(product(DTYPES, DTYPES)))
def test_pairs_of_dtypes(first, second):
    expected = np.result_type(first, second).name
    assert xp.result_type(dt(first), dt(second)) is dt(expected)
    assert xp.result_type(xp.zeros(2, dtype=dt(first)), dt(second)) is dt(expected)
    assert xp.can_cast(dt(first), dt(second)) is (expected == second)
    assert xp.can_cast(xp.zeros((), dtype=dt(first)), dt(second)) is (expected == second)


def test_order_of_dtypes_is_nothing():
    for names in (
        ("int16", "uint16", "float32"),
        ("int8", "uint8", "uint16"),
        ("int64", "uint64", "complex64"),
    ):
        expected = dt(np.result_type(*names).name)
        for order in permutations(names):
            assert xp.result_type(*map(dt, order)) is expected


@pytest.mark.parametrize("name", DTYPES)
def test_python_scalars_are_weak(name):
    for scalar in (True, 1, 1.0, 1j):
        expected = np.result_type(np.dtype(name), scalar).name
        assert xp.result_type(dt(name), scalar) is dt(expected)
        assert xp.result_type(scalar, xp.zeros(2, dtype=dt(name))) is dt(expected)
    expected = np.result_type(np.dtype(name), 1, 1j).name
    assert xp.result_type(1, dt(name), 1j) is xp.result_type(1j, 1, dt(name)) is dt(expected)


def test_result_type_refuses():
    for arguments in ((), (1,), (1, 2.0)):
        with pytest.raises(ValueError, match="at least one array or dtype"):
            xp.result_type(*arguments)
    for argument in (np.zeros(2), "U3", np.dtype("U3"), None):
        with pytest.raises(TypeError):
            xp.result_type(xp.int8, argument)


@pytest.mark.parametrize("name", DTYPES)
def test_spellings_of_numpy(name):
    numpys = np.dtype(name)
    for code in (numpys.str, numpys.str[1:], "=" + numpys.str[1:], "<" + numpys.str[1:], numpys.char):
        assert np.dtype(code) == numpys
        assert xp.zeros(2, dtype=code).dtype is dt(name)
        assert xp.asarray([1, 0], dtype=code).dtype is dt(name)
        assert xp.astype(xp.zeros(2), code).dtype is dt(name) or name == "bool"
        assert xp.result_type(code, xp.bool) is dt(name)
        assert xp.isdtype(code, dt(name))
        with xp.strict(), pytest.raises(xp.StrictError, match="dtype"):
            xp.zeros(2, dtype=code)
    if numpys.itemsize > 1:
        with pytest.raises(xp.DTypeError, match="Unsupported dtype '>"):
            xp.zeros(2, dtype=">" + numpys.str[1:])


@pytest.mark.parametrize(
    "text",
    ["f16", "c32", "U3", "S3", "a5", "O", "M8[s]", "f4,i8", "(2,)f4", "(2,f4", "", "<", "float12", "x"],
)
def test_spellings_that_are_no_dtype(text):
    with pytest.raises(xp.DTypeError, match="zeros: Unsupported dtype"):
        xp.zeros(2, dtype=text)


@pytest.mark.parametrize("name", FLOATING)
def test_finfo(name):
    info = np.finfo(name)
    real = "float32" if info.bits == 32 else "float64"
    for argument in (dt(name), xp.zeros(2, dtype=dt(name))):
        got = xp.finfo(argument)
        assert got.dtype is dt(real)
        assert got.bits == info.bits
        for field in ("eps", "max", "min", "smallest_normal"):
            assert type(getattr(got, field)) is float
            assert getattr(got, field) == float(getattr(info, field))
    assert repr(xp.finfo(dt(name))).startswith(f"finfo(dtype={real}, bits={info.bits}, eps=")


@pytest.mark.parametrize("name", INTEGERS)
def test_iinfo(name):
    info = np.iinfo(name)
    for argument in (dt(name), xp.zeros(2, dtype=dt(name))):
        got = xp.iinfo(argument)
        assert (got.dtype, got.bits, got.max, got.min) == (dt(name), info.bits, info.max, info.min)
        assert type(got.max) is type(got.min) is int
    assert repr(got) == f"iinfo(dtype={name}, bits={info.bits}, min={info.min}, max={info.max})"


def test_info_refuses():
    for name in ("bool", *INTEGERS):
        with pytest.raises(TypeError, match="floating-point dtype"):
            xp.finfo(dt(name))
    for name in ("bool", *FLOATING):
        with pytest.raises(TypeError, match="integer dtype"):
            xp.iinfo(dt(name))
    for call in (xp.finfo, xp.iinfo):
        with pytest.raises(TypeError):
            call(str)


@pytest.mark.parametrize("name", DTYPES)
def test_isdtype(name):
    kinds = [
        "bool",
        "signed integer",
        "unsigned integer",
        "integral",
        "real floating",
        "complex floating",
        "numeric",
    ]
    for kind in kinds:
        assert xp.isdtype(dt(name), kind) is np.isdtype(np.dtype(name), kind)
    for other in DTYPES:
        assert xp.isdtype(dt(name), dt(other)) is (name == other)
    for some in (("bool", "integral"), ("real floating", xp.int8), (xp.bool,), ()):
        expected = any(k is dt(name) or (isinstance(k, str) and np.isdtype(np.dtype(name), k)) for k in some)
        assert xp.isdtype(dt(name), some) is expected


def test_isdtype_refuses():
    with pytest.raises(ValueError, match="unknown kind"):
        xp.isdtype(xp.int8, "integer")
    with pytest.raises(ValueError, match="unknown kind"):
        xp.isdtype(xp.int8, ("integral", "integer"))
    for arguments in ((xp.int8, None), (xp.int8, int), ("float8", "integral"), (xp.int8, ["integral"])):
        with pytest.raises(TypeError):
            xp.isdtype(*arguments)


@pytest.mark.parametrize("name", COMPLEX_FLOATING)
def test_text_of_the_refused_cast(name):
    with pytest.raises(TypeError) as caught:
        xp.astype(pair(name)[0], xp.float32)
    assert str(caught.value) == (
        f"astype: cannot cast complex {name} to real float32\n\n"
        "    take a component first: real(x), imag(x) or abs(x)"
    )


@pytest.mark.parametrize("source", ["float32", "float64"])
def test_casts_to_integers_of_runs_with_values_that_do_not_fit(source):
    """Casts go through a 64-bit integer, whose least value replaces numbers that do not fit."""
    rng = np.random.default_rng(0)
    fits = (rng.uniform(-(2.0**31) + 200, 2.0**31 - 200, 2500)).astype(source)
    for value in (
        None,
        2.0**31,
        -(2.0**31),
        2.0**32 + 2**20,
        -(2.0**40),
        2.0**63,
        1e30,
        np.inf,
        -np.inf,
        np.nan,
    ):
        for place in (0, 1023, 1024, 2499):
            a = fits.copy()
            if value is not None:
                a[place] = value
            x = xp.asarray(a, copy=True)
            wide = [int(v) if abs(v) < 2.0**63 else -(2**63) for v in a.tolist()]
            for target in ("int8", "int16", "int32", "uint8", "uint16", "uint32", "int64"):
                bits = 8 * np.dtype(target).itemsize
                expected = np.array([v % 2**bits for v in wide], dtype=f"uint{bits}").view(f"int{bits}")
                found = np.asarray(xp.astype(x, getattr(xp, target))).view(f"int{bits}")
                assert np.array_equal(found, expected), (value, place, target)
