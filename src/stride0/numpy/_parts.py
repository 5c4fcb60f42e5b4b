"""Shared helpers of `stride0.numpy`: arguments in NumPy's forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import stride0 as xp
from stride0._base.errors import ArgumentTypeError, ArgumentValueError, CastError, ShapeError
from stride0._core.array.array import Array
from stride0._core.exchange.exchange import dtype_argument
from stride0._core.exchange.numpy_calls import numpy
from stride0._core.memory.dtype import DType

SCALARS: Final = (bool, int, float, complex)
NOT_GIVEN: Final = object()


def array(x: Any) -> Array:
    """Convert an array, a number, a NumPy array or a nested sequence to an array."""
    return x if isinstance(x, Array) else xp.asarray(x)


def floating(x: Any) -> Array:
    """Return an operand of `linalg` and `fft`: integers and bool become float64, as in NumPy."""
    x = array(x)
    return x if "floating" in x.dtype.kind else xp.astype(x, xp.float64)


def arrays(values: Any) -> list[Array]:
    """Return the items of a sequence, or the parts of an array, as arrays."""
    return [array(x) for x in values]


def dtype_of(operation: str, dtype: Any) -> DType | None:
    """Return a ``dtype=`` argument as a stride0 dtype."""
    if dtype is None or isinstance(dtype, DType):
        return dtype
    found = dtype_argument(operation, dtype)
    return found


def native(x: Any) -> Any:
    """Return the operand of NumPy's promotion: a dtype, or a Python scalar."""
    return numpy().dtype(x.dtype.name) if isinstance(x, Array) else x


def common_dtype(*operands: Any) -> DType:
    """Return the dtype that NumPy promotes operands to."""
    found = numpy().result_type(*[native(x if isinstance(x, SCALARS) else array(x)) for x in operands])
    made: DType = xp.asarray(numpy().empty(0, found)).dtype
    return made


def converted(operation: str, x: Array, dtype: DType | None, casting: str = "unsafe") -> Array:
    """Return an array cast to a dtype, or refuse the cast as NumPy does."""
    if dtype is None or x.dtype is dtype:
        return x
    if casting != "unsafe" and not numpy().can_cast(x.dtype.name, dtype.name, casting):
        facts = [("from", x.dtype.name), ("to", dtype.name), ("casting", casting)]
        raise CastError(operation, "the cast is refused", facts, "cast first: x.astype(dtype)")
    return xp.astype(x, dtype)


def named(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function NumPy's name, and return it."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"NumPy's {name}."
    return function


def refuse(operation: str, **given: Any) -> None:
    """Raise if an unsupported argument of a NumPy function is not None."""
    for name, value in given.items():
        if value is not None:
            raise ArgumentTypeError(operation, f"{name} is not supported", (), f"leave {name} out")


def check_order(operation: str, order: Any, known: str = "CAK") -> None:
    """Raise for a memory layout that results cannot have."""
    if order is not None and order not in tuple(known):
        accepts = f"pass order={known[0]!r}; for contiguous columns write strided.contiguous(x.T).T"
        raise ArgumentValueError(operation, f"order is {order!r}", (), accepts)


def finish(
    operation: str,
    result: Array,
    out: Any,
    where: Any = True,
    casting: str = "same_kind",
    exact: bool = True,
) -> Array:
    """Return a result, or write it to `out` where a mask is true; if `exact`, the shapes must be equal."""
    if isinstance(out, tuple) and len(out) == 1:
        (out,) = out
    if out is None:
        if where is not True:
            accepts = "pass out, or write where(mask, f(x), other)"
            raise ArgumentValueError(operation, "where is given without out", (), accepts)
        return result
    if not isinstance(out, Array):
        raise ArgumentTypeError(operation, f"out is of type {type(out).__name__}", (), "pass a stride0 array")
    result = converted(operation, result, out.dtype, casting)
    if not exact:
        result = xp.broadcast_to(result, xp.broadcast_shapes(result.shape, out.shape))
    if result.shape != out.shape:
        facts = [("result", str(result.shape)), ("out", str(out.shape))]
        raise ShapeError(operation, "out and result differ in shape", facts, "pass out in this shape")
    out[...] = result if where is True else xp.where(array(where), result, out)
    return out
