/* The functions of real_products.h for one dtype: S0_NAME, S0_TYPE, and the rows of a tile, S0_TALL_OF. */
#define S0_PASTE(x, y) x##y
#define S0_PASTED(x, y) S0_PASTE(x, y)
#define S0_REAL(x) S0_PASTED(x, S0_NAME)
#define s0_lanes S0_REAL(s0_lanes_)
#define s0_lanes_anywhere S0_REAL(s0_lanes_anywhere_)
#define s0_lane_bits S0_REAL(s0_lane_bits_)
#define S0_LANES ((Py_ssize_t)(S0_VECTOR / sizeof(S0_TYPE)))
#define S0_BROAD (3 * S0_LANES)

typedef S0_TYPE s0_lanes __attribute__((vector_size(S0_VECTOR)));
typedef S0_TYPE s0_lanes_anywhere __attribute__((vector_size(S0_VECTOR), aligned(sizeof(S0_TYPE)), may_alias));

typedef uint64_t s0_lane_bits __attribute__((vector_size(S0_VECTOR)));

/* Complex numbers times i: (-imaginary, real). */
S0_INLINE s0_lanes S0_REAL(s0_turned_)(s0_lanes x)
{
    static const S0_TYPE signs[16] __attribute__((aligned(S0_VECTOR))) = {-0.0, 0, -0.0, 0, -0.0, 0, -0.0, 0, -0.0, 0, -0.0, 0, -0.0, 0, -0.0, 0};
    return (s0_lanes)((s0_lane_bits)S0_REAL(S0_SWAP_PAIRS_)(x) ^ *(const s0_lane_bits *)signs);
}

/* The first `count` elements of a vector, at least one and at most all. */
S0_INLINE s0_lanes S0_REAL(s0_some_)(const char *from, Py_ssize_t count)
{
#if S0_VECTOR > 16
    return (s0_lanes)S0_REAL(S0_FIRST_)((const S0_TYPE *)from, count);
#else
    s0_lanes x = {0};
    memcpy(&x, from, count * sizeof(S0_TYPE));
    return x;
#endif
}

/*
 * A tile of `rows` rows and `vectors` vectors of columns, of which `width` columns exist. The left matrix is read an element at a
 * time: `down` bytes from row to row, `across` bytes from term to term. The right matrix is read in vectors, `line` bytes from
 * term to term. If `masked`, the last vector is read only as far as columns exist. The sums of `n` terms are stored at `out` if
 * `fresh`, and added to the elements at `out` otherwise.
 *
 * Elements have one part, or two: the real numbers of a complex one. Each part of a left element counts as a row, each part of a right
 * element as a column. From the sums over the real and over the imaginary parts of a complex row follows its row of the result.
 */
S0_INLINE void S0_REAL(s0_tile_of_)(const char *a, Py_ssize_t down, Py_ssize_t across, const char *b, Py_ssize_t line, char *out,
                                  Py_ssize_t pitch, Py_ssize_t width, Py_ssize_t n, int fresh, const int rows, const int vectors,
                                  const int masked, const int parts)
{
    s0_lanes sum[8][8], part[8], x;
    const Py_ssize_t rest = width - (vectors - 1) * S0_LANES;
    int i, j;
    S0_UNROLLED
    for (i = 0; i < rows; i++)
        S0_UNROLLED
        for (j = 0; j < vectors; j++) {
            sum[i][j] = -(s0_lanes){0};
            __builtin_prefetch(out + i / parts * pitch + j * S0_VECTOR);
        }
    for (; n > 0; n--, a += across, b += line) {
        S0_UNROLLED
        for (j = 0; j < vectors; j++)
            part[j] = masked && j == vectors - 1 ? S0_REAL(s0_some_)(b + j * S0_VECTOR, rest)
                                                 : (s0_lanes)*(const s0_lanes_anywhere *)(b + j * S0_VECTOR);
        if (!masked)
            __builtin_prefetch(b + 16 * vectors * S0_VECTOR);
        S0_UNROLLED
        for (i = 0; i < rows; i++) {
            x = ((const S0_TYPE *)(a + i / parts * down))[i % parts] - (s0_lanes){0};
            S0_UNROLLED
            for (j = 0; j < vectors; j++)
                sum[i][j] = S0_REAL(S0_FUSED_)(x, part[j], sum[i][j]);
        }
    }
    S0_UNROLLED
    for (i = 0; i < rows; i += parts, out += pitch) {
        S0_UNROLLED
        for (j = 0; j < vectors; j++) {
            char *to = out + j * S0_VECTOR;
            if (parts == 2)
                sum[i][j] += S0_REAL(s0_turned_)(sum[i + 1][j]);
            if (j < vectors - 1 || rest == S0_LANES) {
                *(s0_lanes_anywhere *)to = fresh ? sum[i][j] : (s0_lanes)*(s0_lanes_anywhere *)to + sum[i][j];
            } else {
                x = fresh ? sum[i][j] : S0_REAL(s0_some_)(to, rest) + sum[i][j];
                S0_REAL(S0_STORE_FIRST_)((S0_TYPE *)to, x, rest);
            }
        }
    }
}

