# Steps that need neither objects nor a new plan at each call. Included in `replay.pyx`.
#
# Note [Prepared steps]
#     The arrays of a recording have known shapes and strides. So an elementwise step of few elements is planned once, and a call
#     passes pointers to the kernel: the kernel of the eager call, so that the bits are the same. A step that returns a view of an
#     operand becomes an offset. A result gets an array object only if the caller, or a step that is not prepared, reads it;
#     all other results lie in one block of memory, in which the place of a result is used again after its last reader.

cdef enum:
    PLACE = 64          # alignment of results in the block
    SCALAR_ROOM = 16    # bytes of a Python scalar as an operand

cdef enum Way:
    BY_CALL
    BY_LOOP
    BY_OFFSET
    BY_PARTS
    BY_NOTHING

cdef struct Prepared:
    Way way
    PyObject* step              # a Step, which the recording keeps alive
    int count                   # number of operands
    Py_ssize_t slots[3]
    Py_ssize_t result           # slot of the result; -1 without one
    bint makes                  # whether the result becomes an array
    Py_ssize_t place            # of the result in the block; -1 if it is not there
    # By loop: two axes, and the strides of the operands and the result along them.
    s0_loop loop
    Py_ssize_t n, m
    Py_ssize_t inner[4]
    Py_ssize_t outer[4]
    int scalar                  # the operand that is a Python scalar; -1 without one
    PyObject* given             # the type of the scalar if it is an argument or a result; NULL if it is a constant
    int code                    # dtype of the scalar in the kernel
    char constant[SCALAR_ROOM]  # its value, unless it is an argument
    Py_ssize_t offset           # by offset: of the result from the first operand, in bytes; of a part: its place in the result
    Prepared* parts             # by parts: a copy of each operand, `count` copies


cdef PyObject* scalar_type(object value) noexcept:
    """The type of a Python scalar, borrowed; NULL for None."""
    return NULL if value is None else s0_type(value)


cdef bint is_small_array(Array x) noexcept:
    return x is not None and 0 < x.size < tuning.long_run_elements


