"""`numpy.testing` on stride0 arrays: assertions see NumPy arrays, and 0-d arrays as scalars."""

from __future__ import annotations

import functools
from typing import Any

from stride0._core.array.array import Array
from stride0._core.exchange.numpy_calls import numpy, to_numpy


def _seen(x: Any) -> Any:
    if isinstance(x, Array):
        return to_numpy(x)[()]
    if isinstance(x, (list, tuple)):
        return (list if isinstance(x, list) else tuple)(map(_seen, x))
    return {key: _seen(item) for key, item in x.items()} if type(x) is dict else x


def __getattr__(name: str) -> Any:
    found = getattr(numpy().testing, name)
    # They take the arguments of the function that they call.
    if not name.startswith("assert_") or "raises" in name or "warn" in name:
        return found

    @functools.wraps(found)
    def function(*args: Any, **kwargs: Any) -> Any:
        return found(*map(_seen, args), **{key: _seen(x) for key, x in kwargs.items()})

    return function
