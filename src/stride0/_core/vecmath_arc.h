/* Inverse trigonometric functions; included by vecmath.h. */

#define VM_PI_HI 0x1.921fb54442d18p+1
#define VM_PI_LO 0x1.1a62633145c07p-53
#define VM_PI_2_HI 0x1.921fb54442d18p+0
#define VM_PI_2_LO 0x1.1a62633145c07p-54
#define VM_PI_4_HI 0x1.921fb54442d18p-1
#define VM_PI_4_LO 0x1.1a62633145c07p-55

/* -- float32, computed in double ------------------------------------------------------------------------- */

/* asin(t) for t = sqrt(z) up to 1/2, relative error 2**-31.7 */
VM_INLINE double vm_asin_short(double t, double z) {
    double p = (0x1.55554c5967e75p-3 + z * 0x1.33387fc6cb63bp-4) + (z * z) * ((0x1.6cae4fac86274p-5
        + z * 0x1.0496291496db4p-5) + (z * z) * (0x1.d8d7288fd6833p-7 + z * 0x1.337081aec00dcp-5));
    return t + (t * z) * p;
}

/* Beyond 1/2, asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)). */
VM_INLINE float vm_asin_f32(float x) {
    double a = fabsf(x);
    int big = a > 0.5;
    double z = big ? 0.5 - 0.5 * a : a * a;
    double root = sqrt(z);
    double y = vm_asin_short(big ? root : a, z);
    y = big ? VM_PI_2_HI - 2.0 * y : y;
    return copysignf((float)y, x);
}

VM_INLINE float vm_acos_f32(float x) {
    double a = fabsf(x);
    int big = a > 0.5;
    double z = big ? 0.5 - 0.5 * a : a * a;
    double root = sqrt(z);
    double y = vm_asin_short(big ? root + root : (double)x, z);
    double turned = (x > 0.0f ? 0.0 : VM_PI_HI) + (x > 0.0f ? y : -y);
    return (float)(big ? turned : VM_PI_2_HI - y);
}

/* atan(n / d) for n between -d and d, relative error 2**-28.5 */
VM_INLINE double vm_atan_short(double n, double d) {
    double t = n / d;
    double z = t * t, z2 = z * z;
    double p = ((-0x1.55553e573c15dp-2 + z * 0x1.9991fc3d3f1afp-3) + z2 * (-0x1.2421a9ece9151p-3
        + z * 0x1.c0997a6bd901dp-4)) + (z2 * z2) * (((-0x1.5832e914850c3p-4 + z * 0x1.dac3b9594fc60p-5)
        + z2 * (-0x1.fec41fc563aeap-6 + z * 0x1.65971ed961f8dp-7)) + (z2 * z2) * -0x1.d612e5f7a35c3p-10);
    return t + (t * z) * p;
}

VM_INLINE float vm_atan_f32(float x) {
    double a = fabsf(x);
    int big = a > 1.0;
    double y = vm_atan_short(big ? -1.0 : a, big ? a : 1.0);
    y = (big ? VM_PI_2_HI : 0.0) + y;
    return copysignf((float)y, x);
}

/* The angle of (x, y). Two zeros and two infinities make a quotient that is none. */
VM_INLINE float vm_atan2_f32(float y, float x) {
    float ay = fabsf(y), ax = fabsf(x);
    int same = (ay == ax) & ((ay == 0.0f) | (ay == INFINITY));
    float one = ay == 0.0f ? 0.0f : 1.0f;
    double a = same ? one : ay;
    double b = same ? 1.0f : ax;
    int steep = a > b;
    double t = vm_atan_short(steep ? -b : a, steep ? a : b);
    t = (steep ? VM_PI_2_HI : 0.0) + t;
    t = vm_bits32(x) >> 31 ? VM_PI_HI - t : t;
    t = (x != x) | (y != y) ? NAN : t;
    return copysignf((float)t, y);
}

/* -- float64 --------------------------------------------------------------------------------------------- */

/* asin(t) / t - 1 for z = t**2 up to 1/4, relative error of the arc 2**-59.9 */
VM_INLINE double vm_asin_tail_f64(double z) {
    double z2 = z * z, z4 = z2 * z2;
    double a = (0x1.5555555555577p-3 + z * 0x1.333333332e10bp-4)
        + z2 * (0x1.6db6db72153f0p-5 + z * 0x1.f1c71a9399377p-6);
    double b = (0x1.6e8bdf0c980f6p-6 + z * 0x1.1c49ece2a4cf4p-6)
        + z2 * (0x1.ca1fe85d18439p-7 + z * 0x1.75826b02b50b7p-7);
    double c = (0x1.614f1de767603p-7 + z * 0x1.e4cdf4f05197ep-9)
        + z2 * (0x1.63fa98ffa0da3p-6 + z * -0x1.5888648664844p-6);
    return z * (a + z4 * (b + z4 * (c + z4 * 0x1.0b73db6164ea4p-5)));
}

