# The nodes of the graph, and the values that they save: Note [Graph of nodes]. Included in `tape.pyx`.

cdef enum:
    # Capacity inside of objects; more is allocated.
    FEW_AXES = 4
    FEW_EDGES = 2
    FEW_VALUES = 3

cdef struct Edge:
    PyObject* parent           # a reference to a node
    int rule                   # index of the rule; -1 if the node has no rules
    int position               # of the array in a sequence; -1 for an argument that is an array


@cython.final
@cython.no_gc
@cython.freelist(64)
cdef class Node:
    """The operation that computed an array: Note [Graph of nodes]."""

    cdef Rules rules
    cdef int64_t serial
    cdef tuple tapes           # states of the tapes that the node depends on; shared with the parents if possible
    cdef State home            # the tape whose list contains the node
    cdef PyObject* next        # neighbours in that list
    cdef PyObject* before
    cdef object pull           # instead of rules: maps a cotangent to the cotangents of the parents
    cdef Edge* edges           # the edges of a sequence are adjacent
    cdef PyObject** saved      # a reference, or NULL, for each value that the rules need
    cdef int count             # number of edges
    cdef int kept              # number of saved values
    cdef int code              # dtype and shape of the node's array
    cdef int ndim
    cdef int outputs           # number of results, if the function has several; otherwise 0
    cdef int output            # index of the result; the only parent is the node of the call
    cdef Py_ssize_t dims[FEW_AXES]
    cdef tuple shape           # the shape, if it does not fit `FEW_AXES`
    cdef int64_t visit         # the pass that visits the node, and its index in the pass
    cdef Py_ssize_t place
    cdef PyObject* queue       # the next node that waits to be freed
    cdef Edge few_edges[FEW_EDGES]
    cdef PyObject* few_saved[FEW_VALUES]

    def __dealloc__(self):
        if self.home is not None:
            s0_acquire(&listing)
            unlist(self)
            s0_leave(&listing)
        clear(self)

# Protects the lists of nodes of all tapes, and the users of tapes.
cdef s0_lock listing = 0


cdef inline void unlist(Node node) noexcept:
    """Take a node out of the list of its tape; the caller holds the lock, and may be freeing the node."""
    if node.before is not NULL:
        (<Node>node.before).next = node.next
    elif node.home is not None and node.home.first == <PyObject*>node:
        node.home.first = node.next
    if node.next is not NULL:
        (<Node>node.next).before = node.before
    node.before = node.next = NULL


# Nodes are freed one after the other, not recursively: chains are long, and the C stack is not. In a free-threaded interpreter
# it cannot be known whether a reference is the last one, so all dropped references wait.
cdef PyObject* waiting = NULL
cdef bint freeing = False


cdef inline void release_node(PyObject* node) noexcept:
    """Drop a reference to a node; `free_waiting` frees it if that was the last one."""
    global waiting
    if node is NULL:
        return
    if FREE_THREADED:
        s0_drop_later(&s0_waiting, node)
    elif s0_has_references(node, 1):
        (<Node>node).queue = waiting
        waiting = node
    else:
        Py_XDECREF(node)


cdef void free_waiting() noexcept:
    global waiting, freeing
    cdef PyObject* node
    if FREE_THREADED:
        s0_drop_all(&s0_waiting)
        return
    if freeing:
        return
    freeing = True
    while waiting is not NULL:
        node = waiting
        waiting = (<Node>node).queue
        Py_XDECREF(node)
    freeing = False


cdef void clear(Node node) noexcept:
    """Drop the edges and the saved values of a node."""
    cdef int i, count = node.count, kept = node.kept
    node.count = node.kept = 0
    for i in range(count):
        release_node(node.edges[i].parent)
    for i in range(kept):
        Py_XDECREF(node.saved[i])
    if count > FEW_EDGES:
        PyMem_Free(node.edges)
    if kept > FEW_VALUES:
        PyMem_Free(node.saved)
    free_waiting()


cdef Node new_node(Rules rules):
    """A node without edges."""
    cdef Node node = Node.__new__(Node)
    s0_enable_try_incref(<PyObject*>node)
    node.serial = s0_count_up(made, 1)
    node.rules = rules
    node.tapes = NO_TAPES
    node.edges = node.few_edges
    return node

cdef tuple NO_TAPES = ()


cdef int add_edge(Node node, Node parent, int rule, int position) except -1:
    """Add an edge; the node then also depends on the open tapes of the parent."""
    cdef Edge* edges = node.edges
    cdef int count = node.count
    # Beyond FEW_EDGES the capacity is the next power of two.
    if count >= FEW_EDGES and count & (count - 1) == 0:
        edges = <Edge*>PyMem_Realloc(NULL if count == FEW_EDGES else edges, 2 * count * sizeof(Edge))
        if edges is NULL:
            raise MemoryError("allocate: no memory for the edges of a node")
        if count == FEW_EDGES:
            memcpy(edges, node.edges, count * sizeof(Edge))
        node.edges = edges
    Py_INCREF(parent)
    edges[count].parent, edges[count].rule, edges[count].position = <PyObject*>parent, rule, position
    node.count += 1
    if node.tapes is not parent.tapes:
        node.tapes = united(node.tapes, parent.tapes)
    if node.home is None:
        link_any(node)
    return 0


cdef Node part_node(Node whole, int output):
    """The node of one of several results."""
    cdef Node node = new_node(None)
    node.output = output
    add_edge(node, whole, -1, -1)
    return node


cdef inline bint is_open(Node node) noexcept:
    return is_any_seen(node.tapes)


cdef inline Node node_at(Array x):
    """The node of an array, or None."""
    if not has_node(x):
        return None
    with cython.critical_section(x):
        return <Node>x.node


