/* Selection from words: find the words of the ranks `first` to `last`. sort_words.h includes this file.
 *
 * Divisions by pivots, as in a sort, but only of the parts with the two outermost ranks, give the words of these ranks. A pass over
 * all words then gives the indices of the words in between. Among equal words, the first one has the lowest rank. */

typedef struct {
    s0_word word;
    Py_ssize_t less; /* number of smaller words */
} S0_NAMED(s0_ranked);

/* A pivot from x near the word of rank `low` or `high`, on the side of it that leaves fewer words to divide again. */
static s0_word S0_NAMED(s0_pivot_near)(const s0_word *x, Py_ssize_t n, Py_ssize_t low, Py_ssize_t high)
{
    s0_word some[S0_ORDERED];
    const int count = S0_NAMED(s0_sample)(x, n, some);
    const Py_ssize_t half = n / 2, near = high < half ? high : low > half ? low : half;
    const int at = (int)(near / ((n + count - 1) / count)), margin = near == half ? 0 : 2 + at * (count - at) / (8 * count);
    const int place = high < half ? at + margin : at - margin;
    return some[place < 0 ? 0 : place < count ? place : count - 1];
}

/* Find the words of ranks `low` and `high` of `from`, which may be x, and the number of words less than each; `dropped` smaller words
 * have been removed before. x and y are overwritten. Returns whether this was completed. */
