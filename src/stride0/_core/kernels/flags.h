/* Comparisons of elements of 4 and 8 bytes, 32 at a time: the results of vector comparisons are packed to one byte each. Code
 * that compilers make for AVX2 takes twice as long; AVX-512 has masks. */
#ifndef STRIDE0_FLAGS_H
#define STRIDE0_FLAGS_H

#include "packs.h"

#if S0_VECTOR == 32
/* Pack the results of four vectors. Pack instructions work within halves of vectors, so the halves are interleaved. */
S0_INLINE void s0_store_flags_4(uint8_t *to, const __m256i *of)
{
    const __m256i low = _mm256_packs_epi32(of[0], of[1]), high = _mm256_packs_epi32(of[2], of[3]);
    const __m256i flags = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    _mm256_storeu_si256((__m256i *)to, _mm256_abs_epi8(flags));
}

/* The first halves of two vectors of eight bytes each, in memory order. */
#define S0_FIRST_HALVES(x, y)                                                                                        \
    _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(x), _mm256_castsi256_ps(y), 0x88))

S0_INLINE void s0_store_flags_8(uint8_t *to, const __m256i *of)
{
    const __m256i a = S0_FIRST_HALVES(of[0], of[1]), b = S0_FIRST_HALVES(of[2], of[3]);
    const __m256i c = S0_FIRST_HALVES(of[4], of[5]), d = S0_FIRST_HALVES(of[6], of[7]);
    const __m256i all = _mm256_abs_epi8(_mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d)));
    const __m128i even = _mm256_castsi256_si128(all), odd = _mm256_extracti128_si256(all, 1);
    _mm_storeu_si128((__m128i *)to, _mm_unpacklo_epi16(even, odd));
    _mm_storeu_si128((__m128i *)(to + 16), _mm_unpackhi_epi16(even, odd));
}

/* The first, third, fifth and seventh byte of each group of eight. */
#define S0_EVERY_SECOND(p)                                                                                           \
    (lanes)_mm256_permute4x64_pd(_mm256_unpacklo_pd(_mm256_loadu_pd((const double *)(p)),                            \
                                                    _mm256_loadu_pd((const double *)(p) + 4)), 0xd8)
#endif

#endif
