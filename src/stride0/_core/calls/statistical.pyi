from stride0._core.array.array import Array
from stride0._core.memory.dtype import DType, DTypeLike

def sum_dtype(operation: str, x: Array, dtype: DTypeLike | None) -> DType: ...
