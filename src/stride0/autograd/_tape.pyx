# cython: language_level=3, wraparound=False, initializedcheck=False
"""The tape: what was computed from watched arrays, and the way back.

Note [Graph of nodes]
    The tape is no list. Each array that was computed from watched arrays holds a node, and a node holds those of
    its operands and the values that its rules need. What no result leads to any more is freed at once, by
    reference counts alone: a node never holds the array that it belongs to (a result that a rule needs is saved
    without its node, which is put back when it is loaded). When a tape is gone, nobody can ask for gradients any
    more, and the nodes that are left, of results that somebody keeps, drop what they hold: each tape has a linked
    list of its nodes, without references.

Note [Whose derivative]
    Every `grad` and every `Tape` watches new leaves, so nested ones never mix their perturbations up. A node knows
    the open tapes that it depends on. While tape T is differentiated, saved values are
    handed to the rules with their nodes only if a tape other than T, or T itself still open, could differentiate
    what the rules compute; else without, and the backward pass records nothing.

Note [Overwritten values]
    Writes to tracked storages are logged with their region and the line of the caller's code. An array, and a saved
    value, knows up to which write it is current. A later write to elements that it shares makes it stale:
    using it raises. Nothing is compared but regions, and those exactly.
"""

cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uintptr_t

from stride0._core.array cimport (
    Array,
    Tracer,
    alias,
    bare,
    binary_raw,
    dot_into,
    masked_product,
    rejoined,
    set_tracer,
    shape_tuple,
    step_inside,
    step_outside,
    sum_into,
    unary_raw,
)
from stride0._core.dtype cimport COMPLEX64, FLOAT32, dtype_at
from stride0._core.storage cimport Storage

import inspect
import operator

from stride0 import _optable
from stride0._core.array import add, asarray, frame_of_caller, is_writable, multiply_masked, real, shares_storage, zeros
from stride0._errors import ArgumentTypeError, GradientError

cdef int64_t clock = 0        # writes to tracked storages so far
cdef int64_t made = 0         # nodes and tapes so far
cdef Py_ssize_t live_tapes = 0

cdef object MISSING = object()


@cython.final
@cython.no_gc
cdef class State:
    """What nodes know of a tape: it outlives the tape where a caller keeps an array with a node."""

    cdef int64_t serial
    cdef bint open
    cdef bint alive            # whether the tape is still there, to be asked for gradients
    cdef PyObject* first       # its list of nodes; Note [Graph of nodes]


cdef class Tape:
    """What a context of differentiation is known by; `autograd.Tape` is the public form."""

    cdef State state

    def __cinit__(self, *args, **kwargs):
        global made, live_tapes
        made += 1
        live_tapes += 1
        self.state = State.__new__(State)
        self.state.serial = made
        self.state.alive = True

    def __dealloc__(self):
        global live_tapes
        live_tapes -= 1
        self.state.open = self.state.alive = False
        forget(self.state)

    @property
    def open(self):
        """Whether what is computed from watched arrays is recorded."""
        return self.state.open

    def start(self):
        """Let what is computed from watched arrays be recorded."""
        self.state.open = True

    def stop(self):
        """End recording; gradients can be taken further on."""
        self.state.open = False


cdef int forget(State state) except -1:
    """Drop what nodes keep for the gradients of a tape that nobody can ask any more."""
    cdef Node node
    cdef State other
    cdef list dead = []
    while state.first is not NULL:
        node = <Node>state.first
        state.first = node.next
        if node.next is not NULL:
            (<Node>node.next).before = NULL
        node.next, node.home = NULL, None
        for other in node.tapes:
            if other.alive:
                enlist(node, other)
                break
        else:
            dead.append(node)
    for node in dead:
        node.parents, node.edges = [], []
        node.saved = node.pull = None
    return 0


