/* Gathers and scatters by one mask or one array of indices: without an array of offsets, and without branches that are
 * mispredicted.
 *
 * Masks and indices belong to the user, and another thread may write to them at any time: whatever they contain, memory outside
 * of the arrays is neither read nor written. */
#ifndef STRIDE0_GATHERING_H
#define STRIDE0_GATHERING_H

#include <Python.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define S0_MASKED __attribute__((target("avx512f,avx512bw,avx512vl")))
#endif

typedef struct {
    uint64_t low, high;
} s0_wide_element;

/* Inlined for strides that are compile-time constants. */
#define S0_ALONG static inline __attribute__((always_inline))

/* The number of bytes that are not zero. */
static Py_ssize_t s0_count_true(const uint8_t *bits, Py_ssize_t n)
{
    Py_ssize_t total = 0, i = 0, end;
    int j;
    while (i + 64 <= n) {
        uint8_t sums[64] = {0};
        /* A byte counts up to 255. */
        end = i + 255 * 64 < n ? i + 255 * 64 : n;
        for (; i + 64 <= end; i += 64)
            for (j = 0; j < 64; j++)
                sums[j] = (uint8_t)(sums[j] + (bits[i + j] != 0));
        for (j = 0; j < 64; j++)
            total += sums[j];
    }
    for (; i < n; i++)
        total += bits[i] != 0;
    return total;
}

/* Whether eight bytes are all zero. */
static inline int s0_none_of_8(const uint8_t *bits)
{
    uint64_t eight;
    memcpy(&eight, bits, 8);
    return eight == 0;
}

/* Write value(i) for each true byte to `out`, at most `capacity` values; returns their number. Each value is written to the next
 * position, which advances only if the byte is true. */
#define S0_COMPRESS(bits, n, out, capacity, value)                                                                   \
    Py_ssize_t i = 0, k = 0, j;                                                                                      \
    for (; i + 8 <= n && k + 8 <= capacity; i += 8) {                                                                \
        if (s0_none_of_8(bits + i))                                                                                  \
            continue;                                                                                                \
        for (j = i; j < i + 8; j++) {                                                                                \
            out[k] = value(j);                                                                                       \
            k += bits[j] != 0;                                                                                       \
        }                                                                                                            \
    }                                                                                                                \
    for (; i < n && k < capacity; i++) {                                                                             \
        out[k] = value(i);                                                                                           \
        k += bits[i] != 0;                                                                                           \
    }                                                                                                                \
    return k;

/* Write the positions of the true bytes among n, at most 64; returns their number. */
static inline int s0_true_places(const uint8_t *bits, Py_ssize_t n, uint8_t *places)
{
    int i = 0, k = 0, j;
    for (; i + 8 <= n; i += 8) {
        if (s0_none_of_8(bits + i))
            continue;
        for (j = i; j < i + 8; j++) {
            places[k] = (uint8_t)j;
            k += bits[j] != 0;
        }
    }
    for (; i < n; i++) {
        places[k] = (uint8_t)i;
        k += bits[i] != 0;
    }
    return k;
}

#define S0_ELEMENT(i) (*(const type *)(from + (i) * stride))
#define S0_INDEX(i) ((int64_t)(i))

static Py_ssize_t s0_true_indices(const uint8_t *bits, Py_ssize_t n, int64_t *out, Py_ssize_t capacity)
{
    S0_COMPRESS(bits, n, out, capacity, S0_INDEX)
}

/* Convert an index from -size to size - 1 to a non-negative one, or to `otherwise` if it is out of range. Negative indices are rare. */
#define S0_PLACE(at, size, otherwise)                                                                                \
    if (__builtin_expect((uint64_t)at >= (uint64_t)size, 0)) {                                                       \
        at += size & (at >> 63);                                                                                     \
        if ((uint64_t)at >= (uint64_t)size) {                                                                        \
            otherwise;                                                                                               \
        }                                                                                                            \
    }

/* Write elements, `step` of them apart, to the positions of indices from -size to size - 1, `index_step` of them apart, in order.
 * The element of each index is in a lane that begins `lane` bytes after the previous one. Returns whether all indices are in range. */
