# The array type in C: a strided view of a storage.

cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport int64_t
from libc.string cimport memcmp

from stride0._core.memory.storage cimport Storage
from stride0._core.plan.plan cimport Operand

cdef extern from *:
    """
    static inline int s0_times(Py_ssize_t *total, Py_ssize_t factor) {
        return __builtin_mul_overflow(*total, factor, total);
    }
    """
    bint s0_times(Py_ssize_t* total, Py_ssize_t factor) noexcept nogil


@cython.final
cdef class Array:
    cdef Storage storage
    cdef char* data           # the first element
    cdef Py_ssize_t size
    cdef int ndim
    cdef int code             # of the dtype
    cdef bint c_contiguous
    cdef short weak           # made of a Python scalar for one operation
    cdef short is_view        # on the storage of another array, which may be gone
    cdef Py_ssize_t* shape_   # ndim sizes
    cdef Py_ssize_t* strides_ # ndim steps in bytes, right behind the sizes
    cdef Py_ssize_t small[8]  # where both are kept for up to four axes
    cdef object node          # what the tape knows of the array; None where nothing
    cdef int64_t seen         # the last write to the storage that `node` knows of
    cdef object __weakref__


cdef class Tracer:
    # What is called instead of a function one of whose operands is tracked.
    cdef object unary(self, int op, Array x, str name)
    cdef object binary(self, int op, object x1, object x2, str name)
    cdef object call(self, str name, tuple args, dict kwargs)
    cdef object in_place(self, str name, Array x, object other)
    cdef object set_item(self, Array x, object key, object value)
    cdef bint watched(self, Array x) except -1
    cdef bint concerns(self, Array x) noexcept


cdef struct Hooks:
    # What the array type and the operations call of layers above them. Each layer fills in its own at import.
    PyObject* tracer    # a Tracer
    object (*unary)(int op, object x, str name)
    object (*binary)(int op, object x1, object x2, str name, bint is_operator)
    object (*in_place)(int op, Array x, object other, str name)
    object (*matmul)(object x1, object x2, bint is_in_place)
    Array (*get_item)(Array x, object key)
    int (*set_item)(Array x, object key, object value) except -1
    Array (*reduce)(str name, Array x, tuple axes, bint keepdims, object dtype)
    int (*export_buffer)(Array x, Py_buffer* buffer, int flags) except -1
    str (*repr)(Array x)
    str (*text)(Array x)
    Array (*convert)(object value, int code)    # an array of anything; a sequence's of the dtype, where it is not negative


cdef Hooks hooks

cdef void set_tracer(Tracer tracer) noexcept
cdef Array bare(Array x)
cdef Array rejoined(Array x)
cdef Array blank(int code)
cdef int set_ndim(Array x, int ndim) except -1
cdef Py_ssize_t checked_size(int code, int ndim, const Py_ssize_t* shape) except -1
cdef int set_flags(Array x) except -1
cdef Array new_array(int code, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides, bint zeroed)
cdef Array new_like(Array x, int code)
cdef Array view_of(Array x, char* data, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides)
cdef tuple shape_tuple(Array x)
cdef int read_shape(object shape, Py_ssize_t* out, str operation) except -1
cdef bint is_elsewhere(Array x) except -1
cdef int refuse_device(Array x, str operation) except -1
cdef Array component(Array x, Py_ssize_t offset)
cdef Array swapped_matrix(Array x)
cdef object single(Array x, str operation)
cdef object traced(str name, tuple args, dict kwargs=*)
cdef int refuse_watched(Array x, str operation) except -1
cdef int refuse_export(Array x, str operation) except -1
cdef Array seen_by_others(Array x)
cdef Array alias(Array x)


cdef inline Tracer tracer_here():
    return <Tracer>hooks.tracer


cdef inline bint is_followed(Array x) noexcept:
    """Whether a read of x is handed to the tracer: Note [Tracked storages]."""
    return x.storage.history is not None and (<Tracer>hooks.tracer).concerns(x)


cdef inline bint is_tracked(object x) noexcept:
    """The same of any value."""
    return type(x) is Array and is_followed(<Array>x)


cdef int refuse_gradient(str operation) except -1


cdef inline int guard_gradient(Array x, str operation) except -1:
    """A piece of the package was handed an array that the tracer should have stripped: its gradient would be lost."""
    if x.node is not None and (<Tracer>hooks.tracer).watched(x):
        refuse_gradient(operation)
    return 0


cdef inline bint same_shape(Array a, Array b) noexcept:
    return a.ndim == b.ndim and memcmp(a.shape_, b.shape_, a.ndim * sizeof(Py_ssize_t)) == 0


cdef inline Operand operand_of(Array x) noexcept:
    cdef Operand out
    out.data = x.data
    out.code = x.code
    out.ndim = x.ndim
    out.shape = x.shape_
    out.strides = x.strides_
    return out
