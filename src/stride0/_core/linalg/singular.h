/* Singular values and singular vectors of real matrices: Note [Eigenvalues] of `linalg/spectra.pxi`. */
#ifndef STRIDE0_SINGULAR_H
#define STRIDE0_SINGULAR_H

#include "rotations.h"

/* Reduce m x n elements, with m >= n, to a bidiagonal matrix with diagonal d and superdiagonal e, by reflectors from the left and
 * from the right in turn. The vectors of the reflectors are written to the rows of `left` (n of them, of m elements) and `right` (of
 * n elements). */
static void s0_bidiagonalise(double *a, Py_ssize_t m, Py_ssize_t n, Py_ssize_t pitch, double *d, double *e, double *left, Py_ssize_t left_pitch,
                             double *left_tau, double *right, double *right_tau, double *sums)
{
    const Py_ssize_t height = s0_packs(m), width = s0_packs(n);
    for (Py_ssize_t k = 0, i; k < n; k++) {
        double *v = left + k * left_pitch, *u = right + k * pitch, *row = a + k * pitch;
        const Py_ssize_t first = (k + 1) / 8 * 8;
        memset(v, 0, left_pitch * sizeof(double));
        memset(u, 0, pitch * sizeof(double));
        for (i = k; i < m; i++)
            v[i] = a[i * pitch + k];
        left_tau[k] = s0_reflector(v, k, k / 8 * 8, height, &d[k]);
        right_tau[k] = 0;
        if (k + 1 == n)
            break;
        memset(sums, 0, pitch * sizeof(double));
        s0_sum_rows(row, pitch, m - k, v + k, first, width, sums);
        s0_multiply(sums, -left_tau[k], first, width);
        s0_add_multiple(row, 1, sums, first, width);
        memcpy(u + k + 1, row + k + 1, (n - k - 1) * sizeof(double));
        right_tau[k] = s0_reflector(u, k + 1, first, width, &e[k]);
        s0_reflect_sums(row + pitch, pitch, m - k - 1, v + k + 1, sums, u, right_tau[k], first, width);
    }
}

/* The transposed product of the reflectors 0 to `count` - 1, of which reflector k leaves the first k + `skipped` elements as they
 * are: `rows` rows. */
static void s0_accumulate(double *x, Py_ssize_t pitch, Py_ssize_t rows, Py_ssize_t n, const double *vectors, const double *tau, Py_ssize_t count,
                          Py_ssize_t skipped)
{
    memset(x, 0, rows * pitch * sizeof(double));
    for (Py_ssize_t i = 0; i < rows; i++)
        x[i * pitch + i] = 1;
    /* Some rows at a time, which stay in the cache. */
    for (Py_ssize_t first = 0, last; first < rows; first = last) {
        last = first + S0_ROWS_IN_CACHE < rows ? first + S0_ROWS_IN_CACHE : rows;
        for (Py_ssize_t k = (last - skipped < count ? last - skipped : count) - 1; k >= 0; k--) {
            const Py_ssize_t begin = k + skipped > first ? k + skipped : first;
            s0_reflect_rows(x + begin * pitch, pitch, last - begin, vectors + k * pitch, tau[k], (k + skipped) / 8 * 8, s0_packs(n));
        }
    }
}

/* The smaller singular value of the triangle of f, g, h: as LAPACK's dlas2. */
S0_INLINE double s0_smaller_of_two(double f, double g, double h)
{
    const double a = fabs(f), b = fabs(g), c = fabs(h), least = a < c ? a : c, most = a < c ? c : a;
    const double x = 1 + least / most, y = (most - least) / most;
    double z;
    if (least == 0)
        return 0;
    if (b < most) {
        z = (b / most) * (b / most);
        return least * (2 / (sqrt(x * x + z) + sqrt(y * y + z)));
    }
    z = most / b;
    if (z == 0)
        return least * most / b;
    return 2 * (least * (1 / (sqrt(1 + (x * z) * (x * z)) + sqrt(1 + (y * z) * (y * z)))) * z);
}

/* One sweep of the implicit QR algorithm on the block from `first` to `last`, downwards, or upwards if it falls. If the shift is 0,
 * the algorithm of Demmel and Kahan, which has no error in relation to the smallest value. The rotations of `outer` act on the side
 * of the first reflector of the sweep. */
