/* Hyperbolic functions but tanh, their inverses, and logaddexp; included by vecmath.h. */

/* -- float32, computed in double ------------------------------------------------------------------------- */

/* With x = k ln(2) + r: e**x = 2**k (cosh r + sinh r). Relative errors 2**-37 and 2**-34. */
VM_INLINE double vm_sinh_short(double r, double z) {
    return r + (r * z) * (0x1.555555738e69dp-3 + z * (0x1.1110b1b571adcp-7 + z * 0x1.a1700affd54bcp-13));
}
VM_INLINE double vm_cosh_short(double z) {
    return 1.0 + z * (0x1.0000004409b12p-1 + z * (0x1.55547eadd8246p-5 + z * 0x1.6d97ad7c73c41p-10));
}

VM_INLINE float vm_sinh_f32(float x) {
    double a = fabsf(x);
    a = a > 100.0 ? 100.0 : a; /* infinite as a float */
    double t = a * VM_LOG2E + VM_ROUND64;
    double r = a - (t - VM_ROUND64) * 0x1.62e42fefa39efp-1;
    double up = vm_double((vm_bits64(t) << 52) + ((uint64_t)1022 << 52)); /* 2**k / 2 */
    double down = vm_double(((uint64_t)1022 << 52) - (vm_bits64(t) << 52));
    double z = r * r;
    return copysignf((float)((up - down) * vm_cosh_short(z) + (up + down) * vm_sinh_short(r, z)), x);
}

VM_INLINE float vm_cosh_f32(float x) {
    double a = fabsf(x);
    a = a > 100.0 ? 100.0 : a;
    double t = a * VM_LOG2E + VM_ROUND64;
    double r = a - (t - VM_ROUND64) * 0x1.62e42fefa39efp-1;
    double up = vm_double((vm_bits64(t) << 52) + ((uint64_t)1022 << 52));
    double down = vm_double(((uint64_t)1022 << 52) - (vm_bits64(t) << 52));
    double z = r * r;
    return (float)((up + down) * vm_cosh_short(z) + (up - down) * vm_sinh_short(r, z));
}

#define VM_LN2 0x1.62e42fefa39efp-1

/* Below 2**-13 the first terms of the series do, where 1 + x in the argument of the logarithm has too few
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

VM_INLINE float vm_atanh_f32(float x) {
    double a = fabsf(x);
    double y = 0.5 * VM_LN2 * vm_log2_wide((1.0 + a) / (1.0 - a));
    y = a < 0x1p-13 ? a + (a * a) * a * 0x1.5555555555555p-2 : y;
    y = a < 1.0 ? y : NAN;
    y = a == 1.0 ? INFINITY : y;
    return copysignf((float)y, x);
}

/* -- float64 --------------------------------------------------------------------------------------------- */

/* The reduced argument as rh with 26 bits and rl, and a quarter of 2**k and of 2**-k: results are computed
   by halves, which do not overflow before they have to. */
VM_INLINE double vm_reduce_exp_f64(double a, double *rl, double *up, double *down) {
    double t = a * VM_LOG2E + VM_ROUND64;
    double k = t - VM_ROUND64;
    double d = a - k * VM_LN2_HI;
    double w = k * VM_LN2_LO;
    double r = d - w;
    double rh = vm_cut(r, 27);
    *rl = (r - rh) + ((d - r) - w);
    *up = vm_double((vm_bits64(t) << 52) + ((uint64_t)1021 << 52));
    double v = vm_double(((uint64_t)1021 << 52) - (vm_bits64(t) << 52));
    *down = k > 1000.0 ? 0.0 : v; /* no exponent is left for it */
    return rh;
}

