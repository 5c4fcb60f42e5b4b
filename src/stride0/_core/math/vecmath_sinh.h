/* sinh and cosh in both precisions; included twice by vecmath.h.

   Range: all numbers. Method: the reduction of vecmath_exp.h, and minimax polynomials of r. Relative errors of sinh(r) and cosh(r) - 1
   for |r| <= ln(2) / 2: 2**-61 and 2**-70 in float64. */

#if VM_PRECISION == 64
/* The reduced argument as rh with 26 bits and rl, and a quarter of 2**k and of 2**-k: half of the result is computed first, which
   does not overflow too early. */
VM_INLINE double vm_reduce_exp_f64(double a, double *rl, double *up, double *down) {
    double t = a * VM_LOG2E + VM_ROUND64;
    double k = t - VM_ROUND64;
    double d = a - k * VM_LN2_HI;
    double w = k * VM_LN2_LO;
    double r = d - w;
    double rh = vm_truncated(r, 27);
    *rl = (r - rh) + ((d - r) - w);
    *up = vm_double((vm_bits64(t) << 52) + ((uint64_t)1021 << 52));
    double v = vm_double(((uint64_t)1021 << 52) - (vm_bits64(t) << 52));
    *down = k > 1000.0 ? 0.0 : v; /* the exponent would be out of range */
    return rh;
}

/* sinh(r) - rh and cosh(r) - 1 for r = rh + rl on +-ln(2)/2 */
VM_INLINE double vm_sinh_tail_f64(double r, double z, double rl) {
    double p = VM_HORNER(fma, z, 0x1.af5ff3056b6e1p-26, 0x1.71ddf7aff638ep-19, 0x1.a01a01b0204d0p-13, 0x1.111111110f62ap-7,
        0x1.5555555555559p-3);
    return fma(r * z, p, rl);
}
VM_INLINE double vm_cosh_tail_f64(double z) {
    double p = VM_HORNER(fma, z, 0x1.1f8bef0dad021p-29, 0x1.27e4cc090e4cep-22, 0x1.a01a01ad81040p-16, 0x1.6c16c16c14ffap-10,
        0x1.5555555555558p-5);
    return z * fma(z, p, 0.5);
}
#else
VM_INLINE float vm_sinh_tail_f32(float r, float z, float rl) {
    return fmaf(z * r, fmaf(z, fmaf(z, 0x1.a2e33p-13f, 0x1.110fbep-7f), 0x1.555556p-3f), rl);
}
VM_INLINE float vm_cosh_tail_f32(float z) { return z * fmaf(z, fmaf(z, 0x1.6d4f1p-10f, 0x1.5554e6p-5f), 0.5f); }
#endif

/* With x = k ln(2) + r, twice the sum and the difference of e**x and e**-x are a * cosh(r) + b * sinh(r). Here a and b are the sum
   and the difference of 2**k and 2**-k, or the reverse. A quarter of the result is computed first, which does not overflow
   too early. */
VM_INLINE VM_T VM_(hyper)(VM_T x, VM_T sign) {
    VM_T a = x > VM_PICK(710.6, 89.6f) ? VM_PICK(710.6, 89.6f) : x; /* infinite from there on */
    VM_T t, low, r = VM_(expm1_reduce)(a, &t, &low);
    VM_U k = VM_AS_BITS(t) << VM_DIGITS, quarter = VM_EXPONENT(VM_BIAS - 2);
    VM_T up = VM_FROM_BITS(k + quarter); /* a quarter of 2**k */
#if VM_PRECISION == 64
    double down = vm_double(quarter - k);
    down = a > 600.0 ? 0.0 : sign * down; /* the exponent would be out of range */
#else
    int32_t e = (int32_t)(quarter - k);
    float down = sign * vm_float((uint32_t)(e > 0 ? e : 0));
#endif
    VM_T z = r * r;
    VM_T c = VM_(cosh_tail)(z), s = VM_(sinh_tail)(r, z, low);
    VM_T p = up + down, q = up - down;
    VM_T lead = VM_FMA(q, r, p);
    VM_T tail = VM_FMA(q, r, p - lead) + ((up - p) + down);
    VM_T y = lead + VM_FMA(p, c, VM_FMA(q, s, tail));
    return y + y;
}

VM_INLINE VM_T VM_(sinh)(VM_T x) {
    VM_T a = VM_FABS(x);
    VM_T y = VM_(hyper)(a, -1);
    y = a < VM_PICK(0x1p-28, 0x1p-13f) ? a : y; /* fractions of a subnormal number may not be exact */
    return VM_COPYSIGN(y, x);
}

VM_INLINE VM_T VM_(cosh)(VM_T x) { return VM_(hyper)(VM_FABS(x), 1); }
