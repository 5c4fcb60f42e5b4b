/* Selection from words: which of them have the ranks from `first` to `last`, for which ordering.h includes this file.
 *
 * Divisions by pivots, as in a sort, but only of the parts that the two outermost ranks are in, give the words of these ranks,
 * and a pass over all words the indices of those between. Of equal words the one that comes first has the lower rank. */

/* A word of x: about the one of rank `low` or `high`, on that side of it which leaves fewer words to divide again. */
static s0_word S0_NAMED(s0_pivot_near)(const s0_word *x, Py_ssize_t n, Py_ssize_t low, Py_ssize_t high)
{
    s0_word some[S0_ORDERED];
    const int count = S0_NAMED(s0_sample)(x, n, some);
    const Py_ssize_t half = n / 2, near = high < half ? high : low > half ? low : half;
    const int at = (int)(near / ((n + count - 1) / count)), margin = near == half ? 0 : 2 + at * (count - at) / (8 * count);
    const int place = high < half ? at + margin : at - margin;
    return some[place < 0 ? 0 : place < count ? place : count - 1];
}

/* The words of ranks `low` and `high`, in that order, of `from`, which may be x; x and y are overwritten. Whether it was
 * completed. */
static int S0_NAMED(s0_words_at)(const s0_word *from, s0_word *x, s0_word *y, Py_ssize_t n, Py_ssize_t low, Py_ssize_t high,
                                 int divisions, s0_word *at_low, s0_word *at_high)
{
    s0_word unused;
    while (n > S0_ORDERED && divisions-- > 0) {
        const s0_word pivot = S0_NAMED(s0_pivot_near)(from, n, low, high);
        Py_ssize_t first = S0_NAMED(s0_divide)(from, y, n, pivot, 0);
        if (first == 0) {
            /* The pivot is the least word. */
            first = S0_NAMED(s0_divide)(from, y, n, pivot, 1);
            if (first < 0)
                return 0;
            if (low < first) {
                *at_low = pivot;
                at_low = &unused, low = high;
            }
            if (high < first) {
                *at_high = pivot;
                return 1;
            }
        } else if (first < 0) {
            return 0;
        }
        s0_word *swap = x;
        if (high < first) {
            from = x = y, y = swap, n = first;
            continue;
        }
        if (low < first) {
            if (!S0_NAMED(s0_words_at)(y, y, x, first, low, low, divisions, at_low, &unused))
                return 0;
            at_low = &unused, low = high;
        }
        from = x = y + first, y = swap + first, n -= first, low -= first, high -= first;
    }
    if (from != x)
        memcpy(x, from, (size_t)n * S0_BYTES);
    if (n <= S0_ORDERED)
        S0_NAMED(s0_order_few)(x, x, n);
    else if (!S0_NAMED(s0_order_digits)(x, y, n, (s0_word)((uint64_t)1 << (S0_WORD - 1)), 0, S0_WORD, x))
        return 0;
    *at_low = x[low], *at_high = x[high];
    return 1;
}

/* The indices of the words of ranks `first` to `last`, ascending, to `chosen`, and these words to `words`, which have space for
 * one more than that; `x` and `y` have space for n words each. Where `out` is not NULL it gets the indices of lesser ranks, from
 * its start on, and of greater ones, from `out + last` on. Returns whether it was completed, with that many indices. */
static int S0_NAMED(s0_choose)(const s0_word *from, Py_ssize_t n, Py_ssize_t first, Py_ssize_t last, s0_word *x, s0_word *y,
                               int64_t *chosen, int64_t *words, int64_t *out)
{
    enum { block = 32 };
    s0_word least, most;
    Py_ssize_t i, j, end, k = 0, less = 0, no_more = 0, equal_least = 0, equal_most = 0, lesser = 0, skipped, taken;
    if (!S0_NAMED(s0_words_at)(from, x, y, n, first, last - 1, 2 * s0_bit_length((uint64_t)n), &least, &most))
        return 0;
    S0_LOOP(i, 0, n, (less += from[i] < least, no_more += from[i] < most))
    /* Of the words equal to `least` the first ones have ranks below `first`, of those equal to `most` some have `last` and more. */
    skipped = first - less, taken = last - no_more;
    for (i = 0; i < n; i = end) {
        int any = out != NULL;
        end = n - i < block ? n : i + block;
        for (j = i; j < end; j++)
            any |= (from[j] >= least) & (from[j] <= most);
        if (!any)
            continue;
        for (j = i; j < end; j++) {
            const s0_word word = from[j];
            const int is_least = word == least, is_most = word == most;
            const int before = (word < least) | (is_least & (equal_least < skipped));
            const int behind = (word > most) | (is_most & (equal_most >= taken));
            /* Without branches: each index is written to the next position of its part, or where it is overwritten. */
            int64_t *to = chosen + k;
            if (out != NULL) {
                to = before ? out + lesser : to;
                to = behind ? out + last : to;
            }
            *to = j, words[k] = word;
            equal_least += is_least, equal_most += is_most;
            lesser += before, last += behind, k += !(before | behind);
        }
        if (i % S0_BATCH == 0 && i > 0 && s0_table->interrupted())
            return 0;
    }
    return 1;
}

/* The elements at `from` whose words are less than `least` (`with_least`: or equal to it) to x, those greater than `most` (or equal
 * to it) to y, the others to `middle`, each in order and with one place more; `counts` of them are there already. */
