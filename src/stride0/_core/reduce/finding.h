/* The first index of a value in a contiguous run; `any` and `all` of bools, which are such searches; the number of true elements. */
#ifndef STRIDE0_FINDING_H
#define STRIDE0_FINDING_H

#include "packs.h"
#include "any_strides.h"

/* Compare the elements of two vectors: a bit mask with one bit for each element or for each byte. */
#if S0_VECTOR == 64
#define S0_PER(type) 1
#define S0_BITS(same) (same)
#define S0_SAME_int8(x, y) _mm512_cmpeq_epi8_mask((__m512i)(x), (__m512i)(y))
#define S0_SAME_int16(x, y) _mm512_cmpeq_epi16_mask((__m512i)(x), (__m512i)(y))
#define S0_SAME_int32(x, y) _mm512_cmpeq_epi32_mask((__m512i)(x), (__m512i)(y))
#define S0_SAME_int64(x, y) _mm512_cmpeq_epi64_mask((__m512i)(x), (__m512i)(y))
#define S0_SAME_float32(x, y) _mm512_cmp_ps_mask((__m512)(x), (__m512)(y), _CMP_EQ_OQ)
#define S0_SAME_float64(x, y) _mm512_cmp_pd_mask((__m512d)(x), (__m512d)(y), _CMP_EQ_OQ)
#define S0_SAME_bool(x, y) _mm512_cmpeq_epi8_mask(_mm512_min_epu8((__m512i)(x), _mm512_set1_epi8(1)), (__m512i)(y))
#else
typedef char s0_bytes __attribute__((vector_size(S0_VECTOR)));
S0_INLINE uint32_t s0_bits(s0_bytes same)
{
#if S0_VECTOR == 32
    return (uint32_t)_mm256_movemask_epi8((__m256i)same);
#elif defined(__SSE2__)
    return (uint32_t)_mm_movemask_epi8((__m128i)same);
#else
    uint32_t bits = 0;
    S0_FOR_ALL(S0_VECTOR) bits |= (uint32_t)(same[k] & 1) << k;
    return bits;
#endif
}
#define S0_PER(type) sizeof(type)
#define S0_BITS(same) s0_bits(same)
#define S0_SAME(x, y) ((s0_bytes)((x) == (y)))
#define S0_SAME_int8 S0_SAME
#define S0_SAME_int16 S0_SAME
#define S0_SAME_int32 S0_SAME
#define S0_SAME_int64 S0_SAME
#define S0_SAME_float32 S0_SAME
#define S0_SAME_float64 S0_SAME
#define S0_SAME_bool(x, y) ((s0_bytes)(((x) != 0) == ((y) != 0)))
#endif

/* Index of the first of n elements that is `wanted`, a bool 0 or 1; n if no element is. The last vector overlaps the previous
 * one. */
