/* Powers of complex numbers; included by cvecmath.h.

   Note [Complex powers]
       x**y is exp(y log x). The absolute error of the exponent matters, so the logarithm has an error of about 2**-96: a
       first approximation l is improved by one step of Newton's method, log x = l + (x exp(-l) - 1). Small integer powers
       are products of numbers in two parts: exact if the result is. As the standard permits, a positive real number to a
       real exponent is a real power, x**0 is 1, and a power of zero is a zero, an infinity or NaN. */

enum { CV_BY_PRODUCTS = 100 };
#define CV_POW_LOW 0x1p-200
#define CV_POW_HIGH 0x1p200

/* The steps of `cv_long_log`. Blocks run each step in its own loop: processors overlap the elements of short loops, but their
   window is too small for the elements of a long loop. */
VM_INLINE double cv_long_log_first(double x, double y, cv_two *u) {
    cv_two xx = cv_square(x), yy = cv_square(y);
    *u = cv_sum_of_five(-1.0, xx, yy);
    return 0.5 * cv_log_parts(cv_add(xx, yy), *u).h;
}
VM_INLINE double cv_long_log_angle(double x, double y) { return copysign(cv_angle(x, y).h, y); }
/* exp(-l) - 1, except for a power of two in *power */
VM_INLINE cv_two cv_long_log_exp(double l, double *power) {
    double t;
    cv_two e = cv_long_expm1_short(cv_long_reduce(-l, &t));
    *power = vm_double((vm_bits64(t) << 52) + ((uint64_t)1023 << 52));
    return e;
}
VM_INLINE void cv_long_log_circle(double a, cv_two *sine, cv_two *cosine) {
    cv_two s, c;
    double n = (a * VM_2_PI + VM_ROUND64) - VM_ROUND64; /* at most 2, so these products are exact */
    uint64_t turn = vm_bits64(a * VM_2_PI + VM_ROUND64);
    cv_two r = cv_sum(a - n * VM_PI_2_HI, -(n * VM_PI_2_LO));
    r.l += n * 0x1.f1976b7ed8fbcp-110;
    cv_long_circle(cv_sum_ordered(r.h, r.l), &s, &c);
    uint64_t odd = -(turn & 1), sine_sign = (turn & 2) << 62, cosine_sign = ((turn + 1) & 2) << 62;
    *sine = cv_negated_if(sine_sign, cv_select(odd, c, s));
    *cosine = cv_negated_if(cosine_sign, cv_select(odd, s, c));
}
VM_INLINE void cv_long_log_end(double x, double y, double l, cv_two u, double a, cv_two e, double power, cv_two sine,
    cv_two cosine, cv_two *size, cv_two *angle) {
    x *= power;
    y *= power;
    cv_two re = cv_add(cv_multiply_by(cosine, x), cv_multiply_by(sine, y));
    cv_two im = cv_add(cv_multiply_by(cosine, y), cv_negative(cv_multiply_by(sine, x)));
    cv_two more = cv_add(cv_add(re, cv_make(-1.0, 0.0)), cv_multiply(re, e));
    im = cv_add(im, cv_multiply(im, e));
    cv_two whole = cv_sum(l, more.h), angle_sum = cv_sum(a, im.h);
    whole.l += more.l;
    angle_sum.l += im.l;
    /* Near the unit circle, the series: there the logarithm itself is small. */
    double tail = u.h * u.h * u.h * (0x1.5555555555555p-2 - 0.25 * u.h);
    cv_two near = cv_add_ordered(u, cv_scaled(cv_square_two(u), -0.5));
    near = cv_scaled(cv_sum_ordered(near.h, near.l + tail), 0.5);
    *size = cv_select(vm_less_f64(fabs(u.h), 0x1p-25), near, cv_sum_ordered(whole.h, whole.l));
    *angle = cv_sum_ordered(angle_sum.h, angle_sum.l);
}

