"""`stride0.testing.check_grad`: derivatives compared with finite differences."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from stride0._base.errors import ArgumentTypeError, Stride0Error
from stride0._base.shapes import normalize_index
from stride0._chapters.manipulation import reshape
from stride0._chapters.statistical import sum
from stride0._core.array.array import Array
from stride0._core.array.modes import CONFIGURATION
from stride0._core.call.checks import as_real, check_function, type_name
from stride0._core.elementwise.functions import add, conj, multiply, real
from stride0._core.exchange.exchange import asarray
from stride0._modes.switches import Setting
from stride0.autograd._parts import FLOATING
from stride0.autograd._tape.trees import flatten
from stride0.autograd._transforms import grad, stop_gradient

__all__ = ["check_grad"]

# Step of the fourth-order differences: truncation and rounding errors are both about 1e-12.
STEP = 1e-3


def check_grad(
    f: Callable[..., Any], *xs: Any, order: int = 2, rtol: float = 1e-6, atol: float = 1e-7, seed: int = 0
) -> None:
    """Compare derivatives of a function with finite differences.

    Parameters
    ----------
    f : callable
        Takes and returns arrays, or nested structures of arrays. Smooth near `xs`. Results that are not of a
        floating-point dtype are ignored.
    *xs : nested structures of arrays
        The arguments to differentiate at, of dtype ``float64`` or ``complex128``: in single precision, finite
        differences are too inaccurate.
    order : int
        The highest order of derivatives.
    rtol, atol : float
        Relative and absolute tolerance.
    seed : int
        Seed of the random directions and cotangents.

    Raises
    ------
    AssertionError
        If a derivative differs; the message has its order and both values.
    TypeError
        If `f` does not return any array of a floating-point dtype.

    Notes
    -----
    The product of the derivative of order k with k random directions is compared. Complex arguments and
    results count as pairs of real numbers, with the convention of `stride0.autograd.grad`.

    Examples
    --------
    >>> xp.testing.check_grad(xp.sin, xp.asarray([0.5, 1.0]), order=3)
    >>> def wrong(x):
    ...     return x * xp.autograd.stop_gradient(x)
    >>> xp.testing.check_grad(wrong, xp.asarray([0.5, 1.0]))
    Traceback (most recent call last):
        ...
    AssertionError: check_grad: the derivative of order 1 is ..., finite differences give ...
    """
    check_function("check_grad", f)
    order, seed = normalize_index("check_grad", "order", order), normalize_index("check_grad", "seed", seed)
    rtol, atol = as_real("check_grad", "rtol", rtol), as_real("check_grad", "atol", atol)
    rng = random.Random(seed)
    leaves, structure = flatten(list(xs))
    points = [_point(x) for x in leaves]
    g = _weighted(lambda *arrays: f(*structure.rebuild(arrays)), points, rng)
    numbers = tuple(range(len(points)))
    for k in range(1, order + 1):
        gradient = grad(g, argnums=numbers)
        found = gradient(*points)
        for _ in range(2):
            directions = [_random(x, rng) for x in points]
            slope = _number(_inner(found, directions))
            expected = _difference(g, points, directions)
            size = max(1.0, abs(slope), abs(expected))
            # Written so that NaN fails too.
            if not abs(slope - expected) <= atol + rtol * size:
                found_and_expected = f"{slope!r}, finite differences give {expected!r}"
                raise AssertionError(f"check_grad: the derivative of order {k} is {found_and_expected}")
        g = _weighted(gradient, points, rng)


def _point(x: object) -> Array:
    try:
        return asarray(x)
    except Stride0Error:
        problem = f"an argument is of type {type_name(x)}"
        raise ArgumentTypeError("check_grad", problem, (), "pass float64 or complex128 arrays") from None


def _random(x: Array, rng: random.Random) -> Array:
    """Return random numbers of the shape and dtype of `x`."""
    complex_too = x.dtype.kind == "complex floating"
    values = [complex(rng.gauss(0, 1), rng.gauss(0, 1) if complex_too else 0) for _ in range(x.size)]
    flat = asarray(values if complex_too else [v.real for v in values], dtype=x.dtype)
    return reshape(flat, x.shape)


def _inner(xs: Any, ys: Any) -> Array:
    """Return the real inner product of two lists of arrays."""
    total = asarray(0.0)
    for x, y in zip(xs, ys, strict=True):
        total = add(total, sum(real(multiply(conj(x), y))))
    return total


def _weighted(f: Callable[..., Any], points: list[Array], rng: random.Random) -> Callable[..., Array]:
    """Return `f` as a function with one real result: the sum of its results times random weights."""
    weights = [_random(y, rng) for y in _floating(f(*points))]
    if not weights:
        raise TypeError("check_grad: the function returned no array of a floating-point dtype")
    return lambda *xs: _inner(_floating(f(*xs)), weights)


def _floating(y: Any) -> list[Array]:
    return [x for x in flatten(y)[0] if isinstance(x, Array) and x.dtype.kind in FLOATING]


def _difference(g: Callable[..., Array], points: list[Array], directions: list[Array]) -> float:
    def at(t: float) -> float:
        return _number(g(*[add(x, multiply(v, t)) for x, v in zip(points, directions, strict=True)]))

    return (8 * (at(STEP) - at(-STEP)) - (at(2 * STEP) - at(-2 * STEP))) / (12 * STEP)


def _number(x: Array) -> float:
    # Also for a lazy array, because the comparison is not part of the function.
    with Setting(CONFIGURATION, None):
        return float(stop_gradient(x))
