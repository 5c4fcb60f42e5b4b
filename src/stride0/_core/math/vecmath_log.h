/* Logarithms in both precisions; included twice by vecmath.h.

   Range: all numbers. Method: x = 2**k * m with m from sqrt(1/2) to sqrt(2), and f = m - 1. float64 evaluates the series of
   2 atanh(f / (2 + f)), as fdlibm does; float32 a minimax polynomial of f, because a division costs more than a longer polynomial.
   Relative error of the polynomial: 2**-27.3 in float32. */

#if VM_PRECISION == 64
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
/* f, k, 2 / 2**k, and whether k is 0 */
VM_INLINE double vm_log1p_split_f64(double x, double *k, double *scale, int *near) {
    uint64_t u = vm_bits64(x) + VM_TO_SQRT_HALF;
    *k = vm_exponent_f64(u) - (0x1p52 + 1023);
    double f = vm_double((u & VM_MANTISSA) + VM_FROM_SQRT_HALF) - 1.0;
    *scale = vm_double(((uint64_t)2047 << 52) - (u & ~(uint64_t)VM_MANTISSA));
    *near = (u & ~(uint64_t)VM_MANTISSA) == (uint64_t)1023 << 52;
    return f;
}
#else
/* log(1 + f) - f + f**2 / 2 + more */
VM_INLINE float vm_log_cubic_f32(float f, float more) {
    float z = f * f;
    float even = VM_HORNER(fmaf, z, 0x1.0572ap-3f, 0x1.22d662p-3f, 0x1.99a034p-3f, 0x1.555554p-2f);
    float odd = VM_HORNER(fmaf, z, -0x1.38ff62p-4f, -0x1.0d8206p-3f, -0x1.54722ep-3f, -0x1.000228p-2f);
    return fmaf(z * f, fmaf(f, odd, even), more);
}

/* log(1 + f) - f; d as in float64 */
VM_INLINE float vm_log_tail_f32(float f, float d) {
    return fmaf(-0.5f * f, f, vm_log_cubic_f32(f, 0.0f));
}

#define VM_SQRT_HALF_F 0x3f3504f3u /* bits: the mantissa runs from sqrt(1/2) to sqrt(2) */

VM_INLINE float vm_log_split_fast_f32(float x, float *k) {
    uint32_t u = vm_bits32(x) - VM_SQRT_HALF_F;
    *k = (float)((int32_t)u >> 23);
    return vm_float((u & 0x7fffffu) + VM_SQRT_HALF_F);
}
VM_INLINE float vm_log1p_split_f32(float x, float *k, float *scale, int *near) {
    uint32_t u = vm_bits32(x) - VM_SQRT_HALF_F;
    *k = (float)((int32_t)u >> 23);
    float f = vm_float((u & 0x7fffffu) + VM_SQRT_HALF_F) - 1.0f;
    *scale = vm_float((128u << 23) - (u & 0xff800000u));
    *near = *k == 0.0f;
    return f;
}
#endif

/* -- log, log2, log10 -------------------------------------------------------------------------------------- */

/* k * ln(2) + f + tail, with `small` the low part of f. The small terms are added first: then the sum with the tail rounds only
   once. */
VM_INLINE VM_T VM_(log_sum)(VM_T k, VM_T f, VM_T small, VM_T tail) {
    VM_T s = VM_FMA(k, VM_K(LN2_HI), f);
    VM_T e = f + VM_FMA(k, VM_K(LN2_HI), -s); /* exact, as k is 0 or |k ln(2)| > |f| */
    return s + (VM_FMA(k, VM_K(LN2_LO), e + small) + tail);
}

VM_INLINE VM_T VM_(log_split)(VM_T x, VM_T *k) {
    int tiny = x < VM_PICK(0x1p-1022, 0x1p-126f);
    VM_T m = VM_(log_split_fast)(tiny ? x * VM_PICK(0x1p54, 0x1p24f) : x, k);
    *k = *k - (tiny ? VM_PICK(54, 24) : 0);
    return m;
}

