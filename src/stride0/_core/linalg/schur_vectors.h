/* Eigenvectors of any real matrix, from its Schur form: Note [Eigenvalues] of `linalg/spectra.pxi`. */
#ifndef STRIDE0_SCHUR_VECTORS_H
#define STRIDE0_SCHUR_VECTORS_H

#include "schur.h"

/* Complex numbers, whose products and quotients are the same with every compiler: a negated factor, as in `multiply_c` of
 * complexmath.h. */
S0_INLINE double s0_size(s0_number x) { return fabs(x.re) + fabs(x.im); }
S0_INLINE s0_number s0_minus(s0_number x, s0_number y) { return (s0_number){x.re - y.re, x.im - y.im}; }
S0_INLINE s0_number s0_times(s0_number x, s0_number y) 
{
    const double minus = -x.im;
    return (s0_number){x.re * y.re + minus * y.im, x.re * y.im + x.im * y.re};
}

/* By the algorithm of R. L. Smith (1962). */
S0_INLINE s0_number s0_over(s0_number x, s0_number y)
{
    if (fabs(y.re) >= fabs(y.im)) {
        const double r = y.im / y.re, minus = -r, d = y.re + y.im * r;
        return (s0_number){(x.re + x.im * r) / d, (x.im + x.re * minus) / d};
    } else {
        const double r = y.re / y.im, d = y.re * r + y.im;
        return (s0_number){(x.re * r + x.im) / d, -(x.re - x.im * r) / d};
    }
}

/* Solve (a - x) y = 0 for an eigenvalue x, number k, and the blocks that are on the diagonal of a. The elements of y are `re` and
 * `im`, up to an unknown factor. Pivots that are almost 0 are replaced by small ones. */
static void s0_vector_of_blocks(const s0_schur *all, s0_number value, Py_ssize_t k, double *re, double *im)
{
    const Py_ssize_t pitch = all->pitch, last = s0_packs(k + 1 + (value.im != 0));
    const double limit = fmax(2 * S0_EPSILON * s0_size(value), 0x1p-500);
    const double *block = all->a + k * pitch + k;
    memset(re, 0, pitch * sizeof(double));
    memset(im, 0, pitch * sizeof(double));
    re[k] = 1;
    if (value.im != 0 && fabs(block[1]) >= fabs(block[pitch])) {
        re[k + 1] = (value.re - block[0]) / block[1];
        im[k + 1] = value.im / block[1];
    } else if (value.im != 0) {
        im[k + 1] = 1;
        re[k] = -value.im / block[pitch];
        im[k] = (value.re - block[pitch + 1]) / block[pitch];
    }
    for (Py_ssize_t i = k - 1; i >= 0; i--) {
        const int rows = i > 0 && all->a[i * pitch + i - 1] != 0 ? 2 : 1;
        s0_number side[2], y[2] = {{0, 0}, {0, 0}}, pivot;
        double greatest = 0;
        i -= rows - 1;
        block = all->a + i * pitch + i;
        for (int r = 0; r < rows; r++) {
            const double *row = all->a + (i + r) * pitch;
            side[r] = (s0_number){-s0_dot(row, re, i / 8 * 8, last), value.im != 0 ? -s0_dot(row, im, i / 8 * 8, last) : 0};
        }
        pivot = (s0_number){block[0] - value.re, -value.im};
        if (rows == 1) {
            y[0] = s0_over(side[0], s0_size(pivot) < limit ? (s0_number){limit, 0} : pivot);
        } else {
            /* Elimination with the greater element of the first column. */
            const s0_number end = {block[pitch + 1] - value.re, -value.im}, above = {block[1], 0}, below = {block[pitch], 0};
            const int exchanges = s0_size(pivot) < fabs(below.re);
            const s0_number factor = exchanges ? s0_over(pivot, below) : s0_over(below, pivot);
            const s0_number first = exchanges ? side[1] : side[0], second = exchanges ? side[0] : side[1];
            s0_number left = exchanges ? s0_minus(above, s0_times(factor, end)) : s0_minus(end, s0_times(factor, above));
            if (s0_size(left) < limit)
                left = (s0_number){limit, 0};
            y[1] = s0_over(s0_minus(second, s0_times(factor, first)), left);
            y[0] = s0_over(s0_minus(first, s0_times(exchanges ? end : above, y[1])), exchanges ? below : pivot);
        }
        for (int r = 0; r < rows; r++) {
            re[i + r] = y[r].re;
            im[i + r] = y[r].im;
            greatest = fmax(greatest, s0_size(y[r]));
        }
        if (greatest > 0x1p300) {
            s0_multiply(re, s0_scale_of(greatest), 0, last);
            s0_multiply(im, s0_scale_of(greatest), 0, last);
        }
    }
}

/* Divide a vector by its length, and by a complex number so that its greatest element is real, and positive, or has the sign of its real part: as dgeev
 * and zgeev. */
static void s0_normalise(double *re, double *im, Py_ssize_t n, int is_real, int is_positive)
{
    const Py_ssize_t width = s0_packs(n);
    const double scale = s0_scale_of(fmax(s0_greatest(re, n), s0_greatest(im, n)));
    double greatest = 0, c, s, factor;
    Py_ssize_t place = 0;
    s0_multiply(re, scale, 0, width);
    s0_multiply(im, scale, 0, width);
    for (Py_ssize_t i = 0; i < n && !is_real; i++)
        if (re[i] * re[i] + im[i] * im[i] > greatest) {
            greatest = re[i] * re[i] + im[i] * im[i];
            place = i;
        }
    factor = 1 / sqrt(s0_dot(re, re, 0, width) + s0_dot(im, im, 0, width));
    if (is_real) {
        s0_multiply(re, factor, 0, width);
        return;
    }
    s0_rotation(re[place], im[place], &c, &s);
    if (is_positive && re[place] < 0) {
        c = -c;
        s = -s;
    }
    s0_rotate_two(re, im, 1, n, c * factor, s * factor);
    im[place] = 0;
}

/* Write the eigenvectors, complex numbers, to the columns of `vectors`. */
static void s0_write_schur_vectors(const s0_schur *all, const s0_number *values, double *vectors, double *work)
{
    const Py_ssize_t n = all->n, pitch = all->pitch;
    double *re = work, *im = work + pitch, *x = work + 2 * pitch, *y = work + 3 * pitch;
    for (Py_ssize_t k = 0; k < n; k++) {
        const int columns = values[k].im != 0 ? 2 : 1;
        s0_vector_of_blocks(all, values[k], k, re, im);
        memset(x, 0, 2 * pitch * sizeof(double));
        s0_sum_rows(all->z, pitch, k + columns, re, 0, s0_packs(n), x);
        if (columns == 2)
            s0_sum_rows(all->z, pitch, k + columns, im, 0, s0_packs(n), y);
        s0_unbalance(all, x);
        s0_unbalance(all, y);
        s0_normalise(x, y, n, columns == 1, 0);
        for (Py_ssize_t i = 0; i < n; i++) {
            double *to = vectors + 2 * (i * n + k);
            to[0] = x[i];
            to[1] = y[i];
            if (columns == 2) {
                to[2] = x[i];
                to[3] = -y[i];
            }
        }
        k += columns - 1;
    }
}

#endif
