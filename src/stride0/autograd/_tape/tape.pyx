# cython: language_level=3, wraparound=False, initializedcheck=False
"""The tape: recording of what is computed from tracked arrays, and the backward pass.

One compiled module, read in this order: this file (tapes, rules, nodes), `writes.pxi`, `recording.pxi`,
`backward.pxi`.

Note [Graph of nodes]
    The tape is not a list of operations. Each tracked array holds a node; a node holds the nodes of its operands
    and the values that its rules need. Nodes that no result leads to are freed at once, by reference counts alone:
    a node never holds its own array (a result that a rule needs is saved without its node, which is attached again
    when the value is loaded). When a tape is freed, the nodes of results that still exist drop what they hold: each
    tape has a linked list of its nodes, without references.

Note [Whose derivative]
    Every `grad` and every `Tape` tracks new leaves, so nested derivatives cannot be confused. A node knows the open
    tapes that it depends on. In the backward pass of tape T, a rule gets a saved value with its node only if an open
    tape (T included) could differentiate what the rule computes; otherwise without, and nothing is recorded.

Note [Overwritten values]
    Writes to logged storages are logged with their region and the line of the caller's code. An array, and a saved
    value, has the number of the last write that it has seen. A later write to elements that it shares makes it
    stale: using it raises. Regions are compared exactly.
"""

cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF
from libc.stdint cimport int64_t, uintptr_t

from stride0._core.array.array cimport (
    Array, Tracer, alias, data_of, restore_storage, set_tracer, shape_tuple, without_history,
)
from stride0._core.array.switches cimport enter_package, guarding, leave_package
from stride0._core.calls.primitive cimport Primitive
from stride0._core.ops.adjoint cimport dot_into, sum_into
from stride0._core.ops.elementwise cimport binary_raw, masked_product, unary_raw
from stride0._core.memory.dtype cimport dtype_at, itemsize_at, letter_at
from stride0._core.memory.storage cimport Storage

import inspect
import operator

from stride0._tables import operations
from stride0._core.array.array import zeros
from stride0._core.array.switches import frame_of_caller
from stride0._core.array.views import is_writable, shares_storage
from stride0._core.exchange.convert import asarray
from stride0._core.ops.elementwise import multiply_masked
from stride0._core.ops.functions import add, real
from stride0._base.errors import ArgumentTypeError, GradientError, ShapeError
from stride0.autograd._tape.trees import flatten, tree_map

cdef extern from *:
    """
    #define s0_tuple_items(tuple) (((PyTupleObject *)(tuple))->ob_item)
    """
    PyObject** s0_tuple_items(tuple items) noexcept

cdef int64_t clock = 0        # writes to logged storages so far
cdef int64_t made = 0         # nodes and tapes so far
cdef Py_ssize_t live_tapes = 0

cdef object MISSING = object()


@cython.final
@cython.no_gc
cdef class State:
    """The state of a tape that nodes refer to; it outlives the tape if a caller keeps an array with a node."""

    cdef int64_t serial
    cdef bint open
    cdef bint alive            # whether the tape still exists
    cdef PyObject* first       # its list of nodes; Note [Graph of nodes]


@cython.no_gc_clear
cdef class Tape:
    """The identity of a context of differentiation; `autograd.Tape` is the public form."""

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
        release_nodes(self.state)

    @property
    def open(self):
        """Whether what is computed from tracked arrays is recorded."""
        return self.state.open

    def start(self):
        """Start recording what is computed from tracked arrays."""
        self.state.open = True

    def stop(self):
        """Stop recording; gradients can still be taken."""
        self.state.open = False


cdef int release_nodes(State state) except -1:
    """Drop what nodes keep for the gradients of a tape that is freed."""
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
                link(node, other)
                break
        else:
            dead.append(node)
    for node in dead:
        node.parents, node.edges = [], []
        node.saved = node.pull = None
    return 0


