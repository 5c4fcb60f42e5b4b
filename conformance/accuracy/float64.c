/* Largest error of the unary float64 functions of vecmath.h over many inputs, against MPFR.

   The inputs: random bits (all exponents and signs), random numbers of ordinary size, and neighbourhoods of
   the hard places: zero, one, the ends of the ranges, subnormals, multiples of pi/2 and of pi/4 up to 1e22,
   powers of two and their logarithms. Build and run:

   cc -O3 -march=native -ffp-contract=off -fno-math-errno -fno-trapping-math -fno-strict-aliasing \
   -I../../src/stride0/_core/math -o float64 float64.c -lmpfr -lgmp -lm ./float64 exp 10000000 [seed [file]] #
   the file gets input, nearest result and its error in ULP ./float64 all 100000

   Prints the function, the number of inputs, the largest error in ULP and where it is, how many results are
   not the nearest double, and how many special values (NaN, infinity, the sign of zero) are wrong. */

#include "vecmath.h"
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 4096, PRECISION = 120 };

typedef struct {
    const char *name;
    void (*loop)(const double *, double *, int);
    int (*reference)(mpfr_t, const mpfr_t, mpfr_rnd_t);
    double low, high; /* the range of ordinary numbers */
} entry;

#define F(name, low, high)                                                                                    \
    static void loop_##name(const double *x, double *y, int n) {                                              \
        for (int i = 0; i < n; i++) y[i] = vm_##name##_f64(x[i]);                                             \
    }
/* Loops with two bodies have to give the bits of the one that is right for all arguments. */
static uint64_t differ;
#define R(name, low, high)                                                                                    \
    static void loop_##name(const double *x, double *y, int n) {                                              \
        vm_##name##_f64_run((const char *)x, sizeof *x, (char *)y, sizeof *y, n);                             \
        for (int i = 0; i < n; i++) {                                                                         \
            double z = vm_##name##_f64(x[i]);                                                                 \
            differ += memcmp(&z, y + i, sizeof z) != 0 && !(z != z && y[i] != y[i]);                          \
        }                                                                                                     \
    }
#include "float64_functions.h"
#undef F
#undef R
#define F(name, low, high) {#name, loop_##name, mpfr_##name, low, high},
#define R(name, low, high) F(name, low, high)
static const entry FUNCTIONS[] = {
#include "float64_functions.h"
};

static uint64_t state;
static uint64_t next(void) { /* splitmix64 */
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
static double uniform(void) { return (double)(next() >> 11) * 0x1p-53; }

static const double SPECIAL[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1.0, -1.0, 0x1p-1022, -0x1p-1022, 0x1p-1074,
    -0x1p-1074, 0x1.fffffffffffffp1023, -0x1.fffffffffffffp1023, 0.5, -0.5, 2.0, -2.0, 709.782712893384,
    709.7827128933841, -745.1332191019411, -745.1332191019412, -708.3964185322641, 1024.0, -1075.0, -1074.0,
    710.4758600739439, 710.475860073944, 0x1p52, 0x1p53, 0x1p54, -0x1p53, 0x1p1023};

/* A number somewhere near `place`: from its neighbour to a relative distance of 2**-8. */
static double near(double place) {
    double span = ldexp(fabs(place) + (place == 0 ? 1 : 0), -(int)(next() % 50) - 8);
    return place + (uniform() * 2 - 1) * span;
}

static double input(const entry *f, uint64_t i) {
    if (i < sizeof SPECIAL / sizeof *SPECIAL) return SPECIAL[i];
    switch (next() % 8) {
    case 0: return vm_double(next());
    case 1: return near(SPECIAL[next() % (sizeof SPECIAL / sizeof *SPECIAL)]);
    case 2: { /* multiples of pi/4, mostly small */
        double n = floor(ldexp(uniform() + 1, (int)(next() % 74)));
        double m = n * 0.78539816339744830962;
        return (next() & 1 ? m : -m) * (next() & 1 ? 1 : 1 + (uniform() - 0.5) * ldexp(1, -(int)(next() % 53)));
    }
    case 3: return near(f->low + (f->high - f->low) * (double)(next() % 65) / 64);
    case 4: return near((double)(int)(next() % 4096 - 2048) * 0.34657359027997264); /* halves of ln(2) */
    case 5: return ldexp(uniform() + 1, -(int)(next() % 60)) * (next() & 1 ? 1 : -1);
    default: return f->low + (f->high - f->low) * uniform();
    }
}

static double ulps(double got, mpfr_t want, mpfr_t difference) {
    mpfr_exp_t e = mpfr_get_exp(want);
    if (e > 1024) e = 1024;
    if (e < -1021) e = -1021;
    if (isinf(got)) {
        mpfr_set_ui_2exp(difference, 1, 1024, MPFR_RNDN);
        if (got < 0) mpfr_neg(difference, difference, MPFR_RNDN);
    } else {
        mpfr_set_d(difference, got, MPFR_RNDN);
    }
    mpfr_sub(difference, difference, want, MPFR_RNDN);
    mpfr_mul_2si(difference, difference, 53 - e, MPFR_RNDN);
    return fabs(mpfr_get_d(difference, MPFR_RNDN));
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    uint64_t total = strtoull(argv[2], NULL, 10);
    mpfr_t x_, y_, d_;
    mpfr_inits2(PRECISION, x_, y_, d_, (mpfr_ptr)0);
    for (size_t k = 0; k < sizeof FUNCTIONS / sizeof *FUNCTIONS; k++) {
        const entry *f = &FUNCTIONS[k];
        if (strcmp(argv[1], f->name) != 0 && strcmp(argv[1], "all") != 0) continue;
        state = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
        static double x[BLOCK], y[BLOCK];
        FILE *dump = argc > 4 ? fopen(argv[4], "wb") : NULL;
        double worst = 0, where = 0;
        uint64_t rounded = 0, wrong = 0;
        for (uint64_t start = 0; start < total; start += BLOCK) {
            for (int i = 0; i < BLOCK; i++) x[i] = input(f, start + (uint64_t)i);
            f->loop(x, y, BLOCK);
            for (int i = 0; i < BLOCK; i++) {
                mpfr_set_d(x_, x[i], MPFR_RNDN);
                f->reference(y_, x_, MPFR_RNDN);
                double nearest = mpfr_get_d(y_, MPFR_RNDN);
                if (dump) {
                    double record[3] = {x[i], nearest, mpfr_regular_p(y_) ? ulps(nearest, y_, d_) : 0};
                    if (mpfr_sgn(d_) < 0) record[2] = -record[2];
                    fwrite(record, sizeof record, 1, dump);
                }
                if (vm_bits64(y[i]) == vm_bits64(nearest) || (isnan(nearest) && isnan(y[i]))) continue;
                if (isnan(nearest) || isnan(y[i]) || !mpfr_regular_p(y_) || signbit(y[i]) != signbit(nearest)) {
                    if (wrong++ < 5) printf("  wrong: %s(%a) = %a, not %a\n", f->name, x[i], y[i], nearest);
                    continue;
                }
                rounded++;
                double e = ulps(y[i], y_, d_);
                if (e > worst) worst = e, where = x[i];
            }
        }
        if (dump) fclose(dump);
        if (differ) printf("  %llu results of the loop differ from the function's\n", (unsigned long long)differ);
        wrong += differ;
        differ = 0;
        printf("%-8s %11llu inputs, %.4f ULP at %a (%.17g), %llu not nearest, %llu wrong\n", f->name,
               (unsigned long long)total, worst, where, where, (unsigned long long)rounded,
               (unsigned long long)wrong);
        fflush(stdout);
    }
    return 0;
}
