"""Strict mode looks at every argument of a call, and gets in the way of none that the standard defines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import stride0 as xp
from stride0 import _standard

DTYPES = ("bool", "int64", "uint8", "float64", "complex64")


def function(name: str) -> Callable[..., Any]:
    module, _, short = name.rpartition(".")
    found: Callable[..., Any] = getattr(getattr(xp, module) if module else xp, short)
    return found


def outcome(call: Callable[[], Any]) -> Any:
    """The dtypes of what a call returns, or the error that it raises, as one of the package's own."""
    try:
        out = call()
    except (xp.Stride0Error, TypeError) as error:
        return type(error)
    if isinstance(out, (tuple, list)):
        return [getattr(part, "dtype", part) for part in out]
    return getattr(out, "dtype", out)


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("name", sorted(set(_standard.ROWS) - {"__array_namespace_info__"}))
def test_arrays_of_one_dtype(name: str, count: int) -> None:
    """What works as ever, is refused with a StrictError or fails as ever: nothing else."""
    for dtype in DTYPES:
        x = xp.eye(3, dtype=getattr(xp, dtype))
        plain = outcome(lambda x=x: function(name)(*[x] * count))
        with xp.strict():
            found = outcome(lambda x=x: function(name)(*[x] * count))
        assert found == plain or found is xp.StrictError, (name, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_result_type_of_one_dtype(dtype: str) -> None:
    expected = getattr(xp, dtype)
    x = xp.ones(2, dtype=expected)
    with xp.strict():
        assert xp.result_type(x, x) is xp.result_type(x, expected) is xp.result_type(x, x, x) is expected
