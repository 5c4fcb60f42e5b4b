"""Strict mode: refuses everything outside the standard, for programs that must run on every library."""

from __future__ import annotations

from collections.abc import Collection

import stride0._modes.interceptors  # noqa: F401 - registers the interceptor
from stride0._base.environment import read_flag, read_names
from stride0._base.errors import ArgumentTypeError, ArgumentValueError, shown
from stride0._core.array.modes import STRICT, Scope, is_strict
from stride0._modes.switches import Setting, refuse_function

__all__ = ["strict"]

VARIABLE = "STRIDE0_STRICT"
MODULES = "STRIDE0_STRICT_MODULES"
EXEMPT = "STRIDE0_STRICT_EXEMPT"


class strict(Setting):
    """
    Refuse calls that the standard does not define: a context manager, decorator or default of the process.

    Parameters
    ----------
    on : bool
        False turns strict mode off for a block within strict code.
    modules : collection of str, optional
        Names of modules and packages: only calls from their code are checked.
    exempt : collection of str
        Names of modules and packages whose calls are not checked.

    Raises
    ------
    ArgumentTypeError
        If `on` is not a bool, or `modules` or `exempt` is not a collection of names.
    ArgumentValueError
        If `modules` is empty, or `on` is False and names are given.

    Notes
    -----
    If the standard is silent, stride0 does what users of NumPy, PyTorch and JAX expect. In strict mode it
    raises `StrictError`, which quotes the requirement of the standard. The mode applies to the thread and the
    asynchronous task that set it (a `contextvars` variable), and there only to the caller's code, not to
    calls within the package. Elsewhere the default of the process applies, set by `set_default` or the
    environment variable ``STRIDE0_STRICT`` (``1`` or ``0``). If that is not set, the variables
    ``STRIDE0_STRICT_MODULES`` and ``STRIDE0_STRICT_EXEMPT``, names separated by commas, also turn the mode
    on. A new thread begins with that default. But if ``sys.flags.thread_inherit_context`` is set, as in
    free-threaded Python 3.14, it begins with the mode of the thread that starts it.

    A call belongs to the module whose code runs in the nearest frame on the stack outside of stride0, whoever
    called that module. Calls by NumPy functions belong to the caller of NumPy, unless NumPy itself is named.
    A name means a module, or a package with everything in it: ``"scipy"`` includes ``scipy.stats`` and
    SciPy's copies of other libraries. If both parameters name a module, it is exempt.

    Examples
    --------
    >>> with xp.strict():
    ...     xp.ones(3) + 1.5
    Array([2.5, 2.5, 2.5], dtype=float64)
    >>> with xp.strict():
    ...     xp.ones(3).sum()
    Traceback (most recent call last):
        ...
    stride0.StrictAttributeError: sum: an attribute of an array
    ...
    >>> with xp.strict(exempt=("scipy",)):
    ...     xp.asarray([1, 2]) + xp.asarray([0.5, 1.5])
    Traceback (most recent call last):
        ...
    stride0.StrictError: add: x2 is of dtype float64, mixed with int64
    ...
    """

    def __init__(
        self, on: bool = True, *, modules: Collection[str] | None = None, exempt: Collection[str] = ()
    ) -> None:
        super().__init__(STRICT, _value(on, modules, exempt))

    @staticmethod
    def set_default(
        on: bool | strict, *, modules: Collection[str] | None = None, exempt: Collection[str] = ()
    ) -> bool | strict:
        """Set the mode of all contexts that have not set a mode.

        Parameters
        ----------
        on : bool or strict
            Whether the mode is on; or a returned default, to restore it.
        modules, exempt : collection of str
            As for `strict`.

        Returns
        -------
        bool or strict
            The previous default: a `strict` object if it was limited to modules by name.

        Examples
        --------
        >>> before = xp.strict.set_default(xp.strict(modules=("my_package",)))
        >>> now = xp.strict.set_default(before)
        """
        if isinstance(on, strict) and modules is None and not exempt:
            value = on._value
        else:
            value = _value(on, modules, exempt)
        before = STRICT.set_default(value)
        if isinstance(before, Scope):
            return strict(modules=before.modules, exempt=before.exempt)
        return bool(before)

    @staticmethod
    def current() -> bool:
        """Return whether strict mode is on in the current context.

        Returns
        -------
        bool
            True or False.

        Examples
        --------
        >>> with xp.strict():
        ...     xp.strict.current()
        True
        """
        return is_strict()


def _value(on: object, modules: object, exempt: object) -> bool | Scope:
    """Return the value of the switch."""
    refuse_function("strict", on, "@strict()")
    if not isinstance(on, bool):
        raise ArgumentTypeError("strict", f"on is {shown(on)}", (), "pass True or False")
    scope = Scope(None if modules is None else _names("modules", modules), _names("exempt", exempt))
    if scope.modules == ():
        raise ArgumentValueError(
            "strict", "modules is empty", (), "pass one or more module names, or None for all code"
        )
    if scope.modules is None and not scope.exempt:
        return on
    if not on:
        raise ArgumentValueError(
            "strict", "on is False, and modules are named", (), "pass on=True, or leave the modules out"
        )
    return scope


def _names(parameter: str, value: object) -> tuple[str, ...]:
    accepts = 'pass module names as a tuple: ("scipy",)'
    if isinstance(value, str) or not isinstance(value, Collection):
        raise ArgumentTypeError("strict", f"{parameter} is {shown(value)}", (), accepts)
    for name in value:
        if not isinstance(name, str) or not all(part.isidentifier() for part in name.split(".")):
            raise ArgumentTypeError("strict", f"{parameter} holds {shown(name)}", (), accepts)
    return tuple(value)


def _from_environment() -> None:
    """Set the default from the environment variables."""
    modules, exempt = read_names(MODULES), read_names(EXEMPT)
    on = read_flag(VARIABLE)
    if bool(modules or exempt) if on is None else on:
        strict.set_default(True, modules=modules or None, exempt=exempt)


_from_environment()
