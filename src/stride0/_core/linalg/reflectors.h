/* Reflectors that eliminate the columns of a block of rows, Note [Tall matrices] of linalg/tall_matrices.pxi: one panel of columns at
 * a time; then its reflectors are applied to all other columns together. Sums go down rows, in an order that only the shape determines. */
#ifndef STRIDE0_REFLECTORS_H
#define STRIDE0_REFLECTORS_H

#include <math.h>

#include "products.h"

enum {
    S0_UNIT = 8,                 /* columns of a panel, and of a unit of other columns */
    S0_SUMS = S0_VECTOR / 8,     /* number of sums of S0_UNIT columns that registers hold */
    S0_AT_ONCE = 4,              /* rows processed together */
};

/* Between these bounds, squares of norms have neither overflowed nor lost digits to underflow. */
#define S0_LEAST_SQUARE 0x1p-800
#define S0_MOST_SQUARE 0x1p+1000

#define S0_NO_UNIT(x) S0_FOR_ALL(S0_COUNT(x)) (x).of[k] = (__typeof__((x).of[0])){0};

/* One sweep over a panel of `count` rows. If `updates` is set, it first adds multiples of column j - 1 to all columns; the factors are 0
 * for columns up to j - 1. Then it sums the products of each column with column j. */
S0_INLINE void s0_sweep(double *rows, Py_ssize_t line, Py_ssize_t count, const double *factors, Py_ssize_t j, double *sums, int updates)
{
    f64_8 total, factor, part[S0_AT_ONCE];
    S0_NO_UNIT(total)
    if (updates)
        factor = s0_load_f64_8(factors);
    for (; count > 0; count -= S0_AT_ONCE, rows += S0_AT_ONCE * line) {
        const int m = count < S0_AT_ONCE ? (int)count : S0_AT_ONCE;
        for (int i = 0; i < S0_AT_ONCE; i++) {
            double *row = rows + i * line;
            if (i >= m) {
                S0_NO_UNIT(part[i])
                continue;
            }
            part[i] = s0_load_f64_8(row);
            if (updates) {
                S0_FOR_ALL(S0_COUNT(total)) part[i].of[k] += row[j - 1] * factor.of[k];
                s0_store_f64_8(row, part[i]);
            }
            S0_FOR_ALL(S0_COUNT(total)) part[i].of[k] *= row[j];
        }
        S0_FOR_ALL(S0_COUNT(total))
            total.of[k] += (part[0].of[k] + part[1].of[k]) + (part[2].of[k] + part[3].of[k]);
    }
    s0_store_f64_8(sums, total);
}

/* The products of all columns of a panel with the columns of a unit: the transpose of the panel times the unit. */
static void s0_panel_products(const double *panel, const double *unit, Py_ssize_t line, Py_ssize_t count, double *sums)
{
    for (int first = 0; first < S0_UNIT; first += S0_SUMS) {
        const double *x = panel + first, *rows = unit;
        f64_8 total[S0_SUMS];
        Py_ssize_t i;
        S0_UNROLLED
        for (int g = 0; g < S0_SUMS; g++)
            S0_NO_UNIT(total[g])
        for (i = count; i > 1; i -= 2, x += 2 * line, rows += 2 * line) {
            const f64_8 a = s0_load_f64_8(rows), b = s0_load_f64_8(rows + line);
            S0_UNROLLED
            for (int g = 0; g < S0_SUMS; g++)
                S0_FOR_ALL(S0_COUNT(a)) total[g].of[k] += x[g] * a.of[k] + x[line + g] * b.of[k];
        }
        if (i) {
            const f64_8 a = s0_load_f64_8(rows);
            S0_UNROLLED
            for (int g = 0; g < S0_SUMS; g++)
                S0_FOR_ALL(S0_COUNT(a)) total[g].of[k] += x[g] * a.of[k];
        }
        S0_UNROLLED
        for (int g = 0; g < S0_SUMS; g++)
            s0_store_f64_8(sums + (first + g) * S0_UNIT, total[g]);
    }
}

/* Add multiples of the columns of a panel to a unit: the panel times `factors`. */
S0_INLINE void s0_add_to_rows(const double *x, double *rows, Py_ssize_t line, const double *factors, const int count)
{
    f64_8 part[S0_AT_ONCE];
    S0_UNROLLED
    for (int i = 0; i < count; i++)
        part[i] = s0_load_f64_8(rows + i * line);
    /* Unrolled, GCC would load factors and elements long before their use, and run out of registers. */
    _Pragma("GCC unroll 1")
    for (int g = 0; g < S0_UNIT; g++) {
        const f64_8 factor = s0_load_f64_8(factors + g * S0_UNIT);
        S0_UNROLLED
        for (int i = 0; i < count; i++)
            S0_FOR_ALL(S0_COUNT(factor)) part[i].of[k] += x[i * line + g] * factor.of[k];
    }
    S0_UNROLLED
    for (int i = 0; i < count; i++)
        s0_store_f64_8(rows + i * line, part[i]);
}

