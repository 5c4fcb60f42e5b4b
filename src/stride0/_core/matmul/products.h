/* Matrix products for each instruction set: for dtypes without BLAS, and for sizes for which a BLAS call takes longer.
 *
 * An element of a matrix product is summed in the order of the inner axis, starting from -0.0, in 64 bits (integers: in a width
 * that wraps to the same result). An element of a matrix-vector product is summed in a fixed number of lanes. So neither the
 * instruction set nor the partition of the work changes a bit. */
#ifndef STRIDE0_PRODUCTS_H
#define STRIDE0_PRODUCTS_H

#include <stdlib.h>

#include "packs.h"

/* A loop over registers, unrolled. */
#define S0_UNROLLED _Pragma("GCC unroll 16")

enum {
    S0_SIDE = 256,     /* most elements of either matrix of a tiny product */
    S0_NARROW = 8,     /* its most columns */
    S0_SHALLOW = 32,   /* its inner elements are fewer than this */
    S0_DEEP = 128,     /* inner elements of a block */
    S0_ROOM = 4096,    /* elements of the first matrix in a block */
    S0_PANELS = 4,     /* columns of the second matrix in a block, in panels of two vectors */
};

/* Rows of a tile, two vectors wide, whose sums stay in registers. */
enum { S0_TALL = 4 };

/* Memory for the blocks of a large product, aligned to a vector; NULL if allocation fails. Only small blocks are in `few`, on the
 * stack, because threads may have small stacks. `memory` is the pointer to free. */
enum { S0_FEW_BYTES = 4096 };
static void *s0_block_memory(Py_ssize_t size, char *few, void **memory)
{
    *memory = NULL;
    if (size <= S0_FEW_BYTES)
        return few;
    *memory = malloc((size_t)size + S0_VECTOR);
    return *memory == NULL ? NULL : (void *)(((uintptr_t)*memory + S0_VECTOR - 1) & ~(uintptr_t)(S0_VECTOR - 1));
}

/* Matrices in C order. If sizes are compile-time constants, only the loop over the stack remains. */
#define S0_TINY(NAME, TYPE, SUM, START)                                                                                \
    S0_INLINE void s0_tiny_of_##NAME(const TYPE *a, Py_ssize_t next_a, const TYPE *b, Py_ssize_t next_b, TYPE *out,    \
                                     Py_ssize_t count, int m, int n, int p)                                            \
    {                                                                                                                  \
        SUM sums[S0_NARROW];                                                                                           \
        int i, j, k;                                                                                                   \
        for (; count > 0; count--, a += next_a, b += next_b, out += m * p)                                             \
            for (i = 0; i < m; i++) {                                                                                  \
                for (k = 0; k < p; k++)                                                                                \
                    sums[k] = START;                                                                                   \
                for (j = 0; j < n; j++) {                                                                              \
                    SUM x = a[i * n + j];                                                                              \
                    for (k = 0; k < p; k++)                                                                            \
                        sums[k] += x * (SUM)b[j * p + k];                                                              \
                }                                                                                                      \
                for (k = 0; k < p; k++)                                                                                \
                    out[i * p + k] = (TYPE)sums[k];                                                                    \
            }                                                                                                          \
    }                                                                                                                  \
    static void s0_tiny_##NAME(const TYPE *a, Py_ssize_t next_a, const TYPE *b, Py_ssize_t next_b, TYPE *out,          \
                               Py_ssize_t count, int m, int n, int p)                                                  \
    {                                                                                                                  \
        switch (m == n && n <= 4 ? 16 * n + p : p) {                                                                   \
            case 2 * 16 + 2: s0_tiny_of_##NAME(a, next_a, b, next_b, out, count, 2, 2, 2); break;                      \
            case 3 * 16 + 3: s0_tiny_of_##NAME(a, next_a, b, next_b, out, count, 3, 3, 3); break;                      \
            case 4 * 16 + 4: s0_tiny_of_##NAME(a, next_a, b, next_b, out, count, 4, 4, 4); break;                      \
            case 2 * 16 + 1: s0_tiny_of_##NAME(a, next_a, b, next_b, out, count, 2, 2, 1); break;                      \
            case 3 * 16 + 1: s0_tiny_of_##NAME(a, next_a, b, next_b, out, count, 3, 3, 1); break;                      \
            case 4 * 16 + 1: s0_tiny_of_##NAME(a, next_a, b, next_b, out, count, 4, 4, 1); break;                      \
            case 1: s0_tiny_of_##NAME(a, next_a, b, next_b, out, count, m, n, 1); break;                               \
            case 2: s0_tiny_of_##NAME(a, next_a, b, next_b, out, count, m, n, 2); break;                               \
            case 3: s0_tiny_of_##NAME(a, next_a, b, next_b, out, count, m, n, 3); break;                               \
            case 4: s0_tiny_of_##NAME(a, next_a, b, next_b, out, count, m, n, 4); break;                               \
            case 8: s0_tiny_of_##NAME(a, next_a, b, next_b, out, count, m, n, 8); break;                               \
            default: s0_tiny_of_##NAME(a, next_a, b, next_b, out, count, m, n, p);                                     \
        }                                                                                                              \
    }

