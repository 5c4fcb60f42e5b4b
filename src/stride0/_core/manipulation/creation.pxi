# Compiled functions that create arrays. Declared in `_chapters/creation.py`, `data_types.py` and `strided`.

cdef Py_ssize_t FAR = <Py_ssize_t>1 << 60


cdef Array make_array(str operation, PyObject* shape, PyObject* dtype, PyObject* device, bint zeroed):
    """A new array of float64, unless another dtype is given."""
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef int ndim
    check_device_argument(device, operation)
    ndim = shape_argument(shape, operation, sizes)
    return new_array(dtype_code_argument(dtype, operation, FLOAT64), ndim, sizes, NULL, zeroed)


cdef object empty(str name, PyObject** given):
    return make_array("empty", given[0], given[1], given[2], False)


cdef object zeros(str name, PyObject** given):
    return make_array("zeros", given[0], given[1], given[2], True)


cdef object ones(str name, PyObject** given):
    cdef Array out = make_array("ones", given[0], given[1], given[2], False)
    fill(out, 1, "ones")
    return out


cdef object full(str name, PyObject** given):
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef int ndim
    check_device_argument(given[3], "full")
    ndim = shape_argument(given[0], "full", sizes)
    return filled("full", ndim, sizes, given[1], given[2], -1)


cdef Array filled(str operation, int ndim, const Py_ssize_t* sizes, PyObject* value, PyObject* dtype, int default):
    """A new array filled with a value. If no dtype is given, it is `default`, or the dtype of the value if `default` is negative."""
    cdef Py_ssize_t number
    cdef int code = default
    cdef Array out
    cdef bint plain = True
    if dtype is not <PyObject*>None:
        code = dtype_code_argument(dtype, operation, -1)
    if code < 0 and type(<object>value) is bool:
        code = BOOL
    elif read_int(value, &number):
        if code < 0:
            code = INT64
        else:
            plain = 0 <= number <= 127 and code != BOOL     # a value that every dtype except bool holds
    elif type(<object>value) is float:
        if code < 0:
            code = FLOAT64
        else:
            plain = letter_at(code) == c"f" or letter_at(code) == c"c"
    else:
        plain = False
    if plain:
        out = new_array(code, ndim, sizes, NULL, False)
        fill(out, <object>value, operation)
    else:
        filler, target = check_fill(operation, "fill_value", <object>value, None if code < 0 else dtype_at(code))
        out = new_array((<DType?>target).code, ndim, sizes, NULL, False)
        assign_array(out, value_operand(out, filler, operation), operation)
    return out


# --- arrays like another array


cdef Array like_argument(str operation, PyObject** given, int* code, int* ndim, Py_ssize_t* sizes):
    """The array whose attributes a new array takes. `given` holds it, then dtype, device and shape, which replace its attributes unless None."""
    cdef Array x = array_argument(given[0], operation, "x")
    check_device_argument(given[2], operation)
    code[0] = dtype_code_argument(given[1], operation, x.code)
    if given[3] is <PyObject*>None:
        ndim[0] = x.ndim
        memcpy(sizes, x.shape_, x.ndim * sizeof(Py_ssize_t))
    else:
        ndim[0] = shape_argument(given[3], operation, sizes)
    return x


cdef object empty_like(str name, PyObject** given):
    """`empty_like` and `zeros_like`."""
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef int code, ndim
    like_argument(name, given, &code, &ndim, sizes)
    return new_array(code, ndim, sizes, NULL, name == "zeros_like")


cdef object ones_like(str name, PyObject** given):
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef int code, ndim
    cdef Array out
    like_argument("ones_like", given, &code, &ndim, sizes)
    out = new_array(code, ndim, sizes, NULL, False)
    fill(out, 1, "ones_like")
    return out


