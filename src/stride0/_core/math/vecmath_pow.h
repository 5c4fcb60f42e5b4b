/* Powers, float32 and float64; included by vecmath.h.

   Note [Special powers]
       With L = log|x| (-infinity for zero), y * L determines the power, except for 0 * infinity: x**0 and 1**y are 1, even if
       the other operand is NaN. A negative x changes the sign if y is an odd integer. If y is not an integer, the result is
       NaN, unless x is infinite or -0. */

/* Bit 31 is set if x is negative (also -0) and y is an odd integer. Integers beyond 2**24 are even. */
/* The highest bit is set if x is negative (also -0) and y is an odd integer. Large integers are even. */
VM_INLINE uint32_t vm_pow_sign_f32(float x, float y) {
    float h = 0.5f * y;
    int odd = (truncf(y) == y) & (truncf(h) != h);
    return odd ? vm_bits32(x) & VM_SIGN32 : 0u;
}

/* x**3, with an error of 0.501 ULP: p + e is x * x exactly. Near the smallest normal number e is too small, and the error is 1 ULP. */
#define VM_CUBE(T, B, fma, fabs)                                                                             \
    VM_INLINE T vm_cube_f##B(T x) {                                                                          \
        T p = x * x, e = fma(x, x, -p) * x;                                                                  \
        return fma(p, x, fabs(e) < (T)INFINITY ? e : 0);                                                     \
    }
VM_CUBE(float, 32, fmaf, fabsf)
VM_CUBE(double, 64, fma, fabs)

/* log2(x) for a normal number x (every positive float is normal in double), by the series of atanh; relative error
   2**-37 */
VM_INLINE double vm_log2_wide(double x) {
    uint64_t u = vm_bits64(x) + VM_TO_SQRT_HALF;
    double k = vm_exponent_f64(u) - (0x1p52 + 1023);
    double m = vm_double((u & VM_MANTISSA) + VM_FROM_SQRT_HALF);
    double s = (m - 1.0) / (m + 1.0);
    double z = s * s;
    double q = fma(z, fma(z, 0x1.5c62403a751e5p-2, 0x1.a59658620470ap-2), 0x1.277767522c369p-1);
    q = fma(z, fma(z, q, 0x1.ec709d451207dp-1), 0x1.71547652b82fep+1);
    return fma(s, q, k);
}

/* The binary logarithm of a number 2**k * m, as a sum of two numbers, with a relative error of 2**-35. First half: s = f / (2 + f)
   for f = m - 1. Here and below each number is a rounded value and a tail. */
VM_INLINE float vm_log_quotient_f32(float m, float *sl) {
    float f = m - 1.0f, d = m + 1.0f;
    float inverse = 1.0f / d;
    float s = f * inverse;
    *sl = fmaf(-s, m - (d - 1.0f), fmaf(-s, d, f)) * inverse;
    return s;
}

/* Second half: with z = s**2 the logarithm of 1 + f is s * (2 + z * (2/3 + z * A(z))) / ln(2). */
VM_INLINE float vm_log2_series_f32(float k, float s, float sl, float *low) {
    float z = s * s;
    float zl = fmaf(s + s, sl, fmaf(s, s, -z));
    float a = fmaf(z, fmaf(z, 0x1.59edb4p-2f, 0x1.a5bbfcp-2f), 0x1.27770ep-1f);
    float t = fmaf(z, a, 0x1.ec709ep-1f);
    float tl = fmaf(z, a, 0x1.ec709ep-1f - t) - 0x1.e2fe02p-28f;
    float w = z * t;
    float wl = fmaf(z, tl, fmaf(zl, t, fmaf(z, t, -w)));
    float v = 0x1.715476p+1f + w;
    float vl = ((0x1.715476p+1f - v) + w) + (wl + 0x1.4ae0cp-25f);
    float p = s * v;
    float pl = fmaf(s, vl, fmaf(sl, v, fmaf(s, v, -p)));
    float sum = k + p;
    float b = (p - (sum - k)) + pl;
    float high = sum + b;
    *low = (sum - high) + b;
    return high;
}

