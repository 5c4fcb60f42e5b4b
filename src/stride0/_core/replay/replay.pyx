"""Recordings of calls, which run again without Python: Note [Recordings] of the tape.

One compiled module, read in this order: `steps.pxi`, `recording.pxi`, `prepared.pxi`, `signature.pxi`, `calls.pxi`.
"""

cimport cython
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport uintptr_t
from libc.string cimport memcmp, memcpy, memset

from stride0._core.memory.dtype cimport DType, is_python_scalar, is_stored, itemsize_at, letter_at, weak_code, write_scalar
from stride0._core.memory.storage cimport Storage
from stride0._core.plan.loops cimport s0_loop
from stride0._core.plan.operations cimport OP_POW, OP_SQUARE, S0_CHECK_EXPONENT, S0_COMPARES, S0_LOOP, S0_OUT
from stride0._core.plan.plan cimport (
    Kernel, MAX_NDIM, Operand, Plan, broadcast, cast_kernel, coalesce, layout_of, loops_of, op_kernel, order_axes, set_result, set_strides, tuning,
)
from stride0._core.array.modes cimport guarding
from stride0._core.array.array cimport (
    Array, blank, data_of, describe_operand, needs_tape, new_array, s0_tuple_items, set_flags, set_ndim, shape_tuple,
    view_of,
)
from stride0._core.call.binding cimport Primitive, PyObject_Vectorcall
from stride0._core.elementwise.elementwise cimport binary, in_place, unary
from stride0._core.index.index cimport get_item, set_item

from stride0._base.errors import ReplayError, Stride0Error

cdef extern from "Python.h":
    PyObject* s0_list_item "PyList_GET_ITEM"(object items, Py_ssize_t k)
    const char* s0_bytes_data "PyBytes_AS_STRING"(object data)
    PyObject* s0_type "(PyObject *)Py_TYPE"(object value) noexcept

include "steps.pxi"
include "recording.pxi"
include "prepared.pxi"
include "signature.pxi"
include "calls.pxi"
