"""Orthogonal polynomials of `stride0.special`, evaluated by SciPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stride0._core.array.array import Array
from stride0.special._scipy import declared_ufunc

if TYPE_CHECKING:
    from stride0._core.array.array import Operand

__all__ = [
    "eval_chebyt",
    "eval_chebyu",
    "eval_gegenbauer",
    "eval_genlaguerre",
    "eval_hermite",
    "eval_hermitenorm",
    "eval_jacobi",
    "eval_laguerre",
    "eval_legendre",
]


@declared_ufunc
def eval_legendre(n: Operand, x: Operand, /) -> Array:
    """Return Legendre's polynomial of degree `n`."""


@declared_ufunc
def eval_chebyt(n: Operand, x: Operand, /) -> Array:
    """Return Chebyshev's polynomial of the first kind of degree `n`."""


@declared_ufunc
def eval_chebyu(n: Operand, x: Operand, /) -> Array:
    """Return Chebyshev's polynomial of the second kind of degree `n`."""


@declared_ufunc
def eval_gegenbauer(n: Operand, alpha: Operand, x: Operand, /) -> Array:
    """Return Gegenbauer's (ultraspherical) polynomial of degree `n`."""


@declared_ufunc
def eval_jacobi(n: Operand, alpha: Operand, beta: Operand, x: Operand, /) -> Array:
    """Return Jacobi's polynomial of degree `n`."""


@declared_ufunc
def eval_hermite(n: Operand, x: Operand, /) -> Array:
    """Return the physicists' Hermite polynomial of integer degree `n`: weight ``exp(-x**2)``."""


@declared_ufunc
def eval_hermitenorm(n: Operand, x: Operand, /) -> Array:
    """Return the probabilists' Hermite polynomial of integer degree `n`: weight ``exp(-x**2 / 2)``."""


@declared_ufunc
def eval_laguerre(n: Operand, x: Operand, /) -> Array:
    """Return Laguerre's polynomial of degree `n`."""


@declared_ufunc
def eval_genlaguerre(n: Operand, alpha: Operand, x: Operand, /) -> Array:
    """Return the generalized Laguerre polynomial of degree `n`."""
