# The backward pass: from the cotangents of results to the cotangents of operands. Included in `tape.pyx`.

cdef struct Visit:
    int64_t serial
    PyObject* node             # a reference
    PyObject* g                # a reference to the cotangent so far (in a forward pass: the tangent), or NULL; a list if there are several results
    bint useful                # whether a path leads from the node to a target
    bint target
    Py_ssize_t uses            # in a forward pass: nodes that still need the tangent

cdef s0_shared_long passes = 0
cdef list running = []         # the running passes


@cython.final
cdef class Pass:
    """
    A backward pass: the nodes that it visits, by age.

    A node knows its index in the pass. A rule of the caller, or another thread, may meanwhile start a pass through the same
    nodes; that pass keeps the indices of the shared nodes in `others`.
    """

    cdef int64_t number
    cdef Visit* visits
    cdef Py_ssize_t count
    cdef Py_ssize_t room
    cdef dict others
    cdef unsigned long thread
    cdef list used             # states of tapes: Note [Thread of a tape]
    cdef tuple last_used
    cdef dict terms            # in a recorded pass, by node: the terms of the cotangents that reach a decomposition

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
        """The visit of a node; NULL if it is not visited."""
        if (<Node>node).visit == self.number:
            return &self.visits[(<Node>node).place]
        if self.others is not None and <object>node in self.others:
            return &self.visits[<Py_ssize_t>self.others[<object>node]]
        return NULL

    cdef int find(self, list roots, list targets) except -1:
        """Visit all nodes between the roots and the targets, and sort them by age, so that each node comes after its parents."""
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
        Make targets of all calls of the same function on the operand of `whole`, for derivatives along a path of that operand.

        These calls find the same vectors, which move in the same way along the path. Decompositions by other functions are held
        fixed: results that depend on their repeated values are assumed to be well defined without the values of this call.
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
        """Propagate the cotangents, starting with the youngest node."""
        cdef Py_ssize_t i
        cdef Visit* visit
        cdef PyObject* g
        for i in range(self.count - 1, -1, -1):
            visit = &self.visits[i]
            if visit.useful and visit.g is not NULL and (beyond or not visit.target):
                self.pull(<Node>visit.node, <object>visit.g, visit)
            # Node and cotangent are no longer needed, and both may hold much memory.
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
                    # The caller's function may return an array that the caller keeps.
                    if type(found) is Array and not (<Array>found).storage.logged:
                        found = without_history(<Array>found)
                elif node.rules is None:
                    # The node of one of several results: its cotangent goes to the node of the call.
                    add_part(to, <Node>edge.parent, node.output, g)
                    continue
                elif edge.position < 0:
                    found = apply_rule(node, edge, g, loaded)
                else:
                    # The rule of a sequence gives the cotangents of all its arrays together.
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
        """Keep a term of the cotangent of eigenvectors or singular vectors: the terms bound the rounding errors of their sum."""
        cdef Node whole
        if part.rules is None and part.pull is None:
            whole = <Node>part.edges[0].parent
            if whole.rules is not None and whole.rules.repeats is not None and (<Array>g).ndim == part.ndim and part.ndim > 1:
                self.terms.setdefault(whole, []).append((part.output, g))
        return 0

    cdef int needs_record(self) except -1:
        """Return the length of the longest chain of calls that need the derivative of their cotangents: Note [Recorded passes]."""
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
        """The largest number of `chosen` nodes on one path."""
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


def backward(list roots, list cotangents, list targets, Tape tape not None, bint beyond=True):
    """
    Compute cotangents of nodes from the cotangents of results.

    Parameters
    ----------
    roots : list of Node or None
        Nodes of the results.
    cotangents : list of Array or None
        One for each root, of its shape and dtype.
    targets : list of Node
        Nodes to differentiate with respect to.
    tape : Tape
        The tape that is differentiated.
    beyond : bool
        Whether cotangents are propagated beyond a target, to other targets that it was computed from.

    Returns
    -------
    list of Array or None
        One for each target; None if no result depends on it.
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
    """`backward`; the `last` pass through the roots may free them."""
    # The caller's modes do not apply to broadcasts in rules.
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
            # Later reads of arrays behave as if the tape had not been opened.
            state.closed, state.missed, state.reopened = closed, missed, reopened
    return [without_record(g) for g in found] if opened else found


cdef object without_record(object g):
    """A cotangent, or a list of cotangents, detached from the tape of a recorded pass."""
    cdef Array x
    if type(g) is list:
        return [without_record(part) for part in <list>g]
    if type(g) is not Array or not (<Array>g).storage.logged:
        return g
    x = <Array>g
    if x.storage.batched and open_node(x) is None and level_of(x).recorder is None:
        return wrapped(level_of(x), <Array>without_record((<Batch>x.storage.history).whole))
    return detach_closed(x)
