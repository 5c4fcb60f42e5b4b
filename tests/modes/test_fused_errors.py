"""`stride0.fused`: errors and warnings equal the eager ones, and come from the same lines."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from program_helpers import numbers

import stride0 as xp
from stride0.autograd import grad, vjp

# Each statement fails, or warns, in a function of several lines, whose operands are deferred.
FAILING = [
    # errors that are known before anything is computed
    "x + wide",
    "x += wide",
    "x += taller",
    "short += x",
    "i += x",
    "x & x",
    "xp.sin('text')",
    "x * 'text'",
    "xp.where(mask, x, wide)",
    "xp.clip(x, wide, 2)",
    "xp.astype(x, 'nonsense')",
    "xp.sum(x, axis=4)",
    "xp.sum(x + wide)",
    "xp.max(x[:0, :])",
    "xp.mean(xp.sum(x, axis=(0, 1)), axis=0)",
    "xp.reshape(x, (5,))",
    "xp.permute_dims(x, (0, 0))",
    "xp.broadcast_to(x, (7,))",
    "xp.concat([x, short])",
    "xp.stack([x, wide])",
    "x @ x",
    "xp.vecdot(x, wide)",
    "xp.take(x, index, axis=9)",
    "small + 300",
    "hash(x)",
    "x.nothing",
    "x.to_device('nowhere')",
    # errors that depend on elements
    "bool(x)",
    "float(x)",
    "int(nan)",
    "int(infinite)",
    "range(nan)",
    "complex(x)",
    "i ** (i - 9)",
    "i.__ipow__(i - 9)",
    "x[9]",
    "x[0, 0, 0]",
    "x['text']",
    "x[index * 40]",
    "x[index, index * 40]",
    "x[mask[:2, :]]",
    "x[x]",
    "xp.take(x, index * 40, axis=0)",
    "xp.repeat(x, i - 9)",
    "xp.linalg.inv(singular * 1)",
    "xp.linalg.cholesky(-xp.eye(3) * 2)",
    "xp.linalg.solve(singular * 1, short)",
    "xp.searchsorted(x, x)",
    "xp.fft.fft(x, n=-1)",
    "x[9] = 0",
    "x[...] = wide",
    "x[0, :] = 'text'",
    "i[...] = 1e300",
    "small[0] = 300",
    "x[index * 40, 0] = short",
    "x[mask] = taller",
    "fixed[...] = x",
    "fixed += x",
    "xp.broadcast_to(x[:1, :1], (4, 5)).__iadd__(x)",
    # modes
    "strictly(lambda: (x + 1).sum())",
    "strictly(lambda: x + i)",
    "strictly(lambda: xp.sum(mask * mask))",
    "exactly(lambda: x + x[:, :1])",
    "exactly(lambda: x.__imul__(row))",
    # gradients
    "grad(lambda t: t * t)(x)",
    "grad(lambda t: xp.sum(t * t) + fail(t))(x)",
    "grad(lambda t: float(xp.sum(t)))(x)",
    "vjp(lambda t: t * 2, x)[1](wide)",
    # errors of other code
    "fail(x + 1)",
    "[fail(row) for row in x]",
    "next(stream(x))",
    "np.asarray(x).reshape(7)",
    "np.from_dlpack(x)[9]",
    "(lambda t: t + wide)(x * 2)",
    # warnings
    "warned(lambda: x + row)",
    "warned(lambda: x.__iadd__(row))",
    "warned(lambda: [x + cube, x.__iadd__(row)])",
    "warned(lambda: [x - x[:, :1], xp.where(mask, x, row), xp.clip(x, row, 9)])",
    "warned(lambda: warnings.warn(f'sum {float(xp.sum(x))}', stacklevel=2))",
]

PROGRAM = """
def fail(t):
    y = t * 2
    z = y + 1
    raise KeyError(t.shape)


def stream(t):
    y = t * 2
    fail(y)
    yield y


