/* Inverse trigonometric functions; included by vecmath.h. */

/* -- float32 --------------------------------------------------------------------------------------------- */

#define VM_PI_HI_F 0x1.921fb6p+1f
#define VM_PI_LO_F -0x1.777a5cp-24f
#define VM_PI_2_HI_F 0x1.921fb6p+0f
#define VM_PI_2_LO_F -0x1.777a5cp-25f

/* asin(t) / t - 1 for z = t**2 up to 1/4, relative error of the arc 2**-27.6 */
VM_INLINE float vm_asin_tail_f32(float z) {
    return z * VM_HORNER(fmaf, z, 0x1.596d64p-5f, 0x1.8c2d82p-6f, 0x1.747d06p-5f, 0x1.3301fcp-4f, 0x1.5555c8p-3f);
}

/* sqrt(z) with an error of 2**-18 of it, and a remainder, by Newton's method from an estimate of 1 / sqrt(z): faster than square
   root and division. z is at most 1/2. */
VM_INLINE float vm_sqrt_two_f32(float z, float *low) {
    float half = -0.5f * z;
    float y = vm_float(0x5f3759dfu - (vm_bits32(z) >> 1));
    y = y * fmaf(half * y, y, 1.5f);
    y = y * fmaf(half * y, y, 1.5f);
    float s = z * y;
    *low = fmaf(-s, s, z) * (0.5f * y);
    return s;
}

/* Beyond 1/2, asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)). */
VM_INLINE float vm_asin_f32(float x) {
    float a = fabsf(x), low;
    int big = a > 0.5f;
    float half = fmaf(a, -0.5f, 0.5f);
    float tail = vm_asin_tail_f32(big ? half : a * a);
    float root = vm_sqrt_two_f32(half, &low);
    float s = fmaf(root, -2.0f, VM_PI_2_HI_F);
    float e = fmaf(root, -2.0f, VM_PI_2_HI_F - s);
    float correction = fmaf(root + low, tail, low);
    float y = s + (e + fmaf(correction, -2.0f, VM_PI_2_LO_F));
    y = big ? y : fmaf(a, tail, a);
    return copysignf(a > 1.0f ? NAN : y, x);
}

VM_INLINE float vm_acos_f32(float x) {
    float a = fabsf(x), low;
    int big = a > 0.5f;
    float half = fmaf(a, -0.5f, 0.5f);
    float tail = vm_asin_tail_f32(big ? half : a * a);
    float root = vm_sqrt_two_f32(half, &low);
    /* 2 asin(root), or pi minus that, or pi/2 - asin(x) */
    float t = big ? 2.0f * root : a;
    float tl = big ? 2.0f * fmaf(root + low, tail, low) : a * tail;
    float base = big ? (x > 0.0f ? 0.0f : VM_PI_HI_F) : VM_PI_2_HI_F;
    float bl = big ? (x > 0.0f ? 0.0f : VM_PI_LO_F) : VM_PI_2_LO_F;
    uint32_t turn = big ? ~vm_bits32(x) : vm_bits32(x); /* whether to subtract */
    turn = ~turn & VM_SIGN32;
    t = vm_float(vm_bits32(t) ^ turn);
    tl = vm_float(vm_bits32(tl) ^ turn);
    float s = base + t;
    float e = t - (s - base);
    float y = s + (e + (bl + tl));
    return a > 1.0f ? NAN : y;
}

/* base + bl + atan(t + tl) for t between -1 and 1, relative error of the arc 2**-28.5. For t near 1, t**3 times the polynomial is
   large; its larger part is added together with its rounding error. */
#define VM_ATAN_PART 0x1.2p-2f
VM_INLINE float vm_atan_sum_f32(float base, float bl, float t, float tl) {
    float z = t * t;
    float p = VM_HORNER(fmaf, z, -0x1.d3459cp-10f, 0x1.641c52p-7f, -0x1.fd789p-6f, 0x1.da285p-5f, -0x1.5808d8p-4f, 0x1.c08c46p-4f,
        -0x1.242086p-3f, 0x1.9991e4p-3f, -0x1.55553ep-2f + VM_ATAN_PART);
    float cube = t * z, tail = fmaf(t, z, -cube);
    float first = base + t;
    float s = fmaf(cube, -VM_ATAN_PART, first);
    float e = fmaf(cube, -VM_ATAN_PART, first - s) + ((t - (first - base)) + bl);
    e = fmaf(tl, fmaf(z, -0.5f, 1.0f), e); /* tl / (1 + z), nearly */
    return s + fmaf(cube, p, fmaf(tail, -VM_ATAN_PART, e));
}

VM_INLINE float vm_atan_f32(float x) {
    float a = fabsf(x);
    int big = a > 1.0f;
    float n = big ? -1.0f : a, d = big ? a : 1.0f;
    float t = n / d;
    float tl = fmaf(-t, d, n) * -t; /* zero or the error of -1 / a */
    tl = a < INFINITY ? tl : 0.0f;
    float y = vm_atan_sum_f32(big ? VM_PI_2_HI_F : 0.0f, big ? VM_PI_2_LO_F : 0.0f, t, tl);
    return copysignf(y, x);
}

