# Locations of arrays in memory, and whether two arrays share elements. Included in `tape.pyx`.

cdef Array outline(Array x):
    """The location of an array as an array: address, shape, strides and dtype, without a reference to the memory."""
    cdef Array whole = ground(x), place = blank(whole.code)
    set_ndim(place, whole.ndim)
    memcpy(place.shape_, whole.shape_, 2 * whole.ndim * sizeof(Py_ssize_t))
    place.size, place.c_contiguous, place.address = whole.size, whole.c_contiguous, data_of(whole)
    return place


cdef bint is_same_place(Array a, Array b) noexcept:
    return a.address == b.address and itemsize_at(a.code) == itemsize_at(b.code) and same_shape(a, b) and memcmp(a.strides_, b.strides_, a.ndim * sizeof(Py_ssize_t)) == 0


cdef void reach(char* data, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides, int code, uintptr_t* low, uintptr_t* high) noexcept:
    """`extent`, as integers."""
    cdef Operand operand
    operand.data, operand.ndim, operand.shape, operand.strides, operand.code = data, ndim, shape, strides, code
    extent(&operand, <char**>low, <char**>high)


cdef inline void reach_of(Array x, uintptr_t* low, uintptr_t* high) noexcept:
    reach(x.address, x.ndim, x.shape_, x.strides_, x.code, low, high)


cdef Py_ssize_t divisor(Py_ssize_t a, Py_ssize_t b) noexcept:
    """The greatest common divisor; for a and 0 it is a."""
    a, b = abs(a), abs(b)
    while b:
        a, b = b, a % b
    return a


cdef Py_ssize_t spacing(Array x, Py_ssize_t found) noexcept:
    """The greatest common divisor of `found` and the strides of axes with several elements."""
    cdef int axis
    for axis in range(x.ndim):
        if x.shape_[axis] > 1:
            found = divisor(found, x.strides_[axis])
    return found


cdef bint overlap(Array a, Array b) except -1:
    """Whether two arrays have a byte in common: exact, also for interleaved arrays."""
    cdef uintptr_t low, high, low_b, high_b
    cdef Py_ssize_t size_a = itemsize_at(a.code), size_b = itemsize_at(b.code), step, apart, unit
    cdef unsigned char* marks
    cdef bint found
    if a.size == 0 or b.size == 0:
        return False
    reach_of(a, &low, &high)
    reach_of(b, &low_b, &high_b)
    low, high = max(low, low_b), min(high, high_b)
    if low >= high:
        return False
    if a.c_contiguous and b.c_contiguous:
        return True
    step = spacing(a, spacing(b, 0))
    apart = <Py_ssize_t>(b.address - a.address)
    if step == 0:
        return True
    apart = (apart % step + step) % step
    if apart >= size_a and apart + size_b <= step:
        return False
    # Mark the bytes of one array in the common range, and look for them in the other array.
    unit = divisor(divisor(size_a, size_b), divisor(step, apart))
    marks = <unsigned char*>PyMem_Calloc((high - low) // (8 * unit) + 2, 1)
    if marks is NULL:
        raise MemoryError("allocate: no memory to compare what two arrays share")
    through(marks, a.address, a.ndim, a.shape_, a.strides_, size_a, low, high, unit, False)
    found = through(marks, b.address, b.ndim, b.shape_, b.strides_, size_b, low, high, unit, True)
    PyMem_Free(marks)
    return found


cdef bint through(unsigned char* marks, char* data, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides, Py_ssize_t itemsize,
                  uintptr_t low, uintptr_t high, Py_ssize_t unit, bint looking) noexcept:
    """Mark the units of an array's elements between two addresses; or tell whether one of these units is marked."""
    cdef Py_ssize_t k
    cdef uintptr_t at
    if ndim > 0:
        for k in range(shape[0] if strides[0] != 0 else 1):
            if through(marks, data + k * strides[0], ndim - 1, shape + 1, strides + 1, itemsize, low, high, unit, looking):
                return True
        return False
    for k in range(itemsize // unit):
        at = <uintptr_t>data + k * unit
        if at < low or at >= high:
            continue
        at = (at - low) // unit
        if not looking:
            marks[at >> 3] |= 1 << (at & 7)
        elif marks[at >> 3] & (1 << (at & 7)):
            return True
    return False
