# `x[key]` and `x[key] = value` as a whole.

cdef int count_arrays(list items):
    cdef int count = 0
    for item in items:
        count += type(item) is Array
    return count


cdef bint has_batched(object key):
    """Whether a key has a batched array: Note [Batched arrays]."""
    if type(key) is not tuple:
        return is_batched(key)
    for item in <tuple>key:
        if is_batched(item):
            return True
    return False


cdef Array get_item(Array x, object key):
    cdef Array out
    cdef list items
    cdef Gathering where_
    if guarding and is_intercepted():
        return intercept_get_item(x, key)
    if needs_tape(x):
        return traced("getitem", (x, key))
    out = plain_view(x, key)
    if out is not None:
        return out
    if has_batched(key):
        return traced("getitem", (x, key))
    out = gather_fast(x, key)
    if out is not None:
        return out
    items = expand_key(x, key)
    if count_arrays(items) == 0:
        return basic_view(x, items)
    where_ = gathering(x, items, True)
    out = empty_gathered(where_)
    move_gathered(where_, out, READ)
    return out


cdef bint set_element(Array x, object key, object value) except -1:
    """`x[key] = value` for one element and a Python scalar; False for any other call."""
    cdef Py_ssize_t index
    cdef char element[LARGEST_ITEM]
    if x.storage.logged or not read_int(<PyObject*>key, &index) or not -x.shape_[0] <= index < x.shape_[0]:
        return False
    if type(value) is not float and type(value) is not int and type(value) is not bool and type(value) is not complex:
        return False
    write_scalar(value, x.code, element, "setitem")
    copy_item(writable_data(x) + (index + x.shape_[0] if index < 0 else index) * x.strides_[0], element, x.code)
    return True


cdef int set_item(Array x, object key, object value) except -1:
    cdef Array target, source, expected
    cdef list items
    cdef Gathering where_
    if guarding and is_intercepted():
        return intercept_set_item(x, key, value)
    check_writable(x, "setitem")
    if not guarding and type(key) is int and x.ndim == 1 and set_element(x, key, value):
        return 0
    source = value_operand(x, value, "setitem")
    if x.storage.logged or needs_tape(source):
        (<Tracer>hooks.tracer).set_item(x, key, value if is_python_scalar(value) else source)
        return 0
    target = plain_view(x, key)
    if target is None:
        if has_batched(key):
            (<Tracer>hooks.tracer).set_item(x, key, value if is_python_scalar(value) else source)
            return 0
        if write_fast(x, key, source):
            return 0
        items = expand_key(x, key)
        if count_arrays(items) == 0:
            target = basic_view(x, items)
    if target is not None:
        if guarding:
            check_assignment(target, source)
        if assign_few(target, source):
            return 0
        # Of the expression on the interpreter's stack, and nothing else.
        if is_deferred(source) and source is value and s0_has_references(<PyObject*>source, 2) and assign_pending(target, source):
            return 0
        return assign_array(target, source, "setitem")
    where_ = gathering(x, items, False)
    if shares_storage(x, where_.offsets):
        # `x[x] = v`: the indices must not change while elements are written.
        where_.offsets = copy_array(where_.offsets, INT64, True)
    check_codes("setitem", source.code, x.code)
    expected = empty_gathered(where_)
    if source.ndim == 0:
        if source.code != x.code or overlaps(x, source):
            source = copy_array(source, x.code, True)
    elif source.code != x.code or not source.c_contiguous or not same_shape(source, expected) or overlaps(x, source) or data_of(source) == data_of(x):
        assign_array(expected, source, "setitem")
        source = expected
    move_gathered(where_, source, WRITE)
    return 0


cpdef Array gather(Array x, Array indices, int axis):
    """`take`: the elements of x at integer indices along an axis; a new array."""
    cdef Array out
    guard_gradient(x, "gather")
    out = gather_by_indices(x, indices, axis)
    return out if out is not None else get_item(x, tuple([slice(None)] * axis + [indices]))


cpdef object nonzero(Array x):
    """The indices of the elements that are not zero, an array for each axis; in C order."""
    return true_indices(x if x.code == BOOL and x.c_contiguous else copy_array(x, BOOL, True))


# --- intercepted calls: Note [Interceptors]


cdef object intercept_get_item(Array x, object key):
    entered = enter_call("getitem", "getitem", (x, key), {})
    try:
        out = get_item(x, key)
    finally:
        end_call(entered)
    return result_of_call(entered, out)


cdef int intercept_set_item(Array x, object key, object value) except -1:
    entered = enter_call("setitem", "setitem", (x, key, value), {})
    try:
        return set_item(x, key, value)
    finally:
        end_call(entered)


hooks.get_item = get_item
hooks.set_item = set_item
