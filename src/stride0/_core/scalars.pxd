"""Small scalar bodies that the loops inline: thin names over libm, components, casts.

Those with a story of their own are in `realmath.pxd` and `complexmath.pxd`.
"""

from libc.stdint cimport int64_t, uint64_t
from stride0._core.complexmath cimport c128
from stride0._core.realmath cimport round_f64

cdef extern from "<math.h>" nogil:
    const double INFINITY

    double fabs_f64 "fabs"(double)
    float fabs_f32 "fabsf"(float)
    double sqrt_f64 "sqrt"(double)
    float sqrt_f32 "sqrtf"(float)
    double ceil_f64 "ceil"(double)
    float ceil_f32 "ceilf"(float)
    double floor_f64 "floor"(double)
    float floor_f32 "floorf"(float)
    double trunc_f64 "trunc"(double)
    float trunc_f32 "truncf"(float)
    double copysign_f64 "copysign"(double, double)
    float copysign_f32 "copysignf"(float, float)


# Our own, without branches: vectorised like any other loop.
cdef extern from "vecmath.h" nogil:
    double exp_f64 "vm_exp_f64"(double)
    float exp_f32 "vm_exp_f32"(float)
    double expm1_f64 "vm_expm1_f64"(double)
    float expm1_f32 "vm_expm1_f32"(float)
    double log_f64 "vm_log_f64"(double)
    float log_f32 "vm_log_f32"(float)
    double log1p_f64 "vm_log1p_f64"(double)
    float log1p_f32 "vm_log1p_f32"(float)
    double log2_f64 "vm_log2_f64"(double)
    float log2_f32 "vm_log2_f32"(float)
    double log10_f64 "vm_log10_f64"(double)
    float log10_f32 "vm_log10_f32"(float)
    double asin_f64 "vm_asin_f64"(double)
    float asin_f32 "vm_asin_f32"(float)
    double acos_f64 "vm_acos_f64"(double)
    float acos_f32 "vm_acos_f32"(float)
    double atan_f64 "vm_atan_f64"(double)
    float atan_f32 "vm_atan_f32"(float)
    double sinh_f64 "vm_sinh_f64"(double)
    float sinh_f32 "vm_sinh_f32"(float)
    double cosh_f64 "vm_cosh_f64"(double)
    float cosh_f32 "vm_cosh_f32"(float)
    double tanh_f64 "vm_tanh_f64"(double)
    float tanh_f32 "vm_tanh_f32"(float)
    double asinh_f64 "vm_asinh_f64"(double)
    float asinh_f32 "vm_asinh_f32"(float)
    double acosh_f64 "vm_acosh_f64"(double)
    float acosh_f32 "vm_acosh_f32"(float)
    double atanh_f64 "vm_atanh_f64"(double)
    float atanh_f32 "vm_atanh_f32"(float)
    double hypot_f64 "vm_hypot_f64"(double, double)
    float hypot_f32 "vm_hypot_f32"(float, float)
    double atan2_f64 "vm_atan2_f64"(double, double)
    float atan2_f32 "vm_atan2_f32"(float, float)
    double logaddexp_f64 "vm_logaddexp_f64"(double, double)
    float logaddexp_f32 "vm_logaddexp_f32"(float, float)

    # Loops over n elements; steps in bytes.
    void vm_sin_f64_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void vm_sin_f32_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void vm_cos_f64_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void vm_cos_f32_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void vm_tan_f64_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void vm_tan_f32_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void vm_pow_f64_run(const char*, Py_ssize_t, const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void vm_pow_f32_run(const char*, Py_ssize_t, const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)

cdef extern from "cvecmath.h" nogil:
    void cv_divide_c64_run(const char*, Py_ssize_t, const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_divide_c128_run(const char*, Py_ssize_t, const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_reciprocal_c64_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_reciprocal_c128_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_exp_c64_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_exp_c128_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_sin_c64_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_sin_c128_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_cos_c64_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_cos_c128_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_tan_c64_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_tan_c128_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_sinh_c64_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_sinh_c128_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_cosh_c64_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_cosh_c128_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_tanh_c64_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_tanh_c128_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_pow_c64_run(const char*, Py_ssize_t, const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_pow_c128_run(const char*, Py_ssize_t, const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_sqrt_c64_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_sqrt_c128_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_expm1_c64_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_expm1_c128_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_log_c64_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_log_c128_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_log2_c64_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_log2_c128_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_log10_c64_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_log10_c128_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_log1p_c64_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_log1p_c128_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_asin_c64_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_asin_c128_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_acos_c64_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_acos_c128_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_atan_c64_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_atan_c128_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_asinh_c64_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_asinh_c128_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_acosh_c64_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_acosh_c128_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_atanh_c64_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)
    void cv_atanh_c128_run(const char*, Py_ssize_t, char*, Py_ssize_t, Py_ssize_t)

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    static inline int s0_signbit_f64(double x) { uint64_t u; memcpy(&u, &x, 8); return (int)(u >> 63); }
    static inline int s0_signbit_f32(float x) { uint32_t u; memcpy(&u, &x, 4); return (int)(u >> 31); }
    #define s0_max(a, b) ((a) > (b) ? (a) : (b))
    #define s0_min(a, b) ((a) < (b) ? (a) : (b))
    """
    int signbit_f64 "s0_signbit_f64"(double) noexcept nogil
    int signbit_f32 "s0_signbit_f32"(float) noexcept nogil
    # Of any integer type; the result has the type of the arguments.
    int64_t max_c "s0_max"(int64_t, int64_t) noexcept nogil
    int64_t min_c "s0_min"(int64_t, int64_t) noexcept nogil


# One selection per bound and one for NaN bounds: `minimum(maximum(x, low), high)` asks about NaN in every step,
# and the compiler turns such chains into branches.
cdef inline double clip_f64(double x, double low, double high) noexcept nogil:
    cdef double y = low if x < low else x
    y = high if y > high else y
    return low + high if (low != low) | (high != high) else y


cdef inline float clip_f32(float x, float low, float high) noexcept nogil:
    cdef float y = low if x < low else x
    y = high if y > high else y
    return low + high if (low != low) | (high != high) else y


cdef inline c128 make_c(double re, double im) noexcept nogil:
    cdef c128 z
    z.re = re
    z.im = im
    return z


cdef inline c128 add_c(c128 a, c128 b) noexcept nogil:
    return make_c(a.re + b.re, a.im + b.im)


cdef inline c128 subtract_c(c128 a, c128 b) noexcept nogil:
    return make_c(a.re - b.re, a.im - b.im)


cdef inline c128 negative_c(c128 a) noexcept nogil:
    return make_c(-a.re, -a.im)


cdef inline c128 conj_c(c128 a) noexcept nogil:
    return make_c(a.re, -a.im)


cdef inline c128 round_c(c128 a) noexcept nogil:
    return make_c(round_f64(a.re), round_f64(a.im))


cdef inline double abs2_c(c128 a) noexcept nogil:
    return a.re * a.re + a.im * a.im


cdef inline bint equal_c(c128 a, c128 b) noexcept nogil:
    return (a.re == b.re) & (a.im == b.im)


cdef inline bint isnan_c(c128 a) noexcept nogil:
    return (a.re != a.re) | (a.im != a.im)


cdef inline bint isinf_c(c128 a) noexcept nogil:
    return (fabs_f64(a.re) == INFINITY) | (fabs_f64(a.im) == INFINITY)


cdef inline bint isfinite_c(c128 a) noexcept nogil:
    return (a.re - a.re == 0) & (a.im - a.im == 0)


# A cast from floating point to an integer is undefined in C where the value does not fit, and differs
# between instruction sets. Here it is one thing everywhere: through a 64-bit integer, whose least value
# stands for what does not fit, and from there modulo the width of the target.
cdef inline int64_t to_int(double x) noexcept nogil:
    return <int64_t>x if (x >= -9223372036854775808.0) & (x < 9223372036854775808.0) else <int64_t>(<uint64_t>1 << 63)


cdef inline uint64_t to_uint(double x) noexcept nogil:
    if (x >= 9223372036854775808.0) & (x < 18446744073709551616.0):
        return <uint64_t>x
    return <uint64_t>to_int(x)