/* sqrt(z) as a cut number and the rest; z neither negative nor, unless zero, below 2**-900 */
VM_INLINE double vm_sqrt_two_f64(double z, double *low) {
    double s = sqrt(z);
    double sh = vm_cut(s, 27);
    *low = (z - sh * sh) / (s + sh + 0x1p-600);
    return sh;
}

VM_INLINE double vm_asin_f64(double x) {
    double a = fabs(x), low;
    int big = a > 0.5;
    double half = 0.5 - 0.5 * a;
    double z = big ? half : a * a;
    double root = vm_sqrt_two_f64(half, &low);
    double tail = vm_asin_tail_f64(z);
    double small = a + a * tail;
    double lead = -2.0 * root;
    double s = VM_PI_2_HI + lead;
    double e = lead - (s - VM_PI_2_HI);
    double y = s + (e + (VM_PI_2_LO - 2.0 * (low + (root + low) * tail)));
    y = big ? y : small;
    return copysign(a > 1.0 ? NAN : y, x);
}

VM_INLINE double vm_acos_f64(double x) {
    double a = fabs(x), low;
    int big = a > 0.5;
    double half = 0.5 - 0.5 * a;
    double z = big ? half : a * a;
    double root = vm_sqrt_two_f64(half, &low);
    double tail = vm_asin_tail_f64(z);
    /* pi/2 - asin(x), or 2 asin(root), or pi - that */
    double t = big ? 2.0 * root : -x;
    double tl = big ? 2.0 * (low + (root + low) * tail) : -(x * tail);
    int back = big & (x < 0.0), front = big & (x > 0.0);
    t = back ? -t : t;
    tl = back ? -tl : tl;
    double base = back ? VM_PI_HI : VM_PI_2_HI, bl = back ? VM_PI_LO : VM_PI_2_LO;
    base = front ? 0.0 : base;
    bl = front ? 0.0 : bl;
    double s = base + t;
    double e = t - (s - base);
    double y = s + (e + (bl + tl));
    return a > 1.0 ? NAN : y;
}

/* base + bl + atan((n + nl) / (d + dl)) with the quotient between -tan(pi/8) and tan(pi/8): the quotient is
   taken as a cut number and a rest. Relative error of the arc 2**-59.4. */
VM_INLINE double vm_atan_sum_f64(double base, double bl, double n, double nl, double d, double dl) {
    double inverse = 1.0 / d;
    double q = vm_cut(n * inverse, 27);
    double dh = vm_cut(d, 26);
    double ql = (((n - q * dh) - q * ((d - dh) + dl)) + nl) * inverse;
    double t = q + ql;
    double tl = (q - t) + ql;
    double z = t * t, z2 = z * z, z4 = z2 * z2;
    double p = ((-0x1.555555555553cp-2 + z * 0x1.999999999564fp-3)
            + z2 * (-0x1.24924922a0720p-3 + z * 0x1.c71c70e10bf2cp-4))
        + z4 * (((-0x1.745cf84c24a6cp-4 + z * 0x1.3b110f0a7da81p-4)
            + z2 * (-0x1.10eb451821154p-4 + z * 0x1.df08b2d0ed774p-5))
        + z4 * ((-0x1.9cb4c9ee4bea9p-5 + z * 0x1.3788f0115d9fdp-5) + z2 * -0x1.24c0fab175a7cp-6));
    double s = base + t;
    double e = t - (s - base);
    return s + (e + ((bl + tl) + (t * z) * p));
}

#define VM_TAN_PI_8 0x1.a827999fcef32p-2
#define VM_TAN_3PI_8 0x1.3504f333f9de6p+1

VM_INLINE double vm_atan_f64(double x) {
    double a = fabs(x);
    a = a > 0x1p60 ? 0x1p60 : a;
    uint64_t flat = vm_less_f64(a, VM_TAN_PI_8), steep = vm_less_f64(VM_TAN_3PI_8, a);
    uint64_t middle = ~(flat | steep);
    double n = a - 1.0;
    double nl = a - (n + 1.0);
    double d = a + 1.0, b = d - a;
    double dl = (1.0 - b) + (a - (d - b));
    n = vm_select_f64(flat, a, vm_select_f64(steep, -1.0, n));
    d = vm_select_f64(flat, 1.0, vm_select_f64(steep, a, d));
    nl = vm_select_f64(middle, nl, 0.0);
    dl = vm_select_f64(middle, dl, 0.0);
    double base = vm_select_f64(flat, 0.0, vm_select_f64(steep, VM_PI_2_HI, VM_PI_4_HI));
    double bl = vm_select_f64(flat, 0.0, vm_select_f64(steep, VM_PI_2_LO, VM_PI_4_LO));
    return copysign(vm_atan_sum_f64(base, bl, n, nl, d, dl), x);
}

