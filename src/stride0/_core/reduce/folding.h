/* Vectorised reductions of contiguous elements, by Note [Order of a reduction]: sums, sums of products of two operands, and
 * extremes, for the common dtypes. (Compilers would store arrays of accumulators to memory wherever they are halved.) */
#ifndef STRIDE0_FOLDING_H
#define STRIDE0_FOLDING_H

#include <math.h>

#include "packs.h"
#include "any_strides.h"

#if S0_ACCUMULATORS != 32
#error "the levels of a run are written for 32 lanes"
#endif

/* -- products that are zero where their first factor is, even if the second one is not finite -------------------------- */

/* Of real numbers: a zero is multiplied by zero, and keeps its sign. */
#define S0_MASKED_OF(L)                                                                                              \
    S0_INLINE f64_##L s0_masked_f64_##L(f64_##L x, f64_##L y)                                                        \
    {                                                                                                                \
        S0_FOR_ALL(S0_COUNT(x)) {                                                                                    \
            const __typeof__(x.of[0] != 0) mask = x.of[k] != 0;                                                      \
            x.of[k] *= (__typeof__(x.of[0]))((__typeof__(mask))y.of[k] & mask);                                      \
        }                                                                                                            \
        return x;                                                                                                    \
    }
S0_INLINE f64_1 s0_masked_f64_1(f64_1 x, f64_1 y) { return x.of[0] != 0 ? s0_times_f64_1(x, y) : x; }
S0_MASKED_OF(2) S0_MASKED_OF(4) S0_MASKED_OF(8) S0_MASKED_OF(16) S0_MASKED_OF(32)
/* Of complex numbers, whose parts are both zero. */
S0_INLINE f64_2 s0_masked_cross_f64_2(f64_2 x, f64_2 y)
{
    return (x.of[0][0] != 0) | (x.of[0][1] != 0) ? s0_cross_f64_2(x, y) : x;
}
#define S0_MASKED_CROSS_OF(L, W)                                                                                     \
    S0_INLINE f64_##L s0_masked_cross_f64_##L(f64_##L x, f64_##L y)                                                  \
    {                                                                                                                \
        const f64_##L product = s0_cross_f64_##L(x, y);                                                              \
        S0_FOR_ALL(S0_COUNT(x)) {                                                                                    \
            __typeof__(x.of[0] != 0) mask = x.of[k] != 0;                                                            \
            mask |= __builtin_shufflevector(mask, mask, S0_EACH_PART_##W(1, 0));                                     \
            const __typeof__(mask) u = (__typeof__(mask))x.of[k], v = (__typeof__(mask))product.of[k];               \
            x.of[k] = (__typeof__(x.of[0]))((mask & v) | (~mask & u));                                               \
        }                                                                                                            \
        return x;                                                                                                    \
    }
#if S0_VECTOR == 16
S0_MASKED_CROSS_OF(4, 2) S0_MASKED_CROSS_OF(8, 2) S0_MASKED_CROSS_OF(16, 2) S0_MASKED_CROSS_OF(32, 2) S0_MASKED_CROSS_OF(64, 2)
#elif S0_VECTOR == 32
S0_MASKED_CROSS_OF(4, 4) S0_MASKED_CROSS_OF(8, 4) S0_MASKED_CROSS_OF(16, 4) S0_MASKED_CROSS_OF(32, 4) S0_MASKED_CROSS_OF(64, 4)
#else
S0_MASKED_CROSS_OF(4, 4) S0_MASKED_CROSS_OF(8, 8) S0_MASKED_CROSS_OF(16, 8) S0_MASKED_CROSS_OF(32, 8) S0_MASKED_CROSS_OF(64, 8)
#endif

/* -- runs -------------------------------------------------------------------------------------------------------- */

/* How elements are read: unchanged, or floats widened to doubles; contiguous, or far apart. */
#define S0_FROM_load load
#define S0_FROM_load_abs load
#define S0_FROM_load_square load
#define S0_FROM_load_two load
#define S0_FROM_load_cross load
#define S0_FROM_load_inner load
#define S0_FROM_load_masked load
#define S0_FROM_load_masked_cross load
#define S0_FROM_widen widen
#define S0_FROM_widen_abs widen
#define S0_FROM_widen_square widen
#define S0_FROM_widen_two widen
#define S0_FROM_widen_cross widen
#define S0_FROM_widen_inner widen
#define S0_FROM_widen_masked widen
#define S0_FROM_widen_masked_cross widen
#define S0_READ_OF(from, E, L, p) s0_##from##_##E##_##L(p)
#define S0_READ_BY(from, E, L, p) S0_READ_OF(from, E, L, p)
#define S0_READ(load, E, L, p) S0_READ_BY(S0_FROM_##load, E, L, p)
#define S0_READ_FAR_OF(from, E, L, p, s) s0_far_##from##_##E##_##L(p, s)
#define S0_READ_FAR_BY(from, E, L, p, s) S0_READ_FAR_OF(from, E, L, p, s)
#define S0_READ_FAR(load, E, L, p, s) S0_READ_FAR_BY(S0_FROM_##load, E, L, p, s)

/* The folded values: the elements x of one operand, or products with the elements y of a second operand. */
#define S0_MAP_load(E, L, x, y) x
#define S0_MAP_load_abs(E, L, x, y) s0_abs_##E##_##L(x)
#define S0_MAP_load_square(E, L, x, y) s0_square_##E##_##L(x)
#define S0_MAP_load_two(E, L, x, y) s0_times_##E##_##L(x, y)
#define S0_MAP_load_cross(E, L, x, y) s0_cross_##E##_##L(x, y)
#define S0_MAP_load_inner(E, L, x, y) s0_inner_##E##_##L(x, y)
#define S0_MAP_load_masked(E, L, x, y) s0_masked_##E##_##L(x, y)
#define S0_MAP_load_masked_cross(E, L, x, y) s0_masked_cross_##E##_##L(x, y)
#define S0_MAP_widen S0_MAP_load
#define S0_MAP_widen_abs S0_MAP_load_abs
#define S0_MAP_widen_square S0_MAP_load_square
#define S0_MAP_widen_two S0_MAP_load_two
#define S0_MAP_widen_cross S0_MAP_load_cross
#define S0_MAP_widen_inner S0_MAP_load_inner
#define S0_MAP_widen_masked S0_MAP_load_masked
#define S0_MAP_widen_masked_cross S0_MAP_load_masked_cross

/* Fold them into the accumulators. */
#define S0_JOIN_load(fold, E, L, x, y) s0_##fold##_##E##_##L(a##L, x)
#define S0_JOIN_load_abs(fold, E, L, x, y) s0_##fold##_##E##_##L(a##L, S0_MAP_load_abs(E, L, x, y))
#define S0_JOIN_load_square(fold, E, L, x, y) s0_##fold##_##E##_##L(a##L, S0_MAP_load_square(E, L, x, y))
#define S0_JOIN_load_two(fold, E, L, x, y) s0_##fold##_##E##_##L(a##L, S0_MAP_load_two(E, L, x, y))
#define S0_JOIN_load_cross(fold, E, L, x, y) s0_##fold##_##E##_##L(a##L, S0_MAP_load_cross(E, L, x, y))
#define S0_JOIN_load_inner(fold, E, L, x, y) s0_##fold##_##E##_##L(a##L, S0_MAP_load_inner(E, L, x, y))
#define S0_JOIN_load_masked(fold, E, L, x, y) s0_##fold##_##E##_##L(a##L, S0_MAP_load_masked(E, L, x, y))
#define S0_JOIN_load_masked_cross(fold, E, L, x, y) s0_##fold##_##E##_##L(a##L, S0_MAP_load_masked_cross(E, L, x, y))
#define S0_JOIN_widen(fold, E, L, x, y) s0_tally_##E##_##L(a##L, x)
#define S0_JOIN_widen_abs(fold, E, L, x, y) s0_tally_##E##_##L(a##L, S0_MAP_load_abs(E, L, x, y))
#define S0_JOIN_widen_square(fold, E, L, x, y) s0_fused_square_##E##_##L(a##L, x)
#define S0_JOIN_widen_two(fold, E, L, x, y) s0_fused_##E##_##L(a##L, x, y)
#define S0_JOIN_widen_cross S0_JOIN_load_cross
#define S0_JOIN_widen_inner S0_JOIN_load_inner
#define S0_JOIN_widen_masked S0_JOIN_load_masked
#define S0_JOIN_widen_masked_cross S0_JOIN_load_masked_cross

/* The next elements of both operands, contiguous. */
#define S0_TAKE(load, E, L) S0_MAP_##load(E, L, S0_READ(load, E, L, p), S0_READ(load, E, L, r))
#define S0_JOIN(fold, load, E, L) S0_JOIN_##load(fold, E, L, S0_READ(load, E, L, p), S0_READ(load, E, L, r))
#define S0_SKIP(L) p += L, r += L

/* All lanes together over whole groups of 32 elements; an element consists of one or two scalars. */
#define S0_GROUPS_ALL(fold, E, load, L)                                                                              \
    a##L = S0_TAKE(load, E, L);                                                                                      \
    for (S0_SKIP(L); p != stop; S0_SKIP(L))                                                                          \
        a##L = S0_JOIN(fold, load, E, L);
/* With AVX2 one vector at a time: otherwise GCC first reads all elements of a pack, for which there are not enough registers. */
#if S0_VECTOR == 32
#define S0_GROUPS_EACH(fold, E, load, L)                                                                             \
    a##L = S0_TAKE(load, E, L);                                                                                      \
    for (S0_SKIP(L); p != stop; S0_SKIP(L))                                                                          \
        S0_FOR_ALL(S0_COUNT(a##L)) {                                                                                 \
            const E##_4 a4 = {{a##L.of[k]}};                                                                         \
            a##L.of[k] = S0_JOIN_##load(fold, E, 4, S0_READ(load, E, 4, p + 4 * k), S0_READ(load, E, 4, r + 4 * k)).of[0]; \
        }
#else
#define S0_GROUPS_EACH S0_GROUPS_ALL
#endif
#define S0_GROUPS_sum(E, load, L) S0_GROUPS_EACH(sum, E, load, L)
#define S0_GROUPS_max(E, load, L) S0_GROUPS_EACH(max, E, load, L)
#define S0_GROUPS_min(E, load, L) S0_GROUPS_EACH(min, E, load, L)

/* The same for elements far apart. The remainder of the block is copied; for extremes also the elements before it, as many as lanes. */
S0_INLINE const char *s0_copy_end(char *to, const char *from, Py_ssize_t s, size_t size, Py_ssize_t before, Py_ssize_t n)
{
    for (Py_ssize_t i = -before; i < n; i++)
        memcpy(to + (before + i) * (Py_ssize_t)size, from + i * s, size);
    return to + before * (Py_ssize_t)size;
}
#define s0_copy_end_sum(to, from, s, size, n) s0_copy_end(to, from, s, size, 0, n)
#define s0_copy_end_max s0_copy_end_sum
#define s0_copy_end_min s0_copy_end_sum
#define s0_copy_end_top(to, from, s, size, n) s0_copy_end(to, from, s, size, S0_ACCUMULATORS - (n), n)
#define s0_copy_end_bottom s0_copy_end_top
#define S0_FAR_X(load, E, L) S0_READ_FAR(load, E, L, &first, s[0])
#define S0_FAR_Y(load, E, L) S0_READ_FAR(load, E, L, &second, s[1])
#define S0_FAR_ALL(fold, E, load, L)                                                                                 \
    a##L = S0_MAP_##load(E, L, S0_FAR_X(load, E, L), S0_FAR_Y(load, E, L));                                          \
    for (Py_ssize_t i = S0_ACCUMULATORS; i < whole; i += S0_ACCUMULATORS)                                                       \
        a##L = S0_JOIN_##load(fold, E, L, S0_FAR_X(load, E, L), S0_FAR_Y(load, E, L));
#define S0_FAR_sum(E, load, L) S0_FAR_ALL(sum, E, load, L)
#define S0_FAR_max(E, load, L) S0_FAR_ALL(max, E, load, L)
#define S0_FAR_min(E, load, L) S0_FAR_ALL(min, E, load, L)

/* NaN is tested separately, in two vectors together; at the end of a run in the last vectors, which may overlap. */
#define S0_LOOK_FOR_NAN(E, x) S0_FOR_ALL(S0_COUNT(x) / 2) nan = S0_OR_NAN_##E(nan, x.of[2 * k], x.of[2 * k + 1])
#define S0_GROUPS_OF(which, E, load, L)                                                                              \
    a##L = S0_TAKE(load, E, L);                                                                                      \
    S0_LOOK_FOR_NAN(E, a##L);                                                                                        \
    for (p += L; p != stop; p += L) {                                                                                \
        const E##_##L x = S0_TAKE(load, E, L);                                                                       \
        S0_LOOK_FOR_NAN(E, x);                                                                                       \
        a##L = s0_##which##_##E##_##L(a##L, x);                                                                      \
    }
#define S0_FAR_OF(which, E, load, L)                                                                                 \
    a##L = S0_MAP_##load(E, L, S0_FAR_X(load, E, L), );                                                              \
    S0_LOOK_FOR_NAN(E, a##L);                                                                                        \
    for (Py_ssize_t i = S0_ACCUMULATORS; i < whole; i += S0_ACCUMULATORS) {                                                     \
        const E##_##L x = S0_MAP_##load(E, L, S0_FAR_X(load, E, L), );                                               \
        S0_LOOK_FOR_NAN(E, x);                                                                                       \
        a##L = s0_##which##_##E##_##L(a##L, x);                                                                      \
    }
#define S0_GROUPS_top(E, load, L) S0_GROUPS_OF(top, E, load, L)
#define S0_GROUPS_bottom(E, load, L) S0_GROUPS_OF(bottom, E, load, L)
#define S0_FAR_top(E, load, L) S0_FAR_OF(top, E, load, L)
#define S0_FAR_bottom(E, load, L) S0_FAR_OF(bottom, E, load, L)
#define S0_DECIDE_BY_NAN(E, L)                                                                                       \
    if (remainder) {                                                                                                 \
        const E##_##L x = s0_load_##E##_##L(p + remainder - L);                                                      \
        S0_LOOK_FOR_NAN(E, x);                                                                                       \
    }                                                                                                                \
    if (S0_ANY_NAN_##E(nan)) {                                                                                       \
        a1.of[0] = NAN;                                                                                              \
        return a1;                                                                                                   \
    }
#define S0_BEFORE_sum(E)
#define S0_BEFORE_max(E)
#define S0_BEFORE_min(E)
#define S0_BEFORE_top(E) s0_nan_##E nan = S0_NO_NAN_##E;
#define S0_BEFORE_bottom(E) s0_nan_##E nan = S0_NO_NAN_##E;
#define S0_BEHIND_sum(E)
#define S0_BEHIND_max(E)
#define S0_BEHIND_min(E)
#define S0_BEHIND_top(E) S0_DECIDE_BY_NAN(E, 32)
#define S0_BEHIND_bottom(E) S0_DECIDE_BY_NAN(E, 32)

#if S0_VECTOR == 64
typedef __mmask16 s0_nan_f32;
typedef __mmask8 s0_nan_f64;
#define S0_NO_NAN_f32 0
#define S0_NO_NAN_f64 0
#define S0_OR_NAN_f32(nan, x, y) ((nan) | _mm512_cmp_ps_mask((__m512)(x), (__m512)(y), _CMP_UNORD_Q))
#define S0_OR_NAN_f64(nan, x, y) ((nan) | _mm512_cmp_pd_mask((__m512d)(x), (__m512d)(y), _CMP_UNORD_Q))
#define S0_ANY_NAN_f32(nan) ((nan) != 0)
#define S0_ANY_NAN_f64(nan) ((nan) != 0)
#define S0_NAN_WHERE_f32(nan, x) ((f32_v32)_mm512_mask_mov_ps((__m512)(x), nan, _mm512_set1_ps(NAN)))
#define S0_NAN_WHERE_f64(nan, x) ((f64_v32)_mm512_mask_mov_pd((__m512d)(x), nan, _mm512_set1_pd(NAN)))
#elif S0_VECTOR == 32
typedef __m256 s0_nan_f32;
typedef __m256d s0_nan_f64;
#define S0_NO_NAN_f32 _mm256_setzero_ps()
#define S0_NO_NAN_f64 _mm256_setzero_pd()
#define S0_OR_NAN_f32(nan, x, y) _mm256_or_ps(nan, _mm256_cmp_ps((__m256)(x), (__m256)(y), _CMP_UNORD_Q))
#define S0_OR_NAN_f64(nan, x, y) _mm256_or_pd(nan, _mm256_cmp_pd((__m256d)(x), (__m256d)(y), _CMP_UNORD_Q))
#define S0_ANY_NAN_f32(nan) (_mm256_movemask_ps(nan) != 0)
#define S0_ANY_NAN_f64(nan) (_mm256_movemask_pd(nan) != 0)
#define S0_NAN_WHERE_f32(nan, x) ((f32_v32)_mm256_or_ps((__m256)(x), nan))
#define S0_NAN_WHERE_f64(nan, x) ((f64_v32)_mm256_or_pd((__m256d)(x), nan))
#elif defined(__SSE2__)
typedef __m128 s0_nan_f32;
typedef __m128d s0_nan_f64;
#define S0_NO_NAN_f32 _mm_setzero_ps()
#define S0_NO_NAN_f64 _mm_setzero_pd()
#define S0_OR_NAN_f32(nan, x, y) _mm_or_ps(nan, _mm_cmpunord_ps((__m128)(x), (__m128)(y)))
#define S0_OR_NAN_f64(nan, x, y) _mm_or_pd(nan, _mm_cmpunord_pd((__m128d)(x), (__m128d)(y)))
#define S0_ANY_NAN_f32(nan) (_mm_movemask_ps(nan) != 0)
#define S0_ANY_NAN_f64(nan) (_mm_movemask_pd(nan) != 0)
#define S0_NAN_WHERE_f32(nan, x) ((f32_v32)_mm_or_ps((__m128)(x), nan))
#define S0_NAN_WHERE_f64(nan, x) ((f64_v32)_mm_or_pd((__m128d)(x), nan))
#else
typedef uint32_t s0_nan_f32 __attribute__((vector_size(S0_VECTOR)));
typedef uint64_t s0_nan_f64 __attribute__((vector_size(S0_VECTOR)));
#define S0_NO_NAN_f32 ((s0_nan_f32){0})
#define S0_NO_NAN_f64 ((s0_nan_f64){0})
#define S0_OR_NAN_f32(nan, x, y) ((nan) | (s0_nan_f32)((x) != (x)) | (s0_nan_f32)((y) != (y)))
#define S0_OR_NAN_f64(nan, x, y) ((nan) | (s0_nan_f64)((x) != (x)) | (s0_nan_f64)((y) != (y)))
#define S0_ANY_NAN_f32(nan) (((nan)[0] | (nan)[1] | (nan)[2] | (nan)[3]) != 0)
#define S0_ANY_NAN_f64(nan) (((nan)[0] | (nan)[1]) != 0)
#define S0_NAN_WHERE_f32(nan, x) ((f32_v32)((s0_nan_f32)(x) | (nan)))
#define S0_NAN_WHERE_f64(nan, x) ((f64_v32)((s0_nan_f64)(x) | (nan)))
#endif

/* Halve the accumulators. When `bit` accumulators are left, add as many elements of the remainder, or start with these. */
#define S0_LEVEL(fold, E, load, bit, L, D)                                                                           \
    if (n >= bit) {                                                                                                  \
        if (n < 2 * bit) {                                                                                           \
            a##L = S0_TAKE(load, E, L);                                                                              \
            S0_SKIP(L);                                                                                              \
        } else {                                                                                                     \
            a##L = s0_##fold##_halves_##E##_##D(a##D);                                                               \
            if (n & bit) {                                                                                           \
                a##L = s0_##fold##_##E##_##L(a##L, S0_TAKE(load, E, L));                                             \
                S0_SKIP(L);                                                                                          \
            }                                                                                                        \
        }                                                                                                            \
    }
#define S0_LEVELS_1(fold, E, load)                                                                                   \
    S0_LEVEL(fold, E, load, 16, 16, 32) S0_LEVEL(fold, E, load, 8, 8, 16) S0_LEVEL(fold, E, load, 4, 4, 8)           \
    S0_LEVEL(fold, E, load, 2, 2, 4) S0_LEVEL(fold, E, load, 1, 1, 2)                                                \
    return a1;
#define S0_LEVELS_2(fold, E, load)                                                                                   \
    S0_LEVEL(fold, E, load, 16, 32, 64) S0_LEVEL(fold, E, load, 8, 16, 32) S0_LEVEL(fold, E, load, 4, 8, 16)         \
    S0_LEVEL(fold, E, load, 2, 4, 8) S0_LEVEL(fold, E, load, 1, 2, 4)                                                \
    return a2;
#define S0_GROUPS_1(groups, among, E, load) S0_##groups##_##among(E, load, 32)
#define S0_GROUPS_2(groups, among, E, load) S0_##groups##_##among(E, load, 64)

#define S0_PARTS(E) E##_64 a64; E##_32 a32; E##_16 a16; E##_8 a8; E##_4 a4; E##_2 a2; E##_1 a1

/* Whether all operands are contiguous. */
#define S0_IS_DIRECT_1(size) (s[0] == (size))
#define S0_IS_DIRECT_2(size) ((s[0] == (size)) & (s[1] == (size)))

/* Fold m runs of n elements, of `parts` scalars each, into m accumulators; `among` is the fold for operands without NaN. Blocks of
 * complete groups are separate functions, so that the compiler finds registers for all lanes. Runs shorter than the lanes are
 * separate too, because every branch costs there. Strides may be arbitrary. */
#define S0_RUN(what, nin, fold, among, name, type, E, load, parts, scalar)                                           \
    S0_INLINE E##_##parts s0_##what##_##name##_tail(const type *p, const type *r, Py_ssize_t n)                      \
    {                                                                                                                \
        S0_PARTS(E);                                                                                                 \
        (void)a64, (void)a1, (void)r;                                                                                \
        if (n >= S0_ACCUMULATORS)                                                                                    \
            __builtin_unreachable();                                                                                 \
        S0_LEVELS_##parts(fold, E, load)                                                                             \
    }                                                                                                                \
    static __attribute__((noinline)) E##_##parts s0_##what##_##name##_block(const char *first, const char *second,   \
                                                                         const Py_ssize_t *s, Py_ssize_t n)          \
    {                                                                                                                \
        enum { SIZE = parts * sizeof(type) };                                                                        \
        const Py_ssize_t remainder = n % S0_ACCUMULATORS, whole = n - remainder;                                     \
        const type *p = (const type *)first, *r = (const type *)second;                                              \
        S0_PARTS(E);                                                                                                 \
        S0_BEFORE_##among(E)                                                                                         \
        (void)a64, (void)a32, (void)a1, (void)r;                                                                     \
        if (n < S0_ACCUMULATORS)                                                                                     \
            __builtin_unreachable();                                                                                 \
        if (S0_IS_DIRECT_##nin(SIZE)) {                                                                              \
            const type *const stop = p + whole * parts;                                                              \
            S0_GROUPS_##parts(GROUPS, among, E, load)                                                                \
            S0_BEHIND_##among(E)                                                                                     \
            S0_LEVELS_##parts(among, E, load)                                                                        \
        }                                                                                                            \
        _Alignas(64) char copies[nin][S0_ACCUMULATORS * SIZE];                                                       \
        S0_GROUPS_##parts(FAR, among, E, load)                                                                       \
        if (remainder) {                                                                                             \
            p = (const type *)s0_copy_end_##among(copies[0], first, s[0], SIZE, remainder);                          \
            r = nin == 1 ? p : (const type *)s0_copy_end_##among(copies[nin - 1], second, s[1], SIZE, remainder);    \
        }                                                                                                            \
        S0_BEHIND_##among(E)                                                                                         \
        S0_LEVELS_##parts(among, E, load)                                                                            \
    }                                                                                                                \
    static __attribute__((noinline)) void s0_##what##_##name##_short(char **a, const Py_ssize_t *s,                  \
                                                                     const Py_ssize_t *t, Py_ssize_t n,              \
                                                                     Py_ssize_t m)                                   \
    {                                                                                                                \
        Py_ssize_t j;                                                                                                \
        (void)s;                                                                                                     \
        for (j = 0; j < m; j++) {                                                                                    \
            scalar *q = (scalar *)(a[nin] + j * t[nin]);                                                             \
            const E##_##parts x = s0_##what##_##name##_tail((const type *)(a[0] + j * t[0]),                         \
                                                            (const type *)(a[nin - 1] + j * t[nin - 1]), n);         \
            s0_store_##E##_##parts(q, s0_##fold##_##E##_##parts(s0_load_##E##_##parts(q), x));                       \
        }                                                                                                            \
    }                                                                                                                \
    static void s0_##what##_##name##_0(char **a, const Py_ssize_t *s, const Py_ssize_t *t, Py_ssize_t n,             \
                                       Py_ssize_t m)                                                                 \
    {                                                                                                                \
        enum { SIZE = parts * sizeof(type) };                                                                        \
        const Py_ssize_t tail = n % S0_BLOCK < S0_ACCUMULATORS ? n % S0_BLOCK : 0, whole = n - tail;                 \
        Py_ssize_t i, j;                                                                                             \
        if (!S0_IS_DIRECT_##nin(SIZE) && n < S0_PART / 2) {                                                          \
            if (n > 0)                                                                                               \
                s0_reduce_parts(s0_##what##_##name##_0, S0_MOVED(SIZE), nin, a, s, t, n, m);                         \
            return;                                                                                                  \
        }                                                                                                            \
        for (j = 0; j < m && whole > 0; j++) {                                                                       \
            scalar *q = (scalar *)(a[nin] + j * t[nin]);                                                             \
            E##_##parts acc = s0_load_##E##_##parts(q);                                                              \
            for (i = 0; i < whole; i += S0_BLOCK)                                                                    \
                acc = s0_##fold##_##E##_##parts(                                                                     \
                    acc, s0_##what##_##name##_block(a[0] + i * s[0] + j * t[0],                                      \
                                                    a[nin - 1] + i * s[nin - 1] + j * t[nin - 1], s,                 \
                                                    whole - i < S0_BLOCK ? whole - i : S0_BLOCK));                   \
            s0_store_##E##_##parts(q, acc);                                                                          \
        }                                                                                                            \
        if (tail > 0) {                                                                                              \
            char *b[nin + 1];                                                                                        \
            for (int k = 0; k <= nin; k++)                                                                           \
                b[k] = a[k] + whole * s[k];                                                                          \
            if (S0_IS_DIRECT_##nin(SIZE))                                                                            \
                s0_##what##_##name##_short(b, s, t, tail, m);                                                        \
            else                                                                                                     \
                s0_##what##_##name##_0(b, s, t, tail, m);                                                            \
        }                                                                                                            \
    }
