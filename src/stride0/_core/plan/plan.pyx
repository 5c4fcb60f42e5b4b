# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The planner: from operands to loops, in small steps on plain C structs.

`broadcast` finds the common shape, `set_strides` gives each operand a step per axis (0 where it is
stretched), `order_axes` puts the fastest-moving axis innermost, `result_strides` is the memory order of
a new result, `coalesce` merges axes that are one run of memory, and the `run_*` functions pick the loop
of the layout and walk the axes that the loop does not. None of them touches a Python object.
"""

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from stride0._core.memory.dtype cimport itemsize_at
from stride0._core.plan.threads cimport run_chunks, threads_worth

import os

from stride0._tables import operations
from stride0._core.kernels._dispatch import load_kernels
from stride0._tables.dtypes import ROWS

cdef enum:
    # Elements of a block in which operands are cast: small enough for all of them to stay in cache.
    BLOCK = 1024
    # The same for a reduction: the block in which the loops fold, by Note [Order of a reduction]. A cast
    # must not change the order in which elements are added up.
    FOLD_BLOCK = 4096

# The loops of every module of kernels that was loaded.
cdef s0_kernels TABLE
instruction_set = load_kernels(PyCapsule_New(&TABLE, "stride0.kernels", NULL))


cdef s0_kernels* kernels() noexcept nogil:
    return &TABLE


cdef int broadcast(const Operand* operands, int nop, Py_ssize_t* shape, int* ndim) noexcept nogil:
    """Common shape of the operands; the axis (negative) at which there is none, or 0."""
    cdef int k, back, deepest = 0
    cdef Py_ssize_t size, found
    for k in range(nop):
        if operands[k].ndim > deepest:
            deepest = operands[k].ndim
    for back in range(1, deepest + 1):
        size = 1
        for k in range(nop):
            if back <= operands[k].ndim:
                found = operands[k].shape[operands[k].ndim - back]
                if found != 1:
                    if size != 1 and size != found:
                        return -back
                    size = found
        shape[deepest - back] = size
    ndim[0] = deepest
    return 0


cdef Py_ssize_t step_at(const Operand* operand, int back) noexcept nogil:
    """Step of an operand along the axis counted from the last one; 0 where it is stretched or missing."""
    if back > operand.ndim or operand.shape[operand.ndim - back] == 1:
        return 0
    return operand.strides[operand.ndim - back]


cdef void place(Plan* plan, int k, const Operand* operand, int ndim) noexcept nogil:
    cdef int d
    plan.data[k] = operand.data
    plan.code[k] = operand.code
    plan.loop_code[k] = operand.loop_code
    for d in range(plan.ndim):
        plan.strides[k][d] = step_at(operand, ndim - plan.axis[d])


cdef void set_strides(Plan* plan, const Operand* operands, int nop, const Py_ssize_t* shape, int ndim) noexcept nogil:
    """Axes of more than one element, innermost first, and the steps of the first `nop` operands."""
    cdef int k, axis
    plan.nop = nop
    plan.ndim = 0
    for axis in range(ndim - 1, -1, -1):
        if shape[axis] != 1:
            plan.axis[plan.ndim] = axis
            plan.shape[plan.ndim] = shape[axis]
            plan.ndim += 1
    for k in range(nop):
        place(plan, k, &operands[k], ndim)


cdef void set_result(Plan* plan, const Operand* result, const Py_ssize_t* shape, int ndim) noexcept nogil:
    """Add the result as the last operand of a plan whose axes are already ordered."""
    place(plan, plan.nop, result, ndim)
    plan.nop += 1


cdef int compare_axes(const Plan* plan, int first, int second, bint result_first) noexcept nogil:
    """
    Whether an axis belongs outside (1) or inside (-1) of another; 0 where no operand tells.

    The operands are asked in order; where the result is given, it is asked before them, since writing in
    order matters most. A step of 0 agrees with any order.
    """
    cdef int turn, k
    cdef Py_ssize_t one, two
    for turn in range(plan.nop):
        k = turn
        if result_first:
            k = plan.nop - 1 if turn == 0 else turn - 1
        one, two = plan.strides[k][first], plan.strides[k][second]
        one = -one if one < 0 else one
        two = -two if two < 0 else two
        if one == 0 or two == 0 or one == two:
            continue
        return 1 if one > two else -1
    return 0


cdef void swap_axes(Plan* plan, int first, int second) noexcept nogil:
    cdef int k
    plan.axis[first], plan.axis[second] = plan.axis[second], plan.axis[first]
    plan.shape[first], plan.shape[second] = plan.shape[second], plan.shape[first]
    for k in range(plan.nop):
        plan.strides[k][first], plan.strides[k][second] = plan.strides[k][second], plan.strides[k][first]


cdef void order_axes(Plan* plan, bint result_first) noexcept nogil:
    """
    Fastest-moving axis innermost, judged over all operands.

    An insertion sort, since the comparison is not transitive where steps are 0: an axis moves inwards
    past those it must be inside of, and stops at the first that must be inside of it.
    """
    cdef int start, there, here, order
    for start in range(1, plan.ndim):
        here = start
        for there in range(start - 1, -1, -1):
            order = compare_axes(plan, there, here, result_first)
            if order > 0:
                # Everything between is undecided with both; moving by swaps keeps it between.
                swap_axes(plan, there, here)
                here = there
            elif order < 0:
                break


cdef void innermost(Plan* plan, int axis) noexcept nogil:
    """Bring the logical axis innermost, whatever its step: what runs along an axis needs it there."""
    cdef int d, at = -1
    for d in range(plan.ndim):
        if plan.axis[d] == axis:
            at = d
    for d in range(at, 0, -1):
        swap_axes(plan, d, d - 1)


cdef void result_strides(const Plan* plan, const Py_ssize_t* shape, int ndim, Py_ssize_t itemsize, Py_ssize_t* strides) noexcept nogil:
    """Steps of a new result whose memory order is the order of the plan's axes."""
    cdef int d, axis
    cdef Py_ssize_t step = itemsize
    for d in range(plan.ndim):
        strides[plan.axis[d]] = step
        step *= plan.shape[d] if plan.shape[d] > 0 else 1
    # An axis of one element never moves; it gets the step that C order would give it.
    step = itemsize
    for axis in range(ndim - 1, -1, -1):
        if shape[axis] == 1:
            strides[axis] = step
        elif shape[axis] * strides[axis] > step:
            step = shape[axis] * strides[axis]


