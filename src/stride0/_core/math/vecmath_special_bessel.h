/* Modified Bessel functions of order 0 and 1, plain and times e**-|x|; included by vecmath_special.h. Tables have a row for each order.
   The order is a compile-time constant at each use, so compilers treat the elements of a row as constants. */

#define VM_POLY_4(s, c) VM_HORNER(fma, s, (c)[3], (c)[2], (c)[1], (c)[0])
#define VM_POLY_5(s, c) fma(s, VM_POLY_4(s, (c) + 1), (c)[0])
#define VM_POLY_6(s, c) fma(s, VM_POLY_5(s, (c) + 1), (c)[0])
#define VM_POLY_7(s, c) fma(s, VM_POLY_6(s, (c) + 1), (c)[0])
#define VM_POLY_11(s, c)                                                                                     \
    VM_HORNER(fma, s, VM_POLY_7(s, (c) + 4), (c)[3], (c)[2], (c)[1], (c)[0])

/* Polynomials for (I_0(x) - 1) / z and (2 * I_1(x) / x - 1) / z with z = x**2 / 4, up to 7.75 */
static const double VM_BESSEL_NEAR_EVEN[2][8] = {
    {0x1.0000000000000p+0, 0x1.c71c71c71c770p-6, 0x1.23456789b6b97p-14, 0x1.522a440d6dc71p-25,
        0x1.0b3147ba29821p-37, 0x1.69debbf16e446p-51, 0x1.f0ad0acee6e98p-66, 0x1.15ef73dae069ep-80},
    {0x1.0000000000000p-1, 0x1.c71c71c71c737p-8, 0x1.845c8a0ceb671p-17, 0x1.522a4402c7189p-28,
        0x1.ab82001657ec3p-41, 0x1.e277388dbc2b7p-55, 0x1.1aea177399d00p-69, 0x1.0ff6cf192e165p-84},
};
static const double VM_BESSEL_NEAR_ODD[2][7] = {
    {0x1.ffffffffffffep-3, 0x1.c71c71c71bcb5p-10, 0x1.02e85c07ba945p-19, 0x1.522a4250c7d35p-31,
        0x1.5600024373c05p-44, 0x1.40db14854ef70p-58, 0x1.15fd9b2651abap-73},
    {0x1.5555555555555p-4, 0x1.6c16c16c168f0p-12, 0x1.27e4fb770e1e9p-22, 0x1.2c9757fe5ae4bp-34,
        0x1.f175121da38d2p-48, 0x1.8b182e772b662p-62, 0x1.2d6d8dd9db9ebp-77},
};

/* For sqrt(x) * e**-x * I_n(x) with q = 15.5 / x - 1, from 7.75 on. The first coefficient, as two numbers, and the others */
static const double VM_BESSEL_FAR_HEAD[2][2] = {
    {0x1.9bf09d24c9fb6p-2, 0x1.8bc16bd6babc4p-59},
    {0x1.8e6bf6fae06bdp-2, 0x1.3576ac40663e5p-57},
};
static const double VM_BESSEL_FAR_EVEN[2][11] = {
    {0x1.c7e07b9f99300p-9, 0x1.a271ce6165cccp-17, 0x1.8cf5bd6fd5f51p-22, 0x1.e459e3719797fp-25,
        0x1.9b78e87993c31p-28, -0x1.6113ac17149fdp-26, 0x1.f3aa5980195acp-27, -0x1.10f8aff1fb3ffp-27,
        0x1.da2a781909b2ep-29, -0x1.1746a989bae77p-30, 0x1.3ede58fdc5045p-33},
    {-0x1.4a4281867f44ap-7, -0x1.19f47a7be9bcbp-16, -0x1.d0088097537dap-22, -0x1.0946f0338b285p-24,
        -0x1.e81783f58c788p-28, 0x1.75656d2c11a75p-26, -0x1.01ab4726a6465p-26, 0x1.155511f29bc03p-27,
        -0x1.ddd7ffad6e8f6p-29, 0x1.186470ad8a46cp-30, -0x1.3fae335f64f7bp-33},
};
static const double VM_BESSEL_FAR_ODD[2][11] = {
    {0x1.32d2e3d8f89bbp-13, 0x1.d34ef6f6e46b0p-20, 0x1.fe83b0193812bp-24, 0x1.02d7b063ea875p-25,
        -0x1.199d4d79f0fa6p-26, -0x1.c8330c7c7f3ffp-30, 0x1.ab8df4e2f81c2p-28, -0x1.54ea9d5bed9edp-28,
        0x1.52b55fc1607a2p-29, -0x1.98a4fb0a51f2cp-31, 0x1.c626debc83a7fp-34},
    {-0x1.ed3096ec318c3p-13, -0x1.206f696ef39c8p-19, -0x1.1ef79341a11cbp-23, -0x1.19d9e92211d6cp-25,
        0x1.1fa756b49f3ecp-26, 0x1.40399305bb595p-29, -0x1.d5fff62d82515p-28, 0x1.6e014535b6e0bp-28,
        -0x1.6802d92cd2c59p-29, 0x1.afb8129c9e965p-31, -0x1.dd9a6bc072cf2p-34},
};