static void s0_add_panel(const double *panel, double *unit, Py_ssize_t line, Py_ssize_t count, const double *factors)
{
    const int several = S0_VECTOR == 16 ? 2 : S0_AT_ONCE;
    for (; count >= several; count -= several, panel += several * line, unit += several * line)
        s0_add_to_rows(panel, unit, line, factors, several);
    for (; count > 0; count--, panel += line, unit += line)
        s0_add_to_rows(panel, unit, line, factors, 1);
}

/* The record of the reflectors of a block: products of each reflector with the previous ones, then coefficients, then scales. */
S0_INLINE double *s0_taus(double *record, Py_ssize_t n, Py_ssize_t pitch) { return record + n * pitch; }
S0_INLINE double *s0_scales(double *record, Py_ssize_t n, Py_ssize_t pitch) { return record + (n + 1) * pitch; }

/* A block to factor: see `s0_reflect`. */
typedef struct {
    double *triangle, *block, *record, *out;
    Py_ssize_t line, count, n, pitch;
} s0_block;

/* Reflectors of a panel: `scale` times the stored elements, with a further element 1 in the triangle above, or in the first row. */
typedef struct {
    double tau[S0_UNIT], scale[S0_UNIT], inverse[S0_UNIT];
    double products[S0_UNIT][S0_UNIT]; /* of the stored elements of each reflector with the stored elements of earlier reflectors */
} s0_panel;

S0_INLINE double *s0_row_above(const s0_block *all, Py_ssize_t j)
{
    return all->triangle ? all->triangle + j * all->pitch : all->block + j * all->line;
}

/* Compute the reflectors of columns `first` to `end` and apply each to the columns of its panel. 0 if norms would overflow or underflow. */
static int s0_factor_panel(const s0_block *all, Py_ssize_t first, Py_ssize_t end, s0_panel *panel)
{
    double sums[S0_UNIT], factors[S0_UNIT];
    for (Py_ssize_t j = first; j < end; j++) {
        const Py_ssize_t own = j - first, begin = all->triangle ? 0 : j + 1;
        double *row = s0_row_above(all, j) + first, *rows = all->block + begin * all->line + first;
        double alpha, square, beta, tau = 0, scale = 0, inverse = 0;
        Py_ssize_t i, k;
        if (own > 0) {
            if (!all->triangle)
                for (k = own, alpha = row[own - 1]; k < S0_UNIT; k++)
                    row[k] += alpha * factors[k];
            s0_sweep(rows, all->line, all->count - begin, factors, own, sums, 1);
        } else {
            s0_sweep(rows, all->line, all->count - begin, factors, own, sums, 0);
        }
        alpha = row[own];
        square = alpha * alpha + sums[own];
        if (sums[own] == 0) {
            for (i = begin; i < all->count; i++)
                if (all->block[i * all->line + j] != 0)
                    return 0;
            beta = alpha;
        } else if (square > S0_LEAST_SQUARE && square < S0_MOST_SQUARE) {
            beta = signbit(alpha) ? sqrt(square) : -sqrt(square);
            tau = (beta - alpha) / beta;
            scale = 1 / (alpha - beta);
            inverse = 1 / beta;
        } else {
            return 0;
        }
        panel->tau[own] = tau;
        panel->scale[own] = scale;
        panel->inverse[own] = inverse;
        memcpy(panel->products[own], sums, own * sizeof(double));
        for (k = 0; k < S0_UNIT; k++)
            sums[k] = row[k] + scale * sums[k];
        memset(factors, 0, sizeof(factors));
        row[own] = beta;
        for (k = own + 1; k < S0_UNIT; k++) {
            row[k] -= tau * sums[k];
            factors[k] = sums[k] * inverse;
        }
        if (all->record) {
            double *scales = s0_scales(all->record, all->n, all->pitch), *products = all->record + j * all->pitch;
            s0_taus(all->record, all->n, all->pitch)[j] = tau;
            scales[j] = scale;
            for (k = first; k < j; k++)
                products[k] = scales[k] * sums[k - first];
        }
        if (!all->triangle) {
            for (k = 0; k < S0_UNIT; k++) {
                all->out[j * all->pitch + first + k] = k >= own ? row[k] : 0;
                if (k >= own)
                    row[k] = 0;
            }
            memset(all->out + j * all->pitch, 0, first * sizeof(double));
        }
    }
    return 1;
}

