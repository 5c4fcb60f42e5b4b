# Arrays whose memory was written through other arrays: Note [Overwritten values]. Included in `tape.pyx`.

@cython.final
@cython.no_gc
cdef class Change:
    """Elements of an array that were overwritten by elements of another array, the source."""
    cdef tuple shape           # shape of the source
    cdef Py_ssize_t size
    cdef list moves            # (component or None, key) of the elements in the array, and in the source


@cython.final
cdef class Replay:
    """Maps the cotangent of such an array to the cotangents of its previous value, if that was tracked, and of the sources."""
    cdef tuple masks           # masks of the elements that stayed; for a complex array one mask per component
    cdef list changes

    def __call__(self, g):
        cdef list out = []
        if self.masks is not None:
            out.append(remaining(g, self.masks))
        for change in self.changes:
            out.append(moved(g, <Change>change))
        return out


cdef object remaining(object g, tuple masks):
    """A cotangent with zeros for the overwritten elements."""
    if len(masks) == 1:
        return traced_or_plain("where", (masks[0], g, 0))
    parts = [traced_or_plain("where", (mask, component_of(g, k), 0)) for k, mask in enumerate(masks)]
    return parts[0] + 1j * parts[1]


cdef object moved(object g, Change change):
    """The cotangent of a source, given the cotangent of the array."""
    cdef object total = None
    for component, here, there_component, there in change.moves:
        part = component_of(g, component)
        part = traced_or_plain("reshape", (part, (-1,)))
        if here is not None:
            part = traced_or_plain("getitem", (part, (here,)))
        if there is not None:
            part = put(part, (change.size,), (there,))
        if there_component == 1:
            part = 1j * part
        total = part if total is None else total + part
    return traced_or_plain("reshape", (total, change.shape))


cdef object component_of(object g, object component):
    return g if component is None else traced_or_plain("imag" if component else "real", (g,))


cdef inline Py_ssize_t component_size(int code) noexcept:
    """Size in bytes of a component of a floating-point dtype."""
    return itemsize_at(code) // 2 if letter_at(code) == c"c" else itemsize_at(code)


cdef int replay(History history, Array x, str name, Array overwritten, bint is_result) except -1:
    """
    Update the node of an array whose memory was written through other arrays.

    Writes to exactly the region `overwritten` are skipped, because that region is about to be overwritten again. An array of
    closed tapes is not changed. If it `is_result`, its node is requested after the tapes were closed, and later writes are skipped.
    """
    cdef Node own = node_at(x)
    cdef Write write
    cdef list writes = [], found = []
    cdef int64_t last, seen = s0_peek_long(x.seen), level = level_of(x).serial if x.storage.batched else 0, closed = closing_time(own)
    cdef bint is_now = own is not None and is_any_open(own.tapes)
    cdef Array place
    if own is not None and not is_any_alive(own.tapes):
        own = None
    with cython.critical_section(history):
        last = history.last
        for write in reversed(history.writes):
            if write.time <= seen:
                break
            writes.append(write)
        for item in sorted(history.folded.items()):
            if (<Folded>item[1]).last > seen:
                found.append(item)
    if last <= seen:
        return 0
    if not is_floating(x) or (own is None and not history.has_tracked) or x.size == 0:
        s0_put_long(x.seen, last)
        return 0
    place = outline(x)
    writes = [write for write in reversed(writes) if (overwritten is None or not is_region(write, overwritten)) and touches(write, place)]
    if found:
        import numpy
        found = [item for item in found if were_written(numpy, <Folded>item[1], memory_of(x.storage), place, seen, last)]
    if writes or found:
        for source in [(<Write>item).source for item in writes] + [source for item in found for source in (<Folded>item[1]).sources]:
            if source is not None:
                is_now = is_now or is_any_open((<Source>source).node.tapes)
                closed = max(closed, closing_time((<Source>source).node))
        if is_now:
            closed = last
        elif is_result:
            writes = [write for write in writes if (<Write>write).time <= closed]
        else:
            # A closed tape may be reopened (`reopen`), and must then find the array stale.
            if own is None:
                s0_put_long(x.seen, last)
            return 0
        import numpy
        with cython.critical_section(history):
            change_node(numpy, x, own, place, level, seen, closed, writes, found, name)
        last = max(seen, min(last, closed))
    s0_put_long(x.seen, last)
    return 0


cdef int64_t closing_time(Node node) noexcept:
    """The number of the last write before the last tape of a node was closed."""
    cdef int64_t found = 0
    cdef Py_ssize_t i
    if node is not None:
        for i in range(len(node.tapes)):
            found = max(found, (<State>node.tapes[i]).closed)
    return found


cdef bint is_any_alive(tuple tapes) noexcept:
    cdef Py_ssize_t i
    for i in range(len(tapes)):
        if (<State>tapes[i]).alive:
            return True
    return False