@cython.final
cdef class Rules:
    """The gradient rules of one function, and how its arguments are called."""

    cdef str name
    cdef object function
    cdef tuple parameters
    cdef int variadic          # index of the parameter that takes all other arguments, or -1
    cdef tuple defaults
    cdef dict index
    cdef tuple at              # indices of the parameters that have rules
    cdef tuple ruled           # whether a parameter may be watched
    cdef tuple rules
    cdef tuple wanted          # for each rule the indices of its needs
    cdef tuple needs           # pairs: what, of which parameter
    cdef int what[16]          # the same in C
    cdef int subject[16]
    cdef int count[16]         # `wanted` in C
    cdef int numbers[16][8]
    cdef str refused           # why an operand must not be watched; None where it may

    def __cinit__(self, str name, function, dict rules, str refused):
        cdef list needs = []
        self.name, self.function, self.refused = name, function, refused
        found = list(inspect.signature(function).parameters.values()) if name not in OPERATORS else OPERATORS[name]
        self.parameters = tuple([p.name for p in found])
        self.variadic = -1
        for i, p in enumerate(found):
            if p.kind is p.VAR_POSITIONAL:
                self.variadic = i
        self.defaults = tuple([() if p.kind is p.VAR_POSITIONAL else MISSING if p.default is p.empty else p.default for p in found])
        self.index = {key: i for i, key in enumerate(self.parameters)}
        # None in the place of a rule: the argument may be watched, and has no influence.
        constant = {self.index[key] for key, rule in rules.items() if rule is None}
        rules = {key: rule for key, rule in rules.items() if rule is not None}
        self.at = tuple([self.index[key] for key in rules])
        self.rules = tuple(rules.values())
        self.ruled = tuple([i in self.at or i in constant for i in range(len(self.parameters))])
        wanted = []
        for rule in self.rules:
            names = rule.__code__.co_varnames[1:rule.__code__.co_argcount]
            wanted.append(tuple([self.need(needs, key) for key in names]))
        self.wanted, self.needs = tuple(wanted), tuple(needs)
        for i, (what, subject) in enumerate(needs):
            self.what[i], self.subject[i] = what, subject
        for i, each in enumerate(wanted):
            self.count[i] = len(each)
            for k, number in enumerate(each):
                self.numbers[i][k] = number

    cdef int need(self, list needs, str key) except -1:
        """The number of a value that a rule names."""
        what, subject = VALUE, key
        if key not in self.index and key.endswith("_shape"):
            what, subject = SHAPE, key[:-6]
        elif key not in self.index and key.endswith("_dtype"):
            what, subject = DTYPE, key[:-6]
        if subject != "out" and subject not in self.index:
            raise ValueError(f"a gradient rule of {self.name} asks for {key}, which is none of its parameters")
        pair = (what, -1 if subject == "out" else self.index[subject])
        if pair not in needs:
            needs.append(pair)
        return needs.index(pair)

    cdef list bind(self, tuple args, dict kwargs):
        """The value of each parameter in a call that the function has accepted."""
        cdef Py_ssize_t n = len(args)
        cdef list values
        if self.variadic < 0 and n == len(self.parameters):
            return list(args)
        if self.variadic >= 0:
            values = list(args[:self.variadic]) + [args[self.variadic:]] + list(self.defaults[self.variadic + 1:])
        else:
            values = list(args) + list(self.defaults[n:])
        if kwargs:
            for key, value in kwargs.items():
                values[self.index[key]] = value
        return values


cdef enum:
    VALUE = 0
    SHAPE = 1
    DTYPE = 2

cdef object parameter(str name):
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY)

# Functions without a signature of their own, by the names that the core calls them.
cdef dict OPERATORS = {
    "getitem": [parameter("x"), parameter("key")],
    "setitem": [parameter("x"), parameter("key"), parameter("value")],
    "watch": [parameter("x")],
}

# Not Python's operators, which would ask the other operand next.
cdef dict IN_PLACE = {
    "add": Array.__iadd__, "subtract": Array.__isub__, "multiply": Array.__imul__, "divide": Array.__itruediv__,
    "floor_divide": Array.__ifloordiv__, "remainder": Array.__imod__, "pow": Array.__ipow__, "matmul": Array.__imatmul__,
    "bitwise_and": Array.__iand__, "bitwise_or": Array.__ior__, "bitwise_xor": Array.__ixor__,
    "bitwise_left_shift": Array.__ilshift__, "bitwise_right_shift": Array.__irshift__,
}

cdef dict TABLE = {}
# The same by number, for the operations of the table.
cdef list OPERATIONS = [None] * len(_optable.OPS)
cdef dict NUMBERS = {op.name: number for number, op in enumerate(_optable.OPS)}


def define(str name, function, dict rules, refused=None):
    """
    Tell the tape about a function.

    Parameters
    ----------
    name : str
        As the core hands it over: ``"sum"``, ``"linalg.inv"``, ``"getitem"``.
    function : callable
        Called with operands that are not tracked.
    rules : dict
        Parameter name to gradient rule; empty where the result is constant.
    refused : str, optional
        Why a watched operand is refused.
    """
    TABLE[name] = Rules(name, function, rules, refused)
    if name in NUMBERS:
        OPERATIONS[NUMBERS[name]] = TABLE[name]


# --- nodes

cdef enum:
    FEW = 6


