/* Square roots and quotients of complex numbers; included by cvecmath.h. For the names see cvecmath_exp.h. */

/* Principal root of x + yi for numbers of ordinary size, not both zero: with t = sqrt((|x| + |z|) / 2), which
   cancels nothing, it is (t, y / 2t) or, left of the imaginary axis, (|y| / 2t, +-t). Here the imaginary part
   is left without the sign of y. */
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
        double root, most = cv_larger(x, y);
        double up = most < 0x1p-900 ? 0x1p200 : 1.0, down = most < 0x1p-900 ? 0x1p-100 : 1.0;
        x *= up;
        y *= up;
        double inverse = cv_level(x, y, &root); /* of the root: twice that of the number */
        cv_two a, b, ax = cv_make(fabs(x) * inverse * inverse, 0.0);
        cv_two size = cv_sqrt_two(cv_add(cv_square(ax.h), cv_square(y * inverse * inverse)));
        cv_two t = cv_sqrt_two(cv_scaled(cv_add(ax, size), 0.5));
        /* A y that is negligible beside x must not be lost here. */
        double back, small = cv_enlarged(0.5 * fabs(y), &back);
        b = cv_divide(cv_make(small, 0.0), t);
        a = cv_scaled(t, root);
        double other = cv_round(b) * inverse * (back * down), size_a = cv_round(a) * down;
        *re = x < 0.0 ? other : size_a;
        *im = copysign(x < 0.0 ? size_a : other, y);
    }
}

/* -- quotients ------------------------------------------------------------------------------------------- */

/* The sign bit is set where |x| is not between these limits (also 0 and NaN). */
VM_INLINE uint64_t cv_outside(double x, double low, double high) {
    uint64_t u = vm_bits64(x) & ~((uint64_t)1 << 63);
    return ((vm_bits64(high) - 1) - u) | (u - vm_bits64(low));
}

VM_INLINE uint64_t cv_quotient_rare(double x, double y, double a, double b) {
    return cv_beyond(x, 0x1p400) | cv_beyond(y, 0x1p400) | cv_tiny(x, 0x1p-400) | cv_tiny(y, 0x1p-400)
        | cv_outside(a, 0x1p-400, 0x1p400) | cv_outside(b, 0x1p-400, 0x1p400);
}

/* (x + yi) / (a + bi) by the textbook's formula. Sums of two exact products do not cancel. */
VM_INLINE void cv_quotient(double x, double y, double a, double b, double *re, double *im) {
    cv_two below = cv_add_loosely(cv_square(a), cv_square(b));
    double inverse = 1.0 / below.h;
    *re = cv_round_quotient(cv_add_loosely(cv_product(x, a), cv_product(y, b)), below, inverse);
    *im = cv_round_quotient(cv_add_loosely(cv_product(y, a), cv_product(-x, b)), below, inverse);
}

/* Infinite by finite is infinite and finite by infinite is zero, as in C99 Annex G (one infinity, even with a
   NaN for its other part); NaN otherwise. */
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

/* 2**-k for a normal number of about 2**k */
VM_INLINE double cv_power_near(double x, double *k) {
    int64_t e = (int64_t)(vm_bits64(x) >> 52) - 1023;
    *k = (double)e;
    return vm_double((uint64_t)(1023 - e) << 52);
}

static __attribute__((noinline, unused)) void cv_quotient_slow(
    double x, double y, double a, double b, double *re, double *im) {
    /* A real or imaginary divisor (the standard's columns c and dj) divides part by part; also the zero
       one: 1/0 is inf+nanj. */
    if (b == 0.0) {
        *re = x / a;
        *im = y / a;
    } else if (a == 0.0) {
        *re = y / b;
        *im = -(x / b);
    } else if (!(cv_is_finite(x) && cv_is_finite(y) && cv_is_finite(a) && cv_is_finite(b))) {
        cv_quotient_infinite(x, y, a, b, re, im);
    } else { /* the divisor brought near 1 and the dividend near 2**500: no product vanishes */
        double most = cv_larger(x, y), least = cv_larger(a, b);
        double up = most < 0x1p-900 ? 0x1p500 : most > 0x1p900 ? 0x1p-100 : 1.0;
        double over = least < 0x1p-900 ? 0x1p500 : least > 0x1p900 ? 0x1p-100 : 1.0;
        double k = (over > 1.0 ? 500.0 : over < 1.0 ? -100.0 : 0.0);
        k -= (up > 1.0 ? 500.0 : up < 1.0 ? -100.0 : 0.0);
        double ka, kb;
        x *= up, y *= up, a *= over, b *= over;
        double sa = cv_power_near(cv_larger(x, y), &ka), sb = cv_power_near(cv_larger(a, b), &kb);
        cv_quotient(x * sa * 0x1p500, y * sa * 0x1p500, a * sb, b * sb, re, im);
        k += ka - kb - 500.0;
        *re = cv_scale(*re, k);
        *im = cv_scale(*im, k);
    }
}
