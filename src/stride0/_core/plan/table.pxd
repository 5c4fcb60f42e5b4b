# The table of kernels, and facts about each: a kernel has an id.

from libc.stdint cimport int64_t, uint64_t

from stride0._core.memory.dtype cimport BOOL, itemsize_at

cdef extern from "kernels.h":
    ctypedef void (*s0_loop)(char**, const Py_ssize_t*, const Py_ssize_t*, Py_ssize_t, Py_ssize_t) noexcept nogil
    ctypedef void (*s0_transpose)(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t, Py_ssize_t) noexcept nogil
    ctypedef void (*s0_copy)(char*, const char*, Py_ssize_t) noexcept nogil
    ctypedef int (*s0_product)(const char*, const Py_ssize_t*, const char*, const Py_ssize_t*, char*, Py_ssize_t, Py_ssize_t, Py_ssize_t, Py_ssize_t) noexcept nogil
    void s0_stream_end() noexcept nogil
    ctypedef struct s0_seen:
        int64_t least, most
        uint64_t ones, zeroes
        Py_ssize_t nans, zeros, negative_zeros
    ctypedef struct s0_lane:
        const char* source "from"
        char* out
        Py_ssize_t n, stride
        uint64_t* scratch
        int64_t mask
        int width, kind, indices, nans_last
        Py_ssize_t first, last
        int whole
        void* words
        void* other
    ctypedef struct s0_adjacent:
        s0_lane lane
        Py_ssize_t next, out_stride, out_next
    ctypedef struct s0_sorter:
        void (*lane)(s0_lane*) noexcept nogil
        void (*lanes)(const s0_adjacent*, Py_ssize_t, Py_ssize_t) noexcept nogil
        void (*select)(const s0_lane*) noexcept nogil
        bint (*encode)(const s0_lane*, Py_ssize_t, Py_ssize_t, s0_seen*) noexcept nogil
        void (*plan)(s0_lane*, const s0_seen*) noexcept nogil
        bint (*order)(const s0_lane*, Py_ssize_t, Py_ssize_t) noexcept nogil
        bint (*merge)(const s0_lane*, Py_ssize_t, Py_ssize_t, Py_ssize_t, Py_ssize_t, Py_ssize_t) noexcept nogil
        bint (*decode)(const s0_lane*, Py_ssize_t, Py_ssize_t) noexcept nogil
        bint (*finish)(const s0_lane*) noexcept nogil
    enum:
        S0_OPS
        S0_DTYPES
        S0_PAIRS
        S0_REDUCTIONS
        S0_SCANS
        S0_ARG_REDUCTIONS
        S0_LAYOUTS
        S0_REDUCE_LAYOUTS
        S0_WIDTHS
        S0_UNSIGNED     # kinds of elements that are sorted
        S0_SIGNED
        S0_FLOATING
        S0_BOOLEAN
        S0_FEW
        S0_SLACK
        S0_ASIDE
        S0_BESIDE
        S0_FEW_ROWS     # of matrices that `solve_systems` takes
        S0_MOST_COLUMNS # of those that `tall_factor` takes
        S0_MOST_RADIX   # of the passes of Fourier transforms
        FOLD_BLOCK "S0_BLOCK"   # elements that loops fold at once along a run: Note [Order of a reduction]
    int s0_bit_length(unsigned long long value) noexcept nogil
    ctypedef struct s0_systems:
        const char* a
        const char* b
        Py_ssize_t a_strides[3]
        Py_ssize_t b_strides[3]
        Py_ssize_t n, columns
        double* x
        double* factor
        double* exponent
    ctypedef struct s0_tall:
        const char* a
        Py_ssize_t strides[3]
        Py_ssize_t itemsize
        Py_ssize_t rows, columns, pitch
        Py_ssize_t sections, height, block
        double* triangles
        double* records
        double* reflectors
        double* coefficients
        char* out
    ctypedef struct s0_passes:
        Py_ssize_t length
        int passes
        unsigned char* radix
        const double* twiddles
    ctypedef struct s0_fourier:
        s0_passes columns, rows
        const double* turns
        const double* halves
        Py_ssize_t half
        bint inverse, conjugate
        double factor
    ctypedef enum s0_fourier_kind:
        OF_COMPLEX "S0_OF_COMPLEX"
        HALF_OF_REAL "S0_HALF_OF_REAL"
        ALL_OF_REAL "S0_ALL_OF_REAL"
        TO_REAL "S0_TO_REAL"
    ctypedef struct s0_kernels:
        s0_loop ops[S0_OPS][S0_DTYPES][S0_LAYOUTS]
        s0_loop casts[S0_DTYPES][S0_DTYPES][S0_LAYOUTS]
        s0_loop where[S0_WIDTHS][S0_LAYOUTS]
        s0_loop pairs[S0_PAIRS][S0_DTYPES][S0_LAYOUTS]
        s0_loop reductions[S0_REDUCTIONS][S0_DTYPES][S0_REDUCE_LAYOUTS]
        s0_loop scans[S0_SCANS][S0_DTYPES]
        s0_loop arg_reductions[S0_ARG_REDUCTIONS][S0_DTYPES]
        s0_loop scan_rows[S0_SCANS][S0_DTYPES]
        s0_loop arg_rows[S0_ARG_REDUCTIONS][S0_DTYPES]
        s0_transpose transpose[S0_WIDTHS]
        s0_copy stream
        s0_loop streams[S0_OPS][S0_DTYPES][S0_LAYOUTS]
        s0_loop stream_pairs[S0_PAIRS][S0_DTYPES][S0_LAYOUTS]
        s0_loop stream_casts[S0_DTYPES][S0_DTYPES]
        s0_product products[S0_DTYPES]
        int (*solve_systems)(const s0_systems* all, Py_ssize_t first, Py_ssize_t last) noexcept nogil
        int (*factor_definite)(const s0_systems* all, Py_ssize_t first, Py_ssize_t last) noexcept nogil
        int (*tall_factor)(const s0_tall* all, Py_ssize_t first, Py_ssize_t last, double* scratch) noexcept nogil
        int (*tall_join)(const s0_tall* all, Py_ssize_t first, Py_ssize_t last) noexcept nogil
        int (*tall_spread)(const s0_tall* all, Py_ssize_t first, Py_ssize_t last, const double* by, double* scratch) noexcept nogil
        void (*tall_apply)(const s0_tall* all, Py_ssize_t first, Py_ssize_t last, bint unrolled, double* scratch) noexcept nogil
        void (*fourier_short)(const s0_fourier* all, s0_fourier_kind kind, const char* in_, char* out, bint single, Py_ssize_t count, double* scratch) noexcept nogil
        void (*fourier_columns)(const s0_fourier* all, const char* in_, bint single, double* middle, Py_ssize_t first, Py_ssize_t last, double* scratch) noexcept nogil
        void (*fourier_rows)(const s0_fourier* all, const double* middle, char* out, bint single, double factor, Py_ssize_t first, Py_ssize_t last, double* scratch) noexcept nogil
        void (*fourier_untangle)(const s0_fourier* all, s0_fourier_kind kind, const double* in_, char* out, bint single, Py_ssize_t first, Py_ssize_t last) noexcept nogil
        void (*fourier_tangle)(const s0_fourier* all, const char* in_, bint single, double* out, Py_ssize_t first, Py_ssize_t last) noexcept nogil
        void (*fourier_copy)(char** to, Py_ssize_t out, char** from_, Py_ssize_t in_, Py_ssize_t lanes, Py_ssize_t count, Py_ssize_t size) noexcept nogil
        const s0_sorter* sorter
        int vector
        bint (*interrupted)() noexcept nogil

