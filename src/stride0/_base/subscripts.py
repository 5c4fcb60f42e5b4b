"""Labels of axes: the subscripts of `einsum`, read from a string or from lists, and the axes of `tensordot`.

A label is a number, the same for the same letter. Each axis of an ellipsis has its own label, counted from
the last axis, as shapes broadcast.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Sequence
from typing import Any, Final, NamedTuple

from stride0._base.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    AxisError,
    ShapeError,
    brief,
    counted,
    shown,
)
from stride0._base.shapes import MAX_NDIM, normalize_axes, normalize_index

Labels = tuple[int, ...]
List = tuple[int | None, ...]

MOST_LABELS = 2 * MAX_NDIM
"""The most different labels in a call: the axes of two operands."""


class Subscripts(NamedTuple):
    """The labels of the axes of the operands and the result.

    Attributes
    ----------
    inputs : tuple of tuple of int
        For each operand, the label of each axis.
    output : tuple of int
        The label of each axis of the result, without duplicates.
    names : tuple of str
        The caller's spelling of each label.
    """

    inputs: tuple[Labels, ...]
    output: Labels
    names: tuple[str, ...]


class _Term(NamedTuple):
    """Labels before and behind an ellipsis, in the caller's form; without an ellipsis, `behind` is None."""

    labels: tuple[Hashable, ...]
    behind: tuple[Hashable, ...] | None


def parse_string(operation: str, subscripts: str, ndims: Sequence[int]) -> Subscripts:
    """Read ``"ij,jk->ik"`` for operands with `ndims` axes.

    Raises
    ------
    ArgumentValueError
        If the string is malformed or does not match the number of operands. If the result has a label that no
        operand has, or lacks the ellipsis of an operand.
    ShapeError
        If an operand has more or fewer axes than labels.
    """
    facts = [("subscripts", shown(subscripts))]
    left, arrow, right = subscripts.partition("->")
    for character in (left + right).replace("...", "").replace(",", ""):
        if not (character.isalpha() or character.isspace()):
            raise ArgumentValueError(
                operation,
                f"{character!r} is not a label",
                facts,
                'write letters as labels, "..." for other axes, "," between operands, "->" before the result',
            )
    left, right = "".join(left.split()), "".join(right.split())
    if arrow and "," in right:
        raise ArgumentValueError(operation, "there is only one result", facts, 'write no "," after "->"')
    terms = [_term(operation, part, facts) for part in left.split(",")]
    return _resolve(operation, terms, _term(operation, right, facts) if arrow else None, ndims, facts)


def parse_lists(
    operation: str, lists: Sequence[List], output: List | None, ndims: Sequence[int]
) -> Subscripts:
    """Read the lists of the interleaved form, made by `read_list`; `output` may be None."""
    facts = [("subscripts", ", ".join(map(_shown_list, lists)))]
    if output is not None:
        facts.append(("of the result", _shown_list(output)))
    terms = [_listed(operation, each, facts) for each in lists]
    return _resolve(
        operation, terms, None if output is None else _listed(operation, output, facts), ndims, facts
    )


def read_list(operation: str, given: object) -> List:
    """Return a list of labels as a tuple of integers, with None for an ellipsis."""
    if not isinstance(given, (list, tuple)):
        raise ArgumentTypeError(
            operation, f"the labels of an operand must be a list of integers, not {type(given).__name__}"
        )
    found: list[int | None] = []
    for label in given:
        if label is Ellipsis:
            found.append(None)
            continue
        try:
            if isinstance(label, bool):
                raise TypeError
            found.append(operator.index(label))
        except TypeError:
            found.append(-1)
        number = found[-1]
        if number is None or number < 0:
            raise ArgumentTypeError(
                operation,
                f"{shown(label)} is not a label",
                [("labels", shown(given))],
                "write integers from 0 on as labels, or an ellipsis",
            )
    return tuple(found)


def _shown_list(labels: List) -> str:
    return f"[{', '.join('...' if label is None else str(label) for label in labels)}]"


