# The array type: a strided view of a storage.

cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from stride0._core.memory.guards cimport s0_read
from stride0._core.memory.dtype cimport DType
from stride0._core.memory.storage cimport Storage
from stride0._core.plan.plan cimport Operand
from stride0._core.array.modes cimport Body, Call, fused_from, guarding

cdef extern from *:
    """
    static inline int s0_times(Py_ssize_t *total, Py_ssize_t factor) {
        return __builtin_mul_overflow(*total, factor, total);
    }
    #define s0_tuple_items(tuple) (((PyTupleObject *)(tuple))->ob_item)
    """
    bint s0_times(Py_ssize_t* total, Py_ssize_t factor) noexcept nogil
    PyObject** s0_tuple_items(object items) noexcept


@cython.final
cdef class Array:
    cdef Storage storage
    cdef char* address        # address of the first element, NULL while deferred; only for `data_of` and code that creates arrays
    cdef Py_ssize_t size
    cdef int ndim
    cdef int code             # code of the dtype
    cdef bint c_contiguous
    cdef short weak           # whether made from a Python scalar for one operation
    cdef short is_view        # whether made as a view of another array, which may have been freed
    cdef Py_ssize_t* shape_   # ndim sizes
    cdef Py_ssize_t* strides_ # ndim strides in bytes, directly after the sizes
    cdef Py_ssize_t small[8]  # holds both for up to four axes
    cdef object block         # bytes that hold them for more axes, or None
    cdef object node          # node of a tape, or None
    cdef int64_t seen         # time of the last write to the storage that `node` includes
    cdef object __weakref__


cdef extern from *:
    """
    /* Without the GIL, other threads may test whether an array has a node while one thread replaces it. */
    #define s0_has_node(array) (s0_peek((array)->node) != Py_None)
    #define s0_put_node(array, value) s0_put((array)->node, value)
    """
    bint has_node "s0_has_node"(Array x) noexcept
    void s0_put_node(Array x, PyObject* node) noexcept


cdef class Tracer:
    # Executes and records functions if an operand needs the tape.
    cdef object unary(self, int op, Array x, str name)
    cdef object binary(self, int op, object x1, object x2, str name)
    cdef object call(self, str name, PyObject* const* args, Py_ssize_t n, PyObject* kwnames)
    cdef object in_place(self, str name, Array x, object other)
    cdef object set_item(self, Array x, object key, object value)
    cdef bint is_tracked(self, Array x) except -1
    cdef bint needs_tape(self, Array x) noexcept


cdef enum Form:
    UNARY
    BINARY
    IN_PLACE
    MATMUL
    MATMUL_IN_PLACE


cdef struct Hooks:
    # Functions of higher layers that the array type and the operations call. Each layer sets its own at import.
    PyObject* tracer    # a Tracer: all reads and writes that a tape records
    # The operators of the type. Without a second operand x2 is None.
    object (*operate)(int op, object x1, object x2, str name, Form form)
    # `x[key]` if the value is NULL, otherwise `x[key] = value`.
    object (*item)(Array x, object key, PyObject* value)
    # Compute a deferred array, or the deferred results that read its memory, before it is written to.
    int (*evaluate)(Array x, bint readers) except -1
    Array (*convert)(object value, int code)    # any object to an array; `code`, if not negative, is the dtype for a sequence
    str (*text)(Array x, bint is_repr)


cdef Hooks hooks

cdef void set_tracer(Tracer tracer) noexcept
cdef Array without_history(Array x)
cdef Array restore_storage(Array x)
cdef Array blank(int code)
cdef int set_ndim(Array x, int ndim) except -1
cdef Py_ssize_t checked_size(int code, int ndim, const Py_ssize_t* shape) except -1
cdef int set_flags(Array x) except -1
cdef Array new_array(int code, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides, bint zeroed)
cdef Array new_like(Array x, int code)
cdef Array view_of(Array x, char* data, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides)
cdef tuple shape_tuple(Array x)
cdef int read_shape(object shape, Py_ssize_t* out, str operation) except -1
cdef Array component(Array x, Py_ssize_t offset)
cdef Array swapped_matrix(Array x)
cdef object single(Array x, str operation)
cdef object make_call(Call* call)
cdef object call_function(str name, tuple args, tuple kwnames, bint recordable, Body body)
cdef object traced(str name, tuple args, dict kwargs=*)
cdef int refuse_tracked(Array x, str operation, object error=*) except -1
cdef int refuse_batched(Array x, str operation, object error=*) except -1
cdef Array alias(Array x)
cdef Storage root_of(Storage storage)


