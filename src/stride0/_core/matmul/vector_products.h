/* Products of a matrix and a vector, for one dtype; `panels.h` includes it: Note [Products by vectors].
 *
 * The terms of a sum are added in blocks of S0_BLOCK_NUMBERS numbers. In a block, number k of a row is added to accumulator k % S0_SUMS, from -0.0. The
 * accumulators are folded: the second half is added to the first half, until one number is left, or two, of complex elements. The blocks are
 * added in double, in order. Complex elements have two sets of accumulators: of the products of their parts with the same and with the
 * other part of their factors. */
#define S0_SUMS (64 / sizeof(S0_TYPE))
#define S0_MOST_SUMS (S0_VECTOR == 64 ? 16 : parts == 2 ? 12 : 8)
#define S0_BLOCK_NUMBERS (sizeof(S0_TYPE) == 4 ? (Py_ssize_t)S0_BLOCK_FLOATS : (Py_ssize_t)S0_BLOCK_DOUBLES)

/* A vector from memory of which `count` elements exist; zeros follow. */
S0_INLINE s0_lanes S0_REAL(s0_up_to_)(const char *from, Py_ssize_t count)
{
    return count >= S0_LANES ? (s0_lanes)*(const s0_lanes_anywhere *)from : S0_REAL(s0_some_)(from, count);
}

/* A sum plus a product: of complex numbers, which take more instructions, rounded once. */
S0_INLINE s0_lanes S0_REAL(s0_plus_)(s0_lanes sum, s0_lanes x, s0_lanes y, const int parts)
{
    return parts == 1 ? sum + x * y : S0_REAL(S0_FUSED_)(x, y, sum);
}

/* The sums of the products of rows, `down` bytes apart, of `n` numbers, at most S0_BLOCK_NUMBERS, and of a vector for each row, `next` bytes apart. */
S0_INLINE void S0_REAL(s0_block_of_rows_)(const char *a, Py_ssize_t down, const char *b, Py_ssize_t next, Py_ssize_t n,
                                        S0_TYPE (*out)[2], const int rows, const int parts)
{
    const Py_ssize_t size = sizeof(S0_TYPE), whole = n / S0_SUMS * S0_SUMS;
    S0_REAL(S0_SUMS_OF_) sum[2][4];
    s0_lanes x, y;
    Py_ssize_t k = 0;
    int i, j, q;
    S0_UNROLLED
    for (i = 0; i < rows; i++)
        S0_UNROLLED
        for (q = 0; q < parts; q++)
            S0_UNROLLED
            for (j = 0; j < 64 / S0_VECTOR; j++)
                sum[q][i].of[j] = -(s0_lanes){0};
#define S0_ADD_PRODUCTS(LEFT, RIGHT)                                                                                 \
    S0_UNROLLED                                                                                                      \
    for (i = 0; i < rows; i++) {                                                                                     \
        if (i == 0 || next > 0)                                                                                      \
            y = RIGHT;                                                                                               \
        x = LEFT;                                                                                                    \
        sum[0][i].of[j] = S0_REAL(s0_plus_)(sum[0][i].of[j], x, y, parts);                                           \
        if (parts == 2)                                                                                              \
            sum[1][i].of[j] = S0_REAL(s0_plus_)(sum[1][i].of[j], x, S0_REAL(S0_SWAP_PAIRS_)(y), parts);              \
    }
    for (; k < whole; k += S0_SUMS)
        S0_UNROLLED
        for (j = 0; j < 64 / S0_VECTOR; j++) {
            const Py_ssize_t at = k * size + j * S0_VECTOR;
            S0_ADD_PRODUCTS((s0_lanes)*(const s0_lanes_anywhere *)(a + i * down + at), (s0_lanes)*(const s0_lanes_anywhere *)(b + i * next + at))
        }
    if (k < n) {
        /* Behind the end of a row, zeros times -0.0 change no sum. */
        S0_TYPE last[4][S0_SUMS] __attribute__((aligned(S0_VECTOR)));
        for (i = 0; i < (next > 0 ? rows : 1); i++)
            for (j = 0; j < (int)S0_SUMS; j++)
                last[i][j] = k + j < n ? ((const S0_TYPE *)(b + i * next))[k + j] : (S0_TYPE)-0.0;
        S0_UNROLLED
        for (j = 0; j < 64 / S0_VECTOR; j++) {
            const Py_ssize_t rest = n - k - j * S0_LANES;
            if (rest > 0)
                S0_ADD_PRODUCTS(S0_REAL(s0_up_to_)(a + i * down + k * size + j * S0_VECTOR, rest),
                                *(const s0_lanes *)&last[next > 0 ? i : 0][j * S0_LANES])
        }
    }
#undef S0_ADD_PRODUCTS
    if (parts == 1 && rows == 4) {
        S0_TYPE each[4];
        S0_REAL(S0_EACH_TOTAL_)(sum[0], each)
        S0_UNROLLED
        for (i = 0; i < rows; i++)
            out[i][0] = each[i];
        return;
    }
    S0_UNROLLED
    for (i = 0; i < rows; i++)
        if (parts == 1) {
            out[i][0] = S0_REAL(S0_TOTAL_OF_)(sum[0][i]);
        } else {
            S0_TYPE same[2], other[2];
            S0_REAL(S0_PAIR_OF_)(sum[0][i], same)
            S0_REAL(S0_PAIR_OF_)(sum[1][i], other)
            out[i][0] = same[0] - same[1];
            out[i][1] = other[0] + other[1];
        }
}

