/* Sorting of one lane of real numbers or booleans: always stable, NaN last, -0.0 equal to 0.0.
 *
 * Elements are mapped to unsigned keys of the same order; for a descending sort to their complements, so that equal
 * elements keep their order too. Leading and trailing bits that all keys have in common are dropped. The remaining
 * bits are sorted
 *   - for few keys, by counting for each key those that precede it;
 *   - else by radix sort, the least significant digit first.
 * An argsort keeps the indices of the elements in the low bits of the keys, where both fit into 64 bits. */
#ifndef STRIDE0_SORTING_H
#define STRIDE0_SORTING_H

#include <Python.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define S0_WIDE __attribute__((target("avx512f,avx512dq,avx512vl")))
#endif

#define S0_FEW 128
#define S0_DIGIT 11
#define S0_BATCH (1 << 16) /* elements that are moved between two checks for signals */
#define S0_HUGE_PAGE_WORDS (1 << 18)    /* words in a huge page */

/* Whether a signal ended the call, so that its result is not used. Set by the file that includes this one. */
static int (*s0_is_interrupted)(void);

/* A loop over `n` elements in a function that returns void; a signal ends it. */
#define S0_LOOP(i, n, body)                                                                                          \
    for (i = 0; i < (n);) {                                                                                          \
        Py_ssize_t end_ = (n) - i < S0_BATCH ? (n) : i + S0_BATCH;                                                   \
        for (; i < end_; i++)                                                                                        \
            body;                                                                                                    \
        if (i < (n) && s0_is_interrupted())                                                                          \
            return;                                                                                                  \
    }

/* A radix pass scatters: its first elements would touch every page of the scratch memory, of up to 2 MiB each, between two
 * checks for signals. Here the pages are touched one after the other, with a check after each. */
static void s0_touch_pages(uint64_t *scratch, Py_ssize_t words)
{
    Py_ssize_t i;
    for (i = 0; i < words && !s0_is_interrupted(); i += S0_HUGE_PAGE_WORDS)
        *(volatile uint64_t *)(scratch + i) = 0;
}

enum { S0_UNSIGNED, S0_SIGNED, S0_FLOATING, S0_BOOLEAN };

typedef struct {
    uint64_t key;
    uint64_t index;
} s0_pair;

typedef struct {
    uint64_t least, most, ones, zeroes; /* the last two: bits that are 1, or 0, in some key */
    Py_ssize_t nans, zeros, negative_zeros;
} s0_seen;

/* --- keys */

static inline uint64_t s0_key(const char *from, int width, int kind)
{
    uint64_t sign = (uint64_t)1 << (8 * width - 1), raw;
    switch (width) {
    case 1: raw = *(const uint8_t *)from; break;
    case 2: raw = *(const uint16_t *)from; break;
    case 4: raw = *(const uint32_t *)from; break;
    default: raw = *(const uint64_t *)from;
    }
    if (kind == S0_SIGNED)
        return raw ^ sign;
    if (kind == S0_FLOATING)
        return raw & sign ? ~raw & (sign | (sign - 1)) : raw | sign;
    return raw;
}

static inline uint64_t s0_raw(uint64_t key, int width, int kind)
{
    uint64_t sign = (uint64_t)1 << (8 * width - 1);
    if (kind == S0_SIGNED)
        return key ^ sign;
    if (kind == S0_FLOATING)
        return key & sign ? key ^ sign : ~key & (sign | (sign - 1));
    return key;
}

/* The keys of a batch of a lane; updates `seen`. Zeros of both signs have one key, that of 0.0. NaN is counted; it is
 * left out of `keys` where `apart`, and has the greatest key otherwise. */
