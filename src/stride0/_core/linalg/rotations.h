/* Reflectors and plane rotations of decompositions by eigenvalues and singular values (`eigen.h`, `singular.h`).
 *
 * Vectors have whole packs of 8 elements and zeros where they have no elements. Sums are added up in 8 lanes, which are folded in a fixed
 * order. There is no fused multiply-add. So no bit depends on the instruction set. */
#ifndef STRIDE0_ROTATIONS_H
#define STRIDE0_ROTATIONS_H

#include <math.h>
#include <stdlib.h>

#include "kernels.h"
#include "packs.h"

enum {
    S0_SPECTRUM_FAILED = 0, /* results of the functions of the table */
    S0_SPECTRUM_DONE = 1,
    S0_SPECTRUM_NO_MEMORY = -1,
    S0_ROWS_TOGETHER = 4,   /* rows that are multiplied by a reflector together */
    S0_ROWS_IN_CACHE = 8,
    S0_SWEEPS = 64,         /* of rotations, that are applied together */
    S0_SWEEP_PACKS = 4,     /* of each row, that are rotated together */
    S0_UNDIVIDED = 25,      /* maximum number of rows of a matrix that LAPACK does not divide */
};

#define S0_EPSILON 0x1p-53
#define S0_LEAST 0x1p-1022
/* Between these bounds, sums of squares neither overflow nor lose digits to underflow. */
#define S0_ROOT_LEAST 0x1p-511
#define S0_ROOT_MOST 0x1p+510

/* Elements of whole packs. */
S0_INLINE Py_ssize_t s0_packs(Py_ssize_t n) { return (n + 7) / 8 * 8; }

S0_INLINE f64_8 s0_no_pack(void)
{
    f64_8 x;
    S0_FOR_ALL(S0_COUNT(x)) x.of[k] = (__typeof__(x.of[0])){0};
    return x;
}

S0_INLINE double s0_total(f64_8 x)
{
    double of[8];
    s0_store_f64_8(of, x);
    return ((of[0] + of[4]) + (of[2] + of[6])) + ((of[1] + of[5]) + (of[3] + of[7]));
}

S0_INLINE double s0_dot(const double *x, const double *y, Py_ssize_t first, Py_ssize_t last)
{
    f64_8 sum = s0_no_pack();
    for (Py_ssize_t j = first; j < last; j += 8) {
        const f64_8 a = s0_load_f64_8(x + j), b = s0_load_f64_8(y + j);
        S0_FOR_ALL(S0_COUNT(sum)) sum.of[k] += a.of[k] * b.of[k];
    }
    return s0_total(sum);
}

S0_INLINE void s0_multiply(double *x, double factor, Py_ssize_t first, Py_ssize_t last)
{
    for (Py_ssize_t j = first; j < last; j += 8) {
        f64_8 a = s0_load_f64_8(x + j);
        S0_FOR_ALL(S0_COUNT(a)) a.of[k] *= factor;
        s0_store_f64_8(x + j, a);
    }
}

/* Add `factor` times y to x. */
S0_INLINE void s0_add_multiple(double *x, double factor, const double *y, Py_ssize_t first, Py_ssize_t last)
{
    for (Py_ssize_t j = first; j < last; j += 8) {
        f64_8 a = s0_load_f64_8(x + j);
        const f64_8 b = s0_load_f64_8(y + j);
        S0_FOR_ALL(S0_COUNT(a)) a.of[k] += factor * b.of[k];
        s0_store_f64_8(x + j, a);
    }
}

S0_INLINE double s0_greatest(const double *x, Py_ssize_t count)
{
    double greatest = 0;
    for (Py_ssize_t i = 0; i < count; i++)
        greatest = fabs(x[i]) > greatest ? fabs(x[i]) : greatest;
    return greatest;
}

/* The power of two by which a positive number is from 1/2 to 1. It is finite for subnormal numbers, too. */
S0_INLINE double s0_scale_of(double x)
{
    int exponent;
    frexp(x, &exponent);
    return ldexp(1.0, exponent < -1022 ? 1022 : -exponent);
}

/* Make a reflector 1 - tau v v' that maps a vector to a multiple of the unit vector at `at`. x becomes v, with v[at] = 1; `image` becomes
 * the multiple. Returns tau, 0 for the identity. */
