/* Powers of integers, block by block: all elements of a block are squared as often as the largest exponent requires, so that the
 * loops have no branches. They are modulo a power of two, hence the same for signed and unsigned integers. */
#ifndef STRIDE0_INTPOW_H
#define STRIDE0_INTPOW_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "vecmath.h"

/* The base if the last bit is set, otherwise 1; computed without a select instruction, which some processors lack for narrow integers. */
#define S0_FACTOR(T, bits, base) ((T)((((base) ^ 1) & (0 - ((bits) & 1))) ^ 1))

/* T: the type of the elements; C: the type of their products, which must not be promoted to a signed type. */
#define S0_INTEGER_POWERS(name, T, C)                                                                                \
    static inline void vm_powers_##name(T *restrict base, T *restrict left, T *restrict power, ptrdiff_t m)          \
    {                                                                                                                \
        T any = 0;                                                                                                   \
        for (ptrdiff_t i = 0; i < m; i++) {                                                                          \
            any |= left[i];                                                                                          \
            power[i] = S0_FACTOR(T, left[i], base[i]);                                                               \
        }                                                                                                            \
        for (; any > 1; any >>= 1)                                                                                   \
            for (ptrdiff_t i = 0; i < m; i++) {                                                                      \
                base[i] = (T)((C)base[i] * base[i]);                                                                 \
                left[i] = (T)(left[i] >> 1);                                                                         \
                power[i] = (T)((C)power[i] * S0_FACTOR(T, left[i], base[i]));                                        \
            }                                                                                                        \
    }                                                                                                                \
    /* One exponent for all */                                                                                       \
    static inline void vm_power_##name(T *restrict base, T left, T *restrict power, ptrdiff_t m)                     \
    {                                                                                                                \
        for (ptrdiff_t i = 0; i < m; i++)                                                                            \
            power[i] = S0_FACTOR(T, left, base[i]);                                                                  \
        for (int first = !(left & 1); left > 1;) {                                                                   \
            left >>= 1;                                                                                              \
            for (ptrdiff_t i = 0; i < m; i++)                                                                        \
                base[i] = (T)((C)base[i] * base[i]);                                                                 \
            if ((left & 1) && first)                                                                                 \
                memcpy(power, base, (size_t)m * sizeof(T)), first = 0;                                               \
            else if (left & 1)                                                                                       \
                for (ptrdiff_t i = 0; i < m; i++)                                                                    \
                    power[i] = (T)((C)power[i] * base[i]);                                                           \
        }                                                                                                            \
    }                                                                                                                \
    VM_INLINE void vm_block_##name(T *to, const char *x, ptrdiff_t stride, ptrdiff_t m)                              \
    {                                                                                                                \
        if (stride == (ptrdiff_t)sizeof(T))                                                                          \
            memcpy(to, x, (size_t)m * sizeof(T));                                                                    \
        else if (stride == 2 * (ptrdiff_t)sizeof(T)) /* vectorised, like reading */                                  \
            for (ptrdiff_t i = 0; i < m; i++)                                                                        \
                to[i] = ((const T *)x)[2 * i];                                                                       \
        else                                                                                                         \
            for (ptrdiff_t i = 0; i < m; i++)                                                                        \
                to[i] = *(const T *)(x + i * stride);                                                                \
    }                                                                                                                \
    static __attribute__((unused)) void vm_pow_##name##_run(                                                         \
        const char *x, ptrdiff_t sx, const char *y, ptrdiff_t sy, char *z, ptrdiff_t sz, ptrdiff_t n)                \
    {                                                                                                                \
        enum { block = 64 };                                                                                         \
        T base[block], left[block], power[block];                                                                    \
        for (; n > 0; n -= block, x += block * sx, y += block * sy, z += block * sz) {                               \
            const ptrdiff_t m = n < block ? n : block;                                                               \
            vm_block_##name(base, x, sx, m);                                                                         \
            if (sy == 0) {                                                                                           \
                vm_power_##name(base, *(const T *)y, power, m);                                                      \
            } else {                                                                                                 \
                vm_block_##name(left, y, sy, m);                                                                     \
                vm_powers_##name(base, left, power, m);                                                              \
            }                                                                                                        \
            if (sz == (ptrdiff_t)sizeof(T))                                                                          \
                memcpy(z, power, (size_t)m * sizeof(T));                                                             \
            else                                                                                                     \
                for (ptrdiff_t i = 0; i < m; i++)                                                                    \
                    *(T *)(z + i * sz) = power[i];                                                                   \
        }                                                                                                            \
    }

S0_INTEGER_POWERS(i8, uint8_t, uint32_t)
S0_INTEGER_POWERS(i16, uint16_t, uint32_t)
S0_INTEGER_POWERS(i32, uint32_t, uint32_t)
S0_INTEGER_POWERS(i64, uint64_t, uint64_t)
#define vm_pow_u8_run vm_pow_i8_run
#define vm_pow_u16_run vm_pow_i16_run
#define vm_pow_u32_run vm_pow_i32_run
#define vm_pow_u64_run vm_pow_i64_run

#endif