/* sinh(r) - rh and cosh(r) - 1 for r = rh + rl on +-ln(2)/2; relative errors 2**-61 and 2**-70 */
VM_INLINE double vm_sinh_tail_f64(double r, double z, double rl) {
    double z2 = z * z;
    double p = (0x1.5555555555559p-3 + z * 0x1.111111110f62ap-7) + z2 * ((0x1.a01a01b0204d0p-13
        + z * 0x1.71ddf7aff638ep-19) + z2 * 0x1.af5ff3056b6e1p-26);
    return rl + (r * z) * p;
}
VM_INLINE double vm_cosh_tail_f64(double z) {
    double z2 = z * z;
    double p = (0x1.5555555555558p-5 + z * 0x1.6c16c16c14ffap-10) + z2 * ((0x1.a01a01ad81040p-16
        + z * 0x1.27e4cc090e4cep-22) + z2 * 0x1.1f8bef0dad021p-29);
    return 0.5 * z + z2 * p;
}

/* a (1 + ct) + b (rh + st) for a = up + g and b = up - g, where the leading terms are taken with their
   errors: up to 2**13, b has so few bits that b * rh is exact, and beyond it up * rh is. */
VM_INLINE double vm_sum_hyper_f64(double up, double g, double ct, double rh, double st) {
    double a = up + g, b = up - g;
    double al = (up - a) + g;
    double c = up < 0x1p11 ? b : up;
    double lead = c * rh;
    double s = a + lead;
    double e = lead - (s - a);
    double y = s + (e + (((b - c) * rh + al) + (a * ct + b * st)));
    return y + y;
}

VM_INLINE double vm_sinh_f64(double x) {
    double a = fabs(x), rl, up, down;
    a = a > 710.6 ? 710.6 : a;
    double rh = vm_reduce_exp_f64(a, &rl, &up, &down);
    double r = rh + rl, z = r * r;
    double y = vm_sum_hyper_f64(up, -down, vm_cosh_tail_f64(z), rh, vm_sinh_tail_f64(r, z, rl));
    y = a < 0x1p-28 ? a : y; /* a fraction of a subnormal number may be none */
    return copysign(y, x);
}

VM_INLINE double vm_cosh_f64(double x) {
    double a = fabs(x), rl, up, down;
    a = a > 710.6 ? 710.6 : a;
    double rh = vm_reduce_exp_f64(a, &rl, &up, &down);
    double r = rh + rl, z = r * r;
    return vm_sum_hyper_f64(up, down, vm_cosh_tail_f64(z), rh, vm_sinh_tail_f64(r, z, rl));
}

/* -- float64 inverses ------------------------------------------------------------------------------------ */

/* x * x up to 2**-106 of it, as the rounded product and the rest */
VM_INLINE double vm_square_two_f64(double x, double *low) {
    double y = x * x;
    double a = vm_cut(x, 27), b = x - a;
    *low = ((a * a - y) + 2.0 * (a * b)) + b * b;
    return y;
}

/* What sqrt(p + low) is more than s, its rounded value for low = 0 */
VM_INLINE double vm_sqrt_rest_f64(double p, double low, double s) {
    double square = s * s;
    double a = vm_cut(s, 27), b = s - a;
    double rest = ((a * a - square) + 2.0 * (a * b)) + b * b;
    return (((p - square) - rest) + low) / (s + s + 0x1p-600);
}

/* log(1 + u + ul) as a sum of two numbers, for u > -0.9 and an ul too small to
   change u. Where `huge` is set, log(2u) instead. */
VM_INLINE double vm_log1p_two_f64(double u, double ul, int huge, double *rest) {
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
    low = low * (1.06066 - f);
    double high = k * VM_LN2_HI;
    double s = high + f;
    double e = f - (s - high);
    *rest = (e + (k * VM_LN2_LO + low)) + vm_log_tail_f64(f);
    return s;
}

/* asinh(a) = log1p(u) for u = a + (sqrt(1 + a**2) - 1), where everything rounded is caught. Beyond 2**30,
   log(2a). */
VM_INLINE double vm_asinh_f64(double x) {
    double a = fabs(x), zl, rest;
    int huge = a > 0x1p30;
    double z = vm_square_two_f64(a, &zl);
    double p = 1.0 + z;
    double b = p - 1.0;
    double pl = ((z - b) + (1.0 - (p - b))) + zl;
    double s = sqrt(p);
    double sl = vm_sqrt_rest_f64(p, pl, s);
    double d = s - 1.0;
    double v = a + d;
    double vl = ((a - v) + d) + sl;
    double u = v + vl;
    double y = vm_log1p_two_f64(huge ? a : u, (v - u) + vl, huge, &rest);
    y = y + rest;
    y = a < INFINITY ? y : a;
    return copysign(y, x);
}

