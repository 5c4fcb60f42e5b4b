# Discrete Fourier transforms of lanes, by the kernels in `fourier_passes.h`, `fourier_lanes.h` and `fourier.h`, in this order.
#
# Note [Fourier transforms]
#     Each lane of a vector register holds its own transform. If the array has several short lanes, each register lane transforms
#     one lane of the array. Otherwise the n numbers of an array lane form a matrix. Its columns are transformed and multiplied by
#     roots of unity ("turns"), then its rows are transformed (D. H. Bailey, "FFTs in external or hierarchical memory", Journal of
#     Supercomputing 4, 1990). In both cases the passes stay in a cache; they leave their results in order (the algorithm of T. G. Stockham, 1966).
#     The shape determines each operation, so no bit depends on the instruction set, the number of threads, or the layout.
#
#     Short lanes along the last axis are transposed in registers. Along another axis, elements of different lanes are adjacent. Rows
#     of up to MOST_TOGETHER of them are read and written without a transposition. If rows are a power of two apart, single vectors
#     of each row would share the sets of a cache. fftn of 512 by 512 complex128 takes 0.73 ms on one thread with AVX-512, ducc0
#     0.75 ms.
#
#     The radices are 2, 4, 8, and odd primes up to S0_MOST_RADIX. A pass of a large radix computes each result as a sum over all
#     numbers, with half the error of a convolution. If a single lane has a prime length, a vector holds several results.
#
#     If n has a larger prime factor, the transform is a convolution with a chirp, exp(-i pi k k / n), whose length m is at least
#     2 n - 1 and has factors up to S0_UNROLLED_RADIX (L. I. Bluestein, "A linear filtering approach to the computation of discrete
#     Fourier transform", IEEE Transactions on Audio and Electroacoustics 18, 1970). The m numbers form a matrix, too. The table holds
#     the chirp and its spectrum. The spectrum is not sorted: each unit of rows is transformed, multiplied by the spectrum and
#     transformed back in a cache (`fourier_convolve`), and the columns follow (`fourier_back`). Microseconds on one thread of an
#     AVX-512 server (AMD EPYC), and with AVX2:
#
#     numbers        1,009  10,007  65,537
#     AVX-512            5      89     905
#     AVX2               6     136     999
#     NumPy 2.4         37   1,035   9,461
#     ducc0 0.42        10     109   2,633
#
#     An even number of real numbers is transformed as half as many complex numbers, with the even elements as real parts and the
#     odd elements as imaginary parts; an odd number is cast to complex. float32 data are computed in float64 and rounded once.
#
#     `fourier/long_transforms` computes transforms and convolutions of more than transform_numbers, whose roots of unity would take
#     more than 16 MB.

cdef extern from *:
    """
    #include <complex.h>
    /* Complete the spectrum of real numbers, whose second half mirrors the first: (outer, length, inner) in C order. */
    #define S0_MIRROR(name, type, conjugate)                                                                     \\
    static void name(void *memory, Py_ssize_t outer, Py_ssize_t length, Py_ssize_t inner, int inverse) {          \\
        type *x = memory;                                                                                         \\
        for (; outer > 0; outer--, x += length * inner)                                                           \\
            for (Py_ssize_t k = 1; 2 * k < length; k++) {                                                         \\
                type *low = x + k * inner, *high = x + (length - k) * inner;                                      \\
                for (Py_ssize_t i = 0; i < inner; i++) {                                                          \\
                    type value = low[i];                                                                          \\
                    high[i] = inverse ? value : conjugate(value);                                                 \\
                    if (inverse) low[i] = conjugate(value);                                                       \\
                }                                                                                                 \\
            }                                                                                                     \\
    }
    S0_MIRROR(s0_mirror32, float complex, conjf)
    S0_MIRROR(s0_mirror64, double complex, conj)
    """
    void s0_mirror32(void* x, Py_ssize_t outer, Py_ssize_t length, Py_ssize_t inner, int inverse) noexcept nogil
    void s0_mirror64(void* x, Py_ssize_t outer, Py_ssize_t length, Py_ssize_t inner, int inverse) noexcept nogil

cdef enum:
    MOST_TOGETHER = 32      # the most lanes that are copied and transformed together,

cdef enum Step:
    TANGLE
    COLUMNS
    ROWS
    BACK                    # for a convolution: the columns a second time
    UNTANGLE