@cython.final
@cython.no_gc
@cython.freelist(64)
cdef class Node:
    """Where an array came from; Note [Graph of nodes]."""

    cdef Rules rules
    cdef int64_t serial
    cdef tuple tapes           # states of the tapes that it depends on, shared with its parents where it can be
    cdef State home            # in whose list it is
    cdef PyObject* next        # its neighbours there
    cdef PyObject* before
    cdef list parents          # a node per edge
    cdef list edges            # of which rule, or (rule, position) for an array in a sequence
    cdef list saved            # in the order of rules.needs
    cdef object pull           # instead of rules: from a cotangent to those of the parents
    cdef int code              # dtype and shape of the array that it belongs to
    cdef int ndim
    cdef Py_ssize_t dims[FEW]
    cdef tuple shape           # where it has more than FEW axes
    cdef int outputs           # of a function with several results, else 0
    cdef int output            # which of them this node stands for: its only parent has them all

    def __dealloc__(self):
        if self.before is not NULL:
            (<Node>self.before).next = self.next
        elif self.home is not None and self.home.first == <PyObject*>self:
            self.home.first = self.next
        if self.next is not NULL:
            (<Node>self.next).before = self.before


cdef inline bint is_open(Node node) noexcept:
    cdef Py_ssize_t i
    for i in range(len(node.tapes)):
        if (<State>node.tapes[i]).open:
            return True
    return False


@cython.final
@cython.no_gc
@cython.freelist(64)
cdef class Saved:
    """A value that a rule needs: memory without history, and what is needed to attach and to check it."""

    cdef Array plain
    cdef Storage storage
    cdef Node node
    cdef int64_t seen
    cdef int result            # 0 an operand, 1 the result, 2 and up: one of several results


cdef Node new_node(Rules rules, list parents, State tape=None):
    """A node that depends on what its parents depend on, as far as tapes are open, and on `tape`."""
    global made
    cdef Node node = Node.__new__(Node)
    cdef tuple tapes = () if tape is None else (tape,)
    cdef Py_ssize_t i
    made += 1
    node.serial = made
    node.rules = rules
    node.parents = parents
    for i in range(len(parents)):
        tapes = united(tapes, (<Node>parents[i]).tapes)
    node.tapes = tapes
    if tapes:
        enlist(node, <State>tapes[0])
    return node


cdef tuple united(tuple ours, tuple others):
    """All open tapes of two nodes; nearly always the one tuple that both have."""
    cdef Py_ssize_t i
    cdef bint same = len(ours) == 0
    if ours is others:
        return ours
    for i in range(len(others)):
        same = same and (<State>others[i]).open
    if same:
        return others
    for i in range(len(others)):
        if (<State>others[i]).open and others[i] not in ours:
            ours += (others[i],)
    return ours


cdef void enlist(Node node, State home) noexcept:
    """Put a node into the list of a tape."""
    node.home = home
    node.before = NULL
    node.next = home.first
    if node.next is not NULL:
        (<Node>node.next).before = <PyObject*>node
    home.first = <PyObject*>node


cdef inline bint is_floating(Array x) noexcept:
    return x.code >= FLOAT32


def watch(Array x not None, Tape tape not None):
    """A view of x that the tape follows."""
    cdef Array y
    cdef Node parent, node
    if not is_floating(x):
        raise ArgumentTypeError("watch", f"an array of dtype {x.dtype.name} has no derivative", (), "an array of a floating-point dtype")
    parent = None if x.storage.history is None else enter(x, "watch", None)
    node = new_node(TABLE["watch"], [] if parent is None else [parent], tape.state)
    node.edges = [] if parent is None else [0]
    node.saved = []
    y = alias(x)
    attach(y, node)
    return y


def watch_all(str operation, list leaves, Tape tape not None):
    """
    Watch the leaves of an argument.

    Returns
    -------
    arrays, watched, nodes : lists
        The leaves as arrays, views of them that the tape follows, and the nodes of those.
    """
    cdef list arrays = [], watched = [], nodes = []
    cdef Array y
    for x in leaves:
        if type(x) is not Array:
            if not isinstance(x, (float, complex)):
                raise ArgumentTypeError(operation, f"an argument of type {type(x).__name__} has no derivative", (), ACCEPTED)
            x = asarray(x)
        elif not is_floating(<Array>x):
            raise ArgumentTypeError(operation, f"an array of dtype {x.dtype.name} has no derivative", (), ACCEPTED)
        y = watch(<Array>x, tape)
        arrays.append(x)
        watched.append(y)
        nodes.append(y.node)
    return arrays, watched, nodes