/* Likewise with u = (x - 1) + sqrt(x**2 - 1). */
VM_INLINE double vm_acosh_f64(double x) {
    double zl, rest;
    int huge = x > 0x1p30;
    double z = vm_square_two_f64(x, &zl);
    double p = z - 1.0;
    double pl = ((z - p) - 1.0) + zl;
    double s = sqrt(p);
    double sl = vm_sqrt_rest_f64(p, pl, s);
    double d = x - 1.0;
    double v = s + d;
    double vl = ((s - v) + d) + sl;
    double u = v + vl;
    double y = vm_log1p_two_f64(huge ? x : u, (v - u) + vl, huge, &rest);
    y = y + rest;
    y = x < INFINITY ? y : x;
    return x < 1.0 ? NAN : y;
}

/* atanh(a) = log1p(2a / (1 - a)) / 2 */
VM_INLINE double vm_atanh_f64(double x) {
    double a = fabs(x), rest;
    double d = 1.0 - a;
    double dl = (1.0 - d) - a;
    double n = a + a;
    double inverse = 1.0 / d;
    double q = vm_cut(n * inverse, 27);
    double dh = vm_cut(d, 26);
    double ql = ((n - q * dh) - q * ((d - dh) + dl)) * inverse;
    double u = q + ql;
    double y = vm_log1p_two_f64(u, (q - u) + ql, 0, &rest);
    y = 0.5 * (y + rest);
    y = a < 1.0 ? y : NAN;
    y = a == 1.0 ? INFINITY : y;
    return copysign(y, x);
}

/* -- logaddexp ------------------------------------------------------------------------------------------- */

/* The larger one plus log1p(exp(d)) for the difference d. Equal operands are apart for two infinities of
   one sign. Where the terms cancel (both operands between -0.7 and 0), the error is that of the terms:
   below 2**-53. */
VM_INLINE double vm_logaddexp_f64(double x, double y) {
    double m = x > y ? x : y, least = x > y ? y : x;
    double d = least - m;
    double b = d - least;
    double dl = (least - (d - b)) - (m + b);
    d = x == y ? 0.0 : d;
    dl = x == y ? 0.0 : dl;
    dl = d < -760.0 ? 0.0 : dl;
    d = d < -760.0 ? -760.0 : d;
    double t = d * VM_LOG2E + VM_ROUND64;
    double k = t - VM_ROUND64;
    double h = d - k * VM_LN2_HI;
    double w = k * VM_LN2_LO;
    double r = h - w;
    dl = dl + ((h - r) - w);
    double s = 1.0 + r;
    double e = (r - (s - 1.0)) + vm_exp_tail_f64(r);
    e = e + dl * (s + e);
    int small = k < -512.0;
    double scale = vm_double((vm_bits64(t) << 52) + ((uint64_t)(small ? 1023 + 128 : 1023) << 52));
    double rest = small ? 0x1p-128 : 1.0;
    double u = (s + e) * scale * rest;
    double ul = ((s - (s + e)) + e) * scale * rest;
    double low;
    double l = vm_log1p_two_f64(u, ul, 0, &low);
    double sum = m + l;
    double c = sum - m;
    double error = (m - (sum - c)) + (l - c);
    double z = sum + (error + low);
    z = fabs(m) < INFINITY ? z : m;
    return (x != x) | (y != y) ? NAN : z;
}

VM_INLINE float vm_logaddexp_f32(float x, float y) {
    double m = x > y ? x : y, least = x > y ? y : x;
    double d = x == y ? 0.0 : least - m;
    double z = m + vm_log1p_f64(vm_exp_f64(d));
    return (float)((x != x) | (y != y) ? NAN : z);
}
