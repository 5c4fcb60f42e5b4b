/* float64 functions; included by vecmath.h. */

/* 2**k for the integer k that the low bits of `t` hold, -1022 <= k <= 1023; 1024 gives infinity. */
VM_INLINE double vm_pow2_f64(double t) { return vm_double((vm_bits64(t) << 52) + ((uint64_t)1023 << 52)); }

/* All bits set if a < b, for a and b neither negative nor NaN. Of many `a < b ? p : q` in a row the
   compiler makes branches, which do not vectorise; these it leaves alone. */
VM_INLINE uint64_t vm_less_f64(double a, double b) { return -((vm_bits64(a) - vm_bits64(b)) >> 63); }
VM_INLINE double vm_select_f64(uint64_t mask, double yes, double no) {
    return vm_double((vm_bits64(yes) & mask) | (vm_bits64(no) & ~mask));
}

/* -- exponential function and its like ------------------------------------------------------------------- */

#define VM_LOG2E 0x1.71547652b82fep+0
#define VM_LN2_HI 0x1.62e42fefa4p-1 /* 41 bits: the product with an integer below 2**12 is exact */
#define VM_LN2_LO -0x1.8432a1b0e2634p-43

/* (e**r - 1 - r) on +-ln(2)/2, relative error of e**r 2**-57.9 */
VM_INLINE double vm_exp_tail_f64(double r) {
    double r2 = r * r, r4 = r2 * r2;
    double a = 0x1.000000000000ap-1 + r * 0x1.5555555555502p-3;
    double b = 0x1.55555555505ffp-5 + r * 0x1.111111112518dp-7;
    double c = 0x1.6c16c184b7e05p-10 + r * 0x1.a01a013bc647fp-13;
    double d = 0x1.a01998840df77p-16 + r * 0x1.71def7accc26dp-19;
    double e = 0x1.28aee4d806001p-22 + r * 0x1.add205210eb2ep-26;
    return r2 * ((a + r2 * b) + r4 * ((c + r2 * d) + r4 * e));
}

VM_INLINE double vm_exp_f64(double x) {
    double t = x * VM_LOG2E + VM_ROUND64;
    double k = t - VM_ROUND64;
    double r = (x - k * VM_LN2_HI) - k * VM_LN2_LO;
    double s = 1.0 + r;
    double y = s + ((r - (s - 1.0)) + vm_exp_tail_f64(r));
    int low = k < 0.0;
    uint64_t bias = (uint64_t)(low ? 1023 + 64 : 1022) << 52;
    double rest = low ? 0x1p-64 : 2.0;
    y = y * vm_double((vm_bits64(t) << 52) + bias) * rest;
    y = x > 710.0 ? INFINITY : y;
    return x < -746.0 ? 0.0 : y;
}

/* e**r - 1 - r on +-ln(2)/2, relative error of e**r - 1 2**-61.6 */
VM_INLINE double vm_expm1_tail_f64(double r) {
    double r2 = r * r, r4 = r2 * r2;
    double a = 0x1.5555555555559p-3 + r * 0x1.5555555555558p-5;
    double b = 0x1.111111110f6fdp-7 + r * 0x1.6c16c16c17014p-10;
    double c = 0x1.a01a01afab4dfp-13 + r * 0x1.a01a019c81c1cp-16;
    double d = 0x1.71ddf8fcdba97p-19 + r * 0x1.27e4fa52331dap-22;
    double e = 0x1.af5d8effdd46ep-26 + r * 0x1.1f3a51ea5d8dfp-29;
    return 0.5 * r2 + (r2 * r) * ((a + r2 * b) + r4 * ((c + r2 * d) + r4 * e));
}

