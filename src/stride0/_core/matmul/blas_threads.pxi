# The threads of NumPy's BLAS, which its LAPACK calls.
#
# Note [One thread of BLAS]
#     The threads of OpenBLAS wait for each other in loops, after each step of a decomposition that is long enough for several
#     threads (a matrix by a vector from 10^4 elements on). On busy processors each step may cost a time slice: on two busy
#     processors, `eigh` of a 40x40 matrix took 90 ms with OpenBLAS's threads and 1 ms on one thread. So LAPACK computes
#     matrices of few rows or few columns on the calling thread. `begin_alone` sets the number of OpenBLAS's threads to 1;
#     `end_alone` restores it unless other code has changed it. The number is global to the process, so that NumPy calls in
#     other threads run on one thread meanwhile. Threads of the pool may share a stack of such matrices.


ctypedef int (*CountThreads)() noexcept nogil

ctypedef void (*LimitThreads)(int threads) noexcept nogil

cdef s0_lock loading_blas = 0
cdef bint has_blas = False

cdef object load_blas = functions_of_blas

# Note [One thread of BLAS]: the calls that now run on one thread, and the number of threads otherwise.
cdef CountThreads count_threads = NULL
cdef LimitThreads limit_threads = NULL
cdef int alone = 0
cdef int usual_threads = 1


def set_blas(load):
    """
    Replace the function that loads NumPy and its BLAS. For tests.

    Parameters
    ----------
    load : callable
        Called on first use; returns the addresses of the functions that return and set the number of threads, or zeros.
    """
    global load_blas, has_blas
    load_blas, has_blas = load, False


cdef int ask_for_blas() except -1:
    global count_threads, limit_threads, has_blas
    count, limit = load_blas()
    # Of several threads that ask at once, the first one sets them: what is set is never replaced, as others read it.
    s0_acquire(&loading_blas)
    if not has_blas:
        if count and limit:
            count_threads, limit_threads = <CountThreads><uintptr_t>count, <LimitThreads><uintptr_t>limit
        s0_write_int(has_blas, True)
    s0_leave(&loading_blas)
    return 0


cdef bint begin_alone() except -1:
    """
    Have BLAS compute on the threads that call it, until `end_alone`: Note [One thread of BLAS].

    False, with nothing to end, where it is not known how.
    """
    global alone, usual_threads
    if not s0_read_int(has_blas):
        ask_for_blas()
    if limit_threads is NULL:
        return False
    s0_acquire(&loading_blas)
    if alone == 0:
        usual_threads = count_threads()
        if usual_threads > 1:
            limit_threads(1)
    alone += 1
    s0_leave(&loading_blas)
    return True


cdef void end_alone() noexcept:
    global alone
    s0_acquire(&loading_blas)
    # 0 where a signal handler has forked meanwhile, in the child.
    if alone:
        alone -= 1
        if alone == 0:
            restore_threads()
    s0_leave(&loading_blas)


cdef void restore_threads() noexcept:
    if usual_threads > 1 and count_threads() == 1:
        limit_threads(usual_threads)


def forget_other_threads():
    """In a forked process, which has the thread that forked only."""
    global alone
    s0_leave(&loading_blas)
    if alone:
        alone = 0
        restore_threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forget_other_threads)
