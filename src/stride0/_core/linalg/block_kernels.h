/* The steps of `block_steps.h` for real elements (S0_PARTS is 1) or complex elements (S0_PARTS is 2). Included by `block_elements.h`.
 *
 * Each part of an element counts as a row of a tile in a left matrix, and as a column in a right matrix, as in `panels.h`. A complex row has two
 * rows of sums: for its real parts and for its imaginary parts. Joining these two rows gives the row of the result. */
#define S0_PASTE(x, y) x##y
#define S0_PASTED(x, y) S0_PASTE(x, y)
#define S0_OWN(x) S0_PASTED(x, S0_PARTS)

/* A divisor, prepared: z / d = (near z - far i z) / size, by R. L. Smith, "Algorithm 116: Complex division" (1962). */
#define s0_divisor S0_OWN(s0_divisor_)
typedef struct { double near, far, size; } s0_divisor;

S0_INLINE s0_divisor S0_OWN(s0_divisor_of_)(double re, double im)
{
    s0_divisor d = {1, 0, re};
    if (S0_PARTS == 2 && fabs(re) >= fabs(im)) {
        d.far = im / re;
        d.size = fma(im, d.far, re);
    } else if (S0_PARTS == 2) {
        d.near = re / im;
        d.far = 1;
        d.size = fma(re, d.near, im);
    }
    return d;
}

S0_INLINE s0_row S0_OWN(s0_divide_)(s0_row x, s0_divisor by)
{
    const s0_row near = by.near - (s0_row){0}, far = by.far - (s0_row){0};
    if (S0_PARTS == 2)
        x = S0_FUSED_f64(far, -s0_turned_f64(x), near * x);
    return x / (by.size - (s0_row){0});
}

/* Divide the numbers `first` to `last` of a row. */
S0_INLINE void S0_OWN(s0_divide_row_)(double *x, Py_ssize_t first, Py_ssize_t last, s0_divisor by)
{
    Py_ssize_t i = first;
    for (; i + S0_ROW <= last; i += S0_ROW)
        *(s0_row_anywhere *)(x + i) = S0_OWN(s0_divide_)(*(const s0_row_anywhere *)(x + i), by);
    for (; i < last; i += S0_PARTS) {
        const double re = x[i], im = S0_PARTS == 2 ? x[i + 1] : 0;
        x[i] = (S0_PARTS == 2 ? fma(by.far, im, by.near * re) : re) / by.size;
        if (S0_PARTS == 2)
            x[i + 1] = fma(by.far, -re, by.near * im) / by.size;
    }
}

/* Subtract the sums for both parts of a left element, which are `pitch` numbers apart. If `conjugate`, use the conjugate of the element. */
S0_INLINE void S0_OWN(s0_subtract_sums_)(double *x, const double *sums, Py_ssize_t pitch, Py_ssize_t first, Py_ssize_t last, int conjugate)
{
    const double sign = conjugate ? -1 : 1;
    Py_ssize_t i = first;
    for (; i + S0_ROW <= last; i += S0_ROW) {
        s0_row sum = *(const s0_row_anywhere *)(sums + i);
        if (S0_PARTS == 2)
            sum += sign * s0_turned_f64(*(const s0_row_anywhere *)(sums + pitch + i));
        *(s0_row_anywhere *)(x + i) -= sum;
    }
    for (; i < last; i += S0_PARTS) {
        x[i] -= S0_PARTS == 2 ? sums[i] + -sign * sums[pitch + i + 1] : sums[i];
        if (S0_PARTS == 2)
            x[i + 1] -= sums[i + 1] + sign * sums[pitch + i];
    }
}

/* Multiply `rows` rows of a matrix `a` with n columns, or its conjugate, by the rows `b`, and use the sums for the elements at `out`. The rows `b`
 * are `line` apart and have `width` numbers. The triangle follows the n columns of `a`. Strides count numbers. */
