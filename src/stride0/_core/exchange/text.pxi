# Arrays as text.

cdef str as_text(Array x, bint is_repr):
    return repr_of(x) if is_repr else text_of(x)


cdef str text_of(Array x):
    """The elements as NumPy writes them, summarised if there are many; a single element with the fewest digits that identify it."""
    if x.storage.batched:
        return repr_of(x)
    if x.ndim == 0 and format_at(x.code)[0] == 0:
        return shortest(read_scalar(data_of(x), x.code), x.code)
    return elements_of(x, "", "") if x.ndim else str(shown_elements(x)[()])


cdef object shown_elements(Array x):
    """The elements for text as a NumPy array; test configurations do not prevent this."""
    import numpy

    token = suspend_checks()
    try:
        return numpy.asarray(exportable(x))
    finally:
        resume_checks(token)


cdef str shortest(object value, int code):
    """An element of a storage dtype with the fewest digits that distinguish it from its neighbours."""
    cdef char[LARGEST_ITEM] buffer
    cdef int digits
    for digits in range(1, 18):
        text = f"{value:.{digits}g}"
        write_scalar(float(text), code, buffer, "str")
        if read_scalar(buffer, code) == value:
            break
    return str(float(text))


cdef str elements_of(Array x, str prefix, str suffix):
    import numpy

    if x.size == 0 and x.ndim != 1:
        return "[]"
    if format_at(x.code)[0] == 0:
        # NumPy prints its own dtypes. Other storage dtypes are cast to their dtype of computation.
        x, code = exportable(x), x.code
        values = shown_elements(copy_array(x, arithmetic_code(code), False))
        return numpy.array2string(values, separator=", ", prefix=prefix, suffix=suffix,
                                  formatter={"float_kind": lambda value: shortest(float(value), code)})
    return numpy.array2string(shown_elements(x), separator=", ", prefix=prefix, suffix=suffix)


cdef str repr_of(Array x):
    """The elements, then the dtype and other facts, laid out as in NumPy: on a new line if the last line is full."""
    import numpy

    if x.storage.batched:
        return f"Array(<batched>, shape={shape_tuple(x)}, dtype={dtype_at(x.code).name})"
    cdef list facts = [f"dtype={dtype_at(x.code).name}"]
    options = numpy.get_printoptions()
    # The text of the elements does not always show the shape.
    if x.size > options["threshold"] or x.size == 0 and x.ndim != 1:
        facts.insert(0, f"shape={shape_tuple(x)}")
    if x.storage.device:
        facts.append(f"device={str(x.device)!r}")
    text = f"Array({elements_of(x, 'Array(', ')')},"
    more = f"{', '.join(facts)})"
    last = len(text) - text.rfind("\n") - 1
    return text + (" " if last + 1 + len(more) <= options["linewidth"] else "\n" + " " * len("Array(")) + more


cdef str formatted(Array x, str spec):
    if not spec:
        return text_of(x)
    if x.ndim:
        raise TypeError(f"format: an array of shape {shape_tuple(x)} takes no format, got {spec!r}")
    refuse_batched(x, "format")
    return format(read_scalar(data_of(x), x.code), spec)
