"""The error for names that `stride0.numpy` lacks."""

from __future__ import annotations

import stride0._tables.numpy_names as table


def missing(module: str, name: str) -> AttributeError:
    """Return the error for a name, with what to write instead."""
    inner = f"stride0.{module}" if module else "stride0"
    error = table.missing(inner, name)
    return AttributeError(
        str(error).replace(f"module {inner!r}", f"module {inner.replace('stride0', 'stride0.numpy', 1)!r}", 1)
    )


def words(text: str) -> tuple[str, ...]:
    """Return the names in a text."""
    return tuple(text.split())


__all__ = ["missing", "words"]