/* x**y / 2**k, given log2(x) as high + low; the low bits of *t hold k; *size is near y * log2(x) */
VM_INLINE float vm_pow_core_f32(float y, float high, float low, float *t, float *size) {
    float p = y * high;
    float pl = fmaf(y, low, fmaf(y, high, -p));
    *size = p;
    *t = p + VM_ROUND32;
    float r = (p - (*t - VM_ROUND32)) + pl;
    float q = VM_HORNER(fmaf, r, 0x1.e06ae2p-17f, 0x1.44098ep-13f, 0x1.5da5a8p-10f, 0x1.3b2a6p-7f);
    q = VM_HORNER(fmaf, r, q, 0x1.c6b06ep-5f, 0x1.ebfbep-3f, 0x1.62e43p-1f);
    return fmaf(r, q, 1.0f);
}

/* For a normal positive x with a normal power; otherwise the highest bit of *rare is set. Squares and cubes are computed
   separately. */
VM_INLINE float vm_pow_end_fast_f32(float y, float high, float low, uint32_t *rare) {
    float t, size, e = vm_pow_core_f32(y, high, low, &t, &size);
    *rare = vm_bits32(125.0f) - (vm_bits32(size) & ~VM_SIGN32);
    return vm_float(vm_bits32(e) + (vm_bits32(t) << 23));
}

VM_INLINE float vm_pow_f32(float x, float y) {
    float ax = fabsf(x), k, low, t, size;
    float s = vm_log_quotient_f32(vm_log_split_f32(ax, &k), &low);
    float high = vm_log2_series_f32(k, s, low, &low);
    float e = vm_pow_core_f32(y, high, low, &t, &size);
    float g = ax < INFINITY ? high : ax;
    g = y * (ax == 0.0f ? -INFINITY : g); /* determines results that are not finite, for which the other terms are garbage */
    int small = g < 0.0f;
    uint32_t bias = small ? (127u + 64u) << 23 : 126u << 23;
    e = e * vm_float((vm_bits32(t) << 23) + bias) * (small ? 0x1p-64f : 2.0f);
    e = g > 129.0f ? INFINITY : e;
    e = g < -152.0f ? 0.0f : e;
    e = g == g ? e : g;
    e = vm_float(vm_bits32(e) ^ vm_pow_sign_f32(x, y));
    int broken = (x < 0.0f) & (ax < INFINITY) & (truncf(y) != y);
    e = broken ? NAN : e;
    e = (y == 0.0f) | (x == 1.0f) | ((ax == 1.0f) & (fabsf(y) == INFINITY)) ? 1.0f : e;
    e = y == 3.0f ? vm_cube_f32(x) : e;
    return y == 2.0f ? x * x : e;
}

VM_INLINE uint64_t vm_pow_sign_f64(double x, double y) {
    double h = 0.5 * y;
    int odd = (trunc(y) == y) & (trunc(h) != h);
    return odd ? vm_bits64(x) & VM_SIGN64 : 0u;
}

/* The logarithm of a number 2**k * m, as a sum of two numbers, with a relative error of 2**-64. First half: s = f / (2 + f) for
   f = m - 1. Here and below each number is a rounded value and a tail. */
VM_INLINE double vm_log_quotient_f64(double m, double *sl) {
    double f = m - 1.0, d = m + 1.0;
    double inverse = 1.0 / d;
    double s = f * inverse;
    *sl = fma(-s, m - (d - 1.0), fma(-s, d, f)) * inverse;
    return s;
}

