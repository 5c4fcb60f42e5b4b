# The forward pass: calls, in-place operators and assignments are executed and recorded. Included in `tape.pyx`.

cdef object plain_argument(object value, str name, bint* tracked, bint levelled):
    """An argument without history, for the function; sets `tracked` if it is tracked. `levelled`: older tapes may track it still."""
    cdef Node node
    if type(value) is Array:
        if not (<Array>value).storage.logged:
            return value
        node = enter(<Array>value, name, None)
        if node is not None:
            tracked[0] = True
        if levelled:
            return plain_of(<Array>value) if node is not None and (<Array>value).storage.batched else value
        return without_history(<Array>value) if (<Array>value).storage.logged else value
    if type(value) is tuple or type(value) is list:
        for item in value:
            if type(item) is Array and (<Array>item).storage.logged:
                return plain_sequence(value, name, tracked, levelled)
    return value


cdef object plain_view_of(Array x, str name, bint* tracked):
    """The same for an array of which a view is taken."""
    cdef Node node
    if not x.storage.logged or history_of(x.storage) is None or live_tapes == 0:
        return plain_argument(x, name, tracked, False)
    node = open_node(x)
    if node is not None:
        if FREE_THREADED:
            check_thread(node, name)
        tracked[0] = True
    return without_history(x)


cdef object plain_sequence(object value, str name, bint* tracked, bint levelled):
    cdef list items = []
    for item in value:
        items.append(plain_argument(item, name, tracked, levelled))
    return items if type(value) is list else tuple(items)


cdef object run_plain(Rules rules, tuple plain, Py_ssize_t n, PyObject* kwnames):
    """The function, of operands without history."""
    if not guarding:
        return run_function(rules, plain, n, kwnames)
    token = enter_package()
    try:
        return run_function(rules, plain, n, kwnames)
    finally:
        leave_package(token)


cdef object run_function(Rules rules, tuple plain, Py_ssize_t n, PyObject* kwnames):
    cdef PyObject* const* args = <PyObject* const*>s0_tuple_items(plain)
    cdef PyObject* result
    if type(rules.function) is Primitive:
        result = (<Primitive>rules.function).run(args, n, kwnames)
    else:
        result = PyObject_Vectorcall(<PyObject*>rules.function, args, n, kwnames)
    out = <object>result
    Py_DECREF(out)
    return out


cdef object run_unary(int op, Array x, str name):
    cdef Level level
    cdef Window before
    if live_levels == 0 or not x.storage.batched:
        return record_unary(None, op, x, name)
    level = level_of(x)
    check_level(level, name)
    before = above(level)
    try:
        return record_unary(level, op, x, name)
    finally:
        restore(before)


cdef object record_unary(Level level, int op, Array x, str name):
    cdef Node parent = enter(x, name, None), node
    cdef Array out = unary_raw(op, x, name) if level is None else unary_of_values(level, op, x, name)
    cdef Rules rules = <Rules>OPERATIONS[op]
    cdef PyObject* values[1]
    if parent is None:
        return out
    if rules is None or rules.refused is not None or rules.size == 0:
        return without_rule(rules, name, out)
    if is_floating(out):
        node = new_node(rules)
        add_edge(node, parent, 0, -1)
        values[0] = <PyObject*>x
        save_values(node, values, <PyObject*>out)
        attach(out, node)
    return out


cdef object run_binary(int op, object x1, object x2, str name):
    cdef Level level
    cdef Window before
    if live_levels == 0 or (not is_batched(x1) and not is_batched(x2)):
        return record_binary(None, op, x1, x2, name)
    level = newer(newer(None, x1), x2)
    check_level(level, name)
    before = above(level)
    try:
        return record_binary(level, op, x1, x2, name)
    finally:
        restore(before)


cdef object record_binary(Level level, int op, object x1, object x2, str name):
    cdef Node first = None, second = None, parent, node = None
    cdef Array out
    cdef Rules rules = <Rules>OPERATIONS[op]
    cdef PyObject* values[MOST_RULES]
    cdef int r, k
    if type(x1) is Array and (<Array>x1).storage.logged:
        first = enter(<Array>x1, name, None)
    if type(x2) is Array and (<Array>x2).storage.logged:
        second = enter(<Array>x2, name, None)
    out = <Array>binary_raw(op, x1, x2, name, False) if level is None else <Array>binary_of_values(level, op, x1, x2, name)
    if first is None and second is None:
        return out
    if rules is None or rules.refused is not None or rules.size == 0:
        return without_rule(rules, name, out)
    if not is_floating(out):
        return out
    for r in range(rules.size):
        parent = first if rules.at[r] == 0 else second if rules.at[r] == 1 else None
        if parent is not None:
            if node is None:
                node = new_node(rules)
            add_edge(node, parent, r, -1)
    if node is not None:
        values[0], values[1] = <PyObject*>x1, <PyObject*>x2
        # Further parameters have their defaults.
        for k in range(2, <int>len(rules.defaults)):
            values[k] = <PyObject*>rules.defaults[k]
        save_values(node, values, <PyObject*>out)
        attach(out, node)
    return out


