# See `plan.pyx`.

from cpython.pystate cimport PyThreadState
from libc.stdint cimport int64_t, uintptr_t

from stride0._core.memory.dtype cimport BOOL, itemsize_at
from stride0._core.plan.kernel cimport (
    KIND_ARG, KIND_ARG_ROWS, KIND_CAST, KIND_OP, KIND_PAIR, KIND_REDUCTION, KIND_SCAN, KIND_SCAN_ROWS, KIND_WHERE, Kernel, cast_kernel,
    is_copy, kernel_of, op_kernel, pair_kernel, reduction_kernel, where_kernel,
)
from stride0._core.plan.loops cimport S0_DTYPES, S0_OPS, S0_PAIRS, S0_REDUCTIONS, s0_kernels, s0_loop
from stride0._core.plan.threads cimport s0_chunk

# The planner: the iteration space of a call and the strides of its operands, by functions on plain C structs.

cdef enum:
    MAX_NDIM = 64
    MAX_OPERANDS = 4    # of a kernel
    MAX_VIEWS = 24      # of a program: leaves, then outputs
    MAX_PROGRAM_NDIM = 16 # axes of a program of several kernels
    MAX_STRIDES = MAX_VIEWS * MAX_PROGRAM_NDIM    # of a plan: a single kernel has fewer


ctypedef struct Operand:
    # Memory as an array sees it: logical axes, outermost first, strides in bytes.
    char* data
    int code        # dtype
    int ndim
    const Py_ssize_t* shape
    const Py_ssize_t* strides


ctypedef struct Plan:
    int nop         # the inputs, then the results
    int ndim
    int axis[MAX_NDIM]  # the logical axis that each axis of the plan came from; innermost first
    Py_ssize_t shape[MAX_NDIM]
    char* data[MAX_VIEWS]
    int code[MAX_VIEWS]
    # Strides of each operand, in `room`, which has `pitch` entries for each operand.
    Py_ssize_t* strides[MAX_VIEWS]
    int pitch
    Py_ssize_t room[MAX_STRIDES]


cdef inline void add_operand(Plan* plan, char* data, int code) noexcept nogil:
    """Add an operand; the caller sets its strides."""
    cdef int k = plan.nop
    plan.data[k], plan.code[k], plan.strides[k] = data, code, &plan.room[k * plan.pitch]
    plan.nop += 1


cdef int broadcast(const Operand* operands, int nop, Py_ssize_t* shape, int* ndim) noexcept nogil
cdef void set_strides(Plan* plan, const Operand* operands, int nop, const Py_ssize_t* shape, int ndim) noexcept nogil
cdef void set_result(Plan* plan, const Operand* result, const Py_ssize_t* shape, int ndim) noexcept nogil
cdef void order_axes(Plan* plan, bint result_first) noexcept nogil
cdef void innermost(Plan* plan, int axis) noexcept nogil
cdef bint as_rows(Plan* plan, int axis, bint contiguous) noexcept nogil
cdef void result_strides(const Plan* plan, const Py_ssize_t* shape, int ndim, Py_ssize_t itemsize, Py_ssize_t* strides) noexcept nogil
cdef void coalesce(Plan* plan, int first) noexcept nogil
cdef void extent(const Operand* operand, char** low, char** high) noexcept nogil
cdef bint shares_location(const Operand* operand) noexcept nogil


# The loops of the loaded modules of kernels. `loops_of` finds the loops of an elementwise kernel or a reduction.
cdef s0_kernels TABLE

