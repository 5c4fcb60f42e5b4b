# `einsum`: subscripts are read once, and kept. Declared in `_chapters/contractions.py`.
#
# Note [Contractions of several operands]
#     More than two operands are contracted in pairs, along a path: a list of steps, each of which takes operands from a list
#     and puts their product at its end. The path depends on the sizes; it is found by NumPy's `einsum_path` and kept, too.

cdef enum:
    MOST_KNOWN = 1024       # subscripts, and steps of each, that are kept


cdef class Known:
    """What a call with certain subscripts, of operands with certain numbers of axes, computes."""

    cdef object subscripts      # a `Subscripts`
    cdef tuple inputs           # labels as bytes
    cdef bytes output
    cdef int labels             # how many
    cdef bint repeats           # whether an operand has a label twice
    cdef dict steps             # results of `steps_of`, by the shapes and the method that finds a path

# By the string; by it and the numbers of axes, where the string has an ellipsis; by the lists of labels.
cdef dict KNOWN = {}


cdef object einsum(str name, PyObject** given):
    """`given`: subscripts, operands, optimize."""
    cdef tuple operands = <tuple>given[1]
    cdef Known known
    cdef Array x, y, out
    cdef int code, loop, k
    cdef bint one = True
    if type(<object>given[0]) is str:
        known = known_string(name, <str>given[0], operands)
    else:
        operands, known = known_call(name, <object>given[0], operands)
    check_sizes(name, known, operands)
    if <object>given[2] is not AUTO:
        check_optimize(name, <object>given[2], <int>len(operands))
    code = (<Array>operands[0]).code
    for k in range(1, <int>len(operands)):
        one = one and (<Array>operands[k]).code == code
    if not one:
        code = (<DType?>promote_all([(<Array>x).dtype for x in operands])).code
    # A storage dtype is rounded to once.
    loop = arithmetic_code(code) if len(operands) > 1 else code
    if not one or loop != code:
        operands = tuple([x if (<Array>x).code == loop else copy_array(<Array>x, loop, False) for x in operands])
    x = <Array>operands[0]
    if len(operands) == 1:
        out = contract_one(x, known.inputs[0], <int>len(known.output), known.output, name)
    elif len(operands) == 2:
        y = <Array>operands[1]
        out = contract_two(x, known.inputs[0], y, known.inputs[1], <int>len(known.output), known.output, name)
    else:
        out = contract_several(name, known, operands, <object>given[2])
    return out if loop == code else copy_array(out, code, False)


# --- subscripts


cdef Known known_string(str name, str subscripts, tuple operands):
    cdef Known known = KNOWN.get(subscripts)
    cdef tuple ndims
    if known is not None and fits(known, operands):
        return known
    ndims = ndims_of(name, operands)
    known = KNOWN.get((subscripts, ndims))
    if known is None:
        known = keep(parse_string(name, subscripts, ndims), (subscripts, ndims))
        KNOWN[subscripts] = known
    return known


cdef inline bint fits(Known known, tuple operands) noexcept:
    """Whether operands are arrays with as many axes as the subscripts are known for."""
    cdef int k
    if len(operands) != len(known.inputs):
        return False
    for k in range(<int>len(operands)):
        if type(<object>operands[k]) is not Array or (<Array>operands[k]).ndim != len(<bytes>known.inputs[k]):
            return False
    return True


cdef tuple known_call(str name, object first, tuple others):
    """The operands of a call of either form, and their subscripts; the interleaved one is ``(x1, labels1, x2, labels2, ..., labels)``."""
    if isinstance(first, str):
        return others, known_string(name, str(first), others)
    arguments = (first, *others)
    given = arguments if len(arguments) % 2 == 0 else arguments[:-1]
    output = arguments[-1] if len(arguments) % 2 else None
    operands, lists = given[::2], given[1::2]
    if not lists:
        raise ArgumentTypeError(name, f"subscripts must be a string, not {type(first).__name__}", (),
                                'write einsum("ij,jk->ik", x1, x2), or einsum(x1, [0, 1], x2, [1, 2], [0, 2])')
    ndims = ndims_of(name, operands)
    lists = [read_list(name, each) for each in lists]
    output = None if output is None else read_list(name, output)
    key = (*lists, output, ndims)
    known = KNOWN.get(key)
    if known is None:
        known = keep(parse_lists(name, lists, output, ndims), key)
    return operands, known


