# Operations of backward passes: adjoints of broadcasts, reductions and indexing.
#
# Note [Repeated cotangents]
#     A broadcast cotangent repeats its elements along axes of stride 0. Its product with an operand that is broadcast
#     along the same axes repeats its elements, too, so it is computed once and has stride 0 there. The gradient of
#     `sum(a * b)` by a column `a` is one sum, repeated.

def unreduce(x, tuple shape, axis):
    """
    The result of a reduction over `axis` of an array of `shape`, broadcast to that shape: a view.

    `axis` is the argument of the reduction; the reduced axes may be kept or removed.
    """
    cdef Array a = <Array?>x
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef Py_ssize_t byte_strides[MAX_NDIM]
    cdef int d, own = 0, ndim = <int>len(shape)
    cdef bint reduced[MAX_NDIM]
    if needs_tape(a):
        return traced("unreduce", (x, shape, axis))
    read_shape(shape, sizes, "unreduce")
    for d in range(ndim):
        reduced[d] = axis is None
    if axis is not None:
        for item in axis if isinstance(axis, (tuple, list)) else (axis,):
            d = operator.index(item)
            reduced[d + ndim if d < 0 else d] = True
    for d in range(ndim):
        byte_strides[d] = 0 if reduced[d] else a.strides_[own]
        if not reduced[d] or a.ndim == ndim:
            own += 1
    return view_of(a, data_of(a), ndim, sizes, byte_strides)


cdef tuple axes_into(Array x, int ndim, const Py_ssize_t* shape, tuple target):
    """The axes of `shape` along which a sum has the shape `target`."""
    cdef int axis, missing = ndim - <int>len(target)
    out = list(range(missing))
    for axis in range(missing, ndim):
        if target[axis - missing] == 1 and shape[axis] != 1:
            out.append(axis)
        elif target[axis - missing] != shape[axis]:
            raise GradientError("sum_to", "internal error: a gradient does not fit its operand",
                                (("operand", f"{target}"), ("gradient", f"{tuple([shape[axis] for axis in range(ndim)])}")))
    return tuple(out)


cdef int check_fits(int ndim, tuple shape) except -1:
    if <int>len(shape) > ndim:
        raise GradientError("sum_to", "internal error: a gradient has fewer axes than its operand", (("operand", f"{shape}"),))
    return 0


cdef int repeated_axes(Array x1, Array x2, int ndim, const Py_ssize_t* shape, bint* repeated) noexcept:
    """Find the axes of a common shape along which both operands repeat their elements; return their number."""
    cdef Operand first, second
    cdef int axis, count = 0
    describe_operand(&first, x1)
    describe_operand(&second, x2)
    for axis in range(ndim):
        repeated[axis] = shape[axis] > 1 and is_broadcast_along(&first, axis, ndim) and is_broadcast_along(&second, axis, ndim)
        count += repeated[axis]
    return count


