"""The number of threads of a large call, and the pool that runs its chunks: docs/design/threads.md."""

import os

from stride0._base.environment import read_number
from stride0._base.errors import ArgumentTypeError, ArgumentValueError, shown
from stride0._base.processors import available

cdef extern from "pool.h":
    enum:
        S0_POOL
        S0_MOST_THREADS
    int s0_chosen
    int s0_limit
    int s0_backs_off
    int s0_uninterrupted
    # Macros; their first argument is a variable that all threads read.
    int S0_LOAD(int x) noexcept nogil
    void S0_STORE(int x, int value) noexcept nogil
    void s0_threads_start(int processors)
    int s0_threads_allowed() nogil
    int s0_threads_for(int64_t work, int64_t wake_from, int64_t each) nogil
    bint s0_run_chunks(s0_chunk body, void* context, int chunks, int threads, bint interruptible) nogil
    bint s0_is_stopped() nogil
    bint s0_may_raise() nogil


cdef int threads_worth(int64_t work, int64_t wake_from, int64_t each) noexcept nogil:
    """
    The number of threads for a call that takes `work` nanoseconds on one thread: one more for each `each` nanoseconds.

    Sleeping workers are woken if the call, or its burst (Note [Bursts]), takes at least `wake_from` nanoseconds. One
    thread while the pool backs off (Note [Back-off]).
    """
    return s0_threads_for(work, wake_from, each)


cdef bint run_chunks(s0_chunk body, void* context, Py_ssize_t chunks, int threads, bint interruptible) noexcept nogil:
    """
    Run `body(context, chunk)` for every chunk once, in any order, on up to `threads` threads.

    False if a signal handler raised, in an `interruptible` call: the exception is set, and the result is incomplete.
    """
    return s0_run_chunks(body, context, <int>chunks, threads, interruptible)


cdef bint run_equal_chunks(s0_chunk body, void* context, Py_ssize_t* extent, Py_ssize_t count, Py_ssize_t chunks, int threads) noexcept nogil:
    """`run_chunks`, interruptible, for `count` items, at least one; writes the items of a chunk to `extent`."""
    extent[0] = (count + chunks - 1) // chunks
    return s0_run_chunks(body, context, <int>((count + extent[0] - 1) // extent[0]), threads, True)


cdef bint may_raise() noexcept nogil:
    """Whether a chunk may raise exceptions in this thread; otherwise the caller runs the chunk: Note [Thread states of workers]."""
    return s0_may_raise()


cdef bint is_stopped() noexcept nogil:
    """Whether a long chunk may return early because its call was interrupted."""
    return s0_is_stopped()


def get_num_threads():
    """
    Return the number of threads that a large operation may use.

    Returns
    -------
    int
        The value set by `set_num_threads` or the environment variable ``STRIDE0_NUM_THREADS``. Otherwise the limit set
        by ``threadpoolctl``, ``OMP_NUM_THREADS``, or the number of processors that the process may use, by its affinity
        and by the quota of its control group. 1 if stride0 was built without a thread pool.

    Examples
    --------
    >>> before = xp.get_num_threads()
    >>> xp.set_num_threads(1)
    >>> xp.get_num_threads()
    1
    >>> xp.set_num_threads(before)
    """
    return s0_threads_allowed()


def set_num_threads(n, /):
    """
    Choose how many threads a large operation may use, in all Python threads.

    Results have the same bits with any number of threads.

    Parameters
    ----------
    n : int
        At least 1. Without a thread pool there is always one thread.

    Raises
    ------
    ArgumentTypeError
        If `n` is not an integer.
    ArgumentValueError
        If `n` is less than 1, or larger than the thread pool can be.

    Examples
    --------
    >>> before, x = xp.get_num_threads(), xp.linspace(0, 1, 1_000_000)
    >>> total = xp.sum(xp.exp(x))
    >>> xp.set_num_threads(1)
    >>> xp.sum(xp.exp(x)) == total
    Array(True, dtype=bool)
    >>> xp.set_num_threads(before)
    """
    if isinstance(n, bool) or not isinstance(n, int):
        raise ArgumentTypeError("set_num_threads", "n must be an int", [("n", shown(n))], f"pass a number from 1 to {S0_MOST_THREADS}")
    if not 1 <= n <= S0_MOST_THREADS:
        raise ArgumentValueError("set_num_threads", f"{n} threads", (), f"pass a number from 1 to {S0_MOST_THREADS}")
    S0_STORE(s0_chosen, n)


def get_limit():
    """The limit that also applies to `set_num_threads`: for threadpoolctl."""
    return S0_LOAD(s0_limit)


def set_limit(int n):
    """Set that limit. A value of at least the number of processors at import does not limit `set_num_threads`."""
    S0_STORE(s0_limit, min(max(n, 1), S0_MOST_THREADS))


def back_off(bint on):
    """Turn Note [Back-off] on or off; returns the previous setting. For tests."""
    cdef int before = S0_LOAD(s0_backs_off)
    S0_STORE(s0_backs_off, on)
    return bool(before)


def check_signals_every(int nanoseconds):
    """Set the time between two checks for signals in a long call; returns the previous one. For tests."""
    cdef int before = S0_LOAD(s0_uninterrupted)
    S0_STORE(s0_uninterrupted, min(max(nanoseconds, 0), 999_999_999))
    return before


cdef int number_in(str value) except -1:
    """A number of threads in an environment variable; 0 if the value is not a number."""
    value = value.strip()
    if value.isascii() and value.isdigit() and len(value) < 10 and 1 <= int(value) <= S0_MOST_THREADS:
        return int(value)
    return 0


cdef int from_environment() except -1:
    """The value of STRIDE0_NUM_THREADS, at most OMP_NUM_THREADS, which process pools set for their workers."""
    global s0_chosen
    # OpenMP's variable may be a list: a number for each level of nesting.
    outside = number_in(os.environ.get("OMP_NUM_THREADS", "").partition(",")[0])
    s0_threads_start(min(outside or available(), S0_MOST_THREADS))
    wanted = read_number("STRIDE0_NUM_THREADS", f"number from 1 to {S0_MOST_THREADS}", 1, S0_MOST_THREADS, 4)
    if wanted is None:
        return 0
    s0_chosen = wanted
    if outside:
        s0_chosen = min(s0_chosen, outside)
    return 0


from_environment()
pool = bool(S0_POOL)
