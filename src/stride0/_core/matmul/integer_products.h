/* Products of large matrices of 64-bit integers. Before AVX-512, no instruction multiplies vectors of 64-bit integers.
 *
 * If the elements are small, s0_exact_tiles computes in double: then sums of S0_DEEP products are exact in any order. The bit lengths
 * of the two factors add up to at most S0_EXACT, so the magnitude of a sum is at most 2^51. A uint64 element of 2^63 or more is read
 * as a negative number; the wrapped result is the same.
 *
 * Otherwise, with AVX2, s0_tile_u64 multiplies halves of 32 bits. It sums products of two low halves in 64 bits. It sums products of a
 * low and a high half, whose unit is 2^32, in 32 bits, and shifts the sum once. */
#ifndef STRIDE0_INTEGER_PRODUCTS_H
#define STRIDE0_INTEGER_PRODUCTS_H

enum {
    S0_EXACT = 44,
    S0_EXACT_LANES = S0_VECTOR / 8,
    S0_EXACT_WIDTH = 2 * S0_EXACT_LANES,
    S0_EXACT_PANELS = 8,    /* panels of the second matrix in a block; a block of the first matrix is converted once for all these panels */
#if defined(__AVX512DQ__)
    S0_EXACT_LEAST = 128,   /* minimum number of rows and of columns for which conversion pays */
#else
    S0_EXACT_LEAST = 4,
#endif
};

typedef double s0_double __attribute__((vector_size(S0_VECTOR)));
/* Unsigned, so that sums and products wrap. */
typedef uint64_t s0_long __attribute__((vector_size(S0_VECTOR)));
typedef uint64_t s0_long_at __attribute__((vector_size(S0_VECTOR), aligned(8)));
typedef int64_t s0_signed_long __attribute__((vector_size(S0_VECTOR)));

static void s0_widen_u64(const char *from, Py_ssize_t down, Py_ssize_t across, uint64_t *to, Py_ssize_t line, Py_ssize_t m,
                         Py_ssize_t n);
static int s0_tiles_u64(const char *a, const Py_ssize_t *sa, const char *b, const Py_ssize_t *sb, uint64_t *out,
                        Py_ssize_t m, Py_ssize_t n, Py_ssize_t p);

/* Add the first `count` lanes of a vector (or all lanes, if there are fewer) to `out`. If `fresh`, overwrite `out` instead. */
S0_INLINE void s0_add_lanes(uint64_t *out, s0_long lanes, Py_ssize_t count, int fresh)
{
    Py_ssize_t q;
    if (count >= S0_EXACT_LANES)
        *(s0_long_at *)out = fresh ? lanes : lanes + *(const s0_long_at *)out;
    else
        for (q = 0; q < count; q++)
            out[q] = lanes[q] + (fresh ? 0 : out[q]);
}

#if defined(__AVX2__) && !defined(__AVX512DQ__)
typedef uint32_t s0_half __attribute__((vector_size(S0_VECTOR)));

enum { S0_LANES_u64 = S0_EXACT_LANES };

