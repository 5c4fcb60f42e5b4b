/* Products of tiny matrices: a call of BLAS costs more than their arithmetic. Note [Tiny products], shortmade.pxi. */

#ifndef S0_PRODUCTS_H
#define S0_PRODUCTS_H

#include <stddef.h>

/*
 * `count` products of row-major matrices, one after the other in memory. Every element is summed up in double, in
 * the order of the inner axis and from -0.0, as the reduction "dot" does for so few.
 */
#define S0_PRODUCTS(NAME, TYPE)                                                                                    \
    static inline void NAME##_of(const TYPE *a, const TYPE *b, TYPE *out, ptrdiff_t count, int m, int n, int p)      \
    {                                                                                                              \
        double sums[64];                                                                                           \
        for (; count > 0; count--, a += m * n, b += n * p, out += m * p) {                                         \
            for (int i = 0; i < m; i++) {                                                                          \
                for (int k = 0; k < p; k++) {                                                                      \
                    sums[k] = -0.0;                                                                                \
                }                                                                                                  \
                for (int j = 0; j < n; j++) {                                                                      \
                    double x = a[i * n + j];                                                                       \
                    for (int k = 0; k < p; k++) {                                                                  \
                        sums[k] += x * (double)b[j * p + k];                                                       \
                    }                                                                                              \
                }                                                                                                  \
                for (int k = 0; k < p; k++) {                                                                      \
                    out[i * p + k] = (TYPE)sums[k];                                                                \
                }                                                                                                  \
            }                                                                                                      \
        }                                                                                                          \
    }                                                                                                              \
    /* Sizes that are known to the compiler leave no loop but the one over the stack. */                           \
    static void NAME(const void *a, const void *b, void *out, ptrdiff_t count, int m, int n, int p)                \
    {                                                                                                              \
        if (m == 2 && n == 2 && p == 2) {                                                                          \
            NAME##_of((const TYPE *)a, (const TYPE *)b, (TYPE *)out, count, 2, 2, 2);                              \
        }                                                                                                          \
        else if (m == 3 && n == 3 && p == 3) {                                                                     \
            NAME##_of((const TYPE *)a, (const TYPE *)b, (TYPE *)out, count, 3, 3, 3);                              \
        }                                                                                                          \
        else if (m == 4 && n == 4 && p == 4) {                                                                     \
            NAME##_of((const TYPE *)a, (const TYPE *)b, (TYPE *)out, count, 4, 4, 4);                              \
        }                                                                                                          \
        else {                                                                                                     \
            NAME##_of((const TYPE *)a, (const TYPE *)b, (TYPE *)out, count, m, n, p);                              \
        }                                                                                                          \
    }

S0_PRODUCTS(s0_products_f32, float)
S0_PRODUCTS(s0_products_f64, double)

#endif
