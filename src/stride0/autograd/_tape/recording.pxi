# The forward pass: calls, in-place operators and assignments are executed and recorded. Included in `tape.pyx`.

cdef object plain_argument(object value, str name, list nodes):
    """An argument without history, for the function; nodes of tracked arrays are appended to `nodes`."""
    cdef Node node
    if type(value) is Array:
        if (<Array>value).storage.history is None:
            return value
        node = enter(<Array>value, name, None)
        if node is not None:
            nodes.append(node)
        return value if (<Array>value).storage.history is None else without_history(<Array>value)
    if type(value) is tuple or type(value) is list:
        for item in value:
            if type(item) is Array and (<Array>item).storage.history is not None:
                return plain_sequence(value, name, nodes)
    return value


cdef object plain_sequence(object value, str name, list nodes):
    cdef list items = []
    for item in value:
        items.append(plain_argument(item, name, nodes))
    return items if type(value) is list else tuple(items)


cdef object run_plain(Rules rules, tuple plain, dict more):
    """The function, of operands without history."""
    if not guarding:
        return run_function(rules, plain, more)
    token = enter_package()
    try:
        return run_function(rules, plain, more)
    finally:
        leave_package(token)


cdef object run_function(Rules rules, tuple plain, dict more):
    cdef tuple every = plain, names = None
    cdef PyObject* result
    if type(rules.function) is not Primitive:
        return rules.function(*plain) if more is None else rules.function(*plain, **more)
    if more is not None:
        every, names = plain + tuple(more.values()), tuple(more)
    result = (<Primitive>rules.function).run(<PyObject* const*>s0_tuple_items(every), len(plain), NULL if names is None else <PyObject*>names)
    out = <object>result
    Py_DECREF(out)
    return out


cdef object run_unary(int op, Array x, str name):
    cdef Node parent = enter(x, name, None), node
    cdef Array out = unary_raw(op, x, name)
    cdef Rules rules = <Rules>OPERATIONS[op]
    if parent is None:
        return out
    if rules is None or rules.refused is not None or not rules.rules:
        return without_rule(rules, name, out)
    if is_floating(out):
        node = new_node(rules, [parent])
        node.edges = FIRST
        node.saved = saved_values(rules, node, (x,), (x,), out)
        attach(out, node)
    return out


cdef object run_binary(int op, object x1, object x2, str name):
    cdef Node first = None, second = None, node
    cdef Array out
    cdef Rules rules = <Rules>OPERATIONS[op]
    cdef list parents, edges
    cdef tuple operands
    if type(x1) is Array and (<Array>x1).storage.history is not None:
        first = enter(<Array>x1, name, None)
    if type(x2) is Array and (<Array>x2).storage.history is not None:
        second = enter(<Array>x2, name, None)
    out = <Array>binary_raw(op, x1, x2, name, False)
    if first is None and second is None:
        return out
    if rules is None or rules.refused is not None or not rules.rules:
        return without_rule(rules, name, out)
    parents, edges = [], []
    for r, at in enumerate(rules.at):
        if at == 0 and first is not None:
            parents.append(first)
            edges.append(r)
        elif at == 1 and second is not None:
            parents.append(second)
            edges.append(r)
    if parents and is_floating(out):
        node = new_node(rules, parents)
        node.edges = edges
        # Further parameters have their defaults.
        operands = (x1, x2) if len(rules.parameters) == 2 else (x1, x2, *rules.defaults[2:])
        node.saved = saved_values(rules, node, operands, operands, out)
        attach(out, node)
    return out


cdef object without_rule(Rules rules, str name, Array out):
    """The result of an operation without rules on a tracked operand; raises where a rule is missing."""
    if rules is None:
        rules_of(name)
    if rules.refused is not None:
        raise GradientError(name, f"a tracked array is not allowed: {rules.refused}", (), "stop_gradient(x), where no gradient is meant to flow")
    return out


cdef list FIRST = [0]


cdef Rules rules_of(str name):
    found = TABLE.get(name)
    if found is None:
        raise GradientError(name, "there is no gradient rule", (), "stop_gradient(x), where no gradient is meant to flow")
    return <Rules>found


