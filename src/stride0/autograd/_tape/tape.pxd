# Results of rules that the engine computes: see `backward.pxi`.

cimport cython

from stride0._core.array.array cimport Array


@cython.final
cdef class LazyProduct:
    cdef readonly object g
    cdef readonly object d


@cython.final
cdef class LazyPut:
    cdef readonly object g
    cdef readonly object key


cdef inline LazyProduct times(object g, object d):
    """A cotangent times a factor; 0 wherever the cotangent is 0."""
    cdef LazyProduct out = LazyProduct.__new__(LazyProduct)
    out.g, out.d = g, d
    return out


cdef inline LazyPut added_at(object g, object key):
    """The cotangent of an array, given the cotangent of its elements `[key]`."""
    cdef LazyPut out = LazyPut.__new__(LazyPut)
    out.g, out.key = g, key
    return out
