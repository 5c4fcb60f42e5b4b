/* The table of loops that each build of the kernels fills and through which the core calls them.
 *
 * A loop runs over n elements m times. args[k] is the first element of operand k (the result is last), inner[k] is its stride in
 * bytes along the n elements, and outer[k] its stride along the m runs. */
#ifndef STRIDE0_KERNELS_H
#define STRIDE0_KERNELS_H

#include <Python.h>

#include "table_sizes.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

static inline int s0_bit_length(uint64_t value) { return value ? 64 - __builtin_clzll(value) : 0; }

typedef void (*s0_loop)(char **args, const Py_ssize_t *inner, const Py_ssize_t *outer,
                        Py_ssize_t n, Py_ssize_t m);

/* Of tiles.h: transpose a block of elements of one width; copy bytes by non-temporal stores. */
typedef void (*s0_transpose)(const char *source, Py_ssize_t row, char *target, Py_ssize_t line, Py_ssize_t m,
                             Py_ssize_t n);
typedef void (*s0_copy)(char *target, const char *source, Py_ssize_t size);

/* Of products.h: `count` products of matrices with m rows and n columns by matrices with n rows and p columns; strides in bytes
 * between matrices, rows and columns. Returns 0, or -1 if there is no memory. */
typedef int (*s0_product)(const char *a, const Py_ssize_t *sa, const char *b, const Py_ssize_t *sb, char *out,
                          Py_ssize_t count, Py_ssize_t m, Py_ssize_t n, Py_ssize_t p);
/* With the bytes of a row of the whole result, of which the columns may be a part. */
typedef int (*s0_direct_product)(const char *a, const Py_ssize_t *sa, const char *b, const Py_ssize_t *sb, char *out,
                                 Py_ssize_t count, Py_ssize_t m, Py_ssize_t n, Py_ssize_t p, Py_ssize_t pitch);

/* Of vector_products.h: the numbers of a block of a sum, and the least terms of a sum. */
enum { S0_BLOCK_FLOATS = 512, S0_BLOCK_DOUBLES = 1024, S0_LONG_TERMS = 32 };

/* Of real_products.h: a block of a product, in panels: S0_SUM_TERMS terms of each sum at most. Strides are in bytes, from row to row and from
 * column to column. Columns `p` are counted in real numbers, two for each complex column. If the product is symmetric, no row is computed that is `below` the diagonal: `below` is the distance from the first
 * column of the block to its first row. */
enum { S0_SUM_TERMS = 256, S0_PANEL_ROWS = 96, S0_PANELS_TOGETHER = 4, S0_PANEL_VECTORS = 3 };
typedef struct {
    const char *left, *right;
    char *out;
    Py_ssize_t left_strides[2], right_strides[2], pitch; /* bytes of a row of the whole result */
    Py_ssize_t m, n, p;
    Py_ssize_t below;
    char *memory; /* panels of `right`, whole vectors, then of `left` */
    int fresh;    /* whether sums replace elements of the result */
    Py_ssize_t terms; /* of a partial sum: partial sums are added in order to an element of the result, or the first one replaces the element */
    int negates;  /* parts of `left` to negate. Real and imaginary: subtract the product. Imaginary: conjugate `left`. Real: subtract and conjugate. */
} s0_panels;
enum { S0_NEGATES_REAL = 1, S0_NEGATES_IMAGINARY = 2 };

/* Of sorting.h: the steps of the sort of a lane of n elements, `stride` bytes apart:
 *   encode    each part, [first, last), as words in the scratch memory; the statistics of the parts (`seen`) are combined,
 *   plan      chooses the words to sort,
 *   order     sorts the words of each part,
 *   merge     merges the parts [first, middle) and [middle, last) of `words` to [start, end) of `other`; then the two buffers
 *             are exchanged,
 *   decode    the elements, or indices, of each part,
 *   finish    restores what words do not contain.
 * `lane` runs all steps with one part; `lanes` sorts several lanes. `select` writes the indices of the elements that a sort would
 * put at the positions from `first` to `last`, in that order. For a `whole` lane it also writes the indices of all other elements,
 * before and behind these, in their original order. Without `indices` it writes the elements of the whole lane instead; they are
 * contiguous and have 4 or 8 bytes. It needs space for 3 n + 2 (last - first + 1) words and does not support booleans. Each step
 * returns whether it was completed: a signal ends it. The scratch memory has 2 n words, 3 n for indices, and S0_SLACK more, which
 * may be read but are not used; for up to S0_FEW elements it is on the stack. */
