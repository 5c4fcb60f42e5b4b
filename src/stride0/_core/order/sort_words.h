/* Sorting of words: signed integers of S0_WORD bits, 32 or 64. sorting.h includes this file for both sizes.
 *
 * Up to S0_ORDERED words are sorted in vectors: Batcher's network sorts the columns of a matrix of vectors, then the columns are
 * merged pair by pair as bitonic sequences. More words are divided by pivots, as in quicksort: a division reads one buffer and
 * writes another, smaller words from its start and the others from its end. If vectors cannot be divided (before AVX2), or if
 * pivots are bad, a radix sort is used instead.
 *
 * The order of words is total, so the result does not depend on the vectors. */

#define S0_CAT_(a, b) a##b
#define S0_CAT(a, b) S0_CAT_(a, b)
#define S0_NAMED(name) S0_CAT(name, S0_WORD)
#define s0_word S0_NAMED(s0_word)
#define s0_lanes S0_NAMED(s0_lanes)
#define s0_lane_mask S0_NAMED(s0_lane_mask)
#define S0_LANES (S0_VECTOR * 8 / S0_WORD)
#define S0_ORDERED (16 * S0_LANES)

typedef S0_CAT(S0_CAT(int, S0_WORD), _t) s0_word;
typedef s0_word s0_lanes __attribute__((vector_size(S0_VECTOR)));
#if S0_VECTOR == 64
typedef S0_LANE_MASK s0_lane_mask;
#endif

/* --- vectors */

S0_INLINE s0_lanes S0_NAMED(s0_pick)(s0_lanes first, s0_lanes second, s0_lanes other)
{
    return (first & ~other) | (second & other);
}

S0_INLINE s0_lanes S0_NAMED(s0_lesser)(s0_lanes x, s0_lanes y)
{
#if S0_VECTOR == 64
    return (s0_lanes)S0_CAT(_mm512_min_epi, S0_WORD)((__m512i)x, (__m512i)y);
#elif S0_VECTOR == 32 && S0_WORD == 32
    return (s0_lanes)_mm256_min_epi32((__m256i)x, (__m256i)y);
#elif S0_VECTOR == 32
    return (s0_lanes)_mm256_blendv_pd((__m256d)x, (__m256d)y, (__m256d)(x > y));
#elif defined(__SSE4_1__) && S0_WORD == 32
    return (s0_lanes)_mm_min_epi32((__m128i)x, (__m128i)y);
#else
    return S0_NAMED(s0_pick)(x, y, (s0_lanes)(x > y));
#endif
}

S0_INLINE s0_lanes S0_NAMED(s0_greater)(s0_lanes x, s0_lanes y)
{
#if S0_VECTOR == 64
    return (s0_lanes)S0_CAT(_mm512_max_epi, S0_WORD)((__m512i)x, (__m512i)y);
#elif S0_VECTOR == 32 && S0_WORD == 32
    return (s0_lanes)_mm256_max_epi32((__m256i)x, (__m256i)y);
#elif S0_VECTOR == 32
    return (s0_lanes)_mm256_blendv_pd((__m256d)y, (__m256d)x, (__m256d)(x > y));
#elif defined(__SSE4_1__) && S0_WORD == 32
    return (s0_lanes)_mm_max_epi32((__m128i)x, (__m128i)y);
#else
    return S0_NAMED(s0_pick)(y, x, (s0_lanes)(x > y));
#endif
}

/* Lane k of the result is lane k ^ partner. */
#define S0_LANES_2(E) E(0), E(1)
#define S0_LANES_4(E) S0_LANES_2(E), E(2), E(3)
#define S0_LANES_8(E) S0_LANES_4(E), E(4), E(5), E(6), E(7)
#define S0_LANES_16(E) S0_LANES_8(E), E(8), E(9), E(10), E(11), E(12), E(13), E(14), E(15)
#if S0_LANES == 2
#define S0_EACH_LANE S0_LANES_2
#elif S0_LANES == 4
#define S0_EACH_LANE S0_LANES_4
#elif S0_LANES == 8
#define S0_EACH_LANE S0_LANES_8
#else
#define S0_EACH_LANE S0_LANES_16
#endif
#if defined(__clang__)
#define S0_SHUFFLED(x, E) __builtin_shufflevector(x, x, S0_EACH_LANE(E))
#define S0_MERGED(x, y, E) __builtin_shufflevector(x, y, S0_EACH_LANE(E))
#else
#define S0_SHUFFLED(x, E) __builtin_shuffle(x, (s0_lanes){S0_EACH_LANE(E)})
#define S0_MERGED(x, y, E) __builtin_shuffle(x, y, (s0_lanes){S0_EACH_LANE(E)})
#endif

