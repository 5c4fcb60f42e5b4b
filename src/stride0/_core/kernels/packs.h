/* Packs: a fixed number of SIMD lanes of one type, in as few vectors as possible. A vector is as wide as a register of the
 * processor, or as the pack; the elements of a pack and the folds of two packs do not depend on that. */
#ifndef STRIDE0_PACKS_H
#define STRIDE0_PACKS_H

#include <Python.h>
#include <stdint.h>
#include <string.h>

/* immintrin.h takes longer to compile than all other headers of a unit, so older instruction sets include smaller headers. */
#if defined(__AVX__)
#include <immintrin.h>
#elif defined(__SSE4_2__)
#include <nmmintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#if defined(__AVX512F__)
#define S0_VECTOR 64
#elif defined(__AVX2__)
#define S0_VECTOR 32
#else
#define S0_VECTOR 16
#endif

#define S0_INLINE static inline __attribute__((always_inline, unused))
/* Rolled loops over packs run slower, but compile in two thirds of the time. Kernels that hardly ever run use them. */
#if defined(S0_ROLLED)
#define S0_FOR_ALL(count) for (unsigned k = 0; k < (count); k++)
#else
#define S0_FOR_ALL(count) _Pragma("GCC unroll 32") for (unsigned k = 0; k < (count); k++)
#endif
#define S0_COUNT(pack) (sizeof(pack) / sizeof((pack).of[0]))

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
S0_PACKS(i64, int64_t)

/* Floats widened to doubles. By intrinsics, because compilers split the single instruction. */
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
typedef double s0_double_anywhere __attribute__((aligned(1), may_alias)); /* two floats, in one load */
#define S0_WIDE_16(p) _mm_cvtps_pd(_mm_castpd_ps(_mm_set_sd(*(const s0_double_anywhere *)(p))))
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

/* Round a vector of doubles to floats. */
typedef double s0_doubles __attribute__((vector_size(S0_VECTOR)));
typedef float s0_half_floats __attribute__((vector_size(S0_VECTOR / 2)));
S0_INLINE void s0_store_narrow(void *p, s0_doubles x)
{
    const s0_half_floats narrow = __builtin_convertvector(x, s0_half_floats);
    memcpy(p, &narrow, sizeof(narrow));
}

/* Elements of 4 and 8 bytes and complex ones that are far apart, by single loads: as many per cycle as the processor allows. Their
 * bits are moved as floats. The compiler must not see the address: it would use a register for each of the many offsets, and there
 * are not enough registers. */
#define S0_AT(type, p) (*(const type *)(p))
#define S0_ADVANCE(p, s) *(p) += (s); __asm__("" : "+r"(*(p)));
typedef float s0_far_f32 __attribute__((vector_size(16)));
typedef double s0_far_f64 __attribute__((vector_size(16)));
S0_INLINE s0_far_f32 s0_four_apart(const char *p, Py_ssize_t s)
{
    const char *const q = p + 2 * s;
    return (s0_far_f32){S0_AT(float, p), S0_AT(float, p + s), S0_AT(float, q), S0_AT(float, q + s)};
}
S0_INLINE s0_far_f64 s0_two_apart(const char *p, Py_ssize_t s)
{
    return (s0_far_f64){S0_AT(double, p), S0_AT(double, p + s)};
}
S0_INLINE s0_far_f64 s0_pair_at(const char *p, Py_ssize_t s)
{
    s0_far_f64 x;
    (void)s;
    memcpy(&x, p, sizeof(x));
    return x;
}
S0_INLINE s0_far_f64 s0_floats_apart(const char *p, Py_ssize_t s)
{
    return (s0_far_f64){S0_AT(float, p), S0_AT(float, p + s)};
}
S0_INLINE s0_far_f64 s0_floats_at(const char *p, Py_ssize_t s)
{
    (void)s;
    return (s0_far_f64)S0_WIDE_16((const float *)p);
}
/* Build a vector from its elements, or from two or four parts of 16 bytes with the given number of elements each. */
#if S0_VECTOR == 16
#define S0_FAR_4(p, s) s0_four_apart(p, s), 4
#define S0_FAR_8(p, s) s0_two_apart(p, s), 2
#define S0_FAR_16(p, s) s0_pair_at(p, s), 1
#define S0_FAR_WIDE_4(p, s) s0_floats_apart(p, s), 2
#define S0_FAR_WIDE_8(p, s) s0_floats_at(p, s), 1
#else
#define S0_TWO_OF(read, count, p, s)                                                                                 \
    _mm256_insertf128_pd(_mm256_castpd128_pd256((__m128d)read(p, s)), (__m128d)read((p) + (count) * (s), s), 1)
