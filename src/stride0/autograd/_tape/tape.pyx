# cython: boundscheck=True, cdivision=False
"""The tape: recording of computations with tracked arrays, and the backward pass.

One compiled module, read in this order: this file (tapes, tracked arrays), `rules.pxi`, `batching.pxi`, `batched_calls.pxi`, `recorded.pxi`, `nodes.pxi`,
`places.pxi`, `saved.pxi`, `writes.pxi`, `replay.pxi`, `recording.pxi`, `inplace.pxi`, `deferral.pxi`, `rule_calls.pxi`, `backward.pxi`, `cotangents.pxi`, `tangents.pxi`, `forward_passes.pxi`, `results.pxi`.

Note [Graph of nodes]
    The tape is not a list of operations. Each tracked array holds a node. A node holds the nodes of its operands and the values
    that its rules need. Nodes that no result depends on are freed at once, by reference counts: a node never holds its own array
    (if a rule needs the result, it is saved without its node, which is attached again when the value is loaded). When a tape is
    freed, the nodes of results that still exist drop what they hold: each tape has a linked list of its nodes, without references.
    Nodes store their data in C: a recorded call creates no object that Python's garbage collector visits, and a saved value is not
    an array, only the fields of a view.

Note [Whose derivative]
    Every `grad` and every `Tape` tracks new leaves, so nested derivatives cannot be confused. A node knows the open tapes that it
    depends on. In the backward pass of tape T, a rule gets a saved value with its node only if an open tape (including T) could
    differentiate the rule's computation. Otherwise it gets the value without its node, and nothing is recorded.

Note [Overwritten values]
    Saved values are in lists of their storages. A write to a logged storage first copies the saved values that it will overwrite
    (`copy_saved`). Then it is logged with its location, the array that it goes through, and the line of the caller's code. An
    array knows the number of the last write that it has seen. When it is read after a later write to elements that it shares, it
    gets a node that depends on its previous value and on the written values (`replay`). Locations are compared exactly.

Note [Thread of a tape]
    In a free-threaded interpreter an open tape belongs to the thread that opened it. A closed tape belongs to the thread whose
    backward pass goes through its nodes. A thread that finds a tape in use raises. So nodes have one user at a time and need no
    locks, except for the list of a tape, because any thread may free an array. Untracked arrays belong to all threads: the
    pointers to an array's node and to its storage's history are read and replaced in critical sections of the array and the
    storage, and the lists of a history in a critical section of the history.

Note [Levels]
    Tapes and calls of `vmap` share one order, by serial number: newer ones are further inside. For a call with batched operands,
    let L be the newest level of the operands. First, tapes newer than L record it, as a call on examples. Then the batching rule
    of the function computes it on the values, which older tapes record and older levels batch. So a tape older than L never
    sees a batched array of L: nodes of such an array belong only to tapes newer than L. The visible tapes are between two numbers,
    `s0_floor` and `s0_ceiling`: the first is L while newer tapes record, the second is L while the rule runs.

    A batched array has its own node. But the log of writes, and the number of the last seen write, belong to the memory that it
    stands for, `ground(x)`: so views of a batch are compared exactly, like other views.

Note [Deferred passes]
    Forward and backward passes defer their results, as within `stride0.fused`, unless the caller has chosen a size. A saved value
    may be deferred: if the backward pass drops it before anything needs its elements, it is never written to memory. Everything is
    computed when the outermost pass ends. Values have the same bits as without deferring, because no rule may depend on whether an
    array is deferred.

Note [Tangents]
    `jvp` goes once more through the graph of a recorded call, from the oldest node to the youngest. The tangent of a result is the
    sum of the contributions of its operands. If the matrix of derivatives is symmetric (as for every elementwise function), the
    gradient rule gives the contribution. Many other functions have a rule for tangents, which uses the values that the gradient
    rule saves. For the rest, the gradient rule of the node is transposed: so every function with a gradient has a directional
    derivative. A gradient rule multiplies by the conjugate of a complex derivative, so tangent and result are conjugated.

Note [Recorded passes]
    If eigenvalues or singular values repeat, the cotangents of a decomposition do not determine the cotangent of the matrix. The
    rule also needs the derivative of its cotangents along a path on which the values separate: Note [Repeated values] in
    `_rules/repeated.py`. A backward pass that finds such a node reopens its tape while it runs, and so records itself. The rule
    then calls `derivatives_along`, which pushes tangents from the results of the decomposition to the cotangents that reached it.

    `jvp` through such a node is the transpose of the recorded backward pass.
"""

cimport cython
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc, PyMem_Realloc
from cpython.object cimport PyObject
from cpython.pythread cimport PyThread_get_thread_ident
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XDECREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM
from libc.stdint cimport int64_t, uintptr_t
from libc.stdlib cimport free, qsort, realloc
from libc.string cimport memcmp, memcpy, memset

