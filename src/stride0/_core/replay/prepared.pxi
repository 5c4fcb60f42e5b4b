# Steps that need neither objects nor a new plan at each call. Included in `replay.pyx`.
#
# Note [Prepared steps]
#     The arrays of a recording have known shapes and strides. So an elementwise step, a reduction, a copy or a product of few
#     elements is planned once, as one or several parts. A call only passes pointers to the kernels. They are the kernels of the
#     eager call, so the bits are the same. A step that returns a view of an operand becomes an offset. A result gets an array
#     object only if the caller reads it, or a step that is not prepared. All other results are in one block of memory. The place
#     of a result is reused after the last step that reads the result. Python scalars are written to rooms, in the dtypes that the
#     kernels read. Scalars among the arguments are written once per call.

cdef enum:
    PLACE = 64          # alignment of results in the block

cdef enum Way:
    BY_CALL
    BY_PARTS
    BY_OFFSET
    BY_NOTHING

cdef struct Prepared:
    Way way
    PyObject* step              # a Step, which the recording keeps alive
    Py_ssize_t result           # slot of the result array; -1 without one
    bint makes                  # whether the result becomes an array
    Py_ssize_t place            # of the result in the block; -1 if it is not there
    Py_ssize_t first, count     # by parts: the first part, and the number of parts
    Py_ssize_t base, offset     # by offset: the slot of the operand, and the bytes from there to the result

# Operations of Python floats for which the kernels give the same bits as Python.
cdef dict OF_FLOATS = {"add": OP_ADD, "subtract": OP_SUBTRACT, "multiply": OP_MULTIPLY, "divide": OP_DIVIDE}
# Functions that reduce x over `axis`; the places of their parameters `keepdims` and `dtype`.
cdef dict REDUCING = {
    "sum": (3, 2), "prod": (3, 2), "max": (2, -1), "min": (2, -1), "all": (2, -1), "any": (2, -1), "count_nonzero": (2, -1), "mean": (2, 3),
}


