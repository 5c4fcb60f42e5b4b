/* Exponential, sine and cosine with an error of about 2**-96, and expm1, which uses them; included by cvecmath.h.

   Taylor series; the small terms are summed in one number. */

#define CV_NEXT(high, low) p = cv_add_ordered(cv_make(high, low), cv_multiply(p, z));

/* exp(z) - 1 - z on +-ln(2)/2 */
VM_INLINE cv_two cv_long_exp_tail(cv_two z) {
    double r = z.h;
    double q = 0x1.2f49b46814157p-57 + r * (0x1.e542ba4020225p-62
        + r * (0x1.71b8ef6dcf572p-66 + r * 0x1.0ce396db7f853p-70));
    q = 0x1.ae7f3e733b81fp-45 + r * (0x1.952c77030ad4ap-49 + r * (0x1.6827863b97d97p-53 + r * q));
    q = 0x1.6124613a86d09p-33 + r * (0x1.93974a8c07c9dp-37 + r * (0x1.ae7f3e733b81fp-41 + r * q));
    cv_two p = cv_make(0x1.ae64567f544e4p-26 + r * (0x1.1eed8eff8d898p-29 + r * q), 0.0);
    CV_NEXT(0x1.27e4fb7789f5cp-22, 0x1.cbbc05b4fa99ap-76)
    CV_NEXT(0x1.71de3a556c734p-19, -0x1.c154f8ddc6c00p-73)
    CV_NEXT(0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76)
    CV_NEXT(0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73)
    CV_NEXT(0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65)
    CV_NEXT(0x1.1111111111111p-7, 0x1.1111111111111p-63)
    CV_NEXT(0x1.5555555555555p-5, 0x1.5555555555555p-59)
    CV_NEXT(0x1.5555555555555p-3, 0x1.5555555555555p-57)
    CV_NEXT(0.5, 0.0)
    return cv_multiply(cv_square_two(z), p);
}

VM_INLINE cv_two cv_long_expm1_short(cv_two z) { return cv_add_ordered(z, cv_long_exp_tail(z)); }

/* k and r of x = k ln(2) + r */
VM_INLINE cv_two cv_long_reduce(double x, double *t) {
    *t = x * VM_LOG2E + VM_ROUND64;
    double k = *t - VM_ROUND64;
    cv_two d = cv_sum(x - k * VM_LN2_HI, -(k * VM_LN2_LO)); /* the first product is exact */
    cv_two w = cv_product(k, VM_LN2_LO);
    return cv_sum_ordered(d.h, d.l - (w.l + k * 0x1.f97b57a079a19p-103));
}

/* For z = x**2 up to (pi/4)**2: sin(x) / x - 1, and cos(x) - 1 + z/2 */
VM_INLINE cv_two cv_long_sine_tail(cv_two z) {
    double r = z.h;
    double q = 0x1.71b8ef6dcf572p-66 + r * (-0x1.761b41316381ap-75
        + r * (0x1.3f3ccdd165fa9p-84 + r * -0x1.d1ab1c2dccea3p-94));
    q = -0x1.ae7f3e733b81fp-41 + r * (0x1.952c77030ad4ap-49 + r * (-0x1.2f49b46814157p-57 + r * q));
    cv_two p = cv_make(q, 0.0);
    CV_NEXT(0x1.6124613a86d09p-33, 0x1.f28e0cc748ebep-87)
    CV_NEXT(-0x1.ae64567f544e4p-26, 0x1.c062e06d1f209p-80)
    CV_NEXT(0x1.71de3a556c734p-19, -0x1.c154f8ddc6c00p-73)
    CV_NEXT(-0x1.a01a01a01a01ap-13, -0x1.a01a01a01a01ap-73)
    CV_NEXT(0x1.1111111111111p-7, 0x1.1111111111111p-63)
    CV_NEXT(-0x1.5555555555555p-3, -0x1.5555555555555p-57)
    return cv_multiply(z, p);
}

VM_INLINE cv_two cv_long_cosine_tail(cv_two z) {
    double r = z.h;
    double q = -0x1.0ce396db7f853p-70 + r * (0x1.f2cf01972f578p-80
        + r * (-0x1.88e85fc6a4e5ap-89 + r * 0x1.0a18a2635085dp-98));
    q = 0x1.ae7f3e733b81fp-45 + r * (-0x1.6827863b97d97p-53 + r * (0x1.e542ba4020225p-62 + r * q));
    cv_two p = cv_make(q, 0.0);
    CV_NEXT(-0x1.93974a8c07c9dp-37, -0x1.05d6f8a2efd1fp-92)
    CV_NEXT(0x1.1eed8eff8d898p-29, -0x1.2aec959e14c06p-83)
    CV_NEXT(-0x1.27e4fb7789f5cp-22, -0x1.cbbc05b4fa99ap-76)
    CV_NEXT(0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76)
    CV_NEXT(-0x1.6c16c16c16c17p-10, 0x1.f49f49f49f49fp-65)
    CV_NEXT(0x1.5555555555555p-5, 0x1.5555555555555p-59)
    return cv_multiply(cv_square_two(z), p);
}

VM_INLINE void cv_long_circle(cv_two x, cv_two *sine, cv_two *cosine) {
    cv_two z = cv_square_two(x);
    *sine = cv_add_ordered(x, cv_multiply(x, cv_long_sine_tail(z)));
    *cosine = cv_add_ordered(cv_make(1.0, 0.0), cv_add_ordered(cv_scaled(z, -0.5), cv_long_cosine_tail(z)));
}

