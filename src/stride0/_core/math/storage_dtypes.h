/* Conversions between storage dtypes, which have no arithmetic, and float32.
 *
 * Each dtype has `<name>_to_f32`, which is exact, and `f32_to_<name>`, which rounds to nearest, ties to even: overflow gives
 * infinity, tiny values become subnormal, NaN stays NaN and keeps its sign. They select instead of branching, so that loops
 * vectorise, and give the same bits on every instruction set. */
#ifndef STRIDE0_STORAGE_DTYPES_H
#define STRIDE0_STORAGE_DTYPES_H

#include "scalars.h"

#if defined(__F16C__) && defined(__AVX__)
#include <immintrin.h>
#endif

S0_BODY uint32_t bits_of_f32(float x) { uint32_t u; memcpy(&u, &x, 4); return u; }
S0_BODY float f32_of_bits(uint32_t u) { float x; memcpy(&x, &u, 4); return x; }

/* -- rounding to odd --------------------------------------------------------------------------------------------------
 *
 * Two successive roundings to nearest may differ from a single one. So the first rounding is to odd: a value that is not exact
 * becomes the neighbour whose last bit is set. Then the second rounding gives the right result, if it drops at least two
 * bits: S. Boldo, G. Melquiond, "Emulation of FMA and correctly rounded sums", 2008. */

S0_BODY float odd_f32(double x)
{
    const float nearest = (float)x;
    const double back = (double)nearest;
    uint32_t bits = bits_of_f32(nearest);
    /* Back towards zero, if the rounding went away from zero. */
    bits -= fabs(back) > fabs(x);
    bits |= back != x;
    return f32_of_bits(bits);
}

/* 64-bit integers to float64, rounded to odd: the last of the 53 bits is set if any lower bit is. */
S0_BODY double odd_f64_u(uint64_t x)
{
    const uint64_t odd = (x & ~(uint64_t)0x7ff) | (((x & 0x7ff) + 0x7ff) & 0x800);
    return (double)(x >> 53 ? odd : x);
}

S0_BODY double odd_f64_i(int64_t x)
{
    const uint64_t u = (uint64_t)x;
    const uint64_t odd = (u & ~(uint64_t)0x7ff) | (((u & 0x7ff) + 0x7ff) & 0x800);
    return (double)(int64_t)(u + ((uint64_t)1 << 53) > (uint64_t)1 << 54 ? odd : u);
}

/* -- float16 ---------------------------------------------------------------------------------------------------------- */

/* As F16C instructions do: NaN keeps the upper bits of its payload and becomes quiet. */
S0_BODY float float16_to_f32(uint16_t x)
{
    const uint32_t sign = (uint32_t)(x & 0x8000) << 16, low = x & 0x7fff;
    const uint32_t normal = (low << 13) + (112u << 23);
    const uint32_t special = (low << 13) | 0x7f800000u | (low > 0x7c00 ? 0x400000u : 0);
    const uint32_t small = bits_of_f32((float)(int32_t)low * 0x1p-24f);
    return f32_of_bits(sign | (low < 0x400 ? small : low >= 0x7c00 ? special : normal));
}

S0_BODY uint16_t f32_to_float16(float x)
{
    const uint32_t bits = bits_of_f32(x), low = bits & 0x7fffffffu;
    const uint32_t normal = (low - (112u << 23) + 0xfff + (low >> 13 & 1)) >> 13;
    /* The last bit of 0.5 has the value of a subnormal's last bit, so adding 0.5 rounds the value. */
    const uint32_t small = bits_of_f32(f32_of_bits(low) + 0.5f) - 0x3f000000u;
    const uint32_t nan = 0x7e00 | (low >> 13 & 0x3ff);
    /* From 65520 on, halfway between the largest finite value and the next power of 2, the result is infinity. */
    const uint32_t large = low > 0x7f800000u ? nan : 0x7c00;
    return (uint16_t)(bits >> 16 & 0x8000) | (uint16_t)(low < 0x38800000u ? small : low >= 0x477ff000u ? large : normal);
}

S0_BODY void float16_run_to_f32(const uint16_t *x, float *out, int64_t n)
{
    int64_t i = 0;
#if defined(__F16C__) && defined(__AVX512F__)
    for (; i + 16 <= n; i += 16)
        _mm512_storeu_ps(out + i, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(x + i))));
#endif
#if defined(__F16C__) && defined(__AVX__)
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(x + i))));
#endif
    for (; i < n; i++)
        out[i] = float16_to_f32(x[i]);
}

S0_BODY void f32_run_to_float16(const float *x, uint16_t *out, int64_t n)
{
    int64_t i = 0;
#if defined(__F16C__) && defined(__AVX512F__)
    for (; i + 16 <= n; i += 16)
        _mm256_storeu_si256((__m256i *)(out + i), _mm512_cvtps_ph(_mm512_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
#endif
#if defined(__F16C__) && defined(__AVX__)
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((__m128i *)(out + i), _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
#endif
    for (; i < n; i++)
        out[i] = f32_to_float16(x[i]);
}

/* -- bfloat16 --------------------------------------------------------------------------------------------------------- */

S0_BODY float bfloat16_to_f32(uint16_t x) { return f32_of_bits((uint32_t)x << 16); }

/* NaN becomes the default NaN with the same sign, as in ml_dtypes. */
S0_BODY uint16_t f32_to_bfloat16(float x)
{
    const uint32_t bits = bits_of_f32(x);
    const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? (bits >> 16 & 0x8000) | 0x7fc0 : rounded);
}

/* -- neighbours ------------------------------------------------------------------------------------------------------- */

/* The next number after x1 towards x2, for any format with a sign, an exponent and a fraction; a and b are the values of x1 and x2. */
S0_BODY uint32_t nextafter_bits(uint32_t x1, uint32_t x2, float a, float b, int width)
{
    const uint32_t sign = (uint32_t)1 << (width - 1);
    const uint32_t nan = a != a ? x1 : x2, small = (x2 & sign) | 1;
    const uint32_t moved = (a < b) == (a > 0) ? x1 + 1 : x1 - 1;
    return ((a != a) | (b != b)) ? nan : a == b ? x2 : a == 0 ? small : moved;
}

#endif