# Facts about the rows, read from the tables of operations when the module is imported.
cdef struct Facts:
    short cost[S0_OPS][S0_DTYPES]      # rough time per element besides memory access, in 1/16 ns
    signed char inputs[S0_OPS]
    signed char result[S0_OPS][S0_DTYPES]  # the dtype of an operation's result
    bint commutes[S0_OPS]               # whether the order of its operands makes no difference
    signed char pair[S0_OPS][S0_OPS][2]     # pair of a first operation and a second one that reads the result as this operand; or -1
    signed char pair_inputs[S0_PAIRS]
    short pair_cost[S0_PAIRS][S0_DTYPES]
    signed char folded[S0_REDUCTIONS]      # inputs of a reduction,
    bint merged[S0_REDUCTIONS]             # whether adjacent short rows are folded as one,
    signed char folded_by[S0_REDUCTIONS]   # the reduction that folds its accumulators,
    short absorbing[S0_REDUCTIONS]         # the accumulator that ends the reduction early, or -1,
    signed char accumulator[S0_REDUCTIONS][S0_DTYPES]     # and the dtype of the accumulators

cdef Facts FACTS


cdef inline int inputs_of(Kernel kernel) noexcept nogil:
    if kernel.kind == KIND_OP:
        return FACTS.inputs[kernel.row]
    if kernel.kind == KIND_REDUCTION:
        return FACTS.folded[kernel.row]
    if kernel.kind == KIND_PAIR:
        return FACTS.pair_inputs[kernel.row]
    return 3 if kernel.kind == KIND_WHERE else 1


cdef inline int input_code(Kernel kernel, int k) noexcept nogil:
    """Code of the dtype in which a kernel reads an operand."""
    if kernel.kind == KIND_CAST:
        return kernel.row
    return BOOL if kernel.kind == KIND_WHERE and k == 0 else kernel.code


cdef inline int result_code(Kernel kernel) noexcept nogil:
    """Code of the dtype that a kernel writes; -1 for kinds that have none."""
    if kernel.kind == KIND_OP:
        return FACTS.result[kernel.row][kernel.code]
    if kernel.kind == KIND_REDUCTION:
        return FACTS.accumulator[kernel.row][kernel.code]
    return kernel.code if kernel.kind == KIND_CAST or kernel.kind == KIND_WHERE or kernel.kind == KIND_PAIR else -1


cdef inline int cost_of(Kernel kernel) noexcept nogil:
    """Time per element besides memory access, in 1/16 ns; 2 for kernels that fold, search or cast."""
    return FACTS.cost[kernel.row][kernel.code] if kernel.kind == KIND_OP else FACTS.pair_cost[kernel.row][kernel.code] if kernel.kind == KIND_PAIR else 2


cdef inline int absorbing(Kernel kernel) noexcept nogil:
    """The accumulator, of one byte, that ends a reduction early; -1 if no accumulator does."""
    return FACTS.absorbing[kernel.row] if kernel.kind == KIND_REDUCTION else -1


cdef inline bint merges_rows(Kernel kernel) noexcept nogil:
    return FACTS.merged[kernel.row]


cdef inline Kernel fold_of(Kernel kernel) noexcept nogil:
    """The reduction that folds the accumulators of a reduction."""
    return reduction_kernel(FACTS.folded_by[kernel.row], result_code(kernel))


cdef inline const s0_loop* stream_loops_of(Kernel kernel) noexcept nogil:
    """The loops with non-temporal stores (for a cast only the contiguous one); NULL for kinds without such loops."""
    if kernel.kind == KIND_OP:
        return &TABLE.streams[kernel.row][kernel.code][0]
    if kernel.kind == KIND_PAIR:
        return &TABLE.stream_pairs[kernel.row][kernel.code][0]
    if kernel.kind == KIND_CAST:
        return &TABLE.stream_casts[kernel.row][kernel.code]
    return NULL


cdef inline int width_of(Py_ssize_t itemsize) noexcept nogil:
    """The index of an item size in the table."""
    return 0 if itemsize == 1 else 1 if itemsize == 2 else 2 if itemsize == 4 else 3 if itemsize == 8 else 4