/* Apply the reflectors of a panel to a unit of columns behind it. */
static void s0_apply_panel(const s0_block *all, Py_ssize_t first, Py_ssize_t c, const s0_panel *panel)
{
    const Py_ssize_t line = all->line, begin = all->triangle ? 0 : first;
    double *x = all->block + begin * line + first, *rows = all->block + begin * line + c;
    double sums[S0_UNIT * S0_UNIT], factors[S0_UNIT * S0_UNIT];
    s0_panel_products(x, rows, line, all->count - begin, sums);
    for (Py_ssize_t j = 0; j < S0_UNIT; j++) {
        double *row = s0_row_above(all, first + j);
        f64_8 above = s0_load_f64_8(row + c), total = s0_load_f64_8(sums + j * S0_UNIT);
        for (Py_ssize_t i = 0; i < j; i++) {
            const f64_8 factor = s0_load_f64_8(factors + i * S0_UNIT);
            if (!all->triangle)
                S0_FOR_ALL(S0_COUNT(above)) above.of[k] += row[first + i] * factor.of[k];
            S0_FOR_ALL(S0_COUNT(above)) total.of[k] += panel->products[j][i] * factor.of[k];
        }
        S0_FOR_ALL(S0_COUNT(above)) {
            total.of[k] = above.of[k] + panel->scale[j] * total.of[k];
            above.of[k] -= panel->tau[j] * total.of[k];
            total.of[k] *= panel->inverse[j];
        }
        s0_store_f64_8(all->triangle ? row + c : all->out + (first + j) * all->pitch + c, above);
        s0_store_f64_8(factors + j * S0_UNIT, total);
    }
    s0_add_panel(x, rows, line, all->count - begin, factors);
    if (!all->triangle)
        for (Py_ssize_t j = 0; j < S0_UNIT; j++)
            memset(rows + j * line, 0, S0_UNIT * sizeof(double));
}

/* Compute the products of the reflectors of a panel with the reflectors of a unit of columns before it. */
static void s0_record_products(const s0_block *all, Py_ssize_t first, Py_ssize_t end, Py_ssize_t c, const s0_panel *panel)
{
    const Py_ssize_t line = all->line, begin = all->triangle ? 0 : first;
    const double *scales = s0_scales(all->record, all->n, all->pitch);
    double sums[S0_UNIT * S0_UNIT];
    s0_panel_products(all->block + begin * line + first, all->block + begin * line + c, line, all->count - begin, sums);
    for (Py_ssize_t j = first; j < end; j++) {
        const double *row = s0_row_above(all, j), *own = sums + (j - first) * S0_UNIT;
        for (Py_ssize_t k = 0; k < S0_UNIT; k++)
            all->record[j * all->pitch + c + k] = scales[c + k] * (row[c + k] + panel->scale[j - first] * own[k]);
    }
}

/* Eliminate the columns of `count` rows of a block with the rows of `triangle`, which lie above. If `triangle` is NULL, they are
 * eliminated with the first n rows of the block, and `out` gets the triangle. The reflectors overwrite the block, which is either a
 * triangle itself (`is_triangle`) or full. 0 if norms would overflow or underflow. */
static int s0_reflect(double *triangle, double *block, Py_ssize_t line, Py_ssize_t count, Py_ssize_t n, Py_ssize_t pitch,
                      double *record, double *out, int is_triangle)
{
    s0_block all = {triangle, block, record, out, line, count, n, pitch};
    for (Py_ssize_t first = 0, end; first < n; first = end) {
        s0_panel panel;
        Py_ssize_t c, j, k;
        end = first + S0_UNIT < n ? first + S0_UNIT : n;
        if (is_triangle)
            all.count = end;
        if (!s0_factor_panel(&all, first, end, &panel))
            return 0;
        for (c = end; c < pitch && end < n; c += S0_UNIT)
            s0_apply_panel(&all, first, c, &panel);
        if (!record)
            continue;
        for (c = 0; c < first; c += S0_UNIT)
            s0_record_products(&all, first, end, c, &panel);
        /* The first rows of the reflectors are kept. */
        if (!triangle)
            for (j = first; j < end; j++)
                for (k = 0; k < j; k++)
                    block[j * line + k] *= s0_scales(record, n, pitch)[k];
    }
    return 1;
}

#endif
