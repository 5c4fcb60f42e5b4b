# The gradient rules of functions, and the values that they need. Included in `tape.pyx`.

cdef enum:
    MOST_RULES = 16   # also the limit of values that the rules of a function need, and of parameters
    # What a rule needs from a parameter, or from the result:
    VALUE = 0
    SHAPE = 1
    DTYPE = 2
    OWN_SHAPE = 3     # the shape of the argument whose cotangent it computes, from its node


@cython.final
cdef class Rules:
    """The gradient rules of one function, and the names of its parameters."""

    cdef str name
    cdef object function
    cdef tuple parameters
    cdef int variadic             # index of the parameter that takes all other arguments, or -1
    cdef tuple defaults
    cdef dict index
    cdef tuple rules
    cdef object batch             # batching rule, or None
    cdef object forward           # rules for tangents: a `Forward`, or None
    cdef object repeats           # whether the cotangent of a result needs a recorded pass, or None: Note [Recorded passes]
    cdef str refused              # why operands must not be tracked, or None
    cdef dict unknown             # why single arguments must not be tracked, by name
    cdef int size                 # number of rules
    cdef int at[MOST_RULES]       # parameter of each rule
    cdef bint has_rule[MOST_RULES]   # whether each parameter may be tracked
    cdef int needs                # number of values that all rules need
    cdef int what[MOST_RULES]     # kind of each value, and its parameter; -1 for the result
    cdef int subject[MOST_RULES]
    cdef int count[MOST_RULES]    # number and indices of the values that each rule needs
    cdef int numbers[MOST_RULES][8]

    def __cinit__(self, str name, function, dict rules, str refused, dict unknown):
        self.name, self.function, self.refused, self.unknown = name, function, refused, unknown
        found = list(inspect.signature(function).parameters.values()) if name not in OPERATORS else OPERATORS[name]
        if len(found) > MOST_RULES:
            raise ValueError(f"{name} has more than {MOST_RULES} parameters")
        self.parameters = tuple([p.name for p in found])
        self.variadic = -1
        for i, p in enumerate(found):
            if p.kind is p.VAR_POSITIONAL:
                self.variadic = i
        self.defaults = tuple([() if p.kind is p.VAR_POSITIONAL else MISSING if p.default is p.empty else p.default for p in found])
        self.index = {key: i for i, key in enumerate(self.parameters)}
        self.rules = tuple(rules.values())
        self.size = <int>len(self.rules)
        for r, key in enumerate(rules):
            self.at[r] = self.index[key]
            self.has_rule[self.index[key]] = True
        for r, rule in enumerate(self.rules):
            names = rule.__code__.co_varnames[1:rule.__code__.co_argcount]
            self.count[r] = <int>len(names)
            for k, key in enumerate(names):
                self.numbers[r][k] = self.need(key, self.at[r])

    cdef int need(self, str key, int own) except -1:
        """The number of a value that the rule of parameter `own` names."""
        cdef int what = VALUE, at, number
        subject = key
        if key not in self.index and key.endswith("_shape"):
            what, subject = SHAPE, key.removesuffix("_shape")
        elif key not in self.index and key.endswith("_dtype"):
            what, subject = DTYPE, key.removesuffix("_dtype")
        if subject != "out" and subject not in self.index:
            raise ValueError(f"a gradient rule of {self.name} asks for {key}, which is not one of its parameters")
        at = -1 if subject == "out" else self.index[subject]
        if what == SHAPE and at == own:
            what = OWN_SHAPE
        for number in range(self.needs):
            if self.what[number] == what and self.subject[number] == at:
                return number
        if self.needs == MOST_RULES:
            raise ValueError(f"the gradient rules of {self.name} need more than {MOST_RULES} values")
        self.what[self.needs], self.subject[self.needs] = what, at
        self.needs += 1
        return self.needs - 1

    cdef bint needs_value(self, int r, int subject) noexcept:
        """Whether a rule needs the elements of an argument."""
        cdef int k
        for k in range(self.count[r]):
            if self.what[self.numbers[r][k]] == VALUE and self.subject[self.numbers[r][k]] == subject:
                return True
        return False

    cdef object bind(self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames, PyObject** values):
        """Write the value of each parameter in a valid call to `values`, borrowed from the returned object, which the caller keeps."""
        cdef Py_ssize_t i, count = len(self.parameters)
        cdef object others = None
        for i in range(count):
            values[i] = args[i] if i < n else <PyObject*>self.defaults[i]
        if self.variadic >= 0:
            others = tuple([<object>args[i] for i in range(self.variadic, n)])
            for i in range(self.variadic, count):
                values[i] = <PyObject*>(others if i == self.variadic else self.defaults[i])
        if kwnames is not NULL:
            for i in range(len(<tuple>kwnames)):
                values[<int>self.index[(<tuple>kwnames)[i]]] = args[n + i]
        return others


cdef object parameter(str name):
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY)

# Signatures of functions that have no Python signature, by the names in the core.
cdef dict OPERATORS = {
    "getitem": [parameter("x"), parameter("key")],
    "setitem": [parameter("x"), parameter("key"), parameter("value")],
    "watch": [parameter("x")],
}

# Not Python's operators, which would try the other operand's method too.
cdef dict IN_PLACE = {
    "add": Array.__iadd__, "subtract": Array.__isub__, "multiply": Array.__imul__, "divide": Array.__itruediv__,
    "floor_divide": Array.__ifloordiv__, "remainder": Array.__imod__, "pow": Array.__ipow__, "matmul": Array.__imatmul__,
    "bitwise_and": Array.__iand__, "bitwise_or": Array.__ior__, "bitwise_xor": Array.__ixor__,
    "bitwise_left_shift": Array.__ilshift__, "bitwise_right_shift": Array.__irshift__,
}

cdef dict TABLE = {}
# The rules by the index of the operation in the table.
cdef list OPERATIONS = [None] * len(operations.OPS)
cdef dict NUMBERS = {op.qualified: number for number, op in enumerate(operations.OPS)}
# Two functions that are recorded in special ways.
cdef Rules GETITEM = None
cdef Rules AS_STRIDED = None


def define(str name, function, dict rules, refused=None, dict unknown={}):
    """
    Register the gradient rules of a function by parameter names; `rules` is empty if the result is constant.

    Its name is the core's: ``"sum"``, ``"linalg.inv"``, ``"getitem"``. It is called with operands on storages that are
    not logged. `refused` says why tracked operands are refused, `unknown` why single arguments are refused, by name.
    """
    global GETITEM, AS_STRIDED
    cdef Rules found = Rules(name, function, rules, refused, unknown)
    TABLE[name] = found
    if name in NUMBERS:
        OPERATIONS[NUMBERS[name]] = found
    if name == "getitem":
        GETITEM = found
    elif name == "strided.as_strided":
        AS_STRIDED = found


def define_repeats(str name, function):
    """
    Register the condition under which the backward pass through a function must be recorded: Note [Recorded passes].

    `function` takes the results and the index of a result with a cotangent, and returns a bool.
    """
    (<Rules>TABLE[name]).repeats = function


cdef Rules rules_of(str name):
    found = TABLE.get(name)
    if found is None:
        raise GradientError(name, "there is no gradient rule", (), "write stop_gradient(x) if no gradient is meant to flow")
    return <Rules>found
