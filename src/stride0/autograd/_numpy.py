"""`on_numpy`: functions of arrays as other libraries call them, with NumPy's arrays."""

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
    """Make a function that takes and gives NumPy's arrays, for libraries that compute with those.

    Parameters
    ----------
    f : callable
        Takes arrays, or nested structures of them; returns such. ``grad(g)``, ``value_and_grad(g)`` and
        ``jacobian(g)``, for example.

    Returns
    -------
    callable
        Takes NumPy's arrays in their place, whose memory `f` sees, and passes on everything else. Returns
        NumPy's arrays, which may be written to, and a scalar of NumPy for an array without axes.

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
