# The backward pass: from cotangents of results to those of their operands. Included in `tape.pyx`.

@cython.final
@cython.no_gc
@cython.freelist(16)
cdef class LazyProduct:
    """
    A product of a cotangent and a factor that is not computed yet.

    The engine computes it and sums it into the shape of the operand in one pass.
    """

    cdef readonly object g
    cdef readonly object d

    def __cinit__(self, g, d):
        self.g = g
        self.d = d


cdef int check_saved(Saved saved, str name) except -1:
    """Refuse a saved value that was overwritten."""
    cdef History history = saved.storage.history
    cdef Write write
    if history is not None and history.last > saved.seen:
        for write in history.writes:
            if write.time > saved.seen and touches(write, saved.plain):
                refuse_overwritten(saved.plain, name, write.where)
        if were_written(history, saved.storage, saved.plain, saved.seen):
            refuse_overwritten(saved.plain, name, history.where)
    return 0


cdef int refuse_overwritten(Array x, str name, str where) except -1:
    raise GradientError(
        name, "a value that its gradient needs has been overwritten",
        (("saved by", name), ("shape", f"{shape_tuple(x)}"), ("written at", where)),
        "a copy of the value, made before it is overwritten: asarray(x, copy=True)")


cdef object load(object item, Rules rules, Node node):
    """A saved value, with its node if an open tape may differentiate what is computed from it."""
    cdef Saved saved
    cdef Array x
    cdef Node source
    if type(item) is Saved:
        saved = <Saved>item
        check_saved(saved, rules.name)
        source = saved.node
        if saved.result == 1 and node.outputs == 0:
            source = node
        elif saved.result >= 1:
            source = new_node(None, [node])
            source.output = saved.result - 1
        if source is None or not is_floating(saved.plain) or not is_open(source):
            return saved.plain
        x = alias(saved.plain)
        x.storage = saved.storage
        if x.storage.history is None:
            x.storage.history = CLEAN
        x.node = source
        if source is not node:
            describe(source, x)
        x.seen = clock
        return x
    if type(item) is tuple and holds(item, Saved):
        return tuple([load(part, rules, node) for part in item])
    return item


cdef Array fitted(object g, Node node):
    """A cotangent, converted to the shape and the dtype of the array of a node."""
    cdef Array x, factor
    if type(g) is LazyProduct:
        x = <Array?>(<LazyProduct>g).g
        if type((<LazyProduct>g).d) is Array:
            factor = <Array>(<LazyProduct>g).d
            if has_shape(node, x) and has_shape(node, factor):
                x = masked_product(x, factor)
            elif x.storage.history is None and factor.storage.history is None:
                x = dot_into(x, factor, shape_of_node(node))
            else:
                x = record_call("dot_into", (x, factor, shape_of_node(node)), None)
        else:
            x = multiply_masked(summed(x, node), (<LazyProduct>g).d)
    elif type(g) is Array:
        x = summed(<Array>g, node)
    else:
        raise GradientError("backward", f"internal error: a rule returned {type(g).__name__}")
    if x.code != node.code:
        if letter_at(x.code) == c"c" and letter_at(node.code) != c"c":
            x = real(x)
        x = asarray(x, dtype=dtype_at(node.code))
    return x


cdef Array summed(Array x, Node node):
    """The adjoint of a broadcast: x summed into the shape of the array of a node."""
    if has_shape(node, x):
        return x
    return sum_into(x, shape_of_node(node)) if x.storage.history is None else record_call("sum_into", (x, shape_of_node(node)), None)


cdef list pull_back(Node node, object g):
    """The cotangents of the parents, in their order."""
    cdef Rules rules = node.rules
    cdef list out = [], loaded
    cdef object parts = None
    cdef int known = -1
    if node.pull is not None:
        # The caller's function may return memory that the caller keeps.
        return [without_history(<Array>x) if type(x) is Array and (<Array>x).storage.history is None else x for x in node.pull(g)]
    if rules is None:
        # One of several results: its cotangent goes to their common node.
        return [g]
    loaded = [None] * len(node.saved)
    for edge in node.edges:
        if type(edge) is int:
            out.append(apply_rule(rules, edge, node, g, loaded))
            continue
        # A rule of a sequence gives the cotangents of all arrays in it at once; its edges follow each other.
        if <int>edge[0] != known:
            known = edge[0]
            parts = apply_rule(rules, known, node, g, loaded)
        out.append(None if parts is None else parts[edge[1]])
    return out


cdef object apply_rule(Rules rules, int r, Node node, object g, list loaded):
    """The result of a rule, with the saved values that it needs loaded."""
    cdef int i, number, count = rules.count[r]
    cdef int* numbers = rules.numbers[r]
    for i in range(count):
        number = numbers[i]
        if loaded[number] is None:
            loaded[number] = load(node.saved[number], rules, node)
    if count == 0:
        return rules.rules[r](g)
    if count == 1:
        return rules.rules[r](g, loaded[numbers[0]])
    if count == 2:
        return rules.rules[r](g, loaded[numbers[0]], loaded[numbers[1]])
    return rules.rules[r](g, *[loaded[numbers[i]] for i in range(count)])


