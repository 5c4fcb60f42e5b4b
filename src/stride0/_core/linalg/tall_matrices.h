/* Orthogonal factors of matrices with many more rows than columns, Note [Tall matrices] of linalg/tall_matrices.pxi. Sums go down rows,
 * in an order that only the shape determines: neither the instruction set nor the number of threads changes a bit. */
#ifndef STRIDE0_TALL_MATRICES_H
#define STRIDE0_TALL_MATRICES_H

#include "kernels.h"
#include "products.h"
#include "reflectors.h"

/* The sign of smaller elements of the first factor may be wrong because of rounding errors. */
#define S0_LEAST_OWN 0x1p-44

/* -- the first factor --------------------------------------------------------------------------------------------- */

enum { S0_TWO_UNITS = 2 }; /* computed together, because their sums are independent */

/* Add or subtract multiples of units of columns of rows, `pitch` apart, to `sums`. */
S0_INLINE void s0_add_rows(f64_8 *sums, const int units, const double *factors, Py_ssize_t step, const double *rows,
                           Py_ssize_t pitch, Py_ssize_t count, int subtracts)
{
    for (; count > 0; count--, factors += step, rows += pitch) {
        const double factor = subtracts ? -*factors : *factors;
        S0_UNROLLED
        for (int u = 0; u < units; u++) {
            const f64_8 row = s0_load_f64_8(rows + u * S0_UNIT);
            S0_FOR_ALL(S0_COUNT(row)) sums[u].of[k] += factor * row.of[k];
        }
    }
}

/* Row i of `units` units: see `s0_solve_record`. */
S0_INLINE void s0_solve_row(const double *record, const double *head, const double *c, double *w, Py_ssize_t n, Py_ssize_t pitch,
                            Py_ssize_t i, const int units)
{
    const Py_ssize_t next = (i + 1) * pitch;
    f64_8 row[S0_TWO_UNITS];
    S0_UNROLLED
    for (int u = 0; u < units; u++)
        row[u] = s0_load_f64_8(c + i * pitch + u * S0_UNIT);
    if (head)
        s0_add_rows(row, units, head + next + i, pitch, c + next, pitch, n - i - 1, 0);
    s0_add_rows(row, units, record + next + i, pitch, w + next, pitch, n - i - 1, 1);
    S0_UNROLLED
    for (int u = 0; u < units; u++) {
        S0_FOR_ALL(S0_COUNT(row[u])) row[u].of[k] *= record[n * pitch + i];
        s0_store_f64_8(w + i * pitch + u * S0_UNIT, row[u]);
    }
}

/* Compute the rows w that multiply the reflectors of a block, given their record, if the factor of the block is applied to `c` above
 * zeros. `head` has the first rows of reflectors without a triangle above them. */
static void s0_solve_record(const double *record, const double *head, const double *c, double *w, Py_ssize_t n,
                            Py_ssize_t pitch)
{
    for (Py_ssize_t i = n - 1, q; i >= 0; i--) {
        for (q = 0; q + S0_TWO_UNITS * S0_UNIT <= pitch; q += S0_TWO_UNITS * S0_UNIT)
            s0_solve_row(record, head, c + q, w + q, n, pitch, i, S0_TWO_UNITS);
        for (; q < pitch; q += S0_UNIT)
            s0_solve_row(record, head, c + q, w + q, n, pitch, i, 1);
    }
}

/* The first n rows of the factor of a block without a triangle above it. */
static void s0_head_rows(const double *head, const double *c, const double *w, double *out, Py_ssize_t n,
                         Py_ssize_t pitch)
{
    Py_ssize_t i, q;
    for (i = 0; i < n; i++)
        for (q = 0; q < pitch; q += S0_UNIT) {
            f64_8 row = s0_load_f64_8(c + i * pitch + q);
            const f64_8 own = s0_load_f64_8(w + i * pitch + q);
            S0_FOR_ALL(S0_COUNT(row)) row.of[k] -= own.of[k];
            s0_add_rows(&row, 1, head + i * pitch, 1, w + q, pitch, i, 1);
            s0_store_f64_8(out + i * pitch + q, row);
        }
}

