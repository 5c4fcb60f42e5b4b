# Forward passes: along recorded nodes, from tangents of targets to tangents of roots.

def push_forward(list roots, list targets, list tangents, Tape tape not None):
    """
    Compute tangents of nodes from the tangents of the nodes that they depend on.

    Parameters
    ----------
    roots : list of Node or None
        Nodes of the results. The list is emptied, so that only the pass holds them.
    targets : list of Node
        Nodes to differentiate with respect to; no target was computed from another target.
    tangents : list of Array
        The tangent of each target, of its shape.
    tape : Tape
        The tape that is differentiated.

    Returns
    -------
    list of Array or None
        One for each root; None if it depends on no target.
    """
    # The caller's modes do not apply to broadcasts in rules.
    token = enter_package()
    try:
        return walk_forward(roots, targets, tangents, tape.state, None)
    finally:
        leave_package(token)


cdef list walk_forward(list roots, list targets, list tangents, State state, Node whole):
    """
    The same. If `whole` is not None, it is the node of several results and the second target, with a tuple of tangents; the
    first target is its operand. Calls of the same function on the same operand get the same tangents.
    """
    cdef Pass walk = Pass()
    cdef bint transposed
    cdef Visit* visit
    cdef Visit* of
    cdef Node node
    cdef Py_ssize_t i
    cdef int e
    cdef dict parts = {}
    cdef list found = [], wanted = roots[:]
    running.append(walk)
    try:
        walk.find(roots, targets)
        if whole is not None:
            walk.add_targets(whole, targets, tangents)
        transposed = walk.needs_record() > 0
        roots.clear()
        for i in range(0 if transposed else walk.count):
            visit = &walk.visits[i]
            if not visit.useful:
                continue
            node = <Node>visit.node
            for e in range(node.count):
                of = walk.visit(node.edges[e].parent)
                if of is not NULL:
                    of.uses += 1
            if node.rules is None and node.pull is None:
                parts.setdefault(<object>node.edges[0].parent, []).append(node)
        for root in wanted:
            visit = NULL if root is None else walk.visit(<PyObject*>root)
            if visit is not NULL:
                visit.uses += 1
        for target, t in zip(() if transposed else targets, tangents):
            visit = walk.visit(<PyObject*>target)
            if visit is NULL or t is None:
                continue
            if type(t) is Array:
                add_to(&visit.g, as_result(t, <Node>target))
                continue
            for part in parts.get(target, ()):
                if (<tuple>t)[(<Node>part).output] is not None:
                    add_to(&walk.visit(<PyObject*>part).g, as_result((<tuple>t)[(<Node>part).output], <Node>part))
        for i in range(0 if transposed else walk.count):
            visit = &walk.visits[i]
            if not visit.useful:
                continue
            node = <Node>visit.node
            if not visit.target:
                push(walk, node, visit, parts.get(node) if node.outputs else [node])
            # Drop tangents that are no longer needed, because they may hold much memory.
            for e in range(node.count):
                of = walk.visit(node.edges[e].parent)
                if of is not NULL:
                    of.uses -= 1
                    if of.uses == 0:
                        Py_XDECREF(of.g)
                        of.g = NULL
        for root in () if transposed else wanted:
            visit = NULL if root is None else walk.visit(<PyObject*>root)
            found.append(None if visit is NULL or visit.g is NULL else <object>visit.g)
    finally:
        running.remove(walk)
        walk.leave_tapes()
    return push_recorded(wanted, targets, tangents, state) if transposed else found


cdef list push_recorded(list roots, list targets, list tangents, State state):
    """The same, by transposing a backward pass: Note [Recorded passes]."""
    cdef Tape tape = Tape()
    cdef list seeds = [], pulled = [], given = [], found = []
    cdef object g, t
    for root in roots:
        seeds.append(None if root is None else track(seed_of(<Node>root), tape))
    open_tape(tape.state, "jvp")
    # The pass is linear in the seeds, so no further derivative of its rules is needed.
    tape.state.passing = 1
    try:
        for g, t in zip(walk_backward(roots, seeds, targets, False, False, state), tangents):
            # Several results: each has a cotangent and a tangent.
            for part, moved in zip(g, t) if type(g) is list and t is not None else ((g, t),):
                if part is not None and moved is not None:
                    pulled.append(current_node(part))
                    given.append(moved)
    finally:
        close_tape(tape.state)
    nodes = [None if x is None else (<Array>x).node for x in seeds]
    seeds = part = g = None
    targets = [node for node in nodes if node is not None]
    found = walk_backward(pulled, given, targets, True, True)
    return [None if node is None else found.pop(0) for node in nodes]


