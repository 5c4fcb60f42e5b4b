/* Sorting of several lanes side by side, one lane of the array in each lane of the vectors. sort_words.h includes this file.
 *
 * The lanes are the columns of a matrix whose rows are vectors. Batcher's bitonic merges sort the columns: blocks of 16 rows in
 * registers, then runs that are twice as long each time. All exchanges put the smaller words into the upper row, so rows
 * beyond the last one, which would hold the largest words, need not exist. */

/* Exchanges between two sorted runs of `length` rows at x, which has n rows; this leaves bitonic blocks of 16 rows. */
static void S0_NAMED(s0_merge_rows)(s0_lanes *x, Py_ssize_t length, Py_ssize_t n)
{
    Py_ssize_t i, half = length / 2, distance;
    if (length == 16) {
        for (i = 32 - n > 0 ? 32 - n : 0; i < 16; i++) {
            s0_lanes v[2] = {x[i], x[31 - i]};
            S0_EXCHANGE(0, 1)
            x[i] = v[0], x[31 - i] = v[1];
        }
        return;
    }
    /* Two exchanges of each row together, as long as two remain. */
    for (i = 0; i < half; i++) {
        const Py_ssize_t last = 2 * length - 1 - i, third = last - half;
        s0_lanes v[4] = {x[i], x[i + half]};
        if (last < n) {
            v[2] = x[third], v[3] = x[last];
            S0_EXCHANGE(0, 3) S0_EXCHANGE(1, 2) S0_EXCHANGE(0, 1) S0_EXCHANGE(2, 3)
            x[third] = v[2], x[last] = v[3];
        } else if (third < n) {
            v[2] = x[third];
            S0_EXCHANGE(1, 2) S0_EXCHANGE(0, 1)
            x[third] = v[2];
        } else {
            S0_EXCHANGE(0, 1)
        }
        x[i] = v[0], x[i + half] = v[1];
    }
    for (distance = half / 2; distance >= 32; distance /= 4) {
        const Py_ssize_t near = distance / 2;
        for (Py_ssize_t first = 0; first < n; first += 2 * distance)
            for (i = first; i < first + near && i + near < n; i++) {
                s0_lanes v[4] = {x[i], x[i + near]};
                if (i + distance + near < n) {
                    v[2] = x[i + distance], v[3] = x[i + distance + near];
                    S0_EXCHANGE(0, 2) S0_EXCHANGE(1, 3) S0_EXCHANGE(0, 1) S0_EXCHANGE(2, 3)
                    x[i + distance] = v[2], x[i + distance + near] = v[3];
                } else if (i + distance < n) {
                    v[2] = x[i + distance];
                    S0_EXCHANGE(0, 2) S0_EXCHANGE(0, 1)
                    x[i + distance] = v[2];
                } else {
                    S0_EXCHANGE(0, 1)
                }
                x[i] = v[0], x[i + near] = v[1];
            }
    }
    if (distance == 16)
        for (Py_ssize_t first = 0; first < n; first += 32)
            for (i = first; i < first + 16 && i + 16 < n; i++) {
                s0_lanes v[2] = {x[i], x[i + 16]};
                S0_EXCHANGE(0, 1)
                x[i] = v[0], x[i + 16] = v[1];
            }
}

S0_INLINE void S0_NAMED(s0_order_block)(s0_lanes *x, const unsigned rows, const int merge)
{
    s0_lanes v[16];
    S0_FOR_ALL(rows) v[k] = x[k];
    if (merge)
        S0_NAMED(s0_merge_columns)(v, rows);
    else
        S0_NAMED(s0_sort_columns)(v, rows);
    S0_FOR_ALL(rows) x[k] = v[k];
}

/* Sort each column of n rows; n is 4, 8 or a multiple of 16. */
static void S0_NAMED(s0_order_aside)(void *columns, Py_ssize_t n)
{
    s0_lanes *const x = (s0_lanes *)columns;
    Py_ssize_t i, length;
    if (n == 4)
        S0_NAMED(s0_order_block)(x, 4, 0);
    else if (n == 8)
        S0_NAMED(s0_order_block)(x, 8, 0);
    for (i = 0; i + 16 <= n; i += 16)
        S0_NAMED(s0_order_block)(x + i, 16, 0);
    for (length = 16; length < n; length *= 2)
        for (Py_ssize_t first = 0; first + length < n; first += 2 * length) {
            const Py_ssize_t rows = n - first < 2 * length ? n - first : 2 * length;
            S0_NAMED(s0_merge_rows)(x + first, length, rows);
            for (i = 0; i < rows; i += 16)
                S0_NAMED(s0_order_block)(x + first + i, 16, 1);
        }
}