@cython.final
cdef class Rules:
    """The gradient rules of one function, and the names of its parameters."""

    cdef str name
    cdef object function
    cdef tuple parameters
    cdef int variadic          # index of the parameter that takes all other arguments, or -1
    cdef tuple defaults
    cdef dict index
    cdef tuple at              # indices of the parameters that have rules
    cdef tuple has_rule          # whether a parameter may be tracked
    cdef tuple rules
    cdef tuple rule_needs      # for each rule the indices of its needs
    cdef tuple needs           # pairs: what, of which parameter
    cdef int what[16]          # the same in C
    cdef int subject[16]
    cdef int count[16]         # `rule_needs` in C
    cdef int numbers[16][8]
    cdef str refused           # why an operand must not be tracked; None where it may

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
        self.at = tuple([self.index[key] for key in rules])
        self.rules = tuple(rules.values())
        self.has_rule = tuple([i in self.at for i in range(len(self.parameters))])
        rule_needs = []
        for rule in self.rules:
            names = rule.__code__.co_varnames[1:rule.__code__.co_argcount]
            rule_needs.append(tuple([self.need(needs, key) for key in names]))
        self.rule_needs, self.needs = tuple(rule_needs), tuple(needs)
        for i, (what, subject) in enumerate(needs):
            self.what[i], self.subject[i] = what, subject
        for i, each in enumerate(rule_needs):
            self.count[i] = len(each)
            for k, number in enumerate(each):
                self.numbers[i][k] = number

    cdef int need(self, list needs, str key) except -1:
        """The number of a value that a rule names."""
        what, subject = VALUE, key
        if key not in self.index and key.endswith("_shape"):
            what, subject = SHAPE, key.removesuffix("_shape")
        elif key not in self.index and key.endswith("_dtype"):
            what, subject = DTYPE, key.removesuffix("_dtype")
        if subject != "out" and subject not in self.index:
            raise ValueError(f"a gradient rule of {self.name} asks for {key}, which is none of its parameters")
        pair = (what, -1 if subject == "out" else self.index[subject])
        if pair not in needs:
            needs.append(pair)
        return needs.index(pair)

    cdef list bind(self, tuple args, dict kwargs):
        """The value of each parameter in a valid call."""
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

# Functions without a Python signature, by the names that the core uses.
cdef dict OPERATORS = {
    "getitem": [parameter("x"), parameter("key")],
    "setitem": [parameter("x"), parameter("key"), parameter("value")],
    "watch": [parameter("x")],
}

# Not Python's operators, which would try the other operand's method next.
cdef dict IN_PLACE = {
    "add": Array.__iadd__, "subtract": Array.__isub__, "multiply": Array.__imul__, "divide": Array.__itruediv__,
    "floor_divide": Array.__ifloordiv__, "remainder": Array.__imod__, "pow": Array.__ipow__, "matmul": Array.__imatmul__,
    "bitwise_and": Array.__iand__, "bitwise_or": Array.__ior__, "bitwise_xor": Array.__ixor__,
    "bitwise_left_shift": Array.__ilshift__, "bitwise_right_shift": Array.__irshift__,
}

cdef dict TABLE = {}
# The same by the index of the operation in the table.
cdef list OPERATIONS = [None] * len(operations.OPS)
cdef dict NUMBERS = {op.name: number for number, op in enumerate(operations.OPS)}