#define S0_SCATTER(width, element)                                                                                   \
    S0_ALONG int s0_scatter_along_##width(const int64_t *indices, Py_ssize_t index_step, Py_ssize_t n, char *to,     \
                                          Py_ssize_t lane, Py_ssize_t stride, Py_ssize_t size, const element *from,  \
                                          Py_ssize_t step)                                                           \
    {                                                                                                                \
        uint64_t bad = 0;                                                                                            \
        Py_ssize_t i;                                                                                                \
        for (i = 0; i < n; i++) {                                                                                    \
            int64_t at = indices[i * index_step];                                                                    \
            S0_PLACE(at, size, bad = 1; continue)                                                                    \
            *(element *)(to + i * lane + at * stride) = from[i * step];                                              \
        }                                                                                                            \
        return bad == 0;                                                                                             \
    }                                                                                                                \
    static int s0_scatter_##width(const int64_t *indices, Py_ssize_t n, char *to, Py_ssize_t stride,                 \
                                  Py_ssize_t size, const element *from, Py_ssize_t step)                             \
    {                                                                                                                \
        if (stride == (Py_ssize_t)sizeof(element) && step == 1)                                                      \
            return s0_scatter_along_##width(indices, 1, n, to, 0, sizeof(element), size, from, 1);                   \
        return s0_scatter_along_##width(indices, 1, n, to, 0, stride, size, from, step);                             \
    }

#define S0_OF_ITEM_SIZE(width, element)                                                                              \
    static Py_ssize_t s0_gather_true_##width(const uint8_t *bits, Py_ssize_t n, const char *from, Py_ssize_t stride, \
                                        element *out, Py_ssize_t capacity)                                           \
    {                                                                                                                \
        typedef element type;                                                                                        \
        S0_COMPRESS(bits, n, out, capacity, S0_ELEMENT)                                                              \
    }                                                                                                                \
    /* Memory of elements that are not selected is not written. */                                                   \
    static void s0_fill_##width(const uint8_t *bits, Py_ssize_t n, char *to, Py_ssize_t stride, const void *from)    \
    {                                                                                                                \
        element value = *(const element *)from;                                                                      \
        uint8_t places[64];                                                                                          \
        for (; n > 0; n -= 64, bits += 64, to += 64 * stride) {                                                      \
            const int found = s0_true_places(bits, n < 64 ? n : 64, places);                                         \
            for (int k = 0; k < found; k++)                                                                          \
                *(element *)(to + places[k] * stride) = value;                                                       \
        }                                                                                                            \
    }                                                                                                                \
    /* One element for each true byte; there were `count` when they were counted. */                                 \
    static void s0_scatter_true_##width(const uint8_t *bits, Py_ssize_t n, char *to, Py_ssize_t stride,              \
                                        const element *from, Py_ssize_t count)                                       \
    {                                                                                                                \
        uint8_t places[64];                                                                                          \
        for (; n > 0; n -= 64, bits += 64, to += 64 * stride) {                                                      \
            int found = s0_true_places(bits, n < 64 ? n : 64, places);                                               \
            found = found < count ? found : (int)count;                                                              \
            for (int k = 0; k < found; k++)                                                                          \
                *(element *)(to + places[k] * stride) = from[k];                                                     \
            from += found, count -= found;                                                                           \
        }                                                                                                            \
    }

