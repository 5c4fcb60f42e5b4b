/* sinc, cosm1, and trigonometric functions of degrees. Included by vecmath_special.h. */

/* Sine of high + low + turn * pi/2, like vm_sin_reduced_f64, as the sum of the returned number and *tail */
VM_INLINE double vm_sin_two_f64(double high, double low, uint64_t turn, double *tail) {
    double z = high * high;
    double h = 0.5 * z;
    double w = 1.0 - h;
    double zl = fma(high, high, -z);
    double st = fma(high * zl, -0x1.5555555555555p-3, vm_sin_tail_f64(high, low, z, w));
    double ct = vm_cos_tail_f64(fma(high, low, 0.5 * zl), z, h, w);
    double n = turn & 1 ? w : high, nl = turn & 1 ? ct : st;
    double y = n + nl;
    uint64_t sign = (turn & 2) << 62;
    *tail = vm_double(vm_bits64((n - y) + nl) ^ sign);
    return vm_double(vm_bits64(y) ^ sign);
}

/* a * (unit + unit_low), as the sum of the returned number and *low */
VM_INLINE double vm_product_two_f64(double a, double unit, double unit_low, double *low) {
    double p = a * unit;
    *low = fma(a, unit_low, fma(a, unit, -p));
    return p;
}

/* sin(pi x) / (pi x). Reducing x by quarter turns is exact, so the result is 0 at every integer except 0. */
VM_INLINE double vm_sinc_f64(double x) {
    double a = fabs(x), low, sl, dl, ql;
    double b = a > 0x1p51 ? 0.0 : a; /* for a larger a the result is set to 0 below */
    double t = (b + b) + VM_ROUND64;
    double r = fma(t - VM_ROUND64, -0.5, b);
    double high = vm_product_two_f64(r, VM_PI_HI, VM_PI_LO, &low);
    double s = vm_sin_two_f64(high, low, vm_bits64(t), &sl);
    double d = vm_product_two_f64(b, VM_PI_HI, VM_PI_LO, &dl);
    double q = vm_quotient_two_f64(s, sl, d, dl, &ql);
    double y = q + ql;
    y = a > 0x1p51 ? 0.0 : y;
    y = a < 0x1p-30 ? 1.0 : y;
    return a < INFINITY ? y : NAN;
}
/* sin(pi x) / (pi x), computed as +-(r / x) * sin(pi r) / (pi r): r is x minus the nearest integer */
VM_INLINE float vm_sinc_f32(float x) {
    float a = fabsf(x);
    float b = fmaf(rintf(0.5f * a), -2.0f, a); /* without full turns */
    float t = b + VM_ROUND32;
    float r = b - (t - VM_ROUND32), z = r * r;
    float p = z * VM_HORNER(fmaf, z, 0x1.94f38cp-6f, -0x1.86071ep-3f, 0x1.9f9938p-1f, -0x1.a51a5ap+0f);
    float inverse = 1.0f / a, q = r * inverse;
    float y = q + fmaf(q, p, fmaf(-q, a, r) * inverse);
    y = vm_float(vm_bits32(y) ^ (vm_bits32(t) << 31));
    y = a < 0x1p-13f ? 1.0f : y;
    y = r == 0.0f ? (a < 0.5f ? 1.0f : 0.0f) : y;
    return a < INFINITY ? y : NAN;
}

