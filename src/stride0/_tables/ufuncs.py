"""SciPy's ufuncs to which `stride0.special` forwards: a row each, with the summary of its docstring.

The build generates the declarations in `special/_ufuncs.py` from them. The names are SciPy's. Operands
broadcast and are positional. `autograd/_rules` has the gradients.
"""

from __future__ import annotations

ROWS: dict[str, str] = {
    # --- gamma functions
    "loggamma(x)": (
        "the principal branch of the logarithm of the gamma function; NaN for a negative real number"
    ),
    "gammasgn(x)": "the sign of the gamma function",
    "rgamma(x)": "the reciprocal of the gamma function, 0 at its poles",
    "poch(z, m)": "the rising factorial, ``gamma(z + m) / gamma(z)``",
    "beta(a, b)": "the beta function, ``gamma(a) * gamma(b) / gamma(a + b)``",
    "betaln(a, b)": "the logarithm of the absolute value of the beta function",
    "binom(n, k)": "the binomial coefficient of real arguments, `n` over `k`",
    "gammainc(a, x)": "the regularized lower incomplete gamma function",
    "gammaincc(a, x)": "the regularized upper incomplete gamma function",
    "gammaincinv(a, y)": "the `x` at which ``gammainc(a, x)`` is `y`",
    "gammainccinv(a, y)": "the `x` at which ``gammaincc(a, x)`` is `y`",
    "betainc(a, b, x)": "the regularized incomplete beta function",
    "betaincc(a, b, x)": "the complement of the regularized incomplete beta function",
    "betaincinv(a, b, y)": "the `x` at which ``betainc(a, b, x)`` is `y`",
    "betainccinv(a, b, y)": "the `x` at which ``betaincc(a, b, x)`` is `y`",
    # --- error functions
    "erfi(x)": "the imaginary error function, ``-1j * erf(1j * x)``",
    "dawsn(x)": "Dawson's integral, ``exp(-x**2)`` times the integral of ``exp(t**2)`` from 0 to `x`",
    "owens_t(h, a)": "Owen's T function",
    # --- Bessel functions
    "j0(x)": "the Bessel function of the first kind of order 0",
    "j1(x)": "the Bessel function of the first kind of order 1",
    "jv(v, z)": "the Bessel function of the first kind of real order `v`",
    "y0(x)": "the Bessel function of the second kind of order 0",
    "y1(x)": "the Bessel function of the second kind of order 1",
    "yn(n, x)": "the Bessel function of the second kind of integer order `n`",
    "yv(v, z)": "the Bessel function of the second kind of real order `v`",
    "iv(v, z)": "the modified Bessel function of the first kind of real order `v`",
    "k0(x)": "the modified Bessel function of the second kind of order 0",
    "k0e(x)": "the exponentially scaled `k0`, ``exp(x) * k0(x)``",
    "k1(x)": "the modified Bessel function of the second kind of order 1",
    "k1e(x)": "the exponentially scaled `k1`, ``exp(x) * k1(x)``",
    "kn(n, x)": "the modified Bessel function of the second kind of integer order `n`",
    "kv(v, z)": "the modified Bessel function of the second kind of real order `v`",
    # --- hypergeometric, elliptic and Legendre functions
    "hyp0f1(v, z)": "the confluent hypergeometric limit function 0F1",
    "hyp1f1(a, b, x)": "Kummer's confluent hypergeometric function 1F1",
    "hyp2f1(a, b, c, z)": "Gauss's hypergeometric function 2F1",
    "ellipk(m)": "the complete elliptic integral of the first kind of parameter `m`",
    "ellipkm1(p)": "``ellipk(1 - p)``, accurate for a small `p`",
    "ellipe(m)": "the complete elliptic integral of the second kind of parameter `m`",
    "lpmv(m, v, x)": "the associated Legendre function of integer order `m` and real degree `v`",
    # --- integrals of exponentials, logarithms and trigonometric functions
    "exp1(x)": "the exponential integral E1",
    "expi(x)": "the exponential integral Ei",
    "expn(n, x)": "the generalized exponential integral of order `n`",
    "spence(z)": "Spence's function: the integral of ``log(t) / (1 - t)`` from 1 to `z`",
    "zetac(x)": "Riemann's zeta function minus 1",
    "wrightomega(z)": "Wright's omega function, the `w` with ``w + log(w) == z``",
    # --- elementary functions
    "powm1(x, y)": "``x**y - 1``, accurate if the power is near 1",
    "radian(d, m, s)": "the radians of an angle in degrees, minutes and seconds",
    # --- probability distributions
    "bdtr(k, n, p)": "the sum of the first ``floor(k) + 1`` terms of the binomial distribution",
    "bdtrc(k, n, p)": "the sum of the terms of the binomial distribution beyond ``floor(k)``",
    "bdtri(k, n, y)": "the probability `p` at which ``bdtr(k, n, p)`` is `y`",
    "nbdtr(k, n, p)": "the probability of at most `k` failures before `n` successes",
    "nbdtrc(k, n, p)": "the probability of more than `k` failures before `n` successes",
    "nbdtri(k, n, y)": "the probability `p` at which ``nbdtr(k, n, p)`` is `y`",
    "pdtr(k, m)": "the probability of at most `k` events, of a Poisson distribution of mean `m`",
    "pdtrc(k, m)": "the probability of more than `k` events, of a Poisson distribution of mean `m`",
    "pdtri(k, y)": "the mean `m` at which ``pdtr(k, m)`` is `y`",
    "chdtr(v, x)": "the distribution function of the chi-square distribution with `v` degrees of freedom",
    "chdtrc(v, x)": "the complement of `chdtr`",
    "chdtri(v, p)": "the `x` at which ``chdtrc(v, x)`` is `p`",
    "fdtr(dfn, dfd, x)": "the distribution function of the F distribution",
    "fdtrc(dfn, dfd, x)": "the complement of `fdtr`",
    "fdtri(dfn, dfd, p)": "the `x` at which ``fdtr(dfn, dfd, x)`` is `p`",
    "gdtr(a, b, x)": "the distribution function of the gamma distribution of rate `a` and shape `b`",
    "gdtrc(a, b, x)": "the complement of `gdtr`",
    "stdtr(df, t)": "the distribution function of Student's t distribution with `df` degrees of freedom",
    "stdtrit(df, p)": "the `t` at which ``stdtr(df, t)`` is `p`",
    # --- orthogonal polynomials
    "eval_legendre(n, x)": "Legendre's polynomial of degree `n`",
    "eval_chebyt(n, x)": "Chebyshev's polynomial of the first kind of degree `n`",
    "eval_chebyu(n, x)": "Chebyshev's polynomial of the second kind of degree `n`",
    "eval_gegenbauer(n, alpha, x)": "Gegenbauer's (ultraspherical) polynomial of degree `n`",
    "eval_jacobi(n, alpha, beta, x)": "Jacobi's polynomial of degree `n`",
    "eval_hermite(n, x)": "the physicists' Hermite polynomial of integer degree `n`: weight ``exp(-x**2)``",
    "eval_hermitenorm(n, x)": (
        "the probabilists' Hermite polynomial of integer degree `n`: weight ``exp(-x**2 / 2)``"
    ),
    "eval_laguerre(n, x)": "Laguerre's polynomial of degree `n`",
    "eval_genlaguerre(n, alpha, x)": "the generalized Laguerre polynomial of degree `n`",
}