cdef list reachable(list roots, dict ends, dict places):
    """
    The nodes on paths from the roots to the targets, each after its parents.

    `places` gets the index of each node in that list, -1 for nodes that lead to no target.
    """
    cdef list stack = [node for node in roots if node is not None], order = []
    cdef Node node, parent
    cdef int64_t oldest = made
    cdef int64_t last = 0
    cdef bint ready, useful, sorted_ = True
    for node in ends:
        oldest = min(oldest, node.serial)
    while stack:
        node = <Node>stack[len(stack) - 1]
        if node in places:
            stack.pop()
            continue
        ready, useful = True, node in ends
        for parent in node.parents:
            if parent.serial < oldest:
                continue
            place = places.get(parent)
            if place is None:
                stack.append(parent)
                ready = False
            elif place >= 0:
                useful = True
        if not ready:
            continue
        stack.pop()
        places[node] = len(order) if useful else -1
        if useful:
            order.append(node)
            sorted_ = sorted_ and node.serial > last
            last = node.serial
    if not sorted_:
        # By age: the backward pass then frees each cotangent as early as possible.
        order.sort(key=serial_of)
        for i in range(len(order)):
            places[order[i]] = i
    return order


def serial_of(Node node not None):
    return node.serial


def backward(list roots, list cotangents, list targets, Tape tape not None, bint beyond=True):
    """
    Cotangents of nodes, from those of results.

    Parameters
    ----------
    roots : list of Node or None
        Nodes of the results.
    cotangents : list of Array or None
        One for each root, of its shape and dtype.
    targets : list of Node
        What to differentiate with respect to.
    tape : Tape
        The tape that is differentiated.
    beyond : bool
        Whether cotangents are propagated from a target to others that it was computed from.

    Returns
    -------
    list of Array or None
        One for each target; None where no result depends on it.
    """
    # The modes of the caller do not apply to what rules broadcast.
    token = enter_package()
    try:
        return run_backward(roots, cotangents, targets, tape, beyond)
    finally:
        leave_package(token)


cdef list run_backward(list roots, list cotangents, list targets, Tape tape, bint beyond):
    cdef dict ends = {node: None for node in targets}, places = {}
    cdef list order = reachable(roots, ends, places), grads = [None] * len(order), results
    cdef Node node, parent
    cdef Py_ssize_t i, k, place
    cdef bint inner
    for root, g in zip(roots, cotangents):
        if root is not None and g is not None and places[root] >= 0:
            add_to(grads, places[root], fitted(g, <Node>root))
    for i in range(len(order) - 1, -1, -1):
        node, g = <Node>order[i], grads[i]
        # The cotangent is not needed any more, and may be large.
        order[i] = grads[i] = None
        if g is None:
            continue
        if node in ends:
            ends[node] = g
            if not beyond:
                continue
        inner = False
        for parent in node.parents:
            if places.get(parent, -1) >= 0:
                inner = True
        if not inner:
            continue
        results = pull_back(node, g if node.outputs == 0 else tuple(g))
        for k in range(len(node.parents)):
            parent = <Node>node.parents[k]
            place = places.get(parent, -1)
            if place < 0 or results[k] is None:
                continue
            if node.rules is None and node.pull is None:
                if grads[place] is None:
                    grads[place] = [None] * parent.outputs
                add_to(grads[place], node.output, results[k])
            else:
                add_to(grads, place, fitted(results[k], parent))
    return [ends[node] for node in targets]


cdef int add_to(list grads, Py_ssize_t place, object g) except -1:
    before = grads[place]
    grads[place] = g if before is None else add(before, g)
    return 0


def run_value_and_grad(f, tuple numbers, bint alone, bint has_aux, tuple args, dict kwargs):
    """Implementation of `value_and_grad(f)`; compiled, since for small arrays it is most of the time of a call."""
    cdef Tape tape = Tape()
    cdef list given = list(args), leaves = [], structures = [], arrays, tracked, nodes, found, lengths = []
    cdef Py_ssize_t i, start = 0
    cdef Array y
    for n in numbers:
        x = args[n]
        if type(x) is Array:
            leaves.append(x)
            structures.append(None)
        else:
            parts, structure = flatten(x)
            leaves.extend(parts)
            structures.append(structure)
            lengths.append(len(parts))
    arrays, tracked, nodes = track_all("value_and_grad", leaves, tape)
    tape.state.open = True
    try:
        put_together(given, numbers, structures, lengths, tracked)
        out = f(*given, **kwargs) if kwargs else f(*given)
    finally:
        tape.state.open = False
    out, aux = pair_of(out) if has_aux else (out, None)
    y = checked_scalar("value_and_grad", out)
    root = y.node
    value = detach_closed(y)
    if has_aux:
        aux = tree_map(detach_closed, aux)
    # The backward pass must be able to free what it does not need any more.
    del out, y, given, tracked
    found = backward([root], [asarray(1.0, dtype=(<Array>value).dtype)], nodes, tape)
    grads = [None] * len(numbers)
    put_together(grads, tuple(range(len(numbers))), structures, lengths, handed_out(found, arrays, ()))
    return ((value, aux) if has_aux else value), (grads[0] if alone else tuple(grads))


