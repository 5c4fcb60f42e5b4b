"""Settings of contexts, and interceptors that check or forward calls.

One compiled module, read in this order: `switches.pxi`, `interceptors.pxi`.
"""

cimport cython
from cpython.object cimport PyObject
from cpython.contextvars cimport PyContextVar_Reset, PyContextVar_Set, get_value

from stride0._core.memory.guards cimport FREE_THREADED, s0_acquire, s0_leave, s0_lock, s0_shared_flag, s0_shared_size
from stride0._core.memory.dtype cimport guard_dtypes

import math
import sys
import warnings
from _thread import get_ident
from contextvars import ContextVar

from stride0._base import devices
from stride0._base.devices import Device
from stride0._base.errors import ArgumentValueError, BroadcastWarning, ReproducibilityError, StretchError, StrictAttributeError, StrictError, counted

include "switches.pxi"
include "interceptors.pxi"
