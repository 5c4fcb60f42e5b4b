# Products of vectors, matrices and stacks of matrices. Declared in `_chapters/linear_algebra.py`.

cdef object matmul(str name, PyObject** given):
    cdef Array x1 = array_argument(given[0], "matmul", "x1"), x2 = array_argument(given[1], "matmul", "x2")
    cdef Array a, b, out
    cdef int code
    if x1.code == BOOL or x2.code == BOOL:
        if x1.code == x2.code:
            return multiply_bools(call_matmul, x1, x2)
        x1, x2 = as_numbers(x1, x2), as_numbers(x2, x1)
    if x1.ndim == 0 or x2.ndim == 0:
        raise ShapeError("matmul", f"{'x2' if x1.ndim else 'x1'} must have at least one axis", shapes_of(x1, x2), "multiply by a number with *: x1 * x2")
    if x1.shape_[x1.ndim - 1] != x2.shape_[x2.ndim - 2 if x2.ndim > 1 else 0]:
        raise ShapeError(
            "matmul", f"the inner sizes differ: {x1.shape[-1]} in x1 and {x2.shape[-2 if x2.ndim > 1 else 0]} in x2", shapes_of(x1, x2),
            "make the inner sizes equal, for example by matrix_transpose(x2)")
    code = x1.code
    if x1.code == x2.code and (not guarding or x2.ndim <= 2 >= x1.ndim):
        out = usual_product(x1, x2)
        if out is not None:
            return out
    else:
        code = promote_codes(x1.code, x2.code)
    if x1.ndim == 1 and x2.ndim == 1 and x1.size <= tuning.dot_elements and not letter_at(code) in (c"f", c"c"):
        return accumulate("dot", 2, x1, x2, (0,), False, code, code)
    a = x1 if x1.ndim > 1 else with_axis(x1, 0)
    b = x2 if x2.ndim > 1 else with_axis(x2, 1)
    batch = broadcast_batches("matmul", a, b) if a.ndim > 2 or b.ndim > 2 else ()
    out = multiply_stacks(a, b, batch, dtype_at(code))
    # Remove the axes that were added to vectors.
    if x2.ndim == 1:
        out = without_axes(out, (out.ndim - 1,))
    if x1.ndim == 1:
        out = without_axes(out, (out.ndim - (1 if x2.ndim == 1 else 2),))
    return out


cdef object call_matmul(Array x1, Array x2, axis):
    cdef PyObject* given[2]
    given[0], given[1] = <PyObject*>x1, <PyObject*>x2
    return matmul("matmul", given)


cdef list shapes_of(Array x1, Array x2):
    return [("x1", f"{x1.shape}"), ("x2", f"{x2.shape}")]


cdef Array with_axis(Array x, int at):
    """View a vector as a matrix: insert an axis of size 1 in front of its axis (`at` is 0) or behind it (`at` is 1)."""
    cdef Py_ssize_t shape[2]
    cdef Py_ssize_t byte_strides[2]
    shape[at], byte_strides[at] = 1, 0
    shape[1 - at], byte_strides[1 - at] = x.shape_[0], x.strides_[0]
    return view_of(x, data_of(x), 2, shape, byte_strides)


cdef Array as_numbers(Array x, Array other):
    """Return `x`; if `x` is bool, cast it to the dtype of `other`."""
    return copy_array(x, other.code, False) if x.code == BOOL else x


def check_products(op, x1, x2):
    """Check two arrays to be multiplied and summed, and return them. If only one array is bool, it is cast to the dtype of the other array."""
    check_array(op, x1, "x1")
    check_array(op, x2, "x2")
    if (x1.dtype.kind == "bool") != (x2.dtype.kind == "bool"):
        return as_numbers(x1, x2), as_numbers(x2, x1)
    return x1, x2


ctypedef object (*ProductOf)(Array x1, Array x2, axis)


cdef object multiply_bools(ProductOf product, Array x1, Array x2, axis=None):
    """The product of bool arrays: an element is true if any of the products that would be summed is true."""
    # Count the true products in float32. A count stops growing at 2**24, but it never returns to 0.
    counts = product(copy_array(x1, FLOAT32, False), copy_array(x2, FLOAT32, False), axis)
    return binary_raw(OP_NOT_EQUAL, counts, 0, "not_equal", False)


def broadcast_batches(str op, Array x1, Array x2):
    """The common shape of the leading axes of two stacks of matrices."""
    lead1, lead2 = x1.shape[:-2], x2.shape[:-2]
    if lead1 == lead2:
        return lead1
    pairs = [("leading axes of x1", lead1), ("leading axes of x2", lead2)]
    shape = broadcast_shapes(op, pairs)
    check_broadcasting(op, pairs, shape)
    return shape


# --- tensordot


