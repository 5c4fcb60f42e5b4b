/* Sine, cosine and tangent, float32 and float64; included by vecmath.h.

   Note [Rare arguments]
       Reducing a huge argument takes as many digits of 2/pi as the argument has: too much to be done for all.
       vm_sin_f64 and its like are right up to a limit, and vm_sin_f64_any everywhere, with the same bits
       below the limit. The latter does not vectorise. The loops vm_sin_f64_run look at a block of
       arguments first and take the former where it serves for the whole block. */

#define VM_TRIG_LIMIT_F32 0x1p25f
#define VM_TRIG_LIMIT_F64 0x1.8p20
#define VM_2_PI 0x1.45f306dc9c883p-1
#define VM_1_PI 0x1.45f306dc9c883p-2

/* -- huge arguments -------------------------------------------------------------------------------------- */

/* x - n * pi/2 as high + low for the nearest integer n, of which the two lowest bits are returned; x finite
   and at least 1.

   With x = m * 2**e, those bits of 2/pi are left out that contribute multiples of 4 to x * 2/pi, and those
   after the next 192: m times these, modulo 2**192, is the quotient modulo 4 with 190 bits after the point.
   No double is nearer to a multiple of pi/2 than 2**-62, so that more than 70 bits are significant. */
static __attribute__((noinline, unused)) int vm_reduce_huge(double x, double *high, double *low) {
    static const uint64_t two_over_pi[] = {0,
        0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
        0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
        0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
        0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};
    typedef unsigned __int128 wide;
    uint64_t u = vm_bits64(x);
    uint64_t m = (u & 0xfffffffffffff) | 0x10000000000000;
    int first = (int)(u >> 52) - 1075 - 2 + 64; /* the first bit that counts, behind the table's 64 zeros */
    const uint64_t *word = two_over_pi + first / 64;
    int shift = first % 64;
    uint64_t w[3];
    for (int i = 0; i < 3; i++) w[i] = shift ? word[i] << shift | word[i + 1] >> (64 - shift) : word[i];
    wide p0 = (wide)m * w[2];
    wide p1 = (wide)m * w[1] + (uint64_t)(p0 >> 64);
    uint64_t top = m * w[0] + (uint64_t)(p1 >> 64); /* modulo 2**64 */
    wide rest = (wide)(uint64_t)p1 << 64 | (uint64_t)p0;
    int n = (int)(top >> 62);
    top = top << 2 | (uint64_t)(rest >> 126);
    rest = rest << 2;
    int negative = (int)(top >> 63); /* more than half: the next multiple, from above */
    if (negative) {
        n++;
        rest = ~rest + 1;
        top = ~top + (rest == 0);
    }
    int zeros = 0; /* the fraction is normalised, with one word to be shifted in at most */
    if (top == 0) {
        zeros = 64;
        top = (uint64_t)(rest >> 64);
        rest = rest << 64;
    }
    int z = top ? __builtin_clzll(top) : 0;
    zeros += z;
    if (z) {
        top = top << z | (uint64_t)(rest >> (128 - z));
        rest = rest << z;
    }
    /* Times pi/2, 128 bits of it below 2: the product is 128 bits below 2. */
    uint64_t next = (uint64_t)(rest >> 64);
    const uint64_t a = 0xc90fdaa22168c234, b = 0xc4c6628b80dc1cd1;
    wide product = (wide)top * a + (((wide)top * b) >> 64) + (((wide)next * a) >> 64);
    double scale = vm_double((uint64_t)(1023 - zeros) << 52); /* 2**-zeros */
    scale = negative ? -scale : scale;
    uint64_t h = (uint64_t)(product >> 64) & ~(uint64_t)0x7ff;
    wide l = product - ((wide)h << 64);
    double sum = (double)h * 0x1p-63, tail = (double)(uint64_t)(l >> 11) * 0x1p-116;
    *high = (sum + tail) * scale;
    *low = ((sum - (sum + tail)) + tail) * scale;
    return n & 3;
}

/* -- float64 --------------------------------------------------------------------------------------------- */

/* sin(high + low) - high on +-pi/4, for z = high**2 and w near cos(high); relative error of the sine 2**-58 */
VM_INLINE double vm_sin_tail_f64(double high, double low, double z, double w) {
    double z2 = z * z;
    double p = (0x1.111111110f892p-7 + z * -0x1.a01a019c121e4p-13) + z2 * ((0x1.71de3576c29e8p-19
        + z * -0x1.ae5e64ae26284p-26) + z2 * 0x1.5d925faf9cc05p-33);
    p = -0x1.5555555555549p-3 + z * p; /* with one rounding of this size */
    return low * w + (high * z) * p;
}