/* log|x| and the angle of x, for parts neither tiny nor huge */
VM_INLINE void cv_long_log(double x, double y, cv_two *size, cv_two *angle) {
    cv_two u, e, sine, cosine;
    double power, l = cv_long_log_first(x, y, &u), a = cv_long_log_angle(x, y);
    e = cv_long_log_exp(l, &power);
    cv_long_log_circle(a, &sine, &cosine);
    cv_long_log_end(x, y, l, u, a, e, power, sine, cosine, size, angle);
}

VM_INLINE int cv_is_small_integer(double y) { return fabs(y) <= CV_BY_PRODUCTS && y == (double)(int)y; }

/* Also rare: small integer powers, and real powers of real numbers */
VM_INLINE uint64_t cv_pow_rare(double x, double y, double a, double b) {
    return cv_beyond(x, CV_POW_HIGH) | cv_beyond(y, CV_POW_HIGH) | cv_beyond(a, CV_POW_HIGH)
        | cv_beyond(b, CV_POW_HIGH) | cv_tiny(x, CV_POW_LOW) | cv_tiny(y, CV_POW_LOW) | cv_tiny(a, CV_POW_LOW)
        | cv_tiny(b, CV_POW_LOW)
        | cv_none(vm_bits64(fabs(y)) | vm_bits64(fabs(b))) | cv_none(vm_bits64(fabs(x)) | vm_bits64(fabs(y)))
        | (cv_none(vm_bits64(fabs(b))) & ~cv_beyond(a, CV_BY_PRODUCTS + 1.0)
            & cv_none(vm_bits64(fabs((a + VM_ROUND64) - VM_ROUND64 - a))));
}

/* y log(x), the exponent */
VM_INLINE void cv_exponent(cv_two size, cv_two angle, double a, double b, cv_two *re, cv_two *im) {
    *re = cv_add(cv_multiply_by(size, a), cv_negative(cv_multiply_by(angle, b)));
    *im = cv_add(cv_multiply_by(angle, a), cv_multiply_by(size, b));
}

/* The steps of the power from its exponent p + qi on: sine and cosine of q, then the exponential. If the exponent is out of
   range, the result is wrong and a sign bit is set. */
VM_INLINE void cv_pow_circle(cv_two q, cv_two *sine, cv_two *cosine) {
    double low, t;
    double high = vm_reduce_f64(fabs(q.h), &low, &t);
    cv_two reduced = cv_sum(high, low + cv_odd(q, q.h).l);
    cv_quarter_parts(reduced.h, reduced.l, vm_bits64(t), sine, cosine);
    *sine = cv_odd(*sine, q.h);
}
VM_INLINE uint64_t cv_pow_end(cv_two p, double q, cv_two sine, cv_two cosine, double *re, double *im) {
    double t;
    cv_two e = cv_exp_parts(p, &t);
    double power = vm_double((vm_bits64(t) << 52) + ((uint64_t)1023 << 52));
    *re = cv_round_product(e, cosine) * power;
    *im = cv_round_product(e, sine) * power;
    return cv_beyond(p.h, 700.0) | cv_beyond(q, VM_TRIG_LIMIT_F64) | cv_tiny(q, CV_POW_LOW);
}
VM_INLINE uint64_t cv_pow(double x, double y, double a, double b, double *re, double *im) {
    cv_two size, angle, p, q, s, c;
    cv_long_log(x, y, &size, &angle);
    cv_exponent(size, angle, a, b, &p, &q);
    cv_pow_circle(q, &s, &c);
    return cv_pow_end(p, q.h, s, c, re, im);
}

/* The same for a block, in strips; `rare` gets the numbers with wrong results. With less than `precise` there are enough digits
   for complex64. A strip has pairs of rows: numbers in two parts. */
enum { CV_STRIP = 64 };
typedef double cv_strip[4][CV_STRIP];
VM_INLINE cv_two cv_two_of(cv_strip z, int pair, ptrdiff_t i) { return cv_make(z[2 * pair][i], z[2 * pair + 1][i]); }
VM_INLINE void cv_put_two(cv_strip z, int pair, ptrdiff_t i, cv_two a) {
    z[2 * pair][i] = a.h, z[2 * pair + 1][i] = a.l;
}

