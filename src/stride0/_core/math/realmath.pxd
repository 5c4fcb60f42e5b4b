"""Scalar bodies of the real functions, inlined by the generated loops.

Each function comes as `_f64` and `_f32`; the integer ones as `_i8` to `_u64`, or on 64 bits alone, and then they serve
the narrower types by conversion (what overflows wraps when it is stored). Where a body only forwards to libm, libm's own
special cases (C Annex F) are the standard's. The float32 forms of functions whose float version in libm may
be several ULP off go through double: rounding a double result gives 0.5 ULP.

Nothing here depends on compiler flags that change values: no contraction, and `fma` is asked for by name.
"""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

cdef extern from "<math.h>" nogil:
    double _floor "floor"(double)
    double _fma "fma"(double, double, double)
    double _fmod "fmod"(double, double)
    float _fmodf "fmodf"(float, float)
    double _copysign "copysign"(double, double)
    float _copysignf "copysignf"(float, float)
    double _nextafter "nextafter"(double, double)
    float _nextafterf "nextafterf"(float, float)
    double _rint "rint"(double)
    float _rintf "rintf"(float)

cdef extern from *:
    """
    #define S0_TWO_53 9007199254740992.0
    """
    const double _TWO_53 "S0_TWO_53"


# -- division ------------------------------------------------------------------------------------------------

@cython.cdivision(True)
cdef inline double floor_divide_f64(double x, double y) noexcept nogil:
    # The floor of the exact quotient, as Python and NumPy give it for finite operands (1.0 // 0.1 is 9: the
    # double 0.1 is a little more than a tenth). `x / y` may have been rounded up to an integer (or to -0 by
    # underflow), which the sign of the exactly rounded remainder x - f*y tells. Infinite and zero operands go
    # by floor(x / y), as the standard says and Python does not: inf // 1 is inf, 1 // -inf is -0, 1 // 0 is
    # inf.
    cdef double f = _floor(x / y)
    cdef double r = _fma(-f, y, x)
    cdef bint above = ((r < 0) & (y > 0)) | ((r > 0) & (y < 0))
    # x - x is 0 for finite x only. Beyond 2**53 f - 1 is no double that could be told from f.
    cdef bint correctable = (y - y == 0) & (x - x == 0) & (f <= _TWO_53) & (f >= -_TWO_53)
    return f - 1.0 if above & correctable else f


@cython.cdivision(True)
cdef inline float floor_divide_f32(float x, float y) noexcept nogil:
    # In double the quotient of two floats is never rounded across an integer below 2**28, never overflows
    # (where a float quotient would, the conversion does) and never underflows, so no correction is needed.
    return <float>_floor(<double>x / <double>y)


cdef inline double remainder_f64(double x, double y) noexcept nogil:
    # Python's %: fmod is exact; then a result of the other sign than y moves up by y (which is how a finite x
    # of the other sign modulo an infinite y becomes y), and a zero takes y's sign. fmod is NaN for x infinite
    # or y zero.
    cdef double r = _fmod(x, y)
    cdef double moved = r + y if (r < 0) != (y < 0) else r
    return _copysign(0.0, y) if r == 0 else moved


cdef inline float remainder_f32(float x, float y) noexcept nogil:
    cdef float r = _fmodf(x, y)
    cdef float moved = r + y if (r < 0) != (y < 0) else r
    return _copysignf(0, y) if r == 0 else moved


@cython.cdivision(True)
cdef inline double reciprocal_f64(double x) noexcept nogil:
    return 1.0 / x


@cython.cdivision(True)
cdef inline float reciprocal_f32(float x) noexcept nogil:
    return <float>1.0 / x


# -- integers: division by zero gives 0 (the standard leaves it open; the processor would trap) --------------

cdef extern from "intdiv.h" nogil:
    int32_t floor_divide_i8(int32_t, int32_t)
    int32_t remainder_i8(int32_t, int32_t)
    int32_t floor_divide_u8(int32_t, int32_t)
    int32_t remainder_u8(int32_t, int32_t)
    int32_t floor_divide_i16(int32_t, int32_t)
    int32_t remainder_i16(int32_t, int32_t)
    int32_t floor_divide_u16(int32_t, int32_t)
    int32_t remainder_u16(int32_t, int32_t)
    int32_t floor_divide_i32(int32_t, int32_t)
    int32_t remainder_i32(int32_t, int32_t)
    uint32_t floor_divide_u32(uint32_t, uint32_t)
    uint32_t remainder_u32(uint32_t, uint32_t)
    int64_t floor_divide_i64(int64_t, int64_t)
    int64_t remainder_i64(int64_t, int64_t)
    uint64_t floor_divide_u64(uint64_t, uint64_t)
    uint64_t remainder_u64(uint64_t, uint64_t)


cdef inline uint64_t pow_u64(uint64_t x, uint64_t n) noexcept nogil:
    # Modulo 2**64, hence right modulo every narrower power of two too, and for signed bases in two's
    # complement.
    cdef uint64_t out = 1
    while n != 0:
        if n & 1:
            out = out * x
        x = x * x
        n = n >> 1
    return out


# -- selection: written as selects without branches, so that the loops vectorise -----------------------------

cdef inline double sign_f64(double x) noexcept nogil:
    return 1.0 if x > 0 else (-1.0 if x < 0 else x + 0.0)  # x + 0.0 is +0 for both zeros and keeps NaN


cdef inline float sign_f32(float x) noexcept nogil:
    return <float>1.0 if x > 0 else (<float>-1.0 if x < 0 else x + <float>0.0)


cdef inline double maximum_f64(double x, double y) noexcept nogil:
    return x if (x >= y) | (x != x) else y  # NaN in x is taken here, NaN in y by failing the comparison


cdef inline float maximum_f32(float x, float y) noexcept nogil:
    return x if (x >= y) | (x != x) else y


cdef inline double minimum_f64(double x, double y) noexcept nogil:
    return x if (x <= y) | (x != x) else y


cdef inline float minimum_f32(float x, float y) noexcept nogil:
    return x if (x <= y) | (x != x) else y


cdef inline double round_f64(double x) noexcept nogil:
    return _rint(x)  # half to even, the rounding mode of every thread that nobody has tampered with


cdef inline float round_f32(float x) noexcept nogil:
    return _rintf(x)


cdef inline double nextafter_f64(double x, double y) noexcept nogil:
    return _nextafter(x, y)  # equal operands give y, so that -0 goes to +0 and back


cdef inline float nextafter_f32(float x, float y) noexcept nogil:
    return _nextafterf(x, y)
