# Where the results of prepared steps lie. Included in `replay.pyx`: Note [Prepared steps].

cdef class Block:
    """Memory for results without array objects. A place is reused after the last step that reads its result."""

    cdef list free              # free parts: [place, size]
    cdef Py_ssize_t size

    def __init__(self):
        self.free = []

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
    cdef Block block = Block()
    cdef Step step
    cdef Prepared* out
    cdef Room* room
    cdef Py_ssize_t k, slot, size, count = len(self.live)
    cdef dict roots = {}, last = {}
    found.recording, found.outlines, found.rooms = self, self.outlines, {}
    found.packs = {step.result: step for step in self.live if step.number == PACK_LIST or step.number == PACK_TUPLE}
    found.needed = set(self.results)
    self.prepared = <Prepared*>PyMem_Calloc(count + 1, sizeof(Prepared))
    if self.prepared is NULL:
        raise MemoryError("replay: no memory for the steps of a recording")
    self.count = count
    # Backwards: a result needs an array object only if the caller, or a later step that is called, reads it.
    for k in range(count - 1, -1, -1):
        step = <Step>self.live[k]
        found.prepare(step, &self.prepared[k])
        if self.prepared[k].way == BY_CALL:
            found.needed.update(step.operands)
    # The last reader of each result, also through views and lists.
    for k in range(count):
        out = &self.prepared[k]
        if out.way == BY_OFFSET:
            roots[out.result] = roots.get(out.base, out.base)
        if out.way == BY_CALL:
            found.needed.add(out.result)
        for slot in self.read_by(out):
            last[roots.get(slot, slot)] = k
    ends = [[] for _ in range(count)]
    for k in range(count):
        out = &self.prepared[k]
        if out.way == BY_PARTS and out.result >= 0:
            out.makes = out.result in found.needed
            if not out.makes:
                size = (<Array>self.outlines[out.result]).size * itemsize_at((<Array>self.outlines[out.result]).code)
                out.place = block.take(size)
                (<list>ends[<Py_ssize_t>last.get(out.result, k)]).append((out.place, size))
        for place, size in <list>ends[k]:
            block.give(place, size)
        step = <Step>out.step
        step.released = tuple([slot for slot in step.released if slot in found.needed])
    self.rooms = <Room*>PyMem_Calloc(len(found.rooms) + 1, sizeof(Room))
    if self.rooms is NULL:
        raise MemoryError("replay: no memory for the scalars of a recording")
    # Rooms hold their contents during the whole call.
    block.free = []
    for key, (k, code, content) in found.rooms.items():
        room = &self.rooms[k]
        room.slot, room.code, room.place = -1, code, -1
        if type(content) is bytes:
            memcpy(room.value, s0_bytes_data(content), len(content))
        else:
            room.place = block.take(SCALAR_ROOM if content is None else content)
        if content is None:
            room.slot, room.late, room.given = key[0], key[0] in self.made, s0_type(self.samples[key[0]])
    self.boxed = found.needed
    self.rooms_count, self.block = len(found.rooms), block.size
    # Arguments and arrays from outside whose addresses prepared steps need.
    read = {slot for k in range(count) if self.prepared[k].way != BY_CALL for slot in self.read_by(&self.prepared[k])}
    self.addressed = tuple(sorted([slot for slot in read if slot not in self.made and self.outlines[slot] is not None]))
    return 0
