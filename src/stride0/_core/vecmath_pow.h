/* Powers, float32 and float64; included by vecmath.h.

   Note [Special powers]
       With L = log|x| (of zero -infinity), the power is decided by y * L, once 0 * infinity is out of the
       way: x**0 and 1**y are 1, even where the other operand is NaN. A negative x turns the sign if y is an odd
       integer; with a y that is no integer the result is NaN, unless x is infinite or -0. */

/* Bit 31 set where x is negative (also -0) and y an odd integer. Integers beyond 2**24 are even. */
VM_INLINE uint32_t vm_pow_sign_f32(float x, float y) {
    float h = 0.5f * y;
    int odd = (truncf(y) == y) & (truncf(h) != h);
    return odd ? vm_bits32(x) & 0x80000000u : 0u;
}

/* log2(x) for a normal number x, which every positive float is in double, by the series of atanh; relative
   error 2**-37 */
VM_INLINE double vm_log2_wide(double x) {
    uint64_t u = vm_bits64(x) + VM_TO_SQRT_HALF;
    double k = vm_exponent_f64(u) - (0x1p52 + 1023);
    double m = vm_double((u & VM_MANTISSA) + VM_FROM_SQRT_HALF);
    double s = (m - 1.0) / (m + 1.0);
    double z = s * s;
    double q = 0x1.277767522c369p-1 + z * (0x1.a59658620470ap-2 + z * 0x1.5c62403a751e5p-2);
    q = 0x1.71547652b82fep+1 + z * (0x1.ec709d451207dp-1 + z * q);
    return k + s * q;
}

/* y * l, where l is the logarithm of |x|, and finite whatever x is. Zero where the power is one. */
VM_INLINE double vm_pow_exponent_f32(float x, float y, double l) {
    float ax = fabsf(x);
    float factor = ax < INFINITY ? 1.0f : ax;
    factor = ax == 0.0f ? INFINITY : factor;
    return (double)((ax == 1.0f) | (y == 0.0f) ? 0.0f : y * factor) * l;
}

/* 2**p; relative error 2**-29 before rounding */
VM_INLINE float vm_exp2_wide(double p) {
    double t = p + VM_ROUND64;
    double r = p - (t - VM_ROUND64);
    double b = 0x1.5f4597a2a995fp-10 + r * 0x1.41d310e3cf69dp-13;
    b = 0x1.c6aed45fa6ee1p-5 + r * (0x1.3b2dbc65d3ed2p-7 + r * b);
    b = 0x1.000000026280fp+0 + r * (0x1.62e430c82c01cp-1 + r * (0x1.ebfbdadb065d7p-3 + r * b));
    return (float)(b * vm_pow2_f64(t));
}

/* The power, from its size w if that is a number at all. */
VM_INLINE float vm_pow_end_f32(float x, float y, float p, float w) {
    float ax = fabsf(x);
    w = p > 130.0f ? INFINITY : w;
    w = p < -152.0f ? 0.0f : w;
    w = vm_float(vm_bits32(w) ^ vm_pow_sign_f32(x, y));
    int broken = (x < 0.0f) & (ax < INFINITY) & (truncf(y) != y);
    w = broken ? NAN : w;
    return y == 2.0f ? x * x : w; /* as square(x) */
}

VM_INLINE float vm_pow_f32(float x, float y) {
    double p = vm_pow_exponent_f32(x, y, vm_log2_wide(fabsf(x)));
    return vm_pow_end_f32(x, y, (float)p, vm_exp2_wide(p));
}

VM_INLINE uint64_t vm_pow_sign_f64(double x, double y) {
    double h = 0.5 * y;
    int odd = (trunc(y) == y) & (trunc(h) != h);
    return odd ? vm_bits64(x) & (uint64_t)1 << 63 : 0u;
}

/* First half of the logarithm of a positive x = 2**k * (1 + f): s = f / (3 + 3f/2), as sh + sl with 24 bits
   in sh. Each number here and below comes as a leading part, cut so that products of leading parts are
   exact, and a rest. */
VM_INLINE double vm_log_quotient_f64(double x, double *k, double *sl) {
    double f = vm_log_split_f64(x, k);
    double d = 3.0 + 1.5 * f;
    double dh = vm_cut(d, 27);
    double dl = (f - (dh - 3.0)) + 0.5 * f;
    double inverse = 1.0 / d;
    double sh = vm_cut(f * inverse, 29);
    *sl = ((f - sh * dh) - sh * dl) * inverse;
    return sh;
}

/* Second half: with z = (3s/2)**2 the logarithm of 1 + f is s * (3 + z + z**2 * A(z)). The result has 26
   bits, and the error of the sum with `low` is below 2**-64 of it. */
VM_INLINE double vm_log_parts_f64(double k, double sh, double sl, double *low) {
    double s = sh + sl;
    double v = 1.5 * sh;
    double zh = v * v;
    double zl = sl * (2.25 * (sh + s));
    double z = zh + zl, z2 = z * z;
    double a = ((0x1.3333333333464p-1 + z * 0x1.b6db6db683c1dp-2) + z2 * (0x1.555555a20bf71p-2
        + z * 0x1.1745af6ac990ap-2)) + (z2 * z2) * ((0x1.d8ae61f9624d9p-3 + z * 0x1.973fe05392f7fp-3)
        + z2 * 0x1.9563f2681f6cbp-3);
    double rest = zl + z2 * a;
    double th = vm_cut((3.0 + zh) + rest, 26);
    double tl = rest - ((th - 3.0) - zh);
    double ph = sh * th;
    double pl = sl * th + s * tl;
    double high = k * VM_LN2_HI;
    double sum = high + ph;
    double error = ph - (sum - high); /* exact, as k is 0 or |high| > |ph| */
    double b = error + (k * VM_LN2_LO + pl);
    double lead = vm_cut(sum + b, 27);
    *low = (sum - lead) + b;
    return lead;
}

