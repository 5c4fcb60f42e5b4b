"""Sorting and searching in sorted arrays (kernels: `sorting.h`, `searching.h`).

Note [Sorting]
    Lanes of real numbers are sorted by kernels of our own (`sorting.h`), always stably: that costs no time here.
    Along another axis than the last, a transposed copy is sorted; the copy costs less than
    the sort. NumPy sorts complex numbers, for the set functions.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from stride0._core.memory.dtype cimport INT64, UINT64, arithmetic_code, dtype_at, is_stored, itemsize_at, letter_at
from stride0._core.plan.threads cimport is_stopped, run_equal_chunks
from stride0._core.plan.plan cimport MAX_NDIM
from stride0._core.plan.partition cimport LONG_RUN, chunks_for, threads_for
from stride0._core.array.array cimport Array, data_of, guard_gradient, new_array, not_completed, view_of
from stride0._core.plan.table cimport WIDE_VECTORS
from stride0._core.ops.copy cimport assign_array, copy_array
from stride0._core.ops.reduce cimport check_axis

from stride0._base.errors import DTypeError, ShapeError

cdef extern from "sorting.h":
    enum:
        S0_FEW
        S0_UNSIGNED
        S0_SIGNED
        S0_FLOATING
        S0_BOOLEAN
    bint (*s0_is_interrupted)() noexcept nogil
    void s0_sort_lane(const char* source, Py_ssize_t stride, Py_ssize_t n, int width, int kind, int descending, int wide, char* out, uint64_t* scratch) noexcept nogil
    void s0_argsort_lane(const char* source, Py_ssize_t stride, Py_ssize_t n, int width, int kind, int descending, int wide, int64_t* out, uint64_t* scratch) noexcept nogil
    Py_ssize_t s0_distinct(char* data, Py_ssize_t n, int width, int kind) noexcept nogil

cdef extern from "searching.h":
    void s0_search(const char* lane, Py_ssize_t stride, Py_ssize_t n, const char* wanted, Py_ssize_t count, int width, int kind, int right, int64_t* out) noexcept nogil

s0_is_interrupted = is_stopped


cdef int kind_of(int code) noexcept:
    """The kind of a dtype that is not complex: the interpretation of its bits."""
    cdef char letter = letter_at(code)
    return S0_FLOATING if letter == c"f" else S0_SIGNED if letter == c"i" else S0_BOOLEAN if letter == c"b" else S0_UNSIGNED


cdef Array axis_last(Array x, int axis):
    """A view of x with an axis behind all others."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t strides[MAX_NDIM]
    cdef int k, own = 0
    for k in range(x.ndim):
        if k != axis:
            shape[own], strides[own] = x.shape_[k], x.strides_[k]
            own += 1
    shape[own], strides[own] = x.shape_[axis], x.strides_[axis]
    return view_of(x, data_of(x), x.ndim, shape, strides)

ctypedef struct Lanes:
    # Adjacent lanes to sort, in chunks for several threads.
    char* source
    char* out
    uint64_t* scratch          # `words` for each chunk
    Py_ssize_t words
    Py_ssize_t stride
    Py_ssize_t n
    Py_ssize_t count
    Py_ssize_t each         # lanes in a chunk
    int width
    int wide                # bytes of an element of the result
    int kind
    bint descending
    bint indices


cdef void sort_lanes(void* context, int chunk) noexcept nogil:
    cdef Lanes* lanes = <Lanes*>context
    cdef Py_ssize_t i, first = chunk * lanes.each, size = lanes.n * lanes.width, out_size = lanes.n * lanes.wide
    cdef uint64_t* scratch = lanes.scratch + chunk * lanes.words
    for i in range(first, min(first + lanes.each, lanes.count)):
        if is_stopped():
            return
        if lanes.indices:
            s0_argsort_lane(lanes.source + i * size, lanes.stride, lanes.n, lanes.width, lanes.kind, lanes.descending, WIDE_VECTORS, <int64_t*>(lanes.out + i * out_size), scratch)
        else:
            s0_sort_lane(lanes.source + i * size, lanes.stride, lanes.n, lanes.width, lanes.kind, lanes.descending, WIDE_VECTORS, lanes.out + i * out_size, scratch)


