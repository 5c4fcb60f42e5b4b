/* Eigenvalues and eigenvectors of symmetric matrices: Note [Eigenvalues] of `linalg/spectra.pxi`. */
#ifndef STRIDE0_EIGEN_H
#define STRIDE0_EIGEN_H

#include "rotations.h"

/* Subtract v[i] w' + w[i] v' from rows i, and compute their products with u. */
S0_INLINE void s0_update_some(double *a, Py_ssize_t pitch, const int rows, Py_ssize_t i, const double *v, const double *w, const double *u,
                              Py_ssize_t last, double *products)
{
    f64_8 sum[S0_ROWS_TOGETHER];
    for (int r = 0; r < rows; r++)
        sum[r] = s0_no_pack();
    for (Py_ssize_t j = 0; j < last; j += 8) {
        const f64_8 x = s0_load_f64_8(v + j), y = s0_load_f64_8(w + j), z = s0_load_f64_8(u + j);
        for (int r = 0; r < rows; r++) {
            double *at = a + (i + r) * pitch + j;
            f64_8 b = s0_load_f64_8(at);
            S0_FOR_ALL(S0_COUNT(b)) {
                b.of[k] -= v[i + r] * y.of[k] + w[i + r] * x.of[k];
                sum[r].of[k] += b.of[k] * z.of[k];
            }
            s0_store_f64_8(at, b);
        }
    }
    for (int r = 0; r < rows; r++)
        products[i + r] = s0_total(sum[r]);
}

/* Reduce a symmetric matrix to a tridiagonal one, with diagonal d and off-diagonal e, by reflectors that act on the first i
 * elements, for i from n - 1 down to 1: they replace the rows i. The update by a reflector is done together with the product for the
 * next one, so that each step goes through the matrix once. `work` has three rows. */
static void s0_tridiagonalise(double *a, Py_ssize_t n, Py_ssize_t pitch, double *d, double *e, double *tau, double *work)
{
    double *v = work, *w = work + pitch, *next = work + 2 * pitch, *swapped;
    Py_ssize_t i, r;
    memset(work, 0, 3 * pitch * sizeof(double));
    for (i = n - 1; i > 0; i--) {
        double *row = a + i * pitch, share;
        const Py_ssize_t last = s0_packs(i + 1);
        s0_update_some(a, pitch, 1, i, v, w, v, last, next);
        d[i] = row[i];
        memset(row + i, 0, (pitch - i) * sizeof(double));
        tau[i] = s0_reflector(row, i - 1, 0, s0_packs(i), &e[i - 1]);
        memset(next, 0, pitch * sizeof(double));
        for (r = 0; r + S0_ROWS_TOGETHER <= i; r += S0_ROWS_TOGETHER)
            s0_update_some(a, pitch, S0_ROWS_TOGETHER, r, v, w, row, last, next);
        for (; r < i; r++)
            s0_update_some(a, pitch, 1, r, v, w, row, last, next);
        share = -0.5 * tau[i] * tau[i] * s0_dot(next, row, 0, s0_packs(i));
        s0_multiply(next, tau[i], 0, s0_packs(i));
        s0_add_multiple(next, share, row, 0, s0_packs(i));
        swapped = w;
        w = next;
        next = swapped;
        v = row;
    }
    d[0] = a[0] - 2 * (v[0] * w[0]);
}

/* Whether an off-diagonal element is negligible between two diagonal ones: as in LAPACK's dsteqr, for a matrix of norm 1. */
S0_INLINE int s0_is_negligible(double e, double d1, double d2)
{
    return e * e <= (S0_EPSILON * fabs(d1)) * (S0_EPSILON * fabs(d2)) + S0_LEAST;
}

/* One sweep of the implicit QL algorithm on the block from `first` to `last`, with Wilkinson's shift; if `falls` is 0, of the QR
 * algorithm, which is the same in the opposite direction. `near` is the end where an eigenvalue converges. */