/* Encode the rows of n elements as words, and fill up to `rows` rows with the largest words. Returns whether there is no NaN and
 * no -0.0, whose bits words do not keep. Updates `seen` for words of 64 bits. */
static int S0_NAMED(s0_encode_rows)(s0_lanes *x, Py_ssize_t n, Py_ssize_t rows, int kind, s0_word mask, s0_seen *seen)
{
    const s0_word top = (s0_word)(((uint64_t)1 << (S0_WORD - 1)) - 1);
    const s0_word infinite = (s0_word)(S0_WORD == 64 ? 0x7FF0000000000000 : 0x7F800000);
    const s0_word inverted = mask ^ (kind == S0_UNSIGNED ? ~top : 0), floating = kind == S0_FLOATING ? top : 0;
    s0_lanes special = {0}, least = {0}, most = {0}, ones = {0}, zeroes = {0};
    Py_ssize_t i, k;
    least += top, most = ~least;
    for (i = 0; i < n; i++) {
        const s0_lanes raw = x[i], word = raw ^ ((raw >> (S0_WORD - 1)) & floating) ^ inverted;
        special |= (s0_lanes)((raw & floating) > infinite) | (s0_lanes)(raw == ~top);
        x[i] = word;
        if (S0_WORD == 64) {
            least = S0_NAMED(s0_lesser)(least, word), most = S0_NAMED(s0_greater)(most, word);
            ones |= word, zeroes |= ~word;
        }
    }
    for (i = n; i < rows; i++)
        x[i] = (s0_lanes){0} + top;
    s0_word any = 0;
    for (k = 0; k < S0_LANES; k++) {
        any |= special[k];
        if (S0_WORD == 64) {
            seen->least = least[k] < seen->least ? least[k] : seen->least, seen->most = most[k] > seen->most ? most[k] : seen->most;
            seen->ones |= (uint64_t)ones[k], seen->zeroes |= (uint64_t)zeroes[k];
        }
    }
    return kind != S0_FLOATING || any == 0;
}

static void S0_NAMED(s0_decode_rows)(s0_lanes *x, Py_ssize_t n, int kind, s0_word mask)
{
    const s0_word top = (s0_word)(((uint64_t)1 << (S0_WORD - 1)) - 1);
    const s0_word inverted = mask ^ (kind == S0_UNSIGNED ? ~top : 0), floating = kind == S0_FLOATING ? top : 0;
    if (kind == S0_FLOATING || inverted)
        for (Py_ssize_t i = 0; i < n; i++) {
            const s0_lanes word = x[i] ^ inverted;
            x[i] = word ^ ((word >> (S0_WORD - 1)) & floating);
        }
}

#if S0_WORD == 64
/* Words that differ only in 32 bits are sorted as words of 32 bits. y uses the memory of the upper halves of the words of x.
 * `least` is unsigned, because the difference of two words may need all 64 bits. */
static void s0_order_narrow(s0_lanes *x, s0_lanes *y, Py_ssize_t n, Py_ssize_t rows, uint64_t least, int low)
{
    typedef uint64_t wide __attribute__((vector_size(S0_VECTOR)));
    const uint64_t signs = (uint64_t)1 << 63 | (uint64_t)1 << 31, lower = UINT32_MAX;
    Py_ssize_t i;
    for (i = 0; i < n; i++) {
        const wide one = ((wide)x[i] - least) >> low, other = ((wide)y[i] - least) >> low;
        x[i] = (s0_lanes)((one | other << 32) ^ signs);
    }
    for (i = n; i < rows; i++)
        x[i] = (s0_lanes)((wide){0} + ~signs);
    s0_order_aside32(x, rows);
    for (i = 0; i < n; i++) {
        const wide both = (wide)x[i] ^ signs;
        x[i] = (s0_lanes)(((both & lower) << low) + least);
        y[i] = (s0_lanes)((both >> 32 << low) + least);
    }
}
#endif

