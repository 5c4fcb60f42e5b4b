/* Eigenvalues of any real matrix, by its Schur form: Note [Eigenvalues] of `linalg/spectra.pxi`. */
#ifndef STRIDE0_SCHUR_H
#define STRIDE0_SCHUR_H

#include "balance.h"

typedef struct { double re, im; } s0_number;

/* --- Hessenberg form */

/* Reduce the coupled part to Hessenberg form, by reflectors from both sides. `memory` has a row for each reflector, and three more. */
static void s0_to_hessenberg(s0_schur *all, double *vectors, double *tau, double *sums)
{
    const Py_ssize_t n = all->n, pitch = all->pitch, low = all->low, high = all->high, width = s0_packs(n);
    Py_ssize_t i, k;
    for (k = low; k + 1 < high; k++) {
        double *v = vectors + k * pitch, image;
        const Py_ssize_t first = (k + 1) / 8 * 8;
        memset(v, 0, pitch * sizeof(double));
        for (i = k + 1; i <= high; i++)
            v[i] = all->a[i * pitch + k];
        tau[k] = s0_reflector(v, k + 1, first, width, &image);
        for (i = k + 1; i <= high; i++)
            all->a[i * pitch + k] = i == k + 1 ? image : 0;
        memset(sums, 0, pitch * sizeof(double));
        s0_sum_rows(all->a + (k + 1) * pitch, pitch, high - k, v + k + 1, first, width, sums);
        /* Columns up to k have their final elements in these rows. */
        for (i = first; i <= k; i++)
            sums[i] = 0;
        s0_multiply(sums, -tau[k], first, width);
        s0_reflect_rows(all->a, pitch, k + 1, v, tau[k], first, width);
        s0_reflect_sums(all->a + (k + 1) * pitch, pitch, high - k, v + k + 1, sums, v, tau[k], first, width);
    }
    if (!all->z)
        return;
    /* Row r of the transposed product of all reflectors is the unit vector r times the reflectors before r, from the last to the first. */
    memset(all->z, 0, n * pitch * sizeof(double));
    for (i = 0; i < n; i++)
        all->z[i * pitch + i] = 1;
    for (k = high - 2; k >= low; k--)
        s0_reflect_rows(all->z + (k + 1) * pitch, pitch, high - k, vectors + k * pitch, tau[k], (k + 1) / 8 * 8, width);
}

/* --- Schur form */

/* A reflector or rotation of two or three rows, or of columns: x becomes x - (x + v y + w z) t, and y and z lose v and w times as
 * much. */
typedef struct { double t, v, w; } s0_small;

static void s0_apply_to_rows(const s0_small by, double *restrict x, double *restrict y, double *restrict z, Py_ssize_t first, Py_ssize_t last)
{
    const double t = by.t, v = by.v, w = by.w, tv = t * v, tw = t * w;
    for (Py_ssize_t j = first; j < last; j++) {
        const double sum = x[j] + v * y[j] + w * z[j];
        x[j] -= sum * t;
        y[j] -= sum * tv;
        z[j] -= sum * tw;
    }
}

static void s0_apply_to_two_rows(const s0_small by, double *restrict x, double *restrict y, Py_ssize_t first, Py_ssize_t last)
{
    const double t = by.t, v = by.v, tv = t * v;
    for (Py_ssize_t j = first; j < last; j++) {
        const double sum = x[j] + v * y[j];
        x[j] -= sum * t;
        y[j] -= sum * tv;
    }
}

static void s0_apply_to_columns(const s0_small by, double *x, Py_ssize_t pitch, Py_ssize_t rows, int three)
{
    const double t = by.t, v = by.v, w = by.w, tv = t * v, tw = t * w;
    for (Py_ssize_t j = 0; j < rows; j++, x += pitch) {
        const double sum = three ? x[0] + v * x[1] + w * x[2] : x[0] + v * x[1];
        x[0] -= sum * t;
        x[1] -= sum * tv;
        if (three)
            x[2] -= sum * tw;
    }
}

/* The reflector of two or three numbers; the first number becomes the image. */
static s0_small s0_small_reflector(double *x, int count)
{
    const double greatest = fmax(fmax(fabs(x[0]), fabs(x[1])), count > 2 ? fabs(x[2]) : 0);
    double scale, a, b, c, image;
    if (x[1] == 0 && (count < 3 || x[2] == 0))
        return (s0_small){0, 0, 0};
    scale = s0_scale_of(greatest);
    a = x[0] * scale;
    b = x[1] * scale;
    c = count > 2 ? x[2] * scale : 0;
    image = -copysign(sqrt(a * a + b * b + c * c), a);
    x[0] = image / scale;
    return (s0_small){(image - a) / image, b / (a - image), c / (a - image)};
}

