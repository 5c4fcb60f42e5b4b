/* Loops that do as little as possible: `python -m stride0 bench` compares calls with these loops.
 *
 * Memory is read as fast as the loads of this instruction set allow; stores go through the caches, or past them. */
#ifndef STRIDE0_MACHINE_LIMITS_H
#define STRIDE0_MACHINE_LIMITS_H

#include "kernels.h"
#include "packs.h"

enum { S0_LIMIT_STEP = 8 * S0_VECTOR };

#if S0_VECTOR == 64
#define S0_LIMIT_FUSED(x, y, z) (s0_doubles)_mm512_fmadd_pd((__m512d)(x), (__m512d)(y), (__m512d)(z))
#define S0_LIMIT_PAST(p, x) _mm512_stream_si512((__m512i *)(p), (__m512i)(x))
#elif S0_VECTOR == 32
#define S0_LIMIT_FUSED(x, y, z) (s0_doubles)_mm256_fmadd_pd((__m256d)(x), (__m256d)(y), (__m256d)(z))
#define S0_LIMIT_PAST(p, x) _mm256_stream_si256((__m256i *)(p), (__m256i)(x))
#else
#define S0_LIMIT_FUSED(x, y, z) ((x) * (y) + (z))
#if defined(__SSE2__)
#define S0_LIMIT_PAST(p, x) _mm_stream_si128((__m128i *)(p), (__m128i)(x))
#else
#define S0_LIMIT_PAST(p, x) memcpy(p, &(x), sizeof(x))
#endif
#endif

S0_INLINE i64_v8 s0_limit_load(const char *p)
{
    i64_v8 x;
    memcpy(&x, p, sizeof(x));
    return x;
}

static void s0_limit_read(const s0_limit *all, Py_ssize_t first, Py_ssize_t last)
{
    i64_v8 of[8] = {{0}}, total;
    for (Py_ssize_t i = first; i < last; i += S0_LIMIT_STEP)
        S0_FOR_ALL(8) of[k] |= s0_limit_load(all->x + i + k * S0_VECTOR);
    total = (of[0] | of[1] | of[2] | of[3]) | (of[4] | of[5] | of[6] | of[7]);
    __asm__ volatile("" : : "m"(total));
}

static void s0_limit_copy(const s0_limit *all, Py_ssize_t first, Py_ssize_t last)
{
    for (Py_ssize_t i = first; i < last; i += S0_LIMIT_STEP)
        S0_FOR_ALL(8)
        {
            const i64_v8 x = s0_limit_load(all->x + i + k * S0_VECTOR);
            memcpy(all->out + i + k * S0_VECTOR, &x, sizeof(x));
        }
}

static void s0_limit_copy_past(const s0_limit *all, Py_ssize_t first, Py_ssize_t last)
{
    for (Py_ssize_t i = first; i < last; i += S0_LIMIT_STEP)
        S0_FOR_ALL(8) S0_LIMIT_PAST(all->out + i + k * S0_VECTOR, s0_limit_load(all->x + i + k * S0_VECTOR));
    s0_stream_end();
}

static void s0_limit_add(const s0_limit *all, Py_ssize_t first, Py_ssize_t last)
{
    for (Py_ssize_t i = first; i < last; i += S0_LIMIT_STEP)
        S0_FOR_ALL(8)
        {
            const i64_v8 x = s0_limit_load(all->x + i + k * S0_VECTOR) + s0_limit_load(all->y + i + k * S0_VECTOR);
            memcpy(all->out + i + k * S0_VECTOR, &x, sizeof(x));
        }
}

static void s0_limit_add_past(const s0_limit *all, Py_ssize_t first, Py_ssize_t last)
{
    for (Py_ssize_t i = first; i < last; i += S0_LIMIT_STEP)
        S0_FOR_ALL(8)
        S0_LIMIT_PAST(all->out + i + k * S0_VECTOR,
                      s0_limit_load(all->x + i + k * S0_VECTOR) + s0_limit_load(all->y + i + k * S0_VECTOR));
    s0_stream_end();
}

/* Fused multiply-adds of float64, one for each eight bytes of the range, in enough independent sums to hide their latency. */
static void s0_limit_fma(const s0_limit *all, Py_ssize_t first, Py_ssize_t last)
{
    s0_doubles of[12] = {{0}}, total = {0}, x, y;
    memcpy(&x, all->x, sizeof(x));
    memcpy(&y, all->y, sizeof(y));
    for (Py_ssize_t i = first; i < last; i += sizeof(of))
        S0_FOR_ALL(12) of[k] = S0_LIMIT_FUSED(of[k], x, y);
    S0_FOR_ALL(12) total += of[k];
    __asm__ volatile("" : : "m"(total));
}

#endif
