# Thresholds of the planner, and counters of its decisions.

from libc.stdint cimport int64_t

# Thresholds, from measurements (docs/design/threads.md); `tune` changes them for tests.
cdef struct Tuning:
    int64_t threads_from    # estimated nanoseconds of work from which spinning workers are used
    int64_t wake_from       # and from which sleeping ones are woken
    int64_t per_thread      # nanoseconds of work that justify one more thread
    int64_t cached_to       # nanoseconds for each thread up to which all have one chunk, since it stays in their caches
    int64_t chunk_to        # nanoseconds of a chunk, at most, so that signals are checked in between
    int64_t fixed_from      # elements from which a reduction is made in fixed chunks; of rows that are added, 16 bytes of accumulators for each
    int64_t fixed_chunk     # elements of a fixed chunk, at least
    int64_t transpose_from  # elements from which operands are transposed in tiles
    int64_t stream_from     # bytes of a transposed copy from which its stores are non-temporal
    int64_t stream_runs_from    # and of other results
    int64_t stream_calls    # of a chain before an output, from which its stores are ordinary
    int64_t prefetch_from   # bytes of the leaves and outputs of a chain from which they are prefetched

cdef Tuning tuning

cdef extern from *:
    """
    /* Two threads may count once; an atomic addition would take a twentieth of the time of a small call. */
    #define s0_count(counter) __atomic_store_n(&(counter), __atomic_load_n(&(counter), __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED)
    """
    void s0_count(int64_t counter) nogil

# How often a chain, or a chunk of it, did this; for tests.
cdef struct Counters:
    int64_t transposed  # operands
    int64_t streamed    # outputs
    int64_t cast        # operands and outputs
    int64_t computed    # operands of a reduction that were computed tile by tile
    int64_t tiled       # chains
    int64_t paired      # steps
    int64_t prefetched  # leaves and outputs

cdef Counters counters