static inline Py_ssize_t s0_keys_of(const char *from, Py_ssize_t stride, Py_ssize_t n, int width, int kind, int apart,
                                    uint64_t mask, uint64_t *keys, s0_seen *seen)
{
    uint64_t all = ~(uint64_t)0 >> (64 - 8 * width), sign = (uint64_t)1 << (8 * width - 1);
    uint64_t infinite = width == 8 ? 0xFFF0000000000000u : 0xFF800000u;
    uint64_t least = seen->least, most = seen->most, ones = seen->ones, zeroes = seen->zeroes;
    Py_ssize_t i, k = 0, nans = 0, zeros = 0, negative = 0;
    for (i = 0; i < n; i++) {
        uint64_t key = s0_key(from + i * stride, width, kind);
        if (kind == S0_FLOATING) {
            /* The raw bits of -0.0 are the sign, and its key is the one below that of 0.0. */
            int nan = key > infinite || key < (~infinite & all), minus = key == sign - 1;
            zeros += key == sign || minus;
            negative += minus;
            nans += nan;
            key = nan ? all : minus ? sign : key;
            keys[k] = key ^ mask;
            if (apart && nan)
                continue;
            key ^= mask;
        } else {
            key ^= mask;
            keys[k] = key;
        }
        least = key < least ? key : least;
        most = key > most ? key : most;
        ones |= key;
        zeroes |= ~key;
        k++;
    }
    seen->least = least, seen->most = most, seen->ones = ones, seen->zeroes = zeroes;
    seen->nans += nans, seen->zeros += zeros, seen->negative_zeros += negative;
    return k;
}

/* With constants for the width and the kind, the inner loop has no branches on them. */
static Py_ssize_t s0_batch_of_keys(const char *from, Py_ssize_t stride, Py_ssize_t n, int width, int kind, int apart,
                                     uint64_t mask, uint64_t *keys, s0_seen *seen)
{
#define S0_CASE(w, k)                                                                                                \
    if (width == w && kind == k)                                                                                     \
        return stride == w ? s0_keys_of(from, w, n, w, k, apart, mask, keys, seen)                                   \
                         : s0_keys_of(from, stride, n, w, k, apart, mask, keys, seen);
    S0_CASE(8, S0_FLOATING)
    S0_CASE(8, S0_SIGNED)
    S0_CASE(8, S0_UNSIGNED)
    S0_CASE(4, S0_FLOATING)
    S0_CASE(4, S0_SIGNED)
    S0_CASE(4, S0_UNSIGNED)
    S0_CASE(2, S0_SIGNED)
    S0_CASE(2, S0_UNSIGNED)
    S0_CASE(1, S0_SIGNED)
#undef S0_CASE
    return s0_keys_of(from, stride, n, 1, S0_UNSIGNED, apart, mask, keys, seen);
}

/* The keys of a lane; returns how many, or -1 where a signal interrupted it. */
static Py_ssize_t s0_make_keys(const char *from, Py_ssize_t stride, Py_ssize_t n, int width, int kind, int apart,
                               int descending, uint64_t *keys, s0_seen *seen)
{
    uint64_t mask = descending ? ~(uint64_t)0 >> (64 - 8 * width) : 0;
    Py_ssize_t i, count = 0;
    memset(seen, 0, sizeof(*seen));
    seen->least = ~(uint64_t)0;
    for (i = 0; i < n; i += S0_BATCH) {
        if (i > 0 && s0_is_interrupted())
            return -1;
        count += s0_batch_of_keys(from + i * stride, stride, n - i < S0_BATCH ? n - i : S0_BATCH, width, kind, apart,
                                    mask, keys + count, seen);
    }
    return count;
}

static inline void s0_store_raw(char *to, Py_ssize_t i, int width, uint64_t raw)
{
    switch (width) {
    case 1: ((uint8_t *)to)[i] = (uint8_t)raw; break;
    case 2: ((uint16_t *)to)[i] = (uint16_t)raw; break;
    case 4: ((uint32_t *)to)[i] = (uint32_t)raw; break;
    default: ((uint64_t *)to)[i] = raw;
    }
}

static inline int s0_bit_length(uint64_t value) { return value ? 64 - __builtin_clzll(value) : 0; }
static inline int s0_trailing_zeros(uint64_t value) { return value ? __builtin_ctzll(value) : 0; }

/* --- a few keys: the rank of each is the number of keys before it */