cdef object full_like(str name, PyObject** given):
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef int code, ndim
    cdef PyObject* others[4]
    others[0], others[1], others[2], others[3] = given[0], given[2], given[3], given[4]
    like_argument("full_like", others, &code, &ndim, sizes)
    return filled("full_like", ndim, sizes, given[1], <PyObject*>None, code)


cdef object eye(str name, PyObject** given):
    cdef Py_ssize_t sizes[2]
    cdef Py_ssize_t k, length, i
    cdef Array out
    cdef char one[LARGEST_ITEM]
    cdef char* to
    cdef int code
    check_device_argument(given[4], "eye")
    if not read_int(given[0], &sizes[0]):
        sizes[0] = size_argument("eye", normalize_index("eye", "n_rows", <object>given[0]))
    sizes[1] = sizes[0]
    if given[1] is not <PyObject*>None and not read_int(given[1], &sizes[1]):
        sizes[1] = size_argument("eye", normalize_index("eye", "n_cols", <object>given[1]))
    if not read_int(given[2], &k):
        k = clipped(normalize_index("eye", "k", <object>given[2]))
    if sizes[0] < 0 or sizes[1] < 0 or sizes[0] >= FAR or sizes[1] >= FAR:
        normalize_shape("eye", (sizes[0], sizes[1]))
    check_total("eye", 2, sizes)
    code = dtype_code_argument(given[3], "eye", FLOAT64)
    out = new_array(code, 2, sizes, NULL, True)
    # A diagonal beyond a corner is empty.
    k = max(-sizes[0], min(k, sizes[1]))
    length = min(sizes[0], sizes[1] - k) if k >= 0 else min(sizes[0] + k, sizes[1])
    if length > 0:
        write_scalar(1, code, one, "eye")
        to = data_of(out) + (k * out.strides_[1] if k >= 0 else -k * out.strides_[0])
        for i in range(length):
            copy_item(to + i * (out.strides_[0] + out.strides_[1]), one, code)
    return out


cdef Py_ssize_t size_argument(str name, object number) except? -1:
    """The size of an axis; raises if no array can have this many elements."""
    if not -PY_SSIZE_T_MAX <= number <= PY_SSIZE_T_MAX:
        normalize_shape(name, (number,))
    return number


cdef Py_ssize_t clipped(object number) except? -1:
    return max(-PY_SSIZE_T_MAX, min(number, PY_SSIZE_T_MAX))


# --- arange


cdef object arange(str name, PyObject** given):
    cdef Py_ssize_t start = 0, stop, step, size
    cdef double first, distance
    cdef bint no_stop = given[1] is <PyObject*>None
    cdef int code
    cdef Array out
    check_device_argument(given[4], "arange")
    if given[3] is <PyObject*>None and read_int(given[2], &step) and step == 1:
        if read_int(given[0], &stop if no_stop else &start) and (no_stop or read_int(given[1], &stop)):
            # In the usual case, far from overflow, no Python integers are needed.
            if -FAR < start < FAR and -FAR < stop < FAR:
                size = stop - start if stop > start else 0
                out = new_array(INT64, 1, &size, NULL, False)
                count_up[int64_t](<int64_t*>data_of(out), size, start, 1)
                return out
    if read_range(given, &first, &distance, &size):
        code = dtype_code_argument(given[3], "arange", FLOAT64)
        if letter_at(code) == c"f":
            out = new_array(code, 1, &size, NULL, False)
            spread(out, first, distance)
            return out
    numbers = [real_number("start", <object>given[0]), 0 if no_stop else real_number("stop", <object>given[1]), real_number("step", <object>given[2])]
    if no_stop:
        numbers[0], numbers[1] = 0, numbers[0]
    return make_range(numbers, <object>given[3])


