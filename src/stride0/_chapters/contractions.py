"""Sums of products of arrays whose axes have labels: `einsum`, which the standard does not have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stride0._base.subscripts import find_path
from stride0._core.array.array import Array
from stride0._core.call.binding import intercepted, primitive
from stride0._core.matmul.matmul import read_subscripts

__all__ = ["einsum", "einsum_path"]

Path = bool | str | Sequence[Any]


@primitive
def einsum(subscripts: Any, /, *operands: Any, optimize: Path = "auto") -> Array:
    """Multiply arrays with labelled axes, and sum along labels that the result does not have.

    Parameters
    ----------
    subscripts : str
        The labels of the axes of each operand, separated by commas, and the labels of the result after
        ``->``: ``"ij,jk->ik"``. A label is a letter. Without ``->`` the result has the labels that occur
        once, in alphabetic order. ``...`` is for axes without a label, which broadcast. Without ``->`` these
        axes come first in the result; after ``->`` they must be written.
    *operands : Array
        One operand for each term of the subscripts, of any dtype. In the interleaved form there is no string:
        ``einsum(x1, [0, 1], x2, [1, 2], [0, 2])``. Then labels are integers, ``...`` is Ellipsis, and the
        labels of the result are optional.
    optimize : bool, str or sequence of tuple of int
        The order in which more than two operands are contracted in pairs: ``"optimal"`` takes the fewest
        multiplications; ``"greedy"`` is found faster; ``"auto"`` is ``"optimal"`` for up to four operands,
        otherwise ``"greedy"``. True means ``"greedy"``, False from left to right. Or a path from
        `einsum_path`.

    Returns
    -------
    Array
        Array with an axis for each label of the result, of the promoted dtype of the operands. A view if
        there is one operand and no sum; otherwise a new array, whose memory order may differ from C order.

    Raises
    ------
    ArgumentValueError
        If the subscripts or the path do not fit the number of operands, or if an operand has axes of an
        ellipsis and the result has no ellipsis.
    ShapeError
        If an operand has more or fewer axes than labels, or if the sizes of a label differ. An axis of size 1
        broadcasts against axes of other operands.

    Notes
    -----
    If an operand lacks a label, its stride there is 0; if the result lacks a label, the result's stride is 0;
    if an operand has a label twice, the strides are added. Products are summed as by `matmul` or `vecdot`.
    Integers wrap around. The result of bool arrays tells whether any of the products is true.

    Subscripts and paths are cached, so a repeated call does not read them again. Paths come from NumPy's
    `einsum_path`, which uses opt_einsum: D. G. A. Smith and J. Gray, "opt_einsum", Journal of Open Source
    Software 3 (26), 753, 2018.
    """


@intercepted
def einsum_path(subscripts: Any, /, *operands: Any, optimize: Path = "auto") -> tuple[list[Any], str]:
    """Return the order in which `einsum` contracts its operands.

    Parameters
    ----------
    subscripts, *operands, optimize
        As for `einsum`.

    Returns
    -------
    list
        ``"einsum_path"``, then a tuple for each step: the operands of the current list to contract. They
        are removed from the list, and their product is appended. `einsum` takes it as `optimize`.
    str
        A report on the cost of the steps, as in NumPy; empty if the path was given.

    Raises
    ------
    ArgumentValueError, ShapeError
        As for `einsum`.
    """
    arrays, read = read_subscripts("einsum_path", subscripts, operands)
    path, report = find_path("einsum_path", read, [x.shape for x in arrays], optimize)
    return ["einsum_path", *path], report