static double s0_reflector(double *x, Py_ssize_t at, Py_ssize_t first, Py_ssize_t last, double *image)
{
    double alpha = x[at], greatest, scale, beta;
    x[at] = 0;
    greatest = s0_greatest(x + first, last - first);
    if (greatest == 0) {
        x[at] = 1;
        *image = alpha;
        return 0;
    }
    scale = s0_scale_of(fabs(alpha) > greatest ? fabs(alpha) : greatest);
    s0_multiply(x, scale, first, last);
    alpha *= scale;
    beta = -copysign(sqrt(alpha * alpha + s0_dot(x, x, first, last)), alpha);
    s0_multiply(x, 1 / (alpha - beta), first, last);
    x[at] = 1;
    *image = beta / scale;
    return (beta - alpha) / beta;
}

/* Unless `added` is NULL, add factors[i] times `added` to row i of x. Then multiply the `rows` rows of x by the reflector of v from the right. */
S0_INLINE void s0_reflect_some(double *x, Py_ssize_t pitch, const int rows, const double *factors, const double *added, const double *v,
                               double tau, Py_ssize_t first, Py_ssize_t last)
{
    f64_8 sum[S0_ROWS_TOGETHER], other;
    double factor[S0_ROWS_TOGETHER];
    for (int i = 0; i < rows; i++)
        sum[i] = s0_no_pack();
    for (Py_ssize_t j = first; j < last; j += 8) {
        const f64_8 b = s0_load_f64_8(v + j);
        if (added)
            other = s0_load_f64_8(added + j);
        for (int i = 0; i < rows; i++) {
            f64_8 a = s0_load_f64_8(x + i * pitch + j);
            if (added) {
                S0_FOR_ALL(S0_COUNT(a)) a.of[k] += factors[i] * other.of[k];
                s0_store_f64_8(x + i * pitch + j, a);
            }
            S0_FOR_ALL(S0_COUNT(b)) sum[i].of[k] += a.of[k] * b.of[k];
        }
    }
    for (int i = 0; i < rows; i++)
        factor[i] = -tau * s0_total(sum[i]);
    for (Py_ssize_t j = first; j < last; j += 8) {
        const f64_8 b = s0_load_f64_8(v + j);
        for (int i = 0; i < rows; i++) {
            f64_8 a = s0_load_f64_8(x + i * pitch + j);
            S0_FOR_ALL(S0_COUNT(b)) a.of[k] += factor[i] * b.of[k];
            s0_store_f64_8(x + i * pitch + j, a);
        }
    }
}

S0_INLINE void s0_reflect_all(double *x, Py_ssize_t pitch, Py_ssize_t rows, const double *factors, const double *added, const double *v,
                              double tau, Py_ssize_t first, Py_ssize_t last)
{
    for (; rows >= S0_ROWS_TOGETHER; rows -= S0_ROWS_TOGETHER, x += S0_ROWS_TOGETHER * pitch, factors += S0_ROWS_TOGETHER)
        s0_reflect_some(x, pitch, S0_ROWS_TOGETHER, factors, added, v, tau, first, last);
    for (; rows > 0; rows--, x += pitch, factors++)
        s0_reflect_some(x, pitch, 1, factors, added, v, tau, first, last);
}

/* Multiply rows of x by the reflector of v from the right. */
static void s0_reflect_rows(double *x, Py_ssize_t pitch, Py_ssize_t rows, const double *v, double tau, Py_ssize_t first, Py_ssize_t last)
{
    if (tau != 0)
        s0_reflect_all(x, pitch, rows, v, NULL, v, tau, first, last);
}

/* `s0_reflect_rows`, after factors[i] times `added` is added to each row i. */
static void s0_reflect_sums(double *x, Py_ssize_t pitch, Py_ssize_t rows, const double *factors, const double *added, const double *v,
                            double tau, Py_ssize_t first, Py_ssize_t last)
{
    s0_reflect_all(x, pitch, rows, factors, added, v, tau, first, last);
}

