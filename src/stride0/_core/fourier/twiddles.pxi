# Tables of Fourier transforms: roots of unity in the order in which the kernels of `fourier.h` read them.

cdef enum:
    SQUARE = 8              # rows and columns of a matrix are multiples of it, if possible

cdef double EIGHTH = 0.78539816339744830962    # of a turn, in radians


cdef bint factor_into(Py_ssize_t n, s0_passes* passes, int most=S0_MOST_RADIX) noexcept:
    """Write the radices of the passes over n numbers; False if a prime factor is larger than `most`."""
    cdef int twos = 0, radix
    passes.length, passes.passes = n, 0
    while n % 2 == 0:
        n //= 2
        twos += 1
    # Radix 8, but two passes of radix 4 instead of radices 8 and 2.
    while twos:
        radix = 3 if twos != 4 and twos > 2 else 1 if twos == 1 else 2
        passes.radix[passes.passes] = <unsigned char>(1 << radix)
        passes.passes += 1
        twos -= radix
    for radix in range(3, most + 1, 2):
        while n % radix == 0:
            passes.radix[passes.passes] = <unsigned char>radix
            passes.passes += 1
            n //= radix
    return n == 1


cdef Py_ssize_t padded(Py_ssize_t n) noexcept:
    return (n + SQUARE - 1) // SQUARE * SQUARE


