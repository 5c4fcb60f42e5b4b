/* Reflectors that eliminate the columns of a panel, Note [Reflectors in panels] of linalg/orthogonal.pxi. Included by `block_kernels.h`, whose
 * tiles compute most products. */

/* The dot product of conj(x) and y, two rows of n numbers. n is a multiple of 8. */
static void S0_OWN(s0_row_product_)(const double *x, const double *y, Py_ssize_t n, double *to)
{
    to[0] = s0_lane_product(x, y, n);
    if (S0_PARTS == 2)
        to[1] = -s0_turned_lane_product(x, y, n);
}

/* Add a multiple of y to x, for numbers `first` to `last`. */
S0_INLINE void S0_OWN(s0_add_multiple_)(double *restrict x, const double *factor, const double *restrict y, Py_ssize_t first, Py_ssize_t last)
{
    const s0_row re = factor[0] - (s0_row){0}, im = factor[S0_PARTS - 1] - (s0_row){0};
    if (S0_PARTS == 1) {
        s0_add_scaled_row(x, factor[0], y, first, last);
        return;
    }
    for (; first + S0_ROW <= last; first += S0_ROW) {
        const s0_row other = *(const s0_row_anywhere *)(y + first), sum = S0_FUSED_f64(re, other, (s0_row)*(s0_row_anywhere *)(x + first));
        *(s0_row_anywhere *)(x + first) = S0_FUSED_f64(im, s0_turned_f64(other), sum);
    }
    for (; first < last; first += 2) {
        x[first] = fma(factor[1], -y[first + 1], fma(factor[0], y[first], x[first]));
        x[first + 1] = fma(factor[1], y[first], fma(factor[0], y[first + 1], x[first + 1]));
    }
}

/* Replace x by the vector of the reflector whose adjoint maps x to `beta`, a real number, times unit vector j. Element j of the vector is 1.
 * Elements of x before j are 0. Numbers after `count` elements are 0, up to n, a multiple of 8. `tau` is 0 if nothing has to be eliminated. */
static void S0_OWN(s0_eliminate_column_)(double *x, Py_ssize_t n, Py_ssize_t count, Py_ssize_t j, double *beta, double *tau)
{
    const Py_ssize_t own = j * S0_PARTS, last = count * S0_PARTS;
    double alpha = x[own], square, scale = 1, most = 1, norm, im = 0;
    Py_ssize_t i;
    x[own] = 0;
    square = s0_lane_product(x, x, n);
    if (!(square > 0 && square + alpha * alpha > 0x1p-800 && square < 0x1p+1000 && fabs(alpha) < 0x1p+500)) {
        for (i = own + 1, most = 0; i < last; i++)
            most = fabs(x[i]) > most ? fabs(x[i]) : most;
        if (most > 0 && most < INFINITY && fabs(alpha) < INFINITY) {
            /* Scale by a power of 2, so that squares neither overflow nor underflow. */
            int power;
            frexp(fabs(alpha) > most ? alpha : most, &power);
            scale = ldexp(1, power < -1000 ? 1000 : -power);
            alpha *= scale;
            for (i = own + 1; i < last; i++)
                x[i] *= scale;
            square = s0_lane_product(x, x, n);
        }
    }
    x[own] = 1;
    if (S0_PARTS == 2) {
        im = x[own + 1];
        x[own + 1] = 0;
    }
    *beta = alpha / scale;
    memset(tau, 0, S0_PARTS * sizeof(double));
    if (square == 0 && most == 0)
        return;
    norm = sqrt(fma(alpha, alpha, square));
    norm = signbit(alpha) ? norm : -norm;
    S0_OWN(s0_divide_row_)(x, own + S0_PARTS, last, S0_OWN(s0_divisor_of_)(alpha - norm, im));
    *beta = norm / scale;
    tau[0] = (norm - alpha) / norm;
    if (S0_PARTS == 2)
        tau[1] = -im / norm;
}

