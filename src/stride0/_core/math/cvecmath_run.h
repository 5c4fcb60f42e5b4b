/* Loops over complex numbers; included by cvecmath.h.

   A block of numbers is split into real and imaginary parts, because the vectoriser needs them in separate arrays. All numbers go
   through the function for ordinary numbers; the others are then computed again, one by one. So no result depends on
   neighbouring elements. */

#if defined(__GNUC__) && !defined(__clang__) /* as in vecmath_trig.h */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

enum { CV_BLOCK = 256 };

/* With any stride, two numbers at a time, each a vector: half as many loads and stores. Returns how many were copied. */
typedef double cv_pair __attribute__((vector_size(16)));
VM_INLINE ptrdiff_t cv_gather_pairs_c128(const char *x, ptrdiff_t stride, double *re, double *im, ptrdiff_t n) {
    ptrdiff_t i = 0;
    for (; i + 2 <= n; i += 2) {
        cv_pair z[2];
        memcpy(z, x + i * stride, 16);
        memcpy(z + 1, x + (i + 1) * stride, 16);
        const cv_pair a = {z[0][0], z[1][0]}, b = {z[0][1], z[1][1]};
        memcpy(re + i, &a, 16);
        memcpy(im + i, &b, 16);
    }
    return i;
}
VM_INLINE ptrdiff_t cv_scatter_pairs_c128(const double *re, const double *im, char *x, ptrdiff_t stride, ptrdiff_t n) {
    ptrdiff_t i = 0;
    for (; i + 2 <= n; i += 2) {
        cv_pair a, b;
        memcpy(&a, re + i, 16);
        memcpy(&b, im + i, 16);
        const cv_pair z[2] = {{a[0], b[0]}, {a[1], b[1]}};
        memcpy(x + i * stride, z, 16);
        memcpy(x + (i + 1) * stride, z + 1, 16);
    }
    return i;
}
#define cv_gather_pairs_c64(x, stride, re, im, n) 0
#define cv_scatter_pairs_c64(re, im, x, stride, n) 0

#define CV_GATHER(dtype, T)                                                                                  \
    VM_INLINE void cv_gather_##dtype(const char *x, ptrdiff_t stride, double *re, double *im, ptrdiff_t n) { \
        if (stride == 2 * (ptrdiff_t)sizeof(T)) {                                                            \
            const T *z = (const T *)x;                                                                       \
            for (ptrdiff_t i = 0; i < n; i++) re[i] = z[2 * i], im[i] = z[2 * i + 1];                        \
        } else {                                                                                             \
            ptrdiff_t i = cv_gather_pairs_##dtype(x, stride, re, im, n);                                     \
            for (; i < n; i++) {                                                                             \
                const T *z = (const T *)(x + i * stride);                                                    \
                re[i] = z[0], im[i] = z[1];                                                                  \
            }                                                                                                \
        }                                                                                                    \
    }                                                                                                        \
    VM_INLINE void cv_scatter_##dtype(                                                                      \
        const double *re, const double *im, char *x, ptrdiff_t stride, ptrdiff_t n) {                        \
        if (stride == 2 * (ptrdiff_t)sizeof(T)) {                                                            \
            T *z = (T *)x;                                                                                   \
            for (ptrdiff_t i = 0; i < n; i++) z[2 * i] = (T)re[i], z[2 * i + 1] = (T)im[i];                  \
        } else {                                                                                             \
            ptrdiff_t i = cv_scatter_pairs_##dtype(re, im, x, stride, n);                                    \
            for (; i < n; i++) {                                                                             \
                T *z = (T *)(x + i * stride);                                                                \
                z[0] = (T)re[i], z[1] = (T)im[i];                                                            \
            }                                                                                                \
        }                                                                                                    \
    }
CV_GATHER(c64, float)
CV_GATHER(c128, double)

#define CV_RUN_AS(name, dtype, block)                                                                        \
    static __attribute__((unused)) void cv_##name##_##dtype##_run(                                           \
        const char *x, ptrdiff_t sx, char *y, ptrdiff_t sy, ptrdiff_t n) {                                   \
        double re[CV_BLOCK], im[CV_BLOCK], a[CV_BLOCK], b[CV_BLOCK];                                         \
        for (; n > 0; n -= CV_BLOCK, x += CV_BLOCK * sx, y += CV_BLOCK * sy) {                               \
            ptrdiff_t m = n < CV_BLOCK ? n : CV_BLOCK;                                                       \
            cv_gather_##dtype(x, sx, re, im, m);                                                             \
            cv_##block##_block(re, im, a, b, m);                                                             \
            cv_scatter_##dtype(a, b, y, sy, m);                                                              \
        }                                                                                                    \
    }

