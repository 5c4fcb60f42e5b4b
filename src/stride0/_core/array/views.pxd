# Views of an array: see `views.pyx`.

from stride0._core.memory.dtype cimport DType
from stride0._core.array.array cimport Array
from stride0._core.plan.plan cimport Operand


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