cdef str ACCEPTED = "arrays of a floating-point dtype, or nested tuples, lists and dicts of them; argnums names those to differentiate by"


cdef int attach(Array x, Node node) except -1:
    """Make x an array that a gradient flows through."""
    if x.storage.history is None:
        x.storage.history = CLEAN
    describe(node, x)
    x.node = node
    x.seen = clock
    return 0


cdef inline void describe(Node node, Array x):
    cdef int axis
    node.code = x.code
    node.ndim = x.ndim
    if x.ndim > FEW:
        node.shape = shape_tuple(x)
        return
    for axis in range(x.ndim):
        node.dims[axis] = x.shape_[axis]


cdef tuple shape_of_node(Node node):
    cdef int axis
    return node.shape if node.ndim > FEW else tuple([node.dims[axis] for axis in range(node.ndim)])


cdef inline bint has_shape(Node node, Array x):
    cdef int axis
    if x.ndim != node.ndim:
        return False
    if x.ndim > FEW:
        return shape_tuple(x) == node.shape
    for axis in range(x.ndim):
        if x.shape_[axis] != node.dims[axis]:
            return False
    return True


def detach(Array x not None):
    """A view of x through which no gradient flows."""
    cdef Array y
    if x.storage.history is not None:
        enter(x, "stop_gradient", None)
    y = alias(x)
    y.node = None
    y.seen = clock
    return y


def outside(x):
    """A result without what only tapes that have ended know of it."""
    return x if type(x) is not Array or (<Array>x).node is None or is_open(<Node>(<Array>x).node) else detach(<Array>x)


def is_watched(Array x not None):
    """Whether what is computed from x is recorded."""
    return x.node is not None and is_open(<Node>x.node)


def node_of(x):
    """The node of an array, or None: what gradients are taken with respect to."""
    return (<Array>x).node if type(x) is Array else None


# --- writes; Note [Overwritten values]


@cython.final
cdef class Write:
    cdef int64_t time
    cdef uintptr_t data
    cdef tuple shape, strides, key
    cdef Py_ssize_t itemsize
    cdef str where
    cdef tuple tapes           # of the written value, where that is watched


@cython.final
cdef class History:
    cdef list writes
    cdef int64_t last

    def __cinit__(self):
        self.writes = []

cdef History CLEAN = History()


cdef tuple byte_strides(Array x):
    cdef int axis
    return tuple([x.strides_[axis] for axis in range(x.ndim)])


cdef str line_of_caller():
    frame = frame_of_caller()
    return "an unknown line" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


cdef int log_write(Array x, Array region, tuple key, Node node) except -1:
    """Note that elements of x were overwritten: those of `region`, of those the ones that `key` names."""
    global clock
    cdef History history = x.storage.history
    cdef Write write = Write(), old
    clock += 1
    if history is None or history is CLEAN:
        history = x.storage.history = History()
    write.time = history.last = x.seen = clock
    write.data, write.itemsize = <uintptr_t>region.data, region.dtype.itemsize
    write.shape, write.strides, write.key = shape_tuple(region), byte_strides(region), key
    write.where = line_of_caller()
    write.tapes = () if node is None else node.tapes
    if key is None:
        # A region that is written again and again is one entry.
        history.writes = [old for old in history.writes if not is_region(old, region)]
    history.writes.append(write)
    return 0


cdef bint is_region(Write write, Array x):
    return write.key is None and write.data == <uintptr_t>x.data and write.itemsize == x.dtype.itemsize and write.shape == shape_tuple(x) and write.strides == byte_strides(x)


cdef bint touches(Write write, Array x) except -1:
    """Whether a write went to elements of x."""
    import numpy

    if x.size == 0:
        return False
    mine = granules(numpy, <uintptr_t>x.data, shape_tuple(x), byte_strides(x), x.dtype.itemsize, None)
    theirs = granules(numpy, write.data, write.shape, write.strides, write.itemsize, write.key)
    if theirs.size == 0 or mine.max() < theirs.min() or theirs.max() < mine.min():
        return False
    return bool(numpy.isin(mine, theirs).any())


cdef object granules(object numpy, uintptr_t data, tuple shape, tuple strides, Py_ssize_t itemsize, tuple key):
    """Addresses of all elements, in pieces of four bytes: the smallest component of a floating-point number."""
    cdef object found = numpy.asarray(<int64_t>data, dtype=numpy.int64)
    cdef Py_ssize_t axis, ndim = len(shape)
    for axis in range(ndim):
        steps = numpy.arange(shape[axis], dtype=numpy.int64) * strides[axis]
        found = found + steps.reshape([-1 if k == axis else 1 for k in range(ndim)])
    found = numpy.broadcast_to(found, shape)
    if key is not None:
        found = found[tuple([numpy.asarray(item) if type(item) is Array else item for item in key])]
    return (found.reshape(-1, 1) + numpy.arange(0, itemsize, 4)).reshape(-1)


