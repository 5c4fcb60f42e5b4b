"""Comparison of functions with their replays, and arguments for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import stride0 as xp

Function = Callable[..., Any]


def numbers(*shape: int, seed: int = 0, dtype: Any = None) -> xp.Array:
    return xp.asarray(np.random.default_rng(seed).standard_normal(shape), dtype=dtype, copy=True)


def facts(value: Any) -> Any:
    """Shapes, dtypes, strides and bits of a nested structure."""
    if isinstance(value, xp.Array):
        found = np.asarray(value)
        return value.shape, value.dtype, found.strides, found.tobytes()
    if isinstance(value, (tuple, list)):
        return type(value), [facts(item) for item in value]
    if isinstance(value, dict):
        return {key: facts(item) for key, item in value.items()}
    return type(value), value


def check(f: Function, *arguments: Callable[[int], Any], calls: int = 3, recordings: int = 1) -> Any:
    """Compare `calls` calls of a function and of its replay, with arguments of their own."""
    replayed = xp.replay(f)
    for seed in range(calls):
        plain, given = ([make(seed) for make in arguments] for _ in range(2))
        assert facts(replayed(*given)) == facts(f(*plain))
        assert facts(given) == facts(plain)
    assert replayed.recordings == recordings
    return replayed


def vector(seed: int) -> xp.Array:
    return numbers(5, seed=seed)


def matrix(seed: int) -> xp.Array:
    return numbers(3, 3, seed=seed)