static void s0_ranks(const uint64_t *keys, int n, int64_t *ranks)
{
    int i, j;
    for (i = 0; i < n; i++)
        ranks[i] = 0;
    for (i = 1; i < n; i++) {
        uint64_t key = keys[i];
        int64_t before = 0;
        for (j = 0; j < i; j++) {
            int64_t after = key < keys[j];
            ranks[j] += after;
            before += 1 - after;
        }
        ranks[i] += before;
    }
}

#if defined(S0_WIDE)
/* `keys` is padded to a multiple of 16 with values that are not less than any key. */
S0_WIDE static void s0_ranks_wide(const uint64_t *keys, int n, int64_t *ranks)
{
    const __m512i one = _mm512_set1_epi64(1);
    int i, j;
    for (i = 0; i < n; i += 16) {
        __m512i a = _mm512_loadu_si512(keys + i), b = _mm512_loadu_si512(keys + i + 8);
        __m512i p = _mm512_setzero_si512(), q = p, r = p, s = p;
        int end = i + 16 < n ? i + 16 : n;
        for (j = 0; j + 2 <= i; j += 2) {
            __m512i k = _mm512_set1_epi64((long long)keys[j]), l = _mm512_set1_epi64((long long)keys[j + 1]);
            p = _mm512_mask_add_epi64(p, _mm512_cmple_epu64_mask(k, a), p, one);
            q = _mm512_mask_add_epi64(q, _mm512_cmple_epu64_mask(k, b), q, one);
            r = _mm512_mask_add_epi64(r, _mm512_cmple_epu64_mask(l, a), r, one);
            s = _mm512_mask_add_epi64(s, _mm512_cmple_epu64_mask(l, b), s, one);
        }
        for (j = i; j < end; j++) {
            __m512i k = _mm512_set1_epi64((long long)keys[j]);
            uint32_t later = 0xFFFEu << (j - i) & 0xFFFFu;
            __mmask8 low = (__mmask8)later, high = (__mmask8)(later >> 8);
            p = _mm512_mask_add_epi64(p, (__mmask8)((_mm512_cmplt_epu64_mask(k, a) & ~low)
                                                    | (_mm512_cmple_epu64_mask(k, a) & low)), p, one);
            q = _mm512_mask_add_epi64(q, (__mmask8)((_mm512_cmplt_epu64_mask(k, b) & ~high)
                                                    | (_mm512_cmple_epu64_mask(k, b) & high)), q, one);
        }
        for (; j < n; j++) {
            __m512i k = _mm512_set1_epi64((long long)keys[j]);
            p = _mm512_mask_add_epi64(p, _mm512_cmplt_epu64_mask(k, a), p, one);
            q = _mm512_mask_add_epi64(q, _mm512_cmplt_epu64_mask(k, b), q, one);
        }
        _mm512_storeu_si512(ranks + i, _mm512_add_epi64(p, r));
        _mm512_storeu_si512(ranks + i + 8, _mm512_add_epi64(q, s));
    }
}
#endif

/* --- many keys: digit by digit
 *
 * `a` is sorted by `bits` bits from `low` on; returns the one of `a` and `b` that has the result; NULL where a signal
 * interrupted it. Each pass also counts the digits for the next one. */