#define S0_FIND(name, type, like, IS)                                                                                \
    static inline __attribute__((unused)) Py_ssize_t s0_find_##name(const type *p, Py_ssize_t n, type wanted)        \
    {                                                                                                                \
        enum { WIDTH = S0_VECTOR / sizeof(type) };                                                                   \
        typedef type vector __attribute__((vector_size(S0_VECTOR)));                                                 \
        const vector all = (vector){0} + wanted;                                                                     \
        Py_ssize_t i = 0;                                                                                            \
        uint64_t bits;                                                                                               \
        vector x[4];                                                                                                 \
        for (; n - i >= 4 * WIDTH; i += 4 * WIDTH) {                                                                 \
            S0_FOR_ALL(4) memcpy(&x[k], p + i + k * WIDTH, sizeof(x[k]));                                            \
            if (S0_BITS((S0_SAME_##like(x[0], all) | S0_SAME_##like(x[1], all)) |                                    \
                        (S0_SAME_##like(x[2], all) | S0_SAME_##like(x[3], all))))                                    \
                break;                                                                                               \
        }                                                                                                            \
        for (; i < n && n >= WIDTH; i += WIDTH) {                                                                    \
            i = n - i < WIDTH ? n - WIDTH : i;                                                                       \
            memcpy(&x[0], p + i, sizeof(x[0]));                                                                      \
            bits = S0_BITS(S0_SAME_##like(x[0], all));                                                              \
            if (bits)                                                                                                \
                return i + __builtin_ctzll(bits) / (Py_ssize_t)S0_PER(type);                                         \
        }                                                                                                            \
        while (i < n && !IS(p[i], wanted))                                                                           \
            i++;                                                                                                     \
        return i;                                                                                                    \
    }
#define S0_IS(x, y) ((x) == (y))
#define S0_IS_TRUE(x, y) (((x) != 0) == (y))
S0_FIND(int8, int8_t, int8, S0_IS)
S0_FIND(int16, int16_t, int16, S0_IS)
S0_FIND(int32, int32_t, int32, S0_IS)
S0_FIND(int64, int64_t, int64, S0_IS)
S0_FIND(uint8, uint8_t, int8, S0_IS)
S0_FIND(uint16, uint16_t, int16, S0_IS)
S0_FIND(uint32, uint32_t, int32, S0_IS)
S0_FIND(uint64, uint64_t, int64, S0_IS)
S0_FIND(float32, float, float32, S0_IS)
S0_FIND(float64, double, float64, S0_IS)
S0_FIND(bool, uint8_t, bool, S0_IS_TRUE)

/* `any`: whether a true element is found; `all`: whether no false element is found. Often the first elements decide, so at
 * first only a few are copied, Note [Parts]. */
#define S0_FLAGS(name, wanted, found)                                                                                \
    static void s0_##name##_bool_0(char **a, const Py_ssize_t *s, const Py_ssize_t *t, Py_ssize_t n, Py_ssize_t m)   \
    {                                                                                                                \
        _Alignas(64) char copy[S0_PART];                                                                             \
        Py_ssize_t i, j, count;                                                                                      \
        for (j = 0; j < m; j++) {                                                                                    \
            const char *p = a[0] + j * t[0];                                                                         \
            uint8_t *q = (uint8_t *)(a[1] + j * t[1]);                                                               \
            for (i = 0; i < n && *q != found; i += count) {                                                          \
                count = s[0] == 1 ? n : i < S0_PART / 8 ? S0_PART / 8 : S0_PART;                                     \
                count = n - i < count ? n - i : count;                                                               \
                if (s0_find_bool(s0_next_part(&p, s[0], 1, copy, count), count, wanted) < count)                     \
                    *q = found;                                                                                      \
            }                                                                                                        \
        }                                                                                                            \
    }
S0_FLAGS(any, 1, 1)
S0_FLAGS(all, 0, 0)

/* The number of true elements: lanes of a vector count to 255 in a byte each; the remaining elements are counted in words. */
typedef uint8_t s0_flags __attribute__((vector_size(S0_VECTOR)));
S0_INLINE int64_t s0_sum_of_bytes(s0_flags x)
{
    int64_t total = 0;
#if defined(__SSE2__)
    typedef int64_t words __attribute__((vector_size(S0_VECTOR)));
#if S0_VECTOR == 64
    const words sums = (words)_mm512_sad_epu8((__m512i)x, _mm512_setzero_si512());
#elif S0_VECTOR == 32
    const words sums = (words)_mm256_sad_epu8((__m256i)x, _mm256_setzero_si256());
#else
    const words sums = (words)_mm_sad_epu8((__m128i)x, _mm_setzero_si128());
#endif
    S0_FOR_ALL(S0_VECTOR / 8) total += sums[k];
#else
    S0_FOR_ALL(S0_VECTOR) total += x[k];
#endif
    return total;
}
static int64_t s0_count_bytes(const uint8_t *p, Py_ssize_t n)
{
    const uint64_t low = 0x7f7f7f7f7f7f7f7f;
    int64_t total = 0;
    Py_ssize_t i = 0;
    uint64_t word;
    while (n - i >= S0_VECTOR) {
        const Py_ssize_t stop = n - i < 255 * S0_VECTOR ? n : i + 255 * S0_VECTOR;
        s0_flags count = {0}, x;
        for (; stop - i >= S0_VECTOR; i += S0_VECTOR) {
            memcpy(&x, p + i, sizeof(x));
            count -= (s0_flags)(x != 0);
        }
        total += s0_sum_of_bytes(count);
    }
    for (; n - i >= 8; i += 8) {
        memcpy(&word, p + i, sizeof(word));
        total += __builtin_popcountll((((word & low) + low) | word) & ~low);
    }
    for (; i < n; i++)
        total += p[i] != 0;
    return total;
}
static void s0_count_nonzero_bool_0(char **a, const Py_ssize_t *s, const Py_ssize_t *t, Py_ssize_t n, Py_ssize_t m)
{
    Py_ssize_t j;
    if (s[0] != 1) {
        if (n > 0)
            s0_reduce_parts(s0_count_nonzero_bool_0, S0_UINT8, 1, a, s, t, n, m);
        return;
    }
    for (j = 0; j < m; j++)
        *(int64_t *)(a[1] + j * t[1]) += s0_count_bytes((const uint8_t *)(a[0] + j * t[0]), n);
}

#endif
