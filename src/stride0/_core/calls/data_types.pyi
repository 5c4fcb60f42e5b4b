from typing import Any

from stride0._core.memory.dtype import DType

FINFOS: dict[DType, Any]
IINFOS: dict[DType, Any]
