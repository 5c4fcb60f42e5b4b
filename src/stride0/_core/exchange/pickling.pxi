# Pickles and copies of arrays, and their size in memory.
#
# Note [Pickling]
#     An array is pickled as the memory of its elements, each stored once: a broadcast axis counts as an axis of size 1. Protocol
#     5 exports that memory in its own order if it is contiguous, so that out-of-band buffers are copied neither when pickling
#     nor when unpickling.

cdef extern from "Python.h":
    object PyPickleBuffer_FromObject(object exporter)


cdef inline Py_ssize_t abs_stride(Py_ssize_t stride) noexcept:
    return -stride if stride < 0 else stride


cdef void order_in_memory(Array x, int* order) noexcept:
    """Sort the axes of x from the largest stride to the smallest; equal strides keep their order."""
    cdef int axis, place
    for axis in range(x.ndim):
        place = axis
        while place and abs_stride(x.strides_[order[place - 1]]) < abs_stride(x.strides_[axis]):
            order[place] = order[place - 1]
            place -= 1
        order[place] = axis


cdef tuple packed(Array x):
    """A contiguous array with each element of x once, and the strides in elements that restore x from it."""
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef Py_ssize_t strides[MAX_NDIM]
    cdef int order[MAX_NDIM]
    cdef Array base, ordered
    cdef int place, axis
    cdef bint sorted = True
    cdef list out
    if x.c_contiguous:
        return x, None
    base = without_broadcast_axes(x, tuple(range(x.ndim)))
    order_in_memory(base, order)
    for place in range(x.ndim):
        sizes[place] = base.shape_[order[place]]
        strides[place] = base.strides_[order[place]]
        sorted = sorted and order[place] == place
    ordered = view_of(base, data_of(base), base.ndim, sizes, strides)
    if not ordered.c_contiguous:
        ordered = copy_array(ordered, ordered.code, True)
    if sorted and base.size == x.size:
        return ordered, None
    out = [0] * x.ndim
    for place in range(x.ndim):
        axis = order[place]
        # A broadcast axis, or one of size 1, has the stride 0.
        out[axis] = ordered.strides_[place] // itemsize_at(x.code) if base.shape_[axis] > 1 else 0
    return ordered, tuple(out)


cdef object exported_to_pickler(Array block):
    """Export the memory of an array for a pickler, without checks of test configurations."""
    token = suspend_checks()
    try:
        return PyPickleBuffer_FromObject(memoryview(as_bits(block)))
    finally:
        resume_checks(token)


cdef object reduced(Array x, int protocol):
    """The result of `__reduce_ex__`: Note [Pickling]."""
    refuse_tracked(x, "pickle")
    # The device is pickled too: unpickling raises if there is no device of that name.
    cdef tuple more = (x.device,) if x.storage.device else ()
    block, strides = packed(exportable(x))
    if protocol < 5:
        return _rebuild, (shape_tuple(x), dtype_at(x.code), strides, c_bytes(block), True, *more)
    # A test configuration of read-only arrays does not apply to pickling. The memoryview stays writable, because picklers may
    # request the buffer again.
    exported = exported_to_pickler(block)
    return _rebuild, (shape_tuple(x), dtype_at(x.code), strides, exported, *((False, *more) if more else ()))


def _rebuild(tuple shape not None, DType dtype not None, strides, data, bint copy=False, device=None):
    """
    Unpickle an array on a block of memory; `device` is a device of the test configuration in which it was pickled.

    `strides` count elements; None is C order. With `copy`, the array is writable even if `data` is not.
    """
    cdef Array x = rebuilt(shape, dtype, strides, data, copy)
    if device is not None:
        x.storage.device = check_device("unpickle", device).number
    return x


cdef Array rebuilt(tuple shape, DType dtype, strides, data, bint copy):
    cdef Array block
    memory = memoryview(data)
    if strides is None:
        strides = tuple([math.prod(shape[axis + 1:]) for axis in range(len(shape))])
    elif len(strides) != len(shape) or any(type(stride) is not int or stride < 0 for stride in strides):
        raise ArgumentValueError("unpickle", f"strides {shown(strides)} for the shape {shown(shape)}")
    reach = 0 if 0 in shape else 1 + sum([(size - 1) * stride for size, stride in zip(shape, strides)])
    if memory.nbytes % dtype.itemsize or reach * dtype.itemsize > memory.nbytes:
        raise ArgumentValueError("unpickle", f"{counted(memory.nbytes, 'byte')} for the shape {shown(shape)}")
    if memory.nbytes == 0:
        return empty(shape, dtype)
    block = from_buffer(memory.cast("B"), "unpickle")
    if copy or <uintptr_t>data_of(block) % dtype.itemsize:
        block = copy_array(block, UINT8, True)
    return restride(retyped(block, dtype.code, "unpickle"), shape, strides)


cdef Py_ssize_t size_in_memory(Array x):
    """Size of the object in bytes; includes the memory if x is not a view, or if it is the only remaining array on the memory."""
    cdef Py_ssize_t own = Array.__basicsize__ if x.shape_ is x.small else Array.__basicsize__ + 3 * x.ndim * sizeof(Py_ssize_t)
    if x.storage.owner is None and (not x.is_view or s0_has_references(<PyObject*>x.storage, 1)):
        own += x.storage.nbytes
    return own


# --- methods of arrays


@add_special
def __reduce_ex__(Array self not None, protocol, /):
    return reduced(self, protocol)


@add_special
def __sizeof__(Array self not None):
    return size_in_memory(self)
