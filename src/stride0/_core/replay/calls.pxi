# Calls of replayed functions. Included in `replay.pyx`.

cdef list overlaps_of(list values):
    """The pairs of positions in `values` whose arrays overlap in memory."""
    cdef list arrays = [(k, x) for k, x in enumerate(values) if type(x) is Array], found = []
    cdef Storage a, b
    cdef Py_ssize_t i, j
    for k, x in arrays:
        data_of(<Array>x)
    for i in range(len(arrays)):
        for j in range(i):
            a, b = (<Array>arrays[i][1]).storage, (<Array>arrays[j][1]).storage
            if a is b or (a.data < b.data + b.nbytes and b.data < a.data + a.nbytes):
                found.append((arrays[i][0], arrays[j][0]))
    return found


@cython.final
cdef class Entry:
    """
    A recording, with everything else that a call needs.

    Parameters
    ----------
    recording : Recording
        The recording.
    structure : Structure
        Its method `rebuild` assembles the return value from the list of results.
    links : Links
        The variables that the recording relies on.
    leaves : list
        The arrays and Python scalars among the arguments.
    args : tuple
        The arguments, or None if there are keyword arguments or static arguments.
    single : bool
        Whether the function returns one array or number.
    writes : bool
        Whether the function writes to memory that outlives the call. If so, the same arrays must overlap in each call.
    """

    cdef readonly Recording recording
    cdef readonly Links links
    cdef object structure
    cdef bint single            # whether the function returns one array or number
    cdef bint flat              # whether the arguments are the leaves
    cdef list types
    cdef list facts
    cdef list overlaps          # pairs of arrays that overlap if the function writes, otherwise None

    def __init__(self, Recording recording not None, structure, Links links not None, list leaves, args, bint single, bint writes):
        self.recording, self.structure, self.links, self.single = recording, structure, links, single
        self.flat = args is not None and len(args) == len(leaves) and all([a is b for a, b in zip(args, leaves)])
        self.overlaps = overlaps_of(leaves + recording.outside) if writes else None
        self.types = [type(x) for x in leaves]
        self.facts = [facts_of(<Array>x) if type(x) is Array else None for x in leaves]

    cdef bint matches(self, tuple args) except -1:
        """Whether the positional arguments of a call have the signature of the recording."""
        cdef Py_ssize_t k, count = len(args)
        cdef Array x, outline
        if not self.flat or count != len(self.types):
            return False
        for k in range(count):
            value = args[k]
            kind = type(value)
            if <PyObject*>kind is not s0_list_item(self.types, k):
                return False
            if kind is Array:
                x, outline = <Array>value, <Array>self.recording.outlines[k]
                if x.code != outline.code or x.ndim != outline.ndim or x.storage.logged or x.storage.batched:
                    return False
                if memcmp(x.shape_, outline.shape_, 2 * x.ndim * sizeof(Py_ssize_t)) != 0:
                    return False
                if (x.storage.readonly or x.storage.device) and facts_of(x) != self.facts[k]:
                    return False
                if not x.storage.readonly and not x.storage.device and self.is_special(k):
                    return False
        return self.overlaps is None or self.is_applicable(list(args))

    cpdef bint is_applicable(self, list leaves) except -1:
        """Whether no tape tracks an array from outside. If the function writes, also whether the same arrays overlap as in the recorded call."""
        if not self.recording.is_free():
            return False
        return self.overlaps is None or overlaps_of(leaves + self.recording.outside) == self.overlaps

    cdef bint is_special(self, Py_ssize_t k):
        """Whether an argument of the recorded call was read-only, or on a simulated device."""
        cdef const Py_ssize_t* facts = <const Py_ssize_t*>s0_bytes_data((<tuple>self.facts[k])[0])
        return facts[2] or facts[3]

    cdef object run_flat(self, tuple args):
        out = self.recording.run(s0_tuple_items(args), self.single)
        return out if self.single else self.structure.rebuild(out)

    def run(self, list leaves):
        """Repeat the recorded calls with other leaves."""
        cdef tuple given = tuple(leaves)
        return self.run_flat(given)


cdef class Repeating:
    """The compiled part of a replayed function. It handles a call that has the signature of the last call."""

    cdef Entry last

    def use(self, Entry entry):
        """Let the next call try `entry` first."""
        with cython.critical_section(self):
            self.last = entry

    def __call__(self, *args, **kwargs):
        cdef Entry entry
        with cython.critical_section(self):
            entry = self.last
        if entry is not None and not guarding and not kwargs and entry.matches(args) and entry.links.first_change() < 0 and entry.recording.is_free():
            try:
                return entry.run_flat(args)
            except Diverged:
                pass
        return self.find(args, kwargs)

    def find(self, args, kwargs):
        """Handle a call that the last recording does not match. Subclasses implement this method."""
        raise NotImplementedError
