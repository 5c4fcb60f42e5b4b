# Usual calls of functions written in Python: see `shortcuts.pyx`.

from cpython.object cimport PyObject

ctypedef object (*Shortcut)(PyObject* const* args, Py_ssize_t n, PyObject* kwnames)

cdef Shortcut shortcut_for(str name) noexcept