/* Add the products of rows of a with the elements of v to `sums`: the product of the transpose of a with v. */
static void s0_sum_rows(const double *a, Py_ssize_t pitch, Py_ssize_t rows, const double *v, Py_ssize_t first, Py_ssize_t last, double *sums)
{
    Py_ssize_t i;
    for (i = 0; i + 4 <= rows; i += 4, a += 4 * pitch)
        for (Py_ssize_t j = first; j < last; j += 8) {
            const f64_8 p = s0_load_f64_8(a + j), q = s0_load_f64_8(a + pitch + j);
            const f64_8 r = s0_load_f64_8(a + 2 * pitch + j), s = s0_load_f64_8(a + 3 * pitch + j);
            f64_8 sum = s0_load_f64_8(sums + j);
            S0_FOR_ALL(S0_COUNT(sum))
                sum.of[k] += (v[i] * p.of[k] + v[i + 1] * q.of[k]) + (v[i + 2] * r.of[k] + v[i + 3] * s.of[k]);
            s0_store_f64_8(sums + j, sum);
        }
    for (; i < rows; i++, a += pitch)
        s0_add_multiple(sums, v[i], a, first, last);
}

/* The rotation that maps (f, g) to (r, 0), as LAPACK's dlartg: c f + s g = r and c g - s f = 0. Returns r. */
S0_INLINE double s0_rotation(double f, double g, double *c, double *s)
{
    const double a = fabs(f), b = fabs(g);
    double scale = 1, r;
    if (b == 0) {
        *c = 1;
        *s = 0;
        return f;
    }
    if (a == 0) {
        *c = 0;
        *s = copysign(1.0, g);
        return b;
    }
    if (!(a > S0_ROOT_LEAST && a < S0_ROOT_MOST && b > S0_ROOT_LEAST && b < S0_ROOT_MOST)) {
        scale = s0_scale_of(a > b ? a : b);
        f *= scale;
        g *= scale;
    }
    r = copysign(sqrt(f * f + g * g), f);
    *c = fabs(f) / fabs(r);
    *s = g / r;
    return r / scale;
}

/* Rotations of adjacent rows of a matrix that are still to be applied: sweeps of rotations of the rows j and j + 1, for rising or
 * falling j. Row j becomes c x[j] + s x[j + 1], and row j + 1 becomes c x[j + 1] - s x[j]. */
typedef struct {
    double *rows;       /* NULL if vectors are not wanted */
    Py_ssize_t pitch, width;
    double *pairs;      /* c and s of each rotation */
    Py_ssize_t room, filled;
    int sweeps;
    Py_ssize_t first[S0_SWEEPS], count[S0_SWEEPS];
    int falls[S0_SWEEPS];
} s0_rotations;

/* Apply the sweeps to some packs of each row. The row that the next rotation needs stays in registers. */
S0_INLINE void s0_rotate_packs(const s0_rotations *all, double *column, const int packs)
{
    const Py_ssize_t pitch = all->pitch;
    const double *pair = all->pairs;
    f64_8 kept[S0_SWEEP_PACKS], next[S0_SWEEP_PACKS];
    for (int sweep = 0; sweep < all->sweeps; sweep++) {
        const int falls = all->falls[sweep];
        const Py_ssize_t step = falls ? -pitch : pitch;
        double *row = column + (all->first[sweep] + (falls ? all->count[sweep] : 0)) * pitch;
        for (int i = 0; i < packs; i++)
            kept[i] = s0_load_f64_8(row + 8 * i);
        for (Py_ssize_t j = 0; j < all->count[sweep]; j++, pair += 2, row += step) {
            /* A falling rotation keeps the lower row: the same formula with the opposite sign of s. */
            const double c = pair[0], s = falls ? -pair[1] : pair[1];
            for (int i = 0; i < packs; i++) {
                next[i] = s0_load_f64_8(row + step + 8 * i);
                f64_8 done;
                S0_FOR_ALL(S0_COUNT(done)) {
                    done.of[k] = c * kept[i].of[k] + s * next[i].of[k];
                    kept[i].of[k] = c * next[i].of[k] - s * kept[i].of[k];
                }
                s0_store_f64_8(row + 8 * i, done);
            }
        }
        for (int i = 0; i < packs; i++)
            s0_store_f64_8(row + 8 * i, kept[i]);
    }
}

