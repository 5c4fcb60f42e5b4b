/* Largest error of the functions of two arguments of vecmath.h over many pairs, against MPFR.

   The pairs: random bits, numbers of ordinary size, numbers near one another, near one and near the ends of
   the range (for pow: bases and exponents whose power is near overflow, underflow or one; integers and
   halves), and all pairs of special values, whose results the C library's functions tell. Where the terms
   of logaddexp cancel, its error is counted in units of the larger operand. Build and run:

   cc -O3 -march=native -ffp-contract=off -fno-math-errno -fno-trapping-math -fno-strict-aliasing \
   -I../../src/stride0/_core/math -o binary binary.c -lmpfr -lgmp -lm ./binary pow 10000000 [seed [file]] #
   float64, then float32; file64 and file32 get the operands, the # nearest result and its error in ULP
   ./binary all 100000

   Prints what float64.c prints. */

#include "vecmath.h"
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 4096, PRECISION = 120 };

typedef int reference(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);

static int ref_logaddexp(mpfr_t z, const mpfr_t x, const mpfr_t y, mpfr_rnd_t r) {
    mpfr_t a, b;
    mpfr_inits2(PRECISION + 40, a, b, (mpfr_ptr)0);
    int done = 0;
    if (mpfr_nan_p(x) || mpfr_nan_p(y)) {
        mpfr_set_nan(z);
        done = 1;
    } else if (mpfr_equal_p(x, y) && mpfr_inf_p(x)) {
        mpfr_set(z, x, r);
        done = 1;
    }
    if (!done) {
        int less = mpfr_less_p(x, y);
        mpfr_sub(a, less ? x : y, less ? y : x, r);
        mpfr_exp(b, a, r);
        mpfr_log1p(b, b, r);
        mpfr_add(z, less ? y : x, b, r);
    }
    mpfr_clears(a, b, (mpfr_ptr)0);
    return 0;
}
static double logaddexp(double x, double y) {
    if (x == y) return x + 0.69314718055994530942;
    return x != x || y != y ? x + y : x > y ? x + log1p(exp(y - x)) : y + log1p(exp(x - y));
}

typedef struct {
    const char *name;
    void (*loop64)(const double *, const double *, double *, int);
    void (*loop32)(const float *, const float *, float *, int);
    reference *ref;
    double (*special)(double, double);
    int cancels;
} entry;

/* Loops with two bodies have to give the bits of the one that is right for all arguments. */
static uint64_t differ;
#define LOOP(name, bits, T)                                                                                   \
    static void loop##bits##_##name(const T *x, const T *y, T *z, int n) {                                    \
        vm_##name##_f##bits##_run(                                                                            \
            (const char *)x, sizeof *x, (const char *)y, sizeof *y, (char *)z, sizeof *z, n);                 \
        for (int i = 0; i < n; i++) {                                                                         \
            T w = vm_##name##_f##bits(x[i], y[i]);                                                            \
            differ += memcmp(&w, z + i, sizeof w) != 0 && !(w != w && z[i] != z[i]);                          \
        }                                                                                                     \
    }
#define F(name) LOOP(name, 64, double) LOOP(name, 32, float)
#define G(name) F(name)
#include "binary_functions.h"
#undef F
#undef G
#define F(name) {#name, loop64_##name, loop32_##name, mpfr_##name, name, 0},
#define G(name) {#name, loop64_##name, loop32_##name, ref_##name, name, 1},
static const entry FUNCTIONS[] = {
#include "binary_functions.h"
};

