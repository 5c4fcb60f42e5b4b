# Contractions: sums of products of arrays whose axes have labels.
#
# Note [Contractions]
#     Axes of one label move together. A label that an operand lacks has stride 0 there, one that the result lacks is summed
#     along, and of a label that an operand has twice the strides are added: its diagonal. An axis of size 1 never moves, and counts as
#     lacked.
#
#     A label that only one operand has, and that the result lacks, is summed first. The other labels of two operands form four groups:
#     batch (both, and the result), summed (both, not the result), left and right (one operand and the result). Without summed labels the
#     product is a multiplication of two views. Otherwise
#
#     1. where each group has one stride in each operand, it is one axis, and the operands are two stacks of matrices, of
#        shapes (*batch, left, summed) and (*batch, summed, right): Note [Algorithms of matrix products]. The result is a
#        view of the product of the stacks;
#     2. few products, and products with no left or no right group, which take as long as reading the operands, are
#        the reduction "dot" over views with all axes: one pass, whatever the strides;
#     3. otherwise, an operand with a group of more than one stride is copied, so that each group has one stride.
#
#     The choice between these ways depends on the layout. The order in which a reduction adds products does, too. Within `reproducible`, no
#     bit of a floating-point result depends on the layout: labels to sum along keep the order of the axes, a result with a left group is a
#     product of matrices, and a reduction reads copies in C order. Such contractions take up to three times as long as a reduction of columns.



cdef struct Label:
    Py_ssize_t size
    Py_ssize_t stride[2]    # in each operand, in bytes
    bint moves[2]           # whether an operand has it, with more than one element
    bint kept               # whether the result has it
    bint grouped


cdef struct Group:
    int count
    int labels[2 * MAX_NDIM]
    Py_ssize_t size
    Py_ssize_t stride[2]    # where it is one axis of an operand


cdef struct Space:
    Label labels[MOST_LABELS]
    Group batch
    Group summed
    Group left
    Group right


# --- labels


cdef void clear_labels(Space* space, Array x, const unsigned char* labels) noexcept:
    cdef int axis
    for axis in range(x.ndim):
        memset(&space.labels[labels[axis]], 0, sizeof(Label))
        space.labels[labels[axis]].size = 1


cdef void read_labels(Space* space, int operand, Array x, const unsigned char* labels) noexcept:
    """Add the axes of an operand that move."""
    cdef int axis
    cdef Label* label
    for axis in range(x.ndim):
        if x.shape_[axis] != 1:
            label = &space.labels[labels[axis]]
            label.size = x.shape_[axis]
            label.stride[operand] += x.strides_[axis]
            label.moves[operand] = True


cdef void keep_labels(Space* space, int count, const unsigned char* out) noexcept:
    cdef int k
    for k in range(count):
        space.labels[out[k]].kept = True


cdef int in_order(int* order, int count, const unsigned char* out, const Group* group) noexcept:
    """Write the labels of the result, then the labels of `group` unless it is NULL, to `order`; returns their number."""
    cdef int k
    for k in range(count):
        order[k] = out[k]
    if group is not NULL:
        for k in range(group.count):
            order[count + k] = group.labels[k]
        count += group.count
    return count