/* The logarithms: sizes and angles, both in two parts */
VM_INLINE void cv_log_strip(const double *x, const double *y, int precise, cv_strip log, ptrdiff_t n) {
    cv_strip first, circle, rest;
    if (!precise) {
        CV_ELEMENTWISE
        for (ptrdiff_t i = 0; i < n; i++) cv_put_two(log, 0, i, cv_log_size(x[i], y[i]));
        CV_ELEMENTWISE
        for (ptrdiff_t i = 0; i < n; i++) cv_put_two(log, 1, i, cv_odd(cv_angle(x[i], y[i]), y[i]));
        return;
    }
    CV_ELEMENTWISE
    for (ptrdiff_t i = 0; i < n; i++) {
        cv_two u;
        first[2][i] = cv_long_log_first(x[i], y[i], &u);
        cv_put_two(first, 0, i, u);
    }
    CV_ELEMENTWISE
    for (ptrdiff_t i = 0; i < n; i++) first[3][i] = cv_long_log_angle(x[i], y[i]);
    CV_ELEMENTWISE
    for (ptrdiff_t i = 0; i < n; i++) cv_put_two(rest, 0, i, cv_long_log_exp(first[2][i], rest[2] + i));
    CV_ELEMENTWISE
    for (ptrdiff_t i = 0; i < n; i++) {
        cv_two s, c;
        cv_long_log_circle(first[3][i], &s, &c);
        cv_put_two(circle, 0, i, s);
        cv_put_two(circle, 1, i, c);
    }
    CV_ELEMENTWISE
    for (ptrdiff_t i = 0; i < n; i++) {
        cv_two size, angle;
        cv_long_log_end(x[i], y[i], first[2][i], cv_two_of(first, 0, i), first[3][i], cv_two_of(rest, 0, i), rest[2][i],
            cv_two_of(circle, 0, i), cv_two_of(circle, 1, i), &size, &angle);
        cv_put_two(log, 0, i, size);
        cv_put_two(log, 1, i, angle);
    }
}

VM_INLINE void cv_powers(const double *restrict x, const double *restrict y, const double *restrict a,
    const double *restrict b, int precise, double *restrict re, double *restrict im, uint64_t *restrict rare, ptrdiff_t m) {
    cv_strip log, exponent, circle;
    uint64_t other = 0;
    for (ptrdiff_t i = 0; i < m; i++)
        other |= (vm_bits64(x[i]) ^ vm_bits64(x[0])) | (vm_bits64(y[i]) ^ vm_bits64(y[0]));
    for (ptrdiff_t first = 0; first < m; first += CV_STRIP) {
        const ptrdiff_t n = m - first < CV_STRIP ? m - first : CV_STRIP;
        if (other)
            cv_log_strip(x, y, precise, log, n);
        else if (first == 0) { /* one base */
            cv_log_strip(x, y, precise, log, 1);
            for (int row = 0; row < 4; row++)
                for (ptrdiff_t i = 1; i < CV_STRIP; i++) log[row][i] = log[row][0];
        }
        CV_ELEMENTWISE
        for (ptrdiff_t i = 0; i < n; i++) {
            cv_two p, q;
            cv_exponent(cv_two_of(log, 0, i), cv_two_of(log, 1, i), a[i], b[i], &p, &q);
            cv_put_two(exponent, 0, i, p);
            cv_put_two(exponent, 1, i, q);
        }
        CV_ELEMENTWISE
        for (ptrdiff_t i = 0; i < n; i++) {
            cv_two s, c;
            cv_pow_circle(cv_two_of(exponent, 1, i), &s, &c);
            cv_put_two(circle, 0, i, s);
            cv_put_two(circle, 1, i, c);
        }
        CV_ELEMENTWISE
        for (ptrdiff_t i = 0; i < n; i++)
            rare[i] |= cv_pow_end(cv_two_of(exponent, 0, i), exponent[2][i], cv_two_of(circle, 0, i),
                cv_two_of(circle, 1, i), re + i, im + i);
        x += n, y += n, a += n, b += n, re += n, im += n, rare += n;
    }
}

