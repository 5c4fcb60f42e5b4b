"""Reference-counted memory that arrays are views of.

Note [Small blocks]
    For the smallest arrays malloc and free cost more than the arithmetic. Freed blocks of up to BINS times 64 bytes are
    cached in one stack per size, at most STACK_DEPTH in each, for the next array of that size.

Note [Cached blocks]
    A fresh block costs a page fault per page, which for a large result is more than the arithmetic. So freed blocks
    above the small ones are cached too, in size classes (eight to each power of two), youngest first. They are also in
    one of three queues by age. *Reclaimable* blocks are marked MADV_FREE: the system takes their pages when it is short
    of memory, even for other processes. *Large* blocks may be marked later: MADV_FREE makes the next write to a block
    25 % slower, and most blocks are reused at once. If large blocks exceed their limit, the oldest become reclaimable.
    All others are *medium*. Blocks go back to the system, oldest first, if they exceed a limit, if they have been idle
    for longer than `idle_limit`, or if there are more than NODES. This is checked whenever a block above the small ones
    is allocated or freed; no thread does it.

    With the GIL all of this is touched only while the GIL is held, and os.fork, which takes the GIL, never finds it half
    changed. In a free-threaded interpreter each thread caches its own small blocks, and one lock protects all others;
    os.fork stops the other threads, but never while they hold this lock.
"""

cimport cython
from libc.stdint cimport int64_t, uintptr_t
from libc.string cimport memset

from stride0._core.memory.guards cimport (
    s0_add_own, s0_add_own_int, s0_peek, s0_peek_int, s0_peek_pointer, s0_put, s0_shared_int, s0_shared_long, s0_shared_size,
)

import os

from stride0._base.environment import read_number

cdef enum:
    FIRST = 11  # the smallest class begins above 2**11 bytes, the largest small block
    CLASSES = 8 * 29  # up to 2**40 bytes; larger blocks are not cached
    NODES = 1024  # maximum number of cached blocks
    NONE = -1
    MEDIUM = 0
    LARGE = 1
    RECLAIMABLE = 2
    QUEUES = 3
    LARGE_SIZE = 1 << 23  # minimum size for reclaimable pages, and for zeros by fresh pages

cdef extern from "blocks.h":
    bint s0_is_mapped(size_t size) noexcept nogil
    bint s0_has_huge_pages() noexcept nogil
    size_t s0_alignment(size_t size) noexcept nogil
    size_t s0_extent(size_t size) noexcept nogil
    void* s0_obtain(size_t size, bint zeroed) noexcept nogil
    void s0_release(void* block, size_t size) noexcept nogil
    void s0_make_reclaimable(void* block, size_t size) noexcept nogil
    bint s0_discard(void* block, size_t size) noexcept nogil
    int s0_highest_bit(unsigned long long n) noexcept nogil
    int64_t s0_milliseconds() noexcept nogil

cdef extern from "small_blocks.h":
    enum:
        UNIT "S0_UNIT"
        BINS "S0_BINS"
        STACK_DEPTH "S0_STACK_DEPTH"
        KEPT "S0_KEPT"
        KEPT_SIZE "S0_KEPT_SIZE"
    ctypedef struct s0_kept:
        void* block
        Py_ssize_t size
    ctypedef struct s0_stacks:
        void* blocks[BINS][STACK_DEPTH]
        int count[BINS]
        Py_ssize_t live, most, allocations, reused
        s0_kept kept[KEPT]
        s0_stacks* next
    s0_stacks s0_totals
    s0_stacks* s0_own_stacks() noexcept nogil
    s0_stacks* s0_first_stacks() noexcept nogil
    void s0_add_to_totals(s0_stacks* own) noexcept nogil
    void* s0_take_kept(s0_stacks* own, Py_ssize_t size) noexcept nogil
    bint s0_keep(s0_stacks* own, s0_kept* kept) noexcept nogil
    void s0_empty_all_stacks() noexcept nogil
    void s0_after_fork_stacks() noexcept nogil
    void s0_acquire_cache() noexcept nogil
    void s0_leave_cache() noexcept nogil

cdef struct Node:
    # A cached block; or an unused node, with the next unused one in `below`.
    void* block
    Py_ssize_t size
    int64_t since
    int above, below  # neighbours in its class: freed later, freed earlier
    int younger, older  # neighbours in its queue
    int size_class, queue

cdef struct Queue:
    int youngest, oldest
    Py_ssize_t nbytes

