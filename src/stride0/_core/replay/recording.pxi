# A list of steps, and how it runs. Included in `replay.pyx`.

@cython.final
cdef class Recording:
    """
    The calls of a function in their order, with slots for arguments, constants and results.

    A slot holds an array, a Python scalar or any other argument. The first slots are the arguments.

    Parameters
    ----------
    samples : list
        The arguments of the recorded call.
    """

    cdef readonly list steps
    cdef readonly list initial      # by slot: a constant, or None
    cdef readonly Py_ssize_t arguments
    cdef readonly list inputs       # slots of the arguments, and of the arrays and scalars that the body of a loop uses from outside
    cdef readonly tuple results     # slots
    cdef dict samples               # by slot: Python scalars among the arguments and results
    cdef list outlines              # by slot: an Array with the shape and strides of the slot's array, without memory; or None
    cdef set made                   # slots of results
    cdef set boxed                  # slots whose objects the caller or a step needs
    cdef list live                  # the steps that run
    cdef Prepared* prepared         # the same, Note [Prepared steps]
    cdef Part* parts                # of prepared steps
    cdef Room* rooms                # memory without a slot
    cdef Py_ssize_t count, parts_count, parts_most, rooms_count, block
    cdef list outside               # arrays from outside that steps or results read
    cdef tuple addressed            # slots whose addresses prepared steps read

    def __init__(self, list samples):
        self.arguments, self.steps, self.live, self.made = len(samples), [], [], set()
        self.initial, self.inputs = [None] * self.arguments, list(range(self.arguments))
        self.samples = {k: x for k, x in enumerate(samples) if type(x) is not Array}
        self.outlines = [outline_of(x) for x in samples]

    def __dealloc__(self):
        self.drop_parts(0)
        PyMem_Free(self.parts)
        PyMem_Free(self.rooms)
        PyMem_Free(self.prepared)

    cdef Part* new_part(self) except NULL:
        """A new part of a prepared step, filled with zeros. Earlier pointers to parts become invalid."""
        cdef Part* parts
        if self.parts_count == self.parts_most:
            parts = <Part*>PyMem_Realloc(self.parts, (2 * self.parts_most + 8) * sizeof(Part))
            if parts is NULL:
                raise MemoryError("replay: no memory for the steps of a recording")
            self.parts, self.parts_most = parts, 2 * self.parts_most + 8
        self.parts_count += 1
        memset(&self.parts[self.parts_count - 1], 0, sizeof(Part))
        return &self.parts[self.parts_count - 1]

    cdef void drop_parts(self, Py_ssize_t first) noexcept:
        """Drop part number `first` and all later parts."""
        cdef Py_ssize_t k
        for k in range(first, self.parts_count):
            PyMem_Free(self.parts[k].product)
        self.parts_count = first

    cdef set read_by(self, const Prepared* at):
        """The slots of arrays that a step reads."""
        cdef Part* part
        cdef Py_ssize_t k
        cdef int j
        cdef set found = set()
        if at.way == BY_CALL:
            return set((<Step>at.step).operands)
        if at.way == BY_OFFSET:
            found.add(at.base)
        for k in range(at.count):
            part = &self.parts[at.first + k]
            for j in range(part.count):
                if part.address[j] < <Py_ssize_t>len(self.initial) and part.address[j] != at.result:
                    found.add(part.address[j])
        return found

    def constant(self, value):
        """Return a new slot for a value that every call reads."""
        self.initial.append(value)
        self.outlines.append(outline_of(value))
        return len(self.initial) - 1

    def capture(self, value):
        """Return a new slot that each call fills, like the slot of an argument. `value` is its value in the recorded call."""
        slot = self.constant(None)
        self.outlines[slot] = outline_of(value)
        if type(value) is not Array:
            self.samples[slot] = value
        self.inputs.append(slot)
        return slot

    def append(self, Step step not None):
        """Append a step."""
        self.steps.append(step)

    def keep(self, Step step not None, value, Py_ssize_t base=-1, shown=None):
        """Give the result of a step a slot. It may be a view of `shown`, the operand in the slot `base`."""
        self.initial.append(None)
        self.outlines.append(outline_of(value))
        slot = len(self.initial) - 1
        self.made.add(slot)
        if is_python_scalar(value):
            self.samples[slot] = value
        step.set_result(slot, value, base, shown)
        if step.name in CREATION and all([self.is_immutable(item) for item in step.operands]):
            step.constant = value
        return slot

    cdef bint is_immutable(self, Py_ssize_t slot):
        """Whether a slot holds a constant that is no array and cannot change."""
        value = self.initial[slot]
        if self.varies(slot):
            return False
        return value is None or type(value) in IMMUTABLE or (type(value) is tuple and all([type(item) is int for item in value]))

    def finish(self, tuple results):
        """End the recording: drop steps whose results nothing reads, release each result after its last reader, prepare steps."""
        cdef Step step
        cdef Py_ssize_t slot
        cdef set read = set(results)
        self.fold_constants(results)
        self.merge_equal(results)
        # A view needs the memory of its operand, and a list the memory of its items.
        bases = {step.result: (step.base,) for step in self.steps if step.base >= 0}
        bases.update({step.result: step.operands for step in self.steps if step.number == PACK_LIST or step.number == PACK_TUPLE})
        self.results = results
        self.live = []
        for step in reversed(self.steps):
            if (step.pure or (step.base >= 0 and self.is_fixed(step))) and step.result not in read:
                continue
            reads, waiting = set(), list(step.operands)
            while waiting:
                slot = waiting.pop()
                if slot not in reads:
                    reads.add(slot)
                    waiting.extend(bases.get(slot, ()))
            dead = [slot for slot in reads if slot not in read]
            if step.result >= 0 and step.result not in read:
                dead.append(step.result)
            read.update(reads)
            step.released = tuple([slot for slot in dead if self.is_result(slot)])
            self.live.append(step)
        self.live.reverse()
        self.outside = [self.initial[slot] for slot in sorted(read) if type(self.initial[slot]) is Array]
        prepare_steps(self)

    cpdef bint is_free(self):
        """Whether no tape tracks an array from outside, so that the steps may read it without the tape."""
        for x in self.outside:
            if needs_tape(<Array>x):
                return False
        return True

    cdef int fold_constants(self, tuple results) except -1:
        """Replace steps by their results, if these are constants that nobody can write to."""
        cdef Step step
        cdef set touched = self.touched(results)
        for step in self.steps:
            if step.constant is not None and step.result not in touched:
                self.initial[step.result] = step.constant
                self.made.discard(step.result)
                step.pure = True
            else:
                step.constant = None
        self.steps = [step for step in self.steps if step.constant is None]
        return 0

    cdef set touched(self, tuple results):
        """The slots whose memory the caller gets or a step writes to, also through views."""
        cdef Step step
        cdef dict roots = {}
        cdef set found
        for step in self.steps:
            if step.base >= 0:
                roots[step.result] = roots.get(step.base, step.base)
        found = {roots.get(slot, slot) for step in self.steps if step.writes or step.name == "add_at" for slot in step.operands}
        if not found <= self.made:
            # Arrays of the caller may overlap.
            found.update([slot for slot, outline in enumerate(self.outlines) if outline is not None and slot not in self.made])
        found.update([roots.get(slot, slot) for slot in results])
        found.update([slot for slot, root in roots.items() if root in found])
        return found

    cdef int merge_equal(self, tuple results) except -1:
        """Drop each step that repeats an earlier step, and let its readers use the earlier result."""
        cdef Step step
        cdef list kept = []
        cdef dict same = {}, first = {}, constants = {}
        cdef set touched = self.touched(results)
        cdef Py_ssize_t slot
        for slot, value in enumerate(self.initial):
            if value is not None and self.is_immutable(slot):
                same[slot] = constants.setdefault((type(value), repr(value)), slot)
        for step in self.steps:
            step.redirect(same)
            if step.result >= 0 and self.is_function(step) and touched.isdisjoint((step.result, *step.operands)):
                slot = first.setdefault((step.kind, step.function, step.operands, step.kwnames), step.result)
                if slot != step.result:
                    same[step.result] = slot
                    continue
            kept.append(step)
        self.steps = kept
        return 0

    cdef bint is_function(self, Step step):
        """Whether a result depends only on the operands, and has new memory or is the same view of an operand in each call."""
        if step.number == CALL and step.base < 0:
            return step.name in REPEATED or (step.name in OF_FLOATS and step.result in self.samples)
        return step.pure if step.base < 0 else self.is_fixed(step) and step.number != PART

    cdef bint is_fixed(self, Step step):
        """Whether the result of a step is a view that only depends on where its operand lies."""
        cdef Py_ssize_t k
        if step.number == PART:
            return step.name == "unstack"
        for k in range(step.count):
            if step.slots[k] != step.base and (self.outlines[step.slots[k]] is not None or self.varies(step.slots[k])):
                return False
        return True

    cdef bint is_result(self, Py_ssize_t slot):
        return slot in self.made

    cdef bint varies(self, Py_ssize_t slot):
        """Whether the object in a slot may differ between calls."""
        return slot in self.made or slot in self.inputs

    @property
    def running(self):
        """The steps that run, in order, and for each of them how it runs."""
        cdef Py_ssize_t k
        return [(step, ("call", "loop", "view", "list")[<int>self.prepared[k].way]) for k, step in enumerate(self.live)]

    @property
    def nbytes(self):
        """Bytes of the block for results without objects."""
        return self.block

    cdef object run(self, PyObject* const* arguments, bint single):
        """Run the steps with other arguments of the same signature; returns the results in order, or the `single` result."""
        cdef PyObject* few[3 * FEW_SLOTS]
        cdef char block[FEW_BYTES]
        cdef Frame frame
        cdef Py_ssize_t k
        open_frame(self, &frame, few, block)
        try:
            for k in range(self.arguments):
                frame.slots[k] = arguments[k]
            begin(self, &frame)
            run_steps(self, &frame)
            if single:
                return <object>frame.slots[<Py_ssize_t>self.results[0]]
            return [<object>frame.slots[<Py_ssize_t>slot] for slot in self.results]
        finally:
            close_frame(self, &frame, few, block)

cdef frozenset CREATION = frozenset({"arange", "asarray", "eye", "full", "linspace", "ones", "zeros"})
cdef frozenset IMMUTABLE = frozenset({bool, int, float, complex, str, DType})

# Functions of arrays that are computed once for equal arguments.
cdef frozenset REPEATED = frozenset({"all", "any", "count_nonzero", "dot_into", "matmul", "max", "mean", "min", "prod", "sum", "vecdot", "where"})

cdef enum:
    FEW_SLOTS = 128
    FEW_BYTES = 8192


cdef Array outline(int code, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides):
    """An array with a shape and strides, without memory."""
    cdef Array y = blank(code)
    set_ndim(y, ndim)
    memcpy(y.shape_, shape, ndim * sizeof(Py_ssize_t))
    memcpy(y.strides_, strides, ndim * sizeof(Py_ssize_t))
    set_flags(y)
    return y


cdef Array outline_of(object value):
    """The outline of an array; None for other objects."""
    return outline((<Array>value).code, (<Array>value).ndim, (<Array>value).shape_, (<Array>value).strides_) if type(value) is Array else None