cdef object record_call(str name, tuple args, dict kwargs):
    """Call a function of the namespace with operands on logged storages, and record the call."""
    cdef Rules rules = rules_of(name)
    cdef list nodes = []
    cdef tuple plain
    cdef dict more = None
    cdef Py_ssize_t i
    if len(args) == 1:
        plain = (plain_argument(args[0], name, nodes),)
    elif len(args) == 2:
        plain = (plain_argument(args[0], name, nodes), plain_argument(args[1], name, nodes))
    else:
        plain = tuple([plain_argument(value, name, nodes) for value in args])
    if kwargs:
        more = {key: plain_argument(value, name, nodes) for key, value in kwargs.items()}
    out = run_plain(rules, plain, more)
    if type(out) is Array:
        for i in range(len(plain)):
            if out is plain[i]:
                return args[i]
        restore_storage(<Array>out)
        (<Array>out).seen = clock
    elif isinstance(out, (tuple, list)):
        for item in out:
            if type(item) is Array:
                restore_storage(<Array>item)
                (<Array>item).seen = clock
    if name == "strided.as_strided" and type(args[0]) is Array:
        check_beyond(<Array>args[0], <Array>out)
    if not nodes:
        return out
    if rules.refused is not None:
        raise GradientError(name, f"a tracked array is not allowed: {rules.refused}", (), "stop_gradient(x), where no gradient is meant to flow")
    if rules.rules:
        if name == "getitem":
            # The caller may change the key before the backward pass.
            key = frozen_key(args[1])[0]
            record(rules, [args[0], key], [plain[0], key], out)
        else:
            record(rules, rules.bind(args, kwargs), rules.bind(plain, more), out)
    return out


cdef int check_beyond(Array x, Array out) except -1:
    """Refuse a view of elements that x does not have and that were written with tracked values."""
    cdef History history = x.storage.history
    cdef Write write
    if history is None:
        return 0
    for write in history.writes:
        if any([(<State>tape).open for tape in write.tapes]) and touches(write, out) and not touches(write, x):
            raise GradientError(
                "as_strided", "the result shows elements that x does not have, and their gradient is not known",
                (("x", f"{shape_tuple(x)}"), ("result", f"{shape_tuple(out)}"), ("written at", write.where)),
                "an x that holds all of them")
    return 0


cdef int record(Rules rules, list values, list plain, object out) except -1:
    """Attach a node to the result of a call, or to each of its results."""
    cdef Node node = node_of_call(rules, values), part
    cdef int i
    for i in range(len(values)):
        if type(values[i]) is Array and not rules.has_rule[i] and (<Array>values[i]).node is not None and is_open(<Node>(<Array>values[i]).node):
            name = rules.parameters[i]
            raise GradientError(rules.name, f"{name} has no gradient", (), f"stop_gradient({name}), where none is meant to flow")
    if node is None:
        return 0
    node.saved = saved_values(rules, node, values, plain, out)
    if type(out) is Array:
        if is_floating(<Array>out):
            attach(<Array>out, node)
        return 0
    node.outputs = len(out)
    for i, item in enumerate(out):
        if type(item) is Array and is_floating(<Array>item):
            part = new_node(None, [node])
            part.output = i
            attach(<Array>item, part)
    return 0


cdef Node node_of_call(Rules rules, list values):
    """A node with an edge for each tracked operand that has a rule; None if there is none."""
    cdef list parents = [], edges = []
    cdef Node node
    cdef int r, at
    for r in range(len(rules.rules)):
        at = rules.at[r]
        value = values[at]
        if type(value) is Array:
            if (<Array>value).node is not None and is_open(<Node>(<Array>value).node):
                parents.append((<Array>value).node)
                edges.append(r)
        elif type(value) is tuple or type(value) is list:
            for i, item in enumerate(value):
                if type(item) is Array and (<Array>item).node is not None and is_open(<Node>(<Array>item).node):
                    parents.append((<Array>item).node)
                    edges.append((r, i))
    if not parents:
        return None
    node = new_node(rules, parents)
    node.edges = edges
    return node


cdef list saved_values(Rules rules, Node node, object values, object plain, object out):
    """The values that the rules of the edges need."""
    cdef list saved = [None] * len(rules.needs)
    cdef int number, what, subject, r, k
    for edge in node.edges:
        r = edge if type(edge) is int else edge[0]
        for k in range(rules.count[r]):
            number = rules.numbers[r][k]
            if saved[number] is not None:
                continue
            what, subject = rules.what[number], rules.subject[number]
            value = out if subject < 0 else values[subject]
            if what == VALUE:
                saved[number] = save(value, out if subject < 0 else plain[subject], subject < 0)
            elif what == SHAPE:
                saved[number] = [shape_of(item) for item in value] if isinstance(value, (tuple, list)) else shape_of(value)
            else:
                saved[number] = [dtype_of(item) for item in value] if isinstance(value, (tuple, list)) else dtype_of(value)
    return saved