/* `m` rows, `down` bytes apart, of `n` numbers. Registers hold the sums of several rows, which read the vector once, or of several
 * blocks of the last rows. */
S0_INLINE void S0_REAL(s0_by_rows_)(const char *a, Py_ssize_t down, const char *b, char *out, Py_ssize_t m, Py_ssize_t n, const int parts)
{
    enum { TOGETHER = 4 };
    const Py_ssize_t block = S0_BLOCK_NUMBERS * sizeof(S0_TYPE), number = sizeof(S0_TYPE);
    const int together = TOGETHER / parts;
    S0_TYPE some[TOGETHER][2];
    double total[TOGETHER][2];
    Py_ssize_t i = 0, k;
    int r, q;
    for (; i < m; i += r) {
        const char *const row = a + i * down;
        for (r = 0; r < together; r++)
            total[r][0] = total[r][1] = -0.0;
        if (m - i >= together) {
            for (k = 0; k < n; k += S0_BLOCK_NUMBERS) {
                S0_REAL(s0_block_of_rows_)(row + k * number, down, b + k * number, 0, n - k < S0_BLOCK_NUMBERS ? n - k : S0_BLOCK_NUMBERS, some, together, parts);
                for (r = 0; r < together; r++)
                    for (q = 0; q < parts; q++)
                        total[r][q] += some[r][q];
            }
            r = together;
        } else {
            for (k = 0; k + together * S0_BLOCK_NUMBERS <= n; k += together * S0_BLOCK_NUMBERS) {
                S0_REAL(s0_block_of_rows_)(row + k * number, block, b + k * number, block, S0_BLOCK_NUMBERS, some, together, parts);
                for (r = 0; r < together; r++)
                    for (q = 0; q < parts; q++)
                        total[0][q] += some[r][q];
            }
            for (; k < n; k += S0_BLOCK_NUMBERS) {
                S0_REAL(s0_block_of_rows_)(row + k * number, 0, b + k * number, 0, n - k < S0_BLOCK_NUMBERS ? n - k : S0_BLOCK_NUMBERS, some, 1, parts);
                for (q = 0; q < parts; q++)
                    total[0][q] += some[0][q];
            }
            r = 1;
        }
        for (k = 0; k < r; k++)
            for (q = 0; q < parts; q++)
                ((S0_TYPE *)out)[(i + k) * parts + q] = (S0_TYPE)total[k][q];
    }
}

