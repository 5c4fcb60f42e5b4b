# Eigenvalues and singular values, by the kernels in `hermitian.h`, `complex_singular.h` and `complex_schur.h`.
#
# Note [Eigenvalues]
#     These kernels replace LAPACK for the sizes at which they are faster, and for all sizes within `reproducible`.
#     Every sum has a fixed order, and only correctly rounded operations are used: no bit depends on the instruction set or the
#     number of threads.
#
#     A matrix is first multiplied by a power of 2, so that its greatest element is from 1/2 to 1. Reflectors then reduce a
#     symmetric matrix to a tridiagonal matrix, and a matrix whose singular values are wanted to a bidiagonal matrix (G. H. Golub,
#     C. F. Van Loan, "Matrix Computations", 4th edition, 2013, sections 8.3 and 8.6). Implicit QL and QR sweeps with Wilkinson's
#     shift find the eigenvalues, as in LAPACK's dsteqr; the sweeps of Demmel and Kahan find the singular values with a small
#     relative error, as in dbdsqr. Rotations are kept, and applied to some columns of all vectors at a time, by whole sweeps (F.
#     G. Van Zee, R. A. van de Geijn, G. Quintana-Ortí, "Restructuring the Tridiagonal and Bidiagonal QR Algorithms for
#     Performance", ACM Transactions on Mathematical Software 40, 2014). Vectors are normalised at the end.
#
#     Complex reflectors make the tridiagonal or bidiagonal matrix real, so that the sweeps are the same.
#
#     Any other matrix is balanced and reduced to Hessenberg form. Double-shift sweeps find blocks of one or two rows, as in
#     dlahqr, with its exceptional shifts and its criterion for small elements. Single-shift sweeps make complex matrices
#     triangular, as in zlahqr. Eigenvectors are solutions of triangular systems; if they grow, they are scaled. Iterations
#     fail above a fixed number of sweeps.
#
#     Residuals and orthogonality errors are as large as with dsyev, dgesvd and dgeev, and up to twice as large as with LAPACK's
#     divide and conquer, which NumPy calls. Times in milliseconds on one thread of an AVX-512 server, NumPy 2.4:
#
#                     10x10   20x20   50x50   100x100   200x200
#     eigh   here     0.009   0.018   0.089      0.38       2.5
#            LAPACK   0.010   0.029   0.146      0.55       2.3
#     svd    here     0.013   0.028   0.14       0.60       4.5
#            LAPACK   0.014   0.041   0.22       0.87       4.3
#     eig    here     0.013   0.037   0.23       1.3        16
#            LAPACK   0.020   0.065   0.55       3.2        33

# Note [Signs of vectors]
#     Nearly all vectors of `eigh` and `svd` have the signs that LAPACK computes in NumPy. For random matrices, `eigh` agrees in all columns
#     up to 100 rows, and in 98 % of the columns at 200 rows. `svd` agrees in 95 % of the columns or more, except for matrices of two rows,
#     for which LAPACK calls dlasv2. Reflectors and sweeps are the same as in LAPACK. A symmetric matrix is read with rows and columns in
#     reverse order, so that the reflectors begin with its first column, as in dsytrd. The transpose of a wide matrix is lower bidiagonal.
#     Rotations make it upper bidiagonal, as in dbdsdc. A block of two rows is diagonalised by the formulas of dlaev2.
#
#     LAPACK divides a matrix of more than S0_UNDIVIDED rows (dstedc, dbdsdc). Let m = n // 2, let t be the tridiagonal matrix and w an
#     eigenvector of t. The last step of dstedc adds |t[m - 1, m]| v v' to two halves, with v = 1 at m - 1 and v = sign(t[m - 1, m]) at m. It
#     computes w = (D - value)^-1 z, with z = v in the basis of the halves, so that v' w is negative. Similarly dbdsdc divides a bidiagonal
#     matrix at row m, and sets element m of a left vector to -1 before it normalises the vector. stride0 makes these products negative. Signs may
#     differ for vectors that LAPACK takes from a half without change (deflation).

cdef struct SpectraJob:
    s0_spectra all
    Py_ssize_t count        # number of all matrices
    Py_ssize_t matrices     # number of matrices in a chunk
    s0_decomposition run
    int failed, refused


cdef void decompose_some(void* context, int chunk) noexcept nogil:
    cdef SpectraJob* job = <SpectraJob*>context
    cdef Py_ssize_t first = chunk * job.matrices
    cdef int status = job.run(&job.all, first, min(first + job.matrices, job.count))
    if status < 0:
        s0_write_int(job.refused, True)
    elif not status:
        s0_write_int(job.failed, True)


cdef bint has_own_values(Array x) except -1:
    """Note [Eigenvalues]: whether `eigvalsh` and `svdvals` of x, in LAPACK's dtype, are computed here."""
    return (x.code == FLOAT64 or x.code == COMPLEX128) and is_reproducible()


cdef bint has_own_vectors(Array x) except -1:
    """Note [Eigenvalues]: whether `eigh` and `svd` of x are computed here."""
    cdef Py_ssize_t m = x.shape_[x.ndim - 2], n = x.shape_[x.ndim - 1]
    cdef bint is_fast = min(m, n) >= tuning.own_spectra_rows and max(m, n) <= tuning.most_own_spectra_rows
    return has_own_values(x) or (x.code == FLOAT64 and is_fast)


cdef bint has_own_eigenvalues(Array x) except -1:
    """Note [Eigenvalues]: whether `eig` and `eigvals` of x are computed here."""
    return x.shape_[x.ndim - 1] <= tuning.own_eigen_rows or is_reproducible()


cdef bint run_spectra(s0_decomposition run, bint full, Array a, Array values, Array left=None, Array right=None) except -1:
    """
    Write values and vectors, in C order, of the matrices of a float64 or complex128 array; without `left`, only values.

    Eigenvectors are columns of `left`; singular vectors are columns of `left` and rows of `right`. False if a matrix does not converge, or an
    element is not finite.
    """
    cdef SpectraJob job
    cdef Py_ssize_t m = a.shape_[a.ndim - 2], n = a.shape_[a.ndim - 1], few = min(m, n), size
    cdef Array memory
    cdef int axis
    job.count = 1
    for axis in range(a.ndim - 2):
        job.count *= a.shape_[axis]
    if job.count == 0:
        return True
    a = stack_of(a, a, job.all.strides)
    job.all.a, job.all.rows, job.all.columns, job.all.full, job.all.is_complex = data_of(a), m, n, full, a.code == COMPLEX128
    job.all.values, job.all.left, job.all.right, job.all.memory = <double*>data_of(values), NULL, NULL, NULL
    if left is not None:
        job.all.left = <double*>data_of(left)
    if right is not None:
        job.all.right = <double*>data_of(right)
    job.run, job.failed, job.refused = run, False, False
    if job.count == 1:
        # From the cache of blocks: new pages would take as long as the computation.
        size = s0_spectra_size(&job.all, run == TABLE.symmetric)
        memory = new_array(FLOAT64, 1, &size, NULL, False)
        job.all.memory = <double*>data_of(memory)
    # A rough estimate, in nanoseconds.
    run_shared(decompose_some, &job, &job.matrices, job.count, job.count * (500 + max(m, n) * few * (20 + few // 3 if run != TABLE.general else 40 + 2 * few)))
    if job.refused:
        raise MemoryError()
    return not job.failed
