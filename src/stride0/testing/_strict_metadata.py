"""Metadata of array-api-strict while stride0 replaces it, for ``importlib.metadata.version``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, Final

__all__ = ["install", "uninstall"]

NAMES: Final = ("array_api_strict", "array-api-strict", "array.api.strict")


class _Distribution(metadata.Distribution):
    """A distribution that has a name and a version."""

    def __init__(self, version: str) -> None:
        self._text = f"Metadata-Version: 2.1\nName: array-api-strict\nVersion: {version}\n"

    def read_text(self, filename: str) -> str | None:
        return self._text if filename == "METADATA" else None

    def locate_file(self, path: Any) -> Path:
        return Path(path)


class _Finder(metadata.DistributionFinder):
    """Finds the distribution, and no module."""

    def __init__(self, version: str) -> None:
        self._version = version

    def find_spec(self, *args: Any) -> None:
        return None

    def find_distributions(self, context: Any = None) -> Iterator[metadata.Distribution]:
        name = getattr(context, "name", None)
        if name is None or name.lower() in NAMES:
            yield _Distribution(self._version)


def install(version: str) -> None:
    """Let the packages of the environment include array-api-strict in a version."""
    sys.meta_path.insert(0, _Finder(version))


def uninstall() -> None:
    """Undo `install`."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Finder)]
