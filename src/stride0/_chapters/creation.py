"""Creation functions, except those that convert existing data (``asarray``, ``from_dlpack``)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from stride0._base.devices import DeviceLike, check_device
from stride0._base.errors import ArgumentValueError, RangeError, ShapeError, shown
from stride0._base.shapes import ShapeLike, normalize_index, normalize_shape
from stride0._core.array.array import Array, restride, strides
from stride0._core.array.array import empty as _empty
from stride0._core.array.array import zeros as _zeros
from stride0._core.call.binding import intercepted, primitive
from stride0._core.call.checks import (
    KINDS,
    as_float,
    as_scalar,
    check_array,
    check_bool,
    check_cast,
    check_dtype,
    limits_of,
    refuse_dtype,
)
from stride0._core.elementwise.elementwise import assign, copy, iota
from stride0._core.elementwise.functions import add, divide, floor, floor_divide, less_equal, multiply, where
from stride0._core.memory import dtype as dt
from stride0._core.memory.dtype import DTypeLike

__all__ = [
    "arange",
    "empty",
    "empty_like",
    "eye",
    "full",
    "full_like",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]


@primitive
def arange(
    start: int | float,
    /,
    stop: int | float | None = None,
    step: int | float = 1,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike = None,
) -> Array:
    """Return evenly spaced numbers from `start` up to `stop`, which is excluded.

    Parameters
    ----------
    start : int or float
        First number. If `stop` is None, this is the end, and the first number is 0.
    stop : int or float, optional
        End of the interval.
    step : int or float
        Distance of neighbours; negative to count down, never 0.
    dtype : DType, optional
        Any numeric dtype. By default int64 if all arguments are integers, else float64.

    Returns
    -------
    Array
        New array of shape ``(n,)`` with ``n = ceil((stop - start) / step)``, or 0 if that is negative.
        Element ``i`` is ``start + i * step``. Both are exact for integers, and for floats with integer
        values. For other floats they are computed in float64: the rounded quotient may add an element near
        `stop`, as in NumPy.

    Raises
    ------
    ArgumentValueError
        If `step` is 0, an argument is not finite, or `start` or `step` has a fraction and the dtype is an
        integer dtype.
    RangeError
        If an element does not fit the dtype.
    DTypeError
        If the dtype is bool.
    """


@intercepted
def empty(shape: ShapeLike, *, dtype: DTypeLike | None = None, device: DeviceLike = None) -> Array:
    """Return an uninitialised array."""


@primitive
def empty_like(
    x: Array, /, *, dtype: DTypeLike | None = None, device: DeviceLike = None, shape: ShapeLike | None = None
) -> Array:
    """Return an uninitialised array with the shape of another array."""


@intercepted
def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: DTypeLike | None = None,
    device: DeviceLike = None,
) -> Array:
    """Return a matrix with ones on a diagonal and zeros elsewhere.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_cols : int, optional
        Number of columns; by default `n_rows`.
    k : int
        The diagonal: 0 is the main diagonal, positive numbers lie above it, negative numbers below.

    Returns
    -------
    Array
        New array of shape ``(n_rows, n_cols)``.
    """


@primitive
def full(
    shape: ShapeLike,
    fill_value: bool | int | float | complex,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike = None,
) -> Array:
    """Return an array filled with a value.

    Parameters
    ----------
    dtype : DType, optional
        By default bool, int64, float64 or complex128, according to the kind of `fill_value`; if that is an
        array, its dtype.
    """


@primitive
def full_like(
    x: Array,
    /,
    fill_value: bool | int | float | complex,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike = None,
    shape: ShapeLike | None = None,
) -> Array:
    """Return an array with the shape of another array, filled with a value."""


@primitive
def linspace(
    start: int | float | complex,
    stop: int | float | complex,
    /,
    num: int,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike = None,
    endpoint: bool = True,
) -> Array:
    """Return `num` evenly spaced numbers over an interval.

    Parameters
    ----------
    start, stop : int, float or complex
        The ends.
    dtype : DType, optional
        By default complex128 if an end is complex, otherwise float64. For an integer dtype the numbers are
        rounded down.
    endpoint : bool
        Whether `stop` is the last number, exactly; otherwise the result consists of the first `num` of
        ``num + 1`` numbers that end with `stop`.

    Returns
    -------
    Array
        New array of shape ``(num,)``. The first number is `start`, exactly.

    Raises
    ------
    CastError
        If an end is complex and the dtype is real.
    RangeError
        If a number does not fit an integer dtype.
    """
    op = "linspace"
    check_device(op, device)
    ends = as_scalar(op, "start", start), as_scalar(op, "stop", stop)
    is_complex = any(isinstance(end, complex) for end in ends)
    target = check_dtype(op, dtype, dt.complex128 if is_complex else dt.float64)
    if target.kind == "bool":
        refuse_dtype(op, target, "a numeric dtype", "the result")
    if is_complex:
        check_cast(op, dt.complex128, target)
    num = normalize_index(op, "num", num)
    if num < 0:
        raise ArgumentValueError(op, "num must not be negative", [("num", str(num))])
    (num,) = normalize_shape(op, num)
    parts = num - 1 if check_bool(op, "endpoint", endpoint) else num
    first, last = (end if isinstance(end, complex) else as_float(op, end) for end in ends)
    if target.kind in KINDS["integral"]:
        return _spaced_integers(ends, (first.real, last.real), num, parts, target)
    values = _spaced(first.real, last.real, num, parts)
    if is_complex:
        imaginary = _spaced(first.imag, last.imag, num, parts)
        values = add(values, multiply(imaginary, 1j))
    # Set the ends exactly: rounding, or a step that is not finite, may have moved them.
    _set_ends(values, first, last, parts)
    return values if values.dtype is target else copy(values, target)


def _set_ends(values: Array, first: complex, last: complex, parts: int) -> None:
    """Write the first number, and the last number if it is the end of the last part."""
    num = values.shape[0]
    if num:
        assign(restride(values, (), (), 0), first, "linspace")
    if num > 1 and num > parts:
        assign(restride(values, (), (), num - 1), last, "linspace")


def _step(first: float, last: float, parts: int) -> float:
    if not parts or first == last:
        return 0.0
    distance = last - first
    # If the difference overflows, the difference of the quotients does not.
    return last / parts - first / parts if math.isinf(distance) else distance / parts


def _spaced(first: float, last: float, num: int, parts: int) -> Array:
    """Return ``first + i * (last - first) / parts`` for ``i < num``, in float64."""
    values = _empty((num,), dt.float64)
    step = _step(first, last, parts)
    if step == 0 and first != last and parts:
        # The step underflows although the interval is not empty: divide after multiplying.
        iota(values, 0.0, 1.0)
        return add(multiply(divide(values, float(parts)), last - first), first)
    if math.isinf((num - 1) * step):
        # The distance of the ends may overflow; the distance of their halves does not.
        iota(values, first / 2, step / 2)
        return multiply(values, 2.0)
    iota(values, first, step)
    return values


def _spaced_integers(
    ends: Sequence[Any], floats: tuple[float, float], num: int, parts: int, target: dt.DType
) -> Array:
    """Return the spaced numbers, rounded down to integers; `floats` are the ends in float64.

    They are computed in float64 as in NumPy, unless float64 does not hold the ends.
    """
    if not num:
        return _empty((0,), target)
    first, last = (_integer_below(end, target) for end in ends)
    parts = max(parts, 1)
    each, rest = divmod(last - first, parts)
    whole = all(end == number for end, number in zip(ends, (first, last), strict=True))
    if whole and max(abs(first), abs(last)) > 2**53 and rest * num < 2**64:
        values, rests = _empty((num,), dt.uint64), _empty((num,), dt.uint64)
        # Modulo 2**64, which is also right for steps that do not fit int64.
        iota(values, first, each)
        iota(rests, 0, rest)
        values = add(values, floor_divide(rests, parts))
        final = first + (num - 1) * (last - first) // parts
    else:
        values = floor(_spaced(*floats, num, parts))
        final = _integer_below(floats[0] + (num - 1) * _step(*floats, parts), target)
    final = first if num == 1 else last if parts < num else final
    least, most = limits_of(target)
    for number in (first, final):
        if not least <= number <= most:
            raise RangeError(
                "linspace",
                f"{number} does not fit {target.name}",
                (),
                f"pass numbers from {least} to {most}",
            )
    values = copy(values, target)
    _set_ends(values, first, last, parts)
    return values


def _integer_below(number: float, target: dt.DType) -> int:
    if not math.isfinite(number):
        raise RangeError("linspace", f"{number} does not fit {target.name}", accepts="pass finite numbers")
    return math.floor(number)


@primitive
def meshgrid(*arrays: Array, indexing: Literal["xy", "ij"] = "xy") -> tuple[Array, ...]:
    """Return the coordinates of all points of a grid.

    Parameters
    ----------
    *arrays : Array
        Coordinates along each axis, each of shape ``(n_i,)``, of any dtype.
    indexing : {"xy", "ij"}
        ``"ij"`` gives arrays of shape ``(n_1, n_2, n_3, ...)``; ``"xy"`` swaps the first two axes.

    Returns
    -------
    tuple of Array
        One new array for each argument, with its dtype.

    Raises
    ------
    ShapeError
        If an argument does not have exactly one axis.
    ArgumentValueError
        If `indexing` is unknown.

    Notes
    -----
    The results are copies, so they can be written to. Broadcasting gives the same without copies:
    ``x[:, None]`` with ``y[None, :]``.
    """
    if indexing not in ("xy", "ij"):
        raise ArgumentValueError(
            "meshgrid", f"unknown indexing {shown(indexing)}", accepts='pass indexing="xy" or "ij"'
        )
    for i, x in enumerate(arrays):
        if check_array("meshgrid", x, f"arrays[{i}]").ndim != 1:
            raise ShapeError(
                "meshgrid", f"arrays[{i}] must have one axis, not {x.ndim}", [(f"arrays[{i}]", str(x.shape))]
            )
    axes = list(range(len(arrays)))
    if indexing == "xy" and len(arrays) > 1:
        axes[:2] = 1, 0
    sizes = [0] * len(arrays)
    for x, axis in zip(arrays, axes, strict=True):
        sizes[axis] = x.shape[0]
    shape = normalize_shape("meshgrid", tuple(sizes))
    results = []
    for x, axis in zip(arrays, axes, strict=True):
        broadcast_strides = tuple(strides(x)[0] if k == axis else 0 for k in range(len(shape)))
        results.append(copy(restride(x, shape, broadcast_strides), None, "C"))
    return tuple(results)


@intercepted
def ones(shape: ShapeLike, *, dtype: DTypeLike | None = None, device: DeviceLike = None) -> Array:
    """Return an array of ones."""


@primitive
def ones_like(
    x: Array, /, *, dtype: DTypeLike | None = None, device: DeviceLike = None, shape: ShapeLike | None = None
) -> Array:
    """Return an array of ones with the shape of another array."""


@primitive
def tril(x: Array, /, *, k: int = 0) -> Array:
    """Return the lower triangles of matrices, with zeros above.

    Parameters
    ----------
    k : int
        Last diagonal to keep: 0 is the main diagonal, positive numbers lie above it, negative numbers below.
    """
    x, below = _on_or_below("tril", x, k)
    return where(below, x, _zeros((), x.dtype))


@primitive
def triu(x: Array, /, *, k: int = 0) -> Array:
    """Return the upper triangles of matrices, with zeros below.

    Parameters
    ----------
    k : int
        First diagonal to keep: 0 is the main diagonal, positive numbers lie above it, negative numbers below.
    """
    # Elements strictly below diagonal k are on or below diagonal k - 1.
    x, below = _on_or_below("triu", x, k, 1)
    return where(below, _zeros((), x.dtype), x)


def _on_or_below(op: str, x: Array, k: int, less: int = 0) -> tuple[Array, Array]:
    """Return `x` and a mask of ``column - row <= k - less``, of the shape of a matrix."""
    x = check_array(op, x)
    if x.ndim < 2:
        raise ShapeError(
            op,
            "x must have at least two axes",
            [("x", str(x.shape))],
            "pass a matrix, or a stack of matrices in the last two axes",
        )
    n_rows, n_cols = x.shape[-2:]
    k = normalize_index(op, "k", k) - less
    rows, columns = _empty((n_rows,), dt.int64), _empty((n_cols,), dt.int64)
    # All diagonals beyond a corner give the same result; clipping avoids overflow.
    iota(rows, max(-n_rows - 1, min(k, n_cols)), 1)
    iota(columns, 0, 1)
    return x, less_equal(restride(columns, (1, n_cols), (0, 1)), restride(rows, (n_rows, 1), (1, 0)))


@intercepted
def zeros(shape: ShapeLike, *, dtype: DTypeLike | None = None, device: DeviceLike = None) -> Array:
    """Return an array of zeros."""


@primitive
def zeros_like(
    x: Array, /, *, dtype: DTypeLike | None = None, device: DeviceLike = None, shape: ShapeLike | None = None
) -> Array:
    """Return an array of zeros with the shape of another array."""