cdef Array view_by(Array x, const Space* space, int operand, const int* labels, int count, str name):
    """A view with an axis for each of some labels."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t strides[MAX_NDIM]
    cdef int k
    if count > MAX_NDIM:
        check_ndim(name, count)
    for k in range(count):
        shape[k], strides[k] = space.labels[labels[k]].size, space.labels[labels[k]].stride[operand]
    return view_of(x, data_of(x), count, shape, strides)


# --- one operand


cdef Array contract_one(Array x, const unsigned char* labels, int count, const unsigned char* out, str name):
    """A contraction of one operand: diagonals, axes in the order of `out`, and sums along labels that `out` lacks; a view if it has all labels."""
    cdef Space space
    cdef int order[2 * MAX_NDIM]
    cdef int k, ndim = in_order(order, count, out, NULL)
    cdef Array view
    clear_labels(&space, x, labels)
    read_labels(&space, 0, x, labels)
    keep_labels(&space, count, out)
    for k in range(x.ndim):
        if not space.labels[labels[k]].kept:
            space.labels[labels[k]].kept = True
            order[ndim] = labels[k]
            ndim += 1
    view = view_by(x, &space, 0, order, ndim, name)
    if ndim == count:
        return view
    return accumulate("any" if x.code == BOOL else "sum", 1, view, None, tuple(range(count, ndim)), False, x.code, x.code)


# --- two operands


cdef Array contract_two(
    Array a, const unsigned char* of_a, Array b, const unsigned char* of_b, int count, const unsigned char* out, str name
):
    """
    Two operands of one dtype, whose sizes of each label are equal or 1; a new array with an axis for each label of `out`,
    of which there are at most MAX_NDIM.

    Each label of `out` is one of an operand, and there once.
    """
    cdef Space space
    cdef unsigned char left[MAX_NDIM]
    cdef unsigned char right[MAX_NDIM]
    describe_space(&space, a, of_a, b, of_b, count, out)
    if a.size == 0 or b.size == 0:
        return zeros_by(&space, a.code, count, out)
    if has_own(&space, 0, a, of_a):
        a, of_a = without_own(&space, 0, a, of_a, left, name), left
        describe_space(&space, a, of_a, b, of_b, count, out)
    if has_own(&space, 1, b, of_b):
        b, of_b = without_own(&space, 1, b, of_b, right, name), right
        describe_space(&space, a, of_a, b, of_b, count, out)
    find_groups(&space, a, of_a, count, out)
    if space.summed.count == 0:
        return multiply_by(&space, a, b, count, out, name)
    if a.code == BOOL:
        return contract_bools(a, of_a, b, of_b, count, out, name)
    if space.left.count == 0 and space.right.count:
        # Exchange the operands: vector times matrix becomes matrix times vector.
        a, b, of_a, of_b = b, a, of_b, of_a
        describe_space(&space, a, of_a, b, of_b, count, out)
        find_groups(&space, a, of_a, count, out)
    return sum_products(&space, a, b, count, out, name)


cdef Array contract_bools(
    Array a, const unsigned char* of_a, Array b, const unsigned char* of_b, int count, const unsigned char* out, str name
):
    """Whether any of the products is true: they are counted, as in `matmul`, which float32 does without return to 0."""
    cdef Array counts = contract_two(copy_array(a, FLOAT32, False), of_a, copy_array(b, FLOAT32, False), of_b, count, out, name)
    return <Array>binary_raw(OP_NOT_EQUAL, counts, 0, name, False)


cdef void describe_space(
    Space* space, Array a, const unsigned char* of_a, Array b, const unsigned char* of_b, int count, const unsigned char* out
) noexcept:
    clear_labels(space, a, of_a)
    clear_labels(space, b, of_b)
    keep_labels(space, count, out)
    read_labels(space, 0, a, of_a)
    read_labels(space, 1, b, of_b)


cdef bint has_own(const Space* space, int operand, Array x, const unsigned char* labels) noexcept:
    """Whether an operand has labels to sum along that the other operand lacks."""
    cdef int axis
    cdef const Label* label
    for axis in range(x.ndim):
        label = &space.labels[labels[axis]]
        if label.moves[operand] and not label.moves[1 - operand] and not label.kept:
            return True
    return False


cdef Array without_own(const Space* space, int operand, Array x, const unsigned char* labels, unsigned char* others, str name):
    """The operand summed along those; its labels are written to `others`."""
    cdef int axis, k, count = 0
    cdef const Label* label
    for axis in range(x.ndim):
        label = &space.labels[labels[axis]]
        if label.kept or (label.moves[operand] and label.moves[1 - operand]):
            for k in range(count):
                if others[k] == labels[axis]:
                    break
            else:
                others[count] = labels[axis]
                count += 1
    return contract_one(x, labels, count, others, name)


cdef void add_to(Group* group, Space* space, int label) noexcept:
    space.labels[label].grouped = True
    group.labels[group.count] = label
    group.count += 1
    group.size *= space.labels[label].size


cdef void find_groups(Space* space, Array a, const unsigned char* of_a, int count, const unsigned char* out) noexcept:
    """Find the groups of labels, Note [Contractions]; labels of the result come in its order."""
    cdef int k
    cdef Label* label
    space.batch.count = space.summed.count = space.left.count = space.right.count = 0
    space.batch.size = space.summed.size = space.left.size = space.right.size = 1
    for k in range(count):
        label = &space.labels[out[k]]
        if label.moves[0] and label.moves[1]:
            add_to(&space.batch, space, out[k])
        elif label.moves[0]:
            add_to(&space.left, space, out[k])
        elif label.moves[1]:
            add_to(&space.right, space, out[k])
    for k in range(a.ndim):
        label = &space.labels[of_a[k]]
        if label.moves[0] and label.moves[1] and not label.kept and not label.grouped:
            add_to(&space.summed, space, of_a[k])


cdef Array zeros_by(const Space* space, int code, int count, const unsigned char* out):
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef int k
    for k in range(count):
        shape[k] = space.labels[out[k]].size
    return new_array(code, count, shape, NULL, True)


cdef Array multiply_by(const Space* space, Array a, Array b, int count, const unsigned char* out, str name):
    """Two operands without a label to sum along."""
    cdef int order[MAX_NDIM]
    cdef int op = OP_BITWISE_AND if a.code == BOOL else OP_MULTIPLY
    in_order(order, count, out, NULL)
    return <Array>binary_raw(op, view_by(a, space, 0, order, count, name), view_by(b, space, 1, order, count, name), name, False)


cdef Array sum_products(Space* space, Array a, Array b, int count, const unsigned char* out, str name):
    """Contract two operands that have labels to sum along; if there is a right group, there must be a left group."""
    cdef bint copied[2]
    cdef bint fixed = has_fixed_order(a.code)
    cdef Py_ssize_t cost, other
    if space.left.count == 0 and (space.batch.count or fixed or space.summed.size <= tuning.dot_elements):
        return reduce_products(space, a, b, count, out, name)
    sort_by(&space.left, space, 0)
    sort_by(&space.right, space, 1)
    # Sort the labels to sum along as in the operand for which fewer elements are copied.
    if not fixed:
        sort_by(&space.summed, space, 0)
    cost = find_axes(space, a, b, copied)
    if cost and not fixed:
        sort_by(&space.summed, space, 1)
        other = find_axes(space, a, b, copied)
        if other > cost:
            sort_by(&space.summed, space, 0)
            find_axes(space, a, b, copied)
        cost = min(cost, other)
    if cost and not fixed and (space.right.count == 0 or works(space) <= tuning.contraction_products):
        return reduce_products(space, a, b, count, out, name)
    if copied[0]:
        a = copy_in_order(a, space, 0, &space.left, &space.summed, name)
    if copied[1]:
        b = copy_in_order(b, space, 1, &space.summed, &space.right, name)
    return multiply_matrices(space, a, b, count, out, name)


cdef Py_ssize_t find_axes(Space* space, Array a, Array b, bint* copied) noexcept:
    """
    Find the strides of the groups where each is one axis, given the order of the labels to sum along.

    Returns how many elements have to be copied: of which operands is written to `copied`.
    """
    # Each of them sets strides.
    copied[0] = not is_axis(&space.left, space, 0) or not is_axis(&space.summed, space, 0)
    copied[1] = not is_axis(&space.right, space, 1) or not is_axis(&space.summed, space, 1)
    return (a.size if copied[0] else 0) + (b.size if copied[1] else 0)


cdef double works(const Space* space) noexcept:
    return <double>space.batch.size * space.summed.size * space.left.size * space.right.size


cdef Array reduce_products(const Space* space, Array a, Array b, int count, const unsigned char* out, str name):
    """Contract in one pass over views with all labels: labels of the result first, then labels to sum along."""
    cdef int order[2 * MAX_NDIM]
    cdef int ndim = in_order(order, count, out, &space.summed)
    cdef Array x1 = view_by(a, space, 0, order, ndim, name), x2 = view_by(b, space, 1, order, ndim, name)
    return reduce_pairs("dot", x1, x2, count, ndim, a.code)


# --- stacks of matrices


cdef void sort_by(Group* group, const Space* space, int operand) noexcept:
    """Order labels by their strides in an operand, from the longest on."""
    cdef int k, j, label
    for k in range(1, group.count):
        label, j = group.labels[k], k
        while j and distance(space, group.labels[j - 1], operand) < distance(space, label, operand):
            group.labels[j] = group.labels[j - 1]
            j -= 1
        group.labels[j] = label


cdef inline Py_ssize_t distance(const Space* space, int label, int operand) noexcept:
    return abs(space.labels[label].stride[operand])


cdef bint is_axis(Group* group, const Space* space, int operand) noexcept:
    """Whether the labels of a group, in its order, are one axis of an operand, whose stride is set then."""
    cdef int k
    cdef const Label* label
    if group.count == 0:
        group.stride[operand] = 0
        return True
    for k in range(group.count - 1):
        label = &space.labels[group.labels[k + 1]]
        if space.labels[group.labels[k]].stride[operand] != label.size * label.stride[operand]:
            return False
    group.stride[operand] = space.labels[group.labels[group.count - 1]].stride[operand]
    return True


cdef Array copy_in_order(Array x, Space* space, int operand, Group* rows, Group* columns, str name):
    """A copy of an operand in the order of its groups, whose strides are set."""
    cdef int order[2 * MAX_NDIM]
    cdef int k, count = 0
    cdef Group* groups[3]
    groups[0], groups[1], groups[2] = &space.batch, rows, columns
    for group in groups[:3]:
        for k in range(group.count):
            order[count] = group.labels[k]
            count += 1
    x = copy_array(view_by(x, space, operand, order, count, name), x.code, True)
    for k in range(count):
        space.labels[order[k]].stride[operand] = x.strides_[k]
    is_axis(rows, space, operand)
    is_axis(columns, space, operand)
    return x


cdef Array stack_by(Array x, const Space* space, int operand, const Group* rows, const Group* columns, str name):
    """A view of an operand as a stack of matrices, with the axes of the batch in front."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t strides[MAX_NDIM]
    cdef int k, lead = space.batch.count
    if lead + 2 > MAX_NDIM:
        check_ndim(name, lead + 2)
    for k in range(lead):
        shape[k] = space.labels[space.batch.labels[k]].size
        strides[k] = space.labels[space.batch.labels[k]].stride[operand]
    shape[lead], strides[lead] = rows.size, rows.stride[operand]
    shape[lead + 1], strides[lead + 1] = columns.size, columns.stride[operand]
    return view_of(x, data_of(x), lead + 2, shape, strides)