cdef s0_shared_int stack_limit = STACK_DEPTH
cdef Node nodes[NODES]
cdef int unused = NONE
cdef int top[CLASSES]
cdef Queue queues[QUEUES]
cdef s0_shared_size limit, medium_limit, large_limit
cdef bint has_huge_pages = s0_has_huge_pages()
cdef s0_shared_long idle_limit = 10000  # milliseconds


# --- the cached blocks: Note [Cached blocks]. Callers of these functions hold the lock.


cdef void initialize() noexcept:
    """Empty classes and queues."""
    global unused
    cdef int k
    for k in range(CLASSES):
        top[k] = NONE
    for k in range(NODES):
        nodes[k].below = k + 1 if k + 1 < NODES else NONE
    unused = 0
    for k in range(QUEUES):
        queues[k].youngest = queues[k].oldest = NONE
        queues[k].nbytes = 0


cdef int class_of(Py_ssize_t* size) noexcept:
    """The class of a size above the small ones; rounds the size up to the class. NONE above the largest class."""
    cdef int power = s0_highest_bit(size[0] - 1)
    cdef Py_ssize_t base = <Py_ssize_t>1 << power, width = base >> 3, eighth = (size[0] - 1 - base) // width
    cdef Py_ssize_t found = (power - FIRST) * 8 + eighth
    if found >= CLASSES:
        return NONE
    size[0] = base + (eighth + 1) * width
    return <int>found


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
    """Remove a node from its class and its queue; the caller owns its block."""
    global unused
    cdef Node* node = &nodes[k]
    if node.above == NONE:
        top[node.size_class] = node.below
    else:
        nodes[node.above].below = node.below
    if node.below != NONE:
        nodes[node.below].above = node.above
    dequeue(k)
    node.below = unused
    unused = k
    return node.block


cdef bint may_be_reclaimable(Py_ssize_t size) noexcept:
    # Without huge pages, madvise costs as much as writing to the block.
    return has_huge_pages and size >= LARGE_SIZE


cdef void make_reclaimable(int k) noexcept:
    """Make the pages of a large block reclaimable."""
    s0_make_reclaimable(nodes[k].block, nodes[k].size)
    dequeue(k)
    enqueue(k, RECLAIMABLE)


cdef void drop(int k) noexcept:
    """Give a block back to the system."""
    cdef Py_ssize_t size = nodes[k].size
    s0_release(unlink(k), size)


cdef Py_ssize_t queued_bytes() noexcept:
    cdef Py_ssize_t total = 0
    cdef int which
    for which in range(QUEUES):
        total += queues[which].nbytes
    return total


cdef int oldest_node() noexcept:
    """The node that has been idle longest."""
    cdef int which, k, found = NONE
    for which in range(QUEUES):
        k = queues[which].oldest
        if k != NONE and (found == NONE or nodes[k].since < nodes[found].since):
            found = k
    return found


cdef void trim(int64_t now) noexcept:
    """Make blocks above the limits reclaimable or give them back; give back blocks that have been idle too long."""
    cdef int k
    while queues[MEDIUM].nbytes > medium_limit:
        drop(queues[MEDIUM].oldest)
    while queues[LARGE].nbytes > large_limit:
        make_reclaimable(queues[LARGE].oldest)
    while queued_bytes() > limit:
        drop(oldest_node())
    while True:
        k = oldest_node()
        if k == NONE or now - nodes[k].since < idle_limit:
            break
        drop(k)


cdef void* take(int size_class) noexcept:
    """A cached block; NULL if the cache has no block of the class."""
    return NULL if top[size_class] == NONE else unlink(top[size_class])


cdef void put(void* block, Py_ssize_t size) noexcept:
    """Cache a freed block, or give it back if the limits require it."""
    global unused
    cdef Py_ssize_t same = size
    cdef int k, size_class = class_of(&same), which = LARGE if may_be_reclaimable(size) else MEDIUM
    cdef Node* node
    cdef int64_t now = s0_milliseconds()
    if size_class == NONE or size > (limit if which == LARGE else medium_limit):
        s0_release(block, size)
        trim(now)
        return
    if unused == NONE:
        drop(oldest_node())
    k = unused
    node = &nodes[k]
    unused = node.below
    node.block, node.size, node.since, node.size_class = block, size, now, size_class
    node.above, node.below = NONE, top[size_class]
    if node.below != NONE:
        nodes[node.below].above = k
    top[size_class] = k
    enqueue(k, which)
    trim(now)


cdef void drop_all() noexcept:
    """Give all blocks back. Other threads give back their small ones when they next use one."""
    cdef int k
    s0_acquire_cache()
    while True:
        k = oldest_node()
        if k == NONE:
            break
        drop(k)
    s0_leave_cache()
    s0_empty_all_stacks()


