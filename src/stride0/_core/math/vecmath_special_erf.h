/* erf and the middle of its inverses in both precisions; included twice by vecmath_special.h. float32 has
   shorter polynomials for the same functions. Range: all numbers for erf, q = 1 - x**2 above e**-4.5 for the fast inverses. */

/* x + x * P(x * x) up to 1, and from there on 1 - e**-Q(x). The second polynomial is Q as a function of u = x - 1.5. */
#if VM_PRECISION == 64
VM_INLINE double vm_erf_near_f64(double z) {
    double s = z * z;
    double even = VM_HORNER(fma, s, 0x1.da1c675b1b513p-27, 0x1.b99329f48d381p-20, 0x1.f9a2dcb790584p-14, 0x1.565bcd0254752p-8,
        0x1.ce2f21a041844p-4, 0x1.06eba8214db68p-3);
    double odd = VM_HORNER(fma, s, -0x1.b45b6118ba3d4p-31, -0x1.5c7a0b6e33102p-23, -0x1.f4cc50172252bp-17,
        -0x1.c02db1aa062c7p-11, -0x1.b82ce3123a300p-6, -0x1.812746b0379bdp-2);
    return fma(z, odd, even);
}
VM_INLINE double vm_erf_far_f64(double u) {
    double s = u * u;
    double even = VM_HORNER(fma, s, -0x1.56e71ba90fffcp-34, -0x1.ec7d5cb1c8c20p-30, 0x1.da8677ffee073p-26, 0x1.b784277d6b5fap-21,
        0x1.6342fa12eea49p-19, -0x1.c4e86c9fcaaeep-13, -0x1.89a87b47a60d2p-8, 0x1.c90827462a047p-1, 0x1.b137096b18e96p+1);
    double odd = VM_HORNER(fma, s, 0x1.564fa793eb8a0p-38, 0x1.234d475461118p-31, 0x1.a031f4066b6dfp-31, -0x1.9cad16e9a62c8p-23,
        -0x1.3e3a92e5eb74bp-19, 0x1.790bdcddd8d85p-16, 0x1.4992622c57937p-10, 0x1.a71a4bde0afefp-6, 0x1.c1206279e92b7p+1);
    return fma(u, odd, even);
}
#else
VM_INLINE float vm_erf_near_f32(float z) {
    return VM_HORNER(fmaf, z, 0x1.4771fcp-14f, -0x1.a3515ep-11f, 0x1.53f224p-8f, -0x1.b7f71ap-6f, 0x1.ce2ce6p-4f,
        -0x1.81273ep-2f, 0x1.06eba8p-3f);
}
VM_INLINE float vm_erf_far_f32(float u) {
    return VM_HORNER(fmaf, u, 0x1.6bd7a6p-16f, -0x1.c0009ep-13f, 0x1.4993d2p-10f, -0x1.89b338p-8f, 0x1.a71a2ep-6f,
        0x1.c9082ap-1f, 0x1.c12062p+1f, 0x1.b1370ap+1f);
}
#endif
VM_INLINE VM_T VM_(erf)(VM_T x) {
    VM_T a = VM_FABS(x);
    VM_T near = VM_FMA(a, VM_(erf_near)(a * a), a);
    VM_T u = (a > VM_PICK(5.95, 4) ? VM_PICK(5.95, 4) : a) - VM_C(1.5);
    VM_T t, y = VM_(exp_core)(-VM_(erf_far)(u), &t);
    VM_T far = 1 - VM_TIMES_POW2(y, t);
    y = a < 1 ? near : far;
    y = x == x ? y : x;
    return VM_COPYSIGN(y, x);
}

/* The inverse of erf for |x| <= 0.9944, and sqrt(2) times it: x + xl times a polynomial of u = -9/4 - log(q) for
   q = 1 - x**2, with even and odd powers apart. Its first coefficient is two numbers. */
