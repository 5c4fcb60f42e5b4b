/* Sorting of booleans and of lanes with few elements, which need no words or few steps. For sorting.h. */
#ifndef STRIDE0_SORT_SHORT_H
#define STRIDE0_SORT_SHORT_H

/* --- booleans: every byte except 0 is true, because memory of other libraries may hold other values than 1 */

static void s0_sort_booleans(const s0_lane *lane)
{
    const char *from = lane->from;
    const Py_ssize_t n = lane->n, stride = lane->stride;
    Py_ssize_t i, count = 0, first;
    if (stride == 1)
        for (i = 0; i < n; i++)
            count += from[i] != 0;
    else
        for (i = 0; i < n; i++)
            count += from[i * stride] != 0;
    first = lane->mask ? count : n - count;
    memset(lane->out, lane->mask != 0, (size_t)first);
    memset(lane->out + first, lane->mask == 0, (size_t)(n - first));
}

/* One pass for the value that comes first, one pass for the other value. If another thread writes to the lane meanwhile, the
 * passes may find more or fewer elements. */
static void s0_argsort_booleans(const s0_lane *lane)
{
    int64_t *out = (int64_t *)lane->out;
    Py_ssize_t i, k = 0;
    int pass;
    for (pass = 0; pass < 2; pass++)
        for (i = 0; i < lane->n && k < lane->n; i++) {
            out[k] = i;
            k += (lane->from[i * lane->stride] != 0) == (pass ^ (lane->mask != 0));
        }
    for (; k < lane->n; k++)
        out[k] = 0;
}

/* --- a few elements */

/* Sort a few elements by one network, without the statistics of longer lanes; 0 if there is a NaN or a -0.0, whose bits must be
 * kept, or if the dtype is not supported. */
#define S0_SORT_FEW(bits, k)                                                                                         \
    S0_INLINE int s0_sort_few_##bits##_##k(const s0_lane *lane, const Py_ssize_t stride)                             \
    {                                                                                                                \
        const int##bits##_t most = INT##bits##_MAX, mask = (int##bits##_t)lane->mask;                                \
        const int##bits##_t infinite = (int##bits##_t)(bits == 64 ? 0x7FF0000000000000 : 0x7F800000);                \
        const Py_ssize_t n = lane->n;                                                                                \
        int##bits##_t words[16 * S0_VECTOR * 8 / bits], *out = (int##bits##_t *)lane->out, special = 0;              \
        for (Py_ssize_t i = 0; i < n; i++) {                                                                         \
            int##bits##_t word = *(const int##bits##_t *)(lane->from + i * stride);                                  \
            if (k == S0_FLOATING) {                                                                                  \
                special |= ((word & most) > infinite) | (word == ~most);                                             \
                word ^= (word >> (bits - 1)) & most;                                                                 \
            }                                                                                                        \
            words[i] = word ^ (k == S0_UNSIGNED ? ~most : 0) ^ mask;                                                 \
        }                                                                                                            \
        if (special)                                                                                                 \
            return 0;                                                                                                \
        s0_order_few##bits(words, words, n);                                                                         \
        for (Py_ssize_t i = 0; i < n; i++) {                                                                         \
            int##bits##_t word = words[i] ^ mask;                                                                    \
            if (k == S0_FLOATING)                                                                                    \
                word ^= (word >> (bits - 1)) & most;                                                                 \
            out[i] = word ^ (k == S0_UNSIGNED ? ~most : 0);                                                          \
        }                                                                                                            \
        return 1;                                                                                                    \
    }
S0_SORT_FEW(32, S0_FLOATING)
S0_SORT_FEW(32, S0_SIGNED)
S0_SORT_FEW(32, S0_UNSIGNED)
S0_SORT_FEW(64, S0_FLOATING)
S0_SORT_FEW(64, S0_SIGNED)
S0_SORT_FEW(64, S0_UNSIGNED)

#define S0_SORT_FEW_OF(bits, k)                                                                                      \
    case k:                                                                                                          \
        return lane->stride == bits / 8 ? s0_sort_few_##bits##_##k(lane, bits / 8)                                   \
                                        : s0_sort_few_##bits##_##k(lane, lane->stride);
static int s0_sort_few(const s0_lane *lane)
{
    /* From more rows on, packing words of 64 bits into 32 bits is faster. */
    const int rows = lane->width == 4 ? 16 : S0_VECTOR == 64 ? 8 : 4;
    if (lane->n * lane->width > rows * S0_VECTOR || lane->indices)
        return 0;
    if (lane->width == 8)
        switch (lane->kind) {
            S0_SORT_FEW_OF(64, S0_FLOATING)
            S0_SORT_FEW_OF(64, S0_SIGNED)
            S0_SORT_FEW_OF(64, S0_UNSIGNED)
        }
    else if (lane->width == 4)
        switch (lane->kind) {
            S0_SORT_FEW_OF(32, S0_FLOATING)
            S0_SORT_FEW_OF(32, S0_SIGNED)
            S0_SORT_FEW_OF(32, S0_UNSIGNED)
        }
    return 0;
}

/* The indices that sort a lane of so few elements that insertion is fastest. */
static int s0_argsort_few(const s0_lane *lane)
{
    enum { few = 12 };
    int64_t words[few], *const out = (int64_t *)lane->out;
    const int64_t top = s0_top_of(lane);
    if (!lane->indices || lane->n > few)
        return 0;
    for (Py_ssize_t i = 0, j; i < lane->n; i++) {
        const int64_t raw = s0_raw_at(lane->from + i * lane->stride, lane->width, lane->kind);
        const int64_t word = s0_word_of(raw, lane->width, lane->kind, lane->mask, top);
        for (j = i; j > 0 && words[j - 1] > word; j--)
            words[j] = words[j - 1], out[j] = out[j - 1];
        words[j] = word, out[j] = i;
    }
    return 1;
}

#endif