cdef Array sorted_lanes(Array x, int axis, bint descending, bint indices):
    """The sorted elements of x along an axis, or their indices; a new array in C order."""
    cdef Py_ssize_t n = x.shape_[axis], i
    cdef int threads = 1, code = INT64 if indices else x.code, width = itemsize_at(x.code), wide = itemsize_at(code), kind = kind_of(x.code)
    cdef Array out, source, result, scratch = None
    cdef Lanes lanes
    cdef Py_ssize_t chunks = 1
    cdef int64_t work
    cdef bint done, last = axis == x.ndim - 1
    guard_gradient(x, "sort")
    if is_stored(x.code):
        # The dtype that it computes in has the same numbers in the same order.
        result = sorted_lanes(copy_array(x, arithmetic_code(x.code), True), axis, descending, indices)
        return result if indices else copy_array(result, x.code, True)
    if not last:
        result = new_array(code, x.ndim, x.shape_, NULL, False)
        assign_array(axis_last(result, axis), sorted_lanes(axis_last(x, axis), x.ndim - 1, descending, indices), "sort")
        return result
    out = new_array(code, x.ndim, x.shape_, NULL, False)
    if x.size == 0:
        return out
    source = x if x.ndim == 1 or x.c_contiguous else copy_array(x, x.code, True)
    lanes.source, lanes.out = data_of(source), data_of(out)
    lanes.stride = source.strides_[axis] if n > 1 else width
    lanes.n, lanes.count = n, x.size // n
    lanes.width, lanes.wide, lanes.kind = width, wide, kind
    lanes.descending, lanes.indices = descending, indices
    lanes.scratch, lanes.words = NULL, (4 if indices else 2) * n + 16 if n > S0_FEW else 0
    # An element costs some nanoseconds. All scratch memory together is not larger than source and result.
    if x.size >= LONG_RUN:
        work = x.size * 5
        threads = threads_for(work)
        chunks = min(chunks_for(work, threads), lanes.count)
    if lanes.words:
        chunks = max(<Py_ssize_t>1, min(chunks, x.size * (width + wide) // (8 * lanes.words)))
        i = lanes.words * chunks
        scratch = new_array(UINT64, 1, &i, NULL, False)
        lanes.scratch = <uint64_t*>data_of(scratch)
    if x.size < LONG_RUN:
        lanes.each = lanes.count
        sort_lanes(&lanes, 0)
    else:
        with nogil:
            done = run_equal_chunks(sort_lanes, &lanes, &lanes.each, lanes.count, chunks, threads)
        if not done:
            not_completed("sort")
    return out


def sort_along(Array x not None, int axis, bint descending, bint indices):
    """The elements of x, or their indices, in order along an axis that is not negative: a new array in C order."""
    check_axis(x, axis, "sort")
    if letter_at(x.code) == c"c":
        raise DTypeError("sort", f"Unsupported dtype {dtype_at(x.code).name}")
    return sorted_lanes(x, axis, descending, indices)


cdef Array distinct_values(Array x):
    """The distinct elements of x in order: each NaN is one of them, -0.0 and 0.0 are one."""
    if is_stored(x.code):
        return copy_array(distinct_values(copy_array(x, arithmetic_code(x.code), True)), x.code, True)
    cdef Py_ssize_t stride = itemsize_at(x.code), n
    cdef Array flat = x if x.c_contiguous else copy_array(x, x.code, True)
    cdef Array ordered = sorted_lanes(view_of(flat, data_of(flat), 1, &flat.size, &stride), 0, False, False), out
    cdef int width = itemsize_at(x.code), kind = kind_of(x.code)
    cdef char* values = data_of(ordered)
    with nogil:
        n = s0_distinct(values, ordered.size, width, kind)
    if n == ordered.size:
        return ordered
    out = new_array(x.code, 1, &n, NULL, False)
    memcpy(data_of(out), data_of(ordered), n * width)
    return out

cdef enum:
    SEARCH_TIME = 200   # nanoseconds of a search in a lane that is not in a cache
    FEW_SOUGHT = 8  # a lane with more than so many elements for each search is not copied

ctypedef struct Search:
    # Elements to search for in a sorted lane, in chunks for several threads.
    const char* lane
    Py_ssize_t stride
    Py_ssize_t n
    const char* wanted
    Py_ssize_t count
    Py_ssize_t each         # elements in a chunk
    int width
    int kind
    bint right
    int64_t* out


cdef void search_chunk(void* context, int chunk) noexcept nogil:
    cdef Search* search = <Search*>context
    cdef Py_ssize_t first = chunk * search.each, count = min(search.each, search.count - first)
    s0_search(search.lane, search.stride, search.n, search.wanted + first * search.width, count, search.width, search.kind, search.right, search.out + first)


cdef Array indices_in(Array among, Array wanted, bint right):
    """The indices at which elements belong into a sorted lane of their dtype: a new array in C order."""
    if is_stored(among.code):
        among, wanted = copy_array(among, arithmetic_code(among.code), True), copy_array(wanted, arithmetic_code(wanted.code), True)
    cdef Array lane = among
    cdef Array given = wanted if wanted.c_contiguous else copy_array(wanted, wanted.code, True)
    cdef Array out = new_array(INT64, wanted.ndim, wanted.shape_, NULL, False)
    cdef Search search
    cdef int threads
    cdef bint done
    if not among.c_contiguous and among.strides_[0] != 0 and among.size // FEW_SOUGHT < wanted.size:
        # A search at large strides costs more than the copy; for a few elements the copy costs more.
        lane = copy_array(among, among.code, True)
    search.lane, search.n, search.wanted, search.count = data_of(lane), lane.size, data_of(given), out.size
    search.stride = itemsize_at(among.code) if lane.c_contiguous else lane.strides_[0]
    search.width, search.kind, search.right = itemsize_at(among.code), kind_of(among.code), right
    search.out = <int64_t*>data_of(out)
    if out.size < LONG_RUN:
        search.each = out.size
        search_chunk(&search, 0)
    else:
        with nogil:
            threads = threads_for(out.size * 8)
            done = run_equal_chunks(search_chunk, &search, &search.each, out.size, chunks_for(out.size * SEARCH_TIME, threads), threads)
        if not done:
            not_completed("searchsorted")
    return out


def search_among(Array among not None, Array wanted not None, bint right):
    """`indices_in` of an array of one axis, for elements of its dtype, which is bool or real."""
    guard_gradient(among, "searchsorted")
    guard_gradient(wanted, "searchsorted")
    if among.ndim != 1 or among.code != wanted.code or letter_at(among.code) == c"c":
        raise ShapeError("searchsorted", "not a lane of the same dtype")
    return indices_in(among, wanted, right)

