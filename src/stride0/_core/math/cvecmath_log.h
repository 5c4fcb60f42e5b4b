/* Logarithms of complex numbers; included by cvecmath.h. For the names see cvecmath_exp.h. */

#define CV_LOW 0x1p-450
#define CV_HIGH 0x1p450

VM_INLINE uint64_t cv_out_of_squares(double x, double y) { /* also true if both are zero, or one is tiny */
    return cv_beyond(x, CV_HIGH) | cv_beyond(y, CV_HIGH) | cv_tiny(x, CV_LOW) | cv_tiny(y, CV_LOW)
        | cv_none(vm_bits64(fabs(x)) | vm_bits64(fabs(y)));
}

/* log|z|. Near the unit circle, the sum of squares minus 1 is computed without error. */
VM_INLINE cv_two cv_log_size(double x, double y) {
    cv_two xx = cv_square(x), yy = cv_square(y);
    return cv_scaled(cv_log_parts(cv_add(xx, yy), cv_sum_of_five(-1.0, xx, yy)), 0.5);
}

VM_INLINE cv_two cv_angle(double x, double y) {
    return cv_angle_parts(cv_make(fabs(y), 0.0), cv_make(x, 0.0));
}

/* log|z| for finite parts, not both zero */
static __attribute__((noinline, unused)) cv_two cv_log_size_any(double x, double y) {
    double root, most = fabs(x) > fabs(y) ? fabs(x) : fabs(y), least = fabs(x) > fabs(y) ? fabs(y) : fabs(x);
    double shift = 0.0;
    if (most == 1.0 && least < CV_LOW) return cv_make((0.5 * least) * least, 0.0);
    if (most < 0x1p-900) x *= 0x1p200, y *= 0x1p200, shift = -200.0;
    double inverse = cv_level(x, y, &root);
    cv_two size = cv_log_size(x * inverse * inverse, y * inverse * inverse);
    shift += 2.0 * (double)((int64_t)(vm_bits64(root) >> 52) - 1023);
    return cv_add(cv_make(shift * VM_LN2_HI, shift * VM_LN2_LO), size);
}

VM_INLINE uint64_t cv_log_rare(double x, double y) { return cv_out_of_squares(x, y); }

VM_INLINE void cv_log(double x, double y, double *re, double *im) {
    *re = cv_round(cv_log_size(x, y));
    *im = copysign(cv_round(cv_angle(x, y)), y);
}

/* log|z| of all numbers that cv_log does not handle */
static __attribute__((noinline, unused)) cv_two cv_log_abs_slow(double x, double y) {
    if (cv_is_inf(x) || cv_is_inf(y)) return cv_make(INFINITY, 0.0);
    if (x != x || y != y) return cv_make(NAN, 0.0);
    if (x == 0.0 && y == 0.0) return cv_make(-INFINITY, 0.0);
    return cv_log_size_any(x, y);
}

static __attribute__((noinline, unused)) void cv_log_slow(double x, double y, double *re, double *im) {
    *re = cv_round(cv_log_abs_slow(x, y));
    *im = vm_atan2_f64(y, x);
}

/* -- other bases: the natural logarithm times a constant of two parts ------------------------------------ */

/* The angle of (x, y) times the factor, if one number is tiny, huge, zero, infinite or NaN */
static __attribute__((noinline, unused)) double cv_scaled_angle(double x, double y, cv_two factor) {
    double ex, ey;
    if (y == 0.0 || x == 0.0 || !cv_is_finite(x) || !cv_is_finite(y))
        return cv_round_product(cv_make(vm_atan2_f64(y, x), 0.0), factor);
    double xs = cv_mantissa(x, &ex), ys = cv_mantissa(y, &ey), d = ey - ex;
    if (x > 0.0 && d < -100.0) {
        cv_two quotient = cv_divide(cv_make(ys, 0.0), cv_make(xs, 0.0));
        return cv_scale(cv_round(cv_multiply(quotient, factor)), d);
    }
    d = d > 400.0 ? 400.0 : d < -400.0 ? -400.0 : d; /* this is a multiple of pi/2 */
    return copysign(cv_round(cv_multiply(cv_angle(xs, cv_scale(ys, d)), factor)), y);
}