enum { S0_UNSIGNED, S0_SIGNED, S0_FLOATING, S0_BOOLEAN };
/* Lanes of at most S0_ASIDE bytes are sorted side by side, at most S0_BESIDE together. */
enum { S0_FEW = 128, S0_SLACK = 128, S0_ASIDE = 4096, S0_BESIDE = 16 };

typedef struct {
    int64_t least, most;
    uint64_t ones, zeroes; /* bits that are 1, or are 0, in some word */
    Py_ssize_t nans, zeros, negative_zeros;
} s0_seen;

typedef struct {
    const char *from;
    char *out;
    Py_ssize_t n, stride;
    uint64_t *scratch;
    int64_t mask; /* -1 for a descending sort, otherwise 0 */
    int width, kind, indices;
    int nans_last; /* whether NaN is last in a descending sort, too */
    /* Of `select`: */
    Py_ssize_t first, last;
    int whole;
    /* Written by `plan`: */
    s0_seen seen;
    void *words, *other;
    int64_t least;
    int wide;       /* whether words have 64 bits */
    int packed;     /* whether words are encoded elements minus `least`, without `low` bits that all have in common. */
    int low, bits;  /* The number of these bits, and the number of bits in a word, */
    int index_bits; /* which are followed by the bits of an index. */
    int rest;       /* bits of the elements that do not fit the words */
} s0_lane;

/* Equidistant lanes, of which the first is `lane`; their results need not be contiguous. The scratch memory has 16 n words and
 * 2 S0_SLACK more. */
typedef struct {
    s0_lane lane;
    Py_ssize_t next, out_stride, out_next; /* strides in bytes: between lanes; between the elements of a result; between results */
} s0_adjacent;

typedef struct {
    void (*lane)(s0_lane *lane);
    void (*lanes)(const s0_adjacent *all, Py_ssize_t first, Py_ssize_t last);
    void (*select)(const s0_lane *lane);
    int (*encode)(const s0_lane *lane, Py_ssize_t first, Py_ssize_t last, s0_seen *seen);
    void (*plan)(s0_lane *lane, const s0_seen *seen);
    int (*order)(const s0_lane *lane, Py_ssize_t first, Py_ssize_t last);
    int (*merge)(const s0_lane *lane, Py_ssize_t first, Py_ssize_t middle, Py_ssize_t last, Py_ssize_t start, Py_ssize_t end);
    int (*decode)(const s0_lane *lane, Py_ssize_t first, Py_ssize_t last);
    int (*finish)(const s0_lane *lane);
} s0_sorter;

/* A stack of square matrices and right-hand sides, in any layout, and results in C order: `systems.h`. Strides are in bytes,
 * between matrices, rows and columns. */
enum { S0_FEW_ROWS = 12, S0_MOST_COLUMNS = 128 };
typedef struct {
    const char *a, *b;      /* if `b` is NULL, it is the identity */
    Py_ssize_t a_strides[3], b_strides[3];
    Py_ssize_t n, columns;  /* rows of a matrix, at most S0_FEW_ROWS; columns of `b` */
    double *x;              /* solutions, or triangular factors with the strides of `b`; if NULL: */
    double *factor, *exponent;  /* determinants, as factor * 2**exponent */
} s0_systems;

/* A stack of matrices with many more rows than columns, and the computed factors: `tall_matrices.h`. Squares have `pitch` columns, a multiple
 * of 8. The rows of a matrix are divided into sections, which are factored independently, block by block. */
typedef struct {
    const char *a;
    Py_ssize_t strides[3];      /* in bytes, between matrices, rows and columns */
    Py_ssize_t itemsize;        /* of `a` and `out`: float32 or float64 */
    Py_ssize_t rows, columns, pitch;
    Py_ssize_t sections, height, block; /* sections of a matrix; rows of a section, except the last one, and of a block */
    double *triangles;          /* a square for each section of each matrix */
    double *records;            /* (columns + 2) x pitch for each block and each section; for triangles only, this and the following are NULL */
    double *reflectors;         /* of the shape of the stack, in C order; may be `out` itself */
    double *coefficients;       /* a square for each section */
    char *out;                  /* in C order */
} s0_tall;

