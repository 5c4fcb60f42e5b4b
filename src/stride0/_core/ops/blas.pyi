from collections.abc import Callable
from typing import Any

def set_blas(load: Callable[[], tuple[Any, ...]]) -> None: ...
