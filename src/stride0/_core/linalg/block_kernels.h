/* The steps of `block_steps.h`. Within a block, the terms of a sum are added one by one, in order, each by a fused multiply-add; then the sum
 * is subtracted. So neither the order of loops, nor the sizes of tiles, nor the instruction set changes a bit. */
#ifndef STRIDE0_BLOCK_KERNELS_H
#define STRIDE0_BLOCK_KERNELS_H

#include "block_steps.h"
#include "real_products.h"

typedef double s0_row __attribute__((vector_size(S0_VECTOR)));
typedef double s0_row_anywhere __attribute__((vector_size(S0_VECTOR), aligned(sizeof(double)), may_alias));
enum { S0_ROW = S0_VECTOR / 8 };
#define s0_lanes s0_row /* in S0_FUSED_f64 */

/* What a tile does with its sums: store them, add them to the elements of the result, subtract them, or also solve for a lower triangle,
 * whose diagonal may count as 1. */
typedef enum { S0_STORES, S0_ADDS, S0_SUBTRACTS, S0_SOLVES, S0_SOLVES_UNIT } s0_use;

/* The product of `rows` rows of a matrix `a` of n columns and the rows `b`, `line` apart, of which `width` columns exist, is used for the
 * elements at `out`. The triangle is in the further columns of `a`. */
S0_INLINE void s0_sum_tile(const double *a, Py_ssize_t down, Py_ssize_t across, const double *b, Py_ssize_t line, double *out,
                           Py_ssize_t pitch, Py_ssize_t width, Py_ssize_t n, s0_use use, const int rows, const int vectors)
{
    const Py_ssize_t rest = width - (vectors - 1) * S0_ROW;
    s0_row sum[8][3], part[3], x;
    int i, j, k;
#define S0_PART(p, j)                                                                                               \
    (j < vectors - 1 ? (s0_row)*(const s0_row_anywhere *)((p) + j * S0_ROW) : s0_some_f64((const char *)((p) + j * S0_ROW), rest))
    S0_UNROLLED
    for (i = 0; i < rows; i++)
        S0_UNROLLED
        for (j = 0; j < vectors; j++)
            sum[i][j] = -(s0_row){0};
    for (; n > 0; n--, a += across, b += line) {
        S0_UNROLLED
        for (j = 0; j < vectors; j++)
            part[j] = S0_PART(b, j);
        S0_UNROLLED
        for (i = 0; i < rows; i++) {
            x = a[i * down] - (s0_row){0};
            S0_UNROLLED
            for (j = 0; j < vectors; j++)
                sum[i][j] = S0_FUSED_f64(x, part[j], sum[i][j]);
        }
    }
    if (use != S0_STORES) {
        S0_UNROLLED
        for (i = 0; i < rows; i++) {
            if (use > S0_SUBTRACTS) {
                /* The rows above are solved. */
                S0_UNROLLED
                for (k = 0; k < i; k++) {
                    x = a[i * down + k * across] - (s0_row){0};
                    S0_UNROLLED
                    for (j = 0; j < vectors; j++)
                        sum[i][j] = S0_FUSED_f64(x, sum[k][j], sum[i][j]);
                }
            }
            S0_UNROLLED
            for (j = 0; j < vectors; j++)
                sum[i][j] = S0_PART(out + i * pitch, j) + (use == S0_ADDS ? sum[i][j] : -sum[i][j]);
            if (use == S0_SOLVES) {
                x = a[i * down + i * across] - (s0_row){0};
                S0_UNROLLED
                for (j = 0; j < vectors; j++)
                    sum[i][j] /= x;
            }
        }
    }
    S0_UNROLLED
    for (i = 0; i < rows; i++)
        S0_UNROLLED
        for (j = 0; j < vectors; j++) {
            double *to = out + i * pitch + j * S0_ROW;
            if (j < vectors - 1 || rest == S0_ROW)
                *(s0_row_anywhere *)to = sum[i][j];
            else
                S0_STORE_FIRST_f64(to, sum[i][j], rest);
        }
#undef S0_PART
}

