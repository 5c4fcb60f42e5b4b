/* Logarithm of the gamma function and its derivative; included by vecmath_special.h. */

/* -- Stirling's formula ------------------------------------------------------------------------------------ */

/* loggamma(a) from 6 on: (a - 1/2) * (log(a) - 1) + log(2 pi) / 2 - 1/2 + ... as two numbers, given log(a) as h + l */
VM_INLINE double vm_stirling_sum_f64(double a, double h, double l, double *low) {
    double g = h - 1.0;
    double gl = (h - (g + 1.0)) + l;
    double b = a - 0.5, inverse = 1.0 / a, z = inverse * inverse;
    double rest = inverse * VM_HORNER(fma, z, -0x1.bde66354a85acp-7, 0x1.70e673b253809p-8, -0x1.f1112a3dced35p-10,
        0x1.b925ab2d5eaa2p-11, -0x1.38132217e75e2p-11, 0x1.a01a013b9bc8dp-11, -0x1.6c16c16c0ca6ap-9, 0x1.5555555555555p-4);
    double w = b * g;
    double wl = fma(b, gl, fma(b, g, -w));
    wl = fabs(w) < INFINITY ? wl : 0.0;
    double q = w + 0x1.acfe390c97d6ap-2;
    double ql = (w - q) + 0x1.acfe390c97d6ap-2;
    ql = fabs(w) < INFINITY ? ql : 0.0;
    *low = wl + (ql + rest);
    return q;
}
VM_INLINE double vm_stirling_two_f64(double a, double *low) {
    double k, l, f = vm_log_split_fast_f64(a, &k) - 1.0;
    double h = vm_log_two_f64(k, f, 0.0, &l);
    return vm_stirling_sum_f64(a, h, l, low);
}
VM_INLINE double vm_stirling_short(double a) {
    double h = vm_log_wide(a), inverse = 1.0 / a, z = inverse * inverse;
    double rest = inverse * VM_HORNER(fma, z, -0x1.218f8c408a461p-11, 0x1.9fb8ef1d43a48p-11, -0x1.6c169f824342bp-9,
        0x1.5555555519e98p-4);
    return fma(a - 0.5, h - 1.0, 0x1.acfe390c97d6ap-2 + rest);
}

/* -- gammaln ----------------------------------------------------------------------------------------------- */

/* The logarithm of the gamma function for 0 < a < 8 as two numbers: a is shifted to 1 + t with t in (0, 5/4), where the function is
   t * (t - 1) * S(t), and the logarithm of the factor of the shift is added. */
VM_INLINE double vm_gammaln_near_f64(double a, double *low) {
    int small = a < 1.25;
    double n = floor(a - 0.25); /* the number of factors, plus one */
    n = small ? 0.0 : n;
    double t = a - n;
    double p = n > 0.0 ? 1.0 : a, pl = 0.0;
    for (int j = 1; j < 7; j++) {
        double f = a - j;
        double w = p * f, wl = fma(p, f, -w) + pl * f;
        p = j < n ? w : p;
        pl = j < n ? wl : pl;
    }
    double u = t - 0.625, s = u * u;
    double even = VM_HORNER(fma, s, -0x1.737aef54b2741p-21, -0x1.28eb847d1024ap-22, -0x1.643b01a0894cdp-19,
        -0x1.b87bd599bb336p-18, -0x1.4c44980cce00cp-16, -0x1.eefbff8751a96p-15, -0x1.783649803f34dp-13, -0x1.250cefaeb8e60p-11,
        -0x1.d9b6039f99628p-10, -0x1.9755f4416e283p-8, -0x1.8c66d24dc2d00p-6, -0x1.0d79494357498p-3);
    double odd = VM_HORNER(fma, s, 0x1.2d8d8ee8f0141p-20, 0x1.350f5220a350ap-21, 0x1.28ab50ddec852p-18, 0x1.7b5c5510ea4dep-17,
        0x1.1e5983633091dp-15, 0x1.ae69197d3c801p-14, 0x1.4ad22282c235ap-12, 0x1.05f40e0f2c5cfp-10, 0x1.b2cd23bb21383p-9,
        0x1.88f37b6cfbd5ep-7, 0x1.aebb0c81e50d6p-5);
    double c = fma(u, odd, even);
    double series = fma(u, c, 0x1.dcfd339a88006p-2);
    double series_low = fma(u, c, 0x1.dcfd339a88006p-2 - series) + -0x1.a6f444874098cp-56;
    double product = t * (t - 1.0);
    double near = product * series;
    double near_low = fma(product, series_low, fma(fma(t, t - 1.0, -product), series, fma(product, series, -near)));
    double k, l, m = vm_mantissa_f64(p, &k);
    double unit = vm_double(((uint64_t)1023 << 52) - (vm_bits64(k + VM_ROUND64) << 52));
    double h = vm_log_two_f64(k, m - 1.0, pl * unit, &l);
    h = small ? -h : h;
    l = small ? -l : l;
    double sum = h + near;
    double v = sum - h;
    *low = ((h - (sum - v)) + (near - v)) + (l + near_low);
    return sum;
}

