# Tables of Fourier transforms: roots of unity in the order in which the kernels of `fourier.h` read them.

cdef enum:
    SQUARE = 8              # rows and columns of a matrix are multiples of it, if possible

cdef double EIGHTH = 0.78539816339744830962    # of a turn, in radians


cdef int factor_into(Py_ssize_t n, s0_passes* passes) noexcept:
    """Write the radices of the passes over n numbers; 0 if a prime factor is larger than the radices."""
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
    for radix in range(3, S0_MOST_RADIX + 1, 2):
        while n % radix == 0:
            passes.radix[passes.passes] = <unsigned char>radix
            passes.passes += 1
            n //= radix
    return n == 1


cdef Py_ssize_t padded(Py_ssize_t n) noexcept:
    return (n + SQUARE - 1) // SQUARE * SQUARE


cdef Py_ssize_t square_rows(Py_ssize_t n) noexcept:
    """The number of rows for a matrix that is nearly square and consists of whole vectors."""
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
    """The number of roots in the table of `passes`."""
    cdef Py_ssize_t run = passes.length, count = 0
    cdef int p, radix
    for p in range(passes.passes):
        radix = passes.radix[p]
        run //= radix
        count += (radix if radix % 2 else 0) + ((radix - 1) * run if run > 1 else 0)
    return count


cdef int64_t* list_passes(const s0_passes* passes, int64_t* to, Py_ssize_t n) noexcept:
    """Write the numbers of the n-th roots of unity in the table of `passes`; returns the end."""
    cdef Py_ssize_t run = passes.length, count = 1, i, every = n // passes.length
    cdef int p, radix, j
    for p in range(passes.passes):
        radix = passes.radix[p]
        if radix % 2:
            for j in range(radix):
                to[j] = j * (n // radix)
            to += radix
        run //= radix
        if run > 1:
            for i in range(run):
                for j in range(1, radix):
                    to[j - 1] = i * j * count * every
                to += radix - 1
        count *= radix
    return to


cdef int64_t* list_turns(Py_ssize_t rows, Py_ssize_t columns, Py_ssize_t lanes, int64_t* to, Py_ssize_t every) noexcept:
    """The same for the turns of a matrix, for each unit of columns and each row. The last unit overlaps the unit before."""
    cdef Py_ssize_t first, r, c
    for first in range(0, columns, lanes):
        first = min(first, columns - lanes)
        for c in range(lanes):
            to[c] = 0
        for r in range(1, rows):
            for c in range(lanes):
                to[lanes + c] = to[c] + (first + c) * every
                if to[lanes + c] >= rows * columns * every:
                    to[lanes + c] -= rows * columns * every
            to += lanes
        to += lanes
    return to


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
    cdef Py_ssize_t rows, columns, count, begin, turns = 0, halves, k
    cdef double* to
    cdef double* cosines
    cdef int64_t* which
    cdef Array scratch
    if made is not None:
        return made
    made = Tables.__new__(Tables)
    all = &made.all
    if size > tuning.transform_numbers or not factor_into(size, &all.columns):
        return None
    rows = size if beside or size < tuning.transform_matrix_numbers else square_rows(size)
    columns = size // rows
    factor_into(rows, &all.columns)
    factor_into(columns, &all.rows)
    if columns > 1:
        turns = (columns + lanes - 1) // lanes * rows * lanes
    all.half = size if of_real else 0
    halves = size // 2 + 1 if of_real else 0
    begin = numbers_of(&all.columns) + numbers_of(&all.rows)
    # Kernels read whole vectors of halves.
    count = 2 * (begin + turns + halves + SQUARE)
    made.memory = new_array(FLOAT64, 1, &count, NULL, True)
    count = 4 * (begin + turns + halves)
    scratch = new_array(FLOAT64, 1, &count, NULL, False)
    count = begin + turns + halves
    which = <int64_t*>data_of(scratch)
    list_passes(&all.rows, list_passes(&all.columns, which, n), n)
    if turns:
        list_turns(rows, columns, lanes, which + begin, n // size)
    for k in range(halves):
        which[begin + turns + k] = k
    cosines = <double*>which + count
    find_roots(which, count, n, cosines, cosines + count, cosines + 2 * count)
    to = <double*>data_of(made.memory)
    all.columns.twiddles, all.rows.twiddles = to, to + 2 * numbers_of(&all.columns)
    all.turns, all.halves = to + 2 * begin, to + 2 * (begin + turns)
    for k in range(count):
        to[2 * k], to[2 * k + 1] = cosines[k], cosines[count + k]
    for k in range(begin, begin + turns, lanes):
        memcpy(to + 2 * k, cosines + k, lanes * sizeof(double))
        memcpy(to + 2 * k + lanes, cosines + count + k, lanes * sizeof(double))
    TABLES[key] = made
    # The oldest tables are freed first; `empty_cache` frees all.
    while len(TABLES) > tuning.kept_tables or (len(TABLES) > 1 and sum([(<Tables>kept).memory.nbytes for kept in list(TABLES.values())]) > tuning.kept_table_bytes):
        TABLES.pop(next(iter(list(TABLES)), None), None)
    return made


when_emptied(TABLES.clear)
