# The table of loops in a module of kernels: `kernels.h`.

from libc.stdint cimport int64_t, uint64_t

cdef extern from "kernels.h":
    ctypedef void (*s0_loop)(char**, const Py_ssize_t*, const Py_ssize_t*, Py_ssize_t, Py_ssize_t) noexcept nogil
    ctypedef void (*s0_transpose)(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t, Py_ssize_t) noexcept nogil
    ctypedef void (*s0_copy)(char*, const char*, Py_ssize_t) noexcept nogil
    ctypedef int (*s0_product)(const char*, const Py_ssize_t*, const char*, const Py_ssize_t*, char*, Py_ssize_t, Py_ssize_t, Py_ssize_t, Py_ssize_t) noexcept nogil
    ctypedef int (*s0_direct_product)(const char*, const Py_ssize_t*, const char*, const Py_ssize_t*, char*, Py_ssize_t, Py_ssize_t, Py_ssize_t, Py_ssize_t, Py_ssize_t) noexcept nogil
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
        S0_UNSIGNED     # kinds of elements in sorts
        S0_SIGNED
        S0_FLOATING
        S0_BOOLEAN
        S0_FEW
        S0_SLACK
        S0_ASIDE
        S0_BESIDE
        S0_FEW_ROWS     # most rows of a matrix in `solve_systems`
        S0_MOST_COLUMNS # most columns of a matrix in `tall_factor`
        S0_MOST_RADIX   # largest radix of a pass of Fourier transforms
        S0_UNROLLED_RADIX # largest radix whose pass is compiled for this radix only
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
    ctypedef struct s0_spectra:
        const char* a
        Py_ssize_t strides[3]
        Py_ssize_t rows, columns
        bint full, is_complex
        double* values
        double* left
        double* right
        double* memory
    ctypedef int (*s0_decomposition)(const s0_spectra* all, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    Py_ssize_t s0_spectra_size(const s0_spectra* all, bint is_symmetric) noexcept nogil
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
        Py_ssize_t numbers
        const double* chirp
        const double* spectrum
    ctypedef enum s0_fourier_kind:
        OF_COMPLEX "S0_OF_COMPLEX"
        HALF_OF_REAL "S0_HALF_OF_REAL"
        ALL_OF_REAL "S0_ALL_OF_REAL"
        TO_REAL "S0_TO_REAL"
    enum:
        SUM_TERMS "S0_SUM_TERMS"    # of a block of a product
        LONG_TERMS "S0_LONG_TERMS"  # least terms of a sum by vector_products.h
        BLOCK_FLOATS "S0_BLOCK_FLOATS"
        BLOCK_DOUBLES "S0_BLOCK_DOUBLES"
        PANEL_ROWS "S0_PANEL_ROWS"
        PANELS_TOGETHER "S0_PANELS_TOGETHER"
        PANEL_VECTORS "S0_PANEL_VECTORS"
    ctypedef struct s0_panels:
        const char* left
        const char* right
        char* out
        Py_ssize_t left_strides[2]
        Py_ssize_t right_strides[2]
        Py_ssize_t pitch, m, n, p, below
        char* memory
        bint fresh
        Py_ssize_t terms
        int negates
    enum:
        NEGATES_REAL "S0_NEGATES_REAL"
        NEGATES_IMAGINARY "S0_NEGATES_IMAGINARY"
    enum:
        S0_LIMITS
    ctypedef struct s0_limit:
        const char* x
        const char* y
        char* out
    ctypedef struct s0_block_steps "struct s0_block_steps"
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
        void (*fourier_short)(const s0_fourier* all, s0_fourier_kind kind, const char* in_, Py_ssize_t in_step, char* out, Py_ssize_t out_step, bint single, Py_ssize_t count, double* scratch) noexcept nogil
        void (*fourier_columns)(const s0_fourier* all, const char* in_, bint single, double* middle, Py_ssize_t first, Py_ssize_t last, double* scratch) noexcept nogil
        void (*fourier_rows)(const s0_fourier* all, const double* middle, char* out, bint single, double factor, Py_ssize_t first, Py_ssize_t last, double* scratch) noexcept nogil
        void (*fourier_untangle)(const s0_fourier* all, s0_fourier_kind kind, const double* in_, char* out, bint single, Py_ssize_t first, Py_ssize_t last) noexcept nogil
        void (*fourier_tangle)(const s0_fourier* all, const char* in_, bint single, double* out, Py_ssize_t first, Py_ssize_t last) noexcept nogil
        void (*fourier_copy)(char** to, Py_ssize_t out, char** from_, Py_ssize_t in_, Py_ssize_t lanes, Py_ssize_t count, Py_ssize_t size) noexcept nogil
        const s0_sorter* sorter
        int vector
        bint (*interrupted)() noexcept nogil
        s0_direct_product direct_products[4]
        void (*pack_panels[4])(const s0_panels* all, Py_ssize_t first, Py_ssize_t last) noexcept nogil
        void (*multiply_panels[4])(const s0_panels* all, Py_ssize_t first, Py_ssize_t last) noexcept nogil
        void (*limits[S0_LIMITS])(const s0_limit* all, Py_ssize_t first, Py_ssize_t last) noexcept nogil
        s0_decomposition symmetric
        s0_decomposition singular
        s0_decomposition general
        const s0_block_steps* block_steps
        void (*fourier_convolve)(const s0_fourier* all, double* middle, Py_ssize_t first, Py_ssize_t last, double* scratch) noexcept nogil
        void (*fourier_back)(const s0_fourier* all, const double* middle, char* out, bint single, double factor, Py_ssize_t first, Py_ssize_t last, double* scratch) noexcept nogil