cdef inline bint needs_tape(Array x) noexcept:
    """Whether a read of x has to be recorded by the tracer: Note [Logged storages]."""
    return x.storage.logged and (<Tracer>hooks.tracer).needs_tape(x)


cdef inline bint is_batched(object x) noexcept:
    """Whether a value is a batched array: Note [Batched arrays]."""
    return type(x) is Array and (<Array>x).storage.batched


cdef inline bint operand_needs_tape(object x) noexcept:
    """Whether a value is an array that `needs_tape`."""
    return type(x) is Array and needs_tape(<Array>x)


cdef int not_completed(str name) except -1
cdef int refuse_gradient(str operation) except -1


cdef inline int guard_gradient(Array x, str operation) except -1:
    """Refuse a tracked array in a function that does not record: the tracer should have detached it."""
    if has_node(x) and (<Tracer>hooks.tracer).is_tracked(x):
        refuse_gradient(operation)
    return 0


cdef inline bint is_plain_value(Array x) noexcept:
    """Whether x is a 0-d array that may be read directly: no switch is on, and x is not batched."""
    return x.ndim == 0 and not guarding and not x.storage.batched


cdef inline bint same_shape(Array a, Array b) noexcept:
    cdef int axis
    if a.ndim != b.ndim:
        return False
    for axis in range(a.ndim):
        if a.shape_[axis] != b.shape_[axis]:
            return False
    return True


cdef inline bint is_deferred(Array x) noexcept:
    """Whether the elements have not been computed: Note [Deferred results]."""
    return s0_read(x.address) is NULL


cdef inline bint may_defer(Py_ssize_t size, Array x) noexcept:
    """Whether a result of `size` elements with the operand x may be deferred: Note [Deferred results]."""
    return size >= fused_from or is_deferred(x)


cdef inline bint may_defer_two(Py_ssize_t size, Array x1, Array x2) noexcept:
    """The same for two operands."""
    return may_defer(size, x1) or is_deferred(x2)


cdef inline char* data_of(Array x) except NULL:
    """The address of the first element. All access to an array's memory goes through this function: it computes deferred elements."""
    cdef char* address = s0_read(x.address)
    if address is NULL:
        hooks.evaluate(x, False)
        address = s0_read(x.address)
    return address


cdef inline int before_write(Array x) except -1:
    """Compute the deferred results that read the memory of x, before it is overwritten: Note [Deferred results]."""
    if x.storage.readers != 0 or x.storage.owner is not None:
        hooks.evaluate(x, True)
    return 0


cdef inline char* writable_data(Array x) except NULL:
    """`data_of` for an array whose elements will be overwritten."""
    before_write(x)
    return data_of(x)


cdef inline int read_operand(Operand* out, Array x) except -1:
    out.data = data_of(x)
    return describe_operand(out, x)


cdef inline int describe_operand(Operand* out, Array x) noexcept:
    """Describe an operand without its memory, for planning."""
    out.code = x.code
    out.ndim = x.ndim
    out.shape = x.shape_
    out.strides = x.strides_
    return 0


# Views of an array: see `views.pxi`.

cdef bint is_broadcast_along(const Operand* operand, int axis, int ndim) noexcept
cdef Array without_axes(Array x, tuple axes)
cdef bint is_f_contiguous(Array x) noexcept
cdef bint is_aligned(Array x) except -1
cdef bint may_be_written(Array x) except -1
cdef void c_strides_of(Py_ssize_t stride, int ndim, const Py_ssize_t* shape, Py_ssize_t* out) noexcept
cdef bint strides_for_shape(Array x, int ndim, const Py_ssize_t* shape, Py_ssize_t* out) noexcept
cdef Array without_leading(Array x, int count)
cdef Array retyped(Array x, int code, str operation)
cdef Array as_bits(Array x)
cpdef Array reinterpret(Array x, DType dtype)


# Exports of memory: see `exports.pxi`.

cdef int refuse_device(Array x, str operation, object error=*) except -1
cdef Storage begin_export(Array x)
cdef bint is_sole_owner(Storage storage) except -1
