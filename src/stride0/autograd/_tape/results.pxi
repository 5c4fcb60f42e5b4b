# Results of differentiated functions: values, gradients, nodes of custom functions. Included in `tape.pyx`.

def run_value_and_grad(str name, f, tuple numbers, bint alone, bint has_aux, tuple args, dict kwargs):
    """Implementation of `value_and_grad(f)` and `grad(f)`, whose errors begin with `name`. Compiled to make small calls fast."""
    entered = begin_deferring()
    try:
        found = value_and_gradients(name, f, numbers, alone, has_aux, args, kwargs)
    except BaseException:
        end_deferring(entered, True)
        raise
    end_deferring(entered, False)
    return found


cdef tuple value_and_gradients(str name, f, tuple numbers, bint alone, bint has_aux, tuple args, dict kwargs):
    """The same, with deferred results. Objects that only the passes need are freed at the end."""
    cdef Tape tape = Tape()
    cdef list given = list(args), leaves = [], structures = [], arrays, tracked, nodes, roots, found, lengths = []
    cdef Py_ssize_t i, start = 0
    cdef Array y
    for n in numbers:
        x = args[n]
        if type(x) is Array:
            leaves.append(x)
            structures.append(None)
        else:
            parts, structure = flatten(x, 1)
            leaves.extend(parts)
            structures.append(structure)
            lengths.append(len(parts))
    arrays, tracked, nodes = track_all(name, leaves, tape)
    open_tape(tape.state, name)
    try:
        put_together(given, numbers, structures, lengths, tracked, True)
        out = f(*given, **kwargs) if kwargs else f(*given)
    finally:
        close_tape(tape.state)
    out, aux = pair_of(out) if has_aux else (out, None)
    y = checked_scalar(name, out)
    roots = [current_node(y)]
    value = detach_closed(y)
    if has_aux:
        aux = tree_map(detach_closed, aux)
    # Let the backward pass free objects that it no longer needs.
    del out, y, given, tracked
    found = run_backward(roots, [asarray(1.0, dtype=(<Array>value).dtype)], nodes, True, True, tape.state)
    grads = [None] * len(numbers)
    put_together(grads, tuple(range(len(numbers))), structures, lengths, handed_out(found, arrays, ()), False)
    return ((value, aux) if has_aux else value), (grads[0] if alone else tuple(grads))


def pair_of(out):
    """Check the result of a function with `has_aux`."""
    if not isinstance(out, (tuple, list)) or len(out) != 2:
        raise ArgumentTypeError("has_aux", f"the function returned {type(out).__name__}", (), "a pair: the result, and anything else")
    return out


cdef int put_together(list into, tuple numbers, list structures, list lengths, list leaves, bint constants) except -1:
    """Rebuild structures from their leaves and put them into a list."""
    cdef Py_ssize_t i, start = 0, part = 0
    for i in range(len(numbers)):
        if structures[i] is None:
            into[numbers[i]] = leaves[start]
            start += 1
        else:
            into[numbers[i]] = structures[i].rebuild(leaves[start:start + lengths[part]], constants)
            start += lengths[part]
            part += 1
    return 0


cdef Array checked_scalar(str operation, object y):
    """Check the result of a function that has a gradient: a real floating-point 0-d array."""
    if isinstance(y, float):
        y = asarray(y)
    if type(y) is not Array:
        raise ArgumentTypeError(operation, f"the function returned {type(y).__name__}", (), "return a 0-d array, for example sum(y)")
    if (<Array>y).ndim:
        raise ShapeError(
            operation, "the function returned an array with axes", (("result", f"{shape_tuple(<Array>y)}"),),
            "return a 0-d array, for example sum(y); vjp and jacobian take functions with any result")
    if letter_at((<Array>y).code) != c"f":
        raise ArgumentTypeError(operation, f"the function returned dtype {dtype_at((<Array>y).code).name}", (),
                                "a real floating-point dtype; vjp takes functions with a complex result")
    return <Array>y


def scalar_result(str operation, y):
    """`checked_scalar` for Python code."""
    return checked_scalar(operation, y)


def results_of(list leaves):
    """The leaves of a result and their nodes; leaves are detached if no open tape tracks them."""
    cdef list values = [], roots = []
    cdef Array x
    for leaf in leaves:
        x = <Array>leaf if type(leaf) is Array else <Array>asarray(leaf)
        roots.append(current_node(x))
        values.append(detach_closed(x))
    return values, roots


def facts_of(list arrays):
    """Shape and dtype of each array."""
    cdef list facts = []
    for x in arrays:
        facts.append((shape_tuple(<Array?>x), dtype_at((<Array>x).code)))
    return facts


cdef Array converted(str operation, x):
    """Convert a tangent or cotangent that is not an array to an array."""
    try:
        return asarray(x)
    except Stride0Error:
        raise ArgumentTypeError(operation, f"a tangent or cotangent is of type {type(x).__name__}", (),
                                "an array of the shape of its argument or result, or a number") from None


