# Decompositions with several results.

cdef tuple compute_eig(Array x, int routine):
    cdef int code = wide_code(x.code), of_values = FLOAT64
    cdef Py_ssize_t n = x.shape_[x.ndim - 1]
    cdef Array a = widened(x, code), values, vectors
    if routine == EIG:
        if not is_finite(a):
            return None
        code = of_values = COMPLEX128
    values, vectors = per_matrix(a, of_values, 1, n, 0), per_matrix(a, code, 2, n, n)
    if has_own_vectors(a) if routine == EIGH else has_own_eigenvalues(a):
        failed = not run_spectra(TABLE.symmetric if routine == EIGH else TABLE.general, False, a, values, vectors)
    else:
        failed = run_lapack(routine, (a, values, vectors))
    return None if failed else (narrowed(values, x.code), narrowed(vectors, x.code))


cdef object eig(str name, PyObject** given):
    cdef Array x = square_argument(given[0], "eig", "x")
    found = compute_eig(x, EIG)
    return raise_failure("eig", x, "x") if found is None else Eig(*found)


cdef object eigh(str name, PyObject** given):
    cdef Array x = square_argument(given[0], "eigh", "x")
    found = compute_eig(x, EIGH)
    return raise_failure("eigh", x, "x") if found is None else Eigh(*found)