#define S0_RADIX(name, type, word)                                                                                   \
    static type *s0_radix_##name(type *a, type *b, Py_ssize_t n, int low, int bits)                                  \
    {                                                                                                                \
        Py_ssize_t counts[2][1 << S0_DIGIT], i, end, total, here;                                                    \
        int most = n < 2048 ? 8 : S0_DIGIT, passes = (bits + most - 1) / most, pass, d, now = 0;                     \
        int digit = passes ? (bits + passes - 1) / passes : 0, size = 1 << digit, shift = low;                       \
        uint64_t mask = (uint64_t)size - 1;                                                                          \
        type *swap;                                                                                                  \
        if (passes) {                                                                                                \
            memset(counts[0], 0, sizeof(Py_ssize_t) * (size_t)size);                                                 \
            for (i = 0; i < n;) {                                                                                    \
                end = n - i < S0_BATCH ? n : i + S0_BATCH;                                                           \
                for (; i < end; i++)                                                                                 \
                    counts[0][(word(a[i]) >> shift) & mask]++;                                                       \
                if (i < n && s0_is_interrupted())                                                                    \
                    return NULL;                                                                                     \
            }                                                                                                        \
        }                                                                                                            \
        for (pass = 0; pass < passes; pass++) {                                                                      \
            Py_ssize_t *count = counts[now], *next = counts[1 - now];                                                \
            int last = pass == passes - 1, then = last ? shift : shift + digit;                                      \
            for (d = 0, total = 0; d < size; d++) {                                                                  \
                here = count[d];                                                                                     \
                count[d] = total;                                                                                    \
                total += here;                                                                                       \
            }                                                                                                        \
            if (!last)                                                                                               \
                memset(next, 0, sizeof(Py_ssize_t) * (size_t)size);                                                  \
            for (i = 0; i < n;) {                                                                                    \
                end = n - i < S0_BATCH ? n : i + S0_BATCH;                                                           \
                if (last) {                                                                                          \
                    for (; i < end; i++)                                                                             \
                        b[count[(word(a[i]) >> shift) & mask]++] = a[i];                                             \
                } else {                                                                                             \
                    for (; i < end; i++) {                                                                           \
                        type one = a[i];                                                                             \
                        next[(word(one) >> then) & mask]++;                                                          \
                        b[count[(word(one) >> shift) & mask]++] = one;                                               \
                    }                                                                                                \
                }                                                                                                    \
                if (i < n && s0_is_interrupted())                                                                    \
                    return NULL;                                                                                     \
            }                                                                                                        \
            swap = a, a = b, b = swap;                                                                               \
            shift = then, now = 1 - now;                                                                             \
        }                                                                                                            \
        return a;                                                                                                    \
    }

#define S0_ITSELF(x) ((uint64_t)(x))
#define S0_KEY_OF(x) ((x).key)
S0_RADIX(32, uint32_t, S0_ITSELF)
S0_RADIX(64, uint64_t, S0_ITSELF)
S0_RADIX(pairs, s0_pair, S0_KEY_OF)

/* --- booleans: every byte but 0 is true, since memory of other libraries may hold others than 1 */

static Py_ssize_t s0_count_set(const char *from, Py_ssize_t stride, Py_ssize_t n)
{
    Py_ssize_t i, count = 0;
    for (i = 0; i < n; i++)
        count += from[i * stride] != 0;
    return count;
}

static void s0_sort_booleans(const char *from, Py_ssize_t stride, Py_ssize_t n, int descending, char *out)
{
    Py_ssize_t count = stride == 1 ? s0_count_set(from, 1, n) : s0_count_set(from, stride, n);
    Py_ssize_t first = descending ? count : n - count;
    memset(out, descending != 0, (size_t)first);
    memset(out + first, descending == 0, (size_t)(n - first));
}

/* One pass for the value that comes first, one for the other. If another thread writes to the lane meanwhile, there
 * may be more or fewer of them than elements. */
static void s0_argsort_booleans(const char *from, Py_ssize_t stride, Py_ssize_t n, int descending, int64_t *out)
{
    Py_ssize_t i, k = 0;
    int pass;
    for (pass = 0; pass < 2; pass++)
        for (i = 0; i < n && k < n; i++) {
            out[k] = i;
            k += (from[i * stride] != 0) == (pass ^ descending);
        }
    for (; k < n; k++)
        out[k] = 0;
}

/* --- lanes
 *
 * `scratch` has 2 n + 16 words of 64 bits, 4 n + 16 for an argsort. */

/* Whether counting is faster: it takes n * n comparisons, eight at a time with AVX-512. */
static inline int s0_is_few(Py_ssize_t n, int bits, int has_wide)
{
    return n <= S0_FEW && n * n <= (has_wide ? 14 : 4) * ((bits + 7) / 8) * (n + 70);
}

/* `keys` has space for 16 more. */
static void s0_ranks_of(uint64_t *keys, Py_ssize_t n, int64_t *ranks, int has_wide)
{
#if defined(S0_WIDE)
    if (has_wide) {
        memset(keys + n, 255, 16 * sizeof(uint64_t));
        s0_ranks_wide(keys, (int)n, ranks);
        return;
    }
#endif
    s0_ranks(keys, (int)n, ranks);
}

