# Statistics and limits, for `stride0.memory`.


def memory_statistics(*, bint reset_peak=False):
    """
    Bytes that arrays own now, the most they have owned, and the number of allocations so far.

    Parameters
    ----------
    reset_peak : bool
        Restart the peak from the bytes owned now, after reading it.

    Returns
    -------
    dict
        ``live_bytes``, ``peak_bytes``, ``allocations``.

    Examples
    --------
    >>> before = xp.strided.memory_statistics()
    >>> x = xp.zeros(1000)
    >>> y = x[:10]
    >>> xp.strided.memory_statistics()["live_bytes"] - before["live_bytes"]
    8000
    """
    cdef s0_stacks found = counted(reset_peak)
    return {"live_bytes": found.live, "peak_bytes": found.most, "allocations": found.allocations}


cdef s0_stacks counted(bint reset_peak) noexcept:
    """The sums of all threads' counters; `count[0]` and `kept[0].size` are the number and bytes of blocks that threads keep."""
    cdef s0_stacks found
    cdef s0_stacks* one
    cdef int bin, count, k
    s0_acquire_cache()
    found = s0_totals
    found.most = 0
    one = s0_first_stacks()
    while one is not NULL:
        found.live += s0_peek(one.live)
        found.most += s0_peek(one.most)
        found.allocations += s0_peek(one.allocations)
        found.reused += s0_peek(one.reused)
        for bin in range(BINS):
            count = s0_peek_int(one.count[bin])
            found.count[0] += count
            found.kept[0].size += count * (bin + 1) * UNIT
        for k in range(KEPT):
            if s0_peek_pointer(one.kept[k].block) is not NULL:
                found.count[0] += 1
                found.kept[0].size += s0_peek(one.kept[k].size)
        if reset_peak:
            s0_put(one.most, s0_peek(one.live))
        one = one.next
    found.most = max(s0_totals.most, s0_totals.live + found.most)
    if reset_peak:
        s0_totals.most = 0
    s0_leave_cache()
    return found


def cache_statistics():
    """The number of cached blocks, their bytes, the reclaimable bytes, and the allocations served from the cache."""
    cdef s0_stacks found = counted(False)
    cdef Py_ssize_t blocks = found.count[0], nbytes, reclaimable
    cdef int which, k
    s0_acquire_cache()
    for which in range(QUEUES):
        k = queues[which].oldest
        while k != NONE:
            blocks += 1
            k = nodes[k].younger
    nbytes, reclaimable = queued_bytes(), queues[RECLAIMABLE].nbytes
    s0_leave_cache()
    return {
        "reused": found.reused, "cached_blocks": blocks, "cached_bytes": found.kept[0].size + nbytes,
        "offered_bytes": reclaimable, "limit": <Py_ssize_t>limit,
    }


# Functions that free the arrays that other modules keep between calls.
cdef list EMPTYING = []


def when_emptied(function):
    """Register a function that frees arrays kept between calls; `empty_cache` calls it before it frees blocks."""
    EMPTYING.append(function)


def empty_cache():
    """
    Give every cached block back to the system, and the tables of Fourier transforms.

    The tables are up to 32 MiB of roots of unity, which transforms of the same lengths reuse. NumPy's own tables remain.

    Examples
    --------
    >>> x = xp.zeros(1_000_000)
    >>> del x
    >>> xp.memory.empty_cache()
    >>> xp.memory.stats()["cached_bytes"]
    0
    """
    for function in EMPTYING:
        function()
    drop_all()


def empty_after_fork():
    """For a forked process: free the parent's cached blocks, and the stacks of threads that no longer exist."""
    s0_after_fork_stacks()
    drop_all()


def memory_of_machine(str root="/"):
    """
    Bytes of memory that this process may use: the machine's, or the limit of a control group.

    `root` is the root of the file system; tests pass a folder.
    """
    try:
        found = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        found = 1 << 32
    for path in control_files(root):
        try:
            with open(path, encoding="ascii") as file:
                text = file.read().strip()
        except (OSError, ValueError):
            continue
        if text.isdecimal():  # "max" is no limit
            found = min(found, int(text))
    return found


cdef list control_files(str root):
    """Files that may hold the memory limits of this process's control groups, also within a container."""
    try:
        with open(os.path.join(root, "proc/self/cgroup"), encoding="utf-8") as file:
            lines = [line.strip().split(":", 2) for line in file]
    except (OSError, ValueError):
        return []
    out = []
    for line in lines:
        if len(line) != 3 or (line[1] and "memory" not in line[1].split(",")):
            continue
        # Version 2 of control groups has one unnamed tree, version 1 has a tree per resource.
        tree = os.path.join(root, "sys/fs/cgroup/memory" if line[1] else "sys/fs/cgroup")
        name = "memory.limit_in_bytes" if line[1] else "memory.max"
        group = line[2].strip("/")
        while group:
            out.append(os.path.join(tree, group, name))
            group = group.rpartition("/")[0]
        out.append(os.path.join(tree, name))
    return out


def set_cache_limit(bound=None):
    """Limit the cached bytes. None sets the default: 1/8 of the memory, of which medium blocks may take 1/8."""
    global limit, medium_limit, large_limit, stack_limit
    cdef Py_ssize_t most = memory_of_machine() // 8 if bound is None else bound
    limit = most
    # The system takes reclaimable blocks when it needs them. Other cached blocks remain ours until we give them back.
    medium_limit = most // 8 if bound is None else most
    large_limit = most // 8
    stack_limit = STACK_DEPTH if most else 0
    if not most:
        drop_all()
    s0_acquire_cache()
    trim(s0_milliseconds())
    s0_leave_cache()


def set_idle_limit(long long milliseconds):
    """Set how long a block stays cached, checked when a block above the small ones is allocated or freed; for tests."""
    global idle_limit
    idle_limit = milliseconds


initialize()
set_cache_limit(read_number("STRIDE0_CACHE_LIMIT", "number of bytes", 0, (1 << 62) - 1, 1 << 30))
# A block cached in both processes is copied page by page when the parent writes to it.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=empty_after_fork)
