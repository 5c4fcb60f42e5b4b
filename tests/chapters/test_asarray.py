"""`asarray` of all kinds of objects: `copy=`, nested sequences, dtypes and devices."""

from __future__ import annotations

import array
import copy
import pickle
from typing import Any

import numpy as np
import pytest
from helpers import DTYPES, assert_same, both

import stride0 as xp
from stride0 import strided
from stride0.testing import flags

# --- copy=


def test_copy_of_arrays():
    x = xp.arange(6)
    assert xp.asarray(x) is x
    assert xp.asarray(x, copy=False) is x
    assert xp.asarray(x, dtype=xp.int64, copy=False) is x
    for made in (xp.asarray(x, copy=True), xp.asarray(x, dtype=xp.int64, copy=True)):
        assert_same(made, np.arange(6))
        assert not strided.shares_storage(made, x)
    for copy_argument in (None, True):
        assert_same(xp.asarray(x, dtype=xp.float32, copy=copy_argument), np.arange(6, dtype=np.float32))
    with pytest.raises(ValueError, match="copy=False"):
        xp.asarray(x, dtype=xp.float32, copy=False)


def test_copy_of_numpy_arrays():
    a = np.arange(6)
    assert np.shares_memory(np.asarray(xp.asarray(a, dtype=xp.int64)), a)
    assert not np.shares_memory(np.asarray(xp.asarray(a, copy=True)), a)
    assert_same(xp.asarray(a, dtype=xp.int8), a.astype(np.int8))
    with pytest.raises(ValueError, match="copy=False"):
        xp.asarray(a, dtype=xp.int8, copy=False)


@pytest.mark.parametrize(
    "value", [1, 1.5, True, 1j, [1, 2], [], (1.5,), [[1], [2]], range(3), [np.arange(2)]], ids=repr
)
def test_copy_of_what_has_no_memory_of_its_own(value):
    for copy_argument in (None, True):
        assert_same(xp.asarray(value, copy=copy_argument), np.asarray(value))
    with pytest.raises(ValueError, match="copy=False"):
        xp.asarray(value, copy=False)


@pytest.mark.parametrize("value", [0, 1, "no", [], np.True_])
def test_copy_takes_true_false_and_none(value):
    with pytest.raises(TypeError):
        xp.asarray([1], copy=value)


def test_numpy_scalars_become_arrays_of_their_own():
    for scalar in (np.float32(1.5), np.int8(-3), np.True_, np.complex64(1j), np.uint64(2**64 - 1)):
        x = xp.asarray(scalar)
        assert_same(x, scalar)
        x[...] = 0
        assert strided.is_writable(x)
        assert_same(xp.asarray(scalar, copy=True), scalar)


# --- nested sequences


NESTED = [
    [],
    [[], []],
    [[[]], [[]]],
    (),
    [True, False],
    [1, 2],
    [1, True],
    [1, 2.5],
    [1, 2.5, True],
    [1, 2j],
    [[1, 2], (3, 4)],
    [range(3), range(3)],
    [[[1]]],
    [2**63 - 1, -(2**63)],
    [1e300, -0.0, float("nan"), float("inf")],
    [np.float32(1), 2],
    [np.int8(1), np.int16(300)],
    [np.int8(1), 2.5],
    [np.uint8(1), np.int8(-1)],
    [np.True_, 1],
    [np.arange(3), np.arange(3.0)],
    [np.arange(3), [4, 5, 6]],
    [[np.arange(2)], [np.arange(2)]],
    [np.zeros((0, 2)), np.zeros((0, 2))],
    [array.array("f", [1, 2]), [3, 4]],
]


@pytest.mark.parametrize("nested", NESTED, ids=repr)
def test_nested_sequences(nested):
    assert_same(xp.asarray(nested), np.asarray(nested))
    for dtype in ("complex128", "float32", "bool"):
        if dtype == "complex128" or np.asarray(nested).dtype.kind != "c":
            with np.errstate(all="ignore"):
                assert_same(xp.asarray(nested, dtype=getattr(xp, dtype)), np.asarray(nested).astype(dtype))


def test_integers_beyond_all_dtypes_beside_floats():
    assert_same(xp.asarray([10**30, 1.5]), np.asarray([1e30, 1.5]))
    assert_same(xp.asarray([[10**30], [1j]]), np.asarray([[1e30], [1j]]))


