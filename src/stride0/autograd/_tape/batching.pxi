# Batched arrays: levels, batches, and calls of functions on whole batches. Included in `tape.pyx`. Note [Levels]

cdef extern from *:
    """
    /* An executed call sees only the tapes between the two: Note [Levels]. */
    S0_PER_THREAD long long s0_floor = 0;
    S0_PER_THREAD long long s0_ceiling = 0x7fffffffffffffff;
    #define s0_set_floor(value) (s0_floor = (value))
    #define s0_set_ceiling(value) (s0_ceiling = (value))
    """
    long long s0_floor
    long long s0_ceiling
    void s0_set_floor(long long value) noexcept
    void s0_set_ceiling(long long value) noexcept


cdef inline bint is_seen(State state) noexcept:
    """Whether a tape is open and records the current call: Note [Levels]."""
    return state.open and s0_floor < state.serial < s0_ceiling


cdef inline bint is_any_open(tuple tapes) noexcept:
    cdef Py_ssize_t i
    for i in range(len(tapes)):
        if (<State>tapes[i]).open:
            return True
    return False


cdef inline bint is_any_seen(tuple tapes) noexcept:
    cdef Py_ssize_t i
    for i in range(len(tapes)):
        if is_seen(<State>tapes[i]):
            return True
    return False


@cython.final
@cython.no_gc
cdef class Level:
    """One call of a function made by `vmap`, to which batched arrays belong. Batching rules get it as their first argument."""

    cdef int64_t serial
    cdef readonly Py_ssize_t size
    cdef readonly object recorder  # for the level of a recording, Note [Recordings]: what records the calls; otherwise None
    cdef bint open

    def __cinit__(self, Py_ssize_t size, recorder=None):
        self.serial = s0_count_up(made, 1)
        self.size, self.recorder = size, recorder
        self.open = True
        s0_add(live_levels, 1)

    def __dealloc__(self):
        # The serial is 0 if the size was refused.
        if self.serial:
            s0_add(live_levels, -1)

    def close(self):
        """End the call; its batched arrays can no longer be used."""
        self.open = False

    def wrap(self, Array value not None):
        """Make a batched array of a value whose first axis is the batch axis."""
        return wrapped(self, given_array(value))

    def has(self, x):
        """Whether an argument is a batched array of this level."""
        return is_batched(x) and level_of(<Array>x) is self

    def value(self, x):
        """The array of all examples, batch axis first, for a batched array of this level; other objects unchanged."""
        return value_at(self, x)

    def spread(self, x):
        """The same; an array that is not batched becomes a view that repeats it."""
        if is_batched(x) and level_of(<Array>x) is self:
            return value_at(self, x)
        return traced_or_plain("broadcast_to", (x, (self.size,) + shape_tuple(<Array?>x)))

    def lifted(self, x):
        """Make an array a batched array of this level with equal examples; newer tapes track the result if they track the array."""
        if is_batched(x) and level_of(<Array>x) is self:
            return x
        if not is_tracked(x):
            return wrapped(self, <Array>self.spread(x))
        # By a function that newer tapes record, because they do not see the values of batched arrays.
        return traced("where", (wrapped(self, <Array>traced_or_plain("broadcast_to", (asarray(True), (self.size,)))), x, 0))

    def aligned(self, x, int ndim):
        """The value of an operand, reshaped so that it broadcasts with operands whose examples have up to `ndim` axes."""
        return aligned(self, x, ndim)

    def is_contiguous(self, Array x not None):
        """Whether each example of a batched array of this level is one contiguous run in C order."""
        cdef Array memory = ground(x)
        cdef Py_ssize_t stride = itemsize_at(memory.code)
        cdef int axis
        for axis in range(memory.ndim - 1, memory.ndim - x.ndim - 1, -1):
            if memory.shape_[axis] > 1 and memory.strides_[axis] != stride:
                return memory.size == 0
            stride *= memory.shape_[axis]
        return True