static void s0_argsort_lane(const char *from, Py_ssize_t stride, Py_ssize_t n, int width, int kind, int descending,
                            int has_wide, int64_t *out, uint64_t *scratch)
{
    uint64_t few[4 * S0_FEW + 16], *keys = n <= S0_FEW ? few : scratch, *other = keys + n, *sorted, mask;
    int64_t ranks[S0_FEW + 16];
    s0_seen seen;
    s0_pair *pairs;
    Py_ssize_t i;
    int low, bits, index_bits = s0_bit_length((uint64_t)(n - 1));
    if (n == 0)
        return;
    if (kind == S0_BOOLEAN) {
        s0_argsort_booleans(from, stride, n, descending != 0, out);
        return;
    }
    if (n >= S0_HUGE_PAGE_WORDS)
        s0_touch_pages(scratch, 4 * n);
    if (s0_make_keys(from, stride, n, width, kind, 0, descending, keys, &seen) < 0)
        return;
    low = s0_trailing_zeros(seen.ones & seen.zeroes);
    bits = s0_bit_length((seen.most - seen.least) >> low);
    if (s0_is_few(n, bits, has_wide)) {
        s0_ranks_of(keys, n, ranks, has_wide);
        for (i = 0; i < n; i++)
            out[ranks[i]] = i;
        return;
    }
    if (bits + index_bits <= 64) {
        S0_LOOP(i, n, keys[i] = (index_bits < 64 ? (keys[i] - seen.least) >> low << index_bits : 0) | (uint64_t)i)
        mask = ((uint64_t)1 << index_bits) - 1;
        sorted = s0_radix_64(keys, other, n, index_bits, bits);
        if (sorted == NULL)
            return;
        S0_LOOP(i, n, out[i] = (int64_t)(sorted[i] & mask))
        return;
    }
    /* From the end, since the pairs overwrite the keys. */
    pairs = (s0_pair *)keys;
    for (i = n - 1; i >= 0; i--) {
        uint64_t key = (keys[i] - seen.least) >> low;
        pairs[i].index = (uint64_t)i;
        pairs[i].key = key;
        if (i % S0_BATCH == 0 && i > 0 && s0_is_interrupted())
            return;
    }
    pairs = s0_radix_pairs(pairs, (s0_pair *)keys + n, n, 0, bits);
    if (pairs == NULL)
        return;
    S0_LOOP(i, n, out[i] = (int64_t)pairs[i].index)
}

/* Restore what the keys do not contain: the bits of each NaN, and which zeros are negative. */
static void s0_restore_raw(const char *from, Py_ssize_t stride, Py_ssize_t n, int width, int descending, char *out,
                        const s0_seen *seen)
{
    uint64_t magnitude = ~(uint64_t)0 >> (65 - 8 * width), infinite = width == 8 ? 0x7FF0000000000000u : 0x7F800000u;
    Py_ssize_t i, nan = descending ? 0 : n - seen->nans, zero = descending ? seen->nans : 0, last_nan, last_zero;
    if (seen->negative_zeros) {
        /* Binary search for the first of the zeros, which are all 0.0 so far. */
        Py_ssize_t end = descending ? n : n - seen->nans;
        while (zero < end) {
            Py_ssize_t half = zero + (end - zero) / 2;
            double value = width == 8 ? ((const double *)out)[half] : (double)((const float *)out)[half];
            if (descending ? value > 0 : value < 0)
                zero = half + 1;
            else
                end = half;
        }
    }
    /* If another thread writes to the lane meanwhile, there may be more of them than were counted. */
    last_nan = nan + seen->nans, last_zero = seen->negative_zeros ? zero + seen->zeros : zero;
    for (i = 0; i < n; i++) {
        uint64_t raw = width == 8 ? *(const uint64_t *)(from + i * stride) : *(const uint32_t *)(from + i * stride);
        if ((raw & magnitude) > infinite && nan < last_nan)
            s0_store_raw(out, nan++, width, raw);
        else if ((raw & magnitude) == 0 && zero < last_zero)
            s0_store_raw(out, zero++, width, raw);
    }
}

