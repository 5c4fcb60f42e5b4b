/* Products with logarithms, entropies and losses; included by vecmath_special.h. */

/* -- products with logarithms ------------------------------------------------------------------------------ */

/* Logarithms as two numbers: of positive normal and subnormal numbers; infinite for zero and infinity, NaN for other numbers. */
VM_INLINE double vm_log_edge_two_f64(double x, double *low) {
    double k, l;
    int inside = (x > 0.0) & (x < INFINITY);
    double m = vm_mantissa_f64(inside ? x : 1.0, &k);
    double h = vm_log_two_f64(k, m - 1.0, 0.0, &l);
    *low = inside ? l : 0.0;
    h = inside ? h : x;
    h = x < 0.0 ? NAN : h;
    return x == 0.0 ? -INFINITY : h;
}
VM_INLINE double vm_log1p_edge_two_f64(double x, double xl, double *low) {
    double l;
    int inside = (x > -1.0) & (x < INFINITY);
    double h = vm_log1p_sum_f64(inside ? x : 0.0, inside ? xl : 0.0, &l);
    *low = inside ? l : 0.0;
    h = inside ? h : x;
    h = fabs(x) < 0x1p-60 ? x : h; /* a subnormal number may not have an exact half */
    *low = fabs(x) < 0x1p-60 ? xl : *low;
    h = x < -1.0 ? NAN : h;
    return x == -1.0 ? -INFINITY : h;
}

/* x * (h + l); 0 if x is 0, unless y is NaN */
VM_INLINE double vm_times_log_f64(double x, double y, double h, double l) {
    double p = x * h;
    double e = fma(x, l, fma(x, h, -p));
    p = fabs(p) < INFINITY ? p + e : p;
    return ((x == 0.0) & (y == y)) ? 0.0 : p;
}
VM_INLINE double vm_xlogy_f64(double x, double y) {
    double l, h = vm_log_edge_two_f64(y, &l);
    return vm_times_log_f64(x, y, h, l);
}
VM_INLINE float vm_xlogy_f32(float x, float y) {
    double z = x * vm_log_wide(y);
    z = y < INFINITY ? z : x * y;
    z = y == 0.0f ? x * -INFINITY : z;
    z = y < 0.0f ? NAN : z;
    return ((x == 0.0f) & (y == y)) ? 0.0f : (float)z;
}

VM_INLINE double vm_xlog1py_f64(double x, double y) {
    double l, h = vm_log1p_edge_two_f64(y, 0.0, &l);
    return vm_times_log_f64(x, y, h, l);
}
VM_INLINE float vm_xlog1py_f32(float x, float y) {
    double z = x * vm_log1p_wide(y);
    z = y < INFINITY ? z : x * y;
    z = y == -1.0f ? x * -INFINITY : z;
    z = y < -1.0f ? NAN : z;
    return ((x == 0.0f) & (y == y)) ? 0.0f : (float)z;
}

VM_INLINE double vm_entr_f64(double x) {
    double y = 0.0 - vm_xlogy_f64(x, x);
    return x < 0.0 ? -INFINITY : y;
}
VM_INLINE float vm_entr_f32(float x) {
    double a = x, y = -a * vm_log_wide(a);
    y = a < INFINITY ? y : -a;
    y = a == 0.0 ? 0.0 : y;
    return (float)(a < 0.0 ? -INFINITY : y);
}

/* x * log(x / y) for positive finite numbers, as two numbers */
VM_INLINE double vm_entropy_two_f64(double x, double y, double *low, double *s, double *sl, double *k) {
    double l, h = vm_log_ratio_f64(x, y, &l, s, sl, k);
    double p = x * h;
    *low = fma(x, l, fma(x, h, -p));
    return p;
}

/* The first bodies are for positive normal numbers whose product with a logarithm is finite. */
#define VM_ENTROPY_LATER_F64(x, y)                                                                           \
    ((vm_bits64(x) - ((uint64_t)1 << 52)) | (vm_bits64(0x1p1000) - vm_bits64(x)) |                           \
        (vm_bits64(y) - ((uint64_t)1 << 52)) | (vm_bits64(0x1p1000) - vm_bits64(y)))

VM_INLINE double vm_rel_entr_f64_fast(double x, double y) {
    double low, s, sl, k, p = vm_entropy_two_f64(x, y, &low, &s, &sl, &k);
    return p + low;
}
VM_INLINE double vm_rel_entr_f64(double x, double y) {
    double low, s, sl, k;
    int inside = (x > 0.0) & (y > 0.0) & (x < INFINITY) & (y < INFINITY);
    double p = vm_entropy_two_f64(inside ? x : 1.0, inside ? y : 1.0, &low, &s, &sl, &k);
    double z = fabs(p) < INFINITY ? p + low : p;
    double edge = ((x > 0.0) & (y > 0.0)) ? (x < INFINITY ? -INFINITY : y < INFINITY ? INFINITY : NAN) : INFINITY;
    edge = ((x == 0.0) & (y >= 0.0)) ? 0.0 : edge;
    z = inside ? z : edge;
    return ((x == x) & (y == y)) ? z : NAN;
}
#define VM_REL_ENTR_LATER_F64 VM_ENTROPY_LATER_F64

/* rel_entr(x, y) - x + y. With s = (x - y) / (x + y) it is s * (x - y) + 2 * x * (atanh(s) - s). Only the second term can be negative,
   if x < y, so nothing large cancels. */