/* Load lanes `first` to `first + m`, m at most S0_LANES, as columns of x. */
static void S0_NAMED(s0_load_aside)(const s0_adjacent *all, Py_ssize_t first, Py_ssize_t m, s0_lanes *x)
{
    const char *from = all->lane.from + first * all->next;
    const Py_ssize_t n = all->lane.n, stride = all->lane.stride;
    Py_ssize_t i, k;
    if (m < S0_LANES)
        memset(x, 0, (size_t)n * S0_VECTOR);
    if (stride == S0_BYTES)
        S0_CAT(s0_transpose_, S0_BYTES)(from, all->next, (char *)x, S0_VECTOR, m, n);
    else if (all->next == S0_BYTES && m == S0_LANES)
        for (i = 0; i < n; i++)
            memcpy(&x[i], from + i * stride, S0_VECTOR);
    else
        for (i = 0; i < n; i++)
            for (k = 0; k < m; k++)
                ((s0_word *)&x[i])[k] = *(const s0_word *)(from + i * stride + k * all->next);
}

static void S0_NAMED(s0_store_aside)(const s0_adjacent *all, Py_ssize_t first, Py_ssize_t m, const s0_lanes *x)
{
    char *out = all->lane.out + first * all->out_next;
    const Py_ssize_t n = all->lane.n;
    Py_ssize_t i;
    if (all->out_stride == S0_BYTES)
        S0_CAT(s0_transpose_, S0_BYTES)((const char *)x, S0_VECTOR, out, all->out_next, n, m);
    else if (m == S0_LANES)
        for (i = 0; i < n; i++)
            memcpy(out + i * all->out_stride, &x[i], S0_VECTOR);
    else
        for (i = 0; i < n; i++)
            memcpy(out + i * all->out_stride, &x[i], (size_t)m * S0_BYTES);
}

/* Sort lanes `first` to `first + m`, m at most S0_BESIDE; returns whether this was possible: see `s0_encode_rows`. */
static int S0_NAMED(s0_sort_aside)(const s0_adjacent *all, Py_ssize_t first, Py_ssize_t m)
{
    const s0_lane *lane = &all->lane;
    const s0_word mask = (s0_word)lane->mask;
    const Py_ssize_t n = lane->n, rows = n <= 4 ? 4 : n <= 8 ? 8 : (n + 15) & -16;
    s0_lanes *x = (s0_lanes *)(((uintptr_t)lane->scratch + S0_VECTOR - 1) & -(uintptr_t)S0_VECTOR);
    s0_seen seen = {.least = INT64_MAX, .most = INT64_MIN};
    Py_ssize_t k, count;
    for (k = 0; k < m; k += S0_LANES) {
        count = m - k < S0_LANES ? m - k : S0_LANES;
        S0_NAMED(s0_load_aside)(all, first + k, count, x + k / S0_LANES * rows);
        if (!S0_NAMED(s0_encode_rows)(x + k / S0_LANES * rows, n, rows, lane->kind, mask, &seen))
            return 0;
    }
#if S0_WORD == 64
    const int low = s0_trailing_zeros(seen.ones & seen.zeroes);
    const int narrow = s0_bit_length((uint64_t)seen.most - (uint64_t)seen.least) - low <= 32;
    for (k = 0; narrow && k < m; k += 2 * S0_LANES) {
        s0_lanes *const one = x + k / S0_LANES * rows;
        s0_order_narrow(one, k + S0_LANES < m ? one + rows : one, n, rows, (uint64_t)seen.least, low);
    }
    for (k = 0; !narrow && k < m; k += S0_LANES)
#else
    for (k = 0; k < m; k += S0_LANES)
#endif
        S0_NAMED(s0_order_aside)(x + k / S0_LANES * rows, rows);
    for (k = 0; k < m; k += S0_LANES) {
        count = m - k < S0_LANES ? m - k : S0_LANES;
        S0_NAMED(s0_decode_rows)(x + k / S0_LANES * rows, n, lane->kind, mask);
        S0_NAMED(s0_store_aside)(all, first + k, count, x + k / S0_LANES * rows);
    }
    return 1;
}
