/* Reductions of contiguous elements, in vectors, by Note [Order of a reduction]: sums, sums of products of two
 * operands, and extremes, of the common dtypes. Written as arrays of accumulators they would be stored to memory wherever
 * these are halved. */
#ifndef STRIDE0_FOLDING_H
#define STRIDE0_FOLDING_H

#include <math.h>

#include "kernels.h"
#include "packs.h"

#if S0_ACCUMULATORS != 32
#error "the levels of a run are written for 32 lanes"
#endif

/* -- runs -------------------------------------------------------------------------------------------------------- */

/* Load the next elements as a pack, of one operand or the products of two, and advance. */
#define S0_TAKE_load(E, L) s0_load_##E##_##L(p)
#define S0_TAKE_widen(E, L) s0_widen_##E##_##L(p)
#define S0_TAKE_load_abs(E, L) s0_load_abs_##E##_##L(p)
#define S0_TAKE_widen_abs(E, L) s0_widen_abs_##E##_##L(p)
#define S0_TAKE_load_square(E, L) s0_load_square_##E##_##L(p)
#define S0_TAKE_widen_square(E, L) s0_widen_square_##E##_##L(p)
#define S0_TAKE_load_two(E, L) s0_times_##E##_##L(s0_load_##E##_##L(p), s0_load_##E##_##L(r))
#define S0_TAKE_widen_two(E, L) s0_times_##E##_##L(s0_widen_##E##_##L(p), s0_widen_##E##_##L(r))
#define S0_TAKE_load_cross(E, L) s0_cross_##E##_##L(s0_load_##E##_##L(p), s0_load_##E##_##L(r))
#define S0_TAKE_widen_cross(E, L) s0_cross_##E##_##L(s0_widen_##E##_##L(p), s0_widen_##E##_##L(r))
#define S0_TAKE_load_inner(E, L) s0_inner_##E##_##L(s0_load_##E##_##L(p), s0_load_##E##_##L(r))
#define S0_TAKE_widen_inner(E, L) s0_inner_##E##_##L(s0_widen_##E##_##L(p), s0_widen_##E##_##L(r))
#define S0_SKIP_load(L) p += L
#define S0_SKIP_widen(L) p += L
#define S0_SKIP_load_abs(L) p += L
#define S0_SKIP_widen_abs(L) p += L
#define S0_SKIP_load_square(L) p += L
#define S0_SKIP_widen_square(L) p += L
#define S0_SKIP_load_two(L) p += L, r += L
#define S0_SKIP_widen_two(L) p += L, r += L
#define S0_SKIP_load_cross(L) p += L, r += L
#define S0_SKIP_widen_cross(L) p += L, r += L
#define S0_SKIP_load_inner(L) p += L, r += L
#define S0_SKIP_widen_inner(L) p += L, r += L

/* Fold the next elements into the accumulators. */
#define S0_JOIN_load(fold, E, L) s0_##fold##_##E##_##L(a##L, S0_TAKE_load(E, L))
#define S0_JOIN_widen(fold, E, L) s0_tally_##E##_##L(a##L, S0_TAKE_widen(E, L))
#define S0_JOIN_load_abs(fold, E, L) s0_##fold##_##E##_##L(a##L, S0_TAKE_load_abs(E, L))
#define S0_JOIN_widen_abs(fold, E, L) s0_tally_##E##_##L(a##L, S0_TAKE_widen_abs(E, L))
#define S0_JOIN_load_square(fold, E, L) s0_##fold##_##E##_##L(a##L, S0_TAKE_load_square(E, L))
#define S0_JOIN_widen_square(fold, E, L) s0_fused_square_##E##_##L(a##L, s0_widen_##E##_##L(p))
#define S0_JOIN_load_two(fold, E, L) s0_##fold##_##E##_##L(a##L, S0_TAKE_load_two(E, L))
#define S0_JOIN_load_cross(fold, E, L) s0_##fold##_##E##_##L(a##L, S0_TAKE_load_cross(E, L))
#define S0_JOIN_widen_cross(fold, E, L) s0_##fold##_##E##_##L(a##L, S0_TAKE_widen_cross(E, L))
#define S0_JOIN_load_inner(fold, E, L) s0_##fold##_##E##_##L(a##L, S0_TAKE_load_inner(E, L))
#define S0_JOIN_widen_inner(fold, E, L) s0_##fold##_##E##_##L(a##L, S0_TAKE_widen_inner(E, L))
#define S0_JOIN_widen_two(fold, E, L) s0_fused_##E##_##L(a##L, s0_widen_##E##_##L(p), s0_widen_##E##_##L(r))