/* exp(y * (high + low)) for a power of x, of which these are the logarithm. */
VM_INLINE double vm_pow_end_f64(double x, double y, double lh, double ll) {
    double ax = fabs(x);
    double g = ax < INFINITY ? lh : ax;
    g = y * (ax == 0.0 ? -INFINITY : g); /* decides what is not finite, as the rest is rubbish then */
    double yh = vm_cut(y, 26);
    double ph = yh * lh;
    double pl = (y - yh) * lh + y * ll;
    double t = ph * VM_LOG2E + VM_ROUND64;
    double k = t - VM_ROUND64;
    double d = ph - k * VM_LN2_HI;
    double w = pl - k * VM_LN2_LO;
    double r = d + w;
    double rest = (d - r) + w;
    double s = 1.0 + r;
    double e = s + (((r - (s - 1.0)) + rest) + vm_exp_tail_f64(r));
    int small = k < 0.0;
    uint64_t bias = (uint64_t)(small ? 1023 + 64 : 1022) << 52;
    e = e * vm_double((vm_bits64(t) << 52) + bias) * (small ? 0x1p-64 : 2.0);
    e = g > 710.0 ? INFINITY : e;
    e = g < -746.0 ? 0.0 : e;
    e = g == g ? e : g;
    e = vm_double(vm_bits64(e) ^ vm_pow_sign_f64(x, y));
    int broken = (x < 0.0) & (ax < INFINITY) & (trunc(y) != y);
    e = broken ? NAN : e;
    e = (y == 0.0) | (x == 1.0) | ((ax == 1.0) & (fabs(y) == INFINITY)) ? 1.0 : e;
    return y == 2.0 ? x * x : e; /* as square(x) */
}

VM_INLINE double vm_pow_f64(double x, double y) {
    double k, sl, low;
    double sh = vm_log_quotient_f64(fabs(x), &k, &sl);
    double high = vm_log_parts_f64(k, sh, sl, &low);
    return vm_pow_end_f64(x, y, high, low);
}

#if defined(__GNUC__) && !defined(__clang__) /* as in vecmath_trig.h */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

/* -- loops ----------------------------------------------------------------------------------------------- */

/* Logarithms and exponentials are taken in loops of their own, as with the sine. */
VM_INLINE void vm_pow_f64_block(const double *x, const double *y, double *z, ptrdiff_t n) {
    double k[VM_BLOCK], high[VM_BLOCK], low[VM_BLOCK];
    VM_ELEMENTWISE
    for (ptrdiff_t i = 0; i < n; i++) high[i] = vm_log_quotient_f64(fabs(x[i]), k + i, low + i);
    VM_ELEMENTWISE
    for (ptrdiff_t i = 0; i < n; i++) high[i] = vm_log_parts_f64(k[i], high[i], low[i], low + i);
    VM_ELEMENTWISE
    for (ptrdiff_t i = 0; i < n; i++) z[i] = vm_pow_end_f64(x[i], y[i], high[i], low[i]);
}

VM_INLINE void vm_pow_f32_block(const float *x, const float *y, float *z, ptrdiff_t n) {
    double p[VM_BLOCK];
    float g[VM_BLOCK], w[VM_BLOCK];
    VM_ELEMENTWISE
    for (ptrdiff_t i = 0; i < n; i++) p[i] = vm_log2_wide(fabsf(x[i]));
    VM_ELEMENTWISE
    for (ptrdiff_t i = 0; i < n; i++) p[i] = vm_pow_exponent_f32(x[i], y[i], p[i]);
    VM_ELEMENTWISE
    for (ptrdiff_t i = 0; i < n; i++) {
        g[i] = (float)p[i];
        w[i] = vm_exp2_wide(p[i]);
    }
    VM_ELEMENTWISE
    for (ptrdiff_t i = 0; i < n; i++) z[i] = vm_pow_end_f32(x[i], y[i], g[i], w[i]);
}

/* z[i] = f(x[i], y[i]) for n elements, with steps in bytes; z may be x or y. */
#define VM_RUN_2(name, T)                                                                                    \
    static __attribute__((unused)) void vm_##name##_run(                                                     \
        const char *x, ptrdiff_t sx, const char *y, ptrdiff_t sy, char *z, ptrdiff_t sz, ptrdiff_t n) {      \
        T left[VM_BLOCK], right[VM_BLOCK], results[VM_BLOCK];                                                \
        for (; n > 0; n -= VM_BLOCK, x += VM_BLOCK * sx, y += VM_BLOCK * sy, z += VM_BLOCK * sz) {           \
            ptrdiff_t m = n < VM_BLOCK ? n : VM_BLOCK;                                                       \
            const T *a = vm_gather_##T(x, sx, left, m), *b = vm_gather_##T(y, sy, right, m);                 \
            T *r = sz == (ptrdiff_t)sizeof(T) ? (T *)z : results;                                            \
            vm_##name##_block(a, b, r, m);                                                                   \
            vm_scatter_##T(r, z, sz, m);                                                                     \
        }                                                                                                    \
    }

VM_RUN_2(pow_f64, double)
VM_RUN_2(pow_f32, float)

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