/* Multiply the rows w by the negated scales of the reflectors; before that, subtract w from `c`, if it is given. */
static void s0_scale_rows(const double *record, double *c, double *w, Py_ssize_t n, Py_ssize_t pitch)
{
    const double *scales = record + (n + 1) * pitch;
    Py_ssize_t k, q;
    for (k = 0; k < n; k++)
        for (q = 0; q < pitch; q++) {
            if (c)
                c[k * pitch + q] -= w[k * pitch + q];
            w[k * pitch + q] *= -scales[k];
        }
}

/* -- sections ----------------------------------------------------------------------------------------------------- */

typedef struct {
    Py_ssize_t n, pitch, size;  /* columns, padded columns, and size of a square */
    Py_ssize_t record, records; /* sizes of the record of a block, and of a section: its blocks, then the section itself */
    Py_ssize_t first, height;   /* first row and number of rows of a section */
    Py_ssize_t blocks;          /* number of blocks of this section */
} s0_section;

S0_INLINE s0_section s0_section_of(const s0_tall *all, Py_ssize_t k)
{
    s0_section s;
    s.n = all->columns;
    s.pitch = all->pitch;
    s.size = s.n * s.pitch;
    s.record = s.size + 2 * s.pitch;
    s.records = s.record * ((all->height + all->block - 1) / all->block + 1);
    s.first = k * all->height;
    s.height = all->rows - s.first < all->height ? all->rows - s.first : all->height;
    s.blocks = (s.height + all->block - 1) / all->block;
    return s;
}

/* Read `count` rows of a matrix from row `first` on as a block of float64, with zeros in the columns that pad it. */
static void s0_read_rows(const s0_tall *all, const char *from, Py_ssize_t first, double *block, Py_ssize_t line,
                         Py_ssize_t count)
{
    const Py_ssize_t down = all->strides[1], across = all->strides[2], n = all->columns, pitch = all->pitch;
    const Py_ssize_t end = (all->rows - 1) * down + n * all->itemsize;
    uint64_t some[S0_UNIT];
    u64_8 mask;
    Py_ssize_t i, j;
    for (j = 0; j < S0_UNIT; j++)
        some[j] = pitch - S0_UNIT + j < n ? ~(uint64_t)0 : 0;
    mask = s0_load_u64_8(some);
    for (i = 0; i < count; i++) {
        const char *row = from + (first + i) * down;
        double *to = block + i * line;
        if (across != all->itemsize || down < 0 || (first + i) * down + pitch * all->itemsize > end) {
            /* Two loops, because in one loop with a choice GCC would read both kinds of elements. */
            if (all->itemsize == 4)
                for (j = 0; j < n; j++)
                    to[j] = *(const float *)(row + j * across);
            else
                for (j = 0; j < n; j++)
                    to[j] = *(const double *)(row + j * across);
            for (j = n; j < pitch; j++)
                to[j] = 0;
            continue;
        }
        /* Whole units; the last one includes the beginning of the next row. */
        for (j = 0; j < pitch; j += S0_UNIT) {
            f64_8 unit = all->itemsize == 4 ? s0_widen_f64_8((const float *)row + j) : s0_load_f64_8((const double *)row + j);
            if (j + S0_UNIT == pitch)
                S0_FOR_ALL(S0_COUNT(unit))
                    unit.of[k] = (__typeof__(unit.of[0]))((__typeof__(mask.of[0]))unit.of[k] & mask.of[k]);
            s0_store_f64_8(to + j, unit);
        }
    }
}

/* Copy the rows of a block, `line` bytes apart and `size` bytes long, to contiguous memory. */
S0_INLINE void s0_pack_rows(const char *block, Py_ssize_t line, char *to, Py_ssize_t count, Py_ssize_t size, int unit)
{
    Py_ssize_t i, j;
    if (size == line) {
        memcpy(to, block, count * size);
        return;
    }
    /* Whole units write beyond the end of a row; the next row overwrites that. */
    for (i = 0; i < count; i++, block += line, to += size)
        if (i + S0_UNIT <= count)
            for (j = 0; j < size; j += unit)
                memcpy(to + j, block + j, unit);
        else
            memcpy(to, block, size);
}