# The loops of every module of kernels that was loaded. Of an elementwise kernel or a reduction, `loops_of` finds them.
cdef s0_kernels TABLE

cdef enum:
    KIND_OP             # row of OPS
    KIND_CAST           # row: the code of the dtype that is cast
    KIND_WHERE
    KIND_PAIR           # row of PAIRS: Note [Pairs of steps] of `chain.pyx`
    KIND_REDUCTION      # row of REDUCTIONS
    # These need a complete axis, and have one loop for all layouts.
    KIND_SCAN
    KIND_SCAN_ROWS
    KIND_ARG
    KIND_ARG_ROWS


# The id of a kernel: its index in the table.
ctypedef struct Kernel:
    short kind
    short row
    short code      # of the dtype that it reads; of a cast, that it writes; of a `where`, of what it selects


cdef inline Kernel kernel_of(int kind, int row, int code) noexcept nogil:
    cdef Kernel kernel
    kernel.kind, kernel.row, kernel.code = <short>kind, <short>row, <short>code
    return kernel


cdef inline Kernel op_kernel(int op, int code) noexcept nogil:
    return kernel_of(KIND_OP, op, code)


cdef inline Kernel cast_kernel(int source, int target) noexcept nogil:
    return kernel_of(KIND_CAST, source, target)