cdef object without_rule(Rules rules, str name, Array out):
    """The result of an operation without rules on a tracked operand; raises where a rule is missing."""
    if rules is None:
        rules_of(name)
    if rules.refused is not None:
        refuse_operation(rules, name)
    return out


cdef object refuse_operation(Rules rules, str name):
    raise GradientError(name, f"a tracked array is not allowed: {rules.refused}", (), "stop_gradient(x), where no gradient is meant to flow")


cdef object record_call(str name, PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    """Call a function of the namespace with operands on logged storages, and record the call."""
    cdef Py_ssize_t i
    cdef Level level = None
    cdef Window before
    if live_levels:
        for i in range(n + (0 if kwnames is NULL else len(<tuple>kwnames))):
            level = newer(level, <object>args[i])
    if level is None:
        return record_at_level(None, name, args, n, kwnames)
    check_level(level, name)
    before = above(level)
    try:
        return record_at_level(level, name, args, n, kwnames)
    finally:
        restore(before)


cdef object record_at_level(Level level, str name, PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    """The same by tapes newer than the newest level of an operand, if there is one: Note [Levels]."""
    cdef Rules rules = rules_of(name)
    cdef Py_ssize_t i, count = n + (0 if kwnames is NULL else len(<tuple>kwnames))
    cdef tuple plain = PyTuple_New(count)
    cdef PyObject* values[MOST_RULES]
    cdef bint tracked = False
    cdef int64_t seen = -1
    if rules is GETITEM and level is None and type(<object>args[0]) is Array and not (<Array><object>args[0]).storage.batched and basic_key(<object>args[1]) is not None:
        # A view: what was written through others is replayed for the elements that it shows, once they are read.
        seen = s0_peek_long((<Array><object>args[0]).seen)
    for i in range(count):
        if i == 0 and seen >= 0:
            value = plain_view_of(<Array><object>args[0], name, &tracked)
        else:
            value = plain_argument(<object>args[i], name, &tracked, level is not None)
        Py_INCREF(value)
        PyTuple_SET_ITEM(plain, i, value)
    out = run_plain(rules, plain, n, kwnames) if level is None else call_on_values(level, rules, plain, n, kwnames)
    if type(out) is Array:
        for i in range(n):
            if <PyObject*>out is s0_tuple_items(plain)[i]:
                return <object>args[i]
        restore_storage(<Array>out)
        (<Array>out).seen = seen if seen >= 0 else clock
    elif isinstance(out, (tuple, list)):
        for item in out:
            if type(item) is Array:
                restore_storage(<Array>item)
                (<Array>item).seen = clock
    if rules is AS_STRIDED and type(<object>args[0]) is Array:
        check_beyond(<Array>args[0], <Array>out)
    if not tracked:
        return out
    if rules.refused is not None:
        refuse_operation(rules, name)
    if rules.size:
        keep = rules.bind(args, n, kwnames, values)
        if rules is GETITEM:
            # The caller may change the key before the backward pass.
            keep = constant_key(<object>args[1])
            values[1] = <PyObject*>keep
        record(rules, values, out)
        if seen >= 0:
            s0_put_long((<Array>out).seen, seen)
    return out


cdef int check_beyond(Array x, Array out) except -1:
    """Refuse a view of elements that x does not have and that were written with tracked values."""
    cdef History history = history_of(x.storage)
    cdef Write write
    cdef list writes
    if history is None:
        return 0
    with cython.critical_section(history):
        writes = history.writes[:]
    mine, theirs = outline(x), outline(out)
    for write in writes:
        if write.source is not None and is_any_open(write.source.node.tapes) and touches(write, theirs) and not touches(write, mine):
            raise GradientError(
                "as_strided", "the result shows elements that x does not have, and their gradient is not known",
                (("x", f"{shape_tuple(x)}"), ("result", f"{shape_tuple(out)}"), ("written at", write.where)),
                "an x that holds all of them")
    return 0


cdef int record(Rules rules, PyObject** values, object out) except -1:
    """Attach a node to the result of a call, or to each of its results."""
    cdef Node node = node_of_call(rules, values), part
    cdef Py_ssize_t i
    for i in range(len(rules.parameters)):
        if not rules.has_rule[i] and type(<object>values[i]) is Array and open_node(<Array>values[i]) is not None:
            name = rules.parameters[i]
            why = f": {rules.unknown[name]}" if name in rules.unknown else ""
            raise GradientError(rules.name, f"{name} has no gradient{why}", (), f"stop_gradient({name}), where none is meant to flow")
    if node is None:
        return 0
    save_values(node, values, <PyObject*>out)
    attach_results(node, out)
    return 0


cdef int attach_results(Node node, object out) except -1:
    cdef int i
    if type(out) is Array:
        if is_floating(<Array>out):
            attach(<Array>out, node)
        return 0
    node.outputs = <int>len(out)
    for i, item in enumerate(out):
        if type(item) is Array and is_floating(<Array>item):
            attach(<Array>item, part_node(node, i))
    return 0


cdef Node node_of_call(Rules rules, PyObject** values):
    """A node with an edge for each tracked operand that has a rule; None if there is none."""
    cdef Node node = None, parent
    cdef int r, i
    for r in range(rules.size):
        value = <object>values[rules.at[r]]
        if type(value) is Array:
            parent = open_node(<Array>value)
            if parent is not None:
                if node is None:
                    node = new_node(rules)
                add_edge(node, parent, r, -1)
        elif type(value) is tuple or type(value) is list:
            for i, item in enumerate(value):
                parent = open_node(<Array>item) if type(item) is Array else None
                if parent is not None:
                    if node is None:
                        node = new_node(rules)
                    add_edge(node, parent, r, i)
    return node


# --- in place


cdef object write_all(str name, Array x, object other):
    """Execute an in-place operation with an operand on a logged storage, and record it."""
    cdef Level level
    cdef Window before
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
        return write_at_level(level, name, x, other)
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
    # What the operation overwrites is copied where a rule needs it.
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
    """A copy of an operand, with its node, if a rule that is recorded needs it; else None."""
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
    """Record a write that was executed: the node of its result becomes that of x."""
    cdef Node node = node_of_call(rules, values) if is_floating(x) else None
    # Of a batched array that no newer tape tracks, older ones have logged what the rule wrote.
    if node is not None or not x.storage.batched:
        log_write(x, region, key, exact, node)
    if node is not None:
        save_values(node, values, <PyObject*>x)
    set_node(x, None)
    if node is not None:
        attach(x, node)
    return 0


cdef object constant_key(object key):
    """A key that the caller cannot change: itself, or a copy."""
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
    """A copy of a key that the caller cannot change, and whether it has only integers, slices, `...` and None."""
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
            # An empty sequence has no dtype of its own; it is taken for indices.
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
    """Whether an item is a slice of integers and None, which nobody can change."""
    cdef s0_slice* parts
    if type(item) is not slice:
        return False
    parts = <s0_slice*><PyObject*>item
    return is_fixed(parts.start) and is_fixed(parts.stop) and is_fixed(parts.step)


cdef inline bint is_fixed(PyObject* part):
    return part is <PyObject*>None or type(<object>part) is int


cdef object write_item(Array x, object key, object value):
    """Execute an assignment with an operand on a logged storage, and record it."""
    cdef Level level = newer(newer(newer(None, x), key), value) if live_levels else None
    cdef Window before
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
        # Nothing was overwritten: the array is as stale as before.
        s0_put_long(x.seen, seen)
        raise
    values[0], values[1], values[2] = <PyObject*>x, <PyObject*>items, <PyObject*>value
    # Which elements a batch of index arrays selects is not worked out: all count as overwritten.
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
    cdef Window before = below(level)
    cdef Array value = <Array>value_at(level, x)
    token = enter_package() if guarding else None
    try:
        if name == "matmul":
            found = traced_or_plain("matmul", (x, other))
            if not same_shape(<Array>found, x):
                raise ShapeError("matmul", "the in-place result has another shape than x1",
                                 (("x1", f"{shape_tuple(x)}"), ("result", f"{shape_tuple(<Array>found)}")))
            value[...] = value_at(level, found)
            return x
        if type(other) is Array:
            if (<Array>other).ndim > x.ndim:
                raise ShapeError(name, "the in-place result has another shape than x1",
                                 (("x1", f"{shape_tuple(x)}"), ("x2", f"{shape_tuple(<Array>other)}")))
            other = aligned(level, other, x.ndim)
        return IN_PLACE[name](value, other)
    finally:
        restore(before)
        if token is not None:
            leave_package(token)
