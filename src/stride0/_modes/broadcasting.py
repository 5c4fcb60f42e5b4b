"""Allowed broadcasts: a mode per context, and a default for the process."""

from __future__ import annotations

from typing import Literal

from stride0._base.environment import read
from stride0._base.errors import ArgumentTypeError, shown
from stride0._core.array.modes import BROADCASTING, BROADCASTING_MODES, mode_name, mode_number
from stride0._modes.switches import Setting, refuse_function

__all__ = ["broadcasting"]

Mode = Literal["standard", "pointwise", "warn", "explicit", "exact"]
VARIABLE = "STRIDE0_BROADCASTING"


class broadcasting(Setting):
    """Guard against accidental broadcasts: a context manager, a decorator, and a default for the process.

    Parameters
    ----------
    mode : {"standard", "pointwise", "warn", "explicit", "exact"}
        The treatment of operands with different shapes:

        - ``"standard"``: they broadcast, as the standard says.
        - ``"pointwise"``: a `BroadcastWarning` if operands of equal size broadcast against each other, as
          (4, 1) and (4,) do.
        - ``"warn"``: a `BroadcastWarning` if an operand with axes is broadcast.
        - ``"explicit"``: a `StretchError` (a `BroadcastError`) unless all operands with axes have the same
          number of axes. Axes of size 1 may be broadcast.
        - ``"exact"``: a `StretchError` if an array is broadcast (Python scalars do not count). In this
          mode, code broadcasts with `broadcast_to`, `broadcast_arrays` and `expand_dims`.

    Raises
    ------
    ArgumentTypeError
        If `mode` is not a str.
    ArgumentValueError
        If `mode` is unknown.

    Notes
    -----
    The mode applies to the thread and the asynchronous task that set it (a `contextvars` variable), and there
    only to broadcasts of the caller's code, not to broadcasts within functions of the package. Assignments
    and in-place operators obey it as well. Elsewhere the default of the process applies, set by the
    environment variable ``STRIDE0_BROADCASTING`` or `set_default`. A new thread begins with that default. But
    if ``sys.flags.thread_inherit_context`` is set, as in free-threaded Python 3.14, it begins with the mode
    of the thread that starts it.

    Examples
    --------
    >>> with xp.broadcasting("explicit"):
    ...     (xp.ones((3, 4)) * xp.ones((1, 4))).shape
    (3, 4)
    >>> with xp.broadcasting("explicit"):
    ...     xp.ones((3, 4)) * xp.ones(4)
    Traceback (most recent call last):
        ...
    stride0.StretchError: multiply: operands have different numbers of axes
    ...
    >>> @xp.broadcasting("exact")
    ... def f(x, y):
    ...     return x + xp.broadcast_to(y, x.shape)
    >>> f(xp.ones((3, 4)), xp.ones(4)).shape
    (3, 4)
    """

    def __init__(self, mode: Mode) -> None:
        super().__init__(BROADCASTING, _number(mode))
        self.mode = mode

    @staticmethod
    def set_default(mode: Mode) -> str:
        """Set the mode of all contexts that have not set a mode.

        Parameters
        ----------
        mode : str
            As above.

        Returns
        -------
        str
            The previous default.

        Examples
        --------
        >>> before = xp.broadcasting.set_default("warn")
        >>> xp.broadcasting.set_default(before)
        'warn'
        """
        return mode_name(BROADCASTING.set_default(_number(mode)))

    @staticmethod
    def current() -> str:
        """Return the mode of the current context.

        Returns
        -------
        str
            One of the modes.

        Examples
        --------
        >>> with xp.broadcasting("exact"):
        ...     xp.broadcasting.current()
        'exact'
        """
        return mode_name(BROADCASTING.current())


def _number(mode: object) -> int:
    refuse_function("broadcasting", mode, '@broadcasting("explicit")')
    if not isinstance(mode, str):
        accepts = f"pass one of {', '.join(map(repr, BROADCASTING_MODES))}"
        raise ArgumentTypeError("broadcasting", f"mode is {shown(mode)}", (), accepts)
    return int(mode_number(mode))


_wanted = read(
    VARIABLE,
    lambda text: text if text in BROADCASTING_MODES else None,
    "mode",
    f"one of {', '.join(BROADCASTING_MODES)}",
)
if _wanted is not None:
    BROADCASTING.set_default(mode_number(_wanted))
