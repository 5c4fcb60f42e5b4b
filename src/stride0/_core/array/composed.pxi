# Elementwise functions that are more than one row of the table. Included in `array.pyx`.


def clip(x, /, min=None, max=None):
    """
    Elements limited to a range.

    Parameters
    ----------
    x : Array or Python scalar
        Of a real-valued dtype and any shape.
    min, max : Array or Python scalar, optional
        Bounds; their shapes broadcast with that of `x`. None is no bound.

    Returns
    -------
    Array
        A new array of the promoted dtype; NaN where any of the three is NaN, `max` where the bounds cross.

    Raises
    ------
    DTypeError
        If a dtype is not real-valued.
    BroadcastError
        If the shapes do not broadcast.

    References
    ----------
    Array API standard 2025.12, "Element-wise Functions", ``clip`` (since 2023.12).
    """
    if guarding and at_door():
        return through_door("function", "clip", clip, (x, min, max), {})
    if type(x) is not Array:
        x = as_array(x, "clip")
    if is_tracked(x) or is_tracked(min) or is_tracked(max):
        return traced("clip", (x, min, max))
    loop_for(OP_CLIP, (<Array>x).code, "clip")
    if min is not None and max is not None:
        return ternary(OP_CLIP, x, min, max, "clip", ("x", "min", "max"))
    if min is not None:
        return binary(OP_MAXIMUM, x, min, "clip", False)
    if max is not None:
        return binary(OP_MINIMUM, x, max, "clip", False)
    return copy_array(<Array>x, (<Array>x).code, False)


cdef Array component(Array x, Py_ssize_t offset):
    """One component of a complex array, as a view."""
    cdef Array y = view_of(x, x.data + offset, x.ndim, x.shape_, x.strides_)
    y.code = FLOAT32 if x.code == COMPLEX64 else FLOAT64
    set_flags(y)
    return y


def real(x, /):
    """
    Real part of each element.

    Parameters
    ----------
    x : Array or Python scalar
        Of a numeric dtype and any shape.

    Returns
    -------
    Array
        A view on `x` of the real dtype of its precision; `x` itself where it is real.

    Raises
    ------
    DTypeError
        If the dtype is not numeric.

    References
    ----------
    Array API standard 2025.12, "Element-wise Functions", ``real`` (since 2022.12).
    """
    cdef Array a
    if guarding and at_door():
        return through_door("function", "real", real, (x,), {})
    a = as_array(x, "real")
    if a.code == BOOL:
        raise DTypeError("real", "Unsupported dtype bool", (), "real takes numeric dtypes")
    if letter_at(a.code) == c"c" and is_followed(a):
        return traced("real", (a,))
    return component(a, 0) if letter_at(a.code) == c"c" else a


def imag(x, /):
    """
    Imaginary part of each element.

    Parameters
    ----------
    x : Array or Python scalar
        Of a complex floating-point dtype and any shape.

    Returns
    -------
    Array
        A view on `x` of the real dtype of its precision.

    Raises
    ------
    DTypeError
        If the dtype is not complex.

    References
    ----------
    Array API standard 2025.12, "Element-wise Functions", ``imag`` (since 2022.12).
    """
    cdef Array a
    if guarding and at_door():
        return through_door("function", "imag", imag, (x,), {})
    a = as_array(x, "imag")
    if letter_at(a.code) != c"c":
        raise DTypeError("imag", f"Unsupported dtype {dtype_at(a.code).name}", (), "imag takes complex floating-point dtypes")
    if is_followed(a):
        return traced("imag", (a,))
    return component(a, itemsize_at(a.code) // 2)


def where(condition, x1, x2, /):
    """
    Elements of `x1` where a condition holds, of `x2` elsewhere.

    Parameters
    ----------
    condition : Array
        Of dtype ``bool``.
    x1, x2 : Array or Python scalar
        Of any dtype; the three shapes broadcast.

    Returns
    -------
    Array
        A new array of the dtype to which `x1` and `x2` promote.

    Raises
    ------
    DTypeError
        If `condition` is not of dtype ``bool``.
    BroadcastError
        If the shapes do not broadcast.

    References
    ----------
    Array API standard 2025.12, "Searching Functions", ``where``.
    """
    cdef int code
    cdef Array mask, a, b, out
    cdef Py_ssize_t steps[4]
    cdef char* args[4]
    if guarding and at_door():
        return through_door("function", "where", where, (condition, x1, x2), {})
    if is_tracked(condition) or is_tracked(x1) or is_tracked(x2):
        return traced("where", (condition, x1, x2))
    mask = as_array(condition, "where")
    if mask.code != BOOL:
        raise DTypeError("where", f"Unsupported dtype {dtype_at(mask.code).name} of condition", (), "condition takes the bool dtype")
    if is_python_scalar(x1) and is_python_scalar(x2):
        code = promote_codes(scalar_code(x1), scalar_code(x2))
        a, b = weak_array(x1, code, "where"), weak_array(x2, code, "where")
    elif is_python_scalar(x1):
        b = as_array(x2, "where")
        a = weak_operand(b, x1, "where")
    elif is_python_scalar(x2):
        a = as_array(x1, "where")
        b = weak_operand(a, x2, "where")
    else:
        a, b = as_array(x1, "where"), as_array(x2, "where")
    code = promote_codes(a.code, b.code)
    if a.code == code == b.code and mask.c_contiguous and a.c_contiguous and b.c_contiguous and same_shape(mask, a) and same_shape(mask, b):
        # Note [Short path]
        out = new_like(mask, code)
        args[0], args[1], args[2], args[3] = mask.data, a.data, b.data, out.data
        steps[0] = 1
        steps[1] = steps[2] = steps[3] = itemsize_at(code)
        run_contiguous(where_kernel(code), 0, args, steps, mask.size)
        return out
    return apply(where_kernel(code), code, 3, mask, a, b, None, False, "where", ("condition", "x1", "x2"))
