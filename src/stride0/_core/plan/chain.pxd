# A chain of kernels over one iteration space, and the program that the executor runs (docs/design/planner.md).
#
# Note [Chains]
#     A chain is leaves, constants, steps and outputs. Its values are numbered: 0 to leaves - 1 are the leaves, which are the
#     first operands of the plan; the constants, of one element each, follow; step s computes the value
#     leaves + constants + s from earlier ones. Output o, the operand leaves + o of the plan, stores the value stored[o]. A step reads its operands in the dtype of its kernel: those of another dtype are
#     cast, as is a value that is stored in an output of another dtype. A reduction is the last step, stored in the last
#     output: its stride is 0 along the reduced axes, and it holds the identity, or elements that may be folded again.
#
#     A chain gives the bits of its steps run one by one, each into an array in the memory order of the plan's axes. The
#     bits of a reduction depend on the order of the axes, so the caller orders them as the call before the reduction would.
#
#     Limits: MAX_VIEWS leaves and outputs together, MAX_CONSTANTS constants, MAX_STEPS steps, MAX_CHAIN_NDIM axes. The operands of a reduction after other steps are dense
#     in the memory order of the plan's axes. A leaf and an output overlap only if they are the same elements in the same
#     order; a value that is stored in a leaf is stored after the last step that reads that leaf.

from stride0._core.plan.plan cimport MAX_OPERANDS, MAX_VIEWS, Plan
from stride0._core.plan.table cimport Kernel, s0_loop

cdef enum:
    MAX_CONSTANTS = 32
    MAX_STEPS = 96
    MAX_VALUES = MAX_VIEWS + MAX_CONSTANTS + MAX_STEPS


ctypedef struct Step:
    Kernel kernel
    int inputs[MAX_OPERANDS - 1]    # numbers of values


ctypedef struct Chain:
    int leaves
    int constants
    int count       # of steps; without any, the outputs are copies of leaves
    int outputs
    Step steps[MAX_STEPS]
    int stored[MAX_VIEWS]
    int constant_code[MAX_CONSTANTS]
    const char* constant[MAX_CONSTANTS]


# A program is a prepared chain: written by `prepare`, for the executor alone.

cdef enum:
    CALL_LOOP           # kinds of calls
    CALL_TRANSPOSE
    CALL_STREAM         # copy rows by non-temporal stores
    CALL_COMPUTE        # Note [Computed operands]
    CALL_RESERVE        # of the slot of a second computed operand: nothing

cdef enum:
    INNER = 1           # bits of `varies`
    OUTER = 2

cdef enum:
    FIRST_CONSTANT = MAX_VIEWS
    FIRST_SLOT = FIRST_CONSTANT + MAX_CONSTANTS
    # Most calls of a single kernel: each operand transposed, computed or cast, and the result cast.
    FEW_CALLS = 2 * MAX_OPERANDS

ctypedef struct Call:
    int kind
    s0_loop loop            # of a layout
    int nop                 # the inputs, then the result
    int place[MAX_OPERANDS] # a view, or FIRST_CONSTANT and the number of a constant, or FIRST_SLOT and that of the call whose slot it is
    int varies              # along which axes of a tile its result does
    int size                # bytes of an element of the result
    int slot
    int last                # call that reads its slot
    int idle                # one of the slots that are free: scratch for `take_slots`


ctypedef struct Program:
    bint direct             # one kernel on the views themselves: no tiles
    s0_loop loop
    bint folds              # into accumulators, by the last call
    bint rows               # of accumulators
    int transposed          # leaves
    int axis                # of a tile, beside the innermost one; 0 where a tile is a part of a run
    bint linear             # computes an operand, in the order of the plan's axes: tiles extend along the two innermost ones
    bint streams
    bint flat               # whether no slot varies along the other axis,
    bint has_rows           # and whether some do not
    int ahead               # views that are prefetched: Note [Prefetching]
    int ahead_view[MAX_VIEWS]
    int widest              # largest item size of a slot
    int slots
    int count
    # If the operands are computed: their prepared chain, and the plan of that, whose last operands they are, the first one last.
    const Program* inner
    const Plan* space
    const char* const* constant
    Call* calls             # `few`, or memory that `release_program` frees
    Call few[FEW_CALLS]


cdef int layout_of(Kernel kernel, const Py_ssize_t* inner) noexcept nogil
cdef void copy_chain(Chain* out, const Chain* chain) noexcept nogil
cdef bint is_single(const Chain* chain) noexcept nogil
cdef void prepare(Program* program, const Plan* plan, Kernel kernel, bint linear) noexcept nogil
cdef bint prepare_chain(Program* program, const Plan* plan, const Chain* chain, bint linear) noexcept nogil
cdef void release_program(Program* program) noexcept nogil
cdef int code_of(const Plan* plan, const Chain* chain, int value) noexcept nogil
cdef void prepare_computed(Program* program, const Plan* plan, Kernel kernel, const Program* inner, const Plan* space) noexcept nogil