cdef void coalesce(Plan* plan, int first) noexcept nogil:
    """Merge neighbouring axes, from the axis `first` of the plan on, that are one run in every operand."""
    cdef int d, k, last = first
    cdef bint one_run
    if plan.ndim <= first + 1:
        return
    for d in range(first + 1, plan.ndim):
        one_run = True
        for k in range(plan.nop):
            if plan.strides[k][d] != plan.shape[last] * plan.strides[k][last]:
                one_run = False
                break
        if one_run:
            plan.shape[last] *= plan.shape[d]
        else:
            last += 1
            plan.axis[last] = plan.axis[d]
            plan.shape[last] = plan.shape[d]
            for k in range(plan.nop):
                plan.strides[k][last] = plan.strides[k][d]
    plan.ndim = last + 1


cdef int pick_elementwise(const Plan* plan, const Py_ssize_t* inner) noexcept nogil:
    """Layout of an elementwise loop by Note [Layouts] of the generator."""
    cdef int k, nin = plan.nop - 1, still = 0
    for k in range(plan.nop):
        if inner[k] == 0 and k < nin:
            still |= 1 << k
        elif inner[k] != itemsize_at(plan.loop_code[k]):
            return 3
    if still == 0:
        return 0
    if nin == 1:
        return 1
    if nin == 2:
        return 1 if still == 1 else 2 if still == 2 else 3
    return 1 if still == 6 else 2 if still == 4 else 3


cdef int pick_reduction(const Plan* plan, const Py_ssize_t* inner) noexcept nogil:
    """Layout of a reduction by Note [Layouts] of the generator."""
    cdef int k, nin = plan.nop - 1
    cdef bint rows = inner[nin] != 0
    cdef bint straight = not rows or inner[nin] == itemsize_at(plan.loop_code[nin])
    for k in range(nin):
        if inner[k] != itemsize_at(plan.loop_code[k]):
            if nin == 2 and k == 1 and inner[1] == 0 and straight and not rows:
                return 4
            straight = False
    if rows:
        return 2 if straight else 3
    return 0 if straight else 1


ctypedef struct Buffers:
    # Where operands of another dtype are cast, a block at a time. On the heap: threads may have small stacks.
    char* memory
    char* of_operand[MAX_OPERANDS]
    Py_ssize_t block    # elements
    Py_ssize_t rows     # a block of several runs has a multiple of so many


