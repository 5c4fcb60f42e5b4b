# Settings of a process and of its contexts, by which modes are implemented.
#
# Note [Switches]
#     A mode costs nothing while it is off: while every switch is off in the whole process, a call tests one flag,
#     `guarding`. Otherwise the value is looked up in the context of the caller. Calls within functions of the package are
#     not checked: while such a function runs, a counter in the context is above 0 (`package_depth`). Only a function's own
#     operands are checked: before a compiled function counts itself, and at depth 1 in a function written in Python.
#
#     A context may outlive the block that set its value: a task that was started there, or a copy of the context that runs
#     later. So a switch is on as long as any context has a value that is not off. The object that holds the value lives as
#     long as any such context, and its destructor records that the contexts are gone.
#
#     Depth is not counted while every switch is off. So when the default of the process is set, the active calls of other
#     threads are found on their stacks, and end without checks, as they began. In a free-threaded interpreter the stacks
#     of other threads cannot be read: set a default before they start.

cdef object CPU = devices.CPU
cdef object CPU_NAME = "cpu"    # interned, like the literal in other modules

# Whether any switch that checks calls is on in any context, and the number of such switches.
cdef s0_shared_flag guarding = False

cdef int switches_on = 0

# Protects the flags and counters of all switches in a free-threaded interpreter.
cdef s0_lock counting = 0

cdef Py_ssize_t NEVER = sys.maxsize
cdef s0_shared_size fused_from = NEVER

cdef object DEPTH = ContextVar("stride0.depth", default=0)

# The calls, by thread identifier, that began before a default was set: the addresses of their frames, each with its code.
# References to frames would keep the calls' objects alive long after the calls end.
cdef dict ACTIVE_CALLS = {}


@cython.final
@cython.no_gc
cdef class ContextValue:
    """The value of a switch in a context (and its copies), and the previous value."""

    cdef void uncount(self) noexcept:
        s0_acquire(&counting)
        if self.counted:
            self.counted = False
            self.switch.contexts -= 1
            self.switch.update()
        s0_leave(&counting)

    def __dealloc__(self):
        self.uncount()


@cython.final
cdef class Switch:
    """A setting with one value per context, and a default of the process for contexts that have no value."""

    def __cinit__(self, str name, off, bint guards=True):
        self.off = self.default_ = off
        self.defaults = [off]
        self.guards = guards
        self.variable = ContextVar(name)

    cdef ContextValue innermost(self):
        cdef ContextValue found = get_value(self.variable)
        while found is not None and found.ended:
            found = found.before
        return found

    cdef object value(self):
        cdef ContextValue found = self.innermost()
        return self.default_ if found is None else found.value

    cdef void update(self) noexcept:
        """Set the flags from the counters; the caller holds the lock."""
        global guarding, switches_on, fused_from
        cdef bint used = self.contexts > 0 or self.default_on
        if used != self.used:
            self.used = used
            if not self.guards:
                if not used and self is FUSING:
                    fused_from = NEVER
                return
            switches_on += 1 if used else -1
            guarding = switches_on > 0

    def current(self):
        """The value in this context."""
        return self.value()

    def set_default(self, value):
        """Set the value for contexts that have no value; returns the previous default."""
        cdef bint is_on = value != self.off
        if FREE_THREADED:
            # Never freed: another thread may have read the pointer without having taken a reference yet.
            value = kept(self.defaults, value)
        with cython.critical_section(self):
            before = self.default_
            self.default_ = value
        s0_acquire(&counting)
        self.default_on = is_on
        self.update()
        s0_leave(&counting)
        if self.guards:
            found = active_calls() if is_on else {}
            ACTIVE_CALLS.clear()
            ACTIVE_CALLS.update(found)
        return before

    cpdef tuple enter(self, value):
        """Set the value of this context; returns a state for `leave`, which resets it."""
        cdef ContextValue new = ContextValue()
        new.switch, new.value, new.before = self, value, self.innermost()
        try:
            token = PyContextVar_Set(self.variable, new)
            entered = token, new
        except MemoryError:
            # The variable may have been set before the failure.
            new.ended = True
            raise
        if value != self.off:
            s0_acquire(&counting)
            new.counted = True
            self.contexts += 1
            self.update()
            s0_leave(&counting)
        return entered

    cpdef object leave(self, tuple entered):
        """Reset the value of this context. If called in another context, end the value in all contexts that have it."""
        token, value = entered
        try:
            PyContextVar_Reset(self.variable, token)
        except ValueError:
            # The event loop may close an asynchronous generator in a task of its own.
            (<ContextValue?>value).ended = True
            (<ContextValue>value).uncount()