#define S0_GATHER(width, element)                                                                                    \
    /* For each index from -size to size - 1 an element; its base is `step` bytes after the previous base;           \
     * returns whether all indices are in range. */                                                                  \
    S0_ALONG int s0_gather_along_##width(const int64_t *indices, Py_ssize_t index_step, Py_ssize_t n,                \
                                         const char *from, Py_ssize_t step, Py_ssize_t stride,                       \
                                         Py_ssize_t size, element *out)                                              \
    {                                                                                                                \
        uint64_t bad = 0;                                                                                            \
        Py_ssize_t i;                                                                                                \
        if (size == 0) /* A wrong index reads the first element, which does not exist here. */                       \
            return n == 0;                                                                                           \
        for (i = 0; i < n; i++, from += step) {                                                                      \
            int64_t at = indices[i * index_step];                                                                    \
            S0_PLACE(at, size, bad = 1; at = 0)                                                                      \
            out[i] = *(const element *)(from + at * stride);                                                         \
        }                                                                                                            \
        return bad == 0;                                                                                             \
    }                                                                                                                \
    static int s0_gather_##width(const int64_t *indices, Py_ssize_t n, const char *from, Py_ssize_t stride,          \
                                 Py_ssize_t size, element *out)                                                      \
    {                                                                                                                \
        if (stride == (Py_ssize_t)sizeof(element))                                                                   \
            return s0_gather_along_##width(indices, 1, n, from, 0, sizeof(element), size, out);                      \
        return s0_gather_along_##width(indices, 1, n, from, 0, stride, size, out);                                   \
    }                                                                                                                \
    /* The same elements of every lane; the indices have been checked and are in our own memory. */                  \
    static void s0_gather_lanes_##width(const int64_t *indices, Py_ssize_t n, const char *from,                      \
                                        Py_ssize_t lane_bytes, Py_ssize_t lanes, element *out)                       \
    {                                                                                                                \
        Py_ssize_t i, k;                                                                                             \
        for (k = 0; k < lanes; k++, from += lane_bytes, out += n) {                                                  \
            const element *here = (const element *)from;                                                             \
            for (i = 0; i + 4 <= n; i += 4) {                                                                        \
                element a = here[indices[i]], b = here[indices[i + 1]];                                              \
                element c = here[indices[i + 2]], d = here[indices[i + 3]];                                          \
                out[i] = a, out[i + 1] = b, out[i + 2] = c, out[i + 3] = d;                                          \
            }                                                                                                        \
            for (; i < n; i++)                                                                                       \
                out[i] = here[indices[i]];                                                                           \
        }                                                                                                            \
    }

S0_OF_ITEM_SIZE(1, uint8_t)
S0_OF_ITEM_SIZE(2, uint16_t)
S0_OF_ITEM_SIZE(4, uint32_t)
S0_OF_ITEM_SIZE(8, uint64_t)
S0_OF_ITEM_SIZE(16, s0_wide_element)

S0_SCATTER(1, uint8_t)
S0_SCATTER(2, uint16_t)
S0_SCATTER(4, uint32_t)
S0_SCATTER(8, uint64_t)
S0_SCATTER(16, s0_wide_element)

S0_GATHER(1, uint8_t)
S0_GATHER(2, uint16_t)
S0_GATHER(4, uint32_t)
S0_GATHER(8, uint64_t)
S0_GATHER(16, s0_wide_element)

static Py_ssize_t s0_gather_true(int width, const uint8_t *bits, Py_ssize_t n, const char *from, Py_ssize_t stride, char *out,
                            Py_ssize_t capacity)
{
    switch (width) {
    case 1: return s0_gather_true_1(bits, n, from, stride, (uint8_t *)out, capacity);
    case 2: return s0_gather_true_2(bits, n, from, stride, (uint16_t *)out, capacity);
    case 4: return s0_gather_true_4(bits, n, from, stride, (uint32_t *)out, capacity);
    case 8: return s0_gather_true_8(bits, n, from, stride, (uint64_t *)out, capacity);
    default: return s0_gather_true_16(bits, n, from, stride, (s0_wide_element *)out, capacity);
    }
}

#if defined(S0_MASKED)
/* Contiguous elements of 4 or 8 bytes are written sixteen at a time, by masked stores. */
S0_MASKED static Py_ssize_t s0_fill_wide(int width, const uint8_t *bits, Py_ssize_t n, char *to, const void *value)
{
    __m512i all = width == 8 ? _mm512_set1_epi64(*(const long long *)value) : _mm512_set1_epi32(*(const int *)value);
    Py_ssize_t i;
    for (i = 0; i + 16 <= n; i += 16) {
        __m128i sixteen = _mm_loadu_si128((const __m128i *)(bits + i));
        __mmask16 set = _mm_test_epi8_mask(sixteen, sixteen);
        if (set == 0)
            continue;
        if (width == 4) {
            _mm512_mask_storeu_epi32(to + i * 4, set, all);
        } else {
            _mm512_mask_storeu_epi64(to + i * 8, (__mmask8)set, all);
            _mm512_mask_storeu_epi64(to + i * 8 + 64, (__mmask8)(set >> 8), all);
        }
    }
    return i;
}
#endif