/* `s0_sum_tile` by the function of its size. */
static __attribute__((noinline)) void s0_sum_one(const double *a, Py_ssize_t down, Py_ssize_t across, const double *b, Py_ssize_t line,
                                                 double *out, Py_ssize_t pitch, Py_ssize_t width, Py_ssize_t n, s0_use use, int rows)
{
#define S0_CASE(r, v) \
    case 4 * r + v: s0_sum_tile(a, down, across, b, line, out, pitch, width, n, use, r, v); break;
#define S0_CASES(r) S0_CASE(r, 1) S0_CASE(r, 2) S0_CASE(r, 3)
    switch (4 * rows + (int)((width + S0_ROW - 1) / S0_ROW)) {
#if S0_TALL_OF > 4
        S0_CASES(8)
#endif
        S0_CASES(4) S0_CASES(2) S0_CASES(1)
    }
#undef S0_CASES
#undef S0_CASE
}

enum { S0_TILE_COLUMNS = 3 * S0_ROW }; /* columns of the widest tile */

/* `s0_sum_one` for any number of columns. */
S0_INLINE void s0_sum_all(const double *a, Py_ssize_t down, Py_ssize_t across, const double *b, Py_ssize_t line, double *out,
                          Py_ssize_t pitch, Py_ssize_t width, Py_ssize_t n, s0_use use, int rows)
{
    for (; width > 0; width -= S0_TILE_COLUMNS, b += S0_TILE_COLUMNS, out += S0_TILE_COLUMNS)
        s0_sum_one(a, down, across, b, line, out, pitch, width < S0_TILE_COLUMNS ? width : S0_TILE_COLUMNS, n, use, rows);
}

static void s0_solve_block(const s0_triangle *all, Py_ssize_t first, Py_ssize_t last)
{
    const Py_ssize_t down = all->down, pitch = all->pitch;
    for (; first < last; first += S0_TILE_COLUMNS) {
        double *x = all->x + first;
        int rows;
        for (Py_ssize_t i = 0; i < all->n; i += rows) {
            rows = s0_height_f64(all->n - i, 1);
            s0_sum_one(all->a + i * down, down, all->across, x, pitch, x + i * pitch, pitch,
                       last - first < S0_TILE_COLUMNS ? last - first : S0_TILE_COLUMNS, i, all->unit ? S0_SOLVES_UNIT : S0_SOLVES, rows);
        }
    }
}

static int s0_factor_block(double *a, Py_ssize_t pitch, Py_ssize_t n)
{
    double sums[8 * 8];
    int rows;
    for (Py_ssize_t c = 0; c < n; c += rows) {
        double *corner = a + c * pitch + c;
        int i, j, k;
        rows = s0_height_f64(n - c, 1);
        s0_sum_one(a + c, 1, pitch, a + c, pitch, sums, 8, rows, c, S0_STORES, rows);
        for (i = 0; i < rows; i++) {
            double *row = corner + i * pitch, *sum = sums + i * 8;
            for (j = 0; j < i; j++)
                for (k = i; k < rows; k++)
                    sum[k] = fma(corner[j * pitch + i], corner[j * pitch + k], sum[k]);
            row[i] = sqrt(row[i] - sum[i]);
            if (!(row[i] > 0))
                return 0;
            for (k = i + 1; k < rows; k++)
                row[k] = (row[k] - sum[k]) / row[i];
        }
        s0_sum_all(a + c, 1, pitch, a + c + rows, pitch, corner + rows, pitch, n - c - rows, c, S0_SOLVES, rows);
    }
    return 1;
}

/* -- elimination -------------------------------------------------------------------------------------------------- */

/* Of elements `first` to `last`, the position of the first one with the largest magnitude; `first` if it is NaN. Other NaNs are skipped. */
static Py_ssize_t s0_find_pivot(const double *x, Py_ssize_t first, Py_ssize_t last)
{
    const int64_t infinity = 0x7ff0000000000000;
    const int64_t *bits = (const int64_t *)x;
    int64_t best = -1;
    Py_ssize_t i;
    if (x[first] != x[first])
        return first;
    for (i = first; i < last; i++) {
        const int64_t size = bits[i] & INT64_MAX, number = size > infinity ? -1 : size;
        best = number > best ? number : best;
    }
    for (i = first; (bits[i] & INT64_MAX) != best; i++);
    return i;
}

S0_INLINE void s0_exchange(double *x, Py_ssize_t i, Py_ssize_t k)
{
    const double held = x[i];
    x[i] = x[k];
    x[k] = held;
}