static void S0_OWN(s0_apply_block_)(const s0_reflectors *all, double *x, Py_ssize_t pitch, Py_ssize_t columns, int inverse)
{
    enum { W_PITCH = S0_TILE_COLUMNS, PITCH = S0_PANEL_COLUMNS * S0_PARTS };
    double w[S0_PANEL_COLUMNS * W_PITCH];
    const Py_ssize_t line = all->line, count = all->count, last = inverse ? 0 : count - 1;
    s0_triangle system = {all->gram, PITCH, S0_PARTS, count, 0, 0, w, W_PITCH, W_PITCH};
    if (!inverse) {
        /* Solve for T instead of T': transpose and conjugate the triangle, and start from the last row. */
        system.a += last * (PITCH + S0_PARTS);
        system.down = -S0_PARTS;
        system.across = -PITCH;
        system.conjugate = 1;
        system.x += last * W_PITCH;
        system.pitch = -W_PITCH;
    }
    for (; columns > 0; columns -= W_PITCH, x += W_PITCH) {
        const Py_ssize_t width = columns < W_PITCH ? columns : W_PITCH;
        Py_ssize_t i, k;
        int rows;
        for (i = 0; i < count * W_PITCH; i++)
            w[i] = -0.0;
        for (k = 0; k < all->m; k += S0_BLOCK_ROWS)
            for (i = 0; i < count; i += rows / S0_PARTS) {
                rows = s0_height_f64(count - i, S0_PARTS);
                S0_OWN(s0_sum_one_)(all->v + i * line + k * S0_PARTS, line, S0_PARTS, 1, x + k * pitch, pitch, w + i * W_PITCH, W_PITCH, width,
                                    all->m - k < S0_BLOCK_ROWS ? all->m - k : S0_BLOCK_ROWS, S0_ADDS, rows);
            }
        S0_OWN(s0_solve_block_)(&system, 0, width);
        for (i = 0; i < all->m; i += rows / S0_PARTS) {
            rows = s0_height_f64(all->m - i, S0_PARTS);
            S0_OWN(s0_sum_one_)(all->v + i * S0_PARTS, S0_PARTS, line, 0, w, W_PITCH, x + i * pitch, pitch, width, count, S0_SUBTRACTS, rows);
        }
    }
}

/* Eliminate the columns `s` to `s + count` of a panel by reflectors, which are applied to these columns only. */
static void S0_OWN(s0_reflect_narrow_)(const s0_columns *all, Py_ssize_t s, Py_ssize_t count)
{
    const Py_ssize_t line = all->line, height = all->m - s, numbers = height * S0_PARTS, padded = (numbers + 7) / 8 * 8;
    const char *block = (const char *)(all->a + s * (all->pitch + S0_PARTS));
    double *rows = all->reflectors + s * S0_PARTS;
    Py_ssize_t j, k;
    (S0_PARTS == 1 ? s0_transpose_8 : s0_transpose_16)(block, all->pitch * 8, (char *)(rows + s * line), line * 8, height, count);
    for (j = s; j < s + count; j++) {
        double *own = rows + j * line, *gram = all->gram + j * S0_PANEL_COLUMNS * S0_PARTS, *tau = all->taus + j * S0_PARTS;
        double *corner = all->a + j * (all->pitch + S0_PARTS);
        memset(own - s * S0_PARTS, 0, s * S0_PARTS * sizeof(double));
        memset(own + numbers, 0, (padded - numbers) * sizeof(double));
        for (k = s; k < j; k++) {
            /* The reflectors before, and their elements of R. */
            const double *other = rows + k * line, *by = all->taus + k * S0_PARTS;
            double product[S0_PARTS], factor[S0_PARTS];
            if (by[0] != 0) {
                S0_OWN(s0_row_product_)(other, own, padded, product);
                factor[0] = S0_PARTS == 2 ? -fma(by[1], product[1], by[0] * product[0]) : -by[0] * product[0];
                if (S0_PARTS == 2)
                    factor[1] = fma(by[1], product[0], -by[0] * product[1]);
                S0_OWN(s0_add_multiple_)(own, factor, other, (k - s) * S0_PARTS, numbers);
            }
            memcpy(all->a + k * all->pitch + j * S0_PARTS, own + (k - s) * S0_PARTS, S0_PARTS * sizeof(double));
        }
        memset(own, 0, (j - s) * S0_PARTS * sizeof(double));
        memset(corner, 0, S0_PARTS * sizeof(double));
        S0_OWN(s0_eliminate_column_)(own, padded, height, j - s, corner, tau);
        for (k = 0; k < j; k++)
            S0_OWN(s0_row_product_)(own, rows + k * line, padded, gram + k * S0_PARTS);
        /* The diagonal has the conjugates of the quotients 1 / tau. */
        gram += j * S0_PARTS;
        memset(gram, 0, S0_PARTS * sizeof(double));
        gram[0] = tau[0] == 0 ? INFINITY : 1;
        if (tau[0] != 0)
            S0_OWN(s0_divide_row_)(gram, 0, S0_PARTS, S0_OWN(s0_divisor_of_)(tau[0], -tau[S0_PARTS - 1]));
    }
}

static void S0_OWN(s0_reflect_block_)(const s0_columns *all)
{
    Py_ssize_t s, end;
    for (s = 0; s < all->n; s = end) {
        const s0_reflectors block = {
            all->reflectors + s * (all->line + S0_PARTS), all->line, all->gram + s * (S0_PANEL_COLUMNS + 1) * S0_PARTS, all->m - s,
            all->n - s < S0_NARROW_COLUMNS ? all->n - s : S0_NARROW_COLUMNS,
        };
        end = s + block.count;
        S0_OWN(s0_reflect_narrow_)(all, s, block.count);
        S0_OWN(s0_apply_block_)(&block, all->a + s * all->pitch + end * S0_PARTS, all->pitch, (all->n - end) * S0_PARTS, 1);
    }
}
