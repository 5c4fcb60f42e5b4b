"""The exceptions of stride0: facts in fields, text built in ``__str__``.

Each class derives from the exception that a Python user would expect (``ValueError`` for shapes,
``TypeError`` for dtypes, ``IndexError`` for indices), so code that catches these exceptions works. The text
has this form

    <operation>: <what is wrong>

        <fact>   <its value>

        <what to write instead>

and is built when it is read, so that raising is cheap.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence

Fact = tuple[str, str]
Shape = tuple[int, ...]
Operand = tuple[str, Shape]

__all__ = [
    "ArgumentTypeError",
    "ArgumentValueError",
    "AxisError",
    "BatchingError",
    "BroadcastError",
    "BroadcastIndexError",
    "BroadcastWarning",
    "CastError",
    "DTypeError",
    "DeviceError",
    "ExchangeError",
    "ForeignArrayError",
    "GradientError",
    "LazyError",
    "OutOfBoundsError",
    "RangeError",
    "ReplayError",
    "ReproducibilityError",
    "ShapeError",
    "StretchError",
    "StrictAttributeError",
    "StrictError",
    "Stride0Error",
    "WriteError",
]

_INDENT = " " * 4
_GAP = " " * 3


def brief(value: int) -> str:
    """Write an integer for a message; for a very large integer only the number of bits."""
    return str(value) if value.bit_length() < 256 else f"an integer of {value.bit_length()} bits"


def counted(count: int, one: str, many: str = "") -> str:
    """Write a count: "1 axis", "2 axes". The plural is `one` with an s, unless `many` is given."""
    return f"{brief(count)} {one if count == 1 else many or one + 's'}"


def shown(value: object) -> str:
    """Write a value for a message; Python refuses to write integers with thousands of digits."""
    try:
        return repr(value)
    except ValueError:
        return f"<{type(value).__name__} too long to be written out>"


class Stride0Error(Exception):
    """Base class of the errors of stride0.

    Parameters
    ----------
    operation : str
        Name of the function or operator that was called, as the caller spelled it.
    problem : str
        What is wrong, in one line.
    facts : sequence of (label, text) pairs
        Facts that explain the problem; printed in two aligned columns.
    accepts : str
        What to write instead.
    """

    operation: str
    problem: str
    facts: tuple[Fact, ...]
    accepts: str

    def __init__(
        self, operation: str, problem: str = "", facts: Iterable[Sequence[str]] = (), accepts: str = ""
    ) -> None:
        self.operation = operation
        self.problem = problem
        self.facts = tuple((str(label), str(text)) for label, text in facts)
        self.accepts = accepts
        # pickle and copy call the class with `args`, so these mirror the signature.
        super().__init__(operation, problem, self.facts, accepts)

    def __str__(self) -> str:
        lines = [f"{self.operation}: {self.problem}"]
        if self.facts:
            width = max(len(label) for label, _ in self.facts)
            lines.append("")
            lines += [f"{_INDENT}{label:<{width}}{_GAP}{text}".rstrip() for label, text in self.facts]
        if self.accepts:
            lines += ["", f"{_INDENT}{self.accepts}"]
        return "\n".join(lines)


class ArgumentTypeError(Stride0Error, TypeError):
    """An argument has a Python type that the function does not accept."""


class ArgumentValueError(Stride0Error, ValueError):
    """An argument has the right type but an invalid value (a step of 0, an unknown kind)."""


class ShapeError(Stride0Error, ValueError):
    """A shape is impossible, or does not fit the operation."""


class DTypeError(Stride0Error, TypeError):
    """The operation does not accept a dtype."""


class AxisError(Stride0Error, ValueError, IndexError):
    """An axis lies outside the array, or is named twice."""


class OutOfBoundsError(Stride0Error, IndexError):
    """An index lies outside its axis."""


class WriteError(Stride0Error, ValueError):
    """A write to read-only memory, or to a broadcast array, whose elements share memory."""


class DeviceError(Stride0Error, ValueError):
    """A device that does not exist, or operands on different devices."""


class CastError(Stride0Error, TypeError):
    """A cast that the standard does not permit."""


class RangeError(Stride0Error, OverflowError):
    """A Python scalar that the dtype cannot hold."""


class ForeignArrayError(Stride0Error, TypeError):
    """An argument is not a stride0 array, for example an array of another library."""


class ExchangeError(Stride0Error, BufferError, ValueError):
    """Memory that cannot be shared with another library."""


class BatchingError(Stride0Error, TypeError):
    """A batched array (of `autograd.vmap`) is used as one value, or in a call without a batching rule."""


class GradientError(Stride0Error, RuntimeError):
    """A gradient would be lost, is not known, or does not exist."""


class ReplayError(Stride0Error, TypeError, ValueError):
    """A function that `stride0.replay` records does something that a later call could not repeat."""


class ReproducibilityError(Stride0Error, RuntimeError):
    """While `stride0.reproducible` is on: a result would depend on the machine."""


class StrictError(Stride0Error, TypeError):
    """Something that the standard does not define, while `stride0.strict` is on.

    Always a TypeError: most refusals concern types and dtypes, and a program that leaves the standard must
    stop there instead of handling an IndexError or a ValueError that it expected.

    Parameters
    ----------
    operation : str
        Name of the function, method or operator.
    problem : str
        What the call did.
    sentence : str
        What the standard says, with the place.
    setting : str
        The setting that refuses the call.
    """

    # While `stride0.testing.as_array_api_strict` is on, this chooses a subclass by the arguments.
    choose: Callable[..., type[StrictError]] | None = None

    def __new__(cls, *args: str) -> StrictError:
        made = StrictError.choose(*args) if cls is StrictError and StrictError.choose else cls
        return super().__new__(made, *args)

    def __init__(
        self, operation: str, problem: str, sentence: str, setting: str = "stride0.strict is on."
    ) -> None:
        super().__init__(operation, problem, (("standard", sentence),), setting)
        self.sentence = sentence
        self.args = (operation, problem, sentence, setting)


class StrictAttributeError(StrictError, AttributeError):
    """An attribute that the standard, or its chosen version, does not have."""


class LazyError(StrictError, ValueError):
    """The value of an array was read although `stride0.testing.flags(lazy=True)` is on."""


class BroadcastError(Stride0Error, ValueError):
    """Shapes that do not broadcast, with the axis at which they fail.

    Parameters
    ----------
    operation : str
        Name of the function or operator.
    operands : sequence of (name, shape) pairs
        All operands, in the order of the call. A name that is an expression of the caller (``x2``) can appear
        in a hint; a name with a space (``shape 2``) never does.
    grow : (name, shape) pair, optional
        For in-place calls: the target, whose shape is fixed. It need not be among `operands`.

    Attributes
    ----------
    operands : tuple of (name, shape) pairs
        The operands, after the target if it was not among them.
    axis : int or None
        The failing axis, counted from the last axis (-1), where shapes are aligned.
    sizes : tuple of (int or None)
        Size of that axis in each operand; None if the operand has no such axis.
    """

    operands: tuple[Operand, ...]
    axis: int | None
    sizes: tuple[int | None, ...]

    def __init__(
        self,
        operation: str,
        operands: Iterable[tuple[str, Sequence[int]]],
        grow: tuple[str, Sequence[int]] | None = None,
    ) -> None:
        pairs = tuple((str(name), tuple(shape)) for name, shape in operands)
        target = None if grow is None else (str(grow[0]), tuple(grow[1]))
        if target is not None and target not in pairs:
            pairs = (target, *pairs)
        self.operands = pairs
        self.grow = target
        self.axis = _clashing_axis([shape for _, shape in pairs])
        self._grows = self.axis is None and target is not None
        if self._grows:
            assert target is not None
            self.axis = _growing_axis(target[1], [shape for _, shape in pairs])
        self.sizes = () if self.axis is None else tuple(_size_at(shape, self.axis) for _, shape in pairs)
        super().__init__(operation, self._headline())
        self.args = (operation, pairs, target)

    def _headline(self) -> str:
        problem = "operands could not be broadcast together"
        if self.axis is None:
            return problem
        if self._grows:
            assert self.grow is not None
            return f"{problem} without growing {self.grow[0]} at axis {self.axis}"
        return f"{problem} at axis {self.axis}"

    def __str__(self) -> str:
        text = f"{self.operation}: {self.problem}\n\n" + "\n".join(drawing(self.operands, self.axis))
        if self.axis is None:
            return text
        text += f"\n{_INDENT}{self._explanation(self.axis)}"
        # Changing the other operand does not help if the target is too small and must keep its shape.
        hint = "" if self._grows else self.hint()
        return f"{text}\n{_INDENT}{hint}" if hint else text

    def _explanation(self, axis: int) -> str:
        if self._grows:
            assert self.grow is not None
            name, shape = self.grow
            size = _size_at(shape, axis)
            wanted = next(
                n for n in self.sizes if (n is not None and n != 1) or (size is None and n is not None)
            )
            if size is None:
                return f"{name} needs an axis {axis} of size {wanted}, but its shape is fixed."
            return (
                f"axis {axis} of {name} would have to grow from {size} to {wanted}, but its shape is fixed."
            )
        (name1, size1), (name2, size2) = _first_clash(self.operands, axis)
        return (
            f"axis {axis} has size {size1} in {name1} and {size2} in {name2}; "
            "sizes must be equal, or one of them 1."
        )

    def hint(self) -> str:
        """Return ``insert an axis: x2[:, None]``, or nothing if it is not certain that this was meant.

        It is certain if exactly one operand has exactly one alignment of its axes with equal sizes of the
        other operands (:func:`_only_fit`), and one inserted axis gives that alignment.
        """
        hints = []
        for i, (name, shape) in enumerate(self.operands):
            others = [s for j, (_, s) in enumerate(self.operands) if j != i]
            # The target of a write must keep its shape.
            if " " in name or (name, shape) == self.grow or _clashing_axis(others) is not None:
                continue
            fit = _only_fit(shape, _broadcast(others))
            if fit is not None and len(fit) == len(shape) + 1:
                # Next to an axis of size 1 several positions give this shape; the rightmost one reads best.
                at = max(k for k in range(len(fit)) if fit[k] == 1 and fit[:k] + fit[k + 1 :] == shape)
                keys = [":"] * len(shape)
                keys.insert(at, "None")
                hints.append(f"insert an axis: {name}[{', '.join(keys)}]")
        return hints[0] if len(hints) == 1 else ""


class StretchError(BroadcastError):
    """Shapes that broadcast, refused by the mode of `stride0.broadcasting`.

    Parameters
    ----------
    operation : str
        Name of the function or operator.
    operands : sequence of (name, shape) pairs
        All operands that have a shape, in the order of the call.
    mode : str
        The mode that refuses them.
    reason : str
        Why the mode refuses them.
    """

    def __init__(
        self, operation: str, operands: Iterable[tuple[str, Sequence[int]]], mode: str, reason: str
    ) -> None:
        super().__init__(operation, operands)
        self.mode = mode
        self.problem = reason
        self.args = (operation, self.operands, mode, reason)

    def __str__(self) -> str:
        drawn = "\n".join(drawing(self.operands, None))
        mode = f'stride0.broadcasting("{self.mode}") is on.'
        lines = "".join(f"\n{_INDENT}{line}" for line in (mode, *self.hint().splitlines()))
        return f"{self.operation}: {self.problem}\n\n{drawn}\n{lines}"

    def hint(self) -> str:
        """Return what to write if the broadcast is meant and, for equal sizes, if it is not meant."""
        shape = _broadcast([found for _, found in self.operands])
        axes = [(name, found) for name, found in self.operands if found or self.mode == "exact"]
        most = max(len(found) for _, found in axes)
        if self.mode == "explicit":
            changed = [(name, found) for name, found in axes if len(found) < most]
            calls = [f"{n}[{', '.join(['None'] * (most - len(s)) + [':'] * len(s))}]" for n, s in changed]
        else:
            changed = [(name, found) for name, found in axes if found != shape]
            calls = [f"broadcast_to({name}, {shape})" for name, _ in changed]
        if not all(name.isidentifier() for name, _ in changed):
            what = "insert the missing axes" if self.mode == "explicit" else "broadcast to equal shapes first"
            return f"if the broadcast is meant, {what}"
        lines = [f"if the broadcast is meant, write {' and '.join(calls)}"]
        low, high = min(axes, key=lambda o: len(o[1])), max(axes, key=lambda o: len(o[1]))
        if 1 < math.prod(low[1]) == math.prod(high[1]) < math.prod(shape):
            lines.append(f"to combine elements at equal positions, write reshape({high[0]}, {low[1]})")
        return "\n".join(lines)


class BroadcastWarning(UserWarning):
    """The warning of `stride0.broadcasting`."""


class BroadcastIndexError(BroadcastError, IndexError):
    """Index arrays whose shapes do not broadcast."""


def _size_at(shape: Shape, axis: int) -> int | None:
    return shape[axis] if -axis <= len(shape) else None


def _clashing_axis(shapes: Sequence[Shape]) -> int | None:
    """Return the first axis, counted from the last, at which two sizes differ and neither is 1."""
    for axis in range(-1, -1 - max(map(len, shapes), default=0), -1):
        if len({shape[axis] for shape in shapes if -axis <= len(shape)} - {1}) > 1:
            return axis
    return None


def _growing_axis(target: Shape, shapes: Sequence[Shape]) -> int | None:
    """Return the first axis, counted from the last, that the result has and the target lacks."""
    for axis in range(-1, -1 - max(map(len, shapes), default=0), -1):
        size = _size_at(target, axis)
        if size is None or (size == 1 and any(_size_at(shape, axis) not in (None, 1) for shape in shapes)):
            return axis
    return None


def _first_clash(operands: Sequence[Operand], axis: int) -> tuple[tuple[str, int], tuple[str, int]]:
    """Return names and sizes of the first two operands whose sizes differ at `axis`."""
    sized = [(name, shape[axis]) for name, shape in operands if -axis <= len(shape) and shape[axis] != 1]
    return sized[0], next(pair for pair in sized if pair[1] != sized[0][1])


def _broadcast(shapes: Sequence[Shape]) -> Shape:
    """Return the common shape of shapes that broadcast."""
    result = []
    for axis in range(-max(map(len, shapes), default=0), 0):
        sizes = {shape[axis] for shape in shapes if -axis <= len(shape)} - {1}
        result.append(sizes.pop() if sizes else 1)
    return tuple(result)


def _only_fit(shape: Shape, other: Shape) -> Shape | None:
    """Return `shape` with inserted axes of size 1, so that its sizes are aligned with equal sizes of `other`.

    None if there is no such shape or more than one. Leading axes of size 1 are omitted, as broadcasting adds
    them. Axes of `shape` of size 1 may be aligned with any size, but no axis of `other` may be broadcast: a
    result with new sizes is possible and may be meant, but it is not certain.
    """
    fits: set[Shape] = set()
    # All alignments of the axes of `shape`, in order, with axes of `other`, built from the last axis of
    # `other`.
    partial: list[tuple[int, Shape]] = [(len(shape), ())]
    for size in reversed(other):
        grown: list[tuple[int, Shape]] = []
        for left, built in partial:
            if left:
                grown.append((left, (1, *built)))
                if shape[left - 1] in (1, size):
                    grown.append((left - 1, (shape[left - 1], *built)))
            else:
                fits.add(built)
        partial = list(dict.fromkeys(grown))
        if len(partial) > 4096:  # a shape with many ones has many alignments
            return None
    fits.update(built for left, built in partial if not left)
    return fits.pop() if len(fits) == 1 else None


def drawing(operands: Sequence[Operand], axis: int | None) -> list[str]:
    """Return lines with the shapes, aligned axis by axis from the right, and a caret under `axis`."""
    ndim = max((len(shape) for _, shape in operands), default=0)
    widths = [max(len(str(shape[k])) for _, shape in operands if -k <= len(shape)) for k in range(-ndim, 0)]
    names = max((len(name) for name, _ in operands), default=0)
    full = sum(widths) + 2 * max(ndim - 1, 0) + 1  # width from "(" to the last digit
    lines = []
    for name, shape in operands:
        cells = [str(size).rjust(widths[k - len(shape)]) for k, size in enumerate(shape)]
        body = "(" + ", ".join([cells[0].lstrip(), *cells[1:]]) if cells else "("
        close = ",)" if len(shape) == 1 else ")"
        lines.append(f"{_INDENT}{name:<{names}}{_GAP}{body.rjust(full)}{close}")
    if axis is not None:
        after = sum(widths[axis + ndim + 1 :]) + 2 * (-axis - 1)
        lines.append(" " * (len(_INDENT) + names + len(_GAP) + full - after - 1) + "^")
    return lines


# Let tracebacks name the module from which users import the classes.
for _name in __all__:
    globals()[_name].__module__ = "stride0"


def hide_frames() -> None:
    """Let pytest omit the frames of the package, so that the last frame it shows is the user's call.

    pytest looks for the name among the globals of a frame, which are the attributes of a module, compiled or
    not. Code that imports further modules of the package must call this again.
    """
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "stride0":
            vars(module)["__tracebackhide__"] = True
