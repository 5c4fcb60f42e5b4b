# Operands: see `operands.pyx`.

from stride0._core.array.array cimport Array

# Names of the operands, for errors.
cdef tuple UNARY_NAMES
cdef tuple BINARY_NAMES

cdef object named_shapes(tuple names, Array x1, Array x2, Array x3)
cdef Array scalar_array(object value, int code, str operation)
cdef Array weak_array(object value, int code, str operation)
cdef Array weak_operand(Array a, object value, str name)
cpdef bint is_numpy_scalar(object value)
cdef Array foreign_scalar(object value)
cdef object refuse_operand(str name, str argument, object value)
cdef bint is_known_foreign(object value)
cdef bint exports_buffer(object source)
cdef Array value_operand(Array dst, object src, str operation)
