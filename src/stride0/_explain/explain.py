"""`explain`: how operands broadcast, as text and as a picture.

`facts` gathers the facts, `text` and `picture` show them.
"""

from __future__ import annotations

import html
import os
from collections.abc import Callable
from typing import Any, overload

from stride0._base.errors import ArgumentValueError, hide_frames, shown
from stride0._base.shapes import Shape
from stride0._core.array.array import Array
from stride0._core.call.binding import intercepted
from stride0._core.program.program import describe_pending
from stride0._explain.contraction import Contraction, describe
from stride0._explain.facts import Facts, Insertion, gather
from stride0._explain.pending import PendingSteps
from stride0._explain.picture import draw
from stride0._explain.text import text

__all__ = ["Contraction", "Explanation", "Insertion", "explain"]


class Explanation(Facts):
    """How operands broadcast: a text when printed, a picture in a notebook.

    Tuples have one entry per operand. For ``matmul``, axes are counted among the leading axes, which are the
    axes that broadcast.

    Attributes
    ----------
    operation : str
        Name of the operation, by default ``"broadcast"``.
    names : tuple of str
        Names of the operands.
    shapes : tuple of tuple of int
        Shapes of the operands.
    dtypes : tuple of DType
        Dtypes of the operands; ``float64`` for an operand given as a shape.
    strides : tuple of tuple of int
        Strides of the operands, in elements.
    offsets : tuple of int
        Offset of each operand's first element in its storage.
    core_ndim : int
        The number of last axes that do not broadcast: 2 for ``matmul``, otherwise 0.
    result_shape : tuple of int or None
        The broadcast shape; None if the shapes do not fit.
    result_dtype : DType or None
        The dtype of the result; None if the shapes do not fit or it is not known, as for your own functions.
    stretched : tuple of tuple of int
        Axes of the result along which an operand is broadcast, counted from the last axis, -1.
    stretched_strides : tuple of tuple of int or None
        Strides with which the operation reads the operands; None if the shapes do not fit.
    stored_nbytes, addressed_nbytes : tuple of int
        Size in bytes of an operand's elements, and of the elements that the operation reads.
    plan : dict or None
        The plan: ``"shape"``, ``"order"`` (axes of the result, innermost first), ``"merged"``
        (the loops, innermost first; their strides are in bytes), ``"layout"`` and ``"result_strides"``. None
        for ``matmul``, for more than three operands, and if the shapes do not fit.
    error : BroadcastError or ShapeError or None
        The error that the operation would raise.
    clashes : tuple of int
        All axes at which sizes do not fit.
    insertions : tuple of Insertion
        If the shapes do not fit: all single axes whose insertion makes them fit.
    pending : PendingSteps or None
        For one deferred array, the steps that will compute it; then the text shows these.
    """

    pending: PendingSteps | None = None

    def __str__(self) -> str:
        return text(self) if self.pending is None else str(self.pending)

    __repr__ = __str__

    @overload
    def svg(self) -> str: ...
    @overload
    def svg(self, path: str | os.PathLike[str]) -> None: ...
    def svg(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Draw the picture.

        Parameters
        ----------
        path : str or path-like, optional
            File in which to save it.

        Returns
        -------
        str or None
            The SVG document, if it is not saved.
        """
        document = draw(self)
        if path is None:
            return document
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(document)
        return None

    def _repr_html_(self) -> str:
        style = "white-space:pre;line-height:1.3"
        lines = f'<pre style="{style}">{html.escape(str(self))}</pre>'
        if self.pending is not None:
            return lines
        return f"{self.svg()}<details><summary>as text</summary>{lines}</details>"


@overload
def explain(subscripts: str, /, *arrays_or_shapes: Array | Shape) -> Contraction: ...
@overload
def explain(*arrays_or_shapes: Array | Shape, op: str | Callable[..., Any] | None = None) -> Explanation: ...
@intercepted
def explain(*arrays_or_shapes: Any, op: str | Callable[..., Any] | None = None) -> Explanation | Contraction:
    """Explain how operands broadcast, or why they do not; or how `einsum` contracts operands.

    Parameters
    ----------
    *arrays_or_shapes : Array or tuple of int
        The operands. An operand given by its shape counts as an array of ``float64`` in C order; nothing is
        allocated for it. For `einsum`, the subscripts and then the operands.
    op : str or callable, optional
        The operation on these operands: an elementwise function of the standard, ``matmul`` (its leading axes
        broadcast), or your own function. Its parameters give the names of the operands.

    Returns
    -------
    Explanation or Contraction
        The text shows the shapes aligned from the right, the broadcast axes, the strides before and after
        broadcasting, the stored and the addressed bytes, and the loops of the plan; or the failing axis and
        every inserted axis that makes the shapes fit. In a notebook it is a picture. For one deferred array
        (`fused`) it shows the steps that will compute it, and which values are written. For `einsum` it shows
        labels and strides.

    Raises
    ------
    ArgumentTypeError
        If an operand is neither an array nor a tuple of integers.
    ArgumentValueError
        If there are no operands, or if `op` does not broadcast or takes another number of operands.
    ShapeError
        If a shape is invalid.
    """
    if arrays_or_shapes and isinstance(arrays_or_shapes[0], str):
        if op is not None:
            raise ArgumentValueError(
                "explain", "subscripts belong to einsum, and op names another operation", [("op", shown(op))]
            )
        return describe(arrays_or_shapes[0], arrays_or_shapes[1:])
    single = arrays_or_shapes[0] if len(arrays_or_shapes) == 1 and op is None else None
    steps = describe_pending(single) if isinstance(single, Array) else None
    out = Explanation(**vars(gather(arrays_or_shapes, op)))
    if steps is not None:
        out.pending = PendingSteps(**steps)
    return out


hide_frames()
