/* Functions of `stride0.special` made of exponentials, logarithms and sines; included by vecmath_special.h. */

/* -- logistic function and its like ------------------------------------------------------------------------ */

/* 1 / (1 + e**-x) for x >= 0 and e**x / (1 + e**x) below: neither overflows, and small results keep their digits. */
VM_INLINE double vm_expit_f64(double x) {
    double t, el, low;
    double a = fabs(x);
    a = a > 750.0 ? 750.0 : a;
    double e = vm_exp_two_f64(-a, 0.0, &el, &t);
    double scale = vm_scaled_f64(1.0, t);
    int below = x < 0.0;
    double p = (e + el) * scale;
    double pl = ((e - (e + el)) + el) * scale;
    double d = 1.0 + p;
    double dl = (p - (d - 1.0)) + pl;
    double q = vm_quotient_two_f64(below ? e : 1.0, below ? el : 0.0, d, dl, &low);
    double y = q + low;
    y = y * (below ? scale : 1.0);
    return x == x ? y : x;
}

/* As in float64. */
VM_INLINE float vm_expit_f32(float x) {
    float t, el, a = fabsf(x);
    a = a > 104.0f ? 104.0f : a;
    float e = vm_exp_two_f32(-a, &el, &t);
    int below = x < 0.0f;
    float top = e + el;
    float top_low = (e - top) + el;
    float scale = vm_scaled_f32(1.0f, t);
    float p = top * scale;
    float d = 1.0f + p;
    float dl = fmaf(top_low, scale, p - (d - 1.0f));
    float n = below ? top : 1.0f, nl = below ? top_low : 0.0f;
    float inverse = 1.0f / d;
    float q = n * inverse;
    float y = fmaf(fmaf(-q, dl, fmaf(-q, d, n)) + nl, inverse, q);
    y = y * (below ? scale : 1.0f);
    return x == x ? y : x;
}

/* log(x / (1 - x)), where what rounding 1 - x left out counts */
VM_INLINE double vm_logit_f64(double x) {
    double low, s, sl, k;
    int inside = (x > 0.0) & (x < 1.0);
    double a = inside ? x : 0.5;
    double c = 1.0 - a;
    double h = vm_log_ratio_f64(a, c, &low, &s, &sl, &k);
    double y = h + (low - ((1.0 - c) - a) / c);
    y = inside ? y : NAN;
    y = x == 0.0 ? -INFINITY : y;
    return x == 1.0 ? INFINITY : y;
}

VM_INLINE float vm_logit_f32(float x) {
    int inside = (x > 0.0f) & (x < 1.0f);
    double a = inside ? x : 0.5;
    float y = (float)vm_log_wide(a / (1.0 - a));
    y = inside ? y : NAN;
    y = x == 0.0f ? -INFINITY : y;
    return x == 1.0f ? INFINITY : y;
}

/* log(1 + e**x) */
VM_INLINE double vm_softplus_f64(double x) {
    double t, el, low;
    double a = fabs(x);
    a = a > 750.0 ? 750.0 : a;
    double e = vm_exp_two_f64(-a, 0.0, &el, &t);
    double scale = vm_scaled_f64(1.0, t);
    double p = (e + el) * scale;
    double h = vm_log1p_sum_f64(p, ((e - (e + el)) + el) * scale, &low);
    double m = x > 0.0 ? x : 0.0;
    double s = m + h; /* m is 0 or the larger one, but for x below 0.6, where it is not much smaller */
    double v = s - m;
    double y = s + (((m - (s - v)) + (h - v)) + low);
    y = x > 750.0 ? x : y;
    y = x < -50.0 ? p : y;
    y = x < -750.0 ? 0.0 : y;
    return x == x ? y : x;
}

VM_INLINE float vm_softplus_f32(float x) {
    double a = fabsf(x), m = x > 0.0f ? x : 0.0;
    double y = m + vm_log1p_wide(vm_exp_wide(-(a > 110.0 ? 110.0 : a)));
    return (float)(x == x ? y : x);
}