def test_arrays_in_sequences():
    x, a = both(np.arange(3, dtype=np.int16))
    assert_same(xp.asarray([x, x]), np.asarray([a, a]))
    assert_same(xp.asarray([[x, a], [x[::-1], [7, 8, 9]]]), np.asarray([[a, a], [a[::-1], [7, 8, 9]]]))
    assert_same(xp.asarray([x[0], x[1], 5]), np.asarray([0, 1, 5]))
    assert_same(xp.asarray([x[0], x[1]]), np.asarray([0, 1], dtype=np.int16))
    made = xp.asarray([x])
    assert not strided.shares_storage(made, x)


RAGGED = [
    [[1, 2], [3]],
    [[1], 2],
    [1, [2]],
    [[], [1]],
    [[], [[]]],
    [[[]], []],
    [[1], []],
    [1, []],
    [[], 1],
    [[1, 2], [[3], [4]]],
    [np.arange(2), np.arange(3)],
    [np.arange(2), 1],
    [1, np.arange(2)],
    [[1, 2], np.arange(3)],
    [np.zeros((2, 2)), np.zeros(2)],
]


@pytest.mark.parametrize("nested", RAGGED, ids=repr)
def test_ragged_sequences(nested):
    with pytest.raises(ValueError):
        xp.asarray(nested)


def test_depth():
    nested = 1.0
    for depth in range(1, 65):
        nested = [nested]
        assert xp.asarray(nested).ndim == depth
    with pytest.raises(ValueError):
        xp.asarray([nested])
    with pytest.raises(ValueError):
        xp.asarray([xp.zeros((1,) * 64)])
    itself = []
    itself.append(itself)
    with pytest.raises(ValueError):
        xp.asarray(itself)
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError):
        xp.asarray(deep)
    while deep:  # level by level, because the interpreter would free it recursively
        deep = deep[0]


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 10**400])
def test_integers_that_no_default_dtype_holds(value):
    for nested in (value, [value], [[1], [value]]):
        with pytest.raises(OverflowError):
            xp.asarray(nested)
    if value == 2**63:
        assert_same(xp.asarray([value], dtype=xp.uint64), np.asarray([value], np.uint64))
    with pytest.raises(OverflowError):
        xp.asarray([value], dtype=xp.int8)
    if value < 10**300:
        assert_same(xp.asarray([value], dtype=xp.float64), np.asarray([float(value)]))
    else:
        with pytest.raises(OverflowError):
            xp.asarray([value], dtype=xp.float64)


def test_complex_into_real():
    for value in (1j, [1j], [[1], [1j]], np.ones(2, complex), xp.ones(2, dtype=xp.complex64)):
        for dtype in (xp.float64, xp.int8):
            with pytest.raises(TypeError, match="cast"):
                xp.asarray(value, dtype=dtype)


def test_subclasses_and_sequences_of_other_types():
    class MyList(list):
        pass

    class MyFloat(float):
        pass

    class MyInt(int):
        pass

    assert_same(xp.asarray(MyList([1, 2])), np.asarray([1, 2]))
    assert_same(xp.asarray([MyFloat(1.5), MyInt(3)]), np.asarray([1.5, 3.0]))
    assert_same(xp.asarray(MyInt(3)), np.asarray(3))

    class MyArray(np.ndarray):
        pass

    assert_same(xp.asarray(np.arange(3).view(MyArray)), np.arange(3))


# --- arguments


def test_device_and_dtype_arguments():
    cpu = xp.zeros(1).device
    for device in (None, "cpu", cpu, xp.Device("cpu")):
        assert xp.asarray([1], device=device).device == cpu
    for device in ("gpu", 0, "CPU", object()):
        with pytest.raises(ValueError):
            xp.asarray([1], device=device)
    for dtype in (str, "f16", np.longdouble, np.dtype(">f8"), 3, object()):
        with pytest.raises(TypeError, match="Unsupported dtype"):
            xp.asarray([1], dtype=dtype)


