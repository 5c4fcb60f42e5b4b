/* Real functions whose results are two numbers; included by cvecmath.h.

   Their relative errors are below 2**-56, so a result that is computed from them is almost correctly rounded. */

/* -- exponential function -------------------------------------------------------------------------------- */

/* exp(x.h + x.l) / 2**k for the integer k that *t holds (Note [Rounding by a large constant]) */
VM_INLINE cv_two cv_exp_parts(cv_two x, double *t) {
    *t = x.h * VM_LOG2E + VM_ROUND64;
    double k = *t - VM_ROUND64;
    double d = x.h - k * VM_LN2_HI;
    double w = k * VM_LN2_LO;
    cv_two r = cv_sum(d - w, ((d - (d - w)) - w) + x.l);
    double s = 1.0 + r.h;
    return cv_sum_ordered(s, (r.h - (s - 1.0)) + (vm_exp_tail_f64(r.h) + r.l * (1.0 + r.h)));
}

/* a, negated if the sign bit is set */
VM_INLINE cv_two cv_negated_if(uint64_t sign, cv_two a) {
    return cv_make(vm_double(vm_bits64(a.h) ^ sign), vm_double(vm_bits64(a.l) ^ sign));
}
VM_INLINE cv_two cv_odd(cv_two a, double x) { return cv_negated_if(vm_bits64(x) & (uint64_t)1 << 63, a); }

/* sinh(x) and cosh(x) for |x| < 700, by the helpers of the real functions */
VM_INLINE cv_two cv_hyper_sum(double up, double g, double ct, double rh, double st) {
    double a = up + g, b = up - g;
    double al = (up - a) + g;
    double c = up < 0x1p11 ? b : up;
    double lead = c * rh;
    double s = a + lead;
    double e = lead - (s - a);
    double tail = e + (((b - c) * rh + al) + (a * ct + b * st));
    return cv_sum_ordered(s + s, tail + tail);
}

VM_INLINE void cv_hyper_parts(double x, cv_two *sinh, cv_two *cosh) {
    double a = fabs(x), rl, up, down;
    double rh = vm_reduce_exp_f64(a, &rl, &up, &down);
    double r = rh + rl, z = r * r;
    double st = vm_sinh_tail_f64(r, z, rl), ct = vm_cosh_tail_f64(z);
    *sinh = cv_odd(cv_hyper_sum(up, -down, ct, rh, st), x);
    *cosh = cv_hyper_sum(up, down, ct, rh, st);
}

/* -- sine and cosine ------------------------------------------------------------------------------------- */

/* Sine and cosine of high + low + turn * pi/2, with high up to pi/4 */
VM_INLINE void cv_quarter_parts(double high, double low, uint64_t turn, cv_two *sine, cv_two *cosine) {
    double z = high * high;
    double h = 0.5 * z;
    double w = 1.0 - h;
    double a = vm_truncated(high, 27), b = high - a;
    double zl = ((a * a - z) + 2.0 * (a * b)) + b * b; /* the rounding error of z */
    double st = vm_sin_tail_f64(high, low, z, w) - (high * zl) * 0x1.5555555555555p-3;
    double ct = vm_cos_tail_f64(high * low + 0.5 * zl, z, h, w);
    uint64_t odd = -(turn & 1), s = (turn & 2) << 62, c = ((turn + 1) & 2) << 62;
    cv_two a_sine = cv_sum_ordered(high, st), a_cosine = cv_sum_ordered(w, ct);
    *sine = cv_negated_if(s, cv_select(odd, a_cosine, a_sine));
    *cosine = cv_negated_if(c, cv_select(odd, a_sine, a_cosine));
}

/* Sine and cosine of y up to VM_TRIG_LIMIT_F64 */
VM_INLINE void cv_circle_parts(double y, cv_two *sine, cv_two *cosine) {
    double low, t;
    double high = vm_reduce_f64(fabs(y), &low, &t);
    cv_quarter_parts(high, low, vm_bits64(t), sine, cosine);
    *sine = cv_odd(*sine, y);
}

/* Sine and cosine of any finite y */
static __attribute__((noinline, unused)) void cv_circle_any(double y, cv_two *sine, cv_two *cosine) {
    if (fabs(y) <= VM_TRIG_LIMIT_F64) {
        cv_circle_parts(y, sine, cosine);
    } else {
        double high, low;
        int n = vm_reduce_huge(fabs(y), &high, &low);
        cv_quarter_parts(high, low, (uint64_t)n, sine, cosine);
        *sine = cv_odd(*sine, y);
    }
}

