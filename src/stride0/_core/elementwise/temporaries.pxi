# Results of operators, and of functions of one argument, in the memory of temporary operands.
#
# Note [Temporary elision]
#     In `a * b + c` the product is freed after the sum is computed, so the sum can be written into its memory: one block
#     instead of two, and three streams of memory instead of four. A wrong result would be worse than a slow one, so it has
#     to be certain that no code can access the product afterwards:
#
#     * one reference to the array, and one to its storage, which is our own memory: no other name, no view, no export
#       through a buffer or a capsule, no thread. No weak reference, no history, so that no tape reads it.
#     * that one reference is on the interpreter's stack. A count of one does not prove it: code in C may call
#       PyNumber_Add with a borrowed reference. So the C stack is inspected: between this code and the interpreter's
#       loop there may be PyNumber_Add (or another function of its kind) and no other frame. A function in C may end in a
#       jump to PyNumber_Add, which leaves no frame; so the loop's current instruction must be a binary operator, too.
#       The loop is identified by its return address after an operator, which one probe records before the first inspection:
#       its functions have no symbols in many builds of the interpreter.
#       (If an extension's operator calls the operator of an array, the extension has a frame on the stack:
#       PyNumber_Add uses its result, and so does not jump.) From Python 3.14 on, where the stack may hold borrowed references, an API of Python is used.
#
#     In `abs(a * b)` the interpreter's stack owns the argument, too, if the loop called the function with its own values:
#
#     * The C stack shows the caller of a function as it shows the caller of an operator. The caller is the loop, through
#       PyObject_Vectorcall unless PyObject_Vectorcall is inlined in the loop. Another probe records the return addresses.
#       The loop's current instruction calls a function with positional arguments.
#     * A function in C may end in a jump to a stride0 function, with a borrowed reference, and leave no frame. So the vector of arguments
#       is looked at, too, before the function is called (`s0_call`): it has to lie in the memory of the interpreter's stack.
#       From Python 3.14 on that API is used instead. (A tool of `sys.monitoring` that only looks at the argument after the
#       call, in an event C_RETURN, finds the result in it.)
#
#     The inspection costs microseconds, so it is made only for results of ELISION_BYTES bytes or more. Where it is not possible
#     (not Linux with glibc, a free-threaded interpreter, or code of the interpreter's just-in-time compiler), a result has its own memory.

cdef extern from "temporaries.h":
    bint s0_is_temporary(PyObject* x, int instruction)
    void s0_learn_loop(int instruction)
    bint s0_knows_loop()
    void s0_learn_operators(object type, void* implementation)
    PyObject* s0_argument
    void s0_learn_call(int instruction, int entry)
    void s0_learn_unnamed()
    bint s0_knows_calls()
    void s0_watch_function(object function, int (*may_take)(PyObject* x) noexcept, int instruction)

cdef int BINARY_OPCODE = opcode.opmap.get("BINARY_OP", -1)
cdef int CALL_OPCODE = opcode.opmap.get("CALL", -1)
cdef bint probed = False
cdef bint functions_probed = False


@cython.final
cdef class LoopProbe:
    """Operands for a sum in which the interpreter's loop is found on the C stack."""

    def __add__(self, other):
        s0_learn_loop(BINARY_OPCODE)
        return self


def call_probe(entry, /):
    """Called by the interpreter's loop, which is then found on the C stack; `entry` says which way it was entered."""
    s0_learn_call(CALL_OPCODE, entry)


def elides_temporaries():
    """Whether temporary elision is possible here: Note [Temporary elision]."""
    global probed
    if not probed:
        probed = True
        s0_learn_operators(Array, <void*>hooks.binary)
        # Often enough for the interpreter to specialise the instruction.
        exec("for _ in range(20): probe + probe", {"probe": LoopProbe()})
    return s0_knows_loop()


def elides_arguments():
    """Whether the argument of a function may be elided here."""
    global functions_probed
    if not functions_probed and elides_temporaries():
        functions_probed = True
        exec("for _ in range(20): probe(0)", {"probe": call_probe})
        exec("for _ in map(lambda k: probe(1), range(20)): pass", {"probe": call_probe})
        s0_learn_unnamed()
    return s0_knows_calls()


cdef int may_take(PyObject* x) noexcept:
    return may_elide(<object>x) and (functions_probed or elides_arguments())


cdef object watch_function(object function):
    """Have a function of one argument, which calls `unary` at once, elide it where it is a temporary."""
    s0_watch_function(function, may_take, CALL_OPCODE)


cdef bint is_replaceable(object x, int op):
    """Whether the result of the operation has the dtype and the memory order of x, whose memory is not shared."""
    if not may_elide(x) or (<Array>x).size >= fused_from or is_deferred(<Array>x):
        return False
    # Borrowed pointers throughout: a variable for x would count as a reference.
    if (<Array>x).node is not None or not (<Array>x).c_contiguous:
        return False
    if not s0_has_references(<PyObject*>(<Array>x).storage, 1) or (<Array>x).storage.block is NULL or (<Array>x).storage.logged:
        return False
    if data_of(<Array>x) != (<Array>x).storage.data or (<Array>x).size * itemsize_at((<Array>x).code) != (<Array>x).storage.nbytes:
        return False
    return S0_LOOP[op][(<Array>x).code] == (<Array>x).code and S0_OUT[op][(<Array>x).code] == (<Array>x).code


cdef bint is_elidable(object x, object other, int op):
    """Whether that holds of an operator, and its result has the shape of x, too."""
    cdef int axis, lead
    if S0_CHECK_EXPONENT[op] or not is_replaceable(x, op):
        return False
    if type(other) is not Array:
        return (type(other) is float or type(other) is int or type(other) is bool or type(other) is complex) and weak_code((<Array>x).code, other) == (<Array>x).code
    if (<Array>other).code != (<Array>x).code or (<Array>other).ndim > (<Array>x).ndim:
        return False
    lead = (<Array>x).ndim - (<Array>other).ndim
    for axis in range((<Array>other).ndim):
        if (<Array>other).shape_[axis] != (<Array>x).shape_[lead + axis] and (guarding or (<Array>other).shape_[axis] != 1):
            return False
    return not (guarding and lead)


cdef object into_temporary(int op, object x1, object x2, str name):
    """The result of an operator in the memory of a temporary operand; None where no operand is known to be one."""
    cdef Array out, value = None
    cdef object other
    cdef bint second = False
    if not (probed or elides_temporaries()):
        return None
    if is_elidable(x1, x2, op) and s0_is_temporary(<PyObject*>x1, BINARY_OPCODE):
        out = alias(<Array>x1)
    elif is_elidable(x2, x1, op) and s0_is_temporary(<PyObject*>x2, BINARY_OPCODE):
        out = alias(<Array>x2)
        second = True
    else:
        return None
    other = x1 if second else x2
    if type(other) is Array:
        value = <Array>other
    else:
        try:
            value = weak_array(other, out.code, name)
        except RangeError:
            return None
    return apply(op_kernel(op, out.code), out.code, 2, value if second else out, out if second else value, None, out, False, name, BINARY_NAMES)


cdef object into_argument(int op, object x, str name):
    """
    The result of a function in the memory of its argument; None where that is not known to be a temporary.

    Loops that take long gain nothing: those that compute some elements twice would have to copy the argument first.
    """
    cdef Array out
    if <PyObject*>x != s0_argument or not is_replaceable(x, op) or cost_of(op_kernel(op, (<Array>x).code)):
        return None
    out = alias(<Array>x)
    return apply(op_kernel(op, out.code), out.code, 1, out, None, None, out, False, name, UNARY_NAMES)