static void s0_fill(int width, const uint8_t *bits, Py_ssize_t n, char *to, Py_ssize_t stride, const void *value, int vector)
{
#if defined(S0_MASKED)
    if (vector == 64 && stride == width && (width == 8 || width == 4)) {
        const Py_ssize_t i = s0_fill_wide(width, bits, n, to, value);
        bits += i, to += i * stride, n -= i;
    }
#endif
    switch (width) {
    case 1: s0_fill_1(bits, n, to, stride, value); return;
    case 2: s0_fill_2(bits, n, to, stride, value); return;
    case 4: s0_fill_4(bits, n, to, stride, value); return;
    case 8: s0_fill_8(bits, n, to, stride, value); return;
    default: s0_fill_16(bits, n, to, stride, value);
    }
}

static void s0_scatter_true(int width, const uint8_t *bits, Py_ssize_t n, char *to, Py_ssize_t stride, const void *from,
                            Py_ssize_t count)
{
    switch (width) {
    case 1: s0_scatter_true_1(bits, n, to, stride, from, count); return;
    case 2: s0_scatter_true_2(bits, n, to, stride, from, count); return;
    case 4: s0_scatter_true_4(bits, n, to, stride, from, count); return;
    case 8: s0_scatter_true_8(bits, n, to, stride, from, count); return;
    default: s0_scatter_true_16(bits, n, to, stride, from, count);
    }
}

/* Whether all indices are from -size to size - 1. */
static int s0_are_within(const int64_t *indices, Py_ssize_t n, Py_ssize_t size)
{
    uint64_t bad = 0;
    Py_ssize_t i;
    for (i = 0; i < n; i++) {
        const uint64_t from_last = (uint64_t)indices[i] + (uint64_t)size; /* out of range if its first bit is set, or if 2 size - 1 minus it is negative */
        bad |= from_last | (2 * (uint64_t)size - 1 - from_last);
    }
    return bad >> 63 == 0;
}

static int s0_scatter(int width, const int64_t *indices, Py_ssize_t n, char *to, Py_ssize_t stride, Py_ssize_t size,
                      const void *from, Py_ssize_t step)
{
    switch (width) {
    case 1: return s0_scatter_1(indices, n, to, stride, size, from, step);
    case 2: return s0_scatter_2(indices, n, to, stride, size, from, step);
    case 4: return s0_scatter_4(indices, n, to, stride, size, from, step);
    case 8: return s0_scatter_8(indices, n, to, stride, size, from, step);
    default: return s0_scatter_16(indices, n, to, stride, size, from, step);
    }
}

static int s0_scatter_along(int width, const int64_t *indices, Py_ssize_t index_step, Py_ssize_t n, char *to, Py_ssize_t lane,
                            Py_ssize_t stride, Py_ssize_t size, const void *from, Py_ssize_t step)
{
    switch (width) {
    case 1: return s0_scatter_along_1(indices, index_step, n, to, lane, stride, size, from, step);
    case 2: return s0_scatter_along_2(indices, index_step, n, to, lane, stride, size, from, step);
    case 4: return s0_scatter_along_4(indices, index_step, n, to, lane, stride, size, from, step);
    case 8: return s0_scatter_along_8(indices, index_step, n, to, lane, stride, size, from, step);
    default: return s0_scatter_along_16(indices, index_step, n, to, lane, stride, size, from, step);
    }
}

/* Gather elements at indices; returns whether all indices were in range. */
static int s0_gather(int width, const int64_t *indices, Py_ssize_t n, const char *from, Py_ssize_t stride, Py_ssize_t size,
                   char *out)
{
    switch (width) {
    case 1: return s0_gather_1(indices, n, from, stride, size, (uint8_t *)out);
    case 2: return s0_gather_2(indices, n, from, stride, size, (uint16_t *)out);
    case 4: return s0_gather_4(indices, n, from, stride, size, (uint32_t *)out);
    case 8: return s0_gather_8(indices, n, from, stride, size, (uint64_t *)out);
    default: return s0_gather_16(indices, n, from, stride, size, (s0_wide_element *)out);
    }
}

