/* Roots, and powers that have logarithms as limits; included by vecmath_special.h. */

/* -- roots and powers -------------------------------------------------------------------------------------- */

/* m**(-1/3) on [1, 2] to 2**-14, then one step of third order. Exponents are divided by 3 in double; the remainder of the nearest
   integer is -1, 0 or 1. */
VM_INLINE double vm_cbrt_scaled_f64(double a, double *root, double *third) {
    uint64_t u = vm_bits64(a);
    double e = vm_exponent_f64(u) - (0x1p52 + 1023);
    double m = vm_double((u & VM_MANTISSA) | (uint64_t)1023 << 52);
    *third = fma(e, 0x1.5555555555555p-2, VM_ROUND64);
    double rest = fma(*third - VM_ROUND64, -3.0, e);
    double z = VM_HORNER(fma, m, 0x1.d46ebd785cd58p-6, -0x1.c517cdb196806p-3, 0x1.6415fd5155b1ap-1, -0x1.2c41b99c729fep+0,
        0x1.ab8581b191b80p+0);
    z = z * (rest > 0.5 ? 0x1.965fea53d6e3dp-1 : rest < -0.5 ? 0x1.428a2f98d728bp+0 : 1.0);
    m = m * (rest > 0.5 ? 2.0 : rest < -0.5 ? 0.5 : 1.0);
    double d = fma(-m * z, z * z, 1.0);
    *root = fma(z * d, fma(d, 0x1.c71c71c71c71cp-3, 0x1.5555555555555p-2), z);
    return m;
}

VM_INLINE double vm_cbrt_f64(double x) {
    double a = fabs(x), z, third;
    int tiny = a < 0x1p-1022;
    double m = vm_cbrt_scaled_f64(tiny ? a * 0x1p54 : a, &z, &third);
    double w = z * z;
    double y = m * w;
    double s = y * y;
    double sl = fma(y, y, -s);
    double p = s * y;
    double e = (m - p) - fma(s, y, -p) - sl * y; /* m - y**3 */
    y = fma(e, w * 0x1.5555555555555p-2, y);
    y = y * (tiny ? 0x1p-18 : 1.0);
    y = vm_double(vm_bits64(y) + (vm_bits64(third) << 52));
    y = ((a > 0.0) & (a < INFINITY)) ? y : a;
    return copysign(y, x);
}

VM_INLINE float vm_cbrt_f32(float x) {
    double z, third;
    float a = fabsf(x);
    double m = vm_cbrt_scaled_f64(a, &z, &third);
    double y = vm_double(vm_bits64(m * (z * z)) + (vm_bits64(third) << 52));
    return copysignf(((a > 0.0f) & (a < INFINITY)) ? (float)y : a, x);
}

/* -- powers that have logarithms as limits -------------------------------------------------------------------------- */

/* (e**(lambda * (h + l)) - 1) / lambda */
VM_INLINE double vm_boxcox_log_f64(double h, double l, double lambda) {
    double p = lambda * h, low, unit, ql;
    double pl = fma(lambda, l, fma(lambda, h, -p));
    pl = fabs(p) < INFINITY ? pl : 0.0;
    double e = vm_expm1_two_f64(p, pl, &low, &unit);
    double sum = e + low;
    double q = vm_quotient_two_f64(sum, (e - sum) + low, lambda, 0.0, &ql);
    double y = (q + (fabs(q) < INFINITY ? ql : 0.0)) * unit;
    y = p > 750.0 ? INFINITY / lambda : y;
    y = p < -750.0 ? -1.0 / lambda : y;
    y = fabs(p) < 0x1p-55 ? h + l : y;
    y = p == p ? y : p;
    return lambda == 0.0 ? h + l : y;
}
VM_INLINE double vm_boxcox_f64(double x, double lambda) {
    double l, h = vm_log_edge_two_f64(x, &l);
    return vm_boxcox_log_f64(h, l, lambda);
}
VM_INLINE double vm_boxcox1p_f64(double x, double lambda) {
    double l, h = vm_log1p_edge_two_f64(x, 0.0, &l);
    double y = vm_boxcox_log_f64(h, l, lambda);
    return ((x == 0.0) & (fabs(lambda) < INFINITY)) ? x : y;
}

/* log(1 + lambda * x) / lambda as two numbers; x for lambda = 0 */
VM_INLINE double vm_inv_boxcox_log_f64(double x, double lambda, double *low) {
    double p = lambda * x, l;
    double pl = fma(lambda, x, -p);
    pl = fabs(p) < INFINITY ? pl : 0.0;
    double h = vm_log1p_edge_two_f64(p, pl, &l);
    double q = vm_quotient_two_f64(h, l, lambda, 0.0, low);
    int plain = (lambda == 0.0) | (fabs(p) < 0x1p-60);
    q = plain ? x : fabs(h) < INFINITY ? q : h / lambda;
    *low = (plain | !(fabs(q) < INFINITY)) ? 0.0 : *low;
    return q;
}
VM_INLINE double vm_inv_boxcox_f64(double x, double lambda) {
    double l, h = vm_inv_boxcox_log_f64(x, lambda, &l);
    return vm_exp_sum_f64(h, l);
}
VM_INLINE double vm_inv_boxcox1p_f64(double x, double lambda) {
    double l, low, unit, h = vm_inv_boxcox_log_f64(x, lambda, &l);
    double e = vm_expm1_two_f64(h, l, &low, &unit);
    double y = (e + low) * unit;
    y = h > 750.0 ? INFINITY : y;
    y = fabs(h) < 0x1p-60 ? h : y;
    return h == h ? y : h;
}

VM_INLINE float vm_boxcox_f32(float x, float lambda) { return (float)vm_boxcox_f64(x, lambda); }
VM_INLINE float vm_boxcox1p_f32(float x, float lambda) { return (float)vm_boxcox1p_f64(x, lambda); }
VM_INLINE float vm_inv_boxcox_f32(float x, float lambda) { return (float)vm_inv_boxcox_f64(x, lambda); }
VM_INLINE float vm_inv_boxcox1p_f32(float x, float lambda) { return (float)vm_inv_boxcox1p_f64(x, lambda); }

/* (e**x - 1) / x */
VM_INLINE double vm_exprel_f64(double x) {
    double low, unit, ql;
    double e = vm_expm1_two_f64(x, 0.0, &low, &unit);
    double sum = e + low;
    double q = vm_quotient_two_f64(sum, (e - sum) + low, x, 0.0, &ql);
    double y = (q + ql) * unit;
    y = x > 718.0 ? INFINITY : y;
    y = x < -0x1p60 ? -1.0 / x : y;
    y = fabs(x) < 0x1p-54 ? 1.0 : y;
    return x == x ? y : x;
}
VM_INLINE float vm_exprel_f32(float x) { return (float)vm_exprel_f64(x); }