/* Whether the subdiagonal element of row k is negligible: M. Ahues, F. Tisseur, LAPACK Working Note 122 (1997), as in dlahqr. */
static int s0_deflates(const s0_schur *all, Py_ssize_t k, double smallest)
{
    const double *a = all->a + (k - 1) * all->pitch + k - 1;
    const double p = a[0], q = a[1], r = a[all->pitch], s = a[all->pitch + 1];
    double sum = fabs(p) + fabs(s), most, least, across, other;
    if (fabs(r) <= smallest)
        return 1;
    if (sum == 0)
        sum = (k > 1 ? fabs(a[-1]) : 0) + (k + 1 < all->n ? fabs(a[2 * all->pitch + 1]) : 0);
    if (fabs(r) > 2 * S0_EPSILON * sum)
        return 0;
    across = fmax(fabs(r), fabs(q));
    other = fmin(fabs(r), fabs(q));
    most = fmax(fabs(s), fabs(p - s));
    least = fmin(fabs(s), fabs(p - s));
    return other * (across / (most + across)) <= fmax(smallest, 2 * S0_EPSILON * (least * (most / (most + across))));
}

/* Both shifts of a sweep from the last two rows, or exceptional ones. If the shifts are real, the nearer one is taken twice. */
static void s0_shifts(const s0_schur *all, Py_ssize_t first, Py_ssize_t last, Py_ssize_t count, s0_number *shift, s0_number *other)
{
    const double *end = all->a + (last - 1) * all->pitch + last - 1, *begin = all->a + first * all->pitch + first;
    double p = end[0], q = end[1], r = end[all->pitch], s = end[all->pitch + 1], size, mean, product;
    if (count % 20 == 10) {
        size = fabs(begin[all->pitch]) + fabs(begin[2 * all->pitch + 1]);
        p = s = 0.75 * size + begin[0];
        q = -0.4375 * size;
        r = size;
    } else if (count % 20 == 0) {
        size = fabs(r) + fabs(end[-1]);
        p = s = 0.75 * size + s;
        q = -0.4375 * size;
        r = size;
    }
    size = fabs(p) + fabs(q) + fabs(r) + fabs(s);
    *shift = *other = (s0_number){0, 0};
    if (size == 0)
        return;
    p /= size;
    q /= size;
    r /= size;
    s /= size;
    mean = (p + s) / 2;
    product = (p - mean) * (s - mean) - q * r;
    if (product >= 0) {
        shift->re = other->re = mean * size;
        shift->im = sqrt(product) * size;
        other->im = -shift->im;
    } else {
        const double root = sqrt(-product);
        shift->re = other->re = (fabs(mean + root - s) <= fabs(mean - root - s) ? mean + root : mean - root) * size;
    }
}

/* One implicit double-shift sweep on rows `first` to `last`; without vectors only these rows are changed. */
static void s0_double_sweep(s0_schur *all, Py_ssize_t first, Py_ssize_t last, s0_number shift, s0_number other)
{
    const Py_ssize_t pitch = all->pitch, end = all->z ? all->n : last + 1, top = all->z ? 0 : first;
    double v[3], size;
    Py_ssize_t m, k;
    /* Begin where two consecutive subdiagonal elements are small. */
    for (m = last - 2;; m--) {
        const double *a = all->a + m * pitch + m;
        double below = a[pitch];
        size = fabs(a[0] - other.re) + fabs(other.im) + fabs(below);
        below /= size;
        v[0] = below * a[1] + (a[0] - shift.re) * ((a[0] - other.re) / size) - shift.im * (other.im / size);
        v[1] = below * (a[0] + a[pitch + 1] - shift.re - other.re);
        v[2] = below * a[2 * pitch + 1];
        size = fabs(v[0]) + fabs(v[1]) + fabs(v[2]);
        v[0] /= size;
        v[1] /= size;
        v[2] /= size;
        if (m == first || fabs(a[-1]) * (fabs(v[1]) + fabs(v[2])) <=
                              2 * S0_EPSILON * fabs(v[0]) * (fabs(a[-pitch - 1]) + fabs(a[0]) + fabs(a[pitch + 1])))
            break;
    }
    for (k = m; k < last; k++) {
        const int count = last - k > 1 ? 3 : 2;
        double *a = all->a + k * pitch;
        const Py_ssize_t bottom = (k + 3 < last ? k + 3 : last) + 1;
        s0_small by;
        for (int i = 0; k > m && i < count; i++)
            v[i] = a[i * pitch + k - 1];
        by = s0_small_reflector(v, count);
        if (k > m) {
            a[k - 1] = v[0];
            for (int i = 1; i < count; i++)
                a[i * pitch + k - 1] = 0;
        } else if (m > first) {
            a[k - 1] *= 1 - by.t;
        }
        if (count == 3)
            s0_apply_to_rows(by, a, a + pitch, a + 2 * pitch, k, end);
        else
            s0_apply_to_two_rows(by, a, a + pitch, k, end);
        s0_apply_to_columns(by, all->a + top * pitch + k, pitch, bottom - top, count == 3);
        if (all->z && count == 3)
            s0_apply_to_rows(by, all->z + k * pitch, all->z + (k + 1) * pitch, all->z + (k + 2) * pitch, 0, all->n);
        else if (all->z)
            s0_apply_to_two_rows(by, all->z + k * pitch, all->z + (k + 1) * pitch, 0, all->n);
    }
}

