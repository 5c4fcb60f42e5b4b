/* Cumulative sums of 64-bit integers. Along contiguous runs, a vector is summed by additions of copies shifted by one, two and four
 * elements, then the sum of all previous vectors is added. Integers may be added in any order. */
#ifndef STRIDE0_SCANNING_H
#define STRIDE0_SCANNING_H

#include "packs.h"

enum { S0_WORDS = S0_VECTOR / sizeof(uint64_t) };
typedef uint64_t s0_words __attribute__((vector_size(S0_VECTOR)));

#if S0_VECTOR == 64
S0_INLINE s0_words s0_sums_within(s0_words x)
{
    const __m512i none = _mm512_setzero_si512();
    x += (s0_words)_mm512_alignr_epi64((__m512i)x, none, 7);
    x += (s0_words)_mm512_alignr_epi64((__m512i)x, none, 6);
    return x + (s0_words)_mm512_alignr_epi64((__m512i)x, none, 4);
}
S0_INLINE s0_words s0_last_of(s0_words x)
{
    return (s0_words)_mm512_permutexvar_epi64(_mm512_set1_epi64(7), (__m512i)x);
}
#elif S0_VECTOR == 32
S0_INLINE s0_words s0_sums_within(s0_words x)
{
    x += (s0_words)_mm256_slli_si256((__m256i)x, 8);
    __m256i second = _mm256_permute4x64_epi64((__m256i)x, 0x55);
    return x + (s0_words)_mm256_blend_epi32(_mm256_setzero_si256(), second, 0xf0);
}
S0_INLINE s0_words s0_last_of(s0_words x) { return (s0_words)_mm256_permute4x64_epi64((__m256i)x, 0xff); }
#else
S0_INLINE s0_words s0_sums_within(s0_words x) { return x + (s0_words){0, x[0]}; }
S0_INLINE s0_words s0_last_of(s0_words x) { return (s0_words){x[1], x[1]}; }
#endif

static void s0_cumulative_sum_words(char **a, const Py_ssize_t *s, const Py_ssize_t *t, Py_ssize_t n, Py_ssize_t m)
{
    enum { SIZE = sizeof(uint64_t), RUNS = 4 };
    Py_ssize_t i, j, runs;
    for (j = 0; j < m; j += runs) {
        const char *p = a[0] + j * t[0];
        char *q = a[1] + j * t[1];
        uint64_t sum[RUNS] = {0}, x;
        i = 0, runs = 1;
        if (s[0] == SIZE && s[1] == SIZE) {
            s0_words before = {0}, within;
            for (; i + S0_WORDS <= n; i += S0_WORDS) {
                memcpy(&within, p + i * SIZE, sizeof(within));
                within = s0_sums_within(within);
                const s0_words here = within + before;
                memcpy(q + i * SIZE, &here, sizeof(here));
                before += s0_last_of(within);
            }
            sum[0] = before[0];
        } else if (m - j >= RUNS) {
            /* Several runs together: often their elements are in the same cache lines. */
            runs = RUNS;
            for (; i < n; i++) {
                const char *from = p + i * s[0];
                char *to = q + i * s[1];
                S0_FOR_ALL(RUNS) {
                    memcpy(&x, from + k * t[0], SIZE);
                    sum[k] += x;
                    memcpy(to + k * t[1], &sum[k], SIZE);
                }
            }
        }
        for (; i < n; i++) {
            memcpy(&x, p + i * s[0], SIZE);
            sum[0] += x;
            memcpy(q + i * s[1], &sum[0], SIZE);
        }
    }
}

#endif
