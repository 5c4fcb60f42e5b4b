"""Name the function of another library that was called, from the frames of a raised error."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from operator import attrgetter
from types import CodeType, FrameType, TracebackType
from typing import Any

__all__ = ["FORMS", "lost_gradient", "refusing_form"]

# Forms with a gradient, by SciPy name ("signal.lfilter"). `autograd.scipy` fills it in.
FORMS: dict[str, str] = {}
# The context in which SciPy functions themselves use the forms.
PATCHED = "stride0.autograd.scipy.patched()"

_LIBRARY = "scipy"
_FORMS_ARE_IN = "stride0.autograd.scipy"
# Packages of frames between a library's function and its operation on an array, such as decorators.
_BETWEEN = ("numpy", "stride0", "functools", "contextlib")
# Modules of SciPy that call functions of the user; a page of the documentation helps with these.
_CALLING_BACK = ("optimize", "integrate", "differentiate")

_WHY = {
    "__array__": "it computes with NumPy, and the tape does not record that",
    "float": "it converts the array to a Python number, and the tape does not record that",
    "complex": "it converts the array to a Python number, and the tape does not record that",
}


def lost_gradient(error: Any, operation: str, shape: tuple[int, ...]) -> Exception:
    """Return the error for a tracked array whose elements would leave the tape.

    Parameters
    ----------
    error : type
        Class of the error.
    operation : str
        What was done with the array. If SciPy does it, the error names the function of SciPy instead.
    shape : tuple of int
        Shape of the array.
    """
    problem = "the array is tracked, and its gradient would be lost"
    facts = [("shape", f"{shape}")]
    accepts = "write stop_gradient(x) to drop the gradient"
    name = _called(sys._getframe(1))
    if name is None:
        made: Exception = error(operation, problem, facts, accepts)
        return made
    facts.append(("why", _WHY.get(operation, "it reads the memory, and the tape does not record that")))
    form = FORMS.get(name.partition(".")[2])
    if form is not None:
        accepts = f"{form}, which has a gradient; or write `with {PATCHED}:` around this call; or {accepts}"
    elif name.split(".")[1] in _CALLING_BACK:
        accepts = f"pass stride0.autograd.on_numpy(f), see docs/guides/gradient-recipes.md; or {accepts}"
    made = error(name, problem, facts, accepts)
    return made


def refusing_form(traceback: TracebackType | None) -> str | None:
    """Return the form of a SciPy function that raised an error, "scipy.ndimage.extrema", or None.

    An error in a function that the caller passed to a form is not an error of the form.
    """
    found = None
    while traceback is not None:
        frame, traceback = traceback.tb_frame, traceback.tb_next
        module = frame.f_globals.get("__name__", "")
        if module.startswith(_FORMS_ARE_IN):
            found = found or _form_of(frame)
        elif module.partition(".")[0] not in (*_BETWEEN, _LIBRARY):
            found = None
    return found


def _form_of(frame: FrameType) -> str | None:
    names = {name.rpartition(".")[2] for name in _names(frame, frame.f_code)}
    # A function that was generated for a name has the name in its closure.
    closed = (frame.f_locals.get(variable) for variable in frame.f_code.co_freevars)
    names |= {value for value in closed if isinstance(value, str)}
    matching = [f"scipy.{name}" for name in FORMS if name.rpartition(".")[2] in names]
    # Several modules may have the name: find the module whose function this is.
    autograd = sys.modules["stride0.autograd"]
    own = [name for name in matching if getattr(attrgetter(name)(autograd), "__code__", None) is frame.f_code]
    return next(iter(own or matching), None)


def _called(frame: FrameType | None) -> str | None:
    """Return the name of the running SciPy function that was called, or None."""
    inside: list[FrameType] = []
    while frame is not None:
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if package == _LIBRARY:
            inside.append(frame)
        elif package not in _BETWEEN:
            break
        frame = frame.f_back
    return next((name for each in reversed(inside) for name in _public_names(each)), None)


def _public_names(frame: FrameType) -> Iterator[str]:
    """Yield the public names, if any, of the function of a frame."""
    module = ".".join(_public_part(frame.f_globals["__name__"]))
    public = sys.modules.get(module)
    for name in _names(frame, frame.f_code):
        if not name.startswith("_") and hasattr(public, name.partition(".")[0]):
            yield f"{module}.{name}"


def _public_part(module: str) -> Iterator[str]:
    for part in module.split("."):
        if part.startswith("_"):
            return
        yield part


def _names(frame: FrameType, code: CodeType) -> Iterator[str]:
    """Yield possible names of the function of a frame."""
    values = frame.f_locals
    if code.co_varnames[:1] == ("self",) and "self" in values:
        name = type(values["self"]).__name__
        yield name if code.co_name.startswith("__") else f"{name}.{code.co_name}"
    if "<locals>" not in code.co_qualname:
        yield code.co_name
        return
    # A decorator's function has the wrapped function in its closure.
    for variable in code.co_freevars:
        value = values.get(variable)
        for attribute in ("__name__", "name"):
            found = getattr(value, attribute, None)
            if isinstance(found, str):
                yield found
