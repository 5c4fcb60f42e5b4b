"""Choice of the instruction set: each has a build of the kernels, and the import of the package loads one."""

from __future__ import annotations

import importlib
import os

from stride0._core.kernels import _cpu
from stride0._tables.instruction_sets import SETS

# Best first.
BUILDS = _cpu.built()


def supported() -> tuple[str, ...]:
    """Return the instruction sets that were built and that this processor supports, best first."""
    return tuple(name for name in BUILDS if _cpu.has(name))


def _refusal(wanted: str, choices: tuple[str, ...]) -> str:
    """Return the message for a wrong value of ``STRIDE0_ISA``."""
    known = [row.name for row in SETS]
    if wanted in BUILDS:
        problem = f"this processor lacks instructions of {wanted}: {_cpu.needs(wanted)}"
    elif wanted in known:
        problem = (
            f"this build of stride0 has no {wanted} kernels; build them from a clone by "
            "pip install . -Csetup-args=-Dinstruction_sets=all"
        )
    else:
        problem = f"there is no instruction set {wanted!r}"
    return f"STRIDE0_ISA: {problem}; or choose from {', '.join(choices)}"


def load_kernels(table: object) -> str:
    """
    Load the kernels of the best instruction set, or of the set that ``STRIDE0_ISA`` names; return its name.

    Its loops are written to `table`, a capsule. Raises ImportError if ``STRIDE0_ISA`` names a set that was
    not built or that this processor lacks, or if the processor supports no built set.
    """
    choices = supported()
    if not choices:
        raise ImportError(
            f"stride0: this processor lacks instructions of {_cpu.needs(BUILDS[-1])}, for which even the "
            f"{BUILDS[-1]} kernels were built"
        )
    wanted = os.environ.get("STRIDE0_ISA") or choices[0]
    if wanted not in choices:
        raise ImportError(_refusal(wanted, choices))
    for part in ("common", wanted):
        importlib.import_module(f"stride0._core.kernels._{part}").fill(table)
    return wanted
