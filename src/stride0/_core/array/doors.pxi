# Where calls come in, for those who look at calls: strict mode and the test bench. Included in `array.pyx`.
#
# Note [Doors]
#     The caller's code gets in by few doors: the operations of the table (`unary`, `binary`, `in_place`), keys
#     (`get_item`, `set_item`), `Primitive` and a handful of compiled functions. Each tests the flag of
#     Note [Switches]; where strict mode or a test bench is on, the call goes through the gate, which looks at the
#     operands before and at the result after. So neither the functions nor the kernels know of either, and what a
#     function calls for itself is looked at by nobody: behind a door, the context says so.

cdef object PASSED = ContextVar("stride0.passed", default=False)
# Set by `stride0._modes.interceptors`, which the core cannot import.
cdef object gate_enter = None
cdef object gate_leave = None

BENCH = Switch("stride0.bench", None)
cdef Switch TESTBENCH = BENCH


# Note [Virtual devices]
#     A device of a test bench is a number on the storage, so that views share it and a kernel never sees it. The
#     gate refuses operands with different numbers and gives results the number that they are due; what functions
#     make for themselves has the number 0, the CPU's, and none but the gate looks at it.


cdef int number_of(Array x) except -1:
    """Number of the device of an array."""
    return x.storage.device


def device_number(Array x not None):
    """Number of the device of an array; 0 is the CPU."""
    return x.storage.device


def put_on(Array x not None, int number):
    """Say on which device the memory of an array lies. That of its views changes as well."""
    x.storage.device = number


cdef bint is_callers_own() except -1:
    """Whether what runs was asked for by the caller's own code, and not by a function of the package."""
    return not PASSED.get() and depth_inside() == 0


cdef bint is_elsewhere(Array x) except -1:
    """Whether the caller's own code asks for memory of another device than the CPU."""
    return x.storage.device != 0 and is_callers_own()


cdef bint lends_read_only() except -1:
    """Whether the caller's own code asks for memory in a test bench whose arrays are read-only."""
    if not TESTBENCH.used or not is_callers_own():
        return False
    bench = TESTBENCH.value()
    return bench is not None and not bench.writable


cdef int refuse_later(str method, dict given) except -1:
    """Look at arguments of a method that came to the standard after it, where a test bench is of an older version."""
    if not is_callers_own():
        return 0
    bench = TESTBENCH.value()
    if bench is not None:
        bench.check_method(method, given)
    return 0


cdef int refuse_device(Array x, str operation) except -1:
    if is_elsewhere(x):
        raise DeviceError(operation, f"the array is on the device {str(x.device)!r}", (), "to_device, which moves it to the CPU")
    return 0


def set_gate(enter, leave):
    """
    Give the doors what looks at calls.

    Parameters
    ----------
    enter : callable
        Is handed the way in ("function", "operator", "in-place", "getitem", "setitem"), the name, the positional
        arguments and the named ones; returns None, or what `leave` needs.
    leave : callable
        Is handed that and the result; returns the result.
    """
    global gate_enter, gate_leave
    gate_enter, gate_leave = enter, leave


cdef bint at_door() except -1:
    """Whether this call is the caller's own, and somebody looks at calls here."""
    if not (STRICTNESS.used or TESTBENCH.used) or not is_callers_own():
        return False
    return (STRICTNESS.used and holds()) or TESTBENCH.value() is not None


cdef object through_door(str way, str name, function, tuple args, dict kwargs):
    """A call of a compiled function that comes in, with the gate around it."""
    visit = gate_enter(way, name, args, kwargs)
    token = PASSED.set(True)
    try:
        out = function(*args, **kwargs)
    finally:
        PASSED.reset(token)
    return out if visit is None else gate_leave(visit, out)


cdef object unary_door(int op, object x, str name):
    visit = gate_enter("function", name, (x,), {})
    token = PASSED.set(True)
    try:
        out = unary(op, x, name)
    finally:
        PASSED.reset(token)
    return out if visit is None else gate_leave(visit, out)


cdef object binary_door(int op, object x1, object x2, str name, bint is_operator):
    if is_operator and is_equality(op) and not is_operand(x2):
        return compare_other(op, <Array>x1, x2, name)
    visit = gate_enter("operator" if is_operator else "function", name, (x1, x2), {})
    token = PASSED.set(True)
    try:
        out = binary(op, x1, x2, name, is_operator)
    finally:
        PASSED.reset(token)
    return out if visit is None or out is NotImplemented else gate_leave(visit, out)


cdef object compare_door(int op, Array x, object value, str name):
    visit = gate_enter("operator", name, (x, value), {})
    token = PASSED.set(True)
    try:
        out = compare_values(op, x, value, name)
    finally:
        PASSED.reset(token)
    return out if visit is None else gate_leave(visit, out)


cdef object in_place_door(int op, Array x, object other, str name):
    gate_enter("in-place", name, (x, other), {})
    token = PASSED.set(True)
    try:
        return in_place(op, x, other, name)
    finally:
        PASSED.reset(token)


cdef object get_item_door(Array x, object key):
    visit = gate_enter("getitem", "getitem", (x, key), {})
    token = PASSED.set(True)
    try:
        out = get_item(x, key)
    finally:
        PASSED.reset(token)
    return out if visit is None else gate_leave(visit, out)


cdef int set_item_door(Array x, object key, object value) except -1:
    gate_enter("setitem", "setitem", (x, key, value), {})
    token = PASSED.set(True)
    try:
        return set_item(x, key, value)
    finally:
        PASSED.reset(token)
