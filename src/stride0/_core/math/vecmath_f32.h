/* float32 functions; included by vecmath.h. */

/* 2**k for the integer k that the low bits of `t` hold (Note [Rounding by a large constant]), -126 <= k <= 127;
   128 gives infinity. */
VM_INLINE float vm_pow2_f32(float t) { return vm_float((vm_bits32(t) << 23) + (127u << 23)); }

/* -- exponential functions ------------------------------------------------------------------- */

#define VM_LOG2E_F 0x1.715476p+0f
#define VM_LN2_HI_F 0x1.62e43p-1f
#define VM_LN2_LO_F -0x1.05c61p-29f

/* (e**r - 1 - r) / r**2 on +-ln(2)/2, relative error of e**r 2**-28.2 */
VM_INLINE float vm_exp_poly_f32(float r) {
    return VM_HORNER(fmaf, r, 0x1.6ac816p-10f, 0x1.123de8p-7f, 0x1.555858p-5f, 0x1.55548cp-3f, 0x1.fffffcp-2f);
}

/* e**x / 2**k for the integer k near x / ln(2), which the low bits of *t hold */
VM_INLINE float vm_exp_core_f32(float x, float *t) {
    *t = fmaf(x, VM_LOG2E_F, VM_ROUND32);
    float k = *t - VM_ROUND32;
    float r = fmaf(-k, VM_LN2_LO_F, fmaf(-k, VM_LN2_HI_F, x));
    return fmaf(r, fmaf(r, vm_exp_poly_f32(r), 1.0f), 1.0f);
}

/* For x such that e**x is a normal number */
VM_INLINE float vm_exp_f32_fast(float x) {
    float t, y = vm_exp_core_f32(x, &t);
    return vm_float(vm_bits32(y) + (vm_bits32(t) << 23));
}
#define VM_EXP_RARE_F32(x) (vm_bits32(87.0f) - (vm_bits32(x) & ~VM_SIGN32))

/* Out of range the reduction gives garbage, which is replaced at the end: if the comparison came first, everything would wait
   for it. */
VM_INLINE float vm_exp_f32(float x) {
    float t, y = vm_exp_core_f32(x, &t);
    /* -150 <= k <= 128, more than the exponents of normal floats: a factor of 2 or of 2**-64 is multiplied separately. It
       overflows to infinity, and rounds subnormal results (once). */
    int low = x < 0.0f;
    uint32_t bias = low ? (127u + 64u) << 23 : 126u << 23;
    y = y * vm_float((vm_bits32(t) << 23) + bias) * (low ? 0x1p-64f : 2.0f);
    y = x > 89.0f ? INFINITY : y;
    return x < -104.0f ? 0.0f : y;
}

/* e**r - 1 - r + low on +-ln(2)/2, relative error of e**r - 1 2**-28.2 */
VM_INLINE float vm_expm1_tail_f32(float r, float low) {
    float q = VM_HORNER(fmaf, r, 0x1.3b879ep-13f, 0x1.6d2e4ep-10f, 0x1.1155aap-7f, 0x1.555502p-5f, 0x1.55552cp-3f);
    return fmaf(r * r, fmaf(r, q, 0.5f), low);
}

/* x - k ln(2) for the integer k in the low bits of *t, and its rounding error */
VM_INLINE float vm_expm1_reduce_f32(float x, float *t, float *low) {
    *t = fmaf(x, VM_LOG2E_F, VM_ROUND32);
    float k = *t - VM_ROUND32;
    float d = fmaf(-k, VM_LN2_HI_F, x);
    float r = fmaf(-k, VM_LN2_LO_F, d);
    *low = fmaf(-k, VM_LN2_LO_F, d - r);
    return r;
}

/* (h - 1) + h * (r + tail) for h = 2**k. The sum of the first three terms is computed with its error, because there is
   cancellation for k = 1; for the same reason r has a second part. */