#if defined(__clang__) /* which does not see that n tells which parts are set */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wuninitialized"
#pragma clang diagnostic ignored "-Wsometimes-uninitialized"
#endif
S0_RUN(sum, 1, sum, sum, float32, float, f64, widen, 1, double)
S0_RUN(sum, 1, sum, sum, float64, double, f64, load, 1, double)
S0_RUN(sum, 1, sum, sum, complex64, float, f64, widen, 2, double)
S0_RUN(sum, 1, sum, sum, complex128, double, f64, load, 2, double)
S0_RUN(sum_squares, 1, sum, sum, float32, float, f64, widen_square, 1, double)
S0_RUN(sum_squares, 1, sum, sum, float64, double, f64, load_square, 1, double)
S0_RUN(sum_abs, 1, sum, sum, float32, float, f64, widen_abs, 1, double)
S0_RUN(sum_abs, 1, sum, sum, float64, double, f64, load_abs, 1, double)
S0_RUN(dot, 2, sum, sum, float32, float, f64, widen_two, 1, double)
S0_RUN(dot, 2, sum, sum, float64, double, f64, load_two, 1, double)
S0_RUN(dot, 2, sum, sum, complex64, float, f64, widen_cross, 2, double)
S0_RUN(dot, 2, sum, sum, complex128, double, f64, load_cross, 2, double)
S0_RUN(dot, 2, sum, sum, uint64, uint64_t, u64, load_two, 1, uint64_t)
S0_RUN(dot_masked, 2, sum, sum, float32, float, f64, widen_masked, 1, double)
S0_RUN(dot_masked, 2, sum, sum, float64, double, f64, load_masked, 1, double)
S0_RUN(dot_masked, 2, sum, sum, complex64, float, f64, widen_masked_cross, 2, double)
S0_RUN(dot_masked, 2, sum, sum, complex128, double, f64, load_masked_cross, 2, double)
S0_RUN(vecdot, 2, sum, sum, complex64, float, f64, widen_inner, 2, double)
S0_RUN(vecdot, 2, sum, sum, complex128, double, f64, load_inner, 2, double)
S0_RUN(sum, 1, sum, sum, uint64, uint64_t, u64, load, 1, uint64_t)
S0_RUN(max, 1, max, max, int64, int64_t, i64, load, 1, int64_t)
S0_RUN(min, 1, min, min, int64, int64_t, i64, load, 1, int64_t)
S0_RUN(max, 1, max, top, float32, float, f32, load, 1, float)
S0_RUN(max, 1, max, top, float64, double, f64, load, 1, double)
S0_RUN(max_abs, 1, max, top, float32, float, f32, load_abs, 1, float)
S0_RUN(max_abs, 1, max, top, float64, double, f64, load_abs, 1, double)
S0_RUN(min, 1, min, bottom, float32, float, f32, load, 1, float)
S0_RUN(min, 1, min, bottom, float64, double, f64, load, 1, double)
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