/* cos(r) - w, where z is r**2 up to a small number, of which `half` is half, h = z / 2 and w = 1 - h
   rounded; relative error of the cosine 2**-64 */
VM_INLINE double vm_cos_tail_f64(double half, double z, double h, double w) {
    double z2 = z * z;
    double p = ((0x1.555555555554cp-5 + z * -0x1.6c16c16c15210p-10) + z2 * (0x1.a01a019cbcdb8p-16
        + z * -0x1.27e4f810496f1p-22)) + (z2 * z2) * (0x1.1ee9ef56d42fap-29 + z * -0x1.8fb00467d6f9fp-37);
    return ((1.0 - w) - h) + (z2 * p - half);
}

/* Sine of |x|, or with quarter = 1 the cosine: the sine of a quarter turn more. `turn` is n modulo 4. */
VM_INLINE double vm_sin_reduced_f64(double high, double low, uint64_t turn) {
    double z = high * high;
    double h = 0.5 * z;
    double w = 1.0 - h;
    double s = high + vm_sin_tail_f64(high, low, z, w);
    double c = w + vm_cos_tail_f64(high * low, z, h, w);
    double y = turn & 1 ? c : s;
    return vm_double(vm_bits64(y) ^ (turn & 2) << 62);
}

/* a - n * pi/2 for the nearest integer n, which is in the low bits of *t. pi/2 comes in pieces of 33 bits,
   so that their products with n are exact. Every rounding on the way to the result is caught in *low: x
   near a multiple of pi/2 leaves few bits of x and of the first pieces. */
VM_INLINE double vm_reduce_f64(double a, double *low, double *t) {
    *t = a * VM_2_PI + VM_ROUND64;
    double n = *t - VM_ROUND64;
    double r0 = a - n * 0x1.921fb544p+0;
    double p1 = n * 0x1.0b4611a6p-34;
    double r1 = r0 - p1;
    double e1 = (r0 - r1) - p1;
    double p2 = n * 0x1.3198a2ep-69;
    double r2 = r1 - p2;
    double e2 = (r1 - r2) - p2;
    *low = (e1 + e2) - n * 0x1.b839a252049c1p-104;
    return r2;
}

VM_INLINE double vm_sin_turned_f64(double a, uint64_t quarter) {
    double low, t;
    double high = vm_reduce_f64(a, &low, &t);
    return vm_sin_reduced_f64(high, low, vm_bits64(t) + quarter);
}

VM_INLINE double vm_sin_f64(double x) {
    double y = vm_sin_turned_f64(fabs(x), 0);
    return vm_double(vm_bits64(y) ^ (vm_bits64(x) & (uint64_t)1 << 63));
}

VM_INLINE double vm_cos_f64(double x) { return vm_sin_turned_f64(fabs(x), 1); }

static __attribute__((noinline, unused)) double vm_sin_huge(double x, uint64_t quarter) {
    double high, low;
    if (!(fabs(x) < INFINITY)) return x - x;
    int n = vm_reduce_huge(fabs(x), &high, &low);
    double y = vm_sin_reduced_f64(high, low, (uint64_t)n + quarter);
    return x < 0 && !quarter ? -y : y;
}

VM_INLINE double vm_sin_f64_any(double x) {
    return fabs(x) <= VM_TRIG_LIMIT_F64 ? vm_sin_f64(x) : vm_sin_huge(x, 0);
}
VM_INLINE double vm_cos_f64_any(double x) {
    return fabs(x) <= VM_TRIG_LIMIT_F64 ? vm_cos_f64(x) : vm_sin_huge(x, 1);
}

/* Tangent of high + low + n * pi/2: the sine divided by the cosine or the cosine by minus the sine, each as
   a sum of two numbers. What is left of the dividend tells the rest of the quotient. */
VM_INLINE double vm_tan_reduced_f64(double high, double low, uint64_t turn) {
    double z = high * high;
    double h = 0.5 * z;
    double w = 1.0 - h;
    double a = vm_cut(high, 27), b = high - a;
    double zl = ((a * a - z) + 2.0 * (a * b)) + b * b; /* what rounding z left out */
    double st = vm_sin_tail_f64(high, low, z, w) - (high * zl) * 0x1.5555555555555p-3;
    double ct = vm_cos_tail_f64(high * low + 0.5 * zl, z, h, w);
    int odd = turn & 1;
    double n = odd ? w : high, nl = odd ? ct : st;
    double d = odd ? high : w, dl = odd ? st : ct;
    double sum = d + dl;
    double inverse = 1.0 / sum;
    double q = vm_cut((n + nl) * inverse, 27);
    double dh = vm_cut(sum, 26);
    double rest = ((n - q * dh) - q * ((d - dh) + dl)) + nl;
    double y = q + rest * inverse;
    return odd ? -y : y;
}

