/* Eigenvalues and eigenvectors of any complex matrix: Note [Eigenvalues] of `linalg/spectra.pxi`. */
#ifndef STRIDE0_COMPLEX_SCHUR_H
#define STRIDE0_COMPLEX_SCHUR_H

#include "complex_reflectors.h"
#include "schur_vectors.h"

/* As `s0_to_hessenberg`. */
static void s0_to_complex_hessenberg(s0_schur *all, double *vectors, double *taus, double *sums)
{
    const Py_ssize_t n = all->n, line = all->pitch, pitch = line / 2, low = all->low, high = all->high, width = s0_packs(n);
    Py_ssize_t i, k;
    for (k = low; k + 1 < high; k++) {
        double *v = vectors + k * line, *tau = taus + 2 * k, image, re, im, minus;
        memset(v, 0, line * sizeof(double));
        for (i = k + 1; i <= high; i++) {
            v[i] = all->a[i * line + k];
            v[pitch + i] = all->a[i * line + pitch + k];
        }
        s0_complex_reflector(v, pitch, k + 1, 0, width, &image, tau);
        minus = -tau[1];
        memset(sums, 0, line * sizeof(double));
        for (i = k + 1; i <= high; i++)
            s0_add_complex(sums, v[i], -v[pitch + i], all->a + i * line, 1, pitch, 0, width);
        for (i = k + 1; i <= high; i++)
            s0_add_complex(all->a + i * line, -(tau[0] * v[i] + tau[1] * v[pitch + i]), -(tau[0] * v[pitch + i] + minus * v[i]), sums, 1, pitch,
                           k / 8 * 8, width);
        for (i = 0; i <= high; i++) {
            s0_complex_product(all->a + i * line, v, pitch, k / 8 * 8, width, &re, &im);
            s0_add_complex(all->a + i * line, -(tau[0] * re + minus * im), -(tau[0] * im + tau[1] * re), v, -1, pitch, k / 8 * 8, width);
        }
        /* Elements below the subdiagonal are 0. */
        for (i = k + 1; i <= high; i++)
            for (Py_ssize_t j = k / 8 * 8; j <= k; j++)
                all->a[i * line + j] = all->a[i * line + pitch + j] = 0;
        all->a[(k + 1) * line + k] = image;
    }
    if (!all->z)
        return;
    memset(all->z, 0, n * line * sizeof(double));
    for (i = 0; i < n; i++) {
        all->z[i * line + i] = 1;
        for (k = i <= high ? (i - 1 < high - 2 ? i - 1 : high - 2) : -1; k >= low; k--)
            s0_reflect_complex(all->z + i * line, vectors + k * line, taus + 2 * k, pitch, 0, width);
    }
}

/* Two rows x and y become c x + s y and c y - conj(s) x. */
static void s0_rotate_complex(double *restrict x, double *restrict y, Py_ssize_t pitch, Py_ssize_t first, Py_ssize_t last, double c, s0_number s)
{
    const double re = s.re, im = s.im, minus_re = -s.re, minus_im = -s.im;
    double *restrict p = x + pitch, *restrict q = y + pitch;
    for (Py_ssize_t j = first; j < last; j++) {
        const double a = c * x[j] + (re * y[j] + minus_im * q[j]), b = c * p[j] + (re * q[j] + im * y[j]);
        const double d = c * y[j] + (minus_re * x[j] + minus_im * p[j]), e = c * q[j] + (minus_re * p[j] + im * x[j]);
        x[j] = a;
        p[j] = b;
        y[j] = d;
        q[j] = e;
    }
}

S0_INLINE s0_number s0_element(const s0_schur *all, Py_ssize_t i, Py_ssize_t j)
{
    return (s0_number){all->a[i * all->pitch + j], all->a[i * all->pitch + s0_part(all) + j]};
}

S0_INLINE double s0_length(s0_number x)
{
    const double most = fmax(fabs(x.re), fabs(x.im));
    return most > 0 ? most * sqrt((x.re / most) * (x.re / most) + (x.im / most) * (x.im / most)) : 0;
}

/* The square root with a real part that is not negative. */
static s0_number s0_root(s0_number x)
{
    const double half = sqrt(0.5 * (fabs(x.re) + s0_length(x)));
    if (half == 0)
        return (s0_number){0, 0};
    return x.re >= 0 ? (s0_number){half, x.im / (2 * half)} : (s0_number){fabs(x.im) / (2 * half), copysign(half, x.im)};
}