@cython.final
@cython.no_gc
cdef class Batch:
    """The object that the storage of a batched array refers to as its history."""

    cdef Array whole           # the array of all examples
    cdef Level level
    cdef object slot           # of a recorded array: the number of its slot in the recording
    cdef object plain          # of a recorded array: the array or Python scalar that it stands for

    @property
    def value(self):
        """The array of all examples, for code of the package that decides by values."""
        if self.level.recorder is not None:
            self.level.recorder.refuse_reading("branch")
        return self.whole

    def decide(self, function, Array x not None):
        """A bool that `function` finds in the array of all examples of x."""
        if self.level.recorder is not None:
            return self.level.recorder.decide(function, x)
        return self.whole.storage.history.decide(function, self.whole) if self.whole.storage.batched else function(self.whole)

    def is_followed(self, Array x not None):
        """Whether no branch may depend on the values of x."""
        return self.level.recorder is None or open_node(x) is not None

    def refuse(self, str operation):
        """Raise the error of a read of a recorded array's elements; nothing for a batched array."""
        if self.level.recorder is not None:
            self.level.recorder.refuse_reading(operation)


cdef object traced_or_plain(str name, tuple args):
    """Call a function, and record the call if an argument needs it."""
    for x in args:
        if operand_needs_tape(x):
            return traced(name, args)
    return (<object>rules_of(name).function)(*args)


def recorded(str name, *args):
    """For batching rules: call a function by its name in the table, and record the call if an argument needs it."""
    return traced_or_plain(name, args)


cdef inline Level level_of(Array x):
    """The level of a batched array."""
    return (<Batch>x.storage.history).level


cdef inline Array ground(Array x):
    """The array in memory that a batched array stands for, below all levels."""
    while x.storage.batched:
        x = (<Batch>x.storage.history).whole
    return x


cdef inline Storage memory_of(Storage storage):
    """The storage that holds the elements of an array on `storage`, and the log of writes to them."""
    cdef Array x
    if not storage.batched:
        return storage
    x = ground((<Batch>storage.history).whole)
    return root_of(x.storage)


cdef Level newer(Level found, object x):
    """The newer of two levels: `found` and the level of a value; None if there is no level."""
    cdef Level level
    if is_batched(x):
        level = level_of(<Array>x)
        return level if found is None or level.serial > found.serial else found
    if type(x) is tuple or type(x) is list:
        for item in x:
            if is_batched(item):
                level = level_of(<Array>item)
                if found is None or level.serial > found.serial:
                    found = level
    return found


cdef int check_level(Level level, str name) except -1:
    if not level.open:
        if level.recorder is not None:
            level.recorder.refuse_late(name)
        raise BatchingError(name, "the function that vmap called has returned, and this batched array is from within it", (),
                            "what the function returns")
    return 0


cdef Array wrapped(Level level, Array value):
    cdef Array y
    cdef Batch batch
    cdef int axis
    cdef Py_ssize_t stride = itemsize_at(value.code)
    if level.recorder is not None:
        raise SystemError("replay: a batch of a recording is made by its recorder only")
    if value.ndim == 0 or value.shape_[0] != level.size:
        raise SystemError(f"vmap: a batch of {level.size} examples has the shape {shape_tuple(value)}")
    batch = Batch.__new__(Batch)
    batch.whole, batch.level = value, level
    y = blank(value.code)
    set_ndim(y, value.ndim - 1)
    for axis in range(y.ndim - 1, -1, -1):
        y.shape_[axis] = value.shape_[axis + 1]
        y.strides_[axis] = stride
        if y.shape_[axis] > 1:
            stride *= y.shape_[axis]
    return on_batch(y, batch)


cdef Array on_batch(Array y, Batch batch):
    """Put an array whose shape and strides are set on a storage that stands for a batch."""
    set_flags(y)
    y.storage = foreign_storage(NULL, 0, None, False)
    y.storage.device = batch.whole.storage.device
    y.storage.history, y.storage.batched, y.storage.logged = batch, True, True
    y.seen = clock
    return y


cdef object wrapped_all(Level level, object out):
    """The result of a rule, with all its arrays made batched arrays."""
    if type(out) is Array:
        return wrapped(level, <Array>out)
    if isinstance(out, (tuple, list)):
        items = [wrapped_all(level, item) for item in out]
        if hasattr(type(out), "_fields"):
            return type(out)(*items)
        return items if isinstance(out, list) else tuple(items)
    return out


cdef inline object value_at(Level level, object x):
    return (<Batch>(<Array>x).storage.history).whole if is_batched(x) and level_of(<Array>x) is level else x


cdef Array aligned(Level level, object x, int ndim):
    cdef Array a = <Array?>x, value
    if not a.storage.batched or level_of(a) is not level:
        return a
    value = (<Batch>a.storage.history).whole
    if a.ndim >= ndim:
        return value
    return get_item(value, (slice(None),) + (None,) * (ndim - a.ndim))


