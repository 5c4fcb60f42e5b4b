"""Recursive filters of `stride0.autograd.scipy.signal`.

The adjoint of a filter is the same filter, applied backwards.
"""

from __future__ import annotations

import functools
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentValueError, ShapeError
from stride0._core.array.array import Array
from stride0.autograd.scipy._arguments import count_of, floating, item, line, one_of, require, same_dtype
from stride0.autograd.scipy._axes import along, axis_of, lane, lengthened
from stride0.autograd.scipy._calls import by_lanes, from_numpy, recorded, rules, scipy, to_numpy
from stride0.autograd.scipy._linear import extended, lagged
from stride0.autograd.scipy._polynomials import sections_of

__all__ = ["filtfilt", "lfilter", "lfilter_zi", "sosfilt", "sosfilt_zi", "sosfiltfilt"]


@recorded("signal")
def _filtered(b: Array, a: Array, x: Array, axis: int) -> Array:
    return from_numpy(scipy("signal").lfilter(to_numpy(b), to_numpy(a), to_numpy(x), axis=axis))


rules(
    _filtered,
    b=lambda g, b_shape, a, x, axis: lagged(g, _recursive(a, x, axis), b_shape[0], axis),
    a=lambda g, a, out, axis: -lagged(g, _recursive(a, out, axis), a.shape[0], axis),
    x=lambda g, b, a, axis: xp.flip(
        _filtered(xp.conj(b), xp.conj(a), xp.flip(g, axis=axis), axis), axis=axis
    ),
)
by_lanes(_filtered, "x")


def _recursive(a: Array, x: Array, axis: int) -> Array:
    return _filtered(xp.ones((1,), dtype=a.dtype), a, x, axis)


def coefficients(operation: str, b: Any, a: Any, x: Any) -> list[Array]:
    found = same_dtype(line(operation, "b", b), line(operation, "a", a), floating(operation, "x", x))
    if item(found[1])[0] == 0:
        raise ArgumentValueError(operation, "a[0] is zero", accepts="pass a denominator with a[0] != 0")
    return found


def lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """Filter with a rational transfer function: `scipy.signal.lfilter`. Differentiable by all arrays."""
    b, a, x = coefficients("lfilter", b, a, x)
    axis = axis_of("lfilter", x, axis)
    if zi is None:
        return _filtered(b, a, x, axis)
    order = max(b.shape[0], a.shape[0]) - 1
    zi = floating("lfilter", "zi", zi)
    wanted = (*x.shape[:axis], order, *x.shape[axis + 1 :])
    require(
        zi.ndim == x.ndim and zi.shape[axis] == order,
        "lfilter",
        "zi",
        zi,
        f"shape {wanted}, or one that broadcasts to it",
    )
    zi = xp.broadcast_to(zi, wanted)
    if order == 0:
        return _filtered(b, a, x, axis), xp.zeros(wanted, dtype=x.dtype)
    # The state is what the past signal adds to the next outputs, before the recursion: the filter 1 / a turns
    # it into outputs, and the filter a reverses this.
    n = x.shape[axis]
    one, blank = xp.ones((1,), dtype=a.dtype), xp.zeros(wanted, dtype=x.dtype)
    before = xp.concat((a[0] * zi, xp.zeros(x.shape, dtype=zi.dtype)), axis=axis)
    y = _recursive(a, _filtered(b, one, xp.concat((x, blank), axis=axis), axis) + before, axis)
    final = _filtered(a / a[0], one, y[along(x.ndim, axis, slice(n, None))], axis)
    return y[along(x.ndim, axis, slice(n))], final


def lfilter_zi(b: Any, a: Any) -> Array:
    """Compute the state after a signal of ones: `scipy.signal.lfilter_zi`. Differentiable by `b` and `a`."""
    b, a, _ = coefficients("lfilter_zi", b, a, xp.zeros((1,)))
    order = max(b.shape[0], a.shape[0]) - 1
    if order == 0:
        return xp.zeros((0,), dtype=b.dtype)
    b, a = (lengthened(c, 0, order + 1) / a[0] for c in (b, a))
    first = xp.eye(1, order, dtype=a.dtype)
    shifted = xp.eye(order, dtype=a.dtype) - xp.eye(order, k=1, dtype=a.dtype)
    return xp.linalg.solve(shifted + a[1:, None] * first, b[1:] - a[1:] * b[0])


def extended_signal(operation: str, x: Array, axis: int, padtype: Any, edge: int) -> tuple[Array, int]:
    """Return a signal that is extended at both ends, and the number of added elements per end."""
    one_of(operation, "padtype", padtype, ("odd", "even", "constant", None))
    if padtype is None or edge == 0:
        return x, 0
    if x.shape[axis] <= edge:
        raise ShapeError(
            operation,
            f"x has {x.shape[axis]} elements along axis {axis}",
            accepts=f"pass more than {edge} elements, or a smaller padlen",
        )
    mode = "nearest" if padtype == "constant" else "mirror"
    longer = extended(operation, x, axis, edge, edge, mode)
    if padtype != "odd":
        return longer, edge
    n = x.shape[axis]
    ends = extended(operation, x, axis, edge, edge, "nearest")
    twice = xp.concat((xp.full((edge,), 2.0), xp.zeros((n,)), xp.full((edge,), 2.0)))
    signs = 1.0 - twice
    twice, signs = (xp.astype(xp.reshape(c, lane(x, axis)), x.dtype) for c in (twice, signs))
    return twice * ends + signs * longer, edge


def _gain(operation: str, b: Array, a: Array) -> Array:
    """Return the gain of a filter for a constant signal."""
    below = xp.sum(a)
    if item(below) == 0:
        raise ArgumentValueError(operation, "the filter has a pole at 1", (), "use a filter with sum(a) != 0")
    return xp.sum(b) / below


