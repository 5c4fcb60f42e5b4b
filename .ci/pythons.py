"""Interpreters on PATH and of pyenv. As a program: print the newest, if it is newer than the running one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path


def candidates() -> list[Path]:
    """Interpreters on PATH, and those of pyenv."""
    files = (file for folder in os.get_exec_path() for file in Path(folder).glob("python3.*"))
    on_path = [file for file in files if re.fullmatch(r"python3\.\d+", file.name)]
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    return [*sorted(on_path), *sorted(root.glob("versions/3.*/bin/python"))]


def pythons(found_files: Iterable[Path]) -> dict[int, Path]:
    """The interpreters that are CPython 3 with a GIL and can create environments, by minor version."""
    found: dict[int, Path] = {}
    ask = "import sys, venv; print(sys.implementation.name + sys.abiflags, *sys.version_info[:2], "
    ask += "sys.executable)"
    for candidate in found_files:
        # pyenv also has commands for installed versions that are not selected: they fail.
        try:
            done = subprocess.run([candidate, "-c", ask], capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            continue
        name, major, minor, path = done.stdout.rstrip("\n").split(" ", 3)
        if (name, major) == ("cpython", "3"):
            found.setdefault(int(minor), Path(path))
    return found


if __name__ == "__main__":
    own = sys.version_info[1] if sys.implementation.name == "cpython" else 0
    newer = {minor: path for minor, path in pythons(candidates()).items() if minor > own}
    if newer:
        print(newer[max(newer)])
