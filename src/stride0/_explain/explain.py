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

    Tuples have one entry per operand. For ``matmul``, axes are counted among the leading ones, which are
    those that broadcast.

    Attributes
    ----------
    operation : str
        Name of the operation, ``"broadcast"`` where none was given.
    names : tuple of str
        What the operands are called.
    shapes : tuple of tuple of int
        As they are.
    dtypes : tuple of DType
        ``float64`` for operands that were given as a shape.
    strides : tuple of tuple of int
        As they are, in elements.
    offsets : tuple of int
        Place of the first element of each in its storage.
    core_ndim : int
        How many of the last axes do not broadcast: 2 for ``matmul``, else 0.
    result_shape : tuple of int or None
        None if the shapes do not fit.
    result_dtype : DType or None
        None too where it is not known, as for functions of your own.
    stretched : tuple of tuple of int
        Axes of the result along which an operand is broadcast, counted from the last one, -1.
    stretched_strides : tuple of tuple of int or None
        Strides with which the operation reads the operands; None if the shapes do not fit.
    stored_nbytes, addressed_nbytes : tuple of int
        Bytes of the elements of an operand, and of the elements that the operation reads.
    plan : dict or None
        What the planner does: ``"shape"``, ``"order"`` (axes of the result, innermost first), ``"merged"``
        (the loops, innermost first; their strides are in bytes), ``"layout"`` and ``"result_strides"``. None
        for ``matmul``, for more than three operands, and where the shapes do not fit.
    error : BroadcastError or ShapeError or None
        What the operation would raise.
    clashes : tuple of int
        All axes at which sizes do not fit.
    insertions : tuple of Insertion
        If the shapes do not fit: all axes whose insertion, one at a time, makes them fit.
    pending : PendingSteps or None
        Of one deferred array, what will compute it; then the text shows that.
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
            File to save it to.

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
    """Explain how operands broadcast, or why they do not; or, of subscripts and operands, what `einsum` does.

    Parameters
    ----------
    *arrays_or_shapes : Array or tuple of int
        The operands. One given by its shape alone is taken as an array of ``float64`` in C order; nothing is
        allocated for it.
    op : str or callable, optional
        The operation that they are operands of: an elementwise function of the standard, ``matmul``, of which
        the leading axes broadcast, or any function of your own. Its parameters name the operands.

    Returns
    -------
    Explanation or Contraction
        Its text shows the shapes aligned from the right, the broadcast axes, the strides before and after,
        how many bytes are stored and how many are addressed, and the loops of the plan; or the axis that
        fails and every inserted axis that makes the shapes fit. In a notebook it is a picture.
        Of one deferred array (`fused`) it shows the steps that will compute it, and what is written; of
        a string in front of the operands, the subscripts of `einsum`, labels against strides.

    Raises
    ------
    ArgumentTypeError
        If an operand is neither an array nor a tuple of integers.
    ArgumentValueError
        If there are no operands, or `op` does not broadcast, or takes another number of them.
    ShapeError
        If a shape is impossible.
    """
    if arrays_or_shapes and isinstance(arrays_or_shapes[0], str):
        if op is not None:
            raise ArgumentValueError(
                "explain", "subscripts are those of einsum: there is no other op", [("op", shown(op))]
            )
        return describe(arrays_or_shapes[0], arrays_or_shapes[1:])
    single = arrays_or_shapes[0] if len(arrays_or_shapes) == 1 and op is None else None
    steps = describe_pending(single) if isinstance(single, Array) else None
    out = Explanation(**vars(gather(arrays_or_shapes, op)))
    if steps is not None:
        out.pending = PendingSteps(**steps)
    return out


hide_frames()