/* Whether the subdiagonal element of row k is negligible: as `s0_deflates`. */
static int s0_complex_deflates(const s0_schur *all, Py_ssize_t k, double smallest)
{
    const s0_number p = s0_element(all, k - 1, k - 1), s = s0_element(all, k, k);
    const double r = s0_size(s0_element(all, k, k - 1)), q = s0_size(s0_element(all, k - 1, k)), apart = s0_size(s0_minus(p, s));
    double sum = s0_size(p) + s0_size(s), most, least;
    if (r <= smallest)
        return 1;
    if (sum == 0)
        sum = (k > 1 ? s0_size(s0_element(all, k - 1, k - 2)) : 0) + (k + 1 < all->n ? s0_size(s0_element(all, k + 1, k)) : 0);
    if (r > 2 * S0_EPSILON * sum)
        return 0;
    most = fmax(s0_size(s), apart);
    least = fmin(s0_size(s), apart);
    sum = most + fmax(r, q);
    return fmin(r, q) * (fmax(r, q) / sum) <= fmax(smallest, 2 * S0_EPSILON * (least * (most / sum)));
}

/* Wilkinson's shift, or an exceptional one. */
static s0_number s0_complex_shift(const s0_schur *all, Py_ssize_t first, Py_ssize_t last, Py_ssize_t count)
{
    const s0_number end = s0_element(all, last, last), begin = s0_element(all, first, first);
    s0_number square, half, root, sum;
    if (count % 20 == 10)
        return (s0_number){begin.re + 0.75 * s0_size(s0_element(all, first + 1, first)), begin.im};
    if (count % 20 == 0)
        return (s0_number){end.re + 0.75 * s0_size(s0_element(all, last, last - 1)), end.im};
    square = s0_times(s0_element(all, last - 1, last), s0_element(all, last, last - 1));
    half = s0_minus(s0_element(all, last - 1, last - 1), end);
    half = (s0_number){0.5 * half.re, 0.5 * half.im};
    if (s0_size(square) == 0)
        return end;
    root = s0_times(half, half);
    root = s0_root((s0_number){root.re + square.re, root.im + square.im});
    if (half.re * root.re + half.im * root.im < 0)
        root = (s0_number){-root.re, -root.im};
    sum = (s0_number){half.re + root.re, half.im + root.im};
    return s0_minus(end, s0_over(square, sum));
}

/* One implicit single-shift sweep on rows `first` to `last`; without vectors only these rows are changed. */
static void s0_single_sweep(s0_schur *all, Py_ssize_t first, Py_ssize_t last, s0_number shift)
{
    const Py_ssize_t line = all->pitch, pitch = line / 2, end = all->z ? all->n : last + 1, top = all->z ? 0 : first;
    s0_number x = s0_minus(s0_element(all, first, first), shift), y = s0_element(all, first + 1, first), s;
    for (Py_ssize_t k = first; k < last; k++) {
        const double p = s0_length(x), q = s0_length(y), size = s0_length((s0_number){p, q});
        const s0_number turn = p > 0 ? (s0_number){x.re / p, x.im / p} : (s0_number){1, 0}, back = {y.re / (q > 0 ? size : 1), -y.im / (q > 0 ? size : 1)};
        const double c = size > 0 ? p / size : 1;
        double *row = all->a + k * line;
        s = s0_times(turn, back);
        s0_rotate_complex(row, row + line, pitch, k > first ? k - 1 : k, end, c, s);
        if (k > first)
            row[line + k - 1] = row[line + pitch + k - 1] = 0;
        for (Py_ssize_t i = top; i <= (k + 2 < last ? k + 2 : last); i++) {
            double *at = all->a + i * line + k;
            const s0_number one = {at[0], at[pitch]}, two = {at[1], at[pitch + 1]}, other = {s.re, -s.im};
            const s0_number far = s0_times(other, two), near = s0_times(s, one);
            at[0] = c * one.re + far.re;
            at[pitch] = c * one.im + far.im;
            at[1] = c * two.re - near.re;
            at[pitch + 1] = c * two.im - near.im;
        }
        if (all->z)
            s0_rotate_complex(all->z + k * line, all->z + (k + 1) * line, pitch, 0, all->n, c, (s0_number){s.re, -s.im});
        if (k + 1 < last) {
            x = s0_element(all, k + 1, k);
            y = s0_element(all, k + 2, k);
        }
    }
}

