# Threads: how many a loop may use, and a team that runs its parts.

ctypedef void (*s0_part)(void* context, int part) noexcept nogil

cdef int team() noexcept nogil
cdef bint awake() noexcept nogil
cdef void run_parts(s0_part body, void* context, int parts, int threads, bint even) noexcept nogil
cdef void run_shares(s0_part body, void* context, Py_ssize_t* extent, Py_ssize_t count, Py_ssize_t parts, int threads, bint even) noexcept nogil
