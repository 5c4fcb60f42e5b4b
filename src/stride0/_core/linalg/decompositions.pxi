# Decompositions and their kin: LAPACK, called from C. Declared in `linalg/_decompositions.py`.
#
# LAPACK computes in float64 and complex128; float32 and complex64 are converted, which is exact, and so are the results.

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
    /* The upper triangle of a matrix, into memory that is zero. */
    static void s0_copy_upper(char *out, const char *a, Py_ssize_t down, Py_ssize_t across, Py_ssize_t rows, Py_ssize_t columns, size_t size) {
        for (Py_ssize_t i = 0; i < rows; i++)
            for (Py_ssize_t j = i; j < columns; j++)
                memcpy(out + (i * columns + j) * size, a + i * down + j * across, size);
    }
    """
    bint s0_all_finite(const double* x, Py_ssize_t n) noexcept nogil
    void s0_copy_upper(char* out, const char* a, Py_ssize_t down, Py_ssize_t across, Py_ssize_t rows, Py_ssize_t columns, size_t size) noexcept nogil

cdef enum:
    MANY = 1 << 12          # elements of a matrix from which systems are reduced first

cdef double LOG_2 = 0.693147180559945309417232121458

# Set by `linalg/_decompositions`, which is a higher layer: the types of results, and the function that raises where LAPACK failed.
cdef object Eig = None, Eigh = None, QR = None, Slogdet = None, SVDs = None
cdef object raise_failure = None


def set_results(eig, eigh, qr, slogdet, svd, failure):
    """
    Set the types of the results that are tuples, and the function that raises LinAlgError.

    Parameters
    ----------
    eig, eigh, qr, slogdet, svd : type
        Named tuples.
    failure : callable
        Called with the name of a function, an array, and the name of that.
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
        raise ShapeError(op, f"{name} must be square, and a matrix of it is {found.shape[-2]} by {found.shape[-1]}", [(name, f"{found.shape}")])
    return found


cpdef Array as_floating(Array x):
    """`x` if its dtype is floating-point, real or complex; integers and bool as float64."""
    return x if letter_at(x.code) == c"f" or letter_at(x.code) == c"c" else copy_array(x, FLOAT64, False)


cpdef int refuse_storage_dtypes(str op, Array x) except -1:
    """Raise DTypeError for a dtype that is for storage only."""
    if is_stored(x.code):
        raise DTypeError(
            op, f"Unsupported dtype {x.dtype.name}", (), f"astype(x, {dtype_at(arithmetic_code(x.code)).name}), in which it is computed")
    return 0


cpdef int check_rows(str op, Array x1, Array x2) except -1:
    """Refuse right-hand sides with another number of rows, or that do not broadcast against the matrices."""
    rows = x2.shape[0 if x2.ndim == 1 else -2] if x2.ndim else None
    if rows != x1.shape[-2]:
        raise ShapeError(
            op,
            f"x1 has {counted(x1.shape[-2], 'equation')} and x2 has " + ("no rows" if rows is None else counted(rows, "row")),
            [("x1", f"{x1.shape}"), ("x2", f"{x2.shape}")],
            "x2 must be a vector, or matrices with as many rows as x1 has.")
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
    """x in the dtype that LAPACK computes in."""
    return x if x.code == code else copy_array(x, code, False)


cdef Array narrowed(Array x, int code):
    """A result in the dtype, or the real or complex one of the precision, of the operand."""
    if code == FLOAT32 or code == COMPLEX64:
        return copy_array(x, COMPLEX64 if letter_at(x.code) == c"c" else FLOAT32, False)
    return x


