from collections.abc import Sequence
from typing import Any

def run_steps(
    leaves: Sequence[Any], steps: Sequence[Any], outputs: Sequence[Any], constants: Sequence[Any] = ()
) -> None: ...
