"""Strict mode checks a form of a call once; a call that passed lets no other form pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_strict import F64, I64, refused

import stride0 as xp
from stride0._modes.strict_forms import form_of

U8 = xp.asarray([1, 2], dtype=xp.uint8)
M = xp.ones((2, 2))
# Of each pair, the first call passes. The second call differs in a type, or in a value that counts.
PAIRS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "bound of an integer": (lambda: U8 < 5, lambda: U8 < 300),
    "divisor": (lambda: I64 // 2, lambda: I64 // 0),
    "NumPy integer": (lambda: xp.sum(M, axis=1), lambda: xp.sum(M, axis=np.int64(1))),
    "NumPy float": (lambda: F64 + 1.5, lambda: F64 + np.float64(1.5)),
    "tuple and list": (lambda: xp.permute_dims(M, (1, 0)), lambda: xp.permute_dims(M, [1, 0])),
    "items of a tuple": (lambda: xp.zeros((2, 3)), lambda: xp.zeros((np.int64(2), 3))),
    "dtypes of a list": (lambda: xp.concat([F64, F64]), lambda: xp.concat([F64, I64])),
    "dtype": (lambda: xp.exp(F64), lambda: xp.exp(I64)),
    "storage dtype": (lambda: xp.sum(F64), lambda: xp.sum(xp.astype(F64, xp.float16))),
    "key": (lambda: M[0, :], lambda: M[0]),
    "fill value": (lambda: xp.full(2, 1, dtype=xp.int64), lambda: xp.full(2, 1.5, dtype=xp.int64)),
    "axes of an index array": (lambda: xp.take(F64, I64), lambda: xp.take(F64, xp.reshape(I64, (1, -1)))),
    "axes of an operand": (lambda: xp.cumulative_sum(F64), lambda: xp.cumulative_sum(xp.asarray(1.0))),
    "dtype to convert to": (
        lambda: xp.asarray([1, 2], dtype=xp.float64),
        lambda: xp.asarray([1.5], dtype=xp.int64),
    ),
    "axes of two matrices": (lambda: xp.tensordot(M, M, axes=1), lambda: xp.tensordot(M, M, axes=(0, 1))),
    "scalar among dtypes": (lambda: xp.result_type(I64, 1), lambda: xp.result_type(I64, 1.5)),
    "device": (lambda: xp.zeros(2, device=F64.device), lambda: xp.zeros(2, device="cpu")),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_pairs(pair: tuple[Callable[[], Any], Callable[[], Any]]) -> None:
    passing, failing = pair
    for _ in range(2):
        with xp.strict():
            passing()
        assert refused(failing)


def test_version() -> None:
    """A call that passes in one version of the standard is refused in an older one."""
    for _ in range(2):
        with xp.testing.flags(strict=True):
            xp.cumulative_sum(F64)
        with xp.testing.flags(strict=True, api_version="2022.12"), pytest.raises(xp.StrictError):
            xp.cumulative_sum(F64)


def test_forms() -> None:
    def form(*args: Any, **kwargs: Any) -> Any:
        return form_of("function", "f", "2025.12", args, kwargs)

    assert form(F64, 1, axis=(0, 1)) == form(2 * F64, 7, axis=(1, 0))
    assert form([[1, 2], [3, 4.5]]) == form([[1], [2], [3.5, 4]])
    different = [
        form(F64),
        form(xp.float64),
        form("x"),
        form(x=F64),
        form(1),
        form(1.0),
        form(None),
        form([1]),
        form((1,)),
        form([1.0]),
        form([1, 1.0]),
        form((1, None)),
        form([[1]]),
        form([[1], [1.0]]),
        form([]),
        form([F64]),
    ]
    assert len({*different}) == len(different)
    assert all(form(x) is None for x in (np.float64(1), np.ones(1), {}, [[F64]], [np.int64(1)], object()))
