# Checks of calls that a context turns on: guards of broadcasts, strict mode, test configurations.
#
# Note [Guarded broadcasts]
#     A mode is the value of a switch, Note [Switches]. While every context of the process has the mode "standard", a call
#     tests one flag, and only if it has a plan.
#
# Note [Whose code]
#     Strict mode checks all code except this package, or only the modules that a `Scope` names. For a `Scope`, the frame
#     that called into the package decides: the innermost frame on the stack whose code does not belong to this package. NumPy's frames are
#     skipped unless NumPy is named: `numpy.sum(x)` is a call of the code that contains it. Compiled code has no frames;
#     the Python code that called it decides.
#
# Note [Interceptors]
#     If strict mode or a test configuration is on for the user's code, `make_call` passes its calls to `intercept`, Note [Calls]:
#     the interceptor of `stride0._modes.interceptors` checks the operands before the call and the result after it. Calls within
#     such a call are not intercepted: the context says that the package is running. So functions and kernels contain no code
#     for modes.

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
    """The value of the switch for a mode's name."""
    if mode not in BROADCASTING_MODES:
        raise ArgumentValueError("broadcasting", f"mode is {mode!r}", (), f"pass one of {', '.join(BROADCASTING_MODES)}")
    return BROADCASTING_MODES.index(mode)


def mode_name(number):
    """The mode's name for a value of the switch."""
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


def check_broadcasting(str operation, list pairs, tuple shape):
    """Check the operands of a function written in Python; their shapes broadcast to `shape`."""
    cdef Py_ssize_t mode
    if MODE.used:
        mode = MODE.value()
        if mode != STANDARD and package_depth() <= 1:
            enforce_mode(mode, operation, pairs, shape)


cdef int enforce_current_mode(str name, list pairs, tuple shape) except -1:
    """If `is_restricted`, check operands whose shapes broadcast to `shape`."""
    return enforce_mode(MODE.value(), name, pairs, shape)


cdef int enforce_mode(int mode, str name, list pairs, tuple shape) except -1:
    shapes = [found for _, found in pairs if found or mode == EXACT]
    if mode == EXPLICIT:
        if len({len(found) for found in shapes}) > 1:
            raise StretchError(name, pairs, "explicit", "operands have different numbers of axes")
    elif mode == EXACT:
        if any([found != shape for found in shapes]):
            raise StretchError(name, pairs, "exact", "an operand would be broadcast")
    elif mode == WARN:
        if any([found != shape for found in shapes]):
            warn_caller(StretchError(name, pairs, "warn", "an operand is broadcast"))
    elif mode == POINTWISE:
        sizes = [math.prod(found) for found in shapes]
        total = math.prod(shape)
        if any([1 < size < total and sizes.count(size) > 1 for size in sizes]):
            warn_caller(StretchError(name, pairs, "pointwise", "two operands of equal size are broadcast to a larger shape"))
    return 0


# The value is False, True, or a Scope.
STRICT = Switch("stride0.strict", False)

cdef Switch STRICTNESS = STRICT
cdef str FOREIGN_FUNCTION = "Array object, __array_namespace__: arrays are passed to functions of their own namespace"


@cython.final
cdef class Scope:
    """
    The code that strict mode checks.

    Parameters
    ----------
    modules : tuple of str, optional
        Names of modules and packages; None means all code.
    exempt : tuple of str
        Names of modules and packages that are not checked.
    """

    cdef readonly tuple modules
    cdef readonly tuple exempt
    cdef dict known  # whether a module is checked, or None if its caller decides

    def __init__(self, tuple modules, tuple exempt not None):
        self.modules, self.exempt, self.known = modules, exempt, {}

    cdef bint covers_caller(self) except -1:
        """Whether the code that called into the package belongs to these modules."""
        frame = sys._getframe(0)
        while frame is not None:
            name = module_of(frame)
            try:
                found = self.known[name]
            except KeyError:
                found = self.known[name] = self.covers(name)
            if found is not None:
                return found
            frame = frame.f_back
        return self.modules is None

    cdef object covers(self, str name):
        """Whether the code of a module is checked; None if the code that calls it decides."""
        exempt = is_within(name, self.exempt)
        named = exempt or (self.modules is not None and is_within(name, self.modules))
        if named or name.partition(".")[0] not in ("stride0", "numpy"):
            return not exempt and (named or self.modules is None)
        return None


cdef bint is_within(str name, tuple packages) except -1:
    """Whether a module is one of `packages` or lies in one."""
    for package in packages:
        if name == package or name.startswith(package + "."):
            return True
    return False


