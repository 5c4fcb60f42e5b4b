"""The libraries that are compared, their threads, and this machine's cores and memory."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
OURS, YARDSTICK, JAX = "stride0", "numpy", "jax.numpy"
PEERS = (OURS, YARDSTICK, "torch")


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def worker(name: str, *arguments: str, python: str = sys.executable) -> list[str]:
    """Return the command of another process of a benchmark; it runs in ROOT."""
    return [python, "-m", "benchmarks", name, *arguments]


def environment(threads: int) -> dict[str, str]:
    """Return the environment that limits every library to `threads` threads; libraries read it at import."""
    flags = f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'}"
    libraries = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "STRIDE0")
    return {
        **os.environ,
        **{f"{library}_NUM_THREADS": str(threads) for library in libraries},
        "NUMEXPR_MAX_THREADS": str(threads),
        "NPROC": str(threads),  # the size of XLA's pool
        "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {flags}".strip(),
        "JAX_PLATFORMS": "cpu",
        "JAX_ENABLE_X64": "1",
    }


def limit_threads(threads: int) -> None:
    """Set the same environment in this process, before any library is loaded."""
    os.environ.update(environment(threads))


def load(names: Sequence[str] | None, peers: Sequence[str] = PEERS) -> dict[str, Any]:
    """Import NumPy and the libraries of `names`, or the installed ones of `peers` if there are no names."""
    libraries = {}
    for name in [*(names or peers), YARDSTICK]:
        try:
            libraries[name] = importlib.import_module(name)
        except ImportError as error:
            if names:
                raise SystemExit(f"{name} cannot be imported: {error}") from None
            print(f"({name} is not installed)", file=sys.stderr)
    if "torch" in libraries:
        libraries["torch"].set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    return libraries


def installed(names: Sequence[str], without: Sequence[str] = ()) -> list[str]:
    """Return the names whose package is installed, except those in `without`; say which ones are missing."""
    found = []
    for name in names:
        if name in without:
            continue
        package = {"eager": OURS, "fused": OURS}.get(name, name.partition(".")[0])
        if importlib.util.find_spec(package) is not None:
            found.append(name)
        else:
            print(f"({name} is not installed)", file=sys.stderr)
    if "torch" in found:
        importlib.import_module("torch").set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    return found


def describe(libraries: dict[str, Any]) -> str:
    versions = ", ".join(
        f"{name} {getattr(module, '__version__', '?')}" for name, module in libraries.items()
    )
    isa = getattr(libraries.get(OURS), "_instruction_set", None)
    kernels = f" (kernels: {isa})" if isa else ""
    return f"{versions}{kernels}; Python {platform.python_version()}, {platform.machine()}"


def reset_peak() -> int | None:
    """Reset the peak of resident memory to the current amount, and return it."""
    # Where this is impossible, growth is counted from the highest peak so far.
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # see proc(5)
    return peak()


def peak() -> int | None:
    """Return the peak of resident memory of this process, in bytes; None if it is unknown."""
    # On Linux ru_maxrss is unsuitable: a new process inherits it from its parent.
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:
        return None
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else used * 1024