/* A stack of matrices, and the values and vectors of their decompositions, in C order: `hermitian.h`, `complex_singular.h`, `complex_schur.h`. */
typedef struct {
    const char *a;
    Py_ssize_t strides[3];      /* in bytes, between matrices, rows and columns */
    Py_ssize_t rows, columns;
    int full;                   /* whether all singular vectors are computed */
    int is_complex;             /* whether `a` and the vectors are complex numbers */
    double *values;
    double *left, *right;       /* eigenvectors in columns; U and Vh. NULL if only values are wanted. Of `general`, all are complex numbers */
    double *memory;             /* of s0_spectra_size elements, for one matrix at a time; if NULL, it is allocated */
} s0_spectra;

/* Decompose the matrices of a range: 1, or 0 if one fails, or -1 if memory is refused. */
typedef int (*s0_decomposition)(const s0_spectra *all, Py_ssize_t first, Py_ssize_t last);

/* The distance between rows of n elements: an odd number of packs of 8, because rows at multiples of 4096 bytes would compete for the same
 * places of a cache. */
static inline Py_ssize_t s0_pitch(Py_ssize_t n) { return ((n + 7) / 8 | 1) * 8; }

enum { S0_KEPT_ROTATIONS = 16 }; /* for each row */
static inline Py_ssize_t s0_spectra_size(const s0_spectra *all, int is_symmetric)
{
    const Py_ssize_t m = all->rows < all->columns ? all->columns : all->rows, n = all->rows + all->columns - m;
    const Py_ssize_t columns = all->left && all->full ? m : n, pairs = 2 * S0_KEPT_ROTATIONS * n, parts = all->is_complex ? 2 : 1;
    if (is_symmetric)
        return parts * (2 * n + 6) * s0_pitch(n) + pairs + n;
    return parts * ((m + 2 * n + 5) * s0_pitch(n) + (n + columns) * s0_pitch(m)) + 2 * pairs + m;
}

/* Passes of Fourier transforms of one length, and transforms of lanes: `fourier.h`. The table of an odd radix begins with a matrix of
 * cosines and sines, with radix / 2 rows and radix / 2 columns. */
enum { S0_MOST_PASSES = 24, S0_UNROLLED_RADIX = 11, S0_MOST_RADIX = 127 };
typedef struct {
    Py_ssize_t length;
    int passes;
    unsigned char radix[S0_MOST_PASSES];
    const double *twiddles; /* cosines and sines, for each pass and, except in the last pass, each of its outputs */
} s0_passes;
typedef struct {
    s0_passes columns, rows;    /* of the matrix of a lane; if rows have length 1, the lane itself is transformed */
    const double *turns;        /* for each unit of columns and each row: cosines, then sines, for all columns of the unit */
    const double *halves;       /* cosines and sines for half a spectrum */
    Py_ssize_t half;            /* half the number of real numbers */
    int inverse, conjugate;     /* whether the complex transform is inverse; whether the spectrum of real numbers is conjugated */
    double factor;              /* factor of the results */
    Py_ssize_t numbers;         /* numbers in a lane: fewer than in the matrix if the transform is a convolution */
    const double *chirp;        /* for a convolution: factors of the numbers and of the results */
    const double *spectrum;     /* for a convolution: factors of the transform of the matrix, in units of rows */
} s0_fourier;
/* Complex numbers to complex numbers; real numbers to half a spectrum; to the whole spectrum; half a spectrum to real numbers. */
typedef enum { S0_OF_COMPLEX, S0_HALF_OF_REAL, S0_ALL_OF_REAL, S0_TO_REAL } s0_fourier_kind;

/* Operands of the loops of machine_limits.h, which start at multiples of 64 bytes. */
typedef struct {
    const char *x, *y;
    char *out;
} s0_limit;

/* Note [Layouts] of generators/common.py, one of which is S0_SECONDS; elements of 1, 2, 4, 8 and 16 bytes. */
enum { S0_LAYOUTS = 6, S0_REDUCE_LAYOUTS = 5, S0_WIDTHS = 5, S0_SECONDS = 5, S0_LIMITS = 6 };

