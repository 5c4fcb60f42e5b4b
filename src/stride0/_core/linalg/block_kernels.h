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

/* What a tile does with its sums: store them, subtract them from the elements of the result, or also solve for a lower triangle, whose
 * diagonal may count as 1. */
typedef enum { S0_STORES, S0_SUBTRACTS, S0_SOLVES, S0_SOLVES_UNIT } s0_use;

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
            if (use != S0_SUBTRACTS) {
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
                sum[i][j] = S0_PART(out + i * pitch, j) - sum[i][j];
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
            rows = s0_height_f64(all->n - i);
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
        rows = s0_height_f64(n - c);
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

/* Eliminate columns `c` to `end`, given the sums of the products of the columns before `c`. 0 if a pivot is 0. */
static int s0_eliminate_narrow(double *columns, Py_ssize_t pitch, Py_ssize_t m, Py_ssize_t c, Py_ssize_t end, double *sums,
                               Py_ssize_t *exchanges)
{
    int regular = 1;
    for (Py_ssize_t j = c; j < end; j++) {
        double *restrict own = columns + j * pitch, *restrict sum = sums + (j - c) * pitch;
        Py_ssize_t best, i, k;
        for (k = c; k < j; k++) {
            const double *restrict other = columns + k * pitch;
            const double factor = own[k] -= sum[k];
            for (i = k + 1; i < m; i++)
                sum[i] = fma(other[i], factor, sum[i]);
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
        for (i = j + 1; i < m; i++)
            own[i] /= own[j];
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
            rows = s0_height_f64(end - j);
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

/* -- reflectors --------------------------------------------------------------------------------------------------- */

enum { S0_DOT_LANES = 32 };

/* The sum of products of n elements, a multiple of 8, in lanes, which are then added in pairs. */
static double s0_dot(const double *x, const double *y, Py_ssize_t n)
{
    s0_row total[S0_DOT_LANES / S0_ROW] = {{0}};
    double lanes[S0_DOT_LANES];
    int k, half;
    for (; n >= S0_DOT_LANES; n -= S0_DOT_LANES, x += S0_DOT_LANES, y += S0_DOT_LANES)
        S0_UNROLLED
        for (k = 0; k < S0_DOT_LANES / S0_ROW; k++)
            total[k] = S0_FUSED_f64((s0_row)((const s0_row_anywhere *)x)[k], (s0_row)((const s0_row_anywhere *)y)[k], total[k]);
    memcpy(lanes, total, sizeof(lanes));
    for (k = 0; k < n; k++)
        lanes[k] = fma(x[k], y[k], lanes[k]);
    for (half = S0_DOT_LANES / 2; half > 0; half /= 2)
        for (k = 0; k < half; k++)
            lanes[k] += lanes[k + half];
    return lanes[0];
}

/* Replace x by the reflector that maps it to a multiple, `beta`, of unit vector j, and whose element j is 1. Elements before j are 0, and so
 * are elements from `count` to n, a multiple of 8. Returns tau, which is 0 if nothing has to be eliminated. */
static double s0_reflector(double *x, Py_ssize_t n, Py_ssize_t count, Py_ssize_t j, double *beta)
{
    double alpha = x[j], square, scale = 1, most = 1, norm;
    Py_ssize_t i;
    x[j] = 0;
    square = s0_dot(x, x, n);
    if (!(square > 0 && square + alpha * alpha > 0x1p-800 && square < 0x1p+1000 && fabs(alpha) < 0x1p+500)) {
        for (i = j + 1, most = 0; i < count; i++)
            most = fabs(x[i]) > most ? fabs(x[i]) : most;
        if (most > 0 && most < INFINITY && fabs(alpha) < INFINITY) {
            /* Scale by a power of 2, so that squares neither overflow nor underflow. */
            int power;
            frexp(fabs(alpha) > most ? alpha : most, &power);
            scale = ldexp(1, power < -1000 ? 1000 : -power);
            alpha *= scale;
            for (i = j + 1; i < count; i++)
                x[i] *= scale;
            square = s0_dot(x, x, n);
        }
    }
    x[j] = 1;
    *beta = alpha / scale;
    if (square == 0 && most == 0)
        return 0;
    norm = sqrt(fma(alpha, alpha, square));
    norm = signbit(alpha) ? norm : -norm;
    for (i = j + 1; i < count; i++)
        x[i] /= alpha - norm;
    *beta = norm / scale;
    return (norm - alpha) / norm;
}

/* Eliminate the columns `s` to `s + count` of a panel. The lower triangle of `gram` gets the products of their reflectors, and 1 / tau. */
static void s0_reflect_narrow(const s0_columns *all, Py_ssize_t s, Py_ssize_t count, double *gram)
{
    const Py_ssize_t line = all->line, height = all->m - s, padded = (height + 7) / 8 * 8;
    double *rows = all->reflectors + s * line, *own;
    Py_ssize_t i, j, k;
    s0_transpose_8((const char *)(all->a + s * all->pitch + s), all->pitch * 8, (char *)(rows + s), line * 8, height, count);
    for (j = 0; j < count; j++) {
        memset(rows + j * line, 0, s * sizeof(double));
        memset(rows + j * line + s + height, 0, (padded - height) * sizeof(double));
    }
    for (j = 0, rows += s; j < count; j++) {
        double beta, tau;
        own = rows + j * line;
        for (i = 0; i < j; i++) {
            all->a[(s + i) * all->pitch + s + j] = own[i];
            own[i] = 0;
        }
        tau = s0_reflector(own, padded, height, j, &beta);
        all->a[(s + j) * all->pitch + s + j] = beta;
        gram[j * S0_NARROW_COLUMNS + j] = 1 / tau;
        for (k = 0; k < j; k++)
            gram[j * S0_NARROW_COLUMNS + k] = s0_dot(own, rows + k * line, padded);
        for (k = j + 1; k < count && tau != 0; k++) {
            double *restrict other = rows + k * line, factor = -tau * s0_dot(own, other, padded);
            for (i = j; i < height; i++)
                other[i] = fma(factor, own[i], other[i]);
        }
    }
}

static void s0_reflect_panel(const s0_columns *all, double *inverses)
{
    double gram[S0_NARROW_COLUMNS * S0_NARROW_COLUMNS], w[S0_NARROW_COLUMNS * S0_PANEL_COLUMNS], more[S0_NARROW_COLUMNS * S0_PANEL_COLUMNS];
    const Py_ssize_t line = all->line;
    Py_ssize_t s, i, k, count, rest;
    int rows;
    for (s = 0; s < all->n; s += count) {
        double *own = all->reflectors + s * line + s, *right;
        s0_triangle small = {gram, S0_NARROW_COLUMNS, 1, 0, 0, w, S0_PANEL_COLUMNS, S0_PANEL_COLUMNS};
        count = all->n - s < S0_NARROW_COLUMNS ? all->n - s : S0_NARROW_COLUMNS;
        rest = all->n - s - count;
        s0_reflect_narrow(all, s, count, gram);
        for (i = 0; i < count; i++)
            inverses[s + i] = gram[i * S0_NARROW_COLUMNS + i];
        if (rest == 0)
            continue;
        /* The products of the reflectors with the other columns, block by block. */
        right = all->a + s * all->pitch + s + count;
        for (k = 0; k < all->m - s; k += S0_BLOCK_ROWS) {
            const Py_ssize_t terms = all->m - s - k < S0_BLOCK_ROWS ? all->m - s - k : S0_BLOCK_ROWS;
            for (i = 0; i < count; i += rows) {
                rows = s0_height_f64(count - i);
                s0_sum_all(own + i * line + k, line, 1, right + k * all->pitch, all->pitch, (k ? more : w) + i * S0_PANEL_COLUMNS,
                           S0_PANEL_COLUMNS, rest, terms, S0_STORES, rows);
            }
            for (i = 0; k && i < count * S0_PANEL_COLUMNS; i++)
                w[i] += more[i];
        }
        /* Times T', by its inverse; then times the reflectors. */
        small.n = count;
        s0_solve_block(&small, 0, rest);
        for (i = 0; i < all->m - s; i += rows) {
            rows = s0_height_f64(all->m - s - i);
            s0_sum_all(own + i, 1, line, w, S0_PANEL_COLUMNS, right + i * all->pitch, all->pitch, rest, count, S0_SUBTRACTS, rows);
        }
    }
}

static const struct s0_block_steps s0_the_block_steps = {
    s0_solve_block, s0_factor_block, s0_eliminate_block, s0_exchange_rows, s0_reflect_panel,
};

#undef s0_lanes
#endif
