# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The table of kernels, filled by the build that the processor can run, and what is known of each of them."""

from cpython.pycapsule cimport PyCapsule_New

from stride0._core.memory.dtype cimport BOOL, COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, itemsize_at, letter_at

from stride0._core.kernels._dispatch import load_kernels
from stride0._tables import operations
from stride0._tables.dtypes import CODES, ROWS

instruction_set = load_kernels(PyCapsule_New(&TABLE, "stride0.kernels", NULL))

cdef enum:
    SAME, TRUTH, MAGNITUDE  # the dtype of an operation's result: that of its operands, bool, the real one

cdef int COSTS[96][13]      # sixteenths of a nanosecond per element beyond what memory takes, roughly
cdef int INPUTS[96]
cdef int RESULTS[96]
cdef int FOLD_INPUTS[16]
cdef int FOLDED_BY[16]      # the reduction that folds the accumulators of another
cdef int ABSORBING[16]      # the accumulator that ends a reduction early, or -1
cdef signed char ACCUMULATORS[16][13]


cdef int fill_tables() except -1:
    cdef int number, code
    for number, row in enumerate(operations.OPS):
        INPUTS[number] = row.nin
        RESULTS[number] = operations.OUT.index(row.out)
        for code, dtype in enumerate(ROWS):
            COSTS[number][code] = 160 if dtype.name in row.call else 2 * dtype.itemsize if row.otherwise or row.run or row.slow else 0
    names = [row.name for row in operations.REDUCTIONS]
    for number, row in enumerate(operations.REDUCTIONS):
        FOLD_INPUTS[number] = row.nin
        FOLDED_BY[number] = names.index(row.folded_by or row.name)
        ABSORBING[number] = int(row.absorbing or -1)
        for code, dtype in enumerate(ROWS):
            name = row.accumulator.get(dtype.letter)
            ACCUMULATORS[number][code] = -1 if name is None else code if name == "same" else CODES[name]
    return 0


fill_tables()


cdef s0_kernels* kernels() noexcept nogil:
    return &TABLE


cdef const s0_loop* stream_loops_of(Kernel kernel) noexcept nogil:
    """The loops whose stores are non-temporal, of a cast the contiguous one; NULL for kinds that have none."""
    if kernel.kind == KIND_OP:
        return &TABLE.streams[kernel.row][kernel.code][0]
    if kernel.kind == KIND_CAST:
        return &TABLE.stream_casts[kernel.row][kernel.code]
    return NULL


cdef int inputs_of(Kernel kernel) noexcept nogil:
    if kernel.kind == KIND_OP:
        return INPUTS[kernel.row]
    if kernel.kind == KIND_REDUCTION:
        return FOLD_INPUTS[kernel.row]
    return 3 if kernel.kind == KIND_WHERE else 1


cdef int input_code(Kernel kernel, int k) noexcept nogil:
    """Code of the dtype in which a kernel reads an operand."""
    if kernel.kind == KIND_CAST:
        return kernel.row
    return BOOL if kernel.kind == KIND_WHERE and k == 0 else kernel.code


cdef int result_code(Kernel kernel) noexcept nogil:
    """Code of the dtype that a kernel writes; -1 for kinds of which that is not asked."""
    if kernel.kind == KIND_OP:
        if RESULTS[kernel.row] == TRUTH:
            return BOOL
        if RESULTS[kernel.row] == MAGNITUDE and letter_at(kernel.code) == c"c":
            return FLOAT32 if kernel.code == COMPLEX64 else FLOAT64
        return kernel.code
    if kernel.kind == KIND_REDUCTION:
        return ACCUMULATORS[kernel.row][kernel.code]
    return kernel.code if kernel.kind == KIND_CAST or kernel.kind == KIND_WHERE else -1


cdef int cost_of(Kernel kernel) noexcept nogil:
    """Sixteenths of a nanosecond that an element takes beyond what memory does; other kernels fold, search or cast."""
    return COSTS[kernel.row][kernel.code] if kernel.kind == KIND_OP else 2


cdef int absorbing(Kernel kernel) noexcept nogil:
    """The accumulator, of one byte, that ends a reduction early; -1 where there is none."""
    return ABSORBING[kernel.row] if kernel.kind == KIND_REDUCTION else -1


cdef Kernel fold_of(Kernel kernel) noexcept nogil:
    """The reduction that folds the accumulators of another."""
    return reduction_kernel(FOLDED_BY[kernel.row], result_code(kernel))
