"""NumPy's names, signatures and defaults on stride0 arrays: ``import stride0.numpy as np``.

The functions are those of `stride0` with NumPy's arguments, so that they have gradients, obey `stride0.fused`
and give the same bits everywhere. A missing name raises an AttributeError that says what to write instead; an
unsupported argument raises an error, too. docs/guides/numpy-scripts.md says what differs.
"""

from __future__ import annotations

from types import FunctionType as _FunctionType
from typing import Any

import stride0 as _xp
from stride0._base.errors import hide_frames as _hide_frames
from stride0._core.array.array import Array as ndarray  # noqa: F401
from stride0._core.exchange.numpy_calls import numpy as _numpy
from stride0.numpy import (  # noqa: F401
    _calculus,
    _creation,
    _elementwise,
    _facts,
    _functional,
    _keys,
    _manipulation,
    _order,
    _polynomials,
    _reductions,
    _sets,
    _windows,
    fft,
    lib,
    linalg,
    random,
    testing,
)
from stride0.numpy._functional import broadcast, vectorize  # noqa: F401
from stride0.numpy._names import missing as _missing
from stride0.numpy._names import words as _words
from stride0.numpy._polynomials import poly1d  # noqa: F401
from stride0.numpy._ufuncs import UFUNCS as _UFUNCS
from stride0.numpy._ufuncs import ufunc  # noqa: F401

# The public functions of the parts; helpers that parts share are left out.
_HELPERS = ("along", "flat")
_FUNCTIONS = {
    _name: _value
    for _part in (
        *(_elementwise, _reductions, _order, _creation, _facts, _manipulation, _sets, _keys, _calculus),
        *(_windows, _polynomials, _functional),
    )
    for _name, _value in vars(_part).items()
    if isinstance(_value, _FunctionType) and _value.__module__ == _part.__name__
    if not _name.startswith("_") and _name not in _HELPERS
}
globals().update(_FUNCTIONS, **_UFUNCS, **_facts.OBJECTS)

# Other names of the same functions.
_SAME = {
    "amax": "max",
    "amin": "min",
    "around": "round",
    "asanyarray": "asarray",
    "concat": "concatenate",
    "permute_dims": "transpose",
    "row_stack": "vstack",
    "may_share_memory": "shares_memory",
}
globals().update({_name: globals()[_other] for _name, _other in _SAME.items() if _other})

# NumPy's scalar types: each stands for a dtype, and converts a number to a NumPy scalar.
_DTYPES = _words(
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128 bool "
    "bool_ byte ubyte short ushort intc uintc int_ intp long longlong uint uintp ulong ulonglong half "
    "single double csingle cdouble number integer signedinteger unsignedinteger inexact floating "
    "complexfloating generic longdouble clongdouble object_ str_ bytes_ void character flexible "
    "datetime64 timedelta64"
)
globals().update({_name: getattr(_numpy(), _name) for _name in _DTYPES})
pi, e, inf, nan, newaxis = _xp.pi, _xp.e, _xp.inf, _xp.nan, None
euler_gamma = 0.5772156649015329
broadcast_shapes = _xp.broadcast_shapes
__version__ = _numpy().__version__

# NumPy functions that take stride0 arrays.
_NUMPYS = _words(
    "ndindex set_printoptions get_printoptions printoptions array2string save savetxt typecodes sctypeDict "
    "ScalarType False_ True_ show_config savez savez_compressed array_repr array_str base_repr binary_repr "
    "format_float_positional format_float_scientific iterable"
)

__all__ = sorted(
    {
        *_FUNCTIONS,
        *_UFUNCS,
        *_facts.OBJECTS,
        *(_name for _name, _other in _SAME.items() if _other),
        *_DTYPES,
        *("broadcast_shapes", "e", "euler_gamma", "fft", "inf", "linalg", "nan", "ndarray", "newaxis", "pi"),
        *("broadcast", "lib", "poly1d", "random", "ufunc", "vectorize"),
    }
)


def __getattr__(name: str) -> Any:
    if name in _NUMPYS:
        return getattr(_numpy(), name)
    if name.startswith("__"):
        raise AttributeError(f"module 'stride0.numpy' has no attribute {name!r}")
    raise _missing("", name)


_hide_frames()
