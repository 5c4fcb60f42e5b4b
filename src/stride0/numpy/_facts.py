"""Grids by slices, and facts about arrays and dtypes, with NumPy's signatures."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentTypeError, ArgumentValueError
from stride0._core.array.array import Array
from stride0._core.exchange.numpy_calls import numpy
from stride0.numpy._creation import along
from stride0.numpy._parts import SCALARS, common_dtype, dtype_of, native
from stride0.numpy._parts import array as as_array

# --- grids by slices


class _Grid:
    def __init__(self, sparse: bool) -> None:
        self._sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        alone = not isinstance(key, tuple)
        parts = [_of_slice(part) for part in ((key,) if alone else key)]
        if alone:
            return parts[0]
        dtype = common_dtype(*parts)
        parts = [xp.astype(part, dtype) for part in parts]
        found = [along(parts, k, "ij") for k in range(len(parts))]
        if self._sparse:
            return tuple(found)
        shape = tuple(part.size for part in parts)
        return xp.stack([xp.broadcast_to(part, shape) for part in found])


def _of_slice(part: Any) -> Array:
    start, step = part.start or 0, 1 if part.step is None else part.step
    if isinstance(step, complex):
        return xp.linspace(float(start), float(part.stop), int(abs(step)))
    return xp.arange(start, part.stop, step)


mgrid, ogrid = _Grid(False), _Grid(True)


class _Index:
    def __init__(self, always: bool) -> None:
        self._always = always

    def __getitem__(self, key: Any) -> Any:
        return (key,) if self._always and not isinstance(key, tuple) else key


s_, index_exp = _Index(False), _Index(True)


class _Joined:
    """`r_` and `c_`: join numbers, slices and arrays."""

    def __init__(self, columns: bool) -> None:
        self._columns = columns

    def __getitem__(self, key: Any) -> Array:
        parts = []
        for part in key if isinstance(key, tuple) else (key,):
            if isinstance(part, str):
                raise ArgumentValueError(
                    "r_", f"the key is the string {part!r}", (), "call concatenate or stack instead"
                )
            found = _of_slice(part) if isinstance(part, slice) else as_array(part)
            if self._columns:
                found = xp.reshape(found, (-1, 1)) if found.ndim < 2 else found
            parts.append(xp.reshape(found, (1,)) if found.ndim == 0 else found)
        return xp.concat(parts, axis=-1 if self._columns else 0)


r_, c_ = _Joined(False), _Joined(True)


# --- facts


def shape(a: Any) -> tuple[int, ...]:
    """Return the shape."""
    return as_array(a).shape


def ndim(a: Any) -> int:
    """Return the number of axes."""
    return as_array(a).ndim


def size(a: Any, axis: Any = None) -> int:
    """Return the number of elements, or the size of an axis."""
    found = as_array(a)
    return found.size if axis is None else found.shape[axis]


def isscalar(element: Any) -> bool:
    """Return whether a value is a scalar."""
    return isinstance(element, (*SCALARS, str, bytes)) or numpy().isscalar(element)


def result_type(*arrays_and_dtypes: Any) -> Any:
    """Return the dtype that operands promote to."""
    given = [dtype_of("result_type", x) if isinstance(x, (str, type)) else x for x in arrays_and_dtypes]
    given = [native(x) if isinstance(x, Array) else getattr(x, "name", x) for x in given]
    return dtype_of("result_type", numpy().result_type(*given))


def promote_types(type1: Any, type2: Any) -> Any:
    """Return the dtype that two dtypes promote to."""
    return result_type(dtype_of("promote_types", type1), dtype_of("promote_types", type2))


def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """Return whether a cast is possible, by NumPy's rules."""
    given = native(from_) if isinstance(from_, Array) else numpy().dtype(getattr(from_, "name", from_))
    return bool(numpy().can_cast(given, getattr(to, "name", to), casting))


def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Return whether a dtype is of a kind."""
    return bool(numpy().issubdtype(*(getattr(x, "name", x) for x in (arg1, arg2))))


def finfo(dtype: Any) -> Any:
    """Return the limits of a floating-point dtype."""
    wanted: Any = dtype if isinstance(dtype, Array) else dtype_of("finfo", dtype)
    return xp.finfo(wanted)


def iinfo(dtype: Any) -> Any:
    """Return the limits of an integer dtype."""
    wanted: Any = dtype if isinstance(dtype, Array) else dtype_of("iinfo", dtype)
    return xp.iinfo(wanted)


def dtype(dtype: Any) -> Any:
    """Return a stride0 dtype, given any name of a dtype."""
    return dtype_of("dtype", dtype)


def isdtype(dtype: Any, kind: Any) -> bool:
    """Return whether a dtype is of a kind."""
    kinds = kind if isinstance(kind, tuple) else (kind,)
    wanted = tuple(k if isinstance(k, str) else numpy().dtype(getattr(k, "name", k)) for k in kinds)
    return bool(numpy().isdtype(numpy().dtype(getattr(dtype, "name", dtype)), wanted))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Return whether two arrays have one shape and equal elements."""
    a1, a2 = as_array(a1), as_array(a2)
    if a1.shape != a2.shape:
        return False
    same = a1 == a2
    return bool(xp.all(same | ((a1 != a1) & (a2 != a2)) if equal_nan else same))


def array_equiv(a1: Any, a2: Any) -> bool:
    """Return whether two arrays are equal after broadcasting."""
    a1, a2 = as_array(a1), as_array(a2)
    try:
        xp.broadcast_shapes(a1.shape, a2.shape)
    except ValueError:
        return False
    return bool(xp.all(a1 == a2))


def iscomplexobj(x: Any) -> bool:
    """Return whether the dtype is complex."""
    return as_array(x).dtype.kind == "complex floating"


def isrealobj(x: Any) -> bool:
    """Return whether the dtype is not complex."""
    return not iscomplexobj(x)


def shares_memory(a: Array, b: Array) -> bool:
    """Return whether the elements of two arrays share memory."""
    return bool(numpy().shares_memory(a, b))


def common_type(*arrays: Any) -> Any:
    """Return the floating-point dtype that holds the elements of all arrays; integers take float64."""
    found = [as_array(a).dtype for a in arrays]
    if any(dtype.kind == "bool" for dtype in found):
        raise ArgumentTypeError("common_type", "an array is of dtype bool", (), "pass numbers")
    return xp.result_type(*[x if "floating" in x.kind else xp.float64 for x in found] or [xp.float16])


def _check_modes(operation: str, **kinds: Any) -> None:
    for kind, mode in kinds.items():
        if mode not in (None, "ignore", "warn"):
            accepts = "leave it out, and test the result by isfinite"
            raise ArgumentValueError(operation, f"{kind} is {mode!r}", (), accepts)


@contextlib.contextmanager
def errstate(**kinds: Any) -> Iterator[None]:
    """Do nothing: no function warns of numbers. Modes that would raise are refused."""
    _check_modes("errstate", **kinds)
    yield


def geterr() -> dict[str, str]:
    """Return what happens at floating-point errors: nothing."""
    return dict.fromkeys(("divide", "over", "under", "invalid"), "ignore")


def seterr(
    all: Any = None, divide: Any = None, over: Any = None, under: Any = None, invalid: Any = None
) -> dict[str, str]:
    """Return the result of `geterr`; like `errstate`, change nothing."""
    _check_modes("seterr", all=all, divide=divide, over=over, under=under, invalid=invalid)
    return geterr()


OBJECTS = {"mgrid": mgrid, "ogrid": ogrid, "s_": s_, "index_exp": index_exp, "r_": r_, "c_": c_}