S0_INLINE void S0_OWN(s0_sum_tile_)(const double *a, Py_ssize_t down, Py_ssize_t across, int conjugate, const double *b, Py_ssize_t line,
                                    double *out, Py_ssize_t pitch, Py_ssize_t width, Py_ssize_t n, s0_use use, const int rows, const int vectors)
{
    const Py_ssize_t rest = width - (vectors - 1) * S0_ROW;
    const double sign = conjugate ? -1 : 1;
    s0_row sum[8][3], part[3], x;
    int i, j, k, p;
#define S0_LEFT(i, k) (a[(i) / S0_PARTS * down + (i) % S0_PARTS + (k) * across] - (s0_row){0})
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
            x = S0_LEFT(i, 0);
            S0_UNROLLED
            for (j = 0; j < vectors; j++)
                sum[i][j] = S0_FUSED_f64(x, part[j], sum[i][j]);
        }
    }
    if (use != S0_STORES) {
        S0_UNROLLED
        for (i = 0; i < rows; i += S0_PARTS) {
            if (use > S0_SUBTRACTS) {
                /* The rows above are solved. */
                S0_UNROLLED
                for (k = 0; k < i; k += S0_PARTS)
                    S0_UNROLLED
                    for (p = i; p < i + S0_PARTS; p++) {
                        x = S0_LEFT(p, k / S0_PARTS);
                        S0_UNROLLED
                        for (j = 0; j < vectors; j++)
                            sum[p][j] = S0_FUSED_f64(x, sum[k][j], sum[p][j]);
                    }
            }
            S0_UNROLLED
            for (j = 0; j < vectors; j++) {
                if (S0_PARTS == 2)
                    sum[i][j] += sign * s0_turned_f64(sum[i + 1][j]);
                sum[i][j] = S0_PART(out + i / S0_PARTS * pitch, j) + (use == S0_ADDS ? sum[i][j] : -sum[i][j]);
            }
            if (use == S0_SOLVES) {
                const double *pivot = a + i / S0_PARTS * (down + across);
                const s0_divisor by = S0_OWN(s0_divisor_of_)(pivot[0], S0_PARTS == 2 ? sign * pivot[1] : 0);
                S0_UNROLLED
                for (j = 0; j < vectors; j++)
                    sum[i][j] = S0_OWN(s0_divide_)(sum[i][j], by);
            }
        }
    }
    S0_UNROLLED
    for (i = 0; i < rows; i++) {
        if (S0_PARTS == 2 && use != S0_STORES && i % 2)
            continue;
        S0_UNROLLED
        for (j = 0; j < vectors; j++) {
            double *to = out + (use == S0_STORES ? i : i / S0_PARTS) * pitch + j * S0_ROW;
            if (j < vectors - 1 || rest == S0_ROW)
                *(s0_row_anywhere *)to = sum[i][j];
            else
                S0_STORE_FIRST_f64(to, sum[i][j], rest);
        }
    }
#undef S0_LEFT
#undef S0_PART
}

/* `s0_sum_tile` by the function of its size. */
static __attribute__((noinline)) void S0_OWN(s0_sum_one_)(const double *a, Py_ssize_t down, Py_ssize_t across, int conjugate, const double *b,
                                                          Py_ssize_t line, double *out, Py_ssize_t pitch, Py_ssize_t width, Py_ssize_t n,
                                                          s0_use use, int rows)
{
#define S0_CASE(r, v) \
    case 4 * r + v: S0_OWN(s0_sum_tile_)(a, down, across, conjugate, b, line, out, pitch, width, n, use, r, v); break;
#define S0_CASES(r) S0_CASE(r, 1) S0_CASE(r, 2) S0_CASE(r, 3)
    switch (4 * rows + (int)((width + S0_ROW - 1) / S0_ROW)) {
#if S0_TALL_OF > 4
        S0_CASES(8)
#endif
#if S0_PARTS == 1
        S0_CASES(1)
#endif
        S0_CASES(4) S0_CASES(2)
    }
#undef S0_CASES
#undef S0_CASE
}

/* `s0_sum_one` for any number of columns. */
S0_INLINE void S0_OWN(s0_sum_all_)(const double *a, Py_ssize_t down, Py_ssize_t across, int conjugate, const double *b, Py_ssize_t line,
                                   double *out, Py_ssize_t pitch, Py_ssize_t width, Py_ssize_t n, s0_use use, int rows)
{
    for (; width > 0; width -= S0_TILE_COLUMNS, b += S0_TILE_COLUMNS, out += S0_TILE_COLUMNS)
        S0_OWN(s0_sum_one_)(a, down, across, conjugate, b, line, out, pitch, width < S0_TILE_COLUMNS ? width : S0_TILE_COLUMNS, n, use, rows);
}

