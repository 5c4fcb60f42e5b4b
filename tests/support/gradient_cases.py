"""The class of cases of the gradient tests; each chapter has a file of cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Call = Callable[..., Any]


class Case(NamedTuple):
    """One call of a differentiable function, and the same call of PyTorch and JAX."""

    name: str  # a key of VJP
    call: Call  # takes the namespace, then the arrays
    args: Callable[
        [np.random.Generator], tuple[np.ndarray[Any, Any], ...]
    ]  # makes the arrays to differentiate by
    id: str
    torch: Call | bool | None = None  # None: as `call`; False: PyTorch has no such function
    jax: Call | bool | None = None
    order: int = 2  # the highest order that finite differences may check
    tol: float = 1.0  # factor of the usual tolerance
    layout_matters: bool = False  # whether the result depends on strides, as that of as_strided does


class Singular(NamedTuple):
    """A call at a point without finite differences, and the gradients that we define there."""

    id: str
    call: Call  # as in a case
    args: tuple[np.ndarray[Any, Any], ...]
    gradients: tuple[Any, ...]  # of the sum of the real parts of the result, by each of the arrays
    second: tuple[Any, ...] | None = (
        None  # gradients of the sum of all those gradients, where they are defined
    )
