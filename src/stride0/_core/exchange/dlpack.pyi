from typing import Literal

from stride0._base.devices import Device
from stride0._core.array.array import Array

def from_dlpack(
    x: object, /, *, device: Device | Literal["cpu"] | None = None, copy: bool | None = None
) -> Array: ...
