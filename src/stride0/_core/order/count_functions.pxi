# Functions that count and interpolate. Declared in `_chapters/counting.py`.

cdef object bincount(str name, PyObject** given):
    """`given`: x, weights, minlength."""
    cdef Array x = array_argument(given[0], name, "x"), weights = None, places
    cdef Py_ssize_t size, most
    if letter_at(x.code) not in b"iu":
        refuse_dtype(name, x.dtype, "an integer dtype")
    if x.ndim != 1:
        raise ShapeError(name, "x must have one axis", [("x", f"{x.shape}")])
    if not read_int(given[2], &size):
        size = normalize_index(name, "minlength", <object>given[2])
    if size < 0:
        raise ArgumentValueError(name, "minlength is negative", [("minlength", f"{size}")])
    if is_batched(x) or is_batched(<object>given[1]):
        return NotImplemented
    places = x if x.code == INT64 and x.c_contiguous else copy_array(x, INT64, True)
    if x.size:
        most = largest_place(places)
        if most < 0 and x.code != UINT64:
            raise ArgumentValueError(name, "an element is negative", [("x", f"{x.shape}")])
        # A uint64 beyond int64 makes the result larger than any memory.
        size = max(size, sys.maxsize if most < 0 or most == sys.maxsize else most + 1)
    if given[1] is not <PyObject*>None:
        weights = array_argument(given[1], name, "weights")
        if weights.ndim != 1 or weights.shape_[0] != x.shape_[0]:
            raise ShapeError(name, "the weights have another shape", [("x", f"{x.shape}"), ("weights", f"{weights.shape}")])
    return count_places(places, weights, size)


cdef object intervals(str name, PyObject** given):
    """`given`: x, edges, first, last."""
    return intervals_of(<Array?>given[0], <Array?>given[1], <object>given[2], <object>given[3])


cdef object interp(str name, PyObject** given):
    """`given`: x, xp, fp, left, right, period. Handles curves of one dtype that are not recorded; the declaration handles others."""
    cdef Array x, points, values, before = None, behind = None
    if type(<object>given[1]) is not Array or type(<object>given[2]) is not Array or given[5] is not <PyObject*>None:
        return NotImplemented
    points, values = <Array>given[1], <Array>given[2]
    if (points.code != FLOAT64 and points.code != FLOAT32) or values.code != points.code or points.ndim != 1:
        return NotImplemented
    if values.ndim != 1 or values.shape_[0] != points.shape_[0] or points.size == 0:
        return NotImplemented
    # A Python number becomes float64, not the dtype of the points.
    x = as_array(<object>given[0], name)
    if x.code != points.code or needs_tape(x) or needs_tape(points) or needs_tape(values):
        return NotImplemented
    if given[3] is not <PyObject*>None:
        before = as_array(<object>given[3], name, points.dtype, "left")
    if given[4] is not <PyObject*>None:
        behind = as_array(<object>given[4], name, points.dtype, "right")
    for end in (before, behind):
        if end is not None and ((<Array>end).code != points.code or (<Array>end).ndim != 0 or needs_tape(<Array>end)):
            return NotImplemented
    return interpolated(x, points, values, before, behind)


implement("bincount", bincount)
implement("intervals", intervals)
implement("interp", interp)
