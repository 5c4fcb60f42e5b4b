/* Products of real and of complex matrices, in the place of gemm of BLAS: Note [Products in panels].
 *
 * Each element of a product is the sum of the sums of blocks of S0_SUM_TERMS terms, in order. The terms of a block are added one by one, from
 * -0.0, by fused multiply-add. So no bit depends on the sizes of tiles, on the layout of operands, on threads, or on the
 * instruction set. If the instruction set has no fused multiply-add, additions and products compute the same bits.
 *
 * Of a complex product, the sums of products of real parts with real parts, of imaginary parts with imaginary parts, and so on, are four
 * such sums. In each block, the real part of an element is the first sum less the second one, and the imaginary part is the third sum plus the fourth one. */
#ifndef STRIDE0_REAL_PRODUCTS_H
#define STRIDE0_REAL_PRODUCTS_H

#include <math.h>

#include "products.h"
#include "tiles.h"

#if S0_VECTOR == 64
#define S0_FUSED_f32(x, y, z) (s0_lanes)_mm512_fmadd_ps((__m512)(x), (__m512)(y), (__m512)(z))
#define S0_FUSED_f64(x, y, z) (s0_lanes)_mm512_fmadd_pd((__m512d)(x), (__m512d)(y), (__m512d)(z))
#define S0_SWAP_PAIRS_f32(x) (s0_lanes)_mm512_permute_ps((__m512)(x), 0xb1)
#define S0_SWAP_PAIRS_f64(x) (s0_lanes)_mm512_permute_pd((__m512d)(x), 0x55)
#define S0_EACH_PAIR_f32(p) (s0_lanes)_mm512_set1_pd(*(const s0_double_anywhere *)(p))
#define S0_EACH_PAIR_f64(p) (s0_lanes)_mm512_broadcast_f64x2(_mm_loadu_pd((const double *)(p)))
#define S0_STORE_FIRST_f32(p, x, n) _mm512_mask_storeu_ps(p, (__mmask16)((1u << (n)) - 1), (__m512)(x))
#define S0_STORE_FIRST_f64(p, x, n) _mm512_mask_storeu_pd(p, (__mmask8)((1u << (n)) - 1), (__m512d)(x))
#elif S0_VECTOR == 32
#define S0_FUSED_f32(x, y, z) (s0_lanes)_mm256_fmadd_ps((__m256)(x), (__m256)(y), (__m256)(z))
#define S0_FUSED_f64(x, y, z) (s0_lanes)_mm256_fmadd_pd((__m256d)(x), (__m256d)(y), (__m256d)(z))
#define S0_SWAP_PAIRS_f32(x) (s0_lanes)_mm256_permute_ps((__m256)(x), 0xb1)
#define S0_SWAP_PAIRS_f64(x) (s0_lanes)_mm256_permute_pd((__m256d)(x), 5)
#define S0_EACH_PAIR_f32(p) (s0_lanes)_mm256_set1_pd(*(const s0_double_anywhere *)(p))
#define S0_EACH_PAIR_f64(p) (s0_lanes)_mm256_broadcast_pd((const __m128d *)(p))
#define S0_STORE_FIRST_f32(p, x, n) memcpy(p, &(x), (n) * sizeof(float))
#define S0_STORE_FIRST_f64(p, x, n) memcpy(p, &(x), (n) * sizeof(double))
#else
#if defined(__SSE2__) && !defined(FP_FAST_FMA)
/* x + y, rounded to the odd one of its two neighbours, unless the sum is exact. A second rounding to fewer digits then has the
 * result of a single rounding: Boldo and Melquiond, "Emulation of FMA and correctly rounded sums" (2008). */
