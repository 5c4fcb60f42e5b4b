"""Sorting functions: the kernels of the core are always stable.

Note [Order of NaN and zeros]
    NaN counts as larger than any number, as in `argmax` and `searchsorted`: it comes last in ascending order
    and first in descending order. -0.0 and 0.0 are equal, so they keep their original order.
"""

from __future__ import annotations

from stride0._core.array.array import Array
from stride0._core.call.binding import primitive

__all__ = ["argsort", "sort"]


@primitive
def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Return the indices that sort an array.

    Parameters
    ----------
    stable : bool
        Whether equal elements must keep their order, in descending order too.

    Returns
    -------
    Array
        New int64 array of the shape of `x`.
    """


@primitive
def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Return a sorted copy of an array.

    Parameters
    ----------
    stable : bool
        Whether equal elements must keep their order, in descending order too. Only -0.0 and 0.0 are equal but
        distinguishable.
    """
