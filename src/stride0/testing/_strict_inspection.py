"""The inspection API while stride0 replaces array-api-strict, with its differences between versions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from stride0._core.exchange.exchange import namespace_for
from stride0._tables.standard import NEWEST
from stride0.testing._strict_errors import StrictRuntimeError

__all__ = ["StrictInspection"]

INSPECTION: Final = vars(namespace_for(None))["__array_namespace_info__"]
FIRST: Final = "2023.12"
MAX_DIMENSIONS: Final = "2024.12"


class StrictInspection:
    """The inspection API; older versions return a list of devices, and no maximum of dimensions.

    `version` returns the current version of the standard.
    """

    def __init__(self, version: Callable[[], str]) -> None:
        self._version = version
        self._inner = INSPECTION()
        self._checked()

    def _checked(self) -> Any:
        """Return stride0's inspection API, if the version has one."""
        if self._version() < FIRST:
            problem, sentence = "the function is called", f"in it since version {FIRST}"
            raise StrictRuntimeError("__array_namespace_info__", problem, sentence, "api_version is older.")
        return self._inner

    def capabilities(self) -> dict[str, Any]:
        """Return what the version of the library supports."""
        found: dict[str, Any] = self._checked().capabilities()
        if self._version() < MAX_DIMENSIONS:
            del found["max dimensions"]
        return found

    def default_device(self) -> Any:
        """Return the default device."""
        return self._checked().default_device()

    def default_dtypes(self, *, device: Any = None) -> Any:
        """Return the default dtypes of a device."""
        return self._checked().default_dtypes(device=device)

    def dtypes(self, *, device: Any = None, kind: Any = None) -> Any:
        """Return the dtypes of a device, all of them or of one kind."""
        return self._checked().dtypes(device=device, kind=kind)

    def devices(self) -> Any:
        """Return the devices."""
        found = self._checked().devices()
        return found if self._version() >= NEWEST else list(found)