/* -- float32, computed in double ------------------------------------------------------------------------- */

/* atan(n / d) for n between -d and d, relative error 2**-28.5 */
VM_INLINE double vm_atan_short(double n, double d) {
    double t = n / d;
    double z = t * t, z2 = z * z;
    double p = ((-0x1.55553e573c15dp-2 + z * 0x1.9991fc3d3f1afp-3) + z2 * (-0x1.2421a9ece9151p-3
        + z * 0x1.c0997a6bd901dp-4)) + (z2 * z2) * (((-0x1.5832e914850c3p-4 + z * 0x1.dac3b9594fc60p-5)
        + z2 * (-0x1.fec41fc563aeap-6 + z * 0x1.65971ed961f8dp-7)) + (z2 * z2) * -0x1.d612e5f7a35c3p-10);
    return t + (t * z) * p;
}

/* The angle of (x, y). If both are zero or both are infinite, the quotient would be NaN: it is replaced. */
VM_INLINE float vm_atan2_wide(float y, float x) {
    float ay = fabsf(y), ax = fabsf(x);
    int same = (ay == ax) & ((ay == 0.0f) | (ay == INFINITY));
    float one = ay == 0.0f ? 0.0f : 1.0f;
    double a = same ? one : ay;
    double b = same ? 1.0f : ax;
    int steep = a > b;
    double t = vm_atan_short(steep ? -b : a, steep ? a : b);
    t = (steep ? VM_PI_2_HI : 0.0) + t;
    t = vm_bits32(x) >> 31 ? VM_PI_HI - t : t;
    t = ((x != x) | (y != y)) ? NAN : t;
    return copysignf((float)t, y);
}

/* For quotients that neither overflow nor are subnormal */
VM_INLINE uint32_t vm_atan2_rare_f32(float x) {
    uint32_t u = vm_bits32(x) & ~VM_SIGN32;
    return (u - vm_bits32(0x1p-60f)) | (vm_bits32(0x1p60f) - u);
}
VM_INLINE float vm_atan2_f32_fast(float y, float x, uint32_t *rare) {
    *rare = vm_atan2_rare_f32(y) | vm_atan2_rare_f32(x);
    float a = fabsf(y), b = fabsf(x);
    int steep = a > b;
    float d = steep ? a : b, n = steep ? b : a;
    /* The arc is added to or subtracted from the angle of the nearest axis: the sign changes if exactly one of steep and left is set. */
    uint32_t left = vm_bits32(x) & VM_SIGN32;
    uint32_t turn = steep ? left ^ VM_SIGN32 : left;
    n = vm_float(vm_bits32(n) ^ turn);
    float inverse = 1.0f / d;
    float t = n * inverse;
    float tl = fmaf(-t, d, n) * inverse;
    float base = steep ? VM_PI_2_HI_F : (left ? VM_PI_HI_F : 0.0f);
    float bl = steep ? VM_PI_2_LO_F : (left ? VM_PI_LO_F : 0.0f);
    return copysignf(vm_atan_sum_f32(base, bl, t, tl), y);
}

VM_INLINE float vm_atan2_f32(float y, float x) {
    uint32_t rare;
    float z = vm_atan2_f32_fast(y, x, &rare);
    return rare >> 31 ? vm_atan2_wide(y, x) : z;
}

/* -- float64 --------------------------------------------------------------------------------------------- */

/* asin(t) / t - 1 for z = t**2 up to 1/4, relative error of the arc 2**-59.9 */
VM_INLINE double vm_asin_tail_f64(double z) {
    double w = z * z;
    double even = VM_HORNER(fma, w, 0x1.0b73db6164ea4p-5, 0x1.63fa98ffa0da3p-6, 0x1.614f1de767603p-7, 0x1.ca1fe85d18439p-7,
        0x1.6e8bdf0c980f6p-6, 0x1.6db6db72153f0p-5, 0x1.5555555555577p-3);
    double odd = VM_HORNER(fma, w, -0x1.5888648664844p-6, 0x1.e4cdf4f05197ep-9, 0x1.75826b02b50b7p-7, 0x1.1c49ece2a4cf4p-6,
        0x1.f1c71a9399377p-6, 0x1.333333332e10bp-4);
    return z * fma(z, odd, even);
}

/* sqrt(z) as a truncated number and the remainder; z is 0 or at least 2**-900 */
VM_INLINE double vm_sqrt_two_f64(double z, double *low) {
    double s = sqrt(z);
    *low = fma(-s, s, z) / (s + s + 0x1p-600);
    return s;
}

