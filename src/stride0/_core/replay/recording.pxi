# A list of steps, and how it runs. Included in `replay.pyx`.

@cython.final
cdef class Recording:
    """
    The calls of a function in their order, with slots for arguments, constants and results.

    A slot holds an array, a Python scalar or any other argument. The first slots are the arguments.
    """

    cdef readonly list steps
    cdef readonly list initial      # by slot: a constant, or None
    cdef readonly Py_ssize_t arguments
    cdef readonly tuple results     # slots
    cdef list live                  # the steps that run

    def __init__(self, Py_ssize_t arguments):
        self.arguments, self.steps, self.initial, self.live = arguments, [], [None] * arguments, []

    def constant(self, value):
        """Return a new slot for a value that every call reads."""
        self.initial.append(value)
        return len(self.initial) - 1

    def append(self, Step step not None):
        """Append a step."""
        self.steps.append(step)

    def keep(self, Step step not None, value):
        """Give the result of a step a slot."""
        slot = self.constant(None)
        step.set_result(slot, value)
        return slot

    def finish(self, tuple results):
        """End the recording: drop steps whose results nothing reads, and release each result after its last reader."""
        cdef Step step
        cdef Py_ssize_t slot
        cdef set read = set(results)
        self.results = results
        self.live = []
        for step in reversed(self.steps):
            if step.pure and step.result not in read:
                continue
            dead = [slot for slot in set(step.operands) if slot not in read]
            if step.result >= 0 and step.result not in read:
                dead.append(step.result)
            read.update(step.operands)
            step.released = tuple([slot for slot in dead if self.is_result(slot)])
            self.live.append(step)
        self.live.reverse()

    cdef bint is_result(self, Py_ssize_t slot):
        return slot >= self.arguments and self.initial[slot] is None

    @property
    def running(self):
        """The steps that run, in order."""
        return list(self.live)

    def run(self, list arguments):
        """Run the steps with other arguments of the same signature; returns the results in order."""
        cdef Py_ssize_t k, count = len(self.initial)
        cdef Step step = None
        cdef PyObject* given[MOST_OPERANDS]
        cdef PyObject** slots = <PyObject**>PyMem_Malloc((count + 1) * sizeof(PyObject*))
        cdef PyObject** owned
        if slots is NULL:
            raise MemoryError("replay: no memory for the slots of a recording")
        owned = <PyObject**>PyMem_Malloc((count + 1) * sizeof(PyObject*))
        if owned is NULL:
            PyMem_Free(slots)
            raise MemoryError("replay: no memory for the slots of a recording")
        memset(owned, 0, count * sizeof(PyObject*))
        for k in range(count):
            slots[k] = <PyObject*>(<list>(arguments if k < self.arguments else self.initial))[k]
        try:
            for step in self.live:
                for k in range(step.count):
                    given[k] = slots[step.slots[k]]
                out = step.run(given)
                if not step.fits(out):
                    refuse_result(step, out)
                if step.result >= 0:
                    Py_INCREF(out)
                    slots[step.result] = owned[step.result] = <PyObject*>out
                for slot in step.released:
                    k = slot
                    if owned[k] is not NULL:
                        Py_DECREF(<object>owned[k])
                        owned[k] = slots[k] = NULL
            return [<object>slots[<Py_ssize_t>slot] for slot in self.results]
        except BaseException as error:
            if step is not None:
                name_line(error, step)
            raise
        finally:
            for k in range(count):
                if owned[k] is not NULL:
                    Py_DECREF(<object>owned[k])
            PyMem_Free(owned)
            PyMem_Free(slots)


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
    elif isinstance(error, Exception):
        error.add_note(f"recorded at {step.where}")
    return 0
