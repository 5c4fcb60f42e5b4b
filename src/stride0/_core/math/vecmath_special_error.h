/* Error functions, the normal distribution and their inverses; included by vecmath_special.h. */

/* -- erfc and erfcx ---------------------------------------------------------------------------------------- */

/* erfcx(x / unit) for x >= 0 as two numbers: (1 + 2 * x / unit) * erfcx(x / unit) is a polynomial in q = (x - c) / (x + c) with
   c = 3 * unit. Both constants, c and d = 2 / unit, are two numbers. One division serves both quotients, which are corrected by their
   remainders. x up to 2**500. */
VM_INLINE double vm_erfcx_two_f64(double x, double c, double cl, double d, double dl, double *low) {
    double sum = x + c;
    double below = fma(d, x, 1.0);
    double below_low = fma(dl, x, fma(d, x, 1.0 - below));
    double both = 1.0 / (sum * below);
    double inverse = both * sum, q = (x - c) * (both * below);
    double t = q + 1.0;
    q = fma(both * below, fma(-cl, t, fma(-q, x, fma(-c, t, x))), q);
    double s = q * q;
    double even = VM_HORNER(fma, s, 0x1.1165c5843deb0p-30, -0x1.cb0d28a41fa72p-27, 0x1.b5e1811832ff2p-24,
        -0x1.4b1f4210da3acp-21, 0x1.d212a03489bccp-19, -0x1.513b84bcd7f64p-16, 0x1.065a36d884482p-13, -0x1.98db5100e1f5bp-11,
        0x1.4b884e436afb1p-9, 0x1.17ca2877f163fp-4, 0x1.098366a5b46b1p-3, -0x1.15c084bb9e8f3p-3);
    double odd = VM_HORNER(fma, s, 0x1.c21f93506f45ap-31, -0x1.16324684b915dp-27, 0x1.5e120491f00ddp-25, -0x1.2cb0b97aa1666p-23,
        0x1.7d89f0368efc3p-22, -0x1.883869ffbee6bp-21, 0x1.4c20b9110ecd0p-18, -0x1.b9125bc8901f2p-14, 0x1.ef1bdcf93290cp-10,
        -0x1.8574c40b48204p-6, -0x1.e88b803a4af5fp-4, -0x1.85a15c58aa4afp-5);
    double p = fma(q, odd, even);
    double top = fma(q, p, 0x1.40c522d7e4987p+0);
    double top_low = fma(q, p, 0x1.40c522d7e4987p+0 - top) + 0x1.5cee073f52c23p-55;
    double y = top * inverse;
    *low = (fma(-y, below_low, fma(-y, below, top)) + top_low) * inverse;
    return y;
}
#define VM_ERFCX_TWO_F64(x, low) vm_erfcx_two_f64(x, 3.0, 0.0, 2.0, 0.0, low)
/* erfcx(x / sqrt(2)) */
#define VM_TAIL_TWO_F64(x, low) \
    vm_erfcx_two_f64(x, 0x1.0f876ccdf6cd9p+2, 0x1.b1a18f13a34c0p-52, 0x1.6a09e667f3bcdp+0, -0x1.bdd3413b26456p-54, low)

/* e**-(a * a * half) * (y + yl) / 2**k, with half = 1 or 1/2, for the integer k in the low bits of *t */
VM_INLINE double vm_gaussian_f64(double a, double half, double y, double yl, double *t) {
    double p = -half * a * a, low;
    double pl = fma(-half * a, a, -p);
    double e = vm_exp_two_f64(p, pl, &low, t);
    double w = e * y;
    return w + fma(e, yl, fma(low, y, fma(e, y, -w)));
}