/* -- expm1 -----------------------------------------------------------------------------------------------

   exp(x) cos(y) - 1 = expm1(x) cos(y) - (1 - cos(y)), whose terms are small if the result is small. They cancel near
   exp(x) cos(y) = 1, a curve through the origin; there they are computed to 2**-96. */

VM_INLINE uint64_t cv_expm1_rare(double x, double y) {
    return cv_beyond(x, 700.0) | cv_beyond(y, VM_TRIG_LIMIT_F64) | cv_tiny(x, CV_ARC_LOW)
        | cv_tiny(y, CV_ARC_LOW);
}

/* Whether the terms cancelled to less than this fraction: then y is near atan(im), so im**2 / 2 is at least 1 - cos(y). For
   complex64 more cancellation is allowed. */
VM_INLINE uint64_t cv_expm1_cancels(double re, double im, double fraction) {
    double square = im * im;
    return vm_less_f64(fabs(re), fraction * (square < 1.0 ? square : 1.0));
}

VM_INLINE void cv_expm1(double x, double y, double *re, double *im) {
    cv_two s, c;
    cv_circle_parts(y, &s, &c);
    /* 1 - cos(y); if cos(y) is positive, as sin(y)**2 / (1 + cos(y)) */
    uint64_t left = -(vm_bits64(c.h) >> 63);
    cv_two more = cv_add_ordered(cv_make(1.0, 0.0), cv_odd(c, c.h));
    cv_two versine = cv_select(left, more, cv_divide(cv_square_two(s), more));
    double t = x * VM_LOG2E + VM_ROUND64;
    double k = t - VM_ROUND64;
    double d = x - k * VM_LN2_HI;
    double w = k * VM_LN2_LO;
    double r = d - w;
    double low = (d - r) - w;
    cv_two e = cv_sum_ordered(r, vm_expm1_tail_f64(r, low * (1.0 + r))); /* exp(remainder) - 1 */
    double power = vm_double((vm_bits64(t) << 52) + ((uint64_t)1023 << 52));
    cv_two grown = cv_add(cv_sum(power, -1.0), cv_scaled(e, power));
    cv_two size = cv_add(cv_make(power, 0.0), cv_scaled(e, power));
    *re = cv_round(cv_add(cv_multiply(grown, c), cv_negative(versine))) + 0.0; /* no -0, as of 1 - 1 */
    double b = cv_round(cv_multiply(size, s));
    *im = y == 0.0 ? y : b;
}

static __attribute__((noinline, unused)) double cv_expm1_where_it_cancels(double x, double y) {
    double high, low, t;
    int n;
    cv_two s, c;
    if (fabs(x) < 0.3 && fabs(y) < 0.7) {
        /* x - h, for h = y**2 / 2, then the squares of these, which may be all that remains. */
        cv_two h = cv_scaled(cv_square(y), 0.5), xx = cv_make(x, 0.0);
        s = cv_long_exp_tail(xx);
        c = cv_long_cosine_tail(cv_scaled(h, 2.0));
        cv_two across = cv_multiply(cv_add_ordered(xx, s), cv_add(c, cv_negative(h)));
        return cv_round(cv_sum_of_five(x, cv_negative(h), cv_add(cv_add(s, c), across))) + 0.0;
    }
    if (fabs(y) <= VM_TRIG_LIMIT_F64) {
        high = vm_reduce_f64(fabs(y), &low, &t);
        n = (int)(vm_bits64(t) & 3);
    } else {
        n = vm_reduce_huge(fabs(y), &high, &low);
    }
    cv_long_circle(cv_sum_ordered(high, low), &s, &c);
    cv_two cosine = cv_negated_if((uint64_t)((n + 1) & 2) << 62, n & 1 ? s : c);
    cv_two e = cv_long_expm1_short(cv_long_reduce(x, &t));
    double power = vm_double((vm_bits64(t) << 52) + ((uint64_t)1023 << 52));
    cv_two size = cv_scaled(cv_add_ordered(cv_make(1.0, 0.0), e), power);
    return cv_round(cv_add(cv_multiply(size, cosine), cv_make(-1.0, 0.0))) + 0.0;
}

static __attribute__((noinline, unused)) void cv_expm1_slow(double x, double y, double *re, double *im) {
    double ax = fabs(x), ay = fabs(y);
    if (!(ax < 700.0) || !cv_is_finite(y)) { /* subtracting 1 cancels no digits */
        cv_exp_slow(x, y, re, im);
        *re -= 1.0;
        return;
    }
    if (ax < 0x1p-300 && ay < 0x1p-300) {
        *re = cv_tiny_parabola(x, y, -0.5) + 0.0;
        *im = y;
        return;
    }
    if (ay <= VM_TRIG_LIMIT_F64) {
        cv_expm1(x, y, re, im);
        if (ay < CV_ARC_LOW) cv_exp_scaled(x, y, 0.0, &ax, im);
    } else { /* the general case, also if the terms cancel */
        cv_two s, c;
        double t;
        cv_circle_any(y, &s, &c);
        cv_two e = cv_exp_parts(cv_make(x, 0.0), &t);
        double power = vm_double((vm_bits64(t) << 52) + ((uint64_t)1023 << 52));
        *re = cv_round(cv_add(cv_scaled(cv_multiply(e, c), power), cv_make(-1.0, 0.0)));
        *im = cv_round_product(e, s) * power;
        if (fabs(*re) < 0.25) *re = cv_expm1_where_it_cancels(x, y);
    }
    if (cv_expm1_cancels(*re, *im, 0.25) >> 63) *re = cv_expm1_where_it_cancels(x, y);
}
