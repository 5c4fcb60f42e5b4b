/* Inverse hyperbolic functions and logaddexp; included by vecmath.h. The algorithms differ by precision:
   asinh, acosh and logaddexp of float32 are computed in double, the float64 functions with two numbers. */

/* -- float32, computed in double ------------------------------------------------------------------------- */

#define VM_LN2 0x1.62e42fefa39efp-1

/* Below 2**-13 the first terms of the series suffice, and 1 + x in the argument of the logarithm would have too few
   bits. */
VM_INLINE float vm_asinh_f32(float x) {
    double a = fabsf(x);
    double y = VM_LN2 * vm_log2_wide(a + sqrt(a * a + 1.0));
    y = a < 0x1p-13 ? a - (a * a) * a * 0x1.5555555555555p-3 : y;
    y = a < INFINITY ? y : a;
    return copysignf((float)y, x);
}

VM_INLINE float vm_acosh_f32(float x) {
    double a = x;
    double y = VM_LN2 * vm_log2_wide(a + sqrt(a * a - 1.0));
    y = a < INFINITY ? y : a;
    return (float)(a < 1.0 ? NAN : y);
}

/* atanh(a) = log1p(2a / (1 - a)) / 2. As in float64. */
VM_INLINE float vm_atanh_f32(float x) {
    float a = fabsf(x);
    float d = 1.0f - a;
    float dl = (1.0f - d) - a;
    float n = a + a;
    float inverse = 1.0f / d;
    float u = n * inverse;
    float ul = fmaf(-u, dl, fmaf(-u, d, n)) * inverse;
    float v = 1.0f + u, k, scale;
    float b = v - 1.0f;
    float c = (u - b) + (1.0f - (v - b));
    int near;
    float f = vm_log1p_split_f32(v, &k, &scale, &near);
    f = near ? u : f;
    float low = near ? ul : 0.5f * ((c + ul) * scale);
    low = low * (1.06066f - f);
    float y = 0.5f * vm_log_sum_f32(k, f, low, vm_log_tail_f32(f, 2.0f));
    y = a < 0x1p-13f ? a : y;
    y = a < 1.0f ? y : NAN;
    y = a == 1.0f ? INFINITY : y;
    return copysignf(y, x);
}

/* -- float64 inverses ------------------------------------------------------------------------------------ */

/* x * x up to 2**-106 of it, as the rounded product and its error */
VM_INLINE double vm_square_two_f64(double x, double *low) {
    double y = x * x;
    *low = fma(x, x, -y);
    return y;
}

/* sqrt(p + low) - s, with s the rounded sqrt(p) */
VM_INLINE double vm_sqrt_error_f64(double p, double low, double s) {
    return (fma(-s, s, p) + low) / (s + s + 0x1p-600);
}

/* log(1 + u + ul) as a sum of two numbers, of which only the second has rounding errors, for u > -0.9 and an ul too small to change
   u. If `huge` is set, log(2u) instead. */
VM_INLINE double vm_log1p_two_f64(double u, double ul, int huge, double *tail) {
    double v = 1.0 + u;
    double b = v - 1.0;
    double c = (u - b) + (1.0 - (v - b));
    v = huge ? u : v;
    uint64_t bits = vm_bits64(v) + VM_TO_SQRT_HALF;
    double k = vm_exponent_f64(bits) - (huge ? 0x1p52 + 1022 : 0x1p52 + 1023);
    double f = vm_double((bits & VM_MANTISSA) + VM_FROM_SQRT_HALF) - 1.0;
    double scale = vm_double(((uint64_t)2047 << 52) - (bits & ~(uint64_t)VM_MANTISSA)); /* 2 / 2**k */
    int near = k == 0.0;
    double low = near ? ul : 0.5 * ((c + ul) * scale);
    low = huge ? 0.0 : low;
    f = near ? u : f;
    low = low * fma(f, f - 1.12132, 1.0); /* over 1 + f */
    double h = (0.5 * f) * f;
    double small = vm_log_cubic_f64(f, 2.0 + f, h) - fma(0.5 * f, f, -h);
    double s = fma(k, VM_LN2_HI, f);
    double e = f + fma(k, VM_LN2_HI, -s);
    *tail = (fma(k, VM_LN2_LO, e + low) + small) - h; /* the largest term last */
    return s;
}