#define CV_RUN_BLOCK(name, block)                                                                                   \
    static __attribute__((noinline, unused)) void cv_##block##_block(                                        \
        const double *restrict x, const double *restrict y, double *restrict re, double *restrict im,        \
        ptrdiff_t n) {                                                                                       \
        uint64_t rare = 0;                                                                                   \
        CV_ELEMENTWISE                                                                                       \
        for (ptrdiff_t i = 0; i < n; i++) cv_##name(x[i], y[i], re + i, im + i);                             \
        for (ptrdiff_t i = 0; i < n; i++) rare |= cv_##name##_rare(x[i], y[i]);                              \
        if (rare >> 63)                                                                                      \
            for (ptrdiff_t i = 0; i < n; i++)                                                                \
                if (cv_##name##_rare(x[i], y[i]) >> 63) cv_##name##_slow(x[i], y[i], re + i, im + i);        \
    }
#define CV_RUN(name)                                                                                         \
    CV_RUN_BLOCK(name, name)                                                                                 \
    CV_RUN_AS(name, c64, name)                                                                               \
    CV_RUN_AS(name, c128, name)

CV_RUN(exp)
CV_RUN(sin)
CV_RUN(cos)
CV_RUN(tan)
CV_RUN(sinh)
CV_RUN(cosh)
CV_RUN(tanh)
CV_RUN(log)
CV_RUN(log2)
CV_RUN(log10)
CV_RUN(log1p)
CV_RUN(asin)
CV_RUN(acos)
CV_RUN(atan)
CV_RUN(asinh)
CV_RUN(acosh)
CV_RUN(atanh)

#define CV_RUN_EXPM1(dtype, fraction)                                                                        \
    static __attribute__((noinline, unused)) void cv_expm1_##dtype##_block(                                  \
        const double *restrict x, const double *restrict y, double *restrict re, double *restrict im,        \
        ptrdiff_t n) {                                                                                       \
        uint64_t rare = 0;                                                                                   \
        CV_ELEMENTWISE                                                                                       \
        for (ptrdiff_t i = 0; i < n; i++) cv_expm1(x[i], y[i], re + i, im + i);                              \
        for (ptrdiff_t i = 0; i < n; i++)                                                                    \
            rare |= cv_expm1_rare(x[i], y[i]) | cv_expm1_cancels(re[i], im[i], fraction);                    \
        if (rare >> 63)                                                                                      \
            for (ptrdiff_t i = 0; i < n; i++)                                                                \
                if ((cv_expm1_rare(x[i], y[i]) | cv_expm1_cancels(re[i], im[i], fraction)) >> 63)            \
                    cv_expm1_slow(x[i], y[i], re + i, im + i);                                               \
    }                                                                                                        \
    CV_RUN_AS(expm1, dtype, expm1_##dtype)
CV_RUN_EXPM1(c64, 0x1p-20)
CV_RUN_EXPM1(c128, 0.25)

/* Most powers have one small integer as the exponent of a whole block; its products vectorise. */
#define CV_POW(dtype, precise)                                                                               \
    static __attribute__((noinline, unused)) void cv_pow_##dtype##_block(                                    \
        const double *restrict x, const double *restrict y, const double *restrict a,                        \
        const double *restrict b, double *restrict re, double *restrict im, ptrdiff_t n) {                   \
        uint64_t rare[CV_BLOCK], some = 0, all = ~(uint64_t)0, other = 0;                                    \
        for (ptrdiff_t i = 0; i < n; i++)                                                                    \
            other |= vm_bits64(b[i]) << 1 | (vm_bits64(a[i]) ^ vm_bits64(a[0]));                             \
        if (other == 0 && cv_is_small_integer(a[0]) && a[0] != 0.0) {                                        \
            cv_integer_powers(x, y, (int)a[0], re, im, rare, n);                                             \
        } else {                                                                                             \
            for (ptrdiff_t i = 0; i < n; i++) rare[i] = cv_pow_rare(x[i], y[i], a[i], b[i]);                 \
            for (ptrdiff_t i = 0; i < n; i++) all &= rare[i];                                                \
            if (!(all >> 63)) cv_powers(x, y, a, b, precise, re, im, rare, n);                              \
        }                                                                                                    \
        for (ptrdiff_t i = 0; i < n; i++) some |= rare[i];                                                   \
        if (some >> 63)                                                                                      \
            for (ptrdiff_t i = 0; i < n; i++)                                                                \
                if (rare[i] >> 63) cv_pow_slow(x[i], y[i], a[i], b[i], re + i, im + i);                      \
    }
CV_POW(c64, 0)
CV_POW(c128, 1)

