"""Scalar bodies of the complex functions, inlined by the generated loops.

One version in double serves both complex types: complex64 is widened and the result rounded, which is nearly
correctly rounded and does not overflow on the way.

What C99 defines comes from its <complex.h>, whose special cases (Annex G) the standard's tables repeat, with
these exceptions, each named where it is mended: signs that C leaves open and the standard's text prints
(`exp`, `cosh`) or that it prints differently (`tanh`), results that older C libraries give as NaN (`acosh`,
`tanh`), and what C99 does not have (`expm1`, `log1p`, `sign`, the logarithms to other bases). The circular
functions are, as the standard defines them, the hyperbolic ones turned by a quarter: f(z) = -1j * fh(1j * z).
"""

cimport cython

cdef extern from *:
    """
    #include <complex.h>
    #undef I  /* a one-letter macro is a hazard to all code that follows */
    #include <math.h>
    #include <stdint.h>
    #include <string.h>

    #ifndef S0_COMPLEX_H
    #define S0_COMPLEX_H
    typedef struct { double re, im; } s0_c128;

    /* C lays a complex number out as two reals, so that copying the bytes converts; a sum re + I*im
       would lose the sign of zeros and turn infinities into NaN. */
    typedef double _Complex s0_c99;
    static inline s0_c99 s0_to_c99(s0_c128 z) { s0_c99 w; memcpy(&w, &z, sizeof w); return w; }
    static inline s0_c128 s0_from_c99(s0_c99 w) { s0_c128 z; memcpy(&z, &w, sizeof z); return z; }
    #define S0_C99(name) \\
        static inline s0_c128 s0_##name(s0_c128 z) { return s0_from_c99(name(s0_to_c99(z))); }
    S0_C99(cacos) S0_C99(cacosh) S0_C99(casinh) S0_C99(catanh) S0_C99(ccosh) S0_C99(cexp)
    S0_C99(clog) S0_C99(csinh) S0_C99(csqrt) S0_C99(ctanh)
    #undef S0_C99

    /* The power of two that brings x into [1, 2), or 2**1022 for subnormal x (no double can). */
    static inline double s0_to_unit(double x) {
        uint64_t u;
        memcpy(&u, &x, 8);
        int64_t e = 2046 - (int64_t)((u >> 52) & 0x7ff);
        e = e < 1 ? 1 : e > 2045 ? 2045 : e;
        u = (uint64_t)e << 52;
        memcpy(&x, &u, 8);
        return x;
    }
    #define S0_UP 0x1p120
    #define S0_DOWN 0x1p-120
    #endif
    """
    const double _UP "S0_UP"
    const double _DOWN "S0_DOWN"
    ctypedef struct c128 "s0_c128":
        double re
        double im
    c128 _cacos "s0_cacos"(c128) noexcept nogil
    c128 _cacosh "s0_cacosh"(c128) noexcept nogil
    c128 _casinh "s0_casinh"(c128) noexcept nogil
    c128 _catanh "s0_catanh"(c128) noexcept nogil
    c128 _ccosh "s0_ccosh"(c128) noexcept nogil
    c128 _cexp "s0_cexp"(c128) noexcept nogil
    c128 _clog "s0_clog"(c128) noexcept nogil
    c128 _csinh "s0_csinh"(c128) noexcept nogil
    c128 _csqrt "s0_csqrt"(c128) noexcept nogil
    c128 _ctanh "s0_ctanh"(c128) noexcept nogil
    double _to_unit "s0_to_unit"(double) noexcept nogil

cdef extern from "<math.h>" nogil:
    const double _INF "INFINITY"
    const double _NAN "NAN"
    double _cfabs "fabs"(double)
    double _ccopysign "copysign"(double, double)
    double _cfma "fma"(double, double, double)
    double _chypot "hypot"(double, double)
    double _creal_exp "exp"(double)
    double _creal_expm1 "expm1"(double)
    double _creal_log1p "log1p"(double)
    double _creal_log2 "log2"(double)
    double _creal_log10 "log10"(double)
    double _creal_pow "pow"(double, double)
    double _creal_sin "sin"(double)
    double _creal_cos "cos"(double)
    double _catan2 "atan2"(double, double)

