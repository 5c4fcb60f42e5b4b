/* Sorting of one lane of real numbers or booleans: always stable, -0.0 equal to 0.0, NaN last (first if descending).
 *
 * Elements are encoded as signed words in the same order; for a descending sort the words are complemented, so that equal elements
 * keep their order too. The words are sorted (sort_words.h) and decoded. Each step works on a part of the lane, so that several
 * threads can sort a long lane; then the sorted parts are merged.
 *
 * An argsort keeps the indices of the elements in the low bits of the words. If an element and an index need more bits than a word
 * has, elements with equal words are sorted again by the missing bits. */
#ifndef STRIDE0_SORTING_H
#define STRIDE0_SORTING_H

#include "kernels.h"
#include "packs.h"
#include "tiles.h"

#define S0_DIGIT 11
#define S0_FEW_BITS 16          /* words that differ in at most this number of bits are sorted by digits */
#define S0_BATCH (1 << 16)      /* elements moved between two checks for signals */

/* A loop in a function that returns whether it was completed: a signal ends it. */
#define S0_LOOP(i, first, last, body)                                                                                \
    for (i = (first); i < (last);) {                                                                                 \
        Py_ssize_t end_ = (last) - i < S0_BATCH ? (last) : i + S0_BATCH;                                             \
        for (; i < end_; i++)                                                                                        \
            body;                                                                                                    \
        if (i < (last) && s0_table->interrupted())                                                                   \
            return 0;                                                                                                \
    }

static inline int s0_trailing_zeros(uint64_t value) { return value ? __builtin_ctzll(value) : 0; }

#if S0_VECTOR == 32
/* For each set of bits, the permutation of a vector's 32-bit words that puts the words with a bit first; three bits for each of
 * eight words. */
static uint32_t s0_divisions_32[256];
static __m256i s0_divisions_64[16];

static void s0_fill_divisions(void)
{
    for (unsigned bits = 0; bits < 256; bits++)
        for (unsigned pass = 0, k = 0; pass < 2; pass++)
            for (unsigned lane = 0; lane < 8; lane++)
                if (((bits >> lane) & 1) != pass)
                    s0_divisions_32[bits] |= lane << 3 * k++;
    for (unsigned bits = 0; bits < 16; bits++) {
        uint32_t words[8];
        for (unsigned pass = 0, k = 0; pass < 2; pass++)
            for (unsigned lane = 0; lane < 4; lane++)
                if (((bits >> lane) & 1) != pass)
                    words[k++] = 2 * lane, words[k++] = 2 * lane + 1;
        memcpy(&s0_divisions_64[bits], words, sizeof(words));
    }
}

S0_INLINE __m256i s0_division_32(unsigned bits)
{
    const __m256i all = _mm256_set1_epi32((int)s0_divisions_32[bits]);
    return _mm256_srlv_epi32(all, _mm256_setr_epi32(0, 3, 6, 9, 12, 15, 18, 21));
}
#else
static void s0_fill_divisions(void) {}
#endif

typedef uint32_t s0_digits32;
typedef uint64_t s0_digits64;

/* 64 bits come first, because functions for shorter words use them to move indices. But words of lanes may be packed into 32 bits. */
static void s0_order_aside32(void *columns, Py_ssize_t n);
#if S0_VECTOR == 64
#define S0_EACH_PLACE S0_LANES_8
#else
#define S0_EACH_PLACE S0_LANES_4
#endif
#define S0_WORD 64
#define S0_LANE_MASK __mmask8
#define S0_BYTES 8
#define S0_MOVEMASK(x) ((unsigned)_mm256_movemask_pd((__m256d)(x)))
#define S0_DIVISION(bits) s0_divisions_64[bits]
#include "sort_words.h"
#undef S0_WORD
#undef S0_BYTES
#undef S0_LANE_MASK
#undef S0_MOVEMASK
#undef S0_DIVISION
#define S0_WORD 32
#define S0_LANE_MASK __mmask16
#define S0_BYTES 4
#define S0_MOVEMASK(x) ((unsigned)_mm256_movemask_ps((__m256)(x)))
#define S0_DIVISION(bits) s0_division_32(bits)
#include "sort_words.h"
#undef S0_WORD
#undef S0_BYTES
#undef S0_LANE_MASK
#undef S0_MOVEMASK
#undef S0_DIVISION

