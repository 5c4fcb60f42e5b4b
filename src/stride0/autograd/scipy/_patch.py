"""SciPy's own functions on tracked arrays: `patched`, `patch` and `unpatch`.

Note [Hooks of SciPy]
    SciPy has a public hook only for `scipy.fft`: `scipy.fft.register_backend`, which reaches a function under
    every imported name. In other modules the public names are replaced: a function by a wrapper that calls
    the form if an argument is tracked, and otherwise the function; a class by a subclass that does the same.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from stride0._base.callers import FORMS
from stride0._base.errors import ArgumentTypeError, ForeignArrayError, shown
from stride0._core.array.array import Array
from stride0.autograd._tape.tape import is_batched_array, is_tracked
from stride0.autograd.scipy._calls import as_event, found_by, scipy

__all__ = ["patch", "patched", "unpatch"]

# SciPy options that change no value of the result.
_WITHOUT_EFFECT = {
    *("check_finite", "overwrite_a", "overwrite_ab", "overwrite_b", "overwrite_data", "overwrite_x"),
    *("workers", "plan", "lapack_driver", "driver", "xp"),
}
# Modules whose functions take functions of the caller, which may use tracked arrays.
_CALLING_BACK = ("integrate", "optimize")

_LOCK = threading.RLock()
_COUNT = 0
# Replaced names: the object, the name, the original (None if it was inherited), and the replacement.
_REPLACED: list[tuple[Any, str, Any, Any]] = []


def patch() -> None:
    """Make SciPy functions differentiable in the whole process, as `patched` does in a block.

    Raises
    ------
    ImportError
        If SciPy cannot be imported.

    Examples
    --------
    >>> import scipy.signal
    >>> from stride0.autograd.scipy import patch, unpatch
    >>> patch()
    >>> echo = lambda x: xp.sum(scipy.signal.lfilter([1.0], [1.0, -0.5], x))
    >>> xp.autograd.grad(echo)(xp.ones(3))
    Array([1.75, 1.5 , 1.  ], dtype=float64)
    >>> unpatch()
    """
    global _COUNT
    with _LOCK:
        if _COUNT == 0:
            _replace_all()
        _COUNT += 1


def unpatch() -> None:
    """Undo one call of `patch`, if there was one. The last call restores SciPy's functions.

    Examples
    --------
    >>> from stride0.autograd.scipy import patch, unpatch
    >>> patch()
    >>> patch()
    >>> unpatch()
    >>> unpatch()
    """
    global _COUNT
    with _LOCK:
        if _COUNT == 1:
            _restore_all()
        _COUNT = max(0, _COUNT - 1)


@contextmanager
def patched() -> Iterator[None]:
    """Let SciPy's own functions take tracked arrays, within a `with` block.

    If `stride0.autograd.scipy` has a form of a SciPy function, a call uses the form if an array among its
    arguments is tracked or batched, and otherwise SciPy's code. A solver also uses the form if a function
    that you pass returns a tracked array, or takes only stride0 arrays.

    Raises
    ------
    ImportError
        If SciPy cannot be imported.

    Notes
    -----
    Names in modules of SciPy are replaced, in all threads, until the last of these blocks ends. So the call
    has to look the name up: `scipy.signal.lfilter(b, a, x)`, or `signal.lfilter(b, a, x)` after ``from scipy
    import signal``. A name that was imported before, by ``from scipy.signal import lfilter``, is not patched.
    Calls between SciPy's private modules are not patched either. `scipy.fft` has a hook, so its functions are
    patched under every name.

    Examples
    --------
    >>> import scipy.signal
    >>> from stride0.autograd.scipy import patched
    >>> echo = lambda x: xp.sum(scipy.signal.lfilter([1.0], [1.0, -0.5], x))
    >>> with patched():
    ...     xp.autograd.grad(echo)(xp.ones(3))
    Array([1.75, 1.5 , 1.  ], dtype=float64)
    """
    patch()
    try:
        yield
    finally:
        unpatch()


def _form(name: str) -> Any:
    return found_by(FORMS[name].removeprefix("stride0.autograd.scipy."))


def _replace_all() -> None:
    try:
        for name in FORMS:
            module, _, attribute = name.rpartition(".")
            if module == "fft":
                _register()
                continue
            owner = scipy_owner(module)
            original = getattr(owner, attribute, None)
            if original is None:
                continue  # missing in this SciPy version
            new = _class(name, original) if inspect.isclass(original) else _function(name, original)
            _REPLACED.append((owner, attribute, vars(owner).get(attribute), new))
            setattr(owner, attribute, new)
    except BaseException:
        _restore_all()
        raise


def _restore_all() -> None:
    while _REPLACED:
        owner, attribute, before, new = _REPLACED.pop()
        # Other code may have replaced it since.
        if getattr(owner, attribute, None) is not new:
            continue
        if before is None:
            delattr(owner, attribute)
        else:
            setattr(owner, attribute, before)


def scipy_owner(name: str) -> Any:
    """Return a module of SciPy, or an object in a module, "stats.norm", that has functions."""
    try:
        return scipy(name)
    except ImportError:
        module, _, attribute = name.rpartition(".")
        if not module:
            raise
        return getattr(scipy(module), attribute)


# --- calls


def _any_tracked(values: Iterable[Any]) -> bool:
    for x in values:
        if isinstance(x, Array):
            if is_tracked(x) or is_batched_array(x):
                return True
        elif (isinstance(x, (tuple, list)) and _any_tracked(x)) or (
            isinstance(x, Mapping) and _any_tracked(x.values())
        ):
            return True
    return False


def _takes_form(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    # Modules imported meanwhile keep the replacements, and `scipy.fft` keeps its backend. SciPy itself takes
    # no matrix that is given by elements and places.
    by_places = name.startswith("sparse.") and isinstance(args[0] if args else kwargs.get("A"), tuple)
    return _COUNT > 0 and (by_places or _any_tracked(args) or _any_tracked(kwargs.values()))


def _signature(name: str, original: Any) -> inspect.Signature:
    try:
        return inspect.signature(original)
    except ValueError:  # a compiled function without a signature
        return inspect.signature(_form(name))


class _TakeForm(BaseException):
    """A function of the caller needs the form."""


def _watched(f: Any) -> Any:
    """Wrap a function of the caller that SciPy calls: it asks for the form if it needs one."""

    @functools.wraps(f)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            found = f(*args, **kwargs)
        except ForeignArrayError as error:
            raise _TakeForm from error
        if _any_tracked((found,)):
            raise _TakeForm
        return found

    return as_event(called, f)


def _call_watching(name: str, original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a SciPy solver, or its form if a function among its arguments uses a tracked array."""

    def watching(key: str, value: Any) -> Any:
        if key == "events" and isinstance(value, (list, tuple)):
            return [_watched(event) for event in value]
        return _watched(value) if callable(value) and not inspect.isclass(value) else value

    given = _signature(name, original).bind(*args, **kwargs)
    for key, value in given.arguments.items():
        if key == "options" and original.__name__ == "solve_ivp":
            value.update({k: watching(k, v) for k, v in value.items()})
        elif key != "args":
            given.arguments[key] = watching(key, value)
    try:
        return original(*given.args, **given.kwargs)
    except (_TakeForm, ForeignArrayError):
        # SciPy itself may fail on an array that a function returned.
        return _call_form(name, original, args, kwargs)