from stride0._core.array.array cimport (
    Array, Tracer, alias, blank, data_of, has_node, is_batched, is_deferred, operand_needs_tape, restore_storage, root_of,
    s0_put_node, s0_tuple_items, same_shape, set_flags, set_ndim, set_tracer, shape_tuple, traced, view_of, without_history,
)
from stride0._core.array.array cimport may_be_written
from stride0._core.array.modes cimport enforce_current_mode, is_restricted
from stride0._core.array.modes cimport DEFERRED_SIZE, Switch, enter_package, guarding, leave_package
from stride0._core.call.binding cimport Primitive
from stride0._core.index.index cimport add_at, added, dot_into, get_item, scaled, sum_into
from stride0._core.elementwise.elementwise cimport binary, binary_raw, in_place, masked_product, unary, unary_raw
from stride0._core.plan.operations cimport OP_ADD
from stride0._core.plan.plan cimport MAX_NDIM, Operand, extent, tuning
from stride0._core.memory.dtype cimport DType, dtype_at, is_stored, itemsize_at, letter_at
from stride0._core.memory.guards cimport (
    FREE_THREADED, s0_acquire, s0_count_up, s0_add, s0_drop_all, s0_drop_later, s0_drops, s0_enable_try_incref, s0_has_references, s0_leave, s0_lock,
    s0_peek_long, s0_put_long, s0_shared_flag, s0_shared_long, s0_shared_size, s0_try_incref,
)
from stride0._core.memory.storage cimport Storage, foreign_storage

import inspect
import operator

from stride0._tables import operations
from stride0._core.array.array import zeros
from stride0._core.array.modes import FUSED, enter_fused, frame_of_caller
from stride0._core.array.array import shares_storage
from stride0._core.exchange.exchange import asarray
from stride0._core.index.index import put
from stride0._core.program.program import evaluate_pending
from stride0._core.elementwise.elementwise import conjugate
from stride0._core.elementwise.functions import real, remainder
from stride0._core.memory.dtype import float64
from stride0._chapters.creation import arange
from stride0._chapters.manipulation import reshape
from stride0._base.errors import (
    ArgumentTypeError, ArgumentValueError, BatchingError, BroadcastError, GradientError, ShapeError, Stride0Error,
)
from stride0._base.shapes import broadcast_shapes
from stride0.autograd._tape.trees import flatten, tree_map

cdef extern from *:
    """
    #include "guards.h"
    /* Nodes that this thread is about to free. */
    S0_OF_THREAD s0_drops s0_waiting;

    #if S0_FREE_THREADED
    /* The thread that uses a tape, or was the last user. */
    #define s0_is_mine(thread) (__atomic_load_n(&(thread), __ATOMIC_RELAXED) == PyThread_get_thread_ident())
    #define s0_set_thread(thread) __atomic_store_n(&(thread), PyThread_get_thread_ident(), __ATOMIC_RELAXED)
    #else
    #define s0_is_mine(thread) ((void)(thread), 1)
    #define s0_set_thread(thread) ((void)(thread))
    #endif
    """
    s0_drops s0_waiting
    bint s0_is_mine(unsigned long thread) noexcept
    void s0_set_thread(unsigned long thread) noexcept

cdef extern from "Python.h":
    PyObject* PyObject_Vectorcall(PyObject* callable, PyObject* const* args, size_t nargsf, PyObject* kwnames) except NULL

cdef s0_shared_long clock = 0        # number of writes to logged storages so far
cdef s0_shared_long made = 0         # number of nodes and tapes so far
cdef s0_shared_size live_tapes = 0
cdef s0_shared_size live_levels = 0  # number of levels; a batched array keeps its level alive

cdef object MISSING = object()


@cython.final
@cython.no_gc
cdef class State:
    """The state of a tape that nodes refer to; it outlives the tape if a caller keeps an array with a node."""

    cdef int64_t serial
    cdef bint open
    cdef bint lasting          # whether it may compute gradients of gradients
    cdef int passing           # if a backward pass opened it: for how many calls, see Note [Recorded passes]
    cdef bint alive            # whether the tape still exists
    cdef PyObject* first       # the list of its nodes: Note [Graph of nodes]
    cdef unsigned long thread  # the user, in a free-threaded interpreter: Note [Thread of a tape]
    cdef int uses              # number of nested uses
    # Numbers of the last writes before the tape was closed, and, if it was reopened, of the writes that it must not replay.
    cdef int64_t closed
    cdef int64_t missed
    cdef int64_t reopened