cdef Array once(Array x, int ndim, const bint* repeated):
    """A view of x with size 1 along the axes of a common shape along which x repeats its elements."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef int axis
    cdef bint changed = False
    for axis in range(x.ndim):
        shape[axis] = x.shape_[axis]
        if repeated[ndim - x.ndim + axis] and shape[axis] != 1:
            shape[axis], changed = 1, True
    return view_of(x, data_of(x), x.ndim, shape, x.strides_) if changed else x


cdef Array repeat(Array x, int ndim, const Py_ssize_t* shape, const bint* repeated):
    """A view of x with ndim axes, broadcast along the repeated axes to the sizes of a shape."""
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef Py_ssize_t byte_strides[MAX_NDIM]
    cdef int axis, own
    for axis in range(ndim):
        own = axis - (ndim - x.ndim)
        sizes[axis] = shape[axis] if repeated[axis] else x.shape_[own] if own >= 0 else 1
        byte_strides[axis] = 0 if repeated[axis] or own < 0 else x.strides_[own]
    return view_of(x, data_of(x), ndim, sizes, byte_strides)


cdef Array scaled(Array x, object factor):
    """`multiply_masked(x, factor)` for a scalar: Note [Repeated cotangents]."""
    cdef bint repeated[MAX_NDIM]
    if x.c_contiguous or x.storage.logged or repeated_axes(x, x, x.ndim, x.shape_, repeated) == 0:
        return <Array>binary(OP_MULTIPLY_MASKED, x, factor, "multiply_masked", False)
    return repeat(<Array>binary(OP_MULTIPLY_MASKED, once(x, x.ndim, repeated), factor, "multiply_masked", False), x.ndim, x.shape_, repeated)


cdef Array added(Array x1, Array x2):
    """`x1 + x2` of two cotangents of one shape: Note [Repeated cotangents]."""
    cdef bint repeated[MAX_NDIM]
    if (x1.c_contiguous or x2.c_contiguous or x1.storage.logged or x2.storage.logged
            or repeated_axes(x1, x2, x1.ndim, x1.shape_, repeated) == 0):
        return <Array>binary(OP_ADD, x1, x2, "add", False)
    return repeat(<Array>binary(OP_ADD, once(x1, x1.ndim, repeated), once(x2, x1.ndim, repeated), "add", False), x1.ndim, x1.shape_, repeated)


cdef Array total_along(str name, int nin, Array x1, Array x2, tuple axes, int missing, int code):
    """A reduction along axes: the first `missing` axes are removed, the other axes are kept with size 1."""
    if <int>len(axes) == missing:
        return accumulate(name, nin, x1, x2, axes, False, code, code)
    return without_leading(accumulate(name, nin, x1, x2, axes, True, code, code), missing)


cpdef Array sum_into(Array x, tuple shape):
    """x summed to a shape that broadcasts to the shape of x: the adjoint of a broadcast. x itself if the shapes are
    equal."""
    cdef tuple axes
    check_fits(x.ndim, shape)
    axes = axes_into(x, x.ndim, x.shape_, shape)
    return total_along("sum", 1, x, None, axes, x.ndim - <int>len(shape), x.code) if axes else x


cpdef Array dot_into(Array x1, Array x2, tuple shape):
    """
    `multiply_masked(x1, x2)` summed to a shape, in one pass and without a temporary: Note [Repeated cotangents].

    The method depends on the number of elements, never on whether an operand is deferred: Note [Deferred passes].
    """
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef bint repeated[MAX_NDIM]
    cdef Operand operands[2]
    cdef int axis, ndim, missing, again, code = x1.code if x1.code == x2.code else promote_codes(x1.code, x2.code)
    cdef Py_ssize_t size = 1
    cdef bint folded = False
    cdef tuple axes
    cdef Array out
    describe_operand(&operands[0], x1)
    describe_operand(&operands[1], x2)
    if broadcast(operands, 2, sizes, &ndim) != 0:
        raise BroadcastError("multiply_masked", named_shapes(BINARY_NAMES, x1, x2, None))
    check_fits(ndim, shape)
    axes = axes_into(x1, ndim, sizes, shape)
    again = repeated_axes(x1, x2, ndim, sizes, repeated)
    for axis in range(ndim):
        size *= 1 if repeated[axis] else sizes[axis]
    for axis in axes:
        # Note [Repeated elements] describes this case.
        again -= repeated[axis]
        folded = folded or repeated[axis]
        repeated[axis] = False
    if again:
        x1, x2 = once(x1, ndim, repeated), once(x2, ndim, repeated)
    missing = ndim - <int>len(shape)
    if not axes:
        out = masked_product(x1, x2)
    elif folded or size < DEFERRED_SIZE or is_stored(code):
        out = total_along("dot_masked", 2, x1, x2, axes, missing, code)
    else:
        # The product is a step of the program that computes its factors.
        out = total_along("sum", 1, masked_product(x1, x2), None, axes, missing, code)
    return repeat(out, ndim - missing, &sizes[missing], &repeated[missing]) if again else out


cdef int add_at(Array x, key, Array values) except -1:
    """
    ``x[key] += values``; values add up for elements that `key` names several times.

    `x` is contiguous in C order and of the dtype of `values`, whose shape
    broadcasts to that of ``x[key]``. Values are added in the order of the indices.
    """
    cdef Array target = plain_view(x, key)
    cdef tuple items
    cdef Counts counts
    cdef Picked at
    if x.code != values.code or letter_at(x.code) == c"b":
        raise DTypeError("add_at", f"Unsupported dtype {dtype_at(values.code).name}")
    check_writable(x, "add_at")
    if target is None:
        items = classified(x, key, &counts)
        if counts.arrays == 0:
            target = plain_view(x, items)
    if target is not None:
        in_place(OP_ADD, target, values, "add_at")
        return 0
    if is_stored(x.code):
        target = copy_array(x, arithmetic_code(x.code), True)
        add_at(target, key, copy_array(values, target.code, False))
        return assign_array(x, target, "add_at")
    owners = pick_items(&at, x, items, &counts, False)
    return scatter_picked(&at, x, values, S0_ADD, "add_at")


def put(g, tuple shape, key):
    """
    Zeros of `shape` with `g` added at ``[key]``: the adjoint of indexing.

    `key` may name elements several times; they add up. Integers wrap around.
    """
    cdef Array a = <Array?>g, out
    cdef Py_ssize_t sizes[MAX_NDIM]
    if needs_tape(a) or has_batched(key):
        return traced("put", (g, shape, key))
    read_shape(shape, sizes, "put")
    out = new_array(a.code, <int>len(shape), sizes, NULL, True)
    add_at(out, key, a)
    return out


def is_spread_by(x, key, values):
    """Whether key or values are batched and x is not, so that a copy of x must have a copy for each example."""
    return (has_batched(key) or is_batched(values)) and not is_batched(x)


def scatter_add(x, key, values):
    """
    A copy of x with values added at ``[key]``; the values have its dtype and broadcast to ``x[key]``.

    `key` may name elements several times; values add up in the order of the indices. Integers wrap around.
    """
    cdef Array a = <Array?>x, b = <Array?>values, out
    if needs_tape(a) or needs_tape(b) or has_batched(key):
        return traced("scatter_add", (x, key, values))
    out = copy_array(a, a.code, True)
    add_at(out, key, b)
    return out
