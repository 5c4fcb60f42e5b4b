# cython: wraparound=True
"""Fourier transforms: tables of roots of unity, transforms of short and long lanes, and the public functions.

One compiled module, read in this order: `twiddles.pxi`, `transforms.pxi`, `long_transforms.pxi`, `functions.pxi`.
"""

from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject
from libc.math cimport sqrt
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from stride0._core.memory.guards cimport s0_write_int
from stride0._core.memory.dtype cimport (
    COMPLEX128, COMPLEX64, FLOAT32, FLOAT64, arithmetic_code, is_stored, itemsize_at, letter_at, promote_codes,
)
from stride0._core.plan.operations cimport OP_CONJ, OP_COS, OP_SIN
from stride0._core.plan.loops cimport (
    ALL_OF_REAL, HALF_OF_REAL, OF_COMPLEX, S0_MOST_RADIX, S0_UNROLLED_RADIX, TO_REAL, s0_bit_length, s0_fourier, s0_fourier_kind,
    s0_passes,
)
from stride0._core.plan.plan cimport ALIGNMENT, MAX_NDIM, TABLE, aligned, loops_of, op_kernel, run_shared, tuning
from stride0._core.array.array cimport Array, component, data_of, guard_gradient, new_array, swapped_matrix, view_of
from stride0._core.elementwise.elementwise cimport UNARY_NAMES, apply, assign_array, copy_array
from stride0._core.call.binding cimport (
    array_argument, axes_argument, check_device_argument, convert_axis, implement, read_axis, read_float, read_int,
)
from stride0._core.manipulation.manipulation cimport rolled
from stride0._core.matmul.matmul cimport aligned_copy

from collections.abc import Sequence

from stride0._base.errors import ArgumentTypeError, ArgumentValueError, ShapeError, brief, counted, shown
from stride0._base.shapes import normalize_axes, normalize_index, normalize_shape
from stride0._core.memory.storage import when_emptied
from stride0._core.elementwise.functions import conj
from stride0._core.call.checks import refuse_dtype

include "twiddles.pxi"
include "transforms.pxi"
include "long_transforms.pxi"
include "functions.pxi"
