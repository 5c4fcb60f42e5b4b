"""`on_numpy`: wrap functions of stride0 arrays for libraries that use NumPy arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from stride0._core.array.array import Array
from stride0._core.call.checks import check_function
from stride0._core.exchange.exchange import asarray
from stride0._core.exchange.numpy_calls import numpy, to_numpy
from stride0.autograd._tape.trees import tree_map

__all__ = ["on_numpy"]


def on_numpy(f: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function that takes and returns NumPy arrays, for libraries that use these.

    Parameters
    ----------
    f : callable
        Takes and returns arrays, or nested structures of arrays: for example ``grad(g)``,
        ``value_and_grad(g)`` or ``jacobian(g)``.

    Returns
    -------
    callable
        Takes NumPy arrays instead, which share their memory with `f`; other arguments are passed on
        unchanged. Returns writable NumPy arrays, and a NumPy scalar instead of a 0-d array.

    Examples
    --------
    >>> f = xp.autograd.on_numpy(xp.autograd.value_and_grad(lambda x: xp.sum(x**2)))
    >>> f(np.asarray([1.0, 2.0]))
    (np.float64(5.0), array([2., 4.]))
    """

    check_function("on_numpy", f)

    @functools.wraps(f)
    def converted(*args: Any, **kwargs: Any) -> Any:
        np = numpy()

        def ours(x: Any) -> Any:
            return asarray(x) if isinstance(x, (np.ndarray, np.generic)) else x

        given, named = tree_map(ours, [list(args), kwargs])
        return tree_map(_theirs, f(*given, **named))

    return converted


def _theirs(x: Any) -> Any:
    if not isinstance(x, Array):
        return x
    found = to_numpy(x)
    if found.ndim == 0:
        return found[()]
    # A gradient may be a broadcast view.
    return found if found.flags.writeable and found.flags.c_contiguous else found.copy()
