# Reference-counted memory: what arrays are views of.

from stride0._core.memory.guards cimport s0_shared_flag, s0_shared_int

cdef class Storage:
    cdef char* data
    cdef Py_ssize_t nbytes
    cdef void* block
    cdef Py_ssize_t capacity  # bytes of the block; 0 for a small one
    cdef int bin              # of a small block
    cdef bint readonly
    cdef int device       # number of a simulated device; 0 is the CPU: Note [Simulated devices]
    cdef object owner
    cdef s0_shared_flag logged   # whether it has a
    cdef object history  # log of writes; None where no tape needs it: Note [Logged storages]. The batch of a batched array
    cdef void* saved      # the first of the values here that tapes saved, or NULL: Note [Overwritten values]
    cdef bint batched     # of a batched array, which has no memory of its own: Note [Batched arrays]
    # Note [Deferred results] of `program/deferred`:
    cdef object pending   # the chain that will compute the elements, or None
    cdef int step         # of that chain
    cdef s0_shared_int readers      # chains that will read this storage
    cdef s0_shared_int exports      # exports of the memory to others that are alive


# Set what is called when a storage is freed whose elements were never computed.
cdef void set_forget(void (*function)(Storage storage) noexcept) noexcept

cdef Storage allocate_storage(Py_ssize_t nbytes, bint zeroed)
cdef Storage foreign_storage(char* data, Py_ssize_t nbytes, object owner, bint readonly)
