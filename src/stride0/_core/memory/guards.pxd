# Locks and references for free-threaded Python: see `guards.h`.

from cpython.object cimport PyObject
from libc.stdint cimport int64_t

cdef extern from "guards.h":
    const bint FREE_THREADED "S0_FREE_THREADED"
    ctypedef char s0_lock
    void s0_acquire(s0_lock* lock) noexcept nogil
    void s0_leave(s0_lock* lock) noexcept nogil
    ctypedef struct s0_section:
        pass
    void s0_enter_section(s0_section* section) noexcept
    void s0_leave_section(s0_section* section) noexcept
    int s0_pause_section(s0_section* section) noexcept
    void s0_resume_section(s0_section* section, int depth) noexcept
    void s0_reset_section(s0_section* section) noexcept
    bint s0_is_last_leave(s0_section* section) noexcept
    bint s0_has_references(PyObject* x, Py_ssize_t count) noexcept
    void s0_enable_try_incref(PyObject* x) noexcept
    bint s0_try_incref(PyObject* x) noexcept
    void s0_immortalize(PyObject* x) noexcept
    ctypedef struct s0_drops:
        pass
    void s0_drop_later(s0_drops* drops, PyObject* x) noexcept
    void s0_drop_all(s0_drops* drops) noexcept
    bint s0_has_drops(s0_drops* drops) noexcept
    # Variables that all threads read and write.
    ctypedef bint s0_shared_flag "s0_shared_int"
    ctypedef int s0_shared_int
    ctypedef int64_t s0_shared_long
    ctypedef Py_ssize_t s0_shared_size
    # Macros; their first argument is a variable.
    Py_ssize_t s0_add(s0_shared_size x, Py_ssize_t n) noexcept nogil
    void s0_count_int "s0_add"(s0_shared_int x, int n) noexcept nogil
    int64_t s0_count_up "s0_add"(s0_shared_long x, int n) noexcept nogil
    char* s0_read(char* x) noexcept nogil
    void s0_write(char* x, char* value) noexcept nogil
    Py_ssize_t s0_peek(Py_ssize_t x) noexcept nogil
    int s0_peek_int "s0_peek"(int x) noexcept nogil
    int64_t s0_peek_long "s0_peek"(int64_t x) noexcept nogil
    void* s0_peek_pointer "s0_peek"(void* x) noexcept nogil
    void s0_put(Py_ssize_t x, Py_ssize_t value) noexcept nogil
    void s0_put_long "s0_put"(int64_t x, int64_t value) noexcept nogil
    void s0_add_own(Py_ssize_t x, Py_ssize_t n) noexcept nogil
    void s0_add_own_int "s0_add_own"(int x, int n) noexcept nogil
    bint s0_read_int "s0_read"(int x) noexcept nogil
    void s0_write_int "s0_write"(int x, int value) noexcept nogil
