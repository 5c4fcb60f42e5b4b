# Copies, casts and assignment; values that fill an array.

cpdef int check_cast(str operation, DType source, DType target) except -1:
    """Raise CastError for complex to real: the caller has to choose a component."""
    if not has_cast(source.code, target.code):
        raise CastError(operation, f"cannot cast complex {source.name} to real {target.name}",
                        accepts="take a component first: real(x), imag(x) or abs(x)")
    return 0


cdef Array copy_array(Array x, int code, bint c_order):
    """A new array of the elements of x, cast; in their memory order, or in C order."""
    cdef Array out = None
    guard_gradient(x, "copy")
    check_codes("copy", x.code, code)
    if c_order and not x.c_contiguous and x.ndim > 1:
        out = new_array(code, x.ndim, x.shape_, NULL, False)
        if is_deferred(x) and copy_pending(out, x):
            return out
    if out is None:
        return apply_new(cast_kernel(x.code, code), code, 1, x, None, None, "copy", UNARY_NAMES)
    return apply(cast_kernel(x.code, code), code, 1, x, None, None, out, False, "copy", UNARY_NAMES)


cdef int check_assignment(Array target, Array source) except -1:
    """Check `x[key] = value` against the mode of broadcasting."""
    if is_restricted() and not source.weak:
        enforce_current_mode("setitem", [("x", shape_tuple(target)), ("value", shape_tuple(source))], shape_tuple(target))
    return 0


cdef int assign_array(Array dst, Array src, str operation) except -1:
    """`dst[...] = src`: broadcasts and casts."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Operand operands[2]
    cdef int ndim
    guard_gradient(dst, operation)
    guard_gradient(src, operation)
    check_codes(operation, src.code, dst.code)
    if src.ndim and not same_shape(dst, src):
        read_operand(&operands[0], dst)
        read_operand(&operands[1], src)
        if broadcast(operands, 2, shape, &ndim) != 0 or ndim != dst.ndim or memcmp(shape, dst.shape_, ndim * sizeof(Py_ssize_t)) != 0:
            raise BroadcastError(operation, [("x", shape_tuple(dst)), ("value", shape_tuple(src))], ("x", shape_tuple(dst)))
    apply(cast_kernel(src.code, dst.code), dst.code, 1, src, None, None, dst, True, operation, UNARY_NAMES)
    return 0


cdef Array broadcast_like(Array x, Array like):
    """x broadcast to the shape of `like`, as a view; the caller knows that it fits."""
    cdef Py_ssize_t byte_strides[MAX_NDIM]
    cdef int axis, own
    for axis in range(like.ndim):
        own = axis - (like.ndim - x.ndim)
        byte_strides[axis] = 0 if own < 0 or x.shape_[own] == 1 else x.strides_[own]
    return view_of(x, data_of(x), like.ndim, like.shape_, byte_strides)


def assign(Array dst not None, src, str operation="assign"):
    """`dst[...] = src` for an array or a Python scalar; broadcasts, casts, and copies where memory is shared."""
    assign_array(dst, value_operand(dst, src, operation), operation)


def copy(Array x not None, dtype=None, str order="K"):
    """A new array of the elements of x, cast where a dtype is given; memory order kept ("K") or "C"."""
    return copy_array(x, x.code if dtype is None else (<DType?>dtype).code, order == "C")


cdef int fill(Array out, object value, str name) except -1:
    """Write a value that the dtype holds to every element of a new array."""
    cdef Run run
    cdef char place[LARGEST_ITEM]
    if is_long_run(out.size):
        return assign_array(out, scalar_array(value, out.code, name), name)
    write_scalar(value, out.code, place, name)
    begin_run(&run, out, False)
    add_to_run(&run, 0, place, out.code, out.code, True)
    add_to_run(&run, 1, data_of(out), out.code, out.code, False)
    run_loop(&run, cast_kernel(out.code, out.code), 1)
    return 0


cdef int spread(Array out, double start, double step) except -1:
    """Fill a new array of one axis and a real dtype with `start + i * step`, computed in float64."""
    cdef Py_ssize_t i, n = out.size
    cdef double* doubles
    cdef float* floats
    cdef Array work
    if out.code != FLOAT64 and out.code != FLOAT32:
        work = new_array(FLOAT64, 1, out.shape_, NULL, False)
        spread(work, start, step)
        return assign_array(out, work, "iota")
    doubles, floats = <double*>data_of(out), <float*>data_of(out)
    # Integers of 32 bits are converted several at once.
    for i from 0 <= i < n by tuning.spread_elements:
        if out.code == FLOAT64:
            spread_doubles(doubles + i, <double>i, <int>min(n - i, <Py_ssize_t>tuning.spread_elements), start, step)
        else:
            spread_floats(floats + i, <double>i, <int>min(n - i, <Py_ssize_t>tuning.spread_elements), start, step)
    return 0


cdef void spread_doubles(double* out, double at, int n, double start, double step) noexcept nogil:
    cdef int i
    for i in range(n):
        out[i] = start + (at + <double>i) * step


cdef void spread_floats(float* out, double at, int n, double start, double step) noexcept nogil:
    cdef int i
    for i in range(n):
        out[i] = <float>(start + (at + <double>i) * step)


def iota(Array out not None, start, step):
    """Fill a one-dimensional array with `start + i * step`: integers modulo their width, floats in float64."""
    cdef Array work = out
    if out.ndim != 1:
        raise ShapeError("iota", f"the array has {counted(out.ndim, 'axis', 'axes')}", (), "pass an array with one axis")
    cdef char letter = letter_at(out.code)
    cdef uint64_t first, by
    if letter == c"i" or letter == c"u" or letter == c"b":
        if out.code != UINT64 or not out.c_contiguous:
            work = new_array(UINT64, 1, out.shape_, NULL, False)
        first, by = int(start) & 0xFFFFFFFFFFFFFFFF, int(step) & 0xFFFFFFFFFFFFFFFF
        count_up[uint64_t](<uint64_t*>data_of(work), work.size, first, by)
    else:
        if (out.code != FLOAT64 and out.code != FLOAT32) or not out.c_contiguous:
            work = new_array(FLOAT64, 1, out.shape_, NULL, False)
        spread(work, start, step)
    if work is not out:
        assign_array(out, work, "iota")