def filtfilt(
    b: Any,
    a: Any,
    x: Any,
    axis: int = -1,
    padtype: str | None = "odd",
    padlen: int | None = None,
    method: str = "pad",
) -> Array:
    """Filter forwards and backwards: `scipy.signal.filtfilt`.

    Differentiable by `b`, `a` and `x`. ``method="gust"`` is not supported.
    """
    one_of("filtfilt", "method", method, ("pad",))
    b, a, x = coefficients("filtfilt", b, a, x)
    axis = axis_of("filtfilt", x, axis)
    taps, gain = max(b.shape[0], a.shape[0]), _gain("filtfilt", b, a)
    filtered = functools.partial(_filtered, b, a, axis=axis)
    return _both_ways("filtfilt", x, axis, padtype, padlen, taps, gain, filtered)


def _both_ways(
    operation: str, x: Array, axis: int, padtype: Any, padlen: Any, taps: int, gain: Array, filtered: Any
) -> Array:
    """Return a signal after a filter forwards and backwards."""
    edge = 3 * taps if padlen is None else count_of(operation, "padlen", padlen, 0)
    longer, edge = extended_signal(operation, x, axis, padtype, edge)
    for _ in range(2):
        # The state after an endless constant signal of the first value.
        start = longer[along(x.ndim, axis, slice(1))]
        longer = xp.flip(filtered(x=longer - start) + gain * start, axis=axis)
    return longer[along(x.ndim, axis, slice(edge, edge + x.shape[axis]))]


def _sections_cotangent(g: Array, sos: Array, x: Array, axis: int) -> Array:
    rows = []
    for k in range(sos.shape[0]):
        b, a, after = sos[k, :3], sos[k, 3:], sos[k + 1 :, :]
        before = _sectioned(sos[:k, :], x, axis) if k else x
        arriving = _backwards(after, g, axis) if after.shape[0] else g
        numerator = lagged(arriving, _recursive(a, before, axis), 3, axis)
        behind = _filtered(b, a, before, axis)
        rows.append(xp.concat((numerator, -lagged(arriving, _recursive(a, behind, axis), 3, axis))))
    return xp.stack(rows)


def _backwards(sos: Array, g: Array, axis: int) -> Array:
    return xp.flip(_sectioned(xp.conj(sos), xp.flip(g, axis=axis), axis), axis=axis)


@recorded("signal")
def _sectioned(sos: Array, x: Array, axis: int) -> Array:
    return from_numpy(scipy("signal").sosfilt(to_numpy(sos), to_numpy(x), axis=axis))


rules(
    _sectioned,
    sos=lambda g, sos, x, axis: _sections_cotangent(g, sos, x, axis),
    x=lambda g, sos, axis: _backwards(sos, g, axis),
)
by_lanes(_sectioned, "x")


def _sections(operation: str, sos: Any, x: Any) -> list[Array]:
    found = same_dtype(sections_of(operation, sos), floating(operation, "x", x))
    if (item(found[0])[:, 3] != 1).any():
        raise ArgumentValueError(
            operation, "sos[:, 3] is not 1", accepts="divide each section by its a[0]: sos / sos[:, 3:4]"
        )
    return found


def sosfilt_zi(sos: Any) -> Array:
    """Compute the states after a signal of ones: `scipy.signal.sosfilt_zi`. Differentiable by `sos`."""
    found = sections_of("sosfilt_zi", sos)
    scale = xp.ones((), dtype=found.dtype)
    states = []
    for k in range(found.shape[0]):
        b, a = found[k, :3], found[k, 3:]
        states.append(scale * lfilter_zi(b, a))
        scale = scale * _gain("sosfilt_zi", b, a)
    return xp.stack(states)


def sosfilt(sos: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """Filter with second-order sections: `scipy.signal.sosfilt`. Differentiable by `sos`, `x` and `zi`."""
    sos, y = _sections("sosfilt", sos, x)
    axis = axis_of("sosfilt", y, axis)
    if zi is None:
        return _sectioned(sos, y, axis)
    zi = floating("sosfilt", "zi", zi)
    if zi.ndim != y.ndim + 1 or zi.shape[0] != sos.shape[0]:
        wanted = (sos.shape[0], *y.shape[:axis], 2, *y.shape[axis + 1 :])
        raise ShapeError("sosfilt", f"zi has shape {zi.shape}", accepts=f"pass shape {wanted}")
    states = []
    for k in range(sos.shape[0]):
        y, state = lfilter(sos[k, :3], sos[k, 3:], y, axis, zi=zi[k, ...])
        states.append(state)
    return y, xp.stack(states)


def sosfiltfilt(
    sos: Any, x: Any, axis: int = -1, padtype: str | None = "odd", padlen: int | None = None
) -> Array:
    """Filter forwards and backwards: `scipy.signal.sosfiltfilt`. Differentiable by `sos` and `x`."""
    sos, x = _sections("sosfiltfilt", sos, x)
    axis = axis_of("sosfiltfilt", x, axis)
    known = item(sos)
    taps = 2 * sos.shape[0] + 1 - min(int((known[:, 2] == 0).sum()), int((known[:, 5] == 0).sum()))
    gain = xp.ones((), dtype=sos.dtype)
    for k in range(sos.shape[0]):
        gain = gain * _gain("sosfiltfilt", sos[k, :3], sos[k, 3:])
    filtered = functools.partial(_sectioned, sos, axis=axis)
    return _both_ways("sosfiltfilt", x, axis, padtype, padlen, taps, gain, filtered)