VM_INLINE double vm_gammaln_two_f64(double a, double *low) {
    int far = a >= 8.0;
    double nl, fl, n = vm_gammaln_near_f64(far ? 1.5 : a, &nl), f = vm_stirling_two_f64(far ? a : 8.0, &fl);
    *low = far ? fl : nl;
    return far ? f : n;
}

VM_INLINE double vm_gammaln_f64_fast(double x) {
    double low, y = vm_gammaln_near_f64(x, &low);
    return y + low;
}
VM_INLINE double vm_gammaln_f64_middle(double x) {
    double low, y = vm_stirling_two_f64(x, &low);
    return x < 0x1p1017 ? y + low : INFINITY;
}

/* gammaln(-a) for a > 0: log(pi / (a * |sin(pi a)|)) - gammaln(a). Garbage if a is an integer. */
VM_INLINE double vm_gammaln_negative_f64(double a, double *tail) {
    double low, sl, rl, k, l;
    int whole = rint(a) == a;
    int tiny = a < 0x1p-1000;
    double g = vm_gammaln_two_f64(tiny ? a * 0x1p60 : a < INFINITY ? a : 1.0, &low);
    double r = a - rint(a);
    double t = (r + r) + VM_ROUND64;
    double c = fma(t - VM_ROUND64, -0.5, r);
    double high = vm_product_two_f64(whole ? 0.25 : c, VM_PI_HI, VM_PI_LO, &rl);
    double s = vm_sin_two_f64(high, rl, vm_bits64(t), &sl);
    double sign = s < 0.0 ? -1.0 : 1.0;
    double b = a < 1.0 ? 1.0 : a;
    s = sign * s;
    double p = b * s;
    double pl = fma(b, sl * sign, fma(b, s, -p));
    double m = vm_mantissa_f64(p, &k);
    double unit = vm_double(((uint64_t)1023 << 52) - (vm_bits64(k + VM_ROUND64) << 52));
    double h = vm_log_two_f64(k, m - 1.0, pl * unit, &l);
    /* log(pi) - (h + l) - (g + low); a below 1 is divided by with the help of gammaln(a + 1) = gammaln(a) + log(a) */
    double kb, bl, mb = vm_mantissa_f64(a < 1.0 && a > 0.0 ? a : 1.0, &kb);
    double bh = vm_log_two_f64(kb, mb - 1.0, 0.0, &bl);
    double d = 0x1.250d048e7a1bdp+0 - h;
    double dl = (0x1.250d048e7a1bdp+0 - (d + h)) + (0x1.7abf2ad8d5088p-57 - l);
    double e = d - g;
    double v = e - d;
    double el = ((d - (e - v)) - (g + v)) + (dl - low);
    double f = e - bh;
    v = f - e;
    *tail = ((e - (f - v)) - (bh + v)) + (el - bl);
    *tail = a < 0x1p-60 ? -bl : *tail;
    return a < 0x1p-60 ? -bh : f;
}

