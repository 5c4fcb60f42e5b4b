from collections.abc import Callable
from typing import Any

def add_method(
    name: str,
    function: Callable[..., Any],
    plain: int,
    positional: tuple[str, ...] = (),
    wider: Callable[..., Any] | None = None,
    keywords: frozenset[str] = frozenset(),
    flattening: bool = False,
) -> None: ...
