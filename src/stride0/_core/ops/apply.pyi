from typing import Any

from stride0._core.array.array import Array
from stride0._core.memory.dtype import DType

def plan_summary(arrays: tuple[Array, ...]) -> dict[str, Any]: ...
def new_result(name: str, names: tuple[str, ...], arrays: tuple[Array, ...], dtype: DType) -> Array: ...
