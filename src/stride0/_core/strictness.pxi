# What the standard leaves open, refused where `stride0.strict` is on. Included in `array.pyx`.

STRICT = Switch("stride0.strict", False)
cdef Switch STRICTNESS = STRICT


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
    return STRICTNESS.used and STRICTNESS.value() and depth_inside() == 0


cdef inline int refuse_attribute(str name) except -1:
    """An attribute of arrays that the standard does not have is asked for."""
    if STRICTNESS.used and strictly():
        raise StrictAttributeError(name, "an attribute of an array", f"Array object: arrays have no attribute {name}")
    return 0


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
    if STRICTNESS.used and STRICTNESS.value() and depth_inside() <= 1:
        raise StrictError(operation, fact, sentence)


def is_strict():
    """Whether strict mode holds in this context."""
    return STRICTNESS.used and STRICTNESS.value()
