"""The table of kernels, filled by the build that the processor can run, and facts about each of them."""

from cpython.pycapsule cimport PyCapsule_New

from stride0._core.kernels._dispatch import load_kernels
from stride0._tables import operations
from stride0._tables.dtypes import CODES, ROWS

instruction_set = load_kernels(PyCapsule_New(&TABLE, "stride0.kernels", NULL))
WIDE_VECTORS = instruction_set == "v4"


cdef int fill_facts() except -1:
    cdef int number, code
    real = {"complex64": CODES["float32"], "complex128": CODES["float64"]}
    for number, row in enumerate(operations.OPS):
        FACTS.inputs[number] = row.nin
        slow = bool(row.otherwise or row.run or row.slow)
        for code, dtype in enumerate(ROWS):
            FACTS.cost[number][code] = 160 if dtype.name in row.call else 2 * dtype.itemsize if slow else 0
            FACTS.result[number][code] = BOOL if row.out == "bool" else real.get(dtype.name, code) if row.out == "real" else code
    names = [row.name for row in operations.REDUCTIONS]
    for number, row in enumerate(operations.REDUCTIONS):
        FACTS.folded[number] = row.nin
        FACTS.folded_by[number] = names.index(row.folded_by or row.name)
        FACTS.absorbing[number] = int(row.absorbing or -1)
        for code, dtype in enumerate(ROWS):
            name = row.accumulator.get(dtype.letter)
            FACTS.accumulator[number][code] = -1 if name is None else code if name == "same" else CODES[name]
    return 0


fill_facts()
