/* Loops over functions of vecmath.h that are faster for ordinary arguments; included by vecmath.h.

   Note [Fast and rare]
       Few arguments are subnormal, infinite, NaN or out of range, but handling them can cost as much as the function itself. So
       a function like vm_log_f32 has a second body, vm_log_f32_fast, for ordinary arguments, which gives the same bits for
       them. Loops run the fast body over a block of arguments, note whether any argument was rare, and if so run the block
       again with the body that is right for all. */

/* Elements of a block. It is longer if only arguments and results need buffers: the processor mispredicts the end of each
   block. */
enum { VM_BLOCK = 512, VM_LONG_BLOCK = 1024 };

/* For GCC the buffers may be read although the loops that fill them have not run. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

/* A contiguous block of elements `stride` bytes apart: in place, or copied to the buffer, if they are not adjacent or if the
   results `r` will replace them. */
#define VM_GATHER(T)                                                                                         \
    static __attribute__((noinline, unused)) void vm_fill_##T(                                               \
        const char *x, ptrdiff_t stride, T *buffer, ptrdiff_t n) {                                           \
        const T *from = (const T *)x;                                                                        \
        if (stride == (ptrdiff_t)sizeof(T)) {                                                                \
            memcpy(buffer, from, (size_t)n * sizeof(T));                                                     \
        } else if (stride == 0) { /* vectorised, like the next case, every second element */                 \
            const T one = *from;                                                                             \
            for (ptrdiff_t i = 0; i < n; i++) buffer[i] = one;                                               \
        } else if (stride == 2 * (ptrdiff_t)sizeof(T)) {                                                     \
            for (ptrdiff_t i = 0; i < n; i++) buffer[i] = from[2 * i];                                       \
        } else {                                                                                             \
            for (ptrdiff_t i = 0; i < n; i++) buffer[i] = *(const T *)(x + i * stride);                      \
        }                                                                                                    \
    }                                                                                                        \
    VM_INLINE const T *vm_gather_##T(const char *x, ptrdiff_t stride, const T *r, T *buffer, ptrdiff_t n) {  \
        if (stride == (ptrdiff_t)sizeof(T) && x != (const char *)r) return (const T *)x;                     \
        vm_fill_##T(x, stride, buffer, n);                                                                   \
        return buffer;                                                                                       \
    }                                                                                                        \
    VM_INLINE void vm_scatter_##T(const T *buffer, char *y, ptrdiff_t stride, ptrdiff_t n) {                 \
        if ((const char *)buffer == y) return;                                                               \
        for (ptrdiff_t i = 0; i < n; i++) *(T *)(y + i * stride) = buffer[i];                                \
    }
VM_GATHER(double)
VM_GATHER(float)

/* The highest bit is set if the fast body is not right for x: e**x may not be a normal number, x is not a positive normal number. */
#define VM_EXP_RARE_F64(x) (vm_bits64(708.0) - (vm_bits64(x) & ~VM_SIGN64))
#define VM_EXP_RARE_F32(x) (vm_bits32(87.0f) - (vm_bits32(x) & ~VM_SIGN32))
#define VM_EXPM1_RARE_F64(x) (vm_bits64(36.0) - (vm_bits64(x) & ~VM_SIGN64))
#define VM_EXPM1_RARE_F32(x) (vm_bits32(16.5f) - (vm_bits32(x) & ~VM_SIGN32))
#define VM_LOG_RARE_F64(x) ((vm_bits64(x) - ((uint64_t)1 << 52)) | (vm_bits64(0x1.fffffffffffffp1023) - vm_bits64(x)))
#define VM_LOG_RARE_F32(x) ((vm_bits32(x) - (1u << 23)) | (vm_bits32(0x1.fffffep127f) - vm_bits32(x)))
#define VM_LOG1P_RARE_F64(x) VM_LOG_RARE_F64(1.0 + (x))
#define VM_LOG1P_RARE_F32(x) VM_LOG_RARE_F32(1.0f + (x))

/* y[i] = f(x[i]) for n elements, sx and sy bytes apart. Results may replace the arguments that they are computed from. The highest
   bit of `RARE` of an argument is set if the argument is rare. */
