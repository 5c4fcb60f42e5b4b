# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Reference-counted memory: what arrays are views of.

Note [Small blocks]
    The smallest arrays cost more in malloc and free than in arithmetic. Freed blocks of up to
    BINS times 64 bytes wait in a stack per size, at most KEPT of each, for the next array of that size.

Note [Cached blocks]
    A fresh block costs a page fault per page, which for a large result is more than the arithmetic; so freed
    blocks above the small ones wait too, in classes of size (eight to each power of two), youngest first. They
    are also in one of three queues by age. *Soft* blocks are large, and their pages have been offered to the
    system, which takes them back when it is short of memory, even for other processes. *Warm* ones are as large, but
    waited for less long: the offer makes the next writing to a block a quarter slower, and most are wanted again
    at once. What does not fit among the warm ones becomes soft, oldest first. All others are *firm*. What no longer
    fits the limits, or has waited for longer than `patience`, goes back to the system, oldest first. That is looked
    after whenever a block above the small ones is allocated or freed; there is no thread of ours.

    All of this is touched only with the interpreter's lock held, so it needs no lock of its own, and
    os.fork, which takes the interpreter's lock, never finds it half changed.
"""

cimport cython
from libc.stdint cimport int64_t, uintptr_t
from libc.string cimport memset

import os

cdef enum:
    LINE = 64
    BINS = 32  # blocks of 1 to 32 times 64 bytes
    KEPT = 32
    FIRST = 11  # the smallest class begins above 2**11 bytes, where the small blocks end
    CLASSES = 8 * 29  # up to 2**40 bytes; larger blocks do not wait
    NODES = 1024  # blocks that wait at most
    NONE = -1
    FIRM = 0
    WARM = 1
    SOFT = 2
    QUEUES = 3
    LAZY = 1 << 23  # bytes from which pages may be offered to the system, and zeros are fresh pages

cdef extern from "blocks.h":
    bint s0_is_mapped(size_t size) noexcept nogil
    bint s0_has_huge_pages() noexcept nogil
    size_t s0_alignment(size_t size) noexcept nogil
    size_t s0_extent(size_t size) noexcept nogil
    void* s0_obtain(size_t size, bint zeroed) noexcept nogil
    void s0_release(void* block, size_t size) noexcept nogil
    void s0_offer(void* block, size_t size) noexcept nogil
    bint s0_forget(void* block, size_t size) noexcept nogil
    int s0_highest_bit(unsigned long long n) noexcept nogil
    int64_t s0_now() noexcept nogil

cdef struct Node:
    # A block that waits; or a node that no block needs, with the next of these in `below`.
    void* block
    Py_ssize_t size
    int64_t since
    int above, below  # in its class: freed later, freed earlier
    int younger, older  # in its queue
    int group, queue

cdef struct Queue:
    int youngest, oldest
    Py_ssize_t nbytes

cdef void* waiting[BINS][KEPT]
cdef int count[BINS]
cdef int kept = KEPT
cdef Node nodes[NODES]
cdef int spare = NONE
cdef int top[CLASSES]
cdef Queue queues[QUEUES]
cdef Py_ssize_t limit, firm_limit, warm_limit
cdef bint softens = s0_has_huge_pages()
cdef int64_t patience = 10000  # milliseconds

cdef Py_ssize_t live_bytes = 0
cdef Py_ssize_t peak_bytes = 0
cdef Py_ssize_t allocations = 0
cdef Py_ssize_t reused = 0


# --- the blocks that wait: Note [Cached blocks]


cdef void start() noexcept:
    """No block waits."""
    global spare
    cdef int k
    for k in range(CLASSES):
        top[k] = NONE
    for k in range(NODES):
        nodes[k].below = k + 1 if k + 1 < NODES else NONE
    spare = 0
    for k in range(QUEUES):
        queues[k].youngest = queues[k].oldest = NONE
        queues[k].nbytes = 0


cdef int class_of(Py_ssize_t* size) noexcept:
    """The class of blocks of a size above the small ones, which is rounded up to what the class has; NONE above all."""
    cdef int power = s0_highest_bit(size[0] - 1)
    cdef Py_ssize_t base = <Py_ssize_t>1 << power, step = base >> 3, part = (size[0] - 1 - base) // step
    cdef Py_ssize_t group = (power - FIRST) * 8 + part
    if group >= CLASSES:
        return NONE
    size[0] = base + (part + 1) * step
    return <int>group


cdef void enqueue(int k, int which) noexcept:
    """Make a node the youngest one of a queue."""
    cdef Node* node = &nodes[k]
    cdef Queue* queue = &queues[which]
    node.queue, node.younger, node.older = which, NONE, queue.youngest
    if node.older == NONE:
        queue.oldest = k
    else:
        nodes[node.older].younger = k
    queue.youngest = k
    queue.nbytes += node.size


cdef void dequeue(int k) noexcept:
    cdef Node* node = &nodes[k]
    cdef Queue* queue = &queues[node.queue]
    if node.younger == NONE:
        queue.youngest = node.older
    else:
        nodes[node.younger].older = node.older
    if node.older == NONE:
        queue.oldest = node.younger
    else:
        nodes[node.older].younger = node.younger
    queue.nbytes -= node.size


cdef void* unlink(int k) noexcept:
    """Take a node out of its class and its queue; its block is the caller's."""
    global spare
    cdef Node* node = &nodes[k]
    if node.above == NONE:
        top[node.group] = node.below
    else:
        nodes[node.above].below = node.below
    if node.below != NONE:
        nodes[node.below].above = node.above
    dequeue(k)
    node.below = spare
    spare = k
    return node.block