VM_INLINE double vm_gammaln_f64(double x) {
    double a = fabs(x), low;
    int positive = x > 0.0; /* subnormal or infinite */
    double y = vm_gammaln_negative_f64(a, &low);
    y = rint(a) == a ? INFINITY : y + low;
    y = a > 0x1p1017 ? x : y;
    double kb, bl, m = vm_mantissa_f64(positive ? a : 1.0, &kb), h = vm_log_two_f64(kb, m - 1.0, 0.0, &bl);
    y = (positive & (a < 1.0)) ? -h - bl : y;
    return x == x ? y : x;
}
/* Whether x is not a normal number from 0 to 8, and whether x is not a normal number above 8 */
#define VM_GAMMALN_LATER_F64(x) ((vm_bits64(x) - ((uint64_t)1 << 52)) | (vm_bits64(0x1.fffffffffffffp2) - vm_bits64(x)))
#define VM_GAMMALN_LAST_F64(x) ((vm_bits64(x) - vm_bits64(8.0)) | (vm_bits64(0x1.fffffffffffffp1023) - vm_bits64(x)))

/* -- gamma ------------------------------------------------------------------------------------------------- */

/* Up to 6: y - 1 + (y - 2) * (y - 3) * P(y - 3) for y from 2 to 4; divided by x * (x + 1) for y = x + 2, or multiplied by
   (x - 1) * (x - 2) for y = x - 2. */
VM_INLINE double vm_gamma_f64_fast(double x) {
    int below = x < 2.0, above = x >= 4.0;
    double e = x - (below ? 0.0 : above ? 4.0 : 2.0); /* y - 2 */
    double u = e - 1.0, s = u * u;
    double even = VM_HORNER(fma, s, 0x1.c5093ca5fac1cp-36, 0x1.15777228a6adfp-33, 0x1.68bced399e7c9p-30, 0x1.a8d6f07cbaeffp-27,
        0x1.32de46afa2772p-23, 0x1.4a515d6f56816p-19, 0x1.ceb40edba3561p-15, 0x1.2c4f7e88b00c9p-10, 0x1.229e59be51dabp-6,
        0x1.648d68f59faebp-3, 0x1.b0ee6072093cep-1);
    double odd = VM_HORNER(fma, s, -0x1.7b61e191c1cf9p-34, -0x1.6e16edbd69c1cp-32, -0x1.098b2da58db0bp-28,
        -0x1.eb0ad1d9c3e3ep-26, -0x1.d7d13cda64e9fp-25, 0x1.95a46343411e3p-18, 0x1.b79eb41c0c0c1p-13, 0x1.1a030cedb998dp-8,
        0x1.ca907b6ee1659p-5, 0x1.9a849100ce9b6p-2);
    double c = e + 1.0, cl = e - (c - 1.0), v = fma(e, e, -e), p = fma(u, odd, even);
    double n = fma(v, p, c), nl = fma(v, p, c - n) + cl;
    double a = above ? x - 2.0 : x, b = a + 1.0, bl = a - (b - 1.0);
    double w = a * b, wl = fma(a, bl, fma(a, b, -w));
    double d = below ? w : 1.0, dl = below ? wl : 0.0;
    w = above ? w : 1.0;
    wl = above ? wl : 0.0;
    p = n * w;
    double low, y = vm_quotient_two_f64(p, fma(nl, w, fma(n, wl, fma(n, w, -p))), d, dl, &low);
    return y + low;
}
VM_INLINE double vm_gamma_f64_middle(double x) {
    double low, y = vm_stirling_two_f64(x, &low);
    y = vm_exp_sum_f64(y, low);
    return x < 172.0 ? y : INFINITY;
}
VM_INLINE double vm_gamma_f64(double x) {
    double a = fabs(x), low;
    /* A selection that compilers do not turn into a branch, with which the loop would not vectorise. */
    double h = vm_gammaln_negative_f64(vm_select_f64(vm_less_f64(200.0, a), 200.5, a), &low);
    double y = vm_exp_sum_f64(h, low);
    double f = floor(x);
    y = f - 2.0 * floor(0.5 * f) == 1.0 ? -y : y;
    y = x == f ? NAN : y;
    y = a < 0x1p-60 ? 1.0 / x : y;
    y = x > 1.0 ? x : y;
    return x == x ? y : x;
}
/* Whether x is less than 2**-60 or at least 6, and whether it is less than 6, infinite or NaN */
#define VM_GAMMA_LATER_F64(x) ((vm_bits64(x) - vm_bits64(0x1p-60)) | (vm_bits64(0x1.7ffffffffffffp2) - vm_bits64(x)))
#define VM_GAMMA_LAST_F64(x) ((vm_bits64(x) - vm_bits64(6.0)) | (vm_bits64(0x1.fffffffffffffp1023) - vm_bits64(x)))