/* Copy a block of a matrix with widened elements to contiguous memory, with `line` elements from row to row. */
#define S0_WIDEN_TILE(NAME, TYPE, WIDE)                                                                                \
    static void s0_widen_##NAME(const char *from, Py_ssize_t down, Py_ssize_t across, WIDE *to, Py_ssize_t line,       \
                                Py_ssize_t m, Py_ssize_t n)                                                            \
    {                                                                                                                  \
        const Py_ssize_t size = sizeof(TYPE);                                                                          \
        Py_ssize_t i, j;                                                                                               \
        if (across == size && down == n * size && line == n) {                                                         \
            n *= m;                                                                                                    \
            m = 1;                                                                                                     \
        }                                                                                                              \
        if (across == size) {                                                                                          \
            for (i = 0; i < m; i++)                                                                                    \
                for (j = 0; j < n; j++)                                                                                \
                    to[i * line + j] = (WIDE)((const TYPE *)(from + i * down))[j];                                     \
        } else if (down == size) {                                                                                     \
            for (j = 0; j < n; j++)                                                                                    \
                for (i = 0; i < m; i++)                                                                                \
                    to[i * line + j] = (WIDE)((const TYPE *)(from + j * across))[i];                                   \
        } else {                                                                                                       \
            for (i = 0; i < m; i++)                                                                                    \
                for (j = 0; j < n; j++)                                                                                \
                    to[i * line + j] = (WIDE)*(const TYPE *)(from + i * down + j * across);                            \
        }                                                                                                              \
    }