/* The same for exponents and bases of any finite size */
static __attribute__((noinline, unused)) void cv_pow_any(
    double x, double y, double a, double b, double *re, double *im) {
    cv_two size, angle, p, q, s, c, s2, c2;
    double root, shift = 0.0, t, back;
    if (fabs(x) < 0x1p-900 && fabs(y) < 0x1p-900) x *= 0x1p200, y *= 0x1p200, shift = -200.0;
    double inverse = cv_level(x, y, &root);
    shift += 2.0 * (double)((int64_t)(vm_bits64(root) >> 52) - 1023);
    double xs = x * inverse * inverse, ys = y * inverse * inverse;
    cv_long_log(xs, ys, &size, &angle);
    size = cv_add(cv_add(cv_make(shift * VM_LN2_HI, 0.0), cv_product(shift, VM_LN2_LO)), size);
    if (fabs(a) > 0x1p900 || fabs(b) > 0x1p900) {
        p = cv_make(size.h * a - angle.h * b, 0.0);
        q = cv_make(angle.h * a + size.h * b, 0.0);
    } else {
        cv_exponent(size, angle, a, b, &p, &q);
    }
    if (!cv_is_finite(p.h) || !cv_is_finite(q.h)) {
        cv_exp_slow(p.h, q.h, re, im);
        return;
    }
    if (fabs(p.h) > 4000.0) p = cv_make(copysign(4000.0, p.h), 0.0);
    cv_two e = cv_exp_parts(p, &t);
    if (fabs(q.h) < 1.0) { /* a tiny angle, scaled up */
        cv_circle_any(cv_enlarged(q.h, &back), &s, &c);
    } else {
        cv_circle_any(q.h, &s, &c);
        back = 1.0;
    }
    if (back == 1.0) {
        cv_circle_any(q.l, &s2, &c2);
        cv_two s3 = cv_add(cv_multiply(s, c2), cv_multiply(c, s2));
        c = cv_add(cv_multiply(c, c2), cv_negative(cv_multiply(s, s2)));
        s = q.l == 0.0 ? s : s3;
    }
    double k = t - VM_ROUND64;
    *re = cv_scale(cv_round_product(e, c), k);
    *im = q.h == 0.0 ? q.h : cv_scale(cv_round_product(e, s), back == 1.0 ? k : k - 200.0);
}

/* -- integer powers -------------------------------------------------------------------------------------- */

typedef struct { cv_two re, im; } cv_number;

VM_INLINE cv_number cv_times(cv_number a, cv_number b) {
    cv_number c;
    c.re = cv_add(cv_multiply(a.re, b.re), cv_negative(cv_multiply(a.im, b.im)));
    c.im = cv_add(cv_multiply(a.re, b.im), cv_multiply(a.im, b.re));
    return c;
}

/* Products of numbers that are not in two parts are cheaper. */
VM_INLINE cv_number cv_squared(double x, double y) {
    cv_number c;
    c.re = cv_add(cv_square(x), cv_negative(cv_square(y)));
    c.im = cv_product(2.0 * x, y);
    return c;
}
VM_INLINE cv_number cv_times_by(cv_number a, double x, double y) {
    cv_number c;
    c.re = cv_add(cv_multiply_by(a.re, x), cv_negative(cv_multiply_by(a.im, y)));
    c.im = cv_add(cv_multiply_by(a.re, y), cv_multiply_by(a.im, x));
    return c;
}

/* The end of x**n or x**-n, from z = x**n. If an intermediate result has overflowed or underflowed, z is not valid: then the sign
   bit of the result is set. */