/* In double, as in float64. */
VM_INLINE float vm_gamma_f32_fast(float x) {
    double y = x;
    int below = x < 2.0f, above = x >= 4.0f;
    double u = y - (below ? 1.0 : above ? 5.0 : 3.0), s = u * u;
    double even = VM_HORNER(fma, s, 0x1.15877917d5e2cp-14, 0x1.62c38ee9371f3p-10, 0x1.69193e03d26cbp-6, 0x1.d7321047b11fap-3,
        0x1.3f1851ca4ef49p+0, 0x1.0000000771d04p+1);
    double odd = VM_HORNER(fma, s, 0x1.2dac4b067006dp-12, 0x1.63a50dfc10f45p-8, 0x1.2df96b38aa417p-4, 0x1.26656fd20e61fp-1,
        0x1.d877315e21062p+0);
    double a = above ? y - 2.0 : y, w = fma(a, a, a);
    double n = fma(u, odd, even);
    n = n * (above ? w : 1.0);
    return (float)(n / (below ? w : 1.0));
}
VM_INLINE float vm_gamma_f32_middle(float x) {
    double a = x > 40.0f ? 40.0 : x, y = vm_exp_wide(vm_stirling_short(a));
    return x < 37.0f ? (float)y : INFINITY;
}
VM_INLINE float vm_gamma_f32(float x) { return (float)vm_gamma_f64(x); }
#define VM_GAMMA_LATER_F32(x) ((vm_bits32(x) - vm_bits32(0x1p-60f)) | (vm_bits32(0x1.7ffffep2f) - vm_bits32(x)))
#define VM_GAMMA_LAST_F32(x) ((vm_bits32(x) - vm_bits32(6.0f)) | (vm_bits32(0x1.fffffep127f) - vm_bits32(x)))

/* -- digamma ----------------------------------------------------------------------------------------------- */

/* digamma(x + xl) for x from 1 to 6: (x - x0) / (x + 1) * (5/2 + P(x) / Q(x)), with x0 the root; the quotient of polynomials is
   below 0.15. */
VM_INLINE double vm_digamma_near_f64(double x, double xl, double *low) {
    double c = x - 0x1.762d86356be3fp+0;
    double cl = ((x - c) - 0x1.762d86356be3fp+0) + (xl - 0x1.b86a722197829p-54);
    double r = c + cl, rl = (c - r) + cl;
    double s = x + 1.0, ql;
    double q = vm_quotient_two_f64(r, rl, s, (x - (s - 1.0)) + xl, &ql);
    double top = VM_HORNER(fma, x, -0x1.af3cbc86ee8dbp+11, -0x1.b7e7a15d86fefp+17, -0x1.a2490e1469948p+21,
        -0x1.4009a4f73be2ep+23, 0x1.d38474ef1ef4fp+25, 0x1.16f110e474db1p+28, 0x1.7aa7611cd13cdp+26, -0x1.a3d660178781fp+28);
    double below = VM_HORNER(fma, x, 0x1.0000000000000p+0, -0x1.eb66d4a94e664p+9, -0x1.04b76d9c1ad07p+17,
        -0x1.0e1cff8af8ce5p+22, -0x1.aae87ac3bc57dp+25, -0x1.279e42b0885c6p+28, -0x1.6621a900bd5e3p+29, -0x1.32d2ecc902450p+29,
        0x1.bcf4a296d2fdcp-1);
    double p = 2.5 * q;
    double t = fma(q, top / below, fma(ql, 2.5, fma(q, 2.5, -p)));
    double y = p + t;
    *low = (p - y) + t;
    return y;
}
VM_INLINE double vm_digamma_f64_fast(double x) {
    double low;
    return vm_digamma_near_f64(x, 0.0, &low);
}