/* As in float32. */
VM_INLINE double vm_expm1_f64(double x) {
    double t = x * VM_LOG2E + VM_ROUND64;
    double k = t - VM_ROUND64;
    double d = x - k * VM_LN2_HI;
    double w = k * VM_LN2_LO;
    double r = d - w;
    double low = (d - r) - w;
    double h = vm_double((vm_bits64(t) << 52) + ((uint64_t)1022 << 52));
    double g = h - 0.5;
    double hr = h * r;
    double s = g + hr;
    double e = (hr - (s - g)) + ((h - g) - 0.5);
    double y = s + (e + h * (low + vm_expm1_tail_f64(r)));
    y = y + y;
    y = fabs(x) < 0x1p-55 ? x : y;
    y = x > 710.0 ? INFINITY : y;
    return x < -40.0 ? -1.0 : y;
}

/* -- logarithms ------------------------------------------------------------------------------------------ */

/* log(1 + f) - f + h for 1 + f in [sqrt(1/2), sqrt(2)]. With s = f / (2 + f) the logarithm is 2 atanh(s),
   which is f - (h - s * (h + z * P(z))) for h = f**2 / 2 and z = s**2: rounding s harms little in this
   form. */
VM_INLINE double vm_log_cubic_f64(double f) {
    double s = f / (2.0 + f);
    double h = (0.5 * f) * f;
    double z = s * s, z2 = z * z, z4 = z2 * z2;
    double a = 0x1.5555555555592p-1 + z * 0x1.999999997ff19p-2;
    double b = 0x1.24924941e1558p-2 + z * 0x1.c71c521451403p-3;
    double c = 0x1.74663ced624dbp-3 + z * 0x1.39a1e8c8f2c3cp-3;
    double p = (a + z2 * b) + z4 * (c + z2 * 0x1.2f03ba40ae629p-3);
    return s * (h + z * p);
}

/* log(1 + f) - f */
VM_INLINE double vm_log_tail_f64(double f) { return vm_log_cubic_f64(f) - (0.5 * f) * f; }

/* k * ln(2) + f + tail, where `small` is k times the lower part of ln(2), or more. What is small is added
   first: the sum with the tail then rounds but once. */
VM_INLINE double vm_log_sum_f64(double k, double f, double small, double tail) {
    double high = k * VM_LN2_HI;
    double s = high + f;
    double e = f - (s - high); /* exact, as k is 0 or |high| > |f| */
    return s + ((e + small) + tail);
}

/* Bits: added to those of a number, they make the exponent change at sqrt(1/2) instead of 1; added to a
   mantissa, they put it between sqrt(1/2) and sqrt(2). */
#define VM_TO_SQRT_HALF ((uint64_t)(0x3ff00000 - 0x3fe6a09e) << 32)
#define VM_FROM_SQRT_HALF ((uint64_t)0x3fe6a09e << 32)
#define VM_MANTISSA 0xfffffffffffff

/* The biased exponent, the upper bits of u, as the low bits of 2**52. */
VM_INLINE double vm_exponent_f64(uint64_t u) { return vm_double((u >> 52) | (uint64_t)0x433 << 52); }

VM_INLINE double vm_log_split_f64(double x, double *k) {
    int tiny = x < 0x1p-1022;
    double n = tiny ? x * 0x1p54 : x;
    uint64_t u = vm_bits64(n) + VM_TO_SQRT_HALF;
    *k = vm_exponent_f64(u) - (tiny ? 0x1p52 + 1023 + 54 : 0x1p52 + 1023);
    return vm_double((u & VM_MANTISSA) + VM_FROM_SQRT_HALF) - 1.0;
}

VM_INLINE double vm_log_edges_f64(double x, double y) {
    y = x < INFINITY ? y : x; /* infinity and NaN */
    double edge = x == 0.0 ? -INFINITY : NAN;
    return x <= 0.0 ? edge : y;
}

VM_INLINE double vm_log_f64(double x) {
    double k;
    double f = vm_log_split_f64(x, &k);
    return vm_log_edges_f64(x, vm_log_sum_f64(k, f, k * VM_LN2_LO, vm_log_tail_f64(f)));
}