cdef Array seed_of(Node node):
    """A cotangent with irregular numbers, so that the pass notices if any element depends on the choice of vectors."""
    cdef DType dtype = dtype_at(node.code)
    cdef tuple shape = shape_of_node(node)
    cdef Py_ssize_t size = 1
    for n in shape:
        size *= <Py_ssize_t>n
    x = remainder(arange(size, dtype=float64) * 0.6180339887498949, 1.0) + 0.5
    return asarray(reshape(x * (1 + 0.7j) if letter_at(node.code) == c"c" else x, shape), dtype=dtype)


def derivatives_along(list xs, tuple out, tuple moved, x_moved):
    """
    Differentiate arrays with respect to a number t, if the results of a call are ``out + t * moved`` and its operand is
    ``x + t * x_moved``. The call's rule uses this in a recorded pass: Note [Recorded passes].

    Parameters
    ----------
    xs : list of Array
        Arrays computed from the cotangents that reached the rule, and from `out`.
    out : tuple of Array
        The results that the rule got.
    moved : tuple of Array or None
        The derivative of each result; None means 0.
    x_moved : Array or None
        The derivative of the first operand.

    Returns
    -------
    list of Array or None
        The derivatives; None for an array that does not depend on the results.
    """
    cdef Node whole = whole_of(out), node
    cdef Array x
    cdef Level level
    cdef list roots = [], levels = [], found
    for x in xs:
        # The tapes of the call see the values of batches with newer levels.
        levels.append([])
        node = node_at(x)
        while x.storage.batched and (node is None or not shares_tape(node, whole)):
            (<list>levels[len(levels) - 1]).append(level_of(x))
            x = (<Batch>x.storage.history).whole
            node = node_at(x)
        roots.append(node)
    found = walk_forward(roots, [<object>whole.edges[0].parent, whole], [x_moved, moved], None, whole)
    for i, several in enumerate(levels):
        for level in reversed(<list>several):
            if found[i] is not None:
                found[i] = wrapped(level, <Array>found[i])
    return found


cdef Node whole_of(tuple out):
    """The node of a call, given the results that its rule got in a recorded pass."""
    cdef Node node
    for item in out:
        node = node_at(<Array>item)
        if node is not None and node.rules is None and node.pull is None and is_open(node):
            return <Node>node.edges[0].parent
    raise GradientError("backward", "internal error: a pass through repeated values was not recorded")


def terms_of(tuple out, int values):
    """The terms of the cotangents that the pass has summed for the results of a call, except for the result at `values`."""
    cdef Node whole = whole_of(out)
    for walk in reversed(running[:]):
        # The innermost pass of this thread has called the rule.
        if not FREE_THREADED or (<Pass>walk).thread == PyThread_get_thread_ident():
            return [g for output, g in ((<Pass>walk).terms or {}).get(whole, ()) if output != values]
    return []


cdef bint shares_tape(Node a, Node b):
    for state in a.tapes:
        if state in b.tapes:
            return True
    return False


def orders_of(list xs):
    """The number of further derivatives of the cotangents that are possible after a rule in a recorded pass has differentiated them."""
    cdef Array x
    cdef Node node
    cdef set states = set()
    cdef int found = 0
    for x in xs:
        while True:
            node = node_at(x)
            if node is not None:
                states.update([state for state in node.tapes if (<State>state).open])
            if not x.storage.batched:
                break
            x = (<Batch>x.storage.history).whole
    for state in states:
        found += 0 if (<State>state).passing else 2 if (<State>state).lasting else 1
    for state in states:
        # With several decompositions in one pass, each rule differentiates the results of the rules of later decompositions.
        if (<State>state).passing > 1:
            if found:
                # The result would be exact, but the cost grows too fast.
                raise GradientError(
                    "backward", "there is no second derivative of a decomposition of another decomposition's results, if both have repeated values", (),
                    "replace one decomposition by a function such as expm, inv or matrix_power")
            found += (<State>state).passing - 1
    return found