/* For all positive numbers: digamma(x + 1) - 1 / x below 1, and from 6 on log(x) - 1 / (2x) - ... */
VM_INLINE double vm_digamma_positive_f64(double x, double *low) {
    int far = x >= 6.0, small = x < 1.0;
    double a = small ? x + 1.0 : far ? 1.5 : x, nl, l, k, ql;
    double near = vm_digamma_near_f64(a, small ? x - (a - 1.0) : 0.0, &nl);
    double q = vm_quotient_two_f64(far ? 0.5 : small ? 1.0 : 0.0, 0.0, x, 0.0, &ql);
    double f = vm_log_split_fast_f64(far ? x : 1.0, &k) - 1.0;
    double h = vm_log_two_f64(k, f, 0.0, &l);
    double inverse = far ? q + q : 0.125, z = inverse * inverse;
    double rest = z * VM_HORNER(fma, z, -0x1.b76f6fcb66bbdp-3, 0x1.2d495cb44aa71p-4, -0x1.558a6d67286cep-6,
        0x1.f03d27ceab1bdp-8, -0x1.11107f9a827b6p-8, 0x1.0410404856758p-8, -0x1.11111110d62b8p-7, 0x1.555555555553cp-4);
    double first = far ? h : -q, second = far ? -q : near;
    first = small | far ? first : near;
    second = small | far ? second : 0.0;
    double sum = first + second;
    double v = sum - first;
    *low = ((first - (sum - v)) + (second - v)) + (far ? l - (rest + ql) : nl - ql);
    return sum;
}
VM_INLINE double vm_digamma_f64_middle(double x) {
    double low, y = vm_digamma_positive_f64(x, &low);
    return y + low;
}
/* digamma(-a) = digamma(a) + 1 / a + pi / tan(pi a) */
VM_INLINE double vm_digamma_f64(double x) {
    double a = fabs(x), low, tail, rl;
    int whole = rint(a) == a;
    double b = whole ? 1.5 : a;
    double g = vm_digamma_positive_f64(b < 0x1p-900 ? 1.0 : b, &low);
    double r = b - rint(b);
    double t = (r + r) + VM_ROUND64;
    double c = fma(t - VM_ROUND64, -0.5, r);
    double high = vm_product_two_f64(c, VM_PI_HI, VM_PI_LO, &rl);
    double s = vm_sin_two_f64(high, rl, vm_bits64(t), &tail);
    double cl, k = vm_sin_two_f64(high, rl, vm_bits64(t) + 1, &cl);
    double ql, q = vm_quotient_two_f64(k, cl, s, tail, &ql);
    double p = vm_product_two_f64(q, VM_PI_HI, VM_PI_LO, &tail);
    double il, i = vm_quotient_two_f64(1.0, 0.0, b, 0.0, &il);
    double d = g + i;
    double v = d - g;
    double dl = ((g - (d - v)) + (i - v)) + (low + il);
    double e = d + p;
    v = e - d;
    double y = e + (((d - (e - v)) + (p - v)) + (dl + fma(ql, VM_PI_HI, tail)));
    y = whole ? NAN : y;
    y = x > 0.0 ? x : y;
    y = a < 0x1p-900 ? -1.0 / x : y;
    return x == x ? y : x;
}
/* Whether x is not between 1 and 6, and whether x is not positive, or is out of range for the second body */
#define VM_DIGAMMA_LATER_F64(x) ((vm_bits64(x) - vm_bits64(1.0)) | (vm_bits64(0x1.7ffffffffffffp2) - vm_bits64(x)))
#define VM_DIGAMMA_LAST_F64(x) ((vm_bits64(x) - vm_bits64(0x1p-900)) | (vm_bits64(0x1.fffffffffffffp1023) - vm_bits64(x)))

