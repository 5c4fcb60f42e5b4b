from collections.abc import Callable
from typing import Any

from stride0._core.array.array import Array

def set_gufuncs(
    load: Callable[[], list[tuple[Any, tuple[tuple[int, ...], ...], tuple[str, ...]] | None]],
    by_functions: Callable[[int, list[Array], float], bool],
) -> None: ...
