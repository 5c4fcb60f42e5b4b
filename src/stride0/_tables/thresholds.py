"""Thresholds: the numbers that choose between ways to compute the same result, tuned by measurement.

`_core/plan/plan.pxd` declares them to the compiled modules, as fields of `tuning`. `_core.plan.plan.tune`
changes them in tests and benchmarks. A name ends in the unit of its value: bytes, elements, ``ns``
(nanoseconds, estimated), products (multiplications), rows, columns, and so on. "Order of sums" in a meaning
says that another value changes the last digits of results.

A row of the table has the name, the value, the benchmark (`python -m benchmarks`) that shows the effect of
another value, and the meaning. Lines that begin with spaces continue a row. Empty lines separate the rooms of
`_core`, from `plan` to `fourier`, and gradients.

Sizes of buffers on the stack are not thresholds. They are constants next to their buffers.
"""

from __future__ import annotations

import os


class Threshold:
    """A row of the table."""

    name: str
    value: int
    benchmark: str
    meaning: str

    def __init__(self, row: str) -> None:
        self.name, _, value, benchmark, self.meaning = row.split(" ", 4)
        self.value, self.benchmark = int(value[:-1]), benchmark[:-1]


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
TABLE = f"""\
long_run_elements = {1 << 13}, elementwise: minimum number of elements for a call to release the GIL and use
    threads; order of sums
threads_ns = 8000, elementwise: minimum work, in nanoseconds, for which spinning workers are used
wake_ns = 100000, busy: minimum work, in nanoseconds, for which sleeping workers are woken
per_thread_ns = 4000, elementwise: nanoseconds of work that justify one more thread
cached_ns = 24000, elementwise: maximum work of each thread, in nanoseconds, for which it has one chunk: the
    data stays in its cache
chunk_ns = 2000000, busy: maximum work of a chunk, in nanoseconds; signals are checked between chunks
max_chunks = {1 << 20}, busy: maximum number of chunks of a call
chunks_per_thread = 4, busy: chunks for each thread of a long call, so that no thread waits for the whole
    share of the slowest thread
chunk_multiple_elements = 64, elementwise: an innermost axis is split at multiples of this number of
    elements, which keeps alignment
chunk_multiple_columns = 16, reductions: columns of a reduction are split at multiples of this number
thread_row_bytes = 4096, elementwise: minimum bytes of a row of the result for each thread that writes to it
thread_columns = 128, reductions: minimum number of columns of a reduction over rows for each thread
fixed_elements = {1 << 16}, reductions: minimum number of elements for a reduction in fixed chunks, each with
    its own sum; order of sums
fixed_chunk_elements = {1 << 13}, reductions: minimum number of elements of a fixed chunk; order of sums
max_fixed_chunks = 64, reductions: maximum number of fixed chunks of a reduction; order of sums
max_fixed_runs = 64, reductions: reductions of fewer runs than this are split within a run; order of sums
max_fixed_columns = 1024, reductions: reductions over rows of fewer columns than this are split between rows;
    order of sums
max_fixed_results = 4096, reductions: maximum number of results for which each fixed chunk has accumulators;
    order of sums
fixed_chunk_rows = 32, reductions: minimum number of rows of a fixed chunk that has accumulators; order of
    sums
merged_row_columns = 512, reductions: adjacent short rows are merged to rows of about this many columns; order
    of sums
transposed_elements = {1 << 10}, rows: minimum number of elements for operands to be transposed in tiles
transposed_side = 8, rows: minimum number of elements along both axes of a tile that is transposed
streamed_copy_bytes = {CACHE // 4}, elementwise: minimum number of bytes for a transposed copy to use
    non-temporal stores
streamed_bytes = {CACHE}, elementwise: minimum number of bytes for other results to use non-temporal stores
streamed_run_bytes = 1024, elementwise: minimum bytes of a run that non-temporal stores write
streamed_steps = 4, chains: chains of this many steps or more use ordinary stores
prefetched_bytes = {CACHE // 2}, chains: minimum bytes of the leaves and outputs of a chain for which the next
    tile is prefetched
tile_bytes = {1 << 13}, chains: bytes of the widest value of a tile, so that the live values stay in the L1
    cache
max_tile_elements = {1 << 12}, chains: maximum number of elements of a tile
min_tile_elements = {1 << 10}, chains: minimum number of elements of a tile
prefetched_tile_parts = 2, chains: the size of a tile is divided by this if the next tile is prefetched,
    because few cache lines arrive at once
max_tile_rows = 64, chains: maximum number of rows of a tile whose slots have one row each
tile_row_parts = 4, chains: the size of a tile is divided by this if some of its slots have one row
transposed_tile_bytes = {1 << 14}, rows: maximum bytes of the widest value of a tile with a transposed leaf
max_transposed_side = 128, rows: maximum number of elements along the side of a tile with a transposed leaf
transposed_row_bytes = 256, rows: bytes of a row of a transposed leaf that are read at once: a few cache lines

max_pending_chains = 64, chains: maximum number of pending chains; beyond it, the oldest chain is evaluated
max_pending_bytes = {1 << 30}, chains: maximum bytes of pending results; beyond it, the oldest chain is
    evaluated
chained_elements = {1 << 11}, chains: minimum number of elements for an operation on a deferred operand to be
    deferred
shared_step_cost = 10, chains: cost of an element that is stored for a later pass, in the unit of `cost_of`
slot_step_cost = 2, chains: cost of an element that is kept in a slot, added to the cost of its kernel, in the
    unit of `cost_of`
fill_bytes = {1 << 14}, chains: bytes of a fill that are copied at once, so that the source stays in the L1
    cache

spread_elements = {1 << 20}, elementwise: elements of `linspace` that are computed between two checks for
    signals
small_matrix_elements = 512, rows: matrices of fewer elements are copied without a plan
unplanned_arg_elements = 64, reductions: maximum number of elements of a matrix that `argmax` searches without
    a plan
copied_run_bytes = {1 << 12}, rows: maximum bytes of a run that memcpy copies without a plan: libraries may
    copy longer runs by a slow instruction
joined_runs = 32, rows: maximum number of runs of an array that `concat` copies by memcpy
repeated_elements = {1 << 15}, rows: maximum number of elements of a result of `repeat` that one thread copies
    lane by lane
repeated_lane_bytes = 256, rows: minimum bytes of a lane for which `repeat` copies larger results lane by
    lane, too
repeated_bytes = {1 << 20}, rows: maximum bytes of a result that `repeat` copies lane by lane because its
    lanes are long

gathered_row_stride = 4, rows: maximum stride, in elements, of rows that are moved while they are read
gathered_row_elements = 16, rows: minimum number of elements of rows that are moved while they are read
gathered_run_ns = 2, rows: nanoseconds to copy a run, and one more for each `gathered_bytes_per_ns` bytes
gathered_bytes_per_ns = 32, rows: bytes of a run that are copied in a nanosecond
repeated_value_elements = {1 << 18}, rows: maximum number of elements of a row for which `x[i] = 1.0` makes a
    row of the value and copies it, in 5 % to 70 % of the time of writing single elements

sorted_element_ns = 10, rows: nanoseconds to sort an element, roughly
selected_element_ns = 4, rows: nanoseconds to select an element by rank, roughly
sorted_aside_elements = 32, rows: maximum number of elements of a column that is sorted without a transposed
    copy, in 20 % to 90 % of the time with a copy
search_ns = 200, rows: nanoseconds of a search in a lane that is in no cache
elements_per_search = 8, rows: a strided lane with more elements for each search is not copied
placed_element_ns = 4, rows: nanoseconds to find the bin of an element, roughly
interpolated_element_ns = 40, rows: nanoseconds to interpolate at a point, roughly

dot_elements = 16384, compare: maximum number of elements of one dot product of integers, or of a contraction
    without other axes, that the reduction `dot` computes; order of sums
integer_sum_elements = 16, compare: minimum length of a sum of integers that is a reduction if there are few
    columns
integer_columns = 4, compare: a product of integers with fewer columns is a reduction
contraction_products = 512, einsum: maximum number of multiplications that a reduction sums before a stack of
    matrices is described; order of sums
direct_products = {1 << 20}, compare: maximum number of multiplications of a product of float64 matrices whose
    operands are not packed; twice as many for float32
direct_columns = 48, compare: maximum number of columns of a product whose operands are not packed
direct_rows = 12, compare: maximum rows of a real product whose operands are not packed
direct_complex_rows = 48, compare: maximum rows of a complex product whose operands are not packed
panel_side = 2048, compare: maximum number of rows, and of columns, that are packed at once
quick_products = 256, compare: maximum number of multiplications of a product whose time is estimated as
    0.25 ns per multiplication
released_loop_elements = {1 << 8}, compare: minimum number of elements of an operand for which a NumPy loop
    releases the GIL
shared_loop_side = 16, compare: maximum number of rows and columns of matrices in a stack that our threads
    share
lapack_alone_side = 112, busy: maximum number of rows or columns that LAPACK decomposes on one thread: a
    second thread of OpenBLAS gains nothing

tall_ratio = 2, compare: minimum number of rows for each column of a tall matrix; order of sums
tall_columns = 1, compare: minimum number of columns of a tall matrix; order of sums
tall_block_rows = 256, compare: rows of a block of a tall matrix, which stays in the L2 cache; twice as many
    for wide matrices; order of sums
tall_narrow_columns = 48, compare: maximum number of columns for which a block has `tall_block_rows`; order of
    sums
tall_sections = 16, compare: maximum number of sections of a tall matrix, which threads share; order of sums
tall_section_rows = 512, compare: minimum number of rows of a section; order of sums
tall_section_ratio = 16, compare: minimum number of rows of a section for each column, so that joining
    sections takes little time; order of sums
own_spectra_rows = 12, compare: minimum number of rows and columns of real matrices that `eigh` and `svd`
    decompose without LAPACK; order of sums
most_own_spectra_rows = 128, compare: maximum number of rows and columns of these matrices; order of sums
own_eigen_rows = 512, compare: maximum number of rows of matrices that `eig` decomposes without LAPACK; order
    of sums

transform_numbers = {1 << 20}, rows: maximum length of a transform or convolution by one matrix: its roots of
    unity take 16 MB; order of sums
transform_matrix_numbers = 64, rows: minimum length of a lane that is transformed as a matrix; order of sums
kept_tables = 64, rows: maximum number of tables of roots of unity that are kept
kept_table_bytes = {1 << 25}, rows: maximum bytes of the tables of roots of unity that are kept
lanes_aside_numbers = 2048, rows: maximum length of lanes that are transformed side by side; order of sums
lanes_aside = 8, rows: minimum number of lanes that are transformed side by side; order of sums
lanes_together_numbers = {1 << 15}, rows: maximum number of numbers in lanes that are copied and transformed
    together
shared_lanes = 4, rows: fewer long lanes than this are transformed one by one, each by all threads
lane_pitch_bytes = 192, rows: bytes between copies of long lanes, so that the copies do not share cache sets
long_lane_rows = 16, rows: minimum number of rows of a long lane as a matrix; with fewer, it is a convolution;
    order of sums
root_product_ns = 10, rows: nanoseconds to multiply a number by a root of unity
long_copy_numbers = {1 << 20}, rows: numbers of a long lane that are copied in one step

sorted_saved_values = 64, gradients: maximum number of saved values of a storage that are searched one by one
folded_writes = 64, gradients: maximum number of writes to one storage that are kept separately
folded_key_writes = 8, gradients: maximum number of writes by index arrays that are kept separately
folded_sources = 256, gradients: maximum number of sources of a sum of writes before a new sum starts
"""
THRESHOLDS = tuple(Threshold(row) for row in TABLE.replace("\n    ", " ").splitlines() if row)