static void S0_OWN(s0_solve_block_)(const s0_triangle *all, Py_ssize_t first, Py_ssize_t last)
{
    const Py_ssize_t down = all->down, pitch = all->pitch;
    for (; first < last; first += S0_TILE_COLUMNS) {
        double *x = all->x + first;
        int rows;
        for (Py_ssize_t i = 0; i < all->n; i += rows / S0_PARTS) {
            rows = s0_height_f64(all->n - i, S0_PARTS);
            S0_OWN(s0_sum_one_)(all->a + i * down, down, all->across, all->conjugate, x, pitch, x + i * pitch, pitch,
                                last - first < S0_TILE_COLUMNS ? last - first : S0_TILE_COLUMNS, i, all->unit ? S0_SOLVES_UNIT : S0_SOLVES, rows);
        }
    }
}

static int S0_OWN(s0_factor_block_)(double *a, Py_ssize_t pitch, Py_ssize_t n)
{
    double sums[8 * 8];
    int rows;
    for (Py_ssize_t c = 0; c < n; c += rows / S0_PARTS) {
        double *top = a + c * S0_PARTS, *corner = top + c * pitch;
        int i, j, p;
        rows = s0_height_f64(n - c, S0_PARTS);
        S0_OWN(s0_sum_one_)(top, S0_PARTS, pitch, 1, top, pitch, sums, 8, rows, c, S0_STORES, rows);
        for (i = 0; i < rows; i += S0_PARTS) {
            double *row = corner + i / S0_PARTS * pitch;
            for (j = 0; j < i; j += S0_PARTS)
                for (p = i; p < i + S0_PARTS; p++)
                    s0_add_scaled_row(sums + p * 8, corner[j / S0_PARTS * pitch + p], corner + j / S0_PARTS * pitch, i, rows);
            S0_OWN(s0_subtract_sums_)(row, sums + i * 8, 8, i, rows, 1);
            row[i] = sqrt(row[i]);
            if (!(row[i] > 0))
                return 0;
            if (S0_PARTS == 2)
                row[i + 1] = 0; /* the diagonal is real */
            S0_OWN(s0_divide_row_)(row, i + S0_PARTS, rows, S0_OWN(s0_divisor_of_)(row[i], 0));
        }
        S0_OWN(s0_sum_all_)(top, S0_PARTS, pitch, 1, top + rows, pitch, corner + rows, pitch, (n - c) * S0_PARTS - rows, c, S0_SOLVES, rows);
    }
    return 1;
}

/* -- elimination -------------------------------------------------------------------------------------------------- */

/* The magnitude of a real element. For a complex element, the sum of the magnitudes of its parts, as in LAPACK. */
S0_INLINE double S0_OWN(s0_size_)(const double *x)
{
    return S0_PARTS == 2 ? fabs(x[0]) + fabs(x[1]) : fabs(x[0]);
}

/* Of elements `first` to `last`, the position of the first one with the largest magnitude; `first` if it is NaN. Other NaNs are skipped. */
static Py_ssize_t S0_OWN(s0_find_pivot_)(const double *x, Py_ssize_t first, Py_ssize_t last)
{
    const s0_row_bits magnitude = INT64_MAX - (s0_row_bits){0};
    double lanes[S0_ROW], best = -1;
    s0_row most = -1 - (s0_row){0};
    Py_ssize_t i = first * S0_PARTS;
    int k;
    if (isnan(S0_OWN(s0_size_)(x + i)))
        return first;
    for (; i + S0_ROW <= last * S0_PARTS; i += S0_ROW) {
        s0_row size = (s0_row)((s0_row_bits)*(const s0_row_anywhere *)(x + i) & magnitude);
        s0_row_bits larger;
        if (S0_PARTS == 2)
            size += S0_SWAP_PAIRS_f64(size);
        larger = (s0_row_bits)(size > most);
        most = (s0_row)(((s0_row_bits)size & larger) | ((s0_row_bits)most & ~larger));
    }
    memcpy(lanes, &most, sizeof(lanes));
    for (k = 0; k < S0_ROW; k++)
        best = lanes[k] > best ? lanes[k] : best;
    for (; i < last * S0_PARTS; i += S0_PARTS)
        best = S0_OWN(s0_size_)(x + i) > best ? S0_OWN(s0_size_)(x + i) : best;
    for (i = first; S0_OWN(s0_size_)(x + i * S0_PARTS) != best; i++);
    return i;
}

S0_INLINE void S0_OWN(s0_exchange_)(double *x, Py_ssize_t i, Py_ssize_t k)
{
    for (int p = 0; p < S0_PARTS; p++) {
        const double held = x[i * S0_PARTS + p];
        x[i * S0_PARTS + p] = x[k * S0_PARTS + p];
        x[k * S0_PARTS + p] = held;
    }
}