/* c + (x + xl) * y as two numbers */
VM_INLINE double vm_plus_product(double c, double x, double xl, double y, double *low) {
    double p = x * y, s = c + p, v = s - c;
    *low = ((c - (s - v)) + (p - v)) + fma(xl, y, fma(x, y, -p));
    return s;
}

/* e**-a * I_n(a) for a >= 0 as two numbers; or I_n(a), divided by *unit, which is 2**64 for a above 600. */
VM_INLINE double vm_bessel_two_f64(double a, int n, int scaled, double *low, double *unit) {
    int near = a < 7.75;
    double z = near ? 0.25 * a * a : 1.0, s = z * z;
    double zl = near ? fma(0.5 * a, 0.5 * a, -z) : 0.0;
    double even = VM_POLY_7(s, VM_BESSEL_NEAR_EVEN[n] + 1), odd = VM_POLY_6(s, VM_BESSEL_NEAR_ODD[n] + 1);
    /* The error comes from the last sums. */
    double sl = fma(z, z, -s), ol, el, pl;
    double o = vm_plus_product(VM_BESSEL_NEAR_ODD[n][0], s, sl, odd, &ol);
    double e = vm_plus_product(VM_BESSEL_NEAR_EVEN[n][0], s, sl, even, &el);
    double p = vm_plus_product(e, z, 0.0, o, &pl);
    pl = pl + fma(z, ol, el);
    double w = z * p;
    double top = 1.0 + w, v = top - 1.0;
    double inverse = 1.0 / (near ? a + (n ? 1.8 : 0.55) : a);
    /* The derivative of the logarithm is near 2 * inverse. */
    double top_low = ((1.0 - (top - v)) + (w - v)) + fma(zl, top * (inverse + inverse), fma(z, pl, fma(z, p, -w)));
    if (n) {
        v = 0.5 * a;
        w = top * v;
        top_low = fma(top_low, v, fma(top, v, -w));
        top = w;
    }
    double q = fma(15.5, inverse, -1.0);
    s = q * q;
    p = fma(q, VM_POLY_11(s, VM_BESSEL_FAR_ODD[n]), VM_POLY_11(s, VM_BESSEL_FAR_EVEN[n]));
    double far = fma(q, p, VM_BESSEL_FAR_HEAD[n][0]);
    double far_low = fma(q, p, VM_BESSEL_FAR_HEAD[n][0] - far) + VM_BESSEL_FAR_HEAD[n][1];
    double root = sqrt(inverse), square = root * root;
    double error = fma(-a, square, 1.0) - a * fma(root, root, -square);
    double root_low = 0.5 * root * error;
    w = far * root;
    far_low = fma(far, root_low, fma(far_low, root, fma(far, root, -w)));
    top = near ? top : w;
    top_low = near ? top_low : far_low;
    /* The plain and the scaled function differ by an exponential. */
    int plain = near ? scaled : !scaled;
    double b = plain ? (near ? -a : a > 720.0 ? 720.0 : a) : 0.0, t;
    e = vm_exp_two_f64(b, 0.0, &el, &t);
    double scale = vm_double((vm_bits64(t) << 52) + ((uint64_t)(b > 600.0 ? 1023 - 64 : 1023) << 52));
    *unit = b > 600.0 ? 0x1p64 : 1.0;
    double y = top * e;
    *low = fma(top, el, fma(top_low, e, fma(top, e, -y))) * scale;
    return y * scale;
}
VM_INLINE double vm_i0_f64(double x) {
    double low, unit, a = fabs(x), y = vm_bessel_two_f64(a, 0, 0, &low, &unit);
    y = (y + low) * unit;
    y = a > 715.0 ? (a < INFINITY ? INFINITY : NAN) : y;
    return y;
}
VM_INLINE double vm_i0e_f64(double x) {
    double low, unit, a = fabs(x), y = vm_bessel_two_f64(a, 0, 1, &low, &unit);
    y = a < 0x1p900 ? y + low : 0x1.9884533d43651p-2 / sqrt(a);
    return y;
}