S0_INLINE f64_v2 s0_odd_sum(f64_v2 x, f64_v2 y)
{
    const f64_v2 sum = x + y, part = sum - x, error = (x - (sum - part)) + (y - part);
    const i64_v2 bits = (i64_v2)sum, step = ((error > 0) ^ (sum > 0)) | 1;
    return (f64_v2)(bits + (step & ((error > 0) | (error < 0)) & ((bits & 1) - 1)));
}
S0_INLINE f32_v4 s0_fused_f32(f32_v4 x, f32_v4 y, f32_v4 z)
{
    const f32_v4 u = _mm_movehl_ps(x, x), v = _mm_movehl_ps(y, y), w = _mm_movehl_ps(z, z);
    const f64_v2 low = s0_odd_sum((f64_v2)_mm_cvtps_pd(x) * (f64_v2)_mm_cvtps_pd(y), _mm_cvtps_pd(z));
    const f64_v2 high = s0_odd_sum((f64_v2)_mm_cvtps_pd(u) * (f64_v2)_mm_cvtps_pd(v), _mm_cvtps_pd(w));
    return _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
}
#define S0_UPPER_PART(x) ((x) * 0x1p27 + (x) - ((x) * 0x1p27 + (x) - (x)))
#define S0_MAGNITUDE(x) ((f64_v2)((i64_v2)(x) & INT64_MAX))
/* x * y + z, rounded once, from the product and its error (Dekker's algorithm). If these could overflow or underflow, libm computes it. */
static __attribute__((noinline, unused)) f64_v2 s0_fused_f64(f64_v2 x, f64_v2 y, f64_v2 z)
{
    const f64_v2 product = x * y, a = S0_UPPER_PART(x), b = S0_UPPER_PART(y), c = x - a, d = y - b;
    const f64_v2 error = ((a * b - product) + a * d + c * b) + c * d;
    const f64_v2 low = z + error, back = low - z, lowest = (z - (low - back)) + (error - back);
    const f64_v2 high = product + low, off = high - product, rest = (product - (high - off)) + (low - off);
    const i64_v2 zero = (x == 0) | (y == 0), usual = (S0_MAGNITUDE(product) > 0x1p-900) | zero;
    const i64_v2 safe = usual & (S0_MAGNITUDE(x) < 0x1p990) & (S0_MAGNITUDE(y) < 0x1p990) & (S0_MAGNITUDE(product) < 0x1p1000) &
                        (S0_MAGNITUDE(z) < 0x1p1000);
    const f64_v2 sum = high + s0_odd_sum(lowest, rest), plain = product + z;
    if (_mm_movemask_pd((f64_v2)safe) != 3)
        return (f64_v2){fma(x[0], y[0], z[0]), fma(x[1], y[1], z[1])};
    return (f64_v2)(((i64_v2)sum & ~zero) | ((i64_v2)plain & zero));
}
#define S0_FUSED_f32(x, y, z) (s0_lanes)s0_fused_f32((f32_v4)(x), (f32_v4)(y), (f32_v4)(z))
#define S0_FUSED_f64(x, y, z) (s0_lanes)s0_fused_f64((f64_v2)(x), (f64_v2)(y), (f64_v2)(z))
#else
#define S0_FUSED_f32(x, y, z) (s0_lanes){fmaf(x[0], y[0], z[0]), fmaf(x[1], y[1], z[1]), fmaf(x[2], y[2], z[2]), fmaf(x[3], y[3], z[3])}
#define S0_FUSED_f64(x, y, z) (s0_lanes){fma(x[0], y[0], z[0]), fma(x[1], y[1], z[1])}
#endif
#define S0_SWAP_PAIRS_f32(x) (s0_lanes){x[1], x[0], x[3], x[2]}
#define S0_SWAP_PAIRS_f64(x) (s0_lanes){x[1], x[0]}
#define S0_EACH_PAIR_f32(p) (s0_lanes){((const float *)(p))[0], ((const float *)(p))[1], ((const float *)(p))[0], ((const float *)(p))[1]}
#define S0_EACH_PAIR_f64(p) (s0_lanes){((const double *)(p))[0], ((const double *)(p))[1]}
#define S0_STORE_FIRST_f32(p, x, n) memcpy(p, &(x), (n) * sizeof(float))
#define S0_STORE_FIRST_f64(p, x, n) memcpy(p, &(x), (n) * sizeof(double))
#endif
#if S0_VECTOR == 32 && defined(S0_SHUFFLE)
/* `s0_transpose_4` with vector code for four rows: with AVX2, `s0_transpose_4` has vector code for square blocks only. */
static void s0_transpose_rows_4(const char *source, Py_ssize_t row, char *target, Py_ssize_t line, Py_ssize_t m, Py_ssize_t n)
{
    s0_v8u32 a[4], b[4];
    Py_ssize_t j = 0;
    int k;
    if (m != 4 || line != 16) {
        s0_transpose_4(source, row, target, line, m, n);
        return;
    }
    for (; j + 8 <= n; j += 8, source += 32, target += 128) {
        S0_LOAD(a, 4)
        S0_UNROLL for (k = 0; k < 4; k += 2) {
            b[k] = S0_SHUFFLE(a[k], a[k + 1], 0, 8, 1, 9, 4, 12, 5, 13);
            b[k + 1] = S0_SHUFFLE(a[k], a[k + 1], 2, 10, 3, 11, 6, 14, 7, 15);
        }
        S0_UNROLL for (k = 0; k < 2; k++) {
            a[2 * k] = S0_SHUFFLE(b[k], b[k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            a[2 * k + 1] = S0_SHUFFLE(b[k], b[k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
        S0_UNROLL for (k = 0; k < 2; k++) {
            b[k] = S0_SHUFFLE(a[2 * k], a[2 * k + 1], 0, 1, 2, 3, 8, 9, 10, 11);
            b[k + 2] = S0_SHUFFLE(a[2 * k], a[2 * k + 1], 4, 5, 6, 7, 12, 13, 14, 15);
        }
        memcpy(target, b, sizeof(b));
    }
    s0_plain_4(source, row, target, line, 4, n - j);
}
/* `s0_transpose_8` with vector code for two rows of complex64. */
static void s0_transpose_rows_8(const char *source, Py_ssize_t row, char *target, Py_ssize_t line, Py_ssize_t m, Py_ssize_t n)
{
    s0_v4u64 a, b, c[2];
    Py_ssize_t j = 0;
    if (m != 2 || line != 16) {
        s0_transpose_8(source, row, target, line, m, n);
        return;
    }
    for (; j + 4 <= n; j += 4, source += 32, target += 64) {
        memcpy(&a, source, sizeof(a));
        memcpy(&b, source + row, sizeof(b));
        c[0] = S0_LOW_4(a, b);
        c[1] = S0_HIGH_4(a, b);
        memcpy(target, c, sizeof(c));
    }
    s0_plain_8(source, row, target, line, 2, n - j);
}
#define S0_TRANSPOSE_f32 s0_transpose_rows_4
#define S0_TRANSPOSE_COMPLEX_f32 s0_transpose_rows_8
#else
#define S0_TRANSPOSE_f32 s0_transpose_4
#define S0_TRANSPOSE_COMPLEX_f32 s0_transpose_8
#endif
#define S0_TRANSPOSE_f64 s0_transpose_8
#define S0_TRANSPOSE_COMPLEX_f64 s0_transpose_16
/* Accumulators of a product by a vector, their sum, and the sums of their numbers with even and with odd places; and of four of them at once. */
#define S0_SUMS_OF_f32 f32_16
#define S0_SUMS_OF_f64 f64_8
#define S0_TOTAL_OF_f32(x) S0_TOTAL_16(f32, x)
#define S0_TOTAL_OF_f64(x) S0_TOTAL_8(f64, x)
#define S0_PAIR_OF_f32(x, to) { const f32_2 pair = s0_sum_halves_f32_4(s0_sum_halves_f32_8(s0_sum_halves_f32_16(x))); memcpy(to, &pair, sizeof(pair)); }
#define S0_PAIR_OF_f64(x, to) { const f64_2 pair = s0_sum_halves_f64_4(s0_sum_halves_f64_8(x)); memcpy(to, &pair, sizeof(pair)); }
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
/* Rows of a tile: with three vectors each and the operands, its sums fill the registers. */
#if S0_VECTOR == 64
#define S0_TALL_OF 8
#else
#define S0_TALL_OF 4
#endif

#define S0_NAME f32
#define S0_TYPE float
#include "panels.h"
#define S0_NAME f64
#define S0_TYPE double
#include "panels.h"

#endif
