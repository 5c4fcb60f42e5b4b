"""The texts of errors, literally; pickled and copied errors; cases with and without a hint."""

from __future__ import annotations

import copy
import pickle
from itertools import pairwise

import pytest

from stride0._base import errors as errors
from stride0._base.errors import AxisError, BroadcastError, ShapeError

BASES = {
    "ArgumentTypeError": (TypeError,),
    "ArgumentValueError": (ValueError,),
    "AxisError": (ValueError, IndexError),
    "BatchingError": (TypeError,),
    "BroadcastError": (ValueError,),
    "BroadcastIndexError": (ValueError, IndexError),
    "StretchError": (ValueError,),
    "StrictAttributeError": (TypeError, AttributeError),
    "StrictError": (TypeError,),
    "CastError": (TypeError,),
    "DTypeError": (TypeError,),
    "DeviceError": (ValueError,),
    "ExchangeError": (BufferError, ValueError),
    "ForeignArrayError": (TypeError,),
    "LazyError": (ValueError, TypeError),
    "OutOfBoundsError": (IndexError,),
    "RangeError": (OverflowError,),
    "ReplayError": (TypeError, ValueError),
    "ShapeError": (ValueError,),
    "GradientError": (RuntimeError,),
    "ReproducibilityError": (RuntimeError,),
    "WriteError": (ValueError,),
}


def text(*shapes: tuple[int, ...]) -> str:
    return str(BroadcastError("multiply", [(f"x{i}", s) for i, s in enumerate(shapes, 1)]))


def test_every_class_is_known_here():
    assert set(errors.__all__) == {*BASES, "Stride0Error", "BroadcastWarning"}


@pytest.mark.parametrize("name", sorted(BASES))
def test_bases(name):
    cls = getattr(errors, name)
    assert issubclass(cls, (errors.Stride0Error,))
    for base in BASES[name]:
        assert issubclass(cls, base)


@pytest.mark.parametrize(
    "name",
    sorted(
        set(BASES)
        - {"BroadcastError", "BroadcastIndexError", "StretchError"}
        - {"LazyError", "StrictAttributeError", "StrictError"}
    ),
)
def test_pickle_and_copy(name):
    error = getattr(errors, name)("sum", "no", [["x", "(3,)"], ["axis", "5"]], "Axes -1 and 0.")
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(twin) is type(error)
        assert str(twin) == str(error)
        assert (twin.operation, twin.problem, twin.facts, twin.accepts) == (
            "sum",
            "no",
            (("x", "(3,)"), ("axis", "5")),
            "Axes -1 and 0.",
        )


@pytest.mark.parametrize("grow", [None, ("x1", (1, 3, 1)), ("out", (2,))])
def test_pickle_and_copy_broadcast(grow):
    error = BroadcastError("add", [("x1", (1, 3, 1)), ("x2", [3, 1, 7])], grow)
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert str(twin) == str(error)
        assert (twin.operands, twin.axis, twin.sizes) == (error.operands, error.axis, error.sizes)


def test_text_without_facts():
    assert str(ShapeError("reshape", "6 elements do not fill a shape of 4")) == (
        "reshape: 6 elements do not fill a shape of 4"
    )


def test_text_with_facts():
    error = AxisError(
        "sum", "axis 3 is out of bounds", [("x", "(2, 3)"), ("axis", "3")], "axis must be from -2 to 1."
    )
    assert str(error) == (
        "sum: axis 3 is out of bounds\n\n    x      (2, 3)\n    axis   3\n\n    axis must be from -2 to 1."
    )


def test_text_with_accepts_alone():
    assert str(AxisError("sum", "no", accepts="yes")) == "sum: no\n\n    yes"


def test_broadcast_text_of_the_design():
    assert text((8, 3, 5), (2, 5)) == (
        "multiply: operands could not be broadcast together at axis -2\n"
        "\n"
        "    x1   (8, 3, 5)\n"
        "    x2      (2, 5)\n"
        "             ^\n"
        "    axis -2 has size 3 in x1 and 2 in x2; sizes must be equal, or one of them 1."
    )