VM_INLINE double vm_tan_f64(double x) {
    double low, t;
    double high = vm_reduce_f64(fabs(x), &low, &t);
    double y = vm_tan_reduced_f64(high, low, vm_bits64(t));
    return vm_double(vm_bits64(y) ^ (vm_bits64(x) & (uint64_t)1 << 63));
}

static __attribute__((noinline, unused)) double vm_tan_huge(double x) {
    double high, low;
    if (!(fabs(x) < INFINITY)) return x - x;
    int n = vm_reduce_huge(fabs(x), &high, &low);
    double y = vm_tan_reduced_f64(high, low, (uint64_t)n);
    return x < 0 ? -y : y;
}

VM_INLINE double vm_tan_f64_any(double x) {
    return fabs(x) <= VM_TRIG_LIMIT_F64 ? vm_tan_f64(x) : vm_tan_huge(x);
}

/* -- float32, computed in double: the reduced argument needs no second part ------------------------------ */

/* (-1)**n * sin(x - n * pi), where the lowest bits of t hold n; relative error 2**-27.3 before rounding. A
   product at the end keeps the sign of zero. */
VM_INLINE float vm_sin_half_turns_f32(double x, double n, double t) {
    double r = (x - n * 0x1.921fb54p+1) - n * 0x1.10b4611a62633p-29; /* 28 bits: the first product is exact */
    double z = r * r;
    double p = -0x1.9f6f538478143p-13 + z * 0x1.5db3ec0d46921p-19;
    p = 1.0 + z * (-0x1.55554bb4a0f08p-3 + z * (0x1.110ed01533791p-7 + z * p));
    return (float)vm_double(vm_bits64(r * p) ^ vm_bits64(t) << 63);
}

VM_INLINE float vm_sin_f32(float x) {
    double t = x * VM_1_PI + VM_ROUND64;
    return vm_sin_half_turns_f32(x, t - VM_ROUND64, t);
}

/* cos(a) = -sin(a - pi/2): n is half an integer */
VM_INLINE float vm_cos_f32(float x) {
    double a = fabsf(x);
    double t = (a * VM_1_PI - 0.5) + VM_ROUND64;
    return vm_sin_half_turns_f32(a, (t - VM_ROUND64) + 0.5, t + 1.0);
}

/* By quarter turns, and a quotient of polynomials that turns over at odd ones; relative error 2**-35 before
   rounding */
VM_INLINE float vm_tan_f32(float x) {
    double a = fabsf(x);
    double t = a * VM_2_PI + VM_ROUND64;
    double n = t - VM_ROUND64;
    double r = (a - n * 0x1.921fb54p+0) - n * 0x1.10b4611a62633p-30;
    double z = r * r;
    double top = r * (0x1.f4d39f46ae3ebp+5 + z * (-0x1.be2f279342223p+2 + z * 0x1.13b4117be0830p-4));
    double below = 0x1.f4d39f467e3ebp+5 + z * (-0x1.bd6e33f7a7d1cp+4 + z);
    uint64_t odd = -(vm_bits64(t) & 1);
    float y = (float)(vm_select_f64(odd, -below, top) / vm_select_f64(odd, top, below));
    return vm_float(vm_bits32(y) ^ (vm_bits32(x) & 0x80000000u));
}

VM_INLINE float vm_sin_f32_any(float x) {
    return fabsf(x) <= VM_TRIG_LIMIT_F32 ? vm_sin_f32(x) : (float)vm_sin_huge((double)x, 0);
}
VM_INLINE float vm_cos_f32_any(float x) {
    return fabsf(x) <= VM_TRIG_LIMIT_F32 ? vm_cos_f32(x) : (float)vm_sin_huge((double)x, 1);
}

VM_INLINE float vm_tan_f32_any(float x) {
    return fabsf(x) <= VM_TRIG_LIMIT_F32 ? vm_tan_f32(x) : (float)vm_tan_huge((double)x);
}

/* -- loops ------------------------------------------------------------------------------------------------ */

enum { VM_BLOCK = 512 };

