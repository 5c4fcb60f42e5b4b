# The array type in C: a strided view of a storage.

from libc.stdint cimport int64_t

from stride0._core.plan.plan cimport Operand
from stride0._core.memory.storage cimport Storage


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


cdef void set_tracer(Tracer tracer) noexcept
cdef object step_inside()
cdef int step_outside(object token) except -1
cdef object unary_raw(int op, Array x, str name)
cdef object binary_raw(int op, object x1, object x2, str name, bint is_operator)
cdef Array masked_product(Array g, Array d)
cdef Array alias(Array x)
cdef Array bare(Array x)
cdef Array rejoined(Array x)
cdef tuple shape_tuple(Array x)
cpdef Array sum_into(Array x, tuple shape)
cpdef Array dot_into(Array x1, Array x2, tuple shape)