/* -- rows -------------------------------------------------------------------------------------------------------- */

/* Prefetch the same columns of the next four rows: processors predict one stream of addresses better than four. */
#define S0_ASK_FOR(p, L)                                                                                             \
    for (unsigned k = 0; k != L * sizeof(*p) / 64; k++) /* nothing for short packs */                                \
        __builtin_prefetch((const char *)(p + i) + 4 * t[0] + 64 * k, 0, 2)
#define S0_ASK_FOR_NEXT(L) S0_ASK_FOR(p, L); S0_ASK_FOR(p1, L); S0_ASK_FOR(p2, L); S0_ASK_FOR(p3, L)

/* Fold m rows of n elements into a row of n accumulators: four rows together, pairwise, strip by strip of columns. Strides along
 * the rows may be arbitrary. */
#define S0_FOUR(fold, E, load, L)                                                                                    \
    for (; i + L <= wide; i += L) {                                                                                  \
        S0_ASK_FOR_NEXT(L);                                                                                          \
        E##_##L x = s0_##fold##_##E##_##L(                                                                           \
            s0_##fold##_##E##_##L(s0_##load##_##E##_##L(p + i), s0_##load##_##E##_##L(p1 + i)),                      \
            s0_##fold##_##E##_##L(s0_##load##_##E##_##L(p2 + i), s0_##load##_##E##_##L(p3 + i)));                    \
        s0_store_##E##_##L(q + i, s0_##fold##_##E##_##L(s0_load_##E##_##L(q + i), x));                               \
    }
