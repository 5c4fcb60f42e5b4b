# See `program.pyx`.

from cpython.object cimport PyObject

from stride0._core.memory.guards cimport (
    FREE_THREADED, s0_drops, s0_enter_section, s0_has_drops, s0_is_last_leave, s0_leave_section, s0_section,
)
from stride0._core.memory.storage cimport Storage
from stride0._core.plan.plan cimport Chain, Kernel, MAX_CHAIN_NDIM, MAX_CONSTANTS, MAX_STEPS, MAX_VIEWS, Operand, Plan, Step
from stride0._core.array.array cimport Array

# Deferred results: see `deferred.pxi`.

cdef enum:
    MOST_VIEWS = 16             # most leaves in memory
    MOST_LEAVES = MOST_VIEWS + MAX_CONSTANTS
    MOST_AXES = MAX_CHAIN_NDIM
    MOST_REDUCTIONS = 4
    MOST_KNOWN = 3              # most results of earlier passes that a pass reads
    MOST_OUTPUTS = 4            # most outputs of a pass; views are leaves, known results, outputs and the reduction's result


ctypedef struct Leaf:
    PyObject* storage                   # a reference; NULL if the leaf is one value, a constant of the chain
    char* data                          # the first element; NULL while the leaf is deferred itself
    int code
    Py_ssize_t strides[MOST_AXES]       # in bytes, along the axes of the chain
    char value[16]


ctypedef struct Reduction:
    Kernel kernel
    int inputs[2]                       # its operands, numbered as the inputs of a step; -1 if there is no second one
    PyObject* result                    # a storage, without a reference: NULL if nothing else refers to it
    PyObject* name                      # a reference
    Py_ssize_t strides[MOST_AXES]       # of the result along the axes of the chain: 0 along reduced axes
    bint from_first                     # whether it starts from the first elements along the reduced axes
    char start[16]                      # otherwise the value to start from
    double divisor                      # divide the accumulators by this, unless it is 0
    int code                            # dtype of the result, to which the (divided) accumulators are cast


ctypedef Py_ssize_t Along[MOST_AXES]


ctypedef struct Places:
    # The data of a chain: about 20 KiB, of which most chains use a part, so it is not cleared.
    Leaf leaf[MOST_LEAVES]
    Step steps[MAX_STEPS]
    Along strides[MAX_STEPS]
    PyObject* results[MAX_STEPS]
    PyObject* names[MAX_STEPS]
    Reduction reduction[MOST_REDUCTIONS]


cdef class PendingChain:
    # Note [Deferred results]. An input of a step is the number of a leaf, or MOST_LEAVES + the number of a step.
    cdef int ndim
    cdef Py_ssize_t shape[MOST_AXES]
    cdef Py_ssize_t size
    cdef int leaves
    cdef int constants                  # number of constants among the leaves
    cdef int count
    cdef int evaluating                   # number of calls that are computing the chain now
    cdef bint dependent                 # whether a leaf is deferred
    cdef Py_ssize_t serial              # leaves may be deferred only by chains with smaller serials
    cdef unsigned long thread
    cdef Places* places                 # memory of the following fields
    cdef Leaf* leaf
    cdef Step* steps
    cdef Along* strides
    cdef PyObject** results             # storages, without references: NULL if nothing else refers to the result
    cdef PyObject** names               # references: the names of the operations
    cdef int reductions
    cdef Reduction* reduction
    cdef PyObject* before               # neighbours in the list of all chains, without references
    cdef PyObject* after


cdef s0_section pending_lock
cdef s0_drops dropped

cdef void drop_and_leave() noexcept


cdef inline void enter_pending() noexcept:
    """Enter the (recursive) lock of chains in a free-threaded interpreter."""
    s0_enter_section(&pending_lock)


cdef inline void leave_pending() noexcept:
    if FREE_THREADED and s0_is_last_leave(&pending_lock) and s0_has_drops(&dropped):
        drop_and_leave()
    else:
        s0_leave_section(&pending_lock)


cdef bint defers(Py_ssize_t size, bint pending) except -1
cdef bint may_be_leaf(Array x) except -1
cdef bint replace_pending(Array x, Array other) noexcept
cdef Array try_to_defer_reduction(
    Kernel kernel, int nin, Array x, Array x2, tuple axes, bint keepdims, bint from_first, const char* start, int code, str name
)
cdef bint divide_pending(Array total, double divisor, int code) except -1
cdef Array defer(
    Kernel kernel, int out_code, int nin, Array x1, Array x2, Array x3, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides, str name
)


# Passes over memory for deferred results: see `passes.pxi`.

ctypedef struct Pass:
    # Scratch memory of a pass: about 10 KiB, too much for a thread's stack.
    Chain program
    Plan plan
    Operand operands[MAX_VIEWS + 1]


cdef void divide_sums(double* total, char* out, bint is_single, double count, Py_ssize_t n) noexcept


# Computing deferred results: see `evaluation.pxi`.

cdef bint assign_pending(Array x, Array source) except -1
cdef bint store_result(Array result, Array x, Storage spared) except -1
cdef bint copy_pending(Array out, Array source) except -1
