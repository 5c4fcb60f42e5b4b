# Manipulation functions that write copies or blocks of an array to a new one: `repeat`, `tile`, `roll`. Declared in `_chapters/manipulation.py`.

# --- repeated elements and arrays

cdef extern from *:
    """
    /* Repeat each element of a contiguous run `count` times. Compilers vectorise the loops with constant counts. */
    #define S0_REPEAT_BY(times)                                                        \\
        for (Py_ssize_t i = 0; i < n; i++)                                             \\
            for (Py_ssize_t k = 0; k < (times); k++)                                   \\
                out[i * (times) + k] = items[i];
    #define S0_REPEAT(type) {                                                          \\
        const type *restrict items = (const type *)from;                               \\
        type *restrict out = (type *)to;                                               \\
        if (count == 2) { S0_REPEAT_BY(2) }                                            \\
        else if (count == 3) { S0_REPEAT_BY(3) }                                       \\
        else if (count == 4) { S0_REPEAT_BY(4) }                                       \\
        else { S0_REPEAT_BY(count) }                                                   \\
    }
    typedef struct { uint64_t parts[2]; } s0_wide;
    static void s0_repeat_items(char *to, const char *from, Py_ssize_t n, Py_ssize_t count, Py_ssize_t itemsize) {
        switch (itemsize) {
            case 1: S0_REPEAT(uint8_t) break;
            case 2: S0_REPEAT(uint16_t) break;
            case 4: S0_REPEAT(uint32_t) break;
            case 8: S0_REPEAT(uint64_t) break;
            default: S0_REPEAT(s0_wide)
        }
    }
    """
    void repeat_items "s0_repeat_items"(char* to, const char* from_, Py_ssize_t n, Py_ssize_t count, Py_ssize_t itemsize) noexcept nogil


cdef Py_ssize_t count_argument(PyObject* x, str operation, str name) except? -1:
    """Read an integer argument."""
    cdef Py_ssize_t value
    if read_int(x, &value):
        return value
    number = normalize_index(operation, name, <object>x)
    if number > PY_SSIZE_T_MAX:
        normalize_shape(operation, number)
    return max(number, -1)


cdef Array flat(Array x):
    """The elements of x with one axis, in C order: a view if its memory allows."""
    cdef Py_ssize_t size = x.size, stride
    if not strides_for_shape(x, 1, &size, &stride):
        x = copy_array(x, x.code, True)
        stride = itemsize_at(x.code)
    return view_of(x, data_of(x), 1, &size, &stride)



cdef object repeat(str name, PyObject** given):
    cdef Array x = array_argument(given[0], "repeat", "x"), repeats
    cdef bint flattened = given[2] is <PyObject*>None
    cdef int axis = x.ndim - 1
    if not flattened and not read_axis(given[2], x.ndim, &axis):
        axis = convert_axis(given[2], x.ndim, "repeat")
    if type(<object>given[1]) is not Array:
        return repeat_evenly(x, count_argument(given[1], "repeat", "repeats"), axis, flattened)
    repeats = <Array>given[1]
    if letter_at(repeats.code) != c"i" and letter_at(repeats.code) != c"u":
        refuse_dtype("repeat", repeats.dtype, "an integer dtype", "repeats")
    if repeats.ndim == 0 or (repeats.ndim == 1 and repeats.size == 1):
        number = int(flat(repeats)[0])
        return repeat_evenly(x, count_argument(<PyObject*>number, "repeat", "repeats"), axis, flattened)
    if flattened:
        x, axis = flat(x), 0
    if repeats.ndim != 1 or repeats.size != x.shape_[axis]:
        raise ShapeError("repeat", "repeats must hold one number, or one for each element",
                         [("repeats", f"{repeats.shape}"), ("elements", f"{x.shape_[axis]}")],
                         f"write one number, or an array of shape ({x.shape_[axis]},)")
    return gather(x, repeated_indices(repeats), axis)