cdef inline object replaced_node(Array x, Node node):
    """Set the node of an array, in its critical section; returns the previous node, to be freed outside."""
    cdef object before = x.node
    Py_INCREF(node)
    s0_put_node(x, <PyObject*>node)
    Py_DECREF(before)       # the reference of the array
    return before


cdef inline int set_node(Array x, Node node) except -1:
    cdef object before      # freed outside
    with cython.critical_section(x):
        before = replaced_node(x, node)
    return 0


cdef inline Node open_node(Array x):
    """The node of an array if computations with it are recorded, otherwise None."""
    cdef Node node = node_at(x)
    return node if node is not None and is_open(node) else None


# --- Note [Thread of a tape]


cdef int open_tape(State state, str name) except -1:
    """Start recording the computations with arrays that a tape tracks, in this thread."""
    if not state.open:
        use_tape(state, name)
        if state.missed == 0:
            state.missed = state.closed
        state.reopened = clock
        state.open = True
    return 0


cdef int close_tape(State state) noexcept:
    """Stop recording; any thread may do so."""
    cdef bint was_open
    s0_acquire(&listing)
    was_open = state.open
    state.open = False
    if was_open:
        state.closed = clock
    s0_leave(&listing)
    if was_open:
        leave_tape(state)
    return 0


cdef int use_tape(State state, str name) except -1:
    if not claim_tape(state):
        refuse_thread(name)
    return 0


cdef bint claim_tape(State state) noexcept:
    """Make this thread the one that uses a tape; False if another thread uses it."""
    cdef bint free
    s0_acquire(&listing)
    free = state.uses == 0 or s0_is_mine(state.thread)
    if free:
        state.uses += 1
        s0_set_thread(state.thread)
    s0_leave(&listing)
    return free


cdef int leave_tape(State state) noexcept:
    cdef bint dead
    s0_acquire(&listing)
    state.uses -= 1
    dead = state.uses == 0 and not state.alive
    s0_leave(&listing)
    if FREE_THREADED and dead:
        free_graph(state)
    return 0


cdef int refuse_thread(str name) except -1:
    raise GradientError(
        name, "another thread uses the tape", (), "a tape of its own in each thread, or one pass after the other")


cdef int check_thread(Node node, str name) except -1:
    """Refuse to record computations of a thread that does not own the tape."""
    cdef State state
    for state in node.tapes:
        if is_seen(state) and not s0_is_mine(state.thread):
            refuse_thread(name)
    return 0


cdef tuple united(tuple ours, tuple others):
    """All open tapes of two nodes; usually both have the same tuple."""
    cdef Py_ssize_t i
    cdef bint same = len(ours) == 0
    for i in range(len(others)):
        same = same and is_seen(<State>others[i])
    if same:
        return others
    for i in range(len(others)):
        if is_seen(<State>others[i]) and others[i] not in ours:
            ours += (others[i],)
    return ours


cdef bint link(Node node, State home) noexcept:
    """Put a node into the list of a tape; False if the tape has been freed, because its list is no longer used."""
    cdef bint alive
    s0_acquire(&listing)
    alive = home.alive
    if alive:
        node.home = home
        node.before = NULL
        node.next = home.first
        if node.next is not NULL:
            (<Node>node.next).before = <PyObject*>node
        home.first = <PyObject*>node
    s0_leave(&listing)
    return alive


cdef bint link_any(Node node) noexcept:
    """Put a node into the list of one of its tapes; False if all have been freed."""
    cdef Py_ssize_t i
    for i in range(len(node.tapes)):
        if link(node, <State>node.tapes[i]):
            return True
    return False


cdef Node next_listed(State state):
    """Take the next node out of the list of a tape, skipping nodes that another thread is about to free; None at the end."""
    cdef PyObject* first
    cdef Node node = None
    s0_acquire(&listing)
    while node is None and state.first is not NULL:
        first = state.first
        unlist(<Node>first)
        if s0_try_incref(first):
            node = <Node>first
            Py_DECREF(node)
    s0_leave(&listing)
    if node is not None:
        node.home = None
    return node


cdef int free_graph(State state) noexcept:
    """Drop the data that nodes keep for a freed tape. If a thread's pass goes through the nodes, that thread does so afterwards."""
    if claim_tape(state):
        release_nodes(state)
        s0_acquire(&listing)
        state.uses -= 1
        s0_leave(&listing)
    return 0


cdef int release_nodes(State state) except -1:
    """Drop the data that nodes keep for a freed tape. Allocates nothing, because memory may be exhausted."""
    cdef Node node
    while True:
        node = next_listed(state)
        if node is None:
            return 0
        # A pass of another thread may be reading its edges; that thread frees them afterwards.
        if not link_any(node) and not is_visited(node):
            clear(node)
            node.pull = None


cdef inline void describe(Node node, Array x):
    node.code = x.code
    node.ndim = x.ndim
    if x.ndim > FEW_AXES:
        node.shape = shape_tuple(x)
    else:
        memcpy(node.dims, x.shape_, x.ndim * sizeof(Py_ssize_t))


cdef tuple shape_of_node(Node node):
    cdef int axis
    cdef tuple out
    cdef object size
    if node.ndim > FEW_AXES:
        return node.shape
    out = PyTuple_New(node.ndim)
    for axis in range(node.ndim):
        size = node.dims[axis]
        Py_INCREF(size)
        PyTuple_SET_ITEM(out, axis, size)
    return out


cdef inline bint has_shape(Node node, Array x):
    if x.ndim != node.ndim:
        return False
    if x.ndim > FEW_AXES:
        return shape_tuple(x) == node.shape
    return memcmp(x.shape_, node.dims, x.ndim * sizeof(Py_ssize_t)) == 0
