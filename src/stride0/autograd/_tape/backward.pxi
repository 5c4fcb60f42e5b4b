# The backward pass: from cotangents of results to those of their operands. Included in `tape.pyx`.

@cython.final
@cython.no_gc
@cython.freelist(16)
cdef class LazyProduct:
    """
    A product of a cotangent and a factor that is not computed yet.

    The engine computes it and sums it into the shape of the operand in one pass.
    """

    def __init__(self, g, d):
        self.g, self.d = g, d


@cython.final
@cython.no_gc
@cython.freelist(16)
cdef class LazyPut:
    """
    The cotangent of an array from that of its elements `[key]`.

    The engine adds it to what it has of these elements; the first one makes zeros for all others.
    """

    def __init__(self, g, key):
        self.g, self.key = g, key


cdef object load(object item, Node node):
    """A saved value, with its node if an open tape may differentiate what is computed from it."""
    cdef Saved saved
    cdef Node source = None
    if type(item) is Saved:
        saved = <Saved>item
        if saved.result == 0:
            if saved.node is not NULL:
                source = <Node>saved.node
        elif is_open(node):
            source = node if saved.result == 1 and node.outputs == 0 else part_node(node, saved.result - 1)
        if source is None or (letter_at(saved.code) != c"f" and letter_at(saved.code) != c"c") or not is_open(source):
            return plain_array(saved)
        found = tracked_array(saved, source)
        if source is not node:
            describe(source, found)
        return found
    if type(item) is tuple and holds(item, Saved):
        return tuple([load(part, node) for part in item])
    return item


cdef Array fitted(object g, Node node):
    """A cotangent, converted to the shape and the dtype of the array of a node."""
    cdef Array x, factor
    if type(g) is LazyProduct:
        x = <Array?>(<LazyProduct>g).g
        if type((<LazyProduct>g).d) is Array:
            factor = <Array>(<LazyProduct>g).d
            if has_shape(node, x) and has_shape(node, factor) and (x.c_contiguous or factor.c_contiguous):
                x = masked_product(x, factor)
            elif not x.storage.logged and not factor.storage.logged:
                x = dot_into(x, factor, shape_of_node(node))
            else:
                x = traced("dot_into", (x, factor, shape_of_node(node)))
        else:
            x = scaled(summed(x, node), (<LazyProduct>g).d)
    elif type(g) is LazyPut:
        x = put((<LazyPut>g).g, shape_of_node(node), (<LazyPut>g).key)
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
    return traced("sum_into", (x, shape_of_node(node))) if x.storage.logged else sum_into(x, shape_of_node(node))


cdef object value_of_rule(Node node, const Edge* edge, int number, PyObject** loaded):
    """A saved value that a rule of an edge needs, loaded into `loaded`."""
    if loaded[number] is NULL:
        if node.saved[number] is NULL:
            value = shape_of_node(<Node>edge.parent)
        else:
            value = load(<object>node.saved[number], node)
        Py_INCREF(value)
        loaded[number] = <PyObject*>value
    return <object>loaded[number]


cdef object apply_rule(Node node, const Edge* edge, object g, PyObject** loaded):
    """The result of the rule of an edge; the saved values that it needs are loaded into `loaded`."""
    cdef Rules rules = node.rules
    cdef PyObject* given[MOST_RULES + 1]
    cdef PyObject* result
    cdef int i, number, count = rules.count[edge.rule]
    given[0] = <PyObject*>g
    for i in range(count):
        number = rules.numbers[edge.rule][i]
        if loaded[number] is NULL:
            value_of_rule(node, edge, number, loaded)
        given[i + 1] = loaded[number]
    result = PyObject_Vectorcall(<PyObject*>rules.rules[edge.rule], given, count + 1, NULL)
    out = <object>result
    Py_DECREF(out)
    return out


cdef struct Visit:
    int64_t serial
    PyObject* node             # a reference
    PyObject* g                # a reference to the cotangent so far (going forward: the tangent), or NULL; of several results a list of theirs
    bint useful                # whether a path leads from the node to a target
    bint target
    Py_ssize_t uses            # going forward: nodes that need the tangent still

