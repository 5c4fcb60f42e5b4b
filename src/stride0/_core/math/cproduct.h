/* Products of complex64 in float32: Note [Products of complex64]. */
#ifndef STRIDE0_CPRODUCT_H
#define STRIDE0_CPRODUCT_H

#include <math.h>

#include "packs.h"
#include "scalars.h"

/* The amount by which the product p of a and b is too large. */
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
/* Differences in the real parts, sums in the imaginary parts. */
#define S0_LESS_OR_MORE(x, y) _mm512_fmaddsub_ps(x, _mm512_set1_ps(1), y)
#elif S0_VECTOR == 32 && defined(__FMA__)
typedef __m256 s0_floats;
#define S0_REAL_PARTS _mm256_moveldup_ps
#define S0_IMAGINARY_PARTS _mm256_movehdup_ps
#define S0_SWAPPED(x) _mm256_permute_ps(x, 0xb1)
#define S0_LESS_PRODUCT _mm256_fnmadd_ps
#define S0_UNLESS_NAN(y, other) _mm256_blendv_ps(y, other, _mm256_cmp_ps(y, y, _CMP_UNORD_Q))
#define S0_LESS_OR_MORE _mm256_addsub_ps
#endif

/* For contiguous operands and results. One vector holds both parts of each number, and in the position of each part of the result
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
            const s0_floats re = S0_REAL_PARTS(u), im = S0_IMAGINARY_PARTS(u);
            const s0_floats across = S0_SWAPPED(v), p = re * v, q = im * across, sum = S0_LESS_OR_MORE(p, q);
            const s0_floats w = sum - S0_LESS_OR_MORE(S0_LESS_PRODUCT(re, v, p), S0_LESS_PRODUCT(im, across, q));
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

/* Products of complex128 with the bits of multiply_c, with both parts of a number in one vector too. With `one`, the second factor
 * is the same for all numbers. */
S0_INLINE void s0_complex128_products(const double *x, const double *y, double *z, Py_ssize_t n, int one)
{
    const f64_2 last = s0_load_f64_2(y);
    double pairs[16];
    f64_16 v;
    Py_ssize_t i = 0;
    for (int k = 0; k < 16; k++)
        pairs[k] = y[k % 2];
    v = s0_load_f64_16(pairs);
    for (; i + 16 <= 2 * n; i += 16)
        s0_store_f64_16(z + i, s0_cross_f64_16(s0_load_f64_16(x + i), one ? v : s0_load_f64_16(y + i)));
    for (; i < 2 * n; i += 2)
        s0_store_f64_2(z + i, s0_cross_f64_2(s0_load_f64_2(x + i), one ? last : s0_load_f64_2(y + i)));
}

#define S0_COMPLEX128_PRODUCTS(name, first, second, one, out)                                                             \
    static void s0_##name(char **a, const Py_ssize_t *s, const Py_ssize_t *t, Py_ssize_t n, Py_ssize_t m)            \
    {                                                                                                                \
        (void)s;                                                                                                     \
        for (Py_ssize_t j = 0; j < m; j++)                                                                           \
            s0_complex128_products((const double *)(a[first] + j * t[first]),                                        \
                                   (const double *)(a[second] + j * t[second]),                                      \
                                   (double *)(a[out] + j * t[out]), n, one);                                         \
    }
S0_COMPLEX128_PRODUCTS(multiply_complex128, 0, 1, 0, 2)
S0_COMPLEX128_PRODUCTS(multiply_complex128_left, 1, 0, 1, 2)
S0_COMPLEX128_PRODUCTS(multiply_complex128_right, 0, 1, 1, 2)
S0_COMPLEX128_PRODUCTS(square_complex128, 0, 0, 0, 1)

/* The same for any strides, one number per vector: x times y, x times a constant y (`one`), or the square of x. */
S0_INLINE void s0_complex128_strided(const char *x, Py_ssize_t sx, const char *y, Py_ssize_t sy, char *z, Py_ssize_t sz,
                                     Py_ssize_t n, int one, int itself)
{
    const f64_2 last = s0_load_f64_2((const double *)y);
    S0_TWO_AT_ONCE
    for (Py_ssize_t i = 0; i < n; i++) {
        const f64_2 u = s0_load_f64_2((const double *)(x + i * sx));
        const f64_2 v = itself ? u : one ? last : s0_load_f64_2((const double *)(y + i * sy));
        s0_store_f64_2((double *)(z + i * sz), s0_cross_f64_2(u, v));
    }
}

static void s0_multiply_complex128_strided(char **a, const Py_ssize_t *s, const Py_ssize_t *t, Py_ssize_t n, Py_ssize_t m)
{
    const int first = s[0] == 0, second = !first; /* the factors commute */
    for (Py_ssize_t j = 0; j < m; j++) {
        const char *x = a[first] + j * t[first], *y = a[second] + j * t[second];
        if (s[second] == 0)
            s0_complex128_strided(x, s[first], y, 0, a[2] + j * t[2], s[2], n, 1, 0);
        else
            s0_complex128_strided(x, s[first], y, s[second], a[2] + j * t[2], s[2], n, 0, 0);
    }
}

static void s0_square_complex128_strided(char **a, const Py_ssize_t *s, const Py_ssize_t *t, Py_ssize_t n, Py_ssize_t m)
{
    for (Py_ssize_t j = 0; j < m; j++)
        s0_complex128_strided(a[0] + j * t[0], s[0], a[0] + j * t[0], s[0], a[1] + j * t[1], s[1], n, 0, 1);
}

#endif