static void s0_tridiagonal_sweep(double *d, double *e, Py_ssize_t first, Py_ssize_t last, int falls, s0_rotations *rotations)
{
    const Py_ssize_t step = falls ? -1 : 1, near = falls ? first : last, far = falls ? last : first;
    /* The off-diagonal element between i and i + step is e[i + below]. */
    const Py_ssize_t below = falls ? -1 : 0;
    const double edge = e[near + (falls ? 0 : -1)], shift = d[near];
    double half = (d[near - step] - shift) / (2 * edge), size = fabs(half), root, g, p = 0, c = 1, s = 1;
    double *pairs = s0_next_sweep(rotations, first, last - first, falls);
    root = size > 1 ? size * sqrt(1 + (1 / size) * (1 / size)) : sqrt(1 + size * size);
    g = d[far] - shift + edge / (half + copysign(root, half));
    for (Py_ssize_t i = far; i != near; i += step) {
        const double f = s * e[i + below], b = c * e[i + below];
        double r = s0_rotation(g, f, &c, &s);
        if (i != far)
            e[i + below - step] = r;
        g = d[i] - p;
        r = (d[i + step] - g) * s + 2 * c * b;
        p = s * r;
        d[i] = g + p;
        g = c * r - b;
        if (pairs) {
            *pairs++ = c;
            *pairs++ = falls ? -s : s;
        }
    }
    d[near] -= p;
    e[near + (falls ? 0 : -1)] = g;
}

/* Diagonalise the block of two rows from k on, with the signs of LAPACK's dlaev2. */
static void s0_diagonalise_pair(double *d, double *e, Py_ssize_t k, s0_rotations *rotations)
{
    const double a = d[k + 1], b = e[k], c = d[k], sum = a + c, difference = a - c, size = fabs(difference), twice = 2 * b, off = fabs(twice);
    const double most = fabs(a) > fabs(c) ? a : c, least = fabs(a) > fabs(c) ? c : a;
    const double greater = size > off ? size : off, ratio = (size > off ? off : size) / greater;
    const double root = greater * sqrt(1 + ratio * ratio), edge = difference >= 0 ? difference + root : difference - root;
    double *pair = s0_next_sweep(rotations, k, 1, 0), cosine, sine, first, second;
    first = 0.5 * (sum < 0 ? sum - root : sum + root);
    second = sum == 0 ? -0.5 * root : (most / first) * least - (b / first) * b;
    if (fabs(edge) > off) {
        sine = 1 / sqrt(1 + (twice / edge) * (twice / edge));
        cosine = -(twice / edge) * sine;
    } else {
        cosine = 1 / sqrt(1 + (edge / twice) * (edge / twice));
        sine = -(edge / twice) * cosine;
    }
    if ((sum < 0) == (difference < 0)) {
        const double held = cosine;
        cosine = -sine;
        sine = held;
    }
    d[k + 1] = first;
    d[k] = second;
    e[k] = 0;
    if (pair) {
        pair[0] = cosine;
        pair[1] = -sine;
    }
}

/* Reduce a tridiagonal matrix to the diagonal of its eigenvalues. Returns 0 if it does not converge. */
static int s0_diagonalise(double *d, double *e, Py_ssize_t n, s0_rotations *rotations)
{
    Py_ssize_t sweeps = 30 * n, begin = 0, end, first, last, k;
    while (begin < n) {
        for (end = begin; end + 1 < n && !s0_is_negligible(e[end], d[end], d[end + 1]); end++)
            ;
        if (end + 1 < n)
            e[end] = 0;
        /* The block from `begin` to `end` shrinks from the end whose eigenvalues are smaller. */
        first = begin;
        last = end;
        begin = end + 1;
        if (fabs(d[last]) < fabs(d[first])) {
            while (last > first) {
                for (k = last; k > first && !s0_is_negligible(e[k - 1], d[k - 1], d[k]); k--)
                    ;
                if (k > first)
                    e[k - 1] = 0;
                if (k == last) {
                    last--;
                } else if (k + 1 == last) {
                    s0_diagonalise_pair(d, e, k, rotations);
                    last -= 2;
                } else if (sweeps-- > 0) {
                    s0_tridiagonal_sweep(d, e, k, last, 0, rotations);
                } else {
                    return 0;
                }
            }
        } else {
            while (first < last) {
                for (k = first; k < last && !s0_is_negligible(e[k], d[k], d[k + 1]); k++)
                    ;
                if (k < last)
                    e[k] = 0;
                if (k == first) {
                    first++;
                } else if (k == first + 1) {
                    s0_diagonalise_pair(d, e, first, rotations);
                    first += 2;
                } else if (sweeps-- > 0) {
                    s0_tridiagonal_sweep(d, e, first, k, 1, rotations);
                } else {
                    return 0;
                }
            }
        }
    }
    return 1;
}