cdef class Preparation:
    """Decides how the steps of a recording run, and where their results lie."""

    cdef Recording recording
    cdef list outlines          # by slot: an Array with shape and strides of the slot's array, or None
    cdef set needed             # slots that need objects
    cdef dict packs             # by slot: the step that packs arrays into a list
    cdef dict rooms             # by (slot, dtype) of a scalar, or (dtype, bytes) of an element: number, dtype, and bytes or size

    cdef int prepare(self, Step step, Prepared* out) except -1:
        """Describe how a step runs."""
        cdef Py_ssize_t rooms = len(self.rooms)
        cdef Array result = <Array>self.outlines[step.result] if step.result >= 0 else None
        out.step, out.result, out.place, out.way, out.first = <PyObject*>step, step.result, -1, BY_CALL, self.recording.parts_count
        if step.result < 0 and step.name != "add_at":
            return 0
        if step.base >= 0:
            if not self.recording.is_fixed(step) or (step.result in self.needed and not step.shares):
                return 0
            if step.result in self.needed:
                out.makes = True
                self.needed.add(step.base)
            out.way, out.base, out.offset = BY_OFFSET, step.base, step.offset
        elif step.number == PACK_LIST or step.number == PACK_TUPLE or (step.number == CALL and step.name == "unstack"):
            out.way = BY_CALL if step.result in self.needed else BY_NOTHING
        elif self.describe(step, result):
            out.way, out.count = BY_PARTS, self.recording.parts_count - out.first
            out.result = -1 if result is None else step.result
        else:
            # Drop the parts and rooms that the attempt has added.
            self.recording.drop_parts(out.first)
            self.rooms = {key: room for key, room in self.rooms.items() if room[0] < rooms}
        return 0

    cdef bint describe(self, Step step, Array result) except -1:
        """Describe a step by parts; False if the step must be called instead."""
        if result is None:
            if step.number != CALL:
                return False
            return self.addition(step.slots[0], 0, step) if step.name == "add_at" else step.name in OF_FLOATS and self.of_floats(step)
        if not is_small_array(result):
            return False
        if step.number == UNARY or step.number == BINARY:
            return self.operation(step, result)
        if step.number != CALL or step.count == 0:
            return False
        if step.name == "stack" or step.name == "concat":
            return self.joined(step, result)
        if self.outlines[step.slots[0]] is None:
            return False
        if step.name == "matmul":
            return self.product(step, result)
        arguments = self.arguments_of(step)
        if arguments is None:
            return False
        if step.name in REDUCING:
            return self.reduction(step, arguments, result)
        if step.name == "vecdot":
            if type(arguments[1]) is not Array or (<Array>arguments[1]).shape != (<Array>arguments[0]).shape or arguments[2] != -1:
                return False
            return self.fold("vecdot", arguments[:2], step.operands, ((<Array>arguments[0]).ndim - 1,), result, step.result)
        if step.name == "dot_into":
            return self.masked_sum(step, arguments, result)
        if step.name == "put":
            zeros = outline(result.code, result.ndim, result.shape_, NO_STRIDES)
            begun = self.add_loop(cast_kernel(result.code, result.code), (zeros,), (self.element(ZERO, result.code),), result, step.result)
            return begun and self.addition(step.result, 2, step)
        if step.name == "where":
            return self.selection(step, result)
        if step.name in ("astype", "asarray", "copy") and is_copied((<Array>arguments[0]).code, result.code):
            return self.add_loop(cast_kernel((<Array>arguments[0]).code, result.code), arguments[:1], step.operands[:1], result, step.result)
        return False

    cdef list arguments_of(self, Step step):
        """The arguments of a call in the order of its parameters, with outlines instead of arrays; None if a scalar may differ between calls."""
        cdef PyObject* args[MOST_OPERANDS]
        cdef PyObject* given[MAX_PARAMETERS]
        cdef list found = []
        cdef Py_ssize_t k, slot
        cdef Signature signature
        for k in range(step.count):
            slot = step.slots[k]
            if self.outlines[slot] is None and self.recording.varies(slot) and step.name != "where":
                return None
            found.append(self.outlines[slot] if self.outlines[slot] is not None else self.recording.initial[slot])
            args[k] = <PyObject*>found[k]
        if type(step.function) is not Primitive:
            return None if step.kwnames else found
        signature = (<Primitive>step.function).signature
        if signature is None or not signature.bind(args, step.count - len(step.kwnames), <PyObject*>step.kwnames if step.kwnames else NULL, given):
            return None
        return [<object>given[k] for k in range(signature.count)]

    # --- memory without a slot: its address follows the addresses of the slots

    cdef Py_ssize_t room(self, object key, int code, object content):
        if key not in self.rooms:
            self.rooms[key] = (len(self.rooms), code, content)
        return len(self.outlines) + <Py_ssize_t>self.rooms[key][0]

    cdef Py_ssize_t element(self, const char* value, int code):
        """The address of one element."""
        content = s0_bytes(value, itemsize_at(code))
        return self.room((code, content), code, content)

    cdef Py_ssize_t scalar(self, Step step, Py_ssize_t slot, int code) except -1:
        """The address of a Python scalar in a dtype."""
        cdef char value[SCALAR_ROOM]
        if slot in self.recording.samples:
            return self.room((slot, code), code, None)
        write_scalar(self.recording.initial[slot], code, value, step.name)
        return self.element(value, code)

    cdef object sample(self, Py_ssize_t slot):
        """The Python scalar that a slot held in the recorded call."""
        return self.recording.samples[slot] if slot in self.recording.samples else self.recording.initial[slot]

    # --- kinds of steps

    cdef bint add_loop(
        self, Kernel kernel, object arrays, object addresses, Array result, Py_ssize_t address, Py_ssize_t offset=0, bint within=False
    ) except -1:
        """Add the call of a kernel. Each operand has an address and an array (None for a scalar); `within`: the first operand is the result."""
        cdef Operand operands[4]
        cdef Part* part = self.recording.new_part()
        cdef int k, nin = <int>len(addresses)
        for k in range(nin):
            part.address[k] = addresses[k]
            if arrays[k] is None:
                operands[k].code, operands[k].ndim, operands[k].shape, operands[k].strides = input_code(kernel, k), 0, NULL, NULL
            else:
                describe_operand(&operands[k], <Array>arrays[k])
        part.address[nin], part.offset[nin] = address, offset
        if within:
            part.offset[0] = offset
        describe_operand(&operands[nin], result)
        return plan_loop(part, kernel, operands, nin)

    cdef bint operation(self, Step step, Array result) except -1:
        """An elementwise operation whose arrays have the dtype of the kernel."""
        cdef int op = step.op, code = -1, scalar = -1, k
        cdef list arrays = [self.outlines[slot] for slot in step.operands], addresses = list(step.operands)
        for k in range(<int>step.count):
            if arrays[k] is None:
                if scalar >= 0:
                    return False
                scalar = k
            elif not is_small_array(<Array>arrays[k]) or (code >= 0 and (<Array>arrays[k]).code != code):
                return False
            else:
                code = (<Array>arrays[k]).code
        if code < 0 or S0_LOOP[op][code] != code or is_stored(code) or (S0_CHECK_EXPONENT[op] and letter_at(code) == c"i") or result.code != S0_OUT[op][code]:
            return False
        if scalar >= 0:
            value = self.sample(addresses[scalar])
            is_given = addresses[scalar] in self.recording.samples
            if not is_python_scalar(value) or weak_code(code, value) != code or (op == OP_POW and is_given):
                return False
            # A scalar beyond the dtype is compared in another way.
            if S0_COMPARES[op] and type(value) is int:
                return False
            if op == OP_POW and scalar == 1 and value == 2:
                op = OP_SQUARE
                del arrays[1], addresses[1]
            else:
                addresses[scalar] = self.scalar(step, addresses[scalar], code)
        return self.add_loop(op_kernel(op, code), arrays, addresses, result, step.result)

    cdef bint of_floats(self, Step step) except -1:
        """An operation of Python floats (or integer constants). Only kernels may read its result."""
        cdef list addresses = []
        cdef Kernel kernel = op_kernel(OF_FLOATS[step.name], FLOAT64)
        if type(self.recording.samples[step.result]) is not float or step.result in self.needed or step.count != 2:
            return False
        for key in self.rooms:
            if key[0] == step.result and key[1] != FLOAT64:
                return False
        for slot in step.operands:
            value, is_given = self.sample(slot), slot in self.recording.samples
            # Python raises an error for 1 / 0.
            if type(value) is not float and (is_given or type(value) is not int or abs(value) > 1 << 53):
                return False
            if step.name == "divide" and slot == step.operands[1] and (is_given or value == 0):
                return False
            addresses.append(self.scalar(step, slot, FLOAT64))
        cdef Part* part = self.recording.new_part()
        part.count, part.n, part.m, part.k = 3, 1, 1, 1
        part.address[0], part.address[1], part.address[2] = addresses[0], addresses[1], self.room((step.result, FLOAT64), FLOAT64, None)
        part.inner[0] = part.inner[1] = part.inner[2] = sizeof(double)
        part.loop = loops_of(kernel)[layout_of(kernel, part.inner)]
        return True

    cdef bint selection(self, Step step, Array result) except -1:
        """`where`, with arrays of the dtype of the result."""
        cdef list arrays = [self.outlines[slot] for slot in step.operands], addresses = list(step.operands)
        cdef int k
        if step.count != 3 or step.kwnames or is_stored(result.code) or (<Array>arrays[0]).code != BOOL:
            return False
        for k in range(1, 3):
            if arrays[k] is not None:
                if (<Array>arrays[k]).code != result.code:
                    return False
            elif not is_python_scalar(self.sample(addresses[k])) or weak_code(result.code, self.sample(addresses[k])) != result.code:
                return False
            else:
                addresses[k] = self.scalar(step, addresses[k], result.code)
        return self.add_loop(where_kernel(result.code), arrays, addresses, result, step.result)

    cdef bint product(self, Step step, Array result) except -1:
        """A product of matrices or vectors."""
        cdef Array x1 = <Array>self.outlines[step.slots[0]], x2
        cdef Product product
        cdef Part* part
        cdef bint swapped
        cdef int algorithm
        if step.count != 2 or self.outlines[step.slots[1]] is None or not result.c_contiguous:
            return False
        x2 = <Array>self.outlines[step.slots[1]]
        algorithm = product_without_copies(&product, x1, x2, &swapped)
        if algorithm < 0:
            return False
        part = self.recording.new_part()
        part.product = <Product*>PyMem_Malloc(sizeof(Product))
        if part.product is NULL:
            raise MemoryError("replay: no memory for the steps of a recording")
        part.product[0], part.algorithm, part.count = product, algorithm, 3
        part.product.code = x1.code
        part.address[0], part.address[1], part.address[2] = step.slots[swapped], step.slots[not swapped], step.result
        return True

    cdef bint reduction(self, Step step, list arguments, Array result) except -1:
        """A reduction of one array; a mean is a sum and a division."""
        cdef Array x = <Array>arguments[0]
        cdef bint is_mean = step.name == "mean"
        cdef double count = <double>(x.size // result.size)
        keepdims, dtype = REDUCING[step.name]
        if type(arguments[keepdims]) is not bool or (dtype >= 0 and arguments[dtype] is not None) or (is_mean and x.code != FLOAT64):
            return False
        axes = axes_tuple(<PyObject*>arguments[1], x.ndim, step.name)
        whole = arguments[1] is None and not arguments[keepdims] and (not is_mean or x.c_contiguous)
        if not self.fold("sum" if is_mean else step.name, [x], step.operands, axes, result, step.result, run_stride(x) if whole else 0):
            return False
        # The sums are contiguous.
        return not is_mean or self.add_loop(
            op_kernel(OP_DIVIDE, FLOAT64), (result, None), (step.result, self.element(<char*>&count, FLOAT64)), result, step.result)

    cdef bint masked_sum(self, Step step, list arguments, Array result) except -1:
        """`dot_into`: a product, or the sum of a product along axes."""
        cdef list arrays = arguments[:2]
        cdef tuple shape = broadcast_shapes("dot_into", [("x1", (<Array>arrays[0]).shape), ("x2", (<Array>arrays[1]).shape)])
        cdef int missing = <int>len(shape) - result.ndim, k
        cdef tuple axes = tuple([k for k in range(<int>len(shape)) if k < missing or shape[k] != result.shape_[k - missing]])
        cdef Operand operands[2]
        for k in range(2):
            if (<Array>arrays[k]).code != result.code or is_stored(result.code):
                return False
            describe_operand(&operands[k], <Array>arrays[k])
        for k in range(<int>len(shape)):
            # Note [Repeated cotangents]
            if shape[k] > 1 and is_broadcast_along(&operands[0], k, <int>len(shape)) and is_broadcast_along(&operands[1], k, <int>len(shape)):
                return False
        if not axes:
            return self.add_loop(op_kernel(OP_MULTIPLY_MASKED, result.code), arrays, step.operands[:2], result, step.result)
        return prod(shape) < DEFERRED_SIZE and self.fold("dot_masked", arrays, step.operands, axes, result, step.result)

    cdef bint fold(self, str name, list arrays, tuple addresses, tuple axes, Array result, Py_ssize_t address, Py_ssize_t stride=0) except -1:
        """
        A reduction, computed as in `reduce_whole` (if a stride is given) or `accumulate`: the accumulators get a start element, and
        all elements are folded into them.
        """
        cdef Array x = <Array>arrays[0], total, first
        cdef int number = REDUCTION_NUMBERS[name], code = x.code, nin = <int>len(arrays), target = FACTS.accumulator[number][code], ndim, k
        cdef Operand operands[3]
        cdef Py_ssize_t kept[MAX_NDIM]
        cdef Py_ssize_t to = address
        cdef const char* start
        cdef Part* part
        for k in range(nin):
            describe_operand(&operands[k], <Array>arrays[k])
            if operands[k].code != code or not is_small_array(<Array>arrays[k]):
                return False
        if broadcast(operands, nin, kept, &ndim) != 0 or ndim == 0 or is_stored(code) or target < 0 or not is_copied(target, result.code):
            return False
        for k in axes:
            kept[k] = 1
        total = new_array(target, ndim, kept, NULL, False)
        if target != result.code:
            to = self.room((-1, address), target, total.size * itemsize_at(target))
        start = start_element(number, target)
        first = outline(code if start is NULL else target, ndim, kept, x.strides_ if start is NULL else NO_STRIDES)
        begun = addresses[0] if start is NULL else self.element(start, target)
        if not self.add_loop(cast_kernel(first.code, target), (first,), (begun,), total, to):
            return False
        part = self.recording.new_part()
        for k in range(nin):
            part.address[k] = addresses[k]
        part.address[nin] = to
        if stride:
            fold_run(part, reduction_kernel(number, code), stride, x.size, code)
        elif not plan_fold(part, reduction_kernel(number, code), operands, nin, axes, total):
            return False
        if target == result.code:
            return True
        return self.add_loop(cast_kernel(target, result.code), (total,), (to,), new_array(result.code, ndim, kept, NULL, False), address)

    cdef bint addition(self, Py_ssize_t address, int values, Step step) except -1:
        """
        Add values to elements that a constant key selects at most once. `values` is 0 for `add_at(x, key, values)`, and 2 for
        `put(values, shape, key)`, which adds to zeros.
        """
        cdef Array x = <Array>self.outlines[address], target, added = <Array>self.outlines[step.slots[0 if values else 2]], place
        cdef Py_ssize_t slot = step.slots[2 if values else 1], source = step.slots[0 if values else 2]
        key = self.recording.initial[slot]
        if added is None or x is None or x.code != added.code or is_stored(x.code) or letter_at(x.code) == c"b" or not x.c_contiguous:
            return False
        if not is_small_array(x) or self.recording.varies(slot) or not is_basic(key):
            return False
        place = new_array(x.code, x.ndim, x.shape_, NULL, False)
        target = <Array>get_item(place, key)
        if target.size == 0:
            return False
        return self.add_loop(op_kernel(OP_ADD, x.code), (target, added), (address, source), target, address, data_of(target) - data_of(place), True)

    cdef bint joined(self, Step step, Array result) except -1:
        """`stack` and `concat` of arrays of one dtype: each array is copied to its part of the result."""
        cdef Step pack = self.packs.get(step.slots[0])
        cdef Array x, place
        cdef Py_ssize_t shape[MAX_NDIM]
        cdef Py_ssize_t strides[MAX_NDIM]
        cdef Py_ssize_t start = 0, slot
        cdef int d, at, axis = 0
        cdef bint stacks = step.name == "stack"
        if pack is None or step.count > 2 or result.ndim == 0:
            return False
        if step.count == 2:
            value = self.recording.initial[step.slots[1]]
            if type(value) is not int or not -result.ndim <= value < result.ndim:
                return False
            axis = value % result.ndim
        for slot in pack.operands:
            x = <Array>self.outlines[slot]
            if not is_small_array(x) or x.code != result.code:
                return False
            for d in range(x.ndim):
                at = d + 1 if stacks and d >= axis else d
                shape[d], strides[d] = x.shape_[d], result.strides_[at]
            place = outline(x.code, x.ndim, shape, strides)
            if not self.add_loop(cast_kernel(x.code, x.code), (x,), (slot,), place, step.result, start * result.strides_[axis]):
                return False
            start += 1 if stacks else x.shape_[axis]
        return True
