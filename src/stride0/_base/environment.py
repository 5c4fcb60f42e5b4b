"""The environment variables ``STRIDE0_...``, read when the package is imported.

An empty variable counts as unset. A wrong value raises an ImportError, which always names the variable, its
value, and the values to set instead.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final, TypeVar

__all__ = ["read", "read_flag", "read_names", "read_number"]

Value = TypeVar("Value")

_WORDS: Final = {
    **dict.fromkeys(("1", "true", "on", "yes"), True),
    **dict.fromkeys(("0", "false", "off", "no"), False),
}


def read(variable: str, convert: Callable[[str], Value | None], kind: str, accepts: str) -> Value | None:
    """Return the converted value of a variable, or None if it is unset.

    Raises ImportError if `convert` returns None: the value is not a `kind`; `accepts` says what to set.
    """
    text = os.environ.get(variable, "").strip()
    if not text:
        return None
    value = convert(text)
    if value is None:
        raise ImportError(f"{variable}: {text!r} is not a {kind}; set it to {accepts}")
    return value


def read_flag(variable: str) -> bool | None:
    """Return the boolean value of a variable; None if it is unset."""
    return read(variable, lambda text: _WORDS.get(text.lower()), "switch", "1 (on) or 0 (off)")


def read_number(variable: str, kind: str, least: int, most: int, example: int) -> int | None:
    """Return the integer that a variable holds, from `least` to `most`; None if it is unset."""

    def convert(text: str) -> int | None:
        # Check the number of digits first, because Python refuses to convert thousands of digits.
        if not (text.isascii() and text.isdigit()) or len(text.lstrip("0")) > len(str(most)):
            return None
        return number if least <= (number := int(text)) <= most else None

    return read(variable, convert, kind, f"a whole number, for example {example}")


def read_names(variable: str) -> tuple[str, ...]:
    """Return the module names that a variable holds, separated by commas."""

    def convert(text: str) -> tuple[str, ...] | None:
        names = tuple(name.strip() for name in text.split(",") if name.strip())
        fits = all(part.isidentifier() for name in names for part in name.split("."))
        return names if fits else None

    example = "names with commas between them, for example scipy,sklearn"
    return read(variable, convert, "list of modules", example) or ()
