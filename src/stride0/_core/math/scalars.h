/* Small scalar bodies that the loops inline: thin names over libm, selections, components, casts.
 *
 * Each function comes as `_f64` and `_f32`. If a body only forwards to libm, libm's special cases (C Annex F) are the cases that the
 * standard requires. Bodies with other special cases are in realmath.h and complexmath.h. */
#ifndef STRIDE0_SCALARS_H
#define STRIDE0_SCALARS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Before a loop whose results may replace the elements that they are computed from, without any other overlap. */
#if defined(__GNUC__) && !defined(__clang__)
#define S0_ELEMENTWISE _Pragma("GCC ivdep")
#else
#define S0_ELEMENTWISE
#endif

/* Before a loop that does so little per element that the loop counter costs a good part of the time. */
#define S0_TWO_AT_ONCE _Pragma("GCC unroll 2")

#define S0_BODY static inline __attribute__((unused))

/* Whether y is a power of two with a normal inverse, and that inverse. The numbers have `fraction` bits of fraction. */
#define S0_HAS_INVERSE(bits, type, fraction)                                                        \
    S0_BODY int s0_has_inverse_f##bits(type y, type *inverse)                                       \
    {                                                                                               \
        const uint##bits##_t special = ((uint##bits##_t)1 << (bits - 1 - fraction)) - 1;            \
        uint##bits##_t word, exponent;                                                              \
        memcpy(&word, &y, sizeof(word));                                                            \
        exponent = word >> fraction & special;                                                      \
        if (word << (bits - fraction) || exponent == 0 || exponent > special - 2)                   \
            return 0;                                                                               \
        word = (word & (uint##bits##_t)1 << (bits - 1)) | (special - 1 - exponent) << fraction;     \
        memcpy(inverse, &word, sizeof(word));                                                       \
        return 1;                                                                                   \
    }
S0_HAS_INVERSE(64, double, 52)
S0_HAS_INVERSE(32, float, 23)

#define fabs_f64 fabs
#define fabs_f32 fabsf
#define sqrt_f64 sqrt
#define sqrt_f32 sqrtf
#define ceil_f64 ceil
#define ceil_f32 ceilf
#define floor_f64 floor
#define floor_f32 floorf
#define trunc_f64 trunc
#define trunc_f32 truncf
#define round_f64 rint /* half to even, the default rounding mode of every thread */
#define round_f32 rintf
#define copysign_f64 copysign
#define copysign_f32 copysignf
#define nextafter_f64 nextafter /* for equal operands the second one, so that -0 goes to +0 and back */
#define nextafter_f32 nextafterf

/* -- selections, written without branches, so that the loops vectorise ----------------------------------------------- */

/* For any integer type. */
#define max_c(a, b) ((a) > (b) ? (a) : (b))
#define min_c(a, b) ((a) < (b) ? (a) : (b))

/* x + 0 is +0 for both zeros and keeps NaN. The extremes test x for NaN; a NaN in y fails the comparison. `clip` has one selection
 * per bound and one for NaN bounds: `minimum(maximum(x, low), high)` would test for NaN twice, and compilers make branches of such
 * chains. */
#define S0_SELECTIONS(T, t)                                                                                          \
    S0_BODY T sign_##t(T x) { return x > 0 ? 1 : x < 0 ? -1 : x + 0; }                                               \
    S0_BODY T maximum_##t(T x, T y) { return ((x >= y) | (x != x)) ? x : y; }                                          \
    S0_BODY T minimum_##t(T x, T y) { return ((x <= y) | (x != x)) ? x : y; }                                          \
    S0_BODY T clip_##t(T x, T low, T high)                                                                           \
    {                                                                                                                \
        T y = x < low ? low : x;                                                                                     \
        y = y > high ? high : y;                                                                                     \
        return ((low != low) | (high != high)) ? low + high : y;                                                     \
    }
S0_SELECTIONS(double, f64)
S0_SELECTIONS(float, f32)

/* -- casts ----------------------------------------------------------------------------------------------------------- */

/* A cast from floating point to an integer is undefined in C if the value does not fit, and differs between instruction sets. Here it
 * is the same everywhere: through a 64-bit integer, whose smallest value replaces values that do not fit, then modulo the width of
 * the target. */
S0_BODY int64_t to_int(double x)
{
    return ((x >= -0x1p63) & (x < 0x1p63)) ? (int64_t)x : INT64_MIN;
}

S0_BODY uint64_t to_uint(double x)
{
    if ((x >= 0x1p63) & (x < 0x1p64))
        return (uint64_t)x;
    return (uint64_t)to_int(x);
}

/* A 64-bit integer as a double. For vectors, only AVX-512 has an instruction. Elsewhere on x86-64, the upper and the lower half become
 * the last digits of 2^84 and of 2^52; all steps are exact, except the last one, which rounds. */
#if defined(__SSE2__) && !defined(__AVX512DQ__)
#define S0_SPLIT_INTEGERS
#endif
S0_BODY double to_f64(int64_t x)
{
#ifdef S0_SPLIT_INTEGERS
    const uint64_t bits = (uint64_t)x ^ 0x8000000000000000u;
    const uint64_t upper = bits >> 32 | 0x4530000000000000u, lower = (bits & 0xffffffffu) | 0x4330000000000000u;
    double high, low;
    memcpy(&high, &upper, sizeof(high));
    memcpy(&low, &lower, sizeof(low));
    return (high - (0x1p84 + 0x1p63 + 0x1p52)) + low;
#else
    return (double)x;
#endif
}

/* Conversions between integers below 2^51 and doubles, in vectors without instructions for 64-bit integers: the integer is in the
 * low digits of 1.5 * 2^52 plus the integer. */
S0_BODY double s0_small_double(int64_t x)
{
    uint64_t bits = (uint64_t)x + 0x4338000000000000u;
    double y;
    memcpy(&y, &bits, sizeof(y));
    return y - 0x1.8p52;
}

S0_BODY int64_t s0_small_integer(double x)
{
    double y = x + 0x1.8p52;
    uint64_t bits;
    memcpy(&bits, &y, sizeof(bits));
    return (int64_t)(bits - 0x4338000000000000u);
}

#endif
