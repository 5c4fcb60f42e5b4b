# cython: wraparound=True
"""Decompositions, systems of equations, and norms.

One compiled module, read in this order: `blocks.pxi`, `systems.pxi`, `triangular.pxi`, `tall_matrices.pxi`, `orthogonal.pxi`, `spectra.pxi`, `decompositions.pxi`, `factors.pxi`, `norms.pxi`.
"""

from cpython.object cimport PyObject
from libc.math cimport INFINITY, isfinite, isinf, isnan, ldexp, sqrt
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from stride0._core.memory.guards cimport s0_write_int
from stride0._core.memory.dtype cimport (
    COMPLEX128, COMPLEX64, FLOAT32, FLOAT64, INT32, INT64, UINT8, arithmetic_code, dtype_at, is_stored, itemsize_at, letter_at, promote_codes,
)
from stride0._core.plan.operations cimport OP_ABS, OP_DIVIDE, OP_LOG, OP_POW
from stride0._core.plan.loops cimport S0_FEW_ROWS, S0_MOST_COLUMNS, s0_decomposition, s0_spectra, s0_spectra_size, s0_systems, s0_tall, s0_transpose
from stride0._core.plan.threads cimport run_equal_chunks
from stride0._core.plan.plan cimport ALIGNMENT, MAX_NDIM, TABLE, aligned, chunks_for, run_shared, threads_for, tuning
from stride0._core.array.modes cimport is_reproducible
from stride0._core.array.array cimport Array, data_of, guard_gradient, new_array, new_like, swapped_matrix, view_of, without_axes
from stride0._core.elementwise.elementwise cimport assign_array, binary_raw, copy_array, fill, unary_raw
from stride0._core.call.binding cimport array_argument, axes_tuple, flag_argument, implement
from stride0._core.reduce.reduce cimport accumulate, reduce_whole
from stride0._core.matmul.matmul cimport (
    EIG, EIGH, EIGVALS, EIGVALSH, LSTSQ, QR_COMPLETE, QR_RAW, QR_REDUCED, SVD, SVD_FULL, SVD_REDUCED, Panels, aligned_copy, has_loop, panel_bytes, panel_product, parts_of, run_lapack,
)

from stride0._base.errors import ArgumentTypeError, ArgumentValueError, DTypeError, ShapeError, counted, shown
from stride0._core.matmul.matmul import broadcast_batches
from stride0._core.call.checks import as_float, as_scalar, check_array
from stride0._core.exchange.numpy_calls import from_numpy, numpy, quiet, to_numpy

include "blocks.pxi"
include "systems.pxi"
include "triangular.pxi"
include "tall_matrices.pxi"
include "orthogonal.pxi"
include "spectra.pxi"
include "decompositions.pxi"
include "factors.pxi"
include "norms.pxi"
