"""Exchange with other libraries: buffers, DLPack, conversion of objects, and pickling.

One compiled module, read in this order: `buffers.pxi`, `dlpack.pxi`, `dlpack_import.pxi`, `exchange_api.pxi`, `sequences.pxi`,
`convert.pxi`, `text.pxi`, `methods.pxi`, `pickling.pxi`.
"""

cimport cython
from cpython.buffer cimport PyObject_CheckBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.list cimport PyList_New, PyList_SET_ITEM
from cpython.memoryview cimport PyMemoryView_FromObject, PyMemoryView_GET_BUFFER
from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_New, PyCapsule_SetName
from cpython.pyport cimport PY_SSIZE_T_MAX
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport int32_t, int64_t, uint64_t, uint8_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, strchr, strcmp

from stride0._core.memory.guards cimport s0_count_int, s0_has_references
from stride0._core.memory.dtype cimport (
    DType, FLOAT64, INT64, LARGEST_ITEM, NO_DTYPE, N_DTYPES, UINT64, UINT8, arithmetic_code, dtype_at, format_at, is_python_scalar,
    is_stored, itemsize_at, known_dtype, letter_at, promote_codes, read_scalar, scalar_code, write_scalar,
)
from stride0._core.memory.storage cimport Storage, foreign_storage
from stride0._core.plan.plan cimport MAX_NDIM, Operand, broadcast, cast_kernel, extent, run_contiguous
from stride0._core.array.modes cimport (
    Call, beyond_standard, check_method_version, exports_read_only, guarding, is_only_device,
    reads_memory, reads_value, resume_checks, suspend_checks, test_configuration,
)
from stride0._core.array.array cimport (
    Array, alias, as_bits, begin_export, blank, call_function, data_of, has_node, hooks, is_aligned, may_be_written, needs_tape,
    new_array, operand_needs_tape, read_operand, read_shape, refuse_batched, refuse_device, refuse_tracked, retyped, root_of, same_shape, set_flags,
    set_ndim, shape_tuple, single, traced, view_of, without_history,
)
from stride0._core.elementwise.elementwise cimport assign_array, copy_array, count_up, exports_buffer, is_numpy_scalar, scalar_array

import math
import operator
import sys

from stride0._base.devices import BY_NAME, DLDeviceType, check_device
from stride0._base.errors import ArgumentTypeError, ArgumentValueError, DTypeError, DeviceError, ExchangeError, ShapeError, counted, shown
from stride0._tables.dtypes import ROWS
from stride0._tables.standard import DRAFT, VERSIONS
from stride0._core.memory.dtype import numpy_dtype
from stride0._core.array.modes import check_standard
from stride0._core.array.array import add_special, empty, restride, set_attribute, without_broadcast_axes

include "buffers.pxi"
include "dlpack.pxi"
include "dlpack_import.pxi"
include "exchange_api.pxi"
include "sequences.pxi"
include "convert.pxi"
include "text.pxi"
include "methods.pxi"
include "pickling.pxi"
