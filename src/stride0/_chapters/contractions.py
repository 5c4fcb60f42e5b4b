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
    """Multiply arrays whose axes have labels, and sum along the labels that the result lacks.

    Parameters
    ----------
    subscripts : str
        The labels of the axes of each operand, separated by commas, and the labels of the result behind
        ``->``: ``"ij,jk->ik"``. A label is a letter. Without ``->`` the result has, in alphabetic order, the
        labels that occur once. ``...`` stands for axes without a label, which broadcast. Without ``->`` these
        axes come first in the result; behind ``->`` they must be written.
    *operands : Array
        One for each term of the subscripts, of any dtypes. In the interleaved form there is no string:
        ``einsum(x1, [0, 1], x2, [1, 2], [0, 2])``; labels are integers, ``...`` is Ellipsis, and the labels
        of the result may be left out.
    optimize : bool, str or sequence of tuple of int
        The order in which more than two operands are contracted in pairs: ``"optimal"`` takes fewest
        multiplications, ``"greedy"`` is found faster; ``"auto"`` is the first up to four operands, then the
        second; True is ``"greedy"``, and False from left to right; or a path of `einsum_path`.

    Returns
    -------
    Array
        An axis for each label of the result, of the dtype that those of the operands promote to. Of one
        operand of which nothing is summed along, a view; else a new array, whose axes may lie in memory in
        another order.

    Raises
    ------
    ArgumentValueError
        If the subscripts or the path do not fit the number of operands, or if an operand has axes of an
        ellipsis and the result has no ellipsis.
    ShapeError
        If an operand has another number of axes than labels, or the sizes of a label differ. An axis of size
        1 broadcasts against those of other operands.

    Notes
    -----
    A label that an operand lacks has stride 0 there, one that the result lacks has stride 0 on the result,
    and of one that an operand has twice the strides are added. Products are summed up as by `matmul` or
    `vecdot`; integers wrap around, and of bool arrays the result is whether any of the products is true.

    Subscripts and paths are kept, so that a call with the same ones does not read them again. Paths are those
    of NumPy's `einsum_path`, and so of opt_einsum: D. G. A. Smith and J. Gray, "opt_einsum", Journal of Open
    Source Software 3 (26), 753, 2018.
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
        ``"einsum_path"``, then a tuple for each step: which operands of the current list are contracted. They
        are removed from the list, and their product is appended. `einsum` takes it as `optimize`.
    str
        A report on the cost of the steps, like that of NumPy; empty if the path was given.

    Raises
    ------
    ArgumentValueError, ShapeError
        As by `einsum`.
    """
    arrays, read = read_subscripts("einsum_path", subscripts, operands)
    path, report = find_path("einsum_path", read, [x.shape for x in arrays], optimize)
    return ["einsum_path", *path], report
