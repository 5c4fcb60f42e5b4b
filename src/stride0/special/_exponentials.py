"""`logsumexp`, `softmax` and `log_softmax`: reductions of `stride0.special` that do not overflow."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

from stride0._base.shapes import Axis, broadcast_shapes
from stride0._chapters.data_types import astype
from stride0._chapters.manipulation import reshape
from stride0._chapters.statistical import max, sum
from stride0._core.array.array import Array
from stride0._core.array.modes import check_broadcasting
from stride0._core.call.binding import primitive_in
from stride0._core.call.checks import check_bool, component_dtype, refuse_dtype
from stride0._core.elementwise import functions as el
from stride0._core.memory.dtype import DType, arithmetic_dtype
from stride0._modes.fused import fused
from stride0.special._scipy import floating_operands

if TYPE_CHECKING:
    from stride0._core.array.array import Operand

__all__ = ["log_softmax", "logsumexp", "softmax"]

# From this size on, saving a pass over memory is worth a block of `fused`.
_LARGE = 8192


class LogsumexpResult(NamedTuple):
    """Result of `logsumexp` with `return_sign`."""

    out: Array
    sign: Array


def _one_pass(x: Array) -> AbstractContextManager[Any]:
    """Return a context in which computations with `x` take few passes over memory."""
    return fused() if x.size >= _LARGE and not fused.current() else nullcontext()


@overload
def logsumexp(
    a: Operand,
    axis: Axis = None,
    b: Operand | None = None,
    keepdims: bool = False,
    return_sign: Literal[False] = False,
) -> Array: ...
@overload
def logsumexp(
    a: Operand,
    axis: Axis = None,
    b: Operand | None = None,
    keepdims: bool = False,
    *,
    return_sign: Literal[True],
) -> LogsumexpResult: ...
@primitive_in("special")
def logsumexp(
    a: Operand, axis: Axis = None, b: Operand | None = None, keepdims: bool = False, return_sign: bool = False
) -> Array | LogsumexpResult:
    """Return ``log(sum(b * exp(a)))``.

    Parameters
    ----------
    a : Array or Python scalar
        Operand of a numeric dtype.
    axis : int or tuple of int, optional
        The axes to reduce; by default all.
    b : Array or Python scalar, optional
        Factors of the exponentials, which may be negative; the shapes of `a` and `b` broadcast. If it is 0,
        `a` may be anything. By default 1.
    keepdims : bool
        Whether to keep the reduced axes, with size 1.
    return_sign : bool
        Whether to return the logarithm of the absolute value of the sum, and its sign.

    Returns
    -------
    Array or LogsumexpResult
        New array of the promoted floating-point dtype: minus infinity for an empty array, NaN if the sum is
        negative. With `return_sign`, a named tuple of two arrays, `out` and `sign`; for complex operands
        `out` is real and `sign` is the sum divided by its absolute value.

    Raises
    ------
    AxisError
        If an axis does not exist or is named twice.
    BroadcastError
        If the shapes of `a` and `b` do not broadcast.
    """
    op = "special.logsumexp"
    keepdims = check_bool(op, "keepdims", keepdims)
    return_sign = check_bool(op, "return_sign", return_sign)
    found, target = floating_operands(op, *(((a,), ("a",)) if b is None else ((a, b), ("a", "b"))))
    computed = arithmetic_dtype(target)
    x, *factors = (astype(operand, computed, copy=False) for operand in found)
    with _one_pass(x):
        if factors:
            if type(a) is Array and type(b) is Array:
                pairs = [("a", x.shape), ("b", factors[0].shape)]
                check_broadcasting(op, pairs, broadcast_shapes(op, pairs))
            x = el.where(el.equal(factors[0], 0), -math.inf, x)
        if computed.kind == "complex floating":
            out, signs = _complex_logsumexp(x, axis, factors, return_sign)
        else:
            out, signs = _real_logsumexp(x, axis, factors)
            if not return_sign:
                out = el.where(el.less(signs, 0), math.nan, out)
        out, signs = (
            astype(y if keepdims else reshape(y, _shape_without(x, axis)), dtype, copy=False)
            for y, dtype in ((out, component_dtype(target) if return_sign else target), (signs, target))
        )
    return LogsumexpResult(out, signs) if return_sign else out


def _shape_without(x: Array, axis: Axis) -> tuple[int, ...]:
    """Return the shape without the axes of a reduction, which have been checked."""
    if axis is None:
        return ()
    axes = {k % x.ndim for k in (axis if isinstance(axis, tuple) else (axis,))}
    return tuple(n for k, n in enumerate(x.shape) if k not in axes)


def _shift(x: Array, axis: Axis) -> Array:
    """Return the largest elements along axes, which are kept; 0 if they are infinite or do not exist."""
    largest = max(x, axis=axis, keepdims=True) if x.size else sum(x, axis=axis, keepdims=True)
    return el.where(el.isfinite(largest), largest, 0)


def _real_logsumexp(x: Array, axis: Axis, factors: list[Array]) -> tuple[Array, Array]:
    """Return logarithms of absolute values of the sums, and signs, with kept axes.

    The largest elements are excluded from the sum of the others, so that much smaller elements still count if
    the logarithm of the largest elements is nearly 0.
    """
    shift = _shift(x, axis)
    is_largest = el.equal(x, shift)
    weights = astype(is_largest, x.dtype)
    powers = el.exp(el.subtract(x, shift))
    if factors:
        weights, powers = el.multiply(factors[0], weights), el.multiply(factors[0], powers)
    first = sum(weights, axis=axis, keepdims=True)
    others = sum(el.where(is_largest, 0, powers), axis=axis, keepdims=True)
    total = el.add(first, others)
    ratio = el.divide(others, first)
    apart = el.add(
        el.log(el.abs(first)), el.log1p(el.where(el.less(ratio, -1), el.subtract(-2, ratio), ratio))
    )
    usual = el.logical_and(el.not_equal(first, 0), el.isfinite(others))
    return el.add(el.where(usual, apart, el.log(el.abs(total))), shift), el.sign(total)


def _complex_logsumexp(x: Array, axis: Axis, factors: list[Array], return_sign: bool) -> tuple[Array, Array]:
    """Return the same for complex numbers; without `return_sign`, logarithms of the sums themselves."""
    shift = _shift(el.real(x), axis)
    powers = el.exp(el.subtract(x, shift))
    total = sum(el.multiply(factors[0], powers) if factors else powers, axis=axis, keepdims=True)
    return el.add(el.log(el.abs(total) if return_sign else total), shift), el.sign(total)


def _real_operand(op: str, x: Operand) -> tuple[Array, DType]:
    """Return an operand in the dtype of the computation, and the dtype of the result."""
    (found,), target = floating_operands(op, (x,), ("x",))
    if target.kind == "complex floating":
        refuse_dtype(op, target, "a real dtype")
    return astype(found, arithmetic_dtype(target), copy=False), target


@primitive_in("special")
def softmax(x: Operand, axis: Axis = None) -> Array:
    """Return ``exp(x)`` divided by its sum."""
    found, target = _real_operand("special.softmax", x)
    if not found.size:
        return astype(found, target)
    with _one_pass(found):
        powers = el.exp(el.subtract(found, max(found, axis=axis, keepdims=True)))
        return astype(el.divide(powers, sum(powers, axis=axis, keepdims=True)), target, copy=False)


@primitive_in("special")
def log_softmax(x: Operand, axis: Axis = None) -> Array:
    """Return the logarithm of `softmax`, which does not underflow."""
    found, target = _real_operand("special.log_softmax", x)
    if not found.size:
        return astype(found, target)
    with _one_pass(found):
        shifted = el.subtract(found, _shift(found, axis))
        total = sum(el.exp(shifted), axis=axis, keepdims=True)
        return astype(el.subtract(shifted, el.log(total)), target, copy=False)
