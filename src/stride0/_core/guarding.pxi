# Which broadcasts are let through: the modes of `stride0.broadcasting`. Included in `array.pyx`.
#
# Note [Guarded broadcasts]
#     Who asks for no guard pays for none: as long as no mode but "standard" is set anywhere in the process, a
#     call tests one flag, and only where it has a plan. Else the mode is looked up in the context of the
#     caller. What a function of the package broadcasts for its own purposes is no business of the caller's: while
#     one runs, a counter in the context says so, and only the checks that belong to its own operands look.

cdef enum:
    STANDARD = 0
    POINTWISE = 1
    WARN = 2
    EXPLICIT = 3
    EXACT = 4

BROADCASTING_MODES = ("standard", "pointwise", "warn", "explicit", "exact")

cdef bint guarding = False     # whether a mode but "standard" is set anywhere
cdef int default_mode = STANDARD
cdef Py_ssize_t contexts = 0   # that have a mode of their own
cdef object MODE = ContextVar("stride0.broadcasting")
cdef object INSIDE = ContextVar("stride0.inside", default=0)


cdef int mode_number(object mode) except -1:
    if mode not in BROADCASTING_MODES:
        raise ArgumentValueError("broadcasting", f"there is no mode {mode!r}", (), f"one of {', '.join(BROADCASTING_MODES)}")
    return BROADCASTING_MODES.index(mode)


def set_default_broadcasting(mode):
    """Set the mode of all contexts that have none of their own. Returns the one before."""
    global default_mode, guarding
    before = BROADCASTING_MODES[default_mode]
    default_mode = mode_number(mode)
    guarding = contexts > 0 or default_mode != STANDARD
    return before


def enter_broadcasting(mode):
    """Set the mode of this context; what `leave_broadcasting` needs to set it back."""
    global contexts, guarding
    token = MODE.set(mode_number(mode))
    contexts += 1
    guarding = True
    return token


def leave_broadcasting(token):
    """Set back the mode of this context."""
    global contexts, guarding
    MODE.reset(token)
    contexts -= 1
    guarding = contexts > 0 or default_mode != STANDARD


def broadcasting_mode():
    """The mode of this context."""
    return BROADCASTING_MODES[MODE.get(default_mode)]


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


cdef int warn_caller(object error) except -1:
    """Warn at the line that called into the package: once per line, unless filters say otherwise."""
    frame = frame_of_caller()
    if frame is None:
        warnings.warn(BroadcastWarning(str(error)), stacklevel=1)
    else:
        warnings.warn_explicit(BroadcastWarning(str(error)), BroadcastWarning, frame.f_code.co_filename, frame.f_lineno,
                               module=frame.f_globals.get("__name__"), registry=frame.f_globals.setdefault("__warningregistry__", {}))
    return 0


cdef int check_guard(str name, tuple names, tuple arrays, int ndim, const Py_ssize_t* shape) except -1:
    """Look at the operands of an elementwise operation, which broadcast to a shape."""
    cdef Py_ssize_t mode = MODE.get(default_mode)
    if mode != STANDARD and INSIDE.get() == 0:
        # Python scalars have no shape that could be stretched.
        pairs = [(label, shape_tuple(<Array>x)) for label, x in zip(names, arrays) if not (<Array>x).weak]
        judge(mode, name, pairs, tuple([shape[axis] for axis in range(ndim)]))
    return 0


cdef int check_assignment(Array target, Array source) except -1:
    """Look at `x[key] = value`."""
    cdef Py_ssize_t mode = MODE.get(default_mode)
    if mode != STANDARD and INSIDE.get() == 0 and not source.weak:
        judge(mode, "setitem", [("x", shape_tuple(target)), ("value", shape_tuple(source))], shape_tuple(target))
    return 0


def check_broadcasting(str operation, list pairs, tuple shape):
    """Look at operands of a function written in Python, whose shapes broadcast to `shape`."""
    cdef Py_ssize_t mode
    if guarding:
        mode = MODE.get(default_mode)
        if mode != STANDARD and INSIDE.get() <= 1:
            judge(mode, operation, pairs, shape)


cdef int judge(int mode, str name, list pairs, tuple shape) except -1:
    shapes = [found for _, found in pairs if found or mode == EXACT]
    if mode == EXPLICIT:
        if len({len(found) for found in shapes}) > 1:
            raise StretchError(name, pairs, "explicit", "operands have different numbers of axes")
    elif mode == EXACT:
        if any([found != shape for found in shapes]):
            raise StretchError(name, pairs, "exact", "an operand would be stretched")
    elif mode == WARN:
        if any([found != shape for found in shapes]):
            warn_caller(StretchError(name, pairs, "warn", "an operand is stretched"))
    elif mode == POINTWISE:
        sizes = [math.prod(found) for found in shapes]
        total = math.prod(shape)
        if any([1 < size < total and sizes.count(size) > 1 for size in sizes]):
            warn_caller(StretchError(name, pairs, "pointwise", "operands of equal size stretch each other"))
    return 0
