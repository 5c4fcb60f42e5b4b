# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""How elementwise operations run on arrays; copies, casts and assignment."""

from libc.stdint cimport uint64_t
from libc.string cimport memcmp, memcpy

from stride0._core.memory.dtype cimport (
    FLOAT64, NO_DTYPE, UINT64, DType, dtype_at, is_python_scalar, itemsize_at, letter_at, promote_codes,
    scalar_code, weak_code, write_scalar,
)
from stride0._core.plan.plan cimport (
    MAX_NDIM, MAX_OPERANDS, Operand, Plan, broadcast, coalesce, extent, order_axes, result_strides, set_result,
    set_strides, shares_location,
)
from stride0._core.plan.table cimport Kernel, cast_kernel, kernels, s0_kernels
from stride0._core.plan.partition cimport LONG_RUN, run_kernel, takes_long
from stride0._core.array.switches cimport guarding
from stride0._core.array.interceptors cimport is_restricted, enforce_current_mode
from stride0._core.ops.deferred cimport defer, defers
from stride0._core.array.array cimport (
    Array, before_write, checked_size, data_of, describe_operand, guard_gradient, hooks, may_defer, new_array,
    not_completed, read_operand, same_shape, shape_tuple, view_of,
)

from stride0._base.errors import (
    ArgumentValueError, BroadcastError, CastError, ForeignArrayError, ShapeError, WriteError, counted,
)
from stride0._tables.dtypes import ROWS
from stride0._core.plan.table import instruction_set
from stride0._core.array.views import strides

cdef s0_kernels* K = kernels()


cdef int check_guard(str name, tuple names, tuple arrays, int ndim, const Py_ssize_t* shape) except -1:
    """Check the operands of an elementwise operation, which broadcast to a shape, against the mode of broadcasting."""
    if is_restricted():
        # Python scalars have no shape to broadcast.
        pairs = [(label, shape_tuple(<Array>x)) for label, x in zip(names, arrays) if not (<Array>x).weak]
        enforce_current_mode(name, pairs, tuple([shape[axis] for axis in range(ndim)]))
    return 0


cdef int check_assignment(Array target, Array source) except -1:
    """Check `x[key] = value` against the mode of broadcasting."""
    if is_restricted() and not source.weak:
        enforce_current_mode("setitem", [("x", shape_tuple(target)), ("value", shape_tuple(source))], shape_tuple(target))
    return 0

cdef tuple UNARY_NAMES = ("x",)
cdef tuple BINARY_NAMES = ("x1", "x2")


cdef Array scalar_array(object value, int code, str operation):
    """An array without axes that holds a Python scalar."""
    cdef Array x = new_array(code, 0, NULL, NULL, False)
    write_scalar(value, code, data_of(x), operation)
    return x


cdef Array weak_array(object value, int code, str operation):
    """A Python scalar as an operand: the modes of broadcasting do not refuse it."""
    cdef Array x = scalar_array(value, code, operation)
    x.weak = True
    return x


cdef object named_shapes(tuple names, Array x1, Array x2, Array x3):
    return [(name, shape_tuple(x)) for name, x in zip(names, (x1, x2, x3))]


cdef int check_writable(Array out, str operation) except -1:
    """Refuse memory that must not be written to; nothing deferred reads it afterwards."""
    cdef Operand view
    before_write(out)
    read_operand(&view, out)
    if out.storage.readonly:
        raise WriteError(operation, "the array is read-only", (("shape", f"{shape_tuple(out)}"),),
                         "an array of its own memory: copy it first, asarray(x, copy=True)")
    if not out.c_contiguous and shares_location(&view):
        raise WriteError(operation, "several elements of the array share one memory location",
                         (("shape", f"{shape_tuple(out)}"), ("strides", f"{strides(out)}")),
                         "an array of its own memory: copy it first, asarray(x, copy=True)")
    return 0


