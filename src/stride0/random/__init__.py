"""Random numbers: NumPy's generators and streams, with stride0 arrays.

The same seed and the same calls give the same numbers as `numpy.random.default_rng`. Bit generators and
`SeedSequence` are NumPy's own.
"""

import typing as _typing

from stride0._core.exchange.numpy_calls import numpy as _numpy
from stride0.random._generator import Generator, default_rng

__all__ = [
    "MT19937",
    "PCG64",
    "PCG64DXSM",
    "SFC64",
    "BitGenerator",
    "Generator",
    "Philox",
    "SeedSequence",
    "default_rng",
]

if _typing.TYPE_CHECKING:  # with a __getattr__ type checkers would accept every name
    MT19937: _typing.Any
    PCG64: _typing.Any
    PCG64DXSM: _typing.Any
    SFC64: _typing.Any
    BitGenerator: _typing.Any
    Philox: _typing.Any
    SeedSequence: _typing.Any
else:

    def __getattr__(name: str) -> _typing.Any:
        # NumPy is imported at the first use.
        if name not in __all__:
            from stride0._tables.numpy_names import missing

            raise missing(__name__, name)
        return getattr(_numpy().random, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
