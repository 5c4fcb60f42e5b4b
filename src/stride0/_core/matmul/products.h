/* Matrix products for each instruction set: for dtypes without BLAS, and for sizes for which a BLAS call takes longer.
 *
 * Integers are summed in a width that wraps to the same result. Note [Products in panels] has the order of floating-point sums. */
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
#define S0_PLUS_PRODUCT(sum, x, y) ((sum) + (x) * (y))
#define S0_TINY(NAME, TYPE, SUM, START, ADD)                                                                              \
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
                        sums[k] = ADD(sums[k], x, (SUM)b[j * p + k]);                                                  \
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
    S0_TINY(NAME, TYPE, SUM, START, S0_PLUS_PRODUCT)                                                                   \
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

/* Of tall_matrices.h. */
S0_TILE(f64, double, double, -0.0)
S0_PRODUCT(f64, double, double, double, -0.0, s0_tiles_f64)

/* Of panels.h: tiny products of real matrices in C order. */
#define S0_FUSED_NUMBERS_f32(sum, x, y) __builtin_fmaf(x, y, sum)
#define S0_FUSED_NUMBERS_f64(sum, x, y) __builtin_fma(x, y, sum)
S0_TINY(fused_f32, float, float, -0.0f, S0_FUSED_NUMBERS_f32)
S0_TINY(fused_f64, double, double, -0.0, S0_FUSED_NUMBERS_f64)

#endif