def test_strict_error():
    error = errors.StrictError("sum", "x is of dtype bool", "Statistical Functions: x is numeric")
    for twin in (error, pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert twin.sentence == "Statistical Functions: x is numeric" and twin.problem == "x is of dtype bool"
        assert str(twin) == (
            "sum: x is of dtype bool\n"
            "\n"
            "    standard   Statistical Functions: x is numeric\n"
            "\n"
            "    stride0.strict is on."
        )


def test_broadcast_text_aligns_axes():
    assert str(BroadcastError("where", [("condition", (2, 100, 3)), ("x1", (4,)), ("x2", ())])) == (
        "where: operands could not be broadcast together at axis -1\n"
        "\n"
        "    condition   (2, 100, 3)\n"
        "    x1                  (4,)\n"
        "    x2                   ()\n"
        "                         ^\n"
        "    axis -1 has size 3 in condition and 4 in x1; sizes must be equal, or one of them 1."
    )


def test_broadcast_text_with_hint():
    assert text((15, 3, 5), (15, 3)) == (
        "multiply: operands could not be broadcast together at axis -1\n"
        "\n"
        "    x1   (15,  3, 5)\n"
        "    x2       (15, 3)\n"
        "                  ^\n"
        "    axis -1 has size 5 in x1 and 3 in x2; sizes must be equal, or one of them 1.\n"
        "    insert an axis: x2[:, :, None]"
    )


# The cases of the shape table that fail: shapes, axis, sizes, hint.
FAILURES = [
    ([(0,), (2, 2)], -1, (0, 2), ""),
    ([(5, 2, 4, 1), (3, 1, 1)], -3, (2, 3), ""),
    ([(5, 6), (5, 6, 10)], -1, (6, 10), "insert an axis: x1[:, :, None]"),
    ([(5, 6), (10,)], -1, (6, 10), ""),
    ([(2, 3), (2, 4)], -1, (3, 4), ""),
    ([(15, 3, 5), (15, 3)], -1, (5, 3), "insert an axis: x2[:, :, None]"),
    ([(0,), (2,)], -1, (0, 2), ""),
    ([(8, 3, 5), (2, 5)], -2, (3, 2), ""),
]


@pytest.mark.parametrize(("shapes", "axis", "sizes", "hint"), FAILURES)
def test_broadcast_failures(shapes, axis, sizes, hint):
    error = BroadcastError("add", [("x1", shapes[0]), ("x2", shapes[1])])
    assert (error.axis, error.sizes, error.hint()) == (axis, sizes, hint)
    assert "operands could not be broadcast together" in str(error)
    assert f"axis {axis} has size {sizes[0]} in x1 and {sizes[1]} in x2" in str(error)
    assert str(error).endswith(hint or "or one of them 1.")


@pytest.mark.parametrize(
    ("shapes", "hint"),
    [
        ([(3, 4), (3,)], "insert an axis: x2[:, None]"),
        ([(3,), (3, 4)], "insert an axis: x1[:, None]"),
        ([(2, 3, 4), (2, 4)], "insert an axis: x2[:, None, :]"),
        # either position next to the axis of size 1 gives the same shape
        ([(15, 3, 5), (15, 1)], "insert an axis: x2[:, :, None]"),
        ([(0, 4), (0,)], "insert an axis: x2[:, None]"),
        # two inserted axes
        ([(32, 3, 224, 224), (3,)], ""),
        # two possible positions
        ([(3, 3, 4), (3,)], ""),
        ([(2, 3, 2, 3, 5), (2, 3)], ""),
        # it would broadcast, but only by stretching an axis of the other operand
        ([(3, 1, 5), (3, 2)], ""),
        # no insertion helps
        ([(3, 4), (5,)], ""),
        ([(3,), (4,)], ""),
        # three operands, one of which can be corrected
        ([(3, 4), (3,), (4,)], "insert an axis: x2[:, None]"),
        # three operands, two of which would have to change
        ([(3, 4), (3,), (3,)], ""),
        # a shape of many ones must not take long
        ([(1,) * 40 + (2,), (1,) * 20 + (3,)], ""),
        ([(2,) * 40, (2,) * 20 + (3,)], ""),
    ],
)
def test_hint(shapes, hint):
    assert BroadcastError("add", [(f"x{i}", s) for i, s in enumerate(shapes, 1)]).hint() == hint


def test_no_hint_for_what_is_no_expression():
    assert BroadcastError("broadcast_shapes", [("shape 0", (3, 4)), ("shape 1", (3,))]).hint() == ""


def test_growing_axis():
    error = BroadcastError("add", [("x1", (1, 3, 1)), ("x2", (3, 1, 7))], grow=("x1", (1, 3, 1)))
    assert (error.axis, error.sizes) == (-1, (1, 7))
    assert str(error) == (
        "add: operands could not be broadcast together without growing x1 at axis -1\n"
        "\n"
        "    x1   (1, 3, 1)\n"
        "    x2   (3, 1, 7)\n"
        "                ^\n"
        "    axis -1 of x1 would have to grow from 1 to 7, but its shape is fixed."
    )


def test_growing_by_an_axis():
    error = BroadcastError("__setitem__", [("value", (1, 3, 4))], grow=("x[1, ...]", (3, 4)))
    assert (error.operands[0], error.axis, error.sizes) == (("x[1, ...]", (3, 4)), -3, (None, 1))
    assert str(error).endswith("x[1, ...] needs an axis -3 of size 1, but its shape is fixed.")


def test_growing_to_size_0():
    assert "would have to grow from 1 to 0" in str(BroadcastError("add", [("x2", (0,))], grow=("x1", (1,))))


def test_clash_where_growing_would_not_help():
    error = BroadcastError("add", [("x2", (2, 4))], grow=("x1", (1, 3)))
    assert error.axis == -1
    assert "axis -1 has size 3 in x1 and 4 in x2" in str(error)


def test_shapes_that_fit_after_all_make_no_trouble():
    error = BroadcastError("add", [("x1", (2,)), ("x2", ())])
    assert error.axis is None
    assert "operands could not be broadcast together" in str(error)


def test_caret_is_under_the_digits():
    for shapes in ([(7, 100, 20), (7, 3, 20)], [(12, 3, 5), (4, 3, 5)], [(10,), (11,)], [(2, 3), (2, 3, 17)]):
        lines = text(*shapes).split("\n")
        column = next(line for line in lines if line.strip() == "^").index("^")
        drawn = [line for line in lines if line.startswith("    x")]
        assert all(line[column].isdigit() and not line[column + 1].isdigit() for line in drawn)
        assert all(len(a) - len(b) in (-1, 0, 1) for a, b in pairwise(drawn))
