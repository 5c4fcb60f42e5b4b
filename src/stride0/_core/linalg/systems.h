/* Small systems of linear equations, and determinants: elimination with partial pivoting, as in LAPACK, in the rows of a copy. Also
 * triangular factors of positive definite matrices. For the usual sizes the compiler unrolls the loops here. A block of
 * `block_kernels.h` has the same operations in the same order, Note [Blocked decompositions]: results have the same bits. */
#ifndef STRIDE0_SYSTEMS_H
#define STRIDE0_SYSTEMS_H

#include <math.h>

#include "block_steps.h"
#include "kernels.h"
#include "packs.h"

/* Replace a matrix by its factors L and U, and write its rows in the order of the pivots. Returns the sign of that order, or 0 if a
 * pivot is 0. `sums` is memory for a matrix. */
S0_INLINE int s0_factor(double *a, double *sums, int n, int *order)
{
    int sign = 1, singular = 0, i, j, k, best;
    for (i = 0; i < n; i++)
        order[i] = i;
    for (i = 0; i < n * n; i++)
        sums[i] = -0.0;
    for (j = 0; j < n; j++) {
        double greatest, swapped, pivot;
        for (i = j; i < n; i++)
            a[i * n + j] -= sums[i * n + j];
        greatest = fabs(a[j * n + j]);
        for (best = j, i = j + 1; i < n; i++)
            if (fabs(a[i * n + j]) > greatest) {
                greatest = fabs(a[i * n + j]);
                best = i;
            }
        if (best != j) {
            for (k = 0; k < n; k++) {
                swapped = a[j * n + k];
                a[j * n + k] = a[best * n + k];
                a[best * n + k] = swapped;
                swapped = sums[j * n + k];
                sums[j * n + k] = sums[best * n + k];
                sums[best * n + k] = swapped;
            }
            k = order[j];
            order[j] = order[best];
            order[best] = k;
            sign = -sign;
        }
        for (k = j + 1; k < n; k++)
            a[j * n + k] -= sums[j * n + k];
        singular |= greatest == 0;
        pivot = a[j * n + j];
        for (i = j + 1; i < n; i++) {
            const double factor = a[i * n + j] = greatest == 0 ? a[i * n + j] : a[i * n + j] / pivot;
            for (k = j + 1; k < n; k++)
                sums[i * n + k] = fma(factor, a[j * n + k], sums[i * n + k]);
        }
    }
    return singular ? 0 : sign;
}

/* Replace p right-hand sides, in rows, by the solutions. `sum` is memory for a row of S0_FEW_ROWS elements. */
S0_INLINE void s0_eliminate(const double *a, int n, double *x, Py_ssize_t p, double *sum)
{
    Py_ssize_t c, first, count;
    int turn, t, i, k, j;
    for (first = 0; first < p; first += S0_FEW_ROWS, x += S0_FEW_ROWS) {
        count = p - first < S0_FEW_ROWS ? p - first : S0_FEW_ROWS;
        for (turn = 0; turn < 2; turn++)
            for (t = 0; t < n; t++) {
                /* Down the rows of L, then up the rows of U. */
                i = turn ? n - 1 - t : t;
                for (c = 0; c < count; c++)
                    sum[c] = -0.0;
                for (j = 0; j < t; j++) {
                    k = turn ? n - 1 - j : j;
                    for (c = 0; c < count; c++)
                        sum[c] = fma(a[i * n + k], x[k * p + c], sum[c]);
                }
                for (c = 0; c < count; c++) {
                    x[i * p + c] -= sum[c];
                    if (turn)
                        x[i * p + c] /= a[i * n + i];
                }
            }
    }
}