#include "encoding.h"

/* --- the steps of a sort of a lane: see `s0_sorter` of kernels.h */

static void s0_copy_at(const char *from, Py_ssize_t stride, Py_ssize_t n, int width, char *to, Py_ssize_t to_stride)
{
#define S0_COPY_AT(bits)                                                                                             \
    for (Py_ssize_t i = 0; i < n; i++)                                                                               \
        *(uint##bits##_t *)(to + i * to_stride) = *(const uint##bits##_t *)(from + i * stride);
    switch (width) {
    case 1: S0_COPY_AT(8) break;
    case 2: S0_COPY_AT(16) break;
    case 4: S0_COPY_AT(32) break;
    default: S0_COPY_AT(64)
    }
#undef S0_COPY_AT
}

static int64_t s0_top_of(const s0_lane *lane)
{
    /* NaN is greater than any number; with `nans_last` it is last in a descending sort too. */
    return (lane->width == 8 ? INT64_MAX : INT32_MAX) ^ (lane->nans_last ? lane->mask : 0);
}

static int s0_encode_part(const s0_lane *lane, Py_ssize_t first, Py_ssize_t last, s0_seen *seen)
{
    enum { gathered = 4096 };
    char elements[gathered] __attribute__((aligned(8)));
    const int wide = lane->width == 8 || lane->indices, contiguous = lane->stride == lane->width;
    const Py_ssize_t most = contiguous ? S0_BATCH : gathered / lane->width;
    const int64_t top = s0_top_of(lane);
    Py_ssize_t i, count;
    if (seen != NULL) {
        memset(seen, 0, sizeof(*seen));
        seen->least = wide ? INT64_MAX : INT32_MAX, seen->most = ~seen->least;
    }
    for (i = first; i < last; i += count) {
        const char *from = lane->from + i * lane->stride;
        count = last - i < most ? last - i : most;
        if (i > first && s0_table->interrupted())
            return 0;
        if (!contiguous) {
            s0_copy_at(from, lane->stride, count, lane->width, elements, lane->width);
            from = elements;
        }
        if (wide)
            s0_encode_64(from, count, lane->width, lane->kind, lane->mask, top, (int64_t *)lane->scratch + i, seen);
        else
            s0_encode_32(from, count, lane->width, lane->kind, lane->mask, top, (int32_t *)lane->scratch + i, seen);
    }
    return 1;
}

static void s0_plan_lane(s0_lane *lane, const s0_seen *seen)
{
    const Py_ssize_t n = lane->n;
    const int low = s0_trailing_zeros(seen->ones & seen->zeroes);
    const int bits = s0_bit_length((uint64_t)seen->most - (uint64_t)seen->least);
    int64_t *encoded = (int64_t *)lane->scratch;
    lane->seen = *seen;
    lane->words = encoded, lane->least = seen->least, lane->low = 0, lane->bits = bits, lane->rest = 0, lane->index_bits = 0;
    lane->packed = lane->indices, lane->wide = lane->width == 8 || lane->indices;
    if (lane->indices) {
        lane->low = low, lane->bits = bits - low, lane->index_bits = s0_bit_length((uint64_t)(n - 1));
        if (lane->bits + lane->index_bits > 64) {
            /* The encoded elements are still needed for the missing bits. */
            lane->rest = lane->bits + lane->index_bits - 64;
            lane->bits -= lane->rest;
            lane->words = encoded + n;
        }
    } else if (lane->wide && bits - low <= 32) {
        lane->low = low, lane->bits = bits - low, lane->packed = 1, lane->wide = 0;
        lane->words = encoded + n;
    }
    lane->other = lane->wide ? (void *)((int64_t *)lane->words + n) : (void *)((int32_t *)lane->words + n);
}

static int s0_pack(const s0_lane *lane, Py_ssize_t first, Py_ssize_t last)
{
    const int64_t *from = (const int64_t *)lane->scratch;
    const uint64_t least = (uint64_t)lane->least;
    const int shift = lane->low + lane->rest, index_bits = lane->index_bits;
    int64_t *words = (int64_t *)lane->words;
    int32_t *narrow = (int32_t *)lane->words;
    Py_ssize_t i;
    if (lane->indices)
        S0_LOOP(i, first, last, {
            words[i] = (int64_t)(((uint64_t)from[i] - least) >> shift << index_bits | (uint64_t)i) ^ INT64_MIN;
        })
    else
        S0_LOOP(i, first, last, narrow[i] = (int32_t)(uint32_t)(((uint64_t)from[i] - least) >> shift) ^ INT32_MIN)
    return 1;
}

static int s0_order_part(const s0_lane *lane, Py_ssize_t first, Py_ssize_t last)
{
    const Py_ssize_t n = last - first;
    const int low = lane->indices ? lane->index_bits : 0;
    if (lane->packed && !s0_pack(lane, first, last))
        return 0;
    if (lane->wide) {
        int64_t *words = (int64_t *)lane->words + first, *other = (int64_t *)lane->other + first;
        return s0_order64(words, other, n, lane->packed ? INT64_MIN : lane->least, low, lane->bits, words);
    }
    int32_t *words = (int32_t *)lane->words + first, *other = (int32_t *)lane->other + first;
    return s0_order32(words, other, n, lane->packed ? INT32_MIN : (int32_t)lane->least, low, lane->bits, words);
}

static int s0_merge_part(const s0_lane *lane, Py_ssize_t first, Py_ssize_t middle, Py_ssize_t last, Py_ssize_t start,
                         Py_ssize_t end)
{
    return lane->wide ? s0_merge64((const int64_t *)lane->words, (int64_t *)lane->other, first, middle, last, start, end)
                      : s0_merge32((const int32_t *)lane->words, (int32_t *)lane->other, first, middle, last, start, end);
}

static int s0_decode_part(const s0_lane *lane, Py_ssize_t first, Py_ssize_t last)
{
    const uint64_t mask = ((uint64_t)1 << lane->index_bits) - 1;
    const int64_t *words = (const int64_t *)lane->words;
    Py_ssize_t i;
    if (lane->indices) {
        S0_LOOP(i, first, last, ((int64_t *)lane->out)[i] = (int64_t)((uint64_t)words[i] & mask))
        return 1;
    }
    char *out = lane->out + first * lane->width;
    if (lane->wide)
        return s0_decode_64(words + first, last - first, lane->width, lane->kind, lane->mask, 0, 0, out);
    return s0_decode_32((const int32_t *)lane->words + first, last - first, lane->width, lane->kind, lane->mask, lane->least,
                        lane->low, out);
}

/* The elements with the indices `order` have equal words except for `bits` bits; sort them by these bits. x and y have space for n
 * words. */
static int s0_order_ties(const s0_lane *lane, int64_t *order, Py_ssize_t n, int bits, int64_t *x, int64_t *y);

/* `s0_order_ties` for each run of equal words. `words` may be y. */
static int s0_order_runs(const s0_lane *lane, const int64_t *words, int64_t *order, Py_ssize_t n, int bits, int64_t *x,
                         int64_t *y)
{
    Py_ssize_t i, first = 0;
    S0_LOOP(i, 1, n + 1, {
        if (i < n && (words[i] ^ words[first]) >> lane->index_bits == 0)
            continue;
        if (i - first > 1 && !s0_order_ties(lane, order + first, i - first, bits, x + first, y + first))
            return 0;
        first = i;
    })
    return 1;
}

static int s0_order_ties(const s0_lane *lane, int64_t *order, Py_ssize_t n, int bits, int64_t *x, int64_t *y)
{
    const int index_bits = lane->index_bits, taken = bits < 64 - index_bits ? bits : 64 - index_bits, rest = bits - taken;
    const uint64_t mask = ((uint64_t)1 << index_bits) - 1, chosen = ~(uint64_t)0 >> (64 - taken);
    const int64_t *from = (const int64_t *)lane->scratch;
    Py_ssize_t i;
    S0_LOOP(i, 0, n, {
        const uint64_t word = ((uint64_t)from[order[i]] - (uint64_t)lane->least) >> (lane->low + rest);
        x[i] = (int64_t)((word & chosen) << index_bits | (uint64_t)order[i]) ^ INT64_MIN;
    })
    if (!s0_order64(x, y, n, INT64_MIN, index_bits, taken, x))
        return 0;
    S0_LOOP(i, 0, n, order[i] = (int64_t)((uint64_t)x[i] & mask))
    return rest == 0 || s0_order_runs(lane, x, order, n, rest, y, x);
}

/* Restore what words do not contain: the bits of each NaN, and the signs of zeros. */
static void s0_restore_raw(const s0_lane *lane)
{
    const s0_seen *seen = &lane->seen;
    const Py_ssize_t n = lane->n;
    const int width = lane->width, descending = lane->mask != 0;
    const char *from = lane->from;
    char *out = lane->out;
    uint64_t magnitude = ~(uint64_t)0 >> (65 - 8 * width), infinite = width == 8 ? 0x7FF0000000000000u : 0x7F800000u;
    Py_ssize_t i, nan = descending ? 0 : n - seen->nans, zero = descending ? seen->nans : 0, last_nan, last_zero;
    if (seen->negative_zeros) {
        /* Binary search for the first zero; all zeros are 0.0 so far. */
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
    /* If another thread writes to the lane meanwhile, there may be more than were counted. */
    last_nan = nan + seen->nans, last_zero = seen->negative_zeros ? zero + seen->zeros : zero;
    for (i = 0; i < n; i++, from += lane->stride) {
        uint64_t raw = width == 8 ? *(const uint64_t *)from : *(const uint32_t *)from;
        if ((raw & magnitude) > infinite && nan < last_nan)
            s0_store_raw(out, nan++, width, (int64_t)raw);
        else if ((raw & magnitude) == 0 && zero < last_zero)
            s0_store_raw(out, zero++, width, (int64_t)raw);
    }
}

static int s0_finish_lane(const s0_lane *lane)
{
    if (lane->indices)
        return lane->rest == 0
            || s0_order_runs(lane, (const int64_t *)lane->words, (int64_t *)lane->out, lane->n, lane->rest, (int64_t *)lane->other,
                             (int64_t *)lane->words);
    if (lane->seen.nans || lane->seen.negative_zeros)
        s0_restore_raw(lane);
    return 1;
}

#include "sort_short.h"

static void s0_sort_lane(s0_lane *lane)
{
    uint64_t few[3 * S0_FEW + S0_SLACK];
    s0_seen seen;
    if (lane->n == 0)
        return;
    if (lane->kind == S0_BOOLEAN) {
        (lane->indices ? s0_argsort_booleans : s0_sort_booleans)(lane);
        return;
    }
    if (s0_sort_few(lane) || s0_argsort_few(lane))
        return;
    if (lane->n <= S0_FEW)
        lane->scratch = few;
    if (!s0_encode_part(lane, 0, lane->n, &seen))
        return;
    s0_plan_lane(lane, &seen);
    if (s0_order_part(lane, 0, lane->n) && s0_decode_part(lane, 0, lane->n))
        s0_finish_lane(lane);
}

/* --- adjacent lanes: in vectors, as many together as a vector has lanes; or one by one */

static void s0_sort_one_by_one(const s0_adjacent *all, Py_ssize_t first, Py_ssize_t last)
{
    const int width = all->lane.indices ? 8 : all->lane.width;
    for (; first < last; first++) {
        s0_lane lane = all->lane;
        char *out = lane.out + first * all->out_next;
        lane.from += first * all->next;
        if (all->out_stride == width)
            lane.out = out;
        else
            lane.out = (char *)lane.scratch, lane.scratch += lane.n;
        s0_sort_lane(&lane);
        if (lane.out != out)
            s0_copy_at(lane.out, width, lane.n, width, out, all->out_stride);
    }
}

static int s0_sort_aside(const s0_adjacent *all, Py_ssize_t first, Py_ssize_t m)
{
    const Py_ssize_t n = all->lane.n, width = all->lane.width, lanes = S0_VECTOR / width;
    if (all->lane.indices || n < 2 || n * width > S0_ASIDE || 2 * m < lanes)
        return 0;
#if S0_VECTOR >= 32
    if (width == 8)
        return s0_sort_aside64(all, first, m);
#endif
    return width == 4 && s0_sort_aside32(all, first, m);
}

static void s0_sort_lanes(const s0_adjacent *all, Py_ssize_t first, Py_ssize_t last)
{
    /* Two vectors of 64-bit words, because they may be packed into one. */
    const Py_ssize_t together = all->lane.width == 8 ? 2 * S0_VECTOR / 8 : S0_VECTOR / 4;
    for (Py_ssize_t m; first < last; first += m) {
        m = last - first < together ? last - first : together;
        if (s0_table->interrupted())
            return;
        if (!s0_sort_aside(all, first, m))
            s0_sort_one_by_one(all, first, first + m);
    }
}

/* --- selection: see `s0_sorter` */

/* Partition a contiguous lane of elements with 4 or 8 bytes. */
static void s0_part_lane(const s0_lane *given)
{
    s0_lane lane = *given;
    const Py_ssize_t n = lane.n, first = lane.first, last = lane.last;
    int done;
    if (n <= S0_FEW) {
        s0_sort_lane(&lane);
        return;
    }
    uint64_t *const x = lane.scratch + n, *const y = x + n, *const middle = y + n + S0_SLACK;
    if (!s0_encode_part(&lane, 0, n, NULL))
        return;
    done = lane.width == 8 ? s0_part64((const int64_t *)lane.scratch, (const int64_t *)lane.from, n, first, last, (int64_t *)x,
                                       (int64_t *)y, (int64_t *)middle, (int64_t *)lane.out)
                           : s0_part32((const int32_t *)lane.scratch, (const int32_t *)lane.from, n, first, last, (int32_t *)x,
                                       (int32_t *)y, (int32_t *)middle, (int32_t *)lane.out);
    if (!done)
        return;
    lane.from = (const char *)middle, lane.n = last - first, lane.out += first * lane.width;
    if (lane.n == 1) {
        memcpy(lane.out, middle, (size_t)lane.width);
        return;
    }
    s0_sort_lane(&lane);
}

static void s0_select_lane(const s0_lane *given)
{
    if (!given->indices) {
        s0_part_lane(given);
        return;
    }
    s0_lane lane = *given, chosen = {0};
    const Py_ssize_t n = lane.n, first = lane.first, count = lane.last - first;
    int64_t *out = (int64_t *)lane.out, *const wanted = lane.whole ? out + first : out;
    int64_t few[S0_FEW];
    int done;
    if (n <= S0_FEW) {
        lane.indices = 1;
        lane.out = (char *)(lane.whole ? out : few);
        s0_sort_lane(&lane);
        if (!lane.whole)
            memcpy(out, few + first, (size_t)count * sizeof(*few));
        return;
    }
    /* Words of 32 bits take half the space. */
    uint64_t *const x = lane.scratch + n, *const y = x + n;
    int64_t *const indices = (int64_t *)(y + n + S0_SLACK), *const words = indices + count + 1;
    lane.indices = 0;
    if (!s0_encode_part(&lane, 0, n, NULL))
        return;
    if (!lane.whole)
        out = NULL;
    done = lane.width == 8
               ? s0_choose64((const int64_t *)lane.scratch, n, first, lane.last, (int64_t *)x, (int64_t *)y, indices, words, out)
               : s0_choose32((const int32_t *)lane.scratch, n, first, lane.last, (int32_t *)x, (int32_t *)y, indices, words, out);
    if (!done)
        return;
    chosen.from = (const char *)words, chosen.stride = chosen.width = sizeof(*words), chosen.kind = S0_SIGNED;
    chosen.n = count, chosen.indices = 1, chosen.scratch = lane.scratch, chosen.out = (char *)wanted;
    s0_sort_lane(&chosen);
    /* A sort that a signal interrupted has not written all elements. */
    if (s0_table->interrupted())
        return;
    for (Py_ssize_t i = 0; i < count; i++)
        wanted[i] = indices[wanted[i]];
}

static const s0_sorter *s0_make_sorter(void)
{
    static const s0_sorter sorter = {
        s0_sort_lane, s0_sort_lanes, s0_select_lane, s0_encode_part, s0_plan_lane, s0_order_part, s0_merge_part, s0_decode_part, s0_finish_lane,
    };
    s0_fill_divisions();
    return &sorter;
}

#endif
