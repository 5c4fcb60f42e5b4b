"""The facts of an explanation: operands, and the result of broadcasting them.

The facts come from the code that operations use: shapes from `_base.shapes`, errors from the operation
itself, and the plan from the planner.
"""

from __future__ import annotations

import builtins
import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from stride0._base.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    BroadcastError,
    ShapeError,
    counted,
    shown,
)
from stride0._base.shapes import MAX_NDIM, Shape, broadcast_shapes, c_strides, normalize_shape, size_of
from stride0._chapters.linear_algebra import matmul
from stride0._core.array.array import Array, empty, offset, restride, strides
from stride0._core.call.checks import component_dtype
from stride0._core.elementwise.elementwise import plan_summary
from stride0._core.memory.dtype import DType, bool, float64, int8, promote
from stride0._tables import operations

_ROWS = {row.qualified: row for row in operations.OPS if row.public}
# Names of the operands of operations that broadcast.
_LABELS: dict[str, tuple[str, ...]] = {
    **{name: ("x",) if row.nin == 1 else ("x1", "x2") for name, row in _ROWS.items()},
    "where": ("condition", "x1", "x2"),
    "clip": ("x", "min", "max"),
    "matmul": ("x1", "x2"),
}
_LEAST = {"clip": 1}

# A plan holds three operands and a result, and counts bytes in 64 bits.
_MAX_PLANNED = 3
_MAX_REACH = 2**59


class Insertion(NamedTuple):
    """One inserted axis that makes shapes fit.

    Attributes
    ----------
    expression : str
        The Python expression: ``x2[:, None]``.
    operand : int
        Number of the indexed operand.
    axis : int
        Position of the new axis, counted from the front.
    result_shape : tuple of int
        The broadcast shape after the insertion.
    """

    expression: str
    operand: int
    axis: int
    result_shape: Shape


@dataclass(frozen=True, eq=False, repr=False)
class Facts:
    """Facts of a broadcast; the docstring of `Explanation` describes the fields."""

    operation: str
    names: tuple[str, ...]
    shapes: tuple[Shape, ...]
    dtypes: tuple[DType, ...]
    strides: tuple[Shape, ...]
    offsets: tuple[int, ...]
    core_ndim: int
    result_shape: Shape | None
    result_dtype: DType | None
    stretched: tuple[tuple[int, ...], ...]
    stretched_strides: tuple[Shape, ...] | None
    stored_nbytes: tuple[int, ...]
    addressed_nbytes: tuple[int, ...]
    plan: dict[str, Any] | None
    error: BroadcastError | ShapeError | None
    clashes: tuple[int, ...]
    insertions: tuple[Insertion, ...]


def shape_of(name: str, x: object) -> Shape:
    """Return the shape of an operand: an array, or a shape."""
    if not isinstance(x, (Array, tuple)):
        problem = f"{name} must be an array or a tuple, not {type(x).__name__}"
        accepts = "pass a stride0 array, or a shape as a tuple: () for a number"
        raise ArgumentTypeError("explain", problem, [(name, shown(x))], accepts)
    return x.shape if isinstance(x, Array) else normalize_shape("explain", x)


def gather(operands: Sequence[object], op: str | Callable[..., Any] | None) -> Facts:
    """Return the facts of operands: arrays, or shapes."""
    operation, names, known = _resolve(op, len(operands))
    shapes = [shape_of(name, x) for name, x in zip(names, operands, strict=True)]
    dtypes = [x.dtype if isinstance(x, Array) else float64 for x in operands]
    pairs = list(zip(operands, shapes, strict=True))
    own_strides = [strides(x) if isinstance(x, Array) else c_strides(shape) for x, shape in pairs]
    core = 2 if operation == "matmul" else 0
    leads = [lead_of(shape, core) for shape in shapes]
    stored = [_distinct(s, own) * d.itemsize for s, own, d in zip(shapes, own_strides, dtypes, strict=True)]
    result = _common(operation, shapes)
    error = _error(operation, names, shapes) if result is None else None
    read, plan, addressed = None, None, stored
    axes: list[tuple[int, ...]] = [()] * len(shapes)
    if result is not None:
        lead = lead_of_result(shapes, result, core)
        read = tuple(_read(shape, own, lead, core) for shape, own in zip(shapes, own_strides, strict=True))
        axes = [_broadcast_axes(own, lead) for own in leads]
        addressed = [
            size_of((*lead, *core_of(shape, core))) * d.itemsize
            for shape, d in zip(shapes, dtypes, strict=True)
        ]
        plan = None if core else _plan(operands, shapes, result)
    return Facts(
        operation,
        tuple(names),
        tuple(shapes),
        tuple(dtypes),
        tuple(own_strides),
        tuple(offset(x) if isinstance(x, Array) else 0 for x in operands),
        core,
        result,
        None if result is None or not known else _result_dtype(operation, dtypes),
        tuple(axes),
        read,
        tuple(stored),
        tuple(addressed),
        plan,
        error,
        _clashes(leads),
        () if error is None else tuple(_insertions(operation, names, shapes)),
    )