/* Whether all imaginary parts of a block are zero: real numbers are faster. */
VM_INLINE int cv_are_real(const double *y, ptrdiff_t n) {
    uint64_t any = 0;
    for (ptrdiff_t i = 0; i < n; i++) any |= vm_bits64(y[i]);
    return any << 1 == 0;
}

CV_RUN_BLOCK(sqrt, sqrt_any)
static __attribute__((noinline, unused)) void cv_sqrt_block(
    const double *restrict x, const double *restrict y, double *restrict re, double *restrict im, ptrdiff_t n) {
    if (!cv_are_real(y, n)) {
        cv_sqrt_any_block(x, y, re, im, n);
        return;
    }
    CV_ELEMENTWISE
    for (ptrdiff_t i = 0; i < n; i++) {
        double root = sqrt(fabs(x[i])); /* of NaN, NaN */
        uint64_t left = vm_less_f64(x[i], 0.0);
        double other = root == root ? 0.0 : root;
        re[i] = vm_select_f64(left, other, root);
        im[i] = copysign(vm_select_f64(left, root, other), y[i]);
    }
}
CV_RUN_AS(sqrt, c64, sqrt)
CV_RUN_AS(sqrt, c128, sqrt)

static __attribute__((noinline, unused)) void cv_divide_block(
    const double *restrict x, const double *restrict y, const double *restrict a, const double *restrict b,
    double *restrict re, double *restrict im, ptrdiff_t n) {
    uint64_t rare = 0;
    if (cv_are_real(b, n)) {
        CV_ELEMENTWISE
        for (ptrdiff_t i = 0; i < n; i++) re[i] = x[i] / a[i], im[i] = y[i] / a[i];
        return;
    }
    CV_ELEMENTWISE
    for (ptrdiff_t i = 0; i < n; i++) cv_quotient(x[i], y[i], a[i], b[i], re + i, im + i);
    for (ptrdiff_t i = 0; i < n; i++) rare |= cv_quotient_rare(x[i], y[i], a[i], b[i]);
    if (rare >> 63)
        for (ptrdiff_t i = 0; i < n; i++)
            if (cv_quotient_rare(x[i], y[i], a[i], b[i]) >> 63)
                cv_quotient_slow(x[i], y[i], a[i], b[i], re + i, im + i);
}

VM_INLINE uint64_t cv_reciprocal_rare(double x, double y) { return cv_quotient_rare(1.0, 0.0, x, y); }
VM_INLINE void cv_reciprocal(double x, double y, double *re, double *im) {
    cv_quotient(1.0, 0.0, x, y, re, im);
}
VM_INLINE void cv_reciprocal_slow(double x, double y, double *re, double *im) {
    cv_quotient_slow(1.0, 0.0, x, y, re, im);
}
CV_RUN_BLOCK(reciprocal, reciprocal_any)
static __attribute__((noinline, unused)) void cv_reciprocal_block(
    const double *restrict x, const double *restrict y, double *restrict re, double *restrict im, ptrdiff_t n) {
    if (!cv_are_real(y, n)) {
        cv_reciprocal_any_block(x, y, re, im, n);
        return;
    }
    CV_ELEMENTWISE
    for (ptrdiff_t i = 0; i < n; i++) re[i] = 1.0 / x[i], im[i] = 0.0 / x[i];
}
CV_RUN_AS(reciprocal, c64, reciprocal)
CV_RUN_AS(reciprocal, c128, reciprocal)

#define CV_RUN_2_AS(name, dtype, block)                                                                      \
    static __attribute__((unused)) void cv_##name##_##dtype##_run(                                           \
        const char *x, ptrdiff_t sx, const char *y, ptrdiff_t sy, char *z, ptrdiff_t sz, ptrdiff_t n) {      \
        double re[CV_BLOCK], im[CV_BLOCK], a[CV_BLOCK], b[CV_BLOCK], p[CV_BLOCK], q[CV_BLOCK];               \
        for (; n > 0; n -= CV_BLOCK, x += CV_BLOCK * sx, y += CV_BLOCK * sy, z += CV_BLOCK * sz) {           \
            ptrdiff_t m = n < CV_BLOCK ? n : CV_BLOCK;                                                       \
            cv_gather_##dtype(x, sx, re, im, m);                                                             \
            cv_gather_##dtype(y, sy, a, b, m);                                                               \
            cv_##block##_block(re, im, a, b, p, q, m);                                                       \
            cv_scatter_##dtype(p, q, z, sz, m);                                                              \
        }                                                                                                    \
    }
CV_RUN_2_AS(pow, c64, pow_c64)
CV_RUN_2_AS(pow, c128, pow_c128)
CV_RUN_2_AS(divide, c64, divide)
CV_RUN_2_AS(divide, c128, divide)

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
