# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Sorting and searching in sorted arrays (loops: `sorting.h`, `searching.h`).

Note [Sorting]
    Lanes of real numbers are sorted by loops of our own (`sorting.h`), stably in any case, at speeds that do not depend
    on whether stability was asked for. Lanes along another axis than the last are made ones along the last by a
    transposed copy, which costs less than the sorting. Complex numbers, which only the set functions sort, are
    NumPy's business.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from stride0._core.memory.dtype cimport INT64, UINT64, arithmetic_code, dtype_at, is_stored, itemsize_at, letter_at
from stride0._core.plan.threads cimport is_stopped, run_equal_chunks
from stride0._core.plan.plan cimport MAX_NDIM
from stride0._core.plan.partition cimport LONG_RUN, chunks_for, threads_for
from stride0._core.array.array cimport Array, guard_gradient, new_array, view_of
from stride0._core.ops.copy cimport WIDE, assign_array, copy_array, not_completed
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
    void s0_sort_line(const char* source, Py_ssize_t step, Py_ssize_t n, int width, int kind, int descending, int wide, char* out, uint64_t* room) noexcept nogil
    void s0_argsort_line(const char* source, Py_ssize_t step, Py_ssize_t n, int width, int kind, int descending, int wide, int64_t* out, uint64_t* room) noexcept nogil
    Py_ssize_t s0_distinct(char* data, Py_ssize_t n, int width, int kind) noexcept nogil

cdef extern from "searching.h":
    void s0_search(const char* among, Py_ssize_t step, Py_ssize_t n, const char* wanted, Py_ssize_t count, int width, int kind, int right, int64_t* out) noexcept nogil

s0_is_interrupted = is_stopped


cdef int kind_of(int code) noexcept:
    """How the bits of a dtype, which is not complex, are to be read."""
    cdef char letter = letter_at(code)
    return S0_FLOATING if letter == c"f" else S0_SIGNED if letter == c"i" else S0_BOOLEAN if letter == c"b" else S0_UNSIGNED


cdef Array axis_last(Array x, int axis):
    """A view of x with an axis behind all others."""
    cdef Py_ssize_t shape[MAX_NDIM]
    cdef Py_ssize_t steps[MAX_NDIM]
    cdef int k, own = 0
    for k in range(x.ndim):
        if k != axis:
            shape[own], steps[own] = x.shape_[k], x.strides_[k]
            own += 1
    shape[own], steps[own] = x.shape_[axis], x.strides_[axis]
    return view_of(x, x.data, x.ndim, shape, steps)

ctypedef struct Lanes:
    # Lanes to sort, one behind the other, that several threads share.
    char* source
    char* out
    uint64_t* room          # `words` for each chunk
    Py_ssize_t words
    Py_ssize_t step
    Py_ssize_t n
    Py_ssize_t count
    Py_ssize_t each         # lines of a chunk
    int width
    int wide                # bytes of an element of the result
    int kind
    bint descending
    bint places


cdef void sort_lanes(void* context, int chunk) noexcept nogil:
    cdef Lanes* lines = <Lanes*>context
    cdef Py_ssize_t i, first = chunk * lines.each, size = lines.n * lines.width, out_size = lines.n * lines.wide
    cdef uint64_t* room = lines.room + chunk * lines.words
    for i in range(first, min(first + lines.each, lines.count)):
        if is_stopped():
            return
        if lines.places:
            s0_argsort_line(lines.source + i * size, lines.step, lines.n, lines.width, lines.kind, lines.descending, WIDE, <int64_t*>(lines.out + i * out_size), room)
        else:
            s0_sort_line(lines.source + i * size, lines.step, lines.n, lines.width, lines.kind, lines.descending, WIDE, lines.out + i * out_size, room)


