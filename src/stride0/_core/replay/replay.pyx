"""Recordings of calls, which run again without Python: Note [Recordings] of the tape.

One compiled module, read in this order: `steps.pxi`, `recording.pxi`, `signature.pxi`.
"""

cimport cython
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.string cimport memcmp, memcpy, memset

from stride0._core.memory.dtype cimport DType
from stride0._core.array.array cimport Array, hooks, is_deferred, needs_tape, shape_tuple
from stride0._core.call.binding cimport PyObject_Vectorcall
from stride0._core.elementwise.elementwise cimport binary, in_place, unary

from stride0._base.errors import ReplayError, Stride0Error

include "steps.pxi"
include "recording.pxi"
include "signature.pxi"
