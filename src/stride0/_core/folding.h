/* Reductions of elements that lie side by side, in vectors, by Note [Order of a reduction]: what the compiler does not
 * keep in registers of itself. Sums, the extremes of floating-point numbers, and where a value is.
 *
 * A pack is some lanes of one type in as few vectors as hold them; a vector is as wide as a register, or as the pack.
 * What the lanes are and how they are folded is the same for every width of a register. */
#ifndef STRIDE0_FOLDING_H
#define STRIDE0_FOLDING_H

#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if S0_LANES != 32
#error "the levels of a run are written for 32 lanes"
#endif

#if defined(__AVX512F__)
#define S0_VECTOR 64
#elif defined(__AVX2__)
#define S0_VECTOR 32
#else
#define S0_VECTOR 16
#endif

#define S0_INLINE static inline __attribute__((always_inline, unused))
#define S0_FOR_ALL(count) _Pragma("GCC unroll 32") for (unsigned k = 0; k < (count); k++)
#define S0_COUNT(pack) (sizeof(pack) / sizeof((pack).of[0]))

/* -- packs ------------------------------------------------------------------------------------------------------- */

#define S0_PACK(E, type, L)                                                                                          \
    typedef type E##_v##L __attribute__((vector_size(L * sizeof(type) < S0_VECTOR ? L * sizeof(type) : S0_VECTOR))); \
    typedef struct { E##_v##L of[L * sizeof(type) / sizeof(E##_v##L)]; } E##_##L;                                    \
    S0_INLINE E##_##L s0_load_##E##_##L(const type *p)                                                               \
    {                                                                                                                \
        E##_##L x;                                                                                                   \
        S0_FOR_ALL(S0_COUNT(x)) memcpy(&x.of[k], p + k * (sizeof(x.of[0]) / sizeof(type)), sizeof(x.of[0]));         \
        return x;                                                                                                    \
    }                                                                                                                \
    S0_INLINE void s0_store_##E##_##L(type *p, E##_##L x)                                                            \
    {                                                                                                                \
        S0_FOR_ALL(S0_COUNT(x)) memcpy(p + k * (sizeof(x.of[0]) / sizeof(type)), &x.of[k], sizeof(x.of[0]));         \
    }
#define S0_PACK_1(E, type)                                                                                           \
    typedef struct { type of[1]; } E##_1;                                                                            \
    S0_INLINE E##_1 s0_load_##E##_1(const type *p) { E##_1 x = {{*p}}; return x; }                            \
    S0_INLINE void s0_store_##E##_1(type *p, E##_1 x) { *p = x.of[0]; }
#define S0_PACKS(E, type)                                                                                            \
    S0_PACK_1(E, type) S0_PACK(E, type, 2) S0_PACK(E, type, 4) S0_PACK(E, type, 8) S0_PACK(E, type, 16)              \
    S0_PACK(E, type, 32) S0_PACK(E, type, 64)
S0_PACKS(f32, float)
S0_PACKS(f64, double)
S0_PACKS(u64, uint64_t)

/* Doubles made of floats. Compilers split what is one instruction, hence the names of those. */
#if S0_VECTOR >= 64
#define S0_WIDE_64(p) _mm512_cvtps_pd(_mm256_loadu_ps(p))
#else
#define S0_WIDE_64(p) x
#endif
#if S0_VECTOR >= 32
#define S0_WIDE_32(p) _mm256_cvtps_pd(_mm_loadu_ps(p))
#else
#define S0_WIDE_32(p) x
#endif
#if defined(__SSE2__)
#define S0_WIDE_16(p) _mm_cvtps_pd(_mm_castpd_ps(_mm_load_sd((const double *)(p))))
#else
#define S0_WIDE_16(p) ((f64_v2){(p)[0], (p)[1]})
#endif
#define S0_WIDEN_BY(L, bytes)                                                                                        \
    S0_INLINE f64_##L s0_widen_f64_##L(const float *p)                                                               \
    {                                                                                                                \
        f64_##L x;                                                                                                   \
        S0_FOR_ALL(S0_COUNT(x)) x.of[k] = (f64_v##L)S0_WIDE_##bytes(p + k * (bytes / 8));                            \
        return x;                                                                                                    \
    }
#if S0_VECTOR == 64
#define S0_WIDEN(L) S0_WIDEN_BY(L, 64)
#elif S0_VECTOR == 32
#define S0_WIDEN(L) S0_WIDEN_BY(L, 32)
#else
#define S0_WIDEN(L) S0_WIDEN_BY(L, 16)
#endif
S0_INLINE f64_1 s0_widen_f64_1(const float *p) { f64_1 x = {{*p}}; return x; }
S0_WIDEN_BY(2, 16)
#if S0_VECTOR >= 32
S0_WIDEN_BY(4, 32)
#else
S0_WIDEN(4)
#endif
S0_WIDEN(8) S0_WIDEN(16) S0_WIDEN(32) S0_WIDEN(64)

/* -- folds of packs ---------------------------------------------------------------------------------------------- */

/* The later operand wins among equals, and NaN wins, as in the bodies of the operation table. */
#define S0_SUM(T, a, b) ((a) + (b))
#define S0_PICK(T, take, a, b) ((T)(((__typeof__(take))(b) & (take)) | ((__typeof__(take))(a) & ~(take))))
#define S0_MAX(T, a, b) S0_PICK(T, ((b) >= (a)) | ((b) != (b)), a, b)
#define S0_MIN(T, a, b) S0_PICK(T, ((b) <= (a)) | ((b) != (b)), a, b)
#define S0_MAX_1(a, b) ((((b) >= (a)) | ((b) != (b))) ? (b) : (a))
#define S0_MIN_1(a, b) ((((b) <= (a)) | ((b) != (b))) ? (b) : (a))
#define S0_SUM_1(a, b) ((a) + (b))
/* The same of operands that are not NaN: an instruction of the processor, whose result is its second operand otherwise. */
#define S0_TOP(T, a, b) S0_WIDTHS(top, a)(a, b)
#define S0_BOTTOM(T, a, b) S0_WIDTHS(bottom, a)(a, b)
#define S0_TOP_1(a, b) ((a) > (b) ? (a) : (b))
#define S0_BOTTOM_1(a, b) ((a) < (b) ? (a) : (b))

#define S0_EXTREME_OF(which, WHICH, E, bytes)                                                                        \
    S0_INLINE E##_b##bytes s0_##which##_##E##_b##bytes(E##_b##bytes a, E##_b##bytes b) { return WHICH(E, bytes); }
#define S0_EXTREMES(bytes, TOP, BOTTOM)                                                                              \
    typedef float f32_b##bytes __attribute__((vector_size(bytes)));                                                  \
    typedef double f64_b##bytes __attribute__((vector_size(bytes)));                                                 \
    S0_EXTREME_OF(top, TOP, f32, bytes) S0_EXTREME_OF(top, TOP, f64, bytes)                                          \
    S0_EXTREME_OF(bottom, BOTTOM, f32, bytes) S0_EXTREME_OF(bottom, BOTTOM, f64, bytes)
#define S0_PLAIN_TOP(E, bytes) S0_PICK(E##_b##bytes, ~(a > b), a, b)
#define S0_PLAIN_BOTTOM(E, bytes) S0_PICK(E##_b##bytes, ~(a < b), a, b)
#define S0_X86_TOP(E, bytes) (E##_b##bytes) S0_X86_##E##_##bytes(max)
#define S0_X86_BOTTOM(E, bytes) (E##_b##bytes) S0_X86_##E##_##bytes(min)
#define S0_X86_f32_64(op) _mm512_##op##_ps((__m512)a, (__m512)b)
#define S0_X86_f64_64(op) _mm512_##op##_pd((__m512d)a, (__m512d)b)
#define S0_X86_f32_32(op) _mm256_##op##_ps((__m256)a, (__m256)b)
#define S0_X86_f64_32(op) _mm256_##op##_pd((__m256d)a, (__m256d)b)
#define S0_X86_f32_16(op) _mm_##op##_ps((__m128)a, (__m128)b)
#define S0_X86_f64_16(op) _mm_##op##_pd((__m128d)a, (__m128d)b)
S0_EXTREMES(8, S0_PLAIN_TOP, S0_PLAIN_BOTTOM)
#if defined(__SSE2__)
S0_EXTREMES(16, S0_X86_TOP, S0_X86_BOTTOM)
#else
S0_EXTREMES(16, S0_PLAIN_TOP, S0_PLAIN_BOTTOM)
#endif
#define S0_WIDTH(which, bytes) f32_b##bytes: s0_##which##_f32_b##bytes, f64_b##bytes: s0_##which##_f64_b##bytes
#if S0_VECTOR == 64
S0_EXTREMES(32, S0_X86_TOP, S0_X86_BOTTOM)
S0_EXTREMES(64, S0_X86_TOP, S0_X86_BOTTOM)
#define S0_WIDTHS(which, a)                                                                                          \
    _Generic((a), S0_WIDTH(which, 8), S0_WIDTH(which, 16), S0_WIDTH(which, 32), S0_WIDTH(which, 64))
#elif S0_VECTOR == 32
S0_EXTREMES(32, S0_X86_TOP, S0_X86_BOTTOM)
#define S0_WIDTHS(which, a) _Generic((a), S0_WIDTH(which, 8), S0_WIDTH(which, 16), S0_WIDTH(which, 32))
#else
#define S0_WIDTHS(which, a) _Generic((a), S0_WIDTH(which, 8), S0_WIDTH(which, 16))
#endif

/* The halves of one vector. */
#define S0_SPLIT_PLAIN(a, low, high)                                                                                 \
    memcpy(&low, &a, sizeof(low));                                                                                   \
    memcpy(&high, (const char *)&a + sizeof(a) - sizeof(low), sizeof(low));
#if S0_VECTOR == 64
#define S0_SPLIT(a, low, high)                                                                                       \
    if (sizeof(a) == 64) {                                                                                           \
        __m512i both;                                                                                                \
        __m256i one, two;                                                                                            \
        memcpy(&both, &a, sizeof(a) < 64 ? sizeof(a) : 64);                                                          \
        one = _mm512_castsi512_si256(both), two = _mm512_extracti64x4_epi64(both, 1);                                \
        memcpy(&low, &one, sizeof(low) < 32 ? sizeof(low) : 32);                                                     \
        memcpy(&high, &two, sizeof(low) < 32 ? sizeof(low) : 32);                                                    \
    } else {                                                                                                         \
        S0_SPLIT_PLAIN(a, low, high)                                                                                 \
    }
#else
#define S0_SPLIT S0_SPLIT_PLAIN
#endif

#define S0_FOLD(fold, FOLD, E, L)                                                                                    \
    S0_INLINE E##_##L s0_##fold##_##E##_##L(E##_##L a, E##_##L b)                                                    \
    {                                                                                                                \
        S0_FOR_ALL(S0_COUNT(a)) a.of[k] = FOLD(E##_v##L, a.of[k], b.of[k]);                                          \
        return a;                                                                                                    \
    }
#define S0_FOLD_1(fold, FOLD, E)                                                                                     \
    S0_INLINE E##_1 s0_##fold##_##E##_1(E##_1 a, E##_1 b)                                                            \
    {                                                                                                                \
        a.of[0] = FOLD##_1(a.of[0], b.of[0]);                                                                        \
        return a;                                                                                                    \
    }
#define S0_OF(a, k, other) __builtin_choose_expr(sizeof((a).of[0]) == sizeof(other), (a).of[(k) % S0_COUNT(a)], other)
#define S0_HALVE(fold, E, L, H)                                                                                      \
    S0_INLINE E##_##H s0_##fold##_halves_##E##_##L(E##_##L a)                                                        \
    {                                                                                                                \
        E##_##H low, high;                                                                                           \
        if (sizeof(low.of[0]) == sizeof(a.of[0])) {                                                                  \
            S0_FOR_ALL(S0_COUNT(low)) low.of[k] = S0_OF(a, k, low.of[0]);                                            \
            S0_FOR_ALL(S0_COUNT(low)) high.of[k] = S0_OF(a, S0_COUNT(low) + k, low.of[0]);                           \
        } else {                                                                                                     \
            S0_SPLIT(a, low, high)                                                                                   \
        }                                                                                                            \
        return s0_##fold##_##E##_##H(low, high);                                                                     \
    }
#define S0_FOLDS(fold, FOLD, E)                                                                                      \
    S0_FOLD_1(fold, FOLD, E) S0_FOLD(fold, FOLD, E, 2) S0_FOLD(fold, FOLD, E, 4) S0_FOLD(fold, FOLD, E, 8)           \
    S0_FOLD(fold, FOLD, E, 16) S0_FOLD(fold, FOLD, E, 32) S0_FOLD(fold, FOLD, E, 64)                                 \
    S0_HALVE(fold, E, 64, 32) S0_HALVE(fold, E, 32, 16) S0_HALVE(fold, E, 16, 8) S0_HALVE(fold, E, 8, 4)             \
    S0_HALVE(fold, E, 4, 2) S0_HALVE(fold, E, 2, 1)
S0_FOLDS(sum, S0_SUM, f64)
S0_FOLDS(sum, S0_SUM, u64)
S0_FOLDS(max, S0_MAX, f32)
S0_FOLDS(max, S0_MAX, f64)
S0_FOLDS(min, S0_MIN, f32)
S0_FOLDS(min, S0_MIN, f64)
S0_FOLDS(top, S0_TOP, f32)
S0_FOLDS(top, S0_TOP, f64)
S0_FOLDS(bottom, S0_BOTTOM, f32)
S0_FOLDS(bottom, S0_BOTTOM, f64)

/* -- runs -------------------------------------------------------------------------------------------------------- */

/* All lanes at once over whole groups: of 32 elements, each of one scalar or two. */
#define S0_GROUPS_sum(E, load, L)                                                                                    \
    a##L = s0_##load##_##E##_##L(p);                                                                                 \
    for (p += L; p != stop; p += L)                                                                                  \
        a##L = s0_sum_##E##_##L(a##L, s0_##load##_##E##_##L(p));

/* NaN is asked for aside, in two vectors at once; at last in the elements up to the end, some of them again. */
#define S0_LOOK_FOR_NAN(E, x) S0_FOR_ALL(S0_COUNT(x) / 2) nan = S0_OR_NAN_##E(nan, x.of[2 * k], x.of[2 * k + 1])
#define S0_GROUPS_OF(which, E, L)                                                                                    \
    s0_nan_##E nan = S0_NO_NAN_##E;                                                                                  \
    a##L = s0_load_##E##_##L(p);                                                                                     \
    S0_LOOK_FOR_NAN(E, a##L);                                                                                        \
    for (p += L; p != stop; p += L) {                                                                                \
        const E##_##L x = s0_load_##E##_##L(p);                                                                      \
        S0_LOOK_FOR_NAN(E, x);                                                                                       \
        a##L = s0_##which##_##E##_##L(a##L, x);                                                                      \
    }                                                                                                                \
    if (rest) {                                                                                                      \
        const E##_##L x = s0_load_##E##_##L(p + rest - L);                                                           \
        S0_LOOK_FOR_NAN(E, x);                                                                                       \
    }                                                                                                                \
    if (S0_ANY_NAN_##E(nan)) {                                                                                       \
        a1.of[0] = NAN;                                                                                              \
        return a1;                                                                                                   \
    }
#define S0_GROUPS_top(E, load, L) S0_GROUPS_OF(top, E, L)
#define S0_GROUPS_bottom(E, load, L) S0_GROUPS_OF(bottom, E, L)

#if S0_VECTOR == 64
typedef __mmask16 s0_nan_f32;
typedef __mmask8 s0_nan_f64;
#define S0_NO_NAN_f32 0
#define S0_NO_NAN_f64 0
#define S0_OR_NAN_f32(nan, x, y) ((nan) | _mm512_cmp_ps_mask((__m512)(x), (__m512)(y), _CMP_UNORD_Q))
#define S0_OR_NAN_f64(nan, x, y) ((nan) | _mm512_cmp_pd_mask((__m512d)(x), (__m512d)(y), _CMP_UNORD_Q))
#define S0_ANY_NAN_f32(nan) ((nan) != 0)
#define S0_ANY_NAN_f64(nan) ((nan) != 0)
#elif S0_VECTOR == 32
typedef __m256 s0_nan_f32;
typedef __m256d s0_nan_f64;
#define S0_NO_NAN_f32 _mm256_setzero_ps()
#define S0_NO_NAN_f64 _mm256_setzero_pd()
#define S0_OR_NAN_f32(nan, x, y) _mm256_or_ps(nan, _mm256_cmp_ps((__m256)(x), (__m256)(y), _CMP_UNORD_Q))
#define S0_OR_NAN_f64(nan, x, y) _mm256_or_pd(nan, _mm256_cmp_pd((__m256d)(x), (__m256d)(y), _CMP_UNORD_Q))
#define S0_ANY_NAN_f32(nan) (_mm256_movemask_ps(nan) != 0)
#define S0_ANY_NAN_f64(nan) (_mm256_movemask_pd(nan) != 0)
#elif defined(__SSE2__)
typedef __m128 s0_nan_f32;
typedef __m128d s0_nan_f64;
#define S0_NO_NAN_f32 _mm_setzero_ps()
#define S0_NO_NAN_f64 _mm_setzero_pd()
#define S0_OR_NAN_f32(nan, x, y) _mm_or_ps(nan, _mm_cmpunord_ps((__m128)(x), (__m128)(y)))
#define S0_OR_NAN_f64(nan, x, y) _mm_or_pd(nan, _mm_cmpunord_pd((__m128d)(x), (__m128d)(y)))
#define S0_ANY_NAN_f32(nan) (_mm_movemask_ps(nan) != 0)
#define S0_ANY_NAN_f64(nan) (_mm_movemask_pd(nan) != 0)
#else
typedef uint32_t s0_nan_f32 __attribute__((vector_size(S0_VECTOR)));
typedef uint64_t s0_nan_f64 __attribute__((vector_size(S0_VECTOR)));
#define S0_NO_NAN_f32 ((s0_nan_f32){0})
#define S0_NO_NAN_f64 ((s0_nan_f64){0})
#define S0_OR_NAN_f32(nan, x, y) ((nan) | (s0_nan_f32)((x) != (x)) | (s0_nan_f32)((y) != (y)))
#define S0_OR_NAN_f64(nan, x, y) ((nan) | (s0_nan_f64)((x) != (x)) | (s0_nan_f64)((y) != (y)))
#define S0_ANY_NAN_f32(nan) (((nan)[0] | (nan)[1] | (nan)[2] | (nan)[3]) != 0)
#define S0_ANY_NAN_f64(nan) (((nan)[0] | (nan)[1]) != 0)
#endif

/* The lanes are halved, and where they are `bit`, so many elements of the rest join them; or begin them. */
#define S0_LEVEL(fold, E, load, bit, L, D)                                                                           \
    if (n >= bit) {                                                                                                  \
        if (n < 2 * bit) {                                                                                           \
            a##L = s0_##load##_##E##_##L(p);                                                                         \
            p += L;                                                                                                  \
        } else {                                                                                                     \
            a##L = s0_##fold##_halves_##E##_##D(a##D);                                                               \
            if (n & bit) {                                                                                           \
                a##L = s0_##fold##_##E##_##L(a##L, s0_##load##_##E##_##L(p));                                        \
                p += L;                                                                                              \
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

/* m runs of n elements, of `parts` scalars each, into m accumulators; `among` is the fold where no NaN is. Blocks of
 * whole groups are functions of their own, in which the compiler finds registers for all lanes. */
#define S0_RUN(fold, among, name, type, E, load, parts, scalar)                                                      \
    S0_INLINE E##_##parts s0_##fold##_##name##_rest(const type *p, Py_ssize_t n)                                     \
    {                                                                                                                \
        S0_PARTS(E);                                                                                                 \
        (void)a64, (void)a1;                                                                                         \
        if (n >= S0_LANES)                                                                                           \
            __builtin_unreachable();                                                                                 \
        S0_LEVELS_##parts(fold, E, load)                                                                             \
    }                                                                                                                \
    static __attribute__((noinline)) E##_##parts s0_##fold##_##name##_block(const type *p, Py_ssize_t n)             \
    {                                                                                                                \
        S0_PARTS(E);                                                                                                 \
        const Py_ssize_t rest = n % S0_LANES;                                                                        \
        const type *const stop = p + (n - rest) * parts;                                                             \
        (void)a64, (void)a32, (void)a1;                                                                              \
        if (n < S0_LANES)                                                                                            \
            __builtin_unreachable();                                                                                 \
        S0_GROUPS_##parts(among, E, load)                                                                            \
        S0_LEVELS_##parts(among, E, load)                                                                            \
    }                                                                                                                \
    static void s0_##fold##_##name##_0(char **a, const Py_ssize_t *s, const Py_ssize_t *t, Py_ssize_t n,             \
                                       Py_ssize_t m)                                                                 \
    {                                                                                                                \
        Py_ssize_t i, j;                                                                                             \
        (void)s;                                                                                                     \
        for (j = 0; j < m; j++) {                                                                                    \
            const type *p = (const type *)(a[0] + j * t[0]);                                                         \
            scalar *q = (scalar *)(a[1] + j * t[1]);                                                                 \
            E##_##parts acc = s0_load_##E##_##parts(q);                                                              \
            for (i = 0; n - i >= S0_LANES; i += S0_BLOCK)                                                            \
                acc = s0_##fold##_##E##_##parts(                                                                     \
                    acc, s0_##fold##_##name##_block(p + i * parts, n - i < S0_BLOCK ? n - i : S0_BLOCK));            \
            if (i < n)                                                                                               \
                acc = s0_##fold##_##E##_##parts(acc, s0_##fold##_##name##_rest(p + i * parts, n - i));               \
            s0_store_##E##_##parts(q, acc);                                                                          \
        }                                                                                                            \
    }
S0_RUN(sum, sum, float32, float, f64, widen, 1, double)
S0_RUN(sum, sum, float64, double, f64, load, 1, double)
S0_RUN(sum, sum, complex64, float, f64, widen, 2, double)
S0_RUN(sum, sum, complex128, double, f64, load, 2, double)
S0_RUN(sum, sum, uint64, uint64_t, u64, load, 1, uint64_t)
S0_RUN(max, top, float32, float, f32, load, 1, float)
S0_RUN(max, top, float64, double, f64, load, 1, double)
S0_RUN(min, bottom, float32, float, f32, load, 1, float)
S0_RUN(min, bottom, float64, double, f64, load, 1, double)

/* -- rows -------------------------------------------------------------------------------------------------------- */

/* m rows of n elements into a row of n accumulators: four rows at once, pairwise; a strip of columns after another. */
#define S0_FOUR(fold, E, load, scalar, L)                                                                            \
    for (; i + L <= wide; i += L) {                                                                                  \
        E##_##L x = s0_##fold##_##E##_##L(                                                                           \
            s0_##fold##_##E##_##L(s0_##load##_##E##_##L(p + i), s0_##load##_##E##_##L(p1 + i)),                      \
            s0_##fold##_##E##_##L(s0_##load##_##E##_##L(p2 + i), s0_##load##_##E##_##L(p3 + i)));                    \
        x = s0_##fold##_##E##_##L(s0_load_##E##_##L(q + i), x);                                                      \
        s0_store_##E##_##L(q + i, x);                                                                                \
    }
#define S0_ONE(fold, E, load, scalar, L)                                                                             \
    for (; i + L <= wide; i += L) {                                                                                  \
        E##_##L x = s0_##fold##_##E##_##L(s0_load_##E##_##L(q + i), s0_##load##_##E##_##L(p + i));                   \
        s0_store_##E##_##L(q + i, x);                                                                                \
    }
#define S0_COLUMNS(ROWS, fold, E, load, scalar)                                                                      \
    i = 0;                                                                                                           \
    ROWS(fold, E, load, scalar, 16) ROWS(fold, E, load, scalar, 4) ROWS(fold, E, load, scalar, 1)
#define S0_ROWS(fold, name, type, E, load, scalar)                                                                   \
    static void s0_##fold##_##name##_2(char **a, const Py_ssize_t *s, const Py_ssize_t *t, Py_ssize_t n,             \
                                       Py_ssize_t m)                                                                 \
    {                                                                                                                \
        Py_ssize_t i, j, first, wide;                                                                                \
        (void)s;                                                                                                     \
        for (first = 0; first < n; first += S0_STRIP) {                                                              \
            scalar *q = (scalar *)a[1] + first;                                                                      \
            wide = n - first < S0_STRIP ? n - first : S0_STRIP;                                                      \
            for (j = 0; j + 4 <= m; j += 4) {                                                                        \
                const type *p = (const type *)(a[0] + j * t[0]) + first;                                             \
                const type *p1 = (const type *)((const char *)p + t[0]);                                             \
                const type *p2 = (const type *)((const char *)p1 + t[0]);                                            \
                const type *p3 = (const type *)((const char *)p2 + t[0]);                                            \
                S0_COLUMNS(S0_FOUR, fold, E, load, scalar)                                                           \
            }                                                                                                        \
            for (; j < m; j++) {                                                                                     \
                const type *p = (const type *)(a[0] + j * t[0]) + first;                                             \
                S0_COLUMNS(S0_ONE, fold, E, load, scalar)                                                            \
            }                                                                                                        \
        }                                                                                                            \
    }
S0_ROWS(sum, float32, float, f64, widen, double)
S0_ROWS(max, float32, float, f32, load, float)
S0_ROWS(max, float64, double, f64, load, double)
S0_ROWS(min, float32, float, f32, load, float)
S0_ROWS(min, float64, double, f64, load, double)

/* -- where a value is -------------------------------------------------------------------------------------------- */

/* One bit for each byte of a comparison. */
typedef char s0_bytes __attribute__((vector_size(S0_VECTOR)));
S0_INLINE uint64_t s0_bits(s0_bytes same)
{
#if S0_VECTOR == 64
    return _mm512_movepi8_mask((__m512i)same);
#elif S0_VECTOR == 32
    return (uint32_t)_mm256_movemask_epi8((__m256i)same);
#elif defined(__SSE2__)
    return (uint32_t)_mm_movemask_epi8((__m128i)same);
#else
    uint64_t bits = 0;
    S0_FOR_ALL(S0_VECTOR) bits |= (uint64_t)(same[k] & 1) << k;
    return bits;
#endif
}

/* Index of the first of n elements that is `wanted`; n where there is none. The last vector overlaps the one before. */
#define S0_FIND(name, type, SAME)                                                                                    \
    static inline __attribute__((unused)) Py_ssize_t s0_find_##name(const type *p, Py_ssize_t n, type wanted)        \
    {                                                                                                                \
        enum { WIDTH = S0_VECTOR / sizeof(type) };                                                                   \
        typedef type vector __attribute__((vector_size(S0_VECTOR)));                                                 \
        Py_ssize_t i = 0;                                                                                            \
        vector all = (vector){0} + wanted, x;                                                                        \
        while (n - i >= WIDTH) {                                                                                     \
            uint64_t bits;                                                                                           \
            memcpy(&x, p + i, sizeof(x));                                                                            \
            bits = s0_bits((s0_bytes)(SAME(x, all)));                                                                \
            if (bits)                                                                                                \
                return i + __builtin_ctzll(bits) / (Py_ssize_t)sizeof(type);                                         \
            i += WIDTH;                                                                                              \
            if (i < n && n - i < WIDTH)                                                                              \
                i = n - WIDTH;                                                                                       \
        }                                                                                                            \
        while (i < n && !(SAME(p[i], wanted)))                                                                       \
            i++;                                                                                                     \
        return i;                                                                                                    \
    }
#define S0_EQUAL(x, y) ((x) == (y))
#define S0_BOTH_TRUE(x, y) (((x) != 0) == ((y) != 0))
S0_FIND(bool, uint8_t, S0_BOTH_TRUE)
S0_FIND(int8, int8_t, S0_EQUAL)
S0_FIND(int16, int16_t, S0_EQUAL)
S0_FIND(int32, int32_t, S0_EQUAL)
S0_FIND(int64, int64_t, S0_EQUAL)
S0_FIND(uint8, uint8_t, S0_EQUAL)
S0_FIND(uint16, uint16_t, S0_EQUAL)
S0_FIND(uint32, uint32_t, S0_EQUAL)
S0_FIND(uint64, uint64_t, S0_EQUAL)
S0_FIND(float32, float, S0_EQUAL)
S0_FIND(float64, double, S0_EQUAL)

/* Whether any of them is true, and whether all are: none is false. */
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
