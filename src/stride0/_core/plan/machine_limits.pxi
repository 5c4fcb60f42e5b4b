# Calls of the loops of `machine_limits.h`: how fast this machine moves memory, or multiplies and adds.

LIMITS = ("read", "copy", "copy_past", "add", "add_past", "fma")    # in the order of `TABLE.limits`

cdef enum:
    LIMIT_STEP = 3072    # a multiple of each loop's bytes per iteration


cdef struct LimitRun:
    s0_limit operands
    Py_ssize_t each    # bytes of a chunk
    Py_ssize_t size
    int number


cdef void run_limit(void* context, int chunk) noexcept nogil:
    cdef const LimitRun* run = <const LimitRun*>context
    TABLE.limits[run.number](&run.operands, chunk * run.each, min((chunk + 1) * run.each, run.size))


cdef class Limit:
    """
    A function without arguments: a loop that a call cannot beat, over its own memory.

    Parameters
    ----------
    kind : str
        One of LIMITS. "_past" stores past the caches. "fma" multiplies and adds float64, once per eight bytes of `size`.
    size : int
        Bytes of each operand, rounded up to the step of the loops.
    threads : int
        Threads that share the bytes.
    """

    cdef LimitRun run
    cdef int threads
    cdef Storage x, y, out

    def __init__(self, kind, Py_ssize_t size, int threads):
        cdef Py_ssize_t step = LIMIT_STEP * threads
        self.run.number = LIMITS.index(kind)
        self.run.size = (size + step - 1) // step * step
        self.run.each, self.threads = self.run.size // threads, threads
        # Allocated in the same way as results: on huge pages if large. Memory that was never written shares one page of zeros.
        size = LIMIT_STEP if kind == "fma" else self.run.size
        self.x, self.y, self.out = [allocate_storage(size, False) for _ in range(3)]
        memset(self.x.data, 0, size)
        memset(self.y.data, 0, size)
        self.run.operands.x, self.run.operands.y, self.run.operands.out = self.x.data, self.y.data, self.out.data

    def __call__(self):
        with nogil:
            run_chunks(run_limit, &self.run, self.threads, self.threads, False)
