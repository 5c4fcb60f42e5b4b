/* Exponential, hyperbolic and circular functions of complex numbers; included by cvecmath.h.

   Each function has three versions:
     cv_<name>        right for ordinary numbers, without branches;
     cv_<name>_rare   sets its sign bit if the number is not ordinary: infinite, NaN, huge, tiny;
     cv_<name>_slow   right for all other numbers.
   A huge imaginary part is reduced as in Note [Rare arguments]. A tiny part, in which the function is linear, is scaled up
   first, because the error terms of subnormal numbers would be lost. The circular functions are, as the standard defines
   them, the hyperbolic functions of an argument rotated by 90 degrees: f(z) = -1j * fh(1j * z). */

#define CV_TINY 0x1p-900
#define CV_ENLARGE 0x1p200
#define CV_REDUCE 0x1p-200

/* x, scaled up if it is tiny; multiplying by *back undoes that */
VM_INLINE double cv_enlarged(double x, double *back) {
    int tiny = (fabs(x) < CV_TINY) & (x != 0.0);
    *back = tiny ? CV_REDUCE : 1.0;
    return tiny ? x * CV_ENLARGE : x;
}

/* -- exp ------------------------------------------------------------------------------------------------- */

VM_INLINE uint64_t cv_exp_rare(double x, double y) {
    return cv_beyond(x, 700.0) | cv_beyond(y, VM_TRIG_LIMIT_F64) | cv_tiny(y, CV_TINY);
}

VM_INLINE void cv_exp(double x, double y, double *re, double *im) {
    cv_two s, c;
    double t;
    cv_circle_parts(y, &s, &c);
    cv_two e = cv_exp_parts(cv_make(x, 0.0), &t);
    double power = vm_double((vm_bits64(t) << 52) + ((uint64_t)1023 << 52));
    *re = cv_round_product(e, c) * power;
    *im = cv_round_product(e, s) * power;
}

/* exp of finite parts, of any size, times 2**more */
VM_INLINE void cv_exp_scaled(double x, double y, double more, double *re, double *im) {
    cv_two s, c;
    double t, back;
    y = cv_enlarged(y, &back);
    cv_circle_any(y, &s, &c);
    x = x > 4000.0 ? 4000.0 : x < -4000.0 ? -4000.0 : x;
    cv_two e = cv_exp_parts(cv_make(x, 0.0), &t);
    double k = t - VM_ROUND64 + more;
    double a = cv_round_product(e, c), b = cv_round_product(e, s);
    *re = cv_scale(a, k);
    *im = y == 0.0 ? y : cv_scale(b, back == 1.0 ? k : k - 200.0);
}

static __attribute__((noinline, unused)) void cv_exp_slow(double x, double y, double *re, double *im) {
    if (cv_is_finite(x) && cv_is_finite(y)) {
        cv_exp_scaled(x, y, 0.0, re, im);
    } else if (cv_is_finite(y) && x == x) {
        double r = x < 0.0 ? 0.0 : INFINITY;
        cv_two s, c;
        cv_circle_any(y, &s, &c);
        *re = r * c.h;
        *im = y == 0.0 ? y : r * s.h;
    } else if (cv_is_inf(x)) { /* C does not specify the signs; here they are plus */
        *re = x < 0.0 ? 0.0 : INFINITY;
        *im = x < 0.0 ? 0.0 : NAN;
    } else { /* a part is NaN; if the real part is NaN, a zero imaginary part stays */
        *re = NAN;
        *im = y == 0.0 ? y : NAN;
    }
}

/* -- sinh, cosh ------------------------------------------------------------------------------------------ */

VM_INLINE uint64_t cv_sinh_rare(double x, double y) {
    return cv_beyond(x, 700.0) | cv_tiny(x, CV_TINY) | cv_beyond(y, VM_TRIG_LIMIT_F64) | cv_tiny(y, CV_TINY);
}

VM_INLINE void cv_sinh(double x, double y, double *re, double *im) {
    cv_two s, c, sh, ch;
    cv_circle_parts(y, &s, &c);
    cv_hyper_parts(x, &sh, &ch);
    *re = cv_round_product(sh, c);
    *im = cv_round_product(ch, s);
}

static __attribute__((noinline, unused)) void cv_sinh_slow(double x, double y, double *re, double *im) {
    double ax = fabs(x);
    if (cv_is_finite(x) && cv_is_finite(y)) {
        if (ax < 700.0) {
            cv_two s, c, sh, ch;
            double backx, backy;
            x = cv_enlarged(x, &backx);
            y = cv_enlarged(y, &backy);
            cv_circle_any(y, &s, &c);
            /* The cosine of the scaled argument is still 1. */
            cv_hyper_parts(x, &sh, &ch);
            *re = cv_round_product(sh, c) * backx;
            *im = cv_round_product(ch, s) * backy;
        } else { /* half an exponential */
            cv_exp_scaled(ax, y, -1.0, re, im);
            *re = x < 0.0 ? -*re : *re;
        }
    } else if (!cv_is_finite(y)) { /* a zero or infinity keeps its sign, so that sinh(-z) = -sinh(z) */
        *re = (x == 0.0) | cv_is_inf(x) ? x : NAN;
        *im = NAN;
    } else { /* x is infinite or NaN */
        cv_two s, c;
        cv_circle_any(y, &s, &c);
        *re = x * c.h;
        *im = y == 0.0 ? y : ax * s.h;
    }
}

VM_INLINE uint64_t cv_cosh_rare(double x, double y) { return cv_sinh_rare(x, y); }

