from typing import Any

from stride0._core.array.array import Array

def plan_summary(arrays: tuple[Array, ...]) -> dict[str, Any]: ...
