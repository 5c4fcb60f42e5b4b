/* Numbers in two parts, h + l with |l| far smaller than |h|; included by cvecmath.h.

   Sums and products of doubles are exact in two parts, apart from overflow and underflow. The other operations have errors of
   about 2**-100 of their operands. If the processor has fma, one instruction gives the error of a product; otherwise Dekker's
   algorithm does, because libm's fma is slow. Both are exact: Note [Same bits]. */

/* clang 23's vectoriser also considers vectors of length 1. For that it asks recursively, for each operation, whether the users
   of its result are scalar. The time grows exponentially with the number of operations, and products without fma have many. It
   does not ask if the width is given: here the width that it would choose anyway. */
#if defined(__clang__) && defined(__SSE2__) && !defined(__FMA__)
#define CV_ELEMENTWISE _Pragma("clang loop vectorize_width(2)")
#else
#define CV_ELEMENTWISE VM_ELEMENTWISE
#endif

typedef struct { double h, l; } cv_two;

VM_INLINE cv_two cv_make(double h, double l) {
    cv_two z = {h, l};
    return z;
}

/* The 26 leading bits, rounded: products of these and of the remainders are exact. */
VM_INLINE double cv_head(double x) {
    return vm_double((vm_bits64(x) + ((uint64_t)1 << 26)) & ~(((uint64_t)1 << 27) - 1));
}

VM_INLINE cv_two cv_sum(double a, double b) {
    double s = a + b;
    double v = s - a;
    return cv_make(s, (a - (s - v)) + (b - v));
}

/* For |a| >= |b| or a = 0 */
VM_INLINE cv_two cv_sum_ordered(double a, double b) {
    double s = a + b;
    return cv_make(s, b - (s - a));
}

#if defined(FP_FAST_FMA) || defined(__FMA__)
VM_INLINE cv_two cv_product(double a, double b) {
    double p = a * b;
    return cv_make(p, fma(a, b, -p));
}
#else
/* The same to the last bit, except for overflow: if the error term may underflow, factors are scaled up first, and the error term
   is rounded once when it is scaled down. */
VM_INLINE cv_two cv_product(double a, double b) {
    double p = a * b;
    uint64_t low = vm_less_f64(fabs(p), 0x1p-900);
    uint64_t low_a = low & vm_less_f64(fabs(a), 1.0), low_b = low & vm_less_f64(fabs(b), 1.0);
    double up_a = vm_select_f64(low_a, 0x1p600, 1.0), up_b = vm_select_f64(low_b, 0x1p600, 1.0);
    double x = a * up_a, y = b * up_b, q = x * y;
    double xh = cv_head(x), xl = x - xh, yh = cv_head(y), yl = y - yh;
    double tail = (q - p * up_a * up_b) + ((((xh * yh - q) + xh * yl) + xl * yh) + xl * yl);
    return cv_make(p, tail * vm_select_f64(low_a, 0x1p-600, 1.0) * vm_select_f64(low_b, 0x1p-600, 1.0));
}
#endif
VM_INLINE cv_two cv_square(double a) { return cv_product(a, a); }

/* a minus the product of q and b, which is near a: rounded once, because the first difference is exact */
VM_INLINE double cv_left(double a, double q, double b) {
#if defined(FP_FAST_FMA) || defined(__FMA__)
    return fma(-q, b, a);
#else
    cv_two p = cv_product(q, b);
    return (a - p.h) - p.l;
#endif
}

VM_INLINE cv_two cv_negative(cv_two a) { return cv_make(-a.h, -a.l); }
VM_INLINE cv_two cv_scaled(cv_two a, double power) { return cv_make(a.h * power, a.l * power); }
VM_INLINE double cv_round(cv_two a) { return a.h + a.l; }
VM_INLINE cv_two cv_select(uint64_t mask, cv_two yes, cv_two no) {
    return cv_make(vm_select_f64(mask, yes.h, no.h), vm_select_f64(mask, yes.l, no.l));
}

VM_INLINE cv_two cv_add(cv_two a, cv_two b) {
    cv_two s = cv_sum(a.h, b.h);
    return cv_sum_ordered(s.h, s.l + (a.l + b.l));
}

