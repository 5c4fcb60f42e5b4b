"""The plan of a call: iteration space, table of kernels, programs of kernels, tiles, and chunks for threads.

One compiled module, read in this order: `iteration_space.pxi`, `table.pxi`, `tuning.pxi`, `selection.pxi`, `pairs.pxi`, `prepare.pxi`, `program_calls.pxi`, `tiles.pxi`, `partition.pxi`, `partition_reductions.pxi`, `machine_limits.pxi`.
"""

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from stride0._core.memory.dtype cimport itemsize_at
from stride0._core.memory.storage cimport Storage, allocate_storage
from stride0._core.plan.loops cimport FOLD_BLOCK, s0_limit, s0_stream_end
from stride0._core.plan.threads cimport run_chunks, run_equal_chunks, s0_chunk, threads_worth
from stride0._core.plan.operations cimport OP_MULTIPLY, OP_SQUARE

from stride0._tables import operations
from stride0._tables.dtypes import CODES, ROWS
from stride0._tables.thresholds import THRESHOLDS
from stride0._core.kernels._dispatch import load_kernels

include "iteration_space.pxi"
include "table.pxi"
include "tuning.pxi"
include "selection.pxi"
include "pairs.pxi"
include "prepare.pxi"
include "program_calls.pxi"
include "tiles.pxi"
include "partition.pxi"
include "partition_reductions.pxi"
include "machine_limits.pxi"
