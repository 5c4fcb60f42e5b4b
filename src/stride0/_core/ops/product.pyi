from stride0._core.array.array import Array
from stride0._core.memory.dtype import DType

def multiply_stacks(x1: Array, x2: Array, batch: tuple[int, ...], dtype: DType) -> Array: ...