/* For uses that allow a second part as large as the last digit of the first */
VM_INLINE cv_two cv_add_loosely(cv_two a, cv_two b) {
    cv_two s = cv_sum(a.h, b.h);
    return cv_make(s.h, s.l + (a.l + b.l));
}

/* For |a| >= |b| */
VM_INLINE cv_two cv_add_ordered(cv_two a, cv_two b) {
    cv_two s = cv_sum_ordered(a.h, b.h);
    return cv_sum_ordered(s.h, s.l + (a.l + b.l));
}

VM_INLINE cv_two cv_multiply(cv_two a, cv_two b) {
    cv_two p = cv_product(a.h, b.h);
    return cv_sum_ordered(p.h, p.l + (a.h * b.l + a.l * b.h));
}

/* The product as one number, with the sign of a zero */
VM_INLINE double cv_round_product(cv_two a, cv_two b) {
    double p = cv_round(cv_multiply(a, b));
    return p == 0.0 ? a.h * b.h : p;
}

VM_INLINE cv_two cv_multiply_by(cv_two a, double b) {
    cv_two p = cv_product(a.h, b);
    return cv_sum_ordered(p.h, p.l + a.l * b);
}

VM_INLINE cv_two cv_square_two(cv_two a) {
    cv_two p = cv_square(a.h);
    return cv_sum_ordered(p.h, p.l + 2.0 * (a.h * a.l));
}

/* a / b by the inverse of b.h; the tail corrects the error of the rounded inverse. One sum rounds the result. */
VM_INLINE double cv_quotient_tail(cv_two a, cv_two b, double q) {
    return cv_left(a.h, q, b.h) + (a.l - q * b.l);
}
VM_INLINE cv_two cv_divide_by(cv_two a, cv_two b, double inverse) {
    double q = a.h * inverse;
    return cv_sum_ordered(q, cv_quotient_tail(a, b, q) * inverse);
}
VM_INLINE double cv_round_quotient(cv_two a, cv_two b, double inverse) {
    double q = a.h * inverse;
    return q + cv_quotient_tail(a, b, q) * inverse;
}
VM_INLINE cv_two cv_divide(cv_two a, cv_two b) { return cv_divide_by(a, b, 1.0 / b.h); }

/* For a number that is not negative */
VM_INLINE cv_two cv_sqrt_two(cv_two a) {
    double s = sqrt(a.h);
    double tail = cv_left(a.h, s, s) + a.l;
    return cv_sum_ordered(s, tail / (s + s + 0x1p-600));
}

/* -- sums that cancel ------------------------------------------------------------------------------------ */

/* a + (b.h + b.l) + (c.h + c.l), for five arbitrary numbers: two rounds of sums that keep their rounding errors, so that the
   result is as if summed with 159 bits. */
VM_INLINE cv_two cv_sum_of_five(double a, cv_two b, cv_two c) {
    cv_two s1 = cv_sum(a, b.h), s2 = cv_sum(s1.h, c.h), s3 = cv_sum(s2.h, b.l), s4 = cv_sum(s3.h, c.l);
    cv_two p1 = cv_sum(s1.l, s2.l), p2 = cv_sum(p1.h, s3.l), p3 = cv_sum(p2.h, s4.l), p4 = cv_sum(s4.h, p3.h);
    return cv_sum(p4.h, ((p1.l + p2.l) + p3.l) + p4.l);
}

/* -- classes of numbers, by their bits ------------------------------------------------------------------- */

/* The sign bit is set if |x| is not below the limit, or NaN, ... */
VM_INLINE uint64_t cv_beyond(double x, double limit) {
    return (vm_bits64(limit) - 1) - (vm_bits64(x) & ~((uint64_t)1 << 63));
}
/* ... or below it, but not zero. */
VM_INLINE uint64_t cv_tiny(double x, double limit) {
    uint64_t u = vm_bits64(x) & ~((uint64_t)1 << 63);
    return (u - vm_bits64(limit)) & (0 - u);
}
/* ... or if no bit of u is set. */
VM_INLINE uint64_t cv_none(uint64_t u) { return (u - 1) & ~u; }
VM_INLINE uint64_t cv_mask(int condition) { return -(uint64_t)condition; }
VM_INLINE int cv_is_finite(double x) { return x - x == 0.0; }
VM_INLINE int cv_is_inf(double x) { return fabs(x) == INFINITY; }

