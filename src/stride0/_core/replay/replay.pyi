from typing import Any, final

from stride0._core.array.array import Array

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
        writes: bool = False,
    ) -> None: ...
    kind: str
    name: str
    where: str
    function: Any
    operands: tuple[int, ...]
    kwnames: tuple[str, ...]
    expected: bool | None
    result: int
    facts: Any
    def touches_operands(self) -> None: ...
    def execute(self, values: list[Any]) -> Any: ...

@final
class Recording:
    def __init__(self, samples: list[Any]) -> None: ...
    arguments: int
    initial: list[Any]
    inputs: list[int]
    results: tuple[int, ...]
    @property
    def running(self) -> list[tuple[Step, str]]: ...
    @property
    def nbytes(self) -> int: ...
    def is_free(self) -> bool: ...
    def constant(self, value: Any) -> int: ...
    def capture(self, value: Any) -> int: ...
    def append(self, step: Step) -> None: ...
    def keep(self, step: Step, value: Any, base: int = -1, shown: Array | None = None) -> int: ...
    def finish(self, results: tuple[int, ...]) -> None: ...

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

@final
class Entry:
    def __init__(
        self,
        recording: Recording,
        structure: Any,
        links: Links,
        leaves: list[Any],
        args: tuple[Any, ...] | None,
        single: bool,
        writes: bool,
    ) -> None: ...
    def is_applicable(self, leaves: list[Any]) -> bool: ...
    recording: Recording
    links: Links
    def run(self, leaves: list[Any]) -> Any: ...

class Repeating:
    def use(self, entry: Entry | None) -> None: ...
    __name__: str
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

@final
class Looped:
    def __init__(
        self, recording: Recording, n: int, states: int, rows: int, reverse: bool, saves: bool
    ) -> None: ...
    recording: Recording
    n: int
    states: int
    rows: int
    reverse: bool
    def saving(self) -> Looped: ...
    def __call__(self, *operands: Any) -> tuple[Array, ...]: ...

most_operands: int

def item_of(row: Any, k: int) -> Any: ...