cdef s0_shared_long passes = 0
cdef list running = []         # backward passes


@cython.final
cdef class Pass:
    """
    A backward pass: the nodes that it goes through, by age.

    A node knows its index there. A rule of the caller, or another thread, may start a pass through the same nodes
    meanwhile; that one keeps the indices of the nodes that it shares in `others`.
    """

    cdef int64_t number
    cdef Visit* visits
    cdef Py_ssize_t count
    cdef Py_ssize_t room
    cdef dict others
    cdef unsigned long thread
    cdef list used             # states of tapes: Note [Thread of a tape]
    cdef tuple last_used
    cdef dict terms            # of a recorded pass: by node, the terms of the cotangents that reach a decomposition

    def __cinit__(self):
        self.number = s0_count_up(passes, 1)
        self.thread = PyThread_get_thread_ident()
        self.used = []

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.count):
            release_node(self.visits[i].node)
            Py_XDECREF(self.visits[i].g)
        PyMem_Free(self.visits)
        free_waiting()

    cdef int add(self, Node node) except -1:
        """Visit a node, unless it is visited already."""
        cdef Visit* visits = self.visits
        cdef Visit* new
        if FREE_THREADED and node.tapes is not self.last_used:
            self.use_tapes(node)
        if node.visit == self.number or (self.others is not None and node in self.others):
            return 0
        if self.count == self.room:
            self.room = 64 + 2 * self.room
            visits = <Visit*>PyMem_Realloc(visits, self.room * sizeof(Visit))
            if visits is NULL:
                raise MemoryError("allocate: no memory for a backward pass")
            self.visits = visits
        if node.visit != 0 and is_running(node.visit):
            if self.others is None:
                self.others = {}
            self.others[node] = -1
        else:
            node.visit = self.number
        new = &visits[self.count]
        Py_INCREF(node)
        new.serial, new.node, new.g, new.useful, new.target, new.uses = node.serial, <PyObject*>node, NULL, False, False, 0
        self.count += 1
        return 0

    cdef int use_tapes(self, Node node) except -1:
        cdef State state
        for state in node.tapes:
            if state not in self.used:
                use_tape(state, "backward")
                self.used.append(state)
        self.last_used = node.tapes
        return 0

    cdef int leave_tapes(self) except -1:
        cdef State state
        for state in self.used:
            leave_tape(state)
        self.used = []
        return 0

    cdef Visit* visit(self, PyObject* node) noexcept:
        """The visit of a node; NULL where it is not visited."""
        if (<Node>node).visit == self.number:
            return &self.visits[(<Node>node).place]
        if self.others is not None and <object>node in self.others:
            return &self.visits[<Py_ssize_t>self.others[<object>node]]
        return NULL

    cdef int find(self, list roots, list targets) except -1:
        """Visit all nodes between the roots and the targets, and sort them by age: each then comes after its parents."""
        cdef Py_ssize_t i
        cdef int e
        cdef int64_t oldest = made
        cdef Node node
        cdef Visit* visit
        cdef Visit* before
        for target in targets:
            oldest = min(oldest, (<Node?>target).serial)
        for root in roots:
            if root is not None and (<Node?>root).serial >= oldest:
                self.add(<Node>root)
        i = 0
        while i < self.count:
            node = <Node>self.visits[i].node
            for e in range(node.count):
                if (<Node>node.edges[e].parent).serial >= oldest:
                    self.add(<Node>node.edges[e].parent)
            i += 1
        if self.count:
            qsort(self.visits, self.count, sizeof(Visit), by_age)
        for i in range(self.count):
            node = <Node>self.visits[i].node
            if node.visit == self.number:
                node.place = i
            else:
                self.others[node] = i
        for target in targets:
            visit = self.visit(<PyObject*>target)
            if visit is not NULL:
                visit.target = visit.useful = True
        for i in range(self.count):
            visit = &self.visits[i]
            node = <Node>visit.node
            for e in range(node.count):
                before = self.visit(node.edges[e].parent)
                if before is not NULL and before.useful:
                    visit.useful = True
        return 0

    cdef int add_targets(self, Node whole, list targets, list tangents) except -1:
        """
        Make targets of calls on the operand of `whole`, for derivatives along a path of that operand.

        Calls of the same function find the same vectors and move alike. Other decompositions of the operand are held fixed: results
        that depend on their repeated values are assumed to be well defined without the values of this call.
        """
        cdef Py_ssize_t i
        cdef Visit* visit
        cdef Node node
        for i in range(self.count):
            visit = &self.visits[i]
            node = <Node>visit.node
            if visit.target or not visit.useful or node.rules is None or node.rules.repeats is None:
                continue
            if node.outputs and node.edges[0].parent == whole.edges[0].parent:
                visit.target = True
                targets.append(node)
                tangents.append(tangents[1] if node.rules is whole.rules else None)
        return 0

    cdef int run(self, bint beyond) except -1:
        """Propagate the cotangents, from the youngest node on."""
        cdef Py_ssize_t i
        cdef Visit* visit
        cdef PyObject* g
        for i in range(self.count - 1, -1, -1):
            visit = &self.visits[i]
            if visit.useful and visit.g is not NULL and (beyond or not visit.target):
                self.pull(<Node>visit.node, <object>visit.g, visit)
            # Neither is needed any more, and both may hold much memory.
            release_node(visit.node)
            visit.node = NULL
            free_waiting()
        return 0

    cdef int pull(self, Node node, object g, Visit* visit) except -1:
        """Add the terms of a node to the cotangents of its parents."""
        cdef PyObject* loaded[MOST_RULES]
        cdef Visit* to
        cdef const Edge* edge
        cdef int e, k, known = -1
        cdef object parts = None, results = None, found
        if node.outputs:
            g = tuple(g)
        if not visit.target:
            Py_XDECREF(visit.g)
            visit.g = NULL
        memset(loaded, 0, sizeof(loaded))
        if node.pull is not None:
            results = node.pull(g)
        try:
            for e in range(node.count):
                edge = &node.edges[e]
                to = self.visit(edge.parent)
                if to is NULL or not to.useful:
                    continue
                if node.pull is not None:
                    found = results[e]
                    # The caller's function may return memory that the caller keeps.
                    if type(found) is Array and not (<Array>found).storage.logged:
                        found = without_history(<Array>found)
                elif node.rules is None:
                    # One of several results: its cotangent goes to their common node.
                    add_part(to, <Node>edge.parent, node.output, g)
                    continue
                elif edge.position < 0:
                    found = apply_rule(node, edge, g, loaded)
                else:
                    # A rule of a sequence gives the cotangents of all arrays in it at once.
                    if edge.rule != known:
                        known = edge.rule
                        parts = apply_rule(node, edge, g, loaded)
                    found = None if parts is None else parts[edge.position]
                if found is not None and not add_put(to.g, found):
                    found = fitted(found, <Node>edge.parent)
                    if self.terms is not None:
                        self.keep_term(<Node>edge.parent, found)
                    add_to(&to.g, <Array>found)
        finally:
            for k in range(node.kept):
                Py_XDECREF(loaded[k])
        return 0


    cdef int keep_term(self, Node part, object g) except -1:
        """Keep a term of the cotangent of vectors: the terms bound the rounding errors of their sum."""
        cdef Node whole
        if part.rules is None and part.pull is None:
            whole = <Node>part.edges[0].parent
            if whole.rules is not None and whole.rules.repeats is not None and (<Array>g).ndim == part.ndim and part.ndim > 1:
                self.terms.setdefault(whole, []).append((part.output, g))
        return 0

    cdef int needs_record(self) except -1:
        """The length of the longest chain of calls that need the derivative of their cotangents: Note [Recorded passes]."""
        cdef Py_ssize_t i
        cdef Node node, whole
        cdef Visit* of
        cdef object out
        cdef set found = set()
        for i in range(self.count):
            if not self.visits[i].useful:
                continue
            node = <Node>self.visits[i].node
            if node.rules is not None or node.pull is not None:
                continue
            # One of several results of a call.
            whole = <Node>node.edges[0].parent
            of = self.visit(<PyObject*>whole)
            if of is NULL or not of.useful or of.target or whole.rules is None or whole.rules.repeats is None or whole in found:
                continue
            out = saved_result(whole)
            if out is not None and whole.rules.repeats(out, node.output):
                found.add(whole)
        return <int>len(found) if len(found) < 2 else self.depth_of(found)

    cdef int depth_of(self, set chosen) except -1:
        """The largest number of these nodes on one path."""
        cdef Py_ssize_t i
        cdef int e, most = 0
        cdef Node node
        cdef dict depths = {}
        for i in range(self.count):
            node = <Node>self.visits[i].node
            depth = 0
            for e in range(node.count):
                depth = max(depth, depths.get(<object>node.edges[e].parent, 0))
            depths[node] = depth + (node in chosen)
            most = max(most, <int>depths[node])
        return most