/* -- logarithm ------------------------------------------------------------------------------------------- */

/* log(v) for a positive normal v, with u = v - 1: near 1, u has more significant bits than v. */
VM_INLINE cv_two cv_log_parts(cv_two v, cv_two u) {
    uint64_t bits = vm_bits64(v.h) + VM_TO_SQRT_HALF;
    double k = vm_exponent_f64(bits) - (0x1p52 + 1023);
    double f = vm_double((bits & VM_MANTISSA) + VM_FROM_SQRT_HALF) - 1.0;
    double scale = vm_double(((uint64_t)2046 << 52) - (bits & ~(uint64_t)VM_MANTISSA)); /* 2**-k */
    uint64_t near = cv_mask(k == 0.0);
    f = vm_select_f64(near, u.h, f);
    double low = vm_select_f64(near, u.l, v.l * scale);
    low = low * (1.0 - f * (1.0 - f)); /* divided by 1 + f, as accurately as necessary */
    double high = k * VM_LN2_HI;
    double s = high + f;
    double e = f - (s - high); /* exact, as k is 0 or |high| > |f| */
    return cv_sum_ordered(s, (e + (k * VM_LN2_LO + low)) + vm_log_tail_f64(f, 2.0 + f));
}

/* log(1 + u) for u > -0.9 */
VM_INLINE cv_two cv_log1p_parts(cv_two u) {
    cv_two v = cv_sum(1.0, u.h);
    v.l += u.l;
    return cv_log_parts(v, u);
}

/* -- angles ---------------------------------------------------------------------------------------------- */

/* base + atan(n / d) for a quotient between -tan(pi/8) and tan(pi/8), as vm_atan_sum_f64 */
VM_INLINE cv_two cv_atan_sum(cv_two base, cv_two n, cv_two d) {
    cv_two q = cv_divide(n, d);
    double t = q.h;
    double z = t * t, z2 = z * z, z4 = z2 * z2;
    double p = ((-0x1.555555555553cp-2 + z * 0x1.999999999564fp-3)
            + z2 * (-0x1.24924922a0720p-3 + z * 0x1.c71c70e10bf2cp-4))
        + z4 * (((-0x1.745cf84c24a6cp-4 + z * 0x1.3b110f0a7da81p-4)
            + z2 * (-0x1.10eb451821154p-4 + z * 0x1.df08b2d0ed774p-5))
        + z4 * ((-0x1.9cb4c9ee4bea9p-5 + z * 0x1.3788f0115d9fdp-5) + z2 * -0x1.24c0fab175a7cp-6));
    double s = base.h + t;
    double e = t - (s - base.h);
    return cv_sum_ordered(s, e + ((base.l + q.l * (1.0 - z)) + (t * z) * p));
}

/* The angle of (x, y) for y >= 0, not both zero, and of similar size */
VM_INLINE cv_two cv_angle_parts(cv_two y, cv_two x) {
    uint64_t left = -(vm_bits64(x.h) >> 63);
    cv_two b = cv_odd(x, x.h);
    uint64_t flat = vm_less_f64(y.h, VM_TAN_PI_8 * b.h), steep = vm_less_f64(VM_TAN_3PI_8 * b.h, y.h);
    cv_two n = cv_sum(y.h, -b.h), d = cv_sum(y.h, b.h);
    n.l += y.l - b.l;
    d.l += y.l + b.l;
    n = cv_select(flat, y, cv_select(steep, cv_negative(b), n));
    d = cv_select(flat, b, cv_select(steep, y, d));
    double sign = vm_select_f64(left, -1.0, 1.0);
    /* The angle from the x axis, or pi minus it */
    double base = vm_select_f64(flat, vm_select_f64(left, VM_PI_HI, 0.0),
        vm_select_f64(steep, VM_PI_2_HI, vm_select_f64(left, 3.0 * VM_PI_4_HI, VM_PI_4_HI)));
    double low = vm_select_f64(flat, vm_select_f64(left, VM_PI_LO, 0.0),
        vm_select_f64(steep, VM_PI_2_LO, vm_select_f64(left, 0x1.a79394c9e8a0ap-54, VM_PI_4_LO)));
    return cv_atan_sum(cv_make(base, low), cv_make(sign * n.h, sign * n.l), d);
}
