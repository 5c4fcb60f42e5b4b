# Derivatives in a direction: from tangents of operands to those of results. Included in `tape.pyx`. Note [Tangents]

cdef enum:
    # How the tangent of a result is found from that of an argument:
    TRANSPOSED = 0     # by the transpose of the rule, which is linear in the cotangent
    SYMMETRIC = 1      # by the rule itself: the matrix of derivatives is symmetric, up to broadcasting
    PUSHED = 2         # by a rule for tangents


cdef class Forward:
    """What one function does with the tangents of its arguments; by the numbers of its gradient rules."""

    cdef bint holomorphic
    cdef int kind[MOST_RULES]
    cdef tuple rules
    cdef int count[MOST_RULES]          # the saved values that each rule needs; -1 for the shape of the result
    cdef int numbers[MOST_RULES][8]


def define_forward(str name, dict rules, bint holomorphic=True):
    """
    Register what a function does with tangents.

    Parameters
    ----------
    name : str
        Of a function that has gradient rules.
    rules : dict
        One for each argument of which more is known than its gradient rule. None where that rule itself gives the tangent, for the
        complex conjugates of tangent and result. Else a function of the tangent (of a sequence: a dict of those of its items,
        by position) and of values that the gradient rule has, too, by the same names; `out_shape` is the shape of the result.
    holomorphic : bool
        Whether the gradient rule may be used so of complex numbers.
    """
    cdef Rules known = <Rules>TABLE[name]
    cdef Forward found = Forward()
    cdef int r, k
    found.holomorphic = holomorphic
    order = []
    for r in range(known.size):
        argument = known.parameters[known.at[r]]
        rule = rules.get(argument, MISSING)
        found.kind[r] = TRANSPOSED if rule is MISSING else SYMMETRIC if rule is None else PUSHED
        order.append(rule)
        if found.kind[r] != PUSHED:
            continue
        code = known.rules[r].__code__
        saved = code.co_varnames[1:code.co_argcount]
        names = rule.__code__.co_varnames[1:rule.__code__.co_argcount]
        found.count[r] = <int>len(names)
        for k, key in enumerate(names):
            if key != "out_shape" and key not in saved:
                raise ValueError(f"the rule of {name} for tangents of {argument} asks for {key}, which its gradient rule does not save")
            found.numbers[r][k] = -1 if key == "out_shape" else known.numbers[r][saved.index(key)]
    found.rules = tuple(order)
    known.forward = found


cdef object apply_forward(Node node, const Edge* edge, object t, PyObject** loaded):
    """The result of the rule of an edge for a tangent."""
    cdef Forward forward = <Forward>node.rules.forward
    cdef int i, number
    cdef list given = [t]
    for i in range(forward.count[edge.rule]):
        number = forward.numbers[edge.rule][i]
        given.append(shape_of_node(node) if number < 0 else value_of_rule(node, edge, number, loaded))
    return forward.rules[edge.rule](*given)


cdef Array as_result(object t, Node node):
    """A tangent, converted to the shape and the dtype of the array of a node."""
    cdef Array x
    if type(t) is LazyProduct:
        x = <Array?>(<LazyProduct>t).g
        if type((<LazyProduct>t).d) is Array:
            x = masked_product(x, <Array>(<LazyProduct>t).d)
        else:
            x = scaled(x, (<LazyProduct>t).d)
    elif type(t) is Array:
        x = <Array>t
    else:
        raise GradientError("jvp", f"internal error: a rule returned {type(t).__name__}")
    if x.code != node.code:
        if letter_at(x.code) == c"c" and letter_at(node.code) != c"c":
            x = real(x)
        x = asarray(x, dtype=dtype_at(node.code))
    return x if has_shape(node, x) else <Array>traced_or_plain("broadcast_to", (x, shape_of_node(node)))


cdef int way_of(Node node, const Edge* edge) noexcept:
    """How a tangent goes along an edge."""
    cdef Forward forward
    cdef int kind
    if node.pull is not None or node.outputs or node.rules.forward is None:
        return TRANSPOSED
    forward = <Forward>node.rules.forward
    kind = forward.kind[edge.rule]
    if kind == SYMMETRIC and not forward.holomorphic and (letter_at(node.code) == c"c" or letter_at((<Node>edge.parent).code) == c"c"):
        return TRANSPOSED
    return kind