VM_INLINE double vm_log_expit_f64(double x) { return -vm_softplus_f64(-x); }
VM_INLINE float vm_log_expit_f32(float x) { return -vm_softplus_f32(-x); }

/* -- products with logarithms ------------------------------------------------------------------------------ */

/* Logarithms of positive normal and subnormal numbers as two numbers, infinite ones of zero and infinity, NaN of others. */
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
    h = fabs(x) < 0x1p-60 ? x : h; /* half of a subnormal number is none */
    *low = fabs(x) < 0x1p-60 ? xl : *low;
    h = x < -1.0 ? NAN : h;
    return x == -1.0 ? -INFINITY : h;
}

/* x * (h + l); 0 where x is, unless y is NaN */
VM_INLINE double vm_times_log_f64(double x, double y, double h, double l) {
    double p = x * h;
    double e = fma(x, l, fma(x, h, -p));
    p = fabs(p) < INFINITY ? p + e : p;
    return (x == 0.0) & (y == y) ? 0.0 : p;
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
    return (x == 0.0f) & (y == y) ? 0.0f : (float)z;
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
    return (x == 0.0f) & (y == y) ? 0.0f : (float)z;
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

VM_INLINE double vm_rel_entr_f64(double x, double y) {
    double low, s, sl, k;
    int inside = (x > 0.0) & (y > 0.0) & (x < INFINITY) & (y < INFINITY);
    double p = vm_entropy_two_f64(inside ? x : 1.0, inside ? y : 1.0, &low, &s, &sl, &k);
    double z = fabs(p) < INFINITY ? p + low : p;
    double edge = (x > 0.0) & (y > 0.0) ? (x < INFINITY ? -INFINITY : y < INFINITY ? INFINITY : NAN) : INFINITY;
    edge = (x == 0.0) & (y >= 0.0) ? 0.0 : edge;
    z = inside ? z : edge;
    return (x == x) & (y == y) ? z : NAN;
}

/* rel_entr(x, y) - x + y. With s = (x - y) / (x + y) it is s * (x - y) + 2 * x * (atanh(s) - s), of which no term is
   negative but the second where x < y: nothing of much size cancels. */
VM_INLINE double vm_kl_div_f64(double x, double y) {
    double low, s, sl, k;
    int inside = (x > 0.0) & (y > 0.0) & (x < INFINITY) & (y < INFINITY);
    double a = inside ? x : 1.0, b = inside ? y : 1.0;
    double p = vm_entropy_two_f64(a, b, &low, &s, &sl, &k);
    double z = s * s;
    double series = fma(z, fma(z, fma(z, fma(z, fma(z, fma(z, 0x1.0e429df6769a5p-3, 0x1.0f7feb2eef90ep-3),
        0x1.3b1eebf9305abp-3), 0x1.745ce9e3c08a8p-3), 0x1.c71c722d65393p-3), 0x1.2492492457d69p-2),
        0x1.9999999999b30p-2);
    series = fma(z, series, 0x1.5555555555555p-1); /* 2 * (atanh(s) - s) / s**3 */
    double d = a - b;
    double w = s * d;
    double near = w + fma(s * z, a * series, fma(sl, d, fma(s, d, -w)));
    double sum = p - d; /* p and d have one sign */
    double v = sum - p;
    double far = sum + (((p - (sum - v)) - (d + v)) + (low - ((a - (d - (d - a))) - (b + (d - a)))));
    double out = (k == 0.0) & (fabs(s) < 0.125) ? near : far;
    out = fabs(p) < INFINITY ? out : p;
    double edge = (x > 0.0) & (y > 0.0) ? NAN : INFINITY;
    edge = (x == 0.0) & (y >= 0.0) ? y : edge;
    out = inside ? out : edge;
    return (x == x) & (y == y) ? out : NAN;
}

VM_INLINE float vm_rel_entr_f32(float x, float y) { return (float)vm_rel_entr_f64(x, y); }
VM_INLINE float vm_kl_div_f32(float x, float y) { return (float)vm_kl_div_f64(x, y); }

/* -- losses ------------------------------------------------------------------------------------------------ */

VM_INLINE double vm_huber_f64(double delta, double r) {
    double a = fabs(r);
    double y = a <= delta ? (0.5 * r) * r : delta * (a - 0.5 * delta);
    y = delta < 0.0 ? INFINITY : y;
    return y;
}
VM_INLINE float vm_huber_f32(float delta, float r) { return (float)vm_huber_f64(delta, r); }

/* delta**2 * (sqrt(1 + (r / delta)**2) - 1) is r**2 * delta / (delta + hypot(delta, r)): the larger one of |r| and delta
   over the sum, times the smaller one, times |r|. */
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
    y = (delta == delta) & (r == r) ? y : NAN;
    y = (delta == 0.0) | (r == 0.0) ? 0.0 : y;
    return delta < 0.0 ? INFINITY : y;
}
VM_INLINE float vm_pseudo_huber_f32(float delta, float r) {
    double a = fabsf(r), d = delta;
    double y = (a * a) * (d / (d + sqrt(a * a + d * d)));
    y = a == INFINITY ? INFINITY : y;
    y = d == INFINITY ? NAN : y;
    y = (delta == delta) & (r == r) ? y : NAN;
    y = (delta == 0.0f) | (r == 0.0f) ? 0.0 : y;
    return (float)(delta < 0.0f ? INFINITY : y);
}

