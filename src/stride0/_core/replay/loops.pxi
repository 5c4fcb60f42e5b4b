# Loops whose body is a recording. Included in `replay.pyx`.

cdef enum:
    STEPS_BETWEEN_SIGNALS = 1024


@cython.final
cdef class Looped:
    """
    The function that repeats a recorded body.

    Its operands are the states, the rows (arrays or ranges: step k takes item k) and the arrays that the body uses from outside. It
    returns a tuple: the last states, then the stacked outputs of all steps. With `saves`, the stacked states before each step follow.

    Parameters
    ----------
    recording : Recording
        The body: its first arguments are states in C order and items of rows; its first results are the next states.
    n, states, rows : int
        The numbers of steps, states and rows.
    reverse : bool
        Whether the loop begins with the last item of each row.
    saves : bool
        Whether the states before each step are returned.
    """

    cdef readonly Recording recording
    cdef readonly Py_ssize_t n, states, rows
    cdef readonly bint reverse
    cdef bint saves

    def __init__(self, Recording recording not None, Py_ssize_t n, Py_ssize_t states, Py_ssize_t rows, bint reverse, bint saves):
        self.recording, self.n, self.states, self.rows, self.reverse, self.saves = recording, n, states, rows, reverse, saves

    def saving(self):
        """The same loop, which also returns the states before each step."""
        return Looped(self.recording, self.n, self.states, self.rows, self.reverse, True)

    def __call__(self, *operands):
        cdef Recording body = self.recording
        cdef PyObject* few[3 * FEW_SLOTS]
        cdef char block[FEW_BYTES]
        cdef Frame frame
        cdef Py_ssize_t i, k, j, slot
        cdef Array x
        cdef bint is_row
        cdef list states = list(operands[:self.states]), held = [None] * len(operands)
        cdef list outputs = [stack_for(<Array>body.outlines[slot], self.n) for slot in body.results[self.states:]]
        cdef list saved = [stack_for(<Array>x, self.n) for x in states] if self.saves else []
        for k in range(<Py_ssize_t>len(operands)):
            is_row = self.states <= k < self.states + self.rows
            if type(operands[k]) is Array and not has_layout(<Array>operands[k], body.outlines[<Py_ssize_t>body.inputs[k]], is_row):
                raise SystemError("scan: internal error: an operand has another layout than in the recorded call")
        open_frame(body, &frame, few, block)
        try:
            for k in range(<Py_ssize_t>len(operands)):
                frame.slots[<Py_ssize_t>body.inputs[k]] = <PyObject*>operands[k]
            for k in range(self.states, self.states + self.rows):
                held[k] = item_of(operands[k], 0)
                frame.slots[k] = <PyObject*>held[k]
            begin(body, &frame)
            for i in range(self.n):
                k = self.n - 1 - i if self.reverse else i
                for j in range(self.states):
                    x = <Array>states[j]
                    frame.slots[j], frame.addresses[j] = <PyObject*>x, data_of(x)
                    if self.saves:
                        put_item(<Array>saved[j], k, x)
                for j in range(self.states, self.states + self.rows):
                    if type(operands[j]) is Array:
                        x = <Array>operands[j]
                        frame.addresses[j] = data_of(x) + k * x.strides_[0]
                        if j not in body.boxed:
                            continue
                    held[j] = item_of(operands[j], k)
                    frame.slots[j] = <PyObject*>held[j]
                    write_rooms(body, &frame, j)
                run_steps(body, &frame)
                for j in range(<Py_ssize_t>len(outputs)):
                    put_item(<Array>outputs[j], k, <Array>frame.slots[<Py_ssize_t>body.results[self.states + j]])
                # Only now release the old states: an output may be one of them.
                states = [<object>frame.slots[<Py_ssize_t>body.results[j]] for j in range(self.states)]
                drop_results(body, &frame)
                if i % STEPS_BETWEEN_SIGNALS == STEPS_BETWEEN_SIGNALS - 1:
                    PyErr_CheckSignals()
        finally:
            close_frame(body, &frame, few, block)
        # Copy the states: if the body returns a state unchanged, the state is still the caller's array.
        return (*[copy_array(<Array>x, (<Array>x).code, True) for x in states], *outputs, *saved)


cdef bint has_layout(Array x, object outline, int first) noexcept:
    """Whether the axes of x from `first` on have the shape and strides of an outline, and x has its dtype: prepared steps rely on them."""
    cdef Array wanted
    cdef int axis
    if outline is None:
        return False
    wanted = <Array>outline
    if x.code != wanted.code or x.ndim != wanted.ndim + first:
        return False
    for axis in range(wanted.ndim):
        if x.shape_[first + axis] != wanted.shape_[axis] or (wanted.shape_[axis] > 1 and x.strides_[first + axis] != wanted.strides_[axis]):
            return False
    return True


cdef Array stack_for(Array x, Py_ssize_t n):
    """A new array with room for n arrays with the shape and dtype of x, along a new first axis."""
    cdef Py_ssize_t shape[MAX_NDIM]
    if x.ndim == MAX_NDIM:
        raise ShapeError("scan", f"an output has {MAX_NDIM} axes", (), f"return arrays with at most {MAX_NDIM - 1} axes")
    shape[0] = n
    memcpy(shape + 1, x.shape_, x.ndim * sizeof(Py_ssize_t))
    return new_array(x.code, x.ndim + 1, shape, NULL, False)


cdef int put_item(Array stack, Py_ssize_t k, Array x) except -1:
    """Copy x to item k of a stack. Both must be in C order."""
    cdef Py_ssize_t size = x.size * itemsize_at(x.code)
    memcpy(data_of(stack) + k * size, data_of(x), size)
    return 0


cpdef object item_of(object row, Py_ssize_t k):
    """Item k of a range, or of an array along its first axis, as a view."""
    cdef Array x
    if type(row) is not Array:
        return row[k]
    x = <Array>row
    return view_of(x, data_of(x) + k * x.strides_[0], x.ndim - 1, x.shape_ + 1, x.strides_ + 1)
