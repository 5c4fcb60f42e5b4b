"""The linear algebra extension of the standard, and a few functions beyond it.

References
----------
Array API standard 2025.12, "Linear Algebra Extension".
"""

import typing as _typing

from stride0.linalg import _beyond, _decompositions, _functions
from stride0.linalg._beyond import *  # noqa: F403
from stride0.linalg._decompositions import *  # noqa: F403
from stride0.linalg._functions import *  # noqa: F403

__all__ = [*_functions.__all__, *_decompositions.__all__, *_beyond.__all__]


if not _typing.TYPE_CHECKING:  # with a __getattr__ type checkers would accept every name

    def __getattr__(name: str) -> _typing.Any:
        from stride0._tables.numpy_names import missing

        raise missing(__name__, name)
