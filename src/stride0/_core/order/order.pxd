# See `order.pyx`.

from stride0._core.array.array cimport Array

# Sorting: see `sorting.pxi`.



cdef Array sorted_lanes(Array x, int axis, bint descending, bint indices)
cdef Array selected_lanes(Array x, int axis, Py_ssize_t first, Py_ssize_t last, bint descending, bint whole, bint indices=*)
cdef Array distinct_values(Array x)
cdef Array indices_in(Array among, Array wanted, bint right)


# Counts and interpolation: see `counts.pxi`.



cdef Py_ssize_t largest_place(Array places) except? -1
cpdef Array count_places(Array places, Array weights, Py_ssize_t size)
cdef Array interpolated(Array x, Array points, Array values, Array before, Array behind)
cdef Array intervals_of(Array x, Array edges, double first, double last)
