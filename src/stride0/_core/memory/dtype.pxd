# The data types in C. Their codes, the rows of `_tables/dtypes.py`, are in the generated `dtypes.h`.

from stride0._core.memory.guards cimport s0_shared_flag

cdef extern from "dtypes.h":
    enum:
        BOOL "S0_BOOL"
        INT8 "S0_INT8"
        INT16 "S0_INT16"
        INT32 "S0_INT32"
        INT64 "S0_INT64"
        UINT8 "S0_UINT8"
        UINT16 "S0_UINT16"
        UINT32 "S0_UINT32"
        UINT64 "S0_UINT64"
        FLOAT32 "S0_FLOAT32"
        FLOAT64 "S0_FLOAT64"
        COMPLEX64 "S0_COMPLEX64"
        COMPLEX128 "S0_COMPLEX128"
        N_DTYPES "S0_DTYPES"
        LARGEST_ITEM "S0_LARGEST_ITEM"  # size in bytes of the largest element
    const signed char S0_ARITHMETIC[1]
    const signed char S0_ITEMSIZE[1]
    const char S0_LETTER[1]
    const signed char S0_PROMOTE[1][N_DTYPES]

cdef enum:
    # The result for a name that is not a dtype.
    NO_DTYPE = -1


cdef class DType:
    cdef str name
    cdef str kind
    cdef int itemsize
    cdef int code
    cdef char letter
    cdef bytes format
    cdef Py_hash_t hash


ctypedef int (*s0_dtype_guard)(str attribute) except -1

# Set a function to call, while `flag` is set, before an attribute is read or a dtype is compared with another object.
cdef void guard_dtypes(s0_shared_flag* flag, s0_dtype_guard guard) noexcept
cdef DType dtype_at(int code)
cpdef DType known_dtype(object value)


cdef inline int promote_codes(int code1, int code2) noexcept nogil:
    return S0_PROMOTE[code1][code2]


cdef inline Py_ssize_t itemsize_at(int code) noexcept nogil:
    """Size of an element in bytes."""
    return S0_ITEMSIZE[code]


cdef extern from *:
    """
    /* If the size is not a constant, GCC copies by an instruction (rep movs) that takes 10 ns to start. */
    static inline void s0_copy_item(char *out, const char *from, int code) {
        switch (S0_ITEMSIZE[code]) {
            case 1: memcpy(out, from, 1); break;
            case 2: memcpy(out, from, 2); break;
            case 4: memcpy(out, from, 4); break;
            case 8: memcpy(out, from, 8); break;
            default: memcpy(out, from, 16);
        }
    }
    /* Whether an element is not 0. A boolean is a byte; -0.0 is 0, too. */
    static inline int s0_is_true(const char *place, int code) {
        unsigned long long bits[2] = {0, 0}, sign = 1;
        const int parts = S0_LETTER[code] == 'c' ? 2 : 1;
        s0_copy_item((char *)bits, place, code);
        if (S0_LETTER[code] == 'f' || S0_LETTER[code] == 'c') {
            sign <<= 8 * S0_ITEMSIZE[code] / parts - 1;
            bits[0] &= ~(S0_ITEMSIZE[code] == 8 && parts == 2 ? sign | sign << 32 : sign);
            bits[1] &= ~sign;
        }
        return (bits[0] | bits[1]) != 0;
    }
    """
    bint is_true "s0_is_true"(const char* place, int code) noexcept nogil
    void copy_item "s0_copy_item"(char* out, const char* from_, int code) noexcept nogil    # an element


cdef inline char letter_at(int code) noexcept nogil:
    """The kind of a dtype, as NumPy names it."""
    return S0_LETTER[code]


cdef inline int arithmetic_code(int code) noexcept nogil:
    """The dtype that a dtype computes in: itself, unless it is a storage dtype."""
    return S0_ARITHMETIC[code]


cdef inline bint is_stored(int code) noexcept nogil:
    """Whether a dtype is a storage dtype."""
    return S0_ARITHMETIC[code] != code


cdef const char* format_at(int code) noexcept
cdef bint is_python_scalar(object value) noexcept
cdef int weak_code(int code, object value) except -1
cdef int scalar_code(object value) except -1
cdef int write_scalar(object value, int code, char* out, str operation) except -1
cdef object read_scalar(const char* place, int code)