/* A tile of a large product. */
#define S0_TILE(NAME, TYPE, WIDE, START)                                                                               \
    enum { S0_LANES_##NAME = S0_VECTOR / sizeof(WIDE) };                                                               \
    typedef WIDE s0_v##NAME __attribute__((vector_size(S0_VECTOR)));                                                   \
    typedef WIDE s0_w##NAME __attribute__((vector_size(S0_VECTOR), aligned(sizeof(WIDE))));                            \
    typedef TYPE s0_t##NAME                                                                                            \
        __attribute__((vector_size(S0_VECTOR / sizeof(WIDE) * sizeof(TYPE)), aligned(sizeof(TYPE))));                  \
                                                                                                                       \
    /* `rows` rows times `vectors` vectors of columns, with `width` valid columns; added to `out` unless `fresh`. */   \
    S0_INLINE void s0_tile_##NAME(const WIDE *a, Py_ssize_t line, const WIDE *b, TYPE *out, Py_ssize_t p,              \
                                  Py_ssize_t width, Py_ssize_t n, int fresh, int rows, int vectors)                    \
    {                                                                                                                  \
        enum { LANES = S0_LANES_##NAME };                                                                              \
        s0_v##NAME sum[8][2], start , part[2];                                                                         \
        Py_ssize_t k, q;                                                                                               \
        int i, j, whole = width == vectors * LANES;                                                                    \
        for (i = 0; i < LANES; i++)                                                                                    \
            start[i] = START;                                                                                          \
        for (i = 0; i < rows; i++)                                                                                     \
            for (j = 0; j < vectors; j++)                                                                              \
                sum[i][j] = start;                                                                                     \
        if (!fresh)                                                                                                    \
            for (i = 0; i < rows; i++) {                                                                               \
                WIDE edge[2 * LANES] = {0};                                                                            \
                for (q = 0; q < width; q++)                                                                            \
                    edge[q] = (WIDE)out[i * p + q];                                                                    \
                for (j = 0; j < vectors; j++)                                                                          \
                    sum[i][j] = *(const s0_w##NAME *)(edge + j * LANES);                                               \
            }                                                                                                          \
        for (k = 0; k < n; k++) {                                                                                      \
            for (j = 0; j < vectors; j++)                                                                              \
                part[j] = *(const s0_w##NAME *)(b + (k * vectors + j) * LANES);                                        \
            for (i = 0; i < rows; i++)                                                                                 \
                for (j = 0; j < vectors; j++)                                                                          \
                    sum[i][j] += a[i * line + k] * part[j];                                                            \
        }                                                                                                              \
        for (i = 0; i < rows; i++) {                                                                                   \
            if (whole) {                                                                                               \
                for (j = 0; j < vectors; j++)                                                                          \
                    *(s0_t##NAME *)(out + i * p + j * LANES) = __builtin_convertvector(sum[i][j], s0_t##NAME);         \
            } else {                                                                                                   \
                WIDE edge[2 * LANES];                                                                                  \
                for (j = 0; j < vectors; j++)                                                                          \
                    *(s0_w##NAME *)(edge + j * LANES) = sum[i][j];                                                     \
                for (q = 0; q < width; q++)                                                                            \
                    out[i * p + q] = (TYPE)edge[q];                                                                    \
            }                                                                                                          \
        }                                                                                                              \
    }

/* Large products block by block: elements are widened, the second matrix is cut into panels, and tiles are multiplied. */
#define S0_TILES(NAME, TYPE, WIDE)                                                                                     \
    S0_INLINE void s0_panel_##NAME(const WIDE *a, Py_ssize_t line, const WIDE *b, TYPE *out, Py_ssize_t p,             \
                                   Py_ssize_t width, Py_ssize_t m, Py_ssize_t n, int fresh, int tall, int vectors)     \
    {                                                                                                                  \
        Py_ssize_t i = 0;                                                                                              \
        for (; i + tall <= m; i += tall)                                                                               \
            s0_tile_##NAME(a + i * line, line, b, out + i * p, p, width, n, fresh, tall, vectors);                     \
        for (; i < m; i++)                                                                                             \
            s0_tile_##NAME(a + i * line, line, b, out + i * p, p, width, n, fresh, 1, vectors);                        \
    }                                                                                                                  \
                                                                                                                       \
    static int s0_tiles_##NAME(const char *a, const Py_ssize_t *sa, const char *b, const Py_ssize_t *sb, TYPE *out,    \
                               Py_ssize_t m, Py_ssize_t n, Py_ssize_t p)                                               \
    {                                                                                                                  \
        enum { LANES = S0_LANES_##NAME, WIDTH = 2 * LANES };                                                           \
        const Py_ssize_t size = sizeof(TYPE);                                                                          \
        const int as_is = sizeof(TYPE) == sizeof(WIDE) && sa[2] == size && sa[1] % size == 0;                          \
        const Py_ssize_t most = n < S0_DEEP ? n : S0_DEEP, room = as_is ? 0 : m * most < S0_ROOM ? m * most : S0_ROOM; \
        const Py_ssize_t panels = p < WIDTH * S0_PANELS ? (p + WIDTH - 1) / WIDTH : S0_PANELS;                         \
        char few[S0_FEW_BYTES] __attribute__((aligned(S0_VECTOR)));                                                    \
        void *memory;                                                                                                  \
        WIDE *right = s0_block_memory((panels * WIDTH * most + room) * (Py_ssize_t)sizeof(WIDE), few, &memory);        \
        WIDE *left = right + panels * WIDTH * most;                                                                    \
        const WIDE *rows;                                                                                              \
        Py_ssize_t i, j, k, q, high, deep, broad, width, step, line;                                                   \
        if (right == NULL)                                                                                             \
            return -1;                                                                                                 \
        for (j = 0; j < p; j += WIDTH * S0_PANELS)                                                                     \
            for (k = 0; k < n; k += S0_DEEP) {                                                                         \
                broad = p - j < WIDTH * S0_PANELS ? p - j : WIDTH * S0_PANELS;                                         \
                deep = n - k < S0_DEEP ? n - k : S0_DEEP;                                                              \
                /* The last panel is padded with zeros; their products are discarded. */                  \
                for (q = 0; q < broad; q += WIDTH) {                                                                   \
                    width = broad - q < WIDTH ? broad - q : WIDTH;                                                     \
                    step = width > LANES ? WIDTH : LANES;                                                              \
                    if (width < step)                                                                                  \
                        memset(right + q * deep, 0, deep * step * sizeof(WIDE));                                       \
                    s0_widen_##NAME(b + k * sb[1] + (j + q) * sb[2], sb[1], sb[2], right + q * deep, step, deep,       \
                                    width);                                                                            \
                }                                                                                                      \
                for (i = 0; i < m; i += high) {                                                                        \
                    high = S0_ROOM / deep / 8 * 8 < m - i ? S0_ROOM / deep / 8 * 8 : m - i;                            \
                    rows = (const WIDE *)(a + i * sa[1] + k * sa[2]);                                                  \
                    line = sa[1] / size;                                                                               \
                    if (!as_is) {                                                                                      \
                        s0_widen_##NAME((const char *)rows, sa[1], sa[2], left, deep, high, deep);                     \
                        rows = left;                                                                                   \
                        line = deep;                                                                                   \
                    }                                                                                                  \
                    for (q = 0; q < broad; q += WIDTH) {                                                               \
                        TYPE *to = out + i * p + j + q;                                                                \
                        const WIDE *panel = right + q * deep;                                                          \
                        width = broad - q < WIDTH ? broad - q : WIDTH;                                                 \
                        if (width > LANES)                                                                             \
                            s0_panel_##NAME(rows, line, panel, to, p, width, high, deep, k == 0, S0_TALL, 2);          \
                        else                                                                                           \
                            s0_panel_##NAME(rows, line, panel, to, p, width, high, deep, k == 0, 2 * S0_TALL, 1);      \
                    }                                                                                                  \
                }                                                                                                      \
            }                                                                                                          \
        free(memory);                                                                                                  \
        return 0;                                                                                                      \
    }

/*
 * s0_product_<NAME>(a, sa, b, sb, out, count, m, n, p): `count` matrices of m rows and n columns times matrices of n rows and p columns;
 * returns 0, or -1 if there is no memory.
 * Strides in bytes are between matrices, rows and columns; `out` is in C order. Tiny products are summed in SUM, others in WIDE. Sums of
 * more than S0_DEEP inner elements are stored in `out` in between, for dtypes that lose nothing by it.
 */
#define S0_PRODUCT(NAME, TYPE, SUM, WIDE, START, LARGE)                                                                \
    S0_TINY(NAME, TYPE, SUM, START)                                                                                    \
    S0_WIDEN_TILE(NAME, TYPE, WIDE)                                                                                         \
    S0_TILES(NAME, TYPE, WIDE)                                                                                         \
                                                                                                                       \
    static void s0_gather_##NAME(const char *from, Py_ssize_t down, Py_ssize_t across, TYPE *to, int m, int n)         \
    {                                                                                                                  \
        int i, j;                                                                                                      \
        for (i = 0; i < m; i++)                                                                                        \
            for (j = 0; j < n; j++)                                                                                    \
                to[i * n + j] = *(const TYPE *)(from + i * down + j * across);                                         \
    }                                                                                                                  \
                                                                                                                       \
    static int s0_product_##NAME(const char *a, const Py_ssize_t *sa, const char *b, const Py_ssize_t *sb, char *out,  \
                                 Py_ssize_t count, Py_ssize_t m, Py_ssize_t n, Py_ssize_t p)                           \
    {                                                                                                                  \
        const Py_ssize_t size = sizeof(TYPE);                                                                          \
        int in_rows_a = sa[2] == size && (sa[1] == n * size || m == 1);                                                \
        int in_rows_b = (sb[2] == size || p == 1) && sb[1] == p * size;                                                \
        Py_ssize_t k;                                                                                                  \
        if (p > S0_NARROW || n >= S0_SHALLOW || m > S0_SIDE || m * n > S0_SIDE) {                                      \
            for (k = 0; k < count; k++)                                                                                \
                if (LARGE(a + k * sa[0], sa, b + k * sb[0], sb, (TYPE *)out + k * m * p, m, n, p))                     \
                    return -1;                                                                                         \
        } else if (in_rows_a && in_rows_b) {                                                                           \
            s0_tiny_##NAME((const TYPE *)a, sa[0] / size, (const TYPE *)b, sb[0] / size, (TYPE *)out, count, (int)m,   \
                           (int)n, (int)p);                                                                            \
        } else {                                                                                                       \
            TYPE left[S0_SIDE], right[S0_SHALLOW * S0_NARROW];                                                         \
            const Py_ssize_t room = S0_SIDE / (m * n), other = S0_SHALLOW * S0_NARROW / (n * p);                       \
            const Py_ssize_t most = room < other ? room : other;                                                       \
            Py_ssize_t several, q;                                                                                     \
            for (k = 0; k < count; k += several) {                                                                     \
                several = count - k < most ? count - k : most;                                                         \
                for (q = 0; q < several; q++) {                                                                        \
                    s0_gather_##NAME(a + (k + q) * sa[0], sa[1], sa[2], left + q * m * n, (int)m, (int)n);             \
                    s0_gather_##NAME(b + (k + q) * sb[0], sb[1], sb[2], right + q * n * p, (int)n, (int)p);            \
                }                                                                                                      \
                s0_tiny_##NAME(left, m * n, right, n * p, (TYPE *)out + k * m * p, several, (int)m, (int)n, (int)p);   \
            }                                                                                                          \
        }                                                                                                              \
        return 0;                                                                                                      \
    }

S0_TILE(u8, uint8_t, uint16_t, 0)
S0_PRODUCT(u8, uint8_t, uint32_t, uint16_t, 0, s0_tiles_u8)
S0_TILE(u16, uint16_t, uint16_t, 0)
S0_PRODUCT(u16, uint16_t, uint32_t, uint16_t, 0, s0_tiles_u16)
S0_TILE(u32, uint32_t, uint32_t, 0)
S0_PRODUCT(u32, uint32_t, uint32_t, uint32_t, 0, s0_tiles_u32)

#include "integer_products.h"
S0_PRODUCT(u64, uint64_t, uint64_t, uint64_t, 0, s0_large_u64)

S0_TILE(f32, float, double, -0.0)
S0_PRODUCT(f32, float, double, double, -0.0, s0_tiles_f32)
S0_TILE(f64, double, double, -0.0)
S0_PRODUCT(f64, double, double, double, -0.0, s0_tiles_f64)

/*
 * A floating-point matrix times a vector: ACCUMULATORS sums over blocks of BLOCK elements, in the dtype itself. These are folded
 * pairwise, and the blocks are added in double, in order. The remainder of a row is padded with zeros and the vector with -0.0:
 * their product is -0.0, which changes no sum. Because there are few accumulators, registers also hold the sums of S0_TOGETHER
 * rows, which read the vector once; their totals are folded in one vector.
 */
enum { S0_TOGETHER = 4 };
/* For a matrix with contiguous columns: sums of up to S0_WIDE columns for up to S0_HIGH rows, which stay in the cache. */
enum { S0_HIGH = 1024, S0_WIDE = 64, S0_SEVERAL = 8 };
#define S0_LAST_4(x) s0_sum_halves_f32_8(s0_sum_halves_f32_16(x)).of[0]
#define S0_LAST_2(x) s0_sum_halves_f64_4(s0_sum_halves_f64_8(x)).of[0]
#define S0_EACH_TOTAL_f32(sum, to)                                                                                     \
    {                                                                                                                  \
        const f32_v4 a = S0_LAST_4(sum[0]), b = S0_LAST_4(sum[1]), c = S0_LAST_4(sum[2]), d = S0_LAST_4(sum[3]);       \
        const f32_v4 x = __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);        \
        const f32_v4 y = __builtin_shufflevector(c, d, 0, 1, 4, 5) + __builtin_shufflevector(c, d, 2, 3, 6, 7);        \
        const f32_v4 z = __builtin_shufflevector(x, y, 0, 2, 4, 6) + __builtin_shufflevector(x, y, 1, 3, 5, 7);        \
        memcpy(to, &z, sizeof(z));                                                                                     \
    }