VM_INLINE double vm_asin_f64(double x) {
    double a = fabs(x), low;
    int big = a > 0.5;
    double half = 0.5 - 0.5 * a;
    double z = big ? half : a * a;
    double root = vm_sqrt_two_f64(half, &low);
    double tail = vm_asin_tail_f64(z);
    double small = fma(a, tail, a);
    double lead = -2.0 * root;
    double s = VM_PI_2_HI + lead;
    double e = lead - (s - VM_PI_2_HI);
    double y = s + (e + fma(-2.0, fma(root + low, tail, low), VM_PI_2_LO));
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
    double tl = big ? 2.0 * fma(root + low, tail, low) : -(x * tail);
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

/* base + bl + atan((n + nl) / (d + dl)) for a quotient between -tan(pi/8) and tan(pi/8). The quotient is a truncated number and a
   remainder. Relative error of the arc 2**-59.4. */
VM_INLINE double vm_atan_sum_f64(double base, double bl, double n, double nl, double d, double dl) {
    double inverse = 1.0 / d;
    double t = n * inverse;
    double tl = (fma(-t, dl, nl) + fma(-t, d, n)) * inverse;
    double z = t * t, w = z * z;
    double even = VM_HORNER(fma, w, -0x1.24c0fab175a7cp-6, -0x1.9cb4c9ee4bea9p-5, -0x1.10eb451821154p-4, -0x1.745cf84c24a6cp-4,
        -0x1.24924922a0720p-3, -0x1.555555555553cp-2);
    double odd = VM_HORNER(fma, w, 0x1.3788f0115d9fdp-5, 0x1.df08b2d0ed774p-5, 0x1.3b110f0a7da81p-4, 0x1.c71c70e10bf2cp-4,
        0x1.999999999564fp-3);
    double s = base + t;
    double e = t - (s - base);
    return s + (e + fma(t * z, fma(z, odd, even), bl + tl));
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

/* The inverse of the power of two in a non-negative number, with the exponent limited so that the inverse is normal */
VM_INLINE double vm_inverse_scale_f64(double x) {
    uint64_t e = vm_bits64(x) >> 52;
    e = e < 1 ? 1 : e;
    e = e > 2045 ? 2045 : e;
    return vm_double((2046 - e) << 52);
}

/* The angle of (x, y). Both are scaled by the larger one. A quotient that may be subnormal is scaled up by 2**200, or replaced by
   zero if it is negligible compared with pi. If both are zero or both are infinite, the quotient would be NaN: it is
   replaced. */
VM_INLINE double vm_atan2_f64(double y, double x) {
    double a = fabs(y), b = fabs(x);
    double most = a > b ? a : b;
    double scale = vm_inverse_scale_f64(most);
    uint64_t left = -(vm_bits64(x) >> 63), tiny = vm_less_f64(a, b * 0x1p-800);
    double up = vm_select_f64(left, 0.0, 0x1p200);
    double ys = a * vm_select_f64(tiny, up, 1.0) * scale, xs = b * scale;
    /* Replace infinity by 1 and a finite number next to it by 0; replace two zeros by 0 and 1. */
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
    z = ((x != x) | (y != y)) ? NAN : z;
    return copysign(z, y);
}

/* -- hypot ----------------------------------------------------------------------------------------------- */

VM_INLINE float vm_hypot_f32(float x, float y) {
    double a = x, b = y;
    float z = (float)sqrt(a * a + b * b);
    return ((fabsf(x) == INFINITY) | (fabsf(y) == INFINITY)) ? INFINITY : z;
}

/* The square root of a sum of squares, which is computed with twice the digits */
VM_INLINE double vm_root_of_squares_f64(double most, double least) {
    double pl, ql;
    double p = vm_square_two_f64(most, &pl), q = vm_square_two_f64(least, &ql);
    double sum = p + q;
    double error = ((p - sum) + q) + (pl + ql);
    double s = sqrt(sum);
    return s + vm_sqrt_error_f64(sum, error, s);
}
VM_INLINE double vm_hypot_f64(double x, double y) {
    double a = fabs(x), b = fabs(y);
    double most = a > b ? a : b, least = a > b ? b : a;
    double scale = most > 0x1p500 ? 0x1p-600 : 1.0, back = most > 0x1p500 ? 0x1p600 : 1.0;
    scale = most < 0x1p-450 ? 0x1p600 : scale;
    back = most < 0x1p-450 ? 0x1p-600 : back;
    most = most * scale;
    least = least * scale;
    double z = vm_root_of_squares_f64(most, least) * back;
    z = ((x != x) | (y != y)) ? NAN : z;
    return ((a == INFINITY) | (b == INFINITY)) ? INFINITY : z;
}

/* The same if the larger number is 0 or from 2**-450 to 2**500; otherwise the first bit of `rare` is set. */
VM_INLINE double vm_hypot_f64_fast(double x, double y, uint64_t *rare) {
    double a = fabs(x), b = fabs(y);
    double most = a > b ? a : b, least = a > b ? b : a;
    uint64_t bits = vm_bits64(most);
    *rare = (vm_bits64(0x1p500) - bits) | ((bits - vm_bits64(0x1p-450)) & (0 - bits));
    return vm_root_of_squares_f64(most, least);
}
