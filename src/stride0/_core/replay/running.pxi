# One call of a recording. Included in `replay.pyx`: Note [Prepared steps].

# The state of one call of a recording: objects by slot, references to results by slot, addresses by slot and room, and memory.
cdef struct Frame:
    PyObject** slots
    PyObject** owned
    char** addresses
    char* memory
    char* block     # the aligned memory


cdef int open_frame(Recording self, Frame* frame, PyObject** few, char* block) except -1:
    """Fill a frame, with the constants in its slots. Small recordings use the memory `few` and `block`, which the caller provides."""
    cdef Py_ssize_t k, count = len(self.initial), total = 3 * count + self.rooms_count
    frame.slots = few if total <= 3 * FEW_SLOTS else <PyObject**>PyMem_Malloc(total * sizeof(PyObject*))
    frame.memory = block if self.block <= FEW_BYTES - PLACE else <char*>PyMem_Malloc(self.block + PLACE)
    if frame.slots is NULL or frame.memory is NULL:
        close_frame(self, frame, few, block)
        raise MemoryError("replay: no memory for the slots of a recording")
    frame.owned, frame.addresses, frame.block = frame.slots + count, <char**>(frame.slots + 2 * count), aligned(frame.memory)
    memset(frame.owned, 0, count * sizeof(PyObject*))
    for k in range(count):
        frame.slots[k] = s0_list_item(self.initial, k)
    return 0


cdef void drop_results(Recording self, Frame* frame) noexcept:
    cdef Py_ssize_t k
    for k in range(<Py_ssize_t>len(self.initial)):
        if frame.owned[k] is not NULL:
            Py_DECREF(<object>frame.owned[k])
            frame.owned[k] = NULL


cdef void close_frame(Recording self, Frame* frame, PyObject** few, char* block) noexcept:
    if frame.slots is not NULL and frame.memory is not NULL:
        drop_results(self, frame)
    if frame.slots is not few:
        PyMem_Free(frame.slots)
    if frame.memory is not block:
        PyMem_Free(frame.memory)


cdef int write_rooms(Recording self, Frame* frame, Py_ssize_t slot) except -1:
    """Write the Python scalar of a slot in the dtypes in which parts read it."""
    cdef Py_ssize_t k
    for k in range(self.rooms_count):
        if self.rooms[k].slot == slot:
            write_room(self, frame, k)
    return 0


cdef int write_room(Recording self, Frame* frame, Py_ssize_t k) except -1:
    """Write the Python scalar of a room, whose type must be its type in the recorded call."""
    cdef Room* room = &self.rooms[k]
    value = <object>frame.slots[room.slot]
    if s0_type(value) is not room.given:
        refuse_type(value)
    write_scalar(value, room.code, frame.addresses[len(self.initial) + k], "replay")
    return 0


cdef int begin(Recording self, Frame* frame) except -1:
    """Find the addresses of arguments, of arrays from outside and of rooms, and write the scalars among the arguments."""
    cdef Py_ssize_t k, slot, count = len(self.initial)
    for slot in self.addressed:
        if type(<object>frame.slots[slot]) is Array:
            frame.addresses[slot] = data_of(<Array>frame.slots[slot])
    for k in range(self.rooms_count):
        frame.addresses[count + k] = &self.rooms[k].value[0] if self.rooms[k].place < 0 else frame.block + self.rooms[k].place
        if self.rooms[k].slot >= 0 and not self.rooms[k].late:
            write_room(self, frame, k)
    return 0


cdef int run_steps(Recording self, Frame* frame) except -1:
    """Run the steps once; `frame.owned` gets the references to results."""
    cdef Prepared* at
    cdef Step step
    cdef Py_ssize_t k, slot
    cdef int j
    cdef PyObject* given[MOST_OPERANDS]
    cdef Array made, outline
    for k in range(self.count):
        at = &self.prepared[k]
        if at.way == BY_PARTS:
            if at.makes:
                made = <Array>self.outlines[at.result]
                made = new_array(made.code, made.ndim, made.shape_, made.strides_, False)
                Py_INCREF(made)
                frame.slots[at.result] = frame.owned[at.result] = <PyObject*>made
                frame.addresses[at.result] = made.address
            elif at.result >= 0:
                frame.addresses[at.result] = frame.block + at.place
            for slot in range(at.first, at.first + at.count):
                run_part(&self.parts[slot], frame.addresses)
        elif at.way == BY_OFFSET:
            frame.addresses[at.result] = frame.addresses[at.base] + at.offset
            if at.makes:
                outline = <Array>self.outlines[at.result]
                made = view_of(<Array>frame.slots[at.base], frame.addresses[at.result], outline.ndim, outline.shape_, outline.strides_)
                if made.code != outline.code:
                    made.code = outline.code
                    set_flags(made)
                Py_INCREF(made)
                frame.slots[at.result] = frame.owned[at.result] = <PyObject*>made
        elif at.way == BY_CALL:
            step = <Step>at.step
            for j in range(<int>step.count):
                given[j] = frame.slots[step.slots[j]]
            try:
                out = step.run(given)
                if not step.fits(out):
                    refuse_result(step, out)
            except BaseException as error:
                name_line(error, step)
                raise
            if step.result >= 0:
                Py_INCREF(out)
                frame.slots[step.result] = frame.owned[step.result] = <PyObject*>out
                if type(out) is Array:
                    frame.addresses[step.result] = data_of(<Array>out)
                elif self.rooms_count and is_python_scalar(out):
                    write_rooms(self, frame, step.result)
        if (<Step>at.step).released:
            for slot in (<Step>at.step).released:
                if frame.owned[slot] is not NULL:
                    Py_DECREF(<object>frame.owned[slot])
                    frame.owned[slot] = frame.slots[slot] = NULL
    return 0


cdef int refuse_type(object value) except -1:
    raise ReplayError("replay", f"a Python scalar is now of type {type(value).__name__}", (), "call the function without replay for these values")


cdef int refuse_result(Step step, object out) except -1:
    found = f"shape {shape_tuple(<Array>out)}, dtype {(<Array>out).dtype.name}" if type(out) is Array else f"{type(out).__name__}"
    raise ReplayError(step.name, "the result has another shape or dtype than in the recorded call",
                      (("recorded", f"shape {step.shape}, dtype {step.facts[1].name}"), ("now", found)),
                      "call the function without replay: the shape of this result depends on values")


cdef int name_line(object error, Step step) except -1:
    """Add to an error the line of the recorded function that it comes from."""
    if isinstance(error, Stride0Error):
        error.facts = (*error.facts, ("recorded at", step.where))
        error.args = (*error.args[:2], error.facts, *error.args[3:])
    elif isinstance(error, Exception) and type(error) is not Diverged:
        error.add_note(f"recorded at {step.where}")
    return 0
