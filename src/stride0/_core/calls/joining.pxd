# Functions that write several arrays to a new one: see `joining.pyx`.

cdef enum:
    FEW_ELEMENTS = 1 << 15  # up to which arrays are written to new ones by memcpy, without a plan