cdef bint get_buffers(const Plan* plan, Buffers* buffers, bint reduction, bint rows) noexcept nogil:
    """Room for a block of each operand that is cast; False where there is no memory."""
    cdef Py_ssize_t room = 0
    cdef int k
    buffers.block = FOLD_BLOCK if reduction else BLOCK
    # Loops that fold rows take four at once, counted from the first row that they are given.
    buffers.rows = 4 if reduction and rows else 1
    for k in range(plan.nop):
        if plan.code[k] != plan.loop_code[k]:
            room += buffers.block * itemsize_at(plan.loop_code[k])
    buffers.memory = <char*>malloc(room)
    if buffers.memory is NULL:
        return False
    room = 0
    for k in range(plan.nop):
        if plan.code[k] != plan.loop_code[k]:
            buffers.of_operand[k] = buffers.memory + room
            room += buffers.block * itemsize_at(plan.loop_code[k])
    return True


cdef bint walk(const Plan* plan, const s0_loop* loops, bint reduction) noexcept nogil:
    """
    Run the loop over the two innermost axes for every position of the others.

    False, with nothing done, where there is no memory for the buffers of a cast.
    """
    cdef Py_ssize_t n = plan.shape[0] if plan.ndim > 0 else 1
    cdef Py_ssize_t m = plan.shape[1] if plan.ndim > 1 else 1
    cdef Py_ssize_t inner[MAX_OPERANDS]
    cdef Py_ssize_t outer[MAX_OPERANDS]
    cdef Py_ssize_t buffer_inner[MAX_OPERANDS]
    cdef Py_ssize_t buffer_outer[MAX_OPERANDS]
    cdef Py_ssize_t position[MAX_NDIM]
    cdef char* data[MAX_OPERANDS]
    cdef Buffers buffers
    cdef bint cast = False
    cdef int k, d, layout, first_outer = 2
    for k in range(plan.nop):
        data[k] = plan.data[k]
        if plan.ndim > 0:
            inner[k] = plan.strides[k][0]
        else:
            inner[k] = 0 if reduction and k == plan.nop - 1 else itemsize_at(plan.loop_code[k])
        outer[k] = plan.strides[k][1] if plan.ndim > 1 else 0
        if plan.code[k] != plan.loop_code[k]:
            cast = True
    if reduction and inner[plan.nop - 1] != 0 and outer[plan.nop - 1] != 0:
        # Rows are added into one row of accumulators: an outer axis that moves it is walked here.
        m = 1
        first_outer = 1
    for d in range(plan.ndim):
        if plan.shape[d] == 0:
            return True
        position[d] = 0
    memcpy(buffer_inner, inner, sizeof(inner))
    memcpy(buffer_outer, outer, sizeof(outer))
    if cast:
        for k in range(plan.nop):
            if plan.code[k] != plan.loop_code[k] and (inner[k] != 0 or k == plan.nop - 1):
                buffer_inner[k] = itemsize_at(plan.loop_code[k])
    layout = pick_reduction(plan, buffer_inner) if reduction else pick_elementwise(plan, buffer_inner)
    if cast and not get_buffers(plan, &buffers, reduction, inner[plan.nop - 1] != 0):
        return False
    while True:
        if cast:
            run_cast(plan, loops[layout], &buffers, data, inner, outer, n, m)
        else:
            loops[layout](data, inner, outer, n, m)
        d = first_outer
        while d < plan.ndim:
            position[d] += 1
            for k in range(plan.nop):
                data[k] += plan.strides[k][d]
            if position[d] < plan.shape[d]:
                break
            for k in range(plan.nop):
                data[k] -= position[d] * plan.strides[k][d]
            position[d] = 0
            d += 1
        if d >= plan.ndim:
            break
    if cast:
        free(buffers.memory)
    return True