S0_INLINE void S0_NAMED(s0_split_run)(const s0_word *words, const s0_word *from, Py_ssize_t n, s0_word least, s0_word most,
                                      const int with_least, const int with_most, s0_word *x, s0_word *middle, s0_word *y,
                                      Py_ssize_t counts[3])
{
    Py_ssize_t i = 0, lesser = counts[0], between = counts[1], greater = counts[2];
#if S0_VECTOR >= 32
    const s0_lanes lowest = (s0_lanes){0} + least, highest = (s0_lanes){0} + most;
    for (; n - i >= S0_LANES; i += S0_LANES) {
        s0_lanes v, one;
        memcpy(&v, words + i, sizeof(v));
        memcpy(&one, from + i, sizeof(one));
        const s0_lanes before = with_least ? ~(s0_lanes)(v > lowest) : (s0_lanes)(v < lowest);
        const s0_lanes behind = with_most ? ~(s0_lanes)(v < highest) : (s0_lanes)(v > highest);
#if S0_VECTOR == 64
        const s0_lane_mask first = S0_CAT(S0_CAT(_mm512_movepi, S0_WORD), _mask)((__m512i)before);
        const s0_lane_mask last = S0_CAT(S0_CAT(_mm512_movepi, S0_WORD), _mask)((__m512i)behind);
        _mm512_storeu_si512(x + lesser, S0_CAT(_mm512_maskz_compress_epi, S0_WORD)(first, (__m512i)one));
        _mm512_storeu_si512(y + greater, S0_CAT(_mm512_maskz_compress_epi, S0_WORD)(last, (__m512i)one));
#else
        const unsigned first = S0_MOVEMASK((__m256i)before), last = S0_MOVEMASK((__m256i)behind);
        _mm256_storeu_si256((__m256i *)(x + lesser), _mm256_permutevar8x32_epi32((__m256i)one, S0_DIVISION(first)));
        _mm256_storeu_si256((__m256i *)(y + greater), _mm256_permutevar8x32_epi32((__m256i)one, S0_DIVISION(last)));
#endif
        lesser += __builtin_popcount(first), greater += __builtin_popcount(last);
        for (unsigned others = ((1u << (S0_LANES - 1)) * 2 - 1) & ~(unsigned)(first | last); others; others &= others - 1)
            middle[between++] = from[i + __builtin_ctz(others)];
    }
#endif
    for (; i < n; i++) {
        const s0_word word = words[i];
        const int before = with_least ? word <= least : word < least, behind = with_most ? word >= most : word > most;
        x[lesser] = middle[between] = y[greater] = from[i];
        lesser += before, greater += behind, between += !(before | behind);
    }
    counts[0] = lesser, counts[1] = between, counts[2] = greater;
}

/* The index behind the first `count` words that are equal to one. */
static Py_ssize_t S0_NAMED(s0_behind_equal)(const s0_word *words, Py_ssize_t n, s0_word one, Py_ssize_t count)
{
    enum { block = 256 };
    Py_ssize_t i = 0, j, found;
    while (i + block <= n) {
        for (j = 0, found = 0; j < block; j++)
            found += words[i + j] == one;
        if (found >= count)
            break;
        count -= found, i += block;
    }
    for (; i < n && count > 0; i++)
        count -= words[i] == one;
    return i;
}

/* The elements at `from`, whose words are given, to `out`: those of ranks `first` to `last` in no order, in front of them those of
 * lesser ranks and behind them those of greater ones, both in their order: what `s0_choose` gives the indices of. `x` and `y`
 * have space for n words, `y` for S0_SLACK more, `middle` for one more than it gets. Whether it was completed. */
static int S0_NAMED(s0_part)(const s0_word *words, const s0_word *from, Py_ssize_t n, Py_ssize_t first, Py_ssize_t last, s0_word *x,
                             s0_word *y, s0_word *middle, s0_word *out)
{
    s0_word least, most;
    Py_ssize_t i, end, cuts[2], less = 0, no_more = 0, counts[3] = {0, 0, 0};
    if (!S0_NAMED(s0_words_at)(words, x, y, n, first, last - 1, 2 * s0_bit_length((uint64_t)n), &least, &most))
        return 0;
    S0_LOOP(i, 0, n, (less += words[i] < least, no_more += words[i] < most))
    cuts[0] = first == less ? 0 : S0_NAMED(s0_behind_equal)(words, n, least, first - less);
    cuts[1] = S0_NAMED(s0_behind_equal)(words, n, most, last - no_more);
    /* A vector is written to x and y at once: what exceeds x is overwritten. */
    y += S0_LANES;
    for (i = 0; i < n; i = end) {
        const int with_least = i < cuts[0], with_most = i >= cuts[1];
        end = n - i < S0_BATCH ? n : i + S0_BATCH;
        for (int k = 0; k < 2; k++)
            end = i < cuts[k] && cuts[k] < end ? cuts[k] : end;
        if (with_least && with_most)
            S0_NAMED(s0_split_run)(words + i, from + i, end - i, least, most, 1, 1, x, middle, y, counts);
        else if (with_least)
            S0_NAMED(s0_split_run)(words + i, from + i, end - i, least, most, 1, 0, x, middle, y, counts);
        else if (with_most)
            S0_NAMED(s0_split_run)(words + i, from + i, end - i, least, most, 0, 1, x, middle, y, counts);
        else
            S0_NAMED(s0_split_run)(words + i, from + i, end - i, least, most, 0, 0, x, middle, y, counts);
        if (s0_table->interrupted())
            return 0;
    }
    memcpy(out, x, (size_t)first * S0_BYTES);
    memcpy(out + first, middle, (size_t)(last - first) * S0_BYTES);
    memcpy(out + last, y, (size_t)(n - last) * S0_BYTES);
    return 1;
}
