/* e**x, e**x - 1 and tanh in both precisions; included twice by vecmath.h.

   Range: all numbers, subnormal results included. Method: Cody and Waite's reduction x = k ln(2) + r with |r| <= ln(2) / 2, and a minimax
   polynomial of r. Relative error of the polynomials: 2**-28.2 in float32, 2**-57.9 (e**x) and 2**-61.6 (e**x - 1) in float64. The
   programs in conformance/accuracy measure the errors of the functions. */

#if VM_PRECISION == 64
#define VM_LOG2E 0x1.71547652b82fep+0
#define VM_LN2_HI 0x1.62e42fefa4p-1 /* 41 bits: the product with an integer below 2**12 is exact */
#define VM_LN2_LO -0x1.8432a1b0e2634p-43

/* (e**r - 1 - r) / r**2 */
VM_INLINE double vm_exp_poly_f64(double r) {
    double z = r * r;
    double even = VM_HORNER(fma, z, 0x1.28aee4d806001p-22, 0x1.a01998840df77p-16, 0x1.6c16c184b7e05p-10, 0x1.55555555505ffp-5,
        0x1.000000000000ap-1);
    double odd = VM_HORNER(fma, z, 0x1.add205210eb2ep-26, 0x1.71def7accc26dp-19, 0x1.a01a013bc647fp-13, 0x1.111111112518dp-7,
        0x1.5555555555502p-3);
    return fma(r, odd, even);
}
VM_INLINE double vm_exp_tail_f64(double r) { return (r * r) * vm_exp_poly_f64(r); }

/* e**r - 1 - r + low */
VM_INLINE double vm_expm1_tail_f64(double r, double low) {
    double z = r * r;
    double even = VM_HORNER(fma, z, 0x1.af5d8effdd46ep-26, 0x1.71ddf8fcdba97p-19, 0x1.a01a01afab4dfp-13, 0x1.111111110f6fdp-7,
        0x1.5555555555559p-3);
    double odd = VM_HORNER(fma, z, 0x1.1f3a51ea5d8dfp-29, 0x1.27e4fa52331dap-22, 0x1.a01a019c81c1cp-16, 0x1.6c16c16c17014p-10,
        0x1.5555555555558p-5);
    return fma(0.5 * r, r, fma(z * r, fma(r, odd, even), low)); /* the half is added unrounded */
}
#else
#define VM_LOG2E_F 0x1.715476p+0f
#define VM_LN2_HI_F 0x1.62e43p-1f
#define VM_LN2_LO_F -0x1.05c61p-29f

VM_INLINE float vm_exp_poly_f32(float r) {
    return VM_HORNER(fmaf, r, 0x1.6ac816p-10f, 0x1.123de8p-7f, 0x1.555858p-5f, 0x1.55548cp-3f, 0x1.fffffcp-2f);
}
VM_INLINE float vm_expm1_tail_f32(float r, float low) {
    float q = VM_HORNER(fmaf, r, 0x1.3b879ep-13f, 0x1.6d2e4ep-10f, 0x1.1155aap-7f, 0x1.555502p-5f, 0x1.55552cp-3f);
    return fmaf(r * r, fmaf(r, q, 0.5f), low);
}
#endif

/* -- exp --------------------------------------------------------------------------------------------------- */

/* e**x / 2**k for the integer k near x / ln(2), which the low bits of *t hold */
VM_INLINE VM_T VM_(exp_core)(VM_T x, VM_T *t) {
    *t = VM_FMA(x, VM_K(LOG2E), VM_ROUND);
    VM_T k = *t - VM_ROUND;
    VM_T r = VM_FMA(-k, VM_K(LN2_LO), VM_FMA(-k, VM_K(LN2_HI), x));
    return VM_FMA(r, VM_FMA(r, VM_(exp_poly)(r), 1), 1);
}

/* y * 2**k, rounded once, for the k in the low bits of t and y near 1. `low` says whether k is negative. Because k may exceed the
   exponents of normal numbers, a factor of 2 or 2**-64 is applied separately: this step overflows to infinity, and rounds
   subnormal results. */
VM_INLINE VM_T VM_(scaled_if)(VM_T y, VM_T t, int low) {
    VM_U bias = VM_EXPONENT(low ? VM_BIAS + 64 : VM_BIAS - 1);
    return y * VM_FROM_BITS((VM_AS_BITS(t) << VM_DIGITS) + bias) * (low ? VM_C(0x1p-64) : 2);
}

VM_INLINE VM_T VM_(scaled)(VM_T y, VM_T t) { return VM_(scaled_if)(y, t, t < VM_ROUND); }

/* For x such that e**x is a normal number */
VM_INLINE VM_T VM_FAST(exp)(VM_T x) {
    VM_T t, y = VM_(exp_core)(x, &t);
    return VM_TIMES_POW2(y, t);
}
/* Out of range the reduction gives garbage, which is replaced at the end: if the comparison came first, everything would wait
   for it. */