VM_INLINE double vm_erfc_f64_fast(double x) {
    double a = fabs(x), low, t, e = VM_ERFCX_TWO_F64(a, &low);
    double y = vm_gaussian_f64(a, 1.0, e, low, &t);
    y = vm_double(vm_bits64(y) + (vm_bits64(t) << 52));
    return x < 0.0 ? 2.0 - y : y;
}
VM_INLINE double vm_erfc_f64(double x) {
    double a = fabs(x), low, t;
    a = a > 27.3 ? 27.3 : a;
    double e = VM_ERFCX_TWO_F64(a, &low);
    double y = vm_gaussian_f64(a, 1.0, e, low, &t);
    y = x < 0.0 ? 2.0 : vm_scaled_f64(y, t);
    return x == x ? y : x;
}
/* Whether the smaller tail may not be a normal number */
#define VM_ERFC_LATER_F64(x) (vm_bits64(26.0) - (vm_bits64(x) & ~VM_SIGN64))

VM_INLINE double vm_ndtr_f64_fast(double x) {
    double a = fabs(x), low, t, e = VM_TAIL_TWO_F64(a, &low);
    double y = vm_gaussian_f64(a, 0.5, 0.5 * e, 0.5 * low, &t);
    y = vm_double(vm_bits64(y) + (vm_bits64(t) << 52));
    return x > 0.0 ? 1.0 - y : y;
}
VM_INLINE double vm_ndtr_f64(double x) {
    double a = fabs(x), low, t;
    a = a > 38.6 ? 38.6 : a;
    double e = VM_TAIL_TWO_F64(a, &low);
    double y = vm_gaussian_f64(a, 0.5, e, low, &t);
    y = x > 0.0 ? 1.0 : vm_scaled_f64(0.5 * y, t);
    return x == x ? y : x;
}
#define VM_NDTR_LATER_F64(x) (vm_bits64(37.0) - (vm_bits64(x) & ~VM_SIGN64))

/* Below 0, 2 * e**(x * x) - erfcx(-x); beyond 2**500 its asymptotic value. */
VM_INLINE double vm_erfcx_f64(double x) {
    double a = fabs(x), yl, low, t;
    a = a > 0x1p500 ? 0x1p500 : a;
    double y = VM_ERFCX_TWO_F64(a, &yl);
    a = a > 26.65 ? 26.65 : a;
    double p = a * a;
    double e = vm_exp_two_f64(p, fma(a, a, -p), &low, &t);
    double h = 2.0 * e * vm_scaled_f64(1.0, t), hl = 2.0 * low * vm_scaled_f64(1.0, t);
    double d = h - y; /* h is 2 at least, y 1 at most */
    double below = d + (((h - d) - y) + (hl - yl));
    below = h < INFINITY ? below : INFINITY;
    double z = x < 0.0 ? below : y + yl;
    z = x > 0x1p500 ? 0x1.20dd750429b6dp-1 / x : z;
    return x == x ? z : x;
}

/* For x below 0 the logarithm of erfcx(-x / sqrt(2)) / 2, minus x * x / 2; above 0, log(1 - ndtr(-x)). One logarithm serves both. */
VM_INLINE double vm_log_ndtr_f64(double x) {
    double a = fabs(x), el, low, t, k, l;
    a = a > 0x1p400 ? 0x1p400 : a;
    double e = VM_TAIL_TWO_F64(a, &el);
    double b = a > 38.6 ? 38.6 : a;
    double p = -0.5 * b * b;
    double g = vm_exp_two_f64(p, fma(-0.5 * b, b, -p), &low, &t);
    double scale = 0.5 * vm_scaled_f64(1.0, t);
    double w = g * e;
    double wl = fma(g, el, fma(low, e, fma(g, e, -w)));
    double sum = w + wl;
    wl = ((w - sum) + wl) * scale;
    w = sum * scale; /* ndtr(-a) */
    double m = vm_mantissa_f64(e, &k);
    double unit = vm_double(((uint64_t)1023 << 52) - (vm_bits64(k + VM_ROUND64) << 52));
    /* If 1 - w is below 0.71, take the logarithm of twice the value, minus log(2). */
    uint64_t above = vm_less_f64(0.0, x > 0.0 ? 1.0 : 0.0), half = vm_less_f64(0.29, w);
    double twice = vm_select_f64(half, 2.0, 1.0), less = vm_select_f64(half, 1.0, 0.0);
    double f = vm_select_f64(above, fma(-twice, w, less), m - 1.0);
    double fl = vm_select_f64(above, -twice * wl, el * unit);
    double h = vm_log_two_f64(vm_select_f64(above, -less, k - 1.0), f, fl, &l);
    double c = vm_select_f64(above, 0.0, a);
    double q = -0.5 * c * c;
    double ql = fma(-0.5 * c, c, -q);
    sum = q + h;
    double v = sum - q;
    double y = sum + (((q - (sum - v)) + (h - v)) + (l + ql));
    y = x > 8.0 ? -(w + fma(0.5 * w, w, wl)) : y; /* two terms of log(1 - w) */
    y = x < -0x1p400 ? -0.5 * x * x : y;
    y = x > 39.0 ? -0.0 : y;
    return x == x ? y : x;
}

