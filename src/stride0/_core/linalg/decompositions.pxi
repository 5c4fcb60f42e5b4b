# Decompositions, solutions and inverses, by stride0 kernels or by LAPACK. Declared in `linalg/_decompositions.py`.
#
# Both compute in float64 and complex128. Operands in float32 and complex64 are cast, which is exact; their results are rounded.

cdef extern from *:
    """
    static int s0_all_finite(const double *x, Py_ssize_t n) {
        const uint64_t exponent = 0x7ff0000000000000u;
        uint64_t bits, special = 0;
        for (Py_ssize_t i = 0; i < n; i++) {
            memcpy(&bits, x + i, 8);
            special |= (uint64_t)((bits & exponent) == exponent);
        }
        return !special;
    }
    /* Copy the upper triangle of a matrix to zeroed memory. */
    static void s0_copy_upper(char *out, const char *a, Py_ssize_t down, Py_ssize_t across, Py_ssize_t rows, Py_ssize_t columns, size_t size) {
        for (Py_ssize_t i = 0; i < rows; i++)
            for (Py_ssize_t j = i; j < columns; j++)
                memcpy(out + (i * columns + j) * size, a + i * down + j * across, size);
    }
    """
    bint s0_all_finite(const double* x, Py_ssize_t n) noexcept nogil
    void s0_copy_upper(char* out, const char* a, Py_ssize_t down, Py_ssize_t across, Py_ssize_t rows, Py_ssize_t columns, size_t size) noexcept nogil

cdef enum:
    MANY = 1 << 12          # elements of a matrix from which least-squares systems are reduced first

cdef double LOG_2 = 0.693147180559945309417232121458

# Set by `linalg/_decompositions`, a higher layer: the types of results, and the function that raises if a decomposition failed.
cdef object Eig = None, Eigh = None, QR = None, Slogdet = None, SVDs = None
cdef object raise_failure = None


def set_results(eig, eigh, qr, slogdet, svd, failure):
    """
    Set the types of named tuples, and the function that raises LinAlgError.

    Parameters
    ----------
    eig, eigh, qr, slogdet, svd : type
        Named tuple types.
    failure : callable
        Called with the name of a function, an array, and the name of the array.
    """
    global Eig, Eigh, QR, Slogdet, SVDs, raise_failure
    Eig, Eigh, QR, Slogdet, SVDs, raise_failure = eig, eigh, qr, slogdet, svd, failure


# --- operands


cpdef Array check_matrices(str op, object x, str name="x"):
    """`x` if it is a matrix or a stack of them."""
    cdef Array found = <Array>x if type(x) is Array else check_array(op, x, name)
    if found.ndim < 2:
        raise ShapeError(op, f"{name} must be a matrix or a stack of them", [(name, f"{found.shape}")])
    return found


cpdef Array check_square(str op, object x, str name="x"):
    """`x` if it is a square matrix or a stack of them."""
    cdef Array found = check_matrices(op, x, name)
    if found.shape_[found.ndim - 1] != found.shape_[found.ndim - 2]:
        raise ShapeError(op, f"{name} must be square, and its matrices are {found.shape[-2]} by {found.shape[-1]}", [(name, f"{found.shape}")],
                         "pass a square matrix or a stack of square matrices")
    return found


cpdef Array as_floating(Array x):
    """`x` if its dtype is floating-point, real or complex; integers and bool cast to float64."""
    return x if letter_at(x.code) == c"f" or letter_at(x.code) == c"c" else copy_array(x, FLOAT64, False)


cpdef int refuse_storage_dtypes(str op, Array x) except -1:
    """Raise DTypeError for a storage dtype."""
    if is_stored(x.code):
        raise DTypeError(
            op, f"Unsupported dtype {x.dtype.name}", (), f"cast first: astype(x, {dtype_at(arithmetic_code(x.code)).name})")
    return 0


cpdef int check_rows(str op, Array x1, Array x2) except -1:
    """Refuse right-hand sides with another number of rows, or that do not broadcast against the matrices."""
    rows = x2.shape[0 if x2.ndim == 1 else -2] if x2.ndim else None
    if rows != x1.shape[-2]:
        raise ShapeError(
            op,
            f"x1 has {counted(x1.shape[-2], 'equation')} and x2 has " + ("no rows" if rows is None else counted(rows, "row")),
            [("x1", f"{x1.shape}"), ("x2", f"{x2.shape}")],
            "write x2 as a vector, or as matrices with as many rows as x1 has; a row of numbers becomes a column by x2[:, None]")
    if x2.ndim > 1:
        broadcast_batches(op, x1, x2)
    return 0