VM_INLINE double vm_i1_f64(double x) {
    double low, unit, a = fabs(x), y = vm_bessel_two_f64(a, 1, 0, &low, &unit);
    y = (y + low) * unit;
    y = a > 715.0 ? (a < INFINITY ? INFINITY : NAN) : y;
    y = a < 0x1p-500 ? 0.5 * a : y;
    return copysign(y, x);
}
VM_INLINE double vm_i1e_f64(double x) {
    double low, unit, a = fabs(x), y = vm_bessel_two_f64(a, 1, 1, &low, &unit);
    y = a < 0x1p900 ? y + low : 0x1.9884533d43651p-2 / sqrt(a);
    y = a < 0x1p-500 ? 0.5 * a : y;
    return copysign(y, x);
}

/* Polynomials with fewer coefficients for the same functions, in double, for float32 */
static const double VM_BESSEL_SHORT_NEAR_EVEN[2][5] = {
    {0x1.ffffffe4545bep-1, 0x1.c71c522685b8ap-6, 0x1.233ad8f8461f8p-14, 0x1.4ee4eb37c1ebdp-25,
        0x1.8654fef086836p-38},
    {0x1.fffffff697b8cp-2, 0x1.c71c6180b12f9p-8, 0x1.8453768062c32p-17, 0x1.4fad4a7ad0f52p-28,
        0x1.46ec390edc7e4p-41},
};
static const double VM_BESSEL_SHORT_NEAR_ODD[2][5] = {
    {0x1.0000012992f5bp-2, 0x1.c71dfe9f9d36bp-10, 0x1.033d35e02769bp-19, 0x1.6612d4f9b4fa7p-31,
        0x1.34afd403deaf9p-43},
    {0x1.555556028702fp-4, 0x1.6c177a604f72cp-12, 0x1.28293933dc75dp-22, 0x1.3b0b8393e5df1p-34,
        0x1.b31918235455cp-47},
};
static const double VM_BESSEL_SHORT_FAR_EVEN[2][5] = {
    {0x1.9bf09d24280b9p-2, 0x1.32d3ba7ed5646p-13, 0x1.d04a580215e37p-20, 0x1.3fab594d8d507p-23,
        -0x1.5f43342730fa7p-28},
    {0x1.8e6bf6fb96912p-2, -0x1.ed3185dde1261p-13, -0x1.1ec6ca597bfffp-19, -0x1.64bada3680f96p-23,
        0x1.3e82348090900p-28},
};
static const double VM_BESSEL_SHORT_FAR_ODD[2][4] = {
    {0x1.c7e07f4609ee5p-9, 0x1.a24165b2824a0p-17, 0x1.a15b38fd7a236p-22, 0x1.402644c0c1301p-25},
    {-0x1.4a428275e10a2p-7, -0x1.19dba304c4f9fp-16, -0x1.e4e18852d327fp-22, -0x1.6e667ec135dd0p-25},
};

VM_INLINE double vm_bessel_short(double a, int n, int scaled) {
    int near = a < 7.75;
    double z = near ? 0.25 * a * a : 1.0, s = z * z;
    double even = VM_POLY_5(s, VM_BESSEL_SHORT_NEAR_EVEN[n]), odd = VM_POLY_5(s, VM_BESSEL_SHORT_NEAR_ODD[n]);
    double y = fma(z, fma(z, odd, even), 1.0) * (n ? 0.5 * a : 1.0);
    double inverse = 1.0 / (near ? 8.0 : a);
    double q = fma(15.5, inverse, -1.0);
    s = q * q;
    even = VM_POLY_5(s, VM_BESSEL_SHORT_FAR_EVEN[n]);
    odd = VM_POLY_4(s, VM_BESSEL_SHORT_FAR_ODD[n]);
    y = near ? y : fma(q, odd, even) * sqrt(inverse);
    int plain = near ? scaled : !scaled;
    return y * vm_exp_wide(plain ? (near ? -a : a > 100.0 ? 100.0 : a) : 0.0);
}
VM_INLINE float vm_i0_f32(float x) {
    double a = fabsf(x), y = vm_bessel_short(a, 0, 0);
    y = a > 100.0 ? (a < INFINITY ? INFINITY : NAN) : y;
    y = a == a ? y : a;
    return (float)y;
}
VM_INLINE float vm_i0e_f32(float x) {
    double a = fabsf(x), y = vm_bessel_short(a, 0, 1);
    y = a == a ? y : a;
    return (float)y;
}
VM_INLINE float vm_i1_f32(float x) {
    double a = fabsf(x), y = vm_bessel_short(a, 1, 0);
    y = a > 100.0 ? (a < INFINITY ? INFINITY : NAN) : y;
    y = a == a ? y : a;
    return (float)(x < 0.0f ? -y : y);
}
VM_INLINE float vm_i1e_f32(float x) {
    double a = fabsf(x), y = vm_bessel_short(a, 1, 1);
    y = a == a ? y : a;
    return (float)(x < 0.0f ? -y : y);
}
