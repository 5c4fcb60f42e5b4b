# Recorded arrays: the level of a recording, below all others. Included in `tape.pyx`.
#
# Note [Recordings]
#     `replay` calls a function at a level of its own, which is older than every tape and level in the function. A recorded
#     array is a batched array of this level, Note [Batched arrays]: its batch has one example, and a slot of the recording.
#     So nothing reads its elements unnoticed, and tapes and `vmap` within the function reduce to calls at this level, which
#     the recorder runs and keeps. Outside arrays become recorded if they meet a recorded array (`lifted`).

cdef extern from *:
    """
    /* The recorder whose function runs in this thread; the caller of the function keeps it alive. */
    S0_PER_THREAD PyObject *s0_recorder = NULL;
    #define s0_set_recorder(value) (s0_recorder = (value))
    """
    PyObject* s0_recorder
    void s0_set_recorder(PyObject* value) noexcept


@cython.final
cdef class RecorderBlock:
    """
    A block in which this thread records the calls of a function; `recorder` must outlive it.

    Tapes older than the level of the recorder do not record: the body of a loop is recorded without them.
    """

    cdef object recorder
    cdef PyObject* before
    cdef Window window

    def __init__(self, recorder):
        self.recorder = recorder

    def __enter__(self):
        self.before, self.window = s0_recorder, above(<Level?>self.recorder.level)
        s0_set_recorder(<PyObject*>self.recorder)

    def __exit__(self, kind, error, traceback):
        s0_set_recorder(self.before)
        restore(self.window)


def current_recorder():
    """The recorder whose function runs in this thread, or None."""
    return None if s0_recorder is NULL else <object>s0_recorder


def recorded_array(Level level not None, plain, slot):
    """The recorded array that stands for an array or a Python scalar, and has a slot of the recording."""
    cdef Array x = <Array>plain if type(plain) is Array else <Array>asarray(plain), y = blank(x.code)
    cdef Batch batch = Batch.__new__(Batch)
    cdef Py_ssize_t shape[MAX_NDIM + 1]
    cdef Py_ssize_t strides[MAX_NDIM + 1]
    if x.ndim == MAX_NDIM:
        level.recorder.refuse(f"an array of {MAX_NDIM} axes", "arrays of fewer axes")
    shape[0], strides[0] = 1, x.size * itemsize_at(x.code)
    memcpy(shape + 1, x.shape_, x.ndim * sizeof(Py_ssize_t))
    memcpy(strides + 1, x.strides_, x.ndim * sizeof(Py_ssize_t))
    batch.whole = view_of(x, data_of(x), x.ndim + 1, shape, strides)
    batch.level, batch.slot, batch.plain = level, slot, plain
    set_ndim(y, x.ndim)
    memcpy(y.shape_, x.shape_, x.ndim * sizeof(Py_ssize_t))
    memcpy(y.strides_, x.strides_, x.ndim * sizeof(Py_ssize_t))
    return on_batch(y, batch)


def slot_of(x):
    """The slot of a recorded array, and what it stands for; None for any other object."""
    if not is_batched(x) or level_of(<Array>x).recorder is None:
        return None
    batch = <Batch>(<Array>x).storage.history
    check_level(batch.level, "replay")
    return batch.slot, batch.plain


cdef inline bint is_recorded_scalar(Array x):
    """Whether a recorded array stands for a Python scalar."""
    if not x.storage.batched:
        return False
    found = slot_of(x)
    return found is not None and type(found[1]) is not Array


def is_transformed(x):
    """Whether a call with x has to go through a tape, or a level of `vmap`."""
    cdef History history
    if type(x) is not Array:
        return False
    if (<Array>x).storage.batched and level_of(<Array>x).recorder is None:
        return True
    history = history_of((<Array>x).storage) if live_tapes else None
    return history is not None and (history.has_tracked or history.last > s0_peek_long((<Array>x).seen) or open_node(<Array>x) is not None)


def writes_on_tape(Array x not None, *values):
    """Whether the tape executes a write to x of values, by `write_all` or `write_item`."""
    return x.storage.logged or any([operand_needs_tape(value) for value in values])


def execute(Level level not None, function, *args):
    """Call a function for the recorder of a level: nothing newer than the level records it."""
    cdef Window before = below(level)
    cdef PyObject* recorder = s0_recorder
    token = enter_package() if guarding else None
    s0_set_recorder(NULL)
    try:
        return function(*args)
    finally:
        s0_set_recorder(recorder)
        restore(before)
        if token is not None:
            leave_package(token)


cdef object recorded_call(Level level, str kind, object function, str name, tuple args, tuple kwnames=()):
    """Run a call with recorded arrays, and record it."""
    return level.recorder.call(kind, function, name, args, kwnames)


def lifted(x):
    """A value whose arrays are recorded arrays, while this thread records a function; otherwise the value itself."""
    if s0_recorder is NULL:
        return x
    if type(x) is Array:
        return x if (<Array>x).storage.batched else (<object>s0_recorder).lift(x)
    if type(x) is tuple or type(x) is list:
        items = [lifted(item) for item in x]
        return x if all(a is b for a, b in zip(items, x)) else type(x)(items)
    return x


cdef int check_target(Array target, Array x) except -1:
    """Refuse a write to an array that the recorder does not know: x is the recorded array for it."""
    if target is not x:
        (<object>s0_recorder).check_target(target)
    return 0


cdef Array new_zeros(tuple shape, DType dtype):
    """Zeros that the package hands to the caller: a new array in each call of a recorded function."""
    if s0_recorder is NULL:
        return <Array>zeros(shape, dtype)
    return <Array>(<object>s0_recorder).call("call", zeros, "zeros", (shape, dtype))


cdef Array given_array(Array x):
    """An array that the caller gives to a transformation, as a recorded array while this thread records a function."""
    if s0_recorder is NULL:
        return x
    if x.storage.batched:
        found = slot_of(x)
        return x if found is None or type(found[1]) is Array else <Array>(<object>s0_recorder).strong(x)
    return <Array>(<object>s0_recorder).outside(x)


# --- sums of cotangents


def add_to_elements(Array x not None, key, Array values not None):
    """`x[key] += values` for each element that the key names, as often as it names it."""
    add_at(x, key, values)


cdef bint add_put_recorded(PyObject* sum_, Array g, object key):
    """`add_put` for a recorded sum, under the same conditions on what it stands for, so that the bits are the same."""
    cdef Level level = level_of(<Array>sum_)
    cdef PyObject* batch = <PyObject*>(<Array>sum_).storage.history
    cdef PyObject* plain = <PyObject*>(<Batch>batch).plain
    cdef Array x
    if node_at(g) is not None or newer(newer(None, g), key) is not level or type(<object>plain) is not Array:
        return False
    if not s0_has_references(sum_, 1) or not s0_has_references(<PyObject*>(<Array>sum_).storage, 1) or not s0_has_references(batch, 1):
        return False
    # The array is also seen with the axis of the batch.
    if not s0_has_references(plain, 1) or not s0_has_references(<PyObject*>(<Array>plain).storage, 2):
        return False
    x = <Array>plain
    if x.storage.block is NULL or x.storage.logged or memory_of(g.storage).logged or is_stored(g.code) or x.code != g.code or not x.c_contiguous:
        return False
    recorded_call(level, "call", add_to_elements, "add_at", (<object>sum_, key, g))
    return True