cdef inline const s0_loop* loops_of(Kernel kernel) noexcept nogil:
    """The loops of a kernel by layout (Note [Layouts] of the generator)."""
    if kernel.kind == KIND_OP:
        return &TABLE.ops[kernel.row][kernel.code][0]
    if kernel.kind == KIND_CAST:
        return &TABLE.casts[kernel.row][kernel.code][0]
    if kernel.kind == KIND_REDUCTION:
        return &TABLE.reductions[kernel.row][kernel.code][0]
    if kernel.kind == KIND_WHERE:
        return &TABLE.where[width_of(itemsize_at(kernel.code))][0]
    if kernel.kind == KIND_PAIR:
        return &TABLE.pairs[kernel.row][kernel.code][0]
    if kernel.kind == KIND_SCAN:
        return &TABLE.scans[kernel.row][kernel.code]
    if kernel.kind == KIND_SCAN_ROWS:
        return &TABLE.scan_rows[kernel.row][kernel.code]
    if kernel.kind == KIND_ARG:
        return &TABLE.arg_reductions[kernel.row][kernel.code]
    return &TABLE.arg_rows[kernel.row][kernel.code]


cdef inline bint has_cast(int source, int target) noexcept nogil:
    """Whether a dtype can be cast to another: not from complex to real."""
    return loops_of(cast_kernel(source, target))[0] is not NULL


# Described in `_tables/thresholds.py`; `tune` changes them.
cdef struct Tuning:
    int64_t long_run_elements, threads_ns, wake_ns, per_thread_ns, cached_ns, chunk_ns, max_chunks, chunks_per_thread
    int64_t chunk_multiple_elements, chunk_multiple_columns, thread_row_bytes, thread_columns, fixed_elements
    int64_t fixed_chunk_elements, max_fixed_chunks, max_fixed_runs, max_fixed_columns, max_fixed_results, fixed_chunk_rows
    int64_t merged_row_columns, transposed_elements, transposed_side, streamed_copy_bytes, streamed_bytes
    int64_t streamed_run_bytes, streamed_steps, prefetched_bytes, tile_bytes, max_tile_elements, min_tile_elements
    int64_t prefetched_tile_parts, max_tile_rows, tile_row_parts, transposed_tile_bytes, max_transposed_side
    int64_t transposed_row_bytes
    int64_t max_pending_chains, max_pending_bytes, chained_elements, shared_step_cost, slot_step_cost, fill_bytes
    int64_t spread_elements, small_matrix_elements, unplanned_arg_elements, copied_run_bytes
    int64_t joined_runs, repeated_elements, repeated_lane_bytes, repeated_bytes
    int64_t gathered_row_stride, gathered_row_elements, gathered_run_ns, gathered_bytes_per_ns, repeated_value_elements
    int64_t sorted_element_ns, selected_element_ns, sorted_aside_elements, search_ns, elements_per_search, placed_element_ns
    int64_t interpolated_element_ns
    int64_t dot_elements, integer_sum_elements, integer_columns, contraction_products, quick_products
    int64_t direct_products, direct_columns, direct_rows, direct_complex_rows, panel_side
    int64_t released_loop_elements, shared_loop_side, lapack_alone_side
    int64_t tall_ratio, tall_columns, tall_block_rows, tall_narrow_columns, tall_sections, tall_section_rows
    int64_t tall_section_ratio
    int64_t transform_numbers, transform_matrix_numbers, kept_tables, kept_table_bytes, lanes_aside_numbers, lanes_aside
    int64_t lanes_together_numbers, shared_lanes, lane_pitch_bytes, long_lane_rows, root_product_ns, long_copy_numbers
    int64_t sorted_saved_values, folded_writes, folded_key_writes, folded_sources
    int64_t own_spectra_rows, most_own_spectra_rows, own_eigen_rows

cdef Tuning tuning

cdef extern from *:
    """
    /* Two threads may count as one; an atomic addition would take 5 % of the time of a small call. */
    #define s0_count(counter) __atomic_store_n(&(counter), __atomic_load_n(&(counter), __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED)
    """
    void s0_count(int64_t counter) nogil

