/* Hyperbolic functions except tanh, their inverses, and logaddexp; included by vecmath.h. */

/* -- float32 --------------------------------------------------------------------------------------------- */

/* With x = k ln(2) + r, twice the sum and the difference of e**x and e**-x are a * cosh(r) + b * sinh(r). Here a and b are the sum
   and the difference of 2**k and 2**-k, or the reverse. A quarter of the result is computed first, which does not overflow
   too early. */
VM_INLINE float vm_hyper_f32(float x, float sign) {
    float a = x > 89.6f ? 89.6f : x; /* infinite from there on */
    float t, low, r = vm_expm1_reduce_f32(a, &t, &low);
    uint32_t k = vm_bits32(t) << 23;
    float up = vm_float(k + (125u << 23)); /* a quarter of 2**k */
    int32_t e = (int32_t)((125u << 23) - k);
    float down = sign * vm_float((uint32_t)(e > 0 ? e : 0)); /* zero if the exponent would be out of range */
    float z = r * r;
    float c = z * fmaf(z, fmaf(z, 0x1.6d4f1p-10f, 0x1.5554e6p-5f), 0.5f);
    float s = fmaf(z * r, fmaf(z, fmaf(z, 0x1.a2e33p-13f, 0x1.110fbep-7f), 0x1.555556p-3f), low);
    float p = up + down, q = up - down;
    float lead = fmaf(q, r, p);
    float tail = fmaf(q, r, p - lead) + ((up - p) + down);
    float y = lead + fmaf(p, c, fmaf(q, s, tail));
    return (y + y);
}

VM_INLINE float vm_sinh_f32(float x) {
    float a = fabsf(x);
    float y = vm_hyper_f32(a, -1.0f);
    y = a < 0x1p-13f ? a : y; /* fractions of a subnormal number may not be exact */
    return copysignf(y, x);
}

VM_INLINE float vm_cosh_f32(float x) { return vm_hyper_f32(fabsf(x), 1.0f); }

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
    float v = 1.0f + u;
    float b = v - 1.0f;
    float c = (u - b) + (1.0f - (v - b));
    uint32_t bits = vm_bits32(v) - VM_SQRT_HALF_F;
    float k = (float)((int32_t)bits >> 23);
    float f = vm_float((bits & 0x7fffffu) + VM_SQRT_HALF_F) - 1.0f;
    float scale = vm_float((128u << 23) - (bits & 0xff800000u)); /* 2 / 2**k */
    int near = k == 0.0f;
    f = near ? u : f;
    float low = near ? ul : 0.5f * ((c + ul) * scale);
    low = low * (1.06066f - f);
    float s = fmaf(k, VM_LN2_HI_F, f);
    float e = f + fmaf(k, VM_LN2_HI_F, -s);
    float y = 0.5f * (s + (fmaf(k, VM_LN2_LO_F, e + low) + vm_log_tail_f32(f, 2.0f)));
    y = a < 0x1p-13f ? a : y;
    y = a < 1.0f ? y : NAN;
    y = a == 1.0f ? INFINITY : y;
    return copysignf(y, x);
}

/* -- float64 --------------------------------------------------------------------------------------------- */

/* The reduced argument as rh with 26 bits and rl, and a quarter of 2**k and of 2**-k: half of the result is computed first, which
   does not overflow too early. */
VM_INLINE double vm_reduce_exp_f64(double a, double *rl, double *up, double *down) {
    double t = a * VM_LOG2E + VM_ROUND64;
    double k = t - VM_ROUND64;
    double d = a - k * VM_LN2_HI;
    double w = k * VM_LN2_LO;
    double r = d - w;
    double rh = vm_truncated(r, 27);
    *rl = (r - rh) + ((d - r) - w);
    *up = vm_double((vm_bits64(t) << 52) + ((uint64_t)1021 << 52));
    double v = vm_double(((uint64_t)1021 << 52) - (vm_bits64(t) << 52));
    *down = k > 1000.0 ? 0.0 : v; /* the exponent would be out of range */
    return rh;
}

/* sinh(r) - rh and cosh(r) - 1 for r = rh + rl on +-ln(2)/2; relative errors 2**-61 and 2**-70 */
VM_INLINE double vm_sinh_tail_f64(double r, double z, double rl) {
    double p = VM_HORNER(fma, z, 0x1.af5ff3056b6e1p-26, 0x1.71ddf7aff638ep-19, 0x1.a01a01b0204d0p-13, 0x1.111111110f62ap-7,
        0x1.5555555555559p-3);
    return fma(r * z, p, rl);
}
VM_INLINE double vm_cosh_tail_f64(double z) {
    double p = VM_HORNER(fma, z, 0x1.1f8bef0dad021p-29, 0x1.27e4cc090e4cep-22, 0x1.a01a01ad81040p-16, 0x1.6c16c16c14ffap-10,
        0x1.5555555555558p-5);
    return z * fma(z, p, 0.5);
}

/* As in float32. */
VM_INLINE double vm_hyper_f64(double x, double sign) {
    double a = x > 710.6 ? 710.6 : x;
    double t, low, r = vm_expm1_reduce_f64(a, &t, &low);
    uint64_t k = vm_bits64(t) << 52;
    double up = vm_double(k + ((uint64_t)1021 << 52));
    double down = vm_double(((uint64_t)1021 << 52) - k);
    down = a > 600.0 ? 0.0 : sign * down;
    double z = r * r;
    double c = vm_cosh_tail_f64(z), s = vm_sinh_tail_f64(r, z, low);
    double p = up + down, q = up - down;
    double lead = fma(q, r, p);
    double tail = fma(q, r, p - lead) + ((up - p) + down);
    double y = lead + fma(p, c, fma(q, s, tail));
    return y + y;
}

VM_INLINE double vm_sinh_f64(double x) {
    double a = fabs(x);
    double y = vm_hyper_f64(a, -1.0);
    y = a < 0x1p-28 ? a : y; /* fractions of a subnormal number may not be exact */
    return copysign(y, x);
}

VM_INLINE double vm_cosh_f64(double x) { return vm_hyper_f64(fabs(x), 1.0); }

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