cdef int push(Pass walk, Node node, Visit* visit, list parts) except -1:
    """The tangent of the result of a node, or of its results, from those of its operands."""
    cdef PyObject* loaded[MOST_RULES]
    cdef Visit* of
    cdef const Edge* edge
    cdef int e, k, way
    cdef bint rest = False, complex_
    cdef object found
    cdef dict items = None
    if node.rules is None and node.pull is None:
        # One of several results: their node has set its tangent.
        return 0
    memset(loaded, 0, sizeof(loaded))
    try:
        for e in range(node.count):
            edge = &node.edges[e]
            of = walk.visit(edge.parent)
            way = way_of(node, edge)
            if way == TRANSPOSED:
                rest = rest or (of is not NULL and of.g is not NULL)
                continue
            if edge.position >= 0:
                # A rule of a sequence takes the tangents of all arrays in it at once.
                if items is None:
                    items = {}
                if of is not NULL and of.g is not NULL:
                    items[edge.position] = <object>of.g
                if e + 1 < node.count and node.edges[e + 1].rule == edge.rule:
                    continue
                if not items:
                    continue
                found, items = apply_forward(node, edge, items, loaded), None
            elif of is NULL or of.g is NULL:
                continue
            elif way == PUSHED:
                found = apply_forward(node, edge, <object>of.g, loaded)
            else:
                complex_ = letter_at(node.code) == c"c"
                found = apply_rule(node, edge, conjugate(<object>of.g) if complex_ else <object>of.g, loaded)
                if found is not None and complex_:
                    found = conjugate(as_result(found, node))
            if found is not None:
                add_to(&visit.g, as_result(found, node))
    finally:
        for k in range(node.kept):
            Py_XDECREF(loaded[k])
    if rest:
        push_transposed(walk, node, visit, parts)
    return 0


cdef int push_transposed(Pass walk, Node node, Visit* visit, list parts) except -1:
    """
    The same for operands without rules for tangents.

    The gradient rule is recorded at a cotangent of zero, and pulled back: it is linear in the cotangent, and its transpose
    is the derivative.
    """
    cdef Tape tape = Tape()
    cdef PyObject* loaded[MOST_RULES]
    cdef Visit* of
    cdef const Edge* edge
    cdef Node part
    cdef int e, k, known = -1
    cdef list pulled = [], tangents = [], targets = []
    cdef dict zero = {}
    cdef object g, found, results = None, several = None
    if node.pull is not None:
        if type(node.pull) is Custom:
            return push_custom(walk, node, parts)
    # The node of a single result is its own part.
    # A result that was saved has a node for each time that it was loaded.
    for part in parts:
        if part.output not in zero:
            zero[part.output] = track(zeros(shape_of_node(part), dtype_at(part.code)), tape)
    g = tuple([zero.get(k) for k in range(node.outputs)]) if node.outputs else zero[0]
    for x in zero.values():
        targets.append((<Array>x).node)
    memset(loaded, 0, sizeof(loaded))
    open_tape(tape.state, "jvp")
    try:
        if node.pull is not None:
            results = node.pull(g)
        for e in range(node.count):
            edge = &node.edges[e]
            of = walk.visit(edge.parent)
            if of is NULL or of.g is NULL or way_of(node, edge) != TRANSPOSED:
                continue
            if results is not None:
                found = results[e]
            elif edge.position < 0:
                found = apply_rule(node, edge, g, loaded)
            else:
                if edge.rule != known:
                    known = edge.rule
                    several = apply_rule(node, edge, g, loaded)
                found = None if several is None else several[edge.position]
            if found is not None:
                pulled.append(current_node(fitted(found, <Node>edge.parent)))
                tangents.append(<object>of.g)
    finally:
        close_tape(tape.state)
        for k in range(node.kept):
            Py_XDECREF(loaded[k])
    outputs = list(zero)
    g = results = several = x = zero = None
    for output, found in zip(outputs, walk_backward(pulled, tangents, targets, True, True)):
        for part in parts:
            if found is not None and part.output == output:
                add_to(&walk.visit(<PyObject*>part).g, <Array>found)
    return 0


