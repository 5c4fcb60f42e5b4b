# Discrete Fourier transforms, Note [Fourier transforms] of `fourier/transforms.pxi`. Declared in `fft/_functions.py`.

# Number of samples from which the declarations compute the frequencies.
cdef Py_ssize_t FEW_FREQUENCIES = 2048
# Results with more elements are checked by `normalize_shape`.
cdef Py_ssize_t MANY = <Py_ssize_t>1 << 40

# For each transform: its kind, and whether it is inverse.
cdef dict TRANSFORMS = {
    "fft": (OF_COMPLEX, False), "ifft": (OF_COMPLEX, True), "rfft": (HALF_OF_REAL, False), "irfft": (TO_REAL, True), "hfft": (TO_REAL, False),
    "ihfft": (HALF_OF_REAL, True), "fftn": (OF_COMPLEX, False), "ifftn": (OF_COMPLEX, True), "rfftn": (HALF_OF_REAL, False), "irfftn": (TO_REAL, True),
}


# --- arguments


cdef Array operand(str op, PyObject* value, int kind):
    cdef Array x = array_argument(value, op, "x")
    if letter_at(x.code) == c"c":
        if kind == HALF_OF_REAL:
            refuse_dtype(op, x.dtype, "a real floating-point dtype; call fft for complex arrays")
        return x
    if letter_at(x.code) != c"f":
        return copy_array(x, FLOAT64, False)
    return copy_array(x, arithmetic_code(x.code), False) if is_stored(x.code) else x


cdef char norm_argument(str op, object norm) except 0:
    """The first letter of the `norm` argument."""
    if isinstance(norm, str):
        if norm == "backward":
            return c"b"
        if norm == "ortho":
            return c"o"
        if norm == "forward":
            return c"f"
    raise ArgumentValueError(op, f"unknown norm {shown(norm)}", (), "pass norm='backward', 'ortho' or 'forward'")


cdef Py_ssize_t whole_length(int kind, Py_ssize_t size) noexcept:
    """The length of a transform that uses all elements of an axis; the axis may hold half a spectrum."""
    return 2 * (size - 1) if kind == TO_REAL else size


cdef Py_ssize_t length_argument(str op, object n, Array x) except -1:
    """The given length, or the default."""
    cdef Py_ssize_t length = 0
    if read_int(<PyObject*>n, &length) and 0 < length < MANY:
        return length
    n = normalize_index(op, "n", n)
    if n < 1 or n.bit_length() > 63:
        accepts = "There must be at least one element along a transformed axis." if n < 1 else ""
        raise ShapeError(op, f"the length of the transform would be {brief(n)}", [("x", f"{x.shape}")], accepts)
    return n


cdef int check_shape(str op, Array x, tuple axes, list lengths) except -1:
    """Raise ShapeError if the result would have too many elements."""
    cdef list shape = list(x.shape)
    for axis, n in zip(axes, lengths):
        shape[axis] = n
    normalize_shape(op, tuple(shape))
    return 0


# --- transforms along one axis


cdef double factor_of(Py_ssize_t n, char norm, bint inverse) noexcept:
    """The factor of a normalised transform."""
    if norm == c"o":
        return 1.0 / sqrt(<double>n)
    return 1.0 / <double>n if (norm == c"f") != inverse else 1.0


cdef Array shortened(Array x, int axis, Py_ssize_t size):
    """The first `size` elements along an axis, as a view."""
    cdef Py_ssize_t shape[MAX_NDIM]
    memcpy(shape, x.shape_, x.ndim * sizeof(Py_ssize_t))
    shape[axis] = size
    return view_of(x, data_of(x), x.ndim, shape, x.strides_)


cdef Array result_for(Array x, int code, int axis, Py_ssize_t size):
    cdef Py_ssize_t shape[MAX_NDIM]
    memcpy(shape, x.shape_, x.ndim * sizeof(Py_ssize_t))
    shape[axis] = size
    return new_array(code, x.ndim, shape, NULL, False)


cdef int compute(s0_fourier_kind kind, Array x, int axis, Py_ssize_t n, bint inverse, char norm, Array out) except -1:
    """Compute a transform along an axis."""
    cdef double factor = factor_of(n, norm, inverse)
    return 0 if run_fourier(kind, x, axis, n, inverse, factor, out) else run_long(kind, x, axis, n, inverse, factor, out)


