# Which broadcasts are let through: the modes of `stride0.broadcasting`. Included in `array.pyx`.
#
# Note [Guarded broadcasts]
#     A mode is one value of a switch, Note [Switches]: while no mode but "standard" is set anywhere in the
#     process, a call tests one flag, and only where it has a plan.

cdef enum:
    STANDARD = 0
    POINTWISE = 1
    WARN = 2
    EXPLICIT = 3
    EXACT = 4

BROADCASTING_MODES = ("standard", "pointwise", "warn", "explicit", "exact")

BROADCASTING = Switch("stride0.broadcasting", STANDARD)
cdef Switch MODE = BROADCASTING


def mode_number(mode):
    """The number of a mode, which is the value of the switch."""
    if mode not in BROADCASTING_MODES:
        raise ArgumentValueError("broadcasting", f"there is no mode {mode!r}", (), f"one of {', '.join(BROADCASTING_MODES)}")
    return BROADCASTING_MODES.index(mode)


def mode_name(number):
    """The mode of a number."""
    return BROADCASTING_MODES[number]


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
    cdef Py_ssize_t mode = MODE.value()
    if mode != STANDARD and depth_inside() == 0:
        # Python scalars have no shape that could be stretched.
        pairs = [(label, shape_tuple(<Array>x)) for label, x in zip(names, arrays) if not (<Array>x).weak]
        judge(mode, name, pairs, tuple([shape[axis] for axis in range(ndim)]))
    return 0


cdef int check_assignment(Array target, Array source) except -1:
    """Look at `x[key] = value`."""
    cdef Py_ssize_t mode = MODE.value()
    if mode != STANDARD and depth_inside() == 0 and not source.weak:
        judge(mode, "setitem", [("x", shape_tuple(target)), ("value", shape_tuple(source))], shape_tuple(target))
    return 0


def check_broadcasting(str operation, list pairs, tuple shape):
    """Look at operands of a function written in Python, whose shapes broadcast to `shape`."""
    cdef Py_ssize_t mode
    if MODE.used:
        mode = MODE.value()
        if mode != STANDARD and depth_inside() <= 1:
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
