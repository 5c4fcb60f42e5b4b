"""Functions that create, rearrange, join and repeat arrays.

One compiled module, read in this order: `data_types.pxi`, `creation.pxi`, `shapes.pxi`, `joining.pxi`, `repeating.pxi`.
"""

from cpython.object cimport PyObject
from cpython.pyport cimport PY_SSIZE_T_MAX
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.math cimport ceil, fabs
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from stride0._core.memory.guards cimport FREE_THREADED
from stride0._core.memory.dtype cimport (
    BOOL, DType, FLOAT64, INT64, LARGEST_ITEM, NO_DTYPE, copy_item, dtype_at, is_python_scalar, itemsize_at, letter_at, promote_codes,
    weak_code, write_scalar,
)
from stride0._core.plan.plan cimport MAX_NDIM, has_cast, tuning
from stride0._core.array.array cimport (
    Array, c_strides_of, data_of, is_deferred, is_f_contiguous, needs_tape, new_array, s0_times, s0_tuple_items, same_shape,
    strides_for_shape, swapped_matrix, view_of,
)
from stride0._core.program.program cimport copy_pending
from stride0._core.elementwise.elementwise cimport assign_array, copy_array, count_up, fill, scalar_array, spread, value_operand
from stride0._core.call.binding cimport (
    EXACT, array_argument, axes_argument, check_device_argument, check_total, convert_axis, dtype_code_argument, flag_argument,
    implement, read_axis, read_float, read_int, read_sizes, shape_argument,
)

import math
import operator

from stride0._base.errors import ArgumentTypeError, ArgumentValueError, AxisError, BroadcastError, RangeError, ShapeError, shown
from stride0._base.shapes import check_ndim, infer_shape, normalize_axes, normalize_axis, normalize_index, normalize_shape
from stride0._core.memory.dtype import float64
from stride0._core.array.array import strides
from stride0._core.elementwise.elementwise import as_array, iota
from stride0._core.elementwise.functions import add, multiply
from stride0._core.reduce.reduce import reduce
from stride0._core.index.index import gather
from stride0._core.call.checks import (
    KINDS, as_float, as_scalar, check_array, check_arrays, check_cast, check_dtype, check_fill, dtype_of, kinds_named, limits_of,
    promote_all, refuse_dtype,
)

include "data_types.pxi"
include "creation.pxi"
include "shapes.pxi"
include "joining.pxi"
include "repeating.pxi"
