"""Thresholds: the numbers that choose between ways to compute the same result, tuned by measurement.

`_core/plan/plan.pxd` declares them to the compiled modules, as fields of `tuning`. `_core.plan.plan.tune`
changes them in tests and benchmarks. A name ends in the unit of its value: bytes, elements, ``ns``
(nanoseconds, estimated), products (multiplications), rows, columns, and so on. "Order of sums" in a meaning
says that another value changes the last digits of results.

Sizes of buffers on the stack are not thresholds. They are constants next to their buffers.
"""

from __future__ import annotations

import os
from typing import NamedTuple


class Threshold(NamedTuple):
    name: str
    value: int
    meaning: str
    benchmark: str
    """The benchmark (`python -m benchmarks`) that shows the effect of another value."""


def last_level_cache() -> int:
    """
    Bytes of the last-level cache, between 4 and 32 MiB: from Linux, or from the C library.

    In virtual machines the C library may report the caches of all processors of the host together.
    """
    try:
        with open("/sys/devices/system/cpu/cpu0/cache/index3/size") as file:
            size = int(file.read().strip().removesuffix("K")) << 10
    except (OSError, ValueError):
        try:
            size = os.sysconf("SC_LEVEL3_CACHE_SIZE")
        except (AttributeError, OSError, ValueError):
            size = 0
    return min(max(size, 1 << 22), 1 << 25) if size > 0 else 1 << 25


CACHE = last_level_cache()
ELEMENTWISE, REDUCTIONS, CHAINS, ROWS = "elementwise", "reductions", "chains", "rows"
COMPARE, EINSUM, GRADIENTS, BUSY = "compare", "einsum", "gradients", "busy"

