/* Reflectors that eliminate the columns of a panel, Note [Reflectors in panels] of linalg/orthogonal.pxi. Included by `block_kernels.h`, whose
 * tiles compute most products. */
#ifndef STRIDE0_REFLECTOR_KERNELS_H
#define STRIDE0_REFLECTOR_KERNELS_H

enum { S0_DOT_LANES = 32 };

/* Add the second half of the lanes to the first one, until `lanes[0]` is the sum. */
#define S0_ADD_HALVES(lanes, half) \
    for (k = 0; k < (half); k++)   \
        (lanes)[k] += (lanes)[k + (half)];

/* The sum of products of n elements, a multiple of 8, in lanes, which are then added in pairs. */
static double s0_lane_product(const double *x, const double *y, Py_ssize_t n)
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
static double s0_eliminate_column(double *x, Py_ssize_t n, Py_ssize_t count, Py_ssize_t j, double *beta)
{
    double alpha = x[j], square, scale = 1, most = 1, norm;
    Py_ssize_t i;
    x[j] = 0;
    square = s0_lane_product(x, x, n);
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
            square = s0_lane_product(x, x, n);
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
                rows = s0_height_f64(count - i, 1);
                s0_sum_one(all->v + i * line + k, line, 1, x + k * pitch, pitch, w + i * W_PITCH, W_PITCH, width,
                           all->m - k < S0_BLOCK_ROWS ? all->m - k : S0_BLOCK_ROWS, k ? S0_ADDS : S0_STORES, rows);
            }
        s0_solve_block(&system, 0, width);
        for (i = 0; i < all->m; i += rows) {
            rows = s0_height_f64(all->m - i, 1);
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
                s0_add_scaled_row(own, -all->taus[k] * s0_lane_product(other, own, padded), other, k - s, height);
            all->a[k * all->pitch + j] = own[k - s];
        }
        for (k = s; k < j; k++)
            own[k - s] = 0;
        tau = all->taus[j] = s0_eliminate_column(own, padded, height, j - s, &beta);
        all->a[j * all->pitch + j] = beta;
        for (k = 0; k < j; k++)
            gram[k] = s0_lane_product(own, rows + k * line, padded);
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

#endif
