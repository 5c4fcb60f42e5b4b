"""The build backend: meson-python's, which builds a wheel once for the same sources.

`pip install '.[examples]'` and a later `pip install '.[test]'` need the same wheel, but pip would build it
twice: pip keeps no wheels of folders, and Meson's build folder refers to compilers of an environment that pip
has removed. So build/wheels keeps wheels, by hashes of their sources.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sysconfig
from pathlib import Path
from typing import Any

import mesonpy
from mesonpy import build_editable, build_sdist

# meson-python's other requirements are for packages with shared libraries; stride0 has none.
__all__ = ["build_editable", "build_sdist", "build_wheel"]

SOURCES = ("pyproject.toml", "meson.build", "README.md", "LICENSE", "src")
KEPT = 4  # the largest number of wheels
VARIABLES = ("CC", "CFLAGS", "CPPFLAGS", "LDFLAGS")


def key_of(root: Path, config_settings: dict[str, Any] | None) -> str:
    """Return a hash of the inputs of a wheel: sources, settings, interpreter, chosen compilers."""
    settings = sorted((config_settings or {}).items())
    interpreter = sysconfig.get_platform(), sysconfig.get_config_var("EXT_SUFFIX")
    variables = [os.environ.get(name) for name in VARIABLES]
    found = hashlib.sha256(repr((settings, interpreter, variables)).encode())
    for top in SOURCES:
        for path in sorted([root / top, *(root / top).rglob("*")]):
            if path.is_file() and path.suffix != ".pyc":
                text = path.read_bytes()
                found.update(f"\n{path.relative_to(root)} {len(text)}\n".encode() + text)
    return found.hexdigest()[:32]


def build_wheel(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build a wheel, or use the one built from the same sources."""
    kept = Path.cwd() / "build" / "wheels" / key_of(Path.cwd(), config_settings)
    for wheel in kept.glob("*.whl"):
        return Path(shutil.copy(wheel, wheel_directory)).name
    name = mesonpy.build_wheel(wheel_directory, config_settings, metadata_directory)
    try:
        kept.mkdir(parents=True, exist_ok=True)
        # First under a temporary name: a concurrent build sees a complete wheel or none.
        shutil.copy(Path(wheel_directory, name), kept / f"{os.getpid()}.part")
        (kept / f"{os.getpid()}.part").replace(kept / name)
        for old in sorted(kept.parent.iterdir(), key=lambda folder: folder.stat().st_mtime)[:-KEPT]:
            shutil.rmtree(old)
    except OSError:
        pass  # read-only sources or a full disk: the next call builds again
    return name
