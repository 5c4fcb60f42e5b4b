"""The standard and nothing else: a switch for programs that are to run on every library."""

from __future__ import annotations

import os

import stride0._gate  # noqa: F401 - sets the gate
from stride0._core.array import STRICT, is_strict
from stride0._errors import ArgumentTypeError, ArgumentValueError, shown
from stride0._switches import Setting

__all__ = ["strict"]

VARIABLE = "STRIDE0_STRICT"
WORDS = {
    "1": True,
    "true": True,
    "on": True,
    "yes": True,
    "0": False,
    "false": False,
    "off": False,
    "no": False,
    "": False,
}


class strict(Setting):
    """
    Refuse what the standard does not define: a context manager, a decorator, and a default for the process.

    Parameters
    ----------
    on : bool
        False lets a block be lenient within strict code.

    Raises
    ------
    ArgumentTypeError
        If `on` is no bool.

    Notes
    -----
    Where the standard is silent, stride0 does what users of NumPy, PyTorch and JAX expect; in strict mode it
    raises `StrictError`, which names the sentence that is left. The mode holds in the thread and the
    asynchronous task that set it (a `contextvars` variable), and there only for the caller's code, not for
    what functions of the package do to compute their results. Elsewhere the default of the process holds,
    from the environment variable ``STRIDE0_STRICT`` (``1`` or ``0``) or `set_default`.

    Examples
    --------
    >>> import stride0 as xp
    >>> with xp.strict():
    ...     y = xp.ones(3) + 1.5
    """

    def __init__(self, on: bool = True) -> None:
        super().__init__(STRICT, _flag(on))

    @staticmethod
    def set_default(on: bool) -> bool:
        """
        Set the mode of every context that has none of its own.

        Parameters
        ----------
        on : bool
            Whether strict.

        Returns
        -------
        bool
            The default before.
        """
        before: bool = STRICT.set_default(_flag(on))
        return before

    @staticmethod
    def current() -> bool:
        """
        Return whether strict mode holds here.

        Returns
        -------
        bool
            True or False.
        """
        return is_strict()


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ArgumentTypeError("strict", f"on is {shown(value)}", (), "True or False")
    return value


if VARIABLE in os.environ:
    word = os.environ[VARIABLE].strip().lower()
    if word not in WORDS:
        raise ArgumentValueError("strict", f"{VARIABLE} is {shown(os.environ[VARIABLE])}", (), "1 or 0")
    STRICT.set_default(WORDS[word])