#if S0_VECTOR == 32
#define S0_FAR_4(p, s) S0_TWO_OF(s0_four_apart, 4, p, s), 8
#define S0_FAR_8(p, s) S0_TWO_OF(s0_two_apart, 2, p, s), 4
#define S0_FAR_16(p, s) S0_TWO_OF(s0_pair_at, 1, p, s), 2
#define S0_FAR_WIDE_4(p, s) _mm256_cvtps_pd((__m128)s0_four_apart(p, s)), 4
#define S0_FAR_WIDE_8(p, s) _mm256_cvtps_pd((__m128)s0_two_apart(p, s)), 2
#else
#define S0_FOUR_OF(read, count, p, s)                                                                                \
    _mm512_insertf64x4(_mm512_castpd256_pd512(S0_TWO_OF(read, count, p, s)),                                         \
                       S0_TWO_OF(read, count, (p) + 2 * (count) * (s), s), 1)
#define S0_FAR_4(p, s) S0_FOUR_OF(s0_four_apart, 4, p, s), 16
#define S0_FAR_8(p, s) S0_FOUR_OF(s0_two_apart, 2, p, s), 8
#define S0_FAR_16(p, s) S0_FOUR_OF(s0_pair_at, 1, p, s), 4
#define S0_FAR_WIDE_4(p, s) _mm512_cvtps_pd((__m256)S0_TWO_OF(s0_four_apart, 4, p, s)), 8
#define S0_FAR_WIDE_8(p, s) _mm512_cvtps_pd((__m256)S0_TWO_OF(s0_two_apart, 2, p, s)), 4
#endif
#endif
#define S0_FAR_PACK(from, E, L, vector, count)                                                                       \
    S0_INLINE E##_##L s0_far_##from##_##E##_##L(const char **p, Py_ssize_t s)                                        \
    {                                                                                                                \
        E##_##L x;                                                                                                   \
        S0_FOR_ALL(S0_COUNT(x)) {                                                                                    \
            x.of[k] = (E##_v##L)vector;                                                                              \
            S0_ADVANCE(p, (count) * s)                                                                               \
        }                                                                                                            \
        return x;                                                                                                    \
    }
#define S0_FAR_PACK_OF(...) S0_FAR_PACK(__VA_ARGS__)
S0_FAR_PACK_OF(load, f32, 32, S0_FAR_4(*p, s))
S0_FAR_PACK_OF(load, f64, 32, S0_FAR_8(*p, s))
S0_FAR_PACK_OF(load, u64, 32, S0_FAR_8(*p, s))
S0_FAR_PACK_OF(load, i64, 32, S0_FAR_8(*p, s))
S0_FAR_PACK_OF(load, f64, 64, S0_FAR_16(*p, s))
S0_FAR_PACK_OF(widen, f64, 32, S0_FAR_WIDE_4(*p, s))
S0_FAR_PACK_OF(widen, f64, 64, S0_FAR_WIDE_8(*p, s))

/* The first elements of a row, fewer than a vector holds, followed by zeros; no other memory is read. */
#if S0_VECTOR == 64
#define S0_FIRST_f32(p, n) _mm512_maskz_loadu_ps((__mmask16)((1u << (n)) - 1), p)
#define S0_FIRST_f64(p, n) _mm512_maskz_loadu_pd((__mmask8)((1u << (n)) - 1), p)
#elif S0_VECTOR == 32
#define S0_FIRST_f32(p, n) \
    _mm256_maskload_ps(p, _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)))