cdef bint overlaps(Array out, Array x) except -1:
    """Whether writing `out` element by element could change elements of x that are still to be read."""
    cdef Operand a, b
    cdef char* low1
    cdef char* high1
    cdef char* low2
    cdef char* high2
    cdef int axis
    read_operand(&a, out)
    read_operand(&b, x)
    extent(&a, &low1, &high1)
    extent(&b, &low2, &high2)
    if low1 == high1 or low2 == high2 or high1 <= low2 or high2 <= low1:
        return False
    # If x is the same view as `out`, each element is read before it is written.
    if data_of(out) != data_of(x) or out.code != x.code or out.ndim != x.ndim:
        return True
    for axis in range(out.ndim):
        if out.shape_[axis] != x.shape_[axis] or (out.shape_[axis] > 1 and out.strides_[axis] != x.strides_[axis]):
            return True
    return False


cdef Array apply(Kernel kernel, int out_code, int nin, Array x1, Array x2, Array x3, Array out, bint keep, str name, tuple names):
    """
    Run an elementwise operation: the functions of the planner in their order.

    Operands of other dtypes than the kernel's are cast. `out_code` is the dtype of a new result, `out` the array to write to
    or None for a new one, `names` those of the operands.
    `keep`: `out` is visible to others, so that a signal must not leave it half written: a long computation
    writes to a new array first.
    """
    cdef Operand operands[MAX_OPERANDS]
    cdef Plan plan
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t steps[MAX_NDIM]
    cdef Py_ssize_t size
    cdef int ndim
    cdef bint done
    cdef Array target = None
    if out is not None:
        check_writable(out, name)
        if overlaps(out, x1):
            x1 = copy_array(x1, x1.code, False)
        if nin > 1 and overlaps(out, x2):
            x2 = copy_array(x2, x2.code, False)
        if nin > 2 and overlaps(out, x3):
            x3 = copy_array(x3, x3.code, False)
    describe_operand(&operands[0], x1)
    if nin > 1:
        describe_operand(&operands[1], x2)
    if nin > 2:
        describe_operand(&operands[2], x3)
    if broadcast(operands, nin, shape, &ndim) != 0:
        raise BroadcastError(name, named_shapes(names, x1, x2, x3))
    if guarding and (nin > 1 or out is not None):
        check_guard(name, names, (x1, x2, x3)[:nin], ndim, shape)
    if out is not None and (ndim != out.ndim or memcmp(shape, out.shape_, ndim * sizeof(Py_ssize_t)) != 0):
        raise BroadcastError(name, named_shapes(names, x1, x2, x3), (names[0], shape_tuple(out)))
    if keep and out.size >= LONG_RUN and takes_long(kernel, out.size):
        try:
            target = new_array(out_code, ndim, shape, NULL, False)
        except MemoryError:  # then a signal waits for the end
            pass
        else:
            keep, target, out = False, out, target
    if out is None:
        size = checked_size(out_code, ndim, shape)
        if may_defer(size, x1) or (nin > 1 and may_defer(size, x2)) or (nin > 2 and may_defer(size, x3)):
            set_strides(&plan, operands, nin, shape, ndim)
            order_axes(&plan, False)
            result_strides(&plan, shape, ndim, itemsize_at(out_code), steps)
            if size and defers(size, x1.address is NULL or (nin > 1 and x2.address is NULL) or (nin > 2 and x3.address is NULL)):
                out = defer(kernel, out_code, nin, x1, x2, x3, ndim, shape, steps, name)
                if out is not None:
                    return out
    operands[0].data = data_of(x1)
    if nin > 1:
        operands[1].data = data_of(x2)
    if nin > 2:
        operands[2].data = data_of(x3)
    set_strides(&plan, operands, nin, shape, ndim)
    if out is None:
        order_axes(&plan, False)
        result_strides(&plan, shape, ndim, itemsize_at(out_code), steps)
        out = new_array(out_code, ndim, shape, steps, False)
        read_operand(&operands[nin], out)
        set_result(&plan, &operands[nin], shape, ndim)
    else:
        # While operands were computed, a signal handler may have deferred what reads `out`.
        before_write(out)
        read_operand(&operands[nin], out)
        set_result(&plan, &operands[nin], shape, ndim)
        order_axes(&plan, True)
    coalesce(&plan, 0)
    if out.size < LONG_RUN:
        done = run_kernel(&plan, kernel, False)
    else:
        with nogil:
            done = run_kernel(&plan, kernel, not keep)
    if not done:
        not_completed(name)
    if target is not None:
        assign_array(target, out, name)
        return target
    return out