VM_INLINE VM_T VM_(erfinv_product)(VM_T x, VM_T xl, VM_T u, VM_T even, VM_T odd, VM_T first, VM_T first_low) {
    VM_T p = VM_FMA(u, odd, even);
    VM_T y = VM_FMA(u, p, first);
    VM_T yl = VM_FMA(u, p, first - y) + first_low;
    return VM_FMA(x, y, VM_FMA(x, yl, xl * y));
}
#if VM_PRECISION == 64
VM_INLINE double vm_erfinv_middle_f64(double x, double xl, double q) {
    double u = -0x1.2p+1 - vm_log_f64_fast(q), s = u * u;
    double even = VM_HORNER(fma, s, 0x1.609a3a8e5e72bp-61, -0x1.c202b60b7b7acp-55, 0x1.370880222af46p-49,
        -0x1.aa2ad7bc86c35p-45, -0x1.8f49d697f9a69p-40, 0x1.d66c99f8bb2e1p-33, -0x1.b1465236395bep-27, 0x1.c957199749595p-22,
        0x1.8d38bc920125ap-21, -0x1.821fe73cf1fd3p-10, 0x1.fce34214befb2p-3);
    double odd = VM_HORNER(fma, s, 0x1.4a598d217a1d6p-60, 0x1.31797fd511a02p-54, -0x1.acf38f622410fp-47, 0x1.b65d8cf46ae8dp-41,
        -0x1.0c62a55a53080p-35, 0x1.ecf018ae288b2p-32, 0x1.57ea496cacefcp-25, -0x1.1aedd3b9aca9bp-18, 0x1.cf8b8bcbebd8dp-13,
        -0x1.9d94b8d1cbe31p-9);
    return vm_erfinv_product_f64(x, xl, u, even, odd, 0x1.7083a336cd764p+0, -0x1.36a60f0174e3fp-54);
}
VM_INLINE double vm_ndtri_middle_f64(double x, double xl, double q) {
    double u = -0x1.2p+1 - vm_log_f64_fast(q), s = u * u;
    double even = VM_HORNER(fma, s, 0x1.f2a7b9931eef6p-61, -0x1.3e349e44e70e7p-54, 0x1.b7de0c6cc19dcp-49,
        -0x1.2d588810db810p-44, -0x1.1a56ed34f6046p-39, 0x1.4ca3e177dd2c9p-32, -0x1.325f18d757588p-26, 0x1.43636ceee5410p-21,
        0x1.18e0cb93ae191p-20, -0x1.110805d061c63p-9, 0x1.67d684b8bd0d8p-2);
    double odd = VM_HORNER(fma, s, 0x1.d32f6809e6355p-60, 0x1.b0019ef7fcfd8p-54, -0x1.2f507fb0e955dp-46, 0x1.35f89e92d0b53p-40,
        -0x1.7b8dded7255d8p-35, 0x1.5c8f497f81c70p-31, 0x1.e65e989866094p-25, -0x1.901f3e658ef86p-18, 0x1.47c6a064efe0dp-12,
        -0x1.247225e75c2bap-8);
    return vm_erfinv_product_f64(x, xl, u, even, odd, 0x1.0494328c11f68p+1, 0x1.9b27bbd7da2cbp-54);
}
#else
VM_INLINE float vm_erfinv_middle_f32(float x, float xl, float q) {
    float u = -0x1.2p+1f - vm_log_f32_fast(q), s = u * u;
    float even = VM_HORNER(fmaf, s, -0x1.51bf58p-27f, 0x1.ba9a18p-22f, 0x1.9d4a42p-21f, -0x1.8221bp-10f, 0x1.fce342p-3f);
    float odd = VM_HORNER(fmaf, s, 0x1.71c2bap-25f, -0x1.1b9768p-18f, 0x1.cf93a2p-13f, -0x1.9d9502p-9f);
    return vm_erfinv_product_f32(x, xl, u, even, odd, 0x1.7083a4p+0f, -0x1.8b6592p-25f);
}
VM_INLINE float vm_ndtri_middle_f32(float x, float xl, float q) {
    float u = -0x1.2p+1f - vm_log_f32_fast(q), s = u * u;
    float even = VM_HORNER(fmaf, s, -0x1.dda5a2p-27f, 0x1.38f782p-21f, 0x1.243d7ep-20f, -0x1.11094ap-9f, 0x1.67d686p-2f);
    float odd = VM_HORNER(fmaf, s, 0x1.0575d4p-24f, -0x1.910f1p-18f, 0x1.47cc58p-12f, -0x1.24725ap-8f);
    return vm_erfinv_product_f32(x, xl, u, even, odd, 0x1.049432p+1f, 0x1.1d16b6p-24f);
}
#endif

VM_INLINE VM_T VM_FAST(erfinv)(VM_T x) { return VM_(erfinv_middle)(x, 0, VM_FMA(-x, x, 1)); }
VM_INLINE VM_T VM_FAST(erfcinv)(VM_T x) {
    VM_T a = 1 - x;
    return VM_(erfinv_middle)(a, (1 - a) - x, x * (2 - x));
}
VM_INLINE VM_T VM_FAST(ndtri)(VM_T p) {
    VM_T d = p + p, a = d - 1;
    return VM_(ndtri_middle)(a, d - (a + 1), d * (2 - d));
}
