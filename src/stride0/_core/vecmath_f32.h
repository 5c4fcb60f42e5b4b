/* float32 functions; included by vecmath.h. */

/* 2**k for the integer k that the low bits of `t` hold (Note [Rounding by a large constant]), -126 <= k <= 127;
   128 gives infinity. */
VM_INLINE float vm_pow2_f32(float t) { return vm_float((vm_bits32(t) << 23) + (127u << 23)); }

/* -- exponential function and its like ------------------------------------------------------------------- */

#define VM_LOG2E_F 0x1.715476p+0f
#define VM_LN2_HI_F 0x1.62e4p-1f /* 15 bits: the product with an integer below 2**9 is exact */
#define VM_LN2_LO_F 0x1.7f7d1cp-20f

/* e**r - 1 - r on +-ln(2)/2, relative error of e**r 2**-28.2 */
VM_INLINE float vm_exp_tail_f32(float r) {
    float r2 = r * r;
    float low = r2 * (0x1.fffffcp-2f + r * 0x1.55548cp-3f);
    float high = (0x1.555858p-5f + r * 0x1.123de8p-7f) + r2 * 0x1.6ac816p-10f;
    return low + (r2 * r2) * high;
}

/* Out of range the reduction gives rubbish, which is replaced at the end: comparing and selecting first would
   make everything wait for it. */
VM_INLINE float vm_exp_f32(float x) {
    float t = x * VM_LOG2E_F + VM_ROUND32;
    float k = t - VM_ROUND32;
    float r = (x - k * VM_LN2_HI_F) - k * VM_LN2_LO_F;
    float s = 1.0f + r;
    float y = s + ((r - (s - 1.0f)) + vm_exp_tail_f32(r));
    /* -150 <= k <= 128, more than the exponents of normal floats: a factor of 2 or of 2**-64 is multiplied
       apart, which overflows to infinity and rounds subnormal results (once). */
    int low = k < 0.0f;
    uint32_t bias = low ? (127u + 64u) << 23 : 126u << 23;
    float rest = low ? 0x1p-64f : 2.0f;
    y = y * vm_float((vm_bits32(t) << 23) + bias) * rest;
    y = x > 89.0f ? INFINITY : y;
    return x < -104.0f ? 0.0f : y;
}

/* e**r - 1 - r on +-ln(2)/2, relative error of e**r - 1 2**-28.2 */
VM_INLINE float vm_expm1_tail_f32(float r) {
    float r2 = r * r;
    float q = (0x1.55552cp-3f + r * 0x1.555502p-5f) + r2 * ((0x1.1155aap-7f + r * 0x1.6d2e4ep-10f)
        + r2 * 0x1.3b879ep-13f);
    return 0.5f * r2 + (r2 * r) * q; /* the half apart, and not rounded with the rest */
}

/* Half of it, (h - 1/2) + h * (r + rest) for h = 2**k / 2, since 2**128 is no float. The sum of the first
   three is taken with its error, as there is cancellation for k = 1; for the same reason r has a second
   part. */
VM_INLINE float vm_expm1_f32(float x) {
    float t = x * VM_LOG2E_F + VM_ROUND32;
    float k = t - VM_ROUND32;
    float d = x - k * VM_LN2_HI_F;
    float w = k * VM_LN2_LO_F;
    float r = d - w;
    float low = (d - r) - w;
    float h = vm_float((vm_bits32(t) << 23) + (126u << 23));
    float g = h - 0.5f;
    float hr = h * r;
    float s = g + hr;
    float e = (hr - (s - g)) + ((h - g) - 0.5f);
    float y = s + (e + h * (low + vm_expm1_tail_f32(r)));
    y = y + y;
    y = fabsf(x) < 0x1p-26f ? x : y; /* half a subnormal number may be none, and -0 */
    y = x > 89.0f ? INFINITY : y;
    return x < -18.0f ? -1.0f : y;
}

/* -- logarithms ------------------------------------------------------------------------------------------ */

/* log(1 + f) - f + f**2 / 2 for 1 + f in [sqrt(1/2), sqrt(2)], relative error of the logarithm 2**-27.3 */
VM_INLINE float vm_log_cubic_f32(float f) {
    float f2 = f * f, f4 = f2 * f2;
    float q = ((0x1.555554p-2f + f * -0x1.000228p-2f) + f2 * (0x1.99a034p-3f + f * -0x1.54722ep-3f))
        + f4 * ((0x1.22d662p-3f + f * -0x1.0d8206p-3f) + f2 * (0x1.0572ap-3f + f * -0x1.38ff62p-4f));
    return (f2 * f) * q;
}

/* log(1 + f) - f */
VM_INLINE float vm_log_tail_f32(float f) { return vm_log_cubic_f32(f) - 0.5f * (f * f); }

/* k * ln(2) + f + tail, where `small` is k times the lower part of ln(2), or more. What is small is added
   first: the sum with the tail then rounds but once. */
VM_INLINE float vm_log_sum_f32(float k, float f, float small, float tail) {
    float high = k * VM_LN2_HI_F;
    float s = high + f;
    float e = f - (s - high); /* exact, as k is 0 or |high| > |f| */
    return s + ((e + small) + tail);
}

#define VM_SQRT_HALF_F 0x3f3504f3u /* bits: the mantissa runs from sqrt(1/2) to sqrt(2) */