@cython.final
cdef class Custom:
    """Both derivatives of a function that the caller defines: what nodes have in the place of rules."""

    cdef object pull
    cdef object push

    def __init__(self, pull, push):
        self.pull, self.push = pull, push

    def __call__(self, g):
        return self.pull(g)


cdef int push_custom(Pass walk, Node node, list parts) except -1:
    """The same for a function whose derivative in a direction the caller defines."""
    cdef Visit* of
    cdef Node part
    cdef int e
    cdef list given = []
    for e in range(node.count):
        of = walk.visit(node.edges[e].parent)
        given.append(None if of is NULL or of.g is NULL else <object>of.g)
    found = (<Custom>node.pull).push(given)
    for part in parts:
        t = found[part.output] if node.outputs else found[0]
        if t is not None:
            # The caller's function may return memory that the caller keeps.
            if not (<Array?>t).storage.logged:
                t = without_history(<Array>t)
            add_to(&walk.visit(<PyObject*>part).g, as_result(t, part))
    return 0


def push_forward(list roots, list targets, list tangents, Tape tape not None):
    """
    Tangents of nodes, from those of what they were computed from.

    Parameters
    ----------
    roots : list of Node or None
        Nodes of the results. The list is emptied, so that nothing but the pass holds them.
    targets : list of Node
        What to differentiate with respect to; none was computed from another one.
    tangents : list of Array
        One for each target, of its shape.
    tape : Tape
        The tape that is differentiated.

    Returns
    -------
    list of Array or None
        One for each root; None where it depends on no target.
    """
    # The modes of the caller do not apply to what rules broadcast.
    token = enter_package()
    try:
        return walk_forward(roots, targets, tangents, tape.state, None)
    finally:
        leave_package(token)


cdef list walk_forward(list roots, list targets, list tangents, State state, Node whole):
    """
    The same. If `whole` is not None, it is the second target, a node of several results, and its tangent is a tuple; the first
    target is its operand. Calls of the same function on the same operand get the same tangents.
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
            # What nothing else needs may hold much memory.
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
    """The same by the transpose of a backward pass: Note [Recorded passes]."""
    cdef Tape tape = Tape()
    cdef list seeds = [], pulled = [], given = [], found = []
    cdef object g, t
    for root in roots:
        seeds.append(None if root is None else track(seed_of(<Node>root), tape))
    open_tape(tape.state, "jvp")
    # The pass is linear in the seeds: its rules need not be known elsewhere.
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
    """A cotangent of irregular numbers, so that the pass finds a dependence on the choice of vectors in any element."""
    cdef DType dtype = dtype_at(node.code)
    cdef tuple shape = shape_of_node(node)
    cdef Py_ssize_t size = 1
    for n in shape:
        size *= <Py_ssize_t>n
    x = remainder(arange(size, dtype=float64) * 0.6180339887498949, 1.0) + 0.5
    return asarray(reshape(x * (1 + 0.7j) if letter_at(node.code) == c"c" else x, shape), dtype=dtype)


def derivatives_along(list xs, tuple out, tuple moved, x_moved):
    """
    Derivatives of arrays with respect to a number t, if the results of a call are ``out + t * moved`` and its operand is
    ``x + t * x_moved``. The rule of the call calls it in a recorded pass: Note [Recorded passes].

    Parameters
    ----------
    xs : list of Array
        Computed from the cotangents that reached the rule, and from `out`.
    out : tuple of Array
        The results that the rule got.
    moved : tuple of Array or None
        The change of each result; None stands for 0.
    x_moved : Array or None
        Of the first operand.

    Returns
    -------
    list of Array or None
        None for an array that does not depend on the results.
    """
    cdef Node whole = whole_of(out), node
    cdef Array x
    cdef Level level
    cdef list roots = [], levels = [], found
    for x in xs:
        # The tapes of the call see the values of newer batches.
        levels.append([])
        node = node_at(x)
        while x.storage.batched and (node is None or not shares_tape(node, whole)):
            (<list>levels[len(levels) - 1]).append(level_of(x))
            x = (<Batch>x.storage.history).value
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
    """How many more times the cotangents may be differentiated after a rule in a recorded pass has differentiated them."""
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
            x = (<Batch>x.storage.history).value
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
