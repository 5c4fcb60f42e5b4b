# `x[key]` and `x[key] = value` as a whole.

cdef bint has_batched(object key):
    """Whether a key has a batched array: Note [Batched arrays]."""
    if type(key) is not tuple:
        return is_batched(key)
    for item in <tuple>key:
        if is_batched(item):
            return True
    return False


cdef object item(Array x, object key, PyObject* value):
    """`x[key]` if `value` is NULL, otherwise `x[key] = value`: Note [Calls]."""
    if guarding or (value is NULL and x.storage.logged):
        return call_item(x, key, value)
    if value is NULL:
        return get_item_raw(x, key)
    set_item_raw(x, key, <object>value)
    return None


cdef Array get_item(Array x, object key):
    return <Array>item(x, key, NULL)


cdef int set_item(Array x, object key, object value) except -1:
    item(x, key, <PyObject*>value)
    return 0


cdef object call_item(Array x, object key, PyObject* value):
    """`item` for a call that may not be plain."""
    cdef PyObject* args[3]
    cdef Call call
    args[0], args[1], args[2] = <PyObject*>x, <PyObject*>key, value
    if value is NULL:
        call = Call(CALL_GETITEM, -1, <PyObject*>"getitem", &args[0], 2, NULL, needs_tape(x), get_item_body, NULL)
    else:
        # The body decides whether the write is recorded, after it has converted the value.
        call = Call(CALL_SETITEM, -1, <PyObject*>"setitem", &args[0], 3, NULL, False, set_item_body, NULL)
    return make_call(&call)


cdef object get_item_body(Call* call):
    return get_item_raw(<Array>call.args[0], <object>call.args[1])


cdef Array get_item_raw(Array x, object key):
    """`x[key]` for an array that does not need the tape, without interceptors."""
    cdef Array out
    if type(key) is not Array:
        out = plain_view(x, key)
        if out is not None:
            return out
    if has_batched(key):
        return traced("getitem", (x, key))
    return gather_item(x, key)


cdef Array gather_item(Array x, object key):
    """`x[key]` for a key that `plain_view` does not take."""
    cdef Array out
    cdef tuple items
    cdef Counts counts
    cdef Picked at
    if is_index_array(key) and x.ndim:
        return gather_along(x, <Array>key, 0)
    out = gather_points(x, <tuple>key) if type(key) is tuple else whole_mask(x, key)
    if out is not None:
        return out if type(key) is tuple else gather_by_mask(x, out)
    items = classified(x, key, &counts)
    if counts.arrays == 0:
        return plain_view(x, items)
    owners = pick_items(&at, x, items, &counts, True)
    return read_picked(&at, x)


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


cdef object set_item_body(Call* call):
    set_item_raw(<Array>call.args[0], <object>call.args[1], <object>call.args[2])


cdef int set_item_raw(Array x, object key, object value) except -1:
    """`x[key] = value` without interceptors."""
    cdef Array target, source
    cdef bint taped
    check_writable(x, "setitem")
    if type(key) is int and x.ndim == 1 and set_element(x, key, value):
        return 0
    source = value_operand(x, value, "setitem")
    taped = x.storage.logged or needs_tape(source)
    target = None if taped or type(key) is Array else plain_view(x, key)
    if target is None:
        if taped or has_batched(key):
            (<Tracer>hooks.tracer).set_item(x, key, value if is_python_scalar(value) else source)
            return 0
        target = scatter_item(x, key, source)
        if target is None:
            return 0
    if guarding:
        check_assignment(target, source)
    # Of the expression on the interpreter's stack, and nothing else.
    if is_deferred(source) and source is value and s0_has_references(<PyObject*>source, 2) and assign_pending(target, source):
        return 0
    return assign_array(target, source, "setitem")


cdef Array scatter_item(Array x, object key, Array source):
    """`x[key] = source` for a key that `plain_view` does not take; or the view to assign to, if it has no arrays."""
    cdef Array mask
    cdef tuple items
    cdef Counts counts
    cdef Picked at
    if is_index_array(key) and x.ndim:
        scatter_along(x, <Array>key, source, "setitem")
        return None
    mask = whole_mask(x, key)
    if mask is not None and write_by_mask(x, mask, source):
        return None
    items = classified(x, key, &counts)
    if counts.arrays == 0:
        return plain_view(x, items)
    owners = pick_items(&at, x, items, &counts, False)
    check_codes("setitem", source.code, x.code)
    scatter_picked(&at, x, source, S0_WRITE, "setitem")
    return None


cpdef Array gather(Array x, Array indices, int axis):
    """`take`: the elements of x at integer indices along an axis; a new array."""
    guard_gradient(x, "gather")
    if indices.ndim and x.ndim:
        return gather_along(x, indices, axis)
    return get_item(x, tuple([slice(None)] * axis + [indices]))


cpdef object nonzero(Array x):
    """The indices of the nonzero elements, an array per axis; in C order."""
    return true_indices(x if x.code == BOOL and x.c_contiguous else copy_array(x, BOOL, True))

hooks.item = item
