# Settings of a process and of its contexts: the mechanism under the modes.
#
# Note [Switches]
#     A mode costs nothing where it is not used: while every switch is off in the whole process, a call tests one
#     flag, `guarding`. Else the value is looked up in the context of the caller. Calls that functions of the package
#     make for themselves are not checked: while one runs, a counter in the context is above 0 (`package_depth`). Only
#     a function's own operands are checked: in C before it enters the package, in a function written in Python at a
#     depth of one.
#
#     A context may outlive the block that gave it a value: a task that was started in it, a copy that is run
#     later. So a switch is on for as long as any context has a value that is not off. The object that holds the
#     value lives as long as any such context, and its destructor records that the contexts are gone.
#
#     No depth is counted while every switch is off. When the default of the process is set, the active calls of other
#     threads are therefore found on their stacks, and end without checks, as they began. In a free-threaded interpreter the
#     stacks of other threads cannot be read: there a default is to be set before they start.

cdef object CPU = devices.CPU
cdef object CPU_NAME = "cpu"    # interned, as it is where others write it

# Whether any switch is on in any context that calls are checked for, and how many are.
cdef s0_shared_flag guarding = False

cdef int switches_on = 0

# Of the flags and counters of all switches, in a free-threaded interpreter.
cdef s0_lock counting = 0

cdef Py_ssize_t NEVER = sys.maxsize
cdef s0_shared_size fused_from = NEVER

cdef object DEPTH = ContextVar("stride0.depth", default=0)

# By thread identifier, the calls that began before a default was set: the addresses of their frames, each with its
# code. References to the frames would keep alive what the calls hold, long after they end.
cdef dict ACTIVE_CALLS = {}


@cython.final
@cython.no_gc
cdef class ContextValue:
    """The value of a switch in a context (and its copies), and the value before it."""

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
    """A setting with one value per context, and a default of the process for contexts that have none of their own."""

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
        """Set the flags by the counters; the caller holds the lock."""
        global guarding, switches_on, fused_from
        cdef bint used = self.contexts > 0 or self.default_on
        if used != self.used:
            self.used = used
            if not self.guards:
                if not used:
                    fused_from = NEVER
                return
            switches_on += 1 if used else -1
            guarding = switches_on > 0

    def current(self):
        """The value in this context."""
        return self.value()

    def set_default(self, value):
        """Set the value of all contexts that have none of their own; returns the previous one."""
        cdef bint is_on = value != self.off
        if FREE_THREADED:
            # Never freed: another thread may have read the pointer, and not yet taken a reference.
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
        """Set the value of this context; returns what `leave` needs to reset it."""
        cdef ContextValue new = ContextValue()
        new.switch, new.value, new.before = self, value, self.innermost()
        try:
            token = PyContextVar_Set(self.variable, new)
            entered = token, new
        except MemoryError:
            # The variable may have been set.
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
        """Reset the value of this context; called in another context, end the value in all that have it."""
        token, value = entered
        try:
            PyContextVar_Reset(self.variable, token)
        except ValueError:
            # The event loop may close an asynchronous generator in a task of its own.
            (<ContextValue?>value).ended = True
            (<ContextValue>value).uncount()


cdef object kept(list values, object value):
    """An item of a list that equals a value; the value itself, which is appended, where there is none."""
    for item in values:
        if type(item) is type(value) and item == value:
            return item
    values.append(value)
    return value


# The fewest elements of a result that is deferred; 0 where none is: Note [Deferred results] of `program/deferred`.
FUSED = Switch("stride0.fused", 0, guards=False)

cdef Switch FUSING = FUSED
FUSED_SIZE = <int>DEFERRED_SIZE


cpdef int set_fused_from(Py_ssize_t size) except -1:
    """Set the fewest elements of a result that may be deferred in any context, while the switch is on in some."""
    global fused_from
    s0_acquire(&counting)
    if not FUSING.used:
        fused_from = NEVER
    elif size:
        fused_from = min(size, fused_from)
    s0_leave(&counting)
    return 0


cpdef tuple enter_fused(Py_ssize_t size):
    """Enter a block that defers results of so many elements; returns what `leave_fused` needs."""
    cdef tuple entered = FUSING.enter(size)
    set_fused_from(size)
    return entered


cpdef int leave_fused(tuple entered, Py_ssize_t size) except -1:
    FUSING.leave(entered)
    return set_fused_from(size)


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
    """How many functions of the package this code runs in, as far as they were counted."""
    cdef Py_ssize_t depth = DEPTH.get()
    # Calls that were not counted: 2 or more is deep enough, as `check_standard` checks at a depth of 1.
    return depth + 2 if ACTIVE_CALLS and is_active_call() else depth


cdef bint is_package_frame(frame) except -1:
    """Whether the code of a frame belongs to this package."""
    return module_of(frame).partition(".")[0] == "stride0"


cdef str module_of(frame):
    """The name of the module whose code runs in a frame."""
    # In code that `exec` runs, the name may be any object.
    return str(frame.f_globals.get("__name__"))


cdef dict active_calls():
    """The value of `ACTIVE_CALLS` now, without the calls that lead to this one."""
    cdef dict found = {}, frames
    own = get_ident()
    # The frames of a thread that runs cannot be read: in a free-threaded interpreter those of others run.
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
    Whether a function of the package that this code runs in began before a default was set.

    Frames that are no longer on the stack are removed, as new frames may get their addresses.
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
    """The innermost frame outside of this package; None where there is none."""
    frame = sys._getframe(0)
    while frame is not None and is_package_frame(frame):
        frame = frame.f_back
    return frame
