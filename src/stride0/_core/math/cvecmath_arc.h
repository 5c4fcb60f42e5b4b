/* Inverse circular and hyperbolic functions of complex numbers; included by cvecmath.h. For the names see
   cvecmath_exp.h.

   Note [Roots of 1 - z and 1 + z]
       With sqrt(1 - z) = p - qi and sqrt(1 + z) = r + si, of which no component is negative for y >= 0,
           acos z = 2 atan2(p, r) - i asinh(ps + qr)
           asin z = atan2(x, pr + qs) + i asinh(ps + qr)
       (W. Kahan). Only 1 - x cancels, which two numbers hold without error: the result is as accurate as the roots, whose
       error is about 2**-100. */

#define CV_ARC_LOW 0x1p-400
#define CV_ARC_HIGH 0x1p400

typedef struct { cv_two p, q, r, s; } cv_roots;

/* x signed, y not negative */
VM_INLINE cv_roots cv_roots_of(double x, double y) {
    cv_roots z;
    cv_sqrt_parts(cv_sum(1.0, -x), y, &z.p, &z.q);
    cv_sqrt_parts(cv_sum(1.0, x), y, &z.r, &z.s);
    return z;
}

VM_INLINE cv_two cv_cross(cv_two a, cv_two b, cv_two c, cv_two d) {
    return cv_add(cv_multiply(a, b), cv_multiply(c, d));
}

/* asinh(w) for w >= 0 */
VM_INLINE double cv_asinh_of(cv_two w) {
    cv_two square = cv_square_two(w);
    cv_two one = cv_sum(1.0, square.h);
    one.l += square.l;
    cv_two root = cv_sqrt_two(one);
    cv_two grown = cv_sum(root.h, -1.0);
    grown.l += root.l;
    return cv_round(cv_log1p_parts(cv_add(w, cv_sum(grown.h, grown.l))));
}

VM_INLINE uint64_t cv_arc_rare(double x, double y) { /* also +-1 */
    uint64_t branch = cv_none((vm_bits64(fabs(x)) ^ vm_bits64(1.0)) | vm_bits64(fabs(y)));
    return cv_beyond(x, CV_ARC_HIGH) | cv_beyond(y, CV_ARC_HIGH) | cv_tiny(x, CV_ARC_LOW)
        | cv_tiny(y, CV_ARC_LOW) | branch;
}

/* a / b, also for a tiny a */
VM_INLINE double cv_linear(double a, cv_two b) {
    double back;
    a = cv_enlarged(a, &back);
    return cv_round(cv_divide(cv_make(a, 0.0), b)) * back;
}

/* -- asin, asinh ----------------------------------------------------------------------------------------- */

VM_INLINE uint64_t cv_asin_rare(double x, double y) { return cv_arc_rare(x, y); }

VM_INLINE void cv_asin(double x, double y, double *re, double *im) {
    double ax = fabs(x);
    cv_roots z = cv_roots_of(ax, fabs(y));
    double a = cv_round(cv_angle_parts(cv_make(ax, 0.0), cv_cross(z.p, z.r, z.q, z.s)));
    double b = cv_asinh_of(cv_cross(z.p, z.s, z.q, z.r));
    *re = copysign(a, x);
    *im = copysign(b, y);
}

static __attribute__((noinline, unused)) void cv_asin_slow(double x, double y, double *re, double *im) {
    double ax = fabs(x), ay = fabs(y), a, b;
    if (!cv_is_finite(x) || !cv_is_finite(y)) {
        if (cv_is_inf(x) || cv_is_inf(y)) {
            a = vm_atan2_f64(ax, ay);
            b = INFINITY;
        } else {
            a = x == 0.0 ? 0.0 : NAN;
            b = NAN;
        }
    } else if (ax >= CV_ARC_HIGH || ay >= CV_ARC_HIGH) {
        a = vm_atan2_f64(ax, ay);
        b = cv_round(cv_add(cv_make(VM_LN2_HI, VM_LN2_LO), cv_log_size_any(x, y)));
    } else if (ay < CV_ARC_LOW) {
        a = ax < 1.0 ? vm_asin_f64(ax) : VM_PI_2_HI;
        b = ax < 1.0 ? cv_linear(ay, cv_sqrt_two(cv_multiply(cv_sum(1.0, -ax), cv_sum(1.0, ax))))
            : ax == 1.0 ? sqrt(ay) : vm_acosh_f64(ax);
    } else { /* tiny ax */
        a = cv_linear(ax, cv_sqrt_two(cv_add(cv_make(1.0, 0.0), cv_square(ay))));
        b = vm_asinh_f64(ay);
    }
    *re = copysign(a, x);
    *im = copysign(b, y);
}

/* asinh(z) = i asin(-iz) */
VM_INLINE uint64_t cv_asinh_rare(double x, double y) { return cv_arc_rare(y, x); }
VM_INLINE void cv_asinh(double x, double y, double *re, double *im) {
    double a, b;
    cv_asin(y, -x, &a, &b);
    *re = -b;
    *im = a;
}
VM_INLINE void cv_asinh_slow(double x, double y, double *re, double *im) {
    double a, b;
    cv_asin_slow(y, -x, &a, &b);
    *re = -b;
    *im = a;
}

/* -- acos, acosh ----------------------------------------------------------------------------------------- */

VM_INLINE uint64_t cv_acos_rare(double x, double y) { return cv_arc_rare(x, y); }

