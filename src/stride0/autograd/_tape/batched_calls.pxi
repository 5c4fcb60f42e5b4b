# Calls of functions on whole batches, by their batching rules.

cdef object unary_of_values(Level level, int op, Array x, str name):
    """Apply an operation of the table to a batch."""
    if level.recorder is not None:
        return recorded_call(level, "unary", op, name, (x,))
    cdef Window before = below(level)
    token = enter_package() if guarding else None
    try:
        return wrapped(level, <Array>arranged(unary(op, value_at(level, x), name), (x,)))
    finally:
        restore(before)
        if token is not None:
            leave_package(token)


cdef tuple check_examples(str name, Array x1, Array x2):
    """The shape to which examples broadcast; refuses operands that do not broadcast, or that the caller's mode refuses."""
    if same_shape(x1, x2):
        return shape_tuple(x1)
    pairs = [("x1", shape_tuple(x1)), ("x2", shape_tuple(x2))]
    shape = broadcast_shapes(name, pairs)
    if guarding and is_restricted():
        enforce_current_mode(name, pairs, shape)
    return shape


cdef object binary_of_values(Level level, int op, object x1, object x2, str name):
    if level.recorder is not None:
        return recorded_call(level, "binary", op, name, (x1, x2))
    if type(x1) is Array and type(x2) is Array:
        check_examples(name, <Array>x1, <Array>x2)
    return binary_of_checked(level, op, x1, x2, name)


cdef object binary_of_checked(Level level, int op, object x1, object x2, str name):
    cdef Window before = below(level)
    cdef int n1 = (<Array>x1).ndim if type(x1) is Array else 0, n2 = (<Array>x2).ndim if type(x2) is Array else 0
    token = enter_package() if guarding else None
    try:
        if type(x1) is Array:
            x1 = aligned(level, x1, n2)
        if type(x2) is Array:
            x2 = aligned(level, x2, n1)
        return wrapped(level, <Array>arranged(binary(op, x1, x2, name, False), (x1, x2)))
    finally:
        restore(before)
        if token is not None:
            leave_package(token)


cdef object call_rule(Level level, Rules rules, PyObject** values):
    """The result of the batching rule of a function; `values` are its arguments in the order of the parameters."""
    cdef Window before
    cdef list given = [level]
    cdef Py_ssize_t i
    if level.recorder is not None:
        return recorded_call(level, "call", rules.function, rules.name, tuple([<object>values[i] for i in range(len(rules.parameters))]))
    if rules.batch is None:
        raise BatchingError(rules.name, "there is no batching rule: vmap cannot call this function", (), "a loop over the examples")
    for i in range(len(rules.parameters)):
        given.append(<object>values[i])
    before = below(level)
    token = enter_package() if guarding else None
    try:
        return arranged(rules.batch(*given), tuple(given))
    finally:
        restore(before)
        if token is not None:
            leave_package(token)


cdef tuple basic_key(object key):
    """The key of a batch for a key of integers, slices, `...` and None; None for other keys."""
    if type(key) is int or type(key) is slice:
        return (slice(None), key)
    if type(key) is not tuple:
        return None
    for item in <tuple>key:
        if not (type(item) is int or item is None or item is Ellipsis or type(item) is slice):
            return None
    return (slice(None),) + <tuple>key


cdef object item_of_values(Level level, Array x, tuple key):
    """A view of a batch."""
    cdef Window before = below(level)
    token = enter_package() if guarding else None
    try:
        return wrapped(level, get_item(<Array>value_at(level, x), key))
    finally:
        restore(before)
        if token is not None:
            leave_package(token)


cdef object call_on_values(Level level, Rules rules, tuple plain, Py_ssize_t n, PyObject* kwnames):
    """Call a function of the namespace on batches; returns its batched result."""
    cdef PyObject* values[MOST_RULES]
    cdef tuple key
    if level.recorder is not None:
        return recorded_call(level, "call", rules.function, rules.name, plain, <tuple>kwnames if kwnames is not NULL else ())
    if rules is GETITEM and is_batched(plain[0]) and level_of(<Array>plain[0]) is level:
        key = basic_key(plain[1])
        if key is not None:
            return item_of_values(level, <Array>plain[0], key)
    keep = rules.bind(<PyObject* const*>s0_tuple_items(plain), n, kwnames, values)
    out = call_rule(level, rules, values)
    if type(out) is Array:
        for x in plain:
            if is_batched(x) and value_at(level, x) is out:
                return x
    return wrapped_all(level, out)
