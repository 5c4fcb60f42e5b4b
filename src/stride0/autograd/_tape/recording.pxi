# The forward pass: executing and recording functions of the namespace. Included in `tape.pyx`.

cdef object plain_argument(object value, str name, bint* tracked, bint levelled):
    """An argument on a storage without history; sets `tracked` if it is tracked. With `levelled`, older tapes may still track it."""
    cdef Node node
    if type(value) is Array:
        if not (<Array>value).storage.logged:
            return noticed(<Array>value)
        node = enter(<Array>value, name, None)
        if node is not None:
            tracked[0] = True
        if levelled:
            return plain_of(<Array>value) if node is not None and (<Array>value).storage.batched else value
        return without_history(<Array>value) if (<Array>value).storage.logged else value
    if type(value) is tuple or type(value) is list:
        for item in value:
            if type(item) is Array and ((<Array>item).storage.logged or s0_noticing):
                return plain_sequence(value, name, tracked, levelled)
    return value


cdef object plain_sequence(object value, str name, bint* tracked, bint levelled):
    cdef list items = []
    for item in value:
        items.append(plain_argument(item, name, tracked, levelled))
    return items if type(value) is list else tuple(items)


cdef object run_plain(Rules rules, tuple plain, Py_ssize_t n, PyObject* kwnames):
    """Call the function with operands without history."""
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
    if live_levels == 0:
        return record_unary(None, op, x, name)
    x = <Array>lifted(x)
    if not x.storage.batched:
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
    if live_levels == 0:
        return record_binary(None, op, x1, x2, name)
    x1, x2 = lifted(x1), lifted(x2)
    if not is_batched(x1) and not is_batched(x2):
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
    if type(x1) is Array:
        if (<Array>x1).storage.logged:
            first = enter(<Array>x1, name, None)
        else:
            noticed(<Array>x1)
    if type(x2) is Array:
        if (<Array>x2).storage.logged:
            second = enter(<Array>x2, name, None)
        else:
            noticed(<Array>x2)
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
        # Use the defaults of further parameters.
        for k in range(2, <int>len(rules.defaults)):
            values[k] = <PyObject*>rules.defaults[k]
        save_values(node, values, <PyObject*>out)
        attach(out, node)
    return out


cdef object without_rule(Rules rules, str name, Array out):
    """The result of an operation without rules on a tracked operand; raises if a rule is missing."""
    if rules is None:
        rules_of(name)
    if rules.refused is not None:
        refuse_operation(rules, name)
    return out


cdef object refuse_operation(Rules rules, str name):
    raise GradientError(name, f"a tracked array is not allowed: {rules.refused}", (), "write stop_gradient(x) if no gradient is meant to flow")


cdef object record_call(str name, PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
    """Call a function of the namespace with operands on logged storages, and record the call."""
    cdef Py_ssize_t i, count
    cdef Level level = None
    cdef Window before
    cdef tuple all_lifted
    if live_levels:
        count = n + (0 if kwnames is NULL else len(<tuple>kwnames))
        if s0_recorder is not NULL:
            all_lifted = tuple([lifted(<object>args[i]) for i in range(count)])
            args = <PyObject* const*>s0_tuple_items(all_lifted)
        for i in range(count):
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
    """The same, recorded by tapes newer than the newest level of the operands, if there is a level: Note [Levels]."""
    cdef Rules rules = rules_of(name)
    cdef Py_ssize_t i, count = n + (0 if kwnames is NULL else len(<tuple>kwnames))
    cdef tuple plain
    cdef PyObject* values[MOST_RULES]
    cdef bint tracked = False
    if rules is GETITEM and level is None and type(<object>args[0]) is Array and not (<Array><object>args[0]).storage.batched and basic_key(<object>args[1]) is not None:
        return record_view(<Array><object>args[0], <object>args[1])
    plain = PyTuple_New(count)
    for i in range(count):
        value = plain_argument(<object>args[i], name, &tracked, level is not None)
        Py_INCREF(value)
        PyTuple_SET_ITEM(plain, i, value)
    out = run_plain(rules, plain, n, kwnames) if level is None else call_on_values(level, rules, plain, n, kwnames)
    if type(out) is Array:
        for i in range(n):
            if <PyObject*>out is s0_tuple_items(plain)[i]:
                return <object>args[i]
        restore_storage(<Array>out)
        (<Array>out).seen = clock
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
    return out


cdef object record_view(Array x, object key):
    """
    `x[key]` for integers and slices: a view on a logged storage.

    Writes through other arrays are not replayed for x here. They are replayed for the elements of the view when it is read: the
    view has seen the same writes as x.
    """
    cdef PyObject* values[MOST_RULES]
    cdef int64_t seen = s0_peek_long(x.seen)
    cdef Node node
    cdef Array out
    if history_of(x.storage) is None or live_tapes == 0:
        node = enter(x, "getitem", None)
    else:
        node = open_node(x)
        if FREE_THREADED and node is not None:
            check_thread(node, "getitem")
    out = restore_storage(<Array>run_plain(GETITEM, (without_history(x), key), 2, NULL))
    if node is not None:
        # The caller may change the key before the backward pass.
        key = constant_key(key)
        values[0], values[1] = <PyObject*>x, <PyObject*>key
        record(GETITEM, values, out)
    s0_put_long(out.seen, seen)
    return out


cdef int check_beyond(Array x, Array out) except -1:
    """Refuse a view of elements that do not belong to x if tracked values were written to them."""
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
            raise GradientError(rules.name, f"{name} has no gradient{why}", (), f"write stop_gradient({name}) if no gradient is meant to flow")
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
    """A node with an edge for each tracked operand that has a rule; None if there is no such operand."""
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