/* -- inverses ------------------------------------------------------------------------------------------------ */

/* The inverse of erfc for 0 < q <= 1/2: t = sqrt(-log(q)) times a polynomial in u = (t - 3) / (t + 3) */
VM_INLINE double vm_erfcinv_tail_f64(double q, double *low) {
    double k, l, m = vm_mantissa_f64(q, &k);
    double h = -vm_log_two_f64(k, m - 1.0, 0.0, &l);
    double t = sqrt(h);
    double tl = (fma(-t, t, h) - l) * (0.5 / t);
    double inverse = 1.0 / (t + 3.0), u = (t - 3.0) * inverse;
    double left = fma(-u, t, fma(-3.0, u + 1.0, t)) + tl * (1.0 - u), first = u;
    u = fma(inverse, left, first);
    double ul = fma(inverse, left, first - u);
    double s = u * u;
    double even = VM_HORNER(fma, s, -0x1.c14f835580befp-7, -0x1.40db3f46d9a04p-6, 0x1.9664fa2451259p-5, -0x1.2cbb09b694a54p-4,
        0x1.a65753722f03dp-4, -0x1.26ed0523156dcp-5, -0x1.3830318457d8bp-6, -0x1.29a4784978a71p-5, 0x1.17359165427fap-8,
        0x1.88c98a783109dp-5, 0x1.7ef4b94d59f40p-5, -0x1.09c6bb546a875p-6, -0x1.6b22e634b8768p-4, -0x1.3e850319a1881p-4,
        0x1.1c8cf96997992p-4, 0x1.1d58c30bbda5ep-2, 0x1.183b86e50a733p-2);
    double odd = VM_HORNER(fma, s, 0x1.5e6699b2123d9p-5, -0x1.0255fafe85d12p-4, 0x1.25f144602de82p-4, -0x1.ffc42991f8dcep-5,
        -0x1.0ed1ad57584f0p-6, 0x1.7b3fcc8b72ab8p-6, 0x1.1767a7bc57446p-5, 0x1.4532d8475cf07p-6, -0x1.d69a615fd3e78p-6,
        -0x1.c6cfe22be147ap-5, -0x1.5df5957159dcfp-6, 0x1.d18e7503134edp-5, 0x1.9502fb3bdcaa2p-4, 0x1.49f01e34dd197p-6,
        -0x1.6d88c5c8b30c8p-3, -0x1.5b1ac5639b5b5p-2);
    double p = fma(u, odd, even);
    double g = fma(u, p, 0x1.cf51b7c46758fp-1);
    double slope = fma(u, fma(u, 3.0 * 0x1.1d58c30bbda5ep-2, 2.0 * -0x1.5b1ac5639b5b5p-2), 0x1.183b86e50a733p-2); /* near enough for ul */
    double gl = fma(ul, slope, fma(u, p, 0x1.cf51b7c46758fp-1 - g) + 0x1.d02ed37ea6295p-55);
    double y = t * g;
    *low = fma(t, gl, fma(tl, g, fma(t, g, -y)));
    return y;
}