cdef bint were_written(object numpy, Folded folded, Storage storage, Array place, int64_t after, int64_t until) except -1:
    """Whether a write with a number in (`after`, `until`] that is no longer in the list overwrote elements of an array."""
    if place.c_contiguous:
        first = (place.address - storage.data) // GRANULE
        times = folded.times[first:first + (place.size * itemsize_at(place.code) + GRANULE - 1) // GRANULE]
    else:
        times = folded.times[(granules(numpy, place, None, GRANULE) - <int64_t>storage.data) // GRANULE]
    return bool(((times > after) & (times <= until)).any())


cdef int change_node(object numpy, Array x, Node own, Array place, int64_t level, int64_t seen, int64_t until, list writes, list found, str name) except -1:
    """Give x a node that depends on its previous node and on the values written after `seen`; no node if these are not tracked."""
    cdef uintptr_t low, high
    cdef Py_ssize_t unit = component_size(x.code), components = itemsize_at(x.code) // unit, batch = place.size // x.size
    cdef Write write
    cdef Folded folded
    cdef list sources = [None, None]     # the previous value, constants, then the written arrays
    cdef Storage storage = memory_of(x.storage)
    cdef str where = ""
    cdef bint is_own
    reach_of(place, &low, &high)
    # The index of the source of each component between the first and the last byte of x.
    owners = numpy.zeros(<Py_ssize_t>(high - low) // unit, dtype=numpy.int32)
    for number, item in found:
        folded, is_own = <Folded>item, number == level
        where = folded.where
        if not is_own and has_seen(folded.sources, level):
            refuse_stale(x, name, where)
        if not is_own and number != 0:
            continue
        first, step = <Py_ssize_t>(low - <uintptr_t>storage.data) // GRANULE, unit // GRANULE
        times = folded.times[first:][:len(owners) * step:step]
        written = (times > seen) & (times <= until)
        check_missed(own, times[written], x, name, where)
        # Only the sources of these elements, because an array may have thousands.
        used, which = numpy.unique(folded.owners[first:][:len(owners) * step:step], return_inverse=True)
        mapped = [number_of(sources, folded.sources[k]) if is_own and k else 1 for k in used]
        owners = numpy.where(written, numpy.asarray(mapped, dtype=numpy.int32)[which], owners)
    for write in writes:
        is_own, where = write.level == level, write.where
        if not is_own and has_seen([write.source], level):
            refuse_stale(x, name, where)
        if not is_own and write.level != 0:
            continue
        if unit != component_size(write.place.code):
            refuse_stale(x, name, where)
        check_missed(own, numpy.asarray([write.time]), x, name, where)
        at = (granules(numpy, write.place, write.key, unit) - <int64_t>low) // unit
        owners[at[(at >= 0) & (at < len(owners))]] = number_of(sources, write.source if is_own else None)
    if own is None and len(sources) == 2:
        # For this level the elements are constants; tapes of other levels track the examples.
        set_node(x, None)
        return 0
    mine = (granules(numpy, place, None, unit) - <int64_t>low) // unit
    which = owners[mine].reshape(batch, x.size, components)
    if not which.any():
        return 0
    if not (which == which[0]).all() or not build_replay(numpy, x, own, place, sources, which[0], mine.reshape(batch, -1), low, unit):
        refuse_stale(x, name, where)
    return 0


cdef bint has_seen(list sources, int64_t level) except -1:
    """Whether a tape that records reads of an array of this level has seen a source of another level: then the derivative is not known."""
    cdef Source source
    cdef State state
    for source in sources:
        if source is not None:
            for state in source.node.tapes:
                if is_seen(state) and state.serial > level:
                    return True
    return False


cdef int number_of(list sources, Source source) except -1:
    """The index of a source; 1 for a constant."""
    if source is None or not is_any_alive(source.node.tapes):
        return 1
    for k in range(2, len(sources)):
        if sources[k] is source:
            return k
    sources.append(source)
    return len(sources) - 1


cdef int check_missed(Node own, object times, Array x, str name, str where) except -1:
    """Refuse writes that happened while a reopened tape was closed: the tape recorded other values."""
    cdef State state
    if own is not None:
        for state in own.tapes:
            if state.open and bool(((times > state.missed) & (times <= state.reopened)).any()):
                refuse_stale(x, name, where)
    return 0


cdef bint build_replay(object numpy, Array x, Node own, Array place, list sources, object which, object mine, uintptr_t low, Py_ssize_t unit) except -1:
    """
    Make the node. `which` has the index of the source of each component of the elements of x; `mine` has the components' positions, one
    row per example.

    False if there is no node: examples differ, or the written elements are not known.
    """
    cdef Replay pull = Replay()
    cdef Source source
    cdef Node node, parent
    cdef list parents = []
    cdef Py_ssize_t components = which.shape[1], c, k
    flat = which.reshape(-1)
    # The components of x, grouped by source, in their order.
    order = numpy.argsort(flat, kind="stable")
    used, first = numpy.unique(flat[order], return_index=True)
    pull.changes = []
    if own is not None and used[0] == 0:
        parents.append(own)
        pull.masks = tuple([asarray((which[:, c] == 0).reshape(shape_tuple(x))) for c in range(components)])
        if components == 2 and bool((which[:, 0] == which[:, 1]).all()):
            pull.masks = pull.masks[:1]
    for k, chosen in zip(used, numpy.split(order, first[1:])):
        if k < 2:
            continue
        source = <Source>sources[k]
        if source.place.code == place.code and source.lead == place.ndim - x.ndim and len(used) == 1 and is_same_place(source.place, place):
            set_node(x, source.node)
            return True
        if not source.exact or component_size(source.place.code) != unit or source.lead != place.ndim - x.ndim:
            return False
        pull.changes.append(change_of(numpy, source, chosen, mine[:, chosen], low, unit, components, x.size))
        if pull.changes[len(pull.changes) - 1] is None:
            return False
        parents.append(source.node)
    if not parents:
        set_node(x, None)
        return True
    node = new_node(None)
    for parent in parents:
        node.tapes = alive_tapes(node.tapes, parent.tapes)
    for parent in parents:
        add_edge(node, parent, -1, -1)
    node.pull = pull
    describe(node, x)
    set_node(x, node)
    return True


cdef tuple alive_tapes(tuple ours, tuple others):
    """All tapes of two nodes, including closed ones, which may be reopened."""
    for tape in others:
        if (<State>tape).alive and tape not in ours:
            ours += (tape,)
    return ours


cdef Change change_of(object numpy, Source source, object chosen, object mine, uintptr_t low, Py_ssize_t unit, Py_ssize_t components, Py_ssize_t size):
    """A `Change` that maps the cotangent of the chosen components, at these positions in each example, to the cotangent of a source; None if examples differ."""
    cdef Change change = Change()
    cdef Py_ssize_t count = itemsize_at(source.place.code) // unit, c, d
    change.shape = shape_tuple(source.place)[source.lead:]
    change.size = source.place.size // mine.shape[0]
    change.moves = []
    # The number of the source's component at each position.
    at = (granules(numpy, source.place, None, unit) - <int64_t>low) // unit
    begin = at.min()
    inverse = numpy.full(at.max() - begin + 1, -1, dtype=numpy.int64)
    inverse[at - begin] = numpy.arange(len(at))
    if bool((mine < begin).any()) or bool((mine >= begin + len(inverse)).any()):
        return None
    there = inverse[mine - begin] - numpy.arange(mine.shape[0]).reshape(-1, 1) * (change.size * count)
    if bool((there != there[0]).any()) or bool((there[0] < 0).any()) or bool((there[0] >= change.size * count).any()):
        return None
    there, here = there[0], chosen
    if components == 2 == count and len(here) % 2 == 0 and bool((here[::2] % 2 == 0).all()) and bool((here[1::2] == here[::2] + 1).all()):
        add_move(numpy, change, None, here[::2] // 2, None, there[::2] // 2, size)
        return change
    for c in range(components):
        for d in range(count):
            part = (here % components == c) & (there % count == d)
            add_move(numpy, change, c if components == 2 else None, here[part] // components, d if count == 2 else None, there[part] // count, size)
    return change


cdef int add_move(object numpy, Change change, object component, object here, object there_component, object there, Py_ssize_t size) except -1:
    if len(here):
        change.moves.append((component, key_of(numpy, here, size), there_component, key_of(numpy, there, change.size)))
    return 0


cdef object key_of(object numpy, object indices, Py_ssize_t size):
    """A key for these elements among `size`: None for all elements in order, a slice if they are equidistant."""
    cdef Py_ssize_t first = indices[0], step = indices[1] - first if len(indices) > 1 else 1, stop
    if step and bool((numpy.diff(indices) == step).all()):
        stop = first + step * len(indices)
        return None if step == 1 and len(indices) == size else slice(first, None if stop < 0 else stop, step)
    return asarray(indices)


def written_at(Array x not None):
    """The line that last wrote to an array, if a write determined its node or removed it; otherwise None."""
    cdef History history = history_of(x.storage)
    cdef Node node = node_at(x)
    cdef Write write
    cdef Folded folded
    cdef Array place
    cdef list writes, found
    cdef bint is_from_write = node is None or type(node.pull) is Replay
    cdef object where = None
    if history is None:
        return None
    with cython.critical_section(history):
        writes, found = list(history.writes), list(history.folded.values())
    place = outline(x)
    for write in reversed(writes):
        is_from_write = is_from_write or is_node_of(write.source, node)
        if where is None and touches(write, place):
            where = write.where
    for folded in found:
        for source in folded.sources:
            is_from_write = is_from_write or is_node_of(<Source>source, node)
        if where is None:
            import numpy
            if were_written(numpy, folded, memory_of(x.storage), place, 0, folded.last):
                where = folded.where
    return where if is_from_write else None


cdef inline bint is_node_of(Source source, Node node):
    return source is not None and source.node is node
