# Reference-counted memory that arrays are views of.

from stride0._core.memory.guards cimport s0_shared_flag, s0_shared_int

cdef class Storage:
    cdef char* data
    cdef Py_ssize_t nbytes
    cdef void* block
    cdef Py_ssize_t capacity  # size of the block in bytes; 0 for a small one
    cdef int bin              # bin of a small block
    cdef bint readonly
    cdef int device       # number of a simulated device; 0 is the CPU: Note [Simulated devices]
    cdef object owner
    cdef s0_shared_flag logged   # whether there is a log of writes
    cdef object history  # log of writes, or None: Note [Logged storages]. For a batched array: its batch
    cdef void* saved      # list of the values here that tapes have saved, or NULL: Note [Overwritten values]
    cdef bint batched     # belongs to a batched array, without memory: Note [Batched arrays]
    # Note [Deferred results] of `program/deferred`:
    cdef object pending   # the program that will compute the elements, or None
    cdef int step         # number of the step in that program
    cdef s0_shared_int readers      # programs that will read this storage
    cdef s0_shared_int exports      # exports of the memory that are alive


# Set the function to call when a storage is freed before its elements were computed.
cdef void set_forget(void (*function)(Storage storage) noexcept) noexcept

cdef Storage allocate_storage(Py_ssize_t nbytes, bint zeroed)
cdef Storage foreign_storage(char* data, Py_ssize_t nbytes, object owner, bint readonly)
