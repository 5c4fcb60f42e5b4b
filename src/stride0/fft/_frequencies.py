"""Frequencies of the FFT extension, `stride0.fft`: their values and their order."""

from __future__ import annotations

from collections.abc import Sequence

from stride0._base.devices import DeviceLike, check_device
from stride0._base.errors import ArgumentTypeError, ArgumentValueError, brief, shown
from stride0._base.shapes import normalize_index
from stride0._core.array.array import Array, empty, restride
from stride0._core.call.binding import intercepted_in, primitive_in
from stride0._core.call.checks import as_float, as_scalar, check_dtype, refuse_dtype
from stride0._core.elementwise.elementwise import copy, iota
from stride0._core.elementwise.functions import divide
from stride0._core.memory import dtype as dt
from stride0._core.memory.dtype import DType, DTypeLike

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]


@intercepted_in("fft")
def fftfreq(n: int, /, *, d: float = 1.0, dtype: DTypeLike | None = None, device: DeviceLike = None) -> Array:
    """Return the frequencies of the elements of :func:`fft`.

    Returns
    -------
    Array
        New array of shape ``(n,)``: ``[0, 1, ..., (n - 1) // 2, -(n // 2), ..., -1] / (d * n)``.
    """
    n, spacing, target = _frequency_arguments("fftfreq", n, d, dtype, device)
    half = (n + 1) // 2
    result = empty((n,), dt.float64)
    iota(restride(result, (half,), (1,)), 0, 1)
    iota(restride(result, (n - half,), (1,), half if n > half else 0), -(n // 2), 1)
    return _as_dtype(divide(result, spacing), target)


@intercepted_in("fft")
def rfftfreq(
    n: int, /, *, d: float = 1.0, dtype: DTypeLike | None = None, device: DeviceLike = None
) -> Array:
    """Return the frequencies of the elements of :func:`rfft`.

    Returns
    -------
    Array
        New array of shape ``(n // 2 + 1,)``: ``[0, 1, ..., n // 2] / (d * n)``.
    """
    n, spacing, target = _frequency_arguments("rfftfreq", n, d, dtype, device)
    result = empty((n // 2 + 1,), dt.float64)
    iota(result, 0, 1)
    return _as_dtype(divide(result, spacing), target)


def _frequency_arguments(
    op: str, n: object, d: object, dtype: object, device: object
) -> tuple[int, float, DType]:
    """Return the length, the length times the sample spacing, and the dtype of the result."""
    check_device(op, device)
    length = normalize_index(op, "n", n)
    if length < 1 or length.bit_length() > 63:
        raise ArgumentValueError(op, "n must be at least 1, and less than 2**63", [("n", brief(length))])
    spacing = as_scalar(op, "d", d)
    if isinstance(spacing, (bool, complex)):
        raise ArgumentTypeError(op, "d must be a real number", [("d", shown(d))])
    if spacing == 0:
        raise ArgumentValueError(op, "d must not be 0", [("d", shown(d))])
    target = check_dtype(op, dtype, dt.float64)
    if target.kind != "real floating":
        refuse_dtype(op, target, "a real floating-point dtype", "the result")
    return length, as_float(op, spacing) * length, target


def _as_dtype(x: Array, dtype: DType) -> Array:
    return x if x.dtype is dtype else copy(x, dtype)


@primitive_in("fft")
def fftshift(x: Array, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """Move the zero frequency from the front to the middle."""


@primitive_in("fft")
def ifftshift(x: Array, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """Move the zero frequency from the middle to the front: the inverse of :func:`fftshift`."""