cdef bint may_soften(Py_ssize_t size) noexcept:
    # Without huge pages the offer would cost as much as writing to the block, so none is made.
    return softens and size >= LAZY


cdef void soften(int k) noexcept:
    """Offer the pages of a warm block to the system."""
    s0_offer(nodes[k].block, nodes[k].size)
    dequeue(k)
    enqueue(k, SOFT)


cdef void drop(int k) noexcept:
    """Give a block back to the system."""
    cdef Py_ssize_t size = nodes[k].size
    s0_release(unlink(k), size)


cdef Py_ssize_t waiting_bytes() noexcept:
    cdef Py_ssize_t total = 0
    cdef int which
    for which in range(QUEUES):
        total += queues[which].nbytes
    return total


cdef int eldest() noexcept:
    """The node that has waited longest of all."""
    cdef int which, k, found = NONE
    for which in range(QUEUES):
        k = queues[which].oldest
        if k != NONE and (found == NONE or nodes[k].since < nodes[found].since):
            found = k
    return found


cdef void trim(int64_t now) noexcept:
    """Offer or give back what is over the limits, give back what has waited too long."""
    cdef int k
    while queues[FIRM].nbytes > firm_limit:
        drop(queues[FIRM].oldest)
    while queues[WARM].nbytes > warm_limit:
        soften(queues[WARM].oldest)
    while waiting_bytes() > limit:
        drop(eldest())
    while True:
        k = eldest()
        if k == NONE or now - nodes[k].since < patience:
            break
        drop(k)


cdef void* take(Py_ssize_t size, int group, bint zeroed) noexcept:
    """A block that has waited; NULL where there is none of the class."""
    global reused
    cdef void* block
    if top[group] == NONE:
        return NULL
    block = unlink(top[group])
    reused += 1
    # Pages that nobody has touched yet cost nothing; below LAZY, clearing the old ones is soon done.
    if zeroed and not (size >= LAZY and s0_is_mapped(size) and s0_forget(block, size)):
        memset(block, 0, s0_extent(size))
    return block


cdef void put(void* block, Py_ssize_t size) noexcept:
    """Let a freed block wait, or give it back where it may not."""
    global spare
    cdef Py_ssize_t same = size
    cdef int k, group = class_of(&same), which = WARM if may_soften(size) else FIRM
    cdef Node* node
    cdef int64_t now = s0_now()
    if group == NONE or size > (limit if which == WARM else firm_limit):
        s0_release(block, size)
        trim(now)
        return
    if spare == NONE:
        drop(eldest())
    k = spare
    node = &nodes[k]
    spare = node.below
    node.block, node.size, node.since, node.group = block, size, now, group
    node.above, node.below = NONE, top[group]
    if node.below != NONE:
        nodes[node.below].above = k
    top[group] = k
    enqueue(k, which)
    trim(now)


cdef void drop_all() noexcept:
    cdef int k, bin
    while True:
        k = eldest()
        if k == NONE:
            break
        drop(k)
    for bin in range(BINS):
        while count[bin] > 0:
            count[bin] -= 1
            s0_release(waiting[bin][count[bin]], (bin + 1) * LINE)


cdef void* large_block(Py_ssize_t* size, bint zeroed) noexcept:
    """A block above the small ones; its size is rounded up. NULL where there is no memory."""
    cdef int group = class_of(size)
    cdef void* block = NULL
    if group == NONE:
        size[0] = (size[0] + 4095) & ~<Py_ssize_t>4095
    else:
        block = take(size[0], group, zeroed)
        trim(s0_now())
    if block is NULL:
        block = s0_obtain(size[0], zeroed)
    return block


# --- storages


# Without the garbage collector, as arrays are: small results are made by the million.
@cython.final
@cython.no_gc
@cython.freelist(64)
cdef class Storage:
    """A block of memory, of our own or kept alive by the object that lent it."""

    def __dealloc__(self):
        global live_bytes
        if self.block is NULL:
            return
        live_bytes -= self.nbytes
        if self.room:
            put(self.block, self.room)
        elif count[self.bin] < kept:
            waiting[self.bin][count[self.bin]] = self.block
            count[self.bin] += 1
        else:
            s0_release(self.block, (self.bin + 1) * LINE)


