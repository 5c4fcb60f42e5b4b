# Signatures of calls, and the objects besides its arguments that a function depends on. Included in `replay.pyx`.

cdef extern from "Python.h":
    PyObject* PyCell_GET(object cell)
    PyObject* PyDict_GetItemWithError(object items, PyObject* key) except? NULL
    object s0_bytes "PyBytes_FromStringAndSize"(const char* data, Py_ssize_t size)

cdef tuple SCALARS = (bool, int, float, complex)


@cython.final
cdef class Reader:
    """Collects the signature and the leaves of arguments."""

    cdef list facts, leaves, arrays
    cdef bint transformed       # whether a tape or `vmap` around the call sees an array

    cdef int read(self, object value, int depth) except -1:
        cdef Array x
        kind = type(value)
        if kind is Array:
            x = <Array>value
            if needs_tape(x) or x.storage.batched:
                self.transformed = True
            self.facts.append(facts_of(x))
            self.leaves.append(x)
            return 0
        if kind is float or kind is int or kind is bool or kind is complex:
            self.facts.append(kind)
            self.leaves.append(value)
            return 0
        if depth == 100:
            raise ValueError("a structure that contains itself")
        if isinstance(value, dict):
            self.facts.append(kind)
            self.facts.append(tuple(value))
            for item in value.values():
                self.read(item, depth + 1)
            return 0
        if isinstance(value, (tuple, list)):
            self.facts.append(kind)
            self.facts.append(len(value))
            for item in value:
                self.read(item, depth + 1)
            return 0
        if hasattr(kind, "__dataclass_fields__"):
            self.facts.append(kind)
            for name in kind.__dataclass_fields__:
                self.read(getattr(value, name), depth + 1)
            return 0
        if hasattr(kind, "__array__") or hasattr(kind, "__dlpack__"):
            raise ReplayError("replay", f"an argument is an array of another library: {kind.__module__}.{kind.__name__}", (), "pass stride0.asarray(x)")
        if kind is str or kind is bytes or kind is DType or value is None:
            self.keep(value)
        else:
            # The recording keeps the object alive.
            self.facts.append(id(value))
        return 0

    cdef int keep(self, object value) except -1:
        """Make a value part of the signature."""
        self.facts.append(type(value))
        # 0.0 and -0.0 are equal.
        self.facts.append(repr(value) if type(value) is float or type(value) is complex else value)
        return 0


cdef object facts_of(Array x):
    """What a recording depends on: dtype, shape, strides, and whether the array may be written to."""
    cdef Py_ssize_t facts[4]
    facts[0], facts[1], facts[2], facts[3] = x.code, x.ndim, x.storage.readonly, x.storage.device
    return s0_bytes(<char*>facts, sizeof(facts)), s0_bytes(<char*>x.shape_, 2 * x.ndim * sizeof(Py_ssize_t))


def read_arguments(tuple args, dict kwargs, tuple static_places, frozenset static_names):
    """
    The signature of a call, and the leaves that may differ between calls of this signature.

    Returns
    -------
    key : tuple
        Equal for calls that one recording serves.
    leaves : list
        Arrays and Python scalars in the order of the arguments.
    transformed : bool
        Whether a tape or `vmap` around the call sees one of the arrays.
    """
    cdef Reader reader = Reader()
    cdef Py_ssize_t k
    reader.facts, reader.leaves = [len(args)], []
    for k in range(len(args)):
        if static_places and k in static_places:
            reader.keep(args[k])
        else:
            reader.read(args[k], 0)
    if kwargs:
        for name in sorted(kwargs):
            reader.facts.append(name)
            if name in static_names:
                reader.keep(kwargs[name])
            else:
                reader.read(kwargs[name], 0)
    return tuple(reader.facts), reader.leaves, reader.transformed


cdef struct Link:
    PyObject* holder
    PyObject* key       # NULL for a cell
    PyObject* value
    Py_ssize_t index    # in a list; -1 if the holder is a dict


@cython.final
cdef class Links:
    """
    References between objects that a recording relies on: variables of a function, items and attributes.

    Parameters
    ----------
    links : list of (holder, key, value)
        The holder is a cell (the key is None), a dict or a list.
    """

    cdef readonly list links
    cdef Link* items
    cdef Py_ssize_t count

    def __cinit__(self, list links):
        cdef Py_ssize_t k
        self.links, self.count = links, len(links)
        self.items = <Link*>PyMem_Malloc((self.count + 1) * sizeof(Link))
        if self.items is NULL:
            raise MemoryError("replay: no memory for the variables of a function")
        for k in range(self.count):
            holder, key, value = <tuple>links[k]
            self.items[k].holder, self.items[k].value = <PyObject*>holder, <PyObject*>value
            self.items[k].key = NULL if key is None else <PyObject*>key
            self.items[k].index = key if type(holder) is list else -1

    def __dealloc__(self):
        PyMem_Free(self.items)

    cdef Py_ssize_t first_change(self) except -2:
        """The first link that holds another object than before, or -1."""
        cdef Link* link
        cdef PyObject* found
        cdef Py_ssize_t k
        for k in range(self.count):
            link = &self.items[k]
            if link.key is NULL:
                found = PyCell_GET(<object>link.holder)
            elif link.index >= 0:
                found = s0_list_item(<object>link.holder, link.index) if link.index < len(<list>link.holder) else NULL
            else:
                found = PyDict_GetItemWithError(<object>link.holder, link.key)
            if found is not link.value and (found is NULL or not is_equal(<object>found, <object>link.value)):
                return k
        return -1

    def changed(self):
        """The first link that holds another object than before, or None."""
        cdef Py_ssize_t k = self.first_change()
        return None if k < 0 else self.links[k]


cdef bint is_equal(object found, object value) except -1:
    return type(found) is type(value) and type(value) in SCALARS and repr(found) == repr(value)
