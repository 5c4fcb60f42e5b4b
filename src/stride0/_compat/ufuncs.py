"""NumPy's ufuncs on stride0 arrays: ``numpy.exp(x)`` is ``exp(x)``, ``numpy.float64(2) * x`` is ``2 * x``.

If the namespace has no function for a ufunc, the ufunc works on views of the memory and returns ndarrays, as
for arrays without ``__array_ufunc__``. Methods of ufuncs, such as ``numpy.add.reduce``, and calls with
keyword arguments work in the same way. A call with an ndarray as another operand raises an error.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final

from stride0._base.errors import ForeignArrayError
from stride0._chapters import elementwise as _elementwise
from stride0._chapters import linear_algebra as _linear_algebra
from stride0._core.array.array import Array, set_attribute
from stride0._core.array.modes import is_strict, refuse_foreign_function
from stride0._core.exchange.numpy_calls import numpy, to_numpy

SAME: Final = (*_elementwise.__all__, "matmul", "vecdot")
"""Functions whose ufunc, if NumPy has it, has the same name."""

# NumPy's names of the other functions.
RENAMED: Final = {
    "absolute": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "conjugate": "conj",
    "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift",
    "power": "pow",
    "right_shift": "bitwise_right_shift",
    "rint": "round",
}

COMPARISONS: Final = ("equal", "greater", "greater_equal", "less", "less_equal", "not_equal")


@cache
def functions() -> dict[Any, tuple[Callable[..., Any], bool]]:
    """Return stride0's functions, and whether they are comparisons, by NumPy ufunc."""
    np = numpy()
    chapters = (_elementwise, _linear_algebra)
    ours = {name: getattr(chapter, name) for chapter in chapters for name in chapter.__all__}
    names = {**{name: name for name in SAME}, **RENAMED}
    found = {getattr(np, name, None): (ours[target], name in COMPARISONS) for name, target in names.items()}
    return {ufunc: function for ufunc, function in found.items() if isinstance(ufunc, np.ufunc)}


def call(x: Array, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
    """Implement ``Array.__array_ufunc__``."""
    np = numpy()
    if method == "__call__":
        function, compares = functions().get(ufunc, (None, False))
        if compares:
            # NumPy converts its scalars to 0-d arrays before comparisons.
            inputs = tuple(
                value[()] if type(value) is np.ndarray and not value.ndim else value for value in inputs
            )
        if function is not None and not named:
            if is_strict() and not any(isinstance(value, (np.generic, np.ndarray)) for value in inputs):
                # With a NumPy scalar or array it may be an operator, which the function checks.
                refuse_foreign_function(ufunc.__name__)
            return function(*inputs)
        # `ndarray += x` is refused too, as by stride0's operators.
        for number, value in enumerate(inputs, 1):
            if isinstance(value, np.ndarray):
                raise ForeignArrayError(
                    ufunc.__name__,
                    f"x{number} is of type numpy.{type(value).__name__}, mixed with a stride0 array",
                    (),
                    "convert one of them: numpy.asarray(x) or stride0.asarray(x)",
                )
    refuse_foreign_function(ufunc.__name__)
    if any(isinstance(out, Array) for out in named.get("out", ())):
        raise ForeignArrayError(
            ufunc.__name__,
            "out is a stride0 array",
            (),
            "pass an ndarray; numpy.asarray(x) is one that shares the memory of x",
        )
    named = {name: _exported(value) for name, value in named.items()}
    return getattr(ufunc, method)(*map(_exported, inputs), **named)


def _exported(value: Any) -> Any:
    return to_numpy(value) if isinstance(value, Array) else value


class Ufuncs:
    """The attribute ``__array_ufunc__`` of the array type."""

    def __get__(self, x: Array | None, owner: type) -> Callable[..., Any] | None:
        # NumPy looks the attribute up in the type. Array classes such as numpy.ma's look it up in an
        # instance, to decide whether to leave `other + x` to x. With None they leave it to x, which refuses
        # types that it does not know.
        return call if x is None else None


set_attribute("__array_ufunc__", Ufuncs())