cdef bint read_range(PyObject** given, double* first, double* step, Py_ssize_t* size) except -1:
    """
    Read start, stop and step if floats are among them or a dtype is given, and count the elements.

    Return False if integers may differ from their rounded quotient, or for any unusual argument: `make_range` handles these.
    """
    cdef double start = 0, stop, difference, count
    cdef bint is_float = False
    if given[1] is <PyObject*>None:
        if not read_float(given[0], &stop, &is_float):
            return False
    elif not read_float(given[0], &start, &is_float) or not read_float(given[1], &stop, &is_float):
        return False
    if not read_float(given[2], step, &is_float) or step[0] == 0 or (not is_float and given[3] is <PyObject*>None):
        return False
    difference = stop - start
    count = count_of_steps(difference, step[0])
    # Up to this bound the difference of integers is exact, and a fractional quotient is not rounded to an integer.
    if not (fabs(difference) <= EXACT and count < EXACT):
        return False
    first[0], size[0] = start, <Py_ssize_t>count
    return True


cdef double count_of_steps(double difference, double step) noexcept:
    """The number of elements, from the rounded quotient as in NumPy: an underflow to 0 gives one element."""
    cdef double quotient = difference / step
    if quotient == 0 and difference != 0:
        return 1 if (difference > 0) == (step > 0) else 0
    return max(ceil(quotient), 0)


cdef object real_number(str name, value):
    number = as_scalar("arange", name, value)
    if isinstance(number, complex):
        raise ArgumentTypeError("arange", f"{name} must be a real number, not complex", [(name, shown(number))])
    return int(number) if isinstance(number, bool) else number


cdef list describe_numbers(list numbers):
    return [(name, shown(number)) for name, number in zip(("start", "stop", "step"), numbers)]


cdef Array make_range(list numbers, dtype):
    """The array start, start + step, ..., below stop."""
    cdef bint integral = all([isinstance(n, int) for n in numbers])
    cdef DType target = check_dtype("arange", dtype, dtype_at(INT64 if integral else FLOAT64))
    cdef bint into_integers = target.kind in ("signed integer", "unsigned integer")
    if target.kind == "bool":
        refuse_dtype("arange", target, "a numeric dtype", "the result")
    if not all([isinstance(n, int) or math.isfinite(n) for n in numbers]):
        raise ArgumentValueError("arange", "start, stop and step must be finite", describe_numbers(numbers))
    if numbers[2] == 0:
        raise ArgumentValueError("arange", "step must not be 0", describe_numbers(numbers))
    if into_integers:
        if not all([n == int(n) for n in (numbers[0], numbers[2])]):
            raise ArgumentValueError("arange", f"start or step has a fraction and the dtype is {target.name}", describe_numbers(numbers),
                                     f"write astype(arange(start, stop, step), {target.name}), which rounds toward zero")
        numbers = [int(numbers[0]), math.ceil(numbers[1]) if numbers[2] > 0 else math.floor(numbers[1]), int(numbers[2])]
    count = count_of_numbers(numbers[0], numbers[1], numbers[2])
    if count >= 2**63:
        raise ShapeError("arange", "the result would have too many elements", describe_numbers(numbers))
    (count,) = normalize_shape("arange", count)
    if into_integers:
        return make_integers(count, numbers[0], numbers[2], target)
    return make_floats(count, numbers[0], numbers[2], target)


