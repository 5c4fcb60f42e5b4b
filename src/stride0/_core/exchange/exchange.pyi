from types import ModuleType
from typing import Any, Literal

from stride0._base.devices import Device
from stride0._core.array.array import Array
from stride0._core.memory.dtype import DType, DTypeLike

def device_number(x: Array) -> int: ...
def may_be_filled(x: Array) -> bool: ...
def put_on(x: Array, number: int) -> None: ...
def from_dlpack(
    x: object, /, *, device: Device | Literal["cpu"] | None = None, copy: bool | None = None
) -> Array: ...
def namespace_for(api_version: str | None) -> ModuleType: ...
def asarray(
    obj: Any,
    /,
    *,
    dtype: DTypeLike | None = None,
    device: Device | Literal["cpu"] | None = None,
    copy: bool | None = None,
) -> Array: ...
def to_scalar(x: Array) -> bool | int | float | complex: ...
def dtype_argument(operation: str, value: object) -> DType: ...
def _rebuild(
    shape: tuple[int, ...],
    dtype: DType,
    strides: tuple[int, ...] | None,
    data: Any,
    copy: bool = False,
    device: Device | None = None,
) -> Array: ...
