# Fourier transforms of lanes that are too long for the tables of our kernels, composed of transforms of other lengths.
#
# Note [Long transforms]
#     If a length is n = a b and neither factor is small, the lane is a matrix of a rows and b columns, whose columns and rows are
#     transformed as in Note [Fourier transforms]. For any other length, a prime number for example, the transform is the
#     convolution described there, by three transforms. No table holds the roots: they are computed in blocks, from exact angles.
#     All arithmetic is in complex128. Signals are checked between steps. Times on one thread of an AVX-512 server, compared with
#     NumPy 2.4, in milliseconds:
#
#     numbers   1,000,003  2^22  2^24
#     here            115    63   269
#     NumPy           276   138   908
#
#     An inverse transform is the transform of the lane in reverse order.

cdef enum:
    BLOCK = 512             # roots computed in one step
    NUMBER = 16             # bytes of a complex number

cdef enum Factors:
    NONE
    NUMBERS         # factors in memory
    TURNS           # the number in row r and column c gets root r c
    CHIRP           # number k gets root k k

cdef struct Twist:
    # `to[k * to_step] = from[k * from_step] * factor * scale` for the numbers k from `begin` on.
    const double* from_     # NULL: the numbers are 1
    double* to
    Py_ssize_t from_step, to_step
    Py_ssize_t begin, end
    Factors factors
    const double* by
    Py_ssize_t columns
    Py_ssize_t n            # the roots are n-th roots of unity
    bint conjugate          # whether the roots are conjugated
    double scale
    Py_ssize_t each


cdef void list_roots(const Twist* twist, Py_ssize_t first, Py_ssize_t count, int64_t* which) noexcept nogil:
    """Write the numbers of the roots that multiply `count` numbers."""
    cdef Py_ssize_t k, row = 0, column = first, root
    if twist.factors == TURNS:
        row, column = first // twist.columns, first % twist.columns
        root = row * column
        for k in range(count):
            which[k] = root
            column += 1
            root += row
            if column == twist.columns:
                row, column, root = row + 1, 0, 0
        return
    root = <Py_ssize_t>(<unsigned long long>first * <unsigned long long>first % <unsigned long long>twist.n)
    for k in range(count):
        which[k] = root
        # Both terms are less than n.
        root += 2 * (first + k) + 1
        if root >= twist.n:
            root -= twist.n


cdef void run_twist(void* context, int chunk) noexcept nogil:
    """Run a chunk of a multiplication."""
    cdef const Twist* twist = <const Twist*>context
    cdef Py_ssize_t first = twist.begin + chunk * twist.each, last = min(first + twist.each, twist.end), k, count
    cdef int64_t which[BLOCK]
    cdef double cosines[BLOCK]
    cdef double sines[BLOCK]
    cdef double angles[BLOCK]
    cdef const double* x
    cdef double* to
    cdef double re, im, c, s
    while first < last:
        count = min(<Py_ssize_t>BLOCK, last - first)
        if twist.factors == TURNS or twist.factors == CHIRP:
            list_roots(twist, first, count, which)
            find_roots(which, count, twist.n, cosines, sines, angles)
        for k in range(count):
            c, s = 1, 0
            if twist.factors == NUMBERS:
                c, s = twist.by[2 * (first + k)], twist.by[2 * (first + k) + 1]
            elif twist.factors != NONE:
                c, s = cosines[k], -sines[k] if twist.conjugate else sines[k]
            to = twist.to + 2 * (first + k) * twist.to_step
            if twist.from_ is NULL:
                to[0], to[1] = c, s
                continue
            x = twist.from_ + 2 * (first + k) * twist.from_step
            re, im = x[0] * c - x[1] * s, x[0] * s + x[1] * c
            to[0], to[1] = re * twist.scale, im * twist.scale
        first += count


cdef int multiply(Twist* twist) except -1:
    # One of many short steps: check for signals between them.
    PyErr_CheckSignals()
    return run_shared(run_twist, twist, &twist.each, twist.end - twist.begin, tuning.root_product_ns * (twist.end - twist.begin))