#define S0_ONE(fold, E, load, L)                                                                                     \
    for (; i + L <= wide; i += L)                                                                                    \
        s0_store_##E##_##L(q + i, s0_##fold##_##E##_##L(s0_load_##E##_##L(q + i), s0_##load##_##E##_##L(p + i)));
/* For extremes, NaN is tested separately too. */
#define S0_FOUR_AMONG(which, fold, E, load, L)                                                                             \
    for (; i + L <= wide; i += L) {                                                                                  \
        S0_ASK_FOR_NEXT(L);                                                                                          \
        const E##_##L x0 = s0_##load##_##E##_##L(p + i), x1 = s0_##load##_##E##_##L(p1 + i);                         \
        const E##_##L x2 = s0_##load##_##E##_##L(p2 + i), x3 = s0_##load##_##E##_##L(p3 + i);                        \
        E##_##L x = s0_##which##_##E##_##L(s0_##which##_##E##_##L(x0, x1), s0_##which##_##E##_##L(x2, x3));          \
        S0_FOR_ALL(S0_COUNT(x)) {                                                                                    \
            s0_nan_##E nan = S0_OR_NAN_##E(S0_NO_NAN_##E, x0.of[k], x1.of[k]);                                       \
            x.of[k] = S0_NAN_WHERE_##E(S0_OR_NAN_##E(nan, x2.of[k], x3.of[k]), x.of[k]);                             \
        }                                                                                                            \
        s0_store_##E##_##L(q + i, s0_##fold##_##E##_##L(s0_load_##E##_##L(q + i), x));                               \
    }
