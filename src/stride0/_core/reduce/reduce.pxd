# See `reduce.pyx`.

from stride0._core.memory.dtype cimport DType
from stride0._core.plan.plan cimport Operand, Plan
from stride0._core.array.array cimport Array

# Reductions: see `reductions.pxi`.

# The row of each reduction in the table, by name.
cdef dict REDUCTION_NUMBERS

cdef void plan_totals(Plan* plan, Operand* operands, int nin, const Py_ssize_t* shape, int ndim, Array total) noexcept
cdef Py_ssize_t run_stride(Array x) noexcept
cdef const char* start_element(int number, int code) noexcept
cdef Array accumulate(str name, int nin, Array x, Array x2, tuple axes, bint keepdims, int loop, int out_code)
cdef Array reduce_array(str name, Array x, tuple axes, bint keepdims, object dtype)
cpdef Array mean_of_total(Array total, double count, DType dtype=*)
cdef int check_axis(Array x, int axis, str name) except -1
cpdef Array reduce_whole(str name, Array x)
cpdef Array argreduce(str name, Array x, int axis, bint keepdims)
cpdef Array scan(str name, Array x, int axis, DType dtype, bint include_initial)
