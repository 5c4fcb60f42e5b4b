# Arrays from nested sequences and from Python's ranges.

cdef enum:
    RANGE_RUN = 512         # integers of a range cast in one step


cdef struct Nesting:
    int ndim                      # -1 before the first element
    int code                      # promoted dtype of the elements
    Py_ssize_t count              # number of elements
    Py_ssize_t shape[MAX_NDIM]


cdef bint collect(object item, int outside, int depth, Nesting* found, list leaves) except -1:
    """
    Flatten nested sequences of Python scalars, and check that each level has one length; a range is one leaf.

    False if they contain other objects. `outside` is the number of levels around `item`.
    """
    cdef Py_ssize_t length
    if is_python_scalar(item):
        add_elements(scalar_code(item), 1, outside, depth, found)
        leaves.append(item)
        return True
    if not isinstance(item, (list, tuple, range)):
        return False
    if outside + depth >= MAX_NDIM:
        raise ShapeError("asarray", "the sequences are nested too deeply", (), f"nest at most {MAX_NDIM} sequences")
    length = length_of_range(item) if type(item) is range else len(item)
    if found.shape[depth] < 0:
        found.shape[depth] = length
    elif found.shape[depth] != length:
        refuse_ragged(outside + depth)
    if 0 <= found.ndim <= depth:
        refuse_ragged(outside + depth)
    if type(item) is range:
        if length:
            add_elements(INT64, length, outside, depth + 1, found)
            leaves.append(item)
        return True
    for part in item:
        if not collect(part, outside, depth + 1, found, leaves):
            return False
    return True


cdef int add_elements(int code, Py_ssize_t count, int outside, int depth, Nesting* found) except -1:
    """Add elements of a dtype at a depth; all elements must have the same depth."""
    if found.ndim != depth:
        if found.ndim >= 0:
            refuse_ragged(outside + depth)
        found.ndim = depth
    if code != found.code:
        found.code = code if found.code < 0 else promote_codes(found.code, code)
    if count > PY_SSIZE_T_MAX - found.count:
        raise MemoryError("asarray: the sequences have more elements than any memory")
    found.count += count
    return 0


cdef Py_ssize_t length_of_range(object source) except -1:
    try:
        return len(source)
    except OverflowError:
        raise MemoryError(f"asarray: {source} has more elements than any memory") from None


cdef int write_range(object source, int code, char* to) except -1:
    """Write the integers of a non-empty range to contiguous elements of a dtype, without creating Python integers."""
    cdef char[LARGEST_ITEM] buffer
    cdef uint64_t[RANGE_RUN] numbers
    cdef char* args[2]
    cdef Py_ssize_t strides[2]
    cdef Py_ssize_t count = len(source), done, size
    cdef uint64_t start, step
    cdef int wide
    least, most = sorted((source[0], source[count - 1]))
    if letter_at(code) == c"i" or letter_at(code) == c"u":
        # Raises if one of them does not fit.
        write_scalar(least, code, buffer, "asarray")
        write_scalar(most, code, buffer, "asarray")
    elif least < (0 if most >= 2.0 ** 63 else -2.0 ** 63) or most >= 2.0 ** 64:
        for done, number in enumerate(source):
            write_scalar(number, code, to + done * itemsize_at(code), "asarray")
        return 0
    # Modulo 2**64, which is right for all integers of int64 and uint64.
    start, step = source.start & 0xFFFFFFFFFFFFFFFF, source.step & 0xFFFFFFFFFFFFFFFF
    wide = UINT64 if most >= 2.0 ** 63 else INT64
    if code == wide:
        count_up[uint64_t](<uint64_t*>to, count, start, step)
        return 0
    args[0], strides[0], strides[1] = <char*>numbers, itemsize_at(wide), itemsize_at(code)
    for done in range(0, count, RANGE_RUN):
        size = min(count - done, RANGE_RUN)
        count_up[uint64_t](numbers, size, start + <uint64_t>done * step, step)
        args[1] = to + done * itemsize_at(code)
        run_contiguous(cast_kernel(wide, code), args, strides, size)
    return 0


cdef object refuse_ragged(int depth):
    raise ShapeError("asarray", f"the nested sequences are ragged at depth {depth}", (), "give all sequences at one depth the same length")


cdef Array from_sequence(object source, int code, int depth):
    """A new array with the elements of nested sequences, of dtype `code` or their promoted dtype."""
    cdef list leaves = []
    cdef Nesting found
    cdef Array out
    cdef Py_ssize_t itemsize
    cdef char* to
    cdef int ndim = 0, k
    found.ndim, found.code, found.count = -1, NO_DTYPE, 0
    for k in range(MAX_NDIM):
        found.shape[k] = -1
    if not collect(source, depth, 0, &found, leaves):
        return from_parts(source, code, depth)
    if code < 0:
        code = FLOAT64 if found.code < 0 else found.code
    while ndim < MAX_NDIM and found.shape[ndim] >= 0:
        ndim += 1
    out = new_array(code, ndim, found.shape, NULL, False)
    itemsize = itemsize_at(code)
    if found.count != out.size:
        # A subclass of list may yield more or fewer items than its length. An empty level has no levels below it.
        refuse_ragged(depth)
    to = data_of(out)
    for leaf in leaves:
        if type(leaf) is range:
            write_range(leaf, code, to)
            to += len(leaf) * itemsize
        else:
            write_scalar(leaf, code, to, "asarray")
            to += itemsize
    return out


cdef Array from_parts(object source, int code, int depth):
    """A new array from a sequence of arrays or sequences, all of one shape."""
    cdef list parts = []
    cdef Array out, part
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef int found = NO_DTYPE, ndim
    cdef Py_ssize_t i
    for item in source:
        part = from_sequence(item, code, depth + 1) if isinstance(item, (list, tuple, range)) else asarray(item)
        if parts and not same_shape(part, <Array>parts[0]):
            raise ShapeError("asarray", f"shapes {shape_tuple(<Array>parts[0])} and {shape_tuple(part)} in one sequence", (), "pass items of one shape")
        found = part.code if found < 0 else promote_codes(found, part.code)
        parts.append(part)
    if not parts:
        refuse_ragged(depth)
    if any([operand_needs_tape(part) for part in parts]):
        out = traced("stack", (parts,))
        return out if code < 0 else asarray(out, dtype=dtype_at(code))
    ndim = read_shape((len(parts),) + shape_tuple(<Array>parts[0]), sizes, "asarray")
    out = new_array(found if code < 0 else code, ndim, sizes, NULL, False)
    for i in range(len(parts)):
        part = <Array>parts[i]
        assign_array(view_of(out, data_of(out) + i * out.strides_[0], part.ndim, out.shape_ + 1, out.strides_ + 1), part, "asarray")
    return out
