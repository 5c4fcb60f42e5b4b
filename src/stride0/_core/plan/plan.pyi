from collections.abc import Sequence
from typing import Any

instruction_set: str

def counts() -> dict[str, int]: ...
def tune(**values: int) -> dict[str, int]: ...
def run_steps(
    leaves: Sequence[Any], steps: Sequence[Any], outputs: Sequence[Any], constants: Sequence[Any] = ()
) -> None: ...