def _term(operation: str, text: str, facts: list[tuple[str, str]]) -> _Term:
    front, *behind = text.split("...")
    if len(behind) > 1 or "." in front or "." in "".join(behind):
        raise ArgumentValueError(operation, f'"{text}" has more than one ellipsis, or half of one', facts)
    return _Term(tuple(front), tuple(behind[0]) if behind else None)


def _listed(operation: str, labels: List, facts: list[tuple[str, str]]) -> _Term:
    if labels.count(None) > 1:
        raise ArgumentValueError(operation, "a list has more than one ellipsis", facts)
    if None not in labels:
        return _Term(labels, None)
    place = labels.index(None)
    return _Term(labels[:place], labels[place + 1 :])


def _resolve(
    operation: str,
    terms: list[_Term],
    output: _Term | None,
    ndims: Sequence[int],
    facts: list[tuple[str, str]],
) -> Subscripts:
    if len(terms) != len(ndims):
        raise ArgumentValueError(
            operation,
            f"the subscripts are of {counted(len(terms), 'operand')}, and there "
            f"{'is' if len(ndims) == 1 else 'are'} {len(ndims)}",
            facts,
        )
    numbers: dict[Hashable, int] = {}
    inputs: list[Labels] = []
    widest = 0
    for k, (term, ndim) in enumerate(zip(terms, ndims, strict=True)):
        missing = ndim - len(term.labels) - len(term.behind or ())
        if missing < 0 or (missing and term.behind is None):
            given = counted(ndim - missing, "label") + (" without an ellipsis" if term.behind is None else "")
            raise ShapeError(
                operation,
                f"operands[{k}] has {counted(ndim, 'axis', 'axes')}, and {given}",
                facts,
                'write one label per axis, or "..." for the axes without a label',
            )
        widest = max(widest, missing)
        inputs.append(tuple(numbers.setdefault(key, len(numbers)) for key in _keys(term, missing)))
    if output is None:
        once = [key for key, number in numbers.items() if sum(own.count(number) for own in inputs) == 1]
        plain = sorted(
            (key for key in once if not isinstance(key, tuple)), key=lambda key: (str(type(key)), key)
        )
        output = _Term((), tuple(plain))
    elif widest and output.behind is None:
        raise ArgumentValueError(
            operation,
            f"the result lacks the {counted(widest, 'axis', 'axes')} of the ellipsis",
            facts,
            'write "..." in the result, too, then sum(result, axis=...) over these axes',
        )
    keys = list(_keys(output, widest if output.behind is not None else 0))
    for key in keys:
        if keys.count(key) > 1:
            raise ArgumentValueError(operation, f"the result has the label {_name(key)} twice", facts)
        if key not in numbers:
            raise ArgumentValueError(
                operation, f"the result has the label {_name(key)}, and no operand has it", facts
            )
    if len(numbers) > MOST_LABELS:
        raise ArgumentValueError(operation, f"more than {MOST_LABELS} labels", facts)
    return Subscripts(tuple(inputs), tuple(numbers[key] for key in keys), tuple(map(_name, numbers)))


def _keys(term: _Term, missing: int) -> tuple[Hashable, ...]:
    """The labels of all axes: a letter, an integer, or a tuple with the number of an ellipsis axis."""
    return (*term.labels, *((k,) for k in range(-missing, 0)), *(term.behind or ()))


def _name(key: Hashable) -> str:
    return f"{key}" if not isinstance(key, tuple) else f"axis {key[0]} of the ellipsis"


