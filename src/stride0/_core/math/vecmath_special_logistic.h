/* The logistic function and related ones; included by vecmath_special.h. */

/* 1 / (1 + e**-x) for x >= 0 and e**x / (1 + e**x) for x < 0: neither overflows, and small results keep their digits. p is e**-|x|,
   and e is p or, if results may be subnormal, p / scale. */
VM_INLINE double vm_expit_end_f64(double x, double p, double e, double scale) {
    double d = 1.0 + p;
    double dl = p - (d - 1.0);
    double n = x < 0.0 ? e : 1.0;
    double inverse = 1.0 / d;
    double q = n * inverse;
    return fma(fma(-q, dl, fma(-q, d, n)), inverse, q) * (x < 0.0 ? scale : 1.0);
}
VM_INLINE double vm_expit_f64_fast(double x) {
    double p = vm_exp_f64_fast(-fabs(x));
    return vm_expit_end_f64(x, p, p, 1.0);
}
VM_INLINE double vm_expit_f64(double x) {
    double t, a = fabs(x);
    a = a > 750.0 ? 750.0 : a;
    double e = vm_exp_core_f64(-a, &t);
    double scale = vm_scaled_f64(1.0, t);
    double y = vm_expit_end_f64(x, e * scale, e, scale);
    return x == x ? y : x;
}
#define VM_EXPIT_LATER_F64(x) VM_EXP_RARE_F64(x)

/* As in float64. */
VM_INLINE float vm_expit_end_f32(float x, float p, float e, float scale) {
    float d = 1.0f + p;
    float dl = p - (d - 1.0f);
    float n = x < 0.0f ? e : 1.0f;
    float inverse = 1.0f / d;
    float q = n * inverse;
    return fmaf(fmaf(-q, dl, fmaf(-q, d, n)), inverse, q) * (x < 0.0f ? scale : 1.0f);
}
VM_INLINE float vm_expit_f32_fast(float x) {
    float p = vm_exp_f32_fast(-fabsf(x));
    return vm_expit_end_f32(x, p, p, 1.0f);
}
VM_INLINE float vm_expit_f32(float x) {
    float t, a = fabsf(x);
    a = a > 104.0f ? 104.0f : a;
    float e = vm_exp_core_f32(-a, &t);
    float scale = vm_scaled_f32(1.0f, t);
    float y = vm_expit_end_f32(x, e * scale, e, scale);
    return x == x ? y : x;
}
#define VM_EXPIT_LATER_F32(x) VM_EXP_RARE_F32(x)

/* log(x / c) for c = 1 - x. It is k * log(2) + 2 * atanh(s), with k such that 2**k * c is near x, and s the quotient of their difference
   and their sum. From 3/8 to 5/8 k is 0 and s is x - c, because the sum is 1; the rounding error of c is added. */
VM_INLINE double vm_logit_f64_fast(double x) {
    double c = 1.0 - x;
    double cl = (1.0 - c) - x;
    uint64_t u = vm_bits64(x) - vm_bits64(c) + ((uint64_t)1 << 51);
    u = fabs(x - 0.5) <= 0.125 ? 0 : u;
    double k = vm_exponent_f64(u + ((uint64_t)1024 << 52)) - (0x1p52 + 1024);
    double scale = vm_double((u & ~(uint64_t)VM_MANTISSA) + ((uint64_t)1023 << 52));
    c = c * scale;
    double s = fma(-cl, scale, x - c) / (x + c);
    double z = s * s;
    double p = VM_HORNER(fma, z, 0x1.1e7612b5a7085p-3, 0x1.8d1e19ef92b4bp-4, 0x1.e54b66b8309cep-4, 0x1.10f68aef6bd6ep-3,
        0x1.3b14b5c4c84d0p-3, 0x1.745d10f0bf3d7p-3, 0x1.c71c71df53078p-3, 0x1.2492492477ce8p-2, 0x1.9999999999b63p-2,
        0x1.5555555555555p-1);
    return vm_log_sum_f64(k, s + s, 0.0, (s * z) * p);
}
/* For x so small that 1 - x rounds to 1, or outside of (0, 1). */
VM_INLINE double vm_logit_f64(double x) {
    double y = vm_log_f64(x);
    y = x > 1.0 ? NAN : y;
    return x == 1.0 ? INFINITY : y;
}
#define VM_LOGIT_LATER_F64(x) ((vm_bits64(x) - vm_bits64(0x1p-1000)) | (vm_bits64(0x1.fffffffffffffp-1) - vm_bits64(x)))

VM_INLINE float vm_logit_f32_fast(float x) {
    float c = 1.0f - x;
    float cl = (1.0f - c) - x;
    uint32_t u = vm_bits32(x) - vm_bits32(c) + (1u << 22);
    u = fabsf(x - 0.5f) <= 0.125f ? 0 : u;
    float k = (float)((int32_t)u >> 23);
    float scale = vm_float((u & ~0x7fffffu) + (127u << 23));
    c = c * scale;
    float s = fmaf(-cl, scale, x - c) / (x + c);
    float z = s * s;
    float p = VM_HORNER(fmaf, z, 0x1.028ccp-2f, 0x1.22e61p-2f, 0x1.99a28cp-2f, 0x1.55554ep-1f);
    return vm_log_sum_f32(k, s + s, 0.0f, (s * z) * p);
}
VM_INLINE float vm_logit_f32(float x) {
    float y = vm_log_f32(x);
    y = x > 1.0f ? NAN : y;
    return x == 1.0f ? INFINITY : y;
}
#define VM_LOGIT_LATER_F32(x) ((vm_bits32(x) - vm_bits32(0x1p-110f)) | (vm_bits32(0x1.fffffep-1f) - vm_bits32(x)))

/* log(1 + e**x) */
VM_INLINE double vm_softplus_f64_fast(double x) {
    double y = vm_log1p_f64_fast(vm_exp_f64_fast(-fabs(x)));
    return (x > 0.0 ? x : 0.0) + y;
}
VM_INLINE double vm_softplus_f64(double x) {
    double y = vm_exp_f64(-fabs(x)); /* equal to log(1 + y) if y is as small as here */
    y = x > 0.0 ? x : y;
    return x == x ? y : x;
}
#define VM_SOFTPLUS_LATER_F64(x) VM_EXP_RARE_F64(x)

VM_INLINE float vm_softplus_f32_fast(float x) {
    float y = vm_log1p_f32_fast(vm_exp_f32_fast(-fabsf(x)));
    return (x > 0.0f ? x : 0.0f) + y;
}
VM_INLINE float vm_softplus_f32(float x) {
    float y = vm_exp_f32(-fabsf(x));
    y = x > 0.0f ? x : y;
    return x == x ? y : x;
}
#define VM_SOFTPLUS_LATER_F32(x) VM_EXP_RARE_F32(x)

VM_INLINE double vm_log_expit_f64_fast(double x) { return -vm_softplus_f64_fast(-x); }
VM_INLINE double vm_log_expit_f64(double x) { return -vm_softplus_f64(-x); }
VM_INLINE float vm_log_expit_f32_fast(float x) { return -vm_softplus_f32_fast(-x); }
VM_INLINE float vm_log_expit_f32(float x) { return -vm_softplus_f32(-x); }
#define VM_LOG_EXPIT_LATER_F64(x) VM_EXP_RARE_F64(x)
#define VM_LOG_EXPIT_LATER_F32(x) VM_EXP_RARE_F32(x)