VM_INLINE void cv_cosh(double x, double y, double *re, double *im) {
    cv_two s, c, sh, ch;
    cv_circle_parts(y, &s, &c);
    cv_hyper_parts(x, &sh, &ch);
    *re = cv_round_product(ch, c);
    *im = cv_round_product(sh, s);
}

static __attribute__((noinline, unused)) void cv_cosh_slow(double x, double y, double *re, double *im) {
    double ax = fabs(x);
    if (cv_is_finite(x) && cv_is_finite(y)) {
        if (ax < 700.0) {
            cv_two s, c, sh, ch;
            double backx, backy;
            x = cv_enlarged(x, &backx);
            y = cv_enlarged(y, &backy);
            cv_circle_any(y, &s, &c);
            cv_hyper_parts(x, &sh, &ch);
            *re = cv_round_product(ch, c);
            *im = cv_round_product(sh, s) * (backx * backy);
        } else {
            cv_exp_scaled(ax, y, -1.0, re, im);
            *im = x < 0.0 ? -*im : *im;
        }
    } else if (!cv_is_finite(y)) {
        *re = cv_is_inf(x) ? INFINITY : NAN;
        *im = x == 0.0 ? 0.0 : NAN;
    } else {
        cv_two s, c;
        cv_circle_any(y, &s, &c);
        *re = ax * c.h;
        *im = y == 0.0 ? (x < 0.0 ? -y : y) : x * s.h;
    }
}

/* -- tanh ------------------------------------------------------------------------------------------------ */

VM_INLINE uint64_t cv_tanh_rare(double x, double y) {
    return cv_beyond(x, 300.0) | cv_tiny(x, CV_TINY) | cv_beyond(y, VM_TRIG_LIMIT_F64) | cv_tiny(y, CV_TINY);
}

/* (sinh x cosh x + i sin y cos y) / (sinh(x)**2 + cos(y)**2), in which nothing cancels */
VM_INLINE void cv_tanh_of_parts(cv_two sh, cv_two ch, cv_two s, cv_two c, double *re, double *im) {
    cv_two below = cv_add(cv_square_two(sh), cv_square_two(c));
    double inverse = 1.0 / below.h;
    double a = cv_round(cv_divide_by(cv_multiply(sh, ch), below, inverse));
    double b = cv_round(cv_divide_by(cv_multiply(s, c), below, inverse));
    *re = a == 0.0 ? 0.0 * sh.h : a;
    *im = b == 0.0 ? 0.0 * (s.h * c.h) : b;
}

VM_INLINE void cv_tanh(double x, double y, double *re, double *im) {
    cv_two s, c, sh, ch;
    cv_circle_parts(y, &s, &c);
    cv_hyper_parts(x, &sh, &ch);
    cv_tanh_of_parts(sh, ch, s, c, re, im);
}

static __attribute__((noinline, unused)) void cv_tanh_slow(double x, double y, double *re, double *im) {
    double ax = fabs(x);
    cv_two s, c, sh, ch;
    if (cv_is_inf(x)) { /* C99 has the sign of sin(2y) */
        *re = copysign(1.0, x);
        *im = y == y ? copysign(0.0, y) : 0.0;
    } else if (!cv_is_finite(y)) {
        *re = x == 0.0 ? x : NAN;
        *im = NAN;
    } else if (x != x) {
        *re = NAN;
        *im = y == 0.0 ? y : NAN;
    } else if (ax < 300.0) {
        double backx, backy;
        x = cv_enlarged(x, &backx);
        y = cv_enlarged(y, &backy);
        cv_circle_any(y, &s, &c);
        cv_hyper_parts(x, &sh, &ch);
        cv_tanh_of_parts(sh, ch, s, c, re, im);
        *re *= backx;
        *im *= backy;
    } else { /* the imaginary part is 4 sin(y) cos(y) exp(-2|x|) */
        double t, back;
        y = cv_enlarged(y, &back);
        cv_circle_any(y, &s, &c);
        cv_two e = cv_exp_parts(cv_make(ax < 2000.0 ? -2.0 * ax : -4000.0, 0.0), &t);
        *re = copysign(1.0, x);
        *im = y == 0.0 ? y : cv_scale(cv_round(cv_multiply(cv_multiply(s, c), e)),
                                      t - VM_ROUND64 + (back == 1.0 ? 2.0 : -198.0));
    }
}

/* -- sin, cos, tan --------------------------------------------------------------------------------------- */

#define CV_ROTATED(name, hyperbolic)                                                                         \
    VM_INLINE uint64_t cv_##name##_rare(double x, double y) { return cv_##hyperbolic##_rare(-y, x); }        \
    VM_INLINE void cv_##name(double x, double y, double *re, double *im) {                                   \
        double a, b;                                                                                         \
        cv_##hyperbolic(-y, x, &a, &b);                                                                      \
        *re = b;                                                                                             \
        *im = -a;                                                                                            \
    }                                                                                                        \
    VM_INLINE void cv_##name##_slow(double x, double y, double *re, double *im) {                            \
        double a, b;                                                                                         \
        cv_##hyperbolic##_slow(-y, x, &a, &b);                                                               \
        *re = b;                                                                                             \
        *im = -a;                                                                                            \
    }
CV_ROTATED(sin, sinh)
CV_ROTATED(tan, tanh)

VM_INLINE uint64_t cv_cos_rare(double x, double y) { return cv_cosh_rare(-y, x); }
VM_INLINE void cv_cos(double x, double y, double *re, double *im) { cv_cosh(-y, x, re, im); }
VM_INLINE void cv_cos_slow(double x, double y, double *re, double *im) { cv_cosh_slow(-y, x, re, im); }
