from typing import Any

from stride0._base.devices import Device
from stride0._core.array.array import Array
from stride0._core.memory.dtype import DType

def _rebuild(
    shape: tuple[int, ...],
    dtype: DType,
    strides: tuple[int, ...] | None,
    data: Any,
    copy: bool = False,
    device: Device | None = None,
) -> Array: ...