cdef enum:
    _POW_BY_PRODUCTS = 100  # the largest integer exponent that pow_c takes apart into products


cdef inline c128 _pair(double re, double im) noexcept nogil:
    cdef c128 z
    z.re = re
    z.im = im
    return z


cdef inline c128 _turned(c128 z) noexcept nogil:  # 1j * z
    return _pair(-z.im, z.re)


cdef inline c128 _turned_back(c128 z) noexcept nogil:  # -1j * z
    return _pair(z.im, -z.re)


cdef inline bint _is_nan(double x) noexcept nogil:
    return x != x


cdef inline bint _is_inf(double x) noexcept nogil:
    return _cfabs(x) == _INF


cdef inline bint _is_finite(double x) noexcept nogil:
    return x - x == 0


cdef inline double _sum_of_products(double a, double b, double c, double d) noexcept nogil:
    # a*b + c*d to about one unit in the last place, even where the products cancel (Kahan). The second
    # remainder counts only for finite products.
    cdef double p = c * d
    cdef double e = _cfma(c, d, -p)
    cdef double s = _cfma(a, b, p)
    return s + e if _is_finite(e) else s


cdef inline c128 _two_sum(double a, double b) noexcept nogil:
    # a + b as the rounded sum and, exactly, what rounding took from it (Knuth).
    cdef double s = a + b
    cdef double v = s - a
    return _pair(s, (a - (s - v)) + (b - v))


# -- arithmetic ----------------------------------------------------------------------------------------------

cdef inline double abs_c(c128 z) noexcept nogil:
    return _chypot(z.re, z.im)


cdef inline c128 multiply_c(c128 x, c128 y) noexcept nogil:
    # The textbook formula, which the standard asks for where all parts are finite and allows elsewhere. It
    # adds a negated product and does not subtract one: of a difference beside a sum, GCC 12's vectoriser
    # makes vfmaddsub instructions even under -ffp-contract=off, and the bits would depend on the instruction
    # set.
    cdef double minus_im = -x.im
    return _pair(x.re * y.re + minus_im * y.im, x.im * y.re + x.re * y.im)


cdef inline c128 multiply_masked_c(c128 x, c128 y) noexcept nogil:
    return multiply_c(x, y) if (x.re != 0) | (x.im != 0) else x


cdef inline c128 square_c(c128 z) noexcept nogil:
    return multiply_c(z, z)


@cython.cdivision(True)
cdef inline c128 _divide_general(c128 x, c128 y) noexcept nogil:
    # The textbook formula with both operands brought by powers of two to where its products neither overflow
    # nor underflow, and with sums that do not cancel. The divisor always has its larger part in [1, 2), so
    # that the sum of its squares is in [1, 8).
    cdef double big_x = _cfabs(x.re) if _cfabs(x.re) > _cfabs(x.im) else _cfabs(x.im)
    cdef double big_y = _cfabs(y.re) if _cfabs(y.re) > _cfabs(y.im) else _cfabs(y.im)
    cdef double sy = _to_unit(big_y)
    cdef double sx = 0.125 if big_x > 1e306 else (_UP if big_x < 1e-270 else 1.0)
    cdef double back = 8.0 if big_x > 1e306 else (_DOWN if big_x < 1e-270 else 1.0)
    cdef double a = x.re * sx, b = x.im * sx, c = y.re * sy, d = y.im * sy
    cdef double squares = c * c + d * d
    cdef double re = _sum_of_products(a, c, b, d) / squares
    cdef double im = _sum_of_products(b, c, -a, d) / squares
    # sy before back: in this order nothing over- or underflows that the quotient would not.
    return _pair(re * sy * back, im * sy * back)