# Counts of what programs and their chunks did, for tests.
cdef struct Counters:
    int64_t transposed  # operands
    int64_t streamed    # outputs
    int64_t cast        # operands and outputs
    int64_t computed    # operands of a reduction that were computed tile by tile
    int64_t tiled       # programs
    int64_t paired      # steps
    int64_t prefetched  # leaves and outputs

cdef Counters counters


# A program: elementwise steps over one iteration space, and at most one reduction of their results (docs/design/planner.md).
#
# Note [Programs]
#     A program has four phases. Each phase fills in its part of one struct.
#
#     1. Built: constants and steps. Values are numbered: leaf k is value k, constant k is value FIRST_CONSTANT + k, and the
#        result of step s is value FIRST_STEP + s. A step reads earlier values in the dtype of its kernel.
#     2. Selected: what one pass over memory computes. The operands of a plan are the leaves of the pass, then its outputs.
#        `source` says how the pass gets a value: from an operand, from a constant, from the step that computes it (the step
#        itself, or an earlier step), or UNUSED. A step runs if it is its own source. Output o, operand leaves + o of the
#        plan, stores the source stored[o]. A reduction reads sources, and accumulates in the last operand of the plan, whose
#        stride is 0 along the reduced axes. This operand holds the identity or elements that may be folded again.
#     3. Prepared: the calls of loops, and the slots in which values lie between calls.
#     4. Run: over the plan or chunks of it, tile by tile, with the arguments of each call (`CallArguments`).
#
#     An operand is cast if its dtype is not the kernel's dtype. A value is cast if it is stored in an output of another dtype.
#
#     A program gives the same bits as its steps run one by one, each into an array in the memory order of the plan's axes.
#     The bits of a reduction depend on the order of the axes, so the caller orders them as for the call before the reduction.
#
#     Limits: MAX_VIEWS leaves and outputs together, MAX_CONSTANTS constants, MAX_STEPS steps, MAX_PROGRAM_NDIM axes. If a
#     reduction follows steps, its operands are dense in the memory order of the plan's axes. A leaf and an output
#     overlap only if they are the same elements in the same order. A value that is stored in a leaf is stored after the
#     last step that reads the leaf.


cdef enum:
    MAX_CONSTANTS = 32
    MAX_STEPS = 96
    FIRST_CONSTANT = MAX_VIEWS
    FIRST_STEP = FIRST_CONSTANT + MAX_CONSTANTS
    MAX_VALUES = FIRST_STEP + MAX_STEPS
    # Special sources of steps. PAIRED: the step is a part of the step that reads it (Note [Pairs of steps]).
    PAIRED = 253
    PAIRED_REVERSED = 254   # with its operands in reverse order
    UNUSED = 255


ctypedef struct Constant:
    char value[16]
    Py_ssize_t code         # dtype


ctypedef struct Step:
    Kernel kernel
    int inputs[MAX_OPERANDS - 1]    # numbers of values


cdef enum:
    CALL_LOOP           # kinds of calls
    CALL_TRANSPOSE
    CALL_STREAM         # copy rows by non-temporal stores
    CALL_COMPUTE        # Note [Computed operands]
    CALL_RESERVE        # reserve the slot of a second computed operand

cdef enum:
    INNER = 1           # bits of `varies`
    OUTER = 2

cdef enum:
    FIRST_SLOT = FIRST_STEP
    # The most calls for a single kernel: each operand is transposed, computed or cast, and the result is cast.
    SINGLE_CALLS = 2 * MAX_OPERANDS

ctypedef struct Call:
    int kind
    s0_loop loop            # the loop of its layout
    int nop                 # the inputs, then the result
    int location[MAX_OPERANDS]  # an operand of the plan, FIRST_CONSTANT + constant, or FIRST_SLOT + the call that writes the slot
    int varies              # axes of a tile along which the result varies
    int size                # bytes of an element of the result
    int slot
    int last                # the last call that reads its slot
    int idle                # a free slot: scratch for `take_slots`


