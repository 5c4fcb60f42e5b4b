from collections.abc import Callable
from typing import Any, Final, final

from stride0._core.array.switches import Switch

@final
class Scope:
    modules: tuple[str, ...] | None
    exempt: tuple[str, ...]
    def __init__(self, modules: tuple[str, ...] | None, exempt: tuple[str, ...]) -> None: ...

BROADCASTING: Final[Switch]
BROADCASTING_MODES: tuple[str, ...]
STRICT: Final[Switch]
CONFIGURATION: Final[Switch]

def set_interceptor(
    enter: Callable[[str, str, tuple[Any, ...], dict[str, Any]], Any], leave: Callable[[Any, Any], Any]
) -> None: ...
def mode_number(mode: object) -> int: ...
def mode_name(number: int) -> str: ...
def is_strict() -> bool: ...
def refuse_foreign_function(name: str) -> None: ...
def check_standard(operation: str, fact: str, sentence: str) -> None: ...
def check_broadcasting(
    operation: str, pairs: list[tuple[str, tuple[int, ...]]], shape: tuple[int, ...]
) -> None: ...