/* Factor sections `first` to `last` of all matrices; `scratch` is for a block. 0 if norms would overflow or underflow. */
static int s0_tall_factor(const s0_tall *all, Py_ssize_t first, Py_ssize_t last, double *scratch)
{
    for (Py_ssize_t t = first; t < last; t++) {
        const Py_ssize_t matrix = t / all->sections;
        const s0_section s = s0_section_of(all, t % all->sections);
        const char *from = all->a + matrix * all->strides[0];
        /* Rows that are an odd number of cache lines apart do not map to the same sets of the cache. */
        const Py_ssize_t line = (s.pitch / S0_UNIT | 1) * S0_UNIT;
        double *triangle = all->triangles + t * s.size;
        for (Py_ssize_t b = 0, row = 0; b < s.blocks; b++, row += all->block) {
            const Py_ssize_t count = s.height - row < all->block ? s.height - row : all->block;
            double *record = all->records ? all->records + t * s.records + b * s.record : NULL;
            s0_read_rows(all, from, s.first + row, scratch, line, count);
            if (!s0_reflect(b ? triangle : NULL, scratch, line, count, s.n, s.pitch, record, triangle, 0))
                return 0;
            if (all->reflectors)
                s0_pack_rows((char *)scratch, line * sizeof(double),
                             (char *)(all->reflectors + (matrix * all->rows + s.first + row) * s.n), count,
                             s.n * sizeof(double), S0_UNIT * sizeof(double));
        }
    }
    return 1;
}

/* Join the triangles of the sections of matrices; the first triangle becomes the triangle of the matrix. 0 if it is not finite. */
static int s0_tall_join(const s0_tall *all, Py_ssize_t first, Py_ssize_t last)
{
    const s0_section s = s0_section_of(all, 0);
    for (Py_ssize_t matrix = first; matrix < last; matrix++) {
        double *triangle = all->triangles + matrix * all->sections * s.size, zero = 0;
        Py_ssize_t k;
        for (k = 1; k < all->sections; k++) {
            double *record = all->records ? all->records + (matrix * all->sections + k + 1) * s.records - s.record : NULL;
            if (!s0_reflect(triangle, triangle + k * s.size, s.pitch, s.n, s.n, s.pitch, record, NULL, 1))
                return 0;
        }
        for (k = 0; k < s.size; k++)
            zero += triangle[k] * 0;
        if (zero != 0)
            return 0;
    }
    return 1;
}

/* Whether no reflector changes column j of a matrix: it has zeros below the diagonal. */
static int s0_is_untouched(const s0_tall *all, Py_ssize_t matrix, Py_ssize_t j)
{
    for (Py_ssize_t k = 0; k < all->sections; k++) {
        const s0_section s = s0_section_of(all, k);
        const double *records = all->records + (matrix * all->sections + k) * s.records;
        for (Py_ssize_t b = 0; b < s.blocks; b++)
            if (records[b * s.record + s.size + j] != 0)
                return 0;
        if (k && records[s.records - s.record + s.size + j] != 0)
            return 0;
    }
    return 1;
}

/* The sign of a zero on the diagonal of row i after LAPACK's reflectors, if the elements up to there are zeros; 0 if it is not
 * known. */
static double s0_sign_of_zero(const s0_tall *all, Py_ssize_t matrix, Py_ssize_t i)
{
    double row[S0_MOST_COLUMNS];
    s0_read_rows(all, all->a + matrix * all->strides[0], i, row, all->pitch, 1);
    for (Py_ssize_t j = 0; j <= i; j++)
        if (row[j] != 0)
            return 0;
    return !signbit(row[i]) ? 1 : i == 0 ? -1 : 0;
}

/* The signs that LAPACK's reflectors give the columns of the factor: Note [Tall matrices]. `top` has the first n rows, and is
 * overwritten. 0 if rounding errors would determine a sign. */
