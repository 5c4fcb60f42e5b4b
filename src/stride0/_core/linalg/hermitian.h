/* Eigenvalues and eigenvectors of complex Hermitian matrices: Note [Eigenvalues] of `linalg/spectra.pxi`. */
#ifndef STRIDE0_HERMITIAN_H
#define STRIDE0_HERMITIAN_H

#include "complex_reflectors.h"
#include "eigen.h"

/* Reduce a Hermitian matrix to a real tridiagonal matrix, like `s0_tridiagonalise`, but one step at a time. Row i becomes the vector v of the
 * reflector of its first i elements. */
static void s0_tridiagonalise_hermitian(double *a, Py_ssize_t n, Py_ssize_t pitch, double *d, double *e, double *tau, double *w)
{
    const Py_ssize_t line = 2 * pitch;
    for (Py_ssize_t i = n - 1; i >= 0; i--) {
        double *v = a + i * line, re, im;
        const Py_ssize_t last = s0_packs(i);
        d[i] = v[i];
        if (i == 0)
            break;
        memset(v + i, 0, (pitch - i) * sizeof(double));
        memset(v + pitch + i, 0, (pitch - i) * sizeof(double));
        /* Column i is the conjugate of the row. */
        s0_multiply(v + pitch, -1, 0, last);
        s0_complex_reflector(v, pitch, i - 1, 0, last, &e[i - 1], tau + 2 * i);
        memset(w, 0, line * sizeof(double));
        /* w = tau A v: rows of A are conjugated columns. */
        for (Py_ssize_t r = 0; r < i; r++) {
            const double *row = a + r * line;
            const double minus = -tau[2 * i + 1];
            double x, y;
            s0_complex_product(row, v, pitch, 0, last, &x, &y);
            w[r] = tau[2 * i] * x + minus * y;
            w[pitch + r] = tau[2 * i] * y + tau[2 * i + 1] * x;
        }
        /* w -= (1/2) tau (w^H v) v */
        s0_complex_dot(w, v, pitch, 0, last, &re, &im);
        s0_add_complex(w, -0.5 * (tau[2 * i] * re - tau[2 * i + 1] * im), -0.5 * (tau[2 * i] * im + tau[2 * i + 1] * re), v, 1, pitch, 0, last);
        /* A -= v w^H + w v^H */
        for (Py_ssize_t r = 0; r < i; r++) {
            s0_add_complex(a + r * line, -v[r], -v[pitch + r], w, -1, pitch, 0, last);
            s0_add_complex(a + r * line, -w[r], -w[pitch + r], v, -1, pitch, 0, last);
        }
    }
}

/* As `s0_symmetric_one`; values are real, and vectors complex numbers in the usual order. */
static int s0_hermitian_one(const char *from, const Py_ssize_t *strides, Py_ssize_t n, double *values, double *vectors, double *memory)
{
    const Py_ssize_t pitch = s0_pitch(n), line = 2 * pitch;
    double *a = memory, *rows = a + n * line, *d = rows + n * line, *e = d + pitch, *tau = e + pitch, *work = tau + line;
    double *pairs = work + line;
    /* Read rows and columns in reverse order, like `s0_symmetric_one`. */
    const double scale = s0_read_complex(from + (n - 1) * (strides[1] + strides[2]), -strides[2], -strides[1], n, n, 1, -1, a, pitch);
    Py_ssize_t *places = (Py_ssize_t *)(pairs + 2 * S0_KEPT_ROTATIONS * n);
    s0_rotations rotations = s0_rotations_of(vectors ? rows : NULL, line, line, pairs, n);
    int signs = 0;
    if (scale == 0)
        return S0_SPECTRUM_FAILED;
    s0_tridiagonalise_hermitian(a, n, pitch, d, e, tau, work);
    if (vectors) {
        /* Row r has column r of the product of all reflectors: the unit vector r times the reflectors r + 1 to n - 1. */
        memset(rows, 0, n * line * sizeof(double));
        for (Py_ssize_t r = 0; r < n; r++) {
            rows[r * line + r] = 1;
            for (Py_ssize_t i = r + 1; i < n; i++)
                s0_reflect_complex(rows + r * line, a + i * line, tau + 2 * i, pitch, 0, s0_packs(i));
        }
        signs = s0_sign_of_eigenvectors(&rotations, n, d, e, work);
    }
    if (!s0_finish_symmetric(&rotations, n, d, e, signs, work, scale, places, values))
        return S0_SPECTRUM_FAILED;
    if (vectors)
        s0_write_complex_vectors(rows, pitch, n, n, places, vectors + 2 * (n - 1) * n, 1, -n, 1);
    return S0_SPECTRUM_DONE;
}

/* Matrices `first` to `last` of a stack. */
static int s0_symmetric(const s0_spectra *all, Py_ssize_t first, Py_ssize_t last)
{
    const Py_ssize_t n = all->columns;
    int status = S0_SPECTRUM_DONE;
    double *memory = all->memory ? all->memory : malloc(s0_spectra_size(all, 1) * sizeof(double));
    if (memory == NULL)
        return S0_SPECTRUM_NO_MEMORY;
    for (Py_ssize_t m = first; m < last && status == S0_SPECTRUM_DONE; m++) {
        const char *a = all->a + m * all->strides[0];
        double *values = all->values + m * n, *vectors = all->left ? all->left + m * n * n * (all->is_complex ? 2 : 1) : NULL;
        status = (all->is_complex ? s0_hermitian_one : s0_symmetric_one)(a, all->strides, n, values, vectors, memory);
    }
    if (!all->memory)
        free(memory);
    return status;
}

#endif
