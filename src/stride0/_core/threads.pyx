# cython: language_level=3
"""How many threads a large loop may use, and the team that runs its parts: docs/design/threads.md."""

import os

from stride0._errors import ArgumentTypeError, ArgumentValueError, shown

cdef extern from "threads.h":
    int s0_chosen
    void s0_threads_start()
    bint s0_threads_built()
    int s0_threads_allowed() nogil
    int s0_team() nogil
    bint s0_awake() nogil
    void s0_run_parts(s0_part body, void* context, int parts, int threads, bint even) nogil

cdef enum:
    MOST = 512  # more is a mistake on today's machines, and would ask OpenMP for what it cannot start


cdef int team() noexcept nogil:
    """How many threads a loop of the calling thread may use now."""
    return s0_team()


cdef bint awake() noexcept nogil:
    """Whether work of some 10 microseconds may call a team: Note [Teams that are awake]."""
    return s0_awake()


cdef void run_parts(s0_part body, void* context, int parts, int threads, bint even) noexcept nogil:
    """
    Run `body(context, part)` for every part once, in any order, by up to so many threads.

    Where `even`, each thread has the same parts in every call, one behind the other; otherwise whoever is free takes one.
    """
    s0_run_parts(body, context, parts, threads, even)


cdef void run_shares(s0_part body, void* context, Py_ssize_t* extent, Py_ssize_t count, Py_ssize_t parts, int threads, bint even) noexcept nogil:
    """`run_parts` of `count` things, at least one, cut into so many parts or fewer; `extent` is told how many a part has."""
    extent[0] = (count + parts - 1) // parts
    s0_run_parts(body, context, <int>((count + extent[0] - 1) // extent[0]), threads, even)


def get_num_threads():
    """
    Threads that a large operation may use.

    Returns
    -------
    int
        What `set_num_threads` or the environment variable ``STRIDE0_NUM_THREADS`` chose; otherwise what OpenMP
        allows: ``OMP_NUM_THREADS``, a limit of ``threadpoolctl``, or the number of processors. 1 in a process that
        was forked, and where stride0 was built without OpenMP.
    """
    return s0_threads_allowed()


def set_num_threads(n, /):
    """
    Choose how many threads a large operation may use, in all Python threads.

    The results do not depend on it, to the last bit.

    Parameters
    ----------
    n : int
        At least 1. Without OpenMP, and in a process that was forked, one thread works whatever is chosen here.

    Raises
    ------
    ArgumentTypeError
        If `n` is not an integer.
    ArgumentValueError
        If `n` is less than 1 or beyond every machine.
    """
    global s0_chosen
    if isinstance(n, bool) or not isinstance(n, int):
        raise ArgumentTypeError("set_num_threads", "n must be an int", [("n", shown(n))])
    if not 1 <= n <= MOST:
        raise ArgumentValueError("set_num_threads", f"{n} threads", (), f"a number from 1 to {MOST}")
    s0_chosen = n


cdef int from_environment() except -1:
    """What STRIDE0_NUM_THREADS says. Not more than OMP_NUM_THREADS, which a pool sets for its workers."""
    global s0_chosen
    wanted = os.environ.get("STRIDE0_NUM_THREADS", "").strip()
    if not wanted:
        return 0
    if not (wanted.isascii() and wanted.isdigit() and 1 <= int(wanted) <= MOST):
        raise ImportError(f"STRIDE0_NUM_THREADS: {wanted!r} is no number from 1 to {MOST}")
    s0_chosen = int(wanted)
    if "OMP_NUM_THREADS" in os.environ:
        s0_chosen = min(s0_chosen, allowed_by_openmp)
    return 0


s0_threads_start()
cdef int allowed_by_openmp = s0_threads_allowed()
from_environment()
openmp = s0_threads_built()