cdef Py_ssize_t largest_factor(Py_ssize_t n) noexcept nogil:
    """The largest factor of n up to its square root."""
    cdef Py_ssize_t d
    for d in range(<Py_ssize_t>sqrt(<double>n) + 1, 1, -1):
        if n % d == 0 and d <= n // d:
            return d
    return 1


cdef Array lane_of(Array x, char* first, Py_ssize_t count, Py_ssize_t stride):
    """A view of one axis."""
    return view_of(x, first, 1, &count, &stride)


cdef int transform_matrix(Array x, int axis) except -1:
    """Transform along an axis of a matrix of complex128, in place."""
    cdef Py_ssize_t n = x.shape_[axis], k
    cdef Array lane, own
    PyErr_CheckSignals()
    if run_fourier(OF_COMPLEX, x, axis, n, False, 1, x):
        return 0
    x = x if axis == 1 else swapped_matrix(x)
    for k in range(x.shape_[0]):
        lane = lane_of(x, data_of(x) + k * x.strides_[0], n, x.strides_[1])
        own = new_array(COMPLEX128, 1, &n, NULL, False)
        assign_array(own, lane, "fft")
        assign_array(lane, transformed(own), "fft")
    return 0


cdef Array transformed(Array x):
    """The transform of a contiguous lane of complex128; may overwrite the lane."""
    cdef Py_ssize_t n = x.shape_[0], rows
    if run_fourier(OF_COMPLEX, x, 0, n, False, 1, x):
        return x
    rows = largest_factor(n)
    return by_rows(x, rows) if rows >= tuning.long_lane_rows else by_convolution(x)


