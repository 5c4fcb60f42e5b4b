# Compiled functions of data types. Declared in `_chapters/data_types.py`.

cdef dict NAMED = KINDS

# Results of `finfo` and `iinfo`, cached by the declarations: one object for each dtype, as in NumPy.
FINFOS = {}
IINFOS = {}
cdef dict known_finfos = FINFOS, known_iinfos = IINFOS


cdef object finfo(str name, PyObject** given):
    """Return a cached result; the declaration computes others."""
    return known_finfos.get(<object>given[0], NotImplemented) if type(<object>given[0]) is DType else NotImplemented


cdef object iinfo(str name, PyObject** given):
    return known_iinfos.get(<object>given[0], NotImplemented) if type(<object>given[0]) is DType else NotImplemented


cdef object result_type(str name, PyObject** given):
    """`given`: a tuple of the arguments."""
    cdef tuple entries = <tuple>given[0]
    cdef list dtypes = None, scalars = None       # dtypes: the given ones, if more than two differ
    cdef int code = NO_DTYPE, second = NO_DTYPE, found
    cdef Py_ssize_t i
    for i in range(len(entries)):
        entry = entries[i]
        if type(entry) is Array:
            found = (<Array>entry).code
        elif type(entry) is DType:
            found = (<DType>entry).code
        elif is_python_scalar(entry):
            scalars = [entry] if scalars is None else scalars + [entry]
            continue
        else:
            found = (<DType?>dtype_of("result_type", entry, f"argument {i}")).code
        if code < 0 or found == code:
            code = found
        elif second < 0 or found == second:
            second = found
        elif dtypes is None:
            dtypes = [dtype_at(code), dtype_at(second), dtype_at(found)]
        else:
            dtypes.append(dtype_at(found))
    if code < 0:
        raise ArgumentValueError("result_type", "at least one array or dtype is needed", (), "pass an array or a dtype")
    if dtypes is not None:
        code = (<DType?>promote_all(dtypes)).code
    elif second >= 0:
        code = promote_codes(code, second)
    if scalars is not None:
        for entry in scalars:
            code = weak_code(code, entry)
    return dtype_at(code)


cdef object isdtype(str name, PyObject** given):
    """`given`: dtype, kind."""
    cdef DType dtype = <DType>given[0] if type(<object>given[0]) is DType else check_dtype("isdtype", <object>given[0])
    cdef bint found = False
    kinds = <object>given[1]
    for entry in kinds if isinstance(kinds, tuple) else (kinds,):
        if isinstance(entry, DType):
            found = found or dtype is entry
            continue
        # All entries are checked, so that a misspelt one raises.
        named = NAMED.get(entry) if type(entry) is str else None
        found = dtype.kind in (kinds_named("isdtype", entry) if named is None else named) or found
    return found


implement("finfo", finfo)
implement("iinfo", iinfo)
implement("isdtype", isdtype)
implement("result_type", result_type)
