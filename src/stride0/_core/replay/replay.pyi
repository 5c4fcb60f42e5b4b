from typing import Any, final

class Diverged(Exception): ...

@final
class Step:
    def __init__(
        self,
        kind: str,
        function: Any,
        name: str,
        operands: tuple[int, ...],
        kwnames: tuple[str, ...],
        where: str,
        pure: bool = False,
        expected: bool | None = None,
    ) -> None: ...
    kind: str
    name: str
    where: str
    function: Any
    operands: tuple[int, ...]
    result: int
    facts: Any
    def execute(self, values: list[Any]) -> Any: ...

@final
class Recording:
    def __init__(self, arguments: int) -> None: ...
    arguments: int
    @property
    def running(self) -> list[Step]: ...
    def constant(self, value: Any) -> int: ...
    def append(self, step: Step) -> None: ...
    def keep(self, step: Step, value: Any) -> int: ...
    def finish(self, results: tuple[int, ...]) -> None: ...
    def run(self, arguments: list[Any]) -> list[Any]: ...

@final
class Links:
    def __init__(self, links: list[tuple[Any, Any, Any]]) -> None: ...
    def changed(self) -> tuple[Any, Any, Any] | None: ...

def read_arguments(
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    static_places: tuple[int, ...],
    static_names: frozenset[str],
) -> tuple[tuple[Any, ...], list[Any], bool]: ...