cdef object shape_of(object x):
    return shape_tuple(<Array>x) if type(x) is Array else ()


cdef object dtype_of(object x):
    return (<Array>x).dtype if type(x) is Array else None


cdef bint holds(object items, object kind) except -1:
    """Whether an item of a tuple or list is of a type."""
    for item in items:
        if type(item) is kind:
            return True
    return False


cdef object save(object value, object plain, int result):
    """A value as the tape saves it: arrays become `Saved`."""
    cdef Saved saved
    cdef Array x
    if type(value) is Array:
        x = <Array>value
        saved = Saved.__new__(Saved)
        saved.plain = <Array>plain if plain is not value else without_history(x)
        saved.result = result
        # An array that a rule was given has a storage without a history, which logs no writes.
        saved.storage = <Storage>x.storage.owner if type(x.storage.owner) is Storage else x.storage
        if not result and x.node is not None and is_open(<Node>x.node):
            saved.node = <Node>x.node
        if saved.storage.history is None:
            saved.storage.history = CLEAN
            x.seen = clock
        saved.seen = clock
        return saved
    if isinstance(value, (tuple, list)) and holds(value, Array):
        return tuple([save(item, part, result + i if result else 0) for i, (item, part) in enumerate(zip(value, plain))])
    # The caller may change a list before the backward pass.
    return list(value) if type(value) is list else value


# --- in place


cdef object write_all(str name, Array x, object other):
    """Execute an in-place operation with an operand on a logged storage, and record it."""
    if live_tapes == 0:
        untrack(x)
        untrack(other)
        return IN_PLACE[name](x, other)
    cdef Rules rules = rules_of(name)
    cdef list nodes = [], values = rules.bind((x, other), None), plain
    cdef Node node
    if x.storage.history is not None:
        node = enter(x, name, None)
        if node is not None:
            nodes.append(node)
    plain = rules.bind((without_history(x), plain_argument(other, name, nodes)), None)
    if nodes and rules.refused is not None:
        raise GradientError(name, f"a tracked array is not allowed: {rules.refused}")
    target, operand = plain[0], plain[1]
    if nodes:
        snapshot(rules, values, plain)
    if IN_PLACE[name](target, operand) is NotImplemented:
        return NotImplemented
    finish_write(rules, x, values, plain, target, None)
    return x


cdef int snapshot(Rules rules, list values, list plain) except -1:
    """Copy an operand that the operation overwrites if a recorded rule needs it."""
    cdef Node node = node_of_call(rules, values)
    cdef Array before, old
    cdef int i
    cdef bint shared = type(values[1]) is Array and shares_storage(values[0], values[1])
    if node is None:
        return 0
    for i in range(2):
        if i == 1 and not shared:
            continue
        if not any([rules.needs[number] == (VALUE, i) for r in node.edges for number in <tuple>rules.rule_needs[r]]):
            continue
        before = asarray(without_history(<Array>values[i]), copy=True)
        old = alias(before)
        old.storage = before.storage
        before = without_history(old)
        old.storage.history = CLEAN
        old.node, old.seen = (<Array>values[i]).node, clock
        values[i], plain[i] = old, before
    return 0


cdef int finish_write(Rules rules, Array x, list values, list plain, Array region, tuple key) except -1:
    """Record a write that was executed: the node of its result becomes that of x."""
    cdef Node node = node_of_call(rules, values) if is_floating(x) else None
    log_write(x, region, key, node)
    if node is not None:
        node.saved = saved_values(rules, node, values, plain, x)
    x.node = None
    if node is not None:
        attach(x, node)
    return 0


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
            items.append(asarray(item if (<Array>item).storage.history is None else without_history(<Array>item), copy=True))
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
    if live_tapes == 0:
        untrack(x)
        untrack(value)
        x[key] = value
        return None
    cdef Rules rules = rules_of("setitem")
    cdef list nodes = []
    cdef Array plain, region
    items, is_view = frozen_key(key)
    seen = x.seen
    plain = without_history(x)
    region = plain[items] if is_view else plain
    if x.storage.history is not None:
        node = enter(x, "setitem", region if is_view else None)
        if node is not None:
            nodes.append(node)
    try:
        given = plain_argument(value, "setitem", nodes)
        plain[items] = given
    except BaseException:
        # Nothing was overwritten: the array is as stale as before.
        x.seen = seen
        raise
    finish_write(rules, x, [x, items, value], [plain, items, given], region, None if is_view else items)
