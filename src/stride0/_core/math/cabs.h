/* Magnitudes of contiguous complex numbers. */
#ifndef STRIDE0_CABS_H
#define STRIDE0_CABS_H

#include "complexmath.h"

/* Gives the same bits as abs_c, the loop over any strides. Squares of float32 are exact in float64, so the root of their sum is
 * wrong by little more than its last bit. That can change the float32 only if the root is next to the middle of two floats.
 * Such blocks, and blocks with subnormal results, use abs_c itself. */
static void s0_abs_complex64(char **a, const Py_ssize_t *s, const Py_ssize_t *t, Py_ssize_t n, Py_ssize_t m)
{
    enum { TILE = 256 };
    const uint64_t digits = ((uint64_t)1 << 29) - 1, middle = (uint64_t)1 << 28;
    const uint64_t least = vm_bits64(0x1p-126), infinity = vm_bits64(INFINITY);
    (void)s;
    for (Py_ssize_t j = 0; j < m; j++) {
        const float *x = (const float *)(a[0] + j * t[0]);
        float *y = (float *)(a[1] + j * t[1]);
        for (Py_ssize_t first = 0; first < n; first += TILE) {
            const Py_ssize_t last = n - first < TILE ? n : first + TILE;
            uint64_t near = 0;
            S0_ELEMENTWISE
            for (Py_ssize_t i = first; i < last; i++) {
                const double re = x[2 * i], im = x[2 * i + 1], root = sqrt(re * re + im * im);
                /* Differences whose first bit is set if the first number is smaller. */
                const uint64_t bits = vm_bits64(root), beside = ((bits + 4 - middle) & digits) - 9;
                const uint64_t tiny = (bits - least) & ~(bits - 1), nan = (infinity - bits) | bits;
                near |= beside | tiny | nan;
                y[i] = (float)root;
            }
            if (near >> 63)
                for (Py_ssize_t i = first; i < last; i++)
                    y[i] = (float)abs_c(make_c(x[2 * i], x[2 * i + 1]));
        }
    }
}

/* Note [Fast and rare] in vecmath_run.h. */
static void s0_abs_complex128(char **a, const Py_ssize_t *s, const Py_ssize_t *t, Py_ssize_t n, Py_ssize_t m)
{
    (void)s;
    for (Py_ssize_t j = 0; j < m; j++) {
        const double *x = (const double *)(a[0] + j * t[0]);
        double *y = (double *)(a[1] + j * t[1]);
        for (Py_ssize_t first = 0; first < n; first += VM_BLOCK) {
            const Py_ssize_t last = n - first < VM_BLOCK ? n : first + VM_BLOCK;
            uint64_t rare = 0;
            S0_ELEMENTWISE
            for (Py_ssize_t i = first; i < last; i++) {
                uint64_t flags;
                y[i] = vm_hypot_f64_fast(x[2 * i], x[2 * i + 1], &flags);
                rare |= flags;
            }
            if (rare >> 63)
                for (Py_ssize_t i = first; i < last; i++)
                    y[i] = abs_c(make_c(x[2 * i], x[2 * i + 1]));
        }
    }
}

#endif
