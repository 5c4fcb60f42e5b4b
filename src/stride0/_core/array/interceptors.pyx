# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Checks of calls that a context asks for: broadcasts, the standard, and what configurations of tests allow.

Note [Guarded broadcasts]
    A mode is one value of a switch, Note [Switches]: while no mode but "standard" is set anywhere in the
    process, a call tests one flag, and only where it has a plan.

Note [Whose code]
    Strict mode is for all code but this package, or for modules by name: a `Scope`. Then the frame decides that called
    into the package: the nearest on the stack that is not ours, be it of a module between the caller and us. NumPy's
    frames are passed over, unless NumPy is named: `numpy.sum(x)` is a call of whoever wrote it. Compiled code has no
    frames; the Python code that called it stands for it.

Note [Interceptors]
    Calls of the caller's own code come in through few functions: the operations of the table (`unary`, `binary`,
    `in_place`), keys (`get_item`, `set_item`), `Primitive`, and a handful of compiled functions. Each tests the flag of
    Note [Switches]. Where strict mode or a test configuration is on, the interceptor of `stride0._modes.interceptors`
    checks the operands before the call and the result after it. Calls that a function makes for itself are not
    intercepted: the context says that the package is running. So neither functions nor kernels know of modes.
"""

cimport cython

from stride0._core.memory.dtype cimport guard_dtypes
from stride0._core.array.switches cimport Switch, depth_inside, guarding, is_ours, module_of

import math
import sys
import warnings
from contextvars import ContextVar

from stride0._base.devices import Device
from stride0._base.errors import ArgumentValueError, BroadcastWarning, StretchError, StrictAttributeError, StrictError
from stride0._core.array.switches import frame_of_caller

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


def check_broadcasting(str operation, list pairs, tuple shape):
    """Look at operands of a function written in Python, whose shapes broadcast to `shape`."""
    cdef Py_ssize_t mode
    if MODE.used:
        mode = MODE.value()
        if mode != STANDARD and depth_inside() <= 1:
            judge(mode, operation, pairs, shape)


cdef int judge_here(str name, list pairs, tuple shape) except -1:
    """Look at operands whose shapes broadcast to `shape`, where `is_restricted`."""
    return judge(MODE.value(), name, pairs, shape)


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


# False, True, or a Scope.
STRICT = Switch("stride0.strict", False)

cdef Switch STRICTNESS = STRICT
cdef str FOREIGN_FUNCTION = "Array object, __array_namespace__: functions of arrays are those of their namespace"


@cython.final
cdef class Scope:
    """
    The code that strict mode is for.

    Parameters
    ----------
    modules : tuple of str, optional
        Names of modules and packages; None is all code.
    exempt : tuple of str
        Names of those that it is not for.
    """

    cdef readonly tuple modules
    cdef readonly tuple exempt

    def __init__(self, tuple modules, tuple exempt not None):
        self.modules, self.exempt = modules, exempt

    cdef bint covers_caller(self) except -1:
        """Whether the code that called into the package is of these modules."""
        frame = sys._getframe(0)
        while frame is not None:
            name = module_of(frame)
            exempt = is_within(name, self.exempt)
            named = exempt or (self.modules is not None and is_within(name, self.modules))
            if named or name.partition(".")[0] not in ("stride0", "numpy"):
                return not exempt and (named or self.modules is None)
            frame = frame.f_back
        return self.modules is None


cdef bint is_within(str name, tuple packages) except -1:
    """Whether a module is one of these or lies in one."""
    for package in packages:
        if name == package or name.startswith(package + "."):
            return True
    return False


cdef bint holds() except -1:
    """Whether strict mode holds in this context for the code that calls."""
    value = STRICTNESS.value()
    return (<Scope>value).covers_caller() if type(value) is Scope else value


cdef int refuse_beyond(str operation, str fact, str sentence) except -1:
    """StrictError where strict mode is on: see `beyond_standard`."""
    if strictly():
        raise StrictError(operation, fact, sentence)
    return 0


cdef bint strictly() except -1:
    """Whether the caller's code may do what the standard defines and nothing else."""
    return STRICTNESS.used and depth_inside() == 0 and holds()


cdef int refuse_attribute(str name) except -1:
    """An attribute of arrays that the standard does not have is asked for."""
    if guarding and strictly():
        raise StrictAttributeError(name, "an attribute of an array", f"Array object: arrays have no attribute {name}")
    return 0


cdef int refuse_method(str name) except -1:
    """The same of a method."""
    if guarding and strictly():
        # NumPy's functions go on without a method that they do not find, and make arrays of their own.
        if module_of(sys._getframe(0)).partition(".")[0] == "numpy":
            refuse_foreign_function(name)
        refuse_attribute(name)
    return 0


def refuse_foreign_function(str name):
    """A function of NumPy is called with an array: StrictError where strict mode is on."""
    if strictly():
        raise StrictError(name, "a function of NumPy is called with an array", FOREIGN_FUNCTION)


# --- dtypes and devices
#
# They lie below, and the package asks them for their names at every depth: the frame that asks tells whose code it is.


