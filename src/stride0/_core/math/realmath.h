/* Bodies of division and powers that the loops inline, as `_f64` and `_f32`. Powers of integers only exist for 64 bits; narrower
 * types are converted (overflow wraps when the result is stored). intdiv.h divides integers, intpow.h raises blocks of integers to
 * powers.
 *
 * The values do not depend on compiler flags: no contraction, and `fma` is called explicitly. */
#ifndef STRIDE0_REALMATH_H
#define STRIDE0_REALMATH_H

#include "intdiv.h"
#include "intpow.h"
#include "scalars.h"

/* The floor of the exact quotient, as Python and NumPy compute it for finite operands (1.0 // 0.1 is 9, because the double 0.1 is
 * slightly larger than 0.1). `x / y` may have been rounded up to an integer (or to -0 by underflow); the sign of the exactly rounded
 * remainder x - f*y shows that. For infinite and zero operands the result is floor(x / y), as the standard says and Python does
 * not: inf // 1 is inf, 1 // -inf is -0, 1 // 0 is inf. */
S0_BODY double floor_divide_f64(double x, double y)
{
    double f = floor(x / y), r = fma(-f, y, x);
    int above = ((r < 0) & (y > 0)) | ((r > 0) & (y < 0));
    /* x - x is 0 only for finite x. Beyond 2^53, f - 1 rounds to f. */
    int correctable = (y - y == 0) & (x - x == 0) & (f <= 0x1p53) & (f >= -0x1p53);
    return (above & correctable) ? f - 1.0 : f;
}

/* In double the quotient of two floats is never rounded across an integer below 2^28, never overflows (the conversion to float
 * overflows instead) and never underflows, so no correction is needed. */
S0_BODY float floor_divide_f32(float x, float y) { return (float)floor((double)x / (double)y); }

/* Python's %: fmod is exact. A result with another sign than y is increased by y (so a finite x modulo an infinite y of the other
 * sign becomes y), and a zero takes y's sign. fmod is NaN if x is infinite or y is zero. */
#define S0_REMAINDER(T, t, fmod)                                                                                     \
    S0_BODY T remainder_##t(T x, T y)                                                                                \
    {                                                                                                                \
        T r = fmod(x, y), moved = (r < 0) != (y < 0) ? r + y : r;                                                    \
        return r == 0 ? copysign_##t(0, y) : moved;                                                                  \
    }
S0_REMAINDER(double, f64, fmod)
S0_REMAINDER(float, f32, fmodf)

/* The same bits for moderate quotients: x minus a multiple of y is exact if the result is smaller than y in magnitude. The quotient
 * of two doubles may have been rounded up to the next integer, which the sign of the remainder shows. The quotient of two floats,
 * in double and below 2^28, is not rounded up, and its products are exact. The first bit of `rare` is set for other quotients, and
 * if y is infinite. */
VM_INLINE double vm_remainder_end_f64(double r, double y)
{
    double moved = ((r < 0) != (y < 0)) ? r + y : r;
    return r == 0 ? copysign(0.0, y) : moved;
}
VM_INLINE uint64_t s0_long_quotient(double q, double y, double limit)
{
    const uint64_t size = vm_bits64(q) & ~VM_SIGN64, infinity = vm_bits64(INFINITY);
    return ((vm_bits64(limit) - 1) - size) | ((infinity - 1) - (vm_bits64(y) & ~VM_SIGN64));
}

#define vm_remainder_f64 remainder_f64
#define vm_remainder_f32 remainder_f32
#if defined(FP_FAST_FMA) || defined(__FMA__)
VM_INLINE double vm_remainder_f64_fast(double x, double y, uint64_t *rare)
{
    double q = x / y, r = fma(-trunc(q), y, x);
    *rare = s0_long_quotient(q, y, 0x1p52);
    r = (((r < 0) != (x < 0)) & (r != 0)) ? r + ((r < 0) == (y < 0) ? -y : y) : r;
    return vm_remainder_end_f64(r, y);
}
VM_BLOCK_2(remainder_f64, double, uint64_t)
#else
VM_INLINE uint64_t vm_remainder_f64_block(const double *x, const double *y, double *z, ptrdiff_t n)
{
    (void)x, (void)y, (void)z, (void)n;
    return VM_SIGN64; /* always by fmod, which is exact too: libm's fma would take longer */
}
#endif
VM_RUN_2(remainder_f64, double, uint64_t)

VM_INLINE float vm_remainder_f32_fast(float x, float y, uint64_t *rare)
{
    double a = x, b = y, q = a / b, r = a - trunc(q) * b;
    *rare = s0_long_quotient(q, b, 0x1p28);
    /* The sum is rounded in float. */
    float left = (float)r, moved = ((left < 0) != (y < 0)) ? left + y : left;
    return left == 0 ? copysignf(0.0f, y) : moved;
}
VM_BLOCK_2(remainder_f32, float, uint64_t)
VM_RUN_2(remainder_f32, float, uint64_t)

/* Modulo 2^64, hence also right modulo smaller powers of two, and for signed bases in two's complement. */
S0_BODY uint64_t pow_u64(uint64_t x, uint64_t n)
{
    uint64_t out = 1;
    for (; n != 0; n >>= 1) {
        if (n & 1)
            out *= x;
        x *= x;
    }
    return out;
}

#endif
