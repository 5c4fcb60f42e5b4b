# Directional derivatives: computes the tangents of results from the tangents of operands. Included in `tape.pyx`. Note [Tangents]

cdef enum:
    # How the tangent of a result is found from the tangent of an argument:
    TRANSPOSED = 0     # by the transpose of the gradient rule, which is linear in the cotangent
    SYMMETRIC = 1      # by the gradient rule itself, because the Jacobian is symmetric up to broadcasting
    PUSHED = 2         # by a rule for tangents


cdef class Forward:
    """The tangent rules of one function, indexed like its gradient rules."""

    cdef bint holomorphic
    cdef int kind[MOST_RULES]
    cdef tuple rules
    cdef int count[MOST_RULES]          # the number of saved values that each rule needs
    cdef int numbers[MOST_RULES][8]     # the indices of these values; -1 stands for the shape of the result


def define_forward(str name, dict rules, bint holomorphic=True):
    """
    Register the rules for tangents of a function.

    Parameters
    ----------
    name : str
        Name of a function that has gradient rules.
    rules : dict
        Tangent rules by argument. An argument that is not a key uses the transposed gradient rule. If a rule is None, the
        gradient rule itself gives the tangent: its input and its result are conjugated. Otherwise a rule is a function. Its first
        parameter is the tangent; for a sequence, a dict of the tangents of the items, by position. Its other parameters are named
        like values of the gradient rule, or `out_shape`, the shape of the result.
    holomorphic : bool
        Whether rules of None hold for complex numbers, too. If False, complex numbers use the transposed gradient rule.
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
                raise ValueError(f"the rule of {name} for tangents of {argument} asks for {key}, which its gradient rule does not save: add it there")
            found.numbers[r][k] = -1 if key == "out_shape" else known.numbers[r][saved.index(key)]
    found.rules = tuple(order)
    known.forward = found


cdef object apply_forward(Node node, const Edge* edge, object t, PyObject** loaded):
    """Apply the tangent rule of an edge to the tangent `t`."""
    cdef Forward forward = <Forward>node.rules.forward
    cdef int i, number
    cdef list given = [t]
    for i in range(forward.count[edge.rule]):
        number = forward.numbers[edge.rule][i]
        given.append(shape_of_node(node) if number < 0 else value_of_rule(node, edge, number, loaded))
    return forward.rules[edge.rule](*given)


cdef Array as_result(object t, Node node):
    """A tangent, converted to the shape and the dtype of a node's array."""
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
    """The way in which a tangent is propagated along an edge."""
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
    """Compute the tangents of a node's results from the tangents of its operands."""
    cdef PyObject* loaded[MOST_RULES]
    cdef Visit* of
    cdef const Edge* edge
    cdef int e, k, way
    cdef bint rest = False, complex_
    cdef object found
    cdef dict items = None
    if node.rules is None and node.pull is None:
        # This node stands for one of several results. The node of the call has already set its tangent.
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
                # The rule of a sequence takes the tangents of all its arrays together.
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
    Like `push`, for operands without tangent rules.

    Record the gradient rule with a cotangent of zero, then differentiate the recording backward. The gradient rule is linear in
    the cotangent, so its transpose maps the tangents of operands to the tangents of results.
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
    # If the call has a single result, `parts` contains only the node of this result.
    # A saved result gets a new node each time it is loaded, so several parts may stand for the same result.
    for part in parts:
        if part.output not in zero:
            zero[part.output] = track(lifted(zeros(shape_of_node(part), dtype_at(part.code))), tape)
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
    """The two derivatives (backward: `pull`, forward: `push`) of a user-defined function. A node holds this object instead of rules."""

    cdef object pull
    cdef object push

    def __init__(self, pull, push):
        self.pull, self.push = pull, push

    def __call__(self, g):
        return self.pull(g)


cdef int push_custom(Pass walk, Node node, list parts) except -1:
    """Like `push`, for a function with a user-defined directional derivative."""
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
            # The caller's function may return an array that the caller keeps.
            if not (<Array?>t).storage.logged:
                t = without_history(<Array>t)
            add_to(&walk.visit(<PyObject*>part).g, as_result(t, part))
    return 0
