"""Definitions of `stride0.memory`."""

from __future__ import annotations

import operator

from stride0._base.errors import ArgumentTypeError, ArgumentValueError, shown
from stride0._core.memory.storage import cache_statistics, empty_cache, memory_statistics, set_cache_limit

__all__ = ["empty_cache", "get_limit", "set_limit", "stats"]

# Far more than there is, and no sum of such overflows.
_LARGEST = 1 << 60


def stats(*, reset_peak: bool = False) -> dict[str, int]:
    """
    What arrays own, and what waits for the next ones.

    Parameters
    ----------
    reset_peak : bool
        Start a new peak from what is owned now, after reading the old one.

    Returns
    -------
    dict
        ``live_bytes`` and ``peak_bytes``: what arrays own now, and owned at most, in bytes of their
        elements. ``allocations``: how many storages were made, and ``reused``: how many of them from a block
        that waited. ``cached_blocks`` and ``cached_bytes``: what waits now, ``offered_bytes``: the part of it
        that the system takes whenever it is short of memory. ``limit``: see `set_limit`.
    """
    return {**memory_statistics(reset_peak=reset_peak), **cache_statistics()}


def get_limit() -> int:
    """
    Bytes of freed blocks that may wait.

    Returns
    -------
    int
        The limit. At first an eighth of the memory that this process may use (of the machine, or of its
        control group), or what the environment variable ``STRIDE0_CACHE_LIMIT`` says.
    """
    return cache_statistics()["limit"]


def set_limit(limit: int | None) -> None:
    """
    Set how many bytes of freed blocks may wait to be used again.

    What is over the new limit goes back to the system at once.

    Parameters
    ----------
    limit : int or None
        Bytes. 0: nothing waits. None: the default, see `get_limit`; with it, blocks that the system cannot
        take back when it is short of memory (those below 8 MiB, and all where there are no huge pages) are
        held to an eighth of the limit. Of larger ones, what waits beyond an eighth of any limit is offered
        to the system, oldest first.

    Raises
    ------
    ArgumentTypeError
        (A TypeError.) If the limit is neither an integer nor None.
    ArgumentValueError
        (A ValueError.) If it is negative.
    """
    if limit is None:
        set_cache_limit(None)
        return
    try:
        wanted = operator.index(limit)
    except TypeError:
        accepts = "a number of bytes, or None for the default"
        raise ArgumentTypeError("set_limit", f"limit is {shown(limit)}", (), accepts) from None
    if wanted < 0:
        raise ArgumentValueError("set_limit", f"limit is {shown(limit)}", (), "0 or more bytes")
    set_cache_limit(min(wanted, _LARGEST))