def _resolve(op: object, count: int) -> tuple[str, Sequence[str], builtins.bool]:
    """Return the names of an operation and its operands, and whether the operation is known."""
    if not count:
        raise ArgumentValueError("explain", "there is nothing to explain", (), "pass an array or a shape")
    numbered = ("x",) if count == 1 else tuple(f"x{k + 1}" for k in range(count))
    if op is None:
        return "broadcast", numbered, True
    if not isinstance(op, str) and not callable(op):
        raise ArgumentTypeError("explain", f"op must be a function or its name, not {type(op).__name__}")
    name = op if isinstance(op, str) else str(getattr(op, "__name__", type(op).__name__))
    ours = isinstance(op, str) or str(getattr(op, "__module__", "")).partition(".")[0] == "stride0"
    if ours and name not in _LABELS:
        accepts = "pass an elementwise function of the standard, matmul, or a function of your own"
        raise ArgumentValueError("explain", f"{name} is not an operation that broadcasts", (), accepts)
    known = ours or name == "matmul"
    labels = _LABELS[name] if known else _parameters(op)
    if known and not _LEAST.get(name, len(labels)) <= count <= len(labels):
        accepts = f"pass the operands of {name}: {', '.join(labels)}"
        raise ArgumentValueError("explain", f"{counted(count, 'operand')} for {name}", (), accepts)
    return name, labels[:count] if len(labels) >= count else numbered, known


def _parameters(function: Any) -> tuple[str, ...]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # builtins without a signature
        return ()
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return tuple(p.name for p in parameters if p.kind in positional)


def lead_of(shape: Shape, core: int) -> Shape:
    """Return the axes that broadcast."""
    return shape[: max(len(shape) - core, 0)]


def core_of(shape: Shape, core: int) -> Shape:
    """Return the axes that do not broadcast."""
    return shape[max(len(shape) - core, 0) :]


def lead_of_result(shapes: Sequence[Shape], result: Shape, core: int) -> Shape:
    # A vector in a matrix product removes an axis from the result.
    return result[: len(result) - core + sum(len(shape) == 1 for shape in shapes)] if core else result


def _common(operation: str, shapes: Sequence[Shape]) -> Shape | None:
    """Return the shape of the result; None if the shapes do not fit."""
    core = 2 if operation == "matmul" else 0
    leads = [lead_of(shape, core) for shape in shapes]
    if _clashes(leads):
        return None
    lead = broadcast_shapes(operation, [("x", own) for own in leads])
    if not core:
        return lead
    one, two = shapes
    if not one or not two or one[-1] != two[-2:][0]:
        return None
    return (*lead, *one[-2:-1], *two[-2:][1:])


def _error(operation: str, names: Sequence[str], shapes: Sequence[Shape]) -> BroadcastError | ShapeError:
    """Return the error of an operation for shapes that do not fit."""
    if operation != "matmul":
        return BroadcastError(operation, zip(names, shapes, strict=True))
    try:
        # It raises before it reads elements.
        matmul(*[_memoryless(shape, int8) for shape in shapes])
    except (BroadcastError, ShapeError) as error:
        return error
    raise AssertionError(f"matmul takes the shapes {shapes}")


