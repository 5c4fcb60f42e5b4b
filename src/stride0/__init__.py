"""stride0: the Python Array API standard on strided memory.

This module is the namespace: the names of the standard; stride0's own `strided`, `autograd`, `memory`,
`optim`, `random`, `special` and `testing`; the functions of `_compat.extras`, `_compat.comparing` and the
chapters `contractions`, `counting`, `selection` and `updates`; `Array`, `DType`, `Device`, and exceptions.

The examples in docstrings assume these imports, as in NumPy:

>>> import numpy as np
>>> import stride0 as xp
"""

import importlib as _importlib
import sys as _sys
import typing as _typing

from stride0 import fft, linalg, strided
from stride0._base import errors as _errors
from stride0._base.devices import Device
from stride0._base.environment import read_flag as _read_flag
from stride0._base.errors import *  # noqa: F403
from stride0._base.errors import hide_frames as _hide_frames
from stride0._chapters import constants as _constants
from stride0._chapters import contractions as _contractions
from stride0._chapters import counting as _counting
from stride0._chapters import creation as _creation
from stride0._chapters import data_types as _data_types
from stride0._chapters import elementwise as _elementwise
from stride0._chapters import indexing as _indexing
from stride0._chapters import inspection as _inspection
from stride0._chapters import linear_algebra as _linear_algebra
from stride0._chapters import manipulation as _manipulation
from stride0._chapters import quantiles as _quantiles
from stride0._chapters import searching as _searching
from stride0._chapters import selection as _selection
from stride0._chapters import sorting as _sorting
from stride0._chapters import statistical as _statistical
from stride0._chapters import updates as _updates
from stride0._chapters import utility as _utility
from stride0._chapters.constants import *  # noqa: F403
from stride0._chapters.contractions import *  # noqa: F403
from stride0._chapters.counting import *  # noqa: F403
from stride0._chapters.creation import *  # noqa: F403
from stride0._chapters.data_types import *  # noqa: F403
from stride0._chapters.elementwise import *  # noqa: F403
from stride0._chapters.indexing import *  # noqa: F403
from stride0._chapters.inspection import *  # noqa: F403
from stride0._chapters.linear_algebra import *  # noqa: F403
from stride0._chapters.manipulation import *  # noqa: F403
from stride0._chapters.quantiles import *  # noqa: F403
from stride0._chapters.searching import *  # noqa: F403
from stride0._chapters.selection import *  # noqa: F403
from stride0._chapters.set import isin, unique_all, unique_counts, unique_inverse, unique_values
from stride0._chapters.sorting import *  # noqa: F403
from stride0._chapters.statistical import *  # noqa: F403
from stride0._chapters.updates import *  # noqa: F403
from stride0._chapters.utility import *  # noqa: F403

# These imports extend the array type and register functions.
from stride0._compat import comparing as _comparing
from stride0._compat import extras as _extras
from stride0._compat import html as _html  # noqa: F401
from stride0._compat import methods as _methods  # noqa: F401
from stride0._compat import threadpoolctl as _threadpoolctl  # noqa: F401
from stride0._compat import ufuncs as _ufuncs  # noqa: F401
from stride0._compat.comparing import *  # noqa: F403
from stride0._compat.extras import *  # noqa: F403
from stride0._core.array.array import Array
from stride0._core.call.binding import shared_by_threads as _shared_by_threads
from stride0._core.elementwise.functions import where
from stride0._core.exchange.exchange import asarray, from_dlpack
from stride0._core.memory import dtype as _dtype
from stride0._core.memory.dtype import *  # noqa: F403
from stride0._core.plan.plan import instruction_set as _instruction_set  # noqa: F401
from stride0._core.plan.threads import get_num_threads, set_num_threads
from stride0._modes.broadcasting import broadcasting
from stride0._modes.fused import fused
from stride0._modes.reproducible import reproducible
from stride0._modes.strict import strict
from stride0._version import __version__

__array_api_version__ = "2025.12"

__all__ = [
    "Array",
    "Device",
    "__array_api_version__",
    "__version__",
    "asarray",
    "autograd",
    "broadcasting",
    "explain",
    "fft",
    "from_dlpack",
    "fused",
    "get_num_threads",
    "isin",
    "linalg",
    "loop",
    "memory",
    "optim",
    "random",
    "replay",
    "reproducible",
    "scan",
    "set_num_threads",
    "special",
    "strict",
    "strided",
    "testing",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "where",
]
__all__ += _errors.__all__
__all__ += _comparing.__all__
__all__ += _constants.__all__
__all__ += _contractions.__all__
__all__ += _counting.__all__
__all__ += _creation.__all__
__all__ += _data_types.__all__
__all__ += _elementwise.__all__
__all__ += _indexing.__all__
__all__ += _inspection.__all__
__all__ += _linear_algebra.__all__
__all__ += _manipulation.__all__
__all__ += _searching.__all__
__all__ += _quantiles.__all__
__all__ += _selection.__all__
__all__ += _sorting.__all__
__all__ += _statistical.__all__
__all__ += _updates.__all__
__all__ += _utility.__all__
__all__ += _extras.__all__
__all__ += _dtype.__all__

# Modules, and functions of modules, that are imported when first read, because most programs do not use them.
_LATER = {
    "autograd": "",
    "memory": "",
    "optim": "",
    "random": "",
    "special": "",
    "testing": "",
    "explain": "_explain.explain",
    "replay": "_replay.replay",
    "loop": "_replay.loops",
    "scan": "_replay.loops",
}


if _typing.TYPE_CHECKING:  # with a __getattr__ type checkers would accept every name
    from stride0 import autograd as autograd
    from stride0 import memory as memory
    from stride0 import optim as optim
    from stride0 import random as random
    from stride0 import special as special
    from stride0 import testing as testing
    from stride0._explain.explain import explain as explain
    from stride0._replay.loops import loop as loop
    from stride0._replay.loops import scan as scan
    from stride0._replay.replay import replay as replay
else:

    def __getattr__(name: str) -> _typing.Any:
        if name not in _LATER:
            # Python's own protocols often look for names with two underscores.
            if name.startswith("__"):
                raise AttributeError(f"module 'stride0' has no attribute {name!r}")
            from stride0._tables.numpy_names import missing

            raise missing("stride0", name)
        module = _importlib.import_module(f"stride0.{_LATER[name] or name}")
        return getattr(module, name) if _LATER[name] else module


def __dir__() -> list[str]:
    # `stride0.numpy` is imported separately, and is not part of the namespace.
    return sorted({*globals(), *_LATER} - {"numpy"})


_shared_by_threads(_sys.modules[__name__])
_hide_frames()

if _read_flag("STRIDE0_AS_ARRAY_API_STRICT"):
    _importlib.import_module("stride0.testing").as_array_api_strict()
