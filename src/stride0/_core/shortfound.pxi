# Shortcuts of functions that sort, search and select: Note [Shortcuts]. Included in `array.pyx`.

cdef inline bint is_flag(PyObject* x) noexcept:
    return x is NULL or x is <PyObject*>True or x is <PyObject*>False


cdef object short_ordered(PyObject* const* args, Py_ssize_t n, PyObject* kwnames, bint places):
    cdef PyObject* given[4]
    cdef Array x
    cdef int axis
    if not bind(args, n, kwnames, X_SORT, 1, given) or not is_plain(given[0]) or not is_flag(given[2]) or not is_flag(given[3]):
        return None
    x = <Array>given[0]
    axis = x.ndim - 1
    if x.ndim == 0 or letter_at(x.code) == c"c" or (given[1] is not NULL and not whole_axis(given[1], x.ndim, &axis)):
        return None
    return sorted_lines(x, axis, given[2] is <PyObject*>True, places)


cdef object short_sort(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return short_ordered(args, n, kwnames, False)


cdef object short_argsort(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    return short_ordered(args, n, kwnames, True)


cdef object short_searchsorted(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    cdef PyObject* given[3]
    cdef Array among, wanted
    cdef bint right = False
    if not bind(args, n, kwnames, X_SEARCH, 2, given) or not is_plain(given[0]) or not is_plain(given[1]):
        return None
    among, wanted = <Array>given[0], <Array>given[1]
    if among.ndim != 1 or among.code != wanted.code or letter_at(among.code) == c"c":
        return None
    if given[2] is not NULL:
        if type(<object>given[2]) is not str or (<object>given[2] != "left" and <object>given[2] != "right"):
            return None
        right = <object>given[2] == "right"
    return places_among(among, wanted, right)


cdef object short_unique_values(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    if n != 1 or kwnames is not NULL or not is_plain(args[0]) or letter_at((<Array>args[0]).code) == c"c":
        return None
    return distinct_values(<Array>args[0])


cdef object short_take(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    cdef PyObject* given[3]
    cdef Array x
    cdef int axis = 0
    if not bind(args, n, kwnames, X_INDICES, 2, given) or not is_plain(given[0]) or not is_plain(given[1]):
        return None
    x = <Array>given[0]
    if given[2] is NULL or <object>given[2] is None:
        if x.ndim != 1:
            return None
    elif not whole_axis(given[2], x.ndim, &axis):
        return None
    return by_indices(x, <Array>given[1], axis)


cdef object short_count_nonzero(PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    cdef Array x, out
    if n != 1 or kwnames is not NULL or not is_plain(args[0]) or (<Array>args[0]).code != BOOL:
        return short_reduction(args, n, kwnames, "count_nonzero")
    x = <Array>args[0]
    if not x.c_contiguous or x.size == 0:
        return None
    out = new_array(INT64, 0, NULL, NULL, False)
    if x.size < LONG_RUN:
        (<int64_t*>out.data)[0] = s0_count_true(<const uint8_t*>x.data, x.size)
    else:
        with nogil:
            (<int64_t*>out.data)[0] = s0_count_true(<const uint8_t*>x.data, x.size)
    return out
