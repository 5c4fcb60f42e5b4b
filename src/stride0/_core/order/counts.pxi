# Counting integers, finding the intervals of elements, and linear interpolation (kernels: `counting.h`).

cdef extern from "order_loops.h":
    ctypedef struct s0_intervals:
        double first, last
        const double* edges
        Py_ssize_t count
    Py_ssize_t s0_largest_place(const int64_t* x, Py_ssize_t n) noexcept nogil
    void s0_count_places(const int64_t* x, Py_ssize_t n, int64_t* out, Py_ssize_t size) noexcept nogil
    void s0_add_weights(const int64_t* x, Py_ssize_t n, const double* weights, int parts, double* out, Py_ssize_t size) noexcept nogil
    void s0_places_f32(const s0_intervals* of_, const float* x, Py_ssize_t n, int64_t* out) noexcept nogil
    void s0_places_f64(const s0_intervals* of_, const double* x, Py_ssize_t n, int64_t* out) noexcept nogil
    void s0_interpolate_f32(const float* points, const float* values, Py_ssize_t n, const float* x, Py_ssize_t count, float before,
                            float behind, float* out) noexcept nogil
    void s0_interpolate_f64(const double* points, const double* values, Py_ssize_t n, const double* x, Py_ssize_t count, double before,
                            double behind, double* out) noexcept nogil


cdef Array in_order(Array x, int code):
    """x, or a copy, with the given dtype and in C order."""
    return x if x.code == code and x.c_contiguous else copy_array(x, code, True)


# --- counts


cdef Py_ssize_t largest_place(Array places) except? -1:
    """The largest of one or more contiguous int64 elements; -1 if an element is negative."""
    return s0_largest_place(<const int64_t*>data_of(places), places.size)


cpdef Array count_places(Array places, Array weights, Py_ssize_t size):
    """
    Count how often each integer occurs, or sum its weights, which are added in the order of the elements.

    `places`: int64, one axis, elements from 0 to `size - 1`. `weights`: of the shape of `places` and of any dtype, or None.
    """
    cdef Array out, given
    cdef const int64_t* x
    cdef char* to
    cdef const double* parts = NULL
    cdef Py_ssize_t n = places.size
    cdef int code = INT64, each = 1
    if weights is not None:
        each = 2 if letter_at(weights.code) == c"c" else 1
        code = COMPLEX128 if each == 2 else FLOAT64
    if needs_tape(places) or (weights is not None and needs_tape(weights)):
        if weights is None:
            return put(scalar_array(1, INT64, "bincount"), (size,), places)
        return put(weights if weights.code == code else traced("astype", (weights, dtype_at(code))), (size,), places)
    out = new_array(code, 1, &size, NULL, True)
    given = in_order(places, INT64)
    x, to = <const int64_t*>data_of(given), data_of(out)
    if weights is not None:
        weights = in_order(weights, code)
        parts = <const double*>data_of(weights)
    with nogil:
        if parts is NULL:
            s0_count_places(x, n, <int64_t*>to, size)
        else:
            s0_add_weights(x, n, parts, each, <double*>to, size)
    return out


# --- the intervals of a histogram

ctypedef struct Placing:
    # Elements to find the intervals of, in chunks for several threads.
    s0_intervals intervals
    const char* x
    Py_ssize_t count
    Py_ssize_t each         # elements in a chunk
    bint single             # whether the elements are float32, not float64
    int64_t* out


cdef void place_chunk(void* context, int chunk) noexcept nogil:
    cdef Placing* placing = <Placing*>context
    cdef Py_ssize_t first = chunk * placing.each, count = min(placing.each, placing.count - first)
    if placing.single:
        s0_places_f32(&placing.intervals, <const float*>placing.x + first, count, placing.out + first)
    else:
        s0_places_f64(&placing.intervals, <const double*>placing.x + first, count, placing.out + first)



cdef Array intervals_of(Array x, Array edges, double first, double last):
    """
    The number of the interval that contains each element, for adjacent intervals of equal width from `first` to `last`: a new int64 array.

    `edges`: float64, ascending, one more than intervals. An interval contains its lower edge; the last one also contains its
    upper edge. Elements outside the edges, and NaN, get the number of intervals. `x`: of a real dtype; elements are cast to float64.
    """
    cdef Array given, out = new_array(INT64, x.ndim, x.shape_, NULL, False)
    cdef Placing placing
    placing.single = x.code == FLOAT32
    given, edges = in_order(x, FLOAT32 if placing.single else FLOAT64), in_order(edges, FLOAT64)
    placing.intervals.first, placing.intervals.last = first, last
    placing.intervals.edges, placing.intervals.count = <const double*>data_of(edges), edges.size - 1
    placing.x, placing.count, placing.out = data_of(given), x.size, <int64_t*>data_of(out)
    run_shared(place_chunk, &placing, &placing.each, placing.count, placing.count * tuning.placed_element_ns)
    return out


# --- interpolation

ctypedef struct Curve:
    # Points at which a curve is evaluated, in chunks for several threads.
    const char* points
    const char* values
    Py_ssize_t n
    const char* x
    Py_ssize_t count
    Py_ssize_t each         # evaluated points in a chunk
    const char* before
    const char* behind
    bint single             # whether the dtype is float32, not float64
    char* out


cdef void interpolate_chunk(void* context, int chunk) noexcept nogil:
    cdef Curve* curve = <Curve*>context
    cdef Py_ssize_t first = chunk * curve.each, count = min(curve.each, curve.count - first)
    if curve.single:
        s0_interpolate_f32(<const float*>curve.points, <const float*>curve.values, curve.n, <const float*>curve.x + first, count,
                           (<const float*>curve.before)[0], (<const float*>curve.behind)[0], <float*>curve.out + first)
    else:
        s0_interpolate_f64(<const double*>curve.points, <const double*>curve.values, curve.n, <const double*>curve.x + first, count,
                           (<const double*>curve.before)[0], (<const double*>curve.behind)[0], <double*>curve.out + first)


cdef Array interpolated(Array x, Array points, Array values, Array before, Array behind):
    """
    The values of a piecewise linear curve at the elements of x: a new array in C order.

    The curve has at least one point. All arrays have the same dtype, float32 or float64. `before` and `behind` are the values
    beyond the ends of the curve; None means the first or the last value.
    """
    cdef Py_ssize_t last
    cdef Array out = new_array(x.code, x.ndim, x.shape_, NULL, False)
    cdef Curve curve
    x, points, values = in_order(x, x.code), in_order(points, x.code), in_order(values, x.code)
    last = (values.size - 1) * itemsize_at(x.code)
    curve.points, curve.values, curve.n, curve.single = data_of(points), data_of(values), points.size, x.code == FLOAT32
    curve.x, curve.count, curve.out = data_of(x), x.size, data_of(out)
    curve.before = curve.values if before is None else <const char*>data_of(before)
    curve.behind = curve.values + last if behind is None else <const char*>data_of(behind)
    run_shared(interpolate_chunk, &curve, &curve.each, curve.count, curve.count * tuning.interpolated_element_ns)
    return out