/* Compare-exchange of the lanes of each row with the lanes of the row `other`: lane k with lane k ^ partner, in both directions.
 * The lanes without `bit` get the smaller words. */
#define S0_CROSS(partner, bit, row, other)                                                                           \
    {                                                                                                                \
        const s0_lanes x = v[row], y = v[other], p = S0_SHUFFLED(y, S0_XOR_##partner);                               \
        const s0_lanes q = S0_SHUFFLED(x, S0_XOR_##partner);                                                         \
        v[row] = S0_MERGED(S0_NAMED(s0_lesser)(x, p), S0_NAMED(s0_greater)(x, p), S0_BIT_##bit);                           \
        if (row != other)                                                                                            \
            v[other] = S0_MERGED(S0_NAMED(s0_lesser)(y, q), S0_NAMED(s0_greater)(y, q), S0_BIT_##bit);                     \
    }
#define S0_ITSELF(k) (k)
#define S0_XOR_1(k) (k) ^ 1
#define S0_XOR_2(k) (k) ^ 2
#define S0_XOR_3(k) (k) ^ 3
#define S0_XOR_4(k) (k) ^ 4
#define S0_XOR_7(k) (k) ^ 7
#define S0_XOR_15(k) (k) ^ 15
#define S0_BIT_1(k) (k) + ((k) & 1 ? S0_LANES : 0)
#define S0_BIT_2(k) (k) + ((k) & 2 ? S0_LANES : 0)
#define S0_BIT_4(k) (k) + ((k) & 4 ? S0_LANES : 0)
#define S0_BIT_8(k) (k) + ((k) & 8 ? S0_LANES : 0)

#define S0_EXCHANGE(i, j)                                                                                            \
    {                                                                                                                \
        const s0_lanes x = v[i], y = v[j];                                                                           \
        v[i] = S0_NAMED(s0_lesser)(x, y);                                                                               \
        v[j] = S0_NAMED(s0_greater)(x, y);                                                                              \
    }

/* --- a matrix of vectors */

/* Sort each column: K. E. Batcher, Sorting networks and their applications, 1968 (odd-even merges). */
S0_INLINE void S0_NAMED(s0_sort_columns)(s0_lanes *v, const unsigned rows)
{
#define S0_SORT_4(o)                                                                                                   \
    S0_EXCHANGE(o, o + 1) S0_EXCHANGE(o + 2, o + 3) S0_EXCHANGE(o, o + 2) S0_EXCHANGE(o + 1, o + 3)                  \
    S0_EXCHANGE(o + 1, o + 2)
#define S0_SORT_8(o)                                                                                                  \
    S0_SORT_4(o) S0_SORT_4(o + 4)                                                                                        \
    S0_EXCHANGE(o, o + 4) S0_EXCHANGE(o + 1, o + 5) S0_EXCHANGE(o + 2, o + 6) S0_EXCHANGE(o + 3, o + 7)              \
    S0_EXCHANGE(o + 2, o + 4) S0_EXCHANGE(o + 3, o + 5)                                                              \
    S0_EXCHANGE(o + 1, o + 2) S0_EXCHANGE(o + 3, o + 4) S0_EXCHANGE(o + 5, o + 6)
    if (rows == 2) {
        S0_EXCHANGE(0, 1)
    } else if (rows == 4) {
        S0_SORT_4(0)
    } else if (rows == 8) {
        S0_SORT_8(0)
    } else if (rows == 16) {
        S0_SORT_8(0) S0_SORT_8(8)
        S0_EXCHANGE(0, 8) S0_EXCHANGE(1, 9) S0_EXCHANGE(2, 10) S0_EXCHANGE(3, 11)
        S0_EXCHANGE(4, 12) S0_EXCHANGE(5, 13) S0_EXCHANGE(6, 14) S0_EXCHANGE(7, 15)
        S0_EXCHANGE(4, 8) S0_EXCHANGE(5, 9) S0_EXCHANGE(6, 10) S0_EXCHANGE(7, 11)
        S0_EXCHANGE(2, 4) S0_EXCHANGE(3, 5) S0_EXCHANGE(6, 8) S0_EXCHANGE(7, 9) S0_EXCHANGE(10, 12) S0_EXCHANGE(11, 13)
        S0_EXCHANGE(1, 2) S0_EXCHANGE(3, 4) S0_EXCHANGE(5, 6) S0_EXCHANGE(7, 8)
        S0_EXCHANGE(9, 10) S0_EXCHANGE(11, 12) S0_EXCHANGE(13, 14)
    }
#undef S0_SORT_4
#undef S0_SORT_8
}

/* Sort each column, which is a bitonic sequence. */
S0_INLINE void S0_NAMED(s0_merge_columns)(s0_lanes *v, const unsigned rows)
{
#define S0_HALVES(distance)                                                                                          \
    if (rows > distance)                                                                                             \
        S0_FOR_ALL(rows) if (!(k & distance)) S0_EXCHANGE(k, k + distance)
    S0_HALVES(8u)
    S0_HALVES(4u)
    S0_HALVES(2u)
    S0_HALVES(1u)
#undef S0_HALVES
}

/* Sort all words in column-major order. */
S0_INLINE void S0_NAMED(s0_sort_matrix)(s0_lanes *v, const unsigned rows)
{
#define S0_TURNED(partner, bit) S0_FOR_ALL((rows + 1) / 2) S0_CROSS(partner, bit, k, rows - 1 - k)
#define S0_STRAIGHT(partner) S0_FOR_ALL(rows) S0_CROSS(partner, partner, k, k)
    S0_NAMED(s0_sort_columns)(v, rows);
    S0_TURNED(1, 1)
    S0_NAMED(s0_merge_columns)(v, rows);
#if S0_LANES >= 4
    S0_TURNED(3, 2)
    S0_STRAIGHT(1)
    S0_NAMED(s0_merge_columns)(v, rows);
#endif
#if S0_LANES >= 8
    S0_TURNED(7, 4)
    S0_STRAIGHT(2)
    S0_STRAIGHT(1)
    S0_NAMED(s0_merge_columns)(v, rows);
#endif
#if S0_LANES >= 16
    S0_TURNED(15, 8)
    S0_STRAIGHT(4)
    S0_STRAIGHT(2)
    S0_STRAIGHT(1)
    S0_NAMED(s0_merge_columns)(v, rows);
#endif
#undef S0_TURNED
#undef S0_STRAIGHT
}

S0_INLINE void S0_NAMED(s0_order_rows)(const s0_word *from, s0_word *to, Py_ssize_t n, const unsigned rows)
{
    s0_lanes v[16];
    s0_word all[S0_ORDERED], sorted[S0_ORDERED];
    const s0_lanes lane = {S0_EACH_LANE(S0_ITSELF)}, end = (s0_lanes){0} + (s0_word)n;
    const s0_lanes greatest = (s0_lanes){0} + (s0_word)(((uint64_t)1 << (S0_WORD - 1)) - 1);
    S0_FOR_ALL(rows)
    {
        memcpy(&v[k], from + k * S0_LANES, sizeof(v[k]));
        v[k] = S0_NAMED(s0_pick)(greatest, v[k], (s0_lanes)(lane + (s0_word)(k * S0_LANES) < end));
    }
    S0_NAMED(s0_sort_matrix)(v, rows);
    S0_FOR_ALL(rows) memcpy(all + k * S0_LANES, &v[k], sizeof(v[k]));
    if (rows == 1) {
        memcpy(to, all, (size_t)n * S0_BYTES);
        return;
    }
    S0_CAT(s0_transpose_, S0_BYTES)((const char *)all, S0_VECTOR, (char *)sorted, rows * S0_BYTES, rows, S0_LANES);
    memcpy(to, sorted, (size_t)n * S0_BYTES);
}

/* Sort at most S0_ORDERED words; `to` may be `from`. Whole rows are read, also beyond the words. */
static __attribute__((noinline)) void S0_NAMED(s0_order_few)(const s0_word *from, s0_word *to, Py_ssize_t n)
{
    if (n <= S0_LANES)
        S0_NAMED(s0_order_rows)(from, to, n, 1);
    else if (n <= 2 * S0_LANES)
        S0_NAMED(s0_order_rows)(from, to, n, 2);
    else if (n <= 4 * S0_LANES)
        S0_NAMED(s0_order_rows)(from, to, n, 4);
    else if (n <= 8 * S0_LANES)
        S0_NAMED(s0_order_rows)(from, to, n, 8);
    else
        S0_NAMED(s0_order_rows)(from, to, n, 16);
}

/* --- many words: digit by digit
 *
 * Sort the words of `a`, unsigned here, by `bits` bits from `low` on, least significant digit first. Returns `a` or `b`, whichever
 * holds the result; NULL if a signal interrupted the sort. Each pass also counts the digits for the next pass. */
static S0_NAMED(s0_digits) *S0_NAMED(s0_radix)(S0_NAMED(s0_digits) *a, S0_NAMED(s0_digits) *b, Py_ssize_t n, int low,
                                               int bits)
{
    Py_ssize_t counts[2][1 << S0_DIGIT], i, end, total, here;
    int most = n < 2048 ? 8 : S0_DIGIT, passes = (bits + most - 1) / most, pass, d, now = 0;
    int digit = passes ? (bits + passes - 1) / passes : 0, size = 1 << digit, shift = low;
    S0_NAMED(s0_digits) mask = (S0_NAMED(s0_digits))(size - 1), *swap;
    if (passes) {
        memset(counts[0], 0, sizeof(Py_ssize_t) * (size_t)size);
        S0_LOOP(i, 0, n, counts[0][(a[i] >> shift) & mask]++)
    }
    for (pass = 0; pass < passes; pass++) {
        Py_ssize_t *count = counts[now], *next = counts[1 - now];
        int last = pass == passes - 1, then = last ? shift : shift + digit;
        for (d = 0, total = 0; d < size; d++) {
            here = count[d];
            count[d] = total;
            total += here;
        }
        if (!last)
            memset(next, 0, sizeof(Py_ssize_t) * (size_t)size);
        for (i = 0; i < n;) {
            end = n - i < S0_BATCH ? n : i + S0_BATCH;
            if (last) {
                for (; i < end; i++)
                    b[count[(a[i] >> shift) & mask]++] = a[i];
            } else {
                for (; i < end; i++) {
                    S0_NAMED(s0_digits) one = a[i];
                    next[(one >> then) & mask]++;
                    b[count[(one >> shift) & mask]++] = one;
                }
            }
            if (i < n && s0_table->interrupted())
                return NULL;
        }
        swap = a, a = b, b = swap;
        shift = then, now = 1 - now;
    }
    return a;
}

/* Sort words of at least `least` that differ in `bits` bits from `low` on, by radix sort, to `to`, which is x or y. Returns whether
 * the sort was completed. */
static int S0_NAMED(s0_order_digits)(s0_word *x, s0_word *y, Py_ssize_t n, s0_word least, int low, int bits,
                                   s0_word *to)
{
    S0_NAMED(s0_digits) *digits = (S0_NAMED(s0_digits) *)x;
    Py_ssize_t i;
    S0_LOOP(i, 0, n, digits[i] -= (S0_NAMED(s0_digits))least)
    digits = S0_NAMED(s0_radix)(digits, (S0_NAMED(s0_digits) *)y, n, low, bits);
    if (digits == NULL)
        return 0;
    S0_LOOP(i, 0, n, to[i] = (s0_word)(digits[i] + (S0_NAMED(s0_digits))least))
    return 1;
}

/* --- many words: division by pivots */

/* Divide the words of x into y: first the words less than the pivot (`equal`: not greater than it), then the others. Returns the
 * number of words in the first part, or -1 if a signal interrupted the division. */
S0_INLINE Py_ssize_t S0_NAMED(s0_divide_by)(const s0_word *x, s0_word *y, Py_ssize_t n, s0_word pivot, const int equal)
{
    Py_ssize_t i = 0, first = 0;
#if S0_VECTOR >= 32
    const s0_lanes pivots = (s0_lanes){0} + pivot;
    Py_ssize_t end;
    while (n - i >= 2 * S0_LANES) {
        end = n - i < S0_BATCH ? n : i + S0_BATCH;
        for (; end - i >= 2 * S0_LANES; i += S0_LANES) {
            /* The gap between the words written from the start and from the end has space for the remaining words. */
            s0_word *const last = y + first + (n - i) - S0_LANES;
            s0_lanes v;
            unsigned count;
            memcpy(&v, x + i, sizeof(v));
#if S0_VECTOR == 64
            const s0_lane_mask before =
                equal ? S0_CAT(S0_CAT(_mm512_cmple_epi, S0_WORD), _mask)((__m512i)v, (__m512i)pivots)
                      : S0_CAT(S0_CAT(_mm512_cmplt_epi, S0_WORD), _mask)((__m512i)v, (__m512i)pivots);
            const __m512i low = S0_CAT(_mm512_maskz_compress_epi, S0_WORD)(before, (__m512i)v);
            const __m512i high = S0_CAT(_mm512_maskz_compress_epi, S0_WORD)((s0_lane_mask)~before, (__m512i)v);
            count = (unsigned)__builtin_popcount(before);
            const __m512i divided = S0_CAT(_mm512_mask_expand_epi, S0_WORD)(low, (s0_lane_mask)(~0u << count), high);
            _mm512_storeu_si512(y + first, divided);
            _mm512_storeu_si512(last, divided);
#else
            const s0_lanes before = equal ? ~(s0_lanes)(v > pivots) : (s0_lanes)(v < pivots);
            const unsigned bits = S0_MOVEMASK((__m256i)before);
            const __m256i divided = _mm256_permutevar8x32_epi32((__m256i)v, S0_DIVISION(bits));
            count = (unsigned)__builtin_popcount(bits);
            _mm256_storeu_si256((__m256i *)(y + first), divided);
            _mm256_storeu_si256((__m256i *)last, divided);
#endif
            first += count;
        }
        if (n - i >= 2 * S0_LANES && s0_table->interrupted())
            return -1;
    }
#endif
    for (; i < n; i++) {
        const s0_word one = x[i];
        const int before = equal ? one <= pivot : one < pivot;
        y[first + (before ? 0 : n - i - 1)] = one;
        first += before;
    }
    return first;
}

static Py_ssize_t S0_NAMED(s0_divide)(const s0_word *x, s0_word *y, Py_ssize_t n, s0_word pivot, int equal)
{
    return equal ? S0_NAMED(s0_divide_by)(x, y, n, pivot, 1) : S0_NAMED(s0_divide_by)(x, y, n, pivot, 0);
}

/* A sorted sample of words from all over x; returns its size. `some` has space for S0_ORDERED words. */
static int S0_NAMED(s0_sample)(const s0_word *x, Py_ssize_t n, s0_word *some)
{
    const int count = n < 16 * S0_ORDERED ? 2 * S0_LANES : n < 256 * S0_ORDERED ? 4 * S0_LANES : S0_ORDERED;
    const Py_ssize_t step = n / count;
    int i;
    for (i = 0; i < count; i++)
        some[i] = x[i * step + step / 2];
    S0_NAMED(s0_order_few)(some, some, count);
    return count;
}

#if S0_VECTOR >= 32
/* Sort the words of x to `to`, which is x or y, by at most `divisions` divisions; returns whether the sort was completed. */
static int S0_NAMED(s0_order_divided)(s0_word *x, s0_word *y, Py_ssize_t n, int divisions, s0_word *to)
{
    while (n > S0_ORDERED) {
        s0_word some[S0_ORDERED];
        const s0_word pivot = some[S0_NAMED(s0_sample)(x, n, some) / 2];
        Py_ssize_t first;
        if (divisions-- == 0)
            return S0_NAMED(s0_order_digits)(x, y, n, (s0_word)((uint64_t)1 << (S0_WORD - 1)), 0, S0_WORD, to);
        first = S0_NAMED(s0_divide)(x, y, n, pivot, 0);
        if (first == 0) {
            /* The pivot is the smallest word; words equal to it are in order. */
            first = S0_NAMED(s0_divide)(x, y, n, pivot, 1);
            if (first > 0 && to != y)
                memcpy(to, y, (size_t)first * S0_BYTES);
        } else if (first > 0 && !S0_NAMED(s0_order_divided)(y, x, first, divisions, to)) {
            return 0;
        }
        if (first < 0)
            return 0;
        s0_word *swap = x + first;
        x = y + first, y = swap, to += first, n -= first;
    }
    S0_NAMED(s0_order_few)(x, to, n);
    return 1;
}
#endif

/* Sort the words of x to `to`, which is x or y. All words are at least `least`; their differences from `least` have `low` bits that
 * are in order already, and `bits` more. Returns whether the sort was completed: a signal ends it. */
static int S0_NAMED(s0_order)(s0_word *x, s0_word *y, Py_ssize_t n, s0_word least, int low, int bits, s0_word *to)
{
    if (n <= S0_ORDERED) {
        S0_NAMED(s0_order_few)(x, to, n);
        return 1;
    }
#if S0_VECTOR >= 32
    if (bits > S0_FEW_BITS || n < 1 << S0_DIGIT)
        return S0_NAMED(s0_order_divided)(x, y, n, 2 * s0_bit_length((uint64_t)n), to);
#endif
    return S0_NAMED(s0_order_digits)(x, y, n, least, low, bits, to);
}

/* --- two sorted runs */

/* How many of the first `k` words of the merged runs x and y are from x. */
static Py_ssize_t S0_NAMED(s0_rank)(const s0_word *x, Py_ssize_t n, const s0_word *y, Py_ssize_t m, Py_ssize_t k)
{
    Py_ssize_t low = k > m ? k - m : 0, high = k < n ? k : n;
    while (low < high) {
        const Py_ssize_t half = low + (high - low) / 2;
        if (x[half] < y[k - half - 1])
            low = half + 1;
        else
            high = half;
    }
    return low;
}

/* Merge the sorted runs [first, middle) and [middle, last): write the merged words `start` to `end` to the same positions of `other`,
 * by four independent merges at once. One word beyond `last` is read. Returns whether the merge was completed. */
static int S0_NAMED(s0_merge)(const s0_word *words, s0_word *other, Py_ssize_t first, Py_ssize_t middle, Py_ssize_t last,
                              Py_ssize_t start, Py_ssize_t end)
{
    const s0_word *x = words + first, *y = words + middle;
    const Py_ssize_t n = middle - first, m = last - middle;
    Py_ssize_t i[4], j[4], k, from[5];
    for (k = 0; k < 5; k++)
        from[k] = start + (end - start) / 4 * k;
    from[4] = end;
    for (k = 0; k < 4; k++) {
        i[k] = S0_NAMED(s0_rank)(x, n, y, m, from[k] - first);
        j[k] = from[k] - first - i[k];
    }
#define S0_STEP(s)                                                                                                   \
    {                                                                                                                \
        const s0_word one = x[i[s]], two = y[j[s]];                                                                  \
        const int second = (i[s] == n) | ((j[s] != m) & (two < one));                                                \
        other[from[s] + k] = second ? two : one;                                                                     \
        j[s] += second, i[s] += !second;                                                                             \
    }
    S0_LOOP(k, 0, from[1] - from[0], { S0_STEP(0) S0_STEP(1) S0_STEP(2) S0_STEP(3) })
    S0_LOOP(k, from[1] - from[0], from[4] - from[3], S0_STEP(3))
#undef S0_STEP
    return 1;
}

#include "select_words.h"
#if S0_LANES >= 4
#include "sort_lanes.h"
#endif

#undef s0_word
#undef s0_lanes
#undef s0_lane_mask
#undef S0_LANES
#undef S0_EACH_LANE
#undef S0_SHUFFLED
#undef S0_MERGED
#undef S0_CROSS
#undef S0_EXCHANGE
#undef S0_ORDERED
#undef S0_NAMED
