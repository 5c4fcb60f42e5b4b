# See `manipulation.pyx`.

from stride0._core.array.array cimport Array

# Functions that write several arrays to a new one: see `joining.pxi`.

cdef enum:
    # Bytes of a run up to which memcpy copies it, without a plan. C libraries may copy longer ones by one instruction
    # (rep movsb), which on some processors takes ten times as long where source and target lie differently in cache lines.
    RUN_BYTES = 1 << 12


# Functions that write copies or blocks of an array to a new one: see `repeating.pxi`.

cdef Array rolled(Array x, const Py_ssize_t* moves)
