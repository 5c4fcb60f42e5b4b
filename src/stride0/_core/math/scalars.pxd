"""Small scalar bodies that the loops inline: thin names over libm, components, casts.

Those with a story of their own are in `realmath.pxd` and `complexmath.pxd`.
"""

from libc.stdint cimport int64_t, uint64_t
from stride0._core.math.complexmath cimport c128
from stride0._core.math.realmath cimport round_f64

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