VM_INLINE void cv_acos(double x, double y, double *re, double *im) {
    cv_roots z = cv_roots_of(x, fabs(y));
    double b = cv_asinh_of(cv_cross(z.p, z.s, z.q, z.r));
    *re = 2.0 * cv_round(cv_angle_parts(z.p, z.r));
    *im = -copysign(b, y);
}

static __attribute__((noinline, unused)) void cv_acos_slow(double x, double y, double *re, double *im) {
    double ax = fabs(x), ay = fabs(y), a, b;
    if (!cv_is_finite(x) || !cv_is_finite(y)) {
        if (cv_is_inf(x) || cv_is_inf(y)) {
            a = vm_atan2_f64(ay, x);
            b = INFINITY;
        } else {
            a = x == 0.0 ? VM_PI_2_HI : NAN;
            b = NAN;
        }
    } else if (ax >= CV_ARC_HIGH || ay >= CV_ARC_HIGH) {
        a = vm_atan2_f64(ay, x);
        b = cv_round(cv_add(cv_make(VM_LN2_HI, VM_LN2_LO), cv_log_size_any(x, y)));
    } else if (ay < CV_ARC_LOW) {
        cv_two d = cv_sqrt_two(cv_multiply(cv_sum(1.0, -ax), cv_sum(1.0, ax)));
        cv_two e = cv_sqrt_two(cv_multiply(cv_sum(ax, -1.0), cv_sum(1.0, ax)));
        if (ax < 1.0) {
            a = vm_acos_f64(x);
            b = cv_linear(ay, d);
        } else if (ax == 1.0) {
            b = sqrt(ay);
            a = b;
        } else {
            a = cv_linear(ay, e);
            b = vm_acosh_f64(ax);
        }
        a = x <= -1.0 ? VM_PI_HI : a;
    } else {
        cv_acos(x, ay, &a, &b);
        b = -b;
    }
    *re = a;
    *im = -copysign(b, y);
}

/* acosh(z) = i acos(z) above the real axis and on its upper side, -i acos(z) below */
VM_INLINE uint64_t cv_acosh_rare(double x, double y) { return cv_arc_rare(x, y); }
VM_INLINE void cv_acosh(double x, double y, double *re, double *im) {
    double a, b;
    cv_acos(x, y, &a, &b);
    *re = fabs(b);
    *im = copysign(a, y);
}
VM_INLINE void cv_acosh_slow(double x, double y, double *re, double *im) {
    double a, b;
    cv_acos_slow(x, y, &a, &b);
    *re = fabs(b);
    *im = copysign(a, y);
}

/* -- atanh, atan ----------------------------------------------------------------------------------------- */

VM_INLINE uint64_t cv_atanh_rare(double x, double y) { return cv_arc_rare(x, y); }

/* log1p(4x / ((1 - x)**2 + y**2)) / 4 + i atan2(2y, (1 - x)(1 + x) - y**2) / 2. The last difference may cancel only if y is
   much larger than it. */
VM_INLINE void cv_atanh(double x, double y, double *re, double *im) {
    double ax = fabs(x), ay = fabs(y);
    cv_two less = cv_sum(1.0, -ax), more = cv_sum(1.0, ax), square = cv_square(ay);
    cv_two u = cv_divide(cv_make(4.0 * ax, 0.0), cv_add(cv_square_two(less), square));
    cv_two across = cv_add(cv_multiply(less, more), cv_negative(square));
    *re = copysign(0.25 * cv_round(cv_log1p_parts(u)), x);
    *im = copysign(0.5 * cv_round(cv_angle_parts(cv_make(2.0 * ay, 0.0), across)), y);
}

static __attribute__((noinline, unused)) void cv_atanh_slow(double x, double y, double *re, double *im) {
    double ax = fabs(x), ay = fabs(y), a, b;
    if (cv_is_inf(x) || cv_is_inf(y)) {
        a = 0.0;
        b = y == y ? VM_PI_2_HI : NAN;
    } else if (x != x || y != y) {
        a = x == 0.0 ? 0.0 : NAN;
        b = NAN;
    } else if (ax >= CV_ARC_HIGH || ay >= CV_ARC_HIGH) { /* 1/z */
        double root, inverse = cv_level(ax, ay, &root), square = inverse * inverse;
        double sx = ax * square, sy = ay * square;
        a = cv_linear(sx, cv_add(cv_square(sx), cv_square(sy))) * inverse * inverse;
        b = VM_PI_2_HI;
    } else if (ax == 1.0 && ay < CV_ARC_LOW) { /* log(2/y) / 2 */
        cv_two size = cv_add(cv_make(VM_LN2_HI, VM_LN2_LO), cv_negative(cv_log_abs_slow(0.0, ay)));
        a = ay == 0.0 ? INFINITY : 0.5 * cv_round(size);
        b = ay == 0.0 ? 0.0 : VM_PI_4_HI;
    } else {
        cv_atanh(ax, ay, &a, &b);
        if (ay < CV_ARC_LOW && ax < 1.0) b = cv_linear(ay, cv_multiply(cv_sum(1.0, -ax), cv_sum(1.0, ax)));
    }
    *re = copysign(a, x);
    *im = copysign(b, y);
}

/* atan(z) = -i atanh(iz) */
VM_INLINE uint64_t cv_atan_rare(double x, double y) { return cv_arc_rare(y, x); }
VM_INLINE void cv_atan(double x, double y, double *re, double *im) {
    double a, b;
    cv_atanh(-y, x, &a, &b);
    *re = b;
    *im = -a;
}
VM_INLINE void cv_atan_slow(double x, double y, double *re, double *im) {
    double a, b;
    cv_atanh_slow(-y, x, &a, &b);
    *re = b;
    *im = -a;
}
