/* 2**x and 10**x in both precisions; included twice by vecmath_special.h. Range: all numbers. Method: x = k + r with
   |r| <= 1/2, and a minimax polynomial of r; 10**x is 2**(x * log2(10)), with the product as two numbers. */

#if VM_PRECISION == 64
/* 2**r for r from -1/2 to 1/2; in float32 the power function has it */
VM_INLINE double vm_exp2_core_f64(double r) {
    double s = r * r;
    double even = VM_HORNER(fma, s, 0x1.e79bce6211425p-32, 0x1.b5267cfb834acp-24, 0x1.ffcbfba95dc94p-17, 0x1.5d87fe78cd792p-10,
        0x1.c6b08d7049fe7p-5, 0x1.62e42fefa39efp-1);
    double odd = VM_HORNER(fma, s, 0x1.e61b6fe2b7095p-28, 0x1.62bfc78bbd056p-20, 0x1.4309130edf4b0p-13, 0x1.3b2ab6fba00fcp-7,
        0x1.ebfbdff82c5a4p-3);
    return fma(r, fma(r, odd, even), 1.0);
}
#endif

VM_INLINE VM_T VM_FAST(exp2)(VM_T x) {
    VM_T t = x + VM_ROUND;
    VM_T y = VM_(exp2_core)(x - (t - VM_ROUND));
    return VM_TIMES_POW2(y, t);
}
VM_INLINE VM_T VM_(exp2)(VM_T x) {
    VM_T a = x > VM_PICK(1025, 128) ? VM_PICK(1025, 128) : x;
    a = a < VM_PICK(-1076, -150) ? VM_PICK(-1076, -150) : a;
    VM_T t = a + VM_ROUND;
    VM_T y = VM_(exp2_core)(a - (t - VM_ROUND));
#if VM_PRECISION == 64
    y = vm_scaled_f64(y, x > 1024.0 ? VM_ROUND64 + 1024.0 : t);
    y = x >= 1024.0 ? INFINITY : y;
#else
    y = vm_scaled_f32(y, t);
    y = x < -150.0f ? 0.0f : y;
#endif
    return x == x ? y : x;
}

/* 10**x / 2**k for the integer k that the low bits of *t hold */
VM_INLINE VM_T VM_(exp10_core)(VM_T x, VM_T *t) {
    VM_T high = VM_PICK(0x1.a934f0979a371p+1, 0x1.a934fp+1f), low = VM_PICK(0x1.7f2495fb7fa6dp-53, 0x1.2f346ep-24f);
    VM_T p = x * high;
    VM_T pl = VM_FMA(x, low, VM_FMA(x, high, -p));
    *t = p + VM_ROUND;
    return VM_(exp2_core)((p - (*t - VM_ROUND)) + pl);
}
VM_INLINE VM_T VM_FAST(exp10)(VM_T x) {
    VM_T t, y = VM_(exp10_core)(x, &t);
    return VM_TIMES_POW2(y, t);
}
VM_INLINE VM_T VM_(exp10)(VM_T x) {
    VM_T a = x > VM_PICK(308.4, 38.6f) ? VM_PICK(308.4, 38.6f) : x, t;
    a = a < VM_PICK(-325, -45.2f) ? VM_PICK(-325, -45.2f) : a;
    VM_T y = VM_(exp10_core)(a, &t);
#if VM_PRECISION == 64
    y = vm_scaled_f64(y, x > 308.4 ? VM_ROUND64 + 1024.0 : t);
    y = x > 308.3 ? INFINITY : y;
#else
    y = vm_scaled_f32(y, t);
#endif
    return x == x ? y : x;
}
