from typing import Any

from stride0._base.subscripts import Subscripts
from stride0._core.array.array import Array

def read_steps(
    name: str, subscripts: Any, operands: tuple[Any, ...], optimize: Any
) -> list[tuple[int, int, bytes]]: ...
def read_subscripts(
    name: str, subscripts: Any, operands: tuple[Any, ...]
) -> tuple[tuple[Array, ...], Subscripts]: ...