#define VM_RUN(name, T, U, RARE)                                                                             \
    static __attribute__((unused)) void vm_##name##_run(                                                     \
        const char *x, ptrdiff_t sx, char *y, ptrdiff_t sy, ptrdiff_t n) {                                   \
        T arguments[VM_LONG_BLOCK], results[VM_LONG_BLOCK];                                                  \
        for (; n > 0; n -= VM_LONG_BLOCK, x += VM_LONG_BLOCK * sx, y += VM_LONG_BLOCK * sy) {                \
            ptrdiff_t m = n < VM_LONG_BLOCK ? n : VM_LONG_BLOCK;                                             \
            T *r = sy == (ptrdiff_t)sizeof(T) ? (T *)y : results;                                            \
            const T *a = vm_gather_##T(x, sx, r, arguments, m);                                              \
            U rare = 0;                                                                                      \
            VM_ELEMENTWISE                                                                                   \
            for (ptrdiff_t i = 0; i < m; i++) {                                                              \
                rare |= RARE(a[i]);                                                                          \
                r[i] = vm_##name##_fast(a[i]);                                                               \
            }                                                                                                \
            if (rare >> (8 * sizeof(U) - 1)) {                                                               \
                VM_ELEMENTWISE                                                                               \
                for (ptrdiff_t i = 0; i < m; i++) r[i] = vm_##name(a[i]);                                    \
            }                                                                                                \
            vm_scatter_##T(r, y, sy, m);                                                                     \
        }                                                                                                    \
    }
