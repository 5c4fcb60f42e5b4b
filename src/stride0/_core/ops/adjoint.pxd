# Operations of backward passes: see `adjoint.pyx`.

from stride0._core.array.array cimport Array

cpdef Array sum_into(Array x, tuple shape)
cpdef Array dot_into(Array x1, Array x2, tuple shape)