def strictly(call):
    with xp.strict():
        return call()


def exactly(call):
    with xp.broadcasting("exact"):
        return call()


def warned(call):
    with warnings.catch_warnings(record=True) as found, xp.broadcasting("warn"):
        warnings.simplefilter("always")
        call()
    seen.extend((str(warning.message), warning.filename, warning.lineno) for warning in found)
    raise Warned(len(found))


def program():
    x = base * 2
    i = whole + 1
    small = xp.astype(whole, xp.int8) + 1
    wide, taller = base[:, :1] + numbers(4, 7), numbers(2, 4, 5) * 1
    cube, row, short = numbers(3, 4, 5) + 1, base[:1, :] - 1, base[0, :] - 1
    mask = x > 0
    index = whole[0, :3] % 4 + 2
    nan, infinite = xp.sum(x) * float("nan"), xp.max(x) * float("inf")
    singular = xp.zeros((3, 3)) * base[0, 0]
    y = xp.exp(x) - 1
    y = y * x
    STATEMENT
    return y
"""


class Warned(Exception):
    pass


def outcome(statement: str) -> list[Any]:
    """The error of a statement and its line, after its warnings."""
    seen: list[Any] = []
    fixed = np.ones((4, 5))
    fixed.flags.writeable = False
    space: dict[str, Any] = {
        "__name__": "program", "xp": xp, "np": np, "grad": grad, "vjp": vjp, "warnings": warnings,
        "numbers": numbers, "seen": seen, "Warned": Warned,
        "base": numbers(4, 5), "whole": xp.asarray(np.arange(20).reshape(4, 5), copy=True),
        "fixed": xp.asarray(fixed, copy=False),
    }  # fmt: skip
    exec(compile(PROGRAM.replace("STATEMENT", statement), "<program>", "exec"), space)
    try:
        space["program"]()
    except Exception as error:
        seen.append(described(error))
    else:
        seen.append("nothing")
    return seen


def described(error: BaseException | None) -> Any:
    if error is None:
        return None
    frames = [
        (
            frame.filename,
            frame.name,
            frame.lineno,
            getattr(frame, "colno", None),
            getattr(frame, "end_colno", None),
        )
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.endswith((".py", "<program>"))  # frames of compiled code differ
    ]
    notes = getattr(error, "__notes__", [])
    return (type(error), str(error), notes, frames, described(error.__cause__), described(error.__context__))


@pytest.mark.parametrize("statement", FAILING)
def test_errors_and_warnings_are_those_of_eager_calls(statement: str) -> None:
    with xp.fused(size=0):
        expected = outcome(statement)
    with xp.fused(size=1):
        found = outcome(statement)
    assert found == expected


def test_the_statements_fail_or_warn() -> None:
    with xp.fused(size=0):
        outcomes = {statement: outcome(statement) for statement in FAILING}
    assert [statement for statement, found in outcomes.items() if found == ["nothing"]] == []
    assert all(len(found) > 1 for statement, found in outcomes.items() if statement.startswith("warned"))


def test_an_error_leaves_what_is_deferred_as_it_was() -> None:
    calls: list[Callable[[Any], Any]] = [
        lambda y: y + numbers(7),
        lambda y: y.__iadd__(numbers(7)),
        lambda y: xp.sum(y, axis=7),
        lambda y: y.__setitem__(7, numbers(7)),
        lambda y: y.__imatmul__(numbers(7, 7)),
    ]
    for call in calls:
        x = numbers(4, 5)
        with xp.fused(size=1):
            y = x * 2
            z = y + 1
            with pytest.raises((ValueError, IndexError)):
                call(y)
            total = xp.sum(z) + xp.sum(y)
        with xp.fused(size=0):
            assert bool(xp.all(y == x * 2)) and bool(xp.all(z == y + 1))
            assert float(total) == float(xp.sum(z) + xp.sum(y))
