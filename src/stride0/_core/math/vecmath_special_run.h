/* Loops over the functions of vecmath_special.h, which includes this file.

   Note [Stages]
       Few arguments are subnormal, infinite, NaN, negative or extreme, but a body that is right for them too costs several times
       as much. So a function has up to three bodies, each for fewer arguments than the one before, and runs in stages. A block
       goes through the first body. The arguments that it does not handle are gathered and go through the next body. If there
       are many of these, the other arguments are gathered too, so that nothing is computed twice. The body that computes a
       result depends only on the argument, and so do the bits. A macro that ends in LATER tells, by its highest bit, whether a
       body leaves an argument to the next one.

   Note [Whole vectors]
       Compilers use scalar code for the end of a loop that is shorter than a vector, where each element takes as long as a whole
       vector. Here the last vector overlaps the previous one; fewer elements than a vector holds are padded with copies of
       one of them. */

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#if defined(__AVX512F__)
#define VM_VECTOR 64
#elif defined(__AVX2__)
#define VM_VECTOR 32
#else
#define VM_VECTOR 16
#endif

/* A function with several callers. The compiler does not make copies of it for the constants of its callers. */
#if defined(__clang__)
#define VM_ONE_COPY static __attribute__((noinline, unused))
#else
#define VM_ONE_COPY static __attribute__((noinline, noclone, unused))
#endif

/* All functions of a dtype share these loops: copy the arguments at `count` indices, put results back at these indices, and pad a
   partial vector. Copies of the loops in each function would double the code. */
#define VM_PLACES(T)                                                                                         \
    VM_ONE_COPY void vm_pick_##T(                                                                            \
        const T *restrict a, const uint16_t *restrict places, T *restrict picked, ptrdiff_t count) {         \
        for (ptrdiff_t i = 0; i < count; i++) picked[i] = a[places[i]];                                      \
    }                                                                                                        \
    VM_ONE_COPY void vm_put_##T(                                                                             \
        const T *restrict results, const uint16_t *restrict places, T *restrict r, ptrdiff_t count) {        \
        for (ptrdiff_t i = 0; i < count; i++) r[places[i]] = results[i];                                     \
    }                                                                                                        \
    VM_ONE_COPY void vm_pad_##T(const T *restrict a, T *restrict padded, ptrdiff_t n) {                      \
        for (ptrdiff_t i = 0; i < VM_VECTOR / (ptrdiff_t)sizeof(T); i++) padded[i] = a[i < n ? i : 0];       \
    }
VM_PLACES(double)
VM_PLACES(float)

/* r[i] = body(a[i]) for n elements. The highest bit of the result is set if LATER sets it for any element. */
#define VM_MAP(map, T, U, body, LATER)                                                                       \
    VM_ONE_COPY U map##_vectors(const T *a, T *r, ptrdiff_t n) {                                             \
        ptrdiff_t whole = n & -(VM_VECTOR / (ptrdiff_t)sizeof(T));                                           \
        U later = 0;                                                                                         \
        VM_ELEMENTWISE                                                                                       \
        for (ptrdiff_t i = 0; i < whole; i++) {                                                              \
            later |= LATER(a[i]);                                                                            \
            r[i] = body(a[i]);                                                                               \
        }                                                                                                    \
        return later;                                                                                        \
    }                                                                                                        \
    VM_ONE_COPY U map(const T *a, T *r, ptrdiff_t n) {                                                       \
        enum { LANES = VM_VECTOR / sizeof(T) };                                                              \
        T arguments[LANES], results[LANES];                                                                  \
        if (n >= LANES) {                                                                                    \
            U later = map##_vectors(a, r, n);                                                                \
            return n % LANES ? later | map##_vectors(a + (n - LANES), r + (n - LANES), LANES) : later;       \
        }                                                                                                    \
        vm_pad_##T(a, arguments, n);                                                                         \
        U later = map##_vectors(arguments, results, LANES);                                                  \
        memcpy(r, results, (size_t)n * sizeof(T));                                                           \
        return later;                                                                                        \
    }