#define VM_RUN_BOTH(name, NAME)                                                                              \
    VM_RUN(name##_f64, double, uint64_t, VM_##NAME##_RARE_F64)                                               \
    VM_RUN(name##_f32, float, uint32_t, VM_##NAME##_RARE_F32)

/* The same for a function that is equally fast for all arguments. */
#define VM_NEVER(x) 0
#define VM_RUN_PLAIN(name)                                                                                   \
    VM_INLINE double vm_##name##_f64_fast(double x) { return vm_##name##_f64(x); }                           \
    VM_INLINE float vm_##name##_f32_fast(float x) { return vm_##name##_f32(x); }                             \
    VM_RUN(name##_f64, double, uint64_t, VM_NEVER)                                                           \
    VM_RUN(name##_f32, float, uint32_t, VM_NEVER)

VM_RUN_PLAIN(asin)
VM_RUN_PLAIN(acos)
VM_RUN_PLAIN(atan)
VM_RUN_PLAIN(sinh)
VM_RUN_PLAIN(cosh)
VM_RUN_PLAIN(tanh)
VM_RUN_PLAIN(asinh)
VM_RUN_PLAIN(acosh)
VM_RUN_PLAIN(atanh)

/* With the many registers of AVX-512, scheduling instructions in the order in which their operands are ready makes these loops 2.5 %
   faster, except tanh. With fewer registers, spills cost more than that gains. */
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("schedule-insns")
#define VM_SCHEDULED
#endif
VM_RUN_BOTH(exp, EXP)
VM_RUN_BOTH(expm1, EXPM1)
VM_RUN_BOTH(log, LOG)
VM_RUN_BOTH(log2, LOG)
VM_RUN_BOTH(log10, LOG)
VM_RUN_BOTH(log1p, LOG1P)
VM_RUN(sin_f64, double, uint64_t, VM_SIN_RARE_F64)
VM_RUN(cos_f64, double, uint64_t, VM_SIN_RARE_F64)
VM_RUN(tan_f64, double, uint64_t, VM_SIN_RARE_F64)
VM_RUN(sin_f32, float, uint32_t, VM_SIN_RARE_F32)
VM_RUN(cos_f32, float, uint32_t, VM_SIN_RARE_F32)
VM_RUN(tan_f32, float, uint32_t, VM_SIN_RARE_F32)

/* z[i] = f(x[i], y[i]) for a block, with the fast body, which itself tells whether arguments were rare. */
#define VM_BLOCK_2(name, T, U)                                                                               \
    VM_INLINE U vm_##name##_block(const T *x, const T *y, T *z, ptrdiff_t n) {                               \
        U rare = 0;                                                                                          \
        VM_ELEMENTWISE                                                                                       \
        for (ptrdiff_t i = 0; i < n; i++) {                                                                  \
            U flags;                                                                                         \
            z[i] = vm_##name##_fast(x[i], y[i], &flags);                                                     \
            rare |= flags;                                                                                   \
        }                                                                                                    \
        return rare;                                                                                         \
    }

/* Logarithm and exponential in separate loops: processors overlap the elements of short loops, but their window is too small for
   the elements of a long loop. */
#define VM_POW_BLOCK(B, T, U, RARE, log_series)                                                              \
    VM_INLINE U vm_pow_f##B##_block(const T *x, const T *y, T *z, ptrdiff_t n) {                             \
        T a[VM_BLOCK], b[VM_BLOCK], k[VM_BLOCK];                                                             \
        const U two = vm_bits##B(2), differ = two ^ vm_bits##B(3);                                           \
        U rare = 0, special = 0;                                                                             \
        VM_ELEMENTWISE                                                                                       \
        for (ptrdiff_t i = 0; i < n; i++) {                                                                  \
            rare |= RARE(x[i]);                                                                              \
            a[i] = vm_log_quotient_f##B(vm_log_split_fast_f##B(x[i], k + i), b + i);                         \
        }                                                                                                    \
        VM_ELEMENTWISE                                                                                       \
        for (ptrdiff_t i = 0; i < n; i++) a[i] = log_series(k[i], a[i], b[i], b + i);                        \
        VM_ELEMENTWISE                                                                                       \
        for (ptrdiff_t i = 0; i < n; i++) {                                                                  \
            U flags;                                                                                         \
            z[i] = vm_pow_end_fast_f##B(y[i], a[i], b[i], &flags);                                           \
            rare |= flags;                                                                                   \
            U apart = (vm_bits##B(y[i]) ^ two) & ~differ; /* 0 for 2 and 3 */                                \
            special |= (apart - 1) & ~apart;                                                                 \
        }                                                                                                    \
        if (special >> (B - 1)) {                                                                            \
            VM_ELEMENTWISE                                                                                   \
            for (ptrdiff_t i = 0; i < n; i++)                                                                \
                z[i] = y[i] == 2 ? x[i] * x[i] : y[i] == 3 ? vm_cube_f##B(x[i]) : z[i];                      \
        }                                                                                                    \
        return rare;                                                                                         \
    }
VM_POW_BLOCK(64, double, uint64_t, VM_LOG_RARE_F64, vm_log_series_f64)
VM_POW_BLOCK(32, float, uint32_t, VM_LOG_RARE_F32, vm_log2_series_f32)

/* z[i] = f(x[i], y[i]) for n elements, with strides in bytes; z may be x or y. */
#define VM_RUN_2(name, T, U) VM_RUN_NAMED(vm_##name##_run, name, T, U)
#define VM_RUN_NAMED(run, name, T, U)                                                                        \
    static __attribute__((unused)) void run(                                                                 \
        const char *x, ptrdiff_t sx, const char *y, ptrdiff_t sy, char *z, ptrdiff_t sz, ptrdiff_t n) {      \
        T left[VM_BLOCK], right[VM_BLOCK], results[VM_BLOCK];                                                \
        for (; n > 0; n -= VM_BLOCK, x += VM_BLOCK * sx, y += VM_BLOCK * sy, z += VM_BLOCK * sz) {           \
            ptrdiff_t m = n < VM_BLOCK ? n : VM_BLOCK;                                                       \
            T *r = sz == (ptrdiff_t)sizeof(T) ? (T *)z : results;                                            \
            const T *a = vm_gather_##T(x, sx, r, left, m), *b = vm_gather_##T(y, sy, r, right, m);           \
            if (vm_##name##_block(a, b, r, m) >> (8 * sizeof(U) - 1)) {                                      \
                VM_ELEMENTWISE                                                                               \
                for (ptrdiff_t i = 0; i < m; i++) r[i] = vm_##name(a[i], b[i]);                              \
            }                                                                                                \
            vm_scatter_##T(r, z, sz, m);                                                                     \
        }                                                                                                    \
    }
#define VM_PLAIN_2(name, T, U)                                                                               \
    VM_INLINE T vm_##name##_fast(T x, T y, U *rare) {                                                        \
        *rare = 0;                                                                                           \
        return vm_##name(x, y);                                                                              \
    }                                                                                                        \
    VM_BLOCK_2(name, T, U)                                                                                   \
    VM_RUN_2(name, T, U)

/* Powers: the exponent is often one small number. */
VM_RUN_NAMED(vm_powers_f64, pow_f64, double, uint64_t)
VM_RUN_NAMED(vm_powers_f32, pow_f32, float, uint32_t)
VM_RUN_PLAIN(cube)
#define VM_RUN_POWERS(name, T)                                                                               \
    static __attribute__((unused)) void vm_pow_##name##_run(                                                 \
        const char *x, ptrdiff_t sx, const char *y, ptrdiff_t sy, char *z, ptrdiff_t sz, ptrdiff_t n) {      \
        if (sy == 0 && n > 0 && *(const T *)y == 3)                                                          \
            vm_cube_##name##_run(x, sx, z, sz, n);                                                           \
        else                                                                                                 \
            vm_powers_##name(x, sx, y, sy, z, sz, n);                                                        \
    }
VM_RUN_POWERS(f64, double)
VM_RUN_POWERS(f32, float)
#ifdef VM_SCHEDULED
#pragma GCC pop_options
#endif
VM_PLAIN_2(atan2_f64, double, uint64_t)
VM_BLOCK_2(atan2_f32, float, uint32_t)
VM_RUN_2(atan2_f32, float, uint32_t)
VM_BLOCK_2(hypot_f64, double, uint64_t)
VM_RUN_2(hypot_f64, double, uint64_t)
VM_PLAIN_2(hypot_f32, float, uint32_t)
VM_PLAIN_2(logaddexp_f64, double, uint64_t)
VM_PLAIN_2(logaddexp_f32, float, uint32_t)

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