cdef class Preparation:
    """Decides how the steps of a recording run, and where their results lie."""

    cdef Recording recording
    cdef list outlines          # by slot: an Array with shape and strides of the slot's array, or None
    cdef set needed             # slots that need objects
    cdef dict packs             # by slot: the step that packs arrays into a list
    cdef list free              # free parts of the block: [place, size]
    cdef Py_ssize_t size        # of the block

    cdef bint prepare(self, Step step, Prepared* out) except -1:
        """Describe how a step runs; False if it is called like any other function."""
        cdef Array x, result
        cdef int k
        out.step, out.count, out.result, out.makes, out.place, out.scalar = <PyObject*>step, <int>step.count, step.result, False, -1, -1
        out.way = BY_CALL
        if step.result < 0:
            return False
        result = <Array>self.outlines[step.result]
        if step.base >= 0:
            if step.number == PART or not self.recording.is_fixed(step):
                return False
            if step.result in self.needed:
                if not step.shares:
                    return False
                out.makes = True
                self.needed.add(step.base)
            out.way, out.slots[0], out.offset = BY_OFFSET, step.base, step.offset
            return True
        if step.number == PACK_LIST or step.number == PACK_TUPLE:
            out.way = BY_CALL if step.result in self.needed else BY_NOTHING
            return out.way == BY_NOTHING
        if step.number == CALL and (step.name == "stack" or step.name == "concat"):
            return result is not None and self.prepare_parts(step, out, result)
        if step.number != UNARY and step.number != BINARY:
            return False
        for k in range(<int>step.count):
            out.slots[k] = step.slots[k]
            if self.outlines[step.slots[k]] is None:
                if out.scalar >= 0:
                    return False
                out.scalar = k
            elif not is_small_array(<Array>self.outlines[step.slots[k]]):
                return False
        if out.scalar == 0 and step.number == UNARY or not is_small_array(result):
            return False
        if not self.plan(step, out, result):
            return False
        out.way = BY_LOOP
        return True

    cdef bint plan(self, Step step, Prepared* out, Array result) except -1:
        """Plan an elementwise step whose operands have the dtype of the kernel; False for other steps."""
        cdef Operand operands[4]
        cdef Kernel kernel
        cdef int k, op = step.op, code = -1, loop, nin = <int>step.count
        cdef object value = None
        for k in range(nin):
            if k == out.scalar:
                continue
            if code >= 0 and (<Array>self.outlines[step.slots[k]]).code != code:
                return False
            code = (<Array>self.outlines[step.slots[k]]).code
        loop = S0_LOOP[op][code]
        if loop != code or is_stored(code) or (S0_CHECK_EXPONENT[op] and letter_at(loop) == c"i"):
            return False
        if out.scalar >= 0:
            value = self.recording.samples.get(step.slots[out.scalar])
            out.given = scalar_type(value)
            if value is None:
                value = self.recording.initial[step.slots[out.scalar]]
            if not is_python_scalar(value) or weak_code(code, value) != code or (op == OP_POW and out.given is not NULL):
                return False
            # A scalar beyond the dtype is compared in another way.
            if S0_COMPARES[op] and type(value) is int:
                return False
            out.code = loop
            if op == OP_POW and out.scalar == 1 and value == 2:
                op, nin, out.scalar, out.count = OP_SQUARE, 1, -1, 1
            elif out.given is NULL:
                write_scalar(value, loop, out.constant, step.name)
        if result.code != S0_OUT[op][loop]:
            return False
        kernel = op_kernel(op, loop)
        for k in range(nin):
            operands[k].data = NULL
            if k == out.scalar:
                operands[k].code, operands[k].ndim, operands[k].shape, operands[k].strides = loop, 0, NULL, NULL
            else:
                describe_operand(&operands[k], <Array>self.outlines[step.slots[k]])
        describe_operand(&operands[nin], result)
        return self.set_loop(out, kernel, operands, nin)

    cdef bint set_loop(self, Prepared* out, Kernel kernel, Operand* operands, int nin) except -1:
        """Plan a kernel for operands and a result that all have its dtypes; False if that needs more than two axes."""
        cdef Plan plan
        cdef Py_ssize_t shape[MAX_NDIM]
        cdef int ndim, k
        operands[nin].data = NULL
        if broadcast(operands, nin, shape, &ndim) != 0 or ndim != operands[nin].ndim:
            return False
        set_strides(&plan, operands, nin, shape, ndim)
        order_axes(&plan, False)
        set_result(&plan, &operands[nin], shape, ndim)
        coalesce(&plan, 0)
        if plan.ndim > 2:
            return False
        out.n = plan.shape[0] if plan.ndim else 1
        out.m = plan.shape[1] if plan.ndim > 1 else 1
        for k in range(nin + 1):
            out.inner[k] = plan.strides[k][0] if plan.ndim else itemsize_at(plan.code[k])
            out.outer[k] = plan.strides[k][1] if plan.ndim > 1 else 0
        out.loop = loops_of(kernel)[layout_of(kernel, out.inner)]
        return out.loop is not NULL

    cdef bint prepare_parts(self, Step step, Prepared* out, Array result) except -1:
        """Describe `stack` and `concat` of arrays of one dtype: each array is copied to its part of the result."""
        cdef Step pack = self.packs.get(step.slots[0])
        cdef Operand operands[2]
        cdef Py_ssize_t shape[MAX_NDIM]
        cdef Py_ssize_t strides[MAX_NDIM]
        cdef Py_ssize_t start = 0
        cdef Prepared* part
        cdef Array x
        cdef int k, d, at, axis = 0
        cdef bint stacks = step.name == "stack"
        if pack is None or step.count > 2 or not is_small_array(result) or result.ndim == 0:
            return False
        if step.count == 2:
            value = self.recording.initial[step.slots[1]]
            if type(value) is not int or not -result.ndim <= value < result.ndim:
                return False
            axis = value % result.ndim
        for k in range(<int>pack.count):
            x = <Array>self.outlines[pack.slots[k]]
            if not is_small_array(x) or x.code != result.code:
                return False
        out.parts = <Prepared*>PyMem_Malloc(pack.count * sizeof(Prepared))
        if out.parts is NULL:
            raise MemoryError("replay: no memory for the steps of a recording")
        out.count = <int>pack.count
        for k in range(out.count):
            x = <Array>self.outlines[pack.slots[k]]
            part = &out.parts[k]
            part.slots[0], part.offset = pack.slots[k], start * result.strides_[axis]
            start += 1 if stacks else x.shape_[axis]
            for d in range(x.ndim):
                at = d + 1 if stacks and d >= axis else d
                shape[d], strides[d] = x.shape_[d], result.strides_[at]
            operands[0].data = NULL
            describe_operand(&operands[0], x)
            operands[1].code, operands[1].ndim, operands[1].shape, operands[1].strides = x.code, x.ndim, shape, strides
            if not self.set_loop(part, cast_kernel(x.code, x.code), operands, 1):
                return False
        out.way = BY_PARTS
        return True

    # --- the block of results without objects

    cdef Py_ssize_t take(self, Py_ssize_t size):
        """A place for a result."""
        cdef list part
        size = (size + PLACE - 1) // PLACE * PLACE
        for part in self.free:
            if part[1] >= size:
                place = part[0]
                part[0] += size
                part[1] -= size
                return place
        place = self.size
        self.size += size
        return place

    cdef int give(self, Py_ssize_t place, Py_ssize_t size) except -1:
        """Make a place free for later results."""
        size = (size + PLACE - 1) // PLACE * PLACE
        self.free = [part for part in self.free if part[1]]
        for part in self.free:
            if part[0] + part[1] == place:
                part[1] += size
                return 0
            if place + size == part[0]:
                part[0] = place
                part[1] += size
                return 0
        self.free.append([place, size])
        return 0