VM_INLINE uint64_t cv_integer_power_end(cv_number z, double x, double y, int inverted, double *re, double *im) {
    double some = fabs(z.re.h) + fabs(z.im.h);
    if (inverted) {
        cv_two below = cv_add(cv_square_two(z.re), cv_square_two(z.im));
        double inverse = 1.0 / below.h;
        *re = cv_round(cv_divide_by(z.re, below, inverse));
        *im = -cv_round(cv_divide_by(z.im, below, inverse));
    } else {
        *re = cv_round(z.re);
        *im = cv_round(z.im);
    }
    return cv_outside(some, 0x1p-450, 0x1p450) | cv_tiny(x, 0x1p-400) | cv_tiny(y, 0x1p-400);
}

/* z**n for n from 1 to CV_BY_PRODUCTS or from -CV_BY_PRODUCTS to -1, by squaring */
VM_INLINE uint64_t cv_integer_power(double x, double y, int n, double *re, double *im) {
    cv_number z = {{x, 0.0}, {y, 0.0}}, out = z;
    int first = 1, fresh = 1; /* as long as out and z have their initial values */
    for (int bits = (n < 0 ? -n : n) - 1; bits != 0; bits >>= 1, fresh = 0) {
        if (bits & 1) {
            out = !first ? cv_times(out, z) : fresh ? cv_squared(x, y) : cv_times_by(z, x, y);
            first = 0;
        }
        if (bits > 1) z = fresh ? cv_squared(x, y) : cv_times(z, z);
    }
    return cv_integer_power_end(out, x, y, n < 0, re, im);
}

/* The same for finite numbers, not both parts zero, if a product may leave the range: each number has its own
   exponent. */
typedef struct { cv_scaled_two re, im; } cv_scaled_number;
VM_INLINE cv_scaled_number cv_times_scaled(cv_scaled_number a, cv_scaled_number b) {
    cv_scaled_number c;
    c.re = cv_cross_scaled(a.re, b.re, cv_negative_scaled(a.im), b.im);
    c.im = cv_cross_scaled(a.re, b.im, a.im, b.re);
    return c;
}
static __attribute__((noinline, unused)) void cv_integer_power_any(double x, double y, int n, double *re, double *im) {
    cv_scaled_number z = {cv_make_scaled(x), cv_make_scaled(y)}, out = z;
    for (int bits = (n < 0 ? -n : n) - 1; bits != 0; bits >>= 1) {
        if (bits & 1) out = cv_times_scaled(out, z);
        z = cv_times_scaled(z, z);
    }
    if (n < 0) {
        cv_scaled_two below = cv_cross_scaled(out.re, out.re, out.im, out.im);
        *re = cv_round_scaled_quotient(out.re, below);
        *im = -cv_round_scaled_quotient(out.im, below);
    } else {
        *re = cv_round_scaled(out.re);
        *im = cv_round_scaled(out.im);
    }
}

/* The same for a block. The first power is the number itself; the second is the result of square(x), whatever its
   value. */