def pairs_of_axes(operation: str, axes: Any, ndim1: int, ndim2: int) -> tuple[Labels, Labels]:
    """Return the non-negative axes of both operands for the `axes` argument of `tensordot`."""
    given = [("axes", brief(axes) if isinstance(axes, int) else shown(axes))]
    if isinstance(axes, (tuple, list)):
        if len(axes) != 2 or axes[0] is None or axes[1] is None:
            raise ArgumentValueError(operation, "axes must be an integer or a pair of sequences", given)
        # Any sequences; `normalize_axes` takes tuples.
        pair = [tuple(part) if isinstance(part, Sequence) else part for part in axes]
        summed1, summed2 = (
            normalize_axes(operation, part, n) for part, n in zip(pair, (ndim1, ndim2), strict=True)
        )
        if len(summed1) != len(summed2):
            raise ArgumentValueError(
                operation,
                f"{counted(len(summed1), 'axis', 'axes')} of x1 and {len(summed2)} of x2 cannot be paired",
                given,
            )
        return summed1, summed2
    count = normalize_index(operation, "axes", axes)
    if count < 0:
        raise ArgumentValueError(operation, "a number of axes must not be negative", given)
    if count > min(ndim1, ndim2):
        raise AxisError(
            operation,
            f"there are fewer than {counted(count, 'axis', 'axes')} to sum along",
            [("x1", counted(ndim1, "axis", "axes")), ("x2", counted(ndim2, "axis", "axes"))],
        )
    return tuple(range(ndim1 - count, ndim1)), tuple(range(count))


def labels_of_tensordot(operation: str, axes: Any, ndim1: int, ndim2: int) -> tuple[Labels, Labels, Labels]:
    """Return the labels of both operands of `tensordot` and of its result."""
    summed1, summed2 = pairs_of_axes(operation, axes, ndim1, ndim2)
    partners = dict(zip(summed2, summed1, strict=True))
    labels1 = tuple(range(ndim1))
    labels2 = tuple(partners.get(k, ndim1 + k) for k in range(ndim2))
    kept = (*(k for k in labels1 if k not in summed1), *(k for k in labels2 if k >= ndim1))
    return labels1, labels2, kept


def steps_of(
    inputs: Sequence[Labels], output: Labels, path: Sequence[Sequence[int]]
) -> list[tuple[int, int, Labels]]:
    """Return the products of pairs in a path.

    Returns
    -------
    list of (int, int, labels)
        The positions of two operands in the list of remaining operands, the smaller position first. They are
        removed, and their product, with the labels of the third item, is appended. The second position is -1
        if a single operand is summed.
    """
    left = list(inputs)
    steps: list[tuple[int, int, Labels]] = []

    def contract(places: list[int]) -> None:
        own = [left.pop(place) for place in reversed(places)]
        wanted = set(output).union(*left) if left else set(output)
        kept = (
            output
            if not left
            else tuple(dict.fromkeys(label for each in own for label in each if label in wanted))
        )
        left.append(kept)
        steps.append((places[0], places[1] if len(places) > 1 else -1, kept))

    for group in path:
        places = sorted(group)
        if len(places) == 1:
            contract(places)
        while len(places) > 1:
            contract(places[:2])
            # The product is last; the other operands have moved up.
            places = [*(place - 2 for place in places[2:]), len(left) - 1] if len(places) > 2 else []
    if len(left) > 1:
        while len(left) > 1:
            contract([0, 1])
    if left[0] != output:
        contract([0])
    return steps


def common_sizes(subscripts: Subscripts, shapes: Sequence[tuple[int, ...]]) -> list[int]:
    """Return the size of each label: the size of an axis that is not broadcast, if there is one."""
    sizes = [1] * len(subscripts.names)
    for labels, shape in zip(subscripts.inputs, shapes, strict=True):
        for label, size in zip(labels, shape, strict=True):
            sizes[label] = size if size != 1 else sizes[label]
    return sizes


