"""Gradient rules of `logsumexp`, `softmax` and `log_softmax`.

Note [Shares]
    Derivatives of shares that sum to 1 have the form ``g - a * sum(b * g)``, where ``sum(a * b)`` is 1.
    If one product ``a * b`` is nearly 1, all digits of its element cancel. A second derivative of
    ``softmax([40, 0])`` is ``p0 * (1 - p0)``, where `p0` rounds to 1. A multiple of `a` added to `g`
    does not change the result, so `without_share` first subtracts the multiple that makes `g` 0 at this
    element.
"""

from __future__ import annotations

from typing import Any

from stride0._chapters.creation import full as full_of
from stride0._chapters.creation import zeros_like
from stride0._chapters.data_types import astype
from stride0._chapters.elementwise import abs, equal, exp, greater, imag, isinf, isnan, real
from stride0._chapters.manipulation import broadcast_shapes, broadcast_to, reshape
from stride0._chapters.statistical import max, sum
from stride0._core.array.array import Array
from stride0._core.call.binding import primitive_in
from stride0._core.elementwise.functions import where
from stride0._core.memory.dtype import arithmetic_dtype
from stride0.autograd._rules.elementwise import is_complex, unless_zero
from stride0.autograd._rules.parts import conjugate, kept, multiply_nonzero, product, some, times
from stride0.autograd._rules.special_derivatives import Rule, along


def without_share(g: Array, a: Array | None, b: Array | None, axis: Any) -> Array:
    """Return ``g - a * sum(b * g)``, given that ``sum(a * b)`` is 1; None stands for 1. Note [Shares]."""
    shares: Any = b if a is None else a if b is None else a * b
    if a is not None and b is not None:
        # If all shares are positive, at most one is above 0.5.
        shares = abs(shares)
        shares = shares / sum(shares, axis=axis, keepdims=True)
    top = greater(real(shares), 0.5)
    at_top = where(top, g, 0) if a is None else where(top, g, 0) / where(top, a, 1)
    shift = sum(at_top, axis=axis, keepdims=True)
    g = where(top, 0, g - (shift if a is None else shift * a))
    total = sum(g if b is None else product(g, b), axis=axis, keepdims=True)
    return g - (total if a is None else product(total, a))


@primitive_in("special")
def exp_shares(a: Array, b: Array | None, axis: Any) -> Array:
    """Return ``exp(a) / sum(b * exp(a))``; if `b` is None, all factors are 1.

    If the sum is infinite or empty, the largest elements have equal shares.
    """
    if not a.size:
        return a
    a = astype(a, arithmetic_dtype(a.dtype), copy=False)
    size = real(a) if is_complex(a) else a
    largest = max(size if b is None else where(equal(b, 0), -float("inf"), size), axis=axis, keepdims=True)
    endless = isinf(largest)
    if some(endless):
        powers = where(endless, where(equal(size, largest), 1, 0), exp(a - where(endless, 0, largest)))
    else:
        powers = exp(a - largest)
    total = powers if b is None else where(equal(b, 0), 0, b * powers)
    return powers / unless_zero(sum(total, axis=axis, keepdims=True))


def _kept(y: Any, shape: tuple[int, ...], axis: Any) -> Any:
    """Return a result, or its cotangent, with size 1 along the reduced axes."""
    return None if y is None else reshape(y, kept(shape, axis))


def _logsumexp(g: Any, a: Any, b: Any, axis: Any, return_sign: bool, out: Any, by: str) -> Any:
    shape = broadcast_shapes(*(getattr(x, "shape", ()) for x in (a, b)))
    value, signs = out if return_sign else (out, None)
    of_value, of_signs = g if return_sign else (g, None)
    dtype = (value if signs is None else signs).dtype
    # The axes belong to the broadcast shape of both arguments.
    a = (
        broadcast_to(astype(a, dtype, copy=False), shape)
        if isinstance(a, Array)
        else full_of(shape, a, dtype=dtype)
    )
    value, signs, of_value, of_signs = (_kept(y, shape, axis) for y in (value, signs, of_value, of_signs))
    weights = exp_shares(a, b, axis)
    if b is not None:
        # The logarithm of a negative sum is NaN.
        weights = where(isnan(value), value, weights)
    if of_value is None:
        of_value = zeros_like(of_signs)
    if of_signs is not None and is_complex(signs):
        # The sign is exp(1j * angle); the angle is the imaginary part of the logarithm of the sum.
        of_value = of_value + 1j * imag(conjugate(signs) * of_signs)
    of_value = broadcast_to(of_value, shape)
    if by == "b":
        return along(of_value, weights)
    if b is None:
        return along(of_value, weights)
    # The exponential may be infinite although the factor is 0.
    return along(of_value, multiply_nonzero(b, weights) if isinstance(b, Array) else b * weights)


def _shares_a(g: Array, b: Any, axis: Any, out: Array) -> Any:
    out = conjugate(out)
    return times(without_share(g, None if b is None else conjugate(b), out, axis), out)


def _shares_b(g: Array, axis: Any, out: Array) -> Any:
    out = conjugate(out)
    return times(-sum(product(g, out), axis=axis, keepdims=True), out)


VJP: dict[str, dict[str, Rule]] = {
    "special.logsumexp": {
        "a": lambda g, a, b, axis, return_sign, out: _logsumexp(g, a, b, axis, return_sign, out, "a"),
        "b": lambda g, a, b, axis, return_sign, out: _logsumexp(g, a, b, axis, return_sign, out, "b"),
    },
    "special.softmax": {"x": lambda g, out, axis: _shares_a(g, None, axis, out)},
    "special.log_softmax": {"x": lambda g, out, axis: without_share(g, exp(out), None, axis)},
}

# Rules of inner functions: rules call them, users do not.
INNER_VJP: dict[str, dict[str, Rule]] = {"special.exp_shares": {"a": _shares_a, "b": _shares_b}}
