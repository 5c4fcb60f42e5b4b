/* The logistic function and its kin; included by vecmath_special.h. */

/* 1 / (1 + e**-x) for x >= 0 and e**x / (1 + e**x) below: neither overflows, and small results keep their digits. */
VM_INLINE double vm_expit_f64(double x) {
    double e = vm_exp_f64(-fabs(x));
    return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

VM_INLINE float vm_expit_f32(float x) {
    double e = vm_exp_f64(-(double)fabsf(x));
    return (float)((x < 0.0f ? e : 1.0) / (1.0 + e));
}