cdef int prepare_steps(Recording self) except -1:
    """Fill the list of prepared steps, and find the size of the block."""
    cdef Preparation found = Preparation()
    cdef Step step
    cdef Prepared* out
    cdef Py_ssize_t k, slot, count = len(self.live)
    cdef dict roots = {}, last = {}
    found.recording, found.outlines, found.free = self, self.outlines, []
    found.packs = {step.result: step for step in self.live if step.number == PACK_LIST or step.number == PACK_TUPLE}
    found.needed = set(self.results)
    self.prepared = <Prepared*>PyMem_Malloc((count + 1) * sizeof(Prepared))
    if self.prepared is NULL:
        raise MemoryError("replay: no memory for the steps of a recording")
    memset(self.prepared, 0, (count + 1) * sizeof(Prepared))
    self.count = count
    # From the last step on: only steps that are called need objects.
    for k in range(count - 1, -1, -1):
        step = <Step>self.live[k]
        out = &self.prepared[k]
        if not found.prepare(step, out):
            found.needed.update(step.operands)
    # The last reader of each result, also through views and lists.
    for k in range(count):
        out = &self.prepared[k]
        step = <Step>out.step
        if out.way == BY_OFFSET:
            roots[step.result] = roots.get(out.slots[0], out.slots[0])
        for slot in operands_of(out):
            last[roots.get(slot, slot)] = k
    ends = [[] for _ in range(count)]
    for k in range(count):
        out = &self.prepared[k]
        if out.way == BY_LOOP or out.way == BY_PARTS:
            out.makes = out.result in found.needed
            if not out.makes:
                size = (<Array>self.outlines[out.result]).size * itemsize_at((<Array>self.outlines[out.result]).code)
                out.place = found.take(size)
                (<list>ends[<Py_ssize_t>last.get(out.result, k)]).append((out.place, size))
        for place, size in <list>ends[k]:
            found.give(place, size)
    self.block = found.size
    # Arguments and arrays from outside of which prepared steps need the address.
    read = {slot for k in range(count) if self.prepared[k].way != BY_CALL for slot in operands_of(&self.prepared[k])}
    self.addressed = tuple(sorted([slot for slot in read if slot not in self.made and self.outlines[slot] is not None]))
    return 0


cdef list operands_of(const Prepared* at):
    """The slots that a step reads."""
    cdef int k
    if at.way == BY_PARTS:
        return [at.parts[k].slots[0] for k in range(at.count)]
    if at.way == BY_NOTHING:
        return []
    return list((<Step>at.step).operands)
