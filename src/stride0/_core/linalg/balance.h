/* Balancing of matrices before their eigenvalues are computed: Note [Eigenvalues] of `linalg/spectra.pxi`. */
#ifndef STRIDE0_BALANCE_H
#define STRIDE0_BALANCE_H

#include "rotations.h"

/* A matrix that is reduced: the rows of `a` and, unless NULL, of the transposed vectors `z`. Rows and columns from `low` to `high`
 * are coupled. `scale` has a power of 2 for each of them, and for each other row the row with which it was exchanged. */
typedef struct {
    double *a, *z, *scale;
    Py_ssize_t n, pitch, low, high;
} s0_schur;

static void s0_exchange(s0_schur *all, Py_ssize_t p, Py_ssize_t q)
{
    double *a = all->a, x;
    all->scale[q] = (double)p;
    for (Py_ssize_t k = 0; p != q && k < all->n; k++) {
        x = a[k * all->pitch + p];
        a[k * all->pitch + p] = a[k * all->pitch + q];
        a[k * all->pitch + q] = x;
    }
    for (Py_ssize_t k = 0; p != q && k < all->n; k++) {
        x = a[p * all->pitch + k];
        a[p * all->pitch + k] = a[q * all->pitch + k];
        a[q * all->pitch + k] = x;
    }
}

/* Whether the coupled elements of row p, or of column p, are 0 beside the diagonal. */
static int s0_is_isolated(const s0_schur *all, Py_ssize_t p, int by_column)
{
    for (Py_ssize_t k = all->low; k <= all->high; k++)
        if (k != p && (by_column ? all->a[k * all->pitch + p] : all->a[p * all->pitch + k]) != 0)
            return 0;
    return 1;
}

/* The length of the coupled part of a row or column. */
static double s0_coupled_length(const s0_schur *all, const double *x, Py_ssize_t step)
{
    double greatest = 0, sum = 0;
    for (Py_ssize_t k = all->low; k <= all->high; k++)
        greatest = fabs(x[k * step]) > greatest ? fabs(x[k * step]) : greatest;
    for (Py_ssize_t k = all->low; greatest > 0 && k <= all->high; k++)
        sum += (x[k * step] / greatest) * (x[k * step] / greatest);
    return greatest * sqrt(sum);
}

/* Exchange rows and columns so that isolated eigenvalues come first or last, and multiply others by powers of 2, so that a row is
 * about as long as the column: B. N. Parlett, C. Reinsch (1969), with the lengths of R. James, J. Langou, B. R. Lowery, "On matrix
 * balancing and eigenvector computation" (2014). */
static void s0_balance(s0_schur *all)
{
    const Py_ssize_t n = all->n, pitch = all->pitch;
    Py_ssize_t p, k;
    int changes = 1;
    all->low = 0;
    all->high = n - 1;
    for (p = all->high; p >= 0; p--)
        if (s0_is_isolated(all, p, 0)) {
            s0_exchange(all, p, all->high);
            p = all->high--;
        }
    for (p = all->low; p <= all->high; p++)
        if (s0_is_isolated(all, p, 1)) {
            s0_exchange(all, p, all->low);
            p = all->low++;
        }
    for (p = all->low; p <= all->high; p++)
        all->scale[p] = 1;
    while (changes) {
        changes = 0;
        for (p = all->low; p <= all->high; p++) {
            double column = s0_coupled_length(all, all->a + p, pitch), row = s0_coupled_length(all, all->a + p * pitch, 1), factor = 1;
            const double sum = column + row;
            if (column == 0 || row == 0)
                continue;
            for (; column < row / 2 && factor * all->scale[p] < 0x1p400; column *= 2, row /= 2)
                factor *= 2;
            for (; column / 2 >= row && factor * all->scale[p] > 0x1p-400; column /= 2, row *= 2)
                factor /= 2;
            if (column + row >= 0.95 * sum || factor == 1)
                continue;
            changes = 1;
            all->scale[p] *= factor;
            for (k = 0; k < n; k++)
                all->a[p * pitch + k] /= factor;
            for (k = 0; k < n; k++)
                all->a[k * pitch + p] *= factor;
        }
    }
}

/* Undo the balancing in a vector. */
static void s0_unbalance(const s0_schur *all, double *x)
{
    double swapped;
    Py_ssize_t k, other;
    for (k = all->low; k <= all->high; k++)
        x[k] *= all->scale[k];
    for (k = 0; k < all->n; k++) {
        /* Rows before the coupled ones from the last to the first, then rows after them. */
        const Py_ssize_t i = k < all->low ? all->low - 1 - k : k;
        if (i >= all->low && i <= all->high)
            continue;
        other = (Py_ssize_t)all->scale[i];
        swapped = x[i];
        x[i] = x[other];
        x[other] = swapped;
    }
}

#endif