cdef object saved_result(Node node):
    """The result that a node saved; None if it saved none."""
    cdef int k
    for k in range(node.kept):
        if node.rules.what[k] == VALUE and node.rules.subject[k] == -1 and node.saved[k] is not NULL:
            return load(<object>node.saved[k], node)
    return None


cdef bint is_running(int64_t number) except -1:
    for walk in running[:]:
        if (<Pass>walk).number == number:
            return True
    return False


cdef bint is_visited(Node node) except -1:
    """Whether a pass that runs now goes through a node."""
    if len(running) == 0:
        return False
    for walk in running[:]:
        # Those of other threads go through other nodes where nothing else keeps threads apart.
        if FREE_THREADED and (<Pass>walk).thread != PyThread_get_thread_ident():
            continue
        if (<Pass>walk).visit(<PyObject*>node) is not NULL:
            return True
    return False


cdef int by_age(const void* first, const void* second) noexcept nogil:
    cdef int64_t a = (<const Visit*>first).serial, b = (<const Visit*>second).serial
    return (a > b) - (a < b)


cdef int add_part(Visit* visit, Node whole, int output, Array g) except -1:
    """Add to the cotangent of one of several results."""
    cdef list parts
    cdef PyObject* part
    if visit.g is NULL:
        parts = [None] * whole.outputs
        Py_INCREF(parts)
        visit.g = <PyObject*>parts
    parts = <list>visit.g
    before = parts[output]
    parts[output] = g if before is None else added(<Array>before, g)
    return 0


