# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Arrays as pickles and copies of them, and their size in memory.

Note [Pickling]
    An array is pickled as the memory of its elements, each stored once: a broadcast axis counts as
    one of size 1. Protocol 5 hands that memory over as it is, in whatever order of axes it is contiguous, so
    that out-of-band buffers are neither copied here nor where they are unpickled.
"""

from cpython.object cimport PyObject
from libc.stdint cimport uintptr_t

from stride0._core.memory.dtype cimport UINT8, DType, dtype_at, itemsize_at
from stride0._core.plan.plan cimport MAX_NDIM
from stride0._core.array.interceptors cimport step_back, step_through
from stride0._core.array.array cimport Array, refuse_watched, seen_by_others, shape_tuple, view_of
from stride0._core.array.views cimport as_bits, retyped
from stride0._core.ops.copy cimport copy_array
from stride0._core.exchange.buffers cimport c_bytes, from_buffer

import math

from stride0._base.devices import check_device
from stride0._base.errors import ArgumentValueError, counted, shown
from stride0._core.array.array import add_special, empty
from stride0._core.array.views import restride, without_broadcast_axes

cdef extern from "Python.h":
    Py_ssize_t s0_references "Py_REFCNT"(PyObject* x)
    object PyPickleBuffer_FromObject(object lender)


cdef tuple order_in_memory(Array x):
    """The axes of x from the largest step to the smallest."""
    return tuple(sorted(range(x.ndim), key=lambda axis: -abs_step(x.strides_[axis])))


cdef inline Py_ssize_t abs_step(Py_ssize_t step) noexcept:
    return -step if step < 0 else step


cdef tuple packed(Array x):
    """A contiguous array of the elements of x, each once, and the steps in elements that make x of it again."""
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef Py_ssize_t steps[MAX_NDIM]
    cdef Array base = without_broadcast_axes(x, tuple(range(x.ndim))), turned
    cdef int place, axis
    cdef tuple order = order_in_memory(base)
    cdef list out
    for place, axis in enumerate(order):
        sizes[place] = base.shape_[axis]
        steps[place] = base.strides_[axis]
    turned = view_of(base, base.data, base.ndim, sizes, steps)
    if not turned.c_contiguous:
        turned = copy_array(turned, turned.code, True)
    if order == tuple(range(x.ndim)) and base.size == x.size:
        return turned, None
    out = [0] * x.ndim
    for place, axis in enumerate(order):
        # A broadcast axis, or one of size 1, has the stride 0.
        out[axis] = turned.strides_[place] // itemsize_at(x.code) if base.shape_[axis] > 1 else 0
    return turned, tuple(out)


cdef object lent_to_pickler(Array block):
    """The memory of an array for a pickler, which is no other library to a test configuration."""
    token = step_through()
    try:
        return PyPickleBuffer_FromObject(memoryview(as_bits(block)))
    finally:
        step_back(token)


cdef object reduced(Array x, int protocol):
    """What `__reduce_ex__` answers; Note [Pickling]."""
    refuse_watched(x, "pickle")
    # The array goes with its device: whoever unpickles it where there is none of that name is told so.
    cdef tuple more = (x.device,) if x.storage.device else ()
    block, steps = packed(seen_by_others(x))
    if protocol < 5:
        return _rebuild, (shape_tuple(x), dtype_at(x.code), steps, c_bytes(block), True, *more)
    # The pickler is no other library: in a test configuration of read-only arrays its memory stays writable, by a
    # memoryview, since picklers may ask the lender again.
    lent = lent_to_pickler(block)
    return _rebuild, (shape_tuple(x), dtype_at(x.code), steps, lent, *((False, *more) if more else ()))


def _rebuild(tuple shape not None, DType dtype not None, steps, data, bint copy=False, device=None):
    """
    An array on a block of memory that was pickled.

    Parameters
    ----------
    shape : tuple of int
        Of the array.
    dtype : DType
        Of its elements.
    steps : tuple of int, optional
        Step of each axis in elements, 0 or more; None for C order.
    data : bytes-like
        The block, which the array is a view of.
    copy : bool
        Of a copy of the block instead, which can be written to where `data` cannot.
    device : Device, optional
        Of a test configuration, where the array is to be.
    """
    cdef Array x = rebuilt(shape, dtype, steps, data, copy)
    if device is not None:
        x.storage.device = check_device("unpickle", device).number
    return x


cdef Array rebuilt(tuple shape, DType dtype, steps, data, bint copy):
    cdef Array block
    lent = memoryview(data)
    if steps is None:
        steps = tuple([math.prod(shape[axis + 1:]) for axis in range(len(shape))])
    elif len(steps) != len(shape) or any(type(step) is not int or step < 0 for step in steps):
        raise ArgumentValueError("unpickle", f"steps {shown(steps)} for the shape {shown(shape)}")
    reach = 0 if 0 in shape else 1 + sum([(size - 1) * step for size, step in zip(shape, steps)])
    if lent.nbytes % dtype.itemsize or reach * dtype.itemsize > lent.nbytes:
        raise ArgumentValueError("unpickle", f"{counted(lent.nbytes, 'byte')} for the shape {shown(shape)}")
    if lent.nbytes == 0:
        return empty(shape, dtype)
    block = from_buffer(lent.cast("B"), "unpickle")
    if copy or <uintptr_t>block.data % dtype.itemsize:
        block = copy_array(block, UINT8, True)
    return restride(retyped(block, dtype.code, "unpickle"), shape, steps)


cdef Py_ssize_t size_in_memory(Array x):
    """Bytes of the object and, where it is the array that the memory was made for or the only one left on it, of the memory."""
    cdef Py_ssize_t own = Array.__basicsize__ if x.shape_ is x.small else Array.__basicsize__ + 2 * x.ndim * sizeof(Py_ssize_t)
    if x.storage.owner is None and (not x.is_view or s0_references(<PyObject*>x.storage) == 1):
        own += x.storage.nbytes
    return own


# --- methods of arrays


@add_special
def __reduce_ex__(Array self not None, protocol, /):
    return reduced(self, protocol)


@add_special
def __sizeof__(Array self not None):
    return size_in_memory(self)
