/* Products of complex64 in float32: Note [Products of complex64]. */
#ifndef STRIDE0_CPRODUCT_H
#define STRIDE0_CPRODUCT_H

#include <math.h>

#include "packs.h"

/* What the product p of a and b is too large by. */
S0_INLINE float s0_excess(float a, float b, float p)
{
#if defined(FP_FAST_FMAF) || defined(__FMA__)
    return fmaf(-a, b, p);
#else
    return (float)((double)p - (double)a * (double)b); /* both exact: the same bits */
#endif
}

S0_INLINE float s0_sum_of_products(float a, float b, float c, float d)
{
    float p = a * b, q = c * d, sum = p + q;
    float y = sum - (s0_excess(a, b, p) + s0_excess(c, d, q));
    return y == y ? y : sum;
}

#if S0_VECTOR == 64
typedef __m512 s0_floats;
#define S0_REAL_PARTS _mm512_moveldup_ps
#define S0_IMAGINARY_PARTS _mm512_movehdup_ps
#define S0_SWAPPED(x) _mm512_permute_ps(x, 0xb1)
#define S0_LESS_PRODUCT _mm512_fnmadd_ps
#define S0_UNLESS_NAN(y, other) _mm512_mask_mov_ps(y, _mm512_cmp_ps_mask(y, y, _CMP_UNORD_Q), other)
#define S0_FLIPPED(x, bits) _mm512_xor_ps(x, _mm512_castsi512_ps(_mm512_set1_epi64(bits)))
#elif S0_VECTOR == 32 && defined(__FMA__)
typedef __m256 s0_floats;
#define S0_REAL_PARTS _mm256_moveldup_ps
#define S0_IMAGINARY_PARTS _mm256_movehdup_ps
#define S0_SWAPPED(x) _mm256_permute_ps(x, 0xb1)
#define S0_LESS_PRODUCT _mm256_fnmadd_ps
#define S0_UNLESS_NAN(y, other) _mm256_blendv_ps(y, other, _mm256_cmp_ps(y, y, _CMP_UNORD_Q))
#define S0_FLIPPED(x, bits) _mm256_xor_ps(x, _mm256_castsi256_ps(_mm256_set1_epi64x(bits)))
#endif

/* For contiguous operands and results. A vector holds both parts of a number, and in the place of each part
 * the two products that it is the sum of. */
static void s0_multiply_complex64(char **a, const Py_ssize_t *s, const Py_ssize_t *t, Py_ssize_t n, Py_ssize_t m)
{
    Py_ssize_t i, j;
    (void)s;
    for (j = 0; j < m; j++) {
        const float *x = (const float *)(a[0] + j * t[0]), *y = (const float *)(a[1] + j * t[1]);
        float *z = (float *)(a[2] + j * t[2]);
        i = 0;
#ifdef S0_SWAPPED
        enum { HELD = sizeof(s0_floats) / sizeof(float) };
        for (; i + HELD <= 2 * n; i += HELD) {
            s0_floats u, v;
            memcpy(&u, x + i, sizeof(u));
            memcpy(&v, y + i, sizeof(v));
            const s0_floats re = S0_REAL_PARTS(u), im = S0_FLIPPED(S0_IMAGINARY_PARTS(u), 0x80000000);
            const s0_floats across = S0_SWAPPED(v), p = re * v, q = im * across, sum = p + q;
            const s0_floats w = sum - (S0_LESS_PRODUCT(re, v, p) + S0_LESS_PRODUCT(im, across, q));
            u = S0_UNLESS_NAN(w, sum);
            memcpy(z + i, &u, sizeof(u));
        }
#endif
        for (; i < 2 * n; i += 2) {
            const float re = s0_sum_of_products(x[i], y[i], -x[i + 1], y[i + 1]);
            z[i + 1] = s0_sum_of_products(x[i + 1], y[i], x[i], y[i + 1]);
            z[i] = re;
        }
    }
}

#endif