def like(str operation, x, tuple shape, DType dtype not None):
    """
    Check a cotangent or tangent against the shape and dtype of its array.

    A complex cotangent of a real array stays complex: the backward pass takes its real part.
    """
    cdef Array found = given_array(<Array>x) if type(x) is Array else converted(operation, x)
    cdef bint fits = found.ndim == len(shape)
    cdef int axis
    for axis in range(found.ndim if fits else 0):
        fits = fits and found.shape_[axis] == <Py_ssize_t>shape[axis]
    if not fits:
        raise ShapeError(operation, "a tangent or cotangent has another shape than the array that it belongs to",
                         [("array", str(shape)), ("given", str(shape_tuple(found)))])
    if not is_floating(found):
        raise ArgumentTypeError(operation, f"a tangent or cotangent of dtype {dtype_at(found.code).name}")
    if found.code == dtype.code or (letter_at(found.code) == c"c" and letter_at(dtype.code) != c"c"):
        return found
    return asarray(found, dtype=dtype)


def all_like(str operation, list given, list facts):
    """The same for the cotangents of several arrays, given their `facts_of`."""
    if len(given) != len(facts):
        raise ArgumentValueError(operation, f"{len(given)} cotangents were given for {len(facts)} arrays")
    return [like(operation, x, shape, dtype) for x, (shape, dtype) in zip(given, facts)]


def handed_out(list grads, list arrays, cotangents):
    """
    Gradients that a caller may keep and change: each has its own memory. None becomes zeros.

    The caller also keeps the cotangents, so a gradient must not share their memory.
    """
    cdef set taken = set()
    cdef list out = []
    cdef Array x, like, memory
    for g in cotangents:
        taken.add(id(ground(<Array?>g).storage))
    for like in arrays:
        taken.add(id(ground(like).storage))
    for g, like in zip(grads, arrays):
        if g is None:
            x = new_zeros(shape_tuple(like), dtype_at(like.code))
        else:
            x = <Array>g
        memory = ground(x)
        if type(memory.storage.owner) is Storage or id(memory.storage) in taken or not (is_deferred(memory) or may_be_written(memory)):
            x = asarray(x, copy=True)
        taken.add(id(ground(x).storage))
        # A gradient has the device of its array: Note [Simulated devices].
        x.storage.device = ground(x).storage.device = like.storage.device
        out.append(x)
    return out


def held(x):
    """Save a value for later; values that are not arrays are returned unchanged."""
    if type(x) is not Array:
        return x
    if (<Array>x).storage.logged:
        enter(<Array>x, "save", None)
    return save_array(<Array>x, 0)


def recalled(x):
    """The value saved by `held`, as it was then, with its node."""
    if type(x) is not Saved:
        return x
    return tracked_array(<Saved>x, None if (<Saved>x).node is NULL else <Node>(<Saved>x).node)


def custom_node(str name, list parents, pull, out, push=None):
    """
    Give new arrays, which are not tracked, a node with parents and a backward function.

    `pull` gets the cotangent of `out` (for a tuple: a tuple, with None for a missing cotangent) and returns a list of the
    parents' cotangents. `push` gets a list of the parents' tangents (None: zero) and returns the tangents of the results.
    """
    cdef Level level = newer(None, out)
    cdef Node node = new_node(None)
    cdef Window before
    if level is None:
        link_custom(node, parents)
    else:
        before = above(level)
        try:
            link_custom(node, parents)
        finally:
            restore(before)
    node.pull = pull if push is None else Custom(pull, push)
    attach_results(node, out)


cdef int link_custom(Node node, list parents) except -1:
    for parent in parents:
        add_edge(node, <Node?>parent, -1, -1)
    return 0


def frontier(list roots, Tape tape not None, list leaves=[]):
    """
    Nodes older than a tape that results depend on: the arrays that a function uses besides its arguments, which have the nodes
    `leaves`.

    Without `leaves`, arrays from which the arguments were computed are included.
    """
    cdef set seen = set(leaves)
    cdef list stack = [node for node in roots if node is not None], out = []
    cdef Node node
    cdef int e
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.serial < tape.state.serial:
            out.append(node)
        else:
            stack.extend([<object>node.edges[e].parent for e in range(node.count)])
    return out


def largest(list roots, Tape tape not None):
    """The size of the largest array between results and the arrays that a tape tracks, which a pass needs."""
    cdef set seen = set()
    cdef list stack = [node for node in roots if node is not None]
    cdef Node node
    cdef Py_ssize_t size, most = 1
    cdef int e
    while stack:
        node = stack.pop()
        if node in seen or node.serial < tape.state.serial:
            continue
        seen.add(node)
        size = 1
        for n in shape_of_node(node):
            size *= <Py_ssize_t>n
        most = max(most, size)
        stack.extend([<object>node.edges[e].parent for e in range(node.count)])
    return most


def written_so_far():
    """The number of writes to logged storages."""
    return <int64_t>clock


def reopen(list nodes, int64_t written):
    """
    Open the tapes of nodes again, so that the second call of a function on their arrays is recorded.

    Writes after `written`, when the first call ended, are refused until `close` is called with the result of this function.
    """
    cdef Node node
    cdef State state
    cdef list out = [(s0_first_ended, s0_second_began)]
    try:
        for node in nodes:
            for state in node.tapes:
                if not state.open:
                    open_tape(state, "checkpoint")
                    out.append(state)
        s0_set_calls(written, clock)
    except BaseException:
        close(out)
        raise
    return out


def close(list opened):
    """Close the tapes that `reopen` opened."""
    cdef State state
    s0_set_calls(opened[0][0], opened[0][1])
    for state in opened[1:]:
        close_tape(state)