# NumPy, and the package that has dtypes for it.
cdef tuple NUMPY_MODULES = tuple(sorted({row.numpy for row in ROWS}, reverse=True))


cpdef bint is_numpy_scalar(object value):
    """Whether a value is a scalar object of NumPy's: it has a dtype, and unlike an array nothing can be assigned to it."""
    kind = type(value)
    return kind.__module__ in NUMPY_MODULES and hasattr(kind, "dtype") and hasattr(kind, "item") and not hasattr(kind, "__setitem__")


cdef Array foreign_scalar(object value):
    """A scalar object of NumPy's as an array without axes; None for anything else."""
    return hooks.convert(value, NO_DTYPE) if is_numpy_scalar(value) else None


cdef object refuse_operand(str name, str argument, object value):
    kind = type(value)
    label = f"{kind.__module__}.{kind.__qualname__}" if kind.__module__ != "builtins" else kind.__qualname__
    raise ForeignArrayError(name, f"{argument} is of type {label}", (), "a stride0 array or a Python scalar; stride0.asarray converts arrays of other libraries")

# After NotImplemented, arrays of these libraries would return an array of their own.
cdef tuple FOREIGN_LIBRARIES = ("numpy", "torch", "jaxlib", "jax", "cupy", "dask", "tensorflow", "array_api_strict")


cdef bint is_known_foreign(object value):
    for kind in type(value).__mro__:
        if (kind.__module__ or "").partition(".")[0] in FOREIGN_LIBRARIES:
            return True
    return False


def as_array(x, operation, like=None):
    """
    An operand as an array.

    Parameters
    ----------
    x : Array or Python scalar
        The operand; an array comes back as it is.
    operation : str
        Named in the error.
    like : DType, optional
        Dtype with which a Python scalar is combined; by default that of its kind.
    """
    if type(x) is Array:
        return x
    if is_python_scalar(x):
        return weak_array(x, scalar_code(x) if like is None else weak_code((<DType>like).code, x), operation)
    found = foreign_scalar(x)
    if found is not None:
        return found
    refuse_operand(operation, "x", x)




cdef Array weak_operand(Array a, object value, str name):
    """A Python scalar as an operand beside the array a."""
    return weak_array(value, weak_code(a.code, value), name)


cdef int check_cast(int source, int target, str operation) except -1:
    if K.casts[source][target][0] is NULL:
        raise CastError(operation, f"{dtype_at(source).name} cannot be cast to {dtype_at(target).name}", (),
                        "a complex dtype; real(x) or abs(x) give real values")
    return 0

cdef enum:
    SMALL_MATRIX = 512  # elements; larger ones are transposed in blocks


cdef Array copy_array(Array x, int code, bint c_order):
    """A new array of the elements of x, cast; in their memory order, or in C order."""
    cdef Array out = None
    cdef Py_ssize_t inner[2]
    cdef Py_ssize_t outer[2]
    cdef char* args[2]
    guard_gradient(x, "copy")
    check_cast(x.code, code, "copy")
    if c_order and not x.c_contiguous:
        out = new_array(code, x.ndim, x.shape_, NULL, False)
        if x.ndim == 2 and x.size < SMALL_MATRIX:
            # A kernel takes the rows and columns of a small matrix directly, without a plan.
            args[0], inner[0], outer[0] = data_of(x), x.strides_[1], x.strides_[0]
            args[1], inner[1], outer[1] = data_of(out), out.strides_[1], out.strides_[0]
            K.casts[x.code][code][3](args, inner, outer, x.shape_[1], x.shape_[0])
            return out
    return apply(cast_kernel(x.code, code), code, 1, x, None, None, out, False, "copy", UNARY_NAMES)