def define(str name, function, dict rules, refused=None):
    """
    Register the gradient rules of a function.

    Parameters
    ----------
    name : str
        As the core passes it: ``"sum"``, ``"linalg.inv"``, ``"getitem"``.
    function : callable
        Called with operands on storages that are not logged.
    rules : dict
        Parameter name to gradient rule; empty where the result is constant.
    refused : str, optional
        Why a tracked operand is refused.
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
    """The operation that computed an array; Note [Graph of nodes]."""

    cdef Rules rules
    cdef int64_t serial
    cdef tuple tapes           # states of the tapes that it depends on; shared with its parents where possible
    cdef State home            # the tape in whose list it is
    cdef PyObject* next        # its neighbours there
    cdef PyObject* before
    cdef list parents          # a node per edge
    cdef list edges            # index of the rule, or (rule, position) for an array in a sequence
    cdef list saved            # in the order of rules.needs
    cdef object pull           # instead of rules: maps a cotangent to those of the parents
    cdef int code              # dtype and shape of the array that it belongs to
    cdef int ndim
    cdef Py_ssize_t dims[FEW]
    cdef tuple shape           # where it has more than FEW axes
    cdef int outputs           # number of results of a function with several, else 0
    cdef int output            # index of the result of this node, whose only parent is the node of all results

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
    """A value that a rule needs: an array on a storage without history, with its node and the last write it has seen."""

    cdef Array plain
    cdef Storage storage
    cdef Node node
    cdef int64_t seen
    cdef int result            # 0 an operand, 1 the result, 2 and up: one of several results


cdef Node new_node(Rules rules, list parents, State tape=None):
    """A node that depends on the open tapes of its parents, and on `tape`."""
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
        link(node, <State>tapes[0])
    return node


cdef tuple united(tuple ours, tuple others):
    """All open tapes of two nodes; usually both have the same tuple."""
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


cdef void link(Node node, State home) noexcept:
    """Put a node into the list of a tape."""
    node.home = home
    node.before = NULL
    node.next = home.first
    if node.next is not NULL:
        (<Node>node.next).before = <PyObject*>node
    home.first = <PyObject*>node


cdef inline bint is_floating(Array x) noexcept:
    return letter_at(x.code) == c"f" or letter_at(x.code) == c"c"


def track(Array x not None, Tape tape not None):
    """A view of x that is tracked by the tape."""
    cdef Array y
    cdef Node parent, node
    if not is_floating(x):
        raise ArgumentTypeError("watch", f"an array of dtype {dtype_at(x.code).name} has no derivative", (), "an array of a floating-point dtype")
    parent = None if x.storage.history is None else enter(x, "watch", None)
    node = new_node(TABLE["watch"], [] if parent is None else [parent], tape.state)
    node.edges = [] if parent is None else [0]
    node.saved = []
    y = alias(x)
    attach(y, node)
    return y


def track_all(str operation, list leaves, Tape tape not None):
    """
    Track the leaves of an argument.

    Returns
    -------
    arrays, tracked, nodes : lists
        The leaves as arrays, tracked views of them, and the nodes of the views.
    """
    cdef list arrays = [], tracked = [], nodes = []
    cdef Array y
    for x in leaves:
        if type(x) is not Array:
            if not isinstance(x, (float, complex)):
                raise ArgumentTypeError(operation, f"an argument of type {type(x).__name__} has no derivative", (), ACCEPTED)
            x = asarray(x)
        elif not is_floating(<Array>x):
            raise ArgumentTypeError(operation, f"an array of dtype {dtype_at((<Array>x).code).name} has no derivative", (), ACCEPTED)
        y = track(<Array>x, tape)
        arrays.append(x)
        tracked.append(y)
        nodes.append(y.node)
    return arrays, tracked, nodes

cdef str ACCEPTED = "arrays of a floating-point dtype, or nested tuples, lists and dicts of them; argnums names those to differentiate by"


cdef int attach(Array x, Node node) except -1:
    """Make x a tracked array."""
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
    """A view of x that is not tracked."""
    cdef Array y
    if x.storage.history is not None:
        enter(x, "stop_gradient", None)
    y = alias(x)
    y.node = None
    y.seen = clock
    return y


def detach_closed(x):
    """A result, detached if no open tape tracks it."""
    return x if type(x) is not Array or (<Array>x).node is None or is_open(<Node>(<Array>x).node) else detach(<Array>x)


def is_tracked(Array x not None):
    """Whether what is computed from x is recorded."""
    return x.node is not None and is_open(<Node>x.node)


def node_of(x):
    """The node of an array, or None."""
    return (<Array>x).node if type(x) is Array else None


include "writes.pxi"
include "recording.pxi"
include "backward.pxi"


cdef class TapeTracer(Tracer):
    """The interface that the core calls where the storage of an operand is logged."""

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

    cdef bint is_tracked(self, Array x) except -1:
        return x.node is not None and is_open(<Node>x.node)

    cdef bint needs_tape(self, Array x) noexcept:
        cdef History history
        if live_tapes == 0:
            x.storage.history = x.node = None
            return False
        history = <History>x.storage.history
        return history.has_tracked or history.last > x.seen or (x.node is not None and is_open(<Node>x.node))


set_tracer(TapeTracer())