#define S0_FIRST_f64(p, n) \
    _mm256_maskload_pd(p, _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3)))
#else
#define S0_FIRST_f32(p, n) ((f32_v4){(p)[0], (n) > 1 ? (p)[1] : 0, (n) > 2 ? (p)[2] : 0, 0})
#define S0_FIRST_f64(p, n) ((f64_v2){(p)[0], 0})
#endif

/* -- folds of packs ---------------------------------------------------------------------------------------------- */

/* Among equal operands the later one wins, and NaN wins, as in the bodies of the operation table. */
#define S0_SUM(T, a, b) ((a) + (b))
#define S0_PICK(T, take, a, b) ((T)(((__typeof__(take))(b) & (take)) | ((__typeof__(take))(a) & ~(take))))
#define S0_MAX(T, a, b) S0_PICK(T, ((b) >= (a)) | ((b) != (b)), a, b)
#define S0_MIN(T, a, b) S0_PICK(T, ((b) <= (a)) | ((b) != (b)), a, b)
#define S0_MAX_1(a, b) ((((b) >= (a)) | ((b) != (b))) ? (b) : (a))
#define S0_MIN_1(a, b) ((((b) <= (a)) | ((b) != (b))) ? (b) : (a))
#define S0_SUM_1(a, b) ((a) + (b))
/* The same for operands that are not NaN: one instruction, which returns the second operand for NaN. */
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

/* Compilers would load a vector again for each use, which costs more than a register. */
#if defined(__x86_64__)
#define S0_IN_REGISTER(x) ({ __asm__("" : "+v"(x)); })
#else
#define S0_IN_REGISTER(x) ((void)0)
#endif

/* The larger of 64-bit integers: one instruction in AVX-512, two in AVX2. */
#define S0_HIGHER(T, a, b) S0_I64_WIDTHS(higher, a)(a, b)
#define S0_LOWER(T, a, b) S0_I64_WIDTHS(lower, a)(a, b)
#define S0_HIGHER_1(a, b) ((a) > (b) ? (a) : (b))
#define S0_LOWER_1(a, b) ((a) < (b) ? (a) : (b))
#define S0_I64_EXTREMES(bytes, HIGHER, LOWER)                                                                        \
    typedef int64_t i64_b##bytes __attribute__((vector_size(bytes)));                                                \
    S0_INLINE i64_b##bytes s0_higher_i64_b##bytes(i64_b##bytes a, i64_b##bytes b) { return (i64_b##bytes)HIGHER; }   \
    S0_INLINE i64_b##bytes s0_lower_i64_b##bytes(i64_b##bytes a, i64_b##bytes b) { return (i64_b##bytes)LOWER; }
#define S0_I64_WIDTH(which, bytes) i64_b##bytes: s0_##which##_i64_b##bytes
#if S0_VECTOR == 64
S0_I64_EXTREMES(16, _mm_max_epi64((__m128i)a, (__m128i)b), _mm_min_epi64((__m128i)a, (__m128i)b))
S0_I64_EXTREMES(32, _mm256_max_epi64((__m256i)a, (__m256i)b), _mm256_min_epi64((__m256i)a, (__m256i)b))
S0_I64_EXTREMES(64, _mm512_max_epi64((__m512i)a, (__m512i)b), _mm512_min_epi64((__m512i)a, (__m512i)b))
#define S0_I64_WIDTHS(which, a) _Generic((a), S0_I64_WIDTH(which, 16), S0_I64_WIDTH(which, 32), S0_I64_WIDTH(which, 64))
#elif S0_VECTOR == 32
#define S0_CHOSEN_16(condition) _mm_blendv_pd((__m128d)a, (__m128d)b, (__m128d)(condition))
#define S0_CHOSEN_32(condition) ({ S0_IN_REGISTER(b); _mm256_blendv_pd((__m256d)a, (__m256d)b, (__m256d)(condition)); })
S0_I64_EXTREMES(16, S0_CHOSEN_16(b > a), S0_CHOSEN_16(a > b))
S0_I64_EXTREMES(32, S0_CHOSEN_32(b > a), S0_CHOSEN_32(a > b))
#define S0_I64_WIDTHS(which, a) _Generic((a), S0_I64_WIDTH(which, 16), S0_I64_WIDTH(which, 32))
#else
S0_I64_EXTREMES(16, S0_PICK(i64_b16, b > a, a, b), S0_PICK(i64_b16, a > b, a, b))
#define S0_I64_WIDTHS(which, a) _Generic((a), S0_I64_WIDTH(which, 16))
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
/* Sums of widened floats, in whole registers, by fused multiply-add: a sum is a product by 1, and products of floats are exact in
 * double, so the bits are the same as with plain sums and products. Zen has two units that convert and add, and two other units
 * for fused multiply-add; on other processors it costs nothing. */