/* The number without its n lowest bits. */
VM_INLINE double vm_cut(double x, int n) { return vm_double(vm_bits64(x) & ~(((uint64_t)1 << n) - 1)); }

VM_INLINE double vm_log_scaled_f64(double k, double f, double kh, double kl, double ch, double cl) {
    double fh = vm_cut(f, 27), fl = f - fh;
    double square = (0.5 * fh) * fh;
    double m = fh - square;
    double mh = vm_cut(m, 27);
    double rest = ((fh - m) - square) + (fl - (0.5 * fl) * (f + fh));
    double ml = (m - mh) + (rest + vm_log_cubic_f64(f));
    double high = k * kh, lead = mh * ch;
    double s = high + lead;
    double e = lead - (s - high);
    return s + (e + (ml * (ch + cl) + (k * kl + mh * cl)));
}

VM_INLINE double vm_log2_f64(double x) {
    double k;
    double f = vm_log_split_f64(x, &k);
    return vm_log_edges_f64(x, vm_log_scaled_f64(k, f, 1.0, 0.0, 0x1.71547680p+0, -0x1.6a3e80f444178p-27));
}

VM_INLINE double vm_log10_f64(double x) {
    double k;
    double f = vm_log_split_f64(x, &k);
    double y = vm_log_scaled_f64(
        k, f, 0x1.34413509f8p-2, -0x1.80433b83b532ap-44, 0x1.bcb7b18p-2, -0x1.6c8d78e6acaa4p-29);
    return vm_log_edges_f64(x, y);
}

/* As in float32. */
VM_INLINE double vm_log1p_f64(double x) {
    double v = 1.0 + x;
    double b = v - 1.0;
    double c = (x - b) + (1.0 - (v - b));
    uint64_t u = vm_bits64(v) + VM_TO_SQRT_HALF;
    double k = vm_exponent_f64(u) - (0x1p52 + 1023);
    double f = vm_double((u & VM_MANTISSA) + VM_FROM_SQRT_HALF) - 1.0;
    double scale = vm_double(((uint64_t)2047 << 52) - (u & ~(uint64_t)VM_MANTISSA)); /* 2 / 2**k */
    double low = (c * scale) * (0.5 - f * (0.56066 - 0.5 * f));
    int near = k == 0.0;
    f = near ? x : f;
    double y = vm_log_sum_f64(k, f, k * VM_LN2_LO + (near ? 0.0 : low), vm_log_tail_f64(f));
    y = x < INFINITY ? y : x;
    y = x < -1.0 ? NAN : y;
    y = x == -1.0 ? -INFINITY : y;
    return copysign(y, x); /* -0 */
}

/* -- hyperbolic functions -------------------------------------------------------------------------------- */

/* As in float32. */
VM_INLINE double vm_tanh_f64(double x) {
    double a = fabs(x);
    double z = a * a;
    double n = (a * z) * (0x1.9452316c2bf7ap+10 + z * (0x1.8da75d723d796p+6 + z * 0x1.edcc2b790c35bp-1));
    double d = (0x1.2f3da51120fa9p+12 + z * 0x1.17df68039cb59p+11) + (z * z) * (0x1.c3ca999302b6dp+6 + z);
    double t = a * 0x1.71547652b82fep+1 + VM_ROUND64;
    double k = t - VM_ROUND64;
    double r = (a - k * 0x1.62e42fefa4p-2) + k * 0x1.8432a1b0e2634p-44; /* half of what is left of 2a */
    r = r + r;
    double p = r + vm_exp_tail_f64(r);
    double m = vm_pow2_f64(t);
    double s = (m + 1.0) + m * p;
    double q = (a < 0.75 ? n : 2.0 - 0.25 * s) / (a < 0.75 ? d : s);
    double y = (a < 0.75 ? a : 0.75) - q;
    y = a > 20.0 ? 1.0 : y;
    return copysign(y, x);
}
