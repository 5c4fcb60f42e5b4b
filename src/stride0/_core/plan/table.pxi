# The table of kernels, filled by the build for this processor, and facts about each kernel.

instruction_set = load_kernels(PyCapsule_New(&TABLE, "stride0.kernels", NULL))


cdef int fill_pairs(list names) except -1:
    cdef int number, code, first, second, other, at
    for first in range(S0_OPS):
        FACTS.commutes[first] = names[first] in operations.COMMUTATIVE
        for second in range(S0_OPS):
            FACTS.pair[first][second][0] = FACTS.pair[first][second][1] = -1
    for number, pair in enumerate(operations.PAIRS):
        first, second, at = names.index(pair.first), names.index(pair.second), pair.at
        FACTS.pair[first][second][at] = number
        if FACTS.commutes[second]:
            FACTS.pair[first][second][1 - at] = number
        FACTS.pair_inputs[number] = FACTS.inputs[first] + FACTS.inputs[second] - 1
        for code in range(S0_DTYPES):
            FACTS.pair_cost[number][code] = FACTS.cost[first][code] + FACTS.cost[second][code]
    return 0


cdef int fill_facts() except -1:
    cdef int number, code
    real = {"complex64": CODES["float32"], "complex128": CODES["float64"]}
    for number, row in enumerate(operations.OPS):
        FACTS.inputs[number] = row.nin
        slow = bool(row.otherwise or row.run or row.slow)
        for code, dtype in enumerate(ROWS):
            FACTS.cost[number][code] = 160 if dtype.name in row.call else 2 * dtype.itemsize if slow else 0
            FACTS.result[number][code] = BOOL if row.out == "bool" else real.get(dtype.name, code) if row.out == "real" else code
    fill_pairs([row.name for row in operations.OPS])
    names = [row.name for row in operations.REDUCTIONS]
    for number, row in enumerate(operations.REDUCTIONS):
        FACTS.folded[number] = row.nin
        FACTS.merged[number] = row.merged
        FACTS.folded_by[number] = names.index(row.folded_by or row.name)
        FACTS.absorbing[number] = int(row.absorbing or -1)
        for code, dtype in enumerate(ROWS):
            name = row.accumulator.get(dtype.letter)
            FACTS.accumulator[number][code] = -1 if name is None else code if name == "same" else CODES[name]
    return 0


fill_facts()
