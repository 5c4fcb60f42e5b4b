# Deferred results: see `deferred.pyx`.

from cpython.object cimport PyObject

from stride0._core.array.array cimport Array
from stride0._core.memory.storage cimport Storage
from stride0._core.plan.chain cimport MAX_STEPS, Step
from stride0._core.plan.table cimport Kernel

cdef enum:
    MOST_LEAVES = 12
    MOST_AXES = 16
    MOST_REDUCTIONS = 4
    MOST_KNOWN = 3              # results of a pass that later ones read
    MOST_OUTPUTS = 4            # of a pass; the views of a chain are leaves, known results, outputs and a reduction's result


ctypedef struct Leaf:
    PyObject* storage                   # a reference; NULL where the leaf is one value
    char* data                          # the first element; NULL while it is deferred itself
    int code
    Py_ssize_t strides[MOST_AXES]       # along the axes of the chain
    char value[16]


ctypedef struct Reduction:
    Kernel kernel
    int step                            # whose result it reduces
    PyObject* result                    # a storage, not a reference: NULL once nobody can see it
    PyObject* name                      # a reference
    Py_ssize_t strides[MOST_AXES]       # of the result, along the axes of the chain: 0 along reduced ones
    bint from_first                     # starts from the first elements along the reduced axes
    char start[16]                      # or from this value


cdef class PendingChain:
    # Note [Deferred results]. The inputs of a step are numbers of leaves, or MOST_LEAVES and the number of a step.
    cdef int ndim
    cdef Py_ssize_t shape[MOST_AXES]
    cdef Py_ssize_t size
    cdef int leaves
    cdef int count
    cdef int evaluating                   # how many calls are computing it now
    cdef bint dependent                 # whether a leaf is deferred
    cdef Py_ssize_t serial              # a leaf is deferred only by chains of smaller ones
    cdef unsigned long thread
    cdef Leaf leaf[MOST_LEAVES]
    cdef Step steps[MAX_STEPS]
    cdef Py_ssize_t strides[MAX_STEPS][MOST_AXES]
    cdef PyObject* results[MAX_STEPS]   # storages, not references: NULL once nobody can see the result
    cdef PyObject* names[MAX_STEPS]     # references: the operations
    cdef int reductions
    cdef Reduction reduction[MOST_REDUCTIONS]
    cdef PyObject* before               # chains of the list of all, not references
    cdef PyObject* after


cdef int release(PendingChain chain) noexcept
cdef void forget_result(Storage storage) noexcept
cdef list pending_chains()
cdef int count_chains() noexcept
cdef bint defers(Py_ssize_t size, bint pending) except -1
cdef bint replace_pending(Array x, Array other) noexcept
cdef bint may_defer_reduction(Array x) except -1
cdef Array defer_reduction(
    Kernel kernel, Array x, tuple axes, bint keepdims, bint from_first, const char* start, str name
)
cdef Array defer(
    Kernel kernel, int out_code, int nin, Array x1, Array x2, Array x3, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides, str name
)
