# Functions that sort and search. Declared in `_chapters/`: `sorting.py`, `searching.py`, `set.py`.

cdef frozenset INTEGRAL = frozenset(KINDS["integral"])


cdef object sort_or_argsort(str name, PyObject** given):
    """`given`: x, axis, descending, stable."""
    cdef Array x = array_argument(given[0], name, "x")
    cdef bint descending
    cdef int axis
    refuse_complex(x, name, "x")
    if not read_axis(given[1], x.ndim, &axis):
        axis = convert_axis(given[1], x.ndim, name)
    descending = flag_argument(given[2], name, "descending")
    # The argument is only checked, because all sorts are stable.
    flag_argument(given[3], name, "stable")
    return sorted_lanes(x, axis, descending, name == "argsort")


cdef Array ordered_argument(PyObject* x, str name, PyObject* axis, int* at):
    """Check an array to select from: its dtype must have an order. Writes the axis to `at`."""
    cdef Array array = array_argument(x, name, "x")
    refuse_complex(array, name, "x")
    if not read_axis(axis, array.ndim, at):
        at[0] = convert_axis(axis, array.ndim, name)
    return array


cdef object argselect(str name, PyObject** given):
    """`given`: x, first, last, axis, descending."""
    cdef int axis = 0
    cdef Array x = ordered_argument(given[0], name, given[3], &axis)
    cdef Py_ssize_t first = <object>given[1], last = <object>given[2]
    if not 0 <= first <= last <= x.shape_[axis]:
        raise OutOfBoundsError(name, f"positions {first} to {last} of {counted(x.shape_[axis], 'element')}")
    return selected_lanes(x, axis, first, last, flag_argument(given[4], name, "descending"), False)


cdef object argpartition(str name, PyObject** given):
    """`given`: x, kth, axis."""
    cdef int axis = 0
    cdef Array x = ordered_argument(given[0], name, given[2], &axis)
    cdef Py_ssize_t first, last
    read_ranks(name, given[1], x.shape_[axis], &first, &last)
    return selected_lanes(x, axis, first, last, False, True)


cdef object partition(str name, PyObject** given):
    """`given`: x, kth, axis. Handles elements of 4 or 8 bytes that are not recorded; the declaration handles others."""
    cdef int axis = 0
    cdef Array x
    cdef Py_ssize_t first, last
    if type(<object>given[0]) is not Array:
        return NotImplemented
    x = <Array>given[0]
    if needs_tape(x) or letter_at(x.code) == c"c" or itemsize_at(x.code) < 4:
        return NotImplemented
    x = ordered_argument(given[0], name, given[2], &axis)
    read_ranks(name, given[1], x.shape_[axis], &first, &last)
    return selected_lanes(x, axis, first, last, False, True, False)


cdef int read_ranks(str name, PyObject* given, Py_ssize_t n, Py_ssize_t* first, Py_ssize_t* last) except -1:
    """Read one or more ranks among n elements; writes the lowest rank and the end after the highest one."""
    if read_int(given, first) and -n <= first[0] < n:
        first[0] += n if first[0] < 0 else 0
        last[0] = first[0] + 1
        return 0
    kth = <object>given
    positions = [normalize_index(name, "kth", k) for k in (kth if isinstance(kth, (tuple, list)) else (kth,))]
    for k in positions:
        if not -n <= k < n:
            raise OutOfBoundsError(name, f"kth {k} is out of bounds for {counted(n, 'element')}")
    positions = [k + n if k < 0 else k for k in positions]
    # If no rank is given, any permutation is right; select rank 0.
    first[0], last[0] = (min(positions), max(positions) + 1) if positions else (0, min(n, 1))
    return 0


cdef object unique_values(str name, PyObject** given):
    cdef Array x = array_argument(given[0], "unique_values", "x")
    if letter_at(x.code) != c"c":
        return distinct_values(x)
    # NumPy sorts complex numbers, by real parts first.
    values = to_numpy(copy_array(x, x.code, True)).reshape(-1)
    values.sort(stable=True)
    is_first = numpy().ones(values.size, bool)
    is_first[1:] = values[1:] != values[: values.size - 1]
    return from_numpy(values[is_first])


