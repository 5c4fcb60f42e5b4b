"""Reductions, cumulative operations, and the public functions made of them.

One compiled module, read in this order: `reductions.pxi`, `functions.pxi`.
"""

from cpython.object cimport PyObject
from cpython.pystate cimport PyThreadState
from libc.math cimport NAN, fabs, isnan, sqrt
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from stride0._core.memory.dtype cimport (
    BOOL, COMPLEX128, COMPLEX64, DType, FLOAT32, FLOAT64, INT64, LARGEST_ITEM, UINT64, arithmetic_code, copy_item, dtype_at, is_stored,
    itemsize_at, letter_at, promote_codes, write_scalar,
)
from stride0._core.plan.operations cimport OP_ABS, OP_MULTIPLY, OP_SUBTRACT, S0_ACCUMULATOR, S0_REDUCED
from stride0._core.plan.loops cimport S0_DTYPES, S0_REDUCTIONS
from stride0._core.plan.plan cimport (
    KIND_ARG, KIND_ARG_ROWS, KIND_SCAN, KIND_SCAN_ROWS, Kernel, MAX_NDIM, MAX_PROGRAM_NDIM, Operand, Plan, as_rows, broadcast, coalesce,
    innermost, is_long_run, kernel_of, loops_of, order_axes, reduction_kernel, release_lock, run_along, run_axis, run_kernel, set_result,
    set_strides, take_lock, tuning,
)
from stride0._core.array.array cimport (
    Array, c_strides_of, component, data_of, describe_operand, guard_gradient, is_broadcast_along, is_deferred, is_f_contiguous,
    new_array, new_like, not_completed, read_operand, same_shape, shape_tuple, strides_for_shape, view_of, without_axes,
)
from stride0._core.program.program cimport divide_pending, divide_sums, try_to_defer_reduction
from stride0._core.elementwise.elementwise cimport (
    BINARY_NAMES, assign_array, binary, binary_raw, check_codes, copy_array, fill, in_place, named_shapes, scalar_array, unary_raw,
)
from stride0._core.call.binding cimport (
    array_argument, axes_tuple, convert_axis, dtype_code_argument, flag_argument, implement, read_axis, refuse_complex,
)

from stride0._base.errors import ArgumentTypeError, ArgumentValueError, AxisError, BroadcastError, DTypeError, ShapeError, counted, shown
from stride0._tables import operations
from stride0._core.array.modes import check_standard
from stride0._core.array.array import without_broadcast_axes
from stride0._core.call.checks import as_float, as_scalar, check_cast, refuse_dtype

include "reductions.pxi"
include "functions.pxi"