/* Replaces the result y for arguments without a logarithm: -infinity for 0, NaN for negative numbers, x for infinity and NaN */
VM_INLINE VM_T VM_(log_edges)(VM_T x, VM_T y) {
    y = x < INFINITY ? y : x; /* infinity and NaN */
    VM_T edge = x == 0 ? -INFINITY : NAN;
    return x <= 0 ? edge : y;
}

#if VM_PRECISION == 64
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
#else
/* high + log(1 + f) * (ch + cl) + low. The first two terms of the logarithm, f - f**2 / 2, are computed with the error of their
   sum, and so is the product with ch. */
VM_INLINE float vm_log_scaled_f32(float high, float low, float f, float ch, float cl) {
    float g = 0.5f * f;
    float m = fmaf(-g, f, f);
    float ml = vm_log_cubic_f32(f, fmaf(-g, f, f - m));
    float s = fmaf(m, ch, high);
    float e = fmaf(m, ch, high - s);
    return s + fmaf(ml, ch, fmaf(m, cl, low + e));
}
#endif

/* Two versions of a logarithm from `sum` of k, f and d: for normal arguments, and for all */
#undef VM_LOG
#define VM_LOG(name, sum)                                                                                    \
    VM_INLINE VM_T VM_FAST(name)(VM_T x) {                                                                   \
        VM_T k, m = VM_(log_split_fast)(x, &k), f = m - 1, d = m + 1;                                        \
        (void)d;                                                                                             \
        return sum;                                                                                          \
    }                                                                                                        \
    VM_INLINE VM_T VM_(name)(VM_T x) {                                                                       \
        VM_T k, m = VM_(log_split)(x, &k), f = m - 1, d = m + 1;                                             \
        (void)d;                                                                                             \
        return VM_(log_edges)(x, sum);                                                                       \
    }

VM_LOG(log, VM_(log_sum)(k, f, 0, VM_(log_tail)(f, d)))
#if VM_PRECISION == 64
VM_LOG(log2, vm_log_scaled_f64(k, f, d, 1.0, 0.0, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56))
VM_LOG(log10, vm_log_scaled_f64(
    k, f, d, 0x1.34413509f8p-2, -0x1.80433b83b532ap-44, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57))
#else
VM_LOG(log2, vm_log_scaled_f32(k, 0.0f, f, 0x1.715476p+0f, 0x1.4ae0cp-26f))
VM_LOG(log10, vm_log_scaled_f32(k * 0x1.344p-2f, k * 0x1.3509f8p-18f, f, 0x1.bcb7b2p-2f, -0x1.5b235ep-27f))
#endif

/* -- log1p ------------------------------------------------------------------------------------------------- */

/* 1 + x is rounded; its error, divided by 2**k like the mantissa, is added to f, times 1 / (1 + f) or nearly that (exact at the
   ends). For k = 0, f is x itself. */
VM_INLINE VM_T VM_FAST(log1p)(VM_T x) {
    VM_T v = 1 + x, k, scale;
    VM_T b = v - 1;
    VM_T c = (x - b) + (1 - (v - b));
    int near;
    VM_T f = VM_(log1p_split)(v, &k, &scale, &near);
    VM_T low = (c * scale) * VM_FMA(f, VM_FMA(f, VM_C(0.5), VM_C(-0.56066)), VM_C(0.5));
    f = near ? x : f;
    low = near ? 0 : low;
    return VM_COPYSIGN(VM_(log_sum)(k, f, low, VM_(log_tail)(f, 2 + f)), x); /* -0 */
}

VM_INLINE VM_T VM_(log1p)(VM_T x) {
    VM_T y = VM_FAST(log1p)(x);
    y = x < INFINITY ? y : x;
    y = x < -1 ? NAN : y;
    return x == -1 ? -INFINITY : y;
}
