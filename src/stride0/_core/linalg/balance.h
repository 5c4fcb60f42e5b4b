/* Balancing of matrices before their eigenvalues are computed: Note [Eigenvalues] of `linalg/spectra.pxi`. */
#ifndef STRIDE0_BALANCE_H
#define STRIDE0_BALANCE_H

#include "rotations.h"

/* A matrix that is reduced: the rows of `a` and, unless NULL, of the transposed vectors `z`. Rows and columns from `low` to `high`
 * are coupled. `scale` has a power of 2 for each of them, and for each other row the row with which it was exchanged. */
typedef struct {
    double *a, *z, *scale;
    Py_ssize_t n, pitch, low, high;
    int is_complex;
} s0_schur;

/* Rows of complex numbers have two parts, `pitch / 2` elements apart. */
S0_INLINE Py_ssize_t s0_part(const s0_schur *all) { return all->is_complex ? all->pitch / 2 : 0; }

static void s0_swap(double *x, double *y)
{
    const double kept = *x;
    *x = *y;
    *y = kept;
}

static void s0_exchange_both(s0_schur *all, Py_ssize_t p, Py_ssize_t q)
{
    double *a = all->a;
    all->scale[q] = (double)p;
    for (int part = 0; p != q && part <= all->is_complex; part++, a += s0_part(all)) {
        for (Py_ssize_t k = 0; k < all->n; k++)
            s0_swap(a + k * all->pitch + p, a + k * all->pitch + q);
        for (Py_ssize_t k = 0; k < all->n; k++)
            s0_swap(a + p * all->pitch + k, a + q * all->pitch + k);
    }
}

/* Whether the coupled off-diagonal elements of row p, or of column p, are 0. */
static int s0_is_isolated(const s0_schur *all, Py_ssize_t p, int by_column)
{
    for (Py_ssize_t k = all->low; k <= all->high; k++) {
        const double *x = all->a + (by_column ? k * all->pitch + p : p * all->pitch + k);
        if (k != p && (x[0] != 0 || x[s0_part(all)] != 0))
            return 0;
    }
    return 1;
}

/* The length of the coupled part of a row or column. */
static double s0_coupled_length(const s0_schur *all, const double *x, Py_ssize_t step)
{
    double greatest = 0, sum = 0;
    for (int part = 0; part <= all->is_complex; part++)
        for (Py_ssize_t k = all->low; k <= all->high; k++)
            greatest = fmax(greatest, fabs(x[k * step + part * s0_part(all)]));
    for (int part = 0; greatest > 0 && part <= all->is_complex; part++)
        for (Py_ssize_t k = all->low; k <= all->high; k++) {
            const double share = x[k * step + part * s0_part(all)] / greatest;
            sum += share * share;
        }
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
            s0_exchange_both(all, p, all->high);
            p = all->high--;
        }
    for (p = all->low; p <= all->high; p++)
        if (s0_is_isolated(all, p, 1)) {
            s0_exchange_both(all, p, all->low);
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
            for (int part = 0; part <= all->is_complex; part++) {
                for (k = 0; k < n; k++)
                    all->a[p * pitch + k + part * s0_part(all)] /= factor;
                for (k = 0; k < n; k++)
                    all->a[k * pitch + p + part * s0_part(all)] *= factor;
            }
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
