"""`explain`: its facts agree with the operations, and its proposals make shapes fit.

The texts are in `test_explain_texts.py`, the pictures in `test_explain_pictures.py`.
"""

from __future__ import annotations

import math
import operator
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import Drawn, drawn_arrays, examples

import stride0 as xp
from stride0 import strided
from stride0.__main__ import main
from stride0._explain.explain import Explanation, explain

SIZES = st.sampled_from([0, 1, 1, 2, 3, 4])
SHAPES = st.lists(SIZES, max_size=4).map(tuple)


def test_it_is_in_the_namespace():
    assert xp.explain is explain
    assert xp.explain.__module__.startswith("stride0")


# --- shapes


def inserted(expression: str, name: str, array: Any) -> Any:
    """The NumPy array that an expression with inserted axes gives."""
    return eval(expression, {name: array})


@examples(300)
@given(st.lists(SHAPES, min_size=1, max_size=4))
def test_agrees_with_numpy(shapes):
    e = explain(*shapes)
    assert e.shapes == tuple(shapes)
    try:
        expected = np.broadcast_shapes(*shapes)
    except ValueError:
        assert e.result_shape is None and e.stretched_strides is None and e.plan is None
        assert isinstance(e.error, xp.BroadcastError) and e.error.axis == e.clashes[0]
        assert str(e).startswith("broadcast: operands could not be broadcast together at axis")
    else:
        assert e.result_shape == expected
        assert e.error is None and e.clashes == () and e.insertions == ()


@examples(300)
@given(st.lists(SHAPES, min_size=2, max_size=3))
def test_insertions_are_all_there_are(shapes):
    e = explain(*shapes)
    if e.error is None:
        return
    arrays = [np.empty(shape) for shape in shapes]
    for expression, k, axis, result in e.insertions:
        changed = list(arrays)
        changed[k] = inserted(expression, e.names[k], arrays[k])
        assert changed[k].shape == (*shapes[k][:axis], 1, *shapes[k][axis:])
        assert np.broadcast_shapes(*[x.shape for x in changed]) == result
    found = {(k, (*shapes[k][:axis], 1, *shapes[k][axis:])) for _, k, axis, _ in e.insertions}
    assert len(found) == len(e.insertions)
    for k, shape in enumerate(shapes):
        for axis in range(len(shape) + 1):
            longer = (*shape[:axis], 1, *shape[axis:])
            try:
                np.broadcast_shapes(*shapes[:k], longer, *shapes[k + 1 :])
            except ValueError:
                assert (k, longer) not in found
            else:
                assert (k, longer) in found


@examples(300)
@given(SHAPES, SHAPES)
def test_matmul_agrees_with_numpy(one, two):
    e = explain(one, two, op="matmul")
    try:
        expected = np.matmul(np.ones(one), np.ones(two)).shape
    except ValueError:
        assert e.result_shape is None
        with pytest.raises(ValueError) as caught:
            xp.matmul(xp.ones(one), xp.ones(two))
        assert type(e.error) is type(caught.value) and str(e.error) == str(caught.value)
        for expression, k, _, result in e.insertions:
            arrays = [np.ones(one), np.ones(two)]
            arrays[k] = inserted(expression, e.names[k], arrays[k])
            assert np.matmul(*arrays).shape == result
    else:
        assert e.result_shape == expected == xp.matmul(xp.ones(one), xp.ones(two)).shape
        assert e.error is None and e.insertions == ()


@pytest.mark.parametrize("shapes", [((8, 3, 5), (2, 5)), ((5, 6), (10,)), ((0,), (2, 2))])
def test_the_error_is_that_of_the_operation(shapes):
    with pytest.raises(xp.BroadcastError) as caught:
        xp.multiply(*map(xp.ones, shapes))
    assert str(explain(*shapes, op=xp.multiply).error) == str(caught.value)
    assert str(explain(*map(xp.ones, shapes), op="multiply").error) == str(caught.value)


# --- memory and plan


def places(a: Any) -> set[int]:
    """The addresses of the elements of a NumPy array."""
    offsets = np.zeros(a.shape, dtype=np.int64)
    for axis, (n, step) in enumerate(zip(a.shape, a.strides, strict=True)):
        offsets += (np.arange(n) * step).reshape((n,) + (1,) * (a.ndim - axis - 1))
    return set(offsets.ravel().tolist())