static void s0_apply_rotations(s0_rotations *all)
{
    Py_ssize_t j = 0;
    for (; j + 8 * S0_SWEEP_PACKS <= all->width; j += 8 * S0_SWEEP_PACKS)
        s0_rotate_packs(all, all->rows + j, S0_SWEEP_PACKS);
    for (; j < all->width; j += 8)
        s0_rotate_packs(all, all->rows + j, 1);
    all->sweeps = 0;
    all->filled = 0;
}

/* Memory for the next sweep, of `count` rotations from row `first` on. NULL if vectors are not wanted. */
static double *s0_next_sweep(s0_rotations *all, Py_ssize_t first, Py_ssize_t count, int falls)
{
    double *pairs;
    if (!all->rows)
        return NULL;
    if (all->sweeps == S0_SWEEPS || all->filled + count > all->room)
        s0_apply_rotations(all);
    all->first[all->sweeps] = first;
    all->count[all->sweeps] = count;
    all->falls[all->sweeps++] = falls;
    pairs = all->pairs + 2 * all->filled;
    all->filled += count;
    return pairs;
}

S0_INLINE s0_rotations s0_rotations_of(double *rows, Py_ssize_t pitch, Py_ssize_t width, double *pairs, Py_ssize_t n)
{
    return (s0_rotations){.rows = rows, .pitch = pitch, .width = width, .pairs = pairs, .room = S0_KEPT_ROTATIONS * n};
}

/* Negate each vector whose product with q is positive. Unless `other` is NULL, negate the vector of `other` with the same index, too. */
static void s0_choose_signs(const s0_rotations *all, Py_ssize_t count, const double *q, const s0_rotations *other)
{
    for (Py_ssize_t i = 0; i < count; i++)
        if (s0_dot(all->rows + i * all->pitch, q, 0, all->width) > 0) {
            s0_multiply(all->rows + i * all->pitch, -1, 0, all->width);
            if (other)
                s0_multiply(other->rows + i * other->pitch, -1, 0, other->width);
        }
}

/* Write to `places` the indices that sort n values: ascending, or descending if `falls`. A descending sort keeps the order of equal values. An
 * ascending sort reverses it, because eigenvalues come from a matrix that was read in reverse order. */
static void s0_order_of(const double *values, Py_ssize_t n, int falls, Py_ssize_t *places)
{
    for (Py_ssize_t i = 0, j; i < n; i++) {
        for (j = i; j > 0 && (falls ? values[places[j - 1]] < values[i] : values[places[j - 1]] >= values[i]); j--)
            places[j] = places[j - 1];
        places[j] = i;
    }
}

/* Read a matrix, times a power of 2 by which its greatest element is from 1/2 to 1; returns this power, or 0 if an element is not
 * finite. If the matrix is symmetric, only its lower triangle is read. */
static double s0_read_scaled(const char *from, Py_ssize_t down, Py_ssize_t across, Py_ssize_t m, Py_ssize_t n, int is_symmetric, double *a,
                             Py_ssize_t pitch)
{
    double greatest = 0, scale;
    memset(a, 0, m * pitch * sizeof(double));
    for (Py_ssize_t i = 0; i < m; i++)
        for (Py_ssize_t j = 0; j < (is_symmetric ? i + 1 : n); j++) {
            const double x = *(const double *)(from + i * down + j * across);
            if (!isfinite(x))
                return 0;
            a[i * pitch + j] = x;
            if (is_symmetric)
                a[j * pitch + i] = x;
            greatest = fabs(x) > greatest ? fabs(x) : greatest;
        }
    scale = greatest > 0 ? s0_scale_of(greatest) : 1;
    for (Py_ssize_t i = 0; i < m; i++)
        s0_multiply(a + i * pitch, scale, 0, s0_packs(n));
    return scale;
}

/* Write `count` rows of n elements in an order of places, with a length of 1: many rotations change it by some units in the last
 * place. */
static void s0_write_vectors(double *rows, Py_ssize_t pitch, Py_ssize_t n, Py_ssize_t count, const Py_ssize_t *places, double *to,
                             Py_ssize_t row_step, Py_ssize_t step)
{
    for (Py_ssize_t j = 0; j < count; j++) {
        double *row = rows + places[j] * pitch;
        s0_multiply(row, 1 / sqrt(s0_dot(row, row, 0, s0_packs(n))), 0, s0_packs(n));
        for (Py_ssize_t i = 0; i < n; i++)
            to[j * row_step + i * step] = row[i];
    }
}

#endif
