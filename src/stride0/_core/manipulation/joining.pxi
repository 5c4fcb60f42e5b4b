# Functions that write several arrays to a new one: `stack` and `concat`, declared in `_chapters/manipulation.py`; `pad`.

cdef Py_ssize_t MANY_ELEMENTS = <Py_ssize_t>1 << 62
cdef Py_ssize_t MANY_WIDE = <Py_ssize_t>1 << 60     # the declaration refuses larger widths

cdef enum:
    FEW_PARTS = 16


# --- arrays to join


cdef struct Parts:
    # Arrays in a tuple or list.
    PyObject** items
    PyObject* few[FEW_PARTS]
    PyObject* every     # a tuple that keeps the arrays alive; NULL if `few` holds references
    Py_ssize_t count
    int code            # promoted dtype of the arrays
    bint alike          # whether all arrays have this dtype and are contiguous


cdef int read_parts(PyObject* given, str operation, Parts* parts) except -1:
    """
    Read a tuple or list of arrays; `release_parts` releases them, also after an exception.

    A list may change while memory is allocated (in a free-threaded interpreter at any time), so its arrays get references.
    For a few arrays no tuple is made, because that would take 10 % of the call.
    """
    cdef Py_ssize_t k
    cdef bint one = True, contiguous
    if not FREE_THREADED and type(<object>given) is list and 0 < len(<list>given) <= FEW_PARTS:
        parts.count, parts.every, parts.items = len(<list>given), NULL, parts.few
        for k in range(parts.count):
            parts.few[k] = <PyObject*>(<list>given)[k]
            Py_INCREF(<object>parts.few[k])
    else:
        every = tuple(<object>given if type(<object>given) in (tuple, list) else check_arrays(operation, <object>given))
        parts.count, parts.every, parts.items = len(<tuple>every), <PyObject*>every, s0_tuple_items(every)
        Py_INCREF(every)
    contiguous = True
    for k in range(parts.count):
        if type(<object>parts.items[k]) is not Array:
            break
        if k == 0:
            parts.code = (<Array>parts.items[0]).code
        one = one and (<Array>parts.items[k]).code == parts.code
        contiguous = contiguous and (<Array>parts.items[k]).c_contiguous
    else:
        if parts.count:
            parts.alike = one and contiguous
            if not one:
                parts.code = (<DType?>promote_all([(<Array>parts.items[k]).dtype for k in range(parts.count)])).code
            return 0
    # The list may have changed.
    check_arrays(operation, <object>given if parts.every is NULL else <object>parts.every)
    raise SystemError(f"{operation}: what is not an array was taken for one")


cdef void release_parts(Parts* parts) noexcept:
    cdef Py_ssize_t k
    if parts.every is not NULL:
        Py_DECREF(<object>parts.every)
        return
    for k in range(parts.count):
        Py_DECREF(<object>parts.few[k])


cdef bint are_f_contiguous(const Parts* parts) noexcept:
    """Whether each array is in Fortran order and not in C order."""
    cdef Py_ssize_t k
    cdef Array x
    for k in range(parts.count):
        x = <Array>parts.items[k]
        if x.c_contiguous or x.size == 0 or not is_f_contiguous(x):
            return False
    return True


cdef void joined_strides(int code, int ndim, const Py_ssize_t* shape, int last, Py_ssize_t* strides) noexcept:
    """Byte strides in Fortran order; the axis `last`, unless it is -1, is the slowest axis."""
    cdef Py_ssize_t stride = itemsize_at(code)
    cdef int axis
    for axis in range(ndim):
        if axis != last:
            strides[axis] = stride
            stride *= shape[axis]
    if last >= 0:
        strides[last] = stride