cdef void* large_block(Py_ssize_t* size, bint zeroed, s0_stacks* own) noexcept:
    """A block above the small ones; rounds the size up. NULL if there is no memory."""
    cdef int size_class = class_of(size)
    cdef void* block = NULL
    if size_class == NONE:
        size[0] = (size[0] + 4095) & ~<Py_ssize_t>4095
    else:
        block = s0_take_kept(own, size[0])
        if block is NULL:
            s0_acquire_cache()
            block = take(size_class)
            trim(s0_milliseconds())
            s0_leave_cache()
    if block is not NULL:
        s0_add_own(own.reused, 1)
        # Fresh pages are zero and cost nothing until they are touched; below LARGE_SIZE, memset is cheaper.
        if zeroed and not (size[0] >= LARGE_SIZE and s0_is_mapped(size[0]) and s0_discard(block, size[0])):
            memset(block, 0, s0_extent(size[0]))
    if block is NULL:
        block = s0_obtain(size[0], zeroed)
    return block


# --- storages


# No garbage collection, as for arrays: programs create millions of small results.
@cython.final
@cython.no_gc
@cython.freelist(64)
cdef class Storage:
    """A block of memory, of our own or of another library, kept alive by the object that exported it."""


cdef extern from "release.h":
    void s0_set_release(object type, void* release)


cdef void release_memory(Storage self) noexcept:
    """Give the block of a storage that is freed back, or forget the step that would have computed its elements."""
    cdef s0_stacks* own
    cdef s0_kept freed
    if self.block is NULL:
        if self.pending is not None:
            forget(self)
        return
    own = s0_own_stacks()
    if own is not NULL:
        s0_add_own(own.live, -self.nbytes)
        s0_add_to_totals(own)
    if self.capacity:
        freed.block, freed.size = self.block, self.capacity
        if own is NULL or freed.size > KEPT_SIZE or stack_limit == 0 or s0_keep(own, &freed):
            s0_acquire_cache()
            put(freed.block, freed.size)
            s0_leave_cache()
    elif own is not NULL and own.count[self.bin] < stack_limit:
        own.blocks[self.bin][own.count[self.bin]] = self.block
        s0_add_own_int(own.count[self.bin], 1)
    else:
        s0_release(self.block, (self.bin + 1) * UNIT)


s0_set_release(Storage, <void*>release_memory)

cdef void (*forget)(Storage storage) noexcept


cdef void set_forget(void (*function)(Storage storage) noexcept) noexcept:
    global forget
    forget = function


cdef Storage allocate_storage(Py_ssize_t nbytes, bint zeroed):
    """A storage with memory of our own, aligned by its size (`s0_alignment`); MemoryError if that fails."""
    cdef Storage storage = Storage.__new__(Storage)
    cdef s0_stacks* own = s0_own_stacks()
    cdef Py_ssize_t size = nbytes
    cdef size_t alignment
    cdef int bin
    cdef void* block = NULL
    if own is NULL:
        raise MemoryError(f"allocate: no memory for an array of {nbytes} bytes")
    if nbytes <= BINS * UNIT:
        bin = <int>((nbytes - 1) // UNIT) if nbytes else 0
        size = (bin + 1) * UNIT
        storage.bin = bin
        if own.count[bin] > 0:
            s0_add_own_int(own.count[bin], -1)
            s0_add_own(own.reused, 1)
            block = own.blocks[bin][own.count[bin]]
            if zeroed:
                memset(block, 0, s0_extent(size))
        else:
            block = s0_obtain(size, zeroed)
    else:
        block = large_block(&size, zeroed, own)
        storage.capacity = size
    if block is NULL:
        # Give the cached blocks back to the system, then try again.
        drop_all()
        block = s0_obtain(size, zeroed)
        if block is NULL:
            raise MemoryError(f"allocate: no memory for an array of {nbytes} bytes")
    storage.block = block
    alignment = s0_alignment(size)
    storage.data = <char*>((<uintptr_t>block + alignment - 1) & ~<uintptr_t>(alignment - 1))
    storage.nbytes = nbytes
    s0_add_own(own.allocations, 1)
    s0_add_own(own.live, nbytes)
    if own.live > s0_peek(own.most):
        s0_put(own.most, own.live)
    s0_add_to_totals(own)
    return storage


cdef Storage foreign_storage(char* data, Py_ssize_t nbytes, object owner, bint readonly):
    """A storage on the memory of another library; keeps `owner` alive."""
    cdef Storage storage = Storage.__new__(Storage)
    storage.block = NULL
    storage.data = data
    storage.nbytes = nbytes
    storage.owner = owner
    storage.readonly = readonly
    return storage


include "memory_reports.pxi"