cdef Node enter(Array x, str name, Array overwritten):
    """
    The node of an operand whose storage is tracked, None where no gradient flows through it.

    Raises where the array is stale; writes to exactly the region `overwritten` are no matter.
    """
    cdef Node node = None
    cdef History history = <History>x.storage.history
    cdef Write write
    if live_tapes == 0:
        # Nobody can ask for a gradient any more.
        x.storage.history = x.node = None
        return None
    if x.node is not None and is_open(<Node>x.node):
        node = <Node>x.node
    if history.last > x.seen:
        for write in history.writes:
            if write.time <= x.seen or (node is None and not any([(<State>tape).open for tape in write.tapes])):
                continue
            if overwritten is not None and is_region(write, overwritten):
                continue
            if touches(write, x):
                raise GradientError(
                    name, "the array was overwritten through another one that shares its memory, and its gradient is not known",
                    (("shape", f"{shape_tuple(x)}"), ("written at", write.where)),
                    "write through the array itself, x[key] = value, or take the view after the write")
        x.seen = history.last
    return node


# --- forward


cdef object stripped(object value, str name, list nodes):
    """An argument as the function may see it; nodes of watched arrays are appended."""
    cdef Node node
    if type(value) is Array:
        if (<Array>value).storage.history is None:
            return value
        node = enter(<Array>value, name, None)
        if node is not None:
            nodes.append(node)
        return value if (<Array>value).storage.history is None else bare(<Array>value)
    if type(value) is tuple or type(value) is list:
        for item in value:
            if type(item) is Array and (<Array>item).storage.history is not None:
                return type(value)([stripped(item, name, nodes) for item in value])
    return value


cdef object run_unary(int op, Array x, str name):
    cdef Node parent = enter(x, name, None), node
    cdef Array out = unary_raw(op, x, name)
    cdef Rules rules = <Rules>OPERATIONS[op]
    if parent is None:
        return out
    if rules is None or rules.refused is not None or not rules.rules:
        return unfollowed(rules, name, out)
    if is_floating(out):
        node = new_node(rules, [parent])
        node.edges = FIRST
        node.saved = kept(rules, node, (x,), (x,), out)
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
        return unfollowed(rules, name, out)
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
        # Those of further parameters are their defaults.
        operands = (x1, x2) if len(rules.parameters) == 2 else (x1, x2, *rules.defaults[2:])
        node.saved = kept(rules, node, operands, operands, out)
        attach(out, node)
    return out


cdef object unfollowed(Rules rules, str name, Array out):
    """The result of an operation of a watched operand that has no rules."""
    if rules is None:
        rules_of(name)
    if rules.refused is not None:
        raise GradientError(name, f"a watched array is not allowed: {rules.refused}", (), "stop_gradient(x), where no gradient is meant to flow")
    return out


cdef list FIRST = [0]


cdef Rules rules_of(str name):
    found = TABLE.get(name)
    if found is None:
        raise GradientError(name, "there is no gradient rule", (), "stop_gradient(x), where no gradient is meant to flow")
    return <Rules>found


cdef object record_call(str name, tuple args, dict kwargs):
    """Run a function of the namespace some of whose operands are tracked, and record it."""
    cdef Rules rules = rules_of(name)
    cdef list nodes = []
    cdef tuple plain
    cdef dict more = None
    cdef Py_ssize_t i
    if len(args) == 1:
        plain = (stripped(args[0], name, nodes),)
    else:
        plain = tuple([stripped(value, name, nodes) for value in args])
    if kwargs:
        more = {key: stripped(value, name, nodes) for key, value in kwargs.items()}
    token = step_inside()
    try:
        if more is not None:
            out = rules.function(*plain, **more)
        elif len(plain) == 1:
            out = rules.function(plain[0])
        else:
            out = rules.function(*plain)
    finally:
        step_outside(token)
    if type(out) is Array:
        for i in range(len(plain)):
            if out is plain[i]:
                return args[i]
        rejoined(<Array>out)
        (<Array>out).seen = clock
    elif isinstance(out, (tuple, list)):
        for item in out:
            if type(item) is Array:
                rejoined(<Array>item)
                (<Array>item).seen = clock
    if name == "strided.as_strided" and type(args[0]) is Array:
        check_beyond(<Array>args[0], <Array>out)
    if not nodes:
        return out
    if rules.refused is not None:
        raise GradientError(name, f"a watched array is not allowed: {rules.refused}", (), "stop_gradient(x), where no gradient is meant to flow")
    if rules.rules:
        if name == "getitem":
            # The caller may change the key before the backward pass.
            key = settled(args[1])[0]
            record(rules, [args[0], key], [plain[0], key], out)
        else:
            record(rules, rules.bind(args, kwargs), rules.bind(plain, more), out)
    return out


