# Usual calls of functions written in Python: see `fast_paths.pyx`.

from cpython.object cimport PyObject

ctypedef object (*FastPath)(PyObject* const* args, Py_ssize_t n, PyObject* kwnames)

cdef FastPath fast_path_for(str name) noexcept