/* A factor for a vector of rows: the number, or the pair of a complex number. */
S0_INLINE s0_lanes S0_REAL(s0_factor_)(const char *from, const int parts)
{
    return parts == 1 ? *(const S0_TYPE *)from - (s0_lanes){0} : S0_REAL(S0_EACH_PAIR_)(from);
}

/* The accumulators of a block of `n` terms for `vectors` vectors of rows, whose columns are `across` bytes apart: `several` of them at a time.
 * Of the last vector, `rest` numbers exist. */
S0_INLINE void S0_REAL(s0_block_of_columns_)(const char *a, Py_ssize_t across, const char *b, Py_ssize_t n, Py_ssize_t rest, s0_lanes *sums,
                                           const int several, const int vectors, const int parts)
{
    const Py_ssize_t size = parts * sizeof(S0_TYPE), lanes = S0_SUMS / parts;
    s0_lanes sum[8][8][2], x, y;
    Py_ssize_t k, first;
    int g, v, q;
    for (first = 0; first < lanes; first += several) {
        S0_UNROLLED
        for (g = 0; g < several; g++)
            S0_UNROLLED
            for (v = 0; v < vectors; v++)
                S0_UNROLLED
                for (q = 0; q < parts; q++)
                    sum[g][v][q] = -(s0_lanes){0};
#define S0_ADD_COLUMN                                                                                                \
    x = S0_REAL(s0_factor_)(b + (k + g) * size, parts);                                                              \
    S0_UNROLLED                                                                                                      \
    for (v = 0; v < vectors; v++) {                                                                                  \
        y = S0_REAL(s0_up_to_)(a + (k + g) * across + v * S0_VECTOR, v < vectors - 1 ? S0_LANES : rest);             \
        sum[g][v][0] = S0_REAL(s0_plus_)(sum[g][v][0], y, x, parts);                                                 \
        if (parts == 2)                                                                                              \
            sum[g][v][1] = S0_REAL(s0_plus_)(sum[g][v][1], y, S0_REAL(S0_SWAP_PAIRS_)(x), parts);                    \
    }
        for (k = first; k + several <= n; k += lanes) {
            /* No processor foresees jumps of several columns. */
            if (several == 1)
                S0_UNROLLED
                for (v = 0; v < vectors; v += 64 / S0_VECTOR)
                    __builtin_prefetch(a + (k + 2 * lanes) * across + v * S0_VECTOR);
            if (several == 1)
                __builtin_prefetch(a + (k + 2 * lanes) * across + vectors * S0_VECTOR - 1);
            S0_UNROLLED
            for (g = 0; g < several; g++) {
                S0_ADD_COLUMN
            }
        }
        S0_UNROLLED
        for (g = 0; g < several; g++)
            if (k + g < n) {
                S0_ADD_COLUMN
            }
#undef S0_ADD_COLUMN
        S0_UNROLLED
        for (g = 0; g < several; g++)
            S0_UNROLLED
            for (v = 0; v < vectors; v++)
                S0_UNROLLED
                for (q = 0; q < parts; q++)
                    sums[((first + g) * vectors + v) * parts + q] = sum[g][v][q];
    }
}

