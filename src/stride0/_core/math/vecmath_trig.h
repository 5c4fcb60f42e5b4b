/* Sine, cosine and tangent, float32 and float64; included by vecmath.h.

   Note [Rare arguments]
       Reducing a huge argument takes as many digits of 2/pi as the argument has, which is too expensive for all arguments.
       vm_sin_f64_fast and similar bodies are right up to a limit; vm_sin_f64 is right everywhere, with the same bits below the
       limit, but does not vectorise: Note [Fast and rare]. */

#define VM_TRIG_SHORT_F32 0x1p15f
#define VM_TRIG_LIMIT_F32 0x1p25f
#define VM_TRIG_LIMIT_F64 0x1p30
#define VM_2_PI 0x1.45f306dc9c883p-1
#define VM_1_PI 0x1.45f306dc9c883p-2
#define VM_PI_HI 0x1.921fb54442d18p+1
#define VM_PI_LO 0x1.1a62633145c07p-53
#define VM_PI_2_HI 0x1.921fb54442d18p+0
#define VM_PI_2_LO 0x1.1a62633145c07p-54
#define VM_PI_4_HI 0x1.921fb54442d18p-1
#define VM_PI_4_LO 0x1.1a62633145c07p-55

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

/* -- float64 --------------------------------------------------------------------------------------------- */

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

/* Sine of |x|, or with quarter = 1 the cosine: the sine shifted by a quarter turn. `turn` is n modulo 4. */
VM_INLINE double vm_sin_reduced_f64(double high, double low, uint64_t turn) {
    double z = high * high;
    double h = 0.5 * z;
    double w = 1.0 - h;
    double s = high + vm_sin_tail_f64(high, low, z, w);
    double c = w + vm_cos_tail_f64(high * low, z, h, w);
    double y = turn & 1 ? c : s;
    return vm_double(vm_bits64(y) ^ (turn & 2) << 62);
}

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

VM_INLINE double vm_sin_shifted_f64(double a, uint64_t quarter) {
    double low, t;
    double high = vm_reduce_f64(a, &low, &t);
    return vm_sin_reduced_f64(high, low, vm_bits64(t) + quarter);
}

VM_INLINE double vm_sin_f64_fast(double x) {
    double y = vm_sin_shifted_f64(fabs(x), 0);
    return vm_double(vm_bits64(y) ^ (vm_bits64(x) & (uint64_t)1 << 63));
}

VM_INLINE double vm_cos_f64_fast(double x) { return vm_sin_shifted_f64(fabs(x), 1); }

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

/* Tangent of high + low + n * pi/2: the sine divided by the cosine, or the cosine by minus the sine, each as a sum of two numbers. The
   remainder of the division gives the error of the quotient. */
VM_INLINE double vm_tan_reduced_f64(double high, double low, uint64_t turn) {
    double z = high * high;
    double h = 0.5 * z;
    double w = 1.0 - h;
    double zl = fma(high, high, -z); /* the rounding error of z */
    double st = fma(high * zl, -0x1.5555555555555p-3, vm_sin_tail_f64(high, low, z, w));
    double ct = vm_cos_tail_f64(fma(high, low, 0.5 * zl), z, h, w);
    int odd = turn & 1;
    double n = odd ? w : high, nl = odd ? ct : st;
    double d = odd ? high : w, dl = odd ? st : ct;
    double top = n + nl, sum = d + dl;
    double inverse = 1.0 / sum;
    double q = top * inverse;
    double error = fma(-q, sum, top) + fma(-q, (d - sum) + dl, (n - top) + nl);
    double y = fma(error, inverse, q);
    return odd ? -y : y;
}

VM_INLINE double vm_tan_f64_fast(double x) {
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

VM_INLINE double vm_tan_f64(double x) {
    return fabs(x) <= VM_TRIG_LIMIT_F64 ? vm_tan_f64_fast(x) : vm_tan_huge(x);
}

/* -- float32 --------------------------------------------------------------------------------------------- */

/* As in float64. */
VM_INLINE float vm_reduce_f32(float a, float *low, float *t) {
    *t = fmaf(a, (float)VM_2_PI, VM_ROUND32);
    float n = *t - VM_ROUND32;
    float d = fmaf(-n, 0x1.921fb6p+0f, a);
    float m = n * 0x1.777a5cp-25f;
    float r = d + m;
    *low = fmaf(n, 0x1.ee59dap-50f, ((d - r) + m) + fmaf(n, 0x1.777a5cp-25f, -m));
    return r;
}

/* sin(r + low) - r on +-pi/4, for z = r**2 and w near cos(r); relative error of the sine 2**-28 */
VM_INLINE float vm_sin_tail_f32(float r, float low, float z, float w) {
    float p = fmaf(z, fmaf(z, -0x1.9954a4p-13f, 0x1.11077ap-7f), -0x1.555546p-3f);
    return fmaf(r * z, p, low * w);
}

/* cos(r) - w, for r**2 = z + 2 * half with a small `half`, and w = 1 - z / 2, rounded; relative error of the cosine 2**-33 */
VM_INLINE float vm_cos_tail_f32(float half, float z, float w) {
    float p = fmaf(z, fmaf(z, 0x1.99e0eep-16f, -0x1.6c0c1ap-10f), 0x1.55554ap-5f);
    return fmaf(z * z, p, fmaf(z, -0.5f, 1.0f - w) - half);
}

VM_INLINE float vm_sin_shifted_f32(float a, uint32_t quarter) {
    float low, t, r = vm_reduce_f32(a, &low, &t);
    float z = r * r;
    float w = fmaf(z, -0.5f, 1.0f);
    float s = r + vm_sin_tail_f32(r, low, z, w);
    float c = w + vm_cos_tail_f32(r * low, z, w);
    uint32_t turn = vm_bits32(t) + quarter;
    return vm_float(vm_bits32(turn & 1 ? c : s) ^ (turn & 2) << 30);
}

VM_INLINE float vm_sin_f32_fast(float x) {
    float y = vm_sin_shifted_f32(fabsf(x), 0);
    return vm_float(vm_bits32(y) ^ (vm_bits32(x) & VM_SIGN32));
}

VM_INLINE float vm_cos_f32_fast(float x) { return vm_sin_shifted_f32(fabsf(x), 1); }

/* As in float64. */
VM_INLINE float vm_tan_f32_fast(float x) {
    float low, t, r = vm_reduce_f32(fabsf(x), &low, &t);
    float z = r * r;
    float w = fmaf(z, -0.5f, 1.0f);
    float zl = fmaf(r, r, -z); /* the rounding error of z */
    float st = fmaf(r * zl, -0x1.555556p-3f, vm_sin_tail_f32(r, low, z, w));
    float ct = vm_cos_tail_f32(fmaf(r, low, 0.5f * zl), z, w);
    int odd = vm_bits32(t) & 1;
    float n = odd ? w : r, nl = odd ? ct : st;
    float d = odd ? r : w, dl = odd ? st : ct;
    float top = n + nl, sum = d + dl;
    float inverse = 1.0f / sum;
    float q = top * inverse;
    float error = fmaf(-q, sum, top) + fmaf(-q, (d - sum) + dl, (n - top) + nl);
    float y = fmaf(error, inverse, q);
    return vm_float(vm_bits32(y) ^ vm_bits32(t) << 31 ^ (vm_bits32(x) & VM_SIGN32));
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