cdef Array join_along(str operation, Parts* parts, int ndim, const Py_ssize_t* shape, int at, bint stacked):
    """A new array of arrays joined along an axis: an existing axis, or a new one if `stacked`."""
    cdef Py_ssize_t byte_strides[MAX_NDIM]
    cdef Py_ssize_t blocks = 1, run, j, k
    cdef int axis
    cdef Array x, out, target
    cdef char* to
    check_total(operation, ndim, shape)
    if are_f_contiguous(parts):
        # Keep the memory order of the operands.
        joined_strides(parts.code, ndim, shape, at if stacked else -1, byte_strides)
        out = new_array(parts.code, ndim, shape, byte_strides, False)
    else:
        out = new_array(parts.code, ndim, shape, NULL, False)
    to = data_of(out)
    if out.size == 0:
        return out
    for axis in range(at):
        blocks *= shape[axis]
    if parts.alike and blocks <= tuning.joined_runs and out.size * itemsize_at(parts.code) <= blocks * tuning.copied_run_bytes:
        for j in range(blocks):
            for k in range(parts.count):
                x = <Array>parts.items[k]
                run = (x.size if blocks == 1 else x.size // blocks) * itemsize_at(parts.code)
                memcpy(to, data_of(x) + j * run, run)
                to += run
        return out
    for axis in range(ndim - stacked):
        byte_strides[axis] = out.strides_[axis + (stacked and axis >= at)]
    for k in range(parts.count):
        x = <Array>parts.items[k]
        target = view_of(out, to, x.ndim, x.shape_, byte_strides)
        if x.size and not (is_deferred(x) and copy_pending(target, x)):
            assign_array(target, x, operation)
        to += (1 if stacked else x.shape_[at]) * out.strides_[at]
    return out


cdef object join(str name, PyObject** given):
    """`given`: arrays, axis."""
    cdef Parts parts
    parts.count, parts.every = 0, NULL
    try:
        read_parts(given[0], name, &parts)
        return stack_parts(&parts, given[1]) if name == "stack" else concat_parts(&parts, given[1])
    finally:
        release_parts(&parts)


cdef Array stack_parts(Parts* parts, PyObject* new_axis):
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Array x, first = <Array>parts.items[0]
    cdef Py_ssize_t i
    cdef int at, axis
    for i in range(1, parts.count):
        x = <Array>parts.items[i]
        if not same_shape(x, first):
            raise ShapeError("stack", f"the shapes of arrays[{i}] and arrays[0] differ",
                             [("arrays[0]", f"{first.shape}"), (f"arrays[{i}]", f"{x.shape}")], "pass arrays of one shape, or call concat")
    if not read_axis(new_axis, first.ndim + 1, &at):
        at = convert_axis(new_axis, first.ndim + 1, "stack")
    check_ndim_of(first.ndim + 1, "stack")
    for axis in range(first.ndim + 1):
        shape[axis] = parts.count if axis == at else first.shape_[axis - (axis > at)]
    return join_along("stack", parts, first.ndim + 1, shape, at, True)


cdef int check_ndim_of(int ndim, str operation) except -1:
    if ndim > MAX_NDIM:
        check_ndim(operation, ndim)
    return 0


cdef Array concat_parts(Parts* parts, PyObject* given_axis):
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t byte_strides[MAX_NDIM]
    cdef Array x, out, first = <Array>parts.items[0]
    cdef Py_ssize_t total = 0, start = 0, i, k
    cdef bint fits
    cdef int at, axis
    if given_axis is <PyObject*>None:
        read_sizes(normalize_shape("concat", sum([(<Array>parts.items[k]).size for k in range(parts.count)])), &total)
        out = new_array(parts.code, 1, &total, NULL, False)
        for k in range(parts.count):
            x = <Array>parts.items[k]
            c_strides_of(out.strides_[0], x.ndim, x.shape_, byte_strides)
            assign_array(view_of(out, data_of(out) + start * out.strides_[0], x.ndim, x.shape_, byte_strides), x, "concat")
            start += x.size
        return out
    if not read_axis(given_axis, first.ndim, &at):
        at = convert_axis(given_axis, first.ndim, "concat")
    for i in range(parts.count):
        x = <Array>parts.items[i]
        fits = x.ndim == first.ndim
        for axis in range(first.ndim if fits else 0):
            fits = fits and (axis == at or x.shape_[axis] == first.shape_[axis])
        if not fits:
            raise ShapeError("concat", f"arrays[{i}] does not fit arrays[0]",
                             [("arrays[0]", f"{first.shape}"), (f"arrays[{i}]", f"{x.shape}")],
                             f"pass arrays with equal sizes on all axes except {at}, or call stack to join along a new axis")
    for k in range(parts.count):
        x = <Array>parts.items[k]
        if x.shape_[at] > MANY_ELEMENTS - total:
            normalize_shape("concat", first.shape[:at] + (sum([(<Array>parts.items[i]).shape_[at] for i in range(parts.count)]),) + first.shape[at + 1:])
        total += x.shape_[at]
    memcpy(shape, first.shape_, first.ndim * sizeof(Py_ssize_t))
    shape[at] = total
    return join_along("concat", parts, first.ndim, shape, at, False)


# --- padding


cdef bint read_widths(PyObject* given, int ndim, Py_ssize_t* before, Py_ssize_t* behind):
    """Read a width, a pair of them, or a tuple of a pair for each axis; False for anything else."""
    cdef int axis
    cdef bint each
    if ndim == 0:
        return False
    if type(<object>given) is not tuple:
        if not read_int(given, before):
            return False
        behind[0] = before[0]
        each = False
    else:
        widths = <tuple>given
        each = len(widths) == ndim and type(widths[0]) is tuple
        if not each and not read_pair(given, before, behind):
            return False
        for axis in range(ndim if each else 0):
            if not read_pair(<PyObject*>widths[axis], &before[axis], &behind[axis]):
                return False
    for axis in range(ndim):
        if not each:
            before[axis], behind[axis] = before[0], behind[0]
        if not 0 <= before[axis] < MANY_WIDE or not 0 <= behind[axis] < MANY_WIDE:
            return False
    return True


cdef bint read_pair(PyObject* given, Py_ssize_t* before, Py_ssize_t* behind):
    if type(<object>given) is not tuple or len(<tuple>given) != 2:
        return False
    return read_int(<PyObject*>(<tuple>given)[0], before) and read_int(<PyObject*>(<tuple>given)[1], behind)


cdef object pad(str name, PyObject** given):
    """`given`: x, pad_width, mode, constant_values. Handles widths and a value that are Python numbers; the declaration handles others."""
    cdef Py_ssize_t before[MAX_NDIM]
    cdef Py_ssize_t behind[MAX_NDIM]
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Array x, out, value = None     # without padding, the value is not checked
    cdef char* first
    cdef int axis, k
    if type(<object>given[0]) is not Array or not is_python_scalar(<object>given[3]) or <object>given[2] != "constant":
        return NotImplemented
    x = <Array>given[0]
    if needs_tape(x) or not read_widths(given[1], x.ndim, before, behind):
        return NotImplemented
    for axis in range(x.ndim):
        shape[axis] = x.shape_[axis] + before[axis] + behind[axis]
    check_total(name, x.ndim, shape)
    out = new_array(x.code, x.ndim, shape, NULL, False)
    if out.size != x.size:
        check_fill(name, "constant_values", <object>given[3], x.dtype)
        value = scalar_array(<object>given[3], x.code, name)
    first = data_of(out)
    memcpy(shape, x.shape_, x.ndim * sizeof(Py_ssize_t))
    for axis in range(x.ndim):
        # Includes the padding of the axes before this one, so that each element is written once.
        for k in range(x.ndim):
            first += before[k] * out.strides_[k] if k > axis else 0
        shape[axis] = before[axis]
        pad_view(out, first, shape, value)
        shape[axis] = behind[axis]
        pad_view(out, first + (out.shape_[axis] - behind[axis]) * out.strides_[axis], shape, value)
        shape[axis] = out.shape_[axis]
        first = data_of(out)
    memcpy(shape, x.shape_, x.ndim * sizeof(Py_ssize_t))
    for axis in range(x.ndim):
        first += before[axis] * out.strides_[axis]
    pad_view(out, first, shape, x)
    return out


cdef int pad_view(Array out, char* first, const Py_ssize_t* shape, Array value) except -1:
    """Write a value to a part of an array in C order."""
    cdef int axis
    for axis in range(out.ndim):
        if shape[axis] == 0:
            return 0
    return assign_array(view_of(out, first, out.ndim, shape, out.strides_), value, "pad")


implement("concat", join)
implement("pad", pad)
implement("stack", join)