VM_INLINE VM_T VM_(exp)(VM_T x) {
    VM_T t, y = VM_(exp_core)(x, &t);
    y = VM_(scaled_if)(y, t, x < 0);
    y = x > VM_PICK(710, 89) ? INFINITY : y;
    return x < VM_PICK(-746, -104) ? 0 : y;
}

/* -- expm1 ------------------------------------------------------------------------------------------------- */

/* x - k ln(2) for the integer k in the low bits of *t, and its rounding error */
VM_INLINE VM_T VM_(expm1_reduce)(VM_T x, VM_T *t, VM_T *low) {
    *t = VM_FMA(x, VM_K(LOG2E), VM_ROUND);
    VM_T k = *t - VM_ROUND;
    VM_T d = VM_FMA(-k, VM_K(LN2_HI), x);
    VM_T r = VM_FMA(-k, VM_K(LN2_LO), d);
    *low = VM_FMA(-k, VM_K(LN2_LO), d - r);
    return r;
}

/* (h - 1) + h * (r + tail) for h = 2**k. The sum of the first three terms is computed with its error, because there is
   cancellation for k = 1; for the same reason r has a second part. */
VM_INLINE VM_T VM_FAST(expm1)(VM_T x) {
    VM_T t, low, r = VM_(expm1_reduce)(x, &t, &low);
    VM_T h = VM_POW2(t, 0);
    VM_T g = h - 1; /* exact, because |k| is at most the number of digits */
    VM_T s = VM_FMA(h, r, g);
    VM_T e = VM_FMA(h, r, g - s);
    return VM_COPYSIGN(s + VM_FMA(h, VM_(expm1_tail)(r, low), e), x); /* -0 */
}

/* Computes half of it first, because 2**128 is not a float and 2**1024 not a double. */
VM_INLINE VM_T VM_(expm1)(VM_T x) {
    VM_T a = x > VM_PICK(710, 89) ? VM_PICK(710, 89) : x;
    a = a < VM_PICK(-40, -18) ? VM_PICK(-40, -18) : a;
    VM_T t, low, r = VM_(expm1_reduce)(a, &t, &low);
    VM_T h = VM_POW2(t, -1);
    VM_T g = h - VM_C(0.5);
    VM_T s = VM_FMA(h, r, g);
    VM_T e = VM_FMA(h, r, g - s) + ((h - g) - VM_C(0.5));
    VM_T y = s + VM_FMA(h, VM_(expm1_tail)(r, low), e);
    return VM_FABS(x) < VM_PICK(0x1p-55, 0x1p-26f) ? x : y + y; /* a subnormal number may not have an exact half; also keeps -0 */
}

/* -- tanh -------------------------------------------------------------------------------------------------- */

/* Below 3/4, x - x**3 * N(x**2) / D(x**2); from there on 1 - 2 / s for s = e**(2x) + 1, written as 3/4 - (2 - s/4) / s. In both
   forms the quotient is at most a third of the result, so its error counts less. One division serves both. */
VM_INLINE VM_T VM_(tanh)(VM_T x) {
    VM_T a = VM_FABS(x);
    VM_T z = a * a;
#if VM_PRECISION == 64
    double n = (a * z) * fma(z, fma(z, 0x1.edcc2b790c35bp-1, 0x1.8da75d723d796p+6), 0x1.9452316c2bf7ap+10);
    double d = fma(z, fma(z, 0x1.c3ca999302b6dp+6 + z, 0x1.17df68039cb59p+11), 0x1.2f3da51120fa9p+12);
#else
    float n = (a * z) * fmaf(z, 0x1.de59aep-1f, 0x1.5346eap+4f);
    float d = fmaf(z, 0x1.c3fa42p+4f + z, 0x1.fcea6p+5f);
#endif
    VM_T t = VM_FMA(a, VM_PICK(0x1.71547652b82fep+1, 0x1.715476p+1f), VM_ROUND);
    VM_T k = t - VM_ROUND;
    VM_T r = VM_FMA(-k, VM_K(LN2_LO), VM_FMA(-k, VM_K(LN2_HI), a + a));
    VM_T p = VM_FMA(r * r, VM_(exp_poly)(r), r);
    VM_T m = VM_POW2(t, 0);
    VM_T s = VM_FMA(m, p, m + 1); /* e**(2a) + 1; only one rounding matters */
    int small = a < VM_C(0.75);
    VM_T q = (small ? n : VM_FMA(s, -0.25, 2)) / (small ? d : s);
    VM_T y = (small ? a : VM_C(0.75)) - q;
    y = a > VM_PICK(20, 10) ? 1 : y;
    return VM_COPYSIGN(y, x);
}