cdef Array multiply_matrices(Space* space, Array a, Array b, int count, const unsigned char* out, str name):
    """The product of two stacks of matrices, as a view with an axis for each label of the result."""
    cdef Array x1 = stack_by(a, space, 0, &space.left, &space.summed, name)
    cdef Array x2 = stack_by(b, space, 1, &space.summed, &space.right, name)
    cdef Array product = usual_product(x1, x2)
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t strides[MAX_NDIM]
    cdef Label* label
    cdef int k, lead = space.batch.count
    if product is None:
        if works(space) <= tuning.contraction_products:
            return reduce_products(space, a, b, count, out, name)
        product = multiply_stacks(x1, x2, tuple([space.labels[space.batch.labels[k]].size for k in range(lead)]), dtype_at(a.code))
    # From here on, `stride[0]` holds the strides of the product instead of the first operand.
    for k in range(lead):
        space.labels[space.batch.labels[k]].stride[0] = product.strides_[k]
    set_steps(space, &space.left, product.strides_[lead])
    set_steps(space, &space.right, product.strides_[lead + 1])
    for k in range(count):
        label = &space.labels[out[k]]
        shape[k], strides[k] = label.size, label.stride[0] if label.size > 1 else itemsize_at(a.code)
    return view_of(product, data_of(product), count, shape, strides)


cdef void set_steps(Space* space, const Group* group, Py_ssize_t step) noexcept:
    cdef int k
    for k in range(group.count - 1, -1, -1):
        space.labels[group.labels[k]].stride[0] = step
        step *= space.labels[group.labels[k]].size
