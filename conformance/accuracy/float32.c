/* Largest error of the unary float32 functions of vecmath.h over all 2**32 inputs, or every n-th of them.

   The reference is the C library's function in double, whose own error (below one unit of double) is 2**-29
   of a unit of float. Build and run (the error is independent of the instruction set):

   cc -O3 -march=native -ffp-contract=off -fno-math-errno -fno-trapping-math -fno-strict-aliasing \
   -I../../src/stride0/_core/math -o float32 float32.c -lm ./float32 tanh # every input ./float32 tanh 1009 # a
   stride ./float32 tanh 1009 file # also writes each input and the reference, as doubles, to the file

   Prints the function, the number of inputs, the largest error in ULP and where it is, how many results are
   not the nearest float, and how many special values (NaN, infinity, the sign of zero) are wrong. */

#include "vecmath.h"
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 4096 }; /* elements, of which the functions with rare arguments look at 512 at a time */

typedef struct {
    const char *name;
    void (*loop)(const float *, float *, int);
    double (*reference)(double);
} entry;

#define F(name)                                                                                               \
    static void loop_##name(const float *x, float *y, int n) {                                                \
        for (int i = 0; i < n; i++) y[i] = vm_##name##_f32(x[i]);                                             \
    }
/* Loops with two bodies have to give the bits of the one that is right for all arguments. */
static uint64_t differ;
#define R(name)                                                                                               \
    static void loop_##name(const float *x, float *y, int n) {                                                \
        vm_##name##_f32_run((const char *)x, sizeof *x, (char *)y, sizeof *y, n);                             \
        for (int i = 0; i < n; i++) {                                                                         \
            float z = vm_##name##_f32(x[i]);                                                                  \
            differ += memcmp(&z, y + i, sizeof z) != 0 && !(z != z && y[i] != y[i]);                          \
        }                                                                                                     \
    }
#include "float32_functions.h"
#undef F
#undef R
#define F(name) {#name, loop_##name, name},
#define R(name) F(name)
static const entry FUNCTIONS[] = {
#include "float32_functions.h"
};

/* Distance from `got` to `want` in units of the last place of a float of the size of `want`. */
static double ulps(float got, double want) {
    int exponent;
    double size = fabs(want);
    frexp(size > 0x1.fffffep127 ? 0x1.fffffep127 : size, &exponent);
    if (exponent < -125) exponent = -125;
    double value = isinf(got) ? copysign(0x1p128, got) : (double)got;
    return fabs(value - want) / ldexp(1.0, exponent - 24);
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    uint64_t stride = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    for (size_t k = 0; k < sizeof FUNCTIONS / sizeof *FUNCTIONS; k++) {
        const entry *f = &FUNCTIONS[k];
        if (strcmp(argv[1], f->name) != 0 && strcmp(argv[1], "all") != 0) continue;
        static float x[BLOCK], y[BLOCK];
        FILE *dump = argc > 3 ? fopen(argv[3], "wb") : NULL;
        double worst = 0;
        float where = 0;
        uint64_t count = 0, rounded = 0, wrong = 0;
        for (uint64_t start = 0; start < (uint64_t)1 << 32;) {
            int n = 0;
            for (; n < BLOCK && start < (uint64_t)1 << 32; n++, start += stride) x[n] = vm_float((uint32_t)start);
            f->loop(x, y, n);
            for (int i = 0; i < n; i++) {
                double want = f->reference(x[i]);
                float nearest = (float)want;
                count++;
                if (dump) {
                    double record[2] = {x[i], want};
                    fwrite(record, sizeof record, 1, dump);
                }
                if (vm_bits32(y[i]) == vm_bits32(nearest)) continue;
                if (isnan(want) || isnan(y[i])) {
                    if (!(isnan(want) && isnan(y[i]))) {
                        if (!wrong++) printf("  wrong: %s(%a) = %a, not %a\n", f->name, x[i], y[i], want);
                    }
                    continue;
                }
                int finite = !isinf(want);
                if (!finite || (want == 0 && y[i] != 0) || signbit(y[i]) != signbit(nearest)) {
                    if (!wrong++) printf("  wrong: %s(%a) = %a, not %a\n", f->name, x[i], y[i], want);
                    continue;
                }
                double e = ulps(y[i], want);
                rounded++;
                if (e > worst) worst = e, where = x[i];
            }
        }
        if (dump) fclose(dump);
        if (differ) printf("  %llu results of the loop differ from the function's\n", (unsigned long long)differ);
        wrong += differ;
        differ = 0;
        printf("%-8s %11llu inputs, %.4f ULP at %a (%.9g), %llu not nearest, %llu wrong\n", f->name,
               (unsigned long long)count, worst, where, where, (unsigned long long)rounded,
               (unsigned long long)wrong);
        fflush(stdout);
    }
    return 0;
}
