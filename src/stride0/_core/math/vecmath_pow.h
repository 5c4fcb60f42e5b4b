/* Powers in both precisions; included twice by vecmath.h.

   Range: all operands. Method: e**(y * log(x)) in float64 and 2**(y * log2(x)) in float32, with the logarithm as a sum of two numbers.
   Relative error of the logarithm: 2**-64 in float64, 2**-35 in float32. If the exponent is 2 or 3, products give the result.

   Note [Special powers]
       With L = log|x| (-infinity for zero), y * L determines the power, except for 0 * infinity: x**0 and 1**y are 1, even if
       the other operand is NaN. A negative x changes the sign if y is an odd integer. If y is not an integer, the result is
       NaN, unless x is infinite or -0. */

/* The highest bit is set if x is negative (also -0) and y is an odd integer. Large integers are even. */
VM_INLINE VM_U VM_(pow_sign)(VM_T x, VM_T y) {
    VM_T h = VM_C(0.5) * y;
    int odd = (VM_TRUNC(y) == y) & (VM_TRUNC(h) != h);
    return odd ? VM_AS_BITS(x) & VM_SIGN : 0;
}

/* x**3, with an error of 0.501 ULP: p + e is x * x exactly. Near the smallest normal number e is too small, and the error is 1 ULP. */
VM_INLINE VM_T VM_(cube)(VM_T x) {
    VM_T p = x * x, e = VM_FMA(x, x, -p) * x;
    return VM_FMA(p, x, VM_FABS(e) < (VM_T)INFINITY ? e : 0);
}

/* The logarithm of a number 2**k * m, as a sum of two numbers. First half: s = f / (2 + f) for f = m - 1. Here and below each number is
   a rounded value and a tail. */
VM_INLINE VM_T VM_(log_quotient)(VM_T m, VM_T *sl) {
    VM_T f = m - 1, d = m + 1;
    VM_T inverse = 1 / d;
    VM_T s = f * inverse;
    *sl = VM_FMA(-s, m - (d - 1), VM_FMA(-s, d, f)) * inverse;
    return s;
}

#if VM_PRECISION == 64
/* k + log2((1 + s) / (1 - s)), by the series of atanh */
VM_INLINE double vm_log2_series_wide(double k, double s) {
    double z = s * s;
    double q = VM_HORNER(fma, z, 0x1.5c62403a751e5p-2, 0x1.a59658620470ap-2, 0x1.277767522c369p-1, 0x1.ec709d451207dp-1,
        0x1.71547652b82fep+1);
    return fma(s, q, k);
}
/* log2(x) for a normal number x (every positive float is normal in double), by the series of atanh; relative error
   2**-37 */
VM_INLINE double vm_log2_wide(double x) {
    double k, m = vm_log_split_fast_f64(x, &k);
    return vm_log2_series_wide(k, (m - 1.0) / (m + 1.0));
}

/* A(z) of 2 * atanh(s) = s * (2 + z * (2/3 + z * A(z))) for z = s**2 */
VM_INLINE double vm_atanh_poly_f64(double z) {
    return VM_HORNER(fma, z, 0x1.0e429df6769a5p-3, 0x1.0f7feb2eef90ep-3, 0x1.3b1eebf9305abp-3, 0x1.745ce9e3c08a8p-3,
        0x1.c71c722d65393p-3, 0x1.2492492457d69p-2, 0x1.9999999999b30p-2);
}

/* Second half: the logarithm of 1 + f is 2 * atanh(s). */
VM_INLINE double vm_log_series_f64(double k, double s, double sl, double *low) {
    double z = s * s;
    double zl = fma(s, s, -z) + (s + s) * sl;
    double a = vm_atanh_poly_f64(z);
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
#else
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

/* 2**r for r from -1/2 to 1/2 */
VM_INLINE float vm_exp2_core_f32(float r) {
    float q = VM_HORNER(fmaf, r, 0x1.e06ae2p-17f, 0x1.44098ep-13f, 0x1.5da5a8p-10f, 0x1.3b2a6p-7f, 0x1.c6b06ep-5f, 0x1.ebfbep-3f,
        0x1.62e43p-1f);
    return fmaf(r, q, 1.0f);
}

/* x**y / 2**k, given log2(x) as high + low; the low bits of *t hold k; *size is near y * log2(x) */
VM_INLINE float vm_pow_core_f32(float y, float high, float low, float *t, float *size) {
    float p = y * high;
    float pl = fmaf(y, low, fmaf(y, high, -p));
    *size = p;
    *t = p + VM_ROUND32;
    float r = (p - (*t - VM_ROUND32)) + pl;
    return vm_exp2_core_f32(r);
}
#endif

/* For a normal positive x with a normal power; otherwise the highest bit of *rare is set. Squares and cubes are computed
   separately. */
VM_INLINE VM_T VM_(pow_end_fast)(VM_T y, VM_T high, VM_T low, VM_U *rare) {
    VM_T t, size, e = VM_(pow_core)(y, high, low, &t, &size);
    *rare = VM_AS_BITS(VM_PICK(708, 125)) - (VM_AS_BITS(size) & ~VM_SIGN);
    return VM_TIMES_POW2(e, t);
}

VM_INLINE VM_T VM_(pow)(VM_T x, VM_T y) {
    VM_T ax = VM_FABS(x), k, low, t, size;
    VM_T s = VM_(log_quotient)(VM_(log_split)(ax, &k), &low);
    VM_T high = VM_PICK(vm_log_series_f64, vm_log2_series_f32)(k, s, low, &low);
    VM_T e = VM_(pow_core)(y, high, low, &t, &size);
    VM_T g = ax < INFINITY ? high : ax;
    g = y * (ax == 0 ? -INFINITY : g); /* determines results that are not finite, for which the other terms are garbage */
    e = VM_(scaled_if)(e, t, g < 0);
    e = g > VM_PICK(710, 129) ? INFINITY : e;
    e = g < VM_PICK(-746, -152) ? 0 : e;
    e = g == g ? e : g;
    e = VM_FROM_BITS(VM_AS_BITS(e) ^ VM_(pow_sign)(x, y));
    int broken = (x < 0) & (ax < INFINITY) & (VM_TRUNC(y) != y);
    e = broken ? NAN : e;
    e = (y == 0) | (x == 1) | ((ax == 1) & (VM_FABS(y) == INFINITY)) ? 1 : e;
    e = y == 3 ? VM_(cube)(x) : e;
    return y == 2 ? x * x : e;
}
