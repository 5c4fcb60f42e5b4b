"""Examples of the functions of `special` that SciPy computes. See `__init__`.

The values are rounded: versions of SciPy differ in last digits.
"""

from typing import Final

TEXT: Final = """
=== integrals and functions of several results
--- special.fresnel
>>> sine, cosine = xp.special.fresnel(xp.asarray([0.0, 1.0]))
>>> sine.round(6), cosine.round(6)
(Array([0.      , 0.438259], dtype=float64), Array([0.      , 0.779893], dtype=float64))
--- special.lambertw
>>> w = xp.special.lambertw(xp.asarray([0.0, 1.0]))
>>> xp.real(w).round(6)
Array([0.      , 0.567143], dtype=float64)
>>> xp.allclose(w * xp.exp(w), xp.asarray([0.0, 1.0]))
True
--- special.sici
>>> found = xp.special.sici(xp.asarray([1.0, 100.0]))
>>> found.sine.round(6), found.cosine.round(6)
(Array([0.946083, 1.562225], dtype=float64), Array([ 0.337404, -0.005149], dtype=float64))
--- special.dawsn
>>> xp.special.dawsn(xp.asarray([0.0, 1.0, 100.0])).round(6)
Array([0.     , 0.53808, 0.005  ], dtype=float64)
--- special.exp1
>>> xp.special.exp1(xp.asarray([0.0, 1.0])).round(6)
Array([     inf, 0.219384], dtype=float64)
--- special.expi
>>> xp.special.expi(xp.asarray([0.0, 1.0])).round(6)
Array([    -inf, 1.895118], dtype=float64)
>>> xp.allclose(xp.special.expi(xp.asarray(-1.0)), -xp.special.exp1(xp.asarray(1.0)))
True
--- special.expn
>>> xp.special.expn(xp.asarray([1, 2]), 1.0).round(6)
Array([0.219384, 0.148496], dtype=float64)
--- special.spence
>>> xp.special.spence(xp.asarray([1.0, 0.0])).round(6)
Array([0.      , 1.644934], dtype=float64)
--- special.erfi
>>> xp.special.erfi(xp.asarray([0.0, 1.0])).round(6)
Array([0.      , 1.650426], dtype=float64)
--- special.owens_t
>>> xp.special.owens_t(xp.asarray([0.0, 1.0]), 1.0).round(6)
Array([0.125   , 0.066742], dtype=float64)

=== elliptic integrals
--- special.ellipk
>>> xp.special.ellipk(xp.asarray([0.0, 0.5, 1.0])).round(6)
Array([1.570796, 1.854075,      inf], dtype=float64)
--- special.ellipkm1
>>> xp.special.ellipkm1(xp.asarray([1.0, 1e-20])).round(6)
Array([ 1.570796, 24.412145], dtype=float64)
>>> xp.special.ellipk(1 - xp.asarray(1e-20))
Array(inf, dtype=float64)
--- special.ellipe
>>> xp.special.ellipe(xp.asarray([0.0, 0.5, 1.0])).round(6)
Array([1.570796, 1.350644, 1.      ], dtype=float64)

=== beta and gamma functions
--- special.beta
>>> xp.special.beta(xp.asarray([1.0, 2.0]), 3.0).round(6)
Array([0.333333, 0.083333], dtype=float64)
--- special.betaln
>>> xp.special.betaln(xp.asarray([2.0, 1000.0]), 3.0).round(6)
Array([ -2.484907, -20.033116], dtype=float64)
--- special.betainc
>>> xp.special.betainc(2.0, 3.0, xp.asarray([0.0, 0.5, 1.0])).round(6)
Array([0.    , 0.6875, 1.    ], dtype=float64)
--- special.betaincc
>>> xp.special.betaincc(2.0, 3.0, xp.asarray([0.0, 0.5, 1.0])).round(6)
Array([1.    , 0.3125, 0.    ], dtype=float64)
--- special.betaincinv
>>> x = xp.special.betaincinv(2.0, 3.0, xp.asarray([0.25, 0.6875]))
>>> x.round(6)
Array([0.243022, 0.5     ], dtype=float64)
>>> xp.special.betainc(2.0, 3.0, x).round(6)
Array([0.25  , 0.6875], dtype=float64)
--- special.binom
>>> xp.special.binom(xp.asarray([5, 5]), xp.asarray([2, 6])).round(6)
Array([10.,  0.], dtype=float64)
>>> xp.special.binom(xp.asarray(0.5), 2.0).round(6)
Array(-0.125, dtype=float64)
--- special.gammainc
>>> xp.special.gammainc(2.0, xp.asarray([0.0, 1.0, xp.inf])).round(6)
Array([0.      , 0.264241, 1.      ], dtype=float64)
--- special.gammaincc
>>> xp.special.gammaincc(2.0, xp.asarray([0.0, 1.0, xp.inf])).round(6)
Array([1.      , 0.735759, 0.      ], dtype=float64)
--- special.gammaincinv
>>> x = xp.special.gammaincinv(2.0, xp.asarray([0.0, 0.5]))
>>> x.round(6)
Array([0.      , 1.678347], dtype=float64)
>>> xp.special.gammainc(2.0, x).round(6)
Array([0. , 0.5], dtype=float64)
--- special.gammainccinv
>>> xp.special.gammainccinv(2.0, xp.asarray([1.0, 0.5])).round(6)
Array([0.      , 1.678347], dtype=float64)
--- special.gammasgn
>>> xp.special.gammasgn(xp.asarray([3.5, -0.5, -1.5]))
Array([ 1., -1.,  1.], dtype=float64)
--- special.loggamma
>>> xp.special.loggamma(xp.asarray([1.0, 4.0, -0.5])).round(6)
Array([0.      , 1.791759,      nan], dtype=float64)
>>> xp.special.loggamma(xp.asarray([-0.5 + 0j])).round(6)
Array([1.265512-3.141593j], dtype=complex128)
--- special.rgamma
>>> xp.special.rgamma(xp.asarray([5.0, 0.0, -1.0])).round(6)
Array([0.041667, 0.      , 0.      ], dtype=float64)
--- special.multigammaln
>>> xp.special.multigammaln(xp.asarray([2.0, 3.0]), 2).round(6)
Array([0.451583, 1.550195], dtype=float64)
>>> xp.special.multigammaln(xp.asarray(0.5), 2)
Traceback (most recent call last):
    ...
stride0.ArgumentValueError: special.multigammaln: a must be greater than (d - 1) / 2
...
--- special.polygamma
>>> x = xp.asarray([1.0, 2.0])
>>> xp.special.polygamma(1, x).round(6)
Array([1.644934, 0.644934], dtype=float64)
>>> xp.allclose(xp.special.polygamma(0, x), xp.special.digamma(x))
True
--- special.zeta
>>> xp.special.zeta(xp.asarray([2.0, 4.0])).round(6)
Array([1.644934, 1.082323], dtype=float64)
>>> xp.special.zeta(xp.asarray(2.0), xp.asarray([1.0, 2.0])).round(6)
Array([1.644934, 0.644934], dtype=float64)
--- special.poch
>>> xp.special.poch(3.0, xp.asarray([0.0, 1.0, 2.0, 3.0])).round(6)
Array([ 1.,  3., 12., 60.], dtype=float64)

=== hypergeometric functions and others
--- special.hyp0f1
>>> xp.special.hyp0f1(0.5, xp.asarray([0.0, 0.25])).round(6)
Array([1.      , 1.543081], dtype=float64)
--- special.hyp1f1
>>> x = xp.asarray([0.0, 1.0])
>>> xp.allclose(xp.special.hyp1f1(2.0, 2.0, x), xp.exp(x))
True
--- special.hyp2f1
>>> x = xp.asarray([0.25, 0.5])
>>> xp.allclose(x * xp.special.hyp2f1(1.0, 1.0, 2.0, x), -xp.log(1 - x))
True
--- special.lpmv
>>> xp.special.lpmv(0, xp.asarray([0.0, 1.0, 2.0]), 0.5).round(6)
Array([ 1.   ,  0.5  , -0.125], dtype=float64)
--- special.radian
>>> (xp.special.radian(xp.asarray([90.0, 0.0]), xp.asarray([0.0, 60.0]), 0.0) * (180 / xp.pi)).round(6)
Array([90.,  1.], dtype=float64)
--- special.zetac
>>> xp.special.zetac(xp.asarray([2.0, 100.0]))[0].round(6)
Array(0.644934, dtype=float64)
>>> xp.special.zetac(xp.asarray(100.0)) > 0, xp.special.zeta(xp.asarray(100.0)) - 1
(Array(True, dtype=bool), Array(0., dtype=float64))

=== Bessel functions
--- special.j0
>>> xp.special.j0(xp.asarray([0.0, 1.0])).round(6)
Array([1.      , 0.765198], dtype=float64)
--- special.j1
>>> xp.special.j1(xp.asarray([0.0, 1.0, -1.0])).round(6)
Array([ 0.      ,  0.440051, -0.440051], dtype=float64)
--- special.jv
>>> x = xp.asarray([1.0, 2.0])
>>> xp.allclose(xp.special.jv(0.5, x), xp.sqrt(2 / (xp.pi * x)) * xp.sin(x))
True
>>> xp.special.jv(xp.asarray([[0.0], [1.0]]), x).round(6)
Array([[0.765198, 0.223891],
       [0.440051, 0.576725]], dtype=float64)
--- special.y0
>>> xp.special.y0(xp.asarray([0.0, 1.0])).round(6)
Array([    -inf, 0.088257], dtype=float64)
--- special.y1
>>> xp.special.y1(xp.asarray([0.0, 1.0])).round(6)
Array([     -inf, -0.781213], dtype=float64)
--- special.yn
>>> xp.special.yn(xp.asarray([0, 1, 2]), 1.0).round(6)
Array([ 0.088257, -0.781213, -1.650683], dtype=float64)
--- special.yv
>>> x = xp.asarray([1.0, 2.0])
>>> xp.allclose(xp.special.yv(0.5, x), -xp.sqrt(2 / (xp.pi * x)) * xp.cos(x))
True
--- special.iv
>>> x = xp.asarray([1.0, 2.0])
>>> xp.allclose(xp.special.iv(0.5, x), xp.sqrt(2 / (xp.pi * x)) * xp.sinh(x))
True
>>> xp.allclose(xp.special.iv(0.0, x), xp.special.i0(x))
True
--- special.k0
>>> xp.special.k0(xp.asarray([0.0, 1.0, 1000.0])).round(6)
Array([     inf, 0.421024, 0.      ], dtype=float64)
--- special.k0e
>>> xp.special.k0e(xp.asarray([0.0, 1.0, 1000.0])).round(6)
Array([     inf, 1.144463, 0.039628], dtype=float64)
--- special.k1
>>> xp.special.k1(xp.asarray([0.0, 1.0, 1000.0])).round(6)
Array([     inf, 0.601907, 0.      ], dtype=float64)
--- special.k1e
>>> xp.special.k1e(xp.asarray([0.0, 1.0, 1000.0])).round(6)
Array([     inf, 1.636153, 0.039648], dtype=float64)
--- special.kn
>>> xp.special.kn(xp.asarray([0, 1, 2]), 1.0).round(6)
Array([0.421024, 0.601907, 1.624839], dtype=float64)
--- special.kv
>>> x = xp.asarray([1.0, 2.0])
>>> xp.allclose(xp.special.kv(0.5, x), xp.sqrt(xp.pi / (2 * x)) * xp.exp(-x))
True

=== distributions
--- special.bdtr
>>> xp.special.bdtr(xp.asarray([0, 1, 2]), 2, 0.5).round(6)
Array([0.25, 0.75, 1.  ], dtype=float64)
--- special.bdtrc
>>> xp.special.bdtrc(xp.asarray([0, 1, 2]), 2, 0.5).round(6)
Array([0.75, 0.25, 0.  ], dtype=float64)
--- special.bdtri
>>> xp.special.bdtri(xp.asarray([0, 1]), 2, xp.asarray([0.25, 0.75])).round(6)
Array([0.5, 0.5], dtype=float64)
--- special.chdtr
>>> xp.special.chdtr(2.0, xp.asarray([0.0, 2.0, xp.inf])).round(6)
Array([0.      , 0.632121, 1.      ], dtype=float64)
--- special.chdtrc
>>> xp.special.chdtrc(2.0, xp.asarray([0.0, 2.0, xp.inf])).round(6)
Array([1.      , 0.367879, 0.      ], dtype=float64)
--- special.chdtri
>>> x = xp.special.chdtri(2.0, xp.asarray([1.0, 0.05]))
>>> x.round(6), xp.special.chdtrc(2.0, x).round(6)
(Array([0.      , 5.991465], dtype=float64), Array([1.  , 0.05], dtype=float64))
--- special.fdtr
>>> xp.special.fdtr(2.0, 4.0, xp.asarray([0.0, 1.0, xp.inf])).round(6)
Array([0.      , 0.555556, 1.      ], dtype=float64)
--- special.fdtrc
>>> xp.special.fdtrc(2.0, 4.0, xp.asarray([0.0, 1.0, xp.inf])).round(6)
Array([1.      , 0.444444, 0.      ], dtype=float64)
--- special.fdtri
>>> x = xp.special.fdtri(2.0, 4.0, xp.asarray([0.5, 0.95]))
>>> x.round(6), xp.special.fdtr(2.0, 4.0, x).round(6)
(Array([0.828427, 6.944272], dtype=float64), Array([0.5 , 0.95], dtype=float64))
--- special.gdtr
>>> xp.special.gdtr(xp.asarray([1.0, 2.0]), 2.0, 1.0).round(6)
Array([0.264241, 0.593994], dtype=float64)
>>> xp.allclose(xp.special.gdtr(2.0, 3.0, xp.asarray(1.0)), xp.special.gammainc(3.0, xp.asarray(2.0)))
True
--- special.gdtrc
>>> xp.special.gdtrc(xp.asarray([1.0, 2.0]), 2.0, 1.0).round(6)
Array([0.735759, 0.406006], dtype=float64)
--- special.nbdtr
>>> xp.special.nbdtr(xp.asarray([0, 1, 2]), 1, 0.5).round(6)
Array([0.5  , 0.75 , 0.875], dtype=float64)
--- special.nbdtrc
>>> xp.special.nbdtrc(xp.asarray([0, 1, 2]), 1, 0.5).round(6)
Array([0.5  , 0.25 , 0.125], dtype=float64)
--- special.nbdtri
>>> xp.special.nbdtri(xp.asarray([0, 1]), 1, xp.asarray([0.5, 0.75])).round(6)
Array([0.5, 0.5], dtype=float64)
--- special.pdtr
>>> xp.special.pdtr(xp.asarray([0, 1, 2]), 1.0).round(6)
Array([0.367879, 0.735759, 0.919699], dtype=float64)
--- special.pdtrc
>>> xp.special.pdtrc(xp.asarray([0, 1, 2]), 1.0).round(6)
Array([0.632121, 0.264241, 0.080301], dtype=float64)
--- special.pdtri
>>> m = xp.special.pdtri(xp.asarray([0, 2]), 0.5)
>>> m.round(6), xp.special.pdtr(xp.asarray([0, 2]), m).round(6)
(Array([0.693147, 2.67406 ], dtype=float64), Array([0.5, 0.5], dtype=float64))
--- special.stdtr
>>> xp.special.stdtr(xp.asarray([1.0, 2.0, xp.inf]), 1.0).round(6)
Array([0.75    , 0.788675, 0.841345], dtype=float64)
--- special.stdtrit
>>> xp.special.stdtrit(xp.asarray([1.0, 10.0, 1e10]), 0.975).round(4)
Array([12.7062,  2.2281,  1.96  ], dtype=float64)

=== further functions, and orthogonal polynomials
--- special.airy
>>> ai, aip, bi, bip = xp.special.airy(xp.asarray([0.0, 1.0]))
>>> ai.round(6), bi.round(6)
(Array([0.355028, 0.135292], dtype=float64), Array([0.614927, 1.207424], dtype=float64))
--- special.shichi
>>> found = xp.special.shichi(xp.asarray([1.0, 2.0]))
>>> found.sinh.round(6), found.cosh.round(6)
(Array([1.057251, 2.501567], dtype=float64), Array([0.837867, 2.452667], dtype=float64))
--- special.wrightomega
>>> w = xp.special.wrightomega(xp.asarray([0.0, 1.0]))
>>> w.round(6)
Array([0.567143, 1.      ], dtype=float64)
>>> xp.allclose(w + xp.log(w), xp.asarray([0.0, 1.0]))
True
--- special.powm1
>>> xp.special.powm1(xp.asarray(1 + 1e-10), 2.0) * 1e10
Array(2.00000017, dtype=float64)
--- special.betainccinv
>>> xp.special.betainccinv(2.0, 3.0, xp.asarray([0.0, 0.5, 1.0])).round(6)
Array([1.      , 0.385728, 0.      ], dtype=float64)
--- special.spherical_jn
>>> xp.special.spherical_jn(xp.asarray([0, 1]), 1.0).round(6)
Array([0.841471, 0.301169], dtype=float64)
--- special.spherical_yn
>>> xp.special.spherical_yn(xp.asarray([0, 1]), 1.0).round(6)
Array([-0.540302, -1.381773], dtype=float64)
--- special.spherical_in
>>> xp.special.spherical_in(xp.asarray([0, 1]), 1.0).round(6)
Array([1.175201, 0.367879], dtype=float64)
--- special.spherical_kn
>>> xp.special.spherical_kn(xp.asarray([0, 1]), 1.0).round(6)
Array([0.577864, 1.155727], dtype=float64)
--- special.eval_legendre
>>> xp.special.eval_legendre(xp.asarray([0, 1, 2]), 0.5)
Array([ 1.   ,  0.5  , -0.125], dtype=float64)
--- special.eval_chebyt
>>> xp.special.eval_chebyt(xp.asarray([0, 1, 2]), 0.5)
Array([ 1. ,  0.5, -0.5], dtype=float64)
--- special.eval_chebyu
>>> xp.special.eval_chebyu(xp.asarray([0, 1, 2]), 0.5)
Array([1., 1., 0.], dtype=float64)
--- special.eval_gegenbauer
>>> xp.special.eval_gegenbauer(xp.asarray([0, 1, 2]), 1.5, 0.5)
Array([1.   , 1.5  , 0.375], dtype=float64)
--- special.eval_jacobi
>>> xp.special.eval_jacobi(xp.asarray([0, 1, 2]), 1.0, 1.0, 0.5)
Array([1.    , 1.    , 0.1875], dtype=float64)
--- special.eval_hermite
>>> xp.special.eval_hermite(xp.asarray([0, 1, 2]), 0.5)
Array([ 1.,  1., -1.], dtype=float64)
--- special.eval_hermitenorm
>>> xp.special.eval_hermitenorm(xp.asarray([0, 1, 2]), 0.5)
Array([ 1.  ,  0.5 , -0.75], dtype=float64)
--- special.eval_laguerre
>>> xp.special.eval_laguerre(xp.asarray([0, 1, 2]), 0.5)
Array([1.   , 0.5  , 0.125], dtype=float64)
--- special.eval_genlaguerre
>>> xp.special.eval_genlaguerre(xp.asarray([0, 1, 2]), 1.0, 0.5)
Array([1.   , 1.5  , 1.625], dtype=float64)
"""

EXAMPLES: Final = dict(
    entry.split("\n", 1) for group in TEXT.split("\n=== ") for entry in group.split("\n--- ")[1:]
)