#if S0_VECTOR == 64
#define S0_FUSED(T, a, x, y) ((T)_mm512_fmadd_pd((__m512d)(x), (__m512d)(y), (__m512d)(a)))
#elif S0_VECTOR == 32 && defined(__FMA__)
#define S0_FUSED(T, a, x, y) ((T)_mm256_fmadd_pd((__m256d)(x), (__m256d)(y), (__m256d)(a)))
#endif
#if defined(S0_FUSED)
#define S0_TALLY(T, a, b) S0_FUSED(T, a, b, (T){0} + 1)
#else
#define S0_FUSED(T, a, x, y) ((a) + (x) * (y))
#define S0_TALLY(T, a, b) ((a) + (b))
#endif
#define S0_FUSED_PACKS(L)                                                                                            \
    S0_FOLD(tally, S0_TALLY, f64, L)                                                                                 \
    S0_INLINE f64_##L s0_fused_f64_##L(f64_##L a, f64_##L x, f64_##L y)                                              \
    {                                                                                                                \
        S0_FOR_ALL(S0_COUNT(a)) a.of[k] = S0_FUSED(__typeof__(a.of[0]), a.of[k], x.of[k], y.of[k]);                  \
        return a;                                                                                                    \
    }                                                                                                                \
    S0_INLINE f64_##L s0_fused_square_f64_##L(f64_##L a, f64_##L x) { return s0_fused_f64_##L(a, x, x); }
S0_FUSED_PACKS(16) S0_FUSED_PACKS(32) S0_FUSED_PACKS(64)
#if S0_VECTOR == 32
S0_FUSED_PACKS(4)
#endif
/* Not a fold, but defined by the same macros: the products of two packs. */
#define S0_TIMES(T, a, b) ((a) * (b))
#define S0_TIMES_1(a, b) ((a) * (b))
#define S0_TIMES_OF(E)                                                                                               \
    S0_FOLD_1(times, S0_TIMES, E) S0_FOLD(times, S0_TIMES, E, 2) S0_FOLD(times, S0_TIMES, E, 4)                      \
    S0_FOLD(times, S0_TIMES, E, 8) S0_FOLD(times, S0_TIMES, E, 16) S0_FOLD(times, S0_TIMES, E, 32)
S0_TIMES_OF(f64)
S0_TIMES_OF(u64)
/* Elements without their signs, or squared, with unchanged or widened reads. */
#define S0_ABS_f32(x) ((__typeof__((x) < (x)))(x) & 0x7fffffff)
#define S0_ABS_f64(x) ((__typeof__((x) < (x)))(x) & 0x7fffffffffffffff)
#define S0_ABS_1_f32(x) __builtin_fabsf(x)
#define S0_ABS_1_f64(x) __builtin_fabs(x)
#define S0_SQUARE_f64(x) ((x) * (x))
#define S0_SQUARE_1_f64(x) ((x) * (x))
#define S0_MAPPED(what, WHAT, E, L)                                                                                  \
    S0_INLINE E##_##L s0_##what##_##E##_##L(E##_##L x)                                                               \
    {                                                                                                                \
        S0_FOR_ALL(S0_COUNT(x)) x.of[k] = (__typeof__(x.of[0]))WHAT##_##E(x.of[k]);                                  \
        return x;                                                                                                    \
    }
