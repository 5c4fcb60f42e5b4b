/* Sine, cosine and tangent up to a limit, in both precisions; included twice by vecmath.h.

   Range: up to 2**30 in float64, 2**15 in float32; larger arguments in Note [Rare arguments]. Method: Cody and Waite's reduction by a
   multiple of pi/2, which is the sum of three numbers, and minimax polynomials. Their relative errors: 2**-58 (sine) and 2**-64 (cosine)
   in float64, 2**-28 and 2**-33 in float32. */

#if VM_PRECISION == 64
/* a - n * pi/2 for the nearest integer n, which is in the low bits of *t. The first difference is exact, and *low collects all later
   rounding errors: if x is near a multiple of pi/2, few bits of x and of the first parts of pi/2 remain. */
VM_INLINE double vm_reduce_f64(double a, double *low, double *t) {
    *t = fma(a, VM_2_PI, VM_ROUND64);
    double n = *t - VM_ROUND64;
    double r = fma(-n, VM_PI_2_HI, a);
    double p = n * VM_PI_2_LO;
    double high = r - p;
    *low = fma(n, 0x1.f1976b7ed8fbcp-110, ((r - high) - p) - fma(n, VM_PI_2_LO, -p));
    return high;
}

/* sin(high + low) - high on +-pi/4, for z = high**2 and w near cos(high); relative error of the sine 2**-58 */
VM_INLINE double vm_sin_tail_f64(double high, double low, double z, double w) {
    double p = VM_HORNER(fma, z, 0x1.5d925faf9cc05p-33, -0x1.ae5e64ae26284p-26, 0x1.71de3576c29e8p-19, -0x1.a01a019c121e4p-13,
        0x1.111111110f892p-7, -0x1.5555555555549p-3);
    return fma(high * z, p, low * w);
}

/* cos(r) - w, for r**2 = z + 2 * half with a small `half`, h = z / 2 and w = 1 - h, rounded; relative error of the cosine
   2**-64 */
VM_INLINE double vm_cos_tail_f64(double half, double z, double h, double w) {
    double p = VM_HORNER(fma, z, -0x1.8fb00467d6f9fp-37, 0x1.1ee9ef56d42fap-29, -0x1.27e4f810496f1p-22, 0x1.a01a019cbcdb8p-16,
        -0x1.6c16c16c15210p-10, 0x1.555555555554cp-5);
    return fma(z * z, p, ((1.0 - w) - h) - half);
}
#else
VM_INLINE float vm_reduce_f32(float a, float *low, float *t) {
    *t = fmaf(a, (float)VM_2_PI, VM_ROUND32);
    float n = *t - VM_ROUND32;
    float d = fmaf(-n, 0x1.921fb6p+0f, a);
    float m = n * 0x1.777a5cp-25f;
    float r = d + m;
    *low = fmaf(n, 0x1.ee59dap-50f, ((d - r) + m) + fmaf(n, 0x1.777a5cp-25f, -m));
    return r;
}

VM_INLINE float vm_sin_tail_f32(float r, float low, float z, float w) {
    float p = fmaf(z, fmaf(z, -0x1.9954a4p-13f, 0x1.11077ap-7f), -0x1.555546p-3f);
    return fmaf(r * z, p, low * w);
}

VM_INLINE float vm_cos_tail_f32(float half, float z, float h, float w) {
    float p = fmaf(z, fmaf(z, 0x1.99e0eep-16f, -0x1.6c0c1ap-10f), 0x1.55554ap-5f);
    return fmaf(z * z, p, fmaf(z, -0.5f, 1.0f - w) - half);
}
#endif

/* Sine of |x|, or with quarter = 1 the cosine: the sine shifted by a quarter turn. `turn` is n modulo 4. */
VM_INLINE VM_T VM_(sin_reduced)(VM_T high, VM_T low, VM_U turn) {
    VM_T z = high * high;
    VM_T h = VM_C(0.5) * z;
    VM_T w = VM_PICK(1.0 - h, fmaf(z, -0.5f, 1.0f));
    VM_T s = high + VM_(sin_tail)(high, low, z, w);
    VM_T c = w + VM_(cos_tail)(high * low, z, h, w);
    VM_T y = turn & 1 ? c : s;
    return VM_FROM_BITS(VM_AS_BITS(y) ^ (turn & 2) << (VM_PRECISION - 2));
}
VM_INLINE VM_T VM_(sin_shifted)(VM_T a, VM_U quarter) {
    VM_T low, t;
    VM_T high = VM_(reduce)(a, &low, &t);
    return VM_(sin_reduced)(high, low, VM_AS_BITS(t) + quarter);
}
VM_INLINE VM_T VM_FAST(sin)(VM_T x) {
    VM_T y = VM_(sin_shifted)(VM_FABS(x), 0);
    return VM_FROM_BITS(VM_AS_BITS(y) ^ (VM_AS_BITS(x) & VM_SIGN));
}
VM_INLINE VM_T VM_FAST(cos)(VM_T x) { return VM_(sin_shifted)(VM_FABS(x), 1); }

/* Tangent of high + low + n * pi/2: the sine divided by the cosine, or the cosine by minus the sine, each as a sum of two numbers. The
   remainder of the division gives the error of the quotient. */
VM_INLINE VM_T VM_(tan_reduced)(VM_T high, VM_T low, VM_U turn) {
    VM_T z = high * high;
    VM_T h = VM_C(0.5) * z;
    VM_T w = VM_PICK(1.0 - h, fmaf(z, -0.5f, 1.0f));
    VM_T zl = VM_FMA(high, high, -z); /* the rounding error of z */
    VM_T st = VM_FMA(high * zl, VM_PICK(-0x1.5555555555555p-3, -0x1.555556p-3f), VM_(sin_tail)(high, low, z, w));
    VM_T ct = VM_(cos_tail)(VM_FMA(high, low, VM_C(0.5) * zl), z, h, w);
    int odd = turn & 1;
    VM_T n = odd ? w : high, nl = odd ? ct : st;
    VM_T d = odd ? high : w, dl = odd ? st : ct;
    VM_T top = n + nl, sum = d + dl;
    VM_T inverse = 1 / sum;
    VM_T q = top * inverse;
    VM_T error = VM_FMA(-q, sum, top) + VM_FMA(-q, (d - sum) + dl, (n - top) + nl);
    VM_T y = VM_FMA(error, inverse, q);
    return VM_PICK(odd ? -y : y, vm_float(vm_bits32(y) ^ turn << 31));
}
VM_INLINE VM_T VM_FAST(tan)(VM_T x) {
    VM_T low, t;
    VM_T high = VM_(reduce)(VM_FABS(x), &low, &t);
    VM_T y = VM_(tan_reduced)(high, low, VM_AS_BITS(t));
    return VM_FROM_BITS(VM_AS_BITS(y) ^ (VM_AS_BITS(x) & VM_SIGN));
}
