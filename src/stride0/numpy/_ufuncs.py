"""Elementwise functions with the arguments and methods of NumPy's ufuncs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import stride0 as xp
from stride0._base.errors import ArgumentTypeError, DTypeError, OutOfBoundsError
from stride0._core.array.array import Array
from stride0._core.memory.dtype import DType
from stride0.numpy import _reductions
from stride0.numpy._parts import SCALARS, array, check_order, common_dtype, converted, dtype_of, finish

__all__ = ["INTEGRAL", "UFUNCS", "floating_dtype", "imaginary", "ufunc"]

INTEGRAL: Final = ("bool", "signed integer", "unsigned integer")
REAL: Final = "real floating"
USUAL: Final = (Array, float, int, bool, complex)
# The floating-point dtype in which NumPy computes functions of integers, by the integers' item size.
FLOATS: Final = {1: "float16", 2: "float32"}


class ufunc:
    """
    An elementwise function, with the arguments and methods of NumPy's ufuncs.

    Parameters
    ----------
    name : str
        Its name.
    function : callable
        Computes it.
    nin : int
        How many operands it has.
    floating : bool
        Whether integers are computed in the floating-point dtype that NumPy takes for them.
    reduction, scan : str
        Names of the functions that reduce by it, and that accumulate.
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        nin: int,
        floating: bool = False,
        reduction: str = "",
        scan: str = "",
    ) -> None:
        self.__name__ = self.__qualname__ = name
        self.__doc__ = f"NumPy's {name}, on arrays of stride0."
        self.nin, self.nout, self.nargs = nin, 1, nin + 1
        self._function = function
        self._floating = floating
        self._complex = name in FLOATING or name in ("rint", "exp2")
        self._reduction, self._scan = reduction, scan

    def __repr__(self) -> str:
        return f"<ufunc {self.__name__!r}>"

    def __call__(
        self,
        *operands: Any,
        out: Any = None,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
        subok: bool = True,
    ) -> Any:
        """Call the function, with NumPy's arguments."""
        if out is None and where is True and dtype is None and len(operands) == self.nin:
            # Most calls: stride0 arrays of dtypes that need no cast.
            first, last = operands[0], operands[-1]
            if type(first) is Array and (
                (first.dtype.kind == REAL and type(last) is Array and last.dtype is first.dtype)
                if self._floating
                else type(last) in USUAL
            ):
                return self._function(*operands)
        name = self.__name__
        if len(operands) == self.nin + 1 and out is None:
            *operands, out = operands  # type: ignore[assignment]
        if len(operands) != self.nin:
            raise ArgumentTypeError(name, f"{len(operands)} operands are given", (), f"pass {self.nin}")
        check_order(name, order)
        wanted = dtype_of(name, dtype)
        given = [x if isinstance(x, (Array, *SCALARS)) else array(x) for x in operands]
        if not any(isinstance(x, Array) for x in given):
            given = [array(x) for x in given]
        if wanted is None and self._floating:
            wanted = floating_dtype(given)
            if wanted.kind == "complex floating" and not self._complex:
                raise DTypeError(name, f"the dtype is {wanted.name}", (), "pass real numbers")
            casting_in = "unsafe"
        else:
            casting_in = casting
        if wanted is not None:
            given = [converted(name, x, wanted, casting_in) if isinstance(x, Array) else x for x in given]
        result = self._function(*given)
        if wanted is not None and dtype is not None:
            result = converted(name, result, wanted, casting)
        if out is None and where is True:
            return result
        return finish(name, result, out, where, casting, exact=False)

    def reduce(
        self,
        x: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        **others: Any,
    ) -> Any:
        """Reduce along an axis, as the reduction of the same operation does."""
        if not self._reduction:
            raise ArgumentTypeError(self.__name__, "there is no reduction", (), "call functools.reduce")
        function = getattr(_reductions, self._reduction)
        given = {"dtype": dtype} if dtype is not None else {}
        return function(x, axis=axis, out=out, keepdims=keepdims, **given, **others)

    def accumulate(self, x: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """Accumulate along an axis."""
        if not self._scan:
            raise ArgumentTypeError(self.__name__, "there is no accumulate", (), "write a loop over slices")
        return getattr(_reductions, self._scan)(x, axis=axis, dtype=dtype, out=out)

    def reduceat(self, x: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """Reduce slices between successive indices; if the next index is not larger, return the element."""
        x, name = xp.moveaxis(array(x), axis, 0), f"{self.__name__}.reduceat"
        starts = [int(k) for k in array(indices)]
        if any(not 0 <= k < x.shape[0] for k in starts):
            facts = [("indices", str(starts)), ("size", str(x.shape[0]))]
            raise OutOfBoundsError(name, "an index is out of bounds", facts, "pass 0 to size - 1")
        ends = [*starts, x.shape[0]][1:]
        parts = [
            self.reduce(x[k : end if end > k else k + 1], dtype=dtype)
            for k, end in zip(starts, ends, strict=True)
        ]
        return finish(name, xp.moveaxis(xp.stack(parts) if parts else x[:0], 0, axis), out)

    def outer(self, x1: Any, x2: Any, **others: Any) -> Any:
        """Call the function for each pair of elements."""
        x1, x2 = array(x1), array(x2)
        return self(xp.reshape(x1, (*x1.shape, *(1,) * x2.ndim)), x2, **others)

    def at(self, x: Array, indices: Any, values: Any = None) -> None:
        """Update elements at indices in place, once for each occurrence of an index."""
        method = {
            "add": "add",
            "subtract": "subtract",
            "multiply": "multiply",
            "maximum": "max",
            "minimum": "min",
        }
        if self.__name__ not in method or not isinstance(x, Array):
            raise ArgumentTypeError(f"{self.__name__}.at", "there is no at", (), "write x[i] = f(x[i], y)")
        if not isinstance(indices, tuple):
            indices = array(indices) if isinstance(indices, list) else indices
        value = values if isinstance(values, (Array, *SCALARS)) else array(values)
        changed = getattr(xp.at(x)[indices], method[self.__name__])(value)
        x[...] = converted(f"{self.__name__}.at", changed, x.dtype, "same_kind")


def floating_dtype(operands: list[Any]) -> DType:
    """Return the dtype in which NumPy computes a floating-point function of operands."""
    found: list[Any] = []
    scalars = [x for x in operands if not isinstance(x, Array)]
    for x in operands:
        if isinstance(x, Array) and x.dtype.kind in INTEGRAL:
            # A scalar of a wider kind gives float64, as in all promotion.
            combined = common_dtype(x, *scalars)
            width = combined.itemsize if combined.kind in INTEGRAL else 8
            found.append(xp.empty((0,), dtype=FLOATS.get(width, "float64")))
        else:
            found.append(x if isinstance(x, Array) or type(x) is complex else float(x))
    return common_dtype(*found)


# --- functions that are no function of ours


def _signbit(x: Array) -> Array:
    return xp.signbit(xp.astype(x, xp.float64) if x.dtype.kind in INTEGRAL else x)


def _sign(x: Array) -> Array:
    found = xp.sign(x)
    if x.dtype.kind != "complex floating":
        return found
    # The direction of one infinite part.
    parts = [xp.where(xp.isinf(part), xp.sign(part), 0.0) for part in (xp.real(x), xp.imag(x))]
    return xp.where(xp.abs(parts[0]) + xp.abs(parts[1]) == 1, parts[0] + parts[1] * 1j, found)


def imaginary(x: Array) -> Array:
    return xp.imag(x) if x.dtype.kind == "complex floating" else xp.zeros_like(x)


def _reciprocal(x: Array) -> Array:
    if x.dtype.kind in INTEGRAL:
        raise DTypeError("reciprocal", f"x is of dtype {x.dtype.name}", (), "write 1 / x")
    return xp.reciprocal(x)


def _except_nan(better: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that selects the better of two numbers; it ignores a single NaN."""

    def function(x1: Any, x2: Any) -> Array:
        a, b = (array(x) for x in xp.broadcast_arrays(*_pair(x1, x2)))
        return xp.where(_isnan(a), b, xp.where(_isnan(b), a, better(a, b)))

    return function


def _pair(x1: Any, x2: Any) -> tuple[Array, Array]:
    """Return two operands as arrays of the dtype that they promote to."""
    dtype = common_dtype(x1, x2)
    return xp.astype(array(x1), dtype), xp.astype(array(x2), dtype)


def _isnan(x: Array) -> Array:
    return xp.isnan(x) if x.dtype.kind not in INTEGRAL else xp.zeros_like(x, dtype=xp.bool)


def _fmod(x1: Any, x2: Any) -> Array:
    x1, x2 = _pair(x1, x2)
    if x1.dtype.kind in INTEGRAL:
        rest = xp.remainder(x1, x2)
        if x1.dtype.kind == "signed integer":
            rest = xp.where((rest != 0) & ((x1 < 0) != (x2 < 0)), rest - x2, rest)
        return rest
    if x1.dtype.kind != "real floating":
        raise DTypeError("fmod", f"the operands are of dtype {x1.dtype.name}", (), "pass real arrays")
    # Exact: the remainder of the absolute values is between 0 and the divisor.
    rest = xp.remainder(xp.abs(x1), xp.abs(x2))
    rest = xp.where(xp.isinf(x2) & xp.isfinite(x1), xp.abs(x1), rest)
    return xp.copysign(rest, x1)


def _heaviside(x1: Any, x2: Any) -> Array:
    x1, x2 = _pair(x1, x2)
    step = xp.astype(x1 > 0, x1.dtype)
    return xp.where(xp.isnan(x1), x1, xp.where(x1 == 0, x2, step))


def _float_power(x1: Any, x2: Any) -> Array:
    dtype = common_dtype(x1, x2, xp.ones((), dtype=xp.float64))
    return xp.pow(xp.astype(array(x1), dtype), xp.astype(array(x2), dtype))


def _power(x1: Any, x2: Any) -> Array:
    return xp.pow(x1, x2)


def _degrees(x: Array) -> Array:
    return x * (180.0 / math.pi)


def _radians(x: Array) -> Array:
    return x * (math.pi / 180.0)


def _special(name: str) -> Callable[..., Any]:
    def function(*operands: Any) -> Any:
        return getattr(xp.special, name)(*operands)

    return function


def _logaddexp2(x1: Any, x2: Any) -> Array:
    two = math.log(2.0)
    return xp.logaddexp(x1 * two, x2 * two) / two


def _integers(name: str, *operands: Any) -> tuple[Array, ...]:
    """Return the absolute values of integers, in one dtype and shape."""
    found = _pair(*operands) if len(operands) == 2 else (array(operands[0]),)
    if found[0].dtype.kind not in INTEGRAL[1:]:
        raise DTypeError(name, f"an operand is of dtype {found[0].dtype.name}", (), "pass integers")
    return tuple(xp.abs(x) for x in xp.broadcast_arrays(*found))


def _gcd(x1: Any, x2: Any) -> Array:
    a, b = _integers("gcd", x1, x2)
    while bool(xp.any(b != 0)):
        a, b = xp.where(b == 0, a, b), xp.where(b == 0, b, a % xp.where(b == 0, 1, b))
    return xp.abs(a)  # the most negative integer has no absolute value


def _lcm(x1: Any, x2: Any) -> Array:
    a, b = _integers("lcm", x1, x2)
    divisor = _gcd(a, b)
    return xp.abs(a // xp.where(divisor == 0, 1, divisor) * b)


def _bitwise_count(x: Any) -> Array:
    x = array(x)
    (x,) = _integers("bitwise_count", xp.astype(x, xp.uint8) if x.dtype is xp.bool else x)
    bits = xp.stack([(x >> k) & 1 for k in range(8 * x.dtype.itemsize)])
    return xp.astype(xp.sum(bits, axis=0), xp.uint8)


UNARY: Final = {
    **{name: name for name in ("abs", "negative", "positive", "square", "conj", "floor", "ceil", "trunc")},
    **{name: name for name in ("isnan", "isinf", "isfinite", "logical_not", "bitwise_invert")},
    **{"absolute": "abs", "conjugate": "conj", "invert": "bitwise_invert", "bitwise_not": "bitwise_invert"},
}
FLOATING: Final = {
    **{name: name for name in ("sqrt", "exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan")},
    **{name: name for name in ("sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh")},
    **{"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh"},
    "arctanh": "atanh",
}
BINARY: Final = {
    **{name: name for name in ("add", "subtract", "multiply", "divide", "floor_divide", "remainder", "pow")},
    **{name: name for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")},
    **{name: name for name in ("maximum", "minimum", "logical_and", "logical_or", "logical_xor")},
    **{name: name for name in ("bitwise_and", "bitwise_or", "bitwise_xor")},
    **{"true_divide": "divide", "mod": "remainder", "power": "pow", "left_shift": "bitwise_left_shift"},
    **{"right_shift": "bitwise_right_shift", "bitwise_left_shift": "bitwise_left_shift"},
    "bitwise_right_shift": "bitwise_right_shift",
}
FLOATING_BINARY: Final = {
    **{name: name for name in ("atan2", "hypot", "logaddexp", "copysign", "nextafter")},
    "arctan2": "atan2",
}
REDUCTIONS: Final = {
    **{
        "add": ("sum", "cumsum"),
        "multiply": ("prod", "cumprod"),
        "maximum": ("max", ""),
        "minimum": ("min", ""),
    },
    **{"logical_and": ("all", ""), "logical_or": ("any", "")},
}
OWN: Final[tuple[tuple[str, Callable[..., Any], int, bool], ...]] = (
    ("sign", _sign, 1, False),
    ("signbit", _signbit, 1, False),
    ("reciprocal", _reciprocal, 1, False),
    ("fmax", _except_nan(xp.maximum), 2, False),
    ("fmin", _except_nan(xp.minimum), 2, False),
    ("fmod", _fmod, 2, False),
    ("heaviside", _heaviside, 2, True),
    ("float_power", _float_power, 2, False),
    ("degrees", _degrees, 1, True),
    ("rad2deg", _degrees, 1, True),
    ("radians", _radians, 1, True),
    ("deg2rad", _radians, 1, True),
    ("fabs", xp.abs, 1, True),
    ("rint", xp.round, 1, True),
    ("cbrt", _special("cbrt"), 1, True),
    ("exp2", _special("exp2"), 1, True),
    ("logaddexp2", _logaddexp2, 2, True),
    ("gcd", _gcd, 2, False),
    ("lcm", _lcm, 2, False),
    ("bitwise_count", _bitwise_count, 1, False),
)


def _made() -> dict[str, ufunc]:
    found: dict[str, ufunc] = {}
    for table, nin, floating in (
        *((UNARY, 1, False), (FLOATING, 1, True)),
        *((BINARY, 2, False), (FLOATING_BINARY, 2, True)),
    ):
        for name, ours in table.items():
            function = getattr(xp, ours)
            found[name] = ufunc(name, function, nin, floating, *REDUCTIONS.get(name, ()))
    for name, function, nin, floating in OWN:
        found[name] = ufunc(name, function, nin, floating)
    return found


UFUNCS: Final = _made()
"""The ufuncs by their names."""
