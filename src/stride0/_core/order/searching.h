/* Binary search in a sorted lane: without branches, and with several searches together to overlap their cache misses. */
#ifndef STRIDE0_SEARCHING_H
#define STRIDE0_SEARCHING_H

#include <Python.h>
#include <stdint.h>

#include "order_loops.h"
#include "kernels.h"

#define S0_AT_ONCE 8

/* `before(a, v)`: whether v belongs behind a. It is true up to some element of the lane, and false from there on. The elements of the
 * lane are `stride` bytes apart: 0 along a broadcast axis. */
#define S0_SEARCH(name, type, before)                                                                                \
    static inline __attribute__((always_inline)) void s0_search_at_##name(                                           \
        const char *lane, Py_ssize_t stride, Py_ssize_t n, const type *wanted, Py_ssize_t count, int64_t *out)       \
    {                                                                                                                \
        Py_ssize_t i, size, half;                                                                                    \
        int k;                                                                                                       \
        if (n == 0) {                                                                                                \
            for (i = 0; i < count; i++)                                                                              \
                out[i] = 0;                                                                                          \
            return;                                                                                                  \
        }                                                                                                            \
        for (i = 0; i + S0_AT_ONCE <= count; i += S0_AT_ONCE) {                                                      \
            Py_ssize_t at[S0_AT_ONCE] = {0};                                                                         \
            for (size = n; size > 1; size -= half) {                                                                 \
                half = size / 2;                                                                                     \
                for (k = 0; k < S0_AT_ONCE; k++)                                                                     \
                    at[k] += half & -(Py_ssize_t)before(S0_AT(type, at[k] + half - 1), wanted[i + k]);               \
            }                                                                                                        \
            for (k = 0; k < S0_AT_ONCE; k++)                                                                         \
                out[i + k] = at[k] + before(S0_AT(type, at[k]), wanted[i + k]);                                      \
        }                                                                                                            \
        for (; i < count; i++) {                                                                                     \
            Py_ssize_t at = 0;                                                                                       \
            for (size = n; size > 1; size -= half) {                                                                 \
                half = size / 2;                                                                                     \
                at += half & -(Py_ssize_t)before(S0_AT(type, at + half - 1), wanted[i]);                             \
            }                                                                                                        \
            out[i] = at + before(S0_AT(type, at), wanted[i]);                                                        \
        }                                                                                                            \
    }                                                                                                                \
    static void s0_search_##name(const char *lane, Py_ssize_t stride, Py_ssize_t n, const type *wanted,              \
                                 Py_ssize_t count, int64_t *out)                                                     \
    {                                                                                                                \
        if (stride == sizeof(type))                                                                                  \
            s0_search_at_##name(lane, sizeof(type), n, wanted, count, out);                                          \
        else                                                                                                         \
            s0_search_at_##name(lane, stride, n, wanted, count, out);                                                \
    }

#define S0_AT(type, i) (*(const type *)(lane + (i) * stride))

#define S0_LESS(a, v) ((a) < (v))
#define S0_NOT_MORE(a, v) ((a) <= (v))
#define S0_FALSE_BELOW(a, v) (((a) == 0) & ((v) != 0))
#define S0_FALSE_OR_BELOW(a, v) (((a) == 0) | ((v) != 0))

#define S0_SIDES(name, type, left, right) S0_SEARCH(left_##name, type, left) S0_SEARCH(right_##name, type, right)
S0_SIDES(i8, int8_t, S0_LESS, S0_NOT_MORE)
S0_SIDES(i16, int16_t, S0_LESS, S0_NOT_MORE)
S0_SIDES(i32, int32_t, S0_LESS, S0_NOT_MORE)
S0_SIDES(i64, int64_t, S0_LESS, S0_NOT_MORE)
S0_SIDES(u8, uint8_t, S0_LESS, S0_NOT_MORE)
S0_SIDES(u16, uint16_t, S0_LESS, S0_NOT_MORE)
S0_SIDES(u32, uint32_t, S0_LESS, S0_NOT_MORE)
S0_SIDES(u64, uint64_t, S0_LESS, S0_NOT_MORE)
S0_SIDES(f32, float, S0_LESS, S0_NOT_MORE)
S0_SIDES(f64, double, S0_LESS, S0_NOT_MORE)
S0_SIDES(b8, uint8_t, S0_FALSE_BELOW, S0_FALSE_OR_BELOW)

/* For wanted elements that are NaN, which the comparisons above do not find: NaN is larger than any number, and equal to NaN. */
#define S0_SEARCH_NANS(name, type)                                                                                   \
    static void s0_search_nans_##name(const char *lane, Py_ssize_t stride, Py_ssize_t n, const type *wanted,         \
                                      Py_ssize_t count, int right, int64_t *out)                                     \
    {                                                                                                                \
        Py_ssize_t i, numbers = right ? n : -1, size;                                                                \
        for (i = 0; i < count; i++) {                                                                                \
            if (wanted[i] == wanted[i])                                                                              \
                continue;                                                                                            \
            if (numbers < 0)                                                                                         \
                for (numbers = 0, size = n; size > 0;) {                                                             \
                    const Py_ssize_t half = size / 2, at = numbers + half;                                           \
                    const int is_number = S0_AT(type, at) == S0_AT(type, at);                                        \
                    numbers = is_number ? at + 1 : numbers;                                                          \
                    size = is_number ? size - half - 1 : half;                                                       \
                }                                                                                                    \
            out[i] = numbers;                                                                                        \
        }                                                                                                            \
    }
S0_SEARCH_NANS(f32, float)
S0_SEARCH_NANS(f64, double)

/* `kind` as in `sorting.h`. */
void s0_search(const char *lane, Py_ssize_t stride, Py_ssize_t n, const char *wanted, Py_ssize_t count, int width,
               int kind, int right, int64_t *out)
{
#define S0_CASE(w, k, name, type)                                                                                    \
    if (width == w && kind == k) {                                                                                   \
        (right ? s0_search_right_##name : s0_search_left_##name)(lane, stride, n, (const type *)wanted, count, out); \
    }
    S0_CASE(8, S0_FLOATING, f64, double)
    S0_CASE(4, S0_FLOATING, f32, float)
    S0_CASE(8, S0_SIGNED, i64, int64_t)
    S0_CASE(4, S0_SIGNED, i32, int32_t)
    S0_CASE(2, S0_SIGNED, i16, int16_t)
    S0_CASE(1, S0_SIGNED, i8, int8_t)
    S0_CASE(8, S0_UNSIGNED, u64, uint64_t)
    S0_CASE(4, S0_UNSIGNED, u32, uint32_t)
    S0_CASE(2, S0_UNSIGNED, u16, uint16_t)
    S0_CASE(1, S0_UNSIGNED, u8, uint8_t)
    S0_CASE(1, S0_BOOLEAN, b8, uint8_t)
#undef S0_CASE
    if (kind == S0_FLOATING && width == 8)
        s0_search_nans_f64(lane, stride, n, (const double *)wanted, count, right, out);
    else if (kind == S0_FLOATING)
        s0_search_nans_f32(lane, stride, n, (const float *)wanted, count, right, out);
}

#endif