@cython.cdivision(True)
cdef inline c128 divide_c(c128 x, c128 y) noexcept nogil:
    cdef double a, b, c, d, half
    # A real or imaginary divisor (the standard's columns c and dj) divides part by part; also the zero one:
    # 1/0 is inf+nanj.
    if y.im == 0:
        return _pair(x.re / y.re, x.im / y.re)
    if y.re == 0:
        return _pair(x.im / y.im, -(x.re / y.im))
    if _is_finite(x.re) & _is_finite(x.im) & _is_finite(y.re) & _is_finite(y.im):
        return _divide_general(x, y)
    # The rest is the implementation's choice: infinite by finite is infinite and finite by infinite is zero,
    # as in C99 Annex G (one infinity, even with a NaN for its other part); NaN otherwise.
    if _is_inf(x.re) | _is_inf(x.im):
        if _is_finite(y.re) & _is_finite(y.im):
            a = _ccopysign(1.0 if _is_inf(x.re) else 0.0, x.re)
            b = _ccopysign(1.0 if _is_inf(x.im) else 0.0, x.im)
            half = 0.5 if (_cfabs(y.re) > 1) | (_cfabs(y.im) > 1) else 1.0  # no sum may overflow
            c = y.re * half
            d = y.im * half
            x = multiply_c(_pair(a, b), _pair(c, -d))
            return _pair(_INF * x.re, _INF * x.im)
    elif (_is_inf(y.re) | _is_inf(y.im)) & _is_finite(x.re) & _is_finite(x.im):
        c = _ccopysign(1.0 if _is_inf(y.re) else 0.0, y.re)
        d = _ccopysign(1.0 if _is_inf(y.im) else 0.0, y.im)
        x = multiply_c(x, _pair(c, -d))
        return _pair(0.0 * x.re, 0.0 * x.im)
    return _pair(_NAN, _NAN)


cdef inline c128 reciprocal_c(c128 z) noexcept nogil:
    return divide_c(_pair(1.0, 0.0), z)


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


# -- exponentials and logarithms -----------------------------------------------------------------------------

cdef inline c128 exp_c(c128 z) noexcept nogil:
    # At an infinite real part with an infinite or NaN imaginary one C leaves the signs open; here they are
    # plus.
    if _is_inf(z.re) & (not _is_finite(z.im)):
        return _pair(0.0, 0.0) if z.re < 0 else _pair(_INF, _NAN)
    return _cexp(z)


@cython.cdivision(True)
cdef inline double _expm1_near_zero(double a, double b) noexcept nogil:
    # The real part where its terms may cancel, a ~ b*b/2: with e = exp(a)-1-a and c = cos(b)-1+b*b/2 by their
    # series, it is (a - b*b/2) + e + c + (a + e)*(c - b*b/2), of which the first part is taken without error.
    cdef double h = 0.5 * b * b
    cdef double h_rest = _cfma(0.5 * b, b, -h)
    cdef c128 lead = _two_sum(a, -h)
    cdef double e = a * a * (1.0 / 2 + a * (1.0 / 6 + a * (1.0 / 24 + a * (1.0 / 120 + a * (
        1.0 / 720 + a * (1.0 / 5040 + a * (1.0 / 40320 + a * (1.0 / 362880))))))))
    cdef double c = h * h * (
        1.0 / 6 - h * (1.0 / 90 - h * (1.0 / 2520 - h * (1.0 / 113400 - h * (1.0 / 7484400)))))
    return lead.re + ((lead.im - h_rest) + (e + c + (a + e) * (c - h))) + 0.0


