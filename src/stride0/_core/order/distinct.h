/* The distinct elements of a lane: of a sorted lane, or of an unsorted lane with few distinct elements. */
#ifndef STRIDE0_DISTINCT_H
#define STRIDE0_DISTINCT_H

#include <Python.h>
#include <stdint.h>
#include <string.h>

#include "order_loops.h"
#include "kernels.h"

/* Move the first element of each run of equal elements in a sorted lane to the front. */
#define S0_DISTINCT(type)                                                                                            \
    {                                                                                                                \
        type *x = (type *)data, one, before = x[0];                                                                  \
        for (i = 1; i < n; i++) {                                                                                    \
            /* Writes beyond the last distinct element only overwrite elements that have been read. */               \
            one = x[i];                                                                                              \
            x[k] = one;                                                                                              \
            k += one != before;                                                                                      \
            before = one;                                                                                            \
        }                                                                                                            \
    }

/* Move the distinct elements of a sorted lane to its front; returns their number. */
Py_ssize_t s0_distinct(char *data, Py_ssize_t n, int width, int kind)
{
    Py_ssize_t i, k = 1;
    if (n == 0)
        return 0;
    if (kind == S0_FLOATING && width == 8)
        S0_DISTINCT(double)
    else if (kind == S0_FLOATING)
        S0_DISTINCT(float)
    else if (width == 8)
        S0_DISTINCT(uint64_t)
    else if (width == 4)
        S0_DISTINCT(uint32_t)
    else if (width == 2)
        S0_DISTINCT(uint16_t)
    else
        S0_DISTINCT(uint8_t)
    return k;
}

enum { S0_ENTRY_BITS = 12 };

/* A hash table whose entries are positions in `values`; the entry 0 is empty, so position 0 has no value. -0.0 and 0.0 have one
 * hash, and the one that comes first is kept. Gives up if the lane has too many values or a NaN, or if many hashes collide. */
#define S0_FEW_VALUES(name, type, word, multiplier, normal)                                                          \
    static Py_ssize_t s0_few_values_##name(const type *x, Py_ssize_t n, type *found, int64_t *counts)                \
    {                                                                                                                \
        const unsigned last = (1u << S0_ENTRY_BITS) - 1;                                                             \
        uint16_t entries[1 << S0_ENTRY_BITS] = {0};                                                                  \
        type values[S0_FEW_DISTINCT + 1] = {0};                                                                      \
        int64_t each[S0_FEW_DISTINCT + 1] = {0};                                                                     \
        Py_ssize_t i, count = 0, collisions = 0;                                                                     \
        for (i = 0; i < n; i++) {                                                                                    \
            const type one = x[i], normalized = one normal;                                                          \
            word bits;                                                                                               \
            memcpy(&bits, &normalized, sizeof(bits));                                                                \
            bits ^= bits >> (sizeof(bits) * 4);                                                                      \
            unsigned hash = (unsigned)((word)(bits * (word)multiplier) >> (sizeof(bits) * 8 - S0_ENTRY_BITS));       \
            unsigned at = entries[hash];                                                                             \
            while (at == 0 || values[at] != one) {                                                                   \
                if (at == 0) {                                                                                       \
                    if (count == S0_FEW_DISTINCT || one != one)                                                      \
                        return -1;                                                                                   \
                    at = ++count;                                                                                    \
                    entries[hash] = (uint16_t)at, values[at] = one;                                                  \
                    break;                                                                                           \
                }                                                                                                    \
                if (++collisions > n)                                                                                \
                    return -1;                                                                                       \
                hash = (hash + 1) & last;                                                                            \
                at = entries[hash];                                                                                  \
            }                                                                                                        \
            each[at]++;                                                                                              \
        }                                                                                                            \
        memcpy(found, values + 1, (size_t)count * sizeof(type));                                                     \
        memcpy(counts, each + 1, (size_t)count * sizeof(*counts));                                                   \
        return count;                                                                                                \
    }
S0_FEW_VALUES(f32, float, uint32_t, 0x9E3779B1, +0.0f)
S0_FEW_VALUES(f64, double, uint64_t, 0x9E3779B97F4A7C15, +0.0)
S0_FEW_VALUES(u32, uint32_t, uint32_t, 0x9E3779B1, )
S0_FEW_VALUES(u64, uint64_t, uint64_t, 0x9E3779B97F4A7C15, )

/* The distinct elements of a contiguous lane, of 4 or 8 bytes, in the order of their first occurrence, and their counts. Returns
 * the number of distinct elements, or -1 if there are too many. Both results have space for S0_FEW_DISTINCT. */
Py_ssize_t s0_few_values(const char *x, Py_ssize_t n, int width, int kind, char *found, int64_t *counts)
{
    if (width == 8)
        return kind == S0_FLOATING ? s0_few_values_f64((const double *)x, n, (double *)found, counts)
                                   : s0_few_values_u64((const uint64_t *)x, n, (uint64_t *)found, counts);
    return kind == S0_FLOATING ? s0_few_values_f32((const float *)x, n, (float *)found, counts)
                               : s0_few_values_u32((const uint32_t *)x, n, (uint32_t *)found, counts);
}

#endif
