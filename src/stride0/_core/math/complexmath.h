/* Scalar bodies of complex arithmetic, inlined by the generated loops.
 *
 * One version in double serves both complex types: complex64 is widened and the result rounded. That is nearly correctly
 * rounded, and intermediate results do not overflow. Only plain products of complex64 have their own version, by Note
 * [Products of complex64] in cproduct.h. Quotients, powers and the transcendental functions are whole loops, in
 * cvecmath.h. */
#ifndef STRIDE0_COMPLEXMATH_H
#define STRIDE0_COMPLEXMATH_H

#include "cproduct.h"
#include "cvecmath.h"
#include "scalars.h"

typedef struct { double re, im; } c128;

S0_BODY c128 make_c(double re, double im) { return (c128){re, im}; }
S0_BODY c128 add_c(c128 x, c128 y) { return make_c(x.re + y.re, x.im + y.im); }
S0_BODY c128 subtract_c(c128 x, c128 y) { return make_c(x.re - y.re, x.im - y.im); }
S0_BODY c128 negative_c(c128 z) { return make_c(-z.re, -z.im); }
S0_BODY c128 conj_c(c128 z) { return make_c(z.re, -z.im); }
S0_BODY c128 round_c(c128 z) { return make_c(rint(z.re), rint(z.im)); }
S0_BODY double abs_c(c128 z) { return vm_hypot_f64(z.re, z.im); }
S0_BODY double abs2_c(c128 z) { return z.re * z.re + z.im * z.im; }
S0_BODY int equal_c(c128 x, c128 y) { return (x.re == y.re) & (x.im == y.im); }
S0_BODY int not_equal_c(c128 x, c128 y) { return (x.re != y.re) | (x.im != y.im); }
S0_BODY int isnan_c(c128 z) { return isunordered(z.re, z.im); }
S0_BODY int isinf_c(c128 z) { return (fabs(z.re) == INFINITY) | (fabs(z.im) == INFINITY); }
S0_BODY int isfinite_c(c128 z) { return !isunordered(z.re - z.re, z.im - z.im); }

/* The textbook formula. The standard requires it if all parts are finite, and allows it otherwise. It adds a negated product
 * instead of subtracting one: from a difference next to a sum, GCC 12's vectoriser makes vfmaddsub instructions even under
 * -ffp-contract=off, and the bits would depend on the instruction set. */
S0_BODY c128 multiply_c(c128 x, c128 y)
{
    double minus_im = -x.im;
    return make_c(x.re * y.re + minus_im * y.im, x.im * y.re + x.re * y.im);
}

S0_BODY c128 multiply_c128(c128 x, c128 y) { return multiply_c(x, y); }

S0_BODY c128 multiply_c64(c128 x, c128 y)
{
    float a = (float)x.re, b = (float)x.im, c = (float)y.re, d = (float)y.im; /* exact, because they were widened from float32 */
    return make_c(s0_sum_of_products(a, c, -b, d), s0_sum_of_products(b, c, a, d));
}

S0_BODY c128 multiply_masked_c(c128 x, c128 y) { return ((x.re != 0) | (x.im != 0)) ? multiply_c(x, y) : x; }
S0_BODY c128 square_c(c128 z) { return multiply_c(z, z); }

/* z / abs(z) by parts, as the standard divides by a real number; an infinite part gives NaN (inf / inf). */
S0_BODY c128 sign_c(c128 z)
{
    double scale, size;
    if ((z.re == 0) & (z.im == 0))
        return make_c(0.0, 0.0);
    if (isnan_c(z))
        return make_c(NAN, NAN);
    size = fabs(z.re) > fabs(z.im) ? fabs(z.re) : fabs(z.im);
    scale = size > 1e307 ? 0.5 : size < 1e-290 ? 0x1p120 : 1.0; /* abs must not overflow or be subnormal */
    z = make_c(z.re * scale, z.im * scale);
    size = abs_c(z);
    return make_c(z.re / size, z.im / size);
}

#endif