/* Like S0_TILE, but in groups of S0_TALL rows, so that the sums fit in registers. */
S0_INLINE void s0_tile_u64(const uint64_t *a, Py_ssize_t line, const uint64_t *b, uint64_t *out, Py_ssize_t p,
                           Py_ssize_t width, Py_ssize_t n, int fresh, int rows, int vectors)
{
    const s0_long upper = (s0_long){0} + 0xffffffff00000000u;
    s0_long low[S0_TALL], part, x;
    s0_half cross[S0_TALL], swapped;
    Py_ssize_t k;
    int i, j, first, tall = rows < S0_TALL ? rows : S0_TALL;
    for (first = 0; first < rows; first += tall)
        for (j = 0; j < vectors; j++) {
            for (i = 0; i < tall; i++) {
                low[i] = (s0_long){0};
                cross[i] = (s0_half){0};
            }
            for (k = 0; k < n; k++) {
                part = *(const s0_long_at *)(b + (k * vectors + j) * S0_EXACT_LANES);
                swapped = (s0_half)_mm256_shuffle_epi32((__m256i)part, 0xb1);
                for (i = 0; i < tall; i++) {
                    x = (s0_long){0} + a[(first + i) * line + k];
                    low[i] += (s0_long)_mm256_mul_epu32((__m256i)x, (__m256i)part);
                    cross[i] += (s0_half)x * swapped;
                }
            }
            for (i = 0; i < tall; i++) {
                low[i] += ((s0_long)cross[i] & upper) + ((s0_long)cross[i] << 32);
                s0_add_lanes(out + (first + i) * p + j * S0_EXACT_LANES, low[i], width - j * S0_EXACT_LANES, fresh);
            }
        }
}
#else
S0_TILE(u64, uint64_t, uint64_t, 0)
#endif

/* 1.5 * 2^52. The last bit of its significand has the place value 1, so adding it converts between integers and doubles below 2^51. */
#define S0_ONES_COUNT 6755399441055744.0
#define S0_ONES_COUNT_BITS 0x4338000000000000u

/* Convert integers to doubles in place, a whole vector at a time. Returns the bitwise OR of the integers; negative integers are
   complemented first. */
static uint64_t s0_to_doubles(uint64_t *x, Py_ssize_t n)
{
    s0_long all = {0}, part;
    uint64_t bits = 0;
    Py_ssize_t i;
    for (i = 0; i < n; i += S0_EXACT_LANES) {
        part = *(const s0_long_at *)(x + i);
        all |= part ^ (s0_long)((s0_signed_long)part < 0);
        *(s0_long_at *)(x + i) = (s0_long)((s0_double)(part + S0_ONES_COUNT_BITS) - S0_ONES_COUNT);
    }
    for (i = 0; i < S0_EXACT_LANES; i++)
        bits |= all[i];
    return bits;
}

/* Multiply `rows` rows of `line` elements by `vectors` vectors of columns, with `width` valid columns. */
S0_INLINE void s0_exact_tile(const double *a, Py_ssize_t line, const double *b, uint64_t *out, Py_ssize_t p,
                             Py_ssize_t width, int fresh, int rows, int vectors)
{
    const s0_double start = (s0_double){0} + S0_ONES_COUNT;
    s0_double sum[S0_TALL][2], part[2], x;
    Py_ssize_t k;
    int i, j;
    for (i = 0; i < rows; i++)
        for (j = 0; j < vectors; j++)
            sum[i][j] = start;
    for (k = 0; k < line; k++) {
        for (j = 0; j < vectors; j++)
            part[j] = *(const s0_double *)(b + (k * vectors + j) * S0_EXACT_LANES);
        for (i = 0; i < rows; i++) {
            x = (s0_double){0} + a[i * line + k];
            for (j = 0; j < vectors; j++)
                sum[i][j] = S0_FUSED(s0_double, sum[i][j], x, part[j]);
        }
    }
    for (i = 0; i < rows; i++)
        for (j = 0; j < vectors; j++)
            s0_add_lanes(out + i * p + j * S0_EXACT_LANES, (s0_long)sum[i][j] - S0_ONES_COUNT_BITS,
                         width - j * S0_EXACT_LANES, fresh);
}

S0_INLINE void s0_exact_panel(const double *a, Py_ssize_t line, const double *b, uint64_t *out, Py_ssize_t p,
                              Py_ssize_t width, Py_ssize_t m, int fresh, int vectors)
{
    Py_ssize_t i = 0;
    for (; i + S0_TALL <= m; i += S0_TALL)
        s0_exact_tile(a + i * line, line, b, out + i * p, p, width, fresh, S0_TALL, vectors);
    for (; i + 2 <= m; i += 2)
        s0_exact_tile(a + i * line, line, b, out + i * p, p, width, fresh, 2, vectors);
    for (; i < m; i++)
        s0_exact_tile(a + i * line, line, b, out + i * p, p, width, fresh, 1, vectors);
}

