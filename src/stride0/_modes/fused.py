"""Deferred results: compute whole expressions in one pass over memory."""

from __future__ import annotations

import sys
from typing import Any

from stride0._base.environment import read_flag, read_number
from stride0._base.errors import ArgumentValueError, brief
from stride0._base.shapes import normalize_index
from stride0._core.array.modes import FUSED, FUSED_SIZE, set_fused_from
from stride0._core.program.program import FusedBlock, evaluate_pending, statistics
from stride0._modes.switches import Setting, refuse_function

__all__ = ["fused"]

VARIABLE = "STRIDE0_FUSED"
SIZE_VARIABLE = "STRIDE0_FUSED_SIZE"


class fused(FusedBlock, Setting):
    """
    Compute whole expressions in one pass over memory: a context manager, decorator or default of the process.

    Results of elementwise operations, and reductions of these, are *deferred*. Their shape, dtype, strides
    and errors are available at once. Their elements are computed when they are needed: for indexing,
    ``float``, ``repr``, a view, an export to another library, any other function, a write to an operand, or
    at the end of the block. Then a chain of operations is computed tile by tile, in the caches, and values
    that are no longer referenced are never written to memory. All elements have the same bits as without
    `fused`, except for the sign and payload of NaNs.

    Parameters
    ----------
    size : int, optional
        Fewest elements of a deferred result: for smaller results, deferring costs more than it saves. If an
        operand is deferred, 2048 elements are enough. 0 turns deferring off in the block.

    Raises
    ------
    ArgumentTypeError
        If `size` is not an integer, for example a function decorated by ``@fused`` without parentheses.
    ArgumentValueError
        If `size` is negative or above `sys.maxsize`.

    Notes
    -----
    It applies to the thread and the asynchronous task that set it (a `contextvars` variable), including
    libraries called there. Elsewhere the default of the process applies, set by `set_default` or the
    environment variable ``STRIDE0_FUSED=1`` (with ``STRIDE0_FUSED_SIZE`` for another `size`). A new thread
    begins with that default. But if ``sys.flags.thread_inherit_context`` is set, as in free-threaded Python
    3.14, it begins with the setting of the thread that starts it. Threads may read each other's deferred
    arrays: the first read computes them.

    Memory that another library may write to is read at once. Only scalars, and arrays whose memory nothing
    outside of stride0 refers to, are read later.

    Examples
    --------
    >>> x = xp.linspace(0, 1, 100_000)
    >>> with xp.fused():
    ...     y = 0.5 * x * (1 + xp.tanh(x + 0.044715 * x**3))
    >>> float(y[-1])
    0.8898715779628219
    """

    def __init__(self, size: int = FUSED_SIZE) -> None:
        self._value = size if type(size) is int and 0 <= size <= sys.maxsize else _checked(size)

    def _recreate_cm(self) -> fused:
        return fused(self._value)

    @staticmethod
    def set_default(size: int = FUSED_SIZE) -> int:
        """Set the size for all contexts that have not set a size.

        Parameters
        ----------
        size : int, optional
            As above; 0 turns it off.

        Returns
        -------
        int
            The previous default; 0 if it was off.

        Examples
        --------
        >>> before = xp.fused.set_default(1000)
        >>> xp.fused.set_default(before)
        1000
        """
        size = _checked(size)
        before: int = FUSED.set_default(size)
        set_fused_from(size)
        evaluate_pending()
        return before

    @staticmethod
    def current() -> int:
        """Return the fewest elements of a deferred result in the current context.

        Returns
        -------
        int
            0 if results are not deferred.

        Examples
        --------
        >>> with xp.fused(1000):
        ...     xp.fused.current()
        1000
        """
        value: Any = FUSED.current()
        return int(value)

    @staticmethod
    def stats() -> dict[str, int]:
        """Return counters of the deferred results in this process.

        Returns
        -------
        dict
            ``pending``: number of chains that are not computed; ``passes`` over memory that computed chains;
            ``steps`` in these passes; ``bytes_saved``: size of the results that were never written to memory.

        Examples
        --------
        >>> x = xp.ones(100_000)
        >>> before = xp.fused.stats()
        >>> with xp.fused():
        ...     y = xp.sum((x + 1) * 2)
        >>> float(y), xp.fused.stats()["passes"] - before["passes"]
        (400000.0, 1)
        """
        found: dict[str, int] = statistics()
        return found


def _checked(size: object) -> int:
    refuse_function("fused", size, "@fused()")
    number = normalize_index("fused", "size", size)
    if not 0 <= number <= sys.maxsize:
        raise ArgumentValueError("fused", f"size is {brief(number)}", (), "pass a size from 0 to sys.maxsize")
    return number


def _from_environment() -> None:
    """Set the default from the environment variables."""
    size = read_number(SIZE_VARIABLE, "number of elements", 0, sys.maxsize, FUSED_SIZE)
    if read_flag(VARIABLE):
        fused.set_default(FUSED_SIZE if size is None else size)


_from_environment()