cdef bint is_strict_here() except -1:
    """Whether strict mode is on in this context for the calling code."""
    value = STRICTNESS.value()
    return (<Scope>value).covers_caller() if type(value) is Scope else value


cdef int refuse_nonstandard(str operation, str fact, str sentence) except -1:
    """StrictError in a strict call: see `beyond_standard`."""
    if is_strict_call():
        raise StrictError(operation, fact, sentence)
    return 0


cdef bint is_strict_call() except -1:
    """Whether the user's own code made this call in strict mode."""
    return STRICTNESS.used and package_depth() == 0 and is_strict_here()


cdef int refuse_strictly(str name) except -1:
    """`refuse_attribute` while a switch is on."""
    if is_strict_call():
        raise StrictAttributeError(name, "an attribute of an array", f"Array object: arrays have no attribute {name}")
    return 0


cdef int refuse_method(str name) except -1:
    """The same for a method."""
    if guarding and is_strict_call():
        # Without the method, NumPy functions would convert the array to a NumPy array and go on.
        if module_of(sys._getframe(0)).partition(".")[0] == "numpy":
            refuse_foreign_function(name)
        refuse_attribute(name)
    return 0


def refuse_foreign_function(str name):
    """StrictError in a strict call: a NumPy function is called with an array."""
    if is_strict_call():
        raise StrictError(name, "a function of NumPy is called with an array", FOREIGN_FUNCTION)


cdef str reading_function():
    """The NumPy function written in Python that reads an array; "" for comparisons in tests, None if NumPy does not read it."""
    frame, name = sys._getframe(0), None
    while frame is not None:
        module = module_of(frame)
        if module.partition(".")[0] != "numpy":
            break
        name = frame.f_code.co_name
        # These functions report any error as a difference.
        if module.startswith("numpy.testing") or name in ("array_equal", "array_equiv"):
            return ""
        frame = frame.f_back
    return name


cdef int refuse_reading(str operation) except -1:
    """
    StrictError if a NumPy function written in Python reads an array in a strict call; LazyError if the user's own code
    reads one in a test configuration of lazy arrays. Comparisons in tests may read.
    """
    if not is_users_call():
        return 0
    name = reading_function()
    if name:
        refuse_foreign_function(name)
    return 0 if name == "" else refuse_lazy(operation)


# --- dtypes and devices
#
# Lower layers define their types, and this package reads their attributes too: the calling frame decides whether to check.


cdef int refuse_users_read(error, str operation, str fact, str sentence) except -1:
    if is_strict_call() and not SUSPENDED.get() and not is_package_frame(sys._getframe(0)):
        raise error(operation, fact, sentence)
    return 0


cdef int refuse_of_dtype(str attribute) except -1:
    """Check the read of a dtype's attribute, or the comparison of a dtype if `attribute` is None, while strict mode is on somewhere."""
    if attribute is None:
        return refuse_users_read(StrictError, "dtype", "a dtype is compared with an object that is not a dtype", "Data Types: dtypes are equal to dtypes of the library")
    if attribute == "__numpy_dtype__":
        # No AttributeError: NumPy would go on without the attribute, and report an error of its own.
        return refuse_users_read(StrictError, "numpy.dtype", "a dtype is given to a function of NumPy",
                                 "Data Type Functions: dtypes are passed to functions of the namespace, such as finfo, iinfo and isdtype")
    return refuse_users_read(StrictAttributeError, attribute, "an attribute of a dtype", f"Data Types: dtypes have no attribute {attribute}")

guard_dtypes(&STRICTNESS.used, refuse_of_dtype)


@cython.final
cdef class DeviceName:
    """The attribute `name` of devices."""

    def __get__(self, device, owner):
        if device is None:
            return self
        if STRICTNESS.used:
            refuse_users_read(StrictAttributeError, "name", "an attribute of a device", "Device support: devices have no attribute name")
        return device._name

    def __set__(self, device, value):
        raise AttributeError("Device objects cannot be changed: 'name'")


def __eq__(device, other):
    if isinstance(other, Device):
        return device._name == other._name
    if STRICTNESS.used:
        refuse_users_read(StrictError, "device", "a device is compared with an object that is not a device", "Device support: devices are equal to devices of the library")
    return NotImplemented

Device.name = DeviceName()
Device.__eq__ = __eq__


def check_standard(str operation, str fact, str sentence):
    """
    StrictError if strict mode is on: `beyond_standard` for functions written in Python.

    `fact` says what was done: "dtype is the builtin type float". `sentence` names a place in the standard and says what it
    requires: "Data types: a dtype is an object of the namespace".
    """
    if STRICTNESS.used and package_depth() <= 1 and is_strict_here():
        raise StrictError(operation, fact, sentence)