/* -- roots and powers -------------------------------------------------------------------------------------- */

/* m**(-1/3) on [1, 2] to 2**-14 and one step of third order. Exponents are divided by 3 in double, where the
   integer nearest to their third leaves -1, 0 or 1. */
VM_INLINE double vm_cbrt_scaled_f64(double a, double *root, double *third) {
    uint64_t u = vm_bits64(a);
    double e = vm_exponent_f64(u) - (0x1p52 + 1023);
    double m = vm_double((u & VM_MANTISSA) | (uint64_t)1023 << 52);
    *third = fma(e, 0x1.5555555555555p-2, VM_ROUND64);
    double rest = fma(*third - VM_ROUND64, -3.0, e);
    double z = fma(m, fma(m, fma(m, fma(m, 0x1.d46ebd785cd58p-6, -0x1.c517cdb196806p-3), 0x1.6415fd5155b1ap-1), -0x1.2c41b99c729fep+0), 0x1.ab8581b191b80p+0);
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
    y = (a > 0.0) & (a < INFINITY) ? y : a;
    return copysign(y, x);
}

VM_INLINE float vm_cbrt_f32(float x) {
    double z, third;
    float a = fabsf(x);
    double m = vm_cbrt_scaled_f64(a, &z, &third);
    double y = vm_double(vm_bits64(m * (z * z)) + (vm_bits64(third) << 52));
    return copysignf((a > 0.0f) & (a < INFINITY) ? (float)y : a, x);
}

VM_INLINE double vm_exp2_f64(double x) {
    double a = x > 1100.0 ? 1100.0 : x;
    a = a < -1100.0 ? -1100.0 : a;
    double t = a + VM_ROUND64;
    double r = a - (t - VM_ROUND64);
    double p = r * VM_LN2;
    double pl = fma(r, 0x1.abc9e3b39803fp-56, fma(r, VM_LN2, -p));
    double s = 1.0 + p;
    double y = s + ((p - (s - 1.0)) + fma(p * p, vm_exp_poly_f64(p), pl * s));
    t = t > VM_ROUND64 + 1024.0 ? VM_ROUND64 + 1024.0 : t;
    t = t < VM_ROUND64 - 1080.0 ? VM_ROUND64 - 1080.0 : t;
    y = vm_scaled_f64(y, t);
    y = x >= 1024.0 ? INFINITY : y;
    y = x < -1075.0 ? 0.0 : y;
    return x == x ? y : x;
}

VM_INLINE double vm_exp10_f64(double x) {
    double p = x * 0x1.26bb1bbb55516p+1;
    double y = vm_exp_sum_f64(p, fma(x, -0x1.f48ad494ea3e9p-53, fma(x, 0x1.26bb1bbb55516p+1, -p)));
    return x > 308.3 ? INFINITY : y;
}