cdef inline c128 expm1_c(c128 z) noexcept nogil:
    cdef double grown, s
    # Far out, and in all special cases, the 1 costs no digits: exp(z) - 1 with its table.
    if not ((z.re < 700.0) & (z.re > -700.0) & _is_finite(z.im)):
        z = exp_c(z)
        return _pair(z.re - 1.0, z.im)
    if (_cfabs(z.re) < 0.0625) & (_cfabs(z.im) < 0.35):
        return _pair(_expm1_near_zero(z.re, z.im), _creal_exp(z.re) * _creal_sin(z.im))
    # exp(a)*cos(b) - 1 = expm1(a)*cos(b) - 2*sin(b/2)**2, whose terms are small where the result is. The 0.0
    # makes a zero positive, as exp(-0+0j) - 1 is.
    grown = _creal_expm1(z.re)
    s = _creal_sin(0.5 * z.im)
    s = _sum_of_products(grown, _creal_cos(z.im), -2.0 * s, s) + 0.0
    return _pair(s, _creal_exp(z.re) * _creal_sin(z.im))


cdef inline c128 log_c(c128 z) noexcept nogil:
    return _clog(z)


@cython.cdivision(True)
cdef inline c128 log2_c(c128 z) noexcept nogil:
    # The change of base, but exact where the real logarithm is: log2(8+0j) is 3.
    cdef c128 w = _clog(z)
    if (z.re == 0) != (z.im == 0):
        w.re = _creal_log2(_cfabs(z.re) + _cfabs(z.im))
    else:
        w.re = w.re / 0.6931471805599453
    w.im = w.im / 0.6931471805599453
    return w


@cython.cdivision(True)
cdef inline c128 log10_c(c128 z) noexcept nogil:
    cdef c128 w = _clog(z)
    if (z.re == 0) != (z.im == 0):
        w.re = _creal_log10(_cfabs(z.re) + _cfabs(z.im))
    else:
        w.re = w.re / 2.302585092994046
    w.im = w.im / 2.302585092994046
    return w


cdef inline c128 log1p_c(c128 z) noexcept nogil:
    # Re log(1+z) = log1p(t)/2 with t = 2a + a*a + b*b. Near |1+z| = 1 the terms of t cancel, so t is summed
    # with the rounding errors of the squares and of the sums. Elsewhere 1 + a loses nothing that log(1+z)
    # shows.
    cdef double a = z.re, b = z.im
    cdef double aa = a * a, bb = b * b
    cdef double t = (2.0 * a + aa) + bb
    cdef c128 s1, s2, s3, s4, p1, p2, p3, p4
    if (b == 0) & (a > -1.0):
        return _pair(_creal_log1p(a), b)
    if not ((t > -0.5) & (t < 1.0)):
        return _clog(_pair(1.0 + a, b))
    s1 = _two_sum(2.0 * a, bb)
    s2 = _two_sum(s1.re, aa)
    s3 = _two_sum(s2.re, _cfma(b, b, -bb))
    s4 = _two_sum(s3.re, _cfma(a, a, -aa))
    p1 = _two_sum(s1.im, s2.im)  # a second round over what the first one rounded away, for t below 1e-16
    p2 = _two_sum(p1.re, s3.im)
    p3 = _two_sum(p2.re, s4.im)
    p4 = _two_sum(s4.re, p3.re)
    t = p4.re + (((p1.im + p2.im) + p3.im) + p4.im)
    return _pair(0.5 * _creal_log1p(t), _catan2(b, 1.0 + a))


# -- powers --------------------------------------------------------------------------------------------------

cdef inline c128 sqrt_c(c128 z) noexcept nogil:
    # NaN+infj is claimed by two sentences of the standard; C99 and the first one say inf+infj.
    return _csqrt(z)


cdef inline c128 _integer_power(c128 z, int n) noexcept nogil:
    cdef c128 out = z
    n -= 1
    while n != 0:
        if n & 1:
            out = multiply_c(out, z)
        z = multiply_c(z, z)
        n = n >> 1
    return out