def _call_form(name: str, original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a form with the arguments of the SciPy function, without options that change no value."""
    form = _form(name)
    theirs, mine = _signature(name, original), inspect.signature(form)
    open_ended = any(p.kind is p.VAR_KEYWORD for p in mine.parameters.values())
    given = theirs.bind(*args, **kwargs)
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for key, value in given.arguments.items():
        parameter = theirs.parameters[key]
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional.extend(value)
        elif parameter.kind is parameter.VAR_KEYWORD:
            named.update(value)
        elif parameter.kind is parameter.POSITIONAL_ONLY or (
            not named
            and parameter.kind is not parameter.KEYWORD_ONLY
            and parameter.default is parameter.empty
        ):
            positional.append(value)
        elif key in mine.parameters or open_ended:
            named[key] = value
        elif key not in _WITHOUT_EFFECT and value is not parameter.default:
            raise ArgumentTypeError(
                name,
                f"{key} is not supported if an array is tracked",
                [(key, shown(value))],
                f"pass {key}={shown(parameter.default)}",
            )
    return form(*positional, **named)


def _function(name: str, original: Any) -> Callable[..., Any]:
    @functools.wraps(original)
    def patched_function(*args: Any, **kwargs: Any) -> Any:
        if _takes_form(name, args, kwargs):
            return _call_form(name, original, args, kwargs)
        if _COUNT > 0 and name.partition(".")[0] in _CALLING_BACK:
            return _call_watching(name, original, args, kwargs)
        return original(*args, **kwargs)

    # SciPy's own decorators set `__wrapped__`, too: this attribute marks our wrappers.
    patched_function.stride0_original = original  # type: ignore[attr-defined]
    return patched_function


class _Patched(type):
    """The metaclass of subclasses that replace SciPy classes; their own subclasses are ordinary."""

    stride0_original: Any
    stride0_name: str

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if not cls._stands_for_another():
            return super().__call__(*args, **kwargs)
        if _takes_form(cls.stride0_name, args, kwargs):
            return _call_form(cls.stride0_name, cls.stride0_original, args, kwargs)
        return cls.stride0_original(*args, **kwargs)

    def _stands_for_another(cls) -> bool:
        return "stride0_original" in vars(cls)

    def __instancecheck__(cls, instance: Any) -> bool:
        if not cls._stands_for_another():
            return super().__instancecheck__(instance)
        return isinstance(instance, (cls.stride0_original, _form(cls.stride0_name)))

    def __subclasscheck__(cls, subclass: Any) -> bool:
        if not cls._stands_for_another():
            return super().__subclasscheck__(subclass)
        return issubclass(subclass, cls.stride0_original)


def _class(name: str, original: Any) -> Any:
    facts = {
        "stride0_original": original,
        "stride0_name": name,
        "__doc__": original.__doc__,
        "__module__": original.__module__,
        "__slots__": (),
        "__signature__": inspect.signature(original),
    }
    return _Patched(original.__name__, (original,), facts)


# --- scipy.fft


class _Backend:
    """The backend that `scipy.fft` asks before it computes."""

    __ua_domain__ = "numpy.scipy.fft"

    @staticmethod
    def __ua_function__(method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        name = f"fft.{method.__name__}"
        if name not in FORMS or not _takes_form(name, args, kwargs):
            return NotImplemented
        return _call_form(name, method, args, kwargs)


@functools.cache
def _register() -> None:
    # A backend cannot be unregistered: without a patch it declines every call.
    scipy("fft").register_backend(_Backend)
