/* The table of loops that each build of the kernels fills and through which the core calls them.
 *
 * A loop runs over n elements m times. args[k] is the first element of operand k (the result is the
 * last one), inner[k] its stride in bytes along the n elements and outer[k] along the m runs. */
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

/* Of tiles.h: a transpose of a block of elements of one width; a copy of bytes by non-temporal stores. */
typedef void (*s0_transpose)(const char *source, Py_ssize_t row, char *target, Py_ssize_t line, Py_ssize_t m,
                             Py_ssize_t n);
typedef void (*s0_copy)(char *target, const char *source, Py_ssize_t size);

/* Of products.h: `count` products of matrices with m rows and n columns, and n and p; strides in bytes between
 * matrices, rows and columns. Returns 0, or -1 where there is no memory. */
typedef int (*s0_product)(const char *a, const Py_ssize_t *sa, const char *b, const Py_ssize_t *sb, char *out,
                          Py_ssize_t count, Py_ssize_t m, Py_ssize_t n, Py_ssize_t p);

/* Of sorting.h. The steps of the sort of a lane of n elements, `stride` bytes apart:
 *   encode    each part, [first, last), as words into the scratch memory; what is seen of each part is combined,
 *   plan      chooses the words that are sorted,
 *   order     sorts the words of each part,
 *   merge     merges the parts [first, middle) and [middle, last) of `words` to [start, end) of `other`; these two are then
 *             exchanged,
 *   decode    the elements, or indices, of each part,
 *   finish    what the words do not contain.
 * `lane` does all of them in one part, `lanes` sorts several lanes. `select` writes the indices of the elements that a sort would put at the positions from
 * `first` to `last`, in that order; where it is to write the `whole` lane, also those of the others, before and behind them in
 * their order. Without `indices` it writes the elements themselves of the whole lane, which are contiguous and have 4 or 8 bytes.
 * It needs space for 3 n + 2 (last - first + 1) words; booleans it does not take. Each step returns whether it was completed: a signal ends it. The scratch memory has
 * 2 n words, 3 n for indices, and S0_SLACK more, which are read and not used; of S0_FEW elements it is on the stack. */
enum { S0_UNSIGNED, S0_SIGNED, S0_FLOATING, S0_BOOLEAN };
/* Lanes of at most S0_ASIDE bytes are sorted side by side, at most S0_BESIDE at once. */
enum { S0_FEW = 128, S0_SLACK = 128, S0_ASIDE = 4096, S0_BESIDE = 16 };

typedef struct {
    int64_t least, most;
    uint64_t ones, zeroes; /* bits that are 1, or 0, in some word */
    Py_ssize_t nans, zeros, negative_zeros;
} s0_seen;

typedef struct {
    const char *from;
    char *out;
    Py_ssize_t n, stride;
    uint64_t *scratch;
    int64_t mask; /* -1 for a descending sort, else 0 */
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
    int packed;     /* whether they are the encoded elements less `least`, without the `low` bits that all have in common, */
    int low, bits;  /* and have so many bits, */
    int index_bits; /* followed by these, of an index. */
    int rest;       /* bits that are missing */
} s0_lane;

/* Lanes at equal distances, whose first one is `lane`; their results need not be contiguous. The scratch memory has 16 n words
 * and 2 S0_SLACK more. */