/* The exponent of a number that is not negative, kept from those whose inverse has none */
VM_INLINE double vm_inverse_scale_f64(double x) {
    uint64_t e = vm_bits64(x) >> 52;
    e = e < 1 ? 1 : e;
    e = e > 2045 ? 2045 : e;
    return vm_double((2046 - e) << 52);
}

/* The angle of (x, y). Both are scaled by the larger one. A quotient that may be subnormal is taken 2**200
   times larger, and as zero where it does not count against pi. Two zeros and two infinities make a
   quotient that is none. */
VM_INLINE double vm_atan2_f64(double y, double x) {
    double a = fabs(y), b = fabs(x);
    double most = a > b ? a : b;
    double scale = vm_inverse_scale_f64(most);
    uint64_t left = -(vm_bits64(x) >> 63), tiny = vm_less_f64(a, b * 0x1p-800);
    double up = vm_select_f64(left, 0.0, 0x1p200);
    double ys = a * vm_select_f64(tiny, up, 1.0) * scale, xs = b * scale;
    /* An infinite one stands for 1 and the other for 0; two zeros for 0 and 1. */
    ys = most == INFINITY ? (a == INFINITY ? 1.0 : 0.0) : ys;
    xs = most == INFINITY ? (b == INFINITY ? 1.0 : 0.0) : xs;
    xs = most == 0.0 ? 1.0 : xs;
    uint64_t flat = vm_less_f64(ys, VM_TAN_PI_8 * xs), steep = vm_less_f64(VM_TAN_3PI_8 * xs, ys);
    uint64_t middle = ~(flat | steep);
    double n = ys - xs;
    double c = n - ys;
    double nl = (ys - (n - c)) - (xs + c);
    double d = ys + xs;
    double e = d - ys;
    double dl = (xs - e) + (ys - (d - e));
    n = vm_select_f64(flat, ys, vm_select_f64(steep, -xs, n));
    d = vm_select_f64(flat, xs, vm_select_f64(steep, ys, d));
    nl = vm_select_f64(middle, nl, 0.0);
    dl = vm_select_f64(middle, dl, 0.0);
    /* The angle from the x axis, or pi minus it */
    double base = vm_select_f64(flat, vm_select_f64(left, VM_PI_HI, 0.0),
        vm_select_f64(steep, VM_PI_2_HI, vm_select_f64(left, 3.0 * VM_PI_4_HI, VM_PI_4_HI)));
    double bl = vm_select_f64(flat, vm_select_f64(left, VM_PI_LO, 0.0),
        vm_select_f64(steep, VM_PI_2_LO, vm_select_f64(left, 0x1.a79394c9e8a0ap-54, VM_PI_4_LO)));
    double sign = vm_select_f64(left, -1.0, 1.0);
    double z = vm_atan_sum_f64(base, bl, sign * n, sign * nl, d, dl);
    z = z * vm_select_f64(tiny & ~left, 0x1p-200, 1.0);
    z = (x != x) | (y != y) ? NAN : z;
    return copysign(z, y);
}

/* -- hypot ----------------------------------------------------------------------------------------------- */

VM_INLINE float vm_hypot_f32(float x, float y) {
    double a = x, b = y;
    float z = (float)sqrt(a * a + b * b);
    return (fabsf(x) == INFINITY) | (fabsf(y) == INFINITY) ? INFINITY : z;
}

/* The square root of a sum of squares that is known to twice the digits */
VM_INLINE double vm_hypot_f64(double x, double y) {
    double a = fabs(x), b = fabs(y);
    double most = a > b ? a : b, least = a > b ? b : a;
    double scale = most > 0x1p500 ? 0x1p-600 : 1.0, back = most > 0x1p500 ? 0x1p600 : 1.0;
    scale = most < 0x1p-450 ? 0x1p600 : scale;
    back = most < 0x1p-450 ? 0x1p-600 : back;
    most = most * scale;
    least = least * scale;
    double pl, ql;
    double p = vm_square_two_f64(most, &pl), q = vm_square_two_f64(least, &ql);
    double sum = p + q;
    double error = ((p - sum) + q) + (pl + ql);
    double s = sqrt(sum);
    double z = (s + vm_sqrt_rest_f64(sum, error, s)) * back;
    z = (x != x) | (y != y) ? NAN : z;
    return (a == INFINITY) | (b == INFINITY) ? INFINITY : z;
}