def _memoryless(shape: Shape, dtype: DType) -> Array:
    """Return an array with a shape and the strides in C order, but without readable elements."""
    return restride(empty((), dtype), shape, c_strides(shape))


def _clashes(shapes: Sequence[Shape]) -> tuple[int, ...]:
    """Return all axes at which two sizes differ and neither is 1."""
    found = []
    for axis in range(-1, -1 - max(map(len, shapes), default=0), -1):
        if len({shape[axis] for shape in shapes if -axis <= len(shape)} - {1}) > 1:
            found.append(axis)
    return tuple(found)


def _insertions(operation: str, names: Sequence[str], shapes: Sequence[Shape]) -> Iterator[Insertion]:
    """Yield every axis whose insertion makes the shapes fit."""
    for k, shape in enumerate(shapes):
        seen = set()
        # Next to an axis of size 1 several positions give the same shape; the rightmost one reads best.
        for axis in range(len(shape), -1, -1):
            longer = (*shape[:axis], 1, *shape[axis:])
            if longer in seen or len(longer) > MAX_NDIM:
                continue
            seen.add(longer)
            result = _common(operation, [*shapes[:k], longer, *shapes[k + 1 :]])
            if result is not None:
                keys = [":"] * len(shape)
                keys.insert(axis, "None")
                yield Insertion(f"{names[k]}[{', '.join(keys)}]", k, axis, result)


def _read(shape: Shape, own: Shape, lead: Shape, core: int) -> Shape:
    """Return the strides with which an operand is read when its leading axes are broadcast."""
    missing = len(lead) - len(lead_of(shape, core))
    pairs = zip(own, shape, (*lead[missing:], *core_of(shape, core)), strict=True)
    return (*(0,) * missing, *[stride if size == wanted else 0 for stride, size, wanted in pairs])


def _broadcast_axes(shape: Shape, result: Shape) -> tuple[int, ...]:
    """Return the broadcast axes of an operand, starting with the last."""
    axes = range(-1, -1 - len(result), -1)
    return tuple(k for k in axes if (shape[k] if -k <= len(shape) else 1) != result[k])


def _distinct(shape: Shape, strides: Shape) -> int:
    """Return the number of stored elements; an upper bound if windows overlap."""
    if 0 in shape:
        return 0
    moving = [(size, abs(stride)) for size, stride in zip(shape, strides, strict=True) if stride and size > 1]
    return min(size_of([size for size, _ in moving]), 1 + sum((size - 1) * stride for size, stride in moving))


def _plan(operands: Sequence[object], shapes: Sequence[Shape], result: Shape) -> dict[str, Any] | None:
    reach = max(size_of([n for n in shape if n]) for shape in (*shapes, result))
    if len(operands) > _MAX_PLANNED or reach > _MAX_REACH:
        return None
    pairs = zip(operands, shapes, strict=True)
    # Planning reads no elements, so that the loops of operands of any size can be shown.
    return plan_summary(tuple(x if isinstance(x, Array) else _memoryless(s, float64) for x, s in pairs))


def _result_dtype(operation: str, dtypes: Sequence[DType]) -> DType | None:
    """Return the dtype of the result, if it depends only on the operands."""
    if operation == "clip":
        return None
    dtype = functools.reduce(promote, dtypes[1:] if operation == "where" else dtypes)
    row = _ROWS.get(operation)
    if row is not None and row.out == "bool":
        return bool
    if row is not None and row.out == "real":
        dtype = component_dtype(dtype)
    return float64 if row is not None and row.otherwise and "floating" not in dtype.kind else dtype


def accident(e: Facts) -> str:
    """Return a warning if operands of equal size broadcast each other, a likely accident."""
    if e.result_shape is None or e.core_ndim:
        return ""
    total = size_of(e.result_shape)
    for k, shape in enumerate(e.shapes):
        for j in range(k):
            if 1 < (size := size_of(shape)) == size_of(e.shapes[j]) < total:
                pair = f"{e.names[j]} and {e.names[k]}"
                return f"{pair} have {size:,} elements each and broadcast each other: is that meant?"
    return ""