static void s0_gather_lanes(int width, const int64_t *indices, Py_ssize_t n, const char *from, Py_ssize_t lane_bytes,
                          Py_ssize_t lanes, char *out)
{
    switch (width) {
    case 1: s0_gather_lanes_1(indices, n, from, lane_bytes, lanes, (uint8_t *)out); return;
    case 2: s0_gather_lanes_2(indices, n, from, lane_bytes, lanes, (uint16_t *)out); return;
    case 4: s0_gather_lanes_4(indices, n, from, lane_bytes, lanes, (uint32_t *)out); return;
    case 8: s0_gather_lanes_8(indices, n, from, lane_bytes, lanes, (uint64_t *)out); return;
    default: s0_gather_lanes_16(indices, n, from, lane_bytes, lanes, (s0_wide_element *)out);
    }
}

static int s0_gather_along(int width, const int64_t *indices, Py_ssize_t index_step, Py_ssize_t n, const char *from,
                           Py_ssize_t step, Py_ssize_t stride, Py_ssize_t size, char *out)
{
    switch (width) {
    case 1: return s0_gather_along_1(indices, index_step, n, from, step, stride, size, (uint8_t *)out);
    case 2: return s0_gather_along_2(indices, index_step, n, from, step, stride, size, (uint16_t *)out);
    case 4: return s0_gather_along_4(indices, index_step, n, from, step, stride, size, (uint32_t *)out);
    case 8: return s0_gather_along_8(indices, index_step, n, from, step, stride, size, (uint64_t *)out);
    default: return s0_gather_along_16(indices, index_step, n, from, step, stride, size, (s0_wide_element *)out);
    }
}

/* Copy a run of bytes; a short run without a call, as two halves that may overlap. */
static inline void s0_copy_run(char *to, const char *from, Py_ssize_t run)
{
#define S0_HALVES(bytes) memcpy(to, from, bytes), memcpy(to + run - (bytes), from + run - (bytes), bytes)
    if (run > 64 || run < 8)
        memcpy(to, from, (size_t)run);
    else if (run > 32)
        S0_HALVES(32);
    else if (run > 16)
        S0_HALVES(16);
    else
        S0_HALVES(8);
#undef S0_HALVES
}

/* Runs from S0_AHEAD_FROM bytes on are prefetched, up to S0_AHEAD_TO bytes each: processors do not predict where the next run begins. */
enum { S0_AHEAD = 4, S0_AHEAD_FROM = 128, S0_AHEAD_TO = 512 };

/* Gather contiguous runs at indices along an axis, for every index of the axes before it: `count` runs from number `first` on;
 * returns whether all indices are valid. */
static int s0_gather_runs(const int64_t *indices, Py_ssize_t n, const char *from, Py_ssize_t size, Py_ssize_t run,
                          Py_ssize_t first, Py_ssize_t count, char *out)
{
    uint64_t bad = 0;
    Py_ssize_t i, k, start = first % n, end, ahead = run < S0_AHEAD_FROM ? n : S0_AHEAD;
    from += first / n * size * run;
    out += first * run;
    for (; count > 0; count -= end - start, start = 0, from += size * run) {
        end = start + count < n ? start + count : n;
        for (i = start; i < end; i++, out += run) {
            int64_t at = indices[i];
            at += at < 0 ? size : 0;
            if ((uint64_t)at >= (uint64_t)size) {
                bad = 1;
                at = 0;
            }
            /* The index is not checked yet, but any address may be prefetched. */
            for (k = 0; i + ahead < end && k < run && k < S0_AHEAD_TO; k += 64)
                __builtin_prefetch(from + (uint64_t)indices[i + ahead] * (uint64_t)run + k);
            s0_copy_run(out, from + at * run, run);
        }
    }
    return bad == 0;
}

#endif