VM_INLINE cv_number cv_get(cv_strip z, ptrdiff_t i) {
    cv_number a = {{z[0][i], z[1][i]}, {z[2][i], z[3][i]}};
    return a;
}
VM_INLINE void cv_put(cv_strip z, ptrdiff_t i, cv_number a) {
    z[0][i] = a.re.h, z[1][i] = a.re.l, z[2][i] = a.im.h, z[3][i] = a.im.l;
}
static __attribute__((noinline, unused)) void cv_integer_powers(
    const double *restrict x, const double *restrict y, int n, double *restrict re, double *restrict im,
    uint64_t *restrict rare, ptrdiff_t m) {
    cv_strip z, out;
    if (n == 1 || n == 2) {
        for (ptrdiff_t i = 0; i < m; i++) {
            double minus = -y[i], p = x[i] * x[i] + minus * y[i], q = y[i] * x[i] + x[i] * y[i];
            re[i] = n == 2 ? p : x[i];
            im[i] = n == 2 ? q : y[i];
            rare[i] = n == 2 ? cv_none(vm_bits64(fabs(x[i])) | vm_bits64(fabs(y[i]))) : 0;
        }
        return;
    }
    for (; m > 0; m -= CV_STRIP) {
        ptrdiff_t count = m < CV_STRIP ? m : CV_STRIP;
        for (ptrdiff_t i = 0; i < count; i++) {
            z[0][i] = out[0][i] = x[i];
            z[2][i] = out[2][i] = y[i];
            z[1][i] = z[3][i] = out[1][i] = out[3][i] = 0.0;
        }
        int first = 1, fresh = 1;
        for (int bits = (n < 0 ? -n : n) - 1; bits != 0; bits >>= 1, fresh = 0) {
            if (bits & 1) {
                if (!first)
                    for (ptrdiff_t i = 0; i < count; i++) cv_put(out, i, cv_times(cv_get(out, i), cv_get(z, i)));
                else if (fresh)
                    for (ptrdiff_t i = 0; i < count; i++) cv_put(out, i, cv_squared(x[i], y[i]));
                else
                    for (ptrdiff_t i = 0; i < count; i++) cv_put(out, i, cv_times_by(cv_get(z, i), x[i], y[i]));
                first = 0;
            }
            if (bits > 1 && fresh)
                for (ptrdiff_t i = 0; i < count; i++) cv_put(z, i, cv_squared(x[i], y[i]));
            else if (bits > 1)
                for (ptrdiff_t i = 0; i < count; i++) cv_put(z, i, cv_times(cv_get(z, i), cv_get(z, i)));
        }
        if (n < 0)
            for (ptrdiff_t i = 0; i < count; i++)
                rare[i] = cv_integer_power_end(cv_get(out, i), x[i], y[i], 1, re + i, im + i);
        else
            for (ptrdiff_t i = 0; i < count; i++)
                rare[i] = cv_integer_power_end(cv_get(out, i), x[i], y[i], 0, re + i, im + i);
        x += CV_STRIP, y += CV_STRIP, re += CV_STRIP, im += CV_STRIP, rare += CV_STRIP;
    }
}

static __attribute__((noinline, unused)) void cv_pow_slow(
    double x, double y, double a, double b, double *re, double *im) {
    double ignored;
    if (a == 0.0 && b == 0.0) {
        *re = 1.0;
        *im = 0.0;
        return;
    }
    if (x == 0.0 && y == 0.0 && !((a == 1.0 || a == 2.0) && b == 0.0)) {
        int zero = (a > 0.0) & (b == b);
        *re = zero ? 0.0 : ((a < 0.0) & (b == 0.0)) ? INFINITY : NAN; /* inf+nanj like 1/0 */
        *im = zero ? 0.0 : NAN;
        return;
    }
    if (b == 0.0 && cv_is_small_integer(a)) {
        if (a == 1.0 || a == 2.0) { /* the same as square(x), whatever its value */
            double minus = -y;
            *re = a == 1.0 ? x : x * x + minus * y;
            *im = a == 1.0 ? y : y * x + x * y;
            return;
        }
        if (!(cv_integer_power(x, y, (int)a, re, im) >> 63)) return;
        if (cv_is_finite(x) && cv_is_finite(y) && !(y == 0.0 && x > 0.0)) {
            cv_integer_power_any(x, y, (int)a, re, im);
            return;
        }
    }
    if (b == 0.0 && y == 0.0 && x > 0.0) {
        *re = vm_pow_f64(x, a);
        *im = y * copysign(1.0, a);
        return;
    }
    if (cv_is_finite(x) && cv_is_finite(y) && cv_is_finite(a) && cv_is_finite(b)) {
        if (cv_pow_rare(x, y, a, b) >> 63 || cv_pow(x, y, a, b, re, im) >> 63)
            cv_pow_any(x, y, a, b, re, im);
        return;
    }
    if (b == 0.0 && a == -1.0) { /* 1/x */
        *re = cv_is_inf(x) || cv_is_inf(y) ? copysign(0.0, x) : NAN;
        *im = cv_is_inf(x) || cv_is_inf(y) ? -copysign(0.0, y) : NAN;
        return;
    }
    double l, angle;
    cv_log_slow(x, y, &l, &angle);
    ignored = -b;
    cv_exp_slow(a * l + ignored * angle, b * l + a * angle, re, im);
}