cdef int add_to(PyObject** sum_, Array g) except -1:
    """Add to a cotangent: in its own memory, if nothing else refers to that."""
    cdef PyObject* before = sum_[0]
    cdef object total = g
    if before is not NULL:
        if may_overwrite(before, g) and same_shape(<Array>before, g):
            in_place(OP_ADD, <Array>before, g, "add")
            return 0
        total = added(<Array>before, g)
    Py_INCREF(total)
    sum_[0] = <PyObject*>total
    Py_XDECREF(before)
    return 0


cdef bint add_put(PyObject* sum_, object found) except -1:
    """Add a cotangent of some elements to that of all, if nothing else refers to its memory; else False."""
    cdef Array g
    if type(found) is not LazyPut or sum_ is NULL:
        return False
    g = <Array?>(<LazyPut>found).g
    if (<Array>sum_).storage.batched:
        return add_put_of_batch(sum_, g, (<LazyPut>found).key)
    if live_levels and newer(None, (<LazyPut>found).key) is not None:
        return False
    # Not deferred: one element after the other is added in place.
    data_of(<Array>sum_)
    if not may_overwrite(sum_, g):
        return False
    add_at(<Array>sum_, (<LazyPut>found).key, g)
    return True


cdef bint add_put_of_batch(PyObject* sum_, Array g, object key):
    """The same for a batch."""
    cdef Level level = level_of(<Array>sum_)
    cdef PyObject* batch = <PyObject*>(<Array>sum_).storage.history
    cdef PyObject* value = <PyObject*>(<Batch>batch).value
    cdef Level other = newer(newer(None, g), key)
    if g.node is not None or (other is not None and other is not level) or not level.open:
        return False
    if not s0_has_references(sum_, 1) or not s0_has_references(<PyObject*>(<Array>sum_).storage, 1) or not s0_has_references(batch, 1):
        return False
    if (<Array>value).storage.batched:
        return False
    data_of(<Array>value)
    if not may_overwrite(value, <Array>value_at(level, g)):
        return False
    found = basic_key(key)
    if found is not None:
        add_at(<Array>value, found, <Array>value_at(level, g))
    else:
        found, values = key_of_values(level, <object>sum_, key, g)
        add_at(<Array>value, found, <Array>values)
    return True