/* Rows of `count` numbers in all, whose columns are `across` bytes apart, in `vectors` vectors. */
S0_INLINE void S0_REAL(s0_some_by_columns_)(const char *a, Py_ssize_t across, const char *b, char *out, Py_ssize_t count, Py_ssize_t n,
                                          const int several, const int vectors, const int parts)
{
    s0_lanes sums[S0_SUMS * 8];
    double total[8 * S0_LANES];
    Py_ssize_t i, k, deep, lanes;
    for (i = 0; i < count; i++)
        total[i] = -0.0;
    for (k = 0; k < n; k += deep) {
        const S0_TYPE *const same = (const S0_TYPE *)sums, *const other = same + S0_LANES;
        deep = n - k < S0_BLOCK_NUMBERS / parts ? n - k : S0_BLOCK_NUMBERS / parts;
        S0_REAL(s0_block_of_columns_)(a + k * across, across, b + k * parts * sizeof(S0_TYPE), deep, count - (vectors - 1) * S0_LANES, sums,
                                    several, vectors, parts);
        for (lanes = S0_SUMS / parts / 2; lanes > 0; lanes /= 2)
            for (i = 0; i < lanes * vectors * parts; i++)
                sums[i] += sums[lanes * vectors * parts + i];
        if (parts == 1)
            for (i = 0; i < count; i++)
                total[i] += same[i];
        else
            for (i = 0; i < count; i += 2) {
                const Py_ssize_t at = i / S0_LANES * 2 * S0_LANES + i % S0_LANES;
                total[i] += same[at] - same[at + 1];
                total[i + 1] += other[at] + other[at + 1];
            }
    }
    for (i = 0; i < count; i++)
        ((S0_TYPE *)out)[i] = (S0_TYPE)total[i];
}

/* `m` numbers of rows in all. Few rows have several accumulators in registers. */
S0_INLINE void S0_REAL(s0_by_columns_)(const char *a, Py_ssize_t across, const char *b, char *out, Py_ssize_t m, Py_ssize_t n, const int parts)
{
    Py_ssize_t count;
#define S0_SOME_COLUMNS(vectors)                                                                                     \
    if (vectors * parts <= S0_MOST_SUMS && m >= vectors * S0_LANES) {                                                \
        count = vectors * S0_LANES;                                                                                  \
        S0_REAL(s0_some_by_columns_)(a, across, b, out, vectors * S0_LANES, n, vectors * parts < 8 ? 8 / parts / vectors : 1, vectors, parts); \
    } else
    for (; m > 0; m -= count, a += count * sizeof(S0_TYPE), out += count * sizeof(S0_TYPE))
        S0_SOME_COLUMNS(8) S0_SOME_COLUMNS(6) S0_SOME_COLUMNS(4) S0_SOME_COLUMNS(2) S0_SOME_COLUMNS(1) {
            count = m;
            S0_REAL(s0_some_by_columns_)(a, across, b, out, m, n, 8 / parts, 1, parts);
        }
#undef S0_SOME_COLUMNS
}

/* Stacks of matrices with contiguous rows or contiguous columns, by contiguous vectors. */
S0_INLINE void S0_REAL(s0_by_vectors_)(const char *a, const Py_ssize_t *sa, const char *b, const Py_ssize_t *sb, char *out, Py_ssize_t count,
                                     Py_ssize_t m, Py_ssize_t n, const int parts)
{
    const Py_ssize_t size = parts * sizeof(S0_TYPE);
    for (; count > 0; count--, a += sa[0], b += sb[0], out += m * size)
        if (sa[2] == size || n == 1)
            S0_REAL(s0_by_rows_)(a, sa[1], b, out, m, n * parts, parts);
        else
            S0_REAL(s0_by_columns_)(a, sa[2], b, out, m * parts, n, parts);
}

#define S0_FOR_PARTS(numbers, parts)                                                                                                   \
    static int S0_REAL(s0_##numbers##vector_products_)(const char *a, const Py_ssize_t *sa, const char *b, const Py_ssize_t *sb,      \
                                                     char *out, Py_ssize_t count, Py_ssize_t m, Py_ssize_t n, Py_ssize_t p)           \
    {                                                                                                                                 \
        (void)p;                                                                                                                      \
        S0_REAL(s0_by_vectors_)(a, sa, b, sb, out, count, m, n, parts);                                                               \
        return 0;                                                                                                                     \
    }
S0_FOR_PARTS(, 1)
S0_FOR_PARTS(complex_, 2)

#undef S0_FOR_PARTS
#undef S0_BLOCK_NUMBERS
#undef S0_MOST_SUMS
#undef S0_SUMS