/* -- float32, in double -------------------------------------------------------------------------------------- */

VM_INLINE float vm_gammaln_f32_fast(float x) {
    double a = x;
    int small = x < 1.25f;
    double n = floor(a - 0.25);
    n = small ? 0.0 : n;
    double t = a - n;
    double p = n > 0.0 ? 1.0 : a;
    for (int j = 1; j < 7; j++) {
        double w = p * (a - j);
        p = j < n ? w : p;
    }
    double u = t - 0.625, s = u * u;
    double even = VM_HORNER(fma, s, 0x1.efa6b5adf2494p-12, 0x1.e487bf27a34e2p-11, 0x1.b4e1779c4df78p-9, 0x1.88e6fb6f57b52p-7,
        0x1.aebb27c3bd556p-5, 0x1.dcfd3395bcf13p-2);
    double odd = VM_HORNER(fma, s, -0x1.252ef59c42306p-12, -0x1.08eddc98cba7dp-11, -0x1.dd2acf27fc923p-10,
        -0x1.973bf7dfa27bbp-8, -0x1.8c67255f8a5c6p-6, -0x1.0d79491d8d689p-3);
    double near = (t * (t - 1.0)) * fma(u, odd, even);
    double h = vm_log_wide(p);
    return (float)((small ? -h : h) + near);
}
VM_INLINE float vm_gammaln_f32_middle(float x) { return (float)vm_stirling_short(x); }
VM_INLINE float vm_gammaln_f32(float x) { return (float)vm_gammaln_f64(x); }
#define VM_GAMMALN_LATER_F32(x) ((vm_bits32(x) - 1u) | (vm_bits32(0x1.fffffep2f) - vm_bits32(x)))
#define VM_GAMMALN_LAST_F32(x) ((vm_bits32(x) - vm_bits32(8.0f)) | (vm_bits32(0x1.fffffep127f) - vm_bits32(x)))

VM_INLINE double vm_digamma_short(double x) {
    double top = VM_HORNER(fma, x, 0x1.7fb416de7d8ccp+1, 0x1.7b544976569c6p+5, -0x1.2beaee92c6e85p+7, -0x1.4786409d2abf8p+9,
        0x1.79f62cbe5fdf3p+9);
    double below = VM_HORNER(fma, x, 0x1.0000000000000p+0, 0x1.f116d33edb7ccp+5, 0x1.21f357892f3ffp+9, 0x1.146f360127125p+10,
        -0x1.d4ccbf2ac6df4p-3);
    return (x - 0x1.762d86356be3fp+0) / (x + 1.0) * (2.5 + top / below);
}
VM_INLINE float vm_digamma_f32_fast(float x) { return (float)vm_digamma_short(x); }
VM_INLINE float vm_digamma_f32_middle(float x) {
    double a = x, inverse = 1.0 / a, z = inverse * inverse;
    double near = vm_digamma_short(a < 1.0 ? a + 1.0 : 1.5) - inverse;
    double far = VM_HORNER(fma, z, -0x1.0410404856758p-8, 0x1.11111110d62b8p-7, -0x1.555555555553cp-4,
        fma(-0.5, inverse, vm_log_wide(a)));
    return (float)(a < 1.0 ? near : far);
}
VM_INLINE float vm_digamma_f32(float x) { return (float)vm_digamma_f64(x); }
#define VM_DIGAMMA_LATER_F32(x) ((vm_bits32(x) - vm_bits32(1.0f)) | (vm_bits32(0x1.7ffffep2f) - vm_bits32(x)))
#define VM_DIGAMMA_LAST_F32(x) ((vm_bits32(x) - 1u) | (vm_bits32(0x1.fffffep127f) - vm_bits32(x)))
