"""Discrete Fourier transforms of lanes, by kernels of our own (`fourier.h`).

Note [Fourier transforms]
    pocketfft, in NumPy, transforms one lane after another, one number at a time. Here each lane of a vector holds a transform
    of its own: short ones are those of several lanes of the array; the n numbers of a long one are a matrix, the
    transforms of whose columns, times roots of unity ("turns"), are transformed along the rows (D. H. Bailey, "FFTs in external
    or hierarchical memory", Journal of Supercomputing 4, 1990). Both need a cache no larger than L1 or L2 for the passes, of radices
    2, 3, 4, 5, 7, 8, 11 and 13, which leave their results in order (the algorithm of T. G. Stockham, 1966). The length alone determines
    each operation, so that no bit depends on the instruction set, the number of threads, or the layout.

    Real numbers are transformed as half as many complex ones, the even ones and the odd ones as real and imaginary parts.
    What is float32 in memory is computed in float64, and rounded once.

    Other lengths, those with a larger prime factor, odd ones of real numbers, and those above LONGEST, whose turns
    would take more than 16 MB, are left to pocketfft: `ops/gufuncs`.
"""

from libc.stdint cimport int64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from stride0._core.memory.dtype cimport COMPLEX64, FLOAT32, FLOAT64, itemsize_at
from stride0._core.memory.guards cimport s0_write_int
from stride0._core.plan.operations cimport OP_COS, OP_SIN
from stride0._core.plan.partition cimport run_contiguous, run_shared
from stride0._core.plan.plan cimport MAX_NDIM
from stride0._core.plan.table cimport (
    ALL_OF_REAL, HALF_OF_REAL, OF_COMPLEX, S0_MOST_RADIX, TABLE, TO_REAL, op_kernel, s0_bit_length, s0_fourier, s0_fourier_kind, s0_passes,
)
from stride0._core.array.array cimport Array, data_of, guard_gradient, new_array

cdef enum:
    LONGEST = 1 << 20       # complex numbers of a transform
    SHORTEST = 64           # of one that is a matrix
    SQUARE = 8              # rows and columns of a matrix are multiples of it, if possible
    MOST_TOGETHER = 32      # lanes that are copied and transformed together, at most,
    TOGETHER = 1 << 15      # and numbers of theirs
    FEW_LANES = 4           # of which long transforms are shared among threads, each
    ALIGNMENT = 64          # of scratch memory, in bytes
    KEPT = 1 << 25          # bytes of the tables that are kept

cdef double EIGHTH = 0.78539816339744830962    # of a turn, in radians

cdef enum Step:
    TANGLE
    COLUMNS
    ROWS
    UNTANGLE

cdef struct Job:
    s0_fourier all
    s0_fourier_kind kind
    bint single             # whether it is float32 in memory
    int begin, end          # its steps
    # Of a lane: numbers that are read, needed and written; their sizes, and the bytes from one to the next.
    Py_ssize_t read, needed, written
    Py_ssize_t in_size, out_size, in_step, out_step
    # The axes of the lanes, the last one first.
    char* in_
    char* out
    int axes
    Py_ssize_t counts[MAX_NDIM]
    Py_ssize_t in_strides[MAX_NDIM]
    Py_ssize_t out_strides[MAX_NDIM]
    Py_ssize_t lanes
    bint is_long            # whether each is a matrix
    bint reads, writes      # whether kernels read and write lanes where they are
    Py_ssize_t together     # lanes of a group
    Py_ssize_t each         # groups of a chunk
    int failed


# --- tables


cdef int factor_into(Py_ssize_t n, s0_passes* passes) noexcept:
    """Write the radices of the passes over n numbers; 0 where a prime factor is larger than those."""
    cdef int twos = 0, radix
    passes.length, passes.passes = n, 0
    while n % 2 == 0:
        n //= 2
        twos += 1
    while twos:
        radix = 3 if twos != 4 and twos > 2 else 1 if twos == 1 else 2
        passes.radix[passes.passes] = <unsigned char>(1 << radix)
        passes.passes += 1
        twos -= radix
    for radix in range(3, S0_MOST_RADIX + 1, 2):
        while n % radix == 0:
            passes.radix[passes.passes] = <unsigned char>radix
            passes.passes += 1
            n //= radix
    return n == 1