@examples(300)
@given(drawn_arrays(), SHAPES)
def test_arrays_are_read_as_broadcast_to_reads_them(drawn: Drawn, other):
    e = explain(drawn.x, other)
    assert e.shapes[0] == drawn.x.shape and e.dtypes == (drawn.x.dtype, xp.float64)
    assert e.strides == (strided.strides(drawn.x), strided.strides(xp.ones(other)))
    assert e.offsets == (strided.offset(drawn.x), 0)
    assert e.stored_nbytes[0] == len(places(drawn.a)) * drawn.a.itemsize
    if e.result_shape is None:
        assert e.addressed_nbytes == e.stored_nbytes
        return
    assert e.stretched_strides is not None and e.plan is not None
    size = math.prod(e.result_shape)
    assert e.addressed_nbytes == (size * drawn.a.itemsize, size * 8)
    for k, x in enumerate((drawn.x, xp.ones(other))):
        view = xp.broadcast_to(x, e.result_shape)
        for n, read, step in zip(view.shape, e.stretched_strides[k], strided.strides(view), strict=True):
            assert read == step or n == 1
        missing = len(e.result_shape) - x.ndim
        own = (1,) * missing + x.shape
        expected = {axis - len(own) for axis in range(len(own)) if own[axis] != e.result_shape[axis]}
        assert set(e.stretched[k]) == expected


@examples(100)
@given(drawn_arrays(["float64", "float32"]), drawn_arrays(["float64"]))
def test_the_result_is_laid_out_as_planned(one: Drawn, two: Drawn):
    e = explain(one.x, two.x, op=xp.add)
    if e.result_shape is None:
        return
    out = one.x + two.x
    assert e.plan is not None and e.plan["result_strides"] == strided.strides(out)
    assert e.result_dtype is out.dtype and e.result_shape == out.shape
    assert math.prod(loop["size"] for loop in e.plan["merged"]) == out.size or not out.size


def test_windows_share_their_elements():
    x = strided.as_strided(xp.arange(6), (4, 3), (1, 1))
    assert explain(x).stored_nbytes == (48,) and explain(x).addressed_nbytes == (96,)


@pytest.mark.parametrize(
    ("op", "dtypes", "expected"),
    [
        ("add", ["int8", "float32"], "float32"),
        ("divide", ["int8", "int8"], "float64"),
        ("less", ["float64", "float64"], "bool"),
        ("abs", ["complex64"], "float32"),
        ("exp", ["complex64"], "complex64"),
        ("logical_not", ["bool"], "bool"),
        ("where", ["bool", "int8", "int16"], "int16"),
        ("matmul", ["int8", "int16"], "int16"),
    ],
)
def test_dtype_of_the_result(op, dtypes, expected):
    operands = [xp.ones((2, 2), dtype=getattr(xp, name)) for name in dtypes]
    assert explain(*operands, op=op).result_dtype is getattr(xp, expected)
    assert getattr(xp, op)(*operands).dtype is getattr(xp, expected)


def test_nothing_is_allocated_for_shapes():
    before = strided.memory_statistics()
    e = explain((2**30, 1), (2**25,))
    assert e.plan is not None and e.result_shape == (2**30, 2**25)
    assert "8 GiB stored" in str(e) and "256 PiB" in str(e)
    assert e.plan["merged"][1] == {"axes": (0,), "size": 2**30, "strides": (8, 0, 2**28)}
    assert len(e.svg()) < 20_000
    after = strided.memory_statistics()
    assert all(after[key] - value < 10_000 for key, value in before.items())


def test_beyond_what_can_be():
    e = explain((2**62,), (2**62, 1), (2**62, 1, 1), (3, 1, 1, 1))
    assert e.result_shape == (3, 2**62, 2**62, 2**62) and e.plan is None
    assert "more than 1,000 YiB" in str(e)
    assert e.svg()
    many = explain(*[(2**62, *[1] * k) for k in range(40)])
    assert "an integer of" in str(many)
    deep = explain((1,) * 64, (2,))
    assert deep.result_shape == (*(1,) * 63, 2)
    # An axis that would be the 65th is not offered.
    assert [i.expression for i in explain((*(1,) * 63, 3), (2,)).insertions] == ["x2[:, None]"]


def test_gradients_are_no_hindrance():
    from stride0.autograd import grad

    def loss(x):
        assert explain(x, (2, 1)).result_shape == (2, 3)
        return xp.sum(x)

    assert xp.all(grad(loss)(xp.ones(3)) == 1)


# --- operations and operands


def weigh(values: Any, weights: Any, *, scale: float = 1.0) -> None: ...