PLAN = (
    Threshold(
        "long_run_elements",
        1 << 13,
        "minimum number of elements for a call to release the GIL and use threads; order of sums",
        ELEMENTWISE,
    ),
    Threshold(
        "threads_ns", 8000, "minimum work, in nanoseconds, for which spinning workers are used", ELEMENTWISE
    ),
    Threshold("wake_ns", 100000, "minimum work, in nanoseconds, for which sleeping workers are woken", BUSY),
    Threshold("per_thread_ns", 4000, "nanoseconds of work that justify one more thread", ELEMENTWISE),
    Threshold(
        "cached_ns",
        24000,
        "maximum work of each thread, in nanoseconds, for which it has one chunk: the data stays in "
        "its cache",
        ELEMENTWISE,
    ),
    Threshold(
        "chunk_ns",
        2000000,
        "maximum work of a chunk, in nanoseconds; signals are checked between chunks",
        BUSY,
    ),
    Threshold("max_chunks", 1 << 20, "maximum number of chunks of a call", BUSY),
    Threshold(
        "chunks_per_thread",
        4,
        "chunks for each thread of a long call, so that no thread waits for the whole share of the "
        "slowest one",
        BUSY,
    ),
    Threshold(
        "chunk_multiple_elements",
        64,
        "number of elements at whose multiples an innermost axis is split, which keeps alignment",
        ELEMENTWISE,
    ),
    Threshold(
        "chunk_multiple_columns",
        16,
        "columns of a reduction are split at multiples of this number",
        REDUCTIONS,
    ),
    Threshold(
        "thread_row_bytes",
        4096,
        "minimum bytes of a row of the result for each thread that writes to it",
        ELEMENTWISE,
    ),
    Threshold(
        "thread_columns",
        128,
        "minimum number of columns of a reduction over rows for each thread",
        REDUCTIONS,
    ),
    Threshold(
        "fixed_elements",
        1 << 16,
        "minimum number of elements for a reduction in fixed chunks, each with its own sum; order of sums",
        REDUCTIONS,
    ),
    Threshold(
        "fixed_chunk_elements",
        1 << 13,
        "minimum number of elements of a fixed chunk; order of sums",
        REDUCTIONS,
    ),
    Threshold(
        "max_fixed_chunks", 64, "maximum number of fixed chunks of a reduction; order of sums", REDUCTIONS
    ),
    Threshold(
        "max_fixed_runs",
        64,
        "reductions of fewer runs than this are split within a run; order of sums",
        REDUCTIONS,
    ),
    Threshold(
        "max_fixed_columns",
        1024,
        "reductions over rows of fewer columns than this are split between rows; order of sums",
        REDUCTIONS,
    ),
    Threshold(
        "max_fixed_results",
        4096,
        "maximum number of results for which each fixed chunk has accumulators; order of sums",
        REDUCTIONS,
    ),
    Threshold(
        "fixed_chunk_rows",
        32,
        "minimum number of rows of a fixed chunk that has accumulators; order of sums",
        REDUCTIONS,
    ),
    Threshold(
        "merged_row_columns",
        512,
        "adjacent short rows are merged to rows of about this many columns; order of sums",
        REDUCTIONS,
    ),
    Threshold(
        "transposed_elements",
        1 << 10,
        "minimum number of elements for operands to be transposed in tiles",
        ROWS,
    ),
    Threshold(
        "transposed_side", 8, "minimum number of elements along both axes of a tile that is transposed", ROWS
    ),
    Threshold(
        "streamed_copy_bytes",
        CACHE // 4,
        "minimum number of bytes for a transposed copy to use non-temporal stores",
        ELEMENTWISE,
    ),
    Threshold(
        "streamed_bytes",
        CACHE,
        "minimum number of bytes for other results to use non-temporal stores",
        ELEMENTWISE,
    ),
    Threshold(
        "streamed_run_bytes", 1024, "minimum bytes of a run that non-temporal stores write", ELEMENTWISE
    ),
    Threshold("streamed_steps", 4, "chains of this many steps or more use ordinary stores", CHAINS),
    Threshold(
        "prefetched_bytes",
        CACHE // 2,
        "minimum bytes of the leaves and outputs of a chain for which the next tile is prefetched",
        CHAINS,
    ),
    Threshold(
        "tile_bytes",
        1 << 13,
        "bytes of the widest value of a tile, so that the live values stay in the L1 cache",
        CHAINS,
    ),
    Threshold("max_tile_elements", 1 << 12, "maximum number of elements of a tile", CHAINS),
    Threshold("min_tile_elements", 1 << 10, "minimum number of elements of a tile", CHAINS),
    Threshold(
        "prefetched_tile_parts",
        2,
        "parts of a tile if the next tile is prefetched, since few cache lines arrive at once",
        CHAINS,
    ),
    Threshold("max_tile_rows", 64, "maximum number of rows of a tile whose slots have one row each", CHAINS),
    Threshold("tile_row_parts", 4, "parts of a tile if some of its slots have one row", CHAINS),
    Threshold(
        "transposed_tile_bytes",
        1 << 14,
        "maximum bytes of the widest value of a tile with a transposed leaf",
        ROWS,
    ),
    Threshold(
        "max_transposed_side",
        128,
        "maximum number of elements along the side of a tile with a transposed leaf",
        ROWS,
    ),
    Threshold(
        "transposed_row_bytes",
        256,
        "bytes of a row of a transposed leaf that are read at once: some cache lines",
        ROWS,
    ),
)
PROGRAM = (
    Threshold(
        "max_pending_chains",
        64,
        "maximum number of pending chains; beyond it, the oldest chain is evaluated",
        CHAINS,
    ),
    Threshold(
        "max_pending_bytes",
        1 << 30,
        "maximum bytes of pending results; beyond it, the oldest chain is evaluated",
        CHAINS,
    ),
    Threshold(
        "chained_elements",
        1 << 11,
        "minimum number of elements for an operation on a deferred operand to be deferred",
        CHAINS,
    ),
    Threshold(
        "shared_step_cost",
        10,
        "cost of an element that is stored for a later pass, in the unit of `cost_of`",
        CHAINS,
    ),
    Threshold(
        "slot_step_cost",
        2,
        "cost of an element that is kept in a slot, besides the cost of its kernel, in the unit of `cost_of`",
        CHAINS,
    ),
    Threshold(
        "fill_bytes",
        1 << 14,
        "bytes of a fill that are copied at once, so that the source stays in the L1 cache",
        CHAINS,
    ),
)
ARRAYS = (
    Threshold(
        "spread_elements",
        1 << 20,
        "elements of `linspace` that are computed between two checks for signals",
        ELEMENTWISE,
    ),
    Threshold("small_matrix_elements", 512, "matrices of fewer elements are copied without a plan", ROWS),
    Threshold(
        "unplanned_arg_elements",
        64,
        "maximum number of elements of a matrix that `argmax` searches without a plan",
        REDUCTIONS,
    ),
    Threshold(
        "copied_run_bytes",
        1 << 12,
        "maximum bytes of a run that memcpy copies without a plan: libraries may copy longer runs by "
        "a slow instruction",
        ROWS,
    ),
    Threshold("joined_runs", 32, "maximum number of runs of an array that `concat` copies by memcpy", ROWS),
    Threshold(
        "repeated_elements",
        1 << 15,
        "maximum number of elements of a result of `repeat` that one thread copies lane by lane",
        ROWS,
    ),
    Threshold(
        "repeated_lane_bytes",
        256,
        "minimum bytes of a lane for which `repeat` copies larger results lane by lane, too",
        ROWS,
    ),
    Threshold(
        "repeated_bytes",
        1 << 20,
        "maximum bytes of a result that `repeat` copies lane by lane because its lanes are long",
        ROWS,
    ),
)
INDEX = (
    Threshold(
        "gathered_row_stride",
        4,
        "maximum stride, in elements, of rows that are moved while they are read",
        ROWS,
    ),
    Threshold(
        "gathered_row_elements",
        16,
        "minimum number of elements of rows that are moved while they are read",
        ROWS,
    ),
    Threshold(
        "gathered_run_ns",
        2,
        "nanoseconds to copy a run, and one more for each `gathered_bytes_per_ns` bytes",
        ROWS,
    ),
    Threshold("gathered_bytes_per_ns", 32, "bytes of a run that are copied in a nanosecond", ROWS),
    Threshold(
        "repeated_value_elements",
        1 << 18,
        "maximum number of elements of a row for which `x[i] = 1.0` makes a row of the value and copies it, "
        "in 0.05 to 0.7 of the time",
        ROWS,
    ),
)
ORDER = (
    Threshold("sorted_element_ns", 10, "nanoseconds to sort an element, roughly", ROWS),
    Threshold("selected_element_ns", 4, "nanoseconds to select an element by rank, roughly", ROWS),
    Threshold(
        "sorted_aside_elements",
        32,
        "maximum number of elements of a column that is sorted without a transposed copy, in 0.2 to 0.9 of "
        "the time",
        ROWS,
    ),
    Threshold("search_ns", 200, "nanoseconds of a search in a lane that is in no cache", ROWS),
    Threshold(
        "elements_per_search", 8, "a strided lane with more elements for each search is not copied", ROWS
    ),
    Threshold("placed_element_ns", 4, "nanoseconds to find the bin of an element, roughly", ROWS),
    Threshold("interpolated_element_ns", 40, "nanoseconds to interpolate at a point, roughly", ROWS),
)
MATMUL = (
    Threshold(
        "dot_elements",
        16384,
        "maximum number of elements of one dot product of integers, or of a contraction without other axes, "
        "that the reduction `dot` computes; order of sums",
        COMPARE,
    ),
    Threshold(
        "integer_sum_elements",
        16,
        "minimum length of a sum of integers that is a reduction if the columns are few",
        COMPARE,
    ),
    Threshold("integer_columns", 4, "a product of integers with fewer columns is a reduction", COMPARE),
    Threshold(
        "contraction_products",
        512,
        "maximum number of multiplications that a reduction sums before a stack of matrices is "
        "described; order of sums",
        EINSUM,
    ),
    Threshold(
        "direct_products",
        1 << 20,
        "maximum number of multiplications of a product of float64 matrices whose operands are not packed; "
        "twice as many for float32",
        COMPARE,
    ),
    Threshold(
        "direct_columns", 48, "maximum number of columns of a product whose operands are not packed", COMPARE
    ),
    Threshold("direct_rows", 12, "maximum rows of a real product whose operands are not packed", COMPARE),
    Threshold(
        "direct_complex_rows", 48, "maximum rows of a complex product whose operands are not packed", COMPARE
    ),
    Threshold("panel_side", 2048, "maximum number of rows, and of columns, that are packed at once", COMPARE),
    Threshold(
        "quick_products",
        256,
        "maximum number of multiplications of a product whose time is taken as 1/4 ns each",
        COMPARE,
    ),
    Threshold(
        "released_loop_elements",
        1 << 8,
        "minimum number of elements of an operand for which a loop of NumPy releases the GIL",
        COMPARE,
    ),
    Threshold(
        "shared_loop_side",
        16,
        "maximum number of rows and columns of matrices in a stack that our threads share",
        COMPARE,
    ),
    Threshold(
        "lapack_alone_side",
        112,
        "maximum number of rows or columns that LAPACK decomposes on one thread: a second thread of "
        "OpenBLAS gains nothing",
        BUSY,
    ),
)
LINALG = (
    Threshold(
        "tall_ratio", 2, "minimum number of rows for each column of a tall matrix; order of sums", COMPARE
    ),
    Threshold("tall_columns", 1, "minimum number of columns of a tall matrix; order of sums", COMPARE),
    Threshold(
        "tall_block_rows",
        256,
        "rows of a block of a tall matrix, which stays in the L2 cache; twice as many for wide "
        "matrices; order of sums",
        COMPARE,
    ),
    Threshold(
        "tall_narrow_columns",
        48,
        "maximum number of columns for which a block has `tall_block_rows`; order of sums",
        COMPARE,
    ),
    Threshold(
        "tall_sections",
        16,
        "maximum number of sections of a tall matrix, which threads share; order of sums",
        COMPARE,
    ),
    Threshold("tall_section_rows", 512, "minimum number of rows of a section; order of sums", COMPARE),
    Threshold(
        "tall_section_ratio",
        16,
        "minimum number of rows of a section for each column, so that joining sections takes little "
        "time; order of sums",
        COMPARE,
    ),
    Threshold(
        "own_spectra_rows",
        12,
        "minimum number of rows and columns of real matrices that `eigh` and `svd` decompose without LAPACK; "
        "order of sums",
        COMPARE,
    ),
    Threshold("most_own_spectra_rows", 128, "maximum number of them; order of sums", COMPARE),
    Threshold(
        "own_eigen_rows",
        512,
        "maximum number of rows of matrices that `eig` decomposes without LAPACK; order of sums",
        COMPARE,
    ),
)
FOURIER = (
    Threshold(
        "transform_numbers",
        1 << 20,
        "maximum length of a transform or convolution by one matrix: its roots of unity take 16 MB; order of "
        "sums",
        ROWS,
    ),
    Threshold(
        "transform_matrix_numbers",
        64,
        "minimum length of a lane that is transformed as a matrix; order of sums",
        ROWS,
    ),
    Threshold("kept_tables", 64, "maximum number of tables of roots of unity that are kept", ROWS),
    Threshold(
        "kept_table_bytes", 1 << 25, "maximum bytes of the tables of roots of unity that are kept", ROWS
    ),
    Threshold(
        "lanes_aside_numbers",
        2048,
        "maximum length of lanes that are transformed side by side; order of sums",
        ROWS,
    ),
    Threshold(
        "lanes_aside", 8, "minimum number of lanes that are transformed side by side; order of sums", ROWS
    ),
    Threshold(
        "lanes_together_numbers",
        1 << 15,
        "maximum number of numbers in lanes that are copied and transformed together",
        ROWS,
    ),
    Threshold(
        "shared_lanes",
        4,
        "fewer long lanes than this are transformed one by one, each by all threads",
        ROWS,
    ),
    Threshold(
        "lane_pitch_bytes",
        192,
        "bytes between copies of long lanes, so that the copies do not share cache sets",
        ROWS,
    ),
    Threshold(
        "long_lane_rows",
        16,
        "minimum number of rows of a long lane as a matrix; with fewer, it is a convolution; order of sums",
        ROWS,
    ),
    Threshold("root_product_ns", 10, "nanoseconds to multiply a number by a root of unity", ROWS),
    Threshold("long_copy_numbers", 1 << 20, "numbers of a long lane that are copied in one step", ROWS),
)
AUTOGRAD = (
    Threshold(
        "sorted_saved_values",
        64,
        "maximum number of saved values of a storage that are searched one by one",
        GRADIENTS,
    ),
    Threshold(
        "folded_writes", 64, "maximum number of writes to one storage that are kept separately", GRADIENTS
    ),
    Threshold(
        "folded_key_writes",
        8,
        "maximum number of writes by index arrays that are kept separately",
        GRADIENTS,
    ),
    Threshold(
        "folded_sources",
        256,
        "maximum number of sources of a sum of writes before a new sum starts",
        GRADIENTS,
    ),
)
THRESHOLDS = (*PLAN, *PROGRAM, *ARRAYS, *INDEX, *ORDER, *MATMUL, *LINALG, *FOURIER, *AUTOGRAD)