/* Second half: with z = s**2 the logarithm of 1 + f is s * (2 + z * (2/3 + z * A(z))). */
VM_INLINE double vm_log_series_f64(double k, double s, double sl, double *low) {
    double z = s * s;
    double zl = fma(s, s, -z) + (s + s) * sl;
    double a = VM_HORNER(fma, z, 0x1.0e429df6769a5p-3, 0x1.0f7feb2eef90ep-3, 0x1.3b1eebf9305abp-3, 0x1.745ce9e3c08a8p-3,
        0x1.c71c722d65393p-3, 0x1.2492492457d69p-2, 0x1.9999999999b30p-2);
    double t = fma(z, a, 0x1.5555555555555p-1);
    double tl = fma(z, a, 0x1.5555555555555p-1 - t) + 0x1.5555555555555p-55;
    double w = z * t;
    double wl = fma(z, tl, fma(zl, t, fma(z, t, -w)));
    double v = 2.0 + w;
    double vl = ((2.0 - v) + w) + wl;
    double p = s * v;
    double pl = fma(s, vl, fma(sl, v, fma(s, v, -p)));
    double sum = fma(k, VM_LN2_HI, p);
    double error = p + fma(k, VM_LN2_HI, -sum); /* exact, as k is 0 or |k ln(2)| > |p| */
    double b = error + fma(k, VM_LN2_LO, pl);
    double high = sum + b;
    *low = (sum - high) + b;
    return high;
}

/* x**y / 2**k, given log(x) as high + low; the low bits of *t hold k; *size is near y * log(x) */
VM_INLINE double vm_pow_core_f64(double y, double high, double low, double *t, double *size) {
    double p = y * high;
    double pl = fma(y, low, fma(y, high, -p));
    *size = p;
    *t = fma(p, VM_LOG2E, VM_ROUND64);
    double k = *t - VM_ROUND64;
    double d = fma(-k, VM_LN2_HI, p);
    double w = fma(-k, VM_LN2_LO, pl);
    double r = d + w;
    double tail = (d - r) + w;
    double s = 1.0 + r;
    return s + ((r - (s - 1.0)) + fma(r * r, vm_exp_poly_f64(r), tail));
}

/* For a normal positive x with a normal power; otherwise the highest bit of *rare is set. Squares and cubes are computed
   separately. */
VM_INLINE double vm_pow_end_fast_f64(double y, double high, double low, uint64_t *rare) {
    double t, size, e = vm_pow_core_f64(y, high, low, &t, &size);
    *rare = vm_bits64(708.0) - (vm_bits64(size) & ~VM_SIGN64);
    return vm_double(vm_bits64(e) + (vm_bits64(t) << 52));
}

VM_INLINE double vm_pow_f64(double x, double y) {
    double ax = fabs(x), k, low, t, size;
    double s = vm_log_quotient_f64(vm_log_split_f64(ax, &k), &low);
    double high = vm_log_series_f64(k, s, low, &low);
    double e = vm_pow_core_f64(y, high, low, &t, &size);
    double g = ax < INFINITY ? high : ax;
    g = y * (ax == 0.0 ? -INFINITY : g); /* determines results that are not finite, for which the other terms are garbage */
    int small = g < 0.0;
    uint64_t bias = (uint64_t)(small ? 1023 + 64 : 1022) << 52;
    e = e * vm_double((vm_bits64(t) << 52) + bias) * (small ? 0x1p-64 : 2.0);
    e = g > 710.0 ? INFINITY : e;
    e = g < -746.0 ? 0.0 : e;
    e = g == g ? e : g;
    e = vm_double(vm_bits64(e) ^ vm_pow_sign_f64(x, y));
    int broken = (x < 0.0) & (ax < INFINITY) & (trunc(y) != y);
    e = broken ? NAN : e;
    e = (y == 0.0) | (x == 1.0) | ((ax == 1.0) & (fabs(y) == INFINITY)) ? 1.0 : e;
    e = y == 3.0 ? vm_cube_f64(x) : e;
    return y == 2.0 ? x * x : e;
}
