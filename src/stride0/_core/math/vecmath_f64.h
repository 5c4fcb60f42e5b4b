/* float64 functions; included by vecmath.h. */

/* 2**k for the integer k that the low bits of `t` hold, -1022 <= k <= 1023; 1024 gives infinity. */
VM_INLINE double vm_pow2_f64(double t) { return vm_double((vm_bits64(t) << 52) + ((uint64_t)1023 << 52)); }

/* All bits set if a < b, for a and b neither negative nor NaN. The compiler turns many `a < b ? p : q` in a row into branches, which
   do not vectorise; it does not do so with this. */
VM_INLINE uint64_t vm_less_f64(double a, double b) { return -((vm_bits64(a) - vm_bits64(b)) >> 63); }
VM_INLINE double vm_select_f64(uint64_t mask, double yes, double no) {
    return vm_double((vm_bits64(yes) & mask) | (vm_bits64(no) & ~mask));
}

/* -- exponential functions ------------------------------------------------------------------- */

#define VM_LOG2E 0x1.71547652b82fep+0
#define VM_LN2_HI 0x1.62e42fefa4p-1 /* 41 bits: the product with an integer below 2**12 is exact */
#define VM_LN2_LO -0x1.8432a1b0e2634p-43

/* (e**r - 1 - r) on +-ln(2)/2, relative error of e**r 2**-57.9 */
VM_INLINE double vm_exp_poly_f64(double r) {
    double z = r * r;
    double even = VM_HORNER(fma, z, 0x1.28aee4d806001p-22, 0x1.a01998840df77p-16, 0x1.6c16c184b7e05p-10, 0x1.55555555505ffp-5,
        0x1.000000000000ap-1);
    double odd = VM_HORNER(fma, z, 0x1.add205210eb2ep-26, 0x1.71def7accc26dp-19, 0x1.a01a013bc647fp-13, 0x1.111111112518dp-7,
        0x1.5555555555502p-3);
    return fma(r, odd, even);
}
VM_INLINE double vm_exp_tail_f64(double r) { return (r * r) * vm_exp_poly_f64(r); }

/* e**x / 2**k for the integer k near x / ln(2), which the low bits of *t hold */
VM_INLINE double vm_exp_core_f64(double x, double *t) {
    *t = fma(x, VM_LOG2E, VM_ROUND64);
    double k = *t - VM_ROUND64;
    double r = fma(-k, VM_LN2_LO, fma(-k, VM_LN2_HI, x));
    return fma(r, fma(r, vm_exp_poly_f64(r), 1.0), 1.0);
}

/* For x such that e**x is a normal number */
VM_INLINE double vm_exp_f64_fast(double x) {
    double t, y = vm_exp_core_f64(x, &t);
    return vm_double(vm_bits64(y) + (vm_bits64(t) << 52));
}
#define VM_EXP_RARE_F64(x) (vm_bits64(708.0) - (vm_bits64(x) & ~VM_SIGN64))

VM_INLINE double vm_exp_f64(double x) {
    double t, y = vm_exp_core_f64(x, &t);
    int low = x < 0.0;
    uint64_t bias = (uint64_t)(low ? 1023 + 64 : 1022) << 52;
    y = y * vm_double((vm_bits64(t) << 52) + bias) * (low ? 0x1p-64 : 2.0);
    y = x > 710.0 ? INFINITY : y;
    return x < -746.0 ? 0.0 : y;
}

/* e**r - 1 - r on +-ln(2)/2, relative error of e**r - 1 2**-61.6 */
VM_INLINE double vm_expm1_tail_f64(double r, double low) {
    double z = r * r;
    double even = VM_HORNER(fma, z, 0x1.af5d8effdd46ep-26, 0x1.71ddf8fcdba97p-19, 0x1.a01a01afab4dfp-13, 0x1.111111110f6fdp-7,
        0x1.5555555555559p-3);
    double odd = VM_HORNER(fma, z, 0x1.1f3a51ea5d8dfp-29, 0x1.27e4fa52331dap-22, 0x1.a01a019c81c1cp-16, 0x1.6c16c16c17014p-10,
        0x1.5555555555558p-5);
    return fma(0.5 * r, r, fma(z * r, fma(r, odd, even), low)); /* the half is added unrounded */
}

/* As in float32. */
VM_INLINE double vm_expm1_reduce_f64(double x, double *t, double *low) {
    *t = fma(x, VM_LOG2E, VM_ROUND64);
    double k = *t - VM_ROUND64;
    double d = fma(-k, VM_LN2_HI, x);
    double r = fma(-k, VM_LN2_LO, d);
    *low = fma(-k, VM_LN2_LO, d - r);
    return r;
}

