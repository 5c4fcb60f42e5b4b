"""Examples of `special`: functions that have kernels, and those made of them. See `__init__`."""

from typing import Final

TEXT: Final = """
=== logistic functions and entropies
--- special.expit
>>> xp.special.expit(xp.asarray([0.0, 2.0, -1000.0]))
Array([0.5       , 0.88079708, 0.        ], dtype=float64)
--- special.logit
>>> xp.special.logit(xp.asarray([0.5, 0.0, 1.0, 2.0]))
Array([  0., -inf,  inf,  nan], dtype=float64)
--- special.log_expit
>>> x = xp.asarray([0.0, -1000.0])
>>> xp.special.log_expit(x)
Array([-6.93147181e-01, -1.00000000e+03], dtype=float64)
>>> xp.log(xp.special.expit(x))
Array([-0.69314718,        -inf], dtype=float64)
--- special.softplus
>>> xp.special.softplus(xp.asarray([-1000.0, 0.0, 1000.0]))
Array([0.00000000e+00, 6.93147181e-01, 1.00000000e+03], dtype=float64)
--- special.xlogy
>>> xp.special.xlogy(xp.asarray([0.0, 2.0]), xp.asarray([0.0, 3.0]))
Array([0.        , 2.19722458], dtype=float64)
>>> xp.asarray(0.0) * xp.log(xp.asarray(0.0))
Array(nan, dtype=float64)
--- special.xlog1py
>>> xp.special.xlog1py(xp.asarray([0.0, 1.0]), xp.asarray([-1.0, 1e-20]))
Array([0.e+00, 1.e-20], dtype=float64)
--- special.entr
>>> p = xp.asarray([0.5, 0.5, 0.0])
>>> xp.sum(xp.special.entr(p))
Array(0.69314718, dtype=float64)
>>> xp.special.entr(xp.asarray(-1.0))
Array(-inf, dtype=float64)
--- special.rel_entr
>>> p, q = xp.asarray([0.5, 0.5, 0.0]), xp.asarray([0.25, 0.5, 0.25])
>>> xp.sum(xp.special.rel_entr(p, q))
Array(0.34657359, dtype=float64)
>>> xp.special.rel_entr(xp.asarray(0.5), 0.0)
Array(inf, dtype=float64)
--- special.kl_div
>>> xp.special.kl_div(xp.asarray([1.0, 1.0, 0.0]), xp.asarray([1.0, 2.0, 3.0]))
Array([0.        , 0.30685282, 3.        ], dtype=float64)
--- special.huber
>>> xp.special.huber(1.0, xp.asarray([0.5, -0.5, 10.0]))
Array([0.125, 0.125, 9.5  ], dtype=float64)
--- special.pseudo_huber
>>> xp.special.pseudo_huber(1.0, xp.asarray([0.0, 0.1, 10.0]))
Array([0.00000000e+00, 4.98756211e-03, 9.04987562e+00], dtype=float64)

=== powers and roots
--- special.cbrt
>>> xp.special.cbrt(xp.asarray([27.0, -8.0]))
Array([ 3., -2.], dtype=float64)
>>> xp.asarray(-8.0) ** (1 / 3)
Array(nan, dtype=float64)
--- special.exp2
>>> xp.special.exp2(xp.asarray([0, 10, -1]))
Array([1.000e+00, 1.024e+03, 5.000e-01], dtype=float64)
--- special.exp10
>>> xp.special.exp10(xp.asarray([0.0, 3.0, -2.0]))
Array([1.e+00, 1.e+03, 1.e-02], dtype=float64)
--- special.exprel
>>> xp.special.exprel(xp.asarray([0.0, 1e-20, 1.0]))
Array([1.        , 1.        , 1.71828183], dtype=float64)
--- special.boxcox
>>> xp.special.boxcox(xp.asarray([1.0, 4.0, 9.0]), xp.asarray([[0.5], [0.0]]))
Array([[0.        , 2.        , 4.        ],
       [0.        , 1.38629436, 2.19722458]], dtype=float64)
--- special.boxcox1p
>>> xp.special.boxcox1p(xp.asarray([0.0, 1e-20, 3.0]), 0.5)
Array([0.e+00, 1.e-20, 2.e+00], dtype=float64)
--- special.inv_boxcox
>>> xp.special.inv_boxcox(xp.asarray([0.0, 2.0, 4.0]), 0.5)
Array([1., 4., 9.], dtype=float64)
--- special.inv_boxcox1p
>>> xp.special.inv_boxcox1p(xp.asarray([0.0, 2.0, 4.0]), 0.5)
Array([0., 3., 8.], dtype=float64)

=== trigonometric functions
--- special.sinc
>>> xp.special.sinc(xp.asarray([0.0, 0.5, 1.0]))
Array([1.        , 0.63661977, 0.        ], dtype=float64)
--- special.cosm1
>>> x = xp.asarray([1e-10, 1.0])
>>> xp.special.cosm1(x)
Array([-5.00000000e-21, -4.59697694e-01], dtype=float64)
>>> xp.cos(x) - 1
Array([ 0.        , -0.45969769], dtype=float64)
--- special.sindg
>>> xp.special.sindg(xp.asarray([30.0, 180.0, 1e9 * 360]))
Array([ 0.5, -0. ,  0. ], dtype=float64)
--- special.cosdg
>>> xp.special.cosdg(xp.asarray([60.0, 90.0]))
Array([ 0.5, -0. ], dtype=float64)
>>> xp.cos(xp.asarray(90.0) * (xp.pi / 180))
Array(6.123234e-17, dtype=float64)
--- special.tandg
>>> xp.special.tandg(xp.asarray([45.0, 135.0, 180.0]))
Array([ 1., -1.,  0.], dtype=float64)
--- special.cotdg
>>> xp.special.cotdg(xp.asarray([45.0, 90.0, 0.0]))
Array([ 1., -0., inf], dtype=float64)

=== error functions and the normal distribution
--- special.erf
>>> xp.special.erf(xp.asarray([0.0, 0.5, xp.inf]))
Array([0.        , 0.52049988, 1.        ], dtype=float64)
--- special.erfc
>>> x = xp.asarray([0.5, 10.0])
>>> xp.special.erfc(x)
Array([4.79500122e-01, 2.08848758e-45], dtype=float64)
>>> 1 - xp.special.erf(x)
Array([0.47950012, 0.        ], dtype=float64)
--- special.erfcx
>>> xp.special.erfcx(xp.asarray([0.0, 100.0]))
Array([1.        , 0.00564161], dtype=float64)
>>> xp.special.erfc(xp.asarray(100.0))
Array(0., dtype=float64)
--- special.erfinv
>>> xp.special.erfinv(xp.asarray([0.0, 0.5, 1.0, 2.0]))
Array([0.        , 0.47693628,        inf,        nan], dtype=float64)
--- special.erfcinv
>>> xp.special.erfcinv(xp.asarray([1.0, 1e-100, 0.0]))
Array([ 0.       , 15.0655747,        inf], dtype=float64)
--- special.ndtr
>>> xp.special.ndtr(xp.asarray([0.0, 1.96, -10.0]))
Array([5.00000000e-01, 9.75002105e-01, 7.61985302e-24], dtype=float64)
--- special.log_ndtr
>>> xp.special.log_ndtr(xp.asarray([0.0, -100.0]))
Array([-6.93147181e-01, -5.00552421e+03], dtype=float64)
>>> xp.log(xp.special.ndtr(xp.asarray(-100.0)))
Array(-inf, dtype=float64)
--- special.ndtri
>>> xp.special.ndtri(xp.asarray([0.5, 0.975, 0.0]))
Array([0.        , 1.95996398,       -inf], dtype=float64)

=== gamma functions
--- special.gamma
>>> xp.special.gamma(xp.asarray([5.0, 0.5, 200.0]))
Array([24.        ,  1.77245385,         inf], dtype=float64)
>>> xp.special.gamma(xp.asarray([0.0, -1.0]))
Array([inf, nan], dtype=float64)
--- special.gammaln
>>> xp.special.gammaln(xp.asarray([1.0, 200.0, -0.5]))
Array([  0.        , 857.93366983,   1.26551212], dtype=float64)
--- special.digamma
>>> xp.special.digamma(xp.asarray([1.0, 2.0]))
Array([-0.57721566,  0.42278434], dtype=float64)
--- special.factorial
>>> xp.special.factorial(xp.asarray([0, 5, -1]))
Array([  1., 120.,   0.], dtype=float64)
>>> xp.special.factorial(xp.asarray(0.5))
Array(0.88622693, dtype=float64)

=== Bessel functions
--- special.i0
>>> xp.special.i0(xp.asarray([0.0, 1.0, 1000.0]))
Array([1.        , 1.26606588,        inf], dtype=float64)
--- special.i0e
>>> xp.special.i0e(xp.asarray([0.0, 1.0, 1000.0]))
Array([1.        , 0.46575961, 0.01261724], dtype=float64)
--- special.i1
>>> xp.special.i1(xp.asarray([0.0, 1.0, -1.0]))
Array([ 0.       ,  0.5651591, -0.5651591], dtype=float64)
--- special.i1e
>>> xp.special.i1e(xp.asarray([0.0, 1.0, -1000.0]))
Array([ 0.        ,  0.20791042, -0.01261093], dtype=float64)

=== sums of exponentials
--- special.logsumexp
>>> x = xp.asarray([[1000.0, 1000.0], [0.0, -xp.inf]])
>>> xp.special.logsumexp(x, axis=1)
Array([1000.69314718,    0.        ], dtype=float64)
>>> xp.special.logsumexp(xp.asarray([1.0, 1.0]), b=xp.asarray([1.0, -3.0]), return_sign=True)
LogsumexpResult(out=Array(1.69314718, dtype=float64), sign=Array(-1., dtype=float64))
--- special.log_softmax
>>> xp.special.log_softmax(xp.asarray([0.0, 1000.0]))
Array([-1000.,     0.], dtype=float64)
>>> xp.log(xp.special.softmax(xp.asarray([0.0, 1000.0])))
Array([-inf,   0.], dtype=float64)
--- special.softmax
>>> x = xp.asarray([[1.0, 1.0], [0.0, 1000.0]])
>>> xp.special.softmax(x, axis=1)
Array([[0.5, 0.5],
       [0. , 1. ]], dtype=float64)
>>> xp.sum(xp.special.softmax(x))
Array(1., dtype=float64)
"""

EXAMPLES: Final = dict(
    entry.split("\n", 1) for group in TEXT.split("\n=== ") for entry in group.split("\n--- ")[1:]
)