/* Write to q the vector that determines the signs of LAPACK's eigenvectors: Note [Signs of vectors]. Returns 0 if LAPACK does not divide the matrix in
 * the middle. */
static int s0_sign_of_eigenvectors(const s0_rotations *all, Py_ssize_t n, const double *d, const double *e, double *q)
{
    const Py_ssize_t middle = n - 1 - n / 2;
    if (n <= S0_UNDIVIDED || s0_is_negligible(e[middle], d[middle], d[middle + 1]))
        return 0;
    memcpy(q, all->rows + (middle + 1) * all->pitch, all->width * sizeof(double));
    s0_add_multiple(q, copysign(1, e[middle]), all->rows + middle * all->pitch, 0, all->width);
    return 1;
}

/* Diagonalise a tridiagonal matrix: write its eigenvalues / `scale` in rising order, and to `places` the row of each vector. If `signs`, `q` determines
 * the signs of vectors. Returns 0 if the sweeps do not converge. */
static int s0_finish_symmetric(s0_rotations *rotations, Py_ssize_t n, double *d, double *e, int signs, const double *q, double scale, Py_ssize_t *places,
                               double *values)
{
    if (!s0_diagonalise(d, e, n, rotations))
        return 0;
    if (rotations->rows)
        s0_apply_rotations(rotations);
    if (signs)
        s0_choose_signs(rotations, n, q, NULL);
    s0_order_of(d, n, 0, places);
    for (Py_ssize_t i = 0; i < n; i++)
        values[i] = d[places[i]] / scale;
    return 1;
}

/* Eigenvalues of one matrix in rising order, and vectors in the columns of `vectors`, unless it is NULL. The lower triangle is read.
 * `memory` has s0_spectra_size elements. */
static int s0_symmetric_one(const char *from, const Py_ssize_t *strides, Py_ssize_t n, double *values, double *vectors, double *memory)
{
    const Py_ssize_t pitch = s0_pitch(n);
    double *a = memory, *rows = a + n * pitch, *d = rows + n * pitch, *e = d + pitch, *tau = e + pitch, *work = tau + pitch;
    double *pairs = work + 3 * pitch;
    Py_ssize_t *places = (Py_ssize_t *)(pairs + 2 * S0_KEPT_ROTATIONS * n);
    /* Read rows and columns in reverse order, so that the reflectors are the same as in LAPACK. */
    const double scale = s0_read_scaled(from + (n - 1) * (strides[1] + strides[2]), -strides[2], -strides[1], n, n, 1, a, pitch);
    s0_rotations rotations = s0_rotations_of(vectors ? rows : NULL, pitch, s0_packs(n), pairs, n);
    int signs = 0;
    Py_ssize_t i, j;
    if (scale == 0)
        return S0_SPECTRUM_FAILED;
    s0_tridiagonalise(a, n, pitch, d, e, tau, work);
    if (vectors) {
        /* The rows of the transpose of the product of all reflectors: row r is the unit vector r times the reflectors r + 1 to n - 1. */
        memset(rows, 0, n * pitch * sizeof(double));
        for (i = 0; i < n; i++)
            rows[i * pitch + i] = 1;
        for (j = 0; j < n; j += S0_ROWS_IN_CACHE)
            for (i = j + 1; i < n; i++)
                s0_reflect_rows(rows + j * pitch, pitch, i - j < S0_ROWS_IN_CACHE ? i - j : S0_ROWS_IN_CACHE, a + i * pitch, tau[i], 0, s0_packs(i));
        signs = s0_sign_of_eigenvectors(&rotations, n, d, e, work);
    }
    if (!s0_finish_symmetric(&rotations, n, d, e, signs, work, scale, places, values))
        return S0_SPECTRUM_FAILED;
    if (vectors)
        s0_write_vectors(rows, pitch, n, n, places, vectors + (n - 1) * n, 1, -n);
    return S0_SPECTRUM_DONE;
}

#endif
