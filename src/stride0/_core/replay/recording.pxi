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
    cdef readonly tuple results     # slots
    cdef dict samples               # by slot: Python scalars among the arguments and results
    cdef list outlines              # by slot: an Array with the shape and strides of the slot's array, without memory; or None
    cdef set made                   # slots of results
    cdef list live                  # the steps that run
    cdef Prepared* prepared         # the same, Note [Prepared steps]
    cdef Py_ssize_t count, block
    cdef list outside               # arrays from outside that steps or results read
    cdef tuple addressed            # slots whose addresses prepared steps read

    def __init__(self, list samples):
        self.arguments, self.steps, self.live, self.made = len(samples), [], [], set()
        self.initial = [None] * self.arguments
        self.samples = {k: x for k, x in enumerate(samples) if type(x) is not Array}
        self.outlines = [outline_of(x) for x in samples]

    def __dealloc__(self):
        cdef Py_ssize_t k
        for k in range(self.count):
            PyMem_Free(self.prepared[k].parts)
        PyMem_Free(self.prepared)

    def constant(self, value):
        """Return a new slot for a value that every call reads."""
        self.initial.append(value)
        self.outlines.append(outline_of(value))
        return len(self.initial) - 1

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
        if slot < self.arguments or slot in self.made:
            return False
        return value is None or type(value) in IMMUTABLE or (type(value) is tuple and all([type(item) is int for item in value]))

    def finish(self, tuple results):
        """End the recording: drop steps whose results nothing reads, release each result after its last reader, prepare steps."""
        cdef Step step
        cdef Py_ssize_t slot
        cdef set read = set(results)
        self.fold_constants(results)
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
        cdef dict roots = {}
        cdef set touched
        for step in self.steps:
            if step.base >= 0:
                roots[step.result] = roots.get(step.base, step.base)
        touched = {roots.get(slot, slot) for slot in results}
        touched.update([roots.get(slot, slot) for step in self.steps if step.writes for slot in step.operands])
        for step in self.steps:
            if step.constant is not None and step.result not in touched:
                self.initial[step.result] = step.constant
                self.made.discard(step.result)
                step.pure = True
            else:
                step.constant = None
        self.steps = [step for step in self.steps if step.constant is None]
        return 0

    cdef bint is_fixed(self, Step step):
        """Whether the result of a step is a view that only depends on where its operand lies."""
        cdef Py_ssize_t k
        for k in range(step.count):
            if step.slots[k] != step.base and (step.slots[k] < self.arguments or self.outlines[step.slots[k]] is not None or self.is_result(step.slots[k])):
                return False
        return True

    cdef bint is_result(self, Py_ssize_t slot):
        return slot in self.made

    @property
    def running(self):
        """The steps that run, in order, and for each of them how it runs."""
        cdef Py_ssize_t k
        return [(step, ("call", "loop", "view", "copy", "list")[<int>self.prepared[k].way]) for k, step in enumerate(self.live)]

    @property
    def nbytes(self):
        """Bytes of the block for results without objects."""
        return self.block

    cdef object run(self, PyObject* const* arguments, bint single):
        """Run the steps with other arguments of the same signature; returns the results in order, or the `single` result."""
        cdef Py_ssize_t k, slots_count = len(self.initial)
        cdef PyObject* stack[3 * FEW_SLOTS]
        cdef PyObject** slots = stack
        cdef char block[FEW_BYTES]
        cdef char* memory = block
        cdef PyObject** owned
        cdef char** addresses
        if slots_count > FEW_SLOTS:
            slots = <PyObject**>PyMem_Malloc(3 * slots_count * sizeof(PyObject*))
        if self.block > FEW_BYTES - PLACE:
            memory = <char*>PyMem_Malloc(self.block + PLACE)
        owned, addresses = slots + slots_count, <char**>(slots + 2 * slots_count)
        try:
            if slots is NULL or memory is NULL:
                raise MemoryError("replay: no memory for the slots of a recording")
            memset(owned, 0, slots_count * sizeof(PyObject*))
            for k in range(slots_count):
                slots[k] = arguments[k] if k < self.arguments else s0_list_item(self.initial, k)
            run_steps(self, slots, owned, addresses, memory + (-<uintptr_t>memory) % PLACE)
            if single:
                return <object>slots[<Py_ssize_t>self.results[0]]
            return [<object>slots[<Py_ssize_t>slot] for slot in self.results]
        finally:
            if slots is not NULL:
                for k in range(slots_count):
                    if owned[k] is not NULL:
                        Py_DECREF(<object>owned[k])
            if slots is not stack:
                PyMem_Free(slots)
            if memory is not block:
                PyMem_Free(memory)

cdef frozenset CREATION = frozenset({"arange", "asarray", "eye", "full", "linspace", "ones", "zeros"})
cdef frozenset IMMUTABLE = frozenset({bool, int, float, complex, str, DType})