def is_strict():
    """Whether strict mode is on in this context for the calling code."""
    return STRICTNESS.used and is_strict_here()


# True within an intercepted call: calls that it makes are not checked.
cdef object SUSPENDED = ContextVar("stride0.suspended", default=False)

# The names of `CallKind` for the interceptor.
cdef tuple CALL_KINDS = ("function", "operator", "in-place", "getitem", "setitem")

# Set by `stride0._modes.interceptors`, which the core cannot import.
cdef object interceptor_enter = None
cdef object interceptor_leave = None

CONFIGURATION = Switch("stride0.configuration", None)

cdef Switch CONFIGURATIONS = CONFIGURATION


cdef bint is_users_call() except -1:
    """Whether the user's own code made this call, not a function of the package."""
    return not SUSPENDED.get() and package_depth() == 0


cdef bint exports_read_only() except -1:
    """Whether the user's own code exports memory in a test configuration of read-only arrays."""
    if not CONFIGURATIONS.used or not is_users_call():
        return False
    configuration = CONFIGURATIONS.value()
    return configuration is not None and not configuration.writable


cdef int refuse_lazy(str operation) except -1:
    """LazyError if the user's own code asks for the value of an array, in a test configuration of lazy arrays."""
    if not CONFIGURATIONS.used or not is_users_call():
        return 0
    configuration = CONFIGURATIONS.value()
    if configuration is not None and configuration.lazy:
        configuration.refuse_value(operation)
    return 0


cdef object copy_of_view(object view):
    """The view that a property or an iterator returns, or its copy in a test configuration that makes views copies."""
    if not CONFIGURATIONS.used or not is_users_call():
        return view
    configuration = CONFIGURATIONS.value()
    return view if configuration is None or configuration.views else configuration.copied(view)


cdef int check_method_version(str method, dict given) except -1:
    """Refuse arguments that the test configuration's version of the standard does not have."""
    if not is_users_call():
        return 0
    configuration = CONFIGURATIONS.value()
    if configuration is not None:
        configuration.check_method(method, given)
    return 0


def set_interceptor(enter, leave):
    """
    Set the interceptor of calls.

    `enter` gets the kind of call (one of `CALL_KINDS`), the name, the positional and the named arguments. It returns None or a
    state: a configuration and its record of the call. If the record has an attribute `answer`, a tuple of the result, the call
    is not executed. `leave` gets the state and the result, and returns the result.
    """
    global interceptor_enter, interceptor_leave
    interceptor_enter, interceptor_leave = enter, leave


cdef bint is_intercepted() except -1:
    """Whether the user's own code made this call, so that it is intercepted."""
    if not (STRICTNESS.used or CONFIGURATIONS.used) or not is_users_call():
        return False
    return (STRICTNESS.used and is_strict_here()) or CONFIGURATIONS.value() is not None


cdef bint is_restricted() except -1:
    """Whether a mode restricts the broadcasts of this call."""
    return MODE.used and MODE.value() != STANDARD and package_depth() == 0


cdef object test_configuration():
    """The test configuration of this context, or None."""
    return CONFIGURATIONS.value() if CONFIGURATIONS.used else None


cdef object suspend_checks():
    """Do not check calls until `resume_checks`."""
    return SUSPENDED.set(True)


cdef int resume_checks(object token) except -1:
    SUSPENDED.reset(token)
    return 0


cdef object intercept(Call* call, Body execute):
    """
    Let the interceptor check the operands of a call, execute the call, and let the interceptor check the result.

    Calls made within this call are not checked. If the interceptor returns an answer, the call is not executed. `leave` is not
    called after a write.
    """
    cdef Py_ssize_t k
    cdef tuple args = tuple([<object>call.args[k] for k in range(call.n)])
    cdef dict kwargs = {}
    if call.kwnames is not NULL:
        for k, name in enumerate(<tuple>call.kwnames):
            kwargs[name] = <object>call.args[call.n + k]
    token = SUSPENDED.set(True)
    try:
        state = interceptor_enter(CALL_KINDS[call.kind], <str>call.name, args, kwargs)
        answer = None if state is None else getattr(state[1], "answer", None)
        out = execute(call) if answer is None else answer[0]
        if state is None or out is NotImplemented or call.kind == CALL_IN_PLACE or call.kind == CALL_SETITEM:
            return out
        return interceptor_leave(state, out)
    finally:
        SUSPENDED.reset(token)