cdef inline c128 pow_c(c128 x, c128 y) noexcept nogil:
    # exp(y * log(x)) with the care that the standard allows: x**0 = 1, small integer powers are products, a
    # positive real number to a real one is a real power, and a power of zero is a zero, an infinity or NaN.
    cdef c128 out
    cdef double n = _cfabs(y.re)
    if (y.re == 0) & (y.im == 0):
        return _pair(1.0, 0.0)
    if (x.re == 0) & (x.im == 0) & (not ((y.re == 1) & (y.im == 0))):
        if (y.re > 0) & (y.im == y.im):
            return _pair(0.0, 0.0)
        return _pair(_INF if (y.re < 0) & (y.im == 0) else _NAN, _NAN)  # inf+nanj like 1/0
    if y.im == 0:
        if n <= _POW_BY_PRODUCTS:
            if n == <int>n:
                out = _integer_power(x, <int>n)
                if (y.re > 0) & (n <= 3):
                    return out  # so that x**2 is x*x whatever comes of it
                # Products that overflowed (to inf - inf) or vanished on the way say nothing.
                if _is_finite(out.re) & _is_finite(out.im) & (_cfabs(out.re) + _cfabs(out.im) > 1e-290):
                    return out if y.re > 0 else reciprocal_c(out)
                if n == 1:
                    return reciprocal_c(x)
        if (x.im == 0) & (x.re > 0):
            return _pair(_creal_pow(x.re, y.re), x.im * _ccopysign(1.0, y.re))
    return exp_c(multiply_c(y, _clog(x)))


# -- hyperbolic and circular ---------------------------------------------------------------------------------

cdef inline c128 cosh_c(c128 z) noexcept nogil:
    # Open signs in C, at +-0 with an infinite or NaN imaginary part, NaN with a zero one, and infinite with
    # an infinite one; here as the standard prints them.
    if not _is_finite(z.im):
        if z.re == 0:
            return _pair(_NAN, 0.0)
        if _is_inf(z.re):
            return _pair(_INF, _NAN)
    return _ccosh(z)


cdef inline c128 sinh_c(c128 z) noexcept nogil:
    # Likewise; the sign of a zero or an infinity follows the real part, so that sinh(-z) = -sinh(z).
    if not _is_finite(z.im):
        if (z.re == 0) | _is_inf(z.re):
            return _pair(z.re, _NAN)
    return _csinh(z)


cdef inline c128 tanh_c(c128 z) noexcept nogil:
    # At an infinite real part the imaginary one is a zero of z's sign (C99 has that of sin(2b)). And +-0 with
    # an infinite or NaN imaginary part keeps its real part, which C libraries before C17 lose.
    if _is_inf(z.re):
        return _pair(_ccopysign(1.0, z.re), _ccopysign(0.0, z.im) if z.im == z.im else 0.0)
    if (z.re == 0) & (not _is_finite(z.im)):
        return _pair(z.re, _NAN)
    return _ctanh(z)


cdef inline c128 acosh_c(c128 z) noexcept nogil:
    # +-0 + NaN j has a defined imaginary part, which C libraries before C17 lose.
    if (z.re == 0) & _is_nan(z.im):
        return _pair(_NAN, 1.5707963267948966)
    return _cacosh(z)


cdef inline c128 asinh_c(c128 z) noexcept nogil:
    return _casinh(z)


cdef inline c128 atanh_c(c128 z) noexcept nogil:
    # The standard wants it odd, and even under conjugation, to the last bit; libm rounds the quadrants apart.
    cdef c128 w
    w.re = _cfabs(z.re)
    w.im = _cfabs(z.im)
    w = _catanh(w)
    w.re = _ccopysign(w.re, z.re)
    w.im = _ccopysign(w.im, z.im)
    return w


cdef inline c128 acos_c(c128 z) noexcept nogil:
    return _cacos(z)


cdef inline c128 asin_c(c128 z) noexcept nogil:
    return _turned_back(_casinh(_turned(z)))


cdef inline c128 atan_c(c128 z) noexcept nogil:
    return _turned_back(atanh_c(_turned(z)))


cdef inline c128 cos_c(c128 z) noexcept nogil:
    return cosh_c(_turned(z))


cdef inline c128 sin_c(c128 z) noexcept nogil:
    return _turned_back(sinh_c(_turned(z)))


cdef inline c128 tan_c(c128 z) noexcept nogil:
    return _turned_back(tanh_c(_turned(z)))
