"""The dtype objects, their promotion, and single values between Python and memory."""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from cpython.object cimport PyObject
from libc.string cimport memcpy

cdef extern from "Python.h":
    ctypedef struct Py_complex:
        double real, imag
    Py_complex PyComplex_AsCComplex(object value) noexcept# cannot fail for a complex number
    object PyComplex_FromDoubles(double real, double imag)
    int64_t PyLong_AsLongLongAndOverflow(object value, int* overflow) except? -1

from stride0._core.memory.guards cimport s0_immortalize, s0_shared_flag

import importlib
import warnings

from stride0._tables import dtypes as dtype_table
from stride0._base.errors import CastError, DTypeError, RangeError, brief

cdef bint SEALED = False  # True once all dtypes exist
cdef list OBJECTS = []
cdef list LIMITS = []  # the smallest and largest integer of each dtype, as Python integers

# Set by strict mode, in a higher layer.
cdef s0_shared_flag NOBODY = False
cdef s0_shared_flag* GUARDED = &NOBODY
cdef s0_dtype_guard GUARD = NULL


cdef void guard_dtypes(s0_shared_flag* flag, s0_dtype_guard guard) noexcept:
    global GUARDED, GUARD
    GUARDED, GUARD = flag, guard


# Rank of a kind in promotion; a Python scalar takes the array's dtype if its kind does not rank higher.
cdef int rank_of(char letter) noexcept nogil:
    if letter == c"b":
        return 0
    if letter == c"i" or letter == c"u":
        return 1
    return 2 if letter == c"f" else 3


cdef class DType:
    """
    A data type: one of the thirteen of the standard, or a storage dtype. The instances are attributes of the namespace.

    Attributes
    ----------
    name : str
        The standard's name, ``"float64"`` for example.
    kind : str
        The standard's word: ``"bool"``, ``"signed integer"``, ``"unsigned integer"``,
        ``"real floating"`` or ``"complex floating"``.
    itemsize : int
        Size of an element in bytes.

    Notes
    -----
    A dtype also equals the objects that stand for it in a ``dtype=`` argument: ``float``, ``"float64"``, ``numpy.float64``.
    Its hash differs from theirs, as with NumPy's dtypes: look up dtypes, not their names, in sets and dictionaries.

    References
    ----------
    Array API standard 2025.12, "Data Types".

    Examples
    --------
    >>> xp.float32.name, xp.float32.kind, xp.float32.itemsize
    ('float32', 'real floating', 4)
    >>> xp.float64 == "float64", xp.float64 == np.float64, xp.asarray(1).dtype is xp.int64
    (True, True, True)
    """

    def __cinit__(self):
        if SEALED:
            raise TypeError("DType: dtypes cannot be created; use a dtype of the namespace: stride0.float64")

    def __init__(self):
        raise TypeError("DType: dtypes cannot be created; use a dtype of the namespace: stride0.float64")

    def __repr__(self):
        return f"stride0.{self.name}"

    def __str__(self):
        return self.name

    def __hash__(self):
        return self.hash

    def __eq__(self, other):
        if self is other:
            return True
        return False if type(other) is DType else compare_dtype(self, other, False)

    def __ne__(self, other):
        if self is other:
            return False
        return True if type(other) is DType else compare_dtype(self, other, True)

    @property
    def name(self):
        """The standard's name."""
        if GUARDED[0]:
            GUARD("name")
        return self.name

    @property
    def kind(self):
        """The standard's word for the kind."""
        if GUARDED[0]:
            GUARD("kind")
        return self.kind

    @property
    def itemsize(self):
        """Size of an element in bytes."""
        if GUARDED[0]:
            GUARD("itemsize")
        return self.itemsize

    def __reduce__(self):
        return _by_name, (self.name,)

    @property
    def __numpy_dtype__(self):
        """The NumPy dtype of the same name, for ``numpy.dtype(stride0.float64)``."""
        if GUARDED[0]:
            GUARD("__numpy_dtype__")
        return numpy_dtype(self)

    @property
    def type(self):
        """The NumPy scalar type of this dtype, as `numpy.dtype.type`. SciPy creates scalars by it."""
        if GUARDED[0]:
            GUARD("type")
        return numpy_dtype(self).type

    @property
    def dtype(self):
        """The attribute that NumPy before 2.4 reads instead of `__numpy_dtype__`."""
        if GUARDED[0]:
            GUARD("dtype")
        return numpy_dtype(self)


def arithmetic_dtype(DType dtype not None):
    """The dtype of computations on this dtype: the dtype itself, unless it is a storage dtype."""
    return dtype_at(arithmetic_code(dtype.code))


def numpy_dtype(DType dtype not None):
    """The NumPy dtype of the same name; DTypeError if it belongs to a package that is not installed."""
    import numpy

    cdef str module = dtype_table.ROWS[dtype.code].numpy
    if module == "numpy":
        return numpy.dtype(dtype.name)
    try:
        return numpy.dtype(getattr(importlib.import_module(module), dtype.name))
    except ImportError:
        raise DTypeError("numpy", f"NumPy has no dtype {dtype.name}", (), f"install {module}, or cast first: astype(x, float32)") from None


# What a ``dtype=`` argument may be, for annotations; the stub adds NumPy's dtypes, which are not imported here.
DTypeLike = DType | str | type


