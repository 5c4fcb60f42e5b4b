# The data types in C: codes in the order of `dtype_table.ROWS`.

cdef enum:
    BOOL = 0
    INT8 = 1
    INT16 = 2
    INT32 = 3
    INT64 = 4
    UINT8 = 5
    UINT16 = 6
    UINT32 = 7
    UINT64 = 8
    FLOAT32 = 9
    FLOAT64 = 10
    COMPLEX64 = 11
    COMPLEX128 = 12
    N_DTYPES = 13
    # What a name that is no dtype gives.
    NO_DTYPE = -1


cdef class DType:
    cdef str name
    cdef str kind
    cdef int itemsize
    cdef int code
    cdef char letter
    cdef bytes format


ctypedef int (*s0_dtype_guard)(str attribute) except -1

# What is called, where a flag is set, before an attribute is shown or a dtype compared with what stands for one.
cdef void guard_dtypes(const bint* flag, s0_dtype_guard guard) noexcept
cdef DType dtype_at(int code)
cpdef DType known_dtype(object value)
cdef int promote_codes(int code1, int code2) noexcept nogil
cdef int itemsize_at(int code) noexcept nogil
cdef char letter_at(int code) noexcept nogil
cdef const char* format_at(int code) noexcept
cdef bint is_python_scalar(object value) noexcept
cdef int weak_code(int code, object value) except -1
cdef int scalar_code(object value) except -1
cdef int write_scalar(object value, int code, char* out, str operation) except -1
cdef object read_scalar(const char* place, int code)