cdef int check_beyond(Array x, Array out) except -1:
    """Refuse to look at elements that x does not have, and that were written with watched values."""
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
    """Give the result of a call, or each of its results, its node."""
    cdef Node node = joined(rules, values), part
    cdef int i
    for i in range(len(values)):
        if type(values[i]) is Array and not rules.ruled[i] and is_watched(values[i]):
            name = rules.parameters[i]
            raise GradientError(rules.name, f"{name} has no gradient", (), f"stop_gradient({name}), where none is meant to flow")
    if node is None:
        return 0
    node.saved = kept(rules, node, values, plain, out)
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


cdef Node joined(Rules rules, list values):
    """A node with an edge for each watched operand that has a rule; None where there is none."""
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


cdef list kept(Rules rules, Node node, object values, object plain, object out):
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
                saved[number] = keep(value, out if subject < 0 else plain[subject], subject < 0)
            elif what == SHAPE:
                saved[number] = [shape_of(item) for item in value] if isinstance(value, (tuple, list)) else shape_of(value)
            else:
                saved[number] = [dtype_of(item) for item in value] if isinstance(value, (tuple, list)) else dtype_of(value)
    return saved


cdef object shape_of(object x):
    return shape_tuple(<Array>x) if type(x) is Array else ()


cdef object dtype_of(object x):
    return (<Array>x).dtype if type(x) is Array else None


cdef object keep(object value, object plain, int result):
    """A value as it is saved: arrays with what it takes to attach and to check them."""
    cdef Saved saved
    cdef Array x
    if type(value) is Array:
        x = <Array>value
        saved = Saved.__new__(Saved)
        saved.plain = <Array>plain if plain is not value else bare(x)
        saved.result = result
        # What a rule was handed lies under a bare storage, which sees no writes.
        saved.storage = <Storage>x.storage.owner if type(x.storage.owner) is Storage else x.storage
        if not result and x.node is not None and is_open(<Node>x.node):
            saved.node = <Node>x.node
        if saved.storage.history is None:
            saved.storage.history = CLEAN
            x.seen = clock
        saved.seen = clock
        return saved
    if isinstance(value, (tuple, list)) and any([type(item) is Array for item in value]):
        return tuple([keep(item, part, result + i if result else 0) for i, (item, part) in enumerate(zip(value, plain))])
    # The caller may change a list before the backward pass.
    return list(value) if type(value) is list else value


# --- in place


cdef object write_all(str name, Array x, object other):
    """Run an in-place operation one of whose operands is tracked, and record it."""
    cdef Rules rules = rules_of(name)
    cdef list nodes = [], values = rules.bind((x, other), None), plain
    cdef Node node
    if x.storage.history is not None:
        node = enter(x, name, None)
        if node is not None:
            nodes.append(node)
    plain = rules.bind((bare(x), stripped(other, name, nodes)), None)
    if nodes and rules.refused is not None:
        raise GradientError(name, f"a watched array is not allowed: {rules.refused}")
    target, operand = plain[0], plain[1]
    if nodes:
        snapshot(rules, values, plain)
    if IN_PLACE[name](target, operand) is NotImplemented:
        return NotImplemented
    finish_write(rules, x, values, plain, target, None)
    return x


cdef int snapshot(Rules rules, list values, list plain) except -1:
    """Copy what is about to be overwritten where a rule that is going to be recorded needs it."""
    cdef Node node = joined(rules, values)
    cdef Array before, old
    cdef int i
    cdef bint shared = type(values[1]) is Array and shares_storage(values[0], values[1])
    if node is None:
        return 0
    for i in range(2):
        if i == 1 and not shared:
            continue
        if not any([rules.needs[number] == (VALUE, i) for r in node.edges for number in <tuple>rules.wanted[r]]):
            continue
        before = asarray(bare(<Array>values[i]), copy=True)
        old = alias(before)
        old.storage = before.storage
        before = bare(old)
        old.storage.history = CLEAN
        old.node, old.seen = (<Array>values[i]).node, clock
        values[i], plain[i] = old, before
    return 0


