# One call of a recording. Included in `replay.pyx`.

cdef enum:
    MOST_OPERANDS = 64

most_operands = MOST_OPERANDS

cdef enum Kind:
    UNARY
    BINARY
    IN_PLACE
    GET_ITEM
    SET_ITEM
    CALL
    PACK_TUPLE
    PACK_LIST
    PART
    GUARD

KINDS = {
    "unary": UNARY, "binary": BINARY, "in_place": IN_PLACE, "getitem": GET_ITEM, "setitem": SET_ITEM, "call": CALL,
    "tuple": PACK_TUPLE, "list": PACK_LIST, "part": PART, "guard": GUARD,
}


class Diverged(Exception):
    """A guard has found values with which the recorded function takes another branch."""


@cython.final
cdef class Step:
    """
    A call: the implementation, the slots of its operands, and the slot of its result.

    Parameters
    ----------
    kind : str
        A key of `KINDS`.
    function : callable or int
        The function of a call, the number of an operation of the table, or the number of a part.
    name : str
        The name of the operation, for errors.
    operands : tuple of int
        Slots of the arguments, in order.
    kwnames : tuple of str
        Names of the last arguments.
    where : str
        The line of the caller's code.
    pure : bool
        Whether the step may be dropped if nothing reads its result.
    writes : bool
        Whether the step may write to an operand.
    expected : bool
        For a guard, which runs a function that decides a branch of the package: what it decided.
    """

    cdef readonly str kind, name, where
    cdef readonly object function
    cdef readonly tuple operands, kwnames
    cdef readonly Py_ssize_t result     # -1 if nothing reads the result
    cdef readonly Py_ssize_t base       # slot of the operand that the result is a view of, or -1
    cdef bint shares                    # whether the view has the storage object of that operand
    cdef Py_ssize_t offset              # of the view from that operand, in bytes
    cdef readonly object facts          # shape and dtype of the result, if it is an array
    cdef readonly object expected       # of a guard: what its function returned
    cdef object constant                # the result, if it is the same array in every call
    cdef readonly bint writes           # whether it may write to an operand
    cdef readonly bint pure             # whether it may be dropped if nothing reads its result
    cdef int number, op
    cdef Py_ssize_t count
    cdef Py_ssize_t slots[MOST_OPERANDS]
    cdef tuple released                 # slots that no later step reads
    cdef int code, ndim
    cdef tuple shape

    def __cinit__(self, str kind, function, str name, tuple operands, tuple kwnames, str where, bint pure=False, expected=None, bint writes=False):
        cdef Py_ssize_t k
        if len(operands) > MOST_OPERANDS:
            raise ValueError(f"{name}: more than {MOST_OPERANDS} operands")
        self.kind, self.number, self.function, self.name = kind, KINDS[kind], function, name
        self.expected, self.writes = expected, writes
        self.op = function if isinstance(function, int) else -1
        self.operands, self.kwnames, self.where, self.pure = operands, kwnames, where, pure
        self.count, self.result, self.base, self.code, self.released = len(operands), -1, -1, -1, ()
        for k in range(self.count):
            self.slots[k] = operands[k]

    def execute(self, list values):
        """Run the step on operands instead of slots."""
        cdef PyObject* given[MOST_OPERANDS]
        cdef Py_ssize_t k
        for k in range(self.count):
            given[k] = <PyObject*>values[k]
        return self.run(given)

    def touches_operands(self):
        """Let no operand count as a constant."""
        self.writes = True

    def set_result(self, Py_ssize_t slot, value, Py_ssize_t base, shown):
        """Set the slot of the result, what later results must have in common with it, and which operand it is a view of."""
        self.result = slot
        if base >= 0 and type(shown) is Array and type(value) is Array:
            self.shares = (<Array>value).storage is (<Array>shown).storage
            self.base, self.offset = base, data_of(<Array>value) - data_of(<Array>shown)
        if type(value) is Array:
            self.code, self.ndim, self.shape = (<Array>value).code, (<Array>value).ndim, shape_tuple(<Array>value)
            self.facts = self.shape, (<Array>value).dtype

    cdef int redirect(self, dict same) except -1:
        """Replace the slots that the step reads: `same` maps old slots to new slots."""
        cdef Py_ssize_t k
        self.operands = tuple([same.get(slot, slot) for slot in self.operands])
        self.base = same.get(self.base, self.base)
        for k in range(self.count):
            self.slots[k] = self.operands[k]
        return 0

    cdef object run(self, PyObject** given):
        cdef Py_ssize_t k
        cdef PyObject* result
        cdef PyObject* names
        if self.number == BINARY:
            return binary(self.op, <object>given[0], <object>given[1], self.name, False)
        if self.number == UNARY:
            return unary(self.op, <object>given[0], self.name)
        if self.number == GET_ITEM:
            return get_item(<Array?><object>given[0], <object>given[1])
        if self.number == CALL:
            names = <PyObject*>self.kwnames if self.kwnames else NULL
            if type(self.function) is Primitive and (<Primitive>self.function).differentiable and not guarding:
                # No tape sees the operands: see `is_free`.
                result = (<Primitive>self.function).run(given, self.count - len(self.kwnames), names)
            else:
                result = PyObject_Vectorcall(<PyObject*>self.function, given, self.count - len(self.kwnames), names)
            out = <object>result
            Py_DECREF(out)
            return out
        if self.number == GUARD:
            if self.function(<object>given[0]) is not self.expected:
                if self.name == "guard":
                    raise Diverged
                raise ReplayError(self.name, "the values need another branch than the recorded one, and arrays have been written to", (),
                                  "call the function without replay for these values, for example if they are infinite")
            return None
        if self.number == PART:
            return (<object>given[0])[self.op]
        if self.number == IN_PLACE:
            return in_place(self.op, <Array?><object>given[0], <object>given[1], self.name)
        if self.number == SET_ITEM:
            set_item(<Array?><object>given[0], <object>given[1], <object>given[2])
            return None
        items = [<object>given[k] for k in range(self.count)]
        return tuple(items) if self.number == PACK_TUPLE else items

    cdef bint fits(self, object out) noexcept:
        """Whether a result has the dtype and the shape that the recorded result had."""
        cdef Array x
        cdef int axis
        if self.code < 0:
            return True
        if type(out) is not Array:
            return False
        x = <Array>out
        if x.code != self.code or x.ndim != self.ndim:
            return False
        for axis in range(self.ndim):
            if x.shape_[axis] != <Py_ssize_t>self.shape[axis]:
                return False
        return True
