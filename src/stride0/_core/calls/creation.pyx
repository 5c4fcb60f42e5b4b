"""Functions that make arrays and whose overhead matters. Declared in `_chapters/creation.py`, `data_types.py` and `strided`."""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from stride0._core.memory.dtype cimport BOOL, DType, FLOAT64, INT64, dtype_at
from stride0._core.plan.plan cimport MAX_NDIM
from stride0._core.plan.table cimport has_cast
from stride0._core.array.array cimport Array, data_of, new_array
from stride0._core.ops.operands cimport value_operand
from stride0._core.ops.copy cimport assign_array, copy_array, count_up, fill
from stride0._core.ops.keys cimport read_int
from stride0._core.calls.arguments cimport (
    array_argument, check_device_argument, dtype_code_argument, flag_argument, implement, shape_argument,
)

import math

from stride0._base.errors import ArgumentTypeError, ArgumentValueError, RangeError, ShapeError, shown
from stride0._base.shapes import normalize_shape
from stride0._core.calls.checks import as_float, as_scalar, check_cast, check_dtype, check_fill, limits_of, refuse_dtype
from stride0._core.ops.operands import as_array
from stride0._core.ops.copy import iota
from stride0._core.ops.functions import add, multiply

cdef Py_ssize_t FAR = <Py_ssize_t>1 << 60


cdef Array make_array(str operation, PyObject* shape, PyObject* dtype, PyObject* device, bint zeroed):
    """A new array of float64, unless another dtype is given."""
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef int ndim
    check_device_argument(device, operation)
    ndim = shape_argument(shape, operation, sizes)
    return new_array(dtype_code_argument(dtype, operation, FLOAT64), ndim, sizes, NULL, zeroed)


cdef object empty(str name, PyObject** given):
    return make_array("empty", given[0], given[1], given[2], False)


cdef object zeros(str name, PyObject** given):
    return make_array("zeros", given[0], given[1], given[2], True)


cdef object ones(str name, PyObject** given):
    cdef Array out = make_array("ones", given[0], given[1], given[2], False)
    fill(out, 1, "ones")
    return out


cdef object full(str name, PyObject** given):
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef Py_ssize_t value
    cdef int ndim, code = -1
    cdef Array out
    check_device_argument(given[3], "full")
    ndim = shape_argument(given[0], "full", sizes)
    if given[2] is <PyObject*>None:
        if type(<object>given[1]) is float:
            code = FLOAT64
        elif type(<object>given[1]) is bool:
            code = BOOL
        elif read_int(given[1], &value):
            code = INT64
    if code >= 0:
        out = new_array(code, ndim, sizes, NULL, False)
        fill(out, <object>given[1], "full")
    else:
        filler, dtype = check_fill("full", "fill_value", <object>given[1], <object>given[2])
        out = new_array((<DType>dtype).code, ndim, sizes, NULL, False)
        assign_array(out, value_operand(out, filler, "full"), "full")
    return out


# --- arange


cdef object arange(str name, PyObject** given):
    cdef Py_ssize_t start = 0, stop, step, size
    cdef bint no_stop = given[1] is <PyObject*>None
    cdef Array out
    check_device_argument(given[4], "arange")
    if given[3] is <PyObject*>None and read_int(given[2], &step) and step == 1:
        if read_int(given[0], &stop if no_stop else &start) and (no_stop or read_int(given[1], &stop)):
            # Far from overflow, the usual case needs no Python integers.
            if -FAR < start < FAR and -FAR < stop < FAR:
                size = stop - start if stop > start else 0
                out = new_array(INT64, 1, &size, NULL, False)
                count_up[int64_t](<int64_t*>data_of(out), size, start, 1)
                return out
    numbers = [real_number("start", <object>given[0]), 0 if no_stop else real_number("stop", <object>given[1]), real_number("step", <object>given[2])]
    if no_stop:
        numbers[0], numbers[1] = 0, numbers[0]
    return make_range(numbers, <object>given[3])


cdef object real_number(str name, value):
    number = as_scalar("arange", name, value)
    if isinstance(number, complex):
        raise ArgumentTypeError("arange", f"{name} must be a real number, not complex", [(name, shown(number))])
    return int(number) if isinstance(number, bool) else number


cdef list describe_numbers(list numbers):
    return [(name, shown(number)) for name, number in zip(("start", "stop", "step"), numbers)]


