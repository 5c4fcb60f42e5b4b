/* The functions of real_products.h for one dtype: S0_NAME, S0_TYPE, and the rows of a tile, S0_TALL_OF. */
#define S0_PASTE(x, y) x##y
#define S0_PASTED(x, y) S0_PASTE(x, y)
#define S0_REAL(x) S0_PASTED(x, S0_NAME)
#define s0_lanes S0_REAL(s0_lanes_)
#define s0_lanes_anywhere S0_REAL(s0_lanes_anywhere_)
#define S0_LANES ((Py_ssize_t)(S0_VECTOR / sizeof(S0_TYPE)))
#define S0_BROAD (3 * S0_LANES)

typedef S0_TYPE s0_lanes __attribute__((vector_size(S0_VECTOR)));
typedef S0_TYPE s0_lanes_anywhere __attribute__((vector_size(S0_VECTOR), aligned(sizeof(S0_TYPE)), may_alias));

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
 */
S0_INLINE void S0_REAL(s0_tile_of_)(const char *a, Py_ssize_t down, Py_ssize_t across, const char *b, Py_ssize_t line, char *out,
                                  Py_ssize_t pitch, Py_ssize_t width, Py_ssize_t n, int fresh, const int rows, const int vectors,
                                  const int masked)
{
    s0_lanes sum[8][8], part[8], x;
    const Py_ssize_t rest = width - (vectors - 1) * S0_LANES;
    int i, j;
    S0_UNROLLED
    for (i = 0; i < rows; i++)
        S0_UNROLLED
        for (j = 0; j < vectors; j++) {
            sum[i][j] = -(s0_lanes){0};
            __builtin_prefetch(out + i * pitch + j * S0_VECTOR);
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
            x = *(const S0_TYPE *)(a + i * down) - (s0_lanes){0};
            S0_UNROLLED
            for (j = 0; j < vectors; j++)
                sum[i][j] = S0_REAL(S0_FUSED_)(x, part[j], sum[i][j]);
        }
    }
    S0_UNROLLED
    for (i = 0; i < rows; i++, out += pitch) {
        S0_UNROLLED
        for (j = 0; j < vectors; j++) {
            char *to = out + j * S0_VECTOR;
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
    case 8 * r + v: S0_REAL(s0_tile_of_)(a, down, across, b, line, out, pitch, width, n, fresh, r, v, masked); break;
#define S0_TILE_CASES(r) S0_TILE_CASE(r, 1) S0_TILE_CASE(r, 2) S0_TILE_CASE(r, 3)
S0_INLINE void S0_REAL(s0_sized_tile_)(const char *a, Py_ssize_t down, Py_ssize_t across, const char *b, Py_ssize_t line, char *out,
                               Py_ssize_t pitch, Py_ssize_t width, Py_ssize_t n, int fresh, int rows, const int masked)
{
    switch (8 * rows + (int)((width + S0_LANES - 1) / S0_LANES)) {
#if S0_TALL_OF > 4
        S0_TILE_CASES(8)
#endif
        S0_TILE_CASES(4) S0_TILE_CASES(2) S0_TILE_CASES(1)
    }
}
static __attribute__((noinline)) void S0_REAL(s0_direct_tile_)(const char *a, Py_ssize_t down, Py_ssize_t across, const char *b,
                                                             Py_ssize_t line, char *out, Py_ssize_t pitch, Py_ssize_t width,
                                                             Py_ssize_t n, int fresh, int rows, int masked)
{
    if (masked)
        S0_REAL(s0_sized_tile_)(a, down, across, b, line, out, pitch, width, n, fresh, rows, 1);
    else
        S0_REAL(s0_sized_tile_)(a, down, across, b, line, out, pitch, width, n, fresh, rows, 0);
}
static __attribute__((noinline)) void S0_REAL(s0_packed_tile_)(const char *a, const char *b, char *out, Py_ssize_t pitch,
                                                             Py_ssize_t width, Py_ssize_t n, int fresh, int rows)
{
    const Py_ssize_t down = sizeof(S0_TYPE);
    switch (8 * rows + (int)((width + S0_LANES - 1) / S0_LANES)) {
#undef S0_TILE_CASE
#define S0_TILE_CASE(r, v)                                                                                          \
    case 8 * r + v:                                                                                                 \
        S0_REAL(s0_tile_of_)(a, down, r * down, b, v * S0_VECTOR, out, pitch, width, n, fresh, r, v, 0);              \
        break;
#if S0_TALL_OF > 4
        S0_TILE_CASES(8)
#endif
        S0_TILE_CASES(4) S0_TILE_CASES(2) S0_TILE_CASES(1)
    }
}

/* The rows of the tile that begins where `left` rows remain. */
S0_INLINE int S0_REAL(s0_height_)(Py_ssize_t left)
{
    return left >= S0_TALL_OF ? S0_TALL_OF : left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

/* `n` lines of `count` elements, `next` bytes apart and `stride` bytes from line to line, to lines of `width` elements, padded with zeros. */
static void S0_REAL(s0_pack_)(const char *from, Py_ssize_t next, Py_ssize_t stride, char *to, Py_ssize_t count, Py_ssize_t width,
                            Py_ssize_t n)
{
    const Py_ssize_t size = sizeof(S0_TYPE);
    Py_ssize_t i, k;
    if (count < width)
        memset(to, 0, n * width * size);
    if (stride == size && count > 1) {
        S0_REAL(S0_TRANSPOSE_)(from, next, to, width * size, count, n);
    } else if (next == size && count == S0_BROAD) {
        for (k = 0; k < n; k++, from += stride, to += S0_BROAD * size)
            memcpy(to, from, S0_BROAD * size);
    } else if (next == size && count == S0_TALL_OF && width == count) {
        for (k = 0; k < n; k++, from += stride, to += S0_TALL_OF * size)
            memcpy(to, from, S0_TALL_OF * size);
    } else {
        for (k = 0; k < n; k++, from += stride, to += width * size)
            for (i = 0; i < count; i++)
                ((S0_TYPE *)to)[i] = *(const S0_TYPE *)(from + i * next);
    }
}

/* The panel of the right matrix that begins at a column. */
static void S0_REAL(s0_pack_columns_)(const s0_panels *all, Py_ssize_t column, char *to)
{
    const Py_ssize_t count = all->p - column < S0_BROAD ? all->p - column : S0_BROAD;
    S0_REAL(s0_pack_)(all->right + column * all->right_strides[1], all->right_strides[1], all->right_strides[0], to, count,
                    (count + S0_LANES - 1) / S0_LANES * S0_LANES, all->n);
}

/* Units of packing: panels of the right matrix, and groups of rows of the left one. */
static void S0_REAL(s0_pack_panels_)(const s0_panels *all, Py_ssize_t first, Py_ssize_t last)
{
    const Py_ssize_t size = sizeof(S0_TYPE), panels = (all->p + S0_BROAD - 1) / S0_BROAD;
    char *left = all->memory + panels * S0_BROAD * all->n * size;
    Py_ssize_t row, stop;
    for (; first < last; first++) {
        if (first < panels) {
            S0_REAL(s0_pack_columns_)(all, first * S0_BROAD, all->memory + first * S0_BROAD * all->n * size);
            continue;
        }
        row = (first - panels) * S0_PANEL_ROWS;
        stop = row + S0_PANEL_ROWS < all->m ? row + S0_PANEL_ROWS : all->m;
        for (int rows; row < stop; row += rows) {
            rows = S0_REAL(s0_height_)(all->m - row);
            S0_REAL(s0_pack_)(all->left + row * all->left_strides[0], all->left_strides[0], all->left_strides[1],
                            left + row * all->n * size, rows, rows, all->n);
        }
    }
}

/* Units of a result: S0_PANEL_ROWS rows by S0_PANELS_TOGETHER panels. The rows stay in the L2 cache, a panel in the L1 cache. */
static void S0_REAL(s0_multiply_panels_)(const s0_panels *all, Py_ssize_t first, Py_ssize_t last)
{
    const Py_ssize_t size = sizeof(S0_TYPE), panels = (all->p + S0_BROAD - 1) / S0_BROAD;
    const Py_ssize_t groups = (panels + S0_PANELS_TOGETHER - 1) / S0_PANELS_TOGETHER;
    const char *left = all->memory + panels * S0_BROAD * all->n * size;
    for (; first < last; first++) {
        const Py_ssize_t row = first / groups * S0_PANEL_ROWS, column = first % groups * S0_PANELS_TOGETHER * S0_BROAD;
        const Py_ssize_t bottom = row + S0_PANEL_ROWS < all->m ? row + S0_PANEL_ROWS : all->m;
        const Py_ssize_t edge = column + S0_PANELS_TOGETHER * S0_BROAD < all->p ? column + S0_PANELS_TOGETHER * S0_BROAD : all->p;
        for (Py_ssize_t j = column; j < edge; j += S0_BROAD) {
            const Py_ssize_t width = edge - j < S0_BROAD ? edge - j : S0_BROAD;
            int rows;
            for (Py_ssize_t i = row; i < bottom && i + all->below < j + width; i += rows) {
                rows = S0_REAL(s0_height_)(all->m - i);
                S0_REAL(s0_packed_tile_)(left + i * all->n * size, all->memory + j * all->n * size, all->out + i * all->pitch + j * size,
                                       all->pitch, width, all->n, all->fresh, rows);
            }
        }
    }
}

/* Products without copies. Right matrices are packed, a panel at a time, only if their rows are not contiguous, or lie a multiple of
 * 1024 bytes apart, which would fill few sets of the L1 cache. */
static int S0_REAL(s0_direct_products_)(const char *a, const Py_ssize_t *sa, const char *b, const Py_ssize_t *sb, char *out, Py_ssize_t count,
                             Py_ssize_t m, Py_ssize_t n, Py_ssize_t p)
{
    const Py_ssize_t size = sizeof(S0_TYPE), most = n < S0_SUM_TERMS ? n : S0_SUM_TERMS;
    const int packs = p > 1 && (sb[2] != size || (sb[1] % 1024 == 0 && m >= 32 && n >= 32));
    char few[S0_FEW_BYTES] __attribute__((aligned(S0_VECTOR)));
    void *memory;
    char *panel = s0_block_memory(packs ? most * S0_BROAD * size : 0, few, &memory);
    s0_panels all = {.right_strides = {sb[1], sb[2]}, .p = p};
    Py_ssize_t i, j, k, width, line;
    int rows;
    /* For one column, compute the transposed product: its vectors are along the rows of the left matrix. */
    if (p == 1 && m > 1) {
        const Py_ssize_t left[3] = {sb[0], sb[2], sb[1]}, right[3] = {sa[0], sa[2], sa[1]};
        return S0_REAL(s0_direct_products_)(b, left, a, right, out, count, 1, n, m);
    }
    if (panel == NULL)
        return -1;
    for (; count > 0; count--, a += sa[0], b += sb[0], out += m * p * size)
        for (k = 0; k < n; k += S0_SUM_TERMS) {
            all.n = n - k < S0_SUM_TERMS ? n - k : S0_SUM_TERMS;
            all.right = b + k * sb[1];
            for (j = 0; j < p; j += S0_BROAD) {
                const char *right = all.right + j * size;
                line = sb[1];
                /* One row leaves registers for more vectors. */
                for (; m == 1 && !packs && p - j >= 8 * S0_LANES; j += 8 * S0_LANES, right += 8 * S0_VECTOR)
                    S0_REAL(s0_tile_of_)(a + k * sa[2], 0, sa[2], right, line, out + j * size, 0, 8 * S0_LANES, all.n, k == 0, 1, 8, 0);
                if (j == p)
                    break;
                width = p - j < S0_BROAD ? p - j : S0_BROAD;
                if (packs) {
                    S0_REAL(s0_pack_columns_)(&all, j, panel);
                    right = panel;
                    line = (width + S0_LANES - 1) / S0_LANES * S0_VECTOR;
                }
                for (i = 0; i < m; i += rows) {
                    rows = S0_REAL(s0_height_)(m - i);
                    S0_REAL(s0_direct_tile_)(a + i * sa[1] + k * sa[2], sa[1], sa[2], right, line, out + (i * p + j) * size, p * size, width,
                                           all.n, k == 0, rows, !packs && width < S0_BROAD);
                }
            }
        }
    free(memory);
    return 0;
}

#undef S0_TILE_CASE
#undef S0_TILE_CASES
#undef S0_BROAD
#undef S0_LANES
#undef s0_lanes
#undef s0_lanes_anywhere
#undef S0_REAL
#undef S0_PASTED
#undef S0_PASTE
#undef S0_NAME
#undef S0_TYPE