cdef Array sorted_lanes(Array x, int axis, bint descending, bint places):
    """The elements of x in order along an axis, or their places; a new array in C order."""
    cdef Py_ssize_t n = x.shape_[axis], i
    cdef int threads = 1, code = INT64 if places else x.code, width = itemsize_at(x.code), wide = itemsize_at(code), kind = kind_of(x.code)
    cdef Array out, source, result, spare = None
    cdef Lanes lines
    cdef Py_ssize_t chunks = 1
    cdef int64_t work
    cdef bint done, last = axis == x.ndim - 1
    guard_gradient(x, "sort")
    if is_stored(x.code):
        # The dtype that it computes in has the same numbers in the same order.
        result = sorted_lanes(copy_array(x, arithmetic_code(x.code), True), axis, descending, places)
        return result if places else copy_array(result, x.code, True)
    if not last:
        result = new_array(code, x.ndim, x.shape_, NULL, False)
        assign_array(axis_last(result, axis), sorted_lanes(axis_last(x, axis), x.ndim - 1, descending, places), "sort")
        return result
    out = new_array(code, x.ndim, x.shape_, NULL, False)
    if x.size == 0:
        return out
    source = x if x.ndim == 1 or x.c_contiguous else copy_array(x, x.code, True)
    lines.source, lines.out = source.data, out.data
    lines.step = source.strides_[axis] if n > 1 else width
    lines.n, lines.count = n, x.size // n
    lines.width, lines.wide, lines.kind = width, wide, kind
    lines.descending, lines.places = descending, places
    lines.room, lines.words = NULL, (4 if places else 2) * n + 16 if n > S0_FEW else 0
    # An element costs some nanoseconds, whatever is sorted. All room together is not larger than source and result.
    if x.size >= LONG_RUN:
        work = x.size * 5
        threads = threads_for(work)
        chunks = min(chunks_for(work, threads), lines.count)
    if lines.words:
        chunks = max(<Py_ssize_t>1, min(chunks, x.size * (width + wide) // (8 * lines.words)))
        i = lines.words * chunks
        spare = new_array(UINT64, 1, &i, NULL, False)
        lines.room = <uint64_t*>spare.data
    if x.size < LONG_RUN:
        lines.each = lines.count
        sort_lanes(&lines, 0)
    else:
        with nogil:
            done = run_equal_chunks(sort_lanes, &lines, &lines.each, lines.count, chunks, threads)
        if not done:
            not_completed("sort")
    return out


def sort_along(Array x not None, int axis, bint descending, bint places):
    """
    The elements of x in order along an axis, stably.

    Parameters
    ----------
    x : Array
        Of bool or a real dtype.
    axis : int
        Not negative.
    descending : bool
        Whether the largest element, or NaN, comes first.
    places : bool
        Whether the indices that put x in order are wanted instead of its elements.

    Returns
    -------
    Array
        New array in C order.
    """
    check_axis(x, axis, "sort")
    if letter_at(x.code) == c"c":
        raise DTypeError("sort", f"Unsupported dtype {dtype_at(x.code).name}")
    return sorted_lanes(x, axis, descending, places)


cdef Array distinct_values(Array x):
    """The distinct elements of x in order: each NaN is one of them, -0.0 and 0.0 are one."""
    if is_stored(x.code):
        return copy_array(distinct_values(copy_array(x, arithmetic_code(x.code), True)), x.code, True)
    cdef Py_ssize_t step = itemsize_at(x.code), n
    cdef Array flat = x if x.c_contiguous else copy_array(x, x.code, True)
    cdef Array ordered = sorted_lanes(view_of(flat, flat.data, 1, &flat.size, &step), 0, False, False), out
    cdef int width = itemsize_at(x.code), kind = kind_of(x.code)
    with nogil:
        n = s0_distinct(ordered.data, ordered.size, width, kind)
    if n == ordered.size:
        return ordered
    out = new_array(x.code, 1, &n, NULL, False)
    memcpy(out.data, ordered.data, n * width)
    return out


def distinct(Array x not None):
    """The distinct elements of x, of bool or a real dtype, in order: a new array of one axis."""
    guard_gradient(x, "unique_values")
    if letter_at(x.code) == c"c":
        raise DTypeError("unique_values", f"Unsupported dtype {dtype_at(x.code).name}")
    return distinct_values(x)

cdef enum:
    FAR = 200   # nanoseconds of a search in a line that no cache holds
    FEW_SOUGHT = 8  # a line of more times as many elements than are looked for is searched where it lies

ctypedef struct Search:
    # Elements to look for in a sorted line, which several threads share.
    const char* among
    Py_ssize_t step
    Py_ssize_t n
    const char* wanted
    Py_ssize_t count
    Py_ssize_t each         # elements of a chunk
    int width
    int kind
    bint right
    int64_t* out


cdef void search_chunk(void* context, int chunk) noexcept nogil:
    cdef Search* search = <Search*>context
    cdef Py_ssize_t first = chunk * search.each, count = min(search.each, search.count - first)
    s0_search(search.among, search.step, search.n, search.wanted + first * search.width, count, search.width, search.kind, search.right, search.out + first)


cdef Array places_among(Array among, Array wanted, bint right):
    """Where in a sorted line the elements of an array of its dtype belong: a new array in C order."""
    if is_stored(among.code):
        among, wanted = copy_array(among, arithmetic_code(among.code), True), copy_array(wanted, arithmetic_code(wanted.code), True)
    cdef Array line = among
    cdef Array given = wanted if wanted.c_contiguous else copy_array(wanted, wanted.code, True)
    cdef Array out = new_array(INT64, wanted.ndim, wanted.shape_, NULL, False)
    cdef Search search
    cdef int threads
    cdef bint done
    if not among.c_contiguous and among.strides_[0] != 0 and among.size // FEW_SOUGHT < wanted.size:
        # Steps that caches do not like cost more than the copy; for a few elements the copy alone would cost.
        line = copy_array(among, among.code, True)
    search.among, search.n, search.wanted, search.count = line.data, line.size, given.data, out.size
    search.step = itemsize_at(among.code) if line.c_contiguous else line.strides_[0]
    search.width, search.kind, search.right = itemsize_at(among.code), kind_of(among.code), right
    search.out = <int64_t*>out.data
    if out.size < LONG_RUN:
        search.each = out.size
        search_chunk(&search, 0)
    else:
        with nogil:
            threads = threads_for(out.size * 8)
            done = run_equal_chunks(search_chunk, &search, &search.each, out.size, chunks_for(out.size * FAR, threads), threads)
        if not done:
            not_completed("searchsorted")
    return out


def search_among(Array among not None, Array wanted not None, bint right):
    """
    Where in a sorted array of one axis elements belong.

    Parameters
    ----------
    among : Array
        Of one axis, and bool or a real dtype.
    wanted : Array
        Of the same dtype.
    right : bool
        Whether behind elements that are equal, instead of before them.

    Returns
    -------
    Array
        New int64 array of the shape of `wanted`, in C order.
    """
    guard_gradient(among, "searchsorted")
    guard_gradient(wanted, "searchsorted")
    if among.ndim != 1 or among.code != wanted.code or letter_at(among.code) == c"c":
        raise ShapeError("searchsorted", "not a line of the same dtype")
    return places_among(among, wanted, right)

