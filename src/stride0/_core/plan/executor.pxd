# The executor: runs a prepared chain, tile by tile.

from stride0._core.plan.chain cimport Program
from stride0._core.plan.plan cimport Plan

cdef bint run_program(const Program* program, const Plan* plan) noexcept nogil
cdef Py_ssize_t tile_rows(const Program* program, const Plan* plan) noexcept nogil
