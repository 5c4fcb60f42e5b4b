/* The logistic function and related ones in both precisions; included twice by vecmath_special.h. Range: all numbers.
   The LATER macros in vecmath_special_run.h tell which arguments the fast bodies leave to the others. */

/* -- expit ------------------------------------------------------------------------------------------------- */

/* 1 / (1 + e**-x) for x >= 0 and e**x / (1 + e**x) for x < 0: neither overflows, and small results keep their digits. p is e**-|x|,
   and e is p or, if results may be subnormal, p / scale. */
VM_INLINE VM_T VM_(expit_end)(VM_T x, VM_T p, VM_T e, VM_T scale) {
    VM_T d = 1 + p;
    VM_T dl = p - (d - 1);
    VM_T n = x < 0 ? e : 1;
    VM_T inverse = 1 / d;
    VM_T q = n * inverse;
    return VM_FMA(VM_FMA(-q, dl, VM_FMA(-q, d, n)), inverse, q) * (x < 0 ? scale : 1);
}
VM_INLINE VM_T VM_FAST(expit)(VM_T x) {
    VM_T p = VM_FAST(exp)(-VM_FABS(x));
    return VM_(expit_end)(x, p, p, 1);
}
VM_INLINE VM_T VM_(expit)(VM_T x) {
    VM_T t, a = VM_FABS(x);
    a = a > VM_PICK(750, 104) ? VM_PICK(750, 104) : a;
    VM_T e = VM_(exp_core)(-a, &t);
    VM_T scale = VM_(scaled)(1, t);
    VM_T y = VM_(expit_end)(x, e * scale, e, scale);
    return x == x ? y : x;
}

/* -- logit ------------------------------------------------------------------------------------------------- */

/* log(x / c) for c = 1 - x. It is k * log(2) + 2 * atanh(s), with k such that 2**k * c is near x, and s the quotient of their difference
   and their sum. From 3/8 to 5/8 k is 0 and s is x - c, because the sum is 1; the rounding error of c is added. */
VM_INLINE VM_T VM_FAST(logit)(VM_T x) {
    VM_T c = 1 - x;
    VM_T cl = (1 - c) - x;
    VM_U u = VM_AS_BITS(x) - VM_AS_BITS(c) + ((VM_U)1 << (VM_DIGITS - 1));
    u = VM_FABS(x - VM_C(0.5)) <= VM_C(0.125) ? 0 : u;
    VM_T k = VM_PICK(vm_exponent_f64(u + ((uint64_t)1024 << 52)) - (0x1p52 + 1024), (float)((int32_t)u >> 23));
    VM_T scale = VM_FROM_BITS((u & ~(VM_EXPONENT(1) - 1)) + VM_EXPONENT(VM_BIAS));
    c = c * scale;
    VM_T s = VM_FMA(-cl, scale, x - c) / (x + c);
    VM_T z = s * s;
#if VM_PRECISION == 64
    double p = VM_HORNER(fma, z, 0x1.1e7612b5a7085p-3, 0x1.8d1e19ef92b4bp-4, 0x1.e54b66b8309cep-4, 0x1.10f68aef6bd6ep-3,
        0x1.3b14b5c4c84d0p-3, 0x1.745d10f0bf3d7p-3, 0x1.c71c71df53078p-3, 0x1.2492492477ce8p-2, 0x1.9999999999b63p-2,
        0x1.5555555555555p-1);
#else
    float p = VM_HORNER(fmaf, z, 0x1.028ccp-2f, 0x1.22e61p-2f, 0x1.99a28cp-2f, 0x1.55554ep-1f);
#endif
    return VM_(log_sum)(k, s + s, 0, (s * z) * p);
}
/* For x so small that 1 - x rounds to 1, or outside of (0, 1). */
VM_INLINE VM_T VM_(logit)(VM_T x) {
    VM_T y = VM_(log)(x);
    y = x > 1 ? NAN : y;
    return x == 1 ? INFINITY : y;
}

/* -- softplus, log_expit ----------------------------------------------------------------------------------- */

/* log(1 + e**x) */
VM_INLINE VM_T VM_FAST(softplus)(VM_T x) {
    VM_T y = VM_FAST(log1p)(VM_FAST(exp)(-VM_FABS(x)));
    return (x > 0 ? x : 0) + y;
}
VM_INLINE VM_T VM_(softplus)(VM_T x) {
    VM_T y = VM_(exp)(-VM_FABS(x)); /* equal to log(1 + y) if y is as small as here */
    y = x > 0 ? x : y;
    return x == x ? y : x;
}

VM_INLINE VM_T VM_FAST(log_expit)(VM_T x) { return -VM_FAST(softplus)(-x); }
VM_INLINE VM_T VM_(log_expit)(VM_T x) { return -VM_(softplus)(-x); }
