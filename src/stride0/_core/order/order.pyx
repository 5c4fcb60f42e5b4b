"""Sorting, selection by rank, search in sorted arrays, and counting.

One compiled module, read in this order: `sorting.pxi`, `searching.pxi`, `functions.pxi`, `counts.pxi`, `count_functions.pxi`.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from stride0._core.memory.dtype cimport (
    COMPLEX128, FLOAT32, FLOAT64, INT64, UINT64, UINT8, arithmetic_code, dtype_at, is_stored, itemsize_at, letter_at, promote_codes,
)
from stride0._core.plan.threads cimport is_stopped, run_chunks
from stride0._core.plan.loops cimport (
    S0_ASIDE, S0_BESIDE, S0_BOOLEAN, S0_FEW, S0_FLOATING, S0_SIGNED, S0_SLACK, S0_UNSIGNED, s0_adjacent, s0_lane, s0_seen,
)
from stride0._core.plan.plan cimport MAX_NDIM, TABLE, chunks_for, is_long_run, run_in_chunks, run_shared, share_run, threads_for, tuning
from stride0._core.array.array cimport Array, data_of, guard_gradient, is_batched, needs_tape, new_array, not_completed, traced, view_of
from stride0._core.elementwise.elementwise cimport assign_array, broadcast_like, copy_array, scalar_array
from stride0._core.call.binding cimport array_argument, convert_axis, flag_argument, implement, read_axis, read_int, refuse_complex
from stride0._core.reduce.reduce cimport check_axis
from stride0._core.index.index cimport gather

import sys

from stride0._base.errors import ArgumentValueError, DTypeError, OutOfBoundsError, ShapeError, counted, shown
from stride0._base.shapes import normalize_index
from stride0._core.array.array import without_broadcast_axes
from stride0._core.elementwise.elementwise import as_array
from stride0._core.elementwise.functions import greater, less, where
from stride0._core.reduce.reduce import reduce
from stride0._core.index.index import put
from stride0._core.call.checks import KINDS, check_array, limits_of, refuse_dtype
from stride0._core.exchange.numpy_calls import from_numpy, numpy, to_numpy

include "sorting.pxi"
include "searching.pxi"
include "functions.pxi"
include "counts.pxi"
include "count_functions.pxi"