cdef Array transform(Array x, int kind, bint inverse, int axis, Py_ssize_t n, char norm, bint in_place):
    """The transform of length n along an axis. With `in_place`, the memory of x is reused if x is a complex array in C order."""
    cdef int code = promote_codes(x.code, COMPLEX64), k
    cdef Py_ssize_t outer = 1, inner = 1
    cdef Array out
    if kind == TO_REAL:
        if x.code != code:
            x = copy_array(x, code, False)
        out = result_for(x, FLOAT32 if code == COMPLEX64 else FLOAT64, axis, n)
        compute(TO_REAL, x, axis, n, inverse, norm, out)
    elif kind == HALF_OF_REAL:
        out = result_for(x, code, axis, n // 2 + 1)
        compute(HALF_OF_REAL, x, axis, n, inverse, norm, out)
    elif x.code == code:
        out = x if in_place and x.shape_[axis] == n else result_for(x, code, axis, n)
        compute(OF_COMPLEX, x, axis, n, inverse, norm, out)
    else:
        out = result_for(x, code, axis, n)
        if not run_fourier(ALL_OF_REAL, x, axis, n, inverse, factor_of(n, norm, inverse), out):
            # Half of the spectrum is computed; the other half mirrors it.
            compute(HALF_OF_REAL, x, axis, n, inverse, norm, shortened(out, axis, n // 2 + 1))
            for k in range(x.ndim):
                if k < axis:
                    outer *= x.shape_[k]
                elif k > axis:
                    inner *= x.shape_[k]
            mirror_spectra(code, data_of(out), outer, n, inner, inverse)
    return out


cdef Array no_elements(Array x, int kind, int axis, Py_ssize_t n, list shape):
    """The transform of an empty array: zeros of the transform's length."""
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef int k, code = promote_codes(x.code, COMPLEX64)
    for k in range(x.ndim):
        sizes[k] = shape[k]
    sizes[axis] = n // 2 + 1 if kind == HALF_OF_REAL else n
    if kind == TO_REAL:
        code = FLOAT32 if code == COMPLEX64 else FLOAT64
    return new_array(code, x.ndim, sizes, NULL, True)


cdef object along_one(str name, PyObject** given):
    """`given`: x, n, axis, norm."""
    cdef str op = name[4:]
    cdef int kind, axis
    cdef bint inverse
    cdef Py_ssize_t n
    cdef Array x
    cdef char norm
    kind, inverse = TRANSFORMS[op]
    x = operand(op, given[0], kind)
    norm = norm_argument(op, <object>given[3])
    if not read_axis(given[2], x.ndim, &axis):
        axis = convert_axis(given[2], x.ndim, op)
    n = length_argument(op, whole_length(kind, x.shape_[axis]) if given[1] is <PyObject*>None else <object>given[1], x)
    if given[1] is not <PyObject*>None:
        check_shape(op, x, (axis,), [n])
    if x.size == 0:
        return no_elements(x, kind, axis, n, list(x.shape))
    if op == "hfft":
        x = conj(x)
    out = transform(x, kind, inverse, axis, n, norm, False)
    if op == "ihfft":
        # In place, because nothing else refers to the result yet.
        apply(op_kernel(OP_CONJ, out.code), out.code, 1, out, None, None, out, False, op, UNARY_NAMES)
    return out


# --- along several axes


cdef object along_several(str name, PyObject** given):
    """`given`: x, s, axes, norm."""
    cdef str op = name[4:]
    cdef int kind, k, count
    cdef bint inverse
    cdef Array x, out
    cdef char norm
    kind, inverse = TRANSFORMS[op[:-1]]
    x = operand(op, given[0], kind)
    norm = norm_argument(op, <object>given[3])
    s, axes = <object>given[1], <object>given[2]
    if s is not None and axes is None:
        raise ArgumentValueError(op, "s is given without axes", [("s", shown(s))], "pass axes, one per size in s")
    if axes is not None and not isinstance(axes, (tuple, list, Sequence)):
        raise ArgumentTypeError(op, "axes must be a sequence of integers", [("axes", shown(axes))])
    cdef tuple along = normalize_axes(op, None if axes is None else tuple(axes), x.ndim)
    cdef list lengths = [x.shape_[<int>axis] for axis in along]
    count = <int>len(along)
    if count:
        lengths[count - 1] = whole_length(kind, lengths[count - 1])
    if s is not None:
        if not isinstance(s, (tuple, list, Sequence)):
            raise ArgumentTypeError(op, "s must be a sequence of integers", [("s", shown(s))])
        if len(s) != count:
            raise ArgumentValueError(op, f"s has {counted(len(s), 'size')} for {counted(count, 'axis', 'axes')}", [("s", shown(s)), ("axes", shown(axes))], "pass one size per axis")
        lengths = [whole if n == -1 else n for n, whole in zip([normalize_index(op, "s", n) for n in s], lengths)]
    lengths = [length_argument(op, n, x) for n in lengths]
    if s is not None:
        check_shape(op, x, along, lengths)
    if not count:
        # The real transforms need an axis; without an axis the other transforms change nothing.
        if kind != OF_COMPLEX:
            raise ArgumentValueError(op, "there must be at least one axis", [("x", f"{x.shape}")])
        return copy_array(x, promote_codes(x.code, COMPLEX64), False)
    if x.size == 0:
        shape = list(x.shape)
        for k in range(count):
            shape[along[k]] = lengths[k]
        return no_elements(x, kind, along[count - 1], lengths[count - 1], shape)
    out = x
    if kind == TO_REAL:
        # The last axis, of which only half is stored, is transformed last.
        for k in range(count - 1):
            out = transform(out, OF_COMPLEX, True, along[k], lengths[k], norm, k > 0)
        return transform(out, TO_REAL, True, along[count - 1], lengths[count - 1], norm, False)
    for k in range(count - 1, -1, -1):
        out = transform(out, kind if k == count - 1 else OF_COMPLEX, inverse, along[k], lengths[k], norm, k < count - 1)
    return out


# --- the frequency 0 in the middle


cdef object shift(str name, PyObject** given):
    """`given`: x, axes."""
    cdef str op = name[4:]
    cdef Array x = array_argument(given[0], op, "x")
    cdef Py_ssize_t places[MAX_NDIM]
    cdef int axes[MAX_NDIM]
    cdef int k, count
    wanted = <object>given[1]
    if type(wanted) is not tuple and isinstance(wanted, Sequence):
        wanted = tuple(wanted)
    count = axes_argument(<PyObject*>wanted, x.ndim, op, axes)
    for k in range(x.ndim):
        places[k] = 0
    for k in range(count):
        # For an odd size the larger half comes first.
        places[axes[k]] = x.shape_[axes[k]] // 2 if op == "fftshift" else (x.shape_[axes[k]] + 1) // 2
        if places[axes[k]] == x.shape_[axes[k]]:
            places[axes[k]] = 0
    return rolled(x, places)


cdef object frequencies(str name, PyObject** given):
    """
    `fftfreq` and `rfftfreq` for few frequencies in float64. `given`: n, d, dtype, device.

    The declarations handle other dtypes and errors, and many frequencies, which vectorised division computes.
    """
    cdef Py_ssize_t n, i, size, half
    cdef bint is_real = name == "fft.rfftfreq", is_float = False
    cdef double spacing
    cdef double* values
    cdef Array out
    if not read_int(given[0], &n) or not 1 <= n < FEW_FREQUENCIES or not read_float(given[1], &spacing, &is_float) or spacing == 0:
        return NotImplemented
    if given[2] is not <PyObject*>None:
        return NotImplemented
    check_device_argument(given[3], name[4:])
    size = n // 2 + 1 if is_real else n
    half = size if is_real else (n + 1) // 2
    out = new_array(FLOAT64, 1, &size, NULL, False)
    values = <double*>data_of(out)
    spacing *= n
    for i in range(size):
        values[i] = <double>(i if i < half else i - n) / spacing
    return out


implement("fft.fftfreq", frequencies)
implement("fft.rfftfreq", frequencies)
implement("fft.fftshift", shift)
implement("fft.ifftshift", shift)

cdef str function
for function in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    implement("fft." + function, along_one)
for function in ("fftn", "ifftn", "rfftn", "irfftn"):
    implement("fft." + function, along_several)
