/* Bodies of division and powers that the loops inline, as `_f64` and `_f32`; powers of integers on 64 bits alone, which
 * serve the narrower types by conversion (what overflows wraps when it is stored). intdiv.h divides integers,
 * intpow.h raises blocks of them to powers.
 *
 * Nothing here depends on compiler flags that change values: no contraction, and `fma` is asked for by name. */
#ifndef STRIDE0_REALMATH_H
#define STRIDE0_REALMATH_H

#include "intdiv.h"
#include "intpow.h"
#include "scalars.h"

/* The floor of the exact quotient, as Python and NumPy give it for finite operands (1.0 // 0.1 is 9: the double 0.1 is a
 * little more than a tenth). `x / y` may have been rounded up to an integer (or to -0 by underflow), which the sign of
 * the exactly rounded remainder x - f*y tells. Infinite and zero operands go by floor(x / y), as the standard says and
 * Python does not: inf // 1 is inf, 1 // -inf is -0, 1 // 0 is inf. */
S0_BODY double floor_divide_f64(double x, double y)
{
    double f = floor(x / y), r = fma(-f, y, x);
    int above = ((r < 0) & (y > 0)) | ((r > 0) & (y < 0));
    /* x - x is 0 for finite x only. Beyond 2^53 f - 1 is no double that could be told from f. */
    int correctable = (y - y == 0) & (x - x == 0) & (f <= 0x1p53) & (f >= -0x1p53);
    return (above & correctable) ? f - 1.0 : f;
}

/* In double the quotient of two floats is never rounded across an integer below 2^28, never overflows (where a float
 * quotient would, the conversion does) and never underflows, so no correction is needed. */
S0_BODY float floor_divide_f32(float x, float y) { return (float)floor((double)x / (double)y); }

/* Python's %: fmod is exact; then a result of the other sign than y moves up by y (which is how a finite x of the other
 * sign modulo an infinite y becomes y), and a zero takes y's sign. fmod is NaN for x infinite or y zero. */
#define S0_REMAINDER(T, t, fmod)                                                                                     \
    S0_BODY T remainder_##t(T x, T y)                                                                                \
    {                                                                                                                \
        T r = fmod(x, y), moved = (r < 0) != (y < 0) ? r + y : r;                                                    \
        return r == 0 ? copysign_##t(0, y) : moved;                                                                  \
    }
S0_REMAINDER(double, f64, fmod)
S0_REMAINDER(float, f32, fmodf)

/* Modulo 2^64, hence right modulo every narrower power of two too, and for signed bases in two's complement. */
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