VM_INLINE double vm_expm1_f64_fast(double x) {
    double t, low, r = vm_expm1_reduce_f64(x, &t, &low);
    double h = vm_double((vm_bits64(t) << 52) + ((uint64_t)1023 << 52));
    double g = h - 1.0;
    double s = fma(h, r, g);
    double e = fma(h, r, g - s);
    return copysign(s + fma(h, vm_expm1_tail_f64(r, low), e), x);
}
#define VM_EXPM1_RARE_F64(x) (vm_bits64(36.0) - (vm_bits64(x) & ~VM_SIGN64))

VM_INLINE double vm_expm1_f64(double x) {
    double a = x > 710.0 ? 710.0 : x;
    a = a < -40.0 ? -40.0 : a;
    double t, low, r = vm_expm1_reduce_f64(a, &t, &low);
    double h = vm_double((vm_bits64(t) << 52) + ((uint64_t)1022 << 52));
    double g = h - 0.5;
    double s = fma(h, r, g);
    double e = fma(h, r, g - s) + ((h - g) - 0.5);
    double y = s + fma(h, vm_expm1_tail_f64(r, low), e);
    return fabs(x) < 0x1p-55 ? x : y + y;
}

/* -- logarithms ------------------------------------------------------------------------------------------ */

/* log(1 + f) - f + h for 1 + f in [sqrt(1/2), sqrt(2)]. With s = f / (2 + f) the logarithm is 2 atanh(s), which is
   f - (h - s * (h + z * P(z))) for h = f**2 / 2 and z = s**2: in this form the rounding error of s matters little. Callers that
   have 1 + f compute d = 2 + f from it, so that the division does not wait for f. */
VM_INLINE double vm_log_cubic_f64(double f, double d, double h) {
    double s = f / d;
    double z = s * s;
    double p = VM_HORNER(fma, z, 0x1.2f03ba40ae629p-3, 0x1.39a1e8c8f2c3cp-3, 0x1.74663ced624dbp-3, 0x1.c71c521451403p-3,
        0x1.24924941e1558p-2, 0x1.999999997ff19p-2, 0x1.5555555555592p-1);
    return s * fma(z, p, h);
}

/* log(1 + f) - f */
VM_INLINE double vm_log_tail_f64(double f, double d) {
    double h = (0.5 * f) * f;
    return vm_log_cubic_f64(f, d, h) - h;
}

/* k * ln(2) + f + tail, with `small` the low part of f. The small terms are added first: then the sum with the tail rounds only
   once. */
VM_INLINE double vm_log_sum_f64(double k, double f, double small, double tail) {
    double s = fma(k, VM_LN2_HI, f);
    double e = f + fma(k, VM_LN2_HI, -s); /* exact, as k is 0 or |k ln(2)| > |f| */
    return s + (fma(k, VM_LN2_LO, e + small) + tail);
}

/* Bits: added to the bits of a number, they make the exponent change at sqrt(1/2) instead of 1; added to a mantissa, they move it
   between sqrt(1/2) and sqrt(2). */
#define VM_TO_SQRT_HALF ((uint64_t)(0x3ff00000 - 0x3fe6a09e) << 32)
#define VM_FROM_SQRT_HALF ((uint64_t)0x3fe6a09e << 32)
#define VM_MANTISSA 0xfffffffffffff

/* The biased exponent, the upper bits of u, as the low bits of 2**52. */
VM_INLINE double vm_exponent_f64(uint64_t u) { return vm_double((u >> 52) | (uint64_t)0x433 << 52); }

/* m and k of a normal x = 2**k * m */
VM_INLINE double vm_log_split_fast_f64(double x, double *k) {
    uint64_t u = vm_bits64(x) + VM_TO_SQRT_HALF;
    *k = vm_exponent_f64(u) - (0x1p52 + 1023);
    return vm_double((u & VM_MANTISSA) + VM_FROM_SQRT_HALF);
}
VM_INLINE double vm_log_split_f64(double x, double *k) {
    int tiny = x < 0x1p-1022;
    double m = vm_log_split_fast_f64(tiny ? x * 0x1p54 : x, k);
    *k = *k - (tiny ? 54.0 : 0.0);
    return m;
}

VM_INLINE double vm_log_edges_f64(double x, double y) {
    y = x < INFINITY ? y : x; /* infinity and NaN */
    double edge = x == 0.0 ? -INFINITY : NAN;
    return x <= 0.0 ? edge : y;
}

