"""Functions that have kernels for real operands; SciPy computes them for complex operands."""

from __future__ import annotations

from collections.abc import Callable

from stride0._core.array.array import Array
from stride0._core.call.binding import primitive_in
from stride0._core.elementwise.special import set_complex
from stride0.special._scipy import by_scipy

__all__: list[str] = []

# SciPy's ufuncs by stride0's names.
_UNARY = {name: name for name in ("erf", "erfc", "erfcx", "gamma", "log_ndtr", "ndtr")} | {"digamma": "psi"}
_BINARY = ("xlog1py", "xlogy")


def _unary(name: str, ufunc: str) -> Callable[..., Array]:
    def function(x: Array, /) -> Array:
        return by_scipy(f"special.{name}", ("x",), x, ufunc=ufunc)

    return _named(function, name)


def _binary(name: str) -> Callable[..., Array]:
    def function(x1: Array, x2: Array, /) -> Array:
        return by_scipy(f"special.{name}", ("x1", "x2"), x1, x2)

    return _named(function, name)


def _named(function: Callable[..., Array], name: str) -> Callable[..., Array]:
    function.__name__ = function.__qualname__ = name
    return primitive_in("special")(function)


set_complex(
    {f"special.{name}": _unary(name, ufunc) for name, ufunc in _UNARY.items()}
    | {f"special.{name}": _binary(name) for name in _BINARY}
)