/* For q = 1 - x**2 below e**-4.5, and for arguments without a result */
VM_INLINE double vm_erfinv_f64(double x) {
    double a = fabs(x), tl, t = vm_erfcinv_tail_f64(((a > 0.5) & (a < 1.0)) ? 1.0 - a : 0.5, &tl);
    double y = a == 1.0 ? INFINITY : t + tl;
    y = a <= 1.0 ? y : NAN;
    return copysign(y, x);
}
#define VM_ERFINV_LATER_F64(x) (vm_bits64(0.994) - (vm_bits64(x) & ~VM_SIGN64))

VM_INLINE double vm_erfcinv_f64(double x) {
    double q = x > 1.0 ? 2.0 - x : x, tl;
    double t = vm_erfcinv_tail_f64(((q < 0.5) & (q > 0.0)) ? q : 0.5, &tl);
    double y = q == 0.0 ? INFINITY : t + tl;
    y = x > 1.0 ? -y : y;
    return ((x >= 0.0) & (x <= 2.0)) ? y : NAN;
}
#define VM_ERFCINV_LATER_F64(x) (vm_bits64(0.994) - (vm_bits64(1.0 - (x)) & ~VM_SIGN64))

/* -sqrt(2) * erfcinv(2p) */
VM_INLINE double vm_ndtri_f64(double p) {
    double q = p > 0.5 ? 1.0 - p : p, tl;
    double t = vm_erfcinv_tail_f64(((q < 0.25) & (q > 0.0)) ? q + q : 0.5, &tl);
    double y = t * 0x1.6a09e667f3bcdp+0;
    y = y + fma(tl, 0x1.6a09e667f3bcdp+0, fma(t, -0x1.bdd3413b26456p-54, fma(t, 0x1.6a09e667f3bcdp+0, -y)));
    y = q == 0.0 ? INFINITY : y;
    y = p > 0.5 ? y : -y;
    return ((p >= 0.0) & (p <= 1.0)) ? y : NAN;
}
#define VM_NDTRI_LATER_F64(p) VM_ERFCINV_LATER_F64((p) + (p))

/* -- float32, in double -------------------------------------------------------------------------------------- */

/* As in float64: erfcx(x), given c = 3 * unit and d * x = 2 * x / unit */
VM_INLINE double vm_erfcx_short(double x, double c, double d) {
    double sum = x + c, below = fma(d, x, 1.0);
    double both = 1.0 / (sum * below);
    double q = (x - c) * (both * below), s = q * q;
    double even = VM_HORNER(fma, s, -0x1.85c68faa60674p-14, 0x1.ebc7448c108ffp-10, -0x1.855ac29dcf071p-6, -0x1.e88cf0297a63dp-4,
        -0x1.85a121089644ep-5, 0x1.40c522d1b98fep+0);
    double odd = VM_HORNER(fma, s, 0x1.3dcae1c6f7ac0p-14, -0x1.7abebaa29a726p-11, 0x1.470f968c6d70dp-9, 0x1.17d4c2f3cd223p-4,
        0x1.0982b7d3cffd9p-3, -0x1.15c07e3ff23c7p-3);
    return fma(q, odd, even) * (both * sum);
}

VM_INLINE float vm_erfc_f32(float x) {
    double a = fabsf(x);
    a = a > 11.0 ? 11.0 : a;
    double y = vm_erfcx_short(a, 3.0, 2.0) * vm_exp_wide(-a * a);
    y = x < 0.0f ? 2.0 - y : y;
    return x == x ? (float)y : x;
}

VM_INLINE float vm_ndtr_f32(float x) {
    double a = fabsf(x);
    a = a > 15.0 ? 15.0 : a;
    double y = 0.5 * vm_erfcx_short(a, 0x1.0f876ccdf6cd9p+2, 0x1.6a09e667f3bcdp+0) * vm_exp_wide(-0.5 * a * a);
    y = x > 0.0f ? 1.0 - y : y;
    return x == x ? (float)y : x;
}