cdef Array make_range(list numbers, dtype):
    """start, start + step and so on, up to stop."""
    cdef bint integral = all([isinstance(n, int) for n in numbers])
    cdef DType target = check_dtype("arange", dtype, dtype_at(INT64 if integral else FLOAT64))
    cdef bint into_integers = target.kind in ("signed integer", "unsigned integer")
    if target.kind == "bool":
        refuse_dtype("arange", target, "a numeric dtype", "the result")
    if not all([isinstance(n, int) or math.isfinite(n) for n in numbers]):
        raise ArgumentValueError("arange", "start, stop and step must be finite", describe_numbers(numbers))
    if numbers[2] == 0:
        raise ArgumentValueError("arange", "step must not be 0", describe_numbers(numbers))
    if into_integers and not integral:
        if not all([n == int(n) for n in numbers]):
            raise ArgumentValueError("arange", f"a number has a fraction and the dtype is {target.name}", describe_numbers(numbers))
        numbers = [int(n) for n in numbers]
    # ceil((stop - start) / step) of the exact numbers.
    (a, b), (c, d), (e, f) = [n.as_integer_ratio() for n in numbers]
    count = max(0, -((a * d - c * b) * f // (b * d * e)))
    if count >= 2**63:
        raise ShapeError("arange", "the result would have too many elements", describe_numbers(numbers))
    (count,) = normalize_shape("arange", count)
    if into_integers:
        return make_integers(count, numbers[0], numbers[2], target)
    return make_floats(count, numbers[0], numbers[2], target)


cdef Array make_integers(Py_ssize_t count, start, step, DType dtype):
    cdef Array out
    least, most = limits_of(dtype)
    for number in (start, start + (count - 1) * step) if count else ():
        if not least <= number <= most:
            raise RangeError("arange", f"{number} does not fit {dtype.name}", accepts=f"From {least} to {most}.")
    out = new_array(dtype.code, 1, &count, NULL, False)
    # Elements are computed modulo 2**64, so that they are right for a step outside of int64 too.
    iota(out, start, step)
    return out


cdef Array make_floats(Py_ssize_t count, start, step, DType dtype):
    cdef Array out
    cdef double first = as_float("arange", start), distance = as_float("arange", step)
    cdef double scale
    # Rounding to float loses little of an integer, but it may lose much relative to the step.
    remainder = start - int(first) if isinstance(start, int) else 0
    # Where the difference of last and first element overflows, half of it does not.
    scale = 2 if math.isinf(count * distance) else 1
    if isinstance(start, int) and isinstance(step, int):
        last = start + (count - 1) * step
        if not -(2**53) <= start <= 2**53 or not -(2**53) <= last <= 2**53:
            wide = check_dtype("arange", "int64" if start < 0 or last < 0 else "uint64")
            least, most = limits_of(wide)
            if all([least <= end <= most for end in (start, last)]):
                return copy_array(make_integers(count, start, step, wide), dtype.code, False)
    if dtype.kind == "real floating" and not remainder and scale == 1:
        out = new_array(dtype.code, 1, &count, NULL, False)
        iota(out, first, distance)
        return out
    out = new_array(FLOAT64, 1, &count, NULL, False)
    iota(out, (remainder or first) / scale, distance / scale)
    if remainder:
        out = add(out, first / scale)
    if scale > 1:
        out = multiply(out, scale)
    return copy_array(out, dtype.code, False)


# --- copies


cdef object astype(str name, PyObject** given):
    cdef Array x = array_argument(given[0], "astype", "x")
    cdef int code = dtype_code_argument(given[1], "astype", -1)
    check_device_argument(given[3], "astype")
    if not flag_argument(given[2], "astype", "copy") and x.code == code:
        return x
    if not has_cast(x.code, code):
        check_cast("astype", x.dtype, dtype_at(code))
    return copy_array(x, code, False)


cdef object contiguous(str name, PyObject** given):
    cdef Array x = <Array>given[0] if type(<object>given[0]) is Array else as_array(<object>given[0], "contiguous")
    return x if x.c_contiguous else copy_array(x, x.code, True)


implement("arange", arange)
implement("astype", astype)
implement("empty", empty)
implement("full", full)
implement("ones", ones)
implement("strided.contiguous", contiguous)
implement("zeros", zeros)