cdef int finish_write(Rules rules, Array x, list values, list plain, Array region, tuple key) except -1:
    """Record a write that has been made: the node of its result becomes that of x."""
    cdef Node node = joined(rules, values) if is_floating(x) else None
    log_write(x, region, key, node)
    if node is not None:
        node.saved = kept(rules, node, values, plain, x)
    x.node = None
    if node is not None:
        attach(x, node)
    return 0


cdef tuple settled(object key):
    """A key as a tuple that nobody can change any more; None in place of one of integers, slices, `...` and None."""
    cdef bint plain = True
    cdef list items = []
    for item in key if type(key) is tuple else (key,):
        if isinstance(item, slice):
            items.append(slice(*[None if part is None else operator.index(part) for part in (item.start, item.stop, item.step)]))
            continue
        if type(item) is int or item is None or item is Ellipsis:
            items.append(item)
            continue
        if not isinstance(item, bool) and hasattr(type(item), "__index__") and not hasattr(type(item), "__len__"):
            try:
                items.append(operator.index(item))
                continue
            except TypeError:
                pass  # NumPy's bool scalars
        plain = False
        if isinstance(item, (list, tuple)) and not len(item):
            items.append(asarray(item, dtype=INT64))
        elif type(item) is Array:
            items.append(asarray(item if (<Array>item).storage.history is None else bare(<Array>item), copy=True))
        elif isinstance(item, bool):
            items.append(item)
        else:
            items.append(asarray(item, copy=True))
    return tuple(items), plain

cdef object INT64 = asarray(0).dtype


cdef object write_item(Array x, object key, object value):
    """Run an assignment one of whose operands is tracked, and record it."""
    cdef Rules rules = rules_of("setitem")
    cdef list nodes = []
    cdef Array plain, region
    items, is_view = settled(key)
    seen = x.seen
    plain = bare(x)
    region = plain[items] if is_view else plain
    if x.storage.history is not None:
        node = enter(x, "setitem", region if is_view else None)
        if node is not None:
            nodes.append(node)
    try:
        given = stripped(value, "setitem", nodes)
        plain[items] = given
    except BaseException:
        # Nothing was overwritten: what made the array stale still does.
        x.seen = seen
        raise
    finish_write(rules, x, [x, items, value], [plain, items, given], region, None if is_view else items)


# --- backward