/* Reduce a Hessenberg matrix to a triangle. Returns 0 if it does not converge. */
static int s0_find_triangle(s0_schur *all, s0_number *values)
{
    const double smallest = S0_LEAST * ((double)all->n / (2 * S0_EPSILON));
    Py_ssize_t last = all->n - 1, first, count = 0, sweeps = 30 * (all->n > 10 ? all->n : 10);
    while (last >= 0) {
        for (first = last; first > 0 && !s0_complex_deflates(all, first, smallest); first--)
            ;
        if (first > 0)
            all->a[first * all->pitch + first - 1] = all->a[first * all->pitch + s0_part(all) + first - 1] = 0;
        if (first == last) {
            values[last] = s0_element(all, last, last);
            last--;
            count = 0;
            continue;
        }
        if (sweeps-- == 0)
            return 0;
        s0_single_sweep(all, first, last, s0_complex_shift(all, first, last, ++count));
    }
    return 1;
}

/* Write the eigenvectors to the columns of `vectors`: as `s0_write_schur_vectors`. */
static void s0_write_triangle_vectors(const s0_schur *all, const s0_number *values, double *vectors, double *work)
{
    const Py_ssize_t n = all->n, line = all->pitch, pitch = line / 2;
    double *y = work, *x = work + line;
    for (Py_ssize_t k = 0; k < n; k++) {
        const double limit = fmax(2 * S0_EPSILON * s0_size(values[k]), 0x1p-500);
        const Py_ssize_t last = s0_packs(k + 1);
        memset(work, 0, 2 * line * sizeof(double));
        y[k] = 1;
        for (Py_ssize_t i = k - 1; i >= 0; i--) {
            s0_number side, pivot = s0_minus(s0_element(all, i, i), values[k]);
            s0_complex_product(all->a + i * line, y, pitch, i / 8 * 8, last, &side.re, &side.im);
            side = s0_over((s0_number){-side.re, -side.im}, s0_size(pivot) < limit ? (s0_number){limit, 0} : pivot);
            y[i] = side.re;
            y[pitch + i] = side.im;
            if (s0_size(side) > 0x1p300)
                s0_multiply(y, s0_scale_of(s0_size(side)), 0, line);
        }
        for (Py_ssize_t j = 0; j <= k; j++)
            s0_add_complex(x, y[j], y[pitch + j], all->z + j * line, 1, pitch, 0, s0_packs(n));
        s0_unbalance(all, x);
        s0_unbalance(all, x + pitch);
        s0_normalise(x, x + pitch, n, 0, 1);
        for (Py_ssize_t i = 0; i < n; i++) {
            vectors[2 * (i * n + k)] = x[i];
            vectors[2 * (i * n + k) + 1] = x[pitch + i];
        }
    }
}

/* Matrices `first` to `last` of a stack: complex eigenvalues and, unless `left` is NULL, eigenvectors. */
static int s0_general(const s0_spectra *all, Py_ssize_t first, Py_ssize_t last)
{
    const Py_ssize_t n = all->columns, parts = all->is_complex ? 2 : 1, pitch = parts * s0_pitch(n);
    int status = S0_SPECTRUM_DONE;
    double *memory = all->memory ? all->memory : malloc(s0_spectra_size(all, 0) * sizeof(double));
    if (memory == NULL)
        return S0_SPECTRUM_NO_MEMORY;
    for (Py_ssize_t m = first; m < last && status == S0_SPECTRUM_DONE; m++) {
        double *reflectors = memory + n * pitch, *tau = reflectors + n * pitch, *work = tau + 2 * pitch, *values = all->values + 2 * m * n;
        s0_schur one = {.a = memory, .z = all->left ? work + 4 * pitch : NULL, .scale = tau + pitch, .n = n, .pitch = pitch, .is_complex = all->is_complex};
        const char *from = all->a + m * all->strides[0];
        const double scale = all->is_complex ? s0_read_complex(from, all->strides[1], all->strides[2], n, n, 0, 1, memory, pitch / 2)
                                             : s0_read_scaled(from, all->strides[1], all->strides[2], n, n, 0, memory, pitch);
        if (scale == 0) {
            status = S0_SPECTRUM_FAILED;
            break;
        }
        s0_balance(&one);
        (all->is_complex ? s0_to_complex_hessenberg : s0_to_hessenberg)(&one, reflectors, tau, work);
        if (!(all->is_complex ? s0_find_triangle : s0_find_blocks)(&one, (s0_number *)values)) {
            status = S0_SPECTRUM_FAILED;
            break;
        }
        if (all->left)
            (all->is_complex ? s0_write_triangle_vectors : s0_write_schur_vectors)(&one, (const s0_number *)values, all->left + 2 * m * n * n, work);
        for (Py_ssize_t i = 0; i < 2 * n; i++)
            values[i] /= scale;
    }
    if (!all->memory)
        free(memory);
    return status;
}

#endif
