# Numbers of operations and the resolution of dtypes: `operations.h`, generated from the table of operations.

cdef extern from "operations.h":
    enum:
        OP_ADD
        OP_ADD_SCALED
        OP_BITWISE_AND
        OP_CLIP
        OP_CONJ
        OP_COS
        OP_DIVIDE
        OP_EQUAL
        OP_FLOOR_DIVIDE
        OP_GREATER
        OP_GREATER_EQUAL
        OP_ISFINITE
        OP_LESS
        OP_LESS_EQUAL
        OP_LOG
        OP_MAXIMUM
        OP_MINIMUM
        OP_MULTIPLY
        OP_MULTIPLY_MASKED
        OP_ABS
        OP_NOT_EQUAL
        OP_SIN
        OP_SUBTRACT
        OP_POW
        OP_REMAINDER
        OP_SQUARE
    # Rows of operations and reductions, a column for each promoted dtype of the operands: see `generators/operators.py`.
    const signed char** S0_LOOP
    const signed char** S0_OUT
    const signed char** S0_ACCUMULATOR
    const signed char** S0_REDUCED
    const char* S0_CHECK_EXPONENT
    const char* S0_COMPARES