static int S0_NAMED(s0_words_at)(const s0_word *from, s0_word *x, s0_word *y, Py_ssize_t n, Py_ssize_t low, Py_ssize_t high,
                                 Py_ssize_t dropped, int divisions, S0_NAMED(s0_ranked) *at_low, S0_NAMED(s0_ranked) *at_high)
{
    S0_NAMED(s0_ranked) unused;
    while (n > S0_ORDERED && divisions-- > 0) {
        const s0_word pivot = S0_NAMED(s0_pivot_near)(from, n, low, high);
        Py_ssize_t first = S0_NAMED(s0_divide)(from, y, n, pivot, 0);
        if (first == 0) {
            /* The pivot is the smallest word. */
            first = S0_NAMED(s0_divide)(from, y, n, pivot, 1);
            if (first < 0)
                return 0;
            if (low < first) {
                at_low->word = pivot, at_low->less = dropped;
                at_low = &unused, low = high;
            }
            if (high < first) {
                at_high->word = pivot, at_high->less = dropped;
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
            if (!S0_NAMED(s0_words_at)(y, y, x, first, low, low, dropped, divisions, at_low, &unused))
                return 0;
            at_low = &unused, low = high;
        }
        from = x = y + first, y = swap + first, n -= first, low -= first, high -= first, dropped += first;
    }
    if (from != x)
        memcpy(x, from, (size_t)n * S0_BYTES);
    if (n <= S0_ORDERED)
        S0_NAMED(s0_order_few)(x, x, n);
    else if (!S0_NAMED(s0_order_digits)(x, y, n, (s0_word)((uint64_t)1 << (S0_WORD - 1)), 0, S0_WORD, x))
        return 0;
    at_low->word = x[low], at_high->word = x[high];
    while (high > 0 && x[high - 1] == x[high])
        high--;
    while (low > 0 && x[low - 1] == x[low])
        low--;
    at_low->less = dropped + low, at_high->less = dropped + high;
    return 1;
}

/* The index behind the first `count` words that equal `one`. */
static Py_ssize_t S0_NAMED(s0_behind_equal)(const s0_word *words, Py_ssize_t n, s0_word one, Py_ssize_t count)
{
    enum { block = 256 };
    Py_ssize_t i = 0, j;
    while (count > 0 && i + block <= n) {
        s0_word found = 0;
        for (j = 0; j < block; j++)
            found += words[i + j] == one;
        if (found >= count)
            break;
        count -= found, i += block;
    }
    for (; i < n && count > 0; i++)
        count -= words[i] == one;
    return i;
}

#if S0_VECTOR >= 32
/* Write the lanes of v whose bits are set, in order, to `to`; if a whole vector `fits`, other lanes may be written behind them. */
S0_INLINE Py_ssize_t S0_NAMED(s0_put)(s0_word *to, s0_lanes v, unsigned bits, int fits)
{
#if S0_VECTOR == 64
    const __m512i chosen = S0_CAT(_mm512_maskz_compress_epi, S0_WORD)((s0_lane_mask)bits, (__m512i)v);
    if (fits)
        _mm512_storeu_si512(to, chosen);
    else
        S0_CAT(_mm512_mask_storeu_epi, S0_WORD)(to, (s0_lane_mask)((1u << __builtin_popcount(bits)) - 1), chosen);
#else
    const __m256i chosen = _mm256_permutevar8x32_epi32((__m256i)v, S0_DIVISION(bits));
    if (fits) {
        _mm256_storeu_si256((__m256i *)to, chosen);
    } else if (bits) {
        s0_word all[S0_LANES];
        _mm256_storeu_si256((__m256i *)all, chosen);
        for (int k = 0; k < __builtin_popcount(bits); k++)
            to[k] = all[k];
    }
#endif
    return (Py_ssize_t)(unsigned)__builtin_popcount(bits);
}

S0_INLINE unsigned S0_NAMED(s0_bits)(s0_lanes mask)
{
#if S0_VECTOR == 64
    return S0_CAT(S0_CAT(_mm512_movepi, S0_WORD), _mask)((__m512i)mask);
#else
    return S0_MOVEMASK((__m256i)mask);
#endif
}
#endif

/* The words of ranks `first` to `last` are those from `least` to `most`. Of the words equal to `least`, those in front of `cuts[0]` have
 * lower ranks; of the words equal to `most`, those from `cuts[1]` on have higher ranks. */
static int S0_NAMED(s0_bounds)(const s0_word *from, Py_ssize_t n, Py_ssize_t first, Py_ssize_t last, s0_word *x, s0_word *y,
                               s0_word *least, s0_word *most, Py_ssize_t cuts[2])
{
    S0_NAMED(s0_ranked) low, high;
    if (!S0_NAMED(s0_words_at)(from, x, y, n, first, last - 1, 0, 2 * s0_bit_length((uint64_t)n), &low, &high))
        return 0;
    *least = low.word, *most = high.word;
    cuts[0] = S0_NAMED(s0_behind_equal)(from, n, low.word, first - low.less);
    cuts[1] = S0_NAMED(s0_behind_equal)(from, n, high.word, last - high.less);
    return 1;
}

/* Three outputs of elements or `indices`: words of lower ranks go to the start of `out`, words of higher ranks to `out + last` and on,
 * and words in between, with their elements, to another buffer. `counts` of them have been written already. */
typedef struct {
    void *out, *middle;
    int64_t *words;
    Py_ssize_t n, last, counts[3];
} S0_NAMED(s0_parts);

/* Split the words `start` to `end`. Words up to `low` have lower ranks, and words greater than `high` have higher ranks; if the bits of
 * `swapped` are set, it is the other way round. */
S0_INLINE void S0_NAMED(s0_split_run)(const s0_word *words, const s0_word *from, Py_ssize_t start, Py_ssize_t end, s0_word low,
                                      s0_word high, const unsigned swapped[2], const int indices, S0_NAMED(s0_parts) *parts)
{
    Py_ssize_t i = start, lesser = parts->counts[0], between = parts->counts[1], greater = parts->last + parts->counts[2];
    s0_word *const out = (s0_word *)parts->out, *const middle = (s0_word *)parts->middle;
    int64_t *const places = (int64_t *)parts->out, *const chosen = (int64_t *)parts->middle;
    int64_t *const found = parts->words;
    const unsigned all = (1u << (S0_LANES - 1)) * 2 - 1, before_swapped = ~swapped[0] & all, behind_swapped = swapped[1] & all;
#if S0_VECTOR >= 32
    const int each = indices ? S0_VECTOR / 8 : S0_LANES;
    const Py_ssize_t lesser_fit = parts->last - each, greater_fit = parts->n - each;
    const unsigned each_mask = (1u << each) - 1;
    s0_lanes64 place = (s0_lanes64){S0_EACH_PLACE(S0_ITSELF)} + (int64_t)i;
    for (; end - i >= S0_LANES; i += S0_LANES) {
        s0_lanes v, one;
        memcpy(&v, words + i, sizeof(v));
        const unsigned before = S0_NAMED(s0_bits)((s0_lanes)(v > low)) ^ before_swapped;
        const unsigned behind = S0_NAMED(s0_bits)((s0_lanes)(v > high)) ^ behind_swapped;
        if (!indices)
            memcpy(&one, from + i, sizeof(one));
        for (int k = 0; k < S0_LANES; k += each) {
            if (indices) {
                lesser += s0_put64(places + lesser, place, before >> k & each_mask, lesser <= lesser_fit);
                greater += s0_put64(places + greater, place, behind >> k & each_mask, greater <= greater_fit);
                place += each;
            } else {
                lesser += S0_NAMED(s0_put)(out + lesser, one, before, lesser <= lesser_fit);
                greater += S0_NAMED(s0_put)(out + greater, one, behind, greater <= greater_fit);
            }
        }
        for (unsigned others = all ^ (before | behind); others; others &= others - 1) {
            const Py_ssize_t k = i + __builtin_ctz(others);
            if (indices)
                chosen[between] = k, found[between] = words[k];
            else
                middle[between] = from[k];
            between++;
        }
    }
#endif
    for (; i < end; i++) {
        const s0_word word = words[i];
        const int before = ((word > low) ^ before_swapped) & 1, behind = ((word > high) ^ behind_swapped) & 1;
        /* Without branches: a wrong write to the next position of the middle is overwritten. */
        if (indices) {
            *(before ? places + lesser : behind ? places + greater : chosen + between) = i;
            found[between] = word;
        } else {
            *(before ? out + lesser : behind ? out + greater : middle + between) = from[i];
        }
        lesser += before, greater += behind, between += !(before | behind);
    }
    parts->counts[0] = lesser, parts->counts[1] = between, parts->counts[2] = greater - parts->last;
}

static int S0_NAMED(s0_split)(const s0_word *words, const s0_word *from, s0_word least, s0_word most, const Py_ssize_t cuts[2],
                              S0_NAMED(s0_parts) *parts)
{
    const s0_word lowest = (s0_word)((uint64_t)1 << (S0_WORD - 1));
    for (Py_ssize_t i = 0, end; i < parts->n; i = end) {
        /* Words equal to `least` have lower ranks in front of cuts[0]; words equal to `most` have higher ranks from cuts[1] on. No
         * word is less than the smallest possible word. */
        const int with_least = i < cuts[0], with_most = i >= cuts[1];
        const unsigned swapped[2] = {!with_least && least == lowest ? ~0u : 0, with_most && most == lowest ? ~0u : 0};
        const s0_word low = with_least ? least : least == lowest ? ~lowest : least - 1;
        const s0_word high = !with_most ? most : most == lowest ? ~lowest : most - 1;
        end = parts->n - i < S0_BATCH ? parts->n : i + S0_BATCH;
        for (int k = 0; k < 2; k++)
            end = i < cuts[k] && cuts[k] < end ? cuts[k] : end;
        if (from == NULL)
            S0_NAMED(s0_split_run)(words, from, i, end, low, high, swapped, 1, parts);
        else
            S0_NAMED(s0_split_run)(words, from, i, end, low, high, swapped, 0, parts);
        if (s0_table->interrupted())
            return 0;
    }
    return 1;
}

/* --- the words of a few lowest ranks, without divisions */

#if S0_VECTOR >= 32
enum { S0_NAMED(s0_most_least) = 64 };

/* Write the smallest words of `rows` vectors of groups to `least`. */
S0_INLINE void S0_NAMED(s0_group)(const s0_word *from, Py_ssize_t n, const Py_ssize_t apart, const unsigned rows, s0_word *least)
{
    s0_lanes v[16], one;
    S0_FOR_ALL(rows) memcpy(&v[k], from + k * S0_LANES, sizeof(one));
    Py_ssize_t i;
    for (i = apart; i + (Py_ssize_t)rows * S0_LANES <= n; i += apart)
        S0_FOR_ALL(rows)
        {
            memcpy(&one, from + i + k * S0_LANES, sizeof(one));
            v[k] = S0_NAMED(s0_lesser)(v[k], one);
        }
    S0_FOR_ALL(rows) memcpy(least + k * S0_LANES, &v[k], sizeof(one));
    for (; i + S0_LANES <= n; i += S0_LANES, least += S0_LANES) {
        memcpy(&one, from + i, sizeof(one));
        memcpy(&v[0], least, sizeof(one));
        one = S0_NAMED(s0_lesser)(v[0], one);
        memcpy(least, &one, sizeof(one));
    }
}

/* Find the words of the `count` lowest ranks, and perhaps a few more, with their indices, ascending: all words up to the `count`-th
 * smallest of the groups' smallest words. Returns their number, or -1 if there may be too many. */
static Py_ssize_t S0_NAMED(s0_least_words)(const s0_word *from, Py_ssize_t n, Py_ssize_t count, s0_word *found, Py_ssize_t *at)
{
    s0_lanes v;
    s0_word groups[S0_ORDERED];
    Py_ssize_t i, k = 0, few = 4 * S0_LANES, many = S0_ORDERED;
    int enough = 0;
    if (4 * count <= few && n >= 8 * few) {
        S0_NAMED(s0_group)(from, n, few, 4, groups);
        S0_NAMED(s0_order_few)(groups, groups, few);
    } else if (2 * count <= many && 2 * count <= S0_NAMED(s0_most_least) && n >= 4 * many) {
        S0_NAMED(s0_group)(from, n, many, 8, groups);
        S0_NAMED(s0_group)(from + many / 2, n - many / 2, many, 8, groups + many / 2);
        S0_NAMED(s0_order_few)(groups, groups, many);
    } else {
        return -1;
    }
    s0_word bound = groups[count - 1];
    for (i = 0; i < n; i += S0_LANES) {
        unsigned bits = 0;
        if (i + S0_LANES <= n) {
            memcpy(&v, from + i, sizeof(v));
            bits = S0_NAMED(s0_bits)(~(s0_lanes)(v > bound));
        } else {
            for (int j = 0; j < n - i; j++)
                bits |= (unsigned)(from[i + j] <= bound) << j;
        }
        for (; bits; bits &= bits - 1, k++) {
            if (k == S0_NAMED(s0_most_least))
                return -1;
            at[k] = i + __builtin_ctz(bits), found[k] = from[at[k]];
        }
        if (k >= S0_NAMED(s0_most_least) / 2 && !enough) {
            /* Further words equal to the bound have higher ranks. */
            if (bound == (s0_word)((uint64_t)1 << (S0_WORD - 1)))
                break;
            bound--, enough = 1;
        }
    }
    return k;
}

/* The same as `s0_split`, for ranks from `first` on; 0 if this may be slow. If parts->out is NULL, only the words in between are
 * written. */
S0_INLINE int S0_NAMED(s0_split_least)(const s0_word *words, const s0_word *from, Py_ssize_t first, const int indices,
                                       S0_NAMED(s0_parts) *parts)
{
    const Py_ssize_t n = parts->n, last = parts->last;
    s0_word found[S0_NAMED(s0_most_least)], sorted[S0_ORDERED];
    Py_ssize_t at[S0_NAMED(s0_most_least)], count, i, j, start = 0, lesser = 0, between = 0, greater = last, skipped = 0, taken = 0;
    s0_word *const out = (s0_word *)parts->out, *const middle = (s0_word *)parts->middle;
    int64_t *const places = (int64_t *)parts->out, *const chosen = (int64_t *)parts->middle;
    if (n > S0_BATCH)
        return 0;
    count = S0_NAMED(s0_least_words)(words, n, last, found, at);
    if (count < 0)
        return 0;
    memcpy(sorted, found, (size_t)count * S0_BYTES);
    S0_NAMED(s0_order_few)(sorted, sorted, count);
    const s0_word least = sorted[first], most = sorted[last - 1];
    /* The first words equal to `least` have ranks below `first`; some words equal to `most` have ranks from `last` on. */
    for (i = first; i > 0 && sorted[i - 1] == least; i--)
        skipped++;
    for (i = last; i > 0 && sorted[i - 1] == most; i--)
        taken++;
    for (j = 0; j <= count; j++) {
        if (j < count && (found[j] > most || (found[j] == most && taken-- <= 0)))
            continue;
        /* All words between two found words have higher ranks. */
        const Py_ssize_t end = j < count ? at[j] : n;
        if (out != NULL && indices)
            for (i = start; i < end; i++)
                places[greater + i - start] = i;
        else if (out != NULL)
            memcpy(out + greater, from + start, (size_t)(end - start) * S0_BYTES);
        greater += end - start, start = end + 1;
        if (j == count)
            break;
        if (found[j] < least || (found[j] == least && skipped-- > 0)) {
            if (out != NULL && indices)
                places[lesser] = end;
            else if (out != NULL)
                out[lesser] = from[end];
            lesser++;
        } else {
            if (indices)
                chosen[between] = end, parts->words[between] = found[j];
            else
                middle[between] = from[end];
            between++;
        }
    }
    return 1;
}
#endif

/* Write the indices of the words of ranks `first` to `last`, ascending, to `chosen`, and the words to `words`; both have space for one
 * more. `x` and `y` have space for n words each. If `out` is not NULL, it gets the indices of lower ranks at its start, and of higher
 * ranks from `out + last` on. Returns whether this was completed, with that many indices. */
static int S0_NAMED(s0_choose)(const s0_word *from, Py_ssize_t n, Py_ssize_t first, Py_ssize_t last, s0_word *x, s0_word *y,
                               int64_t *chosen, int64_t *words, int64_t *out)
{
    enum { block = 32 };
    s0_word least, most;
    Py_ssize_t i, j, end, k = 0, cuts[2];
    S0_NAMED(s0_parts) parts = {out, chosen, words, n, last, {0, 0, 0}};
#if S0_VECTOR >= 32
    if (S0_NAMED(s0_split_least)(from, NULL, first, 1, &parts))
        return 1;
#endif
    if (!S0_NAMED(s0_bounds)(from, n, first, last, x, y, &least, &most, cuts))
        return 0;
    if (out != NULL)
        return S0_NAMED(s0_split)(from, NULL, least, most, cuts, &parts);
    for (i = 0; i < n; i = end) {
        int any = 0;
        end = n - i < block ? n : i + block;
        for (j = i; j < end; j++)
            any |= (from[j] >= least) & (from[j] <= most);
        if (!any)
            continue;
        for (j = i; j < end; j++) {
            const s0_word word = from[j];
            const int before = (word < least) | ((word == least) & (j < cuts[0]));
            const int behind = (word > most) | ((word == most) & (j >= cuts[1]));
            /* Without branches: each index is written to the next position, and the next write overwrites a wrong index. */
            chosen[k] = j, words[k] = word;
            k += !(before | behind);
        }
        if (i % S0_BATCH == 0 && i > 0 && s0_table->interrupted())
            return 0;
    }
    return 1;
}

/* Write the elements at `from`, whose words are given, to `out`: lower ranks before the positions of ranks `first` to `last`, and higher
 * ranks behind them, both in their original order, like the indices of `s0_choose`. The elements of ranks `first` to `last` go to
 * `middle`, unordered. `x` and `y` have space for n words, `middle` for one more than it gets. Returns whether this was completed. */
static int S0_NAMED(s0_part)(const s0_word *words, const s0_word *from, Py_ssize_t n, Py_ssize_t first, Py_ssize_t last, s0_word *x,
                             s0_word *y, s0_word *middle, s0_word *out)
{
    s0_word least, most;
    Py_ssize_t cuts[2];
    S0_NAMED(s0_parts) parts = {out, middle, NULL, n, last, {0, 0, 0}};
#if S0_VECTOR >= 32
    if (S0_NAMED(s0_split_least)(words, from, first, 0, &parts))
        return 1;
#endif
    if (!S0_NAMED(s0_bounds)(words, n, first, last, x, y, &least, &most, cuts))
        return 0;
    return S0_NAMED(s0_split)(words, from, least, most, cuts, &parts);
}
