"""The build backend: meson-python's, which builds a wheel once for the same sources.

`pip install '.[examples]'` and `pip install '.[test]'` after it ask for the same wheel, and the second build
would take as long as the first: pip keeps no wheels of folders, and Meson's build folder refers to the
compilers of an environment that pip has removed. So wheels are kept in build/wheels, each by its sources.
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

# What meson-python requires besides is for libraries that a package brings along; stride0 has none.
__all__ = ["build_editable", "build_sdist", "build_wheel"]

SOURCES = ("pyproject.toml", "meson.build", "README.md", "LICENSE", "src")
KEPT = 4  # wheels, at most
VARIABLES = ("CC", "CFLAGS", "CPPFLAGS", "LDFLAGS")


def key_of(root: Path, config_settings: dict[str, Any] | None) -> str:
    """Hash what a wheel depends on: sources, settings, interpreter, compilers that were asked for."""
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
    """Build a wheel, or take the one that was built of the same."""
    kept = Path.cwd() / "build" / "wheels" / key_of(Path.cwd(), config_settings)
    for wheel in kept.glob("*.whl"):
        return Path(shutil.copy(wheel, wheel_directory)).name
    name = mesonpy.build_wheel(wheel_directory, config_settings, metadata_directory)
    try:
        kept.mkdir(parents=True, exist_ok=True)
        # Under a name of its own first: who looks at the same time sees a whole wheel or none.
        shutil.copy(Path(wheel_directory, name), kept / f"{os.getpid()}.part")
        (kept / f"{os.getpid()}.part").replace(kept / name)
        for old in sorted(kept.parent.iterdir(), key=lambda folder: folder.stat().st_mtime)[:-KEPT]:
            shutil.rmtree(old)
    except OSError:
        pass  # sources that cannot be written to, or a full disk: the next one builds again
    return name
