"""Functions of probability distributions of `stride0.special`, which SciPy computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stride0._core.array.array import Array
from stride0._core.calls.primitive import primitive_in
from stride0.special._scipy import by_scipy

if TYPE_CHECKING:
    from stride0._core.array.array import Operand

__all__ = [
    "bdtr",
    "bdtrc",
    "bdtri",
    "chdtr",
    "chdtrc",
    "chdtri",
    "fdtr",
    "fdtrc",
    "fdtri",
    "gdtr",
    "gdtrc",
    "nbdtr",
    "nbdtrc",
    "nbdtri",
    "pdtr",
    "pdtrc",
    "pdtri",
    "stdtr",
    "stdtrit",
]


@primitive_in("special")
def bdtr(k: Operand, n: Operand, p: Operand, /) -> Array:
    """Return the sum of the first ``floor(k) + 1`` terms of the binomial distribution."""
    return by_scipy("special.bdtr", ("k", "n", "p"), k, n, p)


@primitive_in("special")
def bdtrc(k: Operand, n: Operand, p: Operand, /) -> Array:
    """Return the sum of the terms of the binomial distribution beyond ``floor(k)``."""
    return by_scipy("special.bdtrc", ("k", "n", "p"), k, n, p)


@primitive_in("special")
def bdtri(k: Operand, n: Operand, y: Operand, /) -> Array:
    """Return the probability `p` at which ``bdtr(k, n, p)`` is `y`."""
    return by_scipy("special.bdtri", ("k", "n", "y"), k, n, y)


@primitive_in("special")
def nbdtr(k: Operand, n: Operand, p: Operand, /) -> Array:
    """Return the probability of at most `k` failures before `n` successes."""
    return by_scipy("special.nbdtr", ("k", "n", "p"), k, n, p)


@primitive_in("special")
def nbdtrc(k: Operand, n: Operand, p: Operand, /) -> Array:
    """Return the probability of more than `k` failures before `n` successes."""
    return by_scipy("special.nbdtrc", ("k", "n", "p"), k, n, p)


@primitive_in("special")
def nbdtri(k: Operand, n: Operand, y: Operand, /) -> Array:
    """Return the probability `p` at which ``nbdtr(k, n, p)`` is `y`."""
    return by_scipy("special.nbdtri", ("k", "n", "y"), k, n, y)


@primitive_in("special")
def pdtr(k: Operand, m: Operand, /) -> Array:
    """Return the probability of at most `k` events, of a Poisson distribution of mean `m`."""
    return by_scipy("special.pdtr", ("k", "m"), k, m)


@primitive_in("special")
def pdtrc(k: Operand, m: Operand, /) -> Array:
    """Return the probability of more than `k` events, of a Poisson distribution of mean `m`."""
    return by_scipy("special.pdtrc", ("k", "m"), k, m)


@primitive_in("special")
def pdtri(k: Operand, y: Operand, /) -> Array:
    """Return the mean `m` at which ``pdtr(k, m)`` is `y`."""
    return by_scipy("special.pdtri", ("k", "y"), k, y)


@primitive_in("special")
def chdtr(v: Operand, x: Operand, /) -> Array:
    """Return the distribution function of the chi-square distribution with `v` degrees of freedom."""
    return by_scipy("special.chdtr", ("v", "x"), v, x)


@primitive_in("special")
def chdtrc(v: Operand, x: Operand, /) -> Array:
    """Return the complement of `chdtr`."""
    return by_scipy("special.chdtrc", ("v", "x"), v, x)


@primitive_in("special")
def chdtri(v: Operand, p: Operand, /) -> Array:
    """Return the `x` at which ``chdtrc(v, x)`` is `p`."""
    return by_scipy("special.chdtri", ("v", "p"), v, p)


@primitive_in("special")
def fdtr(dfn: Operand, dfd: Operand, x: Operand, /) -> Array:
    """Return the distribution function of the F distribution."""
    return by_scipy("special.fdtr", ("dfn", "dfd", "x"), dfn, dfd, x)


@primitive_in("special")
def fdtrc(dfn: Operand, dfd: Operand, x: Operand, /) -> Array:
    """Return the complement of `fdtr`."""
    return by_scipy("special.fdtrc", ("dfn", "dfd", "x"), dfn, dfd, x)


@primitive_in("special")
def fdtri(dfn: Operand, dfd: Operand, p: Operand, /) -> Array:
    """Return the `x` at which ``fdtr(dfn, dfd, x)`` is `p`."""
    return by_scipy("special.fdtri", ("dfn", "dfd", "p"), dfn, dfd, p)


@primitive_in("special")
def gdtr(a: Operand, b: Operand, x: Operand, /) -> Array:
    """Return the distribution function of the gamma distribution of rate `a` and shape `b`."""
    return by_scipy("special.gdtr", ("a", "b", "x"), a, b, x)


@primitive_in("special")
def gdtrc(a: Operand, b: Operand, x: Operand, /) -> Array:
    """Return the complement of `gdtr`."""
    return by_scipy("special.gdtrc", ("a", "b", "x"), a, b, x)


@primitive_in("special")
def stdtr(df: Operand, t: Operand, /) -> Array:
    """Return the distribution function of Student's t distribution with `df` degrees of freedom."""
    return by_scipy("special.stdtr", ("df", "t"), df, t)


@primitive_in("special")
def stdtrit(df: Operand, p: Operand, /) -> Array:
    """Return the `t` at which ``stdtr(df, t)`` is `p`."""
    return by_scipy("special.stdtrit", ("df", "p"), df, p)
