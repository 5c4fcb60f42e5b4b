# Calls of gradient rules: loading saved values, and lazy cotangents that are products or puts.

@cython.final
@cython.no_gc
@cython.freelist(16)
cdef class LazyProduct:
    """
    A product of a cotangent and a factor, not yet computed.

    The engine computes it and sums it to the operand's shape in one pass.
    """

    def __init__(self, g, d):
        self.g, self.d = g, d


@cython.final
@cython.no_gc
@cython.freelist(16)
cdef class LazyPut:
    """
    The cotangent of an array, given the cotangent of its elements `[key]`.

    The engine adds it to the elements of the sum; the first one creates an array of zeros.
    """

    def __init__(self, g, key):
        self.g, self.key = g, key


cdef object load(object item, Node node):
    """A saved value; with its node, if an open tape may differentiate computations with it."""
    cdef Saved saved
    cdef Node source = None
    if type(item) is Saved:
        saved = <Saved>item
        if saved.result == 0:
            if saved.node is not NULL:
                source = <Node>saved.node
        elif is_open(node):
            source = node if saved.result == 1 and node.outputs == 0 else part_node(node, saved.result - 1)
        if source is None or (letter_at(saved.code) != c"f" and letter_at(saved.code) != c"c") or not is_open(source):
            return plain_array(saved)
        found = tracked_array(saved, source)
        if source is not node:
            describe(source, found)
        return found
    if type(item) is tuple and holds(item, Saved):
        return tuple([load(part, node) for part in item])
    return item


cdef Array fitted(object g, Node node):
    """A cotangent, converted to the shape and the dtype of the array of a node."""
    cdef Array x, factor
    if type(g) is LazyProduct:
        x = <Array?>(<LazyProduct>g).g
        if type((<LazyProduct>g).d) is Array and not is_recorded_scalar(<Array>(<LazyProduct>g).d):
            factor = <Array>(<LazyProduct>g).d
            if has_shape(node, x) and has_shape(node, factor) and (x.c_contiguous or factor.c_contiguous):
                x = masked_product(x, factor)
            elif not x.storage.logged and not factor.storage.logged:
                x = dot_into(x, factor, shape_of_node(node))
            else:
                x = traced("dot_into", (x, factor, shape_of_node(node)))
        else:
            x = scaled(summed(x, node), (<LazyProduct>g).d)
    elif type(g) is LazyPut:
        x = put((<LazyPut>g).g, shape_of_node(node), (<LazyPut>g).key)
    elif type(g) is Array:
        x = summed(<Array>g, node)
    else:
        raise GradientError("backward", f"internal error: a rule returned {type(g).__name__}")
    if x.code != node.code:
        if letter_at(x.code) == c"c" and letter_at(node.code) != c"c":
            x = real(x)
        x = asarray(x, dtype=dtype_at(node.code))
    return x


cdef Array summed(Array x, Node node):
    """The adjoint of a broadcast: x summed to the shape of a node's array."""
    if has_shape(node, x):
        return x
    return traced("sum_into", (x, shape_of_node(node))) if x.storage.logged else sum_into(x, shape_of_node(node))


cdef object value_of_rule(Node node, const Edge* edge, int number, PyObject** loaded):
    """A saved value that a rule of an edge needs, loaded into `loaded`."""
    if loaded[number] is NULL:
        if node.saved[number] is NULL:
            value = shape_of_node(<Node>edge.parent)
        else:
            value = load(<object>node.saved[number], node)
        Py_INCREF(value)
        loaded[number] = <PyObject*>value
    return <object>loaded[number]


cdef object apply_rule(Node node, const Edge* edge, object g, PyObject** loaded):
    """The result of the rule of an edge; the saved values that it needs are loaded into `loaded`."""
    cdef Rules rules = node.rules
    cdef PyObject* given[MOST_RULES + 1]
    cdef PyObject* result
    cdef int i, number, count = rules.count[edge.rule]
    given[0] = <PyObject*>g
    for i in range(count):
        number = rules.numbers[edge.rule][i]
        if loaded[number] is NULL:
            value_of_rule(node, edge, number, loaded)
        given[i + 1] = loaded[number]
    result = PyObject_Vectorcall(<PyObject*>rules.rules[edge.rule], given, count + 1, NULL)
    out = <object>result
    Py_DECREF(out)
    return out