#define S0_TWO_TOTALS(a, b) (__builtin_shufflevector(a, b, 0, 2) + __builtin_shufflevector(a, b, 1, 3))
#define S0_EACH_TOTAL_f64(sum, to)                                                                                     \
    {                                                                                                                  \
        const f64_v2 a = S0_LAST_2(sum[0]), b = S0_LAST_2(sum[1]), c = S0_LAST_2(sum[2]), d = S0_LAST_2(sum[3]);       \
        const f64_v2 z[2] = {S0_TWO_TOTALS(a, b), S0_TWO_TOTALS(c, d)};                                                \
        memcpy(to, z, sizeof(z));                                                                                      \
    }
#define S0_BY_VECTOR(NAME, TYPE, ACCUMULATORS, BLOCK)                                                           \
    typedef TYPE s0_r##NAME __attribute__((vector_size(S0_VECTOR)));                                                   \
    typedef TYPE s0_q##NAME __attribute__((vector_size(S0_VECTOR), aligned(sizeof(TYPE))));                            \
    S0_INLINE s0_r##NAME s0_first_##NAME(const TYPE *p, Py_ssize_t n)                                                  \
    {                                                                                                                  \
        return n >= (Py_ssize_t)(S0_VECTOR / sizeof(TYPE)) ? *(const s0_q##NAME *)p : (s0_r##NAME)S0_FIRST_##NAME(p, n);    \
    }                                                                                                                  \
    S0_INLINE void s0_rows_##NAME(const char *a, Py_ssize_t down, const TYPE *b, const TYPE *last, TYPE *out,          \
                                  Py_ssize_t n, int rows)                                                              \
    {                                                                                                                  \
        enum { WIDTH = S0_VECTOR / sizeof(TYPE), COUNT = ACCUMULATORS / WIDTH };                                       \
        double total[S0_TOGETHER];                                                                                     \
        TYPE of_block[S0_TOGETHER];                                                                                    \
        NAME##_##ACCUMULATORS sum[S0_TOGETHER];                                                                        \
        s0_r##NAME none, part;                                                                                         \
        Py_ssize_t k, stop, whole = n / ACCUMULATORS * ACCUMULATORS;                                                   \
        int i, j;                                                                                                      \
        for (j = 0; j < WIDTH; j++)                                                                                    \
            none[j] = -0.0;                                                                                            \
        S0_UNROLLED                                                                                                    \
        for (i = 0; i < rows; i++)                                                                                     \
            total[i] = -0.0;                                                                                           \
        for (k = 0; k < n;) {                                                                                          \
            stop = whole - k > BLOCK ? k + BLOCK : whole;                                                              \
            S0_UNROLLED                                                                                                \
            for (i = 0; i < rows; i++)                                                                                 \
                S0_UNROLLED                                                                                            \
                for (j = 0; j < COUNT; j++)                                                                            \
                    sum[i].of[j] = none;                                                                               \
            for (; k < stop; k += ACCUMULATORS)                                                                        \
                S0_UNROLLED                                                                                            \
                for (j = 0; j < COUNT; j++) {                                                                          \
                    part = *(const s0_q##NAME *)(b + k + j * WIDTH);                                                   \
                    S0_UNROLLED                                                                                        \
                    for (i = 0; i < rows; i++)                                                                         \
                        sum[i].of[j] += *(const s0_q##NAME *)((const TYPE *)(a + i * down) + k + j * WIDTH) * part;    \
                }                                                                                                      \
            if (k == whole) {                                                                                          \
                S0_UNROLLED                                                                                            \
                for (j = 0; j < COUNT && k < n; j++, k += WIDTH) {                                                     \
                    part = *(const s0_q##NAME *)(last + j * WIDTH);                                                    \
                    S0_UNROLLED                                                                                        \
                    for (i = 0; i < rows; i++)                                                                         \
                        sum[i].of[j] += s0_first_##NAME((const TYPE *)(a + i * down) + k, n - k) * part;               \
                }                                                                                                      \
                k = n;                                                                                                 \
            }                                                                                                          \
            if (rows == S0_TOGETHER)                                                                                   \
                S0_EACH_TOTAL_##NAME(sum, of_block)                                                                    \
            else                                                                                                       \
                of_block[0] = S0_TOTAL_##ACCUMULATORS(NAME, sum[0]);                                                   \
            S0_UNROLLED                                                                                                \
            for (i = 0; i < rows; i++)                                                                                 \
                total[i] += of_block[i];                                                                               \
        }                                                                                                              \
        S0_UNROLLED                                                                                                    \
        for (i = 0; i < rows; i++)                                                                                     \
            out[i] = (TYPE)total[i];                                                                                   \
    }                                                                                                                  \
    static void s0_by_rows_##NAME(const char *a, Py_ssize_t down, const TYPE *b, TYPE *out, Py_ssize_t m,            \
                                    Py_ssize_t n)                                                                      \
    {                                                                                                                  \
        TYPE last[ACCUMULATORS];                                                                                       \
        Py_ssize_t i, remainder = n % ACCUMULATORS;                                                                    \
        for (i = remainder; i < ACCUMULATORS; i++)                                                                     \
            last[i] = -0.0;                                                                                            \
        memcpy(last, b + n - remainder, remainder * sizeof(TYPE));                                                     \
        for (i = 0; i + S0_TOGETHER <= m; i += S0_TOGETHER)                                                            \
            s0_rows_##NAME(a + i * down, down, b, last, out + i, n, S0_TOGETHER);                                      \
        for (; i < m; i++)                                                                                             \
            s0_rows_##NAME(a + i * down, down, b, last, out + i, n, 1);                                                \
    }                                                                                                                  \
    static TYPE s0_zeros_##NAME[S0_HIGH];                                                                              \
    S0_INLINE s0_r##NAME s0_of_columns_##NAME(const TYPE *const *c, const s0_r##NAME *x, Py_ssize_t k, Py_ssize_t n)   \
    {                                                                                                                  \
        s0_r##NAME sum[S0_SEVERAL];                                                                                    \
        S0_UNROLLED                                                                                                    \
        for (int q = 0; q < S0_SEVERAL; q += 2)                                                                        \
            sum[q] = s0_first_##NAME(c[q] + k, n) * x[q] + s0_first_##NAME(c[q + 1] + k, n) * x[q + 1];                \
        return (sum[0] + sum[2]) + (sum[4] + sum[6]);                                                                  \
    }                                                                                                                  \
    static void s0_by_columns_##NAME(const char *a, Py_ssize_t across, const TYPE *b, TYPE *out, Py_ssize_t m,         \
                                     Py_ssize_t n)                                                                     \
    {                                                                                                                  \
        enum { WIDTH = S0_VECTOR / sizeof(TYPE) };                                                                     \
        TYPE part[S0_HIGH] __attribute__((aligned(64)));                                                               \
        double total[S0_HIGH];                                                                                         \
        Py_ssize_t i, j, k, rows, stop;                                                                                \
        for (i = 0; i < m; i += S0_HIGH) {                                                                             \
            rows = m - i < S0_HIGH ? m - i : S0_HIGH;                                                                  \
            for (j = 0; j < n; j = stop) {                                                                             \
                stop = n - j < S0_WIDE ? n : j + S0_WIDE;                                                              \
                for (int fresh = 1; j < stop; j += S0_SEVERAL, fresh = 0) {                                            \
                    const TYPE *c[S0_SEVERAL];                                                                         \
                    s0_r##NAME x[S0_SEVERAL];                                                                          \
                    S0_UNROLLED                                                                                        \
                    for (int q = 0; q < S0_SEVERAL; q++) {                                                             \
                        /* Missing columns are zeros times -0.0: the products -0.0 change no sum. */                   \
                        c[q] = j + q < stop ? (const TYPE *)(a + (j + q) * across) + i : s0_zeros_##NAME;              \
                        x[q] = (j + q < stop ? b[j + q] : (TYPE)-0.0) - (s0_r##NAME){0};                               \
                    }                                                                                                  \
                    if (fresh) {                                                                                       \
                        for (k = 0; k + WIDTH <= rows; k += WIDTH)                                                     \
                            *(s0_r##NAME *)(part + k) = s0_of_columns_##NAME(c, x, k, WIDTH);                          \
                        if (k < rows)                                                                                  \
                            *(s0_r##NAME *)(part + k) = s0_of_columns_##NAME(c, x, k, rows - k);                       \
                    } else {                                                                                           \
                        for (k = 0; k + WIDTH <= rows; k += WIDTH)                                                     \
                            *(s0_r##NAME *)(part + k) += s0_of_columns_##NAME(c, x, k, WIDTH);                         \
                        if (k < rows)                                                                                  \
                            *(s0_r##NAME *)(part + k) += s0_of_columns_##NAME(c, x, k, rows - k);                      \
                    }                                                                                                  \
                }                                                                                                      \
                if (j <= S0_WIDE)                                                                                      \
                    for (k = 0; k < rows; k++)                                                                         \
                        total[k] = part[k];                                                                            \
                else                                                                                                   \
                    for (k = 0; k < rows; k++)                                                                         \
                        total[k] += part[k];                                                                           \
            }                                                                                                          \
            for (k = 0; k < rows; k++)                                                                                 \
                out[i + k] = (TYPE)total[k];                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
    static int s0_floating_##NAME(const char *a, const Py_ssize_t *sa, const char *b, const Py_ssize_t *sb, char *out, \
                                  Py_ssize_t count, Py_ssize_t m, Py_ssize_t n, Py_ssize_t p)                          \
    {                                                                                                                  \
        const Py_ssize_t size = sizeof(TYPE);                                                                          \
        if (p > 1 || n < S0_SHALLOW || (sa[2] != size && sa[1] != size) || sb[1] != size)                              \
            return s0_product_##NAME(a, sa, b, sb, out, count, m, n, p);                                               \
        for (; count > 0; count--, a += sa[0], b += sb[0], out += m * size)                                            \
            if (sa[2] == size)                                                                                         \
                s0_by_rows_##NAME(a, sa[1], (const TYPE *)b, (TYPE *)out, m, n);                                     \
            else                                                                                                       \
                s0_by_columns_##NAME(a, sa[2], (const TYPE *)b, (TYPE *)out, m, n);                                    \
        return 0;                                                                                                      \
    }

S0_BY_VECTOR(f32, float, 16, 512)
S0_BY_VECTOR(f64, double, 8, 1024)

#endif