/* GCC sees that the buffers are read where the loops that fill them may not have run. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

/* A block of elements `step` bytes apart, side by side: where they are, or in the buffer. */
#define VM_GATHER(T)                                                                                         \
    VM_INLINE const T *vm_gather_##T(const char *x, ptrdiff_t step, T *buffer, ptrdiff_t n) {                \
        if (step == (ptrdiff_t)sizeof(T)) return (const T *)x;                                               \
        for (ptrdiff_t i = 0; i < n; i++) buffer[i] = *(const T *)(x + i * step);                            \
        return buffer;                                                                                       \
    }                                                                                                        \
    VM_INLINE void vm_scatter_##T(const T *buffer, char *y, ptrdiff_t step, ptrdiff_t n) {                   \
        if ((const char *)buffer == y) return;                                                               \
        for (ptrdiff_t i = 0; i < n; i++) *(T *)(y + i * step) = buffer[i];                                  \
    }
VM_GATHER(double)
VM_GATHER(float)

/* Reduction and polynomials in loops of their own: processors overlap the elements of a short loop, and see too
   little of a long one. `sign` is the bit that the result takes from the argument. */
VM_INLINE void vm_sin_f64_loops(const double *x, double *y, ptrdiff_t n, uint64_t quarter, uint64_t sign) {
    double high[VM_BLOCK], low[VM_BLOCK], t[VM_BLOCK];
    VM_ELEMENTWISE
    for (ptrdiff_t i = 0; i < n; i++) high[i] = vm_reduce_f64(fabs(x[i]), low + i, t + i);
    VM_ELEMENTWISE
    for (ptrdiff_t i = 0; i < n; i++) {
        double a = vm_sin_reduced_f64(high[i], low[i], vm_bits64(t[i]) + quarter);
        y[i] = vm_double(vm_bits64(a) ^ (vm_bits64(x[i]) & sign));
    }
}

VM_INLINE void vm_sin_f64_fast(const double *x, double *y, ptrdiff_t n) {
    vm_sin_f64_loops(x, y, n, 0, (uint64_t)1 << 63);
}
VM_INLINE void vm_cos_f64_fast(const double *x, double *y, ptrdiff_t n) { vm_sin_f64_loops(x, y, n, 1, 0); }

#define VM_FAST(name, T)                                                                                     \
    VM_INLINE void vm_##name##_fast(const T *x, T *y, ptrdiff_t n) {                                         \
        VM_ELEMENTWISE                                                                                       \
        for (ptrdiff_t i = 0; i < n; i++) y[i] = vm_##name(x[i]);                                            \
    }
VM_FAST(tan_f64, double)
VM_FAST(sin_f32, float)
VM_FAST(cos_f32, float)
VM_FAST(tan_f32, float)

/* y[i] = f(x[i]) for n elements, sx and sy bytes apart. Results may replace the arguments that they come from.
   In a block with a rare argument (the difference of its bits from those of the limit is negative) the scalar
   function runs throughout. */
#define VM_RUN(name, T, U, bits, limit)                                                                      \
    static __attribute__((unused)) void vm_##name##_run(                                                     \
        const char *x, ptrdiff_t sx, char *y, ptrdiff_t sy, ptrdiff_t n) {                                   \
        const U sign = (U)1 << (8 * sizeof(U) - 1), top = bits(limit);                                       \
        T arguments[VM_BLOCK], results[VM_BLOCK];                                                            \
        for (; n > 0; n -= VM_BLOCK, x += VM_BLOCK * sx, y += VM_BLOCK * sy) {                               \
            ptrdiff_t m = n < VM_BLOCK ? n : VM_BLOCK;                                                       \
            const T *a = vm_gather_##T(x, sx, arguments, m);                                                 \
            T *r = sy == (ptrdiff_t)sizeof(T) ? (T *)y : results;                                            \
            U rare = 0;                                                                                      \
            for (ptrdiff_t i = 0; i < m; i++) rare |= top - (bits(a[i]) & ~sign);                            \
            if (rare & sign)                                                                                 \
                for (ptrdiff_t i = 0; i < m; i++) r[i] = vm_##name##_any(a[i]);                              \
            else                                                                                             \
                vm_##name##_fast(a, r, m);                                                                   \
            vm_scatter_##T(r, y, sy, m);                                                                     \
        }                                                                                                    \
    }

VM_RUN(sin_f64, double, uint64_t, vm_bits64, VM_TRIG_LIMIT_F64)
VM_RUN(cos_f64, double, uint64_t, vm_bits64, VM_TRIG_LIMIT_F64)
VM_RUN(tan_f64, double, uint64_t, vm_bits64, VM_TRIG_LIMIT_F64)
VM_RUN(sin_f32, float, uint32_t, vm_bits32, VM_TRIG_LIMIT_F32)
VM_RUN(cos_f32, float, uint32_t, vm_bits32, VM_TRIG_LIMIT_F32)
VM_RUN(tan_f32, float, uint32_t, vm_bits32, VM_TRIG_LIMIT_F32)

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