VM_INLINE float vm_expm1_f32_fast(float x) {
    float t, low, r = vm_expm1_reduce_f32(x, &t, &low);
    float h = vm_float((vm_bits32(t) << 23) + (127u << 23));
    float g = h - 1.0f; /* exact, as |k| <= 24 */
    float s = fmaf(h, r, g);
    float e = fmaf(h, r, g - s);
    return copysignf(s + fmaf(h, vm_expm1_tail_f32(r, low), e), x); /* -0 */
}
#define VM_EXPM1_RARE_F32(x) (vm_bits32(16.5f) - (vm_bits32(x) & ~VM_SIGN32))

/* Computes half of it first, because 2**128 is not a float. */
VM_INLINE float vm_expm1_f32(float x) {
    float a = x > 89.0f ? 89.0f : x;
    a = a < -18.0f ? -18.0f : a;
    float t, low, r = vm_expm1_reduce_f32(a, &t, &low);
    float h = vm_float((vm_bits32(t) << 23) + (126u << 23));
    float g = h - 0.5f;
    float s = fmaf(h, r, g);
    float e = fmaf(h, r, g - s) + ((h - g) - 0.5f);
    float y = s + fmaf(h, vm_expm1_tail_f32(r, low), e);
    return fabsf(x) < 0x1p-26f ? x : y + y; /* a subnormal number may not have an exact half; also keeps -0 */
}

/* -- logarithms ------------------------------------------------------------------------------------------ */

/* log(1 + f) - f + f**2 / 2 + more for 1 + f in [sqrt(1/2), sqrt(2)], relative error of the logarithm 2**-27.3 */
VM_INLINE float vm_log_cubic_f32(float f, float more) {
    float z = f * f;
    float even = VM_HORNER(fmaf, z, 0x1.0572ap-3f, 0x1.22d662p-3f, 0x1.99a034p-3f, 0x1.555554p-2f);
    float odd = VM_HORNER(fmaf, z, -0x1.38ff62p-4f, -0x1.0d8206p-3f, -0x1.54722ep-3f, -0x1.000228p-2f);
    return fmaf(z * f, fmaf(f, odd, even), more);
}

/* log(1 + f) - f */
VM_INLINE float vm_log_tail_f32(float f) { return fmaf(-0.5f * f, f, vm_log_cubic_f32(f, 0.0f)); }

/* k * ln(2) + f + tail, with `small` the low part of f. The small terms are added first: then the sum with the tail rounds only
   once. */
VM_INLINE float vm_log_sum_f32(float k, float f, float small, float tail) {
    float s = fmaf(k, VM_LN2_HI_F, f);
    float e = f + fmaf(k, VM_LN2_HI_F, -s); /* exact, as k is 0 or |k ln(2)| > |f| */
    return s + (fmaf(k, VM_LN2_LO_F, e + small) + tail);
}

#define VM_SQRT_HALF_F 0x3f3504f3u /* bits: the mantissa runs from sqrt(1/2) to sqrt(2) */

/* m and k of a normal x = 2**k * m */
VM_INLINE float vm_log_split_fast_f32(float x, float *k) {
    uint32_t u = vm_bits32(x) - VM_SQRT_HALF_F;
    *k = (float)((int32_t)u >> 23);
    return vm_float((u & 0x7fffffu) + VM_SQRT_HALF_F);
}
VM_INLINE float vm_log_split_f32(float x, float *k) {
    int tiny = x < 0x1p-126f;
    float m = vm_log_split_fast_f32(tiny ? x * 0x1p24f : x, k);
    *k = *k - (tiny ? 24.0f : 0.0f);
    return m;
}

/* Replaces the result y for arguments without a logarithm: -infinity for 0, NaN for negative numbers, x for infinity and NaN */
VM_INLINE float vm_log_edges_f32(float x, float y) {
    y = x < INFINITY ? y : x; /* infinity and NaN */
    float edge = x == 0.0f ? -INFINITY : NAN;
    return x <= 0.0f ? edge : y;
}

/* Whether x is not a positive normal number */
#define VM_LOG_RARE_F32(x) ((vm_bits32(x) - (1u << 23)) | (vm_bits32(0x1.fffffep127f) - vm_bits32(x)))

