/* Powers of integers, block by block: all elements of a block are squared as often as the largest exponent asks for, so that
 * the loops have no branches. Modulo a power of two, hence the same for both signs. */
#ifndef STRIDE0_INTPOW_H
#define STRIDE0_INTPOW_H

#include <stddef.h>
#include <stdint.h>

/* T: the type of the elements, C: the one of their products, which must not be promoted to a signed one. */
#define S0_INTEGER_POWERS(name, T, C)                                                                                \
    static __attribute__((unused)) void vm_pow_##name##_run(                                                         \
        const char *x, ptrdiff_t sx, const char *y, ptrdiff_t sy, char *z, ptrdiff_t sz, ptrdiff_t n) {              \
        enum { block = 64 };                                                                                         \
        T base[block], left[block], power[block];                                                                    \
        for (; n > 0; n -= block, x += block * sx, y += block * sy, z += block * sz) {                               \
            const ptrdiff_t m = n < block ? n : block;                                                               \
            T any = 0;                                                                                               \
            for (ptrdiff_t i = 0; i < m; i++) {                                                                      \
                base[i] = *(const T *)(x + i * sx), left[i] = *(const T *)(y + i * sy), power[i] = 1;                \
                any |= left[i];                                                                                      \
            }                                                                                                        \
            if (sy == 0) { /* one exponent */                                                                        \
                for (; any != 0; any >>= 1) {                                                                        \
                    if (any & 1)                                                                                     \
                        for (ptrdiff_t i = 0; i < m; i++) power[i] = (T)((C)power[i] * base[i]);                     \
                    if (any > 1)                                                                                     \
                        for (ptrdiff_t i = 0; i < m; i++) base[i] = (T)((C)base[i] * base[i]);                       \
                }                                                                                                    \
            }                                                                                                        \
            for (; any != 0; any >>= 1)                                                                              \
                for (ptrdiff_t i = 0; i < m; i++) {                                                                  \
                    power[i] = (T)((C)power[i] * (left[i] & 1 ? base[i] : (T)1));                                    \
                    base[i] = (T)((C)base[i] * base[i]);                                                             \
                    left[i] = (T)(left[i] >> 1);                                                                     \
                }                                                                                                    \
            for (ptrdiff_t i = 0; i < m; i++)                                                                        \
                *(T *)(z + i * sz) = power[i];                                                                       \
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