cdef enum:
    FEW_SLOTS = 128
    FEW_BYTES = 8192


cdef object outline_of(object value):
    """An array with the shape and strides of an array, without its memory; None for other objects."""
    cdef Array x, y
    if type(value) is not Array:
        return None
    x = <Array>value
    y = blank(x.code)
    set_ndim(y, x.ndim)
    memcpy(y.shape_, x.shape_, x.ndim * sizeof(Py_ssize_t))
    memcpy(y.strides_, x.strides_, x.ndim * sizeof(Py_ssize_t))
    set_flags(y)
    return y


cdef int run_steps(Recording self, PyObject** slots, PyObject** owned, char** addresses, char* block) except -1:
    """Run the steps. `owned` gets the references to results, `addresses` the addresses of arrays that prepared steps read."""
    cdef Prepared* at
    cdef Step step
    cdef Py_ssize_t k, slot
    cdef int j
    cdef PyObject* given[MOST_OPERANDS]
    cdef char* args[4]
    cdef char scalar[SCALAR_ROOM]
    cdef char* out_data
    cdef Array made, outline
    for slot in self.addressed:
        if slots[slot] is not NULL and type(<object>slots[slot]) is Array:
            addresses[slot] = data_of(<Array>slots[slot])
    for k in range(self.count):
        at = &self.prepared[k]
        if at.way == BY_LOOP or at.way == BY_PARTS:
            for j in range(at.count if at.way == BY_LOOP else 0):
                args[j] = addresses[at.slots[j]]
            if at.scalar >= 0:
                args[at.scalar] = at.constant
                if at.given is not NULL:
                    if s0_type(<object>slots[at.slots[at.scalar]]) is not at.given:
                        refuse_type((<Step>at.step).name, <object>slots[at.slots[at.scalar]])
                    write_scalar(<object>slots[at.slots[at.scalar]], at.code, scalar, (<Step>at.step).name)
                    args[at.scalar] = scalar
            if at.makes:
                made = <Array>self.outlines[at.result]
                made = new_array(made.code, made.ndim, made.shape_, made.strides_, False)
                Py_INCREF(made)
                slots[at.result] = owned[at.result] = <PyObject*>made
                out_data = made.address
            else:
                out_data = block + at.place
            addresses[at.result] = out_data
            if at.way == BY_LOOP:
                args[at.count] = out_data
                at.loop(args, at.inner, at.outer, at.n, at.m)
            else:
                for j in range(at.count):
                    args[0], args[1] = addresses[at.parts[j].slots[0]], out_data + at.parts[j].offset
                    at.parts[j].loop(args, at.parts[j].inner, at.parts[j].outer, at.parts[j].n, at.parts[j].m)
        elif at.way == BY_OFFSET:
            addresses[at.result] = addresses[at.slots[0]] + at.offset
            if at.makes:
                outline = <Array>self.outlines[at.result]
                made = view_of(<Array>slots[at.slots[0]], addresses[at.result], outline.ndim, outline.shape_, outline.strides_)
                if made.code != outline.code:
                    made.code = outline.code
                    set_flags(made)
                Py_INCREF(made)
                slots[at.result] = owned[at.result] = <PyObject*>made
        elif at.way == BY_CALL:
            step = <Step>at.step
            for j in range(<int>step.count):
                given[j] = slots[step.slots[j]]
            try:
                out = step.run(given)
                if not step.fits(out):
                    refuse_result(step, out)
            except BaseException as error:
                name_line(error, step)
                raise
            if step.result >= 0:
                Py_INCREF(out)
                slots[step.result] = owned[step.result] = <PyObject*>out
                if type(out) is Array:
                    addresses[step.result] = data_of(<Array>out)
        if (<Step>at.step).released:
            for slot in (<Step>at.step).released:
                if owned[slot] is not NULL:
                    Py_DECREF(<object>owned[slot])
                    owned[slot] = slots[slot] = NULL
    return 0


cdef int refuse_type(str name, object value) except -1:
    raise ReplayError(name, f"a Python scalar is now of type {type(value).__name__}", (), "call the function without replay for these values")


cdef int refuse_result(Step step, object out) except -1:
    found = f"shape {shape_tuple(<Array>out)}, dtype {(<Array>out).dtype.name}" if type(out) is Array else f"{type(out).__name__}"
    raise ReplayError(step.name, "the result has another shape or dtype than in the recorded call",
                      (("recorded", f"shape {step.shape}, dtype {step.facts[1].name}"), ("now", found)),
                      "call the function without replay: the shape of this result depends on values")


cdef int name_line(object error, Step step) except -1:
    """Say in an error which line of the recorded function it comes from."""
    if isinstance(error, Stride0Error):
        error.facts = (*error.facts, ("recorded at", step.where))
        error.args = (*error.args[:2], error.facts, *error.args[3:])
    elif isinstance(error, Exception) and type(error) is not Diverged:
        error.add_note(f"recorded at {step.where}")
    return 0