/* Two versions of a logarithm from `sum` of k and f: for normal arguments, and for all */
#define VM_LOG_F32(name, sum)                                                                                \
    VM_INLINE float vm_##name##_f32_fast(float x) {                                                          \
        float k, f = vm_log_split_fast_f32(x, &k) - 1.0f;                                                    \
        return sum;                                                                                          \
    }                                                                                                        \
    VM_INLINE float vm_##name##_f32(float x) {                                                               \
        float k, f = vm_log_split_f32(x, &k) - 1.0f;                                                         \
        return vm_log_edges_f32(x, sum);                                                                     \
    }

VM_LOG_F32(log, vm_log_sum_f32(k, f, 0.0f, vm_log_tail_f32(f)))

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

VM_LOG_F32(log2, vm_log_scaled_f32(k, 0.0f, f, 0x1.715476p+0f, 0x1.4ae0cp-26f))
VM_LOG_F32(log10,
    vm_log_scaled_f32(k * 0x1.344p-2f, k * 0x1.3509f8p-18f, f, 0x1.bcb7b2p-2f, -0x1.5b235ep-27f))

/* 1 + x is rounded; its error, divided by 2**k like the mantissa, is added to f, times 1 / (1 + f) or nearly that (exact at the
   ends). For k = 0, f is x itself. */
VM_INLINE float vm_log1p_f32_fast(float x) {
    float v = 1.0f + x;
    float b = v - 1.0f;
    float c = (x - b) + (1.0f - (v - b));
    uint32_t u = vm_bits32(v) - VM_SQRT_HALF_F;
    float k = (float)((int32_t)u >> 23);
    float f = vm_float((u & 0x7fffffu) + VM_SQRT_HALF_F) - 1.0f;
    float scale = vm_float((128u << 23) - (u & 0xff800000u)); /* 2 / 2**k */
    float low = (c * scale) * fmaf(f, fmaf(f, 0.5f, -0.56066f), 0.5f);
    int near = k == 0.0f;
    f = near ? x : f;
    low = near ? 0.0f : low;
    return copysignf(vm_log_sum_f32(k, f, low, vm_log_tail_f32(f)), x); /* -0 */
}
#define VM_LOG1P_RARE_F32(x) VM_LOG_RARE_F32(1.0f + (x))

VM_INLINE float vm_log1p_f32(float x) {
    float y = vm_log1p_f32_fast(x);
    y = x < INFINITY ? y : x;
    y = x < -1.0f ? NAN : y;
    return x == -1.0f ? -INFINITY : y;
}

/* -- hyperbolic functions -------------------------------------------------------------------------------- */

/* Below 3/4, x - x**3 * N(x**2) / D(x**2); from there on 1 - 2 / s for s = e**(2x) + 1, written as 3/4 - (2 - s/4) / s. In both
   forms the quotient is at most a third of the result, so its error counts less. One division serves both. */
VM_INLINE float vm_tanh_f32(float x) {
    float a = fabsf(x);
    float z = a * a;
    float n = (a * z) * fmaf(z, 0x1.de59aep-1f, 0x1.5346eap+4f);
    float d = fmaf(z, 0x1.c3fa42p+4f + z, 0x1.fcea6p+5f);
    float t = fmaf(a, 0x1.715476p+1f, VM_ROUND32);
    float k = t - VM_ROUND32;
    float r = fmaf(-k, VM_LN2_LO_F, fmaf(-k, VM_LN2_HI_F, a + a));
    float p = fmaf(r * r, vm_exp_poly_f32(r), r);
    float m = vm_pow2_f32(t);
    float s = fmaf(m, p, m + 1.0f); /* e**(2a) + 1; only one rounding matters */
    int small = a < 0.75f;
    float q = (small ? n : fmaf(s, -0.25f, 2.0f)) / (small ? d : s);
    float y = (small ? a : 0.75f) - q;
    y = a > 10.0f ? 1.0f : y;
    return copysignf(y, x);
}
