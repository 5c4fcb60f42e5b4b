"""Data type functions, and the checks of array and dtype arguments that every chapter uses.

References
----------
Array API standard 2025.12, "Data Type Functions" and "Type Promotion Rules".
"""

from __future__ import annotations

from stride0._base.devices import Device
from stride0._core.array.array import Array
from stride0._core.array.modes import is_strict
from stride0._core.call.binding import intercepted, primitive
from stride0._core.call.checks import (
    KINDS,
    check_dtype,
    component_dtype,
    dtype_of,
    limits_of,
    promotes,
    refuse_dtype,
)
from stride0._core.manipulation.manipulation import FINFOS, IINFOS
from stride0._core.memory.dtype import DType, DTypeLike, promote
from stride0._tables.dtypes import CODES, ROWS

__all__ = ["astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type"]

# The chapter


class finfo_object:
    """The result of :func:`finfo`: limits of a real floating-point dtype, as Python numbers.

    Attributes
    ----------
    bits : int
        Number of bits of an element.
    eps : float
        Distance from 1.0 to the next larger number.
    max, min : float
        Largest and smallest finite number.
    smallest_normal : float
        Smallest positive number with full precision.
    dtype : DType
        The dtype; for a complex dtype the dtype of a component.
    """

    __slots__ = ("bits", "dtype", "eps", "max", "min", "smallest_normal")

    def __init__(self, dtype: DType) -> None:
        self.bits: int = 8 * dtype.itemsize
        row = ROWS[CODES[dtype.name]]
        self.eps: float = 2.0**-row.fraction
        self.max: float = (2.0 - self.eps) * 2.0**row.exponent
        self.min: float = -self.max
        self.smallest_normal: float = 2.0 ** (1 - row.exponent)
        self.dtype: DType = dtype

    def __repr__(self) -> str:
        return (
            f"finfo(dtype={self.dtype.name}, bits={self.bits}, eps={self.eps}, "
            f"min={self.min}, max={self.max}, smallest_normal={self.smallest_normal})"
        )


class iinfo_object:
    """The result of :func:`iinfo`: limits of an integer dtype, as Python integers.

    Attributes
    ----------
    bits : int
        Number of bits of an element.
    max, min : int
        Largest and smallest number.
    dtype : DType
        The dtype.
    """

    __slots__ = ("bits", "dtype", "max", "min")

    def __init__(self, dtype: DType) -> None:
        self.bits: int = 8 * dtype.itemsize
        self.min, self.max = limits_of(dtype)
        self.dtype: DType = dtype

    def __repr__(self) -> str:
        return f"iinfo(dtype={self.dtype.name}, bits={self.bits}, min={self.min}, max={self.max})"


@primitive
def astype(x: Array, dtype: DTypeLike, /, *, copy: bool = True, device: Device | str | None = None) -> Array:
    """Cast an array to a dtype.

    Parameters
    ----------
    dtype : DType
        The dtype to cast to. Casts from complex to real are refused; all other casts are done: floats are
        truncated towards zero, integers wrap, non-zero numbers become True.
    copy : bool
        Whether to copy if `x` already has this dtype.
    device : Device, optional
        Device of the result; there is only one.

    Returns
    -------
    Array
        An array of the shape of `x`: a new one, or `x` itself if it has the dtype and `copy` is False.

    Raises
    ------
    CastError
        If `x` is complex and `dtype` is real. It is a TypeError.
    """


@intercepted
def can_cast(from_: DTypeLike | Array, to: DTypeLike, /) -> bool:
    """Tell whether a dtype can be promoted to another dtype.

    Parameters
    ----------
    from_ : DType or Array
        The dtype to cast from; for an array, its dtype.
    to : DType
        The dtype to cast to.

    Returns
    -------
    bool
        True if the two dtypes promote to `to`.

    Notes
    -----
    Mixed kinds, for which the standard has no entry, follow NumPy's table: int64 can be cast to float64. In
    strict mode (`stride0.strict`) it cannot.
    """
    target = check_dtype("can_cast", to)
    source = dtype_of("can_cast", from_)
    if is_strict() and not promotes(source, target):
        return False
    return promote(source, target) is target


@intercepted
def finfo(type: DTypeLike | Array, /) -> finfo_object:
    """Return the limits of a floating-point dtype.

    Parameters
    ----------
    type : DType or Array
        Real or complex floating-point dtype, or an array of such a dtype. A complex dtype counts as the dtype
        of its components.

    Returns
    -------
    finfo_object
        ``bits``, ``eps``, ``max``, ``min``, ``smallest_normal`` and ``dtype``.
    """
    given = dtype_of("finfo", type)
    found = FINFOS.get(given)
    if found is None:
        dtype = component_dtype(given)
        if dtype.kind != "real floating":
            refuse_dtype("finfo", dtype, "a floating-point dtype, or call iinfo", "type")
        found = FINFOS[given] = finfo_object(dtype)
    return found


@intercepted
def iinfo(type: DTypeLike | Array, /) -> iinfo_object:
    """Return the limits of an integer dtype.

    Parameters
    ----------
    type : DType or Array
        Integer dtype, or an array of such a dtype.

    Returns
    -------
    iinfo_object
        ``bits``, ``max``, ``min`` and ``dtype``.
    """
    dtype = dtype_of("iinfo", type)
    found = IINFOS.get(dtype)
    if found is None:
        if dtype.kind not in KINDS["integral"]:
            refuse_dtype("iinfo", dtype, "an integer dtype, or call finfo", "type")
        found = IINFOS[dtype] = iinfo_object(dtype)
    return found


@intercepted
def isdtype(dtype: DTypeLike, kind: DType | str | tuple[DType | str, ...]) -> bool:
    """Tell whether a dtype is of a kind.

    Parameters
    ----------
    dtype : DType
        The dtype to test.
    kind : DType, str or tuple of them
        A dtype; or ``"bool"``, ``"signed integer"``, ``"unsigned integer"``, ``"integral"``,
        ``"real floating"``, ``"complex floating"``, ``"numeric"``; or a tuple of these, one of which must
        match.

    Returns
    -------
    bool
        Whether `dtype` is of the kind.

    Raises
    ------
    ArgumentValueError
        If a kind is unknown.
    """


@intercepted
def result_type(*arrays_and_dtypes: Array | int | float | complex | bool | DTypeLike) -> DType:
    """Return the dtype that arrays, dtypes and Python scalars promote to.

    Parameters
    ----------
    *arrays_and_dtypes : Array, DType, bool, int, float or complex
        At least one array or dtype. Python scalars are weak: only their kind counts.

    Returns
    -------
    DType
        The dtype of an operation on all of them, in any order.

    Raises
    ------
    ArgumentValueError
        If there is neither an array nor a dtype.
    """
