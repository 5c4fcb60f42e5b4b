"""Scalar bodies of complex arithmetic, inlined by the generated loops.

One version in double serves both complex types: complex64 is widened and the result rounded, which is nearly
correctly rounded and does not overflow on the way. Only plain products of complex64 have a version of their own, by
Note [Products of complex64] in `cproduct.h`. Quotients, powers and the transcendental functions are whole loops, in
`cvecmath.h`.
"""

cimport cython

cdef extern from *:
    """
    #include <math.h>

    #ifndef S0_COMPLEX_H
    #define S0_COMPLEX_H
    typedef struct { double re, im; } s0_c128;
    #define S0_UP 0x1p120
    #endif
    """
    const double _UP "S0_UP"
    ctypedef struct c128 "s0_c128":
        double re
        double im

cdef extern from "<math.h>" nogil:
    const double _NAN "NAN"
    double _cfabs "fabs"(double)

cdef extern from "cproduct.h" nogil:
    float _sum_of_products "s0_sum_of_products"(float, float, float, float)

cdef extern from "cvecmath.h" nogil:
    double _hypot "vm_hypot_f64"(double, double)


cdef inline c128 _pair(double re, double im) noexcept nogil:
    cdef c128 z
    z.re = re
    z.im = im
    return z


cdef inline bint _is_nan(double x) noexcept nogil:
    return x != x


cdef inline double abs_c(c128 z) noexcept nogil:
    return _hypot(z.re, z.im)


cdef inline c128 multiply_c(c128 x, c128 y) noexcept nogil:
    # The textbook formula, which the standard asks for where all parts are finite and allows elsewhere. It
    # adds a negated product and does not subtract one: of a difference beside a sum, GCC 12's vectoriser
    # makes vfmaddsub instructions even under -ffp-contract=off, and the bits would depend on the instruction
    # set.
    cdef double minus_im = -x.im
    return _pair(x.re * y.re + minus_im * y.im, x.im * y.re + x.re * y.im)


cdef inline c128 multiply_c128(c128 x, c128 y) noexcept nogil:
    return multiply_c(x, y)


cdef inline c128 multiply_c64(c128 x, c128 y) noexcept nogil:
    cdef float a = <float>x.re, b = <float>x.im, c = <float>y.re, d = <float>y.im  # they were widened: exact
    return _pair(_sum_of_products(a, c, -b, d), _sum_of_products(b, c, a, d))


cdef inline c128 multiply_masked_c(c128 x, c128 y) noexcept nogil:
    return multiply_c(x, y) if (x.re != 0) | (x.im != 0) else x


cdef inline c128 square_c(c128 z) noexcept nogil:
    return multiply_c(z, z)


@cython.cdivision(True)
cdef inline c128 sign_c(c128 z) noexcept nogil:
    # z / abs(z), part by part, as the standard divides by a real number; so an infinite part gives NaN (inf /
    # inf).
    cdef double scale, size
    if (z.re == 0) & (z.im == 0):
        return _pair(0.0, 0.0)
    if _is_nan(z.re) | _is_nan(z.im):
        return _pair(_NAN, _NAN)
    size = _cfabs(z.re) if _cfabs(z.re) > _cfabs(z.im) else _cfabs(z.im)
    scale = 0.5 if size > 1e307 else (_UP if size < 1e-290 else 1.0)  # abs must not overflow or be subnormal
    z = _pair(z.re * scale, z.im * scale)
    size = abs_c(z)
    return _pair(z.re / size, z.im / size)
