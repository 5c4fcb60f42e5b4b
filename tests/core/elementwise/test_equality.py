"""`==` and `!=` of arrays and dtypes with other objects, compared with NumPy."""

from __future__ import annotations

import array
import decimal
import fractions
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pytest

import stride0 as xp
from stride0.autograd import grad
from stride0.testing import flags

ROW = [0.0, 1.0, 2.5]


class Pair(NamedTuple):
    first: float
    second: float


SEQUENCES: dict[str, tuple[list[Any], Any]] = {
    "list": (ROW, [0, 1, 2.5]),
    "tuple": (ROW, (0.0, 2.0, 2.5)),
    "range": ([0, 1, 2], range(3)),
    "named tuple": ([1.0, 2.0], Pair(1.0, 3.0)),
    "nested list": (ROW, [[0, 1, 2], [0.0, 1.0, 2.5]]),
    "list of one": (ROW, [1]),
    "list of bool": ([1, 0], [True, True]),
    "empty list": ([], []),
    "integers beside a float": ([1, 2, 3], [1, 2.5, 3]),
    "NumPy scalars": (ROW, [np.float32(0.0), np.float32(1.0), np.float32(2.0)]),
    "array.array": (ROW, array.array("d", [0.0, 1.0, 3.0])),
    "memoryview": ([0, 1, 2], memoryview(b"\0\1\3")),
    "bytearray": ([0, 1, 2], bytearray(b"\0\1\3")),
}


@pytest.mark.parametrize("values, other", SEQUENCES.values(), ids=SEQUENCES)
def test_sequences_and_memory_are_compared_by_element(values: list[Any], other: Any) -> None:
    x, reference = xp.asarray(values), np.asarray(values)
    # NumPy takes a bytearray for a string.
    right = np.frombuffer(other, dtype=np.uint8) if isinstance(other, bytearray) else other
    pairs = [(x == other, reference == right), (x != other, reference != right)]
    if not isinstance(other, (bytearray, memoryview)):  # on the left they compare their bytes
        pairs += [(other == x, reference == right), (other != x, reference != right)]
    for found, expected in pairs:
        assert type(found) is xp.Array and found.dtype is xp.bool
        assert found.tolist() == expected.tolist()


def test_a_list_of_arrays() -> None:
    x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    assert (x == [x[0, :], x[0, :]]).tolist() == [[True, True], [False, False]]


@pytest.mark.parametrize("shape", [(3,), (), (2, 0), (2, 3)])
def test_none_equals_no_element(shape: tuple[int, ...]) -> None:
    x, reference = xp.ones(shape), np.ones(shape)
    assert (x == None).tolist() == (reference == None).tolist()  # noqa: E711
    assert (x != None).tolist() == (reference != None).tolist()  # noqa: E711
    assert (None == x).tolist() == (None == reference).tolist()  # noqa: E711, SIM300
    assert (xp.broadcast_to(x, (4, *shape)) != None).shape == (4, *shape)  # noqa: E711


UNKNOWN: dict[str, Any] = {
    "str": "a",
    "bytes": b"abc",
    "list of str": ["a", "b", "c"],
    "object": object(),
    "dict": {1: 2},
    "set": {1.0},
    "type": float,
    "Fraction": fractions.Fraction(1, 2),
    "Decimal": decimal.Decimal(1),
    "Ellipsis": ...,
}


@pytest.mark.parametrize("other", UNKNOWN.values(), ids=UNKNOWN)
def test_what_is_no_operand_is_refused(other: Any) -> None:
    """As with `x + other`: raises, never returns unequal silently."""
    x = xp.asarray(ROW)
    with pytest.raises(TypeError):
        x + other
    for call in (lambda: x == other, lambda: x != other, lambda: other == x, lambda: other != x):
        with pytest.raises(TypeError, match=type(other).__name__):
            call()


def test_other_errors() -> None:
    x = xp.asarray(ROW)
    with pytest.raises(xp.BroadcastError):
        x == [1, 2]  # noqa: B015
    with pytest.raises(xp.ShapeError, match="ragged"):
        x == [[1, 2], 3]  # noqa: B015
    with pytest.raises(xp.ForeignArrayError):
        x == np.asarray(ROW)  # noqa: B015
    # The function takes arrays and scalars, as ever.
    for other in (ROW, None, "a"):
        with pytest.raises(xp.ForeignArrayError):
            xp.equal(x, other)


# --- what has a comparison of its own


class Own:
    """A type that can compare itself with arrays."""

    def __eq__(self, other: object) -> Any:
        return "equal", type(other)

    def __ne__(self, other: object) -> Any:
        return "unequal", type(other)

    __hash__ = None  # type: ignore[assignment]


class Asking:
    """Its comparison calls the array's comparison."""

    def __eq__(self, other: object) -> Any:
        return other.__eq__(self)

    __hash__ = None  # type: ignore[assignment]


def test_reflected_comparisons_have_their_say() -> None:
    x = xp.asarray(ROW)
    assert (x == mock.ANY) is True and (x != mock.ANY) is False and mock.ANY in x
    assert (x == Own()) == ("equal", xp.Array) and (x != Own()) == ("unequal", xp.Array)
    assert (Own() == x) == ("equal", xp.Array)
    assert xp.asarray(1.0) == pytest.approx(1.0 + 1e-9) and xp.asarray(2.0) != pytest.approx(1.0)
    with pytest.raises(TypeError, match="Asking"):
        x == Asking()  # noqa: B015
    with xp.strict():
        assert x == mock.ANY and xp.asarray(1.0) == pytest.approx(1.0)
        assert (x == Own()) == ("equal", xp.Array)


