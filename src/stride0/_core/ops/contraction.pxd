# Contractions of labelled axes: see `contraction.pyx`.

from stride0._core.array.array cimport Array
from stride0._core.plan.plan cimport MAX_NDIM

cdef enum:
    MOST_LABELS = 2 * MAX_NDIM      # as in `_base/subscripts.py`: of two operands

cdef Array contract_one(Array x, const unsigned char* labels, int count, const unsigned char* out, str name)
cdef Array contract_two(
    Array a, const unsigned char* of_a, Array b, const unsigned char* of_b, int count, const unsigned char* out, str name)