/* Add a multiple of y to x, for elements `first` to `last`. */
S0_INLINE void s0_add_scaled_row(double *restrict x, double factor, const double *restrict y, Py_ssize_t first, Py_ssize_t last)
{
    for (Py_ssize_t i = first; i < last; i++)
        x[i] = fma(factor, y[i], x[i]);
}

/* Eliminate columns `c` to `end`, given the sums of the products of the columns before `c`. 0 if a pivot is 0. */
static int s0_eliminate_narrow(double *columns, Py_ssize_t pitch, Py_ssize_t m, Py_ssize_t c, Py_ssize_t end, double *sums,
                               Py_ssize_t *exchanges)
{
    int regular = 1;
    for (Py_ssize_t j = c; j < end; j++) {
        double *own = columns + j * pitch, *sum = sums + (j - c) * pitch, pivot;
        Py_ssize_t best, i, k;
        for (k = c; k < j; k++) {
            own[k] -= sum[k];
            s0_add_scaled_row(sum, own[k], columns + k * pitch, k + 1, m);
        }
        for (i = j; i < m; i++)
            own[i] -= sum[i];
        best = exchanges[j] = s0_find_pivot(own, j, m);
        if (own[best] == 0) {
            regular = 0;
            continue;
        }
        for (k = c; k < end; k++) {
            s0_exchange(columns + k * pitch, j, best);
            s0_exchange(sums + (k - c) * pitch, j, best);
        }
        pivot = own[j];
        for (i = j + 1; i < m; i++)
            own[i] /= pivot;
    }
    return regular;
}

static int s0_eliminate_block(double *columns, Py_ssize_t pitch, Py_ssize_t m, Py_ssize_t n, Py_ssize_t *exchanges)
{
    double upper[S0_BLOCK_ROWS * S0_NARROW_COLUMNS], *sums = columns + S0_BLOCK_ROWS * pitch;
    int regular = 1;
    Py_ssize_t c, end, j, k;
    for (c = 0; c < n; c = end) {
        const s0_triangle above = {columns, 1, pitch, c, 1, upper, S0_NARROW_COLUMNS, S0_NARROW_COLUMNS};
        int rows;
        end = c + S0_NARROW_COLUMNS < n ? c + S0_NARROW_COLUMNS : n;
        /* The rows above: exchanged, and solved for the columns before. */
        for (j = c; j < end; j++) {
            double *own = columns + j * pitch;
            for (k = 0; k < c; k++)
                s0_exchange(own, k, exchanges[k]);
            for (k = 0; k < c; k++)
                upper[k * S0_NARROW_COLUMNS + j - c] = own[k];
        }
        s0_solve_block(&above, 0, end - c);
        for (j = c; j < end; j += rows) {
            rows = s0_height_f64(end - j, 1);
            for (int i = 0; i < rows; i++)
                for (k = 0; k < c; k++)
                    columns[(j + i) * pitch + k] = upper[k * S0_NARROW_COLUMNS + j - c + i];
            s0_sum_all(upper + j - c, 1, S0_NARROW_COLUMNS, columns + c, pitch, sums + (j - c) * pitch + c, pitch,
                       m - c, c, S0_STORES, rows);
        }
        regular &= s0_eliminate_narrow(columns, pitch, m, c, end, sums, exchanges);
        for (j = 0; j < c; j++)
            for (k = c; k < end; k++)
                s0_exchange(columns + j * pitch, k, exchanges[k]);
    }
    return regular;
}

static void s0_exchange_rows(double *a, Py_ssize_t pitch, const Py_ssize_t *exchanges, Py_ssize_t first, Py_ssize_t last, Py_ssize_t columns)
{
    for (Py_ssize_t k = first; k < last; k++) {
        double *x = a + k * pitch, *y = a + exchanges[k] * pitch;
        for (Py_ssize_t j = 0; j < columns && x != y; j++) {
            const double held = x[j];
            x[j] = y[j];
            y[j] = held;
        }
    }
}

#include "reflector_kernels.h"

static const struct s0_block_steps s0_the_block_steps = {
    s0_solve_block, s0_factor_block, s0_eliminate_block, s0_exchange_rows, s0_reflect_block, s0_apply_block,
};

#undef s0_lanes
#endif
