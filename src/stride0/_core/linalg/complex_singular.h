/* Singular values and singular vectors of complex matrices: Note [Eigenvalues] of `linalg/spectra.pxi`. */
#ifndef STRIDE0_COMPLEX_SINGULAR_H
#define STRIDE0_COMPLEX_SINGULAR_H

#include "complex_reflectors.h"
#include "singular.h"

/* As `s0_bidiagonalise`: d and e are real. A reflector from the right acts on conjugated rows. */
static void s0_bidiagonalise_complex(double *a, Py_ssize_t m, Py_ssize_t n, Py_ssize_t pitch, double *d, double *e, double *left,
                                     Py_ssize_t left_pitch, double *left_tau, double *right, double *right_tau, double *sums)
{
    const Py_ssize_t height = s0_packs(m), width = s0_packs(n), line = 2 * pitch;
    for (Py_ssize_t k = 0, i; k < n; k++) {
        double *v = left + k * 2 * left_pitch, *u = right + k * line, *row = a + k * line;
        const double *tau = left_tau + 2 * k, *other = right_tau + 2 * k;
        const Py_ssize_t first = (k + 1) / 8 * 8;
        memset(v, 0, 2 * left_pitch * sizeof(double));
        memset(u, 0, line * sizeof(double));
        for (i = k; i < m; i++) {
            v[i] = a[i * line + k];
            v[left_pitch + i] = a[i * line + pitch + k];
        }
        s0_complex_reflector(v, left_pitch, k, k / 8 * 8, height, &d[k], left_tau + 2 * k);
        right_tau[2 * k] = right_tau[2 * k + 1] = 0;
        if (k + 1 == n)
            break;
        memset(sums, 0, line * sizeof(double));
        for (i = k; i < m; i++)
            s0_add_complex(sums, v[i], -v[left_pitch + i], a + i * line, 1, pitch, first, width);
        for (i = k; i < m; i++) {
            const double re = v[i], im = v[left_pitch + i], minus = -tau[1];
            s0_add_complex(a + i * line, -(tau[0] * re + tau[1] * im), -(tau[0] * im + minus * re), sums, 1, pitch, first, width);
        }
        for (i = k + 1; i < n; i++) {
            u[i] = row[i];
            u[pitch + i] = -row[pitch + i];
        }
        s0_complex_reflector(u, pitch, k + 1, first, width, &e[k], right_tau + 2 * k);
        for (i = k + 1; i < m; i++) {
            const double minus = -other[1];
            double re, im;
            s0_complex_product(a + i * line, u, pitch, first, width, &re, &im);
            s0_add_complex(a + i * line, -(other[0] * re + minus * im), -(other[0] * im + other[1] * re), u, -1, pitch, first, width);
        }
    }
}

/* The columns of the product of the reflectors, in rows: as `s0_accumulate`. */
static void s0_accumulate_complex(double *x, Py_ssize_t pitch, Py_ssize_t rows, Py_ssize_t n, const double *vectors, const double *tau,
                                  Py_ssize_t count, Py_ssize_t skipped)
{
    const Py_ssize_t line = 2 * pitch;
    memset(x, 0, rows * line * sizeof(double));
    for (Py_ssize_t r = 0; r < rows; r++) {
        x[r * line + r] = 1;
        for (Py_ssize_t k = (r - skipped < count - 1 ? r - skipped : count - 1); k >= 0; k--)
            s0_reflect_complex(x + r * line, vectors + k * line, tau + 2 * k, pitch, (k + skipped) / 8 * 8, s0_packs(n));
    }
}

