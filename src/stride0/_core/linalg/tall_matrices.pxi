# Orthogonal factors of matrices with more rows than columns, by kernels of our own (`tall_matrices.h`).
#
# Note [Tall matrices]
#     LAPACK applies one reflector after another to all rows of a narrow matrix, which do not stay in a cache, and once more to
#     form the orthogonal factor. Here blocks of rows are factored (TSQR: J. Demmel, L. Grigori, M. Hoemmen, J. Langou,
#     "Communication-optimal parallel and sequential QR and LU factorizations", SIAM Journal on Scientific Computing 34, 2012):
#     the first block of a section of rows, then each next block below the triangle that is left, so that all
#     operations are reflections, as in LAPACK, and as stable. Sections are factored by the threads of the pool, and their triangles
#     joined in the same way. Within a block a panel of eight columns is factored first, and its reflectors are applied to the
#     other columns at once (R. Schreiber, C. Van Loan, "A storage-efficient WY representation for products of Householder
#     transformations", 1989), eight multiplications for each element that is read. Blocks and sections depend on the shape alone: no bit
#     depends on the number of threads, and none on the instruction set. What is computed in float32 elsewhere is computed in float64, and
#     rounded once.
#
#     The orthogonal factor of a block is I - V T V'. Applied to a square c above zeros, as it is from the last block to the first,
#     it gives the product of V and one square, T V' c, so that the rows of Q, or of the singular vectors Q U, are one product
#     of matrices. T is not computed: its inverse has the products of the reflectors above its diagonal (C. Puglisi,
#     "Modification of the Householder method based on the compact WY representation", 1992).
#
#     Any orthogonal factor may have other signs than LAPACK's. The reflectors of LAPACK choose the sign of a column against the
#     element on the diagonal. An elimination in the first n rows of Q gives the elements on the diagonal (G. Ballard, J. Demmel, L. Grigori,
#     M. Jacquelin, H. D. Nguyen, E. Solomonik, "Reconstructing Householder vectors from tall-skinny QR", 2014). Where
#     such an element is so small that rounding errors could have changed its sign, and where squares would overflow or underflow, LAPACK
#     computes the factors.
#
#     One thread of an AMD server with AVX-512, NumPy 2.4 and its OpenBLAS on one thread, milliseconds of processor time:
#
#                         10000x40  10000x15  2000x20  1000x100  100000x10  300x30
#         qr       here      2.9       .51      .17       1.6        4.4     .055
#                  LAPACK    9.1      1.2       .34       2.7       12.4     .092
#         svd      here      3.4       .53      .22       2.6        4.6     .15
#                  LAPACK   12.9      1.7       .52       4.5       19.2     .22
#         svdvals  here      1.3       .27      .10       1.0        2.3     .064
#                  LAPACK    4.9      1.0       .31       2.1        6.8     .115
#
#     Complex matrices are left to LAPACK, and all factors with one or two columns, for which its functions for vectors are faster.

cdef enum:
    UNIT = 8                # columns that kernels take at once

cdef enum Step:
    FACTOR
    JOIN
    SPREAD
    APPLY

cdef enum:                  # what became of a step
    REFUSED = 1
    NO_MEMORY = 2

cdef struct TallJob:
    const s0_tall* all
    Step step
    const double* by
    bint unrolled           # whether the first sections of matrices are
    Py_ssize_t count        # of sections, or of matrices,
    Py_ssize_t each         # and of those of a chunk
    Py_ssize_t scratch      # numbers
    int failed


cdef bint is_tall(Array x, bint alone) noexcept:
    """Note [Tall matrices]: whether the matrices of x are factored here; the triangles `alone`, if that is all that is asked for."""
    cdef Py_ssize_t rows = x.shape_[x.ndim - 2], columns = x.shape_[x.ndim - 1]
    if (x.code != FLOAT32 and x.code != FLOAT64) or not x.size:
        return False
    return (1 if alone else tuning.tall_columns) <= columns <= S0_MOST_COLUMNS and rows >= tuning.tall_ratio * columns


cdef void run_some(void* context, int chunk) noexcept nogil:
    """A chunk of a step."""
    cdef TallJob* job = <TallJob*>context
    cdef Py_ssize_t first = chunk * job.each, last = min(first + job.each, job.count)
    cdef bint done = True
    cdef char* memory = <char*>malloc(job.scratch * sizeof(double) + ALIGNMENT)
    cdef double* scratch = <double*>aligned(memory)
    if memory is NULL:
        s0_write_int(job.failed, NO_MEMORY)
        return
    if job.step == FACTOR:
        done = TABLE.tall_factor(job.all, first, last, scratch)
    elif job.step == JOIN:
        done = TABLE.tall_join(job.all, first, last)
    elif job.step == SPREAD:
        done = TABLE.tall_spread(job.all, first, last, job.by, scratch)
    else:
        TABLE.tall_apply(job.all, first, last, job.unrolled, scratch)
    free(memory)
    if not done:
        s0_write_int(job.failed, REFUSED)