cdef struct Job:
    s0_fourier all
    s0_fourier_kind kind
    bint single             # whether the data are float32 in memory
    int begin, end          # its steps
    # For a lane: the numbers that are read, needed and written; their sizes, and their distances in bytes in memory and in a copy.
    Py_ssize_t read, needed, written
    Py_ssize_t in_size, out_size, in_step, out_step, in_each, out_each
    Py_ssize_t in_pitch, out_pitch  # bytes from the copy of a lane to the next copy
    bint mirrors            # whether half a spectrum is completed in the copy
    bint of_real            # whether the numbers to transform are real; then the first result is real, too
    # The axes of the lanes, starting with the last.
    char* in_
    char* out
    int axes
    Py_ssize_t counts[MAX_NDIM]
    Py_ssize_t in_strides[MAX_NDIM]
    Py_ssize_t out_strides[MAX_NDIM]
    Py_ssize_t lanes
    bint is_long            # whether each lane is transformed as a matrix
    bint reads, writes      # whether kernels read and write the lanes in place
    bint reads_across, writes_across    # whether kernels read and write adjacent lanes in place
    Py_ssize_t together     # lanes in a group
    Py_ssize_t each         # groups in a chunk
    int failed


# --- transforms

cdef struct Room:
    # Memory of a thread: for passes, for a matrix, for the complex numbers of a real transform, and for copies of lanes.
    double* scratch
    double* middle
    double* parts
    char* gathered
    char* scattered


cdef inline Py_ssize_t units_of(const Job* job, Step step) noexcept nogil:
    """The number of units in a step of a lane; threads may share them."""
    cdef Py_ssize_t lanes = TABLE.vector // sizeof(double)
    if step == COLUMNS or (step == BACK and job.all.chirp is not NULL):
        return (job.all.rows.length + lanes - 1) // lanes
    if step == ROWS:
        return (job.all.columns.length + lanes - 1) // lanes
    if step == BACK:
        return 0
    return job.all.half // 2 + 1


cdef inline Py_ssize_t scratch_of(const Job* job) noexcept nogil:
    """The size of the scratch memory for passes."""
    if job.is_long:
        return 6 * TABLE.vector * max(job.all.columns.length, job.all.rows.length)
    # Two buffers for passes, and a buffer for each vector of lanes.
    cdef Py_ssize_t buffers = 3 + (job.together - 1) * <Py_ssize_t>sizeof(double) // TABLE.vector
    return 2 * TABLE.vector * buffers * (max(job.all.columns.length, 2 * job.all.half + 1) + SQUARE)