static int s0_find_signs(const s0_tall *all, Py_ssize_t matrix, double *top, double *signs)
{
    const Py_ssize_t n = all->columns, pitch = all->pitch;
    const double *triangle = all->triangles + matrix * all->sections * n * pitch;
    Py_ssize_t i, j, k;
    for (j = 0; j < n; j++) {
        const double own = top[j * pitch + j];
        if (fabs(own) == 1 && s0_is_untouched(all, matrix, j)) {
            signs[j] = 1;
            continue;
        }
        if (fabs(own) >= S0_LEAST_OWN)
            signs[j] = own > 0 ? -1 : 1;
        else
            signs[j] = s0_sign_of_zero(all, matrix, j) * (triangle[j * pitch + j] > 0 ? -1 : 1);
        if (signs[j] == 0)
            return 0;
        for (i = j + 1; i < n; i++) {
            const double factor = top[i * pitch + j] / (own - signs[j]);
            for (k = j + 1; k < n; k++)
                top[i * pitch + k] -= factor * top[j * pitch + k];
        }
    }
    return 1;
}

/* Prepare a section whose factor is multiplied by the square `c`: the squares that multiply the reflectors of its blocks overwrite the
 * products of the reflectors, and the first n rows of the result overwrite the first rows of the reflectors. */
static void s0_unroll(const s0_tall *all, Py_ssize_t t, double *c, double *scratch)
{
    const s0_section s = s0_section_of(all, t % all->sections);
    double *w = scratch, *head = w + s.size, *top = head + s.size;
    double *rows = all->reflectors + (t / all->sections * all->rows + s.first) * s.n;
    for (Py_ssize_t b = s.blocks - 1; b >= 0; b--) {
        double *record = all->records + t * s.records + b * s.record;
        Py_ssize_t i;
        if (b == 0)
            for (i = 0; i < s.n; i++)
                memcpy(head + i * s.pitch, rows + i * s.n, s.n * sizeof(double));
        s0_solve_record(record, b ? NULL : head, c, w, s.n, s.pitch);
        if (b == 0) {
            s0_head_rows(head, c, w, top, s.n, s.pitch);
            for (i = 0; i < s.n; i++)
                memcpy(rows + i * s.n, top + i * s.pitch, s.n * sizeof(double));
        }
        s0_scale_rows(record, b ? c : NULL, w, s.n, s.pitch);
        memcpy(record, w, s.size * sizeof(double));
    }
}

/* Apply signs to the columns of `count` rows, `pitch` apart. */
S0_INLINE void s0_sign_columns(double *rows, Py_ssize_t count, Py_ssize_t pitch, const double *signs, Py_ssize_t n)
{
    for (Py_ssize_t i = 0; i < count; i++)
        for (Py_ssize_t k = 0; k < n; k++)
            rows[i * pitch + k] *= signs[k];
}

/* Write the squares by which the factors of sections are multiplied to `coefficients`: for the first n columns of the factors of matrices,
 * or for their products with the squares `by`, in C order. If `by` is NULL, the columns and the rows of the triangles get the signs that
 * LAPACK gives them, and the first sections are unrolled. 0 if rounding errors would determine a sign. `scratch` is for three squares. */
