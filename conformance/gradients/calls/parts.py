"""Parts of the tables of calls: calls, and operands at which finite differences are accurate."""

from __future__ import annotations

import functools
import importlib
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from conformance.gradients.operands import normal


class Call(NamedTuple):
    """One call of a function `f`: `made(xp, f, *arrays)`, where the arrays are those to differentiate by."""

    name: str  # the function of SciPy, perhaps with a remark on the call
    made: Callable[..., Any]
    arrays: tuple[Any, ...]
    rough: float = 1e-6  # the digits to which the function is smooth; iterations have fewer

    @property
    def function(self) -> str:
        """The function of SciPy, "special.erf"."""
        return self.name.partition(" ")[0]

    def call(self, xp: Any, *arrays: Any, form: Any = None) -> Any:
        """Make the call, with another function instead of SciPy's if one is given."""
        return self.made(xp, scipy_function(self.function) if form is None else form, *arrays)


def scipy_function(name: str) -> Any:
    """The function "special.erf" of SciPy, which is imported when the first call is made."""
    # Looked up at each call: `patched` replaces it.
    module, rest = _owner(name)
    return operator.attrgetter(rest)(module)


@functools.cache
def _owner(name: str) -> tuple[Any, str]:
    parts = name.split(".")
    for count in range(len(parts) - 1, 0, -1):
        module = f"scipy.{'.'.join(parts[:count])}"
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError:
            continue
        return found, ".".join(parts[count:])
    raise AttributeError(f"SciPy has no {name}")


def call(name: str, made: Callable[..., Any], *arrays: Any, rough: float = 1e-6) -> Call:
    """A call of the function that is named: `made(xp, f, *arrays)`."""
    return Call(name, made, arrays, rough)


def of_namespace(xp: Any, value: Any) -> Any:
    return xp.asarray(value) if isinstance(value, np.ndarray) else value


def named(
    module: str, names: str, *arrays: Any, note: str = "", rough: float = 1e-6, **options: Any
) -> list[Call]:
    """Functions of a part of SciPy that are called alike; arrays among the options are constants."""

    def made(xp: Any, f: Any, *xs: Any) -> Any:
        return f(*xs, **{name: of_namespace(xp, value) for name, value in options.items()})

    return [call(f"{module}.{name} {note}".rstrip(), made, *arrays, rough=rough) for name in names.split()]


def of_each(module: str, names: str, **arguments: Any) -> list[Call]:
    """A call by each floating-point argument, the others being constants: `of_each("m", "f", a=A)`."""
    found = []
    for place, (argument, array) in enumerate(arguments.items()):
        if not isinstance(array, np.ndarray) or array.dtype.kind != "f":
            continue

        def made(xp: Any, f: Any, x: Any, place: int = place) -> Any:
            given = [of_namespace(xp, value) for value in arguments.values()]
            return f(*given[:place], x, *given[place + 1 :])

        found += [call(f"{module}.{name} by {argument}", made, array) for name in names.split()]
    return found


HALF = np.asarray(0.5)
SECTIONS = np.asarray([[0.2, 0.1, 0.3, 1.0, 0.2, 0.1], [0.4, 0.3, 0.1, 1.0, -0.3, 0.2]])
SQUARE = normal(3, 3) + 3 * np.eye(3)
QUATERNIONS, VECTORS = normal(3, 4), normal(3, 3)
