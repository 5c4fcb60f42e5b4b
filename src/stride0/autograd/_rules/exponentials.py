"""Gradient rules of `logsumexp`, `softmax` and `log_softmax`."""

from __future__ import annotations

from typing import Any

from stride0._chapters.creation import full as full_of
from stride0._chapters.creation import zeros_like
from stride0._chapters.elementwise import equal, exp, imag, isinf, maximum, real
from stride0._chapters.manipulation import broadcast_shapes, broadcast_to, reshape
from stride0._chapters.statistical import sum
from stride0._core.array.array import Array
from stride0._core.ops.functions import where
from stride0.autograd._rules.parts import conjugate, kept, product
from stride0.autograd._rules.special import Rule, along, is_complex


def _kept(y: Any, shape: tuple[int, ...], axis: Any) -> Any:
    """Return a result, or a cotangent of one, with size 1 along the reduced axes."""
    return None if y is None else reshape(y, kept(shape, axis))


def _weights(a: Any, axis: Any, out: Array, signs: Array | None) -> Array:
    """Return ``exp(a)`` divided by the sum whose logarithm is `out`."""
    weights = exp(a - out)
    endless = isinf(out) if not is_complex(out) else isinf(real(out))
    largest = equal(a, out)
    count = maximum(sum(where(largest, 1.0, 0.0), axis=axis, keepdims=True), 1.0)
    # inf - inf: there the largest elements share what there is.
    weights = where(endless, where(largest, 1.0 / count, 0.0), weights)
    return weights if signs is None else weights / signs


def _logsumexp(g: Any, a: Any, b: Any, axis: Any, return_sign: bool, out: Any, by: str) -> Any:
    shape = broadcast_shapes(*(getattr(x, "shape", ()) for x in (a, b)))
    # The axes are those of what both broadcast to.
    full = broadcast_to(a, shape) if isinstance(a, Array) else full_of(shape, a, dtype=b.dtype)
    value, signs = out if return_sign else (out, None)
    of_value, of_signs = g if return_sign else (g, None)
    value, signs, of_value, of_signs = (_kept(y, shape, axis) for y in (value, signs, of_value, of_signs))
    weights = _weights(full, axis, value, signs)
    if of_value is None:
        of_value = zeros_like(of_signs)
    if of_signs is not None and is_complex(signs):
        # The sign is exp(1j * angle), and the angle the imaginary part of the logarithm of the sum.
        of_value = of_value + 1j * imag(conjugate(signs) * of_signs)
    of_value = broadcast_to(of_value, shape)
    if by == "b":
        return along(of_value, weights)
    return along(of_value, weights if b is None else where(equal(b, 0), 0, b * weights))


def _log_softmax(g: Array, out: Array, axis: Any) -> Array:
    return g - product(sum(g, axis=axis, keepdims=True), exp(out))


def _softmax(g: Array, out: Array, axis: Any) -> Array:
    g = product(g, out)
    return g - product(sum(g, axis=axis, keepdims=True), out)


VJP: dict[str, dict[str, Rule]] = {
    "special.logsumexp": {
        "a": lambda g, a, b, axis, return_sign, out: _logsumexp(g, a, b, axis, return_sign, out, "a"),
        "b": lambda g, a, b, axis, return_sign, out: _logsumexp(g, a, b, axis, return_sign, out, "b"),
    },
    "special.softmax": {"x": _softmax},
    "special.log_softmax": {"x": _log_softmax},
}
