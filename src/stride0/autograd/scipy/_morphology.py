"""Grey morphology of `stride0.autograd.scipy.ndimage`: the largest and smallest elements of windows."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import stride0 as xp
from stride0._base.shapes import normalize_axes
from stride0._core.array.array import Array
from stride0.autograd.scipy._arguments import each, floating, item
from stride0.autograd.scipy._calls import original
from stride0.autograd.scipy._ranks import Window, described, listed, real_input
from stride0.autograd.scipy._signatures import into_output, named

__all__ = [
    "black_tophat",
    "grey_closing",
    "grey_dilation",
    "grey_erosion",
    "grey_opening",
    "morphological_gradient",
    "morphological_laplace",
    "white_tophat",
]


def _extreme(
    operation: str, x: Any, shape: tuple[Any, Any, Any], mode: Any, cval: float, origin: Any, axes: Any
) -> Array:
    """Return an erosion or a dilation by a size, a footprint or a structure."""
    x = real_input(operation, x)
    size, footprint, structure = shape
    given = {"size": size, "mode": mode, "cval": cval, "origin": origin, "axes": axes}
    if footprint is not None:
        footprint = given["footprint"] = item(xp.asarray(footprint)).astype(bool)
    if structure is not None:
        structure = floating(operation, "structure", structure)
        given["structure"] = item(structure)
        if footprint is None:
            footprint = given["structure"] == given["structure"]
    found = original(f"ndimage.{operation}")(item(x), **{key: v for key, v in given.items() if v is not None})
    sign = -1.0
    if operation == "grey_dilation":
        # A dilation reads the mirrored window.
        sign = 1.0
        numbers = normalize_axes(operation, axes, x.ndim)
        sizes = (
            footprint.shape if footprint is not None else each(operation, "size", listed(size), len(numbers))
        )
        origins = each(operation, "origin", listed(origin), len(numbers))
        origin = [-o - (n % 2 == 0) for o, n in zip(origins, sizes, strict=True)]
        footprint = None if footprint is None else footprint[(slice(None, None, -1),) * footprint.ndim]
        structure = None if structure is None else xp.flip(structure)
    window = Window(operation, x, size, footprint, mode, cval, origin, axes)
    if structure is not None:
        structure = xp.reshape(structure, tuple(window.sizes))
    return window.chosen(x, found, structure, sign)


_eroded = functools.partial(_extreme, "grey_erosion")
_dilated = functools.partial(_extreme, "grey_dilation")


def _laplace(x: Any, *options: Any) -> Array:
    x = real_input("morphological_laplace", x)
    found: Array = _dilated(x, *options) + _eroded(x, *options) - 2 * x
    return found


def _opened(x: Any, *options: Any) -> Array:
    return _dilated(_eroded(x, *options), *options)


def _closed(x: Any, *options: Any) -> Array:
    return _eroded(_dilated(x, *options), *options)


def _morphology(name: str, what: str, made: Callable[..., Array]) -> Any:
    def filtered(
        input: Any,
        size: Any = None,
        footprint: Any = None,
        structure: Any = None,
        output: Any = None,
        mode: Any = "reflect",
        cval: float = 0.0,
        origin: Any = 0,
        *,
        axes: Any = None,
    ) -> Array:
        return made(input, (size, footprint, structure), mode, cval, origin, axes)

    return into_output(named(filtered, name, described(name, what)))


grey_erosion = _morphology("grey_erosion", "Take the smallest element of each window", _eroded)
grey_dilation = _morphology("grey_dilation", "Take the largest element of each window", _dilated)
grey_opening = _morphology("grey_opening", "Erode, and then dilate", _opened)
grey_closing = _morphology("grey_closing", "Dilate, and then erode", _closed)
morphological_gradient = _morphology(
    "morphological_gradient",
    "Take the difference of the dilation and the erosion",
    lambda x, *options: _dilated(x, *options) - _eroded(x, *options),
)
morphological_laplace = _morphology("morphological_laplace", "Take the Laplacian", _laplace)
white_tophat = _morphology(
    "white_tophat",
    "Take off the opening",
    lambda x, *options: real_input("white_tophat", x) - _opened(x, *options),
)
black_tophat = _morphology(
    "black_tophat",
    "Take the array off the closing",
    lambda x, *options: _closed(x, *options) - real_input("black_tophat", x),
)
