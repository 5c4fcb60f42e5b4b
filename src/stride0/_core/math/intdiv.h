/* Vectorised integer division: quotients rounded down and their remainders, 0 if the divisor is 0.
 *
 * Processors divide vectors of floating-point numbers, but not of integers. Each function is exact for all operands:
 *
 * - 8 and 16 bits by float, 32 bits by double. The quotient x / y of integers below 2^b has a rounding error of at most
 *   2^b * 2^-p / |y| (p is 24 or 53). A fractional quotient is at least 1 / |y| away from the next integer. Because b < p, the
 *   rounded quotient has the floor of the exact quotient.
 * - 64 bits, signed: a first quotient x * (1 / y) in double is off by at most |x / y| * 2^-51 + 1, so that it leaves a remainder of
 *   at most |y| + 2^12. A second quotient, of that remainder, is off by at most 1; both are corrected in integers. This pays if
 *   vectors of 64-bit integers can be converted and multiplied. If both operands are below 2^51, as usual, division is by double
 *   as for 32 bits (Note [Fast and rare] in vecmath_run.h).
 *
 * The quotient that does not fit, the smallest integer by -1, wraps. */
#ifndef STRIDE0_INTDIV_H
#define STRIDE0_INTDIV_H

#include <math.h>
#include <stdint.h>

#include "scalars.h"
#include "vecmath.h"

static inline int32_t floor_divide_i16(int32_t x, int32_t y)
{
    return y == 0 ? 0 : (int32_t)floorf((float)x / (float)(y == 0 ? 1 : y));
}

static inline int32_t remainder_i16(int32_t x, int32_t y) { return y == 0 ? 0 : x - floor_divide_i16(x, y) * y; }

#define floor_divide_i8 floor_divide_i16
#define remainder_i8 remainder_i16
#define floor_divide_u8 floor_divide_i16
#define remainder_u8 remainder_i16
#define floor_divide_u16 floor_divide_i16
#define remainder_u16 remainder_i16

static inline int32_t floor_divide_i32(int32_t x, int32_t y)
{
    double q = floor((double)x / (double)(y == 0 ? 1 : y));
    return y == 0 ? 0 : (int32_t)(q > 2147483647.0 ? -2147483648.0 : q);
}

static inline int32_t remainder_i32(int32_t x, int32_t y)
{
    return y == 0 ? 0 : (int32_t)((uint32_t)x - (uint32_t)floor_divide_i32(x, y) * (uint32_t)y);
}

/* All processors convert vectors of signed integers, but few convert unsigned ones. */
static inline double s0_from_u32(uint32_t x) { return (double)(int32_t)(x ^ 0x80000000u) + 2147483648.0; }

static inline uint32_t floor_divide_u32(uint32_t x, uint32_t y)
{
    double q = floor(s0_from_u32(x) / s0_from_u32(y == 0 ? 1 : y));
    return y == 0 ? 0 : (uint32_t)(int32_t)(q - 2147483648.0) ^ 0x80000000u;
}

static inline uint32_t remainder_u32(uint32_t x, uint32_t y) { return y == 0 ? 0 : x - floor_divide_u32(x, y) * y; }

static inline uint64_t floor_divide_u64(uint64_t x, uint64_t y) { return y == 0 ? 0 : x / y; }
static inline uint64_t remainder_u64(uint64_t x, uint64_t y) { return y == 0 ? 0 : x % y; }

#if defined(__AVX512DQ__)
static inline int64_t floor_divide_i64(int64_t x, int64_t y)
{
    uint64_t plain = (uint64_t)x * (uint64_t)y; /* for y = 0, 1 or -1 */
    int one = (y >= -1) & (y <= 1);
    int64_t d = one ? 2 : y;
    double inverse = 1.0 / (double)d;
    int64_t q = (int64_t)((double)x * inverse);
    int64_t r = (int64_t)((uint64_t)x - (uint64_t)q * (uint64_t)d);
    int64_t more = (int64_t)((double)r * inverse);
    q += more;
    r = (int64_t)((uint64_t)r - (uint64_t)more * (uint64_t)d);
    /* Now r is within (-2 |d|, 2 |d|), and has to be 0 or to lie between 0 and d. */
    {
        int64_t size = d < 0 ? -(d + 1) : d - 1; /* |d| - 1, which never overflows */
        int64_t toward = d < 0 ? -1 : 1;
        int above = r > size, below = r < -size;
        q += above ? toward : below ? -toward : 0;
        r = (int64_t)((uint64_t)r - (uint64_t)(above ? size : below ? -size : 0));
        r -= above ? 1 : below ? -1 : 0;
        q -= (r != 0) & ((r < 0) != (d < 0));
    }
    return one ? (int64_t)plain : q;
}
#else
static inline int64_t floor_divide_i64(int64_t x, int64_t y)
{
    int64_t q;
    if (y == 0)
        return 0;
    if (y == -1) /* the processor traps if the quotient does not fit */
        return (int64_t)(0 - (uint64_t)x);
    q = x / y;
    return q - ((q * y != x) & ((x < 0) != (y < 0)));
}
#endif

static inline int64_t remainder_i64(int64_t x, int64_t y)
{
    return y == 0 ? 0 : (int64_t)((uint64_t)x - (uint64_t)floor_divide_i64(x, y) * (uint64_t)y);
}

/* Loops over 64-bit integers. */
#define vm_floor_divide_i64 floor_divide_i64
#define vm_remainder_i64 remainder_i64

/* The first bit is set if x or y is not below 2^51. */
VM_INLINE uint64_t s0_large(int64_t x, int64_t y)
{
    uint64_t both = ((uint64_t)x + (1ull << 51)) | ((uint64_t)y + (1ull << 51));
    return both | (both + (1ull << 63) - (1ull << 52));
}

VM_INLINE int64_t vm_floor_divide_i64_fast(int64_t x, int64_t y, uint64_t *rare)
{
    *rare = s0_large(x, y);
    return y == 0 ? 0 : s0_small_integer(floor(s0_small_double(x) / s0_small_double(y == 0 ? 1 : y)));
}

VM_INLINE int64_t vm_remainder_i64_fast(int64_t x, int64_t y, uint64_t *rare)
{
    double a = s0_small_double(x), b = s0_small_double(y == 0 ? 1 : y);
    *rare = s0_large(x, y);
    return y == 0 ? 0 : s0_small_integer(a - floor(a / b) * b);
}

VM_GATHER(int64_t)
VM_BLOCK_2(floor_divide_i64, int64_t, uint64_t)
VM_RUN_2(floor_divide_i64, int64_t, uint64_t)
VM_BLOCK_2(remainder_i64, int64_t, uint64_t)
VM_RUN_2(remainder_i64, int64_t, uint64_t)

#endif
