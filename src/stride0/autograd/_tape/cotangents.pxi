# Sums of cotangents, in the order in which they arrive.

cdef object saved_result(Node node):
    """The result that a node has saved, or None."""
    cdef int k
    for k in range(node.kept):
        if node.rules.what[k] == VALUE and node.rules.subject[k] == -1 and node.saved[k] is not NULL:
            return load(<object>node.saved[k], node)
    return None


cdef bint is_running(int64_t number) except -1:
    for walk in running[:]:
        if (<Pass>walk).number == number:
            return True
    return False


cdef bint is_visited(Node node) except -1:
    """Whether a running pass goes through a node."""
    if len(running) == 0:
        return False
    for walk in running[:]:
        # Without the GIL, passes of other threads go through other nodes: Note [Thread of a tape].
        if FREE_THREADED and (<Pass>walk).thread != PyThread_get_thread_ident():
            continue
        if (<Pass>walk).visit(<PyObject*>node) is not NULL:
            return True
    return False


cdef int by_age(const void* first, const void* second) noexcept nogil:
    cdef int64_t a = (<const Visit*>first).serial, b = (<const Visit*>second).serial
    return (a > b) - (a < b)


cdef int add_part(Visit* visit, Node whole, int output, Array g) except -1:
    """Add to the cotangent of one of several results."""
    cdef list parts
    cdef PyObject* part
    if visit.g is NULL:
        parts = [None] * whole.outputs
        Py_INCREF(parts)
        visit.g = <PyObject*>parts
    parts = <list>visit.g
    before = parts[output]
    parts[output] = g if before is None else added(<Array>before, g)
    return 0


cdef int add_to(PyObject** sum_, Array g) except -1:
    """Add to a cotangent, in place if nothing else refers to its memory."""
    cdef PyObject* before = sum_[0]
    cdef object total = g
    if before is not NULL:
        if may_overwrite(before, g) and same_shape(<Array>before, g):
            in_place(OP_ADD, <Array>before, g, "add")
            return 0
        total = added(<Array>before, g)
    Py_INCREF(total)
    sum_[0] = <PyObject*>total
    Py_XDECREF(before)
    return 0


cdef bint add_put(PyObject* sum_, object found) except -1:
    """Add a cotangent of some elements to the cotangent of all elements, in place; False if something else refers to its memory."""
    cdef Array g
    if type(found) is not LazyPut or sum_ is NULL:
        return False
    g = <Array?>(<LazyPut>found).g
    if (<Array>sum_).storage.batched:
        if level_of(<Array>sum_).recorder is not None:
            return add_put_recorded(sum_, g, (<LazyPut>found).key)
        return add_put_of_batch(sum_, g, (<LazyPut>found).key)
    if live_levels and newer(None, (<LazyPut>found).key) is not None:
        return False
    # Not deferred, because elements are added in place one by one.
    data_of(<Array>sum_)
    if not may_overwrite(sum_, g):
        return False
    add_at(<Array>sum_, (<LazyPut>found).key, g)
    return True


cdef bint add_put_of_batch(PyObject* sum_, Array g, object key):
    """The same for a batch."""
    cdef Level level = level_of(<Array>sum_)
    cdef PyObject* batch = <PyObject*>(<Array>sum_).storage.history
    cdef PyObject* value = <PyObject*>(<Batch>batch).whole
    cdef Level other = newer(newer(None, g), key)
    if g.node is not None or (other is not None and other is not level) or not level.open:
        return False
    if not s0_has_references(sum_, 1) or not s0_has_references(<PyObject*>(<Array>sum_).storage, 1) or not s0_has_references(batch, 1):
        return False
    cdef bint recorded = (<Array>value).storage.batched and level_of(<Array>value).recorder is not None
    if not recorded:
        if (<Array>value).storage.batched:
            return False
        data_of(<Array>value)
        if not may_overwrite(value, <Array>value_at(level, g)):
            return False
    found, values = basic_key(key), value_at(level, g)
    if found is None:
        found, values = key_of_values(level, <object>sum_, key, g)
    if recorded:
        return add_put_recorded(value, <Array>values, found)
    add_at(<Array>value, found, <Array>values)
    return True


cdef object key_of_values = None


def define_keys(function):
    """Register the function that converts a level, a batched array, a key and an addend to the key and the addend for the values."""
    global key_of_values
    key_of_values = function


cdef bint may_overwrite(PyObject* x, Array g):
    """Whether a cotangent may be overwritten by its sum with `g`."""
    if not s0_has_references(x, 1) or not s0_has_references(<PyObject*>(<Array>x).storage, 1) or (<Array>x).storage.block is NULL:
        return False
    if (<Array>x).storage.logged or g.storage.logged or is_stored(g.code):
        return False
    return (<Array>x).code == g.code and (<Array>x).c_contiguous
