"""Chooses the instruction set: builds of the kernels per set, one loaded when the package is imported."""

from __future__ import annotations

import importlib
import os

from stride0._core.kernels import _cpu

# Best first.
BUILDS = _cpu.built()


def supported() -> tuple[str, ...]:
    """Instruction sets that were built and that this processor has, best first."""
    return tuple(name for name in BUILDS if _cpu.has(name))


def load_kernels(table: object) -> str:
    """
    Load the kernels of the best instruction set, or of the one that ``STRIDE0_ISA`` names; return its name.

    Its loops are put into `table`, a capsule. ImportError if ``STRIDE0_ISA`` names a set that was not built
    or that this processor lacks, or if it has none.
    """
    choices = supported()
    if not choices:
        raise ImportError(
            f"stride0: this processor lacks instructions of {_cpu.needs(BUILDS[-1])}, for which even the "
            f"{BUILDS[-1]} kernels were built"
        )
    wanted = os.environ.get("STRIDE0_ISA") or choices[0]
    if wanted not in choices:
        raise ImportError(
            f"STRIDE0_ISA: there is no instruction set {wanted!r} here; choose from {', '.join(choices)}"
        )
    for part in ("common", wanted):
        importlib.import_module(f"stride0._core.kernels._{part}").fill(table)
    return wanted
