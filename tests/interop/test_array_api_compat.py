"""Every public function of array-api-compat on stride0 arrays.

The functions are read from the installed package: a new function fails until it has a test here.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers import DTYPES, LAYOUTS, assert_same, pair

import stride0 as xp

compat = pytest.importorskip(
    "array_api_compat", reason="the tests of array-api-compat need it: pip install array-api-compat"
)

FUNCTIONS = sorted(
    name
    for name, value in vars(compat).items()
    if isinstance(value, types.FunctionType) and not name.startswith("_")
)

# Functions that ask for an object of one library (NumPy, PyTorch, ...); the answer for stride0 arrays is
# False.
LIBRARY_QUESTIONS = [
    name for name in FUNCTIONS if name.startswith("is_") and name.endswith(("_array", "_namespace"))
]
LIBRARY_QUESTIONS = [
    name for name in LIBRARY_QUESTIONS if name not in ("is_lazy_array", "is_writeable_array")
]


def arrays() -> list[tuple[Any, Any]]:
    return [pair(dtype, layout) for dtype in DTYPES for layout in LAYOUTS]


def namespace() -> None:
    for x, _ in arrays():
        for version in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
            assert compat.array_namespace(x, api_version=version) is xp
        # `use_compat` asks for a wrapper in array-api-compat, which has no wrapper for stride0.
        assert compat.array_namespace(x, use_compat=False) is xp
        with pytest.raises(ValueError, match="compat"):
            compat.array_namespace(x, use_compat=True)
    x = xp.ones(3)
    assert compat.array_namespace(x, 1.0, None, xp.zeros(2, dtype=xp.int8), 2j, True) is xp
    for other in (np.ones(3), [1.0], "text"):
        with pytest.raises(TypeError):
            compat.array_namespace(x, other)
    with pytest.raises(ValueError, match="2019"):
        compat.array_namespace(x, api_version="2019.12")


def same_object_as_array_namespace() -> None:
    assert compat.get_namespace is compat.array_namespace


def device() -> None:
    for x, _ in arrays():
        assert compat.device(x) == x.device == xp.__array_namespace_info__().default_device()


def to_device() -> None:
    for x, a in arrays():
        for target in (*xp.__array_namespace_info__().devices(), "cpu"):
            moved = compat.to_device(x, target)
            assert_same(moved, a)
            assert moved.device == x.device
            assert_same(compat.to_device(x, target, stream=None), a)
    with pytest.raises((ValueError, TypeError)):
        compat.to_device(xp.ones(3), "nowhere")


def size() -> None:
    for x, a in arrays():
        assert compat.size(x) == a.size == math.prod(x.shape)
        assert type(compat.size(x)) is int


def is_array_api_obj() -> None:
    for x, _ in arrays():
        assert compat.is_array_api_obj(x) is True
    for other in (1.0, [1.0], "text", None, xp, xp.float64):
        assert compat.is_array_api_obj(other) is False


def is_writeable_array() -> None:
    for x, _ in arrays():
        assert compat.is_writeable_array(x) is True


def is_lazy_array() -> None:
    # For unknown libraries array-api-compat tests laziness by the truth value of an array.
    for x, _ in arrays():
        assert compat.is_lazy_array(x) is False


TESTS: dict[str, Callable[[], None]] = {
    "array_namespace": namespace,
    "device": device,
    "get_namespace": same_object_as_array_namespace,
    "is_array_api_obj": is_array_api_obj,
    "is_lazy_array": is_lazy_array,
    "is_writeable_array": is_writeable_array,
    "size": size,
    "to_device": to_device,
}


def test_every_function_has_a_test() -> None:
    assert sorted({*TESTS, *LIBRARY_QUESTIONS}) == FUNCTIONS


@pytest.mark.parametrize("name", sorted(TESTS))
def test_function(name: str) -> None:
    TESTS[name]()


@pytest.mark.parametrize("name", LIBRARY_QUESTIONS)
def test_stride0_is_no_other_library(name: str) -> None:
    ask = getattr(compat, name)
    if name.endswith("_namespace"):
        assert ask(xp) is False
        return
    for x, _ in arrays():
        assert ask(x) is False


def test_questions_of_numpy_can_be_answered_with_yes() -> None:
    # This shows that the test above would notice functions that always answer False.
    assert compat.is_numpy_array(np.ones(2)) is True
    assert compat.is_numpy_namespace(np) is True
