/* Sine, cosine and tangent of huge arguments; included by vecmath.h after vecmath_sin.h.

   Note [Rare arguments]
       Reducing a huge argument takes as many digits of 2/pi as the argument has, which is too expensive for all arguments.
       vm_sin_f64_fast and similar bodies are right up to a limit; vm_sin_f64 is right everywhere, with the same bits below the
       limit, but does not vectorise: Note [Fast and rare]. */

/* -- huge arguments -------------------------------------------------------------------------------------- */

/* x - n * pi/2 as high + low for the nearest integer n; returns the two lowest bits of n. x is finite and at
   least 1.

   With x = m * 2**e, the leading bits of 2/pi that contribute multiples of 4 to x * 2/pi are omitted, and so are the bits after the
   next 192: m times these 192 bits, modulo 2**192, is the quotient modulo 4 with 190 bits after the point. No double is nearer to
   a multiple of pi/2 than 2**-62, so more than 70 bits are significant. */
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
    wide lower = (wide)(uint64_t)p1 << 64 | (uint64_t)p0;
    int n = (int)(top >> 62);
    top = top << 2 | (uint64_t)(lower >> 126);
    lower = lower << 2;
    int negative = (int)(top >> 63); /* more than half: use the next multiple */
    if (negative) {
        n++;
        lower = ~lower + 1;
        top = ~top + (lower == 0);
    }
    int zeros = 0; /* the fraction is normalised, with one word to be shifted in at most */
    if (top == 0) {
        zeros = 64;
        top = (uint64_t)(lower >> 64);
        lower = lower << 64;
    }
    int z = top ? __builtin_clzll(top) : 0;
    zeros += z;
    if (z) {
        top = top << z | (uint64_t)(lower >> (128 - z));
        lower = lower << z;
    }
    /* Times pi/2, 128 bits of it below 2: the product is 128 bits below 2. */
    uint64_t next = (uint64_t)(lower >> 64);
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

/* -- bodies for all arguments ----------------------------------------------------------------------------- */

static __attribute__((noinline, unused)) double vm_sin_huge(double x, uint64_t quarter) {
    double high, low;
    if (!(fabs(x) < INFINITY)) return x - x;
    int n = vm_reduce_huge(fabs(x), &high, &low);
    double y = vm_sin_reduced_f64(high, low, (uint64_t)n + quarter);
    return x < 0 && !quarter ? -y : y;
}

VM_INLINE double vm_sin_f64(double x) {
    return fabs(x) <= VM_TRIG_LIMIT_F64 ? vm_sin_f64_fast(x) : vm_sin_huge(x, 0);
}
VM_INLINE double vm_cos_f64(double x) {
    return fabs(x) <= VM_TRIG_LIMIT_F64 ? vm_cos_f64_fast(x) : vm_sin_huge(x, 1);
}

static __attribute__((noinline, unused)) double vm_tan_huge(double x) {
    double high, low;
    if (!(fabs(x) < INFINITY)) return x - x;
    int n = vm_reduce_huge(fabs(x), &high, &low);
    double y = vm_tan_reduced_f64(high, low, (uint64_t)n);
    return x < 0 ? -y : y;
}

VM_INLINE double vm_tan_f64(double x) {
    return fabs(x) <= VM_TRIG_LIMIT_F64 ? vm_tan_f64_fast(x) : vm_tan_huge(x);
}

/* (-1)**n * sin(x - n * pi) in double, for n in the lowest bits of t; relative error 2**-27.3 before rounding. A product at the end
   keeps the sign of zero. */
VM_INLINE float vm_sin_half_turns_f32(double x, double n, double t) {
    double r = fma(-n, 0x1.1a62633145c07p-53, fma(-n, 0x1.921fb54442d18p+1, x));
    double z = r * r;
    double p = -0x1.9f6f538478143p-13 + z * 0x1.5db3ec0d46921p-19;
    p = 1.0 + z * (-0x1.55554bb4a0f08p-3 + z * (0x1.110ed01533791p-7 + z * p));
    return (float)vm_double(vm_bits64(r * p) ^ vm_bits64(t) << 63);
}

/* For arguments beyond the limit of the fast bodies, where float has too few bits for the reduction */
VM_INLINE float vm_sin_large_f32(float x) {
    double t = x * VM_1_PI + VM_ROUND64;
    return vm_sin_half_turns_f32(x, t - VM_ROUND64, t);
}

/* cos(a) = -sin(a - pi/2): n is half an integer */
VM_INLINE float vm_cos_large_f32(float x) {
    double a = fabsf(x);
    double t = (a * VM_1_PI - 0.5) + VM_ROUND64;
    return vm_sin_half_turns_f32(a, (t - VM_ROUND64) + 0.5, t + 1.0);
}

/* By quarter turns and a quotient of polynomials, inverted at odd quarter turns; relative error 2**-35 before
   rounding */
VM_INLINE float vm_tan_large_f32(float x) {
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

#define VM_SIN_RARE_F32(x) (vm_bits32(VM_TRIG_SHORT_F32) - (vm_bits32(x) & ~VM_SIGN32))
#define VM_SIN_RARE_F64(x) (vm_bits64(VM_TRIG_LIMIT_F64) - (vm_bits64(x) & ~VM_SIGN64))

VM_INLINE float vm_sin_f32(float x) {
    float a = fabsf(x);
    if (a <= VM_TRIG_SHORT_F32) return vm_sin_f32_fast(x);
    return a <= VM_TRIG_LIMIT_F32 ? vm_sin_large_f32(x) : (float)vm_sin_huge((double)x, 0);
}
VM_INLINE float vm_cos_f32(float x) {
    float a = fabsf(x);
    if (a <= VM_TRIG_SHORT_F32) return vm_cos_f32_fast(x);
    return a <= VM_TRIG_LIMIT_F32 ? vm_cos_large_f32(x) : (float)vm_sin_huge((double)x, 1);
}
VM_INLINE float vm_tan_f32(float x) {
    float a = fabsf(x);
    if (a <= VM_TRIG_SHORT_F32) return vm_tan_f32_fast(x);
    return a <= VM_TRIG_LIMIT_F32 ? vm_tan_large_f32(x) : (float)vm_tan_huge((double)x);
}