cdef Array plain_of(Array x):
    """An operand for a function that the tape calls: newer tapes do not record its computations."""
    cdef Array y
    if not x.storage.batched:
        return without_history(x)
    y = alias(x)
    return y


cdef Array bare(Array x):
    """An untracked batched array on the same memory, which has seen all writes."""
    cdef Level level
    cdef Array y
    if not x.storage.batched:
        return without_history(x)
    level = level_of(x)
    if level.recorder is not None:
        y = alias(x)
        y.seen = clock
        return y
    return wrapped(level, bare((<Batch>x.storage.history).whole))


cdef struct Window:
    long long floor
    long long ceiling


cdef inline Window above(Level level) noexcept:
    """Let only tapes newer than a level record; returns the state for `restore`."""
    cdef Window before
    before.floor, before.ceiling = s0_floor, s0_ceiling
    s0_set_floor(level.serial)
    return before


cdef inline Window below(Level level) noexcept:
    """Let only older tapes record; returns the state for `restore`."""
    cdef Window before
    before.floor, before.ceiling = s0_floor, s0_ceiling
    s0_set_floor(0)
    s0_set_ceiling(level.serial)
    return before


cdef inline void restore(Window before) noexcept:
    s0_set_floor(before.floor)
    s0_set_ceiling(before.ceiling)


cdef bint is_batch_outermost(Array value) noexcept:
    """Whether the examples of a value do not interleave in memory: the batch axes of this and older levels have the largest strides."""
    cdef Array memory = ground(value)
    cdef Py_ssize_t largest = 0, stride
    cdef int axis, first = memory.ndim - value.ndim + 1
    for axis in range(first, memory.ndim):
        stride = abs(memory.strides_[axis])
        if memory.shape_[axis] > 1 and stride > largest:
            largest = stride
    for axis in range(first):
        # An axis with stride 0 repeats one example; such an array is a read-only view.
        if memory.shape_[axis] > 1 and 0 < abs(memory.strides_[axis]) < largest:
            return memory.size == 0
    return True


cdef bint is_view_of_any(Storage memory, tuple operands):
    for x in operands:
        if type(x) is Array and memory_of((<Array>x).storage) is memory:
            return True
        if (type(x) is tuple or type(x) is list) and is_view_of_any(memory, tuple(x)):
            return True
    return False


cdef object arranged(object out, tuple operands):
    """
    The result of a rule. A new array is copied if its examples interleave in memory.

    An operation takes the memory order from its operands. If the batch axis lay between other axes, an example would have
    other strides than in a loop. `reshape` or `view(dtype)` would then copy it although a loop would make a view, and writes to
    the result would be lost.
    """
    cdef Array value
    cdef int axis
    if type(out) is tuple or type(out) is list:
        items = [arranged(item, operands) for item in out]
        return type(out)(*items) if hasattr(type(out), "_fields") else type(out)(items)
    if type(out) is not Array:
        return out
    value = <Array>out
    if is_batch_outermost(value) or is_view_of_any(memory_of(value.storage), operands):
        return out
    memory = ground(value)
    strides = [abs((<Array>memory).strides_[axis + (<Array>memory).ndim - value.ndim]) for axis in range(value.ndim)]
    order = (0, *sorted(range(1, value.ndim), key=lambda axis: -strides[axis]))
    copied = traced_or_plain("strided.contiguous", (traced_or_plain("permute_dims", (value, order)),))
    return traced_or_plain("permute_dims", (copied, tuple(sorted(range(value.ndim), key=order.__getitem__))))


def define_batching(str name, rule):
    """
    Register the batching rule of a function.

    Parameters
    ----------
    name : str
        Name of a function that has an entry in the table of gradients.
    rule : callable
        Takes the level and the arguments of the function, one for each parameter; batched arguments have the shape of an
        example. Returns the result of the function for all examples, batch axis first.
    """
    # An operation of the table needs no entry, because it is called by its number.
    if name in TABLE:
        (<Rules>TABLE[name]).batch = rule


def has_batching(str name):
    """Whether a function has a batching rule."""
    return name in TABLE and (<Rules>TABLE[name]).batch is not None


def newest_level(list leaves):
    """The newest level of the batched arrays in a list (the innermost `vmap`); None if there is no batched array."""
    cdef Level level = newer(None, leaves)
    return None if level is None or level.recorder is not None else level


def is_batched_array(x):
    """Whether a value is a batched array."""
    return is_batched(x) and level_of(<Array>x).recorder is None


cdef bint may_share(Array x, Array y) except -1:
    return shares_storage(ground(x), ground(y))
