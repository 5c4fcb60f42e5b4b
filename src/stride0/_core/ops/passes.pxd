# Passes over memory for deferred results: see `passes.pyx`.

from cpython.object cimport PyObject

from stride0._core.array.array cimport Array
from stride0._core.memory.storage cimport Storage
from stride0._core.ops.deferred cimport PendingChain, Reduction
from stride0._core.plan.chain cimport Chain
from stride0._core.plan.plan cimport MAX_VIEWS, Operand, Plan


ctypedef struct Pass:
    # Room for one: some 10 KiB, which would be much of a thread's stack.
    Chain program
    Plan plan
    Operand operands[MAX_VIEWS + 1]


cdef int run_pass(
    PendingChain chain, Pass* current, char** known, const int* outputs, int count, PyObject** memory, Reduction* reduction, Storage total, Array x
) except -1
cdef void divide_sums(double* total, char* out, bint is_single, double count, Py_ssize_t n) noexcept
cdef int finish_reduction(const Reduction* reduction, Storage total, Storage result) except -1
