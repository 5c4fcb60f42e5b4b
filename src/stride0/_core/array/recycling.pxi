# Results in the memory of operands that are about to go. Included in `array.pyx`.
#
# Note [Dying temporaries]
#     In `a * b + c` the product dies as soon as the sum is there, and its memory can be the sum's: one block
#     instead of two, and three streams of memory instead of four. But a wrong result would be worse than a slow one, so it has to
#     be certain that nobody sees the product afterwards:
#
#     * one reference to the array, and one to its storage, which is our own memory: no other name, no view, no export
#       through a buffer or a capsule, no thread. No weak reference, no history, so that gradients do not watch.
#     * that one reference is on the interpreter's stack. A count of one is no proof of it: code in C may call
#       PyNumber_Add with what it merely borrows. So the C stack is looked at: between us and the interpreter's
#       loop lies PyNumber_Add (or its like) and nothing else. And since a function in C may end in a jump to
#       PyNumber_Add, which leaves no trace, the instruction that the loop executes must be the one for binary operators.
#       The loop is known by the address where it goes on after an operator, which a probe tells that is added once:
#       its functions have no names in many builds of the interpreter.
#       (An extension's operator that calls ours shows on the stack: PyNumber_Add does something with what it
#       returns, and so does not jump.) From Python 3.14 on, where the stack may borrow too, Python is asked.
#
#     Looking costs microseconds, hence only for results from RECYCLED bytes on. Where it cannot be done (other systems
#     than Linux with glibc, code that the interpreter's just-in-time compiler made), a result has its own memory, as ever.

cdef extern from "temporaries.h":
    bint s0_is_dying(PyObject* x, int instruction)
    void s0_learn_loop(int instruction)
    bint s0_knows_loop()
    Py_ssize_t s0_references "Py_REFCNT"(PyObject* x)

cdef enum:
    RECYCLED = 1 << 20

cdef int BINARY_OPCODE = opcode.opmap.get("BINARY_OP", -1)
cdef bint probed = False


@cython.final
cdef class LoopProbe:
    """Operands whose sum shows the interpreter's loop on the C stack."""

    def __add__(self, other):
        s0_learn_loop(BINARY_OPCODE)
        return self


def recycles_operands():
    """Whether operands that die can be told here; see Note [Dying temporaries]."""
    global probed
    if not probed:
        probed = True
        # Often enough for the interpreter to specialise the instruction.
        exec("for _ in range(20): probe + probe", {"probe": LoopProbe()})
    return s0_knows_loop()


cdef inline bint may_recycle(object x) noexcept:
    """Whether it is worth while to look closer at an operand of an operator."""
    return type(x) is Array and (<Array>x).size * itemsize_at((<Array>x).code) >= RECYCLED and s0_references(<PyObject*>x) == 1


cdef bint recyclable(object x, object other, int op):
    """Whether the result of the operator has the dtype, the shape and the memory order of x, whose memory nobody else has."""
    cdef int axis, lead
    if not may_recycle(x):
        return False
    # As borrowed pointers all along: a name for x would count as a reference.
    if (<Array>x).node is not None or not (<Array>x).c_contiguous:
        return False
    if s0_references(<PyObject*>(<Array>x).storage) != 1 or (<Array>x).storage.block is NULL or (<Array>x).storage.history is not None:
        return False
    if (<Array>x).data != (<Array>x).storage.data or (<Array>x).size * itemsize_at((<Array>x).code) != (<Array>x).storage.nbytes:
        return False
    if S0_LOOP[op][(<Array>x).code] != (<Array>x).code or S0_OUT[op][(<Array>x).code] != (<Array>x).code or S0_CHECK_EXPONENT[op]:
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


cdef object into_dying(int op, object x1, object x2, str name):
    """The result of an operator in the memory of an operand that dies; None where no operand is known to."""
    cdef Array out, value = None
    cdef object other
    cdef bint second = False
    if not (probed or recycles_operands()):
        return None
    if recyclable(x1, x2, op) and s0_is_dying(<PyObject*>x1, BINARY_OPCODE):
        out = alias(<Array>x1)
    elif recyclable(x2, x1, op) and s0_is_dying(<PyObject*>x2, BINARY_OPCODE):
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
    return apply(op_kernel(op, out.code), out.code, 2, value if second else out, out if second else value, None, out, False, name, TWO)