cdef tuple ndims_of(str name, tuple operands):
    if not operands:
        raise ArgumentTypeError(name, "no operand is given", (), 'write einsum("ij,jk->ik", x1, x2)')
    for k, x in enumerate(operands):
        check_array(name, x, f"operands[{k}]")
    return tuple([(<Array>x).ndim for x in operands])


cdef Known keep(object subscripts, object key):
    cdef Known known = Known.__new__(Known)
    known.subscripts, known.labels = subscripts, <int>len(subscripts.names)
    known.inputs, known.output = tuple([bytes(each) for each in subscripts.inputs]), bytes(subscripts.output)
    known.steps = {}
    known.repeats = any([len(set(each)) < len(each) for each in subscripts.inputs])
    if len(KNOWN) >= MOST_KNOWN:
        KNOWN.clear()
    KNOWN[key] = known
    return known


# --- sizes


cdef int check_sizes(str name, Known known, tuple operands) except -1:
    """Raise where the sizes of a label differ, and none is 1; within an operand they must be equal. And check the shape of the result."""
    cdef Py_ssize_t sizes[MOST_LABELS]
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef const unsigned char* labels
    cdef Array x
    cdef int k, axis, n
    cdef bint broadcast = False, wrong = False
    for k in range(known.labels):
        sizes[k] = 1
    for k in range(<int>len(operands)):
        x, labels = <Array>operands[k], <bytes>known.inputs[k]
        for axis in range(x.ndim):
            if x.shape_[axis] != 1:
                sizes[labels[axis]] = x.shape_[axis]
    labels, n = known.output, <int>len(known.output)
    if n > MAX_NDIM:
        check_ndim(name, n)
    for k in range(n):
        shape[k] = sizes[labels[k]]
    check_total(name, n, shape)
    for k in range(<int>len(operands)):
        x, labels = <Array>operands[k], <bytes>known.inputs[k]
        for axis in range(x.ndim):
            if x.shape_[axis] != sizes[labels[axis]]:
                broadcast = True
                wrong = wrong or x.shape_[axis] != 1 or known.repeats
    if wrong or (broadcast and guarding):
        for pairs, size in sizes_of(name, known.subscripts, [(<Array>each).shape for each in operands]):
            check_broadcasting(name, pairs, size)
    return 0


# --- several operands


cdef object contract_several(str name, Known known, tuple operands, object optimize):
    cdef list left = list(operands), labels = list(known.inputs)
    cdef Array x, y
    cdef bytes of_x, of_y, output
    cdef int first, second
    for first, second, output in steps_for(name, known, operands, optimize):
        if second >= 0:
            y, of_y = <Array>left.pop(second), <bytes>labels.pop(second)
        x, of_x = <Array>left.pop(first), <bytes>labels.pop(first)
        if len(output) > MAX_NDIM:
            check_ndim(name, len(output))
        if second >= 0:
            x = contract_two(x, of_x, y, of_y, <int>len(output), output, name)
        else:
            x = contract_one(x, of_x, <int>len(output), output, name)
        left.append(x)
        labels.append(output)
    return left[0]


cdef list steps_for(str name, Known known, tuple operands, object optimize):
    """The steps of a path, with labels as bytes; they are kept."""
    cdef list steps
    shapes = tuple([(<Array>x).shape for x in operands])
    key = (optimize, shapes) if type(optimize) is str or type(optimize) is bool else None
    found = known.steps.get(key)
    if found is not None:
        return <list>found
    path = find_path(name, known.subscripts, shapes, optimize)[0]
    steps = [(first, second, bytes(output)) for first, second, output in steps_of(known.subscripts.inputs, known.subscripts.output, path)]
    if key is not None:
        if len(known.steps) >= MOST_KNOWN:
            known.steps.clear()
        known.steps[key] = steps
    return steps


def read_steps(str name, object subscripts, tuple operands, object optimize):
    """
    The pairs in which a call of either form contracts its operands: `steps_of`, with labels as bytes.

    Returns
    -------
    list of (int, int, bytes)
    """
    cdef Known known
    operands, known = known_call(name, subscripts, operands)
    return steps_for(name, known, operands, optimize)


def read_subscripts(str name, object subscripts, tuple operands):
    """
    The operands of a call of either form, and what their axes are called.

    Returns
    -------
    (tuple of Array, Subscripts)
    """
    cdef Known known
    operands, known = known_call(name, subscripts, operands)
    check_sizes(name, known, operands)
    return operands, known.subscripts


implement("einsum", einsum)
