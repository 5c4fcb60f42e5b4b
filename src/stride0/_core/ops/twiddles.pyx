"""Tables of Fourier transforms: roots of unity in the order in which the kernels of `fourier.h` read them."""

from libc.string cimport memcpy, memset

from stride0._core.memory.dtype cimport FLOAT64
from stride0._core.plan.operations cimport OP_COS, OP_SIN
from stride0._core.plan.partition cimport run_contiguous
from stride0._core.plan.table cimport S0_MOST_RADIX, TABLE, op_kernel, s0_fourier, s0_passes
from stride0._core.array.array cimport Array, data_of, new_array

cdef enum:
    LONGEST = 1 << 20       # complex numbers of a transform
    SHORTEST = 64           # of one that is a matrix
    KEPT = 1 << 25          # bytes of the tables that are kept

cdef double EIGHTH = 0.78539816339744830962    # of a turn, in radians


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


cdef dict TABLES = {}


cdef Tables tables_of(Py_ssize_t n, bint of_real, bint beside):
    """For lanes side by side, or else each as a matrix where it is long; None where the length is left to pocketfft."""
    cdef object key = 4 * n + 2 * of_real + beside
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
    rows = size if beside or size < SHORTEST else rows_of(size)
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