/* Eliminate columns `c` to `end`, given the sums of the products of the columns before `c`. 0 if a pivot is 0. */
static int S0_OWN(s0_eliminate_narrow_)(double *columns, Py_ssize_t pitch, Py_ssize_t m, Py_ssize_t c, Py_ssize_t end, double *sums,
                                        Py_ssize_t *exchanges)
{
    int regular = 1, p;
    for (Py_ssize_t j = c; j < end; j++) {
        double *own = columns + j * pitch, *sum = sums + (j - c) * S0_PARTS * pitch;
        Py_ssize_t best, k;
        for (k = c; k < j; k++) {
            S0_OWN(s0_subtract_sums_)(own, sum, pitch, k * S0_PARTS, (k + 1) * S0_PARTS, 0);
            for (p = 0; p < S0_PARTS; p++)
                s0_add_scaled_row(sum + p * pitch, own[k * S0_PARTS + p], columns + k * pitch, (k + 1) * S0_PARTS, m * S0_PARTS);
        }
        S0_OWN(s0_subtract_sums_)(own, sum, pitch, j * S0_PARTS, m * S0_PARTS, 0);
        best = exchanges[j] = S0_OWN(s0_find_pivot_)(own, j, m);
        if (S0_OWN(s0_size_)(own + best * S0_PARTS) == 0) {
            regular = 0;
            continue;
        }
        for (k = c; k < end; k++)
            S0_OWN(s0_exchange_)(columns + k * pitch, j, best);
        for (k = 0; k < (end - c) * S0_PARTS; k++)
            S0_OWN(s0_exchange_)(sums + k * pitch, j, best);
        S0_OWN(s0_divide_row_)(own, (j + 1) * S0_PARTS, m * S0_PARTS,
                               S0_OWN(s0_divisor_of_)(own[j * S0_PARTS], S0_PARTS == 2 ? own[j * S0_PARTS + 1] : 0));
    }
    return regular;
}

static int S0_OWN(s0_eliminate_block_)(double *columns, Py_ssize_t pitch, Py_ssize_t m, Py_ssize_t n, Py_ssize_t *exchanges)
{
    enum { NARROW = S0_NARROW_COLUMNS * S0_PARTS };
    double upper[S0_BLOCK_ROWS * NARROW], *sums = columns + S0_BLOCK_ROWS * pitch;
    int regular = 1;
    Py_ssize_t c, end, j, k;
    for (c = 0; c < n; c = end) {
        const s0_triangle above = {columns, S0_PARTS, pitch, c, 1, 0, upper, NARROW, NARROW};
        int rows;
        end = c + S0_NARROW_COLUMNS < n ? c + S0_NARROW_COLUMNS : n;
        /* The rows above: exchanged, and solved for the columns before. */
        for (j = c; j < end; j++) {
            double *own = columns + j * pitch;
            for (k = 0; k < c; k++)
                S0_OWN(s0_exchange_)(own, k, exchanges[k]);
            for (k = 0; k < c; k++)
                memcpy(upper + k * NARROW + (j - c) * S0_PARTS, own + k * S0_PARTS, S0_PARTS * sizeof(double));
        }
        S0_OWN(s0_solve_block_)(&above, 0, (end - c) * S0_PARTS);
        for (j = c; j < end; j++)
            for (k = 0; k < c; k++)
                memcpy(columns + j * pitch + k * S0_PARTS, upper + k * NARROW + (j - c) * S0_PARTS, S0_PARTS * sizeof(double));
        for (j = c; j < end; j += rows / S0_PARTS) {
            rows = s0_height_f64(end - j, S0_PARTS);
            S0_OWN(s0_sum_all_)(upper + (j - c) * S0_PARTS, S0_PARTS, NARROW, 0, columns + c * S0_PARTS, pitch,
                                sums + (j - c) * S0_PARTS * pitch + c * S0_PARTS, pitch, (m - c) * S0_PARTS, c, S0_STORES, rows);
        }
        regular &= S0_OWN(s0_eliminate_narrow_)(columns, pitch, m, c, end, sums, exchanges);
        for (j = 0; j < c; j++)
            for (k = c; k < end; k++)
                S0_OWN(s0_exchange_)(columns + j * pitch, k, exchanges[k]);
    }
    return regular;
}

#include "reflector_kernels.h"

#undef s0_divisor
#undef S0_OWN
#undef S0_PASTED
#undef S0_PASTE
#undef S0_PARTS