cdef Array by_rows(Array x, Py_ssize_t rows):
    """The transform of a lane as a matrix of `rows` rows."""
    cdef Py_ssize_t n = x.shape_[0]
    cdef Py_ssize_t shape[2]
    cdef Py_ssize_t strides[2]
    cdef Py_ssize_t first, each
    cdef Twist twist
    cdef Array part, out = new_array(COMPLEX128, 1, &n, NULL, False)
    shape[0], shape[1] = rows, n // rows
    strides[0], strides[1] = shape[1] * NUMBER, NUMBER
    x = view_of(x, data_of(x), 2, shape, strides)
    transform_matrix(x, 0)
    twist.from_, twist.to, twist.from_step, twist.to_step = <double*>data_of(x), <double*>data_of(x), 1, 1
    twist.begin, twist.end, twist.factors, twist.columns, twist.n = 0, n, TURNS, shape[1], n
    twist.conjugate, twist.scale = False, 1
    multiply(&twist)
    transform_matrix(x, 1)
    # In blocks of rows, so that signals are checked between blocks.
    each = max(1, tuning.long_copy_numbers // shape[1])
    strides[0], strides[1] = NUMBER, rows * NUMBER
    for first in range(0, rows, each):
        PyErr_CheckSignals()
        shape[0] = min(each, rows - first)
        part = view_of(x, data_of(x) + first * x.strides_[0], 2, shape, x.strides_)
        assign_array(view_of(out, data_of(out) + first * NUMBER, 2, shape, strides), part, "fft")
    return out


cdef Array by_convolution(Array x):
    """The transform of a lane of any length, as a convolution with a chirp; overwrites the lane."""
    cdef Py_ssize_t n = x.shape_[0], m = convolution_of(n)
    cdef Twist twist
    cdef Array product = new_array(COMPLEX128, 1, &m, NULL, True), chirp = new_array(COMPLEX128, 1, &m, NULL, True)
    cdef double* numbers = <double*>data_of(x)
    cdef double* to = <double*>data_of(product)
    # Reversed, so that the last of the three transforms is an inverse transform.
    to[0], to[1] = numbers[0], numbers[1]
    twist.from_, twist.to, twist.from_step, twist.to_step = numbers, to + 2 * m, 1, -1
    twist.begin, twist.end, twist.factors, twist.n, twist.conjugate, twist.scale = 1, n, CHIRP, 2 * n, False, 1
    multiply(&twist)
    twist.from_, twist.conjugate, twist.to = NULL, True, <double*>data_of(chirp) + 2 * m
    multiply(&twist)
    twist.begin, twist.to, twist.to_step = 0, <double*>data_of(chirp), 1
    multiply(&twist)
    product, chirp = transformed(product), transformed(chirp)
    twist.from_, twist.to, twist.by, twist.end, twist.factors = <double*>data_of(product), <double*>data_of(product), <double*>data_of(chirp), m, NUMBERS
    multiply(&twist)
    chirp = None
    product = transformed(product)
    twist.from_, twist.to, twist.end, twist.factors, twist.conjugate, twist.scale = <double*>data_of(product), numbers, n, CHIRP, False, 1.0 / <double>m
    multiply(&twist)
    return x


cdef Array read_lane(s0_fourier_kind kind, Array lane, Py_ssize_t n, bint inverse):
    """The numbers to transform: a lane, truncated or padded with zeros."""
    cdef Array out = new_array(COMPLEX128, 1, &n, NULL, True)
    cdef Py_ssize_t count = min(lane.shape_[0], n // 2 + 1 if kind == TO_REAL else n), stride = lane.strides_[0]
    cdef char* to = data_of(out)
    cdef char* first = data_of(lane)
    if kind == OF_COMPLEX and inverse:
        assign_array(lane_of(out, to, 1, NUMBER), lane_of(lane, first, 1, stride), "ifft")
        if count > 1:
            assign_array(lane_of(out, to + (n - 1) * NUMBER, count - 1, -NUMBER), lane_of(lane, first + stride, count - 1, stride), "ifft")
        return out
    assign_array(lane_of(out, to, count, NUMBER), lane_of(lane, first, count, stride), "fft")
    if kind == TO_REAL:
        # The whole spectrum, in reverse order.
        make_real(<double*>data_of(out), n)
        mirror_spectra(COMPLEX128, data_of(out), 1, n, 1, True)
    return out


cdef void make_real(double* spectrum, Py_ssize_t n) noexcept:
    """Set the imaginary parts to 0 of numbers that are real in the spectrum of a real lane."""
    spectrum[1] = 0
    if n % 2 == 0:
        spectrum[n + 1] = 0


cdef int run_long(s0_fourier_kind kind, Array x, int axis, Py_ssize_t n, bint inverse, double factor, Array out) except -1:
    """
    Compute the transforms of length n of the lanes along an axis, times a factor, for lengths that `run_fourier` refuses.

    The caller must exclude transforms of real numbers to whole spectra.
    """
    cdef Py_ssize_t position[MAX_NDIM]
    cdef Py_ssize_t written = n // 2 + 1 if kind == HALF_OF_REAL else n
    cdef char* from_ = data_of(x)
    cdef char* to = data_of(out)
    cdef Twist twist
    cdef Array lane
    cdef int d
    guard_gradient(x, "fft")
    for d in range(x.ndim):
        position[d] = 0
    while True:
        lane = transformed(read_lane(kind, lane_of(x, from_, x.shape_[axis], x.strides_[axis]), n, inverse))
        twist.from_, twist.to, twist.from_step, twist.to_step = <double*>data_of(lane), <double*>data_of(lane), 1, 1
        twist.begin, twist.end, twist.factors, twist.scale = 0, written, NONE, factor
        if factor != 1:
            multiply(&twist)
        if kind == HALF_OF_REAL:
            make_real(<double*>data_of(lane), n)
        lane = lane_of(lane, data_of(lane), written, NUMBER)
        assign_array(lane_of(out, to, written, out.strides_[axis]), component(lane, 0) if kind == TO_REAL else lane, "fft")
        d = x.ndim - 1
        while d >= 0:
            if d != axis:
                position[d] += 1
                from_ += x.strides_[d]
                to += out.strides_[d]
                if position[d] < x.shape_[d]:
                    break
                from_ -= position[d] * x.strides_[d]
                to -= position[d] * out.strides_[d]
                position[d] = 0
            d -= 1
        if d < 0:
            return 0
