# Executing and recording in-place operators and assignments. Included in `tape.pyx`.

cdef object write_all(str name, Array x, object other):
    """Execute an in-place operation with an operand on a logged storage, and record it."""
    cdef Level level
    cdef Window before
    cdef Array target = x
    if live_levels and s0_recorder is not NULL:
        if is_recorded_scalar(x):
            # As for Python's numbers, the variable gets a new value.
            return binary(NUMBERS[name], x, other, name, True)
        x, other = <Array>lifted(x), lifted(other)
        check_target(target, x)
    if not x.storage.batched and not is_batched(other):
        if live_tapes == 0:
            untrack(x)
            untrack(other)
            return IN_PLACE[name](x, other)
        return write_at_level(None, name, x, other)
    level = newer(newer(None, x), other)
    check_written(level, x, name)
    before = above(level)
    try:
        found = write_at_level(level, name, x, other)
        return target if found is x else found
    finally:
        restore(before)


cdef object write_at_level(Level level, str name, Array x, object other):
    cdef Rules rules = rules_of(name)
    cdef PyObject* values[MOST_RULES]
    cdef PyObject* operands[2]
    cdef bint tracked = x.storage.logged and enter(x, name, None) is not None
    cdef Array target = plain_of(x)
    plain = plain_argument(other, name, &tracked, level is not None)
    if tracked and rules.refused is not None:
        raise GradientError(name, f"a tracked array is not allowed: {rules.refused}")
    operands[0], operands[1] = <PyObject*>x, <PyObject*>other
    rules.bind(operands, 2, NULL, values)
    # Copy x if a rule needs the values that the operation overwrites.
    before = snapshot(rules, values, 0) if tracked else None
    after = snapshot(rules, values, 1) if tracked and type(other) is Array and may_share(x, other) else None
    if before is not None:
        values[0] = <PyObject*>before
    if after is not None:
        values[1] = <PyObject*>after
    if level is None:
        copy_saved(target)
        if IN_PLACE[name](target, plain) is NotImplemented:
            return NotImplemented
    elif in_place_of_values(level, name, target, plain) is NotImplemented:
        return NotImplemented
    finish_write(rules, x, values, target, None, True)
    return x


cdef Array snapshot(Rules rules, PyObject** values, int operand):
    """A copy of an operand, with its node, if a rule needs it; otherwise None."""
    cdef Node node = node_of_call(rules, values)
    cdef Array x = <Array>values[operand], out
    cdef int e
    if node is None:
        return None
    for e in range(node.count):
        if rules.needs_value(node.edges[e].rule, operand):
            out = asarray(plain_of(x), copy=True)
            if not out.storage.batched:
                start_history(out.storage)
            out.node, out.seen = node_at(x), clock
            return out
    return None


cdef int finish_write(Rules rules, Array x, PyObject** values, Array region, tuple key, bint exact) except -1:
    """Record an executed write: the node of its result becomes the node of x."""
    cdef Node node = node_of_call(rules, values) if is_floating(x) else None
    # If newer tapes do not track a batched array, older tapes have already logged the write of the rule.
    if node is not None or not x.storage.batched:
        log_write(x, region, key, exact, node)
    if node is not None and x.storage.batched and level_of(x).recorder is not None:
        level_of(x).recorder.check_tracked_write((<Batch>x.storage.history).plain)
    if node is not None:
        save_values(node, values, <PyObject*>x)
    set_node(x, None)
    if node is not None:
        attach(x, node)
    return 0


cdef object constant_key(object key):
    """The key, or a copy, so that the caller cannot change it."""
    if type(key) is int or is_fixed_slice(key):
        return key
    if type(key) is tuple:
        for item in <tuple>key:
            if not (type(item) is int or item is None or item is Ellipsis or is_fixed_slice(item)):
                break
        else:
            return key
    return frozen_key(key)[0]


cdef tuple frozen_key(object key):
    """A copy of a key that the caller cannot change, and whether the key has only integers, slices, `...` and None."""
    cdef bint plain = True
    cdef list items = []
    for item in <tuple>(key if isinstance(key, tuple) else (key,)):
        if type(item) is int or item is None or item is Ellipsis or is_fixed_slice(item):
            items.append(item)
            continue
        if isinstance(item, slice):
            items.append(slice(*[None if part is None else operator.index(part) for part in (item.start, item.stop, item.step)]))
            continue
        if not isinstance(item, bool) and hasattr(type(item), "__index__") and not hasattr(type(item), "__len__"):
            try:
                items.append(operator.index(item))
                continue
            except TypeError:
                pass  # NumPy's bool scalars
        plain = False
        if type(item) is Array:
            items.append(asarray(plain_of(<Array>item) if (<Array>item).storage.logged else item, copy=True))
        elif isinstance(item, bool):
            items.append(item)
        else:
            part = asarray(item, copy=True)
            # An empty sequence counts as indices.
            items.append(part if part.size or hasattr(type(item), "__array__") else asarray(part, dtype=INT64))
    return tuple(items), plain