/* f and k of x = 2**k * (1 + f), for positive x */
VM_INLINE float vm_log_split_f32(float x, float *k) {
    int tiny = x < 0x1p-126f;
    float n = tiny ? x * 0x1p24f : x;
    uint32_t u = vm_bits32(n) - VM_SQRT_HALF_F;
    *k = (float)((int32_t)u >> 23) - (tiny ? 24.0f : 0.0f);
    return vm_float((u & 0x7fffffu) + VM_SQRT_HALF_F) - 1.0f;
}

/* y where it is the logarithm of x, and what it has to be where there is none */
VM_INLINE float vm_log_edges_f32(float x, float y) {
    y = x < INFINITY ? y : x; /* infinity and NaN */
    float edge = x == 0.0f ? -INFINITY : NAN;
    return x <= 0.0f ? edge : y;
}

VM_INLINE float vm_log_f32(float x) {
    float k;
    float f = vm_log_split_f32(x, &k);
    return vm_log_edges_f32(x, vm_log_sum_f32(k, f, k * VM_LN2_LO_F, vm_log_tail_f32(f)));
}

/* k * (kh + kl) + log(1 + f) * (ch + cl). The first two terms of the logarithm, f - f**2 / 2, are made of a
   leading part of 12 bits, whose product with ch is exact, and a rest. */
VM_INLINE float vm_log_scaled_f32(float k, float f, float kh, float kl, float ch, float cl) {
    float fh = vm_float(vm_bits32(f) & ~0xfffu), fl = f - fh;
    float square = (0.5f * fh) * fh;
    float m = fh - square;
    float mh = vm_float(vm_bits32(m) & ~0xfffu);
    float rest = ((fh - m) - square) + (fl - (0.5f * fl) * (f + fh));
    float ml = (m - mh) + (rest + vm_log_cubic_f32(f));
    float high = k * kh, lead = mh * ch;
    float s = high + lead;
    float e = lead - (s - high);
    return s + (e + (ml * (ch + cl) + (k * kl + mh * cl)));
}

VM_INLINE float vm_log2_f32(float x) {
    float k;
    float f = vm_log_split_f32(x, &k);
    return vm_log_edges_f32(x, vm_log_scaled_f32(k, f, 1.0f, 0.0f, 0x1.716p+0f, -0x1.7135a8p-13f));
}

VM_INLINE float vm_log10_f32(float x) {
    float k;
    float f = vm_log_split_f32(x, &k);
    float y = vm_log_scaled_f32(k, f, 0x1.344p-2f, 0x1.3509f8p-18f, 0x1.bccp-2f, -0x1.09d5b2p-15f);
    return vm_log_edges_f32(x, y);
}

/* 1 + x is rounded; its error, divided by 2**k like the mantissa, goes with f, times 1 / (1 + f) or nearly
   so (exact at the ends). With k = 0, f is x itself. */
VM_INLINE float vm_log1p_f32(float x) {
    float v = 1.0f + x;
    float b = v - 1.0f;
    float c = (x - b) + (1.0f - (v - b));
    uint32_t u = vm_bits32(v) - VM_SQRT_HALF_F;
    float k = (float)((int32_t)u >> 23);
    float f = vm_float((u & 0x7fffffu) + VM_SQRT_HALF_F) - 1.0f;
    float scale = vm_float((128u << 23) - (u & 0xff800000u)); /* 2 / 2**k */
    float low = (c * scale) * (0.5f - f * (0.56066f - 0.5f * f));
    int near = k == 0.0f;
    f = near ? x : f;
    float y = vm_log_sum_f32(k, f, k * VM_LN2_LO_F + (near ? 0.0f : low), vm_log_tail_f32(f));
    y = x < INFINITY ? y : x;
    y = x < -1.0f ? NAN : y;
    y = x == -1.0f ? -INFINITY : y;
    return copysignf(y, x); /* -0 */
}

/* -- hyperbolic functions -------------------------------------------------------------------------------- */

/* Below 3/4, x - x**3 * N(x**2) / D(x**2); from there 1 - 2 / s for s = e**(2x) + 1, written as 3/4 - (2 -
   s/4) / s. In either the quotient is at most a third of the result, and its error counts that much less.
   One division serves both. */
VM_INLINE float vm_tanh_f32(float x) {
    float a = fabsf(x);
    float z = a * a;
    float n = (a * z) * (0x1.5346eap+4f + z * 0x1.de59aep-1f);
    float d = 0x1.fcea6p+5f + z * (0x1.c3fa42p+4f + z);
    float t = a * 0x1.715476p+1f + VM_ROUND32;
    float k = t - VM_ROUND32;
    float r = (a - k * 0x1.62e4p-2f) - k * 0x1.7f7d1cp-21f; /* half of what is left of 2a */
    r = r + r;
    float p = r + vm_exp_tail_f32(r);
    float m = vm_pow2_f32(t);
    float s = (m + 1.0f) + m * p; /* e**(2a) + 1 with one rounding that matters */
    float q = (a < 0.75f ? n : 2.0f - 0.25f * s) / (a < 0.75f ? d : s);
    float y = (a < 0.75f ? a : 0.75f) - q;
    y = a > 10.0f ? 1.0f : y;
    return copysignf(y, x);
}