/* A tile by the function of its size. */
#define S0_TILE_CASE(r, v) \
    case 8 * r + v: S0_REAL(s0_tile_of_)(a, down, across, b, line, out, pitch, width, n, fresh, r, v, masked, parts); break;
#define S0_TILE_CASES(r) S0_TILE_CASE(r, 1) S0_TILE_CASE(r, 2) S0_TILE_CASE(r, 3)
S0_INLINE void S0_REAL(s0_sized_tile_)(const char *a, Py_ssize_t down, Py_ssize_t across, const char *b, Py_ssize_t line, char *out,
                               Py_ssize_t pitch, Py_ssize_t width, Py_ssize_t n, int fresh, int rows, const int masked, const int parts)
{
    const int size = 8 * rows + (int)((width + S0_LANES - 1) / S0_LANES);
    if (parts == 1)
        switch (size) {
            S0_TILE_CASES(1)
        }
    switch (size) {
#if S0_TALL_OF > 4
        S0_TILE_CASES(8)
#endif
        S0_TILE_CASES(4) S0_TILE_CASES(2)
    }
}
#undef S0_TILE_CASES
#undef S0_TILE_CASE
static __attribute__((noinline)) void S0_REAL(s0_direct_tile_)(const char *a, Py_ssize_t down, Py_ssize_t across, const char *b,
                                                             Py_ssize_t line, char *out, Py_ssize_t pitch, Py_ssize_t width,
                                                             Py_ssize_t n, int fresh, int rows, int masked, int parts)
{
    switch (2 * parts + masked) {
        case 2: S0_REAL(s0_sized_tile_)(a, down, across, b, line, out, pitch, width, n, fresh, rows, 0, 1); break;
        case 3: S0_REAL(s0_sized_tile_)(a, down, across, b, line, out, pitch, width, n, fresh, rows, 1, 1); break;
        case 4: S0_REAL(s0_sized_tile_)(a, down, across, b, line, out, pitch, width, n, fresh, rows, 0, 2); break;
        case 5: S0_REAL(s0_sized_tile_)(a, down, across, b, line, out, pitch, width, n, fresh, rows, 1, 2); break;
    }
}
static __attribute__((noinline)) void S0_REAL(s0_packed_tile_)(const char *a, const char *b, char *out, Py_ssize_t pitch,
                                                             Py_ssize_t width, Py_ssize_t n, int fresh, int rows, int parts)
{
    const Py_ssize_t size = sizeof(S0_TYPE);
    switch (32 * parts + 4 * rows + (int)((width + S0_LANES - 1) / S0_LANES)) {
#define S0_TILE_CASE(r, v, parts)                                                                                   \
    case 32 * parts + 4 * r + v:                                                                                    \
        S0_REAL(s0_tile_of_)(a, parts * size, r * size, b, v * S0_VECTOR, out, pitch, width, n, fresh, r, v, 0, parts); \
        break;
#define S0_TILE_CASES(r, parts) S0_TILE_CASE(r, 1, parts) S0_TILE_CASE(r, 2, parts) S0_TILE_CASE(r, 3, parts)
#if S0_TALL_OF > 4
        S0_TILE_CASES(8, 1) S0_TILE_CASES(8, 2)
#endif
        S0_TILE_CASES(4, 1) S0_TILE_CASES(2, 1) S0_TILE_CASES(1, 1) S0_TILE_CASES(4, 2) S0_TILE_CASES(2, 2)
    }
}
#undef S0_TILE_CASES
#undef S0_TILE_CASE

