from collections.abc import Callable
from typing import Any, Final, TypeVar

def add_method(
    name: str,
    function: Callable[..., Any],
    plain: int,
    positional: tuple[str, ...] = (),
    wider: Callable[..., Any] | None = None,
    keywords: frozenset[str] = frozenset(),
    flattening: bool = False,
) -> None: ...

Function = TypeVar("Function", bound=Callable[..., Any])
PRIMITIVES: Final[dict[str, Callable[..., Any]]]

def primitive(function: Function, extension: str = "") -> Function: ...
def intercepted(function: Function, extension: str = "") -> Function: ...
def shared_by_threads(value: object) -> None: ...
def intercepted_in(extension: str) -> Callable[[Function], Function]: ...
def primitive_in(extension: str) -> Callable[[Function], Function]: ...