def test_the_comparison_of_a_value_is_the_callers_code() -> None:
    """Strict mode also checks the comparison method of the other operand."""

    class Careless:
        def __eq__(self, other: Any) -> Any:
            return other + np.float64(1.0)

        __hash__ = None  # type: ignore[assignment]

    x = xp.asarray(ROW)
    assert (x == Careless()).tolist() == [1.0, 2.0, 3.5]
    with xp.strict(), pytest.raises(xp.StrictError, match="NumPy scalar"):
        x == Careless()  # noqa: B015


def test_xarray_answers() -> None:
    xarray = pytest.importorskip("xarray")
    x = xp.asarray(ROW)
    found = x == xarray.DataArray(x, dims="a")
    assert type(found) is xarray.DataArray and found.values.all()


# --- in


def test_contains() -> None:
    x, reference = xp.asarray([[0.0, 1.0], [2.0, 3.0]]), np.asarray([[0.0, 1.0], [2.0, 3.0]])
    for value in (None, 1, 5, True, np.float64(2.0), [0, 9], [9, 9], (7.0, 3.0)):
        assert (value in x) is bool(value in reference), value
    with pytest.raises(TypeError):
        "a" in x  # noqa: B015


# --- modes


def test_strict_mode() -> None:
    x = xp.asarray(ROW)
    with xp.strict(), pytest.raises(xp.StrictError):
        x == bytearray(b"123")  # noqa: B015
    for other in (None, ROW, (1, 2, 3), "a", object(), range(3)):
        for call in (lambda o=other: x == o, lambda o=other: x != o, lambda o=other: o == x):
            with xp.strict(), pytest.raises(xp.StrictError) as caught:
                call()
            assert caught.value.sentence.startswith("Type Promotion Rules")
    with xp.strict():
        found = x == 1.0
    assert found.tolist() == [False, True, False]


def test_test_configurations() -> None:
    with flags(devices=("gpu", "cpu"), default_float="float32"):
        x = xp.asarray(ROW)
        found = x == ROW
        assert found.device == x.device and found.dtype is xp.bool and (x != None).device == x.device  # noqa: E711


def test_guarded_broadcasts() -> None:
    with xp.broadcasting("exact"), pytest.raises(xp.StretchError):
        xp.asarray(ROW) == [1.0]  # noqa: B015


def test_gradients() -> None:
    """The result of a comparison has derivative zero."""
    slope = grad(lambda x: xp.sum(xp.where(x == ROW, x * 2, x * 3) * xp.astype(x != None, xp.float64)))  # noqa: E711
    assert slope(xp.asarray([0.0, 5.0, 2.5])).tolist() == [2.0, 3.0, 2.0]


# --- dtypes

NAMES = ("bool", *(f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)), "float32", "float64")
NAMES += ("complex64", "complex128")


@pytest.mark.parametrize("name", NAMES)
def test_dtypes_equal_what_stands_for_them(name: str) -> None:
    dtype, others = getattr(xp, name), [getattr(xp, other) for other in NAMES if other != name]
    builtin = {"bool": bool, "int64": int, "float64": float, "complex128": complex}.get(name, name)
    for same in (name, np.dtype(name), np.dtype(name).type, builtin):
        assert dtype == same and same == dtype
        assert (dtype != same) is False and (same != dtype) is False
        assert not any(other == same or same == other for other in others)
        assert all(other != same and same != other for other in others)
        assert xp.zeros(1, dtype=same).dtype is dtype


def test_other_integers_of_numpy() -> None:
    assert xp.int64 == np.longlong and xp.uint64 == np.ulonglong


STRANGE = [object, None, 1, 1.5, "float16", "numeric", "", [], ..., np.float16, np.floating, np.integer]
STRANGE += [np.generic, np.number, np.str_, np.object_, np.timedelta64, np.datetime64, np.dtype("M8[s]")]
STRANGE += [np.dtype(">f8"), np.dtype([("a", "i4")]), np.dtype("O"), np.ndarray, np, type, str]


class NoHash(type):
    """A metaclass whose classes raise when compared or hashed."""

    __module__ = None  # type: ignore[assignment]

    def __eq__(cls, other: object) -> bool:
        raise ValueError

    __hash__ = None  # type: ignore[assignment]


def test_what_stands_for_no_dtype_is_unequal() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in NAMES:
            dtype = getattr(xp, name)
            assert dtype not in STRANGE and not any(dtype == other for other in STRANGE)
            assert all(dtype != other for other in STRANGE)
            assert dtype in [object, None, name] and dtype == mock.ANY
            assert dtype.__eq__(NoHash("C", (), {})) is not True


def test_hashes_are_those_of_dtypes_alone() -> None:
    """As in NumPy: `np.dtype("float64") == "float64"`, and neither finds the other in a dictionary."""
    assert {xp.float64: 1}[xp.float64] == 1 and len({xp.float64, xp.float32, xp.float64}) == 2
    assert hash(np.dtype("float64")) != hash("float64")
    assert "float64" not in {xp.float64: 1} and len({xp.float64: 1, "float64": 2}) == 2


def test_dtypes_in_strict_mode() -> None:
    calls: list[Callable[[], Any]] = [
        lambda: xp.float64 == np.float64,
        lambda: xp.float64 != "float32",
        lambda: xp.float32 == float,  # noqa: E721
        lambda: "float64" == xp.float64,  # noqa: SIM300
        lambda: np.dtype("float64") == xp.float64,
    ]
    for call in calls:
        call()
        with xp.strict(), pytest.raises(xp.StrictError) as caught:
            call()
        assert caught.value.sentence.startswith("Data Types")
    with xp.strict():
        assert xp.float64 == xp.float64 and xp.float64 != xp.float32
        assert xp.float64 not in [None, object, "numeric"]