ctypedef struct Program:
    # Built.
    const Step* steps
    int step_count
    const Constant* constants
    int constant_count
    # Selected.
    int leaves
    int outputs             # number of outputs, not counting the accumulators
    unsigned char source[MAX_VALUES]
    unsigned char stored[MAX_VIEWS]
    bint reduces
    Step reduction
    # Prepared.
    bint direct             # one kernel on the operands themselves: no tiles
    s0_loop loop
    bint folds              # the last call folds into accumulators
    bint rows               # the accumulators are rows
    int transposed          # bits of the transposed leaves
    int axis                # second axis of a tile; 0 if a tile is a part of a run
    bint linear             # computes an operand, in the order of the plan's axes: tiles extend along the two innermost ones
    bint streams
    bint flat               # whether no slot varies along the second axis
    bint has_rows           # whether some slot varies along the innermost axis only
    int prefetched          # number of prefetched operands: Note [Prefetching]
    int prefetched_view[MAX_VIEWS]
    int widest              # largest item size of a slot
    int slots
    int call_count
    # If operands are computed: the program that computes them, and its plan. The computed operands are the last operands of `space`, in reverse order.
    const Program* inner
    const Plan* space
    Call* calls             # `single`, or memory that `release_program` frees
    Call single[SINGLE_CALLS]


cdef int layout_of(Kernel kernel, const Py_ssize_t* inner) noexcept nogil


cdef enum:
    ALIGNMENT = 64      # of scratch memory for vectors, in bytes

cdef extern from "Python.h":
    PyThreadState* PyEval_SaveThread() noexcept
    void PyEval_RestoreThread(PyThreadState* thread) noexcept

cdef bint run_kernel(const Plan* plan, Kernel kernel, bint interruptible) noexcept nogil
cdef bint run_program(const Plan* plan, Program* program, bint interruptible) noexcept nogil
cdef bint run_along(const Plan* plan, Kernel kernel, int axis) noexcept nogil
cdef bint run_axis(Kernel kernel, char** args, const Py_ssize_t* strides, Py_ssize_t n) noexcept nogil
cdef int threads_for(int64_t work) noexcept nogil
cdef Py_ssize_t chunks_for(int64_t work, int threads) noexcept nogil
cdef int share_run(int64_t run, int64_t work, Py_ssize_t* chunks) noexcept nogil
cdef int run_shared(s0_chunk body, void* context, Py_ssize_t* each, Py_ssize_t count, int64_t work) except -1
cdef int run_in_chunks(s0_chunk body, void* context, Py_ssize_t* each, Py_ssize_t count, Py_ssize_t chunks, int threads, int64_t work) except -1
cdef bint takes_long(Kernel kernel, Py_ssize_t size) noexcept nogil


cdef inline bint is_long_run(int64_t work) noexcept nogil:
    """Whether a run of `work` elements, or nanoseconds, releases the GIL and may use threads."""
    return work >= tuning.long_run_elements


cdef inline PyThreadState* release_lock(int64_t work) noexcept:
    """Release the GIL for a long run; otherwise keep it and return NULL."""
    return PyEval_SaveThread() if is_long_run(work) else NULL


cdef inline void take_lock(PyThreadState* thread) noexcept:
    """Take the GIL again, if `release_lock` released it."""
    if thread is not NULL:
        PyEval_RestoreThread(thread)


cdef inline char* aligned(char* memory) noexcept nogil:
    """The first aligned byte of scratch memory with ALIGNMENT spare bytes."""
    return memory + (-<uintptr_t>memory) % ALIGNMENT


cdef inline int run_contiguous(Kernel kernel, char** args, const Py_ssize_t* strides, Py_ssize_t n) except -1:
    """`run_axis` for a caller that holds the GIL; fails with the exception of a signal handler."""
    cdef PyThreadState* thread = release_lock(n)
    cdef bint done = run_axis(kernel, args, strides, n)
    take_lock(thread)
    return 0 if done else -1