@pytest.mark.parametrize(
    ("op", "count", "operation", "names"),
    [
        (None, 1, "broadcast", ("x",)),
        (None, 3, "broadcast", ("x1", "x2", "x3")),
        ("add", 2, "add", ("x1", "x2")),
        (xp.add, 2, "add", ("x1", "x2")),
        (xp.exp, 1, "exp", ("x",)),
        (xp.where, 3, "where", ("condition", "x1", "x2")),
        (xp.clip, 2, "clip", ("x", "min")),
        ("clip", 3, "clip", ("x", "min", "max")),
        (np.add, 2, "add", ("x1", "x2")),
        (operator.matmul, 2, "matmul", ("x1", "x2")),
        (weigh, 2, "weigh", ("values", "weights")),
        (weigh, 3, "weigh", ("x1", "x2", "x3")),
        (lambda a, b: a, 2, "<lambda>", ("a", "b")),
        (partial(weigh, 1), 1, "partial", ("weights",)),
        (max, 2, "max", ("x1", "x2")),
    ],
)
def test_operations(op, count, operation, names):
    e = explain(*[(2, 2)] * count, op=op)
    assert (e.operation, e.names) == (operation, names)


@pytest.mark.parametrize(
    ("operands", "op", "error", "text"),
    [
        ((), None, xp.ArgumentValueError, "nothing to explain"),
        (((2,),), "add", xp.ArgumentValueError, "1 operand for add"),
        (((2,),) * 3, operator.matmul, xp.ArgumentValueError, "3 operands for matmul"),
        (((2,),), "sum", xp.ArgumentValueError, "sum is not an operation that broadcasts"),
        (((2,),), xp.sum, xp.ArgumentValueError, "sum is not an operation that broadcasts"),
        (((2,),), xp.linalg.inv, xp.ArgumentValueError, "inv is not an operation that broadcasts"),
        (((2,),), 3, xp.ArgumentTypeError, "op must be a function or its name, not int"),
        ((3,), None, xp.ArgumentTypeError, "x must be an array or a tuple, not int"),
        (((2,), [2]), None, xp.ArgumentTypeError, "x2 must be an array or a tuple, not list"),
        ((np.ones(3),), None, xp.ArgumentTypeError, "x must be an array or a tuple, not ndarray"),
        (((2.0,),), None, xp.ArgumentTypeError, "shape must be an integer, not float"),
        (((-1,),), None, xp.ShapeError, "negative size"),
        (((2**63,),), None, xp.ShapeError, "too many elements"),
    ],
)
def test_refused(operands, op, error, text):
    with pytest.raises(error, match=text):
        explain(*operands, op=op)


def test_an_accident_is_pointed_out():
    assert str(explain((4, 1), (4,))).endswith(
        "x1 and x2 have 4 elements each and broadcast each other: is that meant?"
    )
    for shapes in [((4, 1), (3,)), ((4,), (4,)), ((4, 1), (1, 4, 1)), ((1,), (1, 1)), ((0, 1), (0,))]:
        assert "meant" not in str(explain(*shapes))


# --- the command line


def test_command_line(capsys):
    for arguments in (["(5,6)", "(10,)"], ["5, 6", " 10 "], ["(5,6,)", "10,"]):
        assert main(["explain", *arguments]) == 0
        assert capsys.readouterr().out == f"{explain((5, 6), (10,))}\n"
    assert main(["explain", "()", "( )", "--op", "add"]) == 0
    assert capsys.readouterr().out == f"{explain((), (), op='add')}\n"


def test_command_line_saves_the_picture(tmp_path, capsys):
    file = tmp_path / "picture.svg"
    assert main(["explain", "(4,1)", "(3,)", "--svg", str(file)]) == 0
    assert file.read_text(encoding="utf-8") == explain((4, 1), (3,)).svg()
    assert capsys.readouterr().out.startswith("broadcast: (4, 1) with (3,) gives (4, 3)\n")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "the following arguments are required: command"),
        (["explain"], "the following arguments are required: shape"),
        (["explain", "(5,,6)"], "'(5,,6)' is not a shape; write it like (5, 6), (10,) or ()"),
        (["explain", "(5"], "'(5' is not a shape"),
        (["explain", "5.0"], "'5.0' is not a shape"),
        (["explain", ""], "the shape is empty"),
        (["explain", "(,)"], "'(,)' is not a shape"),
        (["explain", "(-1,)"], "axis 0 has negative size -1 (pass sizes of 0 or more)"),
        (["explain", "(3,)", "--op", "sum"], "sum is not an operation that broadcasts"),
        (["explain", "(3,)", "--op", "add"], "1 operand for add (pass the operands of add: x1, x2)"),
        (["explain", "(3,)", "--svg", "no such directory/x.svg"], "No such file or directory"),
    ],
)
def test_command_line_refuses(arguments, text, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    out, err = capsys.readouterr()
    assert out == "" and text in err and err.startswith("usage: python -m stride0")


def test_python_m():
    command = [sys.executable, "-m", "stride0", "explain", "(5,6)", "(10,)"]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == f"{explain((5, 6), (10,))}\n"


def test_an_explanation_cannot_be_changed():
    e = explain((2,), (2,))
    assert isinstance(e, Explanation)
    with pytest.raises(AttributeError):
        e.operation = "add"  # type: ignore[misc]
