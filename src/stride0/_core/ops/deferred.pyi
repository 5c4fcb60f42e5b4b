from typing import Any

from stride0._core.array.array import Array

def describe_pending(x: Array) -> dict[str, Any] | None: ...
