"""The inspection API while stride0 replaces array-api-strict, with its differences between versions."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from stride0._core.exchange.exchange import namespace_for
from stride0._tables.standard import NEWEST
from stride0.testing._strict_errors import StrictRuntimeError

__all__ = ["StrictInspection"]

FIRST: Final = "2023.12"
MAX_DIMENSIONS: Final = "2024.12"


class StrictInspection:
    """The inspection API; older versions return a list of devices, and no maximum of dimensions.

    `version` returns the current version of the standard.
    """

    def __init__(self, version: Callable[[], str]) -> None:
        self._version = version
        self._inner = vars(namespace_for(None))["__array_namespace_info__"]()

    def check_version(self) -> str:
        """Return the version, which must have the inspection API."""
        version = self._version()
        if version < FIRST:
            problem, sentence = "the function is called", f"in it since version {FIRST}"
            raise StrictRuntimeError("__array_namespace_info__", problem, sentence, "api_version is older.")
        return version

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)

        @wraps(method)
        def call(*args: Any, **kwargs: Any) -> Any:
            self.check_version()
            return method(*args, **kwargs)

        return call

    def capabilities(self) -> dict[str, Any]:
        """Return what the version of the library supports."""
        version, found = self.check_version(), self._inner.capabilities()
        return {name: x for name, x in found.items() if version >= MAX_DIMENSIONS or name != "max dimensions"}

    def devices(self) -> Any:
        """Return the devices."""
        found = self._inner.devices()
        return found if self.check_version() >= NEWEST else list(found)
