/* Logarithms, exponentials and quotients as sums of two numbers, high and low, for the functions of `stride0.special`: with a single
   rounding at the end, the error is little more than half a unit in the last place. Also short versions in double, for the float32
   functions. Included by vecmath_special.h. */

/* 2**k * m for a positive number, m in [sqrt(1/2), sqrt(2)) */
VM_INLINE double vm_mantissa_f64(double x, double *k) {
    int tiny = x < 0x1p-1022;
    uint64_t u = vm_bits64(tiny ? x * 0x1p54 : x) + VM_TO_SQRT_HALF;
    *k = vm_exponent_f64(u) - (tiny ? 0x1p52 + (1023 + 54) : 0x1p52 + 1023);
    return vm_double((u & VM_MANTISSA) + VM_FROM_SQRT_HALF);
}

/* (n + nl) / (d + dl), rounded, and the rounding error in *low */
VM_INLINE double vm_quotient_two_f64(double n, double nl, double d, double dl, double *low) {
    double inverse = 1.0 / d;
    double q = n * inverse;
    *low = (fma(-q, dl, fma(-q, d, n)) + nl) * inverse;
    return q;
}

/* k * ln(2) + log(1 + f + fl), for 1 + f in [sqrt(1/2), sqrt(2)], to 2**-64 of it */
VM_INLINE double vm_log_two_f64(double k, double f, double fl, double *low) {
    double d = 2.0 + f, sl;
    double s = vm_quotient_two_f64(f, fl, d, (f - (d - 2.0)) + fl, &sl);
    return vm_log_series_f64(k, s, sl, low);
}

/* log(x / y) for positive finite numbers. With s = (x - y) / (x + y) of their mantissas it is 2 atanh(s), a series around
   x = y. */
VM_INLINE double vm_log_ratio_f64(double x, double y, double *low, double *s, double *sl, double *k) {
    double kx, ky;
    double a = vm_mantissa_f64(x, &kx), b = vm_mantissa_f64(y, &ky);
    int above = a > b * 0x1.6a09e667f3bcdp+0, below = b > a * 0x1.6a09e667f3bcdp+0;
    *k = (kx - ky) + (above ? 1.0 : below ? -1.0 : 0.0);
    b = above ? b + b : b;
    a = below ? a + a : a;
    double d = a + b;
    double v = d - a;
    double dl = (a - (d - v)) + (b - v);
    *s = vm_quotient_two_f64(a - b, 0.0, d, dl, sl);
    return vm_log_series_f64(*k, *s, *sl, low);
}

/* log(1 + x + xl) for finite x > -1, as two numbers. Unless x is small, xl must be too small to change it. */
VM_INLINE double vm_log1p_sum_f64(double x, double xl, double *low) {
    double v = 1.0 + x;
    double b = v - 1.0;
    double c = ((x - b) + (1.0 - (v - b))) + xl;
    uint64_t u = vm_bits64(v) + VM_TO_SQRT_HALF;
    double k = vm_exponent_f64(u) - (0x1p52 + 1023);
    double f = vm_double((u & VM_MANTISSA) + VM_FROM_SQRT_HALF) - 1.0;
    double scale = vm_double(((uint64_t)2047 << 52) - (u & ~(uint64_t)VM_MANTISSA)); /* 2 / 2**k */
    int near = k == 0.0;
    return vm_log_two_f64(k, near ? x : f, near ? xl : 0.5 * (c * scale), low);
}

/* e**(p + pl) / 2**k for the integer k that the low bits of *t hold, |p| < 2**20 */
VM_INLINE double vm_exp_two_f64(double p, double pl, double *low, double *t) {
    *t = fma(p, VM_LOG2E, VM_ROUND64);
    double k = *t - VM_ROUND64;
    double d = fma(-k, VM_LN2_HI, p);
    double w = fma(-k, VM_LN2_LO, pl);
    double r = d + w;
    double tail = (d - r) + w;
    double s = 1.0 + r;
    *low = (r - (s - 1.0)) + fma(r * r, vm_exp_poly_f64(r), tail * s);
    return s;
}

/* e**(p + pl) rounded, for any p; pl is ignored if p is infinite */
VM_INLINE double vm_exp_sum_f64(double p, double pl) {
    double low, t;
    double a = p > 710.5 ? 710.5 : p;
    a = a < -748.0 ? -748.0 : a;
    double y = vm_exp_two_f64(a, pl, &low, &t);
    y = vm_scaled_f64(y + low, t);
    y = p > 710.0 ? INFINITY : y;
    y = p < -747.0 ? 0.0 : y;
    return p == p ? y : p;
}

/* (e**(p + pl) - 1) / unit, with unit = 1, or 2**64 if p is above 600 */
VM_INLINE double vm_expm1_two_f64(double p, double pl, double *low, double *unit) {
    int large = p > 600.0;
    double a = p > 751.0 ? 751.0 : p;
    a = a < -40.0 ? -40.0 : a;
    double t = fma(a, VM_LOG2E, VM_ROUND64);
    double k = t - VM_ROUND64;
    double d = fma(-k, VM_LN2_HI, a);
    double w = fma(-k, VM_LN2_LO, a == p ? pl : 0.0);
    double r = d + w;
    double tail = vm_expm1_tail_f64(r, fma((d - r) + w, r, (d - r) + w));
    double h = vm_double((vm_bits64(t) << 52) + ((uint64_t)(large ? 1023 - 64 : 1023) << 52));
    double one = large ? 0x1p-64 : 1.0;
    double g = h - one;
    double s = fma(h, r, g);
    *low = fma(h, tail, fma(h, r, g - s) + ((h - g) - one));
    *unit = large ? 0x1p64 : 1.0;
    return s;
}

/* -- in double, for float32 -------------------------------------------------------------------------------- */

/* e**x / 2**k for the integer k that the low bits of *t hold, relative error 2**-28 */
VM_INLINE double vm_exp_short(double x, double *t) {
    *t = fma(x, VM_LOG2E, VM_ROUND64);
    double r = fma(*t - VM_ROUND64, -VM_LN2, x);
    double q = VM_HORNER(fma, r, 0x1.6b6e2fc7b4a33p-10, 0x1.122f9bf08db5bp-7, 0x1.555688293e919p-5, 0x1.5554a32f7623ep-3, 0.5);
    return fma(r, fma(r, q, 1.0), 1.0);
}

/* e**x for |x| < 700: results are far inside the range of double */
VM_INLINE double vm_exp_wide(double x) {
    double t, y = vm_exp_short(x, &t);
    return vm_double(vm_bits64(y) + (vm_bits64(t) << 52));
}

/* log(x) for a positive normal number; relative error 2**-37 */
VM_INLINE double vm_log_wide(double x) { return VM_LN2 * vm_log2_wide(x); }

/* log(1 + x) for a float x > -1: if x is small, 1 + x is not exact, so the series starts from x itself */
VM_INLINE double vm_log1p_wide(double x) {
    double k, f = vm_log_split_fast_f64(1.0 + x, &k) - 1.0;
    f = k == 0.0 ? x : f;
    return VM_LN2 * vm_log2_series_wide(k, f / (2.0 + f));
}