typedef struct {
    s0_lane lane;
    Py_ssize_t next, out_stride, out_next; /* bytes from lane to lane, and of the results between elements and between lanes */
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
 * from matrix to matrix, from row to row and from column to column. */
enum { S0_FEW_ROWS = 32, S0_MOST_COLUMNS = 128 };
typedef struct {
    const char *a, *b;      /* NULL for `b` stands for the identity */
    Py_ssize_t a_strides[3], b_strides[3];
    Py_ssize_t n, columns;  /* rows of a matrix, at most S0_FEW_ROWS; columns of `b` */
    double *x;              /* solutions; triangular factors, with the strides of `b`; or, where that is NULL: */
    double *factor, *exponent;  /* a determinant is the first one times 2 to the power of the second one */
} s0_systems;

/* A stack of matrices with many more rows than columns, and what is computed of them: `tall_matrices.h`. Squares have `pitch` columns,
 * a multiple of 8. Of the rows of a matrix, sections are factored by themselves, block after block. */
typedef struct {
    const char *a;
    Py_ssize_t strides[3];      /* in bytes, from matrix to matrix, from row to row and from column to column */
    Py_ssize_t itemsize;        /* of `a` and `out`: float32 or float64 */
    Py_ssize_t rows, columns, pitch;
    Py_ssize_t sections, height, block; /* of a matrix; rows of a section but the last one, and of a block */
    double *triangles;          /* a square for each section of each matrix */
    double *records;            /* (columns + 2) x pitch for each block, and for each section; NULL for triangles alone, like what follows */
    double *reflectors;         /* of the shape of the stack, in C order; may be `out` itself */
    double *coefficients;       /* a square for each section */
    char *out;                  /* in C order */
} s0_tall;

/* Passes of Fourier transforms of a length, and the transforms of lanes: `fourier.h`. Of odd radices the table begins with the
 * cosines and sines of the multiples of an angle. */
enum { S0_MOST_PASSES = 24, S0_MOST_RADIX = 11 };
typedef struct {
    Py_ssize_t length;
    int passes;
    unsigned char radix[S0_MOST_PASSES];
    const double *twiddles; /* of each pass and, but for the last one, its outputs: cosines and sines */
} s0_passes;
typedef struct {
    s0_passes columns, rows;    /* of a matrix whose transform is that of its elements; a length 1 of rows: of lanes as they are */
    const double *turns;        /* of each unit of columns and row: cosines, and sines, of all columns of the unit */
    const double *halves;       /* of half a spectrum: cosines and sines */
    Py_ssize_t half;            /* of real numbers */
    int inverse, conjugate;     /* of complex numbers, and whether the spectrum of real ones is that of the inverse */
    double factor;              /* of the results */
} s0_fourier;
/* Complex numbers of complex ones, half of the spectrum of real numbers, the whole spectrum, and real numbers of half a spectrum. */
typedef enum { S0_OF_COMPLEX, S0_HALF_OF_REAL, S0_ALL_OF_REAL, S0_TO_REAL } s0_fourier_kind;

/* Note [Layouts] of generators/common.py, of which S0_SECONDS is one; elements of 1, 2, 4, 8 and 16 bytes. */
enum { S0_LAYOUTS = 6, S0_REDUCE_LAYOUTS = 5, S0_WIDTHS = 5, S0_SECONDS = 5 };

/* Order non-temporal stores before later stores, for other threads too. */
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
    /* Two steps in one loop; NULL where there is none. */
    s0_loop pairs[S0_PAIRS][S0_DTYPES][S0_LAYOUTS];
    s0_loop reductions[S0_REDUCTIONS][S0_DTYPES][S0_REDUCE_LAYOUTS];
    s0_loop scans[S0_SCANS][S0_DTYPES];
    s0_loop arg_reductions[S0_ARG_REDUCTIONS][S0_DTYPES];
    s0_loop scan_rows[S0_SCANS][S0_DTYPES];
    s0_loop arg_rows[S0_ARG_REDUCTIONS][S0_DTYPES];
    s0_transpose transpose[S0_WIDTHS];
    s0_copy stream;
    /* Loops with non-temporal stores, by layout; NULL where there are none. Of casts the contiguous one. */
    s0_loop streams[S0_OPS][S0_DTYPES][S0_LAYOUTS];
    s0_loop stream_pairs[S0_PAIRS][S0_DTYPES][S0_LAYOUTS];
    s0_loop stream_casts[S0_DTYPES][S0_DTYPES];
    s0_product products[S0_DTYPES];
    int (*solve_systems)(const s0_systems *all, Py_ssize_t first, Py_ssize_t last);
    int (*factor_definite)(const s0_systems *all, Py_ssize_t first, Py_ssize_t last);
    /* Of tall_matrices.h, in this order: sections, then matrices, matrices, and sections. */
    int (*tall_factor)(const s0_tall *all, Py_ssize_t first, Py_ssize_t last, double *scratch);
    int (*tall_join)(const s0_tall *all, Py_ssize_t first, Py_ssize_t last);
    int (*tall_spread)(const s0_tall *all, Py_ssize_t first, Py_ssize_t last, const double *by, double *scratch);
    void (*tall_apply)(const s0_tall *all, Py_ssize_t first, Py_ssize_t last, int unrolled, double *scratch);
    /* Of fourier.h: `count` lanes; units of columns and of rows, and elements, each from a first one to a last one. */
    void (*fourier_short)(const s0_fourier *all, s0_fourier_kind kind, const char *in, char *out, int single, Py_ssize_t count,
                          double *scratch);
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
    /* Set by the core: whether a long loop may return early, since its call was interrupted. */
    int (*interrupted)(void);
} s0_kernels;

/* The table that all loops of a module are put into, for those that call others. */
extern __attribute__((visibility("hidden"))) s0_kernels *s0_table;

#endif
