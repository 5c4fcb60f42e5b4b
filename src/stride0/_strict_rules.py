"""Strict mode: a call compared with what the standard says of its arguments.

What a function refuses by itself is left to it; here is what works and is not in the standard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from stride0._core.array import Array, is_numpy_scalar
from stride0._core.dtype import DType, promote
from stride0._data_types import iinfo_object, promotes
from stride0._errors import StrictError, brief
from stride0._optable import KINDS
from stride0._standard import ROWS, Row

__all__ = ["check_call"]

LETTERS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "real floating": "f",
    "complex floating": "c",
}
# The kinds of dtypes beside which a Python scalar is defined.
BESIDE: dict[type, str] = {bool: "b", int: "iufc", float: "fc", complex: "fc"}
SCALARS = (bool, int, float, complex)

PROMOTION = "Type Promotion Rules"
MIXED = f"{PROMOTION}: mixed kinds of dtypes are not specified"
BESIDE_ARRAYS = (
    f"{PROMOTION}, mixing arrays with Python scalars: a scalar is of a kind that the array's dtype holds"
)
COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")

Arguments = dict[str, Any]


def check_call(way: str, name: str, args: tuple[Any, ...], kwargs: Arguments) -> None:
    """
    Raise StrictError for what the standard does not define.

    Parameters
    ----------
    way : str
        "function", "operator", "in-place", "getitem" or "setitem".
    name : str
        Of the function; those of an extension begin with its name.
    args, kwargs : tuple and dict
        Of the call.
    """
    if way == "getitem":
        check_key(args[0], args[1], False)
        return
    if way == "setitem":
        check_key(args[0], args[1], True)
        _check_value(args[0], args[2])
        return
    row = ROWS.get(name)
    if row is None:
        raise StrictError(name, "the function is called", "the standard has no function of this name")
    if row.together and not kwargs and row.together == row.parameters and len(args) == 2:
        # Most calls by far, and nothing more to look at.
        x1, x2 = args
        if isinstance(x1, Array) and isinstance(x2, Array) and x1.dtype is x2.dtype:
            kind = row.arrays[row.together[0]]
            if not kind or LETTERS[x1.dtype.kind] in KINDS[kind]:
                return
    given = _bind(row, args, kwargs)
    _check_others(name, row, given)
    arrays = [
        (label, parameter, value) for parameter in row.arrays for label, value in _values(parameter, given)
    ]
    for label, parameter, value in arrays:
        _check_array(name, row, label, parameter, value)
    if row.together:
        _check_together(name, row, [(label, p, value) for label, p, value in arrays if p in row.together])
    if name in MORE:
        MORE[name](name, given)


def _bind(row: Row, args: tuple[Any, ...], kwargs: Arguments) -> Arguments:
    """Return the arguments by name; all positional ones together where the function takes any number."""
    names = row.parameters
    if names == ("arrays",) and not (len(args) == 1 and isinstance(args[0], (tuple, list))):
        return {"arrays": args, **kwargs}
    if not names:
        return {"": args, **kwargs}
    return {**dict(zip(names, args, strict=False)), **kwargs}


def _values(parameter: str, given: Arguments) -> Iterator[tuple[str, Any]]:
    """Yield what was given for a parameter, one by one where it is a sequence of arrays."""
    value = given.get(parameter)
    if parameter == "arrays" and isinstance(value, (tuple, list)):
        yield from ((f"arrays[{k}]", item) for k, item in enumerate(value))
    elif value is not None:
        yield parameter, value


def _check_others(name: str, row: Row, given: Arguments) -> None:
    """Look at arguments that are no arrays."""
    sequences = row.chapter == "Fourier transforms" or name == "tensordot"
    for parameter, value in given.items():
        place = f"{row.chapter}: {parameter} of {name}"
        if parameter in row.arrays or (name, parameter) in ANYTHING or not parameter:
            continue
        if (name, parameter) in BEYOND and value is not None:
            raise StrictError(name, f"{parameter} is given", f"{row.chapter}: {name} has no {parameter}")
        if isinstance(value, Array):
            raise StrictError(name, f"{parameter} is an array", f"{place} is none")
        if is_numpy_scalar(value):
            raise StrictError(name, f"{parameter} is a NumPy scalar", f"{place} is a Python scalar")
        if parameter == "device" and isinstance(value, str):
            raise StrictError(
                name, "device is a string", "Device support: a device is an object of the library"
            )
        if parameter in row.tuples and isinstance(value, int):
            raise StrictError(name, f"{parameter} is an integer", f"{place} is a tuple of integers")
        if isinstance(value, list) and not sequences:
            raise StrictError(name, f"{parameter} is a list", f"{place} is a tuple, where it is no integer")


# Parameters that NumPy has and the standard has not.
BEYOND = frozenset((f"{name}_like", "shape") for name in ("empty", "full", "ones", "zeros"))
# Parameters that take all sorts of things.
ANYTHING = frozenset(
    {("asarray", "obj"), ("from_dlpack", "x"), ("can_cast", "from_"), ("finfo", "type"), ("iinfo", "type")}
)


def _check_array(name: str, row: Row, label: str, parameter: str, value: Any) -> None:
    """Look at the type and the dtype of an argument that is to be an array."""
    place = f"{row.chapter}: {parameter} of {name}"
    if isinstance(value, Array):
        kind = row.arrays[parameter]
        if kind and LETTERS[value.dtype.kind] not in KINDS[kind]:
            raise StrictError(
                name, f"{label} is of dtype {value.dtype.name}", f"{place} has {_an(kind)} dtype"
            )
    elif is_numpy_scalar(value):
        raise StrictError(
            name, f"{label} is a NumPy scalar", f"{PROMOTION}: operands are arrays and Python scalars"
        )
    elif isinstance(value, SCALARS) and parameter not in row.scalars:
        raise StrictError(name, f"{label} is a Python {type(value).__name__}", f"{place} is an array")


def _an(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _check_together(name: str, row: Row, operands: list[tuple[str, str, Any]]) -> None:
    """Look at operands that have to combine to one dtype."""
    arrays = [
        (label, parameter, value.dtype) for label, parameter, value in operands if isinstance(value, Array)
    ]
    scalars = [(label, value) for label, _, value in operands if isinstance(value, SCALARS)]
    if not arrays:
        if scalars:
            labels = " and ".join(label for label, _ in scalars)
            raise StrictError(
                name, f"{labels} are Python scalars", f"{row.chapter}: one operand of {name} is an array"
            )
        return
    first, _, combined = arrays[0]
    for label, parameter, dtype in arrays[1:]:
        if parameter in row.equal and dtype is not arrays[0][2]:
            fact = f"{label} is of dtype {dtype.name}, {first} of {arrays[0][2].name}"
            raise StrictError(name, fact, f"{row.chapter}: arrays given to {name} have one dtype")
        if not promotes(combined, dtype):
            fact = f"{label} is of dtype {dtype.name} beside {combined.name}"
            raise StrictError(name, fact, MIXED)
        combined = promote(combined, dtype)
    for label, value in scalars:
        check_scalar(name, label, value, combined)


def check_scalar(name: str, label: str, value: Any, dtype: DType) -> None:
    """Look at a Python scalar beside an array of a dtype."""
    kind = next(kind for kind in SCALARS if isinstance(value, kind))
    letter = LETTERS[dtype.kind]
    if letter not in BESIDE[kind]:
        fact = f"{label} is a Python {kind.__name__} beside an array of dtype {dtype.name}"
        raise StrictError(name, fact, BESIDE_ARRAYS)
    # Arithmetic raises RangeError by itself; comparisons have an answer.
    if kind is int and letter in "iu" and name in COMPARISONS:
        limits = iinfo_object(dtype)
        if not limits.min <= value <= limits.max:
            fact = f"{label} is {brief(value)}, beyond the bounds of {dtype.name}"
            raise StrictError(
                name, fact, f"{PROMOTION}: behaviour is not specified for integers out of bounds"
            )


# --- functions of which there is more to say


def _check_fill(name: str, given: Arguments) -> None:
    value, dtype = given.get("fill_value"), given.get("dtype")
    if dtype is None and isinstance(given.get("x"), Array):
        dtype = given["x"].dtype
    if isinstance(value, SCALARS) and isinstance(dtype, DType):
        check_scalar(name, "fill_value", value, dtype)


def _check_linspace(name: str, given: Arguments) -> None:
    dtype = given.get("dtype")
    if isinstance(dtype, DType) and LETTERS[dtype.kind] not in "fc":
        raise StrictError(
            name,
            f"dtype is {dtype.name}",
            "Creation Functions: linspace with an integer dtype is not specified",
        )


def _check_take(name: str, given: Arguments) -> None:
    indices = given.get("indices")
    if isinstance(indices, Array) and indices.ndim != 1:
        raise StrictError(
            name, f"indices have {indices.ndim} axes", "Indexing Functions: indices of take have one axis"
        )


def _check_cumulative(name: str, given: Arguments) -> None:
    if isinstance(given.get("x"), Array) and given["x"].ndim == 0:
        raise StrictError(name, "x has no axes", f"Statistical Functions: x of {name} has one or more axes")


def _check_result_type(name: str, given: Arguments) -> None:
    operands = given.get("", ())
    dtypes = [x if isinstance(x, DType) else x.dtype for x in operands if isinstance(x, (Array, DType))]
    if not dtypes:
        return
    combined = dtypes[0]
    for dtype in dtypes[1:]:
        if not promotes(combined, dtype):
            raise StrictError(name, f"{dtype.name} beside {combined.name}", MIXED)
        combined = promote(combined, dtype)
    for k, value in enumerate(operands):
        if is_numpy_scalar(value):
            raise StrictError(name, f"argument {k} is a NumPy scalar", "Data Type Functions: Python scalars")
        if isinstance(value, SCALARS):
            check_scalar(name, f"argument {k}", value, combined)


def _check_asarray(name: str, given: Arguments) -> None:
    obj, dtype = given.get("obj"), given.get("dtype")
    if isinstance(obj, (list, tuple)) and _holds_array(obj, 0):
        raise StrictError(
            name, "a sequence holds arrays", "Creation Functions: stack joins arrays, not asarray"
        )
    if isinstance(obj, Array) and isinstance(dtype, DType) and not _promotes_to(obj.dtype, dtype):
        fact = f"an array of dtype {obj.dtype.name} is to become {dtype.name}"
        raise StrictError(name, fact, "Creation Functions: asarray promotes; astype casts")


def _promotes_to(source: DType, target: DType) -> bool:
    return promotes(source, target) and promote(source, target) is target


def _holds_array(obj: Any, least: int) -> bool:
    """Tell whether a sequence holds arrays of `least` axes or more, or of one axis or more further inside."""
    # The official suite itself writes matrices as lists of lists of elements of arrays.
    return any(
        x.ndim >= least if isinstance(x, Array) else isinstance(x, (list, tuple)) and _holds_array(x, 1)
        for x in obj
    )


MORE: dict[str, Callable[[str, Arguments], None]] = {
    "asarray": _check_asarray,
    "full": _check_fill,
    "full_like": _check_fill,
    "linspace": _check_linspace,
    "take": _check_take,
    "cumulative_sum": _check_cumulative,
    "cumulative_prod": _check_cumulative,
    "result_type": _check_result_type,
}


# --- keys


def check_key(x: Array, key: Any, assigning: bool) -> None:
    """
    Look at what stands between brackets.

    Parameters
    ----------
    x : Array
        What is indexed.
    key : object
        The key.
    assigning : bool
        Whether something is assigned to ``x[key]``.
    """
    op = "setitem" if assigning else "getitem"
    items = key if isinstance(key, tuple) else (key,)
    masks = [item for item in items if isinstance(item, Array) and item.dtype.kind == "bool"]
    if masks:
        if len(items) > 1:
            raise StrictError(
                op, "a mask beside other indices", "Indexing: a boolean array is the sole index"
            )
        return
    for item in items:
        _check_item(op, item, assigning)
    arrays = [item for item in items if isinstance(item, Array) and item.ndim]
    plain = [item for item in items if item is not None and item is not Ellipsis]
    if arrays and (len(plain) < len(items) or any(isinstance(item, slice) for item in items)):
        fact = "an array of indices beside slices, ... or None"
        raise StrictError(op, fact, "Indexing: integer arrays stand beside integers and integer arrays alone")
    dots = [item is Ellipsis for item in items].count(True)
    if dots == 0 and len(plain) < x.ndim:
        fact = f"{len(plain)} indices for an array of {x.ndim} axes"
        raise StrictError(op, fact, "Indexing, multi-axis: one index per axis, or one ... for those left out")
    if dots <= 1 and len(plain) <= x.ndim:
        for item, size in zip(plain, _sizes_at(items, x), strict=True):
            if isinstance(item, slice):
                _check_slice(op, item, size)


def _check_item(op: str, item: Any, assigning: bool) -> None:
    if item is None:
        if assigning:
            raise StrictError(op, "None among the indices", "Array object, __setitem__: keys without None")
    elif isinstance(item, bool):
        raise StrictError(op, "a Python bool as index", "Indexing: integers, slices, ..., None and arrays")
    elif isinstance(item, Array):
        if assigning and "integer" in item.dtype.kind:
            raise StrictError(
                op, "assignment at an array of indices", "Array object, __setitem__: not specified"
            )
    elif not (item is Ellipsis or isinstance(item, slice) or _is_integer(item)):
        fact = f"a {type(item).__name__} as index"
        raise StrictError(op, fact, "Indexing: integers, slices, ..., None and arrays of the library")


def _is_integer(item: Any) -> bool:
    # Arrays of other libraries can be integers too, where they have no axes.
    return hasattr(type(item), "__index__") and not hasattr(type(item), "__len__")


def _sizes_at(items: tuple[Any, ...], x: Array) -> list[int]:
    """Return the sizes of the axes that the items of a key other than ... and None are for."""
    after: list[int] = []
    count = sum(item is not None and item is not Ellipsis for item in items)
    before = 0
    for item in items:
        if item is Ellipsis:
            after = list(range(x.ndim - count + before, x.ndim))
            break
        before += item is not None
    return [x.shape[axis] for axis in [*range(before), *after]][:count]


def _check_slice(op: str, item: slice, size: int) -> None:
    step = 1 if item.step is None else item.step
    low, high = (-size, size) if _number(step) > 0 else (-size - 1, max(0, size - 1))
    for name, value, first, last in (("start", item.start, -size, size), ("stop", item.stop, low, high)):
        if value is not None and not first <= _number(value) <= last:
            fact = f"{name} {brief(_number(value))} of a slice of an axis of size {size}"
            sentence = (
                f"Indexing, slice syntax: a {name} from {first} to {last} here; beyond is not specified"
            )
            raise StrictError(op, fact, sentence)


def _number(value: Any) -> int:
    # Whatever is no integer is refused by the indexing itself.
    return value.__index__() if hasattr(type(value), "__index__") else 0


def _check_value(x: Array, value: Any) -> None:
    """Look at what is assigned."""
    if isinstance(value, Array):
        if not _promotes_to(value.dtype, x.dtype):
            fact = f"a value of dtype {value.dtype.name} for an array of dtype {x.dtype.name}"
            raise StrictError(
                "setitem", fact, "Array object, __setitem__: the value promotes to the array's dtype"
            )
    elif is_numpy_scalar(value) or not isinstance(value, SCALARS):
        fact = (
            "a NumPy scalar is assigned"
            if is_numpy_scalar(value)
            else f"a {type(value).__name__} is assigned"
        )
        raise StrictError("setitem", fact, "Array object, __setitem__: values are arrays and Python scalars")
    else:
        check_scalar("setitem", "the value", value, x.dtype)
        if isinstance(value, complex) and x.dtype.kind == "real floating":
            fact = f"a Python complex for an array of dtype {x.dtype.name}"
            raise StrictError(
                "setitem", fact, "Array object, __setitem__: the value promotes to the array's dtype"
            )
