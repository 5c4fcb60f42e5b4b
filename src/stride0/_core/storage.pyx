# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Reference-counted memory, 64-byte aligned: what arrays are views of.

Note [Small blocks]
    The smallest arrays cost more in malloc and free than in arithmetic. Freed blocks of up to
    BINS times 64 bytes wait in a stack per size, at most KEPT of each, for the next array of that size.
"""

cimport cython
from libc.stdint cimport uintptr_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

cdef enum:
    ALIGNMENT = 64
    HUGE = 1 << 22  # bytes from which huge pages are asked for
    BINS = 16  # blocks of 1 to 16 times 64 bytes
    KEPT = 32

cdef extern from *:
    """
    #include <stdint.h>
    #include <stddef.h>
    #if defined(__linux__)
    #include <sys/mman.h>
    /* Fresh memory costs a page fault per page; with pages of 2 MiB there are 512 times fewer. */
    static void s0_ask_for_huge_pages(void *block, size_t size) {
        uintptr_t page = 4096, first = ((uintptr_t)block + page - 1) & ~(page - 1);
        madvise((void *)first, size - (size_t)(first - (uintptr_t)block), MADV_HUGEPAGE);
    }
    #else
    static void s0_ask_for_huge_pages(void *block, size_t size) { (void)block; (void)size; }
    #endif
    """
    void s0_ask_for_huge_pages(void* block, size_t size) nogil

cdef void* waiting[BINS][KEPT]
cdef int count[BINS]
cdef Py_ssize_t live_bytes = 0
cdef Py_ssize_t peak_bytes = 0
cdef Py_ssize_t allocations = 0


# Without the garbage collector, as arrays are: small results are made by the million.
@cython.final
@cython.no_gc
@cython.freelist(64)
cdef class Storage:
    """A block of memory, of our own or kept alive by the object that lent it."""

    def __dealloc__(self):
        global live_bytes
        if self.block is NULL:
            return
        live_bytes -= self.nbytes
        if self.bin >= 0 and count[self.bin] < KEPT:
            waiting[self.bin][count[self.bin]] = self.block
            count[self.bin] += 1
        else:
            free(self.block)


cdef Storage allocate_storage(Py_ssize_t nbytes, bint zeroed):
    """Memory of our own, at a multiple of ALIGNMENT; MemoryError where there is none."""
    global live_bytes, peak_bytes, allocations
    cdef Storage storage = Storage.__new__(Storage)
    cdef Py_ssize_t size = (nbytes + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
    cdef int bin = <int>(size // ALIGNMENT) - 1 if 0 < size <= BINS * ALIGNMENT else 0 if size == 0 else -1
    cdef void* block = NULL
    storage.bin = bin
    if bin >= 0:
        size = (bin + 1) * ALIGNMENT
        if count[bin] > 0:
            count[bin] -= 1
            block = waiting[bin][count[bin]]
            if zeroed:
                memset(block, 0, size + ALIGNMENT)
    if block is NULL:
        # calloc leaves fresh pages untouched, so that large zeros cost nothing until they are used.
        block = calloc(size + ALIGNMENT, 1) if zeroed else malloc(size + ALIGNMENT)
    if block is not NULL and size >= HUGE:
        s0_ask_for_huge_pages(block, size)
    if block is NULL:
        raise MemoryError(f"allocate: no memory for an array of {nbytes} bytes")
    storage.block = block
    storage.data = <char*>((<uintptr_t>block + ALIGNMENT - 1) & ~<uintptr_t>(ALIGNMENT - 1))
    storage.nbytes = nbytes
    allocations += 1
    live_bytes += nbytes
    if live_bytes > peak_bytes:
        peak_bytes = live_bytes
    return storage


cdef Storage foreign_storage(char* data, Py_ssize_t nbytes, object owner, bint readonly):
    """Memory of another library, alive as long as `owner`."""
    cdef Storage storage = Storage.__new__(Storage)
    storage.block = NULL
    storage.data = data
    storage.nbytes = nbytes
    storage.owner = owner
    storage.readonly = readonly
    return storage


def memory_statistics(*, bint reset_peak=False):
    """
    Bytes that arrays own now and owned at most, and the number of allocations so far.

    Parameters
    ----------
    reset_peak : bool
        Start a new peak from what is owned now, after reading the old one.

    Returns
    -------
    dict
        ``live_bytes``, ``peak_bytes``, ``allocations``.
    """
    global peak_bytes
    found = {"live_bytes": live_bytes, "peak_bytes": peak_bytes, "allocations": allocations}
    if reset_peak:
        peak_bytes = live_bytes
    return found