#define VM_IS_LATER(U, later) ((ptrdiff_t)((U)(later) >> (8 * sizeof(U) - 1)))
/* r[p] = f(a[p]) for each of `count` positions p */
#define VM_AT_PLACES(f, T, a, r, places, count)                                                              \
    do {                                                                                                     \
        T arguments[VM_BLOCK], results[VM_BLOCK];                                                            \
        vm_pick_##T(a, places, arguments, count);                                                            \
        (void)f(arguments, results, count);                                                                  \
        vm_put_##T(results, places, r, count);                                                               \
    } while (0)
/* The same, followed by the next stage for the arguments that need it. If more than a third of the arguments need it, the arguments of
   the first body are gathered too. */
#define VM_STAGE(stage, T, U, body, LATER, next)                                                             \
    VM_MAP(stage##_map, T, U, body, LATER)                                                                   \
    static __attribute__((noinline, unused)) void stage##_later(const T *a, T *r, ptrdiff_t n) {             \
        uint16_t places[VM_BLOCK];                                                                           \
        ptrdiff_t count = 0;                                                                                 \
        for (ptrdiff_t i = 0; i < n; i++) {                                                                  \
            places[count] = (uint16_t)i;                                                                     \
            count += VM_IS_LATER(U, LATER(a[i]));                                                            \
        }                                                                                                    \
        VM_AT_PLACES(next, T, a, r, places, count);                                                          \
    }                                                                                                        \
    static __attribute__((noinline, unused)) void stage##_apart(const T *a, T *r, ptrdiff_t n) {             \
        uint16_t places[VM_BLOCK], others[VM_BLOCK];                                                         \
        ptrdiff_t count = 0;                                                                                 \
        for (ptrdiff_t i = 0; i < n; i++) {                                                                  \
            places[count] = others[i - count] = (uint16_t)i;                                                 \
            count += VM_IS_LATER(U, LATER(a[i]));                                                            \
        }                                                                                                    \
        if (count == n) {                                                                                    \
            next(a, r, n);                                                                                   \
            return;                                                                                          \
        }                                                                                                    \
        VM_AT_PLACES(stage##_map, T, a, r, others, n - count);                                               \
        VM_AT_PLACES(next, T, a, r, places, count);                                                          \
    }                                                                                                        \
    VM_INLINE void stage(const T *a, T *r, ptrdiff_t n) {                                                    \
        ptrdiff_t few = VM_IS_LATER(U, LATER(a[0])) + VM_IS_LATER(U, LATER(a[n / 2])) + VM_IS_LATER(U, LATER(a[n - 1])); \
        if (few > 1)                                                                                         \
            stage##_apart(a, r, n);                                                                          \
        else if (VM_IS_LATER(U, stage##_map(a, r, n)))                                                       \
            stage##_later(a, r, n);                                                                          \
    }
#define VM_LAST_STAGE(stage, T, U, body)                                                                     \
    VM_MAP(stage##_map, T, U, body, VM_NEVER)                                                                \
    VM_INLINE void stage(const T *a, T *r, ptrdiff_t n) { (void)stage##_map(a, r, n); }

/* y[i] = f(x[i]) for n elements, sx and sy bytes apart. Results may replace the arguments that they are computed from. */
#define VM_STAGES(name, T, first)                                                                            \
    static __attribute__((unused)) void vm_##name##_run(                                                     \
        const char *x, ptrdiff_t sx, char *y, ptrdiff_t sy, ptrdiff_t n) {                                   \
        T arguments[VM_BLOCK], results[VM_BLOCK];                                                            \
        for (; n > 0; n -= VM_BLOCK, x += VM_BLOCK * sx, y += VM_BLOCK * sy) {                               \
            ptrdiff_t m = n < VM_BLOCK ? n : VM_BLOCK;                                                       \
            T *r = sy == (ptrdiff_t)sizeof(T) ? (T *)y : results;                                            \
            const T *a = vm_gather_##T(x, sx, r, arguments, m);                                              \
            first(a, r, m);                                                                                  \
            vm_scatter_##T(r, y, sy, m);                                                                     \
        }                                                                                                    \
    }

/* Functions with one body for all arguments, with two, and with three */
#define VM_ONE(name, T, U)                                                                                   \
    VM_LAST_STAGE(vm_##name##_stage, T, U, vm_##name)                                                        \
    VM_STAGES(name, T, vm_##name##_stage)
#define VM_TWO(name, T, U, LATER)                                                                            \
    VM_LAST_STAGE(vm_##name##_second, T, U, vm_##name)                                                       \
    VM_STAGE(vm_##name##_stage, T, U, vm_##name##_fast, LATER, vm_##name##_second)                           \
    VM_STAGES(name, T, vm_##name##_stage)
#define VM_THREE(name, T, U, LATER, LAST)                                                                    \
    VM_LAST_STAGE(vm_##name##_third, T, U, vm_##name)                                                        \
    VM_STAGE(vm_##name##_second, T, U, vm_##name##_middle, LAST, vm_##name##_third)                          \
    VM_STAGE(vm_##name##_stage, T, U, vm_##name##_fast, LATER, vm_##name##_second)                           \
    VM_STAGES(name, T, vm_##name##_stage)
#define VM_BOTH_ONE(name)                                                                                    \
    VM_ONE(name##_f64, double, uint64_t)                                                                     \
    VM_ONE(name##_f32, float, uint32_t)
#define VM_BOTH_TWO(name, NAME)                                                                              \
    VM_TWO(name##_f64, double, uint64_t, VM_##NAME##_LATER_F64)                                              \
    VM_TWO(name##_f32, float, uint32_t, VM_##NAME##_LATER_F32)
#define VM_BOTH_THREE(name, NAME)                                                                            \
    VM_THREE(name##_f64, double, uint64_t, VM_##NAME##_LATER_F64, VM_##NAME##_LAST_F64)                      \
    VM_THREE(name##_f32, float, uint32_t, VM_##NAME##_LATER_F32, VM_##NAME##_LAST_F32)

/* The same for z[i] = f(x[i], y[i]): functions with one body, and with two */
#define VM_PAIR_MAP(map, T, U, body, LATER)                                                                  \
    VM_ONE_COPY U map##_vectors(                                                                             \
        const T *x, const T *y, T *z, ptrdiff_t n) {                                                         \
        ptrdiff_t whole = n & -(VM_VECTOR / (ptrdiff_t)sizeof(T));                                           \
        U later = 0;                                                                                         \
        VM_ELEMENTWISE                                                                                       \
        for (ptrdiff_t i = 0; i < whole; i++) {                                                              \
            later |= LATER(x[i], y[i]);                                                                      \
            z[i] = body(x[i], y[i]);                                                                         \
        }                                                                                                    \
        return later;                                                                                        \
    }                                                                                                        \
    VM_ONE_COPY U map(const T *x, const T *y, T *z, ptrdiff_t n) {                                           \
        enum { LANES = VM_VECTOR / sizeof(T) };                                                              \
        T left[LANES], right[LANES], results[LANES];                                                         \
        if (n >= LANES) {                                                                                    \
            ptrdiff_t last = n - LANES;                                                                      \
            U later = map##_vectors(x, y, z, n);                                                             \
            return n % LANES ? later | map##_vectors(x + last, y + last, z + last, LANES) : later;           \
        }                                                                                                    \
        vm_pad_##T(x, left, n);                                                                              \
        vm_pad_##T(y, right, n);                                                                             \
        U later = map##_vectors(left, right, results, LANES);                                                \
        memcpy(z, results, (size_t)n * sizeof(T));                                                           \
        return later;                                                                                        \
    }
#define VM_PAIR_STAGE(stage, T, U, body, LATER, next)                                                        \
    VM_PAIR_MAP(stage##_map, T, U, body, LATER)                                                              \
    static __attribute__((noinline, unused)) void stage##_later(                                             \
        const T *x, const T *y, T *z, ptrdiff_t n) {                                                         \
        T left[VM_BLOCK], right[VM_BLOCK], results[VM_BLOCK];                                                \
        uint16_t places[VM_BLOCK];                                                                           \
        ptrdiff_t count = 0;                                                                                 \
        for (ptrdiff_t i = 0; i < n; i++) {                                                                  \
            places[count] = (uint16_t)i;                                                                     \
            count += (ptrdiff_t)((U)(LATER(x[i], y[i])) >> (8 * sizeof(U) - 1));                             \
        }                                                                                                    \
        vm_pick_##T(x, places, left, count);                                                                 \
        vm_pick_##T(y, places, right, count);                                                                \
        next(left, right, results, count);                                                                   \
        vm_put_##T(results, places, z, count);                                                               \
    }                                                                                                        \
    VM_INLINE void stage(const T *x, const T *y, T *z, ptrdiff_t n) {                                        \
        if (stage##_map(x, y, z, n) >> (8 * sizeof(U) - 1)) stage##_later(x, y, z, n);                       \
    }
#define VM_PAIR_STAGES(name, T, first)                                                                       \
    static __attribute__((unused)) void vm_##name##_run(                                                     \
        const char *x, ptrdiff_t sx, const char *y, ptrdiff_t sy, char *z, ptrdiff_t sz, ptrdiff_t n) {      \
        T left[VM_BLOCK], right[VM_BLOCK], results[VM_BLOCK];                                                \
        for (; n > 0; n -= VM_BLOCK, x += VM_BLOCK * sx, y += VM_BLOCK * sy, z += VM_BLOCK * sz) {           \
            ptrdiff_t m = n < VM_BLOCK ? n : VM_BLOCK;                                                       \
            T *r = sz == (ptrdiff_t)sizeof(T) ? (T *)z : results;                                            \
            const T *a = vm_gather_##T(x, sx, r, left, m), *b = vm_gather_##T(y, sy, r, right, m);           \
            (void)first(a, b, r, m);                                                                         \
            vm_scatter_##T(r, z, sz, m);                                                                     \
        }                                                                                                    \
    }
#define VM_NEVER_2(x, y) 0
#define VM_PAIR_ONE(name, T, U)                                                                              \
    VM_PAIR_MAP(vm_##name##_map, T, U, vm_##name, VM_NEVER_2)                                                \
    VM_PAIR_STAGES(name, T, vm_##name##_map)
#define VM_PAIR_TWO(name, T, U, LATER)                                                                       \
    VM_PAIR_MAP(vm_##name##_second, T, U, vm_##name, VM_NEVER_2)                                             \
    VM_PAIR_STAGE(vm_##name##_stage, T, U, vm_##name##_fast, LATER, vm_##name##_second)                      \
    VM_PAIR_STAGES(name, T, vm_##name##_stage)
#define VM_BOTH_PAIR_ONE(name)                                                                               \
    VM_PAIR_ONE(name##_f64, double, uint64_t)                                                                \
    VM_PAIR_ONE(name##_f32, float, uint32_t)
#define VM_BOTH_PAIR_TWO(name, NAME)                                                                         \
    VM_PAIR_TWO(name##_f64, double, uint64_t, VM_##NAME##_LATER_F64)                                         \
    VM_PAIR_TWO(name##_f32, float, uint32_t, VM_##NAME##_LATER_F32)

/* Limits of the first bodies. expit, log_expit, softplus: e**-|x| may not be a normal number; logit: x is tiny, or not below 1; exp2,
   exp10: the result may not be a normal number. */
#define VM_EXPIT_LATER_F64(x) VM_EXP_RARE_F64(x)
#define VM_EXPIT_LATER_F32(x) VM_EXP_RARE_F32(x)
#define VM_LOGIT_LATER_F64(x) ((vm_bits64(x) - vm_bits64(0x1p-1000)) | (vm_bits64(0x1.fffffffffffffp-1) - vm_bits64(x)))
#define VM_LOGIT_LATER_F32(x) ((vm_bits32(x) - vm_bits32(0x1p-110f)) | (vm_bits32(0x1.fffffep-1f) - vm_bits32(x)))
#define VM_EXP2_LATER_F64(x) (vm_bits64(1021.0) - (vm_bits64(x) & ~VM_SIGN64))
#define VM_EXP2_LATER_F32(x) (vm_bits32(125.0f) - (vm_bits32(x) & ~VM_SIGN32))
#define VM_EXP10_LATER_F64(x) (vm_bits64(307.0) - (vm_bits64(x) & ~VM_SIGN64))
#define VM_EXP10_LATER_F32(x) (vm_bits32(37.0f) - (vm_bits32(x) & ~VM_SIGN32))

VM_BOTH_TWO(expit, EXPIT)
VM_BOTH_TWO(logit, LOGIT)
VM_BOTH_TWO(log_expit, EXPIT)
VM_BOTH_TWO(softplus, EXPIT)
VM_BOTH_PAIR_ONE(xlogy)
VM_BOTH_PAIR_ONE(xlog1py)
VM_BOTH_ONE(entr)
VM_BOTH_PAIR_TWO(rel_entr, REL_ENTR)
VM_BOTH_PAIR_TWO(kl_div, KL_DIV)
VM_BOTH_PAIR_ONE(huber)
VM_BOTH_PAIR_ONE(pseudo_huber)
VM_BOTH_ONE(cbrt)
VM_BOTH_TWO(exp2, EXP2)
VM_BOTH_TWO(exp10, EXP10)
VM_BOTH_PAIR_ONE(boxcox)
VM_BOTH_PAIR_ONE(boxcox1p)
VM_BOTH_PAIR_ONE(inv_boxcox)
VM_BOTH_PAIR_ONE(inv_boxcox1p)
VM_BOTH_ONE(exprel)
VM_BOTH_ONE(sinc)
VM_TWO(cosm1_f64, double, uint64_t, VM_SIN_RARE_F64)
#define VM_COSM1_LATER_F32(x) (vm_bits32(0x1p30f) - (vm_bits32(x) & ~VM_SIGN32))
VM_TWO(cosm1_f32, float, uint32_t, VM_COSM1_LATER_F32)
VM_BOTH_ONE(sindg)
VM_BOTH_ONE(cosdg)
VM_BOTH_ONE(tandg)
VM_BOTH_ONE(cotdg)

VM_BOTH_ONE(erf)
VM_TWO(erfc_f64, double, uint64_t, VM_ERFC_LATER_F64)
VM_ONE(erfc_f32, float, uint32_t)
VM_BOTH_ONE(erfcx)
VM_BOTH_TWO(erfinv, ERFINV)
VM_BOTH_TWO(erfcinv, ERFCINV)
VM_TWO(ndtr_f64, double, uint64_t, VM_NDTR_LATER_F64)
VM_ONE(ndtr_f32, float, uint32_t)
VM_BOTH_ONE(log_ndtr)
VM_BOTH_TWO(ndtri, NDTRI)

VM_BOTH_THREE(gamma, GAMMA)
VM_BOTH_THREE(gammaln, GAMMALN)
VM_BOTH_THREE(digamma, DIGAMMA)
VM_BOTH_ONE(i0)
VM_BOTH_ONE(i0e)
VM_BOTH_ONE(i1)
VM_BOTH_ONE(i1e)

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