def sizes_of(
    operation: str, subscripts: Subscripts, shapes: Sequence[tuple[int, ...]]
) -> list[tuple[list[tuple[str, tuple[int, ...]]], tuple[int, ...]]]:
    """Return the sizes of the axes, and the common size, for each label with a broadcast axis.

    Raises
    ------
    ShapeError
        If the sizes of a label differ and no size is 1, or if they differ within one operand.
    """
    found: list[tuple[list[tuple[str, tuple[int, ...]]], tuple[int, ...]]] = []
    common = common_sizes(subscripts, shapes)
    for label, written in enumerate(subscripts.names):
        axes = [
            (k, axis, shapes[k][axis])
            for k, own in enumerate(subscripts.inputs)
            for axis, its in enumerate(own)
            if its == label
        ]
        sizes = {size for _, _, size in axes}
        inside = any(
            len({size for owner, _, size in axes if owner == k}) > 1 for k in range(len(subscripts.inputs))
        )
        if inside or len(sizes - {1}) > 1:
            raise ShapeError(
                operation,
                f"the label {written} names axes of different sizes",
                [(f"operands[{k}]", f"{shapes[k]}, axis {axis}") for k, axis, _ in axes],
                "use one label per size; an axis of size 1 broadcasts against a longer axis",
            )
        if len(sizes) > 1:
            pairs: list[tuple[str, tuple[int, ...]]] = [
                (f"axis {axis} of operands[{k}]", (size,)) for k, axis, size in axes
            ]
            found.append((pairs, (common[label],)))
    return found


# --- the order in which several operands are contracted

AUTO: Final = "auto"
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_FEW_OPERANDS = 4
_UNLIMITED = 2**62


def check_optimize(operation: str, optimize: object, count: int) -> None:
    """Raise unless `optimize` is valid for `einsum` with `count` operands."""
    if isinstance(optimize, bool) or (isinstance(optimize, str) and optimize in (AUTO, "greedy", "optimal")):
        return
    if not isinstance(optimize, (list, tuple)):
        raise ArgumentValueError(
            operation,
            f"unknown optimize {shown(optimize)}",
            accepts='pass "auto", "greedy", "optimal", True, False, or a path: a list of tuples of integers',
        )
    _given_path(operation, optimize, count)


def find_path(
    operation: str, subscripts: Subscripts, shapes: Sequence[tuple[int, ...]], optimize: Any
) -> tuple[list[tuple[int, ...]], str]:
    """Return a path, and NumPy's report of its cost.

    Raises
    ------
    ArgumentValueError
        If the path does not fit the number of operands, or if a path is requested for more than 52 labels,
        which NumPy does not support.
    """
    count = len(subscripts.inputs)
    check_optimize(operation, optimize, count)
    if optimize is False:
        return [(0, 1)] * (count - 1), ""
    if not isinstance(optimize, (str, bool)):
        return _given_path(operation, optimize, count), ""
    if len(subscripts.names) > len(_LETTERS):
        raise ArgumentValueError(
            operation,
            f"a path is found for at most {len(_LETTERS)} labels, not {len(subscripts.names)}",
            accepts="pass optimize=False to contract from left to right, or a path",
        )
    import numpy

    way = "greedy" if optimize is True else optimize
    if way == AUTO:
        way = "optimal" if count <= _FEW_OPERANDS else "greedy"
    terms = ["".join(_LETTERS[label] for label in each) for each in (*subscripts.inputs, subscripts.output)]
    # Broadcast views, because a path only depends on shapes. Sizes of 0 become 1, to avoid a division by 0.
    stand_ins = [numpy.broadcast_to(0.0, tuple(max(1, size) for size in shape)) for shape in shapes]
    path, report = numpy.einsum_path(
        f"{','.join(terms[:-1])}->{terms[-1]}", *stand_ins, optimize=(way, _UNLIMITED)
    )
    return [tuple(step) for step in path[1:]], report


def _given_path(operation: str, path: Sequence[Any], count: int) -> list[tuple[int, ...]]:
    steps = list(path[1:] if path and path[0] == "einsum_path" else path)
    found: list[tuple[int, ...]] = []
    left = count
    for step in steps:
        try:
            places = tuple(operator.index(place) for place in step)
        except TypeError:
            places = ()
        if not places or len(set(places)) < len(places) or not all(0 <= place < left for place in places):
            raise ArgumentValueError(
                operation,
                f"step {shown(step)} of the path does not name one of {counted(left, 'operand')}",
                [("path", shown(path))],
            )
        found.append(places)
        left -= len(places) - 1
    return found