cdef Py_ssize_t padded(Py_ssize_t n) noexcept:
    return (n + SQUARE - 1) // SQUARE * SQUARE


cdef Py_ssize_t rows_of(Py_ssize_t n) noexcept:
    """The rows of the matrix that is closest to a square of whole vectors."""
    cdef Py_ssize_t d, best = 1, area, least = 0
    for d in range(1, n):
        if d * d > n:
            break
        if n % d == 0 and d * S0_MOST_RADIX >= n // d:
            area = padded(d) * padded(n // d)
            if area <= least or least == 0:
                least, best = area, d
    return best


cdef Py_ssize_t numbers_of(const s0_passes* passes) noexcept:
    """How many numbers the table of some passes has."""
    cdef Py_ssize_t run = passes.length, count = 0
    cdef int p, radix
    for p in range(passes.passes):
        radix = passes.radix[p]
        run //= radix
        count += (2 * radix if radix % 2 else 0) + (2 * (radix - 1) * run if run > 1 else 0)
    return count


cdef double* fill_passes(s0_passes* passes, double* to, const double* roots, Py_ssize_t n) noexcept:
    """Write the table of some passes from the n roots of unity; returns its end."""
    cdef Py_ssize_t run = passes.length, count = 1, i, every = n // passes.length
    cdef int p, radix, j
    passes.twiddles = to
    for p in range(passes.passes):
        radix = passes.radix[p]
        if radix % 2:
            for j in range(radix):
                memcpy(to, roots + 2 * j * (n // radix), 2 * sizeof(double))
                to += 2
        run //= radix
        if run > 1:
            for i in range(run):
                for j in range(1, radix):
                    memcpy(to, roots + 2 * i * j * count * every, 2 * sizeof(double))
                    to += 2
        count *= radix
    return to


cdef Array roots_of(Py_ssize_t n):
    """The n roots of unity, exp(-2 pi i m / n): cosines and sines of at most an eighth of a turn."""
    cdef Py_ssize_t m, x, size[1]
    cdef Py_ssize_t strides[2]
    cdef char* args[2]
    cdef Array angles, cosines, sines, roots
    cdef double* angle
    cdef double* cosine
    cdef double* sine
    cdef double* root
    cdef double c, s
    size[0] = n
    angles, cosines, sines = new_array(FLOAT64, 1, size, NULL, False), new_array(FLOAT64, 1, size, NULL, False), new_array(FLOAT64, 1, size, NULL, False)
    size[0] = 2 * n
    roots = new_array(FLOAT64, 1, size, NULL, False)
    angle, cosine, sine, root = <double*>data_of(angles), <double*>data_of(cosines), <double*>data_of(sines), <double*>data_of(roots)
    for m in range(n):
        x = min(8 * m, 8 * (n - m))
        x = min(x, 4 * n - x)
        angle[m] = EIGHTH * <double>min(x, 2 * n - x) / <double>n
    strides[0] = strides[1] = sizeof(double)
    args[0], args[1] = data_of(angles), data_of(cosines)
    run_contiguous(op_kernel(OP_COS, FLOAT64), 0, args, strides, n)
    args[0], args[1] = data_of(angles), data_of(sines)
    run_contiguous(op_kernel(OP_SIN, FLOAT64), 0, args, strides, n)
    for m in range(n):
        x = min(8 * m, 8 * (n - m))
        c, s = cosine[m], sine[m]
        if min(x, 4 * n - x) > n:
            c, s = s, c
        root[2 * m] = -c if x > 2 * n else c
        root[2 * m + 1] = s if 2 * m > n else -s
    return roots


cdef class Tables:
    """Of the transforms of some number of complex numbers, or of twice as many real ones."""

    cdef s0_fourier all
    cdef Array memory


# By the number of complex numbers, or by that of real ones, negative.
cdef dict TABLES = {}


cdef Tables tables_of(Py_ssize_t n, bint of_real):
    """None where the length is left to pocketfft."""
    cdef object key = -n if of_real else n
    cdef Tables made = <Tables>TABLES.get(key)
    cdef s0_fourier* all
    cdef Py_ssize_t size = n // 2 if of_real else n, every = n // size, lanes = TABLE.vector // sizeof(double)
    cdef Py_ssize_t rows, columns, units, halves, count, r, c
    cdef double* to
    cdef const double* root
    cdef Array roots
    if made is not None:
        return made
    made = Tables.__new__(Tables)
    all = &made.all
    if size > LONGEST or not factor_into(size, &all.columns):
        return None
    rows = size if size < SHORTEST else rows_of(size)
    columns = size // rows
    factor_into(rows, &all.columns)
    factor_into(columns, &all.rows)
    units = (columns + lanes - 1) // lanes if columns > 1 else 0
    halves = size // 2 + 1 if of_real else 0
    count = numbers_of(&all.columns) + numbers_of(&all.rows) + 2 * (units * rows * lanes + halves + SQUARE)
    made.memory = new_array(FLOAT64, 1, &count, NULL, False)
    roots = roots_of(n)
    root = <const double*>data_of(roots)
    to = fill_passes(&all.columns, <double*>data_of(made.memory), root, n)
    to = fill_passes(&all.rows, to, root, n)
    all.turns = to
    for count in range(0, units * lanes, lanes):
        # The last unit has columns of the one before.
        count = min(count, columns - lanes)
        for r in range(rows):
            for c in range(lanes):
                to[c] = root[2 * every * ((count + c) * r % size)]
                to[lanes + c] = root[2 * every * ((count + c) * r % size) + 1]
            to += 2 * lanes
    all.halves = to
    memcpy(to, root, 2 * halves * sizeof(double))
    memset(to + 2 * halves, 0, 2 * SQUARE * sizeof(double))
    all.half = size if of_real else 0
    TABLES[key] = made
    # The oldest ones go.
    while len(TABLES) > 1 and sum([(<Tables>kept).memory.nbytes for kept in list(TABLES.values())]) > KEPT:
        TABLES.pop(next(iter(list(TABLES))), None)
    return made


# --- transforms

cdef struct Room:
    # What a thread needs: for passes, for a matrix, for complex numbers that real ones are transformed as, and for copies of lanes.
    double* scratch
    double* middle
    double* parts
    char* gathered
    char* scattered


cdef inline Py_ssize_t units_of(const Job* job, Step step) noexcept nogil:
    """How many units a step of a lane has, which threads may share."""
    cdef Py_ssize_t lanes = TABLE.vector // sizeof(double)
    if step == COLUMNS:
        return (job.all.rows.length + lanes - 1) // lanes
    if step == ROWS:
        return (job.all.columns.length + lanes - 1) // lanes
    return job.all.half // 2 + 1


cdef Py_ssize_t lay_out(const Job* job, Room* room, char* memory) noexcept nogil:
    """Divide memory; returns the bytes that are needed."""
    cdef Py_ssize_t sizes[5]
    cdef char* starts[5]
    cdef Py_ssize_t used = 0
    cdef int k
    if job.is_long:
        sizes[0] = 6 * TABLE.vector * max(job.all.columns.length, job.all.rows.length)
        sizes[1] = 2 * TABLE.vector * units_of(job, ROWS) * job.all.rows.length
        sizes[2] = 16 * job.all.half
    else:
        sizes[0] = 8 * TABLE.vector * (max(job.all.columns.length, 2 * job.all.half + 1) + SQUARE)
        sizes[1] = sizes[2] = 0
    sizes[3] = 0 if job.reads else job.together * job.needed * job.in_size
    sizes[4] = 0 if job.writes else job.together * job.written * job.out_size
    memory += (-<uintptr_t>memory) % ALIGNMENT
    for k in range(5):
        starts[k] = memory + used
        used += (sizes[k] + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
    room.scratch, room.middle, room.parts = <double*>starts[0], <double*>starts[1], <double*>starts[2]
    room.gathered, room.scattered = starts[3], starts[4]
    return used + ALIGNMENT


cdef void find_lanes(const Job* job, Py_ssize_t first, Py_ssize_t count, char** ins, char** outs) noexcept nogil:
    """Write where so many lanes begin."""
    cdef Py_ssize_t u, rest, place
    cdef int k
    for u in range(count):
        ins[u], outs[u] = job.in_, job.out
        rest = first + u
        for k in range(job.axes):
            place = rest % job.counts[k]
            rest //= job.counts[k]
            ins[u] += place * job.in_strides[k]
            outs[u] += place * job.out_strides[k]


cdef void run_part(const Job* job, Step step, char* in_, char* out, const Room* room, Py_ssize_t first, Py_ssize_t last, double* scratch) noexcept nogil:
    """A range of the units of a step of a lane."""
    cdef bint to_parts = job.end > UNTANGLE
    if step == TANGLE:
        TABLE.fourier_tangle(&job.all, in_, job.single, room.parts, first, last)
    elif step == COLUMNS:
        if job.kind == TO_REAL:
            TABLE.fourier_columns(&job.all, <char*>room.parts, False, room.middle, first, last, scratch)
        else:
            TABLE.fourier_columns(&job.all, in_, job.single, room.middle, first, last, scratch)
    elif step == ROWS:
        if to_parts:
            TABLE.fourier_rows(&job.all, room.middle, <char*>room.parts, False, 1, first, last, scratch)
        else:
            TABLE.fourier_rows(&job.all, room.middle, out, job.single, job.all.factor, first, last, scratch)
    else:
        TABLE.fourier_untangle(&job.all, job.kind, room.parts, out, job.single, first, last)


cdef void gather(const Job* job, char** ins, Py_ssize_t count, const Room* room) noexcept nogil:
    """Copy lanes to where they are contiguous, with zeros behind them."""
    cdef char* copies[MOST_TOGETHER]
    cdef Py_ssize_t u, size = job.needed * job.in_size
    for u in range(count):
        copies[u] = room.gathered + u * size
        memset(copies[u] + job.read * job.in_size, 0, (job.needed - job.read) * job.in_size)
    TABLE.fourier_copy(copies, job.in_size, ins, job.in_step, count, job.read, job.in_size)
    memcpy(ins, copies, count * sizeof(char*))


cdef void run_group(const Job* job, Py_ssize_t first, Py_ssize_t count, const Room* room) noexcept nogil:
    """Transform some lanes on this thread."""
    cdef char* ins[MOST_TOGETHER]
    cdef char* outs[MOST_TOGETHER]
    cdef char* results[MOST_TOGETHER]
    cdef Py_ssize_t u
    cdef int step
    find_lanes(job, first, count, ins, outs)
    if not job.reads:
        gather(job, ins, count, room)
    for u in range(count):
        results[u] = outs[u] if job.writes else room.scattered + u * job.written * job.out_size
    if not job.is_long:
        TABLE.fourier_short(&job.all, job.kind, ins[0], results[0], job.single, count, room.scratch)
    else:
        for u in range(count):
            for step in range(job.begin, job.end):
                run_part(job, <Step>step, ins[u], results[u], room, 0, units_of(job, <Step>step), room.scratch)
    if not job.writes:
        TABLE.fourier_copy(outs, job.out_step, results, job.out_size, count, job.written, job.out_size)


cdef void run_groups(void* context, int chunk) noexcept nogil:
    """Transform the lanes of a chunk."""
    cdef Job* job = <Job*>context
    cdef Room room
    cdef char* memory = <char*>malloc(lay_out(job, &room, NULL))
    cdef Py_ssize_t first = chunk * job.each * job.together, last = min(first + job.each * job.together, job.lanes)
    if memory is NULL:
        s0_write_int(job.failed, True)
        return
    lay_out(job, &room, memory)
    while first < last:
        run_group(job, first, min(job.together, last - first), &room)
        first += job.together
    free(memory)


cdef struct Part:
    # A step of one lane.
    const Job* job
    const Room* room
    Step step
    char* in_
    char* out
    Py_ssize_t units, each
    int failed


cdef void run_some(void* context, int chunk) noexcept nogil:
    """A chunk of a step."""
    cdef Part* part = <Part*>context
    cdef Room room
    cdef Py_ssize_t first = chunk * part.each
    cdef char* memory = <char*>malloc(lay_out(part.job, &room, NULL))
    if memory is NULL:
        s0_write_int(part.failed, True)
        return
    lay_out(part.job, &room, memory)
    run_part(part.job, part.step, part.in_, part.out, part.room, first, min(first + part.each, part.units), room.scratch)
    free(memory)


cdef int run_shared_lane(const Job* job, Py_ssize_t lane, const Room* room, int64_t time) except -1:
    """Transform a long lane by the threads of the pool."""
    cdef char* ins[1]
    cdef char* outs[1]
    cdef Part part
    cdef char* result
    cdef int step
    find_lanes(job, lane, 1, ins, outs)
    if not job.reads:
        gather(job, ins, 1, room)
    part.job, part.room, part.failed = job, room, False
    part.in_, part.out = ins[0], outs[0] if job.writes else room.scattered
    for step in range(job.begin, job.end):
        part.step, part.units = <Step>step, units_of(job, <Step>step)
        run_shared(run_some, &part, &part.each, part.units, time // 2 if step == COLUMNS or step == ROWS else time // 8)
        if part.failed:
            raise MemoryError()
    result = part.out
    if not job.writes:
        TABLE.fourier_copy(outs, job.out_step, &result, job.out_size, 1, job.written, job.out_size)
    return 0


cdef bint run_fourier(s0_fourier_kind kind, Array x, int axis, Py_ssize_t n, bint inverse, double factor, Array out) except -1:
    """
    Compute the transforms of length n of the lanes along an axis, times a factor; False where they are left to pocketfft.

    The dtypes are float32 and complex64, or float64 and complex128. Lanes are cut off, or continued by zeros. A transform of complex
    numbers may be in place. Inverse transforms to real numbers are the only ones; of half a spectrum there are none.
    """
    cdef Job job
    cdef Room room
    cdef Py_ssize_t lane
    cdef int64_t time
    cdef int d
    cdef Tables tables
    cdef Array memory
    if kind != OF_COMPLEX and n % 2:
        return False
    tables = tables_of(n, kind != OF_COMPLEX)
    if tables is None:
        return False
    guard_gradient(x, "fft")
    job.all = tables.all
    job.kind, job.single, job.failed = kind, x.code == FLOAT32 or x.code == COMPLEX64, False
    job.begin, job.end = TANGLE if kind == TO_REAL else COLUMNS, UNTANGLE if kind == OF_COMPLEX or kind == TO_REAL else UNTANGLE + 1
    job.all.inverse, job.all.conjugate = kind == TO_REAL or (kind == OF_COMPLEX and inverse), kind == ALL_OF_REAL and inverse
    job.all.factor = factor
    job.needed, job.written = n // 2 + 1 if kind == TO_REAL else n, n // 2 + 1 if kind == HALF_OF_REAL else n
    job.read = min(x.shape_[axis], job.needed)
    job.in_size, job.out_size = itemsize_at(x.code), itemsize_at(out.code)
    job.in_step, job.out_step = x.strides_[axis], out.strides_[axis]
    job.in_, job.out, job.axes, job.lanes = data_of(x), data_of(out), 0, 1
    for d in range(x.ndim - 1, -1, -1):
        if d != axis:
            job.counts[job.axes] = x.shape_[d]
            job.in_strides[job.axes], job.out_strides[job.axes] = x.strides_[d], out.strides_[d]
            job.lanes *= x.shape_[d]
            job.axes += 1
    job.is_long = job.all.rows.length > 1
    # Short lanes follow each other.
    job.reads = job.in_step == job.in_size and job.read == job.needed
    job.reads = job.reads and (job.is_long or (x.c_contiguous and x.shape_[axis] == job.needed))
    job.writes = job.out_step == job.out_size and (job.is_long or out.c_contiguous)
    job.together = 1 if job.is_long and job.reads and job.writes else max(1, min(<Py_ssize_t>MOST_TOGETHER, TOGETHER // n))
    time = n * s0_bit_length(n) // (4 if kind == OF_COMPLEX else 8)
    if job.is_long and job.lanes < FEW_LANES:
        job.together = 1
        lane = lay_out(&job, &room, NULL) // 8 + 1
        memory = new_array(FLOAT64, 1, &lane, NULL, False)
        lay_out(&job, &room, data_of(memory))
        for lane in range(job.lanes):
            run_shared_lane(&job, lane, &room, time)
        return True
    run_shared(run_groups, &job, &job.each, (job.lanes + job.together - 1) // job.together, time * job.lanes)
    if job.failed:
        raise MemoryError()
    return True