/* Order non-temporal stores before later stores, as seen by all threads. */
static inline void s0_stream_end(void)
{
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

typedef struct {
    s0_loop ops[S0_OPS][S0_DTYPES][S0_LAYOUTS];
    s0_loop casts[S0_DTYPES][S0_DTYPES][S0_LAYOUTS];
    s0_loop where[S0_WIDTHS][S0_LAYOUTS];
    /* Loops of two steps; NULL if there is no such loop. */
    s0_loop pairs[S0_PAIRS][S0_DTYPES][S0_LAYOUTS];
    s0_loop reductions[S0_REDUCTIONS][S0_DTYPES][S0_REDUCE_LAYOUTS];
    s0_loop scans[S0_SCANS][S0_DTYPES];
    s0_loop arg_reductions[S0_ARG_REDUCTIONS][S0_DTYPES];
    s0_loop scan_rows[S0_SCANS][S0_DTYPES];
    s0_loop arg_rows[S0_ARG_REDUCTIONS][S0_DTYPES];
    s0_transpose transpose[S0_WIDTHS];
    s0_copy stream;
    /* Loops with non-temporal stores, by layout; NULL if there is no such loop. For casts only the contiguous one. */
    s0_loop streams[S0_OPS][S0_DTYPES][S0_LAYOUTS];
    s0_loop stream_pairs[S0_PAIRS][S0_DTYPES][S0_LAYOUTS];
    s0_loop stream_casts[S0_DTYPES][S0_DTYPES];
    s0_product products[S0_DTYPES];
    int (*solve_systems)(const s0_systems *all, Py_ssize_t first, Py_ssize_t last);
    int (*factor_definite)(const s0_systems *all, Py_ssize_t first, Py_ssize_t last);
    /* Of tall_matrices.h, in this order; the ranges count sections, matrices, matrices, and sections. */
    int (*tall_factor)(const s0_tall *all, Py_ssize_t first, Py_ssize_t last, double *scratch);
    int (*tall_join)(const s0_tall *all, Py_ssize_t first, Py_ssize_t last);
    int (*tall_spread)(const s0_tall *all, Py_ssize_t first, Py_ssize_t last, const double *by, double *scratch);
    void (*tall_apply)(const s0_tall *all, Py_ssize_t first, Py_ssize_t last, int unrolled, double *scratch);
    /* Of fourier.h: `count` lanes; ranges of units of columns, of units of rows, and of elements. */
    void (*fourier_short)(const s0_fourier *all, s0_fourier_kind kind, const char *in, Py_ssize_t in_step, char *out,
                          Py_ssize_t out_step, int single, Py_ssize_t count, double *scratch);
    void (*fourier_columns)(const s0_fourier *all, const char *in, int single, double *middle, Py_ssize_t first, Py_ssize_t last,
                            double *scratch);
    void (*fourier_rows)(const s0_fourier *all, const double *middle, char *out, int single, double factor, Py_ssize_t first,
                         Py_ssize_t last, double *scratch);
    void (*fourier_untangle)(const s0_fourier *all, s0_fourier_kind kind, const double *in, char *out, int single, Py_ssize_t first,
                             Py_ssize_t last);
    void (*fourier_tangle)(const s0_fourier *all, const char *in, int single, double *out, Py_ssize_t first, Py_ssize_t last);
    void (*fourier_copy)(char *const *to, Py_ssize_t out, char *const *from, Py_ssize_t in, Py_ssize_t lanes, Py_ssize_t count,
                         Py_ssize_t size);
    const s0_sorter *sorter;
    int vector; /* bytes of the vectors that these loops use */
    /* Set by the core: whether a long loop may return early because its call was interrupted. */
    int (*interrupted)(void);
    /* Of real_products.h: one product as it lies; units of packing, and of the result, from a first one to a last one. */
    s0_direct_product direct_products[4]; /* of float32, float64, complex64, complex128; so are the next two */
    void (*pack_panels[4])(const s0_panels *all, Py_ssize_t first, Py_ssize_t last);
    void (*multiply_panels[4])(const s0_panels *all, Py_ssize_t first, Py_ssize_t last);
    /* Of machine_limits.h, in the order of LIMITS in plan/machine_limits.pxi; ranges of bytes. */
    void (*limits[S0_LIMITS])(const s0_limit *all, Py_ssize_t first, Py_ssize_t last);
    s0_decomposition symmetric, singular, general;
    /* Of linalg/block_steps.h: for real elements, then for complex elements. */
    const struct s0_block_steps *block_steps;
    /* Of fourier.h, the last steps of a convolution: ranges of units of rows, and of units of columns. */
    void (*fourier_convolve)(const s0_fourier *all, double *middle, Py_ssize_t first, Py_ssize_t last, double *scratch);
    void (*fourier_back)(const s0_fourier *all, const double *middle, char *out, int single, double factor, Py_ssize_t first,
                         Py_ssize_t last, double *scratch);
} s0_kernels;

/* The table to which the loops of a module are written; loops that call other loops read it. */
extern __attribute__((visibility("hidden"))) s0_kernels *s0_table;

#endif