cdef object key_of_values = None


def define_keys(function):
    """Register what makes of a level, a batched array, a key and what is added there the key and the addend of the values."""
    global key_of_values
    key_of_values = function


cdef bint may_overwrite(PyObject* x, Array g):
    """Whether a cotangent may be overwritten by its sum with another one."""
    if not s0_has_references(x, 1) or not s0_has_references(<PyObject*>(<Array>x).storage, 1) or (<Array>x).storage.block is NULL:
        return False
    if (<Array>x).storage.logged or g.storage.logged or is_stored(g.code):
        return False
    return (<Array>x).code == g.code and (<Array>x).c_contiguous


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
    cdef list found
    entered = begin_deferring()
    try:
        found = run_backward(roots, cotangents, targets, beyond, False, tape.state)
    except BaseException:
        end_deferring(entered, True)
        raise
    end_deferring(entered, False)
    return found


cdef list run_backward(list roots, list cotangents, list targets, bint beyond, bint last, State state):
    """`backward`; the caller may need no root any more if it is the `last` pass through them."""
    # The modes of the caller do not apply to what rules broadcast.
    token = enter_package()
    try:
        return walk_backward(roots, cotangents, targets, beyond, last, state)
    finally:
        leave_package(token)


cdef list walk_backward(list roots, list cotangents, list targets, bint beyond, bint last, State state=None):
    cdef Pass walk = Pass()
    cdef Visit* visit
    cdef list found = []
    cdef bint opened = False
    cdef int calls = 0
    cdef int64_t closed, missed, reopened
    running.append(walk)
    try:
        walk.find(roots, targets)
        if state is not None and not state.open:
            calls = walk.needs_record()
        if calls:
            closed, missed, reopened = state.closed, state.missed, state.reopened
            open_tape(state, "backward")
            opened, state.passing = True, calls
        if state is None or state.open:
            walk.terms = {}
        for root, g in zip(roots, cotangents):
            visit = NULL if root is None or g is None else walk.visit(<PyObject*>root)
            if visit is not NULL and visit.useful:
                add_to(&visit.g, fitted(g, <Node>root))
        root = None
        if last:
            roots.clear()
        walk.run(beyond)
        for target in targets:
            visit = walk.visit(<PyObject*>target)
            found.append(None if visit is NULL or visit.g is NULL else <object>visit.g)
    finally:
        running.remove(walk)
        walk.leave_tapes()
        if opened:
            state.passing = 0
            close_tape(state)
            # Arrays must not notice that the tape was open.
            state.closed, state.missed, state.reopened = closed, missed, reopened
    return [without_record(g) for g in found] if opened else found


cdef object without_record(object g):
    """A cotangent, or the cotangents of several results, without the records of a recorded pass."""
    cdef Array x
    if type(g) is list:
        return [without_record(part) for part in <list>g]
    if type(g) is not Array or not (<Array>g).storage.logged:
        return g
    x = <Array>g
    if x.storage.batched and open_node(x) is None:
        return wrapped(level_of(x), <Array>without_record((<Batch>x.storage.history).value))
    return detach_closed(x)


