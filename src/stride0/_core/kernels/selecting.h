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