/* The rows of the tile that begins where `left` rows of elements remain. Each part of an element counts as a row. */
S0_INLINE int S0_REAL(s0_height_)(Py_ssize_t left, int parts)
{
    left *= parts;
    return left >= S0_TALL_OF ? S0_TALL_OF : left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

/* `n` lines of `count` elements, `next` bytes apart and `stride` bytes from line to line, to lines of `width` numbers, padded with zeros. */
static void S0_REAL(s0_pack_)(const char *from, Py_ssize_t next, Py_ssize_t stride, char *to, Py_ssize_t count, Py_ssize_t width,
                            Py_ssize_t n, int parts)
{
    const Py_ssize_t size = parts * sizeof(S0_TYPE), line = width * sizeof(S0_TYPE);
    Py_ssize_t i, k;
    if (count * size < line)
        memset(to, 0, n * line);
    if (stride == size && count > 1) {
        if (parts == 1)
            S0_REAL(S0_TRANSPOSE_)(from, next, to, line, count, n);
        else
            S0_REAL(S0_TRANSPOSE_COMPLEX_)(from, next, to, line, count, n);
    } else if (next == size && count * parts == S0_BROAD) {
        for (k = 0; k < n; k++, from += stride, to += S0_BROAD * sizeof(S0_TYPE))
            memcpy(to, from, S0_BROAD * sizeof(S0_TYPE));
    } else if (next == size && count * parts == S0_TALL_OF && width == S0_TALL_OF) {
        for (k = 0; k < n; k++, from += stride, to += S0_TALL_OF * sizeof(S0_TYPE))
            memcpy(to, from, S0_TALL_OF * sizeof(S0_TYPE));
    } else if (parts == 1) {
        for (k = 0; k < n; k++, from += stride, to += line)
            for (i = 0; i < count; i++)
                ((S0_TYPE *)to)[i] = *(const S0_TYPE *)(from + i * next);
    } else {
        for (k = 0; k < n; k++, from += stride, to += line)
            for (i = 0; i < count; i++)
                memcpy(to + i * 2 * sizeof(S0_TYPE), from + i * next, 2 * sizeof(S0_TYPE));
    }
}

/* The panel of the right matrix that begins at a column. */
static void S0_REAL(s0_pack_columns_)(const s0_panels *all, Py_ssize_t column, char *to, int parts)
{
    const Py_ssize_t count = all->p - column < S0_BROAD ? all->p - column : S0_BROAD;
    S0_REAL(s0_pack_)(all->right + column / parts * all->right_strides[1], all->right_strides[1], all->right_strides[0], to, count / parts,
                    (count + S0_LANES - 1) / S0_LANES * S0_LANES, all->n, parts);
}

/* Units of packing: panels of the right matrix, and groups of rows of the left one. */
S0_INLINE void S0_REAL(s0_pack_units_)(const s0_panels *all, Py_ssize_t first, Py_ssize_t last, const int parts)
{
    const Py_ssize_t line = all->n * sizeof(S0_TYPE), panels = (all->p + S0_BROAD - 1) / S0_BROAD, group = S0_PANEL_ROWS / parts;
    char *left = all->memory + panels * S0_BROAD * line;
    Py_ssize_t row, stop;
    for (; first < last; first++) {
        if (first < panels) {
            S0_REAL(s0_pack_columns_)(all, first * S0_BROAD, all->memory + first * S0_BROAD * line, parts);
            continue;
        }
        row = (first - panels) * group;
        stop = row + group < all->m ? row + group : all->m;
        for (int rows; row < stop; row += rows / parts) {
            rows = S0_REAL(s0_height_)(all->m - row, parts);
            S0_REAL(s0_pack_)(all->left + row * all->left_strides[0], all->left_strides[0], all->left_strides[1],
                            left + row * parts * line, rows / parts, rows, all->n, parts);
            if (all->negates) {
                /* Real and imaginary parts alternate. */
                const S0_TYPE signs[2] = {all->negates & S0_NEGATES_REAL ? -1 : 1, all->negates & S0_NEGATES_IMAGINARY ? -1 : 1};
                for (Py_ssize_t k = row * parts * all->n; k < (row * parts + rows) * all->n; k++)
                    ((S0_TYPE *)left)[k] *= signs[parts == 2 ? k % 2 : 0];
            }
        }
    }
}

/* Units of a result: S0_PANEL_ROWS rows by S0_PANELS_TOGETHER panels. The rows stay in the L2 cache, a panel in the L1 cache. */
S0_INLINE void S0_REAL(s0_multiply_units_)(const s0_panels *all, Py_ssize_t first, Py_ssize_t last, const int parts)
{
    const Py_ssize_t size = sizeof(S0_TYPE), line = all->n * size, panels = (all->p + S0_BROAD - 1) / S0_BROAD;
    const Py_ssize_t groups = (panels + S0_PANELS_TOGETHER - 1) / S0_PANELS_TOGETHER, group = S0_PANEL_ROWS / parts;
    const char *left = all->memory + panels * S0_BROAD * line;
    for (; first < last; first++) {
        const Py_ssize_t row = first / groups * group, column = first % groups * S0_PANELS_TOGETHER * S0_BROAD;
        const Py_ssize_t bottom = row + group < all->m ? row + group : all->m;
        const Py_ssize_t edge = column + S0_PANELS_TOGETHER * S0_BROAD < all->p ? column + S0_PANELS_TOGETHER * S0_BROAD : all->p;
        for (Py_ssize_t j = column; j < edge; j += S0_BROAD) {
            const Py_ssize_t width = edge - j < S0_BROAD ? edge - j : S0_BROAD, lanes = (width + S0_LANES - 1) / S0_LANES * S0_LANES;
            int rows;
            for (Py_ssize_t i = row; i < bottom && i * parts + all->below < j + width; i += rows / parts) {
                rows = S0_REAL(s0_height_)(all->m - i, parts);
                for (Py_ssize_t k = 0; k < all->n; k += all->terms)
                    S0_REAL(s0_packed_tile_)(left + i * parts * line + k * rows * size, all->memory + j * line + k * lanes * size,
                                           all->out + i * all->pitch + j * size, all->pitch, width,
                                           all->n - k < all->terms ? all->n - k : all->terms, all->fresh && k == 0, rows, parts);
            }
        }
    }
}

/* Products without copies. Right matrices are packed, a panel at a time, only if their rows are not contiguous, or lie a multiple of
 * 1024 bytes apart, which would fill few sets of the L1 cache. */
S0_INLINE int S0_REAL(s0_direct_)(const char *a, const Py_ssize_t *sa, const char *b, const Py_ssize_t *sb, char *out, Py_ssize_t count,
                                Py_ssize_t m, Py_ssize_t n, Py_ssize_t p, Py_ssize_t pitch, const int parts)
{
    const Py_ssize_t size = sizeof(S0_TYPE), most = n < S0_SUM_TERMS ? n : S0_SUM_TERMS, numbers = p * parts;
    const int packs = p > 1 && (sb[2] != size * parts || (sb[1] % 1024 == 0 && m >= 32 && n >= 32));
    char few[S0_FEW_BYTES] __attribute__((aligned(S0_VECTOR)));
    void *memory;
    char *panel = s0_block_memory(packs ? most * S0_BROAD * size : 0, few, &memory);
    s0_panels all = {.right_strides = {sb[1], sb[2]}, .p = numbers};
    Py_ssize_t i, j, k, width, line;
    int rows;
    if (panel == NULL)
        return -1;
    for (; count > 0; count--, a += sa[0], b += sb[0], out += m * pitch)
        for (k = 0; k < n; k += S0_SUM_TERMS) {
            all.n = n - k < S0_SUM_TERMS ? n - k : S0_SUM_TERMS;
            all.right = b + k * sb[1];
            for (j = 0; j < numbers; j += S0_BROAD) {
                const char *right = all.right + j * size;
                line = sb[1];
                /* One row leaves registers for more vectors. */
                for (; parts * m == 1 && !packs && p - j >= 8 * S0_LANES; j += 8 * S0_LANES, right += 8 * S0_VECTOR)
                    S0_REAL(s0_tile_of_)(a + k * sa[2], 0, sa[2], right, line, out + j * size, 0, 8 * S0_LANES, all.n, k == 0, 1, 8, 0, 1);
                if (j == numbers)
                    break;
                width = numbers - j < S0_BROAD ? numbers - j : S0_BROAD;
                if (packs) {
                    S0_REAL(s0_pack_columns_)(&all, j, panel, parts);
                    right = panel;
                    line = (width + S0_LANES - 1) / S0_LANES * S0_VECTOR;
                }
                for (i = 0; i < m; i += rows / parts) {
                    rows = S0_REAL(s0_height_)(m - i, parts);
                    S0_REAL(s0_direct_tile_)(a + i * sa[1] + k * sa[2], sa[1], sa[2], right, line, out + i * pitch + j * size,
                                           pitch, width, all.n, k == 0, rows, !packs && width < S0_BROAD, parts);
                }
            }
        }
    free(memory);
    return 0;
}

/* Whether matrices are tiny, and in C order. */
S0_INLINE int S0_REAL(s0_are_tiny_)(const Py_ssize_t *sa, const Py_ssize_t *sb, Py_ssize_t m, Py_ssize_t n, Py_ssize_t p)
{
    const Py_ssize_t size = sizeof(S0_TYPE);
    return n < S0_SHALLOW && p <= S0_NARROW && m <= S0_SIDE && m * n <= S0_SIDE && sa[2] == size && (sa[1] == n * size || m == 1) &&
           (sb[2] == size || p == 1) && sb[1] == p * size;
}

#define S0_FOR_PARTS(numbers, parts)                                                                                                  \
    static void S0_REAL(s0_pack_##numbers##panels_)(const s0_panels *all, Py_ssize_t first, Py_ssize_t last)                          \
    {                                                                                                                                 \
        S0_REAL(s0_pack_units_)(all, first, last, parts);                                                                             \
    }                                                                                                                                 \
    static void S0_REAL(s0_multiply_##numbers##panels_)(const s0_panels *all, Py_ssize_t first, Py_ssize_t last)                      \
    {                                                                                                                                 \
        S0_REAL(s0_multiply_units_)(all, first, last, parts);                                                                         \
    }                                                                                                                                 \
    static int S0_REAL(s0_direct_##numbers##products_)(const char *a, const Py_ssize_t *sa, const char *b, const Py_ssize_t *sb,      \
                                                     char *out, Py_ssize_t count, Py_ssize_t m, Py_ssize_t n, Py_ssize_t p,           \
                                                     Py_ssize_t pitch)                                                                \
    {                                                                                                                                 \
        const Py_ssize_t size = sizeof(S0_TYPE), left[3] = {sb[0], sb[2], sb[1]}, right[3] = {sa[0], sa[2], sa[1]};                   \
        if (parts == 1 && pitch == p * size && S0_REAL(s0_are_tiny_)(sa, sb, m, n, p)) {                                                                 \
            S0_REAL(s0_tiny_fused_)((const S0_TYPE *)a, sa[0] / size, (const S0_TYPE *)b, sb[0] / size, (S0_TYPE *)out, count, (int)m,      \
                              (int)n, (int)p);                                                                                        \
            return 0;                                                                                                                 \
        }                                                                                                                             \
        /* For one column, compute the transposed product: its vectors are along the rows of the left matrix. */                      \
        return p == 1 && m > 1 && pitch == parts * size ? S0_REAL(s0_direct_)(b, left, a, right, out, count, 1, n, m, m * pitch, parts) \
                                                        : S0_REAL(s0_direct_)(a, sa, b, sb, out, count, m, n, p, pitch, parts);       \
    }
S0_FOR_PARTS(, 1)
S0_FOR_PARTS(complex_, 2)

#undef S0_FOR_PARTS
#undef S0_BROAD

#include "vector_products.h"

#undef S0_LANES
#undef s0_lane_bits
#undef s0_lanes
#undef s0_lanes_anywhere
#undef S0_REAL
#undef S0_PASTED
#undef S0_PASTE
#undef S0_NAME
#undef S0_TYPE