@cython.final
@cython.no_gc
@cython.freelist(16)
cdef class Product:
    """
    A product of a cotangent and a factor that nobody has computed yet.

    The engine sums it into the shape of the operand that it belongs to, in the same pass.
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
                raise GradientError(
                    name, "a value that its gradient needs has been overwritten",
                    (("saved by", name), ("shape", f"{shape_tuple(saved.plain)}"), ("written at", write.where)),
                    "a copy of the value, made before it is overwritten: asarray(x, copy=True)")
    return 0


cdef object load(object item, Rules rules, Node node, State tape):
    """A saved value, with its node where what is computed from it may be differentiated."""
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
        if source is None or not is_floating(saved.plain) or not wanted(source, tape):
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
    if type(item) is tuple and any([type(part) is Saved for part in item]):
        return tuple([load(part, rules, node, tape) for part in item])
    return item


cdef bint wanted(Node node, State tape) noexcept:
    """Note [Whose derivative]"""
    cdef Py_ssize_t i
    for i in range(len(node.tapes)):
        if (<State>node.tapes[i]).open:
            return True
    return False


cdef Array fitted(object g, Node node):
    """A cotangent in the shape and the dtype of the array that it belongs to."""
    cdef Array x, factor
    if type(g) is Product:
        x = <Array?>(<Product>g).g
        if type((<Product>g).d) is Array:
            factor = <Array>(<Product>g).d
            if has_shape(node, x) and has_shape(node, factor):
                x = masked_product(x, factor)
            elif x.storage.history is None and factor.storage.history is None:
                x = dot_into(x, factor, shape_of_node(node))
            else:
                x = record_call("dot_into", (x, factor, shape_of_node(node)), None)
        else:
            x = multiply_masked(summed(x, node), (<Product>g).d)
    elif type(g) is Array:
        x = summed(<Array>g, node)
    else:
        raise GradientError("backward", f"internal error: a rule returned {type(g).__name__}")
    if x.code != node.code:
        if x.code >= COMPLEX64 and node.code < COMPLEX64:
            x = real(x)
        x = asarray(x, dtype=dtype_at(node.code))
    return x


cdef Array summed(Array x, Node node):
    """What undoes a broadcast: x summed into the shape of the array that a node belongs to."""
    if has_shape(node, x):
        return x
    return sum_into(x, shape_of_node(node)) if x.storage.history is None else record_call("sum_into", (x, shape_of_node(node)), None)


cdef list pulled(Node node, object g, State tape):
    """The cotangents of the parents, in their order."""
    cdef Rules rules = node.rules
    cdef list out = [], loaded
    cdef dict found
    cdef int position
    if node.pull is not None:
        # What a caller's function returns may be memory that the caller keeps.
        return [bare(<Array>x) if type(x) is Array and (<Array>x).storage.history is None else x for x in node.pull(g)]
    if rules is None:
        # One of several results: what it has goes to their common node.
        return [g]
    loaded = [None] * len(node.saved)
    found = None
    for edge in node.edges:
        if type(edge) is int:
            out.append(ruled(rules, edge, node, g, loaded, tape))
            continue
        # A rule of a sequence gives the cotangents of all arrays in it at once.
        if found is None:
            found = {}
        if edge[0] not in found:
            found[edge[0]] = ruled(rules, edge[0], node, g, loaded, tape)
        part = found[edge[0]]
        out.append(None if part is None else part[edge[1]])
    return out


cdef object ruled(Rules rules, int r, Node node, object g, list loaded, State tape):
    """What a rule gives."""
    cdef int i, number, count = rules.count[r]
    cdef int* wanted = rules.numbers[r]
    for i in range(count):
        number = wanted[i]
        if loaded[number] is None:
            loaded[number] = load(node.saved[number], rules, node, tape)
    if count == 0:
        return rules.rules[r](g)
    if count == 1:
        return rules.rules[r](g, loaded[wanted[0]])
    if count == 2:
        return rules.rules[r](g, loaded[wanted[0]], loaded[wanted[1]])
    return rules.rules[r](g, *[loaded[wanted[i]] for i in range(count)])


cdef list reachable(list roots, dict ends, dict places):
    """
    The nodes on ways from the roots to the targets, each after its parents.

    `places` gets where in that list a node is, -1 for nodes that lead to no target.
    """
    cdef list stack = [node for node in roots if node is not None], order = []
    cdef Node node, parent
    cdef int64_t oldest = made
    cdef bint ready, useful
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
    return order


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
        Whether cotangents flow on from one target to others that it was computed from.

    Returns
    -------
    list of Array or None
        One for each target; None where no result depends on it.
    """
    # What rules broadcast is no business of the caller's.
    token = step_inside()
    try:
        return pulled_back(roots, cotangents, targets, tape, beyond)
    finally:
        step_outside(token)


cdef list pulled_back(list roots, list cotangents, list targets, Tape tape, bint beyond):
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
        # What is behind is not needed any more, and may be large.
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
        results = pulled(node, g if node.outputs == 0 else tuple(g), tape.state)
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


def handed_out(list grads, list arrays, cotangents):
    """
    Gradients as a caller may keep and change them: memory of their own, each its own; zeros for None.

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
            out.append(zeros(shape_tuple(like), dtype_at(like.code)))
            continue
        x = <Array>g
        if type(x.storage.owner) is Storage or id(x.storage) in taken or not is_writable(x):
            x = asarray(x, copy=True)
        taken.add(id(x.storage))
        out.append(x)
    return out


def held(x):
    """A value, for a later use as it is now; what is no array as it is."""
    return keep(x, x, 0) if type(x) is Array else x


def recalled(x, str name):
    """What was held, with its node; GradientError where it has been overwritten."""
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
        New arrays, which are not watched.
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
    """The nodes older than a tape that results lead to: what a function took from outside of its arguments."""
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
    Let what is computed from arrays with these nodes be recorded once more.

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
    """End what `reopen` began."""
    cdef State state
    for state in states:
        state.open = False


cdef class TapeTracer(Tracer):
    """What the core calls where an operand is tracked."""

    cdef object unary(self, int op, Array x, str name):
        return run_unary(op, x, name)

    cdef object binary(self, int op, object x1, object x2, str name):
        return run_binary(op, x1, x2, name)

    cdef object call(self, str name, tuple args, dict kwargs):
        return record_call(name, args, kwargs)

    cdef object in_place(self, str name, Array x, object other):
        return write_all(name, x, other)

    cdef object set_item(self, Array x, object key, object value):
        return write_item(x, key, value)

    cdef bint watched(self, Array x) except -1:
        return x.node is not None and is_open(<Node>x.node)


set_tracer(TapeTracer())