static int s0_tall_spread(const s0_tall *all, Py_ssize_t first, Py_ssize_t last, const double *by, double *scratch)
{
    const s0_section s = s0_section_of(all, 0);
    const Py_ssize_t strides[3] = {0, s.pitch * (Py_ssize_t)sizeof(double), sizeof(double)};
    for (Py_ssize_t matrix = first; matrix < last; matrix++) {
        const Py_ssize_t t = matrix * all->sections;
        double *c = all->coefficients + t * s.size, *w = scratch, *triangle = all->triangles + t * s.size;
        double *rows = all->reflectors + matrix * all->rows * s.n;
        double signs[S0_MOST_COLUMNS];
        Py_ssize_t i, k;
        memset(c, 0, s.size * sizeof(double));
        for (i = 0; i < s.n; i++) {
            c[i * s.pitch + i] = 1;
            if (by)
                memcpy(c + i * s.pitch, by + (matrix * s.n + i) * s.n, s.n * sizeof(double));
        }
        for (k = all->sections - 1; k > 0; k--) {
            const double *record = all->records + (t + k + 1) * s.records - s.record;
            s0_solve_record(record, NULL, c, w, s.n, s.pitch);
            s0_scale_rows(record, c, w, s.n, s.pitch);
            s0_product_f64((char *)(triangle + k * s.size), strides, (char *)w, strides, (char *)(c + k * s.size), 1, s.n,
                           s.n, s.pitch);
        }
        if (by)
            continue;
        s0_unroll(all, t, c, scratch);
        for (i = 0; i < s.n; i++)
            memcpy(scratch + i * s.pitch, rows + i * s.n, s.n * sizeof(double));
        if (!s0_find_signs(all, matrix, scratch, signs))
            return 0;
        for (i = 0; i < s.n; i++)
            for (k = 0; k < s.n; k++)
                triangle[i * s.pitch + k] *= signs[i];
        s0_sign_columns(rows, s.n, s.n, signs, s.n);
        for (k = 0; k < s.blocks; k++)
            s0_sign_columns(all->records + t * s.records + k * s.record, s.n, s.pitch, signs, s.n);
        s0_sign_columns(c + s.size, (all->sections - 1) * s.n, s.pitch, signs, s.n);
    }
    return 1;
}

S0_INLINE void s0_narrow_unit(const double *from, float *to)
{
    const f64_8 wide = s0_load_f64_8(from);
    S0_FOR_ALL(S0_COUNT(wide)) s0_store_narrow(to + k * (S0_UNIT / S0_COUNT(wide)), wide.of[k]);
}

/* Write the rows of the results of sections `first` to `last`; the first section of each matrix may be unrolled. `scratch` is for
 * three squares and a block. */
static void s0_tall_apply(const s0_tall *all, Py_ssize_t first, Py_ssize_t last, int unrolled, double *scratch)
{
    const Py_ssize_t size = sizeof(double);
    for (Py_ssize_t t = first; t < last; t++) {
        const s0_section s = s0_section_of(all, t % all->sections);
        const Py_ssize_t mine[3] = {0, s.n * size, size}, padded[3] = {0, s.pitch * size, size};
        double *wide = scratch;
        if (s.first || !unrolled)
            s0_unroll(all, t, all->coefficients + t * s.size, scratch);
        for (Py_ssize_t b = 0; b < s.blocks; b++) {
            const Py_ssize_t row = t / all->sections * all->rows + s.first + b * all->block, done = b ? 0 : s.n;
            const Py_ssize_t count = s.height - b * all->block < all->block ? s.height - b * all->block : all->block;
            const double *rows = all->reflectors + row * s.n;
            Py_ssize_t i;
            for (i = 0; i < done; i++)
                memcpy(wide + i * s.pitch, rows + i * s.n, s.n * size);
            if (count > done)
                s0_product_f64((const char *)(rows + done * s.n), mine,
                               (const char *)(all->records + t * s.records + b * s.record), padded,
                               (char *)(wide + done * s.pitch), 1, count - done, s.n, s.pitch);
            if (all->itemsize == 8) {
                s0_pack_rows((char *)wide, s.pitch * size, all->out + row * s.n * size, count, s.n * size, S0_UNIT * size);
                continue;
            }
            /* Whole units write beyond the end of a row; the next row overwrites that. */
            for (i = 0; i < count; i++) {
                float *to = (float *)all->out + (row + i) * s.n, narrow[S0_MOST_COLUMNS];
                const int exact = i + S0_UNIT > count;
                for (Py_ssize_t q = 0; q < s.pitch; q += S0_UNIT)
                    s0_narrow_unit(wide + i * s.pitch + q, (exact ? narrow : to) + q);
                if (exact)
                    memcpy(to, narrow, s.n * sizeof(float));
            }
        }
    }
}

#endif