cdef Py_ssize_t rows_within(Py_ssize_t n, Py_ssize_t longest) noexcept:
    """The number of rows of the smallest matrix of whole vectors with at most `longest` times as many columns as rows; 0 if there is no such matrix."""
    cdef Py_ssize_t d, best = 0, area, least = 0
    for d in range(2, n):
        if d * d > n:
            break
        if n % d == 0 and d * longest >= n // d:
            area = padded(d) * padded(n // d)
            if area <= least or least == 0:
                least, best = area, d
    return best


cdef Py_ssize_t rows_of(Py_ssize_t n) noexcept:
    """The number of rows of the matrix of a lane. The matrix is nearly square if possible. For a prime number, it has n rows."""
    return rows_within(n, S0_UNROLLED_RADIX) or rows_within(n, n) or n


cdef Py_ssize_t numbers_of(const s0_passes* passes) noexcept:
    """The number of roots in the table of `passes`."""
    cdef Py_ssize_t run = passes.length, count = 0
    cdef int p, radix
    for p in range(passes.passes):
        radix = passes.radix[p]
        run //= radix
        count += ((radix // 2) * (radix // 2) if radix % 2 else 0) + ((radix - 1) * run if run > 1 else 0)
    return count


cdef int64_t* list_passes(const s0_passes* passes, int64_t* to, Py_ssize_t n) noexcept:
    """Write the numbers of the n-th roots of unity in the table of `passes`; returns the end."""
    cdef Py_ssize_t run = passes.length, count = 1, i, every = n // passes.length
    cdef int p, radix, j, b
    for p in range(passes.passes):
        radix = passes.radix[p]
        if radix % 2:
            for j in range(1, radix // 2 + 1):
                for b in range(1, radix // 2 + 1):
                    to[b - 1] = j * b % radix * (n // radix)
                to += radix // 2
        run //= radix
        if run > 1:
            for i in range(run):
                for j in range(1, radix):
                    to[j - 1] = i * j * count * every
                to += radix - 1
        count *= radix
    return to


cdef int64_t* list_turns(Py_ssize_t rows, Py_ssize_t columns, Py_ssize_t lanes, int64_t* to) noexcept:
    """The same for the turns of a matrix, for each unit of columns and each row. The last unit overlaps the unit before."""
    cdef Py_ssize_t first, r, c
    for first in range(0, columns, lanes):
        first = min(first, columns - lanes)
        for c in range(lanes):
            to[c] = 0
        for r in range(1, rows):
            for c in range(lanes):
                to[lanes + c] = to[c] + first + c
                if to[lanes + c] >= rows * columns:
                    to[lanes + c] -= rows * columns
            to += lanes
        to += lanes
    return to


cdef Py_ssize_t convolution_of(Py_ssize_t n) noexcept:
    """The length for the convolution of n numbers with 2 n - 1 numbers, a multiple of SQUARE * SQUARE with small factors."""
    cdef s0_passes passes
    cdef Py_ssize_t steps = (2 * n - 1 + SQUARE * SQUARE - 1) // (SQUARE * SQUARE)
    while not factor_into(steps, &passes, S0_UNROLLED_RADIX):
        steps += 1
    return SQUARE * SQUARE * steps


cdef void find_roots(const int64_t* which, Py_ssize_t count, Py_ssize_t n, double* cosines, double* sines, double* angles) noexcept nogil:
    """Compute exp(-2 pi i m / n) for each m in `which`, from angles of at most an eighth of a turn; `angles` is scratch memory."""
    cdef Py_ssize_t k, m, x
    cdef Py_ssize_t strides[2]
    cdef char* args[2]
    for k in range(count):
        m = which[k]
        x = min(8 * m, 8 * (n - m))
        x = min(x, 4 * n - x)
        angles[k] = EIGHTH * <double>min(x, 2 * n - x) / <double>n
    strides[0] = strides[1] = sizeof(double)
    args[0], args[1] = <char*>angles, <char*>cosines
    loops_of(op_kernel(OP_COS, FLOAT64))[0](args, strides, strides, count, 1)
    args[0], args[1] = <char*>angles, <char*>sines
    loops_of(op_kernel(OP_SIN, FLOAT64))[0](args, strides, strides, count, 1)
    for k in range(count):
        m = which[k]
        x = min(8 * m, 8 * (n - m))
        if min(x, 4 * n - x) > n:
            cosines[k], sines[k] = sines[k], cosines[k]
        if x > 2 * n:
            cosines[k] = -cosines[k]
        if 2 * m <= n:
            sines[k] = -sines[k]


cdef void write_roots(const int64_t* which, Py_ssize_t count, Py_ssize_t n, Py_ssize_t together, double* to, double* scratch) noexcept nogil:
    """Write roots to a table, in groups of `together` cosines and `together` sines. `scratch` holds 3 * count numbers."""
    cdef Py_ssize_t k
    find_roots(which, count, n, scratch, scratch + count, scratch + 2 * count)
    for k in range(count // together):
        memcpy(to + 2 * k * together, scratch + k * together, together * sizeof(double))
        memcpy(to + (2 * k + 1) * together, scratch + count + k * together, together * sizeof(double))


cdef int add_convolution(s0_fourier* all, Py_ssize_t n, double* chirp, double* spectrum) except -1:
    """Turn the transform into a convolution. The first n factors of the chirp are given; write the spectrum of their reciprocals."""
    cdef Py_ssize_t length = all.numbers, lanes = TABLE.vector // sizeof(double), k
    cdef Py_ssize_t count = 4 * length + 6 * lanes * max(all.columns.length, all.rows.length) + ALIGNMENT // sizeof(double)
    cdef Array memory = new_array(FLOAT64, 1, &count, NULL, True)
    cdef double* middle = <double*>aligned(data_of(memory))
    cdef double* numbers = middle + 2 * length
    cdef double* scratch = numbers + 2 * length
    for k in range(n):
        numbers[2 * k], numbers[2 * k + 1] = chirp[2 * k], -chirp[2 * k + 1]
    for k in range(1, n):
        memcpy(numbers + 2 * (length - k), numbers + 2 * k, 2 * sizeof(double))
    TABLE.fourier_columns(all, <char*>numbers, False, middle, 0, all.rows.length // lanes, scratch)
    TABLE.fourier_convolve(all, middle, 0, all.columns.length // lanes, scratch)
    memcpy(spectrum, middle, 2 * length * sizeof(double))
    all.numbers, all.chirp, all.spectrum = n, chirp, spectrum
    return 0


cdef class Tables:
    """The tables for transforms of n complex numbers, or of 2 n real numbers."""

    cdef s0_fourier all
    cdef Array memory


cdef dict TABLES = {}


cdef Tables tables_of(Py_ssize_t n, bint of_real, bint beside):
    """The tables for lanes side by side, or for long lanes as matrices; None if our kernels do not take the length."""
    cdef object key = 4 * n + 2 * of_real + beside
    cdef Tables made = <Tables>TABLES.get(key)
    cdef s0_fourier* all
    cdef Py_ssize_t size = n // 2 if of_real else n, lanes = TABLE.vector // sizeof(double)
    cdef Py_ssize_t length = size, rows, columns, count, begin, turns = 0, halves, chirp = 0, k
    cdef double* to
    cdef double* unused
    cdef int64_t* which
    cdef Array scratch
    if made is not None:
        return made
    made = Tables.__new__(Tables)
    all = &made.all
    if not factor_into(size, &all.columns):
        length, chirp, beside = convolution_of(size), size, False
    if length > tuning.transform_numbers:
        return None
    rows = length if beside or length < tuning.transform_matrix_numbers else rows_of(length)
    columns = length // rows
    factor_into(rows, &all.columns)
    factor_into(columns, &all.rows)
    if columns > 1:
        turns = (columns + lanes - 1) // lanes * rows * lanes
    all.half = size if of_real else 0
    all.numbers = length
    halves = size // 2 + 1 if of_real else 0
    begin = numbers_of(&all.columns) + numbers_of(&all.rows)
    # Kernels read whole vectors of halves.
    count = 2 * (begin + turns + halves + SQUARE + chirp + (length if chirp else 0))
    made.memory = new_array(FLOAT64, 1, &count, NULL, True)
    count = 4 * (begin + turns + halves + chirp)
    scratch = new_array(FLOAT64, 1, &count, NULL, False)
    count = begin + turns
    which, unused = <int64_t*>data_of(scratch), <double*>data_of(scratch) + begin + turns + halves + chirp
    list_passes(&all.rows, list_passes(&all.columns, which, length), length)
    if turns:
        list_turns(rows, columns, lanes, which + begin)
    to = <double*>data_of(made.memory)
    all.columns.twiddles, all.rows.twiddles = to, to + 2 * numbers_of(&all.columns)
    all.turns, all.halves = to + 2 * begin, to + 2 * count
    write_roots(which, begin, length, 1, to, unused)
    write_roots(which + begin, turns, length, lanes, to + 2 * begin, unused)
    for k in range(halves):
        which[k] = k
    write_roots(which, halves, 2 * size, 1, to + 2 * count, unused)
    if chirp:
        to += 2 * (count + halves + SQUARE)
        which[0] = 0
        for k in range(1, chirp):
            # The square of k, modulo the number of roots.
            which[k] = which[k - 1] + 2 * k - 1
            if which[k] >= 2 * size:
                which[k] -= 2 * size
        write_roots(which, chirp, 2 * size, 1, to, unused)
        add_convolution(all, size, to, to + 2 * chirp)
    TABLES[key] = made
    # The oldest tables are freed first; `empty_cache` frees all.
    while len(TABLES) > tuning.kept_tables or (len(TABLES) > 1 and sum([(<Tables>kept).memory.nbytes for kept in list(TABLES.values())]) > tuning.kept_table_bytes):
        TABLES.pop(next(iter(list(TABLES)), None), None)
    return made


when_emptied(TABLES.clear)