cdef object count_of_numbers(start, stop, step):
    """ceil((stop - start) / step), or 0 if it is negative: exact for integers of any type, by the rounded quotient for other numbers."""
    cdef double count
    if all([n == int(n) for n in (start, stop, step)]):
        return max(0, -((int(stop) - int(start)) // -int(step)))
    if not (isinstance(start, int) and isinstance(stop, int)):
        start, stop = as_float("arange", start), as_float("arange", stop)
    count = count_of_steps(as_float("arange", stop - start), as_float("arange", step))
    return int(count) if count < 2.0**63 else 2**63


cdef Array make_integers(Py_ssize_t count, start, step, DType dtype):
    cdef Array out
    least, most = limits_of(dtype)
    for number in (start, start + (count - 1) * step) if count else ():
        if not least <= number <= most:
            raise RangeError("arange", f"{number} does not fit {dtype.name}", accepts=f"pass numbers from {least} to {most}")
    out = new_array(dtype.code, 1, &count, NULL, False)
    # Elements are computed modulo 2**64, which is right even if the step does not fit int64.
    iota(out, start, step)
    return out


cdef Array make_floats(Py_ssize_t count, start, step, DType dtype):
    cdef Array out
    cdef double first = as_float("arange", start), distance = as_float("arange", step)
    cdef double scale
    # The rounding error of a large integer start may be large relative to the step.
    remainder = start - int(first) if isinstance(start, int) else 0
    # If the difference of last and first element overflows, half the difference does not.
    scale = 2 if math.isinf(count * distance) else 1
    if isinstance(start, int) and isinstance(step, int):
        last = start + (count - 1) * step
        if not -(2**53) <= start <= 2**53 or not -(2**53) <= last <= 2**53:
            wide = check_dtype("arange", "int64" if start < 0 or last < 0 else "uint64")
            least, most = limits_of(wide)
            if all([least <= end <= most for end in (start, last)]):
                return copy_array(make_integers(count, start, step, wide), dtype.code, False)
    if dtype.kind == "real floating" and not remainder and scale == 1:
        out = new_array(dtype.code, 1, &count, NULL, False)
        iota(out, first, distance)
        return out
    out = new_array(FLOAT64, 1, &count, NULL, False)
    iota(out, (remainder or first) / scale, distance / scale)
    if remainder:
        out = add(out, first / scale)
    if scale > 1:
        out = multiply(out, scale)
    return copy_array(out, dtype.code, False)


cdef object linspace(str name, PyObject** given):
    """Handles moderate real numbers in float64; the declaration handles others."""
    cdef double first, last, step
    cdef double* values
    cdef bint is_float = False, endpoint = <object>given[5] is True
    cdef Py_ssize_t num, parts
    cdef Array out
    if not read_float(given[0], &first, &is_float) or not read_float(given[1], &last, &is_float) or not read_int(given[2], &num):
        return NotImplemented
    if not 0 <= num < FAR or given[3] is not <PyObject*>None or not (endpoint or <object>given[5] is False):
        return NotImplemented
    parts = num - endpoint
    step = (last - first) / parts if parts > 0 else 0
    if step == 0 and first != last and parts > 0:     # the step underflows
        return NotImplemented
    check_device_argument(given[4], "linspace")
    check_total("linspace", 1, &num)
    out = new_array(FLOAT64, 1, &num, NULL, False)
    spread(out, first, step)
    values = <double*>data_of(out)
    # Rounding may move the ends.
    if num:
        values[0] = first
    if endpoint and num > 1:
        values[num - 1] = last
    return out


# --- copies


cdef object astype(str name, PyObject** given):
    cdef Array x = array_argument(given[0], "astype", "x")
    cdef int code = dtype_code_argument(given[1], "astype", -1)
    check_device_argument(given[3], "astype")
    if not flag_argument(given[2], "astype", "copy") and x.code == code:
        return x
    if not has_cast(x.code, code):
        check_cast("astype", x.dtype, dtype_at(code))
    return copy_array(x, code, False)


cdef object contiguous(str name, PyObject** given):
    cdef Array x = <Array>given[0] if type(<object>given[0]) is Array else as_array(<object>given[0], "contiguous")
    return x if x.c_contiguous else copy_array(x, x.code, True)


implement("arange", arange)
implement("astype", astype)
implement("empty", empty)
implement("empty_like", empty_like)
implement("eye", eye)
implement("full", full)
implement("full_like", full_like)
implement("linspace", linspace)
implement("ones", ones)
implement("ones_like", ones_like)
implement("strided.contiguous", contiguous)
implement("zeros", zeros)
implement("zeros_like", empty_like)
