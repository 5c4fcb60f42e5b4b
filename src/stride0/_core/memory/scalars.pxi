# Single values between Python and memory.

cdef bint is_python_scalar(object value) noexcept:
    return isinstance(value, (float, int, complex))


cdef char letter_of(object value) except 0:
    if isinstance(value, bool):
        return c"b"
    if isinstance(value, int):
        return c"i"
    if isinstance(value, float):
        return c"f"
    if isinstance(value, complex):
        return c"c"
    raise DTypeError("promote", f"a {type(value).__name__} is not a Python scalar", (), "pass a bool, int, float or complex")


cdef int scalar_code(object value) except -1:
    cdef char letter = letter_of(value)
    return BOOL if letter == c"b" else INT64 if letter == c"i" else FLOAT64 if letter == c"f" else COMPLEX128


cdef int weak_code(int code, object value) except -1:
    cdef char letter = letter_of(value)
    if rank_of(letter) <= rank_of(letter_at(code)):
        return code
    if letter == c"c" and arithmetic_code(code) == FLOAT32:
        return COMPLEX64
    return scalar_code(value)


ctypedef fused integer:
    int8_t
    int16_t
    int32_t
    int64_t
    uint8_t
    uint16_t
    uint32_t
    uint64_t


cdef int write_integer(object value, int code, char* out, str operation) except -1:
    """Write a Python int; RangeError if it does not fit."""
    cdef uint64_t pattern[2]    # the size of the largest element, which `copy_item` may read
    cdef int overflow = 0, unused = 64 - 8 * <int>itemsize_at(code)
    cdef int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow)
    cdef bint fits = overflow == 0
    if letter_at(code) == c"u":
        fits = fits and number >= 0 and (unused == 0 or number >> (64 - unused) == 0)
    else:
        fits = fits and <int64_t>(<uint64_t>number << unused) >> unused == number
    if fits:
        pattern[0] = <uint64_t>number
        copy_item(out, <const char*>pattern, code)
        return 0
    low, high = LIMITS[code]
    if not low <= value <= high:
        raise RangeError(
            operation,
            f"Python integer {brief(value)} is out of bounds for {dtype_at(code).name}",
            (),
            f"pass an integer from {low} to {high}",
        )
    # The upper half of uint64 is left.
    pattern[0] = value
    copy_item(out, <const char*>pattern, code)
    return 0


cdef extern from "dtypes.h":
    float odd_f32(double x) noexcept
    float s0_read_stored(const char* x, int code) noexcept
    void s0_write_stored(float x, int code, char* out) noexcept


cdef object odd_float(object value):
    """A Python int rounded to odd if a double cannot hold it, so that a second rounding gives the same as a single one."""
    cdef Py_ssize_t low = value.bit_length() - 53
    if low > 0:
        # Shifts of Python integers only: `1 << low` would be a C int.
        kept = value >> low
        value = (kept | (kept << low != value)) << low
    return float(value)


cdef int write_scalar(object value, int code, char* out, str operation) except -1:
    """
    Write a Python scalar into one element, as assignment casts it.

    A float becomes an integer by truncation; an integer that does not fit raises RangeError; a complex
    number has no real value and raises CastError.
    """
    cdef double real, imag
    cdef Py_complex both
    cdef float half
    cdef char letter = letter_at(code)
    if letter == c"f" or letter == c"c":
        imag = 0
        if isinstance(value, complex):
            if letter == c"f":
                raise CastError(operation, f"a complex number cannot be cast to the dtype {dtype_at(code).name}")
            both = PyComplex_AsCComplex(value)
            real, imag = both.real, both.imag
        else:
            try:
                real = odd_float(value) if is_stored(code) and isinstance(value, int) else value
            except OverflowError:
                raise RangeError(operation, f"Python integer is out of bounds for {dtype_at(code).name}") from None
        if itemsize_at(code) == 8 and letter == c"f":
            memcpy(out, &real, 8)
        elif is_stored(code):
            s0_write_stored(odd_f32(real), code, out)
        elif code == COMPLEX128:
            memcpy(out, &real, 8)
            memcpy(out + 8, &imag, 8)
        else:
            half = <float>real
            memcpy(out, &half, 4)
            if letter == c"c":
                half = <float>imag
                memcpy(out + 4, &half, 4)
        return 0
    if letter == c"b":
        out[0] = 1 if value else 0
        return 0
    if isinstance(value, complex):
        raise CastError(operation, f"a complex number cannot be cast to the dtype {dtype_at(code).name}")
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise RangeError(operation, f"cannot convert the float {value} to {dtype_at(code).name}")
        value = int(value)
    return write_integer(int(value), code, out, operation)


cdef object read_scalar(const char* place, int code):
    """The element as a Python scalar."""
    cdef double d[2]
    cdef float f[2]
    cdef uint64_t u[2]
    if code == FLOAT64:
        memcpy(d, place, 8)
        return d[0]
    if code == FLOAT32:
        memcpy(f, place, 4)
        return <double>f[0]
    if code == COMPLEX128:
        memcpy(d, place, 16)
        return PyComplex_FromDoubles(d[0], d[1])
    if code == COMPLEX64:
        memcpy(f, place, 8)
        return PyComplex_FromDoubles(f[0], f[1])
    if code == BOOL:
        return place[0] != 0
    if is_stored(code):
        return <double>s0_read_stored(place, code)
    u[0] = 0
    copy_item(<char*>u, place, code)
    if letter_at(code) == c"u":
        return u[0]
    cdef int shift = 64 - 8 * itemsize_at(code)
    return <int64_t>(u[0] << shift) >> shift