#define CV_LOG_BASE(name, ch, cl)                                                                            \
    VM_INLINE uint64_t cv_##name##_rare(double x, double y) { return cv_out_of_squares(x, y); }              \
    VM_INLINE void cv_##name(double x, double y, double *re, double *im) {                                   \
        *re = cv_round(cv_multiply(cv_log_size(x, y), cv_make(ch, cl)));                                     \
        *im = copysign(cv_round(cv_multiply(cv_angle(x, y), cv_make(ch, cl))), y);                           \
    }                                                                                                        \
    static __attribute__((noinline, unused)) void cv_##name##_slow(                                          \
        double x, double y, double *re, double *im) {                                                        \
        cv_two size = cv_log_abs_slow(x, y);                                                                 \
        *re = cv_is_finite(size.h) ? cv_round(cv_multiply(size, cv_make(ch, cl))) : size.h;                  \
        *im = cv_scaled_angle(x, y, cv_make(ch, cl));                                                        \
    }
CV_LOG_BASE(log2, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56)
CV_LOG_BASE(log10, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57)

/* -- log1p ----------------------------------------------------------------------------------------------- */

VM_INLINE uint64_t cv_log1p_rare(double x, double y) {
    return cv_out_of_squares(x, y) | cv_none((vm_bits64(x) ^ vm_bits64(-1.0)) | vm_bits64(fabs(y)));
}

/* Half the logarithm of 1 + u with u = 2x + x**2 + y**2; near -1, of v = (1 + x)**2 + y**2, because 1 + x is exact there */
VM_INLINE void cv_log1p(double x, double y, double *re, double *im) {
    uint64_t near = vm_less_f64(fabs(x + 1.0), 0.5) & vm_less_f64(fabs(y), 0.5);
    cv_two w = cv_sum(1.0, x);
    cv_two xx = cv_square(vm_select_f64(near, w.h, x)), yy = cv_square(y);
    cv_two u = cv_sum_of_five(vm_select_f64(near, -1.0, 2.0 * x), xx, yy);
    cv_two v = cv_sum(1.0, u.h);
    v = cv_select(near, cv_add(xx, yy), cv_make(v.h, v.l + u.l));
    *re = 0.5 * cv_round(cv_log_parts(v, u));
    *im = copysign(cv_round(cv_angle_parts(cv_make(fabs(y), 0.0), w)), y);
}

/* a + b*b*c for c = 1/2 or -1/2, of tiny numbers */
VM_INLINE double cv_tiny_parabola(double a, double b, double c) {
    cv_two square = cv_square(b * 0x1p450);
    cv_two sum = cv_add(cv_make(a * 0x1p450 * 0x1p450, 0.0), cv_scaled(square, c));
    return b == 0.0 ? a : cv_round(sum) * 0x1p-450 * 0x1p-450;
}

static __attribute__((noinline, unused)) void cv_log1p_slow(double x, double y, double *re, double *im) {
    double ax = fabs(x), ay = fabs(y);
    if (!(ax < CV_HIGH && ay < CV_HIGH) || (fabs(x + 1.5) <= 1.0 && ay < CV_LOW)) {
        cv_log_slow(1.0 + x, y, re, im); /* 1 is negligible, or 1 + x is exact */
    } else if (ax < 0x1p-400 && ay < 0x1p-400) {
        *re = cv_tiny_parabola(x, y, 0.5);
        *im = y;
    } else {
        cv_log1p(x, y, re, im);
        if (ay < CV_LOW && x > -1.0) {
            double back, b = cv_enlarged(y, &back);
            *im = y == 0.0 ? y : cv_round(cv_divide(cv_make(b, 0.0), cv_sum(1.0, x))) * back;
        }
    }
}