cdef int split_determinants(Array factors, Array exponents) except -1:
    """Replace factors by signs, and exponents of 2 by logarithms of the magnitudes: factor * 2**exponent is a determinant."""
    cdef Array magnitudes = <Array>unary_raw(OP_ABS, factors, "abs")
    cdef Array logarithms = <Array>unary_raw(OP_LOG, magnitudes, "log")
    cdef const double* logarithm = <const double*>data_of(logarithms)
    cdef const double* magnitude = <const double*>data_of(magnitudes)
    cdef double* factor = <double*>data_of(factors)
    cdef double* exponent = <double*>data_of(exponents)
    cdef Py_ssize_t parts = parts_of(factors.code), k
    for k in range(factors.size):
        exponent[k] = exponent[k] * LOG_2 + logarithm[k]
    for k in range(factors.size * parts):
        if parts == 1 and isinf(factor[k]):
            factor[k] = 1 if factor[k] > 0 else -1
        elif magnitude[k // parts] != 0:
            factor[k] /= magnitude[k // parts]
    return 0


cdef object slogdet(str name, PyObject** given):
    cdef Array x = square_argument(given[0], "slogdet", "x"), a = widened(x, wide_code(x.code))
    cdef Array sign = per_matrix(a, a.code, 0, 0, 0), logabsdet = per_matrix(a, FLOAT64, 0, 0, 0)
    determinants(a, sign, logabsdet)
    split_determinants(sign, logabsdet)
    return Slogdet(narrowed(sign, x.code), narrowed(logabsdet, x.code))


cdef tuple compute_svd(Array x, bint full):
    cdef int code = wide_code(x.code)
    cdef Py_ssize_t rows = x.shape_[x.ndim - 2], columns = x.shape_[x.ndim - 1], few = min(rows, columns)
    cdef Tall tall = factor_tall(x, False) if not full and is_tall(x) else None
    cdef Array a = widened(x, code) if tall is None else tall.squares(), u, s, vh
    if tall is not None:
        rows = few
    elif not is_finite(a):
        return None
    u = per_matrix(a, code, 2, rows, rows if full else few)
    s = per_matrix(a, FLOAT64, 1, few, 0)
    vh = per_matrix(a, code, 2, columns if full else few, columns)
    if not run_spectra(TABLE.singular, full, a, s, u, vh) if has_own_vectors(a) else run_lapack(SVD_FULL if full else SVD_REDUCED, (a, u, s, vh)):
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
    """The first `kept` rows of matrices with a batch in C order: upper triangles of `few` rows, and zeros elsewhere."""
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
    cdef Array x = matrices_argument(given[0], "qr"), a, q, r, tau
    cdef int code = wide_code(x.code), last = x.ndim - 1
    cdef Py_ssize_t rows = x.shape_[last - 1], columns = x.shape_[last], few = min(rows, columns)
    cdef bint complete
    mode = <object>given[1]
    if not isinstance(mode, str) or mode not in ("reduced", "complete"):
        raise ArgumentValueError("qr", f"unknown mode {shown(mode)}", (), "pass mode='reduced' or mode='complete'")
    complete = mode == "complete" and rows > columns
    cdef Tall tall = factor_tall(x, False) if not complete and is_tall(x) else None
    if tall is not None:
        q = tall.multiplied(None)
        if q is not None:
            return QR(q, narrowed(upper_triangles(tall.squares(), columns, columns), x.code))
    a = widened(x, code)
    # If elements are not finite, LAPACK decides which results are NaN.
    if is_reproducible() or is_finite(a):
        q, r = orthogonal_factors(a, complete)
        return QR(narrowed(q, x.code), narrowed(r, x.code))
    if not has_loop(QR_RAW, code) or not has_loop(QR_COMPLETE if complete else QR_REDUCED, code):
        with quiet():
            return QR(*[narrowed(from_numpy(part), x.code) for part in numpy().linalg.qr(to_numpy(widened(x, code)), mode=mode)])
    # A copy with contiguous columns, as LAPACK needs; both factors are written into it.
    a = swapped_matrix(per_matrix(x, code, 2, columns, rows))
    # Cast first, then copy: blocks of elements with equal item sizes are transposed in registers.
    assign_array(a, widened(x, code), "qr")
    tau = per_matrix(a, code, 1, few, 0)
    q = per_matrix(a, code, 2, rows, rows if complete else few)
    if run_lapack(QR_RAW, (a, tau)) or run_lapack(QR_COMPLETE if complete else QR_REDUCED, (a, tau, q)):
        return raise_failure("qr", x, "x")
    return QR(narrowed(q, x.code), narrowed(upper_triangles(a, rows if complete else few, few), x.code))


cdef Array least_values(limit, int code, Array x):
    """Limits of singular values for the matrices of x, in a real dtype; None if a limit is negative or the shapes do not fit."""
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
    Square systems with the same least-squares solutions, in float64; None if the reduction is not worthwhile.

    They are the triangular factors of the matrices with the right-hand sides as further columns.
    """
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t last = x1.ndim - 1, columns = x1.shape_[last], sides = x2.shape_[x2.ndim - 1], size = itemsize_at(FLOAT64)
    cdef Array joined, squares, part
    cdef Tall tall
    cdef int k
    if x1.size < MANY or not is_tall(x1) or not has_loop(LSTSQ, FLOAT64):
        return None
    for k in range(last):
        shape[k] = x1.shape_[k]
    shape[last] = columns + sides
    joined = new_array(x1.code, x1.ndim, shape, NULL, False)
    if not is_tall(joined):
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
    Solve least-squares problems by one LAPACK function.

    Parameters
    ----------
    x1, x2 : Array
        Matrices and right-hand sides.
    limit : float or Array
        Singular values of at most `limit` times the largest one count as 0. An array has an axis of size 1 for the
        singular values.

    Returns
    -------
    tuple or None
        Singular values, solutions and ranks, new arrays. None within `reproducible`, if LAPACK failed or NumPy has no such function; also unless
        the arguments are finite and of one dtype, with a limit and right-hand sides for each matrix.
    """
    cdef int code = x1.code, real = FLOAT32 if code == FLOAT32 or code == COMPLEX64 else FLOAT64
    cdef Py_ssize_t rows = x1.shape_[x1.ndim - 2], columns = x1.shape_[x1.ndim - 1], sides = x2.shape_[x2.ndim - 1]
    cdef Array limits, solution, residuals, ranks, values, a = x1, b = x2
    if is_reproducible() or x2.code != code or not x1.size or not x2.size or not has_loop(LSTSQ, code):
        return None
    if x2.ndim > 2 and x2.shape[:-2] != x1.shape[:-2]:
        return None
    reduced = reduced_systems(x1, x2)
    if reduced is not None:
        a, b = reduced
        code = real = FLOAT64
    limits = least_values(limit, real, x1)
    # For other numbers LAPACK would print a message.
    if limits is None or (reduced is None and not (is_finite(widened(x1, wide_code(code))) and is_finite(widened(x2, wide_code(code))))):
        return None
    solution, residuals = per_matrix(x1, code, 2, columns, sides), per_matrix(x1, real, 1, sides, 0)
    ranks, values = per_matrix(x1, INT32, 0, 0, 0), per_matrix(x1, real, 1, min(rows, columns), 0)
    if run_lapack(LSTSQ, (a, b, limits, solution, residuals, ranks, values)):
        return None
    return narrowed(values, x1.code), narrowed(solution, x1.code), ranks


def fails(str op, Array x not None):
    """Whether `op` fails for a matrix of x. x is a part of a stack for which `op` failed."""
    if op == "cholesky":
        return compute_triangles(x, False) is None
    if op == "eig" or op == "eigvals":
        return compute_values(EIGVALS, x) is None
    if op == "eigh" or op == "eigvalsh":
        return compute_values(EIGVALSH, x) is None
    if op == "inv" or op == "solve" or op == "matrix_power":
        return compute_inverses(x) is None
    return compute_svdvals(x) is None


implement("linalg.eig", eig)
implement("linalg.eigh", eigh)
implement("linalg.qr", qr)
implement("linalg.slogdet", slogdet)
implement("linalg.svd", svd)