/* The polynomial is that of powers. */
VM_INLINE float vm_exp2_f32(float x) {
    float a = x > 128.0f ? 128.0f : x;
    a = a < -150.0f ? -150.0f : a;
    float t = a + VM_ROUND32;
    float r = a - (t - VM_ROUND32);
    float q = fmaf(r, fmaf(r, fmaf(r, 0x1.e06ae2p-17f, 0x1.44098ep-13f), 0x1.5da5a8p-10f), 0x1.3b2a6p-7f);
    q = fmaf(r, fmaf(r, fmaf(r, q, 0x1.c6b06ep-5f), 0x1.ebfbep-3f), 0x1.62e43p-1f);
    float y = vm_scaled_f32(fmaf(r, q, 1.0f), t);
    y = x < -150.0f ? 0.0f : y;
    return x == x ? y : x;
}
VM_INLINE float vm_exp10_f32(float x) {
    double a = x < -50.0f ? -50.0 : x;
    a = a > 40.0 ? 40.0 : a;
    float y = (float)vm_exp_wide(a * 0x1.26bb1bbb55516p+1);
    return x == x ? y : x;
}

/* -- powers that become logarithms -------------------------------------------------------------------------- */

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
    return (x == 0.0) & (fabs(lambda) < INFINITY) ? x : y;
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
    *low = plain | !(fabs(q) < INFINITY) ? 0.0 : *low;
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

/* -- sines of turns and degrees ----------------------------------------------------------------------------- */

/* Sine of high + low + turn * pi/2 as two numbers, as vm_sin_reduced_f64 */
VM_INLINE double vm_sin_two_f64(double high, double low, uint64_t turn, double *tail) {
    double z = high * high;
    double h = 0.5 * z;
    double w = 1.0 - h;
    double zl = fma(high, high, -z);
    double st = fma(high * zl, -0x1.5555555555555p-3, vm_sin_tail_f64(high, low, z, w));
    double ct = vm_cos_tail_f64(fma(high, low, 0.5 * zl), z, h, w);
    double n = turn & 1 ? w : high, nl = turn & 1 ? ct : st;
    double y = n + nl;
    uint64_t sign = (turn & 2) << 62;
    *tail = vm_double(vm_bits64((n - y) + nl) ^ sign);
    return vm_double(vm_bits64(y) ^ sign);
}

/* a * unit + low, where unit comes as two numbers */
VM_INLINE double vm_product_two_f64(double a, double unit, double unit_low, double *low) {
    double p = a * unit;
    *low = fma(a, unit_low, fma(a, unit, -p));
    return p;
}

/* sin(pi x) / (pi x), where x is reduced by quarter turns without an error; 0 at integers */
VM_INLINE double vm_sinc_f64(double x) {
    double a = fabs(x), low, sl, dl, ql;
    double b = a > 0x1p51 ? 0.0 : a; /* which is half an integer: integers are a little dearer */
    double t = (b + b) + VM_ROUND64;
    double r = fma(t - VM_ROUND64, -0.5, b);
    double high = vm_product_two_f64(r, VM_PI_HI, 0x1.1a62633145c07p-53, &low);
    double s = vm_sin_two_f64(high, low, vm_bits64(t), &sl);
    double d = vm_product_two_f64(b, VM_PI_HI, 0x1.1a62633145c07p-53, &dl);
    double q = vm_quotient_two_f64(s, sl, d, dl, &ql);
    double y = q + ql;
    y = a > 0x1p51 ? 0.0 : y;
    y = a < 0x1p-30 ? 1.0 : y;
    return a < INFINITY ? y : NAN;
}
VM_INLINE float vm_sinc_f32(float x) { return (float)vm_sinc_f64(x); }