#define S0_MAPPED_ALL(what, WHAT, E)                                                                                 \
    S0_INLINE E##_1 s0_##what##_##E##_1(E##_1 x) { x.of[0] = WHAT##_1_##E(x.of[0]); return x; }                      \
    S0_MAPPED(what, WHAT, E, 2) S0_MAPPED(what, WHAT, E, 4) S0_MAPPED(what, WHAT, E, 8)                              \
    S0_MAPPED(what, WHAT, E, 16) S0_MAPPED(what, WHAT, E, 32)
S0_MAPPED_ALL(abs, S0_ABS, f32)
S0_MAPPED_ALL(abs, S0_ABS, f64)
S0_MAPPED_ALL(square, S0_SQUARE, f64)
#define S0_READ_MAPPED(load, what, E, type, L)                                                                       \
    S0_INLINE E##_##L s0_##load##_##what##_##E##_##L(const type *p)                                                  \
    {                                                                                                                \
        return s0_##what##_##E##_##L(s0_##load##_##E##_##L(p));                                                      \
    }
#define S0_READ_MAPPED_ALL(load, what, E, type)                                                                      \
    S0_READ_MAPPED(load, what, E, type, 1) S0_READ_MAPPED(load, what, E, type, 4)                                    \
    S0_READ_MAPPED(load, what, E, type, 16)
S0_READ_MAPPED_ALL(load, abs, f32, float)
S0_READ_MAPPED_ALL(load, abs, f64, double)
S0_READ_MAPPED_ALL(widen, abs, f64, float)
S0_READ_MAPPED_ALL(load, square, f64, double)
S0_READ_MAPPED_ALL(widen, square, f64, float)
/* Products of two packs of complex numbers with adjacent parts, as in multiply_c, and products of the conjugates of the first pack
 * with the second. A part is the sum or the difference of two products. An instruction that does both also multiplies by 1, which is
 * exact. */
#define S0_EACH_PART_2(even, odd) (even), (odd)
#define S0_EACH_PART_4(even, odd) S0_EACH_PART_2(even, odd), 2 + (even), 2 + (odd)
#define S0_EACH_PART_8(even, odd)                                                                                    \
    S0_EACH_PART_4(even, odd), 4 + (even), 4 + (odd), 6 + (even), 6 + (odd)
#if S0_VECTOR >= 32 && defined(__FMA__)
#define S0_ONES_2 _mm_set1_pd(1)
#define S0_ONES_4 _mm256_set1_pd(1)
#define S0_ONES_8 _mm512_set1_pd(1)
#define S0_LESS_PLUS_2(a, b) _mm_fmaddsub_pd((__m128d)(a), S0_ONES_2, (__m128d)(b))
#define S0_LESS_PLUS_4(a, b) _mm256_fmaddsub_pd((__m256d)(a), S0_ONES_4, (__m256d)(b))
#define S0_LESS_PLUS_8(a, b) _mm512_fmaddsub_pd((__m512d)(a), S0_ONES_8, (__m512d)(b))
#define S0_PLUS_LESS_2(a, b) _mm_fmsubadd_pd((__m128d)(a), S0_ONES_2, (__m128d)(b))
#define S0_PLUS_LESS_4(a, b) _mm256_fmsubadd_pd((__m256d)(a), S0_ONES_4, (__m256d)(b))
#define S0_PLUS_LESS_8(a, b) _mm512_fmsubadd_pd((__m512d)(a), S0_ONES_8, (__m512d)(b))
#else
#define S0_FLIPPED_PART(a, part)                                                                                     \
    ((f64_v2)((u64_v2)(a) ^ (u64_v2){(part) ? 0 : (uint64_t)1 << 63, (part) ? (uint64_t)1 << 63 : 0}))