cdef object INT64 = asarray(0).dtype

cdef extern from *:
    """
    typedef PySliceObject s0_slice;
    """
    ctypedef struct s0_slice:
        PyObject* start
        PyObject* stop
        PyObject* step


cdef bint is_fixed_slice(object item):
    """Whether an item is a slice of integers and None, which is immutable."""
    cdef s0_slice* parts
    if type(item) is not slice:
        return False
    parts = <s0_slice*><PyObject*>item
    return is_fixed(parts.start) and is_fixed(parts.stop) and is_fixed(parts.step)


cdef inline bint is_fixed(PyObject* part):
    return part is <PyObject*>None or type(<object>part) is int


cdef object write_item(Array x, object key, object value):
    """Execute an assignment with an operand on a logged storage, and record it."""
    cdef Level level = None
    cdef Window before
    cdef Array target = x
    if live_levels:
        if s0_recorder is not NULL:
            x, key, value = <Array>lifted(x), lifted(key), lifted(value)
            check_target(target, x)
        level = newer(newer(newer(None, x), key), value)
    if level is None:
        if live_tapes == 0:
            untrack(x)
            untrack(value)
            x[key] = value
            return None
        return write_item_at_level(None, x, key, value)
    check_written(level, x, "setitem")
    before = above(level)
    try:
        return write_item_at_level(level, x, key, value)
    finally:
        restore(before)


cdef object write_item_at_level(Level level, Array x, object key, object value):
    cdef Rules rules = rules_of("setitem")
    cdef PyObject* values[3]
    cdef bint tracked = False
    cdef Array plain, region
    items, is_view = frozen_key(key)
    cdef int64_t seen = s0_peek_long(x.seen)
    plain = plain_of(x)
    region = (plain if level is None else bare(x))[items] if is_view else plain
    if x.storage.logged:
        # `x[...] = x` reads what it overwrites.
        enter(x, "setitem", ground(region) if is_view and value is not x else None)
    try:
        source = plain_argument(value, "setitem", &tracked, level is not None)
        if level is None:
            copy_saved(region)
            plain[items] = source
        else:
            values[0], values[1], values[2] = <PyObject*>plain, <PyObject*>items, <PyObject*>source
            call_rule(level, rules, values)
    except BaseException:
        # The write failed, so the array is as stale as before.
        s0_put_long(x.seen, seen)
        raise
    values[0], values[1], values[2] = <PyObject*>x, <PyObject*>items, <PyObject*>value
    # The elements that a batch of index arrays selects are not determined: all elements count as overwritten.
    exact = is_view or level is None or newer(None, items) is None
    finish_write(rules, x, values, region, None if is_view or not exact else (slice(None),) * (ground(x).ndim - x.ndim) + items, exact)


cdef int check_written(Level level, Array x, str name) except -1:
    """Refuse to write batched values into an array that is not batched."""
    check_level(level, name)
    if not x.storage.batched or level_of(x) is not level:
        raise BatchingError(
            name, "batched values are written into an array that is not batched: it has no place for each example", (("shape", f"{shape_tuple(x)}"),),
            "an array made of a batched one, for example zeros_like(x); or stack, concat and where instead of writing")
    return 0


cdef object in_place_of_values(Level level, str name, Array x, object other):
    """`x op= other` of a batch."""
    cdef Window before
    if level.recorder is not None:
        return recorded_call(level, "in_place", NUMBERS.get(name, -1), name, (x, other))
    if type(other) is Array and name != "matmul" and check_examples(name, x, <Array>other) != shape_tuple(x):
        raise BroadcastError(name, [("x1", shape_tuple(x)), ("x2", shape_tuple(<Array>other))], ("x1", shape_tuple(x)))
    before = below(level)
    cdef Array value = <Array>value_at(level, x)
    token = enter_package() if guarding else None
    try:
        if name == "matmul":
            found = traced_or_plain("matmul", (x, other))
            if not same_shape(<Array>found, x):
                raise ShapeError("matmul", "the in-place result does not have the shape of x1",
                                 (("x1", f"{shape_tuple(x)}"), ("result", f"{shape_tuple(<Array>found)}")), "write x1 = x1 @ x2")
            value[...] = value_at(level, found)
            return x
        if type(other) is Array:
            other = aligned(level, other, x.ndim)
        return IN_PLACE[name](value, other)
    finally:
        restore(before)
        if token is not None:
            leave_package(token)