cdef object kept(list values, object value):
    """The item of a list that equals a value; if no item does, append the value and return it."""
    for item in values:
        if type(item) is type(value) and item == value:
            return item
    values.append(value)
    return value


# The fewest elements of a deferred result; 0 if results are not deferred: Note [Deferred results] of `program/deferred`.
FUSED = Switch("stride0.fused", 0, guards=False)

cdef Switch FUSING = FUSED
FUSED_SIZE = <int>DEFERRED_SIZE


cpdef int set_fused_from(Py_ssize_t size) except -1:
    """Set the fewest elements of a deferred result for all contexts, while the switch is on in some context."""
    global fused_from
    s0_acquire(&counting)
    if not FUSING.used:
        fused_from = NEVER
    elif size:
        fused_from = min(size, fused_from)
    s0_leave(&counting)
    return 0


cpdef tuple enter_fused(Py_ssize_t size):
    """Enter a block that defers results of `size` or more elements; returns a state for `leave_fused`."""
    cdef tuple entered = FUSING.enter(size)
    set_fused_from(size)
    return entered


cpdef int leave_fused(tuple entered, Py_ssize_t size) except -1:
    FUSING.leave(entered)
    return set_fused_from(size)


# Whether results must have the same bits on every machine.
REPRODUCIBLE = Switch("stride0.reproducible", False, guards=False)

cdef Switch REPRODUCING = REPRODUCIBLE


cdef bint is_reproducible() except -1:
    """Whether a result must not come from a library that chooses its arithmetic by the processor."""
    return REPRODUCING.used and REPRODUCING.value()


cpdef int refuse_library(str operation, str library, str instead="") except -1:
    """ReproducibilityError if the mode is on: `library` would compute an operation, whose name may begin with a module."""
    if is_reproducible():
        accepts = "write `with stride0.reproducible(False):` around the call to accept the bits of this machine"
        raise ReproducibilityError(
            operation.rpartition(".")[2], f"{library} computes it, with bits that depend on the machine",
            (("mode", "stride0.reproducible is on"),), f"{instead}, or {accepts}" if instead else accepts)
    return 0


def is_guarding():
    """Whether any switch is on in any context, so that calls are checked."""
    return guarding


cdef object enter_package():
    """Count that a function of the package runs; None while every switch is off."""
    return DEPTH.set(DEPTH.get() + 1) if guarding else None


cdef int leave_package(object token) except -1:
    if token is not None:
        DEPTH.reset(token)
    return 0


cdef Py_ssize_t package_depth() except -1:
    """The number of counted functions of the package that this code runs in."""
    cdef Py_ssize_t depth = DEPTH.get()
    # Within a call that was not counted, add 2, because `check_standard` checks at depth 1.
    return depth + 2 if ACTIVE_CALLS and is_active_call() else depth


cdef bint is_package_frame(frame) except -1:
    """Whether the code of a frame belongs to this package."""
    return module_of(frame).partition(".")[0] == "stride0"


cdef str module_of(frame):
    """The name of the module whose code runs in a frame."""
    # In code run by `exec`, the name may be any object.
    return str(frame.f_globals.get("__name__"))


cdef dict active_calls():
    """The current calls for `ACTIVE_CALLS`, except the calls that led here."""
    cdef dict found = {}, frames
    own = get_ident()
    # The frames of a running thread cannot be read; in a free-threaded interpreter other threads may run.
    stacks = {own: sys._getframe(0)} if FREE_THREADED else sys._current_frames()
    for thread, frame in stacks.items():
        while thread == own and frame is not None and is_package_frame(frame):
            frame = frame.f_back
        frames = {}
        while frame is not None:
            if is_package_frame(frame):
                frames[id(frame)] = frame.f_code
            frame = frame.f_back
        if frames:
            found[thread] = frames
    return found


cdef bint is_active_call() except -1:
    """
    Whether this code runs in a function of the package that began before a default was set.

    Frames that have left the stack are removed, because new frames may get their addresses.
    """
    cdef dict threads = ACTIVE_CALLS, left = {}, frames
    cdef bint in_package = True, found = False
    own = get_ident()
    frames = threads.get(own)
    if frames is None:
        return False
    frame = sys._getframe(0)
    while frame is not None:
        in_package = in_package and is_package_frame(frame)
        if frames.get(id(frame)) is frame.f_code:
            left[id(frame)] = frame.f_code
            found = found or in_package
        frame = frame.f_back
    if left:
        threads[own] = left
    else:
        threads.pop(own, None)
    return found


def frame_of_caller():
    """The innermost frame outside of this package, or None."""
    frame = sys._getframe(0)
    while frame is not None and is_package_frame(frame):
        frame = frame.f_back
    return frame
