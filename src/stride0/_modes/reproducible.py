"""The same bits on every machine, or an error: a setting per context, and a default for the process."""

from __future__ import annotations

from stride0._base.environment import read_flag
from stride0._base.errors import ArgumentTypeError, shown
from stride0._core.array.modes import REPRODUCIBLE
from stride0._modes.switches import Setting, refuse_function

__all__ = ["reproducible"]

VARIABLE = "STRIDE0_REPRODUCIBLE"


class reproducible(Setting):
    """
    Compute the same bits on every machine, or raise: a context manager, decorator or default of the process.

    Results of the namespace, `linalg`, `fft`, `special` and the backward pass have the same bits on every
    instruction set and at any number of threads. A function without a stride0 kernel raises
    `ReproducibilityError`: SciPy chooses its arithmetic by the processor.

    Parameters
    ----------
    on : bool, optional
        False permits functions without a kernel again, for a block within the mode.

    Raises
    ------
    ArgumentTypeError
        If `on` is not a bool, for example a function decorated by ``@reproducible`` without parentheses.

    Notes
    -----
    The mode applies to the thread and asynchronous task that set it (a `contextvars` variable), and to
    libraries called there. Elsewhere the default of the process applies, set by `set_default` or the
    environment variable ``STRIDE0_REPRODUCIBLE=1``. A new thread begins with that default, or, if
    ``sys.flags.thread_inherit_context`` is set (as in free-threaded Python 3.14), with the setting of the
    thread that starts it.

    Examples
    --------
    >>> with xp.reproducible():
    ...     xp.fft.rfft(xp.ones(13))[0]
    Array(13.+0.j, dtype=complex128)
    >>> with xp.reproducible():
    ...     xp.special.j0(xp.ones(3))
    Traceback (most recent call last):
        ...
    stride0.ReproducibilityError: j0: SciPy computes it, with bits that depend on the machine
    ...
    """

    def __init__(self, on: bool = True) -> None:
        super().__init__(REPRODUCIBLE, _checked(on))

    @staticmethod
    def set_default(on: bool = True) -> bool:
        """Set the mode of all contexts that have not set it.

        Parameters
        ----------
        on : bool, optional
            As above.

        Returns
        -------
        bool
            The previous default.

        Examples
        --------
        >>> before = xp.reproducible.set_default(True)
        >>> xp.reproducible.set_default(before)
        True
        """
        return bool(REPRODUCIBLE.set_default(_checked(on)))

    @staticmethod
    def current() -> bool:
        """Return whether the mode is on in the current context.

        Returns
        -------
        bool
            True or False.

        Examples
        --------
        >>> with xp.reproducible():
        ...     xp.reproducible.current()
        True
        """
        return bool(REPRODUCIBLE.current())


def _checked(on: object) -> bool:
    refuse_function("reproducible", on, "@reproducible()")
    if not isinstance(on, bool):
        raise ArgumentTypeError("reproducible", f"on is {shown(on)}", (), "True or False")
    return on


if read_flag(VARIABLE):
    reproducible.set_default(True)
