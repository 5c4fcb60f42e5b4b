from typing import Any

from stride0._core.array.array import Array
from stride0._core.memory.dtype import DType

FINFOS: dict[DType, Any]
IINFOS: dict[DType, Any]

def diagonal_of(operation: str, x: object, offset: object) -> Array: ...