cdef Py_ssize_t lay_out(const Job* job, Room* room, char* memory) noexcept nogil:
    """Divide `memory` into the parts of `room`; returns the size in bytes."""
    cdef Py_ssize_t sizes[5]
    cdef char* starts[5]
    cdef Py_ssize_t used = 0
    cdef int k
    sizes[0], sizes[1], sizes[2] = scratch_of(job), 0, 0
    if job.is_long:
        sizes[1] = 2 * TABLE.vector * units_of(job, ROWS) * job.all.rows.length
        sizes[2] = 16 * job.all.half
    sizes[3] = 0 if job.reads else job.together * job.in_pitch
    sizes[4] = 0 if job.writes else job.together * job.out_pitch
    memory = aligned(memory)
    for k in range(5):
        starts[k] = memory + used
        used += (sizes[k] + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
    room.scratch, room.middle, room.parts = <double*>starts[0], <double*>starts[1], <double*>starts[2]
    room.gathered, room.scattered = starts[3], starts[4]
    return used + ALIGNMENT


cdef void find_lanes(const Job* job, Py_ssize_t first, Py_ssize_t count, char** ins, char** outs) noexcept nogil:
    """Write the addresses of `count` lanes of operand and result."""
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
    """Run a range of units of a step of a lane."""
    # A real transform leaves its complex numbers in `parts`.
    cdef bint to_parts = job.end > UNTANGLE
    cdef bint single = job.single and not to_parts
    cdef double factor = 1 if to_parts else job.all.factor
    cdef char* to = <char*>room.parts if to_parts else out
    if step == TANGLE:
        TABLE.fourier_tangle(&job.all, in_, job.single, room.parts, first, last)
    elif step == COLUMNS:
        if job.kind == TO_REAL:
            TABLE.fourier_columns(&job.all, <char*>room.parts, False, room.middle, first, last, scratch)
        else:
            TABLE.fourier_columns(&job.all, in_, job.single, room.middle, first, last, scratch)
    elif step == ROWS and job.all.chirp is not NULL:
        TABLE.fourier_convolve(&job.all, room.middle, first, last, scratch)
    elif step == ROWS:
        TABLE.fourier_rows(&job.all, room.middle, to, single, factor, first, last, scratch)
    elif step == BACK:
        factor /= job.all.columns.length * job.all.rows.length
        TABLE.fourier_back(&job.all, room.middle, to, single, factor, first, last, scratch)
        if first == 0 and job.of_real:
            memset(out + job.out_each // 2, 0, job.out_each // 2)
    else:
        TABLE.fourier_untangle(&job.all, job.kind, room.parts, out, job.single, first, last)


cdef void mirror_spectra(int code, char* memory, Py_ssize_t outer, Py_ssize_t length, Py_ssize_t inner, bint inverse) noexcept nogil:
    """Complete halves of spectra of real numbers, (outer, length, inner) in C order; for an inverse transform they become conjugates."""
    if code == COMPLEX64:
        s0_mirror32(memory, outer, length, inner, inverse)
    else:
        s0_mirror64(memory, outer, length, inner, inverse)


cdef void gather(const Job* job, char** ins, Py_ssize_t count, const Room* room) noexcept nogil:
    """Copy lanes to contiguous memory, padded with zeros."""
    cdef char* copies[MOST_TOGETHER]
    cdef Py_ssize_t u, filled = job.read * job.in_each if job.in_each == job.in_size else 0
    for u in range(count):
        copies[u] = room.gathered + u * job.in_pitch
        memset(copies[u] + filled, 0, job.needed * job.in_each - filled)
    TABLE.fourier_copy(copies, job.in_each, ins, job.in_step, count, job.read, job.in_size)
    for u in range(count):
        ins[u] = copies[u]
        if job.mirrors:
            # The imaginary part of the first element is ignored.
            memset(copies[u] + job.in_each // 2, 0, job.in_each // 2)
            mirror_spectra(COMPLEX64 if job.single else COMPLEX128, copies[u], 1, job.needed, 1, False)


cdef bint are_next(char** lanes, Py_ssize_t count, Py_ssize_t size) noexcept nogil:
    """Whether `count` lanes fill vectors and their first elements are contiguous."""
    cdef Py_ssize_t u
    for u in range(1, count):
        if lanes[u] - lanes[u - 1] != size:
            return False
    return count * <Py_ssize_t>sizeof(double) % TABLE.vector == 0


cdef void run_group(const Job* job, Py_ssize_t first, Py_ssize_t count, const Room* room) noexcept nogil:
    """Transform some lanes on this thread."""
    cdef char* ins[MOST_TOGETHER]
    cdef char* outs[MOST_TOGETHER]
    cdef char* results[MOST_TOGETHER]
    cdef Py_ssize_t u
    cdef int step
    find_lanes(job, first, count, ins, outs)
    cdef Py_ssize_t in_step = job.in_step if job.reads_across and are_next(ins, count, job.in_size) else 0
    cdef Py_ssize_t out_step = job.out_step if job.writes_across and are_next(outs, count, job.out_size) else 0
    if not job.reads and in_step == 0:
        gather(job, ins, count, room)
    for u in range(count):
        results[u] = outs[u] if job.writes or out_step else room.scattered + u * job.out_pitch
    if not job.is_long:
        TABLE.fourier_short(&job.all, job.kind, ins[0], in_step, results[0], out_step, job.single, count, room.scratch)
    else:
        for u in range(count):
            for step in range(job.begin, job.end):
                run_part(job, <Step>step, ins[u], results[u], room, 0, units_of(job, <Step>step), room.scratch)
    if not job.writes and out_step == 0:
        TABLE.fourier_copy(outs, job.out_step, results, job.out_each, count, job.written, job.out_size)


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
    # A step of a lane.
    const Job* job
    const Room* room
    Step step
    char* in_
    char* out
    Py_ssize_t units, each
    int failed


cdef void run_some(void* context, int chunk) noexcept nogil:
    """Run a chunk of a step."""
    cdef Part* part = <Part*>context
    cdef Py_ssize_t first = chunk * part.each
    cdef char* memory = <char*>malloc(scratch_of(part.job) + ALIGNMENT)
    if memory is NULL:
        s0_write_int(part.failed, True)
        return
    run_part(part.job, part.step, part.in_, part.out, part.room, first, min(first + part.each, part.units), <double*>aligned(memory))
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
        if part.units:
            run_shared(run_some, &part, &part.each, part.units, time // 8 if step == TANGLE or step == UNTANGLE else time // 2)
        if part.failed:
            raise MemoryError()
    result = part.out
    if not job.writes:
        TABLE.fourier_copy(outs, job.out_step, &result, job.out_each, 1, job.written, job.out_size)
    return 0


cdef bint run_fourier(s0_fourier_kind kind, Array x, int axis, Py_ssize_t n, bint inverse, double factor, Array out) except -1:
    """
    Compute the transforms of length n of the lanes along an axis, times a factor; False if the kernels do not take the length.

    The dtypes are float32 and complex64, or float64 and complex128. Lanes are truncated or padded with zeros. A transform of
    complex numbers may be in place. Also False for whole spectra of an odd number of real numbers.
    """
    cdef Job job
    cdef Room room
    cdef Py_ssize_t lane
    cdef int64_t time
    cdef int d
    cdef Tables tables
    cdef Array memory
    # An odd number of real numbers is transformed as complex numbers.
    if kind == ALL_OF_REAL and n % 2:
        return False
    tables = tables_of(n, kind != OF_COMPLEX and n % 2 == 0, n <= tuning.lanes_aside_numbers and x.size >= tuning.lanes_aside * x.shape_[axis])
    if tables is None:
        return False
    guard_gradient(x, "fft")
    x = aligned_copy(x)
    job.all = tables.all
    job.kind, job.single, job.failed = kind if n % 2 == 0 else OF_COMPLEX, x.code == FLOAT32 or x.code == COMPLEX64, False
    job.begin, job.end = COLUMNS, BACK + 1
    if job.kind == TO_REAL:
        job.begin = TANGLE
    elif job.kind != OF_COMPLEX:
        job.end = UNTANGLE + 1
    job.all.inverse, job.all.conjugate = kind == TO_REAL or (kind == OF_COMPLEX and inverse), kind == ALL_OF_REAL and inverse
    job.all.factor = factor
    job.needed, job.written = n // 2 + 1 if job.kind == TO_REAL else n, n // 2 + 1 if kind == HALF_OF_REAL else n
    job.read = min(x.shape_[axis], n // 2 + 1 if kind == TO_REAL else n)
    job.mirrors, job.of_real = kind == TO_REAL and job.kind == OF_COMPLEX, kind == HALF_OF_REAL and job.kind == OF_COMPLEX
    job.in_size, job.out_size = itemsize_at(x.code), itemsize_at(out.code)
    job.in_each, job.out_each = job.in_size, job.out_size
    if job.kind == OF_COMPLEX:
        job.in_each = job.out_each = 8 if job.single else 16
    # Copies of long lanes must not map to the same sets of a cache.
    job.in_pitch = job.needed * job.in_each + (tuning.lane_pitch_bytes if job.all.rows.length > 1 else 0)
    job.out_pitch = (n if job.kind == OF_COMPLEX else job.written) * job.out_each + (tuning.lane_pitch_bytes if job.all.rows.length > 1 else 0)
    job.in_step, job.out_step = x.strides_[axis], out.strides_[axis]
    job.in_, job.out, job.axes, job.lanes = data_of(x), data_of(out), 0, 1
    for d in range(x.ndim - 1, -1, -1):
        if d != axis:
            job.counts[job.axes] = x.shape_[d]
            job.in_strides[job.axes], job.out_strides[job.axes] = x.strides_[d], out.strides_[d]
            job.lanes *= x.shape_[d]
            job.axes += 1
    job.is_long = job.all.rows.length > 1
    # Copies of short lanes are adjacent.
    job.reads = kind == job.kind and job.in_step == job.in_size and job.read == job.needed
    job.reads = job.reads and (job.is_long or (x.c_contiguous and x.shape_[axis] == job.needed))
    job.writes = kind == job.kind and job.out_step == job.out_size and (job.is_long or out.c_contiguous)
    job.writes_across = kind == job.kind and not job.is_long
    job.reads_across = job.writes_across and job.read == job.needed
    job.together = 1 if job.is_long and job.reads and job.writes else max(1, min(<Py_ssize_t>MOST_TOGETHER, job.lanes, tuning.lanes_together_numbers // n))
    time = n * s0_bit_length(n) // (4 if kind == OF_COMPLEX else 8)
    if job.all.chirp is not NULL:
        time *= 4
    if job.is_long and job.lanes < tuning.shared_lanes:
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