cdef class Tall:
    """Factors of matrices, each as its sections."""

    cdef s0_tall all
    cdef Py_ssize_t count           # of matrices
    cdef Array operand, memory, out

    cdef Array squares(self):
        """The triangles, with the leading axes of the operand: a view of float64."""
        cdef Array x = self.operand
        cdef Py_ssize_t shape[MAX_NDIM]
        cdef Py_ssize_t strides[MAX_NDIM]
        cdef Py_ssize_t size = itemsize_at(FLOAT64), stride = self.all.sections * self.all.columns * self.all.pitch * size
        cdef int k
        for k in range(x.ndim - 3, -1, -1):
            shape[k], strides[k] = x.shape_[k], stride
            stride *= shape[k]
        shape[x.ndim - 2] = shape[x.ndim - 1] = self.all.columns
        strides[x.ndim - 2], strides[x.ndim - 1] = self.all.pitch * size, size
        return view_of(self.memory, data_of(self.memory), x.ndim, shape, strides)

    cdef Array multiplied(self, Array by):
        """
        The first columns of the orthogonal factors; or these times squares, of float64 in C order. Once.

        The columns, and then the rows of `squares`, have the signs that LAPACK gives them; None where rounding errors would
        choose one.
        """
        cdef const double* squares = NULL
        if by is not None:
            squares = <const double*>data_of(by)
        if not run_step(self, SPREAD, squares):
            return None
        run_step(self, APPLY, NULL, by is None)
        return self.out


cdef bint run_step(Tall tall, Step step, const double* by=NULL, bint unrolled=False) except -1:
    """Run a step for all sections or matrices; False where it refuses a matrix."""
    cdef TallJob job
    cdef Py_ssize_t n = tall.all.columns, square = n * tall.all.pitch, rows = tall.all.rows * tall.count
    cdef int64_t work
    job.all, job.step, job.by, job.unrolled, job.failed = &tall.all, step, by, unrolled, 0
    # Rough estimates, in nanoseconds.
    if step == FACTOR or step == APPLY:
        job.count = tall.count * tall.all.sections
        work = rows * n * (n + 20) // 10
        job.scratch = tall.all.block * (tall.all.pitch + UNIT) if step == FACTOR else 3 * square + tall.all.block * tall.all.pitch
    else:
        job.count = tall.count
        work = job.count * tall.all.sections * square * n // 5
        job.scratch = 3 * square
    run_shared(run_some, &job, &job.each, job.count, work)
    if job.failed == NO_MEMORY:
        raise MemoryError()
    return not job.failed


cdef Tall factor_tall(Array x, bint alone):
    """
    The factors of matrices for which `is_tall` holds; the triangles `alone`, if that is all that is asked for.

    None where norms would overflow or underflow, or an element is not finite.
    """
    cdef Tall tall = Tall.__new__(Tall)
    cdef s0_tall* all = &tall.all
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t triangles, records = 0, reflectors = 0, square
    cdef int k
    tall.operand = stack_of(x, x, all.strides)
    all.a, all.itemsize = data_of(tall.operand), itemsize_at(x.code)
    all.rows, all.columns = x.shape_[x.ndim - 2], x.shape_[x.ndim - 1]
    all.pitch = (all.columns + UNIT - 1) // UNIT * UNIT
    tall.count = x.size // (all.rows * all.columns)
    # By shapes alone, so that no bit depends on the number of threads.
    all.sections = max(1, min(<Py_ssize_t>tuning.tall_sections, all.rows // max(<Py_ssize_t>tuning.tall_section_rows, tuning.tall_section_ratio * all.columns)))
    all.height = (all.rows + all.sections - 1) // all.sections
    all.block = min(<Py_ssize_t>(tuning.tall_block_rows if all.columns <= tuning.tall_narrow_columns else 2 * tuning.tall_block_rows), all.height)
    square = all.columns * all.pitch
    triangles = tall.count * all.sections * square
    if not alone:
        records = tall.count * all.sections * ((all.height + all.block - 1) // all.block + 1) * (square + 2 * all.pitch)
        reflectors = 0 if x.code == FLOAT64 else x.size
        for k in range(x.ndim):
            shape[k] = x.shape_[k]
        tall.out = new_array(x.code, x.ndim, shape, NULL, False)
    shape[0] = records + reflectors + triangles * (1 if alone else 2)
    tall.memory = new_array(FLOAT64, 1, shape, NULL, False)
    all.triangles = <double*>data_of(tall.memory)
    all.records = all.reflectors = all.coefficients = NULL
    if not alone:
        all.coefficients = all.triangles + triangles
        all.records = all.coefficients + triangles
        all.reflectors = all.records + records if reflectors else <double*>data_of(tall.out)
        all.out = data_of(tall.out)
    return tall if run_step(tall, FACTOR) and run_step(tall, JOIN) else None