cdef inline Kernel where_kernel(int code) noexcept nogil:
    return kernel_of(KIND_WHERE, 0, code)


cdef inline Kernel pair_kernel(int pair, int code) noexcept nogil:
    return kernel_of(KIND_PAIR, pair, code)


cdef inline Kernel reduction_kernel(int reduction, int code) noexcept nogil:
    return kernel_of(KIND_REDUCTION, reduction, code)


# Facts about the rows, read from the tables of operations when the module is imported.
cdef struct Facts:
    short cost[S0_OPS][S0_DTYPES]      # sixteenths of a nanosecond per element in addition to memory access, roughly
    signed char inputs[S0_OPS]
    signed char result[S0_OPS][S0_DTYPES]  # the dtype of an operation's result
    bint commutes[S0_OPS]               # whether the order of its operands makes no difference
    signed char pair[S0_OPS][S0_OPS][2]     # of an operation and a second one, which has the first one's result for this operand; or -1
    signed char pair_inputs[S0_PAIRS]
    short pair_cost[S0_PAIRS][S0_DTYPES]
    signed char folded[S0_REDUCTIONS]      # inputs of a reduction,
    bint merged[S0_REDUCTIONS]             # whether its adjacent short rows are folded as one,
    signed char folded_by[S0_REDUCTIONS]   # the reduction that folds its accumulators,
    short absorbing[S0_REDUCTIONS]         # the accumulator that ends it early, or -1,
    signed char accumulator[S0_REDUCTIONS][S0_DTYPES]     # and the dtype of those

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
    """Sixteenths of a nanosecond per element in addition to memory access; 2 for kernels that fold, search or cast."""
    return FACTS.cost[kernel.row][kernel.code] if kernel.kind == KIND_OP else FACTS.pair_cost[kernel.row][kernel.code] if kernel.kind == KIND_PAIR else 2


cdef inline int absorbing(Kernel kernel) noexcept nogil:
    """The accumulator, of one byte, that ends a reduction early; -1 where there is none."""
    return FACTS.absorbing[kernel.row] if kernel.kind == KIND_REDUCTION else -1


cdef inline bint merges_rows(Kernel kernel) noexcept nogil:
    return FACTS.merged[kernel.row]


cdef inline Kernel fold_of(Kernel kernel) noexcept nogil:
    """The reduction that folds the accumulators of another."""
    return reduction_kernel(FACTS.folded_by[kernel.row], result_code(kernel))


cdef inline const s0_loop* stream_loops_of(Kernel kernel) noexcept nogil:
    """The loops whose stores are non-temporal, of a cast the contiguous one; NULL for kinds that have none."""
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