/* Whether x is not a positive normal number */
#define VM_LOG_RARE_F64(x) ((vm_bits64(x) - ((uint64_t)1 << 52)) | (vm_bits64(0x1.fffffffffffffp1023) - vm_bits64(x)))

/* Two versions of a logarithm from `sum` of k and f: for normal arguments, and for all */
#define VM_LOG_F64(name, sum)                                                                                \
    VM_INLINE double vm_##name##_f64_fast(double x) {                                                        \
        double k, m = vm_log_split_fast_f64(x, &k), f = m - 1.0, d = m + 1.0;                                \
        return sum;                                                                                          \
    }                                                                                                        \
    VM_INLINE double vm_##name##_f64(double x) {                                                             \
        double k, m = vm_log_split_f64(x, &k), f = m - 1.0, d = m + 1.0;                                     \
        return vm_log_edges_f64(x, sum);                                                                     \
    }

VM_LOG_F64(log, vm_log_sum_f64(k, f, 0.0, vm_log_tail_f64(f, d)))

/* The number without its n lowest bits. */
VM_INLINE double vm_truncated(double x, int n) { return vm_double(vm_bits64(x) & ~(((uint64_t)1 << n) - 1)); }

/* k * (kh + kl) + log(1 + f) * (ch + cl); k * kh is exact */
VM_INLINE double vm_log_scaled_f64(double k, double f, double d, double kh, double kl, double ch, double cl) {
    double h = (0.5 * f) * f;
    double m = f - h;
    double ml = ((f - m) - h) + (vm_log_cubic_f64(f, d, h) - fma(0.5 * f, f, -h));
    double high = k * kh;
    double s = fma(m, ch, high);
    double e = fma(m, ch, high - s);
    return s + fma(ml, ch, fma(m, cl, fma(k, kl, e)));
}

VM_LOG_F64(log2, vm_log_scaled_f64(k, f, d, 1.0, 0.0, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56))
VM_LOG_F64(log10, vm_log_scaled_f64(
    k, f, d, 0x1.34413509f8p-2, -0x1.80433b83b532ap-44, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57))

/* As in float32. */
VM_INLINE double vm_log1p_f64_fast(double x) {
    double v = 1.0 + x;
    double b = v - 1.0;
    double c = (x - b) + (1.0 - (v - b));
    uint64_t u = vm_bits64(v) + VM_TO_SQRT_HALF;
    double k = vm_exponent_f64(u) - (0x1p52 + 1023);
    double f = vm_double((u & VM_MANTISSA) + VM_FROM_SQRT_HALF) - 1.0;
    double scale = vm_double(((uint64_t)2047 << 52) - (u & ~(uint64_t)VM_MANTISSA)); /* 2 / 2**k */
    double low = (c * scale) * fma(f, fma(f, 0.5, -0.56066), 0.5);
    int near = (u & ~(uint64_t)VM_MANTISSA) == (uint64_t)1023 << 52; /* k == 0 */
    f = near ? x : f;
    low = near ? 0.0 : low;
    return copysign(vm_log_sum_f64(k, f, low, vm_log_tail_f64(f, 2.0 + f)), x); /* -0 */
}
#define VM_LOG1P_RARE_F64(x) VM_LOG_RARE_F64(1.0 + (x))

VM_INLINE double vm_log1p_f64(double x) {
    double y = vm_log1p_f64_fast(x);
    y = x < INFINITY ? y : x;
    y = x < -1.0 ? NAN : y;
    return x == -1.0 ? -INFINITY : y;
}

/* -- hyperbolic functions -------------------------------------------------------------------------------- */

/* As in float32. */
VM_INLINE double vm_tanh_f64(double x) {
    double a = fabs(x);
    double z = a * a;
    double n = (a * z) * fma(z, fma(z, 0x1.edcc2b790c35bp-1, 0x1.8da75d723d796p+6), 0x1.9452316c2bf7ap+10);
    double d = fma(z, fma(z, 0x1.c3ca999302b6dp+6 + z, 0x1.17df68039cb59p+11), 0x1.2f3da51120fa9p+12);
    double t = fma(a, 0x1.71547652b82fep+1, VM_ROUND64);
    double k = t - VM_ROUND64;
    double r = fma(-k, VM_LN2_LO, fma(-k, VM_LN2_HI, a + a));
    double p = fma(r * r, vm_exp_poly_f64(r), r);
    double m = vm_pow2_f64(t);
    double s = fma(m, p, m + 1.0);
    int small = a < 0.75;
    double q = (small ? n : fma(s, -0.25, 2.0)) / (small ? d : s);
    double y = (small ? a : 0.75) - q;
    y = a > 20.0 ? 1.0 : y;
    return copysign(y, x);
}
