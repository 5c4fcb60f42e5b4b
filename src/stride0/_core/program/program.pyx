"""Deferred results: programs of calls that have not been computed, and the passes that compute them.

One compiled module, read in this order: `deferred.pxi`, `building.pxi`, `deferred_reductions.pxi`, `pending_results.pxi`, `passes.pxi`, `evaluation.pxi`, `computing.pxi`.
"""

cimport cython
from cpython.exc cimport PyErr_Occurred
from cpython.object cimport PyObject
from cpython.pythread cimport PyThread_get_thread_ident
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XDECREF
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy, memset

from stride0._core.memory.guards cimport (
    FREE_THREADED, s0_drop_all, s0_drop_later, s0_drops, s0_enable_try_incref, s0_has_references, s0_leave_section, s0_pause_section,
    s0_reset_section, s0_resume_section, s0_section, s0_try_incref, s0_write,
)
from stride0._core.memory.dtype cimport COMPLEX64, FLOAT32, copy_item, dtype_at, itemsize_at, read_scalar
from stride0._core.memory.storage cimport Storage, allocate_storage, foreign_storage, set_forget
from stride0._core.plan.plan cimport (
    Constant, FIRST_CONSTANT, FIRST_STEP, KIND_CAST, Kernel, MAX_PROGRAM_NDIM, MAX_CONSTANTS, MAX_STEPS, MAX_VIEWS, Operand, Plan, Program,
    Step, UNUSED, cast_kernel, coalesce, cost_of, inputs_of, is_copy, is_long_run, order_axes, result_code, run_contiguous, run_kernel, run_program, set_result,
    set_strides, tuning,
)
from stride0._core.array.modes cimport Switch, enter_fused, leave_fused
from stride0._core.array.array cimport (
    Array, blank, data_of, hooks, is_deferred, is_sole_owner, not_completed, refuse_batched, root_of, same_shape, set_flags, set_ndim,
)

import os

from stride0._core.array.modes import FUSED

include "deferred.pxi"
include "building.pxi"
include "deferred_reductions.pxi"
include "pending_results.pxi"
include "passes.pxi"
include "evaluation.pxi"
include "computing.pxi"