static void s0_bidiagonal_sweep(double *d, double *e, Py_ssize_t first, Py_ssize_t last, int falls, double shift, s0_rotations *outer,
                                s0_rotations *inner)
{
    const Py_ssize_t step = falls ? -1 : 1, from = falls ? last : first, to = falls ? first : last, below = falls ? -1 : 0;
    double *outer_pairs = s0_next_sweep(outer, first, last - first, falls), *inner_pairs = s0_next_sweep(inner, first, last - first, falls);
    double c = 1, s = 0, c2 = 1, s2 = 0, r, f = 0, g = e[from + below];
    if (shift != 0)
        f = (fabs(d[from]) - shift) * (copysign(1.0, d[from]) + shift / d[from]);
    for (Py_ssize_t i = from; i != to; i += step) {
        double *off = e + i + below, *before = off - step;
        if (shift == 0) {
            r = s0_rotation(d[i] * c, *off, &c, &s);
            if (i != from)
                *before = s2 * r;
            d[i] = s0_rotation(c2 * r, d[i + step] * s, &c2, &s2);
        } else {
            r = s0_rotation(f, g, &c, &s);
            if (i != from)
                *before = r;
            f = c * d[i] + s * *off;
            *off = c * *off - s * d[i];
            g = s * d[i + step];
            d[i + step] *= c;
            d[i] = s0_rotation(f, g, &c2, &s2);
            f = c2 * *off + s2 * d[i + step];
            d[i + step] = c2 * d[i + step] - s2 * *off;
            if (i + step != to) {
                g = s2 * off[step];
                off[step] *= c2;
            }
        }
        if (outer_pairs) {
            *outer_pairs++ = c;
            *outer_pairs++ = falls ? -s : s;
            *inner_pairs++ = c2;
            *inner_pairs++ = falls ? -s2 : s2;
        }
    }
    if (shift == 0) {
        f = d[to] * c;
        d[to] = f * c2;
        f *= s2;
    }
    e[to - step + below] = f;
}

/* Whether a superdiagonal element of the block is negligible, which then becomes 0; otherwise a lower bound of the smallest singular
 * value is written: Demmel and Kahan, "Accurate singular values of bidiagonal matrices" (1990), as LAPACK's dbdsqr. */
static int s0_has_split(const double *d, double *e, Py_ssize_t first, Py_ssize_t last, int falls, double tolerance, double *least)
{
    const Py_ssize_t step = falls ? -1 : 1, from = falls ? last : first, to = falls ? first : last, below = falls ? -1 : 0;
    double bound = fabs(d[from]), *end = e + to - step + below;
    if (fabs(*end) <= tolerance * fabs(d[to])) {
        *end = 0;
        return 1;
    }
    *least = bound;
    for (Py_ssize_t i = from; i != to; i += step) {
        double *off = e + i + below;
        if (fabs(*off) <= tolerance * bound) {
            *off = 0;
            return 1;
        }
        bound = fabs(d[i + step]) * (bound / (bound + fabs(*off)));
        *least = bound < *least ? bound : *least;
    }
    return 0;
}

/* Reduce a bidiagonal matrix to a diagonal one. Returns 0 if it does not converge. */
static int s0_diagonalise_two(double *d, double *e, Py_ssize_t n, s0_rotations *left, s0_rotations *right)
{
    const double tolerance = 10 * S0_EPSILON;
    Py_ssize_t first, last = n - 1, old_first = -1, old_last = -1, steps = 6 * n * n, k;
    double least, most, limit = n ? fabs(d[0]) : 0, bound = limit, shift, end;
    int falls = 0;
    for (k = 1; k < n && limit != 0; k++) {
        bound = fabs(d[k]) * (bound / (bound + fabs(e[k - 1])));
        limit = bound < limit ? bound : limit;
    }
    limit = tolerance * (limit / sqrt((double)n));
    limit = limit > 6.0 * n * n * S0_LEAST ? limit : 6.0 * n * n * S0_LEAST;
    while (last > 0) {
        most = fabs(d[last]);
        for (first = last; first > 0 && fabs(e[first - 1]) > limit; first--) {
            most = fabs(d[first - 1]) > most ? fabs(d[first - 1]) : most;
            most = fabs(e[first - 1]) > most ? fabs(e[first - 1]) : most;
        }
        if (first > 0)
            e[first - 1] = 0;
        if (first == last) {
            last--;
            continue;
        }
        /* A new block is swept from its larger end to its smaller end. */
        if (first > old_last || last < old_first)
            falls = fabs(d[first]) < fabs(d[last]);
        if (s0_has_split(d, e, first, last, falls, tolerance, &least))
            continue;
        old_first = first;
        old_last = last;
        shift = 0;
        end = fabs(d[falls ? last : first]);
        if (n * tolerance * (least / most) > 0.01 * tolerance) {
            shift = falls ? s0_smaller_of_two(d[first], e[first], d[first + 1]) : s0_smaller_of_two(d[last - 1], e[last - 1], d[last]);
            if (end > 0 && (shift / end) * (shift / end) < S0_EPSILON)
                shift = 0;
        }
        steps -= last - first;
        if (steps < 0)
            return 0;
        s0_bidiagonal_sweep(d, e, first, last, falls, shift, falls ? left : right, falls ? right : left);
    }
    return 1;
}

