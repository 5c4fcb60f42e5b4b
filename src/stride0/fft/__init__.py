"""The FFT extension of the standard, computed by kernels of stride0.

References
----------
Array API standard 2025.12, "FFT Extension".
"""

import typing as _typing

from stride0.fft._functions import *  # noqa: F403
from stride0.fft._functions import __all__ as __all__

if not _typing.TYPE_CHECKING:  # with a __getattr__ type checkers would accept every name

    def __getattr__(name: str) -> _typing.Any:
        from stride0._tables.numpy_names import missing

        raise missing(__name__, name)
