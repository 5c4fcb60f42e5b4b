"""Chooses the instruction set: one build of the kernels per set, one loaded when the package is imported."""

from __future__ import annotations

import importlib
import os

from stride0._core import _cpu

# Best first.
BUILDS = tuple(name for name in ("v4", "v3", "baseline") if name in _cpu.built())


def supported() -> tuple[str, ...]:
    """Instruction sets that were built and that this processor has, best first."""
    return tuple(name for name in BUILDS if _cpu.has(name))


def load_kernels() -> tuple[str, object]:
    """
    Load the kernels of the best instruction set, or of the one that ``STRIDE0_ISA`` names.

    Returns
    -------
    tuple
        The name of the instruction set and the capsule of its table of loops.

    Raises
    ------
    ImportError
        If ``STRIDE0_ISA`` names a set that was not built or that this processor lacks.
    """
    choices = supported()
    wanted = os.environ.get("STRIDE0_ISA") or choices[0]
    if wanted not in choices:
        raise ImportError(
            f"STRIDE0_ISA: there is no instruction set {wanted!r} here; choose from {', '.join(choices)}"
        )
    return wanted, importlib.import_module(f"stride0._core._kernels_{wanted}").table
