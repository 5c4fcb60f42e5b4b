# Deferred results: see `deferred.pyx`.

from cpython.object cimport PyObject

from stride0._core.array.array cimport Array
from stride0._core.memory.storage cimport Storage
from stride0._core.plan.chain cimport MAX_STEPS, Step
from stride0._core.plan.table cimport Kernel

cdef enum:
    MOST_LEAVES = 28
    MOST_AXES = 16


ctypedef struct Leaf:
    PyObject* storage                   # a reference; NULL where the leaf is one value
    char* data                          # the first element; NULL while it is deferred itself
    int code
    Py_ssize_t strides[MOST_AXES]       # along the axes of the chain
    char value[16]


cdef class PendingChain:
    # Note [Deferred results]. The inputs of a step are numbers of leaves, or MOST_LEAVES and the number of a step.
    cdef int ndim
    cdef Py_ssize_t shape[MOST_AXES]
    cdef Py_ssize_t size
    cdef int leaves
    cdef int count
    cdef int settling                   # how many calls are computing it now
    cdef bint dependent                 # whether a leaf is deferred
    cdef Py_ssize_t serial              # a leaf is deferred only by chains of smaller ones
    cdef unsigned long thread
    cdef Leaf leaf[MOST_LEAVES]
    cdef Step steps[MAX_STEPS]
    cdef Py_ssize_t strides[MAX_STEPS][MOST_AXES]
    cdef PyObject* results[MAX_STEPS]   # storages, not references: NULL once nobody can see the result
    cdef PyObject* names[MAX_STEPS]     # references: the operations
    cdef PyObject* before               # chains of the list of all, not references
    cdef PyObject* after


cdef bint defers(Py_ssize_t size, bint pending) except -1
cdef Array defer(
    Kernel kernel, int out_code, int nin, Array x1, Array x2, Array x3, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides, str name
)
