"""Definitions of `stride0.memory`."""

from __future__ import annotations

import operator

from stride0._base.errors import ArgumentTypeError, ArgumentValueError, shown
from stride0._core.memory.storage import cache_statistics, empty_cache, memory_statistics, set_cache_limit

__all__ = ["empty_cache", "get_limit", "set_limit", "stats"]

# More than any machine has, but sums of it do not overflow.
_LARGEST = 1 << 60


def stats(*, reset_peak: bool = False) -> dict[str, int]:
    """Return the memory that arrays own, and the cached memory.

    Parameters
    ----------
    reset_peak : bool
        After reading the peak, restart it from the bytes owned now.

    Returns
    -------
    dict
        ``live_bytes`` and ``peak_bytes``: bytes of elements that arrays own now, and the most they have
        owned. ``allocations``: number of created storages; ``reused``: how many of these reused a cached
        block. ``cached_blocks`` and ``cached_bytes``: cached now; ``offered_bytes``: the reclaimable part,
        which the system takes when it is short of memory. ``limit``: see `set_limit`.

    Examples
    --------
    >>> before = xp.memory.stats()
    >>> x = xp.zeros(1_000_000)
    >>> after = xp.memory.stats()
    >>> after["live_bytes"] - before["live_bytes"], after["allocations"] - before["allocations"]
    (8000000, 1)
    """
    return {**memory_statistics(reset_peak=reset_peak), **cache_statistics()}


def get_limit() -> int:
    """Return the largest number of bytes of cached blocks.

    Returns
    -------
    int
        The limit. By default 1/8 of the memory that this process may use (of the machine or its control
        group), or the value of the environment variable ``STRIDE0_CACHE_LIMIT``.

    Examples
    --------
    >>> xp.memory.set_limit(100_000_000)
    >>> xp.memory.get_limit()
    100000000
    >>> xp.memory.set_limit(None)
    """
    return cache_statistics()["limit"]


def set_limit(limit: int | None) -> None:
    """Set the largest number of bytes of cached blocks.

    Blocks over the new limit are returned to the system at once.

    Parameters
    ----------
    limit : int or None
        Bytes. 0: nothing is cached. None: the default, see `get_limit`; then blocks that the system cannot
        reclaim when it is short of memory (blocks below 8 MiB, or all blocks without huge pages) are limited
        to 1/8 of the limit. Larger blocks beyond 1/8 of any limit are made reclaimable, oldest first.

    Raises
    ------
    ArgumentTypeError
        (A TypeError.) If the limit is neither an integer nor None.
    ArgumentValueError
        (A ValueError.) If the limit is negative.

    Examples
    --------
    >>> xp.memory.set_limit(0)
    >>> x = xp.zeros(1_000_000)
    >>> del x
    >>> xp.memory.stats()["cached_bytes"]
    0
    >>> xp.memory.set_limit(None)
    """
    if limit is None:
        set_cache_limit(None)
        return
    try:
        wanted = operator.index(limit)
    except TypeError:
        accepts = "pass a number of bytes, or None for the default"
        raise ArgumentTypeError("set_limit", f"limit is {shown(limit)}", (), accepts) from None
    if wanted < 0:
        raise ArgumentValueError("set_limit", f"limit is {shown(limit)}", (), "pass 0 or more bytes")
    set_cache_limit(min(wanted, _LARGEST))
