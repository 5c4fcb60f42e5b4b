# Orthogonal factors of matrices with more rows than columns, by the kernels in `tall_matrices.h`.
#
# Note [Tall matrices]
#     LAPACK applies reflectors one by one to all rows of a narrow matrix, which do not stay in a cache, and does so again to
#     form the orthogonal factor. Here blocks of rows are factored (TSQR: J. Demmel, L. Grigori, M. Hoemmen, J. Langou,
#     "Communication-optimal parallel and sequential QR and LU factorizations", SIAM Journal on Scientific Computing 34, 2012):
#     first the first block of a section of rows, then each next block together with the triangle that is left. All operations
#     are reflections, so this is as stable as LAPACK. The threads of the pool factor the sections, and the triangles are joined
#     in the same way. Within a block a panel of eight columns is factored first. Its reflectors are applied to the other columns
#     together (R. Schreiber, C. Van Loan, "A storage-efficient WY representation for products of Householder transformations",
#     1989), with eight multiplications per element read. Blocks and sections depend only on the shape: no bit depends on the
#     number of threads or the instruction set. Dtypes that are float32 in memory are computed in float64 and rounded once.
#
#     The orthogonal factor of a block is I - V T V'. It is applied, from the last block to the first, to a square c above zeros.
#     The result is the product of V and the square T V' c. So the rows of Q, or of the singular vectors Q U, are one matrix
#     product. T is not computed: its inverse has the products of the reflectors above its diagonal (C. Puglisi, "Modification
#     of the Householder method based on the compact WY representation", 1992).
#
#     The signs of an orthogonal factor may differ from LAPACK's. The reflectors of LAPACK choose the sign of a column opposite
#     to the element on the diagonal. An elimination in the first n rows of Q gives these elements (G. Ballard, J. Demmel, L.
#     Grigori, M. Jacquelin, H. D. Nguyen, E. Solomonik, "Reconstructing Householder vectors from tall-skinny QR", 2014). If such
#     an element is so small that rounding errors could change its sign, or if squares would overflow or underflow, the
#     factors are computed in panels, Note [Reflectors in panels], and singular values by LAPACK.
#
#     Times on one thread of an AMD server with AVX-512, NumPy 2.4 and its OpenBLAS on one thread, in milliseconds:
#
#                         10000x40  10000x15  2000x20  1000x100  100000x10  300x30
#         qr       here      2.9      0.51     0.17       1.6        4.4    0.055
#                  LAPACK    9.1      1.2      0.34       2.7       12.4    0.092
#         svd      here      3.4      0.53     0.22       2.6        4.6    0.15
#                  LAPACK   12.9      1.7      0.52       4.5       19.2    0.22
#         svdvals  here      1.3      0.27     0.10       1.0        2.3    0.064
#                  LAPACK    4.9      1.0      0.31       2.1        6.8    0.115
#
#     Complex matrices are factored in panels.

cdef enum:
    UNIT = 8                # columns that kernels process together

cdef enum Step:
    FACTOR
    JOIN
    SPREAD
    APPLY

cdef enum:                  # outcome of a step
    REFUSED = 1
    NO_MEMORY = 2

cdef struct TallJob:
    const s0_tall* all
    Step step
    const double* by
    bint unrolled           # whether the first sections of matrices are unrolled
    Py_ssize_t count        # number of sections, or of matrices
    Py_ssize_t each         # number of sections or matrices in a chunk
    Py_ssize_t scratch      # numbers in the scratch memory
    int failed


cdef bint is_tall(Array x) noexcept:
    """Note [Tall matrices]: whether the matrices of x are factored here."""
    cdef Py_ssize_t rows = x.shape_[x.ndim - 2], columns = x.shape_[x.ndim - 1]
    if (x.code != FLOAT32 and x.code != FLOAT64) or not x.size:
        return False
    return tuning.tall_columns <= columns <= S0_MOST_COLUMNS and rows >= tuning.tall_ratio * columns


cdef void run_some(void* context, int chunk) noexcept nogil:
    """Run a chunk of a step."""
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
    """The orthogonal factors of matrices, stored by sections."""

    cdef s0_tall all
    cdef Py_ssize_t count           # number of matrices
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
        The first columns of the orthogonal factors, or their products with squares (float64, C order). Call it once.

        The columns, and then the rows of `squares`, have the signs that LAPACK gives them; None if rounding errors would
        determine a sign.
        """
        cdef const double* squares = NULL
        if by is not None:
            squares = <const double*>data_of(by)
        if not run_step(self, SPREAD, squares):
            return None
        run_step(self, APPLY, NULL, by is None)
        return self.out


cdef bint run_step(Tall tall, Step step, const double* by=NULL, bint unrolled=False) except -1:
    """Run a step for all sections or matrices; False if the step refuses a matrix."""
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
    Factor matrices for which `is_tall` holds; with `alone`, only the triangles.

    None if norms would overflow or underflow, or an element is not finite.
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
    # Sections depend only on shapes, so that no bit depends on the number of threads.
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