@pytest.mark.parametrize("name", DTYPES)
def test_numpy_understands_the_dtypes(name):
    assert np.dtype(getattr(xp, name)) == np.dtype(name)
    assert np.zeros(2, dtype=getattr(xp, name)).dtype == np.dtype(name)
    assert pickle.loads(pickle.dumps(getattr(xp, name))) is getattr(xp, name)
    assert copy.deepcopy(getattr(xp, name)) is getattr(xp, name)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_integers_at_the_limits_of_a_dtype(dtype):
    limits = np.iinfo(dtype)
    target = getattr(xp, dtype)
    low, high = int(limits.min), int(limits.max)
    assert xp.asarray([low, high, high // 2 + 1], dtype=target).tolist() == [low, high, high // 2 + 1]
    x = xp.zeros(2, dtype=target)
    for value in (low - 1, high + 1, -(2**63) - 1, 2**64, 10**30):
        if not low <= value <= high:
            with pytest.raises(xp.RangeError, match="out of bounds"):
                xp.asarray([0, value], dtype=target)
            with pytest.raises(xp.RangeError, match="out of bounds"):
                x[0] = value


def test_the_device_of_an_array():
    x = xp.asarray([1.0, 2.0])
    assert xp.asarray(x, device=x.device) is x and x.to_device(x.device) is x
    assert xp.zeros(3, device=x.device).device == x.device
    with flags(devices=("cpu", "other")):
        y = xp.zeros(3, device=xp.Device("other"))
        assert y.to_device(x.device).device == x.device and y.device != x.device


RANGES = [
    *(range(0), range(3), range(5, -5, -3), range(200), range(0, -300, -100), range(2000, 0, -1)),
    *(
        range(-(2**63), -(2**63) + 2),
        range(2**63 - 2, 2**63),
        range(0, 2**64, 2**62),
        range(2**63, 2**63 + 3),
    ),
    *(
        range(2**70, 2**70 + 2),
        range(2**25, 2**25 + 9, 3),
        range(2**53 - 2, 2**53 + 5),
        range(1, -(2**70), -(2**69)),
    ),
]


def made(call: Any) -> Any:
    try:
        x = call()
    except (OverflowError, TypeError, ValueError) as error:
        return type(error)
    return x.dtype.name, x.shape, x.tolist()


@pytest.mark.parametrize("dtype", [None, *DTYPES, "float16", "bfloat16"])
def test_ranges_are_as_lists(dtype: Any) -> None:
    """No Python integers are made: the ends are checked, and C computes the integers between them."""
    kind = None if dtype is None else getattr(xp, dtype)
    forms: list[Any] = [
        lambda r: r,
        lambda r: [r, r],
        lambda r: [r, [1.5] * len(r), tuple(r)],
        lambda r: [[True] * len(r), r],
        lambda r: [[r], [r]],
        lambda r: [r, xp.zeros(len(r), dtype=xp.int8)],
    ]
    for numbers in RANGES:
        for form in forms:
            found = made(lambda form=form, r=numbers: xp.asarray(form(r), dtype=kind))
            assert found == made(lambda form=form, r=list(numbers): xp.asarray(form(r), dtype=kind)), numbers


@pytest.mark.parametrize(
    "nested",
    [
        *([range(3), range(2)], [range(3), 1], [1, range(3)], [range(1), range(0)], [[range(2)], range(2)]),
        *([range(2), [1, [2]]], [[], range(1)]),
    ],
    ids=repr,
)
def test_ragged_ranges(nested: Any) -> None:
    with pytest.raises(xp.ShapeError, match="ragged"):
        xp.asarray(nested)


@pytest.mark.parametrize(
    "huge",
    [
        *(range(10**14), [range(10**14)], (range(10**14), range(10**14)), [[range(10**14)]] * 2),
        *([range(10**18)] * 100, range(10**19), range(0, -(10**30), -1), [range(10**30)]),
    ],
    ids=lambda huge: repr(huge)[:40],
)
def test_ranges_larger_than_memory(huge: Any) -> None:
    """Memory for all elements is allocated before the first is converted."""
    for kind in (None, xp.float32, xp.int64):
        with pytest.raises((MemoryError, xp.RangeError)):
            xp.asarray(huge, dtype=kind)
    with pytest.raises(MemoryError):
        xp.asarray(huge, dtype=xp.float64)


def test_a_dtype_holds_for_sequences_beside_arrays() -> None:
    x = xp.asarray([1], dtype=xp.uint8)
    assert_same(xp.asarray([[2**63], x], dtype=xp.uint64), np.asarray([[2**63], [1]], np.uint64))
    with pytest.raises(xp.RangeError):
        xp.asarray([[300], x], dtype=xp.uint8)