/* Make the transpose of an upper bidiagonal matrix upper bidiagonal, by rotations from the left. */
static void s0_transpose_bidiagonal(double *d, double *e, Py_ssize_t n, s0_rotations *left)
{
    double *pairs = n > 1 ? s0_next_sweep(left, 0, n - 1, 0) : NULL;
    for (Py_ssize_t i = 0; i + 1 < n; i++) {
        double c, s;
        d[i] = s0_rotation(d[i], e[i], &c, &s);
        e[i] = s * d[i + 1];
        d[i + 1] *= c;
        if (pairs) {
            *pairs++ = c;
            *pairs++ = s;
        }
    }
    if (left->rows)
        s0_apply_rotations(left);
}

/* Reduce a bidiagonal matrix, or its transpose if `is_wide`, to its singular values, and apply all rotations. Signs of vectors are LAPACK's: Note
 * [Signs of vectors]. `q` has memory for a row. Returns 0 if it does not converge. */
static int s0_diagonalise_bidiagonal(double *d, double *e, Py_ssize_t n, int is_wide, s0_rotations *u, s0_rotations *v, double *q)
{
    s0_rotations *left = is_wide ? v : u, *right = is_wide ? u : v;
    const Py_ssize_t middle = n / 2;
    int divides;
    if (is_wide)
        s0_transpose_bidiagonal(d, e, n, left);
    divides = left->rows && n > S0_UNDIVIDED && e[middle - 1] != 0 && e[middle] != 0;
    if (divides)
        memcpy(q, left->rows + middle * left->pitch, left->width * sizeof(double));
    if (!s0_diagonalise_two(d, e, n, left, right))
        return 0;
    if (left->rows) {
        s0_apply_rotations(left);
        s0_apply_rotations(right);
    }
    for (Py_ssize_t i = 0; i < n; i++)
        if (signbit(d[i])) {
            d[i] = -d[i];
            if (right->rows)
                s0_multiply(right->rows + i * right->pitch, -1, 0, right->width);
        }
    if (divides)
        s0_choose_signs(left, n, q, right);
    return 1;
}

/* Diagonalise a bidiagonal matrix: write its singular values / `scale` in falling order, and to `places` the row of each of `columns` vectors. `q` is
 * scratch memory. Returns 0 if the sweeps do not converge. */
static int s0_finish_singular(double *d, double *e, Py_ssize_t n, Py_ssize_t columns, int is_wide, s0_rotations *left, s0_rotations *right, double *q,
                              double scale, Py_ssize_t *places, double *values)
{
    if (!s0_diagonalise_bidiagonal(d, e, n, is_wide, left, right, q))
        return 0;
    s0_order_of(d, n, 1, places);
    for (Py_ssize_t i = 0; i < n; i++)
        values[i] = d[places[i]] / scale;
    for (Py_ssize_t i = n; i < columns; i++)
        places[i] = i;
    return 1;
}

/* Singular values of one matrix in falling order; unless `u` is NULL, the columns of u and the rows of vh, all of them if `full`.
 * `memory` has s0_spectra_size elements. */
static int s0_singular_one(const char *from, Py_ssize_t down, Py_ssize_t across, Py_ssize_t m, Py_ssize_t n, int full, int is_wide, double *values, double *u,
                           Py_ssize_t u_row, Py_ssize_t u_step, double *v, Py_ssize_t v_row, Py_ssize_t v_step, double *memory)
{
    const Py_ssize_t pitch = s0_pitch(n), tall = s0_pitch(m), columns = u && full ? m : n;
    double *a = memory, *left = a + m * pitch, *right = left + n * tall, *d = right + n * pitch, *e = d + pitch;
    double *left_tau = e + pitch, *right_tau = left_tau + pitch, *sums = right_tau + pitch, *pairs = sums + pitch;
    double *pairs_of_v = pairs + 2 * S0_KEPT_ROTATIONS * n, *u_rows = pairs_of_v + 2 * S0_KEPT_ROTATIONS * n, *v_rows = u_rows + columns * tall;
    Py_ssize_t *places = (Py_ssize_t *)(v_rows + n * pitch);
    const double scale = s0_read_scaled(from, down, across, m, n, 0, a, pitch);
    s0_rotations of_u = s0_rotations_of(u ? u_rows : NULL, tall, s0_packs(m), pairs, n);
    s0_rotations of_v = s0_rotations_of(u ? v_rows : NULL, pitch, s0_packs(n), pairs_of_v, n);
    if (scale == 0)
        return S0_SPECTRUM_FAILED;
    s0_bidiagonalise(a, m, n, pitch, d, e, left, tall, left_tau, right, right_tau, sums);
    if (u) {
        s0_accumulate(u_rows, tall, columns, m, left, left_tau, n, 0);
        s0_accumulate(v_rows, pitch, n, n, right, right_tau, n - 1, 1);
    }
    if (!s0_finish_singular(d, e, n, columns, is_wide, &of_u, &of_v, left, scale, places, values))
        return S0_SPECTRUM_FAILED;
    if (u) {
        s0_write_vectors(u_rows, tall, m, columns, places, u, u_row, u_step);
        s0_write_vectors(v_rows, pitch, n, n, places, v, v_row, v_step);
    }
    return S0_SPECTRUM_DONE;
}

#endif
