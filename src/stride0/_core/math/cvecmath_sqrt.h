/* Square roots and quotients of complex numbers; included by cvecmath.h. For the names see cvecmath_exp.h. */

/* Principal root of x + yi for numbers of ordinary size, not both zero: with t = sqrt((|x| + |z|) / 2), in which nothing cancels,
   it is (t, y / 2t) or, left of the imaginary axis, (|y| / 2t, +-t). Here the imaginary part does not have the sign of y
   yet. */
VM_INLINE void cv_sqrt_parts(cv_two x, double y, cv_two *re, cv_two *im) {
    uint64_t left = -(vm_bits64(x.h) >> 63);
    cv_two a = cv_odd(x, x.h);
    cv_two size = cv_sqrt_two(cv_add(cv_square_two(a), cv_square(y)));
    cv_two t = cv_sqrt_two(cv_scaled(cv_add(a, size), 0.5));
    cv_two q = cv_divide(cv_make(0.5 * fabs(y), 0.0), t);
    *re = cv_select(left, q, t);
    *im = cv_select(left, t, q);
}

VM_INLINE uint64_t cv_sqrt_rare(double x, double y) {
    double most = cv_larger(x, y);
    return cv_beyond(x, 0x1p450) | cv_beyond(y, 0x1p450) | cv_tiny(most, 0x1p-450) | cv_tiny(y, CV_TINY)
        | (0 - (uint64_t)(most == 0.0));
}

VM_INLINE void cv_sqrt(double x, double y, double *re, double *im) {
    cv_two a, b;
    cv_sqrt_parts(cv_make(x, 0.0), y, &a, &b);
    *re = cv_round(a);
    *im = copysign(cv_round(b), y);
}

/* A power of 4 that brings the larger of two parts near 1, and its root */
VM_INLINE double cv_level(double x, double y, double *root) {
    double most = cv_larger(x, y);
    int64_t half = ((int64_t)(vm_bits64(most) >> 52) - 1023) / 2; /* of the exponent */
    *root = vm_double((uint64_t)(1023 + half) << 52);
    return vm_double((uint64_t)(1023 - half) << 52);
}

static __attribute__((noinline, unused)) void cv_sqrt_slow(double x, double y, double *re, double *im) {
    if (cv_is_inf(y)) { /* also NaN+infj, for which the standard has two rules: C does the same */
        *re = INFINITY;
        *im = y;
    } else if (cv_is_inf(x)) {
        double other = y == y ? 0.0 : NAN;
        *re = x < 0.0 ? other : INFINITY;
        *im = copysign(x < 0.0 ? INFINITY : other, y);
    } else if (x != x || y != y) {
        *re = *im = NAN;
    } else if (x == 0.0 && y == 0.0) {
        *re = 0.0;
        *im = y;
    } else {
        /* As cv_sqrt_parts, but each number has its own exponent, so that the smaller part is not lost. */
        double kx, ky, mx = cv_mantissa(fabs(x), &kx), my = cv_mantissa(fabs(y), &ky);
        double half = floor(0.5 * (kx > ky ? kx : ky)), most = 2.0 * half + 1.0;
        cv_two a = cv_make(2.0 * mx * cv_relative_power(kx, most), 0.0);
        cv_two size = cv_sqrt_two(cv_add(cv_square(a.h), cv_square(2.0 * my * cv_relative_power(ky, most))));
        cv_two t = cv_sqrt_two(cv_scaled(cv_add(a, size), 0.5));
        double large = cv_scale(cv_round(t), half);
        double small = cv_scale(cv_round(cv_divide(cv_make(my, 0.0), t)), ky - half - 1.0);
        *re = x < 0.0 ? small : large;
        *im = copysign(x < 0.0 ? large : small, y);
    }
}

/* -- quotients ------------------------------------------------------------------------------------------- */

/* The sign bit is set if |x| is not between these limits, or is 0 or NaN. */
VM_INLINE uint64_t cv_outside(double x, double low, double high) {
    uint64_t u = vm_bits64(x) & ~((uint64_t)1 << 63);
    return ((vm_bits64(high) - 1) - u) | (u - vm_bits64(low));
}

VM_INLINE uint64_t cv_quotient_rare(double x, double y, double a, double b) {
    return cv_beyond(x, 0x1p400) | cv_beyond(y, 0x1p400) | cv_tiny(x, 0x1p-400) | cv_tiny(y, 0x1p-400)
        | cv_outside(a, 0x1p-400, 0x1p400) | cv_outside(b, 0x1p-400, 0x1p400);
}

/* (x + yi) / (a + bi) by the textbook formula. The sums of two exact products do not cancel. */
VM_INLINE void cv_quotient(double x, double y, double a, double b, double *re, double *im) {
    cv_two below = cv_add_loosely(cv_square(a), cv_square(b));
    double inverse = 1.0 / below.h;
    *re = cv_round_quotient(cv_add_loosely(cv_product(x, a), cv_product(y, b)), below, inverse);
    *im = cv_round_quotient(cv_add_loosely(cv_product(y, a), cv_product(-x, b)), below, inverse);
}

/* As in C99 Annex G: infinite by finite is infinite and finite by infinite is zero (one infinite part suffices, even if the other
   part is NaN); otherwise NaN. */
VM_INLINE void cv_quotient_infinite(double x, double y, double a, double b, double *re, double *im) {
    double scale = 0.0;
    if ((cv_is_inf(x) | cv_is_inf(y)) & cv_is_finite(a) & cv_is_finite(b)) {
        x = copysign(cv_is_inf(x) ? 1.0 : 0.0, x);
        y = copysign(cv_is_inf(y) ? 1.0 : 0.0, y);
        double half = ((fabs(a) > 1.0) | (fabs(b) > 1.0)) ? 0.5 : 1.0; /* no sum may overflow */
        a *= half;
        b *= half;
        scale = INFINITY;
    } else if ((cv_is_inf(a) | cv_is_inf(b)) & cv_is_finite(x) & cv_is_finite(y)) {
        a = copysign(cv_is_inf(a) ? 1.0 : 0.0, a);
        b = copysign(cv_is_inf(b) ? 1.0 : 0.0, b);
    } else {
        *re = *im = NAN;
        return;
    }
    *re = scale * (x * a + y * b);
    *im = scale * (y * a + -x * b);
}

static __attribute__((noinline, unused)) void cv_quotient_slow(
    double x, double y, double a, double b, double *re, double *im) {
    /* A real or imaginary divisor (the standard's columns c and dj) divides part by part; a zero divisor too: 1/0 is
       inf+nanj. */
    if (b == 0.0) {
        *re = x / a;
        *im = y / a;
    } else if (a == 0.0) {
        *re = y / b;
        *im = -(x / b);
    } else if (!(cv_is_finite(x) && cv_is_finite(y) && cv_is_finite(a) && cv_is_finite(b))) {
        cv_quotient_infinite(x, y, a, b, re, im);
    } else { /* the same formula; each number has its own exponent, so that no product leaves the range */
        cv_scaled_two sx = cv_make_scaled(x), sy = cv_make_scaled(y), sa = cv_make_scaled(a), sb = cv_make_scaled(b);
        cv_scaled_two below = cv_cross_scaled(sa, sa, sb, sb);
        *re = cv_round_scaled_quotient(cv_cross_scaled(sx, sa, sy, sb), below);
        *im = cv_round_scaled_quotient(cv_cross_scaled(sy, sa, cv_negative_scaled(sx), sb), below);
    }
}