/* All lanes at once over whole groups: of 32 elements, each of one scalar or two. */
#define S0_GROUPS_ALL(fold, E, load, L)                                                                              \
    a##L = S0_TAKE_##load(E, L);                                                                                     \
    for (S0_SKIP_##load(L); p != stop; S0_SKIP_##load(L))                                                            \
        a##L = S0_JOIN_##load(fold, E, L);
#define S0_GROUPS_sum(E, load, L) S0_GROUPS_ALL(sum, E, load, L)
#define S0_GROUPS_max(E, load, L) S0_GROUPS_ALL(max, E, load, L)
#define S0_GROUPS_min(E, load, L) S0_GROUPS_ALL(min, E, load, L)

/* NaN is tested separately, in two vectors at once; at the end in the last vectors, which may overlap. */
#define S0_LOOK_FOR_NAN(E, x) S0_FOR_ALL(S0_COUNT(x) / 2) nan = S0_OR_NAN_##E(nan, x.of[2 * k], x.of[2 * k + 1])
#define S0_GROUPS_OF(which, E, load, L)                                                                              \
    s0_nan_##E nan = S0_NO_NAN_##E;                                                                                  \
    a##L = S0_TAKE_##load(E, L);                                                                                     \
    S0_LOOK_FOR_NAN(E, a##L);                                                                                        \
    for (p += L; p != stop; p += L) {                                                                                \
        const E##_##L x = S0_TAKE_##load(E, L);                                                                      \
        S0_LOOK_FOR_NAN(E, x);                                                                                       \
        a##L = s0_##which##_##E##_##L(a##L, x);                                                                      \
    }                                                                                                                \
    if (remainder) {                                                                                                 \
        const E##_##L x = s0_load_##E##_##L(p + remainder - L);                                                      \
        S0_LOOK_FOR_NAN(E, x);                                                                                       \
    }                                                                                                                \
    if (S0_ANY_NAN_##E(nan)) {                                                                                       \
        a1.of[0] = NAN;                                                                                              \
        return a1;                                                                                                   \
    }
#define S0_GROUPS_top(E, load, L) S0_GROUPS_OF(top, E, load, L)
#define S0_GROUPS_bottom(E, load, L) S0_GROUPS_OF(bottom, E, load, L)

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

/* Halve the accumulators; when `bit` are left, add as many elements of the remainder to them, or start with these. */
#define S0_LEVEL(fold, E, load, bit, L, D)                                                                           \
    if (n >= bit) {                                                                                                  \
        if (n < 2 * bit) {                                                                                           \
            a##L = S0_TAKE_##load(E, L);                                                                             \
            S0_SKIP_##load(L);                                                                                       \
        } else {                                                                                                     \
            a##L = s0_##fold##_halves_##E##_##D(a##D);                                                               \
            if (n & bit) {                                                                                           \
                a##L = s0_##fold##_##E##_##L(a##L, S0_TAKE_##load(E, L));                                            \
                S0_SKIP_##load(L);                                                                                   \
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
#define S0_GROUPS_1(among, E, load) S0_GROUPS_##among(E, load, 32)
#define S0_GROUPS_2(among, E, load) S0_GROUPS_##among(E, load, 64)

#define S0_PARTS(E) E##_64 a64; E##_32 a32; E##_16 a16; E##_8 a8; E##_4 a4; E##_2 a2; E##_1 a1

/* The address of scalar i of the second operand of run j, if there is one. */
#define S0_SECOND_1(type, i) NULL
#define S0_SECOND_2(type, i) (const type *)(a[1] + j * t[1]) + (i)

/* m runs of n elements, of `parts` scalars each, into m accumulators; `among` is the fold where no NaN is. Blocks of
 * complete groups are separate functions, in which the compiler finds registers for all lanes, and so are runs of
 * fewer elements than lanes, in which every branch costs. */
#define S0_RUN(what, nin, fold, among, name, type, E, load, parts, scalar)                                           \
    S0_INLINE E##_##parts s0_##what##_##name##_tail(const type *p, const type *r, Py_ssize_t n)                      \
    {                                                                                                                \
        S0_PARTS(E);                                                                                                 \
        (void)a64, (void)a1, (void)r;                                                                                \
        if (n >= S0_ACCUMULATORS)                                                                                    \
            __builtin_unreachable();                                                                                 \
        S0_LEVELS_##parts(fold, E, load)                                                                             \
    }                                                                                                                \
    static __attribute__((noinline)) E##_##parts s0_##what##_##name##_block(const type *p, const type *r,            \
                                                                         Py_ssize_t n)                               \
    {                                                                                                                \
        S0_PARTS(E);                                                                                                 \
        const Py_ssize_t remainder = n % S0_ACCUMULATORS;                                                            \
        const type *const stop = p + (n - remainder) * parts;                                                        \
        (void)a64, (void)a32, (void)a1, (void)r;                                                                     \
        if (n < S0_ACCUMULATORS)                                                                                     \
            __builtin_unreachable();                                                                                 \
        S0_GROUPS_##parts(among, E, load)                                                                            \
        S0_LEVELS_##parts(among, E, load)                                                                            \
    }                                                                                                                \
    static __attribute__((noinline)) void s0_##what##_##name##_short(char **a, const Py_ssize_t *t, Py_ssize_t n,    \
                                                                     Py_ssize_t m)                                   \
    {                                                                                                                \
        Py_ssize_t j;                                                                                                \
        for (j = 0; j < m; j++) {                                                                                    \
            scalar *q = (scalar *)(a[nin] + j * t[nin]);                                                             \
            const E##_##parts x = s0_##what##_##name##_tail((const type *)(a[0] + j * t[0]),                         \
                                                            S0_SECOND_##nin(type, 0), n);                            \
            s0_store_##E##_##parts(q, s0_##fold##_##E##_##parts(s0_load_##E##_##parts(q), x));                       \
        }                                                                                                            \
    }                                                                                                                \
    static void s0_##what##_##name##_0(char **a, const Py_ssize_t *s, const Py_ssize_t *t, Py_ssize_t n,             \
                                       Py_ssize_t m)                                                                 \
    {                                                                                                                \
        Py_ssize_t i, j;                                                                                             \
        (void)s;                                                                                                     \
        if (n < S0_ACCUMULATORS) {                                                                                   \
            if (n > 0)                                                                                               \
                s0_##what##_##name##_short(a, t, n, m);                                                              \
            return;                                                                                                  \
        }                                                                                                            \
        for (j = 0; j < m; j++) {                                                                                    \
            const type *p = (const type *)(a[0] + j * t[0]);                                                         \
            scalar *q = (scalar *)(a[nin] + j * t[nin]);                                                             \
            E##_##parts acc = s0_load_##E##_##parts(q);                                                              \
            for (i = 0; n - i >= S0_ACCUMULATORS; i += S0_BLOCK)                                                     \
                acc = s0_##fold##_##E##_##parts(                                                                     \
                    acc, s0_##what##_##name##_block(p + i * parts, S0_SECOND_##nin(type, i * parts),                 \
                                                    n - i < S0_BLOCK ? n - i : S0_BLOCK));                           \
            if (i < n)                                                                                               \
                acc = s0_##fold##_##E##_##parts(                                                                     \
                    acc, s0_##what##_##name##_tail(p + i * parts, S0_SECOND_##nin(type, i * parts), n - i));         \
            s0_store_##E##_##parts(q, acc);                                                                          \
        }                                                                                                            \
    }
#if defined(__clang__) /* which does not see that n tells what parts are set */
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

/* Of four rows, the same columns of the next four: processors foresee one stream of addresses better than four. */
#define S0_ASK_FOR(p, L)                                                                                             \
    for (unsigned k = 0; k != L * sizeof(*p) / 64; k++) /* none of short packs */                                    \
        __builtin_prefetch((const char *)(p + i) + 4 * t[0] + 64 * k, 0, 2)
#define S0_ASK_FOR_NEXT(L) S0_ASK_FOR(p, L); S0_ASK_FOR(p1, L); S0_ASK_FOR(p2, L); S0_ASK_FOR(p3, L)

/* m rows of n elements into a row of n accumulators: four rows at once, pairwise; a strip of columns after another. */
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
        Py_ssize_t i, j, first, wide;                                                                                \
        (void)s;                                                                                                     \
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
