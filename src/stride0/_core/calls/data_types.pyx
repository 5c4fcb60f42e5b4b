"""Functions of data types whose overhead matters. Declared in `_chapters/data_types.py`."""

from cpython.object cimport PyObject

from stride0._core.memory.dtype cimport DType, dtype_at, is_python_scalar, weak_code
from stride0._core.array.array cimport Array
from stride0._core.calls.arguments cimport implement

from stride0._base.errors import ArgumentValueError
from stride0._core.calls.checks import KINDS, check_dtype, dtype_of, kinds_named, promote_all

cdef dict NAMED = KINDS

# What `finfo` and `iinfo` have returned, which the declarations write here: one object for each dtype, as of NumPy's.
FINFOS = {}
IINFOS = {}
cdef dict known_finfos = FINFOS, known_iinfos = IINFOS


cdef object finfo(str name, PyObject** given):
    """The limits of a dtype that were asked for before; others by the declaration."""
    return known_finfos.get(<object>given[0], NotImplemented) if type(<object>given[0]) is DType else NotImplemented


cdef object iinfo(str name, PyObject** given):
    return known_iinfos.get(<object>given[0], NotImplemented) if type(<object>given[0]) is DType else NotImplemented


cdef object result_type(str name, PyObject** given):
    """`given`: a tuple of the arguments."""
    cdef list dtypes = [], scalars = None
    cdef DType found
    cdef int code
    for i, entry in enumerate(<tuple>given[0]):
        if type(entry) is Array:
            dtypes.append(dtype_at((<Array>entry).code))
        elif type(entry) is DType:
            dtypes.append(entry)
        elif is_python_scalar(entry):
            scalars = [entry] if scalars is None else scalars + [entry]
        else:
            dtypes.append(dtype_of("result_type", entry, f"argument {i}"))
    if not dtypes:
        raise ArgumentValueError("result_type", "at least one array or dtype is needed")
    found = dtypes[0] if len(dtypes) == 1 else promote_all(dtypes)
    code = found.code
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