cdef void run_cast(
    const Plan* plan, s0_loop loop, const Buffers* buffers, char** data, const Py_ssize_t* inner, const Py_ssize_t* outer,
    Py_ssize_t n, Py_ssize_t m
) noexcept nogil:
    """
    Run a loop block by block, with the operands of another dtype cast through buffers.

    A block is a piece of a run, or several short runs at once. An operand that stands still along the
    run is cast once per run; one that stands still altogether, once per block.
    """
    cdef Py_ssize_t wide = n if n < buffers.block // buffers.rows else buffers.block // buffers.rows
    cdef Py_ssize_t high = buffers.block // wide // buffers.rows * buffers.rows
    cdef Py_ssize_t i, j, bn, bm, count, runs
    cdef Py_ssize_t block_inner[MAX_OPERANDS]
    cdef Py_ssize_t block_outer[MAX_OPERANDS]
    cdef Py_ssize_t cast_inner[2]
    cdef Py_ssize_t cast_outer[2]
    cdef char* args[MAX_OPERANDS]
    cdef char* pair[2]
    cdef int k, result = plan.nop - 1, size
    cdef const s0_loop* casts
    if high > m:
        high = m
    for j from 0 <= j < m by high:
        bm = high if m - j >= high else m - j
        for i from 0 <= i < n by wide:
            bn = wide if n - i >= wide else n - i
            for k in range(plan.nop):
                args[k] = data[k] + i * inner[k] + j * outer[k]
                block_inner[k] = inner[k]
                block_outer[k] = outer[k]
                if plan.code[k] == plan.loop_code[k]:
                    continue
                size = itemsize_at(plan.loop_code[k])
                pair[0], pair[1] = args[k], buffers.of_operand[k]
                args[k] = buffers.of_operand[k]
                count = 1 if inner[k] == 0 and k != result else bn
                runs = 1 if outer[k] == 0 and k != result else bm
                block_inner[k] = 0 if count == 1 and inner[k] == 0 and k != result else size
                block_outer[k] = 0 if runs == 1 and outer[k] == 0 and k != result else size * count
                if k == result:
                    continue
                cast_inner[0], cast_inner[1] = inner[k], size
                cast_outer[0], cast_outer[1] = outer[k], size * count
                casts = TABLE.casts[plan.code[k]][plan.loop_code[k]]
                casts[0 if inner[k] == itemsize_at(plan.code[k]) else 3](pair, cast_inner, cast_outer, count, runs)
            loop(args, block_inner, block_outer, bn, bm)
            if plan.code[result] != plan.loop_code[result]:
                pair[0] = buffers.of_operand[result]
                pair[1] = data[result] + i * inner[result] + j * outer[result]
                cast_inner[0], cast_inner[1] = block_inner[result], inner[result]
                cast_outer[0], cast_outer[1] = block_outer[result], outer[result]
                casts = TABLE.casts[plan.loop_code[result]][plan.code[result]]
                casts[0 if inner[result] == itemsize_at(plan.code[result]) else 3](pair, cast_inner, cast_outer, bn, bm)


include "splitting.pxi"
include "blocking.pxi"


cdef void extent(const Operand* operand, char** low, char** high) noexcept nogil:
    """First byte of the memory that an operand touches and the one past the last; equal where it is empty."""
    cdef int axis
    cdef Py_ssize_t reach
    low[0] = operand.data
    high[0] = operand.data
    for axis in range(operand.ndim):
        if operand.shape[axis] == 0:
            return
    high[0] += itemsize_at(operand.code)
    for axis in range(operand.ndim):
        reach = (operand.shape[axis] - 1) * operand.strides[axis]
        if reach > 0:
            high[0] += reach
        else:
            low[0] += reach


cdef bint shares_location(const Operand* operand) noexcept nogil:
    """
    Whether two elements may share memory.

    Sorted by step, each axis must step over all that the smaller ones reach. This is exact for every
    view that indexing, permuting and broadcasting can make; for windows made by hand it may say yes
    where a finer argument would say no.
    """
    cdef Py_ssize_t steps[MAX_NDIM]
    cdef Py_ssize_t sizes[MAX_NDIM]
    cdef Py_ssize_t step, size, reach = itemsize_at(operand.code)
    cdef int axis, count = 0, at
    for axis in range(operand.ndim):
        size = operand.shape[axis]
        if size == 0:
            return False
        if size == 1:
            continue
        step = operand.strides[axis]
        step = -step if step < 0 else step
        at = count
        while at > 0 and steps[at - 1] > step:
            steps[at], sizes[at] = steps[at - 1], sizes[at - 1]
            at -= 1
        steps[at], sizes[at] = step, size
        count += 1
    for axis in range(count):
        if steps[axis] < reach:
            return True
        reach += (sizes[axis] - 1) * steps[axis]
    return False