/* Decompose a matrix with m >= n, or the conjugate transpose of a wide one. As `s0_singular_one`. */
static int s0_complex_singular_one(const char *from, Py_ssize_t down, Py_ssize_t across, Py_ssize_t m, Py_ssize_t n, int full, int is_wide,
                                   double *values, double *left_out, double *right_out, double *memory)
{
    const Py_ssize_t pitch = s0_pitch(n), tall = s0_pitch(m), columns = left_out && full ? m : n;
    double *a = memory, *left = a + m * 2 * pitch, *right = left + n * 2 * tall, *d = right + n * 2 * pitch, *e = d + pitch;
    double *left_tau = e + pitch, *right_tau = left_tau + 2 * pitch, *sums = right_tau + 2 * pitch, *pairs = sums + 2 * pitch;
    double *pairs_of_v = pairs + 2 * S0_KEPT_ROTATIONS * n, *u_rows = pairs_of_v + 2 * S0_KEPT_ROTATIONS * n;
    double *v_rows = u_rows + columns * 2 * tall;
    Py_ssize_t *places = (Py_ssize_t *)(v_rows + n * 2 * pitch);
    const double scale = s0_read_complex(from, down, across, m, n, 0, is_wide ? -1 : 1, a, pitch);
    s0_rotations of_u = s0_rotations_of(left_out ? u_rows : NULL, 2 * tall, 2 * tall, pairs, n);
    s0_rotations of_v = s0_rotations_of(left_out ? v_rows : NULL, 2 * pitch, 2 * pitch, pairs_of_v, n);
    if (scale == 0)
        return S0_SPECTRUM_FAILED;
    s0_bidiagonalise_complex(a, m, n, pitch, d, e, left, tall, left_tau, right, right_tau, sums);
    if (left_out) {
        s0_accumulate_complex(u_rows, tall, columns, m, left, left_tau, n, 0);
        s0_accumulate_complex(v_rows, pitch, n, n, right, right_tau, n - 1, 1);
    }
    if (!s0_finish_singular(d, e, n, columns, is_wide, &of_u, &of_v, left, scale, places, values))
        return S0_SPECTRUM_FAILED;
    if (left_out && is_wide) {
        s0_write_complex_vectors(v_rows, pitch, n, n, places, left_out, 1, n, 1);
        s0_write_complex_vectors(u_rows, tall, m, columns, places, right_out, m, 1, -1);
    } else if (left_out) {
        s0_write_complex_vectors(u_rows, tall, m, columns, places, left_out, 1, columns, 1);
        s0_write_complex_vectors(v_rows, pitch, n, n, places, right_out, n, 1, -1);
    }
    return S0_SPECTRUM_DONE;
}

/* Matrices `first` to `last` of a stack. A matrix with fewer rows than columns is transposed. */
static int s0_singular(const s0_spectra *all, Py_ssize_t first, Py_ssize_t last)
{
    const int wide = all->rows < all->columns;
    const Py_ssize_t m = wide ? all->columns : all->rows, n = wide ? all->rows : all->columns, columns = all->left && all->full ? m : n;
    const Py_ssize_t down = all->strides[wide ? 2 : 1], across = all->strides[wide ? 1 : 2], parts = all->is_complex ? 2 : 1;
    int status = S0_SPECTRUM_DONE;
    double *memory = all->memory ? all->memory : malloc(s0_spectra_size(all, 0) * sizeof(double));
    if (memory == NULL)
        return S0_SPECTRUM_NO_MEMORY;
    for (Py_ssize_t k = first; k < last && status == S0_SPECTRUM_DONE; k++) {
        const char *a = all->a + k * all->strides[0];
        double *values = all->values + k * n, *left = NULL, *right = NULL;
        if (all->left) {
            left = all->left + parts * k * all->rows * (wide ? n : columns);
            right = all->right + parts * k * all->columns * (wide ? columns : n);
        }
        if (all->is_complex)
            status = s0_complex_singular_one(a, down, across, m, n, all->full, wide, values, left, right, memory);
        else if (wide)
            status = s0_singular_one(a, down, across, m, n, all->full, 1, values, right, m, 1, left, 1, n, memory);
        else
            status = s0_singular_one(a, down, across, m, n, all->full, 0, values, left, 1, columns, right, n, 1, memory);
    }
    if (!all->memory)
        free(memory);
    return status;
}

#endif