S0_INLINE int s0_systems_of(const s0_systems *all, Py_ssize_t first, Py_ssize_t last, int n, Py_ssize_t p)
{
    double a[S0_FEW_ROWS * S0_FEW_ROWS], sums[S0_FEW_ROWS * S0_FEW_ROWS];
    int order[S0_FEW_ROWS], i, j, sign;
    Py_ssize_t m, c;
    for (m = first; m < last; m++) {
        const char *from = all->a + m * all->a_strides[0], *sides = all->b + m * all->b_strides[0];
        double *x = all->x + m * n * p;
        for (i = 0; i < n; i++)
            for (j = 0; j < n; j++)
                a[i * n + j] = *(const double *)(from + i * all->a_strides[1] + j * all->a_strides[2]);
        sign = s0_factor(a, sums, n, order);
        if (all->factor) {
            s0_multiply_diagonal(a, n + 1, n, sign, all->factor + m, all->exponent + m);
            continue;
        }
        if (!sign)
            return 0;
        for (i = 0; i < n; i++)
            for (c = 0; c < p; c++)
                x[i * p + c] = all->b ? *(const double *)(sides + order[i] * all->b_strides[1] + c * all->b_strides[2])
                                      : (double)(order[i] == c);
        s0_eliminate(a, n, x, p, sums);
    }
    return 1;
}

/* The upper triangles U of the matrices U'U, with zeros below. Only the upper triangles of the matrices are read. */
S0_INLINE int s0_triangles_of(const s0_systems *all, Py_ssize_t first, Py_ssize_t last, int n)
{
    double a[S0_FEW_ROWS * S0_FEW_ROWS], sums[S0_FEW_ROWS * S0_FEW_ROWS];
    int i, j, k;
    for (Py_ssize_t m = first; m < last; m++) {
        const char *from = all->a + m * all->a_strides[0];
        char *out = (char *)(all->x + m * n * n);
        for (i = 0; i < n; i++)
            for (k = i; k < n; k++)
                a[i * n + k] = *(const double *)(from + i * all->a_strides[1] + k * all->a_strides[2]);
        for (i = 0; i < n * n; i++)
            sums[i] = -0.0;
        for (j = 0; j < n; j++) {
            const double pivot = sqrt(a[j * n + j] - sums[j * n + j]);
            if (!(pivot > 0))
                return 0;
            a[j * n + j] = pivot;
            for (k = j + 1; k < n; k++)
                a[j * n + k] = (a[j * n + k] - sums[j * n + k]) / pivot;
            for (i = j + 1; i < n; i++)
                for (k = i; k < n; k++)
                    sums[i * n + k] = fma(a[j * n + i], a[j * n + k], sums[i * n + k]);
        }
        for (i = 0; i < n; i++)
            for (k = 0; k < n; k++)
                *(double *)(out + i * all->b_strides[1] + k * all->b_strides[2]) = k < i ? 0 : a[i * n + k];
    }
    return 1;
}

/* Factor matrices `first` to `last` of a stack; 0 if one is not positive definite. */
static int s0_factor_definite(const s0_systems *all, Py_ssize_t first, Py_ssize_t last)
{
    switch (all->n) {
        case 2: return s0_triangles_of(all, first, last, 2);
        case 3: return s0_triangles_of(all, first, last, 3);
        case 4: return s0_triangles_of(all, first, last, 4);
        default: return s0_triangles_of(all, first, last, (int)all->n);
    }
}

/* Solve the systems `first` to `last` of a stack; 0 if a matrix is singular. */
static int s0_solve_systems(const s0_systems *all, Py_ssize_t first, Py_ssize_t last)
{
    const Py_ssize_t n = all->n, p = all->columns;
    switch (n == p || p == 1 ? 2 * n + (p == 1) : 0) {
        case 4: return s0_systems_of(all, first, last, 2, 2);
        case 5: return s0_systems_of(all, first, last, 2, 1);
        case 6: return s0_systems_of(all, first, last, 3, 3);
        case 7: return s0_systems_of(all, first, last, 3, 1);
        case 8: return s0_systems_of(all, first, last, 4, 4);
        case 9: return s0_systems_of(all, first, last, 4, 1);
        default: return s0_systems_of(all, first, last, (int)n, p);
    }
}

#endif