/* asinh(a) = log1p(u) for u = a + (sqrt(1 + a**2) - 1), with all rounding errors kept. Beyond 2**30 it is
   log(2a). */
VM_INLINE double vm_asinh_f64(double x) {
    double a = fabs(x), zl, tail;
    int huge = a > 0x1p30;
    double z = vm_square_two_f64(a, &zl);
    double p = 1.0 + z;
    double b = p - 1.0;
    double pl = ((z - b) + (1.0 - (p - b))) + zl;
    double s = sqrt(p);
    double sl = vm_sqrt_error_f64(p, pl, s);
    double d = s - 1.0;
    double v = a + d;
    double vl = ((a - v) + d) + sl;
    double u = v + vl;
    double y = vm_log1p_two_f64(huge ? a : u, (v - u) + vl, huge, &tail);
    y = y + tail;
    y = a < INFINITY ? y : a;
    return copysign(y, x);
}

/* The same with u = (x - 1) + sqrt(x**2 - 1). */
VM_INLINE double vm_acosh_f64(double x) {
    double zl, tail;
    int huge = x > 0x1p30;
    double z = vm_square_two_f64(x, &zl);
    double p = z - 1.0;
    double pl = ((z - p) - 1.0) + zl;
    double s = sqrt(p);
    double sl = vm_sqrt_error_f64(p, pl, s);
    double d = x - 1.0;
    double v = s + d;
    double vl = ((s - v) + d) + sl;
    double u = v + vl;
    double y = vm_log1p_two_f64(huge ? x : u, (v - u) + vl, huge, &tail);
    y = y + tail;
    y = x < INFINITY ? y : x;
    return x < 1.0 ? NAN : y;
}

/* atanh(a) = log1p(2a / (1 - a)) / 2 */
VM_INLINE double vm_atanh_f64(double x) {
    double a = fabs(x), tail;
    double d = 1.0 - a;
    double dl = (1.0 - d) - a;
    double n = a + a;
    double inverse = 1.0 / d;
    double q = n * inverse;
    double ql = fma(-q, dl, fma(-q, d, n)) * inverse;
    double u = q + ql;
    double y = vm_log1p_two_f64(u, (q - u) + ql, 0, &tail);
    y = 0.5 * (y + tail);
    y = a < 1.0 ? y : NAN;
    y = a == 1.0 ? INFINITY : y;
    return copysign(y, x);
}

/* -- logaddexp ------------------------------------------------------------------------------------------- */

/* The larger operand plus log1p(exp(d)) for the difference d. Equal operands are handled separately, because of two infinities with
   the same sign. If the terms cancel (both operands between -0.7 and 0), the error that remains is a fraction of a unit in the last
   place of the larger operand. */
VM_INLINE double vm_logaddexp_f64(double x, double y) {
    double m = x > y ? x : y, least = x > y ? y : x;
    double d = least - m;
    double b = d - least;
    double dl = (least - (d - b)) - (m + b);
    d = x == y ? 0.0 : d;
    dl = x == y ? 0.0 : dl;
    dl = d < -760.0 ? 0.0 : dl;
    d = d < -760.0 ? -760.0 : d;
    double t, rl, r = vm_expm1_reduce_f64(d, &t, &rl);
    double k = t - VM_ROUND64;
    dl = dl + rl;
    double s = 1.0 + r;
    double e = (r - (s - 1.0)) + vm_expm1_tail_f64(r, 0.0);
    e = e + dl * (s + e);
    int small = k < -512.0;
    double scale = vm_double((vm_bits64(t) << 52) + ((uint64_t)(small ? 1023 + 128 : 1023) << 52));
    double unscale = small ? 0x1p-128 : 1.0;
    double u = (s + e) * scale * unscale;
    double ul = ((s - (s + e)) + e) * scale * unscale;
    double low;
    double l = vm_log1p_two_f64(u, ul, 0, &low);
    double sum = m + l;
    double c = sum - m;
    double error = (m - (sum - c)) + (l - c);
    double z = sum + (error + low);
    z = fabs(m) < INFINITY ? z : m;
    return ((x != x) | (y != y)) ? NAN : z;
}

VM_INLINE float vm_logaddexp_f32(float x, float y) {
    double m = x > y ? x : y, least = x > y ? y : x;
    double d = x == y ? 0.0 : least - m;
    double z = m + vm_log1p_f64(vm_exp_f64(d));
    return (float)(((x != x) | (y != y)) ? NAN : z);
}