/* cos(x) - 1 = -2 * sin(x / 2)**2 */
VM_INLINE double vm_cosm1_end_f64(double high, double low, uint64_t turn) {
    double sl, s = vm_sin_two_f64(high, low, turn, &sl);
    double p = s * s;
    return 0.0 - 2.0 * (p + fma(s + s, sl, fma(s, s, -p)));
}
VM_INLINE double vm_cosm1_f64_fast(double x) {
    double low, t;
    double high = vm_reduce_f64(0.5 * fabs(x), &low, &t);
    return vm_cosm1_end_f64(high, low, vm_bits64(t));
}
static __attribute__((noinline, unused)) double vm_cosm1_huge(double x) {
    double high, low;
    if (!(fabs(x) < INFINITY)) return x - x;
    int n = vm_reduce_huge(0.5 * fabs(x), &high, &low);
    return vm_cosm1_end_f64(high, low, (uint64_t)n);
}
VM_INLINE double vm_cosm1_f64(double x) {
    return fabs(x) <= VM_TRIG_LIMIT_F64 ? vm_cosm1_f64_fast(x) : vm_cosm1_huge(x);
}
VM_INLINE float vm_cosm1_f32_fast(float x) { return (float)vm_cosm1_f64_fast(x); }
VM_INLINE float vm_cosm1_f32(float x) { return (float)vm_cosm1_f64(x); }

/* Angles in degrees, reduced by right angles without an error. Beyond 10**14, where neighbours are more than a minute apart,
   SciPy gives 0. */
#define VM_DEGREES_END 1e14
VM_INLINE double vm_degrees_f64(double a, double *low, double *t) {
    *t = fma(a, 0x1.6c16c16c16c17p-7, VM_ROUND64);
    double r = fma(*t - VM_ROUND64, -90.0, a);
    return vm_product_two_f64(r, 0x1.1df46a2529d39p-6, 0x1.5c1d8becdd291p-62, low);
}
VM_INLINE double vm_sindg_f64(double x) {
    double a = fabs(x), low, t, tail;
    double high = vm_degrees_f64(a > VM_DEGREES_END ? 0.0 : a, &low, &t);
    double y = vm_sin_two_f64(high, low, vm_bits64(t), &tail);
    y = x == x ? y : x;
    return vm_double(vm_bits64(y) ^ (vm_bits64(x) & VM_SIGN64));
}
VM_INLINE double vm_cosdg_f64(double x) {
    double a = fabs(x), low, t, tail;
    double high = vm_degrees_f64(a > VM_DEGREES_END ? 0.0 : a, &low, &t);
    double y = vm_sin_two_f64(high, low, vm_bits64(t) + 1, &tail);
    y = a > VM_DEGREES_END ? 0.0 : y;
    return x == x ? y : x;
}
VM_INLINE double vm_tandg_f64(double x) {
    double a = fabs(x), low, t;
    double high = vm_degrees_f64(a > VM_DEGREES_END ? 0.0 : a, &low, &t);
    double y = vm_tan_reduced_f64(high, low, vm_bits64(t));
    double signed_y = vm_double(vm_bits64(y) ^ (vm_bits64(x) & VM_SIGN64));
    y = fabs(y) < INFINITY ? signed_y : INFINITY; /* a division by zero left NaN */
    return x == x ? y : x;
}
/* -tan(a + 90) */
VM_INLINE double vm_cotdg_f64(double x) {
    double a = fabs(x), low, t;
    double high = vm_degrees_f64(a > VM_DEGREES_END ? 0.0 : a, &low, &t);
    double y = -vm_tan_reduced_f64(high, low, vm_bits64(t) + 1);
    y = a > VM_DEGREES_END ? 0.0 : y;
    double signed_y = vm_double(vm_bits64(y) ^ (vm_bits64(x) & VM_SIGN64));
    y = fabs(y) < INFINITY ? signed_y : INFINITY;
    y = (a < 0x1p-900) & (a > 0.0) ? copysign(0x1.ca5dc1a63c1f8p+5 / a, x) : y;
    return x == x ? y : x;
}
VM_INLINE float vm_sindg_f32(float x) { return (float)vm_sindg_f64(x); }
VM_INLINE float vm_cosdg_f32(float x) { return (float)vm_cosdg_f64(x); }
VM_INLINE float vm_tandg_f32(float x) { return (float)vm_tandg_f64(x); }
VM_INLINE float vm_cotdg_f32(float x) { return (float)vm_cotdg_f64(x); }