/* Rotate two rows or columns. From a difference next to a sum, GCC 12 would make vfmaddsub: the difference adds a negated factor. */
static void s0_rotate_two(double *x, double *y, Py_ssize_t step, Py_ssize_t count, double c, double s)
{
    const double minus = -s;
    for (Py_ssize_t j = 0; j < count; j++) {
        const double value = c * x[j * step] + s * y[j * step];
        y[j * step] = c * y[j * step] + minus * x[j * step];
        x[j * step] = value;
    }
}

/* The eigenvalues of the block of rows k and k + 1, which becomes triangular if they are real. */
static void s0_split_two(s0_schur *all, Py_ssize_t k, s0_number *values)
{
    const Py_ssize_t pitch = all->pitch;
    double *a = all->a + k * pitch + k;
    const double q = a[1], r = a[pitch], s = a[pitch + 1], half = 0.5 * (a[0] - s), size = fmax(fabs(half), fmax(fabs(q), fabs(r)));
    const double square = half / size * half + q / size * r;
    double z, length;
    if (r == 0) {
        values[0] = (s0_number){a[0], 0};
        values[1] = (s0_number){s, 0};
        return;
    }
    if (square < 0) {
        z = sqrt(size) * sqrt(-square);
        values[0] = (s0_number){s + half, z};
        values[1] = (s0_number){s + half, -z};
        return;
    }
    z = half + copysign(sqrt(size) * sqrt(square), half);
    a[0] = s + z;
    a[1] = q - r;
    a[pitch] = 0;
    a[pitch + 1] = z == 0 ? s : s - q / z * r;
    values[0] = (s0_number){a[0], 0};
    values[1] = (s0_number){a[pitch + 1], 0};
    if (!all->z)
        return;
    length = fmax(fabs(z), fabs(r));
    length *= sqrt((z / length) * (z / length) + (r / length) * (r / length));
    s0_rotate_two(a + 2, a + pitch + 2, 1, all->n - k - 2, z / length, r / length);
    s0_rotate_two(all->a + k, all->a + k + 1, pitch, k, z / length, r / length);
    s0_rotate_two(all->z + k * pitch, all->z + (k + 1) * pitch, 1, all->n, z / length, r / length);
}

/* Reduce a Hessenberg matrix to blocks of one or two rows on the diagonal. Returns 0 if it does not converge. */
static int s0_find_blocks(s0_schur *all, s0_number *values)
{
    const double smallest = S0_LEAST * ((double)all->n / (2 * S0_EPSILON));
    Py_ssize_t last = all->n - 1, first, count = 0, sweeps = 30 * (all->n > 10 ? all->n : 10);
    while (last >= 0) {
        s0_number shift, other;
        for (first = last; first > 0 && !s0_deflates(all, first, smallest); first--)
            ;
        if (first > 0)
            all->a[first * all->pitch + first - 1] = 0;
        if (first + 1 >= last) {
            if (first == last)
                values[last] = (s0_number){all->a[last * all->pitch + last], 0};
            else
                s0_split_two(all, first, values + first);
            last = first - 1;
            count = 0;
            continue;
        }
        if (sweeps-- == 0)
            return 0;
        s0_shifts(all, first, last, ++count, &shift, &other);
        s0_double_sweep(all, first, last, shift, other);
    }
    return 1;
}

#endif