VM_INLINE double cv_larger(double x, double y) { return fabs(x) > fabs(y) ? fabs(x) : fabs(y); }

/* 2**k, which must be a normal number */
VM_INLINE double cv_power(double k) { return vm_double((uint64_t)(1023 + (int64_t)k) << 52); }

/* x * 2**k with one rounding, for a normal x; |k| is clipped to 2700. Three products, so that each power of two is in range; only
   the last product may be subnormal. */
VM_INLINE double cv_scale(double x, double k) {
    for (int i = 0; i < 3; i++) {
        double part = k > 900.0 ? 900.0 : k < -900.0 ? -900.0 : k;
        x = x * cv_power(part);
        k -= part;
    }
    return x;
}

/* x = m * 2**k with |m| from 1 to 2, without error; the exponent of zero is below the exponents of all products and powers */
#define CV_ZERO_EXPONENT (-0x1p40)
VM_INLINE double cv_mantissa(double x, double *k) {
    const uint64_t exponent = (uint64_t)0x7ff << 52;
    double up = fabs(x) < 0x1p-1000 ? 0x1p100 : 1.0;
    uint64_t bits = vm_bits64(x * up);
    *k = x == 0.0 ? CV_ZERO_EXPONENT : (double)((int64_t)((bits & exponent) >> 52) - 1023) - (up > 1.0 ? 100.0 : 0.0);
    return x == 0.0 ? x : vm_double((bits & ~exponent) | (uint64_t)1023 << 52);
}

/* 2**(k - most) for k <= most. Terms smaller by 2**-300 do not matter, but must not underflow. */
VM_INLINE double cv_relative_power(double k, double most) { return k < most - 300.0 ? 0x1p-300 : cv_power(k - most); }

/* A number in two parts times 2**k, with h near 1 or zero; it may exceed the range of doubles */
typedef struct { cv_two m; double k; } cv_scaled_two;

VM_INLINE cv_scaled_two cv_make_scaled(double x) {
    cv_scaled_two z;
    z.m = cv_make(cv_mantissa(x, &z.k), 0.0);
    return z;
}
VM_INLINE cv_scaled_two cv_multiply_scaled(cv_scaled_two a, cv_scaled_two b) {
    cv_scaled_two z = {cv_multiply(a.m, b.m), a.k + b.k};
    return z;
}
VM_INLINE cv_scaled_two cv_add_scaled(cv_scaled_two a, cv_scaled_two b) {
    double most = a.k > b.k ? a.k : b.k, k;
    cv_two sum = cv_add(cv_scaled(a.m, cv_relative_power(a.k, most)), cv_scaled(b.m, cv_relative_power(b.k, most)));
    cv_scaled_two z = {cv_make(cv_mantissa(sum.h, &k), 0.0), most + k};
    z.m.l = sum.h == 0.0 ? 0.0 : sum.l * cv_power(-k);
    return z;
}
VM_INLINE cv_scaled_two cv_negative_scaled(cv_scaled_two a) {
    a.m = cv_negative(a.m);
    return a;
}
VM_INLINE double cv_round_scaled(cv_scaled_two a) { return cv_scale(cv_round(a.m), a.k); }
VM_INLINE double cv_round_scaled_quotient(cv_scaled_two a, cv_scaled_two b) {
    return cv_scale(cv_round_quotient(a.m, b.m, 1.0 / b.m.h), a.k - b.k);
}

/* a b + c d */
VM_INLINE cv_scaled_two cv_cross_scaled(cv_scaled_two a, cv_scaled_two b, cv_scaled_two c, cv_scaled_two d) {
    return cv_add_scaled(cv_multiply_scaled(a, b), cv_multiply_scaled(c, d));
}