cdef Array repeat_evenly(Array x, Py_ssize_t count, int axis, bint flattened):
    """Repeat each element along an axis `count` times; if `flattened`, x is read in C order and the axis is its last."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t counts[MAX_NDIM]
    cdef Py_ssize_t inner = itemsize_at(x.code), size, i, k
    cdef char* to
    cdef char* source
    cdef Array out
    cdef int at, ndim = x.ndim
    if count < 0:
        raise ArgumentValueError("repeat", "repeats must not be negative", [("repeats", str(count))])
    if flattened and x.ndim == 0:
        x, axis = flat(x), 0
    memcpy(shape, x.shape_, x.ndim * sizeof(Py_ssize_t))
    if flattened:
        shape[0], ndim = x.size, 1
    at = 0 if flattened else axis
    size = shape[at]
    if s0_times(&shape[at], count):
        normalize_shape("repeat", tuple([int(size) * int(count) if k == at else shape[k] for k in range(ndim)]))
    check_total("repeat", ndim, shape)
    out = new_array(x.code, ndim, shape, NULL, False)
    if out.size == 0:
        return out
    for at in range(axis + 1, x.ndim):
        inner *= x.shape_[at]
    if inner <= LARGEST_ITEM and inner & (inner - 1) == 0:
        # Two fast passes are faster than one that moves single elements.
        x = copy_array(x, x.code, True) if not x.c_contiguous else x
        repeat_items(data_of(out), data_of(x), x.size * itemsize_at(x.code) // inner, count, inner)
        return out
    if x.c_contiguous and inner <= tuning.copied_run_bytes and (out.size <= tuning.repeated_elements or (inner >= tuning.repeated_lane_bytes and out.size * itemsize_at(x.code) <= tuning.repeated_bytes)):
        to, source = data_of(out), data_of(x)
        for i in range(x.size * itemsize_at(x.code) // inner):
            for k in range(count):
                memcpy(to, source + i * inner, inner)
                to += inner
        return out
    for at in range(x.ndim):
        counts[at] = count if at == axis else 1
    write_copies("repeat", out, x, x.ndim, x.shape_, counts, True)
    return out


cdef object tile(str name, PyObject** given):
    cdef Py_ssize_t counts[2 * MAX_NDIM]
    cdef Py_ssize_t shape[2 * MAX_NDIM]
    cdef Array x = array_argument(given[0], "tile", "x"), out
    cdef int ndim, axis, missing
    if not isinstance(<object>given[1], (tuple, list)):
        raise ArgumentTypeError("tile", "repetitions must be a tuple of integers", [("repetitions", shown(<object>given[1]))])
    # Copy, because conversions may change a list.
    cdef tuple repetitions = tuple(<object>given[1])
    ndim = max(<int>min(len(repetitions), 2 * MAX_NDIM), x.ndim)
    if len(repetitions) > MAX_NDIM:
        check_ndim("tile", len(repetitions))
    missing = ndim - <int>len(repetitions)
    for axis in range(ndim):
        counts[axis] = 1 if axis < missing else count_argument(<PyObject*>repetitions[axis - missing], "tile", "repetitions")
        if counts[axis] < 0:
            raise ArgumentValueError("tile", "repetitions must not be negative", [("repetitions", shown(<object>given[1]))])
    missing = ndim - x.ndim
    for axis in range(ndim):
        shape[axis] = 1 if axis < missing else x.shape_[axis - missing]
        if s0_times(&shape[axis], counts[axis]):
            normalize_shape("tile", tuple([int(counts[k]) * (1 if k < missing else x.shape_[k - missing]) for k in range(ndim)]))
    check_total("tile", ndim, shape)
    out = new_array(x.code, ndim, shape, NULL, False)
    for axis in range(ndim):
        shape[axis] = 1 if axis < missing else x.shape_[axis - missing]
    if out.size:
        write_copies("tile", out, x, ndim, shape, counts, False)
    return out


cdef int write_copies(str operation, Array out, Array x, int ndim, const Py_ssize_t* sizes, const Py_ssize_t* counts, bint inside) except -1:
    """
    Write x, with these sizes (axes of size 1 in front), to a new array, each axis repeated as `counts` says.

    Each axis of the result is split in two: behind the axis of x, for adjacent copies of an element (`inside`), or before it,
    for copies of the whole axis. The second axis is a broadcast axis of x. Axes of size 1 are dropped, because doubling could
    exceed the limit of axes; the other axes cannot, because the number of elements is limited.
    """
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t source[MAX_NDIM]
    cdef Py_ssize_t target[MAX_NDIM]
    cdef int kept = 0, axis, missing = ndim - x.ndim, part
    for axis in range(ndim):
        for part in range(2):
            if part == (1 if inside else 0):
                if counts[axis] != 1:
                    shape[kept], source[kept] = counts[axis], 0
                    kept += 1
            elif sizes[axis] != 1:
                shape[kept], source[kept] = sizes[axis], x.strides_[axis - missing]
                kept += 1
    c_strides_of(itemsize_at(x.code), kept, shape, target)
    assign_array(view_of(out, data_of(out), kept, shape, target), view_of(x, data_of(x), kept, shape, source), operation)
    return 0


cdef Array repeated_indices(Array repeats):
    """The indices 0, 1, 2, ..., each repeated as `repeats` says."""
    cdef Array counts = copy_array(repeats, INT64, True), out     # a copy: another thread may write to `repeats` meanwhile
    cdef int64_t* count = <int64_t*>data_of(counts)
    cdef int64_t* index
    cdef int64_t i, k
    cdef Py_ssize_t total = 0
    for i in range(counts.size):
        if count[i] < 0 or count[i] > PY_SSIZE_T_MAX - total:
            # It may be an unsigned number beyond int64.
            if int(reduce("min", repeats, (0,), False, None)) < 0:
                raise ArgumentValueError("repeat", "repeats must not be negative")
            normalize_shape("repeat", int(reduce("sum", repeats, (0,), False, float64)))
        total += count[i]
    out = new_array(INT64, 1, &total, NULL, False)
    index = <int64_t*>data_of(out)
    with nogil:
        for i in range(counts.size):
            for k in range(count[i]):
                index[k] = i
            index += count[i]
    return out


# --- roll


cdef object roll(str name, PyObject** given):
    cdef Py_ssize_t moves[MAX_NDIM]
    cdef Array x = array_argument(given[0], "roll", "x"), out
    cdef bint several = isinstance(<object>given[1], (tuple, list))
    cdef Py_ssize_t one = 0
    cdef int axis
    if not several and read_int(given[1], &one) and (given[2] is <PyObject*>None or read_axis(given[2], x.ndim, &axis)):
        # One integer shift, along one axis or over all elements.
        if given[2] is <PyObject*>None:
            if x.ndim != 1:
                moves[0] = wrapped(one, x.size)
                out = rolled(flat(x), moves)
                return view_of(out, data_of(out), x.ndim, x.shape_, c_order(x, moves))
            axis = 0
        for k in range(x.ndim):
            moves[k] = 0
        moves[axis] = wrapped(one, x.shape_[axis])
        return rolled(x, moves)
    shift = <object>given[1]
    shifts = [normalize_index("roll", "shift", s) for s in (shift if several else (shift,))]
    if given[2] is <PyObject*>None:
        if len(shifts) != 1:
            raise ArgumentValueError("roll", "a tuple of shifts needs a tuple of axes", [("shift", shown(shift))], "pass axis as a tuple, too")
        moves[0] = operator.mod(shifts[0], x.size) if x.size else 0
        out = rolled(flat(x), moves)
        return view_of(out, data_of(out), x.ndim, x.shape_, c_order(x, moves))
    along = <object>given[2]
    axes = [normalize_axis("roll", a, x.ndim) for a in (along if isinstance(along, (tuple, list)) else (along,))]
    if not several:
        shifts *= len(axes)
    if len(shifts) != len(axes):
        raise ArgumentValueError("roll", "the numbers of shifts and axes differ", [("shift", shown(shift)), ("axis", shown(along))],
                                 "pass one shift per axis")
    total = [0] * x.ndim
    for a, s in zip(axes, shifts):
        total[a] += s
    for axis in range(x.ndim):
        moves[axis] = operator.mod(total[axis], x.shape_[axis]) if x.shape_[axis] else 0
    return rolled(x, moves)


cdef inline Py_ssize_t wrapped(Py_ssize_t move, Py_ssize_t size) noexcept:
    """The equivalent move in the range from 0 to `size - 1`."""
    if size == 0:
        return 0
    move %= size
    return move + size if move < 0 else move


cdef Py_ssize_t* c_order(Array x, Py_ssize_t* out) noexcept:
    """Write the strides in C order for the shape of x to `out`."""
    c_strides_of(itemsize_at(x.code), x.ndim, x.shape_, out)
    return out


cdef Array rolled(Array x, const Py_ssize_t* moves):
    """
    A new array with the elements of x, each axis rolled by a move from 0 to its size - 1.

    A rolled axis consists of two ranges; every combination of ranges is one block.
    """
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef int moved[MAX_NDIM]
    cdef Py_ssize_t read, write
    cdef Array out = new_array(x.code, x.ndim, x.shape_, NULL, False)
    cdef int axis, count = 0, k
    cdef uint64_t block
    if x.size == 0:
        return out
    for axis in range(x.ndim):
        if moves[axis]:
            moved[count] = axis
            count += 1
    if x.ndim == 1 and count == 1 and x.c_contiguous and x.size * itemsize_at(x.code) <= tuning.copied_run_bytes:
        write = moves[0] * itemsize_at(x.code)
        read = (x.size - moves[0]) * itemsize_at(x.code)
        memcpy(data_of(out) + write, data_of(x), read)
        memcpy(data_of(out), data_of(x) + read, write)
        return out
    memcpy(shape, x.shape_, x.ndim * sizeof(Py_ssize_t))
    for block in range(<uint64_t>1 << count):
        read = write = 0
        for k in range(count):
            axis = moved[k]
            if block >> k & 1:      # the last elements of the axis, which move to its beginning
                shape[axis] = moves[axis]
                read += (x.shape_[axis] - moves[axis]) * x.strides_[axis]
            else:
                shape[axis] = x.shape_[axis] - moves[axis]
                write += moves[axis] * out.strides_[axis]
        assign_array(view_of(out, data_of(out) + write, x.ndim, shape, out.strides_),
                     view_of(x, data_of(x) + read, x.ndim, shape, x.strides_), "roll")
    return out


implement("repeat", repeat)
implement("roll", roll)
implement("tile", tile)
