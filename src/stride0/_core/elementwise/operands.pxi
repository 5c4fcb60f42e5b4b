# Operands: what is an array or a scalar, here or in another library; their names and errors.

cdef tuple UNARY_NAMES = ("x",)
cdef tuple BINARY_NAMES = ("x1", "x2")
cdef tuple SELECT_NAMES = ("condition", "x1", "x2")


def is_recorded(Array x not None):
    """Whether calls that read x are recorded, or run for a batch of examples: then no branch may depend on its values."""
    return x.storage.history.is_followed(x) if x.storage.batched else needs_tape(x)


def whole(x):
    """The array of all examples of a batched array; any other value unchanged. Note [Batched arrays]."""
    while type(x) is Array and (<Array>x).storage.batched:
        x = (<Array>x).storage.history.value
    return x


def decided(function, Array x not None):
    """A bool on which a branch may depend: `function` of the array of all examples, compared again by each replay of a recording."""
    return x.storage.history.decide(function, x) if x.storage.batched else function(x)


cdef object named_shapes(tuple names, Array x1, Array x2, Array x3):
    return [(name, shape_tuple(x)) for name, x in zip(names, (x1, x2, x3))]


cdef Array scalar_array(object value, int code, str operation):
    """A 0-d array that holds a Python scalar."""
    cdef Array x = new_array(code, 0, NULL, NULL, False)
    write_scalar(value, code, data_of(x), operation)
    return x


cdef Array weak_array(object value, int code, str operation):
    """A Python scalar as an operand: the modes of broadcasting do not refuse it."""
    cdef Array x = scalar_array(value, code, operation)
    x.weak = True
    return x


cdef Array weak_operand(Array a, object value, str name):
    """A Python scalar as an operand, with the dtype that it takes next to the array a."""
    return weak_array(value, weak_code(a.code, value), name)

# NumPy, and the package that has dtypes for it.
cdef tuple NUMPY_MODULES = tuple(sorted({row.numpy for row in ROWS}, reverse=True))


cpdef bint is_numpy_scalar(object value):
    """Whether a value is a NumPy scalar: it has a dtype, but no items that can be assigned."""
    kind = type(value)
    return kind.__module__ in NUMPY_MODULES and hasattr(kind, "dtype") and hasattr(kind, "item") and not hasattr(kind, "__setitem__")


cdef Array foreign_scalar(object value):
    """A NumPy scalar as a 0-d array; None for anything else."""
    return hooks.convert(value, NO_DTYPE) if is_numpy_scalar(value) else None


cdef object refuse_operand(str name, str argument, object value):
    kind = type(value)
    label = f"{kind.__module__}.{kind.__qualname__}" if kind.__module__ != "builtins" else kind.__qualname__
    raise ForeignArrayError(name, f"{argument} is of type {label}", (), f"pass a stride0 array or a Python scalar: stride0.asarray({argument}) converts arrays of other libraries")


def refuse_dtype(str operation, DType dtype, str wanted, str name="x"):
    """Raise the error for an array of an unsupported dtype; without a name, for all operands together."""
    raise DTypeError(operation, f"Unsupported dtype {dtype.name}" + (f" of {name}" if name else ""),
                     accepts=f"for {name or 'the operands'}, use {wanted}")

# After NotImplemented, arrays of these libraries would return an array of their own.
cdef tuple FOREIGN_LIBRARIES = ("numpy", "torch", "jaxlib", "jax", "cupy", "dask", "tensorflow", "array_api_strict", "pandas")


cdef bint is_known_foreign(object value):
    for kind in type(value).__mro__:
        if (kind.__module__ or "").partition(".")[0] in FOREIGN_LIBRARIES:
            return True
    return False


cdef bint exports_buffer(object source):
    """Whether an object has the buffer protocol."""
    try:
        memoryview(source)
    except (TypeError, BufferError, ValueError):
        return type(source).__module__ == "numpy"
    return True


def as_array(x, operation, like=None, name="x"):
    """An operand as an array: x itself, or a Python scalar, in the dtype that it takes next to `like`, or the default dtype of its kind."""
    if type(x) is Array:
        return x
    if is_python_scalar(x):
        return weak_array(x, scalar_code(x) if like is None else weak_code((<DType?>like).code, x), operation)
    found = foreign_scalar(x)
    if found is not None:
        return found
    refuse_operand(operation, name, x)


cdef Array value_operand(Array dst, object src, str operation):
    """What is assigned, as an array; a Python scalar takes the dtype of the target."""
    if type(src) is Array:
        return <Array>src
    if is_python_scalar(src):
        return weak_array(src, dst.code, operation)
    if isinstance(src, (list, tuple, range)):
        # Python scalars in a sequence must fit the target, like a single scalar.
        return hooks.convert(src, dst.code)
    return hooks.convert(src, NO_DTYPE)
