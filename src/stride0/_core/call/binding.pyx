"""Binding of arguments, and calls of primitive functions.

One compiled module, read in this order: `arguments.pxi`, `primitive.pxi`, `operators.pxi`.
"""

cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM
from libc.limits cimport INT_MAX
from libc.stdint cimport uint64_t

from stride0._core.memory.guards cimport s0_immortalize
from stride0._core.memory.dtype cimport DType, letter_at
from stride0._core.plan.plan cimport MAX_NDIM
from stride0._core.array.modes cimport CALL_FUNCTION, CALL_IN_PLACE, Call, enter_package, guarding, leave_package
from stride0._core.array.array cimport (
    Array, BINARY, Form, IN_PLACE, MATMUL_IN_PLACE, UNARY, hooks, make_call, needs_tape, operand_needs_tape, s0_times, same_shape,
)
from stride0._core.elementwise.elementwise cimport assign_array, binary, check_writable, in_place, is_known_foreign, unary

from stride0._base.devices import check_device
from stride0._base.errors import DTypeError, ShapeError, Stride0Error
from stride0._base.shapes import normalize_axes, normalize_axis, normalize_shape
from stride0._core.call.checks import check_array, check_bool, check_dtype, refuse_dtype

include "arguments.pxi"
include "primitive.pxi"
include "operators.pxi"
