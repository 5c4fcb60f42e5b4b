"""Thresholds: the numbers that choose between ways to compute the same result, tuned by measurement.

`_core/plan/plan.pxd` declares them to the compiled modules, as fields of `tuning`. `_core.plan.plan.tune`
changes them in tests and benchmarks. A name ends in the unit of its value: bytes, elements, ``ns``
(nanoseconds, estimated), products (multiplications), rows, columns, and so on. "Order of sums" in a meaning:
another value changes last digits of results.

Sizes of buffers on the stack are not thresholds. They are constants beside their buffers.
"""

from __future__ import annotations

import os
from typing import NamedTuple


class Threshold(NamedTuple):
    name: str
    value: int
    meaning: str
    benchmark: str
    """The script in `benchmarks` whose rows show the effect of another value."""


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
ELEMENTWISE, REDUCTIONS, CHAINS, ROWS = (
    "bench_elementwise.py",
    "bench_reduce.py",
    "bench_chains.py",
    "rows.py",
)
COMPARE, EINSUM, GRADIENTS, BUSY = "compare.py", "bench_einsum.py", "bench_gradients.py", "bench_busy.py"

PLAN = (
    Threshold(
        "long_run_elements",
        1 << 13,
        "least, for a call to release the GIL and use threads; order of sums",
        ELEMENTWISE,
    ),
    Threshold("threads_ns", 8000, "least work for which spinning workers are used", ELEMENTWISE),
    Threshold("wake_ns", 100000, "least work for which sleeping workers are woken", BUSY),
    Threshold("per_thread_ns", 4000, "work that justifies one more thread", ELEMENTWISE),
    Threshold(
        "cached_ns",
        24000,
        "most work of each thread for which it has one chunk, which stays in its cache",
        ELEMENTWISE,
    ),
    Threshold("chunk_ns", 2000000, "most work of a chunk; signals are checked between chunks", BUSY),
    Threshold("max_chunks", 1 << 20, "most chunks of a call", BUSY),
    Threshold("chunks_per_thread", 4, "so that nobody waits for the whole share of the slowest thread", BUSY),
    Threshold(
        "chunk_multiple_elements",
        64,
        "an innermost axis is split at multiples of it, which keeps alignment",
        ELEMENTWISE,
    ),
    Threshold("chunk_multiple_columns", 16, "the same for columns of a reduction", REDUCTIONS),
    Threshold("thread_row_bytes", 4096, "least part of a row of the result for each thread", ELEMENTWISE),
    Threshold("thread_columns", 128, "fewest columns of a reduction over rows for each thread", REDUCTIONS),
    Threshold(
        "fixed_elements",
        1 << 16,
        "least, for a reduction in fixed chunks, each with its own sum; order of sums",
        REDUCTIONS,
    ),
    Threshold("fixed_chunk_elements", 1 << 13, "least, of a fixed chunk; order of sums", REDUCTIONS),
    Threshold("max_fixed_chunks", 64, "of a reduction; order of sums", REDUCTIONS),
    Threshold(
        "max_fixed_runs", 64, "reductions of fewer runs are split within a run; order of sums", REDUCTIONS
    ),
    Threshold(
        "max_fixed_columns",
        1024,
        "reductions over rows of fewer columns are split between rows; order of sums",
        REDUCTIONS,
    ),
    Threshold(
        "max_fixed_results",
        4096,
        "most results for which each fixed chunk has accumulators; order of sums",
        REDUCTIONS,
    ),
    Threshold(
        "fixed_chunk_rows",
        32,
        "fewest rows of a fixed chunk that has accumulators; order of sums",
        REDUCTIONS,
    ),
    Threshold(
        "merged_row_columns",
        512,
        "adjacent short rows are merged to about so many columns; order of sums",
        REDUCTIONS,
    ),
    Threshold("transposed_elements", 1 << 10, "least, for operands to be transposed in tiles", ROWS),
    Threshold("transposed_side", 8, "fewest elements along both axes of a tile that is transposed", ROWS),
    Threshold(
        "streamed_copy_bytes",
        CACHE // 4,
        "least, for a transposed copy to use non-temporal stores",
        ELEMENTWISE,
    ),
    Threshold("streamed_bytes", CACHE, "least, for other results to use non-temporal stores", ELEMENTWISE),
    Threshold("streamed_run_bytes", 1024, "shortest run that non-temporal stores write", ELEMENTWISE),
    Threshold("streamed_steps", 4, "chains of as many steps use ordinary stores", CHAINS),
    Threshold(
        "prefetched_bytes",
        CACHE // 2,
        "least size of the leaves and outputs of a chain for prefetching the next tile",
        CHAINS,
    ),
    Threshold(
        "tile_bytes",
        1 << 13,
        "of the widest value of a tile, so that the live values stay in the L1 cache",
        CHAINS,
    ),
    Threshold("max_tile_elements", 1 << 12, "most elements of a tile", CHAINS),
    Threshold("min_tile_elements", 1 << 10, "fewest elements of a tile", CHAINS),
    Threshold(
        "prefetched_tile_parts",
        2,
        "a tile is divided if the next one is prefetched, since few cache lines arrive at once",
        CHAINS,
    ),
    Threshold("max_tile_rows", 64, "of a tile whose slots have one row each", CHAINS),
    Threshold("tile_row_parts", 4, "a tile is divided if some slots have one row", CHAINS),
    Threshold(
        "transposed_tile_bytes", 1 << 14, "most, of the widest value of a tile with a transposed leaf", ROWS
    ),
    Threshold("max_transposed_side", 128, "elements along the side of such a tile", ROWS),
    Threshold(
        "transposed_row_bytes",
        256,
        "of a row of the transposed leaf that are read at once: some cache lines",
        ROWS,
    ),
)
PROGRAM = (
    Threshold("max_pending_chains", 64, "the oldest chain is evaluated if more are pending", CHAINS),
    Threshold(
        "max_pending_bytes", 1 << 30, "the oldest chain is evaluated if pending results need more", CHAINS
    ),
    Threshold(
        "chained_elements", 1 << 11, "least, for an operation on a deferred operand to be deferred", CHAINS
    ),
    Threshold(
        "shared_step_cost",
        10,
        "of an element that is stored for a later pass, in the unit of `cost_of`",
        CHAINS,
    ),
    Threshold("slot_step_cost", 2, "of an element that is kept in a slot, besides its kernel's cost", CHAINS),
    Threshold("fill_bytes", 1 << 14, "of a fill that are copied at once, from the L1 cache", CHAINS),
)
ARRAYS = (
    Threshold(
        "spread_elements",
        1 << 20,
        "of `linspace` that are computed between two checks for signals",
        ELEMENTWISE,
    ),
    Threshold("small_matrix_elements", 512, "matrices below it are copied without a plan", ROWS),
    Threshold("searched_exponents", 4096, "most, that one thread searches for a negative one", ELEMENTWISE),
    Threshold(
        "unplanned_arg_elements", 64, "most, of a matrix that `argmax` searches without a plan", REDUCTIONS
    ),
    Threshold(
        "copied_run_bytes",
        1 << 12,
        "longest run that memcpy copies without a plan: libraries may copy longer ones by a slow instruction",
        ROWS,
    ),
    Threshold("joined_runs", 32, "most runs of an array that `concat` copies by memcpy", ROWS),
    Threshold(
        "repeated_elements",
        1 << 15,
        "most, of a result of `repeat` that one thread copies lane by lane",
        ROWS,
    ),
    Threshold(
        "repeated_lane_bytes",
        256,
        "shortest lane for which larger results are copied lane by lane, too",
        ROWS,
    ),
    Threshold("repeated_bytes", 1 << 20, "most, of these larger results", ROWS),
)
INDEX = (
    Threshold(
        "gathered_row_stride", 4, "largest stride, in elements, of rows that are moved as they are read", ROWS
    ),
    Threshold("gathered_row_elements", 16, "fewest elements of such a row", ROWS),
    Threshold("gathered_run_ns", 2, "to copy a run, and one more for each `gathered_bytes_per_ns`", ROWS),
    Threshold("gathered_bytes_per_ns", 32, "of a run that is copied", ROWS),
)
ORDER = (
    Threshold("sorted_element_ns", 10, "to sort an element, roughly", ROWS),
    Threshold("selected_element_ns", 4, "to select an element by rank, roughly", ROWS),
    Threshold("search_ns", 200, "of a search in a lane that is in no cache", ROWS),
    Threshold(
        "elements_per_search", 8, "a strided lane with more elements for each search is not copied", ROWS
    ),
    Threshold("placed_element_ns", 4, "to find the bin of an element, roughly", ROWS),
    Threshold("interpolated_element_ns", 40, "to interpolate at a point, roughly", ROWS),
)
MATMUL = (
    Threshold(
        "dot_elements",
        16384,
        "most, of one dot product that the reduction `dot` computes; order of sums",
        COMPARE,
    ),
    Threshold(
        "real_sum_elements", 32, "shortest sum that is not added in order in float64; order of sums", COMPARE
    ),
    Threshold(
        "own_products", 256, "most, of all real matrices that our loops multiply; order of sums", COMPARE
    ),
    Threshold("own_matrix_products", 64, "most, of one real matrix of a stack; order of sums", COMPARE),
    Threshold(
        "integer_sum_elements",
        16,
        "shortest sum of integers that is a reduction if the columns are few",
        COMPARE,
    ),
    Threshold("integer_columns", 4, "fewer columns than these are a reduction", COMPARE),
    Threshold(
        "vector_rows",
        128,
        "fewest rows, with contiguous columns, of a matrix that we multiply by a vector; order of sums",
        COMPARE,
    ),
    Threshold(
        "small_vector_rows",
        16,
        "fewest rows of a matrix of at most `small_vector_elements`; order of sums",
        COMPARE,
    ),
    Threshold("small_vector_elements", 1 << 14, "see `small_vector_rows`; order of sums", COMPARE),
    Threshold(
        "complex_dot_products",
        256,
        "most, of all complex matrices that the reduction `dot` multiplies; order of sums",
        COMPARE,
    ),
    Threshold(
        "complex_dot_results", 4, "most elements of each result in a stack for `dot`; order of sums", COMPARE
    ),
    Threshold("complex_dot_elements", 4, "longest sums of such a stack; order of sums", COMPARE),
    Threshold("complex_dot_matrices", 8, "fewest matrices of such a stack; order of sums", COMPARE),
    Threshold(
        "complex_batch_products",
        27,
        "most, of each complex matrix if the batch is the innermost axis; order of sums",
        COMPARE,
    ),
    Threshold("complex_batch_matrices", 200, "fewest matrices of such a stack; order of sums", COMPARE),
    Threshold(
        "contraction_products",
        512,
        "most, that a reduction sums before a stack of matrices is described; order of sums",
        EINSUM,
    ),
    Threshold(
        "blas_quick_products",
        256,
        "most, of a matrix for which the time of BLAS is taken as 1/4 ns for each",
        COMPARE,
    ),
    Threshold(
        "blas_alone_products",
        1 << 18,
        "most, of a product for which BLAS uses one thread; order of sums",
        BUSY,
    ),
    Threshold(
        "blas_thin_products",
        1 << 16,
        "of a block of rows, if the second matrix is thin; order of sums",
        COMPARE,
    ),
    Threshold("blas_thin_elements", 1 << 14, "most, of a thin second matrix; order of sums", COMPARE),
    Threshold("blas_thin_rows", 32, "fewest rows of such a block; order of sums", COMPARE),
    Threshold(
        "blas_shared_products",
        1 << 26,
        "most, of a product whose rows our threads share; order of sums",
        BUSY,
    ),
    Threshold("blas_shared_blocks", 16, "most blocks of rows of such a product; order of sums", BUSY),
    Threshold("blas_shared_rows", 96, "fewest rows of such a block; order of sums", BUSY),
    Threshold("blas_sum_elements", 512, "shortest sums that are split into parts; order of sums", COMPARE),
    Threshold(
        "blas_sum_side", 100, "most rows and columns of a result whose sums are split; order of sums", COMPARE
    ),
    Threshold("blas_sum_rows", 48, "of a block of such a result; order of sums", COMPARE),
    Threshold("blas_sum_step_elements", 1024, "most, that one call of BLAS adds; order of sums", COMPARE),
    Threshold("blas_sum_part_steps", 4, "fewest steps of a part; order of sums", COMPARE),
    Threshold("blas_sum_parts", 64, "most parts; order of sums", COMPARE),
    Threshold(
        "released_loop_elements",
        1 << 8,
        "least, of an operand of a NumPy loop for which the GIL is released",
        COMPARE,
    ),
    Threshold(
        "shared_loop_side", 16, "most rows and columns of matrices that our threads share among them", COMPARE
    ),
    Threshold(
        "lapack_alone_side",
        112,
        "most rows or columns that LAPACK decomposes on one thread: OpenBLAS gains nothing by a second",
        BUSY,
    ),
    Threshold("lapack_alone_solve_side", 80, "the same for systems of equations", BUSY),
)
LINALG = (
    Threshold("tall_ratio", 2, "fewest rows for each column of a tall matrix; order of sums", COMPARE),
    Threshold(
        "tall_columns",
        3,
        "fewest columns, if more than the triangular factor is asked for; order of sums",
        COMPARE,
    ),
    Threshold(
        "tall_block_rows",
        256,
        "of a block, which stays in the L2 cache; twice as many for wide matrices; order of sums",
        COMPARE,
    ),
    Threshold(
        "tall_narrow_columns",
        48,
        "most columns for which a block has `tall_block_rows`; order of sums",
        COMPARE,
    ),
    Threshold("tall_sections", 16, "most sections, which threads share; order of sums", COMPARE),
    Threshold("tall_section_rows", 512, "fewest rows of a section; order of sums", COMPARE),
    Threshold(
        "tall_section_ratio",
        16,
        "fewest rows of a section for each column, so that joining takes little time; order of sums",
        COMPARE,
    ),
)
FOURIER = (
    Threshold(
        "transform_numbers",
        1 << 20,
        "longest transform by kernels of our own: its roots of unity take 16 MB; order of sums",
        ROWS,
    ),
    Threshold(
        "transform_matrix_numbers", 64, "shortest lane that is transformed as a matrix; order of sums", ROWS
    ),
    Threshold("kept_tables", 64, "most tables of roots of unity that are kept", ROWS),
    Threshold("kept_table_bytes", 1 << 25, "most bytes of these tables", ROWS),
    Threshold(
        "lanes_aside_numbers", 2048, "longest lanes that are transformed side by side; order of sums", ROWS
    ),
    Threshold("lanes_aside", 8, "fewest such lanes; order of sums", ROWS),
    Threshold(
        "lanes_together_numbers",
        1 << 15,
        "most numbers of lanes that are copied and transformed together",
        ROWS,
    ),
    Threshold("shared_lanes", 4, "fewer long lanes are transformed one by one, each by all threads", ROWS),
    Threshold("lane_pitch_bytes", 192, "between copies of long lanes, which must not share cache sets", ROWS),
    Threshold(
        "long_lane_numbers",
        1 << 16,
        "shortest lane with a large prime factor that pocketfft does not transform; order of sums",
        ROWS,
    ),
    Threshold(
        "long_lane_rows",
        16,
        "fewest rows of such a lane as a matrix; otherwise it is a convolution; order of sums",
        ROWS,
    ),
    Threshold("root_product_ns", 10, "to multiply a number by a root of unity", ROWS),
    Threshold("long_copy_numbers", 1 << 20, "of a long lane that are copied in one step", ROWS),
)
AUTOGRAD = (
    Threshold(
        "sorted_saved_values",
        64,
        "more saved values of one storage than these are searched by their address",
        GRADIENTS,
    ),
    Threshold("folded_writes", 64, "more writes to one storage than these are summed up", GRADIENTS),
    Threshold("folded_key_writes", 8, "the same for writes by index arrays", GRADIENTS),
    Threshold("folded_sources", 256, "most sources of a sum of writes before it is made anew", GRADIENTS),
)
THRESHOLDS = (*PLAN, *PROGRAM, *ARRAYS, *INDEX, *ORDER, *MATMUL, *LINALG, *FOURIER, *AUTOGRAD)