cdef int assign_array(Array dst, Array src, str operation) except -1:
    """`dst[...] = src`: broadcasts and casts."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Operand operands[2]
    cdef int ndim
    guard_gradient(dst, operation)
    guard_gradient(src, operation)
    check_cast(src.code, dst.code, operation)
    read_operand(&operands[0], dst)
    read_operand(&operands[1], src)
    if broadcast(operands, 2, shape, &ndim) != 0 or ndim != dst.ndim or memcmp(shape, dst.shape_, ndim * sizeof(Py_ssize_t)) != 0:
        raise BroadcastError(operation, [("x", shape_tuple(dst)), ("value", shape_tuple(src))], ("x", shape_tuple(dst)))
    if not same_shape(dst, src):
        src = broadcast_like(src, dst)
    apply(cast_kernel(src.code, dst.code), dst.code, 1, src, None, None, dst, True, operation, UNARY_NAMES)
    return 0


cdef Array broadcast_like(Array x, Array like):
    """x broadcast to the shape of `like`, as a view; the caller knows that it fits."""
    cdef Py_ssize_t steps[MAX_NDIM]
    cdef int axis, own
    for axis in range(like.ndim):
        own = axis - (like.ndim - x.ndim)
        steps[axis] = 0 if own < 0 or x.shape_[own] == 1 else x.strides_[own]
    return view_of(x, data_of(x), like.ndim, like.shape_, steps)


def assign(Array dst not None, src, str operation="assign"):
    """`dst[...] = src` for an array or a Python scalar; broadcasts, casts, and copies where memory is shared."""
    assign_array(dst, value_operand(dst, src, operation), operation)


cdef Array value_operand(Array dst, object src, str operation):
    """What is assigned, as an array; a Python scalar takes the dtype of the target."""
    if type(src) is Array:
        return <Array>src
    if is_python_scalar(src):
        return weak_array(src, dst.code, operation)
    if isinstance(src, (list, tuple, range)):
        # Python scalars in a sequence must fit the target, as one alone must.
        return hooks.convert(src, dst.code)
    return hooks.convert(src, NO_DTYPE)


def copy(Array x not None, dtype=None, str order="K"):
    """A new array of the elements of x, cast where a dtype is given; memory order kept ("K") or "C"."""
    return copy_array(x, x.code if dtype is None else (<DType?>dtype).code, order == "C")


def plan_summary(tuple arrays):
    """
    The planner's decisions for the operands of an elementwise operation: for `stride0.explain`.

    Parameters
    ----------
    arrays : tuple of Array
        At most three, whose shapes broadcast.

    Returns
    -------
    dict
        ``shape`` of the result; ``result_strides`` in elements; ``order``: its axes of more than one element,
        innermost first; ``merged``: the axes after adjacent ones that are one run have been merged, each a
        dict of ``axes``, ``size`` and ``strides`` (in bytes, per operand and of the result); ``layout``: per operand
        and of the result, how the inner loop moves along it.
    """
    cdef Operand operands[MAX_OPERANDS]
    cdef Plan plan
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t steps[MAX_NDIM]
    cdef int ndim, k, d, at = 0, nin = <int>len(arrays), code = -1
    cdef Array result
    if not 0 < nin < MAX_OPERANDS:
        raise ArgumentValueError("plan_summary", f"{nin} operands", (), f"one to {MAX_OPERANDS - 1}")
    for k in range(nin):
        read_operand(&operands[k], <Array?>arrays[k])
        code = operands[k].code if code < 0 else promote_codes(code, operands[k].code)
    if broadcast(operands, nin, shape, &ndim) != 0:
        raise BroadcastError("plan_summary", [(f"x{k + 1}", shape_tuple(<Array>x)) for k, x in enumerate(arrays)])
    set_strides(&plan, operands, nin, shape, ndim)
    order_axes(&plan, False)
    result_strides(&plan, shape, ndim, itemsize_at(code), steps)
    # The result is only described, so it has no memory of its own.
    result = view_of(new_array(code, 0, NULL, NULL, True), NULL, 0, NULL, NULL)
    read_operand(&operands[nin], result)
    operands[nin].ndim, operands[nin].shape, operands[nin].strides = ndim, shape, steps
    set_result(&plan, &operands[nin], shape, ndim)
    order = [plan.axis[d] for d in range(plan.ndim)]
    sizes = [plan.shape[d] for d in range(plan.ndim)]
    coalesce(&plan, 0)
    merged = []
    for d in range(plan.ndim):
        axes, size = [order[at]], sizes[at]
        at += 1
        while size != plan.shape[d]:
            axes.append(order[at])
            size *= sizes[at]
            at += 1
        merged.append({"axes": tuple(axes), "size": plan.shape[d], "strides": tuple([plan.strides[k][d] for k in range(plan.nop)])})
    layout = []
    for k in range(plan.nop):
        step = plan.strides[k][0] if plan.ndim else itemsize_at(plan.code[k])
        layout.append("stretched" if step == 0 else "contiguous" if step == itemsize_at(plan.code[k]) else "strided")
    return {
        "shape": tuple([shape[d] for d in range(ndim)]),
        "result_strides": tuple([steps[d] // itemsize_at(code) for d in range(ndim)]),
        "order": tuple(order), "merged": merged, "layout": tuple(layout),
    }


def iota(Array out not None, start, step):
    """Fill a one-dimensional array with `start + i * step`: integers modulo their width, floats in float64."""
    cdef Array work = out
    if out.ndim != 1:
        raise ShapeError("iota", f"the array has {counted(out.ndim, 'axis', 'axes')}", (), "an array of one axis")
    cdef char letter = letter_at(out.code)
    cdef uint64_t first, by
    if letter == c"i" or letter == c"u" or letter == c"b":
        if out.code != UINT64 or not out.c_contiguous:
            work = new_array(UINT64, 1, out.shape_, NULL, False)
        first, by = int(start) & 0xFFFFFFFFFFFFFFFF, int(step) & 0xFFFFFFFFFFFFFFFF
        count_up[uint64_t](<uint64_t*>data_of(work), work.size, first, by)
    else:
        if out.code != FLOAT64 or not out.c_contiguous:
            work = new_array(FLOAT64, 1, out.shape_, NULL, False)
        count_up[double](<double*>data_of(work), work.size, start, step)
    if work is not out:
        assign_array(out, work, "iota")

# Whether vectors of 512 bits may be used.
cdef bint WIDE = instruction_set == "v4"


cdef bint exports_buffer(object source):
    """Whether an object has the buffer protocol."""
    try:
        memoryview(source)
    except (TypeError, BufferError, ValueError):
        return type(source).__module__ == "numpy"
    return True


cdef int fill(Array out, object value, str name) except -1:
    """Write a value that the dtype holds to every element of a new array."""
    cdef Py_ssize_t i
    cdef int itemsize = itemsize_at(out.code)
    if out.size == 0:
        return 0
    if out.size > 64:
        return assign_array(out, scalar_array(value, out.code, name), name)
    write_scalar(value, out.code, data_of(out), name)
    for i in range(1, out.size):
        memcpy(data_of(out) + i * itemsize, data_of(out), itemsize)
    return 0
