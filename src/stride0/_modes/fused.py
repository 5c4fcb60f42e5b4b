"""Deferred results: whole expressions in one pass over memory."""

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

    Results of elementwise operations, and reductions of these, are *deferred*: their shape, dtype, strides
    and errors are there at once, their elements when they are needed: indexing, ``float``, ``repr``, a view,
    an export to another library, any other function, a write to an operand, or the end of the block. A chain
    of operations is then computed tile by tile, in the caches, and values that nothing refers to any more are
    never written to memory. All elements have the same bits as without `fused`, except for the sign and
    payload of NaNs.

    Parameters
    ----------
    size : int, optional
        Fewest elements of a result that is deferred; for fewer, the passes saved cost less than deferring.
        If an operand is deferred, 2048 elements are enough. 0 turns deferring off in the block.

    Raises
    ------
    ArgumentTypeError
        If `size` is not an integer, for example a function decorated by ``@fused`` without parentheses.
    ArgumentValueError
        If `size` is negative or above `sys.maxsize`.

    Notes
    -----
    It holds in the thread and the asynchronous task that set it (a `contextvars` variable), for libraries
    that are called there too. Elsewhere the default of the process holds, from `set_default` or the
    environment variable ``STRIDE0_FUSED=1`` (with ``STRIDE0_FUSED_SIZE``, if `size` is to be another one).
    A new thread begins with that default; if ``sys.flags.thread_inherit_context`` is set, as it is in
    free-threaded Python 3.14, it defers as the thread that starts it does. Threads may read each other's
    deferred arrays: the first that reads one computes it.

    Memory that another library may write to is read at once: only arrays whose memory nothing outside of
    stride0 refers to, and single values, are read later.

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
        """Set the size for every context that has no value of its own.

        Parameters
        ----------
        size : int, optional
            As above; 0 turns it off.

        Returns
        -------
        int
            The default before; 0 where it was off.

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
        """Return the fewest elements of a result that is deferred here.

        Returns
        -------
        int
            0 where none is.

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
        """Return what was deferred in this process so far.

        Returns
        -------
        dict
            ``pending``: chains that have not been computed; ``passes`` over memory that computed others,
            ``steps`` in these; ``bytes_saved``: bytes of results that were never written to memory.

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
        raise ArgumentValueError("fused", f"size is {brief(number)}", (), "0 or more, at most sys.maxsize")
    return number


def _from_environment() -> None:
    """Set the default that the environment variables ask for."""
    size = read_number(SIZE_VARIABLE, "number of elements", 0, sys.maxsize, FUSED_SIZE)
    if read_flag(VARIABLE):
        fused.set_default(FUSED_SIZE if size is None else size)


_from_environment()