cdef Storage allocate_storage(Py_ssize_t nbytes, bint zeroed):
    """Memory of our own, which begins where its size says (`s0_alignment`); MemoryError where there is none."""
    global live_bytes, peak_bytes, allocations, reused
    cdef Storage storage = Storage.__new__(Storage)
    cdef Py_ssize_t size = nbytes
    cdef size_t alignment
    cdef int bin
    cdef void* block = NULL
    if nbytes <= BINS * LINE:
        bin = <int>((nbytes - 1) // LINE) if nbytes else 0
        size = (bin + 1) * LINE
        storage.bin = bin
        if count[bin] > 0:
            count[bin] -= 1
            reused += 1
            block = waiting[bin][count[bin]]
            if zeroed:
                memset(block, 0, s0_extent(size))
        else:
            block = s0_obtain(size, zeroed)
    else:
        block = large_block(&size, zeroed)
        storage.room = size
    if block is NULL:
        # What waits may be what is missing.
        drop_all()
        block = s0_obtain(size, zeroed)
        if block is NULL:
            raise MemoryError(f"allocate: no memory for an array of {nbytes} bytes")
    storage.block = block
    alignment = s0_alignment(size)
    storage.data = <char*>((<uintptr_t>block + alignment - 1) & ~<uintptr_t>(alignment - 1))
    storage.nbytes = nbytes
    allocations += 1
    live_bytes += nbytes
    if live_bytes > peak_bytes:
        peak_bytes = live_bytes
    return storage


cdef Storage foreign_storage(char* data, Py_ssize_t nbytes, object owner, bint readonly):
    """Memory of another library, alive as long as `owner`."""
    cdef Storage storage = Storage.__new__(Storage)
    storage.block = NULL
    storage.data = data
    storage.nbytes = nbytes
    storage.owner = owner
    storage.readonly = readonly
    return storage


# --- what `stride0.memory` is made of


def memory_statistics(*, bint reset_peak=False):
    """
    Bytes that arrays own now and owned at most, and the number of allocations so far.

    Parameters
    ----------
    reset_peak : bool
        Start a new peak from what is owned now, after reading the old one.

    Returns
    -------
    dict
        ``live_bytes``, ``peak_bytes``, ``allocations``.
    """
    global peak_bytes
    found = {"live_bytes": live_bytes, "peak_bytes": peak_bytes, "allocations": allocations}
    if reset_peak:
        peak_bytes = live_bytes
    return found


def cache_statistics():
    """What waits: blocks, their bytes, those of them that the system may take; and allocations that were served by it."""
    cdef Py_ssize_t blocks = 0, small = 0
    cdef int k
    for k in range(BINS):
        blocks += count[k]
        small += count[k] * (k + 1) * LINE
    for queue in queues:
        k = queue.oldest
        while k != NONE:
            blocks += 1
            k = nodes[k].younger
    return {
        "reused": reused, "cached_blocks": blocks, "cached_bytes": small + waiting_bytes(),
        "offered_bytes": queues[SOFT].nbytes, "limit": limit,
    }


def empty_cache():
    """Give every block that waits back to the system."""
    drop_all()


def memory_of_machine(str root="/"):
    """
    Bytes of memory that this process may use: the machine's, or less where a control group says so.

    `root` is where the file system begins; tests make one of their own.
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
    """Files that may say how much memory this process's control groups have, from within a container too."""
    try:
        with open(os.path.join(root, "proc/self/cgroup"), encoding="utf-8") as file:
            lines = [line.strip().split(":", 2) for line in file]
    except (OSError, ValueError):
        return []
    out = []
    for line in lines:
        if len(line) != 3 or (line[1] and "memory" not in line[1].split(",")):
            continue
        # The second version of control groups has one tree without a name, the first one for each resource.
        tree = os.path.join(root, "sys/fs/cgroup/memory" if line[1] else "sys/fs/cgroup")
        name = "memory.limit_in_bytes" if line[1] else "memory.max"
        part = line[2].strip("/")
        while part:
            out.append(os.path.join(tree, part, name))
            part = part.rpartition("/")[0]
        out.append(os.path.join(tree, name))
    return out


def set_cache_limit(bound=None):
    """Bytes that may wait; None sets the default: an eighth of the memory, an eighth of that for firm blocks."""
    global limit, firm_limit, warm_limit, kept
    limit = memory_of_machine() // 8 if bound is None else bound
    # A system with huge pages takes soft blocks when it needs them. The others are ours until we give them back.
    firm_limit = limit // 8 if bound is None else limit
    warm_limit = limit // 8
    kept = KEPT if limit else 0
    if not limit:
        drop_all()
    trim(s0_now())


def set_patience(long long milliseconds):
    """How long a block may wait, looked at whenever a larger block is allocated or freed; for tests."""
    global patience
    patience = milliseconds


cdef object limit_of_environment():
    wanted = os.environ.get("STRIDE0_CACHE_LIMIT")
    if not wanted:
        return None
    if not wanted.isdecimal() or int(wanted) >= 1 << 62:
        raise ImportError(f"STRIDE0_CACHE_LIMIT: {wanted!r} is no number of bytes")
    return int(wanted)


start()
set_cache_limit(limit_of_environment())
# A child would keep pages of its parent's from being written to in place.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=empty_cache)
