# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Settings of a process and of its contexts: the mechanism under the modes.

Note [Switches]
    Who sets nothing pays for nothing: as long as a switch is off everywhere in the process, a call tests one
    flag, `guarding`. Else the value is looked up in the context of the caller. What functions of the package
    do for their own purposes is no business of the caller's: while one runs, a counter in the context says
    so, and only checks of its own operands look: those in C before it has stepped inside, those in a
    function written in Python at the depth of one.

    A context may outlive the block that gave it a value: a task that was started in it, a copy that is run
    later. So a switch is on for as long as any context holds a value of its own that is not off, which the
    life of the object says that contexts hold.

    Nobody counts while every switch is off. Calls of other threads that are under way when the default of the
    process is set are therefore found on their stacks: they end as they began.
"""

cimport cython

import sys
from contextvars import ContextVar
from _thread import get_ident

from stride0._base.errors import counted

# Whether a switch is on anywhere, and how many are.
cdef bint guarding = False

cdef int switches_on = 0

cdef object INSIDE = ContextVar("stride0.inside", default=0)

# By the number of a thread, the calls that began before a default was set: the addresses of their frames, each with its
# code. The frames themselves would keep alive what the calls held, long after they ended.
cdef dict UNDER_WAY = {}


@cython.final
@cython.no_gc
cdef class Held:
    """The value of a switch that contexts hold, and the one that they held before."""

    cdef void uncount(self) noexcept:
        if self.counted:
            self.counted = False
            self.switch.contexts -= 1
            self.switch.notice()

    def __dealloc__(self):
        self.uncount()


@cython.final
cdef class Switch:
    """A setting with one value per context, and one of the process for contexts that have none of their own."""

    def __cinit__(self, str name, off):
        self.off = self.default_ = off
        self.variable = ContextVar(name)

    cdef Held held(self):
        cdef Held held = self.variable.get(None)
        while held is not None and held.over:
            held = held.before
        return held

    cdef object value(self):
        cdef Held held = self.held()
        return self.default_ if held is None else held.value

    cdef void notice(self) noexcept:
        global guarding, switches_on
        cdef bint used = self.contexts > 0 or self.default_on
        if used != self.used:
            self.used = used
            switches_on += 1 if used else -1
            guarding = switches_on > 0

    def current(self):
        """The value that holds in this context."""
        return self.value()

    def set_default(self, value):
        """Set the value of all contexts that have none of their own. Returns the one before."""
        global UNDER_WAY
        before, self.default_ = self.default_, value
        self.default_on = value != self.off
        self.notice()
        UNDER_WAY = frames_of_calls() if self.default_on else {}
        return before

    def enter(self, value):
        """Set the value of this context; what `leave` needs to set it back."""
        cdef Held held = Held()
        held.switch, held.value, held.before = self, value, self.held()
        token = self.variable.set(held)
        if value != self.off:
            held.counted = True
            self.contexts += 1
            self.notice()
        return token, held

    def leave(self, tuple entered not None):
        """Set back the value of this context; called in another, end it wherever it came from."""
        token, held = entered
        try:
            self.variable.reset(token)
        except ValueError:
            # An asynchronous generator may be closed by a task of the event loop's own.
            (<Held>held).over = True
            (<Held>held).uncount()


def is_guarding():
    """Whether a switch is on anywhere, so that calls are looked at."""
    return guarding


cdef object step_inside():
    """Say that a function of the package runs; None where nobody guards."""
    return INSIDE.set(INSIDE.get() + 1) if guarding else None


cdef int step_outside(object token) except -1:
    if token is not None:
        INSIDE.reset(token)
    return 0


cdef Py_ssize_t depth_inside() except -1:
    """How many functions of the package this code runs in, as far as anybody counted."""
    cdef Py_ssize_t depth = INSIDE.get()
    # Any more will do where nobody did: `check_standard` looks at a depth of one.
    return depth + 2 if UNDER_WAY and is_under_way() else depth


cdef bint is_ours(frame) except -1:
    """Whether a frame is of this package."""
    return module_of(frame).partition(".")[0] == "stride0"


cdef str module_of(frame):
    """The name of the module whose code runs in a frame."""
    # Code that is run by `exec` may have anything for a name.
    return str(frame.f_globals.get("__name__"))


cdef dict frames_of_calls():
    """What `UNDER_WAY` is now, but for the calls that lead to this one."""
    cdef dict found = {}, frames
    own = get_ident()
    for thread, frame in sys._current_frames().items():
        while thread == own and frame is not None and is_ours(frame):
            frame = frame.f_back
        frames = {}
        while frame is not None:
            if is_ours(frame):
                frames[id(frame)] = frame.f_code
            frame = frame.f_back
        if frames:
            found[thread] = frames
    return found


cdef bint is_under_way() except -1:
    """
    Whether the functions of the package that this code runs in began before a default was set.

    The frames that are no longer on the stack are forgotten: from now on others may have their addresses.
    """
    cdef dict threads = UNDER_WAY, left = {}, frames
    cdef bint ours = True, found = False
    own = get_ident()
    frames = threads.get(own)
    if frames is None:
        return False
    frame = sys._getframe(0)
    while frame is not None:
        ours = ours and is_ours(frame)
        if frames.get(id(frame)) is frame.f_code:
            left[id(frame)] = frame.f_code
            found = found or ours
        frame = frame.f_back
    if left:
        threads[own] = left
    else:
        threads.pop(own, None)
    return found


def frame_of_caller():
    """The frame of the code, outside of this package, that is running; None where there is none."""
    frame = sys._getframe(0)
    while frame is not None and is_ours(frame):
        frame = frame.f_back
    return frame
