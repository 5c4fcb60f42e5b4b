/* Complex reflectors of decompositions by eigenvalues and singular values (`hermitian.h`, `complex_singular.h`).
 *
 * A row of n complex numbers is stored as a row of real parts and, `pitch` elements further, a row of imaginary parts. Reflectors make the reduced
 * matrix real. Then the rotations of real matrices are used, on rows that are twice as long. */
#ifndef STRIDE0_COMPLEX_REFLECTORS_H
#define STRIDE0_COMPLEX_REFLECTORS_H

#include "rotations.h"

/* The sum of conj(x) y. */
S0_INLINE void s0_complex_dot(const double *x, const double *y, Py_ssize_t pitch, Py_ssize_t first, Py_ssize_t last, double *re, double *im)
{
    *re = s0_dot(x, y, first, last) + s0_dot(x + pitch, y + pitch, first, last);
    *im = s0_dot(x, y + pitch, first, last) - s0_dot(x + pitch, y, first, last);
}

/* Add (re + i im) y to x, or conj(y) if `sign` is -1. */
S0_INLINE void s0_add_complex(double *x, double re, double im, const double *y, double sign, Py_ssize_t pitch, Py_ssize_t first,
                              Py_ssize_t last)
{
    s0_add_multiple(x, re, y, first, last);
    s0_add_multiple(x, -sign * im, y + pitch, first, last);
    s0_add_multiple(x + pitch, im, y, first, last);
    s0_add_multiple(x + pitch, sign * re, y + pitch, first, last);
}

/* Make a reflector 1 - tau v v^H, with a complex tau, so that its conjugate transpose maps a vector to a real multiple of the unit vector at `at`:
 * as LAPACK's zlarfg. */
static void s0_complex_reflector(double *x, Py_ssize_t pitch, Py_ssize_t at, Py_ssize_t first, Py_ssize_t last, double *image, double *tau)
{
    double re = x[at], im = x[pitch + at], greatest, scale, beta, size, c, s;
    x[at] = x[pitch + at] = 0;
    tau[0] = tau[1] = 0;
    greatest = fmax(fmax(s0_greatest(x + first, last - first), s0_greatest(x + pitch + first, last - first)), fabs(im));
    if (greatest == 0) {
        x[at] = 1;
        *image = re;
        return;
    }
    scale = s0_scale_of(fmax(greatest, fabs(re)));
    s0_multiply(x, scale, first, last);
    s0_multiply(x + pitch, scale, first, last);
    re *= scale;
    im *= scale;
    beta = -copysign(sqrt(re * re + im * im + s0_dot(x, x, first, last) + s0_dot(x + pitch, x + pitch, first, last)), re);
    tau[0] = (beta - re) / beta;
    tau[1] = -im / beta;
    /* Divide by alpha - beta. */
    size = (re - beta) * (re - beta) + im * im;
    c = (re - beta) / size;
    s = -im / size;
    for (Py_ssize_t j = first; j < last; j++) {
        const double real = x[j], imaginary = x[pitch + j], minus = -s;
        x[j] = real * c + imaginary * minus;
        x[pitch + j] = real * s + imaginary * c;
    }
    x[at] = 1;
    *image = beta / scale;
}

/* The sum of x y. */
S0_INLINE void s0_complex_product(const double *x, const double *y, Py_ssize_t pitch, Py_ssize_t first, Py_ssize_t last, double *re, double *im)
{
    *re = s0_dot(x, y, first, last) - s0_dot(x + pitch, y + pitch, first, last);
    *im = s0_dot(x, y + pitch, first, last) + s0_dot(x + pitch, y, first, last);
}

/* Multiply a vector by the reflector of v from the left. */
S0_INLINE void s0_reflect_complex(double *x, const double *v, const double *tau, Py_ssize_t pitch, Py_ssize_t first, Py_ssize_t last)
{
    const double minus = -tau[1];
    double re, im;
    s0_complex_dot(v, x, pitch, first, last, &re, &im);
    s0_add_complex(x, -(tau[0] * re + minus * im), -(tau[0] * im + tau[1] * re), v, 1, pitch, first, last);
}

/* Read a matrix, or the conjugates if `sign` is -1, times a power of 2: as `s0_read_scaled`. The diagonal of a Hermitian matrix is real. */
static double s0_read_complex(const char *from, Py_ssize_t down, Py_ssize_t across, Py_ssize_t m, Py_ssize_t n, int is_hermitian, double sign,
                              double *a, Py_ssize_t pitch)
{
    const Py_ssize_t line = 2 * pitch;
    double greatest = 0, scale;
    memset(a, 0, m * line * sizeof(double));
    for (Py_ssize_t i = 0; i < m; i++)
        for (Py_ssize_t j = 0; j < (is_hermitian ? i + 1 : n); j++) {
            const double *x = (const double *)(from + i * down + j * across), im = is_hermitian && i == j ? 0 : sign * x[1];
            if (!isfinite(x[0]) || !isfinite(im))
                return 0;
            a[i * line + j] = x[0];
            a[i * line + pitch + j] = im;
            if (is_hermitian) {
                a[j * line + i] = x[0];
                a[j * line + pitch + i] = -im;
            }
            greatest = fmax(greatest, fmax(fabs(x[0]), fabs(im)));
        }
    scale = greatest > 0 ? s0_scale_of(greatest) : 1;
    s0_multiply(a, scale, 0, m * line);
    return scale;
}

/* Write `count` rows of n numbers in an order of places, with a length of 1, or their conjugates if `sign` is -1. Steps are in numbers. */
static void s0_write_complex_vectors(double *rows, Py_ssize_t pitch, Py_ssize_t n, Py_ssize_t count, const Py_ssize_t *places, double *to,
                                     Py_ssize_t row_step, Py_ssize_t step, double sign)
{
    for (Py_ssize_t j = 0; j < count; j++) {
        double *row = rows + places[j] * 2 * pitch;
        s0_multiply(row, 1 / sqrt(s0_dot(row, row, 0, 2 * pitch)), 0, 2 * pitch);
        for (Py_ssize_t i = 0; i < n; i++) {
            to[2 * (j * row_step + i * step)] = row[i];
            to[2 * (j * row_step + i * step) + 1] = sign * row[pitch + i];
        }
    }
}

#endif