cdef int refuse_outside(error, str operation, str fact, str sentence) except -1:
    if strictly() and not PASSED.get() and not is_ours(sys._getframe(0)):
        raise error(operation, fact, sentence)
    return 0


cdef int refuse_of_dtype(str attribute) except -1:
    """An attribute of a dtype is asked for, or a dtype is compared where `attribute` is None, while strict mode is used."""
    if attribute is None:
        return refuse_outside(StrictError, "dtype", "a dtype is compared with what is none", "Data Types: dtypes are equal to dtypes of the library")
    return refuse_outside(StrictAttributeError, attribute, "an attribute of a dtype", f"Data Types: dtypes have no attribute {attribute}")

guard_dtypes(&STRICTNESS.used, refuse_of_dtype)


@cython.final
cdef class DeviceName:
    """The attribute `name` of devices."""

    def __get__(self, device, owner):
        if device is None:
            return self
        if STRICTNESS.used:
            refuse_outside(StrictAttributeError, "name", "an attribute of a device", "Device support: devices have no attribute name")
        return device._name

    def __set__(self, device, value):
        raise AttributeError("Device objects cannot be changed: 'name'")

Device.name = DeviceName()


def check_standard(str operation, str fact, str sentence):
    """
    The same for functions written in Python, about their own arguments: StrictError where strict mode is on.

    Parameters
    ----------
    operation : str
        Name of the function, for the error.
    fact : str
        What was done, in the words "dtype is the builtin type float".
    sentence : str
        What the standard says, in our words, with the place: "Data types: a dtype is an object of the namespace".
    """
    if STRICTNESS.used and depth_inside() <= 1 and holds():
        raise StrictError(operation, fact, sentence)


def is_strict():
    """Whether strict mode holds in this context for the code that calls."""
    return STRICTNESS.used and holds()


cdef object PASSED = ContextVar("stride0.passed", default=False)

# Set by `stride0._modes.interceptors`, which the core cannot import.
cdef object interceptor_enter = None
cdef object interceptor_leave = None

CONFIGURATION = Switch("stride0.configuration", None)

cdef Switch CONFIGURATIONS = CONFIGURATION


cdef bint is_callers_own() except -1:
    """Whether what runs was asked for by the caller's own code, and not by a function of the package."""
    return not PASSED.get() and depth_inside() == 0


cdef bint exports_read_only() except -1:
    """Whether the caller's own code asks for memory in a test configuration of read-only arrays."""
    if not CONFIGURATIONS.used or not is_callers_own():
        return False
    configuration = CONFIGURATIONS.value()
    return configuration is not None and not configuration.writable


cdef int refuse_later(str method, dict given) except -1:
    """Check arguments that a method has only from some version of the standard on, against that of the test configuration."""
    if not is_callers_own():
        return 0
    configuration = CONFIGURATIONS.value()
    if configuration is not None:
        configuration.check_method(method, given)
    return 0


def set_interceptor(enter, leave):
    """
    Set the interceptor of calls.

    Parameters
    ----------
    enter : callable
        Is handed the way in ("function", "operator", "in-place", "getitem", "setitem"), the name, the positional
        arguments and the named ones; returns None, or what `leave` needs.
    leave : callable
        Is handed that and the result; returns the result.
    """
    global interceptor_enter, interceptor_leave
    interceptor_enter, interceptor_leave = enter, leave


cdef bint is_intercepted() except -1:
    """Whether this call is the caller's own, and is to be intercepted."""
    if not (STRICTNESS.used or CONFIGURATIONS.used) or not is_callers_own():
        return False
    return (STRICTNESS.used and holds()) or CONFIGURATIONS.value() is not None


cdef bint is_restricted() except -1:
    """Whether the caller's broadcasts are restricted here."""
    return MODE.used and MODE.value() != STANDARD and depth_inside() == 0


cdef object test_configuration():
    """The test configuration of this context, or None."""
    return CONFIGURATIONS.value() if CONFIGURATIONS.used else None


cdef object step_through():
    """From here on, nobody looks at calls, until `step_back`."""
    return PASSED.set(True)


cdef int step_back(object token) except -1:
    PASSED.reset(token)
    return 0


cdef tuple enter_call(str way, str name, tuple args, dict kwargs):
    """What `leave_call` needs after a call of the caller's own that somebody looks at; inside it, nobody does."""
    return interceptor_enter(way, name, args, kwargs), PASSED.set(True)


cdef object leave_call(tuple entered, object out):
    """The result of a call that `enter_call` began."""
    visit, token = entered
    PASSED.reset(token)
    return out if visit is None or out is NotImplemented else interceptor_leave(visit, out)


cdef int abandon_call(tuple entered) except -1:
    """End a call that raised."""
    PASSED.reset(entered[1])
    return 0


cdef object intercept(str way, str name, function, tuple args, dict kwargs):
    """A call of a compiled function that comes in, looked at before and after."""
    entered = enter_call(way, name, args, kwargs)
    try:
        out = function(*args, **kwargs)
    except:
        abandon_call(entered)
        raise
    return leave_call(entered, out)