#define S0_LESS_PLUS_2(a, b) ((a) + S0_FLIPPED_PART(b, 0))
#define S0_PLUS_LESS_2(a, b) ((a) + S0_FLIPPED_PART(b, 1))
#endif
#define S0_PARTWISE(name, L, W, joined)                                                                              \
    S0_INLINE f64_##L s0_##name##_f64_##L(f64_##L x, f64_##L y)                                                      \
    {                                                                                                                \
        S0_FOR_ALL(S0_COUNT(x)) {                                                                                    \
            __typeof__(x.of[0]) u = x.of[k], v = y.of[k];                                                            \
            S0_IN_REGISTER(u), S0_IN_REGISTER(v);                                                                    \
            const __typeof__(u) straight = u * __builtin_shufflevector(v, v, S0_EACH_PART_##W(0, 0));                \
            const __typeof__(u) across = __builtin_shufflevector(u, u, S0_EACH_PART_##W(1, 0))                       \
                                       * __builtin_shufflevector(v, v, S0_EACH_PART_##W(1, 1));                      \
            x.of[k] = (__typeof__(u))joined;                                                                         \
        }                                                                                                            \
        return x;                                                                                                    \
    }
#define S0_CROSS_OF(L, W)                                                                                            \
    S0_PARTWISE(cross, L, W, S0_LESS_PLUS_##W(straight, across))                                                     \
    S0_PARTWISE(inner, L, W, S0_PLUS_LESS_##W(across, straight))
/* The product as a fold, for loops over pairs of scalars. */
#define s0_prod_f64_2 s0_cross_f64_2
#define s0_prod_f64_4 s0_cross_f64_4
#define s0_prod_f64_16 s0_cross_f64_16
S0_CROSS_OF(2, 2)
#if S0_VECTOR == 16
S0_CROSS_OF(4, 2) S0_CROSS_OF(8, 2) S0_CROSS_OF(16, 2) S0_CROSS_OF(32, 2) S0_CROSS_OF(64, 2)
#else
S0_CROSS_OF(4, 4)
#if S0_VECTOR == 32
S0_CROSS_OF(8, 4) S0_CROSS_OF(16, 4) S0_CROSS_OF(32, 4) S0_CROSS_OF(64, 4)
#else
S0_CROSS_OF(8, 8) S0_CROSS_OF(16, 8) S0_CROSS_OF(32, 8) S0_CROSS_OF(64, 8)
#endif
#endif
#define S0_FOLDS(fold, FOLD, E)                                                                                      \
    S0_FOLD_1(fold, FOLD, E) S0_FOLD(fold, FOLD, E, 2) S0_FOLD(fold, FOLD, E, 4) S0_FOLD(fold, FOLD, E, 8)           \
    S0_FOLD(fold, FOLD, E, 16) S0_FOLD(fold, FOLD, E, 32) S0_FOLD(fold, FOLD, E, 64)                                 \
    S0_HALVE(fold, E, 64, 32) S0_HALVE(fold, E, 32, 16) S0_HALVE(fold, E, 16, 8) S0_HALVE(fold, E, 8, 4)             \
    S0_HALVE(fold, E, 4, 2) S0_HALVE(fold, E, 2, 1)
S0_FOLDS(sum, S0_SUM, f32)
S0_FOLDS(sum, S0_SUM, f64)
S0_FOLDS(sum, S0_SUM, u64)
S0_FOLDS(max, S0_MAX, f32)
S0_FOLDS(max, S0_MAX, f64)
S0_FOLDS(min, S0_MIN, f32)
S0_FOLDS(min, S0_MIN, f64)
S0_FOLDS(max, S0_HIGHER, i64)
S0_FOLDS(min, S0_LOWER, i64)
S0_FOLDS(top, S0_TOP, f32)
S0_FOLDS(top, S0_TOP, f64)
S0_FOLDS(bottom, S0_BOTTOM, f32)
S0_FOLDS(bottom, S0_BOTTOM, f64)

/* The sum of the elements of a pack, by halving, as for the accumulators of reductions. */
#define S0_TOTAL_16(E, x) S0_TOTAL_8(E, s0_sum_halves_##E##_16(x))
#define S0_TOTAL_8(E, x) S0_TOTAL_4(E, s0_sum_halves_##E##_8(x))
#define S0_TOTAL_4(E, x) S0_TOTAL_2(E, s0_sum_halves_##E##_4(x))
#define S0_TOTAL_2(E, x) s0_sum_halves_##E##_2(x).of[0]

#endif
