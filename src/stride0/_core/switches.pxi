# Settings of a process and of its contexts: the mechanism under `stride0.broadcasting`, `stride0.strict` and
# `stride0.testing.flags`. Included in `array.pyx`.
#
# Note [Switches]
#     Who sets nothing pays for nothing: as long as a switch is off everywhere in the process, a call tests one
#     flag, `guarding`. Else the value is looked up in the context of the caller. What functions of the package
#     do for their own purposes is no business of the caller's: while one runs, a counter in the context says
#     so, and only checks of its own operands look: those in C before it has stepped inside, those in a
#     function written in Python at the depth of one.

# Whether a switch is on anywhere.
cdef bint guarding = False
cdef list SWITCHES = []
cdef object INSIDE = ContextVar("stride0.inside", default=0)


@cython.final
cdef class Switch:
    """A setting with one value per context, and one of the process for contexts that have none of their own."""

    cdef bint used             # whether it is on anywhere
    cdef readonly object off   # the value that changes nothing
    cdef object default_
    cdef Py_ssize_t contexts   # that have a value of their own
    cdef object variable

    def __cinit__(self, str name, off):
        self.off = self.default_ = off
        self.variable = ContextVar(name)
        SWITCHES.append(self)

    cdef object value(self):
        return self.variable.get(self.default_)

    cdef int notice(self) except -1:
        global guarding
        self.used = self.contexts > 0 or self.default_ != self.off
        guarding = any([(<Switch>switch).used for switch in SWITCHES])
        return 0

    def current(self):
        """The value that holds in this context."""
        return self.value()

    def set_default(self, value):
        """Set the value of all contexts that have none of their own. Returns the one before."""
        before, self.default_ = self.default_, value
        self.notice()
        return before

    def enter(self, value):
        """Set the value of this context; what `leave` needs to set it back."""
        token = self.variable.set(value)
        self.contexts += 1
        self.notice()
        return token

    def leave(self, token):
        """Set back the value of this context."""
        self.variable.reset(token)
        self.contexts -= 1
        self.notice()


cdef object step_inside():
    """Say that a function of the package runs; None where nobody guards."""
    return INSIDE.set(INSIDE.get() + 1) if guarding else None


cdef int step_outside(object token) except -1:
    if token is not None:
        INSIDE.reset(token)
    return 0


def frame_of_caller():
    """The frame of the code, outside of this package, that is running; None where there is none."""
    frame = sys._getframe(0)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "stride0":
        frame = frame.f_back
    return frame