/* Compute the same product as s0_tiles_u64. Returns 0, or 1 if elements are too large, or -1 if memory allocation fails. */
static int s0_exact_tiles(const char *a, const Py_ssize_t *sa, const char *b, const Py_ssize_t *sb, uint64_t *out,
                          Py_ssize_t m, Py_ssize_t n, Py_ssize_t p)
{
    enum { LANES = S0_EXACT_LANES, WIDTH = S0_EXACT_WIDTH, BROAD = WIDTH * S0_EXACT_PANELS };
    const Py_ssize_t most = n < S0_DEEP ? n : S0_DEEP, room = m * most < S0_ROOM ? m * most : S0_ROOM;
    const Py_ssize_t padded = p < BROAD ? (p + WIDTH - 1) / WIDTH * WIDTH : BROAD;
    char few[S0_FEW_BYTES] __attribute__((aligned(S0_VECTOR)));
    void *memory;
    uint64_t *right = s0_block_memory((padded * most + room + LANES) * (Py_ssize_t)sizeof(uint64_t), few, &memory);
    uint64_t *left = right + padded * most;
    uint64_t bits, own;
    Py_ssize_t i, j, k, q, high, deep, broad, width, step;
    if (right == NULL)
        return -1;
    for (j = 0; j < p; j += BROAD)
        for (k = 0; k < n; k += S0_DEEP) {
            broad = p - j < BROAD ? p - j : BROAD;
            deep = n - k < S0_DEEP ? n - k : S0_DEEP;
            bits = 0;
            for (q = 0; q < broad; q += WIDTH) {
                width = broad - q < WIDTH ? broad - q : WIDTH;
                step = width > LANES ? WIDTH : LANES;
                if (width < step)
                    memset(right + q * deep, 0, deep * step * sizeof(*right));
                s0_widen_u64(b + k * sb[1] + (j + q) * sb[2], sb[1], sb[2], right + q * deep, step, deep, width);
                bits |= s0_to_doubles(right + q * deep, deep * step);
            }
            for (i = 0; i < m; i += high) {
                high = S0_ROOM / deep / 8 * 8 < m - i ? S0_ROOM / deep / 8 * 8 : m - i;
                s0_widen_u64(a + i * sa[1] + k * sa[2], sa[1], sa[2], left, deep, high, deep);
                /* Pad to a whole vector. */
                memset(left + high * deep, 0, LANES * sizeof(*left));
                own = s0_to_doubles(left, high * deep);
                if (s0_bit_length(own) + s0_bit_length(bits) > S0_EXACT) {
                    free(memory);
                    return 1;
                }
                for (q = 0; q < broad; q += WIDTH) {
                    uint64_t *to = out + i * p + j + q;
                    const double *panel = (const double *)(right + q * deep);
                    width = broad - q < WIDTH ? broad - q : WIDTH;
                    if (width > LANES)
                        s0_exact_panel((const double *)left, deep, panel, to, p, width, high, k == 0, 2);
                    else
                        s0_exact_panel((const double *)left, deep, panel, to, p, width, high, k == 0, 1);
                }
            }
        }
    free(memory);
    return 0;
}

static int s0_large_u64(const char *a, const Py_ssize_t *sa, const char *b, const Py_ssize_t *sb, uint64_t *out,
                        Py_ssize_t m, Py_ssize_t n, Py_ssize_t p)
{
    int status = m < S0_EXACT_LEAST || p < S0_EXACT_LEAST ? 1 : s0_exact_tiles(a, sa, b, sb, out, m, n, p);
    return status > 0 ? s0_tiles_u64(a, sa, b, sb, out, m, n, p) : status;
}

#endif