@cython.no_gc_clear
cdef class Tape:
    """The identity of a context of differentiation; `autograd.Tape` is the public form."""

    cdef State state

    def __cinit__(self, *args, **kwargs):
        self.state = State.__new__(State)
        self.state.serial = s0_count_up(made, 1)
        self.state.alive = True
        self.state.lasting = type(self) is not Tape
        s0_add(live_tapes, 1)

    def __dealloc__(self):
        # The constructor failed.
        if self.state is None:
            return
        s0_add(live_tapes, -1)
        s0_acquire(&listing)
        self.state.alive = False
        s0_leave(&listing)
        close_tape(self.state)
        free_graph(self.state)

    @property
    def open(self):
        """Whether computations with tracked arrays are recorded."""
        return self.state.open

    def start(self):
        """Start recording computations with tracked arrays."""
        open_tape(self.state, "Tape")

    def stop(self):
        """Stop recording; gradients can still be taken."""
        close_tape(self.state)


include "rules.pxi"
include "batching.pxi"
include "batched_calls.pxi"
include "recorded.pxi"
include "nodes.pxi"
include "places.pxi"
include "saved.pxi"


cdef inline bint is_floating(Array x) noexcept:
    return letter_at(x.code) == c"f" or letter_at(x.code) == c"c"


def track(Array x not None, Tape tape not None):
    """A view of x that the tape tracks."""
    cdef Array y
    cdef Node parent, node
    if not is_floating(x):
        raise ArgumentTypeError("watch", f"an array of dtype {dtype_at(x.code).name} has no derivative", (), "an array of a floating-point dtype")
    x = given_array(x)
    parent = enter(x, "watch", None) if x.storage.logged else None
    node = new_node(<Rules>TABLE["watch"])
    node.tapes = (tape.state,)
    link(node, tape.state)
    if parent is not None:
        add_edge(node, parent, 0, -1)
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
    start_history(memory_of(x.storage))
    describe(node, x)
    set_node(x, node)
    s0_put_long(x.seen, clock)
    return 0


def detach(Array x not None):
    """An untracked view of x."""
    cdef Array y
    if x.storage.logged:
        enter(x, "stop_gradient", None)
    y = alias(x)
    y.node = None
    y.seen = clock
    return y


def detach_all(Array x not None):
    """The same; a batched array is also not tracked by tapes older than its level."""
    cdef Level level
    cdef Window before
    cdef Array y = <Array>detach(x)
    if not x.storage.batched or level_of(x).recorder is not None:
        return y
    level = level_of(x)
    before = below(level)
    try:
        return wrapped(level, <Array>detach_all((<Batch>x.storage.history).whole))
    finally:
        restore(before)


def detach_closed(x):
    """A result, detached if no open tape tracks it."""
    cdef Node node = node_of(x)
    return x if node is None or is_open(node) else detach(<Array>x)


def current_node(x):
    """The node of an array, including writes to its memory through other arrays before its tapes were closed; or None."""
    cdef History history
    if type(x) is not Array or not (<Array>x).storage.logged or live_tapes == 0:
        return None
    history = history_of((<Array>x).storage)
    if history is not None and history.last > s0_peek_long((<Array>x).seen):
        replay(history, <Array>x, "backward", None, True)
    return node_at(<Array>x)


def is_tracked(Array x not None):
    """Whether computations with x are recorded."""
    return open_node(x) is not None


def is_tracked_below(Array x not None):
    """Whether tapes older than the level of a batched array record computations with it."""
    while x.storage.batched:
        x = (<Batch>x.storage.history).whole
        if open_node(x) is not None:
            return True
    return False


def node_of(x):
    """The node of an array, or None."""
    return node_at(<Array>x) if type(x) is Array else None


include "writes.pxi"
include "replay.pxi"
include "recording.pxi"
include "inplace.pxi"
include "deferral.pxi"
include "rule_calls.pxi"
include "backward.pxi"
include "cotangents.pxi"
include "tangents.pxi"
include "forward_passes.pxi"
include "results.pxi"


cdef class TapeTracer(Tracer):
    """The interface that the core calls if the storage of an operand is logged."""

    cdef object unary(self, int op, Array x, str name):
        return run_unary(op, x, name)

    cdef object binary(self, int op, object x1, object x2, str name):
        return run_binary(op, x1, x2, name)

    cdef object call(self, str name, PyObject* const* args, Py_ssize_t n, PyObject* kwnames):
        return record_call(name, args, n, kwnames)

    cdef object in_place(self, str name, Array x, object other):
        return write_all(name, x, other)

    cdef object set_item(self, Array x, object key, object value):
        return write_item(x, key, value)

    cdef bint is_tracked(self, Array x) except -1:
        return open_node(x) is not None

    cdef bint needs_tape(self, Array x) noexcept:
        cdef History history
        if x.storage.batched:
            return True
        if live_tapes == 0:
            untrack(x)
            return False
        history = history_of(x.storage)
        return history is not None and (history.has_tracked or history.last > s0_peek_long(x.seen) or open_node(x) is not None)


set_tracer(TapeTracer())
