"""Gradient cases of the FFT extension: every transform; lengths that truncate and pad, even and odd."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from typing import Any

import numpy as np
from gradient_cases import Call, Case, Singular

Args = Callable[[np.random.Generator], tuple[np.ndarray[Any, Any], ...]]

NORMS = cycle(("backward", "ortho", "forward"))
FROM_REAL = ("rfft", "rfftn", "ihfft")

# Shape, axis and length. Half spectra of 4 elements have the lengths 6 and 7 if no length is given.
LINES: list[tuple[tuple[int, ...], int, int | None]] = [
    ((4,), -1, None),
    ((5,), -1, None),
    ((2, 4), 1, 6),
    ((4, 2), 0, 7),
    ((2, 4, 2), -2, 3),
    ((4,), 0, 2),
    ((3,), 0, 1),
    ((2,), 0, 9),
    ((0, 4), -1, None),
]

# Shape, lengths and axes
PLANES: list[tuple[tuple[int, ...], tuple[int, ...] | None, tuple[int, ...] | None]] = [
    ((3, 4), None, None),
    ((2, 3), None, (0,)),
    ((2, 3, 4), None, (-1, 0)),
    ((2, 3, 4), (5, 2), (2, 1)),
    ((2, 3, 4), (1, 4, 7), (0, 1, 2)),
    ((2, 3), (3, 3), (0, 1)),
    ((4, 4), (2, 2), (-2, -1)),
    ((2, 0, 3), None, (0, 2)),
]


def args(shape: tuple[int, ...], name: str) -> Args:
    if name in FROM_REAL:
        return lambda rng: (rng.standard_normal(shape),)
    return lambda rng: (rng.standard_normal(shape) + 1j * rng.standard_normal(shape),)


def empty(shape: tuple[int, ...]) -> dict[str, Any]:
    """Skip PyTorch for empty transforms, which it refuses."""
    return {} if np.prod(shape) else {"torch": False}


def line(name: str, n: int | None, axis: int, norm: str) -> Call:
    return lambda xp, x: getattr(xp.fft, name)(x, n=n, axis=axis, norm=norm)


def plane(name: str, s: tuple[int, ...] | None, axes: tuple[int, ...] | None, norm: str) -> Call:
    return lambda xp, x: getattr(xp.fft, name)(x, s=s, axes=axes, norm=norm)


def shifted(name: str, axes: Any) -> Call:
    return lambda xp, x: getattr(xp.fft, name)(x, axes=axes)


CASES: list[Case] = [
    *(
        Case(
            f"fft.{name}",
            line(name, n, axis, norm),
            args(shape, name),
            f"{shape}-{n}-{axis}-{norm}",
            **empty(shape),
        )
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
        for (shape, axis, n), norm in zip(LINES, NORMS, strict=False)
    ),
    *(
        Case(f"fft.{name}", line(name, None, -1, norm), args((4,), name), norm)
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
        for norm in ("backward", "ortho", "forward")
    ),
    *(
        Case(
            f"fft.{name}",
            plane(name, s, axes, norm),
            args(shape, name),
            f"{shape}-{s}-{axes}-{norm}",
            **empty(shape),
        )
        for name in ("fftn", "ifftn", "rfftn", "irfftn")
        for (shape, s, axes), norm in zip(PLANES, NORMS, strict=False)
    ),
    # -1 leaves the length of an axis as it is; JAX does not support that.
    *(
        Case(
            f"fft.{name}",
            plane(name, s, (0, 1), "backward"),
            args((2, 3), name),
            str(s),
            jax=False,
        )
        for name in ("fftn", "ifftn", "rfftn", "irfftn")
        for s in ((3, -1), (-1, 4))
    ),
    *(
        Case(f"fft.{name}", plane(name, None, (), "ortho"), args((2, 3), name), "no-axes", False, False)
        for name in ("fftn", "ifftn")
    ),
    *(
        Case(f"fft.{name}", shifted(name, axes), args(shape, kind), f"{kind}-{shape}-{axes}")
        for name in ("fftshift", "ifftshift")
        for kind in ("fft", "rfft")
        for shape, axes in (((5,), None), ((3, 4), None), ((3, 4, 5), (0, -1)), ((3, 5), 1))
    ),
]

SINGULAR: list[Singular] = []