#define S0_MOST_sum(E, load) S0_FOUR(tally, E, load, 16)
#define S0_MOST_prod(E, load) S0_FOUR(prod, E, load, 16)
#define S0_MOST_max(E, load) S0_FOUR_AMONG(top, max, E, load, 16)
#define S0_MOST_min(E, load) S0_FOUR_AMONG(bottom, min, E, load, 16)
#define S0_ROWS(what, fold, name, type, E, load, scalar, parts)                                                      \
    static void s0_##what##_##name##_2(char **a, const Py_ssize_t *s, const Py_ssize_t *t, Py_ssize_t n,             \
                                       Py_ssize_t m)                                                                 \
    {                                                                                                                \
        enum { SIZE = parts * sizeof(type), TOTAL = parts * sizeof(scalar) };                                        \
        Py_ssize_t i, j, first, wide;                                                                                \
        if ((s[0] != SIZE) | (s[1] != TOTAL)) {                                                                      \
            s0_reduce_rows(s0_##what##_##name##_2, S0_MOVED(SIZE), S0_MOVED(TOTAL), a, s, t, n, m);                  \
            return;                                                                                                  \
        }                                                                                                            \
        for (first = 0; first < n; first += S0_BLOCK) {                                                              \
            scalar *q = (scalar *)a[1] + first * parts;                                                              \
            wide = (n - first < S0_BLOCK ? n - first : S0_BLOCK) * parts;                                            \
            for (j = 0; j + 4 <= m; j += 4) {                                                                        \
                const type *p = (const type *)(a[0] + j * t[0]) + first * parts;                                     \
                const type *p1 = (const type *)((const char *)p + t[0]);                                             \
                const type *p2 = (const type *)((const char *)p1 + t[0]);                                            \
                const type *p3 = (const type *)((const char *)p2 + t[0]);                                            \
                i = 0;                                                                                               \
                S0_MOST_##fold(E, load) S0_FOUR(fold, E, load, 4) S0_FOUR(fold, E, load, parts)                      \
            }                                                                                                        \
            for (; j < m; j++) {                                                                                     \
                const type *p = (const type *)(a[0] + j * t[0]) + first * parts;                                     \
                i = 0;                                                                                               \
                S0_ONE(fold, E, load, 16) S0_ONE(fold, E, load, 4) S0_ONE(fold, E, load, parts)                      \
            }                                                                                                        \
        }                                                                                                            \
    }
S0_ROWS(sum, sum, float32, float, f64, widen, double, 1)
S0_ROWS(sum_squares, sum, float32, float, f64, widen_square, double, 1)
S0_ROWS(sum_squares, sum, float64, double, f64, load_square, double, 1)
S0_ROWS(sum_abs, sum, float32, float, f64, widen_abs, double, 1)
S0_ROWS(sum_abs, sum, float64, double, f64, load_abs, double, 1)
S0_ROWS(max, max, float32, float, f32, load, float, 1)
S0_ROWS(max, max, float64, double, f64, load, double, 1)
S0_ROWS(max_abs, max, float32, float, f32, load_abs, float, 1)
S0_ROWS(max_abs, max, float64, double, f64, load_abs, double, 1)
S0_ROWS(min, min, float32, float, f32, load, float, 1)
S0_ROWS(min, min, float64, double, f64, load, double, 1)
S0_ROWS(prod, prod, complex128, double, f64, load, double, 2)

#endif
