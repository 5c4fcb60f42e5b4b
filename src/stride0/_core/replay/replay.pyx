"""Recordings of calls, which run again without Python: Note [Recordings] of the tape.

One compiled module, read in this order: `steps.pxi`, `parts.pxi`, `recording.pxi`, `running.pxi`, `prepared.pxi`, `places.pxi`, `signature.pxi`, `calls.pxi`, `loops.pxi`.
"""

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc, PyMem_Realloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.string cimport memcmp, memcpy, memset

from stride0._core.memory.dtype cimport (
    BOOL, DType, FLOAT64, is_python_scalar, is_stored, itemsize_at, letter_at, weak_code, write_scalar,
)
from stride0._core.memory.storage cimport Storage
from stride0._core.plan.loops cimport s0_loop
from stride0._core.plan.operations cimport OP_ADD, OP_DIVIDE, OP_MULTIPLY, OP_MULTIPLY_MASKED, OP_POW, OP_SQUARE, OP_SUBTRACT, S0_CHECK_EXPONENT, S0_COMPARES, S0_LOOP, S0_OUT
from stride0._core.plan.plan cimport (
    FACTS, Kernel, MAX_NDIM, Operand, Plan, aligned, broadcast, cast_kernel, coalesce, input_code, is_long_run, layout_of, loops_of, op_kernel,
    order_axes, reduction_kernel, set_result, set_strides, where_kernel,
)
from stride0._core.array.modes cimport DEFERRED_SIZE, guarding
from stride0._core.array.array cimport (
    Array, blank, data_of, describe_operand, is_broadcast_along, needs_tape, new_array, s0_tuple_items, set_flags,
    set_ndim, shape_tuple, view_of,
)
from stride0._core.call.binding cimport MAX_PARAMETERS, Primitive, PyObject_Vectorcall, Signature, axes_tuple
from stride0._core.elementwise.elementwise cimport binary, copy_array, in_place, unary
from stride0._core.reduce.reduce cimport REDUCTION_NUMBERS, plan_totals, run_stride, start_element
from stride0._core.index.index cimport get_item, set_item
from stride0._core.matmul.matmul cimport Product, product_without_copies, run_products

from math import prod

from stride0._base.errors import ReplayError, ShapeError, Stride0Error
from stride0._base.shapes import broadcast_shapes

cdef extern from "Python.h":
    PyObject* s0_list_item "PyList_GET_ITEM"(object items, Py_ssize_t k)
    const char* s0_bytes_data "PyBytes_AS_STRING"(object data)
    PyObject* s0_type "(PyObject *)Py_TYPE"(object value) noexcept

include "steps.pxi"
include "parts.pxi"
include "recording.pxi"
include "running.pxi"
include "prepared.pxi"
include "places.pxi"
include "signature.pxi"
include "calls.pxi"
include "loops.pxi"
