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

/* Add a multiple of y to x, for elements `first` to `last`. */
S0_INLINE void s0_add_multiple(double *restrict x, double factor, const double *restrict y, Py_ssize_t first, Py_ssize_t last)
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
            s0_add_multiple(sum, own[k], columns + k * pitch, k + 1, m);
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

/* Add the second half of the lanes to the first one, until `lanes[0]` is the sum. */
#define S0_ADD_HALVES(lanes, half) \
    for (k = 0; k < (half); k++)   \
        (lanes)[k] += (lanes)[k + (half)];

/* The sum of products of n elements, a multiple of 8, in lanes, which are then added in pairs. */
static double s0_dot(const double *x, const double *y, Py_ssize_t n)
{
    s0_row total[S0_DOT_LANES / S0_ROW] = {{0}};
    double lanes[S0_DOT_LANES];
    int k, group;
    if (n > 8) {
        for (; n >= S0_DOT_LANES; n -= S0_DOT_LANES, x += S0_DOT_LANES, y += S0_DOT_LANES)
            S0_UNROLLED
            for (k = 0; k < S0_DOT_LANES / S0_ROW; k++)
                total[k] = S0_FUSED_f64((s0_row)((const s0_row_anywhere *)x)[k], (s0_row)((const s0_row_anywhere *)y)[k], total[k]);
        memcpy(lanes, total, sizeof(lanes));
        for (group = 0; group < n; group += 8)
            for (k = group; k < group + 8; k++)
                lanes[k] = fma(x[k], y[k], lanes[k]);
        S0_ADD_HALVES(lanes, 16)
        S0_ADD_HALVES(lanes, 8)
    } else {
        for (k = 0; k < 8; k++)
            lanes[k] = x[k] * y[k];
    }
    S0_ADD_HALVES(lanes, 4)
    S0_ADD_HALVES(lanes, 2)
    return lanes[0] + lanes[1];
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

static void s0_apply_block(const s0_reflectors *all, double *x, Py_ssize_t pitch, Py_ssize_t columns, int inverse)
{
    enum { W_PITCH = S0_TILE_COLUMNS };
    double w[S0_PANEL_COLUMNS * W_PITCH];
    const Py_ssize_t line = all->line, count = all->count, last = inverse ? 0 : count - 1;
    s0_triangle system = {all->gram, S0_PANEL_COLUMNS, 1, count, 0, w, W_PITCH, W_PITCH};
    if (!inverse) {
        /* T itself: the transposed triangle, from the last row on. */
        system.a += last * (S0_PANEL_COLUMNS + 1);
        system.down = -1;
        system.across = -S0_PANEL_COLUMNS;
        system.x += last * W_PITCH;
        system.pitch = -W_PITCH;
    }
    for (; columns > 0; columns -= W_PITCH, x += W_PITCH) {
        const Py_ssize_t width = columns < W_PITCH ? columns : W_PITCH;
        Py_ssize_t i, k;
        int rows;
        for (k = 0; k < all->m; k += S0_BLOCK_ROWS)
            for (i = 0; i < count; i += rows) {
                rows = s0_height_f64(count - i);
                s0_sum_one(all->v + i * line + k, line, 1, x + k * pitch, pitch, w + i * W_PITCH, W_PITCH, width,
                           all->m - k < S0_BLOCK_ROWS ? all->m - k : S0_BLOCK_ROWS, k ? S0_ADDS : S0_STORES, rows);
            }
        s0_solve_block(&system, 0, width);
        for (i = 0; i < all->m; i += rows) {
            rows = s0_height_f64(all->m - i);
            s0_sum_one(all->v + i, 1, line, w, W_PITCH, x + i * pitch, pitch, width, count, S0_SUBTRACTS, rows);
        }
    }
}

/* Eliminate the columns `s` to `s + count` of a panel by reflectors, which are applied to these columns only. */
static void s0_reflect_narrow(const s0_columns *all, Py_ssize_t s, Py_ssize_t count)
{
    const Py_ssize_t line = all->line, height = all->m - s, padded = (height + 7) / 8 * 8;
    double *rows = all->reflectors + s;
    Py_ssize_t j, k;
    s0_transpose_8((const char *)(all->a + s * all->pitch + s), all->pitch * 8, (char *)(rows + s * line), line * 8, height, count);
    for (j = s; j < s + count; j++) {
        double *own = rows + j * line, *gram = all->gram + j * S0_PANEL_COLUMNS, beta, tau;
        memset(own - s, 0, s * sizeof(double));
        memset(own + height, 0, (padded - height) * sizeof(double));
        for (k = s; k < j; k++) {
            /* The reflectors before, and their elements of R. */
            const double *other = rows + k * line;
            if (all->taus[k] != 0)
                s0_add_multiple(own, -all->taus[k] * s0_dot(other, own, padded), other, k - s, height);
            all->a[k * all->pitch + j] = own[k - s];
        }
        for (k = s; k < j; k++)
            own[k - s] = 0;
        tau = all->taus[j] = s0_reflector(own, padded, height, j - s, &beta);
        all->a[j * all->pitch + j] = beta;
        for (k = 0; k < j; k++)
            gram[k] = s0_dot(own, rows + k * line, padded);
        gram[j] = 1 / tau;
    }
}

static void s0_reflect_block(const s0_columns *all)
{
    Py_ssize_t s, end;
    for (s = 0; s < all->n; s = end) {
        const s0_reflectors block = {
            all->reflectors + s * (all->line + 1), all->line, all->gram + s * (S0_PANEL_COLUMNS + 1), all->m - s,
            all->n - s < S0_NARROW_COLUMNS ? all->n - s : S0_NARROW_COLUMNS,
        };
        end = s + block.count;
        s0_reflect_narrow(all, s, block.count);
        s0_apply_block(&block, all->a + s * all->pitch + end, all->pitch, all->n - end, 1);
    }
}

static const struct s0_block_steps s0_the_block_steps = {
    s0_solve_block, s0_factor_block, s0_eliminate_block, s0_exchange_rows, s0_reflect_block, s0_apply_block,
};

#undef s0_lanes
#endif