static uint64_t state;
static uint64_t next(void) { /* splitmix64 */
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
static double uniform(void) { return (double)(next() >> 11) * 0x1p-53; }
static double wide(int exponent) { /* of any size up to 2**exponent, and its inverse */
    double m = ldexp(uniform() + 1, (int)(next() % (2 * (uint64_t)exponent)) - exponent);
    return next() & 1 ? m : -m;
}

static const double SPECIAL[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1.0, -1.0, 0x1p-1022, -0x1p-1074, 0.5,
    -0.5, 2.0, -2.0, 3.0, -3.0, 1.5, -1.5, 0x1.fffffffffffffp1023, -0x1.fffffffffffffp1023, 0x1p53, 0x1p24,
    -0x1p54, 0x1.fffffffffffffp52, 0x1.fffffep23, 10.0, 0x1.fffffffffffffp-1, 0x1.fffffep-1, 0x1p-149, -0x1p-149,
    0x1.fffffep127, 0x1p-126, 1e300, -1e300};
enum { SPECIALS = sizeof SPECIAL / sizeof *SPECIAL };

static void pair(uint64_t i, int narrow, double *x, double *y) {
    int top = narrow ? 128 : 1024;
    if (i < SPECIALS * SPECIALS) {
        *x = SPECIAL[i / SPECIALS], *y = SPECIAL[i % SPECIALS];
        return;
    }
    switch (next() % 10) {
    case 0: *x = vm_double(next()), *y = vm_double(next()); break;
    case 1: *x = wide(top), *y = wide(20); break;
    case 2: /* powers of all sizes */
        *x = fabs(wide(top)), *y = (uniform() * 2 - 1) * 1.05 * top / log2(*x);
        break;
    case 3: *x = 1 + wide(30) * 0x1p-30, *y = wide(40); break;
    case 4: /* powers near the ends of the range */
        *x = fabs(wide(30)), *y = (next() & 1 ? -1 : 1) * top * (1 + (uniform() - 0.5) * 0.1) / log2(*x);
        break;
    case 5: /* many of them exact */
        *x = (double)(next() % 40) / (next() & 1 ? 1 : 4);
        *y = ((double)(next() % 41) - 20) / (next() & 1 ? 1 : 2);
        break;
    case 6: *x = wide(60), *y = *x * (1 + wide(8) * 0x1p-8); break;
    case 7: *x = uniform() * 10, *y = uniform() * 20 - 10; break;
    case 8: *x = -log(uniform()) * 20 - 10, *y = *x + wide(6); break;
    default: *x = uniform() * 2 - 1, *y = uniform() * 2 - 1; break;
    }
}

static double ulps(double got, mpfr_t want, mpfr_t difference, int narrow, double operand) {
    mpfr_exp_t e = mpfr_get_exp(want);
    int least;
    frexp(operand, &least);
    if (operand == 0) least = -2000;
    if (e < least) e = least;
    int top = narrow ? 128 : 1024, digits = narrow ? 24 : 53;
    if (e > top) e = top;
    if (e < 3 - top) e = 3 - top;
    if (isinf(got)) {
        mpfr_set_ui_2exp(difference, 1, top, MPFR_RNDN);
        if (got < 0) mpfr_neg(difference, difference, MPFR_RNDN);
    } else {
        mpfr_set_d(difference, got, MPFR_RNDN);
    }
    mpfr_sub(difference, difference, want, MPFR_RNDN);
    mpfr_mul_2si(difference, difference, digits - e, MPFR_RNDN);
    return fabs(mpfr_get_d(difference, MPFR_RNDN));
}

static void check(const entry *f, uint64_t total, uint64_t seed, int narrow, const char *file) {
    char path[4096];
    if (file) snprintf(path, sizeof path, "%s%d", file, narrow ? 32 : 64);
    FILE *dump = file ? fopen(path, "wb") : NULL;
    static double x[BLOCK], y[BLOCK], z[BLOCK];
    static float x4[BLOCK], y4[BLOCK], z4[BLOCK];
    double worst = 0, wx = 0, wy = 0;
    uint64_t rounded = 0, wrong = 0;
    mpfr_t x_, y_, z_, d_;
    mpfr_inits2(PRECISION, x_, y_, z_, d_, (mpfr_ptr)0);
    state = seed;
    for (uint64_t start = 0; start < total; start += BLOCK) {
        for (int i = 0; i < BLOCK; i++) {
            pair(start + (uint64_t)i, narrow, x + i, y + i);
            if (narrow) {
                x[i] = x4[i] = (float)x[i];
                y[i] = y4[i] = (float)y[i];
            }
        }
        if (narrow) {
            f->loop32(x4, y4, z4, BLOCK);
            for (int i = 0; i < BLOCK; i++) z[i] = z4[i];
        } else {
            f->loop64(x, y, z, BLOCK);
        }
        for (int i = 0; i < BLOCK; i++) {
            mpfr_set_d(x_, x[i], MPFR_RNDN);
            mpfr_set_d(y_, y[i], MPFR_RNDN);
            f->ref(z_, x_, y_, MPFR_RNDN);
            double nearest = narrow ? (double)mpfr_get_flt(z_, MPFR_RNDN) : mpfr_get_d(z_, MPFR_RNDN);
            int special = !mpfr_regular_p(z_) || !(x[i] - x[i] == 0 && y[i] - y[i] == 0);
            if (special) nearest = f->special(x[i], y[i]);
            if (special && narrow) nearest = (float)nearest;
            if (dump) {
                double unit = f->cancels ? fmax(x[i], y[i]) : 0;
                double record[4] = {x[i], y[i], nearest, special ? 0 : ulps(nearest, z_, d_, narrow, unit)};
                if (mpfr_sgn(d_) < 0) record[3] = -record[3];
                fwrite(record, sizeof record, 1, dump);
            }
            if (vm_bits64(z[i]) == vm_bits64(nearest) || (isnan(nearest) && isnan(z[i]))) continue;
            if (isnan(nearest) || isnan(z[i]) || special || signbit(z[i]) != signbit(nearest)) {
                if (wrong++ < 8)
                    printf("  wrong: %s(%a, %a) = %a, not %a\n", f->name, x[i], y[i], z[i], nearest);
                continue;
            }
            rounded++;
            double e = ulps(z[i], z_, d_, narrow, f->cancels ? fmax(x[i], y[i]) : 0);
            if (e > worst) worst = e, wx = x[i], wy = y[i];
        }
    }
    if (differ) printf("  %llu results of the loop differ from the function's\n", (unsigned long long)differ);
    wrong += differ;
    differ = 0;
    printf("%-9s float%d %11llu pairs, %.4f ULP at (%a, %a) (%.9g, %.9g), %llu not nearest, %llu wrong\n", f->name,
           narrow ? 32 : 64, (unsigned long long)total, worst, wx, wy, wx, wy, (unsigned long long)rounded,
           (unsigned long long)wrong);
    fflush(stdout);
    if (dump) fclose(dump);
    mpfr_clears(x_, y_, z_, d_, (mpfr_ptr)0);
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    for (size_t k = 0; k < sizeof FUNCTIONS / sizeof *FUNCTIONS; k++)
        if (strcmp(argv[1], FUNCTIONS[k].name) == 0 || strcmp(argv[1], "all") == 0)
            for (int narrow = 0; narrow < 2; narrow++)
                check(&FUNCTIONS[k], strtoull(argv[2], NULL, 10), argc > 3 ? strtoull(argv[3], NULL, 10) : 1, narrow,
                      argc > 4 ? argv[4] : NULL);
    return 0;
}
