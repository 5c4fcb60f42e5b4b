"""Functions of probability distributions of `stride0.special`, which SciPy computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stride0._core.array.array import Array
from stride0.special._scipy import declared_ufunc

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


@declared_ufunc
def bdtr(k: Operand, n: Operand, p: Operand, /) -> Array:
    """Return the sum of the first ``floor(k) + 1`` terms of the binomial distribution."""


@declared_ufunc
def bdtrc(k: Operand, n: Operand, p: Operand, /) -> Array:
    """Return the sum of the terms of the binomial distribution beyond ``floor(k)``."""


@declared_ufunc
def bdtri(k: Operand, n: Operand, y: Operand, /) -> Array:
    """Return the probability `p` at which ``bdtr(k, n, p)`` is `y`."""


@declared_ufunc
def nbdtr(k: Operand, n: Operand, p: Operand, /) -> Array:
    """Return the probability of at most `k` failures before `n` successes."""


@declared_ufunc
def nbdtrc(k: Operand, n: Operand, p: Operand, /) -> Array:
    """Return the probability of more than `k` failures before `n` successes."""


@declared_ufunc
def nbdtri(k: Operand, n: Operand, y: Operand, /) -> Array:
    """Return the probability `p` at which ``nbdtr(k, n, p)`` is `y`."""


@declared_ufunc
def pdtr(k: Operand, m: Operand, /) -> Array:
    """Return the probability of at most `k` events, of a Poisson distribution of mean `m`."""


@declared_ufunc
def pdtrc(k: Operand, m: Operand, /) -> Array:
    """Return the probability of more than `k` events, of a Poisson distribution of mean `m`."""


@declared_ufunc
def pdtri(k: Operand, y: Operand, /) -> Array:
    """Return the mean `m` at which ``pdtr(k, m)`` is `y`."""


@declared_ufunc
def chdtr(v: Operand, x: Operand, /) -> Array:
    """Return the distribution function of the chi-square distribution with `v` degrees of freedom."""


@declared_ufunc
def chdtrc(v: Operand, x: Operand, /) -> Array:
    """Return the complement of `chdtr`."""


@declared_ufunc
def chdtri(v: Operand, p: Operand, /) -> Array:
    """Return the `x` at which ``chdtrc(v, x)`` is `p`."""


@declared_ufunc
def fdtr(dfn: Operand, dfd: Operand, x: Operand, /) -> Array:
    """Return the distribution function of the F distribution."""


@declared_ufunc
def fdtrc(dfn: Operand, dfd: Operand, x: Operand, /) -> Array:
    """Return the complement of `fdtr`."""


@declared_ufunc
def fdtri(dfn: Operand, dfd: Operand, p: Operand, /) -> Array:
    """Return the `x` at which ``fdtr(dfn, dfd, x)`` is `p`."""


@declared_ufunc
def gdtr(a: Operand, b: Operand, x: Operand, /) -> Array:
    """Return the distribution function of the gamma distribution of rate `a` and shape `b`."""


@declared_ufunc
def gdtrc(a: Operand, b: Operand, x: Operand, /) -> Array:
    """Return the complement of `gdtr`."""


@declared_ufunc
def stdtr(df: Operand, t: Operand, /) -> Array:
    """Return the distribution function of Student's t distribution with `df` degrees of freedom."""


@declared_ufunc
def stdtrit(df: Operand, p: Operand, /) -> Array:
    """Return the `t` at which ``stdtr(df, t)`` is `p`."""
