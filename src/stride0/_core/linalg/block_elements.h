/* The steps of `block_steps.h`. Within a block, the terms of a sum are added one by one, in order, each by a fused multiply-add; then the sum
 * is subtracted. So no bit depends on the order of loops, the sizes of tiles, or the instruction set. A complex sum is four such sums, of
 * products of real and imaginary parts, as in `real_products.h`. */
#ifndef STRIDE0_BLOCK_ELEMENTS_H
#define STRIDE0_BLOCK_ELEMENTS_H

#include "block_steps.h"
#include "real_products.h"

typedef double s0_row __attribute__((vector_size(S0_VECTOR)));
typedef double s0_row_anywhere __attribute__((vector_size(S0_VECTOR), aligned(sizeof(double)), may_alias));
typedef int64_t s0_row_bits __attribute__((vector_size(S0_VECTOR)));
enum {
    S0_ROW = S0_VECTOR / 8,
    S0_TILE_COLUMNS = 3 * S0_ROW, /* numbers in a row of the widest tile */
    S0_DOT_LANES = 32,
};
#define s0_lanes s0_row /* in S0_FUSED_f64 */

/* What a tile does with its sums: store the sums of each part, add them to the elements of the result, subtract them, or subtract them and then
 * solve a lower triangular system, whose diagonal may count as 1. */
typedef enum { S0_STORES, S0_ADDS, S0_SUBTRACTS, S0_SOLVES, S0_SOLVES_UNIT } s0_use;

/* Add a multiple of y to x, for numbers `first` to `last`. */
S0_INLINE void s0_add_scaled_row(double *restrict x, double factor, const double *restrict y, Py_ssize_t first, Py_ssize_t last)
{
    for (Py_ssize_t i = first; i < last; i++)
        x[i] = fma(factor, y[i], x[i]);
}

/* Add the upper `half` lanes to the lower `half` lanes. Repeat with smaller halves until `lanes[0]` is the sum. */
#define S0_ADD_HALVES(lanes, half) \
    for (k = 0; k < (half); k++)   \
        (lanes)[k] += (lanes)[k + (half)];

/* The sum of n products, collected in lanes, which are then added in pairs. n is a multiple of 8. If `turns`, y is multiplied by i. */
S0_INLINE double s0_lane_sum(const double *x, const double *y, Py_ssize_t n, const int turns)
{
    s0_row total[S0_DOT_LANES / S0_ROW] = {{0}};
    double lanes[S0_DOT_LANES];
    int k, group;
#define S0_TURNED(k) (!turns ? y[k] : (k) % 2 ? y[(k) - 1] : -y[(k) + 1])
    if (n > 8) {
        for (; n >= S0_DOT_LANES; n -= S0_DOT_LANES, x += S0_DOT_LANES, y += S0_DOT_LANES)
            S0_UNROLLED
            for (k = 0; k < S0_DOT_LANES / S0_ROW; k++) {
                const s0_row part = ((const s0_row_anywhere *)y)[k];
                total[k] = S0_FUSED_f64((s0_row)((const s0_row_anywhere *)x)[k], turns ? s0_turned_f64(part) : part, total[k]);
            }
        memcpy(lanes, total, sizeof(lanes));
        for (group = 0; group < n; group += 8)
            for (k = group; k < group + 8; k++)
                lanes[k] = fma(x[k], S0_TURNED(k), lanes[k]);
        S0_ADD_HALVES(lanes, 16)
        S0_ADD_HALVES(lanes, 8)
    } else {
        for (k = 0; k < 8; k++)
            lanes[k] = x[k] * S0_TURNED(k);
    }
#undef S0_TURNED
    S0_ADD_HALVES(lanes, 4)
    S0_ADD_HALVES(lanes, 2)
    return lanes[0] + lanes[1];
}

static double s0_lane_product(const double *x, const double *y, Py_ssize_t n) { return s0_lane_sum(x, y, n, 0); }
static double s0_turned_lane_product(const double *x, const double *y, Py_ssize_t n) { return s0_lane_sum(x, y, n, 1); }

static void s0_exchange_rows(double *a, Py_ssize_t pitch, const Py_ssize_t *exchanges, Py_ssize_t first, Py_ssize_t last, Py_ssize_t numbers)
{
    for (Py_ssize_t k = first; k < last; k++) {
        double *x = a + k * pitch, *y = a + exchanges[k] * pitch;
        for (Py_ssize_t j = 0; j < numbers && x != y; j++) {
            const double held = x[j];
            x[j] = y[j];
            y[j] = held;
        }
    }
}

#define S0_PARTS 1
#include "block_kernels.h"
#define S0_PARTS 2
#include "block_kernels.h"

/* Index 0: real elements. Index 1: complex elements. */
#define S0_BLOCK_STEPS(parts)                                                                                                        \
    {s0_solve_block_##parts, s0_factor_block_##parts, s0_eliminate_block_##parts, s0_exchange_rows, s0_reflect_block_##parts, \
     s0_apply_block_##parts}
static const struct s0_block_steps s0_the_block_steps[] = {S0_BLOCK_STEPS(1), S0_BLOCK_STEPS(2)};

#undef s0_lanes
#endif