def _by_name(name):
    """The dtype with this name: pickles refer to this function."""
    return OBJECTS[dtype_table.CODES[name]]


cdef object _fill_tables():
    cdef DType made
    cdef int code
    for code, row in enumerate(dtype_table.ROWS):
        made = DType.__new__(DType)
        made.name = row.name
        made.kind = row.kind
        made.itemsize = row.itemsize
        made.code = code
        made.letter = ord(row.letter)
        made.format = row.format.encode()
        made.hash = hash(("stride0", row.name))
        s0_immortalize(<PyObject*>made)
        OBJECTS.append(made)
        bits = 8 * row.itemsize
        LIMITS.append((0, 2**bits - 1) if row.letter == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1))


_fill_tables()
SEALED = True
DTYPES = tuple(OBJECTS)
STANDARD_DTYPES = tuple([made for made, row in zip(DTYPES, dtype_table.ROWS) if not row.arithmetic])
globals().update({made.name: made for made in DTYPES})
__all__ = ["DType", *[made.name for made in DTYPES]]


# --- dtypes under other names

# Python's own types stand for the default dtypes of their kinds.
cdef tuple BUILTIN_DTYPES = ((bool, dtype_at(BOOL)), (int, dtype_at(INT64)), (float, dtype_at(FLOAT64)), (complex, dtype_at(COMPLEX128)))
cdef frozenset NUMPY_MODULES = frozenset([row.numpy for row in dtype_table.ROWS])
cdef dict NAMED_DTYPES = {made.name: made for made in DTYPES}
# The dtypes by NumPy scalar type; filled when first read.
cdef dict NUMPY_TYPES = {}


cdef dict numpy_types():
    """The dtypes by NumPy scalar type."""
    if not NUMPY_TYPES:
        import numpy

        # Numbers only: numpy.dtype warns for abstract types, and for times without a unit.
        letters = "?" + numpy.typecodes["AllInteger"] + numpy.typecodes["AllFloat"]
        made = [numpy.dtype(letter) for letter in letters]
        NUMPY_TYPES.update({dtype.type: NAMED_DTYPES[dtype.name] for dtype in made if dtype.name in NAMED_DTYPES})
    return NUMPY_TYPES


cpdef DType known_dtype(object value):
    """The dtype that a value stands for, or None. Never raises."""
    if type(value) is DType or value is None:
        return <DType>value
    if isinstance(value, str):
        return NAMED_DTYPES.get(value) or numpys_dtype(value)
    kind = type(value)
    if isinstance(value, type):
        # By identity: a metaclass may redefine equality and have no hash.
        for builtin, found in BUILTIN_DTYPES:
            if value is builtin:
                return found
        kind = value
    # NumPy's dtypes, and the types of its scalars; a caller that has one has imported NumPy.
    module = getattr(kind, "__module__", None)
    if not isinstance(module, str) or module.partition(".")[0] not in NUMPY_MODULES:
        return None
    import numpy

    if isinstance(value, numpy.dtype):
        return NAMED_DTYPES.get(value.name) if value.isnative else None
    if isinstance(value, type) and module != "numpy":
        # Types of ml_dtypes; the row in the table names their module.
        found = NAMED_DTYPES.get(value.__name__)
        return found if found is not None and dtype_table.ROWS[(<DType>found).code].numpy == module else None
    return numpy_types().get(value) if isinstance(value, type) else None


cdef DType numpys_dtype(str name):
    """The dtype of a NumPy string, "f4" or "<i8" for example; None if stride0 does not have that dtype."""
    import numpy

    try:
        with warnings.catch_warnings(action="ignore"):  # deprecated spellings
            found = numpy.dtype(name)
    except Exception:  # the type of error depends on the text
        return None
    return NAMED_DTYPES.get(found.name) if found.isnative else None


cdef object compare_dtype(DType x, object other, bint unequal):
    """`x == other` or `x != other` if `other` is not a DType. A NumPy dtype without a counterpart here decides itself."""
    cdef DType found = known_dtype(other)
    if found is None:
        return NotImplemented
    if GUARDED[0]:
        GUARD(None)
    return (found is x) != unequal


cdef DType dtype_at(int code):
    return <DType>OBJECTS[code]


cdef const char* format_at(int code) noexcept:
    return (<DType>OBJECTS[code]).format


def promote(DType first not None, DType second not None):
    """Dtype that two dtypes combine to; see `dtype_table.promote`."""
    return dtype_at(promote_codes(first.code, second.code))


def promote_all(dtypes):
    """
    Dtype that one or more dtypes combine to, in any order.

    Promotion by pairs is not associative across kinds: int16 with uint16 is int32, which promotes to float64 with float32,
    although float32 holds both. So the widest kind goes first.
    """
    cdef list entries = list(dtypes)
    cdef DType dtype
    cdef int code = -1
    cdef char letter
    for letter in b"cfiub":
        for dtype in entries:
            if dtype.letter == letter:
                code = dtype.code if code < 0 else promote_codes(code, dtype.code)
    return dtype_at(code)


def weak(DType dtype not None, value):
    """Dtype that an array of `dtype` and the Python scalar `value` combine to."""
    return dtype_at(weak_code(dtype.code, value))


include "scalars.pxi"
