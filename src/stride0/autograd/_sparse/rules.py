"""Rules of patterns: compute the sets of a call's results from the sets of its operands.

`RULES` has a rule for each function whose results do not depend on all elements of all operands. A rule
returns the numbers of the sets of each result, or None if it does not know the form of the call: then
`spread` is used. A rule also records which sets the function multiplies: Note [Curvature] in `tracing.py`.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from stride0._base.shapes import normalize_axis
from stride0._chapters import quantiles
from stride0._compat import extras
from stride0._core.array.array import Array
from stride0._core.call.binding import PRIMITIVES
from stride0._core.exchange.exchange import asarray
from stride0._core.exchange.numpy_calls import to_numpy
from stride0._tables.operations import OPS
from stride0.autograd._rules.table import VJP
from stride0.autograd._sparse.products import product, products_of
from stride0.autograd._sparse.sets import EMPTY
from stride0.autograd._tape.tape import detach

__all__ = ["CREATION", "MOVING_PADS", "RULES", "Call", "spread"]

Rule = Callable[["Call", list[Array]], Any]
# The modes of `pad` in which each element is an element of the operand, or a constant.
MOVING_PADS = ("constant", "edge", "reflect", "symmetric", "wrap")

# Their results are constants, whose memory may be written to.
CREATION = frozenset({"zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "full_like"})


class Call:
    """A call, and the sets of its operands before the call."""

    def __init__(self, trace: Any, kind: str, name: str, args: Any, kwargs: Any) -> None:
        self.trace, self.kind, self.name, self.args, self.kwargs = trace, kind, name, args, kwargs
        self.writes = False
        # The numbers of an array's sets, by the identity of the array. And arrays whose values differ in the
        # next call.
        self.active: dict[int, Any] = {}
        self.varying: set[int] = set()

    def read(self, x: Array) -> None:
        """Read the sets of an operand."""
        numbers, is_known = self.trace.read(x)
        if numbers is not None:
            self.active[id(x)] = numbers
        if is_known:
            self.varying.add(id(x))

    @property
    def is_varying(self) -> bool:
        return bool(self.varying)

    def numbers(self, x: Any) -> Any:
        """Return the numbers of the sets of an operand; a constant has empty sets."""
        found = self.active.get(id(x))
        return np.zeros(getattr(x, "shape", ()), dtype=np.int64) if found is None else found

    def is_active(self, x: Any) -> bool:
        return id(x) in self.active

    def constant(self, x: Any) -> Any:
        """Return an operand as a NumPy array; None if its values differ in the next call of the function."""
        if id(x) in self.varying:
            return None
        return to_numpy(detach(x)) if isinstance(x, Array) else np.asarray(x)

    @property
    def data_count(self) -> int:
        """The number of leading arguments that are data, for a function that moves elements."""
        return len(self.args) if self.name in ("broadcast_arrays", "meshgrid") else 1

    @property
    def chooses(self) -> bool:
        """Whether a function that moves elements selects them by values that differ in the next call."""
        return RULES.get(self.name) is _moved and self._varies(
            (*self.args[self.data_count :], *self.kwargs.values())
        )

    def _varies(self, x: Any) -> bool:
        return any(map(self._varies, x)) if isinstance(x, (tuple, list)) else id(x) in self.varying

    def bound(self) -> dict[str, Any]:
        """Return the arguments by the names of the parameters."""
        given = _signature(self.name).bind(*self.args, **self.kwargs)
        given.apply_defaults()
        return given.arguments


@cache
def _signature(name: str) -> inspect.Signature:
    return inspect.signature(_function(name))


def _function(name: str) -> Callable[..., Any]:
    if name == "getitem":
        return operator.getitem
    return PRIMITIVES.get(name) or getattr(extras, name, None) or getattr(quantiles, name)


def spread(call: Call, results: list[Array]) -> list[Any]:
    """Return the sets of results that depend on all elements of all operands."""
    union = call.trace.sets.union(*call.active.values())
    call.trace.bend(np.asarray(union))
    return [np.full(x.shape, union, dtype=np.int64) for x in results]


# --- elementwise functions

# Their second derivatives are 0 wherever they are defined.
PIECEWISE_LINEAR = {
    *("add", "subtract", "negative", "positive", "conj", "real", "imag", "maximum", "minimum", "clip"),
    *("where", "copysign", "remainder", "nan_to_num", "nextafter"),
}


def _elementwise(call: Call, results: list[Array]) -> Any:
    operands = [x for x in (*call.args, *call.kwargs.values()) if isinstance(x, Array) and call.is_active(x)]
    sets, found = call.trace.sets, []
    for out in results:
        total = np.zeros(out.shape, dtype=np.int64)
        for x in operands:
            numbers = call.numbers(x)
            if np.broadcast_shapes(numbers.shape, out.shape) != out.shape:
                return None
            total = sets.either(total, numbers)
        found.append(total)
    # `add(x1, x2, alpha=y)` multiplies.
    linear = call.name in PIECEWISE_LINEAR and "alpha" not in call.kwargs
    if call.name == "abs":
        linear = operands[0].dtype.kind == "real floating"
    if not linear:
        call.trace.bend(found[0])
    return found


def _times(call: Call, results: list[Array]) -> Any:
    """A product: linear in each factor; with a constant 0 the result depends on nothing."""
    x, y = call.args[:2]
    a, b = call.numbers(x), call.numbers(y)
    if call.is_active(x) and call.is_active(y):
        call.trace.bend(*np.broadcast_arrays(a, b))
        return [call.trace.sets.either(a, b)]
    numbers, other = (a, y) if call.is_active(x) else (b, x)
    factor = call.constant(other)
    return [
        np.broadcast_to(numbers, results[0].shape)
        if factor is None
        else np.where(factor != 0, numbers, EMPTY)
    ]


def _ratio(call: Call, results: list[Array]) -> Any:
    """A quotient: linear in the numerator."""
    a, b = np.broadcast_arrays(*map(call.numbers, call.args[:2]))
    call.trace.bend(a, b)
    call.trace.bend(b)
    return [call.trace.sets.either(a, b)]


# --- functions that move elements: they are called with the numbers of the sets


def _moved(call: Call, results: list[Array]) -> Any:
    def numbers(x: Any) -> Any:
        if isinstance(x, Array):
            return asarray(call.numbers(x).copy())
        return [numbers(item) for item in x] if isinstance(x, (list, tuple)) else 0

    count = call.data_count
    if call.chooses:
        return None
    if call.name == "pad" and call.bound().get("mode") not in MOVING_PADS:
        return None
    more = {k: 0 if k == "constant_values" else v for k, v in call.kwargs.items() if k != "copy"}
    found = _function(call.name)(*map(numbers, call.args[:count]), *call.args[count:], **more)
    parts = list(found) if isinstance(found, (list, tuple)) else [found]
    wanted = [x.shape for x in results]
    if [x.shape for x in parts] != wanted:
        return None
    return [to_numpy(x) for x in parts]


def _same(call: Call, results: list[Array]) -> Any:
    x = call.args[0]
    return [call.numbers(x)] if isinstance(x, Array) and x.shape == results[0].shape else None


# --- reductions, and functions along axes


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    return tuple(
        normalize_axis("sparsity", a, ndim) for a in (axis if isinstance(axis, (tuple, list)) else (axis,))
    )


def _reduced(call: Call, results: list[Array], linear: bool) -> Any:
    given = call.bound()
    x = next(iter(given.values()))
    if any(
        call.is_active(other) for name, other in given.items() if other is not x and isinstance(other, Array)
    ):
        return None
    found = call.trace.sets.along(call.numbers(x), _axes(given.get("axis"), x.ndim))
    if found.size != results[0].size:
        return None
    if not linear:
        call.trace.bend(found)
    return [found.reshape(results[0].shape)]


def _along(call: Call, results: list[Array], linear: bool) -> Any:
    """Functions that are dense along axes, and whose results keep these axes."""
    given = call.bound()
    x = next(iter(given.values()))
    axes = _axes(given["axes"] if "axes" in given else given.get("axis"), x.ndim)
    found = call.trace.sets.along(call.numbers(x), axes)
    if not linear:
        call.trace.bend(found)
    shaped = np.expand_dims(found, axes)
    if any(len(out.shape) != x.ndim for out in results):
        return None
    return [np.broadcast_to(shaped, out.shape) for out in results]


def _prefixes(call: Call, results: list[Array], linear: bool) -> Any:
    """Cumulative functions: element k depends on elements up to k."""
    given = call.bound()
    x = next(iter(given.values()))
    axis = given.get("axis")
    if x.ndim == 0 or (axis is None and x.ndim != 1):
        return None
    found = np.moveaxis(call.numbers(x), -1 if axis is None else axis, -1).copy()
    step = 1
    while step < found.shape[-1]:
        found[..., step:] = call.trace.sets.either(found[..., step:], found[..., :-step].copy())
        step *= 2
    if not linear:
        call.trace.bend(found)
    if given.get("include_initial"):
        found = np.concatenate([np.zeros((*found.shape[:-1], 1), dtype=np.int64), found], axis=-1)
    return [np.moveaxis(found, -1, -1 if axis is None else axis)]


def _differences(call: Call, results: list[Array]) -> Any:
    given = call.bound()
    if given.get("prepend") is not None or given.get("append") is not None:
        return None
    found = np.moveaxis(call.numbers(given["x"]), given["axis"], -1)
    for _ in range(given["n"]):
        found = call.trace.sets.either(found[..., 1:], found[..., :-1])
    return [np.moveaxis(found, -1, given["axis"])]


def _traced(call: Call, results: list[Array]) -> Any:
    given = call.bound()
    x = given["x"]
    found = PRIMITIVES["linalg.diagonal"](asarray(call.numbers(x)), offset=given["offset"])
    return [call.trace.sets.along(to_numpy(found), (x.ndim - 2,))]


def _crossed(call: Call, results: list[Array]) -> Any:
    """The cross product: dense along its axis, linear in each factor."""
    given = call.bound()
    axis, sets = given["axis"], call.trace.sets
    one, other = (
        np.expand_dims(sets.along(call.numbers(x), _axes(axis, x.ndim)), axis)
        for x in (given["x1"], given["x2"])
    )
    call.trace.bend(*np.broadcast_arrays(one, other))
    return [np.broadcast_to(sets.either(one, other), results[0].shape)]


# --- matrices


def _matrices(call: Call, results: list[Array]) -> Any:
    """Functions of stacks of matrices: dense within each matrix."""
    operands = [x for x in call.args if isinstance(x, Array)]
    if any(isinstance(x, Array) for x in call.kwargs.values()):
        return None
    total: Any = np.zeros((), dtype=np.int64)
    for x in operands:
        # A vector that is multiplied by a stack of matrices is an operand of all products.
        axes = tuple(range(max(x.ndim - 2, 0), x.ndim))
        total = call.trace.sets.either(total, call.trace.sets.along(call.numbers(x), axes))
    # `solve` with a constant matrix is linear.
    if not (call.name.startswith("linalg.solve") and not call.is_active(operands[0])):
        call.trace.bend(total)
    batch, found = total.shape, []
    for out in results:
        if out.shape[: len(batch)] != batch:
            return None
        found.append(np.broadcast_to(total.reshape(batch + (1,) * (out.ndim - len(batch))), out.shape))
    return found


def _contracted(call: Call, results: list[Array]) -> Any:
    read = products_of(call)
    return None if read is None else [product(call, *read).reshape(results[0].shape)]


_MOVING = (
    *("broadcast_arrays", "broadcast_to", "concat", "expand_dims", "fft.fftshift", "fft.ifftshift", "flip"),
    *("getitem", "linalg.diagonal", "matrix_transpose", "meshgrid", "moveaxis", "pad", "permute_dims"),
    *("repeat", "reshape", "roll", "squeeze", "stack", "take", "take_along_axis", "tile", "tril", "triu"),
    "unstack",
)
_LINEAR_SUMS = (
    *("sum", "mean", "max", "min", "nansum", "nanmean", "nanmax", "nanmin", "median", "nanmedian", "ptp"),
)
_TRANSFORMS = tuple(name for name in VJP if name.startswith("fft.") and "shift" not in name)
_ELEMENTWISE = (
    *(op.qualified for op in OPS),
    *(name for name in VJP if name.startswith("special.")),
    *("where", "real", "imag", "clip", "nan_to_num"),
)

RULES: dict[str, Rule] = {
    **dict.fromkeys(_ELEMENTWISE, _elementwise),
    "multiply": _times,
    "divide": _ratio,
    **dict.fromkeys(_MOVING, _moved),
    **dict.fromkeys(("asarray", "astype", "strided.contiguous"), _same),
    **dict.fromkeys(_LINEAR_SUMS, partial(_reduced, linear=True)),
    **dict.fromkeys(
        ("prod", "var", "std", "nanvar", "nanstd", "linalg.vector_norm", "special.logsumexp"),
        partial(_reduced, linear=False),
    ),
    **dict.fromkeys((*_TRANSFORMS, "sort", "top_k"), partial(_along, linear=True)),
    **dict.fromkeys(("special.softmax", "special.log_softmax"), partial(_along, linear=False)),
    "cumulative_sum": partial(_prefixes, linear=True),
    "cumulative_prod": partial(_prefixes, linear=False),
    "diff": _differences,
    "linalg.trace": _traced,
    **dict.fromkeys(
        (
            name
            for name in VJP
            if name.startswith("linalg.") and name not in ("linalg.diagonal", "linalg.trace")
        ),
        _matrices,
    ),
    "linalg.vector_norm": partial(_reduced, linear=False),
    **dict.fromkeys(("matmul", "tensordot", "vecdot", "einsum", "linalg.outer"), _contracted),
    "linalg.cross": _crossed,
}
