# cython: wraparound=True
"""Products of matrices, contractions and einsum; inner loops of NumPy's LAPACK.

One compiled module, read in this order: `blas_threads.pxi`, `packing.pxi`, `gufuncs.pxi`, `product.pxi`, `stacks.pxi`, `panels.pxi`, `own_products.pxi`, `contraction.pxi`, `einsum.pxi`, `functions.pxi`.
"""

from cpython.exc cimport PyErr_CheckSignals, PyErr_Clear, PyErr_Occurred
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy, memset

from stride0._core.memory.guards cimport s0_acquire, s0_leave, s0_lock, s0_read_int, s0_write_int
from stride0._core.memory.dtype cimport (
    BOOL, COMPLEX64, DType, FLOAT32, FLOAT64, UINT8, arithmetic_code, dtype_at, is_stored, itemsize_at, letter_at, promote_codes,
)
from stride0._core.plan.threads cimport may_raise, run_chunks, run_equal_chunks, s0_chunk
from stride0._core.plan.operations cimport OP_BITWISE_AND, OP_MULTIPLY, OP_NOT_EQUAL
from stride0._core.plan.loops cimport (
    BLOCK_DOUBLES, BLOCK_FLOATS, LONG_TERMS, NEGATES_IMAGINARY, NEGATES_REAL, PANEL_ROWS, PANEL_VECTORS, PANELS_TOGETHER, SUM_TERMS,
)
from stride0._core.plan.plan cimport ALIGNMENT, MAX_NDIM, Operand, TABLE, aligned, chunks_for, is_long_run, run_shared, threads_for, tuning
from stride0._core.array.modes cimport guarding, is_reproducible
from stride0._core.array.array cimport (
    Array, c_strides_of, data_of, guard_gradient, is_aligned, new_array, read_operand, same_shape, swapped_matrix, view_of,
    without_axes,
)
from stride0._core.elementwise.elementwise cimport binary_raw, copy_array
from stride0._core.call.binding cimport array_argument, check_total, implement
from stride0._core.reduce.reduce cimport accumulate

import os

from stride0._base.errors import ArgumentTypeError, AxisError, ShapeError, brief, shown
from stride0._base.shapes import broadcast_shapes, c_strides, check_ndim, normalize_axis, normalize_index
from stride0._base.subscripts import (
    AUTO, check_optimize, find_path, labels_of_tensordot, parse_lists, parse_string, read_list, sizes_of, steps_of,
)
from stride0._core.array.modes import check_broadcasting
from stride0._core.array.array import restride, strides, without_broadcast_axes, zeros
from stride0._core.elementwise.elementwise import copy
from stride0._core.call.checks import check_array, promote_all
from stride0._core.matmul.numpy_loops import compute as compute_by_functions, functions_of_blas, load_gufuncs as load_ufuncs, refuse

include "blas_threads.pxi"
include "packing.pxi"
include "gufuncs.pxi"
include "product.pxi"
include "stacks.pxi"
include "panels.pxi"
include "own_products.pxi"
include "contraction.pxi"
include "einsum.pxi"
include "functions.pxi"
