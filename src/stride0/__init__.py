"""stride0: the Python Array API standard on strided memory.

This module is the namespace: the names of the standard, and of our own `strided`, `Array`, `DType`,
`Device` and the exceptions.
"""

from stride0 import fft, linalg, strided
from stride0._constants import e, inf, nan, newaxis, pi
from stride0._core.array import Array, asarray, from_dlpack, where
from stride0._core.dtype import (
    DType,
    bool,
    complex64,
    complex128,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from stride0._core.plan import instruction_set as _instruction_set
from stride0._creation import (
    arange,
    empty,
    empty_like,
    eye,
    full,
    full_like,
    linspace,
    meshgrid,
    ones,
    ones_like,
    tril,
    triu,
    zeros,
    zeros_like,
)
from stride0._data_types import astype, can_cast, finfo, iinfo, isdtype, result_type
from stride0._devices import Device
from stride0._elementwise import *  # noqa: F403
from stride0._errors import (
    ArgumentTypeError,
    ArgumentValueError,
    AxisError,
    BroadcastError,
    CastError,
    DeviceError,
    DTypeError,
    ExchangeError,
    ForeignArrayError,
    OutOfBoundsError,
    RangeError,
    ShapeError,
    Stride0Error,
    WriteError,
)
from stride0._indexing import take, take_along_axis
from stride0._inspection import __array_namespace_info__
from stride0._linear_algebra import matmul, matrix_transpose, tensordot, vecdot
from stride0._manipulation import (
    broadcast_arrays,
    broadcast_shapes,
    broadcast_to,
    concat,
    expand_dims,
    flip,
    moveaxis,
    permute_dims,
    repeat,
    reshape,
    roll,
    squeeze,
    stack,
    tile,
    unstack,
)
from stride0._searching import argmax, argmin, count_nonzero, nonzero, searchsorted
from stride0._set import isin, unique_all, unique_counts, unique_inverse, unique_values
from stride0._sorting import argsort, sort
from stride0._statistical import cumulative_prod, cumulative_sum, max, mean, min, prod, std, sum, var
from stride0._utility import all, any, diff
from stride0._version import __version__

__array_api_version__ = "2025.12"