static inline void s0_decode(const uint64_t *words, Py_ssize_t n, int width, int kind, uint64_t mask, uint64_t least,
                             int low, char *out)
{
    Py_ssize_t i;
#define S0_CASE(w, k)                                                                                                \
    if (width == w && kind == k) {                                                                                   \
        S0_LOOP(i, n, s0_store_raw(out, i, w, s0_raw(((words[i] << low) + least) ^ mask, w, k)))                     \
        return;                                                                                                      \
    }
    S0_CASE(8, S0_FLOATING)
    S0_CASE(8, S0_SIGNED)
    S0_CASE(4, S0_FLOATING)
#undef S0_CASE
    S0_LOOP(i, n, s0_store_raw(out, i, width, s0_raw(((words[i] << low) + least) ^ mask, width, kind)))
}

/* `out` does not overlap `from`. */
static void s0_sort_lane(const char *from, Py_ssize_t stride, Py_ssize_t n, int width, int kind, int descending, int has_wide,
                         char *out, uint64_t *scratch)
{
    uint64_t few[4 * S0_FEW + 16], *keys = n <= S0_FEW ? few : scratch, *other = keys + n;
    uint64_t mask = descending ? ~(uint64_t)0 >> (64 - 8 * width) : 0, least;
    int64_t ranks[S0_FEW + 16];
    uint32_t *words;
    s0_seen seen;
    Py_ssize_t i, count;
    int low, bits;
    if (n == 0)
        return;
    if (kind == S0_BOOLEAN) {
        s0_sort_booleans(from, stride, n, descending, out);
        return;
    }
    if (n >= S0_HUGE_PAGE_WORDS)
        s0_touch_pages(scratch, 2 * n);
    count = s0_make_keys(from, stride, n, width, kind, 1, descending, keys, &seen);
    if (count < 0)
        return;
    low = s0_trailing_zeros(seen.ones & seen.zeroes);
    least = seen.least;
    bits = count ? s0_bit_length((seen.most - least) >> low) : 0;
    if (s0_is_few(count, bits, has_wide)) {
        s0_ranks_of(keys, count, ranks, has_wide);
        other += 16;
        for (i = 0; i < count; i++)
            other[ranks[i]] = keys[i];
        keys = other;
        least = 0, low = 0;
    } else if (bits <= 32) {
        words = (uint32_t *)other;
        S0_LOOP(i, count, words[i] = (uint32_t)((keys[i] - least) >> low))
        words = s0_radix_32(words, words + n, count, 0, bits);
        if (words == NULL)
            return;
        S0_LOOP(i, count, keys[i] = words[i])
    } else {
        S0_LOOP(i, count, keys[i] = (keys[i] - least) >> low)
        keys = s0_radix_64(keys, other, count, 0, bits);
        if (keys == NULL)
            return;
    }
    s0_decode(keys, count, width, kind, mask, least, low, descending ? out + seen.nans * width : out);
    if (seen.nans || seen.negative_zeros)
        s0_restore_raw(from, stride, n, width, descending, out, &seen);
}

/* Move the first of each run of equal elements, which are sorted, to the front; returns how many. */
#define S0_DISTINCT(type)                                                                                            \
    {                                                                                                                \
        type *x = (type *)data, one;                                                                                 \
        for (i = 1; i < n; i++) {                                                                                    \
            one = x[i];                                                                                              \
            different = one != x[k];                                                                                 \
            k += different;                                                                                          \
            x[k] = different ? one : x[k];                                                                           \
        }                                                                                                            \
    }

static Py_ssize_t s0_distinct(char *data, Py_ssize_t n, int width, int kind)
{
    Py_ssize_t i, k = 0;
    int different;
    if (n == 0)
        return 0;
    if (kind == S0_FLOATING && width == 8)
        S0_DISTINCT(double)
    else if (kind == S0_FLOATING)
        S0_DISTINCT(float)
    else if (width == 8)
        S0_DISTINCT(uint64_t)
    else if (width == 4)
        S0_DISTINCT(uint32_t)
    else if (width == 2)
        S0_DISTINCT(uint16_t)
    else
        S0_DISTINCT(uint8_t)
    return k + 1;
}

#endif