def pair_of(out):
    """Check the result of a function with `has_aux`."""
    if not isinstance(out, (tuple, list)) or len(out) != 2:
        raise ArgumentTypeError("has_aux", f"the function returned {type(out).__name__}", (), "a pair: the result, and anything else")
    return out


cdef int put_together(list into, tuple numbers, list structures, list lengths, list leaves) except -1:
    """Rebuild structures from their leaves and put them into a list."""
    cdef Py_ssize_t i, start = 0, part = 0
    for i in range(len(numbers)):
        if structures[i] is None:
            into[numbers[i]] = leaves[start]
            start += 1
        else:
            into[numbers[i]] = structures[i].rebuild(leaves[start:start + lengths[part]])
            start += lengths[part]
            part += 1
    return 0


cdef Array checked_scalar(str operation, object y):
    """The result of a function that has a gradient: a real floating-point array without axes."""
    if isinstance(y, float):
        y = asarray(y)
    if type(y) is not Array:
        raise ArgumentTypeError(operation, f"the function returned {type(y).__name__}", (), "one array without axes")
    if (<Array>y).ndim:
        raise ShapeError(
            operation, "the function returned an array with axes", (("result", f"{shape_tuple(<Array>y)}"),),
            "one array without axes; vjp and jacobian take functions with any result")
    if letter_at((<Array>y).code) != c"f":
        raise ArgumentTypeError(operation, f"the function returned dtype {dtype_at((<Array>y).code).name}", (),
                                "a real floating-point dtype; vjp takes functions with a complex result")
    return <Array>y


def scalar_result(str operation, y):
    """The same for Python code."""
    return checked_scalar(operation, y)


def handed_out(list grads, list arrays, cotangents):
    """
    Gradients that a caller may keep and change: each on memory of its own; zeros for None.

    Parameters
    ----------
    grads : list of Array or None
    arrays : list of Array
        What they are gradients with respect to.
    cotangents : sequence of Array
        What the caller gave, and keeps.
    """
    cdef set taken = set()
    cdef list out = []
    cdef Array x, like
    for g in cotangents:
        taken.add(id((<Array?>g).storage))
    for like in arrays:
        taken.add(id(like.storage))
    for g, like in zip(grads, arrays):
        if g is None:
            x = <Array>zeros(shape_tuple(like), dtype_at(like.code))
        else:
            x = <Array>g
        if type(x.storage.owner) is Storage or id(x.storage) in taken or not is_writable(x):
            x = asarray(x, copy=True)
        taken.add(id(x.storage))
        # A gradient is on the device of its array: Note [Simulated devices].
        x.storage.device = like.storage.device
        out.append(x)
    return out


def held(x):
    """A value, saved for later; values that are no arrays are returned unchanged."""
    return save(x, x, 0) if type(x) is Array else x


def recalled(x, str name):
    """A value that `held` saved, with its node; GradientError if it was overwritten."""
    cdef Saved saved
    cdef Array y
    if type(x) is not Saved:
        return x
    saved = <Saved>x
    check_saved(saved, name)
    y = alias(saved.plain)
    y.storage = saved.storage
    y.node, y.seen = saved.node, clock
    return y


def custom_node(str name, list parents, pull, out):
    """
    Give arrays a node with a backward function of its own.

    Parameters
    ----------
    name : str
        For messages.
    parents : list of Node
        What the arrays depend on.
    pull : callable
        From the cotangent of `out` (of a tuple: a tuple, None where there is none) to a list of those of the parents.
    out : Array or tuple of Array
        New arrays, which are not tracked.
    """
    cdef Node node = new_node(None, parents), part
    cdef int i
    node.pull = pull
    node.edges = []
    if type(out) is Array:
        if is_floating(<Array>out):
            attach(<Array>out, node)
        return
    node.outputs = len(out)
    for i, item in enumerate(out):
        if type(item) is Array and is_floating(<Array>item):
            part = new_node(None, [node])
            part.output = i
            attach(<Array>item, part)


def frontier(list roots, Tape tape not None):
    """The nodes older than a tape that results depend on: what a function uses besides its arguments."""
    cdef set seen = set()
    cdef list stack = [node for node in roots if node is not None], out = []
    cdef Node node
    while stack:
        node = <Node>stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.serial < tape.state.serial:
            out.append(node)
        else:
            stack.extend(node.parents)
    return out


def reopen(list nodes):
    """
    Open the tapes of nodes again, so that what is computed from their arrays is recorded.

    Returns
    -------
    list of State
        For `close`.
    """
    cdef Node node
    cdef State state
    cdef list out = []
    for node in nodes:
        for state in node.tapes:
            if not state.open:
                state.open = True
                out.append(state)
    return out


def close(list states):
    """Close the tapes that `reopen` opened."""
    cdef State state
    for state in states:
        state.open = False
