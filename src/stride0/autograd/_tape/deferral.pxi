# Deferring results within forward and backward passes: Note [Deferred passes]. Included in `tape.pyx`.

cdef Switch FUSING = FUSED


cdef object begin_deferring():
    """Defer results in this context from here on; None if the caller has chosen a size."""
    if FUSING.default_on or FUSING.innermost() is not None:
        return None
    return enter_fused(DEFERRED_SIZE)


cdef int end_deferring(object entered, bint failed) except -1:
    """Compute the deferred results that are still referenced. If the pass `failed`, its exception is not replaced."""
    if entered is None:
        return 0
    FUSING.leave(entered)
    try:
        evaluate_pending()
    except MemoryError:
        if not failed:
            raise
    return 0


@cython.final
cdef class Deferring:
    """`begin_deferring` and `end_deferring` as a context manager."""

    cdef object entered

    def __enter__(self):
        self.entered = begin_deferring()

    def __exit__(self, kind, error, traceback):
        end_deferring(self.entered, kind is not None)