cdef Array per_matrix(Array x, int code, int axes, Py_ssize_t rows, Py_ssize_t columns, bint zeroed=False):
    """A new array for a number, a vector of `rows`, or a matrix for each matrix of x; not initialised, or of zeros."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef int k
    for k in range(x.ndim - 2):
        shape[k] = x.shape_[k]
    shape[x.ndim - 2], shape[x.ndim - 1] = rows, columns
    return new_array(code, x.ndim - 2 + axes, shape, NULL, zeroed)


cdef bint is_finite(Array x) except -1:
    """Whether no element of an array, float64 or complex128, is infinite or NaN."""
    cdef bint finite
    if not x.c_contiguous:
        x = copy_array(x, x.code, True)
    cdef const double* first = <const double*>data_of(x)
    cdef Py_ssize_t n = x.size * (itemsize_at(x.code) // <Py_ssize_t>sizeof(double))
    with nogil:
        finite = s0_all_finite(first, n)
    return finite


# --- one result


cdef Array compute_square(int routine, Array x):
    """The results of routines with matrices, vectors or numbers for square matrices; None where LAPACK failed."""
    cdef int code = wide_code(x.code)
    cdef Py_ssize_t n = x.shape_[x.ndim - 1]
    cdef Array a = widened(x, code), out
    if routine == EIGVALS:
        if not is_finite(a):
            return None
        out = per_matrix(a, COMPLEX128, 1, n, 0)
    elif routine == EIGVALSH:
        out = per_matrix(a, FLOAT64, 1, n, 0)
    else:
        out = per_matrix(a, code, 0 if routine == DET else 2, n, n)
        if are_few(a) and routine == INV:
            return narrowed(out, x.code) if solve_few(a, None, out) else None
        if are_few(a) and (routine == CHOLESKY_LOWER or routine == CHOLESKY_UPPER):
            return narrowed(out, x.code) if factor_few(a, out, routine == CHOLESKY_UPPER) else None
        if are_few(a) and routine == DET:
            return narrowed(determinants(a, out), x.code)
    failed = run_lapack(routine, (a, out))
    # A determinant may overflow; there is none that LAPACK would not compute.
    return None if failed and routine != DET else narrowed(out, x.code)


cdef Array determinants(Array a, Array out):
    cdef Array exponents = new_like(out, FLOAT64)
    cdef double* factor = <double*>data_of(out)
    cdef Py_ssize_t k
    determinants_of_few(a, out, exponents)
    for k in range(out.size):
        factor[k] = ldexp(factor[k], <int>(<double*>data_of(exponents))[k])
    return out


cdef object one_result(str op, int routine, Array x):
    out = compute_square(routine, x)
    return raise_failure(op, x, "x") if out is None else out


cdef object det(str name, PyObject** given):
    return one_result("det", DET, square_argument(given[0], "det", "x"))


cdef object inv(str name, PyObject** given):
    return one_result("inv", INV, square_argument(given[0], "inv", "x"))


def inverse(str op, Array x not None):
    """The inverses of square matrices of a floating-point dtype."""
    refuse_storage_dtypes(op, x)
    return one_result(op, INV, x)


cdef object cholesky(str name, PyObject** given):
    """`given`: x, upper."""
    cdef Array x = square_argument(given[0], "cholesky", "x")
    cdef bint upper = flag_argument(given[1], "cholesky", "upper")
    out = compute_square(CHOLESKY_UPPER if upper else CHOLESKY_LOWER, x)
    # The lower triangle of the transpose is as definite as the upper one.
    return raise_failure("cholesky", swapped_matrix(x) if upper else x, "x") if out is None else out


cdef object eigvals(str name, PyObject** given):
    return one_result("eigvals", EIGVALS, square_argument(given[0], "eigvals", "x"))


cdef object eigvalsh(str name, PyObject** given):
    return one_result("eigvalsh", EIGVALSH, square_argument(given[0], "eigvalsh", "x"))


cdef Array compute_svdvals(Array x):
    cdef Py_ssize_t rows = x.shape_[x.ndim - 2], columns = x.shape_[x.ndim - 1]
    cdef Tall tall = factor_tall(x, True) if is_tall(x, True) else None
    cdef Array a = widened(x, wide_code(x.code)) if tall is None else tall.squares(), out
    if tall is None and not is_finite(a):
        return None
    out = per_matrix(a, FLOAT64, 1, min(rows, columns), 0)
    return None if run_lapack(SVD, (a, out)) else narrowed(out, x.code)


cpdef Array singular_values(str op, Array x):
    """The singular values of matrices of a floating-point dtype."""
    refuse_storage_dtypes(op, x)
    out = compute_svdvals(x)
    return raise_failure(op, x, "x") if out is None else out


cdef object svdvals(str name, PyObject** given):
    return singular_values("svdvals", matrices_argument(given[0], "svdvals"))


cdef Array compute_solve(Array x1, Array x2):
    cdef int code = promote_codes(x1.code, x2.code), wide = wide_code(code)
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t strides[MAX_NDIM]
    cdef Array a = widened(x1, wide), b = widened(x2, wide), out
    cdef int k
    if x2.ndim == 1:
        # A column.
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
    if not solve_few(a, b, out) if are_few(a) else run_lapack(SOLVE, (a, b, out)):
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


# --- several results


cdef tuple compute_eig(Array x, int routine):
    cdef int code = wide_code(x.code), of_values = FLOAT64
    cdef Py_ssize_t n = x.shape_[x.ndim - 1]
    cdef Array a = widened(x, code), values, vectors
    if routine == EIG:
        if not is_finite(a):
            return None
        code = of_values = COMPLEX128
    values, vectors = per_matrix(a, of_values, 1, n, 0), per_matrix(a, code, 2, n, n)
    return None if run_lapack(routine, (a, values, vectors)) else (narrowed(values, x.code), narrowed(vectors, x.code))


cdef object eig(str name, PyObject** given):
    cdef Array x = square_argument(given[0], "eig", "x")
    found = compute_eig(x, EIG)
    return raise_failure("eig", x, "x") if found is None else Eig(*found)


cdef object eigh(str name, PyObject** given):
    cdef Array x = square_argument(given[0], "eigh", "x")
    found = compute_eig(x, EIGH)
    return raise_failure("eigh", x, "x") if found is None else Eigh(*found)


cdef int split_determinants(Array factors, Array exponents) except -1:
    """Make signs of factors, and logarithms of magnitudes of the powers of 2 that belong to them."""
    cdef Array logarithms = <Array>unary_raw(OP_LOG, <Array>unary_raw(OP_ABS, factors, "abs"), "log")
    cdef const double* logarithm = <const double*>data_of(logarithms)
    cdef double* factor = <double*>data_of(factors)
    cdef double* exponent = <double*>data_of(exponents)
    cdef Py_ssize_t k
    for k in range(factors.size):
        exponent[k] = exponent[k] * LOG_2 + logarithm[k]
        factor[k] = 1 if factor[k] > 0 else -1 if factor[k] < 0 else factor[k]
    return 0


cdef object slogdet(str name, PyObject** given):
    cdef Array x = square_argument(given[0], "slogdet", "x"), a = widened(x, wide_code(x.code))
    cdef Array sign = per_matrix(a, a.code, 0, 0, 0), logabsdet = per_matrix(a, FLOAT64, 0, 0, 0)
    if are_few(a):
        determinants_of_few(a, sign, logabsdet)
        split_determinants(sign, logabsdet)
    else:
        # LAPACK does not fail: a singular matrix has a sign of 0.
        run_lapack(SLOGDET, (a, sign, logabsdet))
    return Slogdet(narrowed(sign, x.code), narrowed(logabsdet, x.code))


cdef tuple compute_svd(Array x, bint full):
    cdef int code = wide_code(x.code)
    cdef Py_ssize_t rows = x.shape_[x.ndim - 2], columns = x.shape_[x.ndim - 1], few = min(rows, columns)
    cdef Tall tall = factor_tall(x, False) if not full and is_tall(x, False) else None
    cdef Array a = widened(x, code) if tall is None else tall.squares(), u, s, vh
    if tall is not None:
        rows = few
    elif not is_finite(a):
        return None
    u = per_matrix(a, code, 2, rows, rows if full else few)
    s = per_matrix(a, FLOAT64, 1, few, 0)
    vh = per_matrix(a, code, 2, columns if full else few, columns)
    if run_lapack(SVD_FULL if full else SVD_REDUCED, (a, u, s, vh)):
        return None
    return narrowed(u, x.code) if tall is None else tall.multiplied(u), narrowed(s, x.code), narrowed(vh, x.code)


def singular_vectors(str op, Array x not None, bint full):
    """U, S and Vh of matrices of a floating-point dtype."""
    refuse_storage_dtypes(op, x)
    found = compute_svd(x, full)
    return raise_failure(op, x, "x") if found is None else SVDs(*found)


cdef object svd(str name, PyObject** given):
    """`given`: x, full_matrices."""
    cdef Array x = matrices_argument(given[0], "svd")
    return singular_vectors("svd", x, flag_argument(given[1], "svd", "full_matrices"))


cdef Array upper_triangles(Array a, Py_ssize_t kept, Py_ssize_t few):
    """So many first rows of matrices, whose batch is in C order, the upper triangles of `few` of them alone, above zeros."""
    cdef int last = a.ndim - 1
    cdef Py_ssize_t columns = a.shape_[last], size = itemsize_at(a.code), next_one = a.strides_[last - 2] if last > 1 else 0, k
    cdef Array r = per_matrix(a, a.code, 2, kept, columns, zeroed=True)
    if r.size:
        for k in range(r.size // (kept * columns)):
            s0_copy_upper(
                data_of(r) + k * kept * columns * size, data_of(a) + k * next_one, a.strides_[last - 1], a.strides_[last], few, columns, size)
    return r


cdef object qr(str name, PyObject** given):
    """`given`: x, mode."""
    cdef Array x = matrices_argument(given[0], "qr"), a, q, tau
    cdef int code = wide_code(x.code), last = x.ndim - 1
    cdef Py_ssize_t rows = x.shape_[last - 1], columns = x.shape_[last], few = min(rows, columns)
    cdef bint complete
    mode = <object>given[1]
    if not isinstance(mode, str) or mode not in ("reduced", "complete"):
        raise ArgumentValueError("qr", f"unknown mode {shown(mode)}", (), "mode must be 'reduced' or 'complete'.")
    complete = mode == "complete" and rows > columns
    cdef Tall tall = factor_tall(x, False) if not complete and is_tall(x, False) else None
    if tall is not None:
        q = tall.multiplied(None)
        if q is not None:
            return QR(q, narrowed(upper_triangles(tall.squares(), columns, columns), x.code))
    if not has_loop(QR_RAW, code) or not has_loop(QR_COMPLETE if complete else QR_REDUCED, code):
        with quiet():
            return QR(*[narrowed(from_numpy(part), x.code) for part in numpy().linalg.qr(to_numpy(widened(x, code)), mode=mode)])
    # A copy, whose columns are contiguous as LAPACK's are; both factors are written into it.
    a = swapped_matrix(per_matrix(x, code, 2, columns, rows))
    # Elements are cast first, and moved then: blocks of one width are transposed in registers.
    assign_array(a, widened(x, code), "qr")
    tau = per_matrix(a, code, 1, few, 0)
    q = per_matrix(a, code, 2, rows, rows if complete else few)
    if run_lapack(QR_RAW, (a, tau)) or run_lapack(QR_COMPLETE if complete else QR_REDUCED, (a, tau, q)):
        return raise_failure("qr", x, "x")
    return QR(narrowed(q, x.code), narrowed(upper_triangles(a, rows if complete else few, few), x.code))


cdef Array least_values(limit, int code, Array x):
    """Limits of singular values for the matrices of x, in a real dtype; None where one is negative or they do not fit."""
    cdef Array out
    cdef Py_ssize_t k
    cdef double number
    if isinstance(limit, Array):
        if (<Array>limit).shape[:-1] != x.shape[:-2]:
            return None
        out = without_axes(copy_array(limit, code, True), ((<Array>limit).ndim - 1,))
    else:
        out = new_array(code, 0, NULL, NULL, False)
        fill(out, limit, "lstsq")
    for k in range(out.size):
        number = (<float*>data_of(out))[k] if code == FLOAT32 else (<double*>data_of(out))[k]
        if not number >= 0:
            return None
    return out


cdef tuple reduced_systems(Array x1, Array x2):
    """
    Systems with as many equations as unknowns, of the same solutions of least squares, in float64; None where it is not worthwhile.

    They are the triangles of the matrices with the right-hand sides as further columns.
    """
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t last = x1.ndim - 1, columns = x1.shape_[last], sides = x2.shape_[x2.ndim - 1], size = itemsize_at(FLOAT64)
    cdef Array joined, squares, part
    cdef Tall tall
    cdef int k
    if x1.size < MANY or not is_tall(x1, True) or not has_loop(LSTSQ, FLOAT64):
        return None
    for k in range(last):
        shape[k] = x1.shape_[k]
    shape[last] = columns + sides
    joined = new_array(x1.code, x1.ndim, shape, NULL, False)
    if not is_tall(joined, True):
        return None
    shape[last] = columns
    assign_array(view_of(joined, data_of(joined), x1.ndim, shape, joined.strides_), x1, "lstsq")
    shape[last] = sides
    assign_array(view_of(joined, data_of(joined) + columns * itemsize_at(x1.code), x1.ndim, shape, joined.strides_), x2, "lstsq")
    tall = factor_tall(joined, True)
    if tall is None:
        return None
    squares = tall.squares()
    shape[last - 1] = shape[last] = columns
    part = view_of(squares, data_of(squares), x1.ndim, shape, squares.strides_)
    shape[last] = sides
    return part, view_of(squares, data_of(squares) + columns * size, x1.ndim, shape, squares.strides_)


def least_squares(Array x1 not None, Array x2 not None, limit):
    """
    Solve least squares by one function of LAPACK.

    Parameters
    ----------
    x1, x2 : Array
        Matrices and right-hand sides.
    limit : float or Array
        Singular values that are not larger than it times the largest one count as 0; an array has an axis
        of size 1 for them.

    Returns
    -------
    tuple or None
        Singular values, solutions and ranks, new arrays; None where LAPACK failed, NumPy has no such function, or the
        arguments are not finite, of one dtype, with a limit and right-hand sides for each matrix.
    """
    cdef int code = x1.code, real = FLOAT32 if code == FLOAT32 or code == COMPLEX64 else FLOAT64
    cdef Py_ssize_t rows = x1.shape_[x1.ndim - 2], columns = x1.shape_[x1.ndim - 1], sides = x2.shape_[x2.ndim - 1]
    cdef Array limits, solution, residuals, ranks, values, a = x1, b = x2
    if x2.code != code or not x1.size or not x2.size or not has_loop(LSTSQ, code):
        return None
    if x2.ndim > 2 and x2.shape[:-2] != x1.shape[:-2]:
        return None
    reduced = reduced_systems(x1, x2)
    if reduced is not None:
        a, b = reduced
        code = real = FLOAT64
    limits = least_values(limit, real, x1)
    # LAPACK would print what it finds.
    if limits is None or (reduced is None and not (is_finite(widened(x1, wide_code(code))) and is_finite(widened(x2, wide_code(code))))):
        return None
    solution, residuals = per_matrix(x1, code, 2, columns, sides), per_matrix(x1, real, 1, sides, 0)
    ranks, values = per_matrix(x1, INT32, 0, 0, 0), per_matrix(x1, real, 1, min(rows, columns), 0)
    if run_lapack(LSTSQ, (a, b, limits, solution, residuals, ranks, values)):
        return None
    return narrowed(values, x1.code), narrowed(solution, x1.code), ranks


def fails(str op, Array x not None):
    """Whether LAPACK fails for one of the matrices of x, in a function that raised for a stack of which they are part."""
    if op == "cholesky":
        return compute_square(CHOLESKY_LOWER, x) is None
    if op == "eig" or op == "eigvals":
        return compute_square(EIGVALS, x) is None
    if op == "eigh" or op == "eigvalsh":
        return compute_square(EIGVALSH, x) is None
    if op == "inv" or op == "solve" or op == "matrix_power":
        return compute_square(INV, x) is None
    return compute_svdvals(x) is None


implement("linalg.cholesky", cholesky)
implement("linalg.det", det)
implement("linalg.eig", eig)
implement("linalg.eigh", eigh)
implement("linalg.eigvals", eigvals)
implement("linalg.eigvalsh", eigvalsh)
implement("linalg.inv", inv)
implement("linalg.qr", qr)
implement("linalg.slogdet", slogdet)
implement("linalg.solve", solve)
implement("linalg.svd", svd)
implement("linalg.svdvals", svdvals)