# --- searchsorted


cdef str LEFT = sys.intern("left")


cdef object searchsorted(str name, PyObject** given):
    """`given`: x1, x2, side, sorter."""
    cdef Array x1 = array_argument(given[0], "searchsorted", "x1"), x2
    cdef int beyond = 0, code
    cdef bint mixed = False, right
    side = <object>given[2]
    if type(<object>given[1]) is Array:
        x2 = <Array>given[1]
    else:
        beyond = beyond_limits(x1, <object>given[1])
        x2 = as_array(0 if beyond else <object>given[1], "searchsorted", x1.dtype, "x2")
    refuse_complex(x1, "searchsorted", "x1")
    refuse_complex(x2, "searchsorted", "x2")
    if x1.ndim != 1:
        raise ShapeError("searchsorted", "x1 must have one axis", [("x1", f"{x1.shape}")])
    right = side is not LEFT
    if right and not (isinstance(side, str) and side == "right"):
        if not (isinstance(side, str) and side == "left"):
            raise ArgumentValueError("searchsorted", f"unknown side {shown(side)}", (), "pass side='left' or side='right'")
        right = False
    if given[3] is not <PyObject*>None:
        x1 = apply_sorter(x1, <object>given[3])
    if beyond:
        return as_array(x1.size if beyond > 0 else 0, "searchsorted", dtype_at(INT64))
    code = x1.code
    if x2.code != code:
        code = promote_codes(x1.code, x2.code)
        # uint64 and a signed dtype promote to float64, in which distinct integers may be equal. So x2 is cast to the dtype of x1;
        # its values outside the range of that dtype are corrected below.
        mixed = x1.dtype.kind in INTEGRAL and x2.dtype.kind in INTEGRAL and letter_at(code) == c"f"
        if mixed:
            code = x1.code
    indices = indices_in(cast_lane(x1, code), x2 if x2.code == code else copy_array(x2, code, False), right)
    if mixed:
        least, most = limits_of(x1.dtype)
        indices = where(less(x2, least), 0, indices)
        indices = where(greater(x2, most), x1.size, indices)
    return indices


cdef int beyond_limits(Array x, object number) except? -2:
    """1 if a Python integer is too large for the dtype of x, -1 if it is too small, otherwise 0."""
    if isinstance(number, bool) or not isinstance(number, int) or x.dtype.kind not in INTEGRAL:
        return 0
    least, most = limits_of(x.dtype)
    return 1 if number > most else -1 if number < least else 0


cdef Array cast_lane(Array x, int code):
    """Cast an array with one axis; a broadcast axis remains broadcast."""
    if x.code == code:
        return x
    return broadcast_like(copy_array(without_broadcast_axes(x, (0,)), code, False), x)


cdef Array apply_sorter(Array x, object given):
    cdef Array sorter = check_array("searchsorted", given, "sorter"), distinct
    if sorter.dtype.kind not in INTEGRAL:
        refuse_dtype("searchsorted", sorter.dtype, "an integer dtype", "sorter")
    if sorter.ndim != 1 or sorter.shape_[0] != x.shape_[0]:
        raise ShapeError("searchsorted", "sorter must have the shape of x1", [("x1", f"{x.shape}"), ("sorter", f"{sorter.shape}")])
    if x.size == 0:
        return x
    distinct = without_broadcast_axes(sorter, (0,))
    least, most = [int(reduce(name, distinct, (0,), False, None)) for name in ("min", "max")]
    if least < 0 or most >= x.size:
        raise OutOfBoundsError("searchsorted", f"index {least if least < 0 else most} in sorter is out of bounds for {counted(x.size, 'element')}")
    if x.strides_[0] == 0:
        return x
    return broadcast_like(gather(x, copy_array(distinct, INT64, False), 0), x)


implement("argpartition", argpartition)
implement("argselect", argselect)
implement("argsort", sort_or_argsort)
implement("partition", partition)
implement("searchsorted", searchsorted)
implement("sort", sort_or_argsort)
implement("unique_values", unique_values)
