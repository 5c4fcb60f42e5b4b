/* The first index of a value in a contiguous run; and `any` and `all` of bools, which are such searches. */
#ifndef STRIDE0_FINDING_H
#define STRIDE0_FINDING_H

#include "packs.h"

/* Equality of the elements of two vectors as a bit mask: one bit for each element, or one for each of its bytes. */
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

/* Index of the first of n elements that is `wanted`, a bool 0 or 1; n where there is none. The last vector overlaps the
 * one before. */
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

/* `any`: whether a true element is found; `all`: whether no false one is. */
#define S0_FLAGS(name, wanted, found)                                                                                \
    static void s0_##name##_bool_0(char **a, const Py_ssize_t *s, const Py_ssize_t *t, Py_ssize_t n, Py_ssize_t m)   \
    {                                                                                                                \
        Py_ssize_t j;                                                                                                \
        (void)s;                                                                                                     \
        for (j = 0; j < m; j++) {                                                                                    \
            uint8_t *q = (uint8_t *)(a[1] + j * t[1]);                                                               \
            if (*q != found && s0_find_bool((const uint8_t *)(a[0] + j * t[0]), n, wanted) < n)                      \
                *q = found;                                                                                          \
        }                                                                                                            \
    }
S0_FLAGS(any, 1, 1)
S0_FLAGS(all, 0, 0)

#endif
