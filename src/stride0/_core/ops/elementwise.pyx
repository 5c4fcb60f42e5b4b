# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Elementwise operations of the table: operands, dtypes, fast paths, in place, comparisons, temporary elision.

Note [Equality with anything]
    `x == value` must not fall back to Python's comparison of identities, which is silently False. Python calls the
    reflected comparison of the value only after ours returns NotImplemented, and then no code of ours can raise. So
    the comparison of the value is called from here first: mock.ANY, pytest.approx, and arrays of libraries that support
    ours decide themselves. Other values are compared as in NumPy: None is equal to no element, what `asarray` converts
    is compared elementwise, and all others are refused like an operand of `x + value`. This comes before
    Note [Interceptors]: the comparison of the value is the user's code.

Note [Temporary elision]
    In `a * b + c` the product is freed after the sum is computed, so the sum can be written into its memory: one block
    instead of two, and three streams of memory instead of four. A wrong result would be worse than a slow one, so it has
    to be certain that no code can access the product afterwards:

    * one reference to the array, and one to its storage, which is our own memory: no other name, no view, no export
      through a buffer or a capsule, no thread. No weak reference, no history, so that no tape reads it.
    * that one reference is on the interpreter's stack. A count of one does not prove it: code in C may call
      PyNumber_Add with a borrowed reference. So the C stack is inspected: between this code and the interpreter's
      loop there may be PyNumber_Add (or another function of its kind) and no other frame. A function in C may end in a
      jump to PyNumber_Add, which leaves no frame; so the loop's current instruction must be a binary operator, too.
      The loop is identified by its return address after an operator, which one probe at import records:
      its functions have no symbols in many builds of the interpreter.
      (An extension's operator that calls ours has a frame on the stack: PyNumber_Add uses its result, and so does
      not jump.) From Python 3.14 on, where the stack may hold borrowed references, an API of Python is used.

    The inspection costs microseconds, so it is made only for results of ELISION_BYTES bytes or more. Where it is not possible
    (not Linux with glibc, or code of the interpreter's just-in-time compiler), a result has its own memory.
"""

cimport cython
from cpython.object cimport PyObject
from libc.string cimport memset

from stride0._core.ops.tables cimport (
    OP_CONJ, OP_EQUAL, OP_GREATER, OP_GREATER_EQUAL, OP_LESS, OP_LESS_EQUAL, OP_MULTIPLY, OP_MULTIPLY_MASKED,
    OP_NOT_EQUAL, OP_POW, OP_SQUARE, S0_CHECK_EXPONENT, S0_COMPARES, S0_LOOP, S0_OUT,
)
from stride0._core.memory.dtype cimport (
    BOOL, LARGEST_ITEM, NO_DTYPE, UINT64, dtype_at, is_python_scalar, is_stored, itemsize_at, letter_at, promote_codes, read_scalar,
    scalar_code, weak_code, write_scalar,
)
from stride0._core.plan.plan cimport MAX_OPERANDS
from stride0._core.plan.table cimport cast_kernel, op_kernel, where_kernel
from stride0._core.plan.partition cimport LONG_RUN, run_contiguous
from stride0._core.array.switches cimport guarding
from stride0._core.array.interceptors cimport end_call, beyond_standard, enter_call, is_intercepted, result_of_call
from stride0._core.array.array cimport (
    Array, Tracer, alias, data_of, guard_gradient, hooks, may_defer, needs_tape, new_array, new_like, operand_needs_tape,
    same_shape,
)
from stride0._core.ops.deferred cimport replace_pending
from stride0._core.ops.copy cimport (
    BINARY_NAMES, UNARY_NAMES, apply, check_writable, copy_array, foreign_scalar, is_known_foreign, is_numpy_scalar, is_same_kind,
    overlaps, refuse_operand, scalar_array, weak_array, weak_operand,
)

import math
import opcode
from contextvars import ContextVar

from stride0._tables import operations
from stride0._base.errors import ArgumentValueError, DTypeError, RangeError

cdef tuple SEQUENCES = (list, tuple, range, str, bytes, bytearray)


# --- dtypes and operands of the table's operations


cdef object refuse_dtype(int op, str name, int code):
    row = operations.OPS[op]
    accepts = f"{name} takes {row.on} dtypes"
    raise DTypeError(name, f"Unsupported dtype {dtype_at(code).name}", (), accepts)


cdef int loop_for(int op, int code, str name) except -1:
    """Dtype code of the kernel for operands that promote to `code`."""
    cdef int loop = S0_LOOP[op][code]
    if loop < 0:
        refuse_dtype(op, name, code)
    return loop


cdef object unary(int op, object x, str name):
    """A unary operation of the table."""
    cdef Array a
    if guarding and is_intercepted():
        return intercept_unary(op, x, name)
    if type(x) is Array:
        a = <Array>x
        if needs_tape(a):
            return (<Tracer>hooks.tracer).unary(op, a, name)
        return unary_raw(op, a, name)
    if is_python_scalar(x):
        return unary_raw(op, scalar_array(x, scalar_code(x), name), name)
    a = foreign_scalar(x)
    if a is None:
        refuse_operand(name, "x", x)
    return unary_raw(op, a, name)


cdef object unary_raw(int op, Array a, str name):
    """The same without the tape and without interceptors."""
    cdef Array out
    cdef int loop
    cdef Py_ssize_t steps[MAX_OPERANDS]
    cdef char* args[MAX_OPERANDS]
    loop = loop_for(op, a.code, name)
    if loop == a.code and a.c_contiguous and not may_defer(a.size, a):
        out = new_like(a, S0_OUT[op][loop])
        # Note [Fast path]: one run of one dtype needs no plan.
        args[0], args[1] = data_of(a), data_of(out)
        steps[0], steps[1] = itemsize_at(a.code), itemsize_at(out.code)
        run_contiguous(op_kernel(op, loop), 0, args, steps, a.size)
        return out
    return apply(op_kernel(op, loop), S0_OUT[op][a.code], 1, a, None, None, None, False, name, UNARY_NAMES)


cdef inline Array fast_binary(int op, int loop, Array like, char* first, char* second, int scalar):
    """
    Note [Fast path] of two operands that lie as `like` does, a contiguous array: straight to the loop.

    `scalar` says which of them is a single value, the first (1) or the second (2), if any: it is the number of the layout, too.
    """
    cdef Array out = new_like(like, S0_OUT[op][loop])
    cdef Py_ssize_t steps[3]
    cdef char* args[3]
    args[0], args[1], args[2] = first, second, data_of(out)
    steps[0] = 0 if scalar == 1 else itemsize_at(loop)
    steps[1] = 0 if scalar == 2 else itemsize_at(loop)
    steps[2] = itemsize_at(out.code)
    run_contiguous(op_kernel(op, loop), scalar, args, steps, like.size)
    return out

cdef enum:
    FEW_CAST = 128  # elements that are cast on the stack


cdef Array fast_mixed(int op, Array a, Array b, int loop):
    """Note [Fast path] for a few elements of two dtypes, or of one that the loop does not run in and gives."""
    cdef char rooms[2][FEW_CAST * LARGEST_ITEM]
    return fast_binary(op, loop, a, cast_few(a, loop, rooms[0]), cast_few(b, loop, rooms[1]), 0)


cdef char* cast_few(Array x, int code, char* room) except? NULL:
    """The elements of x cast to a dtype in a buffer, or x's own memory if it has that dtype."""
    cdef Py_ssize_t steps[2]
    cdef char* args[2]
    if x.code == code:
        return data_of(x)
    args[0], args[1] = data_of(x), room
    steps[0], steps[1] = itemsize_at(x.code), itemsize_at(code)
    run_contiguous(cast_kernel(x.code, code), 0, args, steps, x.size)
    return room


cdef Array fast_scalar(int op, Array a, object value, int code, bint reflected, str name):
    """Note [Fast path] for a contiguous array with a Python scalar, which never becomes an array."""
    cdef char place[LARGEST_ITEM]
    write_scalar(value, code, place, name)
    if reflected:
        return fast_binary(op, code, a, place, data_of(a), 1)
    return fast_binary(op, code, a, data_of(a), place, 2)


cdef object binary(int op, object x1, object x2, str name, bint is_operator):
    """A binary operation of the table; an operator answers NotImplemented to operands it does not know."""
    if guarding and is_intercepted():
        return intercept_binary(op, x1, x2, name, is_operator)
    if operand_needs_tape(x1) or operand_needs_tape(x2):
        # Other objects are refused below.
        if (type(x1) is Array or is_python_scalar(x1)) and (type(x2) is Array or is_python_scalar(x2)):
            return (<Tracer>hooks.tracer).binary(op, x1, x2, name)
    elif is_operator and (may_elide(x1) or may_elide(x2)):
        out = into_temporary(op, x1, x2, name)
        if out is not None:
            return out
    return binary_raw(op, x1, x2, name, is_operator)


cdef object binary_raw(int op, object x1, object x2, str name, bint is_operator):
    """The same without the tape and without interceptors."""
    cdef Array a = None, b = None
    cdef int loop, code
    if type(x1) is Array:
        a = <Array>x1
    if type(x2) is Array:
        b = <Array>x2
    if a is not None and b is not None:
        code = a.code if a.code == b.code else promote_codes(a.code, b.code)
        if S0_COMPARES[op] and a.code != b.code and (a.code == UINT64 or b.code == UINT64):
            if letter_at(a.code) == c"i":
                return compare_signs(op, a, b, False, name)
            if letter_at(b.code) == c"i":
                return compare_signs(op, b, a, True, name)
        loop = loop_for(op, code, name)
        if loop == a.code and a.code == b.code and a.c_contiguous and b.c_contiguous and same_shape(a, b):
            if S0_CHECK_EXPONENT[op]:
                check_exponent(a, b, loop, name)
            if not (may_defer(a.size, a) or b.address is NULL):
                return fast_binary(op, loop, a, data_of(a), data_of(b), 0)
            return apply(op_kernel(op, loop), S0_OUT[op][code], 2, a, b, None, None, False, name, BINARY_NAMES)
    elif a is not None and is_python_scalar(x2):
        code = weak_code(a.code, x2)
        loop = loop_for(op, code, name)
        if op == OP_POW and loop == a.code and letter_at(loop) != c"c" and x2 == 2:
            # The loop of powers gives the same bits for the exponent 2, only later.
            return unary_raw(OP_SQUARE, a, name)
        try:
            if loop == a.code and a.c_contiguous and not may_defer(a.size, a):
                if S0_CHECK_EXPONENT[op] and letter_at(loop) == c"i" and x2 < 0 and a.size:
                    refuse_exponent(name)
                return fast_scalar(op, a, x2, loop, False, name)
            b = weak_array(x2, code if is_stored(code) else loop, name)
        except RangeError:
            if not S0_COMPARES[op] or not isinstance(x2, int):
                raise
            return compare_beyond(op, a, x2, False, name)
    elif b is not None and is_python_scalar(x1):
        code = weak_code(b.code, x1)
        loop = loop_for(op, code, name)
        try:
            if loop == b.code and b.c_contiguous and not S0_CHECK_EXPONENT[op] and not may_defer(b.size, b):
                return fast_scalar(op, b, x1, loop, True, name)
            a = weak_array(x1, code if is_stored(code) else loop, name)
        except RangeError:
            if not S0_COMPARES[op] or not isinstance(x1, int):
                raise
            return compare_beyond(op, b, x1, True, name)
    else:
        return binary_other(op, x1, x2, name, is_operator)
    if S0_CHECK_EXPONENT[op]:
        check_exponent(a, b, loop, name)
    if a.size <= FEW_CAST and S0_OUT[op][code] == S0_OUT[op][loop] and a.c_contiguous and b.c_contiguous and same_shape(a, b) and not (may_defer(a.size, a) or b.address is NULL):
        return fast_mixed(op, a, b, loop)
    return apply(op_kernel(op, loop), S0_OUT[op][code], 2, a, b, None, None, False, name, BINARY_NAMES)


cdef object binary_other(int op, object x1, object x2, str name, bint is_operator):
    """Two Python scalars, or operands that are neither arrays of ours nor Python scalars."""
    for argument, value in (("x1", x1), ("x2", x2)):
        if type(value) is Array or is_python_scalar(value):
            continue
        found = foreign_scalar(value)
        if found is not None:
            return binary(op, found if value is x1 else x1, found if value is x2 else x2, name, is_operator)
        if is_operator and is_equality(op) and not is_known_foreign(value):
            return compare_other(op, <Array>x1, value, name)
        # After NotImplemented, Python would repeat a sequence as often as an integer array says.
        if is_operator and not is_known_foreign(value) and not (op == OP_MULTIPLY and isinstance(value, SEQUENCES)):
            return NotImplemented
        refuse_operand(name, argument, value)
    # Without an array, the default dtypes of the scalars are used.
    return binary(op, scalar_array(x1, scalar_code(x1), name), scalar_array(x2, scalar_code(x2), name), name, is_operator)


cdef object refuse_exponent(str name):
    raise ArgumentValueError(name, "integers cannot be raised to negative integer powers", (), "exponents of 0 or more, or a floating-point dtype")


cdef int check_exponent(Array base, Array exponent, int loop, str name) except -1:
    """Refuse a negative exponent of an integer power, which has no integer result."""
    if base.size and letter_at(loop) == c"i" and letter_at(exponent.code) == c"i" and exponent.size:
        smallest = hooks.reduce("min", exponent, tuple(range(exponent.ndim)), False, None)
        if read_scalar(data_of(<Array>smallest), exponent.code) < 0:
            refuse_exponent(name)
    return 0


cdef object in_place(int op, Array x, object other, str name):
    """
    `x op= other`: keeps the shape and the dtype of x, or changes nothing and raises.

    A result of another dtype of the same kind is cast to that of x, as NumPy and PyTorch do.
    """
    cdef Array b, result
    cdef int code, loop
    cdef Py_ssize_t steps[3]
    cdef char* args[3]
    if guarding and is_intercepted():
        return intercept_in_place(op, x, other, name)
    if x.storage.history is not None or operand_needs_tape(other):
        return (<Tracer>hooks.tracer).in_place(operations.OPS[op].name, x, other)
    if type(other) is Array:
        b = <Array>other
    elif is_python_scalar(other):
        b = weak_operand(x, other, name)
    else:
        b = foreign_scalar(other)
        if b is None:
            if not is_known_foreign(other):
                return NotImplemented
            refuse_operand(name, "x2", other)
    code = promote_codes(x.code, b.code)
    loop = loop_for(op, code, name)
    if not is_same_kind(S0_OUT[op][code], x.code):
        raise DTypeError(
            name,
            f"the in-place result of dtype {dtype_at(S0_OUT[op][code]).name} cannot be cast to the dtype of x1",
            (("x1", dtype_at(x.code).name), ("x2", dtype_at(b.code).name)),
            "operands that promote to a dtype of the kind of that of x1",
        )
    if S0_OUT[op][code] != x.code:
        beyond_standard(name, "the operands promote to another dtype than that of x1",
                        "Array object, in-place operators: promotion must not change the dtype of the array")
    if S0_CHECK_EXPONENT[op]:
        check_exponent(x, b, loop, name)
    if x.address is NULL:
        result = apply(op_kernel(op, loop), x.code, 2, x, b, None, None, False, name, BINARY_NAMES)
        if replace_pending(x, result):
            return x
    if loop == x.code == b.code and S0_OUT[op][loop] == loop and x.size < LONG_RUN and x.c_contiguous and b.c_contiguous and same_shape(x, b) and not overlaps(x, b):
        # Note [Fast path]
        check_writable(x, name)
        args[0], args[1], args[2] = data_of(x), data_of(b), data_of(x)
        steps[0] = steps[1] = steps[2] = itemsize_at(x.code)
        run_contiguous(op_kernel(op, loop), 0, args, steps, x.size)
        return x
    apply(op_kernel(op, loop), S0_OUT[op][code], 2, x, b, None, x, True, name, BINARY_NAMES)
    return x


cdef object ternary(int op, object x1, object x2, object x3, str name, tuple names):
    """A ternary operation whose operands all promote to one dtype."""
    cdef list values = [x1, x2, x3]
    cdef list codes = []
    cdef int code = -1, k, loop
    for k in range(3):
        if type(values[k]) is Array:
            guard_gradient(<Array>values[k], name)
        elif not is_python_scalar(values[k]):
            found = foreign_scalar(values[k])
            if found is None:
                refuse_operand(name, names[k], values[k])
            values[k] = found
        if type(values[k]) is Array:
            codes.append((<Array>values[k]).code)
    # The highest kinds first: an int8 and a uint16 fit into a float32, the int32 that they make does not.
    for k in sorted(codes, reverse=True):
        code = k if code < 0 else promote_codes(code, k)
    if code < 0:
        code = scalar_code(values[0])
    for k in range(3):
        if type(values[k]) is not Array:
            code = weak_code(code, values[k])
    loop = loop_for(op, code, name)
    for k in range(3):
        if type(values[k]) is not Array:
            values[k] = weak_array(values[k], code, name)
    return apply(op_kernel(op, loop), S0_OUT[op][code], 3, <Array>values[0], <Array>values[1], <Array>values[2], None, False, name, names)

# Comparisons that no loop answers: with integers that no dtype holds, and `==` and `!=` with what is no operand.

# `value op x` as `x op value`.
cdef dict MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


cdef object compare_beyond(int op, Array a, object value, bint reflected, str name):
    """
    Comparison with a Python integer that the dtype cannot hold.

    All finite elements lie on one side of it; only an infinity can lie on the other.
    """
    cdef bint above = value > 0
    sign = operations.OPS[op].operator
    sign = MIRRORED[sign] if reflected else sign
    if sign in ("==", "!=") or letter_at(a.code) not in b"fc":
        answer = sign == "!=" or (sign in ("<", "<=")) == above and sign != "=="
        out = new_array(BOOL, a.ndim, a.shape_, NULL, False)
        memset(data_of(<Array>out), answer, (<Array>out).size)
        return out
    infinity = math.inf if above else -math.inf
    if sign in ("<", "<="):
        return binary(OP_LESS if above else OP_LESS_EQUAL, a, infinity, name, False)
    return binary(OP_GREATER_EQUAL if above else OP_GREATER, a, infinity, name, False)


cdef object compare_signs(int op, Array a, Array b, bint swapped, str name):
    """
    Comparison of signed integers `a` with unsigned 64-bit ones `b`, which no dtype holds both of.

    A negative element is less than any unsigned one, as -1 is less than 0; the others fit into uint64.
    """
    below = binary(OP_LESS, a, 0, name, False)
    # -1 and 0 as unsigned operands in the same order: 0 and 1.
    low, high = scalar_array(0, UINT64, name), scalar_array(1, UINT64, name)
    unsigned = copy_array(a, UINT64, False)
    if swapped:
        negative, other = binary(op, high, low, name, False), binary(op, b, unsigned, name, False)
    else:
        negative, other = binary(op, low, high, name, False), binary(op, unsigned, b, name, False)
    return apply(where_kernel(BOOL), BOOL, 3, below, negative, other, None, False, name, ("condition", "x1", "x2"))

# --- `==` and `!=` with anything

# The value whose own comparison runs.
cdef object ASKED = ContextVar("stride0.asked", default=None)


cdef inline bint is_equality(int op) noexcept:
    return op == OP_EQUAL or op == OP_NOT_EQUAL


cdef bint is_operand(object value) except -1:
    """Whether a binary operation takes a value, or refuses it as an array of another library."""
    return type(value) is Array or is_python_scalar(value) or is_numpy_scalar(value) or is_known_foreign(value)


cdef object compare_other(int op, Array x, object value, str name):
    """`x == value` or `x != value` for a value that is no operand; Note [Equality with anything]."""
    # Buffers would compare their bytes with those that an array exports.
    if value is not None and not isinstance(value, (bytearray, memoryview)):
        if ASKED.get() is value:
            # Its own comparison may call ours, which then returns NotImplemented.
            return NotImplemented
        token = ASKED.set(value)
        try:
            out = type(value).__eq__(value, x) if op == OP_EQUAL else type(value).__ne__(value, x)
        finally:
            ASKED.reset(token)
        if out is not NotImplemented:
            return out
    if guarding and is_intercepted():
        return intercept_compare(op, x, value, name)
    return compare_values(op, x, value, name)


cdef object compare_values(int op, Array x, object value, str name):
    cdef Array out
    if value is None:
        out = new_array(BOOL, x.ndim, x.shape_, NULL, False)
        memset(data_of(out), op == OP_NOT_EQUAL, out.size)
        return out
    try:
        out = hooks.convert(value, NO_DTYPE)
    except TypeError:
        refuse_operand(name, "x2", value)
    return binary(op, x, out, name, False)


cdef extern from "temporaries.h":
    bint s0_is_temporary(PyObject* x, int instruction)
    void s0_learn_loop(int instruction)
    bint s0_knows_loop()
    Py_ssize_t s0_references "Py_REFCNT"(PyObject* x)
    void s0_learn_type(object type)

cdef enum:
    ELISION_BYTES = 1 << 20

cdef int BINARY_OPCODE = opcode.opmap.get("BINARY_OP", -1)
cdef bint probed = False


@cython.final
cdef class LoopProbe:
    """Operands for a sum in which the interpreter's loop is found on the C stack."""

    def __add__(self, other):
        s0_learn_loop(BINARY_OPCODE)
        return self


def elides_temporaries():
    """Whether temporary elision is possible here: Note [Temporary elision]."""
    global probed
    if not probed:
        probed = True
        # Often enough for the interpreter to specialise the instruction.
        exec("for _ in range(20): probe + probe", {"probe": LoopProbe()})
    return s0_knows_loop()


cdef inline bint may_elide(object x) noexcept:
    """Whether an operand of an operator may be elided, before the C stack is inspected."""
    return type(x) is Array and (<Array>x).size * itemsize_at((<Array>x).code) >= ELISION_BYTES and s0_references(<PyObject*>x) == 1


cdef bint is_elidable(object x, object other, int op):
    """Whether the result of the operator has the dtype, the shape and the memory order of x, whose memory is not shared."""
    cdef int axis, lead
    if not may_elide(x):
        return False
    # Borrowed pointers throughout: a variable for x would count as a reference.
    if (<Array>x).node is not None or not (<Array>x).c_contiguous:
        return False
    if s0_references(<PyObject*>(<Array>x).storage) != 1 or (<Array>x).storage.block is NULL or (<Array>x).storage.history is not None:
        return False
    if data_of(<Array>x) != (<Array>x).storage.data or (<Array>x).size * itemsize_at((<Array>x).code) != (<Array>x).storage.nbytes:
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


# --- operations of backward passes


def multiply_masked(x1, x2, /):
    """`x1 * x2`, and `x1` wherever it is 0, even where `x2` is infinite or NaN. A new array."""
    return binary(OP_MULTIPLY_MASKED, x1, x2, "multiply_masked", False)


cdef Array masked_product(Array g, Array d):
    """`multiply_masked` of two arrays; the fast path of small arrays in backward passes."""
    if g.code == d.code and not is_stored(g.code) and not (may_defer(g.size, g) or d.address is NULL) and g.c_contiguous and d.c_contiguous and same_shape(g, d) and not needs_tape(g) and not needs_tape(d):
        return fast_binary(OP_MULTIPLY_MASKED, g.code, g, data_of(g), data_of(d), 0)
    return <Array>binary(OP_MULTIPLY_MASKED, g, d, "multiply_masked", False)


def conjugate(x):
    """The complex conjugate; real arrays are returned without a copy."""
    if type(x) is Array:
        return unary(OP_CONJ, x, "conj") if letter_at((<Array>x).code) == c"c" else x
    return x.conjugate()


# --- intercepted calls: Note [Interceptors]


cdef object intercept_unary(int op, object x, str name):
    entered = enter_call("function", name, (x,), {})
    try:
        out = unary(op, x, name)
    finally:
        end_call(entered)
    return result_of_call(entered, out)


cdef object intercept_binary(int op, object x1, object x2, str name, bint is_operator):
    if is_operator and is_equality(op) and not is_operand(x2):
        return compare_other(op, <Array>x1, x2, name)
    entered = enter_call("operator" if is_operator else "function", name, (x1, x2), {})
    try:
        out = binary(op, x1, x2, name, is_operator)
    finally:
        end_call(entered)
    return result_of_call(entered, out)


cdef object intercept_compare(int op, Array x, object value, str name):
    entered = enter_call("operator", name, (x, value), {})
    try:
        out = compare_values(op, x, value, name)
    finally:
        end_call(entered)
    return result_of_call(entered, out)


cdef object intercept_in_place(int op, Array x, object other, str name):
    entered = enter_call("in-place", name, (x, other), {})
    try:
        return in_place(op, x, other, name)
    finally:
        end_call(entered)


hooks.unary = unary
hooks.binary = binary
hooks.in_place = in_place
s0_learn_type(Array)