cdef object tensordot(str name, PyObject** given):
    """`given`: x1, x2, axes."""
    cdef Array x1 = array_argument(given[0], "tensordot", "x1"), x2 = array_argument(given[1], "tensordot", "x2")
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef bytes of_x1, of_x2, out
    cdef int code, k
    if (x1.code == BOOL) != (x2.code == BOOL):
        x1, x2 = as_numbers(x1, x2), as_numbers(x2, x1)
    labels1, labels2, kept = labels_of_tensordot("tensordot", <object>given[2], x1.ndim, x2.ndim)
    for k, label in enumerate(labels2):
        if label < x1.ndim and x1.shape_[<int>label] != x2.shape_[k]:
            raise ShapeError("tensordot", f"axis {label} of x1 has size {x1.shape[label]} and axis {k} of x2 has size {x2.shape[k]}",
                             [*shapes_of(x1, x2), ("axes", shown(<object>given[2]))], "choose pairs of axes of equal size: summed axes do not broadcast")
    if len(kept) > MAX_NDIM:
        check_ndim("tensordot", len(kept))
    for k, label in enumerate(kept):
        shape[k] = x1.shape_[<int>label] if label < x1.ndim else x2.shape_[<int>label - x1.ndim]
    check_total("tensordot", <int>len(kept), shape)
    code = promote_codes(x1.code, x2.code)
    if x1.code != code:
        x1 = copy_array(x1, code, False)
    if x2.code != code:
        x2 = copy_array(x2, code, False)
    of_x1, of_x2, out = bytes(labels1), bytes(labels2), bytes(kept)
    return contract_two(x1, of_x1, x2, of_x2, <int>len(out), out, "tensordot")


# --- sums of products


cdef bint has_fixed_order(int code) except -1:
    """Whether the order of a sum must not depend on the layout of its operands: Note [Contractions]."""
    return letter_at(code) in (c"f", c"c") and is_reproducible()


cdef Array reduce_pairs(str name, Array x1, Array x2, int first, int last, int code):
    """Sum up products along the axes from `first` to `last`, which are the last axes if the order is fixed."""
    if has_fixed_order(code):
        x1, x2 = in_c_order(x1), in_c_order(x2)
    return accumulate(name, 2, x1, x2, tuple(range(first, last)), False, code, code)


cdef Array in_c_order(Array x):
    """x in C order, copied if necessary. Axes of stride 0 keep stride 0."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t strides[MAX_NDIM]
    cdef Array whole
    cdef int k
    for k in range(x.ndim):
        shape[k] = x.shape_[k] if x.strides_[k] else 1
    whole = view_of(x, data_of(x), x.ndim, shape, x.strides_)
    if whole.c_contiguous:
        return x
    whole = copy_array(whole, x.code, True)
    for k in range(x.ndim):
        strides[k] = whole.strides_[k] if x.strides_[k] else 0
    return view_of(whole, data_of(whole), x.ndim, x.shape_, strides)


# --- vecdot


cdef object vecdot(str name, PyObject** given):
    """`given`: x1, x2, axis."""
    return compute_vecdot(array_argument(given[0], "vecdot", "x1"), array_argument(given[1], "vecdot", "x2"), <object>given[2])


cdef object compute_vecdot(Array x1, Array x2, axis):
    cdef int code = x1.code, last
    cdef Py_ssize_t place
    if x1.code == x2.code and x1.ndim and type(axis) is int and axis == -1 and x1.code != BOOL and same_shape(x1, x2):
        return reduce_pairs("vecdot", x1, x2, x1.ndim - 1, x1.ndim, code)
    if x1.code == BOOL or x2.code == BOOL:
        if x1.code == x2.code:
            return multiply_bools(compute_vecdot, x1, x2, axis)
        x1, x2 = as_numbers(x1, x2), as_numbers(x2, x1)
    place = check_vectors("vecdot", x1, x2, axis)
    if x1.shape[place] != x2.shape[place]:
        raise ShapeError("vecdot", f"axis {place} has size {x1.shape[place]} in x1 and {x2.shape[place]} in x2", shapes_of(x1, x2),
                         "pass vectors of equal size: they do not broadcast")
    check_broadcast("vecdot", x1, x2)
    code = promote_codes(x1.code, x2.code)
    if place < -1 and has_fixed_order(code):
        x1, x2, place = with_axis_last(x1, place), with_axis_last(x2, place), -1
    place += max(x1.ndim, x2.ndim)
    return reduce_pairs("vecdot", x1, x2, <int>place, <int>place + 1, code)


cdef Array with_axis_last(Array x, int axis):
    """A view with `axis`, a negative number, moved to the last position."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t strides[MAX_NDIM]
    cdef int k, from_axis
    for k in range(x.ndim):
        from_axis = k if k < x.ndim + axis else k + 1 if k + 1 < x.ndim else x.ndim + axis
        shape[k], strides[k] = x.shape_[from_axis], x.strides_[from_axis]
    return view_of(x, data_of(x), x.ndim, shape, strides)


def check_broadcast(str op, Array x1, Array x2):
    """Return the common shape of two arrays; raise if the mode of `broadcasting` does not allow the broadcast."""
    pairs = [("x1", x1.shape), ("x2", x2.shape)]
    shape = broadcast_shapes(op, pairs)
    check_broadcasting(op, pairs, shape)
    return shape


def check_vectors(str op, Array x1, Array x2, axis):
    """Return the axis of the vectors as a negative number, because the two arrays may have different numbers of axes."""
    number = normalize_index(op, "axis", axis)
    fewest = min(x1.ndim, x2.ndim)
    if number >= 0 and fewest:
        raise AxisError(op, f"axis {brief(number)} is not counted from the last one", shapes_of(x1, x2),
                        f"pass an axis from {-fewest} to -1: the arrays are aligned from the right")
    return normalize_axis(op, number, fewest) - fewest


implement("matmul", matmul)
implement("tensordot", tensordot)
implement("vecdot", vecdot)