cdef Array square_argument(PyObject* x, str op, str name):
    cdef Array found = as_floating(check_square(op, <object>x, name))
    refuse_storage_dtypes(op, found)
    return found


cdef Array matrices_argument(PyObject* x, str op):
    cdef Array found = as_floating(check_matrices(op, <object>x))
    refuse_storage_dtypes(op, found)
    return found


cdef int wide_code(int code) noexcept:
    return COMPLEX128 if letter_at(code) == c"c" else FLOAT64


cdef Array widened(Array x, int code):
    """x cast to the dtype in which its matrices are computed."""
    return x if x.code == code else copy_array(x, code, False)


cdef Array narrowed(Array x, int code):
    """A result cast to the precision of the operand, real or complex as the result is."""
    if code == FLOAT32 or code == COMPLEX64:
        return copy_array(x, COMPLEX64 if letter_at(x.code) == c"c" else FLOAT32, False)
    return x


cdef Array per_matrix(Array x, int code, int axes, Py_ssize_t rows, Py_ssize_t columns, bint zeroed=False):
    """A new array for a number, a vector of `rows`, or a matrix for each matrix of x; uninitialised or zeroed."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef int k
    for k in range(x.ndim - 2):
        shape[k] = x.shape_[k]
    shape[x.ndim - 2], shape[x.ndim - 1] = rows, columns
    return new_array(code, x.ndim - 2 + axes, shape, NULL, zeroed)


cdef bint is_finite(Array x) except -1:
    """Whether all elements of a float64 or complex128 array are finite."""
    cdef bint finite
    if not x.c_contiguous:
        x = copy_array(x, x.code, True)
    cdef const double* first = <const double*>data_of(x)
    cdef Py_ssize_t n = x.size * (itemsize_at(x.code) // <Py_ssize_t>sizeof(double))
    with nogil:
        finite = s0_all_finite(first, n)
    return finite


# --- one result


cdef Array compute_values(int routine, Array x):
    """Eigenvalues, by EIGVALS or EIGVALSH; None if the iteration failed."""
    cdef int code = wide_code(x.code)
    cdef Py_ssize_t n = x.shape_[x.ndim - 1]
    cdef Array a = widened(x, code), out
    cdef bint general = routine == EIGVALS
    if general and not is_finite(a):
        return None
    out = per_matrix(a, COMPLEX128 if general else FLOAT64, 1, n, 0)
    if has_own_eigenvalues(a) if general else has_own_values(a):
        return narrowed(out, x.code) if run_spectra(TABLE.general if general else TABLE.symmetric, False, a, out) else None
    return None if run_lapack(routine, (a, out)) else narrowed(out, x.code)


cdef Array compute_inverses(Array x):
    """None if a matrix is singular."""
    cdef Py_ssize_t n = x.shape_[x.ndim - 1]
    cdef Array a = widened(x, wide_code(x.code)), out = per_matrix(a, a.code, 2, n, n)
    return narrowed(out, x.code) if solve_systems(a, None, out) else None


cdef Array compute_triangles(Array x, bint upper):
    """Triangular factors; None if a matrix is not positive definite."""
    cdef Py_ssize_t n = x.shape_[x.ndim - 1]
    cdef Array a = widened(x, wide_code(x.code)), out = per_matrix(a, a.code, 2, n, n)
    return narrowed(out, x.code) if triangular_factors(a, out, upper) else None


cdef Array rounded_determinants(Array a):
    """The determinants of matrices of float64 or complex128."""
    cdef Array out = per_matrix(a, a.code, 0, 0, 0), exponents = new_like(out, FLOAT64)
    cdef double* factor = <double*>data_of(out)
    cdef Py_ssize_t parts = parts_of(a.code), k
    determinants(a, out, exponents)
    for k in range(out.size * parts):
        factor[k] = ldexp(factor[k], <int>(<double*>data_of(exponents))[k // parts])
    return out


cdef object found_or_failure(str op, Array out, Array x):
    return raise_failure(op, x, "x") if out is None else out


cdef object det(str name, PyObject** given):
    cdef Array x = square_argument(given[0], "det", "x"), a = widened(x, wide_code(x.code))
    return narrowed(rounded_determinants(a), x.code)


cdef object inv(str name, PyObject** given):
    return inverse("inv", square_argument(given[0], "inv", "x"))


cpdef Array inverse(str op, Array x):
    """The inverses of square matrices of a floating-point dtype."""
    refuse_storage_dtypes(op, x)
    return found_or_failure(op, compute_inverses(x), x)


cdef object cholesky(str name, PyObject** given):
    """`given`: x, upper."""
    cdef Array x = square_argument(given[0], "cholesky", "x")
    cdef bint upper = flag_argument(given[1], "cholesky", "upper")
    # The error examines lower triangles, so pass the transpose for upper ones.
    return found_or_failure("cholesky", compute_triangles(x, upper), swapped_matrix(x) if upper else x)


cdef object eigvals(str name, PyObject** given):
    cdef Array x = square_argument(given[0], "eigvals", "x")
    return found_or_failure("eigvals", compute_values(EIGVALS, x), x)


cdef object eigvalsh(str name, PyObject** given):
    cdef Array x = square_argument(given[0], "eigvalsh", "x")
    return found_or_failure("eigvalsh", compute_values(EIGVALSH, x), x)


cdef Array compute_svdvals(Array x):
    cdef Py_ssize_t rows = x.shape_[x.ndim - 2], columns = x.shape_[x.ndim - 1]
    cdef Tall tall = factor_tall(x, True) if is_tall(x) else None
    cdef Array a = widened(x, wide_code(x.code)) if tall is None else tall.squares(), out
    if tall is None and not is_finite(a):
        return None
    out = per_matrix(a, FLOAT64, 1, min(rows, columns), 0)
    if has_own_values(a):
        return narrowed(out, x.code) if run_spectra(TABLE.singular, False, a, out) else None
    return None if run_lapack(SVD, (a, out)) else narrowed(out, x.code)


cpdef Array singular_values(str op, Array x):
    """The singular values of matrices of a floating-point dtype."""
    refuse_storage_dtypes(op, x)
    return found_or_failure(op, compute_svdvals(x), x)


cdef object svdvals(str name, PyObject** given):
    return singular_values("svdvals", matrices_argument(given[0], "svdvals"))


cdef Array compute_solve(Array x1, Array x2):
    cdef int code = promote_codes(x1.code, x2.code), wide = wide_code(code)
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t strides[MAX_NDIM]
    cdef Array a = widened(x1, wide), b = widened(x2, wide), out
    cdef int k
    if x2.ndim == 1:
        # A vector is one column.
        shape[0], shape[1], strides[0], strides[1] = b.shape_[0], 1, b.strides_[0], itemsize_at(wide)
        b = view_of(b, data_of(b), 2, shape, strides)
    batch = broadcast_batches("solve", a, b) if b.ndim > 2 else None
    if batch is None:
        out = per_matrix(a, wide, 2, b.shape_[b.ndim - 2], b.shape_[b.ndim - 1])
    else:
        for k, size in enumerate(batch):
            shape[k] = size
        k = <int>len(batch)
        shape[k], shape[k + 1] = b.shape_[b.ndim - 2], b.shape_[b.ndim - 1]
        out = new_array(wide, k + 2, shape, NULL, False)
    if not solve_systems(a, b, out):
        return None
    if x2.ndim == 1:
        out = without_axes(out, (out.ndim - 1,))
    return narrowed(out, code)


cdef object solve(str name, PyObject** given):
    """`given`: x1, x2."""
    cdef Array x1 = as_floating(check_square("solve", <object>given[0], "x1"))
    cdef Array x2 = as_floating(array_argument(given[1], "solve", "x2"))
    if x1.ndim != 2 or x2.ndim == 0 or x2.ndim > 2 or x2.shape_[0] != x1.shape_[0]:
        check_rows("solve", x1, x2)
    refuse_storage_dtypes("solve", x1)
    refuse_storage_dtypes("solve", x2)
    out = compute_solve(x1, x2)
    return raise_failure("solve", x1, "x1") if out is None else out


implement("linalg.cholesky", cholesky)
implement("linalg.det", det)
implement("linalg.eigvals", eigvals)
implement("linalg.eigvalsh", eigvalsh)
implement("linalg.inv", inv)
implement("linalg.solve", solve)
implement("linalg.svdvals", svdvals)
