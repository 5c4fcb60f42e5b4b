"""Strict mode: checks of a call's arguments against the standard.

Functions refuse bad arguments themselves; these rules refuse calls that work but are not in the standard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from stride0._base.devices import BY_NAME
from stride0._base.errors import StrictError, brief
from stride0._chapters.data_types import iinfo_object
from stride0._core.array.array import Array
from stride0._core.array.modes import frame_of_caller
from stride0._core.call.checks import promotes
from stride0._core.elementwise.elementwise import is_numpy_scalar
from stride0._core.exchange.exchange import asarray
from stride0._core.memory.dtype import STANDARD_DTYPES, DType, known_dtype, promote
from stride0._modes.strict_forms import form_of
from stride0._modes.strict_keys import check_key
from stride0._modes.strict_values import CHECKS
from stride0._tables.operations import KINDS
from stride0._tables.standard import NEWEST, ROWS, Row, row_of

__all__ = ["check_call"]

LETTERS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "real floating": "f",
    "complex floating": "c",
}
# The kinds of dtypes with which a Python scalar may be combined.
BESIDE: dict[type, str] = {bool: "b", int: "iufc", float: "fc", complex: "fc"}
SCALARS = (bool, int, float, complex)
STANDARD = frozenset(STANDARD_DTYPES)

PROMOTION = "Type Promotion Rules"
MIXED = f"{PROMOTION}: mixed kinds of dtypes are not specified"
BESIDE_ARRAYS = (
    f"{PROMOTION}, mixing arrays with Python scalars: a scalar is of a kind that the array's dtype holds"
)
OPERANDS = f"{PROMOTION}: operands are arrays and Python scalars"
EQUALITIES = ("equal", "not_equal")
COMPARISONS = (*EQUALITIES, "less", "less_equal", "greater", "greater_equal")

Arguments = dict[str, Any]
KEYED = ("getitem", "setitem")
# The forms of calls that passed.
PASSED: set[tuple[Any, ...]] = set()
MAX_FORMS = 4096


def check_call(
    call_kind: str, name: str, args: tuple[Any, ...], kwargs: Arguments, version: str = NEWEST
) -> None:
    """Raise StrictError for a call that the standard does not define.

    `call_kind` is "function", "operator", "in-place", "getitem" or "setitem"; the name of a function in an
    extension begins with the extension's name.
    """
    by_value = call_kind in KEYED or name in CHECKS or (name in COMPARISONS and int in map(type, args))
    form = None if by_value else form_of(call_kind, name, version, args, kwargs)
    if form in PASSED:
        return
    _check_call(call_kind, name, args, kwargs, version)
    if form is not None and name in ROWS and len(PASSED) < MAX_FORMS:
        PASSED.add(form)


def _check_call(call_kind: str, name: str, args: tuple[Any, ...], kwargs: Arguments, version: str) -> None:
    _check_dtypes(name, (*args, *kwargs.values()))
    if call_kind == "getitem":
        check_key(args[0], args[1], False)
        return
    if call_kind == "setitem":
        check_key(args[0], args[1], True)
        _check_value(args[0], args[2])
        return
    row = row_of(name, version)
    if row is None and name.startswith("special.") and _is_call_of("scipy"):
        # SciPy calls these if the namespace has them, otherwise NumPy; its caller did not choose.
        return
    if row is None:
        raise StrictError(name, "the function is called", "the standard has no function of this name")
    is_usual = row.together and row.together == row.parameters and not kwargs and len(args) == 2
    if is_usual and name not in CHECKS:
        # Most calls have this form and need no other check.
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
    if call_kind == "operator" and name in EQUALITIES:
        _check_operand(name, args[1])
    if row.together:
        _check_together(name, row, [(label, p, value) for label, p, value in arrays if p in row.together])
    if name in MORE:
        MORE[name](name, given)
    if name in CHECKS:
        CHECKS[name](name, given)


def _is_call_of(package: str) -> bool:
    """Tell whether the code that called into stride0 is a module of a package."""
    frame = frame_of_caller()
    return frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == package


def _check_dtypes(name: str, values: Iterable[Any]) -> None:
    """Refuse dtypes beyond the standard, and arrays of them."""
    for value in values:
        dtype = value.dtype if isinstance(value, Array) else value
        if isinstance(dtype, DType) and dtype not in STANDARD:
            fact = f"an array is of dtype {dtype}" if isinstance(value, Array) else f"the dtype is {dtype}"
            raise StrictError(name, fact, f"Data Types: the standard has no dtype {dtype}")
        if type(value) in (tuple, list):
            _check_dtypes(name, value)


def _bind(row: Row, args: tuple[Any, ...], kwargs: Arguments) -> Arguments:
    """Return the arguments by name; together, if the function takes any number of positional ones."""
    names = row.parameters
    if names == ("arrays",) and not (len(args) == 1 and isinstance(args[0], (tuple, list))):
        return {"arrays": args, **kwargs}
    if not names:
        return {"": args, **kwargs}
    return {**dict(zip(names, args, strict=False)), **kwargs}


def _values(parameter: str, given: Arguments) -> Iterator[tuple[str, Any]]:
    """Yield the argument of a parameter, or its items if it is a sequence of arrays."""
    value = given.get(parameter)
    if parameter == "arrays" and isinstance(value, (tuple, list)):
        yield from ((f"arrays[{k}]", item) for k, item in enumerate(value))
    elif value is not None:
        yield parameter, value


def _check_others(name: str, row: Row, given: Arguments) -> None:
    """Check the arguments that are not arrays."""
    for parameter, value in given.items():
        place = f"{row.chapter}: {parameter} of {name}"
        if parameter in row.arrays or (name, parameter) in ANYTHING or not parameter:
            continue
        if (name, parameter) in BEYOND:
            raise StrictError(name, f"{parameter} is given", f"{row.chapter}: {name} has no {parameter}")
        if parameter == "device" and isinstance(value, str):
            raise StrictError(name, "device is a string", BY_NAME)
        if parameter in row.tuples and isinstance(value, int):
            raise StrictError(name, f"{parameter} is an integer", f"{place} is a tuple of integers")
        sequences = name.startswith("fft.") or name == "tensordot"
        _check_other(name, f"{parameter} is", place, value, parameter in FLAGS, sequences)


def _check_other(name: str, fact: str, place: str, value: Any, flag: bool, sequences: bool) -> None:
    """Check an argument that must not be an array, and its items."""
    if isinstance(value, Array):
        raise StrictError(name, f"{fact} an array", f"{place} is not an array")
    if is_numpy_scalar(value):
        raise StrictError(name, f"{fact} a NumPy scalar", f"{place} is a Python scalar")
    if isinstance(value, bool) and not flag:
        raise StrictError(name, f"{fact} a Python bool", f"{place} is neither True nor False")
    if isinstance(value, tuple) or (sequences and isinstance(value, list)):
        for item in value:
            _check_other(name, fact.replace(" is", " holds"), place, item, flag, sequences)
    elif hasattr(type(value), "__iter__") and not isinstance(value, (str, range) if sequences else str):
        fact = f"{fact} a {type(value).__name__}"
        raise StrictError(name, fact, f"{place} is a tuple, unless it is an integer")


# Parameters that may be True or False.
FLAGS = frozenset(
    {
        *("copy", "descending", "endpoint", "fill_value", "full_matrices", "include_initial", "invert"),
        *("keepdims", "stable", "upper"),
    }
)
# Parameters of NumPy functions that the standard does not have.
BEYOND = frozenset((f"{name}_like", "shape") for name in ("empty", "full", "ones", "zeros"))
# Parameters that take values of any type.
ANYTHING = frozenset(
    {("asarray", "obj"), ("from_dlpack", "x"), ("can_cast", "from_"), ("finfo", "type"), ("iinfo", "type")}
)


def _check_array(name: str, row: Row, label: str, parameter: str, value: Any) -> None:
    """Check the type and the dtype of an argument that must be an array."""
    place = f"{row.chapter}: {parameter} of {name}"
    if isinstance(value, Array):
        kind = row.arrays[parameter]
        if kind and LETTERS[value.dtype.kind] not in KINDS[kind]:
            raise StrictError(
                name, f"{label} is of dtype {value.dtype.name}", f"{place} has {_an(kind)} dtype"
            )
    elif is_numpy_scalar(value):
        raise StrictError(name, f"{label} is a NumPy scalar", OPERANDS)
    elif isinstance(value, SCALARS) and parameter not in row.scalars:
        raise StrictError(name, f"{label} is a Python {type(value).__name__}", f"{place} is an array")


def _check_operand(name: str, value: Any) -> None:
    """Check the right operand of == and !=, which compare with anything."""
    if not isinstance(value, (Array, *SCALARS)):
        fact = "x2 is None" if value is None else f"x2 is {_an(type(value).__name__)}"
        raise StrictError(name, fact, OPERANDS)


def _an(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _check_together(name: str, row: Row, operands: list[tuple[str, str, Any]]) -> None:
    """Check operands that must promote to a common dtype."""
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
            fact = f"{label} is of dtype {dtype.name}, mixed with {combined.name}"
            raise StrictError(name, fact, MIXED)
        combined = promote(combined, dtype)
    for label, value in scalars:
        check_scalar(name, label, value, combined)


def check_scalar(name: str, label: str, value: Any, dtype: DType) -> None:
    """Check a Python scalar that is combined with an array of a dtype."""
    kind = next(kind for kind in SCALARS if isinstance(value, kind))
    letter = LETTERS[dtype.kind]
    if letter not in BESIDE[kind]:
        fact = f"{label} is a Python {kind.__name__}, mixed with dtype {dtype.name}"
        raise StrictError(name, fact, BESIDE_ARRAYS)
    # Arithmetic raises RangeError itself, but comparisons return a result.
    if kind is int and letter in "iu" and name in COMPARISONS:
        limits = iinfo_object(dtype)
        if not limits.min <= value <= limits.max:
            fact = f"{label} is {brief(value)}, beyond the bounds of {dtype.name}"
            raise StrictError(
                name, fact, f"{PROMOTION}: behaviour is not specified for integers out of bounds"
            )


# --- functions with special rules


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
            raise StrictError(name, f"{dtype.name} mixed with {combined.name}", MIXED)
        combined = promote(combined, dtype)
    for k, value in enumerate(operands):
        if is_numpy_scalar(value):
            raise StrictError(name, f"argument {k} is a NumPy scalar", "Data Type Functions: Python scalars")
        if isinstance(value, SCALARS):
            check_scalar(name, f"argument {k}", value, combined)


def _check_isin(name: str, given: Arguments) -> None:
    for parameter in ("x1", "x2"):
        if isinstance(given.get(parameter), (list, tuple, range)):
            fact = f"{parameter} is a {type(given[parameter]).__name__}"
            raise StrictError(
                name, fact, f"Set Functions: {parameter} of isin is an array or a Python scalar"
            )


def _check_tensordot(name: str, given: Arguments) -> None:
    axes = given.get("axes")
    if isinstance(axes, (tuple, list)) and any(isinstance(item, int) for item in axes):
        sentence = "Linear Algebra Functions: axes of tensordot is an integer or two sequences of integers"
        raise StrictError(name, "axes holds an integer", sentence)


def _check_shapes(name: str, given: Arguments) -> None:
    place = "Manipulation Functions: a shape given to broadcast_shapes"
    for k, shape in enumerate(given.get("", ())):
        if not isinstance(shape, tuple):
            fact = f"argument {k} is a {type(shape).__name__}"
            raise StrictError(name, fact, f"{place} is a tuple of integers")
        _check_other(name, f"argument {k} is", place, shape, False, False)


def _check_asarray(name: str, given: Arguments) -> None:
    obj, dtype = given.get("obj"), given.get("dtype")
    if not isinstance(obj, (Array, *SCALARS, list, tuple)):
        _check_dtypes(name, (known_dtype(getattr(obj, "dtype", None)),))
    if isinstance(obj, (list, tuple)) and _holds_array(obj, 0):
        raise StrictError(
            name, "a sequence holds arrays", "Creation Functions: stack joins arrays, not asarray"
        )
    if isinstance(dtype, DType):
        _check_conversion(name, obj, dtype)


def _check_conversion(name: str, obj: Any, dtype: DType) -> None:
    """Check the dtype to which `asarray` converts."""
    if isinstance(obj, (*SCALARS, list, tuple, range)) and not is_numpy_scalar(obj):
        widest = max(_kinds(obj), default=None)
        if widest is not None and LETTERS[dtype.kind] not in BESIDE[SCALARS[widest]]:
            fact = f"a Python {SCALARS[widest].__name__} is to become {dtype.name}"
            raise StrictError(name, fact, CONVERTING)
        return
    try:
        source = obj.dtype if isinstance(obj, Array) else asarray(obj).dtype
    except Exception:
        return  # the function's own message is better
    if not _promotes_to(source, dtype):
        fact = f"an array of dtype {source.name} is to become {dtype.name}"
        raise StrictError(name, fact, CONVERTING)


CONVERTING = "Creation Functions: asarray promotes; astype casts"


def _kinds(obj: Any) -> Iterator[int]:
    """Yield the kinds of the Python scalars in nested sequences, as indices into SCALARS."""
    if isinstance(obj, (list, tuple)):
        for item in obj:
            yield from _kinds(item)
    elif isinstance(obj, range):
        yield SCALARS.index(int)
    elif not is_numpy_scalar(obj):
        yield from [k for k, kind in enumerate(SCALARS) if isinstance(obj, kind)][:1]


def _promotes_to(source: DType, target: DType) -> bool:
    return promotes(source, target) and promote(source, target) is target


def _holds_array(obj: Any, least: int) -> bool:
    """Tell whether a sequence holds arrays with at least `least` axes, or nested arrays with axes."""
    # The official test suite writes matrices as lists of lists of 0-d arrays.
    return any(
        _holds_array(x, 1) if isinstance(x, (list, tuple)) else _is_array(x) and x.ndim >= least for x in obj
    )


def _is_array(x: Any) -> bool:
    """Tell whether a value is an array of any library."""
    return isinstance(x, Array) or (
        hasattr(type(x), "__array__") and hasattr(x, "ndim") and not is_numpy_scalar(x)
    )


MORE: dict[str, Callable[[str, Arguments], None]] = {
    "asarray": _check_asarray,
    "broadcast_shapes": _check_shapes,
    "isin": _check_isin,
    "full": _check_fill,
    "full_like": _check_fill,
    "linspace": _check_linspace,
    "take": _check_take,
    "cumulative_sum": _check_cumulative,
    "cumulative_prod": _check_cumulative,
    "result_type": _check_result_type,
    "tensordot": _check_tensordot,
    "linalg.tensordot": _check_tensordot,
}


# --- assigned values


def _check_value(x: Array, value: Any) -> None:
    """Check an assigned value."""
    if isinstance(value, Array):
        if not _promotes_to(value.dtype, x.dtype):
            fact = f"a value of dtype {value.dtype.name} for an array of dtype {x.dtype.name}"
            raise StrictError(
                "setitem", fact, "Array object, __setitem__: the value promotes to the array's dtype"
            )
    elif is_numpy_scalar(value) or not isinstance(value, SCALARS):
        what = "NumPy scalar" if is_numpy_scalar(value) else type(value).__name__
        fact = f"a {what} is assigned"
        raise StrictError("setitem", fact, "Array object, __setitem__: values are arrays and Python scalars")
    else:
        check_scalar("setitem", "the value", value, x.dtype)
        if isinstance(value, complex) and x.dtype.kind == "real floating":
            fact = f"a Python complex for an array of dtype {x.dtype.name}"
            raise StrictError(
                "setitem", fact, "Array object, __setitem__: the value promotes to the array's dtype"
            )