/* cos(x) - 1 = -2 * sin(x / 2)**2 */
VM_INLINE double vm_cosm1_end_f64(double high, double low, uint64_t turn) {
    double sl, s = vm_sin_two_f64(high, low, turn, &sl);
    double p = s * s;
    return 0.0 - 2.0 * (p + fma(s + s, sl, fma(s, s, -p)));
}
VM_INLINE double vm_cosm1_f64_fast(double x) {
    double low, t;
    double high = vm_reduce_f64(0.5 * fabs(x), &low, &t);
    return vm_cosm1_end_f64(high, low, vm_bits64(t));
}
static __attribute__((noinline, unused)) double vm_cosm1_huge(double x) {
    double high, low;
    if (!(fabs(x) < INFINITY)) return x - x;
    int n = vm_reduce_huge(0.5 * fabs(x), &high, &low);
    return vm_cosm1_end_f64(high, low, (uint64_t)n);
}
VM_INLINE double vm_cosm1_f64(double x) {
    return fabs(x) <= VM_TRIG_LIMIT_F64 ? vm_cosm1_f64_fast(x) : vm_cosm1_huge(x);
}
VM_INLINE float vm_cosm1_f32_fast(float x) { return (float)vm_cosm1_f64_fast(x); }
VM_INLINE float vm_cosm1_f32(float x) { return (float)vm_cosm1_f64(x); }

/* Angles in degrees. Reducing them by right angles is exact. Beyond 10**14, neighbouring doubles differ by about a minute of arc, and
   SciPy returns 0. */
#define VM_DEGREES_END 1e14
VM_INLINE double vm_degrees_f64(double a, double *low, double *t) {
    *t = fma(a, 0x1.6c16c16c16c17p-7, VM_ROUND64);
    double r = fma(*t - VM_ROUND64, -90.0, a);
    return vm_product_two_f64(r, 0x1.1df46a2529d39p-6, 0x1.5c1d8becdd291p-62, low);
}
VM_INLINE double vm_sindg_f64(double x) {
    double a = fabs(x), low, t, tail;
    double high = vm_degrees_f64(a > VM_DEGREES_END ? 0.0 : a, &low, &t);
    double y = vm_sin_two_f64(high, low, vm_bits64(t), &tail);
    y = x == x ? y : x;
    return vm_double(vm_bits64(y) ^ (vm_bits64(x) & VM_SIGN64));
}
VM_INLINE double vm_cosdg_f64(double x) {
    double a = fabs(x), low, t, tail;
    double high = vm_degrees_f64(a > VM_DEGREES_END ? 0.0 : a, &low, &t);
    double y = vm_sin_two_f64(high, low, vm_bits64(t) + 1, &tail);
    y = a > VM_DEGREES_END ? 0.0 : y;
    return x == x ? y : x;
}
VM_INLINE double vm_tandg_f64(double x) {
    double a = fabs(x), low, t;
    double high = vm_degrees_f64(a > VM_DEGREES_END ? 0.0 : a, &low, &t);
    double y = vm_tan_reduced_f64(high, low, vm_bits64(t));
    double signed_y = vm_double(vm_bits64(y) ^ (vm_bits64(x) & VM_SIGN64));
    y = fabs(y) < INFINITY ? signed_y : INFINITY; /* a division by zero left NaN */
    return x == x ? y : x;
}
/* -tan(a + 90) */
VM_INLINE double vm_cotdg_f64(double x) {
    double a = fabs(x), low, t;
    double high = vm_degrees_f64(a > VM_DEGREES_END ? 0.0 : a, &low, &t);
    double y = -vm_tan_reduced_f64(high, low, vm_bits64(t) + 1);
    y = a > VM_DEGREES_END ? 0.0 : y;
    double signed_y = vm_double(vm_bits64(y) ^ (vm_bits64(x) & VM_SIGN64));
    y = fabs(y) < INFINITY ? signed_y : INFINITY;
    y = ((a < 0x1p-900) & (a > 0.0)) ? copysign(0x1.ca5dc1a63c1f8p+5 / a, x) : y;
    return x == x ? y : x;
}
VM_INLINE float vm_sindg_f32(float x) { return (float)vm_sindg_f64(x); }
VM_INLINE float vm_cosdg_f32(float x) { return (float)vm_cosdg_f64(x); }
VM_INLINE float vm_tandg_f32(float x) { return (float)vm_tandg_f64(x); }
VM_INLINE float vm_cotdg_f32(float x) { return (float)vm_cotdg_f64(x); }