VM_INLINE float vm_erfcx_f32(float x) {
    double a = fabsf(x);
    double y = vm_erfcx_short(a > 0x1p300 ? 0x1p300 : a, 3.0, 2.0);
    double b = a > 11.0 ? 11.0 : a;
    y = x < 0.0f ? 2.0 * vm_exp_wide(b * b) - y : y;
    return x == x ? (float)y : x;
}

VM_INLINE float vm_log_ndtr_f32(float x) {
    double a = fabsf(x);
    a = a > 0x1p300 ? 0x1p300 : a;
    double e = 0.5 * vm_erfcx_short(a, 0x1.0f876ccdf6cd9p+2, 0x1.6a09e667f3bcdp+0);
    double b = a > 20.0 ? 20.0 : a;
    double w = -e * vm_exp_wide(-0.5 * b * b); /* -ndtr(-a) */
    double z = w * w;
    int tiny = (x > 0.0f) & (w > -0x1p-12);
    double y = vm_log_wide(x > 0.0f ? 1.0 + w : e) - (x > 0.0f ? 0.0 : 0.5 * a * a);
    y = tiny ? w - 0.5 * z : y;
    return x == x ? (float)y : x;
}

VM_INLINE double vm_erfcinv_tail_short(double q) {
    double t = sqrt(-vm_log_wide(q));
    double u = (t - 3.0) / (t + 3.0), s = u * u;
    double even = VM_HORNER(fma, s, -0x1.c1059b336f006p-5, -0x1.d74559c86135ep-6, 0x1.e8ec8299faa2bp-5, 0x1.9306f02e2c0c2p-4,
        0x1.4a9c480c0aeb9p-6, -0x1.6d89a0eb7002bp-3, -0x1.5b1ac3c76dce3p-2, 0x1.cf51b7c3eb76dp-1);
    double odd = VM_HORNER(fma, s, -0x1.f3617133342eap-7, 0x1.a1d477e12a50dp-4, -0x1.2fab9c47ce22ap-5, -0x1.59fb4a1796911p-4,
        -0x1.406aba675d674p-4, 0x1.1ca90e0eb8987p-4, 0x1.1d5894a983855p-2, 0x1.183b873e7c624p-2);
    return t * fma(u, odd, even);
}

VM_INLINE float vm_erfinv_f32(float x) {
    double a = fabsf(x), t = vm_erfcinv_tail_short(((a > 0.5) & (a < 1.0)) ? 1.0 - a : 0.5);
    float y = a == 1.0 ? INFINITY : (float)t;
    y = a <= 1.0 ? y : NAN;
    return copysignf(y, x);
}
#define VM_ERFINV_LATER_F32(x) (vm_bits32(0.994f) - (vm_bits32(x) & ~VM_SIGN32))

VM_INLINE float vm_erfcinv_f32(float x) {
    double a = x, q = a > 1.0 ? 2.0 - a : a, t = vm_erfcinv_tail_short(((q < 0.5) & (q > 0.0)) ? q : 0.5);
    float y = q == 0.0 ? INFINITY : (float)t;
    y = a > 1.0 ? -y : y;
    return ((a >= 0.0) & (a <= 2.0)) ? y : NAN;
}
#define VM_ERFCINV_LATER_F32(x) (vm_bits32(0.994f) - (vm_bits32(1.0f - (x)) & ~VM_SIGN32))

VM_INLINE float vm_ndtri_f32(float p) {
    double a = p, q = a > 0.5 ? 1.0 - a : a, t = vm_erfcinv_tail_short(((q < 0.25) & (q > 0.0)) ? q + q : 0.5);
    float y = q == 0.0 ? INFINITY : (float)(t * 0x1.6a09e667f3bcdp+0);
    y = a > 0.5 ? y : -y;
    return ((a >= 0.0) & (a <= 1.0)) ? y : NAN;
}
#define VM_NDTRI_LATER_F32(p) VM_ERFCINV_LATER_F32((p) + (p))
