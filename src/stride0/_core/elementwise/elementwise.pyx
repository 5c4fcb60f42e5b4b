"""Elementwise calls: operands, calls through the planner, copies and casts, and the functions of the operation table.

This module includes, in reading order: `operands.pxi`, `trivial.pxi`, `apply.pxi`, `copies.pxi`, `comparisons.pxi`, `operations.pxi`, `in_place.pxi`.
"""

cimport cython
from cpython.object cimport PyObject
from cpython.pystate cimport PyThreadState
from libc.stdint cimport int16_t, int32_t, int64_t, int8_t, uint64_t
from libc.string cimport memcmp, memset

from stride0._core.memory.guards cimport s0_has_references, s0_read
from stride0._core.memory.dtype cimport (
    BOOL, DType, FLOAT32, FLOAT64, LARGEST_ITEM, NO_DTYPE, UINT64, copy_item, dtype_at, is_python_scalar, is_stored, itemsize_at,
    letter_at, promote_codes, scalar_code, weak_code, write_scalar,
)
from stride0._core.plan.operations cimport (
    OP_CONJ, OP_EQUAL, OP_GREATER, OP_GREATER_EQUAL, OP_LESS, OP_LESS_EQUAL, OP_MULTIPLY, OP_MULTIPLY_MASKED, OP_NOT_EQUAL, OP_POW,
    OP_SQUARE, S0_CHECK_EXPONENT, S0_COMPARES, S0_LOOP, S0_OUT,
)
from stride0._core.plan.plan cimport (
    Kernel, MAX_NDIM, MAX_OPERANDS, Operand, Plan, broadcast, cast_kernel, coalesce, extent, has_cast, input_code, is_long_run, layout_of, loops_of,
    op_kernel, order_axes, release_lock, result_code, result_strides, run_kernel, set_result, set_strides, shares_location,
    take_lock, takes_long, tuning, where_kernel,
)
from stride0._core.array.modes cimport (
    CALL_FUNCTION, CALL_IN_PLACE, CALL_OPERATOR, Call, beyond_standard, enforce_current_mode, fused_from, guarding, is_restricted,
)
from stride0._core.array.array cimport (
    Array, before_write, checked_size, data_of, describe_operand, guard_gradient, hooks, is_deferred, is_f_contiguous,
    make_call, may_defer, needs_tape, new_array, new_like, not_completed, operand_needs_tape, read_operand, same_shape, shape_tuple,
    view_of,
)
from stride0._core.program.program cimport copy_pending, defer, defers, may_be_leaf, replace_pending, store_result

import math
from contextvars import ContextVar

from stride0._base.errors import (
    ArgumentValueError, BroadcastError, CastError, DTypeError, ForeignArrayError, RangeError, ShapeError, WriteError, counted,
)
from stride0._tables import operations
from stride0._tables.dtypes import ROWS
from stride0._core.array.array import strides

include "operands.pxi"
include "trivial.pxi"
include "apply.pxi"
include "copies.pxi"
include "comparisons.pxi"
include "operations.pxi"
include "in_place.pxi"
