/* Steps of decompositions on blocks of S0_BLOCK_ROWS rows or columns: Note [Blocked decompositions] of linalg/blocks.pxi. */
#ifndef STRIDE0_BLOCK_STEPS_H
#define STRIDE0_BLOCK_STEPS_H

#include <Python.h>
#include <math.h>

enum { S0_BLOCK_ROWS = 64, S0_NARROW_COLUMNS = 8 /* eliminated one by one */ };

/* A real element is one number, and a complex element is two numbers. Strides and columns of right-hand sides count numbers; other sizes count
 * elements. */

/* A lower triangular matrix of at most S0_BLOCK_ROWS rows, and right-hand sides, which the solutions replace. Elements of one right-hand
 * side are `pitch` apart. Each row of all right-hand sides is contiguous. */
typedef struct {
    const double *a;
    Py_ssize_t down, across, n;
    int unit;                   /* whether the diagonal counts as 1 */
    int conjugate;              /* whether the matrix is the conjugate of `a` */
    double *x;
    Py_ssize_t pitch, columns;
} s0_triangle;

/* A panel of at most S0_PANEL_COLUMNS columns, with at least as many rows, and its reflectors I - tau v v'. The vectors v are rows, `line` apart,
 * padded to multiples of 8 numbers. The rows of `gram` are S0_PANEL_COLUMNS elements apart. They have the products of the vectors below the
 * diagonal. On the diagonal they have 1 / conj(tau), or infinity if nothing had to be eliminated. */
enum { S0_PANEL_COLUMNS = 32 };
typedef struct {
    double *a, *reflectors, *gram, *taus;
    Py_ssize_t pitch, line, m, n;
} s0_columns;

/* `count` reflectors of m elements of a panel. */
typedef struct {
    const double *v;
    Py_ssize_t line;
    const double *gram;
    Py_ssize_t m, count;
} s0_reflectors;

struct s0_block_steps {
    /* Solve for columns `first` to `last` of the right-hand sides. */
    void (*solve)(const s0_triangle *all, Py_ssize_t first, Py_ssize_t last);
    /* Replace the upper triangle of a positive definite matrix U'U of n rows by U. Returns 0 if a pivot is not positive. */
    int (*factor_definite)(double *a, Py_ssize_t pitch, Py_ssize_t n);
    /* Factor m rows and n columns by elimination. The columns are given as rows, `pitch` apart. Row j is exchanged with row exchanges[j].
     * Returns 0 if a pivot is 0. After S0_BLOCK_ROWS rows there is memory for S0_NARROW_COLUMNS more rows for each part of an
     * element. */
    int (*eliminate)(double *columns, Py_ssize_t pitch, Py_ssize_t m, Py_ssize_t n, Py_ssize_t *exchanges);
    /* Exchange each row k from `first` to `last` with row exchanges[k]. */
    void (*exchange_rows)(double *a, Py_ssize_t pitch, const Py_ssize_t *exchanges, Py_ssize_t first, Py_ssize_t last, Py_ssize_t numbers);
    /* Eliminate the columns of a panel by reflectors. The upper triangle is replaced; what is below it is undefined. */
    void (*reflect)(const s0_columns *all);
    /* Apply reflectors to columns, as their product or, if `inverse`, as its inverse: I - V T V', with the triangle of `gram` in the place of T. */
    void (*apply)(const s0_reflectors *all, double *x, Py_ssize_t pitch, Py_ssize_t columns, int inverse);
};

/* The determinant of a triangle with elements of the diagonal `step` apart, times a sign, as a factor times a power of 2, so that it does not
 * overflow. The factor is from 0.7 to 1.4, or 0, infinity or NaN. */
static inline void s0_multiply_diagonal(const double *a, Py_ssize_t step, Py_ssize_t n, int sign, double *factor, double *exponent)
{
    int power, sum = 0;
    double product = sign;
    if (!sign)
        n = 0; /* skip the diagonal: the determinant is 0 */
    for (Py_ssize_t i = 0; i < n; i++) {
        power = 0;
        product = frexp(product * a[i * step], &power);
        sum += isfinite(product) ? power : 0;
    }
    if (fabs(product) < 0.70710678118654752) {
        product *= 2;
        sum -= 1;
    }
    *factor = product;
    *exponent = sum;
}

/* Multiply both parts of a complex number by 2**-power, so that the greater magnitude is from 1/2 to 1. Returns `power`. */
static inline int s0_scale_parts(double *x)
{
    const double most = fmax(fabs(x[0]), fabs(x[1]));
    int power = 0;
    if (!(most < INFINITY))
        return 0;
    frexp(most, &power);
    x[0] = ldexp(x[0], -power);
    x[1] = ldexp(x[1], -power);
    return power;
}

/* `s0_multiply_diagonal` for complex numbers. */
static inline void s0_multiply_complex_diagonal(const double *a, Py_ssize_t step, Py_ssize_t n, int sign, double *factor, double *exponent)
{
    int sum = 0;
    factor[0] = sign;
    factor[1] = 0;
    if (!sign)
        n = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        double x[2] = {a[i * step], a[i * step + 1]}, re;
        sum += s0_scale_parts(x);
        re = fma(-factor[1], x[1], factor[0] * x[0]);
        factor[1] = fma(factor[1], x[0], factor[0] * x[1]);
        factor[0] = re;
        sum += s0_scale_parts(factor);
    }
    if (fma(factor[0], factor[0], factor[1] * factor[1]) < 0.5) {
        factor[0] *= 2;
        factor[1] *= 2;
        sum -= 1;
    }
    *exponent = sum;
}

#endif
