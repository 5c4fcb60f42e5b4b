"""Reading and writing by keys: views, masks, index arrays, and their adjoints.

One compiled module, read in this order: `keys.pxi`, `lanes.pxi`, `gathering.pxi`, `masks.pxi`, `picking.pxi`, `items.pxi`, `adjoint.pxi`, `functions.pxi`.
"""

from cpython.object cimport PyObject, Py_SIZE
from cpython.pystate cimport PyThreadState
from libc.stdint cimport int64_t, uint64_t, uint8_t
from libc.string cimport memcmp

from stride0._core.memory.guards cimport s0_has_references, s0_write_int
from stride0._core.memory.dtype cimport (
    BOOL, INT64, LARGEST_ITEM, NO_DTYPE, UINT64, arithmetic_code, copy_item, dtype_at,
    is_python_scalar, is_stored, itemsize_at, letter_at, promote_codes, read_scalar, write_scalar,
)
from stride0._core.plan.operations cimport OP_ADD, OP_MULTIPLY_MASKED
from stride0._core.plan.loops cimport s0_loop
from stride0._core.plan.plan cimport (
    MAX_NDIM, Operand, TABLE, broadcast, cast_kernel, is_long_run, loops_of, release_lock, run_in_chunks, run_shared, take_lock, tuning,
)
from stride0._core.array.modes cimport CALL_GETITEM, CALL_SETITEM, Call, DEFERRED_SIZE, guarding
from stride0._core.array.array cimport (
    Array, Tracer, before_write, blank, data_of, describe_operand, guard_gradient, hooks, is_batched, is_broadcast_along, is_deferred,
    make_call, needs_tape, new_array, read_shape, same_shape, set_ndim, shape_tuple, traced, view_of, without_leading, writable_data,
)
from stride0._core.program.program cimport assign_pending
from stride0._core.elementwise.elementwise cimport (
    BINARY_NAMES, assign_array, binary, check_assignment, check_codes, check_writable, copy_array, exports_buffer, in_place,
    masked_product, named_shapes, overlaps, scalar_array, value_operand,
)
from stride0._core.call.binding cimport array_argument, convert_axis, implement, read_axis, read_int
from stride0._core.reduce.reduce cimport accumulate, reduce_array

import operator

from stride0._base.errors import (
    BroadcastError, BroadcastIndexError, DTypeError, GradientError, OutOfBoundsError, RangeError, ShapeError, brief, counted,
)
from stride0._core.array.modes import check_broadcasting
from stride0._core.elementwise.elementwise import as_array

include "keys.pxi"
include "lanes.pxi"
include "gathering.pxi"
include "masks.pxi"
include "picking.pxi"
include "items.pxi"
include "adjoint.pxi"
include "functions.pxi"