VM_INLINE double vm_kl_div_f64_fast(double a, double b) {
    double low, s, sl, k, p = vm_entropy_two_f64(a, b, &low, &s, &sl, &k);
    double z = s * s;
    double series = fma(z, vm_atanh_poly_f64(z), 0x1.5555555555555p-1); /* 2 * (atanh(s) - s) / s**3 */
    double d = a - b;
    double w = s * d;
    double near = w + fma(s * z, a * series, fma(sl, d, fma(s, d, -w)));
    double sum = p - d; /* p and d have one sign */
    double v = sum - p;
    double far = sum + (((p - (sum - v)) - (d + v)) + (low - ((a - (d - (d - a))) - (b + (d - a)))));
    return ((k == 0.0) & (fabs(s) < 0.125)) ? near : far;
}
VM_INLINE double vm_kl_div_f64(double x, double y) {
    int inside = (x > 0.0) & (y > 0.0) & (x < INFINITY) & (y < INFINITY);
    double a = inside ? x : 1.0, b = inside ? y : 1.0;
    double out = vm_kl_div_f64_fast(a, b), p = vm_rel_entr_f64(a, b);
    out = fabs(p) < INFINITY ? out : p;
    double edge = ((x > 0.0) & (y > 0.0)) ? NAN : INFINITY;
    edge = ((x == 0.0) & (y >= 0.0)) ? y : edge;
    out = inside ? out : edge;
    return ((x == x) & (y == y)) ? out : NAN;
}
#define VM_KL_DIV_LATER_F64 VM_ENTROPY_LATER_F64

/* In double, for results that need only one number: s as above for the mantissas, k, and 2 * (atanh(s) - s) */
VM_INLINE double vm_log_ratio_short(double x, double y, double *s, double *k) {
    uint64_t u = vm_bits64(x) - vm_bits64(y) + ((uint64_t)1 << 51);
    *k = vm_exponent_f64(u + ((uint64_t)1024 << 52)) - (0x1p52 + 1024);
    y = y * vm_double((u & ~(uint64_t)VM_MANTISSA) + ((uint64_t)1023 << 52));
    *s = (x - y) / (x + y);
    double z = *s * *s;
    return (*s * z) * VM_HORNER(fma, z, 0x1.fa381b7ba7914p-3, 0x1.236bb4d80509cp-2, 0x1.999ec403154f9p-2, 0x1.555551bef9355p-1);
}
VM_INLINE float vm_rel_entr_f32_fast(float x, float y) {
    double s, k, r = vm_log_ratio_short(x, y, &s, &k);
    return (float)(x * (fma(k, VM_LN2, s + s) + r));
}
VM_INLINE float vm_kl_div_f32_fast(float x, float y) {
    double s, k, r = vm_log_ratio_short(x, y, &s, &k), a = x, d = a - y;
    double near = fma(s, d, a * r), far = a * (fma(k, VM_LN2, s + s) + r) - d;
    return (float)(k == 0.0 ? near : far);
}
VM_INLINE float vm_rel_entr_f32(float x, float y) { return (float)vm_rel_entr_f64(x, y); }
VM_INLINE float vm_kl_div_f32(float x, float y) { return (float)vm_kl_div_f64(x, y); }
#define VM_ENTROPY_LATER_F32(x, y) (VM_LOG_RARE_F32(x) | VM_LOG_RARE_F32(y))
#define VM_REL_ENTR_LATER_F32 VM_ENTROPY_LATER_F32
#define VM_KL_DIV_LATER_F32 VM_ENTROPY_LATER_F32

/* -- losses ------------------------------------------------------------------------------------------------ */

VM_INLINE double vm_huber_f64(double delta, double r) {
    double a = fabs(r);
    double y = a <= delta ? (0.5 * r) * r : delta * (a - 0.5 * delta);
    y = delta < 0.0 ? INFINITY : y;
    return y;
}
VM_INLINE float vm_huber_f32(float delta, float r) { return (float)vm_huber_f64(delta, r); }

/* delta**2 * (sqrt(1 + (r / delta)**2) - 1) is r**2 * delta / (delta + hypot(delta, r)). It is computed as the larger of |r| and delta
   divided by the sum, times the smaller, times |r|. */
VM_INLINE double vm_pseudo_huber_f64(double delta, double r) {
    double a = fabs(r), low;
    double large = a > delta ? a : delta, small = a > delta ? delta : a;
    double h = vm_hypot_f64(delta, a);
    double d = h + delta;
    double q = vm_quotient_two_f64(large, 0.0, d, delta - (d - h), &low);
    double w = small * q;
    double wl = fma(small, q, -w) + small * low;
    double y = a * w;
    y = fabs(y) < INFINITY ? y + fma(a, wl, fma(a, w, -y)) : y;
    y = a == INFINITY ? INFINITY : y;
    y = delta == INFINITY ? NAN : y;
    y = ((delta == delta) & (r == r)) ? y : NAN;
    y = ((delta == 0.0) | (r == 0.0)) ? 0.0 : y;
    return delta < 0.0 ? INFINITY : y;
}
VM_INLINE float vm_pseudo_huber_f32(float delta, float r) {
    double a = fabsf(r), d = delta;
    double y = (a * a) * (d / (d + sqrt(a * a + d * d)));
    y = a == INFINITY ? INFINITY : y;
    y = d == INFINITY ? NAN : y;
    y = ((delta == delta) & (r == r)) ? y : NAN;
    y = ((delta == 0.0f) | (r == 0.0f)) ? 0.0 : y;
    return (float)(delta < 0.0f ? INFINITY : y);
}
