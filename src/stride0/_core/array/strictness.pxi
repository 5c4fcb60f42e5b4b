# What the standard leaves open, refused where `stride0.strict` is on. Included in `array.pyx`.
#
# Note [Whose code]
#     Strict mode is for all code but this package, or for modules by name: a `Scope`. Then the frame decides that called
#     into the package: the nearest on the stack that is not ours, be it of a module between the caller and us. NumPy's
#     frames are passed over, unless NumPy is named: `numpy.sum(x)` is a call of whoever wrote it. Compiled code has no
#     frames; the Python code that called it stands for it.

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


cdef inline int beyond_standard(str operation, str fact, str sentence) except -1:
    """
    Something that the standard does not define is about to happen: StrictError where strict mode is on.

    For code in C, before it steps inside: what functions of the package do is their business. The texts must be
    constants, so that a call costs one test while strict mode is nowhere on. Those that name facts: see
    `strictly`.
    """
    if STRICTNESS.used and strictly():
        raise StrictError(operation, fact, sentence)
    return 0


cdef bint strictly() except -1:
    """Whether the caller's code may do what the standard defines and nothing else."""
    return STRICTNESS.used and depth_inside() == 0 and holds()


cdef inline int refuse_attribute(str name) except -1:
    """An attribute of arrays that the standard does not have is asked for."""
    if STRICTNESS.used and strictly():
        raise StrictAttributeError(name, "an attribute of an array", f"Array object: arrays have no attribute {name}")
    return 0


cdef inline int refuse_method(str name) except -1:
    """The same of a method."""
    if STRICTNESS.used and strictly():
        # NumPy's functions go on without a method that they do not find, and make arrays of their own.
        if module_of(sys._getframe(0)).partition(".")[0] == "numpy":
            refuse_foreign_function(name)
        refuse_attribute(name)
    return 0


def refuse_foreign_function(str name):
    """A function of NumPy is called with an array: StrictError where strict mode is on."""
    if STRICTNESS.used and strictly():
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
