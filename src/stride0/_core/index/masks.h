/* Elements where a mask is true, without branches that are mispredicted.
 *
 * Masks are the user's, and another thread may write to them at any time: whatever they contain, nothing is read or written
 * outside of the arrays. */
#ifndef STRIDE0_MASKS_H
#define STRIDE0_MASKS_H

#include <Python.h>
#include <stdint.h>
#include <string.h>

#include "index_loops.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define S0_MASKED __attribute__((target("avx512f,avx512bw,avx512vl")))
#endif

/* Inlined, for modes, widths and strides that the compiler knows. */
#define S0_ALONG static inline __attribute__((always_inline))

/* Return a call in which WIDTH is the item size as a constant. */
#define S0_BY_WIDTH(width, call)                                                                                     \
    switch (width) {                                                                                                 \
    case 1: { enum { WIDTH = 1 }; return call; }                                                                     \
    case 2: { enum { WIDTH = 2 }; return call; }                                                                     \
    case 4: { enum { WIDTH = 4 }; return call; }                                                                     \
    case 8: { enum { WIDTH = 8 }; return call; }                                                                     \
    default: { enum { WIDTH = 16 }; return call; }                                                                   \
    }

/* Bytes that are not zero. */
Py_ssize_t s0_count_true(const uint8_t *bits, Py_ssize_t n)
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

/* Whether all eight bytes are 0. */
static inline int s0_none_of_8(const uint8_t *bits)
{
    uint64_t eight;
    memcpy(&eight, bits, 8);
    return eight == 0;
}

/* An element of `from`, or its index if `from` is NULL. */
S0_ALONG void s0_put_selected(const int width, char *out, const char *from, Py_ssize_t stride, int64_t i)
{
    if (from == NULL)
        memcpy(out, &i, sizeof i);
    else
        memcpy(out, from + i * stride, (size_t)width);
}

/* Write an element for each true byte to `out`, at most `capacity` of them; returns how many. Each is written at the next
 * position, which advances only where the byte is true. */
S0_ALONG Py_ssize_t s0_compress(const int width, const uint8_t *bits, Py_ssize_t n, const char *from, Py_ssize_t stride,
                                char *out, Py_ssize_t capacity)
{
    Py_ssize_t i = 0, k = 0, j;
    for (; i + 8 <= n && k + 8 <= capacity; i += 8) {
        if (s0_none_of_8(bits + i))
            continue;
        for (j = i; j < i + 8; j++) {
            s0_put_selected(width, out + k * width, from, stride, j);
            k += bits[j] != 0;
        }
    }
    for (; i < n && k < capacity; i++) {
        s0_put_selected(width, out + k * width, from, stride, i);
        k += bits[i] != 0;
    }
    return k;
}

/* Write the indices of the true elements along each axis, at most `count` of them; returns how many. */
Py_ssize_t s0_true_indices(const uint8_t *bits, int ndim, const Py_ssize_t *shape, int64_t **columns, Py_ssize_t count)
{
    Py_ssize_t position[S0_MAX_PICKS] = {0};
    const Py_ssize_t run = shape[ndim - 1];
    Py_ssize_t k = 0, i, now, first = 0, size = 1;
    int d;
    for (d = 0; d < ndim; d++)
        size *= shape[d];
    while (first < size && k < count) {
        now = s0_compress(8, bits + first, run, NULL, 0, (char *)(columns[ndim - 1] + k), count - k);
        for (d = 0; d < ndim - 1; d++) {
            int64_t *column = columns[d] + k;
            const int64_t at = position[d];
            for (i = 0; i < now; i++)
                column[i] = at;
        }
        k += now;
        first += run;
        for (d = ndim - 2; d >= 0 && ++position[d] == shape[d]; d--)
            position[d] = 0;
    }
    return k;
}

Py_ssize_t s0_gather_true(int width, const uint8_t *bits, Py_ssize_t n, const char *from, Py_ssize_t stride,
                          char *out, Py_ssize_t capacity)
{
    S0_BY_WIDTH(width, s0_compress(WIDTH, bits, n, from, stride, out, capacity))
}

/* Write the positions of the true bytes among n bytes (at most 64) to `places`; return their number. */
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

/* Elements that are not selected are never written to. */
S0_ALONG Py_ssize_t s0_write_true(const int width, const uint8_t *bits, Py_ssize_t n, char *to, Py_ssize_t stride,
                                  const char *from, const Py_ssize_t step, Py_ssize_t count)
{
    uint8_t places[64];
    const Py_ssize_t given = count;
    for (; n > 0 && count > 0; n -= 64, bits += 64, to += 64 * stride) {
        int found = s0_true_places(bits, n < 64 ? n : 64, places);
        found = found < count ? found : (int)count;
        for (int k = 0; k < found; k++)
            memcpy(to + places[k] * stride, from + k * step, (size_t)width);
        from += found * step;
        count -= found;
    }
    return given - count;
}

#if defined(S0_MASKED)
/* Contiguous elements of 8 or 4 bytes are written sixteen at a time, by masked stores: 1.4 to 11 times as fast as the loop
 * above on the rows `x[m] = 0.0` of compare.py. */
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

/* Write an element of `from` for each true byte, at most `count` of them; returns how many. */
Py_ssize_t s0_scatter_true(int width, const uint8_t *bits, Py_ssize_t n, char *to, Py_ssize_t stride,
                           const char *from, Py_ssize_t count)
{
    S0_BY_WIDTH(width, s0_write_true(WIDTH, bits, n, to, stride, from, WIDTH, count))
}

/* Write one value for each true byte. `vector` is the number of bytes of the processor's vectors. */
Py_ssize_t s0_fill_true(int width, const uint8_t *bits, Py_ssize_t n, char *to, Py_ssize_t stride,
                        const char *value, int vector)
{
#if defined(S0_MASKED)
    if (vector == 64 && stride == width && (width == 8 || width == 4)) {
        const Py_ssize_t i = s0_fill_wide(width, bits, n, to, value);
        bits += i, to += i * stride, n -= i;
    }
#endif
    S0_BY_WIDTH(width, s0_write_true(WIDTH, bits, n, to, stride, value, 0, n))
}

#endif
